"""Frame times prepared for statistics, limits of stutter, and percentile rules of tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

_MS_PER_SECOND: Final = 1000.0
_MOST_TIMES: Final = 100.0
_MOST_RATE: Final = 10_000.0
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class FrameFacts:
    """Facts about frames besides their times, with an entry for each frame; None if unknown."""

    # Simulated time minus displayed time since the frame before; NaN for frames without.
    animation_error_ms: NDArray[np.float64] | None = None
    # Time from the display of the frame before to that of this one; NaN for frames without.
    displayed_ms: NDArray[np.float64] | None = None
    # Why the frame is long, see long_frames; -1 for one that is not.
    causes: NDArray[np.int64] | None = None
    # The number of the run to which each frame belongs, if there are several.
    runs: NDArray[np.int64] | None = None
    # Reads columns of a capture, each by the first of its names that exists: a number for each
    # frame, NaN where there is none; None for a column that does not exist.
    columns: Callable[[Sequence[Sequence[str]]], list[NDArray[np.float64] | None]] | None = None
    # Returns the damage in columns, given their names, as sentences; empty for none.
    damage: Callable[[Sequence[str]], str] | None = None

    def kept(self, is_kept: NDArray[np.bool_] | slice) -> FrameFacts:
        def part(values: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if values is None else values[is_kept]

        read = None if self.columns is None else partial(_kept_columns, self.columns, is_kept)
        error, displayed = part(self.animation_error_ms), part(self.displayed_ms)
        known = (error, displayed, part(self.causes), part(self.runs))
        return FrameFacts(*known, read, self.damage)


def _kept_columns(
    read: Callable[[Sequence[Sequence[str]]], list[NDArray[np.float64] | None]],
    is_kept: NDArray[np.bool_] | slice,
    names: Sequence[Sequence[str]],
) -> list[NDArray[np.float64] | None]:
    return [None if each is None else each[is_kept] for each in read(names)]


NO_FACTS: Final = FrameFacts()


def joined(facts: Sequence[FrameFacts], lengths: Sequence[int]) -> FrameFacts:
    """Return the facts about the frames of several runs, as far as all runs have them."""

    def column(name: str) -> Any:  # noqa: ANN401 - an array, of the type of its field
        parts = [getattr(each, name) for each in facts]
        return None if any(each is None for each in parts) else np.concatenate(parts)

    names = {each.name for each in fields(FrameFacts)} - {"columns", "damage", "runs"}
    known = {name: column(name) for name in names}
    return FrameFacts(**known, runs=np.repeat(np.arange(len(lengths)), lengths))


@dataclass(frozen=True, slots=True)
class StutterLimits:
    """What counts as stuttering (above 1) and as slow (above 0), with CapFrameX's defaults."""

    factor: float = 2.5  # A frame stutters if it takes longer than this many times the usual
    low_rate: float = 25.0  # A frame is slow if its rate is below this, in frames per second

    def __post_init__(self) -> None:
        if not 1 < self.factor <= _MOST_TIMES:
            raise ValueError(f"a stutter factor is above 1, up to {_MOST_TIMES:g}: {self.factor}")
        if not 0 < self.low_rate <= _MOST_RATE:
            raise ValueError(f"a low frame rate is up to {_MOST_RATE:,g} fps: {self.low_rate}")


USUAL_STUTTER: Final = StutterLimits()


class TimeSeries:
    """Frame times in the order of the frames; sorted and summed once, for all statistics."""

    def __init__(
        self,
        times_ms: NDArray[np.float64],
        refresh_ms: float | None = None,
        facts: FrameFacts = NO_FACTS,
        sampled_ms: float | None = None,
        stutter: StutterLimits = USUAL_STUTTER,
    ) -> None:
        """Prepare frame times; those of 0 or less are left out, as they have no frame rate."""
        is_usable = times_ms > 0
        if not is_usable.all():
            times_ms, facts = times_ms[is_usable], facts.kept(is_usable)
        self.times_ms = times_ms  # Frame times in milliseconds, above 0
        # Refresh interval of the display in milliseconds, or the target interval of the frames;
        # None if unknown
        self.refresh_ms = refresh_ms
        self.facts = facts  # Further facts about these frames
        # The length of the log, if these are samples and not every frame
        self.sampled_ms = sampled_ms
        self.stutter = stutter
        self._found: dict[object, Any] = {}

    def once(self, compute: Callable[[TimeSeries], T]) -> T:
        """Return what a function computes from this, only once for all statistics that need it."""
        if compute not in self._found:
            self._found[compute] = compute(self)
        found: T = self._found[compute]
        return found

    def __len__(self) -> int:
        return len(self.times_ms)

    @cached_property
    def ordered_ms(self) -> NDArray[np.float64]:
        """The frame times, the shortest first."""
        return np.sort(self.times_ms)

    @cached_property
    def total_ms(self) -> float:
        return float(self.times_ms.sum())

    @property
    def mean_ms(self) -> float:
        return self.total_ms / len(self)

    @property
    def mean_rate(self) -> float:
        """Frames per second: the number of frames over the sum of their times."""
        return _MS_PER_SECOND * len(self) / self.total_ms

    def slowest_ms(self, count: int) -> NDArray[np.float64]:
        return self.ordered_ms[len(self) - min(count, len(self)) :]


def rate_of(time_ms: float) -> float:
    """Return the frames per second of a frame time."""
    return _MS_PER_SECOND / time_ms


def quantile_7(ordered: NDArray[np.float64], share: float) -> float:
    """Return a quantile by linear interpolation between the two nearest of n values.

    The place from 0 is ``share (n - 1)``: Hyndman & Fan 1996, type 7, the default of numpy, R and
    Excel; used by PresentMon.
    """
    return _between(ordered, share * (len(ordered) - 1))


def quantile_8(
    ordered: NDArray[np.float64], share: float, of: Callable[[float], float] = float
) -> float:
    """Return a quantile by linear interpolation, about unbiased for the median.

    The place from 1 is ``(n + 1/3) share + 1/3``: Hyndman & Fan 1996, type 8, which is
    ``Statistics.Quantile`` of MathNet; used by CapFrameX. What is interpolated is ``of`` each
    value, such as its reciprocal; values are in ascending order of that.
    """
    return _between(ordered, (len(ordered) + 1 / 3) * share + 1 / 3 - 1, of)


def _between(
    ordered: NDArray[np.float64], place: float, of: Callable[[float], float] = float
) -> float:
    place = max(place, 0.0)
    lower = int(place)
    low, high = of(float(ordered[lower])), of(float(ordered[min(lower + 1, len(ordered) - 1)]))
    return low + (place - lower) * (high - low)
