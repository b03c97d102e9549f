"""The columns of a capture beside its frame times.

Those of a table are read from the file whenever they are needed, not kept: twenty columns of ten
million frames would take more memory than most machines have, and few readers need any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from inspector.errors import CaptureError
from inspector.formats.captures.text_table import Rows
from inspector.formats.csv_cells import quoted, text_cell
from inspector.formats.frame_times import Quantity
from inspector.formats.tables.number_cells import TextCells

if TYPE_CHECKING:
    Parts: TypeAlias = Iterator[tuple[Rows, NDArray[np.intp]]]


@dataclass(frozen=True, slots=True)
class TableColumns:
    """The columns of a table beside the frame times of one of its streams."""

    path: Path
    names: tuple[str, ...]  # The names of all columns
    numeric: frozenset[int]  # The places of those that hold numbers
    quantities: tuple[Quantity, ...]  # Those that measure something beside the frame times
    # Reads all rows of the file in parts, with the places of the frames among them.
    read: Callable[[], Parts]
    start: int  # The first frame
    stop: int  # The frame after the last

    def __len__(self) -> int:
        return self.stop - self.start

    def between(self, start: int, stop: int) -> TableColumns:
        """Return those of the frames at places ``start`` up to, not including, ``stop``."""
        begin, end, _step = slice(start, stop).indices(len(self))
        return replace(self, start=self.start + begin, stop=self.start + max(begin, end))

    def cells(self, columns: Sequence[int]) -> Iterator[list[TextCells]]:
        """Yield some columns as they are written, in parts; quoted where a CSV needs it.

        Raises:
            CaptureError: The file has changed.
        """
        known: dict[str, bytes] = {}
        for rows, places in self._parts():
            yield [
                TextCells(*rows.characters(at, places))
                if at in self.numeric
                else _text_cells(rows, at, places, known)
                for at in columns
            ]

    def numbers(self, columns: Sequence[int]) -> list[NDArray[np.float64]]:
        """Return some columns as numbers, not a number where there is none.

        Raises:
            CaptureError: The file has changed.
        """
        parts: list[list[NDArray[np.float64]]] = [[np.zeros(0)] for _ in columns]
        for rows, places in self._parts():
            for found, at in zip(parts, columns, strict=True):
                found.append(rows.numbers(at)[places])
        return [np.concatenate(found) for found in parts]

    def _parts(self) -> Parts:
        """Yield the rows of these frames: some of the file, and the places among them."""
        before = 0
        for rows, places in self.read():
            part = places[max(self.start - before, 0) : max(self.stop - before, 0)]
            before += len(places)
            if len(part):
                yield rows, part
            if before >= self.stop:
                return
        raise CaptureError(f"{self.path} has changed since it was opened. Open it again.")


def _text_cells(
    rows: Rows, at: int, places: NDArray[np.intp], known: dict[str, bytes]
) -> TextCells:
    """Return cells of any text; few are different ones, which are known once they were met."""
    texts = rows.texts(at)
    found = []
    for place in places.tolist():
        text = texts[place]
        if text not in known:
            known[text] = quoted(text_cell(text)).encode(errors="replace")
        found.append(known[text])
    return _cells_of(found)


def _cells_of(texts: list[bytes]) -> TextCells:
    lengths = np.array(list(map(len, texts)), dtype=np.int64)
    width = max(1, int(lengths.max(initial=0)))
    cells = np.array(texts, dtype=f"S{width}").view(np.uint8).reshape(len(texts), width)
    return TextCells(cells, lengths)


@dataclass(frozen=True, slots=True, eq=False)
class KnownColumn:
    """A column in memory."""

    name: str
    unit: str  # Its unit; empty if unknown
    values: NDArray[np.float64]  # Its values, not a number where there is none
    # Which value each frame has, -1 for none; None for a value a frame.
    places: NDArray[np.int64] | None = None
    is_flag: bool = False  # Whether it measures nothing: 1 or 0

    def numbers(self, start: int, stop: int) -> NDArray[np.float64]:
        """Return the values of frames from ``start`` up to, not including, ``stop``."""
        if self.places is None:
            return self.values[start:stop]
        return np.append(self.values, np.nan)[self.places[start:stop]]


@dataclass(frozen=True, slots=True, eq=False)
class KnownColumns:
    """Columns in memory, as a file has them that is parsed as a whole."""

    columns: tuple[KnownColumn, ...]
    start: int  # The first frame
    stop: int  # The frame after the last

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.columns)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        columns = enumerate(self.columns)
        return tuple(Quantity(at, of.name, of.unit) for at, of in columns if not of.is_flag)

    def between(self, start: int, stop: int) -> KnownColumns:
        begin, end, _step = slice(start, stop).indices(self.stop - self.start)
        return replace(self, start=self.start + begin, stop=self.start + max(begin, end))

    def cells(self, columns: Sequence[int]) -> Iterator[list[TextCells]]:
        yield [
            _cells_of([b"NA" if value != value else f"{value:.10g}".encode() for value in numbers])  # noqa: PLR0124 - not a number
            for numbers in (each.tolist() for each in self.numbers(columns))
        ]

    def numbers(self, columns: Sequence[int]) -> list[NDArray[np.float64]]:
        return [self.columns[at].numbers(self.start, self.stop) for at in columns]


def joined_columns(parts: Sequence[KnownColumns]) -> KnownColumns:
    """Return the columns of runs one after the other; one that a run lacks has no values there."""
    kinds = {each.name: (each.unit, each.is_flag) for part in parts for each in part.columns}
    length = sum(part.stop - part.start for part in parts)

    def values(part: KnownColumns, name: str) -> NDArray[np.float64]:
        if name in part.names:
            return part.numbers([part.names.index(name)])[0]
        return np.full(part.stop - part.start, np.nan)

    columns = (
        KnownColumn(
            *(name, unit, np.concatenate([values(part, name) for part in parts])), is_flag=is_flag
        )
        for name, (unit, is_flag) in kinds.items()
    )
    return KnownColumns(tuple(columns), 0, length)
