"""Describes what is pending when an inspector comes, a few milliseconds at a time."""

from __future__ import annotations

from functools import partial
from time import monotonic_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Optional

    from .clocks import Clock
    from .program import Program

#: A slice ends with the first few timers after this time. It takes at most 4 ms of the program's
#: thread: the rest is for a table of 100 000 entries that has to grow.
SLICE_NS = 2_000_000
#: If a slice has not begun after this time, its thread is busy or waits for something else.
_STUCK_NS = 50_000_000
#: After this time, the probe's thread reads the timers, if the adapter allows it.
_BUSY_NS = 250_000_000


class _Description:
    __slots__ = ("asked_ns", "claim", "clock", "is_read_here", "slices", "timers")

    def __init__(self, clock: Optional[Clock], timers: Iterator[None]) -> None:
        self.clock = clock
        self.timers = timers
        # One element while a slice was asked for and has not begun: the thread that pops it runs it
        self.claim: list[None] = []
        # asked_ns: When the slice was asked for, 0 between two slices
        # slices: Number of slices that have ended
        self.asked_ns = self.slices = 0
        self.is_read_here = False  # Whether its thread was busy, so that the probe's own reads them

    def waits_for(self, waited_ns: int) -> bool:
        """Return whether a slice has not begun within a time since it was asked for."""
        return bool(self.claim) and monotonic_ns() - self.asked_ns > waited_ns


class Keyframe:
    """The slices of one keyframe; each clock has at most one slice at a time."""

    def __init__(self, program: Program, *, is_first: bool) -> None:
        self._program = program
        self._waiting: list[_Description] = []
        self.slices = 0  # Number of slices that have ended
        if is_first:
            for clock in list(program.clocks.by_number.values()):
                self.add(clock)
        else:
            self._waiting.append(_Description(None, program.described_again()))

    def add(self, clock: Clock) -> None:
        """Have the pending timers of a clock described as well."""
        adapter = clock.adapter
        timers = adapter and self._program.guarded(adapter, adapter.keyframe, clock)
        if timers is not None:
            self._waiting.append(_Description(clock, timers))

    @property
    def is_complete(self) -> bool:
        return not self._waiting

    @property
    def is_stuck(self) -> bool:
        """Whether all slices wait for threads that do something else, for an unknown time."""
        waiting = list(self._waiting)
        return bool(waiting) and all(each.waits_for(_STUCK_NS) for each in waiting)

    @property
    def busy(self) -> list[tuple[int, str, int]]:
        """The clocks whose timers are not known yet because their threads are busy.

        Each with the name of its thread, empty if it is not known, and since when the slice waits.
        """
        return [
            (each.clock.number, each.clock.thread, each.asked_ns)
            for each in list(self._waiting)
            if each.clock is not None and each.waits_for(_BUSY_NS)
        ]

    def go_on(self) -> None:
        """Have the next slices run, on the threads that they need."""
        began_ns = monotonic_ns()
        # Some slices run at once, on this thread.
        for each in sorted(self._waiting, key=lambda each: each.slices):
            if not each.asked_ns:
                self._ask(each)
            elif each.waits_for(_BUSY_NS) and self._may_read_here(each):
                each.is_read_here = True
                self._run(each, each.claim)
            if monotonic_ns() - began_ns >= SLICE_NS:
                break

    def _may_read_here(self, each: _Description) -> bool:
        clock = each.clock
        return clock is None or clock.is_removed or bool(clock.adapter.reads_anywhere)

    def _ask(self, each: _Description) -> None:
        clock = each.clock
        each.asked_ns, each.claim = monotonic_ns(), [None]
        if clock is None or clock.is_removed or each.is_read_here:
            self._run(each, each.claim)
            return
        adapter = clock.adapter
        run = partial(self._run, each, each.claim)
        self._program.guarded(adapter, adapter.call_soon, clock, run)
        if adapter.state == "failed" and each in self._waiting:
            self._waiting.remove(each)

    def _run(self, each: _Description, claim: list[None]) -> None:
        try:
            claim.pop()
        except IndexError:
            # Another thread runs it.
            return
        clock = each.clock
        began_ns = now_ns = monotonic_ns()
        is_over = True
        try:
            if clock is None or not clock.is_removed:
                for _ in each.timers:
                    now_ns = monotonic_ns()
                    if now_ns - began_ns >= SLICE_NS:
                        is_over = False
                        break
        except Exception as error:  # noqa: BLE001 - what adapters read may be gone
            if clock is not None:
                self._program.adapter_failed(clock.adapter, error)
        finally:
            if is_over and each in self._waiting:
                self._waiting.remove(each)
            each.slices += 1
            self.slices += 1
            each.asked_ns = 0
            if is_over and each.is_read_here and clock is not None and not clock.is_removed:
                self._program.guarded(clock.adapter, clock.adapter.was_read_elsewhere, clock)
