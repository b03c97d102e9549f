"""Attached programs: what the inspector takes of a flood of events, and of a first picture."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from inspector.events.timeline import Timeline
from inspector.probe.wire import MAX_EVENTS, packed_events
from inspector.sessions.attached.link import Attached, Batch, Notification
from inspector.sessions.attached.messages import HelloMessage
from inspector.sessions.attached.session import AttachedSession
from inspector.sessions.attached.session_numbers import ROOT_ID
from inspector.timebase import NS_PER_MS, NS_PER_SECOND
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    FRAME_BEGAN,
    FRAME_ENDED,
    RATE_DENOMINATOR,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_FIRED,
    TIMER_ORIGIN,
    RawEvent,
)
from tests.benchmarks.measuring import Case, Effort, measure, powers_of_ten
from tests.benchmarks.report import Row
from tests.sessions.attached.fake_probe import DryServer, FakeDoor, Hand

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.benchmarks.measuring import Work

#: How many times the cost of folding events it may cost to take them from a program: half a
#: million a second were 600 ns each when folding one took 350.
_FLOOD = 4.0
#: The same of the events of frames, two of which add a row to the history of a loop.
_FRAMES = 5.0
_PICTURE = 4.0
_TIMERS = 100


class _Program:
    """A session with a program whose events are prepared as they come over the wire."""

    def __init__(self) -> None:
        self.hand = Hand()
        self.session = AttachedSession(FakeDoor(), self.hand, DryServer(self.hand))
        self.link: Any = _Link()  # As much of a link as a session needs.
        link: Any = self.link
        self.put(Attached(link, HelloMessage(protocol=1, pid=1, name="program"), 0, 0))
        texts = {"first": 1, "texts": ["clock", "timer", "program.py:7"]}
        self.put(Notification(link, "Events.texts", texts))

    def put(self, news: Attached | Notification | Batch) -> None:
        self.session.acceptor.put(news)

    def batches(self, events: list[RawEvent]) -> list[Batch]:
        at_ns = self.hand.now_ns + NS_PER_SECOND
        return [
            Batch(self.link, packed_events(events[start : start + MAX_EVENTS]), at_ns)
            for start in range(0, len(events), MAX_EVENTS)
        ]

    def described(self, timers: int) -> list[RawEvent]:
        now_ns = self.hand.now_ns
        events: list[RawEvent] = [
            (now_ns, CLOCK_ADDED, 1, 0, 1),
            (now_ns, CLOCK_ANCHORED, 1, now_ns, RATE_DENOMINATOR),
        ]
        for number in range(1, timers + 1):
            events += (
                (now_ns, TIMER_ADDED, number, 1, 2),
                (now_ns, TIMER_ORIGIN, number, 3, 0),
                (now_ns, TIMER_ARMED, number, NS_PER_SECOND + number, 0),
            )
        return events


class _Link:
    """What a session needs of a connection."""

    text = "benchmark"
    peer_pid = 0
    is_silent = False
    is_open = True

    def request(self, *_request: object) -> None:
        """Ask for nothing."""

    def end(self, _reason: str) -> None:
        """End nothing."""


def _flood(size: int) -> AbstractContextManager[Work]:
    program = _Program()
    for batch in program.batches(program.described(_TIMERS)):
        program.put(batch)
    program.session.refresh()
    now_ns = program.hand.now_ns
    events = [
        (now_ns + place, TIMER_FIRED, place % _TIMERS + 1, 5, place + NS_PER_SECOND)
        for place in range(size)
    ]
    batches = program.batches(events)
    program.hand.advance(2_000)

    def take() -> None:
        for number, batch in enumerate(batches):
            program.put(batch)
            if number % 16 == 0:
                program.session.refresh()
        while program.session.log.end < size:
            program.session.refresh()

    return nullcontext(take)


def _frames(size: int, shown: int = 1) -> AbstractContextManager[Work]:
    """Two loops, the frames of one of them shown."""
    program = _Program()
    now_ns = program.hand.now_ns
    clocks = [*program.described(0), (now_ns, CLOCK_ADDED, 2, 1, 1)]
    clocks.append((now_ns, CLOCK_ANCHORED, 2, 0, RATE_DENOMINATOR))
    began: list[RawEvent] = [(now_ns, FRAME_BEGAN, loop, 0, 0) for loop in (1, 2)]
    for batch in program.batches([*clocks, *began]):
        program.put(batch)
    ends = [(kind, loop) for loop in (1, 2) for kind in (FRAME_ENDED, FRAME_BEGAN)]
    events: list[RawEvent] = [
        (now_ns + place, *ends[place % len(ends)], NS_PER_MS, NS_PER_MS // 2)
        for place in range(size)
    ]
    batches = program.batches(events)
    # Now that both have ended a frame.
    program.put(batches.pop(0))
    program.hand.advance(2_000)
    program.session.refresh()
    assert not program.session.choose_loop(ROOT_ID + shown)

    def take() -> None:
        for number, batch in enumerate(batches):
            program.put(batch)
            if number % 16 == 0:
                program.session.refresh()
        while program.session.log.end < size:
            program.session.refresh()
        assert not program.session.notes

    return nullcontext(take)


def _first_picture(size: int) -> AbstractContextManager[Work]:
    program = _Program()
    batches = program.batches(program.described(size))
    program.hand.advance(2_000)

    def take() -> None:
        program.put(Notification(program.link, "Events.keyframe", {"state": "begun"}))
        for batch in batches:
            program.put(batch)
        program.put(Notification(program.link, "Events.keyframe", {"state": "complete"}))
        while len(program.session.timeline.timers) < size:
            program.session.refresh()

    return nullcontext(take)


def _folding(events: list[RawEvent]) -> AbstractContextManager[Work]:
    timeline = Timeline(["", "clock", "timer", "program.py:7"])
    return nullcontext(lambda: timeline.apply_all(events))


def attached_session(effort: Effort) -> Iterator[Row]:
    """Take events of a program: decode, translate, sort, fold, keep."""
    flood, picture = effort.sizes(10_000, 500_000)[-1], effort.sizes(10_000, 100_000)[-1]
    described = _Program().described(picture)
    few = _Program().described(_TIMERS)
    fired: list[RawEvent] = [
        (place, TIMER_FIRED, place % _TIMERS + 1, 5, place) for place in range(flood)
    ]
    cases = [
        Case("flood", lambda: _flood(flood)),
        Case("frames of two loops", lambda: _frames(flood)),
        Case("frames of two loops, the second shown", lambda: _frames(flood, 2)),
        Case("flood folded", lambda: _folding([*few, *fired])),
        Case("picture", lambda: _first_picture(picture)),
        Case("picture folded", lambda: _folding(described)),
    ]
    measured = measure(cases, effort.repeats(5))
    for name, size, folded, most in (
        ("flood", flood, "flood folded", _FLOOD),
        ("frames of two loops", flood, "flood folded", _FRAMES),
        ("frames of two loops, the second shown", flood, "flood folded", _FRAMES),
        ("picture", picture, "picture folded", _PICTURE),
    ):
        taken_ns = measured.median_ns(name)
        detail = f"{taken_ns / 1e6:,.0f} ms of processor time, {size / taken_ns * 1e9:,.0f}/s"
        row = f"attached_session/{powers_of_ten(size)} {name} to folding alone"
        yield Row(row, measured.ratio(name, folded), most, detail=detail, unit="x")


BENCHMARKS = (attached_session,)
