"""Bookmarks, notes, ranges and marks on the frame-time graph: signs above it, with names.

Names are in rows above the signs, each after a thin line that rises from its sign. A name is placed
where it hides no other name and no such line crosses it; otherwise it is shortened or omitted.
Annotations come before marks of the scene.
"""

import math
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, replace
from typing import Final

from inspector.analysis.landmarks import Landmark
from inspector.formats.drawing.display_list import (
    Box,
    Group,
    Item,
    Point,
    Polygon,
    Polyline,
    Rect,
    Stroke,
    Text,
)
from inspector.formats.drawing.font_metrics import plain, shortened, text_width
from inspector.formats.frame_graph.frame_plot import SMALL_SIZE, PlotData, Scale, crisp
from inspector.formats.options import ExportOptions, GraphColors

#: Height of the signs at the foot of the strip.
_SIGN_PT: Final = 9.0
_ROW_PT: Final = 10.5
#: Height of the bar of a range, and the number of bars above each other.
_BAR_PT: Final = 3.5
_MOST_BARS: Final = 3
_WIDEST_PT: Final = 150.0
#: A name with less room is omitted.
_NARROWEST_PT: Final = 30.0
_GAP_PT: Final = 4.0
#: Closer signs are drawn as one.
_SPACING_PT: Final = 3.0
_LINES_DRAWN: Final = 12
#: For more marks of the scene no place for names is searched.
_MOST_NAMED: Final = 400
#: Of marks with the same name, those beside which a place is searched.
_MOST_TRIED: Final = 100
_TITLES: Final = {
    "bookmark": "bookmark",
    "note": "note",
    "range": "named range",
    "mark": "mark of the scene",
}


@dataclass(frozen=True, slots=True)
class _Name:
    """A name with its place.

    Attributes:
        x: Position of its line.
        left: Start of the text.
        right: End of the text.
        row: Its row, from below.
        text: The name, possibly shortened.
        of: The landmark.
    """

    x: float
    left: float
    right: float
    row: int
    text: str
    of: Landmark


@dataclass(frozen=True, slots=True)
class LandmarkStrip:
    """The layout of the strip.

    Attributes:
        signs: Position of each sign, and its landmark.
        names: The names with a place.
        bars: Left edge, right edge and row from below of each range.
        height: Height of the whole strip, 0 if empty.
        unnamed: Number of omitted names.
    """

    signs: tuple[tuple[float, Landmark], ...]
    names: tuple[_Name, ...]
    bars: tuple[tuple[float, float, int], ...]
    height: float
    unnamed: int

    @property
    def unnamed_text(self) -> str:
        return f"names omitted: {self.unnamed:,}"


def most_rows(options: ExportOptions) -> int:
    return max(1, min(5, int((options.height_pt - 240) / 50)))


def tallest(landmarks: tuple[Landmark, ...], rows: int) -> float:
    """Return the maximum height of the strip with this many rows of names, in points."""
    if not landmarks:
        return 0.0
    return _SIGN_PT + _MOST_BARS * (_BAR_PT + 1) + rows * _ROW_PT


def merged_marks(landmarks: tuple[Landmark, ...]) -> tuple[Landmark, ...]:
    """Return landmarks with the number of times in the names of marks that repeat: "wave ×24".

    One of those marks gets the name, all of them a sign.
    """
    counts = Counter(each.name for each in landmarks if each.kind == "mark")
    return tuple(
        replace(each, name=f"{each.name} ×{counts[each.name]:,}")
        if each.kind == "mark" and counts[each.name] > 1
        else each
        for each in landmarks
    )


def laid_out(
    landmarks: tuple[Landmark, ...], data: PlotData, scale: Scale, rows: int
) -> LandmarkStrip:
    """Return the layout of signs, bars and names.

    Args:
        landmarks: Earliest first.
        data: The data, whose axis counts frames or time.
        scale: The positions of instants; only its width matters.
        rows: Maximum number of rows of names.
    """
    if not landmarks:
        return LandmarkStrip((), (), (), 0.0, 0)
    placed = [(_x(each.at_ns, each.frame, data, scale), each) for each in landmarks]
    signs: list[tuple[float, Landmark]] = []
    for x, each in placed:
        is_new = not signs or x >= signs[-1][0] + _SPACING_PT
        if is_new or each.kind != signs[-1][1].kind:
            signs.append((x, each))
    names = _named(placed, scale, rows)
    bars = _bars([(x, each) for x, each in placed if each.end_ns is not None], data, scale)
    height = _SIGN_PT + max((bar + 1 for *_edges, bar in bars), default=0) * (_BAR_PT + 1)
    height += max((name.row + 1 for name in names), default=0) * _ROW_PT
    marks = {each.name for each in landmarks if each.kind == "mark"}
    unnamed = len(marks) + sum(each.kind != "mark" for each in landmarks) - len(names)
    return LandmarkStrip(tuple(signs), tuple(names), tuple(bars), height, unnamed)


