"""A link in a header: small text with a line below it, reached by mouse and keyboard."""

from math import ceil
from typing import Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget
from typing_extensions import override

from .guards import guarded
from .theme import ColorRole, Theme

_MARK: Final = " ▸"
_LEAST_HEIGHT: Final = 18


@guarded
class TextLink(QAbstractButton):
    """Goes somewhere when it is clicked; without a target it is plain text."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        # Hidden until there is a target.
        self.hide()

    def set_text(self, text: str, name: str) -> None:
        """Show a text; screen readers say the name before it."""
        if text != self.text():
            self.setText(text)
            self.setAccessibleName(f"{name} {text}")
            self.setVisible(bool(text))
            self.updateGeometry()

    @override
    def sizeHint(self) -> QSize:
        metrics = QFontMetricsF(self.font())
        width = metrics.horizontalAdvance(self.text() + _MARK)
        return QSize(round(width) + 1, max(ceil(metrics.height()), _LEAST_HEIGHT))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        metrics = QFontMetricsF(self.font())
        # Where labels beside it have theirs
        baseline = round((self.height() + metrics.ascent() - metrics.descent()) / 2)
        painter.setPen(self._theme.color(ColorRole.TEXT))
        painter.drawText(0, baseline, self.text() + _MARK)
        # The keyboard focus is shown by a thicker line.
        pen = QPen(self._theme.color(ColorRole.BLUE if self.hasFocus() else ColorRole.EDGE))
        pen.setWidth(2 if self.hasFocus() else 1)
        painter.setPen(pen)
        width = painter.fontMetrics().horizontalAdvance(self.text())
        painter.drawLine(0, baseline + 3, width, baseline + 3)
