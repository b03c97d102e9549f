"""Bookmarks, notes, ranges and marks in exports: signs and names, columns, a list in JSON."""

from __future__ import annotations

import csv
import io
import json
import random
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from inspector.analysis.intervention_list import Intervention
from inspector.analysis.landmarks import Landmark
from inspector.cli.main import main
from inspector.commands.transport import StepFrames
from inspector.events.annotations import Annotation
from inspector.formats.drawing.display_list import Anchor, Box, DisplayList, Group, Rect, Text
from inspector.formats.drawing.font_metrics import text_width
from inspector.formats.export import export_frames
from inspector.formats.frame_graph.frame_graph import LEAST_PLOT_SHARE, frame_graph
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import ExportOptions
from inspector.formats.tables.frame_times_csv import CSV_COLUMNS, write_csv
from inspector.formats.tables.frame_times_json import landmarks_from_values, write_json
from inspector.sessions.frame_files import read_frame_file
from inspector.testing import held_session, scene_file
from inspector.tokens import ThemeName
from tests.formats.conftest import MakeFrames

MS = 1_000_000
INTERVAL = 16_666_667
BOSS = Landmark("bookmark", 500 * MS, 29, "boss, “appears”")
NOTE = Landmark("note", 900 * MS, 53, "too slow here", "too slow here\nwhy?")
FIGHT = Landmark("range", 600 * MS, 35, "fight", "", 1_200 * MS, 71)
WAVE = Landmark("mark", 1_400 * MS, 83, "wave 2")


@pytest.fixture
def frames(make_frames: MakeFrames) -> FrameTimes:
    return replace(make_frames([INTERVAL] * 100), landmarks=(BOSS, FIGHT, NOTE, WAVE))


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
    found = group(picture, "landmarks")
    assert found is not None
    return [each for each in found.items if isinstance(each, Text)]


def test_that_the_picture_names_them_and_explains_their_signs(
    frames: FrameTimes, provenance: Provenance
) -> None:
    picture = frame_graph(frames, provenance, ExportOptions())

    assert {each.text for each in names_in(picture)} == {
        "boss, “appears”",
        "fight",
        "too slow here",
        "wave 2",
    }
    texts = {each.text for each in picture.texts()}
    assert {"bookmark", "note", "named range", "mark of the scene"} <= texts
    assert "Bookmarks, notes, ranges and marks above the plot: 4." in picture.description


def test_that_a_range_shades_its_frames(frames: FrameTimes, provenance: Provenance) -> None:
    picture = frame_graph(frames, provenance, ExportOptions())

    found = group(picture, "ranges")
    assert found is not None
    (shade,) = found.items
    assert isinstance(shade, Rect)
    plotted = 99 * INTERVAL
    share = 600 * MS / plotted
    assert shade.box.width == pytest.approx(share * 610, rel=0.08)


def test_that_the_picture_without_them_is_as_it_was(
    frames: FrameTimes, provenance: Provenance
) -> None:
    bare = frame_graph(replace(frames, landmarks=()), provenance, ExportOptions())

    assert frame_graph(frames, provenance, ExportOptions(landmarks=False)) == bare
    assert group(bare, "landmarks") is None


@pytest.mark.parametrize(("width", "height"), [(400, 300), (720, 405), (2_000, 1_200)])
@pytest.mark.parametrize("count", [5, 40, 400])
def test_that_names_never_hide_one_another(
    frames: FrameTimes, provenance: Provenance, width: float, height: float, count: int
) -> None:
    dice = random.Random(count)
    many = []
    for number in range(count):
        frame = dice.randrange(40, 60 if number % 2 else 100)
        kind = dice.choice(("bookmark", "note", "mark"))
        name = f"{kind} {number} " + "and more " * dice.randrange(4)
        many.append(Landmark(kind, (frame + 1) * INTERVAL, frame, name))
    many.sort(key=lambda each: each.at_ns)
    options = ExportOptions(width_pt=width, height_pt=height)

    picture = frame_graph(replace(frames, landmarks=tuple(many)), provenance, options)

    names = names_in(picture)
    assert names
    for a, b in combinations(map(extent, names), 2):
        assert not overlap(a, b)
    assert all(box.x > 0 and box.right < width for box in map(extent, names))
    plot = group(picture, "value axis")
    assert plot is not None
    axis = plot.items[0]
    assert max(each.at.y for each in names) < axis.points[0].y  # type: ignore[union-attr]
    assert axis.points[1].y - axis.points[0].y > height * 0.3  # type: ignore[union-attr]
    unnamed = count - len(names)
    says = any(f"names omitted: {unnamed:,}" in each.text for each in picture.texts())
    assert says == (unnamed > 0)


