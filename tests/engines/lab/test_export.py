"""The results of the refresh-rate lab as table, values and picture."""

import csv
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from inspector.engines.lab.display import Display, steady_display
from inspector.engines.lab.export import LAB_EXPORTERS, check_lab_export, export_lab
from inspector.engines.lab.graph import LabGraphOptions, Tracks, lab_graph, outcome_text
from inspector.engines.lab.refresh_lab import LabResult, run_cell, run_lab
from inspector.engines.lab.subjects import SUBJECTS, Steps, Subject, subjects_named
from inspector.engines.lab.timer import LabTimer
from inspector.errors import ExportError
from inspector.formats.drawing.display_list import (
    Anchor,
    DisplayList,
    Group,
    Item,
    Polyline,
    Rect,
    Text,
)
from inspector.formats.drawing.font_metrics import text_width
from inspector.formats.frame_times import Provenance

SECOND = 1_000_000_000
PROVENANCE = Provenance("", datetime(2026, 1, 2, 3, 4, tzinfo=UTC), "1.2.3")


def egret_case() -> list[LabResult]:
    subjects = subjects_named(["clock", "egret"])
    return list(run_lab([LabTimer(SECOND)], subjects, [steady_display(240, 10 * SECOND)]))


def never(_timer: LabTimer, _display: Display) -> Steps:
    yield
    return []


def graph_of(results: list[LabResult], **options: object) -> DisplayList:
    return lab_graph(results, PROVENANCE, LabGraphOptions(**options))  # type: ignore[arg-type]


def items_of_runs(graph: DisplayList) -> list[Item]:
    groups = [item for item in graph.items if isinstance(item, Group)]
    axis = next(place for place, group in enumerate(groups) if group.name == "time axis")
    return [item for group in groups[1:axis] for item in group.items]


def bars(graph: DisplayList, row: int) -> list[Rect]:
    """Return the bars of a track, whose items begin with the rule below it."""
    tracks: list[list[Rect]] = []
    for item in items_of_runs(graph):
        if isinstance(item, Polyline) and item.stroke.width == 0.5:
            tracks.append([])
        elif isinstance(item, Rect):
            tracks[-1].append(item)
    return tracks[row]


def expected_lines(graph: DisplayList) -> list[Polyline]:
    items = items_of_runs(graph)
    return [item for item in items if isinstance(item, Polyline) and item.stroke.width == 0.75]


def test_that_the_csv_has_one_row_per_run(tmp_path: Path) -> None:
    path = tmp_path / "lab.csv"

    export_lab(egret_case(), PROVENANCE, LabGraphOptions(), path)

    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["subject"] for row in rows] == ["clock", "egret"]
    assert rows[0]["verdict"] == "exact"
    assert rows[0]["diverges_at_firing"] == ""
    assert rows[1] == {
        "timer": "every 1 s",
        "display": "240 Hz",
        "subject": "egret",
        "subject_title": "Egret, by calls",
        "verdict": "too early",
        "fired": "40",
        "expected": "10",
        "mean_period_ns": "250000000",
        "lateness_min_ns": "-30000000000",
        "lateness_median_ns": "-15750000000",
        "lateness_max_ns": "-750000000",
        "drift_at_end_ns": "-30000000000",
        "diverges_at_firing": "1",
        "diverges_expected_ns": "1000000000",
        "diverges_actual_ns": "250000000",
        "known_fault": "Above 60 Hz it is too fast: four times at 240 Hz.",
    }


def test_that_the_json_has_every_firing(tmp_path: Path) -> None:
    path = tmp_path / "lab.json"

    export_lab(egret_case(), PROVENANCE, LabGraphOptions(), path)

    value = json.loads(path.read_text(encoding="utf-8"))
    assert value["format"] == "timeline-inspector refresh-rate lab"
    assert value["provenance"]["inspector_version"] == "1.2.3"
    assert value["results"][1]["fired_ns"][:3] == [SECOND // 4, SECOND // 2, SECOND * 3 // 4]
    assert value["results"][1]["expected_ns"] == list(range(SECOND, 11 * SECOND, SECOND))


def test_that_no_results_are_written_as_none(tmp_path: Path) -> None:
    for name in ("none.json", "none.csv", "none.svg"):
        export_lab([], PROVENANCE, LabGraphOptions(), tmp_path / name)

    assert json.loads((tmp_path / "none.json").read_text(encoding="utf-8"))["results"] == []


@pytest.mark.parametrize("exporter", LAB_EXPORTERS, ids=lambda each: each.format)
def test_that_every_format_is_written_the_same_each_time(exporter: object, tmp_path: Path) -> None:
    suffix = getattr(exporter, "suffix", "")
    first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix.upper()}"

    export_lab(egret_case(), PROVENANCE, LabGraphOptions(theme="dark"), first)
    export_lab(egret_case(), PROVENANCE, LabGraphOptions(theme="dark"), second)

    assert first.stat().st_size > 100
    assert first.read_bytes() == second.read_bytes()


