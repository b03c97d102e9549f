"""Samples the thread of a scene during long wake-ups, as a probe does in a program.

This is for real time only. Session time stands still during a wake-up, so samples are recorded at
its end, all at its instant: each sample stands for the time after that of the previous one.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from threading import Event, Lock, Thread, get_ident, get_native_id
from time import monotonic_ns
from typing import Final, cast

from inspector.events.schema import SCHEMA
from inspector.probe.program import Program
from inspector.probe.sampler import LONG_NS, Sampler
from inspector.probe.texts import Texts
from inspector.timebase import NS_PER_SECOND
from inspector.vocabulary import (
    COLLECTED,
    COLLECTED_HERE,
    SAMPLED,
    SAW_BETWEEN_TURNS,
    SAW_END,
    SAW_FROM_HERE,
    EventKind,
    RawEvent,
)

#: After this time without a wake-up, the thread sleeps until the next one.
_REST_NS: Final = 1_000_000_000
#: Between wake-ups the next check is due when the next wake-up may have become a long one, but
#: within this time, as a wake-up may come unexpectedly.
_MOST_WAIT_NS: Final = 3 * LONG_NS
#: While wake-ups are short, a check is put off for at most this time after the last one: from
#: that on, the times of the threads are known.
_MOST_PUT_OFF_NS: Final = 100_000_000
#: Most events kept of one wake-up.
_MOST_EVENTS: Final = 50_000
#: Linux's number of the clock of timer files.
_CLOCK_MONOTONIC: Final = 1


class _Clock:
    is_held = False
    waits_for_events = True
    has_hidden_turns = False

    def __init__(self, number: int) -> None:
        self.number = number
        self.adapter = self
        self.by_number = {number: self}

    def running_task(self, _clock: object) -> None:
        """Return ``None``: a scene has no tasks."""


class _Frames:
    """The wake-ups of a scene as turns."""

    def __init__(self) -> None:
        self.began_ns = self.ended_ns = self.busy_ns = self.index = 0
        self.threads = get_ident(), get_native_id()


class _Scene(Texts):
    """A scene in the role of a program, with the parts that the sampler uses."""

    def __init__(self, clock_id: int) -> None:
        super().__init__()
        self.own_clock = self.clocks = _Clock(clock_id)
        self.frames = _Frames()
        self.loops = {clock_id: self.frames}
        self.changes = 0
        self.events: list[RawEvent] = []

    def emit(self, event: RawEvent) -> None:
        if self.frames.began_ns and len(self.events) < _MOST_EVENTS:
            self.events.append(event)

    def extend(self, events: tuple[RawEvent, ...]) -> None:
        last = events[-1]
        is_outside = last[1] != SAMPLED or last[4] & (SAW_BETWEEN_TURNS | SAW_END)
        if not is_outside and self.frames.began_ns and len(self.events) < _MOST_EVENTS:
            self.events += events

    def guarded(self, _adapter: object, call: Callable[..., object], *args: object) -> object:
        return call(*args)


class _HeldLock:
    """Wakes a thread after some time: waits for a lock that is held until closing.

    Waiting for an event instead takes several times as long, at each check.
    """

    def __init__(self) -> None:
        self._open = Lock()
        self._open.acquire()

    def wait(self, ns: int) -> None:
        self._open.acquire(timeout=ns / 1e9)

    def put_off(self, _ns: int) -> bool:
        """Return ``False``: the thread would have to wake for that."""
        return False

    def close(self) -> None:
        self._open.release()

    def free(self) -> None:
        """Do nothing: nothing of the system's is held."""


class _TimerFile:
    """Wakes a thread after some time, which another thread can put off: Linux's timer files.

    To wake takes ten times as long as to put off.
    """

    def __init__(self) -> None:
        # Without releasing the interpreter's lock, as nothing here waits.
        library = ctypes.PyDLL(None)
        self._set = library.timerfd_settime
        self._set.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        self._file: int = library.timerfd_create(_CLOCK_MONOTONIC, os.O_CLOEXEC)
        if self._file < 0:
            raise OSError
        # Seconds and nanoseconds of the period, which stay 0, and those from now on.
        self._times = (ctypes.c_long * 4)()
        self._address = ctypes.addressof(self._times)
        self._is_closed = False

    def wait(self, ns: int) -> None:
        self.put_off(ns)
        # Closing just before has been put off with it.
        if not self._is_closed:
            os.read(self._file, 8)

    def put_off(self, ns: int) -> bool:
        """Wake the thread after some time from now, not when it was to wake."""
        times = self._times
        times[2], times[3] = divmod(max(ns, 1), NS_PER_SECOND)
        self._set(self._file, 0, self._address, None)
        return True

    def close(self) -> None:
        self._is_closed = True
        self.put_off(1)

    def free(self) -> None:
        os.close(self._file)


