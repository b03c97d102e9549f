"""The buttons of what is selected: what ends its pauses, what leads to its next call."""

from __future__ import annotations

from itertools import islice
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QEvent, QMargins, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.calls.blockers import Blocker, BlockerKind, clock_blockers, member_blockers
from inspector.commands.breakpoints import AddBreakpoint, RemoveBreakpoint
from inspector.commands.clocks import ResumeClock
from inspector.commands.command import Command
from inspector.commands.members import ResumeMember
from inspector.commands.scene import RewindTo
from inspector.commands.transport import StepTo
from inspector.display_text import as_plain, one_line
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.events.timeline import Timeline
from inspector.sessions.session import Session

from ..kit.fonts import in_type
from ..kit.guards import guarded
from ..kit.keys import hide_with_keyboard
from ..kit.layouts import IS_DEFAULT, ShorteningButton
from ..selected.commands import (
    member_toggle,
    selected_clock,
    selected_member,
    selected_timer,
    submit,
)
from ..selected.menus import menu_text
from ..selected.undo_steps import UndoSteps
from ..session.bridge import Selection, SessionBridge

#: At most this many buttons are shown, for the nearest pauses.
_MOST_BUTTONS: Final = 2
_MARGINS: Final = QMargins(16, 4, 16, 4)
#: Pixels between buttons.
_BETWEEN: Final = 4


class Remedy(Struct, frozen=True):
    text: str  # What its button says
    name: str  # The text for screen readers, which says what it is about
    command: Command | None  # What it asks for; None to show the present
    reason: str = ""  # Why it is not possible, else empty


def remedies_for(bridge: SessionBridge, steps: UndoSteps) -> list[Remedy]:
    """Return what ends the pauses that the selection waits for, or leads to its next call.

    Nothing for a recording. While the window looks back, what leads on from there: only the present
    can be changed.
    """
    session, timeline = bridge.session, bridge.timeline
    if session is None or session.is_recorded:
        return []
    if bridge.playhead_ns is not None:
        rewind, back = RewindTo(bridge.playhead_ns), "Back to the present"
        here = Remedy("Rewind to here", "Rewind to here", rewind, bridge.why_not(rewind))
        return [here, Remedy(back, f"{back} (End)", None)]
    blockers = _blockers(timeline, bridge.selection)
    if blockers:
        ends = (end for each in blockers if (end := _end_of(timeline, each)) is not None)
        found = [(text, text, command) for text, command in islice(ends, _MOST_BUTTONS)]
        to_undo, _to_redo = steps.find(session, timeline)
        is_cause = to_undo is not None and any(each.cause == to_undo.number for each in blockers)
        if to_undo is not None and is_cause and not found:
            found = [("Undo", f"Undo: {to_undo.text} (Ctrl+Z)", to_undo.undo)]
    else:
        found = _ahead(session, timeline, bridge.selection)
    return [Remedy(text, name, what, bridge.why_not(what)) for text, name, what in found]


def _ahead(
    session: Session, timeline: Timeline, selection: Selection
) -> list[tuple[str, str, Command]]:
    """Return what leads to the next call of the selected timer."""
    timer_id = selected_timer(timeline, selection)
    due_ns = timeline.session_due_ns(timer_id) if timer_id else None
    if due_ns is None or due_ns <= timeline.at_ns:
        return []
    name = timeline.timers.row(timer_id).label
    found: list[tuple[str, str, Command]] = [("Step to it", f"Step to {name}", StepTo(due_ns))]
    if session.breakpoints is not None:
        wanted = Breakpoint(BreakKind.TIMER_FIRES, name)
        placed = (number for number, each, _hits in session.breakpoints.items() if each == wanted)
        number = next(placed, None)
        if number is None:
            found.append(("Stop there", f"Stop when {name} fires", AddBreakpoint(wanted)))
        else:
            text = "Do not stop there"
            found.append((text, f"Do not stop when {name} fires", RemoveBreakpoint(number)))
    return found


