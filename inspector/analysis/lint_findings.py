"""A finding: something that looks wrong, and where it can be seen."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from inspector.analysis.frame_budget import OVER_RULE


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
    LEFT_OUT = "ticks left out"
    PACE = "other pace"
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
    FindingKind.LEAK: "Timers from one place become more and more, and are never cleared.",
    FindingKind.ORPHAN: "A node or component was destroyed, but what it has scheduled goes on.",
    FindingKind.NEVER_FIRED: "Timers wait on a clock that has stood still since they were set.",
    FindingKind.STORM: "A timer fires so often in a frame that nobody can have meant it.",
    FindingKind.HERD: "Many timers fire in one frame; spread out they would cost less there.",
    FindingKind.SUB_FRAME: "An interval is shorter than a frame and fires several times in it.",
    FindingKind.BEAT: "An interval is no multiple of a frame: its ticks come in a pattern.",
    FindingKind.DRIFT: "A timer comes a little later each time than it was set to.",
    FindingKind.LEFT_OUT: "Ticks that were late were left out by the timer's policy.",
    FindingKind.OVER_BUDGET: f"More than one frame in twenty is {OVER_RULE}.",
    FindingKind.BLOCKING: "A callback takes longer than a frame, and keeps others waiting.",
    FindingKind.PACE: "A timer comes much sooner or later than its interval says, every time.",
}
