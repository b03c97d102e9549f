"""Which threads are in virtual time, from test to test."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Event, Thread, get_ident
from threading import enumerate as enumerate_threads
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe import awaited as awaited_module
from inspector.probe import waits as waits_module
from inspector.probe.adapters.python_time import PythonTimeAdapter
from inspector.probe.awaited import Files, Goal, Wait, never
from inspector.probe.clocks import Clock, NothingDueError
from inspector.probe.program import Program
from inspector.probe.waits import JUMP, PASS, STAND, Waits
from tests.probe.begun_waits import begun


@contextmanager
def _running() -> Iterator[int]:
    """Have a thread wait by the machine's time; yields its number."""
    ended = Event()
    thread = Thread(target=ended.wait)
    thread.start()
    assert thread.ident is not None
    try:
        yield thread.ident
    finally:
        ended.set()
        thread.join()


def test_that_a_thread_is_followed_from_test_to_test_and_what_ran_before_is_not() -> None:
    waits = Waits(SimpleNamespace(waits=None), lambda _passed_ns: None)
    # It looks at nothing by itself.
    waits._watcher = -1
    with _running() as before:
        waits.start()
        with _running() as followed:
            waits.stop()
            with _running() as between:
                waits.start()

                assert waits.follows(followed)
                assert not waits.follows(before)
                assert not waits.follows(between)
        waits.stop()


def test_that_a_thread_that_is_due_is_woken_by_one_that_only_reads_the_time() -> None:
    waits, clock = begun()
    woken: list[str] = []
    wait = Wait(clock, clock.local_ns(), lambda: woken.append("other"), never)
    with _running() as other:
        wait.thread, waits._waiting[other] = other, wait
        waits.was_read_often()

    assert wait.is_due
    assert woken == ["other"]


def test_that_a_thread_that_waits_in_virtual_time_has_returned_to_it() -> None:
    waits, clock = begun()
    waits.returning = {get_ident(), -1}

    assert waits.begin(Wait(clock, None, lambda: None, lambda: True))
    assert waits.returning == {-1}


@pytest.mark.parametrize("is_notified", [True, False])
def test_that_a_condition_is_waited_for_until_it_is_notified_or_it_is_too_late(
    *, is_notified: bool
) -> None:
    condition: Any = Condition()
    was_over = []

    def wait_for(_waiter: object, _clock: Clock, _due_ns: int, is_over: Callable[[], bool]) -> bool:
        was_over.append(is_over())
        if is_notified:
            with condition:
                condition.notify()
        return not is_over()

    waits: Any = SimpleNamespace(wait_for=wait_for, rounding_ns=0, returning=set())
    adapter = PythonTimeAdapter(Program("played", lambda: 10**15))
    with condition:
        assert adapter._wait_in_turn(waits, condition, 5.0) is is_notified

    assert was_over == [False]
    assert not condition._waiters


def test_that_a_thread_may_keep_the_time_of_the_machine_with_those_that_it_starts() -> None:
    waits, _clock = begun()
    inside, outside_ = Thread(), Thread()

    spares = [waits.spares_me]
    waits.starts(inside)
    waits.spare_me()
    waits.starts(outside_)

    spares.append(waits.spares_me)
    assert spares == [False, True]
    assert not waits.follows(get_ident())
    assert [each in waits._spared_children for each in (inside, outside_)] == [False, True]


def test_that_a_thread_that_a_spared_one_has_started_is_spared_by_its_own_number() -> None:
    waits, _clock = begun()
    with _running() as other:
        assert waits.follows(other)
        waits._spared_children.update(each for each in enumerate_threads() if each.ident == other)
        assert not waits.follows(other)
        waits._watcher = get_ident()
        assert not waits.follows(get_ident())


@pytest.mark.parametrize(("passes_ns", "is_due"), [(10, True), (9, False)])
def test_that_a_wait_in_slices_goes_on_by_the_clock_when_time_is_no_longer_virtual(
    *, passes_ns: int, is_due: bool
) -> None:
    now_ns = [10**15]
    program = Program("played", lambda: now_ns[0])
    waits = Waits(program, lambda _passed_ns: None)
    slices: list[int] = []

    def has_ended() -> bool:
        now_ns[0] += passes_ns
        slices.append(passes_ns)
        return len(slices) > 1

    due_ns = program.own_clock.local_ns() + 10
    waits.wait_in_slices(program.own_clock, due_ns, has_ended, never)

    assert len(slices) == (1 if is_due else 2)


