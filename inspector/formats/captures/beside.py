"""The columns of a capture beside its frame times.

Those of a table are read from the file whenever they are needed, not kept: twenty columns of ten
million frames would take more memory than most machines have, and few readers need any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from inspector.display_text import counted, in_quotes, one_line
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
    # The damage in each column read so far, as a sentence; empty for none.
    _damage: dict[int, str] = field(default_factory=dict, compare=False)

    def __len__(self) -> int:
        return self.stop - self.start

    def between(self, start: int, stop: int) -> TableColumns:
        begin, end, _step = slice(start, stop).indices(len(self))
        start, stop = self.start + begin, self.start + max(begin, end)
        return replace(self, start=start, stop=stop, _damage={})

    def cells(self, columns: Sequence[int]) -> Iterator[list[TextCells]]:
        """Yield some columns as they are written, in parts; quoted where a CSV needs it."""
        known: dict[str, bytes] = {}
        for rows, places in self._parts():
            yield [
                TextCells(*rows.characters(at, places))
                if at in self.numeric
                else _text_cells(rows, at, places, known)
                for at in columns
            ]

    def numbers(self, columns: Sequence[int]) -> list[NDArray[np.float64]]:
        """Return some columns as numbers, not a number where there is none."""
        parts: list[list[NDArray[np.float64]]] = [[np.zeros(0)] for _ in columns]
        counts, first = [0] * len(columns), [""] * len(columns)
        for rows, places in self._parts():
            for number, at in enumerate(columns):
                values, odd = rows.numbers(at)
                parts[number].append(values[places])
                damaged = np.intersect1d(odd, places).tolist() if odd else []
                if damaged and not counts[number]:
                    cell = in_quotes(rows.text(at, damaged[0]))
                    first[number] = f"line {rows.line + damaged[0]}: {cell}"
                counts[number] += len(damaged)
        for at, count, where in zip(columns, counts, first, strict=True):
            self._damage[at] = damage_text(self.names[at], count, f"in {where}")
        return [np.concatenate(found) for found in parts]

    def damage(self, columns: Sequence[int]) -> dict[int, str]:
        unread = [each for each in columns if each not in self._damage]
        if unread:
            self.numbers(unread)
        return {each: self._damage[each] for each in columns if self._damage[each]}

    def _parts(self) -> Parts:
        """Yield parts of the file, each with the places of these frames among its rows."""
        before = 0
        for rows, places in self.read():
            part = places[max(self.start - before, 0) : max(self.stop - before, 0)]
            before += len(places)
            if len(part):
                yield rows, part
            if before >= self.stop:
                return
        raise CaptureError(f"{self.path} has changed since it was opened. Open it again.")


def damage_text(name: str, count: int, where: str) -> str:
    """Return how much of a column is damaged, as a sentence; empty for none."""
    if not count:
        return ""
    are = counted(count, "value is damaged and was", "values are damaged and were")
    return f"{one_line(name)}: {are} left out; the first is {where}."


def _text_cells(
    rows: Rows, at: int, places: NDArray[np.intp], known: dict[str, bytes]
) -> TextCells:
    """Return cells of any text; the few different texts are cached in ``known``."""
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


class KnownColumn(Struct, frozen=True, eq=False):
    name: str
    unit: str  # Its unit; empty if unknown
    values: NDArray[np.float64]  # Its values, not a number where there is none
    # Index of the value of each frame, -1 for none; None if there is a value for each frame.
    places: NDArray[np.int64] | None = None
    is_flag: bool = False  # Whether it measures nothing: 1 or 0
    damage: str = ""  # What of it is damaged, as a sentence; empty for none

    def numbers(self, start: int, stop: int) -> NDArray[np.float64]:
        """Return the values of frames from ``start`` up to, not including, ``stop``."""
        if self.places is None:
            return self.values[start:stop]
        return np.append(self.values, np.nan)[self.places[start:stop]]


class KnownColumns(Struct, frozen=True, eq=False):
    """Columns in memory, from a file that has to be parsed as a whole."""

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
        return structs.replace(self, start=self.start + begin, stop=self.start + max(begin, end))

    def cells(self, columns: Sequence[int]) -> Iterator[list[TextCells]]:
        yield [
            _cells_of([b"NA" if value != value else f"{value:.10g}".encode() for value in numbers])  # noqa: PLR0124 - not a number
            for numbers in (each.tolist() for each in self.numbers(columns))
        ]

    def numbers(self, columns: Sequence[int]) -> list[NDArray[np.float64]]:
        return [self.columns[at].numbers(self.start, self.stop) for at in columns]

    def damage(self, columns: Sequence[int]) -> dict[int, str]:
        return {at: self.columns[at].damage for at in columns if self.columns[at].damage}


def joined_columns(parts: Sequence[KnownColumns]) -> KnownColumns:
    """Return the columns of runs one after the other; one that a run lacks has no values there."""
    kinds = {each.name: (each.unit, each.is_flag) for part in parts for each in part.columns}
    damage: dict[str, list[str]] = {name: [] for name in kinds}
    for part in parts:
        for each in part.columns:
            damage[each.name] += [each.damage] if each.damage else []
    length = sum(part.stop - part.start for part in parts)

    def values(part: KnownColumns, name: str) -> NDArray[np.float64]:
        if name in part.names:
            return part.numbers([part.names.index(name)])[0]
        return np.full(part.stop - part.start, np.nan)

    columns = (
        KnownColumn(
            *(name, unit, np.concatenate([values(part, name) for part in parts])),
            is_flag=is_flag,
            damage=" ".join(damage[name]),
        )
        for name, (unit, is_flag) in kinds.items()
    )
    return KnownColumns(tuple(columns), 0, length)
