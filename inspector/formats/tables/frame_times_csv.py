"""Frame times as comma-separated values (RFC 4180), one row per frame.

Columns, in this order:

* ``frame``: number of the frame within its session, from 0
* ``at_ns``: its instant: session time of its start, or the time of a capture
* ``interval_ns``: source time from the instant of the frame before to its own
* ``delta_ns``: local time of the root clock passed to the callbacks
* ``busy_ns``: time spent in the callbacks
* ``timers_ns`` … ``draw_ns``: time spent in each phase
* ``at_ms``, ``interval_ms``, ``delta_ms``, ``busy_ms``: the same in milliseconds
* ``callbacks_share_ns`` … ``unknown_share_ns``: only if it was measured: where the interval went
* ``interventions``: only if there are any: numbers of the commands applied or refused before or
  in the frame, ``b1`` for a hit of breakpoint 1, separated by blanks. The JSON describes them.
* ``landmarks``: only if there are any: names of the bookmarks, notes and marks in the frame,
  separated by ``; ``
* ``ranges``: only if there are any: names of the named ranges that include the frame; names that a
  spreadsheet would evaluate follow an apostrophe, here and above

Whole nanoseconds are exact; milliseconds are the same numbers with the point
moved, so they are exact too. There are no comments: any program can read it.
"""

from collections.abc import Iterable
from typing import BinaryIO, Final

from inspector.formats.csv_cells import quoted, text_cell
from inspector.formats.drawing.font_metrics import plain
from inspector.formats.frame_times import SHARE_COLUMNS, FrameTimes, NsColumn, Provenance
from inspector.formats.options import ExportOptions
from inspector.formats.tables.number_cells import number_rows
from inspector.vocabulary import Phase

#: Decimals with which milliseconds are exact to the nanosecond.
DECIMALS_OF_MS: Final = 6
_IN_MS: Final = ("at_ns", "interval_ns", "delta_ns", "busy_ns")

#: The last columns, present only if they have contents.
INTERVENTIONS_COLUMN: Final = "interventions"
LANDMARKS_COLUMN: Final = "landmarks"
RANGES_COLUMN: Final = "ranges"
PHASE_COLUMNS: Final = tuple(f"{phase.name.lower()}_ns" for phase in Phase)
CSV_COLUMNS: Final = (
    "frame",
    *_IN_MS,
    *PHASE_COLUMNS,
    *(name.removesuffix("_ns") + "_ms" for name in _IN_MS),
)


def write_csv(
    frames: FrameTimes,
    provenance: Provenance,  # noqa: ARG001 - a CSV has no place for it
    options: ExportOptions,
    stream: BinaryIO,
) -> None:
    extra = _extra_columns(frames, options)
    shares = SHARE_COLUMNS if frames.has_shares else ()
    stream.write(f"{','.join((*CSV_COLUMNS, *shares, *extra))}\r\n".encode())
    for part in frames.parts():
        in_ns = (part.at_ns, part.interval_ns, part.delta_ns, part.busy_ns)
        columns: list[tuple[NsColumn, int]] = [
            *((column, 0) for column in (part.index, *in_ns, *map(part.phase, Phase))),
            *((column, DECIMALS_OF_MS) for column in in_ns),
            *((column, 0) for column in part.share_columns.values()),
        ]
        for rows, text in number_rows(columns, len(part)):
            if extra:
                index = part.index[rows].tolist()
                lines = text.decode().split("\r\n")[:-1]
                full = zip(lines, *(_cells(each, index) for each in extra.values()), strict=True)
                stream.write("".join(f"{','.join(row)}\r\n" for row in full).encode())
            else:
                stream.write(text)


def _extra_columns(frames: FrameTimes, options: ExportOptions) -> dict[str, dict[int, str]]:
    columns: dict[str, dict[int, str]] = {}
    if options.interventions:
        columns[INTERVENTIONS_COLUMN] = _labels(frames)
    if options.markers:
        columns[LANDMARKS_COLUMN], columns[RANGES_COLUMN] = _names(frames)
    return {name: cells for name, cells in columns.items() if cells}


def _cells(cells: dict[int, str], frames: list[int]) -> Iterable[str]:
    return (cells.get(frame, "") for frame in frames)


def _names(frames: FrameTimes) -> tuple[dict[int, str], dict[int, str]]:
    """Return the names of markers, and those of ranges, by frame, quoted where needed."""
    instants: dict[int, list[str]] = {}
    ranges: dict[int, list[str]] = {}
    first = int(frames.index[0]) if len(frames) else 0
    last = int(frames.index[-1]) if len(frames) else -1
    for each in frames.markers:
        name = plain(each.name)
        if each.end_ns is None:
            instants.setdefault(each.frame, []).append(name)
            continue
        for frame in range(max(each.frame, first), min(each.last_frame, last) + 1):
            ranges.setdefault(frame, []).append(name)
    return (
        {frame: quoted(text_cell("; ".join(names))) for frame, names in instants.items()},
        {frame: quoted(text_cell("; ".join(names))) for frame, names in ranges.items()},
    )


def _labels(frames: FrameTimes) -> dict[int, str]:
    """Return the numbers of interventions by frame; later ones belong to the last frame."""
    found: dict[int, str] = {}
    last = int(frames.index[-1]) if len(frames) else 0
    for each in frames.interventions if len(frames) else ():
        frame = min(each.frame, last)
        found[frame] = f"{found[frame]} {each.label}" if frame in found else each.label
    return found
