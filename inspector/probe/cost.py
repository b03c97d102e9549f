"""The cost of the probe to the program: the time of its own thread, and that of its hooks.

Hooks are not timed while they run, which would cost as much as they do. Instead, what an event of
each kind costs is measured once on a copy of the hooks, on the probe's thread, and multiplied.
"""

from __future__ import annotations

from collections import Counter
from threading import get_native_id
from time import thread_time_ns

from .kinds import FRAME_BEGAN, MARK, TIMER_ADDED, TIMER_CLEARED, TIMER_FIRED
from .sink import Sink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

    from .program import Program

#: Calls of one measurement, and number of measurements, of which the fastest counts.
_CALLS = 20
_ROUNDS = 15
#: Calls of :func:`took_ns`.
MEASURED_CALLS = _CALLS * _ROUNDS


def took_ns(call: Callable[[], object]) -> float:
    rounds = []
    for _ in range(_ROUNDS):
        began_ns = thread_time_ns()
        for _ in range(_CALLS):
            call()
        rounds.append((thread_time_ns() - began_ns) / _CALLS)
    return min(rounds)


def copied(program: Program) -> Program:
    """Return a program to measure with, to which a sink of its own is attached."""
    copy = type(program)("measured")
    sink = Sink(copy.texts)
    copy.attach(sink.emit, sink.extend)
    return copy


class CostMeter:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._thread, self._thread_ns = get_native_id(), thread_time_ns()
        self._before: Counter[int] = Counter()
        self.by_kind: dict[int, float] = {}  # Nanoseconds in hooks of an event by its kind
        self.hooks_ns = 0.0  # What was spent in hooks between the last two calls of spent_ns
        self._asked: dict[str, int] = {}

    def spent_ns(self, made: Counter[int]) -> int:
        """Return what was spent since the last call, on the thread that calls and in hooks.

        Args:
            made: Number of all events so far by kind.
        """
        if not self.by_kind:
            self.by_kind = self._measured()
        for name, adapter in list(self._program.adapters.items()):
            if self._asked.get(name) != adapter.cost_version:
                costs = self._program.guarded(adapter, adapter.costs)
                if costs:
                    self._asked[name] = adapter.cost_version
                    self.by_kind.update(costs)
        hooks_ns = sum(self.by_kind.get(kind, 0) * made[kind] for kind in made)
        hooks_ns -= sum(self.by_kind.get(kind, 0) * count for kind, count in self._before.items())
        self._before, self.hooks_ns = Counter(made), hooks_ns
        thread, thread_ns = get_native_id(), thread_time_ns()
        if thread != self._thread:
            # The probe's thread ends before a fork; the time of the next thread begins at 0.
            self._thread, self._thread_ns = thread, 0
        spent_ns = thread_ns - self._thread_ns + round(hooks_ns)
        self._thread_ns = thread_ns
        return spent_ns

    def _measured(self) -> dict[int, float]:
        program = copied(self._program)
        clock = program.clock("measured")
        timers = iter([program.timer(clock, "timer", 0, 0) for _ in range(2 * MEASURED_CALLS)])

        def frame() -> None:
            program.frame_began(clock)
            program.frame_ended(clock)

        return {
            TIMER_ADDED: took_ns(lambda: program.timer(clock, "timer", program.call_site(), 0)),
            TIMER_FIRED: took_ns(lambda: next(timers).fired(0)),
            TIMER_CLEARED: took_ns(lambda: next(timers).cleared()),
            FRAME_BEGAN: took_ns(frame),
            MARK: took_ns(lambda: program.mark("mark")),
        }
