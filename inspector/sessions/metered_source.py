"""Measures what the host spends on timers: when it was woken, and for how long."""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING

from typing_extensions import override

from inspector.clocks.manual_source import ManualTimeSource
from inspector.vocabulary import Reading

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.clocks.time_source import TimeSource
    from inspector.sessions.journal import Script


class MeteredSource:
    """Passes everything on to another time source, and notes when a wake-up began.

    While a script is followed, the source is left alone and the script says what time it is.

    Attributes:
        source: The time source itself.
        reading_ns: What the source said when it was last asked.
        on_reading: Called with every reading, counted from the beginning of the session.
        script: What to follow instead of the source, ``None`` for the source itself.
    """

    def __init__(self, source: TimeSource, on_woken: Callable[[], None]) -> None:
        """Watch ``source``.

        Args:
            source: The time source itself.
            on_woken: Called first thing on each wake-up.
        """
        self.source = source
        self.reading_ns = self._begun_ns = source.now_ns()
        self.on_reading: Callable[[Reading, int], None] | None = None
        self.script: Script | None = None
        self._on_woken = on_woken
        self._on_wake: Callable[[], None] | None = None
        self._is_woken = False

    @property
    def relative_ns(self) -> int:
        """The last reading, counted from the beginning of the session."""
        return self.reading_ns - self._begun_ns

    def now_ns(self) -> int:
        """Return the present instant."""
        if self.script is None:
            self.reading_ns = self.source.now_ns()
        elif (scripted_ns := self.script.reading_ns()) is not None:
            self.reading_ns = self._begun_ns + scripted_ns
        reading = Reading.WOKEN if self._is_woken else Reading.ASKED
        self._is_woken = False
        if self.on_reading is not None:
            self.on_reading(reading, self.relative_ns)
        return self.reading_ns

    def successor(self, on_woken: Callable[[], None]) -> MeteredSource:
        """Return one for another life of the scene, which leaves the source alone."""
        other = MeteredSource(NoWork(), on_woken)
        other.reading_ns = other._begun_ns = self._begun_ns
        return other

    def take(self, source: TimeSource) -> None:
        """Be woken by a source from now on, instead of whoever was."""
        self.source = source
        source.attach(self._wake_if_live)

    def set_wake(self, at_ns: int | None) -> None:
        """Ask to be woken once, at an instant of the source."""
        if self.script is None:
            self.source.set_wake(at_ns)

    def attach(self, on_wake: Callable[[], None]) -> None:
        """Say what to call on a wake-up."""
        self._on_wake = on_wake
        self.source.attach(self._wake_if_live)

    def close(self) -> None:
        """Call nobody any more; the source itself is left to its owner."""
        self._on_wake = None
        self.source.set_wake(None)

    def wake(self) -> None:
        """Do what a wake-up of the source does."""
        self._on_woken()
        self._is_woken = True
        try:
            if self._on_wake is not None:
                self._on_wake()
        finally:
            self._is_woken = False

    def _wake_if_live(self) -> None:
        if self.script is None:
            self.wake()


class MeteredManualSource(ManualTimeSource):
    """Passes everything on to another manual time source, and notes how far it was advanced.

    While a script is followed, a manual source of its own takes the place of the other.

    Attributes:
        on_reading: Called with every instant it was advanced to, counted from the beginning
            of the session.
    """

    def __init__(self, source: ManualTimeSource) -> None:
        """Watch ``source``."""
        super().__init__()
        self._real = self._inner = source
        self._begun_ns = source.now_ns()
        self.on_reading: Callable[[Reading, int], None] | None = None

    @property
    def relative_ns(self) -> int:
        """The present instant, counted from the beginning of the session."""
        return self._inner.now_ns() - self._begun_ns

    def successor(self) -> MeteredManualSource:
        """Return one for another life of the scene, to follow a script with."""
        other = MeteredManualSource(self._real)
        other._begun_ns = self._begun_ns
        return other

    def follow(self, source_ns: int) -> None:
        """Have a source of its own, which begins at a relative instant."""
        self._inner = ManualTimeSource(self._begun_ns + source_ns)

    def go_live(self) -> None:
        """Have the real source again."""
        self._inner = self._real
        self._attach()

    def advance_to(self, relative_ns: int) -> None:
        """Advance up to an instant that is counted from the beginning of the session."""
        self._inner.advance_ns(max(0, relative_ns - self.relative_ns))

    @override
    def now_ns(self) -> int:
        return self._inner.now_ns()

    @override
    def attach(self, on_wake: Callable[[], None]) -> None:
        self._on_wake = on_wake
        self._attach()

    @override
    def attach_jumps(self, on_jump: Callable[[int], None]) -> None:
        self._on_jump = on_jump
        self._attach()

    @override
    def jump_ns(self, delta_ns: int) -> None:
        self._inner.jump_ns(delta_ns)

    def _attach(self) -> None:
        self._inner.attach(self._advanced)
        if self._on_jump is not None:
            self._inner.attach_jumps(self._on_jump)

    def _advanced(self) -> None:
        if self.on_reading is not None:
            self.on_reading(Reading.ADVANCED, self.relative_ns)
        if self._on_wake is not None:
            self._on_wake()


class NoWork:
    """Stands in for the time source while a script is followed: work takes no time then."""

    def now_ns(self) -> int:
        """Return nothing that anybody should use."""
        return 0

    def set_wake(self, at_ns: int | None) -> None:
        """Wake nobody."""

    def attach(self, on_wake: Callable[[], None]) -> None:
        """Call nobody."""

    def close(self) -> None:
        """Do nothing."""

    def jump_ns(self, delta_ns: int) -> None:
        """Let the work be done: the script knows how long it took."""


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
