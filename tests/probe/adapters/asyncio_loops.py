"""Loops of asyncio with a probe in them, in a time that the test sets."""

# ruff: noqa: ANN401 - as asyncio has it

from __future__ import annotations

import asyncio
import selectors
from math import ceil
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe.adapters import asyncio as asyncio_adapter
from inspector.probe.adapters.asyncio import AsyncioAdapter, LoopHooks
from tests.probe.adapters.played import Played

MS = 1_000_000


class Asyncio(Played):
    """asyncio, and a probe in it; its loops are of type `Loop`.

    Attributes:
        timeouts_ms: For how long loops have waited.
        during: Called when a loop waits.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(400 * MS)
        self.timeouts_ms: list[float | None] = []
        self.loops: list[Any] = []
        played = self

        class Selector(selectors.DefaultSelector):
            def select(self, timeout: float | None = None) -> Any:
                played.timeouts_ms.append(None if timeout is None else round(timeout * 1e3, 6))
                ready = super().select(0)
                if not ready and timeout is None:
                    played.asleep()
                elif not ready and timeout is not None:
                    played.now_ns += ceil(max(timeout, 0) * 1e9)
                return ready

        class Loop(asyncio.SelectorEventLoop):
            def __init__(self) -> None:
                super().__init__(Selector())
                played.loops.append(self)

            def time(self) -> float:
                return played.now_ns / 1e9

            def run_forever(self) -> None:
                super().run_forever()

            def close(self) -> None:
                super().close()

        self.Loop: Any = Loop
        module: Any = SimpleNamespace(
            BaseEventLoop=Loop,
            tasks=asyncio.tasks,
            futures=asyncio.futures,
            events=asyncio.events,
            __spec__=SimpleNamespace(_initializing=True),
        )
        self.module = module
        selector_events: Any = SimpleNamespace(BaseSelectorEventLoop=Loop)
        monkeypatch.setattr(asyncio_adapter, "when_imported", lambda _, call: call(selector_events))
        self.adapter = AsyncioAdapter(self.program)
        self.adapter.installed(module)
        self.now_ns += 100 * MS
        self.events.clear()

    def started(self) -> Any:
        """Return a loop that has been run."""
        loop = self.Loop()
        self.turn(loop)
        return loop

    def turn(self, loop: Any) -> None:
        """Run a loop for a turn without waiting."""
        loop.call_soon(loop.stop)
        loop.run_forever()

    def hooks(self, loop: Any) -> LoopHooks:
        return self.adapter._loops[loop]

    def of(self, kind: int) -> list[tuple[int, float, float]]:
        return [(n, a / MS, b / MS) for _, found, n, a, b in self.events if found == kind]

    def named(self, kind: int, place: int) -> list[str]:
        return [self.program.texts[event[place]] for event in self.events if event[1] == kind]


def tick(*_: object) -> None: ...
