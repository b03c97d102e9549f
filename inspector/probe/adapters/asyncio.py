"""asyncio: one clock for each event loop, its timers, and its turns as frames.

``time`` and the selector's ``select`` are replaced on the loop itself once an inspector attaches:
both are needed, because a loop sleeps as long as the difference of two readings of ``time``. They
stay afterwards, since the loop's time may lag behind the machine's from then on. Timers are
followed by giving their handles a class with two more methods.
"""

from __future__ import annotations

import gc
import re
import sys
from functools import partial, wraps
from threading import enumerate as enumerate_threads
from threading import get_ident, main_thread
from weakref import WeakKeyDictionary, finalize, ref

from ..clocks import whole_ns
from ..cost import MEASURED_CALLS, copied, took_ns
from ..kinds import FRAME_BEGAN, TIMER_ADDED, TIMER_CLEARED, TIMER_FIRED
from ..program import name_of
from . import Adapter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Any, Callable, Optional

    from ..clocks import Clock
    from ..program import Program, Timer
    from . import Capability

#: Timers described between two looks at the time.
_PER_SLICE_STEP = 8
#: Less is the time between two readings.
_LEAST_LAG_S = 1e-3
#: What callbacks of asyncio are for, in the words of its users.
_PURPOSES = {
    "_set_result_unless_cancelled": "sleep",
    "_release_waiter": "wait_for",
    "Timeout._on_timeout": "timeout",
    "_SelectorSocketTransport._on_timeout": "timeout",
}
_NUMBERED_TASK = re.compile(r"Task-\d+")


