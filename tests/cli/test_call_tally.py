"""The tally counts what timers did and what they should have done."""

from fractions import Fraction
from pathlib import Path

import pytest

from inspector.cli.call_tally import CallTally, TimerCount
from inspector.clocks import ClockTree, ManualTimeSource, Transport
from inspector.commands.clocks import PauseClock, SetRate
from inspector.commands.timers import ClearTimer, FireTimer
from inspector.commands.transport import Run, StepBy
from inspector.events.log import BYTES_PER_EVENT, EventLog
from inspector.events.timeline import Timeline
from inspector.testing import held_session, pass_seconds, scene_file, virtual_session
from inspector.timebase import NS_PER_SECOND
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    NEVER,
    RATE_DENOMINATOR,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_FIRED,
    TIMER_ORIGIN,
    TimerKind,
)

SCENE = """
    def build(stage):
        game = stage.root.child("game")
        game.set_interval(0.5, lambda: None, name="tick")
        def again():
            game.set_timeout(0.4, again, name="again")
        again()
"""


def counts(path: Path, seconds: float = 10) -> dict[str, TimerCount]:
    session = virtual_session(path)
    tally = CallTally(session.log)
    pass_seconds(session, seconds)
    tally.update()
    found = {count.label: count for count in tally.timers(session.timeline)}
    session.close()
    return found


def test_that_a_repeating_timer_is_expected_by_its_clocks_time(tmp_path: Path) -> None:
    tick = counts(scene_file(tmp_path, SCENE))["tick"]

    assert (tick.clock, tick.timers, tick.fired, tick.expected) == ("game", 1, 20, 20)
    assert tick.is_exact


def test_that_timers_of_a_program_that_is_gone_are_told_apart_from_those_of_others(
    tmp_path: Path,
) -> None:
    scene = """
        def build(stage):
            for name in ("one", "two"):
                program = stage.root.child(name)
                clock = program.child("Python time")
                clock.set_timeout(0.1, lambda: None, name="sleep")
            clock.set_timeout(0.2, program.remove)
    """
    session = virtual_session(scene_file(tmp_path, scene))
    tally = CallTally(session.log)
    pass_seconds(session, 1)
    tally.update()
    clocks = {each.clock for each in tally.timers(session.timeline) if each.label == "sleep"}
    session.close()
    assert clocks == {"one › Python time", "two › Python time"}


MANY = """
    def build(stage):
        game, gone = stage.root.child("game"), stage.root.child("gone")
        timers = [game.set_timeout(0.01 * (n % 90), lambda: None, name="a") for n in range(500)]
        [gone.set_timeout(3, lambda: None, name="b") for _ in range(500)]
        [game.set_timeout(n % 2, lambda: None, name=f"c{n % 3}") for n in range(300)]
        for timer in timers[::7]:
            game.clear(timer)
        game.set_timeout(0.2, lambda: game.set_interval(0.2, lambda: None, name="a"))
        game.set_timeout(0.5, gone.remove)
        for _ in range(3):
            game.set_timeout(0.6, lambda: [game.set_timeout(0.3, int, name="d")
                                           for _ in range(400)])
"""


@pytest.mark.parametrize("seconds", [0.4, 0.75, 10])
def test_that_timers_set_by_the_hundred_are_counted_as_each_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    path = scene_file(tmp_path, MANY)
    together = counts(path, seconds)

    monkeypatch.setattr(CallTally, "_add_timers", lambda *_: False)

    assert together == counts(path, seconds)
    assert together["b"].timers == 500


def test_that_places_that_set_timers_are_told(tmp_path: Path) -> None:
    scene = scene_file(tmp_path, SCENE + '        game.set_timeout(9, again, name="again")\n')
    found = counts(scene)

    assert [each.rpartition("/")[2].partition(" ")[0] for each in found["again"].set_at] == [
        f"{scene.name}:{line}" for line in (6, 8)
    ]
    assert len(found["tick"].set_at) == 1


def test_that_one_shots_of_one_name_are_counted_together(tmp_path: Path) -> None:
    again = counts(scene_file(tmp_path, SCENE))["again"]

    assert (again.timers, again.fired, again.expected) == (26, 25, None)


def test_that_a_tick_at_the_instant_of_a_pause_is_not_expected(tmp_path: Path) -> None:
    tick = counts(
        scene_file(
            tmp_path,
            """
            def build(stage):
                stage.root.set_timeout(2, stage.root.pause, name="pause")
                stage.root.set_interval(0.5, lambda: None, name="tick")
            """,
        )
    )["tick"]

    assert tick.fired == tick.expected == 3


