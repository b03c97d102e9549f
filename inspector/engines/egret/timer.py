"""Egret's timer, counted by updates as in the original or by elapsed time.

The original counts updates: its timer fires after ``0.06 * delay`` of them, which is right
on a display of 60 Hz or less and too fast above (a second lasts 250 ms at 240 Hz). What
makes a timer fire is a :class:`Counting`; counting elapsed time is ours and the default.
The published repairs are in :mod:`inspector.engines.egret.repairs`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from inspector.clocks.callbacks import CheckedCallback
from inspector.vocabulary import Field, MemberKind

if TYPE_CHECKING:
    from inspector.engines.egret.ticker import Ticker

#: The original's assumed rate of a display.
ASSUMED_RATE: Final = 60
#: Each update lowers a count by this much.
PER_UPDATE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Counting:
    """What makes a timer fire."""

    name: str
    counts_calls: bool = True  # Whether updates are counted, or only elapsed time
    call_factor: float = 1  # Start of the count, as a multiple of the original's
    delay_factor: float = 1  # Factor of the delay
    # Whether the next firing is due one delay after this one was due, or one delay after it
    # happened
    keeps_phase: bool = False


#: The original: the count of calls or the elapsed time, whichever comes first.
BY_CALLS: Final = Counting("calls")
#: Ours: elapsed time alone, without drift.
BY_ELAPSED: Final = Counting("elapsed time", counts_calls=False, keeps_phase=True)


class TickerTimer:
    """Fires on a ticker's updates, a number of times or forever.

    Attributes:
        on_timer: Called on each firing.
        on_complete: Called after the last firing, when the timer has stopped.
        repeat_count: Number of firings; 0 for no limit. Not checked when changed later.
        current_count: Firings so far; kept by :meth:`stop`.
        counting: What makes it fire. A change takes effect with the next new delay.
        is_running: Whether it is started.
        name: Display name.
        number: Its number in events while it runs, otherwise 0.
    """

    if TYPE_CHECKING:
        on_timer: Callable[[], object] | None
        on_complete: Callable[[], object] | None
    else:
        on_timer, on_complete = CheckedCallback(), CheckedCallback()

    def __init__(
        self,
        ticker: Ticker,
        delay_ms: float,
        repeat_count: float = 0,
        *,
        counting: Counting = BY_ELAPSED,
        name: str = "",
    ) -> None:
        """Start stopped.

        Less than 1 ms from firing to firing becomes 1; fractions of the count are cut, and 0 is no
        limit.
        """
        self.name = name or "timer"
        self.number = 0
        self.on_timer = self.on_complete = None
        self.repeat_count: float = 0 if math.isnan(repeat_count) else int(repeat_count)
        self.current_count = 0
        self.is_running = False
        self.counting = counting
        self._ticker = ticker
        self._delay_ms = _at_least_1(delay_ms)
        self._count = self._count_start = self._counted()
        self._base_ms = 0.0

    def __repr__(self) -> str:
        state = "" if self.is_running else ", stopped"
        of = f" of {self.repeat_count}" if self.repeat_count else ""
        return f"<TickerTimer every {self._delay_ms:g} ms, {self.current_count}{of}{state}>"

    @property
    def delay_ms(self) -> float:
        """Milliseconds from firing to firing; a new value restarts the count."""
        return self._delay_ms

    @delay_ms.setter
    def delay_ms(self, delay_ms: float) -> None:
        delay_ms = _at_least_1(delay_ms)
        if delay_ms != self._delay_ms:
            self._delay_ms = delay_ms
            self._count = self._count_start = self._counted()
            self._report_interval()
            self._report_due()

    def start(self) -> None:
        """Start from now, first checked in the next update; ignored while running."""
        if self.is_running:
            return
        self.is_running = True
        self._count = self._count_start
        self._base_ms = self._ticker.now_ms()
        self._ticker.start_tick(self._update)
        if self._ticker.number:
            self._report_new()

    def stop(self) -> None:
        """Stop, keeping the count of firings."""
        self.unschedule()

    def unschedule(self) -> bool:
        """Do what :meth:`stop` does; returns whether it was running."""
        if not self.is_running:
            return False
        self.is_running = False
        self._ticker.reporter.remove(self.number)
        self.number = 0
        self._ticker.stop_tick(self._update)
        return True

    def reset(self) -> None:
        """Stop and reset the count of firings."""
        self.stop()
        self.current_count = 0

    @property
    def _wait_ms(self) -> float:
        return self._delay_ms * self.counting.delay_factor

    def _counted(self) -> float:
        """Return the start of the count for the present delay."""
        return rounded(ASSUMED_RATE * self._wait_ms * self.counting.call_factor)

    def _update(self, now_ms: float) -> None:
        if not self._is_due(now_ms):
            return
        self._report_due()
        self.current_count += 1
        number = self.number
        if self.repeat_count:
            self._report_left()
        limit = self.repeat_count
        is_complete = limit > 0 and self.current_count >= limit
        if (limit == 0 or self.current_count <= limit) and self.on_timer is not None:
            self._ticker.call(number, self.on_timer)
        if is_complete:
            self.stop()
            if self.on_complete is not None:
                self._ticker.call(number, self.on_complete)

    def _report_new(self) -> None:
        ticker = self._ticker
        self.number = ticker.reporter.add(self, MemberKind.TICKER_TIMER, self.name, ticker.number)
        ticker.reporter.set_text(self.number, Field.RULES, self.counting.name)
        self._report_interval()
        self._report_left()
        self._report_due()

    def _report_interval(self) -> None:
        """Report the delay; 0 for NaN, which makes the timer fire on every update."""
        delay_ms = 0.0 if math.isnan(self._wait_ms) else self._delay_ms
        self._ticker.report_ms(self.number, Field.INTERVAL, delay_ms)

    def _report_left(self) -> None:
        limit = self.repeat_count
        left = -1 if limit == 0 else max(0, math.ceil(limit) - self.current_count)
        self._ticker.reporter.set(self.number, Field.CALLS_LEFT, left)

    def _report_due(self) -> None:
        """Report the next firing if elapsed time decides it."""
        if not self.counting.counts_calls:
            self._ticker.report_ms(self.number, Field.DUE, self._base_ms + self._wait_ms)

    def _is_due(self, now_ms: float) -> bool:
        """Return whether to fire; at most once per update."""
        counting = self.counting
        wait_ms = self._wait_ms
        passed_ms = now_ms - self._base_ms
        if passed_ms >= wait_ms:
            self._count = self._count_start
            # Whole delays that were missed are skipped.
            whole = passed_ms // wait_ms * wait_ms
            self._base_ms = self._base_ms + whole if counting.keeps_phase else now_ms
            return True
        if not counting.counts_calls:
            return False
        self._count -= PER_UPDATE
        if self._count > 0:
            return False
        self._count += self._count_start
        self._base_ms = now_ms
        return True


def _at_least_1(delay_ms: float) -> float:
    """Return a delay as the original reads it."""
    # With the arguments in this order, NaN stays NaN, as in the original.
    return max(delay_ms, 1)


def rounded(value: float) -> float:
    """Round to the nearest whole number, halves up, as in the original's language."""
    return math.floor(value + 0.5) if math.isfinite(value) else value
