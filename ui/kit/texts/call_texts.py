"""When a call is made next, in words."""

from __future__ import annotations

from inspector.calls.call import Call
from inspector.timebase import format_duration


def due_in_text(call: Call, at_ns: int) -> str:
    """Return the session time from an instant until a call is made, or what it waits for."""
    if call.session_due_ns is not None:
        remaining_ns = call.session_due_ns - at_ns
        return format_duration(remaining_ns) if remaining_ns > 0 else "now"
    if call.blockers:
        return f"waiting: {call.blockers[0].text}"
    if call.is_per_frame:
        return "every frame"
    return "never at this rate" if call.due_ns is not None else ""
