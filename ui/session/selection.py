"""The selection that all panels share."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from inspector.events.timeline import Timeline


class SelectionKind(Enum):
    NONE = "none"
    CLOCK = "clock"
    TIMER = "timer"
    FRAME = "frame"
    MEMBER = "member"


class Selection(Struct, frozen=True):
    kind: SelectionKind = SelectionKind.NONE  # What kind of thing
    id: int = 0  # Number of the clock, timer or member, or index of the frame
    # When the call of a member ended, or the timer fired, if only that one is meant; None for all.
    at_ns: int | None = None

    @classmethod
    def clock(cls, clock_id: int) -> Selection:
        return cls(SelectionKind.CLOCK, clock_id)

    @classmethod
    def timer(cls, timer_id: int) -> Selection:
        return cls(SelectionKind.TIMER, timer_id)

    @classmethod
    def firing(cls, timer_id: int, at_ns: int) -> Selection:
        return cls(SelectionKind.TIMER, timer_id, at_ns)

    @classmethod
    def frame(cls, index: int) -> Selection:
        return cls(SelectionKind.FRAME, index)

    @classmethod
    def member(cls, number: int) -> Selection:
        return cls(SelectionKind.MEMBER, number)

    @classmethod
    def call(cls, number: int, ended_ns: int) -> Selection:
        return cls(SelectionKind.MEMBER, number, ended_ns)

    @classmethod
    def nothing(cls) -> Selection:
        return cls()


def is_same_thing(
    selection: Selection, former: Timeline, now: Timeline, *, is_rewound: bool
) -> bool:
    """Return whether what was selected is there in another log, under the same number.

    When the same build of the same scene went back in time, numbers mean what they meant;
    otherwise only clocks are recognised, by their names.
    """
    number = selection.id
    match selection.kind:
        case SelectionKind.CLOCK:
            before, after = former.clocks.get(number), now.clocks.get(number)
            return before is not None and after is not None and before.name == after.name
        case SelectionKind.TIMER:
            return is_rewound and number in now.timers
        case SelectionKind.MEMBER:
            return is_rewound and number in now.members.by_id
        case SelectionKind.FRAME:
            return is_rewound and number < now.frames.end
        case _:
            return False
