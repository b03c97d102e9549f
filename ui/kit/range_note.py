"""The note beside a number field that says which numbers it accepts."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Slot
from PySide6.QtGui import QMoveEvent, QPalette
from PySide6.QtWidgets import QApplication, QDoubleSpinBox, QLabel, QSpinBox, QWidget
from typing_extensions import override

from .guards import guarded
from .throttled_refresh import single_shot

#: How long a note stays unless it is put away before.
_NOTE_MS: Final = 8_000


@guarded
class _Note(QLabel):
    """A short text beside a field, lying over the rest of the window for a while."""

    def __init__(self, field: QWidget) -> None:
        super().__init__(field)
        self._field = field
        self.timer = single_shot(self, self.put_away, _NOTE_MS)
        self._next_turn = single_shot(self, self._watch_clicks)
        self.setObjectName("note")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.ToolTipBase)
        self.setForegroundRole(QPalette.ColorRole.ToolTipText)
        self.setFrameStyle(QLabel.Shape.Box | QLabel.Shadow.Plain)
        self.setMargin(4)
        self.hide()
        field.installEventFilter(self)

    def set_text(self, text: str) -> None:
        self.setText(text)
        # Laid over the window, so that no layout moves under the pointer.
        self.setParent(self._field.window())
        self._place()
        self.show()
        self.raise_()
        self.timer.start()
        # From the next turn on: in this one, the click may come that took the keyboard from
        # the field.
        self._next_turn.start()

    @Slot()
    def put_away(self) -> None:
        self.timer.stop()
        self._next_turn.stop()
        # A filter of the application sees every event, so it is installed only while needed.
        _application().removeEventFilter(self)
        self.hide()

    @Slot()
    def _watch_clicks(self) -> None:
        _application().installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move with the field, and disappear with a click elsewhere."""
        kind = event.type()
        if watched is self._field:
            if isinstance(event, QMoveEvent) and self.isVisible():
                self._place()
            elif kind == QEvent.Type.Hide:
                self.put_away()
        elif kind == QEvent.Type.MouseButtonPress and isinstance(watched, QWidget):
            self.put_away()
        return False

    def _place(self) -> None:
        window = self._field.window()
        self.adjustSize()
        below = self._field.mapTo(window, QPoint(0, self._field.height() + 2))
        left = max(0, min(below.x(), window.width() - self.width()))
        above = self._field.mapTo(window, QPoint(0, -self.height() - 2))
        fits = below.y() + self.height() <= window.height()
        self.move(left, below.y() if fits else max(0, above.y()))


def _application() -> QApplication:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    return application


@guarded
class RangeNote(QObject):
    """Says which numbers a spin box takes when something typed into it is refused.

    A spin box silently ignores letters and excess digits, and replaces a number that is too
    small once it is entered.
    """

    def __init__(self, box: QSpinBox | QDoubleSpinBox) -> None:
        super().__init__(box)
        self._box = box
        self.note = _Note(box)  # The note; hidden while there is nothing to say
        line = box.lineEdit()
        self._is_taken = True
        line.inputRejected.connect(self._show_range)
        line.textEdited.connect(self._on_text_edited)
        box.editingFinished.connect(self._finish)

    @Slot()
    def _on_text_edited(self) -> None:
        self._is_taken = self._box.hasAcceptableInput()
        self.note.put_away()

    @Slot()
    def _finish(self) -> None:
        if not self._is_taken:
            self._is_taken = True
            self._show_range(f" Still {self._box.text()}.")

    @Slot()
    def _show_range(self, more: str = "") -> None:
        box = self._box
        least, most = (f"{end:,.10g}{box.suffix()}" for end in (box.minimum(), box.maximum()))
        self.note.set_text(f"✖ Only numbers from {least} to {most}.{more}")
