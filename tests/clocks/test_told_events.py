"""What a tree tells of its changes, value for value."""

from __future__ import annotations

from fractions import Fraction

import pytest

from inspector.clocks import CallbackFailure, ClockTree
from inspector.timebase import NS_PER_SECOND
from inspector.vocabulary import (
    CALL_ENDED,
    CALLBACK_FAILED,
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    CLOCK_MOVED,
    CLOCK_PAUSED,
    CLOCK_RATE,
    CLOCK_REMOVED,
    CLOCK_RESUMED,
    MEMBER_ADDED,
    MEMBER_MOVED,
    MEMBER_ORIGIN,
    MEMBER_REMOVED,
    MEMBER_SET,
    NEVER,
    RATE_DENOMINATOR,
    STATE_ENTERED,
    TICKS_MISSED,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
    TRANSITION_REFUSED,
    Field,
    MemberKind,
    RawEvent,
    TimerKind,
)


class _Told:
    """A sink that keeps events, and numbers texts from 100 on."""

    def __init__(self) -> None:
        self.events: list[RawEvent] = []
        self.texts: list[str] = []
        self.append = self.events.append

    def intern(self, text: str) -> int:
        if text not in self.texts:
            self.texts.append(text)
        return 100 + self.texts.index(text)

    def taken(self) -> list[RawEvent]:
        events = self.events[:]
        self.events.clear()
        return events


