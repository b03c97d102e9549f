"""Another thread may only post calls to a clock."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.clocks import Clock, ClockTree, ManualTimeSource, Transport
from inspector.clocks.sources.asyncio_source import AsyncioTimeSource
from inspector.clocks.sources.system_source import SystemTimeSource
from inspector.commands.transport import StepFrames
from inspector.events.log import EventLog
from inspector.frames.loop import start_loop
from inspector.testing import held_session, pass_seconds, scene_file, virtual_session
from inspector.vocabulary import EventKind

SECOND = 1_000_000_000


def in_thread(call: Callable[[], object]) -> BaseException | None:
    """Call something in another thread; returns what it raised."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except RuntimeError as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return raised[0] if raised else None


SETTINGS: dict[str, Callable[[Clock], object]] = {
    "timeout": lambda clock: clock.set_timeout(1, print),
    "interval": lambda clock: clock.set_interval(1, print),
    "loop": lambda clock: start_loop(clock, 10, int),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_that_another_thread_is_refused_and_told_what_to_use(setting: str) -> None:
    tree = ClockTree(EventLog())
    tree.run_to(SECOND)

    error = in_thread(lambda: SETTINGS[setting](tree.root))

    assert str(error) == (
        "a clock belongs to the thread that drives its tree: from another thread use "
        "clock.post(callback), which calls it on that thread"
    )
    assert tree.root.pending_count == 0


def test_that_it_is_refused_within_a_callback_too() -> None:
    tree = ClockTree(EventLog())
    errors: list[BaseException | None] = []
    tree.root.set_timeout(
        1, lambda: errors.append(in_thread(lambda: tree.root.set_timeout(1, print)))
    )

    tree.run_to(2 * SECOND)

    assert [type(error) for error in errors] == [RuntimeError]


def test_that_it_is_refused_without_a_recording_while_a_source_runs() -> None:
    tree = ClockTree()
    transport = Transport(tree, SystemTimeSource(clock=lambda: 0))
    transport.run()
    tree.run_to(0)

    assert isinstance(in_thread(lambda: tree.root.set_timeout(1, print)), RuntimeError)


def test_that_a_tree_may_be_built_in_one_thread_and_driven_in_another() -> None:
    tree = ClockTree(EventLog())
    fired: list[int] = []
    tree.root.set_timeout(1, lambda: fired.append(threading.get_ident()))

    def drive() -> None:
        tree.root.set_timeout(2, lambda: fired.append(threading.get_ident()))
        tree.run_to(3 * SECOND)

    assert in_thread(drive) is None
    assert len(fired) == 2


def test_that_posted_calls_run_on_the_thread_of_the_tree() -> None:
    tree, source = ClockTree(EventLog()), ManualTimeSource()
    Transport(tree, source).run()
    called: list[tuple[int, int, str]] = []

    def note(text: str) -> None:
        called.append((threading.get_ident(), tree.now_ns, text))
        tree.root.set_timeout(1, print)

    assert in_thread(lambda: tree.root.post(note, "hello")) is None
    assert called == []
    source.advance(1)

    assert called == [(threading.get_ident(), 0, "hello")]
    assert tree.root.pending_count in (0, 1)


def test_that_a_post_wakes_a_source_that_sleeps() -> None:
    source = SystemTimeSource()
    tree = ClockTree()
    Transport(tree, source).run()

    poster = threading.Thread(target=lambda: tree.root.post(source.stop))
    poster.start()
    # Without an end: only the post ends it.
    source.run()
    poster.join()


def test_that_a_post_wakes_an_asyncio_loop() -> None:
    async def run() -> None:
        done = asyncio.Event()
        source = AsyncioTimeSource()
        tree = ClockTree()
        Transport(tree, source).run()
        poster = threading.Thread(target=lambda: tree.root.post(done.set))
        poster.start()
        await done.wait()
        poster.join()
        source.close()

    asyncio.run(run())


def test_that_a_posted_call_that_fails_is_reported_and_the_others_are_made() -> None:
    tree = ClockTree(EventLog())
    failures: list[str] = []
    tree.on_failure = lambda failure: failures.append(type(failure.error).__name__)
    gone = tree.root.child("gone")
    called: list[str] = []
    tree.root.post(lambda: 1 / 0)
    tree.root.post(lambda: asyncio.sleep(0))
    gone.post(called.append, "gone")
    tree.root.post(called.append, "last")
    gone.remove()

    tree.run_to(0)

    assert failures == ["ZeroDivisionError", "TypeError"]
    assert called == ["last"]
    with pytest.raises(RuntimeError, match="was removed"):
        gone.post(print)
    with pytest.raises(TypeError, match="not callable"):
        tree.root.post(5)  # type: ignore[arg-type]


def test_that_what_a_posted_call_posts_waits_for_the_next_turn() -> None:
    tree = ClockTree()
    called: list[int] = []

    def again() -> None:
        called.append(tree.now_ns)
        tree.root.post(again)

    tree.root.post(again)
    tree.run_to(5)
    tree.run_to(6)

    assert called == [0, 5]


#: What the refusal of an async function advises: at once, or in a thread that posts.
ADVISED = """
    import asyncio
    import threading

    async def fetch():
        await asyncio.sleep(0)
        return "found"

    def build(stage):
        root = stage.root
        threads = []

        def work():
            found = asyncio.run(fetch())
            root.post(stage.mark, f"{found} by a thread")

        def begin():
            threads.append(threading.Thread(target=work))
            threads[0].start()

        root.set_timeout(0.1, lambda: stage.mark(f"{asyncio.run(fetch())} at once"))
        root.set_timeout(0.2, begin)
        root.set_timeout(0.4, lambda: threads[0].join())
"""


def test_that_the_advice_works_in_a_run(tmp_path: Path) -> None:
    session = virtual_session(scene_file(tmp_path, ADVISED))

    pass_seconds(session, 1)

    marks = [mark.text for mark in session.timeline.marks]
    assert marks == ["found at once", "found by a thread"]
    assert not _failures(session.log)
    session.close()


def test_that_the_advice_works_in_a_hosted_session(tmp_path: Path) -> None:
    session = held_session(scene_file(tmp_path, ADVISED))

    session.submit(StepFrames(60))
    session.refresh()

    marks = [mark.text for mark in session.timeline.marks]
    assert marks == ["found at once", "found by a thread"]
    assert not _failures(session.log)
    session.close()


def _failures(log: EventLog) -> list[object]:
    events = log.read(0).events
    return [event for event in events if event[1] == EventKind.CALLBACK_FAILED]