def test_that_what_was_cleared_removed_or_fired_by_hand_is_told_apart(tmp_path: Path) -> None:
    session = held_session(
        scene_file(
            tmp_path,
            """
            def build(stage):
                for name in ("a", "b", "c"):
                    clock = stage.root.child(name)
                    clock.set_interval(1, lambda: None, name=name)
                    if name == "c":
                        stage.root.set_timeout(3.5, clock.remove)
            """,
        )
    )
    tally = CallTally(session.log)
    ids = {session.timeline.timers.row(i).label: i for i in session.timeline.timers.ids()}
    for command in (
        FireTimer(ids["a"]),
        StepBy(2 * NS_PER_SECOND),
        ClearTimer(ids["b"]),
        StepBy(3 * NS_PER_SECOND),
    ):
        session.submit(command)
    session.refresh()
    tally.update()

    found = {count.label: count for count in tally.timers(session.timeline)}

    assert (found["a"].fired, found["a"].forced, found["a"].expected) == (6, 1, 5)
    assert (found["b"].fired, found["b"].expected) == (2, 2)
    assert (found["c"].fired, found["c"].expected) == (3, 3)
    assert all(found[name].is_exact for name in "abc")
    session.close()


def test_that_counts_stay_exact_under_pause_and_rate(tmp_path: Path) -> None:
    session = virtual_session(scene_file(tmp_path, SCENE))
    tally = CallTally(session.log)
    game = 2
    pass_seconds(session, 1.3)
    session.submit(SetRate(game, Fraction(3)))
    pass_seconds(session, 2.1)
    session.submit(PauseClock(game))
    pass_seconds(session, 5)
    session.submit(Run())
    tally.update()

    tick = next(c for c in tally.timers(session.timeline) if c.label == "tick")

    assert tick.is_exact
    assert tick.fired > 10
    session.close()


def small_log(*, timers: int, keeps: int) -> tuple[ManualTimeSource, EventLog]:
    """A clock with repeating timers, and a log that keeps few events."""
    log = EventLog(budget_bytes=keeps * BYTES_PER_EVENT)
    tree, source = ClockTree(log), ManualTimeSource()
    Transport(tree, source).run()
    game = tree.root.child("game")
    for _ in range(timers):
        game.set_interval(1, lambda: None, name="tick")
    return source, log


def folded(log: EventLog) -> Timeline:
    timeline = log.base.copy()
    timeline.apply_all(log.slice(log.first, log.end))
    return timeline


@pytest.mark.parametrize("keeps", range(50, 56))
def test_that_it_counts_where_the_beginning_has_fallen_off_the_log(keeps: int) -> None:
    source, log = small_log(timers=100, keeps=keeps)
    log.settle()
    assert log.first > 200

    tally = CallTally(log)
    source.advance(2.5)
    tally.update()

    (tick,) = tally.timers(folded(log))
    assert (tick.clock, tick.label, tick.timers) == ("game", "tick", 100)
    assert (tick.kind, tick.interval_ns) == (TimerKind.INTERVAL_BURST, NS_PER_SECOND)
    assert (tick.fired, tick.expected, tick.is_exact) == (200, 200, True)
    assert tally.lost == 0


def test_that_it_counts_what_falls_off_the_log_between_two_looks() -> None:
    source, log = small_log(timers=10, keeps=200)
    tally = CallTally(log)

    for _ in range(49):
        source.advance(1)
        log.settle()

    tally.update()
    (tick,) = tally.timers(folded(log))
    assert log.first > 100
    assert (tick.fired, tick.expected, tally.lost) == (490, 490, 0)


def test_that_a_timer_that_is_armed_again_is_expected_from_there_on() -> None:
    log = EventLog()
    label, tally = log.intern("tick"), CallTally(log)
    ms = 1_000_000
    log.append((0, CLOCK_ADDED, 1, 0, log.intern("node")))
    log.append((0, CLOCK_ANCHORED, 1, 0, RATE_DENOMINATOR))
    log.append((0, TIMER_ADDED, 7, 1, label))
    log.append((0, TIMER_ORIGIN, 7, 0, TimerKind.INTERVAL_DELAY))
    log.append((0, TIMER_ARMED, 7, 300 * ms, 300 * ms))
    # An interval of Node is counted from the end of each call, and says so when that was late.
    log.append((300 * ms, TIMER_FIRED, 7, 0, 600 * ms))
    log.append((304 * ms, TIMER_ARMED, 7, 604 * ms, 300 * ms))
    log.append((604 * ms, TIMER_FIRED, 7, 0, 904 * ms))
    log.append((1_000 * ms, TIMER_FIRED, 7, 96 * ms, 1_300 * ms))
    timeline = Timeline(log.strings)
    timeline.apply_all(log.read().events)
    tally.update()
    timeline.set_present(1_100 * ms)

    (count,) = tally.timers(timeline)
    assert (count.fired, count.expected, count.is_exact) == (3, 3, True)
    assert count.delay_ns == count.longest_delay_ns == 300 * ms


