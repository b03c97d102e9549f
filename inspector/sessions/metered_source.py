"""Measures what the host spends on timers: when it was woken, and for how long."""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.clocks.time_source import TimeSource


class MeteredSource:
    """Passes everything on to another time source, and notes when a wake-up began.

    Attributes:
        source: The time source itself.
        reading_ns: What the source said when it was last asked.
    """

    def __init__(self, source: TimeSource, on_woken: Callable[[], None]) -> None:
        """Watch ``source``.

        Args:
            source: The time source itself.
            on_woken: Called first thing on each wake-up.
        """
        self.source = source
        self.reading_ns = source.now_ns()
        self._on_woken = on_woken
        self._on_wake: Callable[[], None] | None = None

    def now_ns(self) -> int:
        """Return the present instant."""
        self.reading_ns = reading_ns = self.source.now_ns()
        return reading_ns

    def set_wake(self, at_ns: int | None) -> None:
        """Ask to be woken once, at an instant of the source."""
        self.source.set_wake(at_ns)

    def attach(self, on_wake: Callable[[], None]) -> None:
        """Say what to call on a wake-up."""
        self._on_wake = on_wake
        self.source.attach(self._wake)

    def close(self) -> None:
        """Call nobody any more; the source itself is left to its owner."""
        self._on_wake = None
        self.source.set_wake(None)

    def _wake(self) -> None:
        self._on_woken()
        if self._on_wake is not None:
            self._on_wake()


class TimersMeter:
    """Adds up what timers cost between two frames.

    What the host itself does between wake-ups is not counted: only stretches in which
    an event was recorded, from the beginning of a wake-up or the end of a frame.
    """

    def __init__(self) -> None:
        """Begin with nothing measured."""
        self._since_ns = 0
        self._events = 0
        self._busy_ns = 0

    def begin(self, events: int | None = None) -> None:
        """Measure from now on.

        Args:
            events: How many events there are; as many as before if left out.
        """
        self._since_ns = perf_counter_ns()
        if events is not None:
            self._events = events

    def charge(self, events: int, worked_ns: int) -> None:
        """Add the time since :meth:`begin`, if there are more events than then.

        Args:
            events: How many events there are now.
            worked_ns: Virtual time that callbacks took besides.
        """
        self._busy_ns += worked_ns
        if events != self._events and self._since_ns:
            now_ns = perf_counter_ns()
            self._busy_ns += now_ns - self._since_ns
            self._since_ns = now_ns
            self._events = events

    def take_ns(self) -> int:
        """Return what was added up, and begin anew."""
        busy_ns, self._busy_ns = self._busy_ns, 0
        return busy_ns
