"""Explanations of late, early and repeated calls of timers: measured, not guessed.

A timer is late when the program reads its clocks too late. The delay is measured: the phases
of the frame that was still running, and the timers called before it; the host takes the rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from msgspec import structs

from inspector.analysis.evidence import (
    NEARBY,
    Reason,
    command_behind,
    frame_after,
    timer_label,
    times,
)
from inspector.analysis.explain.call_past import CallPast, PastCall
from inspector.analysis.explain.suspects import innermost_call, suspect
from inspector.analysis.frame_events import FrameEvents, frames_in
from inspector.analysis.interval_shares import (
    KEPT_BY,
    largest_share,
    named_shares,
    shares_text,
)
from inspector.analysis.lateness.attribution import Lateness
from inspector.analysis.lateness.late_calls import lateness_at, window_of
from inspector.analysis.lateness.words import advice_text, lateness_text, stack_text
from inspector.commands.timers import FireTimer
from inspector.display_text import counted, listed
from inspector.events.history import History
from inspector.events.schema import ADDED, FIRINGS, FRAME_ENDS, FRAME_STARTS, Unit
from inspector.events.timeline import Timeline
from inspector.timebase import NS_PER_MS, format_duration
from inspector.vocabulary import NEVER

#: A lateness below this is normal on every host.
LATE_NS: Final = NS_PER_MS
#: Shorter turns are not sampled.
_SAMPLED_NS: Final = 10 * NS_PER_MS
#: Stacks beyond this number are not listed.
_MOST_STACKS: Final = 3
#: Timers beyond this number are counted, not named.
_MOST_NAMED: Final = 4


def lateness_reasons(
    history: History, timeline: Timeline, past: CallPast, firing: PastCall
) -> list[Reason]:
    """Return why a call was late or early; empty if it was on time."""
    if firing.is_out_of_turn:
        return [_out_of_turn(history, firing)]
    if firing.late_ns < LATE_NS:
        return []
    context = _Context(history, timeline, firing.cursor)
    index = None if context.frame is None else context.frame.index
    before = history.state_before(firing.cursor)
    window = window_of(before, past.id.number, firing.at_ns, firing.late_ns)
    if window is not None:
        # Events of attached programs have the instant of the call, not that at which it was due.
        firing = structs.replace(firing, at_ns=window[0])
        sampled = []
        if firing.late_ns >= _SAMPLED_NS:
            sampled = _sampled(history, before, past.id.number, window, firing, index)
        if sampled:
            return [*sampled, *_cut(context)]
    due_ns = firing.read_ns - firing.late_ns
    late = format_duration(firing.late_ns)
    reasons = [Reason(f"It was called {late} late.", firing.at_ns, firing.cursor, frame=index)]
    frame_ns, blaming = _running_frame(context, due_ns, firing)
    reasons += blaming
    timers_ns, blaming = _timers_before(context, past.id.number, firing, due_ns)
    reasons += blaming
    reasons += _cut(context)
    left_ns = firing.late_ns - frame_ns - timers_ns
    if context.frame is not None and left_ns >= LATE_NS and left_ns * 2 > firing.late_ns:
        named = named_shares(context.frame.shares, context.frame.interval_ns)
        kept = KEPT_BY[largest_share(named)]
        text = (
            f"{kept[0].upper()}{kept[1:]}: the clocks were read {late} after the due instant; no "
            "measured callback delayed it."
            if left_ns > firing.late_ns - LATE_NS
            else f"For the remaining {format_duration(left_ns)}, {kept}."
        )
        if named:
            text += f" Since the frame before: {shares_text(named)}."
        reasons.append(Reason(text, due_ns, firing.cursor, frame=index))
    return reasons


def _sampled(  # noqa: PLR0913, PLR0917 - the call, its past and its place
    history: History,
    before: Timeline,
    timer_id: int,
    window: tuple[int, int],
    firing: PastCall,
    frame: int | None,
) -> list[Reason]:
    """Return what samples of the loop show about a late call; empty if there are none."""
    lateness = lateness_at(history, before, timer_id, *window)
    if not lateness.shares:
        return []
    text = f"It was {lateness_text(lateness)}"
    reason = Reason(text, lateness.begin_ns, firing.cursor, frame=frame)
    return [reason, *_stacks(lateness), *_advice(lateness, firing.at_ns)]


def overdue_reasons(
    history: History, timeline: Timeline, timer_id: int, due_ns: int
) -> list[Reason]:
    """Return what keeps a timer that is due waiting; empty if most of that is unknown."""
    if timeline.at_ns - due_ns < _SAMPLED_NS:
        return []
    lateness = lateness_at(history, timeline, timer_id, due_ns, timeline.at_ns)
    if lateness.main is None:
        return []
    text = f"It is due, and {lateness_text(lateness, so_far=True)}"
    helps = _advice(lateness, timeline.at_ns)
    return [Reason(text, timeline.at_ns), *_stacks(lateness), *helps]


def kept_reasons(history: History, timeline: Timeline) -> tuple[int, list[Reason]]:
    """Return how many timers are late so far, and what keeps the first one waiting, if known."""
    timeline.resolve_dues()
    dues_ns = timeline.timers.numpy("session_due")
    late = int((dues_ns <= timeline.at_ns - _SAMPLED_NS).sum())
    if not late:
        return 0, []
    place = int(dues_ns.argmin())
    timer_id, due_ns = timeline.timers.id[place], int(dues_ns[place])
    name = timer_label(history, timeline, timer_id, timeline.events_folded)
    reasons = overdue_reasons(history, timeline, timer_id, due_ns)
    return late, [
        replace(each, text=f"{name}: {each.text[:1].lower()}{each.text[1:]}")
        for each in reasons[:1]
    ]


def _stacks(lateness: Lateness) -> list[Reason]:
    return [
        Reason(f"Most often seen: {stack_text(share.stack)}.", lateness.begin_ns)
        for share in lateness.shares[:_MOST_STACKS]
        if share.stack
    ]


def _advice(lateness: Lateness, at_ns: int) -> list[Reason]:
    main = lateness.main
    text = "" if main is None else advice_text(main)
    if main is None or main.culprit is None or not text:
        return []
    return [Reason(text, at_ns, helps_against=main.culprit.place.call)]


def repetition_reasons(history: History, past: CallPast, cursor: int) -> list[Reason]:
    """Return why a timer was called more than once in a frame; empty if it was not."""
    last = past.last
    if last is None:
        return []
    frame = frame_after(history, last.cursor, cursor)
    began = _frame_cursor(history, last.cursor)
    group = [firing for firing in past.firings if firing.cursor >= began]
    if len(group) < 2 or frame is None:  # noqa: PLR2004 - called twice
        return []
    # Counted in the log: the past keeps the last firings only.
    fired = (event[2] for event in history.events(began, last.cursor + 1) if event[1] in FIRINGS)
    count = times(sum(number == past.id.number for number in fired))
    reason = f"It was called {count} in frame {frame:,}"
    extra = next((firing for firing in group if firing.is_out_of_turn), None)
    if extra is not None:
        return [Reason(f"{reason}, one of them outside its schedule.", last.at_ns, extra.cursor)]
    if max(firing.late_ns for firing in group) >= LATE_NS:
        text = f"{reason}: it caught up on missed ticks, as the policy “burst” does."
    elif past.armed is not None:
        text = (
            f"{reason}: its interval of {format_duration(past.armed.b)} local time fits into the "
            "frame more than once."
        )
    else:
        return []
    return [Reason(text, last.at_ns, last.cursor, frame=frame)]


def ties_before(history: History, timeline: Timeline, past: CallPast) -> list[Reason]:
    """Return which timers fired before a timer at the same instant, if any."""
    last = past.last
    if last is None or last.is_out_of_turn:
        return []
    start = max(history.cursor_at(last.at_ns - 1), last.cursor - NEARBY, history.first)
    others = [
        event[2]
        for event in history.events(start, last.cursor)
        if event[1] in FIRINGS
        and event[0] == last.at_ns
        and event[3] == last.late_ns
        and event[2] != past.id.number
    ]
    if not others:
        return []
    labels = [timer_label(history, timeline, other, start) for other in others[:3]]
    named = labels + [""] * (len(others) - len(labels))
    count = counted(len(others), "other timer")
    return [
        Reason(
            f"At the same instant, {count} fired before it, in scheduling order: {listed(named)}.",
            last.at_ns,
            last.cursor,
        )
    ]


class _Context:
    """The frame of a call, the frame before, and the events in between."""

    def __init__(self, history: History, timeline: Timeline, cursor: int) -> None:
        self.history = history
        self.timeline = timeline
        self.cursor = cursor
        self.since = _frame_cursor(history, cursor)
        self.frame = self._first_frame(cursor, cursor + 2 * NEARBY)
        self.before = self._first_frame(_frame_cursor(history, self.since - 1), self.since)

    def _first_frame(self, cursor: int, end: int) -> FrameEvents | None:
        frames = frames_in(*self.history.numbered(cursor, end))
        return next((frame for frame in frames if frame.cursor >= 0), None)

    def stretches(self, firing: PastCall) -> list[tuple[FrameEvents, int, int, int]]:
        """Return the stretches of the log whose timers may have delayed the call.

        Returns:
            For each stretch: the frame that counts its timers, its cursors, and the earliest
            reading of the time source that matters. Before the previous frame, only timers of
            that frame's own wake-up do.
        """
        found = []
        if self.before is not None:
            before = self.before
            found.append((before, before.start, before.cursor, before.at_ns))
        if self.frame is not None:
            found.append((self.frame, self.since, firing.cursor, 0))
        return found


def _frame_cursor(history: History, cursor: int) -> int:
    start = max(history.first, cursor - NEARBY)
    cursors, events = history.numbered(start, cursor)
    for place, event in zip(reversed(cursors), reversed(events), strict=True):
        if event[1] in FRAME_ENDS:
            return place + 1
    return start


def _running_frame(context: _Context, due_ns: int, firing: PastCall) -> tuple[int, list[Reason]]:
    """Return how long the previous frame ran on after the timer was due, and why."""
    frame = context.before
    if frame is None:
        return 0, []
    overlap_ns = min(frame.at_ns + frame.own_ns, firing.read_ns) - max(due_ns, frame.at_ns)
    if overlap_ns < LATE_NS:
        return 0, []
    phase = frame.longest_phase
    text = (
        f"Frame {frame.index:,} was still running when it was due: its callbacks took "
        f"{format_duration(frame.own_ns)}, {format_duration(frame.phases.get(phase, 0))} of that "
        f"in {phase.text}"
    )
    call = _longest_call(context, frame)
    if call:
        text += f", {call}"
    return overlap_ns, [Reason(f"{text}.", frame.at_ns, frame.cursor, frame=frame.index)]


def _longest_call(context: _Context, frame: FrameEvents) -> str:
    inner = innermost_call(frame.own_calls)
    if inner is None or 2 * inner[1] < frame.own_ns:
        return ""
    member = context.timeline.members.by_id.get(inner[2])
    name = f"member {inner[2]}" if member is None else f"“{member.name}”"
    return f"mainly {name} ({format_duration(inner[1])})"


def _timers_before(
    context: _Context, timer_id: int, firing: PastCall, due_ns: int
) -> tuple[int, list[Reason]]:
    blamed_ns = 0
    reasons: list[Reason] = []
    for frame, since, end, from_ns in context.stretches(firing):
        took_ns = frame.timers_ns
        earlier = [
            (at_ns + max(late_ns, 0), other, cursor)
            for cursor, (at_ns, kind, other, late_ns, _) in zip(
                *context.history.numbered(since, end), strict=True
            )
            if kind in FIRINGS and from_ns <= at_ns + max(late_ns, 0) < firing.read_ns
        ]
        if not earlier or took_ns < LATE_NS:
            continue
        # Only the time after the timer was due delayed it.
        began_ns = min(earlier)[0]
        overlap_ns = min(began_ns + took_ns, firing.read_ns) - max(due_ns, began_ns)
        if overlap_ns < LATE_NS:
            continue
        blamed_ns += overlap_ns
        numbers = list(dict.fromkeys(other for _, other, _ in earlier))
        text = (
            f"The timers of frame {frame.index:,} took {format_duration(took_ns)} together; called "
            f"before this one: {_who(context, numbers, timer_id)}."
        )
        likely = suspect(context.history, context.timeline, firing.cursor, set(numbers), took_ns)
        if likely is not None:
            text += (
                f" “{likely.label}” is the likely cause: in frames without it, the others took at "
                f"most {format_duration(likely.without_ns)}."
            )
        reasons.append(Reason(text, began_ns, earlier[-1][2], frame=frame.index))
    return blamed_ns, reasons


def _who(context: _Context, numbers: list[int], timer_id: int) -> str:
    """Return the names of timers; names beyond the first few are counted."""
    names = list(
        dict.fromkeys(
            timer_label(context.history, context.timeline, number, context.cursor)
            for number in numbers[:_MOST_NAMED]
        )
    )
    more = len(numbers) - len(numbers[:_MOST_NAMED])
    own = " (including this one)" if timer_id in numbers else ""
    return listed([*names, *[""] * more], _MOST_NAMED) + own


def _cut(context: _Context) -> list[Reason]:
    frame = context.frame
    if frame is None or not frame.cut_ns:
        return []
    text = (
        f"The host stalled for longer than max_delta: {format_duration(frame.cut_ns)} were cut in "
        f"frame {frame.index:,}, and session time did not pass during them."
    )
    return [Reason(text, frame.at_ns, frame.cursor + 1, frame=frame.index)]


def _out_of_turn(history: History, firing: PastCall) -> Reason:
    kept = "" if firing.next_ns == NEVER else " Its schedule is unchanged."
    early = (
        f"It was called {format_duration(-firing.late_ns)} early"
        if firing.late_ns < 0
        else "It was called outside its schedule"
    )
    until = FIRINGS | FRAME_STARTS | {ADDED[Unit.TIMER]}
    asked = command_behind(history, firing.cursor, FireTimer, until)
    if asked is not None:
        return Reason(f"{early}, by {asked[1]}.{kept}", firing.at_ns, asked[0])
    return Reason(f"{early}, by the program (fire_now).{kept}", firing.at_ns, firing.cursor)
