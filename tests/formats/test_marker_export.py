"""Bookmarks, notes, ranges and marks in exports: signs and names, columns, a list in JSON."""

from __future__ import annotations

import csv
import io
import json
import random
from itertools import combinations
from pathlib import Path

import pytest
from msgspec import structs

from inspector.analysis.markers import Marker
from inspector.cli.main import main
from inspector.commands.transport import StepFrames
from inspector.events.annotations import Annotation
from inspector.formats.arrangement.picture import frame_graph
from inspector.formats.drawing.display_list import Anchor, Box, DisplayList, Group, Text
from inspector.formats.drawing.font_metrics import plain, text_width
from inspector.formats.drawing.svg import svg_text
from inspector.formats.export import export_frames
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import ExportOptions
from inspector.formats.tables.frame_times_csv import CSV_COLUMNS, write_csv
from inspector.formats.tables.frame_times_json import markers_from_values, write_json
from inspector.sessions.frame_files import read_frame_file
from inspector.testing import held_session, scene_file
from tests.formats.conftest import MakeFrames

MS = 1_000_000
INTERVAL = 16_666_667
BOSS = Marker("bookmark", 500 * MS, 29, "boss, “appears”")
NOTE = Marker("note", 900 * MS, 53, "too slow here", "too slow here\nwhy?")
FIGHT = Marker("range", 600 * MS, 35, "fight", "", 1_200 * MS, 71)
WAVE = Marker("mark", 1_400 * MS, 83, "wave 2")


@pytest.fixture
def frames(make_frames: MakeFrames) -> FrameTimes:
    return structs.replace(make_frames([INTERVAL] * 100), markers=(BOSS, FIGHT, NOTE, WAVE))


def group(picture: DisplayList, name: str) -> Group | None:
    return next(
        (each for each in picture.items if isinstance(each, Group) and each.name == name), None
    )


def extent(text: Text) -> Box:
    width = text_width(text.text, text.size)
    shift = {Anchor.START: 0.0, Anchor.MIDDLE: width / 2, Anchor.END: width}[text.anchor]
    return Box(text.at.x - shift, text.at.y - 7, width, 8)


def overlap(a: Box, b: Box) -> bool:
    return a.x < b.right and b.x < a.right and a.y < b.bottom and b.y < a.bottom


def names_in(picture: DisplayList) -> list[Text]:
    found = group(picture, "marks")
    assert found is not None
    return [each for each in found.items if isinstance(each, Text)]


def test_that_the_picture_names_them_in_a_row_below_the_frames(
    frames: FrameTimes, provenance: Provenance
) -> None:
    picture = frame_graph(frames, provenance, ExportOptions(width_pt=2_400))

    names = [each.text for each in names_in(picture)]
    assert names == ["Marks", "boss, “appears”", "fight", "too slow here", "wave 2"]
    assert "Marks below the frames: 4." in picture.description


@pytest.mark.parametrize("count", [5, 40, 400])
def test_that_names_never_hide_one_another_and_it_is_said_how_many_are_cut(
    frames: FrameTimes, provenance: Provenance, count: int
) -> None:
    dice = random.Random(count)
    many = []
    for number in range(count):
        frame = dice.randrange(40, 60 if number % 2 else 100)
        name = f"mark {number} " + "and more " * dice.randrange(4)
        many.append(Marker("mark", (frame + 1) * INTERVAL, frame, name))
    many.sort(key=lambda each: each.at_ns)

    picture = frame_graph(structs.replace(frames, markers=tuple(many)), provenance, ExportOptions())

    names = names_in(picture)
    for a, b in combinations(map(extent, names), 2):
        assert not overlap(a, b)
    whole = {plain(each.name) for each in many}
    cut = count - len([each for each in names if each.text in whole])
    assert (f"{cut:,} names cut or omitted" in picture.texts()[-1].text) == (cut > 0)


