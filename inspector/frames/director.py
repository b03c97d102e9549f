"""The director: one frame, its phases in order, and what they cost."""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

from inspector.clocks.callbacks import checked_callable, label_of, refuse_unfinished
from inspector.clocks.failures import CALLBACK_ERRORS
from inspector.clocks.mistakes import checked_clock, missing_attribute
from inspector.timebase import ns_to_seconds
from inspector.vocabulary import (
    DELTA_CUT,
    FRAME_BEGAN,
    FRAME_ENDED,
    PHASE_ENDED,
    Field,
    MemberKind,
    Phase,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.clocks.clock import Clock

#: The phases that callbacks can join. Timers of the clock tree fire before the frame.
CALLBACK_PHASES: Final = tuple(phase for phase in Phase if phase is not Phase.TIMERS)
#: Number of the director in the events: a session has one.
_NUMBER: Final = 1


class FrameCallback:
    """A callback that is called in one phase of every frame.

    Attributes:
        phase: When in the frame.
        name: What people call it.
        clock: Whose seconds it is given.
        last_ns: Local time of its last call, if its clock is not the director's.
        is_active: ``False`` once it was removed.
        number: By which it is reported; 0 when nobody records.
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
        """Hold what :meth:`Director.on` was given."""
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
        """Show name and phase."""
        return f"<FrameCallback {self.name!r} in {self.phase.text}>"


class Director:
    """Runs frames: gives every phase the delta, measures it, records it.

    The delta is the local time of a clock that has passed since the frame before,
    so a paused or slowed clock gives a delta of 0 or a smaller one. A frame belongs
    to the thread that drives the clock's tree.

    Attributes:
        clock: Whose time the deltas are; normally the root.
        frame_index: How many frames have begun.
        delta_ns: Delta of the present or last frame.
    """

    if not TYPE_CHECKING:
        __getattr__ = missing_attribute

    def __init__(self, clock: Clock) -> None:
        """Begin with no callbacks.

        Args:
            clock: Whose time the deltas are.

        Raises:
            TypeError: ``clock`` is no clock.
        """
        checked_clock("Director(clock)", clock)
        self.clock = clock
        self.frame_index = 0
        self.delta_ns = 0
        self._last_ns = clock.time_ns
        self._worked_ns = 0
        self._is_in_frame = False
        self._callbacks: dict[Phase, list[FrameCallback]] = {phase: [] for phase in Phase}

    def __repr__(self) -> str:
        """Show the clock and the frame count."""
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

        Callbacks of a phase run in the order in which they were added. One that is
        added during its own phase is called from the next frame on.

        Args:
            phase: When in the frame.
            callback: What is called.
            name: What people call it; the callback's own name if left out.
            clock: Whose seconds it is given, since its last call; then it is left out while
                that clock stands still. The director's if left out, and it is called in
                every frame, with a delta of 0 while the director's clock stands still.

        Raises:
            ValueError: An unknown phase, or ``timers``, which clocks fill by themselves.
            TypeError: ``callback`` cannot be called, or stands in the place of the phase.
        """
        wanted = _phase(phase)
        checked_callable(callback)
        label = name or label_of(callback)
        whose = clock or self.clock
        registration = FrameCallback(
            wanted, callback, label, whose, is_in_every_frame=whose is self.clock
        )
        # Copied, so that a frame that is under way keeps to the list it began with.
        self._callbacks[wanted] = [*self._callbacks[wanted], registration]
        return registration

    def remove(self, registration: FrameCallback) -> bool:
        """Stop calling a callback, at once; returns whether that changed anything."""
        if not registration.is_active:
            return False
        registration.is_active = False
        registration.clock.tree.members.remove(registration.number)
        kept = [other for other in self._callbacks[registration.phase] if other is not registration]
        self._callbacks[registration.phase] = kept
        return True

    def callbacks(self, phase: Phase) -> tuple[FrameCallback, ...]:
        """Return the callbacks of a phase in call order."""
        return tuple(self._callbacks[phase])

    def charge_work_ns(self, worked_ns: int) -> bool:
        """Charge virtual time to the phase that is under way; returns whether one is."""
        if self._is_in_frame:
            self._worked_ns += worked_ns
        return self._is_in_frame

    def run_frame(self, interval_ns: int, cut_ns: int = 0, timers_ns: int = 0) -> None:
        """Run one frame.

        Args:
            interval_ns: The source's time since the frame before, in nanoseconds.
            cut_ns: What the transport cut from the session time that passed.
            timers_ns: What timers have cost since the frame before, measured.

        Raises:
            RuntimeError: Called from inside a frame.
        """
        if self._is_in_frame:
            message = "a frame is running; a frame callback cannot run another"
            raise RuntimeError(message)
        self._is_in_frame = True
        try:
            self._run_frame(interval_ns, cut_ns, timers_ns)
        finally:
            self._is_in_frame = False

    def _run_frame(  # noqa: C901 - top to bottom
        self, interval_ns: int, cut_ns: int, timers_ns: int
    ) -> None:
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
                # Nothing of the frame that is measured comes before this.
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
        except KeyboardInterrupt:
            raise
        except CALLBACK_ERRORS as error:
            clock.tree.members.call_ended(number, began_ns)
            # For the callback's own clock, so that it counts for that branch.
            clock.tree.report_failure(clock, 0, registration.name, error)
        else:
            if number:
                clock.tree.members.call_ended(number, began_ns)


def _phase(phase: Phase | str) -> Phase:
    given: object = phase
    if callable(given):
        right = f'on("update", {label_of(given)})'
        message = f"on(phase, callback): the phase comes first, as in {right}"
        raise TypeError(message)
    try:
        found = phase if isinstance(phase, Phase) else Phase[phase.upper().replace(" ", "_")]
    except KeyError:
        found = None
    if found not in CALLBACK_PHASES:
        known = ", ".join(other.name.lower() for other in CALLBACK_PHASES)
        message = f"no phase for frame callbacks: {phase!r} (there are {known})"
        raise ValueError(message)
    return found
