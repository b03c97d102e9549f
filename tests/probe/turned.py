"""An attached inspector, with a connection and a time that the test plays."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe import link as module
from inspector.probe.link import Attachment
from tests.probe.adapters.played import Played

MS = 1_000_000


class Line:
    """A connection whose other end is the test."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.batches = 0
        self.waiting: list[list[dict[str, Any]] | Exception] = []
        self.wants_to_send = self.is_closed = False
        self.wants_to_receive = True
        self.flushes = 0
        self.patience_ns = -1

    def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)

    def send_events(self, data: bytes) -> None:
        self.batches += 1
        # What is said of events comes behind them.
        self.sent.append({"method": "events", "params": {"bytes": len(data)}})

    def receive(self) -> list[dict[str, Any]]:
        found = self.waiting.pop(0) if self.waiting else []
        if isinstance(found, Exception):
            raise found
        return found

    def flush(self) -> None:
        self.flushes += 1

    def end(self, *last: dict[str, Any], patience_ns: int = 0) -> None:
        self.sent += last
        self.patience_ns = patience_ns
        self.is_closed = True

    def close(self) -> None:
        self.is_closed = True


class Turned:
    """An attached inspector, with a sampler that does nothing."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, grant: str = "full") -> None:
        self.played = Played(10**15)
        self.program = self.played.program
        line: Any = Line()
        self.line = line
        self.most_ns: list[int] = []
        self.sampled = self.sampled_last = 0
        monkeypatch.setattr(module, "monotonic_ns", lambda: self.played.now_ns)
        monkeypatch.setattr(module, "Sampler", lambda _program: self)
        self.spent_ns = 0
        self.hooks_ns = 0.0
        self.asked: list[int] = []
        meter = SimpleNamespace(spent_ns=lambda _kinds: self.spent_ns, hooks_ns=0.0)
        self.meter = meter
        monkeypatch.setattr(module, "CostMeter", lambda _program: meter)
        self.is_sampling = False
        self.attachment: Any = Attachment(self.program, line, grant, [])

    # It is the sampler, too.
    def begin(self) -> None:
        self.is_sampling = True

    def end(self) -> None:
        self.is_sampling = False

    def sample(self) -> None:
        self.sampled += 1

    def sample_last(self) -> None:
        self.sampled_last += 1

    def wait_ns(self, most_ns: int) -> int:
        return most_ns

    def said(self) -> list[str]:
        """What was sent since the last call, in short."""
        found = [
            message.get("method", "answer")
            + (f" {state}" if (state := message.get("params", {}).get("state")) else "")
            for message in self.line.sent
        ]
        self.line.sent.clear()
        return found

    def turn(self, after_ms: int = 0, *messages: dict[str, Any]) -> list[str]:
        self.played.now_ns += after_ms * MS
        if messages:
            self.line.waiting.append(list(messages))
        self.attachment.turn(has_news=bool(messages))
        return self.said()


def request(method: str, number: int | None = 5, /, **params: object) -> dict[str, Any]:
    message: dict[str, Any] = {"method": method, "params": params}
    return message if number is None else {**message, "id": number}
