"""uvloop: the timers that a program sets on its loops while an inspector is attached.

libuv's own time is out of reach, so each timer is set for the real time that is left, and set
again when the clock changes; the loop's ``time`` is local time.
"""

from __future__ import annotations

import asyncio
import sys
from functools import wraps
from typing import TYPE_CHECKING, Any, Callable, Optional
from weakref import WeakKeyDictionary, ref

from ..clocks import whole_ns
from . import Adapter
from .asyncio_names import TimerNames
from .trio_uvloop_sleeps import Sleeps

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType, ModuleType

    from ..clocks import Clock
    from ..program import Program, Timer

_NS = 1_000_000_000


class UvloopAdapter(Adapter):
    """One clock for each loop."""

    library = "uvloop"
    hides: tuple[str, ...] = ("uvloop", "asyncio")
    reads_anywhere = True
    has_hidden_turns = True
    is_loop_in_c = True

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._loops: WeakKeyDictionary[Any, _Loop] = WeakKeyDictionary()

    def installed(self, module: ModuleType) -> None:
        loop_class: Any = module.Loop
        adapter, program = self, self.program
        native_time, native_later = loop_class.time, loop_class.call_later
        close, run_forever = loop_class.close, loop_class.run_forever
        self.native_time, self.native_later = native_time, native_later

        @wraps(native_time)
        def time(loop: Any) -> float:
            known = adapter.found(loop)
            return float(native_time(loop)) if known is None else known.time_s()

        @wraps(native_later)
        def call_later(
            loop: Any,
            delay: float,
            callback: Callable[..., object],
            *args: Any,
            context: Any = None,
        ) -> Any:
            known = adapter.found(loop)
            if known is None or program.emit is None or delay <= 0:
                return native_later(loop, delay, callback, *args, context=context)
            return known.call_in(delay, callback, args, context)

        @wraps(loop_class.call_at)
        def call_at(
            loop: Any, when: float, callback: Callable[..., object], *args: Any, context: Any = None
        ) -> Any:
            return call_later(loop, when - time(loop), callback, *args, context=context)

        @wraps(run_forever)
        def loop_run_forever(loop: Any) -> Any:
            adapter.found(loop)
            return run_forever(loop)

        @wraps(close)
        def loop_close(loop: Any) -> Any:
            known = adapter._loops.pop(loop, None)
            if known is not None:
                program.remove_clock(known.clock)
            return close(loop)

        self.names = TimerNames(program, sys.modules["asyncio.base_events"])
        following: Any = loop_run_forever
        self.names.callers.add(following.__code__)
        loop_class.time, loop_class.call_later, loop_class.call_at = time, call_later, call_at
        loop_class.run_forever, loop_class.close = loop_run_forever, loop_close
        if getattr(asyncio, "_get_running_loop", lambda: None)() is not None:
            self.message = "Timers that were set before the probe came are not seen and not held."

    def found(self, loop: Any) -> Optional[_Loop]:
        """Return what follows a loop; None once the adapter has failed."""
        known = self._loops.get(loop)
        if known is None and self.state != "failed":
            number = len(self._loops) + 1
            name = "uvloop" if number == 1 else f"uvloop loop {number}"
            known = self._loops[loop] = _Loop(self, loop, self.program.clock(name, adapter=self))
        return known

    def _loop_of(self, clock: Clock) -> Optional[_Loop]:
        return next((loop for loop in list(self._loops.values()) if loop.clock is clock), None)

    def idle_loops(self) -> list[Any]:
        known = [(loop, known.clock) for loop, known in list(self._loops.items())]
        return [
            loop
            for loop, clock in known
            if not loop.is_running() and self.program.first_due_ns(clock) is not None
        ]

    def running_task(self, clock: Clock) -> Optional[tuple[str, object]]:
        known = self._loop_of(clock)
        task: Any = None if known is None else asyncio.current_task(known.loop())
        if task is None:
            return None
        return getattr(task.get_coro(), "__qualname__", task.get_name()), id(task)

    def task_loops(self) -> list[tuple[Clock, Any]]:
        return [(known.clock, loop) for loop, known in list(self._loops.items())]

    def changed(self, clock: Clock) -> None:
        known = self._loop_of(clock)
        if known is not None:
            self.call_soon(clock, known.set_again)

    def end_loop(self, clock: Clock) -> bool:
        known = self._loop_of(clock)
        loop = None if known is None else known.loop()
        if loop is None or not loop.is_running():
            return False
        loop.call_soon_threadsafe(loop.stop)
        return True

    def call_soon(self, clock: Clock, call: Callable[[], None]) -> None:
        known = self._loop_of(clock)
        loop = None if known is None else known.loop()
        if loop is None or not loop.is_running():
            call()
        else:
            loop.call_soon_threadsafe(call)

    def keyframe(self, clock: Clock) -> Iterator[None]:
        known = self._loop_of(clock)
        for handle in list(known.pending.values()) if known else ():
            if handle.shown is None and not handle.cancelled():
                handle.report(None)
            yield

    def released(self) -> None:
        for known in list(self._loops.values()):
            known.sleeps.forget()
            for handle in list(known.pending.values()):
                handle.shown = None

    def clear_timer(self, clock: Clock, timer: Timer, cause: int) -> None:
        def clear() -> None:
            handle = timer.handle
            if handle.shown is timer:
                handle.shown = None
                timer.cleared(cause=cause)
                handle.cancel()
            elif handle.following.sleeps.is_woken(timer):
                # Its task is about to sleep again, or is not.
                self.program.guarded(self, handle._loop.call_soon, clear)

        self.call_soon(clock, clear)


