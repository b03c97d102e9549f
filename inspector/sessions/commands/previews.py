"""What a command would do to the timers of its branch, before it is submitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.analysis.predict.changes import (
    Change,
    ChangeRate,
    Pause,
    Preview,
    Resume,
    preview,
)
from inspector.analysis.predict.members import (
    MemberChange,
    MemberPause,
    MemberResume,
    PriorityPause,
    Scale,
    preview_members,
)
from inspector.sessions.commands.commands import (
    Command,
    PauseClock,
    PauseFromPriority,
    PauseMember,
    ResumeClock,
    ResumeMember,
    SetRate,
    SetTimeScale,
)

if TYPE_CHECKING:
    from inspector.events.timeline import Timeline


def preview_command(timeline: Timeline, command: Command) -> Preview | None:
    """Return what a command would do now to when timers fire.

    Args:
        timeline: The state now.
        command: What would be submitted.

    Returns:
        ``None`` for commands that change no rate, no time scale and no pause, for a clock or
        member that is not there, and for what would be refused.
    """
    if (member_change := member_change_of(command)) is not None:
        try:
            return preview_members(timeline, member_change)
        except ValueError:
            return None
    change = change_of(command)
    if change is None or change.clock_id not in timeline.clocks:
        return None
    try:
        return preview(timeline, change)
    except ValueError:
        return None


def change_of(command: Command) -> Change | None:
    """Return what a command changes about a clock, ``None`` if that is nothing."""
    match command:
        case PauseClock(clock_id):
            return Pause(clock_id)
        case ResumeClock(clock_id):
            return Resume(clock_id)
        case SetRate(clock_id, rate):
            return ChangeRate(clock_id, rate)
        case _:
            return None


def member_change_of(command: Command) -> MemberChange | None:
    """Return what a command changes about a scheduler or a member, ``None`` if nothing."""
    match command:
        case PauseMember(member_id):
            return MemberPause(member_id)
        case ResumeMember(member_id):
            return MemberResume(member_id)
        case PauseFromPriority(member_id, min_priority):
            return PriorityPause(member_id, min_priority)
        case SetTimeScale(member_id, rate):
            return Scale(member_id, rate)
        case _:
            return None
