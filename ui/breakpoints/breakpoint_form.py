"""The fields of one breakpoint: what to look out for, and what to do then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QObject, QStringListModel, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QCompleter,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QWidget,
)
from typing_extensions import override

from inspector.events.conditions.breakpoint import (
    DEFAULT_SAVED_NS,
    BreakAction,
    BreakKind,
    Breakpoint,
    BreakpointError,
)
from inspector.events.conditions.event_fields import EVENT_FIELDS
from inspector.sessions.breakpoints.names import SUBJECTS
from inspector.timebase import format_duration, parse_duration_ns

from ..kit.guards import guarded
from ..kit.labels import WrappedLabel, color_text
from ..kit.layouts import REST, in_row
from ..kit.range_note import RangeNote
from ..kit.theme import ColorRole, Theme

_FIRST_LIMITS: Final = {
    BreakKind.LATENESS_ABOVE: "5 ms",
    BreakKind.FRAME_ABOVE: "20 ms",
    BreakKind.TURN_ABOVE: "100 ms",
    BreakKind.DELTA_ABOVE: "100 ms",
}
_MOST_HITS: Final = 1_000_000

#: Stretch of a long field, where that of the empty space at the end of the row is 1.
_WIDE: Final = 1_000


@guarded
class BreakpointForm(QWidget):
    """Makes a breakpoint of what is chosen and typed, or says why that is not possible."""

    breakpoint_given = Signal(object)  # Breakpoint: a breakpoint that makes sense
    names_wanted = Signal()  # The user is about to type the name of what to watch

    def __init__(self, theme: Theme, beside: Iterable[QWidget]) -> None:
        """Make the fields; to their right are the controls for all breakpoints, ``beside``."""
        super().__init__()
        self._theme = theme
        self._beside = tuple(beside)
        self._said_as = ColorRole.RED
        self.kind = QComboBox()
        self.kind.setAccessibleName("What to watch for")
        for kind in BreakKind:
            self.kind.addItem(kind.value.capitalize(), kind)
        self.subject = _line("Name of the timer, clock or state")
        self._names = QStringListModel(self)
        completer = QCompleter(self._names, self.subject)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.subject.setCompleter(completer)
        self.limit = _line("Limit")
        self.condition = _line("Condition")
        self.condition.setPlaceholderText('timer contains "boss" and lateness > 5ms')
        self.condition.setToolTip(_condition_help())
        self.action = QComboBox()
        self.action.setAccessibleName("What to do when it is hit")
        for action in BreakAction:
            self.action.addItem(action.value.capitalize(), action)
        self.saved = _line("How much of the past to save")
        self.from_hit = QSpinBox()
        self.from_hit.setAccessibleName("The first hit that triggers the action")
        self.from_hit.setToolTip("Act on this hit and every later one")
        self.from_hit.setRange(1, _MOST_HITS)
        self.from_hit.setPrefix("from hit ")
        RangeNote(self.from_hit)
        self.once = QCheckBox("&once")
        self.once.setToolTip("Turn the breakpoint off after its first action")
        self.button = QPushButton("&Add")
        self.problem = WrappedLabel()
        self._lay_out()
        for box in (self.kind, self.action):
            box.currentIndexChanged.connect(self._show_fields)
            # The message may be about fields that are no longer shown.
            box.currentIndexChanged.connect(self.problem.hide)
        self.button.clicked.connect(self.give)
        for line in (self.subject, self.limit, self.condition, self.saved):
            line.returnPressed.connect(self.give)
            line.textEdited.connect(self.problem.hide)
        self.subject.installEventFilter(self)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self.fill_fields(Breakpoint(BreakKind.TIMER_FIRES))

    def _lay_out(self) -> None:
        fields = (self.kind, (self.subject, _WIDE), self.limit, (self.condition, _WIDE))
        # The empty space takes the room only while no long field is visible.
        row = in_row(*fields, REST, *self._beside, spacing=6)
        self.kind.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        others = (self.action, self.saved, self.from_hit, self.once)
        then = in_row(*others, REST, self.button, spacing=6)
        self.limit.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.saved.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        layout = QGridLayout(self)
        layout.setContentsMargins(4, 4, 4, 0)
        layout.setHorizontalSpacing(8)
        layout.setVerticalSpacing(4)
        for number, text in enumerate(("When", "then")):
            layout.addWidget(QLabel(text), number, 0)
        layout.addLayout(row, 0, 1)
        layout.addLayout(then, 1, 1)
        layout.addWidget(self.problem, 2, 0, 1, 2)

    def fill_fields(self, breakpoint_: Breakpoint, *, is_new: bool = True) -> None:
        """Fill the fields; ``is_new`` if the button adds a breakpoint instead of changing one."""
        self.kind.setCurrentIndex(self.kind.findData(breakpoint_.kind))
        self.subject.setText(breakpoint_.subject)
        if breakpoint_.kind.needs_limit:
            self.limit.setText(format_duration(breakpoint_.limit_ns))
        self.condition.setText(breakpoint_.condition)
        self.action.setCurrentIndex(self.action.findData(breakpoint_.action))
        self.saved.setText(format_duration(breakpoint_.saved_ns))
        self.from_hit.setValue(breakpoint_.from_hit)
        self.once.setChecked(breakpoint_.is_once)
        self.button.setText("&Add" if is_new else "&Change")
        self.problem.hide()
        self._show_fields()

    def offer_names(self, names: Sequence[str]) -> None:
        self._names.setStringList(list(names))

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ask for the names of the present when the field for one is entered."""
        # When the list of names closes, it gives the focus to the field before the picked name
        # has been taken from it; the list must not change at that moment.
        if (
            watched is self.subject
            and isinstance(event, QFocusEvent)
            and event.gotFocus()
            and event.reason() is not Qt.FocusReason.PopupFocusReason
        ):
            self.names_wanted.emit()
        return super().eventFilter(watched, event)

    @property
    def chosen_kind(self) -> BreakKind:
        kind = self.kind.currentData()
        assert isinstance(kind, BreakKind)
        return kind

    @Slot()
    def _show_fields(self) -> None:
        kind = self.chosen_kind
        self.subject.setVisible(kind in SUBJECTS)
        self.subject.setPlaceholderText(f"any {SUBJECTS[kind]}" if kind in SUBJECTS else "")
        self.limit.setVisible(kind.needs_limit)
        if kind.needs_limit and not self.limit.text():
            self.limit.setText(_FIRST_LIMITS[kind])
        self.condition.setVisible(kind is BreakKind.CONDITION)
        self.saved.setVisible(self.action.currentData() is BreakAction.SAVE)

    @Slot()
    def give(self) -> None:
        try:
            breakpoint_ = self.read()
        except (BreakpointError, ValueError) as error:
            text = str(error)
            self._show_text(f"✖ {text[:1].upper()}{text[1:]}", ColorRole.RED)
            return
        self.problem.hide()
        self.breakpoint_given.emit(breakpoint_)

    def set_doubt(self, text: str) -> None:
        if text:
            self._show_text(f"● {text}", ColorRole.MUTED)

    def _show_text(self, text: str, role: ColorRole) -> None:
        self._said_as = role
        self._apply_theme()
        self.problem.setText(text)
        self.problem.show()

    def read(self) -> Breakpoint:
        """Return the breakpoint; raises BreakpointError or ValueError if there is none."""
        kind = self.chosen_kind
        action = self.action.currentData()
        assert isinstance(action, BreakAction)
        is_saving = action is BreakAction.SAVE
        return Breakpoint(
            kind,
            subject=self.subject.text().strip() if kind in SUBJECTS else "",
            limit_ns=parse_duration_ns(self.limit.text()) if kind.needs_limit else 0,
            condition=self.condition.text() if kind is BreakKind.CONDITION else "",
            action=action,
            from_hit=self.from_hit.value(),
            is_once=self.once.isChecked(),
            saved_ns=parse_duration_ns(self.saved.text()) if is_saving else DEFAULT_SAVED_NS,
        )

    @Slot()
    def _apply_theme(self) -> None:
        color_text(self.problem, self._theme.color(self._said_as))


def _line(name: str) -> QLineEdit:
    line = QLineEdit()
    line.setAccessibleName(name)
    line.setToolTip(name)
    return line


def _condition_help() -> str:
    fields = "".join(
        f"<tr><td><b>{field.name}</b>&nbsp;</td><td>{field.summary}</td></tr>"
        for field in EVENT_FIELDS
    )
    return (
        "<p>Compare fields of an event with &lt; &lt;= &gt; &gt;= == != or contains; "
        "join with and, or, not. Durations have a unit: 5ms, 0.25s.</p>"
        f"<table>{fields}</table>"
    )
