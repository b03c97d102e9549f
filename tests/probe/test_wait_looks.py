"""When threads that wait are looked at, and what a test in virtual time begins with."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from threading import Event, Thread, get_ident
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe import waits as module
from inspector.probe.awaited import Goal, Wait, never
from inspector.probe.program import Program
from inspector.probe.waits import Waits
from tests.probe.begun_waits import begun

FIRST_S, LAST_S = module._FIRST_CHECK_S, module._LAST_CHECK_S


class Signal:
    """The lock that the watching thread waits for; who waits too often is ended."""

    def __init__(self) -> None:
        self.is_locked = True
        self.waits_s: list[float] = []
        self.on_wait: Callable[[], object] = lambda: None

    def locked(self) -> bool:
        return self.is_locked

    def release(self) -> None:
        assert self.is_locked
        self.is_locked = False

    def acquire(self, blocking: object = True, timeout_s: float = -1.0) -> bool:  # noqa: FBT002
        assert blocking
        assert len(self.waits_s) < 10
        self.waits_s.append(timeout_s)
        self.is_locked = True
        self.on_wait()
        return True


class Looking:
    """Virtual time that the test's thread is in, with a signal that the test sees."""

    def __init__(self) -> None:
        waits: Any
        waits, self.clock = begun()
        self.waits = waits
        self.signal: Any = Signal()
        waits._signal = self.signal
        self.rest()

    def rest(self) -> None:
        """Wait as the watching thread does when nothing is to be looked at."""
        self.waits._is_watching = False
        self.signal.is_locked = True

    @property
    def is_hurried(self) -> bool:
        return not self.signal.is_locked


@pytest.fixture
def looking() -> Looking:
    return Looking()


@pytest.fixture
def other() -> Iterator[int]:
    """A thread of the program that waits by the machine's time."""
    ended = Event()
    thread = Thread(target=ended.wait)
    thread.start()
    assert thread.ident is not None
    yield thread.ident
    ended.set()
    thread.join()


# ------------------------------------------------------------------------------------- beginnings


def test_that_sleeps_are_longer_by_what_readings_in_seconds_may_be_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = []
    for now_ns in (10**15, 10**19):
        monkeypatch.setattr(module, "monotonic_ns", lambda now_ns=now_ns: now_ns)
        waits = Waits(SimpleNamespace(waits=None), lambda _passed_ns: None)
        found.append(waits.rounding_ns)
        assert not waits.is_jumping

    assert found == [1, 1_908]


def test_that_a_test_begins_with_nothing_of_the_one_before(looking: Looking) -> None:
    waits, clock = looking.waits, looking.clock
    waits.pursue(Goal(None, never))
    waits._waiting[1] = Wait(clock, None, never)
    waits.passed_for["server"] = waits.readings = 5
    waits._has_told = True
    waits._looping.add(3)
    looking.rest()
    waits.start()

    assert (waits._goals, waits._waiting, waits.passed_for, waits.readings) == ([], {}, {}, 0)
    assert (waits._has_told, waits._looping) == (False, set())
    # The test may wait in C before it waits otherwise.
    assert looking.is_hurried
    assert waits._check_again_s == LAST_S


def test_that_a_number_of_a_thread_may_be_that_of_a_later_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started, later = Thread(), Thread()
    dummy = object.__new__(threading._DummyThread)
    active: dict[int, object] = {}
    monkeypatch.setattr(threading, "_active", active)
    found = {}
    for known in (started, None):
        for name, now in (("same", started), ("later", later), ("dummy", dummy), ("gone", None)):
            active.clear()
            if now is not None:
                active[5] = now
            found[known is started, name] = module._is_in({5: known}, 5)
    active.clear()

    assert found == {
        (True, "same"): True,
        (True, "later"): False,
        (True, "dummy"): False,
        (True, "gone"): True,
        (False, "same"): False,
        (False, "later"): False,
        # Python did not begin it.
        (False, "dummy"): True,
        (False, "gone"): True,
    }
    assert not module._is_in({}, 5)


