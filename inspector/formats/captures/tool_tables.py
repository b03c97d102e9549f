"""Reads the frame times of other programs: any table with a column of milliseconds.

Recognised by their columns: PresentMon 1.x and 2.x, OCAT, CapFrameX, FrameView, MangoHud, MSI
Afterburner, FRAPS. A capture of several programs has several streams, distinguished by
application, process and swap chain.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from msgspec import Struct, field, structs
from numpy.typing import NDArray

from inspector.analysis.statistics.time_series import NO_FACTS, FrameFacts
from inspector.display_text import counted, in_quotes
from inspector.errors import CaptureError, ColumnChoiceError
from inspector.foreign.numbers import count_in
from inspector.formats.captures.beside import TableColumns
from inspector.formats.captures.capture import (
    MOST_STREAMS,
    SAMPLES,
    Capture,
    Stream,
    date_in,
    short_name,
)
from inspector.formats.captures.source import CaptureSource
from inspector.formats.captures.table_columns import (
    ANIMATION_ERROR,
    FRAME_TIME_COLUMNS,
    FRAME_TYPE,
    MILLISECONDS,
    STREAM_COLUMNS,
    RowClock,
    Timing,
    is_rendered,
    likely_columns,
    problem_of,
    quantities_of,
    timing_of,
)
from inspector.formats.captures.text_table import (
    DAMAGED,
    MISSING,
    TOO_LARGE,
    Rows,
    comparable,
    read_table,
)
from inspector.formats.frame_times import NsColumn
from inspector.timebase import MAX_NS, NS_PER_MS, NS_PER_SECOND

Number = TypeVar("Number", bound="np.generic")

#: Columns of further facts about frames, in milliseconds; columns with the same meaning together.
_SIMULATION_STEP: Final = ("msbetweensimulationstart",)
_DISPLAYED: Final = ("msbetweendisplaychange", "displayedtime")
#: The largest number of types of generated frames that are named.
_MOST_TYPES: Final = 6
_MIXED: Final = (
    "Frames that the program has rendered and others (FrameType) are not told apart: no column "
    "says when they were. Choose a column of times of display, such as MsBetweenDisplayChange."
)
#: Dates in other years count as damaged.
_YEARS: Final = range(1980, 2200)
#: Longer "frames" are glitches of the capturing program (MangoHud drops them too).
_LONGEST_NS: Final = 100 * NS_PER_SECOND
#: Programs that draw the desktop, and present frames while any program does.
_COMPOSITORS: Final = frozenset({"csrss.exe", "dwm.exe"})
#: The columns of FRAPS, which writes instants.
_FRAPS: Final = ["frame", "timems"]
#: Rows of Afterburner begin with a code: this one is the code of data.
_AFTERBURNER_DATA: Final = 80
_AFTERBURNER_LAST_CODE: Final = 99
#: The code of names of columns; spreadsheets drop its zero.
_AFTERBURNER_NAMES: Final = ("02", "2")
_DATE: Final = re.compile(
    r"(?P<day>\d\d?)[-/.](?P<month>\d\d?)[-/.](?P<year>\d{4}) +"
    r"(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d))?"
)
_AFTERBURNER_TITLE: Final = re.compile(rf"0?0\s*,\s*{_DATE.pattern}")

#: Formats, recognised by their columns; the more specific ones first.
_FORMATS: Final = (
    ("OCAT", {"motherboard", "msbetweenpresents"}),
    ("FrameView", {"renderqueuedepth", "msbetweenpresents"}),
    ("PresentMon", {"msbetweenappstart"}),
    ("PresentMon 2.0", {"frametime", "cpubusy"}),
    ("PresentMon 1", {"msbetweenpresents"}),
    ("MangoHud", {"fps", "frametime"}),
    ("FRAPS", set(_FRAPS)),
)
#: Tables about frames that hold no frame times, recognised by their columns.
_SUMMARIES: Final = (
    ("a summary of FrameView", {"logname", "avgfps"}),
    ("the statistics of PresentMon", {"averagefps", "minimumfps", "duration"}),
    ("a summary of MangoHud", {"averagefps", "97percentilefps"}),
    ("a summary of FRAPS", {"frames", "timems", "min", "max", "avg"}),
)


class _StreamCount(Struct):
    """What is known of a stream while it is read."""

    name: str
    first_damage: str = ""  # Line and contents of its first damaged cell
    # Line of the first row whose value is MISSING or TOO_LARGE, by these codes.
    first_lines: dict[int, int] = field(default_factory=dict)
    # How many frames were not rendered by the program, by their type.
    generated: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    counts: dict[int, int] = field(default_factory=lambda: defaultdict(int))


class FrameTableReader:
    def __init__(self, path: Path, column: str | None = None) -> None:
        """Find a column by its name in any case, or its number from 1; by default the likely one.

        Units in a name (``_ns``, ``(us)``, ``_s``) are respected; without one the column is in
        milliseconds.
        """
        self._source = CaptureSource(path)
        self._path = path
        self._wanted = column
        self._table = table = read_table(self._source, FRAME_TIME_COLUMNS, column)
        self._loose = [comparable(name) for name in table.columns]
        self._refuse_summaries()
        self._at = self._known_column() if column is None else self._named_column(column)
        self._is_cumulative = self._loose == _FRAPS and self._at == 1
        self._has_codes = bool(
            table.has_names
            and table.columns[0] in _AFTERBURNER_NAMES
            and _DATE.match(table.columns[1])
        )
        self._keys = [self._loose.index(name) for name in STREAM_COLUMNS if name in self._loose]
        self._is_frame_time = column is None or self._loose[self._at] in FRAME_TIME_COLUMNS
        self._type_at = self._column_of_types()
        self._timing = self._found_timing()
        self._digits, self._clock = self._timing.digits, self._timing.clock
        self._facts = [] if self._is_cumulative else self._columns_of_facts()
        self._blocks = table.blocks()
        self._streams: list[_StreamCount] = []
        self._stream_of_key: dict[int, int] = {}
        self._further_rows = 0
        self._values = array("q")
        self._owners = array("i")
        self._instants = array("q")
        self._is_generated = array("b")
        self._negative = 0
        self._fact_values = [array("d") for _ in self._facts]
        self._is_over = False
        self._before_ns = np.zeros(0, dtype=np.int64)
        self._has_rows = False

    @property
    def done(self) -> float:
        return self._source.done

    def read_on(self) -> bool:
        rows = next(self._blocks, None)
        if rows is None:
            self._is_over = True
            return False
        self._read(rows)
        return True

    def capture(self) -> Capture:
        """Return the streams read so far, those with the most frames first."""
        table, name = self._table, self._table.name_of(self._at)
        if self._negative > len(self._values) // 100 and not self._is_frame_time:
            below = counted(self._negative, "value")
            raise self._refused(f"holds {below} below 0, so not frame times")
        if not self._has_rows:
            message = f"{self._path} has names of columns but no rows. Choose another capture."
            raise CaptureError(message)
        streams = [each for each in self._made_streams(name) if len(each)]
        if not streams:
            told = next((each.first_damage for each in self._streams if each.first_damage), "")
            what = f"{name}, {told}." if told else f"{name} has no frame times."
            message = f"{self._path}: {what} Choose another column. {table.listed_columns()}"
            raise CaptureError(message)
        # Sorting is stable: of streams with equally many frames, the first in the file comes first.
        streams.sort(key=lambda each: (_is_compositor(each.name), -len(each)))
        notes = list(self._source.notes)
        if self._further_rows:
            rows = counted(self._further_rows, "row")
            notes.append(f"Skipped {rows} of streams beyond the first {MOST_STREAMS:,}.")
        return Capture(
            self._format(),
            tuple(streams),
            notes=tuple(notes),
            columns=tuple(dict.fromkeys((name, *map(table.name_of, likely_columns(table))))),
            path=self._path,
            created=self._created(),
        )

    # ------------------------------------------------------------------ rows

    def rows_of(self, owner: int, *, are_rendered: bool) -> Iterator[tuple[Rows, NDArray[np.intp]]]:
        """Yield all rows, with the places of the frames of a stream among them.

        Called on a reader that has read nothing yet; the frames are not kept.

        Args:
            are_rendered: Whether only frames rendered by the program count.
        """
        for rows in self._blocks:
            places, owners = self._read(rows)
            wanted = owners == owner
            if are_rendered and self._is_generated:
                wanted &= np.frombuffer(self._is_generated, dtype=np.int8).copy() == 0
            held: list[array[Any]] = [self._values, self._owners, self._instants]
            for each in [*held, self._is_generated, *self._fact_values]:
                del each[:]
            yield rows, places[wanted]

    def _read(self, rows: Rows) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """Keep the frames in some rows; return which rows they are, and the streams they are of."""
        limit = MAX_NS - 1 if self._is_cumulative else _LONGEST_NS
        values = rows.values_ns(self._at, self._digits, limit)
        odd = np.flatnonzero(values == DAMAGED).tolist()
        if rows.is_unfinished and odd and odd[-1] == len(rows) - 1:
            # The capturing program is still writing this line.
            values[odd.pop()] = MISSING
        kept = self._rows_of_data(rows, odd)
        owners = self._owners_of(rows, kept)
        kept &= owners >= 0
        for row in odd:
            if kept[row]:
                stream = self._streams[owners[row]]
                text = rows.text(self._at, row)
                self._negative += text.startswith("-")
                if not stream.first_damage:
                    cell = in_quotes(text)
                    stream.first_damage = f"line {rows.line + row}: {cell} is not a frame time"
        self._note_first_lines(rows.line, np.where(kept, values, 0), owners)
        values, owners = values[kept], owners[kept]
        facts = [self._in_ms(rows, at)[kept] for at in self._facts]
        self._has_rows = self._has_rows or bool(len(values))
        if self._is_cumulative:
            values = self._differences(values)
            owners = np.zeros(len(values), dtype=np.int32)
        self._count_skipped(values, owners)
        usable = values >= 0
        places = np.arange(len(values)) if self._is_cumulative else np.flatnonzero(kept)
        self._values.frombytes(values[usable].tobytes())
        if self._clock is not None:
            self._instants.frombytes(self._instants_of(rows, self._clock)[kept][usable].tobytes())
        self._owners.frombytes(owners[usable].tobytes())
        if self._type_at >= 0:
            generated = self._generated(rows, np.flatnonzero(kept)[usable], owners[usable])
            self._is_generated.frombytes(generated.astype(np.int8).tobytes())
        for place, (kept_values, read) in enumerate(zip(self._fact_values, facts, strict=True)):
            known = read[usable]
            # The first column holds times of display, which are 0 for frames not displayed.
            known = known if place else np.where(known > 0, known, np.nan)
            kept_values.frombytes(known.tobytes())
        return places[usable], owners[usable]

    def _note_first_lines(self, line: int, values: NsColumn, owners: NDArray[np.int32]) -> None:
        for code in (MISSING, TOO_LARGE):
            places = np.flatnonzero(values == code)
            found, first = np.unique(owners[places], return_index=True)
            for owner, place in zip(found.tolist(), places[first].tolist(), strict=True):
                self._streams[owner].first_lines.setdefault(code, line + place)

    def _count_skipped(self, values: NsColumn, owners: NDArray[np.int32]) -> None:
        for code in (MISSING, DAMAGED, TOO_LARGE):
            found = np.bincount(owners[values == code])
            for owner in np.flatnonzero(found).tolist():
                self._streams[owner].counts[code] += int(found[owner])

    def _generated(
        self, rows: Rows, places: NDArray[np.intp], owners: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        """Count the frames not rendered by the program, and return which rows they are."""
        keys, first, of_key = np.unique(
            rows.keys([self._type_at])[places], return_index=True, return_inverse=True
        )
        kinds = [rows.text(self._type_at, int(places[each])) for each in first.tolist()]
        pairs, counts = np.unique(owners * np.int64(len(keys)) + of_key, return_counts=True)
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
            owner, key = divmod(pair, len(keys))
            if not is_rendered(kinds[key]):
                generated = self._streams[owner].generated
                kind = short_name(kinds[key])
                is_known = kind in generated or len(generated) < _MOST_TYPES
                generated[kind if is_known else "others"] += count
        is_generated = np.array([not is_rendered(each) for each in kinds], dtype=np.bool_)
        found: NDArray[np.bool_] = is_generated[of_key]
        return found

    def _instants_of(self, rows: Rows, clock: RowClock) -> NsColumn:
        """Return when the frame times of rows end; negative if unknown."""
        if clock.is_date:
            return np.array([_second_of(cell) for cell in rows.texts(clock.at)], dtype=np.int64)
        instants = rows.values_ns(clock.at, clock.digits, MAX_NS - 1)
        if clock.lengths_at < 0:
            return instants
        lengths = rows.values_ns(clock.lengths_at, self._timing.length_digits, _LONGEST_NS)
        return np.where((instants < 0) | (lengths < 0), MISSING, instants + lengths)

    def _in_ms(self, rows: Rows, at: int) -> NDArray[np.float64]:
        """Return a column in milliseconds, NaN where there is no number."""
        found, is_there = rows.signed_ns(at, MILLISECONDS, _LONGEST_NS)
        return np.where(is_there, found / NS_PER_MS, np.nan)

    def _column_of_types(self) -> int:
        """Return the column of the types of frames, -1 if types do not matter.

        They do not for times of display, which are those of all displayed frames.
        """
        is_displayed = self._loose[self._at] in _DISPLAYED
        is_there = FRAME_TYPE in self._loose and not is_displayed
        return self._loose.index(FRAME_TYPE) if is_there else -1

    def _columns_of_facts(self) -> list[int]:
        """Return the column of times of display, then the one that gives animation errors."""
        displayed, error, step = (
            next((self._loose.index(name) for name in names if name in self._loose), -1)
            for names in (_DISPLAYED, ANIMATION_ERROR, _SIMULATION_STEP)
        )
        if displayed < 0:
            return []
        return [displayed, *(at for at in (error if error >= 0 else step,) if at >= 0)]

    def _facts_of(self, places: NDArray[np.intp] | slice) -> FrameFacts:
        """Return what else is known of some frames.

        The animation error is read, or the simulation step minus the time of display.
        """
        columns = [self._column(held, np.float64)[places] for held in self._fact_values]
        if not columns:
            return NO_FACTS
        displayed = columns[0]
        errors = columns[1] if len(columns) > 1 else None
        if errors is not None and self._loose[self._facts[1]] in _SIMULATION_STEP:
            errors = np.where(errors > 0, errors - displayed, np.nan)
        return FrameFacts(errors, displayed)

    def _rows_of_data(self, rows: Rows, odd: list[int]) -> NDArray[np.bool_]:
        """Return which rows hold data: not blank lines, repeated headers or rows of other codes."""
        kept = ~rows.is_blank
        if self._has_codes:
            kept &= rows.values_ns(0, 0, _AFTERBURNER_LAST_CODE) == _AFTERBURNER_DATA
        if self._table.has_names:
            names = list(self._table.columns)
            for row in odd:
                kept[row] &= rows.row(row) != names
        return kept

    def _owners_of(self, rows: Rows, kept: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Return the number of the stream of each row, -1 if there are too many streams."""
        owners = np.zeros(len(rows), dtype=np.int32)
        if not self._keys:
            if not self._streams:
                self._streams.append(_StreamCount(""))
            return owners
        owners.fill(-1)
        places = np.flatnonzero(kept)
        keys, first, inverse = np.unique(
            rows.keys(self._keys)[places], return_index=True, return_inverse=True
        )
        numbers = np.empty(len(keys), dtype=np.int32)
        for each in np.argsort(first).tolist():
            key = int(keys[each])
            number = self._stream_of_key.get(key, -1)
            if number < 0 and len(self._streams) < MOST_STREAMS:
                number = self._stream_of_key[key] = len(self._streams)
                cells = [rows.text(at, int(places[first[each]])) for at in self._keys]
                self._streams.append(_StreamCount(_stream_name(cells)))
            numbers[each] = number
        owners[places] = numbers[inverse]
        self._further_rows += int(np.count_nonzero(owners[places] < 0))
        return owners

    def _differences(self, values: NsColumn) -> NsColumn:
        instants = np.concatenate((self._before_ns, values[values >= 0]))
        self._before_ns = instants[-1:]
        found = np.diff(instants)
        found = np.where(found < 0, DAMAGED, np.where(found > _LONGEST_NS, TOO_LARGE, found))
        return np.concatenate((found, values[values < 0]))

    def _column(self, held: array[Any], kind: type[Number]) -> NDArray[Number]:
        """Return what was read so far, as a copy until the file has been read to its end."""
        if self._is_over and held:
            return np.frombuffer(held, dtype=kind)
        return np.array(held, dtype=kind)

    def _made_streams(self, column: str) -> list[Stream]:
        values = self._column(self._values, np.int64)
        owners = self._column(self._owners, np.int32)
        places: list[NDArray[np.intp] | slice] = [slice(None)]
        if len(self._streams) > 1:
            order = np.argsort(owners, kind="stable")
            edges = np.searchsorted(owners[order], np.arange(1, len(self._streams)))
            places = list(np.split(order, edges))
        read = self._column(self._instants, np.int64)
        instants = [self._ends(values[part], read[part] if len(read) else read) for part in places]
        if self._timing.is_sampled and any(ends is None for ends in instants):
            raise self._refused(
                "holds samples and not every frame, and no column says when they are. If one does, "
                "give it a unit, as in “time (s)”, and instants that do not go back"
            )
        known = zip(instants, places, strict=True)
        begins = [int(ends[0] - values[part][0]) for ends, part in known if ends is not None]
        first_ns = min(begins, default=0)
        streams = []
        for owner, (stream, part, ends) in enumerate(
            zip(self._streams, places, instants, strict=True)
        ):
            lengths, notes = values[part], _skip_notes(stream)
            rendered = self._rendered(part, ends)
            if stream.generated and rendered is None:
                notes.append(_MIXED)
            if rendered is not None and ends is not None:
                part = np.arange(len(values))[part][rendered]  # noqa: PLW2901 - its frames
                lengths, ends = _between_rendered(lengths, ends, rendered)  # noqa: PLW2901
                notes.append(_generated_note(stream))
            streams.append(
                Stream(
                    name=stream.name,
                    column=column,
                    interval_ns=lengths,
                    at_ns=None if ends is None else ends - first_ns,
                    facts=self._facts_of(part),
                    skipped=sum(stream.counts.values()),
                    notes=tuple(notes),
                    samples=SAMPLES if self._timing.is_sampled else "",
                    beside=self._beside(owner, len(lengths), are_rendered=rendered is not None),
                )
            )
        return streams

    def _rendered(
        self, part: NDArray[np.intp] | slice, ends: NsColumn | None
    ) -> NDArray[np.intp] | None:
        """Return which frames of a stream the program has rendered; ``None`` for all."""
        if ends is None or not self._is_generated:
            return None
        found = np.flatnonzero(self._column(self._is_generated, np.int8)[part] == 0)
        return found if 0 < len(found) < len(ends) else None

    def _beside(self, owner: int, count: int, *, are_rendered: bool) -> TableColumns | None:
        table = self._table
        if self._is_cumulative or not table.has_names:
            return None
        read = partial(_rows_again, self._path, self._wanted, owner, are_rendered=are_rendered)
        quantities = quantities_of(table, self._at)
        return TableColumns(self._path, table.columns, table.numeric, quantities, read, 0, count)

    def _ends(self, lengths: NsColumn, instants: NsColumn) -> NsColumn | None:
        """Return when frame times end by the clock of the file, ``None`` if it has none for all."""
        known = instants >= 0
        if self._clock is None or 2 * np.count_nonzero(known) <= len(lengths):
            return None
        if not known.all():
            first, places = instants[known][0], np.flatnonzero(known)
            between = np.interp(np.arange(len(known)), places, instants[known] - first)
            instants = first + np.rint(between).astype(np.int64)
        if np.any(instants[1:] < instants[:-1]):
            return None
        return _spread(instants) if self._clock.is_date else instants

    # ------------------------------------------------------------------ columns

    def _format(self) -> str:
        names = set(self._loose)
        if self._has_codes:
            return "MSI Afterburner"
        if any(line.startswith("//") for line in self._table.comments):
            return "CapFrameX"
        return next((name for name, columns in _FORMATS if columns <= names), "table")

    def _created(self) -> datetime | None:
        if found := _AFTERBURNER_TITLE.match(self._source.head.decode("latin-1")):
            return _date_of(found)
        table = self._table
        if "timeindatetime" in self._loose:
            first = table.first_cells(self._loose.index("timeindatetime"))
            return date_in(first[0]) if first else None
        about = dict(line.removeprefix("//").partition("=")[::2] for line in table.comments)
        return date_in(f"{about.get('CreationDate', '')} {about.get('CreationTime', '')}")

    def _refuse_summaries(self) -> None:
        names = set(self._loose)
        for what, columns in _SUMMARIES:
            if columns <= names:
                message = (
                    f"{self._path} is {what}: it has no frame times. "
                    "Choose the log with one row per frame."
                )
                raise CaptureError(message)
        title = self._source.head.decode("latin-1")
        if _AFTERBURNER_TITLE.match(title) and "frametime" not in names:
            message = (
                f"{self._path} is a log of MSI Afterburner without frame times. Add Frametime to "
                "what Afterburner monitors and logs."
            )
            raise CaptureError(message)

    def _named_column(self, wanted: str) -> int:
        table = self._table
        names = [name.casefold() for name in table.columns]
        if wanted.casefold() in names:
            at = names.index(wanted.casefold())
        elif comparable(wanted) in self._loose and comparable(wanted):
            at = self._loose.index(comparable(wanted))
        elif 1 <= (count_in(wanted) or 0) <= len(table.columns):
            at = int(wanted) - 1
        else:
            message = f"{self._path} has no column {in_quotes(wanted)}. {table.listed_columns()}"
            raise CaptureError(message)
        is_cumulative = self._loose == _FRAPS and at == 1
        if not is_cumulative and (problem := problem_of(table, at)):
            raise self._refused(problem, at)
        return at

    def _refused(self, problem: str, at: int | None = None) -> CaptureError:
        table = self._table
        name = table.name_of(self._at if at is None else at)
        return CaptureError(
            f"{self._path}: {name} {problem}. Choose another column. {table.listed_columns()}"
        )

    def _found_timing(self) -> Timing:
        if self._is_cumulative:
            return Timing(MILLISECONDS)
        found = timing_of(
            *(self._table, self._at, self._keys),
            is_frame_time=self._is_frame_time,
            types_at=self._type_at,
        )
        if isinstance(found, str):
            raise self._refused(found)
        if self._has_codes:
            return structs.replace(found, clock=RowClock(1, 0, is_date=True), is_sampled=True)
        return found

    def _known_column(self) -> int:
        table, loose = self._table, self._loose
        if loose == _FRAPS:
            return 1
        for known in FRAME_TIME_COLUMNS:
            if known in loose and loose.index(known) in table.numeric:
                return loose.index(known)
        likely = likely_columns(table)
        if len(likely) == 1:
            return likely[0]
        how = f"Name the column as FILE:COLUMN. {table.listed_columns()}"
        if not table.first_rows:
            message = f"{self._path} has no rows below its names. Choose a capture with frames."
            raise CaptureError(message)
        if not likely:
            message = f"{self._path} has no column of numbers that could be frame times. {how}"
            raise CaptureError(message)
        message = f"{self._path} has more than one column that could be frame times. {how}"
        raise ColumnChoiceError(message, tuple(map(table.name_of, likely)))


