"""Frames, provenance and a picture that the tests of formats and pictures share."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from fractions import Fraction

import numpy as np
import pytest

from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.vocabulary import Phase

MakeFrames = Callable[[Sequence[int]], FrameTimes]


@pytest.fixture(scope="session")
def make_frames() -> MakeFrames:
    """Frames with given intervals; half of each is busy, two thirds of that updating."""

    def make(intervals_ns: Sequence[int]) -> FrameTimes:
        interval_ns = np.array(intervals_ns, dtype=np.int64)
        busy_ns = interval_ns // 2
        phases = np.zeros((len(Phase), len(interval_ns)), dtype=np.int64)
        phases[Phase.UPDATE] = busy_ns * 2 // 3
        phases[Phase.DRAW] = busy_ns - phases[Phase.UPDATE]
        index, at_ns = np.arange(len(interval_ns), dtype=np.int64), np.cumsum(interval_ns)
        return FrameTimes.of_columns(index, at_ns, interval_ns, interval_ns, busy_ns, phases)

    return make


@pytest.fixture(scope="session")
def provenance() -> Provenance:
    return Provenance(
        scene="arcade.py",
        created=datetime(2026, 11, 21, 2, 10, 5, tzinfo=UTC),
        version="0.1.0",
        source="virtual time",
        frame_rate=Fraction(60),
        note="for a test",
    )


@pytest.fixture(scope="module")
def few_resamples() -> Iterator[None]:
    """Compare in a tenth of the time, where it does not matter how wide intervals are."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("inspector.analysis.statistics.comparison._RESAMPLES", 40)
        yield
