"""Writes frame times, or the events of a session, to a file; the suffix selects the exporter.

Commands, their help and the export dialog offer all of :func:`exporters`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from inspector.errors import ExportError
from inspector.extensions import Registry
from inspector.formats.file_formats import FileFormat, format_for, picture_formats
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import ExportOptions

if TYPE_CHECKING:
    from inspector.formats.arrangement.picture import Timed
    from inspector.formats.traces.session_trace import Events

Exporter: TypeAlias = FileFormat[FrameTimes, ExportOptions]
#: An exporter of frame times, or of events.
AnyExporter: TypeAlias = FileFormat[Any, ExportOptions]

EXPORTERS: Final[Registry[Exporter]] = Registry(
    "exporters",
    FileFormat,
    (
        *picture_formats("inspector.formats.arrangement.pages:frame_pages", "the graph"),
        FileFormat(
            "HTML",
            ".html",
            "report with statistics by tool",
            "inspector.formats.report.report:write_html",
            is_picture=True,
        ),
        FileFormat(
            "PDF report",
            ".report.pdf",
            "the same on pages of A4",
            "inspector.formats.report.report:write_pdf",
            is_picture=True,
        ),
        FileFormat(
            "CSV",
            ".csv",
            "table, one row per frame",
            "inspector.formats.tables.frame_times_csv:write_csv",
        ),
        FileFormat(
            "JSON",
            ".json",
            "columns with provenance",
            "inspector.formats.tables.frame_times_json:write_json",
        ),
        FileFormat(
            "PresentMon",
            ".presentmon.csv",
            "CSV with its columns",
            "inspector.formats.tables.tool_csv:write_presentmon",
        ),
        FileFormat(
            "MangoHud",
            ".mangohud.csv",
            "CSV with its columns",
            "inspector.formats.tables.tool_csv:write_mangohud",
        ),
        FileFormat(
            "Parquet",
            ".parquet",
            "columns for pandas, Polars",
            "inspector.formats.tables.arrow_table:write_parquet",
            needs="pyarrow",
        ),
        FileFormat(
            "Arrow",
            ".arrow",
            "columns to map into memory",
            "inspector.formats.tables.arrow_table:write_arrow",
            needs="pyarrow",
        ),
    ),
    names=lambda each: (each.format, each.suffix),
)
_PICTURES: Final[tuple[FileFormat[Timed, ExportOptions], ...]] = picture_formats(
    "inspector.formats.arrangement.pages:timeline_picture", "the timeline"
)
PAGE: Final[FileFormat[Timed, ExportOptions]] = FileFormat(
    "Page",
    ".page.html",
    "session to explore in a browser",
    "inspector.formats.page.page:write_page",
)
#: Exporters of frames with the lanes below them; files without events have frames only.
TIMELINE_EXPORTERS: Final[tuple[FileFormat[Timed, ExportOptions], ...]] = (
    *(
        replace(each, format=f"Timeline {each.format}", suffix=f".timeline{each.suffix}")
        for each in _PICTURES
    ),
    PAGE,
)
#: Exporters of the events of a session.
TRACE_EXPORTERS: Final[tuple[FileFormat[Events, ExportOptions], ...]] = (
    FileFormat(
        "Chrome trace",
        ".trace.json",
        "events for trace viewers",
        "inspector.formats.traces.trace_json:write_trace_json",
    ),
    FileFormat(
        "Perfetto",
        ".pftrace",
        "events, with nested clocks",
        "inspector.formats.traces.perfetto:write_perfetto",
    ),
)


def exporters() -> tuple[AnyExporter, ...]:
    return (*EXPORTERS, *TIMELINE_EXPORTERS, *TRACE_EXPORTERS)


def exporter_for(path: Path, wanted: Iterable[AnyExporter] = ()) -> AnyExporter:
    """Return the exporter for the suffix of ``path``, one of ``wanted`` if possible."""
    ending = path.suffix.lower()
    fitting = (each for each in wanted if ending and each.suffix.endswith(ending))
    return next(fitting, None) or format_for(path, exporters())


def check_export(path: Path) -> None:
    """Refuse an export by its suffix or folder, before a long run starts for it."""
    exporter_for(path).check(path)


def export_frames(  # noqa: PLR0913 - what, how, and where
    frames: FrameTimes,
    provenance: Provenance,
    options: ExportOptions,
    path: Path,
    *,
    events: Events | None = None,
    exporter: AnyExporter | None = None,
    replaces_pages: bool = False,
) -> tuple[Path, ...]:
    """Write frames, or the events of their session, completely or not at all; return the files.

    The exporter is by default that of the suffix. Further pages of a picture replace existing files
    only if the file itself may.
    """
    chosen = exporter or exporter_for(path)
    chosen.check(path)
    data: FrameTimes | Events | Timed = frames
    if chosen in TIMELINE_EXPORTERS:
        data = frames, events
    if chosen in TRACE_EXPORTERS:
        if events is None:
            raise ExportError(f"Cannot write {path}: these are frame times without events.")
        if frames.samples:
            message = f"Cannot write {path}: these are samples and not every frame of a trace."
            raise ExportError(message)
        data = events
    with EXPORTERS.guarding(chosen):
        return chosen.write_files(path, data, provenance, options, replaces=replaces_pages)
