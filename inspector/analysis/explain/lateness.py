"""Why a timer was called late, early, or more than once: measured, not guessed.

A timer is late when the program did not look at its clocks in time. What kept it is
measured: the phases of the frame that was still running, the timers that were called
before it, and what is left is the host's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from inspector.analysis.evidence import (
    NEARBY,
    Reason,
    asked_for_by,
    frame_after,
    listed,
    timer_label,
    times,
)
from inspector.analysis.explain.suspects import MeasuredCall, innermost_call, suspect
from inspector.commands.timers import FireTimer
from inspector.timebase import NS_PER_MS, format_duration
from inspector.vocabulary import (
    CALL_ENDED,
    DELTA_CUT,
    FRAME_BEGAN,
    FRAME_ENDED,
    NEVER,
    PHASE_ENDED,
    TIMER_ADDED,
    TIMER_FIRED,
    Phase,
)

if TYPE_CHECKING:
    from inspector.analysis.explain.story import CallStory, Firing
    from inspector.events.history import History
    from inspector.events.timeline import Timeline

#: Lateness below this is what every host has.
LATE_NS: Final = NS_PER_MS
#: So many timers are named, the others counted.
_MOST_NAMED: Final = 4


def lateness_reasons(
    history: History, timeline: Timeline, story: CallStory, firing: Firing
) -> list[Reason]:
    """Return why a call came when it did: one reason at least when it was late or early."""
    if firing.is_out_of_turn:
        return [_out_of_turn(history, firing)]
    if firing.late_ns < LATE_NS:
        return []
    place = _Place(history, timeline, firing.cursor)
    index = None if place.frame is None else place.frame.index
    due_ns = firing.read_ns - firing.late_ns
    late = format_duration(firing.late_ns)
    reasons = [Reason(f"It was called {late} late.", firing.at_ns, firing.cursor, frame=index)]
    frame_ns, blaming = _running_frame(place, due_ns, firing)
    reasons += blaming
    timers_ns, blaming = _timers_before(place, story.id.number, firing, due_ns)
    reasons += blaming
    reasons += _cut(place)
    left_ns = firing.late_ns - frame_ns - timers_ns
    if place.frame is not None and left_ns >= LATE_NS and left_ns * 2 > firing.late_ns:
        text = (
            f"The host was late: it read the clocks {late} after the due instant; no measured "
            "callback delayed it."
            if left_ns > firing.late_ns - LATE_NS
            else f"For the remaining {format_duration(left_ns)}, the host was late."
        )
        reasons.append(Reason(text, due_ns, firing.cursor, frame=index))
    return reasons


def repetition_reasons(history: History, story: CallStory, cursor: int) -> list[Reason]:
    """Return why a timer was called more than once before one frame, if it was."""
    last = story.last
    if last is None or story.fired < 2:  # noqa: PLR2004 - twice is what is asked about
        return []
    frame = frame_after(history, last.cursor, cursor)
    began = _frame_cursor(history, last.cursor)
    group = [firing for firing in story.firings if firing.cursor >= began]
    if len(group) < 2 or frame is None:  # noqa: PLR2004
        return []
    count = times(len(group))
    reason = f"It was called {count} in frame {frame:,}"
    extra = next((firing for firing in group if firing.is_out_of_turn), None)
    interval_ns = 0 if story.armed is None else story.armed.b
    if extra is not None:
        return [Reason(f"{reason}, one of them outside its schedule.", last.at_ns, extra.cursor)]
    if max(firing.late_ns for firing in group) >= LATE_NS:
        text = f"{reason}: it caught up on missed ticks, as the policy “burst” does."
    elif interval_ns:
        text = (
            f"{reason}: its interval of {format_duration(interval_ns)} local time fits into the "
            "frame more than once."
        )
    else:
        return []
    return [Reason(text, last.at_ns, last.cursor, frame=frame)]


def ties_before(history: History, timeline: Timeline, story: CallStory) -> list[Reason]:
    """Return who was called before a timer at the very same instant, if anybody was."""
    last = story.last
    if last is None or last.is_out_of_turn:
        return []
    start = max(history.cursor_at(last.at_ns - 1), last.cursor - NEARBY, history.first)
    others = [
        event[2]
        for event in history.events(start, last.cursor)
        if event[1] == TIMER_FIRED
        and event[0] == last.at_ns
        and event[3] == last.late_ns
        and event[2] != story.id.number
    ]
    if not others:
        return []
    labels = [timer_label(history, timeline, other, start) for other in others[:3]]
    named = labels + [""] * (len(others) - len(labels))
    count = "1 other timer" if len(others) == 1 else f"{len(others):,} other timers"
    return [
        Reason(
            f"At the same instant, {count} fired before it, in scheduling order: {listed(named)}.",
            last.at_ns,
            last.cursor,
        )
    ]


@dataclass(frozen=True, slots=True)
class _Frame:
    """One frame as its events tell it.

    Attributes:
        index: Its number.
        at_ns: Session instant.
        cursor: Where it began.
        busy_ns: Time in callbacks, the timers before it included.
        cut_ns: What was cut from its delta.
        phases: Measured time by phase.
        calls: The calls in it: when each began, how long it took, whose.
    """

    index: int
    at_ns: int
    cursor: int
    busy_ns: int
    cut_ns: int
    phases: dict[int, int]
    calls: tuple[MeasuredCall, ...]


class _Place:
    """Where a call was made: its frame, and what was recorded since the frame before."""

    def __init__(self, history: History, timeline: Timeline, cursor: int) -> None:
        self.history = history
        self.timeline = timeline
        self.cursor = cursor
        self.since = _frame_cursor(history, cursor)
        self.frame = _read_frame(history, cursor, history.end)
        start = max(history.first, self.since - NEARBY)
        began = start - 1
        for offset, event in enumerate(history.events(start, self.since)):
            if event[1] == FRAME_BEGAN:
                began = start + offset
        self.before = _read_frame(history, began, self.since) if began >= start else None

    def stretches(self, firing: Firing) -> list[tuple[_Frame, int, int, int]]:
        """Return where timers were called that may have kept it.

        Returns:
            The frame that they are counted for, the cursors between which they were called,
            and what the source said then at least. Before the frame that had been running
            only those of its own wake-up matter.
        """
        found = []
        if self.before is not None:
            since = _frame_cursor(self.history, self.before.cursor)
            found.append((self.before, since, self.before.cursor, self.before.at_ns))
        if self.frame is not None:
            found.append((self.frame, self.since, firing.cursor, 0))
        return found


def _read_frame(history: History, cursor: int, end: int) -> _Frame | None:
    """Return the first frame that began behind a cursor, ``None`` when it has not ended."""
    index = at_ns = cut_ns = -1
    began = cursor
    phases: dict[int, int] = {}
    calls: list[MeasuredCall] = []
    events = history.events(cursor, min(end, cursor + 2 * NEARBY))
    for place, (event_ns, kind, subject, a, b) in enumerate(events, cursor):
        if kind == FRAME_BEGAN and index < 0:
            index, at_ns, cut_ns, began = a, event_ns, 0, place
        elif index < 0:
            continue
        elif kind == PHASE_ENDED:
            phases[subject] = phases.get(subject, 0) + b
        elif kind == DELTA_CUT:
            cut_ns = a
        elif kind == CALL_ENDED:
            calls.append((a, b, subject))
        elif kind == FRAME_ENDED:
            return _Frame(index, at_ns, began, b, cut_ns, phases, tuple(calls))
    return None


def _frame_cursor(history: History, cursor: int) -> int:
    """Return the cursor behind the end of the frame before a cursor."""
    start = max(history.first, cursor - NEARBY)
    events = history.events(start, cursor)
    for offset in range(len(events) - 1, -1, -1):
        if events[offset][1] == FRAME_ENDED:
            return start + offset + 1
    return start


def _running_frame(place: _Place, due_ns: int, firing: Firing) -> tuple[int, list[Reason]]:
    """Return how long a frame went on after the timer was due, and what took so long in it."""
    frame = place.before
    if frame is None:
        return 0, []
    own_ns = frame.busy_ns - frame.phases.get(Phase.TIMERS, 0)
    overlap_ns = min(frame.at_ns + own_ns, firing.read_ns) - max(due_ns, frame.at_ns)
    if overlap_ns < LATE_NS:
        return max(0, overlap_ns), []
    took_ns, phase = max(
        (took_ns, phase) for phase, took_ns in frame.phases.items() if phase != Phase.TIMERS
    )
    text = (
        f"Frame {frame.index:,} was still running when it was due: its callbacks took "
        f"{format_duration(own_ns)}, {format_duration(took_ns)} of that in {Phase(phase).text}"
    )
    call = _longest_call(place, frame)
    if call:
        text += f", {call}"
    return overlap_ns, [Reason(f"{text}.", frame.at_ns, frame.cursor, frame=frame.index)]


def _longest_call(place: _Place, frame: _Frame) -> str:
    """Return the call that took the longest in a frame, and how long; or nothing."""
    inner = innermost_call(frame.calls)
    if inner is None:
        return ""
    member = place.timeline.members.by_id.get(inner[2])
    name = f"member {inner[2]}" if member is None else f"“{member.name}”"
    return f"mainly {name} ({format_duration(inner[1])})"


def _timers_before(
    place: _Place, timer_id: int, firing: Firing, due_ns: int
) -> tuple[int, list[Reason]]:
    """Return how long timers took that were called before it, and who was among them."""
    blamed_ns = 0
    reasons: list[Reason] = []
    for frame, since, end, from_ns in place.stretches(firing):
        took_ns = frame.phases.get(Phase.TIMERS, 0)
        earlier = [
            (at_ns + max(late_ns, 0), other, cursor)
            for cursor, (at_ns, kind, other, late_ns, _) in enumerate(
                place.history.events(since, end), since
            )
            if kind == TIMER_FIRED and from_ns <= at_ns + max(late_ns, 0) < firing.read_ns
        ]
        if not earlier or took_ns < LATE_NS:
            continue
        # What ran before it was due has not kept it.
        began_ns = min(earlier)[0]
        overlap_ns = min(began_ns + took_ns, firing.read_ns) - max(due_ns, began_ns)
        if overlap_ns < LATE_NS:
            continue
        blamed_ns += overlap_ns
        numbers = list(dict.fromkeys(other for _, other, _ in earlier))
        text = (
            f"The timers of frame {frame.index:,} took {format_duration(took_ns)} together; called "
            f"before this one: {_who(place, numbers, timer_id)}."
        )
        likely = suspect(place.history, place.timeline, firing.cursor, set(numbers), took_ns)
        if likely is not None:
            text += (
                f" “{likely.label}” is the likely cause: in frames without it, the others took at "
                f"most {format_duration(likely.without_ns)}."
            )
        reasons.append(Reason(text, began_ns, earlier[-1][2], frame=frame.index))
    return blamed_ns, reasons


def _who(place: _Place, numbers: list[int], timer_id: int) -> str:
    """Return the names of timers; those beyond the first few are counted."""
    names = list(
        dict.fromkeys(
            timer_label(place.history, place.timeline, number, place.cursor)
            for number in numbers[:_MOST_NAMED]
        )
    )
    more = len(numbers) - len(numbers[:_MOST_NAMED])
    own = " (including this one)" if timer_id in numbers else ""
    return listed([*names, *[""] * more], _MOST_NAMED) + own


def _cut(place: _Place) -> list[Reason]:
    frame = place.frame
    if frame is None or not frame.cut_ns:
        return []
    text = (
        f"The host stalled for longer than max_delta: {format_duration(frame.cut_ns)} were cut in "
        f"frame {frame.index:,}, and session time did not pass during them."
    )
    return [Reason(text, frame.at_ns, frame.cursor + 1, frame=frame.index)]


def _out_of_turn(history: History, firing: Firing) -> Reason:
    """Return who had a timer called that was not due."""
    kept = "" if firing.next_ns == NEVER else " Its schedule is unchanged."
    early = (
        f"It was called {format_duration(-firing.late_ns)} early"
        if firing.late_ns < 0
        else "It was called outside its schedule"
    )
    until = {TIMER_FIRED, TIMER_ADDED, FRAME_BEGAN}
    asked = asked_for_by(history, firing.cursor, FireTimer, until)
    if asked is not None:
        return Reason(f"{early}, by {asked[1]}.{kept}", firing.at_ns, asked[0])
    return Reason(f"{early}, by the program (fire_now).{kept}", firing.at_ns, firing.cursor)
