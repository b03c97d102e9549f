"""A program with one adapter and a stand-in for its library, in a time that the test sets."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from inspector.probe.clocks import Clock
from inspector.probe.program import Program


class Played:
    """A program with a probe.

    Attributes:
        now_ns: The time of the machine.
        events: What the probe has told.
        asleep: What happens when the program sleeps for good.
    """

    def __init__(self, now_ns: int = 0) -> None:
        self.now_ns = now_ns
        self.events: list[tuple[int, int, int, int, int]] = []
        self.asleep: Callable[[], None] = lambda: pytest.fail("the program sleeps for good")
        self.program = Program("played", lambda: self.now_ns)
        self.attach()
        self.program.sleep_until = self._sleep_until  # type: ignore[method-assign]

    def attach(self) -> None:
        self.program.attach(self.events.append, self.events.extend)

    def _sleep_until(
        self, clock: Clock, local_ns: int, pump: Callable[[], object] | None = None
    ) -> None:
        while (real_ns := clock.real_ns_until(local_ns)) != 0:
            if real_ns is None:
                assert pump is not None
                pump()
                self.asleep()
            else:
                self.now_ns += real_ns

    def count(self, kind: int) -> int:
        return sum(each[1] == kind for each in self.events)

    def set_rate(self, rate_n: int) -> None:
        self.program.clocks.set_rate(self.program.own_clock, rate_n)

    def hold(self) -> None:
        self.program.pause(self.program.own_clock)

    def resume(self) -> None:
        self.program.resume(self.program.own_clock)
