"""Twisted: one clock for each reactor, its delayed calls, and its turns as frames.

``seconds`` and ``doIteration`` are replaced on the reactor itself, which waits for as long as the
difference of two readings. Delayed calls are followed by giving them a class that notices more.
"""

from __future__ import annotations

import gc
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Callable, Optional
from weakref import WeakKeyDictionary

from ..clocks import InTurn, NothingDueError, whole_ns
from ..kinds import INTERVAL_DELAY, INTERVAL_SKIP, TIMEOUT
from ..program import name_of
from . import Adapter, is_same

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from ..awaited import Files
    from ..clocks import Clock
    from ..program import Program, Timer
    from ..waits import Waits
    from . import Capability

_NS = 1_000_000_000
#: Seconds of the epoch are multiples of 238 ns as floats: this much later, a due time is reached.
_ROUNDING_NS = 500
_OWN_TIME = "This reactor has a time of its own."


class TwistedAdapter(Adapter):
    library = "Twisted"
    hides: tuple[str, ...] = ("twisted",)
    reads_anywhere = True
    has_hidden_turns = True
    says_what_it_waits_for = True

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._reactors: WeakKeyDictionary[Any, ReactorHooks] = WeakKeyDictionary()

    def installed(self, module: ModuleType) -> None:
        base: Any = module
        reactor_type, self.call_type = base.ReactorBase, base.DelayedCall
        self.native_seconds = reactor_type.seconds
        init, call_later = reactor_type.__init__, reactor_type.callLater
        # What is used later, to fail now rather than in the middle of a turn.
        for name in ("doIteration", "wakeUp", "getDelayedCalls"):
            getattr(reactor_type, name)
        for name in ("cancel", "reset", "delay", "getTime", "active"):
            getattr(self.call_type, name)
        adapter, program = self, self.program

        @wraps(init)
        def reactor_init(self: Any, *args: Any, **kwargs: Any) -> None:
            init(self, *args, **kwargs)
            program.guarded(adapter, adapter._found, self)

        @wraps(call_later)
        def reactor_call_later(self: Any, *args: Any, **kwargs: Any) -> Any:
            call = call_later(self, *args, **kwargs)
            if program.waits is not None:
                call.time = InTurn(call.time)
            if program.emit is not None:
                program.guarded(adapter, adapter._set, self, call)
            return call

        reactor_type.__init__, reactor_type.callLater = reactor_init, reactor_call_later
        if not getattr(module.__spec__, "_initializing", False):
            # It was imported before: a reactor may be running already.
            for found in gc.get_objects():
                if issubclass(type(found), reactor_type):
                    self._found(found)

    def _found(self, reactor: Any) -> None:
        if reactor not in self._reactors:
            name = (
                self.library if not self._reactors else f"{self.library} {type(reactor).__name__}"
            )
            clock = self.program.clock(name, adapter=self)
            self._reactors[reactor] = ReactorHooks(self, reactor, clock)

    def _set(self, reactor: Any, call: Any) -> None:
        hooks = self._reactors.get(reactor)
        if hooks is not None:
            hooks.added(call)

    def _of_clock(self, clock: Clock) -> tuple[Any, Optional[ReactorHooks]]:
        """Return the reactor with a clock; none while its hooks are made, on another thread."""
        found = list(self._reactors.items())
        return next((each for each in found if each[1].clock is clock), (None, None))

    def capabilities(self, clock: Clock) -> dict[str, Capability]:
        _, hooks = self._of_clock(clock)
        if hooks is None or hooks.follows_clock:
            return {}
        return dict.fromkeys(("pause", "rate", "step_timer", "step_time"), _OWN_TIME)

    def changed(self, clock: Clock) -> None:
        # Wake it, as it sleeps for as long as was right before.
        reactor, _ = self._of_clock(clock)
        if reactor is not None:
            reactor.wakeUp()

    def call_soon(self, clock: Clock, call: Callable[[], None]) -> None:
        reactor, _ = self._of_clock(clock)
        if reactor is not None and reactor._started:
            reactor.callFromThread(call)
        else:
            call()

    def released(self) -> None:
        for hooks in self._reactors.values():
            hooks.forget()

    def keyframe(self, clock: Clock) -> Iterator[None]:
        reactor, hooks = self._of_clock(clock)
        for call in () if hooks is None else list(reactor.getDelayedCalls()):
            if hooks is not None and call.active() and not hooks.is_shown(call):
                hooks.report(call)
            yield

    def clear_timer(self, clock: Clock, timer: Timer, cause: int) -> None:
        call = timer.handle

        def clear() -> None:
            if call.active():
                timer.cleared(cause=cause)
                call.cancel()

        self.call_soon(clock, clear)


