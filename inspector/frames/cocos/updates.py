"""The update callbacks of an original's scheduler: by target, and in the lists of a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.frames.cocos.dialects import Lists
from inspector.frames.cocos.lists import ArrayOrder, LinkedOrder, UpdateEntry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inspector.frames.cocos.dialects import Dialect
    from inspector.frames.scheduling import Callback


class DialectUpdates:
    """Keeps update callbacks as the originals do: three lists, and a table of targets.

    Attributes:
        lists: Those with a priority below 0, those with 0 and those above, in the order in
            which a frame walks through them.
    """

    def __init__(self, dialect: Dialect) -> None:
        """Begin with none."""
        order = ArrayOrder if dialect.lists is Lists.ARRAYS else LinkedOrder
        self._negative: ArrayOrder[UpdateEntry] | LinkedOrder[UpdateEntry] = order()
        self._zero: ArrayOrder[UpdateEntry] | LinkedOrder[UpdateEntry] = order()
        self._positive: ArrayOrder[UpdateEntry] | LinkedOrder[UpdateEntry] = order()
        self.lists = (self._negative, self._zero, self._positive)
        self._by_target: dict[int, UpdateEntry] = {}
        self._priority_of_everything = dialect.priority_of_everything

    def __len__(self) -> int:
        """Return how many targets have one, marked ones included."""
        return len(self._by_target)

    def find(self, target: object) -> UpdateEntry | None:
        """Return the update callback of a target, which may be marked as removed."""
        return self._by_target.get(id(target))

    def add(
        self, target: object, callback: Callback | None, priority: int, *, paused: bool
    ) -> None:
        """Put a new one behind those of the same priority; it is the target's from now on."""
        order = self._positive if priority > 0 else self._negative if priority else self._zero
        entry = UpdateEntry(target, callback, priority, paused=paused, order=order)
        order.insert(entry)
        self._by_target[id(target)] = entry

    def remove(self, entry: UpdateEntry) -> None:
        """Take one that is there out of its list, and its target out of the table."""
        entry.order.remove(entry)
        del self._by_target[id(entry.target)]

    def from_priority(self, min_priority: int | None) -> Iterator[UpdateEntry]:
        """Go through those from a priority on, or what the dialect takes for all of them."""
        least = self._priority_of_everything if min_priority is None else min_priority
        if least < 0:
            yield from [entry for entry in self._negative if entry.priority >= least]
        if least <= 0:
            yield from self._zero
        yield from [entry for entry in self._positive if entry.priority >= least]
