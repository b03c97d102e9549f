"""Sleeps of tasks on trio and uvloop: those of a task at one place are a timer that repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..kinds import INTERVAL_DELAY, TIMEOUT

if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Optional

    from ..clocks import Clock
    from ..program import Program, Timer


class Sleeps:
    def __init__(self, program: Program, clock: Clock) -> None:
        self._program = program
        self._clock = clock
        self._latest: WeakKeyDictionary[Any, tuple[Timer, CodeType, int]] = WeakKeyDictionary()
        # Timers that have fired and may be set again, by number.
        self._woken: dict[int, Timer] = {}

    def set(  # noqa: PLR0913, PLR0917 - what a sleep is
        self,
        task: Any,
        frame: Optional[FrameType],
        described: tuple[str, int],
        due_ns: int,
        asked_ns: Optional[int],
        handle: Any = None,
    ) -> Timer:
        program, clock = self._program, self._clock
        period_ns, at_ns = due_ns - clock.local_ns() if asked_ns is None else asked_ns, None
        if asked_ns is not None and clock._shift is not None:
            # So that its wait is exactly the time asked for.
            at_ns = due_ns - asked_ns - clock._shift
        kind, latest = TIMEOUT, self._latest.get(task)
        if latest is not None and frame is not None:
            timer, code, place = latest
            is_same = code is frame.f_code and place == frame.f_lasti
            if program.pending(timer.number) is None:
                kind = INTERVAL_DELAY if is_same else TIMEOUT
            elif self._woken.pop(timer.number, None) is None:
                # Not a sleep, of which a task has one at a time, but something made like one.
                frame = None
            elif is_same:
                timer.handle = handle
                timer.armed(due_ns, period_ns, at_ns)
                return timer
            else:
                timer.cleared()
        period_ns = period_ns if kind == INTERVAL_DELAY else 0
        timer = program.timer(clock, *described, due_ns, period_ns, kind, handle, at_ns)
        if frame is not None:
            self._latest[task] = timer, frame.f_code, frame.f_lasti
        return timer

    def woke(self, timer: Timer) -> bool:
        """A timer is due and fires; returns whether its task may set it again."""
        local_ns, period_ns = self._clock.local_ns(), timer.period_ns
        timer.fired(max(local_ns - timer.due_ns, 0), local_ns + period_ns if period_ns else None)
        if period_ns:
            self._woken[timer.number] = timer
        return bool(period_ns)

    def is_woken(self, timer: Timer) -> bool:
        """Whether a timer has fired, and its task may set it again."""
        return timer.number in self._woken

    def settle(self, *timers: Timer) -> None:
        """Clear those of these timers, or of all, that were woken and not set again.

        Their tasks have continued, and wait for something else than a sleep.
        """
        for number in [timer.number for timer in timers] or list(self._woken):
            timer = self._woken.pop(number, None)
            if timer is not None:
                timer.cleared()

    def forget(self) -> None:
        """Start over, for another inspector or for none."""
        self._latest.clear()
        self._woken = {}
