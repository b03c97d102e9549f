"""Causes of frames over budget, each by its largest share of the interval."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.vocabulary import Share


class LongFrameCause(IntEnum):
    TIMERS = 0
    UPDATES = 1
    INSPECTOR = 2
    GARBAGE_COLLECTION = 3
    HOST_LATE = 4
    UNKNOWN = 5

    @property
    def text(self) -> str:
        return _TEXTS[self]

    @property
    def title(self) -> str:
        """Frames that are long because of it, as they are called in a table."""
        return "Long, cause unknown" if self is LongFrameCause.UNKNOWN else f"Long by {self.text}"


_TEXTS = {
    LongFrameCause.TIMERS: "timer callbacks",
    LongFrameCause.UPDATES: "update callbacks",
    LongFrameCause.INSPECTOR: "the inspector",
    LongFrameCause.GARBAGE_COLLECTION: "garbage collection",
    LongFrameCause.HOST_LATE: "a late wake-up of the host",
    LongFrameCause.UNKNOWN: "unknown",
}
_NOT_LONG = -1


def long_frame_causes(
    interval_ns: NDArray[np.int64],
    shares_ns: NDArray[np.int64],
    timers_ns: NDArray[np.int64],
    budget: FrameBudget,
) -> NDArray[np.int64]:
    """Return the :class:`LongFrameCause` of each frame over budget, -1 for the others.

    The cause is the largest share of the interval except idle time. Callbacks count as timers if at
    least half of their time is spent in timers.

    Args:
        shares_ns: The shares of the intervals, shape (shares, frames), rows by ``Share``.
    """
    callbacks = shares_ns[Share.CALLBACKS]
    is_timers = 2 * timers_ns >= callbacks
    unknown = (interval_ns - shares_ns.sum(axis=0)).clip(0)
    candidates = np.stack(
        [
            np.where(is_timers, callbacks, _NOT_LONG),
            np.where(is_timers, _NOT_LONG, callbacks),
            shares_ns[Share.INSPECTOR],
            shares_ns[Share.GARBAGE_COLLECTION],
            shares_ns[Share.HOST_LATE],
            unknown,
        ]
    )
    found = candidates.argmax(axis=0)
    return np.where(interval_ns > budget.longest_ns, found, _NOT_LONG)
