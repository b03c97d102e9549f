"""The pending timers of clocks as columns of numbers, for ordering and counting many."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from inspector.calls.call import short_site
from inspector.events.timeline import Timeline
from inspector.vocabulary import NEVER, TimerKind

from ..kit.table.columns import ColumnEnum
from ..kit.texts.clock_texts import ClockPlaces
from .columns import CallColumn
from .windowed_order import ENDLESS, WAITING

#: Numeric columns, and the names of their values in the timeline's table of timers.
_STORED: Final[dict[ColumnEnum | None, str]] = {
    CallColumn.DUE_LOCAL: "due",
    CallColumn.INTERVAL: "interval",
    CallColumn.CALLS: "fired",
    CallColumn.LATENESS: "lateness",
}
_BY_SESSION: Final = frozenset({CallColumn.DUE_SESSION, CallColumn.REMAINING, None})


class TimerCalls:
    def __init__(self, timeline: Timeline, strings: Sequence[str]) -> None:
        """Take the timers of a timeline, with the string table of its log, which may grow."""
        self._timeline = timeline
        self._strings = strings
        self.in_branch = 0  # How many are on the clocks of the chosen branch
        # Places of the timers that pass, in the timeline's table; None for all
        self.places: NDArray[np.int64] | None = None
        self.waiting = 0  # How many of those that pass wait for a stopped clock, wanted or not
        self.names = StringRanks()
        self._matches: dict[str, _WordMatches] = {}

    @property
    def versions(self) -> tuple[int, int, int]:
        timeline = self._timeline
        return timeline.structure_version, timeline.mapping_version, timeline.timers_version

    @property
    def passing(self) -> int:
        return len(self._timeline.timers) if self.places is None else int(self.places.size)

    def choose(
        self,
        branch: Sequence[int] | None,
        words: Sequence[str],
        *,
        are_wanted: bool,
        only_waiting: bool,
    ) -> None:
        """Find out which timers of some clocks, or of all, pass with words in their texts.

        Those that will fire do not if only the waiting ones are wanted.
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
            self.places, self.waiting = np.zeros(0, np.int64), 0
            return
        self._matches = {each: self._matches.get(each) or _WordMatches(each) for each in words}
        for matches in self._matches.values():
            passing = self._passing(matches)
            chosen = passing if chosen is None else chosen & passing
        waits = timers.numpy("session_due") == NEVER
        if chosen is not None:
            waits &= chosen
        self.waiting = int(np.count_nonzero(waits))
        if only_waiting:
            chosen = waits
        self.places = None if chosen is None else np.flatnonzero(chosen)

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
        if column in _BY_SESSION:
            return self._session_dues(places)
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

    def _session_dues(self, places: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """Return when timers fire; those of stopped clocks as if these ran on from now.

        So a pause moves no row.
        """
        timeline = self._timeline
        dues = self.column("session_due", places).copy()
        stopped = np.flatnonzero(dues == NEVER)
        if stopped.size:
            owners = self.column("clock", places)[stopped]
            left = self.column("due", places)[stopped]
            for clock_id in np.unique(owners).tolist():
                on_clock = owners == clock_id
                rate = unpaused_rate(timeline, clock_id)
                left_ns = left[on_clock] - timeline.local_ns(clock_id)
                found = (left_ns / rate).astype(np.int64) + timeline.at_ns if rate else WAITING
                dues[stopped[on_clock]] = np.minimum(found, WAITING)
        return dues

    def _places(self) -> ClockPlaces:
        return ClockPlaces(self._timeline.clocks)


def unpaused_rate(timeline: Timeline, clock_id: int) -> float:
    """Return how fast the time of a clock would pass if nothing were paused; 0 for a rate of 0."""
    return float(prod(clock.rate for clock in timeline.path(clock_id)))


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
            # Most of the list is sorted already, so this costs about one comparison per text.
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
