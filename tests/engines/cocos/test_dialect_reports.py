"""What a dialect's scheduler says of itself while its clock's tree is recorded."""

from __future__ import annotations

import pytest

from inspector.engines.cocos.dialects import COCOS2DX_3_15, CREATOR_2_4
from inspector.engines.cocos.scheduler import DialectScheduler
from inspector.frames.scheduler.controls import (
    Pausable,
    SchedulerControl,
    Unschedulable,
    pause_from,
)
from inspector.vocabulary import RATE_DENOMINATOR, Field, MemberKind
from tests.frames.recorded import MS, SECOND, Recorded


class Ship:
    """A target."""

    def __init__(self, name: str) -> None:
        self.name = name

    def update(self, delta: float) -> None:
        """Fly."""

    def blink(self, delta: float) -> None:
        """Blink."""


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


@pytest.fixture
def scheduler(recorded: Recorded) -> DialectScheduler:
    return DialectScheduler(CREATOR_2_4, clock=recorded.clock)


def test_that_a_dialect_shows_its_targets_and_calls(
    recorded: Recorded, scheduler: DialectScheduler
) -> None:
    ship = Ship("ship")
    scheduler.schedule_update(ship, 3)
    scheduler.schedule(ship.blink, 0.5, repeat=1)

    assert recorded.tree_text() == [
        "scheduler: Cocos Creator 2.4",
        "  target: ship",
        "    update: update",
        "    frame timer: Ship.blink",
    ]
    assert recorded.text("Cocos Creator 2.4", Field.RULES) == "Cocos Creator 2.4"
    timer = recorded.called("Ship.blink")
    assert timer.fields[Field.CALLS_LEFT] == 2
    assert timer.fields[Field.DUE] == SECOND // 2
    assert recorded.called("update").fields[Field.PRIORITY] == 3


def test_that_a_frame_of_the_clock_arms_a_timer_and_calls_are_reported(
    recorded: Recorded, scheduler: DialectScheduler
) -> None:
    ship = Ship("ship")
    scheduler.schedule_update(ship)
    scheduler.schedule(ship.blink, 0.5)
    recorded.tree.run_to(100 * MS)
    scheduler.run_frame()
    due = recorded.called("Ship.blink").fields[Field.DUE]
    recorded.tree.run_to(700 * MS)
    scheduler.run_frame()

    assert due == 600 * MS, "the first frame only arms it"
    assert recorded.called("Ship.blink").calls == 1
    assert recorded.called("update").calls == 2
    assert recorded.called("Cocos Creator 2.4").fields[Field.TIME] == 700 * MS


def test_that_it_stands_still_with_its_clock_and_when_that_is_removed(
    recorded: Recorded, scheduler: DialectScheduler
) -> None:
    calls: list[float] = []
    scheduler.schedule_update(Ship("ship"), callback=calls.append)
    recorded.clock.pause()
    scheduler.run_frame()
    recorded.clock.resume()
    scheduler.run_frame()
    recorded.clock.remove()
    scheduler.run_frame()
    scheduler.update(0.5)

    assert calls == [0.0, 0.5]
    assert len(recorded.members) == 0


def test_that_running_with_the_clock_needs_one() -> None:
    with pytest.raises(RuntimeError, match="has no clock"):
        DialectScheduler().run_frame()


def test_that_an_exception_leaves_the_frame_and_the_call_is_reported(
    recorded: Recorded, scheduler: DialectScheduler
) -> None:
    def fail(_: float) -> None:
        message = "on purpose"
        raise ValueError(message)

    later = Ship("later")
    scheduler.schedule_update(Ship("ship"), callback=fail)
    scheduler.schedule(later.blink, 1)
    with pytest.raises(ValueError, match="on purpose"):
        scheduler.update(0.25)

    assert recorded.called("test_that_an_exception_leaves_the_frame_and_the_call_is_reported.fail").calls == 1  # fmt: skip  # noqa: E501
    due = recorded.called("Ship.blink").fields[Field.DUE]
    assert due == 1250 * MS, "the frame has not come to it"


