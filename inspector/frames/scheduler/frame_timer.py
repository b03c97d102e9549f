"""A timer of a frame scheduler: its due times and its remaining calls."""

from __future__ import annotations

from collections.abc import Hashable
from time import perf_counter_ns
from typing import TYPE_CHECKING

from inspector.clocks.callbacks import refuse_unfinished
from inspector.frames.scheduler.calls import ScheduledCall
from inspector.frames.scheduler.timer_calendar import Entry
from inspector.frames.scheduling import Callback, Overshoot, PendingCall
from inspector.timebase import NS_PER_SECOND, format_duration
from inspector.vocabulary import NEVER, Field, MemberKind

if TYPE_CHECKING:
    from inspector.frames.scheduler.call_list import Slot
    from inspector.frames.scheduler.scheduler import Scheduler
    from inspector.frames.scheduler.targets import TargetRecord


class FrameTimer(ScheduledCall):
    """A timer of a target; made by ``schedule``.

    Attributes:
        key: Identity of its callback.
        interval_ns: Nanoseconds of scheduler time between calls, 0 for every frame.
        delay_ns: Before the first call, 0 for one interval.
        repeat: Calls after the first; ``None`` for no limit.
        overshoot: What becomes of the lateness of a call.
        missed: Calls skipped because of the limit per frame.
    """

    __slots__ = (
        "_calls",
        "_entry",
        "_first_due_ns",
        "_is_delayed",
        "_last_ns",
        "_left",
        "_remaining_ns",
        "_slot",
        "delay_ns",
        "interval_ns",
        "key",
        "missed",
        "overshoot",
        "repeat",
    )

    def __init__(  # noqa: PLR0913, PLR0917 - made in one place only
        self,
        scheduler: Scheduler,
        record: TargetRecord,
        target: object,
        callback: Callback,
        key: Hashable,
        name: str,
        interval_ns: int,
        repeat: int | None,
        delay_ns: int,
        overshoot: Overshoot,
        *,
        paused: bool,
    ) -> None:
        super().__init__(scheduler, record, target, callback, name)
        self.key = key
        self.interval_ns = interval_ns
        self.delay_ns = delay_ns
        self.repeat = repeat
        self.overshoot = overshoot
        self.missed = 0
        self.is_paused_itself = paused
        self._calls = 0
        self._left = None if repeat is None else repeat + 1
        self._is_delayed = delay_ns > 0
        self._remaining_ns = delay_ns if self._is_delayed else interval_ns
        # Time of the last call; while paused, relative to now.
        self._last_ns = 0 if self.is_paused else scheduler.time_ns
        self._entry: Entry | None = None
        self._slot: Slot | None = None
        if record.number:
            self._report_all()
        if self._is_in_every_frame or not self.is_paused:
            self._enter()

    def __repr__(self) -> str:
        every = format_duration(self.interval_ns) if self.interval_ns else "frame"
        left = "" if self._left is None else f", {self._left} left"
        return f"<FrameTimer {self.label!r} every {every}{left}{self._state()}>"

    @property
    def interval(self) -> float:
        """Seconds of scheduler time between calls."""
        return self.interval_ns / NS_PER_SECOND

    @property
    def calls(self) -> int:
        """Number of calls so far."""
        entry = self._entry
        if entry is None or not entry.interval_ns:
            return self._calls
        # Counting in the calendar's fast path would cost every call.
        return self._calls + (entry.due_ns - self._first_due_ns) // entry.interval_ns

    @property
    def calls_left(self) -> int | None:
        """Calls left; ``None`` for no limit."""
        return self._left

    @property
    def remaining_ns(self) -> int | None:
        """Scheduler nanoseconds until it is due; ``None`` if it is called every frame."""
        if self._is_in_every_frame:
            return None
        if self._entry is None:
            return self._remaining_ns
        return self._entry.due_ns - self.scheduler.time_ns

    @property
    def _is_in_every_frame(self) -> bool:
        return not self.interval_ns and not self._is_delayed

    def pending_call(self) -> PendingCall:
        """Return its present state as a value."""
        remaining_ns = self.remaining_ns
        remaining = None if remaining_ns is None else remaining_ns / NS_PER_SECOND
        return PendingCall(
            self.target, self.label, None, self.interval, remaining, self._left, self.is_paused
        )

    def stop_passing(self) -> None:
        """Remove it from the frames; for the scheduler."""
        if self._entry is not None:
            self._leave_calendar()
            self._report_remaining()
        else:
            assert self._slot is not None
            self.scheduler.frame_calls.silence(self._slot)
        self._last_ns -= self.scheduler.time_ns

    def pass_again(self) -> None:
        """Return it to the frames; for the scheduler."""
        self._last_ns += self.scheduler.time_ns
        if self._slot is not None:
            self.scheduler.frame_calls.restore(self._slot)
        else:
            self._enter()

    def forget(self) -> None:
        """Remove it permanently; for the scheduler."""
        self.is_pending = False
        if self.number:
            self._report_gone()
        if self._entry is not None:
            self._leave_calendar()
        if self._slot is not None:
            self.scheduler.frame_calls.remove(self._slot)
            self._slot = None

    def _leave_calendar(self) -> None:
        entry = self._entry
        assert entry is not None
        self._calls = self.calls
        self._remaining_ns = entry.due_ns - self.scheduler.time_ns
        self._entry = None
        self.scheduler.calendar.cancel(entry)

    def _enter(self) -> None:
        """Join the calendar or the calls of every frame."""
        scheduler = self.scheduler
        if self._is_in_every_frame:
            self._report_due(NEVER)
            self._slot = scheduler.frame_calls.add(
                self, self._call_in_frame, is_called=not self.is_paused
            )
            return
        due_ns = scheduler.time_ns + self._remaining_ns
        if self.number:
            self._report_due(due_ns)
        # A timer that is late already was missed before a pause, and takes the slow path.
        is_plain = self._is_plain and self._remaining_ns > 0
        self._first_due_ns = due_ns
        self._entry = Entry(
            self,
            due_ns,
            0 if self._is_delayed else self.interval_ns,
            self._plain_call if is_plain else None,
            self.interval,
        )
        scheduler.calendar.push(self._entry)

    @property
    def _is_plain(self) -> bool:
        """Whether the calendar's fast path applies: no limit, no delay, nothing dropped."""
        return self._left is None and not self._is_delayed and self.overshoot is Overshoot.CARRY

    def _call_in_frame(self, delta: float) -> None:
        self._calls += 1
        number = self.number
        if self._left is not None:
            self._count_down()
        self._call(number, delta)

    def _call(self, number: int, argument: float) -> None:
        """Call back; reported if it had a number before the call was counted."""
        if not number:
            refuse_unfinished(self.callback(argument))
            return
        began_ns = perf_counter_ns()
        try:
            refuse_unfinished(self.callback(argument))
        finally:
            self._record.reporter.call_ended(number, began_ns)

    @property
    def _plain_call(self) -> Callback:
        """The callback for the calendar's fast path."""
        return self._call_reported if self.number else self.callback

    def _call_reported(self, argument: float) -> None:
        """Make a call of the fast path; the entry is already due again."""
        assert self._entry is not None
        self._report_due(self._entry.due_ns)
        self._call(self.number, argument)

    def _count_down(self) -> None:
        """Count a call before it is made, so that the timer is gone inside its last call."""
        assert self._left is not None
        self._left -= 1
        if not self._left:
            self.unschedule()
        else:
            self._record.reporter.set(self.number, Field.CALLS_LEFT, self._left)

    def fire(self, entry: Entry, now_ns: int) -> None:
        """Make a call of the slow path; the calendar has removed the entry."""
        late_ns = now_ns - entry.due_ns
        is_carried = self.overshoot is Overshoot.CARRY
        if is_carried and not self._is_delayed and (skipped := self._skipped(late_ns, 1)):
            self._first_due_ns += skipped * self.interval_ns
            entry.due_ns += skipped * self.interval_ns
            self._report_due(entry.due_ns)
            self.scheduler.calendar.push(entry)
            return
        self._calls = self.calls + 1
        if is_carried:
            argument_ns = self.delay_ns if self._is_delayed else self.interval_ns
        else:
            argument_ns = now_ns - self._last_ns
            self._last_ns = now_ns
            late_ns = 0
        self._is_delayed = False
        self._entry = None
        number = self.number
        if self._left is not None:
            self._count_down()
        if self.is_pending:
            self._enter_again(entry, late_ns, now_ns)
        self._call(number, argument_ns / NS_PER_SECOND)

    def _enter_again(self, entry: Entry, late_ns: int, now_ns: int) -> None:
        """Wait for the next call, counted from a late one."""
        interval_ns = self.interval_ns
        if not interval_ns:
            self._enter()
            return
        due_ns = now_ns - late_ns + interval_ns
        if due_ns <= now_ns:
            due_ns += self._skipped(now_ns - due_ns, 2) * interval_ns
        entry.due_ns = self._first_due_ns = due_ns
        entry.interval_ns = interval_ns
        entry.call = self._plain_call if self._is_plain else None
        self._entry = entry
        if self.number:
            self._report_due(due_ns)
        self.scheduler.calendar.push(entry)

    def _skipped(self, late_ns: int, number: int) -> int:
        """Return how many calls exceed the limit of this frame, and count them as missed.

        The next call is the ``number``-th of this frame, at least.
        """
        limit = self.scheduler.max_calls_per_frame
        if limit is None:
            return 0
        allowed = limit - number + 1
        possible = late_ns // self.interval_ns + 1
        if possible <= allowed or (self._left is not None and self._left <= allowed):
            return 0
        self.missed += possible - allowed
        self._record.reporter.set(self.number, Field.MISSED, self.missed)
        return possible - allowed

    def _report_all(self) -> None:
        """Report a new timer with its present state."""
        self._report_new(MemberKind.FRAME_TIMER)
        report, number = self._record.reporter.set, self.number
        report(number, Field.INTERVAL, self.interval_ns)
        report(number, Field.CALLS_LEFT, -1 if self._left is None else self._left)
        if self.is_paused and not self._is_in_every_frame:
            self._report_remaining()

    def _report_remaining(self) -> None:
        self._record.reporter.set(self.number, Field.REMAINING, self._remaining_ns)

    def _report_due(self, due_ns: int) -> None:
        self._record.reporter.set(self.number, Field.DUE, due_ns)
