"""Paints the lane of a clock: its rate, and where it stood still and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter

from inspector.vocabulary import RATE_DENOMINATOR, rate_text

from ..kit.theme import ColorRole
from ..plotting.bulk_paint import fill_rects, mixed, nearest_pixels, pixel_rects, row_rects

if TYPE_CHECKING:
    from inspector.analysis.lanes.clocks import ClockPast, ClockPasts

    from ..kit.theme import Theme
    from ..plotting.lane_view import LaneWindow

_PAD: Final = 2
_DENSE: Final = 1 / 5
_LOOKS: Final = 8
_TEXT_FROM: Final = 34
_RUNNING: Final = 0.38
_OWN: Final = 0.85
_EFFECTIVE: Final = 0.42


class ClockPainter:
    """Paints clocks: the height is the rate, hatching is a standstill.

    A standstill caused by a clock above is hatched lighter.
    """

    def __init__(self, theme: Theme) -> None:
        self._theme = theme

    def paint(
        self, painter: QPainter, clocks: ClockPasts, number: int, window: LaneWindow, row: QRect
    ) -> None:
        """Paint one clock into a row."""
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
        else:
            self._sparse(painter, past, window, inner, (start, stop))
        for above in clocks.path_at(number, end_ns)[1:]:
            self._hatch(painter, clocks, above, window, inner, _EFFECTIVE, past.at_ns[0])
        self._hatch(painter, clocks, number, window, inner, _OWN, past.at_ns[0])

    def _sparse(
        self,
        painter: QPainter,
        past: ClockPast,
        window: LaneWindow,
        inner: QRect,
        places: tuple[int, int],
    ) -> None:
        start, stop = places
        count = stop - start
        at_ns = np.frombuffer(past.at_ns, np.int64, count, 8 * start)
        rates = np.frombuffer(past.value, np.int64, count, 8 * start)
        ends_ns = np.append(at_ns[1:], past.end_of(stop - 1, window.present_ns))
        ends_ns = np.minimum(ends_ns, window.present_ns)
        x0 = window.left + np.clip((at_ns - window.low) / window.per_pixel, 0, window.width).astype(
            np.int64
        )
        x1 = window.left + np.clip(
            (ends_ns - window.low) / window.per_pixel, 0, window.width
        ).astype(np.int64)
        highest = max(int(rates.max()), RATE_DENOMINATOR)
        heights = np.ceil(inner.height() * np.maximum(rates, 0) / highest).astype(np.int64)
        bottoms = np.full(count, inner.bottom() + 1)
        rects = pixel_rects(x0, bottoms - heights, x1, bottoms)
        fill_rects(painter, rects, self._running())
        painter.setPen(self._theme.color(ColorRole.TEXT))
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for place in np.flatnonzero((x1 - x0 >= _TEXT_FROM) & (rates > 0)).tolist():
            box = QRect(
                int(x0[place]) + 4, inner.top(), int(x1[place] - x0[place]) - 6, inner.height()
            )
            painter.drawText(box, flags, f"×{rate_text(int(rates[place]))}")

    def _dense(self, painter: QPainter, past: ClockPast, window: LaneWindow, inner: QRect) -> None:
        """Paint for each column the share in which the clock ran, and changes."""
        width = window.width
        instants = np.linspace(window.low, window.high, width * _LOOKS, endpoint=False)
        places = past.places(instants.astype(np.int64))
        rates = np.frombuffer(past.value, np.int64)[np.maximum(places, 0)]
        runs = (places >= 0) & (rates > 0) & (instants <= window.present_ns)
        shares = np.round(runs.reshape(width, _LOOKS).mean(axis=1) * _LOOKS).astype(np.int64)
        still = mixed(
            self._theme.color(ColorRole.PAUSED), self._theme.color(ColorRole.BACKGROUND), _OWN
        )
        running = self._running()
        table = np.array(
            [mixed(running, still, share / _LOOKS).rgb() for share in range(_LOOKS + 1)],
            dtype=np.uint32,
        )
        pixels = table[shares]
        pixels[instants[::_LOOKS] > window.present_ns] = self._theme.color(
            ColorRole.BACKGROUND
        ).rgb()
        pixels = np.ascontiguousarray(pixels)
        image = QImage(pixels.data, width, 1, 4 * width, QImage.Format.Format_RGB32)
        painter.drawImage(QRectF(window.left, inner.top(), width, inner.height()), image)
        edges = np.linspace(window.low, window.high, width + 1).astype(np.int64)
        changes = np.diff(np.searchsorted(np.frombuffer(past.at_ns, np.int64), edges))
        xs = window.left + np.flatnonzero(changes > 1)
        rects = row_rects(xs, inner.top(), xs + 1, inner.top() + 2)
        fill_rects(painter, rects, self._theme.color(ColorRole.TEXT))

    def _hatch(  # noqa: PLR0913, PLR0917 - one clock in one row
        self,
        painter: QPainter,
        clocks: ClockPasts,
        number: int,
        window: LaneWindow,
        inner: QRect,
        share: float,
        since_ns: int,
    ) -> None:
        past = clocks.by_id[number]
        end_ns = min(window.high, window.present_ns)
        start, stop = past.within(window.low, end_ns)
        if not start < stop <= start + window.width * _DENSE:
            return
        color = mixed(
            self._theme.color(ColorRole.PAUSED), self._theme.color(ColorRole.BACKGROUND), share
        )
        # The last step in view is as long as what is in view of it.
        stops_ns = np.append(
            np.frombuffer(past.at_ns, np.int64)[start + 1 : stop],
            past.end_of(stop - 1, int(end_ns)),
        )
        places = start + np.flatnonzero(np.frombuffer(past.value, np.int64)[start:stop] == 0)
        begins_ns = np.maximum(np.frombuffer(past.at_ns, np.int64)[places], since_ns)
        lefts = np.maximum(window.xs(begins_ns), window.left)
        rights = np.minimum(window.xs(stops_ns[places - start]), window.left + window.width)
        is_there = rights >= lefts
        places, lefts, rights = places[is_there], lefts[is_there], rights[is_there]
        widths = np.maximum(rights - lefts, 1.0)
        x0, x1 = nearest_pixels(lefts), nearest_pixels(lefts + widths)
        top, bottom = inner.top(), inner.bottom() + 1
        rects = row_rects(x0, top, x1, bottom)
        # A clock stopped by another one has its own rate, but does not run.
        fill_rects(painter, rects, self._theme.color(ColorRole.BACKGROUND))
        fill_rects(painter, rects, QBrush(color, Qt.BrushStyle.BDiagPattern))
        if share != _OWN:
            return
        fill_rects(painter, row_rects(x0, top, nearest_pixels(lefts + 1), bottom), color)
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for place in np.flatnonzero(widths >= _TEXT_FROM + 20).tolist():
            box = QRectF(lefts[place], inner.top(), widths[place], inner.height())
            text = "paused" if past.paused[places[place]] else "rate 0"
            self._label(painter, box, text, flags)

    def _label(self, painter: QPainter, box: QRectF, text: str, flags: int) -> None:
        """Write on hatching, over a legible patch."""
        width = painter.fontMetrics().horizontalAdvance(text)
        patch = QRectF(box.left() + 3, box.top() + 1, width + 6, box.height() - 2)
        if patch.right() > box.right():
            return
        painter.fillRect(patch, self._theme.color(ColorRole.BACKGROUND))
        painter.setPen(self._theme.color(ColorRole.TEXT))
        painter.drawText(patch.adjusted(3, 0, 0, 0), flags, text)

    def _running(self) -> QColor:
        return mixed(
            self._theme.color(ColorRole.GOOD), self._theme.color(ColorRole.BACKGROUND), _RUNNING
        )
