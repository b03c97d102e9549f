"""Writes frame times to a file; the suffix selects the exporter.

Commands, their help and the export dialog offer the exporters of :data:`EXPORTERS`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from inspector.extensions import Registry
from inspector.formats.file_formats import (
    FileFormat,
    check_file,
    format_for,
    picture_formats,
    write_file,
)
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import ExportOptions

if TYPE_CHECKING:
    from pathlib import Path

Exporter: TypeAlias = FileFormat[FrameTimes, ExportOptions]

EXPORTERS: Final[Registry[Exporter]] = Registry(
    "exporters",
    FileFormat,
    (
        *picture_formats("inspector.formats.frame_graph.frame_graph:frame_graph", "the graph"),
        FileFormat(
            "HTML",
            ".html",
            "report with the statistics of every tool",
            "inspector.formats.report:write_report",
        ),
        FileFormat(
            "CSV",
            ".csv",
            "table, one row per frame",
            "inspector.formats.captures.frame_times_csv:write_csv",
        ),
        FileFormat(
            "JSON",
            ".json",
            "columns with provenance",
            "inspector.formats.captures.frame_times_json:write_json",
        ),
    ),
    names=lambda each: (each.format, each.suffix),
)


def check_export(path: Path) -> None:
    """Refuse an export that cannot succeed, before a long run starts for it.

    Raises:
        ExportError: The suffix is unknown or the folder cannot be written.
    """
    check_file(path, EXPORTERS)


def export_frames(
    frames: FrameTimes, provenance: Provenance, options: ExportOptions, path: Path
) -> None:
    """Write ``frames`` to ``path`` in the format of its suffix, completely or not at all.

    Raises:
        ExportError: The suffix is unknown or the file cannot be written.
        ExtensionError: The exporter is a package's, and failed.
    """
    with EXPORTERS.guarding(format_for(path, EXPORTERS)):
        write_file(frames, provenance, options, path, EXPORTERS)
