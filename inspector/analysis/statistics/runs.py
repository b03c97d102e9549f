"""Runs that are compared: captures, recordings or sessions, each with the first of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.statistics.compared_calls import CallChange, SessionCalls, call_changes
from inspector.analysis.statistics.comparison import Comparison, comparison
from inspector.analysis.statistics.distribution import Distribution
from inspector.analysis.statistics.frame_series import FrameSeries
from inspector.errors import CaptureError
from inspector.timebase import NS_PER_MS

#: Frames of fewer durations are too even to tell by them what was measured twice.
_LEAST_VARIETY: Final = 16
_NO_CALLS: Final = SessionCalls({}, 0.0)
#: What one run of each says, and what it does not.
_TWO_RUNS: Final = (
    "This is about these two runs, not about versions of a program: runs of the same version "
    "differ too."
)


@dataclass(frozen=True, slots=True, eq=False)
class ComparedRun:
    """One of the captures, recordings or sessions that are compared.

    Attributes:
        name: What it is called.
        times_ns: Its frame times, in order and above 0.
        calls: Its calls, none of a capture.
        notes: Sentences on what was read.
        streams: Names of the streams of a capture.
        stream: Name of the one that was read.
        missing: What of it could not be read, as a sentence; empty for nothing.
    """

    name: str
    times_ns: NDArray[np.int64]
    calls: SessionCalls = _NO_CALLS
    notes: tuple[str, ...] = ()
    streams: tuple[str, ...] = ()
    stream: str = ""
    missing: str = ""
    distribution: Distribution = field(init=False)

    def __post_init__(self) -> None:
        """Sort the frame times.

        Raises:
            CaptureError: There are none.
        """
        if not len(self.times_ns):
            raise CaptureError(f"{self.name} has no frames. Choose another one to compare.")
        object.__setattr__(self, "distribution", Distribution(self.times_ns))

    @property
    def series(self) -> FrameSeries:
        return FrameSeries(self.times_ns / NS_PER_MS)


@dataclass(frozen=True, slots=True, eq=False)
class RunDifference:
    """How a run differs from the first.

    Attributes:
        before: The first.
        after: The other.
        found: The differences of their frames.
        calls: Those of their clocks and timers; empty unless both are sessions of ours.
        overlap: A sentence on frames that both have, which a comparison takes to be apart;
            empty if there are none.
    """

    before: ComparedRun
    after: ComparedRun
    found: Comparison
    calls: tuple[CallChange, ...]
    overlap: str = ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to bear in mind, as sentences."""
        return tuple(filter(None, (_TWO_RUNS, self.overlap)))

    @property
    def sentence(self) -> str:
        said = self.found.sentence(self.before.name, self.after.name)
        return " ".join((said, *self.remarks))


def differences(
    runs: Sequence[ComparedRun],
    on_progress: Callable[[float], None] = lambda _done: None,
    asked: Collection[str] = (),
) -> list[RunDifference]:
    """Return how each run differs from the first.

    Args:
        runs: Two runs or more.
        on_progress: Called with the share that is done; what it raises ends the comparison.
        asked: Ids of the metrics that the verdicts are to be about; by default all compared.
    """
    before, *others = runs
    found = []
    for number, after in enumerate(others):

        def tell(from_share: float, share: float, done: float, number: int = number) -> None:
            on_progress((number + from_share + share * done) / len(others))

        series = (before.series, after.series)
        compared = comparison(*series, asked, on_progress=partial(tell, 0.0, 0.8))
        calls = call_changes(before.calls, after.calls, partial(tell, 0.8, 0.2))
        overlap = _overlap_text(before, after)
        found.append(RunDifference(before, after, compared, tuple(calls), overlap))
    return found


def _overlap_text(before: ComparedRun, after: ComparedRun) -> str:
    """Return a sentence if the frames of a run are among those of the other."""
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
    """Whether uneven frame times occur in others, one after the other."""
    if len(np.unique(part)) < _LEAST_VARIETY:
        return False
    # Of bytes, as that takes linear time whatever repeats; a find may begin within a number.
    wanted, among, place = part.tobytes(), whole.tobytes(), -1
    while (place := among.find(wanted, place + 1)) >= 0:
        if place % part.itemsize == 0:
            return True
    return False
