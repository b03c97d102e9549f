"""What commands do to schedulers, targets, tickers and machines, and why they are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from inspector.clocks.failures import CALLBACK_ERRORS
from inspector.clocks.rate import rate_numerator
from inspector.errors import CommandError
from inspector.frames.scheduler.controls import (
    MachineControl,
    Pausable,
    SchedulerControl,
    Unschedulable,
    pause_from,
)
from inspector.sessions.commands.commands import (
    MakeTransition,
    MemberCommand,
    PauseFromPriority,
    PauseMember,
    ResumeFromPriority,
    ResumeMember,
    SetTimeScale,
    UnscheduleMember,
    member_text,
)
from inspector.vocabulary import Field

if TYPE_CHECKING:
    from inspector.events.timeline import Timeline
    from inspector.sessions.hosting import Hosting


def prepared_member_action(
    command: MemberCommand, number: int, hosting: Hosting, timeline: Timeline
) -> Callable[[], object]:
    """Return what carries out a command; nothing has happened when it is refused.

    What fails in it is recorded like every callback that raises.

    Args:
        command: What was asked for.
        number: Number of the command, the cause in the events that follow from it.
        hosting: The scene.
        timeline: Its state, for what members are called.

    Raises:
        CommandError: It cannot be carried out; the message says why.
    """
    members = hosting.tree.members
    member = members.find(command.member_id)
    if member is None or command.member_id not in timeline.members.by_id:
        name = member_text(command.member_id, timeline)
        message = f"There is no {name} any more."
        raise CommandError(message)
    action = _action(command, member, hosting, timeline)

    def carry_out() -> None:
        members.cause = number
        try:
            action()
        except KeyboardInterrupt:
            raise
        except CALLBACK_ERRORS as error:
            state = timeline.members.by_id[command.member_id]
            clock = hosting.clock(state.clock_id) or hosting.tree.root
            hosting.tree.report_failure(clock, 0, state.name, error)
        finally:
            members.cause = 0

    return carry_out


def _action(
    command: MemberCommand, member: object, hosting: Hosting, timeline: Timeline
) -> Callable[[], object]:
    match command, member:
        case PauseMember(), Pausable():
            return member.pause
        case ResumeMember(), Pausable():
            return member.resume
        case UnscheduleMember(), Unschedulable():
            return member.unschedule
        case ((PauseFromPriority() | ResumeFromPriority() | SetTimeScale()), SchedulerControl()):
            return _scheduler_action(command, member, hosting, timeline)
        case MakeTransition(), MachineControl():
            return _transition(command, member, timeline)
        case _:
            state = timeline.members.by_id[command.member_id]
            message = f"“{state.name}” is a {state.kind.text}; it cannot be {_DONE[type(command)]}."
            raise CommandError(message)


def _scheduler_action(
    command: PauseFromPriority | ResumeFromPriority | SetTimeScale,
    scheduler: SchedulerControl,
    hosting: Hosting,
    timeline: Timeline,
) -> Callable[[], object]:
    pauses = hosting.pauses.setdefault(command.member_id, [])
    match command:
        case PauseFromPriority(_, min_priority):
            return lambda: pauses.append(pause_from(scheduler, min_priority))
        case ResumeFromPriority():
            if not pauses:
                name = member_text(command.member_id, timeline)
                message = f"No command has paused {name} from a priority on."
                raise CommandError(message)

            def resume() -> object:
                return pauses.pop()()

            return resume
        case SetTimeScale(_, rate):
            try:
                rate_numerator(rate)
            except ValueError as error:
                text = str(error)
                message = f"{text[:1].upper()}{text[1:]}."
                raise CommandError(message) from None
            return lambda: setattr(scheduler, "time_scale", float(rate))


def _transition(
    command: MakeTransition, machine: MachineControl, timeline: Timeline
) -> Callable[[], object]:
    known = {str(name): name for name in machine.names}
    name = member_text(command.member_id, timeline)
    if command.name not in known:
        listed = ", ".join(f"“{each}”" for each in known) or "none at all"
        message = f"{name} has no transition “{command.name}”. It has {listed}."
        raise CommandError(message)
    if not machine.can(known[command.name]):
        state = timeline.members.field_text(command.member_id, Field.STATE)
        possible = [f"“{each}”" for each, value in known.items() if machine.can(value)]
        listed = ", ".join(possible) if possible else "nothing"
        message = f"“{command.name}” does not lead away from “{state}”; {listed} does."
        raise CommandError(message)
    return lambda: machine.go(known[command.name])


_DONE = {
    PauseMember: "paused by itself",
    ResumeMember: "resumed by itself",
    UnscheduleMember: "unscheduled",
    PauseFromPriority: "paused from a priority on",
    ResumeFromPriority: "resumed from a priority on",
    SetTimeScale: "given a time scale",
    MakeTransition: "told to make a transition",
}
