"""The frame times of several captures in one chart, each from its own beginning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

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
from inspector.formats.drawing.ticks import duration_ticks, instant_ticks
from inspector.formats.options import GRAPH_COLORS, curve_stroke
from inspector.timebase import NS_PER_MS
from inspector.tokens import ThemeName

_SIZE: Final = 7.5
_HEAD: Final = 13.0
_FOOT: Final = 15.0
#: The axis of frame times ends at ``_TIMES`` times this percentile, so that usual frames are in the
#: middle; longer frames are cut off and marked.
_SHOWN_PERCENT: Final = 99
_TIMES: Final = 2.0
_ROOM: Final = 1.15
_STEP: Final = 0.75


class AlignedRun(Struct, frozen=True, eq=False):
    name: str
    times_ns: NDArray[np.int64]  # The frame times
    ends_ns: NDArray[np.int64]  # When each frame ends, from the beginning


def aligned_chart(
    runs: Sequence[AlignedRun], box: Box, theme: ThemeName, *, budgets_ms: Sequence[float] = ()
) -> tuple[Item, ...]:
    colors = GRAPH_COLORS[theme]
    longest = max(int(each.ends_ns[-1]) for each in runs) or 1
    top_ns = top_of_axis_ns([each.times_ns for each in runs])
    left = 6 + text_width("100.5", _SIZE)
    width = max(box.width - left - 40, 20.0)
    height = max(box.height - _FOOT - _HEAD, 8.0)
    area = Box(*(round(each, 2) for each in (box.x + left, box.y + _HEAD, width, height)))
    items = _levels(area, top_ns, theme, budgets_ms)
    for number, run in enumerate(runs):
        items += _line(run, number, area, longest, top_ns, theme)
    items += _names(runs, area, theme)
    axis = instant_ticks(0, longest, max(2, int(width / 60)))
    base = round(area.bottom, 2)
    items.append(Polyline((Point(area.x, base), Point(area.right, base)), Stroke(colors.axis, 0.6)))
    for tick in axis.ticks:
        x = round(area.x + tick.value_ns / longest * area.width, 2)
        items.append(Polyline((Point(x, base), Point(x, base + 3)), Stroke(colors.axis, 0.5)))
        at = Point(x, base + 11)
        items.append(Text(at, tick.label, _SIZE, colors.muted_text, Anchor.MIDDLE))
    end = Point(round(box.right, 2), base + 11)
    items.append(Text(end, axis.unit, _SIZE, colors.muted_text, Anchor.END))
    return tuple(items)


def top_of_axis_ns(times_ns: Sequence[NDArray[np.int64]]) -> float:
    """Return where the axis of frame times ends, for captures of at least one frame each."""
    usual = max(float(np.percentile(each, _SHOWN_PERCENT)) for each in times_ns)
    longest = max(int(each.max()) for each in times_ns)
    return max(min(usual * _TIMES, longest * _ROOM), 1.0)


def _levels(area: Box, top_ns: float, theme: ThemeName, budgets_ms: Sequence[float]) -> list[Item]:
    colors = GRAPH_COLORS[theme]
    items: list[Item] = []
    ticks = duration_ticks(top_ns, max(2, int(area.height / 24)))
    for tick in ticks.ticks:
        y = round(area.bottom - tick.value_ns / top_ns * area.height, 2)
        line = (Point(area.x, y), Point(area.right, y))
        items.append(Polyline(line, Stroke(colors.grid, 0.6)))
        at = Point(area.x - 4, round(y + _SIZE * 0.35, 2))
        items.append(Text(at, tick.label, _SIZE, colors.muted_text, Anchor.END))
    labelled: list[float] = []
    for number, budget_ms in enumerate(budgets_ms):
        y = round(area.bottom - budget_ms * NS_PER_MS / top_ns * area.height, 2)
        if y >= area.y:
            line = (Point(area.x, y), Point(area.right, y))
            items.append(Polyline(line, Stroke(colors.axis, 0.7, () if number == 0 else (3, 2))))
            if all(abs(y - other) > _SIZE for other in labelled):
                labelled.append(y)
                at = Point(round(area.right + 3, 2), round(y + _SIZE * 0.35, 2))
                items.append(Text(at, f"{1000 / budget_ms:.3g} fps", _SIZE, colors.muted_text))
    name = f"frame time ({ticks.unit})"
    items.append(Text(Point(area.x, area.y - 4), name, _SIZE, colors.muted_text))
    return items


def _names(runs: Sequence[AlignedRun], area: Box, theme: ThemeName) -> list[Item]:
    colors = GRAPH_COLORS[theme]
    room = (area.width - 80) / len(runs) - 22
    items: list[Item] = []
    x, y = area.right, round(area.y - 4, 2)
    for number, run in reversed(tuple(enumerate(runs))):
        name = shortened(plain(run.name), max(room, 12.0), _SIZE)
        x -= text_width(name, _SIZE)
        items.append(Text(Point(round(x, 2), y), name, _SIZE, colors.text))
        line = (Point(round(x - 14, 2), y - 2.5), Point(round(x - 4, 2), y - 2.5))
        items.append(Polyline(line, curve_stroke(number, theme, 2.0)))
        x -= 22
    return [Group("key", tuple(items))]


def _line(  # noqa: PLR0913, PLR0917 - where and how it is drawn
    run: AlignedRun, number: int, area: Box, longest: int, top_ns: float, theme: ThemeName
) -> list[Item]:
    times, end_ns = run.times_ns, run.ends_ns
    columns = np.append(0, end_ns[:-1]) / longest * area.width / _STEP
    edges = np.flatnonzero(np.diff(columns.astype(np.int64), prepend=-1))
    lows, highs = np.minimum.reduceat(times, edges), np.maximum.reduceat(times, edges)
    xs = np.round(area.x + columns[edges] * _STEP, 2)
    scale = area.height / top_ns
    upper = np.round(area.bottom - np.minimum(highs, top_ns) * scale, 2)
    lower = np.round(area.bottom - np.minimum(lows, top_ns) * scale, 2)
    ends = np.append(xs[1:], round(area.x + int(end_ns[-1]) / longest * area.width, 2))
    points: list[Point] = []
    for x, end, high, low in zip(
        *(xs.tolist(), ends.tolist(), upper.tolist(), lower.tolist()), strict=True
    ):
        points += (Point(x, high), Point(x, low), Point(end, low))
    stroke = curve_stroke(number, theme, 0.9)
    items: list[Item] = [Group(plain(run.name), (Polyline(tuple(points), stroke),))]
    cut = xs[highs > top_ns].tolist()
    items += [Rect(Box(x - 1, round(area.y - 2, 2), 2.0, 3.0), stroke.color) for x in cut]
    return items
