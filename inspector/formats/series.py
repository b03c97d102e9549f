"""Frame times with all that is known of them, for statistics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.analysis.statistics.frame_series import NO_FACTS, FrameFacts, FrameSeries
from inspector.analysis.statistics.long_frames import long_frame_causes
from inspector.formats.frame_times import FrameColumns, FrameTimes
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import Measure, Phase, Share


def series_of(
    frames: FrameTimes, measure: Measure = "interval", refresh_ms: float | None = None
) -> FrameSeries:
    """Return frames for statistics.

    Args:
        refresh_ms: Refresh interval or target, ``None`` if unknown; without it no frame is long.
    """
    facts = frames.facts or NO_FACTS
    if frames.has_shares and refresh_ms is not None:
        budget = FrameBudget.of_ms(refresh_ms)
        causes = [
            long_frame_causes(
                each.interval_ns,
                np.stack([each.share(share) for share in Share]),
                each.phase(Phase.TIMERS),
                budget,
            )
            for each in frames.parts()
        ]
        facts = replace(facts, causes=np.concatenate(causes))
    sampled_ms = frames.length_ns / NS_PER_MS if frames.samples else None
    return FrameSeries(frames.measured(measure) / NS_PER_MS, refresh_ms, facts, sampled_ms)


def causes_in(history: FrameColumns, frames: range, refresh_ms: float) -> NDArray[np.int64] | None:
    """Return why frames of a session are long; ``None`` if that was not measured."""
    start, stop = frames.start, frames.stop
    shares = np.stack([history.numpy(share, start, stop) for share in Share])
    if not shares.any():
        return None
    interval, timers = (history.numpy(each, start, stop) for each in ("interval_ns", Phase.TIMERS))
    return long_frame_causes(interval, shares, timers, FrameBudget.of_ms(refresh_ms))


def facts_in(
    history: FrameColumns, frames: range, refresh_ms: float, facts: FrameFacts | None
) -> FrameFacts:
    """Return what is known of frames of a session besides their times.

    Args:
        facts: What the capture says of all its frames, if it is one.
    """
    if facts is not None:
        return facts.kept(slice(frames.start - history.first, frames.stop - history.first))
    return FrameFacts(causes=causes_in(history, frames, refresh_ms))
