"""Rules about frames over their budget: how many, and what kept everything else waiting."""

from __future__ import annotations

from collections import Counter
from statistics import median_low
from typing import TYPE_CHECKING, Final, TypeAlias

from inspector.analysis.evidence import listed
from inspector.analysis.explain.suspects import suspect
from inspector.analysis.lint.findings import BLOCKING, OVER_BUDGET, Finding
from inspector.timebase import format_duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inspector.analysis.lint.long_frames import LongFrame
    from inspector.analysis.lint.seen import Survey

#: So many frames over budget in so many, one in twenty, are more than a hiccup.
OVER_LEAST: Final = 3
OVER_ONE_IN: Final = 20
#: A callback that took too long less often than this
BLOCKS_LEAST: Final = 3
#: is only told of when it took so many times the budget: any host has a hiccup now and then.
BLOCKS_ONCE_TIMES: Final = 3
#: Between so many different companies of timers the likely one is looked for.
_MOST_COMPANIES: Final = 5

_Who: TypeAlias = tuple[str, int | frozenset[tuple[int, int]]]


def over_budget_frames(seen: Survey) -> Iterator[Finding]:
    """Find out whether more frames than a few take longer than the budget."""
    survey = seen.long_frames
    count = len(survey.over)
    if count < OVER_LEAST or count * OVER_ONE_IN < survey.frames:
        return
    longest_ns, _, index, at_ns, cursor = max(survey.over, key=lambda frame: frame[0])
    middle_ns = median_low([interval_ns for interval_ns, *_ in survey.over])
    work_ns = median_low([work_ns for _, work_ns, *_ in survey.over])
    work = format_duration(work_ns)
    why = (
        f"Callbacks took a median of {work} of that."
        if 2 * work_ns >= middle_ns
        else f"Callbacks took a median of only {work} of that: the rest was the host."
    )
    text = (
        f"{count:,} of {survey.frames:,} frames ({count / survey.frames:.1%}) took longer than "
        f"{survey.budget.limit_text}: median {format_duration(middle_ns)}, at most "
        f"{format_duration(longest_ns)}. {why}"
    )
    yield Finding(OVER_BUDGET, text, at_ns, cursor, 0, frame=index)


def blocking(seen: Survey) -> Iterator[Finding]:
    """Find callbacks that took so long that timers or frames were late."""
    groups: dict[_Who, list[LongFrame]] = {}
    for long in seen.long_frames.long:
        if long.late or long.is_frame_late:
            groups.setdefault(_who(seen, long), []).append(long)
    for who, frames in _told_apart(seen, groups).items():
        worst = max(frames, key=lambda long: long.took_ns)
        is_hiccup = worst.took_ns < BLOCKS_ONCE_TIMES * seen.long_frames.budget.budget_ns
        if len(frames) >= BLOCKS_LEAST or not is_hiccup:
            yield _blocking(seen, who, worst, frames)


def _who(seen: Survey, long: LongFrame) -> _Who:
    """Return what took so long: a member, a phase, or the timers among which it is."""
    if long.call is not None:
        return "member", long.call
    if not long.fired:
        return "phase", int(long.phase)
    fired = (seen.timers[timer_id] for timer_id in long.fired if timer_id in seen.timers)
    return "timers", frozenset((timer.clock_id, timer.label) for timer in fired)


def _told_apart(seen: Survey, groups: dict[_Who, list[LongFrame]]) -> dict[_Who, list[LongFrame]]:
    """Find the likely timer where several may have taken the time, and put what is its together.

    Of a company with a smaller one in it that was too slow as well, it was one of those.
    """
    found: dict[_Who, list[LongFrame]] = {}
    companies: list[frozenset[tuple[int, int]]] = []
    looked = 0

    def size(each: tuple[_Who, list[LongFrame]]) -> int:
        (_, names), _ = each
        return len(names) if isinstance(names, frozenset) else 0

    for (what, names), frames in sorted(groups.items(), key=size):
        who: _Who = what, names
        if isinstance(names, frozenset):
            known = next((each for each in companies if each and each <= names), None)
            if known is None:
                known = names
                if len(names) > 1 and looked < _MOST_COMPANIES:
                    looked += 1
                    known = _likely(seen, names, frames)
                companies.append(known)
            who = what, known
        found.setdefault(who, []).extend(frames)
    return found


def _likely(
    seen: Survey, names: frozenset[tuple[int, int]], frames: list[LongFrame]
) -> frozenset[tuple[int, int]]:
    """Return which timers of a company are likely to have taken the time; all if that is open."""
    worst = max(frames, key=lambda long: long.took_ns)
    called, history = set(worst.fired), seen.history
    likely = suspect(history, seen.timeline, worst.cursor, called, worst.took_ns)
    if likely is None:
        return names
    return frozenset(name for name in names if seen.text(name[1]) == likely.label) or names


def _blocking(seen: Survey, who: _Who, worst: LongFrame, frames: list[LongFrame]) -> Finding:
    survey = seen.long_frames
    name, timer_id, clock_id = _named(seen, who, worst)
    often = "" if len(frames) == 1 else f" It took too long {len(frames):,} times."
    late = Counter[str]()
    for long in frames:
        for number, late_ns in long.late.items():
            label = seen.name(seen.timers[number]) if number in seen.timers else f"timer {number}"
            late[label] = max(late[label], late_ns)
    late.pop(name, None)
    if late:
        names = [label for label, _ in late.most_common()]
        others = (
            f"{listed(names)} had to wait for it and fired up to "
            f"{format_duration(max(late.values()))} late."
        )
    else:
        others = "The next frame had to wait for it."
    text = (
        f"{name} took {format_duration(worst.took_ns)} in frame {worst.index:,}; the limit for a "
        f"frame is {survey.budget.limit_text}. {others}{often} Spread the work over several "
        "frames, or move it to a thread."
    )
    member_id = who[1] if who[0] == "member" and isinstance(who[1], int) else 0
    return Finding(
        BLOCKING,
        text,
        worst.at_ns,
        worst.cursor,
        timer_id,
        clock_id,
        worst.index,
        member_id,
    )


def _named(seen: Survey, who: _Who, worst: LongFrame) -> tuple[str, int, int]:
    """Return what took so long in words, the number of its timer and that of its clock."""
    _, names = who
    if not isinstance(names, frozenset):
        member = seen.members.get(names) if who[0] == "member" else None
        if member is not None:
            return f"“{member.name}”", 0, member.clock_id
        return f"The calls in {worst.phase.text}", 0, 0
    blamed = [
        timer
        for timer_id in worst.fired
        if (timer := seen.timers.get(timer_id)) and (timer.clock_id, timer.label) in names
    ]
    labels = list(dict.fromkeys(map(seen.name, blamed)))
    if not labels:
        return "A timer", 0, 0
    name = labels[0] if len(labels) == 1 else f"One of {listed(labels)}"
    return name, blamed[-1].number, blamed[-1].clock_id
