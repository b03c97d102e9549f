"""The values a timeline is made of: what is known of a clock, a failure, a mark, a command."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from inspector.clocks.rate import D


@dataclass(slots=True)
class ClockState:
    """What is known of one clock.

    Attributes:
        id: Number of the clock; the root's is 1.
        name: What people call it.
        parent_id: The clock it hangs under, 0 for the root.
        children: The clocks below it, in the order in which they came.
        rate_n: Its rate over the fixed denominator, kept while paused.
        n: The rate in force: 0 while paused.
        off: Offset of the mapping, see :mod:`inspector.clocks.rate`.
        paused: Whether it was paused itself.
        paused_since_ns: Session time since when it stands still by itself.
        pause_cause: Number of the command that paused it, 0 for the program.
        pending: How many timers wait on it.
        created_ns: Session time at which it was made.
    """

    id: int
    name: str
    parent_id: int
    rate_n: int
    n: int
    off: int
    created_ns: int
    children: list[int] = field(default_factory=list)
    paused: bool = False
    paused_since_ns: int = 0
    pause_cause: int = 0
    pending: int = 0

    @property
    def rate(self) -> Fraction:
        """Local seconds per parent second, kept while paused."""
        return Fraction(self.rate_n, D)

    def copy(self) -> ClockState:
        """Return a state of its own."""
        return ClockState(
            self.id,
            self.name,
            self.parent_id,
            self.rate_n,
            self.n,
            self.off,
            self.created_ns,
            list(self.children),
            self.paused,
            self.paused_since_ns,
            self.pause_cause,
            self.pending,
        )


@dataclass(frozen=True, slots=True)
class PauseReason:
    """One clock that makes another stand still.

    Attributes:
        clock_id: The clock that stands still by itself.
        clock_name: Its name.
        since_ns: Session time since when.
        is_own: It is the clock that was asked about.
        is_rate_zero: It is not paused, its rate is 0.
        cause: Number of the command that paused it, 0 for the program.
    """

    clock_id: int
    clock_name: str
    since_ns: int
    is_own: bool
    is_rate_zero: bool
    cause: int


@dataclass(frozen=True, slots=True)
class Failure:
    """A callback that raised.

    Attributes:
        at_ns: Session time.
        frame: Index of the frame that was running or came next.
        label: What was called.
        traceback: As Python prints it.
        timer_id: The timer, 0 for a frame callback.
    """

    at_ns: int
    frame: int
    label: str
    traceback: str
    timer_id: int


@dataclass(frozen=True, slots=True)
class Mark:
    """An instant the program or the user has marked.

    Attributes:
        at_ns: Session time.
        text: What it says.
        clock_id: The clock it belongs to, 0 for none.
    """

    at_ns: int
    text: str
    clock_id: int


@dataclass(frozen=True, slots=True)
class CommandRecord:
    """A command that was carried out or refused.

    Attributes:
        at_ns: Session time.
        number: Its number, the ``cause`` of what followed from it.
        text: What was asked for, in words.
        refusal: Why it was refused, empty if it was not.
        clock_id: The clock it is about, 0 for none.
        local_ns: Local time of that clock, or of the root clock.
        host_ms: When it was in the host's own time, milliseconds since 1970; 0 if not known.
        by: Who asked for it.
        frame: Index of the frame that was running or came next.
        form: The command as JSON, see :mod:`inspector.commands`; empty if it is not known.
    """

    at_ns: int
    number: int
    text: str
    refusal: str
    clock_id: int = 0
    local_ns: int = 0
    host_ms: int = 0
    by: str = ""
    frame: int = 0
    form: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    """An instant from which session time stood still, after it had run.

    Attributes:
        at_ns: Session time; it is the same when time goes on.
    """

    at_ns: int


@dataclass(frozen=True, slots=True)
class BreakHit:
    """A breakpoint that was hit.

    Attributes:
        at_ns: Session time.
        number: Number of the breakpoint.
        text: What was looked out for and what happened, in words.
        frame: Index of the frame that caused it.
    """

    at_ns: int
    number: int
    text: str
    frame: int
