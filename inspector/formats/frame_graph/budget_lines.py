"""The lines of frame-time budgets, labelled beside the plot."""

from typing import Final

from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.analysis.statistics.frame_statistics import over_budget
from inspector.formats.drawing.display_list import (
    Box,
    Group,
    Item,
    Point,
    Polyline,
    Rect,
    Stroke,
    Text,
)
from inspector.formats.frame_graph.frame_plot import SMALL_SIZE, Scale, crisp, level_line
from inspector.formats.frame_times import NsColumn
from inspector.formats.options import GraphColors
from inspector.timebase import NS_PER_MS, format_duration

_LABEL_LINE: Final = 9.5
_DASHES: Final = ((5.0, 2.5), (2.0, 2.0), (7.0, 2.0, 1.5, 2.0))
_LARGE_RATE: Final = 1000


def budget_texts(budget_ms: float, measured_ns: NsColumn) -> tuple[str, ...]:
    """Return the lines of a budget's label: its time and rate, and how many frames are over.

    Counted by :data:`~inspector.analysis.statistics.frame_budget.OVER_RULE`, with the tolerance.
    """
    fps = 1000 / budget_ms
    rate = f"{fps:.3g}" if fps < _LARGE_RATE else f"{fps:.0f}"
    budget = FrameBudget.of_ms(budget_ms)
    name = f"{format_duration(budget.budget_ns)} · {rate} fps"
    if not len(measured_ns):
        return (name,)
    count = over_budget(measured_ns, budget).count
    beyond = f"over {format_duration(budget.longest_ns)}"
    if count in (0, len(measured_ns)):
        return name, f"{'all' if count else 'none'} {beyond}"
    return name, f"{count:,} {beyond} ({_percent(count, len(measured_ns))})"


def _percent(part: int, whole: int) -> str:
    tenths = round(1000 * part / whole)
    if not 0 < tenths < 1000:  # noqa: PLR2004 - some are over, but not all of them
        return "> 99.9 %" if tenths else "< 0.1 %"
    return f"{tenths / 10:.1f} %"


def budget_group(
    budgets_ms: list[float],
    labels: list[tuple[str, ...]],
    scale: Scale,
    colors: GraphColors,
) -> Group:
    """Return a dashed line for each budget with its label at the right edge."""
    items: list[Item] = []
    room = scale.box.height / max(1, len(budgets_ms))
    rows = 2 if room >= 2 * _LABEL_LINE + 1 else 1
    lowest = scale.box.bottom + 6
    for number, (budget_ms, texts) in enumerate(zip(budgets_ms, labels, strict=True)):
        stroke = Stroke(colors.text, 0.8, _DASHES[number % len(_DASHES)])
        # Between the dashes, the background, so that they are seen on bars.
        rim = Box(scale.box.x, crisp(scale.y(budget_ms * NS_PER_MS)) - 0.4, scale.box.width, 0.8)
        items.append(Rect(rim, colors.background))
        items.append(level_line(scale, budget_ms * NS_PER_MS, stroke))
        # A label is beside its line unless it would overlap another; then a short line leads
        # to it.
        shown = texts[:rows]
        line_y = crisp(scale.y(budget_ms * NS_PER_MS))
        beside = line_y + 2.9 + _LABEL_LINE * (len(shown) - 1)
        lower = min(beside, lowest)
        lowest = lower - _LABEL_LINE * len(shown) - 1
        if lower < scale.box.y:
            continue
        if lower < beside - 1:
            ends = (
                Point(round(scale.box.right, 2), line_y),
                Point(round(scale.box.right + 5, 2), round(line_y + lower - beside, 2)),
            )
            items.append(Polyline(ends, Stroke(colors.axis, 0.5)))
        for row, text in enumerate(shown):
            y = lower - _LABEL_LINE * (len(shown) - 1 - row)
            at = Point(round(scale.box.right + 6, 2), round(y, 2))
            color = colors.text if row == 0 else colors.muted_text
            items.append(Text(at, text, SMALL_SIZE, color))
    return Group("budgets", tuple(items))
