"""Names, kinds and parents of members, learnt from events in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from inspector.events.members import MemberState
from inspector.vocabulary import (
    MEMBER_ADDED,
    MEMBER_MOVED,
    MEMBER_ORIGIN,
    MEMBER_SET,
    Field,
    MemberKind,
    RawEvent,
)

#: The events that :meth:`MemberNames.note` reads.
MEMBER_NAMING_KINDS: Final = frozenset({MEMBER_ADDED, MEMBER_ORIGIN, MEMBER_SET, MEMBER_MOVED})


class KnownMember(Struct):
    """Name and place of a member; always the same object for the same member."""

    name: str
    parent_id: int = 0
    kind: MemberKind | None = None  # Its kind; None until known
    clock_id: int = 0  # The clock it hangs under; 0 until known

    @property
    def kind_text(self) -> str:
        return "member" if self.kind is None else self.kind.text


class MemberNames:
    """The members of a session by number, as of the last event noted.

    Removed members stay known until :meth:`forget`, because the event of their removal may still
    have to be described.
    """

    __slots__ = ("_below", "_known", "strings")

    def __init__(self, strings: Sequence[str], members: Iterable[MemberState] = ()) -> None:
        self.strings = strings
        self._known: dict[int, KnownMember] = {}
        self._below: dict[int, dict[int, None]] = {}
        for member in members:
            self.learn(member)

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[int]:
        return iter(self._known)

    def get(self, number: int) -> KnownMember | None:
        return self._known.get(number)

    def name_of(self, number: int) -> str:
        known = self._known.get(number)
        return "" if known is None else known.name

    def below(self, number: int) -> list[int]:
        """Return the children of a member in the order in which they came to it."""
        return list(self._below.get(number, ()))

    def branch(self, number: int) -> list[int]:
        """Return a member and everything below it, itself first."""
        found = [number]
        for each in found:
            found += self._below.get(each, ())
        return found

    def learn(self, member: MemberState) -> KnownMember:
        # The state may be ahead of the events noted so far, where the order of the two is reversed.
        is_above = self._is_at_or_above(member.id, member.parent_id)
        parent_id = 0 if is_above else member.parent_id
        self.detach(member.id)
        known = KnownMember(member.name, parent_id, member.kind, member.clock_id)
        self._known[member.id] = known
        self._hang(member.id, parent_id)
        return known

    def note(self, event: RawEvent) -> KnownMember | None:
        """Read an event of :data:`MEMBER_NAMING_KINDS`; returns the member that changes."""
        _, kind, subject, a, b = event
        if kind == MEMBER_ADDED:
            return self.add(subject, a, b)
        if kind == MEMBER_SET:
            return self.rename(subject, b) if a == Field.NAME else None
        if kind == MEMBER_ORIGIN:
            return self.place(subject, a, b)
        return self.move(subject, a) if kind == MEMBER_MOVED else None

    def add(self, number: int, parent: int, name: int) -> KnownMember | None:
        """Add a member; returns ``None`` if it would be below itself, as in a damaged file."""
        # Going up from a member below itself would never end.
        if self._is_at_or_above(number, parent):
            return None
        self.detach(number)
        known = self._known[number] = KnownMember(self._text(name), parent)
        self._hang(number, parent)
        return known

    def rename(self, number: int, name: int) -> KnownMember | None:
        found = self._known.get(number)
        if found is not None:
            found.name = self._text(name)
        return found

    def place(self, number: int, clock_id: int, kind: int) -> KnownMember | None:
        found = self._known.get(number)
        if found is not None:
            found.clock_id, found.kind = clock_id, MemberKind(kind)
        return found

    def move(self, number: int, parent: int) -> KnownMember | None:
        """Move a member; returns ``None`` if it is unknown or would be below itself."""
        found = self._known.get(number)
        if found is None or self._is_at_or_above(number, parent):
            return None
        self.detach(number)
        found.parent_id = parent
        self._hang(number, parent)
        return found

    def detach(self, number: int) -> None:
        """Remove a member with everything below it from its parent; it stays known."""
        known = self._known.get(number)
        beside = None if known is None else self._below.get(known.parent_id)
        if known is not None and beside is not None:
            beside.pop(number, None)
            if not beside:
                del self._below[known.parent_id]

    def forget(self, number: int) -> list[int]:
        """Forget a member with everything below it; returns what was forgotten."""
        self.detach(number)
        gone = self.branch(number)
        for each in gone:
            self._known.pop(each, None)
            self._below.pop(each, None)
        return gone

    def _is_at_or_above(self, number: int, start: int) -> bool:
        while start and start != number:
            known = self._known.get(start)
            start = 0 if known is None else known.parent_id
        return start == number

    def _text(self, sid: int) -> str:
        """Return a text by its number; ``?`` if a damaged file lacks it."""
        return self.strings[sid] if 0 <= sid < len(self.strings) else "?"

    def _hang(self, number: int, above: int) -> None:
        if above:
            self._below.setdefault(above, {})[number] = None
