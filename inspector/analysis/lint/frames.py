"""Rules about timers and frames: storms, herds, intervals that do not fit."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from inspector.analysis.evidence import listed
from inspector.analysis.lint.findings import Finding, FindingKind
from inspector.timebase import format_duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inspector.analysis.lint.survey import FrameLoad, Survey, TimerLife

#: A timer, or one-shots of one name, called more often than this in one frame are a storm.
STORM_PER_FRAME: Final = 20
#: So many different timers of one clock in one frame are a herd,
HERD_TIMERS: Final = 30
#: if that is so many times what a frame has on average.
HERD_TIMES_AVERAGE: Final = 4
#: An interval longer than so many frames does not visibly beat against them.
BEAT_MOST_FRAMES: Final = 5
#: An interval this close to a whole number of frames fits.
BEAT_TOLERANCE: Final = Fraction(1, 50)
#: Fewer calls are not called a pattern.
BEAT_LEAST_CALLS: Final = 12
#: An interval shorter than this share of a frame is sub-frame.
SUB_FRAME_SHARE: Final = Fraction(9, 10)


def storms(seen: Survey) -> Iterator[Finding]:
    """Find timers that are called very often in one frame."""
    for (clock_id, _), (count, load, timer_id) in seen.storms.items():
        if count <= STORM_PER_FRAME:
            continue
        life = seen.timers[timer_id]
        own = load.calls[timer_id]
        what = (
            f"{seen.name(life)} on {seen.clock_name(clock_id)} fired {count:,} times in frame "
            f"{load.index:,}."
        )
        if own == count and life.interval_ns:
            helps = (
                f"Its interval is {format_duration(life.interval_ns)} of local time: use a longer "
                "interval, and loop over what is due."
            )
        elif own == count:
            helps = "It was called repeatedly; is its delay too short?"
        else:
            helps = "They set one another, or are set in a loop: is a delay of 0 intended?"
        yield Finding(
            FindingKind.STORM,
            f"{what} {helps}",
            load.at_ns,
            load.cursor,
            timer_id,
            clock_id,
            load.index,
        )


def herds(seen: Survey) -> Iterator[Finding]:
    """Find frames in which many timers of one clock are called together."""
    frames = max(1, len(seen.frame_starts))
    worst: dict[int, tuple[int, FrameLoad, list[int]]] = {}
    averages = Counter(life.clock_id for life in seen.timers.values() for _ in range(life.fired))
    for load in seen.crowds:
        by_clock: dict[int, list[int]] = {}
        for timer_id in load.calls.keys() - load.fresh:
            by_clock.setdefault(seen.timers[timer_id].clock_id, []).append(timer_id)
        for clock_id, timer_ids in sorted(by_clock.items()):
            count = len(timer_ids)
            if count < HERD_TIMERS or count * frames < HERD_TIMES_AVERAGE * averages[clock_id]:
                continue
            if clock_id not in worst or count > worst[clock_id][0]:
                worst[clock_id] = count, load, sorted(timer_ids)
    for clock_id, (count, load, timer_ids) in worst.items():
        yield _herd(seen, clock_id, count, load, timer_ids)


def _herd(
    seen: Survey, clock_id: int, count: int, load: FrameLoad, timer_ids: list[int]
) -> Finding:
    lives = [seen.timers[timer_id] for timer_id in timer_ids]
    interval_ns, same = Counter(life.interval_ns for life in lives).most_common(1)[0]
    names = list(dict.fromkeys(seen.name(life) for life in lives))
    who = listed(names)
    text = (
        f"{count:,} timers of {seen.clock_name(clock_id)} fired together in frame "
        f"{load.index:,}: {who}."
    )
    if interval_ns and same > 1:
        step = format_duration(interval_ns // same)
        text += (
            f" {same:,} of them repeat every {format_duration(interval_ns)}: first delays "
            f"{step} apart would spread them evenly."
        )
    elif seen.frame_ns:
        spread = format_duration(seen.frame_ns)
        text += f" Delays {spread} apart would spread them over as many frames."
    return Finding(
        FindingKind.HERD, text, load.at_ns, load.cursor, timer_ids[0], clock_id, load.index
    )


def sub_frame(seen: Survey) -> Iterator[Finding]:
    """Find intervals that are shorter than a frame."""
    for life, period_ns in _repeating(seen):
        if period_ns >= seen.frame_ns * SUB_FRAME_SHARE or life.fired < BEAT_LEAST_CALLS:
            continue
        per_frame = Fraction(seen.frame_ns) / period_ns
        text = (
            f"{seen.name(life)} repeats every {format_duration(round(period_ns))}, which is "
            f"shorter than a frame ({format_duration(seen.frame_ns)}): it fires "
            f"{float(per_frame):.3g} times per frame, back to back."
        )
        yield Finding(
            FindingKind.SUB_FRAME,
            text,
            life.last_ns,
            life.last_cursor,
            life.id,
            life.clock_id,
            seen.frame_of(life.last_ns),
        )


def beats(seen: Survey) -> Iterator[Finding]:
    """Find intervals that are no multiple of the frame, so that ticks come unevenly."""
    if not seen.is_steady:
        return
    for life, period_ns in _repeating(seen):
        frames = Fraction(period_ns) / seen.frame_ns
        off = abs(frames - round(frames))
        if not SUB_FRAME_SHARE <= frames <= BEAT_MOST_FRAMES or off <= BEAT_TOLERANCE * frames:
            continue
        gaps = [later - earlier for earlier, later in pairwise(life.frames)]
        if len(gaps) < BEAT_LEAST_CALLS or len(set(gaps)) < 2:  # noqa: PLR2004 - one gap is even
            continue
        text = (
            f"{seen.name(life)} repeats every {format_duration(round(period_ns))}, which is "
            f"{float(frames):.3g} frames: its ticks are {pattern_of(gaps)} frames apart. "
            f"{nearest_even(period_ns, seen.frame_ns)}"
        )
        yield Finding(
            FindingKind.BEAT,
            text,
            life.last_ns,
            life.last_cursor,
            life.id,
            life.clock_id,
            seen.frame_of(life.last_ns),
        )


def _repeating(seen: Survey) -> Iterator[tuple[TimerLife, Fraction]]:
    """Go through repeating timers with their interval in session time at present rates."""
    if not seen.frame_ns:
        return
    told: set[tuple[int, int, int]] = set()
    for life in seen.timers.values():
        key = life.clock_id, life.label, life.interval_ns
        if life.ended or not life.interval_ns or key in told:
            continue
        told.add(key)
        rate = seen.rate(life.clock_id)
        if rate:
            yield life, life.interval_ns / rate


def pattern_of(gaps: list[int]) -> str:
    """Return gaps as ``1-1-1-2``: the shortest stretch that repeats, else the beginning."""
    for length in range(1, len(gaps) // 2 + 1):
        stretch = gaps[:length]
        if all(gap == stretch[place % length] for place, gap in enumerate(gaps)):
            return "-".join(map(str, stretch))
    return "-".join(map(str, gaps[:8])) + "-…"


def nearest_even(period_ns: Fraction, frame_ns: int) -> str:
    """Return which intervals near one are whole frames, in a sentence."""
    below = max(1, int(period_ns // frame_ns))
    options = sorted({below, below + 1})
    texts = [format_duration(count * frame_ns) for count in options]
    return f"An interval of {' or '.join(texts)} would be even."