def _x(at_ns: int, frame: int, data: PlotData, scale: Scale) -> float:
    at = float(frame if data.is_by_number else at_ns)
    return scale.x(min(max(at, scale.low), scale.high))


def _bars(
    ranges: list[tuple[float, Landmark]], data: PlotData, scale: Scale
) -> list[tuple[float, float, int]]:
    """Return a bar for each range, stacked where ranges overlap, as far as there is room."""
    ends = [-math.inf] * _MOST_BARS
    found = []
    for left, each in ranges:
        right = max(_x(each.end_ns or 0, each.last_frame, data, scale), left + 1)
        free = [bar for bar, end in enumerate(ends) if end <= left]
        bar = free[0] if free else _MOST_BARS - 1
        ends[bar] = max(ends[bar], right)
        found.append((left, right, bar))
    return found


def _named(placed: list[tuple[float, Landmark]], scale: Scale, rows: int) -> list[_Name]:
    """Return the names with a place: of annotations first, then of marks that repeat."""
    people = [each for each in placed if each[1].kind != "mark"][-_MOST_NAMED:]
    marks: dict[str, list[tuple[float, Landmark]]] = {}
    for x, each in placed:
        if each.kind == "mark":
            marks.setdefault(each.name, []).append((x, each))
    repeated = sorted((each for each in marks.values() if len(each) > 1), key=len, reverse=True)
    scenes = [group[0] for group in marks.values() if len(group) == 1][-_MOST_NAMED:]
    lines = _Rows(rows, [x for x, _ in placed])
    found = _with_names_of(people, [], scale, lines)
    for group in repeated[:_MOST_NAMED]:
        found += _name_of_any(group, found, scale, lines)
    return _with_names_of(scenes, found, scale, lines)


def _with_names_of(
    group: list[tuple[float, Landmark]], found: list[_Name], scale: Scale, rows: "_Rows"
) -> list[_Name]:
    """Return names together with those of a group, by the better of two ways to place them.

    Either names are placed from right to left, or first those with room for the whole name to the
    right of their sign, and then the rest.
    """
    at_once = _added(group, found, scale, rows)
    eager = _added(group, found, scale, rows, only_rightward=True)
    named = {id(name.of) for name in eager}
    rest = [each for each in group if id(each[1]) not in named]
    return max((at_once, _added(rest, eager, scale, rows)), key=len)


def _name_of_any(
    marks: list[tuple[float, Landmark]], found: list[_Name], scale: Scale, rows: "_Rows"
) -> list[_Name]:
    """Return the name of marks with the same name, beside that with the most room for it."""
    best: list[_Name] = []
    for x, each in marks[:_MOST_TRIED]:
        name = _place_for(x, each, found, scale, rows, only_rightward=False)
        if name is not None and (not best or len(name.text) > len(best[0].text)):
            best = [name]
        if name is not None and name.text == plain(each.name):
            break
    return best


def _added(
    group: list[tuple[float, Landmark]],
    found: list[_Name],
    scale: Scale,
    rows: "_Rows",
    *,
    only_rightward: bool = False,
) -> list[_Name]:
    """Return names together with those of a group that find a place beside them."""
    names = list(found)
    # From the right: names further left then rise above those they would hide.
    for x, each in reversed(group):
        name = _place_for(x, each, names, scale, rows, only_rightward=only_rightward)
        if name is not None:
            names.append(name)
    return names


@dataclass(frozen=True, slots=True)
class _Rows:
    """The number of rows, and the positions of all signs, in ascending order."""

    count: int
    xs: list[float]

    def in_order(self, x: float, wanted: float, *, is_leftward: bool) -> range:
        """Return the rows in the order of trying.

        From below; but a name to the left, over signs whose names are still to be placed, leaves
        the lower rows to them.
        """
        is_over_others = bisect_left(self.xs, x - 3 - wanted) < bisect_left(self.xs, x)
        rows = range(self.count)
        return rows[::-1] if is_leftward and is_over_others else rows


def _place_for(  # noqa: PLR0913 - what is there, and how to look
    x: float,
    landmark: Landmark,
    taken: list[_Name],
    scale: Scale,
    rows: _Rows,
    *,
    only_rightward: bool,
) -> _Name | None:
    """Return a place for a name: with room for all of it, or else with the most room."""
    wanted = min(text_width(plain(landmark.name), SMALL_SIZE), _WIDEST_PT)
    best: tuple[float, int, bool] | None = None
    for is_leftward in (False,) if only_rightward else (False, True):
        for row in rows.in_order(x, wanted, is_leftward=is_leftward):
            if any(name.row < row and name.left - 1 < x < name.right + 1 for name in taken):
                continue
            room = _room(x, row, taken, scale, is_leftward=is_leftward)
            if room >= wanted:
                return _at(x, landmark, wanted, row, is_leftward=is_leftward)
            if room >= _NARROWEST_PT and (best is None or room > best[0]):
                best = (room, row, is_leftward)
    if best is None or only_rightward:
        return None
    room, row, is_leftward = best
    return _at(x, landmark, room, row, is_leftward=is_leftward)


