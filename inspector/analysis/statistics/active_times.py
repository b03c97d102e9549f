"""Active times and input lag, as CapFrameX computes them from the columns beside frame times."""

from __future__ import annotations

from enum import Enum
from math import inf, isfinite
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.statistics.time_series import TimeSeries, quantile_8, rate_of

if TYPE_CHECKING:
    Numbers = NDArray[np.float64]


class Part(Enum):
    """A processor, by the names of its active time in captures."""

    GPU = ("GpuActive", "msGPUActive", "MsGPUBusy", "GPUBusy")
    CPU = ("CpuActive", "MsCPUBusy", "CPUBusy")


class Bound(Enum):
    """A bound of the time from an input to the display."""

    LOWER = "lower bound"
    EXPECTED = "expected"
    UPPER = "upper bound"


_COLUMNS: Final = (
    *(Part.GPU.value, Part.CPU.value),
    *(("MsUntilDisplayed",), ("MsInPresentAPI",), ("Dropped",)),
)
ACTIVE_NEEDS: Final = {
    Part.GPU: "the time that the GPU was active, such as MsGPUBusy or GpuActive",
    Part.CPU: "the time that the CPU was active, such as MsCPUBusy or CpuActive",
}
LAG_COLUMNS: Final = ("MsUntilDisplayed", "MsInPresentAPI")
LAG_NEEDS: Final = "MsUntilDisplayed and MsInPresentAPI"


def _columns(series: TimeSeries) -> list[Numbers | None]:
    read = series.facts.columns
    return [None] * len(_COLUMNS) if read is None else read(_COLUMNS)


def damage_text(series: TimeSeries, names: tuple[str, ...]) -> str:
    """Return the damage in the columns that are read here, as sentences; empty for none."""
    said = series.facts.damage
    is_read = names == LAG_COLUMNS or names in _COLUMNS
    return said(names) if said is not None and is_read else ""


def _sorted(values: Numbers | None) -> Numbers | None:
    known = None if values is None else np.sort(values[np.isfinite(values) & (values >= 0)])
    return known if known is not None and len(known) and known[-1] > 0 else None


def _active(series: TimeSeries) -> dict[Part, Numbers | None]:
    gpu, cpu, *_ = series.once(_columns)
    return {Part.GPU: _sorted(gpu), Part.CPU: _sorted(cpu)}


def active_times(part: Part, series: TimeSeries) -> Numbers | None:
    """Return the active times of a part, sorted, read once for all statistics."""
    return series.once(_active)[part]


def mean_active_time(part: Part, series: TimeSeries) -> float | None:
    times = active_times(part, series)
    return None if times is None else float(times.mean())


def active_rate(part: Part, series: TimeSeries) -> float | None:
    """Return ``1000 n / sum g``: the rate of frames if nothing else took time."""
    times = active_times(part, series)
    return None if times is None else 1000 * len(times) / float(times.sum())


def active_rate_quantile(part: Part, share: float, series: TimeSeries) -> float | None:
    """Return ``Q8(1000 / g, share)``."""
    times = active_times(part, series)
    if times is None:
        return None
    found = quantile_8(times[::-1], share, of=lambda each: rate_of(each) if each > 0 else inf)
    return found if isfinite(found) else None


def active_low(part: Part, share: float, series: TimeSeries) -> float | None:
    """Return ``1000 / mean(g_i : g_i >= Q8(g, 1 - share))``."""
    times = active_times(part, series)
    if times is None:
        return None
    first = int(np.searchsorted(times, quantile_8(times, 1 - share), side="left"))
    return rate_of(float(times[min(first, len(times) - 1) :].mean()))


def input_lag(bound: Bound, series: TimeSeries) -> float | None:
    """Return the mean time from an input to the display, in milliseconds, without any offset.

    An input comes between the end of the present before that of the last displayed frame, and the
    present of this one. The lower bound is the time until this frame is displayed. The upper bound
    adds its frame time, those of frames dropped before it, and the time from the end of the present
    before the last displayed frame to its present: ``f_p - a_(p - 1) + sum f_dropped + f_i + u_i``.
    """
    found = series.once(_lags)
    if found is None:
        return None
    lower, upper = found
    return {
        Bound.LOWER: float(lower.mean()),
        Bound.UPPER: float(upper.mean()),
        Bound.EXPECTED: float((lower + upper).mean()) / 2,
    }[bound]


def _lags(series: TimeSeries) -> tuple[Numbers, Numbers] | None:
    _gpu, _cpu, until, present, flags = series.once(_columns)
    if until is None or present is None:
        return None
    # Without flags, frames that were never displayed have no time until their display.
    displayed = np.flatnonzero(np.isfinite(until) if flags is None else ~(flags > 0))
    before, this = displayed[:-1], displayed[1:]
    # What came before the first frame of a run is unknown.
    runs = series.facts.runs
    follows = before > 0 if runs is None else (before > 0) & (runs[before - 1] == runs[this])
    before, this = before[follows], this[follows]
    ends = np.cumsum(series.times_ms)
    lower = until[this]
    upper = series.times_ms[before] - present[before - 1] + ends[this] - ends[before] + lower
    known = np.isfinite(upper)
    return (lower[known], upper[known]) if known.any() else None
