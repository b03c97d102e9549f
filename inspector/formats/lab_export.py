"""Writes the results of the refresh-rate lab: table, values or picture, by the suffix."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, cast

from inspector.analysis.refresh_lab import LabResult
from inspector.errors import ExportError
from inspector.formats.atomic_file import check_target, replacing
from inspector.formats.export import PictureWriter
from inspector.formats.frame_times import Provenance
from inspector.formats.lab_graph import LabGraphOptions, lab_graph
from inspector.formats.lab_table import write_lab_csv, write_lab_json
from inspector.formats.svg import svg_text

_Write = Callable[[Sequence[LabResult], Provenance, LabGraphOptions, BinaryIO], None]


@dataclass(frozen=True, slots=True)
class LabExporter:
    """One format that results can be written in.

    Attributes:
        format: Name of the format.
        suffix: Ending of its files, with the dot.
        description: What the file is for, in a few words.
        write: Writes results to a binary stream.
    """

    format: str
    suffix: str
    description: str
    write: _Write


def _write_png(
    results: Sequence[LabResult],
    provenance: Provenance,
    options: LabGraphOptions,
    stream: BinaryIO,
) -> None:
    picture = lab_graph(results, provenance, options).picture
    _picture_writer().write_png(picture, stream, dots_per_inch=options.dots_per_inch)


def _write_pdf(
    results: Sequence[LabResult],
    provenance: Provenance,
    options: LabGraphOptions,
    stream: BinaryIO,
) -> None:
    _picture_writer().write_pdf(lab_graph(results, provenance, options).picture, stream)


def _write_svg(
    results: Sequence[LabResult],
    provenance: Provenance,
    options: LabGraphOptions,
    stream: BinaryIO,
) -> None:
    stream.write(svg_text(lab_graph(results, provenance, options).picture).encode())


def _write_csv(
    results: Sequence[LabResult],
    _provenance: Provenance,
    _options: LabGraphOptions,
    stream: BinaryIO,
) -> None:
    write_lab_csv(results, stream)


def _write_json(
    results: Sequence[LabResult],
    provenance: Provenance,
    _options: LabGraphOptions,
    stream: BinaryIO,
) -> None:
    write_lab_json(results, provenance, stream)


LAB_EXPORTERS: Final = (
    LabExporter("PNG", ".png", "picture of the firings", _write_png),
    LabExporter("SVG", ".svg", "drawing of the firings for web pages", _write_svg),
    LabExporter("PDF", ".pdf", "drawing of the firings for papers", _write_pdf),
    LabExporter("CSV", ".csv", "table, one row per run", _write_csv),
    LabExporter("JSON", ".json", "table with every firing", _write_json),
)


def lab_exporter_for(path: Path) -> LabExporter:
    """Return the exporter that the suffix of ``path`` names, in any case.

    Raises:
        ExportError: No exporter has that suffix; the message names those there are.
    """
    suffix = path.suffix.lower()
    for exporter in LAB_EXPORTERS:
        if exporter.suffix == suffix:
            return exporter
    known = ", ".join(exporter.suffix for exporter in LAB_EXPORTERS[:-1])
    what = f"“{path.suffix}” is not a format" if path.suffix else "the name has no suffix"
    message = f"Cannot write {path}: {what}. Use {known} or {LAB_EXPORTERS[-1].suffix}."
    raise ExportError(message)


def check_lab_export(path: Path) -> None:
    """Refuse an export that cannot succeed, before anything is run for it.

    Raises:
        ExportError: The suffix is unknown or the folder cannot be written.
    """
    lab_exporter_for(path)
    check_target(path)


def export_lab(
    results: Sequence[LabResult], provenance: Provenance, options: LabGraphOptions, path: Path
) -> None:
    """Write ``results`` to ``path`` in the format of its suffix, whole or not at all.

    Raises:
        ExportError: The suffix is unknown, the file cannot be written, or there are too
            many results for a picture.
    """
    exporter = lab_exporter_for(path)
    with replacing(path) as stream:
        exporter.write(results, provenance, options, stream)


def _picture_writer() -> PictureWriter:
    """Return the module that draws with Qt, through the one door to the window.

    The door stands above the formats, so it is found by name when it is needed.
    """
    launcher = importlib.import_module("inspector.launcher")
    return cast("PictureWriter", launcher.load_ui("picture"))
