"""What a command on a clock has done, in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.commands.command import Capability, command_in
from inspector.vocabulary import rate_text

if TYPE_CHECKING:
    from inspector.events.states import CommandRecord
    from inspector.events.timeline import Timeline


def effect_text(timeline: Timeline, record: CommandRecord) -> str:
    """Return what a pause, its end or another rate has done; nothing for other commands."""
    clock = timeline.clocks.get(record.clock_id)
    if clock is None:
        return ""
    count = sum(timeline.clocks[each].pending for each in timeline.branch(clock.id))
    timers = "1 timer" if count == 1 else f"{count:,} timers"
    is_one = count == 1
    command = command_in(record.form)
    match None if command is None else command.capability:
        case Capability.PAUSE if clock.paused:
            done, then = "paused", "waits" if is_one else "wait"
        case Capability.PAUSE if timeline.pause_reasons(clock.id):
            # Another pause still stops it.
            done, then = "resumed", "still waits" if is_one else "still wait"
        case Capability.PAUSE:
            done, then = "resumed", "goes on" if is_one else "go on"
        case Capability.RATE:
            done, then = f"now runs at {rate_text(clock.rate_n)}×", "below it"
        case _:
            return ""
    return f"“{clock.name}” {done}: {timers} {then}" if count else f"“{clock.name}” {done}"
