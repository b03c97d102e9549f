"""Measures what the host spends on timers between two frames."""

from __future__ import annotations

from time import perf_counter_ns


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

    def discount(self) -> None:
        """Do not count one event more as work."""
        self._events += 1

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
