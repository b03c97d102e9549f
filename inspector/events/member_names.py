"""What members are called, what they are and where they hang: learnt from events in their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from inspector.vocabulary import (
    MEMBER_ADDED,
    MEMBER_MOVED,
    MEMBER_ORIGIN,
    MEMBER_SET,
    Field,
    MemberKind,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from inspector.events.members import MemberState
    from inspector.vocabulary import RawEvent

#: The events that :meth:`MemberNames.note` learns from.
MEMBER_NAMING_KINDS: Final = frozenset({MEMBER_ADDED, MEMBER_ORIGIN, MEMBER_SET, MEMBER_MOVED})
_HANGING: Final = frozenset({MEMBER_ADDED, MEMBER_MOVED})


@dataclass(slots=True)
class KnownMember:
    """What is known of one member; the same object for as long as it is.

    Attributes:
        name: What people call it now.
        parent_id: The member it hangs under now, 0 for none.
        kind: What it is; ``None`` until that was said.
        clock_id: The clock it lives by; 0 until that was said.
    """

    name: str
    parent_id: int = 0
    kind: MemberKind | None = None
    clock_id: int = 0

    @property
    def kind_text(self) -> str:
        """What it is in words, as far as is known."""
        return "member" if self.kind is None else self.kind.text


class MemberNames:
    """The members of a session by number, as of the event that was noted last.

    Who is gone is known until :meth:`forget`: the event of its end may still have to be put
    into words.

    Attributes:
        strings: The string table of the log.
    """

    __slots__ = ("_below", "_known", "strings")

    def __init__(self, strings: Sequence[str], members: Iterable[MemberState] = ()) -> None:
        """Begin with those who are there.

        Args:
            strings: The string table of the log; may grow meanwhile.
            members: Who is there before the first event.
        """
        self.strings = strings
        self._known: dict[int, KnownMember] = {}
        self._below: dict[int, dict[int, None]] = {}
        for member in members:
            self.learn(member)

    def __len__(self) -> int:
        """Return how many are known."""
        return len(self._known)

    def __iter__(self) -> Iterator[int]:
        """Go through the numbers of those who are known."""
        return iter(self._known)

    def get(self, number: int) -> KnownMember | None:
        """Return what is known of a member, ``None`` for nothing."""
        return self._known.get(number)

    def name_of(self, number: int) -> str:
        """Return what a member is called; empty when it is not known."""
        known = self._known.get(number)
        return "" if known is None else known.name

    def below(self, number: int) -> list[int]:
        """Return the members right under a member, in the order in which they came there."""
        return list(self._below.get(number, ()))

    def branch(self, number: int) -> list[int]:
        """Return a member and everybody below it, itself first."""
        found = [number]
        for each in found:
            found += self._below.get(each, ())
        return found

    def learn(self, member: MemberState) -> KnownMember:
        """Take a member over from a state."""
        known = KnownMember(member.name, member.parent_id, member.kind, member.clock_id)
        self._known[member.id] = known
        self._hang(member.id, member.parent_id)
        return known

    def note(self, event: RawEvent) -> KnownMember | None:
        """Take what an event says; of all but :data:`MEMBER_NAMING_KINDS` that is nothing.

        Returns:
            The member, if anything about it has become known or changed.
        """
        _, kind, subject, a, b = event
        if kind in _HANGING and self._is_at_or_above(subject, a):
            # As only a damaged file says it: whoever goes up from there would go in circles.
            return None
        if kind == MEMBER_ADDED:
            self.take_out(subject)
            known = self._known[subject] = KnownMember(self._text(b), a)
            self._hang(subject, a)
            return known
        found = self._known.get(subject)
        if found is None:
            return None
        if kind == MEMBER_SET and a == Field.NAME:
            found.name = self._text(b)
        elif kind == MEMBER_ORIGIN:
            found.clock_id, found.kind = a, MemberKind(b)
        elif kind == MEMBER_MOVED:
            self.take_out(subject)
            found.parent_id = a
            self._hang(subject, a)
        else:
            return None
        return found

    def take_out(self, number: int) -> None:
        """Let a member and what is below it be below nobody; it stays known."""
        known = self._known.get(number)
        beside = None if known is None else self._below.get(known.parent_id)
        if known is not None and beside is not None:
            beside.pop(number, None)
            if not beside:
                del self._below[known.parent_id]

    def forget(self, number: int) -> list[int]:
        """Forget a member with everybody below it.

        Returns:
            Who was forgotten.
        """
        self.take_out(number)
        gone = self.branch(number)
        for each in gone:
            self._known.pop(each, None)
            self._below.pop(each, None)
        return gone

    def _is_at_or_above(self, number: int, start: int) -> bool:
        """Return whether a member is another one, or that hangs somewhere under it."""
        while start and start != number:
            known = self._known.get(start)
            start = 0 if known is None else known.parent_id
        return start == number and number > 0

    def _text(self, sid: int) -> str:
        """Return a text by its number; ``?`` for one that a damaged file does not have."""
        return self.strings[sid] if 0 <= sid < len(self.strings) else "?"

    def _hang(self, number: int, above: int) -> None:
        if above:
            self._below.setdefault(above, {})[number] = None
