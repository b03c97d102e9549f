"""Commands on clocks: pause a branch, resume it, give it another rate."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from inspector.clocks.rate import rate_numerator
from inspector.commands.command import Action, Capability, ClockEffect, Command, checked
from inspector.errors import CommandError
from inspector.vocabulary import CLOCK_PAUSED, CLOCK_RATE, CLOCK_RESUMED, rate_text

if TYPE_CHECKING:
    from inspector.clocks.clock import Clock
    from inspector.commands.command import Target
    from inspector.events.states import ClockState
    from inspector.events.timeline import Timeline


class ClockCommand(Command):
    """A command on one clock.

    Attributes:
        clock_id: The clock.
    """

    __slots__ = ()

    clock_id: int

    @override
    def clock_about(self, timeline: Timeline) -> int:
        return self.clock_id if self.clock_id in timeline.clocks else 0

    def state(self, timeline: Timeline) -> ClockState | None:
        """Return the state of the clock, ``None`` if it is gone."""
        return timeline.clocks.get(self.clock_id)

    def clock(self, target: Target) -> Clock:
        """Return the clock.

        Raises:
            CommandError: It is gone, or no scene is running.
        """
        clock = target.scene.clock(self.clock_id)
        if clock is None:
            message = f"There is no {clock_text(self.clock_id, target.timeline)} any more."
            raise CommandError(message)
        return clock


@dataclass(frozen=True, slots=True)
class PauseClock(ClockCommand):
    """Pause a branch."""

    capability: ClassVar = Capability.PAUSE

    clock_id: int

    @override
    def sentence(self, timeline: Timeline) -> str:
        return f"pause {clock_text(self.clock_id, timeline)}"

    @override
    def prepare(self, target: Target, number: int) -> Action:
        clock = self.clock(target)
        return lambda: clock.pause(cause=number)

    @override
    def inverse(self, target: Target) -> Command | None:
        clock = self.state(target.timeline)
        return None if clock is None or clock.paused else ResumeClock(self.clock_id)

    @override
    def effect(self, timeline: Timeline) -> ClockEffect | None:
        clock = self.state(timeline)
        if clock is None:
            return None
        event = None if clock.paused else (timeline.at_ns, CLOCK_PAUSED, clock.id, 0, 0)
        return ClockEffect(f"Pausing “{clock.name}”", clock.id, event)


@dataclass(frozen=True, slots=True)
class ResumeClock(ClockCommand):
    """Undo a branch's own pause."""

    capability: ClassVar = Capability.PAUSE

    clock_id: int

    @override
    def sentence(self, timeline: Timeline) -> str:
        return f"resume {clock_text(self.clock_id, timeline)}"

    @override
    def prepare(self, target: Target, number: int) -> Action:
        clock = self.clock(target)
        return lambda: clock.resume(cause=number)

    @override
    def inverse(self, target: Target) -> Command | None:
        clock = self.state(target.timeline)
        return None if clock is None or not clock.paused else PauseClock(self.clock_id)

    @override
    def effect(self, timeline: Timeline) -> ClockEffect | None:
        clock = self.state(timeline)
        if clock is None:
            return None
        event = (timeline.at_ns, CLOCK_RESUMED, clock.id, 0, 0) if clock.paused else None
        return ClockEffect(f"Resuming “{clock.name}”", clock.id, event)


@dataclass(frozen=True, slots=True)
class SetRate(ClockCommand):
    """Give a branch another rate."""

    capability: ClassVar = Capability.RATE

    clock_id: int
    rate: Fraction

    @override
    def sentence(self, timeline: Timeline) -> str:
        name = clock_text(self.clock_id, timeline)
        return f"set the rate of {name} to {number_text(self.rate)}"

    @override
    def prepare(self, target: Target, number: int) -> Action:
        clock = self.clock(target)
        checked(rate_numerator, self.rate)
        return lambda: clock.set_rate(self.rate, cause=number)

    @override
    def inverse(self, target: Target) -> Command | None:
        clock = self.state(target.timeline)
        if clock is None or clock.rate == self.rate:
            return None
        return SetRate(self.clock_id, clock.rate)

    @override
    def effect(self, timeline: Timeline) -> ClockEffect | None:
        clock = self.state(timeline)
        if clock is None:
            return None
        rate_n = rate_numerator(self.rate)
        text = f"Setting the rate of “{clock.name}” to {rate_text(rate_n)}"
        return ClockEffect(text, clock.id, (timeline.at_ns, CLOCK_RATE, clock.id, rate_n, 0))


def clock_text(clock_id: int, timeline: Timeline) -> str:
    """Return a clock's name in quotes, or its number when it is not known."""
    clock = timeline.clocks.get(clock_id)
    return f"clock {clock_id}" if clock is None else f"“{clock.name}”"


def number_text(rate: Fraction) -> str:
    """Return a rate in words, whether it can be used or not."""
    try:
        return rate_text(rate_numerator(rate))
    except ValueError:
        return str(rate)
