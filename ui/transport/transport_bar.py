"""The transport bar: the state of time, and how to change it."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont, QResizeEvent
from PySide6.QtWidgets import (
    QLabel,
    QMenu,
    QSizePolicy,
    QSpinBox,
    QToolBar,
    QToolButton,
    QWidget,
)
from typing_extensions import override

from inspector.commands.command import Capability
from inspector.commands.transport import MAX_STEP_FRAMES
from inspector.display_text import as_plain, one_line
from inspector.sessions.session import SessionPhase, file_word, samples_of
from inspector.timebase import format_instant

from ..actions.descriptions import NOT_CHANGED
from ..kit.exact_entry import RangeNote
from ..kit.guards import guarded
from ..kit.icons import ICON_SIZE, drawn_icon
from ..kit.labels import say
from ..kit.layouts import menu_button
from ..kit.paced_refresh import PacedRefresh
from ..kit.rate_widgets import RatePresets
from ..kit.theme import ColorRole
from ..previews.previewing import Previewer, global_rect, typed_rate_command
from ..previews.selected import driven_clock, rate_command
from .frame_rate import frame_rate_to_text, measured_frame_rate

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.events.timeline import Timeline
    from inspector.sessions.recorder import Recorder
    from inspector.sessions.session import Session

    from ..actions.actions import ActionSet
    from ..kit.theme import Theme
    from ..session.bridge import SessionBridge

_BYTES_PER_MIB: Final = 1024 * 1024
#: What the menus of the bar offer.
_EXPORTS: Final = ("export", "export-timeline", "export-scene", "save-last", "save-last-exact")
_FRAME_RATES: Final = (
    *(f"frame-rate-{rate}" for rate in ("30", "60", "120", "144", "240")),
    "frame-rate-exact",
)
_SESSION_TIME: Final = "Session time: time that passed while the scene ran or was stepped"
_NO_FPS: Final = "– fps"
_WIDEST_FPS: Final = "1,000.0 fps"
#: Pixels beside a number in a field with arrows, and beside a text with the arrow of a menu.
_BESIDE_NUMBER: Final = 30
_BESIDE_MENU_TEXT: Final = 18
#: With names, without them, and without the field for exact rates.
_STAGES: Final = 3


@guarded
class TransportBar(QToolBar):
    """Back, run, hold, steps, rates, recording, export, and what time it is.

    Everything shown comes from the session; nothing can be changed before :meth:`connect_bridge`.
    Buttons say their names while there is room for that.

    Signals:
        step_frames_changed: The number of frames of the long step has changed.

    Attributes:
        rates: The rate of the selected clock, without one of the root; they name it.
        step_box: The number of frames of the long step.
        record_button: Starts and stops a recording.
        export_button: Opens the menu of what can be exported.
        time_label: Session time; of a recording, the instant that is shown.
        fps_button: Measured frames per second; opens the menu of frame rates.
    """

    step_frames_changed = Signal(int)

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
        self._labelled: dict[QToolButton, tuple[str, ...]] = {}
        self._widths: tuple[int, ...] = ()
        self._stage = -1
        self._add_buttons()
        self.time_label = self._make_time_label()
        self.fps_button = self._make_menu_button(_FRAME_RATES, "Frames per second")
        self.fps_button.setMinimumWidth(
            self.fps_button.fontMetrics().horizontalAdvance(_WIDEST_FPS) + _BESIDE_MENU_TEXT
        )
        spring = QWidget()
        spring.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        for widget in (spring, self.time_label, self.fps_button):
            self.addWidget(widget)
        self._controls = (self.step_box, self.rates, self.export_button, self.fps_button)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self._show_nothing()

    # ---------------------------------------------------------------- building

    def _add_buttons(self) -> None:
        for action_id in ("step-back-n", "step-back"):
            self._add_button(action_id)
        self._add_button("run-or-hold", "Run", "Hold", "Play")
        self._add_button("step", "Step")
        self._add_button("step-n")
        self.step_box = self._make_step_box()
        self.addWidget(self.step_box)
        self._add_button("next-timer", "Timer")
        self.addSeparator()
        self.rates = RatePresets("Rate of the root clock")
        self.addWidget(self.rates)
        self.addSeparator()
        self._add_button("record", "Record", "Recording")
        self.record_button = self._button_of("record")
        self.export_button = self._make_menu_button(_EXPORTS, "Export")
        self.export_button.setText("Export")
        self._labelled[self.export_button] = ("Export",)
        self.addWidget(self.export_button)

    def _add_button(self, action_id: str, *texts: str) -> None:
        action = self._actions[action_id]
        self.addAction(action)
        button = self._button_of(action_id)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setAccessibleName(action.description.plain_title)
        if texts:
            self._labelled[button] = texts

    def _button_of(self, action_id: str) -> QToolButton:
        button = self.widgetForAction(self._actions[action_id])
        assert isinstance(button, QToolButton)
        return button

    def _make_step_box(self) -> QSpinBox:
        box = QSpinBox()
        box.setRange(1, MAX_STEP_FRAMES)
        box.setValue(10)
        box.setGroupSeparatorShown(True)
        box.setKeyboardTracking(False)
        box.setAlignment(Qt.AlignmentFlag.AlignRight)
        box.setAccessibleName("Frames of the long step")
        box.setToolTip("Number of frames of the long step, and of the long step back")
        box.valueChanged.connect(self._take_step_frames)
        RangeNote(box)
        _fit_step_box(box)
        return box

    @Slot(int)
    def _take_step_frames(self, count: int) -> None:
        _fit_step_box(self.step_box)
        self._forget_widths()
        self.step_frames_changed.emit(count)

    def _make_menu_button(self, action_ids: tuple[str, ...], name: str) -> QToolButton:
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        for action_id in action_ids:
            menu.addAction(self._actions[action_id])
        button = menu_button("", name, menu)
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setAccessibleName(name)
        return button

    def _make_time_label(self) -> QLabel:
        label = QLabel()
        font = QFont(label.font())
        font.setBold(True)
        label.setFont(font)
        label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        label.setMinimumWidth(label.fontMetrics().horizontalAdvance("00:00.000") + 12)
        label.setAccessibleName("Session time")
        return label

    # ---------------------------------------------------------------- what there is room for

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and self._widths:
            self._forget_widths()

    def _forget_widths(self) -> None:
        self._widths, self._stage = (), -1
        self._fit()

    def _fit(self) -> None:
        """Show names and the field for rates as far as there is room: names go first."""
        if not self._widths:
            self._widths = tuple(self._width_at(stage) for stage in range(_STAGES))
        stage = next(
            (stage for stage, width in enumerate(self._widths) if width <= self.width()),
            _STAGES - 1,
        )
        if stage != self._stage:
            self._show_stage(stage)

    def _width_at(self, stage: int) -> int:
        self._show_stage(stage)
        layout = self.layout()
        assert layout is not None
        layout.invalidate()
        return layout.sizeHint().width()

    def _show_stage(self, stage: int) -> None:
        self._stage = stage
        style = Qt.ToolButtonStyle.ToolButtonIconOnly
        if stage == 0:
            style = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        for button, texts in self._labelled.items():
            button.setMinimumWidth(0)
            button.setToolButtonStyle(style)
            if stage == 0:
                # As wide as the longest of its texts, so that nothing moves with another.
                button.setMinimumWidth(max(_width_saying(button, text) for text in texts))
        self.rates.entry.setVisible(stage < _STAGES - 1)

    # ---------------------------------------------------------------- the session

    def connect_bridge(self, bridge: SessionBridge) -> None:
        self._bridge = bridge
        pace = PacedRefresh(self, bridge.pace)
        pace.due.connect(self.show_numbers)
        bridge.refreshed.connect(pace.request)
        bridge.playhead_changed.connect(pace.request)
        bridge.status_changed.connect(self._show_status)
        bridge.session_changed.connect(self._take_session)
        bridge.selection_changed.connect(self._show_status)
        self.rates.rate_requested.connect(self._request_rate)
        self._previewer = Previewer(bridge, self)
        self.rates.entry.textChanged.connect(self._preview_rate)
        self.rates.entry.editingFinished.connect(self._previewer.hide)
        self._take_session(bridge.session)

    @property
    def step_frames(self) -> int:
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
        bridge = self._bridge
        session = bridge.session if bridge is not None else None
        if session is None:
            self._show_nothing()
            return
        assert bridge is not None, "it has the session"
        # A scene runs on while the window looks back; of a file, nothing else is shown.
        shown = bridge.shown if session.is_recorded else session.timeline
        self._show_time(session, shown)
        self._show_rates(session, shown)
        self._show_frame_rate(session, shown)
        self._show_recorder(session.recorder)

    def _show_nothing(self) -> None:
        for control in self._controls:
            control.setEnabled(False)
        say(self.time_label, "--:--.---")
        self.time_label.setToolTip(_SESSION_TIME)
        say(self.fps_button, _NO_FPS)
        self._show_recorder(None)

    def _show_time(self, session: Session, shown: Timeline) -> None:
        say(self.time_label, format_instant(shown.at_ns))
        tip = _SESSION_TIME
        if session.is_recorded:
            end = format_instant(session.timeline.at_ns)
            tip = f"The instant that is shown; the {file_word(session)} ends at {end}"
        if tip != self.time_label.toolTip():
            self.time_label.setToolTip(tip)

    def _show_rates(self, session: Session, shown: Timeline) -> None:
        can = frozenset[Capability]() if self._bridge is None else self._bridge.capabilities
        clock = shown.clocks.get(self._driven_clock())
        whose = "Rate of the root clock"
        if clock is not None and clock.parent_id:
            whose = f"Rate of “{one_line(clock.name)}”"
        reason = session.why_not(Capability.RATE, 0 if clock is None else clock.id)
        if session.is_recorded:
            reason = NOT_CHANGED.format(file_word(session))
        self.rates.setEnabled(clock is not None and Capability.RATE in can and not reason)
        self.rates.show_name(whose, f"Unavailable: {reason}." if reason else "")
        if clock is not None:
            self.rates.show_rate(clock.rate)
            self.rates.show_clock(one_line(clock.name))

    def _driven_clock(self) -> int:
        return 0 if self._bridge is None else driven_clock(self._bridge)

    def _show_frame_rate(self, session: Session, shown: Timeline) -> None:
        measured = None if samples_of(session) else measured_frame_rate(shown)
        is_running = session.status.phase is SessionPhase.RUNNING or session.is_recorded
        is_measured = is_running and measured is not None
        text = f"{measured:,.1f} fps" if is_measured else _NO_FPS
        if text != self.fps_button.text():
            say(self.fps_button, text)
            target = f"Target {frame_rate_to_text(session.frame_rate)} fps"
            got = f"; {measured:,.2f} fps over the last second of real time" if is_measured else ""
            tip = f"{target}{got}.\nClick to choose."
            if session.is_recorded:
                tip = "Frames per second at the instant that is shown, over the second before it"
            self.fps_button.setToolTip(as_plain(tip))

    def _show_recorder(self, recorder: Recorder | None) -> None:
        path = None if recorder is None else recorder.path
        button, action = self.record_button, self._actions["record"]
        text = "Record" if path is None else "Recording"
        if text != action.iconText():
            action.setIconText(text)
            self._show_record_icon(is_recording=path is not None)
        if recorder is None or path is None:
            button.setAccessibleName(action.description.plain_title)
            button.setToolTip(action.toolTip())
            return
        lost = recorder.lost
        missing = (
            f"{lost:,} events came faster than they could be written."
            if lost
            else "No events are lost."
        )
        said = f"{text}, {lost:,} lost," if lost else text
        button.setAccessibleName(f"{said} to {path.name}; press to stop")
        size, cost = _size_text(path), recorder.picture_cost
        pictures = f"\nPictures of the scene take {cost}." if cost else ""
        button.setToolTip(
            as_plain(f"Recording to {path}, {size} so far.{pictures}\n{missing}\nClick to stop.")
        )

    # ---------------------------------------------------------------- requests

    @Slot(object)
    def _request_rate(self, rate: Fraction) -> None:
        if self._bridge is not None and (clock_id := self._driven_clock()):
            self._bridge.submit(rate_command(clock_id, rate))

    @Slot(str)
    def _preview_rate(self, text: str) -> None:
        bridge, previewer, entry = self._bridge, self._previewer, self.rates.entry
        if bridge is None or previewer is None:
            return
        clock_id = self._driven_clock() if entry.isModified() else 0
        command = typed_rate_command(clock_id, text) if clock_id else None
        previewer.consider(command, partial(global_rect, entry))

    # ---------------------------------------------------------------- looks

    @Slot()
    def _apply_theme(self) -> None:
        self.export_button.setIcon(self._theme.icon("export"))
        recorder = (
            None
            if self._bridge is None or self._bridge.session is None
            else (self._bridge.session.recorder)
        )
        self._show_record_icon(is_recording=recorder is not None and recorder.is_recording)

    def _show_record_icon(self, *, is_recording: bool) -> None:
        red, faint = self._theme.color(ColorRole.RED), self._theme.color(ColorRole.MUTED)
        icon = drawn_icon("record", red, faint) if is_recording else self._theme.icon("record")
        self._actions["record"].setIcon(icon)


def _width_saying(button: QToolButton, text: str) -> int:
    now = button.text()
    button.setText(text)
    width = button.sizeHint().width()
    button.setText(now)
    return width


def _fit_step_box(box: QSpinBox) -> None:
    digits = max(len(f"{box.value():,}"), 3)
    box.setFixedWidth(box.fontMetrics().horizontalAdvance("0" * digits) + _BESIDE_NUMBER)


def _size_text(path: Path) -> str:
    try:
        return f"{path.stat().st_size / _BYTES_PER_MIB:.1f} MiB"
    except OSError:
        # Such as a disk that is gone; the recorder will report it.
        return "of unknown size"
