"""The numbers of the programs, clocks, timers and members of an attached session."""

from __future__ import annotations

from typing import Final

#: Numbers of a program are below 2 to the power of this; above are the numbers of programs.
NUMBER_BITS: Final = 40
MOST_NUMBERS: Final = 1 << NUMBER_BITS
#: The number of the session's clock above a program and its children, in that program's numbers.
ABOVE_PROGRAM: Final = MOST_NUMBERS - 1
#: The session's own root clock is 1, so clocks of programs follow it.
ROOT_ID: Final = 1


def program_of(number: int) -> int:
    return number >> NUMBER_BITS


def program_of_clock(clock_id: int) -> int:
    """Return the index of the program of a clock, -1 for the session's own."""
    return -1 if clock_id <= ROOT_ID else (clock_id - ROOT_ID) >> NUMBER_BITS


def own_number(number: int) -> int:
    """Return the number that a program itself gave a timer or member."""
    return number & (MOST_NUMBERS - 1)


def own_clock(clock_id: int) -> int:
    """Return the number that a program itself gave a clock."""
    return own_number(clock_id - ROOT_ID)


def is_above_programs(clock_id: int) -> bool:
    """Return whether a clock is the session's own, at session time: the root, or of a family."""
    return clock_id <= ROOT_ID or (clock_id - ROOT_ID) & ABOVE_PROGRAM == ABOVE_PROGRAM


def is_family(clock_id: int) -> bool:
    """Return whether a clock is the session's own above a program and its children."""
    return clock_id > ROOT_ID and is_above_programs(clock_id)
