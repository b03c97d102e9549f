"""What there is to say about a timer, and why it has not fired."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.timebase import format_duration

from ..kit.texts.timer_cells import remaining_text, short_site
from .detail_rows import (
    DetailRow,
    heading,
    instant_with_ns,
    linked,
    path_links,
    sentence,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.events.timeline import Timeline


def timer_rows(
    timeline: Timeline, timer_id: int, why: Sequence[DetailRow], subject: str
) -> list[DetailRow]:
    """Return what there is to say about a timer.

    Args:
        timeline: The state that is shown.
        timer_id: The timer, pending or not.
        why: Why it has not fired, or why it did when it did.
        subject: What it is called, also when it is gone.
    """
    if timer_id not in timeline.timers:
        gone = "This timer is no longer pending."
        return [heading(subject), sentence(gone), *why]
    timer = timeline.timers.row(timer_id)
    clock = timeline.clocks[timer.clock_id]
    due_ns = timeline.session_due_ns(timer_id)
    rows = [
        heading(f"Timer “{timer.label}”"),
        linked("Clock", path_links(timeline, timer.clock_id)),
        DetailRow("Kind", timer.kind.text),
    ]
    if timer.interval_ns:
        rows.append(DetailRow("Every", f"{format_duration(timer.interval_ns)} of “{clock.name}”"))
    rows += [
        DetailRow("Due, local", instant_with_ns(timer.due_ns)),
        DetailRow(
            "Due, session",
            "never at present rates" if due_ns is None else instant_with_ns(due_ns),
        ),
        DetailRow("Fires in", remaining_text(timeline, timer)),
        *why,
    ]
    rows.append(heading("History"))
    rows.append(DetailRow("Fired", f"{timer.fired:,} times" if timer.fired != 1 else "once"))
    if timer.fired:
        rows.append(DetailRow("Last late by", format_duration(timer.last_lateness_ns)))
    rows.append(DetailRow("Set at", short_site(timer.call_site) or "unknown"))
    rows.append(DetailRow("Number", f"{timer_id}, scheduling order {timer.order}"))
    return rows