# --------------------------------------------------------------------------------- begun and ended


def test_that_a_wait_is_looked_at_again_only_where_something_may_happen(looking: Looking) -> None:
    waits, clock = looking.waits, looking.clock
    waits.readings = 9
    waits.begin(wait := Wait(clock, None, never))
    hurried = [looking.is_hurried]
    assert waits.readings == 0
    waits._passing_ns = 7
    waits.end(wait)
    assert waits._passing_ns is None
    # A server may answer.
    waits.begin(Wait(clock, None, never, outside=lambda: "server"))
    hurried.append(looking.is_hurried)
    assert hurried == [False, True]
    assert waits._check_again_s == module._PASSING_S


def test_that_only_a_loop_with_nothing_to_do_is_known_as_one(looking: Looking) -> None:
    waits, clock = looking.waits, looking.clock
    for is_idle in (False, True):
        waits.begin(wait := Wait(clock, None, never, is_idle=is_idle))
        waits.end(wait)
        assert waits._looping == ({clock.number} if is_idle else set())


def test_that_the_watching_thread_is_woken_once(looking: Looking) -> None:
    waits = looking.waits
    waits._hurry()
    assert (looking.is_hurried, waits._is_watching) == (True, True)
    looking.signal.is_locked = True
    waits._hurry()
    assert not looking.is_hurried
    looking.rest()
    looking.signal.is_locked = False
    # It has been woken, and has not looked yet.
    waits._hurry()
    assert waits._is_watching


def test_that_a_lock_is_held_again_when_what_waited_for_it_goes_on(looking: Looking) -> None:
    waits, lock = looking.waits, Signal()
    over = [False]
    seen: list[bool] = []

    def begin(wait: Wait) -> bool:
        seen.append(wait.is_over())
        over[0] = True
        seen.append(wait.is_over())
        over[0] = False
        wait.wake()
        wait.wake()
        seen.append(wait.is_over())
        return False

    waits.begin = begin
    assert not waits.wait_for(lock, looking.clock, None, lambda: over[0])
    assert seen == [False, True, True]
    assert lock.is_locked
    assert lock.waits_s == [-1.0]


def test_that_a_wait_in_slices_without_an_end_goes_on_until_it_is_ended() -> None:
    program = Program("played", lambda: 10**15)
    slices: list[int] = []

    def has_ended() -> bool:
        slices.append(1)
        return len(slices) > 2

    waits = Waits(program, lambda _passed_ns: None)
    waits.wait_in_slices(program.own_clock, None, has_ended, never)
    assert len(slices) == 3
    assert waits._waiting == {}


def test_that_one_thread_watches_from_test_to_test(monkeypatch: pytest.MonkeyPatch) -> None:
    begun_threads: list[object] = []

    def start(call: object, _arguments: object) -> int:
        begun_threads.append(call)
        return -3

    monkeypatch.setattr(module, "start_new_thread", start)
    waits = Waits(Program("played", lambda: 10**15), lambda _passed_ns: None)
    assert begun_threads == []
    for _ in range(2):
        waits.start()
        waits.stop()

    assert begun_threads == [waits._watch]
    assert waits._watcher == -3


# --------------------------------------------------------------------------------- what is awaited


@pytest.mark.parametrize(
    ("checks", "again_s"), [(0, FIRST_S), (3, 8 * FIRST_S), (5, LAST_S), (90, LAST_S)]
)
def test_that_what_runs_is_looked_at_less_often_the_longer_it_does(
    looking: Looking, other: int, checks: int, again_s: float
) -> None:
    waits = looking.waits
    assert waits.follows(other)
    waits._waiting[get_ident()] = Wait(looking.clock, None, never)
    waits._checks, waits._passing_ns, waits._late_since_ns = checks, 5, 6
    waits._check()

    assert waits._check_again_s == again_s
    assert (waits._passing_ns, waits._late_since_ns, waits._checks) == (None, None, checks)
    # Once it waits, too, it begins again.
    waits.spare_me()
    waits._spared[other] = threading._active[other]  # type: ignore[attr-defined]
    waits._check()
    assert waits._checks == 0
    waits._program.waits, waits._check_again_s = None, 5.0
    waits._check()
    assert waits._check_again_s == -1.0