def test_that_changes_of_clocks_are_told_in_full() -> None:
    told = _Told()
    tree = ClockTree(told)
    assert told.taken() == [
        (0, CLOCK_ADDED, 1, 0, told.intern("root")),
        (0, CLOCK_ANCHORED, 1, 0, RATE_DENOMINATOR),
    ]
    tree.run_to(7)
    game = tree.root.child("game", "1/2")
    ui = tree.root.child("ui", epoch=0)
    ui.move_to(game)
    game.set_rate(2, cause=3)
    game.pause(cause=4)
    game.resume(cause=5)
    game.pause()
    game.remove()

    assert told.taken() == [
        (7, CLOCK_ADDED, 2, 1, told.intern("game")),
        (7, CLOCK_ANCHORED, 2, 7, RATE_DENOMINATOR // 2),
        (7, CLOCK_ADDED, 3, 1, told.intern("ui")),
        (7, CLOCK_ANCHORED, 3, 0, RATE_DENOMINATOR),
        (7, CLOCK_MOVED, 3, 2, 0),
        (7, CLOCK_RATE, 2, 2 * RATE_DENOMINATOR, 3),
        (7, CLOCK_PAUSED, 2, 4, 0),
        (7, CLOCK_RESUMED, 2, 5, 0),
        (7, CLOCK_PAUSED, 2, 0, 0),
        (7, CLOCK_REMOVED, 2, 0, 0),
    ]


def test_that_changes_of_timers_are_told_in_full() -> None:
    told = _Told()
    tree = ClockTree(told)
    tree.keeps_call_sites = False
    root = tree.root
    told.taken()
    root.set_timeout_ns(2, print, "", name="once")
    skips = root.set_interval_ns(3, list, missed="skip", name="skips")
    gone = root.set_timeout_ns(9, print, name="gone")
    root.clear(gone, 6)
    tree.jump_to(10)
    tree.run_to(10)
    root.fire_now(skips)

    root.clear(root.set_unlisted_timeout_ns(1, list))
    still = root.child("still", 0)
    still.fire_now(still.set_timeout_ns(5, list, name="out of turn"))

    once, interval = 1, int(TimerKind.INTERVAL_SKIP)
    assert told.taken() == [
        (0, TIMER_ADDED, once, 1, told.intern("once")),
        (0, TIMER_ORIGIN, once, 0, TimerKind.TIMEOUT),
        (0, TIMER_ARMED, once, 2, 0),
        (0, TIMER_ADDED, 2, 1, told.intern("skips")),
        (0, TIMER_ORIGIN, 2, 0, interval),
        (0, TIMER_ARMED, 2, 3, 3),
        (0, TIMER_ADDED, 3, 1, told.intern("gone")),
        (0, TIMER_ORIGIN, 3, 0, TimerKind.TIMEOUT),
        (0, TIMER_ARMED, 3, 9, 0),
        (0, TIMER_CLEARED, 3, 0, 6),
        (10, TIMER_FIRED, once, 8, NEVER),
        (10, TICKS_MISSED, 2, 2, interval),
        (10, TIMER_FIRED, 2, 7, 12),
        (10, TIMER_FIRED, 2, -2, 12),
        (10, CLOCK_ADDED, 2, 1, told.intern("still")),
        (10, CLOCK_ANCHORED, 2, 10, 0),
        (10, TIMER_ADDED, 6, 2, told.intern("out of turn")),
        (10, TIMER_ORIGIN, 6, 0, TimerKind.TIMEOUT),
        (10, TIMER_ARMED, 6, 5, 0),
        (10, TIMER_FIRED, 6, 0, NEVER),
    ]


def test_that_a_call_out_of_turn_that_fails_is_told_with_its_timer() -> None:
    told = _Told()
    tree = ClockTree(told)
    failures: list[CallbackFailure] = []
    tree.on_failure = failures.append
    timer = tree.root.set_timeout_ns(5, lambda: 1 / 0)
    named = tree.root.set_interval_ns(5, lambda: 1 / 0, name="named")

    tree.root.fire_now(timer)
    tree.root.fire_now(named)

    where = "test_that_a_call_out_of_turn_that_fails_is_told_with_its_timer.lambda"
    assert [(each.clock_id, each.timer_id, each.label) for each in failures] == [
        (1, timer.id, where),
        (1, named.id, "named"),
    ]
    failed = [event for event in told.taken() if event[1] == CALLBACK_FAILED]
    assert [event[:4] for event in failed] == [
        (0, CALLBACK_FAILED, timer.id, told.intern(where)),
        (0, CALLBACK_FAILED, named.id, told.intern("named")),
    ]


def test_that_nothing_is_told_of_a_timer_that_is_refused() -> None:
    told = _Told()
    tree = ClockTree(told)
    gone = tree.root.child("gone")
    gone.remove()
    told.taken()

    for set_timer in (gone.set_timeout_ns, gone.set_interval_ns, gone.set_unlisted_timeout_ns):
        with pytest.raises(RuntimeError, match="clock 'gone' was removed from its tree"):
            set_timer(1, list)

    assert told.taken() == []


def test_that_changes_of_members_are_told_in_full() -> None:
    told = _Told()
    tree = ClockTree(told)
    members, root = tree.members, tree.root
    told.taken()
    owner = object()
    above = members.add(owner, MemberKind.SCHEDULER, "above", root)
    below = members.add(owner, MemberKind.TARGET, "below", root, above)
    aside = members.add(owner, MemberKind.TARGET, "aside", root)
    members.introduce(owner, below)
    assert (above, below, aside, members.number_of(owner), members.number_of(root)) == (
        *(1, 2, 3),
        *(2, 0),
    )
    assert members.find(below) is owner
    members.set_paused(below, paused=True)
    members.set_paused(below, paused=False)
    members.cause = 7
    members.set_paused(below, paused=True)
    members.set_paused(below, paused=False)
    members.set_text(below, Field.STATE, "on")
    members.move(aside, above)
    members.remove(above)

    assert told.taken() == [
        (0, MEMBER_ADDED, 1, 0, told.intern("above")),
        (0, MEMBER_ORIGIN, 1, 1, MemberKind.SCHEDULER),
        (0, MEMBER_ADDED, 2, 1, told.intern("below")),
        (0, MEMBER_ORIGIN, 2, 1, MemberKind.TARGET),
        (0, MEMBER_ADDED, 3, 0, told.intern("aside")),
        (0, MEMBER_ORIGIN, 3, 1, MemberKind.TARGET),
        (0, MEMBER_SET, 2, Field.PAUSED, 1),
        (0, MEMBER_SET, 2, Field.PAUSED, 0),
        (0, MEMBER_SET, 2, Field.PAUSED, 8),
        (0, MEMBER_SET, 2, Field.PAUSED, 0),
        (0, MEMBER_SET, 2, Field.STATE, told.intern("on")),
        (0, MEMBER_MOVED, 3, 1, 0),
        (0, MEMBER_REMOVED, 1, 0, 0),
    ]
    assert [members.find(number) for number in (above, below, aside)] == [None] * 3
    assert members.number_of(owner) == 0


def test_that_nothing_is_told_of_no_member_or_without_a_recording() -> None:
    told = _Told()
    tree = ClockTree(told)
    members = tree.members
    number, above = (members.add(told, MemberKind.TARGET, name, tree.root) for name in "ab")
    told.taken()

    def report_all(of: int) -> None:
        members.set(of, Field.PRIORITY, 1)
        members.set_text(of, Field.STATE, "on")
        members.call_ended(of, 0)
        members.state_entered(of, "on", "switch")
        members.transition_refused(of, "switch", "busy")
        members.move(of, above)

    report_all(0)
    tree.record_to(None)
    report_all(number)
    members.remove(number)
    assert members.add(told, MemberKind.TARGET, "c", tree.root) == 0
    assert told.taken() == []

    tree.record_to(told.append)
    report_all(above)
    assert [event[1] for event in told.taken()] == [
        *(MEMBER_SET, MEMBER_SET, CALL_ENDED, STATE_ENTERED, TRANSITION_REFUSED, MEMBER_MOVED),
    ]


def test_that_a_member_goes_with_what_it_hangs_under_now() -> None:
    tree = ClockTree(_Told())
    members, game = tree.members, tree.root.child("game")
    thing = object()
    old, new, of_root = (
        members.add(thing, MemberKind.SCHEDULER, name, clock)
        for name, clock in (("old", game), ("new", game), ("of root", tree.root))
    )
    moved = members.add(thing, MemberKind.TARGET, "moved", game, old)
    members.move(moved, new)
    members.move(0, new)
    members.move(of_root, 0)

    members.remove(old)
    members.remove(old)
    assert [members.find(number) for number in (old, new, moved)] == [None, thing, thing]

    members.introduce(thing, 0)
    assert members.number_of(thing) == 0
    game.remove()
    assert [members.find(number) for number in (new, moved, of_root)] == [None, None, thing]
    assert members.add(thing, MemberKind.TARGET, "late", game) == 0


def test_that_a_timer_knows_the_line_that_set_it() -> None:
    tree = ClockTree(_Told())
    timers = [
        tree.root.set_interval_ns(1, list),
        tree.root.set_interval(1, list),
        tree.root.set_timeout_ns(1, list),
        tree.root.set_timeout(1, list),
    ]

    assert {timer.call_site.rpartition(" in ")[2] for timer in timers} == {
        "test_that_a_timer_knows_the_line_that_set_it"
    }


def test_that_lateness_is_told_by_the_reading_of_the_source() -> None:
    told = _Told()
    tree = ClockTree(told)
    shifted = tree.root.child("shifted", epoch=Fraction(-100, NS_PER_SECOND))
    slow = tree.root.child("slow", Fraction(1, 2), 0)
    for clock in (tree.root, shifted, slow):
        clock.set_timeout_ns(4, list)
        clock.set_timeout_ns(4, list, "")
        clock.set_interval_ns(4, list)
    told.taken()

    tree.run_to(9, 30)

    told_of = [(at_ns, timer, late_ns) for at_ns, _, timer, late_ns, _ in told.taken()]
    assert told_of == [
        *[(4, timer, 26) for timer in range(1, 7)],
        *[(8, timer, 22) for timer in (7, 8, 9, 3, 6)],
    ]


def test_that_missed_ticks_are_those_of_the_time_of_their_clock() -> None:
    told = _Told()
    tree = ClockTree(told)
    half = tree.root.child("half", Fraction(1, 2), 0)
    timers = [half.set_interval_ns(10, list, missed=each) for each in ("skip", "delay", "burst")]
    told.taken()

    tree.jump_to(104)
    tree.run_to(104)

    assert half.time_ns == 52
    assert [each.due_ns for each in timers] == [60, 62, 60]
    assert [each.fired for each in timers] == [1, 1, 5]
    assert [event for event in told.taken() if event[1] == TICKS_MISSED] == [
        (104, TICKS_MISSED, 1, 4, TimerKind.INTERVAL_SKIP),
        (104, TICKS_MISSED, 2, 4, TimerKind.INTERVAL_DELAY),
    ]


def test_that_nothing_waits_above_the_root() -> None:
    tree = ClockTree()
    tree.root.set_timeout_ns(5, list)
    for _ in range(3):
        tree.root.pause()
        tree.root.resume()

    above = tree.root._above
    assert above is not None
    assert above.queue.stored() == 0
