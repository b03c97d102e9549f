"""A picture that is painted again only when what it shows has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QPainter, QPixmap

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QSize


class KeptPicture:
    """Keeps an opaque picture in device pixels.

    Attributes:
        painted: How many times the picture was painted, not copied.
    """

    def __init__(self) -> None:
        self.painted = 0
        self._shown: object = None
        self._pixmap: QPixmap | None = None

    def forget(self) -> None:
        """Paint next time: colours have changed."""
        self._shown = self._pixmap = None

    def paint(
        self,
        painter: QPainter,
        size: QSize,
        shown: object,
        draw: Callable[[QPainter], None],
        *,
        is_moving: bool = False,
    ) -> None:
        """Paint the picture at the origin.

        Args:
            painter: The painter; its font and the resolution of its device are used.
            size: Size of the picture.
            shown: Everything that the picture depends on, compared by value.
            draw: Paints all pixels of the picture.
            is_moving: Whether what is shown is likely to differ each time; then the picture is
                kept only when the same is shown a second time.
        """
        ratio = painter.device().devicePixelRatioF()
        shown = (size, ratio, painter.font(), shown)
        is_same = shown == self._shown
        if not is_same:
            self._shown, self._pixmap = shown, None
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
            inner = QPainter(self._pixmap)
            try:
                inner.setFont(painter.font())
                draw(inner)
            finally:
                inner.end()
        painter.drawPixmap(0, 0, self._pixmap)