class AsyncioAdapter(Adapter):
    """The event loops of the program that derive from asyncio's own."""

    library = "asyncio"
    hides: tuple[str, ...] = ("asyncio", "selectors")
    reads_anywhere = True
    waits_for_events = True

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._loops: WeakKeyDictionary[Any, LoopHooks] = WeakKeyDictionary()
        self._by_clock: dict[int, LoopHooks] = {}

    def installed(self, module: ModuleType) -> None:
        self._learn(module)
        base = self._base_module.BaseEventLoop
        run_forever, close = base.run_forever, base.close

        @wraps(run_forever)
        def following_run_forever(loop: Any) -> Any:
            self.program.guarded(self, self.found, loop)
            return run_forever(loop)

        @wraps(close)
        def following_close(loop: Any) -> Any:
            self.program.guarded(self, self.closed, loop)
            return close(loop)

        base.run_forever, base.close = following_run_forever, following_close
        if not getattr(module.__spec__, "_initializing", False):
            # It was imported before: a loop may be running already.
            for found in gc.get_objects():
                if issubclass(type(found), base) and not found.is_closed():
                    self.found(found)

    def _learn(self, module: ModuleType) -> None:
        """Read what is needed of asyncio; better to know now than in the middle of a turn."""
        self._base_module: Any = module
        self._current_task = self._base_module.tasks.current_task
        self._handle_type = self._base_module.events.TimerHandle
        self._native_time = self._base_module.BaseEventLoop.time
        for name in ("call_at", "call_soon_threadsafe", "_run_once", "run_forever", "close"):
            getattr(self._base_module.BaseEventLoop, name)

    def found(self, loop: Any) -> None:
        """A loop is about to run, or was found running."""
        if loop in self._loops or self.state == "failed":
            return
        program = self.program
        hooks = LoopHooks(self, loop, _loop_name(loop))
        self._loops[loop] = hooks
        self._by_clock[hooks.clock.number] = hooks
        finalize(loop, self._gone, hooks.clock).atexit = False
        if program.emit is not None:
            hooks.install()
            for _ in hooks.described():
                pass

    def closed(self, loop: Any) -> None:
        """A loop is closed: its timers are gone."""
        hooks = self._loops.pop(loop, None)
        if hooks is not None:
            hooks.timers.clear()
            self._gone(hooks.clock)

    def _gone(self, clock: Clock) -> None:
        self._by_clock.pop(clock.number, None)
        self.program.remove_clock(clock)

    def attached(self) -> None:
        for hooks in list(self._loops.values()):
            hooks.timers.clear()
            hooks.install()

    def released(self) -> None:
        for hooks in list(self._loops.values()):
            hooks.timers.clear()

    def forked(self) -> None:
        for loop in list(self._loops):
            # It has run on a thread that is not here: it would never answer.
            if loop._thread_id not in (None, get_ident()):
                self.closed(loop)

    def call_soon(self, clock: Clock, call: Callable[[], None]) -> None:
        hooks = self._by_clock.get(clock.number)
        loop = None if hooks is None else hooks.loop()
        if loop is not None and loop.is_running():
            loop.call_soon_threadsafe(call)
        else:
            call()

    def keyframe(self, clock: Clock) -> Iterator[None]:
        hooks = self._by_clock.get(clock.number)
        return iter(()) if hooks is None else hooks.described()

    def capabilities(self, clock: Clock) -> dict[str, Capability]:
        hooks = self._by_clock.get(clock.number)
        if hooks is not None and hooks.refusal:
            return dict.fromkeys(("pause", "rate", "step_timer", "step_time"), hooks.refusal)
        return {}

    def running_task(self, clock: Clock) -> Optional[tuple[str, object]]:
        hooks = self._by_clock.get(clock.number)
        task = None if hooks is None else self._current_task(hooks.loop())
        return None if task is None else (_task_name(task), id(task))

    def changed(self, clock: Clock) -> None:
        hooks = self._by_clock.get(clock.number)
        loop = None if hooks is None else hooks.loop()
        if loop is not None and not loop.is_closed():
            # It sleeps for as long as was right before.
            loop._write_to_self()

    def clear_timer(self, clock: Clock, timer: Timer, cause: int) -> None:
        hooks = self._by_clock.get(clock.number)
        loop = None if hooks is None else hooks.loop()

        def clear() -> None:
            for handle in () if loop is None else list(loop._scheduled):
                if hooks is not None and hooks.timers.get(id(handle)) == timer.number:
                    del hooks.timers[id(handle)]
                    timer.cleared(0, cause)
                    handle.cancel()

        if loop is not None:
            loop.call_soon_threadsafe(clear)

    def costs(self) -> dict[int, float]:
        if not self._loops:
            # The library may still be loading, on another thread.
            return {}
        twin = AsyncioAdapter(copied(self.program))
        twin._learn(self._base_module)
        # Not new_event_loop(), which may make one of another library.
        make = sys.modules["asyncio"].SelectorEventLoop
        loop, plain = make(), make()
        hooks = LoopHooks(twin, loop, "measured")
        hooks.install()
        try:
            return _measured_costs(loop, plain)
        finally:
            loop.close()
            plain.close()

    # ------------------------------------------------------------------- for hooks

    def name_and_site(self, loop: Any, handle: Any) -> tuple[str, int]:
        """Return the name of a timer that is being set, and its call site."""
        name = name_of(handle._callback)
        purpose = _PURPOSES.get(name)
        if purpose is not None:
            task = self._current_task(loop)
            name = purpose if task is None else f"{purpose} in {_task_name(task)}"
        return name, self.program.call_site(3)

    def pending_name_and_site(self, handle: Any) -> tuple[str, int]:
        """Return the name of a timer that was set earlier, and where its task waits."""
        callback, args = handle._callback, handle._args or ()
        name = name_of(callback)
        purpose = _PURPOSES.get(name)
        awaited = args[0] if args and purpose is not None else None
        for each in getattr(awaited, "_callbacks", None) or ():
            task: Any = getattr(each[0], "__self__", None)
            if hasattr(task, "get_coro"):
                return f"{purpose} in {_task_name(task)}", self._waiting_site(task.get_coro())
        code = getattr(callback, "__code__", None) or getattr(
            getattr(callback, "__func__", None), "__code__", None
        )
        if code is None or purpose is not None:
            return purpose or name, 0
        return name, self.program.code_site(code, code.co_firstlineno)

    def _waiting_site(self, coroutine: Any) -> int:
        """Return the innermost place in the program's own code at which a coroutine waits."""
        site = 0
        while coroutine is not None:
            frame = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "gi_frame", None)
            if frame is None:
                break
            if not self.program.is_hidden(frame):
                site = self.program.code_site(frame.f_code, frame.f_lineno)
            coroutine = getattr(coroutine, "cr_await", None)
        return site


