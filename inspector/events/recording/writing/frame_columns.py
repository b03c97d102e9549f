"""The frames in a block of events, as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from inspector.vocabulary import EventKind, Phase

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inspector.events.recording.columns import Block
    from inspector.events.timeline import Timeline

# Rows of the columns, in the order of the table.
_FRAME, _CURSOR, _AT, _INTERVAL, _DELTA, _BUSY, _CUT, _FIRST_PHASE = range(8)
_ROWS: Final = _FIRST_PHASE + len(Phase)


class FrameCollector:
    """Takes blocks of events, one after another, and gives the frames that ended in them."""

    def __init__(self, timeline: Timeline) -> None:
        """Begin in a state, perhaps in the midst of a frame."""
        self.end = timeline.frames.end
        # What is known of the frame that has not ended.
        self._open = np.zeros(_ROWS, np.int64)
        self._open[[_AT, _DELTA]] = timeline._frame_at_ns, timeline._frame_delta_ns
        self._open[_CUT] = timeline._frame_cut_ns
        self._open[_FIRST_PHASE:] = timeline._frame_phases

    def take(self, block: Block, first_cursor: int) -> Block:
        """Return the frames that ended in a block, in the columns of ``frames``."""
        at_ns, kind, subject, a, b = block
        is_end = kind == EventKind.FRAME_ENDED
        ended = np.flatnonzero(is_end)
        count = len(ended)
        # The frame that each event is in, counted from the first.
        frame_of = np.cumsum(is_end)
        # The one behind the last has not ended.
        frames = np.zeros((_ROWS, count + 1), np.int64)
        frames[_FRAME] = np.arange(self.end, self.end + count + 1)
        frames[_CURSOR, :count] = ended + (first_cursor + 1)
        frames[_INTERVAL, :count], frames[_BUSY, :count] = a[ended], b[ended]
        began = np.flatnonzero(kind == EventKind.FRAME_BEGAN)
        start = np.full(count + 1, -1)
        start[frame_of[began]] = began
        if start[0] < 0:
            frames[_CUT:, 0] = self._open[_CUT:]
        # Where none has begun, it is the one before that goes on.
        since = np.maximum.accumulate(start)
        frames[_AT], frames[_DELTA] = at_ns[since], b[since]
        goes_on = since < 0
        frames[_AT, goes_on], frames[_DELTA, goes_on] = self._open[_AT], self._open[_DELTA]

        def inside(part: EventKind) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
            """Return where there are parts of frames, and which frames those are."""
            at = np.flatnonzero(kind == part)
            frame = frame_of[at]
            is_inside = at > start[frame]
            return at[is_inside], frame[is_inside]

        at, frame = inside(EventKind.DELTA_CUT)
        frames[_CUT, frame] = a[at]
        at, frame = inside(EventKind.PHASE_ENDED)
        np.add.at(frames.reshape(-1), (_FIRST_PHASE + subject[at]) * (count + 1) + frame, b[at])
        self.end += count
        self._open = frames[:, count].copy()
        return frames[:, :count]