def test_that_marks_that_repeat_have_one_name(frames: FrameTimes, provenance: Provenance) -> None:
    many = tuple(
        Landmark("mark", (frame + 1) * INTERVAL, frame, "slow motion" if frame % 2 else "wave")
        for frame in range(10, 59)
    )

    picture = frame_graph(replace(frames, landmarks=many), provenance, ExportOptions())

    assert sorted(each.text for each in names_in(picture)) == ["slow motion ×24", "wave ×25"]
    assert not any("names omitted" in each.text for each in picture.texts())


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("stacked", [False, True])
@pytest.mark.parametrize(("width", "height"), [(720, 405), (1_000, 500), (600, 600)])
def test_that_the_plot_keeps_more_than_half_of_the_height(  # noqa: PLR0913
    frames: FrameTimes,
    provenance: Provenance,
    width: float,
    height: float,
    theme: ThemeName,
    *,
    stacked: bool,
) -> None:
    intervals = frames.interval_ns.copy()
    intervals[::17] *= 9
    landmarks = tuple(
        Landmark(kind, (frame + 1) * INTERVAL, frame, f"{kind} {frame}")
        for frame in range(5, 95, 9)
        for kind in ("bookmark", "note", "mark")
    )
    interventions = tuple(
        Intervention(number, False, number * 5 * INTERVAL, number * 5, "pause “game”", "", "you")
        for number in range(1, 9)
    )
    whole = replace(frames, interval_ns=intervals, landmarks=landmarks, interventions=interventions)
    options = ExportOptions(width_pt=width, height_pt=height, theme=theme, stacked=stacked)

    picture = frame_graph(whole, provenance, options)

    plot = group(picture, "value axis")
    assert plot is not None
    top, bottom = plot.items[0].points  # type: ignore[union-attr]
    assert bottom.y - top.y >= LEAST_PLOT_SHARE * height


def test_that_what_people_left_is_named_before_what_the_scene_marked(
    frames: FrameTimes, provenance: Provenance
) -> None:
    marks = [Landmark("mark", n * 10 * MS, n // 2, f"mark number {n}") for n in range(160)]
    landmarks = tuple(sorted([*marks, BOSS], key=lambda each: each.at_ns))

    picture = frame_graph(replace(frames, landmarks=landmarks), provenance, ExportOptions())

    assert BOSS.name in {each.text for each in names_in(picture)}


def test_that_bookmarks_at_one_instant_are_all_named(
    frames: FrameTimes, provenance: Provenance
) -> None:
    twins = tuple(replace(BOSS, name=name) for name in ("one", "two"))

    picture = frame_graph(replace(frames, landmarks=twins), provenance, ExportOptions())

    assert {each.text for each in names_in(picture)} == {"one", "two"}


def test_that_they_stand_at_their_frames_where_time_stood_still(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    still = make_frames([INTERVAL] * 10)
    still = replace(still, at_ns=still.at_ns * 0, landmarks=(Landmark("mark", 0, 5, "here"),))

    (name,) = names_in(frame_graph(still, provenance, ExportOptions()))

    assert 300 < name.at.x < 450


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
    assert list(csv_rows(frames, provenance, ExportOptions(landmarks=False))[0]) == list(
        CSV_COLUMNS
    )


def test_that_a_name_that_a_spreadsheet_would_run_is_text_in_the_csv(
    frames: FrameTimes, provenance: Provenance
) -> None:
    frames = replace(frames, landmarks=(Landmark("mark", 0, 5, "=cmd|' /C calc'!A0"),))

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
    assert landmarks_from_values(values["landmarks"]) == frames.landmarks
    export_frames(frames, provenance, ExportOptions(), tmp_path / "frames.json")
    read = read_frame_file(tmp_path / "frames.json")
    assert read.frames.landmarks == frames.landmarks


@pytest.mark.parametrize(
    "values", [None, {}, [1], [{}], [{**dict.fromkeys(("at_ns", "frame"), 1), "kind": "x"}]]
)
def test_that_damaged_landmarks_are_left_out(values: object) -> None:
    assert landmarks_from_values(values) == ()


def test_that_a_part_of_the_frames_has_its_part_of_them(frames: FrameTimes) -> None:
    def kinds(start: int, stop: int) -> list[str]:
        return [each.kind for each in frames.between(start, stop).landmarks]

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

    frames = FrameTimes.from_timeline(session.timeline, 4, None, session.annotations)

    assert [(each.name, each.frame, each.last_frame) for each in frames.landmarks] == [
        ("beyond the end", 4, 9),
        ("sixth", 5, 5),
    ]
    session.close()
