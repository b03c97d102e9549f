"""Functions for a program's frames and marks; they cost next to nothing by themselves."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Optional

    from .program import Program


def _begin_no_frame(delta_s: Optional[float]) -> None:
    """Do nothing: no inspector can come."""


_program: Optional[Program] = None
_begin_frame: Callable[[Optional[float]], None] = _begin_no_frame


def use(program: Program, begin_frame: Callable[[Optional[float]], None]) -> None:
    """Report frames and marks to a program from now on."""
    global _program, _begin_frame
    _program, _begin_frame = program, begin_frame


def frame(delta_s: Optional[float] = None) -> None:
    """Report that a frame of the program's own loop begins, which ends the one before.

    While the program is held, this waits.

    Args:
        delta_s: Seconds since the frame before, if the loop has a delta of its own.
    """
    program = _program
    if program is not None and program.emit is not None:
        _begin_frame(delta_s)


def mark(text: str) -> None:
    """Mark the present instant on the timeline."""
    program = _program
    if program is not None and program.emit is not None:
        program.mark(str(text))
