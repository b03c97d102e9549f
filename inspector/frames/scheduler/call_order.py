"""What a scheduler has scheduled, in the order in which it will be called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.frames.scheduler.frame_timer import FrameTimer
from inspector.frames.scheduler.scheduled import UpdateCallback

if TYPE_CHECKING:
    from collections.abc import Iterable

    from inspector.frames.scheduler.call_list import CallList
    from inspector.frames.scheduler.targets import TargetRecord
    from inspector.frames.scheduler.timer_calendar import TimerCalendar


def updates_in_order(calls: CallList) -> list[UpdateCallback]:
    """Return the update callbacks among the calls of every frame, by priority."""
    owners = [slot.owner for slot in calls.in_order()]
    return [owner for owner in owners if isinstance(owner, UpdateCallback)]


def timers_in_order(
    calendar: TimerCalendar, frame_calls: CallList, records: Iterable[TargetRecord]
) -> list[FrameTimer]:
    """Return the timers of all targets, the next one to be called first.

    Args:
        calendar: Has those that wait for an instant; they come first.
        frame_calls: Has those of every frame; they come behind.
        records: The targets, to find the timers that are paused; they come last.
    """
    owners: list[object] = [entry.owner for entry in calendar.in_order()]
    owners += [slot.owner for slot in frame_calls.in_order() if slot.is_called]
    found = [owner for owner in owners if isinstance(owner, FrameTimer)]
    return found + [
        timer for record in records for timer in record.timers.values() if timer.is_paused
    ]
