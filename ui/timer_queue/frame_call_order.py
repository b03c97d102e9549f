"""The frame calls in order: columns of numbers, for ordering and counting many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np
from typing_extensions import override

from inspector.calls.blockers import clock_blockers, member_blockers
from inspector.calls.call import SCHEDULED
from inspector.events.members import CLOCK_CALLS, TIMED_CALLS, WITH_TIME
from inspector.vocabulary import NEVER, RATE_DENOMINATOR, Field, MemberKind, Phase

from .columns import CallColumn, kind_text
from .model import QueueCounts, QueueOrder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from inspector.events.members import MemberState
    from inspector.events.timeline import Timeline

    from ..kit.table.columns import ColumnEnum
    from .windowed_order import WindowedOrder

_Scalar = TypeVar("_Scalar", bound=np.generic)

# Asked for with every call in every refresh: plain numbers, found without a call of Python.
_PAUSED: Final = int(Field.PAUSED)
_DUE: Final = int(Field.DUE)
_TIME: Final = int(Field.TIME)
_RATE: Final = int(Field.RATE)
_PRIORITY: Final = int(Field.PRIORITY)
_PHASE: Final = int(Field.PHASE)
#: Behind every number that is known.
_LAST: Final = NEVER - 1
_BY_FIELD: Final[dict[ColumnEnum, int]] = {
    CallColumn.INTERVAL: int(Field.INTERVAL),
    CallColumn.PRIORITY: _PRIORITY,
}


class FrameCallOrder(QueueOrder):
    """What is called in frames, in the order in which it is called."""

    def __init__(self) -> None:
        """Begin without calls."""
        super().__init__(CallColumn, is_of_members=True)
        self._table: CallTable | None = None
        self._made_at: object = None
        self._chosen = np.zeros(0, np.bool_)
        self._chosen_by: object = None
        self._in_branch = 0
        self._total = (-1, 0)

    @override
    def set_source(self, timeline: Timeline | None, strings: Sequence[str]) -> None:
        super().set_source(timeline, strings)
        self._table, self._total = None, (-1, 0)

    @override
    def versions(self, timeline: Timeline) -> tuple[int, int, int, int]:
        return *_structure(timeline), timeline.members.values_version, timeline.mapping_version

    @override
    def total(self, timeline: Timeline) -> int:
        members = timeline.members
        if self._total[0] != members.structure_version:
            count = sum(member.kind in SCHEDULED for member in members.by_id.values())
            self._total = (members.structure_version, count)
        return self._total[1]

    @override
    def take(
        self,
        timeline: Timeline,
        order: WindowedOrder,
        column: ColumnEnum | None,
        *,
        is_descending: bool,
    ) -> QueueCounts:
        table = self._table
        if table is None or self._made_at != _structure(timeline):
            table = self._table = CallTable(timeline)
            self._made_at, self._chosen_by = _structure(timeline), None
        if self._chosen_by != (self.branch_id, self.words):
            self._choose(timeline, table)
        waiting = table.waiting()
        places = table.call_order(waiting)
        if column is not None:
            keys = table.keys(column, waiting)[places]
            places = places[np.argsort(-keys if is_descending else keys, kind="stable")]
        shown = table.ids[places[self._chosen[places]]]
        ranks = np.arange(shown.size)
        order.take(shown, ranks, ranks)
        return QueueCounts(
            total=len(table),
            in_branch=self._in_branch,
            shown=int(shown.size),
            waiting=int(np.count_nonzero(waiting & self._chosen)),
        )

    def _choose(self, timeline: Timeline, table: CallTable) -> None:
        """Find out which calls the branch and the filter let through."""
        chosen = np.ones(len(table), np.bool_)
        if self.branch_id is not None:
            is_there = self.branch_id in timeline.clocks
            chosen &= table.in_branch(timeline.branch(self.branch_id) if is_there else ())
        self._in_branch = int(np.count_nonzero(chosen))
        for word in self.words:
            chosen &= table.having(word)
        self._chosen, self._chosen_by = chosen, (self.branch_id, self.words)


def _structure(timeline: Timeline) -> tuple[int, int]:
    return timeline.structure_version, timeline.members.structure_version


class _Holder:
    """What calls hang under: a target, a ticker, or the clock itself.

    Attributes:
        member: The target or ticker, ``None`` for the clock.
        clock_id: The clock.
        scheduler: In whose time it is called, ``None`` for the clock's.
        above: Index of what lies above it, in :attr:`CallTable.aboves`.
    """

    __slots__ = ("above", "clock_id", "member", "scheduler")

    def __init__(
        self, member: MemberState | None, clock_id: int, scheduler: MemberState | None, above: int
    ) -> None:
        self.member = member
        self.clock_id = clock_id
        self.scheduler = scheduler
        self.above = above

    @property
    def child_clock(self) -> MemberState | None:
        """The child clock, if that is what it is."""
        is_one = self.member is not None and self.member.kind is MemberKind.CHILD_CLOCK
        return self.member if is_one else None


class CallTable:
    """All calls of a timeline, in the places in which their members came.

    Made when members come or go; what changes with every frame is asked for by the
    methods, one number a call.

    Attributes:
        states: The calls.
        ids: Their numbers, int64, shape (calls,).
    """

    def __init__(self, timeline: Timeline) -> None:
        """Take the calls of a timeline."""
        self._timeline = timeline
        members = timeline.members
        listed = SCHEDULED
        self.states = [state for state in members.by_id.values() if state.kind in listed]
        self.ids = _numbers(state.id for state in self.states)
        self._holders: list[_Holder] = []
        self._aboves: list[tuple[int, int]] = []
        self._holder_of = self._find_holders()
        self._is_timed = np.array([state.kind in TIMED_CALLS for state in self.states], np.bool_)
        self._callbacks = [
            place
            for place, state in enumerate(self.states)
            if state.kind is MemberKind.FRAME_CALLBACK
        ]
        self._group, self._place = self._call_order()
        self._keys: dict[ColumnEnum, NDArray[np.int64]] = {}

    def __len__(self) -> int:
        """Return how many calls there are."""
        return len(self.states)

    # ------------------------------------------------------------------ structure

    def _find_holders(self) -> NDArray[np.int64]:
        by_id = self._timeline.members.by_id
        holders: dict[tuple[int, int], int] = {}
        aboves: dict[tuple[int, int], int] = {}
        schedulers: dict[int, MemberState | None] = {}
        found = []
        for state in self.states:
            key = (state.parent_id, state.clock_id)
            index = holders.get(key)
            if index is None:
                index = holders[key] = len(holders)
                member = by_id.get(state.parent_id)
                over = (0 if member is None else member.parent_id, state.clock_id)
                above = aboves.setdefault(over, len(aboves))
                scheduler = None if member is None else self._caller(member, schedulers)
                self._holders.append(_Holder(member, state.clock_id, scheduler, above))
            found.append(index)
        self._aboves = list(aboves)
        return _numbers(found)

    def _caller(
        self, member: MemberState, known: dict[int, MemberState | None]
    ) -> MemberState | None:
        """Return the scheduler or ticker that calls what hangs under a member."""
        if member.kind in WITH_TIME:
            return member
        parent_id = member.parent_id
        if parent_id not in known:
            members = self._timeline.members
            known[parent_id] = members.scheduler_of(parent_id) if parent_id else None
        return known[parent_id]

    def _call_order(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return by call: the order of what calls it, and its place among updates.

        A scheduler runs in the update phase, unless something says otherwise.
        """
        states = self.states
        callers = [
            0 if holder.scheduler is None else holder.scheduler.id for holder in self._holders
        ]
        by_caller = [
            _caller_order(state, callers[index])
            for state, index in zip(states, self._holder_of.tolist(), strict=True)
        ]
        ranks = {group: rank for rank, group in enumerate(sorted(set(by_caller)))}
        priorities = _numbers(state.fields.get(_PRIORITY, 0) for state in states)
        places = np.empty(len(states), np.int64)
        turns = _numbers(state.turn for state in states)
        places[np.lexsort((turns, priorities))] = np.arange(len(states))
        return _numbers(ranks[each] for each in by_caller), places

    def in_branch(self, clock_ids: Iterable[int]) -> NDArray[np.bool_]:
        """Return which calls live by one of these clocks."""
        wanted = set(clock_ids)
        chosen = np.array([holder.clock_id in wanted for holder in self._holders], np.bool_)
        return self._of_holders(chosen)

    def having(self, word: str) -> NDArray[np.bool_]:
        """Return which calls have a word in name, kind, target, scheduler or clock."""
        clocks = self._timeline.clocks
        word = word.casefold()
        of_holder = []
        for holder in self._holders:
            clock = clocks.get(holder.clock_id)
            of_holder.append(
                (holder.member is not None and word in holder.member.name.casefold())
                or (holder.scheduler is not None and word in holder.scheduler.name.casefold())
                or (clock is not None and word in clock.name.casefold())
            )
        own = np.array(
            [word in state.name.casefold() or word in kind_text(state) for state in self.states],
            np.bool_,
        )
        found: NDArray[np.bool_] = own | self._of_holders(np.array(of_holder, np.bool_))
        return found

    # ------------------------------------------------------------------ at present

    def waiting(self) -> NDArray[np.bool_]:
        """Return which calls are stopped by a pause, a time scale of 0 or their clock."""
        above = np.array([self._is_stopped(*each) for each in self._aboves], np.bool_)
        holders = self._holders
        held = np.array(
            [
                holder.member is not None
                and bool(
                    holder.member.fields.get(_PAUSED)
                    or (
                        holder.scheduler is holder.member
                        and holder.member.fields.get(_RATE, RATE_DENOMINATOR) == 0
                    )
                )
                for holder in holders
            ],
            np.bool_,
        )
        if holders:
            held |= above[_numbers(holder.above for holder in holders)]
        own = np.array([state.fields.get(_PAUSED, 0) for state in self.states], np.bool_)
        stopped = self._of_holders(held)
        for place in self._callbacks:
            if not self.states[place].waits_for_clock:
                stopped[place] = False
        found: NDArray[np.bool_] = own | stopped
        return found

    def _is_stopped(self, member_id: int, clock_id: int) -> bool:
        timeline = self._timeline
        member = timeline.members.by_id.get(member_id)
        if member is not None and member_blockers(timeline, member):
            return True
        return clock_id in timeline.clocks and bool(clock_blockers(timeline, clock_id))

    def dues(self) -> NDArray[np.int64]:
        """Return when each is called next in its scheduler's time, ``NEVER`` for no instant."""
        return np.array([state.fields.get(_DUE, NEVER) for state in self.states], np.int64)

    def call_order(self, waiting: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the places of the calls in the order in which they are called.

        By scheduler: update callbacks by priority, then timers, what is due next
        first, those without an instant behind them, those that wait last.
        """
        dues = self.dues()
        timed = self._is_timed
        rank = np.zeros(len(self.states), np.int64)
        rank[timed] = 1
        rank[timed & (dues == NEVER)] = 2
        rank[timed & waiting] = 3
        return np.lexsort((np.where(timed, dues, self._place), rank, self._group))

    def keys(  # noqa: PLR0911 - one a column
        self, column: ColumnEnum, waiting: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """Return what the calls are ordered by, smallest first."""
        states = self.states
        match column:
            case CallColumn.DUE:
                return np.where(waiting, _LAST, np.minimum(self.dues(), _LAST - 1))
            case CallColumn.REMAINING:
                return self._remaining(waiting)
            case CallColumn.CALLS:
                return _numbers(state.calls for state in states)
            case CallColumn.TOOK:
                return _numbers(state.took_ns for state in states)
            case CallColumn.LEFT:
                left = _numbers(state.fields.get(Field.CALLS_LEFT, _LAST) for state in states)
                return np.where(left < 0, _LAST - 1, left)
            case CallColumn.STATE:
                own = np.array([state.fields.get(_PAUSED, 0) for state in states], np.bool_)
                return waiting.astype(np.int64) + own
            case _:
                return self._constant_keys(column)

    def _remaining(self, waiting: NDArray[np.bool_]) -> NDArray[np.int64]:
        now = _numbers(self._time_of(holder) for holder in self._holders)
        dues = self.dues()
        # What is called in every frame is called before every timer that is not overdue.
        left = np.where(dues == NEVER, 0, np.maximum(dues - self._of_holders(now), 0))
        return np.where(waiting, _LAST, left)

    def _time_of(self, holder: _Holder) -> int:
        """Return the time in which calls wait that hang there."""
        if holder.scheduler is not None:
            return holder.scheduler.fields.get(_TIME, 0)
        timeline = self._timeline
        return timeline.local_ns(holder.clock_id) if holder.clock_id in timeline.clocks else 0

    def _constant_keys(self, column: ColumnEnum) -> NDArray[np.int64]:
        found = self._keys.get(column)
        if found is not None:
            return found
        states = self.states
        if column in _BY_FIELD:
            number = _BY_FIELD[column]
            missing = _LAST if column is CallColumn.PRIORITY else 0
            keys = _numbers(state.fields.get(number, missing) for state in states)
        else:
            keys = self._text_keys(column)
        if column is not CallColumn.INTERVAL:
            # A timer can be given another interval while no call comes or goes.
            self._keys[column] = keys
        return keys

    def _text_keys(self, column: ColumnEnum) -> NDArray[np.int64]:
        if column is CallColumn.NAME:
            return _ranks([state.name for state in self.states])
        if column is CallColumn.KIND:
            return _ranks([kind_text(state) for state in self.states])
        clocks = self._timeline.clocks
        texts = []
        for holder in self._holders:
            if column is CallColumn.CLOCK:
                texts.append(clocks[holder.clock_id].name if holder.clock_id in clocks else "")
            elif column is CallColumn.SCHEDULER:
                caller = holder.scheduler or holder.child_clock
                texts.append("" if caller is None else caller.name)
            else:
                member = holder.member
                is_target = member is not None and member.kind is MemberKind.TARGET
                texts.append(member.name if is_target and member is not None else "")
        return self._of_holders(_ranks(texts))

    def _of_holders(self, values: NDArray[_Scalar]) -> NDArray[_Scalar]:
        """Return by call what was found for what it hangs under."""
        return values[self._holder_of]


def _caller_order(state: MemberState, caller_id: int) -> tuple[int, int]:
    """Return when in the frame what calls a call has its turn: clocks come before it."""
    if state.kind in CLOCK_CALLS:
        return Phase.TIMERS, 0
    if state.kind is MemberKind.FRAME_CALLBACK:
        return state.fields.get(_PHASE, Phase.UPDATE), state.id
    return Phase.UPDATE, caller_id or state.id


def _ranks(texts: Sequence[str]) -> NDArray[np.int64]:
    """Return the place of each text in alphabetical order; no text at all comes last."""
    folded = [text.casefold() for text in texts]
    order = {text: place for place, text in enumerate(sorted(set(folded) - {""}))}
    order[""] = len(order)
    return _numbers(order[text] for text in folded)


def _numbers(values: Iterable[int]) -> NDArray[np.int64]:
    return np.array(list(values), np.int64)