class LoopHooks:
    """One loop.

    Attributes:
        clock: Its clock.
        timers: Numbers of its timers by the identity of their handles, while an inspector is
            attached.
        refusal: Why its time cannot be controlled, empty if it can.
    """

    def __init__(self, adapter: AsyncioAdapter, loop: Any, name: str) -> None:
        self.loop: Callable[[], Any] = ref(loop)
        self.clock = adapter.program.clock(name, adapter=adapter)
        self.timers: dict[int, int] = {}
        self.refusal = ""
        self._adapter = adapter
        self._is_installed = False
        # Time as the loop reads it is the clock's local time plus this.
        self._base_ns = adapter.program.base_ns

    def install(self) -> None:
        """Put the hooks on the loop, once."""
        loop = self.loop()
        if self._is_installed or loop is None:
            return
        self._is_installed = True
        self._handle_type = self._seen_handle_type()
        self._follow_timers(loop)
        if type(loop).time is not self._adapter._native_time or "time" in vars(loop):
            self.refusal = "This event loop has a time of its own."
            self._base_ns = round(loop.time() * 1e9) - self.clock.local_ns()
            return
        self._replace_time(loop)
        self._replace_select(loop)

    def _replace_time(self, loop: Any) -> None:
        local_ns, base_ns = self.clock.local_ns, self._base_ns

        def time() -> float:
            """Return the time of the event loop in seconds."""
            return (local_ns() + base_ns) / 1e9

        # Timers that were set by the machine's time keep what is left of them.
        lag_s = time() - loop.time()
        if abs(lag_s) > _LEAST_LAG_S:
            for handle in loop._scheduled:
                handle._when += lag_s
        loop.time = time

    def _replace_select(self, loop: Any) -> None:
        program, clock = self._adapter.program, self.clock
        selector = loop._selector
        select = selector.select

        def following_select(timeout: Optional[float] = None) -> Any:
            if program.emit is None:
                # Nothing is held or slowed.
                return select(timeout)
            program.frame_ended(clock)
            if timeout and not clock.is_plain and timeout > 0:
                wait_ns = clock.real_ns_until(clock.local_ns() + whole_ns(timeout))
                timeout = None if wait_ns is None else wait_ns / 1e9
            ready = select(timeout)
            if program.emit is not None:
                program.frame_began(clock)
            return ready

        selector.select = following_select

    def _follow_timers(self, loop: Any) -> None:
        program, call_at = self._adapter.program, loop.call_at

        @wraps(call_at)
        def following_call_at(
            when: float, callback: Callable[..., object], *args: Any, context: Any = None
        ) -> Any:
            handle = call_at(when, callback, *args, context=context)
            if program.emit is not None:
                self._set(handle)
            return handle

        loop.call_at = following_call_at

    def _set(self, handle: Any) -> None:
        adapter = self._adapter
        loop = self.loop()
        if type(handle) is adapter._handle_type and loop is not None:
            name, site = adapter.name_and_site(loop, handle)
            self._describe(handle, name, site)

    def _describe(self, handle: Any, name: str, site: int) -> None:
        due_ns = whole_ns(handle._when) - self._base_ns
        handle.__class__ = self._handle_type
        # The loop has the handle until it fires or is cancelled, so its identity stays its own.
        number = self._adapter.program.pending_timer(self.clock, name, site, due_ns)
        self.timers[id(handle)] = number

    def described(self) -> Iterator[None]:
        """Describe the pending timers of the loop, on its thread or while that is busy."""
        loop = self.loop()
        adapter, types = self._adapter, (self._adapter._handle_type, self._handle_type)
        if loop is None:
            return
        for place, handle in enumerate(list(loop._scheduled)):
            is_pending = handle._scheduled and not handle._cancelled
            if is_pending and type(handle) in types and id(handle) not in self.timers:
                self._describe(handle, *adapter.pending_name_and_site(handle))
                if not handle._scheduled or handle._cancelled:
                    # Its thread, which was busy, has gone on meanwhile.
                    number = self.timers.pop(id(handle), 0)
                    if number:
                        adapter.program.cleared(number)
            if place % _PER_SLICE_STEP == 0:
                yield

    def _seen_handle_type(self) -> Any:
        """Return the class of handles that are followed."""
        program, clock, timers = self._adapter.program, self.clock, self.timers
        handle_type: Any = self._adapter._handle_type
        run, cancel = handle_type._run, handle_type.cancel

        class TimerHandle(handle_type):  # type: ignore[misc] # known when asyncio is
            """A timer that is followed."""

            __slots__ = ()

            def _run(self) -> Any:
                if program.emit is not None:
                    number = timers.pop(id(self), None)
                    if number is not None:
                        program.fired(number, clock.local_ns() - program.due_ns(number))
                return run(self)

            def cancel(self) -> Any:
                if program.emit is not None:
                    number = timers.pop(id(self), None)
                    if number is not None:
                        program.cleared(number, program.call_site())
                return cancel(self)

        return TimerHandle


