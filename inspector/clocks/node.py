"""A node of the clock tree as the engine sees it: its mapping and its wake entry.

The public methods are in :mod:`inspector.clocks.clock`. Here local time is derived from the
time above, and the clocks above learn when to wake: each clock keeps its timers in its own
local time, and the clock above holds one *wake entry* for it, its earliest due instant
mapped through its rate.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, Literal

from inspector.clocks.queue import Entry, TimerQueue
from inspector.clocks.rate import D, local_ns, parent_ns, product_of_rates, reanchored
from inspector.clocks.timer import Timer
from inspector.vocabulary import NEVER

if TYPE_CHECKING:
    from inspector.clocks.clock import Clock
    from inspector.clocks.tree import ClockTree

#: Value of ``_armed_ns`` while no new timer can make the wake earlier.
NOTHING_IS_EARLIER = -(2**63)


class ClockNode:
    """Local time as a function of the time above, and one wake entry there.

    Attributes:
        id: Number of the clock, unique in its tree; the root is 1.
        name: Display name; need not be unique.
        tree: Its tree.
        children: The clocks directly below, in the order of their creation.
        is_paused: Whether the clock itself is paused.
        is_removed: Whether it was removed from its tree.
        wake: Its entry in the queue of the clock above.
        queue: Its pending timers and the wake entries of its children.
    """

    __slots__ = (
        "__weakref__",
        "_above",
        "_armed_ns",
        "_buckets",
        "_floor_ns",
        "_known_at_ns",
        "_local_ns",
        "_n",
        "_off",
        "_on_path",
        "_rate_n",
        "_reordered",
        "_session_shift_ns",
        "_session_shift_version",
        "_shift_ns",
        "_stopped_since_ns",
        "children",
        "id",
        "is_paused",
        "is_removed",
        "is_wake_doubtful",
        "name",
        "queue",
        "tree",
        "wake",
    )

    is_clock: Literal[True] = True
    # Whether the first entry here may be later than the wake entry.
    is_wake_doubtful: bool
    # Set whenever the clock stops.
    _stopped_since_ns: int
    _off: int
    _local_ns: int
    # None for another rate than 1.
    _shift_ns: int | None
    # Order of the last resume or move: all timers of the branch count as scheduled then.
    _reordered: int

    def __init__(self, tree: ClockTree, above: Clock | None, name: str, clock_id: int) -> None:
        self.tree = tree
        # The tree's driver (session time) is above the root and has no parent.
        self._above = above
        self.name = name
        self.id = clock_id
        self.children: list[Clock] = []
        self.queue = TimerQueue()
        # The queue's own buckets, kept here too to save an attribute lookup per new timer.
        self._buckets = self.queue.buckets
        self.is_paused = self.is_removed = self.is_wake_doubtful = self._on_path = False
        self._rate_n = self._n = D
        self._shift_ns = self._reordered = 0
        self._session_shift_ns: int | None = None
        self._session_shift_version: int | None = None
        # The wake is never before this parent time: the last change of the mapping, or the last
        # change in the branch that made something due at once.
        self._floor_ns = -NEVER
        self.wake: Entry | None = None
        # Local due time of the wake; later timers need no new wake.
        self._armed_ns = NEVER
        # The local time, and the session time at which it was computed. Changes of the tree never
        # make local time jump, so it stays valid within one instant.
        self._known_at_ns: int | None = None

    @property
    def time_ns(self) -> int:
        """Local time in nanoseconds: exact, never jumps, never runs backwards."""
        tree = self.tree
        if tree.present is not None:
            tree.present()
        if self._known_at_ns == tree.now_ns:
            return self._local_ns
        return self._resolve()

    @property
    def time(self) -> float:
        """Local time in seconds."""
        return self.time_ns / 1e9

    @property
    def effective_rate(self) -> Fraction:
        """Local seconds per session second: the product of all rates, 0 when any is paused."""
        # The tree's driver, which ancestors() leaves out, has rate 1.
        return product_of_rates([self._n, *(clock._n for clock in self.ancestors())])

    @property
    def is_effectively_paused(self) -> bool:
        """Whether local time stands still, for any reason."""
        clock: ClockNode | None = self
        while clock is not None:
            if clock._n == 0:
                return True
            clock = clock._above
        return False

    @property
    def parent(self) -> Clock | None:
        """The clock above, ``None`` for the root."""
        above = self._above
        return None if above is None or above._above is None else above

    @property
    def root(self) -> Clock:
        """Root of the tree."""
        return self.tree.root

    def ancestors(self) -> Iterator[Clock]:
        """Yield the clocks above, the parent first, the root last."""
        clock = self.parent
        while clock is not None:
            yield clock
            clock = clock.parent

    def _resolve(self) -> int:
        """Compute the local time from the nearest clock above that knows its own."""
        tree = self.tree
        if not tree.is_owner():
            # The cached values belong to the thread that drives the tree.
            tree.check_thread()
        now_ns = tree.now_ns
        path = []
        clock: ClockNode = self
        while clock._known_at_ns != now_ns:
            above = clock._above
            if above is None:
                clock._local_ns = clock._known_at_ns = now_ns
                break
            path.append(clock)
            clock = above
        local = clock._local_ns
        for clock in reversed(path):
            shift = clock._shift_ns
            local = local + shift if shift is not None else (local * clock._n + clock._off) // D
            clock._local_ns = local
            clock._known_at_ns = now_ns
        return local

    def _set_mapping(self, n: int) -> None:
        """Change the running rate now, keeping local time."""
        above = self._above
        assert above is not None
        at_ns = above.time_ns
        self._off = reanchored(self._off, at_ns, self._n, n)
        self._n = n
        self._shift_ns = self._off // D if n == D else None
        self._floor_ns = at_ns
        if n:
            above.raise_floors()
        self.tree.mapping_changed()

    def raise_floors(self) -> None:
        """Let nothing that is due here now be due before this instant at any clock above.

        On a slow clock "now" began slightly earlier in the time above, at every level.
        """
        clock: ClockNode | None = self
        while clock is not None:
            above = clock._above
            if clock._shift_ns is None and above is not None:
                # Not time_ns, which reads the source again: all levels must use one instant.
                at_ns = above._resolve()
                if clock._floor_ns < at_ns:
                    clock._floor_ns = at_ns
                    clock.doubt_wake()
                    self.tree.interrupt()
            clock = above

    def to_local_ns(self, above_ns: int) -> int:
        """Return the local time at an instant of the clock above; for the engine."""
        shift = self._shift_ns
        return above_ns + shift if shift is not None else local_ns(above_ns, self._n, self._off)

    def to_above_ns(self, due_ns: int) -> int:
        """Return the first instant of the clock above that reaches ``due_ns``."""
        shift = self._shift_ns
        return due_ns - shift if shift is not None else parent_ns(due_ns, self._n, self._off)

    def local_at(self, session_ns: int) -> int:
        """Return the local time at a session instant, at present rates."""
        local = session_ns
        for clock in reversed([self, *self.ancestors()]):
            local = clock.to_local_ns(local)
        return local

    def session_ns(self, due_ns: int) -> int:
        """Return the first session instant that reaches local ``due_ns`` at present rates.

        Raises:
            ZeroDivisionError: The clock is effectively paused.
        """
        clock: ClockNode = self
        while clock._above is not None:
            due_ns = clock.to_above_ns(due_ns)
            clock = clock._above
        return due_ns

    def shift_to_session(self) -> int | None:
        """Return local minus session time if every rate up to the root is 1."""
        version = self.tree.version
        if self._session_shift_version == version:
            return self._session_shift_ns
        total: int | None = 0
        clock: ClockNode = self
        while clock._above is not None and total is not None:
            total = None if clock._shift_ns is None else total + clock._shift_ns
            clock = clock._above
        self._session_shift_ns, self._session_shift_version = total, version
        return total

    def _earlier(self, due_ns: int, order: int) -> None:
        """Announce a new entry to the clocks above."""
        clock: ClockNode = self
        while True:
            above = clock._above
            if clock._on_path:
                self.tree.interrupt()
                return
            if above is None:
                self.tree.root_earlier()
                return
            armed_ns = clock._armed_ns
            if due_ns >= armed_ns and (
                # A new timer ties after the wake entry; those of a resumed clock may be older.
                due_ns > armed_ns or clock.wake is None or order >= clock.wake[1]
            ):
                return
            due_ns, order = clock._push_wake(due_ns, order)
            clock = above

    def _push_wake(self, due_ns: int, order: int) -> tuple[int, int]:
        """Replace the wake entry in the clock above; returns its due time and order."""
        above = self._above
        assert above is not None
        wake_ns = max(self.to_above_ns(due_ns), self._floor_ns)
        order = max(order, self._reordered)
        replaced = self.wake
        if replaced is not None:
            above.queue.cancelled()
        self.is_wake_doubtful = False
        self._armed_ns = due_ns
        self.wake = entry = (wake_ns, order, self)
        above.queue.push_entry(entry)
        if replaced is not None and replaced[:2] < entry[:2]:
            # On a fast clock, an earlier local due time may map to the same instant above.
            above.doubt_wake()
        return wake_ns, order

    def doubt_wake(self) -> None:
        """Take note that the first entry here may be later than the wake entry.

        The wake entry is corrected when the drain loop comes to it, which is once it is due. On a
        clock faster than its parent, and for what is overdue and counts as due at the floor, that
        is too late: there, a later due time may be the same instant above, with an earlier order.
        """
        wake = self.wake
        if not self.tree.has_fast_clocks and (wake is None or wake[0] > self._floor_ns):
            self.is_wake_doubtful = True
            return
        clock: ClockNode = self
        while (above := clock._above) is not None and not clock._on_path:
            clock.is_wake_doubtful = False
            wake, head = clock.wake, clock.queue.head()
            expected = clock.wake_for(head)
            if wake is None or wake[:2] == expected:
                return
            above.queue.cancelled()
            clock.wake = None
            clock._armed_ns = NEVER
            if expected is not None:
                assert head is not None
                clock._armed_ns = head[0]
                clock.wake = entry = (*expected, clock)
                above.queue.push_entry(entry)
            clock = above
        self.tree.interrupt()

    def _disarm(self) -> None:
        if self.wake is not None:
            self.wake = None
            above = self._above
            assert above is not None
            above.queue.cancelled()
            above.doubt_wake()
        self._armed_ns = NOTHING_IS_EARLIER if self._n == 0 or self.is_removed else NEVER

    def rearm(self) -> None:
        """Replace the wake entry in the clock above by the earliest of this branch."""
        self._disarm()
        if self._n == 0 or self.is_removed:
            return
        head = self.queue.head()
        if head is not None:
            above = self._above
            assert above is not None
            above._earlier(*self._push_wake(head[0], head[1]))

    def expected_wake(self) -> tuple[int, int] | None:
        """Return (due above, order) of the earliest entry, ``None`` without one."""
        if self._n == 0 or self.is_removed:
            return None
        return self.wake_for(self.queue.head())

    def wake_for(self, head: Entry | None) -> tuple[int, int] | None:
        """Return (due above, order) for the first entry of the queue."""
        if head is None or self._n == 0:
            return None
        return max(self.to_above_ns(head[0]), self._floor_ns), max(head[1], self._reordered)

    def _reorder(self) -> None:
        """Count the timers of the branch as scheduled now, and update the wake."""
        self.tree.last_order = self._reordered = self.tree.last_order + 1
        self._settle_overdue()
        self.rearm()

    def _settle_overdue(self) -> None:
        """Make overdue timers due now, in the order in which they were scheduled.

        Something is overdue only if the time source was late; only what is due is touched, here
        and in the clocks below. The wake entry of a clock with an overdue timer is never later
        than now, but its floor may be.
        """
        if self._on_path:
            self._rearm_path()
        late: list[ClockNode] = [self]
        for clock in late:
            now_ns = clock.time_ns
            clock.queue.return_batch()
            for _, order, item in clock.queue.take_until(now_ns):
                if isinstance(item, Timer):
                    clock.queue.push_entry((now_ns, order, item))
                else:
                    item.wake = None
                    late.append(item)
        for clock in reversed(late[1:]):
            clock.rearm()

    def _rearm_path(self) -> None:
        """Restore the wake entries of the clocks below in which a timer is being called."""
        path: list[ClockNode] = [self]
        for clock in path:
            path += (child for child in clock.children if child._on_path)
        for clock in reversed(path[1:]):
            clock.queue.return_batch()
            clock.rearm()

    def enter_path(self, limit_ns: int) -> tuple[Entry, int] | None:
        """Enter this branch in the drain loop; returns what is next in it.

        Not split up: runs for every wake-up and every level.

        Args:
            limit_ns: How far the loop may go, in the time of the clock above.

        Returns:
            The first entry here (a child's wake is removed) and how far the loop may go in
            local time; ``None`` if the wake was outdated, which is corrected.
        """
        queue = self.queue
        head: Any = queue.head()
        if self.is_wake_doubtful:
            if self.wake is None or self.wake_for(head) != self.wake[:2]:
                self.rearm()
                return None
            self.is_wake_doubtful = False
        self._on_path = True
        self.wake = None
        if limit_ns < self._floor_ns:
            # Whatever was due before the floor counts as due at the floor, one at a time by order.
            limit_ns = -NEVER
        else:
            shift = self._shift_ns
            limit_ns = limit_ns + shift if shift is not None else self.to_local_ns(limit_ns)
        if not head[2].is_clock:
            # Only timers of this clock are called: the loop looks at the queue before each, so it
            # need not be told about new ones.
            self._armed_ns = NOTHING_IS_EARLIER
            return head, limit_ns
        # A new timer of this clock may be due before the next one of a clock below it.
        self._armed_ns = NEVER
        heappop(queue.near)
        if queue.near or queue.keys or queue.position < len(queue.run):
            other = queue.head()
            if other is not None and other[0] <= limit_ns:
                limit_ns = other[0] - 1
        return head, limit_ns

    def leave_path(self, head: Entry | None) -> None:
        """Leave this branch in the drain loop, and set its next wake.

        Called from the leaf upwards, so each clock above is updated in turn.

        Args:
            head: The first entry of the queue, if known.
        """
        self._on_path = False
        # Any, because an assertion that narrows the type would cost an instruction.
        above: Any = self._above
        if self.wake is not None or not (above._on_path or above._above is None):
            # A callback has moved, paused or resumed a clock on the path.
            self.rearm()
            return
        if self._n == 0 or self.is_removed:
            self._armed_ns = NOTHING_IS_EARLIER
            return
        if head is None:
            head = self.queue.head()
        if head is None:
            self._armed_ns = NEVER
            return
        # Inlined wake_for and push_entry: this runs for every wake-up.
        self._armed_ns = due_ns = head[0]
        shift, order = self._shift_ns, head[1]
        wake_ns = due_ns - shift if shift is not None else self.to_above_ns(due_ns)
        if wake_ns < self._floor_ns:  # noqa: PLR1730
            wake_ns = self._floor_ns
        if order < self._reordered:  # noqa: PLR1730
            order = self._reordered
        self.wake = entry = (wake_ns, order, self)
        if above._above is not None:
            heappush(above.queue.near, entry)
