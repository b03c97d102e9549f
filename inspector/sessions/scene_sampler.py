"""Samples the thread of a scene during long wake-ups, as a probe does in a program.

This is for real time only. Session time stands still during a wake-up, so samples are recorded at
its end, all at its instant: each sample stands for the time after that of the previous one.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Lock, Thread, get_ident, get_native_id
from time import monotonic_ns
from typing import Final, cast

from inspector.events.schema import SCHEMA
from inspector.probe.program import Program
from inspector.probe.sampler import LONG_NS, Sampler
from inspector.probe.texts import Texts
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
#: Most events kept of one wake-up.
_MOST_EVENTS: Final = 50_000


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
        # A lock that is held until closing: waiting for an event instead takes several times as
        # long, at each check.
        self._open = Lock()
        self._open.acquire()
        self._is_closed = False
        self._sampler.begin()
        self._thread = Thread(target=self._run, name="scene sampler", daemon=True)
        self._thread.start()

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._open.release()
        self._wanted.set()
        # A thread that is still waiting would keep the session alive.
        self._thread.join()
        self._sampler.end()

    def begin_wake(self) -> None:
        self._scene.frames.began_ns = monotonic_ns()
        if not self._wanted.is_set():
            self._wanted.set()

    def end_wake(self, at_ns: int, intern: Callable[[str], int]) -> list[RawEvent]:
        """Note that the callbacks of a wake-up have returned; returns the events sampled in it."""
        frames = self._scene.frames
        began_ns, now_ns = frames.began_ns, monotonic_ns()
        frames.busy_ns, frames.index = now_ns - began_ns, frames.index + 1
        frames.began_ns, frames.ended_ns = 0, now_ns
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
            if not self._open.acquire(timeout=wait_ns / 1e9):
                with self._lock:
                    sampler.sample()
