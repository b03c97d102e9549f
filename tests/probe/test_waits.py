"""Which threads are in virtual time, from test to test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Event, Thread, get_ident
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe import outside
from inspector.probe.adapters.python_time import PythonTimeAdapter
from inspector.probe.awaited import Wait, never
from inspector.probe.clocks import Clock
from inspector.probe.program import Program
from inspector.probe.waits import Waits


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


def _begun() -> tuple[Waits, Clock]:
    """Begin to let time jump, of a program with its clock alone."""
    program = Program("played", lambda: 10**15)
    waits = Waits(program, lambda _passed_ns: None)
    waits._watcher = -1
    waits.start()
    waits.is_jumping = True
    return waits, program.own_clock


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
    waits, clock = _begun()
    woken: list[str] = []
    wait = Wait(clock, clock.local_ns(), lambda: woken.append("other"), never)
    with _running() as other:
        wait.thread, waits._waiting[other] = other, wait
        waits.was_read_often()

    assert wait.is_due
    assert woken == ["other"]


def test_that_a_thread_that_waits_in_virtual_time_has_returned_to_it() -> None:
    waits, clock = _begun()
    waits.returning = {get_ident(), -1}

    assert waits.begin(Wait(clock, None, lambda: None, lambda: True))
    assert waits.returning == {-1}


def test_that_only_a_pipe_with_both_ends_in_a_program_without_children_is_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader, writer = os.pipe()
    found = {}
    for has_children in (True, False):
        monkeypatch.setattr(outside, "_has_children", lambda has=has_children: has)
        found[has_children] = outside.awaited_in_file(reader)
    os.close(writer)
    half = outside.awaited_in_file(reader)
    os.close(reader)

    assert found == {True: half, False: ""}
    assert half.startswith(f"file {reader} (pipe:")


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
