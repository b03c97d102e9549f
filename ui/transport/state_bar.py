"""The state bar: what the session does, why, and what can be done about it."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont, QIcon, QKeyEvent, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QToolBar,
    QToolButton,
    QWidget,
)
from typing_extensions import override

from inspector.analysis.instants import EXAMPLES
from inspector.commands.breakpoints import ChangeBreakpoint
from inspector.commands.command import Capability
from inspector.events.conditions.breakpoint import BreakKind
from inspector.sessions.session import AttachesPrograms, SessionPhase, file_word
from inspector.timebase import format_duration, format_instant

from ..kit.guards import guarded
from ..kit.icons import ICON_SIZE, drawn_icon
from ..kit.labels import ElidedLabel, SteadyPlace, say
from ..kit.layouts import tool_button
from ..kit.paced_refresh import PacedRefresh
from ..kit.theme import ColorRole, mixed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from inspector.events.states import BreakHit
    from inspector.events.timeline import Timeline
    from inspector.sessions.session import Session

    from ..actions.actions import ActionSet
    from ..kit.theme import Theme
    from ..session.bridge import SessionBridge

_BUTTONS: Final = ("look-timer-back", "look-frame-back", "look-frame-on", "look-timer-on")
#: As high in every state, so that nothing below it moves.
_HEIGHT: Final = 30
_BYTES_PER_MIB: Final = 1024 * 1024
_PHASE_TEXTS: Final = {
    SessionPhase.EMPTY: "No scene is open",
    SessionPhase.RUNNING: "▶ Running",
    SessionPhase.HELD: "❚❚ Held",
    SessionPhase.FAILED: "✖ Failed",
    SessionPhase.WAITING: "… Connecting",
    SessionPhase.ENDED: "■ Ended",
}


class _Look(Enum):
    """What the bar is about; each has its ground."""

    PLAIN = ColorRole.PANEL
    HELD = ColorRole.HATCH
    STOPPED = ColorRole.BLUE
    PAST = ColorRole.TICK


@runtime_checkable
class TakesItsTime(Protocol):
    """A session whose rewind, step or reading may take a while."""

    def break_off(self) -> None:
        """Stop where it was or has come to."""


@guarded
class StateBar(QToolBar):
    """What the session does, with what can be done about it.

    It runs, is held, was stopped by a breakpoint, or looks back: then the bar moves the playhead.
    During a rewind, a long step or the reading of a long capture it shows the progress.

    Signals:
        log_clicked: The user wants to see the events.

    Attributes:
        label: What the session does, and the instant that is shown.
        note: What is known beyond that, such as the delay of wake-ups.
        entry: Input of an instant.
        problem: Why the input is not an instant; hidden without a problem.
        live_button: Returns to the present.
        cancel_button: Cancels a rewind in progress.
        run_button: Runs a scene that is held or was stopped.
        frame_button: Shows the frame in which a breakpoint was hit.
        disable_button: Disables that breakpoint.
        log_button: Counts the events; opens them.
    """

    log_clicked = Signal()

    def __init__(
        self,
        bridge: SessionBridge,
        actions: ActionSet,
        find: Callable[[str], int],
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        """Show the state of a bridge's session.

        Args:
            find: Parses an instant; raises ``ValueError`` if it is invalid.
        """
        super().__init__("State", parent)
        self.setObjectName("state_bar")
        self.setMovable(False)
        self.setFloatable(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.toggleViewAction().setEnabled(False)
        self.setFixedHeight(_HEIGHT)
        self._bridge = bridge
        self._actions = actions
        self._find = find
        self._theme = theme
        self._icon_buttons: dict[str, QToolButton] = {}
        self._look: _Look | None = None
        self._hit: BreakHit | None = None
        self._told_hits: tuple[Timeline | None, int] = (None, 0)
        self._log_shown = (-1, -1)
        self.label = ElidedLabel()
        self.label.setAccessibleName("What the session does")
        self.note = ElidedLabel()
        self.problem = QLabel()
        self.problem.setTextFormat(Qt.TextFormat.PlainText)
        self.entry = QLineEdit()
        self.live_button = self._button("look-live", "Back to the present")
        self._rewind_button = self._button("rewind", "Rewind to here")
        self.cancel_button = _plain_button("Cancel", "Stop here and keep the result so far (Esc)")
        self.cancel_button.clicked.connect(self.break_off)
        self.run_button = self._button("run-or-hold", "Run")
        self.frame_button = _plain_button("Show frame", "Select the frame in which it stopped")
        self.frame_button.clicked.connect(self.show_frame)
        self.disable_button = _plain_button("Disable", "Turn this breakpoint off")
        self.disable_button.clicked.connect(self.disable_breakpoint)
        self.log_button = _plain_button("", "")
        self.log_button.setAutoRaise(True)
        self.log_button.clicked.connect(self.log_clicked)
        self._lay_out()
        self._pace = PacedRefresh(self, bridge.pace)
        self._pace.due.connect(self.show_state)
        bridge.refreshed.connect(self._pace.request)
        bridge.session_changed.connect(self._take_change)
        bridge.playhead_changed.connect(self._take_change)
        bridge.status_changed.connect(self._take_change)
        bridge.loading_changed.connect(self._take_loading)
        theme.changed.connect(self._apply_theme)
        self._take_change()

    def _lay_out(self) -> None:
        font = QFont(self.label.font())
        font.setBold(True)
        self.label.setFont(font)
        self.entry.setPlaceholderText("Look at …")
        self.entry.setAccessibleName("Look at")
        self.entry.setToolTip(f"Instant to show: {EXAMPLES}")
        self.entry.setFixedWidth(self.entry.fontMetrics().horizontalAdvance("+100 timers  ") + 12)
        self.entry.returnPressed.connect(self._take_text)
        self.entry.textEdited.connect(self.problem.hide)
        self.problem.hide()
        whole = QWidget()
        layout = QHBoxLayout(whole)
        layout.setContentsMargins(10, 1, 8, 1)
        self.label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        layout.setSpacing(8)
        layout.addWidget(self.label)
        layout.addWidget(SteadyPlace(self.note), 1)
        layout.addWidget(self.problem)
        movers: list[QWidget] = [self._button(action_id) for action_id in _BUTTONS]
        movers += [self.entry, self._rewind_button, self.live_button]
        stopped = [self.run_button, self.frame_button, self.disable_button]
        for widget in (*stopped, *movers, self.cancel_button, self.log_button):
            layout.addWidget(widget)
        self.addWidget(whole)
        self._whole = whole
        #: What belongs to which state; the rest of it is hidden.
        self._parts: dict[_Look, list[QWidget]] = {
            _Look.PLAIN: [self.note, self.log_button],
            _Look.HELD: [self.note, self.run_button, self.log_button],
            _Look.STOPPED: [*stopped, self.log_button],
            _Look.PAST: movers,
        }

    def _button(self, action_id: str, text: str = "") -> QToolButton:
        action = self._actions[action_id]
        button = QToolButton()
        button.setAutoRaise(not text)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setAccessibleName(text or action.description.plain_title)
        button.setText(text)
        button.setToolTip(action.toolTip())
        button.clicked.connect(action.trigger)
        if not text:
            button.setIconSize(QSize(ICON_SIZE, ICON_SIZE))
            self._icon_buttons[action.description.icon] = button
        return button

    # ---------------------------------------------------------------- the state

    @property
    def is_looking_back(self) -> bool:
        return self._look is _Look.PAST and not self._goes_on

    @property
    def _goes_on(self) -> bool:
        return self._bridge.status.phase.goes_on

    @Slot(object)
    def _take_change(self, _what: object = None) -> None:
        focused = QApplication.focusWidget()
        had_keyboard = focused is not None and self.isAncestorOf(focused)
        self.problem.hide()
        self._note_hit()
        self.show_state()
        if had_keyboard and focused is not None and not focused.isVisible():
            self.window().setFocus()

    @Slot(object)
    def _take_loading(self, path: Path | None) -> None:
        self.show_state()
        if path is not None:
            # No event is handled until the code of the scene is loaded.
            self.label.repaint()

    def _note_hit(self) -> None:
        """Take the hit that stopped the scene, and select its frame when it is a new one."""
        timeline, number = self._bridge.timeline, self._bridge.status.breakpoint
        hits = timeline.hits
        self._hit = None
        if not number:
            return
        self._hit = next((hit for hit in reversed(hits) if hit.number == number), None)
        told, self._told_hits = self._told_hits, (timeline, len(hits))
        if self._hit is not None and told != self._told_hits:
            self.show_frame()

    def _look_now(self) -> _Look:
        if self._goes_on or self._bridge.playhead_ns is not None:
            return _Look.PAST
        if self._hit is not None:
            return _Look.STOPPED
        session, phase = self._bridge.session, self._bridge.status.phase
        is_held = phase is SessionPhase.HELD and session is not None and not session.is_recorded
        return _Look.HELD if is_held else _Look.PLAIN

    @Slot()
    def show_state(self) -> None:
        look, goes_on = self._look_now(), self._goes_on
        if look is not self._look:
            self._look = look
            self._apply_theme()
        shown = [self.cancel_button] if goes_on else self._parts[look]
        for widget in {each for parts in self._parts.values() for each in parts}:
            widget.setVisible(widget in shown)
        self.cancel_button.setVisible(goes_on)
        if goes_on:
            self.label.show_text(self._bridge.status.message)
        elif look is _Look.PAST:
            self._show_past()
        else:
            self._show_present(look)
            self._show_log()

    def _show_past(self) -> None:
        at_ns, session = self._bridge.playhead_ns, self._bridge.session
        if at_ns is None or session is None:
            return
        now = format_instant(self._bridge.timeline.at_ns)
        if session.is_recorded:
            meanwhile = f"the {file_word(session)} ends at {now}"
        elif self._bridge.timeline.is_running:
            meanwhile = f"the scene runs on at {now}"
        else:
            meanwhile = f"the scene is held at {now}"
        self.label.show_text(f"Looking back at {self._place_text(at_ns)} – {meanwhile}")
        self._rewind_button.setVisible(Capability.REWIND in self._bridge.capabilities)
        self.live_button.setText("To the end" if session.is_recorded else "Back to the present")
        for action_id in _BUTTONS:
            action = self._actions[action_id]
            self._icon_buttons[action.description.icon].setEnabled(action.isEnabled())

    def _place_text(self, at_ns: int) -> str:
        frames = self._bridge.timeline.frames
        frame = frames.index_at(at_ns) - 1
        where = format_instant(at_ns)
        return f"{where}, frame {frame:,}" if frame >= frames.first else where

    def _show_present(self, look: _Look) -> None:
        bridge, status = self._bridge, self._bridge.status
        session = bridge.session
        text = _PHASE_TEXTS.get(status.phase, status.message)
        if self._hit is not None:
            text = self._stop_text(self._hit)
        elif look is _Look.HELD:
            text = f"{text} at {self._place_text(bridge.timeline.at_ns)}"
        elif session is not None and (session.is_recorded or _has_lost_programs(session)):
            text = status.message
        if bridge.loading is not None and session is None:
            text = f"… Loading {bridge.loading.name}"
        self.label.show_text(text, status.message)
        parts, tips = ([], []) if session is None else _notes_on(session)
        self.note.show_text("  ·  ".join(parts), "\n".join(tips))

    def _stop_text(self, hit: BreakHit) -> str:
        session, frames = self._bridge.session, self._bridge.timeline.frames
        known = None if session is None else session.breakpoints
        found = None if known is None else known.get(hit.number)
        place = hit.frame - frames.first
        if (
            found is not None
            and found.kind is BreakKind.FRAME_ABOVE
            and 0 <= place < len(frames.interval_ns)
        ):
            took, limit = (
                format_duration(each) for each in (frames.interval_ns[place], found.limit_ns)
            )
            return f"Stopped: frame {hit.frame:,} took {took}, over {limit}"
        if not frames.end and not self._bridge.timeline.scene_path:
            # A program without frames.
            return f"Stopped: {hit.text}"
        return f"Stopped in frame {hit.frame:,}: {hit.text}"

    def _show_log(self) -> None:
        session = self._bridge.session
        self.log_button.setVisible(session is not None)
        if session is None:
            return
        log, history = session.log, session.history
        # Of a long file, only the newest events are in the log.
        kept, lost = history.end - history.first, history.first
        if (kept, lost) == self._log_shown:
            return
        had_lost, self._log_shown = self._log_shown[1] > 0, (kept, lost)
        text = f"{kept:,} events" if not lost else f"{kept:,} events, {lost:,} dropped"
        say(self.log_button, text)
        self.log_button.setAccessibleName(f"Event log: {text}")
        used_mib, budget_mib = log.kept_bytes / _BYTES_PER_MIB, log.budget_bytes / _BYTES_PER_MIB
        if session.is_recorded:
            missing = history.missing
            place = f"{kept - missing:,} events in the file"
            place += f", {missing:,} are missing." if missing else "."
        else:
            place = f"Event log, in memory only: {kept:,} events, "
            place += f"about {used_mib:.1f} of {budget_mib:.0f} MiB."
        if lost:
            text = "older events were dropped; the state that is shown still includes them."
            place += f"\n{lost:,} {text}"
        elif not session.is_recorded:
            place += "\nNo events are lost."
        self.log_button.setToolTip(f"{place}\nClick to see the events.")
        if bool(lost) != had_lost:
            self._apply_theme()

    # ---------------------------------------------------------------- what people do

    @Slot()
    def show_frame(self) -> None:
        if self._hit is not None:
            self._bridge.show_frame(self._hit.frame)

    @Slot()
    def disable_breakpoint(self) -> None:
        """Turn the breakpoint off that stopped the scene; it stays in the list."""
        session, hit = self._bridge.session, self._hit
        found = None
        if session is not None and hit is not None and session.breakpoints is not None:
            found = session.breakpoints.get(hit.number)
        if hit is not None and found is not None:
            self._bridge.submit(ChangeBreakpoint(hit.number, replace(found, is_enabled=False)))
            self._bridge.request_refresh()

    @Slot()
    def break_off(self) -> None:
        """Cancel a rewind, a long step or the reading of a capture."""
        session: object = self._bridge.session
        if isinstance(session, TakesItsTime):
            session.break_off()
            self._bridge.request_refresh()

    @Slot()
    def _take_text(self) -> None:
        try:
            at_ns = self._find(self.entry.text())
        except ValueError as error:
            self.say(str(error))
            self.entry.selectAll()
            return
        self.entry.clear()
        self._bridge.set_playhead(at_ns)

    @Slot(str)
    def say(self, problem: str) -> None:
        """Show why the playhead cannot be moved."""
        self.problem.setText(f"✖ {problem}")
        self.problem.setAccessibleName(problem)
        self.problem.show()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return to the present on Escape, or stay there."""
        if event.key() == Qt.Key.Key_Escape and self._goes_on:
            self.break_off()
        elif event.key() == Qt.Key.Key_Escape:
            self._bridge.go_live()
        else:
            super().keyPressEvent(event)

    # ---------------------------------------------------------------- looks

    @Slot()
    def _apply_theme(self) -> None:
        theme, look = self._theme, self._look or _Look.PLAIN
        ground, ink = theme.color(look.value), theme.color(ColorRole.BG)
        if look is _Look.PLAIN:
            ink = theme.color(ColorRole.TEXT)
        role = QPalette.ColorRole
        palette = theme.palette()
        faint = mixed(ink, ground, 0.5)
        for target, color in (
            (role.Window, ground),
            (role.Button, ground),
            (role.Base, theme.color(ColorRole.BG)),
            (role.WindowText, ink),
            (role.ButtonText, ink),
        ):
            palette.setColor(target, color)
        palette.setColor(QPalette.ColorGroup.Disabled, role.ButtonText, faint)
        self._whole.setPalette(palette)
        self._whole.setAutoFillBackground(True)
        self.setPalette(palette)
        self.setAutoFillBackground(True)
        self.entry.setPalette(theme.field_palette())
        lost = self._log_shown[1] > 0
        late = theme.color(ColorRole.ORANGE) if lost and look is _Look.PLAIN else ink
        self.log_button.setIcon(drawn_icon("warning" if lost else "log", late, faint))
        for name, button in self._icon_buttons.items():
            button.setIcon(QIcon(drawn_icon(name, ink, faint)))


def _plain_button(text: str, tip: str) -> QToolButton:
    button = tool_button(text, tip)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    return button


def _has_lost_programs(session: Session) -> bool:
    """Return whether there were programs, and others may still connect."""
    is_waiting = session.status.phase is SessionPhase.WAITING
    if not is_waiting or not isinstance(session, AttachesPrograms) or not session.programs:
        return False
    return not any(each.is_attached for each in session.programs.values())


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
        parts.append(f"wake-up delay {format_duration(wake.median_ns)}")
        tips.append(
            f"Delay of the time source's wake-ups: median {format_duration(wake.median_ns)}, "
            f"99 % {format_duration(wake.p99_ns)}, max {format_duration(wake.max_ns)}, last "
            f"{format_duration(wake.last_ns)} ({wake.count:,} wake-ups)."
        )
    return parts, [tip for tip in tips if tip]
