"""A clock tree that looks at everything, every time: slow, short and plainly right."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor

_LONG_AGO = -(10**30)


@dataclass
class ModelTimer:
    """A timer: its due time, and the time under which it is sorted."""

    number: int
    due_ns: int
    interval_ns: int
    order: int
    sorted_ns: int


@dataclass
class ModelClock:
    """A clock: local time is floor(parent * rate + offset), in exact fractions."""

    name: int
    parent: ModelClock | None
    rate: Fraction
    offset: Fraction
    paused: bool = False
    reordered: int = 0
    floor_ns: int = _LONG_AGO
    timers: list[ModelTimer] = field(default_factory=list)
    children: list[ModelClock] = field(default_factory=list)

    @property
    def running(self) -> Fraction:
        """The rate in force."""
        return Fraction(0) if self.paused else self.rate


class ModelTree:
    """Session time, clocks by name, and one list of what was called."""

    def __init__(self) -> None:
        """Begin with the root, named 0."""
        self.now_ns = 0
        self.order = 0
        self.root = ModelClock(0, None, Fraction(1), Fraction(0))
        self.clocks = {0: self.root}

    def local_ns(self, clock: ModelClock) -> int:
        """Local time now."""
        above = self.now_ns if clock.parent is None else self.local_ns(clock.parent)
        return floor(above * clock.running + clock.offset)

    def above_ns(self, clock: ModelClock) -> int:
        """The time of the clock above."""
        return self.now_ns if clock.parent is None else self.local_ns(clock.parent)

    def next_order(self) -> int:
        """Return a new order number."""
        self.order += 1
        return self.order

    # ------------------------------------------------------------ operations

    def child(self, parent: int, name: int, rate: Fraction, epoch_ns: int | None) -> None:
        """Add a clock."""
        above = self.clocks[parent]
        epoch = self.local_ns(above) if epoch_ns is None else epoch_ns
        clock = ModelClock(name, above, rate, -epoch * rate)
        above.children.append(clock)
        self.clocks[name] = clock

    def set_timer(self, name: int, number: int, delay_ns: int, interval_ns: int) -> None:
        """Add a timer."""
        clock = self.clocks[name]
        due = self.local_ns(clock) + max(0, delay_ns)
        clock.timers.append(ModelTimer(number, due, interval_ns, self.next_order(), due))
        if delay_ns <= 0:
            self._raise_floors(clock)

    def clear(self, name: int, number: int) -> bool:
        """Remove a timer of this clock."""
        clock = self.clocks.get(name)
        found = [] if clock is None else [t for t in clock.timers if t.number == number]
        for timer in found:
            clock.timers.remove(timer)  # type: ignore[union-attr]
        return bool(found)

    def set_rate(self, name: int, rate: Fraction) -> None:
        """Change a rate, keeping local time exactly."""
        clock = self.clocks[name]
        if rate == clock.rate:
            return
        if not clock.paused:
            self._anchor(clock, rate)
        clock.rate = rate

    def pause(self, name: int) -> None:
        """Pause."""
        clock = self.clocks[name]
        if not clock.paused:
            self._anchor(clock, Fraction(0))
            clock.paused = True

    def resume(self, name: int) -> None:
        """Resume; the branch counts as scheduled now."""
        clock = self.clocks[name]
        if clock.paused:
            clock.paused = False
            above = self.above_ns(clock)
            clock.offset += above * (0 - clock.rate)
            clock.floor_ns = above
            if clock.rate:
                self._raise_floors(clock.parent)
            self._reorder(clock)

    def move(self, name: int, parent: int) -> None:
        """Hang a branch elsewhere, keeping local time exactly."""
        clock, above = self.clocks[name], self.clocks[parent]
        assert clock.parent is not None
        if above is clock.parent:
            return
        old_ns, new_ns = self.above_ns(clock), self.local_ns(above)
        clock.offset += (old_ns - new_ns) * clock.running
        clock.parent.children.remove(clock)
        clock.parent = above
        above.children.append(clock)
        clock.floor_ns = new_ns
        self._raise_floors(above)
        self._reorder(clock)

    def remove(self, name: int) -> None:
        """Remove a branch."""
        clock = self.clocks[name]
        assert clock.parent is not None
        clock.parent.children.remove(clock)
        for gone in self.branch(clock):
            del self.clocks[gone.name]

    def branch(self, clock: ModelClock) -> list[ModelClock]:
        """The clock and everything below."""
        return [clock, *(below for child in clock.children for below in self.branch(child))]

    # -------------------------------------------------------------- progress

    def pop_next(self, target_ns: int) -> tuple[ModelClock, ModelTimer] | None:
        """Go to the timer that is next, if it is due by then; a repeating one is set again."""
        found = self._next(self.root)
        if found is None or found[0] > target_ns:
            return None
        _, _, clock, timer = found
        self.now_ns = max(self.now_ns, self._to_session(clock, timer.due_ns))
        if timer.interval_ns:
            timer.due_ns = timer.sorted_ns = timer.due_ns + timer.interval_ns
            timer.order = self.next_order()
        else:
            clock.timers.remove(timer)
        return clock, timer

    def _next(self, clock: ModelClock) -> tuple[int, int, ModelClock, ModelTimer] | None:
        """The earliest of a branch as the clock above sees it: (due, order, whose, what)."""
        if clock.running == 0:
            return None
        entries = [(t.sorted_ns, t.order, clock, t) for t in clock.timers]
        entries += [entry for child in clock.children if (entry := self._next(child))]
        if not entries:
            return None
        due, order, whose, timer = min(entries, key=lambda entry: entry[:2])
        above = max(ceil((due - clock.offset) / clock.running), self._not_before_ns(clock))
        return above, max(order, clock.reordered), whose, timer

    def _to_session(self, clock: ModelClock | None, due_ns: int) -> int:
        while clock is not None:
            due_ns = ceil((due_ns - clock.offset) / clock.running)
            clock = clock.parent
        return due_ns

    def _anchor(self, clock: ModelClock, rate: Fraction) -> None:
        above = self.above_ns(clock)
        clock.offset += above * (clock.running - rate)
        clock.floor_ns = above
        if rate:
            self._raise_floors(clock.parent)

    def _raise_floors(self, clock: ModelClock | None) -> None:
        """Nothing in or above this branch is due before this very instant.

        On a slow clock "now" began a little earlier in the time above, at every level.
        """
        while clock is not None:
            if clock.running != 1:
                clock.floor_ns = max(clock.floor_ns, self.above_ns(clock))
            clock = clock.parent

    def _not_before_ns(self, clock: ModelClock) -> int:
        """The time of the clock above before which the branch is not looked at."""
        return clock.floor_ns

    def _reorder(self, clock: ModelClock) -> None:
        clock.reordered = self.next_order()
        self._settle(clock)

    def _settle(self, clock: ModelClock) -> None:
        """Overdue timers become due now, so that their order decides among them."""
        now = self.local_ns(clock)
        for timer in clock.timers:
            timer.sorted_ns = max(timer.sorted_ns, now)
        for child in clock.children:
            if child.running:
                self._settle(child)


class PunctualModelTree(ModelTree):
    """The same for slow clocks and a time source that is never late.

    Then nothing is due before now, and no notes are needed of when what has changed: what
    the notes of the base class leave out, the two differ in. (On a clock faster than its
    parent, several due times lie within the one nanosecond that is "now" above.)
    """

    def _not_before_ns(self, clock: ModelClock) -> int:
        return self.above_ns(clock)