def test_that_an_update_wanted_again_inside_the_frame_keeps_its_place(
    recorded: Recorded, scheduler: DialectScheduler
) -> None:
    ships = [Ship(name) for name in "abc"]

    def again(_: float) -> None:
        scheduler.unschedule_update(ships[1])
        scheduler.schedule_update(ships[1], 0)

    scheduler.schedule_update(Ship("first"), -1, callback=again)
    for ship in ships:
        scheduler.schedule_update(ship, 0)
    scheduler.update(0)

    members = recorded.members
    order = [
        members.by_id[update.parent_id].name for update in members.updates_of(scheduler.number)
    ]
    assert order == ["first", "a", "b", "c"]


def test_that_a_target_is_paused_when_all_it_has_is(
    recorded: Recorded, scheduler: DialectScheduler
) -> None:
    ship = Ship("ship")
    scheduler.schedule(ship.blink, 0.5)
    scheduler.schedule_update(ship, -1)

    scheduler.pause_all(0)

    assert recorded.called("Ship.blink").is_paused
    assert recorded.called("Ship.blink").fields[Field.REMAINING] == 500 * MS
    assert not recorded.called("update").is_paused
    assert not recorded.called("ship").is_paused
    scheduler.pause_target(ship)
    assert recorded.called("ship").is_paused


def test_that_targets_and_calls_are_controlled_by_number(
    recorded: Recorded, scheduler: DialectScheduler
) -> None:
    ship = Ship("ship")
    scheduler.schedule(ship.blink, 0.5)
    scheduler.schedule_update(ship, -1)
    find = recorded.tree.members.find
    target = find(recorded.called("ship").id)
    assert isinstance(target, Pausable)

    assert (target.pause(), target.pause()) == (True, False)
    assert (target.resume(), target.resume()) == (True, False)
    scheduler.pause_all(0)
    assert target.resume(), "a part of it was paused"
    for name in ("update", "Ship.blink"):
        call = find(recorded.called(name).id)
        assert isinstance(call, Unschedulable)
        assert (call.unschedule(), call.unschedule()) == (True, False)
    assert scheduler.pending() == []
    scheduler.schedule_update(ship)
    again = find(recorded.called("ship").id)
    assert isinstance(again, Unschedulable)
    assert (again.unschedule(), again.unschedule()) == (True, False)
    assert recorded.names(MemberKind.TARGET) == []


def test_that_a_pause_from_a_priority_is_undone_as_the_original_does(
    recorded: Recorded, scheduler: DialectScheduler
) -> None:
    low, high = Ship("low"), Ship("high")
    scheduler.schedule_update(low, -1)
    scheduler.schedule_update(high, 1)
    assert isinstance(recorded.tree.members.find(scheduler.number), SchedulerControl)

    undo = pause_from(scheduler, 0)
    assert [scheduler.is_target_paused(ship) for ship in (low, high)] == [False, True]
    undo()

    assert not scheduler.is_target_paused(high)


@pytest.mark.parametrize(("scale", "reported"), [(0.5, 0.5), (-1, -1), (float("inf"), 1e9)])
def test_that_any_time_scale_is_reported(
    recorded: Recorded, scheduler: DialectScheduler, scale: float, reported: float
) -> None:
    scheduler.time_scale = scale

    assert recorded.called(scheduler.name).fields[Field.RATE] == reported * RATE_DENOMINATOR


def test_that_what_is_not_a_number_is_not_reported_as_a_time_scale(
    recorded: Recorded, scheduler: DialectScheduler
) -> None:
    scheduler.time_scale = float("nan")

    assert recorded.called(scheduler.name).fields[Field.RATE] == RATE_DENOMINATOR


def test_that_a_timer_set_up_anew_is_reported(recorded: Recorded) -> None:
    scheduler = DialectScheduler(COCOS2DX_3_15, clock=recorded.clock)
    ship = Ship("ship")
    scheduler.schedule(ship.blink, 0.5)

    scheduler.schedule(ship.blink, 2, repeat=4)

    fields = recorded.called("Ship.blink").fields
    assert (fields[Field.INTERVAL], fields[Field.CALLS_LEFT]) == (2 * SECOND, 5)
