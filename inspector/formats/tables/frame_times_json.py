"""Frame times as one JSON object: provenance, summary and columns.

``format`` and ``version`` identify the format; ``columns`` maps the CSV's column names to arrays of
whole nanoseconds, one entry per frame. ``over_budget`` counts the frames over each budget, with the
measured time and the tolerance. ``left_out``, if it is there, is the number of frames that summary
and counts leave out, as they are over budget because of the inspector alone. Frames that are
samples have neither summary nor counts, and ``samples`` says why. ``interventions``, if there are
any, lists the interventions before or in these frames, ``landmarks`` the bookmarks, notes, named
ranges and marks in them. ``own_budget`` in the provenance is what the loop of a program asked for
at its rate, or else its usual frame.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from operator import attrgetter, methodcaller
from typing import BinaryIO, Final

from inspector.analysis.intervention_list import Intervention
from inspector.analysis.markers import MARKER_KINDS, Marker
from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.analysis.statistics.frame_statistics import over_budget, percentile_frame_time_ns
from inspector.formats.frame_times import UNKNOWN_COLUMN, FrameTimes, NsColumn, Provenance
from inspector.formats.options import ExportOptions
from inspector.formats.tables.frame_times_csv import PHASE_COLUMNS
from inspector.formats.tables.number_cells import number_rows
from inspector.vocabulary import Phase, Share

JSON_FORMAT: Final = "timeline-inspector frame times"
JSON_VERSION: Final = 1


def write_json(
    frames: FrameTimes, provenance: Provenance, options: ExportOptions, stream: BinaryIO
) -> None:
    text = json.dumps(head_of(frames, provenance, options), ensure_ascii=False, indent=2)
    # File names may hold undecodable bytes, which JSON can escape.
    stream.write(text.removesuffix("\n}").encode(errors="backslashreplace"))
    separator = ',\n  "columns": {'
    for name, read in column_readers(frames).items():
        stream.write(f"{separator}\n    {json.dumps(name)}: [".encode())
        comma = b""
        for part in frames.parts():
            for _rows, lines in number_rows([(read(part), 0)], len(part)):
                stream.write(comma + lines.replace(b"\r\n", b",").removesuffix(b","))
                comma = b","
        stream.write(b"]")
        separator = ","
    stream.write(b"\n  }\n}\n")


def column_readers(frames: FrameTimes) -> dict[str, Callable[[FrameTimes], NsColumn]]:
    """Return functions that read a column of some frames, by the names of columns in the CSV."""
    plain = ("at_ns", "interval_ns", "delta_ns", "busy_ns")
    readers: dict[str, Callable[[FrameTimes], NsColumn]] = {"frame": attrgetter("index")}
    readers |= {name: attrgetter(name) for name in plain}
    readers |= {
        name: methodcaller("phase", phase) for name, phase in zip(PHASE_COLUMNS, Phase, strict=True)
    }
    if frames.has_shares:
        readers |= {share.column: methodcaller("share", share) for share in Share}
        readers[UNKNOWN_COLUMN] = attrgetter("unknown_ns")
    return readers


def head_of(
    frames: FrameTimes, provenance: Provenance, options: ExportOptions
) -> dict[str, object]:
    counted, left_out = options.counted(frames)
    own = provenance.own_budget
    head: dict[str, object] = {
        "format": JSON_FORMAT,
        "version": JSON_VERSION,
        "provenance": {
            "title": options.title,
            "scene": provenance.scene,
            "created": provenance.created_iso,
            "inspector_version": provenance.version,
            "source": provenance.source,
            "frame_rate": None if provenance.frame_rate is None else str(provenance.frame_rate),
            "note": provenance.note,
            **({"own_budget": _own_budget(own)} if own else {}),
        },
        "frame_count": len(frames),
        "summary": {
            "interval_ns": _summary(counted.interval_ns),
            "delta_ns": _summary(counted.delta_ns),
            "busy_ns": _summary(counted.busy_ns),
        },
        "over_budget": {
            "measure": options.measure,
            "budgets": [
                over_budget(counted.measured(options.measure), each).values()
                for each in provenance.compared_with(options.budgets_ms)
            ],
        },
    }
    if options.inspector_budget_ms is not None:
        head["left_out"] = left_out
    if frames.samples:
        head |= {"summary": None, "over_budget": None, "samples": frames.samples}
    if options.interventions and frames.interventions:
        head["interventions"] = [intervention_values(each) for each in frames.interventions]
    if options.markers and frames.markers:
        head["landmarks"] = [marker_values(each) for each in frames.markers]
    return head


def _own_budget(own: FrameBudget) -> dict[str, object]:
    return {"ns": own.budget_ns, "origin": own.origin, "rate": str(own.rate)}


def intervention_values(entry: Intervention) -> dict[str, object]:
    """Return an intervention as JSON; unknown values are null."""
    host = datetime.fromtimestamp(entry.host_ms / 1000, UTC) if entry.host_ms else None
    return {
        "kind": "breakpoint hit" if entry.is_hit else "command",
        "number": entry.number,
        "frame": entry.frame,
        "at_ns": entry.at_ns,
        "clock": entry.clock_name or None,
        "local_ns": entry.local_ns,
        "host_time": None if host is None else host.isoformat(timespec="milliseconds"),
        "text": entry.text,
        "by": entry.by,
        "refusal": entry.refusal or None,
        "undone_by": entry.undone_by or None,
    }


def interventions_from_values(values: object) -> tuple[Intervention, ...]:
    """Return the interventions of a JSON export, without damaged ones."""
    found = []
    for each in values if isinstance(values, list) else ():
        try:
            host = each["host_time"]
            entry = Intervention(
                number=int(each["number"]),
                is_hit=each["kind"] != "command",
                at_ns=int(each["at_ns"]),
                frame=int(each["frame"]),
                text=str(each["text"]),
                refusal=str(each["refusal"] or ""),
                by=str(each["by"]),
                clock_name=str(each["clock"] or ""),
                local_ns=None if each["local_ns"] is None else int(each["local_ns"]),
                host_ms=round(datetime.fromisoformat(host).timestamp() * 1000) if host else 0,
                undone_by=int(each["undone_by"] or 0),
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            continue
        found.append(entry)
    return tuple(found)


def marker_values(entry: Marker) -> dict[str, object]:
    """Return a marker as JSON; values that only ranges have are null otherwise."""
    is_range = entry.end_ns is not None
    return {
        "kind": entry.kind,
        "frame": entry.frame,
        "at_ns": entry.at_ns,
        "last_frame": entry.last_frame if is_range else None,
        "end_ns": entry.end_ns,
        "name": entry.name,
        "text": entry.text,
    }


def markers_from_values(values: object) -> tuple[Marker, ...]:
    """Return the markers of a JSON export, without damaged ones."""
    found = []
    for each in values if isinstance(values, list) else ():
        try:
            kind, end_ns = str(each["kind"]), each["end_ns"]
            entry = Marker(
                kind=kind,
                at_ns=int(each["at_ns"]),
                frame=int(each["frame"]),
                name=str(each["name"]),
                text=str(each["text"]),
                end_ns=None if end_ns is None else int(end_ns),
                last_frame=int(each["last_frame"] or 0),
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            continue
        if kind in MARKER_KINDS and (kind == "range") == (end_ns is not None):
            found.append(entry)
    return tuple(found)


def _summary(column_ns: NsColumn) -> dict[str, int] | None:
    """Return median, 99th percentile (nearest rank) and maximum; ``None`` without frames."""
    if not len(column_ns):
        return None
    return {
        "median": percentile_frame_time_ns(column_ns, 50),
        "p99": percentile_frame_time_ns(column_ns, 99),
        "max": int(column_ns.max()),
    }