class ReactorHooks:
    def __init__(self, adapter: TwistedAdapter, reactor: Any, clock: Clock) -> None:
        self.clock = clock  # Its clock
        # Whether it reads the clock
        self.follows_clock = type(reactor).seconds is adapter.native_seconds
        self._adapter = adapter
        self._calling: Optional[tuple[Any, Timer]] = None
        self._files: Optional[Files] = None
        # Seconds as the reactor reads them are the clock's local time plus this.
        self._base_ns = whole_ns(reactor.seconds()) - clock.local_ns()
        self._call_type = self._seen_call_type()
        if self.follows_clock:
            local_ns, base_ns = clock.local_ns, self._base_ns
            reactor.seconds = lambda: (local_ns() + base_ns) / _NS
        self._replace_waiting(reactor)

    def _replace_waiting(self, reactor: Any) -> None:
        program, clock = self._adapter.program, self.clock
        wait = reactor.doIteration

        @wraps(wait)
        def iteration(delay: Optional[float]) -> Any:
            if program.emit is None:
                # Nothing is held or slowed.
                return wait(delay)
            self._settle()
            program.frame_ended(clock)
            waits = program.waits
            if waits is not None and (delay is None or delay > 0) and self.follows_clock:
                result = self._wait_in_turn(waits, reactor, wait, delay)
                program.frame_began(clock)
                return result
            if delay and self.follows_clock and not clock.is_plain:
                wait_ns = clock.real_ns_until(clock.local_ns() + whole_ns(delay))
                delay = None if wait_ns is None else wait_ns / _NS
            # This handles what is ready; what is due is called afterwards.
            result = wait(delay)
            # While it is held, a turn only answers events, and is no frame.
            if not clock.is_held:
                program.frame_began(clock)
            return result

        reactor.doIteration = iteration

    def _wait_in_turn(
        self,
        waits: Waits,
        reactor: Any,
        wait: Callable[[Optional[float]], Any],
        delay: Optional[float],
    ) -> Any:
        clock = self.clock
        due_ns = None
        if delay is not None:
            seconds, parts = reactor._pendingTimedCalls[0].time.as_integer_ratio()
            due_ns = -(-seconds * _NS // parts) - self._base_ns + _ROUNDING_NS // 2
        if self._files is None:
            from ..awaited import Files  # noqa: PLC0415 - only in virtual time

            poller: Any = getattr(reactor, "_poller", None)
            number = poller.fileno() if hasattr(poller, "fileno") else -1
            self._files = Files(number, partial(_awaited_files, reactor), ())
        try:
            return waits.wait_for_files(
                clock, due_ns, wait, self._files, reactor.wakeUp, lambda: reactor.threadCallQueue
            )
        except NothingDueError as error:
            # Raised here, it would only be logged.
            waits.deliver(error, reactor.crash)
            return None

    def is_shown(self, call: Any) -> bool:
        timer = vars(call).get("timeline_timer")
        return timer is not None and timer.number in self._adapter.program.timers

    def added(self, call: Any) -> None:
        before, program = self._calling, self._adapter.program
        site = program.call_site()
        if before is None or not is_same(before[0], call.func):
            self.report(call, site)
            return
        # The call sets itself again.
        self._calling = None
        timer, due_ns = before[1], self._due_ns(call)
        period_ns = _looping_ns(call) or max(whole_ns(call.getTime() - call.seconds()), 0)
        if not timer.period_ns:
            self.report(call, site, period_ns)
            return
        timer.handle = call
        call.timeline_timer, call.__class__ = timer, self._call_type
        timer.armed(due_ns, period_ns)

    def report(self, call: Any, site: int = 0, period_ns: int = 0) -> None:
        program = self._adapter.program
        if type(call) not in {self._adapter.call_type, self._call_type}:
            return
        call.__class__ = self._call_type
        # A LoopingCall is named after what it calls.
        name = name_of(getattr(call.func, "f", call.func))
        if name == "Deferred.callback" and site:
            # Of deferLater: a function of the program waits for it.
            name = f"{name} in {program.texts[site].rpartition(' in ')[2]}"
        looping_ns = _looping_ns(call)
        period_ns = looping_ns or period_ns
        kind = INTERVAL_SKIP if looping_ns else INTERVAL_DELAY if period_ns else TIMEOUT
        due_ns = self._due_ns(call)
        call.timeline_timer = program.timer(self.clock, name, site, due_ns, period_ns, kind, call)

    def _due_ns(self, call: Any) -> int:
        return whole_ns(call.getTime()) - self._base_ns + _ROUNDING_NS

    def moved(self, call: Any) -> None:
        """A call is due at another time."""
        if self.is_shown(call):
            call.timeline_timer.armed(self._due_ns(call))

    def fired(self, call: Any) -> None:
        """A call is about to be made."""
        self._settle()
        if self.is_shown(call):
            timer, now_ns = call.timeline_timer, self.clock.local_ns()
            period_ns = timer.period_ns
            # Unless an interval sets itself again, it will be cleared.
            next_ns = now_ns + period_ns if period_ns else None
            timer.fired(max(now_ns - timer.due_ns, 0), next_ns)
            self._calling = call.func, timer

    def forget(self) -> None:
        """Start over, for another inspector or for none."""
        self._calling = None

    def _settle(self) -> None:
        """The call before is over and has not set itself again: clear its timer."""
        calling, self._calling = self._calling, None
        if calling is not None:
            calling[1].cleared()

    def _seen_call_type(self) -> Any:
        hooks, adapter, program = self, self._adapter, self._adapter.program
        call_type: Any = adapter.call_type

        class DelayedCall(call_type):  # type: ignore[misc] # known when Twisted is
            @property
            def called(self) -> Any:
                return self.__dict__["called"]

            @called.setter
            def called(self, value: Any) -> None:
                self.__dict__["called"] = value
                if value and program.emit is not None:
                    program.guarded(adapter, hooks.fired, self)

            def cancel(self) -> None:
                call_type.cancel(self)
                if program.emit is not None and hooks.is_shown(self):
                    vars(self)["timeline_timer"].cleared(program.call_site())

            def reset(self, *args: Any, **kwargs: Any) -> None:
                call_type.reset(self, *args, **kwargs)
                if program.emit is not None:
                    program.guarded(adapter, hooks.moved, self)

            def delay(self, *args: Any, **kwargs: Any) -> None:
                call_type.delay(self, *args, **kwargs)
                if program.emit is not None:
                    program.guarded(adapter, hooks.moved, self)

        return DelayedCall


def _awaited_files(reactor: Any) -> list[int]:
    """Return the files that are waited for, except by the reactor itself."""
    own, found = reactor._internalReaders, getattr(reactor, "_selectables", {})
    return [file for file, selectable in list(found.items()) if selectable not in own]


def _looping_ns(call: Any) -> int:
    """Return the interval of a LoopingCall, which skips what it is too late for; else 0."""
    interval_s = getattr(call.func, "interval", None)
    return whole_ns(interval_s) if isinstance(interval_s, (int, float)) else 0
