"""What is seen of a scene that is in one wake-up for too long."""

from __future__ import annotations

import sys
import weakref
from contextlib import closing
from threading import Event, Semaphore, Thread
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from inspector.analysis.lanes.lanes import LaneStore
from inspector.analysis.lateness.attribution import Cause
from inspector.analysis.lateness.blocks import delayed_calls
from inspector.analysis.lateness.late_calls import late_calls
from inspector.clocks.sources.system_source import SystemTimeSource
from inspector.commands.breakpoints import AddBreakpoint
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.probe.sampler import LONG_NS
from inspector.sessions import scene_sampler
from inspector.sessions.hosted import HostedSession
from inspector.sessions.runs.real import run_real
from inspector.sessions.scene import find_scene
from inspector.sessions.scene_sampler import SceneSampler
from inspector.sessions.sources.time_sources import SYSTEM, make_source
from inspector.vocabulary import (
    COLLECTED,
    COLLECTED_HERE,
    MARK,
    RUNNING_CALL,
    SAMPLED,
    SAW_BETWEEN_TURNS,
    SAW_END,
    SAW_FROM_HERE,
    STACK_FRAME,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from inspector.vocabulary import RawEvent

_SCENE = """
import time
def crunch():
    end = time.thread_time() + 0.1
    while time.thread_time() < end:
        pass
def build(stage):
    stage.root.set_timeout(0.1, crunch, name="slow")
    stage.root.set_interval(0.03, lambda: None, name="tick")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="times of threads are Linux's")
def test_that_a_callback_of_a_scene_is_named_for_whom_it_made_late(tmp_path: Path) -> None:
    path = tmp_path / "scene.py"
    path.write_text(_SCENE)
    host = SystemTimeSource()
    session = HostedSession(find_scene(str(path)), make_source(SYSTEM, host), autorun=False)
    with closing(session):
        run_real(session, host, duration_ns=400_000_000, on_progress=lambda _: None)
        session.refresh()
        late = list(late_calls(session.history, 50_000_000))
        store = LaneStore()
        while store.read(session.history, session.timeline):
            pass
        blocks = [b for n in store.blocks.clocks for b in store.blocks.within(n, 0, 1 << 62)]
        delayed = [each.call.name for b in blocks for each in delayed_calls(session.history, b)]
        instants = [event[0] for event in session.history.events(0, session.history.end)]
    assert {call.name for call in late} == {"tick"}
    named = {
        share.culprit.place.function
        for call in late
        for share in call.lateness.shares
        if share.culprit is not None
    }
    assert named == {"crunch"}
    # A stretch in which it mostly had no processor is nobody's.
    is_starved = any(
        share.cause is Cause.PROCESSOR and 4 * share.ns > call.lateness.late_ns
        for call in late
        for share in call.lateness.shares
    )
    seen = [(block.culprit.place.function, block.lasts) for block in blocks]
    assert seen == [("crunch", False)] or is_starved
    assert set(delayed) == {"tick"} or is_starved
    assert instants == sorted(instants)


@pytest.mark.skipif(sys.platform != "linux", reason="times of threads are Linux's")
def test_that_a_long_frame_of_a_scene_is_hit_with_what_was_seen_during_it(tmp_path: Path) -> None:
    path = tmp_path / "scene.py"
    path.write_text(_SCENE)
    host = SystemTimeSource()
    session = HostedSession(find_scene(str(path)), make_source(SYSTEM, host), autorun=False)
    with closing(session):
        session.submit(AddBreakpoint(Breakpoint(BreakKind.TURN_ABOVE, limit_ns=80_000_000)))
        run_real(session, host, duration_ns=600_000_000, on_progress=lambda _: None)
        session.refresh()
        status = session.status
    assert status.breakpoint == 1
    assert "a turn or frame takes longer than 80.0 ms: it took " in status.message
    assert "crunch() (scene.py:" in status.message


class Alarm:
    """Wakes the thread of a sampler when a test says so."""

    def __init__(self) -> None:
        self.waits_ns: list[int] = []
        self.put_off_ns: list[int] = []
        self._has_waited, self._goes_on = Semaphore(0), Semaphore(0)

    def wait(self, ns: int) -> None:
        self.waits_ns.append(ns)
        self._has_waited.release()
        assert self._goes_on.acquire(timeout=10)

    def put_off(self, ns: int) -> bool:
        self.put_off_ns.append(ns)
        return True

    def close(self) -> None:
        self._goes_on.release()

    def free(self) -> None:
        """Hold nothing."""

    def ring(self) -> None:
        """Let the thread check, and wait until it waits again."""
        self._goes_on.release()
        self.await_wait()

    def await_wait(self) -> None:
        assert self._has_waited.acquire(timeout=10)


def test_that_it_looks_once_a_wake_up_when_that_may_be_a_long_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alarm = Alarm()
    monkeypatch.setattr(scene_sampler, "_alarm", lambda: alarm)
    monkeypatch.setattr(scene_sampler, "_REST_NS", 1 << 62)
    until_ns = iter((12_000_000, None, -1_000_000, 500_000_000))
    with closing(SceneSampler(1, lambda: next(until_ns, None))):
        alarm.await_wait()
        for _ in range(3):
            alarm.ring()

    assert alarm.waits_ns[:4] == [22_000_000, 10_000_000, 10_000_000, 30_000_000]


def test_that_a_look_is_put_off_while_wake_ups_are_short_but_not_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alarm, now_ns = Alarm(), 1_000_000_000
    monkeypatch.setattr(scene_sampler, "_alarm", lambda: alarm)
    monkeypatch.setattr(scene_sampler, "monotonic_ns", lambda: now_ns)
    put_off: list[list[int]] = []
    with closing(SceneSampler(1, lambda: 12_000_000)) as sampler:
        alarm.await_wait()
        alarm.ring()
        for passed_ns in (2_000_000, 16_000_000, 40_000_000, 1_000_000):
            now_ns += passed_ns
            sampler.begin_wake()
            sampler.end_wake(0, lambda _text: 0)
            put_off.append(alarm.put_off_ns[:])
            alarm.put_off_ns.clear()
        alarm.ring()
        for _ in range(6):
            now_ns += 20_000_000
            sampler.begin_wake()
            sampler.end_wake(0, lambda _text: 0)
            put_off.append(alarm.put_off_ns[:])
            alarm.put_off_ns.clear()

    both = [10_000_000, 30_000_000]
    # A look that is overdue is not put off: its thread may be waiting for the interpreter.
    assert put_off[:4] == [both, both, [], []]
    assert put_off[4:] == [both, both, both, both, [], []]


@pytest.mark.parametrize("kind", [scene_sampler._TimerFile, scene_sampler._HeldLock])
def test_that_an_alarm_wakes_when_its_time_has_come_or_it_is_closed(
    kind: type[scene_sampler._TimerFile | scene_sampler._HeldLock],
) -> None:
    if kind is scene_sampler._TimerFile and sys.platform != "linux":
        pytest.skip("timer files are Linux's")
    alarm = kind()
    alarm.wait(1)
    thread = Thread(target=alarm.wait, args=(1 << 62,))
    thread.start()
    alarm.close()
    thread.join(10)
    assert not thread.is_alive()
    alarm.free()


@pytest.mark.parametrize("kind", [scene_sampler._TimerFile, scene_sampler._HeldLock])
def test_that_an_alarm_does_not_wait_once_it_is_closed(
    kind: type[scene_sampler._TimerFile | scene_sampler._HeldLock],
) -> None:
    if kind is scene_sampler._TimerFile and sys.platform != "linux":
        pytest.skip("timer files are Linux's")
    alarm = kind()
    alarm.close()
    thread = Thread(target=alarm.wait, args=(1 << 62,), daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    alarm.free()


def test_that_it_rests_between_wake_ups_and_expects_its_next_look_after_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[str] = []
    was_wanted: list[bool] = []
    rests = Semaphore(0)

    class Resting(Event):
        def wait(self, timeout: float | None = None) -> bool:
            done.append("rest")
            was_wanted.append(self.is_set())
            rests.release()
            return super().wait(timeout)

    class Looks:
        def __init__(self, _scene: object) -> None:
            """Look at nothing."""

        def begin(self) -> None:
            """Begin."""

        end = begin

        def wait_ns(self, _longest_ns: int) -> int:
            done.append("expect")
            return 1_000_000

        def sample(self) -> None:
            done.append("look")

    monkeypatch.setattr(scene_sampler, "Event", Resting)
    monkeypatch.setattr(scene_sampler, "Sampler", Looks)
    monkeypatch.setattr(scene_sampler, "_REST_NS", -1)
    with closing(SceneSampler(1, lambda: None)) as sampler:
        for _ in range(2):
            assert rests.acquire(timeout=10)
            sampler.begin_wake()
            sampler.end_wake(0, lambda _text: 0)
        assert rests.acquire(timeout=10)

    assert was_wanted[:3] == [False, False, False]
    assert done[:4] == ["expect", "rest", "expect", "look"]


def test_that_nothing_holds_the_session_once_it_is_closed() -> None:
    has_looked = Event()

    class Session:
        def until_wake_ns(self) -> int | None:
            has_looked.set()
            return None

    session = Session()
    gone = weakref.ref(session)
    sampler = SceneSampler(1, session.until_wake_ns)
    assert has_looked.wait(10)
    sampler.close()
    del session, sampler

    assert gone() is None


@pytest.fixture
def sampler(monkeypatch: pytest.MonkeyPatch) -> Iterator[SceneSampler]:
    """Return a sampler that never looks by itself."""
    monkeypatch.setattr(scene_sampler, "_alarm", Alarm)
    with closing(SceneSampler(7, lambda: 12_000_000)) as sampler:
        yield sampler


def test_that_what_is_seen_of_a_long_wake_up_is_told_once_at_its_instant(
    sampler: SceneSampler, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_ns, texts = 500, ["", "a.py"]
    monkeypatch.setattr(scene_sampler, "monotonic_ns", lambda: now_ns)
    scene = sampler._scene

    def intern(text: str) -> int:
        texts.append(text)
        return len(texts) - 1

    def see(*ends: RawEvent) -> None:
        for each in ends:
            site, call = scene.text("crunch"), scene.text("boss")
            scene.extend(((1, STACK_FRAME, 7, 3, site), (1, RUNNING_CALL, 7, call, 2), each))

    sampled: RawEvent = (1, SAMPLED, 7, 10, 1)
    see(sampled)
    sampler.begin_wake()
    see((1, SAMPLED, 7, 10, SAW_END), (1, SAMPLED, 7, 10, SAW_BETWEEN_TURNS), (1, MARK, 0, 0, 0))
    assert sampler.end_wake(3, intern) == []
    assert scene.events == []

    sampler.begin_wake()
    see(sampled)
    scene.emit((1, COLLECTED, 7, 8, 2))
    now_ns += LONG_NS - 1
    assert sampler.seen_so_far(30, intern) == []
    now_ns += 1
    found = sampler.seen_so_far(30, intern)
    assert found == [
        (30, STACK_FRAME, 7, 3, 2),
        (30, RUNNING_CALL, 7, 3, 2),
        (30, SAMPLED, 7, 10, 1 | SAW_FROM_HERE),
        (30, COLLECTED, 7, 8, 2 | COLLECTED_HERE),
    ]
    assert texts[2:] == ["crunch", "boss"]
    assert sampler.end_wake(30, intern) == []
    scene.emit((1, COLLECTED, 7, 8, 2))
    assert scene.events == []


def test_that_closing_waits_for_the_thread_once(sampler: SceneSampler) -> None:
    done: list[str] = []
    thread, held = sampler._thread, cast("Any", sampler)
    held._thread = SimpleNamespace(join=lambda: done.append("join"))
    held._alarm.free = lambda: done.append("free")

    sampler.close()
    sampler.close()

    assert done == ["join", "free"]
    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.parametrize(("short_of_ns", "count"), [(0, 2), (1, 0)])
def test_that_only_long_wake_ups_of_which_there_is_a_sample_are_told(
    sampler: SceneSampler, monkeypatch: pytest.MonkeyPatch, short_of_ns: int, count: int
) -> None:
    now_ns = 500
    monkeypatch.setattr(scene_sampler, "monotonic_ns", lambda: now_ns)
    frames = sampler._scene.frames

    sampler.begin_wake()
    sampler._scene.emit((1, COLLECTED, 7, 8, 2))
    now_ns += LONG_NS
    # What collects garbage without a look at the thread says nothing of it.
    assert sampler.end_wake(9, lambda _text: 0) == []
    assert (frames.began_ns, frames.ended_ns, frames.busy_ns, frames.index) == (
        *(0, 500 + LONG_NS, LONG_NS, 1),
    )

    sampler.begin_wake()
    sampler._scene.extend(((1, SAMPLED, 7, 10, 1), (1, SAMPLED, 7, 10, 1)))
    now_ns += LONG_NS - short_of_ns
    assert len(sampler.end_wake(9, lambda _text: 0)) == count
    assert (frames.index, sampler._scene.events) == (2, [])


def test_that_no_more_events_of_a_wake_up_are_kept_than_can_be_read(
    sampler: SceneSampler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scene_sampler, "_MOST_EVENTS", 2)
    sampler.begin_wake()
    for _ in range(3):
        sampler._scene.emit((1, COLLECTED, 7, 8, 2))
        sampler._scene.extend(((1, SAMPLED, 7, 10, 1),))
    assert len(sampler._scene.events) == 2


def test_that_a_system_without_timer_files_has_another_alarm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing() -> None:
        raise AttributeError

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(scene_sampler, "_TimerFile", missing)
    assert type(scene_sampler._alarm()) is scene_sampler._HeldLock
    made = SimpleNamespace()
    monkeypatch.setattr(scene_sampler, "_TimerFile", lambda: made)
    alarm: object = scene_sampler._alarm()
    assert alarm is made
    held: Any = scene_sampler._HeldLock()
    waits: list[object] = []
    held._open = SimpleNamespace(acquire=lambda **given: waits.append(given))
    held.wait(2_500_000_000)
    assert waits == [{"timeout": 2.5}]
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not scene_sampler._alarm().put_off(1)
