"""What a clock and its timers promise, one by one."""

from __future__ import annotations

import signal
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.clocks import (
    CallbackFailure,
    Clock,
    ClockTree,
    ManualTimeSource,
    MissedTicks,
    Transport,
)
from inspector.clocks import tree as clock_tree
from inspector.clocks.queue import BUCKET_SHIFT
from inspector.events import EventLog
from inspector.vocabulary import TIMER_ADDED, TIMER_FIRED, RawEvent

NS = 1
SECOND = 1_000_000_000


class World:
    """A tree on a manual source that runs, and a record of what was called."""

    def __init__(self) -> None:
        self.tree = ClockTree()
        self.root = self.tree.root
        self.source = ManualTimeSource()
        self.transport = Transport(self.tree, self.source)
        self.transport.run()
        self.calls: list[tuple[object, float]] = []

    def note(self, what: object, clock: Clock | None = None) -> None:
        self.calls.append((what, (clock or self.root).time))


@pytest.fixture
def world() -> World:
    return World()


def test_that_only_a_rate_above_one_makes_a_fast_clock(world: World) -> None:
    world.root.child("same").set_rate("1/2")
    world.root.children[0].set_rate(1)
    assert not world.tree.has_fast_clocks

    world.root.children[0].set_rate("1.0001")

    assert world.tree.has_fast_clocks


@pytest.mark.parametrize("interval_ns", [0, -1])
def test_that_an_interval_in_nanoseconds_is_above_zero(world: World, interval_ns: int) -> None:
    with pytest.raises(ValueError, match=f"an interval must be longer than 0 ns: {interval_ns}"):
        world.root.set_interval_ns(interval_ns, list)

    assert world.root.set_interval_ns(1, list).interval_ns == 1


@pytest.mark.parametrize("is_recorded", [False, True])
def test_that_nanoseconds_are_whole(*, is_recorded: bool) -> None:
    tree = ClockTree(EventLog() if is_recorded else None)

    for delay_ns in (1.5, "1", None):
        with pytest.raises(ValueError, match="nanoseconds"):
            tree.root.set_timeout_ns(delay_ns, list)  # type: ignore[arg-type]

    assert tree.root.pending() == []


def test_that_nothing_moves_under_a_removed_clock(world: World) -> None:
    removed, moved = world.root.child("removed"), world.root.child("moved")
    removed.remove()

    with pytest.raises(RuntimeError, match="clock 'removed' was removed from its tree"):
        moved.move_to(removed)

    assert moved.parent is world.root
    with pytest.raises(RuntimeError, match="clock 'removed' was removed from its tree"):
        removed.move_to(moved)


def test_that_a_callback_cannot_advance_time_and_is_told_how_far_it_is() -> None:
    tree = ClockTree()
    failures: list[CallbackFailure] = []
    reached: list[int] = []
    tree.on_failure = failures.append
    tree.root.set_timeout_ns(2, lambda: reached.append(tree.reached_ns))
    tree.root.set_timeout_ns(3, tree.run_to, 20)

    tree.run_to(10, 12)

    assert (reached, tree.reached_ns, tree.now_ns) == ([12], 10, 10)
    assert [str(failure.error) for failure in failures] == [
        "time is already being advanced; a callback cannot advance it"
    ]


def test_that_a_child_begins_at_zero_and_follows_its_parent(world: World) -> None:
    world.source.advance(2)
    child = world.root.child("game")

    world.source.advance(0.5)

    assert child.time == 0.5
    assert world.root.time == 2.5


def test_that_an_epoch_sets_where_local_time_is_zero(world: World) -> None:
    later = world.root.child("later", epoch=3)
    same = world.root.child("same", epoch=0)

    world.source.advance(1)

    assert later.time == -2
    assert same.time == 1


