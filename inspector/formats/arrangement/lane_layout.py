"""Lays out a lane as ticks, spans or density, depending on the room, without losing records.

While there is room, each record is drawn. Beyond that, the records of each column of pixels are
counted and drawn as density, at a cost that depends on the pixels only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.lanes.lane_columns import (
    Instants,
    Levels,
    NsColumn,
    Steps,
    view_of,
)
from inspector.analysis.lanes.lanes import GONE_STATE
from inspector.analysis.lanes.spans import Spans, depths_of
from inspector.display_text import one_line
from inspector.formats.arrangement.lane_window import LaneWindow
from inspector.formats.arrangement.sheet import Colors, Row, Sheet, channels, mixed
from inspector.formats.drawing.pixel_rects import edge_rects, pixel_rects
from inspector.formats.drawing.state_colors import FAINTER_STATE, text_on
from inspector.tokens import STATE_COLORS

#: Records per pixel above which density is drawn.
_DENSE_INSTANTS: Final = 1 / 3
_DENSE_STEPS: Final = 1 / 4
#: Samples taken per column of pixels if states are too dense to be drawn one by one.
_LOOKS: Final = 6
_LEVELS: Final = 8
_FAINTEST: Final = 0.38
_SHARES: Final = np.linspace(_FAINTEST, 1.0, _LEVELS).tolist()
_CUT_FROM: Final = 48
_PAD: Final = 3
#: Whiskers longer than this many pixels have room for a cap.
_CAP_FROM: Final = 3
#: One part in this many of the height of a row is free above a tick, and below it.
_TICK_PAD: Final = 5
_MOST_HOLLOW: Final = 400
#: Pixels around the instant of a record and its whisker within which everything of it is painted.
_BESIDE: Final = 12
#: The width of a predicted tick, in pixels at 100 % text.
_HOLLOW: Final = 4
#: How many levels of nested slices have a line of their own.
SLICE_LEVELS: Final = 4
_SLICE_PAD: Final = 2  # Above and below the lines of slices, in pixels
_SLICE_COLORS: Final = 8
_MOST_SLICES: Final = 4_000
_WHISKER_SHARE: Final = 0.6
_AREA_SHARE: Final = 0.4
_ALL: Final = slice(None)
#: Up to this many records, each call of numpy takes longer than all of them in Python.
_FEW: Final = 12

#: Records of a lane, the index of the first, the index after the last, and their row.
_Stretch: TypeAlias = "tuple[Instants, int, int, Row]"
#: Left, top, right and bottom of rectangles, the last two inclusive.
_Edges: TypeAlias = list[tuple[int, int, int, int]]


class _Layer(IntEnum):
    """Which shapes cover others; whiskers and ticks of late records lie one layer higher."""

    DENSE = 0
    WHISKERS = 2
    TICKS = 4
    HOLLOW = 6
    STATES = 8
    NAMES = 20


class _Look(NamedTuple):
    """How records are drawn; those of lanes with the same look are laid out together."""

    token: str  # Meaning of the colour
    late_ns: int  # Value from which a record stands out; 0 for never
    wide: int  # Width of a tick in pixels
    has_whiskers: bool  # Whether values are durations, drawn to scale
    ends_whiskers: bool  # Whether records are at the ends of whiskers, not at their beginnings


class LaneLayout:
    """Lays the records of lanes out in rows of a sheet."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._sparse: dict[tuple[LaneWindow, _Look], list[_Stretch]] = {}
        self._hollow: list[tuple[int, int, int, int]] = []

    @property
    def _background(self) -> str:
        return self._sheet.colors["bg"]

    def instants(  # noqa: PLR0913 - one lane
        self,
        instants: Instants,
        window: LaneWindow,
        row: Row,
        *,
        kind: str,
        late_ns: int,
        has_whiskers: bool = True,
        ends_whiskers: bool = False,
        band: tuple[int, int] | None = None,
    ) -> None:
        """Lay out records at instants; if each has room, they are laid out only by :meth:`finish`.

        Args:
            kind: The token of the colour.
            late_ns: Value from which a record stands out; 0 for never.
            has_whiskers: Whether values are durations, drawn to scale.
            ends_whiskers: Whether records are at the ends of whiskers, not at their beginnings.
            band: If each record has room, only those that may extend between these two pixels are
                laid out.
        """
        start, stop = instants.within(window.low, window.high)
        if start == stop:
            return
        wide = _tick_width(stop - start, window)
        if not wide:
            self._dense_instants(instants, window, row, kind, late_ns)
            return
        if wide > 1:
            wide = round(wide * self._sheet.scale)
        if band is not None:
            low, high = (window.at(edge) for edge in (band[0] - _BESIDE, band[1] + _BESIDE))
            first, last = instants.within(low - instants.highest, high + instants.highest)
            start, stop = max(start, first), min(stop, last)
            if start >= stop:
                return
        look = _Look(kind, late_ns, wide, has_whiskers, ends_whiskers)
        self._sparse.setdefault((window, look), []).append((instants, start, stop, row))

    def _sparse_instants(self, window: LaneWindow, look: _Look, lanes: list[_Stretch]) -> None:
        counts = np.array([stop - start for _, start, stop, _ in lanes])
        at_ns, values = (
            np.concatenate(
                [
                    np.frombuffer(getattr(instants, column), np.int64, stop - start, 8 * start)
                    for instants, start, stop, _ in lanes
                ]
            )
            for column in ("at_ns", "value")
        )
        xs = window.xs(at_ns).astype(np.int64)
        heights = np.array(
            [
                [row.top + row.height // _TICK_PAD for *_, row in lanes],
                [row.top + (row.height - 1) // 2 for *_, row in lanes],
                [row.bottom - row.height // _TICK_PAD for *_, row in lanes],
            ]
        )
        tops, middles, bottoms = heights.repeat(counts, axis=1)
        color, late_color = self._sheet.colors[look.token], self._sheet.colors["orange"]
        is_late = (values >= look.late_ns) if look.late_ns else np.zeros(len(xs), dtype=bool)
        # Usually no record is late, and one part is enough.
        has_late = bool(is_late.any())
        parts: tuple[tuple[NDArray[np.bool_] | slice, int], ...] = ((_ALL, 0),)
        if has_late:
            parts = ((~is_late, 0), (is_late, 1))
        add = self._sheet.rects
        if look.has_whiskers:
            sign = -1 if look.ends_whiskers else 1
            ends = window.xs(at_ns + sign * values).astype(np.int64)
            lefts, rights = np.minimum(xs, ends), np.maximum(xs, ends)
            uppers, lowers = middles - 1, middles + 1
            faint = mixed(color, self._background, _WHISKER_SHARE)
            has_cap = rights - lefts > _CAP_FROM
            has_caps = bool(has_cap.any())
            for some, is_of_late in parts:
                whisker = late_color if is_of_late else faint
                layer = _Layer.WHISKERS + is_of_late
                rects = pixel_rects(lefts[some], uppers[some], rights[some], lowers[some])
                add(layer, whisker, rects)
                if not has_caps:
                    continue
                caps = has_cap & is_late if is_of_late else has_cap & ~is_late
                cap = ends[caps] - (sign > 0)
                edges = (cap, uppers[caps] - 2, cap + 1, lowers[caps] + 2)
                add(layer, whisker, pixel_rects(*edges))
        wide = look.wide
        for some, is_of_late in parts:
            rects = pixel_rects(xs[some], tops[some], xs[some] + wide, bottoms[some])
            add(_Layer.TICKS + is_of_late, late_color if is_of_late else color, rects)
        if has_late:
            # A late record is also marked by a bar across its top, not by colour alone.
            lefts, edge = xs[is_late] - 1, tops[is_late] - 1
            rects = pixel_rects(lefts, edge, lefts + wide + 2, edge + 2)
            add(_Layer.TICKS + 1, late_color, rects)

    def _few_instants(self, window: LaneWindow, look: _Look, lanes: list[_Stretch]) -> None:
        """Do as :meth:`_sparse_instants` does, record by record."""
        color, late_color = self._sheet.colors[look.token], self._sheet.colors["orange"]
        wide, late_ns, sign = look.wide, look.late_ns, -1 if look.ends_whiskers else 1
        # Of records in time, and of late ones.
        whiskers: tuple[_Edges, _Edges] = ([], [])
        ticks: tuple[_Edges, _Edges] = ([], [])
        for instants, start, stop, row in lanes:
            pad, upper = row.height // _TICK_PAD, row.top + (row.height - 1) // 2 - 1
            top, bottom = row.top + pad, row.bottom - pad - 1
            for place in range(start, stop):
                at_ns, value = instants.at_ns[place], instants.value[place]
                is_late = bool(late_ns) and value >= late_ns
                x = int(window.x(at_ns))
                ticks[is_late].append((x, top, x + wide - 1, bottom))
                if is_late:
                    # A late record is also marked by a bar across its top, not by colour alone.
                    ticks[1].append((x - 1, top - 1, x + wide, top))
                end = int(window.x(at_ns + sign * value)) if look.has_whiskers else x
                if end == x:
                    continue
                whiskers[is_late].append((min(x, end), upper, max(x, end) - 1, upper + 1))
                if abs(end - x) > _CAP_FROM:
                    cap = end - (sign > 0)
                    whiskers[is_late].append((cap, upper - 2, cap, upper + 3))
        faint = mixed(color, self._background, _WHISKER_SHARE)
        for is_of_late in (0, 1):
            for layer, look_of_it, edges in (
                (_Layer.WHISKERS, faint, whiskers[is_of_late]),
                (_Layer.TICKS, color, ticks[is_of_late]),
            ):
                if edges:
                    shown = late_color if is_of_late else look_of_it
                    self._sheet.rects(layer + is_of_late, shown, np.array(edges, np.int32))

    def _dense_instants(
        self, instants: Instants, window: LaneWindow, row: Row, token: str, late_ns: int
    ) -> None:
        places = instants.before(window.instants())
        # For each of many lanes, np.diff() would take four times as long.
        levels = _density_levels(places[1:] - places[:-1])
        colors = density_colors(token, self._sheet.colors)
        has_late = late_ns and instants.highest >= late_ns
        if has_late:
            is_late = instants.maxima(places) >= late_ns
            levels[is_late] = len(colors) + np.maximum(levels[is_late], 4)
            colors = (*colors, *density_colors("orange", self._sheet.colors))
        inner = row.inner(_PAD)
        self._sheet.columns(_Layer.DENSE, window.left, inner, levels[np.newaxis, :], colors)
        if has_late:
            xs = window.left + np.flatnonzero(is_late)
            rects = pixel_rects(xs, row.top + 1, xs + 1, row.top + 3)
            self._sheet.rects(_Layer.DENSE + 1, self._sheet.colors["orange"], rects)

    def hollow(self, xs: Sequence[int], row: Row) -> None:
        """Lay out predictions at some pixels as hollow ticks."""
        pad = row.height // _TICK_PAD
        wide = round(_HOLLOW * self._sheet.scale)
        top, bottom = row.top + pad, row.bottom - pad - 1
        self._hollow += [(x - 1, top, x - 2 + wide, bottom) for x in xs]

    def finish(self) -> None:
        """Lay out the ticks of all rows at once, and the predictions."""
        for (window, look), lanes in self._sparse.items():
            is_few = sum([stop - start for _, start, stop, _ in lanes]) <= _FEW
            lay_out = self._few_instants if is_few else self._sparse_instants
            lay_out(window, look, lanes)
        self._sparse.clear()
        if self._hollow:
            boxes = np.array(self._hollow, dtype=np.int32)
            self._sheet.rects(_Layer.HOLLOW, self._sheet.colors["ghost"], edge_rects(boxes))
            self._hollow.clear()

    def slices(
        self, spans: Spans, window: LaneWindow, row: Row, name_of: Callable[[int], str]
    ) -> None:
        """Lay out nested slices of a thread; those below the last level share its line."""
        # Slices beyond this number are only part of the density behind the others.
        shown, count = spans.overlapping(window.low, window.high, _MOST_SLICES)
        if count > window.width * _DENSE_INSTANTS:
            levels = _density_levels(np.diff(spans.before(window.instants())))
            colors = density_colors("bar", self._sheet.colors)
            inner = row.inner(_PAD)
            self._sheet.columns(_Layer.DENSE, window.left, inner, levels[np.newaxis, :], colors)
        (ends, took), subjects = spans.of(shown), spans.subjects(shown)
        starts = ends - took
        depths = depths_of(starts, ends)
        lines = np.minimum(depths, SLICE_LEVELS - 1)
        x0 = window.inner_xs(starts)
        x1 = np.maximum(window.inner_xs(ends), x0 + 1)
        height = _slice_height(row.top, row.bottom)
        # On the last line, a nested slice covers the one around it.
        for depth in np.unique(depths).tolist():
            top = row.top + _SLICE_PAD + min(depth, SLICE_LEVELS - 1) * height
            layer = min(_Layer.STATES + depth, _Layer.NAMES - 1)
            for subject in np.unique(subjects[depths == depth]).tolist():
                some = (subjects == subject) & (depths == depth)
                gap = (x1[some] - x0[some] > 3).astype(np.int64)  # noqa: PLR2004 - pixels
                rects = pixel_rects(x0[some], top, x1[some] - gap, top + height - 1)
                self._sheet.rects(layer, self._slice_color(subject), rects)
        rooms = name_rooms(starts, ends, (x0, x1), lines)
        for subject in np.unique(subjects).tolist():
            for line in np.unique(lines[subjects == subject]).tolist():
                some = (subjects == subject) & (lines == line)
                inner = Row(row.top + _SLICE_PAD + line * height, height - 1)
                edges = x0[some], rooms[some]
                self._name_states(name_of(subject), self._slice_color(subject), edges, inner)

    def _slice_color(self, subject: int) -> str:
        return state_color(subject % _SLICE_COLORS, self._sheet.colors)

    def levels(self, levels: Levels, window: LaneWindow, row: Row) -> None:
        """Lay out the values of a counter as an area from 0, the highest of each column."""
        inner, sheet = row.inner(_PAD), self._sheet
        edges = window.instants()
        values = levels.highest(edges)
        is_there = np.isfinite(values) & (edges[:-1] <= window.present_ns)
        xs, values = window.left + np.flatnonzero(is_there), values[is_there]
        low, high = levels.edges
        scale = inner.height / max(high - low, 1e-300)
        ys = inner.bottom - np.round((values - low) * scale).astype(np.int64)
        zero = inner.bottom - round(-low * scale)
        color = sheet.colors["bar"]
        area = pixel_rects(xs, np.minimum(ys, zero), xs + 1, np.maximum(ys, zero))
        sheet.rects(_Layer.DENSE, mixed(color, self._background, _AREA_SHARE), area)
        sheet.rects(_Layer.DENSE + 1, color, pixel_rects(xs, ys - 1, xs + 1, ys + 1))
        text = levels.text_of(high or low)
        wide = round(sheet.width_of(text)) + 8
        patch = Row(inner.top, inner.height // 2)
        edges_of_patch = (window.left, patch.top, window.left + wide, patch.bottom)
        sheet.rect(_Layer.NAMES - 1, self._background, edges_of_patch)
        sheet.text(_Layer.NAMES, sheet.colors["text"], text, window.left + 4, patch)

    def steps(
        self,
        steps: Steps,
        window: LaneWindow,
        row: Row,
        *,
        number_of: Callable[[int], int],
        name_of: Callable[[int], str],
    ) -> None:
        """Lay out states that each last until the next."""
        if not len(steps):
            return
        start, stop = steps.within(window.low, min(window.high, window.present_ns))
        if start >= stop:
            return
        inner = row.inner(_PAD)
        if stop - start > window.width * _DENSE_STEPS:
            self._dense_steps(steps, window, inner, number_of)
            return
        at_ns = np.frombuffer(steps.at_ns, np.int64, stop - start, 8 * start)
        values = np.frombuffer(steps.value, np.int64, stop - start, 8 * start)
        ends_ns = np.append(at_ns[1:], steps.end_of(stop - 1, window.present_ns))
        ends_ns = np.minimum(ends_ns, window.present_ns)
        x0 = window.inner_xs(at_ns)
        # A state without a duration is still a pixel wide.
        x1 = np.maximum(window.inner_xs(ends_ns), x0 + 1)
        for value in np.unique(values).tolist():
            if value == GONE_STATE:
                continue
            some = values == value
            color = state_color(number_of(value), self._sheet.colors)
            gap = (x1[some] - x0[some] > 3).astype(np.int64)  # noqa: PLR2004 - pixels
            rects = pixel_rects(x0[some], inner.top, x1[some] - gap, inner.bottom)
            self._sheet.rects(_Layer.STATES, color, rects)
            self._name_states(name_of(value), color, (x0[some], x1[some]), inner)

    def _name_states(
        self, name: str, color: str, edges: tuple[NsColumn, NsColumn], inner: Row
    ) -> None:
        name, ink = one_line(name), text_on(*channels(color))
        wide = edges[1] - edges[0] >= min(round(self._sheet.width_of(name)) + 8, _CUT_FROM)
        for left, right in zip(edges[0][wide].tolist(), edges[1][wide].tolist(), strict=True):
            self._sheet.text(_Layer.NAMES, ink, name, left + 4, inner, right - left - 6)

    def _dense_steps(
        self, steps: Steps, window: LaneWindow, inner: Row, number_of: Callable[[int], int]
    ) -> None:
        instants = window.instants(_LOOKS)
        places = steps.places(instants)
        changes = np.diff(places[::_LOOKS])
        instants, places = instants[:-1], places[:-1]
        is_there = (places >= 0) & (instants <= window.present_ns)
        # Only the states at these instants are sorted, not all in view.
        is_next = np.append(True, np.diff(places) > 0)
        values = view_of(steps.value)[np.maximum(places[is_next], 0)]
        known, of_step = np.unique(values, return_inverse=True)
        numbers = np.where(is_there, 1 + of_step[np.cumsum(is_next) - 1], 0)
        colors = [""] + [
            "" if value == GONE_STATE else state_color(number_of(value), self._sheet.colors)
            for value in known.tolist()
        ]
        cells = np.sort(numbers.reshape(window.width, _LOOKS), axis=1).T
        self._sheet.columns(_Layer.DENSE, window.left, inner, cells, colors)
        xs = window.left + np.flatnonzero(changes > 1)
        rects = pixel_rects(xs, inner.top, xs + 1, inner.top + 2)
        self._sheet.rects(_Layer.DENSE + 1, self._sheet.colors["text"], rects)


def records_in_view(instants: Instants, window: LaneWindow) -> tuple[int, int, int] | None:
    """Return what a picture of records depends on, apart from its place.

    That is the index of the first record, the index after the last, and the width of a tick;
    ``None`` if the picture shows density, which changes with the place.
    """
    start, stop = instants.within(window.low, window.high)
    wide = _tick_width(stop - start, window)
    return (start, stop, wide) if wide else None


def pixels_of(instants: Instants, start: int, stop: int, window: LaneWindow) -> tuple[int, int]:
    """Return between which pixels the records from ``start`` up to ``stop`` are painted."""
    longest = max(map(abs, instants.value[start:stop]))
    left = window.x(instants.at_ns[start] - longest) - _BESIDE
    right = window.x(instants.at_ns[stop - 1] + longest) + _BESIDE
    return int(left), int(right)


def density_colors(token: str, colors: Colors) -> tuple[str, ...]:
    """Return the colours of columns by density, the first for none: empty."""
    color, background = colors[token], colors["bg"]
    return ("", *[mixed(color, background, share) for share in _SHARES])


def state_color(number: int, colors: Colors) -> str:
    """Return the colour of the n-th state of a machine; from the eighth on they are fainter."""
    color = STATE_COLORS[number % len(STATE_COLORS)]
    return color if number < len(STATE_COLORS) else mixed(color, colors["bg"], FAINTER_STATE)


def hollow_places(instants_ns: Sequence[int], window: LaneWindow) -> list[int]:
    """Return the pixels of predictions in view, without those too close to the one before."""
    xs: list[int] = []
    last = -10
    for at_ns in instants_ns[:_MOST_HOLLOW]:
        x = int(window.x(at_ns))
        if x - last >= 3 and window.left <= x < window.left + window.width:  # noqa: PLR2004
            xs.append(x)
            last = x
    return xs


def _tick_width(count: int, window: LaneWindow) -> int:
    """Return how many pixels wide the ticks of a number of records are; 0 for density instead."""
    if count > window.width * _DENSE_INSTANTS:
        return 0
    return 2 if count < window.width / 8 else 1


def _density_levels(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how dark columns of pixels are, by their numbers of records."""
    most = max(int(counts.max()), 1)
    levels: NDArray[np.int64] = np.ceil(_LEVELS * np.sqrt(counts / most)).astype(np.int64)
    return levels


def _slice_height(top: int, bottom: int) -> int:
    return (bottom - top - 2 * _SLICE_PAD) // SLICE_LEVELS


def slice_line(y: float, top: int, bottom: int) -> int:
    """Return the line of a row of slices that contains ``y``."""
    line = int(y - top - _SLICE_PAD) // max(_slice_height(top, bottom), 1)
    return min(max(line, 0), SLICE_LEVELS - 1)


def name_rooms(
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    edges: tuple[NDArray[np.int64], NDArray[np.int64]],
    lines: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return where the room for the names of slices ends: at the next one on their line.

    Args:
        edges: Their left and right pixels. Several slices may begin at the same pixel, so their
            order is taken from the instants.
    """
    lefts, rights = edges
    rooms = rights.copy()
    order = np.lexsort((-ends, starts, lines))
    before, after = order[:-1], order[1:]
    is_same = lines[before] == lines[after]
    before, after = before[is_same], after[is_same]
    rooms[before] = np.minimum(rooms[before], lefts[after])
    return rooms
