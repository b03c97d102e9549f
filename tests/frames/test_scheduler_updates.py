"""Update callbacks of our scheduler, and pauses."""

from __future__ import annotations

import gc
from functools import partial
from weakref import ref

import pytest

from inspector.frames.scheduler.scheduler import Scheduler
from inspector.frames.scheduling import Overshoot
from inspector.timebase import NS_PER_MS
from tests.frames.player import Player, noting, run


@pytest.fixture
def scheduler() -> Scheduler:
    return Scheduler()


@pytest.fixture
def log() -> list[float]:
    return []


def test_that_updates_run_by_priority_then_in_the_order_they_came(scheduler: Scheduler) -> None:
    calls: list[str] = []
    for name, priority in (("c", 1), ("a", -5), ("b", 0), ("d", 1), ("b2", 0)):
        scheduler.schedule_update(name, priority, callback=noting(calls, name))

    run(scheduler, 0.1)

    assert calls == ["a", "b", "b2", "c", "d"]
    assert [update.target for update in scheduler.updates()] == calls


def test_that_updates_run_before_timers_and_get_the_delta(scheduler: Scheduler) -> None:
    player = Player()
    scheduler.schedule(player.tick, 0.1)
    scheduler.schedule_update(player, priority=1_000)

    run(scheduler, 0.1)

    assert player.log == [("update", 0.1), ("tick", 0.1)]


def test_that_changing_a_priority_in_a_frame_skips_no_update(scheduler: Scheduler) -> None:
    calls: list[str] = []

    def move(_: float) -> None:
        calls.append("first")
        scheduler.schedule_update("last", -1, callback=lambda _: calls.append("last"))

    scheduler.schedule_update("first", callback=move)
    update = scheduler.schedule_update("last", 1, callback=lambda _: calls.append("last"))
    run(scheduler, 0.1, 0.1)

    assert calls == ["first", "last", "last", "first"]
    assert update.priority == -1


def test_that_an_update_added_in_a_frame_waits_for_the_next(scheduler: Scheduler) -> None:
    calls: list[str] = []

    def add(_: float) -> None:
        calls.append("a")
        if len(calls) == 1:
            scheduler.schedule_update("b", -1, callback=lambda _: calls.append("b"))
            scheduler.schedule_update("gone", callback=lambda _: calls.append("gone"))
            scheduler.unschedule_update("gone")

    scheduler.schedule_update("a", callback=add)
    run(scheduler, 0.1, 0.1)

    assert calls == ["a", "b", "a"]


def test_that_a_later_update_unscheduled_in_a_frame_is_not_called(
    scheduler: Scheduler, log: list[float]
) -> None:
    scheduler.schedule_update("a", callback=lambda _: scheduler.unschedule_update("b"))
    scheduler.schedule_update("b", callback=log.append)

    run(scheduler, 0.1)

    assert not log
    assert not scheduler.unschedule_update("b")
    assert not scheduler.unschedule_update("unknown")


def test_that_empty_places_are_swept_out(scheduler: Scheduler, log: list[float]) -> None:
    for number in range(200):
        scheduler.schedule_update(number, callback=log.append)
    run(scheduler, 0.1)
    for number in range(150):
        scheduler.unschedule_update(number)
    log.clear()

    run(scheduler, 0.1)

    assert len(log) == 50
    assert len(scheduler.update_calls._calls) == 50


def test_that_an_update_can_be_given_another_callback(
    scheduler: Scheduler, log: list[float]
) -> None:
    player = Player()
    update = scheduler.schedule_update(player)
    run(scheduler, 0.1)
    scheduler.schedule_update(player, callback=log.append, name="other")
    run(scheduler, 0.2)
    scheduler.schedule_update(player, paused=True)
    run(scheduler, 0.3)
    scheduler.schedule_update(player, paused=False)
    run(scheduler, 0.4)

    assert player.log == [("update", 0.1), ("update", 0.4)]
    assert log == [0.2]
    assert update.label == "other"


def test_that_an_update_needs_something_to_call(scheduler: Scheduler) -> None:
    with pytest.raises(TypeError, match="no update method and no callback: 'nobody'"):
        scheduler.schedule_update("nobody")
    with pytest.raises(TypeError, match=r"a priority is an int: 1\.5"):
        scheduler.schedule_update(Player(), 1.5)  # type: ignore[arg-type]
    assert not scheduler.targets()


def test_that_the_priority_of_a_finished_update_stays(scheduler: Scheduler) -> None:
    update = scheduler.schedule_update(Player(), 3)
    update.unschedule()
    update.priority = 5

    assert update.priority == 3


def test_that_a_paused_timer_keeps_what_is_left(scheduler: Scheduler, log: list[float]) -> None:
    timer = scheduler.schedule(log.append, 0.1)
    run(scheduler, 0.06)
    assert timer.pause()
    assert not timer.pause()
    run(scheduler, 10)
    assert timer.remaining_ns == 40 * NS_PER_MS
    assert timer.resume()
    assert not timer.resume()
    run(scheduler, 0.03)
    assert not log
    run(scheduler, 0.01)

    assert log == [0.1]


