"""Folding many events at once to the same state, skipping most of them.

Between distant instants most events are superseded: a timer that fired a thousand times is where
its last firing left it, and one that came and went leaves nothing. The superseded events are
found in the columns; the rest is folded as usual.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from inspector.events.recording.columns import (
    KINDS,
    events_of,
    group_by_group,
    grouped,
    kind_table,
    last_of_each,
    of_kinds,
)
from inspector.events.schema import FIELDS_THAT_COUNT, Fold, kinds_with
from inspector.vocabulary import NEVER, EventKind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inspector.events.recording.columns import Block
    from inspector.events.timeline import Timeline


_FIELDS_THAT_COUNT: Final = tuple(FIELDS_THAT_COUNT)
_FRAME_PARTS: Final = (EventKind.PHASE_ENDED, EventKind.DELTA_CUT)

_counts = kind_table(kinds_with(fold=Fold.EACH))
_of_timers = kind_table(kinds_with(fold=Fold.TIMER))


def fold_block(timeline: Timeline, block: Block, frames: int) -> None:
    """Fold events, as :meth:`Timeline.apply_all` does.

    Frames are not added to the frame history, and only folded events raise version numbers.

    Args:
        timeline: The state before the first event.
        block: The events, as columns.
        frames: Number of completed frames before the first event.
    """
    count = block.shape[1]
    if not count:
        return
    kind = block[1]
    keep = of_kinds(block, _counts)
    _keep_frame(keep, kind)
    _keep_fields(keep, block)
    calls = _keep_calls(keep, block)
    timers = _keep_timers(keep, block, timeline)
    failures, commands = len(timeline.failures), len(timeline.commands)
    folded = timeline.events_folded
    last_order = timeline._last_order
    timeline.apply_all(events_of(block[:, keep]))
    timeline.events_folded = folded + count
    timeline.at_ns = timeline.newest_ns = int(block[0, -1])
    for subject, more in calls:
        member = timeline.members.by_id.get(subject)
        if member is not None:
            member.calls += more
    timers.finish(timeline, last_order)
    _number_frames(timeline, failures, commands, kind, frames)


def _number_frames(
    timeline: Timeline, failures: int, commands: int, kind: NDArray[np.int64], frames: int
) -> None:
    """Set the frames of the new failures and commands."""
    ended = np.flatnonzero(kind == EventKind.FRAME_ENDED)
    failed = np.flatnonzero(kind == EventKind.CALLBACK_FAILED)
    for at, before in enumerate(np.searchsorted(ended, failed).tolist(), failures):
        timeline.failures[at] = replace(timeline.failures[at], frame=frames + before)
    asked = np.flatnonzero(kind == EventKind.COMMAND)
    for at, before in enumerate(np.searchsorted(ended, asked).tolist(), commands):
        timeline.commands[at] = replace(timeline.commands[at], frame=frames + before)


def _keep_frame(keep: NDArray[np.bool_], kind: NDArray[np.int64]) -> None:
    """Keep the state of the last frame begun."""
    began = np.flatnonzero(kind == EventKind.FRAME_BEGAN)
    since = int(began[-1]) if began.size else 0
    tail = kind[since:]
    keep[since:] |= (tail == _FRAME_PARTS[0]) | (tail == _FRAME_PARTS[1])
    if began.size:
        keep[since] = True


def _keep_fields(keep: NDArray[np.bool_], block: Block) -> None:
    """Keep the last value of each field of each member, or all where each counts."""
    sets = np.flatnonzero(block[1] == EventKind.MEMBER_SET)
    if not sets.size:
        return
    field = block[3, sets]
    counting = np.isin(field, _FIELDS_THAT_COUNT)
    keep[sets[counting]] = True
    sets = sets[~counting]
    key = block[2, sets] * KINDS + block[3, sets]
    keep[sets[last_of_each(key)[0]]] = True


def _keep_calls(keep: NDArray[np.bool_], block: Block) -> list[tuple[int, int]]:
    """Keep the last call of each member; return members and their number of skipped calls."""
    calls = np.flatnonzero(block[1] == EventKind.CALL_ENDED)
    if not calls.size:
        return []
    subjects = block[2, calls]
    last, counts = last_of_each(subjects)
    keep[calls[last]] = True
    return list(zip(subjects[last].tolist(), (counts - 1).tolist(), strict=True))


@dataclass(slots=True)
class _Timers:
    """The effect of the skipped events of timers.

    Attributes:
        fires: Remaining timers and their number of skipped firings.
        orders: Remaining timers and their order, counted from the block.
        ordered: Number of orders used.
    """

    fires: list[tuple[int, int]]
    orders: list[tuple[int, int]]
    ordered: int

    def finish(self, timeline: Timeline, last_order: int) -> None:
        """Apply it to a timeline into which everything else was folded."""
        table = timeline.timers
        for timer_id, more in self.fires:
            if timer_id in table:
                table.fired[table.index(timer_id)] += more
        for timer_id, order in self.orders:
            if timer_id in table:
                table.order[table.index(timer_id)] = last_order + order
        timeline._last_order = last_order + self.ordered


def _keep_timers(keep: NDArray[np.bool_], block: Block, timeline: Timeline) -> _Timers:
    """Keep the final events of timers."""
    kind = block[1]
    found = np.flatnonzero(of_kinds(block, _of_timers))
    if not found.size:
        return _Timers([], [], 0)
    # By timer, and in the order of its events.
    timers, group = grouped(block[2, found])
    groups = len(timers)
    places = group_by_group(group, groups)
    found, group = found[places], group[places]
    _, kinds, subjects, a, b = block[:, found]
    is_fire = kinds == EventKind.TIMER_FIRED
    is_end = (kinds == EventKind.TIMER_CLEARED) | (is_fire & (b == NEVER))
    came, went = np.zeros(groups, bool), np.zeros(groups, bool)
    came[group[kinds == EventKind.TIMER_ADDED]] = True
    went[group[is_end]] = True
    keep[found[is_end & ~came[group]]] = True
    stays = ~went[group]
    is_new = (kinds == EventKind.TIMER_ADDED) | (kinds == EventKind.TIMER_ORIGIN)
    keep[found[stays & is_new]] = True
    is_armed = kinds == EventKind.TIMER_ARMED
    for mask in (stays & is_armed, stays & is_fire):
        last = np.full(groups, -1)
        last[group[mask]] = found[mask]
        keep[last[last >= 0]] = True
    fires = np.bincount(group[stays & is_fire], minlength=groups)
    many = fires > 1
    more = list(zip(timers[many].tolist(), (fires[many] - 1).tolist(), strict=True))

    # Every arming and every new due time uses an order.
    sets = np.flatnonzero(is_armed | (is_fire & (b != NEVER)))
    due = np.where(is_armed[sets], a[sets], b[sets])
    before = np.roll(due, 1)
    firsts = np.flatnonzero(np.concatenate(([True], group[sets][1:] != group[sets][:-1])))
    firsts = firsts[: len(sets)]
    for first in firsts[is_fire[sets[firsts]]].tolist():
        subject = int(subjects[sets[first]])
        table = timeline.timers
        before[first] = table.due[table.index(subject)] if subject in table else NEVER
    gives = is_armed[sets] | (due != before)
    given = np.zeros(len(kind), np.int64)
    given[found[sets[gives]]] = 1
    order = np.cumsum(given)
    last = np.full(groups, -1)
    last[group[sets[gives]]] = found[sets[gives]]
    ordered = (last >= 0) & ~went
    orders = list(zip(timers[ordered].tolist(), order[last[ordered]].tolist(), strict=True))
    return _Timers(more, orders, int(order[-1]))
