"""Which clocks are shown below which, and how one such shape becomes another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Stands above the topmost clocks; no clock has this number.
TOP: Final = 0


@dataclass(slots=True)
class ClockShape:
    """Which clocks are shown below which; 0 stands above the topmost."""

    children: dict[int, list[int]] = field(default_factory=lambda: {TOP: []})
    parent: dict[int, int] = field(default_factory=dict)
    row: dict[int, int] = field(default_factory=dict)

    def add(self, parent: int, clock_ids: Iterable[int]) -> None:
        """Append clocks below ``parent``."""
        listed = self.children.setdefault(parent, [])
        for clock_id in clock_ids:
            self.row[clock_id] = len(listed)
            self.parent[clock_id] = parent
            self.children[clock_id] = []
            listed.append(clock_id)

    def insert_branch(self, parent: int, at: int, clock_ids: list[int], whole: ClockShape) -> None:
        """Insert clocks with everything that ``whole`` has below them."""
        self.children[parent][at:at] = clock_ids
        self.renumber(parent, at)
        pending = [(parent, clock_ids)]
        while pending:
            above, listed = pending.pop()
            for row, clock_id in enumerate(listed):
                self.parent[clock_id] = above
                if above != parent:
                    self.row[clock_id] = row
                below = list(whole.children[clock_id])
                self.children[clock_id] = below
                if below:
                    pending.append((clock_id, below))

    def remove_branches(self, parent: int, start: int, stop: int) -> None:
        """Remove the clocks in rows ``start`` to ``stop`` and everything below them."""
        pending = self.children[parent][start:stop]
        del self.children[parent][start:stop]
        self.renumber(parent, start)
        while pending:
            clock_id = pending.pop()
            pending += self.children.pop(clock_id)
            del self.parent[clock_id], self.row[clock_id]

    def renumber(self, parent: int, start: int) -> None:
        """Correct the remembered rows below ``parent`` from row ``start`` on."""
        listed = self.children[parent]
        for row in range(start, len(listed)):
            self.row[listed[row]] = row


def gone_runs(shape: ClockShape, wanted: ClockShape, parent: int) -> list[tuple[int, int]]:
    """Return the runs of rows below ``parent`` that are not wanted there."""
    kept = set(wanted.children[parent])
    runs: list[tuple[int, int]] = []
    for row, clock_id in enumerate(shape.children[parent]):
        if clock_id in kept:
            continue
        if runs and runs[-1][1] == row:
            runs[-1] = (runs[-1][0], row + 1)
        else:
            runs.append((row, row + 1))
    return runs


def is_reordered(shown: list[int], goal: list[int]) -> bool:
    """Return whether clocks that are in both lists are in another order."""
    shown_set, goal_set = set(shown), set(goal)
    stays = [each for each in shown if each in goal_set]
    return stays != [each for each in goal if each in shown_set]
