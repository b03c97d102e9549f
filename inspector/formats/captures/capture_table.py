"""The rows and columns of a capture file of any program.

The differences between programs are detected from the content: encoding, comment lines,
separator, decimal comma, and the header line.
"""

import codecs
import csv
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from inspector.display_text import one_line
from inspector.errors import CaptureError
from inspector.foreign.files import open_binary, open_text
from inspector.foreign.numbers import MOST_CHARACTERS

_COMMENT_STARTS: Final = ("//", "#")
_BYTES_LOOKED_AT: Final = 65_536
_ROWS_LOOKED_AT: Final = 240
_LINES_BEFORE_NAMES: Final = 40
_LINES_FOR_SEPARATOR: Final = 20
_LISTED_COLUMNS: Final = 60
#: Longest name of a column.
_LONGEST_NAME: Final = 80
_NUMBER: Final = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?")


#: A line that is only a number with a decimal comma.
_DECIMAL_COMMA: Final = re.compile(r"\s*[-+]?\d+,\d+\s*")


class CaptureRow(NamedTuple):
    """A row: its line number in the file, from 1, and its cells unchanged."""

    line: int
    cells: list[str]


@dataclass(frozen=True, slots=True)
class _Layout:
    """How to read the text of a file.

    Attributes:
        encoding: Character encoding.
        skipped_lines: Comments and empty lines above the table.
        separator: Character between cells.
    """

    encoding: str
    skipped_lines: int
    separator: str


@dataclass(frozen=True, slots=True)
class CaptureTable:
    """The table of a capture file. Rows are read on request, not kept.

    Attributes:
        path: The file.
        layout: How to read its text.
        columns: Names of the columns, or their numbers from 1 in a file without names.
        has_names: Whether the file has a header line.
        rows_above: Rows above the first frame.
        first_rows: Some rows from the top, to detect the types of columns.
    """

    path: Path
    layout: _Layout
    columns: tuple[str, ...]
    has_names: bool
    rows_above: int
    first_rows: tuple[CaptureRow, ...]

    def rows(self) -> Iterator[CaptureRow]:
        """Yield every row below the header, without repetitions of it."""
        for row in islice(_rows(self.path, self.layout), self.rows_above, None):
            if not (
                self.has_names and row.cells[0].strip() == self.columns[0] and self._is_names(row)
            ):
                yield row

    def _is_names(self, row: CaptureRow) -> bool:
        return tuple(map(str.strip, row.cells)) == self.columns

    def name_of(self, at: int) -> str:
        """Return the name of a column for sentences."""
        name = one_line(self.columns[at][:_LONGEST_NAME])
        return name if self.has_names else f"column {name}"

    def cell(self, row: CaptureRow, at: int) -> str:
        """Return a cell without blanks and with a decimal point; empty in a short row."""
        if at >= len(row.cells):
            return ""
        cell = row.cells[at].strip()
        if self.layout.separator != "," and "," in cell:
            point = cell.replace(",", ".", 1)
            return point if is_number(point) else cell
        return cell

    def listed_columns(self) -> str:
        """Return a sentence that lists the columns, for messages."""
        if not self.has_names:
            return f"It has {len(self.columns)} columns without names; choose one by its number."
        named = [name for name in self.columns[:_LISTED_COLUMNS] if name]
        names = ", ".join(one_line(name[:_LONGEST_NAME]) for name in named)
        more = " and more" if len(self.columns) > _LISTED_COLUMNS else ""
        return f"Its columns are {names}{more}."


def is_number(cell: str) -> bool:
    """Return whether a cell is a finite number."""
    return len(cell) <= MOST_CHARACTERS and _NUMBER.fullmatch(cell) is not None


def comparable(name: str) -> str:
    """Return the name of a column without case, blanks and punctuation."""
    return re.sub(r"[^0-9a-zµ]", "", name.lower())


def read_table(path: Path, known_names: Container[str], wanted: str | None) -> CaptureTable:
    """Return the table in a file.

    Args:
        path: The file.
        known_names: Names (comparable) by which the header line is recognised.
        wanted: The requested column; also recognises the header line.

    Raises:
        UnreadableFileError: The file cannot be read.
        CaptureError: It is not a table.
    """
    layout = _layout(path, _encoding(path))
    rows = list(islice(_rows(path, layout), _ROWS_LOOKED_AT))
    if not rows:
        message = f"{path} has only empty cells. Choose a capture with one row per frame."
        raise CaptureError(message)
    at = _row_of_names(rows[:_LINES_BEFORE_NAMES], known_names, wanted)
    if at is None:
        width = max(len(row.cells) for row in rows)
        names = tuple(str(number) for number in range(1, width + 1))
        return CaptureTable(path, layout, names, False, 0, tuple(rows))
    names = tuple(map(str.strip, rows[at].cells))
    return CaptureTable(path, layout, names, True, at + 1, tuple(rows[at + 1 :]))


def _encoding(path: Path) -> str:
    """Return the encoding of a file by its first bytes; refuse what is not a table."""
    with open_binary(path) as file:
        start = file.read(_BYTES_LOOKED_AT)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in start:
        message = f"{path} is not a text file. Choose a CSV with a column of milliseconds."
        raise CaptureError(message)
    if start.removeprefix(codecs.BOM_UTF8).lstrip()[:1] in (b"{", b"[", b"<"):
        message = (
            f"{path} holds JSON or markup, not a table. "
            "Choose a CSV with a column of milliseconds, one row per frame."
        )
        raise CaptureError(message)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"


def _layout(path: Path, encoding: str) -> _Layout:
    """Find the first line of the table, and a tab or semicolon if every line has one."""
    with open_text(path, encoding) as file:
        skipped = 0
        for line in file:
            if line.strip() and not line.lstrip().startswith(_COMMENT_STARTS):
                break
            skipped += 1
        else:
            message = f"{path} is empty. Choose a capture with one row per frame."
            raise CaptureError(message)
        following = islice(file, _LINES_FOR_SEPARATOR - 1)
        first = [line, *(other for other in following if other.strip())]
    for separator in "\t;":
        if all(separator in line for line in first):
            return _Layout(encoding, skipped, separator)
    if "," not in first[0] and first[1:] and all(map(_DECIMAL_COMMA.fullmatch, first[1:])):
        # A single column: any character that is not in it will do as separator.
        return _Layout(encoding, skipped, ";")
    return _Layout(encoding, skipped, ",")


def _rows(path: Path, layout: _Layout) -> Iterator[CaptureRow]:
    with open_text(path, layout.encoding) as file:
        reader = csv.reader(islice(file, layout.skipped_lines, None), delimiter=layout.separator)
        try:
            for cells in reader:
                if any(cells):
                    yield CaptureRow(layout.skipped_lines + reader.line_num, cells)
        except csv.Error as error:
            line = layout.skipped_lines + reader.line_num
            message = f"{path}, line {line}: {error}. Choose a CSV with one row per frame."
            raise CaptureError(message) from error


def _row_of_names(
    rows: list[CaptureRow], known_names: Container[str], wanted: str | None
) -> int | None:
    if wanted is not None and not wanted.isdecimal():
        for at, row in enumerate(rows):
            if comparable(wanted) in map(comparable, row.cells):
                return at
    for at, row in enumerate(rows):
        if any(comparable(cell) in known_names for cell in row.cells):
            return at
    has_numbers_only = all(is_number(cell.strip()) or not cell.strip() for cell in rows[0].cells)
    return None if has_numbers_only else 0
