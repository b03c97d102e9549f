"""The frames of several loops of attached programs, of which one is shown.

The shown loop has the same kinds of frame events as a scene, so that every reader of frames can
read it. The frame events of all other loops have kinds of their own. When another loop is chosen,
the kinds of the two loops are exchanged, and no event changes its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from inspector.events.frame_history import NO_PHASES, NO_SHARES, FrameHistory
from inspector.vocabulary import (
    DELTA_CUT,
    FRAME_BEGAN,
    FRAME_ENDED,
    LOOP_DELTA_CUT,
    LOOP_FRAME_BEGAN,
    LOOP_FRAME_ENDED,
    LOOP_PHASE_ENDED,
    PHASE_ENDED,
    LoopKind,
    Phase,
    RawEvent,
    frame_and_phase,
    frame_and_phase_in,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


#: Most frames kept of the loops that are not shown, in 70 MB.
MOST_KEPT: Final = 500_000

_ALIKE: Final = (
    (FRAME_BEGAN, LOOP_FRAME_BEGAN),
    (FRAME_ENDED, LOOP_FRAME_ENDED),
    (DELTA_CUT, LOOP_DELTA_CUT),
)
_OTHERS: Final = dict(_ALIKE)
#: Kind of an event that makes no sense.
_SENSELESS: Final = 0


class LoopFrames:
    """A loop, with its frames while those of another loop are shown."""

    __slots__ = ("asked_ns", "at_ns", "cut_ns", "delta_ns", "frames", "kind", "name", "phases")

    def __init__(self, name: str, kind: LoopKind) -> None:
        self.name = name
        self.kind = kind  # What its frames are
        # The frame interval that it asks for, in local time; 0 if unknown
        self.asked_ns = 0
        self.frames = FrameHistory()  # The completed frames; empty while they are shown
        self.begin(0, 0)

    def begin(self, at_ns: int, delta_ns: int) -> None:
        # at_ns: start of the frame that has not ended
        # cut_ns: the time that was cut from its delta
        self.at_ns, self.delta_ns, self.cut_ns = at_ns, delta_ns, 0
        self.phases = NO_PHASES  # Its phases so far

    def end(self, interval_ns: int, busy_ns: int) -> None:
        self.frames.append(
            self.at_ns, interval_ns, self.delta_ns, busy_ns, self.cut_ns, self.phases
        )

    @property
    def open_frame(self) -> list[int]:
        """The frame that has not ended: start, delta, cut, phases and shares."""
        return [self.at_ns, self.delta_ns, self.cut_ns, *self.phases, *NO_SHARES]

    @open_frame.setter
    def open_frame(self, values: list[int]) -> None:
        self.at_ns, self.delta_ns, self.cut_ns, *rest = values
        self.phases = tuple(rest[: len(Phase)])

    def copy(self) -> LoopFrames:
        twin = LoopFrames(self.name, self.kind)
        twin.asked_ns = self.asked_ns
        twin.frames, twin.open_frame = self.frames.copy(), self.open_frame
        return twin


def drop_oldest(loops: Mapping[int, LoopFrames]) -> int:
    """Drop the older half of the frames of the loop with most; returns how many all loops keep."""
    longest = max(loops.values(), key=lambda each: len(each.frames))
    longest.frames = longest.frames.since(longest.frames.end - len(longest.frames) // 2)
    return sum(len(each.frames) for each in loops.values())


def of_other_loop(event: RawEvent, loop: int) -> RawEvent:
    """Return a frame event as it is for a loop that is not shown."""
    at_ns, kind, subject, a, b = event
    if kind == PHASE_ENDED:
        return (at_ns, LOOP_PHASE_ENDED, loop, frame_and_phase(a, subject), b)
    return (at_ns, _OTHERS[kind], loop, a, b)


def exchange(block: NDArray[np.int64], shown: int, chosen: int) -> None:
    """Exchange, in place, the kinds of the frame events of two loops: the shown and the chosen one.

    Args:
        block: Events as columns: int64, shape (5, events).
    """
    if shown == chosen:
        return
    _, kind, subject, a, _ = block
    is_chosen = subject == chosen
    pairs = [(kind == one, (kind == other) & is_chosen) for one, other in _ALIKE]
    phases = (kind == PHASE_ENDED).nonzero()[0]
    chosen_phases = ((kind == LOOP_PHASE_ENDED) & is_chosen).nonzero()[0]
    for (one, other), (is_shown, is_other) in zip(_ALIKE, pairs, strict=True):
        kind[is_shown], subject[is_shown] = other, shown
        kind[is_other] = one
    a[phases] = frame_and_phase(a[phases], subject[phases])
    kind[phases], subject[phases] = LOOP_PHASE_ENDED, shown
    frames, codes = frame_and_phase_in(a[chosen_phases])
    kind[chosen_phases] = PHASE_ENDED
    # Only a damaged file has such phases.
    kind[chosen_phases[codes >= len(Phase)]] = _SENSELESS
    subject[chosen_phases], a[chosen_phases] = codes, frames
