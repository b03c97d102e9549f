"""What there is to say about a clock, and why it stands still."""

from __future__ import annotations

import numpy as np

from inspector.analysis.explain.blocker_reasons import stands_still
from inspector.calls.blockers import clock_blockers
from inspector.calls.call import Call, CallId, call_of
from inspector.events.timeline import Timeline
from inspector.timebase import format_instant
from inspector.vocabulary import ratio_text

from ..kit.texts.call_texts import due_in_text
from ..kit.texts.clock_texts import rate_algebra
from ..kit.texts.run_states import reason_text, run_state_of
from ..session.bridge import Selection
from ..session.overruled_rates import OverruledRate
from .rows import (
    MOST_LISTED,
    ClockCounts,
    DetailRow,
    Link,
    about,
    ago,
    answer,
    heading,
    instant_with_ns,
    linked,
    path_links,
    sentence,
)


def clock_rows(
    timeline: Timeline,
    clock_id: int,
    clock_counts: ClockCounts,
    overruled: OverruledRate | None = None,
) -> list[DetailRow]:
    """Return what there is to say about a clock.

    Args:
        timeline: The state that is shown.
        overruled: A rate that was set from outside, and that the scene has changed since.
    """
    clock = timeline.clocks.get(clock_id)
    if clock is None:
        return [sentence("This clock no longer exists: it was removed.")]
    effective = timeline.effective_rate(clock_id)
    reasons = timeline.pause_reasons(clock_id)
    above = path_links(timeline, clock.parent_id) if clock.parent_id else ()
    rows = [
        about("Clock", above),
        heading(clock.name),
        answer(_answer(timeline, clock_id)),
    ]
    if reasons:
        rows.append(heading("Why"))
        rows += [
            linked(
                "Itself" if reason.is_own else "Ancestor",
                (
                    Link(reason.clock_name, Selection.clock(reason.clock_id)),
                    Link(f" {reason_text(reason)}, {ago(timeline, reason.since_ns)}"),
                ),
            )
            for reason in reasons
        ]
    rows += [
        heading("Times"),
        DetailRow("State", run_state_of(timeline, clock_id).text),
        DetailRow("Local time", instant_with_ns(timeline.local_ns(clock_id))),
        DetailRow("Session time", instant_with_ns(timeline.at_ns)),
        DetailRow("Rate", f"{ratio_text(clock.rate)} × its parent"),
        *([] if overruled is None else [DetailRow("Set by", overruled.note)]),
        DetailRow("Effective rate", f"{ratio_text(effective)} × the session"),
        DetailRow("", rate_algebra(timeline, clock_id)),
        DetailRow("Added at", format_instant(clock.created_ns)),
    ]
    rows.append(heading("Timers"))
    rows.append(DetailRow("On this clock", f"{clock.pending:,} pending"))
    if clock.children:
        below = clock_counts.pending_in_branch(timeline, clock_id)
        rows.append(DetailRow("In the branch", f"{below:,} pending"))
    next_timer = _next_timer(timeline, clock_id)
    if next_timer is not None:
        rows.append(
            linked(
                "Next",
                (
                    Link(next_timer.name, Selection.timer(next_timer.id.number)),
                    Link(f" {_in(due_in_text(next_timer, timeline.at_ns))}"),
                ),
            )
        )
    if clock.children:
        rows.append(heading(f"{len(clock.children):,} below it"))
        rows.append(linked("", _clock_links(timeline, clock.children)))
    return rows


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


def _clock_links(timeline: Timeline, clock_ids: list[int]) -> list[Link]:
    links: list[Link] = []
    for clock_id in clock_ids[:MOST_LISTED]:
        if links:
            links.append(Link(", "))
        links.append(Link(timeline.clocks[clock_id].name, Selection.clock(clock_id)))
    if len(clock_ids) > MOST_LISTED:
        links.append(Link(f" and {len(clock_ids) - MOST_LISTED:,} more"))
    return links


def _next_timer(timeline: Timeline, clock_id: int) -> Call | None:
    timers = timeline.timers
    places = np.flatnonzero(timers.numpy("clock") == clock_id)
    if not places.size:
        return None
    place = places[np.lexsort((timers.numpy("order")[places], timers.numpy("due")[places]))[0]]
    return call_of(timeline, CallId(timers.id[int(place)]))


def _in(remaining: str) -> str:
    is_whole = remaining.startswith(("now", "late", "wait", "never"))
    return remaining if is_whole else f"in {remaining}"
