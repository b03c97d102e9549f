"""Rows about a clock, and why it stands still."""

from __future__ import annotations

from typing import Final

import numpy as np

from inspector.analysis.evidence import last_event, subject_of
from inspector.analysis.explain.blocker_reasons import stands_still
from inspector.calls.blockers import Blocker, BlockerKind, clock_blockers
from inspector.display_text import counted, listed, without_quotes
from inspector.events.history import History
from inspector.events.states import ClockState
from inspector.events.timeline import Timeline
from inspector.timebase import format_instant
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_RATE,
    CLOCK_REMOVED,
    CLOCK_RESUMED,
    rate_chip,
    ratio_text,
)

from ..kit.texts.clock_texts import rate_algebra
from ..session.bridge import Selection
from ..session.overruled_rates import OverruledRate
from .rows import (
    MOST_LISTED,
    ClockCounts,
    DetailRow,
    LinkedText,
    about,
    answer,
    heading,
    instant,
    linked,
    local_time,
    note,
    path_links,
    sentence,
    step,
)
from .timer_lists import next_rows, waiting_rows

#: At most this many timers of a clock are listed.
_MOST_TIMERS: Final = 5
#: At most this many stops of a clock are explained.
_MOST_STOPS: Final = 2
#: Events that begin a stretch in which the time of a clock passes at one rate.
_BEGINNINGS: Final = frozenset({CLOCK_ADDED, CLOCK_RATE, CLOCK_RESUMED})


