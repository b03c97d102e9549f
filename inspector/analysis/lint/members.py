"""Rules about the timers of schedulers and tickers: as far as events tell."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from inspector.analysis.evidence import listed
from inspector.analysis.lint.findings import Finding, FindingKind
from inspector.analysis.lint.frames import (
    BEAT_LEAST_CALLS,
    BEAT_MOST_FRAMES,
    BEAT_TOLERANCE,
    HERD_TIMES_AVERAGE,
    STORM_PER_FRAME,
    SUB_FRAME_SHARE,
    nearest_even,
    pattern_of,
)
from inspector.analysis.lint.lives import LEAK_CLEARED_SHARE, LEAK_TIMERS, NEVER_FIRED_NS
from inspector.analysis.lint.member_survey import RUN, TIMERS
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import RATE_DENOMINATOR, MemberKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inspector.analysis.lint.member_survey import MemberLife
    from inspector.analysis.lint.survey import Survey

#: A timer must lose at least this share of its interval with each call to be said to drift,
DRIFT_LEAST_SHARE: Final = 0.005
#: and more than counting whole frames explains, in frames over a run of calls.
DRIFT_LEAST_FRAMES: Final = 1.5 / RUN
#: Off by more than this share it does not drift: it has another pace.
PACE_SHARE: Final = 0.25
#: A timer is looked at from so many measured runs on.
LEAST_RUNS: Final = 2


def member_findings(seen: Survey) -> Iterator[Finding]:
    """Find what looks wrong with frame timers and ticker timers."""
    yield from _leaks(seen)
    yield from _orphans(seen)
    yield from _herds(seen)
    told: set[tuple[int, str, int]] = set()
    for life in seen.members.lives.values():
        if life.kind not in TIMERS:
            continue
        yield from _storm(seen, life)
        yield from _left_out(seen, life)
        yield from _never_called(seen, life)
        key = life.keeper_id, life.name, life.interval_ns
        if life.ended or not life.interval_ns or key in told:
            continue
        found = [*_sub_frame(seen, life), *_pace(seen, life), *_beat(seen, life)][:1]
        if found:
            told.add(key)
        yield from found


def _leaks(seen: Survey) -> Iterator[Finding]:
    for place in seen.members.places.values():
        marks, life = place.marks, place.first
        if place.there < LEAK_TIMERS or len(marks) < 4:  # noqa: PLR2004 - one a quarter
            continue
        grows = all(earlier < later for earlier, later in pairwise(marks))
        if not grows or place.gone > LEAK_CLEARED_SHARE * place.added or life.calls_left >= 0:
            continue
        text = (
            f"{place.there:,} timers {_name(life)} belong to {_keeper(seen, life)}, and their "
            f"number grows: {', '.join(f'{count:,}' for count in marks)} after each quarter of the "
            "time; few of them are ever unscheduled."
        )
        yield _finding(seen, FindingKind.LEAK, text, life, max(life.added_ns, 0), life.cursor)


def _orphans(seen: Survey) -> Iterator[Finding]:
    """Find what is still scheduled for nodes and components that were destroyed."""
    for owner_id, lives in seen.members.orphans().items():
        owner, first = seen.members.lives[owner_id], lives[0]
        assert owner.ended_at is not None, "only such owners are listed"
        cursor, at_ns = owner.ended_at
        names = listed(list(dict.fromkeys(_name(life) for life in lives)))
        verb = "is" if len(lives) == 1 else "are"
        gone_ns = seen.timeline.at_ns - at_ns
        called = [life for life in lives if life.last_ns > at_ns]
        text = (
            f"{names} of {_keeper(seen, first)} {verb} still scheduled for the "
            f"{owner.known.kind_text} “{owner.name}”, which was destroyed "
            f"{format_duration(gone_ns)} ago, at {format_instant(at_ns)}"
        )
        if called:
            last = max(called, key=lambda life: life.last_ns)
            text += f"; {_name(last)} was last called at {format_instant(last.last_ns)}"
        text += ". Unschedule it in on_destroy."
        yield _finding(seen, FindingKind.ORPHAN, text, first, at_ns, cursor)


def _herds(seen: Survey) -> Iterator[Finding]:
    members = seen.members
    for keeper_id, crowd in members.crowds.items():
        count = len(crowd.members)
        if count * members.frames < HERD_TIMES_AVERAGE * members.timer_calls[keeper_id]:
            continue
        lives = [members.lives[number] for number in crowd.members]
        names = list(dict.fromkeys(_name(life) for life in lives))
        text = (
            f"{count:,} timers of {_keeper(seen, lives[0])} were called together in frame "
            f"{crowd.frame:,}: {listed(names)}."
        )
        interval_ns, same = Counter(life.interval_ns for life in lives).most_common(1)[0]
        if interval_ns and same > 1:
            step = format_duration(interval_ns // same)
            text += (
                f" {same:,} of them repeat every {format_duration(interval_ns)}: first delays "
                f"{step} apart would spread them evenly."
            )
        yield _finding(
            seen, FindingKind.HERD, text, lives[0], crowd.at_ns, crowd.cursor, crowd.frame
        )


def _storm(seen: Survey, life: MemberLife) -> Iterator[Finding]:
    count, frame, at_ns, cursor = life.most
    if count <= STORM_PER_FRAME:
        return
    text = f"{_name(life)} of {_keeper(seen, life)} was called {count:,} times in frame {frame:,}."
    if life.interval_ns:
        text += (
            f" Its interval is {format_duration(life.interval_ns)}: use a longer interval, and "
            "loop over what is due."
        )
    yield _finding(seen, FindingKind.STORM, text, life, at_ns, cursor, frame)


def _left_out(seen: Survey, life: MemberLife) -> Iterator[Finding]:
    if not life.missed or life.missed_at == (0, 0):
        return
    cursor, at_ns = life.missed_at
    count, verb = ("1 call", "was") if life.missed == 1 else (f"{life.missed:,} calls", "were")
    text = (
        f"{count} of {_name(life)} {verb} skipped by {_keeper(seen, life)}: more time had passed "
        "than it makes up for. The frame shows what took so long."
    )
    yield _finding(seen, FindingKind.LEFT_OUT, text, life, at_ns, cursor)


def _never_called(seen: Survey, life: MemberLife) -> Iterator[Finding]:
    timeline = seen.timeline
    if life.calls or life.ended or life.id not in timeline.members.by_id:
        return
    waited_ns = timeline.at_ns - life.added_ns
    pausing = timeline.members.pausing(life.id)
    if pausing is None or waited_ns < NEVER_FIRED_NS or life.added_ns < 0:
        return
    if pausing.paused_since_ns > life.added_ns:
        return
    text = (
        f"{_name(life)} of {_keeper(seen, life)} has waited for {format_duration(waited_ns)} "
        f"without ever being called: {pausing.kind.text} “{pausing.name}” has been paused since "
        f"{format_instant(pausing.paused_since_ns)}."
    )
    yield _finding(seen, FindingKind.NEVER_FIRED, text, life, life.added_ns, life.cursor)


def _sub_frame(seen: Survey, life: MemberLife) -> Iterator[Finding]:
    period_ns = _period_ns(seen, life)
    if not period_ns or period_ns >= seen.frame_ns * SUB_FRAME_SHARE:
        return
    if life.calls < BEAT_LEAST_CALLS:
        return
    often = life.most[0]
    what = (
        f"it is called up to {often:,} times per frame, back to back"
        if often > 1
        else "it is called once per frame, however short the interval"
    )
    text = (
        f"{_name(life)} of {_keeper(seen, life)} should be called every "
        f"{format_duration(round(period_ns))}, which is shorter than a frame "
        f"({format_duration(seen.frame_ns)}): {what}."
    )
    yield _finding(seen, FindingKind.SUB_FRAME, text, life, life.last_ns, life.last_cursor)


def _pace(seen: Survey, life: MemberLife) -> Iterator[Finding]:
    """Find timers that come sooner or later than their interval says, each time."""
    if len(life.runs) < LEAST_RUNS or not _period_ns(seen, life):
        return
    interval_ns, slip_ns = life.interval_ns, life.pace_ns - life.interval_ns
    frame_ns = seen.frame_ns * life.interval_ns / _period_ns(seen, life)
    least_ns = max(DRIFT_LEAST_SHARE * interval_ns, DRIFT_LEAST_FRAMES * frame_ns)
    if abs(slip_ns) <= least_ns:
        return
    what = (
        f"{_name(life)} of {_keeper(seen, life)} should be called every "
        f"{format_duration(interval_ns)}, but is called every "
        f"{format_duration(round(life.pace_ns))}"
    )
    if 0 < slip_ns <= PACE_SHARE * interval_ns:
        text = (
            f"{what}: each time it counts from the frame in which it was called, so it loses "
            f"{format_duration(round(slip_ns))} with every call."
        )
        kind = FindingKind.DRIFT
    else:
        often, seldom = interval_ns / life.pace_ns, life.pace_ns / interval_ns
        text = (
            f"{what}: {seldom:.3g} times its interval. It is checked too rarely."
            if slip_ns > 0
            else f"{what}, {often:.3g} times as often as it should: it seems to count calls, not "
            "time."
        )
        kind = FindingKind.PACE
    yield _finding(seen, kind, text, life, life.last_ns, life.last_cursor)


def _beat(seen: Survey, life: MemberLife) -> Iterator[Finding]:
    period_ns = _period_ns(seen, life)
    if not seen.is_steady or not period_ns:
        return
    frames = period_ns / seen.frame_ns
    off = abs(frames - round(frames))
    if not SUB_FRAME_SHARE <= frames <= BEAT_MOST_FRAMES or off <= BEAT_TOLERANCE * frames:
        return
    gaps = [later - earlier for earlier, later in pairwise(life.frames)]
    if len(gaps) < BEAT_LEAST_CALLS or len(set(gaps)) < 2:  # noqa: PLR2004 - one gap is even
        return
    text = (
        f"{_name(life)} of {_keeper(seen, life)} should be called every "
        f"{format_duration(round(period_ns))}, which is {float(frames):.3g} frames: its calls are "
        f"{pattern_of(gaps)} frames apart. {nearest_even(period_ns, seen.frame_ns)}"
    )
    yield _finding(seen, FindingKind.BEAT, text, life, life.last_ns, life.last_cursor)


def _period_ns(seen: Survey, life: MemberLife) -> Fraction:
    """Return an interval in session time at present rates; 0 when that says nothing."""
    keeper = seen.members.lives.get(life.keeper_id)
    scale = Fraction(RATE_DENOMINATOR if keeper is None else keeper.rate, RATE_DENOMINATOR)
    rate = seen.rate(life.clock_id) * scale
    return life.interval_ns / rate if rate and seen.frame_ns else Fraction(0)


def _name(life: MemberLife) -> str:
    """Return what a timer is called, in quotes."""
    return f"“{life.name}”"


def _keeper(seen: Survey, life: MemberLife) -> str:
    keeper = seen.members.lives.get(life.keeper_id)
    if keeper is None:
        return "its scheduler"
    kind = "ticker" if keeper.kind is MemberKind.TICKER else "scheduler"
    return f"“{keeper.name}”" if kind in keeper.name.lower() else f"{kind} “{keeper.name}”"


def _finding(  # noqa: PLR0913, PLR0917 - all of it makes a finding
    seen: Survey,
    kind: FindingKind,
    text: str,
    life: MemberLife,
    at_ns: int,
    cursor: int,
    frame: int | None = None,
) -> Finding:
    index = seen.frame_of(at_ns) if frame is None else frame
    return Finding(kind, text, at_ns, cursor, 0, life.clock_id, index, life.id)
