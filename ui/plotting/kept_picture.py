"""A picture that is painted again only when what it shows has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QFont, QPainter, QPixmap

#: What pictures depend on: size, device pixels per pixel, and font.
_Device: TypeAlias = tuple[QSize, float, QFont]


#: Device pixels by which a picture can move before it is copied.
_ROOM: Final = 256


class MovedPixmap:
    """A pixmap that is wider than what is shown of it: moving shows another part of it.

    Copying all of it each time would cost more than painting what is new.
    """

    def __init__(self, width: int, height: int, ratio: float = 1.0) -> None:
        """Make a pixmap with a size in device pixels, ``ratio`` of which are a pixel."""
        self.width, self.height = width, height  # Size of the part that is shown
        self._ratio = ratio
        # No room on finer screens: there, hatching does not move along with a painter.
        self._room = _ROOM if ratio == 1 else 0
        self._left = 0
        # A picture that is never moved needs no room.
        self._pixmap = self._made(0)

    def _made(self, room: int) -> QPixmap:
        pixmap = QPixmap(self.width + room, self.height)
        pixmap.setDevicePixelRatio(self._ratio)
        return pixmap

    def move(self, pixels: int) -> None:
        """Move it to the left; what comes into view at the right has to be painted."""
        self._left += pixels
        if self._left + self.width <= self._pixmap.width():
            return
        if self._room and self._pixmap.width() == self.width:
            former, self._pixmap = self._pixmap, self._made(self._room)
            painter = QPainter(self._pixmap)
            painter.drawPixmap(-self._left, 0, former)
            painter.end()
        else:
            self._pixmap.scroll(-self._left, 0, self._pixmap.rect())
        self._left = 0

    def begin(self) -> QPainter:
        """Return a painter at the left edge of what is shown, to be ended by the caller."""
        painter = QPainter(self._pixmap)
        painter.translate(self._left / self._ratio, 0)
        return painter

    def draw(self, painter: QPainter, target: QRectF, part: QRectF) -> None:
        painter.drawPixmap(target, self._pixmap, part.translated(self._left, 0))

    def draw_columns(self, painter: QPainter, left: int, right: int) -> None:
        """Draw some columns where they are, with a painter that takes pixels of the device."""
        wide, high = right - left, self.height
        painter.drawPixmap(left, 0, wide, high, self._pixmap, self._left + left, 0, wide, high)


class KeptPicture:
    """Keeps an opaque picture in device pixels."""

    def __init__(self) -> None:
        self.painted = 0  # How many times the picture was painted, not copied
        self._device: _Device = QSize(), 0.0, QFont()
        self._shown: object = None
        self._pixmap: MovedPixmap | None = None

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
        moved: int = 0,
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
            moved: By how many pixels the kept picture is moved to the left before it is amended,
                on devices with whole pixels for each of the picture.
        """
        ratio = painter.device().devicePixelRatioF()
        device = size, ratio, painter.font()
        is_same = self._device == device and self._shown == shown
        if not is_same and not self._amend(device, shown, amend, moved):
            self._device, self._shown, self._pixmap = device, shown, None
        if self._pixmap is None:
            self.painted += 1
            if is_moving and not is_same:
                # Restored, so that pen and brush are afterwards as they would be after a copy.
                painter.save()
                draw(painter)
                painter.restore()
                return
            wide, high = (size * ratio).toTuple()
            self._pixmap = MovedPixmap(wide, high, ratio)
            self._draw_into(self._pixmap, draw)
        pixmap = self._pixmap
        if ratio == 1:
            pixmap.draw_columns(painter, 0, pixmap.width)
            return
        part = QRectF(0, 0, pixmap.width, pixmap.height)
        pixmap.draw(painter, QRectF(0, 0, pixmap.width / ratio, pixmap.height / ratio), part)

    def _amend(
        self, device: _Device, shown: object, amend: Callable[[QPainter, Any], bool], moved: int
    ) -> bool:
        pixmap, former = self._pixmap, self._shown
        if pixmap is None or device != self._device:
            return False
        is_amended = False
        if moved:
            pixmap.move(moved * int(device[1]))

        def draw(inner: QPainter) -> None:
            nonlocal is_amended
            is_amended = amend(inner, former)

        self._draw_into(pixmap, draw)
        if is_amended:
            self._shown = shown
        return is_amended

    def _draw_into(self, pixmap: MovedPixmap, draw: Callable[[QPainter], None]) -> None:
        inner = pixmap.begin()
        try:
            inner.setFont(self._device[2])
            draw(inner)
        finally:
            inner.end()
