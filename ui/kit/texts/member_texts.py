"""The state of schedulers, components and machines: one sentence each, with the reason."""

from __future__ import annotations

from inspector.calls.call import SCHEDULED, SCHEDULERS
from inspector.calls.dues import DueTimes
from inspector.display_text import counted
from inspector.events.members import TIMED_CALLS, MemberState
from inspector.events.timeline import Timeline
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import Field, LifeCycle, MemberKind, Phase

from .run_states import RunState, RunStateKind, brief_cause_text, brief_stop_text, reason_text

#: Kinds of members that a command can unschedule.
UNSCHEDULABLE = SCHEDULED - {MemberKind.FRAME_CALLBACK} | {MemberKind.TARGET}
_SCHEDULERS = SCHEDULERS - {MemberKind.MACHINE}
#: Kinds of members that a scheduler, a ticker or a clock calls.
CALLS = TIMED_CALLS | {MemberKind.UPDATE}

_ON = LifeCycle.STARTED
_LIVES = frozenset(map(int, LifeCycle))


def member_run_state(timeline: Timeline, member: MemberState) -> RunState:
    """Return what a member does now; its own pause is named before those above it."""
    life = member.fields.get(Field.LIFE)
    if member.is_paused:
        brief = "paused" + brief_cause_text(member.pause_cause)
        return RunState(RunStateKind.PAUSED, _pause_text(member), brief)
    if life is not None and life != _ON:
        kind = RunStateKind.PAUSED if life == LifeCycle.DISABLED else RunStateKind.HELD
        return RunState(kind, LifeCycle(life).text if life in _LIVES else f"life {life}")
    above = timeline.members.pausing(member.id)
    if above is not None:
        text = f"stopped by {above.kind.text} {above.name} ({_pause_text(above)})"
        return RunState(RunStateKind.STOPPED, text, f"{above.name} paused")
    scheduler = timeline.members.scheduler_of(member.id)
    if scheduler is not None and scheduler.rate_n == 0:
        text = "time scale 0" if scheduler is member else f"{scheduler.name} has time scale 0"
        return RunState(RunStateKind.FROZEN, text)
    for reason in timeline.stopping_clocks(member):
        text = f"stopped by {reason.clock_name} ({reason_text(reason)})"
        return RunState(RunStateKind.STOPPED, text, brief_stop_text(reason))
    kind = RunStateKind.RUNNING if timeline.is_running else RunStateKind.HELD
    return RunState(kind, doing_text(timeline, member), _brief_doing_text(member))


def is_paused_itself(member: MemberState) -> bool:
    """Whether resuming this very member is what would change it."""
    return member.is_paused or member.fields.get(Field.LIFE) == LifeCycle.DISABLED


def _pause_text(member: MemberState) -> str:
    who = "you" if member.pause_cause else "the program"
    return f"paused by {who} since {format_instant(member.paused_since_ns)}"


def doing_text(timeline: Timeline, member: MemberState) -> str:  # noqa: PLR0911 - one per kind
    fields = member.fields
    match member.kind:
        case _ if member.kind in _SCHEDULERS:
            rules = timeline.members.field_text(member.id, Field.RULES)
            return f"running, {rules}" if rules else "running"
        case MemberKind.SLICE:
            return counted(member.calls, "slice")
        case MemberKind.UPDATE:
            return f"every frame, priority {fields.get(Field.PRIORITY, 0)}"
        case MemberKind.FRAME_TIMER | MemberKind.TICKER_TIMER | MemberKind.LOOP:
            return _timer_text(member)
        case MemberKind.TIMEOUT:
            return "once"
        case MemberKind.MACHINE:
            return f"in “{timeline.members.field_text(member.id, Field.STATE)}”"
        case MemberKind.EDGE:
            return edge_text(timeline, member)
        case MemberKind.FRAME_CALLBACK:
            phase = fields.get(Field.PHASE)
            return f"every frame in {Phase(phase).text}" if phase in _PHASES else "every frame"
        case MemberKind.COMPONENT | MemberKind.NODE if Field.LIFE in fields:
            order = fields.get(Field.ORDER)
            return _ON.text + (f", order {order}" if order else "")
        case _:
            return "running"


_PHASES = frozenset(map(int, Phase))


def _brief_doing_text(member: MemberState) -> str:
    """Return the gist of what a member does, for a narrow column; empty if all of it is."""
    fields = member.fields
    match member.kind:
        case _ if member.kind in _SCHEDULERS:
            return "running"
        case MemberKind.UPDATE:
            return f"priority {fields.get(Field.PRIORITY, 0)}"
        case MemberKind.FRAME_TIMER | MemberKind.TICKER_TIMER | MemberKind.LOOP if fields.get(
            Field.INTERVAL
        ):
            return f"every {format_duration(fields[Field.INTERVAL])}"
        case MemberKind.FRAME_CALLBACK if fields.get(Field.PHASE) in _PHASES:
            return f"in {Phase(fields[Field.PHASE]).text}"
        case _:
            return ""


def _timer_text(member: MemberState) -> str:
    interval_ns = member.fields.get(Field.INTERVAL, 0)
    text = f"every {format_duration(interval_ns)}" if interval_ns else "every frame"
    left = member.fields.get(Field.CALLS_LEFT, -1)
    if left >= 0:
        text += f", {left:,} call{'' if left == 1 else 's'} left"
    missed = member.fields.get(Field.MISSED, 0)
    return text + (f", {missed:,} skipped" if missed else "")


def edge_text(timeline: Timeline, edge: MemberState) -> str:
    members = timeline.members
    source = members.field_text(edge.id, Field.SOURCE)
    target = members.field_text(edge.id, Field.TARGET)
    origin = "any state" if source == "*" else f"“{source}”"
    return f"{origin} → {f'“{target}”' if target else 'a state chosen by a function'}"


def next_call_text(timeline: Timeline, member: MemberState) -> str:
    if member.kind in {MemberKind.UPDATE, MemberKind.FRAME_CALLBACK}:
        return "every frame"
    left_ns = DueTimes(timeline).left_ns(member)
    if left_ns is not None:
        return format_duration(left_ns)
    is_timer = member.kind in {MemberKind.FRAME_TIMER, MemberKind.TICKER_TIMER}
    return "every frame" if is_timer and not member.fields.get(Field.INTERVAL) else ""


def machine_transitions(timeline: Timeline, machine: MemberState) -> list[tuple[str, bool]]:
    """Return the transitions of a machine, and whether each leads away from its state."""
    members = timeline.members
    state = members.field_text(machine.id, Field.STATE)
    found: dict[str, bool] = {}
    for number in machine.children:
        edge = members.by_id[number]
        if edge.kind is MemberKind.EDGE:
            source = members.field_text(number, Field.SOURCE)
            found[edge.name] = found.get(edge.name, False) or source in {"*", state}
    return list(found.items())
