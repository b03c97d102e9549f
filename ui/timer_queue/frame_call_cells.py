"""What the columns of the frame calls say about one call, as of one refresh."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import NEVER, RATE_DENOMINATOR, Field, MemberKind, Phase

from ..kit.texts.clock_texts import path_text
from ..kit.texts.member_texts import member_standing, next_call_text, remaining_ns
from ..kit.texts.standing import StandingKind

if TYPE_CHECKING:
    from inspector.events.members import MemberState
    from inspector.events.timeline import Timeline

    from ..kit.texts.standing import Standing


class CallColumn(IntEnum):
    """The columns of the frame calls."""

    NAME = 0
    TARGET = 1
    SCHEDULER = 2
    CLOCK = 3
    KIND = 4
    PRIORITY = 5
    DUE = 6
    REMAINING = 7
    INTERVAL = 8
    CALLS = 9
    LEFT = 10
    TOOK = 11
    STATE = 12


#: Title and explanation of each column.
CALL_HEADERS: Final = {
    CallColumn.NAME: ("Call", "Name of the callback"),
    CallColumn.TARGET: (
        "Target",
        ("The target the call belongs to; pausing a target pauses its calls"),
    ),
    CallColumn.SCHEDULER: ("Scheduler", "The scheduler, ticker or child clock that calls it"),
    CallColumn.CLOCK: ("Clock", "The clock that drives the scheduler"),
    CallColumn.KIND: ("Kind", "Called in every frame, a timer of a scheduler or ticker, or a loop"),
    CallColumn.PRIORITY: ("Priority", "Order among update callbacks; lower runs first"),
    CallColumn.DUE: (
        "Due (m:s)",
        "Time of the next call, on its scheduler or its clock",
    ),
    CallColumn.REMAINING: ("Called in", "Scheduler time until the next call, or what it waits for"),
    CallColumn.INTERVAL: ("Every", "Scheduler time between two calls"),
    CallColumn.CALLS: ("Calls (×)", "How often it was called"),
    CallColumn.LEFT: ("Left (×)", "Calls left; ∞ for unlimited"),
    CallColumn.TOOK: ("Last took", "Measured duration of the last call"),
    CallColumn.STATE: ("State", "What it is doing, or what stops it"),
}

#: Columns that stay as they are for as long as nobody comes or goes; they hold text.
CONSTANT_COLUMNS: Final = frozenset(
    {
        CallColumn.NAME,
        CallColumn.TARGET,
        CallColumn.SCHEDULER,
        CallColumn.CLOCK,
        CallColumn.KIND,
    }
)
#: What is listed: everything that is called and is no timer of the clock tree.
LISTED_KINDS: Final = frozenset(
    {
        MemberKind.UPDATE,
        MemberKind.FRAME_TIMER,
        MemberKind.TICKER_TIMER,
        MemberKind.FRAME_CALLBACK,
        MemberKind.LOOP,
        MemberKind.TIMEOUT,
    }
)

_PHASES: Final = frozenset(map(int, Phase))


@dataclass(frozen=True, slots=True)
class CallCells:
    """One row of the frame calls.

    Attributes:
        member_id: Number of the call.
        texts: What each column shows.
        raws: The value of each column itself.
        tool_tips: What each column says at length.
        standing: What it does now, and why.
    """

    member_id: int
    texts: tuple[str, ...]
    raws: tuple[object, ...]
    tool_tips: tuple[str, ...]
    standing: Standing


def call_cells(timeline: Timeline, number: int) -> CallCells | None:
    """Return what there is to show of a call now, ``None`` when it is gone."""
    members = timeline.members
    member = members.by_id.get(number)
    if member is None:
        return None
    fields = member.fields
    scheduler = members.scheduler_of(number)
    clock = timeline.clocks.get(member.clock_id)
    standing = member_standing(timeline, member)
    due_ns = fields.get(Field.DUE)
    if due_ns == NEVER or members.pausing(number) is not None:
        # What is paused is due at no instant that is known.
        due_ns = None
    left_ns = remaining_ns(timeline, member)
    interval_ns = fields.get(Field.INTERVAL, 0)
    target, caller = target_name(timeline, member), _caller_name(timeline, member, scheduler)
    priority = fields.get(Field.PRIORITY)
    raws = (
        member.name,
        target,
        caller,
        member.clock_id,
        member.kind,
        priority,
        due_ns,
        left_ns,
        interval_ns,
        member.calls,
        fields.get(Field.CALLS_LEFT),
        member.took_ns,
        standing.kind,
    )
    texts = (
        member.name or member.kind.text,
        target,
        caller,
        "" if clock is None else clock.name,
        kind_text(member),
        "" if priority is None else str(priority),
        "" if due_ns is None else format_instant(due_ns),
        remaining_text(timeline, member),
        format_duration(interval_ns) if interval_ns else "",
        f"{member.calls:,}" if member.calls else "",
        _left_text(fields.get(Field.CALLS_LEFT)),
        format_duration(member.took_ns) if member.calls else "",
        _standing_text(standing),
    )
    return CallCells(
        number, texts, raws, _tool_tips(timeline, member, texts, due_ns, standing), standing
    )


def _caller_name(timeline: Timeline, member: MemberState, scheduler: MemberState | None) -> str:
    above = timeline.members.by_id.get(member.parent_id)
    if above is not None and above.kind is MemberKind.CHILD_CLOCK:
        return above.name
    return "" if scheduler is None else scheduler.name


def target_name(timeline: Timeline, member: MemberState) -> str:
    """Return whom a call belongs to, empty for nobody."""
    above = timeline.members.by_id.get(member.parent_id)
    return above.name if above is not None and above.kind is MemberKind.TARGET else ""


def kind_text(member: MemberState) -> str:
    """Return what kind of call it is; for a callback of the frame, with its phase."""
    if member.kind is MemberKind.FRAME_CALLBACK:
        phase = member.fields.get(Field.PHASE)
        return f"in {Phase(phase).text}" if phase in _PHASES else member.kind.text
    return member.kind.text


def remaining_text(timeline: Timeline, member: MemberState) -> str:
    """Return how long until a call, or what it waits for."""
    reason = what_stops(timeline, member)
    return f"waiting: {reason}" if reason else next_call_text(timeline, member)


def what_stops(timeline: Timeline, member: MemberState) -> str:
    """Return what a call waits for, in a few words; empty when nothing stops it."""
    members = timeline.members
    above = members.pausing(member.id)
    if above is not None:
        return "paused itself" if above is member else f"“{above.name}” is paused"
    scheduler = members.scheduler_of(member.id)
    if scheduler is not None and scheduler.fields.get(Field.RATE, RATE_DENOMINATOR) == 0:
        return f"“{scheduler.name}” has time scale 0"
    for reason in timeline.stopping_clocks(member):
        stopped = "has rate 0" if reason.is_rate_zero else "is paused"
        return f"“{reason.clock_name}” {stopped}"
    return ""


def _standing_text(standing: Standing) -> str:
    """Return a standing without what other columns say already."""
    if standing.kind is StandingKind.RUNNING:
        return "running"
    if standing.kind is StandingKind.HELD:
        return "ready, the session is held"
    return standing.text


def _left_text(left: int | None) -> str:
    if left is None:
        return ""
    return f"{left:,}" if left >= 0 else "∞"


def _tool_tips(
    timeline: Timeline,
    member: MemberState,
    texts: tuple[str, ...],
    due_ns: int | None,
    standing: Standing,
) -> tuple[str, ...]:
    tips = list(texts)
    members = timeline.members
    tips[CallColumn.NAME] = " / ".join(
        above.name for above in reversed(members.path(member.id)) if above.name
    )
    if member.clock_id in timeline.clocks:
        tips[CallColumn.CLOCK] = path_text(timeline, member.clock_id)
    rules = members.field_text(member.id, Field.RULES)
    if rules:
        tips[CallColumn.KIND] = f"{texts[CallColumn.KIND]}, {rules}"
    if due_ns is not None:
        tips[CallColumn.DUE] = f"{due_ns:,} ns"
    missed = member.fields.get(Field.MISSED, 0)
    if missed:
        tips[CallColumn.CALLS] = f"{member.calls:,} calls, {missed:,} skipped"
    if member.calls:
        tips[CallColumn.TOOK] = f"{member.took_ns:,} ns"
    tips[CallColumn.STATE] = standing.text
    return tuple(tips)
