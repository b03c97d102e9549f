"""The frames in a block of events, as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from inspector.trace.recording.columns import kind_table, of_kinds
from inspector.vocabulary import EventKind, Phase

if TYPE_CHECKING:
    from inspector.trace.recording.columns import Block
    from inspector.trace.timeline import Timeline

_FIRST_PHASE: Final = 7
_ROWS: Final = _FIRST_PHASE + len(Phase)
_PARTS: Final = (
    EventKind.FRAME_BEGAN,
    EventKind.PHASE_ENDED,
    EventKind.FRAME_ENDED,
    EventKind.DELTA_CUT,
)
_parts = kind_table(_PARTS)


class FrameCollector:
    """Takes blocks of events, one after another, and gives the frames that ended in them."""

    def __init__(self, timeline: Timeline) -> None:
        """Begin in a state, perhaps in the midst of a frame."""
        self.end = timeline.frames.end
        began = (timeline._frame_at_ns, EventKind.FRAME_BEGAN, 0, 0, timeline._frame_delta_ns)
        cut = (0, EventKind.DELTA_CUT, 0, timeline._frame_cut_ns, 0)
        phases = [
            (0, EventKind.PHASE_ENDED, phase, 0, timeline._frame_phases[phase]) for phase in Phase
        ]
        # What belongs to the frame that has not ended, with the cursor as a sixth row.
        open_frame = np.array([began, cut, *phases], np.int64).T
        self._open = np.vstack([open_frame, np.zeros((1, open_frame.shape[1]), np.int64)])

    def take(self, block: Block, first_cursor: int) -> Block:
        """Return the frames that ended in a block, in the columns of ``frames``."""
        found = np.flatnonzero(of_kinds(block, _parts))
        new = np.vstack([block[:, found], (found + first_cursor)[np.newaxis]])
        parts = np.hstack([self._open, new])
        _, kind, subject, a, b, cursor = parts
        ended = np.flatnonzero(kind == EventKind.FRAME_ENDED)
        began = np.flatnonzero(kind == EventKind.FRAME_BEGAN)
        frames = np.zeros((_ROWS, len(ended)), np.int64)
        # There is always one that has begun: that of the state before.
        start = began[np.searchsorted(began, ended) - 1] if ended.size else ended
        frames[0] = np.arange(self.end, self.end + len(ended))
        frames[1] = cursor[ended] + 1
        frames[2], frames[4] = parts[0, start], b[start]
        frames[3], frames[5] = a[ended], b[ended]
        for inner, row in ((EventKind.DELTA_CUT, 6), (EventKind.PHASE_ENDED, None)):
            at = np.flatnonzero(kind == inner)
            frame = np.searchsorted(ended, at)
            inside = frame < len(ended)
            at, frame = at[inside], frame[inside]
            at, frame = at[at > start[frame]], frame[at > start[frame]]
            if row is not None:
                frames[row, frame] = a[at]
            else:
                np.add.at(frames, (_FIRST_PHASE + subject[at], frame), b[at])
        self.end += len(ended)
        self._open = parts[:, began[-1] :]
        # Those that have ended already need not end again.
        self._open = self._open[:, self._open[1] != EventKind.FRAME_ENDED]
        return frames
