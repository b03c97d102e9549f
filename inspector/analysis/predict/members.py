"""What a pause or a time scale would do to the timers of schedulers and tickers.

They wait in the time of their scheduler, which passes in frames. What is said here is the
instant at which that time has come; they are called in the first frame from then on.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from inspector.analysis.predict.changes import Preview
from inspector.calls.dues import TIMED_CALLS, UNCHANGED, DueTimes, SchedulerChange
from inspector.clocks.rate import rate_numerator
from inspector.events.members import PAUSABLE
from inspector.vocabulary import (
    RATE_DENOMINATOR,
    Field,
    Life,
    MemberKind,
    rate_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from inspector.events.members import MemberState
    from inspector.events.timeline import Timeline

#: What is paused by flags, and has its timers with its director's scheduler.
_FLAGGED: Final = frozenset({MemberKind.COMPONENT, MemberKind.NODE})
#: The rules of our own scheduler: a pause from a priority on is one of targets.
_SOUND: Final = "sound"


@dataclass(frozen=True, slots=True)
class MemberPause:
    """A member is paused."""

    member_id: int


@dataclass(frozen=True, slots=True)
class MemberResume:
    """A member's own pause ends."""

    member_id: int


@dataclass(frozen=True, slots=True)
class PriorityPause:
    """The targets of a scheduler are paused from a priority on."""

    member_id: int
    min_priority: int


@dataclass(frozen=True, slots=True)
class Scale:
    """A scheduler gets another time scale."""

    member_id: int
    rate: Fraction


MemberChange: TypeAlias = MemberPause | MemberResume | PriorityPause | Scale


def preview_members(timeline: Timeline, change: MemberChange) -> Preview | None:
    """Return what a change would do now to every timer below a scheduler, target or ticker.

    Of a component or node these are the timers that its components were given. Nothing is
    changed, and nobody is called: what ``on_enable`` and ``on_disable`` would do is not seen.

    Args:
        timeline: The state now.
        change: What would be changed.

    Returns:
        ``None`` when there is no such member, or nothing of the kind can be done to it. The
        numbers in the preview are those of members.

    Raises:
        ValueError: The time scale cannot be used.
    """
    members = timeline.members
    member = members.by_id.get(change.member_id)
    if member is None:
        return None
    is_scheduler = member.kind is MemberKind.SCHEDULER
    paused: set[int] = set()
    resumed: set[int] = set()
    scale = None
    heads = list(_targets_of(timeline, member)) if member.kind in _FLAGGED else [member]
    name = f"“{member.name}”"
    match change:
        case MemberPause() if member.kind in PAUSABLE:
            text, paused = f"Pausing {name}", {head.id for head in heads}
        case MemberResume() if member.kind in PAUSABLE:
            text, resumed = f"Resuming {name}", _resumed_with(timeline, member, heads)
        case PriorityPause(_, priority) if is_scheduler:
            paused = set(_from_priority(timeline, member, priority))
            text = f"Pausing {name} from priority {priority:,} on"
        case Scale(_, rate) if is_scheduler:
            scale = Fraction(rate_numerator(rate), RATE_DENOMINATOR)
            shown = rate_text(rate_numerator(rate))
            text = f"Setting the time scale of {name} to {shown}"
        case _:
            return None
    dues, changed = DueTimes(timeline), SchedulerChange(paused, resumed, scale)
    rows = []
    for call in (call for head in heads for call in members.branch(head.id)):
        old_ns, new_ns = (dues.session_due_ns(call, each) for each in (UNCHANGED, changed))
        if call.kind in TIMED_CALLS and old_ns is not None and new_ns is not None:
            at_ns = timeline.at_ns
            rows.append((max(old_ns, at_ns), max(new_ns, at_ns), call.id))
    columns = np.array(sorted(rows), dtype=np.int64).reshape(-1, 3).T
    return Preview(change, text, columns[2], columns[0], columns[1], is_of_members=True)


def _targets_of(timeline: Timeline, above: MemberState) -> Iterator[MemberState]:
    """Go through the targets that are components of a branch, with their own director."""
    members = timeline.members
    below = {each.id for each in members.branch(above.id)}
    director = members.path(above.id)[-1]
    for each in members.branch(director.id):
        if each.kind is MemberKind.TARGET and each.fields.get(Field.OWNER) in below:
            yield each


def _would_be_on(timeline: Timeline, target: MemberState, resumed: MemberState) -> bool:
    """Whether the component that a target is would run if something above it, or it, did."""
    members = timeline.members
    path = members.path(target.fields[Field.OWNER])
    return path[0].fields.get(Field.LIFE) != Life.DESTROYING and not any(
        each.is_paused for each in path if each is not resumed and each.kind in _FLAGGED
    )


def _resumed_with(
    timeline: Timeline, member: MemberState, heads: Iterable[MemberState]
) -> set[int]:
    """Return whose own pause ends when a member is resumed.

    Args:
        timeline: The state now.
        member: What would be resumed.
        heads: That, or for a component or node the targets of its branch.
    """
    members = timeline.members
    resumed: set[int] = set()
    for head in heads:
        if head is not member and not _would_be_on(timeline, head, member):
            continue
        scheduler = members.scheduler_of(head.id)
        is_sound = scheduler and members.field_text(scheduler.id, Field.RULES) == _SOUND
        # Schedulers modelled on others resume all that a target has, whoever paused it.
        takes_all = head.kind is MemberKind.TARGET and not is_sound
        resumed |= {each.id for each in members.branch(head.id)} if takes_all else {head.id}
    return resumed


def _from_priority(timeline: Timeline, scheduler: MemberState, priority: int) -> Iterable[int]:
    """Return what a pause from a priority on lets wait."""
    members = timeline.members
    if members.field_text(scheduler.id, Field.RULES) != _SOUND:
        # Those that are modelled on others pause all timers, and choose among updates only.
        yield scheduler.id
        return
    for each in members.branch(scheduler.id):
        if each.kind is MemberKind.TARGET:
            below = (members.by_id[number] for number in each.children)
            updates = [call for call in below if call.kind is MemberKind.UPDATE]
            own = updates[0].fields.get(Field.PRIORITY, 0) if updates else 0
            if own >= priority:
                yield each.id
