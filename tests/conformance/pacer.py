"""Replays Cocos Creator 3.8's frame pacer on ours; only translates, decides nothing."""

from __future__ import annotations

from typing import Any

from inspector.engines.creator.pacer import FramePacer
from tests.conformance.replay import Event, GoldenLine, Hooks


class PacerReplay:
    """One sequence of operations on a pacer and its display."""

    def __init__(self, line: GoldenLine) -> None:
        """Begin stopped at time 0."""
        self.events: list[Event] = []
        self._hooks = Hooks(line, self.perform)
        self._now_ms = 0.0
        self._pacer = FramePacer(self._ticked, lambda: self._now_ms)

    def perform(self, operation: list[Any]) -> None:
        """Perform one operation."""
        pacer = self._pacer
        match operation:
            case ["rate", rate]:
                pacer.rate = rate
            case ["start"]:
                pacer.start()
            case ["stop"]:
                pacer.stop()
            case ["now", now_ms]:
                self._now_ms = now_ms
            case ["raf", now_ms]:
                self._now_ms = now_ms
                if not pacer.wants_refresh:
                    self.events.append(["N"])
                pacer.refresh()
            case _:
                raise AssertionError(operation)

    def finish(self) -> list[Event]:
        """Add the closing event and return all."""
        pacer = self._pacer
        state = {"rate": pacer.rate, "pending": int(pacer.wants_refresh)}
        self.events.append(["Z", state])
        return self.events

    def _ticked(self) -> None:
        self.events.append(["K", self._now_ms])
        self._hooks.called("K")


def replay_pacer(line: GoldenLine) -> list[Event]:
    """Replay a line."""
    replay = PacerReplay(line)
    for operation in line.data["ops"]:
        replay.perform(operation)
    return replay.finish()