def _blockers(timeline: Timeline, selection: Selection) -> tuple[Blocker, ...]:
    member = selected_member(timeline, selection)
    if member is not None:
        return member_blockers(timeline, member)
    clock = selected_clock(timeline, selection)
    return () if clock is None else clock_blockers(timeline, clock.id)


def _end_of(timeline: Timeline, blocker: Blocker) -> tuple[str, Command] | None:
    """Return what ends a pause, in words and as a command; ``None`` for what is no pause."""
    if blocker.kind is BlockerKind.CLOCK_PAUSED:
        return f"Resume {blocker.name}", ResumeClock(blocker.clock_id)
    if blocker.kind is BlockerKind.PAUSED:
        member = timeline.members.by_id[blocker.member_id]
        command = member_toggle(member)
        if isinstance(command, ResumeMember):
            return f"Resume {member.kind.text} {member.name}", command
    return None


@guarded
class RemedyBar(QWidget):
    """At most two buttons, the first of which undoes the cause; hidden without any."""

    keyboard_left = Signal()  # It was hidden while one of its buttons had the keyboard

    def __init__(self, bridge: SessionBridge) -> None:
        super().__init__()
        self._bridge = bridge
        self._steps = UndoSteps()
        self._remedies: list[Remedy] = []
        self._asked: set[Command] = set()
        self._commands_seen = 0
        # All buttons that may be needed; only the first ones are visible
        self.buttons = [ShorteningButton() for _ in range(_MOST_BUTTONS)]
        for button in self.buttons:
            button.setParent(self)
            button.clicked.connect(self._on_clicked)
        self.buttons[0].setProperty(IS_DEFAULT, True)
        in_type(self.buttons[0], "strong")
        self.hide()

    def refresh(self) -> None:
        commands = len(self._bridge.timeline.commands)
        if commands != self._commands_seen:
            self._commands_seen = commands
            self._asked.clear()
        remedies = remedies_for(self._bridge, self._steps)
        if remedies != self._remedies:
            self._remedies = remedies
            self._refresh_remedies()

    def _refresh_remedies(self) -> None:
        remedies = self._remedies
        if not remedies and hide_with_keyboard(self):
            self.keyboard_left.emit()
        for button, remedy in zip(self.buttons, remedies, strict=False):
            unavailable = f"Unavailable: {remedy.reason}." if remedy.reason else ""
            button.setText(menu_text(remedy.text))
            button.setAccessibleName(one_line(remedy.name))
            button.setAccessibleDescription(unavailable)
            button.setToolTip(as_plain("\n".join(filter(None, (remedy.name, unavailable)))))
            button.setEnabled(not remedy.reason)
            button.show()
        for button in self.buttons[len(remedies) :]:
            button.hide()
        self._arrange()
        self.setVisible(bool(remedies))

    def _arrange(self) -> None:
        """Put the buttons side by side, those that have no room there below."""
        x, y, height = _MARGINS.left(), _MARGINS.top(), 0
        room = self.width() - _MARGINS.left() - _MARGINS.right()
        for button in self.buttons[: len(self._remedies)]:
            size = button.sizeHint()
            width, height = min(size.width(), room), size.height()
            if x > _MARGINS.left() and x + width > _MARGINS.left() + room:
                x, y = _MARGINS.left(), y + height + _BETWEEN
            button.setGeometry(x, y, width, height)
            x += width + _BETWEEN
        self.setFixedHeight(y + height + _MARGINS.bottom())

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        if event.oldSize().width() != event.size().width():
            self._arrange()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._arrange()

    def _on_clicked(self) -> None:
        place = next(place for place, each in enumerate(self.buttons) if each is self.sender())
        command = self._remedies[place].command
        if command is None:
            self._bridge.go_live()
            return
        # A running scene applies it at the next frame; a second click must not submit it again.
        if command not in self._asked:
            self._asked.add(command)
            submit(self._bridge, command)
