"""What replaces functions of ``time`` and waits of threads, in a time that the test sets."""

# ruff: noqa: ANN401 - as Python has it

from __future__ import annotations

import concurrent.futures.thread as pools
import datetime as dt
import queue
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from threading import get_ident
from types import BuiltinFunctionType, ModuleType, SimpleNamespace
from typing import Any

import pytest

from inspector.probe.adapters import python_time
from inspector.probe.adapters.python_time import PythonTimeAdapter
from inspector.probe.kinds import (
    NEVER,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
)
from inspector.probe.kinds import RATE_DENOMINATOR as D
from tests.probe.adapters.played import Played

MS = 1_000_000
READINGS = ("monotonic", "perf_counter", "time")


class Native:
    """A function that looks built in."""

    __module__ = "time"
    __text_signature__ = "()"

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        self.__name__ = self.__qualname__ = name
        self.__self__ = "time"
        self.call = call

    @property  # type: ignore[misc] # is never set
    def __class__(self) -> Any:
        return BuiltinFunctionType

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self.call(*args, **named)

    def __repr__(self) -> str:
        return f"<built-in function {self.__name__}>"


class Later:
    """What a thread timer calls."""

    def function(self) -> None: ...


class Time(Played):
    """A program with stand-ins for ``time`` and ``threading``.

    Attributes:
        ahead_ns: By how much each clock of the machine is ahead of the first.
        waited_s: For how long Python itself has waited.
        is_over: Whether what is waited for comes.
        during: Called while Python sleeps.
        imported: What is called when modules are imported.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: C901 - small classes
        super().__init__(400 * MS)
        self.ahead_ns = {"monotonic": 0, "perf_counter": 7, "time": 10**15}
        self.waited_s: list[Any] = []
        self.is_over: Callable[[], bool] = lambda: False
        self.during: Callable[[], object] = lambda: None
        self.imported: dict[str, Callable[[Any], object]] = {}
        self.within: dict[str, Callable[[], AbstractContextManager[None]]] = {}
        module: Any = ModuleType("time")
        self.module = module
        for name in READINGS:
            for each, scale in ((name, 1e9), (f"{name}_ns", 1)):
                read = self._reading(name, scale)
                setattr(module, each, Native(each, read))
        module.sleep = Native("sleep", self._sleep)
        played = self

        class Condition:
            is_owned = True

            def __init__(self) -> None:
                self._waiters: list[Any] = []

            def _is_owned(self) -> bool:
                return self.is_owned

            def _release_save(self) -> str:
                self.is_owned = False
                return "state"

            def _acquire_restore(self, state: object) -> None:
                assert state == "state"
                self.is_owned = True

            def wait(self, timeout: Any = None) -> bool:
                return played.wait(timeout)

        class Thread:
            is_running, ident = True, 7

            def join(self, timeout: Any = None) -> None:
                self.is_running = not played.wait(timeout)

            def is_alive(self) -> bool:
                return self.is_running

            def start(self) -> None:
                played.waited_s.append("started")

        self.condition, self.thread = Condition(), Thread()
        self.threading: Any = SimpleNamespace(
            Condition=Condition,
            Thread=Thread,
            Timer=Later,
            current_thread=lambda: None,
            _active={7: self.thread},
        )
        monkeypatch.setattr(python_time, "threading", self.threading)
        monkeypatch.setattr(python_time, "time", self.module)
        monkeypatch.setattr(python_time, "when_imported", self.imported.__setitem__)
        monkeypatch.setattr(python_time, "import_within", self.within.__setitem__)
        self.adapter = PythonTimeAdapter(self.program)
        self.events.clear()

    def _reading(self, name: str, scale: float) -> Callable[[], float]:
        return lambda: (
            (self.now_ns + self.ahead_ns[name]) / scale
            if scale > 1
            else (self.now_ns + self.ahead_ns[name])
        )

    def _sleep(self, *seconds: Any) -> None:
        self.waited_s.extend(seconds)
        self.now_ns += round(seconds[0] * 1e9)
        self.during()

    def wait(self, timeout: Any) -> bool:
        self.waited_s.append(timeout)
        if self.is_over():
            return True
        if isinstance(timeout, float):
            self.now_ns += round(timeout * 1e9)
        self.during()
        return False

    def install(self) -> None:
        self.adapter.installed(self.module)
        self.now_ns += 100 * MS

    def of(self, kind: int) -> list[tuple[int, float, float]]:
        return [(n, a / MS, b / MS) for _, found, n, a, b in self.events if found == kind]

    def named(self, kind: int, place: int) -> list[str]:
        return [self.program.texts[event[place]] for event in self.events if event[1] == kind]

    def read_ns(self) -> list[int]:
        """Return what a program reads, each clock in nanoseconds."""
        seconds = [getattr(self.module, name)() for name in READINGS]
        found = [getattr(self.module, f"{name}_ns")() for name in READINGS]
        assert seconds == [each / 1e9 for each in found]
        return found


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    return Time(monkeypatch)


GONE = NEVER / MS


def test_that_what_a_program_reads_follows_its_clock_from_the_first_change_on(time: Time) -> None:
    time.install()
    kept = time.module.monotonic_ns
    native = [500 * MS, 500 * MS + 7, 500 * MS + 10**15]
    assert time.read_ns() == native
    assert time.imported["datetime"] == time.adapter._spare
    time.set_rate(D // 4)
    assert time.read_ns() == native
    time.now_ns += 20 * MS
    assert time.read_ns() == [each + 5 * MS for each in native]
    assert kept() == 505 * MS
    assert time.imported["datetime"] == time.adapter._follow_datetime


def test_that_a_clock_that_is_slow_already_is_followed_at_once(time: Time) -> None:
    time.set_rate(D // 2)
    time.install()

    assert time.read_ns()[0] == 450 * MS


@pytest.mark.parametrize(("by_ns", "is_set"), [(MS, False), (MS + 1, True), (-MS - 1, True)])
def test_that_the_time_of_day_is_set_as_the_machines_is(
    time: Time, by_ns: int, *, is_set: bool
) -> None:
    time.install()
    time.set_rate(D // 2)
    before = time.read_ns()
    time.ahead_ns["time"] += by_ns

    assert time.read_ns() == [*before[:2], before[2] + by_ns * is_set]


def test_that_the_time_of_day_may_be_ahead_and_returns_to_the_machines(time: Time) -> None:
    time.install()
    time.set_rate(D // 2)
    before = time.read_ns()
    time.adapter.day_ns = 9
    assert time.read_ns() == [*before[:2], before[2] + 9]
    time.now_ns += 20 * MS
    time.adapter.return_to_machine()

    assert time.read_ns()[2] == time.now_ns + time.ahead_ns["time"]
    assert time.read_ns()[0] == before[0] + 10 * MS


class Day(dt.datetime):
    """A class of dates that can be changed."""

    now = vars(dt.datetime)["now"]
    utcnow = vars(dt.datetime)["utcnow"]
    fromtimestamp = vars(dt.datetime)["fromtimestamp"]


@pytest.fixture
def dates(monkeypatch: pytest.MonkeyPatch) -> Any:
    for name in ("now", "utcnow"):
        monkeypatch.setattr(Day, name, vars(Day)[name])
    return SimpleNamespace(datetime=Day, timezone=dt.timezone)


@pytest.mark.filterwarnings("ignore:datetime:DeprecationWarning")
def test_that_dates_follow_the_time_of_day(time: Time, dates: Any) -> None:
    time.ahead_ns["time"] = 1_700_000_000 * 10**9
    time.install()
    time.set_rate(D // 4)
    time.imported["datetime"](dates)
    time.now_ns += 20 * MS + 3_000
    utc = dt.timezone.utc  # noqa: UP017 - as Python 3.9 has it
    at = dt.datetime(2023, 11, 14, 22, 13, 20, 505_000, utc)  # 1,700,000,000.505 s

    assert Day.now(utc) == at
    assert Day.now().timestamp() == at.timestamp()
    assert Day.utcnow() == at.replace(tzinfo=None)
    assert (type(Day.now()), Day.now.__qualname__) == (Day, "Day.now")
    assert Day.now.__doc__ == dt.datetime.now.__doc__
    # A library that changes the functions in C finds those.
    natives = time.within["_time_machine"]
    sleep = time.module.sleep
    with natives():
        assert type(time.module.sleep) is Native
        assert abs(Day.now(utc).year - 2023) > 1
    assert time.module.sleep is sleep
    assert Day.now(utc) == at


def test_that_functions_in_c_are_found_without_dates_too(time: Time) -> None:
    time.install()
    with time.within["_time_machine"]():
        assert type(time.module.monotonic) is Native

    assert type(time.module.monotonic) is not Native


def test_that_dates_that_cannot_follow_are_mentioned(time: Time, dates: Any) -> None:
    class Fixed(type):
        def __setattr__(cls, name: str, value: object) -> None:
            raise AttributeError(name)

    class FixedDay(Day, metaclass=Fixed):
        now, utcnow, fromtimestamp = (vars(Day)[n] for n in ("now", "utcnow", "fromtimestamp"))

    time.install()
    time.set_rate(D // 2)
    dates.datetime = FixedDay
    time.imported["datetime"](dates)

    assert "datetime.now() keeps the machine's time" in time.adapter.message
    assert time.adapter._datetime is None


def test_that_modules_that_use_the_machines_time_keep_it(time: Time) -> None:
    native = time.module.monotonic
    time.install()
    spared = SimpleNamespace(time=time.module, read=time.module.monotonic, other=7)
    time.imported["ssl"](spared)
    assert (spared.read, spared.other) == (native, 7)
    assert spared.time.monotonic is native
    followed = SimpleNamespace(read=native, other=7, built_in=len)
    for name in ("queue", "threading"):
        time.imported[name](followed)

    assert followed.read is time.module.monotonic
    assert (followed.other, followed.built_in) == (7, len)


def test_that_a_sleep_is_a_timer(time: Time) -> None:
    time.install()
    time.set_rate(D // 2)
    time.module.sleep(0.0200000001)

    # Never shorter than was asked for.
    assert time.of(TIMER_ARMED) == [(1, 120.000001, 0)]
    ((number, late_ms, next_ms),) = time.of(TIMER_FIRED)
    assert (number, next_ms) == (1, GONE)
    assert 0 <= late_ms <= 1e-6
    assert time.named(TIMER_ADDED, 4) == ["time.sleep"]
    assert time.named(TIMER_ORIGIN, 3)[0].startswith(f"{__file__}:")
    assert time.now_ns == pytest.approx(540 * MS, abs=3)
    assert time.waited_s == []


def test_that_an_interrupted_sleep_is_gone(time: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    time.install()
    monkeypatch.setattr(time.program, "sleep_until", interrupt)
    with pytest.raises(KeyboardInterrupt):
        time.module.sleep(0.02)

    assert [n for n, *_ in time.of(TIMER_CLEARED)] == [1]


@pytest.mark.parametrize("seconds", [(0,), (-1,), (2**31,), (0.1, 0.2), (True,)])
def test_that_sleeps_that_do_not_wait_are_pythons_own(time: Time, seconds: Any) -> None:
    time.install()
    time.module.sleep(*seconds)

    is_span = seconds == (True,)
    assert (time.waited_s, time.count(TIMER_ADDED)) == ([], 1) if is_span else ([*seconds], 0)


def test_that_without_an_inspector_nothing_is_followed(time: Time) -> None:
    time.install()
    time.program.emit = None
    time.module.sleep(0.02)
    assert time.condition.wait(0.02) is False
    time.thread.join(0.02)
    with pytest.raises(TypeError):
        time.module.sleep(seconds=1)

    assert time.waited_s == [0.02] * 3
    assert time.program.timers == {}


def test_that_a_thread_that_sleeps_when_an_inspector_comes_is_seen(
    time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    time.install()
    time.program.detach()

    def come() -> None:
        time.during = lambda: None
        sleeping = sys._getframe(3)
        time.attach()
        frames = {get_ident(): sleeping, 1: sys._getframe()}
        monkeypatch.setattr(sys, "_current_frames", lambda: frames)
        assert list(time.adapter.keyframe(time.adapter.clock)) == [None, None]

    time.during = come
    time.module.sleep(0.02)
    time.module.sleep(0)
    assert time.of(TIMER_ARMED) == [(1, 120, 0)]
    assert time.of(TIMER_FIRED) == [(1, 0, GONE)]
    assert time.named(TIMER_ORIGIN, 3)[0].startswith(f"{__file__}:")
    # Those of another inspector, or of another process, are not its own.
    for forget in (time.adapter.attached, time.adapter.forked):
        time.adapter._sleeping[get_ident()] = time.program.timer(time.adapter.clock, "old", 0, 0)
        forget()
        assert time.adapter._sleeping == {}


@pytest.mark.parametrize("name", ["Condition.wait", "Thread.join"])
def test_that_a_limited_wait_is_a_timer_that_follows_its_clock(time: Time, name: str) -> None:
    time.install()
    wait: Any = time.condition.wait if name == "Condition.wait" else time.thread.join
    begun_ns = time.now_ns
    assert not wait(2.5)
    # In parts, so that it notices a change of the clock.
    assert time.waited_s == [1, 1, 0.5]
    assert time.now_ns - begun_ns == 2_500 * MS
    time.set_rate(D // 2)
    time.waited_s.clear()
    wait(0.06)
    assert time.waited_s == [0.05, 0.05, pytest.approx(0.02)]
    time.hold()
    time.waited_s.clear()
    time.during = lambda: time.resume() if len(time.waited_s) == 3 else None
    wait(0.01)
    assert time.waited_s == [0.05, 0.05, 0.05, pytest.approx(0.02)]
    assert time.named(TIMER_ADDED, 4) == [name] * 3
    assert all(site.startswith(f"{__file__}:") for site in time.named(TIMER_ORIGIN, 3))
    assert time.of(TIMER_FIRED) == [(n, 0, GONE) for n in (1, 2, 3)]

    time.is_over = lambda: True
    assert wait(2.5) in (True, None)
    time.is_over = lambda: time.interrupted  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="interrupted"):
        wait(2.5)
    assert [n for n, *_ in time.of(TIMER_CLEARED)] == [4, 5]


@pytest.mark.parametrize("timeout", [None, 0, -1, 2**31, "soon"])
def test_that_waits_without_a_limit_are_pythons_own(time: Time, timeout: Any) -> None:
    time.install()
    time.condition.wait(timeout)
    time.thread.join(timeout)

    assert time.waited_s == [timeout] * 2
    assert time.count(TIMER_ADDED) == 0


def test_that_a_thread_that_virtual_time_spares_waits_by_the_machines(time: Time) -> None:
    time.install()
    time.program.waits = SimpleNamespace(spares_me=True)  # type: ignore[assignment]
    time.module.sleep(0.02)
    time.condition.wait(0.02)
    time.thread.join(0.02)

    assert time.waited_s == [0.02] * 3
    assert time.count(TIMER_ADDED) == 0


def test_that_threads_keep_the_time_of_those_that_start_them(time: Time) -> None:
    time.install()
    started: list[object] = []
    time.adapter.follow_starts(started.append)
    time.thread.start()

    assert (started, time.waited_s) == ([time.thread], ["started"])


def test_that_what_replaces_a_function_looks_like_it(time: Time) -> None:
    native = time.module.monotonic
    time.install()
    found: Any = time.module.monotonic

    class Program:
        read = found

    assert repr(found) == repr(native)
    assert Program().read() == 0.5
    assert found.__reduce__() == "monotonic"
    assert found.__class__ is BuiltinFunctionType
    assert (found.__name__, found.__qualname__, found.__self__) == ("monotonic",) * 2 + ("time",)
    assert [getattr(found, f"__{name}__") for name in ("module", "text_signature")] == [
        "time",
        "()",
    ]
    assert time.adapter.capabilities(time.adapter.clock).keys() == {"clear_timer"}


class Waits:
    """Virtual time, and what happens while a thread waits in it.

    Attributes:
        waited: The due instants of what has waited.
    """

    spares_me, rounding_ns = False, 5

    def __init__(self, time: Time) -> None:
        self.returning: set[int] = set()
        self.waited: list[int | None] = []
        self.turns: list[Callable[[Any], bool]] = []
        self.time = time
        time.program.waits = self  # type: ignore[assignment]

    def wait_for(
        self, waiter: Any, clock: object, due_ns: int | None, is_over: Callable[[], bool]
    ) -> bool:
        assert clock is self.time.adapter.clock
        assert not self.time.condition.is_owned
        assert waiter.locked()
        assert not is_over()
        self.waited.append(due_ns)
        return self.turns.pop(0)(waiter)

    def wait_in_slices(
        self,
        _clock: object,
        due_ns: int | None,
        has_ended: Callable[[], bool],
        is_ending: Callable[[], bool],
    ) -> None:
        self.waited.append(due_ns)
        assert (has_ended(), is_ending()) == (False, False)
        self.time.is_over = lambda: self.turns[0](None)
        self.time.threading._active.clear()
        assert (has_ended(), is_ending()) == (self.turns[0](None), True)


@pytest.fixture
def waits(time: Time) -> Waits:
    time.install()
    return Waits(time)


def _notify(time: Time, waiter: Any) -> bool:
    time.condition._waiters.remove(waiter)
    return False


def _pass(time: Time, _waiter: object) -> bool:
    time.now_ns += 30 * MS
    return True


@pytest.mark.parametrize("is_notified", [True, False])
@pytest.mark.parametrize("timeout", [0.02, None])
def test_that_a_condition_is_waited_for_in_virtual_time(
    time: Time, waits: Waits, timeout: float | None, *, is_notified: bool
) -> None:
    waits.turns.append(partial(_notify if is_notified else _pass, time))
    assert time.condition.wait(timeout) is is_notified

    assert waits.waited == [None if timeout is None else 120 * MS + 5]
    assert (time.condition._waiters, time.condition.is_owned) == ([], True)
    limited = [1] if timeout else []
    assert [n for n, *_ in time.of(TIMER_CLEARED)] == limited * is_notified
    assert time.of(TIMER_FIRED) == [(1, 10, GONE) for _ in limited] * (not is_notified)
    assert time.named(TIMER_ADDED, 4) == ["Condition.wait" for _ in limited]
    assert all(site.startswith(f"{__file__}:") for site in time.named(TIMER_ORIGIN, 3))
    time.condition.is_owned = False
    with pytest.raises(RuntimeError, match="un-acquired lock"):
        time.condition.wait(timeout)


@pytest.mark.parametrize("is_notified", [True, False])
def test_that_a_thread_that_waited_in_a_test_goes_on_waiting_in_another(
    time: Time, waits: Waits, *, is_notified: bool
) -> None:
    seen: list[set[int]] = []

    def turn(waiter: Any) -> bool:
        seen.append(set(waits.returning))
        return False if len(seen) < 3 else (_notify if is_notified else _pass)(time, waiter)

    waits.turns += [turn] * 3

    assert time.condition.wait(0.02) is is_notified
    # It is known to come back to virtual time once it has left it.
    assert seen == [set(), {get_ident()}, {get_ident()}]
    assert waits.returning == set()


class Waiter:
    """A lock that is released after some waits in a time that the test sets."""

    def __init__(self, time: Time, waits: float) -> None:
        self.time = time
        self.waits = waits

    def locked(self) -> bool:
        return self.waits > 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:  # noqa: FBT002 - as Python's
        if blocking and timeout > 0:
            self.time.now_ns += round(timeout * 1e9)
            self.waits -= 1
        return not self.locked()


@pytest.mark.parametrize(
    ("timeout", "notified_after", "waited_ms"), [(0.02, 9, 30), (0.02, 1, 15), (None, 3, 45)]
)
def test_that_a_thread_that_waited_in_a_test_goes_on_by_the_machines_time(  # noqa: PLR0913, PLR0917
    time: Time,
    waits: Waits,
    monkeypatch: pytest.MonkeyPatch,
    timeout: float | None,
    notified_after: int,
    waited_ms: int,
) -> None:
    def leave(_waiter: Any) -> bool:
        time.program.waits = None
        return False

    monkeypatch.setattr(python_time, "_RETURN_SLICE_S", 0.015)
    monkeypatch.setattr(python_time, "allocate_lock", lambda: Waiter(time, notified_after))
    waits.turns.append(leave)
    began_ns = time.now_ns

    is_notified = time.condition.wait(timeout)

    assert (time.now_ns - began_ns) // MS == waited_ms
    assert is_notified is (waited_ms == 15 * notified_after)
    assert time.condition.is_owned
    limited = [1] if timeout else []
    assert [n for n, *_ in time.of(TIMER_CLEARED)] == limited * is_notified
    assert time.of(TIMER_FIRED) == [(1, 10, GONE) for _ in limited] * (not is_notified)


@pytest.mark.parametrize("is_over", [True, False])
def test_that_a_thread_is_joined_in_virtual_time(
    time: Time, waits: Waits, *, is_over: bool
) -> None:
    waits.turns.append(lambda _: is_over)
    time.thread.join(0.02)
    assert waits.waited == [120 * MS + 5]
    assert time.waited_s == [0.002, 0.002]
    assert (time.count(TIMER_CLEARED), time.count(TIMER_FIRED)) == (is_over, not is_over)
    assert time.named(TIMER_ADDED, 4) == ["Thread.join"]
    assert time.named(TIMER_ORIGIN, 3)[0].startswith(f"{__file__}:")
    # One that has ended, or the calling one, is not waited for.
    time.waited_s.clear()
    time.thread.is_running = False
    time.thread.join()
    time.thread.is_running = True
    time.threading.current_thread = lambda: time.thread
    time.thread.join(0.03)
    assert time.waited_s == [None, 0.03]
    assert len(waits.waited) == 1


@pytest.mark.parametrize("timeout", [0, -1, "soon"])
def test_that_waits_that_do_not_wait_are_none_of_virtual_time(
    time: Time, waits: Waits, timeout: Any
) -> None:
    time.condition.wait(timeout)
    time.thread.join(timeout)

    assert (time.waited_s, waits.waited) == ([timeout] * 2, [])


#: Functions of Python that wait by a condition.
WAITING = """
class Event:
    def wait(self, wait):
        return wait(0.02)
