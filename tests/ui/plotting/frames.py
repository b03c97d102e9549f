"""Timelines full of frames, for plots to draw."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

from inspector.events import Timeline
from inspector.events.frame_history import FrameHistory
from inspector.vocabulary import Phase, Share

MS = 1_000_000
#: 60 frames per second.
USUAL_NS = 16_666_667


def add_frame(
    history: FrameHistory,
    interval_ns: int = USUAL_NS,
    busy_ns: int = 4 * MS,
    cut_ns: int = 0,
    *,
    inspector_ns: int = 0,
) -> None:
    """Add a frame that began ``interval_ns`` behind the one before."""
    at_ns = history.at_ns[-1] + interval_ns if len(history) else 0
    phases = [0] * len(Phase)
    phases[Phase.UPDATE] = busy_ns // 2
    phases[Phase.DRAW] = busy_ns // 4
    shares = [inspector_ns if share is Share.INSPECTOR else 0 for share in Share]
    history.append(at_ns, interval_ns, interval_ns - cut_ns, busy_ns, cut_ns, phases, shares)


def timeline_of(intervals_ns: NDArray[np.int64] | list[int]) -> Timeline:
    """Return a timeline with a frame for each interval."""
    timeline = Timeline([""])
    intervals = np.asarray(intervals_ns, dtype=np.int64)
    history = timeline.frames
    if not len(intervals):
        return timeline
    at_ns = np.cumsum(intervals)
    busy_ns = np.minimum(intervals // 2, 4 * MS)
    none = np.zeros(len(intervals), dtype=np.int64)
    shares = {Phase.UPDATE: busy_ns // 2, Phase.DRAW: busy_ns // 4}
    phases = [shares.get(phase, none) for phase in Phase]
    columns = [at_ns, intervals, intervals, busy_ns, none, *phases]
    # Number by number, a million frames take over a second.
    history.extend([array("q", column.tobytes()) for column in columns])
    timeline.set_present(int(at_ns[-1]))
    return timeline


def usual_timeline(count: int, seed: int = 1) -> Timeline:
    """Return a timeline of frames near 60 per second."""
    random = np.random.default_rng(seed)
    return timeline_of(USUAL_NS + random.integers(-200_000, 200_000, count))
