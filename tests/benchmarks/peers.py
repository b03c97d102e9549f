"""What others offer, behind the same face: asyncio, sched and five packages.

Each is used the way its manual says, with virtual time in the place where it asks
for the time. A package that is not installed is reported by name.

Known traps, all met while measuring: Kivy fires up to a third of a frame early; pyglet
counts an interval from the frame that was late and spreads what is very late; Panda3D
waits from the frame again, needs ``set_delay`` (``task.delay = …`` silently makes a Python
attribute), and its ``again`` comes from ``AsyncTask``; asyncio and sched have no repetition,
so their users schedule the next call from the last.
"""

from __future__ import annotations

import asyncio
import os
import sched
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from tests.benchmarks.schedulers import (
    Instants,
    RedistributingScheduler,
    Scheduler,
    counter,
    counter_of_one_argument,
    seconds,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tests.benchmarks.measuring import Work


@dataclass(frozen=True, slots=True)
class Peer:
    """Somebody we are compared with.

    Attributes:
        name: What the table calls it.
        package: What has to be importable for it.
        make: Makes a fresh one.
    """

    name: str
    package: str
    make: Callable[[], Scheduler]

    @property
    def is_installed(self) -> bool:
        """Whether its package can be imported."""
        return find_spec(self.package) is not None


class AsyncioScheduler:
    """An event loop of asyncio that waits for nothing; one iteration per frame."""

    def __init__(self) -> None:
        loop: Any = asyncio.BaseEventLoop()
        self._loop = loop
        self._loop._selector = _NothingToSelect()
        self._loop._process_events = lambda _: None
        self._now = 0.0
        self._loop.time = lambda: self._now
        self._instants = Instants()
        self._fire, self.fired = counter()

    def once(self, delays_ns: Sequence[int]) -> Work:
        call_later, fire, delays = self._loop.call_later, self._fire, seconds(delays_ns)

        def work() -> None:
            for delay in delays:
                call_later(delay, fire)

        return work

    def repeat(self, intervals_ns: Sequence[int]) -> Work:
        call_later, fire = self._loop.call_later, self._fire

        def chain(interval: float) -> Callable[[], None]:
            def fire_again() -> None:
                fire()
                call_later(interval, fire_again)

            return fire_again

        calls = [(interval, chain(interval)) for interval in seconds(intervals_ns)]

        def work() -> None:
            for interval, call in calls:
                call_later(interval, call)

        return work

    def churn(self, delays_ns: Sequence[int]) -> Work:
        call_later, fire, delays = self._loop.call_later, self._fire, seconds(delays_ns)

        def work() -> None:
            for delay in delays:
                call_later(delay, fire).cancel()

        return work

    def frames(self, deltas_ns: Iterable[int]) -> Work:
        run_once, instants = self._loop._run_once, self._instants.after(deltas_ns)

        def work() -> None:
            for self._now in instants:
                run_once()

        return work

    def close(self) -> None:
        self._loop.close()


class _NothingToSelect:
    """Stands in for a selector with no files."""

    def select(self, _: float | None) -> list[object]:
        """Return at once."""
        return []


class SchedScheduler:
    """The standard library's ``sched``."""

    def __init__(self) -> None:
        self._now = 0.0
        self._sched = sched.scheduler(lambda: self._now, lambda _: None)
        self._instants = Instants()
        self._fire, self.fired = counter()

    def once(self, delays_ns: Sequence[int]) -> Work:
        enter, fire, delays = self._sched.enter, self._fire, seconds(delays_ns)

        def work() -> None:
            for delay in delays:
                enter(delay, 0, fire)

        return work

    def repeat(self, intervals_ns: Sequence[int]) -> Work:
        enter, fire = self._sched.enter, self._fire

        def chain(interval: float) -> Callable[[], None]:
            def fire_again() -> None:
                fire()
                enter(interval, 0, fire_again)

            return fire_again

        calls = [(interval, chain(interval)) for interval in seconds(intervals_ns)]

        def work() -> None:
            for interval, call in calls:
                enter(interval, 0, call)

        return work

    def churn(self, delays_ns: Sequence[int]) -> Work:
        enter, cancel, fire = self._sched.enter, self._sched.cancel, self._fire
        delays = seconds(delays_ns)

        def work() -> None:
            for delay in delays:
                cancel(enter(delay, 0, fire))

        return work

    def frames(self, deltas_ns: Iterable[int]) -> Work:
        run, instants = self._sched.run, self._instants.after(deltas_ns)

        def work() -> None:
            for self._now in instants:
                run(blocking=False)

        return work

    def close(self) -> None:
        """Hold nothing."""


class PygletScheduler:
    """pyglet's clock; nothing of its window system is imported."""

    def __init__(self) -> None:
        import pyglet.clock

        self._now = 0.0
        self._clock = pyglet.clock.Clock(lambda: self._now)
        self._clock.tick(poll=True)
        self._instants = Instants()
        self._fire, self.fired = counter_of_one_argument()

    def once(self, delays_ns: Sequence[int]) -> Work:
        schedule_once, fire, delays = self._clock.schedule_once, self._fire, seconds(delays_ns)

        def work() -> None:
            for delay in delays:
                schedule_once(fire, delay)

        return work

    def repeat(self, intervals_ns: Sequence[int]) -> Work:
        schedule_interval, fire = self._clock.schedule_interval, self._fire
        intervals = seconds(intervals_ns)

        def work() -> None:
            for interval in intervals:
                schedule_interval(fire, interval)

        return work

    def churn(self, delays_ns: Sequence[int]) -> Work:
        """Cancelling is by function and looks at everything."""
        clock, delays = self._clock, seconds(delays_ns)

        def other(_: float) -> None: ...

        def work() -> None:
            for delay in delays:
                clock.schedule_once(other, delay)
                clock.unschedule(other)

        return work

    def frames(self, deltas_ns: Iterable[int]) -> Work:
        tick, instants = self._clock.tick, self._instants.after(deltas_ns)

        def work() -> None:
            for self._now in instants:
                tick(True)

        return work

    def close(self) -> None:
        """Hold nothing."""


class KivyScheduler:
    """Kivy's default clock, with frames when told and no sleep between."""

    def __init__(self) -> None:
        for variable in ("NO_ARGS", "NO_CONFIG", "NO_CONSOLELOG", "NO_ENV_CONFIG", "NO_FILELOG"):
            os.environ[f"KIVY_{variable}"] = "1"
        from kivy.clock import ClockBase

        self._now = 0.0
        self._clock = clock = ClockBase()
        clock.time = lambda: self._now
        clock.idle = self._idle
        clock._last_tick = clock._start_tick = clock._duration_ts0 = 0.0
        self._instants = Instants()
        self._fire, self.fired = counter_of_one_argument()

    def _idle(self) -> float:
        """Do what Kivy's own does, without the sleep."""
        clock, now = self._clock, self._now
        clock._dt = now - clock._last_tick
        clock._last_tick = now
        return now

    def once(self, delays_ns: Sequence[int]) -> Work:
        schedule_once, fire, delays = self._clock.schedule_once, self._fire, seconds(delays_ns)

        def work() -> None:
            for delay in delays:
                schedule_once(fire, delay)

        return work

    def repeat(self, intervals_ns: Sequence[int]) -> Work:
        schedule_interval, fire = self._clock.schedule_interval, self._fire
        intervals = seconds(intervals_ns)

        def work() -> None:
            for interval in intervals:
                schedule_interval(fire, interval)

        return work

    def churn(self, delays_ns: Sequence[int]) -> Work:
        schedule_once, fire, delays = self._clock.schedule_once, self._fire, seconds(delays_ns)

        def work() -> None:
            for delay in delays:
                schedule_once(fire, delay).cancel()

        return work

    def frames(self, deltas_ns: Iterable[int]) -> Work:
        tick, instants = self._clock.tick, self._instants.after(deltas_ns)

        def work() -> None:
            for self._now in instants:
                tick()

        return work

    def close(self) -> None:
        """Hold nothing."""


class PandaScheduler:
    """Panda3D's task manager, the C++ classes that ``taskMgr`` wraps."""

    def __init__(self) -> None:
        from panda3d.core import AsyncTask, AsyncTaskManager, ClockObject, PythonTask

        self._clock = ClockObject()
        self._clock.set_mode(ClockObject.M_slave)
        self._manager = AsyncTaskManager("benchmark")
        self._manager.set_clock(self._clock)
        self._task = PythonTask
        self._named_tasks = 0
        self._instants = Instants()
        count = 0
        done, again = AsyncTask.DS_done, AsyncTask.DS_again

        def fire(_: object) -> object:
            nonlocal count
            count += 1
            return done

        def fire_again(_: object) -> object:
            nonlocal count
            count += 1
            return again

        self._fire, self._fire_again = fire, fire_again
        self.fired = lambda: count

    def once(self, delays_ns: Sequence[int]) -> Work:
        return self._add(delays_ns, self._fire)

    def repeat(self, intervals_ns: Sequence[int]) -> Work:
        return self._add(intervals_ns, self._fire_again)

    def _add(self, delays_ns: Sequence[int], function: Callable[[object], object]) -> Work:
        make, add = self._task, self._manager.add
        tasks = self._named(delays_ns)

        def work() -> None:
            for name, delay in tasks:
                task = make(function, name)
                task.set_delay(delay)
                add(task)

        return work

    def _named(self, delays_ns: Sequence[int]) -> list[tuple[str, float]]:
        """Every task of Panda3D has a name, by which it is found again."""
        self._named_tasks += len(delays_ns)
        first = self._named_tasks - len(delays_ns)
        return [(f"task {number}", delay) for number, delay in enumerate(seconds(delays_ns), first)]

    def churn(self, delays_ns: Sequence[int]) -> Work:
        make, manager, fire = self._task, self._manager, self._fire
        tasks = self._named(delays_ns)

        def work() -> None:
            for name, delay in tasks:
                task = make(fire, name)
                task.set_delay(delay)
                manager.add(task)
                manager.remove(task)

        return work

    def frames(self, deltas_ns: Iterable[int]) -> Work:
        set_frame_time, poll = self._clock.set_frame_time, self._manager.poll
        instants = self._instants.after(deltas_ns)

        def work() -> None:
            for now in instants:
                set_frame_time(now)
                poll()

        return work

    def close(self) -> None:
        self._manager.cleanup()


class SimpyScheduler:
    """simpy's environment: callbacks on timeouts, which cannot be taken back."""

    def __init__(self) -> None:
        import simpy

        self._environment = simpy.Environment()
        self._instants = Instants()
        self._fire, self.fired = counter_of_one_argument()

    def once(self, delays_ns: Sequence[int]) -> Work:
        timeout, fire, delays = self._environment.timeout, self._fire, seconds(delays_ns)

        def work() -> None:
            for delay in delays:
                timeout(delay).callbacks.append(fire)

        return work

    def repeat(self, intervals_ns: Sequence[int]) -> Work:
        """As its users do: every call schedules the next."""
        timeout, fire = self._environment.timeout, self._fire

        def chain(interval: float) -> Callable[[object], None]:
            def fire_again(event: object) -> None:
                fire(event)
                timeout(interval).callbacks.append(fire_again)

            return fire_again

        calls = [(interval, chain(interval)) for interval in seconds(intervals_ns)]

        def work() -> None:
            for interval, call in calls:
                timeout(interval).callbacks.append(call)

        return work

    def frames(self, deltas_ns: Iterable[int]) -> Work:
        run, instants = self._environment.run, self._instants.after(deltas_ns)

        def work() -> None:
            for now in instants:
                run(now)

        return work

    def close(self) -> None:
        """Hold nothing."""


class TwistedScheduler:
    """A reactor of Twisted with no files; repetition by ``LoopingCall``."""

    def __init__(self) -> None:
        from twisted.internet.base import ReactorBase

        self._now = 0.0
        members = {"installWaker": lambda _: None, "seconds": lambda _: self._now}
        self._reactor = type("VirtualReactor", (ReactorBase,), members)()
        self._instants = Instants()
        self._fire, self.fired = counter()

    def once(self, delays_ns: Sequence[int]) -> Work:
        call_later, fire, delays = self._reactor.callLater, self._fire, seconds(delays_ns)

        def work() -> None:
            for delay in delays:
                call_later(delay, fire)

        return work

    def repeat(self, intervals_ns: Sequence[int]) -> Work:
        from twisted.internet.task import LoopingCall

        calls = []
        for interval in seconds(intervals_ns):
            call = LoopingCall(self._fire)
            call.clock = self._reactor
            calls.append((interval, call))

        def work() -> None:
            for interval, call in calls:
                call.start(interval, now=False)

        return work

    def churn(self, delays_ns: Sequence[int]) -> Work:
        call_later, fire, delays = self._reactor.callLater, self._fire, seconds(delays_ns)

        def work() -> None:
            for delay in delays:
                call_later(delay, fire).cancel()

        return work

    def frames(self, deltas_ns: Iterable[int]) -> Work:
        run_until_current, instants = self._reactor.runUntilCurrent, self._instants.after(deltas_ns)

        def work() -> None:
            for self._now in instants:
                run_until_current()

        return work

    def close(self) -> None:
        """Hold nothing: the reactor never ran."""


ASYNCIO = Peer("asyncio", "asyncio", AsyncioScheduler)
SCHED = Peer("sched", "sched", SchedScheduler)
PYGLET = Peer("pyglet", "pyglet", PygletScheduler)
KIVY = Peer("Kivy", "kivy", KivyScheduler)
PANDA = Peer("Panda3D", "panda3d", PandaScheduler)
SIMPY = Peer("simpy", "simpy", SimpyScheduler)
TWISTED = Peer("Twisted", "twisted", TwistedScheduler)
REDISTRIBUTING = Peer("redistributing", "heapq", RedistributingScheduler)

PEERS = (PYGLET, KIVY, PANDA, SIMPY, TWISTED, ASYNCIO, SCHED, REDISTRIBUTING)
