"""Draws a display list as large as possible."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPixmap, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from inspector.formats.drawing.display_list import DisplayList

from ..kit.guards import guarded
from ..kit.picture import paint


@guarded
class ExportPreview(QWidget):
    """Shows exactly what PNG, PDF and SVG will show, from the same display list."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Preview of the exported picture")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._picture: DisplayList | None = None
        self._message = ""
        self._drawn: QPixmap | None = None

    def set_picture(self, picture: DisplayList) -> None:
        self._picture = picture
        self._message = ""
        self._drawn = None
        self.setAccessibleDescription(picture.description)
        self.update()

    def set_message(self, message: str) -> None:
        self._picture = self._drawn = None
        self._message = message
        self.setAccessibleDescription(message)
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(560, 340)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._drawn = None
        super().resizeEvent(event)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self.palette().color(QPalette.ColorRole.Mid))
        if self._picture is not None:
            if self._drawn is None:
                self._drawn = self._rendered(self._picture)
            size = self._drawn.deviceIndependentSize()
            corner = QPointF((self.width() - size.width()) / 2, (self.height() - size.height()) / 2)
            painter.drawPixmap(corner.toPoint(), self._drawn)
        elif self._message:
            painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
            painter.drawText(
                QRectF(self.rect()).adjusted(24, 24, -24, -24),
                Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap,
                self._message,
            )
        painter.end()

    def _rendered(self, picture: DisplayList) -> QPixmap:
        room = QSize(max(1, self.width() - 16), max(1, self.height() - 16))
        scale = min(room.width() / picture.width, room.height() / picture.height)
        ratio = self.devicePixelRatioF()
        pixmap = QPixmap(
            max(1, round(picture.width * scale * ratio)),
            max(1, round(picture.height * scale * ratio)),
        )
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(QColor(picture.background))
        painter = QPainter(pixmap)
        painter.scale(scale, scale)
        paint(picture, painter)
        painter.end()
        return pixmap
