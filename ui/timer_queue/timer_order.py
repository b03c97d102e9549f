"""The pending timers in order: columns of numbers, for ordering and counting many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from typing_extensions import override

from inspector.calls.call import short_site
from inspector.clocks.rate import local_ns
from inspector.vocabulary import NEVER, TimerKind

from .columns import TimerColumn
from .model import QueueCounts, QueueOrder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from inspector.events.timeline import Timeline

    from ..kit.table.columns import ColumnEnum
    from .windowed_order import WindowedOrder

#: Numeric columns and where the timeline keeps them.
_STORED: Final[dict[ColumnEnum, str]] = {
    TimerColumn.KIND: "kind",
    TimerColumn.DUE_LOCAL: "due",
    TimerColumn.INTERVAL: "interval",
    TimerColumn.FIRED: "fired",
    TimerColumn.LATENESS: "lateness",
}


class TimerOrder(QueueOrder):
    """Pending timers of clocks: those that will fire, the next first, or those that wait.

    Attributes:
        stoppers: How many of the waiting timers each stopped clock keeps, by its number.
    """

    def __init__(self, *, waits: bool = False) -> None:
        """Begin without timers.

        Args:
            waits: Whether it has the timers that wait for a stopped clock, not the others.
        """
        super().__init__(TimerColumn, TimerColumn.REMAINING)
        self._waits = waits
        self.stoppers: dict[int, int] = {}
        self._matches: dict[str, _WordMatches] = {}
        self._ranks = StringRanks()
        self._blockers = np.zeros(1, np.int64)
        self._stopped_locals = np.zeros(1, np.int64)
        self._blockers_versions = (-1, -1)

    @override
    def set_source(self, timeline: Timeline | None, strings: Sequence[str]) -> None:
        super().set_source(timeline, strings)
        self._matches.clear()
        self._ranks = StringRanks()
        self._blockers_versions = (-1, -1)

    @override
    def versions(self, timeline: Timeline) -> tuple[int, int, int]:
        return timeline.structure_version, timeline.mapping_version, timeline.timers_version

    @override
    def total(self, timeline: Timeline) -> int:
        return len(timeline.timers)

    @override
    def take(
        self,
        timeline: Timeline,
        order: WindowedOrder,
        column: ColumnEnum | None,
        *,
        is_descending: bool,
    ) -> QueueCounts:
        timeline.resolve_dues()
        timers = timeline.timers
        places, in_branch = self._chosen_places(timeline)
        is_waiting = _taken(timers.numpy("session_due"), places) == NEVER
        waiting = int(np.count_nonzero(is_waiting))
        if self._waits or waiting:
            wanted = np.flatnonzero(is_waiting if self._waits else ~is_waiting)
            places = wanted if places is None else places[wanted]
        keys = self._keys(timeline, column, places)
        order.take(
            _taken(timers.numpy("id"), places),
            -keys if is_descending else keys,
            _taken(timers.numpy("order"), places),
        )
        return QueueCounts(
            total=len(timers),
            in_branch=in_branch,
            shown=len(order),
            waiting=waiting,
        )

    def _chosen_places(self, timeline: Timeline) -> tuple[NDArray[np.int64] | None, int]:
        """Return which rows of the timeline's table are shown (``None``: all)."""
        timers = timeline.timers
        chosen: NDArray[np.bool_] | None = None
        in_branch = len(timers)
        if self.branch_id is not None:
            is_in_branch = np.zeros(_clock_limit(timeline), np.bool_)
            if self.branch_id in timeline.clocks:
                is_in_branch[timeline.branch(self.branch_id)] = True
            chosen = is_in_branch[timers.numpy("clock")]
            in_branch = int(np.count_nonzero(chosen))
        self._matches = {each: self._matches.get(each) or _WordMatches(each) for each in self.words}
        for matches in self._matches.values():
            passing = self._passing(matches, timeline)
            chosen = passing if chosen is None else chosen & passing
        return (None if chosen is None else np.flatnonzero(chosen)), in_branch

    def _passing(self, matches: _WordMatches, timeline: Timeline) -> NDArray[np.bool_]:
        timers = timeline.timers
        labels = matches.in_label.table(self.strings)
        sites = matches.in_site.table(self.strings)
        clocks = np.zeros(_clock_limit(timeline), np.bool_)
        has_word = matches.in_label.matches
        clocks[[each for each, clock in timeline.clocks.items() if has_word(clock.name)]] = True
        kinds = np.array([has_word(kind.text) for kind in TimerKind])
        passing: NDArray[np.bool_] = labels[timers.numpy("label")] | sites[timers.numpy("site")]
        passing |= clocks[timers.numpy("clock")] | kinds[timers.numpy("kind")]
        return passing

    def _keys(
        self,
        timeline: Timeline,
        column: ColumnEnum | None,
        places: NDArray[np.int64] | None,
    ) -> NDArray[np.int64]:
        """Return what the shown timers are ordered by, smallest first."""
        timers = timeline.timers
        if self._waits:
            return self._waiting_keys(timeline, places)
        if column in _STORED:
            return _taken(timers.numpy(_STORED[column]), places)
        if column == TimerColumn.NAME:
            return self._ranks.table(self.strings)[_taken(timers.numpy("label"), places)]
        if column == TimerColumn.CALL_SITE:
            return self._ranks.table(self.strings)[_taken(timers.numpy("site"), places)]
        if column == TimerColumn.CLOCK:
            return _clock_ranks(timeline)[_taken(timers.numpy("clock"), places)]
        return _taken(timers.numpy("session_due"), places)

    def _waiting_keys(
        self, timeline: Timeline, places: NDArray[np.int64] | None
    ) -> NDArray[np.int64]:
        """Return keys by what stops a timer, then by what is left of its clock's local time."""
        timers = timeline.timers
        self._look_for_stopped(timeline)
        clocks = _taken(timers.numpy("clock"), places)
        groups = self._blockers[clocks]
        stoppers, counts = np.unique(groups, return_counts=True)
        self.stoppers = dict(zip(stoppers.tolist(), counts.tolist(), strict=True))
        if not groups.size:
            return groups
        left = _taken(timers.numpy("due"), places) - self._stopped_locals[clocks]
        first = int(left.min())
        span = int(left.max()) - first + 1
        if (span * (int(groups.max()) + 1)).bit_length() >= np.iinfo(np.int64).bits - 1:
            return groups
        keys: NDArray[np.int64] = groups * span + (left - first)
        return keys

    def _look_for_stopped(self, timeline: Timeline) -> None:
        """Note by clock number the nearest clock that stands still, or 0, and local times.

        The time of a clock that is stopped moves only with the mappings.
        """
        versions = (timeline.structure_version, timeline.mapping_version)
        if versions == self._blockers_versions:
            return
        self._blockers_versions = versions
        self._blockers = np.zeros(_clock_limit(timeline), np.int64)
        self._stopped_locals = np.zeros_like(self._blockers)
        blockers: dict[int, int] = {0: 0}
        locals_ns: dict[int, int] = {0: 0}
        root_id = timeline.root_id
        for clock_id in timeline.branch(root_id) if root_id is not None else ():
            clock = timeline.clocks[clock_id]
            blocker = blockers[clock.parent_id] if clock.n else clock_id
            blockers[clock_id] = blocker
            if blocker:
                above_ns = locals_ns.get(clock.parent_id, 0)
                locals_ns[clock_id] = local_ns(above_ns, clock.n, clock.off)
        self._blockers[list(blockers)] = list(blockers.values())
        self._stopped_locals[list(locals_ns)] = list(locals_ns.values())


