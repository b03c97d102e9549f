"""The clock tree as a whole: session time, and which timer is called next."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator
from threading import RLock
from types import CodeType, FrameType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Protocol

from inspector.clocks.callbacks import checked_callable, label_of, refuse_unfinished
from inspector.clocks.clock import Clock
from inspector.clocks.failures import (
    CALLBACK_ERRORS,
    CallbackFailure,
    EndlessInstantError,
    raise_interrupt,
)
from inspector.clocks.members import Members
from inspector.clocks.queue import BUCKET_SHIFT, Entry, TimerQueue
from inspector.clocks.refusals import suggest_name
from inspector.clocks.timer import (
    FIRED,
    REPEATS,
    REPEATS_OTHERWISE,
    CallSite,
    Interval,
    MissedTicks,
    Timer,
)
from inspector.timebase import MAX_NS, format_instant
from inspector.vocabulary import CALLBACK_FAILED, NEVER, TICKS_MISSED, TIMER_FIRED, RawEvent

if TYPE_CHECKING:
    from inspector.clocks.node import ClockNode


logger = logging.getLogger(__name__)

#: Stands for the source's reading in virtual time; earlier than every instant.
_NO_READING = -NEVER

#: More timers set and called within one instant count as endless.
ENDLESS_LIMIT = 100_000

#: Limit of timers set or repeated, and of frames, in one advance: some seconds of work.
MOST_IN_WAKE = 10_000_000

#: No limit on the number of timers.
_ANY_ORDER = 2**63


class Sink(Protocol):
    """Takes events. Without a sink, an event costs the engine one attribute test."""

    def append(self, event: RawEvent, /) -> None:
        """Take one event; called very often, so it must be fast."""

    def intern(self, text: str, /) -> int:
        """Return the number of ``text`` in the string table, adding it if new."""


class _NoQueue(TimerQueue):
    """The queue above the root, which holds nothing: the root's wake entry is read directly."""

    __slots__ = ()

    def push_entry(self, entry: Entry) -> None:
        """Ignore the entry."""

    def cancelled(self) -> None:
        """Count nothing."""


