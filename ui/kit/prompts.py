"""Small questions: a mark's text, an instant to go to, a rate. None of them blocks the loop."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from fractions import Fraction

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from inspector.analysis.instants import EXAMPLES
from inspector.clocks.rate import parse_rate
from inspector.display_text import one_line
from inspector.timebase import format_instant, parse_duration_ns

from .labels import color_text, plain_label
from .layouts import button_box
from .rates import rate_to_text
from .theme import ColorRole, Theme


def problem_label(theme: Theme) -> QLabel:
    label = plain_label(wraps=True)
    color_text(label, theme.color(ColorRole.RED))
    label.hide()
    return label


class Prompt(QDialog):
    """A question with an answer typed in a line; bad answers are explained below it."""

    def __init__(
        self,
        title: str,
        question: str,
        answer: Callable[[str], None],
        theme: Theme,
        parent: QWidget | None,
    ) -> None:
        """Ask.

        Args:
            title: Of the window.
            question: What is asked.
            answer: Takes what was typed; raises ``ValueError``, which says why, if that is no
                answer.
        """
        super().__init__(parent)
        self._answer = answer
        self.setWindowTitle(title)
        self.setObjectName("prompt")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.line = QLineEdit()
        self.line.setAccessibleName(question)
        label = plain_label(question)
        label.setBuddy(self.line)
        label.setWordWrap(True)
        # Why the answer cannot be taken; hidden while there is nothing to say
        self.problem = problem_label(theme)
        button = QDialogButtonBox.StandardButton
        self.buttons = button_box(button.Ok | button.Cancel)
        self.buttons.accepted.connect(self.take_answer)
        self.buttons.rejected.connect(self.reject)
        self.line.textEdited.connect(self.problem.hide)
        self.body = QVBoxLayout(self)
        self.body.addWidget(label)
        self.body.addWidget(self.line)
        self.body.addWidget(self.problem)
        self.body.addStretch(1)
        self.body.addWidget(self.buttons)
        self.setMinimumWidth(380)

    @Slot()
    def take_answer(self) -> None:
        """Answer and close, or say why the answer cannot be taken."""
        try:
            self._answer(self.line.text())
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


class MarkPrompt(Prompt):
    """Asks for the text of a mark."""

    mark_given = Signal(str)  # The text

    def __init__(self, at_ns: int, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(
            "Mark this instant",
            f"Mark at {format_instant(at_ns)}",
            self._take,
            theme,
            parent,
        )
        self.line.setPlaceholderText("mark")

    def _take(self, text: str) -> None:
        """Report the text; an empty one is a mark as well."""
        self.mark_given.emit(text.strip() or "mark")


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
            self._take,
            theme,
            parent,
        )
        self._at_ns = at_ns
        self.by_button = QRadioButton("Step &by this duration")
        self.to_button = QRadioButton("Go &to this session time")
        self.by_button.setChecked(True)
        self._ways = QButtonGroup(self)
        self._ways.addButton(self.by_button, _Way.BY.value)
        self._ways.addButton(self.to_button, _Way.TO.value)
        row = QHBoxLayout()
        row.addWidget(self.by_button)
        row.addWidget(self.to_button)
        row.addStretch(1)
        self.body.insertLayout(2, row)
        self.line.setText("1")
        self.line.selectAll()

    def _take(self, text: str) -> None:
        """Report a duration or an instant; a sign in front of it means a duration."""
        typed = text.strip()
        value_ns = parse_duration_ns(typed.removeprefix("+"))
        is_step = typed.startswith("+") or self._ways.checkedId() == _Way.BY.value
        if is_step and value_ns <= 0:
            raise ValueError("a step only goes forward: type a duration above 0")
        if not is_step and value_ns < self._at_ns:
            raise ValueError(
                f"{format_instant(value_ns)} has already passed; to go back, look back or rewind"
            )
        (self.step_given if is_step else self.instant_given).emit(value_ns)


class LookAtPrompt(Prompt):
    """Asks for an instant of the past to look at."""

    place_given = Signal(object)  # int: an instant of session time in nanoseconds

    def __init__(
        self, find: Callable[[str], int], at_ns: int, theme: Theme, parent: QWidget | None = None
    ) -> None:
        """Ask; ``find`` returns the instant typed, or raises ValueError; ``at_ns`` is shown now."""
        super().__init__(
            "Look at",
            f"Shown: {format_instant(at_ns)}. Go to: {EXAMPLES}",
            self._take,
            theme,
            parent,
        )
        self._find = find
        self.line.setPlaceholderText("-1s")

    def _take(self, text: str) -> None:
        """Report the instant; nothing typed is a second back."""
        self.place_given.emit(self._find(text.strip() or self.line.placeholderText()))


class SaveLastPrompt(Prompt):
    """Asks how much of the past is to be written to a file."""

    # A duration of session time in nanoseconds, above 0
    duration_given = Signal(object)  # int: may be more than Qt's 32 bits

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(
            "Save the last …",
            "Session time to save, counted back from now: 30, 250ms, 3 min or 02:10.5",
            self._take,
            theme,
            parent,
        )
        self.line.setText("30")
        self.line.selectAll()

    def _take(self, text: str) -> None:
        duration_ns = parse_duration_ns(text)
        if duration_ns <= 0:
            raise ValueError("there is nothing to save: type a duration above 0")
        self.duration_given.emit(duration_ns)


class RatePrompt(Prompt):
    """Asks for the rate of a clock, or of time in a scheduler."""

    rate_given = Signal(object)  # Fraction: the rate

    def __init__(
        self, title: str, rate: Fraction, theme: Theme, parent: QWidget | None = None
    ) -> None:
        """Ask.

        Args:
            title: Of the window, such as ``Rate of enemies``; may have line breaks in names.
            rate: What it is now.
        """
        super().__init__(
            one_line(title),
            "Local seconds per second of its parent: 1/3, 0.25, 25% or 2x; 0 freezes it. "
            "Local time never jumps.",
            self._take,
            theme,
            parent,
        )
        self.line.setText(rate_to_text(rate))
        self.line.selectAll()

    def _take(self, text: str) -> None:
        self.rate_given.emit(parse_rate(text))
