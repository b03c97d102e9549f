"""Summaries of columns of a capture beside its frame times: clocks, load, power, latencies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.statistics.frame_statistics import nearest_rank
from inspector.analysis.statistics.time_series import quantile_7
from inspector.display_text import one_line
from inspector.timebase import NS_PER_SECOND

#: Units of durations of frames, each of which counts once in a mean.
DURATIONS: Final = frozenset(("s", "ms", "µs", "ns"))
#: Units of power in watts.
WATTS: Final = {"W": 1.0, "mW": 1e-3}
#: The classes of frame times from the shortest, each with the percentile at which it ends.
_CLASSES: Final = {"up to P50": 50, "P50 to P95": 95, "P95 to P99": 99, "above P99": 100}


@dataclass(frozen=True, slots=True)
class ClassSummary:
    """The values of a column in frames of a class, with the fields of :class:`ColumnSummary`."""

    name: str  # Which frames, by the percentiles (nearest rank) of all frame times
    count: int
    mean: float
    p5: float
    median: float
    p95: float


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    name: str  # Its name, as in the file
    unit: str  # Its unit; empty if unknown
    count: int  # How many frames have a value
    mean: float  # Their mean
    is_weighted: bool  # Whether the mean is weighted by how long frames last
    least: float  # The lowest value
    p5: float  # The 5th percentile: type 7 of Hyndman & Fan, as median and p95 are
    median: float  # The middle value
    p95: float  # The 95th percentile
    most: float  # The highest value
    # For a power: the number of frames with a value, over the energy in their time. That is their
    # average rate over the mean in watts. None for other columns.
    frames_per_joule: float | None = None
    classes: tuple[ClassSummary, ...] = ()  # By class of frame time; empty of samples

    def mean_text(self) -> str:
        """Return the mean, and for a power the frames per joule."""
        by = ", by time" if self.is_weighted else ""
        per_joule = self.frames_per_joule
        frames = f", {per_joule:,.3g} frames per joule" if per_joule is not None else ""
        return f"mean {self.mean:,.4g}{self._unit}{by}{frames}"

    def lines(self) -> Iterator[str]:
        """Yield the summary as lines of text, as a whole and by class of frame time."""
        yield f"{one_line(self.name)}: {_numbers_text(self, self._unit)}"
        for each in self.classes:
            yield f"    frames {each.name}: {_numbers_text(each, self._unit)}"

    @property
    def _unit(self) -> str:
        return f" {self.unit}" if self.unit else ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def _numbers_text(of: ColumnSummary | ClassSummary, unit: str) -> str:
    low, middle, high = (f"{each:,.4g}" for each in (of.p5, of.median, of.p95))
    return f"mean {of.mean:,.4g}{unit}, P5 {low}, median {middle}, P95 {high}"


def lasting_ns(
    at_ns: NDArray[np.int64], interval_ns: NDArray[np.int64], *, are_samples: bool
) -> NDArray[np.int64]:
    """Return how long values hold: those of frames as long as the frame, samples since the last."""
    if not are_samples:
        return interval_ns
    lasts_ns: NDArray[np.int64] = np.diff(at_ns, prepend=at_ns[:1])
    # It is unknown how long the first sample holds; it is taken to be as long as the second.
    lasts_ns[:1] = lasts_ns[1] if len(lasts_ns) > 1 else 0
    return lasts_ns


def classes_of(times: NDArray[Any]) -> list[tuple[str, NDArray[np.bool_]]]:
    """Return which frames are in each class of frame times, from the shortest; each is in one."""
    ordered, found, below = np.sort(times), [], np.zeros(len(times), dtype=np.bool_)
    for name, percent in _CLASSES.items():
        within = times <= ordered[nearest_rank(len(times), percent)]
        found.append((name, within & ~below))
        below = within
    return found


def mean_of(values: NDArray[np.float64], weights: NDArray[np.float64] | None) -> float:
    """Return a mean, weighted unless no weight is above 0."""
    is_weighted = weights is not None and float(weights.sum()) > 0
    return float(np.average(values, weights=weights if is_weighted else None))


def summary_of(
    name: str,
    unit: str,
    values: NDArray[np.float64],
    lasts_ns: NDArray[np.int64],
    *,
    are_frames: bool = True,
) -> ColumnSummary | None:
    """Return the summary of a column; ``None`` if it has no numbers.

    In the mean, durations count once each, and all other values as long as they hold. ``values``
    are NaN where there is no value. Unless ``are_frames``, they are samples, which have no classes.
    """
    there = np.isfinite(values)
    known = values[there]
    if not len(known):
        return None
    weights = None if unit in DURATIONS else lasts_ns[there].astype(np.float64)
    is_weighted = weights is not None and float(weights.sum()) > 0
    p5, median, p95 = _quantiles(known)
    mean = mean_of(known, weights)
    classes = []
    for class_name, is_within in classes_of(lasts_ns) if are_frames else ():
        within = is_within[there]
        some = known[within]
        if len(some):
            mean_within = mean_of(some, None if weights is None else weights[within])
            classes.append(ClassSummary(class_name, len(some), mean_within, *_quantiles(some)))
    per_joule = None
    watts = mean * WATTS.get(unit, 0.0)
    if are_frames and is_weighted and weights is not None and watts > 0:
        per_joule = len(known) / (watts * float(weights.sum()) / NS_PER_SECOND)
    return ColumnSummary(
        name=name,
        unit=unit,
        count=len(known),
        mean=mean,
        is_weighted=is_weighted,
        least=float(known.min()),
        p5=p5,
        median=median,
        p95=p95,
        most=float(known.max()),
        frames_per_joule=per_joule,
        classes=tuple(classes),
    )


def _quantiles(values: NDArray[np.float64]) -> Sequence[float]:
    ordered = np.sort(values)
    return [quantile_7(ordered, share) for share in (0.05, 0.5, 0.95)]
