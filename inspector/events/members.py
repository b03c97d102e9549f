"""The members of a session in the timeline: schedulers, components, state machines."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any, Final

from msgspec import Struct, field

from inspector.vocabulary import RATE_DENOMINATOR, Field, MemberKind

#: Members that can be paused; a component and a node have a flag of their own for it.
PAUSABLE: Final = frozenset(
    {
        MemberKind.TARGET,
        MemberKind.UPDATE,
        MemberKind.FRAME_TIMER,
        MemberKind.COMPONENT_DIRECTOR,
        MemberKind.COMPONENT,
        MemberKind.NODE,
        MemberKind.TICKER,
        MemberKind.CHILD_CLOCK,
    }
)
#: Members that wait in the time of their clock and are called between frames.
CLOCK_CALLS: Final = frozenset({MemberKind.LOOP, MemberKind.TIMEOUT})
#: Members that wait in the time of their scheduler or ticker, and are called within frames.
FRAME_TIMERS: Final = frozenset({MemberKind.FRAME_TIMER, MemberKind.TICKER_TIMER})
#: Members that wait for an instant.
TIMED_CALLS: Final = CLOCK_CALLS | FRAME_TIMERS
#: Members with a time of their own, in which frame timers wait.
WITH_TIME: Final = frozenset({MemberKind.SCHEDULER, MemberKind.TICKER})


#: Members that a frame callback of the same name runs in every frame.
_RUN: Final = frozenset({MemberKind.SCHEDULER, MemberKind.COMPONENT_DIRECTOR, MemberKind.TICKER})


class MemberState(Struct):
    id: int
    name: str
    parent_id: int
    added_ns: int  # Session time of its creation
    clock_id: int = 0
    kind: MemberKind = MemberKind.SCHEDULER
    children: list[int] = field(default_factory=list)
    fields: dict[int, int] = field(default_factory=dict)
    calls: int = 0
    took_ns: int = 0  # Measured duration of its last call
    paused_since_ns: int = 0
    turn: int = 0  # Decides among equal priorities: smaller was set earlier
    timed_ns: int = 0  # Session time at which its own time was last reported; 0 if it never was

    @property
    def is_paused(self) -> bool:
        return bool(self.fields.get(Field.PAUSED))

    @property
    def waits_for_clock(self) -> bool:
        """Whether it is not called while its clock stands still.

        Frame callbacks of the director are called even then, to draw what stands still.
        """
        is_callback = self.kind is MemberKind.FRAME_CALLBACK
        return not (is_callback and self.fields.get(Field.INTERVAL) == 0)

    @property
    def rate_n(self) -> int:
        """Its own time scale, a numerator over ``RATE_DENOMINATOR``."""
        return self.fields.get(Field.RATE, RATE_DENOMINATOR)

    @property
    def pause_cause(self) -> int:
        """Number of the command that paused it, 0 for the program."""
        return max(0, self.fields.get(Field.PAUSED, 0) - 1)

    def copy(self) -> MemberState:
        twin = MemberState(*self.values)
        twin.children, twin.fields = list(self.children), dict(self.fields)
        return twin

    @property
    def values(self) -> tuple[Any, ...]:
        return _values_of(self)


_values_of: Final = attrgetter(*MemberState.__struct_fields__)


class StateHistory:
    """The states of a machine so far, oldest first."""

    __slots__ = ("at_ns", "state", "transition")

    def __init__(self) -> None:
        self.at_ns = array("q")
        self.state = array("q")  # The state entered (sid)
        self.transition = array("q")  # The transition to it (sid); 0 for the first state

    def __len__(self) -> int:
        return len(self.at_ns)

    def append(self, at_ns: int, state: int, transition: int) -> None:
        self.at_ns.append(at_ns)
        self.state.append(state)
        self.transition.append(transition)

    def copy(self) -> StateHistory:
        return self.until(len(self))

    def until(self, length: int) -> StateHistory:
        twin = StateHistory()
        twin.at_ns, twin.state, twin.transition = (column[:length] for column in self.columns)
        return twin

    @property
    def columns(self) -> tuple[array[int], array[int], array[int]]:
        return self.at_ns, self.state, self.transition


class MemberTable:
    """All members of a session by number; part of the timeline."""

    __slots__ = (
        "_last_turn",
        "_strings",
        "by_id",
        "histories",
        "of_clock",
        "structure_version",
        "values_version",
    )

    def __init__(self, strings: Sequence[str]) -> None:
        self._strings = strings
        self._last_turn = 0
        # Every member, in the order in which they were added
        self.by_id: dict[int, MemberState] = {}
        self.of_clock: dict[int, list[int]] = {}  # By clock: the members directly under it
        self.histories: dict[int, StateHistory] = {}  # By machine: its states so far
        # Incremented when a member comes, goes, moves, is renamed or takes another priority
        self.structure_version = 0
        self.values_version = 0  # Incremented when a field changes or a call ends

    def copy(self, strings: Sequence[str]) -> MemberTable:
        twin = MemberTable(strings)
        twin.by_id = {number: member.copy() for number, member in self.by_id.items()}
        twin.of_clock = {clock_id: list(ids) for clock_id, ids in self.of_clock.items()}
        twin.histories = {number: history.copy() for number, history in self.histories.items()}
        twin._last_turn = self._last_turn
        twin.structure_version = self.structure_version
        twin.values_version = self.values_version
        return twin

    def __len__(self) -> int:
        return len(self.by_id)

    def path(self, number: int) -> list[MemberState]:
        found = []
        while number:
            member = self.by_id[number]
            found.append(member)
            number = member.parent_id
        return found

    def pausing(self, number: int) -> MemberState | None:
        """Return the member that pauses this one: itself or an ancestor, otherwise ``None``."""
        return next((member for member in self.path(number) if member.is_paused), None)

    def run_by(self, number: int) -> MemberState | None:
        """Return the scheduler, component director or ticker that a frame callback runs.

        They share a name and a clock, and are shown as one.
        """
        callback = self.by_id[number]
        if callback.kind is not MemberKind.FRAME_CALLBACK:
            return None
        return self.run(callback.clock_id).get(callback.name)

    def under_clock(self, clock_id: int) -> list[int]:
        """Return the members directly under a clock, without callbacks that run one of them."""
        run = self.run(clock_id)
        return [
            number
            for number in self.of_clock.get(clock_id, ())
            if self.by_id[number].kind is not MemberKind.FRAME_CALLBACK
            or self.by_id[number].name not in run
        ]

    def run(self, clock_id: int) -> dict[str, MemberState]:
        """Return, by name, the members that frame callbacks of a clock run."""
        beside = map(self.by_id.__getitem__, self.of_clock.get(clock_id, ()))
        return {each.name: each for each in beside if each.kind in _RUN}

    def scheduler_of(self, number: int) -> MemberState | None:
        """Return the scheduler or ticker in whose time a member is called."""
        return next((member for member in self.path(number) if member.kind in WITH_TIME), None)

    def branch(self, number: int) -> Iterator[MemberState]:
        """Yield a member and everything below it, depth first."""
        waiting = [number]
        while waiting:
            member = self.by_id[waiting.pop()]
            yield member
            waiting.extend(reversed(member.children))

    def updates_of(self, number: int) -> list[MemberState]:
        """Return the update callbacks below a scheduler in call order."""
        updates = [member for member in self.branch(number) if member.kind is MemberKind.UPDATE]
        return sorted(
            updates, key=lambda update: (update.fields.get(Field.PRIORITY, 0), update.turn)
        )

    def field_text(self, number: int, name: Field) -> str:
        member = self.by_id.get(number)
        return "" if member is None else self._strings[member.fields.get(name, 0)]

    def _on_member_added(self, at_ns: int, subject: int, a: int, b: int) -> None:
        if subject <= 0 or subject in self.by_id:
            raise ValueError(f"member {subject} cannot be added")
        above = self.by_id.get(a)
        if above is not None:
            above.children.append(subject)
        # A member that comes after its parent was removed hangs under the clock.
        parent_id = 0 if above is None else a
        self.by_id[subject] = MemberState(subject, self._strings[b], parent_id, at_ns)

    def _on_member_origin(self, _at_ns: int, subject: int, a: int, b: int) -> None:
        member = self.by_id[subject]
        member.kind = MemberKind(b)
        if not member.parent_id:
            self._leave_place(member)
            self.of_clock.setdefault(a, []).append(subject)
        member.clock_id = a
        self.structure_version += 1

    def _on_member_set(self, at_ns: int, subject: int, a: int, b: int) -> None:
        member = self.by_id.get(subject)
        if member is None:
            return
        if a == Field.PAUSED and b and not member.fields.get(a):
            member.paused_since_ns = at_ns
        if a == Field.PRIORITY:
            self._last_turn = member.turn = self._last_turn + 1
            self.structure_version += 1
        if a == Field.TIME:
            member.timed_ns = at_ns
        if a == Field.NAME:
            member.name = self._strings[b]
            self.structure_version += 1
        if a == Field.STATE:
            self.histories.setdefault(subject, StateHistory()).append(at_ns, b, 0)
        member.fields[a] = b
        self.values_version += 1

    def _on_call_ended(self, _at_ns: int, subject: int, _a: int, b: int) -> None:
        member = self.by_id.get(subject)
        if member is not None:
            member.calls += 1
            member.took_ns = b
            self.values_version += 1

    def _on_state_entered(self, at_ns: int, subject: int, a: int, b: int) -> None:
        member = self.by_id.get(subject)
        if member is not None:
            member.fields[Field.STATE] = a
            self.histories.setdefault(subject, StateHistory()).append(at_ns, a, b)
            self.values_version += 1

    def _on_member_moved(self, _at_ns: int, subject: int, a: int, _b: int) -> None:
        member, above = self.by_id.get(subject), self.by_id.get(a)
        if member is not None and above is not None:
            if any(each is member for each in self.path(a)):
                raise ValueError(f"member {subject} cannot be moved under member {a}")
            self._leave_place(member)
            member.parent_id = a
            above.children.append(subject)
            self.structure_version += 1

    def _leave_place(self, member: MemberState) -> None:
        above = self.by_id.get(member.parent_id)
        if above is not None:
            above.children.remove(member.id)
        elif member.id in self.of_clock.get(member.clock_id, ()):
            self.of_clock[member.clock_id].remove(member.id)

    def _on_member_removed(self, _at_ns: int, subject: int, _a: int, _b: int) -> None:
        member = self.by_id.get(subject)
        if member is None:
            return
        self._leave_place(member)
        self._forget([below.id for below in self.branch(subject)])

    def clocks_removed(self, clock_ids: set[int]) -> None:
        for clock_id in clock_ids & self.of_clock.keys():
            for number in self.of_clock.pop(clock_id):
                self._forget([below.id for below in self.branch(number)])

    def _forget(self, numbers: list[int]) -> None:
        for number in numbers:
            del self.by_id[number]
            self.histories.pop(number, None)
        self.structure_version += 1
