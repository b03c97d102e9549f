"""Reads what ``tracy-csvexport`` writes: zones (``-u``), GPU zones (``-g``) and messages (``-m``).

Names are not quoted and may contain the separator, so rows are split from the right. The default
output of ``tracy-csvexport`` has sums without instants, so it is read as a table of statistics.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from msgspec import Struct

from inspector.display_text import counted, in_quotes
from inspector.errors import CaptureError, SumsError
from inspector.formats.captures.source import CaptureSource
from inspector.formats.captures.trace import TraceReader

_LONGEST_LINE: Final = 1 << 20
_LONGEST_NAME: Final = 400
_LONGEST_NUMBER: Final = 24


class _Form(Struct, frozen=True):
    columns: tuple[str, ...]  # Its columns from the left
    at: int  # Place of the instant, counted from the right
    took: int = 0  # Place of the duration from the right; 0 for instants
    thread: int = 0  # Place of the thread from the right; 0 for none
    track: str = ""  # Name of the track without a thread


_ZONES: Final = ("name", "src_file", "src_line", "ns_since_start", "exec_time_ns", "thread")
_FORMS: Final = (
    _Form((*_ZONES, "value"), at=4, took=3, thread=2),
    _Form(_ZONES, at=3, took=2, thread=1),
    _Form(
        ("name", "src_file", "Time from start of program", "GPU execution time"),
        at=2,
        took=1,
        track="GPU",
    ),
    _Form(("MessageName", "total_ns"), at=1, track="messages"),
)
_ALL_SUMS: Final = (
    *("name", "src_file", "src_line", "total_ns", "total_perc", "counts"),
    *("mean_ns", "min_ns", "max_ns", "std_ns"),
)
_SUMS: Final = _ALL_SUMS[:4]
_HEADER: Final = re.compile(rb"(?:name(.)src_file\1|MessageName(.)total_ns(?:\s|$))")


def is_tracy(head: bytes) -> bool:
    return _HEADER.match(head.removeprefix(b"\xef\xbb\xbf")) is not None


@dataclass(frozen=True, slots=True)
class ZoneSums:
    name: str
    place: str  # Its file and line
    calls: int  # How often it was entered
    total_ns: int  # Time in it
    share: float  # Its share of the time of the capture, in percent
    mean_ns: int  # Mean of a call
    min_ns: int  # The shortest
    max_ns: int  # The longest
    deviation_ns: float  # Their standard deviation


def zone_sums(path: Path) -> tuple[list[ZoneSums], tuple[str, ...]] | None:
    """Return the zones in Tracy's default form, longest in total first, and sentences on damage.

    ``None`` if the file is something else.
    """
    source = CaptureSource(path)
    header = source.head.split(b"\n", 1)[0].decode("utf-8-sig", "replace").rstrip("\r")
    match = _HEADER.match(header.encode()) if is_tracy(source.head) else None
    separator = (match[1] or b"").decode("utf-8", "replace") if match else ""
    columns = tuple(header.split(separator)) if separator else ()
    if columns[: len(_ALL_SUMS)] != _ALL_SUMS:
        return None
    found, damaged = [], 0
    for line in b"".join(source.pieces()).decode("utf-8", "replace").splitlines()[1:]:
        name, *cells = line.rsplit(separator, len(columns) - 1)
        try:
            file, number, total, share, calls, mean, least, most, deviation = cells[:9]
            sums = ZoneSums(
                *(name[:_LONGEST_NAME], f"{file}:{number}", int(calls), int(total), float(share)),
                *(int(float(mean)), int(float(least)), int(float(most)), float(deviation)),
            )
        except (ValueError, OverflowError):
            damaged += bool(line.strip())
            continue
        found.append(sums)
    if not found:
        message = f"{path} has no zones. Export it again."
        raise CaptureError(message)
    what = counted(damaged, "row is", "rows are")
    notes = (*source.notes, *((f"{what} damaged and skipped.",) if damaged else ()))
    return sorted(found, key=lambda zone: -zone.total_ns), notes


class TracyReader(TraceReader):
    kind = "Tracy"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        header = self._source.head.split(b"\n", 1)[0].decode("utf-8-sig", "replace").rstrip("\r")
        found = _HEADER.match(header.encode())
        assert found is not None
        self._separator = (found[1] or found[2]).decode("utf-8", "replace")
        columns = tuple(header.split(self._separator))
        if columns[: len(_SUMS)] == _SUMS:
            message = (
                f"{path} has the sums of zones from tracy-csvexport without instants, so there is "
                "nothing to show over time. “timeline-inspector stats” shows them as a table. "
                "For a timeline, export with -u for each zone, -g for those of the GPU, or -m for "
                "messages."
            )
            raise SumsError(message)
        form = next((each for each in _FORMS if each.columns == columns), None)
        if form is None:
            message = (
                f"{path} is a table of Tracy with the columns {in_quotes(header, 200)}, which are "
                "not known. Export with -u, -g or -m."
            )
            raise CaptureError(message)
        self._form = form
        self._line = 0

    def _read_piece(self, text: bytes) -> bytes:
        end = text.rfind(b"\n") + 1
        self._read(text[:end].split(b"\n")[:-1])
        if len(text) - end > _LONGEST_LINE:
            message = f"{self._path} has a line of more than 1 MB, so it is not a table of Tracy."
            raise CaptureError(message)
        return text[end:]

    def _read_end(self, rest: bytes) -> None:
        self._read(rest.splitlines())

    def _read(self, lines: list[bytes]) -> None:
        builder, form, separator = self._builder, self._form, self._separator
        count = len(form.columns)
        for line in lines:
            self._line += 1
            text = line.decode("utf-8", "replace").strip("\r")
            if self._line == 1 or not text:
                continue
            cells = text.rsplit(separator, count - 1)
            try:
                at_ns = int(cells[-form.at][:_LONGEST_NUMBER])
                took_ns = int(cells[-form.took][:_LONGEST_NUMBER]) if form.took else 0
            except (ValueError, IndexError):
                builder.note_damage(f"line {self._line:,}")
                continue
            thread = cells[-form.thread] if form.thread else ""
            name = f"thread {thread}" if form.thread else form.track
            track = builder.track(thread, "Tracy", name)
            builder.add(track, builder.text(cells[0][:_LONGEST_NAME]), at_ns, took_ns)
