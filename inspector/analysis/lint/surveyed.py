"""The survey that rules search: every call of a session, and frames with many calls."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import median
from typing import ClassVar, Final, TypeAlias

from msgspec import Struct

from inspector.analysis.evidence import text_of
from inspector.analysis.lateness.samples import Samples
from inspector.analysis.lint.long_frames import LongFrames
from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.calls.call import CallId
from inspector.events.history import History
from inspector.events.member_names import KnownMember
from inspector.events.members import WITH_TIME
from inspector.events.states import SeenClocks
from inspector.events.timeline import Timeline
from inspector.vocabulary import RATE_DENOMINATOR, MemberKind, TimerKind

#: At least this many timers in one frame are a crowd.
CROWD: Final = 30
#: The most frames to remember for a timer, for its pattern.
MOST_FRAMES: Final = 64

#: What makes a call: whether it is a scheduler or ticker, and its number or that of the clock.
Caller: TypeAlias = tuple[bool, int]


@dataclass(slots=True)
class SurveyedCall:
    is_member: ClassVar = False

    number: int
    clock_id: int
    added_ns: int  # When it was scheduled; -1 if before the survey
    cursor: int  # Cursor of the event that scheduled it
    interval_ns: int = 0  # From one due instant to the next; 0 for once or every frame
    calls: int = 0
    missed: int = 0
    missed_at: tuple[int, int] = (0, 0)  # Cursor and instant at which calls were last skipped
    ended: bool = False  # Whether it was cleared, removed or used up
    last_ns: int = 0
    last_cursor: int = 0
    frames: list[int] = field(default_factory=list)  # The frames of its first calls

    @property
    def id(self) -> CallId:
        return CallId(self.number, self.is_member)

    @property
    def caller(self) -> Caller:
        return False, self.clock_id


@dataclass(slots=True)
class SurveyedTimer(SurveyedCall):
    label: int = 0
    site: int = 0
    kind: int = TimerKind.TIMEOUT
    due_ns: int = 0  # When it is due, in local time
    delay_ns: int = 0  # Local time from setting it to its first due instant
    shift_ns: int = 0  # How far its ticks have shifted off their grid, in local time
    is_counted: bool = False  # Whether its group counts it, which begins when it is first armed


@dataclass(slots=True)
class SurveyedMember(SurveyedCall):
    is_member: ClassVar = True

    known: KnownMember = field(kw_only=True)  # Its name, kind and parent, as of the last event
    scheduler_id: int = 0
    calls_left: int = -1  # How many calls are left; -1 for no end
    rate: int = RATE_DENOMINATOR  # Time scale of a scheduler, over the denominator of rates
    owner_id: int = 0  # The node or component behind a target, 0 for none
    # Cursor and instant of its removal; None if not in the log.
    ended_at: tuple[int, int] | None = None
    # Mean times from call to call over RUN calls, in time of its scheduler.
    runs: list[float] = field(default_factory=list)
    run_began_ns: int = -1  # When the present run of calls began, in that time; -1 for none
    run_calls: int = 0  # How many calls the present run has

    @property
    def name(self) -> str:
        return self.known.name

    @property
    def kind(self) -> MemberKind | None:
        return self.known.kind

    @property
    def caller(self) -> Caller:
        return True, self.scheduler_id

    @property
    def median_gap_ns(self) -> float:
        """Median time from call to call, in the time of its scheduler; 0 if unknown."""
        return median(self.runs) if self.runs else 0.0

    def end_run(self) -> None:
        """Restart the measurement of the pace with the next call."""
        self.run_began_ns, self.run_calls = -1, 0


@dataclass(slots=True)
class TimerGroup:
    """Timers with the same name, caller and, if known, call site."""

    first: SurveyedTimer | SurveyedMember
    added: int = 0  # How many were scheduled
    cleared: int = 0
    pending: int = 0
    # How many were pending after each quarter of the session.
    marks: list[int] = field(default_factory=list)


class SurveyedFailures(Struct):
    timer_id: int  # The timer that failed first, 0 if that was not a timer of a clock
    at_ns: int  # Session instant of the first failure
    cursor: int
    raised: int  # Its traceback (sid)
    count: int = 0


class Chain(Struct):
    """One-shots of one name and call site, each set after the previous one fired."""

    last: SurveyedTimer
    delay_ns: int
    steps: int = 0  # How many followed another
    slip_ns: int = 0  # Local time lost between them, in all


class Load(Struct, frozen=True):
    """Many calls in one frame: a crowd of timers, or a storm of calls of one timer or name."""

    frame: int
    at_ns: int
    cursor: int  # The cursor of the evidence
    numbers: tuple[int, ...]  # The calls: all of a crowd, the last one of a storm
    count: int  # How many timers a crowd has, or how often a storm was called
    own: int = 0  # How often the last of them was called


class LateFiring(Struct, frozen=True):
    clock_id: int
    related: tuple[int, ...]  # That clock with those above and below it
    due_ns: int
    called_ns: int
    cursor: int


class Survey:
    def __init__(self, history: History, timeline: Timeline, budget: FrameBudget) -> None:
        self.history = history
        self.timeline = timeline
        self.clocks = SeenClocks(history.strings, timeline.clocks.values())
        self.timers: dict[int, SurveyedTimer] = {}  # Every timer of a clock, by number
        # Every scheduler, target, frame timer …, by number
        self.members: dict[int, SurveyedMember] = {}
        self.groups: dict[tuple[Caller, str | int, int], TimerGroup] = {}
        # What callbacks raised, by their name (sid)
        self.failures: dict[int, SurveyedFailures] = {}
        # One-shots of clocks by clock, name and call site
        self.chains: dict[tuple[int, int, int], Chain] = {}
        # By caller: the frame in which the most of its timers were called
        self.crowds: dict[Caller, Load] = {}
        # By caller and name, or the call itself: the frame with the most calls
        self.storms: dict[tuple[Caller, int], Load] = {}
        self.frame_ns = 0  # Median session time from frame to frame; 0 without frames
        self.is_steady = False  # Whether nearly all frames were that long
        self.frame_starts: list[int] = []  # Session instants at which frames began
        self.frame_numbers = array("q")  # Their indexes
        self.long_frames = LongFrames(budget)  # The frames over budget
        self.samples = Samples(history.strings)  # Samples of loops in long turns
        self.late: list[LateFiring] = []  # The calls of timers that were late
        self._rates: dict[int, Fraction] = {}

    def note_load(  # noqa: C901, PLR0913, PLR0917 - the frame and its evidence
        self,
        calls: dict[int, int],
        known: Mapping[int, SurveyedTimer] | Mapping[int, SurveyedMember],
        frame: int,
        at_ns: int,
        cursor: int,
        since_ns: int,
    ) -> None:
        """Note how often each call was made in a frame, for storms and crowds.

        One-shots set after ``since_ns`` may form a storm together.
        """
        storms: dict[tuple[Caller, int], tuple[int, int]] = {}
        for number, count in calls.items():
            call = known[number]
            if len(call.frames) < MOST_FRAMES:
                call.frames.append(frame)
            if count > 1 or call.added_ns > since_ns:
                key = call.caller, call.label if isinstance(call, SurveyedTimer) else number
                storms[key] = storms.get(key, (0, 0))[0] + count, number
        for key, (count, number) in storms.items():
            storm = self.storms.get(key)
            if storm is None or count > storm.count:
                self.storms[key] = Load(frame, at_ns, cursor, (number,), count, calls[number])
        if len(calls) < CROWD:
            return
        crowds: dict[Caller, list[int]] = {}
        for number in calls:
            call = known[number]
            if call.added_ns <= since_ns:
                crowds.setdefault(call.caller, []).append(number)
        for caller, numbers in crowds.items():
            crowd, count = self.crowds.get(caller), len(numbers)
            if count >= CROWD and (crowd is None or count > crowd.count):
                self.crowds[caller] = Load(frame, at_ns, cursor, tuple(sorted(numbers)), count)

    def rate(self, clock_id: int) -> Fraction:
        """Return the effective rate of a clock at the end; 0 if it is stopped or removed."""
        rate = self._rates.get(clock_id)
        if rate is None:
            is_there = clock_id in self.timeline.clocks
            rate = self.timeline.effective_rate(clock_id) if is_there else Fraction(0)
            self._rates[clock_id] = rate
        return rate

    def period_ns(self, call: SurveyedTimer | SurveyedMember) -> Fraction:
        """Return an interval in session time at present rates; 0 if unknown."""
        rate = self.rate(call.clock_id)
        if isinstance(call, SurveyedMember) and call.scheduler_id in self.members:
            rate *= Fraction(self.members[call.scheduler_id].rate, RATE_DENOMINATOR)
        return call.interval_ns / rate if rate and self.frame_ns else Fraction(0)

    def text(self, sid: int) -> str:
        return text_of(self.history, sid)

    def name(self, call: SurveyedTimer | SurveyedMember) -> str:
        return f"“{self.text(call.label) if isinstance(call, SurveyedTimer) else call.name}”"

    def title(self, call: SurveyedTimer | SurveyedMember) -> str:
        """Return the name of a call, with its scheduler or ticker if it has one."""
        is_timer = isinstance(call, SurveyedTimer)
        return self.name(call) if is_timer else f"{self.name(call)} of {self.caller_name(call)}"

    def caller_name(self, call: SurveyedTimer | SurveyedMember) -> str:
        if isinstance(call, SurveyedTimer):
            return self.clock_name(call.clock_id)
        scheduler = self.members.get(call.scheduler_id or self.scheduler_of(call))
        if scheduler is None:
            return "its scheduler"
        kind = "ticker" if scheduler.kind is MemberKind.TICKER else "scheduler"
        name = f"“{scheduler.name}”"
        return name if kind in scheduler.name.lower() else f"{kind} {name}"

    def scheduler_of(self, call: SurveyedMember) -> int:
        above = self.members.get(call.known.parent_id)
        # In a damaged recording that reuses a number, parents may form a cycle.
        passed = set()
        while above is not None and above.number not in passed:
            if above.kind in WITH_TIME:
                return above.number
            passed.add(above.number)
            above = self.members.get(above.known.parent_id)
        return 0

    def clock_name(self, clock_id: int) -> str:
        clock = self.timeline.clocks.get(clock_id)
        return f"clock {clock_id}" if clock is None else f"“{clock.name}”"

    def frame_of(self, at_ns: int) -> int | None:
        """Return the frame of an instant, ``None`` when no frame followed it."""
        place = bisect_left(self.frame_starts, at_ns)
        return self.frame_numbers[place] if place < len(self.frame_starts) else None