def test_that_a_timer_that_is_seen_to_repeat_by_its_second_call_counts_the_first() -> None:
    log = EventLog()
    label, tally, ms = log.intern("tick"), CallTally(log), 1_000_000
    log.append((0, CLOCK_ADDED, 1, 0, log.intern("loop")))
    log.append((0, CLOCK_ANCHORED, 1, 0, RATE_DENOMINATOR))
    for number, period_ns in ((7, 0), (8, 300 * ms)):
        at_ns = 300 * ms * (number - 7)
        log.append((at_ns, TIMER_ADDED, number, 1, label))
        log.append((at_ns, TIMER_ARMED, number, at_ns + 300 * ms, period_ns))
        next_ns = at_ns + 600 * ms if period_ns else NEVER
        log.append((at_ns + 300 * ms, TIMER_FIRED, number, 0, next_ns))
    timeline = Timeline(log.strings)
    timeline.apply_all(log.read().events)
    tally.update()
    timeline.set_present(700 * ms)

    (count,) = tally.timers(timeline)
    assert (count.fired, count.expected, count.interval_ns) == (2, 2, 300 * ms)


@pytest.mark.parametrize(("next_ms", "expected"), [(98, 3), (100, 2), (150, 2)])
def test_that_a_coarse_timer_that_is_early_is_expected_from_there_on(
    next_ms: int, expected: int
) -> None:
    log = EventLog()
    label, tally, ms = log.intern("tick"), CallTally(log), 1_000_000
    log.append((0, CLOCK_ADDED, 1, 0, log.intern("Qt")))
    log.append((0, CLOCK_ANCHORED, 1, 0, RATE_DENOMINATOR))
    log.append((0, TIMER_ADDED, 7, 1, label))
    log.append((0, TIMER_ORIGIN, 7, 0, TimerKind.INTERVAL_SKIP))
    log.append((0, TIMER_ARMED, 7, 50 * ms, 50 * ms))
    log.append((48 * ms, TIMER_FIRED, 7, 0, next_ms * ms))
    log.append((98 * ms, TIMER_FIRED, 7, 0, (next_ms + 50) * ms))
    log.append((148 * ms, TIMER_FIRED, 7, 0, (next_ms + 100) * ms))
    timeline = Timeline(log.strings)
    timeline.apply_all(log.read().events)
    tally.update()
    timeline.set_present(149 * ms)

    # What is skipped is not expected less often.
    (count,) = tally.timers(timeline)
    assert (count.fired, count.expected) == (3, expected)


def test_that_intervals_that_begin_with_the_late_call_are_counted_from_there() -> None:
    log = EventLog()
    label, tally, ms = log.intern("tick"), CallTally(log), 1_000_000
    log.append((0, CLOCK_ADDED, 1, 0, log.intern("loop")))
    log.append((0, CLOCK_ANCHORED, 1, 0, RATE_DENOMINATOR))
    log.append((0, TIMER_ADDED, 7, 1, label))
    log.append((0, TIMER_ORIGIN, 7, 0, TimerKind.INTERVAL_DELAY))
    log.append((5 * ms, TIMER_ARMED, 7, 4 * ms, 30 * ms))
    for tick in range(20):
        # Frames of 20 ms: each call is 10 ms late, and the next is due 30 ms after it.
        log.append(((40 * tick + 10) * ms, TIMER_FIRED, 7, 6 * ms, (40 * tick + 40) * ms))
    timeline = Timeline(log.strings)
    timeline.apply_all(log.read().events)
    tally.update()
    timeline.set_present(790 * ms)

    (count,) = tally.timers(timeline)
    assert (count.fired, count.expected) == (20, 20)
    # It was overdue when it was first seen.
    assert count.delay_ns is None
    timeline.set_present(870 * ms)
    (count,) = tally.timers(timeline)
    assert not count.is_exact


