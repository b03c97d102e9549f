"""The frames of several loops of attached programs, of which those of one are shown.

The frames that are shown are told by the events of frames, as those of a scene, so that whatever
reads frames reads them. The same events of every other loop have kinds of their own. When another
loop is chosen, the kinds of both are exchanged, and no event changes its place.
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


#: Frames of loops that are not shown, in memory: 70 MB.
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
    """The frames of a loop while those of another are shown."""

    __slots__ = ("asked_ns", "at_ns", "cut_ns", "delta_ns", "frames", "kind", "name", "phases")

    def __init__(self, name: str, kind: LoopKind) -> None:
        self.name = name
        self.kind = kind  # What its frames are
        # The local time that it asks for from frame to frame, 0 if it does not say
        self.asked_ns = 0
        self.frames = FrameHistory()  # The completed frames; none while they are shown
        self.begin(0, 0)

    def begin(self, at_ns: int, delta_ns: int) -> None:
        # at_ns: start of the frame that has not ended
        # cut_ns: what was cut from that
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
    """Forget half of the frames of the loop that has most; returns how many there still are."""
    longest = max(loops.values(), key=lambda each: len(each.frames))
    longest.frames = longest.frames.since(longest.frames.end - len(longest.frames) // 2)
    return sum(len(each.frames) for each in loops.values())


def of_other_loop(event: RawEvent, loop: int) -> RawEvent:
    """Return an event of a frame as one of a loop that is not shown."""
    at_ns, kind, subject, a, b = event
    if kind == PHASE_ENDED:
        return (at_ns, LOOP_PHASE_ENDED, loop, frame_and_phase(a, subject), b)
    return (at_ns, _OTHERS[kind], loop, a, b)


def exchange(block: NDArray[np.int64], shown: int, chosen: int) -> None:
    """Let the events of frames, in place, be those of another loop.

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
    # In a damaged file.
    kind[chosen_phases[codes >= len(Phase)]] = _SENSELESS
    subject[chosen_phases], a[chosen_phases] = codes, frames
