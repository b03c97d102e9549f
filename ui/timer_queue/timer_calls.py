"""The pending timers of clocks as columns of numbers, for ordering and counting many."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from inspector.calls.call import short_site
from inspector.clocks.rate import local_ns
from inspector.events.timeline import Timeline
from inspector.vocabulary import NEVER, TimerKind

from ..kit.table.columns import ColumnEnum
from ..kit.texts.clock_texts import ClockPlaces
from .columns import CallColumn
from .windowed_order import ENDLESS

#: Numeric columns and where the timeline keeps them.
_STORED: Final[dict[ColumnEnum | None, str]] = {
    CallColumn.DUE_LOCAL: "due",
    CallColumn.DUE_SESSION: "session_due",
    CallColumn.REMAINING: "session_due",
    CallColumn.INTERVAL: "interval",
    CallColumn.CALLS: "fired",
    CallColumn.LATENESS: "lateness",
    None: "session_due",
}


class TimerCalls:
    """The pending timers of clocks.

    Attributes:
        in_branch: How many are on the clocks of the chosen branch.
        running: Where those are, in the timeline's table, that pass and will fire; ``None`` for
            all.
        waiting: Where those are that pass and wait for a stopped clock.
        names: The alphabetical order of the string table.
    """

    def __init__(self, timeline: Timeline, strings: Sequence[str]) -> None:
        """Take the timers of a timeline.

        Args:
            strings: The string table of its log; may grow meanwhile.
        """
        self._timeline = timeline
        self._strings = strings
        self.in_branch = 0
        self.running: NDArray[np.int64] | None = None
        self.waiting = np.zeros(0, np.int64)
        self.names = StringRanks()
        self._matches: dict[str, _WordMatches] = {}
        self._blockers = np.zeros(1, np.int64)
        self._stopped_locals = np.zeros(1, np.int64)
        self._blockers_versions = (-1, -1)

    @property
    def versions(self) -> tuple[int, int, int]:
        """What changes with the timers or their order."""
        timeline = self._timeline
        return timeline.structure_version, timeline.mapping_version, timeline.timers_version

    @property
    def passing(self) -> int:
        """How many pass, whether they wait or not."""
        running = len(self._timeline.timers) if self.running is None else self.running.size
        return int(running + self.waiting.size)

    def choose(
        self, branch: Sequence[int] | None, words: Sequence[str], *, are_wanted: bool
    ) -> None:
        """Find out which timers pass, and which of them wait.

        Args:
            branch: The clocks whose timers are wanted, ``None`` for all.
            words: What must be in the texts of a timer.
            are_wanted: Whether any timer is.
        """
        self._timeline.resolve_dues()
        timers = self._timeline.timers
        chosen: NDArray[np.bool_] | None = None
        self.in_branch = len(timers)
        if branch is not None:
            places = self._places()
            is_in_branch = np.zeros(places.count, np.bool_)
            is_in_branch[places.of(list(branch))] = True
            chosen = is_in_branch[places.of(timers.numpy("clock"))]
            self.in_branch = int(np.count_nonzero(chosen))
        if not are_wanted:
            self.running = self.waiting = np.zeros(0, np.int64)
            return
        self._matches = {each: self._matches.get(each) or _WordMatches(each) for each in words}
        for matches in self._matches.values():
            passing = self._passing(matches)
            chosen = passing if chosen is None else chosen & passing
        waits = timers.numpy("session_due") == NEVER
        if chosen is not None:
            self.running = np.flatnonzero(chosen & ~waits)
            self.waiting = np.flatnonzero(chosen & waits)
        else:
            self.waiting = np.flatnonzero(waits)
            self.running = np.flatnonzero(~waits) if self.waiting.size else None

    def _passing(self, matches: _WordMatches) -> NDArray[np.bool_]:
        timers = self._timeline.timers
        labels = matches.in_label.table(self._strings)
        sites = matches.in_site.table(self._strings)
        places = self._places()
        clocks = np.zeros(places.count, np.bool_)
        has_word = matches.in_label.matches
        named = self._timeline.clocks.items()
        clocks[places.of([each for each, clock in named if has_word(clock.name)])] = True
        kinds = np.array([has_word(kind.text) for kind in TimerKind])
        passing: NDArray[np.bool_] = labels[timers.numpy("label")] | sites[timers.numpy("site")]
        passing |= clocks[places.of(timers.numpy("clock"))] | kinds[timers.numpy("kind")]
        return passing

    def column(self, name: str, places: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """Return the chosen places of a column; a view without choice, which must not stay."""
        found = self._timeline.timers.numpy(name)
        return found if places is None else found[places]

    def keys(
        self, column: ColumnEnum | None, places: NDArray[np.int64] | None
    ) -> NDArray[np.int64] | None:
        """Return what timers are ordered by, smallest first; ``None`` if they have no such thing.

        The texts of kinds and clocks are ordered by the queue, which has those of members too.
        """
        if column in _STORED:
            return self.column(_STORED[column], places)
        if column is CallColumn.LEFT:
            return np.where(self.column("interval", places) > 0, ENDLESS, 1)
        if column is CallColumn.STATE:
            return np.zeros(self.column("id", places).size, np.int64)
        if column in {CallColumn.NAME, CallColumn.CALL_SITE}:
            texts = self.column("label" if column is CallColumn.NAME else "site", places)
            return self.names.table(self._strings)[texts]
        return None

    def waiting_groups(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return by waiting timer: the clock that stops it, and what is left of its local time."""
        self._look_for_stopped()
        clocks = self._places().of(self.column("clock", self.waiting))
        left = self.column("due", self.waiting) - self._stopped_locals[clocks]
        return self._blockers[clocks], left

    def _look_for_stopped(self) -> None:
        """Note by clock number the nearest clock that stands still, or 0, and local times.

        The time of a clock that is stopped moves only with the mappings.
        """
        timeline = self._timeline
        versions = (timeline.structure_version, timeline.mapping_version)
        if versions == self._blockers_versions:
            return
        self._blockers_versions = versions
        places = self._places()
        self._blockers = np.zeros(places.count, np.int64)
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
        self._blockers[places.of(list(blockers))] = list(blockers.values())
        self._stopped_locals[places.of(list(locals_ns))] = list(locals_ns.values())

    def _places(self) -> ClockPlaces:
        return ClockPlaces(self._timeline.clocks)


class _WordMatches:
    """Which labels and which call sites, as shown, contain one word of the filter."""

    def __init__(self, word: str) -> None:
        self.in_label = StringMatches(word)
        self.in_site = StringMatches(word, short_site)


class StringMatches:
    """Which texts of a growing string table contain a word, whatever the case."""

    def __init__(self, word: str, shown_as: Callable[[str], str] = str) -> None:
        self._word = word.casefold()
        self._shown_as = shown_as
        self._table = np.zeros(0, np.bool_)

    def matches(self, text: str) -> bool:
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

    def place(self, text: str) -> tuple[int, bool]:
        """Return the rank of the first text that is not before another, and whether it is it."""
        text = text.casefold()
        place = bisect_left(self._sorted, text, key=self._folded.__getitem__)
        is_it = place < len(self._sorted) and self._folded[self._sorted[place]] == text
        return place, is_it
