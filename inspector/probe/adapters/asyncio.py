"""asyncio: one clock for each event loop, its timers, and its turns as frames.

``time`` and the selector's ``select`` are replaced on the loop itself once an inspector attaches:
both are needed, because a loop sleeps as long as the difference of two readings of ``time``. They
stay afterwards, since the loop's time may lag behind the machine's from then on. Timers are
followed by giving their handles a class with two more methods.
"""

from __future__ import annotations

import gc
import sys
from collections import deque
from functools import wraps
from heapq import heappush
from math import ceil
from threading import get_ident
from weakref import WeakKeyDictionary, finalize, ref

from ..bootstrap.import_hook import when_imported
from ..clocks import InTurn, whole_ns
from ..cost import copied
from ..kinds import INTERVAL_DELAY, TIMEOUT, TIMER_ARMED
from . import Adapter
from .asyncio_cost import MOST_LEFT_OUT, measured_costs
from .asyncio_handles import Sleeper, followed_handle_type, quick_handle_type
from .asyncio_names import TimerNames, loop_name, periodic_of_tornado

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType, ModuleType
    from typing import Any, Callable, Optional, Union

    from ..awaited import Files
    from ..clocks import Clock
    from ..program import Program, Timer
    from ..waits import Waits
    from . import Capability

#: Timers described between two readings of the time.
_PER_SLICE_STEP = 8
#: A smaller lag is the time between two readings.
_LEAST_LAG_S = 1e-3
#: If hooks cost more than the first share of a processor, short waits of fewer tasks are followed,
#: so that they cost the second; if less than the third, those of more tasks.
_MOST_SHARE, _WANTED_SHARE, _LEAST_SHARE = 0.12, 0.06, 0.015
_SHORT_S = 1.0
_THINNED = (
    "Very many timers: of the tasks that wait for less than a second, 1 in {} is followed, "
    "so that the program keeps its speed."
)
#: Identities of tasks are evenly spaced: their remainders would all be the same. The last bits of
#: their products with this number are spread evenly.
_SPREAD, _SPREAD_BITS = 586_682_221, 2**34 - 1
#: Most sleeps whose names are kept.
_MOST_KNOWN = 10_000
#: Seconds whose nanoseconds need not be limited.
_NEAR_S = 1e9


