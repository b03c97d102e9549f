"""Commands on schedulers, targets, calls, components, tickers and state machines."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import ClassVar

from typing_extensions import override

from inspector.clocks.failures import CALLBACK_ERRORS
from inspector.clocks.rate import rate_numerator
from inspector.commands.command import Action, Capability, Command, MemberEffect, Target, checked
from inspector.display_text import with_article
from inspector.errors import CommandError
from inspector.events.members import PAUSABLE, MemberState
from inspector.events.timeline import Timeline
from inspector.frames.scheduler.controls import (
    MachineControl,
    Pausable,
    SchedulerControl,
    Unschedulable,
    pause_from,
)
from inspector.vocabulary import RATE_DENOMINATOR, Field, MemberKind, rate_text


class MemberCommand(Command, frozen=True):
    """A command on one member of the clock tree."""

    capability: ClassVar = Capability.MEMBERS
    cannot_be: ClassVar[str]  # What cannot be done to a member of another kind

    member_id: int

    @override
    def subject(self, timeline: Timeline) -> str:
        member = self.state(timeline)
        return f"member {self.member_id}" if member is None else f"“{member.name}”"

    @override
    def clock_about(self, timeline: Timeline) -> int:
        member = self.state(timeline)
        return 0 if member is None else member.clock_id

    def state(self, timeline: Timeline) -> MemberState | None:
        return timeline.members.by_id.get(self.member_id)

    @override
    def prepare(self, target: Target, number: int) -> Action:
        """Return what carries out the command.

        Errors in it are recorded like those of callbacks.
        """
        scene, timeline = target.scene, target.timeline
        members, state = scene.tree.members, self.state(timeline)
        if state is None:
            raise CommandError(f"There is no {self.subject(timeline)} any more.")
        action = self.action(members.find(self.member_id), target)
        if action is None:
            kind = with_article(state.kind.text)
            raise CommandError(f"“{state.name}” is {kind}; it cannot be {self.cannot_be}.")

        def carry_out() -> None:
            members.cause = number
            try:
                action()
            except CALLBACK_ERRORS as error:
                now = timeline.members.by_id[self.member_id]
                tree = scene.tree
                clocks = {clock.id: clock for clock in tree.root.walk()}
                tree.report_failure(clocks.get(now.clock_id, tree.root), 0, now.name, error)
            finally:
                members.cause = 0

        return carry_out

    @abstractmethod
    def action(self, member: object, target: Target) -> Action | None:
        """Return the change; ``None`` where there is none, a :class:`CommandError` refuses."""


class MemberPause(MemberCommand, frozen=True):
    """A command on a member's own pause."""

    pauses: ClassVar[bool]  # Whether it begins or ends the pause

    @override
    def action(self, member: object, target: Target) -> Action | None:
        if not isinstance(member, Pausable):
            return None
        return member.pause if self.pauses else member.resume

    @override
    def inverse(self, target: Target) -> Command | None:
        member = self.state(target.timeline)
        if member is None or member.is_paused is self.pauses:
            return None
        return ResumeMember(self.member_id) if self.pauses else PauseMember(self.member_id)

    @override
    def effect(self, timeline: Timeline) -> MemberEffect | None:
        member = self.state(timeline)
        if member is None or member.kind not in PAUSABLE:
            return None
        text = f"{'Pausing' if self.pauses else 'Resuming'} “{member.name}”"
        return MemberEffect(text, self.member_id, pauses=self.pauses, resumes=not self.pauses)


class PauseMember(MemberPause, frozen=True):
    """Pause a target, a call, a ticker or a component director."""

    words: ClassVar = "pause {subject}"
    cannot_be: ClassVar = "paused by itself"
    pauses: ClassVar = True


class ResumeMember(MemberPause, frozen=True):
    """End a member's own pause."""

    words: ClassVar = "resume {subject}"
    cannot_be: ClassVar = "resumed by itself"
    pauses: ClassVar = False


class SchedulerCommand(MemberCommand, frozen=True):
    """A command on a frame scheduler."""

    @override
    def action(self, member: object, target: Target) -> Action | None:
        return self.change(member, target) if isinstance(member, SchedulerControl) else None

    @abstractmethod
    def change(self, scheduler: SchedulerControl, target: Target) -> Action:
        """Return the change; a :class:`CommandError` refuses it."""

    @override
    def effect(self, timeline: Timeline) -> MemberEffect | None:
        state = self.state(timeline)
        if state is None or state.kind is not MemberKind.SCHEDULER:
            return None
        return self.effect_on(state)

    def effect_on(self, scheduler: MemberState) -> MemberEffect | None:  # noqa: ARG002
        """Return what the change does to the calls of the scheduler, if it can be foreseen."""
        return None


