"""Run, hold, step: how source time becomes session time."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from inspector.clocks import ClockTree, ManualTimeSource, Transport
from inspector.clocks.failures import CallbackFailure, EndlessInstantError
from inspector.clocks.tree import MOST_IN_WAKE
from inspector.events import EventLog, Timeline
from inspector.frames import Director
from inspector.vocabulary import TRANSPORT, Field, MemberKind, Mode

if TYPE_CHECKING:
    from collections.abc import Callable

MS = 1_000_000


class LateSource:
    """A source that behaves like a real one: it wakes when the test says so."""

    def __init__(self) -> None:
        self.now = 5_000 * MS
        self.wake_ns: int | None = None
        self._on_wake: Callable[[], None] | None = None

    def now_ns(self) -> int:
        return self.now

    def set_wake(self, at_ns: int | None) -> None:
        self.wake_ns = at_ns

    def attach(self, on_wake: Callable[[], None]) -> None:
        self._on_wake = on_wake

    def close(self) -> None:
        self._on_wake = None

    def wake_at(self, now_ns: int) -> None:
        self.now = now_ns
        assert self._on_wake is not None
        self._on_wake()


class World:
    """A transport on a late source, with a list of what was called when."""

    def __init__(self) -> None:
        self.log = EventLog()
        self.tree = ClockTree(self.log)
        self.source = LateSource()
        self.transport = Transport(self.tree, self.source)
        self.start = self.source.now
        self.calls: list[tuple[str, int]] = []
        self.frames: list[tuple[int, int, int]] = []
        self.transport.on_frame = lambda interval, cut: self.frames.append(
            (self.tree.now_ns // MS, interval // MS, cut // MS)
        )

    def note(self, what: str) -> None:
        self.calls.append((what, self.tree.root.time_ns // MS))


class Populated(World):
    """A running transport with clocks, a timer and members, to be changed."""

    def __init__(self) -> None:
        super().__init__()
        self.game = self.tree.root.child("game")
        self.paused = self.tree.root.child("paused")
        self.paused.pause()
        self.timer = self.game.set_timeout(1, print)
        self.members = self.tree.members
        self.member, self.other = (
            self.members.add(self, MemberKind.SCHEDULER, name, self.game) for name in "ab"
        )
        self.transport.run()


@pytest.fixture
def world() -> World:
    return World()


def test_that_a_held_transport_asks_for_nothing(world: World) -> None:
    world.tree.root.set_timeout_ns(10 * MS, world.note, "a")

    assert world.source.wake_ns is None
    assert not world.transport.is_running


def test_that_a_running_transport_asks_for_the_earliest_instant_only(world: World) -> None:
    world.transport.run()
    asked = [world.source.wake_ns]

    world.tree.root.set_timeout_ns(20 * MS, world.note, "b")
    asked.append(world.source.wake_ns)
    world.tree.root.set_timeout_ns(10 * MS, world.note, "a")
    asked.append(world.source.wake_ns)
    world.tree.root.set_timeout_ns(30 * MS, world.note, "c")
    asked.append(world.source.wake_ns)

    first, second = world.start + 10 * MS, world.start + 20 * MS
    assert asked == [None, second, first, first]


def test_that_a_timer_set_once_the_earliest_is_cleared_is_asked_for(world: World) -> None:
    world.transport.run()
    earliest = world.tree.root.set_timeout_ns(10 * MS, world.note, "a")
    world.tree.root.set_timeout_ns(30 * MS, world.note, "b")
    world.tree.root.clear(earliest)

    world.source.wake_at(world.start + 1 * MS)
    asked = [world.source.wake_ns]
    world.tree.root.set_timeout_ns(5 * MS, world.note, "c")
    asked.append(world.source.wake_ns)

    assert asked == [world.start + 30 * MS, world.start + 6 * MS]


def test_that_nothing_is_asked_for_when_everything_is_paused(world: World) -> None:
    world.transport.run()
    world.tree.root.set_timeout_ns(10 * MS, world.note, "a")
    world.tree.root.pause()

    world.source.wake_at(world.start + 10 * MS)

    assert world.calls == []
    assert world.source.wake_ns is None


def test_that_late_timers_are_called_at_their_own_instant_and_know_how_late(
    world: World,
) -> None:
    world.transport.run()
    world.tree.root.set_timeout_ns(10 * MS, world.note, "a")
    world.tree.root.set_interval_ns(15 * MS, world.note, "b")

    world.source.wake_at(world.start + 50 * MS)

    assert world.calls == [("a", 10), ("b", 15), ("b", 30), ("b", 45)]
    timeline = Timeline(world.log.strings)
    timeline.apply_all(world.log.read().events)
    (number,) = timeline.timers.ids()
    assert timeline.timers.row(number).last_lateness_ns == 5 * MS


def test_that_reading_a_clock_between_wakes_shows_the_present(world: World) -> None:
    world.transport.run()
    world.source.now += 7 * MS

    assert world.tree.root.time_ns == 7 * MS


@pytest.mark.parametrize(
    "change",
    [
        lambda world: world.game.child("new"),
        lambda world: world.game.child("new", epoch=0),
        lambda world: world.game.set_timeout(1, print),
        lambda world: world.game.set_interval(1, print),
        lambda world: world.game.clear(world.timer),
        lambda world: world.game.fire_now(world.timer),
        lambda world: world.game.pause(),
        lambda world: world.tree.root.pause(),
        lambda world: world.paused.resume(),
        lambda world: world.game.set_rate(2),
        lambda world: world.game.move_to(world.paused),
        lambda world: world.game.remove(),
        lambda world: world.transport.hold(),
        lambda world: world.members.add(object(), MemberKind.TARGET, "new", world.game),
        lambda world: world.members.set(world.member, Field.PRIORITY, 2),
        lambda world: world.members.set_text(world.member, Field.STATE, "idle"),
        lambda world: world.members.set_paused(world.member, paused=True),
        lambda world: world.members.move(world.member, world.other),
        lambda world: world.members.remove(world.member),
        lambda world: world.members.state_entered(world.member, "idle", "rest"),
        lambda world: world.members.transition_refused(world.member, "rest", "busy"),
    ],
)
def test_that_every_change_between_wakes_has_the_present_instant(
    change: Callable[[Populated], object],
) -> None:
    world = Populated()
    end = world.log.end
    world.source.now += 7 * MS

    change(world)

    events = world.log.slice(end, world.log.end)
    assert {event[0] for event in events} == {7 * MS}


def test_that_frames_follow_the_grid_and_a_late_one_is_not_made_up_for(world: World) -> None:
    world.transport.frame_period_ns = 10 * MS
    world.transport.run()

    for at in (10, 20, 47, 50):
        world.source.wake_at(world.start + at * MS)

    assert world.frames == [(10, 10, 0), (20, 10, 0), (47, 27, 0), (50, 3, 0)]
    assert world.source.wake_ns == world.start + 60 * MS


def test_that_a_period_is_in_force_at_once(world: World) -> None:
    world.transport.run()
    asked = []
    for period_ns in (10 * MS, 30 * MS, None):
        world.transport.frame_period_ns = period_ns
        asked.append((world.source.wake_ns, world.transport.next_frame_ns))

    start = world.start
    assert asked == [(start + 10 * MS, 10 * MS), (start + 30 * MS, 30 * MS), (None, None)]


def test_that_a_frame_without_a_grid_is_run_now(world: World) -> None:
    exact: list[tuple[int, int]] = []
    world.transport.on_frame = lambda *times: exact.append(times)

    world.transport.step_frame()
    world.transport.frame_period_ns = 7
    world.transport.step_frame()

    assert exact == [(0, 0), (7, 0)]
    assert world.transport.next_frame_ns == 14


def test_that_a_host_that_was_not_ready_has_time_begin_when_it_is(world: World) -> None:
    world.transport.frame_period_ns = 16 * MS
    world.transport.run()
    world.source.now += 120 * MS

    world.transport.run_from_now()
    assert world.source.wake_ns == world.source.now + 16 * MS
    world.source.wake_at(world.source.now + 16 * MS)

    assert world.frames == [(16, 16, 0)]


def test_that_a_stall_is_bounded_and_what_was_cut_is_told(world: World) -> None:
    world.transport.frame_period_ns = 10 * MS
    world.transport.run()

    world.source.wake_at(world.start + 1_010 * MS)
    world.source.wake_at(world.start + 1_020 * MS)

    assert world.frames[0] == (260, 1_010, 750)
    assert world.frames[1][1:] == (10, 0)


def test_that_a_clock_read_after_a_stall_does_not_show_what_is_cut_off(world: World) -> None:
    world.transport.frame_period_ns = 10 * MS
    world.transport.run()
    world.source.now += 1_010 * MS

    at_once = world.transport.present_ns()
    world.source.now += 5 * MS
    later = world.transport.present_ns()
    world.source.wake_at(world.start + 1_015 * MS)
    world.source.now += 3 * MS

    assert (at_once, later) == (260 * MS, 265 * MS)
    assert world.frames == [(265, 1_015, 750)]
    assert world.transport.present_ns() == 268 * MS


def test_that_time_goes_on_after_a_stall_while_something_waits_to_be_called(world: World) -> None:
    world.transport.run()
    world.tree.root.set_timeout_ns(10 * MS, world.note, "a")
    world.source.now += 1_010 * MS
    world.transport.present_ns()

    world.transport.frame_period_ns = 500 * MS
    world.source.now += 5 * MS

    assert world.transport.present_ns() == 265 * MS


def test_that_waiting_long_for_a_far_timer_is_no_stall(world: World) -> None:
    world.transport.run()
    world.tree.root.set_timeout_ns(10_000 * MS, world.note, "a")

    world.source.wake_at(world.start + 10_001 * MS)

    assert world.calls == [("a", 10_000)]
    assert world.tree.now_ns == 10_001 * MS


def test_that_holding_stops_and_letting_go_resumes_what_ran(world: World) -> None:
    world.tree.root.set_timeout_ns(10 * MS, world.note, "a")
    paused = world.tree.root.child("paused")
    paused.pause()
    world.transport.run()
    world.source.now += 4 * MS
    world.transport.hold()
    world.source.now += 1_000 * MS
    assert world.tree.present is None
    assert world.tree.root.time_ns == 4 * MS

    world.transport.run()
    assert world.source.wake_ns == world.source.now + 6 * MS
    world.source.wake_at(world.source.now + 6 * MS)

    assert world.calls == [("a", 10)]
    assert paused.is_paused


def test_that_a_held_scene_can_be_stepped_by_time_and_by_frames(world: World) -> None:
    world.transport.frame_period_ns = 10 * MS
    world.tree.root.set_timeout_ns(15 * MS, world.note, "a")

    world.transport.step_ns(5 * MS)
    assert (world.frames, world.calls) == ([], [])
    world.transport.step_frame()
    assert world.frames == [(10, 10, 0)]
    world.transport.step_ns(15 * MS)

    assert world.frames == [(10, 10, 0), (20, 10, 0)]
    assert world.calls == [("a", 15)]
    assert world.tree.now_ns == 25 * MS


def test_that_a_measured_frame_time_is_bounded_and_a_chosen_one_is_not(world: World) -> None:
    world.transport.frame_period_ns = 10 * MS

    world.transport.step_frame(1_000 * MS)
    world.transport.step_frame(1_000 * MS, is_reading=True)

    assert world.frames == [(1_000, 1_000, 0), (1_250, 1_000, 750)]


def test_that_only_a_held_transport_can_be_stepped(world: World) -> None:
    world.transport.run()

    with pytest.raises(RuntimeError, match="held"):
        world.transport.step_ns(1)
    with pytest.raises(RuntimeError, match="held"):
        world.transport.step_frame()
    world.transport.hold()
    with pytest.raises(ValueError, match="backwards"):
        world.transport.step_ns(-1)
    with pytest.raises(ValueError, match="longer than 0"):
        world.transport.frame_period_ns = 0
    world.transport.frame_period_ns = 1
    assert world.transport.frame_period_ns == 1


def test_that_run_and_hold_are_events(world: World) -> None:
    timeline = Timeline(world.log.strings)
    world.transport.run()
    world.transport.run()
    timeline.apply_all(world.log.read().events)
    assert timeline.is_running

    world.transport.hold()
    world.transport.hold()

    timeline.apply_all(world.log.read(world.log.end - 1).events)
    assert [event for event in world.log.read().events if event[1] == TRANSPORT] == [
        (0, TRANSPORT, Mode.RUNNING, 0, 0),
        (0, TRANSPORT, Mode.HELD, 0, 0),
    ]
    assert not timeline.is_running


def test_that_halting_leaves_what_is_due_for_the_next_time(world: World) -> None:
    world.tree.root.set_timeout_ns(10 * MS, world.tree.halt)
    world.tree.root.set_timeout_ns(10 * MS, world.note, "a")

    world.transport.step_ns(20 * MS)
    assert world.calls == []
    assert world.tree.now_ns == 10 * MS
    world.transport.step_ns(0)

    assert world.calls == [("a", 10)]


def test_that_a_manual_source_runs_frames_and_timers_in_due_order() -> None:
    tree = ClockTree()
    source = ManualTimeSource()
    transport = Transport(tree, source)
    seen: list[tuple[str, int]] = []
    transport.on_frame = lambda _interval, _cut: seen.append(("frame", tree.now_ns // MS))
    transport.frame_period_ns = 10 * MS
    transport.on_wake_done = lambda: seen.append(("done", tree.now_ns // MS))
    transport.run()
    tree.root.set_interval_ns(4 * MS, lambda: seen.append(("timer", tree.now_ns // MS)))

    source.advance_ns(20 * MS)

    assert seen == [
        ("timer", 4),
        ("timer", 8),
        ("frame", 10),
        ("timer", 12),
        ("timer", 16),
        ("timer", 20),
        ("frame", 20),
        ("done", 20),
    ]


def test_that_holding_calls_what_was_due_before_it(world: World) -> None:
    world.transport.run()
    world.tree.root.set_timeout_ns(10 * MS, world.note, "a")
    world.source.now += 12 * MS

    world.transport.hold()

    assert world.calls == [("a", 10)]
    assert world.transport.present_ns() == 12 * MS


def test_that_releasing_makes_no_overdue_calls(world: World) -> None:
    world.transport.run()
    world.tree.root.set_timeout_ns(10 * MS, world.note, "a")
    world.source.now += 12 * MS

    world.transport.let_go()

    assert world.calls == []
    assert not world.transport.is_running
    assert world.source.wake_ns is None


def test_that_a_callback_can_hold_and_time_stands_still_at_once(world: World) -> None:
    world.transport.frame_period_ns = 11 * MS
    world.transport.run()
    world.tree.root.set_timeout_ns(10 * MS, world.transport.hold)
    world.tree.root.set_timeout_ns(10 * MS, world.note, "b")

    world.source.wake_at(world.start + 11 * MS)
    world.source.now += 500 * MS

    assert not world.transport.is_running
    assert world.source.wake_ns is None
    assert world.tree.root.time_ns == 10 * MS
    assert (world.calls, world.frames) == ([], [])


def test_that_what_a_callback_has_held_up_is_called_once_time_goes_on(world: World) -> None:
    world.transport.run()
    world.tree.root.set_timeout_ns(10 * MS, world.transport.hold)
    world.tree.root.set_timeout_ns(10 * MS, world.note, "b")
    world.tree.root.set_timeout_ns(12 * MS, world.note, "c")
    world.source.wake_at(world.start + 15 * MS)

    world.transport.run()
    world.source.wake_at(world.start + 15 * MS)
    world.source.wake_at(world.start + 17 * MS)

    assert world.calls == [("b", 10), ("c", 12)]


def test_that_a_frame_that_holds_is_finished_and_nothing_follows_it() -> None:
    tree, source = ClockTree(), ManualTimeSource()
    transport = Transport(tree, source)
    director = Director(tree.root)
    phases = []

    def update(_delta: float) -> None:
        phases.append("update")
        transport.hold()

    director.on("update", update)
    director.on("late_update", lambda _delta: phases.append("late update"))
    transport.on_frame = director.run_frame
    transport.frame_period_ns = 10 * MS
    transport.run()

    source.advance_ns(50 * MS)

    assert phases == ["update", "late update"]
    assert tree.now_ns == 10 * MS


@pytest.mark.parametrize("is_frame", [False, True])
def test_that_holding_ends_a_step_where_it_is(world: World, *, is_frame: bool) -> None:
    if is_frame:
        world.transport.frame_period_ns = 10 * MS
        world.transport.on_frame = lambda _interval, _cut: world.transport.hold()
    else:
        world.tree.root.set_timeout_ns(10 * MS, world.transport.hold)
    world.tree.root.set_timeout_ns(20 * MS, world.note, "b")

    world.transport.step_ns(50 * MS)

    assert world.tree.now_ns == 10 * MS
    assert world.calls == []


def test_that_halting_in_a_frame_ends_a_step(world: World) -> None:
    world.transport.frame_period_ns = 10 * MS
    world.transport.on_frame = lambda _interval, _cut: world.tree.halt()

    world.transport.step_ns(50 * MS)

    assert world.tree.now_ns == 10 * MS


def test_that_the_next_wake_is_asked_for_whatever_gets_out_of_a_callback(world: World) -> None:
    def interrupted() -> None:
        signal.raise_signal(signal.SIGINT)

    world.transport.run()
    world.tree.root.set_timeout_ns(10 * MS, interrupted)
    world.tree.root.set_timeout_ns(20 * MS, world.note, "b")

    with pytest.raises(KeyboardInterrupt):
        world.source.wake_at(world.start + 10 * MS)

    assert world.source.wake_ns == world.start + 20 * MS


def test_that_a_frame_that_sets_another_period_has_the_last_word(world: World) -> None:
    def slower(_interval: int, _cut: int) -> None:
        world.transport.frame_period_ns = 100 * MS

    world.transport.frame_period_ns = 10 * MS
    world.transport.on_frame = slower
    world.transport.run()

    world.source.wake_at(world.start + 10 * MS)

    assert world.source.wake_ns == world.start + 110 * MS


TEN_YEARS_S = 315_576_000


@pytest.mark.parametrize("period_ns", [None, 10**9])
def test_that_advancing_by_ten_years_over_a_second_ends_with_how_far_it_got(
    period_ns: int | None,
) -> None:
    tree, source = ClockTree(), ManualTimeSource()
    tree.most_in_wake = 10_000
    transport = Transport(tree, source)
    calls: list[int] = []
    transport.on_frame = lambda *_: calls.append(tree.now_ns)
    transport.frame_period_ns = period_ns
    transport.run()
    if period_ns is None:
        tree.root.set_interval(1, lambda: calls.append(tree.now_ns), name="second")

    what = "frames were run" if period_ns else "timers were set or repeated, one of them 'second',"
    with pytest.raises(EndlessInstantError, match=f"more than 10,000 {what} within one wake-up"):
        source.advance(TEN_YEARS_S)

    assert calls == list(range(10**9, tree.now_ns + 1, 10**9))
    assert 10_000 <= len(calls) < 10_002
    del calls[:]
    source.advance(5)
    assert len(calls) == 5


@pytest.mark.parametrize("period_ns", [10**9, None])
def test_that_a_wake_up_with_no_end_is_told_as_a_failure_where_those_are_taken(
    period_ns: int | None,
) -> None:
    tree, source = ClockTree(), ManualTimeSource()
    tree.most_in_wake = 10
    failures: list[CallbackFailure] = []
    tree.on_failure = failures.append
    transport = Transport(tree, source)
    transport.frame_period_ns = period_ns
    transport.run()
    clock = tree.root.child("below")
    timer = None if period_ns else clock.set_interval(1, int, name="second")

    source.advance(TEN_YEARS_S)

    (failure,) = failures
    where = (tree.root.id, 0, "frames") if timer is None else (clock.id, timer.id, "second")
    assert (failure.clock_id, failure.timer_id, failure.label) == where
    assert isinstance(failure.error, EndlessInstantError)
    assert tree.is_halted


def test_that_an_advance_is_bounded_without_being_asked() -> None:
    assert ClockTree().most_in_wake == MOST_IN_WAKE == 10_000_000


@pytest.mark.parametrize("move", [ManualTimeSource.jump, ManualTimeSource.advance])
def test_that_going_backwards_is_refused_and_moves_nothing(
    move: Callable[[ManualTimeSource, float], None],
) -> None:
    tree, source = ClockTree(), ManualTimeSource()
    Transport(tree, source).run()
    source.jump(2)

    with pytest.raises(ValueError, match="time does not run backwards: -1000000000 ns"):
        move(source, -1)

    assert source.now_ns() == tree.now_ns == 2_000 * MS