def _measured_costs(loop: Any, plain: Any) -> dict[int, float]:
    """Return what the hooks of a loop add to one without, by the kind of the event."""

    def callback(*_: object) -> None:
        pass

    def added_ns(use: Callable[[Any], Callable[[], object]]) -> float:
        return max(took_ns(use(loop)) - took_ns(use(plain)), 0.0)

    def setting(each: Any) -> Callable[[], object]:
        return partial(each.call_later, 1_000, callback)

    def using(name: str) -> Callable[[Any], Callable[[], object]]:
        def use(each: Any) -> Callable[[], object]:
            handles = iter([each.call_later(1_000, callback) for _ in range(MEASURED_CALLS)])
            return lambda: getattr(next(handles), name)()  # noqa: PLW0108 - another each time

        return use

    set_ns, run_ns, cancel_ns = (
        added_ns(setting),
        added_ns(using("_run")),
        added_ns(using("cancel")),
    )
    turn_ns = added_ns(lambda each: partial(each._selector.select, 0))
    time_ns = added_ns(lambda each: each.time)
    return {
        TIMER_ADDED: set_ns,
        TIMER_FIRED: run_ns,
        TIMER_CLEARED: cancel_ns,
        # A turn with a timer reads the time about three times.
        FRAME_BEGAN: turn_ns + 3 * time_ns,
    }


def _loop_name(loop: Any) -> str:
    """Return the name of a loop, with that of its thread unless it is the main thread."""
    number = getattr(loop, "_thread_id", None) or get_ident()
    names = {thread.ident: thread.name for thread in enumerate_threads()}
    name = names.get(number, "")
    is_main = number == main_thread().ident or not name
    return "asyncio loop" if is_main else f"asyncio loop ({name})"


def _task_name(task: Any) -> str:
    """Return what a task does, with the name it was given, if any.

    The numbers that asyncio gives would make every timer of a server a text of its own.
    """
    coroutine = task.get_coro()
    name = str(getattr(coroutine, "__qualname__", type(coroutine).__qualname__))
    given = task.get_name()
    return name if _NUMBERED_TASK.fullmatch(given) else f"{name} ({given})"
