"""Titles, paragraphs, pictures and tables on pages, as display lists."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from msgspec import Struct

from inspector.formats.drawing.display_list import (
    Anchor,
    DisplayList,
    Group,
    Item,
    Point,
    Polyline,
    Stroke,
    Text,
    moved,
)
from inspector.formats.drawing.font_metrics import plain, shortened, text_width, wrapped
from inspector.formats.options import GRAPH_COLORS
from inspector.tokens import ThemeName

#: A page of A4, in points.
A4: Final = (595.0, 842.0)
_MARGIN: Final = 0.08
_TITLE_SIZE, _HEADING_SIZE, _TEXT_SIZE, _SMALL_SIZE = 16.0, 11.0, 8.0, 7.0
_LEADING: Final = 1.4
_CELL_GAP: Final = 9.0
_ROW_GAP: Final = 4.0
_MOST_LINES: Final = 8
#: A heading moves to the next page unless this height is left below it for its contents.
_KEPT_TOGETHER: Final = 60.0


class ReportTable(Struct, frozen=True):
    heading: tuple[str, ...]  # Names of the columns; empty for none
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()  # The columns that hold numbers


def room_of(size: tuple[float, float]) -> float:
    """Return the width of the contents of a page, in points."""
    return size[0] - 2 * round(min(size) * _MARGIN, 2)


class PageLayout:
    def __init__(
        self,
        size: tuple[float, float],
        theme: ThemeName,
        title: str,
        created: datetime | None,
        software: str,
    ) -> None:
        self._width, self._height = size
        self._colors = GRAPH_COLORS[theme]
        self._about = (plain(title), created, software)
        self._room = room_of(size)
        self._margin = (self._width - self._room) / 2
        self._pages: list[list[Item]] = [[]]
        self._y = self._margin

    def add_title(self, text: str) -> None:
        self._add_lines(text, _TITLE_SIZE, self._colors.text, is_bold=True, lines=3)

    def add_heading(self, text: str) -> None:
        self._make_room(_HEADING_SIZE * 2 * _LEADING + _KEPT_TOGETHER)
        if self._pages[-1]:
            self._y += _HEADING_SIZE
        self._add_lines(text, _HEADING_SIZE, self._colors.text, is_bold=True, lines=2)

    def add_paragraph(self, text: str) -> None:
        self._add_lines(text, _TEXT_SIZE, self._colors.muted_text, is_bold=False, lines=6)

    def add_picture(self, picture: DisplayList) -> None:
        self._make_room(picture.height)
        items = tuple(moved(each, self._margin, self._y) for each in picture.items)
        self._pages[-1].append(Group(picture.title, items))
        self._y += picture.height + _TEXT_SIZE

    def add_table(self, table: ReportTable) -> None:
        self._y += _ROW_GAP
        widths = self._widths(table)
        if table.heading:
            self._add_row(table.heading, widths, table.numbers, is_bold=True)
        for row in table.rows:
            cells = self._wrapped(row, widths)
            if self._make_room(self._row_height(cells)) and table.heading:
                self._add_row(table.heading, widths, table.numbers, is_bold=True)
            self._add_row(row, widths, table.numbers)

    def finished(self, before: int = 0) -> tuple[DisplayList, ...]:
        """Return the pages, numbered if there are several."""
        title, created, software = self._about
        count = before + len(self._pages)
        found = []
        for number, items in enumerate(self._pages, before + 1):
            where = f" · page {number} of {count}" if count > 1 else ""
            text = shortened(title, self._room * 0.7, _SMALL_SIZE) + where
            at = Point(self._margin, round(self._height - self._margin / 2, 2))
            foot = Text(at, text, _SMALL_SIZE, self._colors.muted_text)
            found.append(
                DisplayList(
                    *(self._width, self._height, self._colors.background, (*items, foot)),
                    *(title, f"{title}{where}.", created, software),
                )
            )
        return tuple(found)

    def _make_room(self, height: float) -> bool:
        """Begin a page if ``height`` does not fit any more; return whether one was begun."""
        if self._y + height <= self._height - self._margin or not self._pages[-1]:
            return False
        self._pages.append([])
        self._y = self._margin
        return True

    def _add_lines(self, text: str, size: float, color: str, *, is_bold: bool, lines: int) -> None:
        for line in wrapped(plain(text), self._room, size, lines=lines, is_bold=is_bold):
            self._make_room(size * _LEADING)
            at = Point(self._margin, round(self._y + size, 2))
            self._pages[-1].append(Text(at, line, size, color, is_bold=is_bold))
            self._y += size * _LEADING

    def _widths(self, table: ReportTable) -> list[float]:
        """Return the widths of columns; if they do not fit, cells are wrapped.

        If possible, each column has room for its longest word or number; the rest is shared.
        """
        rows = [table.heading, *table.rows] if table.heading else list(table.rows)
        if not rows:
            return []
        wanted: list[float] = []
        least: list[float] = []
        for at in range(len(rows[0])):
            cells = [(plain(row[at]), row is table.heading) for row in rows]
            words = [(word, is_bold) for cell, is_bold in cells for word in cell.split(" ")]
            # A number is not separated from its unit.
            parts = cells if at in table.numbers else words
            for widths, texts in ((wanted, cells), (least, parts)):
                widths.append(
                    max(text_width(text, _TEXT_SIZE, is_bold=is_bold) for text, is_bold in texts)
                )
        room = self._room - _CELL_GAP * (len(wanted) - 1)
        if sum(wanted) <= room:
            return wanted
        if sum(least) >= room:
            return [width * room / sum(least) for width in least]
        share = (room - sum(least)) / (sum(wanted) - sum(least))
        return [low + share * (high - low) for low, high in zip(least, wanted, strict=True)]

    @staticmethod
    def _wrapped(row: tuple[str, ...], widths: list[float]) -> list[list[str]]:
        return [
            wrapped(plain(cell), width + 0.01, _TEXT_SIZE, lines=_MOST_LINES)
            for cell, width in zip(row, widths, strict=True)
        ]

    @staticmethod
    def _row_height(cells: list[list[str]]) -> float:
        return max(1, *map(len, cells)) * _TEXT_SIZE * _LEADING + _ROW_GAP

    def _add_row(
        self,
        row: tuple[str, ...],
        widths: list[float],
        numbers: frozenset[int],
        *,
        is_bold: bool = False,
    ) -> None:
        cells = self._wrapped(row, widths)
        x = self._margin
        for at, (lines, width) in enumerate(zip(cells, widths, strict=True)):
            is_number = at in numbers
            for number, line in enumerate(lines):
                place = Point(
                    round(x + (width if is_number else 0), 2),
                    round(self._y + _TEXT_SIZE + number * _TEXT_SIZE * _LEADING, 2),
                )
                anchor = Anchor.END if is_number else Anchor.START
                text = Text(place, line, _TEXT_SIZE, self._colors.text, anchor, is_bold=is_bold)
                self._pages[-1].append(text)
            x += width + _CELL_GAP
        self._y += self._row_height(cells)
        y = round(self._y - _ROW_GAP / 2, 2)
        ends = (Point(self._margin, y), Point(self._width - self._margin, y))
        self._pages[-1].append(Polyline(ends, Stroke(self._colors.grid, 0.5)))