def test_that_they_stand_at_their_frames_where_time_stood_still(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    still = make_frames([INTERVAL] * 10)
    still = structs.replace(still, at_ns=still.at_ns * 0, markers=(Marker("mark", 0, 5, "here"),))

    _, name = names_in(frame_graph(still, provenance, ExportOptions()))

    assert 400 < name.at.x < 500


def test_that_the_picture_without_them_is_as_it_was(
    frames: FrameTimes, provenance: Provenance
) -> None:
    bare = frame_graph(structs.replace(frames, markers=()), provenance, ExportOptions())

    without = frame_graph(frames, provenance, ExportOptions(markers=False))
    assert svg_text(without) == svg_text(bare)
    assert group(bare, "marks") is None


def csv_rows(
    frames: FrameTimes, provenance: Provenance, options: ExportOptions
) -> list[dict[str, str]]:
    stream = io.BytesIO()
    write_csv(frames, provenance, options, stream)
    return list(csv.DictReader(io.StringIO(stream.getvalue().decode(), newline="")))


def test_that_the_csv_names_them_in_columns_of_their_own(
    frames: FrameTimes, provenance: Provenance
) -> None:
    rows = csv_rows(frames, provenance, ExportOptions())

    assert list(rows[0]) == [*CSV_COLUMNS, "landmarks", "ranges"]
    named = {row["frame"]: row["landmarks"] for row in rows if row["landmarks"]}
    assert named == {"29": BOSS.name, "53": "too slow here", "83": "wave 2"}
    within = [int(row["frame"]) for row in rows if row["ranges"] == "fight"]
    assert within == list(range(35, 72))
    assert list(csv_rows(frames, provenance, ExportOptions(markers=False))[0]) == list(CSV_COLUMNS)


def test_that_a_name_that_a_spreadsheet_would_run_is_text_in_the_csv(
    frames: FrameTimes, provenance: Provenance
) -> None:
    frames = structs.replace(frames, markers=(Marker("mark", 0, 5, "=cmd|' /C calc'!A0"),))

    rows = csv_rows(frames, provenance, ExportOptions())

    assert rows[5]["landmarks"] == "'=cmd|' /C calc'!A0"


def test_that_the_json_lists_them_and_they_are_read_back(
    frames: FrameTimes, provenance: Provenance, tmp_path: Path
) -> None:
    stream = io.BytesIO()
    write_json(frames, provenance, ExportOptions(), stream)

    values = json.loads(stream.getvalue())
    assert values["landmarks"][1] == {
        "kind": "range",
        "frame": 35,
        "at_ns": 600 * MS,
        "last_frame": 71,
        "end_ns": 1_200 * MS,
        "name": "fight",
        "text": "",
    }
    assert markers_from_values(values["landmarks"]) == frames.markers
    export_frames(frames, provenance, ExportOptions(), tmp_path / "frames.json")
    read = read_frame_file(tmp_path / "frames.json")
    assert read.frames.markers == frames.markers


@pytest.mark.parametrize(
    "values", [None, {}, [1], [{}], [{**dict.fromkeys(("at_ns", "frame"), 1), "kind": "x"}]]
)
def test_that_damaged_markers_are_left_out(values: object) -> None:
    assert markers_from_values(values) == ()


def test_that_a_part_of_the_frames_has_its_part_of_them(frames: FrameTimes) -> None:
    def kinds(start: int, stop: int) -> list[str]:
        return [each.kind for each in frames.between(start, stop).markers]

    assert kinds(0, 29) == []
    assert kinds(29, 36) == ["bookmark", "range"]
    assert kinds(60, 83) == ["range"]
    assert kinds(83, 100) == ["mark"]


SCENE = "def build(stage):\n    stage.root.set_timeout(0.05, lambda: stage.mark('wave 1'))\n"


def test_that_a_run_and_the_export_of_its_recording_have_them(tmp_path: Path) -> None:
    scene = str(scene_file(tmp_path, SCENE))
    recording, graph = tmp_path / "a.tlrec", tmp_path / "a.svg"
    assert main(["run", scene, "--frames", "10", "--record", str(recording),
                 "--export", str(graph), "--quiet"]) == 0  # fmt: skip
    assert ">wave 1</text>" in graph.read_text(encoding="utf-8")
    assert main(["annotate", str(recording), "--at", "0.1", "--name", "here it is"]) == 0
    again, bare = tmp_path / "b.svg", tmp_path / "c.svg"

    assert main(["export", str(recording), "-o", str(again)]) == 0
    assert main(["export", str(recording), "-o", str(bare), "--without", "bookmarks"]) == 0

    text = again.read_text(encoding="utf-8")
    assert ">wave 1</text>" in text
    assert ">here it is</text>" in text
    assert "here it is" not in bare.read_text(encoding="utf-8")


def test_that_frames_of_a_session_bring_what_people_left_in_it(tmp_path: Path) -> None:
    session = held_session(scene_file(tmp_path, "def build(stage):\n    pass\n"))
    session.submit(StepFrames(10))
    session.refresh()
    begins = session.timeline.frames.at_ns[4]
    session.annotations.add(Annotation("bookmark", begins + 1, name="sixth"))
    session.annotations.add(Annotation("range", begins, 10**12, name="beyond the end"))

    frames = FrameTimes.from_timeline(session.timeline, session.annotations).between(4, 10)

    assert [(each.name, each.frame, each.last_frame) for each in frames.markers] == [
        ("beyond the end", 4, 9),
        ("sixth", 5, 5),
    ]
    session.close()
