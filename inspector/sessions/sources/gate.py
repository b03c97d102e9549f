"""The gate between a time source and one life of a scene."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from inspector.clocks.sources.manual_source import ManualTimeSource
from inspector.clocks.sources.time_source import TimeSource
from inspector.sessions.sources.metered_source import MeteredManualSource, MeteredSource

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.sessions.replay.journal import Script
    from inspector.sessions.sources.timers_meter import TimersMeter
    from inspector.vocabulary import Reading


class Gate(TimeSource, Protocol):
    """A time source that notes what it lets through, so that it can be let through again.

    A life takes its time from the gate and never from the source behind it. While a script
    is followed the source is left alone: the script says what time it is. Belongs to the
    thread of the source.

    Attributes:
        source: The time source behind it.
        is_manual: Whether time is advanced by hand, passing every instant.
        timers: What timers cost in the lives behind it.
        on_reading: Called with everything that comes through, counted from the beginning of
            the session; ``None`` for nobody.
    """

    source: TimeSource
    is_manual: bool
    timers: TimersMeter
    on_reading: Callable[[Reading, int], None] | None

    @property
    def relative_ns(self) -> int:
        """What came through last, counted from the beginning of the session."""

    @property
    def ahead_ns(self) -> int:
        """How far the source is ahead of what came through last."""

    @property
    def source_of_work(self) -> TimeSource:
        """Whose time passes when a callback works."""

    def successor(self) -> Gate:
        """Return one for a second life beside the present one.

        It leaves the source alone until :meth:`go_live`.
        """

    def follow(self, script: Script) -> None:
        """Leave the time source alone from now on, and have the script say what time it is."""

    def end_following(self) -> None:
        """Be asked no more for what the script says."""

    def go_live(self) -> None:
        """Have the source wake the life behind this gate, and no other."""

    def let_through(self, reading: int, value: int) -> None:
        """Let happen what has come through before: a wake-up, an advance.

        Args:
            reading: A :class:`~inspector.vocabulary.Reading`; others do nothing here.
            value: The relative instant that was reached.
        """


def gate_before(source: TimeSource) -> Gate:
    """Return the gate of a new session; a manual source has an agreement of its own."""
    if isinstance(source, ManualTimeSource):
        return MeteredManualSource(source)
    return MeteredSource(source)
