"""Blockers of a call: pauses, time scales of 0, life cycles, stopped clocks."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Final

from msgspec import Struct

from inspector.events.members import MemberState
from inspector.events.states import StoppedClock
from inspector.events.timeline import Timeline
from inspector.vocabulary import Field, LifeCycle, MemberKind

_WITH_LIFE_CYCLE: Final = frozenset({MemberKind.COMPONENT, MemberKind.NODE})
_LIFE_STATES: Final = frozenset(map(int, LifeCycle))


class BlockerKind(Enum):
    PAUSED = "paused"
    LIFE_CYCLE = "life cycle"
    TIME_SCALE = "time scale"
    CLOCK_PAUSED = "clock paused"
    CLOCK_RATE = "clock rate"
    DETACHED = "detached"


class Blocker(Struct, frozen=True):
    kind: BlockerKind  # How it blocks the call
    name: str
    member_id: int = 0  # The call itself, its target, scheduler or component; 0 for a clock
    clock_id: int = 0  # The stopped clock; 0 for a member
    is_own: bool = False  # Whether it is the call itself, or the clock that the call waits on
    # Session time at which it began, None when that has to be looked up.
    since_ns: int | None = None
    cause: int = 0  # Number of the command that caused it, 0 for the program
    life: int = LifeCycle.STARTED  # Life-cycle state of a component or node

    @property
    def text(self) -> str:
        match self.kind:
            case BlockerKind.PAUSED:
                return "paused itself" if self.is_own else f"“{self.name}” is paused"
            case BlockerKind.LIFE_CYCLE:
                known = self.life in _LIFE_STATES
                life = LifeCycle(self.life).text if known else f"life {self.life}"
                return life if self.is_own else f"“{self.name}” is {life}"
            case BlockerKind.TIME_SCALE:
                return f"“{self.name}” has time scale 0"
            case BlockerKind.CLOCK_PAUSED:
                return f"“{self.name}” is paused"
            case BlockerKind.CLOCK_RATE:
                return f"“{self.name}” has rate 0"
            case BlockerKind.DETACHED:
                return f"“{self.name}” is no longer attached"


def member_blockers(timeline: Timeline, member: MemberState) -> tuple[Blocker, ...]:
    """Return what blocks a scheduled call, or all calls below a target or scheduler.

    Nearest first: the call itself, its ancestors, its scheduler, its clocks.
    """
    members = timeline.members
    found: list[Blocker] = []
    for above in members.path(member.id):
        found += _own_blockers(above, is_own=above is member)
    scheduler = members.scheduler_of(member.id)
    if scheduler is not None and scheduler.rate_n == 0:
        is_own = scheduler is member
        found.append(Blocker(BlockerKind.TIME_SCALE, scheduler.name, scheduler.id, is_own=is_own))
    found += map(_clock_blocker, timeline.stopping_clocks(member))
    return tuple(found)


def clock_blockers(timeline: Timeline, clock_id: int) -> tuple[Blocker, ...]:
    """Return the stopped clocks that block the timers of a clock, nearest first."""
    return tuple(map(_clock_blocker, timeline.pause_reasons(clock_id)))


def _own_blockers(member: MemberState, *, is_own: bool) -> Iterator[Blocker]:
    if member.is_paused:
        yield Blocker(
            BlockerKind.PAUSED,
            member.name,
            member.id,
            is_own=is_own,
            since_ns=member.paused_since_ns,
            cause=member.pause_cause,
        )
    life = member.fields.get(Field.LIFE, LifeCycle.STARTED)
    if member.kind in _WITH_LIFE_CYCLE and life != LifeCycle.STARTED:
        yield Blocker(BlockerKind.LIFE_CYCLE, member.name, member.id, is_own=is_own, life=life)


def _clock_blocker(reason: StoppedClock) -> Blocker:
    kind = BlockerKind.CLOCK_RATE if reason.is_rate_zero else BlockerKind.CLOCK_PAUSED
    if reason.is_detached:
        kind = BlockerKind.DETACHED
    return Blocker(
        kind,
        reason.clock_name,
        clock_id=reason.clock_id,
        is_own=reason.is_own,
        since_ns=reason.since_ns,
        cause=reason.cause,
    )
