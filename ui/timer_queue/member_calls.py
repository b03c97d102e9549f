"""The calls of schedulers, tickers, loops and the frame as numbers, for ordering many."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from inspector.calls.blockers import clock_blockers, member_blockers
from inspector.calls.call import SCHEDULED
from inspector.calls.dues import DueTimes
from inspector.events.members import CLOCK_CALLS, TIMED_CALLS, WITH_TIME, MemberState
from inspector.events.timeline import Timeline
from inspector.vocabulary import NEVER, RATE_DENOMINATOR, Field, MemberKind, Phase

from ..kit.table.columns import ColumnEnum
from .columns import CallColumn, kind_text
from .windowed_order import ENDLESS, NO_VALUE, WAITING

_Scalar = TypeVar("_Scalar", bound=np.generic)

# As plain numbers, because they are looked up for every call in every refresh.
_PAUSED: Final = int(Field.PAUSED)
_DUE: Final = int(Field.DUE)
_RATE: Final = int(Field.RATE)
_PRIORITY: Final = int(Field.PRIORITY)
_PHASE: Final = int(Field.PHASE)
_TEXTS: Final = frozenset(
    {CallColumn.NAME, CallColumn.KIND, CallColumn.CLOCK, CallColumn.TARGET, CallColumn.SCHEDULER}
)


class _Holder:
    """What calls hang under: a target, a ticker, or the clock itself."""

    __slots__ = ("above", "clock_id", "member", "scheduler")

    def __init__(
        self, member: MemberState | None, clock_id: int, scheduler: MemberState | None, above: int
    ) -> None:
        self.member = member  # The target or ticker, None for the clock
        self.clock_id = clock_id
        self.scheduler = scheduler  # The scheduler in whose time it is called, None for the clock's
        self.above = above  # Index of what it hangs under, among those of all holders

    @property
    def child_clock(self) -> MemberState | None:
        is_one = self.member is not None and self.member.kind is MemberKind.CHILD_CLOCK
        return self.member if is_one else None


class MemberCalls:
    """All scheduled members of a timeline, in the places in which they came.

    Made when members come or go; what changes with every frame is asked for by the
    methods, one number a call.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        members = timeline.members
        # The versions it was made at; they change when calls or clocks come or go
        self.versions = timeline.structure_version, members.structure_version
        # The calls
        self.states = [state for state in members.by_id.values() if state.kind in SCHEDULED]
        # Their numbers, int64, shape (calls,)
        self.ids = _numbers(state.id for state in self.states)
        self._holders: list[_Holder] = []
        self._aboves: list[tuple[int, int]] = []
        self._holder_of = self._find_holders()
        # Which of them wait for an instant instead of being called in every frame
        self.is_timed = np.array([state.kind in TIMED_CALLS for state in self.states], np.bool_)
        self._callbacks = [
            place
            for place, state in enumerate(self.states)
            if state.kind is MemberKind.FRAME_CALLBACK
        ]
        self._group, self._place = self._call_order()
        self._texts: dict[ColumnEnum, list[str]] = {}
        self._criteria: object = None
        self._chosen = np.zeros(0, np.bool_)
        self._is_stopped_now = self._chosen
        # in_branch: How many calls are on the clocks of the chosen branch
        # stopped: How many of those that pass are stopped, whether or not only those are wanted
        self.in_branch = self.stopped = 0
        # places: The places of the calls that pass
        # ranks: The place of every call in the order in which they are made
        self.places = self.ranks = np.zeros(0, np.int64)

    def choose(
        self,
        branch: Sequence[int] | None,
        words: Sequence[str],
        *,
        with_timed: bool,
        with_others: bool,
        only_waiting: bool,
    ) -> None:
        """Find out which calls pass, and in which order they are made.

        They are those of some clocks, or of all, with words in their texts: those that wait for an
        instant, those of every frame, or only those that are stopped.
        """
        criteria = (branch, words, with_timed, with_others)
        if criteria != self._criteria:
            self._criteria = criteria
            chosen = np.ones(len(self.states), np.bool_)
            if branch is not None:
                chosen &= self.in_clocks(branch)
            self.in_branch = int(np.count_nonzero(chosen))
            chosen &= np.where(self.is_timed, with_timed, with_others)
            for word in words:
                chosen &= self.having(word)
            self._chosen = chosen
        self._is_stopped_now = stopped = self.find_stopped()
        self.stopped = int(np.count_nonzero(stopped & self._chosen))
        self.places = np.flatnonzero(self._chosen & stopped if only_waiting else self._chosen)
        self.ranks = np.empty(len(self.states), np.int64)
        self.ranks[self._in_call_order()] = np.arange(len(self.states))

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

    def in_clocks(self, clock_ids: Collection[int]) -> NDArray[np.bool_]:
        wanted = frozenset(clock_ids)
        chosen = np.array([holder.clock_id in wanted for holder in self._holders], np.bool_)
        return self._of_holders(chosen)

    def having(self, word: str) -> NDArray[np.bool_]:
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

    def find_stopped(self) -> NDArray[np.bool_]:
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
        stopped = self._of_holders(held)
        for place in self._callbacks:
            if not self.states[place].waits_for_clock:
                stopped[place] = False
        found: NDArray[np.bool_] = self._are_paused_themselves() | stopped
        return found

    def _is_stopped(self, member_id: int, clock_id: int) -> bool:
        timeline = self._timeline
        member = timeline.members.by_id.get(member_id)
        if member is not None and member_blockers(timeline, member):
            return True
        return clock_id in timeline.clocks and bool(clock_blockers(timeline, clock_id))

    def _dues(self) -> NDArray[np.int64]:
        """Return when each is called next in its scheduler's time, ``NEVER`` for no instant."""
        return np.array([state.fields.get(_DUE, NEVER) for state in self.states], np.int64)

    def _in_call_order(self) -> NDArray[np.int64]:
        """Return the places of the calls in the order in which they are made.

        By scheduler: update callbacks by priority, then timers, what is due next
        first, those without an instant behind them, those that wait last.
        """
        dues, timed = self._dues(), self.is_timed
        rank = np.zeros(len(self.states), np.int64)
        rank[timed] = 1
        rank[timed & (dues == NEVER)] = 2
        rank[timed & self._is_stopped_now] = 3
        return np.lexsort((np.where(timed, dues, self._place), rank, self._group))

    def texts(self, column: ColumnEnum) -> list[str] | None:
        """Return what all calls are called in a column, ``None`` if they are ordered by numbers."""
        if column not in _TEXTS:
            return None
        if column not in self._texts:
            self._texts[column] = self._find_texts(column)
        return self._texts[column]

    def keys(self, column: ColumnEnum | None) -> NDArray[np.int64]:  # noqa: PLR0911 - one a column
        """Return what all calls are ordered by in a column of numbers, smallest first."""
        states, stopped = self.states, self._is_stopped_now
        match column:
            case None:
                return self.ranks
            case CallColumn.DUE_LOCAL:
                return np.where(stopped, WAITING, np.minimum(self._dues(), NO_VALUE))
            case CallColumn.REMAINING | CallColumn.DUE_SESSION:
                return self._session_dues()
            case CallColumn.CALLS:
                return _numbers(state.calls for state in states)
            case CallColumn.TOOK:
                return _numbers(state.took_ns for state in states)
            case CallColumn.LEFT:
                left = _numbers(state.fields.get(Field.CALLS_LEFT, NO_VALUE) for state in states)
                return np.where(left < 0, ENDLESS, left)
            case CallColumn.STATE:
                return stopped.astype(np.int64) + self._are_paused_themselves()
            case CallColumn.INTERVAL:
                return _numbers(state.fields.get(Field.INTERVAL, 0) for state in states)
            case CallColumn.PRIORITY:
                return _numbers(state.fields.get(_PRIORITY, NO_VALUE) for state in states)
            case _:
                return np.full(len(states), NO_VALUE)

    def _session_dues(self) -> NDArray[np.int64]:
        """Return the session instants of the calls; behind them those of every frame.

        What is stopped is due as if its time passed on from now.
        """
        timeline, stopped = self._timeline, self._is_stopped_now
        keys = np.where(stopped, WAITING, NO_VALUE)
        dues, endless = DueTimes(timeline), ENDLESS - timeline.at_ns
        for place in np.flatnonzero(self.is_timed).tolist():
            due = dues.session_due_ns(self.states[place])
            if stopped[place]:
                left = dues.left_ns(self.states[place])
                due = timeline.at_ns + (endless if left is None else min(left, endless))
            keys[place] = NO_VALUE if due is None else min(due, NO_VALUE)
        return keys

    def _are_paused_themselves(self) -> NDArray[np.bool_]:
        return np.array([state.fields.get(_PAUSED, 0) for state in self.states], np.bool_)

    def _find_texts(self, column: ColumnEnum) -> list[str]:
        if column is CallColumn.NAME:
            return [state.name or kind_text(state) for state in self.states]
        if column is CallColumn.KIND:
            return [kind_text(state) for state in self.states]
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
        return [texts[index] for index in self._holder_of.tolist()]

    def _of_holders(self, values: NDArray[_Scalar]) -> NDArray[_Scalar]:
        return values[self._holder_of]


def _caller_order(state: MemberState, caller_id: int) -> tuple[int, int]:
    """Return when in the frame what calls a call has its turn: clocks come before it."""
    if state.kind in CLOCK_CALLS:
        return Phase.TIMERS, 0
    if state.kind is MemberKind.FRAME_CALLBACK:
        return state.fields.get(_PHASE, Phase.UPDATE), state.id
    return Phase.UPDATE, caller_id or state.id


def _numbers(values: Iterable[int]) -> NDArray[np.int64]:
    return np.array(list(values), np.int64)
