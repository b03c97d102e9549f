"""Frame times with further facts about them, for statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.analysis.statistics.long_frames import long_frame_causes
from inspector.analysis.statistics.time_series import (
    NO_FACTS,
    USUAL_STUTTER,
    FrameFacts,
    StutterLimits,
    TimeSeries,
)
from inspector.events.frame_history import FrameHistory
from inspector.formats.captures.text_table import comparable
from inspector.formats.frame_times import Beside, FrameTimes
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import Measure, Phase, Share


def series_of(
    frames: FrameTimes,
    measure: Measure = "interval",
    refresh_ms: float | None = None,
    stutter: StutterLimits = USUAL_STUTTER,
) -> TimeSeries:
    """Return frames for statistics; without a refresh interval no frame counts as long."""
    facts = _with_columns(frames.facts or NO_FACTS, frames.beside)
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
    times_ms = frames.measured(measure) / NS_PER_MS
    return TimeSeries(times_ms, refresh_ms, facts, sampled_ms, stutter)


def _with_columns(facts: FrameFacts, beside: Beside | None) -> FrameFacts:
    if beside is None:
        return facts
    columns, damage = partial(_columns_named, beside), partial(damage_in, beside)
    return replace(facts, columns=columns, damage=damage)


def _columns_named(
    beside: Beside, wanted: Sequence[Sequence[str]]
) -> list[NDArray[np.float64] | None]:
    places = {comparable(name): at for at, name in enumerate(beside.names)}
    found = [
        next((places[name] for name in map(comparable, names) if name in places), None)
        for names in wanted
    ]
    there = [at for at in found if at is not None]
    read = iter(beside.numbers(there) if there else [])
    return [None if at is None else next(read) for at in found]


def damage_in(beside: Beside | None, names: Sequence[str] | None = None) -> str:
    """Return the damage in some columns, by default in all quantities, as sentences."""
    if beside is None:
        return ""
    wanted = None if names is None else set(map(comparable, names))
    columns = [
        each.at for each in beside.quantities if wanted is None or comparable(each.name) in wanted
    ]
    return " ".join(beside.damage(columns).values()) if columns else ""


def causes_in(history: FrameHistory, frames: range, refresh_ms: float) -> NDArray[np.int64] | None:
    """Return why frames of a session are long; ``None`` if that was not measured."""
    start, stop = frames.start, frames.stop
    shares = np.stack([history.numpy(share, start, stop) for share in Share])
    if not shares.any():
        return None
    interval, timers = (history.numpy(each, start, stop) for each in ("interval_ns", Phase.TIMERS))
    return long_frame_causes(interval, shares, timers, FrameBudget.of_ms(refresh_ms))


def facts_in(
    history: FrameHistory,
    frames: range,
    refresh_ms: float | None,
    facts: FrameFacts | None,
    beside: Beside | None,
) -> FrameFacts:
    """Return what is known of frames of a session besides their times."""
    if facts is not None or beside is not None:
        part = slice(frames.start - history.first, frames.stop - history.first)
        kept = (facts or NO_FACTS).kept(part)
        return _with_columns(kept, beside and beside.between(part.start, part.stop))
    return (
        NO_FACTS
        if refresh_ms is None
        else FrameFacts(causes=causes_in(history, frames, refresh_ms))
    )
