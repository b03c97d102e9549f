"""Measures where the time between two frames goes, and how much of it timers take."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from threading import get_ident
from time import perf_counter_ns, thread_time_ns
from typing import Final, Protocol, TypeAlias, runtime_checkable

from inspector.events.frame_history import FrameHistory
from inspector.vocabulary import Share, two_durations

#: The numbers of a ``FRAME_SHARES`` event.
SharesEvent: TypeAlias = tuple[int, int, int]

#: On Windows the processor time of a thread advances in steps of 15.6 ms, too coarse for frames.
_PROCESSOR_CLOCK: Final = None if os.name == "nt" else thread_time_ns
# Plain numbers, as members of an enum would be too slow several times per frame.
_CALLBACKS, _INSPECTOR, _COLLECTION, _LATE, _IDLE = map(int, Share)
#: A turn of an event loop in which nothing happens takes less than this.
_IDLE_TURN_NS: Final = 100_000
#: Shares that are too long for the interval are shortened in this order.
_SHORTENED: Final = (_IDLE, _LATE, _INSPECTOR, _COLLECTION, _CALLBACKS)


@runtime_checkable
class ReportsWaits(Protocol):
    """A time source in real time that knows when its thread is about to wait."""

    def report_waits(
        self, on_wait: Callable[[], None] | None, on_poll: Callable[[], None] | None = None
    ) -> None:
        """Call ``on_wait`` before each wait of the source's thread; ``None`` ends this.

        ``on_poll`` is called for each turn of the event loop if the thread polls instead of
        sleeping, because a wake-up is due soon.
        """


class KnownShares:
    """The shares that were measured in a former run, for a run that repeats its frames."""

    def __init__(self, frames: FrameHistory) -> None:
        self.calls_ns = 0
        self._frames = frames

    def measured(self, frame: int, interval_ns: int) -> SharesEvent | None:
        frames = self._frames
        if not frames.first <= frame < frames.end:
            return None
        known = frames.frame(frame)
        is_measured = any(known.shares) and known.interval_ns == interval_ns
        return shares_event(known.shares) if is_measured else None


class IntervalMeter:
    """Adds up the shares of the time between two frames of a session in real time.

    The thread waits, works, or is in a wake-up. The part of a wait without processor time is idle,
    or late after the instant at which a wake-up was wanted; processor time is taken to come last,
    for what ended the wait. A turn of the event loop that only finds no wake-up due is a wait, too.
    Of work, the processor time is the inspector's, and what it waited for is unknown. A wake-up
    consists of callbacks, which the run adds to :attr:`calls_ns`, and of the inspector. Garbage
    collection is a share of its own. For the thread of the session.
    """

    def __init__(
        self, clock: Callable[[], int], processor_clock: Callable[[], int] | None = _PROCESSOR_CLOCK
    ) -> None:
        """Measure from now on."""
        self.calls_ns = 0  # Time in callbacks so far
        self.is_calling: Callable[[], bool] = bool  # Returns whether a callback is running
        self._clock, self._processor_clock = clock, processor_clock
        self._owner = get_ident()
        self._shares_ns = [0, 0, 0, 0, 0]
        self._is_counting, self._is_waiting, self._is_in_wake = True, False, False
        self._is_polling = False
        self._wanted_ns: int | None = None
        self._collecting_ns: int | None = None
        self._collected_ns = self._collected_in_calls_ns = 0
        self._begin(clock())
        gc.callbacks.append(self.note_collection)

    def close(self) -> None:
        if self.note_collection in gc.callbacks:
            gc.callbacks.remove(self.note_collection)

    # --------------------------------------------------------- what happens in the thread

    def want(self, at_ns: int | None) -> None:
        """Note when a wake-up is wanted; while none is, time is not counted."""
        self._wanted_ns = at_ns
        if self._is_counting is (at_ns is not None):
            return
        if not self._is_in_wake:
            self._end(self._clock())
        self._is_counting = at_ns is not None
        self._is_waiting = self._is_polling = False

    def until_wake_ns(self) -> int | None:
        """Return the time until a wake-up is wanted, ``None`` while none is; from any thread."""
        wanted_ns = self._wanted_ns
        return None if wanted_ns is None else wanted_ns - self._clock()

    def wait(self) -> None:
        if not self._is_in_wake:
            self._end(self._clock())
            self._is_waiting, self._is_polling = True, False

    def poll(self) -> None:
        """Note that the thread polls its event loop, because a wake-up is due soon."""
        self.wait()
        self._is_polling = self._is_waiting

    def wake(self, at_ns: int) -> None:
        """Note the beginning of a wake-up that has read the time."""
        self._end(at_ns)
        self._is_in_wake = self._is_counting = True
        self._calls_before_ns = self.calls_ns

    def end_wake(self) -> None:
        if not self._is_in_wake:
            return
        now_ns = self._clock()
        if self._is_counting:
            shares = self._shares_ns
            called_ns = self.calls_ns - self._calls_before_ns
            inspector_ns = now_ns - self._began_ns - called_ns - self._collected_ns
            shares[_CALLBACKS] += max(called_ns - self._collected_in_calls_ns, 0)
            shares[_INSPECTOR] += max(inspector_ns + self._collected_in_calls_ns, 0)
            shares[_COLLECTION] += self._collected_ns
        self._is_in_wake = self._is_waiting = self._is_polling = False
        self._begin(now_ns)

    def note_collection(self, phase: str, _info: object) -> None:
        """Note a garbage collection in this thread; called by Python."""
        if get_ident() != self._owner:
            return
        now_ns = self._clock()
        if phase == "start":
            self._collecting_ns = now_ns
        elif self._collecting_ns is not None:
            took_ns, self._collecting_ns = now_ns - self._collecting_ns, None
            self._collected_ns += took_ns
            if self.is_calling():
                self._collected_in_calls_ns += took_ns

    def measured(self, _frame: int, interval_ns: int) -> SharesEvent | None:
        shares, self._shares_ns = self._shares_ns, [0, 0, 0, 0, 0]
        if not self._is_in_wake:
            # In a step, no real time has passed between frames.
            return None
        return shares_event(fitted(shares, interval_ns))

    def _begin(self, now_ns: int) -> None:
        self._began_ns = now_ns
        self._used_ns = 0 if self._processor_clock is None else self._processor_clock()
        self._collected_ns = self._collected_in_calls_ns = 0

    def _end(self, now_ns: int) -> None:
        """Add the time since the last change, a wait or work, to the shares."""
        began_ns, before_ns, collected_ns = self._began_ns, self._used_ns, self._collected_ns
        self._begin(now_ns)
        if not self._is_counting:
            return
        passed_ns = max(now_ns - began_ns, 0)
        if self._processor_clock is None:
            used_ns = 0 if self._is_waiting else passed_ns
        else:
            used_ns = min(max(self._used_ns - before_ns, 0), passed_ns)
        collected_ns = min(collected_ns, used_ns)
        if self._is_polling and passed_ns <= _IDLE_TURN_NS:
            # So short a turn did no work, but was a busy wait.
            used_ns = collected_ns
        shares = self._shares_ns
        shares[_COLLECTION] += collected_ns
        shares[_INSPECTOR] += used_ns - collected_ns
        if self._is_waiting:
            slept_ns, late_ns = passed_ns - used_ns, 0
            if self._wanted_ns is not None:
                late_ns = min(max(began_ns + slept_ns - self._wanted_ns, 0), slept_ns)
            shares[_LATE] += late_ns
            shares[_IDLE] += slept_ns - late_ns


class TimersMeter:
    """Adds up the time of timers between two frames.

    The work of the host between wake-ups is not counted, only periods in which an event was
    recorded, from the beginning of a wake-up or the end of a frame. Readings of the time source
    are no such events.

    Attributes:
        busy_ns: The sum; readers reset it to 0.
    """

    def __init__(self) -> None:
        self._since_ns = self._events = self.busy_ns = 0

    def begin(self, events: int | None = None) -> None:
        """Measure from now on; the number of events is unchanged unless it is given."""
        self._since_ns = perf_counter_ns()
        if events is not None:
            self._events = events

    def charge(self, events: int, worked_ns: int) -> int:
        """Add the time since :meth:`begin`, if there are new events, and the virtual time of work.

        Returns the time added.
        """
        charged_ns = worked_ns
        if events != self._events and self._since_ns:
            now_ns = perf_counter_ns()
            charged_ns += now_ns - self._since_ns
            self._since_ns = now_ns
            self._events = events
        self.busy_ns += charged_ns
        return charged_ns


def fitted(shares_ns: list[int], interval_ns: int) -> list[int]:
    """Return shares that are shortened until they fit into an interval."""
    fitting = list(shares_ns)
    for share in _SHORTENED:
        excess_ns = sum(fitting) - interval_ns
        if excess_ns <= 0:
            break
        fitting[share] -= min(excess_ns, fitting[share])
    return fitting


def shares_event(shares_ns: list[int] | tuple[int, ...]) -> SharesEvent:
    """Return the numbers of an event of shares, where parts of microseconds count as idle."""
    callbacks_ns, inspector_ns, collection_ns, late_ns, idle_ns = shares_ns
    rest_ns = sum(each % 1000 for each in shares_ns[:_IDLE])
    first, second = two_durations(callbacks_ns, inspector_ns), two_durations(collection_ns, late_ns)
    return first, second, idle_ns + rest_ns
