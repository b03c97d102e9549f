"""A session into which a test writes members, their calls and their states by hand."""

from __future__ import annotations

from inspector.vocabulary import (
    CALL_ENDED,
    FRAME_BEGAN,
    FRAME_ENDED,
    MEMBER_ADDED,
    MEMBER_ORIGIN,
    MEMBER_SET,
    PHASE_ENDED,
    STATE_ENTERED,
    TRANSITION_REFUSED,
    Field,
    MemberKind,
    Phase,
)
from tests.ui.world import PlayedSession

MS = 1_000_000


class MembersSession(PlayedSession):
    """A played session with members; numbers are given by the test."""

    def member(self, number: int, name: str, kind: MemberKind, parent: int = 0) -> int:
        now_ns, log = self.tree.now_ns, self.log
        log.append((now_ns, MEMBER_ADDED, number, parent, log.intern(name)))
        log.append((now_ns, MEMBER_ORIGIN, number, 1, kind))
        return number

    def machine(self, number: int, name: str, first: str, edges: dict[str, tuple[str, str]]) -> int:
        """Add a machine; edges by name, each from a state to a state."""
        self.member(number, name, MemberKind.MACHINE)
        self.set_text(number, Field.STATE, first)
        for place, (edge, (source, target)) in enumerate(edges.items(), 1):
            edge_number = self.member(number * 100 + place, edge, MemberKind.EDGE, number)
            self.set_text(edge_number, Field.SOURCE, source)
            self.set_text(edge_number, Field.TARGET, target)
        return number

    def set_text(self, number: int, field: Field, text: str) -> None:
        log = self.log
        log.append((self.tree.now_ns, MEMBER_SET, number, field, log.intern(text)))

    def enter(self, number: int, state: str, by: str) -> None:
        log = self.log
        log.append((self.tree.now_ns, STATE_ENTERED, number, log.intern(state), log.intern(by)))

    def refuse(self, number: int, transition: str, reason: str) -> None:
        log = self.log
        a, b = log.intern(transition), log.intern(reason)
        log.append((self.tree.now_ns, TRANSITION_REFUSED, number, a, b))

    def frame_of(self, *calls: tuple[int, int, int], took_ns: int = 2 * MS) -> int:
        """Record a frame whose update made calls: member, began, took; returns its index."""
        at_ns, index, append = self.tree.now_ns, self.frames_run, self.log.append
        self.frames_run += 1
        append((at_ns, FRAME_BEGAN, 1, index, 16 * MS))
        for number, began_ns, call_ns in calls:
            append((at_ns, CALL_ENDED, number, began_ns, call_ns))
        append((at_ns, PHASE_ENDED, Phase.UPDATE, index, took_ns))
        append((at_ns, FRAME_ENDED, 1, 16 * MS, took_ns))
        return index
