"""One pass over what happens to frame timers and ticker timers: what the rules about them need."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Final

from inspector.events.member_names import MemberNames
from inspector.vocabulary import (
    CALL_ENDED,
    FRAME_BEGAN,
    FRAME_ENDED,
    MEMBER_ADDED,
    MEMBER_MOVED,
    MEMBER_ORIGIN,
    MEMBER_REMOVED,
    MEMBER_SET,
    RATE_DENOMINATOR,
    Field,
    MemberKind,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.events.member_names import KnownMember
    from inspector.events.members import MemberState
    from inspector.events.timeline import Timeline
    from inspector.vocabulary import RawEvent

#: Members that are called by an interval.
TIMERS: Final = frozenset({MemberKind.FRAME_TIMER, MemberKind.TICKER_TIMER})
#: Fields that are just remembered, and as what.
_KEPT_FIELDS: Final = {Field.OWNER.value: "owner_id", Field.CALLS_LEFT.value: "calls_left"}
#: What the target of a scheduler has.
_CALLS: Final = frozenset({MemberKind.FRAME_TIMER, MemberKind.UPDATE})
#: What keeps the time of such timers.
KEEPERS: Final = frozenset({MemberKind.SCHEDULER, MemberKind.TICKER})
#: So many calls without a pause between them are one measurement of the pace.
RUN: Final = 8
#: So many measurements of each timer are kept.
_MOST_RUNS: Final = 64
#: So many frames of each timer are remembered, to see its pattern.
_MOST_FRAMES: Final = 64
#: So many different timers of one keeper in a frame are worth remembering.
_CROWD: Final = 30
#: Other fields come with every frame, or say nothing about the pace.
_PACE_FIELDS: Final = frozenset({Field.PAUSED, Field.RATE})


@dataclass(slots=True)
class MemberLife:
    """One member, as far as it was seen.

    Attributes:
        id: Its number.
        known: Its name, what it is and where it hangs, as of the last event.
        keeper_id: The scheduler or ticker in whose time it is called; 0 while not known.
        added_ns: When it came; -1 when that was not seen.
        cursor: Where that is in the log.
        interval_ns: Between two calls, in the time of its keeper; 0 for every frame.
        calls_left: How many calls are left; -1 for no end.
        rate: Time scale of a scheduler, over the denominator of rates.
        calls: How often it was called.
        missed: How many calls were left out.
        missed_at: Where that was seen the last time: cursor and instant.
        owner_id: The node or component that a target is, 0 for none.
        ended: Whether it is gone.
        ended_at: Where it was removed: cursor and instant; ``None`` when that was not seen.
        last_ns: Session instant of its last call.
        last_cursor: Where that is.
        frames: The frames in which it was called; of the first calls.
        runs: Mean time from call to call over :data:`RUN` calls each, in time of its keeper.
        most: The most calls in one frame, with the frame, its instant and the event.
    """

    id: int
    known: KnownMember
    added_ns: int
    cursor: int
    keeper_id: int = 0
    interval_ns: int = 0
    calls_left: int = -1
    rate: int = RATE_DENOMINATOR
    calls: int = 0
    missed: int = 0
    missed_at: tuple[int, int] = (0, 0)
    owner_id: int = 0
    ended: bool = False
    ended_at: tuple[int, int] | None = None
    last_ns: int = 0
    last_cursor: int = 0
    frames: list[int] = field(default_factory=list)
    runs: list[float] = field(default_factory=list)
    most: tuple[int, int, int, int] = (0, 0, 0, 0)
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
    def clock_id(self) -> int:
        """The clock it lives by."""
        return self.known.clock_id

    @property
    def pace_ns(self) -> float:
        """Time from call to call in the time of its keeper, usually; 0 when not known."""
        return median(self.runs) if self.runs else 0.0


@dataclass(slots=True)
class MemberPlace:
    """All timers of one name that one scheduler or ticker was given.

    Attributes:
        first: The first of them that was seen.
        added: How many came.
        gone: How many of them went.
        marks: How many were there after each quarter of the session.
    """

    first: MemberLife
    added: int = 0
    gone: int = 0
    marks: list[int] = field(default_factory=list)

    @property
    def there(self) -> int:
        """How many are there."""
        return self.added - self.gone


@dataclass(frozen=True, slots=True)
class MemberCrowd:
    """The frame in which most timers of a scheduler or ticker were called.

    Attributes:
        frame: Its index.
        at_ns: Session instant of the last of these calls.
        cursor: Where that call is in the log.
        members: The timers.
    """

    frame: int
    at_ns: int
    cursor: int
    members: tuple[int, ...]


class MemberSurvey:
    """What was seen of members.

    Attributes:
        lives: Every member that was seen, by number.
        places: Timers by keeper and name.
        crowds: By keeper: the frame with most of its timers.
        timer_calls: By keeper: how often its timers were called in all.
        frames: How many frames were seen.
    """

    def __init__(self, strings: Sequence[str], before: Timeline, clocks: Timeline) -> None:
        """Begin with what was there.

        Args:
            strings: The string table of the events.
            before: The state before the first event.
            clocks: The clocks as of the event that is taken; kept by somebody else.
        """
        self.lives: dict[int, MemberLife] = {}
        self.places: dict[tuple[int, str], MemberPlace] = {}
        self.crowds: dict[int, MemberCrowd] = {}
        self.timer_calls: dict[int, int] = {}
        self.frames = 0
        self._clocks = clocks
        self._frame = 0
        self._in_frame: dict[int, int] = {}
        self._last_call = (0, 0)
        self._names = MemberNames(strings)
        self._of_clock: dict[int, list[int]] = {}
        for member in before.members.by_id.values():
            self._take_known(member)

    def take(self, cursor: int, event: RawEvent) -> None:
        """Take one event about members or frames."""
        at_ns, kind, subject, a, _ = event
        if kind == CALL_ENDED:
            self._called(cursor, at_ns, subject)
        elif kind == MEMBER_SET:
            self._set(cursor, event)
        elif kind == FRAME_BEGAN:
            self._frame = a
        elif kind == FRAME_ENDED:
            self._end_frame()
        elif kind == MEMBER_ADDED:
            self._add(cursor, event)
        elif kind == MEMBER_ORIGIN:
            if self._names.note(event) is not None and subject in self.lives:
                self._origin(self.lives[subject])
        elif kind == MEMBER_MOVED:
            self._names.note(event)
        elif kind == MEMBER_REMOVED:
            self._remove(subject, (cursor, at_ns))

    def clock_removed(self) -> None:
        """Take it that clocks are gone, and what lived by them."""
        for clock_id in [each for each in self._of_clock if each not in self._clocks.clocks]:
            for number in self._of_clock.pop(clock_id):
                self._remove(number)

    def orphans(self) -> dict[int, list[MemberLife]]:
        """Return the calls that still wait, by the node or component that is gone."""
        found: dict[int, list[MemberLife]] = {}
        for life in self.lives.values():
            target = self.lives.get(life.known.parent_id)
            if life.ended or life.kind not in _CALLS or target is None or not target.owner_id:
                continue
            owner = self.lives.get(target.owner_id)
            if owner is not None and owner.ended_at is not None:
                life.keeper_id = life.keeper_id or self._keeper_of(life)
                found.setdefault(owner.id, []).append(life)
        return found

    def mark(self) -> None:
        """Note how many timers there are now."""
        for place in self.places.values():
            place.marks.append(place.there)

    # -------------------------------------------------------------- structure

    def _take_known(self, member: MemberState) -> None:
        life = MemberLife(member.id, self._names.learn(member), -1, 0)
        life.interval_ns = member.fields.get(Field.INTERVAL, 0)
        life.calls_left = member.fields.get(Field.CALLS_LEFT, -1)
        life.rate = member.fields.get(Field.RATE, RATE_DENOMINATOR)
        life.calls = member.calls
        life.owner_id = member.fields.get(Field.OWNER, 0)
        self.lives[life.id] = life
        self._origin(life)

    def _add(self, cursor: int, event: RawEvent) -> None:
        known = self._names.note(event)
        if known is not None:
            self.lives[event[2]] = MemberLife(event[2], known, event[0], cursor)

    def _origin(self, life: MemberLife) -> None:
        self._of_clock.setdefault(life.clock_id, []).append(life.id)
        if life.kind in TIMERS:
            life.keeper_id = self._keeper_of(life)
            self._place(life).added += 1

    def _place(self, life: MemberLife) -> MemberPlace:
        """Return where all of its name are counted."""
        return self.places.setdefault((life.keeper_id, life.name), MemberPlace(life))

    def _rename(self, life: MemberLife, event: RawEvent) -> None:
        """Count a timer among those of its new name."""
        is_counted = life.kind in TIMERS and not life.ended
        if is_counted:
            self._place(life).added -= 1
        self._names.note(event)
        if is_counted:
            self._place(life).added += 1

    def _keeper_of(self, life: MemberLife) -> int:
        above: MemberLife | None = life
        # Lives of a damaged recording, where a number comes back, may lead in a circle.
        passed = set()
        while above is not None and above.id not in passed:
            if above.kind in KEEPERS and above is not life:
                return above.id
            passed.add(above.id)
            above = self.lives.get(above.known.parent_id)
        return 0

    def _remove(self, subject: int, where: tuple[int, int] | None = None) -> None:
        for life in self._branch(subject):
            life.ended_at = where
            if life.ended:
                continue
            life.ended = True
            place = self.places.get((life.keeper_id, life.name))
            if life.kind in TIMERS and place is not None:
                place.gone += 1
        # What comes to its parent from now on is nothing to it.
        self._names.take_out(subject)

    def _branch(self, subject: int) -> list[MemberLife]:
        lives = (self.lives.get(number) for number in self._names.branch(subject))
        return [life for life in lives if life is not None]

    # ------------------------------------------------------------------ calls

    def _set(self, cursor: int, event: RawEvent) -> None:  # noqa: C901 - one case per field
        at_ns, _, subject, name, value = event
        life = self.lives.get(subject)
        if life is None:
            return
        if name == Field.NAME:
            self._rename(life, event)
        elif name in _PACE_FIELDS:
            if name == Field.RATE:
                life.rate = value
            for below in self._branch(subject):
                below.run_began_ns, below.run_calls = -1, 0
        elif name == Field.INTERVAL:
            if value != life.interval_ns:
                life.run_began_ns, life.run_calls = -1, 0
                life.runs.clear()
                life.frames.clear()
            life.interval_ns = value
        elif name in _KEPT_FIELDS:
            setattr(life, _KEPT_FIELDS[name], value)
        elif name == Field.MISSED:
            if value > life.missed:
                life.missed_at = cursor, at_ns
            life.missed = value

    def _called(self, cursor: int, at_ns: int, subject: int) -> None:
        life = self.lives.get(subject)
        if life is None or life.kind not in TIMERS:
            return
        life.calls += 1
        life.last_ns, life.last_cursor = at_ns, cursor
        self._last_call = cursor, at_ns
        self._in_frame[subject] = self._in_frame.get(subject, 0) + 1
        if not life.interval_ns:
            return
        if life.run_began_ns >= 0:
            life.run_calls += 1
            if life.run_calls < RUN:
                return
            local_ns = self._local_ns(life, at_ns)
            if len(life.runs) < _MOST_RUNS:
                life.runs.append((local_ns - life.run_began_ns) / RUN)
            life.run_began_ns, life.run_calls = local_ns, 0
        else:
            life.run_began_ns, life.run_calls = self._local_ns(life, at_ns), 0

    def _local_ns(self, life: MemberLife, at_ns: int) -> int:
        """Return an instant in the time of a timer's keeper, but for a constant."""
        keeper = self.lives.get(life.keeper_id)
        rate = RATE_DENOMINATOR if keeper is None else keeper.rate
        if life.clock_id not in self._clocks.clocks:
            return at_ns
        return self._clocks.local_ns(life.clock_id, at_ns) * rate // RATE_DENOMINATOR

    def _end_frame(self) -> None:
        self.frames += 1
        if not self._in_frame:
            return
        calls, self._in_frame = self._in_frame, {}
        cursor, at_ns = self._last_call
        by_keeper: dict[int, list[int]] = {}
        for number, count in calls.items():
            life = self.lives[number]
            if count > life.most[0]:
                life.most = count, self._frame, at_ns, cursor
            if len(life.frames) < _MOST_FRAMES:
                life.frames.append(self._frame)
            keeper_id = life.keeper_id
            self.timer_calls[keeper_id] = self.timer_calls.get(keeper_id, 0) + count
            by_keeper.setdefault(keeper_id, []).append(number)
        for keeper_id, numbers in by_keeper.items():
            worst = self.crowds.get(keeper_id)
            if len(numbers) >= _CROWD and (worst is None or len(numbers) > len(worst.members)):
                members = tuple(sorted(numbers))
                self.crowds[keeper_id] = MemberCrowd(self._frame, at_ns, cursor, members)
