"""Runs that are compared: captures, recordings or sessions, one or several on each side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, product, starmap
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.analysis.statistics.compared_calls import CallChange, SessionCalls, call_changes
from inspector.analysis.statistics.compared_columns import ColumnChange, RunColumn, column_changes
from inspector.analysis.statistics.comparison import Comparison, comparison
from inspector.analysis.statistics.distribution import Distribution
from inspector.analysis.statistics.time_series import StutterLimits, TimeSeries
from inspector.errors import CaptureError
from inspector.timebase import NS_PER_MS

#: Frames with fewer distinct times are too even to recognise frames that two runs share.
_LEAST_VARIETY: Final = 16
_NO_CALLS: Final = SessionCalls({}, 0.0)
#: A run further away from the median of its side is an outlier, as in CapFrameX.
OUTLIER_SHARE: Final = 0.03
#: Among fewer runs there is no outlier, because the median lies between the two.
_LEAST_FOR_OUTLIERS: Final = 3


@dataclass(frozen=True, slots=True, eq=False)
class ComparedRun:
    name: str
    times_ns: NDArray[np.int64]  # Its frame times, in order and above 0
    calls: SessionCalls = _NO_CALLS  # Its calls, none of a capture
    notes: tuple[str, ...] = ()  # Sentences on what was read
    streams: tuple[str, ...] = ()  # Names of the streams of a capture
    stream: str = ""  # Name of the stream that was read
    missing: str = ""  # What of it could not be read, as a sentence; empty for none
    parts: tuple[ComparedRun, ...] = ()  # The runs that it is composed of; empty for a single run
    left_out: tuple[ComparedRun, ...] = ()  # Outliers that were left out of the parts
    # Reads the columns of a capture beside the frame times.
    columns: Callable[[], Sequence[RunColumn]] = tuple
    samples: str = ""  # Why the frame times are samples and not every frame; empty if they are all
    # How long each sample holds; None for frames, which last for their frame times.
    sampled_ns: NDArray[np.int64] | None = None
    distribution: Distribution = field(init=False)

    def __post_init__(self) -> None:
        if not len(self.times_ns):
            raise CaptureError(f"{self.name} has no frames. Choose another one to compare.")
        object.__setattr__(self, "distribution", Distribution(self.times_ns))

    @classmethod
    def pooled(
        cls, name: str, runs: Sequence[ComparedRun], *, without_outliers: bool = False
    ) -> ComparedRun:
        """Return runs of the same version as one side of a comparison; refuse repeated runs."""
        for overlap in filter(None, starmap(_overlap_text, combinations(runs, 2))):
            raise CaptureError(f"{overlap} Each run of a version counts once: leave one out.")
        away = _away_from_median(runs) if without_outliers else [0.0] * len(runs)
        kept = tuple(run for run, share in zip(runs, away, strict=True) if not _is_outlier(share))
        return cls(
            *(name, np.concatenate([each.times_ns for each in kept])),
            missing=" ".join(f"{each.name}: {each.missing}" for each in kept if each.missing),
            parts=kept,
            samples=(samples := next((each.samples for each in kept if each.samples), "")),
            sampled_ns=np.concatenate([each.lasts_ns for each in kept]) if samples else None,
            left_out=tuple(each for each in runs if each not in kept),
        )

    @property
    def runs(self) -> tuple[ComparedRun, ...]:
        return self.parts or (self,)

    @property
    def outliers(self) -> dict[str, float]:
        """The runs whose average is more than 3 % off the median of all, as a share of it, by name.

        CapFrameX's rule, with its default; fewer than three runs have no outliers.
        """
        away = zip(self.runs, _away_from_median(self.runs), strict=True)
        return {run.name: share for run, share in away if _is_outlier(share)}

    @property
    def lasts_ns(self) -> NDArray[np.int64]:
        """How long each frame lasts, or each sample holds."""
        return self.times_ns if self.sampled_ns is None else self.sampled_ns

    @property
    def ends_ns(self) -> NDArray[np.int64]:
        """When each frame or sample ends, from the beginning of the run."""
        return np.cumsum(self.lasts_ns)

    @property
    def series(self) -> TimeSeries:
        sampled_ms = float(self.lasts_ns.sum()) / NS_PER_MS if self.samples else None
        return TimeSeries(self.times_ns / NS_PER_MS, sampled_ms=sampled_ms)


def _away_from_median(runs: Sequence[ComparedRun]) -> list[float]:
    """Return how far the average rates of runs are from their median, as shares of it."""
    rates = np.array([each.series.mean_rate for each in runs])
    if len(runs) < _LEAST_FOR_OUTLIERS or any(each.samples for each in runs):
        return [0.0] * len(runs)
    found: list[float] = (rates / np.median(rates) - 1).tolist()
    return found


def _is_outlier(share: float) -> bool:
    return abs(share) > OUTLIER_SHARE


class RunDifference(Struct, frozen=True, eq=False):
    before: ComparedRun  # The first
    after: ComparedRun  # The other
    found: Comparison  # The differences of their frames
    # The changes of clocks and timers; empty unless both are sessions.
    calls: tuple[CallChange, ...]
    columns: tuple[ColumnChange, ...] = ()  # The changes of columns, if they were asked for
    # Sentences on frames that two runs share, although a comparison needs separate ones; empty if
    # there are none.
    overlap: str = ""
    damage: str = ""  # Damage in the columns that are compared, as sentences

    @property
    def parts(self) -> tuple[ColumnChange | CallChange, ...]:
        """The changes of columns, clocks and timers."""
        return *self.columns, *self.calls

    @property
    def is_of_versions(self) -> bool:
        """Whether each side has several runs, so that the result holds beyond these runs."""
        return min(len(self.before.runs), len(self.after.runs)) > 1

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to bear in mind about the result, as sentences."""
        samples = self.before.samples or self.after.samples
        about = f"{samples} Only what samples allow is compared." if samples else ""
        said = (self._about, about, *self._outlier_remarks(), self.overlap, self.damage)
        return tuple(filter(None, said))

    @property
    def _about(self) -> str:
        before, after = (len(each.runs) for each in (self.before, self.after))
        if self.is_of_versions:
            return (
                f"This is about the versions, by {before} and {after} runs: the intervals allow "
                "for differences from run to run."
            )
        return (
            "This is about these runs, not about versions of a program: a single run does not "
            "show how much runs of the same version differ."
        )

    def _outlier_remarks(self) -> Iterator[str]:
        for side in (self.before, self.after):
            names = ", ".join(each.name for each in side.left_out)
            if names:
                yield (
                    f"Left out as outliers: {names}. What is left differs less than runs do, so "
                    "the intervals may be too narrow."
                )
            for name, share in side.outliers.items():
                yield (
                    f"{name} is an outlier: its average is {share:+.1%} from the median of "
                    f"“{side.name}”, and counts all the same."
                )

    @property
    def sentence(self) -> str:
        said = self.found.sentence(self.before.name, self.after.name)
        return " ".join((said, *self.remarks))


