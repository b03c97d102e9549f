"""Kinds of events to show or hidden together in the list of events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from inspector.events.members import CLOCK_CALLS
from inspector.events.schema import FIELDS_BY_CALLS, SCHEMA, EventGroup, kinds_with
from inspector.vocabulary import EventKind, MemberKind

if TYPE_CHECKING:
    from inspector.vocabulary import RawEvent


#: Events about members belong to members or to calls, see :func:`group_of`.
_OF_MEMBERS: Final = kinds_with(group=EventGroup.MEMBERS)
_CALLED: Final = frozenset(
    {MemberKind.UPDATE, MemberKind.FRAME_TIMER, MemberKind.TICKER_TIMER, MemberKind.PHASE}
    | CLOCK_CALLS
    | {MemberKind.HOOK}
)
#: What is shown at first: everything but what comes with every frame.
QUIET_GROUPS: Final = frozenset(EventGroup) - {
    EventGroup.TIMERS,
    EventGroup.FIRINGS,
    EventGroup.CALLS,
    EventGroup.FRAMES,
    EventGroup.READINGS,
}


def kinds_of(groups: frozenset[EventGroup]) -> frozenset[int]:
    """Return the kinds of events of which some belong to one of the groups."""
    shown = groups | {EventGroup.MEMBERS} if EventGroup.CALLS in groups else groups
    return frozenset(int(kind) for kind, row in SCHEMA.items() if row.group in shown)


def group_of(event: RawEvent, member_kind: MemberKind | None = None) -> EventGroup:
    """Return the group of an event.

    Args:
        event: The event.
        member_kind: What its subject is, if that is a member and known.

    Raises:
        ValueError: It is of no kind that is known.
    """
    _, kind, _, a, _ = event
    if kind in _OF_MEMBERS:
        is_set = kind == EventKind.MEMBER_SET
        is_call = a in FIELDS_BY_CALLS if is_set else member_kind in _CALLED
        return EventGroup.CALLS if is_call else EventGroup.MEMBERS
    return SCHEMA[EventKind(kind)].group
