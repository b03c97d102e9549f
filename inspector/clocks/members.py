"""What lives by a clock and is neither clock nor timer: numbered, named, reported.

Schedulers, targets, components, tickers and state machines report here, so that each of
them can be seen without this package knowing what they are. Nothing is kept or reported
while nobody records: then every number is 0, and whoever holds it need not ask again.
"""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING

from inspector.vocabulary import (
    CALL_ENDED,
    MEMBER_ADDED,
    MEMBER_MOVED,
    MEMBER_ORIGIN,
    MEMBER_REMOVED,
    MEMBER_SET,
    STATE_ENTERED,
    TRANSITION_REFUSED,
    Field,
    MemberKind,
)

if TYPE_CHECKING:
    from collections.abc import MutableSet

    from inspector.clocks.clock import Clock
    from inspector.clocks.tree import ClockTree


class Members:
    """The members of one clock tree. Belongs to the thread that drives the tree.

    Members are held until somebody says that they are gone, so that what can be done to one
    does not hang on when memory is tidied up: a run can be repeated exactly.

    Attributes:
        frame_began_ns: Reading of ``perf_counter_ns`` when the present frame began;
            set by the director.
        cause: Number of the command that is being carried out, 0 for the program's doing.
    """

    __slots__ = (
        "_below",
        "_identities",
        "_last_number",
        "_of_clock",
        "_owners",
        "_places",
        "_things",
        "_tree",
        "cause",
        "frame_began_ns",
    )

    def __init__(self, tree: ClockTree) -> None:
        """Begin with nobody."""
        self._tree = tree
        self._last_number = 0
        # None once what it hung under is gone, until somebody says that it is itself.
        self._owners: dict[int, object | None] = {}
        self._below: dict[int, MutableSet[int]] = {}
        self._of_clock: dict[int, MutableSet[int]] = {}
        # In which of those sets a member is.
        self._places: dict[int, MutableSet[int]] = {}
        # By identity, for as long as whoever was reported for it is there.
        self._things: dict[int, int] = {}
        # The other way round, to forget it together with its member.
        self._identities: dict[int, int] = {}
        self.frame_began_ns = 0
        self.cause = 0

    def add(self, owner: object, kind: MemberKind, name: str, clock: Clock, parent: int = 0) -> int:
        """Report a new member.

        Args:
            owner: The object itself, to be found by its number.
            kind: What it is.
            name: What people call it.
            clock: The clock it lives by.
            parent: Number of the member it hangs under; 0 to hang under the clock.

        Returns:
            Its number, 0 when nobody records.
        """
        tree = self._tree
        record = tree.record
        if record is None or clock.is_removed:
            return 0
        tree.sync()
        self._last_number = number = self._last_number + 1
        self._owners[number] = owner
        beside = self._below if parent else self._of_clock
        self._place(number, beside.setdefault(parent or clock.id, set()))
        record((tree.now_ns, MEMBER_ADDED, number, parent, tree.intern(name)))
        record((tree.now_ns, MEMBER_ORIGIN, number, clock.id, kind))
        return number

    def find(self, number: int) -> object | None:
        """Return the member with a number, ``None`` when it is gone."""
        return self._owners.get(number)

    def introduce(self, thing: object, number: int) -> None:
        """Say which thing of the program a member stands for, so that others can be linked to it.

        Args:
            thing: Is kept alive by whoever was given to :meth:`add`.
            number: The member.
        """
        if number:
            self._things[id(thing)] = number
            self._identities[number] = id(thing)

    def number_of(self, thing: object) -> int:
        """Return which member stands for a thing of the program, 0 for none."""
        return self._things.get(id(thing), 0)

    def set(self, number: int, field: Field, value: int) -> None:
        """Report what a field of a member is from now on; nothing for number 0."""
        tree = self._tree
        if number and tree.record is not None:
            tree.sync()
            tree.record((tree.now_ns, MEMBER_SET, number, field, value))

    def set_text(self, number: int, field: Field, text: str) -> None:
        """Do what :meth:`set` does, for a field that is a text."""
        if number:
            self.set(number, field, self._tree.intern(text))

    def set_paused(self, number: int, *, paused: bool) -> None:
        """Report that a member is paused itself, by whatever is going on, or no longer."""
        self.set(number, Field.PAUSED, 1 + self.cause if paused else 0)

    def move(self, number: int, parent: int) -> None:
        """Report that a member hangs under another one now; nothing for number 0."""
        tree = self._tree
        if number and parent and tree.record is not None:
            self._places.get(number, set()).discard(number)
            self._place(number, self._below.setdefault(parent, set()))
            tree.sync()
            tree.record((tree.now_ns, MEMBER_MOVED, number, parent, 0))

    def remove(self, number: int) -> None:
        """Report that a member is gone, with everything below it; nothing for number 0."""
        tree = self._tree
        if number not in self._owners:
            return
        self._let_go(number)
        del self._owners[number]
        if tree.record is not None:
            tree.sync()
            tree.record((tree.now_ns, MEMBER_REMOVED, number, 0, 0))

    def clock_removed(self, clock_id: int) -> None:
        """Let go of everything that lived by a clock, which is gone."""
        for number in list(self._of_clock.pop(clock_id, ())):
            self._let_go(number)

    def _place(self, number: int, place: MutableSet[int]) -> None:
        place.add(number)
        self._places[number] = place

    def _let_go(self, number: int) -> None:
        """Hold a member no longer, and nothing below it."""
        waiting = [number]
        for each in waiting:
            waiting.extend(self._below.pop(each, ()))
            self._places.pop(each, set()).discard(each)
            if each in self._owners:
                self._owners[each] = None
            identity = self._identities.pop(each, 0)
            if self._things.get(identity) == each:
                del self._things[identity]

    def call_ended(self, number: int, began_ns: int) -> None:
        """Report a call that is over; nothing for number 0.

        Args:
            number: Whose.
            began_ns: Reading of ``perf_counter_ns`` before it.
        """
        tree = self._tree
        if number and tree.record is not None:
            took_ns = perf_counter_ns() - began_ns
            offset_ns = began_ns - self.frame_began_ns
            tree.record((tree.now_ns, CALL_ENDED, number, offset_ns, took_ns))

    def state_entered(self, number: int, state: str, transition: str) -> None:
        """Report that a machine is in another state; nothing for number 0."""
        self._report_text(number, STATE_ENTERED, state, transition)

    def transition_refused(self, number: int, transition: str, reason: str) -> None:
        """Report that a machine did not make a transition; nothing for number 0."""
        self._report_text(number, TRANSITION_REFUSED, transition, reason)

    def _report_text(self, number: int, kind: int, a: str, b: str) -> None:
        tree = self._tree
        if number and tree.record is not None:
            tree.sync()
            tree.record((tree.now_ns, kind, number, tree.intern(a), tree.intern(b)))
