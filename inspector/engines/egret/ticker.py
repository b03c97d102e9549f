"""Egret's ticker with its timeouts and intervals.

Times are milliseconds, as in the original, because its decisions depend on them; the unit is
in every name. The ticker reads the clock that it is given.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
from typing import TYPE_CHECKING, TypeAlias

from inspector.clocks.callbacks import (
    CheckedCallback,
    checked_callable,
    label_of,
    refuse_unfinished,
)
from inspector.clocks.clock import Clock
from inspector.clocks.refusals import check_order
from inspector.engines.egret.timer import (
    ASSUMED_RATE,
    BY_CALLS,
    BY_ELAPSED,
    PER_UPDATE,
    Counting,
    TickerTimer,
    rounded,
)
from inspector.frames.reporting import Reporter, milliseconds_of
from inspector.vocabulary import Field, MemberKind

#: Includes timers, which scenes written for earlier versions import from here.
__all__ = ["BY_CALLS", "BY_ELAPSED", "Countdown", "Counting", "Ticker", "TickerTimer"]

#: Called with the ticker's time in milliseconds; a true answer requests a render.
Tick: TypeAlias = Callable[[float], object]


class Countdown:
    __slots__ = ("__weakref__", "_forget", "delay_ms", "left_ms", "listener", "number")

    def __init__(
        self, listener: Callable[[], object], delay_ms: float, forget: Callable[[], bool]
    ) -> None:
        self.listener = listener
        self.left_ms = self.delay_ms = delay_ms
        self.number = 0
        self._forget = forget

    def unschedule(self) -> bool:
        return self._forget()


class Countdowns:
    def __init__(self, ticker: Ticker, *, repeats: bool) -> None:
        self._ticker = ticker
        self._repeats = repeats
        self._last_id = 0
        self._last_ms = 0.0
        self._entries: dict[int, Countdown] = {}

    def add(self, listener: Callable[[], object], delay_ms: float) -> int:
        """Add an entry; returns its number for :meth:`clear`."""
        checked_callable(listener)
        if not self._entries:
            # Entries share the time of the last update until none is left. One that is added
            # later is charged the time since then, and may fire early by that much.
            self._last_ms = self._ticker.now_ms()
            self._ticker.start_tick(self._update)
        self._last_id += 1
        number = self._last_id
        self._entries[number] = entry = Countdown(listener, delay_ms, lambda: self.clear(number))
        if self._ticker.number:
            self._report_new(entry)
        return number

    def entries(self) -> list[Countdown]:
        return list(self._entries.values())

    def clear(self, number: int) -> bool:
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
            # Not "> 0": NaN never fires, as in the original.
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


class Ticker:
    """Runs ticks on every update of a display, and frames at its own rate.

    The frame rate has the same fault as the original's timers: 60 means every update, whatever the
    display's rate.

    Attributes:
        on_render: Called to draw.
        on_enter_frame: Called after it, once per frame.
        is_paused: Whether updates do nothing.
        clock: The clock it hangs under, ``None`` for none.
        name: Display name.
        reporter: Reports what happens here.
        number: Its number in events; 0 without a clock or while nothing records.
    """

    if TYPE_CHECKING:
        on_render: Callable[[], object] | None
        on_enter_frame: Callable[[], object] | None
    else:
        on_render, on_enter_frame = CheckedCallback(), CheckedCallback()

    def __init__(
        self,
        now_ms: Callable[[], float] | None = None,
        *,
        clock: Clock | None = None,
        name: str = "",
    ) -> None:
        """Start at 30 frames per second, with a time in milliseconds or that of the clock."""
        self.now_ms = now_ms = milliseconds_of(now_ms, clock)
        self.clock = clock
        self.name = name or "ticker"
        self.reporter = Reporter(clock)
        self.number = self.reporter.add(self, MemberKind.TICKER, self.name)
        self.report_ms(self.number, Field.TIME, now_ms())
        self.on_render = self.on_enter_frame = None
        self.is_paused = False
        self._frame_listeners: list[Callable[[], object]] = []
        self._ticks: list[Tick] = []
        self._async: list[Callable[[], object]] = []
        self._later: list[Callable[[], object]] = []
        self._last_ms = now_ms()
        self._frame_rate = 30.0
        self._frame_count = self._frame_start
        self._timeouts = Countdowns(self, repeats=False)
        self._intervals = Countdowns(self, repeats=True)

    def __repr__(self) -> str:
        state = ", paused" if self.is_paused else ""
        return f"<Ticker at {self._frame_rate:g} frames/s, {len(self._ticks)} ticks{state}>"

    @property
    def frame_rate(self) -> float:
        """Target frames per second; see :meth:`set_frame_rate`."""
        return self._frame_rate

    def set_frame_rate(self, rate: float) -> bool:
        """Set the target frame rate, unless it is the present one or not above 0.

        A value above 60 is kept but counts as 60. Returns whether it was accepted.
        """
        if not rate > 0 or rate == self._frame_rate:
            return False
        self._frame_rate = rate
        self._frame_count = self._frame_start
        return True

    def pause(self) -> bool:
        """Do nothing on updates, while time passes for timers; returns whether that is new."""
        return self._set_paused(paused=True)

    def resume(self) -> bool:
        """Resume; an overdue timer fires once, at once. Returns whether it was paused."""
        return self._set_paused(paused=False)

    def _set_paused(self, *, paused: bool) -> bool:
        if self.is_paused == paused:
            return False
        self.is_paused = paused
        self.reporter.set_paused(self.number, paused=paused)
        return True

    def start_tick(self, tick: Tick) -> None:
        """Call ``tick`` on every update from the next one on; no effect if it is started."""
        checked_callable(tick)
        if tick not in self._ticks:
            self._ticks = [*self._ticks, tick]

    def stop_tick(self, tick: Tick) -> None:
        if tick in self._ticks:
            self._ticks = [other for other in self._ticks if other != tick]

    def call_async(self, function: Callable[[], object]) -> None:
        checked_callable(function)
        self._async.append(function)

    def call_later(self, function: Callable[[], object]) -> None:
        checked_callable(function)
        self._later.append(function)

    def add_frame_listener(self, listener: Callable[[], object]) -> None:
        checked_callable(listener)
        self._frame_listeners = [*self._frame_listeners, listener]

    def remove_frame_listener(self, listener: Callable[[], object]) -> None:
        self._frame_listeners = [each for each in self._frame_listeners if each != listener]

    def set_timeout(self, listener: Callable[[], object], delay_ms: float) -> int:
        """Call ``listener`` once; returns a number for :meth:`clear_timeout`."""
        check_order("set_timeout(listener, delay_ms)", listener, delay_ms)
        return self._timeouts.add(listener, delay_ms)

    def clear_timeout(self, number: int) -> bool:
        return self._timeouts.clear(number)

    def set_interval(self, listener: Callable[[], object], delay_ms: float) -> int:
        """Call ``listener`` repeatedly; returns a number for :meth:`clear_interval`."""
        check_order("set_interval(listener, delay_ms)", listener, delay_ms)
        return self._intervals.add(listener, delay_ms)

    def clear_interval(self, number: int) -> bool:
        return self._intervals.clear(number)

    def timeouts(self) -> list[Countdown]:
        return self._timeouts.entries()

    def intervals(self) -> list[Countdown]:
        return self._intervals.entries()

    def update(self, *, is_forced: bool = False) -> None:
        """Handle a refresh of the display; ``is_forced`` runs a frame in any case."""
        now_ms = self.now_ms()
        self.report_ms(self.number, Field.TIME, now_ms)
        if self.is_paused:
            self._last_ms = now_ms
            return
        # As registered now: what the functions below start runs in the next update.
        ticks = self._ticks
        waiting, self._async = self._async, []
        for function in waiting:
            refuse_unfinished(function())
        wants_render = False
        for tick in ticks:
            answer = tick(now_ms)
            refuse_unfinished(answer)
            wants_render = bool(answer) or wants_render
        delta_ms = now_ms - self._last_ms
        self._last_ms = now_ms
        if is_forced or delta_ms >= 1000 / self._counted_rate:
            self._frame_count = self._frame_start
        else:
            self._frame_count -= PER_UPDATE
            if self._frame_count > 0:
                if wants_render:
                    self._render()
                return
            self._frame_count += self._frame_start
        self._render()
        if self.on_enter_frame is not None:
            refuse_unfinished(self.on_enter_frame())
        for listener in self._frame_listeners:
            refuse_unfinished(listener())

    def run_frame(self, _delta: float = 0.0) -> None:
        """Handle a refresh of the display, unless the clock stands still or was removed.

        Can be a callback of a director: ``director.on("update", ticker.run_frame)``.
        """
        clock = self.clock
        if clock is None or not (clock.is_effectively_paused or clock.is_removed):
            self.update()

    def call(self, number: int, function: Callable[[], object]) -> None:
        """Call a function for a timer, and report the call if the timer has a number."""
        if not number:
            refuse_unfinished(function())
            return
        began_ns = perf_counter_ns()
        try:
            refuse_unfinished(function())
        finally:
            self.reporter.call_ended(number, began_ns)

    def report_ms(self, number: int, field: Field, milliseconds: float) -> None:
        if number:
            self.reporter.set_seconds(number, field, milliseconds / 1000)

    @property
    def _counted_rate(self) -> float:
        return min(self._frame_rate, ASSUMED_RATE)

    @property
    def _frame_start(self) -> float:
        return rounded(60_000 / self._counted_rate)

    def _render(self) -> None:
        waiting, self._later = self._later, []
        for function in waiting:
            refuse_unfinished(function())
        if self.on_render is not None:
            refuse_unfinished(self.on_render())
