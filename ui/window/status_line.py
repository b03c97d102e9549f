"""The status line at the right of the foot: notices with *Undo*, progress, wake-ups, failures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from msgspec import Struct
from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget
from typing_extensions import override

from inspector.clocks.rate import rate_numerator
from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.clocks import OwnPause, SetRate
from inspector.commands.command import command_in
from inspector.commands.scene import Undo, undone
from inspector.display_text import as_plain, counted, without_quotes
from inspector.events.states import CommandRecord
from inspector.events.timeline import Timeline
from inspector.sessions.session import AttachesPrograms, Session, ShowsCapture
from inspector.timebase import format_duration
from inspector.vocabulary import rate_chip

from ..kit.fonts import in_type
from ..kit.guards import guarded
from ..kit.labels import ElidedLabel, announce, plain_label, set_growing_text
from ..kit.layouts import fill_across, tool_button
from ..kit.theme import Theme
from ..kit.throttled_refresh import ThrottledRefresh, single_shot
from ..session.bridge import SessionBridge
from ..session.overruled_rates import OverruledRate, OverruledRates

_BYTES_PER_MIB: Final = 1024 * 1024
_EFFECT_MS: Final = 8_000
#: Least milliseconds between counts of events: for each, the whole foot is painted.
_COUNT_MS: Final = 500
#: Widest message in pixels; the tool tip has all of a longer one.
_WIDEST: Final = 560
_NO_LIMIT: Final = (1 << 24) - 1
_BEFORE_COUNT: Final = " · "
_UNDONE: Final = "Undone:"
_REDONE: Final = "Redone:"
#: What the button says, its tool tip and its keys, after a change and after an undo.
_BUTTON_TEXTS: Final = (
    ("Undo", "Undo this change", "Ctrl+Z"),
    ("Redo", "Redo this change", "Ctrl+Shift+Z"),
)


@runtime_checkable
class TakesItsTime(Protocol):
    """A session whose rewind, step or reading may take a while."""

    def break_off(self) -> None:
        """Stop where it was or has come to."""


class Notice(Struct, frozen=True):
    """What is said in the foot, and what can be done about it."""

    text: str
    # At most two: what a button says, its tool tip, and what it does.
    actions: tuple[tuple[str, str, Callable[[], object]], ...] = ()
    keys: str = ""  # The keys of the first action
    lasts: bool = False  # Whether it can be read again until it is dismissed


class StatusLine(QWidget):
    """Says what was done, what is not possible and what has happened; else what is always known.

    During a rewind, a long step or the reading of a long capture it shows the progress. What is
    said gives its place back after some seconds; a notice that lasts leaves a button to read it
    again.

    Signals:
        keyboard_left: A button was hidden that had the keyboard.

    Attributes:
        buttons: What can be done about the notice; hidden without it.
        keys: Say what does it, too.
        again_button: Says what lasts again; hidden without it.
        close_button: Dismisses a notice that lasts.
        cancel_button: Ends what takes its time; hidden while nothing does.
    """

    keyboard_left = Signal()

    def __init__(self, bridge: SessionBridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._notice = self._lasting = Notice("")
        self._was_said = True  # Whether what lasts has had its time
        self._effect: CommandRecord | None = None
        self.label = ElidedLabel()
        self.label.setAccessibleName("Status")
        self.label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.buttons = tool_button(), tool_button()
        self.keys = plain_label()
        in_type(self.keys, "small", is_muted=True)
        self.keys.hide()
        self.close_button = tool_button("Dismiss")
        self.close_button.setAccessibleName("Dismiss the notice")
        self.close_button.clicked.connect(self.dismiss)
        self.again_button = tool_button("Notice")
        self.again_button.setAutoRaise(True)
        self.again_button.clicked.connect(self._show_again)
        self.cancel_button = tool_button("Cancel", "Stop here and keep the result so far (Esc)")
        self.cancel_button.clicked.connect(self.break_off)
        self.log_note = LogNote(bridge)
        for button in self.buttons:
            button.clicked.connect(self._act)
        others = self.close_button, self.cancel_button, self.again_button
        for button in (*self.buttons, *others):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.hide()
        shown = (self.label, *self.buttons, self.keys, *others, self.log_note)
        fill_across(self, *shown, margins=(6, 0, 6, 0))
        self._over = single_shot(self, self._end, _EFFECT_MS)
        OverruledRates.of(bridge).found.connect(self.show_overruled)
        bridge.status_changed.connect(self._on_progress)
        bridge.facts_due.connect(self._on_progress)
        bridge.loading_changed.connect(self._on_loading)
        self.clear()

    @property
    def message(self) -> str:
        """What is said now, empty for nothing."""
        return self.label.text()

    def lasts(self, text: str) -> bool:
        """Whether a text can be read again until it is dismissed."""
        return bool(text) and self._lasting.text == text

    def set_notice(self, notice: Notice) -> None:
        if notice.lasts:
            self._lasting, self._was_said = notice, False
        if not self._goes_on:
            self._over.start()
            self._display(notice)
        announce(self, notice.text)

    def _display(self, notice: Notice) -> None:
        own = *self.buttons, self.close_button, self.again_button
        if any(each.hasFocus() for each in own):
            # Before it is hidden: Qt would give the keyboard to any widget, which would be read.
            self.keyboard_left.emit()
        self._effect = None
        self._notice, text = notice, notice.text
        self.label.set_text(text)
        # A notice that lasts has the room of the tabs, too.
        self.label.setMaximumWidth(_NO_LIMIT if notice.lasts else _WIDEST)
        self.label.setVisible(bool(text))
        self.log_note.setVisible(not text)
        for button, action in zip_longest(self.buttons, notice.actions):
            button.setVisible(action is not None)
            if action is not None:
                button.setText(action[0])
                button.setToolTip(action[1])
        self.keys.setText(notice.keys)
        self.keys.setVisible(bool(notice.keys))
        self.close_button.setVisible(notice.lasts)
        self.again_button.setVisible(not text and bool(self._lasting.text))
        self.again_button.setToolTip(as_plain(self._lasting.text))

    @Slot()
    def clear(self) -> None:
        """End a notice that is shown for some seconds, or a progress."""
        self._over.stop()
        self._display(Notice(""))

    @Slot()
    def _end(self) -> None:
        self._was_said = True
        self.clear()

    @Slot()
    def _show_again(self) -> None:
        self.set_notice(self._lasting)

    @Slot()
    def dismiss(self) -> None:
        """End what lasts as well."""
        self._lasting = Notice("")
        self._end()

    @Slot()
    def _act(self) -> None:
        place = next(place for place, each in enumerate(self.buttons) if each is self.sender())
        self._notice.actions[place][2]()

    @property
    def _goes_on(self) -> bool:
        return self._bridge.status.phase.goes_on

    @Slot(object)
    def _on_progress(self, _news: object = None) -> None:
        if self._goes_on:
            self._over.stop()
            self._display(Notice(self._bridge.status.message))
        elif not self.cancel_button.isHidden():
            self._go_on()
        else:
            self._count_again()
        if self.cancel_button.isHidden() is self._goes_on:
            self.cancel_button.setVisible(self._goes_on)

    @Slot(object)
    def _on_loading(self, path: Path | None) -> None:
        if path is None:
            self._go_on()
        else:
            self._display(Notice(f"Loading {path.name} …"))
            # Paint it now: no event is handled until the code of the scene is loaded.
            self.label.repaint()

    def _go_on(self) -> None:
        """After a progress, show a lasting notice that came meanwhile, or what is always known."""
        if self._was_said:
            self.clear()
        else:
            self._show_again()

    @Slot()
    def break_off(self) -> bool:
        """Cancel a rewind, a long step or the reading of a capture, if there is one."""
        session: object = self._bridge.session
        is_possible = self._goes_on and isinstance(session, TakesItsTime)
        if is_possible and isinstance(session, TakesItsTime):
            session.break_off()
            self._bridge.request_refresh()
        return is_possible

    @Slot(str)
    def show_text(self, text: str) -> None:
        self.set_notice(Notice(text))

    @Slot(str)
    def refuse(self, reason: str) -> None:
        """Say why something was not done."""
        self.show_text(f"✖ {reason}")

    def show_lasting(self, text: str, *actions: tuple[str, Callable[[], object]]) -> None:
        """Say what can be read again, with at most two actions: their texts, and what they do."""
        self.set_notice(Notice(text, tuple((name, "", act) for name, act in actions), lasts=True))

    @Slot(object)
    def show_effect(self, record: CommandRecord) -> None:
        """Say what a pause, its end, a rate or an undo has done, where the eye is after a key."""
        session = self._bridge.session
        text = effect_text(self._bridge.timeline, record)
        if not text or (session is not None and session.is_recorded):
            # The commands of a recording were not given now.
            return
        undoing = None if session is None else session.undoing
        title, tip, keys = _BUTTON_TEXTS[text.startswith(_UNDONE)]
        can_undo = undoing is not None and undoing.of(record.number) is not None
        undo = (title, tip, partial(self._undo, record.number))
        self.set_notice(Notice(text, (undo,), keys) if can_undo else Notice(text))
        self._effect = record

    def _count_again(self) -> None:
        """Have an effect say how many timers it is about now, as the tabs do."""
        if self._effect is not None:
            text = effect_text(self._bridge.timeline, self._effect)
            what, between, _count = text.partition(_BEFORE_COUNT)
            if between and what == self.message.partition(_BEFORE_COUNT)[0]:
                self.label.set_text(text)

    @Slot(object)
    def show_overruled(self, rate: OverruledRate) -> None:
        """Say that the scene has changed a rate that was set from outside."""
        self.show_text(rate.sentence)

    def _undo(self, number: int) -> None:
        """Undo the command whose effect is said; if that undid something, it is redone."""
        self.clear()
        self._bridge.submit(Undo(number))


def effect_text(timeline: Timeline, record: CommandRecord) -> str:
    """Return what a pause, its end, a rate, a breakpoint or an undo has done; else nothing."""
    command = command_in(record.form)
    if isinstance(command, Undo):
        change, is_redo = undone(timeline, command)
        did = _REDONE if is_redo else _UNDONE
        return "" if change is None else f"{did} {without_quotes(change.text)}"
    if isinstance(command, AddBreakpoint) and not command.is_kept:
        return f"Breakpoint added: {without_quotes(command.breakpoint.text)}"
    clock = timeline.clocks.get(record.clock_id)
    if clock is None:
        return ""
    count = sum(timeline.clocks[each].pending for each in timeline.branch(clock.id))
    timers = counted(count, "timer")
    is_one = count == 1
    # Not what the clock does now: an attached program may report that some time later.
    match command:
        case OwnPause(pauses=True):
            done, then = "paused", "waits" if is_one else "wait"
        case OwnPause() if any(
            not each.is_own or each.is_rate_zero for each in timeline.pause_reasons(clock.id)
        ):
            # Something else still stops it.
            done, then = "resumed", "still waits" if is_one else "still wait"
        case OwnPause():
            done, then = "resumed", "goes on" if is_one else "go on"
        case SetRate(rate=rate):
            done, then = rate_chip(rate_numerator(rate)), "below it"
        case _:
            return ""
    return f"{clock.name} {done}{_BEFORE_COUNT}{timers} {then}" if count else f"{clock.name} {done}"


@guarded
class LogNote(QToolButton):
    """Says how late wake-ups are and how many events there are; a click shows these."""

    def __init__(self, bridge: SessionBridge) -> None:
        super().__init__()
        self._bridge = bridge
        self._widest = 0  # The widest text so far, in pixels
        self._is_comparing = False
        self.setAutoRaise(True)
        in_type(self, "small", is_muted=True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.clicked.connect(self._open_events)
        throttle = ThrottledRefresh(self, bridge.refresh_timer, self.refresh, _COUNT_MS)
        throttle.follow()
        bridge.session_changed.connect(self._on_session_changed)
        self.refresh()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._widest = 0
            self.setFixedSize(self.sizeHint())

    @Slot()
    def _on_session_changed(self) -> None:
        # The text about the former session may have been longer.
        self._widest = 0
        self.setMinimumSize(0, 0)
        self.refresh()

    def set_comparing(self, *, is_comparing: bool) -> None:
        """Describe a comparison, during which no session is visible, or the session."""
        self._is_comparing = is_comparing
        self._on_session_changed()

    @Slot()
    def _open_events(self) -> None:
        self._bridge.panel_wanted.emit("event_list")

    @Slot()
    @Slot(object)
    def refresh(self, _session: object = None) -> None:
        session = self._bridge.session
        self.setEnabled(session is not None and not self._is_comparing)
        if session is None or self._is_comparing:
            set_growing_text(self, "Comparison" if self._is_comparing else "No scene is open")
            self.setToolTip("")
            return
        parts, tips = _notes_on(session)
        count, place = _log_texts(session)
        self._show_log_text("  ·  ".join([*parts, count]))
        tip = as_plain("\n".join([*tips, place, "Click to see the events."]))
        if tip != self.toolTip():
            self.setToolTip(tip)

    def _show_log_text(self, text: str) -> None:
        advance = self.fontMetrics().horizontalAdvance(text)
        if advance > self._widest:
            self._widest = advance
            set_growing_text(self, text)
        elif text != self.text():
            # Not as above: the style takes ten times as long to find that the text has room.
            self.setText(text)


def _notes_on(session: Session) -> tuple[list[str], list[str]]:
    """Return what else is known of a session: in a few words, and in sentences."""
    parts: list[str] = []
    tips = [session.status.message]
    if isinstance(session, AttachesPrograms):
        # Only one program is named: one that does not answer, if there is one.
        live = sorted(session.programs.values(), key=lambda each: not each.is_silent)
        briefs = [each.brief for each in live if each.is_attached]
        parts += briefs[:1] + ([f"{len(briefs)} programs"] if len(briefs) > 1 else [])
        tips += briefs
        tips += session.notes
    if isinstance(session, ShowsCapture):
        parts.append("Capture, read only")
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
    text = f"{counted(kept, 'event')}, {lost:,} dropped" if lost else counted(kept, "event")
    if session.is_recorded:
        missing = history.missing
        place = f"{counted(kept - missing, 'event')} in the file"
        place += f", {counted(missing, 'is', 'are')} missing." if missing else "."
    else:
        used_mib = log.kept_bytes / _BYTES_PER_MIB
        place = f"Event log, in memory only: {counted(kept, 'event')}, about {used_mib:.1f} of "
        place += f"{log.budget_bytes / _BYTES_PER_MIB:.0f} MiB."
    if lost:
        place += f"\n{lost:,} older events were dropped; what is shown still includes them."
    elif not session.is_recorded:
        place += "\nNo events are lost."
    return text, place


@guarded
class FailureNote(QToolButton):
    """Counts the failures of the session; a click is for showing them."""

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._theme = theme
        self._shown = (0, False)
        self.setAutoRaise(True)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.hide()
        bridge.facts_due.connect(self.refresh)
        bridge.session_changed.connect(self.refresh)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    @Slot(object)
    def refresh(self, _news: object = None) -> None:
        """Show how many there are now, and the newest of them in the tooltip."""
        failures = self._bridge.timeline.failures
        count = len(failures)
        shown = count, bool(self._bridge.timeline.clocks)
        if shown == self._shown:
            return
        self._shown = shown
        self.setVisible(bool(count))
        if not count:
            return
        newest = failures[-1]
        if not self._bridge.timeline.clocks:
            # A scene that could not be loaded has left no clock, and nothing was called on one.
            text = "The scene could not be loaded"
            told = f"“{newest.label}” could not be loaded: {newest.raised}"
        else:
            text = counted(count, "failure")
            told = f"The newest: “{newest.label}” failed: {newest.raised}"
        self.setText(text)
        self.setAccessibleName(text)
        self.setToolTip(as_plain(f"{told}\nClick to see events."))

    @Slot()
    def _apply_theme(self) -> None:
        self.setIcon(self._theme.icon("failure"))
