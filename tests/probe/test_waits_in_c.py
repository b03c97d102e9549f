"""What is known of threads that wait without saying so, and of loops in C."""

from __future__ import annotations

from functools import partial
from threading import Lock, Thread, get_ident
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe import waits as module
from inspector.probe.adapters import Adapter
from inspector.probe.awaited import Wait, never
from inspector.probe.clocks import Clock, NothingDueError
from inspector.probe.waits import Waits
from tests.probe.begun_waits import begun

THREAD = 4_711


def loop_of(waits: Waits, *, says: bool = False, thread: int = THREAD) -> Clock:
    """Add a clock of a loop in C on a thread, which says what it waits for or does not."""
    program = waits._program
    adapter = Adapter(program)
    adapter.says_what_it_waits_for = says
    clock: Clock = program.clock("loop", adapter=adapter)
    clock.threads = thread, -1
    return clock


class Looked:
    """A thread that is looked at, in a call of the system.

    Attributes:
        used_ns: What it has used of a processor.
        call: Its call, its file, and whether that has a limit of time.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.waits, _ = begun()
        self.now_ns, self.used_ns = 10**12, 0
        self.call: tuple[str, Any, bool] = ("futex", None, False)
        self.frame: Any = SimpleNamespace(f_lasti=0)
        self.noted: list[object] = []
        self.waits.note = self.noted.append
        monkeypatch.setattr(module, "monotonic_ns", lambda: self.now_ns)
        monkeypatch.setattr(module, "processor_ns", lambda _thread: self.used_ns)
        monkeypatch.setattr(module, "system_call", lambda _native: self.call)
        monkeypatch.setattr(module, "awaited_by_call", lambda *_, **__: "a server")
        monkeypatch.setattr(module, "awaited_by_loop", lambda *_: "a loop")
        monkeypatch.setattr(module, "is_timed", lambda call, **_: call == "sleep")

    def after(self, passed_ns: int) -> str | None:
        self.now_ns += passed_ns
        return self.waits._seen_waiting(THREAD, self.frame)


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Looked:
    return Looked(monkeypatch)


def test_that_a_thread_waits_that_has_stayed_where_it_was(looked: Looked) -> None:
    still_ns = 3_000_000
    found = [looked.after(0), looked.after(still_ns - 1), looked.after(1)]
    assert found == [None, None, "a server"]
    # It has run since, or is elsewhere.
    looked.used_ns += 1
    found = [looked.after(still_ns), looked.after(still_ns)]
    assert found == [None, "a server"]
    looked.frame.f_lasti += 2
    found = [looked.after(still_ns), looked.after(still_ns)]
    assert found == [None, "a server"]
    looked.call = ("running", None, False)
    assert looked.after(still_ns) is None


@pytest.mark.parametrize("is_limited", [False, True])
def test_that_a_thread_in_c_is_known_to_wait_for_ever_or_not(
    looked: Looked, *, is_limited: bool
) -> None:
    looked.call = ("poll", None, is_limited)
    for _ in range(2):
        looked.after(3_000_000)
    assert looked.waits._in_c == {THREAD: not is_limited}
    loop_of(looked.waits)
    assert looked.after(0) == "a loop"


@pytest.mark.parametrize(("call", "is_noted"), [("sleep", True), ("futex", False)])
def test_that_a_wait_by_the_machines_time_is_noted_after_a_while(
    looked: Looked, call: str, *, is_noted: bool
) -> None:
    looked.call = (call, None, True)
    looked.after(0)
    looked.after(200_000_000 - 1)
    assert looked.noted == []
    looked.after(1)
    assert looked.noted == [looked.frame] * is_noted


def test_that_loops_in_c_are_those_of_threads_that_wait_there() -> None:
    waits, own_clock = begun()
    there = loop_of(waits)
    loop_of(waits, says=True)
    loop_of(waits, thread=THREAD + 1)
    moved = loop_of(waits, thread=THREAD + 1)
    # Its turns run on another thread than the one that it was made on.
    waits._program.frames(moved).threads = THREAD, -1
    own_clock.threads = THREAD, -1
    assert waits._loops_in_c() == []
    waits._in_c[THREAD] = True

    assert waits._loops_in_c() == [there, moved]


def test_that_the_first_that_is_due_may_be_a_timer_of_a_loop_in_c() -> None:
    waits, own_clock = begun()
    at_ns = own_clock.local_ns()
    loop, idle = loop_of(waits), loop_of(waits)
    waits._program.timer(loop, "tick", 0, at_ns + 70)
    waits._in_c[THREAD] = True
    assert waits._program.first_due_ns(idle) is None
    found = [waits._first()]
    for due_ns in (80, 70, 60):
        wait = Wait(own_clock, at_ns + due_ns, never)
        waits._waiting = {1: wait}
        found.append(waits._first())

    # At one instant, the loop is the first: it has to be woken by a jump.
    assert found[:3] == [(at_ns + 70, -1, None)] * 3
    assert found[3] == (at_ns + 60, wait.order, wait)
    # A loop on a clock that is paused is never due.
    waits._waiting.clear()
    waits._program.clocks.pause(loop)
    assert waits._first() is None


def test_that_a_loop_in_c_has_a_while_to_call_what_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    waits, _ = begun()
    now_ns = [10**12]
    monkeypatch.setattr(module, "monotonic_ns", lambda: now_ns[0])
    found = []
    for passed_ns in (0, 1_000_000_000 - 1, 1):
        now_ns[0] += passed_ns
        found.append(waits._is_called(None))

    assert found == [True, True, False]
    assert waits._check_again_s == module._FIRST_CHECK_S


def test_that_a_jump_wakes_loops_that_do_not_say_what_they_wait_for() -> None:
    waits, own_clock = begun()
    changed: list[Clock] = []
    clocks = [loop_of(waits), loop_of(waits, says=True)]
    for clock in clocks:
        clock.adapter.changed = changed.append
    waits.jump(own_clock.local_ns() + 50)

    assert changed == clocks[:1]


def test_that_a_loop_is_idle_that_waits_for_its_next_event_or_has_not_run() -> None:
    waits, own_clock = begun()
    waits._looping.add(7)
    waits._waiting = {1: Wait(own_clock, None, never), 2: Wait(own_clock, None, never)}
    waits._waiting[2].is_idle = True

    # Threads that run, wait in a turn, or wait for an event; a loop with frames has no number.
    assert [waits._is_idle(thread, 0) for thread in range(3)] == [False, False, True]
    assert [waits._is_idle(thread, 7) for thread in range(3)] == [False, False, True]
    assert [waits._is_idle(thread, 8) for thread in range(3)] == [True, True, True]


@pytest.mark.parametrize("can_end", [True, False])
def test_that_the_loop_of_the_main_thread_is_ended_where_it_can_be(*, can_end: bool) -> None:
    waits, _ = begun()
    ended: list[object] = []
    delivered: list[str] = []
    waits.deliver = lambda error, _end: delivered.append(str(error))
    waits.interrupt = ended.append
    loop_of(waits, thread=THREAD)
    main = loop_of(waits, thread=waits._main)

    def end_loop(clock: Clock) -> bool:
        ended.append(clock)
        return can_end

    main.adapter.end_loop = end_loop
    waits._in_c = {THREAD: True, waits._main: True}

    assert waits._end_in_c(NothingDueError("nothing")) is can_end
    assert (ended, delivered) == ([main], ["nothing"])


@pytest.mark.parametrize("is_for_ever", [True, False])
def test_that_what_the_main_thread_waits_for_in_c_is_interrupted_if_it_is_for_ever(
    *, is_for_ever: bool
) -> None:
    waits, _ = begun()
    told: list[str] = []
    waits.interrupt = lambda error: told.append(str(error))
    waits._in_c = {waits._main: is_for_ever}

    assert waits._end_in_c(NothingDueError("nothing")) is is_for_ever
    assert told == ["nothing"] * is_for_ever


@pytest.mark.parametrize("has_others", [True, False])
def test_that_a_main_thread_in_c_is_told_once_that_nothing_is_due(
    monkeypatch: pytest.MonkeyPatch, *, has_others: bool
) -> None:
    waits, _ = begun()
    now_ns = [10**12]
    monkeypatch.setattr(module, "monotonic_ns", lambda: now_ns[0])
    monkeypatch.setattr(module, "has_other_threads", lambda: has_others)
    told: list[str] = []
    waits.interrupt = lambda error: told.append(str(error))
    waits._still[waits._main] = ((), now_ns[0])
    waits._in_c = {waits._main: True}
    # Without words for it, nothing is told.
    waits._end_stuck_wait()
    waits.stuck = lambda: "a queue waits"
    counts = []
    for passed_ns in (500_000_000 - 1, 1, 1):
        now_ns[0] += passed_ns
        waits._end_stuck_wait()
        counts.append(len(told))

    # Threads that are not Python's may still do something for it.
    assert counts == ([0, 1, 1] if has_others else [1, 1, 1])


def test_that_nothing_of_a_forked_child_is_in_virtual_time() -> None:
    waits, own_clock = begun()
    waits._waiting[1] = Wait(own_clock, None, never)
    lock = waits._lock
    waits.forked()

    assert waits._program.waits is None
    assert (waits._waiting, waits._watcher) == ({}, 0)
    assert waits._lock is not lock


def test_that_all_who_wait_go_on_when_time_is_the_machines_again() -> None:
    waits, own_clock = begun()
    woken: list[int] = []
    looks: list[str] = []
    waits._hurry = lambda: looks.append("look")  # type: ignore[method-assign]
    for thread in (1, 2):
        waits._waiting[thread] = Wait(own_clock, None, partial(woken.append, thread))
    waits.stop()
    assert (woken, waits._waiting, looks) == ([1, 2], {}, [])
    assert get_ident() in waits._known
    # What is looked at in the machine's time is looked at from now on.
    waits.sample = lambda: -1.0
    waits.stop()
    assert looks == ["look"]


@pytest.mark.parametrize(("due_ns", "timeout_s"), [(None, None), (-1, 0), (50, 0)])
def test_that_a_loop_polls_without_a_wait_what_is_due(
    due_ns: int | None, timeout_s: float | None
) -> None:
    waits, own_clock = begun()
    asked: list[float | None] = []
    files: Any = SimpleNamespace(has_events=never, awaited_outside=lambda: "")
    at_ns = None if due_ns is None else own_clock.local_ns() + due_ns
    waits.wait_for_files(own_clock, at_ns, asked.append, files, never)

    assert asked == [timeout_s]
    assert waits._waiting == {}
    assert waits._looping == {own_clock.number}


@pytest.mark.parametrize("way", ["calls", "files"])
def test_that_a_loop_does_not_wait_that_has_something_to_do(way: str) -> None:
    waits, own_clock = begun()
    asked: list[float | None] = []
    files: Any = SimpleNamespace(
        has_events=lambda: way == "files", awaited_outside=lambda: "a server"
    )
    waits.wait_for_files(own_clock, None, asked.append, files, never, lambda: way == "calls")

    assert asked == [0]


def test_that_a_lock_that_is_released_ends_a_wait_before_its_time() -> None:
    waits, own_clock = begun()
    waits.is_jumping = False
    lock = Lock()
    lock.acquire()
    found: list[bool] = []
    due_ns = own_clock.local_ns() + 50
    thread = Thread(target=lambda: found.append(waits.wait_for(lock, own_clock, due_ns)))
    thread.start()
    lock.release()
    thread.join()
    assert found == [False]

    waits.is_jumping = True
    assert waits.wait_for(lock, own_clock, due_ns)
    assert own_clock.local_ns() == due_ns
    assert waits.sleep(own_clock, due_ns)
