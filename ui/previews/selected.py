"""What is selected, and what can be done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.events.members import PAUSABLE
from inspector.vocabulary import MemberKind

from ..actions.descriptions import Needs
from ..kit.texts.member_texts import UNSCHEDULABLE
from ..session.selection import SelectionKind

if TYPE_CHECKING:
    from inspector.events.members import MemberState
    from inspector.events.states import ClockState
    from inspector.events.timeline import Timeline

    from ..session.selection import Selection


def selected_clock(timeline: Timeline, selection: Selection) -> ClockState | None:
    """Return the selected clock, or that of the selected timer."""
    clock_id = selection.id if selection.kind is SelectionKind.CLOCK else 0
    if timer_id := selected_timer(timeline, selection):
        clock_id = timeline.timers.row(timer_id).clock_id
    return timeline.clocks.get(clock_id)


def selected_timer(timeline: Timeline, selection: Selection) -> int:
    """Return the number of the selected timer while it is pending, else 0."""
    is_timer = selection.kind is SelectionKind.TIMER and selection.id in timeline.timers
    return selection.id if is_timer else 0


def selected_member(timeline: Timeline, selection: Selection) -> MemberState | None:
    """Return the member that is selected, ``None`` when none is or it is gone."""
    if selection.kind is not SelectionKind.MEMBER:
        return None
    return timeline.members.by_id.get(selection.id)


def scheduler_for(timeline: Timeline, selection: Selection) -> MemberState | None:
    """Return the scheduler that is selected or that the selected member belongs to."""
    member = selected_member(timeline, selection)
    scheduler = None if member is None else timeline.members.scheduler_of(member.id)
    is_one = scheduler is not None and scheduler.kind is MemberKind.SCHEDULER
    return scheduler if is_one else None


def machine_for(timeline: Timeline, selection: Selection) -> MemberState | None:
    """Return the machine that is selected or that has the selected edge."""
    member = selected_member(timeline, selection)
    if member is not None and member.kind is MemberKind.EDGE:
        member = timeline.members.by_id.get(member.parent_id)
    return member if member is not None and member.kind is MemberKind.MACHINE else None


def member_needs(timeline: Timeline, selection: Selection) -> frozenset[Needs]:
    """Return the needs that the selected member fulfils."""
    member = selected_member(timeline, selection)
    if member is None:
        return frozenset()
    fulfilled = {
        Needs.PAUSABLE_MEMBER: member.kind in PAUSABLE,
        Needs.CALL: member.kind in UNSCHEDULABLE,
        Needs.SCHEDULER: scheduler_for(timeline, selection) is not None,
        Needs.MACHINE: machine_for(timeline, selection) is not None,
    }
    return frozenset(needs for needs, is_fulfilled in fulfilled.items() if is_fulfilled)