def _ticks(folder: Path, intervals: str) -> list[TimerCount]:
    """Return what is counted of timers called “tick” with these intervals, in 10 seconds."""
    path = scene_file(
        folder,
        f"""
        def build(stage):
            for interval in {intervals}:
                stage.root.set_interval(interval, lambda: None, name="tick")
        """,
    )
    session = virtual_session(path)
    tally = CallTally(session.log)
    pass_seconds(session, 10)
    tally.update()
    found = tally.timers(session.timeline)
    session.close()
    return found


def test_that_timers_of_one_name_are_counted_by_their_periods(tmp_path: Path) -> None:
    found = _ticks(tmp_path, "(0.5, 1, 2, 1)")

    assert [each.label for each in found] == ["tick"] * 3
    assert [each.interval_ns / NS_PER_SECOND for each in found] == [0.5, 1, 2]
    assert [each.timers for each in found] == [1, 2, 1]
    assert [each.fired for each in found] == [each.expected for each in found] == [20, 20, 5]


def test_that_timers_of_very_many_periods_are_counted_together(tmp_path: Path) -> None:
    (tick,) = _ticks(tmp_path, "(0.1, 0.2, 0.25, 0.4, 0.5, 1, 2, 2.5, 5)")

    assert tick.timers == 9
    assert tick.fired == tick.expected == 100 + 50 + 40 + 25 + 20 + 10 + 5 + 4 + 2
    assert (tick.interval_ns, tick.longest_interval_ns) == (NS_PER_SECOND // 10, 5 * NS_PER_SECOND)
    assert (tick.delay_ns, tick.longest_delay_ns) == (NS_PER_SECOND // 10, 5 * NS_PER_SECOND)


def test_that_the_first_wait_of_a_repeating_sleep_counts_with_its_period() -> None:
    log, ms = EventLog(), 1_000_000
    names = [log.intern(text) for text in ("session", "sleep in job")]
    for clock in (1, 2):
        log.append((0, CLOCK_ADDED, clock, clock - 1, names[0]))
        log.append((0, CLOCK_ANCHORED, clock, 0, RATE_DENOMINATOR))

    def add(at_ms: int, number: int, due_ms: int, interval_ms: int) -> None:
        kind = TimerKind.INTERVAL_DELAY if interval_ms else TimerKind.TIMEOUT
        log.append((at_ms * ms, TIMER_ADDED, number, 2, names[1]))
        log.append((at_ms * ms, TIMER_ORIGIN, number, 0, kind))
        log.append((at_ms * ms, TIMER_ARMED, number, due_ms * ms, interval_ms * ms))

    # Two jobs of 100 and 250 ms: that they repeat is known by their second waits.
    add(0, 1, 100, 0)
    add(0, 2, 250, 0)
    add(0, 3, 900, 0)
    log.append((102 * ms, TIMER_FIRED, 1, 2 * ms, NEVER))
    add(102, 4, 202, 100)
    log.append((202 * ms, TIMER_FIRED, 4, 0, 302 * ms))
    log.append((250 * ms, TIMER_FIRED, 2, 0, NEVER))
    add(250, 5, 500, 250)
    timeline = Timeline(log.strings)
    timeline.apply_all(log.read(0).events)
    timeline.set_present(260 * ms)
    tally = CallTally(log)
    tally.update()

    waits, short, long = tally.timers(timeline)

    assert (waits.interval_ns, waits.timers, waits.fired, waits.expected) == (0, 1, 0, None)
    assert waits.delay_ns == waits.longest_delay_ns == 900 * ms
    assert (short.interval_ns, short.timers, short.fired, short.expected) == (100 * ms, 2, 2, 2)
    assert (short.late, short.max_lateness_ns, short.delay_ns) == (1, 2 * ms, 100 * ms)
    assert (long.interval_ns, long.timers, long.fired, long.expected) == (250 * ms, 2, 1, 1)


def test_that_delays_are_in_the_local_time_of_the_clock(tmp_path: Path) -> None:
    again = counts(
        scene_file(
            tmp_path,
            """
            def build(stage):
                game = stage.root.child("game", rate=0.25)
                game.set_timeout(1, game.set_timeout, 3, print, name="first")
                stage.root.set_timeout(5000, print, name="late")
            """,
        )
    )

    assert again["first"].delay_ns == NS_PER_SECOND
    assert again["print"].delay_ns == again["print"].longest_delay_ns == 3 * NS_PER_SECOND
    assert again["late"].delay_ns == 5_000 * NS_PER_SECOND