def _room(x: float, row: int, taken: list[_Name], scale: Scale, *, is_leftward: bool) -> float:
    """Return the room for a name that starts, or ends, beside a line at x."""
    if is_leftward:
        edge = scale.box.x
        for name in taken:
            if name.row == row and name.left < x:
                edge = max(edge, max(name.x, name.right) + _GAP_PT)
            elif name.row > row and name.x <= x:
                edge = max(edge, name.x + 2)
        return x - 3 - edge
    edge = scale.box.right
    for name in taken:
        if name.row == row and max(name.x, name.right) > x:
            edge = min(edge, min(name.x, name.left) - _GAP_PT)
        elif name.row > row and name.x >= x:
            edge = min(edge, name.x - 2)
    return edge - x - 3


def _at(x: float, landmark: Landmark, room: float, row: int, *, is_leftward: bool) -> _Name:
    shown = shortened(plain(landmark.name), room, SMALL_SIZE)
    width = text_width(shown, SMALL_SIZE)
    left = x - 3 - width if is_leftward else x + 3
    return _Name(x, left, left + width, row, shown, landmark)


# ------------------------------------------------------------------- drawing


def band_group(strip: LandmarkStrip, scale: Scale, colors: GraphColors) -> Group:
    """Return the shades of ranges, drawn behind everything else."""
    box = scale.box
    return Group(
        "ranges",
        tuple(
            Rect(
                Box(round(left, 2), box.y, round(max(right - left, 0.5), 2), round(box.height, 2)),
                colors.landmark_shade,
            )
            for left, right, _bar in strip.bars
        ),
    )


def landmark_group(strip: LandmarkStrip, scale: Scale, base_y: float, colors: GraphColors) -> Group:
    """Return signs, bars and names.

    Args:
        base_y: Foot of the strip, in points.
    """
    items: list[Item] = []
    if len(strip.signs) <= _LINES_DRAWN:
        items += [_line(x, base_y, scale, colors) for x, _ in strip.signs]
        rights = [right for _left, right, _bar in strip.bars]
        items += [_line(right, base_y, scale, colors) for right in rights]
    bar_count = max((bar + 1 for *_edges, bar in strip.bars), default=0)
    sign_y = base_y - bar_count * (_BAR_PT + 1)
    for left, right, bar in strip.bars:
        y = round(base_y - (bar + 1) * (_BAR_PT + 1) + 1, 2)
        box = Box(round(left, 2), y, round(right - left, 2), _BAR_PT)
        items.append(Rect(box, colors.landmark))
    rows_y = sign_y - _SIGN_PT
    for name in strip.names:
        foot = rows_y - name.row * _ROW_PT
        at = crisp(name.x)
        ends = (Point(at, round(foot - 7, 2)), Point(at, round(sign_y, 2)))
        items.append(Polyline(ends, Stroke(colors.landmark, 0.5)))
        place = Point(round(name.left, 2), round(foot - 1.5, 2))
        items.append(Text(place, name.text, SMALL_SIZE, colors.text, halo=colors.background))
    for x, each in strip.signs:
        items += landmark_sign(each.kind, x, sign_y, colors)
    return Group("landmarks", tuple(items))


def _line(x: float, base_y: float, scale: Scale, colors: GraphColors) -> Polyline:
    at = crisp(x)
    ends = (Point(at, round(base_y, 2)), Point(at, round(scale.box.bottom, 2)))
    return Polyline(ends, Stroke(colors.landmark, 0.5, (3.0, 2.0)))


def landmark_sign(kind: str, x: float, base_y: float, colors: GraphColors) -> list[Item]:
    """Return the sign of a kind: a flag, hollow for a note; a bracket; a diamond for the scene."""
    color = colors.landmark
    if kind == "mark":
        y = base_y - 3
        return [Polygon(_points((x, y - 3), (x + 2.6, y), (x, y + 3), (x - 2.6, y)), color)]
    pole = Polyline(_points((x, base_y), (x, base_y - 7.5)), Stroke(color, 0.9))
    if kind == "range":
        return [pole, Polyline(_points((x, base_y - 7), (x + 4, base_y - 7)), Stroke(color, 0.9))]
    flag = _points((x, base_y - 7.5), (x + 5.5, base_y - 5.5), (x, base_y - 3.5))
    if kind == "note":
        return [pole, Polyline((*flag, flag[0]), Stroke(color, 0.7))]
    return [pole, Polygon(flag, color)]


def _points(*places: tuple[float, float]) -> tuple[Point, ...]:
    return tuple(Point(round(x, 2), round(y, 2)) for x, y in places)


def landmark_legend(landmarks: tuple[Landmark, ...]) -> list[tuple[str, str]]:
    found = {each.kind for each in landmarks}
    return [(kind, title) for kind, title in _TITLES.items() if kind in found]
