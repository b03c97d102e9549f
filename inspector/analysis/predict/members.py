"""What a pause or a time scale would do to the timers of schedulers and tickers.

They wait in the time of their scheduler, which passes in frames. What is said here is the
instant at which that time has come; they are called in the first frame from then on.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from inspector.analysis.predict.changes import Preview
from inspector.analysis.predict.timers import session_instant
from inspector.clocks.rate import rate_numerator
from inspector.events.members import CLOCK_CALLS, PAUSABLE
from inspector.vocabulary import (
    NEVER,
    RATE_DENOMINATOR,
    Field,
    Life,
    MemberKind,
    rate_text,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from inspector.events.members import MemberState
    from inspector.events.states import ClockState
    from inspector.events.timeline import Timeline

_CALLS: Final = CLOCK_CALLS | {MemberKind.FRAME_TIMER, MemberKind.TICKER_TIMER}
#: What is paused by flags, and has its timers with its director's scheduler.
_FLAGGED: Final = frozenset({MemberKind.COMPONENT, MemberKind.NODE})
#: With these, a call waits for what was left when it was paused, not for an instant.
_KEEPS_REST: Final = _CALLS | {MemberKind.TARGET, MemberKind.CHILD_CLOCK}
_HOMES: Final = frozenset({MemberKind.SCHEDULER, MemberKind.TICKER})
#: The rules of our own scheduler: a pause from a priority on is one of targets.
_SOUND: Final = "sound"


@dataclass(frozen=True, slots=True)
class MemberPause:
    """A member is paused."""

    member_id: int


@dataclass(frozen=True, slots=True)
class MemberResume:
    """A member's own pause ends."""

    member_id: int


@dataclass(frozen=True, slots=True)
class PriorityPause:
    """The targets of a scheduler are paused from a priority on."""

    member_id: int
    min_priority: int


@dataclass(frozen=True, slots=True)
class Scale:
    """A scheduler gets another time scale."""

    member_id: int
    rate: Fraction


MemberChange: TypeAlias = MemberPause | MemberResume | PriorityPause | Scale


def preview_members(timeline: Timeline, change: MemberChange) -> Preview | None:
    """Return what a change would do now to every timer below a scheduler, target or ticker.

    Of a component or node these are the timers that its components were given. Nothing is
    changed, and nobody is called: what ``on_enable`` and ``on_disable`` would do is not seen.

    Args:
        timeline: The state now.
        change: What would be changed.

    Returns:
        ``None`` when there is no such member, or nothing of the kind can be done to it. The
        numbers in the preview are those of members.

    Raises:
        ValueError: The time scale cannot be used.
    """
    members = timeline.members
    member = members.by_id.get(change.member_id)
    if member is None:
        return None
    is_scheduler = member.kind is MemberKind.SCHEDULER
    paused: set[int] = set()
    resumed: set[int] = set()
    scale = None
    heads = list(_targets_of(timeline, member)) if member.kind in _FLAGGED else [member]
    name = f"“{member.name}”"
    match change:
        case MemberPause() if member.kind in PAUSABLE:
            text, paused = f"Pausing {name}", {head.id for head in heads}
        case MemberResume() if member.kind in PAUSABLE:
            text, resumed = f"Resuming {name}", _resumed_with(timeline, member, heads)
        case PriorityPause(_, priority) if is_scheduler:
            paused = set(_from_priority(timeline, member, priority))
            text = f"Pausing {name} from priority {priority:,} on"
        case Scale(_, rate) if is_scheduler:
            scale = Fraction(rate_numerator(rate), RATE_DENOMINATOR)
            shown = rate_text(rate_numerator(rate))
            text = f"Setting the time scale of {name} to {shown}"
        case _:
            return None
    homes: dict[int, _Home | None] = {}
    rows = []
    for call in (call for head in heads for call in members.branch(head.id)):
        if call.kind not in _CALLS:
            continue
        path = members.path(call.id)
        home = _home_of(timeline, path, homes)
        if home is None or not _waits(call):
            continue
        old_ns = home.due_ns(call, path)
        rows.append((old_ns, home.due_ns(call, path, paused, resumed, scale), call.id))
    columns = np.array(sorted(rows), dtype=np.int64).reshape(-1, 3).T
    return Preview(change, text, columns[2], columns[0], columns[1], is_of_members=True)


def _targets_of(timeline: Timeline, above: MemberState) -> Iterator[MemberState]:
    """Go through the targets that are components of a branch, with their own director."""
    members = timeline.members
    below = {each.id for each in members.branch(above.id)}
    director = members.path(above.id)[-1]
    for each in members.branch(director.id):
        if each.kind is MemberKind.TARGET and each.fields.get(Field.OWNER) in below:
            yield each


def _would_be_on(timeline: Timeline, target: MemberState, resumed: MemberState) -> bool:
    """Whether the component that a target is would run if something above it, or it, did."""
    members = timeline.members
    path = members.path(target.fields[Field.OWNER])
    return path[0].fields.get(Field.LIFE) != Life.DESTROYING and not any(
        each.is_paused for each in path if each is not resumed and each.kind in _FLAGGED
    )


