"""Mapping many due times of a clock to session time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from inspector.clocks.rate import D, parent_ns
from inspector.vocabulary import NEVER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from inspector.events.states import ClockState

#: With rates between these numerators, times up to a century stay within 64 bits.
_SLOWEST: Final = D // 1_000
_FASTEST: Final = 12 * D
_LATEST_NS: Final = 2**61
#: Fewer due times are mapped faster one by one.
_WORTH_IT: Final = 16


def session_instants(
    due_ns: NDArray[np.int64], path: Sequence[ClockState]
) -> NDArray[np.int64] | list[int]:
    """Return the first session instants that reach local times of the path's first clock."""
    if len(due_ns) < _WORTH_IT or not all(_SLOWEST <= clock.n <= _FASTEST for clock in path):
        return [_one_by_one(int(each), path) for each in due_ns]
    instants = due_ns
    for clock in path:
        n = clock.n
        whole, rest = instants // n, instants % n
        off_whole, off_rest = divmod(clock.off, n)
        if abs(off_whole) > _LATEST_NS or int(abs(whole).max()) > _LATEST_NS // D:
            return [_one_by_one(int(each), path) for each in due_ns]
        # ceil((due * D - off) / n), split so that no product exceeds 64 bits.
        instants = whole * D - off_whole - (off_rest - rest * D) // n
    return instants


def _one_by_one(due_ns: int, path: Sequence[ClockState]) -> int:
    for clock in path:
        due_ns = parent_ns(due_ns, clock.n, clock.off)
    # Columns hold 64 bits, and no session lasts until such an instant.
    return max(min(due_ns, NEVER - 1), -NEVER)
