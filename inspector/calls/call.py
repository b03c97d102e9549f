"""A scheduled call, whatever schedules it.

Timers of clocks are in ``timeline.timers``; updates, frame timers, ticker timers, loops,
timeouts and frame callbacks in ``timeline.members``. :class:`Call` covers both, so that
explanations, predictions, lint and lists are written once. A new source of calls gets its
adapter here.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct

from inspector.calls.blockers import Blocker, BlockerKind, clock_blockers, member_blockers
from inspector.calls.dues import DueTimes
from inspector.events.members import CLOCK_CALLS, MemberState
from inspector.events.timeline import Timeline
from inspector.vocabulary import NEVER, Field, MemberKind, TimerKind

#: Members that make calls.
SCHEDULERS: Final = frozenset(
    {
        MemberKind.SCHEDULER,
        MemberKind.COMPONENT_DIRECTOR,
        MemberKind.TICKER,
        MemberKind.CHILD_CLOCK,
        MemberKind.MACHINE,
    }
)
#: Members that are scheduled, and can be listed in the order of their calls.
SCHEDULED: Final = frozenset(
    {
        MemberKind.UPDATE,
        MemberKind.FRAME_TIMER,
        MemberKind.TICKER_TIMER,
        MemberKind.FRAME_CALLBACK,
        MemberKind.LOOP,
        MemberKind.TIMEOUT,
    }
)
#: Members that are called, scheduled or not. A phase only sums up its components.
CALLED: Final = SCHEDULED | {MemberKind.COMPONENT, MemberKind.HOOK}

#: Blockers that name a paused subject; the call waits for that subject to resume.
_PAUSES: Final = (BlockerKind.CLOCK_PAUSED, BlockerKind.PAUSED)
_PER_FRAME: Final = SCHEDULED - CLOCK_CALLS

#: Folders of a path of any system; ``\\udce9`` is an undecodable byte of a name.
_FOLDERS: Final = re.compile(r".*(?:/|\\(?!udc[89a-f][0-9a-f]))", re.DOTALL)

CallKind: TypeAlias = TimerKind | MemberKind


class CallId(NamedTuple):
    number: int  # Number of the timer or member; the two are numbered separately
    is_member: bool = False  # Whether the number is from timeline.members, not timeline.timers

    @property
    def key(self) -> int:
        """The identity as one number, below 0 for members; 0 is no call."""
        return -self.number if self.is_member else self.number

    @classmethod
    def of_key(cls, key: int) -> CallId:
        return cls(abs(key), is_member=key < 0)


class Call(Struct, frozen=True):
    id: CallId
    name: str
    # Its kind: a MemberKind if id.is_member; the numbers of the two enumerations overlap.
    kind: CallKind
    clock_id: int  # The clock it depends on
    # The scheduler, ticker, component director, child clock or machine that calls it; 0 for the
    # clock itself.
    scheduler_id: int
    owner_id: int  # The target that it was scheduled for, 0 for none
    # When it is due, in the time of its scheduler or clock; None when it waits for no instant, or
    # while it, its target or its scheduler is paused.
    due_ns: int | None
    left_ns: int | None  # Time left until then; while paused, what was left when the pause began
    # Session instant at which it is due at present rates; None for never and when it waits for no
    # instant.
    session_due_ns: int | None
    interval_ns: int  # From one due instant to the next; 0 for once or in every frame
    calls: int  # How often it was called
    calls_left: int | None  # How many calls are left, -1 for no end, None if unknown
    missed: int | None  # How many calls were skipped, None if unknown
    last_lateness_ns: int | None  # Lateness of its last call; None if unknown
    took_ns: int | None  # Measured duration of its last call; None if unknown
    call_site: str  # Where it was scheduled; empty if unknown
    priority: int | None  # Order among updates, lowest first; None without priorities
    order: int  # Settles ties: the call scheduled, or given its priority, first
    blockers: tuple[Blocker, ...]  # What blocks it besides its due instant, nearest first

    @property
    def title(self) -> str:
        kind = self.kind.text if self.id.is_member else "timer"
        return f"{kind[:1].upper()}{kind[1:]} “{self.name}” ({self.id.number})"

    @property
    def waits_on_clock(self) -> bool:
        """Whether it waits in the local time of its clock, not in that of a scheduler."""
        return not self.id.is_member or self.kind in CLOCK_CALLS

    @property
    def waits_for(self) -> str:
        """What blocks it, in a few words; empty if nothing does."""
        if not self.blockers:
            return ""
        first = self.blockers[0]
        is_pause = first.kind in _PAUSES and not (first.member_id and first.is_own)
        return first.name if is_pause else first.text

    @property
    def is_per_frame(self) -> bool:
        # Checked first, because the numbers of timer kinds and member kinds overlap.
        is_of_frames = self.id.is_member and self.kind in _PER_FRAME
        return is_of_frames and self.left_ns is None and not self.interval_ns


def call_of(timeline: Timeline, call_id: CallId) -> Call | None:
    """Return the present state of a call, ``None`` if it is not scheduled or its clock is missing.

    A target, scheduler or component counts as a call whose blockers stop everything below it. Calls
    are worked out on request, so that a table that shows 30 of 1,000,000 timers pays for 30.
    """
    clock_id = clock_of(timeline, call_id)
    if clock_id and clock_id not in timeline.clocks:
        return None
    if not call_id.is_member:
        return _timer_call(timeline, call_id) if call_id.number in timeline.timers else None
    member = timeline.members.by_id.get(call_id.number)
    return None if member is None else _member_call(timeline, member, call_id)


def short_site(call_site: str) -> str:
    """Return a call site without folders: ``scene.py:12 in build``."""
    path, separator, rest = call_site.partition(" in ")
    return _FOLDERS.sub("", path) + separator + rest


def function_at(call_site: str) -> str:
    """Return the function and the line of a call site, ``build:12``; of a module, its file's."""
    place, _, function = short_site(call_site).partition(" in ")
    if not function or function.startswith("<"):
        return place
    return f"{function}:{place.rpartition(':')[2]}"


