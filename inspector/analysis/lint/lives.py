"""Rules about the lives of timers: leaks, waiting in vain, drift, skipped ticks."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from inspector.analysis.evidence import short_site
from inspector.analysis.lint.findings import Finding, FindingKind
from inspector.timebase import NS_PER_SECOND, format_duration, format_instant
from inspector.vocabulary import TimerKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inspector.analysis.lint.survey import Chain, Survey, TimerLife

#: So many timers of one place must wait before that is called a leak,
LEAK_TIMERS: Final = 30
#: of which no more than this share was ever cleared,
LEAK_CLEARED_SHARE: Final = 0.1
#: on a clock that stands still: for so long at least.
LEAK_STILL_NS: Final = 20 * NS_PER_SECOND
#: A timer that waits for a clock that stands still is not worth a word before this.
NEVER_FIRED_NS: Final = 30 * NS_PER_SECOND
#: A chain of one-shots must have so many links before it is called an interval,
DRIFT_STEPS: Final = 8
#: lose at least this share of its delay in each,
DRIFT_LEAST_SHARE: Final = 0.005
#: and neither more than this, nor more than so many frames, or it waits for something else.
DRIFT_MOST_SHARE: Final = 0.5
DRIFT_MOST_FRAMES: Final = 4


def leaks(seen: Survey) -> Iterator[Finding]:
    """Find timers that become more and more: repeating ones, or those of a clock at rest."""
    for place in seen.places.values():
        marks = place.marks
        if place.pending < LEAK_TIMERS or len(marks) < 4:  # noqa: PLR2004 - one a quarter
            continue
        grows = all(earlier < later for earlier, later in pairwise(marks))
        if not grows or place.cleared > LEAK_CLEARED_SHARE * place.added:
            continue
        life = place.first
        stands = _stands_since(seen, life.clock_id)
        if life.interval_ns:
            why = "none of them is ever cleared"
        elif stands is not None and seen.timeline.at_ns - stands >= LEAK_STILL_NS:
            why = f"their clock has been stopped for {_ago(seen, stands)}"
        else:
            continue
        site = seen.text(life.site)
        where = f", set at {short_site(site)}," if site else ""
        text = (
            f"{place.pending:,} timers {seen.name(life)}{where} wait on "
            f"{seen.clock_name(life.clock_id)}, and their number grows: {_marks(marks)} after each "
            f"quarter of the time; {why}."
        )
        yield Finding(
            FindingKind.LEAK,
            text,
            max(life.added_ns, 0),
            life.cursor,
            life.id,
            life.clock_id,
            seen.frame_of(life.added_ns),
        )


def _marks(marks: list[int]) -> str:
    return ", ".join(f"{count:,}" for count in marks)


def never_fired(seen: Survey) -> Iterator[Finding]:
    """Find timers that were set on a clock that has stood still ever since."""
    groups: dict[int, list[TimerLife]] = {}
    for life in seen.timers.values():
        if life.ended or life.fired or life.id not in seen.timeline.timers:
            continue
        since_ns = _stands_since(seen, life.clock_id)
        waited_ns = seen.timeline.at_ns - life.added_ns
        if since_ns is None or since_ns > life.added_ns or waited_ns < NEVER_FIRED_NS:
            continue
        reason = seen.timeline.pause_reasons(life.clock_id)[0]
        groups.setdefault(reason.clock_id, []).append(life)
    for clock_id, lives in groups.items():
        first = min(lives, key=lambda life: life.added_ns)
        reason = seen.timeline.pause_reasons(clock_id)[0]
        count = f"{seen.name(first)} has" if len(lives) == 1 else f"{len(lives):,} timers have"
        stands = "has had rate 0" if reason.is_rate_zero else "has been paused"
        text = (
            f"{count} waited for {_ago(seen, first.added_ns)} without ever firing: "
            f"{seen.clock_name(clock_id)} {stands} since {format_instant(reason.since_ns)}, "
            "before the first of them was set."
        )
        if len(lives) == 1:
            text = text.replace("before the first of them was set", "before it was set")
        yield Finding(
            FindingKind.NEVER_FIRED,
            text,
            first.added_ns,
            first.cursor,
            first.id,
            clock_id,
            seen.frame_of(first.added_ns),
        )


def drifting(seen: Survey) -> Iterator[Finding]:
    """Find chains of one-shots, and intervals, that lose time at every link."""
    for chain in seen.chains.values():
        if chain.delay_ns <= 0 or chain.steps < DRIFT_STEPS:
            continue
        slip_ns = chain.slip_ns / chain.steps
        most_ns = DRIFT_MOST_SHARE * chain.delay_ns
        if seen.frame_ns:
            rate = seen.rate(chain.last.clock_id) or 1
            most_ns = min(most_ns, float(DRIFT_MOST_FRAMES * seen.frame_ns * rate))
        if DRIFT_LEAST_SHARE * chain.delay_ns <= slip_ns <= most_ns:
            yield _drift(seen, chain)
    for life in seen.timers.values():
        is_moved = life.kind == TimerKind.INTERVAL_DELAY and life.shift_ns > 0
        if is_moved and life.shift_ns >= life.interval_ns:
            lost = life.shift_ns / life.interval_ns
            text = (
                f"{seen.name(life)} is {format_duration(life.shift_ns)} behind its interval of "
                f"{format_duration(life.interval_ns)}, {lost:.3g} ticks: its policy “delay” counts "
                "from the late call. “burst” and “skip” keep the phase."
            )
            yield Finding(
                FindingKind.DRIFT,
                text,
                life.last_ns,
                life.last_cursor,
                life.id,
                life.clock_id,
                seen.frame_of(life.last_ns),
            )


def _drift(seen: Survey, chain: Chain) -> Finding:
    life = chain.last
    mean_ns = chain.delay_ns + chain.slip_ns // chain.steps
    lost = chain.slip_ns / chain.delay_ns
    text = (
        f"{seen.name(life)} reschedules itself {format_duration(chain.delay_ns)} ahead, but fires "
        f"every {format_duration(mean_ns)}: each time it is set slightly after it was due, "
        f"{chain.steps:,} times so far, which has cost {lost:.3g} ticks. An interval "
        "(set_interval) would not drift."
    )
    return Finding(
        FindingKind.DRIFT,
        text,
        life.added_ns,
        life.cursor,
        life.id,
        life.clock_id,
        seen.frame_of(life.added_ns),
    )


def left_out(seen: Survey) -> Iterator[Finding]:
    """Find timers whose late ticks were left out."""
    for life in seen.timers.values():
        if not life.missed:
            continue
        cursor, at_ns = life.missed_at
        count = "1 tick" if life.missed == 1 else f"{life.missed:,} ticks"
        kind = TimerKind(life.kind).text
        verb = "was" if life.missed == 1 else "were"
        text = (
            f"{count} of {seen.name(life)} {verb} skipped because the program returned too late: "
            f"its kind is “{kind}”. The previous frame shows what took so long."
        )
        yield Finding(
            FindingKind.LEFT_OUT, text, at_ns, cursor, life.id, life.clock_id, seen.frame_of(at_ns)
        )


def _stands_since(seen: Survey, clock_id: int) -> int | None:
    """Return since when a clock has stood still, whoever makes it; ``None`` if it runs."""
    if clock_id not in seen.timeline.clocks:
        return None
    reasons = seen.timeline.pause_reasons(clock_id)
    return min((reason.since_ns for reason in reasons), default=None)


def _ago(seen: Survey, since_ns: int) -> str:
    return format_duration(seen.timeline.at_ns - since_ns)