def test_that_changing_the_rate_does_not_jump_local_time(world: World) -> None:
    clock = world.root.child("slow", rate="1/3")
    world.source.advance(1)
    before = clock.time_ns

    clock.rate = Fraction(7, 2)

    assert clock.time_ns == before
    assert clock.rate == Fraction(7, 2)


def test_that_a_branch_multiplies_the_rates_above_it(world: World) -> None:
    game = world.root.child("game", rate="1/2")
    enemies = game.child("enemies", rate=0.25)

    assert enemies.effective_rate == Fraction(1, 8)
    game.pause()
    assert enemies.effective_rate == 0
    assert enemies.rate == Fraction(1, 4)


def test_that_a_paused_branch_says_which_ancestor_and_since_when(world: World) -> None:
    game = world.root.child("game")
    enemies = game.child("enemies")
    world.source.advance(2)
    game.pause()
    world.source.advance(1)
    enemies.pause()

    reasons = enemies.pause_reasons()

    assert [(reason.clock, reason.since_ns) for reason in reasons] == [
        (enemies, 3 * SECOND),
        (game, 2 * SECOND),
    ]
    assert not world.root.is_effectively_paused
    assert enemies.is_effectively_paused


def test_that_a_rate_of_zero_is_a_reason_of_its_own(world: World) -> None:
    clock = world.root.child("still")
    world.source.advance(1)
    clock.rate = 0

    (reason,) = clock.pause_reasons()

    assert reason.is_rate_zero
    assert reason.since_ns == SECOND
    assert not clock.is_paused
    world.source.advance(1)
    (reason,) = world.root.child("never runs", 0).pause_reasons()
    assert (reason.since_ns, reason.is_rate_zero) == (2 * SECOND, True)


def test_that_a_rate_of_zero_during_a_pause_does_not_begin_it_anew(world: World) -> None:
    clock = world.root.child("still")
    world.source.advance(1)
    clock.pause()
    world.source.advance(1)
    clock.rate = 0

    (reason,) = clock.pause_reasons()

    assert reason.since_ns == SECOND
    assert not reason.is_rate_zero


def test_that_pausing_twice_is_pausing_once(world: World) -> None:
    clock = world.root.child("game")

    assert clock.pause()
    assert not clock.pause()
    assert clock.resume()
    assert not clock.resume()
    assert not clock.is_effectively_paused


def test_that_a_timer_keeps_what_is_left_of_it_over_a_pause(world: World) -> None:
    clock = world.root.child("game")
    clock.set_timeout(1, world.note, "fired")
    world.source.advance(0.75)
    clock.pause()
    world.source.advance(10)
    clock.resume()

    world.source.advance(0.24)
    assert world.calls == []
    world.source.advance(0.01)

    assert world.calls == [("fired", 11.0)]


def test_that_a_timer_set_while_paused_waits(world: World) -> None:
    clock = world.root.child("game")
    clock.pause()
    timer = clock.set_timeout(0, world.note, "fired")
    world.source.advance(5)
    assert timer.is_pending

    clock.resume()
    world.source.advance(0)

    assert world.calls == [("fired", 5.0)]


@pytest.mark.parametrize("delay", [0, -1, -0.5])
def test_that_no_delay_is_due_now_but_not_inside_the_call(world: World, delay: float) -> None:
    world.root.set_timeout(delay, world.note, "fired")
    assert world.calls == []

    world.source.advance(0)

    assert world.calls == [("fired", 0.0)]


def test_that_no_delay_is_due_now_on_a_slow_clock_too(world: World) -> None:
    slow = world.root.child("slow", rate="1/4")
    world.source.advance_ns(103)
    slow.set_timeout(0, world.note, "slow")
    world.root.set_timeout(0, world.note, "root")

    world.source.advance(0)

    assert [what for what, _ in world.calls] == ["slow", "root"]


def test_that_ties_fire_in_the_order_of_scheduling_across_the_tree(world: World) -> None:
    a = world.root.child("a")
    b = a.child("b", rate=1)
    for what, clock in enumerate([b, world.root, a, b, world.root]):
        clock.set_timeout(1, world.note, what)

    world.source.advance(1)

    assert [what for what, _ in world.calls] == [0, 1, 2, 3, 4]


