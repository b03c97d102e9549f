"""A program's clocks: exact, and the same as what the inspector folds from their events."""

from __future__ import annotations

from heapq import heappop, heappush
from time import monotonic
from typing import TYPE_CHECKING

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from inspector.events.timeline import Timeline
from inspector.probe.clocks import FAR_NS, Clock, Clocks, InTurn, whole_ns
from inspector.probe.kinds import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    CLOCK_PAUSED,
    CLOCK_RATE,
    CLOCK_RESUMED,
    MAX_RATE,
    NEVER,
)
from inspector.probe.kinds import RATE_DENOMINATOR as D

if TYPE_CHECKING:
    from inspector.vocabulary import RawEvent


class World:
    """Clocks in manual time, and a timeline of the inspector that folds their events."""

    def __init__(self) -> None:
        self.now_ns = 10**15
        self.strings = [""]
        self.events: list[RawEvent] = []
        self.clocks = Clocks(lambda: self.now_ns)
        self.clocks.text = self.text
        self.top = self.clocks.add("program", None)
        self.attach()

    def text(self, text: str) -> int:
        self.strings.append(text)
        return len(self.strings) - 1

    def attach(self) -> None:
        """Begin a new timeline from the description of the clocks."""
        self.timeline = Timeline(self.strings)
        self.timeline.apply_all(self.clocks.described())
        self.clocks.emit = self.events.append

    def fold(self) -> None:
        self.timeline.apply_all(self.events)
        self.events.clear()

    def folded_ns(self, clock: Clock) -> int:
        return self.timeline.local_ns(clock.number, self.clocks.present_ns())


class ProbeClocks(RuleBasedStateMachine):
    """Random changes at random instants: fold and clock agree to the nanosecond."""

    @initialize()
    def begin(self) -> None:
        self.world = World()
        self.children = [self.world.top]
        self.latest: dict[int, int] = {}

    def clock(self, place: int) -> Clock:
        return self.children[place % len(self.children)]

    @rule(nanoseconds=st.integers(0, 10**12))
    def wait(self, nanoseconds: int) -> None:
        self.world.now_ns += nanoseconds
        self.world.clocks.settle(self.world.top)

    @rule(place=st.integers(0, 9))
    def add(self, place: int) -> None:
        if len(self.children) < 8:
            self.children.append(self.world.clocks.add("below", self.clock(place)))

    @rule(place=st.integers(0, 9), rate_n=st.integers(0, 8 * D) | st.just(MAX_RATE * D))
    def rate(self, place: int, rate_n: int) -> None:
        self.world.clocks.set_rate(self.clock(place), rate_n, 7)

    @rule(place=st.integers(0, 9))
    def pause(self, place: int) -> None:
        self.world.clocks.pause(self.clock(place), 8)

    @rule(place=st.integers(0, 9))
    def resume(self, place: int) -> None:
        self.world.clocks.resume(self.clock(place), 9)

    @rule(place=st.integers(0, 9), above=st.integers(0, 9))
    def move(self, place: int, above: int) -> None:
        clock, parent = self.clock(place), self.clock(above)
        if clock.parent is not None and parent not in self.world.clocks.branch(clock):
            self.world.clocks.move(clock, parent)
            assert clock.parent is parent

    @rule(nanoseconds=st.integers(1, 10**9))
    def step(self, nanoseconds: int) -> None:
        top = self.world.top
        self.world.clocks.step_to(top, top.local_ns() + nanoseconds)

    @rule()
    def release(self) -> None:
        self.world.clocks.release()
        assert all(clock.is_plain for clock in self.children)

    @rule()
    def attach_again(self) -> None:
        self.world.fold()
        self.world.attach()

    @invariant()
    def agrees_with_the_fold(self) -> None:
        self.world.fold()
        for clock in self.children:
            local_ns = clock.local_ns()
            assert self.world.folded_ns(clock) == local_ns
            assert local_ns >= self.latest.get(clock.number, 0), "time ran backwards"
            self.latest[clock.number] = local_ns

    @invariant()
    def finds_the_first_instant(self) -> None:
        clock = self.children[-1]
        wanted_ns = clock.local_ns() + 1_000
        at_ns = clock.raw_at(wanted_ns)
        assert (at_ns is None) == clock.is_held
        if at_ns is not None:
            assert clock.local_at(at_ns) >= wanted_ns > clock.local_at(at_ns - 1)


