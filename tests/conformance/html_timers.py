"""Replays a browser's timers on ours; only translates, decides nothing."""

from __future__ import annotations

from functools import partial
from typing import Any

from inspector.clocks import ClockTree
from inspector.engines.browser_timers import BrowserRules, BrowserTimers
from inspector.timebase import NS_PER_MS
from tests.conformance.replay import Event, GoldenLine, Hooks


class HtmlTimersReplay:
    """One sequence of operations on the timers of a page; times are milliseconds."""

    def __init__(self, line: GoldenLine, rules: BrowserRules) -> None:
        """Begin at time 0 without timers."""
        self.events: list[Event] = []
        self._hooks = Hooks(line, self.perform)
        self._tree = ClockTree()
        self._timers = BrowserTimers(self._tree.root, rules)
        self._numbers: dict[int, int] = {}

    @property
    def _now_ms(self) -> int:
        return self._tree.now_ns // NS_PER_MS

    def perform(self, operation: list[Any]) -> None:
        """Perform one operation."""
        timers, tree = self._timers, self._tree
        match operation:
            case ["adv", ms]:
                self.events.append(["V", ms])
                tree.run_to(tree.now_ns + ms * NS_PER_MS)
                self.events.append(["N", self._now_ms])
            case ["spend", ms]:
                tree.jump_to(tree.now_ns + ms * NS_PER_MS)
            case ["wto", number, ms]:
                if number not in self._numbers:
                    fired = partial(self._fired, "O", number)
                    self._numbers[number] = timers.set_timeout(fired, ms)
            case ["wiv", number, ms]:
                if number not in self._numbers:
                    fired = partial(self._fired, "I", number)
                    self._numbers[number] = timers.set_interval(fired, ms)
            case ["wclear", number]:
                timers.clear(self._numbers.get(number, 0))
            case _:
                raise AssertionError(operation)

    def finish(self) -> list[Event]:
        """Add the closing event and return all."""
        self.events.append(["Z", {"now": self._now_ms, "pending": len(self._timers)}])
        return self.events

    def _fired(self, kind: str, number: int) -> None:
        self.events.append([kind, number, self._now_ms])
        self._hooks.called(f"{kind}{number}")


def replay_standard(line: GoldenLine) -> list[Event]:
    """Replay a line by the rules of the HTML standard."""
    return _replay(line, BrowserRules.STANDARD)


def replay_chromium(line: GoldenLine) -> list[Event]:
    """Replay a line as Chromium sets intervals again."""
    return _replay(line, BrowserRules.CHROMIUM)


def _replay(line: GoldenLine, rules: BrowserRules) -> list[Event]:
    replay = HtmlTimersReplay(line, rules)
    for operation in line.data["ops"]:
        replay.perform(operation)
    return replay.finish()
