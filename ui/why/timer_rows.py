"""Rows about a timer, and why it has not fired."""

from __future__ import annotations

from inspector.analysis.evidence import times
from inspector.calls.call import CallId, call_of, short_site
from inspector.events.timeline import Timeline
from inspector.timebase import format_duration

from .reason_rows import Told
from .rows import DetailRow, about, answer, heading, instant, path_links


def timer_rows(timeline: Timeline, timer_id: int, told: Told, subject: str) -> list[DetailRow]:
    call = call_of(timeline, CallId(timer_id))
    if call is None or call.due_ns is None:
        return [heading(subject), answer(told.answer), *told.chain, *told.scores]
    clock, due_ns = timeline.clocks[call.clock_id], call.session_due_ns
    rows = [
        about("Timer", path_links(timeline, call.clock_id)),
        heading(call.name),
        answer(told.answer),
        *told.chain,
        heading("Times"),
        instant("Due, local", call.due_ns),
        instant("Local now", timeline.local_ns(clock.id)),
        DetailRow("Due", "never at present rates") if due_ns is None else instant("Due", due_ns),
        DetailRow("Kind", call.kind.text),
    ]
    if call.interval_ns:
        rows.append(DetailRow("Every", f"{format_duration(call.interval_ns)} of {clock.name}"))
    rows.append(DetailRow("Fired", times(call.calls)))
    if call.last_lateness_ns is not None:
        rows.append(DetailRow("Last late by", format_duration(call.last_lateness_ns)))
    rows.append(DetailRow("Set at", short_site(call.call_site) or "unknown"))
    rows.append(DetailRow("Number", f"{timer_id}, scheduling order {call.order}"))
    return [*rows, *told.scores]
