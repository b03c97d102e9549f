"""Which threads are in virtual time, from test to test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread, get_ident
from types import SimpleNamespace

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