def _resumed_with(
    timeline: Timeline, member: MemberState, heads: Iterable[MemberState]
) -> set[int]:
    """Return whose own pause ends when a member is resumed.

    Args:
        timeline: The state now.
        member: What would be resumed.
        heads: That, or for a component or node the targets of its branch.
    """
    members = timeline.members
    resumed: set[int] = set()
    for head in heads:
        if head is not member and not _would_be_on(timeline, head, member):
            continue
        scheduler = members.scheduler_of(head.id)
        is_sound = scheduler and members.field_text(scheduler.id, Field.RULES) == _SOUND
        # Schedulers modelled on others resume all that a target has, whoever paused it.
        takes_all = head.kind is MemberKind.TARGET and not is_sound
        resumed |= {each.id for each in members.branch(head.id)} if takes_all else {head.id}
    return resumed


def _from_priority(timeline: Timeline, scheduler: MemberState, priority: int) -> Iterable[int]:
    """Return what a pause from a priority on lets wait."""
    members = timeline.members
    if members.field_text(scheduler.id, Field.RULES) != _SOUND:
        # Those that are modelled on others pause all timers, and choose among updates only.
        yield scheduler.id
        return
    for each in members.branch(scheduler.id):
        if each.kind is MemberKind.TARGET:
            below = (members.by_id[number] for number in each.children)
            updates = [call for call in below if call.kind is MemberKind.UPDATE]
            own = updates[0].fields.get(Field.PRIORITY, 0) if updates else 0
            if own >= priority:
                yield each.id


def _waits(call: MemberState) -> bool:
    """Whether a call waits for an instant."""
    return call.fields.get(Field.DUE, NEVER) != NEVER or Field.REMAINING in call.fields


@dataclass(frozen=True, slots=True)
class _Home:
    """In whose time calls are made, with all that is the same for each of them.

    Attributes:
        time_ns: That time, as of the last frame.
        scale: Its time scale.
        clocks: The clock it lives by and those above; none if that is not there.
        frame_local_ns: Local time of that clock at the last frame.
        local_ns: The same now.
        at_ns: Session time now.
    """

    time_ns: int
    scale: Fraction
    clocks: Sequence[ClockState]
    frame_local_ns: int
    local_ns: int
    at_ns: int

    def due_ns(
        self,
        call: MemberState,
        path: Sequence[MemberState],
        paused: Collection[int] = (),
        resumed: Collection[int] = (),
        scale: Fraction | None = None,
    ) -> int:
        """Return the session instant at which a call is due after a change; ``NEVER`` for never.

        Args:
            call: The call.
            path: It and what it hangs under.
            paused: Members that would be paused besides.
            resumed: Members whose pause would end.
            scale: Another time scale.
        """
        keeps_rest = False
        for each in path:
            if each.id in paused or (each.is_paused and each.id not in resumed):
                return NEVER
            keeps_rest = keeps_rest or (each.is_paused and each.kind in _KEEPS_REST)
        scale = self.scale if scale is None else scale
        if scale <= 0 or not self.clocks:
            return NEVER
        if keeps_rest and Field.REMAINING in call.fields:
            left_ns = call.fields[Field.REMAINING]
        else:
            left_ns = call.fields.get(Field.DUE, NEVER) - self.time_ns
        wait_ns = -(-left_ns * scale.denominator // scale.numerator)
        due_ns = (self.local_ns if keeps_rest else self.frame_local_ns) + wait_ns
        return max(session_instant(due_ns, self.clocks), self.at_ns)


def _home_of(
    timeline: Timeline, path: Sequence[MemberState], known: dict[int, _Home | None]
) -> _Home | None:
    """Return in whose time a call is made, ``None`` if that time is not known."""
    if path[0].kind in CLOCK_CALLS:
        return _clock_home(timeline, path[0].clock_id, known)
    home = next((each for each in path if each.kind in _HOMES), None)
    if home is None or Field.TIME not in home.fields:
        return None
    # Calls live by the clock of the scheduler or ticker that makes them.
    if home.id not in known:
        clock_id = home.clock_id or timeline.root_id or 0
        frames, at_ns = timeline.frames, timeline.at_ns
        # The time of a scheduler is that of its last frame.
        last_ns = frames.at_ns[-1] if frames.end > frames.first else home.added_ns
        last_ns = min(max(last_ns, home.added_ns), at_ns)
        is_there = clock_id in timeline.clocks
        known[home.id] = _Home(
            home.fields[Field.TIME],
            Fraction(home.fields.get(Field.RATE, RATE_DENOMINATOR), RATE_DENOMINATOR),
            timeline.path(clock_id) if is_there else (),
            timeline.local_ns(clock_id, last_ns) if is_there else 0,
            timeline.local_ns(clock_id) if is_there else 0,
            at_ns,
        )
    return known[home.id]


def _clock_home(timeline: Timeline, clock_id: int, known: dict[int, _Home | None]) -> _Home | None:
    """Return the time of a clock itself, ``None`` if that is not there."""
    if clock_id not in timeline.clocks:
        return None
    # Kept beside those of members, whose numbers are above 0.
    if -clock_id not in known:
        now_ns = timeline.local_ns(clock_id)
        clocks = timeline.path(clock_id)
        known[-clock_id] = _Home(now_ns, Fraction(1), clocks, now_ns, now_ns, timeline.at_ns)
    return known[-clock_id]
