"""What a pause or a time scale would do to the timers of schedulers and tickers.

They wait in the time of their scheduler, which passes in frames. What is said here is the
instant at which that time has come; they are called in the first frame from then on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from inspector.analysis.predict.preview import Preview
from inspector.calls.dues import TIMED_CALLS, UNCHANGED, DueTimes, SchedulerChange
from inspector.vocabulary import Field, Life, MemberKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from inspector.commands.command import MemberEffect
    from inspector.events.members import MemberState
    from inspector.events.timeline import Timeline

#: What is paused by flags, and has its timers with its director's scheduler.
_FLAGGED: Final = frozenset({MemberKind.COMPONENT, MemberKind.NODE})
#: The rules of our own scheduler: a pause from a priority on is one of targets.
_SOUND: Final = "sound"


def preview_members(timeline: Timeline, effect: MemberEffect) -> Preview:
    """Return what an effect would do now to every timer below a scheduler, target or ticker.

    Of a component or node these are the timers that its components were given. Nothing is
    changed, and nobody is called: what ``on_enable`` and ``on_disable`` would do is not seen.

    Args:
        timeline: The state now.
        effect: What would be done to the member, which is there.

    Returns:
        The preview; its numbers are those of members.
    """
    members = timeline.members
    member = members.by_id[effect.member_id]
    heads = list(_targets_of(timeline, member)) if member.kind in _FLAGGED else [member]
    paused = {head.id for head in heads} if effect.pauses else set()
    resumed = _resumed_with(timeline, member, heads) if effect.resumes else set()
    if effect.min_priority is not None:
        paused = set(_from_priority(timeline, member, effect.min_priority))
    dues, changed = DueTimes(timeline), SchedulerChange(paused, resumed, effect.time_scale)
    rows = []
    for call in (call for head in heads for call in members.branch(head.id)):
        old_ns, new_ns = (dues.session_due_ns(call, each) for each in (UNCHANGED, changed))
        if call.kind in TIMED_CALLS and old_ns is not None and new_ns is not None:
            at_ns = timeline.at_ns
            rows.append((max(old_ns, at_ns), max(new_ns, at_ns), call.id))
    columns = np.array(sorted(rows), dtype=np.int64).reshape(-1, 3).T
    return Preview(effect.text, columns[2], columns[0], columns[1], is_of_members=True)


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
