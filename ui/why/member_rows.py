"""Rows about a timer, a scheduler, a target, a call, a component, a machine."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.analysis.evidence import times
from inspector.calls.call import CALLED, CallId, call_of, short_site
from inspector.calls.dues import DueTimes
from inspector.display_text import counted
from inspector.events.members import MemberState
from inspector.events.timeline import Timeline
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import NEVER, Field, LifeCycle, MemberKind, Phase, rate_text

from ..kit.texts.member_texts import CALLS, edge_text, machine_transitions, member_run_state
from ..kit.texts.run_states import RunStateKind
from ..session.bridge import Selection
from .reason_rows import Told
from .rows import (
    MOST_LISTED,
    DetailRow,
    LinkedText,
    about,
    answer,
    heading,
    instant,
    linked,
    local_time,
    path_links,
    sentence,
)

#: At most this many of the last transitions of a machine are listed.
_TRANSITIONS_LISTED = 8
_RUNS = (RunStateKind.RUNNING, RunStateKind.HELD)


def member_rows(
    timeline: Timeline, number: int, strings: Sequence[str], told: Told
) -> list[DetailRow]:
    member = timeline.members.by_id.get(number)
    if member is None:
        return [sentence("This no longer exists: it was unscheduled, removed or destroyed.")]
    run_state = member_run_state(timeline, member)
    rows = [
        about(member.kind.text.capitalize(), _path_above(timeline, member)),
        heading(member.name),
    ]
    if told.answer and (run_state.kind not in _RUNS or member.kind in CALLED):
        rows += [answer(told.answer), *told.chain]
    rows += [heading("State"), DetailRow("State", run_state.text), *_field_rows(timeline, member)]
    if member.kind is MemberKind.MACHINE:
        rows += _machine_rows(timeline, member, strings)
    else:
        rows += _below_rows(timeline, member)
    rows.append(heading("History"))
    if member.calls:
        rows.append(DetailRow("Called", f"{member.calls:,} time{'' if member.calls == 1 else 's'}"))
        rows.append(DetailRow("Last took", f"{format_duration(member.took_ns)}, measured"))
    rows.append(DetailRow("Added at", format_instant(member.added_ns)))
    rows.append(DetailRow("Number", f"{member.id:,}"))
    return [*rows, *told.scores]


def _path_above(timeline: Timeline, member: MemberState) -> list[LinkedText]:
    links = path_links(timeline, member.clock_id) if member.clock_id in timeline.clocks else []
    for above in reversed(timeline.members.path(member.id)[1:]):
        if links:
            links.append(LinkedText(" / "))
        links.append(LinkedText(above.name, Selection.member(above.id)))
    return links


def _field_rows(timeline: Timeline, member: MemberState) -> list[DetailRow]:  # noqa: C901
    fields, members = member.fields, timeline.members
    rows = []
    if fields.get(Field.OWNER):
        rows.append(_owner_row(timeline, fields[Field.OWNER]))
    if Field.RULES in fields:
        rows.append(DetailRow("Rules", members.field_text(member.id, Field.RULES)))
    if Field.TIME in fields:
        rows.append(local_time("Own time", fields[Field.TIME]))
    if Field.RATE in fields:
        rows.append(DetailRow("Time scale", f"{rate_text(fields[Field.RATE])} × its clock"))
    if Field.PRIORITY in fields:
        rows.append(DetailRow("Priority", f"{fields[Field.PRIORITY]:,}; lower runs first"))
    if Field.ORDER in fields:
        rows.append(DetailRow("Execution order", f"{fields[Field.ORDER]:,}"))
    if Field.LIFE in fields and fields[Field.LIFE] in set(LifeCycle):
        rows.append(DetailRow("Life cycle", LifeCycle(fields[Field.LIFE]).text))
    if Field.PHASE in fields and fields[Field.PHASE] in set(Phase):
        rows.append(DetailRow("Phase", Phase(fields[Field.PHASE]).text))
    if Field.INTERVAL in fields:
        interval_ns = fields[Field.INTERVAL]
        rows.append(
            DetailRow("Every", format_duration(interval_ns) if interval_ns else "every frame")
        )
    if member.kind in CALLS:
        rows += _due_rows(timeline, member)
    if member.kind is MemberKind.EDGE:
        rows.append(DetailRow("From → to", edge_text(timeline, member)))
    return rows


def _owner_row(timeline: Timeline, owner_id: int) -> DetailRow:
    owner = timeline.members.by_id.get(owner_id)
    if owner is None:
        return DetailRow("Belongs to", f"member {owner_id:,}, which no longer exists")
    name = owner.name
    return DetailRow("Belongs to", name, links=(LinkedText(name, Selection.member(owner_id)),))


def _due_rows(timeline: Timeline, member: MemberState) -> list[DetailRow]:
    rows = []
    left_ns = DueTimes(timeline).left_ns(member)
    due_ns = member.fields.get(Field.DUE, NEVER)
    if left_ns is not None:
        if due_ns != NEVER and timeline.members.pausing(member.id) is None:
            rows.append(local_time("Due, own time", due_ns))
        rows.append(DetailRow("Remaining", f"{format_duration(left_ns)} of scheduler time"))
    left = member.fields.get(Field.CALLS_LEFT)
    if left is not None:
        rows.append(DetailRow("Calls left", "unlimited" if left < 0 else f"{left:,}"))
    if missed := member.fields.get(Field.MISSED):
        rows.append(
            DetailRow("Left out", f"{counted(missed, 'call')}, because of the limit per frame")
        )
    return rows


def _machine_rows(
    timeline: Timeline, machine: MemberState, strings: Sequence[str]
) -> list[DetailRow]:
    rows = [heading("Transitions")]
    for name, is_allowed in machine_transitions(timeline, machine):
        rows.append(DetailRow(name, "possible now" if is_allowed else "not from this state"))
    history = timeline.members.histories.get(machine.id)
    if history is None or not len(history):
        return rows
    rows.append(heading("Last states"))
    for index in range(len(history) - 1, max(-1, len(history) - 1 - _TRANSITIONS_LISTED), -1):
        by = strings[history.transition[index]]
        text = f"“{strings[history.state[index]]}”" + (f" by “{by}”" if by else ", at first")
        rows.append(DetailRow(format_instant(history.at_ns[index]), text))
    return rows


def _below_rows(timeline: Timeline, member: MemberState) -> list[DetailRow]:
    if not member.children:
        return []
    links: list[LinkedText] = []
    for number in member.children[:MOST_LISTED]:
        if links:
            links.append(LinkedText(", "))
        links.append(LinkedText(timeline.members.by_id[number].name, Selection.member(number)))
    if len(member.children) > MOST_LISTED:
        links.append(LinkedText(f" and {len(member.children) - MOST_LISTED:,} more"))
    return [heading(f"{len(member.children):,} below it"), linked("", links)]


def ended_rows(timeline: Timeline, told: Told, subject: str) -> list[DetailRow]:
    """Return what there is to say about a call that nothing waits for any more."""
    told_of, head = told.about, [heading(subject)]
    if told_of is not None and told_of.name:
        is_there = told_of.clock_id in timeline.clocks
        path = path_links(timeline, told_of.clock_id) if is_there else ()
        head = [about(told_of.kind.capitalize(), path), heading(told_of.name)]
    return [*head, answer(told.answer), *told.chain, *told.scores]


def timer_rows(timeline: Timeline, timer_id: int, told: Told, subject: str) -> list[DetailRow]:
    call = call_of(timeline, CallId(timer_id))
    if call is None or call.due_ns is None:
        return ended_rows(timeline, told, subject)
    clock, due_ns = timeline.clocks[call.clock_id], call.session_due_ns
    rows = [
        about("Timer", path_links(timeline, call.clock_id)),
        heading(call.name),
        answer(told.answer),
        *told.chain,
        heading("Times"),
        local_time("Due, local", call.due_ns),
        local_time("Local now", timeline.local_ns(clock.id)),
        DetailRow("Due", "never at present rates") if due_ns is None else instant("Due", due_ns),
        DetailRow("Kind", call.kind.text),
    ]
    if call.interval_ns:
        rows.append(DetailRow("Every", f"{format_duration(call.interval_ns)} of {clock.name}"))
    rows.append(DetailRow("Fired", times(call.calls)))
    if call.last_lateness_ns is not None:
        rows.append(DetailRow("Last late by", format_duration(call.last_lateness_ns)))
    site = short_site(call.call_site) or "unknown"
    if not any(site in row.text for row in told.chain):
        rows.append(DetailRow("Set at", site))
    return [*rows, *told.scores]
