"""Control of the time of a test."""

from __future__ import annotations

import sys
from _thread import allocate_lock
from collections.abc import Awaitable, Callable, Generator, Iterator
from fractions import Fraction
from typing import Any, Generic, TypeVar

from msgspec import Struct

from inspector.probe.adapters.qt import QtAdapter
from inspector.probe.awaited import Goal
from inspector.probe.clocks import whole_ns
from inspector.probe.kinds import RATE_DENOMINATOR
from inspector.probe.program import CLOCK, DUE, NAME, PERIOD, SITE, Program, name_of
from inspector.probe.waits import Waits

from .log import Log
from .pending import pending_lines

_T = TypeVar("_T")
#: Firings that were later than this, in the machine's time, are reported.
_LATE_S = 0.02
#: Decimals of seconds. Libraries round due times by less than a microsecond for each wait.
_DIGITS = 5
#: Instants that differ by less count as equal.
_SAME_S = 1e-4


class PendingTimer(Struct, frozen=True):
    """A timer that has not fired."""

    name: str  # What it calls, or what waits for it
    due: float  # Seconds until it is due, by its own clock
    clock: str  # The name of its clock
    site: str  # Where it was set: file, line and function; empty if that is not known
    interval: float  # Seconds from one firing to the next, 0 for once


class Firing(Struct, frozen=True):
    """A timer that has fired."""

    name: str  # What it called
    at: float  # Seconds since the test began
    late: float  # Seconds by which it was late


class Done(Generic[_T]):
    """The result of a call that is over, which may be awaited, but need not be."""

    def __init__(self, value: _T) -> None:
        self.value = value

    def __await__(self) -> Generator[None, None, _T]:
        yield from ()
        return self.value


