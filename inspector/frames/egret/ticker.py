"""Egret's ticker, timer, timeouts and intervals, counted by calls or by elapsed time.

The original counts calls: its timer fires after ``0.06 * delay`` updates, which is
right on a display of 60 Hz or less and too fast above (a second lasts 250 ms at
240 Hz). What makes a timer fire is a :class:`Counting`; counting elapsed time is ours and
the default. The repairs that were published are in :mod:`inspector.frames.egret.repairs`.

Times are milliseconds, as in the original, because its decisions depend on them; the
unit is in every name. Nothing here reads a clock by itself: the ticker is given one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final, TypeAlias

from inspector.clocks.mistakes import check_order, missing_attribute
from inspector.clocks.timer import CheckedCallback, checked_callable, refuse_unfinished
from inspector.frames.egret.countdowns import Countdowns
from inspector.frames.reporting import Reporter, milliseconds_of
from inspector.vocabulary import Field, MemberKind

if TYPE_CHECKING:
    from inspector.clocks.clock import Clock
    from inspector.frames.egret.countdowns import Countdown

#: What the original takes a display's rate to be.
_ASSUMED_RATE: Final = 60
#: A count is lowered by this much for each update.
_PER_UPDATE: Final = 1_000

#: Called with the ticker's time in milliseconds; a true answer asks for a render.
Tick: TypeAlias = Callable[[float], object]


@dataclass(frozen=True, slots=True)
class Counting:
    """What makes a timer fire.

    Attributes:
        name: What people call it.
        counts_calls: Whether updates are counted, or only elapsed time.
        call_factor: What the count begins with, as a multiple of the original's.
        delay_factor: What the delay is multiplied with.
        keeps_phase: Whether the next firing is due one delay after this one was due,
            or one delay after it happened.
    """

    name: str
    counts_calls: bool = True
    call_factor: float = 1
    delay_factor: float = 1
    keeps_phase: bool = False


#: The original: whichever comes first, the count of calls or the elapsed time.
BY_CALLS: Final = Counting("calls")
#: Ours: elapsed time alone, without drift.
BY_ELAPSED: Final = Counting("elapsed time", counts_calls=False, keeps_phase=True)


class Ticker:
    """Runs ticks on every update of a display, and frames at a rate of its own.

    The frame rate has the same fault as the original's timers: 60 means every update,
    whatever the display's rate.

    Attributes:
        on_render: Called when the picture is to be drawn.
        on_enter_frame: Called after it, once a frame.
        is_paused: Whether updates do nothing.
        clock: The clock it lives by, ``None`` for none.
        name: What people call it.
        reporter: What is told what happens here.
        number: By which it is reported; 0 without a clock, or when nobody records.
    """

    if not TYPE_CHECKING:
        __getattr__ = missing_attribute
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
        """Begin at 30 frames a second.

        Args:
            now_ms: The time, in milliseconds from any instant on; the clock's if left out.
            clock: The clock it lives by, and is shown under.
            name: What people call it.

        Raises:
            ValueError: There is neither a time nor a clock.
        """
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
        """Show the frame rate and what is registered."""
        state = ", paused" if self.is_paused else ""
        return f"<Ticker at {self._frame_rate:g} frames/s, {len(self._ticks)} ticks{state}>"

    @property
    def frame_rate(self) -> float:
        """Frames a second that are asked for; see :meth:`set_frame_rate`."""
        return self._frame_rate

    def set_frame_rate(self, rate: float) -> bool:
        """Ask for another frame rate; above 60 is kept but counts as 60.

        Returns:
            Whether it was taken: not if it is the same, or not above 0.
        """
        if not rate > 0 or rate == self._frame_rate:
            return False
        self._frame_rate = rate
        self._frame_count = self._frame_start
        return True

    def pause(self) -> bool:
        """Do nothing on updates; time passes for timers all the same.

        Returns:
            Whether that changed anything.
        """
        return self._set_paused(paused=True)

    def resume(self) -> bool:
        """Go on; a timer whose delay has passed meanwhile fires once, at once.

        Returns:
            Whether that changed anything.
        """
        return self._set_paused(paused=False)

    def _set_paused(self, *, paused: bool) -> bool:
        if self.is_paused == paused:
            return False
        self.is_paused = paused
        self.reporter.set_paused(self.number, paused=paused)
        return True

    # ---------------------------------------------------------- registration

    def start_tick(self, tick: Tick) -> None:
        """Call ``tick`` on every update from the next one on; once, however often asked."""
        checked_callable(tick)
        if tick not in self._ticks:
            self._ticks = [*self._ticks, tick]

    def stop_tick(self, tick: Tick) -> None:
        """Call it no more, from the next update on."""
        if tick in self._ticks:
            self._ticks = [other for other in self._ticks if other != tick]

    def call_async(self, function: Callable[[], object]) -> None:
        """Call a function at the beginning of the next update."""
        checked_callable(function)
        self._async.append(function)

    def call_later(self, function: Callable[[], object]) -> None:
        """Call a function before the next render."""
        checked_callable(function)
        self._later.append(function)

    def add_frame_listener(self, listener: Callable[[], object]) -> None:
        """Call ``listener`` in every frame after :attr:`on_enter_frame`, until it is removed."""
        checked_callable(listener)
        self._frame_listeners = [*self._frame_listeners, listener]

    def remove_frame_listener(self, listener: Callable[[], object]) -> None:
        """Call it no more, from the next frame on."""
        self._frame_listeners = [each for each in self._frame_listeners if each != listener]

    def set_timeout(self, listener: Callable[[], object], delay_ms: float) -> int:
        """Call ``listener`` once; returns a number for :meth:`clear_timeout`."""
        check_order("set_timeout(listener, delay_ms)", listener, delay_ms)
        return self._timeouts.add(listener, delay_ms)

    def clear_timeout(self, number: int) -> bool:
        """Forget a timeout; returns whether there was such a one."""
        return self._timeouts.clear(number)

    def set_interval(self, listener: Callable[[], object], delay_ms: float) -> int:
        """Call ``listener`` again and again; returns a number for :meth:`clear_interval`."""
        check_order("set_interval(listener, delay_ms)", listener, delay_ms)
        return self._intervals.add(listener, delay_ms)

    def clear_interval(self, number: int) -> bool:
        """Forget an interval; returns whether there was such a one."""
        return self._intervals.clear(number)

    def timeouts(self) -> list[Countdown]:
        """Return the timeouts that wait, in the order in which they were set."""
        return self._timeouts.entries()

    def intervals(self) -> list[Countdown]:
        """Return the intervals, in the order in which they were set."""
        return self._intervals.entries()

    # --------------------------------------------------------------- updates

    def update(self, *, is_forced: bool = False) -> None:
        """Take one refresh of the display.

        Args:
            is_forced: Run a frame in any case.
        """
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
            self._frame_count -= _PER_UPDATE
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
        """Take a refresh of the display, unless the clock stands still or was removed.

        Fits a director: ``director.on("update", ticker.run_frame)``.
        """
        clock = self.clock
        if clock is None or not (clock.is_effectively_paused or clock.is_removed):
            self.update()

    def call(self, number: int, function: Callable[[], object]) -> None:
        """Call a function for a timer, and report the call if that has a number."""
        if not number:
            refuse_unfinished(function())
            return
        began_ns = perf_counter_ns()
        try:
            refuse_unfinished(function())
        finally:
            self.reporter.call_ended(number, began_ns)

    def report_ms(self, number: int, field: Field, milliseconds: float) -> None:
        """Report an instant or a duration."""
        if number:
            self.reporter.set_seconds(number, field, milliseconds / 1000)

    @property
    def _counted_rate(self) -> float:
        return min(self._frame_rate, _ASSUMED_RATE)

    @property
    def _frame_start(self) -> float:
        return _rounded(60_000 / self._counted_rate)

    def _render(self) -> None:
        waiting, self._later = self._later, []
        for function in waiting:
            refuse_unfinished(function())
        if self.on_render is not None:
            refuse_unfinished(self.on_render())


class TickerTimer:
    """Fires on a ticker's updates, so many times or for ever.

    Attributes:
        on_timer: Called on each firing.
        on_complete: Called after the last one, when the timer has stopped.
        repeat_count: How often it fires; 0 for ever. Not checked when changed later.
        current_count: How often it has fired; kept by :meth:`stop`.
        counting: What makes it fire. Another one holds from the next delay that is set.
        is_running: Whether it was started and not stopped.
        name: What people call it.
        number: By which it is reported while it runs; 0 when nobody records.
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
        """Begin stopped.

        Args:
            ticker: Whose updates it lives on.
            delay_ms: Milliseconds from firing to firing; less than 1 becomes 1.
            repeat_count: How often it fires; fractions are cut off, 0 for ever.
            counting: What makes it fire.
            name: What people call it.
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
        """Show the delay, the count and whether it runs."""
        state = "" if self.is_running else ", stopped"
        of = f" of {self.repeat_count}" if self.repeat_count else ""
        return f"<TickerTimer every {self._delay_ms:g} ms, {self.current_count}{of}{state}>"

    @property
    def delay_ms(self) -> float:
        """Milliseconds from firing to firing; another value begins the count anew."""
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
        """Begin from now, first looked at in the next update; ignored while running."""
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
        """Stop, and forget the count of firings."""
        self.stop()
        self.current_count = 0

    @property
    def _wait_ms(self) -> float:
        return self._delay_ms * self.counting.delay_factor

    def _counted(self) -> float:
        """Return what the count begins with, for the delay as it is set."""
        return _rounded(_ASSUMED_RATE * self._wait_ms * self.counting.call_factor)

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
        """Report the delay; one that is not a number makes it fire on every update."""
        delay_ms = 0.0 if math.isnan(self._wait_ms) else self._delay_ms
        self._ticker.report_ms(self.number, Field.INTERVAL, delay_ms)

    def _report_left(self) -> None:
        limit = self.repeat_count
        left = -1 if limit == 0 else max(0, math.ceil(limit) - self.current_count)
        self._ticker.reporter.set(self.number, Field.CALLS_LEFT, left)

    def _report_due(self) -> None:
        """Report the next firing, if it is elapsed time that decides about it."""
        if not self.counting.counts_calls:
            self._ticker.report_ms(self.number, Field.DUE, self._base_ms + self._wait_ms)

    def _is_due(self, now_ms: float) -> bool:
        """Look whether to fire; at most once an update."""
        counting = self.counting
        wait_ms = self._wait_ms
        passed_ms = now_ms - self._base_ms
        if passed_ms >= wait_ms:
            self._count = self._count_start
            # What is more than one delay late is not made up for.
            whole = passed_ms // wait_ms * wait_ms
            self._base_ms = self._base_ms + whole if counting.keeps_phase else now_ms
            return True
        if not counting.counts_calls:
            return False
        self._count -= _PER_UPDATE
        if self._count > 0:
            return False
        self._count += self._count_start
        self._base_ms = now_ms
        return True


def _at_least_1(delay_ms: float) -> float:
    """Return a delay as the original takes it."""
    # In this order what is not a number stays so, as there.
    return max(delay_ms, 1)


def _rounded(value: float) -> float:
    """Return the nearest whole number, halves up, as the original's language does."""
    return math.floor(value + 0.5) if math.isfinite(value) else value
