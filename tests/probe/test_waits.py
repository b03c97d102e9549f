"""Which threads are in virtual time, from test to test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from types import SimpleNamespace

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
