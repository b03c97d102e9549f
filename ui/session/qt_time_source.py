"""The QTimer-backed schedulable clock: one timer, armed for what is due first."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from threading import get_ident
from time import perf_counter_ns
from typing import Final, cast

from PySide6.QtCore import QAbstractEventDispatcher, QObject, Qt, QTimer

from inspector.clocks.sources.wake_errors import WakeErrors, WakeErrorSummary
from inspector.timebase import NS_PER_MS, NS_PER_SECOND

#: For a wake-up further away than this, a coarse timer waits first: it lets the processor sleep
#: longer.
_FAR_NS: Final = 5 * NS_PER_SECOND
#: A coarse timer is up to 5 % late, so it is set for earlier by more than that, and a precise one
#: waits for the rest.
_COARSE_PERCENT: Final = 90
_COARSE_MARGIN_NS: Final = NS_PER_SECOND
#: The clock is read at least this often: it may have stood still while the machine slept.
_RECHECK_NS: Final = 60 * NS_PER_SECOND

#: How late a QTimer is as a rule, as assumed at first, and the most that is taken for the rule.
#: It is armed for that much earlier.
_LATE_NS: Final = 150_000
_MOST_LATE_NS: Final = 400_000
#: When the timer comes too early by at most this, turns of the event loop pass the time; with
#: fine precision it may be a whole millisecond more.
_FINISH_NS: Final = 150_000
_FINE_FINISH_NS: Final = NS_PER_MS + _MOST_LATE_NS

#: The measured errors are tidied up after every so many timeouts of the timer.
_SETTLED_AFTER: Final = 1_024

#: Mean distance of wake-ups below which fine precision is not worth its price: 300 a second.
_CROWDED_NS: Final = NS_PER_SECOND // 300
_IDLE_GAP_NS: Final = 100 * NS_PER_MS


class Precision(Enum):
    """How hard to try to be on time."""

    # Wake at the next whole millisecond of the timer: late by about 0.6 ms, for next to no
    # processor time
    ECONOMICAL = "economical"
    # Wake a little before and go round the event loop until it is time: late by 1–2 µs, for 0.04 %
    # of a processor per wake-up and second. Above 300 wake-ups a second it does as economical does.
    FINE = "fine"


class QtTimeSource:
    """Time of the performance counter, woken through the Qt event loop.

    One single-shot QTimer is armed for the instant that is wanted; with none wanted it is
    stopped, and nothing runs at all. It is armed again only for an earlier instant: what
    moves later is noticed when the timer comes. Ticks are never counted as time, so a
    blocked event loop costs one late wake-up and nothing else.

    Everything but :meth:`now_ns` is for the thread that made it. What a wake-up raises
    goes where Qt sends what slots raise, ``sys.excepthook``; the source goes on.

    It is no QObject itself: attributes of those cost a fifth of a wake-up (measured).
    """

    __slots__ = (
        "__weakref__",
        "_armed_ns",
        "_asked_ns",
        "_clock",
        "_errors",
        "_expected_ns",
        "_finish_ns",
        "_is_closed",
        "_is_coarse",
        "_is_fine",
        "_late_ns",
        "_mean_gap_ns",
        "_on_poll",
        "_on_wait",
        "_on_wake",
        "_owner",
        "_timer",
        "_wanted_ns",
        "_woken_at_ns",
        "is_waking",
        "on_entry",
        "on_exit",
        "wakes",
    )

    def __init__(
        self,
        parent: QObject | None = None,
        precision: Precision = Precision.ECONOMICAL,
        *,
        clock: Callable[[], int] = perf_counter_ns,
        timer: QTimer | None = None,
    ) -> None:
        """Begin with nothing wanted.

        The parent owns the QTimer, not the source. The clock returns nanoseconds that never
        run backwards; tests that play the event loop bring their own timer.
        """
        self.wakes = 0  # How often the QTimer came, also too early
        self.on_entry: Callable[[], None] | None = None  # Called before each wake-up
        self.on_exit: Callable[[], None] | None = None  # Called after each that was armed for next
        # A flag: comparing with the enumeration member is several times slower in Python 3.11.
        self._is_fine = precision is Precision.FINE
        self._clock = clock
        self._owner = get_ident()
        self._on_wake: Callable[[], None] | None = None
        self._wanted_ns: int | None = None
        self._asked_ns = 0
        # The instant for which the timer was armed, None while it is not.
        self._armed_ns: int | None = None
        # When a precise timer would come if it were exact; 0 while its lateness is not measured.
        self._expected_ns = 0
        self._late_ns = _LATE_NS
        self._is_coarse = False
        self._finish_ns = _FINISH_NS
        # Whether a wake-up has been called and has not returned; for any thread
        self.is_waking = False
        self._is_closed = False
        self._woken_at_ns = clock() - _IDLE_GAP_NS
        self._mean_gap_ns = _IDLE_GAP_NS
        self._errors = WakeErrors()
        self._on_wait: Callable[[], None] | None = None
        self._on_poll: Callable[[], None] | None = None
        self._timer = QTimer(parent) if timer is None else timer
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self.wake_if_due)

    @property
    def precision(self) -> Precision:
        """How hard to try to be on time; a change begins :attr:`wake_errors` again."""
        return Precision.FINE if self._is_fine else Precision.ECONOMICAL

    @precision.setter
    def precision(self, precision: Precision) -> None:
        self._check_thread()
        if precision is self.precision:
            return
        self._is_fine = precision is Precision.FINE
        self.restart_measurement()
        if self._armed_ns is not None:
            self._arm_if_wanted()

    @property
    def wake_errors(self) -> WakeErrorSummary | None:
        return self._errors.summary()

    def restart_measurement(self) -> None:
        """Forget how late the wake-ups were, including the one under way."""
        # A new object: a wake-up under way adds its error to the one that was there when it began.
        self._errors = WakeErrors()

    def now_ns(self) -> int:
        """Return the reading of the performance counter; from any thread."""
        return self._clock()

    def until_wake_ns(self) -> int | None:
        """Return how soon a wake-up is due, below 0 if it is late; ``None`` if none is wanted."""
        return None if self._wanted_ns is None else self._wanted_ns - self._clock()

    def set_wake(self, at_ns: int | None) -> None:
        """Ask for one wake-up at ``at_ns``; raises RuntimeError on any but the owner's thread."""
        if get_ident() != self._owner:
            self._check_thread()
        self._wanted_ns = at_ns
        if at_ns is None:
            self._disarm()
            return
        if self.is_waking or self._is_closed:
            # Armed when the wake-up is over, for the last instant that was asked for.
            return
        self._asked_ns = now_ns = self._clock()
        armed_ns = self._armed_ns
        if armed_ns is None or at_ns < armed_ns:
            self._arm(at_ns, now_ns)

    def report_waits(
        self, on_wait: Callable[[], None] | None, on_poll: Callable[[], None] | None = None
    ) -> None:
        """Call something before each wait of the event loop, or nothing more.

        ``on_poll`` is called before each time round the event loop until a wake-up is due.
        """
        self._check_thread()
        # There is no dispatcher before there is an application.
        dispatcher = cast("QAbstractEventDispatcher | None", QAbstractEventDispatcher.instance())
        if dispatcher is None:
            return
        if self._on_wait is not None:
            dispatcher.aboutToBlock.disconnect(self._on_wait)
        if on_wait is not None:
            dispatcher.aboutToBlock.connect(on_wait)
        self._on_wait, self._on_poll = on_wait, on_poll

    def attach(self, on_wake: Callable[[], None]) -> None:
        """Set what to call on a wake-up, on the owner's thread and never early."""
        self._check_thread()
        self._on_wake = on_wake

    def close(self) -> None:
        """Stop permanently; nothing is called afterwards."""
        self._check_thread()
        if self._is_closed:
            return
        self._is_closed = True
        self._on_wake = self._wanted_ns = None
        self.report_waits(None)
        self._disarm()
        # Deleted here and not by the garbage collector, which may run on any thread.
        self._timer.deleteLater()

    def wake_if_due(self) -> None:
        """Call the wake-up if it is time, and arm for what is wanted next.

        What the QTimer is connected to.
        """
        self.wakes = wakes = self.wakes + 1
        if not wakes % _SETTLED_AFTER:
            self._errors.settle()
        wanted_ns = self._wanted_ns
        if wanted_ns is None or self.is_waking:
            # A wake-up may run an event loop of its own; it arms the timer when it is over.
            self._armed_ns = None
            return
        now_ns = self._clock()
        if self._expected_ns:
            # How late the QTimer is as a rule: a running mean, each new value weighing an eighth.
            late_ns = min(now_ns - self._expected_ns, _MOST_LATE_NS)
            self._late_ns += (late_ns - self._late_ns) >> 3
            self._expected_ns = 0
        remaining_ns = wanted_ns - now_ns
        if remaining_ns > 0:
            if remaining_ns <= self._finish_ns:
                self._armed_ns = wanted_ns
                if self._on_poll is not None:
                    self._on_poll()
                self._timer.start(0)
            else:
                self._arm(wanted_ns, now_ns)
            return
        self._armed_ns = self._wanted_ns = None
        asked_ns, add_error = self._asked_ns, self._errors.add
        self.is_waking = True
        if self.on_entry is not None:
            self.on_entry()
        try:
            if self._on_wake is not None:
                self._on_wake()
        finally:
            self.is_waking = False
            # After the wake-up, so that the scene does not wait for it.
            add_error(now_ns - max(asked_ns, wanted_ns))
            self._go_on(now_ns)

    def _go_on(self, now_ns: int) -> None:
        if self._is_fine:
            self._note_gap(now_ns)
        self._arm_if_wanted()
        if self.on_exit is not None:
            self.on_exit()

    def _note_gap(self, now_ns: int) -> None:
        """Learn how close wake-ups are: a running mean, each new gap weighing an eighth."""
        gap_ns = min(now_ns - self._woken_at_ns, _IDLE_GAP_NS)
        self._mean_gap_ns += (gap_ns - self._mean_gap_ns) >> 3
        self._woken_at_ns = now_ns

    def _arm_if_wanted(self) -> None:
        if self._wanted_ns is not None and not self._is_closed:
            self._asked_ns = now_ns = self._clock()
            self._arm(self._wanted_ns, now_ns)

    def _arm(self, wanted_ns: int, now_ns: int) -> None:
        self._armed_ns = wanted_ns
        self._expected_ns = 0
        remaining_ns = wanted_ns - now_ns
        if remaining_ns > _FAR_NS:
            if not self._is_coarse:
                self._set_timer_type(is_coarse=True)
            sleep_ns = (remaining_ns - _COARSE_MARGIN_NS) * _COARSE_PERCENT // 100
            self._timer.start(min(sleep_ns, _RECHECK_NS) // NS_PER_MS)
            return
        if self._is_coarse:
            self._set_timer_type(is_coarse=False)
        whole_ms = 0
        if remaining_ns > 0:
            armed_for_ns = remaining_ns - self._late_ns
            if self._is_fine and self._mean_gap_ns > _CROWDED_NS:
                self._finish_ns = _FINE_FINISH_NS
                whole_ms = max(0, armed_for_ns // NS_PER_MS)
            else:
                self._finish_ns = _FINISH_NS
                # At least 1: with deadlines in the thousands a second, the event loop would
                # never sleep.
                whole_ms = max(1, -(-armed_for_ns // NS_PER_MS))
            if whole_ms:
                self._expected_ns = now_ns + whole_ms * NS_PER_MS
        self._timer.start(whole_ms)

    def _set_timer_type(self, *, is_coarse: bool) -> None:
        self._is_coarse = is_coarse
        coarse, precise = Qt.TimerType.CoarseTimer, Qt.TimerType.PreciseTimer
        self._timer.setTimerType(coarse if is_coarse else precise)

    def _disarm(self) -> None:
        if self._armed_ns is not None:
            self._armed_ns = None
            self._timer.stop()

    def _check_thread(self) -> None:
        if get_ident() != self._owner:
            raise RuntimeError(
                "a time source belongs to the thread that made it; from another thread use a "
                "queued signal"
            )
