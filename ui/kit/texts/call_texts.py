"""When a call is made next, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.timebase import format_duration

if TYPE_CHECKING:
    from inspector.calls.call import Call


def fires_in_text(call: Call, at_ns: int) -> str:
    """Return the session time from an instant until a timer fires, or what it waits for."""
    if call.session_due_ns is not None:
        remaining_ns = call.session_due_ns - at_ns
        return format_duration(remaining_ns) if remaining_ns > 0 else "now"
    return f"waiting: {call.blockers[0].text}" if call.blockers else "never at this rate"


def called_in_text(call: Call) -> str:
    """Return the time of its scheduler until a call is made, or what it waits for."""
    if call.blockers:
        return f"waiting: {call.blockers[0].text}"
    if call.is_per_frame:
        return "every frame"
    return "" if call.left_ns is None else format_duration(call.left_ns)
