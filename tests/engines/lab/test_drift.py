"""Charts of drift over time in the refresh-rate lab."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from inspector.engines.lab.display import steady_display
from inspector.engines.lab.drift import DriftChart, drift_chart, drift_groups, drift_text
from inspector.engines.lab.graph import LabGraphOptions, lab_graph
from inspector.engines.lab.refresh_lab import LabResult, run_lab
from inspector.engines.lab.subjects import SUBJECTS, subjects_named
from inspector.engines.lab.timer import LabTimer
from inspector.formats.drawing.display_list import Box, Group, Item, Polyline, Text
from inspector.formats.frame_times import Provenance

SECOND = 1_000_000_000


def runs(*names: str, rate: int = 240, seconds: int = 10, every: int = SECOND) -> list[LabResult]:
    subjects = subjects_named(names) if names else tuple(SUBJECTS)
    return list(run_lab([LabTimer(every)], subjects, [steady_display(rate, seconds * SECOND)]))


def chart(results: list[LabResult], width: float = 500, height: float = 240) -> DriftChart:
    return drift_chart(results, Box(10, 20, width, height), "light")


def texts(items: tuple[Item, ...]) -> list[str]:
    found: list[str] = []
    for item in items:
        if isinstance(item, Text):
            found.append(item.text)
        elif isinstance(item, Group):
            found += texts(item.items)
    return found


def curves(of: DriftChart) -> dict[str, Polyline]:
    return {
        item.name: line
        for item in of.items
        if isinstance(item, Group) and item.name != "key"
        for line in item.items
        if isinstance(line, Polyline)
    }


def test_that_a_curve_goes_through_every_firing_at_its_drift() -> None:
    results = runs("clock", "egret")

    shown = chart(results)

    line = curves(shown)["Egret, by calls"]
    assert len(line.points) == 40
    assert line.points[0].x == pytest.approx(shown.x(SECOND / 4), abs=0.01)
    assert line.points[0].y == pytest.approx(shown.y(-0.75 * SECOND), abs=0.01)
    assert line.points[-1].y == pytest.approx(shown.y(-30 * SECOND), abs=0.01)
    assert {point.y for point in curves(shown)["Our clock"].points} == {round(shown.y(0), 2)}


def test_that_axes_have_units_and_the_key_names_every_curve() -> None:
    shown = chart(runs("clock", "egret"))

    said = texts(shown.items)

    assert "actual − expected (s) over time (s)" in said
    assert "−10" in said
    assert said[-2:] == ["Our clock: 0", "Egret, by calls: −30 s"]


def test_that_curves_differ_in_colour_or_dash() -> None:
    shown = chart(runs())

    strokes = {(line.stroke.color, line.stroke.dash) for line in curves(shown).values()}

    assert len(strokes) == len(SUBJECTS)


def test_that_everything_is_within_its_box_and_a_small_key_says_what_it_leaves_out() -> None:
    results = runs()
    for width, height in ((500, 240), (260, 110), (700, 90)):
        shown = chart(results, width, height)
        for item in texts(shown.items):
            assert item
        for line in curves(shown).values():
            for x, y in line.points:
                assert shown.area.x - 0.1 <= x <= shown.area.right + 0.1
                assert shown.area.y - 0.1 <= y <= shown.area.bottom + 0.1
        assert shown.area.right < 10 + width
        assert shown.area.bottom < 20 + height

    assert texts(chart(results, 260, 110).items)[-1] == "and 14 more"
    assert "Egret, by calls: −30 s" in texts(chart(results, 260, 110).items)


def test_that_the_nearest_firing_is_found_exactly() -> None:
    results = runs("clock", "egret")
    shown = chart(results)

    for number in (0, 17, 39):
        at_ns = results[1].fired_ns[number]
        place = shown.x(at_ns) + 0.5, shown.y(results[1].drifts_ns[number]) + 0.5
        assert shown.nearest(*place) == (results[1], number)


def test_that_of_curves_on_one_another_the_current_one_is_read() -> None:
    results = runs("clock", "egret-elapsed")
    shown = chart(results)
    place = shown.x(3 * SECOND), shown.y(0)

    assert shown.nearest(*place) == (results[0], 2)
    assert shown.nearest(*place, results[1]) == (results[1], 2)


def test_that_runs_without_firings_have_a_chart() -> None:
    results = runs("clock", "egret", seconds=1, rate=30, every=5 * SECOND)

    shown = chart(results)

    assert curves(shown) == {}
    assert shown.nearest(20, 30) is None
    assert drift_text(results[0]) == "no firing"
    assert "actual − expected (ms) over time (s)" in texts(shown.items)


def test_that_many_firings_are_thinned_without_losing_extremes() -> None:
    results = runs("cocos2d-x-3.4", rate=144, seconds=60, every=20_000_000)

    line = curves(chart(results))["cocos2d-x 3.4"]

    assert len(line.points) < 4_000 < results[0].count * 4
    lateness = results[0].lateness
    assert lateness is not None
    shown = chart(results)
    lowest = max(point.y for point in line.points)
    highest = min(point.y for point in line.points)
    assert lowest == pytest.approx(shown.y(lateness.min_ns), abs=0.01)
    assert highest == pytest.approx(shown.y(lateness.max_ns), abs=0.01)


def test_that_a_picture_has_a_chart_per_display_and_timer() -> None:
    displays = [steady_display(rate, 10 * SECOND) for rate in (60, 240)]
    results = list(run_lab([LabTimer(SECOND)], subjects_named(["clock", "egret"]), displays))

    picture = lab_graph(
        results, Provenance("", datetime(2026, 1, 1, tzinfo=UTC), "1"), LabGraphOptions()
    )

    titles = [text.text for text in picture.texts() if text.text.startswith("Drift")]
    assert titles == ["Drift, 60 Hz, timer “every 1 s”", "Drift, 240 Hz, timer “every 1 s”"]
    assert len(drift_groups(results)) == 2
