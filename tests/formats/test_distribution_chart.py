"""The distribution of frame times as a chart: nothing is left out, and it can be chosen from."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from inspector.analysis.statistics.distribution import Distribution
from inspector.formats.distribution_chart import (
    L_SHAPE_PERCENTS,
    ChartKind,
    Curve,
    DistributionChart,
    bin_edges_ns,
    chart_rows,
    distribution_chart,
)
from inspector.formats.drawing.display_list import Anchor, Box, Group, Polyline, Rect, Text
from inspector.formats.drawing.font_metrics import text_width
from inspector.formats.options import GRAPH_COLORS
from inspector.timebase import MAX_NS

MS = 1_000_000
#: Frames of 10 ms, a few of 20 ms, and one of 900 ms.
SPIKY = Distribution([10 * MS] * 980 + [20 * MS] * 19 + [900 * MS])


def chart_of(
    kind: ChartKind, *times: Distribution, band_ns: tuple[int, int] | None = None
) -> DistributionChart:
    curves = [Curve(f"run {number}", each) for number, each in enumerate(times)]
    return distribution_chart(
        kind, curves, Box(0, 0, 400, 150), "light", budgets_ms=(16.7,), band_ns=band_ns
    )


def texts(chart: DistributionChart) -> list[str]:
    return [item.text for item in chart.items if isinstance(item, Text)]


def test_that_a_low_chart_has_room_for_its_data() -> None:
    chart = distribution_chart(
        *(ChartKind.HISTOGRAM, [Curve("", SPIKY)], Box(0, 0, 300, 44), "dark"),
        budgets_ms=(16.7, 12.5),
    )

    assert chart.area.height > 15
    assert chart.area.bottom + 10 <= 44
    texts = [each for each in chart.items if isinstance(each, Text)]
    assert all(each.at.y <= 44 for each in texts)
    above = [each for each in texts if each.at.y < chart.area.y]
    (longer,) = (each for each in above if "longer than" in each.text)
    begins = longer.at.x - text_width(longer.text, longer.size)
    lines = [each.points for each in chart.items if isinstance(each, Polyline)]
    assert not any(start.x == end.x > begins and start.y < chart.area.y for start, end in lines)
    spans = sorted(
        (each.at.x - (width if each.anchor is Anchor.END else 0), width)
        for each in above
        for width in [text_width(each.text, each.size)]
    )
    assert all(x + width <= other for (x, width), (other, _) in pairwise(spans))


def test_that_a_long_frame_neither_flattens_the_chart_nor_gets_lost() -> None:
    chart = chart_of(ChartKind.HISTOGRAM, SPIKY)

    assert chart.edges_ns[-2] < 30 * MS
    assert any(text.startswith("1 longer than") for text in texts(chart))
    last = chart.count - 1
    assert "1 frame " in chart.text_of(last, last)


@pytest.mark.parametrize("width", [120, 250, 400])
def test_that_percentiles_below_the_l_shape_keep_apart(width: int) -> None:
    curves = [Curve("run", SPIKY)]
    chart = distribution_chart(ChartKind.L_SHAPE, curves, Box(0, 0, width, 150), "light")

    foot = [each for each in chart.items if isinstance(each, Text) and each.at.y > 130]
    spans = sorted(
        (each.at.x - half, each.at.x + half, each.text)
        for each in foot
        if each.text in {f"{percent:g}" for percent in L_SHAPE_PERCENTS}
        for half in (text_width(each.text, each.size) / 2,)
    )
    assert all(end <= start for (_, end, _), (start, _, _) in pairwise(spans))
    assert spans[-1][2] == "99.95"
    assert len(spans) >= 4


@pytest.mark.parametrize("height", [30, 60, 150])
@pytest.mark.parametrize("kind", [ChartKind.HISTOGRAM, ChartKind.CUMULATIVE])
def test_that_names_of_budgets_stand_above_the_data(kind: ChartKind, height: float) -> None:
    times = Distribution([10 * MS, 16 * MS, 17 * MS] * 100)
    chart = distribution_chart(
        kind, [Curve("run", times)], Box(0, 0, 400, height), "light", budgets_ms=(16.7, 12.5)
    )

    names = [each for each in chart.items if isinstance(each, Text) and each.text.endswith("fps")]
    headings = [each for each in chart.items if isinstance(each, Text) and "frames" in each.text]
    # In a low chart the data have its room.
    assert len(headings) == (height >= 60)
    assert [each.text for each in names] == ["59.9 fps", "80 fps"]
    assert all(heading.at.y <= each.at.y - each.size for heading in headings for each in names)
    assert all(each.at.y < chart.area.y for each in names)
    # They hide nothing, so nothing needs to be behind them.
    ground = GRAPH_COLORS["light"].background
    assert not any(isinstance(each, Rect) and each.fill == ground for each in chart.items)


def test_that_the_count_of_longer_frames_is_no_warning() -> None:
    chart = chart_of(ChartKind.HISTOGRAM, SPIKY)

    (longer,) = (
        item for item in chart.items if isinstance(item, Text) and "longer than" in item.text
    )
    assert longer.color == GRAPH_COLORS["light"].muted_text


@pytest.mark.parametrize("times", [[10 * MS] * 99, [10 * MS] * 980 + [900 * MS]])
def test_that_few_bins_have_all_the_room_but_a_little(times: list[int]) -> None:
    chart = chart_of(ChartKind.HISTOGRAM, Distribution(times))

    assert chart.count < 5
    share = (chart.x_of(chart.count - 1) - chart.area.x) / chart.area.width
    assert 0.9 < share < 1
    line = GRAPH_COLORS["light"].line
    bar = next(item for item in chart.items if isinstance(item, Rect) and item.fill == line)
    # A wide gap would read as times at which no frame ended.
    assert bar.box.width > chart.x_of(1) - chart.x_of(0) - 1.02


def test_that_names_of_curves_are_below_what_is_said_of_long_frames() -> None:
    chart = chart_of(ChartKind.HISTOGRAM, SPIKY, SPIKY)

    (key,) = (item for item in chart.items if isinstance(item, Group))
    (longer,) = (
        item for item in chart.items if isinstance(item, Text) and "longer than" in item.text
    )
    names = [item for item in key.items if isinstance(item, Text)]
    assert [name.text for name in names] == ["run 0", "run 1"]
    assert all(name.at.y >= longer.at.y + longer.size for name in names)


def test_that_frame_times_a_nanosecond_apart_have_an_axis() -> None:
    times = Distribution([16_666_666, 16_666_667] * 150)
    chart = chart_of(ChartKind.HISTOGRAM, times, times)

    labels = [text for text in texts(chart) if text.endswith(" ms")]
    assert 1 <= len(labels) <= 8
    assert len(set(labels)) == len(labels)


def test_that_frames_far_away_leave_room_for_the_usual_ones() -> None:
    times = Distribution([16 * MS + number * 10_000 for number in range(190)] + [400 * MS] * 10)

    edges = bin_edges_ns([times])

    assert edges[-2] < 80 * MS
    assert edges[1] - edges[0] <= 2 * MS


@pytest.mark.parametrize(
    "times",
    [[1], [5, 5, 5], [1, 10**15], [16_600_000, 16_700_000], list(range(1, 1000)), [MAX_NS - 1]],
)
def test_that_the_bins_have_every_frame(times: list[int]) -> None:
    found = Distribution(times)

    edges = bin_edges_ns([found])

    assert int(found.histogram(edges).sum()) == len(times)
    assert list(edges) == sorted(set(edges))
    assert len(edges) < 200


def test_that_every_frame_time_has_a_bar_that_can_be_seen() -> None:
    chart = chart_of(ChartKind.HISTOGRAM, SPIKY)

    line = GRAPH_COLORS["light"].line
    bars = [item for item in chart.items if isinstance(item, Rect) and item.fill == line]
    assert len(bars) == 3
    assert min(bar.box.height for bar in bars) >= 1.5


def test_that_bins_are_found_under_the_pointer() -> None:
    chart = chart_of(ChartKind.HISTOGRAM, SPIKY)

    assert chart.bin_at(chart.area.x - 1) is None
    assert chart.bin_at(chart.area.x + 0.1) == 0
    assert chart.bin_at(chart.area.right) == chart.count - 1
    low_ns, high_ns = chart.band_ns(3, 1)
    assert (low_ns, high_ns) == (chart.edges_ns[1], chart.edges_ns[4])


def test_that_what_is_chosen_has_another_colour() -> None:
    plain = chart_of(ChartKind.HISTOGRAM, SPIKY)
    chosen = chart_of(ChartKind.HISTOGRAM, SPIKY, band_ns=(19 * MS, 21 * MS))

    def colors(chart: DistributionChart) -> set[str]:
        return {item.fill for item in chart.items if isinstance(item, Rect)}

    assert colors(chosen) > colors(plain)


def test_that_several_captures_share_the_bins() -> None:
    faster = Distribution([8 * MS] * 500)

    chart = chart_of(ChartKind.HISTOGRAM, SPIKY, faster)

    number = next(
        n for n in range(chart.count) if chart.band_ns(n, n)[0] <= 8 * MS < chart.band_ns(n, n)[1]
    )
    assert "run 0: 0 frames (0.000%) · run 1: 500 frames (100.000%)" in chart.text_of(
        number, number
    )


@pytest.mark.parametrize("kind", ChartKind)
def test_that_frames_without_length_are_drawn(kind: ChartKind) -> None:
    chart = chart_of(kind, Distribution(np.zeros(3, dtype=np.int64)))

    assert chart.count


def test_that_the_l_shape_has_the_upper_percentiles() -> None:
    times = np.arange(1, 10_001) * 10_000
    chart = chart_of(ChartKind.L_SHAPE, Distribution(times))

    assert chart.count == len(L_SHAPE_PERCENTS)
    low_ns, high_ns = chart.band_ns(0, chart.count - 1)
    assert 89.9 * MS < low_ns < 90.1 * MS
    assert high_ns == MAX_NS


@pytest.mark.parametrize("kind", list(ChartKind))
def test_that_a_chart_can_be_copied_as_a_table(kind: ChartKind) -> None:
    heading, *rows = chart_rows(chart_of(kind, SPIKY, Distribution([8 * MS] * 500)))

    assert heading[-2].startswith("run 0")
    assert {len(row) for row in rows} == {len(heading)}
    if kind is ChartKind.HISTOGRAM:
        assert sum(int(row[2]) for row in rows) == 1000
    if kind is ChartKind.CUMULATIVE:
        assert rows[-1][2:] == ("1000", "500")


@pytest.mark.parametrize("kind", list(ChartKind))
@pytest.mark.parametrize("size", [(40.0, 30.0), (1200.0, 400.0)])
def test_that_shapes_have_places_in_any_room(kind: ChartKind, size: tuple[float, float]) -> None:
    chart = distribution_chart(kind, [Curve("", SPIKY)], Box(0, 0, *size), "dark")

    boxes = [item.box for item in chart.items if isinstance(item, Rect)]
    assert all(box.width >= 0 and box.height >= 0 for box in boxes)
    assert isinstance(chart.items, tuple)
