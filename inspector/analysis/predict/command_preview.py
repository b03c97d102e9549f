"""Computes previews of commands: how a pause, a rate or a time scale changes when timers fire.

Frame timers wait in the time of their scheduler, which passes in frames: they are called in
the first frame at or after the predicted instant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from inspector.analysis.predict.preview_result import Preview
from inspector.calls.dues import DueTimes, SchedulerChange
from inspector.clocks.rate import D
from inspector.commands.command import ClockEffect, Command, MemberEffect
from inspector.events.due_times import session_instants
from inspector.events.members import CLOCK_CALLS, TIMED_CALLS, MemberState
from inspector.events.timeline import Timeline
from inspector.vocabulary import NEVER, Field, LifeCycle, MemberKind

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: Members paused by flags, whose timers are on their director's scheduler.
_FLAGGED: Final = frozenset({MemberKind.COMPONENT, MemberKind.NODE})
#: The rules of our own scheduler, which pauses targets from a priority on.
_SOUND: Final = "sound"


def preview(timeline: Timeline, command: Command) -> Preview | None:
    """Return how a command would change when timers fire, ``None`` if it would change nothing.

    For a clock: every timer of its branch, including the schedulers on it. For a component or node:
    the timers of its components. Nothing is called, so the effects of ``on_enable`` and
    ``on_disable`` are unknown. Ten thousand timers on one clock take a millisecond or two.
    """
    try:
        effect = command.effect(timeline)
    except ValueError:
        return None
    none = np.zeros(0, np.int64)
    match effect:
        case None:
            return None
        case ClockEffect():
            branch = set(timeline.branch(effect.clock_id))
            after = _clocks_after(timeline, effect)
            table = timeline.timers
            clocks = table.numpy("clock") if len(table) else none
            rows = np.flatnonzero(np.isin(clocks, np.fromiter(branch, np.int64)))
            timers = none, none, none, none
            if rows.size:
                old_ns, new_ns = (_session_dues(timeline, each, rows) for each in (timeline, after))
                timers = table.numpy("id")[rows], table.numpy("order")[rows], old_ns, new_ns
            calls = (each for each in timeline.members.by_id.values() if each.clock_id in branch)
            changed = DueTimes(timeline, clocks=after)
        case MemberEffect():
            timers = none, none, none, none
            heads, change = _scheduler_change(timeline, effect)
            calls = (call for head in heads for call in timeline.members.branch(head.id))
            changed = DueTimes(timeline, change)
    return _preview(timeline, effect.text, timers, _scheduled(timeline, calls, changed))


def _preview(
    timeline: Timeline,
    text: str,
    timers: tuple[NDArray[np.int64], ...],
    scheduled: list[tuple[int, int, int, int, bool]],
) -> Preview:
    """Return a preview of timers of clocks and of scheduled calls.

    Args:
        timers: Of the timers of clocks: number, order among ties, instants before and after.
        scheduled: The same values of each scheduled call, and whether a frame calls it.
    """
    columns = np.array(scheduled, np.int64).reshape(-1, 5).T
    numbers, order, old_ns, new_ns = (
        np.concatenate(both) for both in zip(timers, columns[:4], strict=True)
    )
    is_member = np.arange(len(numbers)) >= len(timers[0])
    # A timer that came due since the last event fires before a command submitted now; a frame
    # timer is called in the frame after the command. See also predict/timers.py.
    reached_ns, now_ns = timeline.newest_ns, timeline.at_ns
    is_before = (old_ns > reached_ns) & (old_ns < now_ns)
    is_before[len(timers[0]) :] &= columns[4] == 0
    is_overdue = is_before | ((old_ns <= now_ns) & (new_ns != NEVER))
    new_ns = np.where(new_ns == NEVER, NEVER, np.maximum(new_ns, now_ns))
    old_ns = np.maximum(old_ns, reached_ns)
    new_ns = np.where(is_overdue, old_ns, new_ns)
    by_due = np.lexsort((order, new_ns, old_ns))
    return Preview(text, numbers[by_due], is_member[by_due], old_ns[by_due], new_ns[by_due])


def _scheduled(
    timeline: Timeline, calls: Iterable[MemberState], changed: DueTimes
) -> list[tuple[int, int, int, int, bool]]:
    """Return number, order among ties, instants before and after, and if frames call it."""
    present, found = DueTimes(timeline), []
    for call in calls:
        if call.kind not in TIMED_CALLS:
            continue
        old_ns, new_ns = present.session_due_ns(call), changed.session_due_ns(call)
        if old_ns is not None and new_ns is not None:
            found.append((call.id, call.id, old_ns, new_ns, call.kind not in CLOCK_CALLS))
    return found


def _clocks_after(timeline: Timeline, effect: ClockEffect) -> Timeline:
    after = timeline.only_clocks()
    after.set_present(timeline.at_ns)
    if effect.event is not None:
        after.apply_all([effect.event])
    return after


def _session_dues(
    timeline: Timeline, clocks: Timeline, rows: NDArray[np.intp]
) -> NDArray[np.int64]:
    due_ns = timeline.timers.numpy("due")[rows]
    owners, owner_of_row = np.unique(timeline.timers.numpy("clock")[rows], return_inverse=True)
    found = np.full(len(rows), NEVER, np.int64)
    by_owner = np.argsort(owner_of_row, kind="stable")
    ends = np.flatnonzero(np.diff(owner_of_row[by_owner])) + 1
    for mine in np.split(by_owner, ends):
        path = clocks.path(int(owners[owner_of_row[mine[0]]]))
        if any(clock.n == 0 for clock in path):
            continue
        if all(clock.n == D for clock in path):
            found[mine] = due_ns[mine] - sum(clock.off // D for clock in path)
        else:
            found[mine] = session_instants(due_ns[mine], path)
    return found


def _scheduler_change(
    timeline: Timeline, effect: MemberEffect
) -> tuple[list[MemberState], SchedulerChange]:
    member = timeline.members.by_id[effect.member_id]
    heads = list(_targets_of(timeline, member)) if member.kind in _FLAGGED else [member]
    paused = {head.id for head in heads} if effect.pauses else set()
    if effect.min_priority is not None:
        paused = set(_from_priority(timeline, member, effect.min_priority))
    resumed = _resumed_with(timeline, member, heads) if effect.resumes else set()
    return heads, SchedulerChange(paused, resumed, effect.time_scale)


def _targets_of(timeline: Timeline, above: MemberState) -> Iterator[MemberState]:
    members = timeline.members
    below = {each.id for each in members.branch(above.id)}
    director = members.path(above.id)[-1]
    for each in members.branch(director.id):
        if each.kind is MemberKind.TARGET and each.fields.get(Field.OWNER) in below:
            yield each


def _would_be_on(timeline: Timeline, target: MemberState, resumed: MemberState) -> bool:
    """Return whether the component behind a target would run if a member were resumed."""
    members = timeline.members
    path = members.path(target.fields[Field.OWNER])
    return path[0].fields.get(Field.LIFE) != LifeCycle.DESTROYING and not any(
        each.is_paused for each in path if each is not resumed and each.kind in _FLAGGED
    )


def _resumed_with(
    timeline: Timeline, member: MemberState, heads: Iterable[MemberState]
) -> set[int]:
    """Return the members whose own pause ends when the heads of a branch are resumed."""
    members = timeline.members
    resumed: set[int] = set()
    for head in heads:
        if head is not member and not _would_be_on(timeline, head, member):
            continue
        scheduler = members.scheduler_of(head.id)
        is_sound = scheduler and members.field_text(scheduler.id, Field.RULES) == _SOUND
        # Other rules resume everything of a target, even what was paused separately.
        takes_all = head.kind is MemberKind.TARGET and not is_sound
        resumed |= {each.id for each in members.branch(head.id)} if takes_all else {head.id}
    return resumed


def _from_priority(timeline: Timeline, scheduler: MemberState, priority: int) -> Iterable[int]:
    members = timeline.members
    if members.field_text(scheduler.id, Field.RULES) != _SOUND:
        # Other rules pause all timers; the priority only selects updates.
        yield scheduler.id
        return
    for each in members.branch(scheduler.id):
        if each.kind is MemberKind.TARGET:
            below = (members.by_id[number] for number in each.children)
            updates = [call for call in below if call.kind is MemberKind.UPDATE]
            own = updates[0].fields.get(Field.PRIORITY, 0) if updates else 0
            if own >= priority:
                yield each.id
