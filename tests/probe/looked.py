"""A sampler that looks when the test says so, in time that the test passes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from inspector.probe import program as program_module
from inspector.probe import sampler as module
from inspector.probe.adapters import Adapter
from inspector.probe.clocks import Clock
from inspector.probe.kinds import SAMPLE_TIMES, SAMPLED, SAW_END
from inspector.probe.program import Program
from inspector.probe.sampler import Sampler
from inspector.vocabulary import RawEvent

MS = 1_000_000


class Looked:
    """A program in time that the test passes, with a sampler that looks when it is told to.

    Attributes:
        used_ms: What the thread of its loops has used of a processor.
        ready_ms: How long that has waited for one.
        runs: How often that has had one.
        reads: How often its times were read.
        is_closed: Whether its times are read no longer.
        stops: What is known of times in which nothing could be looked at.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ns = 10**15
        self.used_ms = self.ready_ms = 0
        self.runs = 1
        self.reads = 0
        self.is_closed = False
        monkeypatch.setattr(program_module, "monotonic_ns", lambda: self.now_ns)
        monkeypatch.setattr(module, "other_times", dict)
        times = SimpleNamespace(
            cpu_ns=self._cpu_ns,
            scheduled=lambda: (self.ready_ms * MS, self.runs),
            close=self._close,
        )
        monkeypatch.setattr(module, "ThreadTimes", lambda _native: times)
        self.program = Program("played", lambda: self.now_ns)
        self.events: list[RawEvent] = []
        self.program.attach(self.events.append, self.events.extend)
        self.sampler = Sampler(self.program, lambda: self.now_ns)
        self.stops = SimpleNamespace(
            lacked_ns=0, wakes=0, read_ns=self.now_ns * 2, sleeps=int, stopped_ns=int, close=int
        )
        self.sampler._stops = self.stops  # type: ignore[assignment]

    def _cpu_ns(self) -> int:
        self.reads += 1
        return self.used_ms * MS

    def _close(self) -> None:
        self.is_closed = True

    def hidden_loop(self) -> Clock:
        """Add a loop of which only the stack says whether it is busy."""
        adapter = Adapter(self.program)
        adapter.has_hidden_turns = True
        return self.program.clock("loop", adapter=adapter)

    def pass_ms(self, ms: int, used_ms: int = 0, ready_ms: int = 0) -> None:
        self.now_ns += ms * MS
        self.used_ms += used_ms
        self.ready_ms += ready_ms

    def look_after(self, ms: int, used_ms: int = 0, ready_ms: int = 0) -> None:
        self.pass_ms(ms, used_ms, ready_ms)
        self.sampler.sample()

    def turn(self, ms: int, used_ms: int = 0, ready_ms: int = 0) -> None:
        """Look after so long as the link does: as was asked for."""
        self.sampler.wait_ns(ms * MS)
        self.look_after(ms, used_ms, ready_ms)

    def look_late(self, ms: int, used_ms: int = 0, lacked_ms: int = 0) -> None:
        """Look after so long without the interpreter, for some of it without a processor."""

        def stopped_ns(_now_ns: int, _late_ns: int) -> int:
            self.stops.lacked_ns = lacked_ms * MS
            return 0

        self.stops.stopped_ns, self.stops.read_ns = stopped_ns, 1
        self.sampler._stuck_ns = ms * MS
        self.look_after(ms, used_ms)

    @property
    def told(self) -> list[tuple[int, int, int]]:
        """What each sample is for, and what its thread used and waited for, in milliseconds."""
        times = [(a, b) for _, kind, _, a, b in self.events if kind == SAMPLE_TIMES]
        covers = [a for _, kind, _, a, _ in self.events if kind == SAMPLED]
        return [
            (each // MS, used // MS, ready // MS)
            for each, (used, ready) in zip(covers, times, strict=True)
        ]

    @property
    def flags(self) -> list[int]:
        return [b & 0xFF for _, kind, _, _, b in self.events if kind == SAMPLED]

    @property
    def ends(self) -> list[bool]:
        """Whether each sample is for what followed the last of its turn."""
        return [bool(b & SAW_END) for _, kind, _, _, b in self.events if kind == SAMPLED]