class AsyncioAdapter(Adapter):
    """The event loops of the program that derive from asyncio's own."""

    library = "asyncio"
    hides: tuple[str, ...] = ("asyncio", "selectors")
    reads_anywhere = True
    waits_for_events = True
    says_what_it_waits_for = True

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._loops: WeakKeyDictionary[Any, LoopHooks] = WeakKeyDictionary()
        #: Loops that the program has made, and on which thread.
        self._made: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._by_clock: dict[int, LoopHooks] = {}
        self._one_of = 1

    def installed(self, module: ModuleType) -> None:
        self.learn(module)
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
        when_imported("asyncio.selector_events", self._follow_making)
        if not getattr(module.__spec__, "_initializing", False):
            # It was imported before: a loop may be running already.
            for found in gc.get_objects():
                if issubclass(type(found), base) and not found.is_closed():
                    self.found(found)

    def _follow_making(self, module: Any) -> None:
        base, program = module.BaseSelectorEventLoop, self.program
        init = base.__init__

        @wraps(init)
        def following_init(loop: Any, *args: Any, **kwargs: Any) -> None:
            init(loop, *args, **kwargs)
            self._made[loop] = get_ident()
            if program.waits is not None:
                # Calls that are set before it runs are due by virtual time, too.
                program.guarded(self, self.found, loop)

        base.__init__ = following_init

    def learn(self, module: ModuleType) -> None:
        """Read what is needed of asyncio, to fail now rather than in the middle of a turn."""
        self._base_module: Any = module
        self.names = TimerNames(self.program, self._base_module)
        self._handle_type = self._base_module.events.TimerHandle
        self.native_call_at = self._base_module.BaseEventLoop.call_at
        self.native_call_later = self._base_module.BaseEventLoop.call_later
        self._native_time = self._base_module.BaseEventLoop.time
        for name in ("call_soon_threadsafe", "_run_once", "run_forever", "close"):
            getattr(self._base_module.BaseEventLoop, name)

    def found(self, loop: Any) -> None:
        """A loop is about to run, or was found running."""
        if loop in self._loops or self.state == "failed":
            return
        program = self.program
        hooks = LoopHooks(self, loop, loop_name(loop))
        hooks.thin_out(self._one_of)
        self._loops[loop] = hooks
        self._by_clock[hooks.clock.number] = hooks
        finalize(loop, self._gone, hooks.clock).atexit = False
        if program.emit is not None:
            hooks.install()
            for _ in hooks.described():
                pass

    def idle_loops(self) -> list[Any]:
        return [
            loop
            for loop, thread in list(self._made.items())
            if thread == get_ident()
            and not loop.is_running()
            and not loop.is_closed()
            and (loop._scheduled or loop._ready)
        ]

    def closed(self, loop: Any) -> None:
        hooks = self._loops.pop(loop, None)
        if hooks is not None:
            hooks.forget_timers()
            self._gone(hooks.clock)

    def _gone(self, clock: Clock) -> None:
        self._by_clock.pop(clock.number, None)
        self.program.remove_clock(clock)

    def attached(self) -> None:
        self._one_of, self.message = 1, ""
        for hooks in list(self._loops.values()):
            hooks.forget_timers()
            hooks.thin_out(1)
            hooks.install()

    def released(self) -> None:
        for hooks in list(self._loops.values()):
            hooks.forget_timers()

    def forked(self) -> None:
        for loop in list(self._loops):
            # It has run on a thread that the child does not have, so it would never answer.
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
        task = None if hooks is None else self.names.current_task(hooks.loop())
        return None if task is None else (self.names.task_name(task, None), id(task))

    def task_loops(self) -> list[tuple[Clock, Any]]:
        return [(hooks.clock, loop) for loop, hooks in list(self._loops.items())]

    def changed(self, clock: Clock) -> None:
        hooks = self._by_clock.get(clock.number)
        loop = None if hooks is None else hooks.loop()
        if loop is not None and not loop.is_closed():
            # Wake it, as it sleeps for as long as was right before.
            loop._write_to_self()

    def clear_timer(self, clock: Clock, timer: Timer, cause: int) -> None:
        hooks = self._by_clock.get(clock.number)
        loop = None if hooks is None else hooks.loop()

        def clear() -> None:
            for handle in () if loop is None else list(loop._scheduled):
                if hooks is not None and hooks.number_of(handle) == timer.number:
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
        twin.learn(self._base_module)
        # Not new_event_loop(), which may make one of another library.
        make = sys.modules["asyncio"].SelectorEventLoop
        loop, plain = make(), make()
        hooks = LoopHooks(twin, loop, "measured")
        hooks.install()
        try:
            return measured_costs(hooks.thin_out, loop, plain, self._one_of)
        finally:
            loop.close()
            plain.close()

    def thin_out(self, share: float) -> None:
        before = self._one_of
        if share > _MOST_SHARE:
            self._one_of = min(ceil(before * share / _WANTED_SHARE), MOST_LEFT_OUT)
        elif share < _LEAST_SHARE:
            self._one_of = max(before // 2, 1)
        if self._one_of == before:
            return
        for hooks in list(self._loops.values()):
            hooks.thin_out(self._one_of)
        self.message = "" if self._one_of == 1 else _THINNED.format(self._one_of)
        self.cost_version += 1
        self.program.mention_change()


class LoopHooks:
    """One loop.

    Attributes:
        clock: Its clock.
        timers: Numbers of its timers, or the tasks that sleep by them, by the identity of their
            handles, while an inspector is attached.
        sleepers: The tasks that have slept, by their identity.
        thinned_below_s: Of waits shorter than this, only those of one in ``one_of`` tasks are
            followed, as all would cost the program too much.
        share: The spread identities of the tasks that are followed do not exceed this.
        refusal: Why its time cannot be controlled, empty if it can.
    """

    def __init__(self, adapter: AsyncioAdapter, loop: Any, name: str) -> None:
        self.loop: Callable[[], Any] = ref(loop)
        self.clock = adapter.program.clock(name, adapter=adapter)
        self.timers: dict[int, Union[int, Sleeper]] = {}
        self.sleepers: dict[int, Sleeper] = {}
        self.refusal = ""
        self._files: Optional[Files] = None
        self._adapter = adapter
        self.thin_out(1)
        self._is_installed = False
        self._known: dict[tuple[tuple[int, int], str, str], tuple[str, int]] = {}
        self._woken: list[Sleeper] = []
        self._settling: list[Sleeper] = []
        # Time as the loop reads it is the clock's local time plus this.
        self._base_ns = adapter.program.base_ns

    def install(self) -> None:
        loop = self.loop()
        if self._is_installed or loop is None:
            return
        self._is_installed = True
        self._quick_type = quick_handle_type(self._adapter._handle_type)
        self._handle_type = followed_handle_type(
            self._adapter._handle_type,
            self._quick_type,
            self._adapter.program,
            self.clock,
            self.timers,
            self._woken.append,
        )
        self._follow_timers(loop)
        if type(loop).time is not self._adapter._native_time or "time" in vars(loop):
            self.refusal = "This event loop has a time of its own."
            self._base_ns = round(loop.time() * 1e9) - self.clock.local_ns()
            return
        self._replace_time(loop)
        self._replace_select(loop)

    def _replace_time(self, loop: Any) -> None:
        time = self.clock.reader_s(self._base_ns)
        self.clock.before_first_change = self._read_local_time
        # Timers that were set by the machine's time keep what is left of them.
        lag_s = time() - loop.time()
        if abs(lag_s) > _LEAST_LAG_S:
            for handle in loop._scheduled:
                handle._when += lag_s
        loop.time = time

    def _read_local_time(self) -> None:
        loop = self.loop()
        if loop is not None:
            loop.time = self.clock.reader_s(self._base_ns)

    def _replace_select(self, loop: Any) -> None:
        program, clock = self._adapter.program, self.clock
        selector = loop._selector
        select = selector.select

        def following_select(timeout: Optional[float] = None) -> Any:
            if program.emit is None:
                # Nothing is held or slowed.
                return select(timeout)
            program.frame_ended(clock)
            if self._settling or self._woken:
                self.settle()
            if self.one_of > 1 and clock.is_held:
                # A step may go to any timer, so all have to be known.
                deque(self.described(), maxlen=0)
            waits = program.waits
            if waits is not None and (timeout is None or timeout > 0) and not waits.spares_me:
                ready = self._wait_in_turn(waits, select, has_due=timeout is not None)
                program.frame_began(clock)
                return ready
            if timeout and not clock.is_plain and timeout > 0 and waits is None:
                wait_ns = clock.real_ns_until(clock.local_ns() + whole_ns(timeout))
                timeout = None if wait_ns is None else wait_ns / 1e9
            ready = select(timeout)
            if program.emit is not None:
                program.frame_began(clock)
            return ready

        selector.select = following_select

    def _wait_in_turn(self, waits: Waits, select: Any, *, has_due: bool) -> Any:
        loop = self.loop()
        due_ns = None
        if has_due and loop._scheduled:
            when = float(loop._scheduled[0]._when)
            due_ns = ceil(when * 1e9)
            while due_ns / 1e9 < when:
                due_ns += 1
            due_ns += waits.rounding_ns - self._base_ns
        if self._files is None:
            from ..awaited import Files  # noqa: PLC0415 - only in virtual time

            selector = loop._selector
            number = selector.fileno() if hasattr(selector, "fileno") else -1
            self._files = Files(number, selector.get_map, (loop._ssock.fileno(),))
        return waits.wait_for_files(
            self.clock, due_ns, select, self._files, loop._write_to_self, loop._ready.__len__
        )

    def _follow_timers(self, loop: Any) -> None:
        adapter, program = self._adapter, self._adapter.program
        call_at, call_later, set_timer = loop.call_at, loop.call_later, self._set

        @wraps(call_at)
        def following_call_at(
            when: float, callback: Callable[..., object], *args: Any, context: Any = None
        ) -> Any:
            if program.emit is None:
                return call_at(when, callback, *args, context=context)
            if program.waits is not None:
                when = InTurn(when)
            handle = call_at(when, callback, *args, context=context)
            program.guarded(adapter, set_timer, handle, None, sys._getframe(1))
            return handle

        loop.call_at = following_call_at
        if type(loop).call_later is adapter.native_call_later:
            loop.call_later = wraps(call_later)(self._later_function(loop, call_at, call_later))

    def _later_function(self, loop: Any, call_at: Any, call_later: Any) -> Any:  # noqa: C901
        # One long function, as programs with many tasks call this more often than anything else.
        hooks, adapter, program, clock = self, self._adapter, self._adapter.program, self.clock
        sleepers, timers, records = self.sleepers, self.timers, program.timers
        sleep_callback, current_task = adapter.names.sleep_callback, adapter.names.current_task
        seen_type, quick_type = self._handle_type, self._quick_type
        base_ns, set_timer = self._base_ns, self._set
        is_native = type(loop).call_at is adapter.native_call_at
        frame_at = sys._getframe

        def following_call_later(
            delay: Optional[float], callback: Callable[..., object], *args: Any, context: Any = None
        ) -> Any:
            if delay is None or loop._debug:
                return call_later(delay, callback, *args, context=context)
            emit, when = program.emit, loop.time() + delay
            if emit is None:
                return call_at(when, callback, *args, context=context)
            if program.waits is not None:
                when = InTurn(when)
            if callback is sleep_callback:
                task = current_task(loop)
                if (
                    delay < hooks.thinned_below_s
                    and id(task) * _SPREAD & _SPREAD_BITS > hooks.share
                ):
                    if is_native and not loop._closed:
                        # What call_at() does, so that what is left out costs nothing.
                        handle = quick_type(when, callback, args, loop, context)
                        handle._scheduled = True
                        heappush(loop._scheduled, handle)
                    else:
                        handle = call_at(when, callback, *args, context=context)
                    return handle
                sleeper = sleepers.get(id(task)) if is_native else None
                if sleeper is not None:
                    # The function that awaits asyncio's sleep.
                    frame, number = frame_at(2), sleeper.number
                    record, shift_ns = records.get(number), clock._shift
                    if (
                        record is not None
                        and delay == sleeper.delay
                        and shift_ns is not None
                        and frame.f_lasti == sleeper.place
                        and frame.f_code is sleeper.code
                        and not sleeper.is_set
                        and not loop._closed
                    ):
                        # What call_at() does, with a handle that has its final class at once.
                        handle = seen_type(when, callback, args, loop, context)
                        handle._scheduled = True
                        heappush(loop._scheduled, handle)
                        clock_number, name, site, kind, _, period_ns = record
                        due_ns = round(when * 1e9) - base_ns
                        records[number] = (clock_number, name, site, kind, due_ns, period_ns)
                        # When it was set, computed so that its wait is exactly the delay asked for.
                        at_ns = due_ns - period_ns - shift_ns
                        emit((at_ns, TIMER_ARMED, number, due_ns, period_ns))
                        sleeper.is_set = True
                        timers[id(handle)] = sleeper
                        return handle
            handle = call_at(when, callback, *args, context=context)
            if (
                callback is not sleep_callback
                and delay < hooks.thinned_below_s
                and id(handle) * _SPREAD & _SPREAD_BITS > hooks.share
            ):
                return handle
            program.guarded(adapter, set_timer, handle, delay, frame_at(1))
            return handle

        return following_call_later

    def _set(self, handle: Any, delay: Optional[float], frame: Optional[FrameType]) -> None:
        """A timer was set; ``delay`` is what was asked for, if that is known."""
        adapter = self._adapter
        if type(handle) is not adapter._handle_type:
            return
        due_ns = whole_ns(handle._when) - self._base_ns
        task = None
        if handle._callback is adapter.names.sleep_callback:
            task = adapter.names.current_task(handle._loop)
        if task is not None:
            self._sleep(handle, task, due_ns, delay, frame)
            return
        name, site = adapter.names.name_and_site(handle, frame)
        periodic = periodic_of_tornado(handle)
        if periodic is not None:
            period_s = float(periodic.callback_time) / 1e3
            self._repeat(handle, periodic, (name, site), due_ns, period_s, (0, None))
            return
        self._describe(handle, name, site, due_ns, self._set_at_ns(due_ns, delay))

    def _set_at_ns(self, due_ns: int, delay: Optional[float]) -> Optional[int]:
        """Return when a timer was set, so that its wait is exactly the delay asked for."""
        shift_ns = self.clock._shift
        if delay is None or shift_ns is None or not 0 <= delay < _NEAR_S:
            return None
        return due_ns - whole_ns(delay) - shift_ns

    def _sleep(
        self,
        handle: Any,
        task: Any,
        due_ns: int,
        delay: Optional[float],
        frame: Optional[FrameType],
    ) -> None:
        """A task sleeps; if it sleeps again at the same place, its timer repeats."""
        delay = None if delay is not None and delay >= _NEAR_S else delay
        timer = self._adapter.names.textual_timer(task)
        if timer is not None:
            # It sleeps for what is left until its next call.
            delay = float(timer._interval)
        if frame is not None and frame.f_back is not None:
            # The function that awaits asyncio's sleep.
            frame = frame.f_back
        place = (-1, None) if frame is None else (frame.f_lasti, frame.f_code)
        described = self._known_sleep(handle, task, frame)
        self._repeat(handle, task, described, due_ns, delay, place)

    def _repeat(  # noqa: PLR0913, PLR0917 - what a timer is
        self,
        handle: Any,
        owner: Any,
        described: tuple[str, int],
        due_ns: int,
        delay: Optional[float],
        at: tuple[int, Optional[CodeType]],
    ) -> None:
        """A timer is set; if its owner sets it again at the same place, it repeats."""
        program, sleeper = self._adapter.program, self.sleepers.get(id(owner))
        (name, site), (place, code) = described, at
        if sleeper is not None and sleeper.is_set:
            # Not a sleep, of which a task has one at a time, but a future made like one.
            self._describe(handle, name, site, due_ns)
            return
        handle.__class__ = self._handle_type
        period_ns, kind = 0, TIMEOUT
        if sleeper is None:
            sleeper = self.sleepers[id(owner)] = Sleeper(owner, self._task_gone)
            sleeper.identity, sleeper.number = id(owner), 0
        elif sleeper.place == place and sleeper.code is code:
            kind = INTERVAL_DELAY
            period_ns = due_ns - self.clock.local_ns() if delay is None else whole_ns(delay)
            timer = program.pending(sleeper.number)
            if timer is not None:
                timer.armed(due_ns, period_ns)
                sleeper.delay, sleeper.is_set = delay, True
                self.timers[id(handle)] = sleeper
                return
        else:
            program.cleared(sleeper.number)
        sleeper.place, sleeper.code, sleeper.delay, sleeper.is_set = place, code, delay, True
        sleeper.number = program.pending_timer(
            self.clock, name, site, due_ns, period_ns, kind, self._set_at_ns(due_ns, delay)
        )
        self.timers[id(handle)] = sleeper

    def _known_sleep(self, handle: Any, task: Any, frame: Optional[FrameType]) -> tuple[str, int]:
        """Return the name and the call site of a sleep, from an earlier one if there was one."""
        given = task.get_name()
        if given.startswith("Task-"):
            given = ""
        names = self._adapter.names
        if names.called_by(task) is not None or names.asker_of(task) is not None:
            return names.name_and_site(handle, frame)
        place = (0, 0) if frame is None else (id(frame.f_code), frame.f_lasti)
        key = (place, getattr(task.get_coro(), "__qualname__", ""), given)
        known = self._known.get(key)
        if known is None:
            known = names.name_and_site(handle, frame)
            # The code in the key must stay the same object: it is kept with its call site.
            if known[1] and len(self._known) < _MOST_KNOWN:
                self._known[key] = known
        return known

    def _task_gone(self, sleeper: Sleeper) -> None:
        if self.sleepers.pop(sleeper.identity, None) is sleeper and sleeper.number:
            self._adapter.program.cleared(sleeper.number)

    def settle(self) -> None:
        """Clear the timers of tasks that were woken two turns before and do not sleep again."""
        program = self._adapter.program
        for sleeper in self._settling:
            if not sleeper.is_set:
                program.cleared(sleeper.number)
        # The type of its timers appends to this list.
        self._settling = self._woken[:]
        self._woken.clear()

    def thin_out(self, one_of: int) -> None:
        """Follow the short waits of one in ``one_of`` tasks only."""
        self.thinned_below_s, self.one_of = 0.0 if one_of == 1 else _SHORT_S, one_of
        self.share = _SPREAD_BITS // one_of

    def forget_timers(self) -> None:
        """Start over, for another inspector or for none."""
        self.timers.clear()
        self.sleepers.clear()
        self._settling = []
        self._woken.clear()

    def number_of(self, handle: Any) -> Optional[int]:
        found = self.timers.get(id(handle))
        return found.number if isinstance(found, Sleeper) else found

    def _describe(
        self, handle: Any, name: str, site: int, due_ns: int, at_ns: Optional[int] = None
    ) -> None:
        handle.__class__ = self._handle_type
        # The loop has the handle until it fires or is cancelled, so its identity stays its own.
        number = self._adapter.program.pending_timer(self.clock, name, site, due_ns, at_ns=at_ns)
        self.timers[id(handle)] = number

    def described(self) -> Iterator[None]:
        """Describe the pending timers of the loop, on its thread or while that is busy."""
        loop = self.loop()
        adapter = self._adapter
        types = (adapter._handle_type, self._quick_type, self._handle_type)
        if loop is None:
            return
        for place, handle in enumerate(list(loop._scheduled)):
            is_pending = handle._scheduled and not handle._cancelled
            if is_pending and type(handle) in types and id(handle) not in self.timers:
                due_ns = whole_ns(handle._when) - self._base_ns
                self._describe(handle, *adapter.names.pending_name_and_site(handle), due_ns)
                if not handle._scheduled or handle._cancelled:
                    # Its thread, which was busy, has changed it meanwhile.
                    number = self.number_of(handle)
                    if self.timers.pop(id(handle), 0) and number:
                        adapter.program.cleared(number)
            if place % _PER_SLICE_STEP == 0:
                yield
