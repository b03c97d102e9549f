"""Replays open-flash's clock and loop on ours; only translates, decides nothing."""

from __future__ import annotations

from typing import Any

from inspector.clocks import Clock, ClockTree, Timer
from inspector.frames.loop import OPEN_FLASH, FixedRateLoop, start_loop_by
from inspector.timebase import NS_PER_MS
from tests.conformance.replay import Event, GoldenLine, Hooks

_ROOT = -1


class OpenFlashReplay:
    """One sequence of operations on a tree of clocks; times are milliseconds."""

    def __init__(self, line: GoldenLine) -> None:
        """Begin with the root clock alone."""
        self.events: list[Event] = []
        self._tree = ClockTree()
        self._clocks: dict[int, Clock] = {_ROOT: self._tree.root}
        self._handles: dict[int, Timer] = {}
        self._loops: dict[int, FixedRateLoop] = {}
        self._hooks = Hooks(line, self.perform)

    def perform(self, operation: list[Any]) -> None:
        """Perform one operation."""
        name, *args = operation
        match name:
            case "adv":
                self.events.append(["V", args[0]])
                self._tree.run_to(self._tree.now_ns + args[0] * NS_PER_MS)
                self.events.append(["N", _ms(self._tree.now_ns)])
            case "spend":
                self._tree.jump_to(self._tree.now_ns + args[0] * NS_PER_MS)
            case "clock":
                self._add_clock(*args)
            case "clear":
                self._clear(*args)
            case "unloop":
                if args[0] in self._loops:
                    self._loops[args[0]].stop()
            case "set" | "pause" | "resume" | "t" | "p" | "loop":
                number = args[1] if name == "loop" else args[0]
                if number in self._clocks:
                    self._on_clock(name, self._clocks[number], args)
            case _:
                raise AssertionError(operation)

    def _on_clock(self, name: str, clock: Clock, args: list[Any]) -> None:
        match name:
            case "set":
                _, handle, timeout = args
                self._handles[handle] = clock.set_timeout_ns(
                    timeout * NS_PER_MS, self._fired, clock, handle
                )
            case "pause":
                clock.pause()
            case "resume":
                clock.resume()
            case "t":
                self.events.append(["t", args[0], _ms(clock.time_ns)])
            case "p":
                self.events.append(["p", args[0], int(clock.is_paused)])
            case "loop":
                self._start_loop(clock, args[0], args[2])

    def finish(self) -> list[Event]:
        """Add the closing event and return all."""
        clocks = [
            [_ms(clock.time_ns), int(clock.is_paused)]
            for number, clock in sorted(self._clocks.items())
            if number != _ROOT
        ]
        running = sum(
            clock.pending_count
            for clock in self._tree.root.walk()
            if not clock.is_effectively_paused
        )
        state = {"now": _ms(self._tree.now_ns), "clocks": clocks, "pending": running}
        self.events.append(["Z", state])
        return self.events

    def _add_clock(self, number: int, parent: int, epoch: int | None) -> None:
        if number not in self._clocks and parent in self._clocks:
            seconds = None if epoch is None else epoch / 1000
            self._clocks[number] = self._clocks[parent].child(str(number), epoch=seconds)

    def _clear(self, number: int, handle: int) -> None:
        if number in self._clocks and handle in self._handles:
            self._clocks[number].clear(self._handles[handle])

    def _fired(self, clock: Clock, handle: int) -> None:
        self.events.append(["C", handle, _ms(self._tree.now_ns), _ms(clock.time_ns)])
        self._hooks.called(f"H{handle}")

    def _start_loop(self, clock: Clock, number: int, rate: int) -> None:
        def tick() -> None:
            self.events.append(["L", number, _ms(self._tree.now_ns), _ms(clock.time_ns)])
            self._hooks.called(f"L{number}")

        loop = start_loop_by(clock, rate, tick, OPEN_FLASH)
        loop.on_missed = lambda late_ns: self.events.append(["D", "missed", _ms(late_ns)])
        loop.on_reduced_precision = lambda: self.events.append(["D", "reduced"])
        self._loops[number] = loop


def replay_fixed(line: GoldenLine) -> list[Event]:
    """Replay a line; compare with the variant whose clock was corrected."""
    replay = OpenFlashReplay(line)
    for operation in line.data["ops"]:
        replay.perform(operation)
    return replay.finish()


def _ms(ns: int) -> int | float:
    whole, rest = divmod(ns, NS_PER_MS)
    return ns / NS_PER_MS if rest else whole
