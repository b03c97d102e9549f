"""A ticker's timeouts and intervals: milliseconds that are left, lowered on every update."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.clocks.timer import checked_callable, label_of
from inspector.vocabulary import Field, MemberKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.frames.egret.ticker import Ticker


class Countdown:
    """A timeout or an interval.

    Attributes:
        listener: What is called.
        left_ms: Milliseconds that are left.
        delay_ms: The whole delay.
        number: By which it is reported; 0 when nobody records.
    """

    __slots__ = ("__weakref__", "_forget", "delay_ms", "left_ms", "listener", "number")

    def __init__(
        self, listener: Callable[[], object], delay_ms: float, forget: Callable[[], bool]
    ) -> None:
        """Begin with the whole delay.

        Args:
            listener: What is called.
            delay_ms: Milliseconds.
            forget: Takes it out, and returns whether it was there.
        """
        self.listener = listener
        self.left_ms = self.delay_ms = delay_ms
        self.number = 0
        self._forget = forget

    def unschedule(self) -> bool:
        """Forget it; returns whether that changed anything."""
        return self._forget()


class Countdowns:
    """The timeouts or the intervals of a ticker."""

    def __init__(self, ticker: Ticker, *, repeats: bool) -> None:
        """Begin with none.

        Args:
            ticker: On whose updates they live.
            repeats: Whether they are intervals.
        """
        self._ticker = ticker
        self._repeats = repeats
        self._last_id = 0
        self._last_ms = 0.0
        self._entries: dict[int, Countdown] = {}

    def add(self, listener: Callable[[], object], delay_ms: float) -> int:
        """Add one; returns its number for :meth:`clear`."""
        checked_callable(listener)
        if not self._entries:
            # Shared by all that are added until none is left: a later one is charged
            # the time since the last update, and may come early by that much.
            self._last_ms = self._ticker.now_ms()
            self._ticker.start_tick(self._update)
        self._last_id += 1
        number = self._last_id
        self._entries[number] = entry = Countdown(listener, delay_ms, lambda: self.clear(number))
        if self._ticker.number:
            self._report_new(entry)
        return number

    def entries(self) -> list[Countdown]:
        """Return those that there are, in the order in which they were added."""
        return list(self._entries.values())

    def clear(self, number: int) -> bool:
        """Forget one; returns whether there was such a one."""
        entry = self._entries.pop(number, None)
        if entry is None:
            return False
        self._ticker.reporter.remove(entry.number)
        if not self._entries:
            self._ticker.stop_tick(self._update)
        return True

    def _update(self, now_ms: float) -> None:
        passed_ms = now_ms - self._last_ms
        self._last_ms = now_ms
        for number in list(self._entries):
            entry = self._entries.get(number)
            if entry is None:
                continue
            left_ms = entry.left_ms - passed_ms
            # Not "> 0": a delay that is not a number never ends, as in the original.
            if not left_ms <= 0:
                entry.left_ms = left_ms
                continue
            if self._repeats:
                entry.left_ms = entry.delay_ms
                self._report_due(entry)
            else:
                self.clear(number)
            self._ticker.call(entry.number, entry.listener)

    def _report_new(self, entry: Countdown) -> None:
        ticker = self._ticker
        label = label_of(entry.listener)
        entry.number = ticker.reporter.add(entry, MemberKind.TICKER_TIMER, label, ticker.number)
        kind = "interval" if self._repeats else "timeout"
        ticker.reporter.set_text(entry.number, Field.RULES, kind)
        ticker.report_ms(entry.number, Field.INTERVAL, entry.delay_ms)
        ticker.reporter.set(entry.number, Field.CALLS_LEFT, -1 if self._repeats else 1)
        self._report_due(entry)

    def _report_due(self, entry: Countdown) -> None:
        self._ticker.report_ms(entry.number, Field.DUE, self._last_ms + entry.left_ms)
