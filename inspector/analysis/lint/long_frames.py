"""Rules about frames over their budget: how many there are, and what kept everything else waiting.

While a callback runs nothing else does: no timer, no frame. What it took is measured for calls
of schedulers, components and frame callbacks, and for the timers of a frame together.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from statistics import median_low
from typing import TYPE_CHECKING, Final

from inspector.analysis.evidence import listed
from inspector.analysis.explain.suspects import suspect
from inspector.analysis.lint.findings import Finding, FindingKind
from inspector.timebase import format_duration
from inspector.vocabulary import (
    CALL_ENDED,
    FRAME_BEGAN,
    FRAME_ENDED,
    PHASE_ENDED,
    TIMER_FIRED,
    Phase,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inspector.analysis.lint.survey import Survey
    from inspector.analysis.statistics.frame_budget import FrameBudget
    from inspector.vocabulary import RawEvent

#: So many frames over budget in so many, one in twenty, are more than a hiccup.
OVER_LEAST: Final = 3
OVER_ONE_IN: Final = 20
#: A callback that took too long less often than this
BLOCKS_LEAST: Final = 3
#: is only told of when it took so many times the budget: any host has a hiccup now and then.
BLOCKS_ONCE_TIMES: Final = 3
#: What a call must have taken of the longest one to be named in its place: its caller
#: contains it.
_INNER_SHARE: Final = 0.6
#: Between so many different companies of timers the likely one is looked for.
_MOST_COMPANIES: Final = 5

#: The events that :meth:`LongFrameSurvey.take` wants.
ABOUT_LONG_FRAMES: Final = frozenset(
    {CALL_ENDED, FRAME_BEGAN, FRAME_ENDED, PHASE_ENDED, TIMER_FIRED}
)

_Call = tuple[int, int, int]  # began, took, member
_Who = tuple[str, int | frozenset[tuple[int, int]]]


@dataclass(slots=True)
class LongFrame:
    """A frame whose callbacks took longer than its budget.

    Attributes:
        index: The frame.
        at_ns: Session instant of its end.
        cursor: Where that is in the log.
        took_ns: How long its timers took together, or the rest of it, whichever took longer.
        phase: The phase that took longest.
        call: The call that took most of that, ``None`` where none was measured.
        fired: The timers that may have taken it, none if it was not the timers.
        late: The timers that were due meanwhile, and how late they were.
        is_frame_late: Whether the frame that was due meanwhile was over budget.
    """

    index: int
    at_ns: int
    cursor: int
    took_ns: int
    phase: Phase = Phase.UPDATE
    call: int | None = None
    fired: tuple[int, ...] = ()
    late: dict[int, int] = field(default_factory=dict)
    is_frame_late: bool = False


class LongFrameSurvey:
    """Takes events one by one, and keeps the frames over budget.

    Attributes:
        budget: What a frame may take.
        frames: How many frames were compared with it.
        over: Those over it: how long each, the work in that time, the index, the end and where
            that is.
        long: Those whose callbacks alone are over it.
    """

    def __init__(self, budget: FrameBudget) -> None:
        """Begin with nothing seen."""
        self.budget = budget
        self._longest_ns, self._tolerance_ns = budget.longest_ns, budget.tolerance_ns
        self.frames = 0
        self.over: list[tuple[int, int, int, int, int]] = []
        self.long: list[LongFrame] = []
        self._former: LongFrame | None = None
        self._fired: list[int] = []
        # Where among those fired each late one is, and by how much.
        self._late: list[tuple[int, int]] = []
        self._group = self._fired, self._late
        self._calls: list[_Call] = []
        self._timer_calls = self._calls
        self._phases: dict[int, int] = {}
        self._index = 0
        self._before: tuple[int, int] | None = None

    def take(self, cursor: int, event: RawEvent) -> None:
        """Take one event about timers, calls or frames."""
        _, kind, subject, a, b = event
        if kind == TIMER_FIRED:
            if a > self._tolerance_ns:
                self._late.append((len(self._fired), a))
            self._fired.append(subject)
        elif kind == CALL_ENDED:
            self._calls.append((a, b, subject))
        elif kind == PHASE_ENDED:
            self._phases[subject] = self._phases.get(subject, 0) + b
        elif kind == FRAME_BEGAN:
            self._index = a
            self._group, self._fired, self._late = (self._fired, self._late), [], []
            self._timer_calls, self._calls = self._calls, []
            self._phases = {}
        elif kind == FRAME_ENDED:
            self._end(cursor, event)
            self._calls = []

    def _end(self, cursor: int, event: RawEvent) -> None:
        at_ns, _, _, interval_ns, busy_ns = event
        longest_ns = self._longest_ns
        is_over = interval_ns > longest_ns
        timers_ns = self._phases.pop(Phase.TIMERS, 0)
        own_ns = busy_ns - timers_ns
        # The first one may have waited for the scene to be built.
        if self._before is not None:
            self.frames += 1
            if is_over:
                # What was between the two beginnings. Timers of the frame before belong to it
                # if they were called by the wake-up that ran that frame.
                before_busy_ns, before_own_ns = self._before
                work_ns = max(before_busy_ns, before_own_ns + timers_ns)
                self.over.append((interval_ns, work_ns, self._index, at_ns, cursor))
        self._before = busy_ns, own_ns
        former, self._former = self._former, None
        if former is not None:
            former.is_frame_late |= is_over
            self._make_late(former, 0)
        if busy_ns > longest_ns:
            long = LongFrame(self._index, at_ns, cursor, max(own_ns, timers_ns))
            if timers_ns > own_ns:
                self._blame_timers(long, is_over=is_over, is_first=former is None)
            else:
                long.call = _inner_call(self._calls, long.took_ns)
                phases = self._phases
                long.phase = Phase(max(phases, key=phases.__getitem__, default=Phase.UPDATE))
            self.long.append(long)
            self._former = long

    def _blame_timers(self, long: LongFrame, *, is_over: bool, is_first: bool) -> None:
        """Note which timers may have taken the time.

        Args:
            long: Their frame.
            is_over: Whether that is over budget.
            is_first: Whether the frame before was not: then what is late has waited for them.
        """
        fired, late = self._group
        long.phase, long.call = Phase.TIMERS, _inner_call(self._timer_calls, long.took_ns)
        # The first to wait for long came after what it waited for.
        behind = (place for place, late_ns in late if place and 2 * late_ns > long.took_ns)
        before = next(behind, len(fired)) if is_first else len(fired)
        long.fired = tuple(fired[:before])
        if is_first:
            self._make_late(long, before)
            long.is_frame_late = is_over

    def _make_late(self, long: LongFrame, place: int) -> None:
        """Note that timers of this frame, from a place on, were late because of a long frame."""
        fired, late = self._group
        for at, late_ns in late:
            if at >= place:
                long.late[fired[at]] = max(late_ns, long.late.get(fired[at], 0))


def _inner_call(calls: list[_Call], took_ns: int) -> int | None:
    """Return the member whose call took most of a time, the innermost if they lie in another."""
    longest_ns = max((call[1] for call in calls), default=0)
    if 2 * longest_ns < took_ns:
        return None
    return max(call for call in calls if call[1] >= _INNER_SHARE * longest_ns)[2]


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
    yield Finding(FindingKind.OVER_BUDGET, text, at_ns, cursor, 0, frame=index)


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
    lives = (seen.timers[timer_id] for timer_id in long.fired if timer_id in seen.timers)
    return "timers", frozenset((life.clock_id, life.label) for life in lives)


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
        FindingKind.BLOCKING,
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
        member = seen.members.lives.get(names) if who[0] == "member" else None
        if member is not None:
            return f"“{member.known.name}”", 0, member.known.clock_id
        return f"The calls in {worst.phase.text}", 0, 0
    blamed = [
        life
        for timer_id in worst.fired
        if (life := seen.timers.get(timer_id)) and (life.clock_id, life.label) in names
    ]
    labels = list(dict.fromkeys(map(seen.name, blamed)))
    if not labels:
        return "A timer", 0, 0
    name = labels[0] if len(labels) == 1 else f"One of {listed(labels)}"
    return name, blamed[-1].id, blamed[-1].clock_id
