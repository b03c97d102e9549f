"""A scene file that is run in this process, one life of it after another."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.commands.command import BadCommand, Command
from inspector.commands.scene import GoBack, Reload
from inspector.commands.transport import Hold, Step
from inspector.errors import CommandError
from inspector.events.log import DEFAULT_BUDGET_BYTES
from inspector.sessions.breakpoints.breakpoints import Breakpoints
from inspector.sessions.commands.desk import CommandDesk
from inspector.sessions.commands.queue import CommandQueue
from inspector.sessions.life import Life
from inspector.sessions.replay.journal import Beginning, Journal, Place, file_digest
from inspector.sessions.session import MeasuresWakeErrors
from inspector.sessions.sources.gate import Gate, gate_before
from inspector.sessions.stepping import Stepping
from inspector.vocabulary import Reading

if TYPE_CHECKING:
    from inspector.clocks.failures import FailurePolicy
    from inspector.clocks.sources.time_source import TimeSource
    from inspector.sessions.annotations import Annotations
    from inspector.sessions.recorder import Recorder
    from inspector.sessions.replay.rewinding import Rewinding


class SceneHost:
    """Owns the present life of a scene, and puts another in its place.

    That is when the scene is loaded anew, when it has gone back in time, and when it is run
    again by a journal. What outlives a life is here: the queue of commands, the breakpoints,
    the recorder. For the thread that made it.

    Attributes:
        source: Where time comes from.
        recorder: Told of everything that is new.
        queue: The commands that wait for the scene.
        desk: Applies commands to the present life.
        rewinding: Going back in time that is not done yet, ``None`` for none.
        stepping: A step that is not done yet, ``None`` for none.
        wants_to_break_off: Whether the step is to end where it has come.
        slice_ns: After so long going back, or a step, makes a pause; ``None`` for doing it
            at one go.
    """

    desk: CommandDesk

    def __init__(
        self,
        scene_path: Path,
        source: TimeSource,
        recorder: Recorder,
        annotations: Annotations,
        *,
        max_delta_ns: int,
    ) -> None:
        """Load nothing yet, see :meth:`load`.

        Args:
            scene_path: The scene file.
            source: Where time comes from.
            recorder: Is told of everything that is new.
            annotations: What people have left; forgotten when another time 0 begins.
            max_delta_ns: What a wake-up may be late before the rest is cut off.
        """
        self.source = source
        self.recorder = recorder
        self.queue = CommandQueue(self)
        self.rewinding: Rewinding | None = None
        self.stepping: Stepping | None = None
        self.wants_to_break_off = False
        self.slice_ns: int | None = None
        self._annotations = annotations
        self._path = Path(scene_path).absolute()
        self._max_delta_ns = max_delta_ns

    @property
    def life(self) -> Life:
        """The present life of the scene."""
        return self.desk.life

    def load(self, *, policy: FailurePolicy, runs: bool) -> None:
        """Load the scene for the first time; a problem with it is one of its life.

        Args:
            policy: What follows when a callback raises.
            runs: Whether session time begins to pass at once.
        """
        gate = gate_before(self.source)
        beginning = Beginning(
            policy=policy,
            runs=runs,
            max_delta_ns=self._max_delta_ns,
            is_manual=gate.is_manual,
            source_ns=gate.relative_ns,
            digest=file_digest(self._path),
        )
        self.desk = self._new_life(gate, beginning, Breakpoints())
        self.life.load(self.queue)

    def _new_life(
        self,
        gate: Gate,
        beginning: Beginning,
        breakpoints: Breakpoints,
        *,
        log_budget_bytes: int = DEFAULT_BUDGET_BYTES,
        unreported: int = 0,
    ) -> CommandDesk:
        """Return the desk of a life of which nothing was loaded."""
        life = Life(self._path, gate, beginning, breakpoints, log_budget_bytes=log_budget_bytes)
        # Who looks at the session has not been told of them in either life.
        life.unreported = unreported
        return CommandDesk(life, self.recorder)

    def apply(self, command: Command, place: Place) -> None:
        """Apply a command whose turn it is, or refuse it; either is recorded.

        Args:
            command: What was asked for.
            place: Where this is.
        """
        number = self.life.command_number = self.life.command_number + 1
        if isinstance(command, Reload):
            self._reload(number)
            return
        if isinstance(command, GoBack) and self._goes_back(command, number, place):
            return
        if isinstance(command, Step) and place is Place.AT_ONCE:
            steps = self.desk.apply_steps(command, number, place=place)
            self.stepping = Stepping(self.desk, steps)
            self._step_on(self.stepping, self.slice_ns)
            return
        self.desk.apply(command, number, place=place)

    # ------------------------------------------------------------------ long steps

    def go_on_stepping(self) -> None:
        """Go on with a step for a slice of time, or end it if somebody does not want it."""
        stepping = self.stepping
        if stepping is None:
            return
        if self.wants_to_break_off:
            self.break_off_step()
        else:
            self._step_on(stepping, self.slice_ns)

    def finish_step(self) -> None:
        """Be done with the step that goes on, if there is one, at one go."""
        if self.stepping is not None:
            self._step_on(self.stepping, None)

    def _step_on(self, stepping: Stepping, slice_ns: int | None) -> None:
        is_done = True
        try:
            with self.queue.kept_waiting():
                is_done = stepping.go_on(slice_ns)
        finally:
            # Whatever got out of a callback has ended it.
            if is_done:
                self.stepping = None
                self.wants_to_break_off = False

    def break_off_step(self) -> None:
        """End the step that goes on, if there is one, behind the frame it has come to."""
        stepping = self.stepping
        if stepping is None:
            return
        with self.queue.kept_waiting():
            stepping.break_off()
            self.stepping = None
            self.wants_to_break_off = False
            self.life.hold(is_in_step=True)

    # ------------------------------------------------------------- other lives

    def _reload(self, number: int) -> None:
        """Let the present life go, and begin the next on the same gate."""
        life, gate, breakpoints = self.life, self.life.gate, self.life.breakpoints
        # What could not be built runs when it has been mended, as it would have.
        begun = life.journal.beginning
        runs = begun.runs if life.hosting is None else life.is_running
        life.let_go()
        beginning = replace(
            begun,
            generation=life.generation + 1,
            command_number=number,
            reload_number=number,
            policy=life.failure_policy,
            runs=runs,
            max_delta_ns=self._max_delta_ns,
            source_ns=gate.relative_ns,
            digest=file_digest(self._path),
            breakpoints={each: found for each, found, _ in breakpoints.items()},
            next_breakpoint=breakpoints.next_number,
        )
        self.desk = self._new_life(
            gate,
            beginning,
            breakpoints,
            log_budget_bytes=life.log_budget_bytes,
            unreported=life.unreported,
        )
        self.life.load(self.queue)
        self._forget_former_time()

    def run_again(self, journal: Journal, *, keeps_all: bool = False) -> None:
        """Build the scene anew and have it do, up to its end, what a journal says.

        Session time is held afterwards if it was then. Nobody waits for anything.

        Args:
            journal: Of a scene on a manual time source exactly if this one is.
            keeps_all: Whether no event may fall off the log.
        """
        former, beginning = self.life, journal.beginning
        former.let_go()
        self.desk = self._new_life(
            former.gate,
            beginning,
            Breakpoints.holding(beginning.breakpoints, beginning.next_breakpoint),
            log_budget_bytes=sys.maxsize if keeps_all else DEFAULT_BUDGET_BYTES,
            unreported=former.unreported,
        )
        from inspector.sessions.replay.script_follower import ScriptFollower  # noqa: PLC0415 - few go back

        follower = ScriptFollower(self.desk, journal)
        with self.queue.kept_waiting():
            try:
                for _ in follower.steps():
                    pass
            finally:
                follower.end()
                self.life.driver = self.queue
                self.life.breakpoints = former.breakpoints
        if self.life.generation != former.generation:
            self._forget_former_time()

    def _forget_former_time(self) -> None:
        """Forget what was said of the former life: it goes with the events of that one."""
        self._annotations.begin_anew()
        if isinstance(self.source, MeasuresWakeErrors):
            self.source.measure_anew()

    def _goes_back(self, command: GoBack, number: int, place: Place) -> bool:
        """Go back in time if that is possible; returns whether it is."""
        former = self.life
        former.fold()
        hosting = former.hosting
        if hosting is None or former.journal.is_given_up:
            return False
        try:
            frame = command.frame_to_go_back_to(former.timeline, former.frames_run)
        except CommandError:
            return False
        from inspector.sessions.replay.rewinding import Rewinding  # noqa: PLC0415 - few go back

        rewinding = Rewinding(command, number, frame, former, self._life_beside(former))
        self.rewinding = rewinding
        self.go_on_rewinding()
        if rewinding.told is None and hosting.transport.is_running:
            # Somebody may look at it, or go on from here, before this is done.
            self.desk.apply(Hold(), number, place=place)
            rewinding.number = former.command_number = number + 1
        return True

    def _life_beside(self, former: Life) -> CommandDesk:
        """Return the desk of a second life, which begins as the former did."""
        beginning = former.journal.beginning
        return self._new_life(
            former.gate.successor(),
            beginning,
            Breakpoints.holding(beginning.breakpoints, beginning.next_breakpoint),
            log_budget_bytes=former.log_budget_bytes,
            unreported=former.unreported,
        )

    def go_on_rewinding(self) -> None:
        """Go on for a slice of time, and hand over to the second life when that is done."""
        rewinding = self.rewinding
        if rewinding is None:
            return
        try:
            with self.queue.kept_waiting():
                is_done = rewinding.go_on(self.slice_ns)
        except BaseException:
            # Such as the user's Ctrl+C.
            self._give_up(rewinding)
            raise
        if is_done:
            self._hand_over(rewinding)

    def cancel_rewind(self) -> None:
        """Stay where the session was, held, if it is just going back in time."""
        rewinding = self.rewinding
        if rewinding is None:
            return
        self._give_up(rewinding)
        text = rewinding.command.sentence(self.life.timeline)
        problem = BadCommand(text, "It was cancelled before it finished.")
        with self.queue.kept_waiting():
            self.desk.apply(problem, rewinding.number, place=Place.AT_ONCE)

    def _give_up(self, rewinding: Rewinding) -> None:
        """Keep the former life."""
        rewinding.give_up()
        self.rewinding = None
        self.life.gate.go_live()

    def _hand_over(self, rewinding: Rewinding) -> None:
        """Let go of the former life, and put the second one in its place."""
        former, desk, told = rewinding.former, rewinding.desk, rewinding.told
        assert told is not None, "all is done"
        self.rewinding = None
        self.desk, life = desk, desk.life
        life.driver = self.queue
        former.gate.on_reading = None
        if former.hosting is not None:
            # Its modules were let go before the second life was built.
            former.hosting.let_go()
        life.gate.go_live()
        desk.note_rewind(rewinding.number, told)
        if life.gate.is_manual:
            # It stands elsewhere than where the scene was left, which counts when it runs.
            life.note(Reading.ADVANCED, life.gate.relative_ns)
        if life.hosting is not None:
            life.watch()
        self.recorder.pump()