def test_that_a_resumed_clock_counts_as_scheduled_at_the_resume(world: World) -> None:
    clock = world.root.child("game")
    clock.set_timeout(1, world.note, "game")
    world.root.set_timeout(1, world.note, "root")
    clock.pause()
    clock.resume()

    world.source.advance(1)

    assert [what for what, _ in world.calls] == ["root", "game"]


def test_that_what_is_overdue_at_a_resume_is_called_in_the_order_of_scheduling(
    world: World,
) -> None:
    clock = world.root.child("game")

    def stall_and_resume() -> None:
        world.source.jump(1)
        clock.pause()
        clock.resume()

    clock.set_timeout(0.001, stall_and_resume)
    for what, delay in (("a", 0.004), ("b", 0.003), ("c", 0.002)):
        clock.set_timeout(delay, world.note, what)

    world.source.advance(0.005)
    world.source.advance(0)

    assert [what for what, _ in world.calls] == ["a", "b", "c"]


def test_that_now_is_the_due_instant_inside_a_callback(world: World) -> None:
    seen: list[float] = []
    world.root.set_timeout(0.25, lambda: seen.append(world.root.time))
    world.root.set_timeout(0.75, lambda: seen.append(world.root.time))

    world.source.advance(10)

    assert seen == [0.25, 0.75]


def test_that_now_is_the_instant_reached_after_a_jump(world: World) -> None:
    seen: list[float] = []
    world.root.set_timeout(0.25, lambda: world.source.jump(1))
    world.root.set_timeout(0.5, lambda: seen.append(world.root.time))

    world.source.advance(0.6)

    assert seen == [1.25]
    assert world.root.time == 1.25


def test_that_an_interval_fires_36_000_times_an_hour(world: World) -> None:
    fired = world.root.set_interval(0.1, lambda: None)
    steps = [16_666_667, 23_000_001, 10_000_000, 120_000_000]

    passed = i = 0
    while passed < 3_600 * SECOND:
        step = min(steps[i % 4], 3_600 * SECOND - passed)
        world.source.advance_ns(step)
        passed += step
        i += 1

    assert fired.fired == 36_000


def test_that_an_interval_may_clear_itself_in_its_own_call(world: World) -> None:
    def third_time() -> None:
        world.note("tick")
        if len(world.calls) == 3:
            assert world.root.clear(timer)

    timer = world.root.set_interval(1, third_time)

    world.source.advance(10)

    assert len(world.calls) == 3
    assert not timer.is_pending


@pytest.mark.parametrize(
    ("missed", "times", "left_out"),
    [
        (MissedTicks.BURST, [1.0, 3.5, 3.5, 4.0], 0),
        (MissedTicks.DELAY, [1.0, 3.5, 4.5], 1),
        (MissedTicks.SKIP, [1.0, 3.5, 4.0], 1),
    ],
)
def test_that_missed_ticks_follow_the_named_policy(
    world: World, missed: MissedTicks, times: list[float], left_out: int
) -> None:
    timer = world.root.set_interval(1, world.note, "tick", missed=missed)
    world.root.set_timeout(1.5, world.source.jump, 2)

    world.source.advance(1.5)
    world.source.advance(1)

    assert [at for _, at in world.calls] == times[: len(world.calls)]
    assert timer.ticks_missed == left_out
    assert [at for _, at in world.calls] == times


def test_that_clearing_says_whether_it_did_anything(world: World) -> None:
    clock = world.root.child("a")
    timer = clock.set_timeout(1, world.note, "never")

    assert not world.root.clear(timer)
    assert clock.clear(timer)
    assert not clock.clear(timer)
    world.source.advance(2)

    assert world.calls == []
    assert not timer.fired


