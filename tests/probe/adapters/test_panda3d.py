"""What the adapter of Panda3D does with tasks, of which only what it touches is there."""

# ruff: noqa: ANN401, N802 - as the library has it

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe.adapters import FRAME_NS
from inspector.probe.adapters.panda3d import PandaAdapter
from inspector.probe.clocks import Clock
from inspector.probe.kinds import (
    FRAME_BEGAN,
    FRAME_ENDED,
    INTERVAL_DELAY,
    NEVER,
    TIMEOUT,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
)
from inspector.probe.kinds import RATE_DENOMINATOR as D
from tests.probe.adapters.played import Played

MS = 1_000_000
NORMAL, LIMITED, SLAVE, FORCED = range(4)


class Task:
    """A task that waits until a time of Panda3D."""

    def __init__(self, name: str, wake_s: float, delay_s: float = 0.3) -> None:
        self.name, self.wake_s, self.delay_s = name, wake_s, delay_s
        self.is_alive = True
        self.is_removed = False

    def getWakeTime(self) -> float:
        return self.wake_s

    def getDelay(self) -> float:
        return self.delay_s

    def isAlive(self) -> bool:
        return self.is_alive

    def remove(self) -> None:
        self.is_removed = True


class PandaClock:
    """Panda3D's clock, which began with the program."""

    def __init__(self, real_s: Callable[[], float]) -> None:
        self.mode, self.count, self.frame_s, self.dt = NORMAL, 0, 0.0, 0.0
        self.real_s, self.began_s = real_s, real_s()

    def getRealTime(self) -> float:
        return self.real_s() - self.began_s

    def setRealTime(self, real_s: float) -> None:
        self.began_s = self.real_s() - real_s

    def getFrameTime(self) -> float:
        return self.frame_s

    def tick(self) -> None:
        """A frame begins."""
        if self.mode != SLAVE:
            self.frame_s = self.getRealTime()

    def setFrameTime(self, frame_s: float) -> None:
        self.frame_s = frame_s

    def setDt(self, dt: float) -> None:
        self.dt = dt

    def getFrameCount(self) -> int:
        return self.count

    def setFrameCount(self, count: int) -> None:
        self.count = count

    def getMode(self) -> int:
        return self.mode

    def setMode(self, mode: int) -> None:
        self.mode = mode