def differences(
    runs: Sequence[ComparedRun],
    on_progress: Callable[[float], None] = lambda _done: None,
    asked: Collection[str] = (),
    *,
    with_columns: bool = False,
    stutter: StutterLimits | None = None,
) -> list[RunDifference]:
    """Return how each run differs from the first.

    ``on_progress`` is called with the share that is done; if it raises, the comparison ends.
    Verdicts are about the metrics asked for, by default all that are compared. The columns of
    captures may be compared, too, and with limits the share of stuttering and of slow frames.
    """
    before, *others = runs
    read = {each: each.columns() for side in runs for each in side.runs} if with_columns else {}
    pairs, found = len(others), []
    for number, after in enumerate(others):

        def report_progress(
            from_share: float, share: float, done: float, number: int = number
        ) -> None:
            on_progress((number + from_share + share * done) / pairs)

        sides = (before.runs, after.runs)
        one, other = ([each.series for each in side] for side in sides)
        of_frames = 0.4 if with_columns else 0.8
        frames = comparison(
            *(one, other, asked),
            on_progress=partial(report_progress, 0.0, of_frames),
            pairs=pairs,
            stutter=stutter,
        )
        columns: list[ColumnChange] = []
        if with_columns:
            former_columns, now_columns = ([read[each] for each in side] for side in sides)
            report = partial(report_progress, 0.4, 0.4)
            columns = column_changes(former_columns, now_columns, report, pairs)
        former, now = ([each.calls for each in side] for side in sides)
        changes = call_changes(former, now, partial(report_progress, 0.8, 0.2), pairs)
        overlap = " ".join(filter(None, starmap(_overlap_text, product(*sides))))
        damage = " ".join(
            f"{run.name}: {column.damage}"
            for run in (*before.runs, *after.runs)
            for column in read.get(run, ())
            if column.damage
        )
        parts = (tuple(changes), tuple(columns), overlap, damage)
        found.append(RunDifference(before, after, frames, *parts))
    return found


def _overlap_text(before: ComparedRun, after: ComparedRun) -> str:
    part, whole = sorted((before, after), key=lambda each: len(each.times_ns))
    if not _is_part(part.times_ns, whole.times_ns):
        return ""
    if len(part.times_ns) == len(whole.times_ns):
        return f"“{before.name}” and “{after.name}” have the same frame times."
    count = f"{len(part.times_ns):,}"
    return (
        f"All {count} frames of “{part.name}” are in “{whole.name}” too, so the two are not "
        "independent, and the verdict says little."
    )


def _is_part(part: NDArray[np.int64], whole: NDArray[np.int64]) -> bool:
    if len(np.unique(part)) < _LEAST_VARIETY:
        return False
    # A search in bytes takes linear time even if values repeat; a match may begin within a number.
    wanted, among, place = part.tobytes(), whole.tobytes(), -1
    while (place := among.find(wanted, place + 1)) >= 0:
        if place % part.itemsize == 0:
            return True
    return False
