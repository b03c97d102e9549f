"""The numbers of the programs, clocks, timers and members of an attached session."""

from __future__ import annotations

from typing import Final

#: A program's own numbers have this many bits; the bits above are the program's index.
NUMBER_BITS: Final = 40
MOST_NUMBERS: Final = 1 << NUMBER_BITS
#: Among a program's numbers: the session's clock above the program and its children.
ABOVE_PROGRAM: Final = MOST_NUMBERS - 1
#: The number of the session's root clock, which is added to those of programs' clocks.
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
    """Return whether a clock is the session's own: the root, or above a program with children."""
    return clock_id <= ROOT_ID or (clock_id - ROOT_ID) & ABOVE_PROGRAM == ABOVE_PROGRAM


def is_family(clock_id: int) -> bool:
    """Return whether a clock is the session's own above a program and its children."""
    return clock_id > ROOT_ID and is_above_programs(clock_id)
