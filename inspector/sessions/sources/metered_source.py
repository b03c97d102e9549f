"""The two gates between a time source and a life: any source, and a manual one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from inspector.clocks.sources.manual_source import ManualTimeSource
from inspector.sessions.sources.timers_meter import TimersMeter
from inspector.vocabulary import Reading

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.clocks.sources.time_source import TimeSource
    from inspector.sessions.replay.journal import Script


class MeteredSource:
    """Passes everything on to another time source, and notes when a wake-up began.

    It is a :class:`~inspector.sessions.sources.gate.Gate`.

    Attributes:
        source: The time source itself.
        is_manual: False: it wakes when it is asked to.
        timers: Begins to measure first thing on each wake-up.
        on_reading: Called with every reading, counted from the beginning of the session.
        reading_ns: What the source said when it was last asked.
    """

    def __init__(self, source: TimeSource) -> None:
        """Watch ``source``."""
        self.source = self._inner = source
        self.is_manual = False
        self.timers = TimersMeter()
        self.on_reading: Callable[[Reading, int], None] | None = None
        self.reading_ns = self._begun_ns = source.now_ns()
        self._script: Script | None = None
        self._on_wake: Callable[[], None] | None = None
        self._is_woken = False

    @property
    def relative_ns(self) -> int:
        """The last reading, counted from the beginning of the session."""
        return self.reading_ns - self._begun_ns

    @property
    def ahead_ns(self) -> int:
        """How far the source is ahead of its last reading."""
        return self.source.now_ns() - self.reading_ns

    @property
    def source_of_work(self) -> TimeSource:
        """Whose time passes when a callback works: nobody's while a script is followed."""
        return self.source if self._script is None else NoWork()

    def now_ns(self) -> int:
        """Return the present instant."""
        if self._script is None:
            self.reading_ns = self._inner.now_ns()
        elif (scripted_ns := self._script.reading_ns()) is not None:
            self.reading_ns = self._begun_ns + scripted_ns
        reading = Reading.WOKEN if self._is_woken else Reading.ASKED
        self._is_woken = False
        if self.on_reading is not None:
            self.on_reading(reading, self.relative_ns)
        return self.reading_ns

    def successor(self) -> MeteredSource:
        """Return one for a second life, which leaves the source alone until it goes live."""
        # Not asked for its time: a reading belongs to the life that is driven by it.
        other = MeteredSource(NoWork())
        other.source = self.source
        other.reading_ns = other._begun_ns = self._begun_ns
        return other

    def follow(self, script: Script) -> None:
        """Have a script say what time it is; the source wakes nobody meanwhile."""
        self._script = script
        self.source.set_wake(None)

    def end_following(self) -> None:
        """Follow no script any more."""
        self._script = None

    def go_live(self) -> None:
        """Be woken by the source from now on, instead of whoever was."""
        self._inner = self.source
        self._inner.attach(self._wake_if_live)

    def let_through(self, reading: int, value: int) -> None:  # noqa: ARG002 - of the protocol
        """Do what a wake-up of the source does; what it reads is in the script."""
        if reading == Reading.WOKEN:
            self._wake()

    def set_wake(self, at_ns: int | None) -> None:
        """Ask to be woken once, at an instant of the source."""
        if self._script is None:
            self._inner.set_wake(at_ns)

    def attach(self, on_wake: Callable[[], None]) -> None:
        """Say what to call on a wake-up."""
        self._on_wake = on_wake
        self._inner.attach(self._wake_if_live)

    def close(self) -> None:
        """Call nobody any more; the source itself is left to its owner."""
        self._on_wake = None
        self._inner.set_wake(None)

    def _wake(self) -> None:
        self.timers.begin()
        self._is_woken = True
        try:
            if self._on_wake is not None:
                self._on_wake()
        finally:
            self._is_woken = False

    def _wake_if_live(self) -> None:
        if self._script is None:
            self._wake()


class MeteredManualSource(ManualTimeSource):
    """Passes everything on to another manual time source, and notes how far it was advanced.

    It is a :class:`~inspector.sessions.sources.gate.Gate`. While a script is followed, a manual
    source of its own takes the place of the other. It inherits because a transport has an
    agreement of its own with manual sources.

    Attributes:
        source: The manual source itself.
        is_manual: True: it passes through every instant.
        timers: What timers cost.
        on_reading: Called with every instant it was advanced to, counted from the beginning
            of the session.
    """

    def __init__(self, source: ManualTimeSource) -> None:
        """Watch ``source``."""
        super().__init__()
        self.source: TimeSource = source
        self.is_manual = True
        self.timers = TimersMeter()
        self.on_reading: Callable[[Reading, int], None] | None = None
        self._real = self._inner = source
        self._begun_ns = source.now_ns()

    @property
    def relative_ns(self) -> int:
        """The present instant, counted from the beginning of the session."""
        return self._inner.now_ns() - self._begun_ns

    @property
    def ahead_ns(self) -> int:
        """Nothing: whatever it is advanced to is run at once."""
        return 0

    @property
    def source_of_work(self) -> TimeSource:
        """This one, which tells a transport of the jump."""
        return self

    def successor(self) -> MeteredManualSource:
        """Return one for a second life, to follow a script with."""
        other = MeteredManualSource(self._real)
        other._begun_ns = self._begun_ns
        return other

    def follow(self, script: Script) -> None:
        """Have a source of its own, which begins where that of the script did."""
        self._inner = ManualTimeSource(self._begun_ns + script.journal.beginning.source_ns)

    def end_following(self) -> None:
        """Have the real source again."""
        self.go_live()

    def go_live(self) -> None:
        """Be advanced by the real source from now on, instead of whoever was."""
        self._inner = self._real
        self._attach()

    def let_through(self, reading: int, value: int) -> None:
        """Advance up to an instant that is counted from the beginning of the session."""
        if reading == Reading.ADVANCED:
            self._inner.advance_ns(max(0, value - self.relative_ns))

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
