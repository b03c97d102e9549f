"""A picture that is painted again only when what it shows has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QFont, QPainter, QPixmap

#: What pictures depend on: size, pixels of the device for each of the picture, and font.
_Device: TypeAlias = tuple[QSize, float, QFont]


class Scroll(NamedTuple):
    """What of a picture is moved, on devices with whole pixels for each of the picture."""

    shift: int  # By how many pixels to the left
    part: QRect  # Which part of it


class KeptPicture:
    """Keeps an opaque picture in device pixels."""

    def __init__(self) -> None:
        self.painted = 0  # How many times the picture was painted, not copied
        self._device: _Device = QSize(), 0.0, QFont()
        self._shown: object = None
        self._pixmap: QPixmap | None = None

    def forget(self) -> None:
        self._shown = self._pixmap = None

    def paint(  # noqa: PLR0913 - two of them keep it cheap
        self,
        painter: QPainter,
        size: QSize,
        shown: object,
        draw: Callable[[QPainter], None],
        *,
        is_moving: bool = False,
        amend: Callable[[QPainter, Any], bool] = lambda _painter, _former: False,
        scroll: Scroll | None = None,
    ) -> None:
        """Paint the picture at the origin.

        Args:
            painter: The painter; its font and the resolution of its device are used.
            shown: Everything that the picture depends on, compared by value.
            draw: Paints all pixels of the picture.
            is_moving: Whether what is shown is likely to differ each time; then the picture is
                kept only when the same is shown a second time.
            amend: Paints into the kept picture what differs from the former ``shown``; returns
                whether that was little enough.
            scroll: What of the kept picture is moved before it is amended.
        """
        ratio = painter.device().devicePixelRatioF()
        device = size, ratio, painter.font()
        is_same = self._device == device and self._shown == shown
        if not is_same and not self._amend(device, shown, amend, scroll):
            self._device, self._shown, self._pixmap = device, shown, None
        if self._pixmap is None:
            self.painted += 1
            if is_moving and not is_same:
                # What comes next finds pen and brush as after a copy.
                painter.save()
                draw(painter)
                painter.restore()
                return
            self._pixmap = QPixmap(size * ratio)
            self._pixmap.setDevicePixelRatio(ratio)
            self._draw_into(self._pixmap, draw)
        painter.drawPixmap(0, 0, self._pixmap)

    def _amend(
        self,
        device: _Device,
        shown: object,
        amend: Callable[[QPainter, Any], bool],
        scroll: Scroll | None,
    ) -> bool:
        pixmap, former = self._pixmap, self._shown
        if pixmap is None or device != self._device:
            return False
        is_amended = False
        if scroll is not None and scroll.shift:
            ratio = int(device[1])
            part = QRect(scroll.part.topLeft() * ratio, scroll.part.size() * ratio)
            pixmap.scroll(-scroll.shift * ratio, 0, part)

        def draw(inner: QPainter) -> None:
            nonlocal is_amended
            is_amended = amend(inner, former)

        self._draw_into(pixmap, draw)
        if is_amended:
            self._shown = shown
        return is_amended

    def _draw_into(self, pixmap: QPixmap, draw: Callable[[QPainter], None]) -> None:
        inner = QPainter(pixmap)
        try:
            inner.setFont(self._device[2])
            draw(inner)
        finally:
            inner.end()