def test_that_the_next_that_is_due_is_the_earliest_and_of_several_the_first_to_wait() -> None:
    waits, clock = begun()
    at_ns = clock.local_ns()
    found = []
    for thread, (due_ns, order) in enumerate([(9, 0), (7, 2), (7, 1), (None, 3)]):
        wait = Wait(clock, None if due_ns is None else at_ns + due_ns, never)
        wait.order = order
        waits._waiting[thread] = wait
        found.append(waits._first())

    places = [each and (each[0] - at_ns, each[1]) for each in found]
    assert places == [(9, 0), (7, 2), (7, 1), (7, 1)]


def test_that_time_jumps_to_what_is_due_when_all_wait() -> None:
    waits, clock = begun()
    at_ns = clock.local_ns()
    told: list[int] = []
    waits.report_passed = lambda _is_idle, passed_ns: told.append(passed_ns)

    for passes_ns in (1_000_000, 999_999):
        wait = Wait(clock, clock.local_ns() + passes_ns, never)
        assert waits.begin(wait)
        waits.end(wait)

    assert clock.local_ns() - at_ns == 1_999_999
    # What is too short to be seen is not told.
    assert told == [1_000_000]


def test_that_time_that_does_not_jump_by_itself_goes_on_for_a_goal() -> None:
    waits, clock = begun()
    waits.is_jumping = False
    at_ns = clock.local_ns()
    wait = Wait(clock, at_ns + 50_000, never)

    assert not waits.begin(wait)
    assert clock.local_ns() == at_ns
    waits.end(wait)
    waits.pursue(goal := Goal(at_ns + 70_000, never))
    assert waits.begin(wait)
    assert clock.local_ns() == at_ns + 50_000
    waits.end(wait)
    waits.begin(later := Wait(clock, at_ns + 90_000, never))

    assert clock.local_ns() == at_ns + 70_000
    assert (goal.is_finished, goal.has_timed_out, later.is_due) == (True, True, False)


def test_that_a_goal_that_was_given_up_moves_no_time() -> None:
    waits, clock = begun()
    waits.is_jumping = False
    at_ns = clock.local_ns()
    waits.pursue(goal := Goal(at_ns + 70, never))
    waits.give_up(goal)
    waits.give_up(goal)
    waits.begin(Wait(clock, at_ns + 50, never))

    assert clock.local_ns() == at_ns
    assert not goal.is_finished


@pytest.mark.parametrize(
    ("outside_", "passed_ns", "is_due"), [(PASS, 0, False), (STAND, 0, False), (JUMP, 50, True)]
)
def test_that_what_is_awaited_outside_lets_time_pass_stand_or_jump(
    *, outside_: str, passed_ns: int, is_due: bool
) -> None:
    waits, clock = begun()
    waits.outside = outside_
    at_ns = clock.local_ns()

    assert waits.begin(Wait(clock, at_ns + 50, never, outside=lambda: "server")) is is_due
    assert clock.local_ns() - at_ns == passed_ns