class ClockHistory:
    """What was done to a clock; kept, because searching the log takes a while."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._row: DetailRow | None = None
        self._absent_key: tuple[object, ...] = ()
        self._absent: list[DetailRow] = []

    def before_pause(self, history: History, clock_id: int, paused_ns: int) -> DetailRow | None:
        """Return at which rate a clock ran before it was paused, and since when."""
        key = history, clock_id, paused_ns
        if key != self._key:
            self._key, self._row = key, _before(history, clock_id, paused_ns)
        return self._row

    def rate_set(self, history: History, timeline: Timeline, clock_id: int) -> DetailRow:
        key = history, clock_id, timeline, timeline.mapping_version
        if key != self._key or self._row is None:
            self._key, self._row = key, _rate_step(history, timeline, clock_id)
        return self._row

    def absent(self, history: History, timeline: Timeline, clock_id: int) -> list[DetailRow]:
        """Return what is said of a clock that a state does not have."""
        key = history, clock_id, timeline, timeline.structure_version
        if key != self._absent_key:
            self._absent_key, self._absent = key, _absent_rows(history, timeline, clock_id)
        return self._absent


def clock_rows(  # noqa: PLR0913, PLR0917 - the clock at an instant, and what knows of it
    history: History,
    timeline: Timeline,
    clock_id: int,
    clock_counts: ClockCounts,
    past: ClockHistory,
    overruled: OverruledRate | None = None,
) -> list[DetailRow]:
    clock = timeline.clocks.get(clock_id)
    if clock is None:
        return past.absent(history, timeline, clock_id)
    blockers = clock_blockers(timeline, clock_id)
    among = clock_counts.in_branch(timeline, clock_id)
    pending = int(np.count_nonzero(among))
    rows = _head(timeline, clock, _answer(timeline, clock_id))
    chain = _chain(history, timeline, clock_id, past, pending)
    if chain:
        rows += [heading("Why"), *chain]
    if blockers and pending:
        rows += [heading("What waits", counted(pending, "timer")), *waiting_rows(timeline, among)]
    elif pending and (following := next_rows(timeline, _MOST_TIMERS, among)):
        rows += [heading("Next to fire", f"{pending:,} pending"), *following]
    rows += [
        heading("Times"),
        local_time("Local", timeline.local_ns(clock_id)),
        instant("Session", timeline.at_ns),
        DetailRow("Own rate", f"{rate_chip(clock.rate_n)}"),
        *([] if overruled is None else [DetailRow("Set by", overruled.note)]),
        DetailRow("Effective", _effective_text(timeline, clock_id)),
        DetailRow("Added at", format_instant(clock.created_ns)),
    ]
    if clock.children:
        rows.append(heading(f"{len(clock.children):,} below it"))
        rows.append(linked("", _clock_links(timeline, clock.children)))
    return rows


def _head(timeline: Timeline, clock: ClockState, said: str) -> list[DetailRow]:
    above = path_links(timeline, clock.parent_id) if clock.parent_id else ()
    return [about("Clock", above), heading(clock.name), answer(said)]


def _absent_rows(history: History, timeline: Timeline, clock_id: int) -> list[DetailRow]:
    cursor = min(timeline.events_folded, history.end)
    removed = last_event(history, cursor, {CLOCK_REMOVED}, clock_id)
    state = history.state_before(history.end if removed is None else removed[0])
    clock = state.clocks.get(clock_id)
    if clock is None:
        return [sentence("This clock no longer exists: it was removed.")]
    if removed is None:
        return _head(state, clock, "It does not exist yet.")
    return _head(state, clock, f"It was removed at {format_instant(removed[1][0])}.")


def _effective_text(timeline: Timeline, clock_id: int) -> str:
    """Return the effective rate, with how it comes about if it is not that of the clock alone."""
    clock = timeline.clocks[clock_id]
    if timeline.effective_rate(clock_id):
        if all(above.rate == 1 for above in timeline.path(clock_id)[1:]):
            return f"{rate_chip(clock.rate_n)}"
        return rate_algebra(timeline, clock_id)
    if clock.paused:
        return "0, as it is paused"
    return "0, as a clock above it is stopped" if clock.rate else "0"


def _answer(timeline: Timeline, clock_id: int) -> str:
    """Return whether the time of a clock passes, and what stops it, in one sentence."""
    blockers = clock_blockers(timeline, clock_id)
    if not blockers:
        rate = timeline.effective_rate(clock_id)
        if rate == 1:
            return "Its time passes as the session's does."
        return f"Its time passes at {ratio_text(rate)} × the session's."
    stopping = blockers[0]
    return stands_still(timeline, stopping, "it" if stopping.is_own else stopping.name)


def _chain(
    history: History, timeline: Timeline, clock_id: int, past: ClockHistory, pending: int
) -> list[DetailRow]:
    """Return why a clock stands still, or runs at another rate, each reason with its instant."""
    blockers = clock_blockers(timeline, clock_id)
    if not blockers:
        changed = timeline.clocks[clock_id].rate != 1
        return [past.rate_set(history, timeline, clock_id)] if changed else []
    rows = [_stop_step(timeline, each) for each in blockers[:_MOST_STOPS]]
    rows.append(step("since then", [LinkedText(_since_then(timeline, blockers, pending))]))
    own = blockers[0]
    if own.is_own and own.kind is BlockerKind.CLOCK_PAUSED:
        before = past.before_pause(history, clock_id, own.since_ns or 0)
        rows += [] if before is None else [before]
    return rows


def _stop_step(timeline: Timeline, blocker: Blocker) -> DetailRow:
    since_ns, name = blocker.since_ns or 0, blocker.name
    subject = subject_of(timeline, blocker.cause)
    match blocker.kind:
        case BlockerKind.DETACHED:
            text = f"{without_quotes(blocker.text)}."
        case BlockerKind.CLOCK_RATE:
            text = f"{subject} set the rate of {name} to 0."
        case _:
            text = f"{subject} paused {name}."
    return step(format_instant(since_ns), [LinkedText(text[:-1], at_ns=since_ns), LinkedText(".")])


def _since_then(timeline: Timeline, blockers: tuple[Blocker, ...], pending: int) -> str:
    """Return how many timers wait, and which clocks run on while others are stopped."""
    count = counted(pending, "timer") if pending else "No timer"
    waits = f"{count} {'wait' if pending > 1 else 'waits'}."
    top = timeline.path(blockers[-1].clock_id)[-1]
    if any(each.clock_id == top.id for each in blockers):
        return waits
    path = {clock.id for clock in timeline.path(blockers[-1].clock_id)}
    running = [
        clock.name
        for clock in timeline.clocks.values()
        if clock.id != top.id
        and (clock.id in path or clock.parent_id in path)
        and timeline.effective_rate(clock.id)
    ]
    if not running or not timeline.is_running:
        return waits
    return f"{waits} {listed(running, MOST_LISTED)} {'runs' if len(running) == 1 else 'run'} on."


def _before(history: History, clock_id: int, paused_ns: int) -> DetailRow | None:
    then = history.state_at(paused_ns - 1)
    clock = then.clocks.get(clock_id)
    if clock is None or not clock.n:
        return None
    runs = f"It had run at {rate_chip(clock.rate_n)}"
    found = last_event(history, history.cursor_at(paused_ns - 1), _BEGINNINGS, clock_id)
    if found is None:
        return step("before that", [LinkedText(f"{runs}.")])
    at_ns = found[1][0]
    since = LinkedText(format_instant(at_ns), at_ns=at_ns)
    pieces = [LinkedText(f"{runs} since "), since, LinkedText(".")]
    return step("before that", pieces)


def _rate_step(history: History, timeline: Timeline, clock_id: int) -> DetailRow:
    clock = timeline.clocks[clock_id]
    cursor = min(timeline.events_folded, history.end)
    found = last_event(history, cursor, {CLOCK_RATE}, clock_id)
    if found is None:
        since = "since it was added" if not history.first else "for a long time"
        return note(f"It has had rate {rate_chip(clock.rate_n)} {since}.")
    at_ns, _, _, _, cause = found[1]
    verb = "slowed" if clock.rate < 1 else "sped up"
    text = f"{subject_of(timeline, cause)} {verb} {clock.name}"
    pieces = [LinkedText(text, at_ns=at_ns), LinkedText(f" to {rate_chip(clock.rate_n)}.")]
    return step(format_instant(at_ns), pieces)


def _clock_links(timeline: Timeline, clock_ids: list[int]) -> list[LinkedText]:
    links: list[LinkedText] = []
    for clock_id in clock_ids[:MOST_LISTED]:
        if links:
            links.append(LinkedText(", "))
        links.append(LinkedText(timeline.clocks[clock_id].name, Selection.clock(clock_id)))
    if len(clock_ids) > MOST_LISTED:
        links.append(LinkedText(f" and {len(clock_ids) - MOST_LISTED:,} more"))
    return links
