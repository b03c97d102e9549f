"""The pending timers of one clock, in its own local time.

A calendar: timers land in buckets of about 17 ms of local time, unsorted, and a
bucket is sorted once, when it becomes the earliest. What lands at or before that
active bucket, and the wake entries of child clocks, go to a small heap beside it.
Equal due times keep the order of arrival, because lists keep it and the sort is
stable. Measured against a heap of tuples this is 1.6 to 4 times faster and takes
half the memory.

Cancelled timers stay in place, without their callback, until they are due or in the
majority; then the queue is compacted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from inspector.clocks.timer import Timer
from inspector.foreign.numbers import shown
from inspector.vocabulary import NEVER

if TYPE_CHECKING:
    from inspector.clocks.node import ClockNode

#: Local nanoseconds to bucket number: 2**24 ns, a frame at 60 Hz. Half of that makes
#: everything about 5 % slower, except for timers that repeat within a frame.
BUCKET_SHIFT = 24

#: The last bucket, in 292 years: due times are 64-bit in events, where the greatest means never.
LAST_BUCKET = (NEVER >> BUCKET_SHIFT) - 1

#: Below this many cancelled entries the queue is not compacted.
_FEW = 64

_BEFORE_ALL = -(2**62)

#: (due, order, timer or child clock); order decides among equal dues.
Entry: TypeAlias = "tuple[int, int, Timer | ClockNode]"

_due_of = attrgetter("due_ns")
_order_of = attrgetter("due_ns", "order")


class TimerQueue:
    """Timers and child wakes by due time; the module docstring describes the structure.

    The drain loop of the tree works on these attributes directly.

    Attributes:
        active: Number of the bucket that ``run`` was; nothing in ``buckets`` is earlier.
        run: The active bucket, sorted.
        position: Where the waiting timers of ``run`` begin.
        near: Heap of what landed at or before the active bucket, and child wakes.
        buckets: Later timers by bucket number, unsorted; none is empty. Most timers belong in one
            that exists, so ``buckets[number].append(timer)`` is the fast way to add a timer;
            where there is none, that calls :meth:`append`.
        keys: Heap of the numbers of ``buckets``.
        batch: Timers that the drain loop has taken out and is iterating over.
        rest: The part of the batch that the drain loop has not reached.
        dead: Lower bound for the number of cancelled entries.
    """

    __slots__ = (
        "_compact_at",
        "active",
        "batch",
        "buckets",
        "dead",
        "keys",
        "near",
        "position",
        "rest",
        "run",
    )

    def __init__(self) -> None:
        self.active = _BEFORE_ALL
        self.run: list[Timer] = []
        self.position = 0
        self.near: list[Entry] = []
        self.buckets: dict[int, list[Timer]] = defaultdict(lambda: cast("list[Timer]", self))
        self.keys: list[int] = []
        self.batch: Sequence[Timer] = ()
        self.rest: Iterator[Timer] = iter(())
        self.dead = 0
        self._compact_at = _FEW

    def push(self, timer: Timer) -> None:
        """Add a timer by its ``due_ns``, behind those due at the same instant."""
        self.buckets[timer.due_ns >> BUCKET_SHIFT].append(timer)

    def append(self, timer: Timer) -> None:
        """Add a timer whose bucket there was not; ``buckets`` has this queue in its place."""
        due = timer.due_ns
        number = due >> BUCKET_SHIFT
        buckets, active = self.buckets, self.active
        if number == active or (
            number < active and (self.batch or len(self.run) > _FEW + len(self.near))
        ):
            del buckets[number]
            heappush(self.near, (due, timer.order, timer))
            # An entry due at the same instant as the end of the batch comes after the batch.
            if self.batch and due < self.batch[-1].due_ns:
                self.return_batch()
        elif number <= LAST_BUCKET:
            if number < active:
                self._deactivate(number)
            buckets[number] = [timer]
            heappush(self.keys, number)
        else:
            del buckets[number]
            if not timer.interval_ns:
                raise ValueError(beyond_reach(timer.clock, due))
            # Its last call is about to happen.
            timer.callback = None

    def push_entry(self, entry: Entry) -> None:
        """Add a child's wake, or a timer with another due time than its own."""
        heappush(self.near, entry)

    def head(self) -> Entry | None:
        """Return the earliest entry without removing it, ``None`` when empty."""
        # Kept in one function: it runs several times a frame for each clock with due timers.
        near, run, position = self.near, self.run, self.position
        first = None
        if near:
            first = near[0]
            if first[2].wake is not first:
                first = self._live_near()
            if not self.keys and position >= len(run):
                return first
        while True:
            if position < len(run):
                timer = run[position]
                if timer.callback is not None:
                    break
                self.position = position = position + 1
                self.forget_dead()
                continue
            if not self.keys or (first is not None and first[0] >> BUCKET_SHIFT < self.keys[0]):
                return first
            self.activate()
            run, position = self.run, 0
        due_ns = timer.due_ns
        if first is None or due_ns < first[0]:
            return (due_ns, timer.order, timer)
        if due_ns > first[0] or timer.order > first[1]:
            return first
        return (due_ns, timer.order, timer)

    def _live_near(self) -> Entry | None:
        """Return the first live entry of ``near``, dropping dead ones before it."""
        near = self.near
        while near and not _is_live(near[0]):
            heappop(near)
            self.forget_dead()
        return near[0] if near else None

    def activate(self) -> None:
        """Make the earliest bucket the active one; ``run`` must be exhausted."""
        number = heappop(self.keys)
        run = self.buckets.pop(number)
        run.sort(key=_due_of)
        self.active = number
        self.run = run
        self.position = 0

    def _deactivate(self, number: int) -> None:
        """Make room for bucket ``number``, which is earlier than the active one.

        Happens when the queue was read while everything in it was far away.
        """
        if self.position < len(self.run):
            self.buckets[self.active] = self.run[self.position :]
            heappush(self.keys, self.active)
        self.run = []
        self.position = 0
        self.active = number - 1

    def take_run(self, head: Entry, limit_ns: int) -> list[Timer]:
        """Remove the timer that :meth:`head` returned and those that can follow at once.

        These are the timers of the active bucket due up to ``limit_ns`` and before
        anything in ``near``, in due order; at least one.
        """
        near = self.near
        if near:
            if head is near[0]:
                return self._take_near(limit_ns)
            limit_ns = min(limit_ns, near[0][0] - 1)
        run, position = self.run, self.position
        cut = len(run)
        if run[-1].due_ns > limit_ns:
            # The first timer is taken whatever the limit, because its order already made it next.
            cut = bisect_right(run, limit_ns, position + 1, key=_due_of)
        self.position = cut
        return run[position:cut]

    def _take_near(self, limit_ns: int) -> list[Timer]:
        """Remove the timers at the front of ``near`` that precede ``run``."""
        near = self.near
        # Known to be a timer: a clock's wake entry is never run from here.
        first: Any = heappop(near)[2]
        batch: list[Timer] = [first]
        if not near or near[0][0] > limit_ns:
            return batch
        if self.position < len(self.run):
            limit_ns = min(limit_ns, self.run[self.position].due_ns - 1)
        elif self.keys:
            limit_ns = min(limit_ns, (self.keys[0] << BUCKET_SHIFT) - 1)
        while near and near[0][0] <= limit_ns:
            following = near[0][2]
            # A timer that was overdue when its clock resumed keeps its own due time.
            if following.is_clock or following.due_ns != near[0][0]:
                break
            heappop(near)
            batch.append(following)
        return batch

    def take_bucket(self, limit_ns: int) -> list[Timer] | None:
        """Remove what is due up to ``limit_ns`` from the earliest bucket, the most common case.

        Returns ``None`` if anything else is due.
        """
        keys = self.keys
        if self.near or not keys or self.position < len(self.run):
            return None
        number = keys[0]
        if number > limit_ns >> BUCKET_SHIFT:
            return None
        heappop(keys)
        bucket = self.buckets.pop(number)
        bucket.sort(key=_due_of)
        self.active = number
        if bucket[-1].due_ns <= limit_ns:
            if self.position:
                # A copy: compaction would change the list during the loop.
                self.run = []
                self.position = 0
            return bucket
        self.run = bucket
        self.position = cut = bisect_right(bucket, limit_ns, key=_due_of)
        return bucket[:cut] if cut else None

    def take_lone(self) -> list[Timer] | None:
        """Remove the only entry of ``near``, unless anything else may be next."""
        due_ns, _, item = self.near[0]
        keys = self.keys
        if (
            item.is_clock
            or item.callback is None
            or self.position < len(self.run)
            or (keys and keys[0] <= due_ns >> BUCKET_SHIFT)
        ):
            return None
        self.near.clear()
        return [item]

    def return_batch(self) -> None:
        """Put back what the drain loop took out and has not reached.

        Exhausts the loop's iterator, so the loop ends after the current timer.
        """
        rest = list(self.rest)
        self.batch = ()
        if rest and rest[0].due_ns >> BUCKET_SHIFT != self.active:
            # From near, which also holds entries due before the active bucket.
            for timer in rest:
                heappush(self.near, (timer.due_ns, timer.order, timer))
        elif rest:
            self.run[: self.position] = rest
            self.position = 0

    def cancelled(self) -> None:
        """Count an entry that has lost its callback or whose wake was replaced."""
        self.dead += 1
        if self.dead >= self._compact_at:
            self._compact()

    def take_until(self, local_ns: int) -> list[Entry]:
        """Remove and return all entries due up to ``local_ns``, in due order."""
        taken = []
        while (entry := self.head()) is not None and entry[0] <= local_ns:
            taken.append(entry)
            if self.near and entry is self.near[0]:
                heappop(self.near)
            else:
                self.position += 1
        return taken

    def timers(self) -> list[Timer]:
        """Return the pending timers in the order in which they are due."""
        found = {timer.id: timer for timer in self._everything() if timer.callback is not None}
        return sorted(found.values(), key=_order_of)

    def find(self, number: int, due_ns: int) -> Timer | None:
        """Return a pending timer by its number, probably due then; ``None`` if it is not here."""
        bucket = self.buckets.get(due_ns >> BUCKET_SHIFT, ())
        for timer in chain(bucket, self._everything()):
            if timer.id == number and timer.callback is not None:
                return timer
        return None

    def clear(self) -> None:
        """Let none of the timers be called any more."""
        for timer in self._everything():
            timer.callback = timer.args = None

    def __len__(self) -> int:
        return len({timer.id for timer in self._everything() if timer.callback is not None})

    def stored(self) -> int:
        """Return the number of entries held, including cancelled ones."""
        waiting = sum(map(len, self.buckets.values()))
        return waiting + len(self.run) - self.position + len(self.near) + len(self.batch)

    def _everything(self) -> Iterable[Timer]:
        for bucket in self.buckets.values():
            yield from bucket
        yield from self.run[self.position :]
        yield from self.batch
        for _, _, item in self.near:
            if isinstance(item, Timer):
                yield item

    def forget_dead(self) -> None:
        """Uncount a cancelled entry that was dropped."""
        if self.dead:
            self.dead -= 1

    def _compact(self) -> None:
        stored = self.stored()
        if 2 * self.dead < stored:
            self._compact_at = max(_FEW, stored // 2)
            return
        for number, bucket in list(self.buckets.items()):
            # In place: the drain loop may hold this list.
            bucket[:] = [timer for timer in bucket if timer.callback is not None]
            if not bucket:
                del self.buckets[number]
        self.keys = list(self.buckets)
        heapify(self.keys)
        waiting = self.run[self.position :]
        self.run[:] = [timer for timer in waiting if timer.callback is not None]
        self.position = 0
        self.near[:] = [entry for entry in self.near if _is_live(entry)]
        heapify(self.near)
        self.dead = 0
        self._compact_at = max(_FEW, self.stored() // 2)


def beyond_reach(clock: ClockNode, local_ns: int) -> str:
    """Return what to say of a local time that events cannot hold."""
    return f"beyond 292 years of the time of clock {clock.name!r}: {shown(local_ns)} ns"


def _is_live(entry: Entry) -> bool:
    item = entry[2]
    return item.wake is entry if item.is_clock else item.callback is not None
