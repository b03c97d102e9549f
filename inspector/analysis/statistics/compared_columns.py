"""The columns of captures beside their frame times compared, such as load, power and latencies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.analysis.statistics.column_summary import DURATIONS, WATTS, classes_of, mean_of
from inspector.analysis.statistics.comparison import Change, Samples, sample_changes
from inspector.analysis.statistics.time_series import quantile_7

_MS_PER_SECOND: Final = 1000.0
#: Why the frames of a class have no interval.
_NOT_TESTED: Final = "not tested"


class RunColumn(Struct, frozen=True, eq=False):
    """A column of a run."""

    name: str
    unit: str
    # Value and frame time in milliseconds of each frame that has a value, shape (n, 2)
    samples: Samples
    # Which of the samples are in each class of frame times, by name of the class
    classes: tuple[tuple[str, NDArray[np.bool_]], ...]
    damage: str = ""  # What of it is damaged, as a sentence; empty for none

    @classmethod
    def of(  # noqa: PLR0913 - as many things make a column
        cls,
        name: str,
        unit: str,
        values: Samples,
        lasts_ms: Samples,
        damage: str = "",
        *,
        are_frames: bool = True,
    ) -> RunColumn:
        """Return a column without the frames that have no value; samples have no classes."""
        there = np.isfinite(values)
        classes = classes_of(lasts_ms) if are_frames else ()
        return cls(
            *(name, unit, np.column_stack((values, lasts_ms))[there]),
            tuple((title, within[there]) for title, within in classes),
            damage,
        )


class ColumnChange(Struct, frozen=True):
    subject: str
    what: str
    unit: str
    change: Change


def column_changes(
    before: Sequence[Sequence[RunColumn]],
    after: Sequence[Sequence[RunColumn]],
    on_progress: Callable[[float], None],
    pairs: int,
) -> list[ColumnChange]:
    """Return the changes of the columns that all runs have.

    Args:
        on_progress: Called with the share that is done; if it raises, the comparison ends.
        pairs: How many comparisons are interpreted together.
    """
    sides = [[{each.name: each for each in run} for run in side] for side in (before, after)]
    runs = [run for side in sides for run in side]
    shared = [
        each
        for each in runs[0].values()
        if all(each.name in run and len(run[each.name].samples) for run in runs)
    ]
    numbers = {
        each.name: _numbers(each.unit, are_frames=all(run[each.name].classes for run in runs))
        for each in shared
    }
    tests = pairs * sum(map(len, numbers.values()))
    found = []
    for done, column in enumerate(shared):
        on_progress(done / len(shared))
        name, unit = column.name, column.unit
        titles, units, better, statistics = zip(*numbers[name], strict=True)
        former, now = ([run[name] for run in side] for side in sides)
        changes = sample_changes(
            [each.samples for each in former],
            [each.samples for each in now],
            partial(_values, statistics),
            is_more_better=better,
            tests=tests,
        )
        parts = zip(titles, units, changes, strict=True)
        found += [ColumnChange(name, *each) for each in parts]
        found += [
            ColumnChange(name, f"{titles[0]}, frames {title}", unit, change)
            for title, change in _class_changes(former, now, statistics[0])
        ]
    return found


def _numbers(
    unit: str, *, are_frames: bool
) -> list[tuple[str, str, bool | None, Callable[[Samples], float]]]:
    """Return what is compared: title, unit, whether more is better, and the statistic."""
    if unit in DURATIONS:
        return [("Mean", unit, None, _mean), ("P95", unit, None, _p95)]
    numbers: list[tuple[str, str, bool | None, Callable[[Samples], float]]] = [
        ("Mean by time", unit, None, _mean_by_time),
        ("P95", unit, None, _p95),
    ]
    if unit in WATTS and are_frames:
        numbers.append(("Frames per joule", "", True, partial(_per_joule, WATTS[unit])))
    return numbers


def _values(
    statistics: Sequence[Callable[[Samples], float]], samples: Samples
) -> list[float | None]:
    return [each(samples) for each in statistics]


def _mean(samples: Samples) -> float:
    return float(samples[:, 0].mean())


def _mean_by_time(samples: Samples) -> float:
    return mean_of(samples[:, 0], samples[:, 1])


def _p95(samples: Samples) -> float:
    return quantile_7(np.sort(samples[:, 0]), 0.95)


def _per_joule(watts: float, samples: Samples) -> float:
    energy = watts * float(samples[:, 0] @ samples[:, 1]) / _MS_PER_SECOND
    return len(samples) / energy if energy > 0 else 0.0


def _class_changes(
    former: Sequence[RunColumn], now: Sequence[RunColumn], statistic: Callable[[Samples], float]
) -> list[tuple[str, Change]]:
    """Return how the frames of each class have changed, without intervals: there are few."""
    found = []
    titles = [title for title, _within in former[0].classes]
    if not all(run.classes for run in (*former, *now)):
        return []
    for place, title in enumerate(titles):
        sides = [
            np.concatenate([run.samples[run.classes[place][1]] for run in side])
            for side in (former, now)
        ]
        if all(map(len, sides)):
            one, other = map(statistic, sides)
            share = other / one - 1 if one > 0 and other >= 0 else None
            found.append((title, Change(one, other, share, None, None, _NOT_TESTED, None)))
    return found