TestProbeClocks = ProbeClocks.TestCase


def test_that_a_step_ends_at_its_instant_however_late_it_is_settled() -> None:
    world = World()
    below = world.clocks.add("loop", world.top)
    world.now_ns += 5_000
    world.clocks.pause(world.top)

    world.clocks.step_to(world.top, 7_000)
    world.now_ns += 10**9
    before_ns = below.local_ns()
    ended = world.clocks.settle(world.top)

    assert ended
    assert before_ns == below.local_ns() == 7_000
    assert world.top.is_paused
    world.fold()
    assert world.timeline.at_ns == 10**15 + 7_000


def test_that_a_pause_in_the_middle_of_a_step_ends_it() -> None:
    world = World()
    world.clocks.pause(world.top)
    world.clocks.step_to(world.top, 10**6)
    world.now_ns += 400

    world.clocks.pause(world.top)
    world.now_ns += 10**9

    assert world.clocks.step_ends_ns is None
    assert world.top.local_ns() == 400


def test_that_a_step_follows_a_change_of_rate() -> None:
    world = World()
    world.clocks.pause(world.top)
    world.clocks.step_to(world.top, 1_000)
    world.now_ns += 100

    world.clocks.set_rate(world.top, D // 2)

    assert world.clocks.step_ends_ns == 10**15 + 100 + 2 * 900


def test_that_it_is_said_whether_a_clock_has_changed() -> None:
    world = World()
    clocks, top = world.clocks, world.top

    assert [clocks.pause(top), clocks.pause(top)] == [True, False]
    assert [clocks.set_rate(top, 2 * D), clocks.set_rate(top, 2 * D)] == [True, False]
    assert [clocks.resume(top), clocks.resume(top)] == [True, False]
    assert top.rate_n == 2 * D


def test_that_a_removed_clock_takes_along_what_is_below() -> None:
    world = World()
    loop = world.clocks.add("loop", world.top)
    world.clocks.add("below", loop)

    world.clocks.remove(loop)
    told = len(world.events)
    world.clocks.remove(loop)

    assert len(world.events) == told
    assert world.top.children == []
    world.fold()
    assert list(world.clocks.by_number) == [world.top.number]
    assert list(world.timeline.clocks) == [world.top.number]


def test_that_a_due_time_becomes_a_wait() -> None:
    world = World()
    clock = world.clocks.add("loop", world.top)
    world.clocks.set_rate(clock, D // 4)

    assert clock.real_ns_until(250) == 1_000
    assert clock.real_ns_until(0) == 0
    world.clocks.pause(world.top)
    assert clock.real_ns_until(250) is None
    assert clock.real_ns_until(0) == 0


def test_that_the_time_that_a_clock_stands_still_is_known_whoever_stops_it() -> None:
    world = World()
    child = world.clocks.add("loop", world.top)
    began_ns = world.now_ns

    def after(ns: int) -> int:
        world.now_ns += ns
        return child.stood_ns(world.now_ns)

    assert after(10) == 0
    world.clocks.pause(world.top)
    assert after(5) == 5
    world.clocks.pause(child)
    world.clocks.resume(world.top)
    assert after(5) == 10
    late = world.clocks.add("later", child)
    world.clocks.resume(child)
    assert after(100) == 10
    world.clocks.set_rate(world.top, 0)
    assert after(1) == 11
    assert late.stood_ns(world.now_ns) == 1
    assert world.now_ns - began_ns == 121


def test_that_a_clock_stands_still_from_the_end_of_a_step_on() -> None:
    world = World()
    child = world.clocks.add("loop", world.top)
    world.clocks.pause(world.top)
    world.clocks.step_to(world.top, 1_000)
    world.now_ns += 1_000
    stands = [child.stands_still(world.now_ns + ns) for ns in (0, 1)]
    assert stands == [False, True]

    stood_ns = []
    for _ in range(2):
        world.now_ns += 300
        stood_ns.append(child.stood_ns(world.now_ns))
        world.clocks.settle(world.top)
    world.clocks.resume(world.top)

    world.now_ns += 5
    assert stood_ns == [300, 600]
    assert child.stood_ns(world.now_ns) == 600


def test_that_no_wait_is_longer_than_libraries_take() -> None:
    world = World()
    world.clocks.set_rate(world.top, 1)

    # A day, which is less than 2**31 ms.
    assert world.top.real_ns_until(NEVER) == 86_400 * 10**9


@pytest.mark.parametrize("seconds", [float("inf"), float("nan"), 1e300])
def test_that_endless_seconds_are_as_many_as_can_be_told(seconds: float) -> None:
    assert whole_ns(seconds) == FAR_NS
    assert whole_ns(-1e300) == -FAR_NS
    assert whole_ns(0.1) == 100_000_000


@pytest.mark.parametrize("seconds", [1.5, -1.5, 2e9 - 1, 1 - 2e9, 2e9, -2e9, 2.2e9, -2.2e9])
def test_that_seconds_of_lifetimes_are_exact(seconds: float) -> None:
    assert whole_ns(seconds) == seconds * 10**9


def test_that_equal_due_times_are_in_the_order_of_their_making() -> None:
    first, second, later = InTurn(1.0), InTurn(1.0), InTurn(2.0)
    heap: list[float] = []
    for each in (later, second, first):
        heappush(heap, each)
    found = [heappop(heap) for _ in range(3)]

    assert all(each is other for each, other in zip(found, (first, second, later), strict=True))
    assert (first < second, second < first, first < first) == (True, False, False)  # noqa: PLR0124
    assert (second > first, first > second, first > first) == (True, False, False)  # noqa: PLR0124
    assert (later > second, later < second) == (True, False)
    # To other numbers it is one.
    assert (first < 1.0, first > 1.0, first < 1.5, first > 0.5) == (False, False, True, True)
    assert first + 0.0 is first
    assert (first + 0.5, type(first + 0.5)) == (1.5, float)


def test_that_a_clock_of_the_machine_is_read_as_the_machines_where_that_is_the_same() -> None:
    clocks = Clocks()
    clock = clocks.add("program", None)
    shift_ns = clock._shift
    assert shift_ns is not None
    assert clock.reader_s(-shift_ns) is monotonic
    assert clock.reader_s(-shift_ns + 10**9) is not monotonic
    assert clock.reader_s(10**9)() == pytest.approx(1 + clock.now_s, abs=60)
    clocks.set_rate(clock, D // 2)
    assert clock.reader_s(-shift_ns) is not monotonic
    # A clock in another time than the machine's never is.
    world = World()
    world.now_ns += 2 * 10**9
    assert world.top.now_s == 2.0
    assert world.top.reader_s(10**15)() == 10**6 + 2


def test_that_a_step_begins_and_ends_by_its_command() -> None:
    world = World()
    world.clocks.pause(world.top, 3)
    assert world.clocks.step_to(world.top, world.top.local_ns() + 50, 9)
    world.now_ns += 80
    assert world.clocks.settle(world.top)

    causes = [(kind, a) for _, kind, _, a, _ in world.events]
    assert causes == [(CLOCK_PAUSED, 3), (CLOCK_RESUMED, 9), (CLOCK_PAUSED, 9)]


@pytest.mark.parametrize("rate_n", [D, 0])
def test_that_a_jump_to_the_past_moves_nothing(rate_n: int) -> None:
    world = World()
    world.now_ns += 100
    world.clocks.set_rate(world.top, rate_n)
    world.clocks.pause(world.top)
    skipped: list[int] = []
    world.clocks.jump(world.top, 40, skipped.append)
    assert (skipped, world.top.local_ns()) == ([0], 100)

    def skip(passed_ns: int) -> None:
        world.now_ns += passed_ns

    world.clocks.jump(world.top, 150, skip)
    world.fold()
    expected_ns = 150 if rate_n else 100
    assert world.top.local_ns() == world.folded_ns(world.top) == expected_ns


def test_that_a_clock_may_begin_with_a_time_rate_and_pause_of_the_programs() -> None:
    world = World()
    world.now_ns += 100
    for is_paused in (False, True):
        for parent in (None, world.top):
            clock = world.clocks.add("game", parent)
            world.clocks.anchor(clock, 7_000, 2 * D, is_paused=is_paused)
            world.attach()
            assert clock.local_ns() == world.folded_ns(clock) == 7_000
            world.now_ns += 10
            expected_ns = 7_000 if is_paused else 7_020
            assert clock.local_ns() == world.folded_ns(clock) == expected_ns
            assert (clock.is_held, clock.is_plain) == (is_paused, False)


def test_that_a_clock_that_begins_while_somebody_looks_is_told_as_it_begins() -> None:
    world = World()
    world.now_ns += 100
    clock = world.clocks.add("game", world.top)
    world.clocks.anchor(clock, 70, 2 * D, is_paused=True)
    added, anchored = world.events[:2], world.events[2:]

    number, name = clock.number, world.strings.index("game")
    assert [event[1:] for event in added] == [
        (CLOCK_ADDED, number, world.top.number, name),
        (CLOCK_ANCHORED, number, 0, D),
    ]
    assert [event[1:] for event in anchored] == [
        (CLOCK_ADDED, number, world.top.number, name + 1),
        (CLOCK_ANCHORED, number, 30, D),
        (CLOCK_RATE, number, 2 * D, 0),
        (CLOCK_PAUSED, number, 0, 0),
    ]


def test_that_only_a_paused_clock_of_the_top_that_would_run_is_stepped() -> None:
    world = World()
    clocks, top = world.clocks, world.top
    below = clocks.add("below", top)
    clocks.pause(below)
    stepped = [clocks.step_to(top, 5), clocks.step_to(below, 5)]
    clocks.pause(top)
    clocks.set_rate(top, 0)
    stepped.append(clocks.step_to(top, 5))
    clocks.set_rate(top, D)
    assert clocks.step_ends_ns is None

    assert [*stepped, clocks.step_to(top, 5)] == [False, False, False, True]
    assert clocks.step_ends_ns == world.now_ns + 5


@pytest.mark.parametrize("way", ["end_step", "release"])
def test_that_a_clock_whose_step_is_forgotten_runs_on_as_the_machine(way: str) -> None:
    world = World()
    clocks, top = world.clocks, world.top
    below = clocks.add("below", top)
    clocks.pause(top)
    clocks.step_to(top, 50)
    plain = [(top.is_plain, below.is_plain)]
    getattr(clocks, way)()
    plain.append((top.is_plain, below.is_plain))
    world.now_ns += 80

    assert plain == [(False, False), (True, True)]
    assert (top.local_ns(), clocks.step_ends_ns) == (80, None)
    clocks.end_step()
    assert below.local_ns() == 80


def test_that_a_jump_is_no_time_in_which_a_clock_stood_still() -> None:
    world = World()

    def skip(passed_ns: int) -> None:
        world.now_ns += passed_ns

    below = world.clocks.add("below", world.top)
    world.clocks.pause(world.top, 6)
    world.now_ns += 100
    world.events.clear()
    world.clocks.jump(world.top, 50, skip)
    world.now_ns += 7

    assert [clock.stood_ns(world.now_ns) for clock in (world.top, below)] == [107, 107]
    assert [(at - 10**15, *event) for at, *event in world.events] == [
        (100, CLOCK_RESUMED, world.top.number, 6, 0),
        (150, CLOCK_PAUSED, world.top.number, 6, 0),
    ]


def test_that_a_change_is_announced_once_before_the_first_and_told_after_each() -> None:
    world = World()
    below = world.clocks.add("below", world.top)
    announced: list[str] = []
    told: list[str] = []
    below.before_first_change = lambda: announced.append("below")
    world.clocks.changed = lambda clock: told.append(clock.name)
    world.clocks.pause(world.top)
    world.clocks.set_rate(below, 2 * D, 4)

    assert announced == ["below"]
    assert told == ["program", "below"]
    assert world.events[-1][1:] == (CLOCK_RATE, below.number, 2 * D, 4)


def test_that_clocks_are_numbered_from_one_and_say_what_they_are() -> None:
    clocks = Clocks(lambda: 10**15)
    top = clocks.add("program", None)
    below = clocks.add("below", top)

    assert [top.number, below.number] == [1, 2]
    assert repr(below) == "<Clock 2 'below' at 0 ns>"
    assert (top.cause, top.thread, top.threads, top.is_removed) == (0, "", (0, 0), False)
    assert list(clocks.branch(top)) == [top, below]
