"""Members of a clock tree: what hangs under clocks besides timers.

Schedulers, targets, components, tickers and state machines report themselves here, so
that they can be shown without this package knowing them. While nothing records, nothing is
kept or reported, and every number is 0.
"""

from __future__ import annotations

from collections.abc import MutableSet
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
    from inspector.clocks.clock import Clock
    from inspector.clocks.tree import ClockTree


class Members:
    """The members of one clock tree; belongs to the thread that drives the tree.

    Members are held until they are removed, never until they are garbage-collected: what can
    be done to them must not depend on the garbage collector, or runs could not be repeated.

    Attributes:
        frame_began_ns: ``perf_counter_ns`` at the start of the current frame; set by the
            director.
        cause: Number of the command being applied, 0 for the program.
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
        self._tree = tree
        # None once the parent is gone, until the member itself is removed.
        self._owners: dict[int, object | None] = {}
        self._below: dict[int, MutableSet[int]] = {}
        self._of_clock: dict[int, MutableSet[int]] = {}
        self._places: dict[int, MutableSet[int]] = {}
        # Member numbers by id() of the object they describe, while the owner of the member lives.
        self._things: dict[int, int] = {}
        # The inverse of _things, to drop an object together with its member.
        self._identities: dict[int, int] = {}
        self._last_number = self.frame_began_ns = self.cause = 0

    def add(self, owner: object, kind: MemberKind, name: str, clock: Clock, parent: int = 0) -> int:
        """Report a new member; returns its number, 0 while nothing records.

        Its owner is found by that number; ``parent`` is the member above, 0 for the clock.
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
        """Return the owner of a member, ``None`` when it is gone."""
        return self._owners.get(number)

    def introduce(self, thing: object, number: int) -> None:
        """Link a member to an object, so that others can refer to it; 0 is ignored.

        The object is kept alive by the owner given to :meth:`add`.
        """
        if number:
            self._things[id(thing)] = number
            self._identities[number] = id(thing)

    def number_of(self, thing: object) -> int:
        """Return the member that is linked to an object, 0 for none."""
        return self._things.get(id(thing), 0)

    def set(self, number: int, field: Field, value: int) -> None:
        """Report the value of a member's field; ignored for number 0."""
        tree = self._tree
        if number and tree.record is not None:
            tree.sync()
            tree.record((tree.now_ns, MEMBER_SET, number, field, value))

    def set_text(self, number: int, field: Field, text: str) -> None:
        """Do what :meth:`set` does, for a text field."""
        if number:
            self.set(number, field, self._tree.intern(text))

    def set_paused(self, number: int, *, paused: bool) -> None:
        """Report that a member is paused itself, or no longer."""
        self.set(number, Field.PAUSED, 1 + self.cause if paused else 0)

    def move(self, number: int, parent: int) -> None:
        """Report a member's new parent; ignored for number 0."""
        tree = self._tree
        if number and parent and tree.record is not None:
            tree.sync()
            self._places.get(number, set()).discard(number)
            self._place(number, self._below.setdefault(parent, set()))
            tree.record((tree.now_ns, MEMBER_MOVED, number, parent, 0))

    def remove(self, number: int) -> None:
        """Report that a member and everything below it is gone; ignored for unknown numbers."""
        tree = self._tree
        if number not in self._owners:
            return
        tree.sync()
        self._release(number)
        del self._owners[number]
        if tree.record is not None:
            tree.record((tree.now_ns, MEMBER_REMOVED, number, 0, 0))

    def clock_removed(self, clock_id: int) -> None:
        """Release everything that hung under a removed clock."""
        for number in list(self._of_clock.pop(clock_id, ())):
            self._release(number)

    def _place(self, number: int, place: MutableSet[int]) -> None:
        place.add(number)
        self._places[number] = place

    def _release(self, number: int) -> None:
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
        """Report the end of a call that began at a ``perf_counter_ns``; ignored for number 0."""
        tree = self._tree
        if number and tree.record is not None:
            took_ns = perf_counter_ns() - began_ns
            offset_ns = began_ns - self.frame_began_ns
            tree.record((tree.now_ns, CALL_ENDED, number, offset_ns, took_ns))

    def state_entered(self, number: int, state: str, transition: str) -> None:
        """Report a machine's new state; ignored for number 0."""
        self._report_text(number, STATE_ENTERED, state, transition)

    def transition_refused(self, number: int, transition: str, reason: str) -> None:
        """Report a transition that a machine refused; ignored for number 0."""
        self._report_text(number, TRANSITION_REFUSED, transition, reason)

    def _report_text(self, number: int, kind: int, a: str, b: str) -> None:
        tree = self._tree
        if number and tree.record is not None:
            tree.sync()
            tree.record((tree.now_ns, kind, number, tree.intern(a), tree.intern(b)))
