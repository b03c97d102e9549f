"""The director: a frame with its phases in order, and their measured costs."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
from typing import Final

from inspector.clocks.callbacks import checked_callable, label_of, refuse_unfinished
from inspector.clocks.clock import Clock
from inspector.clocks.failures import CALLBACK_ERRORS
from inspector.clocks.refusals import checked_clock
from inspector.timebase import ns_to_seconds
from inspector.vocabulary import (
    DELTA_CUT,
    FRAME_BEGAN,
    FRAME_ENDED,
    FRAME_SHARES,
    PHASE_ENDED,
    Field,
    MemberKind,
    Phase,
)

#: The phases that take callbacks. Timers of the clock tree fire before the frame.
CALLBACK_PHASES: Final = tuple(phase for phase in Phase if phase is not Phase.TIMERS)
#: The director's number in events: a session has one director.
_NUMBER: Final = 1


class FrameCallback:
    """A callback of one phase of every frame.

    Attributes:
        phase: The phase.
        name: Display name.
        clock: The clock that its delta is from.
        last_ns: Local time of its last call, if its clock is not the director's.
        is_active: ``False`` once it is removed.
        number: Its number in events; 0 while nothing records.
    """

    __slots__ = (
        "__weakref__",
        "callback",
        "clock",
        "is_active",
        "last_ns",
        "name",
        "number",
        "phase",
    )

    def __init__(
        self,
        phase: Phase,
        callback: Callable[[float], object],
        name: str,
        clock: Clock,
        *,
        is_in_every_frame: bool,
    ) -> None:
        self.phase = phase
        self.callback = callback
        self.name = name
        self.clock = clock
        self.last_ns = clock.time_ns
        self.is_active = True
        members = clock.tree.members
        self.number = members.add(self, MemberKind.FRAME_CALLBACK, name, clock)
        members.set(self.number, Field.PHASE, phase.value)
        if is_in_every_frame:
            members.set(self.number, Field.INTERVAL, 0)

    def __repr__(self) -> str:
        return f"<FrameCallback {self.name!r} in {self.phase.text}>"


class Director:
    """Runs frames: gives every phase the delta, measures it and records it.

    The delta is the local time of a clock since the previous frame, so a paused or slowed clock
    gives a delta of 0 or a smaller one. Belongs to the thread that drives the clock's tree.

    Attributes:
        clock: The clock of the deltas; normally the root.
        frame_index: Number of frames begun.
        delta_ns: Delta of the current or last frame.
    """

    def __init__(self, clock: Clock) -> None:
        checked_clock("Director(clock)", clock)
        self.clock = clock
        self.frame_index = 0
        self.delta_ns = 0
        self._last_ns = clock.time_ns
        self._worked_ns = 0
        self._is_in_frame = False
        self._callbacks: dict[Phase, list[FrameCallback]] = {phase: [] for phase in Phase}

    def __repr__(self) -> str:
        return f"<Director of {self.clock.name!r}, {self.frame_index} frames>"

    def on(
        self,
        phase: Phase | str,
        callback: Callable[[float], object],
        *,
        name: str = "",
        clock: Clock | None = None,
    ) -> FrameCallback:
        """Call ``callback(delta)`` in one phase of every frame, delta in seconds.

        Callbacks of a phase run in the order in which they were added. A callback added during
        its own phase is first called in the next frame.

        Args:
            phase: The phase.
            callback: Called with the delta.
            name: Display name; the callback's own name by default.
            clock: The clock of the delta; the callback is then skipped while that clock
                stands still. By default the director's clock; the callback is then called in
                every frame, with a delta of 0 while the clock stands still.

        Raises:
            ValueError: The phase is unknown, or ``timers``, which clocks fill themselves.
            TypeError: ``callback`` cannot be called or is swapped with the phase.
        """
        wanted = _phase(phase)
        checked_callable(callback)
        label = name or label_of(callback)
        whose = clock or self.clock
        whose.tree.sync()
        registration = FrameCallback(
            wanted, callback, label, whose, is_in_every_frame=whose is self.clock
        )
        # Copied, so that a frame in progress goes on with the list it began with.
        self._callbacks[wanted] = [*self._callbacks[wanted], registration]
        return registration

    def remove(self, registration: FrameCallback) -> bool:
        """Remove a callback at once; returns whether it was active."""
        if not registration.is_active:
            return False
        registration.clock.tree.sync()
        registration.is_active = False
        registration.clock.tree.members.remove(registration.number)
        kept = [other for other in self._callbacks[registration.phase] if other is not registration]
        self._callbacks[registration.phase] = kept
        return True

    def callbacks(self, phase: Phase) -> tuple[FrameCallback, ...]:
        """Return the callbacks of a phase in call order."""
        return tuple(self._callbacks[phase])

    @property
    def is_in_frame(self) -> bool:
        """Whether a frame is running."""
        return self._is_in_frame

    def charge_work_ns(self, worked_ns: int) -> bool:
        """Charge virtual time to the running phase; returns whether there is one."""
        if self._is_in_frame:
            self._worked_ns += worked_ns
        return self._is_in_frame

    def run_frame(
        self,
        interval_ns: int,
        cut_ns: int = 0,
        timers_ns: int = 0,
        shares: tuple[int, int, int] | None = None,
    ) -> int:
        """Run one frame; returns the measured time in its callbacks.

        Args:
            interval_ns: The source's time since the previous frame, in nanoseconds.
            cut_ns: Time that the transport cut from the delta, in nanoseconds.
            timers_ns: Measured time in timers since the previous frame.
            shares: Where the interval went, as in a ``FRAME_SHARES`` event; ``None`` if unknown.

        Raises:
            RuntimeError: Called from inside a frame.
        """
        self.clock.tree.check_thread()
        if self._is_in_frame:
            raise RuntimeError("a frame is running; a frame callback cannot run another")
        self._is_in_frame = True
        try:
            return self._run_frame(interval_ns, cut_ns, timers_ns, shares) - timers_ns
        finally:
            self._is_in_frame = False

    def _run_frame(  # noqa: C901 - top to bottom
        self, interval_ns: int, cut_ns: int, timers_ns: int, shares: tuple[int, int, int] | None
    ) -> int:
        tree = self.clock.tree
        record = tree.record
        index = self.frame_index
        self.frame_index += 1
        local_ns = self.clock.time_ns
        self.delta_ns = delta_ns = local_ns - self._last_ns
        self._last_ns = local_ns
        busy_ns = timers_ns
        if record is not None:
            record((tree.now_ns, FRAME_BEGAN, _NUMBER, index, delta_ns))
            if cut_ns:
                record((tree.now_ns, DELTA_CUT, _NUMBER, cut_ns, 0))
            if shares is not None:
                record((tree.now_ns, FRAME_SHARES, *shares))
            if timers_ns:
                record((tree.now_ns, PHASE_ENDED, Phase.TIMERS, index, timers_ns))
        delta = ns_to_seconds(delta_ns)
        is_begun = False
        for phase in CALLBACK_PHASES:
            callbacks = self._callbacks[phase]
            if not callbacks:
                continue
            began_ns = perf_counter_ns()
            if not is_begun:
                # The frame's measured time begins here.
                tree.members.frame_began_ns = began_ns
                is_begun = True
            for registration in callbacks:
                if registration.is_active:
                    self._call(registration, delta)
            took_ns = perf_counter_ns() - began_ns + self._worked_ns
            self._worked_ns = 0
            busy_ns += took_ns
            if record is not None:
                record((tree.now_ns, PHASE_ENDED, phase, index, took_ns))
            if tree.is_halted:
                break
        if record is not None:
            record((tree.now_ns, FRAME_ENDED, _NUMBER, interval_ns, busy_ns))
        return busy_ns

    def _call(self, registration: FrameCallback, delta: float) -> None:
        clock = registration.clock
        if clock is not self.clock:
            if clock.is_removed:
                return
            now_ns = clock.time_ns
            delta_ns = now_ns - registration.last_ns
            if delta_ns <= 0:
                return
            registration.last_ns = now_ns
            delta = ns_to_seconds(delta_ns)
        number = registration.number
        began_ns = perf_counter_ns() if number else 0
        try:
            refuse_unfinished(registration.callback(delta))
        except CALLBACK_ERRORS as error:
            clock.tree.members.call_ended(number, began_ns)
            # Reported for the callback's own clock, so that the failure counts for that branch.
            clock.tree.report_failure(clock, 0, registration.name, error)
        else:
            if number:
                clock.tree.members.call_ended(number, began_ns)


def _phase(phase: Phase | str) -> Phase:
    given: object = phase
    if callable(given):
        right = f'on("update", {label_of(given)})'
        raise TypeError(f"on(phase, callback): the phase comes first, as in {right}")
    try:
        found = phase if isinstance(phase, Phase) else Phase[phase.upper().replace(" ", "_")]
    except KeyError:
        found = None
    if found not in CALLBACK_PHASES:
        known = ", ".join(other.name.lower() for other in CALLBACK_PHASES)
        raise ValueError(f"no phase for frame callbacks: {phase!r} (there are {known})")
    return found
