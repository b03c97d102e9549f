"""Relays for tests."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.sessions.attached.doors.hosts import relay as relay_module
from tests.sessions.attached.doors.hosts.played_relay import Begin, PlayedRelay


@pytest.fixture
def begin(monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    benches: list[PlayedRelay] = []
    with tempfile.TemporaryDirectory() as temporary:

        def made(**settings: object) -> PlayedRelay:
            benches.append(PlayedRelay(Path(temporary), settings))
            return benches[-1]

        monkeypatch.setattr(
            relay_module, "monotonic", lambda: benches[-1].now_s if benches else 1_000.0
        )
        yield made
        for each in benches:
            each.close()


@pytest.fixture
def bench(begin: Begin) -> PlayedRelay:
    return begin()
