"""Writes frame times to a file: one exporter per format, chosen by the file's suffix."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Protocol, cast

from inspector.errors import ExportError
from inspector.formats.atomic_file import check_target, replacing
from inspector.formats.csv_frames import write_csv
from inspector.formats.display_list import DisplayList
from inspector.formats.frame_graph import frame_graph
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.json_frames import write_json
from inspector.formats.options import ExportOptions
from inspector.formats.svg import svg_text

Write = Callable[[FrameTimes, Provenance, ExportOptions, BinaryIO], None]


@dataclass(frozen=True, slots=True)
class Exporter:
    """One format that frame times can be written in.

    Attributes:
        format: Name of the format.
        suffix: Ending of its files, with the dot.
        description: What the file is for, in a few words.
        write: Writes frame times to a binary stream.
        is_picture: Whether the file shows the graph; otherwise it holds the data.
    """

    format: str
    suffix: str
    description: str
    write: Write
    is_picture: bool


class PictureWriter(Protocol):
    """The part of the window that draws without a window."""

    def write_png(
        self, picture: DisplayList, stream: BinaryIO, *, dots_per_inch: float = 144
    ) -> None:
        """Write ``picture`` as PNG."""

    def write_pdf(self, picture: DisplayList, stream: BinaryIO) -> None:
        """Write ``picture`` as PDF."""


def _write_png(
    frames: FrameTimes, provenance: Provenance, options: ExportOptions, stream: BinaryIO
) -> None:
    picture = frame_graph(frames, provenance, options)
    _picture_writer().write_png(picture, stream, dots_per_inch=options.dots_per_inch)


def _write_pdf(
    frames: FrameTimes, provenance: Provenance, options: ExportOptions, stream: BinaryIO
) -> None:
    _picture_writer().write_pdf(frame_graph(frames, provenance, options), stream)


def _write_svg(
    frames: FrameTimes, provenance: Provenance, options: ExportOptions, stream: BinaryIO
) -> None:
    stream.write(svg_text(frame_graph(frames, provenance, options)).encode())


EXPORTERS: Final = (
    Exporter("PNG", ".png", "picture of the graph", _write_png, is_picture=True),
    Exporter("SVG", ".svg", "drawing of the graph for web pages", _write_svg, is_picture=True),
    Exporter("PDF", ".pdf", "drawing of the graph for papers", _write_pdf, is_picture=True),
    Exporter("CSV", ".csv", "table, one row per frame", write_csv, is_picture=False),
    Exporter("JSON", ".json", "columns with provenance", write_json, is_picture=False),
)


def exporter_for(path: Path) -> Exporter:
    """Return the exporter that the suffix of ``path`` names, in any case.

    Raises:
        ExportError: No exporter has that suffix; the message names those there are.
    """
    suffix = path.suffix.lower()
    for exporter in EXPORTERS:
        if exporter.suffix == suffix:
            return exporter
    known = ", ".join(exporter.suffix for exporter in EXPORTERS[:-1])
    what = f"“{path.suffix}” is not a format" if path.suffix else "the name has no suffix"
    message = f"Cannot write {path}: {what}. Use {known} or {EXPORTERS[-1].suffix}."
    raise ExportError(message)


def check_export(path: Path) -> None:
    """Refuse an export that cannot succeed, before a long run is begun for it.

    Raises:
        ExportError: The suffix is unknown or the folder cannot be written.
    """
    exporter_for(path)
    check_target(path)


def export_frames(
    frames: FrameTimes, provenance: Provenance, options: ExportOptions, path: Path
) -> None:
    """Write ``frames`` to ``path`` in the format of its suffix, whole or not at all.

    Raises:
        ExportError: The suffix is unknown or the file cannot be written.
    """
    exporter = exporter_for(path)
    with replacing(path) as stream:
        exporter.write(frames, provenance, options, stream)


def _picture_writer() -> PictureWriter:
    """Return the module that draws with Qt, through the one door to the window.

    The door stands above the formats, so it is found by name when it is needed,
    as it finds the window itself. Where Qt is missing it says so in a sentence.
    """
    launcher = importlib.import_module("inspector.launcher")
    return cast("PictureWriter", launcher.load_ui("picture"))
