"""Which of many numbers are the same, without sorting them where they lie close together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Numbers lie close together when there are at most so many times as many possible ones.
_DENSE: Final = 8
#: So many different numbers are sorted several times faster than more.
_QUICKLY_SORTED: Final = 1 << 16


def grouped(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Return the different ones, the least first, and for each number which of them it is."""
    if not len(numbers):
        return np.empty(0, np.int64), np.empty(0, np.intp)
    least = int(numbers.min())
    span = int(numbers.max()) - least + 1
    if span > _DENSE * len(numbers):
        different, group = np.unique(numbers, return_inverse=True)
        return different, group
    place = numbers - least
    is_there = np.zeros(span, bool)
    is_there[place] = True
    return np.flatnonzero(is_there) + least, (np.cumsum(is_there) - 1)[place]


def group_by_group(group: NDArray[np.intp], groups: int) -> NDArray[np.intp]:
    """Return the places of numbers, one group behind another, in their order within each.

    Args:
        group: Which group each is of, as :func:`grouped` returns it.
        groups: How many groups there are.
    """
    keys = group.astype(np.uint16) if groups <= _QUICKLY_SORTED else group
    return np.argsort(keys, kind="stable")


def last_of_each(
    numbers: NDArray[np.int64],
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where each different number is found last, and how often it is there."""
    different, group = grouped(numbers)
    last = np.empty(len(different), np.intp)
    # Of several the last one stays.
    last[group] = np.arange(len(group))
    return last, np.bincount(group, minlength=len(different))
