"""What the scheduler says of itself while its clock's tree is recorded."""

from __future__ import annotations

import gc
from fractions import Fraction
from typing import Any

import pytest

from inspector.clocks.tree import ClockTree
from inspector.frames.scheduler.controls import (
    Pausable,
    SchedulerControl,
    Unschedulable,
    pause_from,
)
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.vocabulary import NEVER, RATE_DENOMINATOR, EventKind, Field, MemberKind
from tests.frames.recorded import MS, SECOND, Recorded


class Ship:
    """A target with a name."""

    def __init__(self, name: str = "") -> None:
        self.name = name

    def update(self, delta: float) -> None:
        """Fly."""

    def blink(self, delta: float) -> None:
        """Blink."""


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


@pytest.fixture
def scheduler(recorded: Recorded) -> Scheduler:
    return Scheduler(recorded.clock, name="actors")


def test_that_calls_hang_under_their_targets_and_these_under_the_scheduler(
    recorded: Recorded, scheduler: Scheduler
) -> None:
    ship = Ship("red ship")

    scheduler.schedule_update(ship)
    scheduler.schedule(ship.blink, 0.5, name="blink")

    assert recorded.tree_text() == [
        "scheduler: actors",
        "  target: red ship",
        "    update: Ship.update",
        "    frame timer: blink",
    ]
    assert recorded.text("actors", Field.RULES) == "sound"


def test_that_nothing_is_reported_without_a_recorder() -> None:
    scheduler = Scheduler(ClockTree().root)
    ship = Ship()

    timer = scheduler.schedule(ship.blink, 0.5)
    scheduler.update(1)

    assert (scheduler.number, timer.number) == (0, 0)


@pytest.mark.parametrize("recorder", [True, False])
def test_that_a_callback_is_called_directly_only_without_a_recorder(*, recorder: bool) -> None:
    tree = Recorded().tree if recorder else ClockTree()
    scheduler = Scheduler(tree.root)
    ship = Ship()
    update = ship.update

    scheduler.schedule_update(ship, callback=update)
    scheduler.update(0)

    (slot,) = scheduler.update_calls.in_order()
    assert (slot.call is update) is not recorder


class NoName:
    """Something that makes trouble when it is asked."""

    @property
    def name(self) -> str:
        message = "no"
        raise ValueError(message)

    def __repr__(self) -> str:
        message = "no"
        raise ValueError(message)


def test_that_targets_get_readable_names(recorded: Recorded, scheduler: Scheduler) -> None:
    def every_frame(delta: float) -> None:
        """Do nothing."""

    targets: list[Any] = [Ship("a"), Ship(), Ship(), NoName(), every_frame, 7, "x" * 200]
    for target in targets:
        scheduler.schedule(lambda _: None, 1, target=target)

    assert recorded.names(MemberKind.TARGET) == [
        "a",
        "Ship 1",
        "Ship 2",
        "NoName 1",
        "test_that_targets_get_readable_names.every_frame",
        "int 1",
        "str 1",
    ]


def test_that_time_scale_and_time_are_known(recorded: Recorded, scheduler: Scheduler) -> None:
    scheduler.time_scale = "1/3"
    scheduler.update_ns(300 * MS)
    scheduler.update_ns(0)

    fields = recorded.called("actors").fields
    assert fields[Field.RATE] * 3 == RATE_DENOMINATOR
    assert fields[Field.TIME] == 100 * MS


def test_that_a_timer_says_when_it_is_due_and_how_many_calls_are_left(
    recorded: Recorded, scheduler: Scheduler
) -> None:
    seen: list[dict[int, int]] = []
    scheduler.schedule(
        lambda _: seen.append(dict(recorded.called("three").fields)),
        0.5,
        repeat=2,
        target=Ship(),
        name="three",
    )

    scheduler.update(0.75)

    fields = recorded.called("three").fields
    assert fields[Field.INTERVAL] == SECOND // 2
    assert fields[Field.DUE] == SECOND
    assert fields[Field.CALLS_LEFT] == 2
    assert seen == [fields], "known inside the call already"
    scheduler.update(1)
    assert "three" not in recorded.names(MemberKind.FRAME_TIMER)
    assert recorded.names(MemberKind.TARGET) == []


