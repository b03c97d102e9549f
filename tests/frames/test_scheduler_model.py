"""Random operations, inside callbacks too, on our scheduler and on the brute-force model."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.frames.scheduler.scheduler import Scheduler
from inspector.frames.scheduling import Overshoot
from tests.frames.scheduler_model import Call, SchedulerModel
from tests.fuzz import rounds

if TYPE_CHECKING:
    from inspector.frames.scheduler.targets import Pause
    from inspector.frames.scheduling import Callback

MS = 1_000_000
TARGETS = 4
CALLBACKS = 2
LIMIT = 5

Operation = tuple[Any, ...]

targets = st.integers(0, TARGETS - 1)
callbacks = st.integers(0, CALLBACKS - 1)
priorities = st.integers(-2, 2)
#: Shorter and longer than a bucket of the calendar, and than a frame; also none.
DURATIONS = [0, 1, 3 * MS, 8 * MS, 10 * MS, 16 * MS, 25 * MS, 100 * MS]
DELTAS = [0, 1, 5 * MS, 16 * MS, 17 * MS, 50 * MS, 300 * MS]
durations = st.sampled_from(DURATIONS)

changes = st.one_of(
    st.tuples(
        st.just("schedule"),
        targets,
        callbacks,
        durations,
        st.sampled_from([None, None, 0, 1, 4, 30]),
        durations,
        st.booleans(),
        st.booleans(),
    ),
    st.tuples(st.just("unschedule"), targets, callbacks),
    st.tuples(
        st.just("schedule update"), targets, priorities, st.sampled_from([None, True, False])
    ),
    st.tuples(st.just("unschedule update"), targets),
    st.tuples(st.just("unschedule target"), targets),
    st.tuples(st.just("unschedule all"), st.none() | priorities),
    st.tuples(st.just("pause target"), targets, st.integers(0, 2)),
    st.tuples(st.just("pause all"), st.none() | priorities, st.integers(0, 2)),
    st.tuples(st.just("resume"), st.integers(0, 2)),
    st.tuples(st.just("resume target"), targets),
    st.tuples(st.just("pause timer"), targets, callbacks),
    st.tuples(st.just("resume timer"), targets, callbacks),
    st.tuples(st.just("raise")),
)
frames = st.tuples(st.just("frame"), st.sampled_from(DELTAS))
hooks = st.dictionaries(
    st.tuples(st.sampled_from("UT"), targets, callbacks, st.integers(0, 3)),
    st.lists(changes, min_size=1, max_size=3),
    max_size=6,
)


class _WantedError(Exception):
    """Raised by a callback because the sequence says so."""


@dataclass(eq=False)
class _Target:
    """Somebody to be scheduled; has no hash, and equals others by value."""

    number: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Target)

    __hash__ = None  # type: ignore[assignment]


class Pair:
    """The scheduler and the model, driven alike."""

    def __init__(self, inside: dict[tuple[str, int, int, int], list[Operation]]) -> None:
        self.scheduler = Scheduler(max_calls_per_frame=LIMIT)
        self.model = SchedulerModel(LIMIT, self._inside_model)
        self.calls: list[Call] = []
        self._inside = inside
        self._targets = [_Target(number) for number in range(TARGETS)]
        self._timers = {
            (t, c): self._callback("T", t, c) for t in range(TARGETS) for c in range(CALLBACKS)
        }
        self._updates = [self._callback("U", t, 0) for t in range(TARGETS)]
        self._pauses: dict[int, Pause] = {}
        self._model_tokens: dict[int, int] = {}
        self._seen: dict[str, dict[tuple[str, int, int], int]] = {"real": {}, "model": {}}

    def _callback(self, kind: str, target: int, callback: int) -> Callback:
        def call(seconds: float) -> None:
            self.calls.append((kind, target, callback, round(seconds * 1e9)))
            self.called()
            for operation in self._next("real", kind, target, callback):
                self.perform(operation)
                self.called()

        return call

    def called(self) -> None:
        """Look at the scheduler inside a call; for those who want to."""

    def _next(self, side: str, kind: str, target: int, callback: int) -> list[Operation]:
        seen = self._seen[side]
        number = seen.get((kind, target, callback), 0)
        seen[kind, target, callback] = number + 1
        return self._inside.get((kind, target, callback, number), [])

    def _inside_model(self, kind: str, target: int, callback: int) -> None:
        for operation in self._next("model", kind, target, callback):
            if operation[0] == "raise":
                return
            self.perform_on_model(operation)

    def perform(self, operation: Operation) -> None:  # noqa: C901, PLR0912 - one line for each
        scheduler = self.scheduler
        match operation:
            case ["frame", delta]:
                scheduler.update_ns(delta)
            case ["schedule", t, c, interval, repeat, delay, paused, drops]:
                scheduler.schedule(
                    self._timers[t, c],
                    interval / 1e9,
                    target=self._targets[t],
                    repeat=repeat,
                    delay=delay / 1e9,
                    paused=paused,
                    overshoot=Overshoot.DROP if drops else Overshoot.CARRY,
                )
            case ["unschedule", t, c]:
                scheduler.unschedule(self._timers[t, c], self._targets[t])
            case ["schedule update", t, priority, paused]:
                scheduler.schedule_update(
                    self._targets[t], priority, paused=paused, callback=self._updates[t]
                )
            case ["unschedule update", t]:
                scheduler.unschedule_update(self._targets[t])
            case ["unschedule target", t]:
                scheduler.unschedule_target(self._targets[t])
            case ["unschedule all", minimum]:
                scheduler.unschedule_all(minimum)
            case ["pause target", t, slot]:
                self._pauses[slot] = scheduler.pause_target(self._targets[t])
            case ["pause all", minimum, slot]:
                self._pauses[slot] = scheduler.pause_all(minimum)
            case ["resume", slot]:
                if slot in self._pauses:
                    scheduler.resume(self._pauses[slot])
            case ["resume target", t]:
                scheduler.resume_target(self._targets[t])
            case ["pause timer" | "resume timer" as name, t, c]:
                timer = scheduler.timer(self._timers[t, c], self._targets[t])
                if timer is not None:
                    timer.pause() if name == "pause timer" else timer.resume()
            case _:
                raise _WantedError

    def perform_on_model(self, operation: Operation) -> None:  # noqa: C901, PLR0912 - likewise
        model = self.model
        match operation:
            case ["frame", delta]:
                model.run(delta)
            case ["schedule", t, c, interval, repeat, delay, paused, drops]:
                model.schedule(
                    t, c, interval, repeat=repeat, delay=delay, paused=paused, drops=drops
                )
            case ["unschedule", t, c]:
                model.unschedule(t, c)
            case ["schedule update", t, priority, paused]:
                model.schedule_update(t, priority, paused=paused)
            case ["unschedule update", t]:
                model.updates.pop(t, None)
            case ["unschedule target", t]:
                model.unschedule_target(t)
            case ["unschedule all", minimum]:
                for t in model.known(minimum):
                    model.unschedule_target(t)
            case ["pause target", t, slot]:
                self._model_tokens[slot] = model.next_number()
                model.pause({t}, self._model_tokens[slot])
            case ["pause all", minimum, slot]:
                self._model_tokens[slot] = model.next_number()
                model.pause(model.known(minimum), self._model_tokens[slot])
            case ["resume", slot]:
                if slot in self._model_tokens:
                    model.resume(self._model_tokens[slot])
            case ["resume target", t]:
                model.resume_target(t)
            case ["pause timer" | "resume timer" as name, t, c]:
                timer = model.timers.get((t, c))
                if timer is not None:
                    model.set_timer_paused(timer, paused=name == "pause timer")

    def compare(self) -> None:
        assert self.calls == self.model.calls
        scheduler, model = self.scheduler, self.model
        for (t, c), callback in self._timers.items():
            timer = scheduler.timer(callback, self._targets[t])
            expected = model.timers.get((t, c))
            assert (timer is None) == (expected is None)
            if timer is not None and expected is not None:
                is_dated = expected.interval or expected.is_delayed
                assert timer.remaining_ns == (expected.remaining if is_dated else None)
                assert timer.calls_left == expected.left
                assert timer.missed == expected.missed
                assert timer.is_paused == model.is_waiting(expected)
        for t, target in enumerate(self._targets):
            assert scheduler.is_target_paused(target) == model.is_target_paused(t)
        assert {target.number for target in scheduler.targets()} == model.known(None)  # type: ignore[attr-defined]
        order = sorted(model.updates.values(), key=lambda update: (update.priority, update.number))
        assert [update.target.number for update in scheduler.updates()] == [  # type: ignore[attr-defined]
            update.target for update in order
        ]
        assert len(scheduler.timers()) == len(model.timers)


@given(operations=st.lists(st.one_of(changes, frames, frames), max_size=40), inside=hooks)
def test_that_random_operations_do_what_the_model_does(
    operations: list[Operation], inside: dict[tuple[str, int, int, int], list[Operation]]
) -> None:
    pair = Pair(inside)

    for operation in operations:
        if operation[0] != "raise":
            pair.perform(operation)
            pair.perform_on_model(operation)
            pair.compare()


def random_change(dice: random.Random) -> Operation:
    """Take a change that is likely to meet others."""
    t, c, slot = dice.randrange(TARGETS), dice.randrange(CALLBACKS), dice.randrange(3)
    priority = dice.randrange(-2, 3)
    repeat = dice.choice([None, None, 0, 1, 4, 30])
    delay = dice.choice([0, 0, 0, *DURATIONS])
    paused, drops = dice.random() < 0.1, dice.random() < 0.2
    kinds: list[Operation] = [
        ("schedule", t, c, dice.choice(DURATIONS), repeat, delay, paused, drops),
        ("schedule", t, c, dice.choice(DURATIONS), repeat, 0, False, False),
        ("unschedule", t, c),
        ("schedule update", t, priority, dice.choice([None, None, True, False])),
        ("unschedule update", t),
        ("unschedule target", t),
        ("unschedule all", priority),
        ("pause target", t, slot),
        ("pause all", dice.choice([None, priority]), slot),
        ("resume", slot),
        ("resume", slot),
        ("resume target", t),
        ("resume target", t),
        ("pause timer", t, c),
        ("resume timer", t, c),
    ]
    return dice.choice(kinds)


@pytest.mark.parametrize("seed", rounds(60))
def test_that_long_random_sequences_do_what_the_model_does(seed: int) -> None:
    dice = random.Random(seed)
    inside: dict[tuple[str, int, int, int], list[Operation]] = {}
    for _ in range(40):
        kind = dice.choice("UTT")
        callback = dice.randrange(CALLBACKS) if kind == "T" else 0
        changes_there = [random_change(dice) for _ in range(dice.randrange(1, 4))]
        if dice.random() < 0.1:
            changes_there.append(("raise",))
        inside[kind, dice.randrange(TARGETS), callback, dice.randrange(20)] = changes_there
    pair = Pair(inside)

    for _ in range(150):
        is_frame = dice.random() < 0.55
        operation = ("frame", dice.choice(DELTAS)) if is_frame else random_change(dice)
        pair.perform(operation)
        pair.perform_on_model(operation)
        pair.compare()
