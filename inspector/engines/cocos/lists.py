"""The lists that the originals iterate over in a frame: arrays and linked lists.

Many faults of the originals come from lists that change during the iteration, so each list
is iterated over exactly as in its original.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from inspector.clocks.callbacks import label_of
from inspector.engines.cocos.dialects import Dialect, Lists
from inspector.frames.scheduling import Callback, PendingCall


class Linked(Protocol):
    priority: int
    previous: object
    following: object


ItemT = TypeVar("ItemT", bound=Linked)


class UpdateEntry:
    """An update callback of a target."""

    def __init__(
        self,
        target: object,
        callback: Callback | None,
        priority: int,
        *,
        paused: bool,
        order: ArrayOrder[UpdateEntry] | LinkedOrder[UpdateEntry],
    ) -> None:
        self.target = target
        self.callback = callback  # ``None`` to look up ``target.update`` at each call
        self.priority = priority
        self.paused = paused
        self.is_marked = False  # Removed, though it may still be in its list
        self.order = order
        self.previous: object = None
        self.following: object = None

    @property
    def label(self) -> str:
        """The qualified name of the callback, ``update`` without one."""
        return "update" if self.callback is None else label_of(self.callback)

    def pending_call(self) -> PendingCall:
        return PendingCall(self.target, self.label, self.priority, 0.0, None, None, self.paused)


class ArrayOrder(Generic[ItemT]):
    """An array walked by index, as in Creator."""

    def __init__(self) -> None:
        self._items: list[ItemT] = []
        self._index = 0

    def __iter__(self) -> Iterator[ItemT]:
        return iter(list(self._items))

    def append(self, item: ItemT) -> None:
        self._items.append(item)

    def insert(self, item: ItemT) -> None:
        """Add behind all items of the same or a smaller priority."""
        for index, other in enumerate(self._items):
            if item.priority < other.priority:
                self._items.insert(index, item)
                return
        self._items.append(item)

    def remove(self, item: ItemT) -> None:
        """Remove; later items move up, also during an iteration."""
        self._items.remove(item)

    def remove_current(self, item: ItemT) -> None:
        """Remove the current item of the iteration without skipping the next one."""
        self._items.remove(item)
        self._index -= 1

    def walk(self) -> Iterator[ItemT]:
        """Iterate over the indices of the items present now."""
        for index in range(len(self._items)):
            yield self._items[index]

    def walk_elements(self) -> Iterator[ItemT]:
        """Iterate over the indices, checking the length each time."""
        self._index = 0
        while self._index < len(self._items):
            yield self._items[self._index]
            self._index += 1


class LinkedOrder(Generic[ItemT]):
    """A doubly linked list, as in cocos2d-x.

    A removed item keeps its links, so an iteration that is at it continues.
    """

    def __init__(self) -> None:
        self._head: ItemT | None = None
        self._tail: ItemT | None = None

    def __iter__(self) -> Iterator[ItemT]:
        items = []
        item = self._head
        while item is not None:
            items.append(item)
            item = _following(item)
        return iter(items)

    def append(self, item: ItemT) -> None:
        item.previous, item.following = self._tail, None
        if self._tail is None:
            self._head = item
        else:
            self._tail.following = item
        self._tail = item

    def insert(self, item: ItemT) -> None:
        """Add behind all items of the same or a smaller priority."""
        for other in self:
            if item.priority < other.priority:
                break
        else:
            self.append(item)
            return
        before = _previous(other)
        item.previous, item.following = before, other
        other.previous = item
        if before is None:
            self._head = item
        else:
            before.following = item

    def remove(self, item: ItemT) -> None:
        before, after = _previous(item), _following(item)
        if before is None:
            self._head = after
        else:
            before.following = after
        if after is None:
            self._tail = before
        else:
            after.previous = before

    remove_current = remove

    def walk(self) -> Iterator[ItemT]:
        """Iterate; the next item is chosen before the current one is called."""
        item = self._head
        while item is not None:
            after = _following(item)
            yield item
            item = after

    def walk_elements(self) -> Iterator[ItemT]:
        """Iterate; the next item is chosen after the current one is called."""
        item = self._head
        while item is not None:
            yield item
            item = _following(item)


class DialectUpdates:
    """Holds update callbacks as the originals do: three lists, and a table of targets.

    ``lists`` are those with a negative, zero and positive priority, in the order of a frame.
    """

    def __init__(self, dialect: Dialect) -> None:
        order = ArrayOrder if dialect.lists is Lists.ARRAYS else LinkedOrder
        self._negative: ArrayOrder[UpdateEntry] | LinkedOrder[UpdateEntry] = order()
        self._zero: ArrayOrder[UpdateEntry] | LinkedOrder[UpdateEntry] = order()
        self._positive: ArrayOrder[UpdateEntry] | LinkedOrder[UpdateEntry] = order()
        self.lists = (self._negative, self._zero, self._positive)
        self._by_target: dict[int, UpdateEntry] = {}
        self._priority_of_everything = dialect.priority_of_everything

    def __len__(self) -> int:
        return len(self._by_target)

    def find(self, target: object) -> UpdateEntry | None:
        return self._by_target.get(id(target))

    def add(
        self, target: object, callback: Callback | None, priority: int, *, paused: bool
    ) -> None:
        """Add a target's update callback behind those of the same priority."""
        order = self._positive if priority > 0 else self._negative if priority else self._zero
        entry = UpdateEntry(target, callback, priority, paused=paused, order=order)
        order.insert(entry)
        self._by_target[id(target)] = entry

    def remove(self, entry: UpdateEntry) -> None:
        entry.order.remove(entry)
        del self._by_target[id(entry.target)]

    def from_priority(self, min_priority: int | None) -> Iterator[UpdateEntry]:
        """Yield the callbacks from a priority up; ``None`` for what the dialect counts as all."""
        least = self._priority_of_everything if min_priority is None else min_priority
        if least < 0:
            yield from [entry for entry in self._negative if entry.priority >= least]
        if least <= 0:
            yield from self._zero
        yield from [entry for entry in self._positive if entry.priority >= least]


def _following(item: ItemT) -> ItemT | None:
    return item.following  # type: ignore[return-value]


def _previous(item: ItemT) -> ItemT | None:
    return item.previous  # type: ignore[return-value]
