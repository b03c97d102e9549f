"""Frame times as one JSON object: provenance, summary and columns.

``format`` and ``version`` say what it is; ``columns`` maps the names that the
CSV uses to arrays of whole nanoseconds, one entry per frame.
"""

import json
from typing import BinaryIO, Final

from inspector.analysis.frame_statistics import percentile_frame_time_ns
from inspector.formats.csv_frames import PHASE_COLUMNS
from inspector.formats.frame_times import FrameTimes, NsColumn, Provenance
from inspector.formats.options import ExportOptions

JSON_FORMAT: Final = "timeline-inspector frame times"
JSON_VERSION: Final = 1


def write_json(
    frames: FrameTimes, provenance: Provenance, options: ExportOptions, stream: BinaryIO
) -> None:
    """Write ``frames`` with where they come from, one column per line."""
    head = {
        "format": JSON_FORMAT,
        "version": JSON_VERSION,
        "provenance": {
            "title": options.title,
            "scene": provenance.scene,
            "created": provenance.created.isoformat(),
            "inspector_version": provenance.version,
            "source": provenance.source,
            "frame_rate": None if provenance.frame_rate is None else str(provenance.frame_rate),
            "note": provenance.note,
        },
        "frame_count": len(frames),
        "summary": {
            "interval_ns": _summary(frames.interval_ns),
            "delta_ns": _summary(frames.delta_ns),
            "busy_ns": _summary(frames.busy_ns),
        },
    }
    columns = {
        "frame": frames.index,
        "at_ns": frames.at_ns,
        "interval_ns": frames.interval_ns,
        "delta_ns": frames.delta_ns,
        "busy_ns": frames.busy_ns,
        **dict(zip(PHASE_COLUMNS, frames.phases, strict=True)),
    }
    text = json.dumps(head, ensure_ascii=False, indent=2)
    # Names of files may hold bytes that are no text; JSON can escape them.
    stream.write(text.removesuffix("\n}").encode(errors="backslashreplace"))
    separator = ',\n  "columns": {'
    for name, column in columns.items():
        values = json.dumps(column.tolist(), separators=(",", ":"))
        stream.write(f"{separator}\n    {json.dumps(name)}: {values}".encode())
        separator = ","
    stream.write(b"\n  }\n}\n")


def _summary(column_ns: NsColumn) -> dict[str, int] | None:
    """Return median, 99th percentile (nearest rank) and largest value; none of no frame."""
    if not len(column_ns):
        return None
    return {
        "median": percentile_frame_time_ns(column_ns, 50),
        "p99": percentile_frame_time_ns(column_ns, 99),
        "max": int(column_ns.max()),
    }