def test_that_a_wrong_name_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    for name, problem in (("lab.xls", "“.xls” is not a format"), ("lab", "has no suffix")):
        with pytest.raises(ExportError, match=problem):
            check_lab_export(tmp_path / name)
    with pytest.raises(ExportError, match="does not exist"):
        check_lab_export(tmp_path / "nowhere" / "lab.csv")


def test_that_every_firing_is_a_bar_where_it_happened() -> None:
    graph = graph_of(egret_case())

    ours, egret = bars(graph, 0), bars(graph, 1)

    assert (len(ours), len(egret)) == (10, 40)
    at_x, due_x = ([bar.box.x for bar in each] for each in (egret, ours))
    distance = (at_x[-1] - at_x[0]) / 39
    assert at_x == pytest.approx([at_x[0] + place * distance for place in range(40)], abs=0.02)
    assert at_x[3::4] == pytest.approx(due_x, abs=0.02)


def test_that_wrong_firings_differ_in_height_and_colour() -> None:
    graph = graph_of(egret_case())

    right, wrong = bars(graph, 0)[0], bars(graph, 1)[0]

    assert right.fill != wrong.fill
    assert right.box.height == 2 * wrong.box.height


def test_that_firings_that_touch_are_one_area() -> None:
    result = run_cell(LabTimer(SECOND // 500), SUBJECTS[0], steady_display(60, 10 * SECOND))

    assert len(bars(graph_of([result]), 0)) == 1


def test_that_expected_instants_are_lines_only_where_they_can_be_told_apart() -> None:
    display = steady_display(60, 10 * SECOND)
    sparse, dense = (
        graph_of([run_cell(LabTimer(interval_ns), SUBJECTS[0], display)])
        for interval_ns in (SECOND, SECOND // 100)
    )

    assert len(expected_lines(sparse)) == 10
    assert not expected_lines(dense)


def test_that_the_picture_says_in_words_what_it_shows() -> None:
    graph = graph_of(egret_case(), title="Egret")
    texts = [text.text for text in graph.texts()]

    assert "Wrong in 1 of 2 runs: 1 too early." in graph.description
    assert {
        "Egret",
        "240 Hz, timer “every 1 s”",
        "40 instead of 10, 30 s early",
        "expected",
    } <= set(texts)
    assert outcome_text(egret_case()[0]) == "10 of 10"


def test_that_the_picture_says_what_those_do_wrong_that_are_wrong() -> None:
    picture = lab_graph(egret_case(), PROVENANCE, LabGraphOptions())

    texts = [item.text for item in picture.items if isinstance(item, Text)]

    at = texts.index("Known faults")
    assert texts[at + 1] == "Egret, by calls: above 60 Hz it is too fast: four times at 240 Hz."
    assert not any("Our clock:" in text for text in texts[at:])


def test_that_titles_leave_the_shortest_axis_in_the_narrowest_plot() -> None:
    results = [run_cell(LabTimer(SECOND), SUBJECTS[8], steady_display(240, 10 * SECOND))]

    tracks = Tracks.of(results, 150.0, "light", most_title=0.6)

    half = text_width("10", 7.5) / 2
    assert tracks.x(10 * SECOND) + half < 150
    assert tracks.right - tracks.left >= 40


def test_that_texts_stay_in_the_picture() -> None:
    timer = LabTimer(SECOND, name="a name that is longer than anybody would ever read " * 5)
    results = [run_cell(timer, SUBJECTS[8], steady_display(240, 10 * SECOND))]

    picture = graph_of(results, width_pt=400.0)

    for text in picture.texts():
        half = text_width(text.text, text.size, is_bold=text.is_bold) / 2
        reach = half if text.anchor is Anchor.MIDDLE else 2 * half
        assert text.at.x + reach <= 400
        assert text.at.y <= picture.height


def test_that_more_runs_than_a_picture_holds_are_refused() -> None:
    silent = Subject("silent", "Silent", "Never fires.", never)
    result = run_cell(LabTimer(SECOND), silent, Display("none", (), 0))

    with pytest.raises(ExportError, match="too many for a picture"):
        graph_of([result] * 1_100)


def test_that_a_timer_that_a_spreadsheet_would_run_is_text_in_the_csv(tmp_path: Path) -> None:
    timer = LabTimer(SECOND, name="=boss")
    results = run_lab([timer], subjects_named(["clock"]), [steady_display(60, SECOND)])

    export_lab(list(results), PROVENANCE, LabGraphOptions(), tmp_path / "lab.csv")

    with (tmp_path / "lab.csv").open(newline="", encoding="utf-8") as file:
        row = next(csv.DictReader(file))
    assert row["timer"].startswith("'=boss")
    assert row["drift_at_end_ns"] == "0"
