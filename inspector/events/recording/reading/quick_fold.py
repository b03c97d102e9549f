"""Folding many events at once to the same state, skipping most of them.

Between distant instants most events are superseded: a timer that fired a thousand times is where
its last firing left it, and one that came and went leaves nothing. The superseded events are
found in the columns; the rest is folded as usual.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.events.recording.packed_columns import (
    KINDS,
    Block,
    events_of,
    group_by_group,
    kind_table,
    last_of_each,
    of_kinds,
)
from inspector.events.recording.timer_events import TimerEvents
from inspector.events.schema import COMMANDS, FAILURES, FIELDS_THAT_COUNT, SCHEMA, Fold
from inspector.events.timeline import Timeline
from inspector.vocabulary import NEVER

if TYPE_CHECKING:
    _Folds: TypeAlias = NDArray[np.uint8]


_FIELDS_THAT_COUNT: Final = tuple(FIELDS_THAT_COUNT)

_failures, _commands = kind_table(FAILURES), kind_table(COMMANDS)
_folds: Final = np.full(KINDS, Fold.NONE.value, np.uint8)
for _row in SCHEMA.values():
    _folds[_row.kind] = _row.fold.value


def fold_block(timeline: Timeline, block: Block, frames: int) -> None:
    """Fold events, as :meth:`Timeline.apply_all` does.

    Frames are not added to the frame history, and only folded events raise version numbers.
    """
    count = block.shape[1]
    if not count:
        return
    fold: _Folds = np.take(_folds, block[1], mode="clip")
    keep: NDArray[np.bool_] = fold == Fold.EACH.value
    _keep_frame(keep, fold)
    _keep_loops(keep, fold, block)
    _keep_fields(keep, fold, block)
    calls = _keep_calls(keep, fold, block)
    timers = _keep_timers(keep, fold, block, timeline)
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
    # The frames of the new failures and commands.
    ended = np.flatnonzero(fold == Fold.FRAME_END.value)
    failed = np.flatnonzero(of_kinds(block, _failures))
    for at, before in enumerate(np.searchsorted(ended, failed).tolist(), failures):
        timeline.failures[at] = replace(timeline.failures[at], frame=frames + before)
    asked = np.flatnonzero(of_kinds(block, _commands))
    for at, before in enumerate(np.searchsorted(ended, asked).tolist(), commands):
        timeline.commands[at] = replace(timeline.commands[at], frame=frames + before)


def _keep_frame(keep: NDArray[np.bool_], fold: _Folds) -> None:
    began = np.flatnonzero(fold == Fold.FRAME_START.value)
    since = int(began[-1]) if began.size else 0
    keep[since:] |= fold[since:] == Fold.FRAME_PART.value
    if began.size:
        keep[since] = True


def _keep_loops(keep: NDArray[np.bool_], fold: _Folds, block: Block) -> None:
    """Keep the same of every loop that is not shown."""
    is_part = fold == Fold.LOOP_PART.value
    began = np.flatnonzero(fold == Fold.LOOP_START.value)
    if began.size:
        subjects = block[2]
        for since in began[last_of_each(subjects[began])[0]].tolist():
            keep[since] = True
            is_part[:since] &= subjects[:since] != subjects[since]
    keep |= is_part


def _keep_fields(keep: NDArray[np.bool_], fold: _Folds, block: Block) -> None:
    """Keep the last value of each field of each member, or all where each counts."""
    sets = np.flatnonzero(fold == Fold.FIELD.value)
    if not sets.size:
        return
    field = block[3, sets]
    counting = np.isin(field, _FIELDS_THAT_COUNT)
    keep[sets[counting]] = True
    sets = sets[~counting]
    key = block[2, sets] * KINDS + block[3, sets]
    keep[sets[last_of_each(key)[0]]] = True


def _keep_calls(keep: NDArray[np.bool_], fold: _Folds, block: Block) -> list[tuple[int, int]]:
    """Keep the last call of each member; return members and their number of skipped calls."""
    calls = np.flatnonzero(fold == Fold.CALL.value)
    if not calls.size:
        return []
    subjects = block[2, calls]
    last, counts = last_of_each(subjects)
    keep[calls[last]] = True
    return list(zip(subjects[last].tolist(), (counts - 1).tolist(), strict=True))


class _Timers(Struct):
    fires: list[tuple[int, int]]  # Remaining timers and their number of skipped firings
    orders: list[tuple[int, int]]  # Remaining timers and their order, counted from the block
    ordered: int  # Number of orders used

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


def _keep_timers(
    keep: NDArray[np.bool_], fold: _Folds, block: Block, timeline: Timeline
) -> _Timers:
    found = np.flatnonzero(fold == Fold.TIMER.value)
    if not found.size:
        return _Timers([], [], 0)
    told = TimerEvents(block[:, found])
    timers, group, groups = told.timers, told.group, len(told.timers)
    came, stays = told.added >= 0, told.ended < 0
    keep[found[told.is_end & ~came[group]]] = True
    keep[found[told.is_new & stays[group]]] = True
    for last in (told.armed, told.fired):
        keep[found[last[(last >= 0) & stays]]] = True
    many = stays & (told.fires > 1)
    more = list(zip(timers[many].tolist(), (told.fires[many] - 1).tolist(), strict=True))

    # Every arming and every new due time uses an order.
    places = group_by_group(group, groups)
    sets = places[told.sets_due[places]]
    due, group = told.dues[sets], group[sets]
    before = np.roll(due, 1)
    firsts = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1])))[: len(sets)]
    table = timeline.timers
    for first in firsts[told.is_fired[sets[firsts]]].tolist():
        timer_id = int(timers[group[first]])
        before[first] = table.due[table.index(timer_id)] if timer_id in table else NEVER
    gives = told.is_armed[sets] | (due != before)
    given = np.zeros(block.shape[1], np.int64)
    given[found[sets[gives]]] = 1
    order = np.cumsum(given)
    last = np.full(groups, -1)
    last[group[gives]] = found[sets[gives]]
    ordered = (last >= 0) & stays
    orders = list(zip(timers[ordered].tolist(), order[last[ordered]].tolist(), strict=True))
    return _Timers(more, orders, int(order[-1]))
