"""Replays Egret's ticker and timers on ours; only translates, decides nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from inspector.engines.egret.repairs import ElapsedGuard, FactorMeasurement, longer_count
from inspector.engines.egret.ticker import Ticker
from inspector.engines.egret.timer import BY_CALLS, Counting, TickerTimer
from tests.conformance.replay import Event, GoldenLine, Hooks


class EgretReplay:
    """One sequence of operations on a ticker; times are milliseconds."""

    def __init__(self, line: GoldenLine) -> None:
        """Begin at time 0 with one player and one enter-frame listener."""
        self.events: list[Event] = []
        self._hooks = Hooks(line, self.perform)
        self._now_ms = 0
        self._fix4 = line.data["cfg"].get("fix4", 1)
        self._ticker = Ticker(lambda: self._now_ms)
        self._ticker.on_render = partial(self._note, "R", 1, key="R")
        self._ticker.on_enter_frame = partial(self._note, "EF", key="EF")
        self._timers: dict[int, TickerTimer] = {}
        self._ticks: dict[int, Callable[[float], object]] = {}
        self._timeouts: dict[int, int] = {}
        self._intervals: dict[int, int] = {}

    def perform(self, operation: list[Any]) -> None:
        """Perform one operation."""
        name, *args = operation
        match name:
            case "timer":
                self._add_timer(*args)
            case "start" | "stop" | "reset" | "delay" | "repeat" | "q":
                if args[0] in self._timers:
                    self._on_timer(name, self._timers[args[0]], args)
            case "frame" | "force":
                self._now_ms = args[0]
                self.events.append(["F", args[0]])
                self._ticker.update(is_forced=name == "force")
            case "now":
                self._now_ms = args[0]
            case _:
                self._on_ticker(name, args)

    def _on_timer(self, name: str, timer: TickerTimer, args: list[Any]) -> None:
        match name:
            case "start":
                timer.start()
            case "stop":
                timer.stop()
            case "reset":
                timer.reset()
            case "delay":
                timer.counting = self._counting
                timer.delay_ms = args[1]
            case "repeat":
                timer.repeat_count = args[1]
            case "q":
                state = [int(timer.is_running), timer.current_count]
                delay_ms = _number(timer.delay_ms)
                self.events.append(["q", args[0], *state, delay_ms, timer.repeat_count])

    def _on_ticker(self, name: str, args: list[Any]) -> None:  # noqa: C901 - one case each
        ticker = self._ticker
        match name:
            case "fps":
                self.events.append(["fps", int(ticker.set_frame_rate(args[0]))])
            case "tpause":
                ticker.pause()
            case "tresume":
                ticker.resume()
            case "to":
                fired = partial(self._note, "O", args[0], key=f"O{args[0]}")
                self._timeouts[args[0]] = ticker.set_timeout(fired, args[1])
            case "cto":
                ticker.clear_timeout(self._timeouts.get(args[0], 0))
            case "iv":
                fired = partial(self._note, "I", args[0], key=f"I{args[0]}")
                self._intervals[args[0]] = ticker.set_interval(fired, args[1])
            case "civ":
                ticker.clear_interval(self._intervals.get(args[0], 0))
            case "later":
                ticker.call_later(partial(self._note, "A", args[0], key=f"A{args[0]}"))
            case "async":
                ticker.call_async(partial(self._note, "Y", args[0], key=f"Y{args[0]}"))
            case "tick":
                ticker.start_tick(self._tick(args[0]))
            case "untick":
                ticker.stop_tick(self._tick(args[0]))
            case _:
                raise AssertionError(name)

    def finish(self) -> list[Event]:
        """Add the closing event and return all."""
        rows: list[list[object] | None] = []
        for number in range(max(self._timers, default=-1) + 1):
            timer = self._timers.get(number)
            rows.append(
                None
                if timer is None
                else [int(timer.is_running), timer.current_count, _number(timer.delay_ms)]
            )
        self.events.append(["Z", rows])
        return self.events

    @property
    def _counting(self) -> Counting:
        return replace(BY_CALLS, call_factor=self._fix4)

    def _add_timer(self, number: int, delay_ms: float, repeat_count: float) -> None:
        if number in self._timers:
            return
        timer = TickerTimer(self._ticker, delay_ms, repeat_count, counting=self._counting)
        self._timers[number] = timer
        timer.on_timer = partial(self._timer_event, "T", number)
        timer.on_complete = partial(self._timer_event, "C", number)

    def _timer_event(self, kind: str, number: int) -> None:
        self.events.append([kind, number, self._timers[number].current_count])
        self._hooks.called(f"{kind}{number}")

    def _tick(self, number: int) -> Callable[[float], object]:
        def tick(now_ms: float) -> bool:
            self._note("K", number, now_ms, key=f"K{number}")
            return False

        return self._ticks.setdefault(number, tick)

    def _note(self, *event: object, key: str) -> None:
        self.events.append(list(event))
        self._hooks.called(key)


class EgretRepairsReplay(EgretReplay):
    """One sequence of operations on a ticker with the published repairs around it."""

    def __init__(self, line: GoldenLine) -> None:
        """Begin at time 0 with a player that is silent."""
        super().__init__(line)
        self._ticker.on_render = self._ticker.on_enter_frame = None
        self._guards: dict[int, ElapsedGuard] = {}
        self._factor = math.nan

    @property
    def _counting(self) -> Counting:
        return longer_count(self._factor if self._fix4 == "measured" else self._fix4)

    def perform(self, operation: list[Any]) -> None:
        """Perform one operation."""
        match operation:
            case ["game", number, delay_ms, repeat_count, expected_ms, tolerance_ms]:
                if number not in self._timers:
                    self._add_timer(number, delay_ms, repeat_count)
                    accepted = partial(self._accepted, number)
                    self._guards[number] = ElapsedGuard(
                        lambda: self._now_ms, accepted, expected_ms, tolerance_ms
                    )
            case ["gstart", number]:
                if number in self._guards:
                    self._guards[number].stamp()
                if number in self._timers:
                    self._timers[number].start()
            case ["measure", for_ms]:
                self._measure(math.nan if for_ms is None else for_ms)
            case ["ftimer", number, base_ms, repeat_count]:
                self._add_timer(number, self._factor * base_ms, repeat_count)
            case ["fdelay", number, base_ms]:
                super().perform(["delay", number, self._factor * base_ms])
            case _:
                super().perform(operation)

    def _timer_event(self, kind: str, number: int) -> None:
        super()._timer_event(kind, number)
        if kind == "T" and number in self._guards:
            self._guards[number]()

    def _accepted(self, number: int) -> None:
        self._note("A", number, self._now_ms, key=f"A{number}")

    def _measure(self, for_ms: float) -> None:
        def measured() -> None:
            assert measurement.factor is not None
            self._factor = measurement.factor
            self._note("M", _number(self._factor), measurement.frames, key="M")

        measurement = FactorMeasurement(self._ticker, measured, for_ms)


def _number(value: float) -> float | None:
    """Return a number as the recordings write it."""
    return None if math.isnan(value) else value


def replay_egret_repairs(line: GoldenLine) -> list[Event]:
    """Replay a line with the repairs."""
    return _replayed(EgretRepairsReplay(line), line)


def replay_egret(line: GoldenLine) -> list[Event]:
    """Replay a line."""
    return _replayed(EgretReplay(line), line)


def _replayed(replay: EgretReplay, line: GoldenLine) -> list[Event]:
    for operation in line.data["ops"]:
        replay.perform(operation)
    return replay.finish()
