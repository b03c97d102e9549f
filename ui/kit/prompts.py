"""Small questions: a mark's text, an instant to go to, a rate. None of them blocks the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QInputDialog, QLabel, QLineEdit, QWidget

from inspector.clocks.rate import parse_rate
from inspector.display_text import one_line

from .labels import color_text, plain_label
from .layouts import REST, button_box, fill_dialog, without_icons
from .rates import rate_to_text
from .theme import ColorRole, Theme

#: How rates are typed.
RATE_HELP: Final = "Local seconds per second of its parent: 1/3, 0.25, 25% or 2x; 0 freezes it."


def ask_for_column(
    path: Path, columns: Iterable[str], accept: Callable[[str], object], parent: QWidget
) -> None:
    """Ask which column of a table has the frame times, without blocking the loop."""
    dialog = QInputDialog(parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setObjectName("column_choice")
    dialog.setWindowTitle("Column of frame times")
    dialog.setLabelText(f"Which column of {path.name} has the frame times, in milliseconds?")
    dialog.setComboBoxItems([one_line(column) for column in columns])
    dialog.textValueSelected.connect(accept)
    without_icons(dialog)
    dialog.open()


def problem_label(theme: Theme) -> QLabel:
    label = plain_label(wraps=True)
    color_text(label, theme.color(ColorRole.RED))
    label.hide()
    return label


class Prompt(QDialog):
    """A question with an answer typed in a line; bad answers are explained below it."""

    def __init__(  # noqa: PLR0913 - what people see and what is done with it
        self,
        title: str,
        question: str,
        answer: Callable[[str], object],
        theme: Theme,
        parent: QWidget | None,
        *,
        proposed: str = "",
        hint: str = "",
    ) -> None:
        """Ask.

        The title may have line breaks in names. ``answer`` takes what was typed; a ``ValueError``
        says why that is no answer. It is ``proposed`` at first; the hint is an example, shown while
        nothing is typed.
        """
        super().__init__(parent)
        self._answer = answer
        self.setWindowTitle(one_line(title))
        self.setObjectName("prompt")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.line = QLineEdit(proposed)
        self.line.setPlaceholderText(hint)
        self.line.setAccessibleName(question)
        self.line.selectAll()
        label = plain_label(question)
        label.setBuddy(self.line)
        label.setWordWrap(True)
        # Why the answer cannot be taken; hidden while there is nothing to say
        self.problem = problem_label(theme)
        button = QDialogButtonBox.StandardButton
        self.buttons = button_box(button.Ok | button.Cancel)
        self.buttons.accepted.connect(self.accept_answer)
        self.buttons.rejected.connect(self.reject)
        self.line.textEdited.connect(self.problem.hide)
        self.body = fill_dialog(self, label, self.line, self.problem, REST, self.buttons)
        self.setMinimumWidth(380)

    @Slot()
    def accept_answer(self) -> None:
        try:
            self._answer(self.line.text().strip())
        except ValueError as error:
            text = str(error)
            self.problem.setText(f"✖ {text[:1].upper()}{text[1:]}")
            self.problem.show()
            self._make_room()
            self.line.selectAll()
            self.line.setFocus()
            return
        self.accept()

    def _make_room(self) -> None:
        """Make the prompt as high as its texts need; Qt would cut them off."""
        self.body.activate()
        height = self.body.totalHeightForWidth(self.width())
        if height > self.height():
            self.resize(self.width(), height)


def rate_prompt(
    title: str,
    rate: Fraction,
    accept: Callable[[Fraction], object],
    theme: Theme,
    parent: QWidget | None,
) -> Prompt:
    """Return a question for the rate of a clock, or of time in a scheduler; ``rate`` is its own."""
    return Prompt(
        title,
        f"{RATE_HELP} Local time never jumps.",
        lambda text: accept(parse_rate(text)),
        theme,
        parent,
        proposed=rate_to_text(rate),
    )
