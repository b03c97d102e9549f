"""Drift over time in the refresh-rate lab: actual minus expected, one curve per run.

Each point of a curve is a firing: its instant, and its lateness against the expected firing of that
number. A key at the right names the curves with their last value.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct

from inspector.engines.lab.refresh_lab import LabResult, end_of
from inspector.engines.lab.timer import duration_text
from inspector.formats.drawing.display_list import (
    Anchor,
    Box,
    Group,
    Item,
    Point,
    Polyline,
    Rect,
    Stroke,
    Text,
)
from inspector.formats.drawing.font_metrics import plain, shortened, text_width
from inspector.formats.drawing.ticks import Tick, Ticks, duration_ticks, instant_ticks
from inspector.formats.options import GRAPH_COLORS, GraphColors, curve_stroke
from inspector.timebase import NS_PER_MS
from inspector.tokens import ThemeName

_SIZE: Final = 7.5
_LINE: Final = 10.5
_HEAD: Final = 12.0
_FOOT: Final = 13.0
_SAMPLE: Final = 18.0
_LARGEST_KEY_SHARE: Final = 0.45
_KEY_GAP: Final = 10.0
_SMALLEST_CHART: Final = 110.0
_WIDTH: Final = 1.2
_MARKED_WIDTH: Final = 2.4


class DriftChart(Struct, frozen=True):
    """The layout of the curves of a group, for reading by pointer."""

    results: tuple[LabResult, ...]  # The runs, one per curve
    area: Box  # Area of the curves, in points
    end_ns: int  # The instant at the right edge; 0 is at the left
    low_ns: float  # The drift at the lower edge
    high_ns: float  # The drift at the upper edge
    items: tuple[Item, ...] = ()  # The chart as shapes

    def x(self, at_ns: float) -> float:
        return self.area.x + at_ns / self.end_ns * self.area.width

    def y(self, drift_ns: float) -> float:
        share = (drift_ns - self.low_ns) / (self.high_ns - self.low_ns)
        return self.area.bottom - share * self.area.height

    def nearest(
        self, x: float, y: float, current: LabResult | None = None
    ) -> tuple[LabResult, int] | None:
        """Return the run and the number of the firing nearest to a position."""
        at_ns = (x - self.area.x) / self.area.width * self.end_ns
        best: tuple[float, bool, LabResult, int] | None = None
        for result in self.results:
            drifts = result.drifts_ns
            if not drifts:
                continue
            after = bisect_left(result.fired_ns, at_ns, 0, len(drifts))
            for number in {max(after - 1, 0), min(after, len(drifts) - 1)}:
                far = math.hypot(self.x(result.fired_ns[number]) - x, self.y(drifts[number]) - y)
                found = (round(far, 2), result is not current, result, number)
                if best is None or found[:2] < best[:2]:
                    best = found
        return None if best is None else best[2:]


def drift_groups(results: Sequence[LabResult]) -> list[tuple[str, list[LabResult]]]:
    return [(head, list(runs)) for head, runs in groupby(results, lambda each: each.group_title)]


def drift_height(count: int) -> float:
    """Return the preferred height of a chart with this many curves, in points."""
    return max(_SMALLEST_CHART, _HEAD + count * _LINE + _FOOT)


def drift_chart(
    results: Sequence[LabResult], box: Box, theme: ThemeName, marked: LabResult | None = None
) -> DriftChart:
    low_ns, high_ns = _range(results)
    end_ns = end_of(results)
    room = max(box.height - _HEAD - _FOOT, 10.0)
    ticks = _drift_ticks(low_ns, high_ns, room)
    left = 6 + max((text_width(tick.label, _SIZE) for tick in ticks.ticks), default=0.0)
    key = _key_of(results, box, marked)
    width = max(box.width - left - key.width - 8, 20.0)
    area = Box(round(box.x + left, 2), box.y + _HEAD, round(width, 2), round(room, 2))
    chart = DriftChart(tuple(results), area, end_ns, low_ns, high_ns)
    items = (
        *_axes(chart, ticks, theme),
        *_curves(chart, theme, marked),
        *_key_items(chart, key, box.y, theme, marked),
    )
    return DriftChart(tuple(results), area, end_ns, low_ns, high_ns, items)


def drift_text(result: LabResult) -> str:
    drift_ns = result.drift_ns
    if drift_ns is None:
        return "no firing"
    sign = "" if drift_ns == 0 else "+" if drift_ns > 0 else "−"
    return f"{sign}{duration_text(abs(drift_ns))}" if drift_ns else "0"


def _range(results: Sequence[LabResult]) -> tuple[float, float]:
    late = [each.lateness for each in results if each.lateness is not None]
    low_ns = min((each.min_ns for each in late), default=0)
    high_ns = max((each.max_ns for each in late), default=0)
    low_ns, high_ns = min(low_ns, 0), max(high_ns, 0)
    if low_ns == high_ns:
        return -float(NS_PER_MS), float(NS_PER_MS)
    slack = (high_ns - low_ns) * 0.06
    return low_ns - slack, high_ns + slack


def _drift_ticks(low_ns: float, high_ns: float, height: float) -> Ticks:
    most_ns = max(-low_ns, high_ns)
    count = max(2, int(height / 20 * most_ns / (high_ns - low_ns)))
    up = duration_ticks(most_ns, count)
    below = [Tick(-tick.value_ns, f"−{tick.label}") for tick in up.ticks if tick.value_ns > 0]
    both = sorted((*below, *up.ticks), key=lambda tick: tick.value_ns)
    return Ticks(tuple(tick for tick in both if low_ns <= tick.value_ns <= high_ns), up.unit)


def _axes(chart: DriftChart, ticks: Ticks, theme: ThemeName) -> list[Item]:
    colors, area = GRAPH_COLORS[theme], chart.area
    times = instant_ticks(0, chart.end_ns, max(2, int(area.width / 60)))
    name = f"actual − expected ({ticks.unit}) over time ({times.unit})"
    name = shortened(name, area.width, _SIZE)
    items: list[Item] = [Text(Point(area.x, area.y - 4), name, _SIZE, colors.muted_text)]
    for tick in ticks.ticks:
        y = round(chart.y(tick.value_ns), 2)
        color = colors.axis if tick.value_ns == 0 else colors.grid
        line = (Point(area.x, y), Point(area.right, y))
        items.append(Polyline(line, Stroke(color, 0.6)))
        at = Point(area.x - 4, round(y + _SIZE * 0.35, 2))
        items.append(Text(at, tick.label, _SIZE, colors.muted_text, Anchor.END))
    bottom = round(area.bottom, 2)
    items.append(
        Polyline((Point(area.x, bottom), Point(area.right, bottom)), Stroke(colors.axis, 0.5))
    )
    return items + tick_marks(times.ticks, chart.x, bottom, colors)


def tick_marks(
    ticks: Iterable[Tick], x_of: Callable[[float], float], y: float, colors: GraphColors
) -> list[Item]:
    """Return marks with labels below a horizontal axis."""
    items: list[Item] = []
    for tick in ticks:
        x = round(x_of(tick.value_ns), 2)
        items.append(Polyline((Point(x, y), Point(x, y + 3)), Stroke(colors.axis, 0.5)))
        at = Point(x, y + 11)
        items.append(Text(at, tick.label, _SIZE, colors.muted_text, Anchor.MIDDLE))
    return items


def _stroke(index: int, theme: ThemeName, *, is_marked: bool) -> Stroke:
    return curve_stroke(index, theme, _MARKED_WIDTH if is_marked else _WIDTH)


def _curves(chart: DriftChart, theme: ThemeName, marked: LabResult | None) -> list[Item]:
    items: list[Item] = []
    front: list[Item] = []
    for index, result in enumerate(chart.results):
        points = _thinned(
            [
                Point(round(chart.x(at_ns), 2), round(chart.y(drift_ns), 2))
                for at_ns, drift_ns in zip(result.fired_ns, result.drifts_ns, strict=False)
            ]
        )
        if not points:
            continue
        stroke = _stroke(index, theme, is_marked=result is marked)
        curve: Item = Polyline(tuple(points), stroke)
        if len(points) == 1:
            (x, y), size = points[0], 2 * stroke.width
            curve = Rect(
                Box(round(x - size / 2, 2), round(y - size / 2, 2), size, size), stroke.color
            )
        (front if result is marked else items).append(Group(plain(result.row_title), (curve,)))
    return items + front


def _thinned(points: list[Point]) -> list[Point]:
    """Return fewer points that look the same: in each half point of width, ends and extremes."""
    kept: list[Point] = []
    for _column, group in groupby(points, lambda point: int(point.x * 2)):
        column = list(group)
        low = min(range(len(column)), key=lambda number: column[number].y)
        high = max(range(len(column)), key=lambda number: column[number].y)
        kept += [column[number] for number in sorted({0, low, high, len(column) - 1})]
    return kept


class _Key(Struct, frozen=True):
    width: float  # Its width, in points
    rows: int  # Lines per column
    columns: int  # Number of columns
    shown: tuple[int, ...]  # The named runs, by number


def _key_of(results: Sequence[LabResult], box: Box, marked: LabResult | None) -> _Key:
    """Return the key that fits: the marked run, and those that drift most."""
    rows = max(1, int((box.height - 2) / _LINE))
    widest = max((text_width(_key_text(each), _SIZE) for each in results), default=0.0)
    column = _SAMPLE + widest + _KEY_GAP
    most = box.width * _LARGEST_KEY_SHARE
    columns = max(1, min(math.ceil(len(results) / rows), int(most / column)))
    numbers = list(range(len(results)))
    if len(results) > rows * columns:
        numbers.sort(key=lambda n: (results[n] is not marked, -abs(results[n].drift_ns or 0), n))
        numbers = sorted(numbers[: rows * columns - 1])
    else:
        rows = max(1, math.ceil(len(results) / columns))
    return _Key(round(min(columns * column, most), 2), rows, columns, tuple(numbers))


def _key_items(
    chart: DriftChart, key: _Key, top: float, theme: ThemeName, marked: LabResult | None
) -> list[Item]:
    colors = GRAPH_COLORS[theme]
    left = chart.area.right + 8
    width = key.width / key.columns

    def place(line: int) -> tuple[float, float]:
        x = left + line // key.rows * width
        return round(x, 2), round(top + 2 + (line % key.rows + 0.5) * _LINE, 2)

    items: list[Item] = []
    for line, number in enumerate(key.shown):
        result = chart.results[number]
        x, y = place(line)
        stroke = _stroke(number, theme, is_marked=result is marked)
        items.append(Polyline((Point(x, y), Point(x + _SAMPLE - 4, y)), stroke))
        value = drift_text(result)
        # Half a point more than measured, so that rounding cuts nothing.
        room = width - _SAMPLE - _KEY_GAP + 0.5 - text_width(f": {value}", _SIZE)
        title = shortened(plain(result.row_title), max(room, 12.0), _SIZE)
        at = Point(x + _SAMPLE, round(y + _SIZE * 0.35, 2))
        items.append(Text(at, f"{title}: {value}", _SIZE, colors.text))
    more = len(chart.results) - len(key.shown)
    if more:
        x, y = place(len(key.shown))
        at = Point(x + _SAMPLE, round(y + _SIZE * 0.35, 2))
        items.append(Text(at, f"and {more:,} more", _SIZE, colors.muted_text))
    return [Group("key", tuple(items))]


def _key_text(result: LabResult) -> str:
    return f"{plain(result.row_title)}: {drift_text(result)}"
