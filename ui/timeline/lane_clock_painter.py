"""Paints the lane of a clock: its rate, where it stood still and why, and what blocked it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QImage, QPainter

from inspector.analysis.lateness.words import block_name
from inspector.formats.drawing.pixel_rects import edge_rects, nearest_pixels, pixel_rects, row_rects
from inspector.timebase import format_duration
from inspector.vocabulary import RATE_DENOMINATOR

from ..kit.fonts import small_font
from ..kit.theme import ColorRole
from ..plotting.bulk_paint import fill_all, fill_rects, mixed
from .lane_headers import rate_chip

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inspector.analysis.lanes.clocks import ClockPast, ClockPasts
    from inspector.analysis.lanes.lanes import LaneStore
    from inspector.analysis.lateness.blocks import Block
    from inspector.formats.drawing.pixel_rects import PixelRects

    from ..kit.theme import Theme
    from ..plotting.lane_view import LaneWindow

_PAD: Final = 4
_DENSE: Final = 1 / 5
#: From this many steps on, an array is worth it; fewer take less one by one.
_FEW: Final = 12
_LOOKS: Final = 8
_TEXT_FROM: Final = 34
#: Pixels for a local time.
_LOCAL_TIME: Final = 76
_OWN: Final = 1.0
_EFFECTIVE: Final = 0.42


_FLAGS: Final = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_BLOCKED_PAD: Final = 6


class _Standstills(NamedTuple):
    """The standstills of a clock in view.

    Attributes:
        begins_ns: When each began.
        rights: Where each ends, in pixels.
        are_paused: Whether it was paused, or had rate 0.
        causes: The command that caused each, 0 for the program.
    """

    begins_ns: NDArray[np.int64]
    rights: NDArray[np.float64]
    are_paused: NDArray[np.bool_]
    causes: NDArray[np.int64]


class ClockPainter:
    """Paints clocks: the height is the rate, hatching is a standstill.

    A standstill caused by a clock above is hatched lighter.
    """

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._running: list[PixelRects] = []
        self._rates: list[tuple[QRect, str]] = []
        self._above: list[PixelRects] = []
        self._own: list[PixelRects] = []
        self._labels: list[tuple[QRectF, str]] = []
        self._blocked: list[tuple[QRect, int, Block]] = []
        self._standstills: dict[int, _Standstills | None] = {}

    def paint(
        self, painter: QPainter, store: LaneStore, number: int, window: LaneWindow, row: QRect
    ) -> None:
        """Paint one clock into a row, completely with :meth:`finish` only."""
        clocks = store.clocks
        past = clocks.by_id[number]
        end_ns = min(window.high, window.present_ns)
        if not len(past) or end_ns <= window.low:
            return
        inner = row.adjusted(0, _PAD, 0, -_PAD)
        start, stop = past.within(window.low, end_ns)
        if start >= stop:
            return
        if stop - start > window.width * _DENSE:
            self._dense(painter, past, window, inner)
        elif stop - start <= _FEW:
            self._few(past, window, inner, (start, stop))
        else:
            self._sparse(past, window, inner, (start, stop))
        for above in clocks.path_at(number, end_ns)[1:]:
            self._hatch(clocks, above, window, inner, past.at_ns[0], is_own=False)
        self._hatch(clocks, number, window, inner, past.at_ns[0], is_own=True)
        right = window.left + window.width
        for block in store.blocks.within(number, window.low, end_ns):
            x0 = min(max(int(window.x(block.begin_ns)), window.left), right)
            x1 = min(max(int(window.x(block.end_ns)), x0 + 1), right)
            # The local time stands where the clock has come to.
            room = min(x1, window.x(window.present_ns) - _LOCAL_TIME) - x0 - 2 * _BLOCKED_PAD
            box = QRect(x0, inner.top(), x1 - x0, inner.height())
            self._blocked.append((box, int(room), block))

    def finish(self, painter: QPainter) -> None:
        """Paint what is left of the rows, which do not overlap: each colour in one call."""
        theme = self._theme
        if self._running:
            fill_all(painter, self._running, theme.color(ColorRole.CLOCK))
            tops = [rects.copy() for rects in self._running]
            for rects in tops:
                rects[:, 3] = rects[:, 1]
            fill_all(painter, tops, theme.color(ColorRole.EDGE))
        font = painter.font()
        painter.setFont(small_font(painter))
        if self._rates:
            painter.setPen(theme.color(ColorRole.TEXT))
            for room, rate in self._rates:
                painter.drawText(room, _FLAGS, rate)
        if self._above or self._own:
            self._finish_standstills(painter)
        for box, text in self._labels:
            self._label(painter, box, text)
        self._finish_blocked(painter)
        painter.setFont(font)
        for each in (self._running, self._rates, self._above, self._own):
            each.clear()
        self._labels.clear()
        self._blocked.clear()
        self._standstills.clear()

    def _finish_standstills(self, painter: QPainter) -> None:
        background = self._theme.color(ColorRole.BG)
        paused = self._theme.color(ColorRole.HATCH)
        for rects, share in ((self._above, _EFFECTIVE), (self._own, _OWN)):
            # A clock stopped by another one has its own rate, but does not run.
            fill_all(painter, rects, background)
            hatching = QBrush(mixed(paused, background, share), Qt.BrushStyle.BDiagPattern)
            fill_all(painter, rects, hatching)
            # What another clock stops has the outline of a line only.
            edges = [edge_rects(each) for each in rects]
            is_own = rects is self._own
            fill_all(
                painter, edges, self._theme.color(ColorRole.EDGE if is_own else ColorRole.LINE)
            )

    def _finish_blocked(self, painter: QPainter) -> None:
        if not self._blocked:
            return
        rects = [(box.left(), box.top(), box.right(), box.bottom()) for box, *_ in self._blocked]
        fill_rects(painter, np.array(rects, dtype=np.int32), self._theme.color(ColorRole.RED))
        painter.setPen(self._theme.color(ColorRole.BG))
        metrics = painter.fontMetrics()
        for box, room, block in self._blocked:
            inner = QRect(box.left() + _BLOCKED_PAD, box.top(), room, box.height())
            length, name = format_duration(block.took_ns), block_name(block)
            so_far = f"{name}   {length} so far" if block.lasts else f"{name}   {length}"
            texts = (so_far, f"{name}   {length}", name, name.removeprefix("blocked by "))
            for text in texts:
                if metrics.horizontalAdvance(text) <= room:
                    painter.drawText(inner, _FLAGS, text)
                    break

    def _few(
        self, past: ClockPast, window: LaneWindow, inner: QRect, places: tuple[int, int]
    ) -> None:
        """Do what :meth:`_sparse` does, without arrays."""
        start, stop = places
        left, right = window.left, window.left + window.width
        rates = past.value[start:stop]
        highest = max(*rates, RATE_DENOMINATOR)
        top, height, bottom = inner.top(), inner.height(), inner.bottom() + 1
        edges = [*past.at_ns[start:stop], past.end_of(stop - 1, window.present_ns)]
        xs = [int(min(max(window.x(min(edge, window.present_ns)), left), right)) for edge in edges]
        rects = []
        for place, rate in enumerate(rates):
            x0, x1 = xs[place], xs[place + 1]
            if rate <= 0 or x1 <= x0:
                continue
            rects.append((x0, bottom - math.ceil(height * rate / highest), x1 - 1, bottom - 1))
            if x1 - x0 >= _TEXT_FROM:
                box = QRect(x0 + 4, top, x1 - x0 - 6, height)
                self._rates.append((box, rate_chip(rate)))
        if rects:
            self._running.append(np.array(rects, dtype=np.int32))

    def _sparse(
        self, past: ClockPast, window: LaneWindow, inner: QRect, places: tuple[int, int]
    ) -> None:
        start, stop = places
        count = stop - start
        at_ns = np.frombuffer(past.at_ns, np.int64, count, 8 * start)
        rates = np.frombuffer(past.value, np.int64, count, 8 * start)
        ends_ns = np.append(at_ns[1:], past.end_of(stop - 1, window.present_ns))
        ends_ns = np.minimum(ends_ns, window.present_ns)
        x0, x1 = window.inner_xs(at_ns), window.inner_xs(ends_ns)
        highest = max(int(rates.max()), RATE_DENOMINATOR)
        heights = np.ceil(inner.height() * np.maximum(rates, 0) / highest).astype(np.int64)
        bottoms = np.full(count, inner.bottom() + 1)
        self._running.append(pixel_rects(x0, bottoms - heights, x1, bottoms))
        for place in np.flatnonzero((x1 - x0 >= _TEXT_FROM) & (rates > 0)).tolist():
            box = QRect(
                int(x0[place]) + 4, inner.top(), int(x1[place] - x0[place]) - 6, inner.height()
            )
            self._rates.append((box, rate_chip(int(rates[place]))))

    def _dense(self, painter: QPainter, past: ClockPast, window: LaneWindow, inner: QRect) -> None:
        """Paint for each column the share in which the clock ran, and changes."""
        width = window.width
        instants = window.instants(_LOOKS)[:-1]
        places = past.places(instants)
        rates = np.frombuffer(past.value, np.int64)[np.maximum(places, 0)]
        runs = (places >= 0) & (rates > 0) & (instants <= window.present_ns)
        shares = np.round(runs.reshape(width, _LOOKS).mean(axis=1) * _LOOKS).astype(np.int64)
        still = mixed(self._theme.color(ColorRole.HATCH), self._theme.color(ColorRole.BG), _OWN)
        running = self._theme.color(ColorRole.CLOCK)
        table = np.array(
            [mixed(running, still, share / _LOOKS).rgb() for share in range(_LOOKS + 1)],
            dtype=np.uint32,
        )
        pixels = table[shares]
        pixels[instants[::_LOOKS] > window.present_ns] = self._theme.color(ColorRole.BG).rgb()
        pixels = np.ascontiguousarray(pixels)
        image = QImage(pixels.data, width, 1, 4 * width, QImage.Format.Format_RGB32)
        painter.drawImage(QRectF(window.left, inner.top(), width, inner.height()), image)
        edges = window.instants()
        changes = np.diff(np.searchsorted(np.frombuffer(past.at_ns, np.int64), edges))
        xs = window.left + np.flatnonzero(changes > 1)
        rects = row_rects(xs, inner.top(), xs + 1, inner.top() + 2)
        fill_rects(painter, rects, self._theme.color(ColorRole.TEXT))

    def _hatch(  # noqa: PLR0913 - one clock in one row
        self,
        clocks: ClockPasts,
        number: int,
        window: LaneWindow,
        inner: QRect,
        since_ns: int,
        *,
        is_own: bool,
    ) -> None:
        if number not in self._standstills:
            self._standstills[number] = _standstills_of(clocks.by_id[number], window)
        found = self._standstills[number]
        if found is None:
            return
        lefts = np.maximum(window.xs(np.maximum(found.begins_ns, since_ns)), window.left)
        is_there = found.rights >= lefts
        lefts, are_paused = lefts[is_there], found.are_paused[is_there]
        causes = found.causes[is_there]
        widths = np.maximum(found.rights[is_there] - lefts, 1.0)
        x0, x1 = nearest_pixels(lefts), nearest_pixels(lefts + widths)
        top, bottom = inner.top(), inner.bottom() + 1
        if not is_own:
            self._above.append(row_rects(x0, top, x1, bottom))
            return
        self._own.append(row_rects(x0, top, x1, bottom))
        for place in np.flatnonzero(widths >= _TEXT_FROM + 20).tolist():
            # The local time stands at the end of what lasts.
            is_over = lefts[place] + widths[place] < window.x(window.present_ns) - 1
            room = widths[place] - (0 if is_over else _LOCAL_TIME)
            box = QRectF(lefts[place], inner.top(), room, inner.height())
            who = "you" if causes[place] else "the program"
            self._labels.append((box, f"paused by {who}" if are_paused[place] else "rate 0"))

    def _label(self, painter: QPainter, box: QRectF, text: str) -> None:
        width = painter.fontMetrics().horizontalAdvance(text)
        patch = QRectF(box.left() + 3, box.top() + 1, width + 6, box.height() - 2)
        if patch.right() > box.right():
            # Without who did it rather than not at all.
            brief = text.partition(" by ")[0]
            if brief != text:
                self._label(painter, box, brief)
            return
        painter.fillRect(patch, self._theme.color(ColorRole.BG))
        painter.setPen(self._theme.color(ColorRole.TEXT))
        painter.drawText(patch.adjusted(3, 0, 0, 0), _FLAGS, text)


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
    # The last step in view is as long as what is in view of it.
    stops_ns = np.append(at_ns[start + 1 : stop], past.end_of(stop - 1, int(end_ns)))
    return _Standstills(
        at_ns[places],
        np.minimum(window.xs(stops_ns[places - start]), window.left + window.width),
        np.frombuffer(past.paused, np.int8)[places] > 0,
        np.frombuffer(past.cause, np.int64)[places],
    )
