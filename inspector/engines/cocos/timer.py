"""A timer of an original's scheduler, and its arithmetic."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING

from inspector.clocks.callbacks import label_of, refuse_unfinished
from inspector.engines.cocos.dialects import CancelBy
from inspector.frames.scheduling import Callback, Overshoot, PendingCall

if TYPE_CHECKING:
    from inspector.engines.cocos.scheduler import DialectScheduler

#: The timer has not yet been reached by a frame; the originals use this value.
_NOT_ARMED = -1.0

#: After this many calls in one frame a timer is checked for an endless loop.
_MANY_CALLS = 10_000

_SINGLE = Struct("f")


def single(value: float) -> float:
    rounded: float = _SINGLE.unpack(_SINGLE.pack(value))[0]
    return rounded


def unrounded(value: float) -> float:
    """Return the value itself: Python's floats are JavaScript's numbers."""
    return value


class TimerElement:
    """A target that has timers."""

    def __init__(self, target: object, *, paused: bool, passed_paused: bool | None) -> None:
        self.target = target
        self.timers: list[DialectTimer] = []  # In the order in which they were scheduled
        self.timer_index = 0  # Cursor of the frame that iterates over them
        self.paused = paused  # Whether time stands still for the timers
        # The flag that the next ``schedule`` is compared with; ``None`` where JavaScript leaves it
        # undefined
        self.passed_paused = passed_paused
        self.priority = 0
        self.previous: object = None
        self.following: object = None


class DialectTimer:
    """A waiting callback."""

    def __init__(
        self, scheduler: DialectScheduler, element: TimerElement, callback: Callback, key: Hashable
    ) -> None:
        self.element = element
        self.callback = callback
        reports = scheduler.reports
        self._call = (
            partial(_called, callback) if reports is None else partial(reports.call_timer, self)
        )
        self.key = key
        self.interval = 0.0  # Seconds, in the precision of the dialect
        self.is_aborted = False  # Removed; its loop must stop
        self._scheduler = scheduler
        self._dialect = scheduler.dialect
        # Kept here, as they are read for every timer in every frame.
        self._catches_up = scheduler.dialect.overshoot is Overshoot.CARRY
        self._is_single = scheduler.dialect.float32
        self._number = single if self._is_single else unrounded
        self._elapsed = _NOT_ARMED
        self._delay = 0.0
        self._is_delayed = False
        self._repeat: int | None = None
        self._executed = 0

    def set_up(self, interval: float, repeat: int | None, delay: float) -> None:
        self._elapsed = _NOT_ARMED
        self.interval = self._number(interval)
        self._delay = self._number(delay)
        self._is_delayed = delay > 0
        self._repeat = repeat
        self._executed = 0

    @property
    def is_exhausted(self) -> bool:
        """Whether it has made or begun its last call."""
        return self._repeat is not None and self._executed > self._repeat

    @property
    def calls_left(self) -> int | None:
        """Calls left; ``None`` for no limit."""
        return None if self._repeat is None else max(0, self._repeat + 1 - self._executed)

    @property
    def remaining(self) -> float:
        """Seconds until it is due; before it is armed, counted from the frame that will arm it."""
        wait = self._delay if self._is_delayed else self.interval
        return wait - max(0.0, self._elapsed)

    def pending_call(self) -> PendingCall:
        return PendingCall(
            self.element.target,
            label_of(self.callback),
            None,
            self.interval,
            self.remaining,
            self.calls_left,
            self.element.paused,
        )

    def unschedule(self) -> bool:
        is_there = self in self.element.timers
        self._scheduler.remove_timer(self)
        return is_there

    def update(self, scaled: float) -> None:
        """Advance the timer by a frame; the first one only arms it."""
        if self._elapsed == _NOT_ARMED:
            self._elapsed = 0.0
            self._executed = 0
            return
        elapsed = self._elapsed + scaled
        self._elapsed = single(elapsed) if self._is_single else elapsed
        if self._catches_up:
            self._catch_up()
        else:
            self._call_once_if_due()

    def _call_once_if_due(self) -> None:
        if self._is_delayed:
            if self._elapsed >= self._delay:
                self._call(self._elapsed)
                self._elapsed = self._number(self._elapsed - self._delay)
                self._executed += 1
                self._is_delayed = False
        elif self._elapsed >= self.interval:
            self._call(self._elapsed)
            self._elapsed = 0.0
            self._executed += 1
        if self._repeat is not None and self._executed > self._repeat:
            self._cancel()

    def _catch_up(self) -> None:
        if self._is_delayed:
            if self._elapsed < self._delay:
                return
            self._executed += 1
            self._call(self._delay)
            self._elapsed = self._number(self._elapsed - self._delay)
            self._is_delayed = False
            if self.is_exhausted:
                self._cancel()
                return
        # Taken before the loop: a new interval set in a call has no effect on it.
        step = self.interval if self.interval > 0 else self._elapsed
        calls = 0
        while self._elapsed >= step and not self.is_aborted:
            self._executed += 1
            self._call(step)
            before = self._elapsed
            self._elapsed = self._number(self._elapsed - step)
            if self.is_exhausted:
                self._cancel()
                return
            if self._elapsed <= 0:
                return
            calls += 1
            if calls >= _MANY_CALLS and self._elapsed >= before:
                self._elapsed = 0.0
                self._scheduler.report_endless(self)
                return

    def _cancel(self) -> None:
        if self._dialect.cancel_by is CancelBy.IDENTITY:
            self._scheduler.remove_timer(self)
        else:
            self._scheduler.unschedule(self.callback, self.element.target)


def _called(callback: Callback, argument: float) -> None:
    refuse_unfinished(callback(argument))