class Timeline:
    """The time of one test.

    Calls that let time pass return once it has passed. In a coroutine they have to be awaited.
    """

    def __init__(self, program: Program, waits: Waits, log: Log) -> None:
        self._program = program
        self._waits = waits
        self._log = log
        self._began_ns = program.own_clock.local_ns()
        self._late_s = _LATE_S

    def begin(self) -> None:
        """Begin the test itself: its time is 0 now."""
        self._began_ns = self._program.own_clock.local_ns()

    @property
    def now(self) -> float:
        """Seconds since the test began."""
        return self._seconds(self._program.own_clock.local_ns())

    def _seconds(self, local_ns: int) -> float:
        return round((local_ns - self._began_ns) / 1e9, _DIGITS)

    def hold(self) -> None:
        """Hold time until it is resumed."""
        if self._program.waits is None:
            self._waits.start()
        self._program.pause(self._program.own_clock)

    def resume(self) -> None:
        """Let time pass at the rate of the machine's time."""
        self.rate(1)

    def rate(self, rate: float | Fraction) -> None:
        """Let time pass ``rate`` times as fast as the machine's time."""
        self._late_s = max(self._late_s, _LATE_S * float(rate))
        self._waits.stop()
        clocks, clock = self._program.clocks, self._program.own_clock
        clocks.set_rate(clock, round(Fraction(rate) * RATE_DENOMINATOR))
        self._program.resume(clock)

    def autojump(self) -> None:
        """From now on, let time jump to the next due instant whenever everything waits."""
        self.hold()
        self._waits.is_jumping = True

    def advance(self, seconds: float | Fraction) -> Awaitable[None]:
        """Let some seconds pass, run everything that is due in them, and hold time."""
        self.hold()
        until_ns = self._program.own_clock.local_ns() + whole_ns(float(seconds))
        return self._go_on(Goal(until_ns, _never), lambda _: None)

    def advance_to_next(self) -> Awaitable[None]:
        """Let time pass until something is due, run everything that is due then, and hold time.

        Raises:
            AssertionError: Nothing is pending that will become due.
        """
        self.hold()

        def done(goal: Goal) -> None:
            if goal.until_ns is None:
                raise AssertionError(f"no timer will be due\n{self.report()}")

        return self._go_on(Goal(None, _never, is_to_next=True), done)

    def run_until(
        self, predicate: Callable[[], object], *, within: float | Fraction = 60
    ) -> Awaitable[None]:
        """Let time pass until a predicate holds, which is checked whenever everything waits.

        Raises:
            AssertionError: It does not hold after ``within`` seconds.
        """
        self.hold()
        until_ns = self._program.own_clock.local_ns() + whole_ns(float(within))

        def done(goal: Goal) -> None:
            if goal.has_timed_out:
                raise AssertionError(
                    f"{name_of(predicate)} does not hold after {float(within):g} s\n{self.report()}"
                )

        return self._go_on(Goal(until_ns, lambda: bool(predicate())), done)

    def expect_fired(
        self, name: str, *, at: float | Fraction | None = None, within: float | Fraction = 60
    ) -> Awaitable[Firing]:
        """Let time pass until a timer with a name fires, and return the firing.

        Args:
            name: The name of the timer, or a part of it.
            at: When it has to fire, in seconds since the test began.
            within: The number of seconds in which it has to fire.

        Raises:
            AssertionError: It did not fire, or fired at another time.
        """
        self.hold()
        until_ns = self._program.own_clock.local_ns() + whole_ns(float(within))
        seen = len(self._log.firings)

        def found() -> Firing | None:
            return next((each for each in self.firings(seen) if name in each.name), None)

        def done(_: Goal) -> Firing:
            firing = found()
            if firing is None:
                raise AssertionError(
                    f"no timer “{name}” has fired within {float(within):g} s\n{self.report()}"
                )
            if at is not None and abs(firing.at - float(at)) > _SAME_S:
                raise AssertionError(
                    f"“{firing.name}” fired at {firing.at:g} s, not at {float(at):g} s"
                )
            return firing

        return self._go_on(Goal(until_ns, lambda: found() is not None), done)

    def _go_on(self, goal: Goal, done: Callable[[Goal], _T]) -> Awaitable[_T]:
        """Pursue a goal: at once, or in a coroutine when it is awaited."""

        def result() -> _T:
            if goal.error is not None:
                raise goal.error
            return done(goal)

        asyncio, trio = sys.modules.get("asyncio"), sys.modules.get("trio")
        if asyncio is not None and asyncio._get_running_loop() is not None:
            return self._in_asyncio(asyncio, goal, result)
        if trio is not None and trio.lowlevel.in_trio_run():
            return self._in_trio(trio, goal, result)
        reactor: Any = sys.modules.get("twisted.internet.reactor")
        if reactor is not None and reactor.running:
            return self._in_twisted(reactor, goal, result)
        loops = self._idle_loops()
        if loops:
            return Done(loops[0].run_until_complete(self._in_asyncio(asyncio, goal, result)))
        self._here(goal)
        return Done(result())

    async def _in_asyncio(self, asyncio: Any, goal: Goal, result: Callable[[], _T]) -> _T:
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def finish() -> None:
            if not future.done():
                future.set_result(None)

        goal.finish = lambda: loop.call_soon_threadsafe(finish)
        self._waits.pursue(goal)
        try:
            await future
        finally:
            self._waits.give_up(goal)
        return result()

    async def _in_trio(self, trio: Any, goal: Goal, result: Callable[[], _T]) -> _T:
        token, event = trio.lowlevel.current_trio_token(), trio.Event()
        goal.finish = lambda: token.run_sync_soon(event.set)
        self._waits.pursue(goal)
        try:
            await event.wait()
        finally:
            self._waits.give_up(goal)
        return result()

    def _in_twisted(self, reactor: Any, goal: Goal, result: Callable[[], _T]) -> Awaitable[_T]:
        defer: Any = sys.modules["twisted.internet.defer"]
        twisted: Any = sys.modules.get("pytest_twisted")
        over = defer.Deferred()
        goal.finish = lambda: reactor.callFromThread(over.callback, None)
        self._waits.pursue(goal)

        def end(passed: object) -> object:
            self._waits.give_up(goal)
            return result() if passed is None else passed

        over.addBoth(end)
        reacting = None if twisted is None else twisted._instances.gr_twisted
        if reacting is None or sys.modules["greenlet"].getcurrent() is reacting:
            awaited: Awaitable[_T] = over
            return awaited
        return Done(twisted.blockon(over))

    def _idle_loops(self) -> list[Any]:
        """Return the loop of asyncio that has to run while time passes, if there is one."""
        adapters = self._program.adapters.values()
        loops = [
            loop
            for adapter in adapters
            if adapter.state == "active"
            for loop in adapter.idle_loops()
        ]
        if len(loops) > 1:
            raise AssertionError(
                f"{len(loops)} event loops of asyncio have something to call, and none runs: await "
                "this in one of them"
            )
        return loops

    def _here(self, goal: Goal) -> None:
        qt = self._program.adapters.get("qt")
        if isinstance(qt, QtAdapter) and qt.core.QCoreApplication.instance() is not None:
            self._in_qt(qt, goal)
            return
        lock = allocate_lock()
        lock.acquire()
        goal.finish = lock.release
        self._waits.pursue(goal)
        try:
            while not goal.is_finished:
                adapters = self._program.adapters.values()
                turns = [adapter.turn() for adapter in adapters if adapter.state == "active"]
                due_ns = min((each for each in turns if each is not None), default=None)
                self._waits.wait_for(
                    lock, self._program.own_clock, due_ns, lambda: goal.is_finished
                )
        finally:
            self._waits.give_up(goal)

    def _in_qt(self, qt: QtAdapter, goal: Goal) -> None:
        self._waits.pursue(goal)
        try:
            qt.run_until(goal)
        finally:
            self._waits.give_up(goal)

    def timers(self) -> list[PendingTimer]:
        """Return the timers that are pending, by when they are due."""
        program, found = self._program, []
        for record in list(program.timers.values()):
            clock = program.clocks.by_number.get(record[CLOCK])
            if clock is None:
                continue
            due_s = round((record[DUE] - clock.local_ns()) / 1e9, _DIGITS)
            name, site = program.texts[record[NAME]], program.texts[record[SITE]]
            found.append(PendingTimer(name, due_s, clock.name, site, record[PERIOD] / 1e9))
        return sorted(found, key=lambda timer: (timer.due, timer.name))

    def firings(self, since: int = 0) -> Iterator[Firing]:
        """Yield the firings in this test, without the first ``since``."""
        for number, local_ns, late_ns in self._log.firings[since:]:
            name = self._program.texts[self._log.names.get(number, 0)]
            yield Firing(name, self._seconds(local_ns), round(late_ns / 1e9, _DIGITS))

    def report(self) -> str:
        """Return what is pending and what stops it, and what was late, for people."""
        return "\n".join([self.pending_text(), *self.late_lines()])

    def pending_text(self) -> str:
        """Return what is pending and what stops it."""
        lines = pending_lines(self._program, self._waits)
        return "\n".join([f"{self.now:g} s after the test began, {self._state()}.", *lines])

    def stuck_text(self) -> str:
        """Return why nothing can end the wait of the test."""
        if self.timers() and not self._waits.is_jumping:
            reason = "Time is held while the test waits, so that nothing will be due"
        else:
            reason = "Nothing will end what the test waits for: no timer will be due"
        return f"{reason}.\n{self.pending_text()}"

    def late_lines(self) -> list[str]:
        """Return which calls were late, and what made them late."""
        over_ns = whole_ns(self._late_s)
        if all(late_ns <= over_ns for _, _, late_ns in self._log.firings):
            return []
        # This import takes a moment, and is rarely needed.
        from .recording import late_lines  # noqa: PLC0415

        return late_lines(self._log, self._program.texts, self._began_ns, over_ns)

    def _state(self) -> str:
        if self._program.waits is None:
            return "time runs"
        if self._waits.is_jumping:
            return "time jumps to what is due once everything waits"
        return "time is held"


def _never() -> bool:
    return False
