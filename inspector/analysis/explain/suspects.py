"""The timer that took most of the time measured for several together.

Only the total time of a frame's timers is recorded. But the timers differ from frame to
frame: if the others were fast without a timer, that timer is the likely cause.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from inspector.analysis.evidence import NEARBY
from inspector.analysis.frame_events import MeasuredCall, frames_in
from inspector.events.history import History
from inspector.events.schema import ADDED, Unit
from inspector.events.timeline import Timeline

#: Among more timers than this, no suspect is named.
_MOST_CANDIDATES: Final = 40
#: The suspect accounts for at least this share of the time.
_SHARE: Final = 0.5
#: A nested call that takes at least this share of the call around it is named instead of that.
_INNER_SHARE: Final = 0.6


class Suspect(Struct, frozen=True):
    label: str
    without_ns: int  # The most time that the others took in a frame without it
    frames: int  # How many such frames there were


def innermost_call(calls: Iterable[MeasuredCall]) -> MeasuredCall | None:
    """Return the longest call; of nested calls, the innermost."""
    known = list(calls)
    longest_ns = max((call[1] for call in known), default=0)
    return max((call for call in known if call[1] >= _INNER_SHARE * longest_ns), default=None)


def suspect(
    history: History, timeline: Timeline, cursor: int, called: set[int], took_ns: int
) -> Suspect | None:
    """Return the timer called that probably took most of the time, ``None`` if undecided.

    The timers took ``took_ns`` together; frames around the cursor are compared.
    """
    timer_sets, labels = _timer_sets(history, timeline, cursor)
    mine = {labels.get(number, "") for number in called}
    if len(mine) == 1 or "" in mine or len(mine) > _MOST_CANDIDATES:
        return None
    best: Suspect | None = None
    for label in sorted(mine):
        others = mine - {label}
        without = [ns for names, ns in timer_sets if label not in names and others & names]
        seen = set().union(*(names for names, _ in timer_sets if label not in names))
        if not without or not others <= seen:
            continue
        found = Suspect(label, max(without), len(without))
        if best is None or found.without_ns < best.without_ns:
            best = found
    if best is None or best.without_ns > (1 - _SHARE) * took_ns:
        return None
    return best


def _timer_sets(
    history: History, timeline: Timeline, cursor: int
) -> tuple[list[tuple[frozenset[str], int]], dict[int, str]]:
    """Return the timers of each frame with their total time, and the labels by number."""
    start, end = max(history.first, cursor - NEARBY), min(history.end, cursor + NEARBY)
    table, strings = timeline.timers, history.strings
    labels = {
        timer_id: strings[label] for timer_id, label in zip(table.id, table.label, strict=True)
    }
    cursors, events = history.numbered(start, end)
    added = ADDED[Unit.TIMER]
    labels |= {event[2]: strings[event[4]] for event in events if event[1] == added}
    timer_sets = [
        (frozenset(labels.get(number, "") for number, _ in frame.fired), frame.timers_ns)
        for frame in frames_in(cursors, events)
        if frame.fired
    ]
    return timer_sets, labels
