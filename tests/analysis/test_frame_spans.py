"""The inside of a frame: phases, the calls in them, the timers before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from inspector.analysis.frame_spans import (
    FrameSpan,
    are_calls_kept,
    heaviest_before,
    heaviest_in,
    spans_of,
)
from inspector.analysis.frame_sums import SLICE, FrameSums, SpanTotal
from inspector.events import EventLog, Timeline
from inspector.events.history import KEYFRAME_EVERY, LogHistory
from inspector.sessions.interval_meter import shares_event
from inspector.vocabulary import (
    CALL_ENDED,
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    FRAME_BEGAN,
    FRAME_ENDED,
    FRAME_SHARES,
    MEMBER_ADDED,
    MEMBER_ORIGIN,
    MEMBER_REMOVED,
    NEVER,
    PHASE_ENDED,
    RATE_DENOMINATOR,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_FIRED,
    TIMER_ORIGIN,
    MemberKind,
    Phase,
    TimerKind,
)

if TYPE_CHECKING:
    from inspector.vocabulary import RawEvent

US = 1_000
MS = 1_000_000


class Frames:
    """A log to which frames are written by hand."""

    def __init__(self, budget_bytes: int = 10**9) -> None:
        self.log = EventLog(budget_bytes)
        self.history = LogHistory(self.log)
        self.timeline = Timeline(self.log.strings)
        self.count = 0
        self._cursor = 0
        self.add(0, CLOCK_ADDED, 1, 0, self.log.intern("root"))
        self.add(0, CLOCK_ANCHORED, 1, 0, RATE_DENOMINATOR)

    def add(self, at_ns: int, kind: int, subject: int, a: int, b: int) -> None:
        self.log.append((at_ns, kind, subject, a, b))

    def member(self, number: int, name: str, kind: MemberKind, parent: int = 0) -> None:
        self.add(0, MEMBER_ADDED, number, parent, self.log.intern(name))
        self.add(0, MEMBER_ORIGIN, number, 1, kind)

    def timer(self, number: int, label: str, at_ns: int = 0) -> None:
        self.add(at_ns, TIMER_ADDED, number, 1, self.log.intern(label))
        self.add(at_ns, TIMER_ORIGIN, number, 0, TimerKind.TIMEOUT)
        self.add(at_ns, TIMER_ARMED, number, at_ns, 0)

    def frame(self, at_ns: int, *inside: tuple[int, int, int, int]) -> int:
        """Write a frame with events between its beginning and its end; returns its index."""
        index = self.count
        self.count += 1
        self.add(at_ns, FRAME_BEGAN, 1, index, 16 * MS)
        for kind, subject, a, b in inside:
            self.add(at_ns, kind, subject, a, b)
        self.add(at_ns, FRAME_ENDED, 1, 16 * MS, 5 * MS)
        return index

    def spans(self, index: int) -> tuple[FrameSpan, ...]:
        self.fold()
        return spans_of(self.history, self.timeline, index)

    def fold(self) -> None:
        batch = self.log.read(self._cursor)
        self._cursor = batch.cursor
        self.timeline.apply_all(batch.events)


def totals_of(frames: Frames, start: int, stop: int) -> tuple[SpanTotal, ...]:
    sums = FrameSums(frames.history, frames.timeline, start, stop)
    while not sums.is_done:
        sums.read_on()
    return sums.totals


def shape(spans: tuple[FrameSpan, ...]) -> list[tuple[str, int, int, int]]:
    return [(span.label, span.began_ns, span.took_ns, span.depth) for span in spans]


def test_that_phases_follow_one_another_and_timers_end_where_the_frame_begins() -> None:
    frames = Frames()
    index = frames.frame(
        16 * MS,
        (PHASE_ENDED, Phase.TIMERS, 0, 300 * US),
        (PHASE_ENDED, Phase.UPDATE, 0, 2 * MS),
        (PHASE_ENDED, Phase.DRAW, 0, MS),
    )
    assert shape(frames.spans(index)) == [
        ("timers", -300 * US, 300 * US, 0),
        ("update", 0, 2 * MS, 0),
        ("draw", 2 * MS, MS, 0),
    ]


def test_that_a_call_within_another_lies_deeper_and_what_it_took_is_not_the_others_own() -> None:
    frames = Frames()
    frames.member(1, "scheduler", MemberKind.FRAME_CALLBACK)
    frames.member(2, "boss", MemberKind.UPDATE)
    frames.member(3, "guard", MemberKind.UPDATE)
    index = frames.frame(
        16 * MS,
        (CALL_ENDED, 2, 100, 200),
        (CALL_ENDED, 3, 300, 100),
        (CALL_ENDED, 1, 50, 400),
        (PHASE_ENDED, Phase.UPDATE, 0, 500),
    )
    spans = frames.spans(index)
    assert shape(spans) == [
        ("update", 0, 500, 0),
        ("scheduler", 50, 400, 1),
        ("boss", 100, 200, 2),
        ("guard", 300, 100, 2),
    ]
    assert [span.own_ns for span in spans] == [100, 100, 200, 100]
    assert [span.kind for span in spans] == ["phase", "frame callback", "update", "update"]


def test_that_of_two_calls_over_the_same_time_the_one_that_ended_later_is_the_outer_one() -> None:
    frames = Frames()
    frames.member(1, "outer", MemberKind.FRAME_CALLBACK)
    frames.member(2, "inner", MemberKind.UPDATE)
    index = frames.frame(
        0,
        (CALL_ENDED, 2, 0, 10),
        (CALL_ENDED, 1, 0, 10),
        (PHASE_ENDED, Phase.UPDATE, 0, 10),
    )
    assert [(span.label, span.depth) for span in frames.spans(index)][1:] == [
        ("outer", 1),
        ("inner", 2),
    ]


def test_that_a_phase_holds_its_calls_though_time_passed_between_the_phases() -> None:
    frames = Frames()
    frames.member(1, "late", MemberKind.FRAME_CALLBACK)
    index = frames.frame(
        0,
        (PHASE_ENDED, Phase.UPDATE, 0, 1_000),
        (CALL_ENDED, 1, 1_300, 200),
        (PHASE_ENDED, Phase.LATE_UPDATE, 0, 250),
    )
    spans = frames.spans(index)
    phase, call = spans[1], spans[2]
    assert phase.began_ns == 1_250
    assert phase.began_ns <= call.began_ns
    assert call.end_ns <= phase.end_ns


def test_that_timers_that_fired_before_the_frame_are_listed_with_how_late_they_were() -> None:
    frames = Frames()
    frames.timer(7, "spawn")
    frames.timer(8, "boss")
    frames.frame(0, (PHASE_ENDED, Phase.UPDATE, 0, MS))
    frames.add(5 * MS, TIMER_FIRED, 7, 400 * US, NEVER)
    frames.add(9 * MS, TIMER_FIRED, 8, 0, 30 * MS)
    index = frames.frame(16 * MS, (PHASE_ENDED, Phase.TIMERS, 1, 600 * US))
    frames.add(17 * MS, TIMER_FIRED, 8, 0, 60 * MS)
    spans = frames.spans(index)
    assert [(span.label, span.timer_id, span.lateness_ns) for span in spans] == [
        ("timers", 0, 0),
        ("spawn", 7, 400 * US),
        ("boss", 8, 0),
    ]
    assert [span.is_measured for span in spans] == [True, False, False]
    assert shape(spans)[1:] == [
        ("spawn", -600 * US, 300 * US, 1),
        ("boss", -300 * US, 300 * US, 1),
    ]


def test_that_the_only_timer_before_a_frame_has_the_time_of_its_phase() -> None:
    frames = Frames()
    frames.timer(7, "spawn")
    frames.frame(0, (PHASE_ENDED, Phase.UPDATE, 0, MS))
    frames.add(9 * MS, TIMER_FIRED, 7, 0, 30 * MS)
    index = frames.frame(16 * MS, (PHASE_ENDED, Phase.TIMERS, 1, 600 * US))

    phase, timer = frames.spans(index)

    assert timer.timer_id == 7
    assert timer.is_measured
    assert timer.took_ns == phase.took_ns == 600 * US


def test_that_what_is_gone_by_now_keeps_its_name() -> None:
    frames = Frames()
    frames.member(1, "short lived", MemberKind.UPDATE)
    index = frames.frame(0, (CALL_ENDED, 1, 0, 10), (PHASE_ENDED, Phase.UPDATE, 0, 10))
    frames.timer(2, "born and gone", 5 * MS)
    frames.add(6 * MS, TIMER_FIRED, 2, 0, NEVER)
    frames.add(7 * MS, MEMBER_REMOVED, 1, 0, 0)
    second = frames.frame(16 * MS)
    assert frames.spans(index)[1].label == "short lived"
    assert frames.spans(index)[1].kind == "update"
    assert frames.spans(second)[1].label == "born and gone"


def test_that_a_frame_whose_events_fell_off_still_has_its_phases() -> None:
    frames = Frames(budget_bytes=200 * 8)
    for number in range(20):
        frames.frame(
            number * 16 * MS,
            (CALL_ENDED, 5, 0, 10),
            (PHASE_ENDED, Phase.UPDATE, number, number + 1),
        )
        frames.fold()
        frames.log.settle()
    assert shape(frames.spans(3)) == [("update", 0, 4, 0)]
    assert not are_calls_kept(frames.history, frames.timeline, 3)
    assert are_calls_kept(frames.history, frames.timeline, 19)
    assert len(frames.spans(19)) == 2


def test_that_frames_at_the_same_instant_are_told_apart() -> None:
    frames = Frames()
    for number in range(3):
        frames.frame(MS, (PHASE_ENDED, Phase.UPDATE, number, 10 + number))
    assert [frames.spans(number)[0].took_ns for number in range(3)] == [10, 11, 12]


def test_that_reading_a_frame_costs_the_same_in_a_long_log() -> None:
    frames = Frames()
    for number in range(2_000):
        frames.frame(number * 16 * MS, (PHASE_ENDED, Phase.UPDATE, number, MS))
    frames.fold()
    asked: list[int] = []
    events = frames.history.events

    def counted(start: int, end: int) -> list[tuple[int, int, int, int, int]]:
        found = events(start, end)
        asked.append(len(found))
        return found

    frames.history.events = counted  # type: ignore[method-assign]
    spans_of(frames.history, frames.timeline, 1_000)
    assert sum(asked) < 20


def test_that_totals_add_up_calls_over_frames_the_longest_first() -> None:
    frames = Frames()
    frames.member(1, "boss", MemberKind.UPDATE)
    frames.member(2, "guard", MemberKind.UPDATE)
    for number in range(3):
        frames.frame(
            number * 16 * MS,
            (CALL_ENDED, 1, 0, 100),
            (CALL_ENDED, 2, 100, 30 + number),
            (PHASE_ENDED, Phase.UPDATE, number, 200),
        )
    frames.fold()
    totals = totals_of(frames, 1, 9)
    assert [(each.label, each.calls, each.took_ns, each.longest_ns) for each in totals] == [
        ("update", 2, 400, 200),
        ("boss", 2, 200, 100),
        ("guard", 2, 63, 32),
    ]


def test_that_a_call_of_a_target_is_told_by_whose_it_is() -> None:
    frames = Frames()
    frames.member(1, "hero", MemberKind.TARGET)
    frames.member(2, "update", MemberKind.UPDATE, parent=1)
    index = frames.frame(0, (CALL_ENDED, 2, 0, 10), (PHASE_ENDED, Phase.UPDATE, 0, 10))
    assert frames.spans(index)[1].label == "hero: update"


def crowd(frames: Frames, count: int) -> None:
    """Write two frames of so many timers and calls each; the odd timers are gone by the end."""
    frames.member(1, "boss", MemberKind.UPDATE)
    for number in range(2):
        at_ns = (number + 1) * 16 * MS
        first = 1 + number * count
        for timer in range(first, first + count):
            frames.timer(timer, f"timer-{timer}", at_ns - MS)
            frames.add(at_ns, TIMER_FIRED, timer, timer, NEVER if timer % 2 else at_ns + MS)
        calls = [(CALL_ENDED, 1, place * US, US) for place in range(count)]
        frames.frame(at_ns, *calls, (PHASE_ENDED, Phase.UPDATE, 0, 2 * count * US))
    frames.fold()


def test_that_frames_of_any_size_are_added_up_some_thousand_events_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frames = Frames()
    crowd(frames, 2 * SLICE)
    given: list[int] = []
    events = frames.history.events

    def count(start: int, end: int) -> list[RawEvent]:
        given.append(end - start)
        return events(start, end)

    monkeypatch.setattr(frames.history, "events", count)
    sums = FrameSums(frames.history, frames.timeline, 0, 2, most=10)
    most = 0
    while not sums.is_done:
        given.clear()
        sums.read_on()
        most = max(most, sum(given))

    assert most <= SLICE + KEYFRAME_EVERY
    boss = next(each for each in sums.totals if each.member_id == 1)
    assert (boss.calls, boss.took_ns) == (4 * SLICE, 4 * SLICE * US)
    assert sums.unlisted == 4 * SLICE + 1 - 10
    assert len(sums.totals) == 12  # with two phases
    # The later are as good, and what is gone by now is called as it was.
    named = {each.timer_id: each.label for each in sums.totals if each.timer_id}
    assert named == {number: f"timer-{number}" for number in named}


def test_that_sums_are_those_of_the_spans_of_each_frame() -> None:
    frames = Frames()
    crowd(frames, 50)
    spans = [span for index in (0, 1) for span in frames.spans(index)]

    totals = totals_of(frames, 0, 2)

    for total in totals:
        mine = [
            span
            for span in spans
            if (span.member_id, span.timer_id) == (total.member_id, total.timer_id)
            and (span.member_id or span.timer_id or span.label == total.label)
        ]
        assert {span.label for span in mine} == {total.label}
        assert {span.phase for span in mine} == {total.phase}
        took_ns = [span.took_ns for span in mine if span.is_measured]
        assert sum(took_ns) == total.took_ns
        assert total.is_phase or total.calls == len(mine)
    assert len(totals) == 100 + 1 + 2


def _slow_saves(*, saves_every: int = 10) -> Frames:
    """Return frames with two timers each, of which one is slow and comes now and then."""
    frames = Frames()
    frames.timer(1, "save")
    frames.timer(2, "score")
    took_ns = 0
    for index in range(3 * saves_every):
        at_ns = index * 16 * MS
        is_save = index % saves_every == saves_every - 1
        if is_save:
            frames.add(at_ns, TIMER_FIRED, 1, 0, 0)
        frames.add(at_ns, TIMER_FIRED, 2, 0, 0)
        shares = shares_event([took_ns, MS, 0, 0, 15 * MS])
        took_ns = (30 if is_save else 1) * MS
        timers = (PHASE_ENDED, Phase.TIMERS, index, took_ns)
        interval_ns = 40 * MS if index and shares[0] > 20_000 else 16 * MS
        frames.count += 1
        frames.add(at_ns, FRAME_BEGAN, 1, index, interval_ns)
        frames.add(at_ns, FRAME_SHARES, *shares)
        frames.add(at_ns, *timers)
        frames.add(at_ns, FRAME_ENDED, 1, interval_ns, took_ns)
    frames.fold()
    return frames


def test_that_of_several_timers_the_one_without_which_frames_are_fast_is_named() -> None:
    frames = _slow_saves()

    assert heaviest_in(frames.history, frames.timeline, 19) == "probably “save”"
    assert heaviest_in(frames.history, frames.timeline, 20) == "“score”"


def test_that_what_made_a_frame_late_is_found_in_the_frame_before_it() -> None:
    frames = _slow_saves()

    assert heaviest_before(frames.history, frames.timeline, 20) == (19, "probably “save”")
    assert heaviest_before(frames.history, frames.timeline, 19) is None
