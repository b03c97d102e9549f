"""Replays open-flash's clock and loop on ours; only translates, decides nothing."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from inspector.clocks import Clock, ClockTree, Timer
from inspector.engines.open_flash import OpenFlashClock, OpenFlashTimeout
from inspector.frames.loop import (
    OPEN_FLASH,
    OPEN_FLASH_ARTICLE,
    FixedRateLoop,
    LoopRules,
    start_loop_by,
)
from inspector.timebase import NS_PER_MS
from tests.conformance.replay import Event, GoldenLine, Hooks

if TYPE_CHECKING:
    from collections.abc import Callable

_ROOT = -1

AnyClock = Clock | OpenFlashClock


class OpenFlashReplay:
    """One sequence of operations on a tree of clocks; times are milliseconds."""

    def __init__(
        self,
        line: GoldenLine,
        add_clock: Callable[[AnyClock, int | None], AnyClock],
        rules: LoopRules,
    ) -> None:
        """Begin with the root clock alone.

        Args:
            line: What to replay.
            add_clock: Makes a clock under another, with an epoch in milliseconds.
            rules: Those of the loops.
        """
        self.events: list[Event] = []
        self._tree = ClockTree()
        self._new_clock = add_clock
        self._rules = rules
        self._clocks: dict[int, AnyClock] = {_ROOT: self._tree.root}
        self._handles: dict[int, Timer | OpenFlashTimeout] = {}
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

    def _on_clock(self, name: str, clock: AnyClock, args: list[Any]) -> None:
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
            self._clocks[number] = self._new_clock(self._clocks[parent], epoch)

    def _clear(self, number: int, handle: int) -> None:
        if number in self._clocks and handle in self._handles:
            # Any clock is to be asked about any handle, as in the recordings.
            clear: Callable[[Any], bool] = self._clocks[number].clear
            clear(self._handles[handle])

    def _fired(self, clock: AnyClock, handle: int) -> None:
        self.events.append(["C", handle, _ms(self._tree.now_ns), _ms(clock.time_ns)])
        self._hooks.called(f"H{handle}")

    def _start_loop(self, clock: AnyClock, number: int, rate: int) -> None:
        def tick() -> None:
            self.events.append(["L", number, _ms(self._tree.now_ns), _ms(clock.time_ns)])
            self._hooks.called(f"L{number}")

        loop = start_loop_by(clock, rate, tick, self._rules)
        loop.on_missed = lambda late_ns: self.events.append(["D", "missed", _ms(late_ns)])
        loop.on_reduced_precision = lambda: self.events.append(["D", "reduced"])
        self._loops[number] = loop


def _ours(parent: AnyClock, epoch: int | None) -> Clock:
    assert isinstance(parent, Clock)
    return parent.child("clock", epoch=None if epoch is None else epoch / 1000)


def _original(parent: AnyClock, epoch: int | None, *, is_corrected: bool = False) -> OpenFlashClock:
    epoch_ns = None if epoch is None else epoch * NS_PER_MS
    return OpenFlashClock(parent, epoch_ns, is_corrected=is_corrected)


def replay_upstream(line: GoldenLine) -> list[Event]:
    """Replay a line as the original is: the clock with its fault."""
    return _replay(OpenFlashReplay(line, _original, OPEN_FLASH), line)


def replay_fixed(line: GoldenLine) -> list[Event]:
    """Replay a line on our clock; compare with the variant whose clock was corrected."""
    return _replay(OpenFlashReplay(line, _ours, OPEN_FLASH), line)


def replay_article(line: GoldenLine) -> list[Event]:
    """Replay a line with both of the article's changes: the clock's and the loop's."""
    corrected = partial(_original, is_corrected=True)
    return _replay(OpenFlashReplay(line, corrected, OPEN_FLASH_ARTICLE), line)


def _replay(replay: OpenFlashReplay, line: GoldenLine) -> list[Event]:
    for operation in line.data["ops"]:
        replay.perform(operation)
    return replay.finish()


def _ms(ns: int) -> int | float:
    whole, rest = divmod(ns, NS_PER_MS)
    return ns / NS_PER_MS if rest else whole
