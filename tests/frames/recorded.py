"""A clock tree that is recorded, and what its timeline says."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.clocks.clock import Clock
from inspector.clocks.tree import ClockTree
from inspector.events.log import EventLog
from inspector.events.members import MemberState, MemberTable
from inspector.events.timeline import Timeline
from inspector.vocabulary import EventKind, Field, MemberKind, RawEvent

MS = 1_000_000
SECOND = 1_000_000_000


class Recorded:
    """A tree whose events are kept, folded as far as one likes."""

    def __init__(self) -> None:
        self.log = EventLog()
        self.tree = ClockTree(self.log)
        self.clock: Clock = self.tree.root.child("game")
        self._timeline = Timeline(self.log.strings)
        self._cursor = 0

    @property
    def events(self) -> Sequence[RawEvent]:
        return self.log.read(0).events

    def of_kind(self, kind: EventKind) -> list[RawEvent]:
        return [event for event in self.events if event[1] == kind]

    @property
    def members(self) -> MemberTable:
        """The members as of now."""
        chunk = self.log.read(self._cursor)
        self._timeline.apply_all(chunk.events)
        self._cursor += len(chunk.events)
        return self._timeline.members

    @property
    def timeline(self) -> Timeline:
        """The timeline as of the last look at the members."""
        return self._timeline

    def called(self, name: str) -> MemberState:
        """Return the only member of a name."""
        found = [member for member in self.members.by_id.values() if member.name == name]
        assert len(found) == 1, (name, [member.name for member in self.members.by_id.values()])
        return found[0]

    def names(self, kind: MemberKind) -> list[str]:
        return [member.name for member in self.members.by_id.values() if member.kind is kind]

    def text(self, name: str, field: Field) -> str:
        return self.members.field_text(self.called(name).id, field)

    def tree_text(self) -> list[str]:
        """Return all members below the clock, indented."""
        members = self.members
        found: list[str] = []

        def walk(number: int, depth: int) -> None:
            member = members.by_id[number]
            found.append(f"{'  ' * depth}{member.kind.text}: {member.name}")
            for child in member.children:
                walk(child, depth + 1)

        for number in members.of_clock.get(self.clock.id, []):
            walk(number, 0)
        return found
