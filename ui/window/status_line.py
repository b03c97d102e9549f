"""The right of the foot: what was just done, what takes its time, and what is always known."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from PySide6.QtCore import QEvent, Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QWidget
from typing_extensions import override

from inspector.commands.command import Capability, command_in
from inspector.commands.scene import Undo, undone
from inspector.display_text import as_plain, counted
from inspector.events.states import CommandRecord
from inspector.events.timeline import Timeline
from inspector.sessions.session import AttachesPrograms, Session
from inspector.timebase import format_duration
from inspector.vocabulary import rate_text

from ..kit.fonts import in_type
from ..kit.guards import guarded
from ..kit.labels import ElidedLabel, announce, say
from ..kit.layouts import tool_button
from ..kit.paced_refresh import PacedRefresh, single_shot
from ..session.bridge import SessionBridge
from ..session.overruled_rates import OverruledRate, OverruledRates

_BYTES_PER_MIB: Final = 1024 * 1024
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


@runtime_checkable
class TakesItsTime(Protocol):
    """A session whose rewind, step or reading may take a while."""

    def break_off(self) -> None:
        """Stop where it was or has come to."""


class StatusLine(QWidget):
    """Says for some seconds what a command has done, or why something is not possible.

    During a rewind, a long step or the reading of a long capture it shows the progress. Else it
    shows the delay of wake-ups and the number of events.
    """

    def __init__(self, bridge: SessionBridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._number = 0
        self.label = ElidedLabel()
        self.label.setAccessibleName("Status")
        self.label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.label.setMaximumWidth(_WIDEST)
        # Undoes that command, or redoes what it undid; hidden while there is none
        self.undo_button = tool_button("Undo")
        self.undo_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.undo_button.clicked.connect(self.undo)
        # Ends what takes its time; hidden while nothing does
        self.cancel_button = tool_button("Cancel", "Stop here and keep the result so far (Esc)")
        self.cancel_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.cancel_button.clicked.connect(self.break_off)
        self.log_note = LogNote(bridge)
        for button in (self.undo_button, self.cancel_button):
            button.hide()
        self._over = single_shot(self, self.clear, _EFFECT_MS)
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 0, 6, 0)
        for widget in (self.label, self.undo_button, self.cancel_button, self.log_note):
            row.addWidget(widget)
        OverruledRates.of(bridge).found.connect(self.show_overruled)
        bridge.status_changed.connect(self._show_progress)
        bridge.refreshed.connect(self._show_progress)
        bridge.loading_changed.connect(self._show_loading)
        self._show("")

    @property
    def message(self) -> str:
        """What is said now, empty for nothing."""
        return self.label.text()

    def _show(self, text: str) -> None:
        self.label.show_text(text)
        self.label.setVisible(bool(text))
        self.log_note.setVisible(not text)

    @Slot()
    def clear(self) -> None:
        self._over.stop()
        self.undo_button.hide()
        self._show("")

    # ---------------------------------------------------------------- what takes its time

    @property
    def _goes_on(self) -> bool:
        return self._bridge.status.phase.goes_on

    @Slot(object)
    def _show_progress(self, _news: object = None) -> None:
        if self._goes_on:
            self._over.stop()
            self.undo_button.hide()
            self._show(self._bridge.status.message)
        elif not self.cancel_button.isHidden():
            self.clear()
        if self.cancel_button.isHidden() is self._goes_on:
            self.cancel_button.setVisible(self._goes_on)

    @Slot(object)
    def _show_loading(self, path: Path | None) -> None:
        self._show("" if path is None else f"Loading {path.name} …")
        if path is not None:
            # No event is handled until the code of the scene is loaded.
            self.label.repaint()

    @Slot()
    def break_off(self) -> bool:
        """Cancel a rewind, a long step or the reading of a capture, if there is one."""
        session: object = self._bridge.session
        is_possible = self._goes_on and isinstance(session, TakesItsTime)
        if is_possible and isinstance(session, TakesItsTime):
            session.break_off()
            self._bridge.request_refresh()
        return is_possible

    # ---------------------------------------------------------------- what was done

    @Slot(str)
    def say(self, text: str) -> None:
        """Say something for some seconds."""
        self.undo_button.hide()
        self._show(text)
        announce(self, text)
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
        self._show(text)
        announce(self, text)
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
            done, then = f"×{rate_text(clock.rate_n)}", "below it"
        case _:
            return ""
    return f"{clock.name} {done} · {timers} {then}" if count else f"{clock.name} {done}"


@guarded
class LogNote(QToolButton):
    """Says how late wake-ups are and how many events there are; a click shows these."""

    def __init__(self, bridge: SessionBridge) -> None:
        super().__init__()
        self._bridge = bridge
        self._log_shown = (-1, -1)
        self.setAutoRaise(True)
        in_type(self, "small")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.clicked.connect(self._show_events)
        pace = PacedRefresh(self, bridge.pace)
        pace.due.connect(self.refresh)
        bridge.refreshed.connect(pace.request)
        bridge.session_changed.connect(self.refresh)
        self.refresh()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self.setFixedSize(self.sizeHint())

    @Slot()
    def _show_events(self) -> None:
        self._bridge.panel_wanted.emit("event_list")

    @Slot()
    @Slot(object)
    def refresh(self, _session: object = None) -> None:
        session = self._bridge.session
        self.setEnabled(session is not None)
        if session is None:
            say(self, "No scene is open")
            return
        parts, tips = _notes_on(session)
        count, place = _log_texts(session)
        say(self, "  ·  ".join([*parts, count]))
        tip = as_plain("\n".join([*tips, place, "Click to see the events."]))
        if tip != self.toolTip():
            self.setToolTip(tip)


def _notes_on(session: Session) -> tuple[list[str], list[str]]:
    """Return what else is known of a session: in a few words, and in sentences."""
    parts: list[str] = []
    tips = [session.status.message]
    if isinstance(session, AttachesPrograms):
        # Only the first is named: one that does not answer, if there is one.
        live = sorted(session.programs.values(), key=lambda each: not each.is_silent)
        briefs = [each.brief for each in live if each.is_attached]
        parts += briefs[:1] + ([f"{len(briefs)} programs"] if len(briefs) > 1 else [])
        tips += briefs
        tips += session.notes
    wake = session.wake_errors
    if wake is not None and wake.count:
        parts.append(f"Wake-up {format_duration(wake.median_ns)}")
        tips.append(
            f"Delay of the time source's wake-ups: median {format_duration(wake.median_ns)}, "
            f"99 % {format_duration(wake.p99_ns)}, max {format_duration(wake.max_ns)}, last "
            f"{format_duration(wake.last_ns)} ({wake.count:,} wake-ups)."
        )
    return parts, [tip for tip in tips if tip]


def _log_texts(session: Session) -> tuple[str, str]:
    """Return how many events there are, and where they are, as a sentence or two."""
    log, history = session.log, session.history
    # Of a long file, only the newest events are in the log.
    kept, lost = history.end - history.first, history.first
    text = f"{kept:,} events, {lost:,} dropped" if lost else f"{kept:,} events"
    if session.is_recorded:
        missing = history.missing
        place = f"{kept - missing:,} events in the file"
        place += f", {missing:,} are missing." if missing else "."
    else:
        used_mib = log.kept_bytes / _BYTES_PER_MIB
        place = f"Event log, in memory only: {kept:,} events, about {used_mib:.1f} of "
        place += f"{log.budget_bytes / _BYTES_PER_MIB:.0f} MiB."
    if lost:
        place += f"\n{lost:,} older events were dropped; what is shown still includes them."
    elif not session.is_recorded:
        place += "\nNo events are lost."
    return text, place
