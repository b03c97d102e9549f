"""The lists behind a scheduler: what is called when, and what is held, whatever is done to them."""

from __future__ import annotations

from functools import partial
from random import Random

from inspector.frames.scheduler.call_list import CallList, Slot
from inspector.frames.scheduler.timer_calendar import BUCKET_SHIFT, Entry, TimerCalendar
from tests.fuzz import rounds


class _Owner:
    """Makes the calls of the slow path."""

    def __init__(self, called: list[int], number: int) -> None:
        self.called = called
        self.number = number

    def fire(self, _entry: Entry, _now_ns: int) -> None:
        self.called.append(self.number)


class _Waiting:
    """A calendar, and the list of all that waits in it."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.calendar = TimerCalendar()
        self.now_ns = 0
        self.called: list[int] = []
        # Due instant, arrival, number and interval of each.
        self.waiting: list[tuple[int, int, int, int, Entry]] = []
        self.count = self.arrivals = 0

    def push(self) -> None:
        self.count += 1
        spread = self.random.choice([0, 3, BUCKET_SHIFT, BUCKET_SHIFT + 3])
        due_ns = self.now_ns + self.random.randrange(1, 4 << spread)
        is_repeated = self.random.random() < 1 / 3
        interval_ns = self.random.randrange(1 << 22, 1 << 25) if is_repeated else 0
        call = partial(self._call, self.count) if is_repeated else None
        entry = Entry(_Owner(self.called, self.count), due_ns, interval_ns, call, 0.5)
        self._wait(due_ns, self.count, interval_ns, entry)
        self.calendar.push(entry)

    def _wait(self, due_ns: int, number: int, interval_ns: int, entry: Entry) -> None:
        """Let a call wait, behind what is due at the same instant already."""
        self.arrivals += 1
        self.waiting.append((due_ns, self.arrivals, number, interval_ns, entry))

    def _call(self, number: int, argument: float) -> None:
        assert argument == 0.5
        self.called.append(number)

    def cancel(self) -> None:
        if self.waiting:
            entry = self.waiting.pop(self.random.randrange(len(self.waiting)))[4]
            self.calendar.cancel(entry)

    def pass_time(self) -> None:
        self.now_ns += self.random.randrange(1, 3 << self.random.choice([2, BUCKET_SHIFT]))
        del self.called[:]
        self.calendar.run_due(self.now_ns, _fail, is_long=False)
        expected: list[int] = []
        while self.waiting and min(self.waiting)[0] <= self.now_ns:
            first = min(self.waiting)
            self.waiting.remove(first)
            due_ns, _, number, interval_ns, entry = first
            expected.append(number)
            if interval_ns:
                self._wait(due_ns + interval_ns, number, interval_ns, entry)
        assert self.called == expected

    def check(self) -> None:
        entries = [each[4] for each in sorted(self.waiting)]
        calendar = self.calendar
        assert calendar.in_order() == entries
        assert calendar._cancelled == calendar.stored() - len(entries)
        assert all(calendar._buckets.values())
        assert calendar.stored() <= max(2 * len(entries), len(entries) + 64) + 1


def _fail(_owner: object, error: BaseException) -> None:
    raise error


def test_that_a_calendar_calls_what_a_sorted_list_has_due() -> None:
    for seed in rounds(10):
        waiting = _Waiting(Random(seed))
        steps = [waiting.push, waiting.cancel, waiting.pass_time]
        for weights in ((9, 1, 1), (2, 9, 1), (4, 3, 3), (0, 9, 1)):
            for _ in range(120):
                waiting.random.choices(steps, weights)[0]()
                waiting.check()


def test_that_a_list_calls_what_is_in_it_by_priority_then_by_when_it_came() -> None:
    for seed in rounds(10):
        random, calls, called = Random(seed), CallList(), list[int]()
        slots: list[Slot] = []
        order: dict[int, tuple[int, int]] = {}
        silent: set[int] = set()
        count = 0
        for step in range(300):
            match random.choice(["add", "add", "remove", "move", "silence", "restore", "run"]):
                case "add" if step < 200:
                    count += 1
                    priority = random.randrange(3)
                    call = partial(_note, called, count)
                    slots.append(calls.add(count, call, priority, is_called=True))
                    order[count] = (priority, step)
                case "remove" if slots:
                    slot = slots.pop(random.randrange(len(slots)))
                    calls.remove(slot)
                    silent.discard(_number(slot))
                case "move" if slots:
                    slot = random.choice(slots)
                    priority = random.randrange(3)
                    calls.move(slot, priority)
                    order[_number(slot)] = (priority, step)
                case "silence" if slots:
                    slot = random.choice(slots)
                    calls.silence(slot)
                    silent.add(_number(slot))
                case "restore" if slots:
                    slot = random.choice(slots)
                    calls.restore(slot)
                    silent.discard(_number(slot))
            expected = sorted(map(_number, slots), key=order.__getitem__)
            assert [_number(slot) for slot in calls.in_order()] == expected
            assert len(calls) == len(slots)
            calls.prepare()
            del called[:]
            calls.run(0.5, _fail)
            assert called == [number for number in expected if number not in silent]


def _note(called: list[int], number: int, delta: float) -> None:
    assert delta == 0.5
    called.append(number)


def _number(slot: Slot) -> int:
    assert isinstance(slot.owner, int)
    return slot.owner
