"""Validity of the numbers of events: those from a file are checked before anything reads them.

Readers of events rely on the vocabulary: a phase is one of seven, a text is in the string table.
A file may contain anything, so its events are checked here once, and no reader has to be careful.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.clocks.rate import MAX_RATE
from inspector.events.blocks.packed_columns import KINDS, Block, kind_table
from inspector.events.schema import (
    ABOUT_FIELDS,
    FIELDS,
    NUMBERS,
    SCHEMA,
    TEXT_FIELDS,
    TEXT_IN_A,
    TEXT_IN_B,
    EventRow,
    Unit,
)
from inspector.timebase import MAX_NS
from inspector.vocabulary import RATE_DENOMINATOR, Field

#: Kind of an invalid event, which is shown with its numbers.
SENSELESS: Final = 0
UNKNOWN_TEXT: Final = "?"

_KIND, _SUBJECT, _A, _B = range(1, 5)
_COLUMNS: Final = (_SUBJECT, _A, _B)
_ANY: Final = (-(2**63), 2**63 - 1)
_NUMBER: Final = (0, MAX_NS)
_SPAN: Final = (-MAX_NS, MAX_NS)
_RATE: Final = (0, MAX_RATE * RATE_DENOMINATOR)
#: Narrower than other spans, because the seven phases of a frame are summed.
_MEASURED: Final = (-(MAX_NS >> 8), MAX_NS >> 8)


_LIMITS: Final[dict[Unit, tuple[int, int]]] = {
    **{unit: (min(numbers), max(numbers)) for unit, numbers in NUMBERS.items()},
    Unit.RATE: _RATE,
    **dict.fromkeys((Unit.DURATION, Unit.LATENESS, Unit.ORDER, Unit.CALLS, Unit.READ_VALUE), _SPAN),
    **dict.fromkeys(
        (
            Unit.CLOCK,
            Unit.TIMER,
            Unit.MEMBER,
            Unit.MACHINE,
            Unit.TASK,
            Unit.CLOCK_OR_NONE,
            Unit.TIMER_OR_NONE,
            Unit.DIRECTOR,
            Unit.LOOP,
            Unit.COMMAND,
            Unit.CAUSE,
            Unit.CAUSE_PLUS_ONE,
            Unit.BREAKPOINT,
            Unit.HOST_INSTANT,
            Unit.PERIOD,
            Unit.COUNT,
            Unit.TICKS,
            Unit.FRAME,
            Unit.FRAME_AND_PHASE,
            Unit.GENERATION,
            Unit.PLACE,
        ),
        _NUMBER,
    ),
}


def _limits_of(row: EventRow, place: int) -> tuple[int, int]:
    if place != _SUBJECT and "ab"[place - _A] in row.measured:
        return _MEASURED
    return _LIMITS.get(row.unit(place), _ANY)


_Limits: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64]]"


def _by_kind_of_event() -> dict[int, _Limits]:
    """Return the limits by column and kind; none for unknown kinds."""
    tables = {}
    for column in _COLUMNS:
        low, high = (np.full(KINDS, end) for end in _ANY)
        for kind, row in SCHEMA.items():
            low[kind], high[kind] = _limits_of(row, column)
        tables[column] = (low, high)
    return tables


def _by_field_of_member() -> _Limits:
    low, high = (np.full(KINDS, end) for end in _ANY)
    for field, row in FIELDS.items():
        low[field], high[field] = _LIMITS.get(row.unit, _ANY)
    return low, high


_by_kind: Final = _by_kind_of_event()
_by_field: Final = _by_field_of_member()
_sets_field: Final = kind_table(ABOUT_FIELDS)
_text_in: Final = {_A: kind_table(TEXT_IN_A), _B: kind_table(TEXT_IN_B)}
_text_fields: Final = kind_table(TEXT_FIELDS)


class Soundness(Struct):
    """Checks and repairs events, given the string table."""

    texts: int  # Number of texts in the string table
    unknown_text: Callable[[], int]  # Returns the number of the placeholder for missing texts

    def repair(self, block: Block) -> int:
        """Repair events in place; returns how many. A ``ValueError`` if out of order."""
        when = block[0]
        if len(when) and (when[0] < 0 or when[-1] > MAX_NS or (when[1:] < when[:-1]).any()):
            raise ValueError("its instants are not in order")
        kind = np.clip(block[_KIND], 0, KINDS - 1)
        is_senseless = np.zeros(len(kind), bool)
        for column, (low, high) in _by_kind.items():
            values = block[column]
            is_senseless |= (values < low[kind]) | (values > high[kind])
        sets = np.flatnonzero(_sets_field[kind] & ~is_senseless)
        field, value = block[_A, sets], block[_B, sets]
        low, high = _by_field
        is_senseless[sets] |= (value < low[field]) | (value > high[field])
        block[_KIND, is_senseless] = SENSELESS
        kind[is_senseless] = SENSELESS
        repaired = int(np.count_nonzero(is_senseless))
        for column, table in _text_in.items():
            repaired += self._repair_texts(block, column, np.flatnonzero(table[kind]))
        return repaired + self._repair_texts(block, _B, sets[_text_fields[field]])

    def _repair_texts(self, block: Block, column: int, places: NDArray[np.intp]) -> int:
        numbers = block[column, places]
        repaired = self.repair_texts(numbers)
        if repaired:
            block[column, places] = numbers
        return repaired

    def repair_texts(self, numbers: NDArray[np.int64]) -> int:
        """Replace invalid numbers of texts in place; returns their number."""
        is_unknown = (numbers < 0) | (numbers >= self.texts)
        if not is_unknown.any():
            return 0
        numbers[is_unknown] = self.unknown_text()
        return int(np.count_nonzero(is_unknown))

    def text(self, number: int) -> int:
        """Return the number of a text, or of the placeholder."""
        return number if 0 <= number < self.texts else self.unknown_text()

    def value_of(self, field: int, value: int) -> int:
        """Return the value of a field, repaired if it is a text."""
        row = FIELDS[Field(field)]
        low, high = _LIMITS.get(row.unit, _ANY)
        if not low <= value <= high:
            raise ValueError(f"{row.field.text} cannot be {value}")
        return self.text(value) if row.unit.is_text else value