def test_that_time_passes_as_on_the_machine_up_to_what_is_due(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits, clock = begun()
    machine_ns = [100]
    monkeypatch.setattr(waits_module, "monotonic_ns", lambda: machine_ns[0])
    at_ns = clock.local_ns()
    wait = Wait(clock, at_ns + 50, never, outside=lambda: "server")
    waits.begin(wait)
    found = []
    for passes_ns in (30, 19, 900):
        machine_ns[0] += passes_ns
        waits._check()
        found.append((clock.local_ns() - at_ns, wait.is_due))

    assert found == [(30, False), (49, False), (50, False)]
    assert waits._check_again_s == 0
    assert waits.passed_for == {"server": 949}
    waits._check()
    assert wait.is_due


def test_that_a_wait_that_nothing_can_end_ends_in_an_error_that_says_what_waits() -> None:
    waits, clock = begun()
    waits.stuck = lambda: "a queue waits"
    wait = Wait(clock, None, never)
    waits.begin(wait)

    with pytest.raises(NothingDueError, match="a queue waits"):
        waits.end(wait)
    assert waits._waiting == {}


def test_that_a_goal_that_nothing_can_reach_ends_in_an_error_and_the_wait_goes_on() -> None:
    waits, clock = begun()
    waits.stuck = lambda: "a queue waits"
    waits.pursue(goal := Goal(None, never))
    waits.begin(wait := Wait(clock, None, never))
    waits.end(wait)

    assert goal.is_finished
    assert str(goal.error) == "a queue waits"


@pytest.mark.parametrize(
    ("due_ns", "passed_ns"), [(None, 1_000_000), (1_000_001, 1_000_000), (70, 70)]
)
def test_that_one_who_only_reads_the_time_lets_it_pass(
    *, due_ns: int | None, passed_ns: int
) -> None:
    waits, clock = begun()
    at_ns = clock.local_ns()
    waits._waiting[-5] = Wait(clock, None if due_ns is None else at_ns + due_ns, never)
    waits.is_jumping = False
    waits.was_read_often()
    assert clock.local_ns() == at_ns
    waits.is_jumping = True
    waits.was_read_often()

    assert clock.local_ns() - at_ns == passed_ns


@pytest.mark.parametrize(
    ("until_ns", "is_to_next", "due_ns", "may_come", "expected"),
    [
        (None, False, 70, False, (None, False)),
        (None, True, 70, False, (70, False)),
        (None, True, None, True, (None, False)),
        (None, True, None, False, (None, True)),
        # Libraries round due times up by as much.
        (100, False, 1_100, False, (1_100, False)),
        (100, False, 1_101, False, (100, False)),
        (100, False, 99, False, (100, False)),
        (100, True, 99, False, (100, False)),
    ],
)
def test_that_a_goal_ends_at_its_time_or_with_what_is_due_there(
    *,
    until_ns: int | None,
    is_to_next: bool,
    due_ns: int | None,
    may_come: bool,
    expected: tuple[int | None, bool],
) -> None:
    goal = Goal(until_ns, never, is_to_next=is_to_next)
    goal.look_ahead(due_ns, may_come=may_come)

    assert (goal.until_ns, goal.has_timed_out) == expected


def test_that_a_goal_is_over_when_it_is_reached_its_time_has_come_or_asking_fails() -> None:
    answers = [False]
    goal = Goal(100, lambda: answers[0])
    assert [goal.is_over(local_ns) for local_ns in (0, 99, 100)] == [False, False, True]
    assert goal.has_timed_out

    reached = Goal(100, lambda: True)
    assert reached.is_over(0)
    assert not reached.has_timed_out

    failing = Goal(100, lambda: bool(answers[1]))
    assert failing.is_over(0)
    assert isinstance(failing.error, IndexError)
    assert not failing.has_timed_out


# ------------------------------------------------------------------------------ the files of a loop


def test_that_a_loop_knows_on_any_thread_whether_a_file_is_ready() -> None:
    near, far = socket.socketpair()
    with near, far:
        files = Files(near.fileno(), tuple, ())
        found = [files.has_events()]
        far.send(b"x")
        found.append(files.has_events())
    assert found == [False, True]
    # It has none.
    assert not Files(-1, tuple, ()).has_events()


@pytest.mark.parametrize(
    ("numbers", "own", "awaited"),
    [((3, 4), (4,), "server"), ((3,), (4,), ""), ((), (), ""), ((3, 4), (), "server")],
)
def test_that_the_files_of_a_loop_are_asked_for_beside_its_own(
    monkeypatch: pytest.MonkeyPatch, numbers: tuple[int, ...], own: tuple[int, ...], awaited: str
) -> None:
    asked: list[object] = []

    def in_files(*given: object) -> str:
        asked.append(given)
        return "server"

    monkeypatch.setattr(awaited_module, "awaited_in_files", in_files)

    assert Files(0, lambda: numbers, own).awaited_outside() == awaited
    assert asked == [(numbers, own)] * bool(awaited)
