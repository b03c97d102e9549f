"""Questions about the texts of a string table, answered once per text.

Tables of events and timers hold numbers of texts. What a filter or an order wants
to know about a text is worked out once when the text is new and looked up by
number afterwards, for all rows at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


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
