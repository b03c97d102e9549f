"""The columns of the queue: what is said of a call, whatever schedules it."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from inspector.calls.call import Call, short_site
from inspector.display_text import counted
from inspector.events.members import MemberState
from inspector.events.timeline import Timeline
from inspector.timebase import format_duration, format_instant, format_local_time
from inspector.vocabulary import Field, MemberKind, Phase

from ..kit.table.columns import Column, ColumnEnum
from ..kit.texts.call_texts import due_in_text, is_overdue
from ..kit.texts.clock_texts import path_text
from ..kit.texts.run_states import RunState, RunStateKind

_PHASES: Final = frozenset(map(int, Phase))


class QueueRow(Struct, frozen=True):
    call: Call
    timeline: Timeline  # Has the names of its clock and of what it hangs under
    at_ns: int  # Session time as of which it waits
    run_state: RunState  # What it does then, and why
    waits: bool  # Whether something keeps it from being made
    member: MemberState | None = None  # The call as a member, None for a timer of a clock


def _clock(row: QueueRow) -> str:
    return row.timeline.names_apart.get(row.call.clock_id, "")


def _clock_tip(row: QueueRow) -> str:
    known = row.call.clock_id in row.timeline.clocks
    return path_text(row.timeline, row.call.clock_id) if known else ""


def _name(row: QueueRow) -> str:
    return row.call.name or _kind(row)


def _name_of(row: QueueRow, member_id: int) -> str:
    member = row.timeline.members.by_id.get(member_id)
    return "" if member is None else member.name


def _nanoseconds(ns: int | None, unknown: str = "") -> str:
    return unknown if ns is None else f"{ns:,} ns"


def _local_time(ns: int | None) -> str:
    return "" if ns is None else format_local_time(ns)


def _instant(ns: int | None, unknown: str = "") -> str:
    return unknown if ns is None else format_instant(ns)


def _due_in_tip(row: QueueRow) -> str:
    if is_overdue(row.call, row.at_ns):
        caller = row.timeline.members.by_id.get(row.call.scheduler_id)
        who = "its clock" if caller is None else caller.name
        return f"{due_in_text(row.call, row.at_ns)}: {who} has not called it since"
    left = row.call.left_ns
    if row.call.waits_on_clock or left is None:
        return due_in_text(row.call, row.at_ns)
    return (
        f"{due_in_text(row.call, row.at_ns)}\n{format_duration(left)} in the time of its scheduler"
    )


def _interval(row: QueueRow) -> str:
    return _duration(row.call.interval_ns or None).removesuffix(".000")


def _calls(row: QueueRow) -> str:
    return f"{row.call.calls:,}" if row.call.calls else ""


def _calls_tip(row: QueueRow) -> str:
    call = row.call
    return f"{counted(call.calls, 'call')}, {call.missed:,} skipped" if call.missed else _calls(row)


def _left(row: QueueRow) -> str:
    left = row.call.calls_left
    return "" if left is None else f"{left:,}" if left >= 0 else "∞"


def _duration(ns: int | None) -> str:
    return "" if ns is None else format_duration(ns)


def _path(row: QueueRow) -> str:
    if row.member is None:
        return row.call.name
    above = reversed(row.timeline.members.path(row.call.id.number))
    return " / ".join(each.name for each in above if each.name)


def kind_text(member: MemberState) -> str:
    """Return what kind of call a member is; for a callback of the frame, with its phase."""
    if member.kind is MemberKind.FRAME_CALLBACK:
        phase = member.fields.get(Field.PHASE)
        return f"in {Phase(phase).text}" if phase in _PHASES else member.kind.text
    return member.kind.text


def _kind(row: QueueRow) -> str:
    return row.call.kind.text if row.member is None else kind_text(row.member)


def _kind_tip(row: QueueRow) -> str:
    if row.member is None:
        return _kind(row)
    rules = row.timeline.members.field_text(row.call.id.number, Field.RULES)
    return ", ".join(filter(None, (_kind(row), rules)))


def _state(row: QueueRow) -> str:
    """Return a run state without what other columns say already, and what goes without saying."""
    run_state = row.run_state
    if run_state.kind is RunStateKind.RUNNING:
        return "waits" if is_overdue(row.call, row.at_ns) else ""
    # A hold stops all calls alike, so no row needs the whole text, which would be cut off.
    return run_state.brief if run_state.kind is RunStateKind.HELD else run_state.text


_column = Column[QueueRow]


class CallColumn(ColumnEnum):
    # fmt: off
    NAME = _column(
        "Call", _name, "Name of the timer or callback", _path, sample="the player presses a button",
        least="player shoots 12")
    TARGET = _column(
        "Target", lambda row: _name_of(row, row.call.owner_id),
        "The target the call belongs to; pausing a target pauses its calls",
        lambda row: _name_of(row, row.call.owner_id), sample="name of target", yields=9)
    CLOCK = _column(
        "Clock", _clock, "The clock that it waits on, or that drives its scheduler", _clock_tip,
        sample="name of a clock", least="particles")
    KIND = _column(
        "Kind", _kind,
        "Timer of a clock, with the policy for missed ticks; of a scheduler or ticker; or called "
        "in every frame", _kind_tip, sample="interval (delay)", least="in late update", yields=8)
    DUE_LOCAL = _column(
        "Due, local (m:s)", lambda row: _local_time(row.call.due_ns),
        "Time of the next call, on its clock or its scheduler",
        lambda row: _nanoseconds(row.call.due_ns), sample="00:00:00.000", short_title="Due, local",
        is_number=True, yields=7)
    REMAINING = _column(
        "Due in", lambda row: due_in_text(row.call, row.at_ns),
        "Session time until the next call, or what it waits for", _due_in_tip,
        sample="waits: the enemies", least="waits: enemies", is_number=True)
    DUE_SESSION = _column(
        "Due at (m:s)",
        lambda row: _instant(row.call.session_due_ns, "–" if row.waits else ""),
        "Session time of that instant, at present rates and pauses",
        lambda row: _nanoseconds(row.call.session_due_ns, "never at present rates"),
        sample="0:00:00.000", short_title="Due at", is_number=True, yields=10)
    SCHEDULER = _column(
        "Scheduler", lambda row: _name_of(row, row.call.scheduler_id),
        "The scheduler, ticker or child clock that calls it",
        lambda row: _name_of(row, row.call.scheduler_id), sample="Cocos Creator 2.4", yields=5)
    INTERVAL = _column(
        "Every", _interval, "Time of its clock or scheduler between two calls",
        lambda row: _nanoseconds(row.call.interval_ns or None), sample="000.0 ms",
        is_number=True, yields=13)
    CALLS = _column(
        "Calls (×)", _calls, "How often it was called", _calls_tip, sample="000,000",
        short_title="Calls", is_number=True, yields=12)
    LEFT = _column(
        "Left (×)", _left, "Calls left; ∞ for unlimited", _left, sample="000",
        short_title="Left", is_number=True, yields=3)
    LATENESS = _column(
        "Last late by", lambda row: _duration(row.call.last_lateness_ns),
        "Lateness of its last call", lambda row: _nanoseconds(row.call.last_lateness_ns),
        sample="000.0 ms", short_title="Late by", is_number=True, yields=11)
    TOOK = _column(
        "Last took", lambda row: _duration(row.call.took_ns), "Measured duration of the last call",
        lambda row: _nanoseconds(row.call.took_ns), sample="00.0 µs", short_title="Took",
        is_number=True, yields=6)
    PRIORITY = _column(
        "Priority", lambda row: "" if row.call.priority is None else str(row.call.priority),
        "Order among update callbacks; lower runs first", sample="-00", is_number=True,
        yields=2)
    STATE = _column(
        "State", _state, "What it is doing, or what stops it", lambda row: row.run_state.text,
        sample="stopped by enemies", least="stopped by", yields=4)
    CALL_SITE = _column(
        "Set at", lambda row: short_site(row.call.call_site), "Source line that scheduled it",
        lambda row: row.call.call_site or "unknown", least="a_scene_of_components.py:123", yields=1)
    # fmt: on


#: Columns that apply to every timer of a clock, and to every call of a member.
TIMER_COLUMNS: Final = frozenset(
    {CallColumn.DUE_LOCAL, CallColumn.DUE_SESSION, CallColumn.INTERVAL, CallColumn.LATENESS}
    | {CallColumn.CALL_SITE}
)
MEMBER_COLUMNS: Final = frozenset({CallColumn.TOOK, CallColumn.STATE})
#: Columns that apply to members with a due instant, and to members with a field.
DUE_COLUMNS: Final = frozenset({CallColumn.DUE_LOCAL, CallColumn.DUE_SESSION, CallColumn.INTERVAL})
FIELD_COLUMNS: Final = {Field.PRIORITY: CallColumn.PRIORITY, Field.CALLS_LEFT: CallColumn.LEFT}
