"""The distribution of frame times as a chart: histogram, cumulative, or the long end of it.

One chart may hold the frames of several captures. Times are on a linear axis that ends at the time
that half a percent of the frames exceed, or earlier if that is far away. Longer frames are counted
in a bin of their own, so that they neither flatten the chart nor get lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import Enum
from itertools import pairwise
from math import inf
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.analysis.statistics.distribution import Distribution
from inspector.formats.drawing.display_list import (
    Anchor,
    Box,
    DisplayList,
    Group,
    Item,
    Point,
    Polyline,
    Rect,
    Stroke,
    Text,
)
from inspector.formats.drawing.font_metrics import plain, shortened, text_width
from inspector.formats.drawing.ticks import duration_ticks, rounded_step
from inspector.formats.options import GRAPH_COLORS, GraphColors, curve_stroke
from inspector.timebase import MAX_NS, NS_PER_MS, brief_duration, format_duration
from inspector.tokens import ThemeName

#: The quantiles of CapFrameX's "L-shape".
L_SHAPE_PERCENTS: Final = (*range(90, 100), 99.5, 99.8, 99.9, 99.95)

_BINS: Final = 60
_SHOWN_PERCENT: Final = 99.5
#: The axis begins at 0 unless the shortest time is beyond this share of the end of the axis.
_FROM_ZERO: Final = 0.4
#: Size of its texts, in points.
TEXT_PT: Final = 7.5
_HEAD: Final = 13.0
#: Room above the data for the names of budgets.
_NAMES: Final = 9.5
#: The same without a heading; then the height below which a box has no heading.
_NAMES_ALONE: Final = 11.5
_LOW: Final = 60.0
#: Room below the data for the times, and below these for the number of longer frames.
_FOOT: Final = 13.5
_BELOW_TIMES: Final = 11.5
#: Room below that for the names of curves, if there are several.
_KEY: Final = 10.0
_LEAST_BAR: Final = 1.5
#: Bars leave room for the names of budgets above them.
_ROOM: Final = 1.12
_SAMPLE: Final = 14.0
#: Width of the bin of longer frames, as a share of all others together, however few these are.
_LONGER: Final = 0.05
_WIDTH: Final = 1.4
#: Height of a chart that is a picture by itself.
_HEIGHT: Final = 190.0

_Heights = Sequence["NDArray[np.float64]"]


class ChartKind(Enum):
    """What a chart shows of frame times, as the window calls it."""

    HISTOGRAM = "Histogram"
    CUMULATIVE = "Cumulative"
    L_SHAPE = "L-shape"


class Curve(Struct, frozen=True, eq=False):
    name: str
    times: Distribution  # The frame times in nanoseconds


class DistributionChart(Struct, frozen=True, eq=False):
    """The layout of a chart, for reading and choosing by pointer."""

    kind: ChartKind
    curves: tuple[Curve, ...]  # Whose frames
    area: Box  # Where the data are, in points
    # Edges of the bins, from the left; the last one is MAX_NS. For the L-shape, the percentiles of
    # the first curve.
    edges_ns: tuple[int, ...]
    items: tuple[Item, ...] = ()

    @property
    def count(self) -> int:
        return len(self.edges_ns) - 1

    def bin_at(self, x: float) -> int | None:
        """Return the number of the bin at a place, ``None`` beside the chart."""
        if not self.count or not self.area.x <= x <= self.area.right:
            return None
        share = (x - self.area.x) / self.area.width
        return min(int(share * self._slots), self.count - 1)

    def band_ns(self, first: int, last: int) -> tuple[int, int]:
        """Return the frame times of some bins, up to and not including the second."""
        first, last = sorted((first, last))
        if self.kind is ChartKind.L_SHAPE:
            return self.edges_ns[first], self.edges_ns[last + 1] or MAX_NS
        return self.edges_ns[first], self.edges_ns[last + 1]

    def x_of(self, number: float) -> float:
        return self.area.x + min(number, self._slots) / self._slots * self.area.width

    def text_of(self, first: int, last: int) -> str:
        low_ns, high_ns = self.band_ns(first, last)
        parts = []
        for curve in self.curves:
            (count,) = curve.times.histogram((low_ns, high_ns)).tolist()
            share = count / len(curve.times)
            name = f"{curve.name}: " if len(self.curves) > 1 else ""
            noun = "frame" if count == 1 else "frames"
            parts.append(f"{name}{count:,} {noun} ({share:.3%})")
        return f"{band_text(low_ns, high_ns)}: {' · '.join(parts)}"

    @property
    def _slots(self) -> float:
        """The width of all bins, in widths of a usual bin."""
        if self.kind is ChartKind.L_SHAPE:
            return self.count
        return (self.count - 1) * (1 + _LONGER)


def band_text(low_ns: int, high_ns: int) -> str:
    if high_ns >= MAX_NS:
        return f"{format_duration(low_ns)} and longer"
    return f"{format_duration(low_ns)} to {format_duration(high_ns)}"


def distribution_chart(  # noqa: PLR0913 - as many things make a chart
    kind: ChartKind,
    curves: Sequence[Curve],
    box: Box,
    theme: ThemeName,
    *,
    budgets_ms: Sequence[float] = (),
    band_ns: tuple[int, int] | None = None,
    beside: Sequence[Curve] = (),
) -> DistributionChart:
    colors = GRAPH_COLORS[theme]
    left = 6 + text_width("100 %", TEXT_PT)
    if len(curves) == 1:
        most = f"{len(curves[0].times):,}"
        left = 6 + max(text_width(each, TEXT_PT) for each in (most, "100 %", "16.67"))
    is_low = box.height < _LOW
    foot = _FOOT if is_low else _FOOT + _BELOW_TIMES
    foot += _KEY if len(curves) > 1 else 0.0
    head = _HEAD if kind is ChartKind.L_SHAPE or not budgets_ms else _HEAD + _NAMES
    head = _NAMES_ALONE if is_low else head
    area = Box(
        round(box.x + left, 2),
        round(box.y + head, 2),
        round(max(box.width - left - 8, 20.0), 2),
        round(max(box.height - head - foot, 10.0), 2),
    )
    draw = _Chart(
        *(tuple(curves), area, round(box.y + _HEAD - 5, 2), theme, colors, band_ns, tuple(beside)),
        is_low=is_low,
    )
    if kind is ChartKind.L_SHAPE:
        chart, items = draw.l_shape()
    else:
        chart, items = draw.over_times(kind, budgets_ms)
    key = _key(curves, box, theme, colors) if len(curves) > 1 else ()
    return DistributionChart(kind, chart.curves, area, chart.edges_ns, (*items, *key))


class _Chart(Struct, frozen=True):
    curves: tuple[Curve, ...]
    area: Box
    heading_y: float  # The baseline of the heading
    theme: ThemeName
    colors: GraphColors
    band_ns: tuple[int, int] | None
    beside: tuple[Curve, ...] = ()
    is_low: bool = False  # Whether the box is so low that the heading is left out

    @property
    def measured(self) -> tuple[Curve, ...]:
        """The curves that determine the axes."""
        return self.beside or self.curves

    def over_times(
        self, kind: ChartKind, budgets_ms: Sequence[float]
    ) -> tuple[DistributionChart, list[Item]]:
        edges = bin_edges_ns([each.times for each in self.measured])
        chart = DistributionChart(kind, self.curves, self.area, edges)
        is_single = len(self.measured) == 1
        counts = [each.times.histogram(edges) for each in self.curves]
        shares = [found / len(each.times) for found, each in zip(counts, self.curves, strict=True)]
        items = [*self._shade(chart), *self._time_axis(chart)]
        step = brief_duration(edges[1] - edges[0])
        if kind is ChartKind.HISTOGRAM and is_single:
            top = max(float(counts[0].max()), 1.0) * _ROOM
            items += self._value_axis(f"frames, in steps of {step}", top, is_count=True)
            items += self._bars(chart, counts[0] / top)
        elif kind is ChartKind.HISTOGRAM:
            most = [each.times.histogram(edges) / len(each.times) for each in self.measured]
            top = max(float(each.max()) for each in most) * _ROOM
            items += self._value_axis(f"share of frames, in steps of {step}", top)
            items += self._outlines(chart, [each / top for each in shares])
        else:
            items += self._value_axis("share of frames up to this time", _ROOM)
            items += self._growth(chart)
        return chart, [*items, *self._budgets(chart, budgets_ms)]

    def l_shape(self) -> tuple[DistributionChart, list[Item]]:
        shares = [each / 100 for each in L_SHAPE_PERCENTS]
        found = [each.times.quantiles_8(shares) for each in self.curves]
        longest = [float(each.times.quantiles_8(shares).max()) for each in self.measured]
        top_ns = max(1.0, *longest) * 1.08
        edges = (*(int(each) for each in found[0]), MAX_NS)
        chart = DistributionChart(ChartKind.L_SHAPE, self.curves, self.area, edges)
        ticks = duration_ticks(top_ns, max(2, int(self.area.height / 24)))
        items: list[Item] = [*self._shade(chart)]
        name = f"frame time ({ticks.unit}) that this percentage of frames does not exceed"
        items += self._heading(name)
        for tick in ticks.ticks:
            y = round(self.area.bottom - tick.value_ns / top_ns * self.area.height, 2)
            items += self._level(y, tick.label)
        free = inf
        # From the right, as the highest percentiles matter most and their labels need most room.
        for number, percent in reversed(tuple(enumerate(L_SHAPE_PERCENTS))):
            x, text = round(chart.x_of(number + 0.5), 2), f"{percent:g}"
            half = text_width(text, TEXT_PT) / 2 + 1
            if x + half <= free:
                items.append(self._foot(x, text))
                free = x - half
        for number, values in enumerate(found):
            points = tuple(
                Point(
                    round(chart.x_of(place + 0.5), 2),
                    round(self.area.bottom - value / top_ns * self.area.height, 2),
                )
                for place, value in enumerate(values.tolist())
            )
            stroke = curve_stroke(number, self.theme, _WIDTH)
            items.append(Polyline(points, stroke))
            items += [
                Rect(Box(x - 1.6, round(y - 1.6, 2), 3.2, 3.2), stroke.color) for x, y in points
            ]
        return chart, items

    def _bars(self, chart: DistributionChart, heights: NDArray[np.float64]) -> list[Item]:
        items: list[Item] = []
        for number, height in enumerate(heights.tolist()):
            if not height:
                continue
            x, end = chart.x_of(number), chart.x_of(number + 1)
            if number == chart.count - 1:
                end = self.area.right
            tall = max(height * self.area.height, _LEAST_BAR)
            # At most a pixel apart: more would read as times at which no frame ended.
            wide = max((end - x) * 0.92, end - x - 1, 0.5)
            box = Box(x, self.area.bottom - tall, wide, tall)
            color = self.colors.selection if self._is_chosen(chart, number) else self.colors.line
            items.append(Rect(_rounded(box), color))
        return items

    def _is_chosen(self, chart: DistributionChart, number: int) -> bool:
        if self.band_ns is None:
            return False
        low_ns, high_ns = chart.band_ns(number, number)
        return self.band_ns[0] < high_ns and low_ns < self.band_ns[1]

    def _outlines(self, chart: DistributionChart, heights: _Heights) -> list[Item]:
        items = self._bars(chart, heights[0])
        bottom = self.area.bottom
        for index, values in enumerate(heights[1:], 1):
            points = [Point(self.area.x, bottom)]
            for number, height in enumerate(values.tolist()):
                y = round(bottom - height * self.area.height, 2)
                is_last = number == chart.count - 1
                end = self.area.right if is_last else chart.x_of(number + 1)
                points += [Point(round(chart.x_of(number), 2), y), Point(round(end, 2), y)]
            items.append(Polyline(tuple(points), curve_stroke(index, self.theme, _WIDTH)))
        return items

    def _growth(self, chart: DistributionChart) -> list[Item]:
        """Return curves of the share of frames up to each time; every point is exact."""
        low_ns, high_ns = chart.edges_ns[0], chart.edges_ns[-2]
        end = chart.x_of(chart.count - 1)
        places = np.linspace(0.0, 1.0, max(int(end - self.area.x), 2))
        limits = (low_ns + places * (high_ns - low_ns)).astype(np.int64)
        xs = np.round(self.area.x + places * (end - self.area.x), 2).tolist()
        xs.append(round(self.area.right, 2))
        items: list[Item] = []
        for index, curve in enumerate(self.curves):
            shares = curve.times.counts_below(limits + 1) / len(curve.times)
            heights = np.append(shares, 1.0) / _ROOM * self.area.height
            ys = np.round(self.area.bottom - heights, 2).tolist()
            points = [Point(x, y) for x, y in zip(xs, ys, strict=True)]
            items.append(Polyline(tuple(points), curve_stroke(index, self.theme, _WIDTH)))
        return items

    def _shade(self, chart: DistributionChart) -> list[Item]:
        chosen = [number for number in range(chart.count) if self._is_chosen(chart, number)]
        if not chosen:
            return []
        x, end = chart.x_of(chosen[0]), chart.x_of(chosen[-1] + 1)
        if chosen[-1] == chart.count - 1:
            end = self.area.right
        box = Box(x, self.area.y, end - x, self.area.height)
        return [Rect(_rounded(box), self.colors.selection_shade)]

    def _heading(self, text: str) -> list[Item]:
        if self.is_low:
            return []
        return [Text(Point(self.area.x, self.heading_y), text, TEXT_PT, self.colors.muted_text)]

    def _foot(self, x: float, text: str) -> Text:
        at = Point(round(x, 2), round(self.area.bottom + 10, 2))
        return Text(at, text, TEXT_PT, self.colors.muted_text, Anchor.MIDDLE)

    def _level(self, y: float, label: str) -> list[Item]:
        line = (Point(self.area.x, y), Point(self.area.right, y))
        at = Point(self.area.x - 4, round(y + TEXT_PT * 0.35, 2))
        return [
            Polyline(line, Stroke(self.colors.grid, 0.6)),
            Text(at, label, TEXT_PT, self.colors.muted_text, Anchor.END),
        ]

    def _value_axis(self, name: str, top: float, *, is_count: bool = False) -> list[Item]:
        items = self._heading(name)
        step = rounded_step(top / _ROOM / max(1, min(5, int(self.area.height / 20))))
        if is_count:
            step = max(step, 1.0)
        most = top if is_count else min(top, 1.0)
        for number in range(1 + int(most / step + 1e-9)):
            level = number * step
            y = round(self.area.bottom - level / top * self.area.height, 2)
            text = f"{round(level):,}" if is_count else f"{100 * level:.3g} %"
            items += self._level(y, text)
        return items

    def _time_axis(self, chart: DistributionChart) -> list[Item]:
        area, edges = self.area, chart.edges_ns
        low_ns, high_ns = edges[0], edges[-2]
        edge = chart.x_of(chart.count - 1)
        width = 0.8 * (edge - area.x)
        ticks = duration_ticks(high_ns, max(2, int(width / 48)), low_ns)
        widest = max(text_width(f"{each.label} {ticks.unit}", TEXT_PT) for each in ticks.ticks)
        if widest * len(ticks.ticks) > width:
            # If frame times differ by nanoseconds only, their labels are long.
            ticks = duration_ticks(high_ns, max(1, int(width / widest)), low_ns)
        items: list[Item] = []
        unit = (edge - area.x) / (high_ns - low_ns)
        for tick in ticks.ticks:
            x = area.x + (tick.value_ns - low_ns) * unit
            if low_ns <= tick.value_ns and x <= edge:
                ends = (Point(round(x, 2), area.bottom), Point(round(x, 2), area.bottom + 3))
                items.append(Polyline(ends, Stroke(self.colors.axis, 0.5)))
                items.append(self._foot(x, f"{tick.label} {ticks.unit}"))
        base = (Point(area.x, area.bottom), Point(area.right, area.bottom))
        items.append(Polyline(base, Stroke(self.colors.axis, 0.6)))
        if longer := self._longer(chart):
            y = area.y - 3 if self.is_low else area.bottom + 20
            at = Point(round(area.right, 2), round(y, 2))
            items.append(Text(at, longer, TEXT_PT, self.colors.muted_text, Anchor.END))
        return items

    def _longer(self, chart: DistributionChart) -> str:
        """Return how many frames are in the last bin, as text; empty if there are none."""
        high_ns = chart.edges_ns[-2]
        counts = [int(each.times.histogram((high_ns, MAX_NS)).sum()) for each in self.curves]
        if not any(counts) or self.area.right <= chart.x_of(chart.count - 1):
            return ""
        numbers = " / ".join(f"{count:,}" for count in counts)
        return f"{numbers} longer than {format_duration(high_ns)} →"

    def _budgets(self, chart: DistributionChart, budgets_ms: Sequence[float]) -> list[Item]:
        area, edges = self.area, chart.edges_ns
        end = chart.x_of(chart.count - 1)
        items: list[Item] = []
        labelled: list[float] = []
        free = area.right
        if self.is_low and (longer := self._longer(chart)):
            free -= text_width(longer, TEXT_PT)
        for number, budget_ms in enumerate(budgets_ms):
            share = (budget_ms * NS_PER_MS - edges[0]) / (edges[-2] - edges[0])
            if not 0 <= share <= 1:
                continue
            x = round(area.x + share * (end - area.x), 2)
            dash = () if number == 0 else (3.0, 2.0)
            text = f"{1000 / budget_ms:.3g} fps"
            room = text_width(text, TEXT_PT) + 4
            is_free = not self.is_low or x + room <= free
            top = round(area.y - _NAMES, 2) if is_free else area.y
            line = (Point(x, top), Point(x, area.bottom))
            items.append(Polyline(line, Stroke(self.colors.axis, 0.7, dash)))
            if not is_free or any(abs(x - other) < room for other in labelled):
                continue
            labelled.append(x)
            at = Point(x + 3, round(area.y - 3, 2))
            items.append(Text(at, text, TEXT_PT, self.colors.muted_text))
        return items


def bin_edges_ns(times: Sequence[Distribution]) -> tuple[int, ...]:
    """Return round edges of bins for some distributions; the last bin has all longer frames."""
    low_ns = min(int(each.of_ranks([0])[0]) for each in times)
    longest_ns = max(int(each.of_ranks([len(each) - 1])[0]) for each in times)
    high_ns = max(map(_shown_up_to_ns, times))
    if longest_ns <= 1.25 * high_ns:
        high_ns = longest_ns
    begin_ns = low_ns if low_ns > _FROM_ZERO * high_ns else 0
    step_ns = max(1, round(rounded_step((high_ns - begin_ns) / _BINS)))
    if begin_ns == high_ns:
        step_ns = max(1, round(rounded_step(high_ns / 100)))
    first = max(begin_ns // step_ns - 1, 0) if begin_ns else 0
    last = min(high_ns // step_ns + 1, (MAX_NS - 1) // step_ns)
    return (*(number * step_ns for number in range(first, last + 1)), MAX_NS)


def _shown_up_to_ns(times: Distribution) -> int:
    """Return where the axis ends: at the 99.5th percentile, or nearer if that is far away."""
    median_ns, usual_ns, high_ns = times.percentiles([50, 95, _SHOWN_PERCENT]).tolist()
    return int(min(high_ns, max(4 * median_ns, 2 * usual_ns)))


def _rounded(box: Box) -> Box:
    return Box(round(box.x, 2), round(box.y, 2), round(box.width, 2), round(box.height, 2))


def _key(curves: Sequence[Curve], box: Box, theme: ThemeName, colors: GraphColors) -> list[Item]:
    room = box.width / len(curves) - _SAMPLE - 12
    items: list[Item] = []
    x, y = box.x + 4, round(box.bottom - 3, 2)
    for index, curve in enumerate(curves):
        name = shortened(plain(curve.name), max(room, 12.0), TEXT_PT)
        line = (Point(round(x, 2), y - 2.5), Point(round(x + _SAMPLE - 4, 2), y - 2.5))
        items.append(Polyline(line, curve_stroke(index, theme, 2.0)))
        items.append(Text(Point(round(x + _SAMPLE, 2), y), name, TEXT_PT, colors.text))
        x += _SAMPLE + text_width(name, TEXT_PT) + 12
    return [Group("key", tuple(items))]


def chart_picture(  # noqa: PLR0913 - as many things make a picture
    kind: ChartKind,
    curves: Sequence[Curve],
    width: float,
    theme: ThemeName,
    *,
    created: datetime | None,
    software: str,
    budgets_ms: Sequence[float] = (),
) -> DisplayList:
    box = Box(4, 16, width - 8, _HEIGHT - 20)
    chart = distribution_chart(kind, curves, box, theme, budgets_ms=budgets_ms)
    colors = GRAPH_COLORS[theme]
    title = Text(Point(box.x, 11), kind.value, 9.0, colors.text, is_bold=True)
    count = sum(len(each.times) for each in curves)
    return DisplayList(
        *(width, _HEIGHT, colors.background, (title, *chart.items)),
        title=f"{kind.value} of frame times",
        description=f"{kind.value} of {count:,} frame times.",
        created=created,
        software=software,
    )


def chart_rows(chart: DistributionChart) -> list[tuple[str, ...]]:
    """Return a chart as a table: its titles, then a row for each bin."""
    names = [each.name or "frames" for each in chart.curves]
    if chart.kind is ChartKind.L_SHAPE:
        shares = [each / 100 for each in L_SHAPE_PERCENTS]
        found = [each.times.quantiles_8(shares) / NS_PER_MS for each in chart.curves]
        rows = [
            (f"{percent:g}", *(f"{values[place]:.6f}" for values in found))
            for place, percent in enumerate(L_SHAPE_PERCENTS)
        ]
        return [("percent", *(f"{name} (ms)" for name in names)), *rows]
    counts = [each.times.histogram(chart.edges_ns) for each in chart.curves]
    if chart.kind is ChartKind.CUMULATIVE:
        counts = [np.cumsum(each) for each in counts]
    rows = [
        (
            f"{low_ns / NS_PER_MS:g}",
            "" if high_ns >= MAX_NS else f"{high_ns / NS_PER_MS:g}",
            *(str(int(values[place])) for values in counts),
        )
        for place, (low_ns, high_ns) in enumerate(pairwise(chart.edges_ns))
    ]
    return [("from (ms)", "to (ms)", *names), *rows]
