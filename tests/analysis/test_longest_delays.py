"""The longest delays of a session, each by the latest call that it made late."""

from __future__ import annotations

from random import Random

import pytest

from inspector.analysis.lateness.late_calls import late_calls, longest_delays
from inspector.analysis.lateness.words import late_call_text
from inspector.events.history import LogHistory
from inspector.vocabulary import NEVER, TIMER_ADDED, TIMER_ARMED, TIMER_FIRED, TIMER_ORIGIN
from tests.analysis.test_lateness import CRUNCH, DUE_NS, LOOP, MAIN, MS, PROGRAM, TIMER, Program


def called(program: Program, calls: list[tuple[int, int, int]]) -> LogHistory:
    """Return a history of calls, each with its clock, its due instant and its lateness in ms."""
    text = program.log.intern
    for number, (clock, due_ms, _) in enumerate(calls):
        program.log.append((0, TIMER_ADDED, 100 + number, clock, text(f"timer {number}")))
        program.log.append((0, TIMER_ORIGIN, 100 + number, text("/srv/server.py:30 in tick"), 0))
        program.log.append((0, TIMER_ARMED, 100 + number, DUE_NS + due_ms * MS, 0))
    fired = sorted((due + late, 100 + at, late) for at, (_, due, late) in enumerate(calls))
    for at_ms, timer, late_ms in fired:
        program.log.append((DUE_NS + at_ms * MS, TIMER_FIRED, timer, late_ms * MS, NEVER))
    return LogHistory(program.log)


@pytest.mark.parametrize("seed", range(4))
def test_that_calls_of_one_clock_that_waited_at_the_same_time_are_one_delay(seed: int) -> None:
    random = Random(seed)
    calls = [
        (random.choice((LOOP, PROGRAM)), random.randrange(0, 9_000, 20), random.randrange(0, 300))
        for _ in range(random.choice((5, 60)))
    ]
    history = called(Program(), calls)

    delays = longest_delays(history, 20 * MS, 3)

    late = sorted((call for call in calls if call[2] > 20), key=lambda call: -call[2])
    apart: list[tuple[int, int, int]] = []
    for clock, due, ms in late:
        if all(clock != other or due + ms <= at or at + took <= due for other, at, took in apart):
            apart.append((clock, due, ms))
    found = [
        (call.clock_id, call.lateness.begin_ns // MS - 1_000, call.lateness.late_ns // MS)
        for call in delays.worst
    ]
    assert (delays.over_ns, delays.count) == (20 * MS, len(late))
    assert found == apart[:3]


def test_that_a_delay_has_its_causes_also_while_it_lasts() -> None:
    program = Program()
    for until_ms in range(10, 201, 10):
        program.sample(MAIN, CRUNCH, until_ms=until_ms, begins=until_ms == 10)
    history = LogHistory(program.log)
    (call,) = late_calls(history, 20 * MS)

    delays = longest_delays(history, 20 * MS, 3)

    assert delays.worst == [call]
    assert (call.timer_id, call.is_made, delays.count) == (TIMER, False, 1)
    assert "200 ms late so far: task “rebuild” was in crunch()" in late_call_text(call)


def test_that_a_call_that_waits_for_nothing_known_is_no_delay() -> None:
    program = Program()
    program.sample(MAIN, until_ms=-500)

    assert longest_delays(LogHistory(program.log), 20 * MS, 3).count == 0