def test_that_a_timer_of_every_frame_is_due_at_no_instant(
    recorded: Recorded, scheduler: Scheduler
) -> None:
    ship = Ship()
    scheduler.schedule(ship.blink, 0, delay=1, name="later in every frame")
    due = recorded.called("later in every frame").fields[Field.DUE]

    scheduler.update(2)

    fields = recorded.called("later in every frame").fields
    assert due == SECOND
    assert (fields[Field.INTERVAL], fields[Field.DUE]) == (0, NEVER)


def test_that_a_paused_timer_says_what_is_left_to_wait(
    recorded: Recorded, scheduler: Scheduler
) -> None:
    ship = Ship("ship")
    timer = scheduler.schedule(ship.blink, 0.5, name="blink")
    scheduler.update(0.125)

    timer.pause()
    scheduler.update(1)

    blink = recorded.called("blink")
    assert blink.is_paused
    assert blink.fields[Field.REMAINING] == 375 * MS
    timer.resume()
    blink = recorded.called("blink")
    assert not blink.is_paused
    assert blink.fields[Field.DUE] == 1500 * MS


def test_that_the_pause_of_a_target_is_the_targets(
    recorded: Recorded, scheduler: Scheduler
) -> None:
    ship = Ship("ship")
    timer = scheduler.schedule(ship.blink, 0.5, name="blink")

    one, other = scheduler.pause_target(ship), scheduler.pause_all()
    one.resume()

    assert recorded.called("ship").is_paused
    assert not recorded.called("blink").is_paused
    assert recorded.members.pausing(timer.number) is recorded.called("ship")
    other.resume()
    assert not recorded.called("ship").is_paused


def test_that_updates_are_known_in_the_order_of_their_calls(
    recorded: Recorded, scheduler: Scheduler
) -> None:
    ships = [Ship(name) for name in "abc"]
    for ship, priority in zip(ships, (5, -5, 5), strict=True):
        scheduler.schedule_update(ship, priority, name=f"update {ship.name}")
    scheduler.schedule_update(ships[1], 5)

    updates = recorded.members.updates_of(scheduler.number)

    assert [update.name for update in updates] == ["update a", "update c", "update b"]


def test_that_another_callback_changes_the_name(recorded: Recorded, scheduler: Scheduler) -> None:
    ship = Ship()
    scheduler.schedule_update(ship, name="calm")

    scheduler.schedule_update(ship, callback=ship.blink, name="angry")
    scheduler.update(0)

    assert recorded.called("angry").calls == 1
    assert recorded.names(MemberKind.UPDATE) == ["angry"]


def test_that_a_name_that_stays_the_same_is_told_once(
    recorded: Recorded, scheduler: Scheduler
) -> None:
    ship = Ship()
    scheduler.schedule_update(ship, name="calm")

    scheduler.schedule_update(ship, callback=ship.blink)

    assert Field.NAME not in [event[3] for event in recorded.of_kind(EventKind.MEMBER_SET)]


def test_that_every_call_is_reported_also_one_that_raises(
    recorded: Recorded, scheduler: Scheduler
) -> None:
    def fail(_: float) -> None:
        message = "on purpose"
        raise ValueError(message)

    ship = Ship()
    recorded.tree.on_failure = lambda _: None
    scheduler.schedule_update(ship, callback=fail, name="fails")
    scheduler.schedule(ship.blink, 0.5, name="plain")
    scheduler.schedule(lambda _: None, 0.5, overshoot="drop", target=ship, name="drops")
    scheduler.schedule(lambda _: None, target=ship, name="frame")
    for _ in range(3):
        scheduler.update(0.5)

    counts = {name: recorded.called(name).calls for name in ("fails", "plain", "drops", "frame")}
    assert counts == {"fails": 3, "plain": 3, "drops": 3, "frame": 3}
    assert all(event[4] >= 0 for event in recorded.of_kind(EventKind.CALL_ENDED))


def test_that_a_last_call_is_reported_although_the_timer_is_gone_by_then(
    recorded: Recorded, scheduler: Scheduler
) -> None:
    timer = scheduler.schedule_once(lambda _: None, 0.5, target=Ship())
    number = timer.number

    scheduler.update(1)

    assert [event[2] for event in recorded.of_kind(EventKind.CALL_ENDED)] == [number]
    assert number not in recorded.members.by_id


def test_that_calls_left_out_are_counted(recorded: Recorded) -> None:
    scheduler = Scheduler(recorded.clock, max_calls_per_frame=3)
    timer = scheduler.schedule(lambda _: None, 0.1, target=Ship(), name="too often")

    scheduler.update(1)

    fields = recorded.called("too often").fields
    assert fields[Field.MISSED] == timer.missed == 7
    assert fields[Field.DUE] == 1100 * MS


