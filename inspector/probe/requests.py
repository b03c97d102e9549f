"""Requests of an inspector to a program, and whether they are granted."""

from __future__ import annotations

from . import wire
from .kinds import MAX_RATE, RATE_DENOMINATOR
from .wire import WireError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Optional

    from .clocks import Clock
    from .program import Program

READ_ONLY, STEP, FULL = "read-only", "step", "full"
#: Each includes the ones before it.
GRANTS = (READ_ONLY, STEP, FULL)
#: Most frames of one step.
MOST_FRAMES = 1_000_000


class Requests:
    """Carries out requests, in their order, on the thread of the link."""

    def __init__(self, program: Program, grant: str) -> None:
        self._program = program
        self.grant = grant if grant in GRANTS else READ_ONLY
        self.is_keyframe_wanted = False  # Whether a new keyframe was asked for
        self.on_tasks_asked: Callable[[int], None] = lambda _: None
        self.on_acknowledged: Callable[[int], None] = lambda _: None
        self._methods: dict[str, tuple[str, Callable[[dict[str, Any]], Optional[dict[str, Any]]]]]
        self._methods = {
            "Program.time": (READ_ONLY, self._time),
            "Program.grant": (READ_ONLY, self._grant),
            "Program.step": (STEP, self._step),
            "Program.hold_after": (STEP, self._hold_after),
            "Program.tasks": (READ_ONLY, self._tasks),
            "Clock.pause": (STEP, self._pause),
            "Clock.resume": (STEP, self._resume),
            "Clock.rate": (FULL, self._rate),
            "Timer.clear": (FULL, self._clear),
            "Events.keyframe": (READ_ONLY, self._keyframe),
            "Events.ack": (READ_ONLY, self._acknowledge),
            "Link.release": (READ_ONLY, self._release),
        }

    def knows(self, method: str) -> bool:
        return method in self._methods

    def apply(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Carry out a request and return its result; a :class:`WireError` refuses it."""
        needed, call = self._methods.get(method, (READ_ONLY, None))
        if call is None:
            raise WireError(wire.UNKNOWN_METHOD, f"There is no request “{method[:80]}”.")
        if GRANTS.index(needed) > GRANTS.index(self.grant):
            raise WireError(wire.NOT_GRANTED, f"The program grants “{self.grant}” only.")
        return call(params) or {}

    def _time(self, _params: dict[str, Any]) -> dict[str, Any]:
        return {"clock_ns": self._program.clocks.now_ns()}

    def _grant(self, _params: dict[str, Any]) -> dict[str, Any]:
        return {"grant": self.grant}

    def _keyframe(self, _params: dict[str, Any]) -> None:
        self.is_keyframe_wanted = True

    def _acknowledge(self, params: dict[str, Any]) -> None:
        self.on_acknowledged(wire.whole(params, "events"))

    def _release(self, _params: dict[str, Any]) -> None:
        self._program.release()

    def _pause(self, params: dict[str, Any]) -> None:
        clock, cause = self._clock(params, "pause"), _cause(params)
        self._program.pause(clock, cause)

    def _resume(self, params: dict[str, Any]) -> None:
        clock, cause = self._clock(params, "pause"), _cause(params)
        self._program.resume(clock, cause)

    def _rate(self, params: dict[str, Any]) -> None:
        clock, cause = self._clock(params, "rate"), _cause(params)
        rate_n = wire.whole(params, "rate_n", 0, MAX_RATE * RATE_DENOMINATOR)
        self._program.clocks.set_rate(clock, rate_n, cause)

    def _step(self, params: dict[str, Any]) -> None:
        program, cause = self._program, _cause(params)
        clock = program.own_clock
        if not clock.is_paused:
            raise WireError(wire.NOT_POSSIBLE, "Only a program that is held can be stepped.")
        if clock.rate_n == 0:
            raise WireError(wire.NOT_POSSIBLE, "The rate of the program's clock is 0.")
        if "frames" in params:
            frames = wire.whole(params, "frames", 1, MOST_FRAMES)
            self._demand(clock, "step_frame")
            program.step_frames(frames, cause)
        elif "local_ns" in params:
            local_ns = wire.whole(params, "local_ns", 1, 2**60)
            program.clocks.step_to(clock, clock.local_ns() + local_ns, cause)
        elif params.get("to") == "next_timer":
            if program.is_call_due:
                program.step_frames(1, cause)
                return
            due_ns = program.next_due_ns()
            if due_ns is None:
                raise WireError(wire.NOT_POSSIBLE, "No timer of the program will be due.")
            program.clocks.step_to(clock, max(due_ns, clock.local_ns()), cause)
        else:
            raise WireError(wire.BAD_PARAMS, "frames, local_ns, or to with “next_timer”")

    def _hold_after(self, params: dict[str, Any]) -> None:
        turn_ns = wire.whole(params, "turn_ns", 0, 2**60)
        self._program.hold_after_turn(turn_ns, _cause(params))

    def _tasks(self, params: dict[str, Any]) -> None:
        self.on_tasks_asked(wire.whole(params, "every_ns", 0, 2**60))

    def _clear(self, params: dict[str, Any]) -> None:
        number, cause = wire.whole(params, "timer"), _cause(params)
        timer = self._program.pending(number)
        if timer is None:
            raise WireError(wire.NO_SUCH, f"There is no timer {number}.")
        self._demand(timer.clock, "clear_timer")
        self._program.clear_timer(timer, cause)

    def _clock(self, params: dict[str, Any], capability: str) -> Clock:
        number = wire.whole(params, "clock")
        clock = self._program.clocks.by_number.get(number)
        if clock is None:
            raise WireError(wire.NO_SUCH, f"There is no clock {number}.")
        self._demand(clock, capability)
        return clock

    def _demand(self, clock: Clock, capability: str) -> None:
        reason = self._program.capabilities(clock)[capability]
        if reason is not True:
            raise WireError(wire.NOT_POSSIBLE, str(reason))


def _cause(params: dict[str, Any]) -> int:
    return wire.whole(params, "cause") if "cause" in params else 0
