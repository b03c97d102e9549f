"""Which kinds of events are shown or hidden together in the list of events."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final

from inspector.vocabulary import EventKind, Field, MemberKind

if TYPE_CHECKING:
    from inspector.vocabulary import RawEvent


class EventGroup(IntEnum):
    """Kinds of events that are shown or hidden together."""

    FAILURES = 0
    COMMANDS = 1
    BREAKPOINTS = 2
    MARKS = 3
    CLOCKS = 4
    MEMBERS = 5
    STATES = 6
    TIMERS = 7
    FIRINGS = 8
    CALLS = 9
    FRAMES = 10
    READINGS = 11

    @property
    def title(self) -> str:
        """What the group is called in the window."""
        return self.name.capitalize()

    @property
    def word(self) -> str:
        """What one event of the group is called, with a sign that needs no colour."""
        return _TEXTS[self][0]

    @property
    def explanation(self) -> str:
        """What is in the group, for a tooltip."""
        return _TEXTS[self][1]


_TEXTS: Final = {
    EventGroup.FAILURES: ("✖ failure", "Callbacks that raised"),
    EventGroup.COMMANDS: ("» command", "What was asked for from outside, running and holding"),
    EventGroup.BREAKPOINTS: ("◉ breakpoint", "Breakpoints that were hit"),
    EventGroup.MARKS: ("⚑ mark", "Marked instants and scenes that were loaded"),
    EventGroup.CLOCKS: ("◷ clock", "Clocks that came, went, paused, resumed, changed rate"),
    EventGroup.MEMBERS: (
        "◇ member",
        "Schedulers, targets, components, tickers and machines: came, went, paused, resumed",
    ),
    EventGroup.STATES: ("◆ state", "States that machines entered, transitions that were refused"),
    EventGroup.TIMERS: ("+ timer", "Timers that were set, armed or cleared"),
    EventGroup.FIRINGS: ("! firing", "Timers that fired, ticks that were missed"),
    EventGroup.CALLS: (
        "· call",
        "Every call of a scheduler, component or ticker, and when it is due again",
    ),
    EventGroup.FRAMES: ("▭ frame", "Frames and their phases"),
    EventGroup.READINGS: (
        "∘ reading",
        "What time it was outside and how commands read: all that is needed to run it again",
    ),
}

_GROUP_OF: Final = {
    EventKind.CLOCK_ADDED: EventGroup.CLOCKS,
    EventKind.CLOCK_ANCHORED: EventGroup.CLOCKS,
    EventKind.CLOCK_RATE: EventGroup.CLOCKS,
    EventKind.CLOCK_PAUSED: EventGroup.CLOCKS,
    EventKind.CLOCK_RESUMED: EventGroup.CLOCKS,
    EventKind.CLOCK_MOVED: EventGroup.CLOCKS,
    EventKind.CLOCK_REMOVED: EventGroup.CLOCKS,
    EventKind.TIMER_ADDED: EventGroup.TIMERS,
    EventKind.TIMER_ORIGIN: EventGroup.TIMERS,
    EventKind.TIMER_ARMED: EventGroup.TIMERS,
    EventKind.TIMER_CLEARED: EventGroup.TIMERS,
    EventKind.TIMER_FIRED: EventGroup.FIRINGS,
    EventKind.TICKS_MISSED: EventGroup.FIRINGS,
    EventKind.FRAME_BEGAN: EventGroup.FRAMES,
    EventKind.PHASE_ENDED: EventGroup.FRAMES,
    EventKind.FRAME_ENDED: EventGroup.FRAMES,
    EventKind.DELTA_CUT: EventGroup.FRAMES,
    EventKind.CALLBACK_FAILED: EventGroup.FAILURES,
    EventKind.MARK: EventGroup.MARKS,
    EventKind.SCENE: EventGroup.MARKS,
    EventKind.COMMAND: EventGroup.COMMANDS,
    EventKind.TRANSPORT: EventGroup.COMMANDS,
    EventKind.BREAKPOINT_HIT: EventGroup.BREAKPOINTS,
    EventKind.COMMAND_CONTEXT: EventGroup.READINGS,
    EventKind.COMMAND_FORM: EventGroup.READINGS,
    EventKind.READING: EventGroup.READINGS,
    EventKind.CALL_ENDED: EventGroup.CALLS,
    EventKind.STATE_ENTERED: EventGroup.STATES,
    EventKind.TRANSITION_REFUSED: EventGroup.STATES,
}

#: These belong to members or to calls, see :func:`group_of`.
_OF_MEMBERS: Final = frozenset(
    {
        EventKind.MEMBER_ADDED,
        EventKind.MEMBER_ORIGIN,
        EventKind.MEMBER_SET,
        EventKind.MEMBER_MOVED,
        EventKind.MEMBER_REMOVED,
    }
)
_CALLED: Final = frozenset(
    {MemberKind.UPDATE, MemberKind.FRAME_TIMER, MemberKind.TICKER_TIMER, MemberKind.PHASE}
)
#: Fields that change with frames and calls, not because somebody intervenes.
_OF_EVERY_FRAME: Final = frozenset(
    {
        Field.TIME,
        Field.DUE,
        Field.REMAINING,
        Field.CALLS_LEFT,
        Field.INTERVAL,
        Field.PRIORITY,
        Field.MISSED,
    }
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
    kinds = {int(kind) for kind, group in _GROUP_OF.items() if group in groups}
    if groups & {EventGroup.MEMBERS, EventGroup.CALLS}:
        kinds |= _OF_MEMBERS
    return frozenset(kinds)


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
        is_call = a in _OF_EVERY_FRAME if kind == EventKind.MEMBER_SET else member_kind in _CALLED
        return EventGroup.CALLS if is_call else EventGroup.MEMBERS
    return _GROUP_OF[EventKind(kind)]
