"""The fills of a frame-time plot by meaning, and their colours in a theme."""

from enum import Enum, IntEnum
from typing import Final

from msgspec import Struct
from PySide6.QtGui import QColor

from inspector.vocabulary import Phase

from ..kit.theme import ColorRole, Theme, phase_color
from .bulk_paint import mixed


class Pace(IntEnum):
    """How a frame time compares with the budget, after Tracy's frame graph."""

    GOOD = 0
    OK = 1
    LATE = 2
    BAD = 3
    #: Over budget because of the inspector alone.
    INSPECTOR = 4


class Tone(Enum):
    """The part of a column that a rectangle shows."""

    STRONG = "strong"
    FAINT = "faint"
    CAP = "cap"


class PaceFill(Struct, frozen=True):
    """The fill of bars coloured by pace."""

    pace: Pace
    tone: Tone


class PhaseFill(Struct, frozen=True):
    """The fill of a stacked phase; ``None`` is work outside phases."""

    phase: Phase | None


class Fill(Enum):
    """Other fills."""

    WAITING = "waiting"
    OUTLINE = "outline"
    LATE_MARK = "late mark"


#: The inspector's share of a bar.
INSPECTOR_FILL: Final = PaceFill(Pace.INSPECTOR, Tone.STRONG)

AnyFill = PaceFill | PhaseFill | Fill

_PACE_ROLES: Final = {
    Pace.GOOD: ColorRole.GOOD,
    Pace.OK: ColorRole.OK,
    Pace.LATE: ColorRole.LATE,
    Pace.BAD: ColorRole.BAD,
    Pace.INSPECTOR: ColorRole.MUTED_TEXT,
}
_FAINT_SHARE: Final = 0.4
_OTHER_WORK_SHARE: Final = 0.6
#: Fainter than data: it is not the scene's.
_INSPECTOR_SHARE: Final = 0.45
_WAITING_SHARE: Final = 0.18


def color_of(fill: AnyFill, theme: Theme) -> QColor:
    """Return the colour of a fill; always opaque."""
    background = theme.color(ColorRole.BACKGROUND)
    match fill:
        case PaceFill(pace, tone):
            color = theme.color(_PACE_ROLES[pace])
            if pace is Pace.INSPECTOR:
                color = mixed(color, background, _INSPECTOR_SHARE)
            return mixed(color, background, _FAINT_SHARE) if tone is Tone.FAINT else color
        case PhaseFill(None):
            return mixed(theme.color(ColorRole.MUTED_TEXT), background, _OTHER_WORK_SHARE)
        case PhaseFill(phase):
            assert phase is not None, "the case before"
            return phase_color(phase)
        case Fill.WAITING:
            return mixed(theme.color(ColorRole.MUTED_TEXT), background, _WAITING_SHARE)
        case Fill.OUTLINE | Fill.LATE_MARK:
            return theme.color(ColorRole.TEXT)
