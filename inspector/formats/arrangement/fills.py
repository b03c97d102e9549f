"""The fills of a frame-time plot by meaning, and their colours in a theme."""

from enum import Enum, IntEnum
from typing import Final

from msgspec import Struct

from inspector.formats.arrangement.sheet import Colors, mixed
from inspector.tokens import PHASE_COLORS
from inspector.vocabulary import Phase


class Severity(IntEnum):
    """How a frame time compares with the budget.

    A frame that is over the budget only because of the inspector counts as within it.
    """

    IN_BUDGET = 0
    OVER = 1
    OVER_TWICE = 2


class Tone(Enum):
    """The part of a column that a rectangle shows."""

    STRONG = "strong"
    FAINT = "faint"
    CAP = "cap"
    #: Of a frame over twice its budget whose bar is so wide that its colour would flood the plot.
    TINT = "tint"


class SeverityFill(Struct, frozen=True):
    severity: Severity
    tone: Tone


class PhaseFill(Struct, frozen=True):
    """The fill of a stacked phase; ``None`` is work outside phases."""

    phase: Phase | None


class Fill(Enum):
    WAITING = "waiting"
    OUTLINE = "outline"
    #: The inspector's own share of a bar, and its edge.
    INSPECTOR = "inspector"
    INSPECTOR_EDGE = "inspector edge"
    #: The zigzag at which a bar that extends beyond the plot is cut off.
    CUT = "cut"


AnyFill = SeverityFill | PhaseFill | Fill

#: The names of the colours of frames, in the window, in pictures and pages.
SEVERITY_TOKENS: Final = dict(zip(Severity, ("bar", "orange", "red"), strict=True))
_SHARES: Final = {Tone.FAINT: 0.4, Tone.TINT: 0.2}
_OTHER_WORK_SHARE: Final = 0.6
_WAITING_SHARE: Final = 0.18
_TOKENS: Final = {
    Fill.OUTLINE: "text",
    Fill.INSPECTOR: "clock",
    Fill.INSPECTOR_EDGE: "edge",
    Fill.CUT: "bg",
}


def fill_color(fill: AnyFill, colors: Colors) -> str:
    """Return the colour of a fill; always opaque."""
    match fill:
        case SeverityFill(severity, tone):
            color, share = colors[SEVERITY_TOKENS[severity]], _SHARES.get(tone, 1.0)
        case PhaseFill(None):
            color, share = colors["muted"], _OTHER_WORK_SHARE
        case PhaseFill(phase):
            assert phase is not None, "the case before"
            return PHASE_COLORS[phase.name.lower()]
        case Fill.WAITING:
            color, share = colors["muted"], _WAITING_SHARE
        case _:
            return colors[_TOKENS[fill]]
    return color if share == 1.0 else mixed(color, colors["bg"], share)
