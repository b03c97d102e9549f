"""What is painted of the cells of a row: plain values, each taken from the model once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from PySide6.QtCore import Qt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtGui import QColor

_LEFT: Final = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class Cell(NamedTuple):
    """What is painted of one cell.

    Attributes:
        text: What it says, in one line.
        alignment: Where in the cell that stands.
        color: Of the text, ``None`` for the usual one.
        is_bold: Whether the text is bold.
        mark: What stands in front of the text: a pixmap, an icon, a colour for a square, or
            a value for which the view has an icon; ``None`` for nothing.
        shorter: What is said instead where there is no room, the longest first.
        spans: The number of columns to its right that the text may reach over.
        tick: Whether its check box is ticked, ``None`` for a cell without one.
    """

    text: str
    alignment: Qt.AlignmentFlag = _LEFT
    color: QColor | None = None
    is_bold: bool = False
    mark: object = None
    shorter: tuple[str, ...] = ()
    spans: int = 0
    tick: bool | None = None


#: Says nothing.
EMPTY: Final = Cell("")


#: Returns what is painted of a whole row, a cell for each column, by its key: the row of a
#: table, the node of a tree. A model that has one, named ``row_cells``, is asked for nothing else.
RowCells: TypeAlias = "Callable[[int], Sequence[Cell]]"
