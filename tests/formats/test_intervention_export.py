"""Interventions in exports: signs and a list in pictures, a column in the CSV, a list in JSON."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from msgspec import structs

from inspector.analysis.intervention_list import Intervention
from inspector.commands.clocks import PauseClock
from inspector.commands.transport import StepFrames
from inspector.errors import ExportError
from inspector.formats.arrangement.pages import frame_pages
from inspector.formats.arrangement.picture import frame_graph
from inspector.formats.drawing.display_list import DisplayList, Group
from inspector.formats.drawing.svg import svg_text
from inspector.formats.export import export_frames
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import ExportOptions
from inspector.formats.tables.frame_times_csv import CSV_COLUMNS, write_csv
from inspector.formats.tables.frame_times_json import interventions_from_values, write_json
from inspector.sessions.frame_files import read_frame_file
from inspector.testing import held_session, scene_file
from tests.formats.conftest import MakeFrames

MS = 1_000_000
RATE = Intervention(
    3, False, 500 * MS, 30, "set the rate of “game” to 2", "", "you", 2, "game", 250 * MS, 1_500
)
REFUSED = Intervention(4, False, 500 * MS, 30, "pause clock 99", "There is none.", "you")
HIT = Intervention(1, True, 900 * MS, 54, "timer “boss” fires", "", "breakpoint 1")
UNDONE = Intervention(5, False, 1_000 * MS, 60, "pause “game”", "", "breakpoint 1", 2, undone_by=6)
LATE = Intervention(6, False, 2_000 * MS, 100, "undo command 5: pause “game”", "", "you")


@pytest.fixture
def frames(make_frames: MakeFrames) -> FrameTimes:
    plain = make_frames([16_666_667] * 100)
    return structs.replace(plain, interventions=(RATE, REFUSED, HIT, UNDONE, LATE))


def group(picture: DisplayList, name: str) -> Group | None:
    return next(
        (each for each in picture.items if isinstance(each, Group) and each.name == name), None
    )


def texts(picture: DisplayList) -> list[str]:
    return [each.text for each in picture.texts()]


def test_that_the_picture_names_them_with_their_numbers(
    frames: FrameTimes, provenance: Provenance
) -> None:
    some = structs.replace(frames, interventions=(RATE, HIT))

    (picture,) = frame_pages(some, provenance, ExportOptions(width_pt=1_200))

    assert {"3 set the rate of “game” to 2", "b1 timer “boss” fires"} <= set(texts(picture))
    assert "Marks below the frames: 2." in picture.description


def test_that_what_has_no_room_for_its_name_is_listed_on_a_further_page(
    frames: FrameTimes, provenance: Provenance
) -> None:
    _, page = frame_pages(frames, provenance, ExportOptions())

    assert "pause clock 99" in texts(page)


def test_that_the_picture_without_them_is_as_it_was(
    frames: FrameTimes, provenance: Provenance
) -> None:
    options = ExportOptions(interventions=False)
    bare = frame_graph(structs.replace(frames, interventions=()), provenance, ExportOptions())

    assert svg_text(frame_graph(frames, provenance, options)) == svg_text(bare)
    assert group(bare, "marks") is None


def test_that_interventions_beyond_the_graph_are_on_a_page_of_their_own(
    frames: FrameTimes, provenance: Provenance, tmp_path: Path
) -> None:
    many = tuple(structs.replace(RATE, number=n, at_ns=n * 10 * MS) for n in range(1, 41))
    whole = structs.replace(frames, interventions=many)

    graph, *pages = frame_pages(whole, provenance, ExportOptions())
    written = export_frames(whole, provenance, ExportOptions(), tmp_path / "a.svg")

    numbers = [each.text for page in pages for each in page.texts() if each.text.isdigit()]
    assert numbers == [str(number) for number in range(1, 41)]
    assert {(page.width, page.height) for page in pages} == {(graph.width, graph.height)}
    names = [path.name for path in written]
    assert names == ["a.svg", *(f"a-{number}.svg" for number in range(2, len(pages) + 2))]
    assert "No." in (tmp_path / "a-2.svg").read_text(encoding="utf-8")


def test_that_a_further_page_replaces_a_file_only_with_the_first(
    frames: FrameTimes, provenance: Provenance, tmp_path: Path
) -> None:
    many = tuple(structs.replace(RATE, number=n, at_ns=n * 10 * MS) for n in range(1, 41))
    (tmp_path / "a-2.svg").write_text("mine")

    whole, path = structs.replace(frames, interventions=many), tmp_path / "a.svg"
    with pytest.raises(ExportError, match="has a page more"):
        export_frames(whole, provenance, ExportOptions(), path)

    assert (tmp_path / "a-2.svg").read_text() == "mine"
    export_frames(whole, provenance, ExportOptions(), path)
    assert (tmp_path / "a-2.svg").read_text().startswith("<?xml")


def test_that_every_picture_can_be_written(
    frames: FrameTimes, provenance: Provenance, tmp_path: Path
) -> None:
    path = tmp_path / "graph.svg"
    export_frames(frames, provenance, ExportOptions(theme="dark", stacked=True), path)
    listed = (tmp_path / "graph-2.svg").read_text(encoding="utf-8")
    assert "set the rate of “game” to 2" in listed


def csv_rows(
    frames: FrameTimes, provenance: Provenance, options: ExportOptions
) -> list[dict[str, str]]:
    stream = io.BytesIO()
    write_csv(frames, provenance, options, stream)
    return list(csv.DictReader(io.StringIO(stream.getvalue().decode("ascii"))))


def test_that_the_csv_names_them_in_a_last_column(
    frames: FrameTimes, provenance: Provenance
) -> None:
    rows = csv_rows(frames, provenance, ExportOptions())

    assert list(rows[0]) == [*CSV_COLUMNS, "interventions"]
    named = {row["frame"]: row["interventions"] for row in rows if row["interventions"]}
    assert named == {"30": "3 4", "54": "b1", "60": "5", "99": "6"}


def test_that_the_csv_has_no_such_column_without_them(
    frames: FrameTimes, provenance: Provenance
) -> None:
    for some, options in (
        (frames, ExportOptions(interventions=False)),
        (structs.replace(frames, interventions=()), ExportOptions()),
    ):
        assert list(csv_rows(some, provenance, options)[0]) == list(CSV_COLUMNS)


def test_that_the_json_lists_them_and_they_are_read_back(
    frames: FrameTimes, provenance: Provenance
) -> None:
    stream = io.BytesIO()
    write_json(frames, provenance, ExportOptions(), stream)

    values = json.loads(stream.getvalue())
    assert values["interventions"][0] == {
        "kind": "command",
        "number": 3,
        "frame": 30,
        "at_ns": 500 * MS,
        "clock": "game",
        "local_ns": 250 * MS,
        "host_time": "1970-01-01T00:00:01.500+00:00",
        "text": "set the rate of “game” to 2",
        "by": "you",
        "refusal": None,
        "undone_by": None,
    }
    read = interventions_from_values(values["interventions"])
    assert [structs.replace(each, clock_id=0) for each in frames.interventions] == list(read)


@pytest.mark.parametrize("values", [None, {}, [1], [{}], [{"number": "x"}], "interventions"])
def test_that_damaged_interventions_are_left_out(values: object) -> None:
    assert interventions_from_values(values) == ()


def test_that_readers_of_the_files_take_them_with_interventions(
    frames: FrameTimes, provenance: Provenance, tmp_path: Path
) -> None:
    for name in ("frames.csv", "frames.json"):
        export_frames(frames, provenance, ExportOptions(), tmp_path / name)
        read = read_frame_file(tmp_path / name)
        assert read.frames.interval_ns.tolist() == frames.interval_ns.tolist()
        assert read.has_work


def test_that_a_part_of_the_frames_has_its_part_of_the_interventions(frames: FrameTimes) -> None:
    def labels(start: int, stop: int) -> list[str]:
        return [each.label for each in frames.between(start, stop).interventions]

    assert labels(0, 30) == []
    assert labels(30, 60) == ["3", "4", "b1"]
    assert labels(60, 100) == ["5", "6"]
    assert labels(50, 50) == []


def test_that_frames_of_a_timeline_bring_theirs_along(tmp_path: Path) -> None:
    path = scene_file(tmp_path, "def build(stage):\n    stage.root.child('game')\n")
    session = held_session(path)
    session.submit(StepFrames(5))
    session.submit(PauseClock(2))
    session.submit(StepFrames(5))
    session.refresh()

    frames = FrameTimes.from_timeline(session.timeline).between(5, 10)

    assert frames.index.tolist() == [5, 6, 7, 8, 9]
    assert [each.text for each in frames.interventions] == ["pause “game”", "step 5 frames"]
