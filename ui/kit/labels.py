"""Labels: one that ends in dots, one over an empty view, and texts that change often."""

from __future__ import annotations

import re
from typing import Final

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QEnterEvent,
    QFocusEvent,
    QHideEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QLabel, QSizePolicy, QToolButton, QWidget
from typing_extensions import override

from inspector.display_text import as_plain, one_line

from .guards import guarded

_PAD: Final = 4
_SELECTABLE: Final = (
    Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
)


def plain_label(text: str = "", parent: QWidget | None = None, *, wraps: bool = False) -> QLabel:
    """Return a label that shows its text as it is, and never takes it for HTML."""
    label = QLabel(text, parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(wraps)
    return label


def color_text(label: QLabel, color: QColor) -> None:
    palette = label.palette()
    palette.setColor(label.foregroundRole(), color)
    label.setPalette(palette)


@guarded
class LabelOverPlot(QLabel):
    """A text in the middle of a plot, whose lines go around it."""

    def __init__(self) -> None:
        super().__init__()
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        flags = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
        with QPainter(self) as painter:
            place = painter.boundingRect(self.contentsRect(), flags, self.text())
            painter.fillRect(place.adjusted(-_PAD, 0, _PAD, 0), self.palette().base())
        super().paintEvent(event)


@guarded
class ElidedLabel(QLabel):
    """One line of text; what was cut off can be read in its tooltip.

    Where it has no room, it is cut at its joints first, so that whole parts of it stay.
    """

    def __init__(self, *joints: str) -> None:
        """Make a label without a text; ``joints`` are patterns to cut at, the preferred first."""
        super().__init__()
        self._joints = tuple(map(re.compile, joints))
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def set_text(self, text: str, tip: str = "") -> None:
        line = one_line(text)
        if line != self.text():
            self.setText(line)
        shown = as_plain(tip or text)
        if shown != self.toolTip():
            self.setToolTip(shown)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(self.fontMetrics().averageCharWidth() * 6, super().minimumSizeHint().height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        text = self.shown_text()
        self.style().drawItemText(
            painter,
            self.contentsRect(),
            int(self.alignment()),
            self.palette(),
            self.isEnabled(),
            text,
            self.foregroundRole(),
        )
        painter.end()

    def shown_text(self) -> str:
        """Return as much of the text as there is room for."""
        text, room, metrics = self.text(), self.contentsRect().width(), self.fontMetrics()
        # Not every text that is as wide as the room in whole pixels has room in it.
        elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
        if elided != text:
            stop = "." if text.endswith(".") else ""
            for joints in self._joints:
                for joint in reversed(list(joints.finditer(text))):
                    part = text[: joint.start()].rstrip() + stop
                    if metrics.horizontalAdvance(part) <= room:
                        return part
        return elided


@guarded
class SelectableLabel(QLabel):
    """Plain text that can be marked and copied.

    A label that offers this lays each text out as a document and paints it twice, which is
    expensive for a text that changes often. So this one offers it only while the pointer or the
    keyboard is on it.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)

    def _offer(self, *, is_wanted: bool) -> None:
        if self.textFormat() != Qt.TextFormat.PlainText:
            return
        wanted = Qt.TextInteractionFlag.NoTextInteraction
        if is_wanted or self.hasFocus() or self.hasSelectedText():
            wanted = _SELECTABLE
        if wanted != self.textInteractionFlags():
            self.setTextInteractionFlags(wanted)

    @override
    def setSelection(self, start: int, length: int) -> None:
        self._offer(is_wanted=True)
        super().setSelection(start, length)

    @override
    def enterEvent(self, event: QEnterEvent) -> None:
        self._offer(is_wanted=True)
        super().enterEvent(event)

    @override
    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._offer(is_wanted=False)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        # A touch is not preceded by an enter event.
        self._offer(is_wanted=True)
        super().mousePressEvent(event)

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._offer(is_wanted=self.underMouse())


class WrappedLabel(QLabel):
    """Plain text on as many lines as it takes; hidden while there is none."""

    def __init__(self) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.hide()

    def set_text(self, text: str) -> None:
        self.setText(text)
        self.setVisible(bool(text))


@guarded
class EmptyNotice(LabelOverPlot):
    """Lies over the viewport of a view; hidden while there is no text."""

    def __init__(self, view: QAbstractScrollArea) -> None:
        super().__init__()
        self._viewport = view.viewport()
        self.setParent(self._viewport)
        self.setContentsMargins(16, 4, 16, 4)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def set_text(self, text: str) -> None:
        if text != self.text():
            self.setText(text)
        if self.isHidden() == bool(text):
            self.setVisible(bool(text))

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # Filter events only while visible: some views are painted dozens of times a second.
        self._viewport.installEventFilter(self)
        self.setGeometry(self._viewport.rect())

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._viewport.removeEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._viewport and event.type() == QEvent.Type.Resize:
            self.setGeometry(self._viewport.rect())
        return False


def announce(widget: QWidget, text: str) -> None:
    """Have screen readers say a text once they have finished what they are saying."""
    if text and QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, one_line(text)))


def set_growing_text(widget: QLabel | QToolButton, text: str) -> None:
    """Set a text that changes often; the widget becomes wider for it, but never narrower.

    With each change of its width, the whole panel would be laid out and painted again.
    """
    if text == widget.text():
        return
    widget.setText(text)
    needed, least = widget.sizeHint(), widget.minimumSize()
    if needed.width() > least.width() or needed.height() != least.height():
        # With a fixed size, another text does not make the layout measure the widget again.
        widget.setFixedSize(max(needed.width(), least.width()), needed.height())
