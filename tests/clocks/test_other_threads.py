"""Another thread may only post calls to a clock."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.clocks import ClockTree, ManualTimeSource, Sink, Transport
from inspector.clocks.sources.asyncio_source import AsyncioTimeSource
from inspector.clocks.sources.system_source import SystemTimeSource
from inspector.commands.transport import StepFrames
from inspector.events.log import EventLog
from inspector.frames.director import Director
from inspector.frames.loop import start_loop
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.frames.state_machine import Edge, StateMachine
from inspector.sessions.stage import Stage
from inspector.testing import held_session, pass_seconds, scene_file, virtual_session
from inspector.vocabulary import EventKind, Phase

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


class _Ground:
    """A tree with something of everything, driven by the thread of the test."""

    def __init__(self, sink: Sink | None = None) -> None:
        self.tree = ClockTree(sink)
        self.source = SystemTimeSource(clock=lambda: 0)
        self.transport = Transport(self.tree, self.source)
        self.root = self.tree.root
        self.child = self.root.child("child")
        self.other = self.root.child("other")
        self.paused = self.root.child("paused")
        self.paused.pause()
        self.timer = self.root.set_interval(1, int)
        self.director = Director(self.root)
        self.callback = self.director.on("update", abs)
        self.scheduler = Scheduler(self.root)
        self.call = self.scheduler.schedule(abs, 1)
        self.held_call = self.scheduler.schedule(float, 1, paused=True)
        self.update = self.scheduler.schedule_update(self, callback=abs)
        self.pause = self.scheduler.pause_target(self.paused)
        self.machine = StateMachine("off", {"start": Edge("off", "on")}, clock=self.root)
        self.stage = Stage(self.transport, self.director, lambda _: False)
        self.tree.run_to(SECOND)

    def state(self) -> object:
        """What other threads must not change."""
        clocks = [
            (clock.name, clock.parent and clock.parent.name, clock.is_paused, clock.rate)
            for clock in self.root.walk()
        ]
        timers = [(timer.id, timer.due_ns) for timer in self.root.pending()]
        callbacks = [self.director.callbacks(phase) for phase in Phase]
        calls = [str(call) for call in self.scheduler.timers()]
        updates = [str(update) for update in self.scheduler.updates()]
        machine, is_running = self.machine.state, self.transport.is_running
        return clocks, timers, callbacks, calls, updates, machine, is_running


#: Everything public that changes something.
CHANGES: dict[str, Callable[[_Ground], object]] = {
    "set_timeout": lambda it: it.root.set_timeout(1, print),
    "set_timeout_ns": lambda it: it.root.set_timeout_ns(1, print),
    "set_interval": lambda it: it.root.set_interval(1, print),
    "set_interval_ns": lambda it: it.root.set_interval_ns(1, print),
    "clear": lambda it: it.root.clear(it.timer),
    "fire_now": lambda it: it.root.fire_now(it.timer),
    "child": lambda it: it.root.child("new"),
    "pause": lambda it: it.child.pause(),
    "resume": lambda it: it.paused.resume(),
    "set_rate": lambda it: it.child.set_rate(2),
    "rate": lambda it: setattr(it.child, "rate", 2),
    "move_to": lambda it: it.child.move_to(it.other),
    "remove": lambda it: it.child.remove(),
    "run": lambda it: it.transport.run(),
    "hold": lambda it: it.transport.hold(),
    "step": lambda it: it.transport.step_ns(1),
    "step_to": lambda it: it.transport.step_to_ns(2 * SECOND),
    "run_from_now": lambda it: it.transport.run_from_now(),
    "step_frame": lambda it: it.transport.step_frame(1),
    "frame_rate": lambda it: setattr(it.stage, "frame_rate", 30),
    "mark": lambda it: it.stage.mark("here"),
    "every_frame": lambda it: it.stage.every_frame(abs),
    "stage.scheduler": lambda it: it.stage.scheduler(),
    "director.on": lambda it: it.director.on("update", abs),
    "director.remove": lambda it: it.director.remove(it.callback),
    "run_frame": lambda it: it.director.run_frame(1),
    "schedule": lambda it: it.scheduler.schedule(print, 1),
    "schedule_update": lambda it: it.scheduler.schedule_update(int, callback=abs),
    "unschedule": lambda it: it.scheduler.unschedule(abs),
    "unschedule_all": lambda it: it.scheduler.unschedule_all(),
    "pause_target": lambda it: it.scheduler.pause_target(abs),
    "pause_all": lambda it: it.scheduler.pause_all(),
    "time_scale": lambda it: setattr(it.scheduler, "time_scale", 2),
    "scheduler.resume": lambda it: it.scheduler.resume(it.pause),
    "scheduler.update": lambda it: it.scheduler.update(1),
    "call.pause": lambda it: it.call.pause(),
    "call.resume": lambda it: it.held_call.resume(),
    "call.unschedule": lambda it: it.call.unschedule(),
    "update.priority": lambda it: setattr(it.update, "priority", 5),
    "machine.go": lambda it: it.machine.go("start"),
    "machine.reset": lambda it: it.machine.reset(),
    "loop": lambda it: start_loop(it.root, 10, int),
}


def test_that_the_thread_that_made_a_tree_is_refused_once_another_drives_it() -> None:
    tree = ClockTree()
    tree.root.set_timeout_ns(5, list)

    assert in_thread(lambda: tree.run_to(1)) is None

    with pytest.raises(RuntimeError, match="a clock belongs to the thread that drives its tree"):
        tree.root.set_timeout_ns(5, list)


@pytest.mark.parametrize("make_sink", [EventLog, lambda: None], ids=["recorded", "unrecorded"])
@pytest.mark.parametrize("change", CHANGES)
def test_that_another_thread_is_refused_and_told_what_to_use(
    change: str, make_sink: Callable[[], Sink | None]
) -> None:
    ground = _Ground(make_sink())
    before = ground.state()

    error = in_thread(lambda: CHANGES[change](ground))

    assert str(error) == (
        "a clock belongs to the thread that drives its tree: from another thread use "
        "clock.post(callback), which calls it on that thread"
    )
    assert ground.state() == before


def test_that_another_thread_cannot_bring_time_up_to_a_running_source() -> None:
    ground = _Ground()
    ground.transport.run()

    assert isinstance(in_thread(lambda: ground.root.time), RuntimeError)
    assert isinstance(in_thread(ground.transport.present_ns), RuntimeError)
    assert in_thread(lambda: repr(ground.root)) is None


def test_that_another_thread_keeps_no_local_time_for_the_driving_one() -> None:
    tree = ClockTree()
    errors: list[BaseException | None] = []
    child = tree.root.child("child")
    tree.root.set_timeout_ns(5, lambda: errors.append(in_thread(lambda: child.time_ns)))

    tree.run_to(10)

    assert [type(error) for error in errors] == [RuntimeError]


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
        tree.run_to(2 * SECOND)
        tree.root.set_timeout(1, lambda: fired.append(threading.get_ident()))
        tree.run_to(3 * SECOND)

    assert in_thread(drive) is None
    assert len(fired) == 2
    with pytest.raises(RuntimeError, match="a clock belongs to the thread that drives its tree"):
        tree.root.pause()


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
    failures: list[tuple[int, int, str]] = []
    tree.on_failure = lambda failure: failures.append(
        (failure.clock_id, failure.timer_id, type(failure.error).__name__)
    )
    gone = tree.root.child("gone")
    called: list[str] = []
    tree.root.post(lambda: 1 / 0)
    tree.root.post(lambda: asyncio.sleep(0))
    gone.post(called.append, "gone")
    tree.root.post(called.append, "last")
    gone.remove()

    tree.run_to(0)

    assert failures == [(1, 0, "ZeroDivisionError"), (1, 0, "TypeError")]
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
