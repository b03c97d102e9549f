"""The actions that speak to the session: each becomes commands, or a request to the bridge."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal, Slot

from inspector.analysis.places import PlaceError, Places
from inspector.clocks.failures import FailurePolicy
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.command import Capability
from inspector.commands.scene import AddMark, RewindTo, SetFailurePolicy, SetFrameRate, StepBack
from inspector.commands.timers import ClearTimer, FireTimer
from inspector.commands.transport import Hold, Run, StepBy, StepFrames, StepTo, StepToNextTimer
from inspector.commands.undoing import Undo
from inspector.display_text import one_line
from inspector.sessions.session import SessionPhase

from ...actions.descriptions import Facts, Needs
from ...bookmarks.annotation_actions import AnnotationActions
from ...interventions.intervention_undo import LastUndoable, undo_text
from ...kit.rate_slider import next_usual_rate
from ...previews.member_needs import member_needs
from ...session.bridge import SelectionKind
from ...session.qt_time_source import Precision

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.commands.command import Command
    from inspector.events.states import ClockState, CommandRecord
    from inspector.events.timeline import Timeline
    from inspector.sessions.session import Session

    from ...actions.actions import ActionSet
    from ...kit.theme import Theme
    from ...session.bridge import SessionBridge

_NEEDED_CAPABILITIES: Final = {
    Needs.TRANSPORT: Capability.TRANSPORT,
    Needs.STEP: Capability.STEP,
    Needs.ROOT_RATE: Capability.RATE,
    Needs.FRAME_RATE: Capability.FRAME_RATE,
    Needs.FAILURE_POLICY: Capability.FAILURE_POLICY,
    Needs.MARK: Capability.MARK,
    Needs.RELOAD: Capability.RELOAD,
    Needs.RECORD: Capability.RECORD,
    Needs.CLOCK_PAUSE: Capability.PAUSE,
    Needs.CLOCK_RATE: Capability.RATE,
    Needs.TIMER: Capability.TIMERS,
    Needs.PAUSABLE_MEMBER: Capability.MEMBERS,
    Needs.CALL: Capability.MEMBERS,
    Needs.SCHEDULER: Capability.MEMBERS,
    Needs.MACHINE: Capability.MEMBERS,
    Needs.UNDO: Capability.UNDO,
    Needs.REWIND: Capability.REWIND,
    Needs.REWIND_TO_PLAYHEAD: Capability.REWIND,
}
#: What takes the place of running and stepping where nothing can run: moving the playhead.
_PLAYED_NEEDS: Final = frozenset({Needs.TRANSPORT, Needs.STEP, Needs.REWIND})


class SessionActions(QObject):
    """Carries out actions on the bridge's session and keeps their state up to date.

    In a session that cannot run, such as a recording, what runs and steps otherwise
    moves the playhead.

    Attributes:
        step_frames: Number of frames of the long step.

    Signals:
        command_refused: A command was refused; its record.
        place_refused: The playhead cannot be moved there; why, as a sentence.
    """

    command_refused = Signal(object)  # CommandRecord
    place_refused = Signal(str)

    def __init__(
        self,
        bridge: SessionBridge,
        actions: ActionSet,
        theme: Theme,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self.step_frames = 10
        self._bridge = bridge
        self._actions = actions
        self._timeline: Timeline | None = None
        self._session: Session | None = None
        self._commands_seen = 0
        self._newest_command = 0
        self._last_undoable = LastUndoable()
        self._undoable: CommandRecord | None = None
        actions.bind(self)
        self.annotation_actions = AnnotationActions(bridge, actions, theme, parent)
        self.annotation_actions.refused.connect(self.place_refused)
        bridge.session_changed.connect(self._take_session)
        bridge.refreshed.connect(self._take_news)
        bridge.status_changed.connect(self._take_news)
        bridge.selection_changed.connect(self._take_news)
        bridge.playhead_changed.connect(self._take_news)
        bridge.playhead.playing_changed.connect(self._take_news)
        bridge.following_changed.connect(self._actions["follow"].show_checked)
        bridge.precision_changed.connect(self._show_precision)
        self._actions["follow"].show_checked(bridge.is_following)
        self._show_precision(bridge.precision)
        self._take_session(None)

    # ---------------------------------------------------------------- time

    def toggle_running(self) -> None:
        """Hold a running session or a long step, let a held one run; play what cannot run."""
        playhead = self._bridge.playhead
        if self._is_played:
            (playhead.stop if playhead.is_playing else playhead.play)()
            return
        is_stepping = self._bridge.status.phase is SessionPhase.STEPPING
        self._submit(Hold() if self._is_running or is_stepping else Run())

    def step_one(self) -> None:
        """Run one frame."""
        if self._is_played:
            self.look_frame_on()
        else:
            self._step(StepFrames(1))

    def step_many(self) -> None:
        """Run :attr:`step_frames` frames."""
        if self._is_played:
            count = self.step_frames
            self._look(lambda places, at_ns: places.frames_from(at_ns, count), is_forward=True)
        else:
            self._step(StepFrames(self.step_frames))

    def step_to_next_timer(self) -> None:
        """Let time pass up to the next timer."""
        if self._is_played:
            self.look_timer_on()
        else:
            self._step(StepToNextTimer())

    def step_by(self, duration_ns: int) -> None:
        """Let a duration of session time pass."""
        if self._is_played:
            self._bridge.set_playhead(self._bridge.shown_ns + duration_ns)
        else:
            self._step(StepBy(duration_ns))

    def step_to(self, at_ns: int) -> None:
        """Let session time pass up to an instant."""
        if self._is_played:
            self._bridge.set_playhead(at_ns)
        else:
            self._step(StepTo(at_ns))

    def step_back(self) -> None:
        """Take the scene back by one frame."""
        if self._is_played:
            self.look_frame_back()
        else:
            self._submit(StepBack())

    def rewind_to_playhead(self) -> None:
        """Take the scene back to where the playhead is."""
        at_ns = self._bridge.playhead_ns
        if at_ns is not None:
            self._submit(RewindTo(at_ns))

    def slow_down(self) -> None:
        """Set the root clock to the next lower preset rate."""
        self._change_root_rate(is_faster=False)

    def speed_up(self) -> None:
        """Set the root clock to the next higher preset rate."""
        self._change_root_rate(is_faster=True)

    def set_normal_rate(self) -> None:
        """Run the root clock at rate 1."""
        root = self._root
        if root is not None:
            self._submit(SetRate(root.id, Fraction(1)))

    def set_frame_rate(self, text: str) -> None:
        """Run this many frames per second of session time."""
        self._submit(SetFrameRate(Fraction(text)))

    def set_failure_policy(self, text: str) -> None:
        """Choose what follows when a callback raises, for this scene and later ones."""
        policy = FailurePolicy(text)
        self._bridge.failure_policy = policy
        self._submit(SetFailurePolicy(policy))
        self._show_failure_policy()

    def set_precision(self, text: str) -> None:
        """Choose how hard the time source tries to be on time."""
        self._bridge.set_precision(Precision(text))

    def add_mark(self, text: str) -> None:
        """Add a note at the present instant."""
        self._submit(AddMark(text))

    def undo_last(self) -> None:
        """Undo the last change that can be undone."""
        record = self._undoable
        if record is not None:
            self._submit(Undo(record.number))

    def reload(self) -> None:
        """Build the scene anew."""
        self._bridge.reload()

    # ---------------------------------------------------------------- looking back

    @property
    def places(self) -> Places:
        """The instants of the session that can be looked at."""
        bridge = self._bridge
        assert bridge.session is not None, "without a session nothing can be looked at"
        history = bridge.session.history
        return Places(history, bridge.timeline.frames, bridge.timeline.at_ns)

    def look_at(self, at_ns: int) -> None:
        """Show the state at an instant."""
        self._bridge.set_playhead(at_ns)

    def look_frame_back(self) -> None:
        """Show the state one frame earlier."""
        self._look(lambda places, from_ns: places.frames_from(from_ns, -1))

    def look_frame_on(self) -> None:
        """Show the state one frame later; behind the newest lies the present."""
        self._look(lambda places, from_ns: places.frames_from(from_ns, 1), is_forward=True)

    def look_timer_back(self) -> None:
        """Show the state when the previous timer fired."""
        self._look(lambda places, from_ns: places.timers_from(from_ns, -1))

    def look_timer_on(self) -> None:
        """Show the state when the next timer fired; behind the last lies the present."""
        self._look(lambda places, from_ns: places.timers_from(from_ns, 1), is_forward=True)

    def look_live(self) -> None:
        """Show the present."""
        self._bridge.go_live()

    def _look(self, hop: Callable[[Places, int], int], *, is_forward: bool = False) -> None:
        if self._bridge.session is None:
            return
        try:
            at_ns = hop(self.places, self._bridge.shown_ns)
        except PlaceError as error:
            if is_forward:
                self._bridge.go_live()
            else:
                self.place_refused.emit(str(error))
        else:
            self._bridge.set_playhead(at_ns)

    def find_place(self, text: str) -> int:
        """Return the instant that was typed.

        Raises:
            PlaceError: There is none; the message says why.
        """
        return self.places.find(text, self._bridge.shown_ns)

    @property
    def _is_played(self) -> bool:
        """Whether nothing can run in the session: the playhead moves instead."""
        session = self._bridge.session
        return session is not None and session.is_recorded

    # ---------------------------------------------------------------- what is selected

    def toggle_branch(self) -> None:
        """Pause the selected clock, or undo its own pause."""
        clock = self.selected_clock
        if clock is not None:
            self._submit(ResumeClock(clock.id) if clock.paused else PauseClock(clock.id))

    def set_rate(self, clock_id: int, rate: Fraction) -> None:
        """Give a clock another rate."""
        self._submit(SetRate(clock_id, rate))

    def clear_timer(self) -> None:
        """Cancel the selected timer."""
        timer_id = self.selected_timer_id
        if timer_id:
            self._submit(ClearTimer(timer_id))

    def fire_timer(self) -> None:
        """Call the selected timer now."""
        timer_id = self.selected_timer_id
        if timer_id:
            self._submit(FireTimer(timer_id))

    def toggle_following(self) -> None:
        """Have plots follow the newest frame, or stay; from the past always follow."""
        is_looking_back = self._bridge.playhead_ns is not None
        self._bridge.go_live()
        self._bridge.set_following(is_looking_back or not self._bridge.is_following)

    @property
    def selected_clock(self) -> ClockState | None:
        """The selected clock, or that of the selected timer."""
        timeline, selection = self._bridge.timeline, self._bridge.selection
        clock_id = 0
        if selection.kind is SelectionKind.CLOCK:
            clock_id = selection.id
        elif timer_id := self.selected_timer_id:
            clock_id = timeline.timers.row(timer_id).clock_id
        return timeline.clocks.get(clock_id)

    @property
    def selected_timer_id(self) -> int:
        """The selected timer while it is pending, else 0."""
        selection = self._bridge.selection
        is_pending = (
            selection.kind is SelectionKind.TIMER and selection.id in self._bridge.timeline.timers
        )
        return selection.id if is_pending else 0

    # ---------------------------------------------------------------- state

    @Slot(object)
    def _take_session(self, session: Session | None) -> None:
        commands = self._bridge.timeline.commands
        self._timeline, self._commands_seen = self._bridge.timeline, 0
        if session is None or session is not self._session:
            self._newest_command = commands[-1].number if commands else 0
        self._session = session
        self._take_news()

    @Slot(object)
    @Slot(bool)
    def _take_news(self, _news: object = None) -> None:
        self._undoable = self._last_undoable.find(self._bridge.session, self._bridge.timeline)
        facts = self._facts()
        if facts != self._actions.facts:
            self._actions.apply(facts)
        self._show_states()
        self._report_refusals()

    def _report_refusals(self) -> None:
        """Report what was refused since; a log that begins anew repeats older commands."""
        commands = self._bridge.timeline.commands
        if self._timeline is not self._bridge.timeline or len(commands) < self._commands_seen:
            self._timeline, self._commands_seen = self._bridge.timeline, 0
        for record in commands[self._commands_seen :]:
            if record.number > self._newest_command:
                self._newest_command = record.number
                if record.refusal:
                    self.command_refused.emit(record)
        self._commands_seen = len(commands)

    def _facts(self) -> Facts:
        bridge = self._bridge
        session = bridge.session
        has_failed = bridge.status.phase is SessionPhase.FAILED
        if session is None:
            # A scene that could not be opened at all can still be tried again.
            possible = frozenset({Needs.RELOAD}) if has_failed else frozenset()
            return Facts(has_session=has_failed, has_failed=has_failed, possible=possible)
        possible = frozenset(
            needs
            for needs, capability in _NEEDED_CAPABILITIES.items()
            if capability in session.capabilities
        )
        return Facts(
            has_session=True,
            has_failed=has_failed,
            possible=possible | _PLAYED_NEEDS if self._is_played else possible,
            has_clock=self.selected_clock is not None,
            has_timer=bool(self.selected_timer_id),
            has_undo=self._undoable is not None,
            has_frames=bridge.timeline.frames.end > 0,
            is_looking_back=bridge.playhead_ns is not None,
            fulfilled=member_needs(bridge.timeline, bridge.selection),
        )

    def _show_states(self) -> None:
        run = self._actions["run-or-hold"]
        run.show_checked(self._is_running)
        run.show_text("&Hold" if self._is_running else "&Run")
        run.show_icon("hold" if self._is_running else "run", self._theme)
        clock = self.selected_clock
        branch = self._actions["pause-branch"]
        branch.show_checked(clock is not None and clock.paused)
        if clock is None:
            branch.show_text(branch.description.title)
        else:
            # An ampersand in a name must not become an access key.
            name = one_line(clock.name).replace("&", "&&")
            branch.show_text(f"{'Resume' if clock.paused else 'Pause'} “{name}”")
        undo = self._actions["undo"]
        undo.show_text(undo_text(self._undoable) or undo.description.title)
        session = self._bridge.session
        rate = "" if session is None else str(session.frame_rate)
        self._actions.show_choice("set_frame_rate", rate)
        self._show_failure_policy()

    def _show_failure_policy(self) -> None:
        self._actions.show_choice("set_failure_policy", self._bridge.failure_policy.value)

    @Slot(object)
    def _show_precision(self, precision: Precision) -> None:
        self._actions.show_choice("set_precision", precision.value)

    # ---------------------------------------------------------------- internals

    @property
    def _is_running(self) -> bool:
        if self._is_played:
            return self._bridge.playhead.is_playing
        return self._bridge.status.phase is SessionPhase.RUNNING

    @property
    def _root(self) -> ClockState | None:
        timeline = self._bridge.timeline
        return None if timeline.root_id is None else timeline.clocks.get(timeline.root_id)

    def _change_root_rate(self, *, is_faster: bool) -> None:
        root = self._root
        if root is not None:
            self._submit(SetRate(root.id, next_usual_rate(root.rate, is_faster=is_faster)))

    def _step(self, command: Command) -> None:
        if self._is_running:
            self._submit(Hold())
        self._submit(command)

    def _submit(self, command: Command) -> None:
        self._bridge.submit(command)
