"""A clock: a node of the clock tree, with its own rate, pause and timers."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from types import FrameType
from typing import Any, NoReturn

from inspector.clocks.callbacks import checked_callable
from inspector.clocks.node import NOTHING_IS_EARLIER, ClockNode
from inspector.clocks.queue import BUCKET_SHIFT, LAST_BUCKET, TimerQueue, beyond_reach
from inspector.clocks.rate import D, moved, rate_numerator
from inspector.clocks.refusals import (
    checked_clock,
    checked_name,
    checked_seconds_ns,
    refused_seconds,
)
from inspector.clocks.timer import (
    CallSite,
    Interval,
    LabelledTimer,
    MissedTicks,
    Timer,
    UnlistedTimer,
    held_arguments,
)
from inspector.foreign.numbers import shown
from inspector.timebase import NS_PER_SECOND, checked_ns, seconds_to_ns
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    CLOCK_MOVED,
    CLOCK_PAUSED,
    CLOCK_RATE,
    CLOCK_REMOVED,
    CLOCK_RESUMED,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_ORIGIN,
)

#: Delays below this many seconds are within the limit, and need no further check.
_USUAL_S = 1e9
#: Tells this module's frames from those of the user's program.
_OWN_GLOBALS = globals()


@dataclass(frozen=True, slots=True)
class PauseReason:
    """Why a clock stands still: a stopped clock between it and the root.

    Attributes:
        clock: The clock that is paused or has rate 0.
        since_ns: Session time at which it stopped.
        is_rate_zero: The rate is 0; the clock is not paused.
    """

    clock: Clock
    since_ns: int
    is_rate_zero: bool = False


class Clock(ClockNode):
    """Local time as a function of the parent's time, and the timers that wait for it.

    Clocks are made by :meth:`child` (the root by the :class:`ClockTree`) and used only from
    the thread that drives the tree. Pausing, scaling or moving a clock costs the same
    whatever is below it: each clock keeps its timers in its own local time, and its parent
    holds one wake entry for it.

    Attributes:
        id: Number of the clock, unique in its tree; the root is 1.
        name: Display name; need not be unique.
        tree: Its tree.
        parent: The clock above, ``None`` for the root.
        children: The clocks directly below, in the order of their creation.
        is_paused: Whether the clock itself is paused; it may stand still for other reasons.
        is_removed: Whether it was removed from its tree.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        state = ", removed" if self.is_removed else ", paused" if self.is_paused else ""
        at = f"at {self.time:.6f} s" if self.tree.is_owner() else "of another thread"
        return f"<Clock {self.id} {self.name!r} {at}, rate {self.rate}{state}>"

    # ------------------------------------------------------------------ time

    @property
    def rate(self) -> Fraction:
        """Local seconds per parent second; kept while paused.

        Accepts an int, float, ``Fraction`` or text such as ``"1/3"``; see
        :func:`inspector.clocks.rate.rate_numerator`. Local time never jumps when the rate changes.
        """
        return Fraction(self._rate_n, D)

    @rate.setter
    def rate(self, rate: float | Fraction | str) -> None:
        self.set_rate(rate)

    def set_rate(self, rate: float | Fraction | str, *, cause: int = 0) -> None:
        """Change the rate from this instant on.

        Args:
            rate: As for :attr:`rate`; 0 freezes the clock without pausing it.
            cause: Number of the command that requested the change, 0 for the program.

        Raises:
            ValueError: The rate is negative, infinite, not a number or absurd.
        """
        numerator = rate_numerator(rate)
        if numerator == self._rate_n or self.is_removed:
            return
        tree = self.tree
        tree.sync()
        if numerator > D:
            tree.note_fast_clock()
        if numerator == 0 and not self.is_paused:
            self._stopped_since_ns = tree.now_ns
        if tree.record is not None:
            tree.record((tree.now_ns, CLOCK_RATE, self.id, numerator, cause))
        self._rate_n = numerator
        if not self.is_paused:
            self._set_mapping(numerator)
            self.rearm()

    # ----------------------------------------------------------------- pause

    def pause(self, *, cause: int = 0) -> bool:
        """Stop local time here and in everything below; timers keep their remaining time.

        Returns:
            Whether anything changed: pausing twice is pausing once.
        """
        if self.is_paused or self.is_removed:
            return False
        tree = self.tree
        tree.sync()
        if tree.record is not None:
            tree.record((tree.now_ns, CLOCK_PAUSED, self.id, cause, 0))
        self.is_paused = True
        self._stopped_since_ns = tree.now_ns
        self._set_mapping(0)
        self._disarm()
        return True

    def resume(self, *, cause: int = 0) -> bool:
        """Continue local time from where it stopped.

        The timers of the branch count as scheduled now where they tie with others.

        Returns:
            Whether anything changed.
        """
        if not self.is_paused or self.is_removed:
            return False
        tree = self.tree
        tree.sync()
        if tree.record is not None:
            tree.record((tree.now_ns, CLOCK_RESUMED, self.id, cause, 0))
        self.is_paused = False
        self._set_mapping(self._rate_n)
        self._reorder()
        return True

    def pause_reasons(self) -> list[PauseReason]:
        """Return every stopped clock from here to the root, the nearest first."""
        return [
            PauseReason(clock, clock._stopped_since_ns, is_rate_zero=not clock.is_paused)
            for clock in (self, *self.ancestors())
            if clock._n == 0
        ]

    # ------------------------------------------------------------------ tree

    def walk(self) -> Iterator[Clock]:
        """Yield the clocks of the branch, depth first, starting with this one."""
        waiting = [self]
        while waiting:
            clock = waiting.pop()
            yield clock
            waiting.extend(reversed(clock.children))

    def child(
        self, name: str, rate: float | Fraction | str = 1, epoch: float | Fraction | None = None
    ) -> Clock:
        """Add a child clock.

        Args:
            name: Display name.
            rate: As for :attr:`rate`.
            epoch: This clock's time, in seconds, at which the child reads 0; by default now.
                With a future epoch the child starts below 0.

        Raises:
            ValueError: The rate or epoch is invalid, or this clock is beyond 292 years.
            RuntimeError: This clock was removed.
        """
        self._check_alive()
        self.tree.sync()
        numerator = rate_numerator(rate)
        if epoch is None:
            epoch_ns = self._within_reach(self.time_ns)
        else:
            epoch_ns = checked_seconds_ns("child(name, rate, epoch)", "epoch", epoch)
        checked_name("child(name)", name)
        tree = self.tree
        clock = Clock(tree, self, name, tree.next_clock_id())
        if tree.record is not None:
            above_id = self.id if self._above is not None else 0
            tree.record((tree.now_ns, CLOCK_ADDED, clock.id, above_id, tree.intern(name)))
            tree.record((tree.now_ns, CLOCK_ANCHORED, clock.id, epoch_ns, numerator))
        if numerator > D:
            tree.note_fast_clock()
        clock._rate_n = clock._n = numerator
        clock._off = -epoch_ns * numerator
        clock._shift_ns = clock._off // D if numerator == D else None
        if numerator == 0:
            clock._stopped_since_ns = tree.now_ns
            clock._armed_ns = NOTHING_IS_EARLIER
        self.children.append(clock)
        return clock

    def move_to(self, parent: Clock) -> None:
        """Move the branch under another clock; it keeps its local time and timers.

        Raises:
            ValueError: This is the root, or ``parent`` is in another tree or in this branch.
            RuntimeError: Either clock was removed.
        """
        checked_clock("move_to(parent)", parent)
        self._check_alive()
        parent._check_alive()
        old = self._above
        if old is None or old._above is None:
            raise ValueError("the root clock cannot be moved")
        if parent.tree is not self.tree:
            raise ValueError(f"{parent.name!r} belongs to another tree")
        if parent is self or self in parent.ancestors():
            message = f"{self.name!r} cannot be moved under {parent.name!r}, which is below it"
            raise ValueError(message)
        if parent is old:
            return
        tree = self.tree
        tree.sync()
        if tree.record is not None:
            tree.record((tree.now_ns, CLOCK_MOVED, self.id, parent.id, 0))
        self._off = moved(self._off, self._n, old.time_ns, parent.time_ns)
        self._shift_ns = self._off // D if self._n == D else None
        self._disarm()
        old.children.remove(self)
        self._above = parent
        parent.children.append(self)
        self._floor_ns = parent.time_ns
        parent.raise_floors()
        tree.mapping_changed()
        self._reorder()

    def remove(self) -> None:
        """Remove the branch from the tree permanently; its timers are not called.

        Raises:
            ValueError: The root clock cannot be removed.
        """
        if self.is_removed:
            return
        above = self._above
        if above is None or above._above is None:
            raise ValueError("the root clock cannot be removed")
        tree = self.tree
        tree.sync()
        if tree.record is not None:
            tree.record((tree.now_ns, CLOCK_REMOVED, self.id, 0, 0))
        self._disarm()
        above.children.remove(self)
        for clock in self.walk():
            tree.members.clock_removed(clock.id)
            clock.is_removed = True
            clock._armed_ns = NOTHING_IS_EARLIER
            clock.queue.clear()
            clock.queue = TimerQueue()
            # A removed clock refuses new timers here, which saves a check whenever one is set.
            clock._buckets = clock.queue.buckets = defaultdict(clock._refuse_timers)

    # ---------------------------------------------------------------- timers

    def set_timeout(
        self,
        delay: float | Fraction,
        callback: Callable[..., object],
        *args: Any,  # noqa: ANN401
        name: str = "",
    ) -> Timer:
        """Call ``callback(*args)`` once, ``delay`` local seconds from now.

        A delay of 0 or less is due now, but never inside this call.

        Returns:
            The timer, which is also the handle for :meth:`clear`.

        Raises:
            ValueError: The delay is not a number, infinite or absurd, or the timer would
                be due beyond 292 years of local time.
            TypeError: ``callback`` cannot be called, is swapped with the delay, or is an async or
                generator function (checked here in a session or if the timer has a name,
                otherwise when it is called).
            RuntimeError: The clock was removed, or another thread drives its tree; see
                :meth:`post`.
        """
        if type(delay) is float and -_USUAL_S < delay < _USUAL_S:
            # Inlined from seconds_to_ns(): calling it takes three times as long.
            delay_ns = round(delay * NS_PER_SECOND)
        else:
            try:
                delay_ns = seconds_to_ns(delay)
            except ValueError as error:
                call = "set_timeout(delay, callback)"
                raise refused_seconds(call, "delay", delay, error, callback) from None
        if args or name:
            return self.set_timeout_ns(delay_ns, callback, *args, name=name)
        # The most frequent case: unpacking empty arguments would cost another tenth.
        return self.set_timeout_ns(delay_ns, callback)

    def set_timeout_ns(
        self,
        delay_ns: int,
        callback: Callable[..., object],
        *args: Any,  # noqa: ANN401
        name: str = "",
    ) -> Timer:
        """Do what :meth:`set_timeout` does, with the delay in nanoseconds."""
        if not callable(callback):
            checked_callable(callback)  # type: ignore[unreachable]
        tree = self.tree
        # A local variable, because Python is slow to call the value of an instance attribute.
        is_ready = tree.is_ready
        if name or not is_ready():
            tree.sync()
            if name or tree.record is not None:
                return self._set_labelled(delay_ns, callback, args, name)
        if delay_ns.__class__ is not int or delay_ns < 1:
            delay_ns = self._until_due_ns(delay_ns)
        # Compared by identity, which is fast; at worst the time is computed again.
        if self._known_at_ns is not tree.now_ns:
            self._resolve()
        due_ns = delay_ns + self._local_ns
        timer = Timer()
        timer.clock = self
        timer.due_ns = due_ns
        timer.order = tree.last_order = tree.last_order + 1
        timer.callback = callback
        timer.args = held_arguments(args) if args else None
        self._buckets[due_ns >> BUCKET_SHIFT].append(timer)
        if due_ns < self._armed_ns:
            self._earlier(due_ns, timer.order)
        return timer

    def set_interval(
        self,
        interval: float | Fraction,
        callback: Callable[..., object],
        *args: Any,  # noqa: ANN401
        missed: MissedTicks | str = MissedTicks.BURST,
        delay: float | Fraction | None = None,
        name: str = "",
    ) -> Interval:
        """Call ``callback(*args)`` every ``interval`` local seconds.

        The k-th call is due exactly at start + k intervals: nothing drifts.

        Args:
            interval: Local seconds, above 0.
            callback: What to call.
            args: Its arguments.
            missed: What to do about ticks that a late source made impossible.
            delay: Local seconds until the first call; by default one interval.
            name: Name of the timer.

        Raises:
            ValueError: The interval is not above 0, not a number or absurd, the policy is
                unknown, or the first call would be due beyond 292 years of local time.
            TypeError: ``callback`` cannot be called, is swapped with the interval, or is an
                async or generator function.
            RuntimeError: The clock was removed, or another thread drives its tree; see
                :meth:`post`.
        """
        call = "set_interval(interval, callback, delay=…)"
        delay_ns = None if delay is None else checked_seconds_ns(call, "delay", delay)
        try:
            interval_ns = seconds_to_ns(interval)
        except ValueError as error:
            call = "set_interval(interval, callback)"
            raise refused_seconds(call, "interval", interval, error, callback) from None
        if interval_ns <= 0:
            raise ValueError(f"an interval must be at least 1 ns: {shown(interval)} s")
        return self.set_interval_ns(
            interval_ns, callback, *args, missed=missed, delay_ns=delay_ns, name=name
        )

    def set_interval_ns(
        self,
        interval_ns: int,
        callback: Callable[..., object],
        *args: Any,  # noqa: ANN401
        missed: MissedTicks | str = MissedTicks.BURST,
        delay_ns: int | None = None,
        name: str = "",
    ) -> Interval:
        """Do what :meth:`set_interval` does, with times in nanoseconds."""
        if name:
            checked_name("set_interval(interval, callback, name=…)", name)
        if checked_ns(interval_ns) <= 0:
            raise ValueError(f"an interval must be longer than 0 ns: {interval_ns}")
        self.tree.sync()
        label = self.tree.label_number(callback)
        first_ns = interval_ns if delay_ns is None else self._until_due_ns(delay_ns)
        tree = self.tree
        due_ns = self._within_reach(self.time_ns + first_ns)
        tree.last_order = order = tree.last_order + 1
        timer = Interval(
            self,
            due_ns,
            order,
            callback,
            args,
            name,
            self._call_site(),
            interval_ns,
            _policy(missed),
        )
        self._push(timer)
        self._record_timer(timer, label)
        return timer

    def set_unlisted_timeout_ns(
        self, delay_ns: int, callback: Callable[[], object], *, name: str = ""
    ) -> Timer:
        """Do what :meth:`set_timeout_ns` does, for a subject that reports its calls itself.

        The timer makes no events. A failure of ``callback`` is reported under ``name``.
        """
        tree = self.tree
        tree.sync()
        due_ns = self._within_reach(self.time_ns + self._until_due_ns(delay_ns))
        timer = UnlistedTimer()
        timer.clock = self
        timer.due_ns = due_ns
        tree.last_order = timer.order = tree.last_order + 1
        timer.callback = callback
        timer.args = None
        timer.name = name
        self._push(timer)
        return timer

    def post(self, callback: Callable[..., object], *args: Any) -> None:  # noqa: ANN401
        """Call ``callback(*args)`` on the thread that drives the tree; from any thread.

        The call happens at the next wake-up or frame, before due timers; while the transport is
        held, when it runs or steps again. This is the only clock method for other threads. A
        rewind does not repeat posted calls.

        Raises:
            TypeError: ``callback`` cannot be called, or is an async or generator function.
            RuntimeError: The clock was removed.
        """
        self._check_alive()
        checked_callable(callback)
        self.tree.post(self, callback, args)

    def clear(self, timer: Timer, cause: int = 0) -> bool:
        """Cancel a timer of this clock.

        Returns:
            Whether it was pending here. Timers that have fired, were cleared before or belong
                to another clock are left alone.
        """
        try:
            if timer.clock is not self or timer.callback is None:
                return False
        except AttributeError:
            message = f"clear(timer): not a timer of set_timeout or set_interval: {shown(timer)}"
            raise TypeError(message) from None
        is_ready = self.tree.is_ready
        if not is_ready():
            self._record_cleared(timer, cause)
        timer.callback = timer.args = None
        if not self.is_wake_doubtful:
            self.doubt_wake()
        bucket = self._buckets.get(timer.due_ns >> BUCKET_SHIFT)
        if bucket is not None:
            # Most cancelled timers are recent and can be dropped at once. (A bucket never
            # becomes empty this way.)
            last = bucket.pop()
            if last is timer and bucket:
                return True
            bucket.append(last)
        self.queue.cancelled()
        return True

    def fire_now(self, timer: Timer) -> bool:
        """Call a pending timer now, whatever its due time.

        A one-shot timer is then done; a repeating timer keeps its schedule.

        Returns:
            Whether the timer was pending on this clock.
        """
        if timer.clock is not self or not timer.is_pending:
            return False
        self.tree.fire_out_of_turn(timer)
        return True

    def pending(self) -> list[Timer]:
        """Return the pending timers of this clock in due order, without side effects."""
        return self.queue.timers()

    def find_timer(self, number: int, due_ns: int) -> Timer | None:
        """Return a pending timer by its number, searching first around ``due_ns``."""
        return self.queue.find(number, due_ns)

    @property
    def pending_count(self) -> int:
        """Number of pending timers of this clock."""
        return len(self.queue)

    # ------------------------------------------------- for the engine itself

    def _set_labelled(
        self, delay_ns: int, callback: Callable[..., object], args: tuple[Any, ...], name: str
    ) -> Timer:
        """Set a one-shot timer that has a name or is recorded."""
        if name:
            checked_name("set_timeout(delay, callback, name=…)", name)
        if delay_ns.__class__ is not int or delay_ns < 1:
            delay_ns = self._until_due_ns(delay_ns)
        tree = self.tree
        label = tree.label_number(callback)
        tree.last_order = order = tree.last_order + 1
        # Session time is up to date here.
        now_ns = self._local_ns if self._known_at_ns == tree.now_ns else self.time_ns
        due_ns = delay_ns + now_ns
        timer = LabelledTimer()
        timer.clock = self
        timer.due_ns = due_ns
        timer.order = order
        timer.callback = callback
        timer.args = held_arguments(args) if args else None
        timer.name = name
        timer.site = self._call_site(3)
        self._push(timer)
        self._record_timer(timer, label)
        return timer

    def _push(self, timer: Timer) -> None:
        """Let a new timer wait."""
        due_ns = timer.due_ns
        self._buckets[due_ns >> BUCKET_SHIFT].append(timer)
        if due_ns < self._armed_ns:
            self._earlier(due_ns, timer.order)

    def _call_site(self, calls: int = 2) -> CallSite | None:
        """Return where the user's program called this clock, skipping at least ``calls`` frames."""
        tree = self.tree
        if not tree.keeps_call_sites:
            return None
        # Python creates an object for each frame visited here, so as few as possible are.
        frame: FrameType | None = sys._getframe(calls)
        while frame is not None and frame.f_globals is _OWN_GLOBALS:
            frame = frame.f_back
        return None if frame is None else tree.call_site(frame)

    def _record_timer(self, timer: Timer, label: int) -> None:
        tree = self.tree
        record = tree.record
        if record is None:
            return
        now_ns, number, name, site = tree.now_ns, timer.order, timer.name, timer.site
        record((now_ns, TIMER_ADDED, number, self.id, tree.intern(name) if name else label))
        record((now_ns, TIMER_ORIGIN, number, 0 if site is None else site.sid, timer.kind))
        record((now_ns, TIMER_ARMED, number, timer.due_ns, timer.interval_ns))

    def _record_cleared(self, timer: Timer, cause: int) -> None:
        tree = self.tree
        if not tree.is_owner():
            tree.check_thread()
        if tree.record is not None and timer.is_listed:
            tree.sync()
            site = None if cause else self._call_site()
            sid = site.sid if site is not None else 0
            tree.record((tree.now_ns, TIMER_CLEARED, timer.id, sid, cause))

    def _until_due_ns(self, delay_ns: int) -> int:
        """Return a new timer's delay, and keep what is due now from being due before now."""
        if checked_ns(delay_ns) > 0:
            return delay_ns
        # Floors matter only below a rate other than 1, which is not known right after a change.
        if self._session_shift_ns is None or self._session_shift_version != self.tree.version:
            self.raise_floors()
        return 0

    def _within_reach(self, local_ns: int) -> int:
        """Return a local time that events can hold; refuse any other."""
        if not -LAST_BUCKET <= local_ns >> BUCKET_SHIFT <= LAST_BUCKET:
            raise ValueError(beyond_reach(self, local_ns))
        return local_ns

    def _check_alive(self) -> None:
        if self.is_removed:
            self._refuse_timers()

    def _refuse_timers(self) -> NoReturn:
        raise RuntimeError(f"clock {self.name!r} was removed from its tree")


def _policy(missed: MissedTicks | str) -> MissedTicks:
    try:
        return MissedTicks(missed)
    except ValueError:
        names = ", ".join(policy.value for policy in MissedTicks)
        raise ValueError(f"missed must be one of {names}, not {shown(missed)}") from None
