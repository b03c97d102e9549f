"""pyglet and arcade: what ``pyglet.clock`` has scheduled, and frames that draw windows.

A clock of pyglet reads its ``time``, sleeps for ``get_sleep_time`` and calls what is due; these
three follow the clock in the inspector. While it is held, windows are drawn again after input.
"""

from __future__ import annotations

import sys
from functools import wraps
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, Optional
from weakref import WeakSet

from ..bootstrap.import_hook import when_imported
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
#: Instants that differ by no more than this are the same, as pyglet's seconds are rounded.
_ROUNDING_NS = 2
#: Shortest time between two drawings of a held window.
_HELD_DRAW_NS = 50_000_000
#: The wait of a held loop that must not block.
_HELD_WAIT_S = 0.05


class PygletAdapter(Adapter):
    """One clock for all clocks of pyglet that read its time."""

    library = "pyglet"
    hides: tuple[str, ...] = (
        "pyglet",
        "arcade.application",
        "arcade.clock",
        "arcade.window_commands",
    )

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        # Not time.monotonic_ns, which may have become local time itself.
        self._now_ns = program.clocks.now_ns
        self._clocks: WeakSet[Any] = WeakSet()
        self._shown: dict[int, tuple[Any, Timer]] = {}
        #: Items set by what is being called: if due at once, they are called in the same turn.
        self._new: list[Any] = []
        self._is_in_frame = False
        self._is_calling = False
        self._is_drawing_held = False
        self._is_drawing_due = False
        self._has_drawn = False
        self._held_drawn_ns = 0

    def installed(self, module: ModuleType) -> None:
        clocks: Any = module
        clock_class, existing = clocks.Clock, [clocks.get_default()]
        event_loop = getattr(sys.modules.get("pyglet.app"), "event_loop", None)
        if event_loop is not None:
            existing.append(event_loop.clock)
        for clock in existing:
            # What is read later, to fail now rather than in the middle of a frame.
            _ = clock._schedule_items, clock._schedule_interval_items, clock.last_ts, clock.next_ts
        _ = clocks._ScheduledIntervalItem, clock_class.unschedule
        default = clock_class.__init__.__defaults__[0]
        present_s: float = default()
        self.version = getattr(sys.modules["pyglet"], "version", "")
        self._clock = self.program.clock("pyglet", adapter=self)
        self._base_s = present_s - self._clock.local_ns() / _NS
        self._hook_clock_class(clock_class, default)
        self._hook_items(clocks)
        for clock in existing:
            self._clocks.add(clock)
            clock.time = self._now_s
        # Programs with a loop of their own may use windows, but no clock.
        when_imported("pyglet.window", self._watch_windows)

    def _now_s(self) -> float:
        return float(self._base_s + self._clock.local_ns() / _NS)

    def _hook_clock_class(self, clock_class: Any, default: Any) -> None:  # noqa: C901 - five hooks
        adapter, program = self, self.program
        init, tick, unschedule = clock_class.__init__, clock_class.tick, clock_class.unschedule
        call, sleep_time = clock_class.call_scheduled_functions, clock_class.get_sleep_time

        @wraps(init)
        def clock_init(self: Any, time_function: Any = default) -> None:
            is_ours = time_function is default
            init(self, adapter._now_s if is_ours else time_function)
            if is_ours:
                adapter._clocks.add(self)

        @wraps(call)
        def call_scheduled_functions(self: Any, dt: float) -> Any:
            if program.emit is None or self not in adapter._clocks:
                return call(self, dt)
            if program.waits is not None or not adapter._clock.is_held:
                return adapter._call(self, dt, call)
            if adapter._is_due_now(self):
                return adapter._call_due_only(self, call)
            adapter._draw_while_held()
            return False

        @wraps(sleep_time)
        def get_sleep_time(self: Any, sleep_idle: Any) -> Optional[float]:
            wait_s: Optional[float] = sleep_time(self, sleep_idle)
            if program.emit is None or self not in adapter._clocks:
                return wait_s
            if program.waits is not None:
                return adapter._wait_in_turn(wait_s)
            if adapter._clock.is_held:
                if adapter._is_due_now(self):
                    return 0.0
                may_block = sleep_idle and not adapter._is_drawing_due
                return None if may_block else _HELD_WAIT_S
            if wait_s:
                real_ns = adapter._clock.real_ns_until(adapter._clock.local_ns() + whole_ns(wait_s))
                return None if real_ns is None else real_ns / _NS
            return wait_s

        @wraps(tick)
        def clock_tick(self: Any, poll: Any = 0) -> float:
            # A loop of the program's own, which has to be held here.
            if program.emit is not None and self in adapter._clocks:
                program.wait_while_held(adapter._clock, adapter._dispatch_events)
            return float(tick(self, poll))

        @wraps(unschedule)
        def clock_unschedule(self: Any, func: Any) -> None:
            if program.emit is not None and self in adapter._clocks:
                program.guarded(adapter, adapter._unscheduled, self, func)
            unschedule(self, func)

        clock_class.__init__, clock_class.tick = clock_init, clock_tick
        clock_class.call_scheduled_functions = call_scheduled_functions
        clock_class.get_sleep_time, clock_class.unschedule = get_sleep_time, clock_unschedule

    def _hook_items(self, clocks: Any) -> None:
        adapter, program, original = self, self.program, clocks._ScheduledIntervalItem

        class ScheduledIntervalItem(original):  # type: ignore[misc, valid-type]
            __slots__ = ()

            def __init__(self, *args: Any, **kwargs: Any) -> None:
                original.__init__(self, *args, **kwargs)
                if program.emit is not None:
                    program.guarded(adapter, adapter._report_timer, self, program.call_site())

        ScheduledIntervalItem.__name__ = original.__name__
        clocks._ScheduledIntervalItem = ScheduledIntervalItem

    # --------------------------------------------------------------------- timers

    def _wait_in_turn(self, wait_s: Optional[float]) -> Optional[float]:
        """Wait in virtual time, and return for how long the library has to wait after that."""
        if not wait_s:
            return wait_s
        # A wait that is rounded to 0 would be repeated for ever.
        due_ns = self._clock.local_ns() + max(whole_ns(wait_s), 1)
        self.program.sleep_until(self._clock, due_ns)
        return 0.0

    def _local_ns(self, library_s: float) -> int:
        # Rounded up: at that instant, pyglet's time has reached it.
        return whole_ns(library_s - self._base_s) + 1

    def _report_timer(self, item: Any, site: int = 0) -> None:
        period_ns = whole_ns(item.interval or 0)
        kind = INTERVAL_DELAY if period_ns else TIMEOUT
        due_ns, name = self._local_ns(item.next_ts), name_of(item.func)
        timer = self.program.timer(self._clock, name, site, due_ns, period_ns, kind, item)
        self._shown[id(item)] = (item, timer)
        if self._is_calling:
            self._new.append(item)

    def _call(self, clock: Any, dt: float, call: Any) -> Any:
        program = self.program
        due: Optional[list[Any]] = program.guarded(self, self._before, clock)
        self._is_calling = True
        try:
            return call(clock, dt)
        finally:
            self._is_calling = False
            new, self._new = self._new, []
            if due is not None:
                program.guarded(self, self._after, due, new)

    def _before(self, clock: Any) -> Optional[list[Any]]:
        """Report what is going to be called; return the items, None if nothing is."""
        items, each_turn = clock._schedule_interval_items, clock._schedule_items
        now_s = clock.last_ts or clock.time()
        due = self._due(items, now_s) if items and items[0].next_ts <= now_s else []
        if not due and not each_turn:
            return None
        if not self._is_in_frame:
            self._begin_frame()
        now_ns = self._local_ns(now_s)
        for item in due:
            shown = self._shown.get(id(item))
            if shown is None:
                continue
            timer, next_ns = shown[1], None
            if timer.period_ns:
                # As pyglet will set it, unless it spreads calls that are too late.
                next_ns = self._local_ns(item.last_ts) + timer.period_ns
                next_ns = next_ns if next_ns > now_ns else now_ns + timer.period_ns
            else:
                del self._shown[id(item)]
            timer.fired(max(now_ns - timer.due_ns, 0), next_ns)
        return due

    def _after(self, due: list[Any], new: list[Any]) -> None:
        for item in new:
            waits = any(item in each._schedule_interval_items for each in self._clocks)
            if id(item) in self._shown and not waits:
                # Pyglet has taken it out to call it.
                self._shown.pop(id(item))[1].fired(0)
        for item in due:
            shown = self._shown.get(id(item))
            next_ns = self._local_ns(item.next_ts)
            if shown is not None and abs(next_ns - shown[1].due_ns) > _ROUNDING_NS:
                shown[1].armed(next_ns)
        if self._has_drawn or not self._windows():
            self._has_drawn = self._is_in_frame = False
            self.program.frame_ended(self._clock)

    def _is_due_now(self, clock: Any) -> bool:
        """Return whether the clock is held at the very instant at which something is due."""
        items = clock._schedule_interval_items
        return (
            bool(items)
            and abs(self._local_ns(items[0].next_ts) - self._clock.local_ns()) <= _ROUNDING_NS
        )

    def _call_due_only(self, clock: Any, call: Any) -> Any:
        """Have pyglet call what is due, but not what is called in each turn."""
        each_turn, clock._schedule_items = clock._schedule_items, []
        try:
            return self._call(clock, clock.update_time(), call)
        finally:
            clock._schedule_items = each_turn + clock._schedule_items

    @staticmethod
    def _due(items: list[Any], now_s: float) -> list[Any]:
        """Return the items of a heap that are due, in the order in which they are called."""
        found, places = [], [0]
        while places:
            place = places.pop()
            if place < len(items) and items[place].next_ts <= now_s:
                found.append(items[place])
                places += (2 * place + 1, 2 * place + 2)
        found.sort(key=lambda item: item.next_ts)
        return found

    def _unscheduled(self, clock: Any, func: Any) -> None:
        site = self.program.call_site()
        for item, timer in list(self._shown.values()):
            if item.func == func and (
                item in clock._schedule_interval_items or item is clock._current_interval_item
            ):
                del self._shown[id(item)]
                timer.cleared(site)

    def keyframe(self, clock: Clock) -> Iterator[None]:
        for library_clock in list(self._clocks):
            for item in list(library_clock._schedule_interval_items):
                if id(item) not in self._shown:
                    self._report_timer(item)
                yield

    def released(self) -> None:
        self._shown.clear()

    def clear_timer(self, clock: Clock, timer: Timer, cause: int) -> None:
        item = timer.handle
        # What pyglet does to unscheduled items: they call an empty function, once.
        item.interval, item.func = 0, _nothing
        self._shown.pop(id(item), None)
        timer.cleared(cause=cause)

    def turn(self) -> Optional[int]:
        if current_thread() is not main_thread():
            return None
        has_frames = False
        for clock in list(self._clocks):
            clock.call_scheduled_functions(clock.update_time())
            has_frames = has_frames or bool(clock._schedule_items)
        return self.next_turn_ns(self._clock, has_frames=has_frames)

    # --------------------------------------------------------------------- frames

    def _begin_frame(self) -> None:
        self._is_in_frame = True
        self.program.frame_began(self._clock)
        self.program.frames_asked(self._clock, self._asked_ns())

    def _asked_ns(self) -> int:
        """Return the time from frame to frame that windows are drawn at, 0 if that is not known."""
        loop: Any = getattr(sys.modules.get("pyglet.app"), "event_loop", None)
        windows = self._windows()
        if not windows or not getattr(loop, "is_running", False):
            return 0
        asked_s = getattr(loop, "_interval", 0)
        if asked_s is None:
            # Arcade's windows draw themselves.
            asked_s = max(getattr(window, "_draw_rate", 0) for window in windows)
        return whole_ns(asked_s)

    def _windows(self) -> list[Any]:
        app = sys.modules.get("pyglet.app")
        return [] if app is None else list(app.windows)

    def _watch_windows(self, module: Any) -> None:
        window_class = getattr(module, "Window", None)
        if window_class is None:
            return
        flip, adapter = window_class.flip, self

        @wraps(flip)
        def window_flip(window: Any) -> None:
            flip(window)
            if adapter.program.emit is not None:
                adapter.shown_by_window()

        window_class.flip = window_flip

    def shown_by_window(self) -> None:
        """A window has shown what was drawn: the end of a frame."""
        if self._is_calling:
            self._has_drawn = True
        elif not self._is_drawing_held:
            # A loop of the program's own, which has to be held here.
            if not self._is_in_frame:
                self._begin_frame()
            self._is_in_frame = False
            self.program.frame_ended(self._clock)
            self.program.wait_while_held(self._clock, self._dispatch_events)

    def changed(self, clock: Clock) -> None:
        loop = getattr(sys.modules.get("pyglet.app"), "platform_event_loop", None)
        if loop is not None:
            loop.notify()

    def _draw_while_held(self) -> None:
        """Draw windows whose loop has turned, because there was input."""
        now_ns = self._now_ns()
        app: Any = sys.modules.get("pyglet.app")
        self._is_drawing_due = now_ns - self._held_drawn_ns < _HELD_DRAW_NS
        if app is not None and not self._is_drawing_due:
            self._held_drawn_ns = now_ns
            self._is_drawing_held = True
            try:
                app.event_loop._redraw_windows(0.0)
            finally:
                self._is_drawing_held = False

    def _dispatch_events(self) -> None:
        for window in self._windows():
            window.dispatch_events()


def _nothing(*_args: Any, **_kwargs: Any) -> None:
    pass
