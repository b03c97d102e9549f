"""Attached programs as the target of commands, whose effects become requests to probes."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, NoReturn

from msgspec import Struct, field

from inspector.clocks.failures import FailurePolicy
from inspector.clocks.rate import DEFAULT_FRAME_RATE, D, rate_numerator
from inspector.commands.clocks import OwnPause, PauseClock, ResumeClock
from inspector.commands.command import Action, Capability, Command, Prepared, Undoing, prepared
from inspector.errors import CommandError
from inspector.events.timeline import Timeline
from inspector.sessions.attached.program import NEVER_POSSIBLE, JoinedProgram
from inspector.sessions.attached.session_numbers import is_family, own_number
from inspector.sessions.breakpoints.breakpoints import Breakpoints
from inspector.sessions.replay.journal import AppliedCommand, CommandPlace, command_events
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import MARK

if TYPE_CHECKING:
    from inspector.sessions.attached.event_sorter import EventSorter
    from inspector.sessions.attached.joined import JoinedPrograms
    from inspector.sessions.attached.link import Done
    from inspector.sessions.recorder import Recorder

_NO_PROGRAM: Final = "No program is attached."
_NO_RATE: Final = "The time of a program with its children is real time."
_NO_TIMERS: Final = "No timer waits on the clock above a program and its children."


def _takes_step(program: JoinedProgram) -> bool:
    return program.is_stepping and program.step_ended_ns is None


def _still_stepping(program: JoinedProgram) -> str:
    return f"“{program.name}” is still taking the step before, which passes in real time"


def _sentence(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:]}."


class RemoteClock:
    def __init__(self, target: AttachedTarget, program: JoinedProgram, clock_id: int) -> None:
        self._target = target
        self._program = program
        self._clock_id = clock_id

    @property
    def rate(self) -> Fraction:
        return self._target.timeline.clocks[self._clock_id].rate

    def pause(self, *, cause: int) -> None:
        self._ask("Clock.pause", cause=cause)

    def resume(self, *, cause: int) -> None:
        self._ask("Clock.resume", cause=cause)

    def set_rate(self, rate: Fraction, /, *, cause: int) -> None:
        self._ask("Clock.rate", rate_n=rate_numerator(rate), cause=cause)

    def clear(self, timer: RemoteTimer, /, *, cause: int) -> None:
        done = self._target.expect_answer()
        about = {"timer": own_number(timer.id), "cause": cause}
        self._program.link.request("Timer.clear", about, done)

    def fire_now(self, _timer: RemoteTimer, /) -> NoReturn:
        """Refuse: no adapter can fire a timer."""
        raise CommandError(_sentence(NEVER_POSSIBLE[Capability.FIRE]))

    def _ask(self, method: str, **more: int) -> None:
        done = self._target.expect_answer()
        self._program.ask_clock(method, self._clock_id, more, done)


class RemoteFamily:
    """The clock above a program and its children, which are paused and resumed together.

    Resuming ends the pauses made through this clock, or all pauses if there are none of those.
    """

    rate = Fraction(1)

    def __init__(self, target: AttachedTarget, clock_id: int, pauses: set[int]) -> None:
        self._target = target
        self._clock_id = clock_id
        self._pauses = pauses

    def concerned(self, *, pauses: bool) -> list[tuple[JoinedProgram, int]]:
        clocks = self._target.timeline.clocks
        able = [
            (program, clock_id)
            for program, clock_id in self._target.programs.family(self._clock_id)
            if clocks[clock_id].paused is not pauses
            and not program.why_not(Capability.PAUSE, clock_id)
        ]
        if pauses:
            return able
        own = [each for each in able if clocks[each[1]].pause_cause in self._pauses]
        return own or able

    def pause(self, *, cause: int) -> None:
        self._pauses.add(cause)
        self._ask("Clock.pause", self.concerned(pauses=True), cause)

    def resume(self, *, cause: int) -> None:
        self._ask("Clock.resume", self.concerned(pauses=False), cause)

    def _ask(self, method: str, concerned: list[tuple[JoinedProgram, int]], cause: int) -> None:
        for program, clock_id in concerned:
            program.ask_clock(method, clock_id, {"cause": cause}, self._target.expect_answer())

    def set_rate(self, _rate: Fraction, /, *, cause: int) -> NoReturn:  # noqa: ARG002 - interface
        """Refuse: its time is real time."""
        raise CommandError(_NO_RATE)

    def clear(self, _timer: RemoteTimer, /, *, cause: int) -> NoReturn:  # noqa: ARG002 - likewise
        """Refuse: no timer waits on it."""
        raise CommandError(_NO_TIMERS)

    def fire_now(self, _timer: RemoteTimer, /) -> NoReturn:
        """Refuse: no timer waits on it."""
        raise CommandError(_NO_TIMERS)


class RemoteTimer:
    def __init__(self, clock: RemoteClock | RemoteFamily, timer_id: int) -> None:
        self.clock = clock
        self.id = timer_id


class RemoteTransport:
    """Holds all programs, and lets them run."""

    def __init__(self, target: AttachedTarget) -> None:
        self._target = target

    @property
    def is_running(self) -> bool:
        """Whether a program runs and was not told to hold, which comes before any later step."""
        programs = self._target.programs
        return programs.is_running and not programs.wants_hold

    def run(self) -> None:
        self._target.programs.wants_hold = False
        self._for_each("Clock.resume", is_paused=True)

    def hold(self) -> None:
        self._target.programs.wants_hold = True
        self._for_each("Clock.pause", is_paused=False)

    def _for_each(self, method: str, *, is_paused: bool) -> None:
        target = self._target
        for program, clock_id in target.programs.own_clocks():
            clock = target.timeline.clocks[clock_id]
            if program.is_stepping or clock.paused is is_paused:
                done = target.expect_answer()
                cause = {"cause": target.number}
                program.ask_clock(method, clock_id, cause, done)


class RemoteSteps:
    """The steps of held programs, after which each program is paused again."""

    def __init__(self, target: AttachedTarget) -> None:
        self._target = target

    def frames(self, count: int) -> Action:
        able = self._able(Capability.STEP)
        return lambda: self._for_each(able, {"frames": count})

    def by(self, duration_ns: int) -> Action:
        able = self._able(Capability.STEP_TIME)
        return lambda: self._for_each(able, {"local_ns": duration_ns})

    def to(self, at_ns: int) -> NoReturn:  # noqa: ARG002 - the interface
        """Refuse: session time is real time."""
        raise CommandError(
            "The session time of attached programs is real time: step by a duration instead."
        )

    def to_next_timer(self) -> Action:
        """Let the program with the next timer step to it, and all others step for the same time."""
        for program, _ in self._target.programs.own_clocks():
            if _takes_step(program):
                # The others would get ahead of a program that is still in a step.
                raise CommandError(_sentence(_still_stepping(program)))
        able = self._able(Capability.STEP_TIMER)
        waits = {program: self._until_next_ns(clock_id) for program, clock_id in able}
        known = {program: wait for program, wait in waits.items() if wait is not None}
        if not known:
            raise CommandError("No timer is pending that can fire, so there is none to step to.")
        first = min(known, key=known.__getitem__)

        def step() -> None:
            for program, clock_id in able:
                if program is first:
                    self._step(program, clock_id, {"to": "next_timer"})
                else:
                    self._step(program, clock_id, {"local_ns": known[first]})

        return step

    def _able(self, capability: Capability) -> list[tuple[JoinedProgram, int]]:
        clocks = self._target.programs.own_clocks()
        reasons = [
            _still_stepping(program) if _takes_step(program) else program.why_not(capability, clock)
            for program, clock in clocks
        ]
        if not clocks or all(reasons):
            raise CommandError(_sentence(reasons[0]) if reasons else _NO_PROGRAM)
        return [each for each, reason in zip(clocks, reasons, strict=True) if not reason]

    def _for_each(self, clocks: list[tuple[JoinedProgram, int]], how: dict[str, int | str]) -> None:
        for program, clock_id in clocks:
            self._step(program, clock_id, how)

    def _step(self, program: JoinedProgram, clock_id: int, how: dict[str, int | str]) -> None:
        target = self._target
        program.is_stepping, program.step_ended_ns = True, None
        answered = target.expect_answer()

        def done(result: dict[str, object], refusal: str) -> None:
            program.is_stepping = not refusal
            program.has_step_begun = not refusal
            answered(result, refusal)

        more = {**how, "cause": target.number}
        program.ask_clock("Program.step", clock_id, more, done)

    def _until_next_ns(self, clock_id: int) -> int | None:
        """Return how much local time of a held program passes until its next timer fires.

        As in the program, timers that are already due count only if no others are pending.
        """
        timeline = self._target.timeline
        table = timeline.timers
        branch = set(timeline.branch(clock_id))
        now_ns = timeline.local_ns(clock_id)
        waits = []
        for below, due_ns in zip(table.clock, table.due, strict=True):
            if below not in branch:
                continue
            at_ns: int | None = due_ns
            for clock in timeline.path(below):
                if clock.id == clock_id or at_ns is None:
                    break
                at_ns = None if clock.n == 0 else -((clock.off - at_ns * D) // clock.n)
            if at_ns is not None:
                waits.append(at_ns - now_ns)
        to_come = [wait_ns for wait_ns in waits if wait_ns > 0]
        return min(to_come, default=1 if waits else None)


class _Asked(Struct):
    """A command whose programs have not all answered yet."""

    number: int
    ready: Prepared  # The command, ready to be applied
    applied: AppliedCommand  # The command as it is recorded
    at_ns: int
    waits_for: int = 0  # How many answers are missing
    answers: int = 0  # How many programs have carried it out
    refusals: list[str] = field(default_factory=list)  # Why other programs have refused


class AttachedTarget:
    def __init__(
        self,
        programs: JoinedPrograms,
        sorter: EventSorter,
        breakpoints: Breakpoints,
        recorder: Recorder,
        now_ns: Callable[[], int],
    ) -> None:
        self.programs, self.breakpoints, self.recorder = programs, breakpoints, recorder
        self._sorter, self._now_ns = sorter, now_ns
        self.undoing = Undoing()
        self.frame_rate = DEFAULT_FRAME_RATE
        self.number = 0
        self.transport = RemoteTransport(self)
        self.steps = RemoteSteps(self)
        # Commands set marks through a stage, and this has mark(), too.
        self.stage = self
        self.pauses: dict[int, list[Callable[[], object]]] = {}
        self._family_pauses: set[int] = set()
        self.failure_policy = FailurePolicy.CONTINUE
        self._asked: _Asked | None = None

    def apply(self, command: Command, by: str, reason: str) -> bool:
        """Carry out a command; returns whether that has begun.

        Its :data:`~inspector.vocabulary.COMMAND` event follows when the programs have answered.

        Args:
            reason: Why the command is refused, as part of a sentence; empty if it is not.
        """
        self.number = number = self.number + 1
        if reason:
            text, clock_id = command.sentence(self.timeline), command.clock_about(self.timeline)
            ready = Prepared(text, clock_id, None, _sentence(reason))
        else:
            ready = prepared(command, self, number)
        applied = AppliedCommand(command, CommandPlace.AT_ONCE, by, time.time_ns() // NS_PER_MS)
        asked = _Asked(number, ready, applied, self._now_ns())
        if ready.action is not None:
            inverse = self.inverse(command)
            self._asked = asked
            try:
                ready.action()
            finally:
                self._asked = None
            self.undoing.note(number, inverse)
        if not asked.waits_for:
            self._answer(asked)
        return ready.action is not None

    def expect_answer(self) -> Done:
        """Return a callback for the answer to a request of the command that is being applied."""
        asked = self._asked
        assert asked is not None, "only commands ask"
        asked.waits_for += 1

        def done(_result: dict[str, Any], refusal: str) -> None:
            asked.waits_for -= 1
            if refusal:
                asked.refusals.append(refusal)
            else:
                asked.answers += 1
            if not asked.waits_for:
                self._answer(asked)

        return done

    def _answer(self, asked: _Asked) -> None:
        if asked.refusals and not asked.answers:
            self.undoing.done(asked.number)
            ready = asked.ready
            reason = " ".join(dict.fromkeys(asked.refusals))
            asked.ready = Prepared(ready.text, ready.clock_id, None, reason)
        answer = command_events(self._sorter.log, asked.number, asked.ready, asked.applied)
        self._sorter.add(*((asked.at_ns, *event) for event in answer))

    def mark(self, text: str) -> None:
        self._sorter.add((self._now_ns(), MARK, 0, self._sorter.log.intern(text), 0))

    @property
    def timeline(self) -> Timeline:
        return self._sorter.timeline

    @property
    def frames_run(self) -> int:
        return self.timeline.frames.end

    @property
    def tree(self) -> NoReturn:
        """Refuse: the clocks are those of other processes."""
        raise CommandError(_sentence(NEVER_POSSIBLE[Capability.MEMBERS]))

    @property
    def scene(self) -> AttachedTarget:
        """The target itself; raises a :class:`CommandError` without a program."""
        if not self.programs.own_clocks():
            raise CommandError(_NO_PROGRAM)
        return self

    def inverse(self, command: Command) -> Command | None:
        if not isinstance(command, OwnPause) or not is_family(command.clock_id):
            return command.inverse(self)
        family = RemoteFamily(self, command.clock_id, self._family_pauses)
        if not family.concerned(pauses=command.pauses):
            return None
        opposite = ResumeClock if command.pauses else PauseClock
        return opposite(command.clock_id)

    def clock(self, clock_id: int) -> RemoteClock | RemoteFamily | None:
        if is_family(clock_id) and clock_id in self.timeline.clocks:
            return RemoteFamily(self, clock_id, self._family_pauses)
        program = self.programs.of_clock(clock_id)
        if program is None or clock_id not in self.timeline.clocks:
            return None
        return RemoteClock(self, program, clock_id)

    def timer(self, clock_id: int, timer_id: int, _due_ns: int) -> RemoteTimer | None:
        clock = self.clock(clock_id)
        is_pending = timer_id in self.timeline.timers
        return RemoteTimer(clock, timer_id) if clock is not None and is_pending else None

    def check_journal(self) -> NoReturn:
        """Refuse: nothing can be run again."""
        raise CommandError(_sentence(NEVER_POSSIBLE[Capability.REWIND]))

    def watch(self) -> None:
        """Have the breakpoints check events from now on, if they do not yet."""
        if not self.breakpoints.is_watching:
            self.breakpoints.watch(self._sorter.shown_log, self.timeline)
