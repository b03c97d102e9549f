"""The selection: what can be done with it, and the command of each action."""

from __future__ import annotations

from fractions import Fraction

from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.command import Command
from inspector.commands.members import (
    PauseMember,
    ResumeFromPriority,
    ResumeMember,
    UnscheduleMember,
)
from inspector.commands.timers import ClearTimer, FireTimer
from inspector.commands.transport import Hold, Step
from inspector.events.members import PAUSABLE, MemberState
from inspector.events.states import ClockState
from inspector.events.timeline import Timeline
from inspector.sessions.attached.session_numbers import is_family
from inspector.sessions.session import SessionPhase
from inspector.vocabulary import MemberKind

from ..actions.descriptions import Needs
from ..kit.rates import next_usual_rate
from ..kit.texts.member_texts import UNSCHEDULABLE, is_paused_itself
from ..session.bridge import SessionBridge
from ..session.selection import Selection, SelectionKind


def selected_clock(timeline: Timeline, selection: Selection) -> ClockState | None:
    clock_id = selection.id if selection.kind is SelectionKind.CLOCK else 0
    if timer_id := selected_timer(timeline, selection):
        clock_id = timeline.timers.row(timer_id).clock_id
    elif (member := selected_member(timeline, selection)) is not None:
        clock_id = member.clock_id
    return timeline.clocks.get(clock_id)


def selected_timer(timeline: Timeline, selection: Selection) -> int:
    is_timer = selection.kind is SelectionKind.TIMER and selection.id in timeline.timers
    return selection.id if is_timer else 0


def selected_member(timeline: Timeline, selection: Selection) -> MemberState | None:
    if selection.kind is not SelectionKind.MEMBER:
        return None
    return timeline.members.by_id.get(selection.id)


def scheduler_for(timeline: Timeline, selection: Selection) -> MemberState | None:
    member = selected_member(timeline, selection)
    scheduler = None if member is None else timeline.members.scheduler_of(member.id)
    is_one = scheduler is not None and scheduler.kind is MemberKind.SCHEDULER
    return scheduler if is_one else None


def machine_for(timeline: Timeline, selection: Selection) -> MemberState | None:
    member = selected_member(timeline, selection)
    if member is not None and member.kind is MemberKind.EDGE:
        member = timeline.members.by_id.get(member.parent_id)
    return member if member is not None and member.kind is MemberKind.MACHINE else None


def member_needs(timeline: Timeline, selection: Selection) -> frozenset[Needs]:
    member = selected_member(timeline, selection)
    if member is None:
        return frozenset()
    fulfilled = {
        Needs.PAUSABLE_MEMBER: member.kind in PAUSABLE,
        Needs.CALL: member.kind in UNSCHEDULABLE,
        Needs.SCHEDULER: scheduler_for(timeline, selection) is not None,
        Needs.MACHINE: machine_for(timeline, selection) is not None,
    }
    return frozenset(needs for needs, is_fulfilled in fulfilled.items() if is_fulfilled)


def is_clock_paused(timeline: Timeline, clock: ClockState) -> bool:
    """Return whether a clock is paused itself; above programs, whether all of these are."""
    if not is_family(clock.id):
        return clock.paused
    return all(timeline.clocks[each].paused for each in clock.children)


def clock_toggle(timeline: Timeline, clock: ClockState) -> Command:
    is_paused = is_clock_paused(timeline, clock)
    return ResumeClock(clock.id) if is_paused else PauseClock(clock.id)


def member_toggle(member: MemberState) -> Command | None:
    if member.kind not in PAUSABLE:
        return None
    return ResumeMember(member.id) if is_paused_itself(member) else PauseMember(member.id)


def rate_command(clock_id: int, rate: Fraction) -> Command:
    return SetRate(clock_id, rate)


def driven_clock(bridge: SessionBridge) -> int:
    """Return the clock whose rate keys set, 0 for none."""
    session = bridge.session
    if session is None:
        return 0
    selected = selected_clock(bridge.timeline, bridge.selection)
    return session.driven_clock(0 if selected is None else selected.id)


def commands_of_actions(bridge: SessionBridge) -> dict[str, Command]:
    """Return the commands that actions stand for with what is selected now, by action."""
    timeline, selection = bridge.timeline, bridge.selection
    found: dict[str, Command] = {}
    driven = timeline.clocks.get(driven_clock(bridge))
    if driven is not None:
        found["slower"] = rate_command(driven.id, next_usual_rate(driven.rate, is_faster=False))
        found["faster"] = rate_command(driven.id, next_usual_rate(driven.rate, is_faster=True))
        found["normal-rate"] = rate_command(driven.id, Fraction(1))
    if (clock := selected_clock(timeline, selection)) is not None:
        found["pause-branch"] = clock_toggle(timeline, clock)
    if timer_id := selected_timer(timeline, selection):
        found["clear-timer"] = ClearTimer(timer_id)
        found["fire-timer"] = FireTimer(timer_id)
    member = selected_member(timeline, selection)
    if member is not None and (toggle := member_toggle(member)) is not None:
        found["pause-member"] = toggle
    if member is not None and member.kind in UNSCHEDULABLE:
        found["unschedule-member"] = UnscheduleMember(member.id)
    if (scheduler := scheduler_for(timeline, selection)) is not None:
        found["resume-from-priority"] = ResumeFromPriority(scheduler.id)
    return found


def submit(bridge: SessionBridge, *commands: Command) -> None:
    """Submit commands; a session that runs is held before it steps."""
    is_running = bridge.status.phase is SessionPhase.RUNNING
    if is_running and any(isinstance(each, Step) for each in commands):
        bridge.submit(Hold())
    for command in commands:
        bridge.submit(command)


def submit_action(bridge: SessionBridge, action: str) -> None:
    """Submit the command that an action stands for, if it stands for one now."""
    command = commands_of_actions(bridge).get(action)
    if command is not None:
        bridge.submit(command)
