"""The titles over a table: what they say, explain, and how they are aligned."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import Qt

from . import roles

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

#: A column of a model: an ``IntEnum``.
ColumnT = TypeVar("ColumnT", bound=int)


def alignments(
    columns: Iterable[int], numbers: Collection[int], *, number: Qt.AlignmentFlag = roles.RIGHT
) -> tuple[Qt.AlignmentFlag, ...]:
    """Return how each column is aligned: numbers as said, all else to the left."""
    return tuple(number if column in numbers else roles.LEFT for column in columns)


class HeaderRow:
    """Answers ``headerData`` for a table whose columns have names only."""

    def __init__(
        self,
        titles: Mapping[ColumnT, tuple[str, str]],
        aligned: Sequence[Qt.AlignmentFlag],
        *,
        apart: Collection[int] = (),
        shortened: Collection[int] = (),
    ) -> None:
        """Hold the titles.

        Args:
            titles: Title and explanation (the tooltip; empty for none) by column.
            aligned: How each title is aligned, from column 0 on.
            apart: Left-aligned columns that are kept off the numbers to their left.
            shortened: Columns whose titles a view may shorten; their tooltips begin with
                the whole title.
        """
        self._titles = {int(column): texts for column, texts in titles.items()}
        self._aligned = aligned
        self._apart = frozenset(apart)
        self._shortened = frozenset(shortened)

    def __len__(self) -> int:
        """Return how many columns there are."""
        return len(self._titles)

    def data(self, section: int, orientation: Qt.Orientation, role: int) -> object:
        """Return what ``headerData`` of the model returns."""
        if orientation is Qt.Orientation.Vertical or section not in self._titles:
            return None
        match role:
            case roles.DISPLAY:
                return self._titles[section][0]
            case roles.TOOL_TIP:
                return self._tool_tip(section)
            case roles.ALIGNMENT:
                return self._aligned[section]
            case roles.DECORATION if section in self._apart:
                return roles.gap()
        return None

    def _tool_tip(self, section: int) -> str | None:
        title, explanation = self._titles[section]
        if section in self._shortened:
            return f"{title}\n{explanation}".rstrip()
        return explanation or None
