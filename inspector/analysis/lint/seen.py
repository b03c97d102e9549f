"""What the rules look at: every call as far as it was seen, and what stands out in frames."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import median
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias

from inspector.analysis.evidence import text_of
from inspector.analysis.lint.long_frames import LongFrames
from inspector.calls.call import CallId
from inspector.vocabulary import RATE_DENOMINATOR, MemberKind, TimerKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from inspector.analysis.statistics.frame_budget import FrameBudget
    from inspector.events.history import History
    from inspector.events.member_names import KnownMember
    from inspector.events.timeline import Timeline

#: So many different timers in one frame are worth remembering.
CROWD: Final = 30
#: So many frames of each timer are remembered, to see its pattern.
MOST_FRAMES: Final = 64
#: In whose time frame timers are called.
_SCHEDULERS: Final = frozenset({MemberKind.SCHEDULER, MemberKind.TICKER})

#: What makes calls: whether it is a scheduler or ticker, and its number or that of the clock.
Caller: TypeAlias = tuple[bool, int]


@dataclass(slots=True)
class SeenCall:
    """Something that is called, as far as it was seen.

    Attributes:
        number: Its number.
        clock_id: Its clock.
        added_ns: When it was scheduled; -1 when that was not seen.
        cursor: Where that is in the log.
        interval_ns: From one due instant to the next; 0 for once or every frame.
        calls: How often it was called.
        missed: How many calls were skipped.
        missed_at: Where that was seen the last time: cursor and instant.
        ended: Whether it is gone.
        last_ns: Session instant of its last call.
        last_cursor: Where that is.
        frames: The frames in which it was called; of the first calls.
    """

    is_member: ClassVar = False

    number: int
    clock_id: int
    added_ns: int
    cursor: int
    interval_ns: int = 0
    calls: int = 0
    missed: int = 0
    missed_at: tuple[int, int] = (0, 0)
    ended: bool = False
    last_ns: int = 0
    last_cursor: int = 0
    frames: list[int] = field(default_factory=list)

    @property
    def id(self) -> CallId:
        """Which call it is."""
        return CallId(self.number, self.is_member)

    @property
    def caller(self) -> Caller:
        """What calls it."""
        return False, self.clock_id


@dataclass(slots=True)
class SeenTimer(SeenCall):
    """A timer of a clock.

    Attributes:
        label: What it is called (sid).
        site: Where it was set (sid).
        kind: What kind it is.
        due_ns: When it is due, in local time.
        delay_ns: Local time from setting it to its first due instant.
        shift_ns: By how much its ticks were moved off their grid, in local time.
    """

    label: int = 0
    site: int = 0
    kind: int = TimerKind.TIMEOUT
    due_ns: int = 0
    delay_ns: int = 0
    shift_ns: int = 0


@dataclass(slots=True)
class SeenMember(SeenCall):
    """A frame timer or ticker timer, or what such timers hang under.

    Attributes:
        known: Its name, what it is and where it hangs, as of the last event.
        scheduler_id: The scheduler or ticker in whose time it is called; 0 while not known.
        calls_left: How many calls are left; -1 for no end.
        rate: Time scale of a scheduler, over the denominator of rates.
        owner_id: The node or component that a target is, 0 for none.
        ended_at: Where it was removed: cursor and instant; ``None`` when that was not seen.
        runs: Mean time from call to call over a few calls each, in time of its scheduler.
        run_began_ns: When the present run of calls began, in that time; -1 for none.
        run_calls: How many calls the present run has.
    """

    is_member: ClassVar = True

    known: KnownMember = field(kw_only=True)
    scheduler_id: int = 0
    calls_left: int = -1
    rate: int = RATE_DENOMINATOR
    owner_id: int = 0
    ended_at: tuple[int, int] | None = None
    runs: list[float] = field(default_factory=list)
    run_began_ns: int = -1
    run_calls: int = 0

    @property
    def name(self) -> str:
        """What it is called."""
        return self.known.name

    @property
    def kind(self) -> MemberKind | None:
        """What it is; ``None`` when that is not known."""
        return self.known.kind

    @property
    def caller(self) -> Caller:
        """What calls it."""
        return True, self.scheduler_id

    @property
    def pace_ns(self) -> float:
        """Time from call to call in the time of its scheduler, usually; 0 when not known."""
        return median(self.runs) if self.runs else 0.0

    def end_run(self) -> None:
        """Begin the measurement of the pace again with the next call."""
        self.run_began_ns, self.run_calls = -1, 0


@dataclass(slots=True)
class Place:
    """All timers that have one name, one caller and, where that is known, one call site.

    Attributes:
        first: The first of them that was seen.
        added: How many were scheduled.
        cleared: How many of them were cleared or unscheduled.
        pending: How many of them wait.
        marks: How many waited after each quarter of the session.
    """

    first: SeenTimer | SeenMember
    added: int = 0
    cleared: int = 0
    pending: int = 0
    marks: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Chain:
    """One-shots of one name and place that follow one another, each set after the last.

    Attributes:
        last: The newest of them.
        delay_ns: What each of them was set to, in local time.
        steps: How often one followed another.
        slip_ns: Local time that was lost between them, in all.
    """

    last: SeenTimer
    delay_ns: int
    steps: int = 0
    slip_ns: int = 0


@dataclass(frozen=True, slots=True)
class Load:
    """What was called in one frame, and stands out.

    Attributes:
        frame: Index of the frame.
        at_ns: Session instant at which that is seen.
        cursor: Where that is in the log.
        numbers: What was called: all calls of a crowd, the last one of a storm.
        count: How many different calls that were, or how many calls of one name.
        own: How often the last of them was called.
    """

    frame: int
    at_ns: int
    cursor: int
    numbers: tuple[int, ...]
    count: int
    own: int = 0


class Survey:
    """What was seen in a session.

    Attributes:
        history: Where.
        timeline: The state at the end.
        timers: Every timer of a clock that was seen, by number.
        members: Every scheduler, target, frame timer … that was seen, by number.
        places: Timers by caller, name and call site.
        chains: One-shots of clocks by clock, name and call site.
        crowds: By caller: the frame in which the most of its timers were called.
        storms: By caller and name, or the call itself: the frame with the most calls.
        frame_ns: Session nanoseconds from frame to frame, the median; 0 without frames.
        is_steady: Whether nearly all frames were that long.
        frame_starts: When the frames began that were seen.
        first_frame: Index of the first of them.
        long_frames: What was seen of frames over their budget.
    """

    def __init__(self, history: History, timeline: Timeline, budget: FrameBudget) -> None:
        """Begin with nothing seen."""
        self.history = history
        self.timeline = timeline
        self.timers: dict[int, SeenTimer] = {}
        self.members: dict[int, SeenMember] = {}
        self.places: dict[tuple[Caller, str | int, int], Place] = {}
        self.chains: dict[tuple[int, int, int], Chain] = {}
        self.crowds: dict[Caller, Load] = {}
        self.storms: dict[tuple[Caller, int], Load] = {}
        self.frame_ns = 0
        self.is_steady = False
        self.frame_starts: list[int] = []
        self.first_frame = 0
        self.long_frames = LongFrames(budget)
        self._rates: dict[int, Fraction] = {}

    def note_load(  # noqa: C901, PLR0913, PLR0917 - where it was seen
        self,
        calls: dict[int, int],
        seen: Mapping[int, SeenTimer] | Mapping[int, SeenMember],
        frame: int,
        at_ns: int,
        cursor: int,
        since_ns: int,
    ) -> None:
        """Take how often each call was made for one frame, and where that is seen.

        One-shots that were set later than ``since_ns`` may make a storm together.
        """
        storms: dict[tuple[Caller, int], tuple[int, int]] = {}
        for number, count in calls.items():
            call = seen[number]
            if len(call.frames) < MOST_FRAMES:
                call.frames.append(frame)
            if count > 1 or call.added_ns > since_ns:
                key = call.caller, call.label if isinstance(call, SeenTimer) else number
                storms[key] = storms.get(key, (0, 0))[0] + count, number
        for key, (count, number) in storms.items():
            storm = self.storms.get(key)
            if storm is None or count > storm.count:
                self.storms[key] = Load(frame, at_ns, cursor, (number,), count, calls[number])
        if len(calls) < CROWD:
            return
        crowds: dict[Caller, list[int]] = {}
        for number in calls:
            call = seen[number]
            if call.added_ns <= since_ns:
                crowds.setdefault(call.caller, []).append(number)
        for caller, numbers in crowds.items():
            crowd, count = self.crowds.get(caller), len(numbers)
            if count >= CROWD and (crowd is None or count > crowd.count):
                self.crowds[caller] = Load(frame, at_ns, cursor, tuple(sorted(numbers)), count)

    def rate(self, clock_id: int) -> Fraction:
        """Return the effective rate of a clock at the end; 0 when it is stopped or gone."""
        rate = self._rates.get(clock_id)
        if rate is None:
            is_there = clock_id in self.timeline.clocks
            rate = self.timeline.effective_rate(clock_id) if is_there else Fraction(0)
            self._rates[clock_id] = rate
        return rate

    def period_ns(self, call: SeenTimer | SeenMember) -> Fraction:
        """Return an interval in session time at present rates; 0 when that says nothing."""
        rate = self.rate(call.clock_id)
        if isinstance(call, SeenMember) and call.scheduler_id in self.members:
            rate *= Fraction(self.members[call.scheduler_id].rate, RATE_DENOMINATOR)
        return call.interval_ns / rate if rate and self.frame_ns else Fraction(0)

    def text(self, sid: int) -> str:
        """Return a text of the string table."""
        return text_of(self.history, sid)

    def name(self, call: SeenTimer | SeenMember) -> str:
        """Return what a call is called, in quotes."""
        return f"“{self.text(call.label) if isinstance(call, SeenTimer) else call.name}”"

    def title(self, call: SeenTimer | SeenMember) -> str:
        """Return what a call is called, with the scheduler or ticker it belongs to."""
        is_timer = isinstance(call, SeenTimer)
        return self.name(call) if is_timer else f"{self.name(call)} of {self.caller_name(call)}"

    def caller_name(self, call: SeenTimer | SeenMember) -> str:
        """Return what calls something: a clock, a scheduler or a ticker."""
        if isinstance(call, SeenTimer):
            return self.clock_name(call.clock_id)
        scheduler = self.members.get(call.scheduler_id or self.scheduler_of(call))
        if scheduler is None:
            return "its scheduler"
        kind = "ticker" if scheduler.kind is MemberKind.TICKER else "scheduler"
        name = f"“{scheduler.name}”"
        return name if kind in scheduler.name.lower() else f"{kind} {name}"

    def scheduler_of(self, call: SeenMember) -> int:
        """Return the scheduler or ticker that something hangs under, 0 for none."""
        above = self.members.get(call.known.parent_id)
        # In a damaged recording, where a number comes back, the way up may lead in a circle.
        passed = set()
        while above is not None and above.number not in passed:
            if above.kind in _SCHEDULERS:
                return above.number
            passed.add(above.number)
            above = self.members.get(above.known.parent_id)
        return 0

    def clock_name(self, clock_id: int) -> str:
        """Return what a clock is called, in quotes; its number when it is gone."""
        clock = self.timeline.clocks.get(clock_id)
        return f"clock {clock_id}" if clock is None else f"“{clock.name}”"

    def frame_of(self, at_ns: int) -> int | None:
        """Return the frame to which an instant belongs, ``None`` when none came after it."""
        place = bisect_left(self.frame_starts, at_ns)
        return self.first_frame + place if place < len(self.frame_starts) else None