class Panda(Played):
    """Panda3D, whose tasks wait in `tasks` and are called in each frame in `called`, and a probe.

    Attributes:
        steps: What Panda3D has done.
        calls: What the tasks do that are called.
        slept_until_ms: Local times until which frames have waited.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(400 * MS)
        self.tasks: list[Any] = []
        self.steps: list[str] = []
        self.slept_until_ms: list[float] = []
        self.calls: Callable[[], object] = lambda: None
        panda = self
        self.called: list[Any] = []
        tasks, called, steps = self.tasks, self.called, self.steps

        class TaskManager:
            def step(self) -> None:
                steps.append("step")
                panda.panda_clock.tick()
                panda.calls()

            def doMethodLater(self, task: Any) -> Any:
                tasks.append(task)
                return task

            def getDoLaters(self) -> list[Any]:
                return tasks

            def getTasks(self) -> list[Any]:
                return called

        self.panda_clock = PandaClock(lambda: self.now_ns / 1e9)
        engine = SimpleNamespace(renderFrame=lambda: steps.append("drawn"))
        self.core = SimpleNamespace(
            PandaSystem=SimpleNamespace(getVersionString=lambda: "1.10"),
            ClockObject=SimpleNamespace(
                getGlobalClock=lambda: self.panda_clock,
                MNormal=NORMAL,
                MLimited=LIMITED,
                MSlave=SLAVE,
                MForced=FORCED,
            ),
            PythonTask=SimpleNamespace(getWakeTime=None),
            GraphicsEngine=SimpleNamespace(getGlobalPtr=lambda: engine),
        )
        events = SimpleNamespace(doEvents=lambda: steps.append("events"))
        monkeypatch.setattr(builtins, "base", SimpleNamespace(eventMgr=events), raising=False)
        self.manager = TaskManager()
        monkeypatch.setitem(sys.modules, "panda3d.core", self.core)
        global_manager: Any = SimpleNamespace(taskMgr=self.manager)
        monkeypatch.setitem(sys.modules, "direct.task.TaskManagerGlobal", global_manager)
        self.adapter = PandaAdapter(self.program)
        module: Any = SimpleNamespace(TaskManager=TaskManager)
        self.adapter.installed(module)
        self.program.wait_while_held = self._wait_while_held  # type: ignore[method-assign]
        sleep_until = self.program.sleep_until

        def noted(clock: Clock, local_ns: int, pump: Callable[[], object] | None = None) -> None:
            self.slept_until_ms.append(local_ns / MS)
            sleep_until(clock, local_ns, pump)

        self.program.sleep_until = noted  # type: ignore[method-assign]

    def _wait_while_held(self, clock: Clock, pump: Callable[[], object] | None = None) -> None:
        assert pump is not None
        for _ in range(25):
            if clock.is_held:
                pump()
                self.now_ns += 10 * MS
        if clock.is_held:
            self.resume()

    def frame(self, at_ms: float, calls: Callable[[], object] = lambda: None) -> None:
        """Have a frame at a local time of an unhurried program."""
        self.now_ns = round((400 + at_ms) * MS)
        self.calls = calls
        self.manager.step()

    def told(self, *kinds: int) -> list[tuple[Any, ...]]:
        """Return what was told of timers, by number from 1 on, in milliseconds."""
        return [
            (number, round(a / MS, 3), b if b == NEVER else round(b / MS, 3))
            for _, kind, number, a, b in self.events
            if kind in kinds
        ]


@pytest.fixture
def panda(monkeypatch: pytest.MonkeyPatch) -> Panda:
    return Panda(monkeypatch)


def spawn() -> None: ...


def test_that_a_task_is_told_with_its_names_line_and_time(panda: Panda) -> None:
    named: Any = Task("plain", 0.5)
    of_function: Any = Task("spawning", 0.3)
    of_function.getFunction = lambda: spawn
    without: Any = Task("gone", 0.4)
    without.getFunction = lambda: None
    for task in (named, of_function, without):
        panda.manager.doMethodLater(task)

    texts, timers = panda.program.texts, panda.program.timers.values()
    assert panda.adapter.version == "1.10"
    assert [texts[name] for _, name, *_ in timers] == ["plain", "spawning (spawn)", "gone"]
    assert all("test_panda3d.py" in texts[site] for _, _, site, *_ in timers)
    # A frame that begins at the time is late enough.
    assert [each[-3:] for each in timers] == [
        (TIMEOUT, due_ms * MS + 1, 0) for due_ms in (500, 300, 400)
    ]


def test_that_a_task_is_late_by_its_frame_and_gone_with_it(panda: Panda) -> None:
    early, late = Task("early", 0.1), Task("late", 0.2)
    early.is_alive = late.is_alive = False
    for task in (early, late):
        panda.manager.doMethodLater(task)
    panda.frame(50)
    panda.frame(115, lambda: panda.tasks.remove(early))
    # This one is removed before its time.
    panda.frame(130, lambda: panda.tasks.remove(late))

    assert panda.told(TIMER_FIRED) == [(1, 15, NEVER)]
    assert panda.told(TIMER_CLEARED) == [(2, 0, 0)]
    assert panda.program.timers == {}


def test_that_a_task_that_is_called_may_still_wait_again(panda: Panda) -> None:
    called = Task("called", 0.1)
    panda.manager.doMethodLater(called)
    panda.frame(120, lambda: panda.tasks.remove(called))
    assert panda.told(TIMER_FIRED) == []
    # It is called in every frame from then on.
    panda.frame(310)

    assert panda.told(TIMER_FIRED) == [(1, 210, NEVER)]
    # And when it waits once more, it is another timer.
    called.wake_s = 0.5
    panda.frame(330, lambda: panda.tasks.append(called))
    assert list(panda.program.timers) == [2]


def test_that_a_task_that_waits_again_is_an_interval(panda: Panda) -> None:
    task = Task("spawn", 0.3)
    panda.manager.doMethodLater(task)

    def again() -> None:
        task.wake_s += 0.3

    for at_ms in (310, 620, 930):
        panda.frame(at_ms, again)
    (timer,) = map(panda.program.pending, panda.program.timers)
    assert panda.adapter.message == ""
    assert timer is not None

    kinds = [b for _, kind, _, _, b in panda.events if kind == TIMER_ORIGIN]
    assert kinds == [TIMEOUT, INTERVAL_DELAY]
    assert panda.told(TIMER_FIRED) == [(1, 10, NEVER), (2, 20, 900), (2, 30, 1200)]
    assert (timer.period_ns, timer.due_ns) == (300 * MS, 1200 * MS + 1)
    first, second = (record[2] for record in _described(panda))
    assert first == second != 0


def _described(panda: Panda) -> list[tuple[int, int, int]]:
    return [(number, kind, a) for _, kind, number, a, _ in panda.events if kind == TIMER_ORIGIN]


def test_that_a_task_that_waits_longer_is_due_later(panda: Panda) -> None:
    task = Task("spawn", 0.3)
    panda.manager.doMethodLater(task)
    task.wake_s = 0.5
    panda.frame(100)

    assert panda.told(TIMER_FIRED) == []
    assert panda.told(TIMER_ARMED) == [(1, 300, 0), (1, 500, 0)]
    assert panda.program.first_due_ns(panda.adapter._clock) == 500 * MS + 1


def test_that_tasks_are_told_to_those_who_come_later_and_cleared_for_them(panda: Panda) -> None:
    panda.program.detach()
    task = Task("spawn", 0.3)
    panda.manager.doMethodLater(task)
    panda.frame(100)
    assert panda.count(TIMER_ADDED) == panda.count(FRAME_BEGAN) == 0
    for number in (1, 2):
        panda.attach()
        # A frame describes what is not known.
        assert list(panda.adapter.keyframe(panda.adapter._clock)) == []
        panda.frame(100 + number)
        assert panda.count(TIMER_ADDED) == number
        assert panda.count(FRAME_BEGAN) == panda.count(FRAME_ENDED) == number
        timer = panda.program.pending(number)
        panda.program.detach()
        panda.adapter.released()
    panda.attach()
    panda.frame(103)
    timer = panda.program.pending(3)
    assert timer is not None
    panda.adapter.clear_timer(panda.adapter._clock, timer, 7)
    panda.tasks.clear()
    panda.frame(400)

    assert task.is_removed
    assert [(a, b) for _, kind, _, a, b in panda.events if kind == TIMER_CLEARED] == [(0, 7)]
    assert panda.count(TIMER_FIRED) == 0


def test_that_what_is_due_waits_for_a_frame(panda: Panda) -> None:
    panda.manager.doMethodLater(Task("spawn", 0.3))
    panda.now_ns += 301 * MS

    assert panda.program.is_call_due


def test_that_its_clock_is_set_to_local_time_while_that_is_not_real_time(panda: Panda) -> None:
    panda_clock = panda.panda_clock
    panda_clock.setRealTime(5.0)
    panda.frame(20)
    assert panda_clock.mode == NORMAL
    panda.set_rate(D // 2)
    panda.frame(40)
    # It goes on from the frame before.
    assert panda_clock.mode == SLAVE
    assert [panda_clock.frame_s, panda_clock.dt] == pytest.approx([5.03, 0.01])
    panda.frame(80)
    assert [panda_clock.frame_s, panda_clock.dt] == pytest.approx([5.05, 0.02])
    assert panda_clock.count == 2
    panda.manager.doMethodLater(Task("spawn", 5.35))
    (timer,) = map(panda.program.pending, panda.program.timers)
    assert timer is not None
    assert timer.due_ns - panda.adapter._clock.local_ns() == 300 * MS + 1
    panda.set_rate(D)
    panda.frame(100)

    assert (panda_clock.mode, panda_clock.count) == (NORMAL, 2)
    assert panda_clock.getFrameTime() == pytest.approx(5.07)
    assert panda.slept_until_ms == []
    # Without an inspector, it is set back all the same.
    panda.set_rate(D // 2)
    panda.frame(120)
    assert panda_clock.mode == SLAVE
    panda.program.detach()
    panda.frame(140)
    assert panda_clock.mode == NORMAL


def test_that_a_limit_of_frames_holds_in_local_time(panda: Panda) -> None:
    panda.panda_clock.mode = LIMITED
    # One is longer, and a shorter one is soon forgotten.
    for at_ms in (10, 20, 29, 60, 70):
        panda.frame(at_ms)
    panda.set_rate(D // 2)
    for at_ms in (71, 72):
        panda.frame(at_ms)

    # The shortest was 9 ms, and counts a hundredth more with each frame.
    assert panda.slept_until_ms == [79.1809, 88.3618]
    assert panda.panda_clock.dt == pytest.approx(0.0091809)
    panda.set_rate(D)
    for at_ms in (200, 201, 202):
        panda.frame(at_ms)
    # The frame that sets the clock back is the last.
    assert len(panda.slept_until_ms) == 3


def test_that_frames_of_a_fixed_length_are_left_alone(panda: Panda) -> None:
    panda.panda_clock.mode = FORCED
    panda.set_rate(D // 2)
    for at_ms in (10, 20):
        panda.frame(at_ms)

    assert panda.panda_clock.mode == FORCED
    assert panda.panda_clock.count == 0
    assert panda.adapter.message.startswith("Frames have a fixed length")


def test_that_a_held_program_is_drawn_and_answers_ten_times_a_second(panda: Panda) -> None:
    panda.frame(10)
    assert panda.steps == ["step"]
    panda.hold()
    frames = panda.count(FRAME_BEGAN)
    count = panda.panda_clock.count
    panda.manager.step()

    # 250 ms of a pause, and the step after it.
    assert panda.steps[1:] == ["drawn", "events"] * 3 + ["step"]
    assert panda.count(FRAME_BEGAN) == frames + 1
    # The same frame is not drawn twice.
    assert panda.panda_clock.count == count + 3


@pytest.mark.parametrize("base", [None, SimpleNamespace()])
def test_that_a_held_program_without_events_is_drawn(
    panda: Panda, monkeypatch: pytest.MonkeyPatch, base: object
) -> None:
    monkeypatch.setattr(builtins, "base", base)
    panda.panda_clock.mode = FORCED
    panda.hold()
    panda.manager.step()

    # A picture is drawn every 100 ms.
    assert panda.steps == ["drawn"] * 3 + ["step"]
    # Its own frames are counted by the program.
    assert panda.panda_clock.count == 0
    assert panda.adapter.state != "failed"


def test_that_a_clock_of_an_adapter_that_fails_is_its_own_again(panda: Panda) -> None:
    panda.adapter.fail("nothing was taken over")
    assert panda.panda_clock.mode == NORMAL
    panda.adapter.state = "active"
    panda.set_rate(D // 2)
    panda.frame(10)
    panda.adapter.fail("something is gone")
    panda.set_rate(D // 4)
    panda.frame(20)

    assert (panda.adapter.state, panda.adapter.message) == ("failed", "something is gone")
    assert panda.panda_clock.mode == NORMAL
    assert panda.steps == ["step"] * 2


def test_that_a_step_by_hand_does_not_wait_for_the_next_frame(panda: Panda) -> None:
    virtual: Any = SimpleNamespace()
    panda.program.waits = virtual
    began_ns = panda.now_ns
    panda.manager.step()
    assert panda.now_ns == began_ns
    for _ in range(3):
        panda.adapter.turn()
    by_hand_ns = panda.now_ns
    panda.manager.step()

    assert by_hand_ns == began_ns
    assert panda.now_ns == began_ns + FRAME_NS


def test_that_only_the_main_thread_of_a_program_with_tasks_turns_it_by_hand(
    panda: Panda, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[object] = []
    assert panda.adapter.turn() is None
    panda.called.append(Task("each frame", 0))
    assert panda.adapter.turn() == panda.program.own_clock.local_ns() + FRAME_NS
    thread = Thread(target=lambda: found.append(panda.adapter.turn()))
    thread.start()
    thread.join()
    monkeypatch.delitem(sys.modules, "direct.task.TaskManagerGlobal")

    assert [*found, panda.adapter.turn()] == [None, None]
    assert panda.steps == ["step"] * 2
