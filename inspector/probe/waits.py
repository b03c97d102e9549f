"""Virtual time: which threads wait for what, and what happens once all of them wait.

The program's clock is held. When every thread waits, the clock jumps to the next due instant, and
the thread that is due then runs alone until all wait again: so calls come in the same order in
every run. What waits for something outside of the program, such as a socket, lets time pass as it
does on the machine, or not at all.

A thread that waits by a hook of an adapter says so by :meth:`Waits.begin` and :meth:`Waits.end`.
Others, which wait in functions of C, are watched by a thread of this module.
"""

from __future__ import annotations

import math
import sys
import threading
from _thread import allocate_lock, start_new_thread
from itertools import count
from threading import RLock, get_ident
from time import monotonic_ns
from weakref import WeakSet

from .awaited import Files, Goal, Wait, never
from .clocks import NothingDueError
from .outside import (
    awaited_by_call,
    awaited_by_loop,
    has_other_threads,
    is_timed,
    processor_ns,
    system_call,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Callable, Optional

    from .clocks import Clock

#: What happens to time while something outside of the program is awaited.
PASS, STAND, JUMP = "pass", "stand", "jump"
#: Time between looks at a thread that does not wait by a hook: at first, and at most.
_FIRST_CHECK_S, _LAST_CHECK_S = 0.001, 0.02
#: A thread that stays at one instruction for this long, and does not compute, waits.
_STILL_NS = 3_000_000
#: Shorter jumps of time are not reported.
_TOLD_NS = 1_000_000
#: A loop in C that was woken calls what is due within this time; a thread that waits in C by the
#: machine's time for this long is noted.
_WOKEN_NS, _NOTED_NS = 1_000_000_000, 200_000_000
#: How long to wait for a thread that Python did not start to release a lock.
_ALIEN_NS = 500_000_000
#: While time passes as on the machine, it does so in steps of this.
_PASSING_S = 0.005
#: After this many readings of a clock without any wait, the reader counts as waiting for time to
#: pass, and each further reading advances time by this.
MOST_READINGS, _PER_READING_NS = 100_000, 1_000_000


def _ignore(_told: object) -> None:
    pass


def _thread_of(thread: int) -> Optional[threading.Thread]:
    """Return the thread of a number; ``None`` if it was not begun by Python, or is ending."""
    return threading._active.get(thread)  # type: ignore[attr-defined, no-any-return]


def _is_in(noted: dict[int, Optional[threading.Thread]], thread: int) -> bool:
    """Return whether a thread was noted, and not an earlier one with the same number."""
    if thread not in noted:
        return False
    active, known = _thread_of(thread), noted[thread]
    is_dummy = isinstance(active, threading._DummyThread)
    return active is None or active is known or (known is None and is_dummy)


class Waits:
    """The waits of a program whose clock is held."""

    def __init__(self, program: Any, skip: Callable[[int], None]) -> None:
        self._program = program
        self._skip = skip
        self._lock = RLock()
        self._waiting: dict[int, Wait] = {}
        self._next_order = count().__next__
        # Threads by their numbers, which later threads may be given.
        self._known: dict[int, Optional[threading.Thread]] = {}
        self._spared: dict[int, Optional[threading.Thread]] = {}
        self._spared_children: WeakSet[threading.Thread] = WeakSet()
        self._main = 0
        # Added to every sleep, so that none seems too short: the difference of two readings in
        # seconds may be off by this
        self.rounding_ns = max(1, math.ceil(math.ulp(monotonic_ns() / 1e9) * 1e9))
        self._goals: list[Goal] = []
        self.is_jumping = False  # Whether time advances by itself when all wait
        self.outside = PASS  # What happens to time while something outside is awaited
        # Describes what waits when nothing can end it; ``None`` to let it wait
        self.stuck: Optional[Callable[[], str]] = None
        # Called with an error that cannot be raised in the test, and with what ends its loop
        self.deliver: Callable[[BaseException, Callable[[], object]], object]
        # What was awaited outside while time passed as on the machine, and for how long
        self.passed_for: dict[str, int] = {}
        # Called when time has jumped, with a function that returns whether a thread is that of a
        # loop with nothing to do, and with how far time has jumped
        self.report_passed: Optional[Callable[[Callable[[int, int], bool], int], object]] = None
        # Called repeatedly while the program has the machine's time, on the watching thread;
        # returns the seconds until the next call, less than 0 for never
        self.sample: Optional[Callable[[], float]] = None
        # Called with an error to raise in the main thread, which waits in C for ever
        self.interrupt: Callable[[BaseException], object] = _ignore
        # Threads that wait by the machine's time until time is virtual again
        self.returning: set[int] = set()
        # Called with the frame of a thread that waits by the machine's time
        self.note: Callable[[FrameType], object] = _ignore
        # How often a clock was read since a thread has begun to wait; see :meth:`was_read_often`
        self.readings = 0
        self._is_creeping = False
        # The state of the thread that watches others.
        self._signal = allocate_lock()
        self._signal.acquire()
        self._watcher = 0
        self._is_watching = False
        self._check_again_s = -1.0
        self._checks = 0
        self._still: dict[int, tuple[Any, int]] = {}
        # Threads that wait in C, and whether for ever; since when a loop there is late.
        self._in_c: dict[int, bool] = {}
        self._late_since_ns: Optional[int] = None
        # The clocks of loops that have waited for their next event.
        self._looping: set[int] = set()
        self._passing_ns: Optional[int] = None

    # ----------------------------------------------------------------------- ends

    def start(self) -> None:
        """Follow all threads but those that run already; the calling one is the test's."""
        with self._lock:
            self._main = get_ident()
            with threading._active_limbo_lock:  # type: ignore[attr-defined]
                # Threads that are being started have no number yet, or are not known by it.
                self._spared_children.update(threading._limbo)  # type: ignore[attr-defined]
                self._spared = {
                    thread: _thread_of(thread)
                    for thread in sys._current_frames()
                    if thread not in (self._main, self._watcher) and not _is_in(self._known, thread)
                }
            self._goals.clear()
            self._waiting.clear()
            self.readings = 0
            self.passed_for = {}
            self._has_told = False
            self._looping.clear()
            self._program.waits = self
            if not self._watcher:
                self._watcher = start_new_thread(self._watch, ())
            # A thread that waits in C does not say so.
            self._check_again_s = _LAST_CHECK_S
            self._hurry()

    def stop(self) -> None:
        """Let all threads continue by the machine's time."""
        with self._lock:
            self._program.waits = None
            followed = filter(self.follows, sys._current_frames())
            self._known = {thread: _thread_of(thread) for thread in followed}
            for wait in list(self._waiting.values()):
                wait.wake()
            self._waiting.clear()
            if self.sample is not None:
                self._hurry()

    def forked(self) -> None:
        """This is a child process: nothing of it is in virtual time."""
        self._program.waits = None
        self._lock = RLock()
        self._waiting.clear()
        self._watcher = 0

    def spare_me(self) -> None:
        """Let the calling thread keep the machine's time."""
        self._spared[get_ident()] = _thread_of(get_ident())

    @property
    def spares_me(self) -> bool:
        """Whether the calling thread keeps the machine's time."""
        return self._spares(get_ident())

    def starts(self, thread: threading.Thread) -> None:
        """The calling thread is about to start another, which keeps the same time.

        Also called before time is virtual: the thread may begin once it is.
        """
        if self._program.waits is not self or self.spares_me:
            self._spared_children.add(thread)

    def follows(self, thread: int) -> bool:
        """Return whether a thread is in virtual time."""
        return thread != self._watcher and not self._spares(thread)

    def _spares(self, thread: int) -> bool:
        if _is_in(self._spared, thread):
            return True
        active = _thread_of(thread)
        return active is not None and active in self._spared_children

    # ---------------------------------------------------------------------- waits

    def begin(self, wait: Wait) -> bool:
        """The calling thread is about to wait; returns whether it need not."""
        thread = wait.thread = get_ident()
        with self._lock:
            wait.order = self._next_order()
            self._known[thread] = _thread_of(thread)
            self.returning.discard(thread)
            self._waiting[thread] = wait
            if wait.is_idle:
                self._looping.add(wait.clock.number)
            self.readings = 0
            self._check()
            if self._check_again_s >= 0:
                self._hurry()
        return wait.is_due or wait.is_over()

    def end(self, wait: Wait) -> None:
        """The calling thread goes on; a :class:`NothingDueError` if nothing could end its wait."""
        with self._lock:
            if self._waiting.get(wait.thread) is wait:
                del self._waiting[wait.thread]
            self._passing_ns = None
            if wait.error is not None:
                raise wait.error

    def sleep(self, clock: Clock, due_ns: Optional[int]) -> bool:
        """Wait until a local instant; returns whether it has come, and time is still virtual."""
        lock = allocate_lock()
        lock.acquire()
        return self.wait_for(lock, clock, due_ns)

    def wait_for(
        self, lock: Any, clock: Clock, due_ns: Optional[int], is_over: Callable[[], bool] = never
    ) -> bool:
        """Wait until a lock is released, or a local instant has come; returns whether it has.

        Args:
            lock: Is held, and is acquired again by the calling thread when it goes on.
            is_over: Whether something else has released the lock. It stays true once the calling
                thread has acquired the lock: others may look until that thread ends the wait.
        """

        def wake() -> None:
            if lock.locked():
                lock.release()

        wait = Wait(clock, due_ns, wake, lambda: not lock.locked() or is_over())
        try:
            if not self.begin(wait):
                lock.acquire()
        finally:
            self.end(wait)
        return wait.is_due

    def wait_in_slices(
        self,
        clock: Clock,
        due_ns: Optional[int],
        has_ended: Callable[[], bool],
        is_over: Callable[[], bool],
    ) -> None:
        """Wait by repeating a call that waits for a moment."""
        wait = Wait(clock, due_ns, never, is_over)
        try:
            self.begin(wait)
            while not wait.is_due and not has_ended():
                if self._program.waits is not self and due_ns is not None:
                    wait.is_due = clock.local_ns() >= due_ns
        finally:
            self.end(wait)

    def wait_for_files(  # noqa: PLR0913, PLR0917 - what a loop waits with
        self,
        clock: Clock,
        due_ns: Optional[int],
        poll: Callable[[Optional[float]], Any],
        files: Files,
        wake: Callable[[], object],
        has_calls: Callable[[], object] = never,
    ) -> Any:
        """Wait as a loop does, until a file is ready, there is a call, or its time has come.

        Args:
            due_ns: The local instant at which it has something to do.
            poll: Waits for the files for a number of seconds, ``None`` for ever.
            wake: Ends the waiting of ``poll``, on any thread.
            has_calls: Whether there is something to call.
        """
        wait = Wait(
            clock,
            due_ns,
            wake,
            # Another thread may have woken the calling one just now, and may wait already.
            lambda: bool(has_calls()) or files.has_events(),
            files.awaited_outside,
            is_idle=True,
        )
        try:
            return poll(0 if self.begin(wait) else None)
        finally:
            self.end(wait)

    # ---------------------------------------------------------------------- goals

    def pursue(self, goal: Goal) -> None:
        """Advance time whenever all wait, until a goal is reached."""
        with self._lock:
            self._goals.append(goal)

    def give_up(self, goal: Goal) -> None:
        """Forget a goal whose test no longer waits for it."""
        with self._lock:
            if goal in self._goals:
                self._goals.remove(goal)

    def _finish(self, goal: Goal) -> None:
        goal.is_finished = True
        self._goals.remove(goal)
        goal.finish()

    # -------------------------------------------------------------------- deciding

    def _check(self) -> None:
        """Find out whether all wait, and if so, take the next step."""
        self._check_again_s = -1.0
        if self._program.waits is not self:
            return
        awaited = self._awaited()
        if awaited is None:
            self._passing_ns = self._late_since_ns = None
            self._check_again_s = min(_FIRST_CHECK_S * 2 ** min(self._checks, 5), _LAST_CHECK_S)
            return
        self._checks = 0
        while not self._go_on(awaited):
            pass

    def _awaited(self) -> Optional[list[str]]:
        """Return what is awaited outside, once all wait; ``None`` while something runs."""
        if threading._limbo:  # type: ignore[attr-defined]
            return None  # A thread is about to begin.
        awaited, others = [], []
        self._in_c.clear()
        for thread, frame in sys._current_frames().items():
            wait = self._waiting.get(thread)
            if wait is None:
                is_idle = self._program.idle_workers.get(frame.f_code, never)
                if self.follows(thread) and not is_idle(frame):
                    others.append((thread, frame))
            elif wait.is_due or wait.is_over():
                return None
        for thread, frame in others:
            if thread in self.returning:
                return None
            # The thread is in no wait of a hook: only the watcher sees whether it waits.
            outside = self._seen_waiting(thread, frame) if get_ident() == self._watcher else None
            if outside is None:
                return None
            awaited.append(outside)
        awaited += [wait.outside() for wait in self._waiting.values()]
        return [outside for outside in awaited if outside]

    def _go_on(self, awaited: list[str]) -> bool:
        """Take the next step; returns whether there is no other to take now."""
        local_ns, first = self._program.own_clock.local_ns(), self._first()
        if first is not None and first[0] <= local_ns and self._is_called(first[2]):
            return True
        due_ns = None if first is None or first[0] <= local_ns else first[0]
        goal = self._goals[-1] if self._goals else None
        if goal is not None:
            goal.look_ahead(due_ns, may_come=bool(awaited))
            if goal.is_over(local_ns):
                self._finish(goal)
                return not self._goals or self._is_awake()
            if goal.until_ns is not None:
                due_ns = goal.until_ns if due_ns is None else min(due_ns, goal.until_ns)
        may_jump = self.is_jumping or goal is not None
        if may_jump and awaited and self.outside != JUMP:
            if self.outside == PASS:
                self._pass(awaited, local_ns, due_ns)
            return True
        if may_jump and due_ns is not None:
            self._let_pass(local_ns, due_ns)
            return False
        if not awaited:
            self._end_stuck_wait()
        return True

    def _is_called(self, wait: Optional[Wait]) -> bool:
        """Wake what is due; returns whether to wait for it to run."""
        if wait is not None:
            self._wake(wait)
            return True
        # A timer of a loop in C, which the jump has woken.
        now_ns = monotonic_ns()
        self._late_since_ns = self._late_since_ns or now_ns
        self._check_again_s = _FIRST_CHECK_S
        return now_ns - self._late_since_ns < _WOKEN_NS

    def _loops_in_c(self) -> list[Clock]:
        if not self._in_c:
            return []
        program, found = self._program, []
        for clock in list(program.clocks.by_number.values()):
            if clock.adapter is not None and not clock.adapter.says_what_it_waits_for:
                frames = program.loops.get(clock.number)
                thread = clock.threads[0] if frames is None else frames.threads[0]
                if thread in self._in_c:
                    found.append(clock)
        return found

    def _first(self) -> Optional[tuple[int, int, Optional[Wait]]]:
        """Return the first due instant, its order, and its wait, which loops in C do not have."""
        first: Optional[tuple[int, int, Optional[Wait]]] = None
        for clock in self._loops_in_c():
            local_ns = self._program.first_due_ns(clock)
            due_ns = (
                None if local_ns is None else clock.due_above(local_ns, self._program.own_clock)
            )
            if due_ns is not None and (first is None or due_ns < first[0]):
                first = due_ns, -1, None
        for wait in self._waiting.values():
            if wait.due_ns is not None:
                due_ns = wait.clock.due_above(wait.due_ns, self._program.own_clock)
                if due_ns is not None and (first is None or (due_ns, wait.order) < first[:2]):
                    first = due_ns, wait.order, wait
        return first

    def _is_awake(self) -> bool:
        return any(wait.is_due or wait.is_over() for wait in self._waiting.values())

    def _wake(self, wait: Wait) -> None:
        wait.is_due = True
        if wait.thread != get_ident():
            # Its thread may end, or wait in a function of C, without saying so.
            self._check_again_s = _FIRST_CHECK_S
            wait.wake()

    def jump(self, local_ns: int) -> None:
        """Let the clock of the program jump to a local instant."""
        program = self._program
        program.clocks.jump(program.own_clock, local_ns, self._skip)
        for clock in list(program.clocks.by_number.values()):
            if clock.adapter is not None and not clock.adapter.says_what_it_waits_for:
                program.guarded(clock.adapter, clock.adapter.changed, clock)

    def _let_pass(self, local_ns: int, until_ns: int) -> None:
        self.jump(until_ns)
        if self.report_passed is not None and until_ns - local_ns >= _TOLD_NS:
            self.report_passed(self._is_idle, until_ns - local_ns)

    def _is_idle(self, thread: int, clock: int) -> bool:
        wait = self._waiting.get(thread)
        has_run = not clock or clock in self._looping
        return not has_run or (wait is not None and wait.is_idle)

    def _pass(self, awaited: list[str], local_ns: int, target_ns: Optional[int]) -> None:
        now_ns, before_ns = monotonic_ns(), self._passing_ns
        self._passing_ns = now_ns
        self._check_again_s = _PASSING_S
        if before_ns is not None:
            passed_ns = now_ns - before_ns
            for name in awaited:
                self.passed_for[name] = self.passed_for.get(name, 0) + passed_ns
            reached_ns = local_ns + passed_ns
            if target_ns is not None:
                reached_ns = min(reached_ns, target_ns)
            self._let_pass(local_ns, reached_ns)
            local_ns = reached_ns
        if target_ns is not None:
            self._check_again_s = min(self._check_again_s, (target_ns - local_ns) / 1e9)

    def _end_stuck_wait(self) -> None:
        wait = self._waiting.get(self._main)
        if self.stuck is None or (wait is not None and wait.error is not None):
            return
        if self._goals:
            goal = self._goals[-1]
            goal.error = NothingDueError(self.stuck())
            self._finish(goal)
        elif wait is not None:
            wait.error = NothingDueError(self.stuck())
            self._wake(wait)
        elif self._main in self._in_c and not self._has_told:
            still_ns = monotonic_ns() - self._still[self._main][1]
            if still_ns < _ALIEN_NS and has_other_threads():
                self._check_again_s = _LAST_CHECK_S
            else:
                self._has_told = self._end_in_c(NothingDueError(self.stuck()))

    def _end_in_c(self, error: NothingDueError) -> bool:
        """End what the main thread waits for in C; returns whether that is possible."""
        for clock in self._loops_in_c():
            adapter: Any = clock.adapter
            if clock.threads[0] == self._main:
                self.deliver(error, lambda: None)
                return bool(self._program.guarded(adapter, adapter.end_loop, clock))
        if self._in_c[self._main]:
            self.interrupt(error)
        return self._in_c[self._main]

    def was_read_often(self) -> None:
        """A clock was read :data:`MOST_READINGS` times without a wait: let some time pass.

        Called with the lock of the clocks held.
        """
        if not self.is_jumping or self._is_creeping:
            return
        if self._program.waits is not self or not self._lock.acquire(blocking=False):
            return
        self._is_creeping = True
        try:
            own_clock = self._program.own_clock
            local_ns, first = own_clock.local_ns(), self._first()
            if first is not None and first[0] <= local_ns:
                if first[2] is not None and not first[2].is_due:
                    self._wake(first[2])
            else:
                next_ns = local_ns + _PER_READING_NS
                self.jump(next_ns if first is None else min(next_ns, first[0]))
        finally:
            self._is_creeping = False
            self._lock.release()

    # -------------------------------------------------------------- other threads

    def _watch(self) -> None:
        while True:
            self._signal.acquire(True, self._check_again_s)
            with self._lock:
                if self._watcher != get_ident():
                    return
                is_virtual = self._program.waits is self
                if is_virtual:
                    self._checks += 1
                    self._check()
                else:
                    self._check_again_s = -1.0 if self.sample is None else self.sample()
                self._is_watching = self._check_again_s >= 0
                if not self._is_watching:
                    self._checks = 0
                    if is_virtual:
                        self._check_again_s = _LAST_CHECK_S
                    else:
                        self._still.clear()

    def _hurry(self) -> None:
        """Make the watching thread look soon."""
        if not self._is_watching:
            self._is_watching = True
            if self._signal.locked():
                self._signal.release()

    def _seen_waiting(self, thread: int, frame: FrameType) -> Optional[str]:
        """Return what a thread awaits outside, empty for a lock; ``None`` if it runs."""
        known = threading._active.get(thread)  # type: ignore[attr-defined]
        native = None if known is None else known.native_id
        key = id(frame), frame.f_lasti, processor_ns(thread)
        before, since_ns = self._still.get(thread, (None, 0))
        now_ns = monotonic_ns()
        if key != before:
            self._still[thread] = key, now_ns
            return None
        if now_ns - since_ns < _STILL_NS:
            return None
        call, file, is_limited = system_call(native)
        if call == "running":
            return None
        self._in_c[thread] = not is_limited
        if any(clock.threads[0] == thread for clock in self._loops_in_c()):
            return awaited_by_loop(frame, call, file)
        outside = awaited_by_call(frame, call, file, is_limited=is_limited)
        if now_ns - since_ns >= _NOTED_NS and is_timed(call, is_limited=is_limited):
            self.note(frame)
        return outside
