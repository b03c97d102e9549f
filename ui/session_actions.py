"""The actions that speak to the session: each becomes commands, or a request to the bridge."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal, Slot

from inspector.clocks.failures import FailurePolicy
from inspector.sessions.commands import (
    AddMark,
    Capability,
    ClearTimer,
    FireTimer,
    Hold,
    PauseClock,
    ResumeClock,
    Run,
    SetFailurePolicy,
    SetFrameRate,
    SetRate,
    StepBy,
    StepFrames,
    StepTo,
    StepToNextTimer,
)
from inspector.sessions.session import SessionPhase

from .action_descriptions import Facts, Needs
from .qt_time_source import Precision
from .session_bridge import SelectionKind
from .widgets.rate_slider import next_usual_rate

if TYPE_CHECKING:
    from inspector.sessions.commands import Command
    from inspector.trace.states import ClockState
    from inspector.trace.timeline import Timeline

    from .actions import ActionSet
    from .session_bridge import SessionBridge
    from .theme import Theme

_NEEDED_CAPABILITIES: Final = {
    Needs.TRANSPORT: Capability.TRANSPORT,
    Needs.STEP: Capability.STEP,
    Needs.ROOT_RATE: Capability.RATE,
    Needs.FRAME_RATE: Capability.FRAME_RATE,
    Needs.FAILURE_POLICY: Capability.FAILURE_POLICY,
    Needs.MARK: Capability.MARK,
    Needs.RELOAD: Capability.RELOAD,
    Needs.CLOCK_PAUSE: Capability.PAUSE,
    Needs.CLOCK_RATE: Capability.RATE,
    Needs.TIMER: Capability.TIMERS,
}


class SessionActions(QObject):
    """Carries out actions on the bridge's session and keeps their state up to date.

    Attributes:
        step_frames: How many frames the long step takes.

    Signals:
        command_refused: A command was refused; its record.
    """

    command_refused = Signal(object)  # CommandRecord

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
        self._commands_seen = 0
        actions.bind(self)
        bridge.session_changed.connect(self._take_session)
        bridge.refreshed.connect(self._take_news)
        bridge.status_changed.connect(self._take_news)
        bridge.selection_changed.connect(self._take_news)
        bridge.following_changed.connect(self._actions["follow"].show_checked)
        bridge.precision_changed.connect(self._show_precision)
        self._actions["follow"].show_checked(bridge.is_following)
        self._show_precision(bridge.precision)
        self._take_session(None)

    # ---------------------------------------------------------------- time

    def toggle_running(self) -> None:
        """Hold a running session, let a held one run."""
        self._submit(Hold() if self._is_running else Run())

    def step_one(self) -> None:
        """Run one frame."""
        self._step(StepFrames(1))

    def step_many(self) -> None:
        """Run :attr:`step_frames` frames."""
        self._step(StepFrames(self.step_frames))

    def step_to_next_timer(self) -> None:
        """Let time pass up to the next timer."""
        self._step(StepToNextTimer())

    def step_by(self, duration_ns: int) -> None:
        """Let a duration of session time pass."""
        self._step(StepBy(duration_ns))

    def step_to(self, at_ns: int) -> None:
        """Let session time pass up to an instant."""
        self._step(StepTo(at_ns))

    def slow_down(self) -> None:
        """Give the root clock the next lower of the usual rates."""
        self._change_root_rate(is_faster=False)

    def speed_up(self) -> None:
        """Give the root clock the next higher of the usual rates."""
        self._change_root_rate(is_faster=True)

    def set_normal_rate(self) -> None:
        """Let the root clock run at rate 1."""
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
        """Leave a note at the present instant."""
        self._submit(AddMark(text))

    def reload(self) -> None:
        """Build the scene anew."""
        self._bridge.reload()

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
        """Have plots follow the newest frame, or stay."""
        self._bridge.set_following(not self._bridge.is_following)

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
    def _take_session(self, _session: object) -> None:
        self._commands_seen = len(self._bridge.timeline.commands)
        self._timeline = self._bridge.timeline
        self._take_news()

    @Slot(object)
    def _take_news(self, _news: object = None) -> None:
        facts = self._facts()
        if facts != self._actions.facts:
            self._actions.apply(facts)
        self._show_states()
        commands = self._bridge.timeline.commands
        if self._timeline is not self._bridge.timeline or len(commands) < self._commands_seen:
            self._timeline, self._commands_seen = self._bridge.timeline, 0
        for record in commands[self._commands_seen :]:
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
        return Facts(
            has_session=True,
            has_failed=has_failed,
            possible=frozenset(
                needs
                for needs, capability in _NEEDED_CAPABILITIES.items()
                if capability in session.capabilities
            ),
            has_clock=self.selected_clock is not None,
            has_timer=bool(self.selected_timer_id),
            has_frames=bridge.timeline.frames.end > 0,
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
            name = clock.name.replace("&", "&&")
            branch.show_text(f"{'Resume' if clock.paused else 'Pause'} “{name}”")
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
