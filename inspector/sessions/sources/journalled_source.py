"""The time source of a run: every reading is reported, and can be replayed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol, runtime_checkable

from typing_extensions import override

from inspector.clocks.sources.manual_source import ManualTimeSource
from inspector.clocks.sources.time_source import TimeSource
from inspector.sessions.interval_meter import IntervalMeter
from inspector.sessions.replay.journal import Script
from inspector.vocabulary import Reading

_WOKEN: Final = Reading.WOKEN
_ASKED: Final = Reading.ASKED


@runtime_checkable
class JumpsInTime(Protocol):
    """A virtual time source, in which work takes virtual time and no processor time."""

    def jump_ns(self, delta_ns: int) -> None:
        """Let ``delta_ns`` pass without a wake-up."""


class JournalledSource:
    """Passes a time source on to one run of a scene, and reports its readings.

    While it follows a script, the readings come from the script and not from the source. For the
    thread of the source.
    """

    is_manual = False  # Whether time is advanced by hand, passing every instant
    # Measures where the time between wake-ups goes; None if that is not measured
    meter: IntervalMeter | None = None

    def __init__(self, source: TimeSource, began_ns: int | None = None) -> None:
        """Read a source from now on; with ``began_ns``, only from :meth:`go_live` on.

        Args:
            began_ns: The source's reading when the session began; by default the present one.
        """
        self.source = source
        # Called with every reading, counted from the start of the session; may be None
        self.on_reading: Callable[[Reading, int], None] | None = None
        self._is_live = began_ns is None
        self._began_ns = self.reading_ns = source.now_ns() if began_ns is None else began_ns
        self._script: Script | None = None
        self._on_wake: Callable[[], None] | None = None
        self._is_woken = False
        self._jump_ns = source.jump_ns if isinstance(source, JumpsInTime) else None

    @property
    def relative_ns(self) -> int:
        """The last reading, counted from the start of the session."""
        return self.reading_ns - self._began_ns

    @property
    def ahead_ns(self) -> int:
        """How far the source is ahead of its last reading."""
        return self.source.now_ns() - self.reading_ns

    def beside(self) -> JournalledSource:
        """Return the source of a second run, which does not read the time source at first."""
        return type(self)(self.source, self._began_ns)

    def follow(self, script: Script) -> None:
        """Take readings from a script; meanwhile the source wakes nothing."""
        self._is_live = False
        self._script = script
        self.source.set_wake(None)

    def go_live(self) -> None:
        """Read the source from now on, and take over its wake-ups."""
        self._is_live = True
        self._script = None
        self.source.attach(self._wake_if_live)

    def replay(self, reading: int, value: int) -> None:  # noqa: ARG002 - of the manual source
        """Repeat a wake-up or an advance of the script, up to a relative instant."""
        if reading == _WOKEN:
            self._wake()

    def pass_work_ns(self, duration_ns: int) -> bool:
        """Let the virtual time of a callback's work pass; returns ``False`` in real time."""
        if not self._is_live:
            # The readings of the script include this work.
            return True
        if self._jump_ns is None:
            return False
        self._jump_ns(duration_ns)
        return True

    def now_ns(self) -> int:
        if self._is_live:
            self.reading_ns = self.source.now_ns()
        elif self._script is not None and (said_ns := self._script.reading_ns()) is not None:
            self.reading_ns = self._began_ns + said_ns
        is_woken, self._is_woken = self._is_woken, False
        if is_woken and self.meter is not None:
            self.meter.wake(self.reading_ns)
        if self.on_reading is not None:
            self.on_reading(_WOKEN if is_woken else _ASKED, self.reading_ns - self._began_ns)
        return self.reading_ns

    def set_wake(self, at_ns: int | None) -> None:
        if self._is_live:
            self.source.set_wake(at_ns)
            if self.meter is not None:
                self.meter.want(at_ns)

    def attach(self, on_wake: Callable[[], None]) -> None:
        self._on_wake = on_wake
        if self._is_live:
            self.source.attach(self._wake_if_live)

    def close(self) -> None:
        """Stop waking the run; the time source itself is not closed."""
        self._on_wake = None
        self.set_wake(None)

    def _wake(self) -> None:
        self._is_woken = True
        try:
            if self._on_wake is not None:
                self._on_wake()
        finally:
            self._is_woken = False
            if self.meter is not None:
                self.meter.end_wake()

    def _wake_if_live(self) -> None:
        if self._is_live:
            self._wake()


class JournalledManualSource(JournalledSource, ManualTimeSource):
    """A journalled manual time source, whose advances are the readings.

    It is a manual source itself, because a transport treats those differently. While it follows a
    script, another manual source takes the place of the real one.
    """

    is_manual = True

    def __init__(self, source: ManualTimeSource, began_ns: int | None = None) -> None:
        ManualTimeSource.__init__(self)
        super().__init__(source, began_ns)
        self._real = self._inner = source

    @property
    @override
    def ahead_ns(self) -> int:
        """Always 0, as each advance is run at once."""
        return 0

    @override
    def follow(self, script: Script) -> None:
        self._is_live = False
        self.reading_ns = self._began_ns + script.journal.beginning.source_ns
        self._inner = ManualTimeSource(self.reading_ns)
        self._listen()

    @override
    def go_live(self) -> None:
        self._is_live = True
        self._inner = self._real
        self.reading_ns = self._real.now_ns()
        self._listen()

    @override
    def replay(self, reading: int, value: int) -> None:
        if reading == Reading.ADVANCED:
            self._inner.advance_ns(max(0, value - self.relative_ns))

    @override
    def pass_work_ns(self, duration_ns: int) -> bool:
        self._inner.jump_ns(duration_ns)
        return True

    @override
    def now_ns(self) -> int:
        return self.reading_ns

    @override
    def attach(self, on_wake: Callable[[], None]) -> None:
        self._on_wake = on_wake
        if self._is_live:
            self._listen()

    @override
    def attach_virtual(
        self, on_advance: Callable[[int], None], on_jump: Callable[[int], None]
    ) -> None:
        self._on_jump = on_jump
        self.attach(lambda: on_advance(self.reading_ns))

    @override
    def jump_ns(self, delta_ns: int) -> None:
        self._inner.jump_ns(delta_ns)

    def _listen(self) -> None:
        self._inner.attach_virtual(self._advanced, self._jumped)

    def _advanced(self, now_ns: int) -> None:
        self.reading_ns = now_ns
        if self.on_reading is not None:
            self.on_reading(Reading.ADVANCED, self.reading_ns - self._began_ns)
        if self._on_wake is not None:
            self._on_wake()

    def _jumped(self, delta_ns: int) -> None:
        self.reading_ns = self._inner.now_ns()
        if self._on_jump is not None:
            self._on_jump(delta_ns)


def journalled(source: TimeSource) -> JournalledSource:
    if isinstance(source, ManualTimeSource):
        return JournalledManualSource(source)
    return JournalledSource(source)
