"""A finding: something that looks wrong, and where it can be seen."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from inspector.analysis.statistics.frame_budget import OVER_RULE


class FindingKind(Enum):
    """What looks wrong."""

    LEAK = "leak"
    ORPHAN = "owner gone"
    NEVER_FIRED = "never fired"
    STORM = "storm"
    HERD = "herd"
    SUB_FRAME = "sub-frame interval"
    BEAT = "beating"
    DRIFT = "drift"
    LEFT_OUT = "skipped ticks"
    PACE = "wrong pace"
    OVER_BUDGET = "over budget"
    BLOCKING = "blocks others"

    @property
    def summary(self) -> str:
        """What that means, in a sentence."""
        return _SUMMARIES[self]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that looks wrong.

    Attributes:
        kind: What.
        text: What was seen and what would help, in sentences.
        at_ns: Session instant of the evidence.
        cursor: Where the evidence is in the log; ``None`` when it is the state as a whole.
        subject: Number of the timer it is about; 0 when it is about a clock.
        clock_id: The clock it is about.
        frame: Index of the frame that shows it, ``None`` for none.
        member_id: The timer of a scheduler or ticker it is about, 0 for none.
    """

    kind: FindingKind
    text: str
    at_ns: int
    cursor: int | None
    subject: int
    clock_id: int = 0
    frame: int | None = None
    member_id: int = 0


_SUMMARIES = {
    FindingKind.LEAK: "Timers from one place keep growing in number and are never cleared.",
    FindingKind.ORPHAN: "A node or component was destroyed, but its timers keep running.",
    FindingKind.NEVER_FIRED: "Timers wait on a clock that has been stopped since they were set.",
    FindingKind.STORM: "A timer fires far too often in one frame.",
    FindingKind.HERD: "Many timers fire in one frame; spread them out to lower the peak.",
    FindingKind.SUB_FRAME: "An interval is shorter than a frame and fires several times in it.",
    FindingKind.BEAT: "An interval is not a multiple of the frame time: its ticks are uneven.",
    FindingKind.DRIFT: "A timer fires slightly later each time.",
    FindingKind.LEFT_OUT: "The timer's policy skipped late ticks.",
    FindingKind.OVER_BUDGET: f"More than one frame in twenty is {OVER_RULE}.",
    FindingKind.BLOCKING: "A callback takes longer than a frame and delays others.",
    FindingKind.PACE: "A timer fires much sooner or later than its interval says, every time.",
}
