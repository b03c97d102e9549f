"""A field for an exact number, which keeps the old one when it cannot read what was typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMoveEvent, QPalette
from PySide6.QtWidgets import QDialog, QLabel, QLineEdit, QWidget
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction


class ExactEntry(QLineEdit):
    """Reads a number when Enter is pressed or the field is left.

    The field shows what :meth:`show_value` was told last. Bad input puts that back
    and says why in a note beside the field, until something is typed or the
    field is left. Escape puts the value back without a word.

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
            parent: The owner.
        """
        super().__init__(parent)
        self._parse = parse
        self._to_text = to_text
        self._shown = ""
        self._value: Fraction | None = None
        self.setAccessibleName(name)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.note = _Note(self)
        self.returnPressed.connect(self.take_text)
        self.textEdited.connect(self._hide_note)

    @property
    def value(self) -> Fraction | None:
        """The number that is shown."""
        return self._value

    def show_value(self, value: Fraction) -> None:
        """Show a number, unless something is being typed."""
        if value == self._value:
            return
        self._value = value
        self._shown = self._to_text(value)
        if not (self.hasFocus() and self.isModified()):
            self._restore()

    @Slot()
    def take_text(self) -> None:
        """Read what was typed and ask for it, or say why it cannot be read."""
        if not self.isModified():
            return
        try:
            value = self._parse(self.text())
        except ValueError as error:
            reason = str(error)
            self.note.show_text(f"✖ {reason[:1].upper()}{reason[1:]}. Kept {self._shown}.")
            self._restore()
            return
        self._restore()
        self._hide_note()
        if value != self._value:
            self.value_requested.emit(value)

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take what was typed, except when only a menu opens."""
        super().focusOutEvent(event)
        if event.reason() is Qt.FocusReason.PopupFocusReason:
            return
        was_modified = self.isModified()
        self.take_text()
        if not was_modified:
            self._hide_note()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Put the value back on Escape; again, or with nothing typed, leave the field."""
        if event.key() == Qt.Key.Key_Escape:
            is_talking = self.note.isVisible()
            if self.isModified() or is_talking:
                self._restore()
                self._hide_note()
                return
            if self.window().isActiveWindow() and not isinstance(self.window(), QDialog):
                self.clearFocus()
                return
        super().keyPressEvent(event)

    def _restore(self) -> None:
        had_selection = self.hasSelectedText()
        self.setText(self._shown)
        self.setModified(False)
        if self.hasFocus() or had_selection:
            self.selectAll()

    @Slot()
    def _hide_note(self) -> None:
        self.note.show_text("")


class _Note(QLabel):
    """A small sentence beside a field, lying over whatever is there."""

    def __init__(self, field: QWidget) -> None:
        super().__init__(field)
        self._field = field
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
        """Show ``text`` beside the field, or nothing when it is empty."""
        self.setText(text)
        if text:
            # Laid over the window, so that no layout moves under the pointer.
            self.setParent(self._field.window())
            self._place()
            self.show()
            self.raise_()
        else:
            self.hide()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Go where the field goes."""
        if isinstance(event, QMoveEvent) and self.isVisible():
            self._place()
        elif event.type() == QEvent.Type.Hide:
            self.hide()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        window = self._field.window()
        self.adjustSize()
        below = self._field.mapTo(window, QPoint(0, self._field.height() + 2))
        left = max(0, min(below.x(), window.width() - self.width()))
        above = self._field.mapTo(window, QPoint(0, -self.height() - 2))
        fits = below.y() + self.height() <= window.height()
        self.move(left, below.y() if fits else max(0, above.y()))