class _Loop:
    def __init__(self, adapter: UvloopAdapter, loop: Any, clock: Clock) -> None:
        self.adapter = adapter
        self.loop: Callable[[], Any] = ref(loop)
        self.clock = clock
        self.pending: dict[int, _Handle] = {}  # The timers that wait, by identity
        self.sleeps = Sleeps(adapter.program, clock)  # The sleeps of its tasks
        self.base_s = float(adapter.native_time(loop)) - clock.local_ns() / _NS

    def time_s(self) -> float:
        return self.base_s + self.clock.local_ns() / _NS

    def call_in(
        self, delay: float, callback: Callable[..., object], args: Any, context: Any
    ) -> _Handle:
        handle = _Handle(self, delay, callback, args, context)
        self.pending[id(handle)] = handle
        self.set(handle)
        self.adapter.program.guarded(self.adapter, handle.report, sys._getframe(1))
        return handle

    def set(self, handle: _Handle) -> None:
        """Have libuv call a timer in the real time that is left."""
        real_ns = self.clock.real_ns_until(handle.due_ns)
        if real_ns is not None:
            later = self.adapter.native_later
            handle.native = later(self.loop(), max(real_ns / _NS, 0.001), handle.reached)

    def set_again(self) -> None:
        """Set all timers again, because the clock has changed."""
        for handle in list(self.pending.values()):
            if handle.native is not None:
                handle.native.cancel()
                handle.native = None
            self.set(handle)


class _Handle(asyncio.TimerHandle):
    """A timer of the program, with libuv's timer that serves it."""

    __slots__ = ("asked_ns", "due_ns", "following", "native", "shown")

    def __init__(
        self,
        following: _Loop,
        delay: float,
        callback: Callable[..., object],
        args: Any,
        context: Any,
    ) -> None:
        loop = following.loop()
        super().__init__(following.time_s() + delay, callback, args, loop, context)
        self.following = following
        self.asked_ns = whole_ns(delay)
        self.due_ns = following.clock.local_ns() + self.asked_ns
        self.native: Any = None
        self.shown: Optional[Timer] = None

    def report(self, frame: Optional[FrameType]) -> None:
        """Describe the timer, which was set by a frame if that is known."""
        following: Any = self.following
        adapter = following.adapter
        program = adapter.program
        task = None
        if frame is None:
            described = adapter.names.pending_name_and_site(self)
        else:
            described = adapter.names.name_and_site(self, frame)
            handle: Any = self
            if handle._callback is adapter.names.sleep_callback:
                task = adapter.names.current_task(handle._loop)
        if task is None:
            self.shown = program.timer(following.clock, *described, self.due_ns, handle=self)
        else:
            while frame is not None and program.is_hidden(frame):
                frame = frame.f_back
            sleeps, asked_ns = following.sleeps, self.asked_ns
            self.shown = sleeps.set(task, frame, described, self.due_ns, asked_ns, self)
        if id(self) not in following.pending:
            # Its thread, which was busy, has changed it meanwhile.
            self.shown.cleared()

    def reached(self) -> None:
        """Called by libuv: call what is due, or wait for the rest."""
        self.native = None
        following = self.following
        local_ns = following.clock.local_ns()
        if local_ns < self.due_ns:
            following.set(self)
            return
        following.pending.pop(id(self), None)
        if self.shown is not None:
            shown, self.shown = self.shown, None
            if following.sleeps.woke(shown):
                # After the next step of the task, in which it may sleep again.
                self._run()
                following.loop().call_soon(following.sleeps.settle, shown)
                return
        self._run()

    def cancel(self) -> None:
        following = self.following
        if following.pending.pop(id(self), None) is not None:
            if self.native is not None:
                self.native.cancel()
                self.native = None
            if self.shown is not None:
                shown, self.shown = self.shown, None
                shown.cleared(following.adapter.program.call_site())
        asyncio.Handle.cancel(self)
