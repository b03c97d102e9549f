"""The state of a clock, and the reason where it stands still: one value and one sentence."""

from __future__ import annotations

from enum import IntEnum

from msgspec import Struct

from inspector.events.states import StoppedClock
from inspector.events.timeline import Timeline
from inspector.timebase import format_instant


class RunStateKind(IntEnum):
    """What a clock does now, from the most to the least lively."""

    RUNNING = 0
    HELD = 1
    STOPPED = 2
    FROZEN = 3
    PAUSED = 4

    @property
    def is_lively(self) -> bool:
        """Whether nothing but the transport stops it."""
        return self in _LIVELY


_LIVELY = (RunStateKind.RUNNING, RunStateKind.HELD)


class RunState(Struct, frozen=True):
    kind: RunStateKind  # Running or why not
    text: str  # The same for people, with who stopped it and since when
    # The gist of the text, for where there is no room for all of it; empty when the text is short.
    brief: str = ""


def run_state_of(timeline: Timeline, clock_id: int) -> RunState:
    """Return what a clock does now; a clock's own pause is named before its ancestors'."""
    reasons = timeline.pause_reasons(clock_id)
    if not reasons:
        if timeline.is_running:
            return RunState(RunStateKind.RUNNING, "running")
        return RunState(RunStateKind.HELD, "ready, the session is held", "held")
    own = reasons[0] if reasons[0].is_own else None
    if own is None:
        nearest = reasons[0]
        text = f"stopped by {nearest.clock_name} ({reason_text(nearest)})"
        return RunState(RunStateKind.STOPPED, text, brief_stop_text(nearest))
    others = "".join(f", so is {reason.clock_name}" for reason in reasons[1:2])
    kind = RunStateKind.FROZEN if own.is_rate_zero else RunStateKind.PAUSED
    return RunState(kind, reason_text(own) + others, own.what + brief_cause_text(own.cause))


def brief_stop_text(reason: StoppedClock) -> str:
    return f"{reason.clock_name} {'at ' if reason.is_rate_zero else ''}{reason.what}"


def brief_cause_text(cause: int) -> str:
    """Return `` by you`` for the number of a command; nothing for 0, the program itself."""
    return " by you" if cause else ""


def reason_text(reason: StoppedClock) -> str:
    """Return what stopped a clock, who did it and since when, without the clock's name."""
    who = "" if reason.is_detached else _by(reason.cause)
    return f"{reason.what}{who} since {format_instant(reason.since_ns)}"


def _by(cause: int) -> str:
    return " by you" if cause else " by the program"