def test_that_a_fired_timer_cannot_be_cleared(world: World) -> None:
    timer = world.root.set_timeout(1, world.note, "once")
    world.source.advance(1)

    assert not world.root.clear(timer)
    assert timer.fired == 1


def test_that_firing_now_uses_up_a_timeout_and_keeps_an_interval(world: World) -> None:
    once = world.root.set_timeout(5, world.note, "once")
    often = world.root.set_interval(5, world.note, "often")

    assert world.root.fire_now(once)
    assert world.root.fire_now(often)
    assert not world.root.fire_now(once)
    world.source.advance(5)

    assert world.calls == [("once", 0.0), ("often", 0.0), ("often", 5.0)]
    assert (once.fired, often.fired) == (1, 2)


def test_that_pending_lists_in_due_order_and_disturbs_nothing(world: World) -> None:
    for due in (3, 1, 2, 1):
        world.root.set_timeout(due, world.note, due, name=str(due))

    names = [timer.name for timer in world.root.pending()]
    world.source.advance(3)

    assert names == ["1", "1", "2", "3"]
    assert [what for what, _ in world.calls] == [1, 1, 2, 3]


def test_that_a_moved_branch_keeps_local_time_and_timers(world: World) -> None:
    a = world.root.child("a", rate=2)
    b = world.root.child("b", rate="1/2")
    clock = a.child("moving")
    clock.set_timeout(4, world.note, "fired")
    world.source.advance(1)
    before = clock.time_ns

    clock.move_to(b)

    assert clock.time_ns == before == 2 * SECOND
    assert clock.parent is b
    assert (a.children, b.children) == ([], [clock])
    world.source.advance(4)
    assert world.calls == [("fired", 5.0)]


def test_that_a_clock_cannot_hang_under_itself(world: World) -> None:
    a = world.root.child("a")
    b = a.child("b")

    with pytest.raises(ValueError, match="below it"):
        a.move_to(b)
    with pytest.raises(ValueError, match="root clock cannot be moved"):
        world.root.move_to(a)
    with pytest.raises(ValueError, match="another tree"):
        a.move_to(ClockTree().root)


def test_that_a_removed_branch_makes_no_calls_and_says_so(world: World) -> None:
    a = world.root.child("a")
    timer = a.child("b").set_timeout(1, world.note, "never")
    a.remove()
    a.remove()

    world.source.advance(2)

    assert world.calls == []
    assert not timer.is_pending
    assert list(world.root.walk()) == [world.root]
    with pytest.raises(RuntimeError, match="'a' was removed"):
        a.set_timeout(1, world.note)
    with pytest.raises(ValueError, match="root clock cannot be removed"):
        world.root.remove()


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), 1e30, "soon", None])
def test_that_absurd_delays_are_refused_by_value(world: World, bad: object) -> None:
    with pytest.raises(ValueError, match="seconds"):
        world.root.set_timeout(bad, world.note)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [0, -1])
def test_that_an_interval_must_be_longer_than_nothing(world: World, bad: float) -> None:
    with pytest.raises(ValueError, match="at least 1 ns"):
        world.root.set_interval(bad, world.note)


@pytest.mark.parametrize("bad", [-1, float("nan"), float("inf"), "fast", "1/0", 1_000_001, 1e-12])
def test_that_absurd_rates_are_refused_and_change_nothing(world: World, bad: object) -> None:
    clock = world.root.child("a", rate=2)

    with pytest.raises(ValueError, match=r"rate|slow"):
        clock.rate = bad  # type: ignore[assignment]

    assert clock.rate == 2


