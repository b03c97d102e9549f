"""Interventions on the frame-time graph: signs above it, a list below."""

import math
from typing import Final

from inspector.analysis.intervention_list import Intervention
from inspector.formats.drawing.display_list import (
    Anchor,
    Group,
    Item,
    Point,
    Polygon,
    Polyline,
    Stroke,
    Text,
)
from inspector.formats.drawing.font_metrics import plain, shortened, text_width
from inspector.formats.frame_graph.frame_plot import SMALL_SIZE, PlotData, Scale, crisp
from inspector.formats.options import ExportOptions, GraphColors
from inspector.timebase import format_instant

#: Height of the strip above the plot that holds the signs and their numbers.
MARK_STRIP_PT: Final = 18.0

_SPACING_PT: Final = 9.0
_LINES_DRAWN: Final = 12
_NUMBERS_JOINED: Final = 3
_ROW_PT: Final = 11.0
_PAD: Final = 16.0
_GAP: Final = 18.0
#: Below this width the list has one column.
_TWO_COLUMNS_PT: Final = 560.0
#: Interventions listed below the graph; more are listed on a page of their own.
MOST_LISTED: Final = 5


def mark_group(
    interventions: tuple[Intervention, ...],
    data: PlotData,
    scale: Scale,
    base_y: float,
    colors: GraphColors,
) -> Group:
    """Return the signs of interventions, each with its number where there is room.

    Args:
        interventions: In the order in which they happened.
        data: The data, whose axis counts frames or time.
        base_y: Foot of the signs, in points.
    """
    signs: list[tuple[float, list[Intervention]]] = []
    for each in interventions:
        at = each.frame if data.is_by_number else each.at_ns
        x = scale.x(min(max(float(at), scale.low), scale.high))
        if signs and x < signs[-1][0] + _SPACING_PT:
            signs[-1][1].append(each)
        else:
            signs.append((x, [each]))
    items: list[Item] = []
    if len(signs) <= _LINES_DRAWN:
        items += [_line(x, base_y, scale, colors) for x, _ in signs]
    taken = -math.inf
    for x, found in signs:
        hits = [each for each in found if each.is_hit]
        items += sign_items(hits[0] if hits else found[0], x, base_y, colors)
        label = _numbers(found)
        half = text_width(label, SMALL_SIZE) / 2
        middle = min(max(x, scale.box.x + half), scale.box.right - half)
        if middle - half > taken + 3:
            taken = middle + half
            at_point = Point(round(middle, 2), round(base_y - 8.5, 2))
            halo = colors.background
            items.append(Text(at_point, label, SMALL_SIZE, colors.text, Anchor.MIDDLE, halo=halo))
    return Group("interventions", tuple(items))


def _line(x: float, base_y: float, scale: Scale, colors: GraphColors) -> Polyline:
    at = crisp(x)
    ends = (Point(at, round(base_y, 2)), Point(at, round(scale.box.bottom, 2)))
    return Polyline(ends, Stroke(colors.intervention, 0.5, (1.5, 2.5)))


def _numbers(entries: list[Intervention]) -> str:
    labels = list(dict.fromkeys(each.label for each in entries))
    if len(labels) > _NUMBERS_JOINED:
        return f"{labels[0]}…{labels[-1]}"
    return ", ".join(labels)


def sign_items(entry: Intervention, x: float, base_y: float, colors: GraphColors) -> list[Item]:
    """Return the sign of an intervention: a triangle, hollow if refused; a target for a hit."""
    color = colors.intervention
    if entry.is_hit:
        ring = _circle(x, base_y - 3, 2.9)
        return [
            Polyline((*ring, ring[0]), Stroke(color, 0.9)),
            Polygon(_circle(x, base_y - 3, 1.3), color),
        ]
    corners = tuple(
        Point(round(cx, 2), round(cy, 2))
        for cx, cy in ((x - 3, base_y - 6), (x + 3, base_y - 6), (x, base_y))
    )
    if entry.refusal:
        return [Polyline((*corners, corners[0]), Stroke(color, 0.7))]
    return [Polygon(corners, color)]


def _circle(x: float, y: float, radius: float) -> tuple[Point, ...]:
    turns = (step * math.tau / 12 for step in range(12))
    return tuple(
        Point(round(x + radius * math.cos(turn), 2), round(y + radius * math.sin(turn), 2))
        for turn in turns
    )


def note_group(
    interventions: tuple[Intervention, ...],
    bottom: float,
    options: ExportOptions,
    colors: GraphColors,
    most: int,
) -> tuple[Group, float, bool]:
    """Return the list of interventions that ends at a height of the picture, and its top.

    Args:
        bottom: Where the list ends, in points.
        options: The size of the picture.
        most: Number of interventions that are listed at most.

    Returns:
        The list, its top, and whether it has all of them.
    """
    listed = interventions[:most]
    if not listed:
        return Group("notes", ()), bottom, not interventions
    columns = 2 if options.width_pt >= _TWO_COLUMNS_PT and len(interventions) > 1 else 1
    texts = [_note(each) for each in listed]
    labels = [each.label for each in listed]
    if len(interventions) > most:
        texts.append(f"and {len(interventions) - most:,} more")
        labels.append("")
    rows = math.ceil(len(texts) / columns)
    top = bottom - rows * _ROW_PT - 6
    indent = max(text_width(label, SMALL_SIZE) for label in labels) + 5
    width = (options.width_pt - 2 * _PAD - (columns - 1) * _GAP) / columns
    items: list[Item] = []
    for place, (label, text) in enumerate(zip(labels, texts, strict=True)):
        column, row = divmod(place, rows)
        x, y = _PAD + column * (width + _GAP), top + (row + 1) * _ROW_PT
        at = Point(round(x + indent - 5, 2), round(y, 2))
        items.append(Text(at, label, SMALL_SIZE, colors.intervention, Anchor.END))
        at = Point(round(x + indent, 2), round(y, 2))
        shown = shortened(text, width - indent, SMALL_SIZE)
        items.append(Text(at, shown, SMALL_SIZE, colors.text if label else colors.muted_text))
    return Group("notes", tuple(items)), top, len(listed) == len(interventions)


def _note(entry: Intervention) -> str:
    parts = [f"{format_instant(entry.at_ns)}  {plain(entry.text)}"]
    if not entry.is_hit and entry.by != "you":
        parts.append(f"by {entry.by}")
    if entry.refusal or entry.undone_by:
        parts.append(entry.outcome)
    return plain(", ".join(parts))