class ClockTree:
    """A root clock, everything below it, and the session time that drives it.

    Session time is what the transport has let pass; the root's local time follows from it by
    the root's own rate and pause. Nothing here waits: :meth:`run_to` calls everything due up
    to an instant and returns. Not thread-safe: one thread drives a tree and everything in it.

    Attributes:
        now_ns: Session time. While a timer is called, its due instant, or the instant
            already reached if that is later.
        root: The root clock.
        version: Incremented when a rate, pause or parent changes.
        record: Takes events (the sink's ``append``), or ``None``; see :meth:`record_to`.
        present: Brings :attr:`now_ns` up to a running source; ``None`` while timers are
            called and when no source runs; see :meth:`follow`.
        is_ready: Whether a timer can be set or cleared and nothing else has to be done: the
            calling thread may use the tree, no source runs and nothing records.
        keeps_call_sites: Whether timers remember where they were set.
        most_in_wake: Limit of timers set or repeated within one :meth:`run_to`, which then
            ends with a failure, or raises it without :attr:`on_failure`; ``None`` for no limit.
        on_failure: Called after the failure of a callback is recorded; by default the
            traceback is logged.
        on_earlier_wake: Called when something becomes due before everything else.
        on_posted: Called on the posting thread when a call is posted.
        members: What hangs under the clocks besides timers.
        last_order: The last order number used.
        is_draining: Whether timers are being called now.
        is_halted: Whether the last :meth:`run_to` was ended early by :meth:`halt`.
        has_fast_clocks: Whether a clock has ever been faster than its parent.
        is_owner: Whether the calling thread may use the tree: the one that drives it, or has
            used it last while none does.
    """

    __slots__ = (
        "__weakref__",
        "_draining",
        "_endless_at_ns",
        "_endless_count",
        "_endless_order",
        "_is_driver",
        "_is_interrupted",
        "_labels",
        "_last_clock_id",
        "_last_order_allowed",
        "_observed_ns",
        "_posted",
        "_sink",
        "_sites",
        "has_fast_clocks",
        "is_draining",
        "is_halted",
        "is_owner",
        "is_ready",
        "keeps_call_sites",
        "last_order",
        "members",
        "most_in_wake",
        "now_ns",
        "on_earlier_wake",
        "on_failure",
        "on_posted",
        "present",
        "record",
        "root",
        "version",
    )

    def __init__(self, sink: Sink | None = None, *, root_name: str = "root") -> None:
        self.now_ns = self.version = self.last_order = self._last_clock_id = 0
        self.record: Callable[[RawEvent], None] | None = None
        self.present: Callable[[], None] | None = None
        self._sink = sink
        self._become_owner()
        self.record_to(None if sink is None else sink.append)
        # Tells whether the calling thread drives the tree; bool(), which is False, while none does.
        self._is_driver: Callable[[], bool] = bool
        self._posted: deque[tuple[ClockNode, Callable[..., object], tuple[Any, ...]]] = deque()
        self.on_posted: Callable[[], None] | None = None
        self.members = Members(self)
        self.keeps_call_sites = sink is not None
        self.most_in_wake: int | None = MOST_IN_WAKE
        self.on_failure: Callable[[CallbackFailure], None] | None = None
        self.on_earlier_wake: Callable[[], None] | None = None
        # Keyed by id() of the code object, which is kept alive so that its id stays unique.
        self._sites: dict[tuple[int, int], tuple[CodeType, CallSite]] = {}
        self._labels: dict[tuple[int, str], tuple[CodeType, int]] = {}
        self.has_fast_clocks = False
        self.is_draining = self.is_halted = self._is_interrupted = False
        # The queue whose timers are being called, or were called last.
        self._draining = TimerQueue()
        self._endless_at_ns: int | None = None
        self._endless_order = self.last_order
        # Session time as a clock: above the root, never paused, holds nothing itself.
        driver = Clock(self, None, "session", 0)
        driver.queue = _NoQueue()
        self.root = driver.child(root_name, epoch=0)

    def __repr__(self) -> str:
        return f"<ClockTree at {format_instant(self.now_ns)}>"

    # ------------------------------------------------------------- progress

    @property
    def reached_ns(self) -> int:
        """The session instant that was really reached.

        The source's reading while late timers are called with their due instant as "now";
        otherwise :attr:`now_ns`.
        """
        return max(self.now_ns, self._observed_ns) if self.is_draining else self.now_ns

    # Positional, because Python calls functions with keyword-only arguments more slowly.
    def run_to(self, target_ns: int, observed_ns: int | None = None) -> bool:
        """Call everything due up to ``target_ns``, in order, and stop there.

        Args:
            target_ns: Session time to reach; an earlier one is ignored.
            observed_ns: The time source's reading in session time if it is late; lateness is
                measured against it. Without it time is virtual, and timers are late only after
                :meth:`jump_to`.

        Returns:
            Whether the target was reached; ``False`` after :meth:`halt`.

        Raises:
            RuntimeError: Called from inside a callback.
            EndlessInstantError: :attr:`most_in_wake` is exceeded, and nothing takes failures.
        """
        if self.is_draining:
            raise RuntimeError("time is already being advanced; a callback cannot advance it")
        # A local variable, because Python is slow to call the value of an instance attribute.
        is_driver = self._is_driver
        if not is_driver():
            self.become_driver()
        if self._posted:
            self._run_posted()
        root = self.root
        self.is_halted = False
        if (wake := root.wake) is None or wake[0] > target_ns:
            if target_ns > self.now_ns:  # noqa: PLR1730 - max() would be a call
                self.now_ns = target_ns
            return True
        # The source's reading in session time while timers are called; _NO_READING when
        # virtual time moves from due instant to due instant and nothing is late.
        self._observed_ns = _NO_READING if observed_ns is None else max(observed_ns, target_ns)
        self.is_draining = True
        most = self.most_in_wake
        # A wake-up that gives out a higher order number has set too many timers.
        self._last_order_allowed = _ANY_ORDER if most is None else self.last_order + most
        try:
            while not self.is_halted and (wake := root.wake) is not None and wake[0] <= target_ns:
                self._run_branch(target_ns)
        finally:
            self.is_draining = False
        if self.is_halted:
            return False
        if target_ns > self.now_ns:  # noqa: PLR1730 - max() would be a call
            self.now_ns = target_ns
        return True

    def jump_to(self, at_ns: int) -> None:
        """Let session time pass without calling anything: the source was blocked."""
        if at_ns > self.now_ns:
            self.now_ns = at_ns
            self.interrupt()

    def halt(self) -> None:
        """Call nothing else in this :meth:`run_to`; due timers stay pending."""
        self.is_halted = True
        self.interrupt()

    def next_wake_ns(self) -> int | None:
        """Return the session time of the next due timer, ``None`` without one; may be past."""
        while True:
            clock: ClockNode = self.root
            wake = clock.wake
            while wake is not None and clock.expected_wake() == wake[:2]:
                head = clock.queue.head()
                assert head is not None
                if isinstance(head[2], Timer):
                    return self.root.wake[0] if self.root.wake is not None else None
                clock, wake = head[2], head
            if wake is None:
                return None
            # Outdated by a cancelled timer. The correct wake is later, so the clocks above
            # need no update.
            told, self.on_earlier_wake = self.on_earlier_wake, None
            try:
                clock.rearm()
            finally:
                self.on_earlier_wake = told

    # ------------------------------------------------------------- other threads

    def post(
        self, clock: ClockNode, callback: Callable[..., object], args: tuple[Any, ...]
    ) -> None:
        """Do what :meth:`Clock.post` does, for a clock of this tree."""
        self._posted.append((clock, callback, args))
        if self.on_posted is not None:
            self.on_posted()

    def check_thread(self) -> None:
        """Refuse a thread that does not drive this tree, with a ``RuntimeError``."""
        if self.is_owner():
            return
        if self._is_driver is not bool:
            raise RuntimeError(
                "a clock belongs to the thread that drives its tree: from another thread use "
                "clock.post(callback), which calls it on that thread"
            )
        self._become_owner()

    def become_driver(self) -> None:
        """Refuse other threads from now on, as advancing time does."""
        if not self.is_owner():
            self._become_owner()
        self._is_driver = self.is_owner

    def _become_owner(self) -> None:
        # RLock's own check of its owner takes half as long as comparing thread identifiers.
        lock = RLock()
        lock.acquire()
        self.is_owner: Callable[[], bool] = lock._is_owned  # type: ignore[attr-defined]
        self._find_ready()

    def _find_ready(self) -> None:
        is_free = self.present is None and self.record is None
        # Without an argument, bool is the quickest function that returns False.
        self.is_ready: Callable[[], bool] = self.is_owner if is_free else bool

    def follow(self, present: Callable[[], None] | None) -> None:
        """Let ``present`` bring session time up to a running source; ``None`` while none runs."""
        self.present = present
        self._find_ready()

    def record_to(self, record: Callable[[RawEvent], None] | None) -> None:
        """Let ``record`` take the events from now on; ``None`` for nothing."""
        self.record = record
        self._find_ready()

    def _run_posted(self) -> None:
        for _ in range(len(self._posted)):
            clock, callback, args = self._posted.popleft()
            if clock.is_removed:
                continue
            try:
                refuse_unfinished(callback(*args))
            except CALLBACK_ERRORS as error:
                self.report_failure(clock, 0, label_of(callback), error)

    # -------------------------------------------------- services for clocks

    def sync(self) -> None:
        """Bring session time up to a running source, outside callbacks; before any change.

        Raises:
            RuntimeError: Another thread drives this tree.
        """
        is_owner = self.is_owner
        if not is_owner():
            self.check_thread()
        if self.present is not None:
            self.present()

    def next_clock_id(self) -> int:
        """Return a number for a new clock."""
        self._last_clock_id += 1
        return self._last_clock_id

    def mapping_changed(self) -> None:
        """Compute distances to session time again, and look again for the next timer."""
        self.version += 1
        self.interrupt()

    def note_fast_clock(self) -> None:
        """Keep all wake entries exact from now on, because a clock is faster than its parent."""
        if self.has_fast_clocks:
            return
        self.has_fast_clocks = True
        for clock in reversed(list(self.root.walk())):
            if clock.is_wake_doubtful:
                clock.doubt_wake()
                clock.is_wake_doubtful = False

    def interrupt(self) -> None:
        """Make the drain loop look again for the next timer."""
        if not self._is_interrupted:
            self._is_interrupted = True
            self._draining.return_batch()

    def root_earlier(self) -> None:
        """Tell the transport that the earliest wake has changed."""
        if not self.is_draining and self.on_earlier_wake is not None:
            self.on_earlier_wake()

    def intern(self, text: str) -> int:
        """Return the sink's number for a text."""
        return 0 if self._sink is None else self._sink.intern(text)

    def label_number(self, callback: Callable[..., object]) -> int:
        """Return the number of the label of a callback.

        Raises:
            TypeError: It cannot be called, or nothing would run what it returns.
        """
        function = callback.__func__ if type(callback) is MethodType else callback
        if type(function) is not FunctionType:
            checked_callable(callback)
            return self.intern(label_of(callback))
        code = function.__code__
        key = (id(code), function.__qualname__)
        known = self._labels.get(key)
        if known is None:
            checked_callable(callback)
            known = self._labels[key] = (code, self.intern(label_of(callback)))
        return known[1]

    def call_site(self, frame: FrameType) -> CallSite | None:
        """Return the place in the program at which a frame is, if call sites are kept."""
        if not self.keeps_call_sites:
            return None
        code = frame.f_code
        key = (id(code), frame.f_lasti)
        known = self._sites.get(key)
        if known is None:
            text = f"{code.co_filename}:{frame.f_lineno} in {code.co_qualname}"
            known = self._sites[key] = (code, CallSite(text, self.intern(text)))
        return known[1]

    # -------------------------------------------------------------- failures

    def report_failure(
        self, clock: ClockNode, timer_id: int, label: str, error: BaseException
    ) -> None:
        """Record the failure of a callback; the owner decides what follows.

        The only place for this, for timers, frame callbacks and everything built on them.

        Raises:
            KeyboardInterrupt: The user interrupts the program; that is no failure.
        """
        raise_interrupt(error)
        suggest_name(error)
        failure = CallbackFailure(clock.id, timer_id, label, error)
        if self.record is not None:
            text = failure.traceback_text
            event = (self.now_ns, CALLBACK_FAILED, timer_id, self.intern(label), self.intern(text))
            self.record(event)
        if self.on_failure is not None:
            self.on_failure(failure)
        else:
            logger.error("callback %s failed", label, exc_info=error)

    # ------------------------------------------------------------ drain loop

    def _run_branch(self, target_ns: int) -> None:
        """Find the clock with the next timer, and run it while it stays next."""
        clock: ClockNode = self.root
        limit_ns = target_ns
        path: list[ClockNode] = []
        last_head: Entry | None = None
        try:
            while True:
                found = clock.enter_path(limit_ns)
                if found is None:
                    # A wake outdated by a cancelled timer, now corrected: look again.
                    return
                path.append(clock)
                head, limit_ns = found
                below = head[2]
                if not below.is_clock:
                    break
                clock = below
            last_head = self._run_timers(clock, head, limit_ns)
        finally:
            while path:
                path.pop().leave_path(last_head)
                last_head = None

    def _run_timers(  # noqa: C901, PLR0912, PLR0915 - the hot loop: a call would double its cost
        self, clock: ClockNode, head: Entry, limit_ns: int
    ) -> Entry | None:
        """Call this clock's next timer, and those after it up to local ``limit_ns``.

        Args:
            clock: The clock.
            head: Its next timer, known to be next in the whole tree.
            limit_ns: Local time up to which nothing else comes between.

        Returns:
            The first remaining entry, if known.
        """
        self._draining = queue = clock.queue
        later = queue.buckets
        fired, has_fired, repeats = TIMER_FIRED, FIRED, REPEATS
        observed_ns = self._observed_ns
        shift_ns = clock.shift_to_session()
        # Most clocks start with the session; adding 0 to large numbers costs time.
        is_session_time = shift_ns == 0
        # The source's reading in local time, to measure lateness; None in virtual time.
        seen_ns = None
        if shift_ns is not None and observed_ns != _NO_READING:
            seen_ns = observed_ns + shift_ns
        self._is_interrupted = False
        last_order_allowed = self._last_order_allowed
        batch: list[Timer] | None = None
        while True:
            if batch is None:
                if head[1] > self._endless_order and self._is_endless(head):
                    return None
                batch = queue.take_run(head, limit_ns)
            queue.batch = batch
            now_ns = self.now_ns
            # Timers due up to this local time are called without moving "now".
            reached_ns = _NO_READING if shift_ns is None else now_ns + shift_ns
            # Any, because narrowing each timer to an Interval would cost an instruction.
            rest: Iterator[Any] = iter(batch)
            queue.rest = rest
            for timer in rest:
                callback = timer.callback
                if callback is None:
                    queue.forget_dead()
                    continue
                # Read for each timer: a callback, or another thread, may start or stop recording.
                record = self.record
                due_ns = timer.due_ns
                if due_ns > reached_ns:
                    reached_ns = due_ns
                    if is_session_time:
                        self.now_ns = now_ns = due_ns
                    elif shift_ns is not None:
                        self.now_ns = now_ns = due_ns - shift_ns
                    else:
                        at_ns = max(clock.session_ns(due_ns), -MAX_NS)
                        if at_ns > now_ns:
                            self.now_ns = now_ns = at_ns
                        seen_ns = due_ns + max(observed_ns, now_ns) - at_ns
                args = timer.args
                # One try for bookkeeping and call, so that the kind of timer is tested only once.
                try:
                    if args is None:
                        timer.callback = None
                        timer.args = has_fired
                        if record is not None and timer.is_listed:
                            late_ns = (reached_ns if seen_ns is None else seen_ns) - due_ns
                            record((now_ns, fired, timer.order, late_ns, NEVER))
                        returned = callback()
                        if returned is None:
                            continue
                    elif args is repeats:
                        timer.due_ns = next_ns = due_ns + timer.interval_ns
                        self.last_order = timer.order = self.last_order + 1
                        later[next_ns >> BUCKET_SHIFT].append(timer)
                        if record is not None:
                            late_ns = (reached_ns if seen_ns is None else seen_ns) - due_ns
                            if timer.callback is None:
                                next_ns = NEVER
                            record((now_ns, fired, timer.number, late_ns, next_ns))
                        returned = callback()
                        if returned is None:
                            continue
                    else:
                        if args is REPEATS_OTHERWISE:
                            self._set_again(timer, max(observed_ns, now_ns))
                            args = timer.arguments
                        else:
                            timer.callback = None
                            timer.args = has_fired
                        if record is not None and timer.is_listed:
                            late_ns = (reached_ns if seen_ns is None else seen_ns) - due_ns
                            next_ns = NEVER if timer.callback is None else timer.due_ns
                            record((now_ns, fired, timer.id, late_ns, next_ns))
                        # A single argument is held without a tuple; see held_arguments().
                        returned = callback(*args) if type(args) is tuple else callback(args)
                    if returned is not None:
                        refuse_unfinished(returned)
                except CALLBACK_ERRORS as error:
                    label = timer.name or label_of(callback)
                    number = timer.id if timer.is_listed else 0
                    self.report_failure(clock, number, label, error)
            # Still the same batch: nothing was set that must be called before its next timer.
            if queue.batch is batch:
                queue.batch = ()
            if self.last_order > last_order_allowed:
                self.stop_crowded(batch[-1])
            if self._is_interrupted:
                return None
            batch = queue.take_bucket(limit_ns)
            if batch is None:
                # Mostly one timer that repeats within its bucket. A timer due at an instant already
                # reached is excluded, because it may be endless.
                near = queue.near
                if len(near) == 1 and reached_ns < near[0][0] <= limit_ns:
                    batch = queue.take_lone()
                    if batch is not None:
                        continue
                next_head = queue.head()
                if next_head is None:
                    return None
                if next_head[0] > limit_ns or next_head[2].is_clock:
                    return next_head
                head = next_head

    def _is_endless(self, head: Entry) -> bool:
        """Return whether timers keep setting each other within this instant."""
        if self._endless_at_ns != self.now_ns:
            self._endless_at_ns = self.now_ns
            self._endless_order = self.last_order
            self._endless_count = 0
            return False
        self._endless_count += 1
        if self._endless_count <= ENDLESS_LIMIT:
            return False
        timer = head[2]
        assert not timer.is_clock
        self._stop_endless(timer)
        return True

    def _set_again(self, timer: Interval, observed_ns: int) -> None:
        """Set a repeating timer again, by its policy for missed ticks."""
        next_ns, missed = timer.due_ns + timer.interval_ns, 0
        if timer.missed is not MissedTicks.BURST:
            late_ns = max(0, timer.clock.local_at(observed_ns) - timer.due_ns)
            missed = late_ns // timer.interval_ns
            left_out_ns = late_ns
            if timer.missed is MissedTicks.SKIP:
                left_out_ns = missed * timer.interval_ns
            timer.origin_ns += left_out_ns
            next_ns += left_out_ns
        timer.due_ns = next_ns
        self.last_order = timer.order = self.last_order + 1
        timer.clock.queue.push(timer)
        if missed:
            timer.ticks_missed += missed
            if self.record is not None:
                self.record((self.now_ns, TICKS_MISSED, timer.id, missed, timer.kind))

    def _stop_endless(self, timer: Timer) -> None:
        error = EndlessInstantError(
            f"more than {ENDLESS_LIMIT:,} timers were set without delay and called within one "
            f"instant ({format_instant(self.now_ns)}), the last by {timer.label!r}; "
            "the rest wait for the next wake-up (give them a delay)"
        )
        self._endless_at_ns = None
        self.halt()
        self.report_failure(timer.clock, timer.id, timer.label, error)

    def stop_crowded(self, timer: Timer | None = None) -> None:
        """End a wake-up with no end in sight, of a timer that repeats or of frames.

        Raises:
            EndlessInstantError: Nothing takes failures.
        """
        what, rest = "frames were run", "lower the frame rate, or advance in smaller steps"
        if timer is not None:
            what = f"timers were set or repeated, one of them {timer.label!r},"
            rest = (
                "lower the rate of their clock, give them longer intervals, or take smaller steps"
            )
        error = EndlessInstantError(
            f"more than {self.most_in_wake:,} {what} within one wake-up, which got no further than "
            f"{format_instant(self.now_ns)}. The rest wait ({rest})"
        )
        self.halt()
        if self.on_failure is None:
            raise error
        clock = self.root if timer is None else timer.clock
        number, label = (0, "frames") if timer is None else (timer.id, timer.label)
        self.report_failure(clock, number, label, error)

    def fire_out_of_turn(self, timer: Timer) -> None:
        """Call a pending timer now; see :meth:`Clock.fire_now`."""
        self.sync()
        callback, args, clock = timer.callback, timer.args, timer.clock
        assert callback is not None
        late_ns = self.now_ns - clock.session_ns(timer.due_ns) if clock.effective_rate else 0
        # On a very slow clock, lateness may exceed what an event can hold.
        late_ns = min(max(late_ns, -MAX_NS), MAX_NS)
        if isinstance(timer, Interval):
            args = timer.arguments
            next_ns = timer.due_ns
            timer.origin_ns -= timer.interval_ns
        else:
            next_ns = NEVER
            timer.callback, timer.args = None, FIRED
            clock.queue.cancelled()
            clock.doubt_wake()
        if self.record is not None:
            self.record((self.now_ns, TIMER_FIRED, timer.id, late_ns, next_ns))
        present = self.present
        self.follow(None)
        try:
            arguments = () if args is None else args if type(args) is tuple else (args,)
            refuse_unfinished(callback(*arguments))
        except CALLBACK_ERRORS as error:
            self.report_failure(clock, timer.id, timer.name or label_of(callback), error)
        finally:
            self.follow(present)
