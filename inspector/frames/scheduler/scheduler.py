"""Our frame scheduler: update callbacks and timers of targets, sound by default.

Offers what the schedulers of Cocos Creator and cocos2d-x offer, without their faults: nothing
is skipped or called twice because a list changed under the loop, nothing is called after it
was unscheduled, rescheduling works inside any call, nothing drifts, and an exception affects
no other call. For the originals see :mod:`inspector.engines.cocos.scheduler`.

The order of a frame: update callbacks by priority; timers by due time; timers of every frame;
posted functions. What is scheduled inside a frame is called in a later one; pausing, resuming
and unscheduling take effect at once.
"""

from __future__ import annotations

import logging
import sys
from collections import deque
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from inspector.clocks.callbacks import checked_callable, label_of, refuse_unfinished
from inspector.clocks.clock import Clock
from inspector.clocks.failures import CALLBACK_ERRORS, raise_interrupt
from inspector.clocks.rate import D, rate_numerator
from inspector.clocks.refusals import check_order, checked_clock
from inspector.frames.reporting import Reporter
from inspector.frames.scheduler.call_list import CallList
from inspector.frames.scheduler.calls import ScheduledCall, UpdateCallback
from inspector.frames.scheduler.frame_timer import FrameTimer
from inspector.frames.scheduler.targets import Pause, Targets
from inspector.frames.scheduler.timer_calendar import TimerCalendar
from inspector.frames.scheduling import (
    Callback,
    Overshoot,
    PendingCall,
    RunByClock,
    callback_key,
    default_target,
)
from inspector.timebase import NS_PER_SECOND, checked_ns, seconds_to_ns
from inspector.vocabulary import Field, MemberKind

if TYPE_CHECKING:
    from concurrent.futures import Future

logger = logging.getLogger(__name__)

CallbackT = TypeVar("CallbackT", bound="Callback")
ResultT = TypeVar("ResultT")