class PauseFromPriority(SchedulerCommand, frozen=True):
    """Pause every target of a scheduler from a priority on."""

    words: ClassVar = "pause everything in {subject} from priority {min_priority:,} on"
    cannot_be: ClassVar = "paused from a priority on"

    min_priority: int

    @override
    def change(self, scheduler: SchedulerControl, target: Target) -> Action:
        pauses = target.scene.pauses.setdefault(self.member_id, [])
        return lambda: pauses.append(pause_from(scheduler, self.min_priority))

    @override
    def inverse(self, target: Target) -> Command | None:
        member = self.state(target.timeline)
        return None if member is None else ResumeFromPriority(self.member_id)

    @override
    def effect_on(self, scheduler: MemberState) -> MemberEffect | None:
        text = f"Pausing “{scheduler.name}” from priority {self.min_priority:,} on"
        return MemberEffect(text, self.member_id, min_priority=self.min_priority)


class ResumeFromPriority(SchedulerCommand, frozen=True):
    """Undo the last :class:`PauseFromPriority` of a scheduler."""

    words: ClassVar = "resume what was paused by priority in {subject}"
    cannot_be: ClassVar = "resumed from a priority on"

    @override
    def change(self, scheduler: SchedulerControl, target: Target) -> Action:
        pauses = target.scene.pauses.setdefault(self.member_id, [])
        if not pauses:
            name = self.subject(target.timeline)
            raise CommandError(f"No command has paused {name} from a priority on.")

        def resume() -> object:
            return pauses.pop()()

        return resume


class UnscheduleMember(MemberCommand, frozen=True):
    """Unschedule a call, or all calls of a target."""

    words: ClassVar = "unschedule {subject}"
    cannot_be: ClassVar = "unscheduled"

    @override
    def action(self, member: object, target: Target) -> Action | None:
        return member.unschedule if isinstance(member, Unschedulable) else None


class SetTimeScale(SchedulerCommand, frozen=True):
    """Set the time scale of a scheduler."""

    words: ClassVar = "set the time scale of {subject} to {rate}"
    cannot_be: ClassVar = "given a time scale"

    rate: Fraction

    @override
    def change(self, scheduler: SchedulerControl, target: Target) -> Action:
        checked(rate_numerator, self.rate)
        return lambda: setattr(scheduler, "time_scale", float(self.rate))

    @override
    def inverse(self, target: Target) -> Command | None:
        member = self.state(target.timeline)
        if member is None:
            return None
        before = Fraction(member.rate_n, RATE_DENOMINATOR)
        return None if before == self.rate else SetTimeScale(self.member_id, before)

    @override
    def effect_on(self, scheduler: MemberState) -> MemberEffect | None:
        rate_n = rate_numerator(self.rate)
        text = f"Setting the time scale of “{scheduler.name}” to {rate_text(rate_n)}"
        exact = Fraction(rate_n, RATE_DENOMINATOR)
        return MemberEffect(text, self.member_id, time_scale=exact)


class MakeTransition(MemberCommand, frozen=True):
    """Make a named transition of a state machine."""

    words: ClassVar = "make “{name}” of {subject}"
    cannot_be: ClassVar = "told to make a transition"

    name: str

    @override
    def action(self, member: object, target: Target) -> Action | None:
        if not isinstance(member, MachineControl):
            return None
        wanted, timeline = self.name, target.timeline
        known = {str(name): name for name in member.names}
        name = self.subject(timeline)
        if wanted not in known:
            listed = ", ".join(f"“{each}”" for each in known) or "none at all"
            raise CommandError(f"{name} has no transition “{wanted}”. It has {listed}.")
        if not member.can(known[wanted]):
            state = timeline.members.field_text(self.member_id, Field.STATE)
            possible = [f"“{each}”" for each, value in known.items() if member.can(value)]
            listed = ", ".join(possible) if possible else "nothing"
            raise CommandError(f"“{wanted}” does not lead away from “{state}”; {listed} does.")
        return lambda: member.go(known[wanted])
