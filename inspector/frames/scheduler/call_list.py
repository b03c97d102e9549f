"""The calls of every frame, in order, as fast as in a bare loop.

The calls are one compiled list. Removing a call replaces it by one that does nothing, so the
list does not change under the loop; added calls wait for the next frame, before which empty
places are removed.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter, length_hint

from inspector.clocks.callbacks import refuse_unfinished
from inspector.clocks.failures import CALLBACK_ERRORS
from inspector.frames.scheduling import Callback

#: Below this many empty places the list is not compacted.
_FEW = 32

_in_order = attrgetter("priority", "number")


def _nothing(_: float) -> None:
    """Replace a paused or removed call."""


class Slot:
    """A place in a :class:`CallList`.

    Attributes:
        owner: Receives the report of a failure.
        call: What is called.
        priority: Smaller comes first; changed only by :meth:`CallList.move`.
        number: Decides among equal priorities.
        is_taken: ``False`` once removed.
        is_called: ``False`` while paused.
    """

    __slots__ = ("call", "index", "is_called", "is_taken", "number", "owner", "priority")

    def __init__(
        self, owner: object, call: Callback, priority: int, number: int, *, is_called: bool
    ) -> None:
        self.owner = owner
        self.call = call
        self.priority = priority
        self.number = number
        self.is_called = is_called
        self.is_taken = True
        # Index in the compiled list; -1 until the frame after it was added.
        self.index = -1


class CallList:
    """Calls by priority; equal ones in the order in which they were added."""

    __slots__ = ("_added", "_calls", "_count", "_empty", "_is_moved", "_slots")

    def __init__(self) -> None:
        self._calls: list[Callback] = []
        self._slots: list[Slot] = []
        self._added: list[Slot] = []
        self._count = self._empty = 0
        self._is_moved = False

    def __len__(self) -> int:
        return len(self._slots) - self._empty + sum(slot.is_taken for slot in self._added)

    def add(self, owner: object, call: Callback, priority: int = 0, *, is_called: bool) -> Slot:
        """Add a call from the next frame on."""
        self._count += 1
        slot = Slot(owner, call, priority, self._count, is_called=is_called)
        self._added.append(slot)
        return slot

    def remove(self, slot: Slot) -> None:
        """Remove a call at once; only once per slot."""
        slot.is_taken = False
        if slot.index >= 0:
            self._calls[slot.index] = _nothing
            self._empty += 1

    def silence(self, slot: Slot) -> None:
        """Skip the call until it is restored; its place is kept."""
        slot.is_called = False
        if slot.index >= 0:
            self._calls[slot.index] = _nothing

    def restore(self, slot: Slot) -> None:
        """Call it again, in this frame if its turn is still to come."""
        slot.is_called = True
        if slot.index >= 0:
            self._calls[slot.index] = slot.call

    def move(self, slot: Slot, priority: int) -> None:
        """Change its priority from the next frame on, behind equal ones."""
        self._count += 1
        slot.priority = priority
        slot.number = self._count
        self._is_moved = True

    def replace(self, slot: Slot, call: Callback) -> None:
        """Replace the call in its place."""
        slot.call = call
        if slot.is_called:
            self.restore(slot)

    def in_order(self) -> list[Slot]:
        """Return the slots in the order of the next frame."""
        slots = [slot for slot in (*self._slots, *self._added) if slot.is_taken]
        return sorted(slots, key=_in_order)

    def prepare(self) -> None:
        """Insert added calls and compact the list; called before each frame."""
        if not self._added and not self._is_moved and self._empty <= _FEW:
            return
        added = [slot for slot in self._added if slot.is_taken]
        added.sort(key=_in_order)
        self._added = []
        slots = self._slots
        is_behind = not (added and slots) or slots[-1].priority <= added[0].priority
        if is_behind and not self._is_moved and self._empty <= max(_FEW, len(slots) // 2):
            for index, slot in enumerate(added, len(slots)):
                slot.index = index
            slots += added
            self._calls += [slot.call if slot.is_called else _nothing for slot in added]
            return
        slots = [slot for slot in slots if slot.is_taken]
        slots += added
        # Usually two sorted runs, which Python merges with one comparison per slot.
        slots.sort(key=_in_order)
        for index, slot in enumerate(slots):
            slot.index = index
        self._slots = slots
        self._calls = [slot.call if slot.is_called else _nothing for slot in slots]
        self._empty = 0
        self._is_moved = False

    def run(self, delta: float, report: Callable[[object, BaseException], None]) -> None:
        """Make all calls; exceptions are reported and do not stop the others."""
        calls = iter(self._calls)
        while True:
            try:
                for call in calls:
                    returned = call(delta)
                    if returned is not None:
                        refuse_unfinished(returned)
            except CALLBACK_ERRORS as error:
                failed = len(self._calls) - length_hint(calls) - 1
                report(self._slots[failed].owner, error)
            else:
                return
