"""Which of several timers took the time that was measured for all of them together.

What one timer takes is not recorded, only what those of a frame take in all. But timers
come in different company from frame to frame: the one without which the others were quick
is the likely one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from inspector.analysis.evidence import NEARBY
from inspector.vocabulary import (
    FRAME_BEGAN,
    FRAME_ENDED,
    PHASE_ENDED,
    TIMER_ADDED,
    TIMER_FIRED,
    Phase,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from inspector.events.history import History
    from inspector.events.timeline import Timeline

#: More timers than this are not told apart.
_MOST_CANDIDATES: Final = 40
#: The likely one makes this share of the difference at least.
_SHARE: Final = 0.5
#: What a call must have taken of the longest one to be named in its place: its caller
#: contains it.
_INNER_SHARE: Final = 0.6

#: A call within a frame: when it began, how long it took, and its number.
MeasuredCall: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Suspect:
    """The timer that is likely to have taken the time.

    Attributes:
        label: What it is called.
        without_ns: What the timers of a frame took at most in which others of them were
            called, but not it.
        frames: In how many frames that was.
    """

    label: str
    without_ns: int
    frames: int


def innermost_call(calls: Iterable[MeasuredCall]) -> MeasuredCall | None:
    """Return the call that took longest; of calls that lie in one another, the innermost."""
    known = list(calls)
    longest_ns = max((call[1] for call in known), default=0)
    return max((call for call in known if call[1] >= _INNER_SHARE * longest_ns), default=None)


def suspect(
    history: History, timeline: Timeline, cursor: int, called: set[int], took_ns: int
) -> Suspect | None:
    """Return which of the timers called took most of the time, if that can be told.

    Args:
        history: The past.
        timeline: The state, for names.
        cursor: Where in the log to look around.
        called: The timers that were called.
        took_ns: What they took together, measured.
    """
    companies, labels = _companies(history, timeline, cursor)
    mine = {labels.get(number, "") for number in called}
    if len(mine) == 1 or "" in mine or len(mine) > _MOST_CANDIDATES:
        return None
    best: Suspect | None = None
    for label in sorted(mine):
        others = mine - {label}
        without = [ns for company, ns in companies if label not in company and others & company]
        seen = set().union(*(company for company, _ in companies if label not in company))
        if not without or not others <= seen:
            continue
        found = Suspect(label, max(without), len(without))
        if best is None or found.without_ns < best.without_ns:
            best = found
    if best is None or best.without_ns > (1 - _SHARE) * took_ns:
        return None
    return best


def _companies(
    history: History, timeline: Timeline, cursor: int
) -> tuple[list[tuple[frozenset[str], int]], dict[int, str]]:
    """Return by frame who was called for it and what the timers took; and who is who."""
    start, end = max(history.first, cursor - NEARBY), min(history.end, cursor + NEARBY)
    table, strings = timeline.timers, history.strings
    labels = {
        timer_id: strings[label] for timer_id, label in zip(table.id, table.label, strict=True)
    }
    companies: list[tuple[frozenset[str], int]] = []
    company: set[str] = set()
    timers_ns = 0
    for event in history.events(start, end):
        kind, subject = event[1], event[2]
        if kind == TIMER_FIRED:
            company.add(labels.get(subject, ""))
        elif kind == TIMER_ADDED:
            labels[subject] = strings[event[4]]
        elif kind == FRAME_BEGAN:
            timers_ns = 0
        elif kind == PHASE_ENDED and subject == Phase.TIMERS:
            timers_ns += event[4]
        elif kind == FRAME_ENDED:
            if company:
                companies.append((frozenset(company), timers_ns))
            company = set()
    return companies, labels
