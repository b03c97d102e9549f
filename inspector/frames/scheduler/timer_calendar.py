"""The timers that wait for an instant of a scheduler's time, and the loop that calls them.

A calendar: entries land in buckets of about 8 ms, unsorted; a bucket is sorted once, when
time reaches it. So a frame costs only what is due in it. What lands in a bucket that time has
already reached goes to a small heap. Entries due at the same instant are called in the order
of their insertion.

Cancelled entries stay in place until time reaches them or until they are the majority, and
are then removed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from operator import attrgetter, length_hint
from typing import Protocol

from inspector.clocks.callbacks import refuse_unfinished
from inspector.clocks.failures import CALLBACK_ERRORS
from inspector.frames.scheduling import Callback

#: Nanoseconds to bucket number: 2**23 ns, half a frame at 60 Hz.
BUCKET_SHIFT = 23

#: Below this many cancelled entries nothing is compacted.
_FEW = 64

#: Entries taken out at once, which limits what an interruption has to put back.
_BATCH = 128

_due_of = attrgetter("due_ns")


class Owner(Protocol):
    """The owner of an entry."""

    def fire(self, entry: Entry, now_ns: int) -> None:
        """Make a due call that the fast path cannot make."""


class Entry:
    """A waiting call.

    Attributes:
        due_ns: Scheduler time at which it is due.
        interval_ns: From one due instant to the next.
        call: The callback for the fast path; ``None`` if the owner has to make the call, or
            after cancelling.
        argument: The argument of ``call``.
        owner: The timer it belongs to.
        is_live: ``False`` once cancelled.
    """

    __slots__ = ("argument", "call", "due_ns", "interval_ns", "is_live", "owner")

    def __init__(
        self, owner: Owner, due_ns: int, interval_ns: int, call: Callback | None, argument: float
    ) -> None:
        self.owner = owner
        self.due_ns = due_ns
        self.interval_ns = interval_ns
        self.call = call
        self.argument = argument
        self.is_live = True


class TimerCalendar:
    """Entries by due time; see the module for the structure."""

    __slots__ = (
        "_active",
        "_arrivals",
        "_batch",
        "_buckets",
        "_cancelled",
        "_iterator",
        "_keys",
        "_limit_ns",
        "_near",
        "_position",
        "_run",
        "_sweep_at",
    )

    def __init__(self) -> None:
        # The number of the active bucket, which time is in: nothing in _buckets is earlier. That
        # bucket, sorted, and the index of its first waiting entry.
        self._active = self._position = self._arrivals = self._cancelled = 0
        self._run: list[Entry] = []
        # Heap of entries at or before the active bucket: (due, arrival, entry).
        self._near: list[tuple[int, int, Entry]] = []
        self._buckets: dict[int, list[Entry]] = {}
        self._keys: list[int] = []
        # The batch that the loop iterates over, and the instant up to which it runs, or ran.
        self._batch: list[Entry] = []
        self._iterator: Iterator[Entry] = iter(self._batch)
        self._limit_ns = -1
        self._sweep_at = _FEW

    def push(self, entry: Entry) -> None:
        """Insert a call by its ``due_ns``."""
        due_ns = entry.due_ns
        number = due_ns >> BUCKET_SHIFT
        bucket = self._buckets.get(number)
        if bucket is not None:
            bucket.append(entry)
        elif number > self._active:
            self._buckets[number] = [entry]
            heappush(self._keys, number)
        else:
            if due_ns <= self._limit_ns:
                self._interrupt()
            self._arrivals += 1
            heappush(self._near, (due_ns, self._arrivals, entry))

    def cancel(self, entry: Entry) -> None:
        """Cancel a call, which must be in the calendar and live."""
        entry.call = None
        entry.is_live = False
        self._cancelled += 1
        if self._cancelled >= self._sweep_at:
            self._sweep()

    def run_due(
        self, now_ns: int, report: Callable[[Owner, BaseException], None], *, is_long: bool
    ) -> None:
        """Call everything due up to an instant, in due order.

        Args:
            now_ns: The instant.
            report: Called with exceptions, which do not stop the other calls.
            is_long: Whether a timer may have missed more than its limit; every call then takes
                the slow path.
        """
        buckets = self._buckets
        self._limit_ns = now_ns
        try:
            while batch := self._pop_due(now_ns):
                self._batch = batch
                self._iterator = iterator = iter(batch)
                entry = batch[0]
                while True:
                    try:
                        for entry in iterator:
                            call = entry.call
                            if call is None or is_long:
                                if entry.is_live:
                                    entry.owner.fire(entry, now_ns)
                                else:
                                    self._cancelled -= 1
                                continue
                            # Inserted again before the call, because the call may cancel it.
                            entry.due_ns = due_ns = entry.due_ns + entry.interval_ns
                            try:
                                # Faster than get(), as the bucket nearly always exists.
                                buckets[due_ns >> BUCKET_SHIFT].append(entry)
                            except KeyError:
                                self.push(entry)
                            returned = call(entry.argument)
                            if returned is not None:
                                refuse_unfinished(returned)
                    except CALLBACK_ERRORS as error:
                        report(entry.owner, error)
                    else:
                        break
        finally:
            self._interrupt()

    def _pop_due(self, now_ns: int) -> list[Entry]:
        """Remove and return the next calls, or nothing if nothing is due."""
        near = self._near
        last = now_ns >> BUCKET_SHIFT
        while True:
            run, position = self._run, self._position
            end = len(run)
            if position < end and run[position].due_ns <= now_ns:
                limit_ns = min(now_ns, near[0][0]) if near else now_ns
                if limit_ns < run[position].due_ns:
                    return [heappop(near)[2]]
                stop = min(position + _BATCH, end)
                if run[stop - 1].due_ns > limit_ns:
                    stop = bisect_right(run, limit_ns, position, stop, key=_due_of)
                self._position = stop
                return run[position:stop]
            if near and near[0][0] <= now_ns:
                return [heappop(near)[2]]
            if not self._keys or self._keys[0] > last:
                self._active = max(self._active, last)
                return []
            self._activate()

    def _activate(self) -> None:
        """Make the earliest bucket the active one; the previous one is exhausted."""
        number = heappop(self._keys)
        run = self._buckets.pop(number)
        run.sort(key=_due_of)
        self._active = number
        self._run = run
        self._position = 0

    def _interrupt(self) -> None:
        """Make the loop stop and look again: an earlier entry was inserted."""
        rest = length_hint(self._iterator)
        if rest:
            # Only a batch taken from the run has a rest. Cutting the list ends the loop over it.
            del self._batch[-rest:]
            self._position -= rest

    def in_order(self) -> list[Entry]:
        """Return the live entries in call order."""
        rest = length_hint(self._iterator)
        entries = self._run[self._position - rest :]
        for bucket in self._buckets.values():
            entries += bucket
        # Among equal due times, entries of near arrived later than those of the run.
        entries += [entry for _, _, entry in sorted(self._near, key=lambda item: item[:2])]
        return sorted((entry for entry in entries if entry.is_live), key=_due_of)

    def stored(self) -> int:
        """Return the number of entries held, including cancelled ones."""
        waiting = sum(map(len, self._buckets.values()))
        return waiting + len(self._run) - self._position + len(self._near)

    def _sweep(self) -> None:
        """Remove cancelled entries if they are the majority."""
        if 2 * self._cancelled >= self.stored():
            for number, bucket in list(self._buckets.items()):
                waiting = [entry for entry in bucket if entry.is_live]
                self._cancelled -= len(bucket) - len(waiting)
                # Changed in place, because the loop may be about to append to this list.
                bucket[:] = waiting
                if not waiting:
                    del self._buckets[number]
            self._keys[:] = self._buckets
            heapify(self._keys)
        self._sweep_at = max(_FEW, self._cancelled + self.stored() // 2)
