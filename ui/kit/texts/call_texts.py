"""The next call of something, in words."""

from __future__ import annotations

from typing import Final

from inspector.calls.call import Call
from inspector.display_text import without_quotes
from inspector.timebase import format_duration

#: How long after its due instant a call is still due "now": longer than an ordinary frame.
_NOW_NS: Final = 250_000_000


def is_overdue(call: Call, at_ns: int) -> bool:
    """Return whether a call is so late at an instant that its caller must be stopped."""
    return call.session_due_ns is not None and at_ns - call.session_due_ns > _NOW_NS


def due_in_text(call: Call, at_ns: int) -> str:
    if call.session_due_ns is not None:
        remaining_ns = call.session_due_ns - at_ns
        if is_overdue(call, at_ns):
            return f"late {format_duration(-remaining_ns)}"
        return format_duration(remaining_ns) if remaining_ns > 0 else "now"
    if call.blockers:
        return f"waits: {without_quotes(call.waits_for)}"
    if call.is_per_frame:
        return "every frame"
    return "never at this rate" if call.due_ns is not None else ""
