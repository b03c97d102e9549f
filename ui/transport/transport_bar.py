"""The transport bar: the state of time, and how to change it."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont, QPalette
from PySide6.QtWidgets import QLabel, QSizePolicy, QSpinBox, QToolBar, QToolButton, QWidget

from inspector.clocks.rate import checked_frame_rate
from inspector.commands.command import Capability
from inspector.commands.scene import SetFrameRate
from inspector.commands.transport import MAX_STEP_FRAMES
from inspector.display_text import as_plain, one_line
from inspector.foreign.numbers import number_in, refusal
from inspector.sessions.session import AttachesPrograms, SessionPhase
from inspector.timebase import format_duration, format_instant

from ..kit.exact_entry import ExactEntry
from ..kit.icons import ICON_SIZE, drawn_icon
from ..kit.labels import ElidedLabel
from ..kit.paced_refresh import PacedRefresh
from ..kit.rate_slider import RateSlider
from ..kit.theme import ColorRole
from ..previews.previewing import Previewer, global_rect, typed_rate_command
from ..previews.selected import driven_clock, rate_command

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.events.timeline import Timeline
    from inspector.sessions.recorder import Recorder
    from inspector.sessions.session import Session

    from ..actions.actions import ActionSet
    from ..kit.theme import Theme
    from ..session.bridge import SessionBridge

#: The frame rate is measured over this time or this many frames.
_MEASURED_NS: Final = 1_000_000_000
_MEASURED_FRAMES: Final = 240
_BYTES_PER_MIB: Final = 1024 * 1024
_FRAME_RATE_TIP: Final = "Frames per second of session time: 60, 59.94 or 60000/1001"
_PHASE_TEXTS: Final = {
    SessionPhase.EMPTY: "No scene",
    SessionPhase.RUNNING: "▶ Running",
    SessionPhase.HELD: "❚❚ Held",
    SessionPhase.REWINDING: "⟲ Going back",
    SessionPhase.STEPPING: "⏵❚ Stepping",
    SessionPhase.READING: "… Reading",
    SessionPhase.FAILED: "✖ Failed",
    SessionPhase.WAITING: "… Connecting",
    SessionPhase.ENDED: "■ Ended",
}


class TransportBar(QToolBar):
    """Run, hold, steps, the root's rate, the frame rate, and measurements.

    Everything shown comes from the session; nothing can be changed before :meth:`connect_bridge`.

    Signals:
        step_frames_changed: The number of frames of the long step has changed.
        log_clicked: The user wants to see the events.
    """

    step_frames_changed = Signal(int)
    log_clicked = Signal()

    def __init__(self, actions: ActionSet, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__("Transport", parent)
        self.setObjectName("transport")
        self.setMovable(False)
        self.setFloatable(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.setIconSize(QSize(ICON_SIZE, ICON_SIZE))
        self._actions = actions
        self._theme = theme
        self._bridge: SessionBridge | None = None
        self._previewer: Previewer | None = None
        self._lost = 0

        for action_id in ("run-or-hold", "step", "step-n"):
            self._add_button(action_id)
        self.step_box = self._make_step_box()
        self.addWidget(self.step_box)
        self._add_button("next-timer")
        self.addSeparator()
        self.addWidget(_caption("Rate"))
        self.rate_slider = RateSlider("Rate of the root clock")
        self.rate_slider.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        self.rate_slider.setMaximumWidth(236)
        self.addWidget(self.rate_slider)
        self.addSeparator()
        self.frame_rate_entry = self._make_frame_rate_entry()
        self.addWidget(self.frame_rate_entry)
        self.addWidget(_caption("fps"))
        self.addSeparator()
        self._add_button("follow")
        self.record_button = self._make_text_button()
        self.record_button.clicked.connect(actions["record"].trigger)
        # A tool bar shows and hides its widgets by their actions.
        self._record_place = self.addWidget(self.record_button)
        self._record_place.setVisible(False)
        self.log_button = self._make_text_button()
        self.log_button.clicked.connect(self.log_clicked)
        self.addWidget(self.log_button)
        self.addSeparator()
        self.time_label = self._make_time_label()
        self.addWidget(self.time_label)
        self.status_label = ElidedLabel()
        self.status_label.setAccessibleName("Status of the session")
        self.status_label.setContentsMargins(8, 0, 4, 0)
        self.addWidget(self.status_label)
        self._controls = (self.step_box, self.rate_slider, self.frame_rate_entry, self.log_button)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self._show_nothing()

    @Slot()
    def edit_frame_rate(self) -> None:
        """Focus the field for the frame rate."""
        self.frame_rate_entry.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.frame_rate_entry.selectAll()

    # ---------------------------------------------------------------- building

    def _add_button(self, action_id: str) -> None:
        action = self._actions[action_id]
        self.addAction(action)
        button = self.widgetForAction(action)
        assert isinstance(button, QToolButton)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setAccessibleName(action.description.plain_title)

    def _make_step_box(self) -> QSpinBox:
        box = QSpinBox()
        box.setRange(1, MAX_STEP_FRAMES)
        box.setValue(10)
        box.setGroupSeparatorShown(True)
        box.setKeyboardTracking(False)
        box.setAlignment(Qt.AlignmentFlag.AlignRight)
        box.setAccessibleName("Frames of the long step")
        box.setToolTip("Number of frames of the long step")
        box.setFixedWidth(box.fontMetrics().horizontalAdvance("0,000,000") + 26)
        box.valueChanged.connect(self.step_frames_changed)
        return box

    def _make_frame_rate_entry(self) -> ExactEntry:
        entry = ExactEntry("Frame rate", parse_frame_rate, frame_rate_to_text)
        entry.setToolTip(_FRAME_RATE_TIP)
        entry.setFixedWidth(entry.fontMetrics().horizontalAdvance("00000.00") + 12)
        entry.value_requested.connect(self._request_frame_rate)
        return entry

    def _make_text_button(self) -> QToolButton:
        button = QToolButton()
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def _make_time_label(self) -> QLabel:
        label = QLabel()
        font = QFont(label.font())
        font.setBold(True)
        label.setFont(font)
        label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        label.setMinimumWidth(label.fontMetrics().horizontalAdvance("00:00.000") + 12)
        label.setAccessibleName("Session time")
        label.setToolTip("Session time: time that passed while the scene ran or was stepped")
        return label

    # ---------------------------------------------------------------- the session

    def connect_bridge(self, bridge: SessionBridge) -> None:
        """Show and control the bridge's session."""
        self._bridge = bridge
        pace = PacedRefresh(self, bridge.pace)
        pace.due.connect(self.show_numbers)
        bridge.refreshed.connect(pace.request)
        bridge.status_changed.connect(self._show_status)
        bridge.session_changed.connect(self._take_session)
        bridge.selection_changed.connect(self._show_status)
        self.rate_slider.rate_requested.connect(self._request_rate)
        self._previewer = Previewer(bridge, self)
        self.rate_slider.entry.textChanged.connect(self._preview_rate)
        self.rate_slider.entry.editingFinished.connect(self._previewer.hide)
        self._take_session(bridge.session)

    @property
    def step_frames(self) -> int:
        """Number of frames of the long step."""
        return self.step_box.value()

    def show_step_frames(self, count: int) -> None:
        """Set the number of frames of the long step, up to the limit of a session."""
        self.step_box.setValue(min(count, MAX_STEP_FRAMES))

    @Slot(object)
    def _take_session(self, session: Session | None) -> None:
        if session is None:
            self._show_nothing()
        else:
            for control in self._controls:
                control.setEnabled(True)
            self.show_numbers()

    @Slot(object)
    def _show_status(self, _status: object) -> None:
        self.show_numbers()

    @Slot()
    def show_numbers(self) -> None:
        """Show the present numbers of the session."""
        bridge = self._bridge
        session = bridge.session if bridge is not None else None
        if session is None:
            self._show_nothing()
            return
        self._show_time(session.timeline)
        self._show_rates(session)
        self._show_log(session)
        self._show_recorder(session.recorder)
        self._show_how_it_goes(session)

    def _show_nothing(self) -> None:
        for control in self._controls:
            control.setEnabled(False)
        self.time_label.setText("--:--.---")
        self._show_recorder(None)
        self.log_button.setText("no log")
        self.log_button.setAccessibleName("Event log")
        if self._bridge is None:
            self.status_label.show_text("Loading …")
            return
        status = self._bridge.status
        has_failed = status.phase is SessionPhase.FAILED
        said = _PHASE_TEXTS[status.phase] if has_failed else status.message
        self.status_label.show_text(said, status.message)

    def _show_time(self, timeline: Timeline) -> None:
        text = format_instant(timeline.at_ns)
        if text != self.time_label.text():
            self.time_label.setText(text)

    def _show_rates(self, session: Session) -> None:
        can = frozenset[Capability]() if self._bridge is None else self._bridge.capabilities
        clock = session.timeline.clocks.get(self._driven_clock())
        whose = "Rate of the root clock"
        if clock is not None and clock.parent_id:
            whose = f"Rate of “{one_line(clock.name)}”"
        reason = session.why_not(Capability.RATE, 0 if clock is None else clock.id)
        self.rate_slider.setEnabled(clock is not None and Capability.RATE in can and not reason)
        self.rate_slider.show_name(whose, f"Unavailable: {reason}." if reason else "")
        if clock is not None:
            self.rate_slider.show_rate(clock.rate)
        reason = session.why_not(Capability.FRAME_RATE)
        self.frame_rate_entry.setEnabled(Capability.FRAME_RATE in can and not reason)
        unavailable = f"\nUnavailable: {reason}." if reason else ""
        self.frame_rate_entry.setToolTip(as_plain(f"{_FRAME_RATE_TIP}{unavailable}"))
        self.frame_rate_entry.show_value(session.frame_rate)

    def _driven_clock(self) -> int:
        """Return the clock whose rate the slider shows and sets, 0 for none."""
        return 0 if self._bridge is None else driven_clock(self._bridge)

    def _show_log(self, session: Session) -> None:
        log = session.log
        kept, lost = len(log), log.first
        text = f"{kept:,} events" if not lost else f"{kept:,} events, {lost:,} dropped"
        if text == self.log_button.text():
            return
        self.log_button.setText(text)
        self.log_button.setAccessibleName(f"Event log: {text}")
        used_mib, budget_mib = log.kept_bytes / _BYTES_PER_MIB, log.budget_bytes / _BYTES_PER_MIB
        gone = (
            f"{lost:,} older events were dropped; the state that is shown still includes them."
            if lost
            else "No events are lost."
        )
        self.log_button.setToolTip(
            f"Event log, in memory only: {kept:,} events, "
            f"about {used_mib:.1f} of {budget_mib:.0f} MiB.\n{gone}\nClick to see the events."
        )
        if bool(lost) != bool(self._lost):
            self._lost = lost
            self._apply_theme()
        self._lost = lost

    def _show_recorder(self, recorder: Recorder | None) -> None:
        path = None if recorder is None else recorder.path
        if recorder is None or path is None:
            self._record_place.setVisible(False)
            return
        lost = recorder.lost
        text = f"Recording, {lost:,} lost" if lost else "Recording"
        missing = (
            f"{lost:,} events came faster than they could be written."
            if lost
            else "No events are lost."
        )
        self.record_button.setText(text)
        self.record_button.setAccessibleName(f"{text} to {path.name}; press to stop")
        size, cost = _size_text(path), recorder.picture_cost
        pictures = f"\nPictures of the scene take {cost}." if cost else ""
        self.record_button.setToolTip(
            as_plain(f"Recording to {path}, {size} so far.{pictures}\n{missing}\nClick to stop.")
        )
        self._record_place.setVisible(True)

    def _show_how_it_goes(self, session: Session) -> None:
        status = session.status
        parts = [_PHASE_TEXTS[status.phase]]
        tips = [status.message]
        measured = measured_frame_rate(session.timeline)
        if status.phase is SessionPhase.RUNNING and measured is not None:
            parts.append(f"{measured:.1f} fps")
            tips.append(f"{measured:.2f} frames per second of real time, over the last second")
        if isinstance(session, AttachesPrograms):
            briefs = [each.brief for each in session.programs.values() if each.is_attached]
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
        self.status_label.show_text("  ·  ".join(parts), "\n".join(tip for tip in tips if tip))

    # ---------------------------------------------------------------- requests

    @Slot(object)
    def _request_rate(self, rate: Fraction) -> None:
        if self._bridge is not None and (clock_id := self._driven_clock()):
            self._bridge.submit(rate_command(clock_id, rate))

    @Slot(str)
    def _preview_rate(self, text: str) -> None:
        bridge, previewer, entry = self._bridge, self._previewer, self.rate_slider.entry
        if bridge is None or previewer is None:
            return
        clock_id = self._driven_clock() if entry.isModified() else 0
        command = typed_rate_command(clock_id, text) if clock_id else None
        previewer.consider(command, partial(global_rect, entry))

    @Slot(object)
    def _request_frame_rate(self, frames_per_second: Fraction) -> None:
        if self._bridge is not None:
            self._bridge.submit(SetFrameRate(frames_per_second))

    # ---------------------------------------------------------------- looks

    @Slot()
    def _apply_theme(self) -> None:
        theme = self._theme
        self.log_button.setIcon(theme.icon("warning" if self._lost else "log"))
        palette = self.log_button.palette()
        role = ColorRole.LATE if self._lost else ColorRole.TEXT
        palette.setColor(QPalette.ColorRole.ButtonText, theme.color(role))
        self.log_button.setPalette(palette)
        red = theme.color(ColorRole.BAD)
        self.record_button.setIcon(drawn_icon("record", red, red))


