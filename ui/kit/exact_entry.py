"""A field for an exact number, which keeps the old one when it cannot read what was typed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMoveEvent, QPalette
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QDialog,
    QDoubleSpinBox,
    QLabel,
    QLineEdit,
    QSpinBox,
    QWidget,
)
from shiboken6 import isValid
from typing_extensions import override

from .guards import guarded
from .paced_refresh import single_shot

#: How long a refusal lies over what is below it, unless it is put away before.
_NOTE_MS: Final = 8_000


@guarded
class ExactEntry(QLineEdit):
    """Reads a number when Enter is pressed or the field is left.

    The field shows what :meth:`show_value` was told last. Bad input puts that back
    and says why in a note beside the field, for some seconds at most: it goes when
    something is typed, or with a click elsewhere. Escape puts the value back without a
    word.

    Enter gives the keyboard back to the widget that had it before, unless the number was refused,
    so that single keys are shortcuts again. So does Escape when nothing was typed. Another
    field does not get it back, and in a dialog it stays.

    Signals:
        value_requested: A number was typed that differs from the one shown.

    Attributes:
        note: The note; hidden while there is nothing to say.
    """

    value_requested = Signal(object)  # Fraction

    def __init__(
        self,
        name: str,
        parse: Callable[[str], Fraction],
        to_text: Callable[[Fraction], str],
        parent: QWidget | None = None,
    ) -> None:
        """Make an empty field.

        Args:
            name: What the number is, for people who do not see the field.
            parse: Reads the text; raises ``ValueError`` with the reason if it cannot.
            to_text: Writes a number as it should be shown.
        """
        super().__init__(parent)
        self._parse = parse
        self._to_text = to_text
        self._shown = ""
        self._value: Fraction | None = None
        self._came_from: QWidget | None = None
        self.setAccessibleName(name)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.note = _Note(self)
        self.returnPressed.connect(self._take_and_leave)
        self.textEdited.connect(self.note.put_away)
        _application().focusChanged.connect(self._note_focus)

    @property
    def value(self) -> Fraction | None:
        return self._value

    def show_value(self, value: Fraction) -> None:
        """Show a number, unless something is being typed."""
        if value == self._value:
            return
        self._value = value
        self._shown = self._to_text(value)
        if not (self.hasFocus() and self.isModified()):
            self._restore()

    def take_text(self) -> bool:
        """Read what was typed and ask for it, or say why it cannot be read.

        Returns:
            Whether there is nothing to say against it.
        """
        if not self.isModified():
            return True
        try:
            value = self._parse(self.text())
        except ValueError as error:
            reason = str(error)
            self.note.show_text(f"✖ {reason[:1].upper()}{reason[1:]}. Still {self._shown}.")
            self._restore()
            return False
        self._restore()
        self.note.put_away()
        if value != self._value:
            self.value_requested.emit(value)
        return True

    @Slot()
    def _take_and_leave(self) -> None:
        if self.take_text():
            self._leave()

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() is Qt.FocusReason.PopupFocusReason:
            return
        was_modified = self.isModified()
        self.take_text()
        if not was_modified:
            self.note.put_away()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            is_talking = self.note.isVisible()
            if self.isModified() or is_talking:
                self._restore()
                self.note.put_away()
                return
            if self._leave():
                return
        super().keyPressEvent(event)

    def _restore(self) -> None:
        had_selection = self.hasSelectedText()
        self.setText(self._shown)
        self.setModified(False)
        if self.hasFocus() or had_selection:
            self.selectAll()

    def _leave(self) -> bool:
        """Give the keyboard back; return whether it was this field's to give."""
        window, back = self.window(), self._came_from
        if not window.isActiveWindow() or isinstance(window, QDialog):
            return False
        can_take = back is not None and isValid(back) and back.isVisible() and back.isEnabled()
        if back is not None and can_take and back.window() is window:
            back.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.clearFocus()
        self._came_from = None
        return True

    @Slot(QWidget, QWidget)
    def _note_focus(self, before: QWidget | None, now: QWidget | None) -> None:
        """Remember who had the keyboard before; a window behind others has none for a while."""
        if now is self and before is not None:
            is_field = isinstance(before, QLineEdit | QAbstractSpinBox)
            self._came_from = None if is_field else before
        elif now is not None and now is not self:
            self._came_from = None


@guarded
class _Note(QLabel):
    """A small sentence beside a field, lying over whatever is there for a while.

    Attributes:
        timer: When it has lain there for long enough.
    """

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

    def show_text(self, text: str) -> None:
        self.setText(text)
        # Laid over the window, so that no layout moves under the pointer.
        self.setParent(self._field.window())
        self._place()
        self.show()
        self.raise_()
        self.timer.start()
        # Not now: this may be the click that has taken the keyboard from the field.
        self._next_turn.start()

    @Slot()
    def put_away(self) -> None:
        self.timer.stop()
        self._next_turn.stop()
        # Every event goes through a filter of the application, so only while it is needed.
        _application().removeEventFilter(self)
        self.hide()

    @Slot()
    def _watch_clicks(self) -> None:
        _application().installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Go where the field goes, and away with a click elsewhere."""
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

    A spin box leaves out letters and digits too many without a word, and takes back a number
    that is too small once it is entered.

    Attributes:
        note: The note; hidden while there is nothing to say.
    """

    def __init__(self, box: QSpinBox | QDoubleSpinBox) -> None:
        super().__init__(box)
        self._box = box
        self.note = _Note(box)
        line = box.lineEdit()
        self._is_taken = True
        line.inputRejected.connect(self._say)
        line.textEdited.connect(self._take_text)
        box.editingFinished.connect(self._finish)

    @Slot()
    def _take_text(self) -> None:
        self._is_taken = self._box.hasAcceptableInput()
        self.note.put_away()

    @Slot()
    def _finish(self) -> None:
        if not self._is_taken:
            self._is_taken = True
            self._say(f" Still {self._box.text()}.")

    @Slot()
    def _say(self, more: str = "") -> None:
        box = self._box
        least, most = (f"{end:,.10g}{box.suffix()}" for end in (box.minimum(), box.maximum()))
        self.note.show_text(f"✖ Only numbers from {least} to {most}.{more}")