def _alarm() -> _HeldLock | _TimerFile:
    if sys.platform == "linux":
        try:
            return _TimerFile()
        except (AttributeError, OSError):
            # An emulated Linux may have none.
            pass
    return _HeldLock()


class SceneSampler:
    """Samples the thread that makes it, from a thread of its own.

    For the thread of the session.
    """

    def __init__(self, clock_id: int, until_wake_ns: Callable[[], int | None]) -> None:
        """Begin to sample; ``until_wake_ns`` is called from any thread."""
        self._until_wake_ns = until_wake_ns
        self._scene = _Scene(clock_id)
        self._sampler = Sampler(cast("Program", self._scene))
        self._lock = Lock()
        self._wanted = Event()
        self._alarm = _alarm()
        # When the thread is to check next, and when it has done so last.
        self._due_ns = self._checked_ns = 0
        self._is_closed = False
        self._sampler.begin()
        self._thread = Thread(target=self._run, name="scene sampler", daemon=True)
        self._thread.start()

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._alarm.close()
            self._wanted.set()
            # A thread that is still waiting would keep the session alive.
            self._thread.join()
            self._alarm.free()
            self._sampler.end()

    def begin_wake(self) -> None:
        self._scene.frames.began_ns = now_ns = monotonic_ns()
        self._put_off(now_ns, LONG_NS)
        if not self._wanted.is_set():
            self._wanted.set()

    def _put_off(self, now_ns: int, wait_ns: int) -> None:
        """Have the next check in ``wait_ns``; a thread need not wake for short wake-ups."""
        # A check that is overdue is not put off: the thread may be waiting for the interpreter.
        if (
            now_ns < self._due_ns
            and now_ns - self._checked_ns < _MOST_PUT_OFF_NS
            and self._alarm.put_off(wait_ns)
        ):
            self._due_ns = now_ns + wait_ns
            self._sampler.put_off(wait_ns)

    def end_wake(self, at_ns: int, intern: Callable[[str], int]) -> list[RawEvent]:
        """Note that the callbacks of a wake-up have returned; returns the events sampled in it."""
        frames = self._scene.frames
        began_ns, now_ns = frames.began_ns, monotonic_ns()
        frames.busy_ns, frames.index = now_ns - began_ns, frames.index + 1
        frames.began_ns, frames.ended_ns = 0, now_ns
        self._put_off(now_ns, _MOST_WAIT_NS)
        return self._seen(at_ns, intern, is_long=now_ns - began_ns >= LONG_NS)

    def seen_so_far(self, at_ns: int, intern: Callable[[str], int]) -> list[RawEvent]:
        """Return the events sampled in the running wake-up and not returned yet."""
        is_long = monotonic_ns() - self._scene.frames.began_ns >= LONG_NS
        return self._seen(at_ns, intern, is_long=True) if is_long else []

    def _seen(self, at_ns: int, intern: Callable[[str], int], *, is_long: bool) -> list[RawEvent]:
        scene = self._scene
        if not scene.events:
            return []
        with self._lock:
            events, scene.events = scene.events, []
        has_samples = is_long and any(each[1] == SAMPLED for each in events)
        return [self._told(each, at_ns, intern) for each in events] if has_samples else []

    def _told(self, event: RawEvent, at_ns: int, intern: Callable[[str], int]) -> RawEvent:
        _, kind, subject, a, b = event
        row = SCHEMA[EventKind(kind)]
        if kind == SAMPLED:
            b |= SAW_FROM_HERE
        elif kind == COLLECTED:
            b |= COLLECTED_HERE
        texts = self._scene.texts
        a = intern(texts[a]) if row.a.is_text else a
        b = intern(texts[b]) if row.b.is_text else b
        return (at_ns, kind, subject, a, b)

    def _next_look_ns(self) -> int:
        left_ns = None if self._scene.frames.began_ns else self._until_wake_ns()
        return min(max(left_ns or 0, 0) + LONG_NS, _MOST_WAIT_NS)

    def _run(self) -> None:
        sampler, frames = self._sampler, self._scene.frames
        while not self._is_closed:
            wait_ns = sampler.wait_ns(self._next_look_ns())
            if monotonic_ns() - max(frames.began_ns, frames.ended_ns) > _REST_NS:
                if not frames.began_ns:
                    self._wanted.clear()
                    self._wanted.wait()
                sampler.wait_ns(LONG_NS)
            self._due_ns = monotonic_ns() + wait_ns
            self._alarm.wait(wait_ns)
            if not self._is_closed:
                with self._lock:
                    sampler.sample()
                self._checked_ns = monotonic_ns()