def _rows_again(
    path: Path, column: str | None, owner: int, *, are_rendered: bool
) -> Iterator[tuple[Rows, NDArray[np.intp]]]:
    return FrameTableReader(path, column).rows_of(owner, are_rendered=are_rendered)


def _between_rendered(
    lengths_ns: NsColumn, ends_ns: NsColumn, rendered: NDArray[np.intp]
) -> tuple[NsColumn, NsColumn]:
    """Return the times from each rendered frame to the next, and when these times end.

    A generated frame either shares the present, and so the instant, of a rendered frame, or it has
    a present of its own, from which the frame time of the next rendered frame then counts.
    """
    found, ends = lengths_ns[rendered].copy(), ends_ns[rendered]
    is_own = np.ones(len(ends_ns), dtype=np.bool_)
    is_own[rendered] = False
    after = np.minimum(np.searchsorted(rendered, np.arange(len(ends_ns))), len(rendered) - 1)
    before = np.maximum(np.searchsorted(rendered, np.arange(len(ends_ns)), "right") - 1, 0)
    is_own &= (ends_ns != ends[after]) & (ends_ns != ends[before])
    own = np.concatenate(((0,), np.cumsum(is_own)))[rendered]
    between = np.flatnonzero(np.diff(own) > 0) + 1
    found[between] = ends[between] - ends[between - 1]
    return found, ends