def measured_frame_rate(timeline: Timeline) -> float | None:
    """Return frames per second of source time over the last second, if there were any."""
    intervals = timeline.frames.interval_ns
    passed_ns = count = 0
    for interval_ns in reversed(intervals[-_MEASURED_FRAMES:]):
        if interval_ns <= 0:
            continue
        passed_ns += interval_ns
        count += 1
        if passed_ns >= _MEASURED_NS:
            break
    return count * 1_000_000_000 / passed_ns if passed_ns else None


def parse_frame_rate(text: str) -> Fraction:
    """Parse a frame rate: ``60``, ``59.94`` or ``60000/1001``.

    Raises:
        ValueError: It is invalid or out of range; the message says which.
    """
    stripped = text.strip().lower().removesuffix("fps").removesuffix("hz").strip()
    try:
        rate = number_in(stripped)
    except ValueError:
        hint = "write 60, 59.94 or 60000/1001"
        raise ValueError(refusal("a frame rate", text.strip(), hint)) from None
    return checked_frame_rate(rate)


def frame_rate_to_text(frames_per_second: Fraction) -> str:
    """Return a frame rate as text."""
    decimal = f"{float(frames_per_second):.3f}".rstrip("0").rstrip(".")
    return decimal if Fraction(decimal) == frames_per_second else str(frames_per_second)


def _size_text(path: Path) -> str:
    try:
        return f"{path.stat().st_size / _BYTES_PER_MIB:.1f} MiB"
    except OSError:
        # Such as a disk that is gone; the recorder will report it.
        return "of unknown size"


def _caption(text: str) -> QLabel:
    label = QLabel(text)
    label.setContentsMargins(4, 0, 4, 0)
    label.setForegroundRole(QPalette.ColorRole.PlaceholderText)
    return label
