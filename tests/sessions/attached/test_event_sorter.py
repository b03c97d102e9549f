"""Events of several programs are sorted into one log, and descriptions compared with the state."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from inspector.events.log import EventLog
from inspector.events.timeline import Timeline
from inspector.sessions.attached import event_sorter
from inspector.sessions.attached.event_sorter import EventSorter
from inspector.sessions.attached.session_numbers import ABOVE_PROGRAM, NUMBER_BITS, ROOT_ID
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    CLOCK_PAUSED,
    CLOCK_REMOVED,
    CLOCK_RESUMED,
    FRAME_BEGAN,
    FRAME_ENDED,
    LOOP_FOUND,
    MARK,
    TASK_ADDED,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_ORIGIN,
    LoopKind,
    RawEvent,
)

#: The first clock of the program with the index 1, and its first timer.
_CLOCK = (1 << NUMBER_BITS) + 1 + ROOT_ID
_TIMER = (1 << NUMBER_BITS) + 1


def _made() -> tuple[EventSorter, EventLog]:
    log = EventLog()
    for number in range(1, 30):
        assert log.intern(f"text {number}") == number
    return EventSorter(log, Timeline(log.strings)), log


def _mark(at_ns: int, text: int = 0) -> RawEvent:
    return (at_ns, MARK, 0, text, 0)


def _rows(*events: RawEvent) -> Any:  # noqa: ANN401 - rows
    return np.array(events, np.int64)


def _read(log: EventLog) -> list[RawEvent]:
    return [tuple(event) for event in log.read().events]  # type: ignore[misc]


def test_that_events_are_released_up_to_an_instant_in_their_order() -> None:
    sorter, log = _made()
    sorter.add_rows(2, _rows(_mark(10, 21), _mark(20, 22), _mark(20, 23), _mark(31, 24)))
    sorter.add_rows(2, _rows(_mark(32, 25)))
    sorter.add_rows(1, _rows(_mark(15, 11), _mark(20, 12)))
    sorter.add_rows(1, _rows())
    sorter.add(_mark(20, 1))

    assert sorter.release(9) == 0
    assert (sorter.at_ns, sorter.newest_ns) == (9, 0)
    assert sorter.release(20) == 6
    assert [event[3] for event in _read(log)] == [21, 11, 1, 12, 22, 23]
    assert (sorter.at_ns, sorter.newest_ns, sorter.late) == (20, 20, 0)
    assert sorter.release(15) == 0
    assert sorter.at_ns == 20
    assert sorter.release(32) == 2
    assert sorter.release(40) == 0


def test_that_late_events_are_moved_and_counted_and_their_clocks_asked_for() -> None:
    sorter, log = _made()
    sorter.add(_mark(100))
    sorter.release(100)
    sorter.add_rows(1, _rows(_mark(100, 1)))
    sorter.release(100)
    assert (sorter.late, sorter.resyncs) == (0, set())
    sorter.add_rows(
        1,
        _rows(
            (70, CLOCK_ADDED, _CLOCK, 0, 0),
            _mark(90, 2),
            (95, event_sorter.KEYFRAME_COMPLETE, 1, 0, 0),
            _mark(120, 3),
        ),
    )
    sorter.release(130)
    assert (sorter.late, sorter.late_ns, sorter.resyncs) == (2, 30, {1})
    assert [event[0] for event in _read(log)][2:] == [100, 100, 120]
    assert sorter.newest_ns == 120
    sorter.add(_mark(110))
    sorter.release(130)
    assert (sorter.late, sorter.late_ns) == (3, 30)


@pytest.mark.parametrize(
    ("most", "kind"), [("MOST_CLOCKS", CLOCK_ADDED), ("MOST_TIMERS", TIMER_ADDED)]
)
def test_that_more_than_a_program_may_have_are_left_out(
    monkeypatch: pytest.MonkeyPatch, most: str, kind: int
) -> None:
    sorter, log = _made()
    sorter.add((0, CLOCK_ADDED, 1, 0, 0), (0, TIMER_ADDED, 1, 1, 0))
    sorter.release(1)
    monkeypatch.setattr(event_sorter, most, 2)
    first, second, third = (
        ((5, kind, 2 + each, 1, 0), (5, kind, 12 + each, 1, 0)) for each in (0, 2, 4)
    )
    sorter.add(*first[:1], _mark(5, 1))
    assert sorter.release(5) == 2
    # It is full now.
    sorter.add(*second, _mark(6, 2), *third)
    assert sorter.release(9) == 1
    assert sorter.misfits == {kind: 4}
    assert [event[3] for event in _read(log) if event[1] == MARK] == [1, 2]


def test_that_programs_together_have_millions_of_timers_and_fewer_clocks_and_tasks() -> None:
    for place, (kind, most) in enumerate(
        ((TIMER_ADDED, 2_000_000), (CLOCK_ADDED, 10_000), (TASK_ADDED, 500_000))
    ):
        for count, is_full in ((most - 1, False), (most, True)):
            timers, clocks, tasks = (range(count if place == each else 0) for each in range(3))
            sorter, _ = _made()
            sorter.timeline = SimpleNamespace(  # type: ignore[assignment]
                timers=timers, clocks=clocks, tasks=SimpleNamespace(by_id=tasks)
            )
            rows = _rows((5, kind, 7, 1, 0), _mark(5))
            assert len(sorter._without_too_many(rows)) == (1 if is_full else 2)
            assert sorter.misfits[kind] == is_full


def test_that_what_does_not_fit_is_counted_but_not_while_a_program_is_described() -> None:
    sorter, log = _made()
    gone = (5, CLOCK_PAUSED, _CLOCK + 7, 0, 0)
    sorter.add(_mark(4, 1), gone, _mark(6, 2), gone, _mark(7, 3))
    assert sorter.release(10) == 3
    assert [event[3] for event in _read(log)] == [1, 2, 3]
    assert sorter.misfits == {CLOCK_PAUSED: 2}
    sorter.add_keyframe(1, event_sorter.KEYFRAME_BEGUN, 11)
    sorter.add_rows(1, _rows((12, CLOCK_PAUSED, _CLOCK + 7, 0, 0)))
    assert sorter.release(12) == 0
    assert sorter.misfits == {CLOCK_PAUSED: 2}
    sorter.end_program(1)
    sorter.add_rows(1, _rows((13, CLOCK_PAUSED, _CLOCK + 7, 0, 0)))
    sorter.release(13)
    assert sorter.misfits == {CLOCK_PAUSED: 3}


def test_that_a_description_tells_what_has_come_and_what_has_gone() -> None:
    sorter, log = _made()
    other = _CLOCK - (1 << NUMBER_BITS)
    above = (1 << NUMBER_BITS) + ABOVE_PROGRAM + ROOT_ID
    sorter.add(
        (0, CLOCK_ADDED, ROOT_ID, 0, 0),
        (0, CLOCK_ADDED, other, ROOT_ID, 0),
        (0, CLOCK_ADDED, above, ROOT_ID, 0),
        (0, CLOCK_ADDED, _CLOCK, above, 0),
        (0, CLOCK_ADDED, _CLOCK + 1, _CLOCK, 0),
        (0, CLOCK_ADDED, _CLOCK + 2, _CLOCK + 1, 0),
        (0, CLOCK_PAUSED, _CLOCK, 0, 0),
        (0, TIMER_ADDED, _TIMER, _CLOCK, 0),
        (0, TIMER_ADDED, _TIMER + 1, _CLOCK, 0),
    )
    sorter.release(1)
    before = len(_read(log))
    sorter.add_keyframe(1, event_sorter.KEYFRAME_BEGUN, 10)
    described = [
        (11, CLOCK_ADDED, _CLOCK, above, 0),
        (11, CLOCK_ANCHORED, _CLOCK, 0, 0),
        (11, TIMER_ADDED, _TIMER + 1, _CLOCK, 0),
        (11, TIMER_ADDED, _TIMER + 5, _CLOCK, 0),
        # What happens meanwhile.
        _mark(12, 7),
        (12, FRAME_BEGAN, _CLOCK, 70, 5),
        (12, FRAME_ENDED, _CLOCK, 6, 3),
    ]
    sorter.add_rows(1, _rows(*described))
    sorter.add_keyframe(1, event_sorter.KEYFRAME_COMPLETE, 13)
    sorter.release(20)
    assert _read(log)[before:] == [
        (11, CLOCK_RESUMED, _CLOCK, 0, 0),
        (11, CLOCK_ANCHORED, _CLOCK, 0, 0),
        (11, TIMER_ADDED, _TIMER + 5, _CLOCK, 0),
        _mark(12, 7),
        (12, LOOP_FOUND, _CLOCK, 0, LoopKind.DRAWS_FRAMES),
        (12, FRAME_BEGAN, _CLOCK, 0, 5),
        (12, FRAME_ENDED, _CLOCK, 6, 3),
        (13, TIMER_CLEARED, _TIMER, 0, 0),
        (13, CLOCK_REMOVED, _CLOCK + 1, 0, 0),
    ]
    assert sorter.misfits == {}
    # Only the first program has nothing to be compared with.
    sorter.add_keyframe(3, event_sorter.KEYFRAME_BEGUN, 21)
    sorter.release(21)
    assert not sorter._keyframes
    sorter.add_keyframe(3, event_sorter.KEYFRAME_COMPLETE, 22)
    sorter.release(30)
    assert len(_read(log)) == before + 9


@pytest.mark.parametrize(
    ("event", "is_new"),
    [
        ((5, TIMER_ORIGIN, 1, 7, 2), False),
        ((5, TIMER_ORIGIN, 1, 7, 3), True),
        ((5, TIMER_ORIGIN, 1, 8, 2), True),
        ((5, TIMER_ARMED, 1, 90, 30), False),
        ((5, TIMER_ARMED, 1, 91, 30), True),
        ((5, TIMER_ARMED, 1, 90, 31), True),
        ((5, TIMER_CLEARED, 1, 0, 0), True),
        ((5, TIMER_ARMED, 2, 90, 30), True),
    ],
)
def test_that_only_what_a_description_changes_is_news(event: RawEvent, *, is_new: bool) -> None:
    timers: Any = SimpleNamespace(
        index=lambda _number: 0, site=[7], kind=[2], due=[90], interval=[30]
    )

    class Timers(SimpleNamespace):
        def __contains__(self, number: int) -> bool:
            return number == 1

    timeline = SimpleNamespace(clocks={}, timers=Timers(**vars(timers)))
    sorter: Any = SimpleNamespace(timeline=timeline)
    keyframe = event_sorter._Keyframe(sorter)
    assert keyframe.news(event) == ([*event] if is_new else [])
    # What it has added itself is described after that.
    added = (5, TIMER_ADDED, 2, 1, 0)
    assert keyframe.news(added) == [*added]
    assert keyframe.news((5, TIMER_ADDED, 1, 1, 0)) == []
