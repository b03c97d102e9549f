"""The columns of the clock tree: their titles, what they mean, and how they are aligned."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from ..kit.table.header_row import HeaderRow, alignments


class ClockColumn(IntEnum):
    """The columns of the clock tree."""

    NAME = 0
    LOCAL_TIME = 1
    RATE = 2
    STATE = 3
    EFFECTIVE_RATE = 4
    PENDING = 5
    NEXT_DUE = 6


#: Title and explanation of each column.
HEADERS: Final = {
    ClockColumn.NAME: ("Clock", "Click the sign in front of a clock to pause or resume it"),
    ClockColumn.LOCAL_TIME: ("Local (m:s)", "Local time of this clock"),
    ClockColumn.RATE: (
        "Rate (×)",
        "Local seconds per second of the parent; double-click or F2 to change it",
    ),
    ClockColumn.STATE: ("State", "Running, or what stopped it and since when"),
    ClockColumn.EFFECTIVE_RATE: (
        "Effective (×)",
        "Local seconds per session second: all rates up to the root multiplied, 0 if one is paused",
    ),
    ClockColumn.PENDING: ("Timers", "Pending timers on this clock, without those of its branch"),
    ClockColumn.NEXT_DUE: ("Next due in", "Session time until the next timer on this clock fires"),
}

#: What a narrow column says instead of its title.
SHORT_TITLES: Final = {
    ClockColumn.LOCAL_TIME: "Local",
    ClockColumn.RATE: "Rate",
    ClockColumn.EFFECTIVE_RATE: "Eff.",
    ClockColumn.PENDING: "Tim.",
    ClockColumn.NEXT_DUE: "Next",
}

#: Columns of numbers; each of them has a short title.
NUMBER_COLUMNS: Final = tuple(SHORT_TITLES)

#: Columns whose text changes while clocks, rates and pauses stay as they are.
LIVE_COLUMNS: Final = (ClockColumn.LOCAL_TIME, ClockColumn.PENDING, ClockColumn.NEXT_DUE)

#: Names of members that have neither time nor rate reach over so many columns behind them.
SPANNED: Final = ClockColumn.RATE - ClockColumn.NAME

#: How the cells of each column are aligned.
ALIGNMENTS: Final = alignments(ClockColumn, NUMBER_COLUMNS)

#: The titles as a view asks for them.
HEADER: Final = HeaderRow(HEADERS, ALIGNMENTS, apart=[ClockColumn.STATE], shortened=SHORT_TITLES)


def number_tip(column: int, text: str) -> str | None:
    """Return the tooltip of a number that may be cut short; ``None`` for an empty cell."""
    return f"{HEADERS[ClockColumn(column)][0]}: {text}" if text else None
