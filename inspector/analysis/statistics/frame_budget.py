"""The only definition of a frame budget, and of frames over budget.

The window, graphs, tables, findings, the command line and JSON all count by
:attr:`FrameBudget.longest_ns`, so they never disagree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, overload

from msgspec import Struct

from inspector.foreign.numbers import number_in, rounded
from inspector.timebase import NS_PER_MS, NS_PER_SECOND, format_duration
from inspector.vocabulary import RATE_DENOMINATOR, LoopKind, rate_chip

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from inspector.events.loop_frames import LoopFrames
    from inspector.events.timeline import Timeline

#: A frame is over budget when it exceeds the budget by more than this share. A loop that
#: holds 60 fps measures 15 to 19 ms per frame: both ends of an interval are wake-ups, and
#: precise timers promise a millisecond each (Qt's ``Qt::PreciseTimer``), 2 ms or 12 % in all.
#: The next lower display rate is a fifth slower (60 to 50, 120 to 100, 144 to 120) and has to
#: count in every frame. The share lies between the two.
TOLERANCE: Final = Fraction(15, 100)
#: For short budgets that share is less than the error of one wake-up.
LEAST_TOLERANCE_NS: Final = NS_PER_MS
_SHARE_TEXT: Final = f"{float(100 * TOLERANCE):g} %"
_LEAST_TEXT: Final = f"{LEAST_TOLERANCE_NS / NS_PER_MS:g} ms"
#: The rule in words for frames that only the inspector made too long.
BY_INSPECTOR_RULE: Final = "over budget with the inspector's share, and not without it"
#: The rule in words, for every count of frames over budget.
OVER_RULE: Final = f"longer than the budget by more than {_SHARE_TEXT} (at least {_LEAST_TEXT})"

#: Origin of a budget that is the median of the newest frames, if there are at least
#: ``_LEAST_FRAMES``.
USUAL_FRAME: Final = "the loop's usual frame"
#: Origin of a budget that the loop asks for.
ASKED_FRAME: Final = "what the loop asks for"
_NEWEST_FRAMES: Final = 10_000
_LEAST_FRAMES: Final = 30

#: One frame at 60, 120 and 30 frames per second, in milliseconds; the first is the most important.
DEFAULT_BUDGETS_MS: Final = (1000 / 60, 1000 / 120, 1000 / 30)
#: Rates from here on, or as near to a whole number, have no decimal.
_WHOLE_FROM: Final = 100
_NEARLY_WHOLE: Final = 0.05
#: Budgets that differ by less than this share are one.
_SAME_BUDGET: Final = 0.005
SHORTEST_BUDGET_MS: Final = Fraction(1, 1000)
LONGEST_BUDGET_MS: Final = Fraction(3_600_000)


def _is_possible(budget_ms: float | Fraction) -> bool:
    return SHORTEST_BUDGET_MS <= budget_ms <= LONGEST_BUDGET_MS


def checked_budget_ms(budget_ms: float | Fraction) -> float:
    """Return a budget; a ``ValueError`` refuses less than 1 µs and more than an hour."""
    if not _is_possible(budget_ms):
        message = f"a budget must be between 0.001 ms and an hour, not {rounded(budget_ms)} ms"
        raise ValueError(message)
    return float(budget_ms)


@lru_cache(maxsize=64)
def _tolerance_ns(budget_ns: int) -> int:
    # Cached, because plots need it several times for each bar.
    share_ns = budget_ns * TOLERANCE.numerator // TOLERANCE.denominator
    return max(share_ns, LEAST_TOLERANCE_NS)


class FrameBudget(Struct, frozen=True):
    budget_ns: int  # The budget, above 0
    # Whether the time in callbacks is compared with it instead of the frame time, as for turns of a
    # loop that waits for events.
    by_busy: bool = False
    origin: str = ""  # Where the budget comes from, in words; empty for a budget that was given
    rate: Fraction = Fraction(1)  # Of the loop that asks for it: it asks in its own time

    def __post_init__(self) -> None:
        if self.budget_ns <= 0:
            message = f"a budget is a positive number of nanoseconds, not {self.budget_ns!r}"
            raise ValueError(message)

    @classmethod
    def of_ms(cls, budget_ms: float) -> FrameBudget:
        return cls(max(1, round(budget_ms * NS_PER_MS)))

    @classmethod
    def of_rate(cls, rate: Fraction, *, by_busy: bool = False) -> FrameBudget:
        return cls(max(1, round(NS_PER_SECOND / rate)), by_busy)

    @property
    def tolerance_ns(self) -> int:
        """By how much a frame may exceed the budget without being over it."""
        return _tolerance_ns(self.budget_ns)

    @property
    def longest_ns(self) -> int:
        return self.budget_ns + self.tolerance_ns

    @property
    def longest_missing_one_ns(self) -> int:
        """The longest frame time that misses only one refresh of a screen."""
        return self.longest_ns + self.budget_ns

    @overload
    def is_over_because_of(self, interval_ns: int, share_ns: int) -> bool: ...
    @overload
    def is_over_because_of(
        self, interval_ns: NDArray[np.int64], share_ns: NDArray[np.int64]
    ) -> NDArray[np.bool_]: ...
    def is_over_because_of(
        self, interval_ns: int | NDArray[np.int64], share_ns: int | NDArray[np.int64]
    ) -> bool | NDArray[np.bool_]:
        """Return whether a frame is over budget because of one share of its time alone.

        Without that share, such as the inspector's, it would not be over budget.
        """
        longest_ns = self.longest_ns
        return (interval_ns > longest_ns) & (interval_ns - share_ns <= longest_ns)

    @property
    def why(self) -> str:
        """Which budget it is and why, if a loop has it of itself: ``asks for 30 fps``."""
        if self.origin == USUAL_FRAME:
            return f"usual frame {format_duration(self.budget_ns)}"
        return f"asks for {self._asked_text}" if self.origin == ASKED_FRAME else ""

    @property
    def short_why(self) -> str:
        """The same where there is little room: ``usual 19.8 ms``."""
        if self.origin == USUAL_FRAME:
            return f"usual {format_duration(self.budget_ns)}"
        return self.why if self.rate == 1 else self._asked_text

    @property
    def _asked_text(self) -> str:
        asked = fps_text(max(1, round(self.budget_ns * self.rate)))
        return (
            asked
            if self.rate == 1
            else f"{asked} at {rate_chip(round(self.rate * RATE_DENOMINATOR))}"
        )

    @property
    def limit_text(self) -> str:
        """The longest time that is not over it, in words: ``19.2 ms``."""
        return format_duration(self.longest_ns)

    @property
    def over_text(self) -> str:
        """What frames over it are, in words, with its origin: ``over budget (19.2 ms)``."""
        by = _LEAST_TEXT if self.tolerance_ns == LEAST_TOLERANCE_NS else _SHARE_TEXT
        origin = f", {by} above {self.origin}" if self.origin else ""
        return f"over budget ({self.limit_text}{origin})"


def budgets_after(first_ms: float, others_ms: Iterable[float]) -> tuple[float, ...]:
    """Return budgets of which one is the first, which is none that it equals but for rounding."""
    others = tuple(others_ms)
    near = (each for each in others if math.isclose(each, first_ms, rel_tol=_SAME_BUDGET))
    first = next(near, first_ms)
    return (first, *(each for each in others if each != first))


def drawing_loop(timeline: Timeline) -> LoopFrames | None:
    """Return the shown loop of an attached program, if it draws frames."""
    loop = timeline.loops.get(timeline.frames_of)
    return loop if loop is not None and loop.kind is LoopKind.DRAWS_FRAMES else None


def loop_rate(timeline: Timeline) -> Fraction:
    """Return the effective rate of the shown loop; 1 once its clock is gone."""
    number = timeline.frames_of
    return timeline.effective_rate(number) if number in timeline.clocks else Fraction(1)


def loop_budget(
    timeline: Timeline,
    frame_rate: Fraction,
    *,
    waits: bool,
    of: Literal["delta_ns", "interval_ns"] = "delta_ns",
) -> FrameBudget:
    """Return the budget of the frames that a timeline shows, unless the user gives another.

    For a loop of an attached program, that is the interval it asks for, otherwise its usual frame,
    in its own time or in real time. ``waits`` tells whether its frames are turns of a loop that
    waits for events.
    """
    loop = drawing_loop(timeline)
    if loop is not None:
        rate = Fraction(1) if of == "delta_ns" else loop_rate(timeline)
        budget_ns = int(loop.asked_ns / rate) if rate > 0 else 0
        if _is_possible(Fraction(budget_ns, NS_PER_MS)):
            return FrameBudget(budget_ns, origin=ASKED_FRAME, rate=rate)
        end = timeline.frames.end
        # In real time, the frames before were of another length if the rate has been changed.
        measured = of if rate in {0, 1} else "delta_ns"
        times_ns = timeline.frames.numpy(measured, end - _NEWEST_FRAMES, end)
        # The first frame has no length.
        times_ns = times_ns[times_ns > 0]
        if len(times_ns) >= _LEAST_FRAMES:
            times_ns.sort()
            budget_ns = int(int(times_ns[len(times_ns) // 2]) / (rate or 1))
            if _is_possible(Fraction(budget_ns, NS_PER_MS)):
                return FrameBudget(budget_ns, origin=USUAL_FRAME)
    return FrameBudget.of_rate(frame_rate, by_busy=waits)


def rate_in_file(text: object) -> Fraction | None:
    """Return the frame rate that a file names, ``None`` if it names none or an impossible one."""
    try:
        rate = number_in(str(text))
    except ValueError:
        return None
    # A rate for which no budget is possible is damaged.
    return rate if rate > 0 and _is_possible(1000 / rate) else None


def budget_in_file(found: object) -> FrameBudget | None:
    """Return what a file says that a loop asked for or did; ``None`` if that is impossible."""
    match found:
        case {"ns": int(budget_ns), "origin": str(origin), **rest}:
            with suppress(ValueError):
                rate = number_in(str(rest.get("rate", 1)))
                is_known = rate > 0 and origin in {USUAL_FRAME, ASKED_FRAME}
                if is_known and _is_possible(Fraction(budget_ns, NS_PER_MS)):
                    return FrameBudget(budget_ns, origin=origin, rate=rate)
    return None


def budget_text(budget_ns: int) -> str:
    """Return a budget as time and rate: ``16.7 ms · 60 fps``."""
    return f"{format_duration(budget_ns)} · {fps_text(budget_ns)}"


def fps_text(duration_ns: int) -> str:
    """Return the rate of frames of a duration: ``60 fps``."""
    rate = NS_PER_SECOND / duration_ns
    is_whole = rate >= _WHOLE_FROM or abs(rate - round(rate)) < _NEARLY_WHOLE
    return f"{rate:,.0f} fps" if is_whole else f"{rate:.1f} fps"
