"""Timers of our scheduler: due times, repeats and callback arguments."""

from __future__ import annotations

import pytest

from inspector.frames.scheduler.scheduler import Scheduler
from inspector.frames.scheduling import callback_key, default_target
from inspector.timebase import NS_PER_MS
from tests.frames.player import Player, noting, run


@pytest.fixture
def scheduler() -> Scheduler:
    return Scheduler()


@pytest.fixture
def log() -> list[float]:
    return []


def test_that_a_timer_counts_from_when_it_was_scheduled(
    scheduler: Scheduler, log: list[float]
) -> None:
    scheduler.schedule(log.append, 0.5)

    run(scheduler, 0.25)
    assert not log
    run(scheduler, 0.25)

    assert log == [0.5]


def test_that_nothing_drifts_whatever_the_frames(scheduler: Scheduler, log: list[float]) -> None:
    scheduler.schedule(log.append, 0.05)

    run(scheduler, *[0.0173] * 1_000)

    assert len(log) == int(1_000 * 0.0173 / 0.05)


def test_that_late_calls_are_made_up_in_the_order_in_which_they_were_due(
    scheduler: Scheduler,
) -> None:
    calls: list[str] = []
    scheduler.schedule(lambda _: calls.append("2"), 0.002)
    scheduler.schedule(lambda _: calls.append("3"), 0.003)

    run(scheduler, 0.006)

    # At 6 ms both are due, and the one of 3 ms waits for that since 3 ms, not since 4.
    assert "".join(calls) == "23232"


def test_that_a_stall_is_made_up_to_the_limit_and_the_rest_is_counted(log: list[float]) -> None:
    scheduler = Scheduler(max_calls_per_frame=3)
    timer = scheduler.schedule(log.append, 0.1)

    run(scheduler, 1.05)

    assert (len(log), timer.calls, timer.missed) == (3, 3, 7)
    assert timer.remaining_ns == 50 * NS_PER_MS


def test_that_a_call_due_at_the_end_of_a_frame_counts_for_its_limit(log: list[float]) -> None:
    scheduler = Scheduler(max_calls_per_frame=1)
    timer = scheduler.schedule(log.append, 0.5, delay=0.5)

    scheduler.update(1)
    assert (len(log), timer.missed) == (1, 1)
    scheduler.update(0.5)

    assert (len(log), timer.missed) == (2, 1)


def test_that_without_a_limit_everything_is_made_up(log: list[float]) -> None:
    scheduler = Scheduler(max_calls_per_frame=None)
    timer = scheduler.schedule(log.append, 0.001, delay=0.002)

    run(scheduler, 1)

    assert len(log) == timer.calls == 999
    assert timer.missed == 0


def test_that_dropped_time_is_passed_to_the_callback(log: list[float]) -> None:
    scheduler = Scheduler(overshoot="drop")
    timer = scheduler.schedule(log.append, 0.1, delay=0.2)

    run(scheduler, 0.25, 0.09, 0.09, 1)

    assert log == [0.25, 0.18, 1.0]
    assert timer.calls == 3


def test_that_dropping_leaves_pauses_out_of_what_it_tells(log: list[float]) -> None:
    scheduler = Scheduler()
    timer = scheduler.schedule(log.append, 0.1, overshoot="drop")
    run(scheduler, 0.05)
    timer.pause()
    run(scheduler, 5)
    timer.resume()
    run(scheduler, 0.06)

    assert log == [0.11]


def test_that_repeat_counts_the_calls_after_the_first(
    scheduler: Scheduler, log: list[float]
) -> None:
    timer = scheduler.schedule(log.append, 0.1, repeat=2, delay=0.5)
    assert timer.calls_left == 3

    run(scheduler, *[0.1] * 20)

    assert log == [0.5, 0.1, 0.1]
    assert (timer.is_pending, timer.calls, timer.calls_left) == (False, 3, 0)
    assert not scheduler.pending()


def test_that_a_finite_timer_misses_none_of_its_calls_by_a_stall(log: list[float]) -> None:
    scheduler = Scheduler(max_calls_per_frame=10)
    timer = scheduler.schedule(log.append, 0.1, repeat=7)

    run(scheduler, 100)

    assert len(log) == 8
    assert timer.missed == 0


def test_that_a_timer_of_every_frame_is_given_the_delta(
    scheduler: Scheduler, log: list[float]
) -> None:
    timer = scheduler.schedule(log.append, repeat=2)

    run(scheduler, 0.1, 0.2, 0.3, 0.4)

    assert log == [0.1, 0.2, 0.3]
    assert (timer.calls, timer.remaining_ns) == (3, None)


def test_that_a_delay_comes_before_every_frame(scheduler: Scheduler, log: list[float]) -> None:
    scheduler.schedule(log.append, delay=0.25)

    run(scheduler, 0.1, 0.2, 0.3)

    assert log == [0.25, 0.3]


def test_that_once_without_a_delay_is_the_next_frame(
    scheduler: Scheduler, log: list[float]
) -> None:
    scheduler.schedule_once(log.append)

    run(scheduler, 0.1, 0.1)

    assert log == [0.1]


def test_that_scheduling_again_replaces_the_timer(scheduler: Scheduler, log: list[float]) -> None:
    former = scheduler.schedule(log.append, 0.1)
    run(scheduler, 0.09)
    timer = scheduler.schedule(log.append, 0.1)
    run(scheduler, 0.09)
    assert not log
    run(scheduler, 0.01)

    assert log == [0.1]
    assert not former.is_pending
    assert timer.is_pending
    assert not former.unschedule()


