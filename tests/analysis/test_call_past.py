"""What is kept of the past of a call, and what it says of an earlier instant."""

from __future__ import annotations

import pytest

from inspector.analysis.clock_changes import ClockChange
from inspector.analysis.explain import call_past
from inspector.analysis.explain.call_past import KEPT_STRETCHES, CallPast, Stretch
from inspector.calls.call import CallId
from inspector.clocks import ClockTree
from inspector.events.history import LogHistory
from inspector.events.log import EventLog
from inspector.vocabulary import RATE_DENOMINATOR, MemberKind


def change(at_ns: int, kind: str, speed_n: int = 0) -> ClockChange:
    return ClockChange(at_ns, at_ns, 1, kind, kind, 0, speed_n)


@pytest.mark.parametrize(
    ("speed", "end_ns", "since_ns", "until_ns", "effect_ns"),
    [
        (0, 30, 0, 100, 20),
        (1 / 2, 30, 0, 100, 10),
        (1, 30, 0, 100, 0),
        (3, 30, 0, 100, 40),
        (0, 30, 20, 100, 10),
        (0, 30, 0, 15, 5),
        (0, 30, 40, 100, 0),
        (0, 30, 0, 5, 0),
        (0, None, 0, 100, 90),
    ],
)
def test_that_a_stretch_takes_as_much_time_as_its_clock_lost_or_gained(
    speed: float, end_ns: int | None, since_ns: int, until_ns: int, effect_ns: int
) -> None:
    stretch = Stretch(change(10, "rate", int(speed * RATE_DENOMINATOR)), 0, end_ns)

    assert stretch.effect_ns(since_ns, until_ns) == effect_ns


def test_that_of_very_many_stretches_those_with_most_effect_are_kept_and_all_counted() -> None:
    past = CallPast(CallId(1))
    counts = []
    for number in range(3 * KEPT_STRETCHES):
        at_ns = 1_000 * number
        past.changed(change(at_ns, "pause"))
        # The first lasts longest.
        past.changed(change(at_ns + 999 - number, "resumption", RATE_DENOMINATOR))
        counts.append(len(past.stretches[1]))

    kept = past.stretches[1]
    assert max(counts) == 2 * KEPT_STRETCHES
    assert counts[2 * KEPT_STRETCHES] == KEPT_STRETCHES + 1
    assert [each.number for each in kept[:KEPT_STRETCHES]] == list(range(KEPT_STRETCHES))
    assert kept[-1].number == 3 * KEPT_STRETCHES - 1


@pytest.mark.parametrize("kept_events", [100_000, 5])
def test_that_an_earlier_past_is_what_would_have_been_read_then(
    monkeypatch: pytest.MonkeyPatch, kept_events: int
) -> None:
    monkeypatch.setattr(call_past, "KEPT_EVENTS", kept_events)
    log = EventLog()
    tree = ClockTree(log)
    game = tree.root.child("game")
    tree.run_to(5)
    timer = game.set_interval_ns(10, int, missed="skip")
    other = game.set_interval_ns(7, int)
    tree.run_to(40)
    game.set_rate("1/2")
    game.pause()
    tree.members.add(timer, MemberKind.TARGET, "target", game)
    game.resume()
    tree.jump_to(100)
    tree.run_to(100)
    game.set_rate(1)
    game.clear(timer)
    game.clear(other)
    game.remove()
    history = LogHistory(log)
    past = CallPast(CallId(timer.id))
    past.read(history, history.end)

    for cursor in range(history.end + 1):
        then, expected = past.as_of(cursor), CallPast(CallId(timer.id))
        then.read(history, cursor)
        expected.read(history, cursor)
        for name in ("cursor", "first", "added", "origin", "armed", "firings", "fired", "cleared"):
            assert getattr(then, name) == getattr(expected, name), (cursor, name)
        for name in ("missed", "ticks_missed", "rates", "stretches", "removals", "last_cursor"):
            assert getattr(then, name) == getattr(expected, name), (cursor, name)
        assert then.begun_ns(history, game.id) == expected.begun_ns(history, game.id)
    assert past.as_of(history.end) is past