def test_that_a_thread_that_waits_for_work_does_not_run(looking: Looking, other: int) -> None:
    waits = looking.waits
    waits._waiting[get_ident()] = Wait(looking.clock, None, never)
    waits._in_c[5] = True
    assert waits._awaited() is None
    assert waits._in_c == {}
    code = sys._current_frames()[other].f_code
    is_idle = [True]
    waits._program.idle_workers[code] = lambda _frame: is_idle[0]
    assert waits._awaited() == []
    is_idle[0] = False
    assert waits._awaited() is None


def test_that_the_watching_thread_sees_what_others_await(looking: Looking, other: int) -> None:
    waits = looking.waits
    waits.end(Wait(looking.clock, None, never))
    waits._watcher = get_ident()
    asked: list[int] = []
    found: list[str | None] = ["server", "", None]

    def seen(thread: int, _frame: object) -> str | None:
        asked.append(thread)
        return found[0]

    waits._seen_waiting = seen
    assert waits._awaited() == ["server"]
    found.pop(0)
    # It waits for a lock of the program.
    assert waits._awaited() == []
    found.pop(0)
    assert waits._awaited() is None
    assert asked == [other] * 3
    found[0] = "server"
    waits.returning = {other}
    assert waits._awaited() is None
    assert asked == [other] * 3