def test_that_scheduling_again_in_the_last_call_makes_a_new_timer(scheduler: Scheduler) -> None:
    found: list[bool] = []

    def again(_: float) -> None:
        found.append(scheduler.is_scheduled(again))
        if len(found) < 3:
            scheduler.schedule_once(again, 0.1)

    scheduler.schedule_once(again, 0.1)
    run(scheduler, *[0.1] * 6)

    assert found == [False, False, False]


def test_that_a_callback_unscheduled_by_another_is_not_called(
    scheduler: Scheduler, log: list[float]
) -> None:
    scheduler.schedule(lambda _: scheduler.unschedule(log.append), 0.1)
    scheduler.schedule(log.append, 0.1)

    run(scheduler, 0.3, 0.3)

    assert not log
    assert not scheduler.unschedule(log.append)


def test_that_a_catch_up_stops_when_the_callback_unschedules_itself(
    scheduler: Scheduler, log: list[float]
) -> None:
    def stop(seconds: float) -> None:
        log.append(seconds)
        scheduler.unschedule(stop)

    scheduler.schedule(stop, 0.1)
    run(scheduler, 5)

    assert log == [0.1]


def test_that_timers_scheduled_in_a_frame_are_called_in_a_later_one(scheduler: Scheduler) -> None:
    calls: list[tuple[str, float]] = []

    def outer(_: float) -> None:
        scheduler.schedule(lambda _: calls.append(("inner", scheduler.time)), 0.1, repeat=0)
        calls.append(("outer", scheduler.time))

    scheduler.schedule(outer, 0.1, repeat=0)
    run(scheduler, 1, 0.1)

    assert calls == [("outer", 1.0), ("inner", 1.1)]


def test_that_a_far_timer_is_called_when_time_jumps_there(
    scheduler: Scheduler, log: list[float]
) -> None:
    scheduler.schedule_once(log.append, 3600)
    run(scheduler, 0.01, 3599.98)
    assert not log
    run(scheduler, 0.01)

    assert log == [3600]


def test_that_taking_back_many_timers_gives_back_what_they_held(scheduler: Scheduler) -> None:
    timers = [
        scheduler.schedule(print, 1 + number / 100, target=f"target {number}")
        for number in range(1_000)
    ]
    for timer in timers[:900]:
        timer.unschedule()

    assert scheduler.calendar.stored() < 250
    assert len(scheduler.timers()) == 100
    assert [timer.target for timer in scheduler.timers()][:2] == ["target 900", "target 901"]


def test_that_few_cancelled_among_many_wait_until_their_time(scheduler: Scheduler) -> None:
    calls: list[str] = []
    timers = [scheduler.schedule(noting(calls, str(number)), 1, repeat=0) for number in range(300)]
    for timer in timers[:70]:
        timer.unschedule()
    assert scheduler.calendar.stored() == 300

    run(scheduler, 1)

    assert calls == [str(number) for number in range(70, 300)]
    assert scheduler.calendar.stored() == 0


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), 1e-12])
def test_that_an_impossible_time_is_refused(scheduler: Scheduler, seconds: float) -> None:
    with pytest.raises(ValueError, match=r"seconds|duration"):
        scheduler.schedule(print, seconds)
    assert not scheduler.targets()


def test_that_wrong_arguments_are_refused_by_name(scheduler: Scheduler) -> None:
    for repeat in (float("nan"), 0.5, float("inf"), "1"):
        with pytest.raises(ValueError, match="repeat is the number of calls"):
            scheduler.schedule(print, 1, repeat=repeat)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 1 call per frame: inf"):
        Scheduler(max_calls_per_frame=float("inf"))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="0 or more: -1"):
        scheduler.schedule(print, 1, repeat=-1)
    with pytest.raises(ValueError, match="'sometimes' is not a valid Overshoot"):
        scheduler.schedule(print, 1, overshoot="sometimes")
    with pytest.raises(TypeError, match="call"):
        scheduler.schedule("print", 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 1 call per frame: 0"):
        Scheduler(max_calls_per_frame=0)
    assert Scheduler(max_calls_per_frame=1).max_calls_per_frame == 1
    assert Scheduler().max_calls_per_frame == 100
    assert not scheduler.targets()


def test_that_a_method_is_the_same_callback_each_time(scheduler: Scheduler) -> None:
    first, second = Player(), Player()
    scheduler.schedule(first.tick, 1)
    scheduler.schedule(second.tick, 1)

    assert scheduler.is_scheduled(first.tick)
    assert scheduler.is_scheduled(first.tick, first)
    assert not scheduler.is_scheduled(first.tick, second)
    assert len(scheduler.timers()) == 2
    assert callback_key(first.tick) != callback_key(second.tick)


def test_that_a_builtin_method_belongs_to_its_object(log: list[float]) -> None:
    assert default_target(log.append) is log
    assert callback_key(log.append) == callback_key(log.append)
    assert callback_key(log.append) != callback_key(log.extend)


def test_that_the_same_callback_of_two_targets_is_two_timers(
    scheduler: Scheduler, log: list[float]
) -> None:
    scheduler.schedule(log.append, 1, target="a")
    scheduler.schedule(log.append, 2, target="b")
    run(scheduler, 2)

    assert log == [1, 2, 1]
    assert [timer.target for timer in scheduler.timers("a")] == ["a"]
