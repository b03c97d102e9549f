"""A browser's ``setTimeout`` and ``setInterval``, by the HTML standard and as in Chromium.

The third repair for Egret's timer. The rules are those of the standard's timer
initialization steps, and what was measured in Chromium; no original was recorded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum
from typing import Final

from inspector.clocks.callbacks import checked_callable, label_of, refuse_unfinished
from inspector.clocks.clock import Clock
from inspector.clocks.timer import Timer
from inspector.timebase import NS_PER_MS

#: Timers nested deeper wait for at least :data:`_CLAMPED_MS`.
_DEEPEST_UNCLAMPED: Final = 5
_CLAMPED_MS: Final = 4
_INT32_VALUES: Final = 2**32


class BrowserRules(Enum):
    """When an interval is due again.

    * ``STANDARD``: a whole period after its callback has returned. Lateness and the duration
      of a call shift all later calls.
    * ``CHROMIUM``: at the next multiple of the period, set before the callback runs. Missed
      calls shrink to one late call, and the phase is kept.
    """

    STANDARD = "HTML standard"
    CHROMIUM = "Chromium"


class _Entry:
    """A pending timeout or an interval."""

    __slots__ = ("callback", "delay_ms", "due_ns", "level", "name", "repeats", "timer", "wait_ms")

    def __init__(
        self, callback: Callable[[], object], delay_ms: int, name: str, *, repeats: bool
    ) -> None:
        self.callback = callback
        self.delay_ms = delay_ms
        self.name = name
        self.repeats = repeats
        self.level = self.wait_ms = self.due_ns = 0
        self.timer: Timer | None = None


class BrowserTimers:
    """The timeouts and intervals of a page whose time is that of a clock.

    Delays are 32-bit whole milliseconds: fractions are cut, longer delays wrap around, and
    negative ones count as 0. A timer set within timers nested more than five deep waits for at
    least 4 ms; each round of an interval counts as set by the one before.
    """

    def __init__(self, clock: Clock, rules: BrowserRules = BrowserRules.STANDARD) -> None:
        self.clock = clock  # The clock on which they wait
        self.rules = rules  # When intervals are due again
        self._last_id = 0
        # Nesting depth of the current callback; 0 outside callbacks.
        self._level = 0
        self._entries: dict[int, _Entry] = {}

    def __repr__(self) -> str:
        return f"<BrowserTimers by the rules of {self.rules.value}, {len(self)} pending>"

    def __len__(self) -> int:
        return len(self._entries)

    def set_timeout(
        self, callback: Callable[[], object], delay_ms: float = 0, *, name: str = ""
    ) -> int:
        """Call ``callback()`` once; returns a number for :meth:`clear`."""
        return self._add(callback, delay_ms, name, repeats=False)

    def set_interval(
        self, callback: Callable[[], object], delay_ms: float = 0, *, name: str = ""
    ) -> int:
        """Call ``callback()`` again and again; returns a number for :meth:`clear`."""
        return self._add(callback, delay_ms, name, repeats=True)

    def clear(self, number: int) -> bool:
        """Clear a timeout or an interval; returns whether it was pending."""
        entry = self._entries.pop(number, None)
        if entry is None:
            return False
        if entry.timer is not None:
            self.clock.clear(entry.timer)
        return True

    def _add(
        self, callback: Callable[[], object], delay_ms: float, name: str, *, repeats: bool
    ) -> int:
        checked_callable(callback)
        self._last_id += 1
        number = self._last_id
        entry = _Entry(callback, _as_int32(delay_ms), name or label_of(callback), repeats=repeats)
        self._entries[number] = entry
        self._set(number, entry)
        return number

    def _set(self, number: int, entry: _Entry) -> None:
        """Schedule an entry for its whole delay, one level deeper than the current callback."""
        self._deepen(entry)
        self._wait(number, entry, self.clock.time_ns + entry.wait_ms * NS_PER_MS)

    def _deepen(self, entry: _Entry) -> None:
        is_clamped = self._level > _DEEPEST_UNCLAMPED
        entry.wait_ms = max(entry.delay_ms, _CLAMPED_MS if is_clamped else 0)
        entry.level = self._level + 1

    def _wait(self, number: int, entry: _Entry, due_ns: int) -> None:
        clock = self.clock
        entry.due_ns = due_ns
        entry.timer = clock.set_timeout_ns(
            due_ns - clock.time_ns, self._call, number, entry, name=entry.name
        )

    def _call(self, number: int, entry: _Entry) -> None:
        outer_level, self._level = self._level, entry.level
        entry.timer = None
        keeps_phase = self.rules is BrowserRules.CHROMIUM
        if not entry.repeats:
            del self._entries[number]
        elif keeps_phase:
            self._set_in_phase(number, entry)
        try:
            refuse_unfinished(entry.callback())
        finally:
            if entry.repeats and not keeps_phase and number in self._entries:
                self._set(number, entry)
            self._level = outer_level

    def _set_in_phase(self, number: int, entry: _Entry) -> None:
        """Schedule an interval for the next multiple of its period."""
        was_due_ns, now_ns = entry.due_ns, self.clock.time_ns
        self._deepen(entry)
        period_ns = entry.wait_ms * NS_PER_MS
        into_ns = (now_ns - was_due_ns) % period_ns if period_ns else 0
        self._wait(number, entry, now_ns + period_ns - into_ns)


def _as_int32(delay_ms: float) -> int:
    """Convert a delay to the standard's type ``long``, a 32-bit integer."""
    if not math.isfinite(delay_ms):
        return 0
    wrapped = math.trunc(delay_ms) % _INT32_VALUES
    return wrapped - _INT32_VALUES if wrapped >= _INT32_VALUES // 2 else wrapped
