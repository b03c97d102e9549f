"""Work that takes long, done a little at a time, so that whoever shows the session stays alive."""

from __future__ import annotations

from math import inf
from time import perf_counter_ns
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def goes_to_end(steps: Iterator[None], slice_ns: int | None) -> bool:
    """Go on with some work; returns whether it is done.

    Args:
        steps: Does a little of it at each turn.
        slice_ns: After so long a pause is made, but not before the next turn is done;
            ``None`` for doing it at one go.
    """
    until_ns = inf if slice_ns is None else perf_counter_ns() + slice_ns
    # Ends with the first turn that is done too late.
    return not any(perf_counter_ns() >= until_ns for _ in steps)
