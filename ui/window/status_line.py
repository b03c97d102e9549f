"""What was just done or refused, for some seconds at the right of the foot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from inspector.commands.command import Capability, command_in
from inspector.commands.scene import Undo, undone
from inspector.display_text import counted
from inspector.vocabulary import rate_text

from ..kit.labels import ElidedLabel
from ..kit.layouts import tool_button
from ..kit.paced_refresh import single_shot
from ..session.overruled_rates import OverruledRate, OverruledRates

if TYPE_CHECKING:
    from inspector.events.states import CommandRecord
    from inspector.events.timeline import Timeline

    from ..session.bridge import SessionBridge

_EFFECT_MS: Final = 8_000
#: What is longer is in the tool tip.
_WIDEST: Final = 560
_UNDONE: Final = "Undone:"
_REDONE: Final = "Redone:"
#: What the button says, and its tool tip, after a change and after an undo.
_BUTTON_TEXTS: Final = (
    ("Undo", "Undo this change (Ctrl+Z)"),
    ("Redo", "Redo this change (Ctrl+Shift+Z)"),
)


class StatusLine(QWidget):
    """Says for some seconds what a command has done, or why something is not possible.

    Attributes:
        label: The text.
        undo_button: Undoes that command, or redoes what it undid; hidden while there is none.
    """

    def __init__(self, bridge: SessionBridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._number = 0
        self.label = ElidedLabel()
        self.label.setAccessibleName("Status")
        self.label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.label.setMaximumWidth(_WIDEST)
        self.undo_button = tool_button("Undo")
        self.undo_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.undo_button.clicked.connect(self.undo)
        self.undo_button.hide()
        self._over = single_shot(self, self.clear, _EFFECT_MS)
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 0, 6, 0)
        row.addWidget(self.label)
        row.addWidget(self.undo_button)
        OverruledRates.of(bridge).found.connect(self.show_overruled)

    @property
    def message(self) -> str:
        """What is said now, empty for nothing."""
        return self.label.text()

    @Slot()
    def clear(self) -> None:
        self._over.stop()
        self.undo_button.hide()
        self.label.show_text("")

    @Slot(str)
    def say(self, text: str) -> None:
        """Say something for some seconds."""
        self.undo_button.hide()
        self.label.show_text(text)
        self._over.start()

    @Slot(object)
    def show_effect(self, record: CommandRecord) -> None:
        """Say what a pause, its end, a rate or an undo has done, where the eye is after a key."""
        text = effect_text(self._bridge.timeline, record)
        if not text:
            return
        session = self._bridge.session
        undoing = None if session is None else session.undoing
        self._number = record.number
        self.label.show_text(text)
        text, tip = _BUTTON_TEXTS[text.startswith(_UNDONE)]
        self.undo_button.setText(text)
        self.undo_button.setToolTip(tip)
        self.undo_button.setVisible(undoing is not None and undoing.of(record.number) is not None)
        self._over.start()

    @Slot(object)
    def show_overruled(self, rate: OverruledRate) -> None:
        """Say that the scene has changed a rate that was set from outside."""
        self.say(rate.sentence)

    @Slot()
    def undo(self) -> None:
        """Undo the command whose effect is said; if that undid something, it is redone."""
        self.clear()
        self._bridge.submit(Undo(self._number))


def effect_text(timeline: Timeline, record: CommandRecord) -> str:
    """Return what a pause, its end, a rate or an undo has done; nothing for other commands."""
    command = command_in(record.form)
    if isinstance(command, Undo):
        change, is_redo = undone(timeline, command)
        return "" if change is None else f"{_REDONE if is_redo else _UNDONE} {change.text}"
    clock = timeline.clocks.get(record.clock_id)
    if clock is None:
        return ""
    count = sum(timeline.clocks[each].pending for each in timeline.branch(clock.id))
    timers = counted(count, "timer")
    is_one = count == 1
    match None if command is None else command.capability:
        case Capability.PAUSE if clock.paused:
            done, then = "paused", "waits" if is_one else "wait"
        case Capability.PAUSE if timeline.pause_reasons(clock.id):
            # Another pause still stops it.
            done, then = "resumed", "still waits" if is_one else "still wait"
        case Capability.PAUSE:
            done, then = "resumed", "goes on" if is_one else "go on"
        case Capability.RATE:
            done, then = f"set to {rate_text(clock.rate_n)}×", "below it"
        case _:
            return ""
    return f"“{clock.name}” {done}, {timers} {then}" if count else f"“{clock.name}” {done}"
