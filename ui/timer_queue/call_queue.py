"""The queue: the calls of clocks, schedulers, tickers, loops and the frame in one order."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Sequence
from enum import Enum
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.calls.call import SCHEDULED, SCHEDULERS, CallId, call_of
from inspector.events.members import TIMED_CALLS, MemberState, MemberTable
from inspector.events.timeline import Timeline
from inspector.vocabulary import MemberKind, TimerKind

from ..kit.table.columns import ColumnEnum
from ..kit.texts.clock_texts import ClockPlaces
from ..kit.texts.member_texts import member_run_state
from ..kit.texts.run_states import run_state_of
from .columns import DUE_COLUMNS, FIELD_COLUMNS, MEMBER_COLUMNS, TIMER_COLUMNS, CallColumn, QueueRow
from .member_calls import MemberCalls
from .timer_calls import TimerCalls
from .windowed_order import NO_VALUE, WindowedOrder, compact

#: How often stopped calls are put in order again, in nanoseconds of session time.
_LOOK_EVERY_NS: Final = 250_000_000
_ALWAYS_USED: Final = frozenset(
    {CallColumn.NAME, CallColumn.CLOCK, CallColumn.KIND, CallColumn.REMAINING, CallColumn.CALLS}
)


class CallGroup(Enum):
    """Calls that are shown or hidden together; the value is what the window calls them."""

    CLOCK_TIMERS = "Timers"
    FRAME_TIMERS = "Frame timers"
    EVERY_FRAME = "Every frame"


ALL_GROUPS: Final = frozenset(CallGroup)


class QueueCounts(Struct, frozen=True):
    total: int = 0  # All in the session
    in_branch: int = 0  # Those on the clocks of the chosen branch
    passing: int = 0  # How many pass the filters, and are in the table
    waiting: int = 0  # Those that are of a group that is shown, match the words, and are stopped


class CallQueue:
    """All calls, whatever schedules them, the next due first.

    Calls are kept as numbers, and only those in view are put into words. A pause moves none of
    them: a stopped call has its place as if it ran on from now.
    """

    def __init__(self, timeline: Timeline | None = None, strings: Sequence[str] = ("",)) -> None:
        """Take the calls of a timeline, with the string table of its log, which may grow."""
        self.timeline: Timeline | None = None  # Whose calls they are
        self.branch_id: int | None = None  # The clock whose branch is wanted, None for all
        self.words: tuple[str, ...] = ()
        self.groups = ALL_GROUPS
        self.only_waiting = False  # Whether only what is stopped is shown
        self._chosen_at: Hashable = None
        self._counted_at = -1
        self._of_members = {CallGroup.FRAME_TIMERS: 0, CallGroup.EVERY_FRAME: 0}
        self._said: dict[CallGroup, frozenset[CallColumn]] = {CallGroup.CLOCK_TIMERS: TIMER_COLUMNS}
        self.set_source(timeline, strings)

    def set_source(self, timeline: Timeline | None, strings: Sequence[str]) -> None:
        self.timeline, self.branch_id = timeline, None
        self._chosen_at, self._counted_at = None, -1
        if timeline is not None:
            self._timers = TimerCalls(timeline, strings)
            self._members = MemberCalls(timeline)

    @property
    def versions(self) -> Hashable:
        timeline = self.timeline
        if timeline is None:
            return None
        members = timeline.members
        values = members.values_version if self._has_members else 0
        of_members = members.structure_version, values
        wanted = self.branch_id, self.words, self.groups, self.only_waiting
        # Even without changes, stopped calls move back among the others as time passes.
        waits_at = timeline.at_ns // _LOOK_EVERY_NS if self._timers.waiting else 0
        return self._timers.versions, of_members, wanted, waits_at

    def count(self, group: CallGroup) -> int:
        """Return how many calls of a group there are now, even while nothing is refreshed."""
        timeline = self.timeline
        if timeline is None:
            return 0
        if group is CallGroup.CLOCK_TIMERS:
            return len(timeline.timers)
        self._count_members(timeline)
        return self._of_members[group]

    def _count_members(self, timeline: Timeline) -> None:
        """Find out how many calls members have, and which columns say something of them."""
        members = timeline.members
        if self._counted_at == members.structure_version:
            return
        self._counted_at = members.structure_version
        calls = [each for each in members.by_id.values() if each.kind in SCHEDULED]
        timed = [each for each in calls if each.kind in TIMED_CALLS]
        others = [each for each in calls if each.kind not in TIMED_CALLS]
        for group, of_group in ((CallGroup.FRAME_TIMERS, timed), (CallGroup.EVERY_FRAME, others)):
            self._of_members[group] = len(of_group)
            self._said[group] = _columns_of(members, of_group)
        self._said[CallGroup.FRAME_TIMERS] |= DUE_COLUMNS

    def columns_used(self) -> frozenset[CallColumn]:
        shown = [group for group in self.groups if self.count(group)]
        said = frozenset(itertools.chain.from_iterable(self._said[group] for group in shown))
        return (said if shown else TIMER_COLUMNS) | _ALWAYS_USED

    def total(self) -> int:
        return sum(map(self.count, CallGroup))

    def row(self, key: int) -> QueueRow | None:
        timeline = self.timeline
        call = None if timeline is None else call_of(timeline, CallId.of_key(key))
        if timeline is None or call is None:
            return None
        member = timeline.members.by_id[call.id.number] if call.id.is_member else None
        run_state = (
            run_state_of(timeline, call.clock_id)
            if member is None
            else member_run_state(timeline, member)
        )
        waits = bool(call.blockers) or (call.due_ns is not None and call.session_due_ns is None)
        return QueueRow(call, timeline, timeline.at_ns, run_state, waits, member)

    @property
    def _has_members(self) -> bool:
        """Whether calls of members can be among those that are shown."""
        groups = CallGroup.FRAME_TIMERS, CallGroup.EVERY_FRAME
        return any(group in self.groups and self.count(group) for group in groups)

    def _choose(self, timeline: Timeline) -> None:
        versions = self.versions
        if versions == self._chosen_at:
            return
        self._chosen_at = versions
        branch: tuple[int, ...] | None = None
        if self.branch_id is not None:
            is_there = self.branch_id in timeline.clocks
            branch = tuple(timeline.branch(self.branch_id)) if is_there else ()
        groups = self.groups
        are_timers = CallGroup.CLOCK_TIMERS in groups
        waiting = self.only_waiting
        self._timers.choose(branch, self.words, are_wanted=are_timers, only_waiting=waiting)
        structure = timeline.structure_version, timeline.members.structure_version
        if self._members.versions != structure:
            self._members = MemberCalls(timeline)
        self._members.choose(
            branch,
            self.words,
            with_timed=CallGroup.FRAME_TIMERS in groups,
            with_others=CallGroup.EVERY_FRAME in groups,
            only_waiting=waiting,
        )

    def fill(
        self, order: WindowedOrder, column: ColumnEnum | None, *, is_descending: bool
    ) -> QueueCounts:
        """Give the present calls in order of a column, or as a frame makes them."""
        timeline = self.timeline
        if timeline is None:
            nothing = np.zeros(0, np.int64)
            order.set_rows(nothing, nothing, nothing)
            return QueueCounts()
        self._choose(timeline)
        timers, members = self._timers, self._members
        places, rows = timers.places, members.places
        ids = _joined(timers.column("id", places), -members.ids[rows], is_view=places is None)
        keys = self._keys(column, places, rows)
        ties = _joined(timers.column("order", places), members.ranks[rows], is_view=places is None)
        order.set_rows(ids, -keys if is_descending else keys, ties)
        return QueueCounts(
            total=self.total(),
            in_branch=timers.in_branch + members.in_branch,
            passing=len(order),
            waiting=timers.waiting + members.stopped,
        )

    def _keys(
        self, column: ColumnEnum | None, places: NDArray[np.int64] | None, rows: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return what calls are ordered by, smallest first, those of members at the end."""
        timers, members = self._timers, self._members
        if column is CallColumn.KIND or column in {
            CallColumn.CLOCK,
            CallColumn.TARGET,
            CallColumn.SCHEDULER,
        }:
            return self._text_keys(column, places, rows)
        head = timers.keys(column, places)
        if head is None:
            head = np.full(timers.column("id", places).size, NO_VALUE)
        if not rows.size:
            return head.copy() if places is None else head
        texts = members.texts(column) if column is not None else None
        if texts is not None:
            head, tail = self._name_keys(head, [texts[row] for row in rows.tolist()])
        else:
            tail = members.keys(column)[rows]
        if column is None:
            # Timers of clocks come first: they fire in the first phase of a frame.
            tail = tail + (int(head.max()) + 1 if head.size else 0)
        return compact(np.concatenate((head, tail)))

    def _name_keys(
        self, ranks: NDArray[np.int64], texts: Sequence[str]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return what names are ordered by, given the ranks of those of timers."""
        distinct = sorted({text.casefold() for text in texts})
        step, keys = len(distinct) + 1, {}
        for number, text in enumerate(distinct):
            place, is_it = self._timers.names.place(text)
            keys[text] = place * step + (step - 1 if is_it else number)
        return ranks * step + (step - 1), _numbers(keys[text.casefold()] for text in texts)

    def _text_keys(
        self, column: ColumnEnum, places: NDArray[np.int64] | None, rows: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        timeline, timers = self.timeline, self._timers
        assert timeline is not None, "calls are of a timeline"
        texts = self._members.texts(column) or []
        tail = [texts[row].casefold() for row in rows.tolist()]
        owners: dict[int, str] = {}
        name = "kind" if column is CallColumn.KIND else "clock"
        if column is CallColumn.KIND:
            owners = {int(kind): kind.text.casefold() for kind in TimerKind}
        elif column is CallColumn.CLOCK:
            owners = {number: each.name.casefold() for number, each in timeline.clocks.items()}
        ranks = _ranks([*owners.values(), *tail])
        owner_places = ClockPlaces(owners)
        known = np.full(owner_places.count, ranks[""])
        known[owner_places.of(list(owners))] = [ranks[text] for text in owners.values()]
        owner = timers.column(name, places)
        head = known[owner_places.of(owner)] if owners else np.full(owner.size, ranks[""])
        return np.concatenate((head, _numbers(ranks[text] for text in tail)))


def _columns_of(members: MemberTable, calls: Sequence[MemberState]) -> frozenset[CallColumn]:
    if not calls:
        return frozenset()
    used = set(MEMBER_COLUMNS)
    for number in {each.parent_id for each in calls}:
        above = list(members.path(number))
        if above and above[0].kind is MemberKind.TARGET:
            used.add(CallColumn.TARGET)
        if any(each.kind in SCHEDULERS for each in above):
            used.add(CallColumn.SCHEDULER)
    for field, column in FIELD_COLUMNS.items():
        if any(field in each.fields for each in calls):
            used.add(column)
    return frozenset(used)


def _joined(
    head: NDArray[np.int64], tail: NDArray[np.int64], *, is_view: bool
) -> NDArray[np.int64]:
    """Return timers and members behind them; views into the timeline must not stay."""
    if tail.size:
        return np.concatenate((head, tail))
    return head.copy() if is_view else head


def _ranks(texts: Iterable[str]) -> dict[str, int]:
    """Return the place of each text in alphabetical order; the empty text comes last."""
    order = {text: place for place, text in enumerate(sorted(set(texts) - {""}))}
    order[""] = len(order)
    return order


def _numbers(values: Iterable[int]) -> NDArray[np.int64]:
    return np.fromiter(values, np.int64)
