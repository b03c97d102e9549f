"""Kivy: what is scheduled on its clocks, and its frames.

A clock of Kivy reads ``time`` and sleeps in ``idle``. While it is held, its loop turns slowly at
the same instant and calls everything but repeated events, so that the window answers.
"""

from __future__ import annotations

import sys
from functools import wraps
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, Callable, Optional
from weakref import WeakSet

from ..clocks import whole_ns
from ..kinds import INTERVAL_DELAY, TIMEOUT
from ..program import name_of
from . import Adapter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from ..clocks import Clock
    from ..program import Program, Timer

_NS = 1_000_000_000
#: Time between two turns of a held loop, and between two looks at the clock in a sleep.
_HELD_TURN_NS = 50_000_000
_NEVER_S = 1e12
#: Frame rate in virtual time, if the program sets no limit.
_VIRTUAL_FPS = 60


class KivyAdapter(Adapter):
    """One clock for all clocks of Kivy."""

    library = "Kivy"
    calls_in_frames = True
    hides: tuple[str, ...] = ("kivy",)

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._kivy_clocks: WeakSet[Any] = WeakSet()
        self._shown: dict[int, tuple[Any, Timer]] = {}
        self._is_turning = False

    def installed(self, module: ModuleType) -> None:
        clocks: Any = module
        self.version = sys.modules["kivy"].__version__
        behaviors = (clocks.ClockBaseBehavior, clocks.ClockBaseInterruptBehavior)
        self._clock = self.program.clock("Kivy", adapter=self)
        self._base_s = behaviors[0].time() - self._clock.local_ns() / _NS
        for behavior in behaviors:
            self._hook_waiting(behavior)
        self._hook_frames(behaviors[0])
        for name in ("schedule_once", "schedule_interval"):
            self._hook_scheduling(behaviors[0], clocks.CyClockBase, name)
        self._hook_processing(behaviors[0], clocks.CyClockBase)
        behaviors[0].time = staticmethod(self._now_s)

    def _now_s(self) -> float:
        return float(self._base_s + self._clock.local_ns() / _NS)

    def _hook_waiting(self, behavior: Any) -> None:
        adapter, program, idle, ready = self, self.program, behavior.idle, behavior._check_ready
        waits = [False]

        @wraps(idle)
        def clock_idle(self: Any) -> Any:
            if program.emit is not None and adapter._clock.is_held:
                if program.waits is None:
                    adapter._wait_a_turn()
                    self._dt, self._last_tick = 0.0, self.time()
                    return self._last_tick
                if adapter._is_turning:
                    self._dt, self._last_tick = self.time() - self._last_tick, self.time()
                    return self._last_tick
                # Virtual time advances from frame to frame.
                next_s = self._last_tick + 1 / (self._max_fps or _VIRTUAL_FPS)
                program.sleep_until(adapter._clock, adapter._local_ns(next_s))
            waits[0] = True
            try:
                return idle(self)
            finally:
                waits[0] = False

        @wraps(ready)
        def check_ready(self: Any, *args: Any) -> tuple[bool, float]:
            done, sleep_s = ready(self, *args)
            # The other loops of Kivy, which wait in an event loop, sleep in its local time.
            if done or not waits[0] or adapter._clock.is_plain:
                return done, sleep_s
            clock = adapter._clock
            real_ns = clock.real_ns_until(clock.local_ns() + whole_ns(sleep_s))
            if real_ns is None:
                return True, 0.0
            # A clock with an event waits once, and is woken by a change.
            longest_ns = real_ns if hasattr(self, "_event") else _HELD_TURN_NS
            return False, min(real_ns, longest_ns) / _NS

        behavior.idle, behavior._check_ready = clock_idle, check_ready

    def changed(self, clock: Clock) -> None:
        for kivy_clock in list(self._kivy_clocks):
            event = getattr(kivy_clock, "_event", None)
            if event is not None:
                event.set()

    def turn(self) -> Optional[int]:
        if current_thread() is not main_thread():
            return None
        kivy_clock: Any = sys.modules["kivy.clock"].Clock
        self._is_turning = True
        try:
            kivy_clock.tick()
        finally:
            self._is_turning = False
        has_frames = any(event.timeout <= 0 for event in kivy_clock.get_events())
        return self.next_turn_ns(self._clock, has_frames=has_frames)

    def _stands_still(self) -> bool:
        return self._clock.is_held and self.program.waits is None

    def _wait_a_turn(self) -> None:
        """Wait for as long as a turn of the held loop lasts."""
        turns = [0]

        def once() -> None:
            turns[0] += 1
            if turns[0] > _HELD_TURN_NS // 10_000_000:
                raise _TurnOverError

        try:
            self.program.wait_while_held(self._clock, once)
        except _TurnOverError:
            pass

    def _hook_frames(self, behavior: Any) -> None:
        adapter, program, pre_idle, post_idle = (
            self,
            self.program,
            behavior.pre_idle,
            behavior.post_idle,
        )

        @wraps(pre_idle)
        def clock_pre_idle(self: Any) -> None:
            adapter._kivy_clocks.add(self)
            if program.emit is not None:
                program.frame_ended(adapter._clock)
            pre_idle(self)

        @wraps(post_idle)
        def clock_post_idle(self: Any, *args: Any) -> Any:
            if program.emit is not None and not adapter._stands_still():
                program.frame_began(adapter._clock)
                asked_fps = self._max_fps
                program.frames_asked(adapter._clock, round(_NS / asked_fps) if asked_fps else 0)
            return post_idle(self, *args)

        behavior.pre_idle, behavior.post_idle = clock_pre_idle, clock_post_idle

    def _hook_scheduling(self, behavior: Any, base: Any, name: str) -> None:
        original: Callable[..., Any] = getattr(base, name)
        adapter, program = self, self.program

        @wraps(original)
        def schedule(self: Any, *args: Any, **kwargs: Any) -> Any:
            event = original(self, *args, **kwargs)
            if program.emit is not None and event.timeout > 0:
                program.guarded(adapter, adapter._report_timer, event, program.call_site())
            return event

        setattr(behavior, name, schedule)

    def _hook_processing(self, behavior: Any, base: Any) -> None:
        original: Callable[..., Any] = base._process_events
        adapter, program = self, self.program

        def process_events(self: Any) -> None:
            if program.emit is None:
                original(self)
                return
            held: list[tuple[Any, float]] = []
            program.guarded(adapter, adapter._before, self, held)
            try:
                original(self)
            finally:
                for event, timeout in held:
                    event.timeout = timeout
                program.guarded(adapter, adapter._after, self)

        behavior._process_events = process_events

    def _before(self, clock: Any, held: list[tuple[Any, float]]) -> None:
        """Report what is going to fire; keep repeated events from it while the clock is held."""
        is_held, now_s = self._stands_still(), clock._last_tick
        now_ns, early_s = self._local_ns(now_s), clock.get_resolution()
        for event in clock.get_events():
            if is_held and event.loop and not self._is_due_now(event, now_ns):
                held.append((event, event.timeout))
                event.timeout = _NEVER_S
            elif event.timeout > 0:
                shown = self._shown.get(id(event))
                timer = self._report_timer(event) if shown is None else shown[1]
                if now_s - event._last_dt >= event.timeout - early_s:
                    late_ns = max(now_ns - timer.due_ns, 0)
                    if event.loop:
                        timer.fired(late_ns, now_ns + timer.period_ns)
                    else:
                        del self._shown[id(event)]
                        timer.fired(late_ns)

    def _is_due_now(self, event: Any, now_ns: int) -> bool:
        """Return whether the clock is held at the very instant at which an event is due."""
        return event.timeout > 0 and self._due_ns(event) == now_ns

    def _after(self, clock: Any) -> None:
        """Report what was set to another time, or is gone."""
        events = {id(event) for event in clock.get_events()}
        for number, (event, timer) in list(self._shown.items()):
            if event.clock is not clock:
                continue
            if number not in events:
                del self._shown[number]
                timer.cleared()
            elif self._due_ns(event) != timer.due_ns:
                timer.armed(self._due_ns(event))

    def _local_ns(self, library_s: float) -> int:
        return whole_ns(library_s - self._base_s)

    def _due_ns(self, event: Any) -> int:
        return self._local_ns(float(event._last_dt + event.timeout))

    def _report_timer(self, event: Any, site: int = 0) -> Timer:
        period_ns, kind = (whole_ns(event.timeout), INTERVAL_DELAY) if event.loop else (0, TIMEOUT)
        name = name_of(event.get_callback())
        timer = self.program.timer(
            self._clock, name, site, self._due_ns(event), period_ns, kind, event
        )
        self._shown[id(event)] = (event, timer)
        return timer

    def keyframe(self, clock: Clock) -> Iterator[None]:
        for kivy_clock in list(self._kivy_clocks):
            for event in kivy_clock.get_events():
                if event.timeout > 0 and id(event) not in self._shown:
                    self._report_timer(event)
                yield

    def released(self) -> None:
        self._shown.clear()

    def clear_timer(self, clock: Clock, timer: Timer, cause: int) -> None:
        self._shown.pop(id(timer.handle), None)
        timer.handle.cancel()
        timer.cleared(cause=cause)


class _TurnOverError(Exception):
    """A held loop has waited long enough."""
