"""What a pause or a time scale would do to the timers of schedulers and tickers.

They wait in the time of their scheduler, which passes in frames. What is said here is the
instant at which that time has come; they are called in the first frame from then on.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from inspector.analysis.predict import session_instant
from inspector.analysis.predict_changes import Preview
from inspector.clocks.rate import rate_numerator
from inspector.vocabulary import NEVER, RATE_DENOMINATOR, Field, MemberKind, rate_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from inspector.trace.members import MemberState
    from inspector.trace.timeline import Timeline

_CALLS: Final = frozenset({MemberKind.FRAME_TIMER, MemberKind.TICKER_TIMER})
#: What can be paused by itself.
PAUSABLE: Final = frozenset(
    {
        MemberKind.TARGET,
        MemberKind.UPDATE,
        MemberKind.FRAME_TIMER,
        MemberKind.COMPONENT_DIRECTOR,
        MemberKind.TICKER,
        MemberKind.TICKER_TIMER,
    }
)
#: With these, a call waits for what was left when it was paused, not for an instant.
_KEEPS_REST: Final = frozenset({*_CALLS, MemberKind.TARGET})
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

    Nothing is changed.

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
    resumed, scale = 0, None
    name = f"“{member.name}”"
    match change:
        case MemberPause() if member.kind in PAUSABLE:
            text, paused = f"Pausing {name}", {member.id}
        case MemberResume() if member.kind in PAUSABLE:
            text, resumed = f"Resuming {name}", member.id
        case PriorityPause(_, priority) if is_scheduler:
            paused = set(_from_priority(timeline, member, priority))
            text = f"Pausing {name} from priority {priority:,} on"
        case Scale(_, rate) if is_scheduler:
            scale = Fraction(rate_numerator(rate), RATE_DENOMINATOR)
            shown = rate_text(rate_numerator(rate))
            text = f"Setting the time scale of {name} to {shown}"
        case _:
            return None
    calls = [call for call in members.branch(member.id) if call.kind in _CALLS]
    dues = [(each, _due(timeline, each)) for each in calls if _waits(timeline, each)]
    rows = sorted(
        (old_ns, _due(timeline, call, paused=paused, resumed=resumed, scale=scale), call.id)
        for call, old_ns in dues
    )
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Preview(change, text, columns[2], columns[0], columns[1], is_of_members=True)


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


def _waits(timeline: Timeline, call: MemberState) -> bool:
    """Whether a call waits for an instant of a time that is known."""
    home = timeline.members.scheduler_of(call.id)
    has_due = call.fields.get(Field.DUE, NEVER) != NEVER or Field.REMAINING in call.fields
    return has_due and home is not None and Field.TIME in home.fields


def _due(
    timeline: Timeline,
    call: MemberState,
    *,
    paused: set[int] | None = None,
    resumed: int = 0,
    scale: Fraction | None = None,
) -> int:
    """Return the session instant at which a call is due after a change; ``NEVER`` for never."""
    members = timeline.members
    path = members.path(call.id)
    stopped = [each for each in path if each.is_paused and each.id != resumed]
    if stopped or any(each.id in (paused or ()) for each in path):
        return NEVER
    home = members.scheduler_of(call.id)
    assert home is not None, "only what waits in the time of one is asked about"
    kept = any(each.is_paused and each.kind in _KEEPS_REST for each in path)
    if kept and Field.REMAINING in call.fields:
        left_ns = call.fields[Field.REMAINING]
    else:
        left_ns = call.fields.get(Field.DUE, NEVER) - home.fields[Field.TIME]
    if scale is None:
        scale = Fraction(home.fields.get(Field.RATE, RATE_DENOMINATOR), RATE_DENOMINATOR)
    clock_id = call.clock_id or timeline.root_id or 0
    if scale <= 0 or clock_id not in timeline.clocks:
        return NEVER
    frames = timeline.frames
    # The time of a scheduler is that of its last frame.
    last_ns = frames.at_ns[-1] if frames.end > frames.first else home.added_ns
    reached_ns = timeline.at_ns if kept else min(max(last_ns, home.added_ns), timeline.at_ns)
    due_ns = timeline.local_ns(clock_id, reached_ns) - (-left_ns // scale)
    at_ns = session_instant(int(due_ns), timeline.path(clock_id))
    return NEVER if at_ns == NEVER else max(at_ns, timeline.at_ns)
