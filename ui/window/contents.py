"""The contents of the main window besides its shell; imported after the first paint."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QDropEvent, QKeyEvent
from PySide6.QtWidgets import QMenu, QStackedWidget, QStyle, QWidget

from inspector.clocks.failures import FailurePolicy
from inspector.display_text import counted, one_line
from inspector.errors import InspectorError
from inspector.events.states import CommandRecord
from inspector.foreign.paths import is_file, is_folder, is_recording_name, is_scene_name
from inspector.sessions.breakpoints.file import breakpoints_from_json, breakpoints_to_json
from inspector.sessions.hosted import HostedSession
from inspector.sessions.session import (
    AttachesPrograms,
    NamesPanels,
    Session,
    SessionPhase,
    SessionStatus,
    ShowsCapture,
    file_word,
    pictures_of,
)
from inspector.window_loader import open_beside

from ..actions.actions import ActionSet
from ..actions.panels import PANELS, make_panel
from ..bookmarks.annotation_actions import ANNOTATION_ACTIONS, AnnotationActions
from ..clock_tree.actions import BRANCH_ACTIONS, MEMBER_ACTIONS, BranchActions
from ..interventions.intervention_undo import UNDO_ACTIONS, UndoActions
from ..kit.filter_line import FilterLine
from ..kit.layouts import fill, open_menu
from ..kit.prompts import ask_for_column
from ..kit.throttled_refresh import single_shot
from ..selected.commands import submit_action
from ..session.bridge import Selection, SessionBridge
from ..session.qt_time_source import Precision
from ..session.stops import StopNotices
from ..transport.actions import TransportActions
from ..transport.recording_actions import RECORDING_ACTIONS, RecordingActions
from ..transport.transport_bar import TransportBar
from .extensions import ExtensionReporter
from .first_run import FirstRunLine
from .focus import FocusRing, KeyGuard, enter
from .handlers.action_list import ACTIONS, PROGRAM_ACTIONS, TRANSPORT_ACTIONS, WINDOW_ACTIONS
from .handlers.action_states import ActionStates
from .handlers.program_actions import ProgramActions
from .handlers.window_actions import WindowActions
from .panels.badges import Badges
from .panels.why_line import WhyLine
from .panels.window_panels import WindowPanels
from .settings import LAYOUT_VERSION, Settings
from .states import WindowStates
from .status_line import FailureNote, Notice, StatusLine

if TYPE_CHECKING:
    from ..frame_times.panel import FrameTimesPanel
    from .dialogs.scene_error import SceneErrorView
    from .main_window import MainWindow

#: Longer messages do not fit into the foot.
_LONGEST_MESSAGE: Final = 120
#: How long the view takes to slide to another place.
_SLIDE_MS: Final = 160
#: How long tray and side column take to open.
_OPENING_MS: Final = 120
_MOST_DROPPED: Final = 8
#: Within this many turns of the event loop everything is painted, and each panel refreshed.
_TURNS_TO_BEGIN: Final = 12
#: The breakpoints of at most this many scenes are kept for the next start.
_MOST_WITH_BREAKPOINTS: Final = 50
_VISIBILITY: Final = frozenset({QEvent.Type.Show, QEvent.Type.Hide, QEvent.Type.WindowStateChange})
_HEARD: Final = (
    *_VISIBILITY,
    QEvent.Type.Close,
    QEvent.Type.KeyPress,
    QEvent.Type.DragEnter,
    QEvent.Type.Drop,
)


class WindowContents(QObject):
    """Brings actions, panels and the session into the window, and shows what the session says."""

    _next_turn = Signal()

    def __init__(self, window: MainWindow, bridge: SessionBridge) -> None:
        super().__init__(window)
        self._window = window
        self._bridge = window.bridge = bridge
        self._error_view: SceneErrorView | None = None
        self._fronted: object = None
        self._source_name = ""
        self._turns_to_begin = 0
        self._needs_picture: bool | None = None
        # Not QTimer.singleShot, which keeps the window forever if it is closed before that.
        self._next_turn.connect(self._begin, Qt.ConnectionType.QueuedConnection)
        # Texts of breakpoints that could not be restored, by the path of the scene.
        self._unread_breakpoints: dict[str, str] = {}
        bridge.setParent(window)
        window.theme.follow_system()
        self._adopt_settings()
        self._extension_reporter = ExtensionReporter(window)
        self._add_panels()
        self._add_actions()
        self._add_bars()
        self._add_frame_times()
        self._restore_layout()
        window.panels.make_panels(lambda panel: make_panel(panel, bridge, window.theme, window))
        self.badges = Badges(window, bridge)
        bridge.session_changed.connect(self._on_session_changed)
        bridge.status_changed.connect(self._on_status_changed)
        bridge.facts_due.connect(self._need_lanes)
        bridge.facts_due.connect(self._need_frames)
        bridge.facts_due.connect(self._need_picture)
        bridge.budgets_changed.connect(self._keep_budgets)
        bridge.opening_failed.connect(self._report_opening_failure)
        bridge.left_running.connect(self._report_left_running)
        bridge.column_wanted.connect(self._ask_for_column)
        bridge.sums_found.connect(self._open_sums)
        bridge.panel_wanted.connect(window.panels.enter_panel)
        bridge.action_wanted.connect(self._carry_out)
        window.menu_bar.listen()
        window.is_complete = True
        window.blames_extension = self._extension_reporter.blame
        window.apply_menu_palette()
        window.hear(self._handle_event, *_HEARD)
        self._apply_visibility()
        self._on_session_changed(bridge.session)
        self._on_status_changed(bridge.status)
        for part in (window.notice, window.panels, self.first_run):
            part.keyboard_left.connect(self._give_keyboard)
        # In the next turn, when all is laid out: until then, Qt may give the keyboard to another
        # widget when it activates the window.
        single_shot(self, self._give_keyboard).start()
        if window.settings_file.problem:
            window.notice.show_lasting(window.settings_file.problem)
        window.completed.emit()

    @Slot()
    def _give_keyboard(self) -> None:
        """Give the keyboard to the frame times; Qt would choose any widget, which then gets Space.

        Needed when the window comes to the front, or the widget with the keyboard is hidden.
        """
        self._window.frame_times.plot.setFocus(Qt.FocusReason.OtherFocusReason)

    # ---------------------------------------------------------------- building

    def _add_panels(self) -> None:
        window = self._window
        middle = QWidget()
        window.middle = QStackedWidget()
        window.notice = StatusLine(self._bridge, window)
        layout = fill(middle, (window.middle, 1), spacing=0)
        window.panels = WindowPanels(window, middle, window.theme)
        window.hear(window.panels.fit, QEvent.Type.Resize, QEvent.Type.FontChange)
        window.panels.fit()
        window.setCentralWidget(window.panels.frame)
        self.window_states = WindowStates(window, layout)

    def _add_actions(self) -> None:
        window, bridge, theme = self._window, self._bridge, self._window.theme
        window.actions_by_id = actions = ActionSet(window, ACTIONS)
        window.transport_actions = TransportActions(bridge, actions, theme, window)
        self.window_actions = WindowActions(window, window.menu_bar.menus)
        self.window_states.compare_for(self.window_actions)
        self.window_actions.moved.connect(window.notice.show_text)
        self.program_actions = ProgramActions(window)
        recording = RecordingActions(bridge, actions, theme, window)
        annotations = AnnotationActions(bridge, theme, window)
        undo = UndoActions(bridge, actions)
        actions.bind(window.transport_actions, TRANSPORT_ACTIONS)
        actions.bind(self.window_actions, WINDOW_ACTIONS)
        actions.bind(self.program_actions, PROGRAM_ACTIONS)
        actions.bind(recording, RECORDING_ACTIONS)
        actions.bind(annotations, ANNOTATION_ACTIONS)
        actions.bind(undo, UNDO_ACTIONS)
        branch = BranchActions(bridge, actions, theme, window)
        actions.bind(branch, (*BRANCH_ACTIONS, *MEMBER_ACTIONS))
        actions.bind_commands(partial(submit_action, bridge))
        # So that shortcuts work whatever menu the actions are in. Each change of an action is an
        # event of the window, so without those that have none.
        window.addActions([each for each in actions.by_id.values() if each.description.shortcuts])
        recording.written.connect(self._report_recording)
        recording.failed.connect(self._report_recording_problem)
        recording.begun.connect(window.notice.show_text)
        window.transport_actions.place_refused.connect(window.notice.refuse)
        annotations.refused.connect(window.notice.refuse)
        annotations.said.connect(window.notice.show_text)
        # Says which actions are possible
        self.states = ActionStates(bridge, actions, undo, window.middle)
        self.states.command_refused.connect(self._report_refusal)

    def _add_bars(self) -> None:
        window, actions, theme = self._window, self._window.actions_by_id, self._window.theme
        window.transport = TransportBar(actions, theme, window, window.menu_bar.menus.values())
        window.transport.connect_bridge(self._bridge)
        window.panels.add_on_top(window.transport)
        window.transport_actions.step_frames_changed.connect(self._keep_step_frames)
        window.transport_actions.set_step_frames(window.settings.step_frames)
        self._keep_step_frames(window.transport_actions.step_frames)
        self.first_run = FirstRunLine(self._bridge, theme)
        self.states.command_applied.connect(self.first_run.on_command_applied)
        window.panels.add_below_column(self.first_run)
        window.panels.visibility_changed.connect(self.first_run.refresh)
        self.stops = StopNotices.of(self._bridge)
        window.why_line = WhyLine(self._bridge, window.panels, actions)
        window.panels.add_above_foot(window.why_line)
        actions.set_icons(theme)
        self.states.command_applied.connect(window.notice.show_effect)
        failures = FailureNote(self._bridge, theme, window)
        failures.clicked.connect(self._open_events)
        for widget in (window.notice, failures):
            window.panels.add_to_foot(widget)
        self._focus_ring = FocusRing(theme, window)
        self._guard = KeyGuard(actions.by_id.values(), window)
        self._guard.refused.connect(self._report_impossible)
        self._guard.pressed.connect(self._focus_ring.note_key)
        window.hear(partial(self._guard.accept_key, window), QEvent.Type.ShortcutOverride)
        for place in window.panels:
            self._guard.watch(place)

    def _add_frame_times(self) -> None:
        window = self._window
        (middle,) = (panel for panel in PANELS if panel.area is None)
        panel = make_panel(middle, self._bridge, window.theme, window)
        window.frame_times = cast("FrameTimesPanel", panel)
        if window.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration):
            window.frame_times.view.slide_ms = _SLIDE_MS
            window.panels.reveal.ms = _OPENING_MS
        window.middle.addWidget(window.panels.arrange(panel))

    # ---------------------------------------------------------------- settings

    def _adopt_settings(self) -> None:
        bridge, settings = self._bridge, self._window.settings
        bridge.failure_policy = FailurePolicy(settings.failure_policy)
        bridge.set_precision(Precision(settings.precision))
        bridge.time_source = settings.time_source
        bridge.set_budgets_ms(settings.budgets_ms)
        bridge.panel_choices = dict(settings.panel_choices)
        problems = []
        for name, text in settings.scene_breakpoints.items():
            try:
                bridge.kept_breakpoints[name] = tuple(breakpoints_from_json(text))
            except InspectorError as error:
                self._unread_breakpoints[name] = text
                problems.append(f"The breakpoints of {name} could not be restored. {error}")
        if problems:
            others = counted(len(problems) - 1, "other scene")
            more = f" Nor could those of {others}." if len(problems) > 1 else ""
            self._window.settings_file.problem = problems[0] + more

    def _restore_layout(self) -> None:
        settings = self._window.settings
        is_known = settings.layout_version == LAYOUT_VERSION
        self._window.panels.restore(settings.layout if is_known else "")

    def _settings_to_save(self) -> Settings:
        window, bridge = self._window, self._bridge
        kept = {name: breakpoints_to_json(each) for name, each in bridge.kept_breakpoints.items()}
        # Breakpoints that only another version understands stay until their scene has others.
        kept = self._unread_breakpoints | kept
        return window.settings._replace(
            geometry=bytes(window.saveGeometry().toHex().data()).decode("ascii"),
            layout=window.panels.save(),
            layout_version=LAYOUT_VERSION,
            scene_breakpoints=dict(list(kept.items())[-_MOST_WITH_BREAKPOINTS:]),
            failure_policy=bridge.failure_policy.value,
            precision=bridge.precision.value,
            time_source=bridge.time_source,
            panel_choices=dict(bridge.panel_choices),
        )

    @Slot(object)
    def _keep_budgets(self, _budgets_ms: tuple[float, ...]) -> None:
        chosen = self._bridge.budgets.chosen_ms
        self._window.settings = self._window.settings._replace(budgets_ms=chosen)

    @Slot(int)
    def _keep_step_frames(self, count: int) -> None:
        self._window.settings = self._window.settings._replace(step_frames=count)

    # ---------------------------------------------------------------- what happens to the window

    def _handle_event(self, event: QEvent) -> bool:
        """Take files that are dropped, refresh only what can be seen, and save at the end."""
        kind = event.type()
        if kind in _VISIBILITY:
            self._apply_visibility()
        elif kind is QEvent.Type.Close:
            self._close()
        elif isinstance(event, QKeyEvent):
            return event.key() == Qt.Key.Key_Escape and self._close_topmost()
        elif isinstance(event, QDropEvent):
            return self._handle_drop(event, is_over=kind is QEvent.Type.Drop)
        return False

    def _apply_visibility(self) -> None:
        window = self._window
        is_visible = window.isVisible() and not window.isMinimized()
        self._bridge.refresh_timer.set_visible(is_visible=is_visible)

    def _close_topmost(self) -> bool:
        """End what takes time, close tray or look-back, or deselect; returns if it did."""
        bridge, panels = self._bridge, self._window.panels
        if self._window.notice.break_off() or self.window_actions.put_scene_back():
            return True
        if panels.is_narrow and panels.is_column_shown:
            panels.show_column(is_shown=False)
        elif not panels.tray.isHidden():
            panels.close_tray()
        elif bridge.playhead_ns is not None:
            bridge.go_live()
        elif bridge.selection != Selection.nothing():
            bridge.select(Selection.nothing())
        else:
            return False
        return True

    def _close(self) -> None:
        """Save the settings and close the session.

        Nothing is saved before everything has its size: it would not be what the user chose.
        """
        if self._window.panels.is_settled:
            self._window.settings_file.save(self._settings_to_save())
        self._bridge.window_closing.emit()
        # Without signals: for every panel to show that there is no session would take longer
        # than all the rest.
        self._bridge.blockSignals(True)
        self._bridge.close()
        self._extension_reporter.stop()

    def _handle_drop(self, event: QDropEvent, *, is_over: bool) -> bool:
        """Accept files, and open or compare them when dropped; what cannot be opened is said."""
        dropped = _dropped(event)
        if not dropped:
            return False
        event.acceptProposedAction()
        paths = list(islice(filter(_can_open, dropped), _MOST_DROPPED))
        if is_over and not paths:
            self._window.notice.refuse(_why_not_opened(dropped[0]))
        elif is_over and self._can_compare(paths):
            self._ask_about_dropped(paths, self._window.mapToGlobal(event.position().toPoint()))
        elif is_over:
            self.window_actions.open_all(paths)
        return True

    def _can_compare(self, paths: Sequence[Path]) -> bool:
        """Whether files may be meant to be compared with what is open, or with each other."""
        session = self._bridge.session
        is_open = session is not None and session.is_recorded and len(session.timeline.frames) > 0
        return is_open and not any(map(is_scene_name, paths))

    def _ask_about_dropped(self, paths: Sequence[Path], place: QPoint) -> None:
        menu = QMenu(self._window)
        menu.setObjectName("dropped_files")
        compare = partial(self.window_actions.compare, paths)
        menu.addAction("Compare with what is open", compare)
        if len(paths) > 1:
            each_other = partial(self.window_actions.compare, paths, has_session=False)
            menu.addAction("Compare with each other", each_other)
        menu.addSeparator()
        menu.addAction("Open instead", partial(self.window_actions.open_each, paths))
        menu.addAction("Open in a new window", partial(_open_beside_all, paths))
        open_menu(menu, place)

    # ---------------------------------------------------------------- what the session says

    @Slot(object)
    def _on_session_changed(self, session: Session | None) -> None:
        self._turns_to_begin = _TURNS_TO_BEGIN
        self._begin()
        self._need_lanes()
        self._need_frames()
        self._needs_picture = None
        self._need_picture()
        if session is None:
            self._window.set_title()
            return
        kind = f" ({file_word(session)})" if session.is_recorded else ""
        if isinstance(session, AttachesPrograms):
            kind = " (attached)"
        self._window.set_title(f"{session.title}{kind}")
        self._bring_panels(session)
        self._clear_filters()
        if session.notes and not self.window_states.is_capture:
            self._window.notice.show_lasting(" ".join(session.notes))

    @Slot(object)
    def _need_picture(self, _events: int = 0) -> None:
        """Leave the place of the picture out where there is none; programs have facts there."""
        session = self._bridge.session
        pictures = pictures_of(session)
        has_one = pictures is not None and (pictures.is_described or bool(pictures.failure))
        if self._bridge.status.phase is SessionPhase.FAILED:
            has_one = has_one and self._bridge.timeline.frames.end > 0
        is_needed = has_one or isinstance(session, AttachesPrograms)
        if is_needed is not self._needs_picture:
            # Only when this changes: the user may open the panel even without a picture.
            self._needs_picture = is_needed
            self._window.panels.need("scene", is_needed=is_needed)

    @Slot()
    def _begin(self) -> None:
        """Begin session time anew until the window is painted, or the first frame takes so long."""
        session = self._bridge.session
        if isinstance(session, HostedSession) and self._turns_to_begin:
            self._turns_to_begin -= 1
            session.begin()
            self._next_turn.emit()

    def _bring_panels(self, session: object) -> None:
        """Open the panels that a scene names when it is opened; leave them be when it reloads."""
        if session is self._fronted:
            return
        self._fronted = session
        named = session.front_panels if isinstance(session, NamesPanels) else ()
        by_title = {each.title.lower(): each.id for each in PANELS}
        unknown = [f"“{one_line(each)}”" for each in named if each.lower() not in by_title]
        if unknown:
            text = f"The scene names no panel of this window: {', '.join(unknown)}."
            self._window.notice.refuse(text)
        self._window.panels.bring(
            [by_title[each.lower()] for each in named if each.lower() in by_title]
        )

    def _clear_filters(self) -> None:
        """Clear what panels were filtered by once another scene is open; a reload leaves it."""
        former, self._source_name = self._source_name, self._bridge.source_name
        if former == self._source_name:
            return
        for place in self._window.panels:
            for line in place.findChildren(FilterLine):
                line.clear()

    @Slot(object)
    def _need_lanes(self, _events: int = 0) -> None:
        """Show the lanes only where there are clocks, and of a capture only if it has more."""
        timeline, place = self._bridge.timeline, self._window.panels.in_middle
        # A capture of frames alone has one clock, and nothing on it.
        is_needed = len(timeline.clocks) > 1 or bool(timeline.members.by_id)
        if not isinstance(self._bridge.session, ShowsCapture):
            # Without clocks and frames, the lanes say that there are none.
            is_needed = bool(timeline.clocks) or not timeline.frames.end
        if place.is_wanted and place.isHidden() is is_needed:
            has_keyboard = place.isAncestorOf(self._window.focusWidget())
            place.need(is_needed=is_needed)
            if has_keyboard:
                self._give_keyboard()

    @Slot(object)
    def _need_frames(self, _events: int = 0) -> None:
        """Show the plot of frame times of a program once it has run a frame."""
        session, panel = self._bridge.session, self._window.frame_times
        lanes = self._window.panels.in_middle
        is_program = isinstance(session, AttachesPrograms)
        is_needed = bool(self._bridge.timeline.frames.end) or not (is_program and lanes.is_wanted)
        if panel.has_frames is is_needed:
            return
        has_keyboard = panel.isAncestorOf(self._window.focusWidget())
        panel.show_frames(are_shown=is_needed)
        if has_keyboard and not is_needed:
            enter(lanes.widget())

    @Slot(object)
    def _on_status_changed(self, status: SessionStatus) -> None:
        notice = self._window.notice
        session: object = self._bridge.session
        about_end = session.about_end if isinstance(session, AttachesPrograms) else ""
        match status.phase:
            case SessionPhase.FAILED:
                self._open_error(status)
                return
            case SessionPhase.ENDED:
                notice.show_lasting(status.message, ("Open again", self._bridge.reload))
            case _ if about_end:
                notice.show_lasting(about_end)
        if self._window.middle.currentWidget() is self._error_view:
            self._window.middle.setCurrentIndex(0)

    def _open_error(self, status: SessionStatus) -> None:
        if self._error_view is None:
            self._error_view = self.window_actions.dialogs.error_view()
            self._window.middle.addWidget(self._error_view)
        self._error_view.set_status(status)
        self._window.middle.setCurrentWidget(self._error_view)

    @Slot(object)
    def _report_opening_failure(self, status: SessionStatus) -> None:
        session = self._bridge.session
        stays = "stays open" if session is not None and session.is_recorded else "keeps running"
        goes_on = "" if session is None else f" “{session.title}” {stays}."
        text = f"{status.message}{goes_on}"
        if status.detail:
            show = partial(self._open_failed_file, status)
            self._window.notice.show_lasting(text, ("Show the line", show))
        else:
            self._window.notice.show_lasting(text)

    @Slot(str)
    def _report_left_running(self, title: str) -> None:
        self._window.notice.show_text(f"{title} runs on without the inspector.")

    @Slot(object, object)
    def _ask_for_column(self, path: Path, columns: tuple[str, ...]) -> None:
        ask_for_column(path, columns, partial(self._bridge.open_capture, path), self._window)

    @Slot(object)
    def _open_sums(self, path: Path) -> None:
        self.window_actions.dialogs.open_sums(path)

    def _open_failed_file(self, status: SessionStatus) -> None:
        self.window_actions.dialogs.open_failed_file(status, self._window.opened_last)

    @Slot(object)
    def _report_refusal(self, record: CommandRecord) -> None:
        reason = f"{record.refusal[:1].upper()}{record.refusal[1:]}".removesuffix(".")
        text = f"Cannot {record.text}. {reason}."
        if len(text) > _LONGEST_MESSAGE:
            # For example, what a scene did differently when it was run again.
            self._window.notice.show_lasting(text, ("Show events", self._open_events))
        else:
            self._window.notice.refuse(text)

    @Slot(str)
    def _report_impossible(self, text: str) -> None:
        self._window.notice.refuse(f"{text}.")

    @Slot(str)
    def _carry_out(self, action_id: str) -> None:
        self._window.actions_by_id[action_id].trigger()

    @Slot(object)
    def _report_recording(self, path: Path) -> None:
        window = self._window
        open_it = "Open it", str(path), partial(window.open_path, path)
        window.notice.set_notice(Notice(f"Written: {path.name}", (open_it,)))

    @Slot(str)
    def _report_recording_problem(self, problem: str) -> None:
        ask = self._window.actions_by_id["record-to"].trigger
        self._window.notice.show_lasting(f"Not recorded. {problem}", ("Record to …", ask))

    @Slot()
    def _open_events(self) -> None:
        self._window.panels.enter_panel("event_list")


def _dropped(event: QDropEvent) -> list[Path]:
    return [Path(each.toLocalFile()) for each in event.mimeData().urls() if each.isLocalFile()]


def _can_open(path: Path) -> bool:
    return is_scene_name(path) or is_recording_name(path) or is_file(path)


def _why_not_opened(path: Path) -> str:
    what = "a folder" if is_folder(path) else "not a file"
    return f"“{one_line(path.name)}” is {what}. Drop scenes, recordings or captures."


def _open_beside_all(paths: Sequence[Path]) -> None:
    for path in paths:
        open_beside(path)
