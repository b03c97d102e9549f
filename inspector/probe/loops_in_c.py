"""Loops that wait in C: where their threads are then, which only their stacks tell."""

from __future__ import annotations

from .stacks import called_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Optional

    from .clocks import Clock
    from .program import Program
    from .stacks import Runner

    #: Depth of a frame, its code and its place in that.
    Place = tuple[int, CodeType, int]

#: A call that is due for longer than this is not made by a loop.
_OVERDUE_NS = 10_000_000
#: Names of what runs a loop of Qt or uvloop until it ends, as dialogs do.
_LOOP_NAMES = frozenset(
    (  # noqa: SIM905 - a list would be 20 lines
        "exec exec_ processEvents run_forever run_until_complete question information warning "
        "critical about aboutQt getOpenFileName getOpenFileNames getSaveFileName getText getItem "
        "getExistingDirectory getInt getDouble getMultiLineText getColor getFont"
    ).split()
)


class LoopsInC:
    """Where a loop waits, and the loops that run within its calls, such as dialogs."""

    __slots__ = ("_bases", "_clock", "_nested", "_program")

    def __init__(self, program: Program, clock: Clock) -> None:
        self._program = program
        self._clock = clock
        self._bases: list[Place] = []
        # Where a loop may wait within a call, and when the next timer was due then
        self._nested: Optional[tuple[Place, Optional[int]]] = None

    def is_idle(self, innermost: FrameType) -> bool:
        """Return whether the innermost of its loops waits for its next event."""
        depth = 0
        frame: Optional[FrameType] = innermost
        while frame is not None:
            depth += 1
            frame = frame.f_back
        bases, here = self._bases, (depth, innermost.f_code, innermost.f_lasti)
        while len(bases) > 1 and depth < bases[-1][0]:
            bases.pop()
        if not bases or depth < bases[-1][0]:
            bases[:] = [here]
        if here == bases[-1]:
            return True
        if not _begins_loop(innermost.f_code, innermost.f_lasti):
            return False
        if depth == bases[-1][0]:
            # What was seen before was no loop, or has ended.
            bases[-1] = here
            return True
        # A loop within a call, or a call of the same name that only waits.
        due_ns = self._program.first_due_ns(self._clock)
        before, self._nested = self._nested, (here, due_ns)
        if before is not None and before[0] == here and before[1] != due_ns:
            # It has called what was due.
            bases.append(here)
            return True
        return due_ns is None or self._clock.local_ns() - due_ns < _OVERDUE_NS

    def is_all(self, stack: list[tuple[CodeType, int]], runner: Runner) -> bool:
        """Return whether a stack has no function that the innermost loop called some time ago."""
        if not self._bases or not stack or stack[-1][0] is not self._bases[-1][1]:
            return False
        return runner.place is None or runner.place == self._bases[-1][1:]


def _begins_loop(code: CodeType, place: int) -> bool:
    """Return whether a function calls, at an instruction, what may run a loop."""
    names = _LOOP_NAMES.intersection(code.co_names)
    return bool(names) and not names.isdisjoint(called_names(code, place))
