"""Columns as data: what a column is called, what its cells say, and how they look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from itertools import pairwise
from typing import Any, Generic, Self, TypeVar

from msgspec import Struct
from PySide6.QtCore import Qt

from ..theme import ColorRole
from . import roles

#: What a row shows.
RowT = TypeVar("RowT")


class Column(Struct, Generic[RowT], frozen=True):
    """A column of a table, declared beside the feature whose rows it shows."""

    title: str  # The header
    text: Callable[[RowT], str]  # What a cell says; shown in one line, copied as it is
    tip: str = ""  # What the title means, its tooltip
    # What the tooltip of a cell says, None for a column without.
    detail: Callable[[RowT], str | None] | None = None
    raw: Callable[[RowT], Any] | None = None  # The value itself, for sorting; by default the text
    # The widest text that is shown whole; empty for a column that takes the rest of the room.
    sample: str = ""
    short_title: str = ""  # The header where there is no room for the title
    # The text that is shown whole even where not every sample has room; empty for the sample.
    least: str = ""
    # Columns are left out in this order, lowest first, where there is no room for all; 0 for a
    # column that stays.
    yields: int = 0
    is_number: bool = False  # Whether cells are aligned to the right
    is_wrapped: bool = False  # Whether cells are as high as their texts take
    # What the colour of a cell means, None for the usual one.
    color: Callable[[RowT], ColorRole | None] | None = None
    # What stands in front of the text: an icon or a colour.
    mark: Callable[[RowT], object] | None = None
    # Whether the check box of a cell is ticked, None for a column without.
    tick: Callable[[RowT], bool] | None = None
    is_editable: bool = False  # Whether its texts can be edited in place
    is_searched: bool = False  # Whether the filter looks at its texts
    is_copied: bool = True  # Whether its texts are copied with a row

    @property
    def alignment(self) -> Qt.AlignmentFlag:
        if self.is_wrapped:
            return roles.TOP
        return roles.RIGHT if self.is_number else roles.LEFT


class ColumnEnum(IntEnum):
    """The columns of a table in their order: each value is a :class:`Column`.

    A member is the number of its column; its name is what settings know it by.
    """

    spec: Column[Any]

    def __new__(cls, spec: Column[Any]) -> Self:
        number = len(cls.__members__)
        member = int.__new__(cls, number)
        member._value_ = number
        member.spec = spec
        return member


def apart_columns(order: Sequence[ColumnEnum]) -> frozenset[ColumnEnum]:
    """Return the columns kept off the numbers to their left, of those shown, from the left."""
    return frozenset(
        right for left, right in pairwise(order) if left.spec.is_number and not right.spec.is_number
    )
