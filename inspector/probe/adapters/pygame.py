"""pygame and pygame-ce: frames by flip, update and tick; Clock, get_ticks, wait, delay, set_timer.

The functions are replaced in their modules as soon as pygame is imported, so that the program takes
the replacements. SDL itself keeps real time; what the program reads and waits for is local time.
"""

from __future__ import annotations

import gc
import sys
from threading import current_thread, main_thread
from types import CellType, FrameType, ModuleType
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from ..kinds import INTERVAL_BURST, TIMEOUT
from ..stacks import is_own
from . import Adapter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..clocks import Clock
    from ..program import Program, Timer

_MS = 1_000_000
#: How long the program waits for an event at most before it looks at the clock again.
_WAIT_MS = 50
#: Shortest time between two times that an uncovered window is shown again while it is held.
_SHOW_AGAIN_NS = 250 * _MS
#: From how many ticks pygame works out its frame rate.
_FPS_TICKS = 10


class PygameAdapter(Adapter):
    """One clock for SDL's ticks, with the frames of the program's loop."""

    library = "pygame"
    calls_in_frames = True
    hides: tuple[str, ...] = ("pygame",)

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        # Not time.monotonic_ns, which may have become local time itself.
        self._now_ns = program.clocks.now_ns
        self._original: dict[str, Any] = {}
        self._timers: dict[int, _EventTimer] = {}
        self._names: dict[int, str] = {}
        self._next_due_ns: Optional[int] = None
        self._base_ms: Optional[int] = None
        self._sdl_ms = 0
        self._frame_ns: Optional[int] = None
        self._frame_real_ns = 0
        self._reads_time = False
        self._shown_again_ns = 0
        self._is_opengl = False
        self._is_late = False
        self._usual_ns = 0
        #: Whether the program has shown a frame since it last asked its clock, and whether it asks
        #: after each: what it does in between belongs to the frame.
        self._has_presented = self._ticks = False
        self._has_turned = True

    def installed(self, module: ModuleType) -> None:
        if getattr(module, "IS_CE", False):
            self.library = "pygame-ce"
        pygame: Any = module
        self._pygame = pygame
        self.version = pygame.version.ver
        self._clock = self.program.clock(self.library, adapter=self)
        self._local_ns = self._clock.local_ns
        self.program.keep_alive = self._keep_alive_in_sleep
        self._is_late = bool(pygame.get_init() or pygame.display.get_init())
        clock_class = type("Clock", (_Clock,), {"__slots__": (), "_adapter": self})
        clock_class.__module__ = "pygame.time"
        replacements: list[tuple[Any, str, Any]] = [
            (pygame.time, "Clock", clock_class),
            (pygame, "Clock", clock_class),
            (pygame.time, "get_ticks", self.get_ticks),
            (pygame.time, "wait", self.wait),
            (pygame.time, "delay", self.wait),
            (pygame.time, "set_timer", self.set_timer),
            (pygame.display, "set_mode", self._set_mode),
            (pygame.display, "flip", self._flip),
            (pygame.display, "update", self._update),
            (pygame.event, "wait", self._wait_for_event),
        ]
        # What is read later, to fail now rather than in the middle of a frame.
        _ = pygame.VIDEOEXPOSE, pygame.QUIT, pygame.OPENGL, pygame.NOEVENT
        replacements += [
            (pygame.event, name, self._reading(getattr(pygame.event, name)))
            for name in ("get", "poll", "peek", "pump")
        ]
        for owner, name, replacement in replacements:
            if hasattr(owner, name):
                self._original[f"{owner.__name__}.{name}"] = getattr(owner, name)
                setattr(owner, name, replacement)
        if self._is_late:
            taken, left = _replace_everywhere(self._original["pygame.time.Clock"], clock_class)
            self._is_late = left > 0 or taken == 0
        if self._is_late:
            self.message = (
                "The program took pygame's clock before the probe came, and keeps it where it "
                "cannot be replaced: its frames are held, stepped and slowed down, but not sped up."
            )
        if hasattr(pygame, "Window"):
            self._watch_windows(pygame.Window)

    def _watch_windows(self, original: Any) -> None:
        """Replace the class of windows, which cannot be written to, by one that ends frames."""
        flip, adapter = original.flip, self

        def window_flip(window: Any) -> None:
            flip(window)
            adapter.presented()

        members = {"flip": window_flip, "__module__": original.__module__}
        replacement = type("Window", (original,), members)
        for name, module in list(sys.modules.items()):
            if name.startswith("pygame") and getattr(module, "Window", None) is original:
                setattr(module, "Window", replacement)  # noqa: B010 - a module of any kind

    # --------------------------------------------------------------------- frames

    def begin_frame(self) -> None:
        """Begin a frame if the last one has ended: events are read, or a wait is over."""
        self._has_turned = True
        if self._frame_ns is None:
            self._frame_ns = self._local_ns()
            self._frame_real_ns = self._now_ns()
            self.program.frame_began(self._clock)

    def end_frame(self) -> None:
        """End the frame, and let none begin while the clock is held.

        A frame that read no time takes as much local time as its work took real time: this slows
        down a loop that runs as fast as it can.
        """
        self.begin_frame()
        assert self._frame_ns is not None
        began_ns, self._frame_ns = self._frame_ns, None
        self._has_turned = False
        reads_time, self._reads_time = self._reads_time, False
        if self.program.emit is None:
            return
        self.program.frame_ended(self._clock)
        worked_ns = self._now_ns() - self._frame_real_ns
        if self._is_late:
            worked_ns = self._usual_work_ns(worked_ns)
        if self.program.waits is not None:
            pass  # Virtual time stands still while a frame works; only waits advance it.
        elif self._clock.is_held:
            self._sleep_until(self._local_ns() + 1)
        elif not reads_time and not self._clock.is_plain:
            self._sleep_until(began_ns + worked_ns)
        if self._is_late:
            # What the program waits for with its own clock is part of the next frame.
            self.begin_frame()
            self._has_turned = False

    def _usual_work_ns(self, worked_ns: int) -> int:
        """Return how long a frame worked, or works usually: the program makes up for lost time."""
        if self._clock.is_plain:
            self._usual_ns += (worked_ns - self._usual_ns) // 8 if self._usual_ns else worked_ns
        return max(worked_ns, self._usual_ns)

    def presented(self) -> None:
        """The program has shown a frame, which ends then, or when it asks its clock."""
        self._ticks = self._ticks and not self._has_presented
        self._has_presented, self._has_turned = True, False
        if not self._ticks:
            self.end_frame()

    def ticked(self) -> None:
        """The program asks its clock: the end of a frame, unless showing it has ended that."""
        if self._ticks or not self._has_presented:
            self.end_frame()
        self._ticks = self._ticks or self._has_presented
        self._has_presented = False

    def asked(self, framerate: float) -> None:
        """The program asks its clock for a frame rate, 0 for none; pygame's frames are shorter."""
        frame_ns = round(1000 * _MS / framerate) if framerate > 0 else 0
        self.program.frames_asked(self._clock, frame_ns)

    def _set_mode(self, *args: Any, **kwargs: Any) -> Any:
        # The surface does not tell, as SDL itself may draw with OpenGL.
        flags = args[1] if args[1:] else kwargs.get("flags", 0)
        self._is_opengl = bool(flags & self._pygame.OPENGL)
        return self._original["pygame.display.set_mode"](*args, **kwargs)

    def _flip(self) -> None:
        self._original["pygame.display.flip"]()
        self.presented()

    def _update(self, *args: Any, **kwargs: Any) -> None:
        self._original["pygame.display.update"](*args, **kwargs)
        # A frame may show several parts, one after the other.
        if self._has_turned or not args:
            self.presented()

    def _keep_alive_in_sleep(self) -> None:
        """Keep the window alive while Python's own sleep is held, which cannot be cut short."""
        try:
            self._keep_alive()
        except _ClosedError:
            pass

    def _sleep_until(self, local_ns: int) -> None:
        try:
            self.program.sleep_until(self._clock, local_ns, self._keep_alive)
        except _ClosedError:
            pass

    def _keep_alive(self) -> None:
        """Keep the window of the held program alive."""
        pygame = self._pygame
        if current_thread() is not main_thread() or not pygame.display.get_init():
            return
        original = self._original
        original["pygame.event.pump"]()
        peek = original["pygame.event.peek"]
        now_ns = self._now_ns()
        # The event stays there for the program, so that it is seen again and again.
        if peek(pygame.VIDEOEXPOSE) and now_ns - self._shown_again_ns > _SHOW_AGAIN_NS:
            self._shown_again_ns = now_ns
            if not self._is_opengl and pygame.display.get_surface() is not None:
                original["pygame.display.flip"]()
        if peek(pygame.QUIT):
            raise _ClosedError

    # --------------------------------------------------------------------- events

    def _reading(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def replacement(*args: Any, **kwargs: Any) -> Any:
            self._has_turned = True
            if self._frame_ns is None:
                self.begin_frame()
            if self._next_due_ns is not None:
                self.program.guarded(self, self.post_due)
            return original(*args, **kwargs)

        replacement.__name__ = original.__name__
        replacement.__doc__ = original.__doc__
        return replacement

    def _wait_for_event(self, timeout: int = 0) -> Any:
        """Wait for an event, or for ``timeout`` local milliseconds (0: no limit)."""
        self.begin_frame()
        self._reads_time = True
        original = self._original["pygame.event.wait"]
        end_ns = self._local_ns() + timeout * _MS if timeout > 0 else None
        while True:
            if self._next_due_ns is not None:
                self.program.guarded(self, self.post_due)
            instants = [ns for ns in (end_ns, self._next_due_ns) if ns is not None]
            if not instants:
                return original()
            real_ns = self._clock.real_ns_until(min(instants))
            if self.program.waits is not None:
                event = original(1)
                if event.type == self._pygame.NOEVENT:
                    self._sleep_until(min(instants))
                if event.type != self._pygame.NOEVENT or min(instants) == end_ns:
                    return event
                continue
            wait_ms = _WAIT_MS if real_ns is None else min(_WAIT_MS, -(-real_ns // _MS))
            event = original(max(1, wait_ms))
            if event.type != self._pygame.NOEVENT:
                return event
            if end_ns is not None and self._local_ns() >= end_ns:
                return event

    # ----------------------------------------------------------------------- time

    def ticks_ms(self) -> int:
        """Return the local milliseconds since pygame.init, 0 before it."""
        sdl_ms = self._original["pygame.time.get_ticks"]()
        if sdl_ms == 0:
            return 0
        local_ms = self._local_ns() // _MS
        if self._base_ms is None or sdl_ms < self._sdl_ms:
            # SDL's ticks begin again after pygame.quit.
            self._base_ms = sdl_ms - local_ms
        self._sdl_ms = sdl_ms
        return int(self._base_ms + local_ms)

    def get_ticks(self) -> int:
        self._reads_time = True
        return self.ticks_ms()

    def sleep(self, milliseconds: int) -> None:
        self._reads_time = True
        self._sleep_until(self._local_ns() + milliseconds * _MS)

    def wait(self, milliseconds: int) -> int:
        """The replacement of pygame.time.wait and delay."""
        began_ns = self._local_ns()
        milliseconds = int(milliseconds)
        self.begin_frame()
        if milliseconds > 0:
            self.sleep(milliseconds)
        return (self._local_ns() - began_ns) // _MS

    # --------------------------------------------------------------------- timers

    def set_timer(self, event: Union[int, Any], millis: int, loops: int = 0, once: int = 0) -> None:
        """The replacement of pygame.time.set_timer: events are posted when events are read."""
        event_type = event if isinstance(event, int) else event.type
        millis = int(millis)
        is_attached = self.program.emit is not None
        site = self.program.call_site() if is_attached else 0
        if event_type not in self._names:
            self._names[event_type] = self._name_of(event_type, sys._getframe(1))
        previous = self._timers.pop(event_type, None)
        if previous is not None and previous.shown is not None:
            previous.shown.cleared(site)
        if millis > 0:
            timer = _EventTimer(event, millis * _MS, self._local_ns(), 1 if once else loops, site)
            self._timers[event_type] = timer
            if is_attached:
                self.program.guarded(self, self._report_timer, event_type, timer)
        self._find_next_due()

    def _report_timer(self, event_type: int, timer: _EventTimer) -> None:
        name = self._names[event_type]
        kind, period_ns = (TIMEOUT, 0) if timer.loops == 1 else (INTERVAL_BURST, timer.period_ns)
        timer.shown = self.program.timer(
            self._clock, name, timer.site, timer.due_ns, period_ns, kind, event_type
        )

    def _name_of(self, event_type: int, caller: FrameType) -> str:
        """Return the name of the constant that the program has for an event, or pygame's name."""
        name = str(self._pygame.event.event_name(event_type))
        if event_type < self._pygame.USEREVENT:
            return name
        spaces = [caller.f_globals]
        for value in list(caller.f_globals.values()):
            file = getattr(value, "__file__", None) if isinstance(value, ModuleType) else None
            if isinstance(file, str) and is_own(file):
                spaces.append(vars(value))
        for space in spaces:
            for constant, value in list(space.items()):
                if type(value) is int and value == event_type and constant.isupper():
                    return constant
        return name if event_type == self._pygame.USEREVENT else f"{name} {event_type}"

    def keyframe(self, clock: Clock) -> Iterator[None]:
        for event_type, timer in list(self._timers.items()):
            if timer.shown is None:
                self._report_timer(event_type, timer)
            yield

    def released(self) -> None:
        for timer in list(self._timers.values()):
            timer.shown = None

    def clear_timer(self, clock: Clock, timer: Timer, cause: int) -> None:
        self._timers.pop(timer.handle, None)
        self._find_next_due()
        timer.cleared(cause=cause)

    def _find_next_due(self) -> None:
        self._next_due_ns = min(
            (timer.due_ns for timer in list(self._timers.values())), default=None
        )

    def post_due(self) -> None:
        now_ns = self._local_ns()
        if self._next_due_ns is None or now_ns < self._next_due_ns:
            return
        pygame = self._pygame
        for event_type, timer in list(self._timers.items()):
            while timer.due_ns <= now_ns:
                due_ns = timer.due_ns
                timer.due_ns += timer.period_ns
                timer.loops -= 1
                is_last = timer.loops == 0
                if timer.shown is not None:
                    timer.shown.fired(now_ns - due_ns, None if is_last else timer.due_ns)
                event = timer.event
                try:
                    pygame.event.post(
                        pygame.event.Event(event) if isinstance(event, int) else event
                    )
                except pygame.error:
                    pass  # The queue is full: SDL's timer would lose the event as well.
                if is_last:
                    self._timers.pop(event_type, None)
                    break
        self._find_next_due()


def _replace_everywhere(kind: Any, make: Callable[[], Any]) -> tuple[int, int]:
    """Replace objects of a type where they are kept; return how many places were, and were not.

    They are found in attributes, lists, dictionaries, cells and variables of functions that run.
    """
    made: dict[int, Any] = {}

    def instead(found: Any) -> Any:
        return made.setdefault(id(found), (make(), found))[0]

    done = [
        _replaced_in(holder, value, instead(value))
        for holder in gc.get_objects()
        for value in gc.get_referents(holder)
        if type(value) is kind and not isinstance(holder, FrameType)
    ]
    for running in sys._current_frames().values():
        frame: Optional[FrameType] = running
        while frame is not None:
            for name, value in list(frame.f_locals.items()):
                if type(value) is kind:
                    # Before Python 3.13, this changes a copy.
                    frame.f_locals[name] = instead(value)
                    done.append(frame.f_locals[name] is instead(value))
            frame = frame.f_back
    return sum(done), len(done) - sum(done)


def _replaced_in(holder: Any, value: Any, other: Any) -> bool:
    if isinstance(holder, CellType):
        holder.cell_contents = other
        return True
    places = getattr(holder, "__dict__", holder)
    if isinstance(places, list):
        places[:] = [other if each is value else each for each in places]
        return True
    names = [n for n, v in places.items() if v is value] if isinstance(places, dict) else []
    for name in names:
        places[name] = other
    return bool(names)


class _ClosedError(Exception):
    """The window of the held program is asked to close."""


class _EventTimer:
    """A timer of pygame, which posts an event; ``loops`` counts down to 0, or for ever from 0."""

    __slots__ = ("due_ns", "event", "loops", "period_ns", "shown", "site")

    def __init__(self, event: Any, period_ns: int, now_ns: int, loops: int, site: int) -> None:
        self.event = event
        self.period_ns = period_ns
        self.due_ns = now_ns + period_ns
        self.loops = loops
        self.site = site
        self.shown: Optional[Timer] = None


class _Clock:
    """pygame.time.Clock in local time, with pygame's arithmetic in whole milliseconds."""

    __slots__ = ("_counted", "_counted_from_ms", "_fps", "_last_ms", "_passed_ms", "_worked_ms")

    _adapter: PygameAdapter

    def __init__(self) -> None:
        self._last_ms = self._adapter.ticks_ms()
        self._passed_ms = 0
        self._worked_ms = 0
        self._counted = 0
        self._counted_from_ms = 0
        self._fps = 0.0

    def tick(self, framerate: float = 0) -> int:
        """Sleep for the rest of the frame; return its milliseconds."""
        adapter = self._adapter
        adapter.ticked()
        adapter.asked(framerate)
        if framerate:
            self._worked_ms = adapter.get_ticks() - self._last_ms
            left_ms = int(1000 / framerate) - self._worked_ms
            if left_ms > 0:
                adapter.sleep(left_ms)
        now_ms = adapter.get_ticks()
        self._passed_ms = now_ms - self._last_ms
        self._last_ms = now_ms
        if not framerate:
            self._worked_ms = self._passed_ms
        self._counted += 1
        if not self._counted_from_ms:
            self._counted, self._counted_from_ms = 0, now_ms
        elif self._counted >= _FPS_TICKS:
            span_ms = now_ms - self._counted_from_ms
            self._fps = self._counted * 1000 / span_ms if span_ms else 0.0
            self._counted, self._counted_from_ms = 0, now_ms
        adapter.begin_frame()
        return self._passed_ms

    tick_busy_loop = tick

    def get_time(self) -> int:
        """Return the milliseconds between the last two ticks."""
        return self._passed_ms

    def get_rawtime(self) -> int:
        """Return the milliseconds of the last frame without its sleep."""
        return self._worked_ms

    def get_fps(self) -> float:
        """Return the frame rate, from the last ten frames."""
        return self._fps

    def __repr__(self) -> str:
        return f"<Clock(fps={self._fps:.2f})>"