def _clock_limit(timeline: Timeline) -> int:
    return max(timeline.clocks, default=0) + 1


def _clock_ranks(timeline: Timeline) -> NDArray[np.int64]:
    clocks = sorted(timeline.clocks.values(), key=lambda clock: (clock.name.casefold(), clock.id))
    ranks = np.zeros(_clock_limit(timeline), np.int64)
    ranks[[clock.id for clock in clocks]] = np.arange(len(clocks))
    return ranks


def _taken(column: NDArray[np.int64], places: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Return a copy of the chosen places of a column; views into the timeline must not stay."""
    return column.copy() if places is None else column[places]


class _WordMatches:
    """Which labels and which call sites, as shown, contain one word of the filter."""

    def __init__(self, word: str) -> None:
        self.in_label = StringMatches(word)
        self.in_site = StringMatches(word, short_site)


class StringMatches:
    """Which texts of a growing string table contain a word, whatever the case."""

    def __init__(self, word: str, shown_as: Callable[[str], str] = str) -> None:
        """Look for ``word`` in what ``shown_as`` makes of each text."""
        self._word = word.casefold()
        self._shown_as = shown_as
        self._table = np.zeros(0, np.bool_)

    def matches(self, text: str) -> bool:
        """Return whether ``text`` contains the word."""
        return self._word in self._shown_as(text).casefold()

    def table(self, strings: Sequence[str]) -> NDArray[np.bool_]:
        """Return the answer for every text, by its number."""
        known = self._table.size
        if known != len(strings):
            fresh = [self.matches(text) for text in strings[known:]]
            self._table = np.concatenate((self._table, np.array(fresh, np.bool_)))
        return self._table


class StringRanks:
    """The place of each text of a growing string table in alphabetical order."""

    def __init__(self) -> None:
        self._folded: list[str] = []
        self._sorted: list[int] = []
        self._ranks = np.zeros(0, np.int64)

    def table(self, strings: Sequence[str]) -> NDArray[np.int64]:
        """Return the rank of every text, by its number; texts equal but for case share none."""
        known = len(self._folded)
        if known != len(strings):
            self._folded += [text.casefold() for text in strings[known:]]
            self._sorted += range(known, len(strings))
            # Mostly sorted already, which costs one comparison per text.
            self._sorted.sort(key=self._folded.__getitem__)
            self._ranks = np.empty(len(strings), np.int64)
            self._ranks[self._sorted] = np.arange(len(strings))
        return self._ranks
