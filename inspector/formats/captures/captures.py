"""Reads the frame times of other programs: any CSV with a column of milliseconds.

Recognised by their columns: PresentMon 1.x and 2.x, OCAT, CapFrameX, FrameView, MangoHud and our
own CSV. A capture of several programs contains several streams, distinguished by application,
process and swap chain; one of them is read.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from itertools import islice, pairwise
from pathlib import Path
from typing import Final

from inspector.display_text import in_quotes, one_line
from inspector.errors import CaptureError
from inspector.foreign.numbers import count_in
from inspector.foreign.paths import is_there
from inspector.formats.captures.capture_table import (
    CaptureTable,
    comparable,
    is_number,
    read_table,
)
from inspector.timebase import NS_PER_MS, NS_PER_SECOND, NS_PER_US

#: Columns of frame times, by preference.
_FRAME_TIME_COLUMNS: Final = (
    "intervalns",
    "msbetweenpresents",
    "frametime",
    "frametimems",
    "frametimens",
    "frametimeus",
    "frametimes",
    "msbetweenappstart",
    "msbetweensimulationstart",
    "intervalms",
    "msbetweendisplaychange",
    "ms",
    "milliseconds",
)
_STREAM_COLUMNS: Final = ("application", "processid", "swapchainaddress")
#: Columns of instants: certain ones first, then likely ones.
#: Columns of rates instead of times.
_PER_SECOND: Final = re.compile(r"(?<![a-z])(fps|hz)(?![a-z])|per.?second", re.IGNORECASE)
_INSTANTS: Final = re.compile(
    r"timein(?:seconds|ms|qpc|datetime)|cpustart.*|animationtime|elapsed|at(?:ns|ms)"
)
_LIKELY_INSTANTS: Final = re.compile(r"time(?!s?$).*|frame|index|elapsed.*|.*stamp.*")
_UNIT: Final = re.compile(r"(?:^|[^0-9A-Za-zµ])(ns|us|µs|ms|s|sec|seconds)\W*$", re.IGNORECASE)
_UNITS_NS: Final = {
    "ns": 1,
    "us": NS_PER_US,
    "µs": NS_PER_US,
    "ms": NS_PER_MS,
    "s": NS_PER_SECOND,
    "sec": NS_PER_SECOND,
    "seconds": NS_PER_SECOND,
}
_MISSING: Final = frozenset({"", "NA", "N/A", "NAN", "-"})
#: Longer "frames" are glitches of the capturing program (MangoHud drops them too).
_LONGEST_NS: Final = 100 * NS_PER_SECOND
_LOOKED_AT: Final = 200
#: Rate times duration is 1000 for milliseconds and a million for microseconds.
_LARGEST_PRODUCT_IN_MS: Final = 30_000
_LISTED_STREAMS: Final = 3
_MOST_STREAMS: Final = 12
#: Longest name or number of a program.
_LONGEST_WORD: Final = 80


@dataclass(frozen=True, slots=True)
class Capture:
    """The frame times of one stream of a capture.

    Attributes:
        frame_times_ns: The frame times in the order of the file.
        column: Name of their column.
        stream: Program, process and swap chain; empty in a file with a single stream.
        skipped: Rows of the stream without a usable value.
        notes: Sentences for the user: what was chosen or skipped.
    """

    frame_times_ns: tuple[int, ...]
    column: str
    stream: str
    skipped: int
    notes: tuple[str, ...] = ()


def split_column(text: str) -> tuple[Path, str | None]:
    r"""Return file and column of ``FILE`` or ``FILE:COLUMN``.

    The name of an existing file may contain a colon, as ``C:\run.csv`` does.
    """
    file, colon, column = text.rpartition(":")
    is_drive = len(file) == 1 and column.startswith(("\\", "/"))
    if not colon or not file or is_drive or is_there(Path(text)):
        return Path(text), None
    if not column.strip():
        message = (
            f"{in_quotes(text)} names no column. Name a column after the colon, or omit the colon."
        )
        raise CaptureError(message)
    return Path(file), column.strip()


def read_frame_times(
    path: Path, column: str | None = None, *, stream: str | None = None
) -> Capture:
    """Return the frame times in a capture.

    Args:
        path: The file.
        column: Name (in any case) or number (from 1) of the column; detected by default.
            Units in a name (``_ns``, ``(us)``, ``_s``) are respected; without one the column
            is in milliseconds.
        stream: Part of application, process or swap chain; by default the stream with the
            most frames.

    Raises:
        UnreadableFileError: The file cannot be read.
        CaptureError: It has no such table, column, stream or value; the message names the
            available ones.
    """
    table = read_table(path, _FRAME_TIME_COLUMNS, column)
    at = _known_column(table) if column is None else _named_column(table, column)
    name = table.name_of(at)
    streams, last_line = _streams(table, at)
    chosen = _chosen_stream(table, streams, stream)
    cells = streams[chosen]
    unit_ns = _unit_ns(table, at)
    times_ns: list[int] = []
    glitches = 0
    for line, cell in cells:
        if cell.upper() in _MISSING:
            continue
        if not is_number(cell):
            if line == last_line:
                continue  # the capturing program was still writing it
            message = (
                f"{path}, line {line}, {name}: {in_quotes(cell)} is not a number. "
                f"Correct it or choose another column. {table.listed_columns()}"
            )
            raise CaptureError(message)
        time_ns = int((Decimal(cell) * unit_ns).to_integral_value(ROUND_HALF_EVEN))
        if time_ns < 0:
            message = (
                f"{path}, line {line}, {name}: {cell} is negative; a frame time cannot be. Correct "
                f"it or choose another column. {table.listed_columns()}"
            )
            raise CaptureError(message)
        if time_ns > _LONGEST_NS:
            glitches += 1
        else:
            times_ns.append(time_ns)
    if not times_ns:
        message = (
            f"{path}: {name} has no frame times. Choose another column. {table.listed_columns()}"
        )
        raise CaptureError(message)
    skipped = len(cells) - len(times_ns)
    notes = [
        *_stream_notes(streams, chosen),
        *_skip_notes(skipped - glitches, glitches),
        *_sampling_notes(table, times_ns),
    ]
    return Capture(tuple(times_ns), name, _stream_text(chosen), skipped, tuple(notes))


def _named_column(table: CaptureTable, wanted: str) -> int:
    """Return the requested column, by name or by number from 1."""
    names = [name.casefold() for name in table.columns]
    loose = [comparable(name) for name in table.columns]
    if wanted.casefold() in names:
        at = names.index(wanted.casefold())
    elif comparable(wanted) in loose and comparable(wanted):
        at = loose.index(comparable(wanted))
    elif 1 <= (count_in(wanted) or 0) <= len(table.columns):
        at = int(wanted) - 1
    else:
        message = f"{table.path} has no column {in_quotes(wanted)}. {table.listed_columns()}"
        raise CaptureError(message)
    name = table.name_of(at)
    if "qpc" in name.lower():
        message = (
            f"{table.path}: {name} counts ticks of the processor, not milliseconds. "
            f"Choose another column. {table.listed_columns()}"
        )
        raise CaptureError(message)
    if _PER_SECOND.search(name):
        message = (
            f"{table.path}: {name} counts frames per second, not milliseconds. "
            f"Choose another column. {table.listed_columns()}"
        )
        raise CaptureError(message)
    if table.has_names and _INSTANTS.fullmatch(comparable(table.columns[at])):
        message = (
            f"{table.path}: {name} holds instants, not frame times. Choose another column. "
            f"{table.listed_columns()}"
        )
        raise CaptureError(message)
    return at


def _known_column(table: CaptureTable) -> int:
    """Return the column of frame times: a known one, or the only possible one."""
    loose = [comparable(name) for name in table.columns]
    for known in _FRAME_TIME_COLUMNS:
        if known in loose and _is_numeric(table, loose.index(known)):
            return loose.index(known)
    possible = [
        at
        for at, name in enumerate(loose)
        if _is_numeric(table, at)
        and not _INSTANTS.fullmatch(name)
        and not _LIKELY_INSTANTS.fullmatch(name)
        and "qpc" not in name
        and name not in _STREAM_COLUMNS
    ]
    in_ms = [
        at
        for at in possible
        if re.match(r"[mM]s[A-Z_ ]", table.columns[at])
        or ((unit := _UNIT.search(table.columns[at])) and unit[1].lower() == "ms")
    ]
    if len(in_ms) == 1:
        return in_ms[0]
    if len(possible) == 1:
        return possible[0]
    problem = (
        "has more than one column that could be frame times"
        if possible
        else "has no column of numbers that could be frame times"
    )
    message = f"{table.path} {problem}. Name the column as FILE:COLUMN. {table.listed_columns()}"
    raise CaptureError(message)


def _is_numeric(table: CaptureTable, at: int) -> bool:
    """Return whether a column is numeric in the first rows."""
    cells = [table.cell(row, at) for row in table.first_rows]
    present = [cell for cell in cells if cell.upper() not in _MISSING]
    return bool(present) and sum(map(is_number, present)) * 2 >= len(present)


def _unit_ns(table: CaptureTable, at: int) -> int:
    name = table.columns[at]
    if unit := _UNIT.search(name):
        return _UNITS_NS[unit[1].lower()]
    loose = [comparable(column) for column in table.columns]
    if comparable(name) == "frametime" and "fps" in loose:
        # MangoHud logged microseconds in 2021; rate times duration tells.
        rates = _numbers(table, loose.index("fps"))
        times = _numbers(table, at)
        products = sorted(rate * time for rate, time in zip(rates, times, strict=False))
        if products and products[len(products) // 2] > _LARGEST_PRODUCT_IN_MS:
            return NS_PER_US
    return NS_PER_MS


def _numbers(table: CaptureTable, at: int) -> list[float]:
    cells = [table.cell(row, at) for row in table.first_rows]
    return [float(cell) for cell in cells if is_number(cell)]


_Stream = tuple[str, ...]
_Cell = tuple[int, str]


def _streams(table: CaptureTable, at: int) -> tuple[dict[_Stream, list[_Cell]], int]:
    """Return line and cell of each row by application, process and swap chain; the last line."""
    loose = [comparable(name) for name in table.columns]
    keys = [loose.index(name) for name in _STREAM_COLUMNS if name in loose]
    streams: dict[_Stream, list[_Cell]] = {}
    line = 0
    for row in table.rows():
        line = row.line
        stream = tuple(table.cell(row, key) for key in keys)
        streams.setdefault(stream, []).append((line, table.cell(row, at)))
    if not streams:
        message = f"{table.path} has names of columns but no rows. Choose another capture."
        raise CaptureError(message)
    return streams, line


def _chosen_stream(
    table: CaptureTable, streams: dict[_Stream, list[_Cell]], wanted: str | None
) -> _Stream:
    if wanted is None:
        return max(streams, key=lambda stream: _frame_count(streams[stream]))
    text = wanted.casefold()
    matching = [stream for stream in streams if text in _stream_text(stream).casefold()]
    if len(matching) == 1:
        return matching[0]
    problem = "no stream" if not matching else "more than one stream"
    listed = "; ".join(_stream_text(stream) for stream in islice(streams, _MOST_STREAMS))
    message = f"{table.path} has {problem} {in_quotes(wanted)}. Its streams are {listed}."
    raise CaptureError(message)


def _frame_count(cells: Sequence[_Cell]) -> int:
    return sum(is_number(cell) for _line, cell in cells)


def _stream_text(stream: _Stream) -> str:
    if not any(stream):
        return ""
    stream = tuple(one_line(word[:_LONGEST_WORD]) for word in stream)
    if len(stream) < len(_STREAM_COLUMNS):
        return " ".join(stream)
    application, process, swap_chain = stream
    return f"{application} (process {process}, swap chain {swap_chain})"


def _stream_notes(streams: dict[_Stream, list[_Cell]], chosen: _Stream) -> list[str]:
    if len(streams) == 1:
        return []
    others = [stream for stream in streams if stream != chosen]
    others.sort(key=lambda stream: -_frame_count(streams[stream]))
    listed = ", ".join(
        f"{_stream_text(stream)} with {_frame_count(streams[stream])}"
        for stream in others[:_LISTED_STREAMS]
    )
    more = len(others) - _LISTED_STREAMS
    note = (
        f"Read {_stream_text(chosen)} with {_frame_count(streams[chosen])} frames, one of "
        f"{len(streams)} streams. Skipped: {listed}"
    )
    return [f"{note} and {more} more." if more > 0 else f"{note}."]


def _skip_notes(missing: int, glitches: int) -> list[str]:
    notes = []
    if missing == 1:
        notes.append("1 row has no value and was skipped.")
    elif missing:
        notes.append(f"{missing} rows have no value and were skipped.")
    if glitches:
        frames = "1 frame" if glitches == 1 else f"{glitches} frames"
        notes.append(f"Skipped {frames} above 100 s, which capture programs write by mistake.")
    return notes


def _sampling_notes(table: CaptureTable, times_ns: Sequence[int]) -> list[str]:
    """Return a note if a MangoHud log has samples at an interval instead of every frame."""
    loose = [comparable(name) for name in table.columns]
    if "elapsed" not in loose or "fps" not in loose:
        return []
    elapsed = _numbers(table, loose.index("elapsed"))
    steps = sorted(later - earlier for earlier, later in pairwise(elapsed))
    first = sorted(times_ns[:_LOOKED_AT])
    if not steps or steps[len(steps) // 2] < 1.5 * first[len(first) // 2]:
        return []
    return ["The log holds samples, not every frame: spikes between them are missing."]
