"""What tasks sleep, as the timers that an inspector is told."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from inspector.probe.adapters.trio_uvloop_sleeps import Sleeps
from inspector.probe.kinds import (
    INTERVAL_DELAY,
    NEVER,
    TIMEOUT,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
)
from inspector.probe.program import Program, Timer

MS = 1_000_000


class Task:
    """What sleeps."""


class Sleeping:
    """Tasks of a program whose events are kept."""

    def __init__(self) -> None:
        self.program = Program("test")
        self.events: list[tuple[int, int, int, int, int]] = []
        self.program.attach(self.events.append, self.events.extend)
        self.clock = self.program.clock("loop")
        self.sleeps = Sleeps(self.program, self.clock)
        self.events.clear()

    def sleep(self, task: Task, frame: FrameType | None, asked_ns: int | None = 5 * MS) -> Timer:
        due_ns = self.clock.local_ns() + (asked_ns or 5 * MS)
        return self.sleeps.set(task, frame, ("job", 0), due_ns, asked_ns)

    def told(self, kind: int) -> list[tuple[int, int]]:
        return [(event[2], event[4]) for event in self.events if event[1] == kind]


@pytest.fixture
def sleeping() -> Sleeping:
    return Sleeping()


@pytest.fixture
def here() -> FrameType:
    return sys._getframe()


def test_that_a_task_that_sleeps_again_at_the_same_place_has_one_repeating_timer(
    sleeping: Sleeping, here: FrameType
) -> None:
    task = Task()
    timers = []
    for _ in range(4):
        timers.append(sleeping.sleep(task, here))
        sleeping.sleeps.woke(timers[-1])
    once, repeating = timers[0].number, timers[1].number

    assert [timer.number for timer in timers[1:]] == [repeating] * 3
    assert sleeping.told(TIMER_ORIGIN) == [(once, TIMEOUT), (repeating, INTERVAL_DELAY)]
    assert sleeping.told(TIMER_ARMED) == [(once, 0), *[(repeating, 5 * MS)] * 3]
    assert sleeping.told(TIMER_FIRED)[0] == (once, NEVER)
    assert len(sleeping.told(TIMER_FIRED)) == 4


def test_that_what_a_sleep_waits_for_is_what_was_asked(sleeping: Sleeping, here: FrameType) -> None:
    task = Task()
    for _ in range(3):
        sleeping.sleeps.woke(sleeping.sleep(task, here))

    armed = [event for event in sleeping.events if event[1] == TIMER_ARMED]
    shift_ns = sleeping.clock._shift
    assert shift_ns is not None
    assert {event[3] - shift_ns - event[0] for event in armed} == {5 * MS}


def test_that_a_task_that_does_not_sleep_again_has_no_timer(
    sleeping: Sleeping, here: FrameType
) -> None:
    task = Task()
    sleeping.sleeps.woke(sleeping.sleep(task, here))
    repeating = sleeping.sleep(task, here)
    sleeping.sleeps.woke(repeating)
    assert sleeping.program.pending(repeating.number) is not None

    sleeping.sleeps.settle()

    assert [number for number, _ in sleeping.told(TIMER_CLEARED)] == [repeating.number]
    assert not sleeping.program.timers


def test_that_a_task_that_has_not_gone_on_yet_keeps_its_timer(
    sleeping: Sleeping, here: FrameType
) -> None:
    timers = []
    for task in (Task(), Task()):
        sleeping.sleeps.woke(sleeping.sleep(task, here))
        timers.append(sleeping.sleep(task, here))
    for timer in timers:
        sleeping.sleeps.woke(timer)

    sleeping.sleeps.settle(timers[0])

    assert set(sleeping.program.timers) == {timers[1].number}


def test_that_another_place_or_another_task_is_another_timer(
    sleeping: Sleeping, here: FrameType
) -> None:
    task = Task()
    elsewhere = sys._getframe()
    for frame in (here, here, elsewhere):
        sleeping.sleeps.woke(sleeping.sleep(task, frame))
    sleeping.sleep(Task(), elsewhere)

    kinds = [kind for _, kind in sleeping.told(TIMER_ORIGIN)]
    assert kinds == [TIMEOUT, INTERVAL_DELAY, TIMEOUT, TIMEOUT]
    assert [number for number, _ in sleeping.told(TIMER_CLEARED)] == [2]


def test_that_a_task_that_sleeps_until_instants_repeats_as_they_are_apart(
    sleeping: Sleeping, here: FrameType
) -> None:
    task = Task()
    for _ in range(3):
        sleeping.sleeps.woke(sleeping.sleep(task, here, None))

    periods = [period for _, period in sleeping.told(TIMER_ARMED)]
    assert periods[0] == 0
    assert all(4 * MS < period <= 5 * MS for period in periods[1:])


def test_that_two_waits_of_a_task_at_once_are_two_timers(
    sleeping: Sleeping, here: FrameType
) -> None:
    task = Task()
    first, second = sleeping.sleep(task, here), sleeping.sleep(task, here)

    assert len(sleeping.told(TIMER_ADDED)) == 2
    assert {first.number, second.number} == set(sleeping.program.timers)


def test_that_another_inspector_is_told_from_the_beginning(
    sleeping: Sleeping, here: FrameType
) -> None:
    task = Task()
    for _ in range(2):
        sleeping.sleeps.woke(sleeping.sleep(task, here))
    sleeping.events.clear()
    sleeping.sleeps.forget()
    sleeping.sleeps.settle()
    assert sleeping.events == []
    sleeping.sleep(task, here)
    sleeping.sleep(task, here, None)

    assert [kind for _, kind in sleeping.told(TIMER_ORIGIN)] == [TIMEOUT, TIMEOUT]
