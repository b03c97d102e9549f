"""One pass over the events of a session: what the rules look at."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from inspector.analysis.evidence import text_of
from inspector.analysis.lint.long_frames import ABOUT_LONG_FRAMES, LongFrameSurvey
from inspector.analysis.lint.member_survey import MemberSurvey
from inspector.events.schema import ABOUT_CLOCKS, ABOUT_MEMBERS, ABOUT_TIMERS
from inspector.events.timeline import MISFIT, Timeline
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_REMOVED,
    FRAME_BEGAN,
    FRAME_ENDED,
    NEVER,
    TICKS_MISSED,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
    TimerKind,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.analysis.statistics.frame_budget import FrameBudget
    from inspector.events.history import History
    from inspector.vocabulary import RawEvent

_STRETCH: Final = 50_000
#: So many different timers in one frame are worth remembering.
CROWD: Final = 30
#: So many frames of each timer are remembered, to see its pattern.
MOST_FRAMES: Final = 64
#: Fewer frames say nothing about the frame rate.
STEADY_FRAMES: Final = 60
#: How many marks the session is divided into to see what grows.
QUARTERS: Final = 4


@dataclass(slots=True)
class TimerLife:
    """One timer, as far as it was seen.

    Attributes:
        id: Its number.
        clock_id: Its clock.
        label: What it is called (sid).
        site: Where it was set (sid).
        kind: What kind it is.
        added_ns: When it was set; -1 when that was not seen.
        cursor: Where that is in the log.
        due_ns: When it is due, in local time.
        interval_ns: From one due instant to the next; 0 for once.
        delay_ns: Local time from setting it to its first due instant.
        fired: How often it was called.
        shift_ns: By how much its ticks were moved off their grid, in local time.
        missed: How many ticks were left out.
        missed_at: Where that was seen the last time: cursor and instant.
        ended: ``True`` once it was cleared or used up.
        frames: The frames in which it was called, newest last; of a few calls.
        last_ns: Session instant of its last call.
        last_cursor: Where that is.
    """

    id: int
    clock_id: int
    label: int
    added_ns: int
    cursor: int
    site: int = 0
    kind: int = TimerKind.TIMEOUT
    due_ns: int = 0
    interval_ns: int = 0
    delay_ns: int = 0
    fired: int = 0
    shift_ns: int = 0
    missed: int = 0
    missed_at: tuple[int, int] = (0, 0)
    ended: bool = False
    frames: list[int] = field(default_factory=list)
    last_ns: int = 0
    last_cursor: int = 0


@dataclass(slots=True)
class Place:
    """All timers that were set with one name at one place of the program on one clock.

    Attributes:
        added: How many were set.
        cleared: How many of them were cleared.
        pending: How many of them wait.
        marks: How many waited after each quarter of the session.
        first: The first of them that was seen.
    """

    first: TimerLife
    added: int = 0
    cleared: int = 0
    pending: int = 0
    marks: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Chain:
    """One-shots of one name and place that follow one another, each set after the last.

    Attributes:
        last: The newest of them.
        delay_ns: What each of them was set to, in local time.
        steps: How often one followed another.
        slip_ns: Local time that was lost between them, in all.
        first_ns: Session instant at which it began.
        first_cursor: Where that is in the log.
    """

    last: TimerLife
    delay_ns: int
    first_ns: int
    first_cursor: int
    steps: int = 0
    slip_ns: int = 0


@dataclass(slots=True)
class FrameLoad:
    """What was called for one frame.

    Attributes:
        index: The frame.
        at_ns: When it began.
        cursor: Where that is.
        calls: Calls by timer.
        fresh: Those of the timers that were set since the frame before.
    """

    index: int
    at_ns: int
    cursor: int
    calls: dict[int, int]
    fresh: set[int]


class Survey:
    """What was seen in a session.

    Attributes:
        history: Where.
        timeline: The state at the end.
        timers: Every timer that was seen, by number.
        places: By clock, name and site.
        chains: By clock, name and site.
        crowds: The frames in which the most different timers were called.
        storms: By clock and name: the frame in which its timers were called most often.
        frame_ns: Session nanoseconds from frame to frame, the median; 0 without frames.
        is_steady: Whether nearly all frames were that long.
        frame_starts: When the frames began that were seen.
        first_frame: Index of the first of them.
        members: What was seen of schedulers and tickers.
        long_frames: What was seen of frames over their budget.
    """

    def __init__(self, history: History, timeline: Timeline, budget: FrameBudget) -> None:
        """Begin with the state before the first event."""
        self.history = history
        self.timeline = timeline
        self.timers: dict[int, TimerLife] = {}
        self.places: dict[tuple[int, int, int], Place] = {}
        self.chains: dict[tuple[int, int, int], Chain] = {}
        self.crowds: list[FrameLoad] = []
        self.storms: dict[tuple[int, int], tuple[int, FrameLoad, int]] = {}
        self.frame_ns = 0
        self.is_steady = False
        self.frame_starts: list[int] = []
        self.first_frame = 0
        self.members = MemberSurvey(history.strings, Timeline([""]), timeline)
        self.long_frames = LongFrameSurvey(budget)
        self._rates: dict[int, Fraction] = {}

    def rate(self, clock_id: int) -> Fraction:
        """Return the effective rate of a clock at the end; 0 when it stands still or is gone."""
        rate = self._rates.get(clock_id)
        if rate is None:
            is_there = clock_id in self.timeline.clocks
            rate = self.timeline.effective_rate(clock_id) if is_there else Fraction(0)
            self._rates[clock_id] = rate
        return rate

    def text(self, sid: int) -> str:
        """Return a text of the string table."""
        return text_of(self.history, sid)

    def name(self, timer: TimerLife) -> str:
        """Return what a timer is called, in quotes."""
        return f"“{self.text(timer.label)}”"

    def clock_name(self, clock_id: int) -> str:
        """Return what a clock is called, in quotes; its number when it is gone."""
        clock = self.timeline.clocks.get(clock_id)
        return f"clock {clock_id}" if clock is None else f"“{clock.name}”"

    def frame_of(self, at_ns: int) -> int | None:
        """Return the frame to which an instant belongs, ``None`` when none came after it."""
        place = bisect_left(self.frame_starts, at_ns)
        return self.first_frame + place if place < len(self.frame_starts) else None


def survey(history: History, start: int, end: int, budget: FrameBudget) -> Survey:
    """Go once through the events between two cursors."""
    seen = Survey(history, history.state_before(end), budget)
    surveyor = _Surveyor(seen, history.state_before(start))
    marks = _quarters(history, start, end)
    cursor = start
    for mark in marks:
        while cursor < mark:
            upto = min(cursor + _STRETCH, mark)
            surveyor.read(history.events(cursor, upto), cursor)
            cursor = upto
        for place in seen.places.values():
            place.marks.append(place.pending)
        seen.members.mark()
    surveyor.finish()
    return seen


def _quarters(history: History, start: int, end: int) -> list[int]:
    """Return the cursors at which each quarter of the time between two cursors ends."""
    if end <= start:
        return []
    # Of a damaged recording either end may be missing.
    first_ns, last_ns = history.first_ns, history.last_ns
    if first := history.events(start, start + 1):
        first_ns = first[0][0]
    if last := history.events(end - 1, end):
        last_ns = last[0][0]
    inner = [
        history.cursor_at(first_ns + (last_ns - first_ns) * quarter // QUARTERS)
        for quarter in range(1, QUARTERS)
    ]
    return [*(min(max(start, cursor), end) for cursor in inner), end]


class _Surveyor:
    """Takes events one by one; knows just enough of the clocks to tell local times."""

    def __init__(self, seen: Survey, before: Timeline) -> None:
        self.seen = seen
        self.clocks = Timeline([""])
        self.clocks.clocks = {number: clock.copy() for number, clock in before.clocks.items()}
        self.clocks.root_id = before.root_id
        self.clocks.skips_misfits = before.skips_misfits
        self.calls: dict[int, int] = {}
        self.frames = seen.long_frames
        self.members = seen.members = MemberSurvey(seen.history.strings, before, self.clocks)
        for timer_id in before.timers.ids():
            row = before.timers.index(timer_id)
            table = before.timers
            life = TimerLife(timer_id, table.clock[row], table.label[row], -1, 0)
            life.site, life.kind = table.site[row], table.kind[row]
            life.due_ns, life.interval_ns = table.due[row], table.interval[row]
            life.fired = table.fired[row]
            seen.timers[timer_id] = life
            self._place(life).pending += 1

    def read(self, events: Sequence[RawEvent], cursor: int) -> None:
        """Take the events that begin at a cursor."""
        for place, event in enumerate(events, cursor):
            try:
                self._take(place, event)
            except MISFIT:
                if not self.clocks.skips_misfits:
                    raise

    def _take(self, place: int, event: RawEvent) -> None:
        kind = event[1]
        if kind in ABOUT_CLOCKS:
            self._clock(event)
        elif kind in ABOUT_TIMERS:
            self._timer(place, event)
        elif kind == FRAME_BEGAN:
            self._frame(place, event)
            self.members.take(place, event)
        elif kind in ABOUT_MEMBERS or kind == FRAME_ENDED:
            self.members.take(place, event)
        if kind in ABOUT_LONG_FRAMES:
            self.frames.take(place, event)

    def _clock(self, event: RawEvent) -> None:
        at_ns, kind, subject, a, b = event
        # Names are not needed here, and the table of this timeline has none.
        self.clocks.apply_all([(at_ns, kind, subject, a, 0 if kind == CLOCK_ADDED else b)])
        if kind == CLOCK_REMOVED:
            self.members.clock_removed()

    def _timer(self, cursor: int, event: RawEvent) -> None:
        at_ns, kind, subject, a, b = event
        if kind == TIMER_ADDED:
            self.seen.timers[subject] = TimerLife(subject, a, b, at_ns, cursor)
            return
        life = self.seen.timers.get(subject)
        if life is None:
            return
        if kind == TIMER_FIRED:
            self._fired(life, cursor, event)
        elif kind == TIMER_ORIGIN:
            life.site, life.kind = a, b
        elif kind == TIMER_ARMED:
            self._armed(life, at_ns, a, b)
        elif kind == TIMER_CLEARED:
            life.ended = True
            place = self._place(life)
            place.cleared += 1
            place.pending -= 1
        elif kind == TICKS_MISSED:
            life.missed += a
            life.missed_at = cursor, at_ns

    def _armed(self, life: TimerLife, at_ns: int, due_ns: int, interval_ns: int) -> None:
        life.due_ns, life.interval_ns = due_ns, interval_ns
        life.delay_ns = due_ns - self.clocks.local_ns(life.clock_id, at_ns)
        place = self._place(life)
        place.added += 1
        place.pending += 1
        if not interval_ns:
            self._join_chain(life)

    def _fired(self, life: TimerLife, cursor: int, event: RawEvent) -> None:
        at_ns, _, _, _, next_ns = event
        life.fired += 1
        life.last_ns, life.last_cursor = at_ns, cursor
        self.calls[life.id] = self.calls.get(life.id, 0) + 1
        if next_ns == NEVER:
            life.ended = True
            self._place(life).pending -= 1
            return
        if next_ns != life.due_ns:
            life.shift_ns += next_ns - life.due_ns - life.interval_ns
        life.due_ns = next_ns

    def _place(self, life: TimerLife) -> Place:
        key = life.clock_id, life.label, life.site
        place = self.seen.places.get(key)
        if place is None:
            place = self.seen.places[key] = Place(life)
        return place

    def _join_chain(self, life: TimerLife) -> None:
        """Note that a one-shot follows another of its name; or that it does not."""
        key = life.clock_id, life.label, life.site
        chain = self.seen.chains.get(key)
        if chain is None:
            self.seen.chains[key] = Chain(life, life.delay_ns, life.added_ns, life.cursor)
            return
        if not chain.last.ended or not chain.last.fired or chain.delay_ns != life.delay_ns:
            # Several at once, cleared, or each with a delay of its own: no interval.
            chain.delay_ns = -1
            chain.last = life
            return
        chain.steps += 1
        chain.slip_ns += life.due_ns - chain.last.due_ns - life.delay_ns
        chain.last = life

    def _frame(self, cursor: int, event: RawEvent) -> None:
        at_ns, index = event[0], event[3]
        seen = self.seen
        if not seen.frame_starts:
            seen.first_frame = index
        seen.frame_starts.append(at_ns)
        calls, self.calls = self.calls, {}
        if not calls:
            return
        since_ns = seen.frame_starts[-2] if len(seen.frame_starts) > 1 else 0
        fresh = {number for number in calls if seen.timers[number].added_ns > since_ns}
        load = FrameLoad(index, at_ns, cursor, calls, fresh)
        self._note_storms(load)
        for timer_id in calls:
            frames = seen.timers[timer_id].frames
            if len(frames) < MOST_FRAMES:
                frames.append(index)
        if len(calls) - len(fresh) >= CROWD:
            seen.crowds.append(load)

    def _note_storms(self, load: FrameLoad) -> None:
        by_name: dict[tuple[int, int], tuple[int, int]] = {}
        for timer_id, count in load.calls.items():
            life = self.seen.timers[timer_id]
            if count == 1 and timer_id not in load.fresh:
                continue
            key = life.clock_id, life.label
            total, _ = by_name.get(key, (0, 0))
            by_name[key] = total + count, timer_id
        for key, (total, timer_id) in by_name.items():
            worst = self.seen.storms.get(key)
            if worst is None or total > worst[0]:
                self.seen.storms[key] = total, load, timer_id

    def finish(self) -> None:
        """Work out what a frame is."""
        seen = self.seen
        starts = seen.frame_starts
        lengths = sorted(later - earlier for earlier, later in pairwise(starts))
        lengths = [length for length in lengths if length > 0]
        if not lengths:
            return
        seen.frame_ns = lengths[len(lengths) // 2]
        tenth = len(lengths) // 10
        spread = lengths[-1 - tenth] - lengths[tenth]
        seen.is_steady = len(lengths) >= STEADY_FRAMES and spread * 20 <= seen.frame_ns
