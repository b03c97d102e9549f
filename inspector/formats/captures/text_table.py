"""Tables of any program: the layout from the first lines, then blocks of rows as arrays.

The differences between programs are detected from the content: encoding, comment lines,
separator, decimal comma, and the header line. Cells are found and numbers are parsed for thousands
of rows at once, so that a million rows take a second, and never by a ``float``: what is written as
decimal becomes whole nanoseconds exactly.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Container, Iterator
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cached_property
from itertools import islice
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.display_text import counted, one_line
from inspector.errors import CaptureError
from inspector.foreign.files import path_text
from inspector.foreign.numbers import MOST_CHARACTERS
from inspector.formats.captures.capture import LONGEST_NAME
from inspector.formats.captures.source import CaptureSource
from inspector.formats.frame_times import NsColumn

_COMMENT_STARTS: Final = ("//", "#")
_ROWS_LOOKED_AT: Final = 240
_LINES_BEFORE_NAMES: Final = 40
_LINES_FOR_SEPARATOR: Final = 20
_LISTED_COLUMNS: Final = 60
_LONGEST_LINE: Final = 1 << 24
_NUMBER: Final = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?")
#: A line that is only a number with a decimal comma.
_DECIMAL_COMMA: Final = re.compile(r"\s*[-+]?\d+,\d+\s*")
#: Replaces a separator within a quoted cell.
_INNER: Final = "\x1f"
_NEWLINE, _RETURN, _SPACE, _ZERO, _POINT, _COMMA, _MINUS = b"\n\r 0.,-"
#: Numbers of up to this many characters are parsed for all rows at once, longer ones one by one.
_MOST_DIGITS: Final = 19
_MOST_BLANKS: Final = 64
#: The characters of numbers, and of texts for a missing number, such as ``N/A``.
_IN_NUMBERS: Final = np.isin(np.arange(256), np.frombuffer(b"0123456789+-.eEnNaA/", np.uint8))
_DECIMALS: Final = 6
#: The largest number that is read, as a whole number of its last decimals.
_MOST: Final = 10**18
_MOST_KEY_BYTES: Final = 256
_POWERS: Final = 10 ** np.arange(19, dtype=np.int64)

#: Replaces a value: the cell is empty or says that it has none.
MISSING: Final = -1
#: The cell is not a number, or a negative one.
DAMAGED: Final = -2
#: The number is beyond the limit.
TOO_LARGE: Final = -3
_NA: Final = b"NA"
_NO_VALUE: Final = frozenset({"", "NA", "N/A", "NAN", "-"})


class Table(Struct, frozen=True, dict=True):
    source: CaptureSource
    encoding: str  # Character encoding
    comments: tuple[str, ...]  # The comment lines above the table
    separator: str  # Character between cells
    # Names of the columns, or their numbers from 1 in a file without names.
    columns: tuple[str, ...]
    has_names: bool  # Whether the file has a header line
    lines_above: int  # Lines above the first row
    # Some rows from the top, to detect the types of columns.
    first_rows: tuple[tuple[str, ...], ...]

    def name_of(self, at: int) -> str:
        name = one_line(self.columns[at][:LONGEST_NAME])
        return name if self.has_names else f"column {name}"

    def first_cells(self, at: int) -> list[str]:
        """Return the cells of a column in the first rows, empty in a short row."""
        cells = [row[at].strip() if at < len(row) else "" for row in self.first_rows]
        if self.separator == ",":
            return cells
        points = [cell.replace(",", ".", 1) for cell in cells]
        return [
            point if is_number(point) else cell for cell, point in zip(cells, points, strict=True)
        ]

    def numbers(self, at: int) -> list[float]:
        return [float(cell) for cell in self.first_cells(at) if is_number(cell)]

    @cached_property
    def numeric(self) -> frozenset[int]:
        """Where the columns are in which most of the first cells are numbers."""
        return frozenset(at for at in range(len(self.columns)) if self._is_numeric(at))

    def _is_numeric(self, at: int) -> bool:
        present = [cell for cell in self.first_cells(at) if cell.upper() not in _NO_VALUE]
        return bool(present) and sum(map(is_number, present)) * 2 >= len(present)

    def listed_columns(self) -> str:
        if not self.has_names:
            have = counted(len(self.columns), "column without a name", "columns without names")
            return f"It has {have}; choose one by its number."
        named = [name for name in self.columns[:_LISTED_COLUMNS] if name]
        names = ", ".join(one_line(name[:LONGEST_NAME]) for name in named)
        more = " and more" if len(self.columns) > _LISTED_COLUMNS else ""
        return f"Its columns are {names}{more}".removesuffix(".") + "."

    def blocks(self) -> Iterator[Rows]:
        """Yield all rows below the header, thousands at once."""
        line = self.lines_above + 1
        to_skip = self.lines_above
        for piece in self._lines():
            start = 0
            while to_skip:
                start = piece.find(b"\n", start) + 1
                if not start:
                    break
                to_skip -= 1
            if to_skip:
                continue
            rows = Rows(piece[start:] if start else piece, line, self.separator)
            if len(rows):
                yield rows
                line += len(rows)

    def _lines(self) -> Iterator[bytes]:
        """Yield the text as UTF-8 or Latin-1, in pieces that end with a line feed."""
        decoder = codecs.getincrementaldecoder("utf-16")("replace")
        has_returns_only = _has_returns_only(self.source.head)
        carry = codecs.BOM_UTF8 if self.source.head.startswith(codecs.BOM_UTF8) else b""
        skipped = len(carry)
        carry = b""
        for raw in self.source.pieces():
            piece = raw[skipped:]
            skipped = 0
            if self.encoding == "utf-16":
                piece = decoder.decode(piece).encode("utf-8", "replace")
            if has_returns_only:
                piece = piece.replace(b"\r", b"\n")
            end = piece.rfind(b"\n") + 1
            if end:
                yield carry + piece[:end]
                carry = piece[end:]
            else:
                carry += piece
            if len(carry) > _LONGEST_LINE:
                message = (
                    f"{path_text(self.source.path)} has a line of more than 16 MB, so it is not "
                    "a table. Choose a capture with one row per frame."
                )
                raise CaptureError(message)
        if carry.strip():
            yield carry


class Rows:
    """Some rows of a table."""

    def __init__(self, text: bytes, line: int, separator: str) -> None:
        self.line = line  # Number of the first line in the file, from 1
        # Whether the last line has no line end, as when a program is still writing it
        self.is_unfinished = not text.endswith(b"\n")
        if self.is_unfinished:
            text += b"\n"
        if b'"' in text:
            text = _unquoted(text, separator)
        self._point = _POINT if separator == "," else _COMMA
        # Padded, so that eight bytes can be read from anywhere, even at the end.
        padded = np.frombuffer(text + bytes(_MOST_DIGITS + 8), dtype=np.uint8)
        self._bytes = padded
        whole = padded[: len(text)]
        marks = np.flatnonzero((whole == _NEWLINE) | (whole == ord(separator)))
        ends = np.flatnonzero(whole[marks] == _NEWLINE)
        self._marks = marks
        self._last = ends
        self._first = np.concatenate(([0], ends[:-1] + 1)) if len(ends) else ends
        self._counts = self._last - self._first + 1
        stops = marks[ends]
        self._starts = np.concatenate(([0], stops[:-1] + 1)) if len(stops) else stops

    def __len__(self) -> int:
        return len(self._last)

    @property
    def is_blank(self) -> NDArray[np.bool_]:
        stops = self._marks[self._last]
        has_return = self._bytes[np.maximum(stops - 1, 0)] == _RETURN
        found: NDArray[np.bool_] = stops - self._starts - has_return < self._counts
        return found

    def cells(self, at: int) -> tuple[NsColumn, NsColumn]:
        """Return where the cells of a column begin and end, without blanks around them."""
        there = self._counts > at
        places = np.minimum(self._first + at, self._last)
        end = np.where(there, self._marks[places], 0)
        before = self._marks[np.maximum(places - 1, 0)] + 1
        start = np.where(there, self._starts if at == 0 else before, 0)
        return self._stripped(start, end)

    def _stripped(self, start: NsColumn, end: NsColumn) -> tuple[NsColumn, NsColumn]:
        data = self._bytes
        for _ in range(_MOST_BLANKS):
            last = data[np.maximum(end - 1, 0)]
            blank = (end > start) & ((last == _SPACE) | (last == _RETURN))
            if not blank.any():
                break
            end = end - blank
        for _ in range(_MOST_BLANKS):
            blank = (end > start) & (data[start] == _SPACE)
            if not blank.any():
                break
            start = start + blank
        return start, end

    def text(self, at: int, row: int) -> str:
        start, end = self.cells(at)
        return _text(self._bytes[start[row] : end[row]].tobytes())

    def characters(
        self, at: int, places: NDArray[np.intp]
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return cells of some rows, with a decimal point, and how long they are.

        A cell with other characters than those of numbers and ``NA`` has length 0.
        """
        start, end = (each[places] for each in self.cells(at))
        lengths = end - start
        lengths[lengths > _MOST_DIGITS + 1] = 0
        width = np.arange(max(1, int(lengths.max(initial=0))))
        found = self._bytes[start[:, None] + np.minimum(width, lengths[:, None])]
        if self._point == _COMMA:
            found = np.where(found == _COMMA, np.uint8(_POINT), found)
        is_odd = (~_IN_NUMBERS[found] & (width < lengths[:, None])).any(axis=1)
        return found, np.where(is_odd, 0, lengths)

    def numbers(self, at: int) -> tuple[NDArray[np.float64], list[int]]:
        """Return a column as numbers to six decimals, and the rows that hold something else.

        In these rows, and where there is no value, the number is NaN.
        """
        found, is_there = self.signed_ns(at, _DECIMALS, _MOST)
        values = np.where(is_there, found / 10.0**_DECIMALS, np.nan)
        start, end = self.cells(at)
        first, second = self._bytes[start], self._bytes[np.minimum(start + 1, len(self._bytes) - 1)]
        has_none = (end - start == len(_NA)) & (first == _NA[0]) & (second == _NA[1])
        damaged = []
        for row in np.flatnonzero(~is_there & (end > start) & ~has_none).tolist():
            cell = self.text(at, row)
            if self._point == _COMMA:
                cell = cell.replace(",", ".", 1)
            if is_number(cell) and abs(Decimal(cell)) <= _MOST // 10**_DECIMALS:
                values[row] = float(cell)
            elif cell.upper() not in _NO_VALUE:
                damaged.append(row)
        return values, damaged

    def texts(self, at: int) -> list[str]:
        places = zip(*(each.tolist() for each in self.cells(at)), strict=True)
        return [_text(self._bytes[start:end].tobytes()) for start, end in places]

    def row(self, row: int) -> list[str]:
        start, stop = self._starts[row], self._marks[self._last[row]]
        text = self._bytes[start:stop].tobytes()
        mark = self._bytes[self._marks[self._first[row]] : self._marks[self._first[row]] + 1]
        separator = mark.tobytes() if self._counts[row] > 1 else b"\n"
        return [_text(cell).strip() for cell in text.split(separator)]

    def keys(self, columns: list[int]) -> NDArray[np.uint64]:
        """Return a number for the contents of some columns, equal for equal cells."""
        found = np.zeros(len(self), dtype=np.uint64)
        words = np.ndarray(
            (len(self._bytes) - 7,), dtype="<u8", buffer=self._bytes.data, strides=(1,)
        )
        for at in columns:
            start, end = self.cells(at)
            length = np.minimum(end - start, _MOST_KEY_BYTES)
            for place in range(0, int(length.max(initial=0)), 8):
                left = np.clip(length - place, 0, 8)
                word = words[np.where(left > 0, start + place, 0)] & _MASKS[left]
                found = (found ^ word) * _FACTOR
                found ^= found >> np.uint64(29)
            found = (found + length.astype(np.uint64)) * _FACTOR
        return found

    def values_ns(self, at: int, digits: int, longest_ns: int) -> NsColumn:
        """Return a column as whole nanoseconds, rounded half to even.

        Its unit is ten to the power of ``digits``, in nanoseconds. Values may be :data:`MISSING`,
        :data:`DAMAGED` or :data:`TOO_LARGE`.
        """
        return self._values_ns(*self.cells(at), digits, longest_ns)

    def signed_ns(
        self, at: int, digits: int, longest_ns: int
    ) -> tuple[NsColumn, NDArray[np.bool_]]:
        """Return a column of numbers that may be negative, and in which rows there is a number.

        Args:
            digits: The unit of the column, as a power of ten nanoseconds.
            longest_ns: The largest magnitude of a number.
        """
        start, end = self.cells(at)
        is_negative = (end > start) & (self._bytes[start] == _MINUS)
        values = self._values_ns(start + is_negative, end, digits, longest_ns, is_plain_only=True)
        return np.where(is_negative, -values, values), values >= 0

    def _values_ns(
        self,
        start: NsColumn,
        end: NsColumn,
        digits: int,
        longest_ns: int,
        *,
        is_plain_only: bool = False,
    ) -> NsColumn:
        length = end - start
        mantissa, places, is_plain = self._decimals(start, length)
        exponent = digits - places
        values = np.full(len(self), MISSING, dtype=np.int64)
        up = is_plain & (exponent >= 0)
        if up.any():
            factor = _POWERS[np.clip(exponent, 0, 18)]
            fits = mantissa <= longest_ns // factor
            values = np.where(up, np.where(fits, mantissa * factor, TOO_LARGE), values)
        down = is_plain & (exponent < 0)
        if down.any():
            divisor = _POWERS[np.clip(-exponent, 0, 18)]
            quotient = mantissa // divisor
            rest = mantissa - quotient * divisor
            twice = 2 * (rest - divisor // 2)
            is_up = (twice > 0) | ((twice == 0) & (quotient & 1 == 1))
            rounded = quotient + is_up
            values = np.where(down, np.where(rounded <= longest_ns, rounded, TOO_LARGE), values)
        odd = np.flatnonzero(~is_plain & (length > 0))
        for row in () if is_plain_only else odd.tolist():
            cell = _text(self._bytes[start[row] : end[row]].tobytes())
            if self._point == _COMMA:
                cell = cell.replace(",", ".", 1)
            values[row] = _value_ns(cell, digits, longest_ns)
        return values

    def _decimals(
        self, start: NsColumn, length: NsColumn
    ) -> tuple[NsColumn, NsColumn, NDArray[np.bool_]]:
        """Return the digits of cells as numbers, how many follow the point, and which are plain."""
        count = len(start)
        mantissa = np.zeros(count, dtype=np.int64)
        places = np.zeros(count, dtype=np.int64)
        has_point = np.zeros(count, dtype=np.bool_)
        is_plain = (length > 0) & (length <= _MOST_DIGITS)
        most = int(length[is_plain].max(initial=0))
        for place in range(most):
            is_inside = place < length
            char = self._bytes[start + np.minimum(place, length)]
            digit = char - np.uint8(_ZERO)
            is_digit = (digit < 10) & is_inside  # noqa: PLR2004
            is_point = (char == self._point) & is_inside
            if self._point != _POINT:
                is_point |= (char == _POINT) & is_inside
            is_plain &= is_digit | ~is_inside | (is_point & ~has_point)
            np.multiply(mantissa, 10, out=mantissa, where=is_digit)
            np.add(mantissa, digit, out=mantissa, where=is_digit)
            places += is_digit & has_point
            has_point |= is_point
        # A point alone is no number, and 19 digits may need more than 63 bits.
        is_plain &= (length > has_point) & ((length < _MOST_DIGITS) | has_point)
        return mantissa, places, is_plain


_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
_MASKS: Final = np.array([(1 << 8 * count) - 1 for count in range(9)], dtype=np.uint64)


def read_table(source: CaptureSource, known_names: Container[str], wanted: str | None) -> Table:
    encoding = _encoding(source)
    text = source.head.decode(encoding, "replace")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    comments, separator = _layout(source, lines)
    skipped = len(comments)
    reader = csv.reader((f"{line}\n" for line in lines[skipped:]), delimiter=separator)
    rows: list[list[str]] = []
    line_of_row: list[int] = []
    try:
        for cells in islice(reader, _ROWS_LOOKED_AT):
            if any(cells):
                rows.append(cells)
                line_of_row.append(skipped + reader.line_num)
    except csv.Error as error:
        if not rows:
            line = skipped + reader.line_num
            message = f"{source.path}, line {line}: {error}. Choose a CSV with one row per frame."
            raise CaptureError(message) from None
    if not rows:
        message = f"{source.path} has only empty cells. Choose a capture with one row per frame."
        raise CaptureError(message)
    at = _row_of_names(rows[:_LINES_BEFORE_NAMES], known_names, wanted)
    following = rows if at is None else rows[at + 1 :]
    if at is None:
        names = tuple(str(number) for number in range(1, max(map(len, rows)) + 1))
    else:
        names = tuple(map(str.strip, rows[at]))
    return Table(
        source=source,
        encoding=encoding,
        comments=comments,
        separator=separator,
        columns=names,
        has_names=at is not None,
        lines_above=skipped if at is None else line_of_row[at],
        first_rows=tuple(map(tuple, following)),
    )


def is_number(cell: str) -> bool:
    return len(cell) <= MOST_CHARACTERS and _NUMBER.fullmatch(cell) is not None


def comparable(name: str) -> str:
    """Return the name of a column without case, blanks and punctuation."""
    return re.sub(r"[^0-9a-zµ]", "", name.lower())


def _value_ns(cell: str, digits: int, longest_ns: int) -> int:
    if cell.upper() in _NO_VALUE:
        return MISSING
    if not is_number(cell):
        return DAMAGED
    value = Decimal(cell).scaleb(digits)
    if value < 0:
        return DAMAGED if value.to_integral_value(ROUND_HALF_EVEN) else 0
    return int(value.to_integral_value(ROUND_HALF_EVEN)) if value <= longest_ns else TOO_LARGE


def _text(cell: bytes) -> str:
    try:
        return cell.decode().replace(_INNER, ",")
    except UnicodeDecodeError:
        return cell.decode("latin-1").replace(_INNER, ",")


def _unquoted(text: bytes, separator: str) -> bytes:
    lines = text.split(b"\n")
    for number, line in enumerate(lines):
        if b'"' not in line:
            continue
        try:
            (cells,) = csv.reader([line.decode("latin-1").rstrip("\r")], delimiter=separator)
        except (csv.Error, ValueError):
            continue
        plain = separator.join(cell.replace(separator, _INNER) for cell in cells)
        lines[number] = plain.replace("\n", " ").encode("latin-1")
    return b"\n".join(lines)


def _has_returns_only(head: bytes) -> bool:
    return b"\r" in head and b"\n" not in head


def _encoding(source: CaptureSource) -> str:
    """Return the encoding of a file by its first bytes; refuse what is not a table."""
    head = source.head
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in head:
        message = f"{source.path} is not a text file. Choose a CSV with a column of milliseconds."
        raise CaptureError(message)
    if head.removeprefix(codecs.BOM_UTF8).lstrip()[:1] in (b"{", b"[", b"<"):
        message = (
            f"{source.path} holds JSON or markup, not a table. "
            "Choose a CSV with a column of milliseconds, one row per frame."
        )
        raise CaptureError(message)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"


def _layout(source: CaptureSource, lines: list[str]) -> tuple[tuple[str, ...], str]:
    """Return the lines above the table, and a tab or semicolon if every line has one."""
    skipped = 0
    for line in lines:
        if line.strip() and not line.lstrip().startswith(_COMMENT_STARTS):
            break
        skipped += 1
    else:
        message = f"{source.path} is empty. Choose a capture with one row per frame."
        raise CaptureError(message)
    first = [line for line in lines[skipped : skipped + _LINES_FOR_SEPARATOR] if line.strip()]
    comments = tuple(lines[:skipped])
    for separator in "\t;":
        if all(separator in line for line in first):
            return comments, separator
    if "," not in first[0] and first[1:] and all(map(_DECIMAL_COMMA.fullmatch, first[1:])):
        # In a single column of decimal commas, any character not in it can be the separator.
        return comments, ";"
    return comments, ","


def _row_of_names(
    rows: list[list[str]], known_names: Container[str], wanted: str | None
) -> int | None:
    if wanted is not None and not wanted.isdecimal():
        for at, row in enumerate(rows):
            if comparable(wanted) in map(comparable, row):
                return at
    for at, row in enumerate(rows):
        if any(comparable(cell) in known_names for cell in row):
            return at
    has_numbers_only = all(is_number(cell.strip()) or not cell.strip() for cell in rows[0])
    return None if has_numbers_only else 0