@pytest.mark.parametrize(
    ("given", "exact"),
    [
        (1, Fraction(1)),
        (0.25, Fraction(1, 4)),
        (0.1, Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        ("25%", Fraction(1, 4)),
        ("2x", Fraction(2)),
        ("×3", Fraction(3)),
        ("x 1/2", Fraction(1, 2)),
        ("×¾", Fraction(3, 4)),
        (Fraction(1, 7), Fraction(1, 7)),
        (1_000_000, Fraction(1_000_000)),
    ],
)
def test_that_rates_are_exact(given: object, exact: Fraction) -> None:
    clock = ClockTree().root
    clock.rate = given  # type: ignore[assignment]

    assert clock.rate == exact


def test_that_what_cannot_be_called_is_refused_at_once(world: World) -> None:
    with pytest.raises(TypeError, match="not callable"):
        world.root.set_timeout(1, "not a function")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not callable"):
        world.root.set_interval(1, None)  # type: ignore[arg-type]


def test_that_a_raising_callback_does_not_affect_other_callbacks(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        message = "oh dear"
        raise RuntimeError(message)

    world.root.set_timeout(1, broken, name="broken one")
    world.root.set_timeout(1, world.note, "after")

    world.source.advance(1)

    assert world.calls == [("after", 1.0)]
    assert "broken one" in caplog.text
    assert "oh dear" in caplog.text


def test_that_a_callback_cannot_advance_time(world: World) -> None:
    failures: list[CallbackFailure] = []
    world.tree.on_failure = failures.append
    world.root.set_timeout(1, world.source.advance, 1)

    world.source.advance(2)

    (failure,) = failures
    assert "only jump" in str(failure.error)
    assert world.root.time == 2


def test_that_timers_setting_each_other_without_delay_are_stopped(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert clock_tree.ENDLESS_LIMIT == 100_000
    monkeypatch.setattr(clock_tree, "ENDLESS_LIMIT", 1_000)
    failures: list[CallbackFailure] = []
    world.tree.on_failure = failures.append

    def again() -> None:
        world.root.set_timeout(0, again)

    again()
    world.source.advance(1)

    (failure,) = failures
    assert str(failure.error).startswith("more than 1,000 timers were set without delay")
    assert world.root.pending_count == 1


@pytest.mark.parametrize("too_many", [0, 1])
def test_that_no_more_timers_than_said_are_set_and_called_within_an_instant(
    world: World, monkeypatch: pytest.MonkeyPatch, too_many: int
) -> None:
    monkeypatch.setattr(clock_tree, "ENDLESS_LIMIT", 5)
    failures: list[CallbackFailure] = []
    world.tree.on_failure = failures.append
    # One with a delay, and as many more as make more than five without.
    left = 1 + 6 + too_many

    def again() -> None:
        nonlocal left
        left -= 1
        if left:
            world.root.set_timeout(0, again)

    world.root.set_timeout(1, again)
    world.source.advance(1)

    assert (left, len(failures)) == (too_many, too_many)


def test_that_a_callback_may_pause_an_ancestor_of_its_clock(world: World) -> None:
    game = world.root.child("game")
    enemies = game.child("enemies")
    enemies.set_timeout(1, game.pause)
    enemies.set_timeout(1, world.note, "too late")
    world.root.set_timeout(2, world.note, "root")

    world.source.advance(3)

    assert world.calls == [("root", 2.0)]
    assert enemies.time == 1


def test_that_a_callback_may_remove_its_own_clock(world: World) -> None:
    clock = world.root.child("a")
    clock.set_timeout(1, clock.remove)
    for delay in (1, 1, 1.5):
        clock.set_timeout(delay, world.note, "never")

    world.source.advance(2)

    assert world.calls == []
    assert clock.pending() == []


def test_that_a_year_at_odd_rates_is_exact(world: World) -> None:
    clock = world.root.child("a", rate="3/7").child("b", rate="0.0001")
    year = 365 * 86_400 * SECOND

    world.source.advance_ns(year)

    assert clock.time_ns == (year * 3 // 7) // 10_000


@given(st.lists(st.tuples(st.integers(0, 10**12), st.integers(0, 10**7)), max_size=30))
def test_that_no_error_builds_up_over_rate_changes(changes: list[tuple[int, int]]) -> None:
    tree = ClockTree()
    clock = tree.root.child("a")
    exact = Fraction(0)
    rate = Fraction(1)

    for delta_ns, ten_thousandths in changes:
        tree.run_to(tree.now_ns + delta_ns)
        exact += delta_ns * rate
        rate = Fraction(ten_thousandths, 10_000)
        clock.rate = rate

    assert clock.time_ns == exact // 1


def test_that_cancelled_timers_do_not_pile_up(world: World) -> None:
    keep = [world.root.set_timeout(100 + i, world.note) for i in range(100)]
    for i in range(10_000):
        world.root.clear(world.root.set_timeout(1 + i % 50, world.note))

    assert world.root.queue.stored() <= 2 * len(keep) + 64
    assert world.root.pending() == keep


def test_that_timers_that_are_cleared_long_after_they_were_set_do_not_pile_up(
    world: World,
) -> None:
    timers = [world.root.set_timeout(1 + i % 50, world.note) for i in range(5_000)]
    keep = timers[::100]
    for timer in timers:
        if timer not in keep:
            world.root.clear(timer)

    assert world.root.queue.stored() <= 2 * len(keep) + 64
    assert sorted(world.root.pending(), key=timers.index) == keep


@pytest.mark.parametrize("done", [0, 1, 150, 250])
def test_that_clearing_most_timers_in_the_middle_of_their_calls_keeps_the_others(
    world: World, done: int
) -> None:
    span_ns = (1 << BUCKET_SHIFT) // 150
    timers = [world.root.set_timeout_ns(i * span_ns, world.note, i) for i in range(300)]
    world.source.advance_ns(done * span_ns)
    assert len(world.calls) == done + 1

    for i, timer in enumerate(timers):
        if i % 10:
            world.root.clear(timer)
    world.calls.clear()
    kept = [i for i in range(done + 1, 300) if i % 10 == 0]
    assert world.root.pending() == [timers[i] for i in kept]
    world.source.advance(1)

    assert [what for what, _ in world.calls] == kept


def test_that_cancelled_timers_wait_for_their_time_until_they_are_half_of_all(world: World) -> None:
    timers = [world.root.set_timeout(1 + i, world.note) for i in range(150)]
    stored = []
    for timer in timers[:75]:
        world.root.clear(timer)
        stored.append(world.root.queue.stored())

    assert stored == [150] * 74 + [75]


def test_that_equal_due_times_keep_their_order_whichever_timers_were_set_between(
    world: World,
) -> None:
    root, bucket_ns = world.root, 1 << BUCKET_SHIFT
    begin_ns = 10 * bucket_ns
    for number in range(66):
        root.set_timeout_ns(begin_ns, world.note, number)
    assert world.tree.next_wake_ns() == begin_ns  # Sorts the timers there are.
    root.set_timeout_ns(begin_ns, world.note, 66)
    for bucket in (5, 4):
        root.set_timeout_ns(bucket * bucket_ns, print)

    world.source.advance_ns(2 * begin_ns)

    assert [what for what, _ in world.calls] == list(range(67))


def test_that_ever_earlier_timers_below_leave_no_wakes_behind(world: World) -> None:
    clock = world.root.child("a")
    for i in range(5_000, 0, -1):
        clock.set_timeout(i, world.note)

    assert world.root.queue.stored() <= 200


def test_that_nothing_is_held_of_timers_that_have_fired(world: World) -> None:
    for _ in range(3):
        for i in range(100):
            world.root.set_timeout_ns(i, world.note)
        world.tree.run_to(world.tree.now_ns + SECOND)

    assert world.root.queue.stored() == 0


@pytest.mark.parametrize("buckets_before", [0, 1, 2, 9])
def test_that_a_timer_set_among_others_of_a_bucket_is_called_between_them(
    world: World, buckets_before: int
) -> None:
    span_ns = 1 << BUCKET_SHIFT
    begin_ns, root = 20 * span_ns, world.root
    for bucket in range(buckets_before):
        root.set_timeout_ns(bucket * span_ns, lambda: None)
    between = partial(root.set_timeout_ns, span_ns // 4, world.note, "between")
    root.set_timeout_ns(begin_ns, lambda: [between()][1:])
    root.set_timeout_ns(begin_ns + span_ns // 2, world.note, "last")

    world.source.advance_ns(2 * begin_ns)

    assert [what for what, _ in world.calls] == ["between", "last"]


def test_that_pausing_over_and_over_leaves_no_wakes_behind(world: World) -> None:
    clock = world.root.child("a")
    clock.set_timeout(1000, world.note)
    for _ in range(5_000):
        clock.pause()
        clock.resume()

    assert world.root.queue.stored() <= 200


def test_that_a_very_deep_tree_works(world: World) -> None:
    clock = world.root
    for i in range(3_000):
        clock = clock.child(str(i))
    clock.set_timeout(1, world.note, "deep")

    world.source.advance(1)

    assert world.calls == [("deep", 1.0)]


def test_that_walking_is_depth_first(world: World) -> None:
    a = world.root.child("a")
    a.child("a1").child("a11")
    a.child("a2")
    world.root.child("b")

    assert [clock.name for clock in world.root.walk()] == ["root", "a", "a1", "a11", "a2", "b"]
    assert [clock.name for clock in a.children[0].children[0].ancestors()] == ["a1", "a", "root"]


def test_that_texts_for_people_name_what_matters(world: World) -> None:
    clock = world.root.child("game", rate="1/2")
    timer = clock.set_interval(0.5, world.note, name="spawn")
    clock.pause()

    assert repr(clock) == "<Clock 2 'game' at 0.000000 s, rate 1/2, paused>"
    assert repr(timer) == "<Interval 1 'spawn' due 00:00.500, every 500 ms>"
    assert "note" in world.root.set_timeout(9, world.note).label
    clock.clear(timer)
    assert repr(timer).endswith(", every 500 ms, cleared>")
    clock.remove()
    assert repr(clock) == "<Clock 2 'game' at 0.000000 s, rate 1/2, removed>"
    once = world.root.set_timeout(1, world.note, "once", name="once")
    world.source.advance(1)
    assert repr(once).endswith(" 'once' due 00:01.000, fired>")


def test_that_nothing_can_be_done_to_a_removed_clock(world: World) -> None:
    clock = world.root.child("a")
    clock.remove()

    assert not clock.pause()
    assert not clock.resume()
    clock.rate = 2

    assert clock.rate == 1
    assert not clock.is_paused


class _PairOfTwo(tuple[int, int]):
    """A tuple subclass as an argument."""

    __slots__ = ()


@pytest.mark.parametrize(
    "args",
    [
        (),
        (None,),
        (1,),
        ("text",),
        ((),),
        ((1, 2),),
        (_PairOfTwo((1, 2)),),
        ([],),
        (1, 2),
        (None, None),
    ],
)
@pytest.mark.parametrize("name", ["", "named"])
def test_that_a_callback_is_given_exactly_the_arguments_it_was_set_with(
    args: tuple[object, ...], name: str
) -> None:
    tree, source = ClockTree(), ManualTimeSource()
    Transport(tree, source).run()
    given: list[tuple[object, ...]] = []

    def call(*args: object) -> None:
        given.append(args)

    timeout = tree.root.set_timeout(1, call, *args, name=name)
    interval = tree.root.set_interval(1, call, *args, name=name)
    out_of_turn = tree.root.set_timeout(2, call, *args, name=name)
    is_fired = tree.root.fire_now(out_of_turn)
    source.advance(1)

    assert given == [args, args, args]
    assert [timeout.fired, interval.fired, out_of_turn.fired, is_fired] == [1, 1, 1, True]


def test_that_an_async_function_is_refused_and_nothing_is_left_of_it() -> None:
    tree = ClockTree(EventLog())

    async def wait() -> None: ...

    with pytest.raises(TypeError, match="nothing here awaits the async function"):
        tree.root.set_timeout(1, wait)
    with pytest.raises(TypeError, match=r"wait.*plain function"):
        tree.root.set_interval(1, wait)

    assert tree.root.pending() == []


def test_that_a_callback_that_raises_keyboard_interrupt_has_failed(world: World) -> None:
    failures: list[CallbackFailure] = []
    world.tree.on_failure = failures.append

    def interrupt() -> None:
        raise KeyboardInterrupt

    world.root.set_timeout(1, interrupt)
    world.root.set_timeout(2, world.note, "later")
    world.source.advance(3)

    assert [type(failure.error) for failure in failures] == [KeyboardInterrupt]
    assert [what for what, _ in world.calls] == ["later"]


def test_that_the_user_interrupts_the_program_within_a_callback(world: World) -> None:
    world.root.set_timeout(1, lambda: signal.raise_signal(signal.SIGINT))

    with pytest.raises(KeyboardInterrupt):
        world.source.advance(3)


def test_that_the_effective_rate_is_exact_thousands_of_clocks_deep(world: World) -> None:
    clock = world.root.child("slow", "1/3")
    for _ in range(2_000):
        clock = clock.child("below")
    fast = clock.child("fast", 7)

    assert fast.effective_rate == Fraction(7, 3)
    assert clock.child("still", 0).effective_rate == 0


def test_that_callbacks_of_the_same_code_keep_their_own_labels() -> None:
    log = EventLog()
    tree = ClockTree(log)

    def make(label: str) -> Callable[[], None]:
        def call() -> None: ...

        call.__qualname__ = label
        return call

    for label in ("hums", "ticks", "hums"):
        tree.root.set_timeout(1, make(label))
        tree.root.set_interval(1, make(f"{label} again"), name="" if label == "ticks" else label)

    added = [log.strings[event[4]] for event in log.read(0).events if event[1] == TIMER_ADDED]
    assert added == ["hums", "hums", "ticks", "ticks again", "hums", "hums"]


def test_that_a_callback_that_is_refused_once_is_refused_again() -> None:
    clock = ClockTree(EventLog()).root

    async def waits() -> None: ...

    for _ in range(2):
        with pytest.raises(TypeError, match="nothing here awaits the async function"):
            clock.set_timeout(1, waits)


def test_that_a_listener_that_begins_during_a_call_is_told_of_what_fires_after_it(
    world: World,
) -> None:
    events: list[RawEvent] = []
    world.root.set_timeout(0.01, lambda: world.tree.record_to(events.append))
    beside = world.root.set_timeout(0.01, world.note, "beside", name="beside")
    after = world.root.set_timeout(0.02, world.note, "after", name="after")

    world.source.advance(1)

    fired = [event[2] for event in events if event[1] == TIMER_FIRED]
    assert fired == [beside.id, after.id]


@pytest.mark.parametrize("is_interval", [False, True])
def test_that_a_timer_knows_how_much_of_its_time_is_left(
    world: World, *, is_interval: bool
) -> None:
    clock = world.root.child("half", "1/2")
    set_timer = clock.set_interval if is_interval else clock.set_timeout
    world.source.advance(2)
    timer = set_timer(5, world.note)
    assert (timer.due, timer.due_ns, timer.remaining_ns) == (6, 6 * SECOND, 5 * SECOND)

    world.source.advance(4)
    assert (timer.remaining_ns, timer.fired) == (3 * SECOND, 0)
    world.tree.jump_to(14 * SECOND)
    assert timer.remaining_ns == -SECOND
    world.tree.run_to(14 * SECOND)

    assert timer.fired == 1
    assert timer.is_pending == is_interval
    assert timer.remaining_ns == (4 * SECOND if is_interval else -SECOND)
