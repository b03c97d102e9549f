"""Small questions: a mark's text, an instant to go to, a rate. None of them blocks the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from fractions import Fraction
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QDialogButtonBox,
    QInputDialog,
    QLabel,
    QLineEdit,
    QRadioButton,
    QWidget,
)

from inspector.clocks.rate import parse_rate
from inspector.display_text import one_line
from inspector.timebase import format_instant, parse_duration_ns

from .labels import color_text, plain_label
from .layouts import REST, button_box, fill_dialog, in_row, without_icons
from .rates import rate_to_text
from .theme import ColorRole, Theme


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

        Args:
            title: Of the window; may have line breaks in names.
            question: What is asked.
            answer: Takes what was typed; raises ``ValueError``, which says why, if that is no
                answer.
            proposed: The answer to begin with.
            hint: An example, shown while nothing is typed.
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
        """Become as high as all that is said takes; Qt cuts it off instead."""
        self.body.activate()
        height = self.body.totalHeightForWidth(self.width())
        if height > self.height():
            self.resize(self.width(), height)


class _Way(Enum):
    """How to read an answer to where to go."""

    BY = 0
    TO = 1


class GoToPrompt(Prompt):
    """Asks how far to step, or to which instant."""

    # A duration in nanoseconds
    step_given = Signal(object)  # int: may be more than Qt's 32 bits
    instant_given = Signal(object)  # int: an instant of session time in nanoseconds

    def __init__(self, at_ns: int, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(
            "Step by or go to",
            (
                f"Now: {format_instant(at_ns)}. Duration or session time: 1.5, 1/60, 250ms, 3 min "
                "or 02:10.5"
            ),
            self._go,
            theme,
            parent,
            proposed="1",
        )
        self._at_ns = at_ns
        self.by_button = QRadioButton("Step &by this duration")
        self.to_button = QRadioButton("Go &to this session time")
        self.by_button.setChecked(True)
        self._ways = QButtonGroup(self)
        self._ways.addButton(self.by_button, _Way.BY.value)
        self._ways.addButton(self.to_button, _Way.TO.value)
        self.body.insertLayout(2, in_row(self.by_button, self.to_button, REST))

    def _go(self, text: str) -> None:
        """Report a duration or an instant; a sign in front of it means a duration."""
        value_ns = parse_duration_ns(text.removeprefix("+"))
        is_step = text.startswith("+") or self._ways.checkedId() == _Way.BY.value
        if is_step and value_ns <= 0:
            raise ValueError("a step only goes forward: type a duration above 0")
        if not is_step and value_ns < self._at_ns:
            raise ValueError(
                f"{format_instant(value_ns)} has already passed; to go back, look back or rewind"
            )
        (self.step_given if is_step else self.instant_given).emit(value_ns)


def rate_prompt(
    title: str,
    rate: Fraction,
    accept: Callable[[Fraction], object],
    theme: Theme,
    parent: QWidget | None,
) -> Prompt:
    """Return a question for the rate of a clock, or of time in a scheduler; ``rate`` is its own."""
    question = (
        "Local seconds per second of its parent: 1/3, 0.25, 25% or 2x; 0 freezes it. "
        "Local time never jumps."
    )
    return Prompt(
        title,
        question,
        lambda text: accept(parse_rate(text)),
        theme,
        parent,
        proposed=rate_to_text(rate),
    )
