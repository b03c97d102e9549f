"""What a queue of timers holds, and in which order it gives it out."""

from __future__ import annotations

from random import Random

import pytest

from inspector.clocks import Clock, ClockTree, Timer
from inspector.clocks.queue import BUCKET_SHIFT, TimerQueue
from tests.fuzz import rounds

SECOND = 1_000_000_000


def test_that_a_cancelled_timer_is_counted_until_its_time() -> None:
    tree = ClockTree()
    root = tree.root
    timers = [root.set_timeout_ns(SECOND * (1 + i % 7), int) for i in range(100)]
    for timer in timers[:40]:
        root.clear(timer)
    counts = [(root.queue.dead, root.queue.stored(), root.pending_count)]
    for at_ns in (SECOND, 3 * SECOND, 7 * SECOND):
        tree.run_to(at_ns)
        counts.append((root.queue.dead, root.queue.stored(), root.pending_count))

    # Those of the next second are dropped in looking for the next timer.
    assert counts == [(40, 100, 60), (28, 79, 51), (16, 50, 34), (0, 0, 0)]


def test_that_a_queue_is_seldom_counted_while_few_of_it_are_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root, counted, stored = ClockTree().root, list[int](), TimerQueue.stored

    def counting(queue: TimerQueue) -> int:
        counted.append(stored(queue))
        return counted[-1]

    monkeypatch.setattr(TimerQueue, "stored", counting)
    timers = [root.set_timeout_ns(SECOND * (1 + i % 7), int) for i in range(1_000)]
    for timer in timers[:450]:
        root.clear(timer)

    # Once there are 64, and not before half of all are.
    assert counted == [1_000]


def test_that_what_a_callback_makes_the_tree_look_for_again_is_held_once() -> None:
    tree = ClockTree()
    other = tree.root.child("other")
    held: list[tuple[int, int]] = []

    def bounce() -> None:
        other.pause()
        other.resume()
        held.append((tree.root.queue.stored(), tree.root.pending_count))

    for at_ns in (1, 2, 3):
        tree.root.set_timeout_ns(at_ns, bounce)
    tree.run_to(5)

    assert held == [(2, 2), (1, 1), (0, 0)]


class _Model:
    """A queue, and the list of all that waits in it."""

    def __init__(self, random: Random, clock: Clock) -> None:
        self.random = random
        self.clock = clock
        self.queue = TimerQueue()
        self.waiting: list[tuple[int, int, Timer]] = []
        self.order = 0

    def push(self) -> None:
        timer = Timer()
        spread = self.random.choice([0, 2, 22, BUCKET_SHIFT, BUCKET_SHIFT + 3])
        timer.due_ns = self.random.randrange(4 << spread)
        self.order += 1
        timer.order, timer.clock, timer.callback, timer.args = self.order, self.clock, int, None
        self.waiting.append((timer.due_ns, timer.order, timer))
        self.queue.push(timer)

    def cancel(self) -> None:
        if self.waiting:
            _, _, timer = self.waiting.pop(self.random.randrange(len(self.waiting)))
            timer.callback = None
            self.queue.cancelled()

    def take(self) -> None:
        until_ns = self.random.choice(self.waiting)[0] if self.waiting else 0
        taken = [entry for entry in self.waiting if entry[0] <= until_ns]
        assert self.queue.take_until(until_ns) == sorted(taken)
        self.waiting = [entry for entry in self.waiting if entry[0] > until_ns]

    def check(self) -> None:
        self.waiting.sort()
        queue, timers = self.queue, [timer for _, _, timer in self.waiting]
        if self.random.random() < 1 / 2:
            assert queue.head() == (self.waiting[0] if self.waiting else None)
        assert queue.timers() == timers
        assert len(queue) == len(timers)
        assert 0 <= queue.dead <= queue.stored() - len(timers)
        for timer in timers[:2]:
            assert queue.find(timer.id, timer.due_ns) is timer
            assert queue.find(timer.id, -1) is timer
        assert queue.find(self.order + 1, 0) is None


def test_that_a_queue_holds_what_a_sorted_list_holds() -> None:
    clock = ClockTree().root
    for seed in rounds(12):
        model = _Model(Random(seed), clock)
        for _ in range(300):
            step = model.random.choices([model.push, model.cancel, model.take], [6, 5, 1])[0]
            step()
            model.check()
