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
            return f"“{clock.name}” paused: {timers} {'waits' if is_one else 'wait'}"
        case Capability.PAUSE:
            # Another pause may still stop it.
            still = " still" if timeline.pause_reasons(clock.id) else ""
            verb = ("waits" if is_one else "wait") if still else ("goes on" if is_one else "go on")
            return f"“{clock.name}” resumed: {timers}{still} {verb}"
        case Capability.RATE:
            return f"“{clock.name}” now runs at {rate_text(clock.rate_n)}×: {timers} below it"
        case _:
            return ""
