"""The timers of the refresh-rate lab, and when they should fire."""

from dataclasses import dataclass
from typing import Final

from msgspec import Struct

from inspector.timebase import format_duration

#: More firings of one timer in one run are refused: usually a wrong unit.
LARGEST_FIRING_COUNT: Final = 200_000


def duration_text(ns: int) -> str:
    """Return a duration with three or four digits, without trailing zeros."""
    number, space, unit = format_duration(ns).partition(" ")
    if "." in number and space:
        number = number.rstrip("0").removesuffix(".")
    return f"{number}{space}{unit}"


@dataclass(frozen=True, slots=True)
class LabTimer:
    """One repeating timer, set when the program begins."""

    interval_ns: int  # The time from firing to firing
    count: int | None = None  # How often it fires; None for the whole run
    delay_ns: int = 0  # Time until it first fires; 0 for one interval
    name: str = ""  # Its display name; empty for a name made of the interval

    def __post_init__(self) -> None:
        if self.interval_ns <= 0:
            raise ValueError(
                f"an interval must be above 0, not {duration_text(self.interval_ns)}"
                if self.interval_ns
                else "an interval must be at least a nanosecond"
            )
        if self.count is not None and self.count < 1:
            raise ValueError(f"a timer must fire at least once, not {self.count:,} times")
        if self.delay_ns < 0:
            raise ValueError(f"a delay must be 0 or more, not {duration_text(self.delay_ns)}")

    @property
    def title(self) -> str:
        return self.name or f"every {duration_text(self.interval_ns)}"

    @property
    def first_ns(self) -> int:
        return self.delay_ns or self.interval_ns

    def due_ns(self, index: int) -> int | None:
        if self.count is not None and index >= self.count:
            return None
        return self.first_ns + index * self.interval_ns

    def expected_ns(self, end_ns: int) -> tuple[int, ...]:
        """Return the instants at which it should fire, up to and including the end."""
        count = max(0, (end_ns - self.first_ns) // self.interval_ns + 1)
        if self.count is not None:
            count = min(count, self.count)
        if count > LARGEST_FIRING_COUNT:
            raise ValueError(
                f"the timer “{self.title}” would fire {count:,} times (at most "
                f"{LARGEST_FIRING_COUNT:,}); choose a longer interval or a shorter duration"
            )
        last_ns = self.first_ns + count * self.interval_ns
        return tuple(range(self.first_ns, last_ns, self.interval_ns))


class SceneTimer(Struct, frozen=True):
    """The timers of one name on one clock of a scene, taken together."""

    name: str  # Their display name
    clock: str  # The clock, scheduler or ticker that they are on
    expected: tuple[int, ...]  # When they fire without any lateness

    @property
    def title(self) -> str:
        return f"{self.name} ({self.clock})" if self.clock else self.name

    @property
    def interval_ns(self) -> int | None:
        """Mean time from firing to firing, ``None`` for fewer than two."""
        if len(self.expected) < 2:  # noqa: PLR2004 - between two there is one
            return None
        return (self.expected[-1] - self.expected[0]) // (len(self.expected) - 1)

    def due_ns(self, index: int) -> int | None:
        """Return when a firing is due, ``None`` if unknown or after the last."""
        return self.expected[index] if index < len(self.expected) else None

    def expected_ns(self, end_ns: int) -> tuple[int, ...]:
        """Return the instants at which they should fire, up to and including the end."""
        return tuple(at_ns for at_ns in self.expected if at_ns <= end_ns)
