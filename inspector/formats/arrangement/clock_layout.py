"""Lays out the lane of a clock: its rate, where it stood still and why, and what blocked it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.lateness.words import block_name
from inspector.formats.arrangement.sheet import Colors, Line, Row, Sheet, mixed
from inspector.formats.drawing.pixel_rects import (
    PixelRects,
    edge_rects,
    nearest_pixels,
    pixel_rects,
)
from inspector.timebase import format_duration, format_local_time
from inspector.vocabulary import RATE_DENOMINATOR, rate_chip

if TYPE_CHECKING:
    from inspector.analysis.lanes.clocks import ClockPast, ClockPasts
    from inspector.analysis.lanes.lanes import LaneStore
    from inspector.formats.arrangement.lane_window import LaneWindow

_PAD: Final = 4
_DENSE: Final = 1 / 5
_LOOKS: Final = 8
_TEXT_FROM: Final = 34
#: Pixels between a local time and the text to its left.
_BESIDE_TIME: Final = 6
#: Pixels around a local time.
_AROUND_TIME: Final = 14
#: If a bar is lower than this share of its row, its texts stand above it, not in it.
_LEAST_WITH_TEXT: Final = 0.6
#: Only bars of at most this many steps grow by what is new; others are laid out anew each time.
_MOST_GROWING: Final = 8
#: Upper bounds of the widths of a rate and of a local time, in pixels.
_WIDEST_RATE: Final = 200
_WIDEST_TIME: Final = 400
_EFFECTIVE: Final = 0.42
_RATE_ZERO: Final = "rate 0"
_BLOCKED_PAD: Final = 6


class _Layer(IntEnum):
    """Which shapes of a clock cover others; its own stops cover those caused by other clocks."""

    BODY = 0
    TOP = 1
    RATE = 2
    ABOVE = 3
    OWN = 6
    PATCH = 9
    LABEL = 10
    BLOCKED = 11
    BLOCKED_TEXT = 12


class _Standstills(NamedTuple):
    begins_ns: NDArray[np.int64]  # When each began
    rights: NDArray[np.float64]  # Where each ends, in pixels
    are_paused: NDArray[np.bool_]  # Whether it was paused, or had rate 0
    causes: NDArray[np.int64]  # The command that caused each, 0 for the program


class GrowingBar(NamedTuple):
    """The bar of a clock that only grows while the view follows the present.

    While two of these are equal, the painted bar stays correct when it is moved with the view;
    :meth:`ClockLayout.grown` returns the parts that have to be painted in addition.
    """

    steps: tuple[int, int, int]  # The first step in view, the one after the last, and their number
    highest: int  # The rate that is as high as the lane
    has_rates: tuple[bool, ...]  # Whether there is room for the rate of each step in view
    # Whether this stays equal as long as the view only moves forward and no clock changes, so that
    # it can be cached
    is_steady: bool = False


class GrownBar(NamedTuple):
    """The parts of the bar of a clock that are painted after the picture of it was moved."""

    bottom: int  # The pixel below it
    left: int  # Where its last step begins, which goes on to the present
    top: int
    # The ground of the rate that stays at the left edge (left, top, right), and the rate; None if
    # no rate stays there.
    start: tuple[int, int, int] | None = None
    rate: Line | None = None


class Head(NamedTuple):
    row: Row  # Where texts about it stand: in the bar, or above one that is low
    label: str  # What is said where the present stretch began: its rate, or who paused it
    left: int  # Where that stretch begins in view
    is_filled: bool  # Whether texts lie on the colour of a bar


def clock_head(past: ClockPast, at_ns: int, window: LaneWindow, row: Row) -> Head | None:
    """Return the label at the head of a clock and its place; ``None`` before the clock exists."""
    place, inner = past.place_at(at_ns), row.inner(_PAD)
    if place < 0:
        return None
    rate, left = past.value[place], max(int(window.x(past.at_ns[place])), window.left)
    if rate <= 0:
        label = _paused_by(past.cause[place]) if past.paused[place] else _RATE_ZERO
        return Head(inner, label, left, is_filled=False)
    start, stop = past.within(window.low, min(window.high, window.present_ns))
    highest = max(*past.value[start:stop], rate, RATE_DENOMINATOR)
    text_row = _text_row(inner, _height(rate, highest, inner))
    return Head(text_row, rate_chip(rate), left, is_filled=text_row.bottom == inner.bottom)


def _runs_on(clocks: ClockPasts, number: int, since_ns: float) -> bool:
    """Return whether a clock and all above it have run at the same rates since an instant."""
    while number:
        past = clocks.by_id.get(number)
        if past is None or not len(past) or past.at_ns[-1] >= since_ns or past.value[-1] <= 0:
            return False
        number = past.parent[-1]
    return True


def _height(rate: int, highest: int, inner: Row) -> int:
    return -(-inner.height * rate // highest)


def _edges_of(past: ClockPast, place: int, window: LaneWindow) -> tuple[int, int]:
    """Return the pixels in view from which to which a step lasts, until the present."""
    end_ns = min(past.end_of(place, window.present_ns), window.present_ns)
    left, right = window.left, window.left + window.width
    x0, x1 = (min(max(window.x(each), left), right) for each in (past.at_ns[place], end_ns))
    return int(x0), int(x1)


def behind_local_time(
    head: Head, width: float, label_width: float, end: int, *, is_crossed: bool
) -> list[tuple[tuple[int, int, int, int], str]]:
    """Return the boxes filled behind a local time (left, top, right, bottom), with colour tokens.

    The local time is ``width`` wide and ends at ``end``; the label of the head is covered if it is
    in the way. ``is_crossed`` tells whether hatching or a block lies where the local time goes.
    """
    begin, row, found = end - width, head.row, []
    ground = "clock" if head.is_filled else "bg"
    label_end = head.left + _BESIDE_TIME + label_width
    if begin < label_end + _BESIDE_TIME:
        box = (head.left + 1, row.top + 1, round(label_end) + 1, row.bottom - 1)
        found.append((box, ground))
    if is_crossed or begin < head.left + _PAD:
        # Without a ground, the edge where the present rate began would cross the local time.
        box = (int(begin) - _PAD, row.top + 1, end + _PAD, row.bottom - 1)
        found.append((box, ground))
    return found


def _text_row(inner: Row, height: int) -> Row:
    if height >= inner.height * _LEAST_WITH_TEXT:
        return Row(inner.bottom - height, height)
    return Row(inner.top, inner.height - height)


def _paused_by(cause: int) -> str:
    return f"paused by {'you' if cause else 'the program'}"


def effective_hatch(colors: Colors) -> str:
    """Return the colour of the hatching of a clock that is stopped by a clock above it."""
    return mixed(colors["hatch"], colors["bg"], _EFFECTIVE)


class ClockLayout:
    """Lays clocks out in rows of a sheet: the height is the rate, hatching is a standstill.

    A standstill caused by a clock above is hatched lighter.
    """

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._standstills: dict[int, _Standstills | None] = {}

    def clock(self, store: LaneStore, number: int, window: LaneWindow, row: Row) -> None:
        clocks = store.clocks
        past = clocks.by_id[number]
        end_ns = min(window.high, window.present_ns)
        if not len(past) or end_ns <= window.low:
            return
        inner = row.inner(_PAD)
        start, stop = past.within(window.low, end_ns)
        if start >= stop:
            return
        if stop - start > window.width * _DENSE:
            self._dense(past, window, inner)
        else:
            self._sparse(store.clocks, number, window, inner, (start, stop))
        for above in clocks.path_at(number, end_ns)[1:]:
            self._hatch(clocks, above, window, inner, past.at_ns[0], is_own=False)
        self._hatch(clocks, number, window, inner, past.at_ns[0], is_own=True)
        self._block(store, number, window, inner)

    def growing(self, store: LaneStore, number: int, window: LaneWindow) -> GrowingBar | None:
        """Return the bar of a clock; ``None`` if a stop, a block or too many steps are in view."""
        clocks, end_ns = store.clocks, min(window.high, window.present_ns)
        past, since_ns = clocks.by_id[number], window.low
        if len(past) == 1:
            # With a single step, the clock was added at that instant.
            since_ns = max(since_ns, past.at_ns[0] + 1)
        if self.has_room(window, since_ns) and (
            _runs_on(clocks, number, since_ns)
            and not store.blocks.within(number, window.low, end_ns)
        ):
            last, rate = len(past) - 1, past.value[-1]
            highest = max(rate, RATE_DENOMINATOR)
            if rate >= highest * _LEAST_WITH_TEXT:
                return GrowingBar((last, last + 1, last + 1), highest, (True,), is_steady=True)
        start, stop = past.within(window.low, end_ns) if end_ns > window.low else (0, 0)
        most = min(_MOST_GROWING, window.width * _DENSE)
        rates = past.value[start:stop]
        if not 0 < len(rates) <= most or min(rates) <= 0:
            return None
        highest = max(*rates, RATE_DENOMINATOR)
        stays = past.at_ns[start] < window.low
        if stays and rates[0] < highest * _LEAST_WITH_TEXT:
            # The rate of a low bar stands above it, where a moved one would not be painted over.
            return None
        if store.blocks.within(number, window.low, end_ns) or any(
            self._standstills_of(clocks, each, window) for each in clocks.path_at(number, end_ns)
        ):
            return None
        has_rates = (self._has_rate(clocks, number, window, each) for each in range(start, stop))
        return GrowingBar((start, stop, len(past)), highest, tuple(has_rates))

    @staticmethod
    def has_room(window: LaneWindow, since_ns: float) -> bool:
        """Return whether there is room for any rate and local time up to the present."""
        room = window.x(window.present_ns) - window.x(since_ns)
        return room >= _WIDEST_RATE + _WIDEST_TIME

    def _has_rate(self, clocks: ClockPasts, number: int, window: LaneWindow, place: int) -> bool:
        past, present = clocks.by_id[number], window.x(window.present_ns)
        x0, x1 = _edges_of(past, place, window)
        if x0 + _WIDEST_RATE <= min(x1, present - _WIDEST_TIME):
            return True
        room = x0 + self._sheet.width_of(rate_chip(past.value[place])) + 2 * _PAD
        return room <= x1 and room <= self._head(clocks, number, window)

    def grown(self, past: ClockPast, bar: GrowingBar, window: LaneWindow, row: Row) -> GrownBar:
        (first, stop, _), inner = bar.steps, row.inner(_PAD)
        x0, _ = _edges_of(past, stop - 1, window)
        top = inner.bottom - _height(past.value[stop - 1], bar.highest, inner)
        if not bar.has_rates[0] or past.at_ns[first] >= window.low:
            return GrownBar(inner.bottom, x0, top)
        height = _height(past.value[first], bar.highest, inner)
        rate, left = rate_chip(past.value[first]), window.left + _PAD
        behind = left + math.ceil(self._sheet.width_of(rate)) + _PAD
        start = (window.left, inner.bottom - height, behind)
        line = Line(left, *_text_row(inner, height), rate)
        return GrownBar(inner.bottom, x0, top, start, line)

    def grow(self, bars: Iterable[GrownBar], from_x: int, present_x: int) -> None:
        """Lay out what is new of bars that have been painted up to a pixel."""
        parts, rates = list[tuple[int, int, int, int]](), list[Line]()
        for bar in bars:
            if present_x > from_x:
                parts.append((max(bar.left, from_x), bar.top, present_x - 1, bar.bottom - 1))
            if bar.start is not None:
                left, top, right = bar.start
                parts.append((left, top, right - 1, bar.bottom - 1))
            if bar.rate is not None:
                rates.append(bar.rate)
        if parts:
            self._body(np.array(parts, np.int32))
        self._sheet.lines(_Layer.RATE, self._sheet.colors["text"], rates)

    def finish(self) -> None:
        """Forget what was known of the window."""
        self._standstills.clear()

    def _block(self, store: LaneStore, number: int, window: LaneWindow, inner: Row) -> None:
        sheet, right = self._sheet, window.left + window.width
        end_ns = min(window.high, window.present_ns)
        for block in store.blocks.within(number, window.low, end_ns):
            x0 = min(max(int(window.x(block.begin_ns)), window.left), right)
            # Of a scene, it is told before session time has come that far.
            until_ns = min(block.end_ns, window.present_ns)
            x1 = min(max(int(window.x(until_ns)), x0 + 1), right)
            sheet.rect(
                _Layer.BLOCKED, sheet.colors["red"], (x0, inner.top, max(x1, x0 + 1), inner.bottom)
            )
            # The local time at the present takes room from the text of the block. While the block
            # lasts, no local time is shown.
            kept = 0 if block.lasts else self._time_width(store.clocks, number, window)
            room = min(x1, window.x(window.present_ns) - kept) - x0 - 2 * _BLOCKED_PAD
            length, name = format_duration(block.took_ns), block_name(block)
            so_far = " so far" if block.lasts else ""
            for text in (
                f"{name}   {length}{so_far}",
                f"{name}   {length}",
                name,
                name.removeprefix("blocked by "),
            ):
                if sheet.width_of(text) <= room:
                    bg, left = sheet.colors["bg"], x0 + _BLOCKED_PAD
                    sheet.text(_Layer.BLOCKED_TEXT, bg, text, left, inner)
                    break

    def _standstills_of(
        self, clocks: ClockPasts, number: int, window: LaneWindow
    ) -> _Standstills | None:
        if number not in self._standstills:
            self._standstills[number] = _standstills_of(clocks.by_id[number], window)
        return self._standstills[number]

    def _head(self, clocks: ClockPasts, number: int, window: LaneWindow) -> float:
        """Return where texts have to end: where the local time at the present begins."""
        present, right = window.x(window.present_ns), window.left + window.width
        return right if present > right else present - self._time_width(clocks, number, window)

    def _time_width(self, clocks: ClockPasts, number: int, window: LaneWindow) -> float:
        """Return the width of the room that is kept for the local time at the present."""
        local_ns = clocks.local_ns(number, int(window.present_ns))
        return self._sheet.width_of(format_local_time(local_ns or 0)) + _AROUND_TIME

    def _sparse(
        self,
        clocks: ClockPasts,
        number: int,
        window: LaneWindow,
        inner: Row,
        places: tuple[int, int],
    ) -> None:
        past, (start, stop) = clocks.by_id[number], places
        count, sheet = stop - start, self._sheet
        rates = np.frombuffer(past.value, np.int64, count, 8 * start)
        edges_ns = np.empty(count + 1, np.int64)
        edges_ns[:-1] = np.frombuffer(past.at_ns, np.int64, count, 8 * start)
        edges_ns[-1] = min(past.end_of(stop - 1, window.present_ns), window.present_ns)
        edges = window.inner_xs(edges_ns)
        x0, x1 = edges[:-1], edges[1:]
        highest = max(int(rates.max()), RATE_DENOMINATOR)
        heights = np.ceil(inner.height * np.maximum(rates, 0) / highest).astype(np.int64)
        bottoms = np.full(count, inner.bottom)
        self._body(pixel_rects(x0, bottoms - heights, x1, bottoms))
        if not clocks.has_rates:
            return
        lefts = x0 + _PAD
        rooms = np.minimum(x1, self._head(clocks, number, window)) - lefts - _PAD
        # np.unique() would load numpy.ma before the first paint.
        for rate in sorted({each for each in rates.tolist() if each > 0}):
            text, is_it = rate_chip(rate), rates == rate
            row = _text_row(inner, int(heights[is_it][0]))
            shown = lefts[is_it & (rooms >= sheet.width_of(text))].tolist()
            lines = [Line(left, row.top, row.height, text) for left in shown]
            sheet.lines(_Layer.RATE, sheet.colors["text"], lines)

    def _body(self, rects: PixelRects) -> None:
        colors = self._sheet.colors
        tops = rects.copy()
        tops[:, 3] = tops[:, 1]
        self._sheet.rects(_Layer.BODY, colors["clock"], rects)
        self._sheet.rects(_Layer.TOP, colors["edge"], tops)

    def _dense(self, past: ClockPast, window: LaneWindow, inner: Row) -> None:
        """Lay out for each column the share in which the clock ran, and changes."""
        width, sheet = window.width, self._sheet
        instants = window.instants(_LOOKS)
        places = past.places(instants)
        changes = np.diff(places[::_LOOKS])
        instants, places = instants[:-1], places[:-1]
        rates = np.frombuffer(past.value, np.int64)[np.maximum(places, 0)]
        runs = (places >= 0) & (rates > 0) & (instants <= window.present_ns)
        shares = np.round(runs.reshape(width, _LOOKS).mean(axis=1) * _LOOKS).astype(np.int64)
        colors = [
            mixed(sheet.colors["clock"], sheet.colors["hatch"], share / _LOOKS)
            for share in range(_LOOKS + 1)
        ]
        shares[instants[::_LOOKS] > window.present_ns] = len(colors)
        columns = shares[np.newaxis, :]
        sheet.columns(_Layer.BODY, window.left, inner, columns, [*colors, ""])
        xs = window.left + np.flatnonzero(changes > 1)
        rects = pixel_rects(xs, inner.top, xs + 1, inner.top + 2)
        sheet.rects(_Layer.TOP, sheet.colors["text"], rects)

    def _hatch(  # noqa: PLR0913 - one clock in one row
        self,
        clocks: ClockPasts,
        number: int,
        window: LaneWindow,
        inner: Row,
        since_ns: int,
        *,
        is_own: bool,
    ) -> None:
        found = self._standstills_of(clocks, number, window)
        if found is None:
            return
        lefts = np.maximum(window.xs(np.maximum(found.begins_ns, since_ns)), window.left)
        is_there = found.rights >= lefts
        lefts, are_paused = lefts[is_there], found.are_paused[is_there]
        causes = found.causes[is_there]
        widths = np.maximum(found.rights[is_there] - lefts, 1.0)
        x0, x1 = nearest_pixels(lefts), nearest_pixels(lefts + widths)
        self._stand(pixel_rects(x0, inner.top, x1, inner.bottom), is_own=is_own)
        if not is_own:
            return
        for place in np.flatnonzero(widths >= _TEXT_FROM + 20).tolist():
            # If the stop lasts until the present, the local time is at its end.
            is_over = lefts[place] + widths[place] < window.x(window.present_ns) - 1
            room = widths[place] - (0 if is_over else self._time_width(clocks, number, window))
            text = _paused_by(causes[place]) if are_paused[place] else _RATE_ZERO
            self._label(text, int(lefts[place]), room, inner)

    def _stand(self, rects: PixelRects, *, is_own: bool) -> None:
        """Hatch where a clock stands still, with an outline."""
        sheet, colors = self._sheet, self._sheet.colors
        layer = _Layer.OWN if is_own else _Layer.ABOVE
        color = colors["hatch"] if is_own else effective_hatch(colors)
        sheet.rects(layer, colors["bg"], rects)
        sheet.hatched(layer + 1, color, rects)
        # A stop caused by another clock has the fainter outline.
        sheet.rects(layer + 2, colors["edge" if is_own else "line"], edge_rects(rects))

    def _label(self, text: str, left: int, room: float, inner: Row) -> None:
        sheet = self._sheet
        # If there is no room for who paused it, the text is shown without that.
        for shown in (text, text.partition(" by ")[0]):
            wide = round(sheet.width_of(shown)) + 6
            if wide + 3 <= room:
                patch = (left + 3, inner.top + 1, left + 3 + wide, inner.bottom - 1)
                sheet.rect(_Layer.PATCH, sheet.colors["bg"], patch)
                sheet.text(_Layer.LABEL, sheet.colors["text"], shown, left + 6, inner)
                return


def _standstills_of(past: ClockPast, window: LaneWindow) -> _Standstills | None:
    """Return the standstills in view; ``None`` if there are none, or too many to tell apart."""
    end_ns = min(window.high, window.present_ns)
    start, stop = past.within(window.low, end_ns)
    if not start < stop <= start + window.width * _DENSE:
        return None
    if 0 not in past.value[start:stop]:
        return None
    places = start + np.flatnonzero(np.frombuffer(past.value, np.int64)[start:stop] == 0)
    at_ns = np.frombuffer(past.at_ns, np.int64)
    # The last step in view ends where the view ends, or earlier.
    stops_ns = np.append(at_ns[start + 1 : stop], past.end_of(stop - 1, int(end_ns)))
    are_paused = np.frombuffer(past.paused, np.int8)[places] > 0
    causes = np.frombuffer(past.cause, np.int64)[places]
    # A rate set during a pause takes effect later, so its step continues the same pause.
    is_new = np.ones(len(places), dtype=bool)
    is_new[1:] = (np.diff(places) > 1) | (np.diff(causes) != 0) | (np.diff(are_paused))
    ends_ns = stops_ns[places - start][np.append(is_new[1:], True)]
    return _Standstills(
        at_ns[places][is_new],
        np.minimum(window.xs(ends_ns), window.left + window.width),
        are_paused[is_new],
        causes[is_new],
    )
