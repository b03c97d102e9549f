"""Rules about frames over budget: how many, why, and which callbacks block others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from statistics import median_low
from typing import Final, TypeAlias

from inspector.analysis.evidence import times
from inspector.analysis.explain.suspects import suspect
from inspector.analysis.interval_shares import largest_share, named_shares
from inspector.analysis.lateness.attribution import attribute
from inspector.analysis.lateness.late_calls import program_clock
from inspector.analysis.lateness.words import spent_text
from inspector.analysis.lint.findings import (
    BLOCKING,
    COLLECTION,
    HOST_SLOW,
    OVER_BUDGET,
    Finding,
    FindingKind,
)
from inspector.analysis.lint.long_frames import LongFrame, OverFrame
from inspector.analysis.lint.surveyed import Survey
from inspector.calls.call import short_site
from inspector.display_text import counted, listed
from inspector.timebase import format_duration
from inspector.vocabulary import Share

#: At least this many frames over budget, and one in twenty, are more than a hiccup.
OVER_LEAST: Final = 3
OVER_ONE_IN: Final = 20
#: A callback that took too long less often than this
BLOCKS_LEAST: Final = 3
#: is reported only from this multiple of the budget on: any host hiccups now and then.
BLOCKS_ONCE_TIMES: Final = 3
#: The most sets of timers in which to search for a suspect.
_MOST_SETS: Final = 5

_Culprit: TypeAlias = tuple[str, int | frozenset[tuple[int, int]]]


def over_budget_frames(survey: Survey) -> Iterator[Finding]:
    long_frames = survey.long_frames
    count = len(long_frames.over)
    if count < OVER_LEAST or count * OVER_ONE_IN < long_frames.frames:
        return
    worst = max(long_frames.over, key=_took)
    middle_ns = median_low(map(_took, long_frames.over))
    text = (
        f"{count:,} of {long_frames.frames:,} frames after the first "
        f"({100 * count / long_frames.frames:.1f} %) were {long_frames.budget.over_text}: "
        f"median {format_duration(middle_ns)}, at most {format_duration(worst.took_ns)}. "
        f"{_why(long_frames.over, middle_ns)}"
    )
    if long_frames.by_inspector:
        text += f" Besides them, the inspector alone made {long_frames.by_inspector:,} too long."
    yield Finding(OVER_BUDGET, text, worst.at_ns, worst.cursor, 0, frame=worst.index)


def _took(frame: OverFrame) -> int:
    return frame.took_ns


def _why(over: list[OverFrame], middle_ns: int) -> str:
    if all(frame.shares for frame in over):
        most = Counter(largest_share(named_shares(each.shares, each.took_ns)) for each in over)
        frames = (f"{name} in {count:,}" for name, count in most.most_common())
        return f"What took most of it: {', '.join(frames)}."
    work_ns = median_low(frame.work_ns for frame in over)
    work = format_duration(work_ns)
    if 2 * work_ns >= middle_ns:
        return f"Callbacks took a median of {work} of that."
    return f"Callbacks took a median of only {work} of that; the rest was not measured."


def host_slow(survey: Survey) -> Iterator[Finding]:
    """Find frames that were too long only because the system woke the scene late."""
    long_frames = survey.long_frames
    least = max(OVER_LEAST, -(-long_frames.frames // OVER_ONE_IN))
    advice = (
        "Other programs took the processor, or the system saves power: nothing in the scene to fix."
    )
    yield from _because_of(survey, HOST_SLOW, Share.HOST_LATE, least, advice)


def collections(survey: Survey) -> Iterator[Finding]:
    """Find frames that were too long only because Python collected garbage."""
    advice = (
        "Keep fewer objects, call gc.freeze() at the end of build, or collect when it suits: "
        "gc.disable(), then gc.collect()."
    )
    yield from _because_of(survey, COLLECTION, Share.GARBAGE_COLLECTION, BLOCKS_LEAST, advice)


def _because_of(
    survey: Survey, kind: FindingKind, share: Share, least: int, advice: str
) -> Iterator[Finding]:
    """Find frames over budget because of one share alone."""
    budget = survey.long_frames.budget
    frames = [
        each
        for each in survey.long_frames.over
        if each.shares and budget.is_over_because_of(each.took_ns, each.shares[share])
    ]
    if not frames:
        return
    worst = max(frames, key=lambda frame: frame.shares[share])
    if len(frames) < least and worst.took_ns < BLOCKS_ONCE_TIMES * budget.budget_ns:
        return
    total = format_duration(sum(frame.shares[share] for frame in frames))
    text = (
        f"{share.text.capitalize()}: {counted(len(frames), 'frame')} "
        f"{budget.over_text} only because of it, {format_duration(worst.shares[share])} of "
        f"{format_duration(worst.took_ns)} in frame {worst.index:,}, {total} in all. {advice}"
    )
    yield Finding(kind, text, worst.at_ns, worst.cursor, 0, frame=worst.index)


def blocking(survey: Survey) -> Iterator[Finding]:
    """Find callbacks that delayed timers or frames."""
    groups: dict[_Culprit, list[LongFrame]] = {}
    for long in survey.long_frames.long:
        if long.late or long.is_frame_late:
            groups.setdefault(_culprit(survey, long), []).append(long)
    for culprit, frames in _by_suspect(survey, groups).items():
        worst = max(frames, key=lambda long: long.took_ns)
        is_hiccup = worst.took_ns < BLOCKS_ONCE_TIMES * survey.long_frames.budget.budget_ns
        if len(frames) >= BLOCKS_LEAST or not is_hiccup:
            yield _blocking(survey, culprit, worst, frames)


def _culprit(survey: Survey, long: LongFrame) -> _Culprit:
    if long.call is not None:
        return "member", long.call
    if not long.fired:
        return "phase", -1 if long.phase is None else int(long.phase)
    fired = (survey.timers[timer_id] for timer_id in long.fired if timer_id in survey.timers)
    return "timers", frozenset((timer.clock_id, timer.label) for timer in fired)


def _by_suspect(
    survey: Survey, groups: dict[_Culprit, list[LongFrame]]
) -> dict[_Culprit, list[LongFrame]]:
    """Name the suspect among several timers, and merge the frames with the same suspect.

    If a subset of the timers took at least half as long by itself, that subset is to blame. Half,
    because any callback takes a little too long now and then on a busy computer.
    """
    found: dict[_Culprit, list[LongFrame]] = {}
    known_sets: list[tuple[frozenset[tuple[int, int]], int]] = []
    looked = 0

    def size(each: tuple[_Culprit, list[LongFrame]]) -> int:
        (_, names), _ = each
        return len(names) if isinstance(names, frozenset) else 0

    for (what, names), frames in sorted(groups.items(), key=size):
        culprit: _Culprit = what, names
        if isinstance(names, frozenset):
            took_ns = max(long.took_ns for long in frames)
            known = next(
                (each for each, ns in known_sets if each and each <= names and took_ns <= 2 * ns),
                None,
            )
            if known is None:
                known = names
                if len(names) > 1 and looked < _MOST_SETS:
                    looked += 1
                    known = _likely(survey, names, frames)
                known_sets.append((known, took_ns))
            culprit = what, known
        found.setdefault(culprit, []).extend(frames)
    return found


def _likely(
    survey: Survey, names: frozenset[tuple[int, int]], frames: list[LongFrame]
) -> frozenset[tuple[int, int]]:
    """Return the timers that probably took the time; all of them if undecided."""
    worst = max(frames, key=lambda long: long.took_ns)
    called, history = set(worst.fired), survey.history
    likely = suspect(history, survey.timeline, worst.cursor, called, worst.took_ns)
    if likely is None:
        return names
    return frozenset(name for name in names if survey.text(name[1]) == likely.label) or names


def _blocking(
    survey: Survey, culprit: _Culprit, worst: LongFrame, frames: list[LongFrame]
) -> Finding:
    long_frames = survey.long_frames
    name, timer_id, clock_id = _named(survey, culprit, worst)
    site = survey.text(survey.timers[timer_id].site) if timer_id in survey.timers else ""
    where = f", set at {short_site(site)}" if site else ""
    often = "" if len(frames) == 1 else f" It took too long {times(len(frames))}."
    late = Counter[str]()
    for long in frames:
        for number, late_ns in long.late.items():
            label = (
                survey.name(survey.timers[number]) if number in survey.timers else f"timer {number}"
            )
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
        f"{name} took {format_duration(worst.took_ns)} in frame {worst.index:,}{where}; the limit "
        f"for a frame is {long_frames.budget.limit_text}. {_spent(survey, culprit, worst)}{others}"
        f"{often} Spread the work over several frames, or move it to a thread."
    )
    member_id = culprit[1] if culprit[0] == "member" and isinstance(culprit[1], int) else 0
    return Finding(
        BLOCKING, text, worst.at_ns, worst.cursor, timer_id, clock_id, worst.index, member_id
    )


def _spent(survey: Survey, culprit: _Culprit, worst: LongFrame) -> str:
    """Return what samples show about time in which no call was measured, as a sentence."""
    samples, loop = survey.samples, survey.timeline.frames_of
    if culprit[0] != "phase" or loop not in samples.by_clock:
        return ""
    program = program_clock(survey.timeline, loop, samples)
    began_ns = worst.at_ns - worst.took_ns
    spent = spent_text(attribute(samples, (loop,), program, began_ns, worst.at_ns))
    return f"{spent[:1].upper()}{spent[1:]}. " if spent else ""


def _named(survey: Survey, culprit: _Culprit, worst: LongFrame) -> tuple[str, int, int]:
    _, names = culprit
    if not isinstance(names, frozenset):
        member = survey.members.get(names) if culprit[0] == "member" else None
        if member is not None:
            return f"“{member.name}”", 0, member.clock_id
        what = "What the loop called" if worst.phase is None else f"The calls in {worst.phase.text}"
        return what, 0, 0
    blamed = [
        timer
        for timer_id in worst.fired
        if (timer := survey.timers.get(timer_id)) and (timer.clock_id, timer.label) in names
    ]
    labels = list(dict.fromkeys(map(survey.name, blamed)))
    if not labels:
        return "A timer", 0, 0
    name = labels[0] if len(labels) == 1 else f"One of {listed(labels)}"
    return name, blamed[-1].number, blamed[-1].clock_id
