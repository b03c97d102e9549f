"""Rules about intervals: shorter than a frame, beating with it, drifting, at a wrong pace."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Final

from inspector.analysis.lint.call_rules import finding_of, timers_of
from inspector.analysis.lint.findings import BEAT, DRIFT, PACE, SUB_FRAME, Finding, FindingKind
from inspector.analysis.lint.scheduled import RUN
from inspector.analysis.lint.surveyed import Chain, Survey, SurveyedMember, SurveyedTimer
from inspector.timebase import format_duration
from inspector.vocabulary import TimerKind

#: The uneven calls of an interval longer than this many frames are not visible.
BEAT_MOST_FRAMES: Final = 5
#: An interval this close to a whole number of frames fits.
BEAT_TOLERANCE: Final = Fraction(1, 50)
#: Fewer calls do not make a pattern.
BEAT_LEAST_CALLS: Final = 12
#: An interval shorter than this share of a frame is sub-frame.
SUB_FRAME_SHARE: Final = Fraction(9, 10)
#: A chain of one-shots with fewer links is not an interval.
DRIFT_STEPS: Final = 8
#: A drifting timer loses at least this share of its interval with each call,
DRIFT_LEAST_SHARE: Final = 0.005
#: but not more than this share, nor more than this many frames, or it waits for something;
DRIFT_MOST_SHARE: Final = 0.5
DRIFT_MOST_FRAMES: Final = 4
#: a frame timer loses more than rounding to frames can explain: this many frames per call.
DRIFT_LEAST_FRAMES: Final = 1.5 / RUN
#: A timer off by more than this share has a wrong pace; it does not drift.
PACE_SHARE: Final = 0.25
#: The pace of a frame timer with fewer measured runs is unknown.
LEAST_RUNS: Final = 2


def uneven(survey: Survey) -> Iterator[Finding]:
    """Find intervals that do not fit the frames, and frame timers off their interval.

    Timers with the same name, interval and caller make one finding.
    """
    named: set[object] = set()
    for call in timers_of(survey):
        if call.ended or not call.interval_ns or call.calls < BEAT_LEAST_CALLS:
            continue
        key = call.caller, survey.name(call), call.interval_ns
        if key in named:
            continue
        period_ns = survey.period_ns(call)
        if not period_ns:
            continue
        found = _sub_frame(survey, call, period_ns)
        if found is None and isinstance(call, SurveyedMember):
            found = _pace(survey, call, period_ns)
        if found is None:
            found = _beat(survey, call, period_ns)
        if found is not None or not call.is_member:
            named.add(key)
        if found is not None:
            kind, text = found
            yield finding_of(survey, kind, text, call, call.last_ns, call.last_cursor)


def _every(survey: Survey, call: SurveyedTimer | SurveyedMember, period_ns: Fraction) -> str:
    repeats = "should be called" if call.is_member else "repeats"
    return f"{survey.title(call)} {repeats} every {format_duration(round(period_ns))}"


def _sub_frame(
    survey: Survey, call: SurveyedTimer | SurveyedMember, period_ns: Fraction
) -> tuple[FindingKind, str] | None:
    if period_ns >= survey.frame_ns * SUB_FRAME_SHARE:
        return None
    if call.is_member:
        most = survey.storms.get((call.caller, call.number))
        what = (
            f"it is called up to {most.count:,} times per frame, back to back"
            if most is not None
            else "it is called once per frame, however short the interval"
        )
    else:
        per_frame = float(survey.frame_ns / period_ns)
        what = f"it fires {per_frame:.3g} times per frame, back to back"
    text = (
        f"{_every(survey, call, period_ns)}, which is shorter than a frame "
        f"({format_duration(survey.frame_ns)}): {what}."
    )
    return SUB_FRAME, text


def _beat(
    survey: Survey, call: SurveyedTimer | SurveyedMember, period_ns: Fraction
) -> tuple[FindingKind, str] | None:
    """Return the finding if calls are uneven because an interval is not a multiple of a frame."""
    frames = period_ns / survey.frame_ns
    off = abs(frames - round(frames))
    fits = not SUB_FRAME_SHARE <= frames <= BEAT_MOST_FRAMES or off <= BEAT_TOLERANCE * frames
    if fits or not survey.is_steady:
        return None
    gaps = [later - earlier for earlier, later in pairwise(call.frames)]
    if len(gaps) < BEAT_LEAST_CALLS or len(set(gaps)) < 2:  # noqa: PLR2004 - one gap is even
        return None
    calls = "calls" if call.is_member else "ticks"
    text = (
        f"{_every(survey, call, period_ns)}, which is {float(frames):.3g} frames: its {calls} are "
        f"{_pattern(gaps)} frames apart. {_nearest_even(period_ns, survey.frame_ns)}"
    )
    return BEAT, text


def _pattern(gaps: list[int]) -> str:
    """Return gaps as ``1-1-1-2``: the shortest repeating stretch, else the beginning."""
    for length in range(1, len(gaps) // 2 + 1):
        stretch = gaps[:length]
        if all(gap == stretch[place % length] for place, gap in enumerate(gaps)):
            return "-".join(map(str, stretch))
    return "-".join(map(str, gaps[:8])) + "-…"


def _nearest_even(period_ns: Fraction, frame_ns: int) -> str:
    below = max(1, int(period_ns // frame_ns))
    options = sorted({below, below + 1})
    texts = [format_duration(count * frame_ns) for count in options]
    return f"An interval of {' or '.join(texts)} would be even."


def _pace(
    survey: Survey, call: SurveyedMember, period_ns: Fraction
) -> tuple[FindingKind, str] | None:
    """Return the finding if a timer is always called sooner or later than its interval says."""
    if len(call.runs) < LEAST_RUNS:
        return None
    interval_ns, slip_ns = call.interval_ns, call.median_gap_ns - call.interval_ns
    frame_ns = survey.frame_ns * interval_ns / period_ns
    if abs(slip_ns) <= max(DRIFT_LEAST_SHARE * interval_ns, DRIFT_LEAST_FRAMES * frame_ns):
        return None
    what = (
        f"{survey.title(call)} should be called every {format_duration(interval_ns)}, but is "
        f"called every {format_duration(round(call.median_gap_ns))}"
    )
    if 0 < slip_ns <= PACE_SHARE * interval_ns:
        text = (
            f"{what}: each time it counts from the frame in which it was called, so it loses "
            f"{format_duration(round(slip_ns))} with every call."
        )
        return DRIFT, text
    often, seldom = interval_ns / call.median_gap_ns, call.median_gap_ns / interval_ns
    text = (
        f"{what}: {seldom:.3g} times its interval. It is checked too rarely."
        if slip_ns > 0
        else f"{what}, {often:.3g} times as often as it should: it seems to count calls, not time."
    )
    return PACE, text


def drifting(survey: Survey) -> Iterator[Finding]:
    """Find chains of one-shots, and intervals of clocks, that lose time with every call."""
    for chain in survey.chains.values():
        if chain.delay_ns <= 0 or chain.steps < DRIFT_STEPS:
            continue
        slip_ns = chain.slip_ns / chain.steps
        most_ns = DRIFT_MOST_SHARE * chain.delay_ns
        if survey.frame_ns:
            rate = survey.rate(chain.last.clock_id) or 1
            most_ns = min(most_ns, float(DRIFT_MOST_FRAMES * survey.frame_ns * rate))
        if DRIFT_LEAST_SHARE * chain.delay_ns <= slip_ns <= most_ns:
            yield _drifting_chain(survey, chain)
    worst: dict[tuple[int, str], Finding] = {}
    shifts: dict[tuple[int, str], int] = {}
    for timer in survey.timers.values():
        # In a damaged recording a repeating timer may have no interval.
        is_moved = timer.kind == TimerKind.INTERVAL_DELAY and timer.interval_ns > 0
        if is_moved and timer.shift_ns >= timer.interval_ns:
            lost = timer.shift_ns / timer.interval_ns
            text = (
                f"{survey.name(timer)} is {format_duration(timer.shift_ns)} behind its interval of "
                f"{format_duration(timer.interval_ns)}, {lost:.3g} ticks: each call is "
                "set from the late call before it. Set from when that was due, as by the policies "
                "“burst” and “skip” of our intervals, it keeps the phase."
            )
            # A timer that sets itself again is a new timer each time, so they are grouped by name.
            key = timer.clock_id, survey.name(timer)
            if timer.shift_ns > shifts.get(key, 0):
                shifts[key] = timer.shift_ns
                where = timer.last_ns, timer.last_cursor
                worst[key] = finding_of(survey, DRIFT, text, timer, *where)
    yield from worst.values()


def _drifting_chain(survey: Survey, chain: Chain) -> Finding:
    timer = chain.last
    mean_ns = chain.delay_ns + chain.slip_ns // chain.steps
    lost = chain.slip_ns / chain.delay_ns
    text = (
        f"{survey.name(timer)} reschedules itself {format_duration(chain.delay_ns)} ahead, but "
        f"fires every {format_duration(mean_ns)}: each time it is set slightly after it was due, "
        f"{chain.steps:,} times so far, which has cost {lost:.3g} ticks. An interval "
        "(set_interval) would not drift."
    )
    return finding_of(survey, DRIFT, text, timer, timer.added_ns, timer.cursor)
