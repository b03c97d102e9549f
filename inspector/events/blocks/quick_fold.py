"""Folding many events at once to the same state, skipping most of them.

Between distant instants most events are superseded: a timer that fired a thousand times is where
its last firing left it, and one that came and went leaves nothing. The superseded events are
found in the columns; the rest is folded as usual.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from inspector.events.blocks.ended_frames import OF_HISTORY, FrameCollector
from inspector.events.blocks.packed_columns import (
    EVENT_COLUMNS,
    KINDS,
    Block,
    group_by_group,
    kind_table,
    last_of_each,
    of_kinds,
)
from inspector.events.blocks.timer_events import NO_EVENT, TimerEvents
from inspector.events.schema import ABOUT_LOOPS, COMMANDS, FAILURES, FIELDS_THAT_COUNT, SCHEMA, Fold
from inspector.events.timeline import Timeline
from inspector.events.timer_table import UNKNOWN
from inspector.vocabulary import NEVER, Numbers

if TYPE_CHECKING:
    _Folds: TypeAlias = NDArray[np.uint8]


_FIELDS_THAT_COUNT: Final = tuple(FIELDS_THAT_COUNT)

_failures, _commands = kind_table(FAILURES), kind_table(COMMANDS)
_of_loops = kind_table(ABOUT_LOOPS)
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
    timeline.apply_blocks([array("q", block[:, keep].T.tobytes())])
    timeline.events_folded = folded + count
    timeline.at_ns = timeline.newest_ns = int(block[0, -1])
    for subject, more in calls:
        member = timeline.members.by_id.get(subject)
        if member is not None:
            member.calls += more
    timers.finish(timeline)
    # Number the frames of new failures and commands: most frame events were skipped.
    ended = np.flatnonzero(fold == Fold.FRAME_END.value)
    failed = np.flatnonzero(of_kinds(block, _failures))
    for at, before in enumerate(np.searchsorted(ended, failed).tolist(), failures):
        timeline.failures[at] = structs.replace(timeline.failures[at], frame=frames + before)
    asked = np.flatnonzero(of_kinds(block, _commands))
    for at, before in enumerate(np.searchsorted(ended, asked).tolist(), commands):
        timeline.commands[at] = structs.replace(timeline.commands[at], frame=frames + before)


def fold_numbers(timeline: Timeline, numbers: Numbers) -> None:
    """Fold events, five numbers each, and add their frames."""
    if isinstance(numbers, array) and not timeline.loops:
        block = (
            np.frombuffer(numbers, np.int64).reshape(len(numbers) // EVENT_COLUMNS, EVENT_COLUMNS).T
        )
        if not of_kinds(block, _of_loops).any():
            frames = timeline.frames
            ended = FrameCollector(frames.end, timeline.open_frame).fold(block, 0)[OF_HISTORY:]
            fold_block(timeline, block, frames.end)
            frames.extend([array("q", column.tobytes()) for column in ended])
            return
    timeline.apply_blocks([numbers])


def _keep_frame(keep: NDArray[np.bool_], fold: _Folds) -> None:
    began = np.flatnonzero(fold == Fold.FRAME_START.value)
    since = int(began[-1]) if began.size else 0
    keep[since:] |= fold[since:] == Fold.FRAME_PART.value
    if began.size:
        keep[since] = True


def _keep_loops(keep: NDArray[np.bool_], fold: _Folds, block: Block) -> None:
    """Keep, for each loop that is not shown, its last frame start and all parts after that."""
    is_part = fold == Fold.LOOP_PART.value
    began = np.flatnonzero(fold == Fold.LOOP_START.value)
    if began.size:
        subjects = block[2]
        for since in began[last_of_each(subjects[began])[0]].tolist():
            keep[since] = True
            is_part[:since] &= subjects[:since] != subjects[since]
    keep |= is_part


def _keep_fields(keep: NDArray[np.bool_], fold: _Folds, block: Block) -> None:
    """Keep the last value of each field of each member; of fields where each counts, all."""
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
    """Keep the last call of each member; returns members with their numbers of skipped calls."""
    calls = np.flatnonzero(fold == Fold.CALL.value)
    if not calls.size:
        return []
    subjects = block[2, calls]
    last, counts = last_of_each(subjects)
    keep[calls[last]] = True
    return list(zip(subjects[last].tolist(), (counts - 1).tolist(), strict=True))


class _Timers(Struct):
    """The effect of skipped events on timers that are new in the block."""

    timers: NDArray[np.int64]
    fires: NDArray[np.int64]  # How many of their firings were skipped
    orders: NDArray[np.int64]  # Their order, 0 for unchanged
    last_order: int

    def finish(self, timeline: Timeline) -> None:
        """Apply the effect to a timeline into which the kept events were folded."""
        table = timeline.timers
        rows = table.rows_of(self.timers)
        is_there = rows >= 0
        table.numpy("fired")[rows[is_there]] += self.fires[is_there]
        is_there &= self.orders > 0
        table.numpy("order")[rows[is_there]] = self.orders[is_there]
        timeline._last_order = self.last_order


def _keep_timers(
    keep: NDArray[np.bool_], fold: _Folds, block: Block, timeline: Timeline
) -> _Timers:
    """Keep the events that end timers, and those that decide the state of new timers.

    Changes of timers that existed before the block are applied at once.
    """
    found = np.flatnonzero(fold == Fold.TIMER.value)
    if not found.size:
        none = np.array([], np.int64)
        return _Timers(none, none, none, timeline._last_order)
    told = TimerEvents(block[:, found])
    timers = told.timers
    came, stays = told.added != NO_EVENT, told.ended == NO_EVENT
    rows = timeline.timers.rows_of(timers)
    is_known = stays & ~came & (told.origin == NO_EVENT) & (rows >= 0)
    remains = stays & ~is_known
    keep[found[told.is_end & ~came[told.group]]] = True
    keep[found[told.is_new & stays[told.group]]] = True
    for last in (told.armed, told.fired):
        keep[found[last[(last != NO_EVENT) & remains]]] = True
    orders, ordered = _orders(told, rows, timeline)
    _change(timeline, told, np.flatnonzero(is_known), rows, orders)
    fires = np.maximum(told.fires[remains] - 1, 0)
    return _Timers(timers[remains], fires, orders[remains], timeline._last_order + ordered)


def _orders(
    told: TimerEvents, rows: NDArray[np.intp], timeline: Timeline
) -> tuple[NDArray[np.int64], int]:
    """Return the last order of each timer, 0 for unchanged, and how many were given.

    Every arming and every new due time uses one.
    """
    groups = len(told.timers)
    places = group_by_group(told.group, groups)
    sets = places[told.sets_due[places]]
    due, group = told.dues[sets], told.group[sets]
    before = np.roll(due, 1)
    firsts = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1])))[: len(sets)]
    fired = firsts[told.is_fired[sets[firsts]]]
    row = rows[group[fired]]
    is_there = row >= 0
    before[fired] = NEVER
    before[fired[is_there]] = timeline.timers.numpy("due")[row[is_there]]
    gives = told.is_armed[sets] | (due != before)
    given = np.zeros(told.events.shape[1], np.int64)
    given[sets[gives]] = 1
    order = timeline._last_order + np.cumsum(given)
    last = np.zeros(groups, np.int64)
    last[group[gives]] = order[sets[gives]]
    return last, int(given.sum())


def _change(
    timeline: Timeline,
    told: TimerEvents,
    known: NDArray[np.intp],
    rows: NDArray[np.intp],
    orders: NDArray[np.int64],
) -> None:
    """Fold the firings and armings of timers that existed before the block and still do."""
    table = timeline.timers
    row = rows[known]
    table.numpy("fired")[row] += told.fires[known]
    _, _, _, a, b = told.events
    for name, last, values in (
        ("lateness", told.fired, a),
        ("interval", told.armed, b),
        ("due", told.due, told.dues),
    ):
        place = last[known]
        is_said = place != NO_EVENT
        table.numpy(name)[row[is_said]] = values[place[is_said]]
    is_new = orders[known] > 0
    table.numpy("order")[row[is_new]] = orders[known[is_new]]
    table.numpy("session_due")[row] = UNKNOWN
    timeline._has_many_unknown = True
    timeline.timers_version += len(known)
