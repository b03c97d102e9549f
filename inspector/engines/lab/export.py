"""Writes the results of the refresh-rate lab: table, values or picture, by suffix."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeAlias

from inspector.engines.lab.graph import LabGraphOptions, lab_graph
from inspector.engines.lab.refresh_lab import LabResult
from inspector.engines.lab.table import write_lab_csv, write_lab_json
from inspector.formats.file_formats import FileFormat, check_file, picture_formats, write_file
from inspector.formats.frame_times import Provenance

_Results: TypeAlias = Sequence[LabResult]


LAB_EXPORTERS: Final[tuple[FileFormat[_Results, LabGraphOptions], ...]] = (
    *picture_formats(lab_graph, "the firings"),
    FileFormat("CSV", ".csv", "table, one row per run", write_lab_csv),
    FileFormat("JSON", ".json", "table with every firing", write_lab_json),
)


def check_lab_export(path: Path) -> None:
    """Refuse an export that cannot succeed, before a run starts for it."""
    check_file(path, LAB_EXPORTERS)


def export_lab(
    results: _Results, provenance: Provenance, options: LabGraphOptions, path: Path
) -> None:
    """Write ``results`` to ``path`` in the format of its suffix, completely or not at all."""
    write_file(results, provenance, options, path, LAB_EXPORTERS)
