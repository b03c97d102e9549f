"""What a dialect's scheduler will call, as values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.clocks.timer import label_of
from inspector.frames.scheduling import PendingCall

if TYPE_CHECKING:
    from inspector.frames.cocos.lists import UpdateEntry
    from inspector.frames.cocos.timer import DialectTimer


def update_label(entry: UpdateEntry) -> str:
    """Return what an update callback is called."""
    return "update" if entry.callback is None else label_of(entry.callback)


def pending_update(entry: UpdateEntry) -> PendingCall:
    """Return an update callback as it is at this moment."""
    label = update_label(entry)
    return PendingCall(entry.target, label, entry.priority, 0.0, None, None, entry.paused)


def pending_timer(timer: DialectTimer) -> PendingCall:
    """Return a timer as it is at this moment."""
    element = timer.element
    return PendingCall(
        element.target,
        label_of(timer.callback),
        None,
        timer.interval,
        timer.remaining,
        timer.calls_left,
        element.paused,
    )
