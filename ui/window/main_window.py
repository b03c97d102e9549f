"""The main window: its shell is painted first, everything else follows in the next turn.

What the shell needs is imported here, what the rest needs in :meth:`MainWindow.complete`.
A bare Qt window takes about 100 ms to its first paint, and the shell may add a quarter
of that: so every module counts, and the namespace ``Qt``, whose first use takes 12 ms to
set up all its enumerations, is not touched before.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow

from ..actions.menus import MenuId
from ..kit.guards import guarded
from .settings import LAYOUT_VERSION

if TYPE_CHECKING:
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import (
        QCloseEvent,
        QDragEnterEvent,
        QDropEvent,
        QHideEvent,
        QPaintEvent,
        QShowEvent,
    )
    from PySide6.QtWidgets import QStackedWidget, QWidget

    from inspector.events.states import CommandRecord
    from inspector.sessions.session import Session, SessionStatus

    from ..actions.actions import ActionSet
    from ..frame_times.panel import FrameTimesPanel
    from ..kit.theme import Theme
    from ..session.bridge import SessionBridge
    from ..transport.playhead_bar import PlayheadBar
    from ..transport.transport_bar import TransportBar
    from .dialogs.scene_error import SceneErrorView
    from .extensions import ExtensionReporter
    from .handlers.session_actions import SessionActions
    from .handlers.window_actions import WindowActions
    from .key_guard import KeyGuard
    from .notice_bar import NoticeBar
    from .panel_docks import PanelDocks
    from .settings import Settings, SettingsFile

if not TYPE_CHECKING:

    def override(method: object) -> object:
        """Stand in for typing_extensions, which takes 4 ms to load."""
        return method
else:
    from typing_extensions import override

_TITLE: Final = "Timeline Inspector"
_FIRST_SIZE: Final = (1280, 760)
_TRANSPORT_HEIGHT: Final = 34
_MESSAGE_MS: Final = 8_000
#: Longer messages do not fit into the status bar.
_LONGEST_MESSAGE: Final = 120
_FIELD_CLASSES: Final = ("QLineEdit", "QAbstractSpinBox", "QComboBox")
_TICK_CLASSES: Final = ("QCheckBox", "QRadioButton")
_SCENE_SUFFIXES: Final = frozenset({".py", ".pyw"})


@guarded
class MainWindow(QMainWindow):
    """Menus, transport bar, docks around the frame times, and what is kept between starts.

    Made in two steps: the constructor makes what is painted first, :meth:`complete`
    brings in actions, panels and session.

    Signals:
        painted: It was painted for the first time.
        completed: Actions and panels are there.

    Attributes:
        theme: Colours and icons.
        settings: What will be saved when it is closed.
        settings_file: Where it will be saved.
        bridge: The session and what panels share; from :meth:`complete` on, like all below.
        docks: The panels around the middle.
        actions_by_id: Every action.
        session_actions: What carries out the actions on the session.
        window_actions: What carries out the actions on the window.
        transport: The transport bar.
        playhead_bar: Says that what is shown is not the present; hidden when it is.
        notice: A line for what must not be missed.
        frame_times: The panel in the middle.
    """

    painted = Signal()
    completed = Signal()

    bridge: SessionBridge
    docks: PanelDocks
    actions_by_id: ActionSet
    session_actions: SessionActions
    window_actions: WindowActions
    transport: TransportBar
    playhead_bar: PlayheadBar
    notice: NoticeBar
    frame_times: FrameTimesPanel
    _guard: KeyGuard
    _stack: QStackedWidget
    _extension_reporter: ExtensionReporter
    # Qt asks for it while the constructor still runs.
    _is_complete = False

    def __init__(self, theme: Theme, settings_file: SettingsFile, settings: Settings) -> None:
        """Make what is painted first.

        Args:
            theme: Colours and icons.
            settings_file: Where settings are saved when the window is closed.
            settings: What was read from it.
        """
        super().__init__()
        self.setObjectName("main_window")
        self.setWindowTitle(_TITLE)
        self.setAcceptDrops(True)
        self.theme = theme
        self.settings = settings
        self.settings_file = settings_file
        self._was_painted = False
        self._error_view: SceneErrorView | None = None
        self._hold_notice = ""
        self._asked_for = Path()
        self._apply_theme()
        theme.changed.connect(self._apply_theme)
        self._top_menus = {
            menu_id: self.menuBar().addMenu(menu_id.value)
            for menu_id in MenuId
            if menu_id.parent is None
        }
        self.setCentralWidget(QLabel("   Loading the panels …"))
        self._restore_geometry()

    def _restore_geometry(self) -> None:
        try:
            geometry = bytes.fromhex(self.settings.geometry)
        except ValueError:
            geometry = b""
        if not (geometry and self.restoreGeometry(geometry)):
            room = self.screen().availableSize()
            width, height = _FIRST_SIZE
            self.resize(min(width, room.width()), min(height, room.height()))

    # ---------------------------------------------------------------- completing

    def complete(self, bridge: SessionBridge) -> None:
        """Bring in actions and panels, and show the bridge's session from now on."""
        from ..actions.panels import make_panel  # noqa: PLC0415 - after the first paint
        from .extensions import ExtensionReporter  # noqa: PLC0415 - likewise

        self.bridge = bridge
        bridge.setParent(self)
        self.theme.follow_system()
        self._adopt_settings(bridge)
        self._extension_reporter = ExtensionReporter(self)
        self._add_middle_and_docks()
        self._add_actions(bridge)
        self._add_frame_times(bridge)
        self._restore_layout()
        self.docks.make_panels(lambda panel: make_panel(panel, bridge, self.theme, self))
        bridge.session_changed.connect(self._take_session)
        bridge.status_changed.connect(self._take_status)
        bridge.budgets_changed.connect(self._take_budgets)
        bridge.opening_failed.connect(self._show_opening_failure)
        self._is_complete = True
        self._apply_field_palette()
        bridge.set_visible(self.isVisible() and not self.isMinimized())
        self._take_session(bridge.session)
        self._take_status(bridge.status)
        if self.settings_file.problem:
            self.notice.show_notice(self.settings_file.problem)
        self.completed.emit()

    def _adopt_settings(self, bridge: SessionBridge) -> None:
        from inspector.clocks.failures import FailurePolicy  # noqa: PLC0415

        from ..session.qt_time_source import Precision  # noqa: PLC0415 - both after the first paint

        bridge.failure_policy = FailurePolicy(self.settings.failure_policy)
        bridge.set_precision(Precision(self.settings.precision))
        bridge.set_budgets_ms(self.settings.budgets_ms)
        bridge.panel_choices = dict(self.settings.panel_choices)
        if self.settings.breakpoints:
            self._adopt_breakpoints(bridge)

    def _adopt_breakpoints(self, bridge: SessionBridge) -> None:
        from inspector.errors import InspectorError  # noqa: PLC0415 - after the first paint
        from inspector.sessions.breakpoints.file import breakpoints_from_json  # noqa: PLC0415

        try:
            bridge.kept_breakpoints = tuple(breakpoints_from_json(self.settings.breakpoints))
        except InspectorError as error:
            self.settings_file.problem = f"The breakpoints could not be restored. {error}"

    def _breakpoints_to_save(self) -> str:
        from inspector.sessions.breakpoints.file import breakpoints_to_json  # noqa: PLC0415

        kept = self.bridge.kept_breakpoints
        return breakpoints_to_json(kept) if kept else ""

    def _add_middle_and_docks(self) -> None:
        # All of these come after the first paint.
        from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget  # noqa: PLC0415

        from .notice_bar import NoticeBar  # noqa: PLC0415
        from .panel_docks import PanelDocks  # noqa: PLC0415

        middle = QWidget()
        self._stack = QStackedWidget()
        self.notice = NoticeBar(middle)
        layout = QVBoxLayout(middle)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.notice)
        layout.addWidget(self._stack, 1)
        self.setCentralWidget(middle)
        self.statusBar().setSizeGripEnabled(False)
        self.docks = PanelDocks(self)

    def _restore_layout(self) -> None:
        settings = self.settings
        is_known = settings.layout_version == LAYOUT_VERSION
        if not (is_known and self.docks.restore(settings.layout)):
            self.docks.arrange("live")
        # A layout may have been saved while somebody looked back.
        self.playhead_bar.hide()

    def _add_actions(self, bridge: SessionBridge) -> None:
        # All of these come after the first paint.
        from ..actions.actions import ActionSet  # noqa: PLC0415
        from ..transport.playhead_bar import PlayheadBar  # noqa: PLC0415
        from ..transport.transport_bar import TransportBar  # noqa: PLC0415
        from .failure_note import FailureNote  # noqa: PLC0415
        from .focus_ring import FocusRing  # noqa: PLC0415
        from .handlers.member_actions import MemberActions  # noqa: PLC0415
        from .handlers.recording_actions import RecordingActions  # noqa: PLC0415
        from .handlers.session_actions import SessionActions  # noqa: PLC0415
        from .handlers.window_actions import WindowActions  # noqa: PLC0415
        from .key_guard import KeyGuard  # noqa: PLC0415

        self.actions_by_id = ActionSet(self)
        self.actions_by_id.set_icons(self.theme)
        self.session_actions = SessionActions(bridge, self.actions_by_id, self.theme, self)
        self.member_actions = MemberActions(bridge, self.actions_by_id, self)
        recording = RecordingActions(bridge, self.actions_by_id, self.theme, self)
        recording.written.connect(self._show_recording)
        recording.failed.connect(self._show_recording_problem)
        self.session_actions.command_refused.connect(self._show_refusal)
        self.session_actions.place_refused.connect(self._show_place_refusal)
        self.window_actions = WindowActions(self, self._top_menus)
        self.transport = TransportBar(self.actions_by_id, self.theme, self)
        self.transport.setFixedHeight(_TRANSPORT_HEIGHT)
        self.addToolBar(self.transport)
        self.transport.connect_bridge(bridge)
        self.transport.step_frames_changed.connect(self._take_step_frames)
        self.transport.show_step_frames(self.settings.step_frames)
        self._take_step_frames(self.transport.step_frames)
        self.transport.log_clicked.connect(self._show_events)
        self.addToolBarBreak()
        find = self.session_actions.find_place
        self.playhead_bar = PlayheadBar(bridge, self.actions_by_id, find, self.theme, self)
        self.addToolBar(self.playhead_bar)
        failures = FailureNote(bridge, self.theme, self)
        failures.clicked.connect(self._show_events)
        self.statusBar().addPermanentWidget(failures)
        self._focus_ring = FocusRing(self.theme, self)
        self._guard = KeyGuard(self.actions_by_id.by_id.values(), self)
        self._guard.refused.connect(self._show_impossible)
        for window in (self, *self.docks):
            self._guard.watch(window)

    def _add_frame_times(self, bridge: SessionBridge) -> None:
        from ..actions.panels import PANELS, make_panel  # noqa: PLC0415 - after the first paint

        (middle,) = (panel for panel in PANELS if panel.area is None)
        panel = make_panel(middle, bridge, self.theme, self)
        self.frame_times = cast("FrameTimesPanel", panel)
        self._stack.addWidget(self.frame_times)

    # ---------------------------------------------------------------- what the session says

    @Slot(object)
    def _take_session(self, session: Session | None) -> None:
        if session is None:
            self.setWindowTitle(_TITLE)
            return
        kind = " (recording)" if session.is_recorded else ""
        self.setWindowTitle(f"{session.title}{kind} – {_TITLE}")
        if session.notes:
            self.notice.show_notice(" ".join(session.notes))

    @Slot(object)
    def _take_status(self, status: SessionStatus) -> None:
        from inspector.sessions.session import SessionPhase  # noqa: PLC0415 - after the first paint

        match status.phase:
            case SessionPhase.FAILED:
                self._show_error(status)
                return
            case SessionPhase.HELD if status.detail:
                self._hold_notice = status.message
                self.notice.show_notice(status.message, "Show events", self._show_events)
            case SessionPhase.RUNNING:
                self.notice.withdraw(self._hold_notice)
        self._stack.setCurrentIndex(0)

    def _show_error(self, status: SessionStatus) -> None:
        if self._error_view is None:
            from .dialogs.scene_error import SceneErrorView  # noqa: PLC0415 - rarely needed

            self._error_view = SceneErrorView(self.theme)
            self._error_view.reload_requested.connect(self.session_actions.reload)
            self._error_view.open_requested.connect(self.window_actions.open_scene)
            self._stack.addWidget(self._error_view)
        self._error_view.show_status(status)
        self._stack.setCurrentWidget(self._error_view)

    @Slot(object)
    def _show_opening_failure(self, status: SessionStatus) -> None:
        session = self.bridge.session
        goes_on = "" if session is None else f" “{session.title}” keeps running."
        text = f"{status.message}{goes_on}"
        if status.detail:
            self.notice.show_notice(text, "Show the line", lambda: self._show_failed_file(status))
        else:
            self.notice.show_notice(text)

    def _show_failed_file(self, status: SessionStatus) -> None:
        from .dialogs.scene_error import SceneErrorDialog  # noqa: PLC0415 - rarely needed

        dialog = SceneErrorDialog(status, self.theme, self)
        path = self._asked_for
        dialog.view.reload_requested.connect(lambda: self.open_path(path))
        dialog.view.open_requested.connect(self.window_actions.open_scene)
        dialog.open()

    @property
    def shown_in_middle(self) -> QWidget | None:
        """The frame times, or the error of a scene that could not be loaded."""
        return self._stack.currentWidget()

    @Slot(object)
    def _show_refusal(self, record: CommandRecord) -> None:
        reason = f"{record.refusal[:1].upper()}{record.refusal[1:]}".removesuffix(".")
        text = f"Cannot {record.text}. {reason}."
        if len(text) > _LONGEST_MESSAGE:
            # Such as what a scene did otherwise when it was to do the same again.
            self.notice.show_notice(text, "Show events", self._show_events)
        else:
            self.statusBar().showMessage(f"✖ {text}", _MESSAGE_MS)

    @Slot(str)
    def _show_impossible(self, text: str) -> None:
        self.statusBar().showMessage(f"✖ {text}.", _MESSAGE_MS)

    @Slot(str)
    def _show_place_refusal(self, reason: str) -> None:
        if self.playhead_bar.isVisible():
            self.playhead_bar.say(reason)
        else:
            self.statusBar().showMessage(f"✖ {reason}", _MESSAGE_MS)

    @Slot(object)
    def _show_recording(self, path: Path) -> None:
        self.notice.show_notice(f"Written: {path}", "Open it", lambda: self.open_path(path))

    @Slot(str)
    def _show_recording_problem(self, problem: str) -> None:
        ask = self.actions_by_id["record-to"].trigger
        self.notice.show_notice(f"Not recorded. {problem}", "Record to …", ask)

    @Slot(object)
    def _take_budgets(self, budgets_ms: tuple[float, ...]) -> None:
        self.settings = replace(self.settings, budgets_ms=tuple(budgets_ms))

    @Slot(int)
    def _take_step_frames(self, count: int) -> None:
        self.settings = replace(self.settings, step_frames=count)
        self.session_actions.step_frames = count

    @Slot()
    def _show_events(self) -> None:
        self.docks.show_panel("event_list")

    def blames_extension(self, error: BaseException) -> bool:
        """Return whether an error comes from an installed panel; the reason takes its place."""
        return self._is_complete and self.docks.blame(error)

    def report_fault(self, summary: str) -> None:
        """Say that something went wrong inside the inspector itself."""
        if self._is_complete:
            self.notice.show_notice(
                f"Internal error in the inspector: {summary}. The scene continues; see the "
                "terminal for details."
            )

    # ---------------------------------------------------------------- scenes

    def open_path(self, path: Path) -> None:
        """Open a scene or a recording in place of the session."""
        from inspector.foreign.paths import is_file  # noqa: PLC0415 - after the first paint

        if self.notice.label.text() != self.settings_file.problem:
            # What became of the settings is not about the scene before.
            self.notice.dismiss()
        if not is_file(path):
            self.settings = self.settings.without_recent_scene(str(path))
            self.notice.show_notice(
                f"{path} no longer exists.",
                "Open scene …",
                self.window_actions.open_scene,
            )
            return
        self.settings = self.settings.with_recent_scene(path)
        self._asked_for = path
        self.bridge.open_path(path)

    @override
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take a single Python file or recording."""
        if self._is_complete and _dropped_file(event) is not None:
            event.acceptProposedAction()

    @override
    def dropEvent(self, event: QDropEvent) -> None:
        """Open the file that was dropped."""
        path = _dropped_file(event)
        if self._is_complete and path is not None:
            event.acceptProposedAction()
            self.open_path(path)

    # ---------------------------------------------------------------- looks

    @Slot()
    def _apply_theme(self) -> None:
        application = cast("QApplication", QApplication.instance())
        application.setPalette(self.theme.palette())
        if self._is_complete:
            self._apply_field_palette()
            self.actions_by_id.set_icons(self.theme)

    def _apply_field_palette(self) -> None:
        for class_names, palette in (
            (_FIELD_CLASSES, self.theme.field_palette()),
            (_TICK_CLASSES, self.theme.tick_palette()),
            (("QMenu",), self.theme.menu_palette()),
        ):
            for class_name in class_names:
                # The stubs want bytes, which PySide6 itself refuses.
                QApplication.setPalette(palette, class_name)  # type: ignore[arg-type]

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._was_painted:
            self._was_painted = True
            self.painted.emit()

    # ---------------------------------------------------------------- life

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._tell_visibility()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._tell_visibility()

    @override
    def changeEvent(self, event: QEvent) -> None:
        """Let nothing refresh while the window is minimised."""
        super().changeEvent(event)
        self._tell_visibility()

    def _tell_visibility(self) -> None:
        if self._is_complete:
            self.bridge.set_visible(self.isVisible() and not self.isMinimized())

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        """Save the settings and close the session.

        Nothing is saved before everything is there and has its size: it would not be what
        anybody chose.
        """
        if self._is_complete:
            if self.docks.is_settled:
                self.settings_file.save(self._settings_to_save())
            self.bridge.close()
            self._extension_reporter.stop()
        super().closeEvent(event)

    def _settings_to_save(self) -> Settings:
        geometry = bytes(self.saveGeometry().toHex().data()).decode("ascii")
        return replace(
            self.settings,
            geometry=geometry,
            layout=self.docks.save(),
            layout_version=LAYOUT_VERSION,
            breakpoints=self._breakpoints_to_save(),
            failure_policy=self.bridge.failure_policy.value,
            precision=self.bridge.precision.value,
            panel_choices=dict(self.bridge.panel_choices),
        )


def _dropped_file(event: QDropEvent) -> Path | None:
    from inspector.foreign.paths import is_recording_name  # noqa: PLC0415 - as above

    urls = event.mimeData().urls()
    if len(urls) == 1 and urls[0].isLocalFile():
        path = Path(urls[0].toLocalFile())
        if path.suffix.lower() in _SCENE_SUFFIXES or is_recording_name(path):
            return path
    return None
