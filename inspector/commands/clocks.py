"""Commands on clocks: pause, resume, set the rate."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from typing_extensions import override

from inspector.clocks.rate import rate_numerator
from inspector.commands.command import (
    Action,
    Capability,
    ClockControl,
    ClockEffect,
    Command,
    Target,
    checked,
)
from inspector.errors import CommandError
from inspector.events.states import ClockState
from inspector.events.timeline import Timeline
from inspector.vocabulary import CLOCK_PAUSED, CLOCK_RATE, CLOCK_RESUMED, rate_text


class ClockCommand(Command, frozen=True):
    """A command on one clock."""

    capability: ClassVar = Capability.PAUSE

    clock_id: int

    @override
    def subject(self, timeline: Timeline) -> str:
        clock = self.state(timeline)
        return f"clock {self.clock_id}" if clock is None else f"“{clock.name}”"

    @override
    def clock_about(self, timeline: Timeline) -> int:
        return self.clock_id if self.clock_id in timeline.clocks else 0

    def state(self, timeline: Timeline) -> ClockState | None:
        return timeline.clocks.get(self.clock_id)

    def clock(self, target: Target) -> ClockControl:
        """Return the clock; raises a :class:`CommandError` if it was removed."""
        clock = target.scene.clock(self.clock_id)
        if clock is None:
            raise CommandError(f"There is no {self.subject(target.timeline)} any more.")
        return clock


class OwnPause(ClockCommand, frozen=True):
    """A command on a clock's own pause."""

    pauses: ClassVar[bool]  # Whether it begins or ends the pause

    @override
    def prepare(self, target: Target, number: int) -> Action:
        clock = self.clock(target)
        change = clock.pause if self.pauses else clock.resume
        return lambda: change(cause=number)

    @override
    def inverse(self, target: Target) -> Command | None:
        clock = self.state(target.timeline)
        if clock is None or clock.paused is self.pauses:
            return None
        return ResumeClock(self.clock_id) if self.pauses else PauseClock(self.clock_id)

    @override
    def effect(self, timeline: Timeline) -> ClockEffect | None:
        clock = self.state(timeline)
        if clock is None:
            return None
        kind = CLOCK_PAUSED if self.pauses else CLOCK_RESUMED
        event = None if clock.paused is self.pauses else (timeline.at_ns, kind, clock.id, 0, 0)
        verb = "Pausing" if self.pauses else "Resuming"
        return ClockEffect(f"{verb} “{clock.name}”", clock.id, event)


class PauseClock(OwnPause, frozen=True):
    """Pause a branch."""

    words: ClassVar = "pause {subject}"
    pauses: ClassVar = True


class ResumeClock(OwnPause, frozen=True):
    """End a branch's own pause."""

    words: ClassVar = "resume {subject}"
    pauses: ClassVar = False


class SetRate(ClockCommand, frozen=True):
    """Set the rate of a branch."""

    words: ClassVar = "set the rate of {subject} to {rate}"
    capability: ClassVar = Capability.RATE

    rate: Fraction

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
