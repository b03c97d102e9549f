"""When a call is made next, in words."""

from __future__ import annotations

from typing import Final

from inspector.calls.blockers import BlockerKind
from inspector.calls.call import Call
from inspector.timebase import format_duration

#: What waits for the end of a pause waits for what is paused.
_PAUSES: Final = (BlockerKind.CLOCK_PAUSED, BlockerKind.PAUSED)
#: A call is due "now" for so long, in nanoseconds: longer than an ordinary frame.
_NOW_NS: Final = 250_000_000


def is_overdue(call: Call, at_ns: int) -> bool:
    """Return whether a call was due so long before an instant that its caller must be stopped."""
    return call.session_due_ns is not None and at_ns - call.session_due_ns > _NOW_NS


def due_in_text(call: Call, at_ns: int) -> str:
    if call.session_due_ns is not None:
        remaining_ns = call.session_due_ns - at_ns
        if is_overdue(call, at_ns):
            return f"late {format_duration(-remaining_ns)}"
        return format_duration(remaining_ns) if remaining_ns > 0 else "now"
    if call.blockers:
        first = call.blockers[0]
        is_pause = first.kind in _PAUSES and not (first.member_id and first.is_own)
        return f"waits: {first.name if is_pause else first.text}"
    if call.is_per_frame:
        return "every frame"
    return "never at this rate" if call.due_ns is not None else ""
