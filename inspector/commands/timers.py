"""Commands on timers of clocks: clear, fire now."""

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override

from inspector.commands.command import (
    Action,
    Capability,
    ClockControl,
    Command,
    Target,
    TimerControl,
)
from inspector.errors import CommandError
from inspector.events.timeline import Timeline


class TimerCommand(Command, frozen=True):
    """A command on one pending timer."""

    capability: ClassVar = Capability.TIMERS

    timer_id: int

    @override
    def subject(self, timeline: Timeline) -> str:
        timers, number = timeline.timers, self.timer_id
        return f"“{timers.row(number).label}”" if number in timers else f"timer {number}"

    @override
    def clock_about(self, timeline: Timeline) -> int:
        timers = timeline.timers
        return timers.row(self.timer_id).clock_id if self.timer_id in timers else 0

    def timer(self, target: Target) -> tuple[ClockControl, TimerControl]:
        """Return the timer and its clock; raises a :class:`CommandError` if it is not pending."""
        scene, table = target.scene, target.timeline.timers
        timer = None
        if self.timer_id in table:
            row = table.row(self.timer_id)
            timer = scene.timer(row.clock_id, self.timer_id, row.due_ns)
        if timer is None or timer.clock is None:
            raise CommandError(f"Timer {self.timer_id} is gone: it has fired or was cleared.")
        return timer.clock, timer


class ClearTimer(TimerCommand, frozen=True):
    """Cancel a pending timer."""

    words: ClassVar = "clear {subject}"

    @override
    def prepare(self, target: Target, number: int) -> Action:
        clock, timer = self.timer(target)
        return lambda: clock.clear(timer, cause=number)


class FireTimer(TimerCommand, frozen=True):
    """Call a timer now; a one-shot is used up, a repeating timer keeps its schedule."""

    words: ClassVar = "fire {subject} now"
    capability: ClassVar = Capability.FIRE

    @override
    def prepare(self, target: Target, number: int) -> Action:
        clock, timer = self.timer(target)
        return lambda: clock.fire_now(timer)