def _generated_note(stream: _StreamCount) -> str:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(stream.generated.items()))
    return (
        f"Only frames that the program has rendered count here, not those of other types ({kinds})"
        ". Times of display, such as MsBetweenDisplayChange, are of all frames."
    )


def _date_of(found: re.Match[str]) -> datetime | None:
    """Return a date and time of day as Afterburner writes it; ``None`` if it is not valid."""
    day, month, year, hour, minute, second = (int(text or 0) for text in found.groups())
    if year not in _YEARS:
        return None
    try:
        return datetime(year, month, day, hour, minute, second)  # noqa: DTZ001 - where it was written
    except ValueError:
        return None


def _second_of(cell: str) -> int:
    """Return a date and time in nanoseconds since 1970, negative if it is not valid."""
    found = _DATE.fullmatch(cell)
    date = None if found is None else _date_of(found)
    return MISSING if date is None else int(date.replace(tzinfo=UTC).timestamp()) * NS_PER_SECOND


def _spread(seconds: NsColumn) -> NsColumn:
    """Return instants in whole seconds, with those of the same second spread evenly over it."""
    values, first, counts = np.unique(seconds, return_index=True, return_counts=True)
    gaps = np.minimum(np.diff(values, append=values[-1:] + NS_PER_SECOND), NS_PER_SECOND)
    place = np.arange(len(seconds)) - np.repeat(first, counts)
    return seconds + place * np.repeat(gaps // counts, counts)


def _is_compositor(name: str) -> bool:
    return name.casefold().partition(" ")[0] in _COMPOSITORS


def _stream_name(cells: list[str]) -> str:
    if not any(cells):
        return ""
    words = [short_name(cell) for cell in cells]
    if len(words) < len(STREAM_COLUMNS):
        return " ".join(words)
    application, process, swap_chain = words
    return f"{application} (process {process}, swap chain {swap_chain})"


def _skip_notes(stream: _StreamCount) -> list[str]:
    notes = []
    if missing := stream.counts[MISSING]:
        has = counted(missing, "row has no value and was", "rows have no value and were")
        notes.append(f"{has} skipped{_first_line(stream, MISSING)}.")
    if damaged := stream.counts[DAMAGED]:
        are = counted(damaged, "row is damaged and was", "rows are damaged and were")
        where = f"; the first is in {stream.first_damage}" if stream.first_damage else ""
        notes.append(f"{are} skipped{where}.")
    if glitches := stream.counts[TOO_LARGE]:
        frames = counted(glitches, "frame")
        where = _first_line(stream, TOO_LARGE)
        notes.append(
            f"Skipped {frames} above 100 s, which capture programs write by mistake{where}."
        )
    return notes


def _first_line(stream: _StreamCount, code: int) -> str:
    line = stream.first_lines.get(code)
    return "" if line is None else f"; the first is in line {line}"
