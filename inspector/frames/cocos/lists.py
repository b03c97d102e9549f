"""The lists that the originals walk through in a frame: arrays and linked lists.

How a list behaves when it changes under the walk is what many of the originals'
faults come from, so each is walked exactly the way its original walks it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from inspector.clocks.callbacks import label_of
from inspector.frames.cocos.dialects import Lists
from inspector.frames.scheduling import PendingCall

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inspector.frames.cocos.dialects import Dialect
    from inspector.frames.scheduling import Callback


class Linked(Protocol):
    """What can be in a list: something with a place of its own in it."""

    priority: int
    previous: object
    following: object


ItemT = TypeVar("ItemT", bound=Linked)


class UpdateEntry:
    """An update callback of a target.

    Attributes:
        target: Whom it belongs to.
        callback: What is called; ``None`` for whatever ``target.update`` is by then.
        priority: The smaller, the earlier.
        paused: Not called for the time being.
        is_marked: Removed, though it may still be in its list.
        order: The list it is in.
    """

    def __init__(
        self,
        target: object,
        callback: Callback | None,
        priority: int,
        *,
        paused: bool,
        order: ArrayOrder[UpdateEntry] | LinkedOrder[UpdateEntry],
    ) -> None:
        """Hold what ``schedule_update`` was given."""
        self.target = target
        self.callback = callback
        self.priority = priority
        self.paused = paused
        self.is_marked = False
        self.order = order
        self.previous: object = None
        self.following: object = None

    @property
    def label(self) -> str:
        """The qualified name of the callback, ``update`` without one."""
        return "update" if self.callback is None else label_of(self.callback)

    def pending_call(self) -> PendingCall:
        """Return its present state as a value."""
        return PendingCall(self.target, self.label, self.priority, 0.0, None, None, self.paused)


class ArrayOrder(Generic[ItemT]):
    """An array walked by index, as in Creator."""

    def __init__(self) -> None:
        """Begin empty."""
        self._items: list[ItemT] = []
        self._index = 0

    def __iter__(self) -> Iterator[ItemT]:
        """Go through a copy."""
        return iter(list(self._items))

    def append(self, item: ItemT) -> None:
        """Add at the end."""
        self._items.append(item)

    def insert(self, item: ItemT) -> None:
        """Add behind everything of the same or a smaller priority."""
        for index, other in enumerate(self._items):
            if item.priority < other.priority:
                self._items.insert(index, item)
                return
        self._items.append(item)

    def remove(self, item: ItemT) -> None:
        """Take out; those behind move up, under a walk as well."""
        self._items.remove(item)

    def remove_current(self, item: ItemT) -> None:
        """Take out what the walk is at, which then skips nobody."""
        self._items.remove(item)
        self._index -= 1

    def walk(self) -> Iterator[ItemT]:
        """Go through as many indices as there are items now."""
        for index in range(len(self._items)):
            yield self._items[index]

    def walk_elements(self) -> Iterator[ItemT]:
        """Go through the indices, asking each time how many items there are."""
        self._index = 0
        while self._index < len(self._items):
            yield self._items[self._index]
            self._index += 1


class LinkedOrder(Generic[ItemT]):
    """A doubly linked list, as in cocos2d-x.

    An item that was taken out keeps its links: a walk that stands on it goes on.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self._head: ItemT | None = None
        self._tail: ItemT | None = None

    def __iter__(self) -> Iterator[ItemT]:
        """Go through a copy."""
        items = []
        item = self._head
        while item is not None:
            items.append(item)
            item = _following(item)
        return iter(items)

    def append(self, item: ItemT) -> None:
        """Add at the end."""
        item.previous, item.following = self._tail, None
        if self._tail is None:
            self._head = item
        else:
            self._tail.following = item
        self._tail = item

    def insert(self, item: ItemT) -> None:
        """Add behind everything of the same or a smaller priority."""
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
        """Take out; its own links stay as they are."""
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
        """Go through; who comes next is settled before the present one is called."""
        item = self._head
        while item is not None:
            after = _following(item)
            yield item
            item = after

    def walk_elements(self) -> Iterator[ItemT]:
        """Go through; who comes next is settled after the present one had its turn."""
        item = self._head
        while item is not None:
            yield item
            item = _following(item)


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


def _following(item: ItemT) -> ItemT | None:
    return item.following  # type: ignore[return-value]


def _previous(item: ItemT) -> ItemT | None:
    return item.previous  # type: ignore[return-value]
