"""The frames that end in blocks of events, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from inspector.events.blocks.packed_columns import Block, kind_table, of_kinds
from inspector.events.schema import CUTS, FRAME_ENDS, FRAME_STARTS, PHASE_ENDS, SHARES
from inspector.vocabulary import Phase, Share, durations_of

_starts, _ends = kind_table(FRAME_STARTS), kind_table(FRAME_ENDS)
_phases = kind_table(PHASE_ENDS)
_cuts, _shares = kind_table(CUTS), kind_table(SHARES)

# Rows of the columns, in the order of the table.
_FRAME, _CURSOR, _AT, _INTERVAL, _DELTA, _BUSY, _CUT, _FIRST_PHASE = range(8)
_FIRST_SHARE: Final = _FIRST_PHASE + len(Phase)
_ROWS: Final = _FIRST_SHARE + len(Share)
#: The rows from this one on are the columns of a frame history.
OF_HISTORY: Final = _AT


class FrameCollector:
    """Finds the frames that end in consecutive blocks of events."""

    def __init__(self, end: int, open_frame: Sequence[int]) -> None:
        self.end = end
        self._open = np.zeros(_ROWS, np.int64)
        self._open[[_AT, _DELTA, *range(_CUT, _ROWS)]] = open_frame

    def fold(
        self, block: Block, first_cursor: int, places: NDArray[np.intp] | None = None
    ) -> Block:
        """Return the frames that ended in a block, as columns of the table ``frames``.

        Args:
            first_cursor: Cursor of the first event of the block, or of what it was taken from.
            places: Places of the events among those from ``first_cursor`` on; by default they
                follow one another.
        """
        at_ns, _, subject, a, b = block
        is_end = of_kinds(block, _ends)
        ended = np.flatnonzero(is_end)
        count = len(ended)
        # Index of each event's frame within the block.
        frame_of = np.cumsum(is_end, dtype=np.intp)
        # The last frame has not ended.
        frames = np.zeros((_ROWS, count + 1), np.int64)
        frames[_FRAME] = np.arange(self.end, self.end + count + 1)
        frames[_CURSOR, :count] = ended if places is None else places[ended]
        frames[_CURSOR, :count] += first_cursor + 1
        frames[_INTERVAL, :count], frames[_BUSY, :count] = a[ended], b[ended]
        began = np.flatnonzero(of_kinds(block, _starts))
        start = np.full(count + 1, -1)
        start[frame_of[began]] = began
        if start[0] < 0:
            frames[_CUT:, 0] = self._open[_CUT:]
        # A frame without a start event of its own takes that of the frame before.
        since = np.maximum.accumulate(start)
        frames[_AT], frames[_DELTA] = at_ns[since], b[since]
        goes_on = since < 0
        frames[_AT, goes_on], frames[_DELTA, goes_on] = self._open[_AT], self._open[_DELTA]

        def inside(part: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
            """Return the indexes of events inside frames, and their frames."""
            at = np.flatnonzero(of_kinds(block, part))
            frame = frame_of[at]
            is_inside = at > start[frame]
            return at[is_inside], frame[is_inside]

        at, frame = inside(_cuts)
        frames[_CUT, frame] = a[at]
        at, frame = inside(_shares)
        shares = (*durations_of(subject[at]), *durations_of(a[at]), b[at])
        frames[_FIRST_SHARE:, frame] = shares
        at, frame = inside(_phases)
        np.add.at(frames.reshape(-1), (_FIRST_PHASE + subject[at]) * (count + 1) + frame, b[at])
        self.end += count
        self._open = frames[:, count].copy()
        return frames[:, :count]