class Scheduler(RunByClock):
    """Calls update callbacks and timers, frame by frame; see the module for the order.

    Used from one thread, except for :meth:`post`. Targets are any objects, compared by identity.
    Callbacks are called with seconds of the scheduler's time.

    Attributes:
        clock: The clock whose time :meth:`run_frame` uses, and to which failures are reported.
        name: Display name.
        overshoot: The default policy of timers for lateness.
        max_calls_per_frame: The limit of calls per frame for a timer that catches up; the
            rest is skipped, in whole intervals, and counted. ``None`` for no limit.
        time_ns: Scheduler time; inside a frame that of its end.
        frame_index: Number of frames begun.
        is_in_frame: Whether a frame is running.
        update_calls: For calls; internal.
        frame_calls: Likewise.
        calendar: Likewise.
        reporter: Reports what happens here.
        number: Its number in events; 0 while nothing records.
    """

    def __init__(
        self,
        clock: Clock | None = None,
        *,
        overshoot: Overshoot | str = Overshoot.CARRY,
        max_calls_per_frame: int | None = 100,
        name: str = "scheduler",
    ) -> None:
        """Start with nothing scheduled, at time 0.

        Raises:
            ValueError: The policy is unknown, or the limit below 1.
            TypeError: ``clock`` is not a clock.
        """
        if max_calls_per_frame is not None and not _is_count(max_calls_per_frame, 1):
            raise ValueError(f"a timer needs at least 1 call per frame: {max_calls_per_frame!r}")
        if clock is not None:
            checked_clock("Scheduler(clock)", clock)
        super().__init__(clock, name)
        self.overshoot = Overshoot(overshoot)
        self.max_calls_per_frame = max_calls_per_frame
        self.time_ns = 0
        self.frame_index = 0
        self.is_in_frame = False
        self.update_calls = CallList()
        self.frame_calls = CallList()
        self.calendar = TimerCalendar()
        self.reporter = Reporter(clock)
        self.number = self.reporter.add(self, MemberKind.SCHEDULER, name, 0)
        self.reporter.set_text(self.number, Field.RULES, "sound")
        self.reporter.set(self.number, Field.RATE, D)
        self.reporter.set(self.number, Field.TIME, 0)
        self._targets = Targets(self.reporter, self.number)
        # Future, function and arguments of each; any thread may add them.
        self._posted: deque[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]] = deque()
        self._scale_n = D
        # The remainder below a nanosecond, in units of 1/D, so that no time scale drifts.
        self._rest = 0
        # No carrying timer has a shorter interval.
        self._shortest_ns = sys.maxsize

    def __repr__(self) -> str:
        updates = len(self.update_calls)
        timers = sum(len(record.timers) for record in self._targets.all())
        return f"<Scheduler {self.name!r} at {self.time:.6f} s, {updates} updates, {timers} timers>"

    # ----------------------------------------------------------------- frame

    @property
    def time(self) -> float:
        """Scheduler time in seconds; inside a frame that of its end."""
        return self.time_ns / NS_PER_SECOND

    @property
    def time_scale(self) -> Fraction:
        """Scheduler seconds per second given to :meth:`update`; applied from the next frame on.

        Accepts an int, float, ``Fraction`` or text such as ``"1/3"``; 0 freezes timers.
        """
        return Fraction(self._scale_n, D)

    @time_scale.setter
    def time_scale(self, scale: float | Fraction | str) -> None:
        self.reporter.check_thread()
        self._scale_n = rate_numerator(scale)
        self.reporter.set(self.number, Field.RATE, self._scale_n)

    def update(self, delta: float | Fraction) -> None:
        """Run one frame.

        Args:
            delta: Seconds since the previous frame, 0 or more.

        Raises:
            ValueError: The delta is negative or not a number.
            RuntimeError: Called from inside a frame, or from another thread.
        """
        self.reporter.check_thread()
        self.update_ns(seconds_to_ns(delta))

    def update_ns(self, delta_ns: int) -> None:
        """Do what :meth:`update` does in nanoseconds, on a thread that has been checked."""
        if self.is_in_frame:
            raise RuntimeError("a frame is running; a callback cannot run another")
        if checked_ns(delta_ns) < 0:
            raise ValueError(f"time does not run backwards: {delta_ns} ns")
        if self._scale_n != D or self._rest:
            delta_ns, self._rest = divmod(delta_ns * self._scale_n + self._rest, D)
        self.update_calls.prepare()
        self.frame_calls.prepare()
        self.frame_index += 1
        self.time_ns = now_ns = self.time_ns + delta_ns
        if self.number:
            self._report_frame(now_ns)
        delta = delta_ns / NS_PER_SECOND
        limit = self.max_calls_per_frame
        is_long = limit is not None and delta_ns >= limit * self._shortest_ns
        self.is_in_frame = True
        try:
            self.update_calls.run(delta, self._report)
            self.calendar.run_due(now_ns, self._report, is_long=is_long)
            self.frame_calls.run(delta, self._report)
            if self._posted:
                self._run_posted()
        finally:
            self.is_in_frame = False

    def _report_frame(self, now_ns: int) -> None:
        self._targets.report_gone()
        assert self.clock is not None, "it has a number"
        if not self.clock.is_removed:
            self.reporter.set(self.number, Field.TIME, now_ns)

    def _report(self, failed: object, error: BaseException) -> None:
        assert isinstance(failed, ScheduledCall)
        self._report_label(failed.label, error)

    def _report_label(self, label: str, error: BaseException) -> None:
        if self.clock is not None:
            self.clock.tree.report_failure(self.clock, 0, label, error)
        else:
            raise_interrupt(error)
            logger.error("callback %s failed", label, exc_info=error)

    # ---------------------------------------------------------------- timers

    def schedule(  # noqa: PLR0913 - every one of them is a user's choice
        self,
        callback: Callback,
        interval: float | Fraction = 0.0,
        *,
        target: object = None,
        repeat: int | None = None,
        delay: float | Fraction = 0.0,
        paused: bool = False,
        overshoot: Overshoot | str | None = None,
        name: str = "",
    ) -> FrameTimer:
        """Call ``callback(seconds)`` every ``interval``.

        A timer is identified by its target and its callback: scheduling the same again replaces it
        and restarts all counts, even inside its own last call.

        Args:
            callback: Called with the time that the call stands for: the interval (or the
                delay); with ``drop`` the time since its last call; in every frame the delta.
            interval: Seconds of scheduler time; 0 for every frame.
            target: The object it belongs to; by default the object of a method, otherwise
                ``callback`` itself.
            repeat: Calls after the first, so there are ``repeat`` + 1; ``None`` for no limit.
            delay: Seconds before the first call; 0 for one interval.
            paused: Start paused.
            overshoot: ``"carry"`` or ``"drop"``; by default the scheduler's policy.
            name: Name of the timer.

        Returns:
            The timer, to pause, resume and unschedule it.

        Raises:
            ValueError: A time or count is negative or not a number, or the policy is unknown.
            TypeError: ``callback`` cannot be called.
        """
        check_order("schedule(callback, interval)", callback, interval)
        checked_callable(callback)
        interval_ns, delay_ns = _duration_ns(interval), _duration_ns(delay)
        policy = self.overshoot if overshoot is None else Overshoot(overshoot)
        if repeat is not None and not _is_count(repeat, 0):
            message = f"repeat is the number of calls after the first, 0 or more: {repeat!r}"
            raise ValueError(message)
        owner = default_target(callback) if target is None else target
        record = self._targets.of(owner)
        key = callback_key(callback)
        former = record.timers.get(key)
        if former is not None:
            former.forget()
        timer = FrameTimer(
            self,
            record,
            owner,
            callback,
            key,
            name,
            interval_ns,
            repeat,
            delay_ns,
            policy,
            paused=paused,
        )
        record.timers[key] = timer
        if policy is Overshoot.CARRY and 0 < interval_ns < self._shortest_ns:
            self._shortest_ns = interval_ns
        return timer

    def schedule_once(
        self,
        callback: Callback,
        delay: float | Fraction = 0.0,
        *,
        target: object = None,
        paused: bool = False,
        name: str = "",
    ) -> FrameTimer:
        """Call ``callback(seconds)`` once, after ``delay`` or in the next frame."""
        check_order("schedule_once(callback, delay)", callback, delay)
        return self.schedule(
            callback, target=target, repeat=0, delay=delay, paused=paused, name=name
        )

    def every(
        self,
        interval: float | Fraction,
        **options: Any,  # noqa: ANN401 - those of schedule()
    ) -> Callable[[CallbackT], CallbackT]:
        """Schedule the function below: ``@scheduler.every(0.5)``; options as for schedule()."""
        return partial(self._decorate, self.schedule, interval, options)

    def once(
        self,
        delay: float | Fraction,
        **options: Any,  # noqa: ANN401 - those of schedule_once()
    ) -> Callable[[CallbackT], CallbackT]:
        """Schedule the function below for one call: ``@scheduler.once(2)``."""
        return partial(self._decorate, self.schedule_once, delay, options)

    @staticmethod
    def _decorate(
        schedule: Callable[..., FrameTimer],
        seconds: float | Fraction,
        options: dict[str, Any],
        callback: CallbackT,
    ) -> CallbackT:
        schedule(callback, seconds, **options)
        return callback

    def unschedule(self, callback: Callback, target: object = None) -> bool:
        """Unschedule a timer at once; returns whether it existed."""
        timer = self.timer(callback, target)
        return timer is not None and timer.unschedule()

    def is_scheduled(self, callback: Callback, target: object = None) -> bool:
        """Return whether there is such a timer; not inside its last call."""
        return self.timer(callback, target) is not None

    def timer(self, callback: Callback, target: object = None) -> FrameTimer | None:
        """Return the timer of a target and a callback, ``None`` without one."""
        record = self._targets.known(default_target(callback) if target is None else target)
        return None if record is None else record.timers.get(callback_key(callback))

    # --------------------------------------------------------------- updates

    def schedule_update(
        self,
        target: object,
        priority: int = 0,
        *,
        paused: bool | None = None,
        callback: Callback | None = None,
        name: str = "",
    ) -> UpdateCallback:
        """Call ``target.update(delta)`` in every frame, from the next one on.

        A target has one update callback. Scheduling it again changes what is given here; a new
        priority takes effect in the next frame, behind equal ones.

        Args:
            target: The object it belongs to.
            priority: Smaller comes first; equal ones in the order of scheduling.
            paused: Start paused; by default unchanged.
            callback: Called instead of ``target.update``.
            name: Display name.

        Raises:
            TypeError: There is nothing to call, or the priority is not an ``int``.
        """
        called = getattr(target, "update", None) if callback is None else callback
        if called is None:
            raise TypeError(f"no update method and no callback: {target!r}")
        checked_callable(called)
        if not isinstance(priority, int):
            message = f"a priority is an int: {priority!r}"  # type: ignore[unreachable]
            raise TypeError(message)
        record = self._targets.of(target)
        update = record.update
        if update is None:
            record.update = update = UpdateCallback(
                self, record, target, called, name, priority, paused=bool(paused)
            )
            return update
        update.call_instead(called, name or update.name)
        update.priority = priority
        if paused is not None:
            update.pause() if paused else update.resume()
        return update

    def every_frame(self, priority: int = 0, *, name: str = "") -> Callable[[CallbackT], CallbackT]:
        """Schedule the function below for every frame: ``@scheduler.every_frame(priority=3)``.

        The function is its own target: ``scheduler.unschedule_update(function)``.
        """

        def decorate(callback: CallbackT) -> CallbackT:
            self.schedule_update(callback, priority, callback=callback, name=name)
            return callback

        return decorate

    def unschedule_update(self, target: object) -> bool:
        """Unschedule a target's update callback at once; returns whether it existed."""
        record = self._targets.known(target)
        return record is not None and record.update is not None and record.update.unschedule()

    # ------------------------------------------------------------- everything

    def unschedule_target(self, target: object) -> None:
        """Unschedule everything of a target at once; its pause is remembered."""
        record = self._targets.known(target)
        if record is not None:
            record.remove_all()

    def unschedule_all(self, min_priority: int | None = None) -> None:
        """Unschedule everything, or everything of the targets from a priority up.

        A target's priority is that of its update callback, 0 without one.
        """
        self.reporter.check_thread()
        for record in self._targets.all(min_priority):
            record.remove_all()

    def pause_target(self, target: object) -> Pause:
        """Pause everything of a target, including what is scheduled for it later.

        Returns:
            The pause; resuming it undoes this call only.
        """
        return Pause([self._targets.of(target)])

    def pause_all(self, min_priority: int | None = None) -> Pause:
        """Pause all present targets, or those from a priority up.

        Returns:
            The pause: what was paused before stays paused when it is resumed.
        """
        self.reporter.check_thread()
        return Pause(self._targets.all(min_priority))

    def resume(self, paused: Pause) -> None:
        """Undo a single pause."""
        paused.resume()

    def resume_target(self, target: object) -> None:
        """Resume a target with all its calls, however they were paused."""
        record = self._targets.known(target)
        if record is not None:
            record.resume()

    def is_target_paused(self, target: object) -> bool:
        """Return whether a target, or everything it has, is paused."""
        record = self._targets.known(target)
        return record is not None and record.is_paused

    # ----------------------------------------------------------------- posted

    def post(self, function: Callable[..., ResultT], *args: Any) -> Future[ResultT]:  # noqa: ANN401
        """Call ``function(*args)`` at the end of a frame; from any thread.

        Called in order, regardless of pauses. Functions posted meanwhile wait for the next
        frame.

        Returns:
            A future: another thread may wait for the result or cancel the call.

        Raises:
            TypeError: ``function`` cannot be called.
        """
        checked_callable(function)
        from concurrent.futures import Future  # noqa: PLC0415 - few programs post anything

        future: Future[ResultT] = Future()
        self._posted.append((future, function, args))
        return future

    def _run_posted(self) -> None:
        for _ in range(len(self._posted)):
            if not self._posted:
                return
            future, function, args = self._posted.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = function(*args)
                refuse_unfinished(result)
            except CALLBACK_ERRORS as error:
                # Set before an interrupt is raised again: a thread may be waiting for the result.
                future.set_exception(error)
                self._report_label(label_of(function), error)
            else:
                future.set_result(result)

    def clear_posted(self) -> None:
        """Cancel the posted functions that have not been called."""
        while self._posted:
            self._posted.popleft()[0].cancel()

    @property
    def posted_count(self) -> int:
        """Number of posted functions that wait."""
        return len(self._posted)

    # ---------------------------------------------------------- introspection

    def targets(self) -> list[object]:
        """Return the targets that have calls or are paused."""
        found = [record.target for record in self._targets.all()]
        return [target for target in found if target is not None]

    def updates(self) -> list[UpdateCallback]:
        """Return the update callbacks in call order."""
        owners = [slot.owner for slot in self.update_calls.in_order()]
        return [owner for owner in owners if isinstance(owner, UpdateCallback)]

    def timers(self, target: object = None) -> list[FrameTimer]:
        """Return the timers of one target or of all, the next one to be called first.

        Timers of every frame come after those with a due time, paused ones last.
        """
        owners: list[object] = [entry.owner for entry in self.calendar.in_order()]
        owners += [slot.owner for slot in self.frame_calls.in_order() if slot.is_called]
        found = [owner for owner in owners if isinstance(owner, FrameTimer)]
        for record in self._targets.all():
            found += [timer for timer in record.timers.values() if timer.is_paused]
        return [timer for timer in found if target is None or timer.target is target]

    def pending(self) -> list[PendingCall]:
        """Return all scheduled calls as values: updates, then timers."""
        calls: list[ScheduledCall] = [*self.updates(), *self.timers()]
        return [call.pending_call() for call in calls]


def _duration_ns(seconds: float | Fraction) -> int:
    ns = seconds_to_ns(seconds)
    if ns < 0 or (ns == 0 and seconds != 0):
        raise ValueError(f"not a usable duration: {seconds!r} s")
    return ns


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and value >= least
