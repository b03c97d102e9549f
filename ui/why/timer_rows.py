"""What there is to say about a timer, and why it has not fired."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.analysis.evidence import times
from inspector.calls.call import CallId, call_of, short_site
from inspector.events.timeline import Timeline
from inspector.timebase import format_duration

from ..kit.texts.call_texts import due_in_text
from .rows import DetailRow, about, answer_first, heading, instant_with_ns, path_links


def timer_rows(
    timeline: Timeline, timer_id: int, why: Sequence[DetailRow], subject: str
) -> list[DetailRow]:
    """Return what there is to say about a timer.

    Args:
        timeline: The state that is shown.
        timer_id: The timer, pending or not.
        why: Why it has not fired, or why it did when it did.
        subject: What it is called, also when it is not there.
    """
    call = call_of(timeline, CallId(timer_id))
    if call is None or call.due_ns is None:
        return [heading(subject), *answer_first(why)]
    due_ns, fired = call.session_due_ns, call.calls
    rows = [
        about("Timer", path_links(timeline, call.clock_id)),
        heading(call.name),
        *answer_first(why),
        heading("Times"),
        DetailRow("Kind", call.kind.text),
    ]
    if call.interval_ns:
        clock = timeline.clocks[call.clock_id]
        rows.append(DetailRow("Every", f"{format_duration(call.interval_ns)} of {clock.name}"))
    rows += [
        DetailRow("Due, local", instant_with_ns(call.due_ns)),
        DetailRow(
            "Due, session",
            "never at present rates" if due_ns is None else instant_with_ns(due_ns),
        ),
        DetailRow("Fires in", due_in_text(call, timeline.at_ns)),
        heading("History"),
        DetailRow("Fired", times(fired)),
    ]
    if call.last_lateness_ns is not None:
        rows.append(DetailRow("Last late by", format_duration(call.last_lateness_ns)))
    rows.append(DetailRow("Set at", short_site(call.call_site) or "unknown"))
    rows.append(DetailRow("Number", f"{timer_id}, scheduling order {call.order}"))
    return rows