def test_that_a_target_with_nothing_remembers_being_paused(scheduler: Scheduler) -> None:
    player = Player()
    scheduler.pause_target(player)
    assert scheduler.is_target_paused(player)
    scheduler.schedule_update(player)
    scheduler.schedule(player.tick)
    scheduler.schedule(player.update, 0.01)

    run(scheduler, 0.1)
    assert not player.log
    scheduler.resume_target(player)
    run(scheduler, 0.1)

    assert len(player.log) > 2
    assert not scheduler.is_target_paused(player)


def test_that_resuming_a_pause_leaves_what_was_paused_before(scheduler: Scheduler) -> None:
    menu, game = Player("menu"), Player("game")
    scheduler.schedule_update(menu)
    scheduler.schedule_update(game)
    own = scheduler.pause_target(game)
    with scheduler.pause_all() as pause:
        assert pause.targets == [menu, game]
        run(scheduler, 1)
    run(scheduler, 0.1)

    assert menu.log == [("update", 0.1)]
    assert not game.log
    assert not pause.resume()
    assert own.resume()
    assert own.targets == []


def test_that_the_order_of_resuming_two_pauses_does_not_matter(scheduler: Scheduler) -> None:
    player = Player()
    scheduler.schedule_update(player)
    first, second = scheduler.pause_all(), scheduler.pause_all()
    scheduler.resume(first)
    run(scheduler, 0.1)
    assert not player.log
    scheduler.resume(second)
    run(scheduler, 0.1)

    assert len(player.log) == 1


def test_that_pausing_from_a_priority_on_leaves_the_others(scheduler: Scheduler) -> None:
    early, plain, late = Player("early"), Player("plain"), Player("late")
    scheduler.schedule_update(early, -1)
    scheduler.schedule(early.tick, 0.1)
    scheduler.schedule(plain.tick, 0.1)
    scheduler.schedule_update(late, 2)

    pause = scheduler.pause_all(min_priority=0)
    run(scheduler, 0.1)

    assert [bool(player.log) for player in (early, plain, late)] == [True, False, False]
    assert [player.name for player in pause.targets if isinstance(player, Player)] == [
        "plain",
        "late",
    ]


def test_that_unscheduling_from_a_priority_on_leaves_the_others(scheduler: Scheduler) -> None:
    early, late = Player("early"), Player("late")
    scheduler.schedule_update(early, -1)
    scheduler.schedule(late.tick, 0.1)

    scheduler.unschedule_all(min_priority=0)
    assert scheduler.targets() == [early]
    scheduler.unschedule_all()

    assert not scheduler.targets()
    scheduler.unschedule_target(early)


def test_that_a_timer_can_begin_paused(scheduler: Scheduler, log: list[float]) -> None:
    timer = scheduler.schedule(log.append, 0.1, paused=True, target="a")
    other = scheduler.schedule(log.append, paused=True, target="b")
    run(scheduler, 5)
    assert scheduler.is_target_paused("a")
    assert timer.is_paused_itself
    scheduler.resume_target("a")
    scheduler.resume_target("nobody")
    other.unschedule()
    run(scheduler, 0.1)

    assert log == [0.1]


def test_that_time_before_a_paused_timer_is_resumed_does_not_count(
    scheduler: Scheduler, log: list[float]
) -> None:
    run(scheduler, 2)
    scheduler.schedule(log.append, 0.1, paused=True, target="a", overshoot=Overshoot.DROP)
    run(scheduler, 5)
    scheduler.resume_target("a")
    run(scheduler, 0.125)

    assert log == [0.125]


def test_that_pausing_and_resuming_in_one_call_changes_nothing_for_those_to_come(
    scheduler: Scheduler,
) -> None:
    calls: list[str] = []

    def blink(_: float) -> None:
        calls.append("blink")
        with scheduler.pause_all():
            pass

    scheduler.schedule_update("a", callback=blink)
    scheduler.schedule_update("b", callback=lambda _: calls.append("b"))
    scheduler.schedule(partial(lambda _: calls.append("timer")), 0.001, target="c")
    scheduler.schedule(partial(lambda _: calls.append("frame")), target="d")
    run(scheduler, 0.002)

    assert calls == ["blink", "b", "timer", "timer", "frame"]


def test_that_a_target_only_remembered_for_its_pause_is_not_kept_alive(
    scheduler: Scheduler,
) -> None:
    player = Player()
    gone = ref(player)
    pause = scheduler.pause_target(player)
    del player
    gc.collect()

    assert gone() is None
    assert scheduler.targets() == pause.targets == []
    assert pause.resume()


def test_that_what_cannot_be_referred_to_weakly_is_remembered_too(scheduler: Scheduler) -> None:
    scheduler.pause_target("level")

    assert scheduler.targets() == ["level"]
