"""Runs that are compared: captures, recordings or sessions, each with the first of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.statistics.calls import CallChange, SessionCalls, call_changes
from inspector.analysis.statistics.comparison import Comparison, comparison
from inspector.analysis.statistics.distribution import Distribution
from inspector.analysis.statistics.frame_series import FrameSeries
from inspector.errors import CaptureError
from inspector.timebase import NS_PER_MS

_NO_CALLS: Final = SessionCalls({}, 0.0)


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
    """

    name: str
    times_ns: NDArray[np.int64]
    calls: SessionCalls = _NO_CALLS
    notes: tuple[str, ...] = ()
    streams: tuple[str, ...] = ()
    stream: str = ""
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
        """The frame times for statistics."""
        return FrameSeries(self.times_ns / NS_PER_MS)


@dataclass(frozen=True, slots=True, eq=False)
class RunDifference:
    """How a run differs from the first.

    Attributes:
        before: The first.
        after: The other.
        found: The differences of their frames.
        calls: Those of their clocks and timers; empty unless both are sessions of ours.
    """

    before: ComparedRun
    after: ComparedRun
    found: Comparison
    calls: tuple[CallChange, ...]

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return self.found.sentence(self.before.name, self.after.name)


def differences(
    runs: Sequence[ComparedRun], on_progress: Callable[[float], None] = lambda _done: None
) -> list[RunDifference]:
    """Return how each run differs from the first.

    Args:
        runs: Two runs or more.
        on_progress: Called with the share that is done; what it raises ends the comparison.
    """
    before, *others = runs
    found = []
    for number, after in enumerate(others):

        def tell(from_share: float, share: float, done: float, number: int = number) -> None:
            on_progress((number + from_share + share * done) / len(others))

        compared = comparison(before.series, after.series, on_progress=partial(tell, 0.0, 0.8))
        calls = call_changes(before.calls, after.calls, partial(tell, 0.8, 0.2))
        found.append(RunDifference(before, after, compared, tuple(calls)))
    return found