def test_that_what_is_taken_back_is_gone(recorded: Recorded, scheduler: Scheduler) -> None:
    ships = [Ship(name) for name in "abcd"]
    for ship in ships:
        scheduler.schedule_update(ship)
        scheduler.schedule(ship.blink, 1)
    scheduler.unschedule_target(ships[0])
    scheduler.unschedule(ships[1].blink)
    scheduler.unschedule_update(ships[1])
    scheduler.unschedule_update(ships[2])

    assert recorded.tree_text()[1:] == [
        "  target: c",
        "    frame timer: Ship.blink",
        "  target: d",
        "    update: Ship.update",
        "    frame timer: Ship.blink",
    ]
    scheduler.unschedule_all()
    assert recorded.tree_text() == ["scheduler: actors"]


def test_that_a_timer_scheduled_again_is_another_one(
    recorded: Recorded, scheduler: Scheduler
) -> None:
    ship = Ship()
    first = scheduler.schedule(ship.blink, 1).number

    second = scheduler.schedule(ship.blink, 2).number

    assert first not in recorded.members.by_id
    assert recorded.members.by_id[second].fields[Field.INTERVAL] == 2 * SECOND


def test_that_a_paused_target_is_remembered_until_it_is_garbage(
    recorded: Recorded, scheduler: Scheduler
) -> None:
    ship = Ship("gone soon")
    scheduler.pause_target(ship)
    assert recorded.names(MemberKind.TARGET) == ["gone soon"]

    del ship
    gc.collect()
    scheduler.update(0)

    assert recorded.names(MemberKind.TARGET) == []


def test_that_a_removed_clock_does_not_break_its_scheduler(
    recorded: Recorded, scheduler: Scheduler
) -> None:
    ship = Ship()
    calls: list[float] = []
    scheduler.schedule_update(ship, callback=calls.append)
    scheduler.schedule(ship.blink, 0.5)
    recorded.clock.remove()

    scheduler.update(1)
    scheduler.schedule(calls.append, 0.5, target=Ship())
    scheduler.pause_all().resume()
    scheduler.unschedule_all()

    assert calls == [1.0]
    assert len(recorded.members) == 0


def test_that_members_can_be_controlled_by_number(recorded: Recorded, scheduler: Scheduler) -> None:
    ship = Ship("ship")
    timer = scheduler.schedule(ship.blink, 0.5, name="blink")
    find = recorded.tree.members.find
    target = find(recorded.called("ship").id)
    assert isinstance(target, Pausable)
    assert isinstance(target, Unschedulable)

    assert (target.pause(), target.pause()) == (True, False)
    assert scheduler.is_target_paused(ship)
    assert (target.resume(), target.resume()) == (True, False)
    assert not scheduler.is_target_paused(ship)
    timer.pause()
    assert target.resume()
    assert not timer.is_paused
    assert (target.unschedule(), target.unschedule()) == (True, False)
    assert scheduler.pending() == []
    assert find(scheduler.number) is scheduler
    assert isinstance(scheduler, SchedulerControl)


def test_that_a_target_paused_by_itself_waits_on_when_another_pause_ends(
    recorded: Recorded, scheduler: Scheduler
) -> None:
    ship = Ship("ship")
    scheduler.schedule_update(ship)
    target = recorded.tree.members.find(recorded.called("ship").id)
    assert isinstance(target, Pausable)
    everybody = scheduler.pause_all()

    assert target.pause()
    everybody.resume()

    assert scheduler.is_target_paused(ship)
    assert recorded.called("ship").is_paused


def test_that_a_pause_from_a_priority_can_be_undone_exactly(scheduler: Scheduler) -> None:
    low, high, own = Ship("low"), Ship("high"), Ship("own")
    for ship, priority in ((low, -1), (high, 1), (own, 2)):
        scheduler.schedule_update(ship, priority)
    scheduler.pause_target(own)
    scheduler.time_scale = Fraction(1, 2)

    undo = pause_from(scheduler, 0)

    assert [scheduler.is_target_paused(ship) for ship in (low, high, own)] == [False, True, True]
    undo()
    assert [scheduler.is_target_paused(ship) for ship in (low, high, own)] == [False, False, True]
