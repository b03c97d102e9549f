"""The clock tree and the brute-force model, driven by the same operations."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from inspector.clocks import CallbackFailure, Clock, ClockTree, Interval, Sink, Timer
from tests.clocks.brute_force import ModelTree

#: One operation: its name, then plain numbers. Clocks are named by number.
Operation = tuple[Any, ...]

_MOST_CALLS = 400


class Pair:
    """Performs every operation on both; keeps what was called on each side.

    Operations on clocks that do not exist (any more) are skipped on both sides.
    """

    def __init__(self, sink: Sink | None = None, *, model: ModelTree | None = None) -> None:
        """Begin with the root, named 0."""
        self.tree = ClockTree(sink)
        self.model = ModelTree() if model is None else model
        self.clocks: dict[int, Clock] = {0: self.tree.root}
        self.timers: dict[int, Timer] = {}
        self.calls: list[tuple[int, int, int]] = []
        self._scripts: dict[int, list[Operation]] = {}
        self._owner: dict[int, int] = {}
        self._target_ns = 0
        self._calls_left = _MOST_CALLS
        # What a callback raises is caught by the tree; here that is a failed check.
        self._failures: list[CallbackFailure] = []
        self.tree.on_failure = self._failures.append

    def perform(self, operation: Operation) -> None:
        """Perform one operation on both sides and compare what follows from it."""
        name, *args = operation
        if name == "advance":
            self._advance(args[0])
        elif name == "jump":
            self.tree.jump_to(self.tree.now_ns + args[0])
            self.model.now_ns += args[0]
        elif name == "bounce":
            self._change("pause", args)
            self._change("resume", args)
        else:
            self._change(name, args)
        self.compare()

    def compare(self) -> None:
        """Both sides agree on every clock's time and every pending timer."""
        if self._failures:
            raise self._failures[0].error
        assert self.tree.now_ns == self.model.now_ns
        assert self.clocks.keys() == self.model.clocks.keys()
        for name, clock in self.clocks.items():
            model = self.model.clocks[name]
            assert clock.time_ns == self.model.local_ns(model)
            ours = [(self._number(timer), timer.due_ns) for timer in clock.pending()]
            assert sorted(ours) == sorted((t.number, t.due_ns) for t in model.timers)

    def _number(self, timer: Timer) -> int:
        # One argument is held without a tuple around it.
        number = timer.arguments if isinstance(timer, Interval) else timer.args
        assert isinstance(number, int)
        return number

    def _change(self, name: str, args: list[Any]) -> None:  # noqa: C901, PLR0912 - one case each
        clock = self.clocks.get(args[0])
        if clock is None:
            return
        match name, args:
            case "child", [parent, number, rate, epoch_ns] if number not in self.model.clocks:
                epoch = None if epoch_ns is None else Fraction(epoch_ns, 10**9)
                self.clocks[number] = clock.child(str(number), rate, epoch)
                self.model.child(parent, number, rate, epoch_ns)
            case "set", [on, number, delay_ns, interval_ns, script] if number not in self._scripts:
                self._scripts[number] = script
                self._owner[number] = on
                if interval_ns:
                    self.timers[number] = clock.set_interval_ns(
                        interval_ns, self._called, number, delay_ns=delay_ns
                    )
                else:
                    self.timers[number] = clock.set_timeout_ns(delay_ns, self._called, number)
                self.model.set_timer(on, number, delay_ns, interval_ns)
            case "clear", [on, number] if number in self.timers:
                assert clock.clear(self.timers[number]) == self.model.clear(on, number)
            case "rate", [on, rate]:
                before = clock.time_ns
                clock.rate = rate
                assert clock.time_ns == before
                self.model.set_rate(on, rate)
            case "pause", [on]:
                before = clock.time_ns
                clock.pause()
                assert clock.time_ns == before
                self.model.pause(on)
            case "resume", [on]:
                before = clock.time_ns
                clock.resume()
                assert clock.time_ns == before
                self.model.resume(on)
            case "move", [on, under] if on and under in self.clocks:
                below = {other.name for other in self.model.branch(self.model.clocks[on])}
                if under not in below:
                    before = clock.time_ns
                    clock.move_to(self.clocks[under])
                    assert clock.time_ns == before
                    self.model.move(on, under)
            case "remove", [on] if on:
                clock.remove()
                self.model.remove(on)
                self.clocks = {n: self.clocks[n] for n in self.model.clocks}
            case _:
                return

    def _advance(self, delta_ns: int) -> None:
        self._target_ns = self.tree.now_ns + delta_ns
        self._calls_left = _MOST_CALLS
        self.tree.run_to(self._target_ns)
        if self._failures:
            raise self._failures[0].error
        if not self.tree.is_halted:
            # Nothing that the model expects was skipped.
            assert self.model.pop_next(self._target_ns) is None
            self.model.now_ns = max(self.model.now_ns, self._target_ns)

    def _called(self, number: int) -> None:
        """A timer of the tree was called: the model must say the same one is next."""
        found = self.model.pop_next(self._target_ns)
        assert found is not None
        clock, timer = found
        assert number == timer.number
        assert self.tree.now_ns == self.model.now_ns
        ours = self.clocks[clock.name]
        assert ours.time_ns == self.model.local_ns(clock)
        due_ns = timer.due_ns - timer.interval_ns
        assert ours.time_ns >= due_ns, "called early"
        self.calls.append((number, self.tree.now_ns, ours.time_ns))
        for operation in self._scripts[number]:
            if operation[0] != "advance":
                self.perform(operation)
        self._calls_left -= 1
        if self._calls_left <= 0:
            self.tree.halt()
