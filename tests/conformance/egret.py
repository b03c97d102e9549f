"""Replays Egret's ticker and timers on ours; only translates, decides nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from inspector.frames.ticker import BY_CALLS, Ticker, TickerTimer
from tests.conformance.replay import Event, GoldenLine, Hooks


class EgretReplay:
    """One sequence of operations on a ticker; times are milliseconds."""

    def __init__(self, line: GoldenLine) -> None:
        """Begin at time 0 with one player and one enter-frame listener."""
        self.events: list[Event] = []
        self._hooks = Hooks(line, self.perform)
        self._now_ms = 0
        self._counting = replace(BY_CALLS, call_factor=line.data["cfg"].get("fix4", 1))
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
                timer.delay_ms = args[1]
            case "repeat":
                timer.repeat_count = args[1]
            case "q":
                state = [int(timer.is_running), timer.current_count]
                self.events.append(["q", args[0], *state, timer.delay_ms, timer.repeat_count])

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
                else [int(timer.is_running), timer.current_count, timer.delay_ms]
            )
        self.events.append(["Z", rows])
        return self.events

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


def replay_egret(line: GoldenLine) -> list[Event]:
    """Replay a line."""
    replay = EgretReplay(line)
    for operation in line.data["ops"]:
        replay.perform(operation)
    return replay.finish()
