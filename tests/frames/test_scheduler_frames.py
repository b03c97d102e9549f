"""Frames of our scheduler: time, failures, posted functions, what it tells."""

from __future__ import annotations

import logging
import signal
import threading
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from inspector.clocks import ClockTree
from inspector.frames import Director
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.frames.scheduling import Overshoot
from inspector.timebase import NS_PER_SECOND
from inspector.vocabulary import RATE_DENOMINATOR
from tests.frames.player import Player, noting, run

if TYPE_CHECKING:
    from inspector.clocks.failures import CallbackFailure


@pytest.fixture
def scheduler() -> Scheduler:
    return Scheduler()


@pytest.fixture
def log() -> list[float]:
    return []


def test_that_time_scale_holds_from_the_next_frame_and_does_not_drift(
    scheduler: Scheduler, log: list[float]
) -> None:
    scheduler.schedule(log.append, 1)
    scheduler.time_scale = Fraction(1, 3)

    for _ in range(24):
        scheduler.update_ns(NS_PER_SECOND // 8)

    assert scheduler.time_scale == Fraction(1, 3)
    assert log == [1]
    assert scheduler.time_ns == NS_PER_SECOND
    scheduler.time_scale = Fraction(2)
    scheduler.update_ns(1)
    assert scheduler.time_ns == NS_PER_SECOND + 2


@pytest.mark.parametrize("scale", [Fraction(1, 7), 1 - Fraction(1, RATE_DENOMINATOR), Fraction(3)])
def test_that_time_is_the_whole_nanoseconds_of_all_frames_scaled(
    scheduler: Scheduler, scale: Fraction
) -> None:
    scheduler.time_scale = scale

    for frames in range(1, 30):
        scheduler.update_ns(1)
        assert scheduler.time_ns == frames * scale // 1


def test_that_a_scale_changed_in_a_callback_waits_for_the_next_frame(scheduler: Scheduler) -> None:
    player = Player()

    def slow(_: float) -> None:
        scheduler.time_scale = 0

    scheduler.schedule_update("slow", -1, callback=slow)
    scheduler.schedule_update(player)
    run(scheduler, 0.5, 0.5)

    assert player.log == [("update", 0.5), ("update", 0.0)]


def test_that_time_runs_forward_and_frames_do_not_nest(
    scheduler: Scheduler, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ValueError, match="backwards"):
        scheduler.update(-1)
    with pytest.raises(ValueError, match="backwards"):
        scheduler.time_scale = -1
    scheduler.schedule_update("a", callback=scheduler.update)
    run(scheduler, 0.5)

    assert "a callback cannot run another" in caplog.text
    assert scheduler.frame_index == 1


def test_that_a_director_runs_it_with_the_time_of_its_clock() -> None:
    tree = ClockTree()
    game = tree.root.child("game", rate=0.5)
    scheduler = Scheduler(game, name="game")
    player = Player()
    scheduler.schedule_update(player)
    director = Director(tree.root)
    director.on("update", scheduler.run_frame)

    tree.run_to(NS_PER_SECOND)
    director.run_frame(NS_PER_SECOND)
    game.pause()
    tree.run_to(2 * NS_PER_SECOND)
    director.run_frame(NS_PER_SECOND)

    assert player.log == [("update", 0.5)]


def test_that_a_scheduler_without_a_clock_receives_the_delta(scheduler: Scheduler) -> None:
    with pytest.raises(RuntimeError, match=r"has no clock; call update\(delta\)"):
        scheduler.run_frame()


def test_that_an_exception_does_not_affect_other_callbacks(
    scheduler: Scheduler, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[str] = []

    def fail(_: float) -> None:
        raise LookupError

    for name in ("a", "b"):
        scheduler.schedule_update(f"fails {name}", callback=fail, name=f"update {name}")
        scheduler.schedule_update(name, callback=noting(calls, name))
        scheduler.schedule(fail, 0.1, target=f"fails {name}", name=f"timer {name}")
        scheduler.schedule(noting(calls, name), 0.1, target=name)
    scheduler.schedule(fail, target="every frame")
    scheduler.post(fail, 0)
    posted = scheduler.post(calls.append, "posted")

    run(scheduler, 0.1)

    assert calls == ["a", "b", "a", "b", "posted"]
    assert posted.done()
    failed = [record.getMessage().split(" ", 1)[1] for record in caplog.records]
    assert failed[:4] == ["update a failed", "update b failed", "timer a failed", "timer b failed"]
    assert len(failed) == 6
    assert not scheduler.is_in_frame


def test_that_failures_go_to_the_tree_of_the_clock() -> None:
    tree = ClockTree()
    failures: list[CallbackFailure] = []
    tree.on_failure = failures.append
    scheduler = Scheduler(tree.root)

    def fail(_: float) -> None:
        raise LookupError

    scheduler.schedule(fail, 0.1, name="spawn")
    scheduler.update(0.1)

    assert [(failure.clock_id, failure.label) for failure in failures] == [(1, "spawn")]


def test_that_a_key_press_leaves_the_rest_of_the_frame_for_the_next(
    scheduler: Scheduler, log: list[float]
) -> None:
    def stop(_: float) -> None:
        signal.raise_signal(signal.SIGINT)

    scheduler.schedule(stop, 0.1, repeat=0)
    scheduler.schedule(log.append, 0.1, repeat=0)
    with pytest.raises(KeyboardInterrupt):
        scheduler.update(0.1)
    assert not log
    run(scheduler, 0)

    assert log == [0.1]


def test_that_posted_functions_run_at_the_end_of_the_frame_in_order(scheduler: Scheduler) -> None:
    calls: list[str] = []

    def first() -> str:
        scheduler.post(calls.append, "later")
        calls.append("first")
        return "result"

    scheduler.schedule_update("a", callback=lambda _: calls.append("update"))
    scheduler.pause_target("nobody")
    future = scheduler.post(first)
    scheduler.post(calls.append, "second")
    run(scheduler, 0.1)
    assert calls == ["update", "first", "second"]
    assert future.result(timeout=0) == "result"
    assert scheduler.posted_count == 1
    run(scheduler, 0.1)

    assert calls[-1] == "later"


def test_that_a_posted_function_can_be_cancelled(scheduler: Scheduler) -> None:
    calls: list[str] = []
    one = scheduler.post(calls.append, "one")
    one.cancel()
    scheduler.post(scheduler.clear_posted)
    other = scheduler.post(calls.append, "other")

    run(scheduler, 0.1)

    assert not calls
    assert other.cancelled()


def test_that_other_threads_may_post_and_wait(scheduler: Scheduler) -> None:
    results: list[int] = []
    posted = threading.Event()

    def work() -> None:
        futures = [scheduler.post(lambda n=number: n * n) for number in range(100)]
        posted.set()
        results.extend(future.result(timeout=30) for future in futures)

    thread = threading.Thread(target=work)
    thread.start()
    assert posted.wait(30)
    run(scheduler, 0.1)
    thread.join(30)

    assert results == [number * number for number in range(100)]


def test_that_a_posted_failure_reaches_who_waits(
    scheduler: Scheduler, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    future = scheduler.post(int, "no number")
    run(scheduler, 0.1)

    with pytest.raises(ValueError, match="no number"):
        future.result(timeout=0)


def test_that_who_waits_for_a_posted_function_hears_of_what_ends_the_program(
    scheduler: Scheduler,
) -> None:
    def interrupt() -> None:
        signal.raise_signal(signal.SIGINT)

    future = scheduler.post(interrupt)
    with pytest.raises(KeyboardInterrupt):
        run(scheduler, 0.1)

    assert isinstance(future.exception(timeout=0), KeyboardInterrupt)


def test_that_functions_can_be_scheduled_where_they_are_written(scheduler: Scheduler) -> None:
    calls: list[str] = []

    @scheduler.every(0.5, repeat=1)
    def blink(_: float) -> None:
        calls.append("blink")

    @scheduler.once(0.75, name="boss")
    def spawn(_: float) -> None:
        calls.append("spawn")

    @scheduler.every_frame(priority=-3, name="physics")
    def step(_: float) -> None:
        calls.append("step")

    run(scheduler, 0.5, 0.5, 0.5)

    assert calls == ["step", "blink", "step", "spawn", "blink", "step"]
    assert scheduler.every_frame()(int) is int
    assert [(each.label, each.priority) for each in scheduler.updates()] == [
        ("physics", -3),
        ("int", 0),
    ]
    assert scheduler.unschedule_update(step)
    assert not scheduler.is_scheduled(spawn)
    assert not scheduler.is_scheduled(blink)


def test_that_pending_calls_are_listed_in_call_order(scheduler: Scheduler) -> None:
    player = Player()
    scheduler.schedule(player.tick, 2, repeat=4)
    scheduler.schedule(print, 1, target="sooner", name="hello")
    scheduler.schedule(print, target="frame")
    scheduler.schedule(print, 3, target="paused", paused=True)
    scheduler.schedule_update(player, 7)

    pending = scheduler.pending()

    assert [(call.target, call.remaining) for call in pending] == [
        (player, None),
        ("sooner", 1.0),
        (player, 2.0),
        ("frame", None),
        ("paused", 3.0),
    ]
    assert [call.label for call in pending[:3]] == ["Player.update", "hello", "Player.tick"]
    assert (pending[0].priority, pending[2].calls_left, pending[2].interval) == (7, 5, 2.0)
    assert [call.is_paused for call in pending] == [False, False, False, False, True]


def test_that_a_frame_can_look_at_what_is_still_to_come(scheduler: Scheduler) -> None:
    seen: list[int] = []
    scheduler.schedule(lambda _: seen.append(len(scheduler.timers())), 0.1)
    for number in range(5):
        scheduler.schedule_once(lambda _: None, 0.1, target=number)

    run(scheduler, 0.1)

    assert seen == [6]
    assert len(scheduler.timers()) == 1


def test_that_objects_say_what_they_are(scheduler: Scheduler) -> None:
    player = Player()
    timer = scheduler.schedule(player.tick, 0.5, repeat=2)
    frame = scheduler.schedule(print, name="every frame")
    update = scheduler.schedule_update(player, 3)
    pause = scheduler.pause_target(player)

    assert repr(scheduler) == "<Scheduler 'scheduler' at 0.000000 s, 1 updates, 2 timers>"
    assert repr(timer) == "<FrameTimer 'Player.tick' every 500 ms, 3 left, paused>"
    assert repr(frame) == "<FrameTimer 'every frame' every frame>"
    assert repr(update) == "<UpdateCallback 'Player.update' priority 3, paused>"
    assert repr(pause) == "<Pause of 1 targets>"
    pause.resume()
    timer.unschedule()
    assert repr(pause) == "<Pause of 0 targets, resumed>"
    assert repr(timer) == "<FrameTimer 'Player.tick' every 500 ms, 3 left, done>"


def test_that_the_overshoot_of_a_scheduler_is_named() -> None:
    assert Scheduler().overshoot is Overshoot.CARRY
    assert Scheduler(overshoot="drop").overshoot is Overshoot.DROP