def test_that_nothing_is_decided_while_a_thread_begins_or_goes_on(
    looking: Looking, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = looking.waits
    waits._waiting[get_ident()] = wait = Wait(looking.clock, None, never, outside=lambda: "server")
    assert waits._awaited() == ["server"]
    wait.is_due = True
    assert waits._awaited() is None
    wait.is_due = False
    wait.is_over = lambda: True
    assert waits._awaited() is None
    wait.is_over = never
    monkeypatch.setattr(threading, "_limbo", {1: Thread()})
    assert waits._awaited() is None


# --------------------------------------------------------------------------------------- next steps


def test_that_a_goal_goes_to_what_is_due_next(looking: Looking) -> None:
    waits, clock = looking.waits, looking.clock
    waits.is_jumping = False
    at_ns = clock.local_ns()
    waits.pursue(goal := Goal(None, never, is_to_next=True))
    wait = Wait(clock, at_ns + 50, never)
    assert waits.begin(wait)
    waits.end(wait)
    finished = [goal.is_finished]
    waits.begin(later := Wait(clock, at_ns + 90, never))

    assert clock.local_ns() == at_ns + 50
    assert [*finished, goal.is_finished] == [False, True]
    assert later.order == wait.order + 1


@pytest.mark.parametrize(
    ("goals", "is_awake", "is_over"), [(1, False, True), (2, False, False), (2, True, True)]
)
def test_that_the_outer_goal_goes_on_where_the_inner_has_woken_nobody(
    looking: Looking, goals: int, *, is_awake: bool, is_over: bool
) -> None:
    waits = looking.waits
    finished: list[int] = []
    for number in range(goals):
        waits.pursue(Goal(None, lambda: True, partial(finished.append, number)))
    waits._waiting[1] = wait = Wait(looking.clock, None, never)
    wait.is_over = lambda: is_awake

    assert waits._go_on([]) is is_over
    assert finished == [goals - 1]
    assert len(waits._goals) == goals - 1


def test_that_a_wait_is_awake_that_is_due_or_over(looking: Looking) -> None:
    waits = looking.waits
    assert not waits._is_awake()
    waits._waiting[1] = wait = Wait(looking.clock, None, never)
    assert not waits._is_awake()
    wait.is_due = True
    assert waits._is_awake()
    wait.is_due, wait.is_over = False, lambda: True
    assert waits._is_awake()


def test_that_a_thread_that_is_woken_is_looked_at_soon(looking: Looking) -> None:
    waits, woken = looking.waits, []
    mine = Wait(looking.clock, None, lambda: woken.append("mine"))
    mine.thread = get_ident()
    waits._check_again_s = -1.0
    waits._wake(mine)
    assert (mine.is_due, waits._check_again_s, woken) == (True, -1.0, [])
    others = Wait(looking.clock, None, lambda: woken.append("other"))
    waits._wake(others)
    assert (others.is_due, waits._check_again_s, woken) == (True, FIRST_S, ["other"])


@pytest.mark.parametrize("passed_ns", [999_999, 1_000_000])
def test_that_only_what_can_be_seen_to_pass_is_told(looking: Looking, passed_ns: int) -> None:
    waits, told = looking.waits, []
    waits.jump(5_000_000)
    waits.report_passed = lambda _is_idle, passed_ns: told.append(passed_ns)
    at_ns = looking.clock.local_ns()
    waits._let_pass(at_ns, at_ns + passed_ns)

    assert told == [passed_ns] * (passed_ns == 1_000_000)
    assert looking.clock.local_ns() == at_ns + passed_ns


def test_that_time_passes_in_steps_while_nothing_is_due(
    looking: Looking, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits, clock = looking.waits, looking.clock
    now_ns = [100]
    monkeypatch.setattr(module, "monotonic_ns", lambda: now_ns[0])
    at_ns = clock.local_ns()
    waits._pass(["a", "b"], at_ns, None)
    assert (clock.local_ns(), waits._check_again_s) == (at_ns, module._PASSING_S)
    now_ns[0] += 40
    waits._pass(["a"], at_ns, None)
    assert clock.local_ns() == at_ns + 40
    assert waits._check_again_s == module._PASSING_S
    now_ns[0] += 2
    # What is due soon is due before the next step.
    waits._pass(["a", "b"], at_ns + 40, at_ns + 1_000)
    assert waits._check_again_s == 958 / 1e9
    assert waits.passed_for == {"a": 42, "b": 2}
    now_ns[0] += 958
    waits._pass(["a"], at_ns + 42, at_ns + 1_000)
    assert (clock.local_ns(), waits._check_again_s) == (at_ns + 1_000, 0.0)
    waits._pass(["a"], at_ns + 1_000, at_ns + 10**9)
    assert waits._check_again_s == module._PASSING_S


def test_that_nothing_is_due_is_told_where_the_test_waits(looking: Looking) -> None:
    waits = looking.waits
    waits.stuck = lambda: "a queue waits"
    waits._waiting[waits._main] = wait = Wait(looking.clock, None, never)
    waits._end_stuck_wait()
    assert (str(wait.error), wait.is_due) == ("a queue waits", True)
    wait.is_due, first = False, wait.error
    waits._end_stuck_wait()
    assert (wait.error, wait.is_due) == (first, False)


@pytest.mark.parametrize("has_others", [True, False])
def test_that_a_main_thread_in_c_is_looked_at_again_that_others_may_wake(
    looking: Looking, monkeypatch: pytest.MonkeyPatch, *, has_others: bool
) -> None:
    waits = looking.waits
    monkeypatch.setattr(module, "has_other_threads", lambda: has_others)
    monkeypatch.setattr(module, "monotonic_ns", lambda: 10**12)
    waits.stuck = str
    waits._check_again_s = -1.0
    waits._still[waits._main] = ((), 10**12)
    waits._in_c = {waits._main: True}
    waits._end_stuck_wait()

    assert waits._check_again_s == (LAST_S if has_others else -1.0)
    assert waits._has_told is not has_others


# ----------------------------------------------------------------------------------------- readers


def test_that_reading_lets_time_pass_again_and_again(looking: Looking) -> None:
    waits, clock = looking.waits, looking.clock
    at_ns = clock.local_ns()
    for _ in range(2):
        waits.was_read_often()
    assert clock.local_ns() == at_ns + 2_000_000
    # Whoever holds the lock decides.
    taken: list[bool] = []
    thread = Thread(target=lambda: taken.append(waits._lock.acquire(blocking=False)))
    thread.start()
    thread.join()
    assert taken == [True]


def test_that_reading_lets_no_time_pass_while_others_decide(looking: Looking) -> None:
    waits, clock = looking.waits, looking.clock
    at_ns = clock.local_ns()
    lock = Signal()
    waits._lock = SimpleNamespace(acquire=lambda *, blocking: blocking, release=lock.release)
    waits.was_read_often()
    assert lock.is_locked
    waits._lock = threading.RLock()
    waits._program.waits = None
    waits.was_read_often()
    waits._program.waits = waits
    waits._is_creeping = True
    waits.was_read_often()

    assert clock.local_ns() == at_ns


def test_that_readings_while_time_is_let_pass_let_none_pass(looking: Looking) -> None:
    waits, clock, skip = looking.waits, looking.clock, looking.waits._skip
    depth: list[int] = []

    def reading(passed_ns: int) -> None:
        assert not depth
        depth.append(passed_ns)
        waits.was_read_often()
        depth.pop()
        skip(passed_ns)

    waits._skip = reading
    at_ns = clock.local_ns()
    waits.was_read_often()

    assert clock.local_ns() == at_ns + 1_000_000


def test_that_who_is_woken_already_is_not_woken_by_readings(looking: Looking) -> None:
    waits, clock, woken = looking.waits, looking.clock, []
    wait = Wait(clock, clock.local_ns(), lambda: woken.append("again"))
    wait.is_due = True
    waits._waiting[1] = wait
    at_ns = clock.local_ns()
    waits.was_read_often()

    assert woken == []
    assert clock.local_ns() == at_ns


# ------------------------------------------------------------------------------ the watching thread


def watch(looking: Looking, *turns: Callable[[], object]) -> list[tuple[float, int, bool]]:
    """Let the calling thread watch; returns what it found before each of its waits."""
    waits = looking.waits
    waits._watcher = get_ident()
    found: list[tuple[float, int, bool]] = []
    left = list(turns)

    def on_wait() -> None:
        found.append((looking.signal.waits_s[-1], waits._checks, waits._is_watching))
        if left:
            left.pop(0)()
        else:
            waits._watcher = -1

    looking.signal.on_wait = on_wait
    waits._watch()
    return found


def test_that_virtual_time_is_looked_at_until_all_wait(looking: Looking) -> None:
    waits = looking.waits
    answers = [0.5, 0.0, -1.0]

    def check() -> None:
        waits._check_again_s = answers.pop(0)

    waits._check = check
    waits._check_again_s = -1.0
    waits._still[1] = (), 0

    assert watch(looking, int, int, int) == [
        (-1.0, 0, False),
        (0.5, 1, True),
        (0.0, 2, True),
        # It looks now and then whether a thread waits in C.
        (LAST_S, 0, False),
    ]
    assert waits._still != {}


def test_that_the_machines_time_is_looked_at_as_its_sampler_asks(looking: Looking) -> None:
    waits = looking.waits
    waits._program.waits = None
    waits._check = lambda: pytest.fail("time is not virtual")
    waits._still[1] = (), 0
    answers = [0.25, -1.0]
    waits._check_again_s = 3.0

    def sampled() -> None:
        waits.sample = lambda: answers.pop(0)

    found = watch(looking, sampled, int, lambda: setattr(waits, "sample", None))
    assert found == [(3.0, 0, False), (0.25, 0, True), (-1.0, 0, False), (-1.0, 0, False)]
    assert waits._still == {}
