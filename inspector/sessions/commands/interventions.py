"""Interventions: what somebody changed from outside, and what would undo it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from inspector.sessions.commands.commands import (
    AddBreakpoint,
    ChangeBreakpoint,
    Command,
    PauseClock,
    PauseFromPriority,
    PauseMember,
    RemoveBreakpoint,
    ResumeClock,
    ResumeFromPriority,
    ResumeMember,
    SetFailurePolicy,
    SetFrameRate,
    SetRate,
    SetTimeScale,
)
from inspector.vocabulary import RATE_DENOMINATOR, Field

if TYPE_CHECKING:
    from inspector.clocks.failures import FailurePolicy
    from inspector.events.timeline import Timeline
    from inspector.sessions.breakpoints.breakpoints import Breakpoints

#: So many commands can be undone; older ones have passed.
MAX_UNDONE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Before:
    """How things are before a command.

    Attributes:
        timeline: The state of the scene.
        frame_rate: Frames per second that are asked for.
        policy: What follows a failure.
        breakpoints: What is looked out for.
    """

    timeline: Timeline
    frame_rate: Fraction
    policy: FailurePolicy
    breakpoints: Breakpoints


class Undoing:
    """What would undo each command, worked out before it is carried out.

    Time that has passed, timers that fired or were cleared and marks stay: nothing
    undoes them but going back in time.
    """

    def __init__(self) -> None:
        """Begin with nothing to undo."""
        self._inverses: dict[int, Command] = {}

    def note(self, number: int, command: Command, before: Before) -> None:
        """Remember what would undo a command that is about to be carried out."""
        inverse = inverse_of(command, before)
        if inverse is None:
            return
        self._inverses[number] = inverse
        if len(self._inverses) > MAX_UNDONE:
            del self._inverses[next(iter(self._inverses))]

    def of(self, number: int) -> Command | None:
        """Return the command that undoes a command, ``None`` when nothing does."""
        return self._inverses.get(number)

    def done(self, number: int) -> None:
        """Note that a command was undone; once is enough."""
        self._inverses.pop(number, None)

    def clear(self) -> None:
        """Forget everything: the scene was loaded anew."""
        self._inverses.clear()

    @property
    def newest(self) -> int:
        """Number of the newest command that can be undone, 0 for none."""
        return next(reversed(self._inverses), 0)


def inverse_of(command: Command, before: Before) -> Command | None:  # noqa: PLR0911
    """Return what undoes a command; ``None`` when nothing does, or it changes nothing."""
    clocks = before.timeline.clocks
    match command:
        case PauseClock(clock_id) if clock_id in clocks and not clocks[clock_id].paused:
            return ResumeClock(clock_id)
        case ResumeClock(clock_id) if clock_id in clocks and clocks[clock_id].paused:
            return PauseClock(clock_id)
        case SetRate(clock_id, rate) if clock_id in clocks and clocks[clock_id].rate != rate:
            return SetRate(clock_id, clocks[clock_id].rate)
        case SetFrameRate(rate) if rate != before.frame_rate:
            return SetFrameRate(before.frame_rate)
        case SetFailurePolicy(policy) if policy is not before.policy:
            return SetFailurePolicy(before.policy)
        case PauseMember() | ResumeMember() | PauseFromPriority() | SetTimeScale():
            return _member_inverse(command, before.timeline)
        case AddBreakpoint(is_kept=False):
            return RemoveBreakpoint(before.breakpoints.next_number)
        case ChangeBreakpoint(number) if (former := before.breakpoints.get(number)) is not None:
            return ChangeBreakpoint(number, former)
        case RemoveBreakpoint(number) if (former := before.breakpoints.get(number)) is not None:
            return AddBreakpoint(former)
        case _:
            return None


def _member_inverse(
    command: PauseMember | ResumeMember | PauseFromPriority | SetTimeScale, timeline: Timeline
) -> Command | None:
    number = command.member_id
    member = timeline.members.by_id.get(number)
    if member is None:
        return None
    match command:
        case PauseMember() if not member.is_paused:
            return ResumeMember(number)
        case ResumeMember() if member.is_paused:
            return PauseMember(number)
        case PauseFromPriority():
            return ResumeFromPriority(number)
        case SetTimeScale(_, rate):
            before = Fraction(member.fields.get(Field.RATE, RATE_DENOMINATOR), RATE_DENOMINATOR)
            return None if before == rate else SetTimeScale(number, before)
        case _:
            return None
