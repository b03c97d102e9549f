"""The bridge between one session and all panels: refreshes, commands, what is selected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from threading import get_ident
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from inspector.clocks.failures import FailurePolicy
from inspector.clocks.sources.time_source import TimeSource
from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.command import Capability, Command
from inspector.commands.scene import Reload, SetFailurePolicy
from inspector.errors import ColumnChoiceError, InspectorError, SumsError
from inspector.events.conditions.breakpoint import Breakpoint
from inspector.events.log import EventLog
from inspector.events.timeline import Timeline
from inspector.foreign.paths import is_recording_name, is_scene_name
from inspector.sessions.session import (
    AttachesPrograms,
    Session,
    SessionPhase,
    SessionStatus,
    ShowsLoops,
    StepsAside,
)
from inspector.sessions.sources.time_sources import TIME_SOURCES, make_source
from inspector.timebase import NS_PER_MS, NS_PER_SECOND

from .annotation_editor import AnnotationEditor
from .budgets import ShownBudgets
from .frame_focus import FrameFocus
from .opening import (
    attached_session,
    captured_session,
    hosted_session,
    is_rewound,
    qt_source,
    real_source,
    recorded_session,
)
from .playhead import Playhead
from .qt_time_source import Precision, QtTimeSource
from .refresh_timer import QUIET_REFRESH_MS, REFRESH_MS, RefreshTimer
from .selection import Selection, SelectionKind, is_same_thing

if TYPE_CHECKING:
    from inspector.sessions.attached.doors.door import Door

__all__ = ["QUIET_REFRESH_MS", "REFRESH_MS", "Selection", "SelectionKind", "SessionBridge"]

#: Commands that change what panels show end a look back: they take effect at the present.
_SHOWN_IN_PANELS: Final = frozenset(
    {Capability.PAUSE, Capability.RATE, Capability.TIMERS, Capability.MEMBERS}
)

_NOTHING: Final = frozenset[Capability]()
#: How often the events of programs are taken in while the window is hidden.
_UNSEEN_MS: Final = 200
#: How often facts_due is emitted while only time passes.
_FACTS_MS: Final = 200
_NO_SESSION: Final = SessionStatus(SessionPhase.EMPTY, "No scene is open.")


class SessionBridge(QObject):
    """Holds the session that the window shows, and what all panels share.

    It refreshes at most 30 times a second: while the session runs or is written to a file,
    and after a command until a refresh finds nothing new. With the session held, or with
    the window hidden, nothing runs.

    :meth:`submit` and :meth:`request_refresh` may be called from any thread.
    """

    # There is another session or timeline, or none: everything must be read again. Also emitted
    # after a reload, and when events left the log before they were read.
    session_changed = Signal(object)  # Session | None
    window_closing = Signal()  # The window is closing, and the session ends with it
    refreshed = Signal(object)  # int: the timeline has moved on; by how many events
    # Like refreshed, but only five times a second while only time passes: for what is not animated
    facts_due = Signal()
    status_changed = Signal(object)  # SessionStatus: what the session is doing has changed
    loading_changed = Signal(object)  # Path | None: the code of a scene begins or ends to load
    # A command was submitted to the session; emitted in the thread that submitted it
    command_submitted = Signal(object)  # Command
    selection_changed = Signal(object)  # Selection: something else is selected
    # The instant under the pointer, in session nanoseconds
    hover_changed = Signal(object)  # int | None
    # The clock, timer or member under the pointer in some panel
    pointed_changed = Signal(object)  # Selection
    following_changed = Signal(bool)  # Whether plots follow the newest frame
    # The frame times to compare with, in milliseconds
    budgets_changed = Signal(object)  # tuple[float, ...]
    precision_changed = Signal(object)  # Precision: how hard the time source tries to be on time
    # Panels now show the state at another instant: session nanoseconds, or None for the present
    playhead_changed = Signal(object)  # int | None
    # Why a file could not be opened, while the session goes on
    opening_failed = Signal(object)  # SessionStatus
    # The title of a session that was closed while its programs run on
    left_running = Signal(str)
    # The user has to choose a column of a table: the file, and the names of the columns
    column_wanted = Signal(object, object)  # Path, tuple[str, ...]
    # A file that was to be opened has sums of zones instead of instants
    sums_found = Signal(object)  # Path
    action_wanted = Signal(str)  # A panel wants an action of the window to be carried out; its id
    panel_wanted = Signal(str)  # A panel should be shown; its id
    rows_limited = Signal(str)

    _present_requested = Signal()

    def __init__(
        self,
        *,
        make_source: Callable[[Precision], TimeSource] | None = None,
        make_session: Callable[[Path, TimeSource], Session] | None = None,
        clock: Callable[[], int] = perf_counter_ns,
    ) -> None:
        """Begin without a session.

        Scenes run on the Qt event loop and in this process unless ``make_source`` and
        ``make_session`` say otherwise. The clock measures what refreshing costs.
        """
        super().__init__()
        # What follows a failure in scenes that are opened from now on
        self.failure_policy = FailurePolicy.CONTINUE
        # The key of the session in the settings: the absolute path of its file, else its first
        # title; empty without a session
        self.source_name = ""
        # The breakpoints of sessions by source_name, the newest last
        self.kept_breakpoints: dict[str, tuple[Breakpoint, ...]] = {}
        # Choices that panels keep for the next start, by a key of the panel
        self.panel_choices: dict[str, str] = {}
        self.time_source = "system"  # Name of the time source of scenes that are opened from now on
        self._breakpoints_version = 0
        self._entries = _Entries()
        self._owner = get_ident()
        self._make_source = make_source
        self._make_session = make_session
        self.session: Session | None = None
        # The capabilities of the session as of the last refresh; none without a session
        self.capabilities = _NOTHING
        self._source: TimeSource | None = None
        self._scene_path: Path | None = None
        self._door: Door | None = None
        self.loading: Path | None = None  # The scene whose code is being loaded, None for none
        self._unseen = QTimer(self)
        self._unseen.setInterval(_UNSEEN_MS)
        self._unseen.timeout.connect(self._refresh_unseen)
        self._problem: SessionStatus | None = None
        self.status = _NO_SESSION
        self._empty = Timeline([""])
        # The timeline of the session as of the last refresh, or an empty one; it stays the same
        # object from one session_changed to the next
        self.timeline = self._empty
        self._log: EventLog | None = None
        self.selection = Selection()
        self.hover_ns: int | None = None
        self.pointed = Selection()
        self.is_following = True
        self.budgets = ShownBudgets()  # Frame times to compare with
        self.precision = Precision.ECONOMICAL
        self.refresh_timer = RefreshTimer(self, clock=clock)
        self.refresh_timer.due.connect(self._refresh_in_turn)
        self._was_following: bool | None = None
        self._frames_seen = self._commands_seen = self._facts_due_ns = 0
        self.annotations = AnnotationEditor(self)
        self.frame_focus = FrameFocus(self)
        self.playhead = Playhead(self, queue_turn=self.refresh_timer.queue_turn)
        self.playhead.changed.connect(self._note_move)
        self.playhead.changed.connect(self.playhead_changed)
        self._present_requested.connect(self.go_live)

    # ------------------------------------------------------------ the session

    @property
    def budgets_ms(self) -> tuple[float, ...]:
        """Frame times to compare with, in milliseconds, the most important first."""
        return self.budgets.shown_ms

    @property
    def is_behind(self) -> bool:
        """Whether the session has begun another log since the last refresh.

        What panels have read is of the one before, until :attr:`session_changed`.
        """
        return self.session is not None and self.session.log is not self._log

    def accepts(self, command: Command) -> bool:
        return not self.why_not(command)

    def why_not(self, command: Command) -> str:
        session = self.session
        if session is None:
            return "no scene is open"
        reason = session.why_not(command.capability, command.clock_about(self.timeline))
        if not reason and command.capability not in self.capabilities:
            reason = "not possible in this session"
        return reason

    def open_path(self, path: Path) -> None:
        """Open a file in place of the session: a scene, a recording, or else a capture.

        What cannot be opened leaves the session alone, see :attr:`opening_failed`; with no
        session that could go on it ends in :attr:`status`.
        """
        if is_scene_name(path):
            self.open_scene(path)
            return
        if not is_recording_name(path):
            self.open_capture(path)
            return
        try:
            session = recorded_session(path)
        except (InspectorError, OSError) as error:
            self._fail_to_open(path, _failed(path, error))
        else:
            self._replace_session(path, session)

    def open_door(self, door: Door) -> None:
        """Attach to a program in place of the session; :attr:`status` says what becomes of it."""
        try:
            session = attached_session(door, self.refresh_timer.expect_news)
        except InspectorError as error:
            self.opening_failed.emit(SessionStatus(SessionPhase.FAILED, str(error)))
            return
        self.set_session(session)
        self._door = door

    def open_capture(self, path: Path, column: str | None = None) -> None:
        """Open a capture, see :meth:`open_path`; for its column see :attr:`column_wanted`."""
        try:
            session = captured_session(path, column)
        except ColumnChoiceError as error:
            self.column_wanted.emit(path, error.columns)
        except SumsError:
            self.sums_found.emit(path)
        except (InspectorError, OSError) as error:
            self._fail_to_open(path, _failed(path, error))
        else:
            self._replace_session(path, session)

    def open_scene(self, path: Path) -> None:
        former = _scene_session(self.session)
        kind = real_source(self.time_source)
        source = host = (self._make_source or qt_source)(self.precision)
        if former is not None:
            former.set_aside()
        self._set_loading(path)
        try:
            with self._entries, TIME_SOURCES.guarding(kind):
                source = make_source(kind, host)
                session = (self._make_session or self._host)(path, source)
        except (InspectorError, OSError) as error:
            source.close()
            self._fail_to_open(path, _failed(path, error), former)
            return
        except BaseException:
            # Ctrl+C, for example: the former session goes on.
            if former is not None:
                former.put_back()
            raise
        finally:
            self._set_loading(None)
        if self._can_go_on and session.status.phase is SessionPhase.FAILED:
            status = session.status
            session.close()
            self._fail_to_open(path, status, former)
            return
        self._replace_session(path, session, host)

    def _set_loading(self, path: Path | None) -> None:
        self.loading = path
        self.loading_changed.emit(path)

    def _replace_session(
        self, path: Path, session: Session | None, source: TimeSource | None = None
    ) -> None:
        self._drop_session()
        self._scene_path = path
        self._source = source
        if isinstance(source, QtTimeSource):
            self.refresh_timer.until_wake_ns = source.until_wake_ns
            source.on_exit = self.refresh_timer.come_with_frame
            source.on_entry = self._entries.on_entry
        self._adopt(session)

    @property
    def _can_go_on(self) -> bool:
        """Whether there is a session that is worth keeping."""
        session = self.session
        return session is not None and session.status.phase is not SessionPhase.FAILED

    def _fail_to_open(
        self, path: Path, problem: SessionStatus, former: StepsAside | None = None
    ) -> None:
        if self._can_go_on:
            if former is not None:
                former.put_back()
            self.opening_failed.emit(problem)
            return
        self._drop_session()
        self._scene_path = path
        self._problem = problem
        self._adopt(None)

    def set_session(self, session: Session | None) -> None:
        if session is self.session and session is not None:
            return
        self._drop_session()
        self._scene_path = None
        self._adopt(session)

    def close(self) -> None:
        """Close the session; nothing runs afterwards."""
        self.set_session(None)

    def reload(self) -> None:
        """Reload the scene or attach again; what could not be opened at all is tried again."""
        if self._door is not None:
            self.open_door(self._door)
        elif self.session is not None:
            self.submit(Reload())
        elif self._scene_path is not None:
            self.open_path(self._scene_path)

    def submit(self, command: Command) -> None:
        """Ask the session for something, from any thread; without one, do nothing."""
        session = self.session
        if session is None:
            return
        if isinstance(command, SetFailurePolicy):
            self.failure_policy = command.policy
        if get_ident() == self._owner:
            with self._entries:
                session.submit(command)
        else:
            session.submit(command)
        self.command_submitted.emit(command)
        if command.capability in _SHOWN_IN_PANELS & self.capabilities:
            self._present_requested.emit()
        self.request_refresh()

    def scene_entry(self) -> int | None:
        """Return a number that differs for each stay in the session, ``None`` outside of it.

        During a stay, code of the scene may be running in the window's thread. May be called from
        any thread.
        """
        source = self._source
        if isinstance(source, QtTimeSource) and source.is_waking:
            return -source.wakes
        entries = self._entries
        return entries.count if entries.depth else None

    def notify_of_entries(self, on_entry: Callable[[], None]) -> None:
        """Call ``on_entry`` whenever :meth:`scene_entry` begins to return something."""
        self._entries.on_entry = on_entry
        if isinstance(self._source, QtTimeSource):
            self._source.on_entry = on_entry

    def record_so_far(self) -> None:
        """Write everything that has happened so far to the recording, even during a callback."""
        session = self.session
        if session is None or session.recorder is None:
            return
        if session.status.phase not in {SessionPhase.EMPTY, SessionPhase.FAILED}:
            session.recorder.pump(at_once=True)

    # --------------------------------------------------------------- refreshes

    def request_refresh(self) -> None:
        """Ask for a refresh of the window soon; from any thread."""
        self.refresh_timer.request()

    @Slot()
    def refresh_now(self) -> None:
        self._facts_due_ns = 0
        self._refresh_in_turn()

    @Slot()
    def _refresh_in_turn(self) -> None:
        if self.session is None:
            return
        self.refresh_timer.begin_turn()
        events = self._poll_session(self.session)
        self._note_frames(self.session)
        self.refreshed.emit(events)
        self.refresh_timer.ask_followers()
        self._emit_facts_due()
        self._update_status()
        self.refresh_timer.end_turn(has_news=bool(events))

    def _emit_facts_due(self) -> None:
        commands, now_ns = len(self.timeline.commands), self.refresh_timer.now_ns()
        is_soon = now_ns < self._facts_due_ns and self.refresh_timer.phase is SessionPhase.RUNNING
        if not is_soon or commands != self._commands_seen:
            self._commands_seen, self._facts_due_ns = commands, now_ns + _FACTS_MS * NS_PER_MS
            self.facts_due.emit()

    # ------------------------------------------------- what all panels share

    @Slot(object)
    def select(self, selection: Selection) -> None:
        if selection != self.selection:
            self.selection = selection
            self.selection_changed.emit(selection)

    def reveal_frame(self, frame: int) -> None:
        """Select a frame, and bring it into view if it is not."""
        self.select(Selection.frame(frame))
        start, stop = self.frame_focus.visible
        frames = self.timeline.frames
        if start <= frame < stop or not frames.first <= frame < frames.end:
            return
        half = max((stop - start) // 2, 1)
        edges = (max(frame - half, frames.first), min(frame + half, frames.end - 1))
        self.annotations.span_wanted.emit(tuple(frames.frame(edge).at_ns for edge in edges))

    def limit_rows(self, words: str) -> None:
        """Have lanes and timers show only those with these words, empty for all."""
        self.rows_limited.emit(words)

    @Slot(object)
    def set_hover(self, at_ns: int | None) -> None:
        if at_ns != self.hover_ns:
            self.hover_ns = at_ns
            self.hover_changed.emit(at_ns)

    @Slot(object)
    def point_at(self, thing: Selection) -> None:
        """Mark in all panels what is under the pointer; the selection stays."""
        if thing != self.pointed:
            self.pointed = thing
            self.pointed_changed.emit(thing)

    @Slot(bool)
    def set_following(self, is_following: bool) -> None:  # noqa: FBT001 - a slot
        if is_following != self.is_following:
            self.is_following = is_following
            self.following_changed.emit(is_following)

    @Slot(object)
    def set_budgets_ms(self, budgets_ms: Iterable[float]) -> None:
        """Choose budgets, the most important first; raises ValueError unless above 0 and finite."""
        if self.budgets.choose(budgets_ms, self.session):
            self.budgets_changed.emit(self.budgets_ms)

    @Slot(object)
    def set_precision(self, precision: Precision) -> None:
        """Choose how hard the time source tries, now and for scenes opened later."""
        if precision is self.precision:
            return
        self.precision = precision
        if isinstance(self._source, QtTimeSource):
            self._source.precision = precision
        self.precision_changed.emit(precision)

    # ------------------------------------------------------------ the playhead

    @property
    def playhead_ns(self) -> int | None:
        """The instant whose state is shown, ``None`` at the present."""
        return self.playhead.at_ns

    @property
    def shown_ns(self) -> int:
        """The instant whose state is shown: that of the playhead, else the present."""
        at_ns = self.playhead.at_ns
        return self.timeline.at_ns if at_ns is None else at_ns

    @property
    def shown(self) -> Timeline:
        """The state to show: that at the playhead, else :attr:`timeline`.

        After a short move forward it may be the same object.
        """
        return self.playhead.shown(self.timeline)

    @property
    def strings(self) -> Sequence[str]:
        return ("",) if self._log is None else self._log.strings

    @Slot(object)
    def set_playhead(self, at_ns: int | None) -> None:
        """Show the state at an instant, the nearest one that is known; ``None`` goes back.

        The session goes on meanwhile, and plots stay where they are.
        """
        if at_ns is None:
            self.go_live()
            return
        if self.session is None:
            return
        if self._was_following is None:
            self._was_following = self.is_following
            self.set_following(False)
        self.playhead.move_to(at_ns)

    def choose_loop(self, clock_id: int) -> str:
        """Show the frames of another loop; returns why that cannot be, empty if it can."""
        session: object = self.session
        if not isinstance(session, ShowsLoops):
            return ""
        at_ns = self.playhead_ns
        reason = session.choose_loop(clock_id)
        self.refresh_now()
        if at_ns is not None:
            self.set_playhead(at_ns)
        return reason

    @Slot()
    def go_live(self) -> None:
        """Show the present again; plots follow the newest frame if they did before."""
        self.playhead.move_to(None)
        was_following, self._was_following = self._was_following, None
        if was_following:
            self.set_following(True)

    # --------------------------------------------------------------- internals

    @Slot()
    def _note_move(self) -> None:
        if not (self.playhead_ns is None or self.playhead.is_playing):
            self.refresh_timer.note_move()

    def _host(self, path: Path, source: TimeSource) -> Session:
        return hosted_session(path, source, self.failure_policy)

    def _drop_session(self) -> None:
        session, self.session = self.session, None
        self._source = self._problem = self._door = None
        self._unseen.stop()
        self.refresh_timer.forget_session()
        if session is not None:
            programs = session.programs.values() if isinstance(session, AttachesPrograms) else ()
            runs_on = any(each.is_attached for each in programs)
            with self._entries:
                session.close()
            if runs_on:
                self.left_running.emit(session.title)

    def _adopt(self, session: Session | None) -> None:
        self.session = session
        self.capabilities = _NOTHING
        self.timeline = self._empty
        self._log = None
        self.playhead.use(session)
        self.annotations.use(session)
        self._was_following = None
        if session is None:
            self.source_name = ""
            self._reset_shared()
            self.session_changed.emit(None)
            self._note_budgets()
            self._update_status()
            return
        path = self._scene_path
        self.source_name = session.title if path is None else str(path.absolute())
        self.set_following(True)
        if session.breakpoints is not None:
            for breakpoint_ in self.kept_breakpoints.get(self.source_name, ()):
                session.submit(AddBreakpoint(breakpoint_, is_kept=True))
            self._breakpoints_version = session.breakpoints.version
        if session.expects_news:
            self._unseen.start()
        self.refresh_now()

    @Slot()
    def _refresh_unseen(self) -> None:
        """Take in what programs send while the window is hidden, so that they need not wait."""
        if not self.refresh_timer.is_visible:
            self.refresh_now()

    def _poll_session(self, session: Session) -> int:
        with self._entries:
            events = session.refresh()
        self.capabilities = session.capabilities
        breakpoints = session.breakpoints
        if breakpoints is not None and breakpoints.version != self._breakpoints_version:
            self._breakpoints_version = breakpoints.version
            self.kept_breakpoints.pop(self.source_name, None)
            if kept := tuple(found for _, found, _ in breakpoints.items()):
                self.kept_breakpoints[self.source_name] = kept
        timeline = session.timeline
        former, is_other_log = self.timeline, session.log is not self._log
        is_other = timeline is not former
        self.timeline = timeline
        if is_other:
            self.annotations.use(session)
            if is_other_log:
                # In another log, numbers of events and members mean other things.
                self._log = session.log
                self.playhead.use(session)
                self.go_live()
                self._reset_shared(former, timeline)
            self.session_changed.emit(session)
        self._note_budgets()
        return events

    def _note_budgets(self) -> None:
        if self.budgets.note(self.session, self.timeline):
            self.budgets_changed.emit(self.budgets_ms)

    def _note_frames(self, session: Session) -> None:
        frames = self.timeline.frames
        seen, self._frames_seen = self._frames_seen, frames.end
        is_here = not (session.is_recorded or session.expects_news)
        if not is_here or session.status.phase is not SessionPhase.RUNNING:
            self.refresh_timer.note_standstill()
            return
        start, rate = max(seen, frames.first) - frames.first, session.frame_rate
        self.refresh_timer.note_frames(
            frames.interval_ns[start:],
            # With numerator and denominator apart: fractions would take longer than all the rest.
            NS_PER_SECOND * rate.denominator / rate.numerator,
            busy_ns=sum(frames.busy_ns[start:]),
        )

    def _reset_shared(self, former: Timeline | None = None, now: Timeline | None = None) -> None:
        """Forget what refers to the former session, except what exists in the present one, too."""
        self.set_hover(None)
        self.point_at(Selection())
        is_back = (
            former is not None
            and now is not None
            and is_same_thing(self.selection, former, now, is_rewound=is_rewound(former, now))
        )
        self.select(self.selection if is_back else Selection())

    def _update_status(self) -> None:
        session = self.session
        status = (self._problem or _NO_SESSION) if session is None else session.status
        recorder = None if session is None else session.recorder
        self.refresh_timer.phase = None if session is None else status.phase
        has_news = session is not None and session.expects_news
        self.refresh_timer.is_writing = has_news or (recorder is not None and recorder.is_writing)
        if status is not self.status and status != self.status:
            self.status = status
            self.status_changed.emit(status)


class _Entries:
    """Counts when the session is entered, and how deep it is entered now."""

    __slots__ = ("count", "depth", "on_entry")

    def __init__(self) -> None:
        self.count = self.depth = 0  # How often it was and was not left; 0 outside
        self.on_entry: Callable[[], None] | None = None  # Called each time

    def __enter__(self) -> None:
        self.count += 1
        self.depth += 1
        if self.on_entry is not None:
            self.on_entry()

    def __exit__(self, *_problem: object) -> None:
        self.depth -= 1


def _scene_session(session: object) -> StepsAside | None:
    """Return the session if it runs a scene in this process."""
    return session if isinstance(session, StepsAside) else None


def _failed(path: Path, error: Exception) -> SessionStatus:
    return SessionStatus(SessionPhase.FAILED, str(error), path=str(path))