class Timer(Later):
    def run(self, wait):
        return wait(0.02)
class Thread:
    def _bootstrap(self, wait):
        return Event().wait(wait)
"""


@pytest.mark.parametrize(
    ("call", "name"),
    [("Event().wait", "Event.wait"), ("Timer().run", "function"), ("Thread()._bootstrap", "Event")],
)
def test_that_a_wait_is_named_after_what_the_program_has_called(
    time: Time, call: str, name: str
) -> None:
    functions: dict[str, Any] = {"__name__": "queue", "Later": Later}
    exec(compile(WAITING, "/x/queue.py", "exec"), functions)  # noqa: S102 - the library
    time.install()
    eval(call, functions)(time.condition.wait)  # noqa: S307 - our own text

    (found,), (site,) = time.named(TIMER_ADDED, 4), time.named(TIMER_ORIGIN, 3)
    assert name in found
    assert ("python_time_stand_ins" in site) is ("_bootstrap" not in call)


def test_that_queues_of_virtual_time_wait_by_conditions(
    time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_c = queue.SimpleQueue
    monkeypatch.setattr(pools, "queue", queue)
    time.adapter.follow_queues()

    in_python: Any = vars(pools)["queue"]
    assert in_python.SimpleQueue is vars(queue)["_PySimpleQueue"]
    assert in_python.Empty is queue.Empty
    assert queue.SimpleQueue is in_c