def clock_of(timeline: Timeline, call_id: CallId) -> int:
    """Return the number of the clock that a call depends on; 0 for none or an unknown call."""
    if call_id.is_member:
        member = timeline.members.by_id.get(call_id.number)
        return 0 if member is None else member.clock_id
    timers = timeline.timers
    return timers.clock[timers.index(call_id.number)] if call_id.number in timers else 0


def _timer_call(timeline: Timeline, call_id: CallId) -> Call:
    timer = timeline.timers.row(call_id.number)
    return Call(
        id=call_id,
        name=timer.label,
        kind=timer.kind,
        clock_id=timer.clock_id,
        scheduler_id=0,
        owner_id=0,
        due_ns=timer.due_ns,
        left_ns=timer.due_ns - timeline.local_ns(timer.clock_id),
        session_due_ns=timeline.session_due_ns(call_id.number),
        interval_ns=timer.interval_ns,
        calls=timer.fired,
        calls_left=-1 if timer.interval_ns else 1,
        missed=None,
        last_lateness_ns=timer.last_lateness_ns if timer.fired else None,
        took_ns=None,
        call_site=timer.call_site,
        priority=None,
        order=timer.order,
        blockers=clock_blockers(timeline, timer.clock_id),
    )


def _member_call(timeline: Timeline, member: MemberState, call_id: CallId) -> Call:
    members, fields, dues = timeline.members, member.fields, DueTimes(timeline)
    above = members.path(member.id)[1:]
    scheduler = next((each for each in above if each.kind in SCHEDULERS), None)
    owner = above[0] if above and above[0].kind is MemberKind.TARGET else None
    session_due_ns = dues.session_due_ns(member)
    due_ns = fields.get(Field.DUE, NEVER)
    is_due = due_ns != NEVER and members.pausing(member.id) is None
    return Call(
        id=call_id,
        name=member.name,
        kind=member.kind,
        clock_id=member.clock_id,
        scheduler_id=0 if scheduler is None else scheduler.id,
        owner_id=0 if owner is None else owner.id,
        due_ns=due_ns if is_due else None,
        left_ns=dues.left_ns(member),
        session_due_ns=None if session_due_ns == NEVER else session_due_ns,
        interval_ns=fields.get(Field.INTERVAL, 0),
        calls=member.calls,
        calls_left=fields.get(Field.CALLS_LEFT),
        missed=fields.get(Field.MISSED, 0),
        last_lateness_ns=None,
        took_ns=member.took_ns if member.calls else None,
        call_site="",
        priority=fields.get(Field.PRIORITY),
        order=member.turn,
        blockers=member_blockers(timeline, member),
    )
