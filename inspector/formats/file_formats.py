"""What all exporters share: formats by suffix, and pictures drawn with Qt."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO, Generic, Protocol, TypeVar, cast

from inspector.errors import ExportError
from inspector.extensions import object_at
from inspector.formats.atomic_file import check_target, replacing
from inspector.formats.display_list import DisplayList
from inspector.formats.frame_times import Provenance
from inspector.formats.svg import svg_text
from inspector.window_loader import load_ui


class HasResolution(Protocol):
    """Options of a picture, of which every format needs the resolution."""

    @property
    def dots_per_inch(self) -> float:
        """Resolution of a PNG."""


#: The data to write.
DataT = TypeVar("DataT")
#: The options for it.
OptionsT = TypeVar("OptionsT", bound=HasResolution)


# No slots: before Python 3.14, a frozen class with slots cannot be made as FileFormat[…](…).
@dataclass(frozen=True)
class FileFormat(Generic[DataT, OptionsT]):
    """A file format of an exporter.

    Attributes:
        format: Name of the format.
        suffix: Its suffix, with the dot.
        description: What the file is for, in a few words.
        write: What writes to a binary stream, or ``module:name`` of that, imported when it
            does: the help of commands names the formats and needs none of what writes them.
        is_picture: Whether the file shows the graph, or else holds the data.
        needs: The package that writing needs, if it is one that need not be there.
    """

    format: str
    suffix: str
    description: str
    write: Callable[[DataT, Provenance, OptionsT, BinaryIO], None] | str
    is_picture: bool = False
    needs: str = ""

    def __post_init__(self) -> None:
        """Refuse a suffix that no file has.

        Raises:
            ValueError: It does not begin with a dot, or is not in lower case.
        """
        if not self.suffix.startswith(".") or self.suffix != self.suffix.strip().lower():
            message = f"a suffix is a dot and lower-case letters: {self.suffix!r}"
            raise ValueError(message)

    @property
    def key(self) -> str:
        """Its name where one word is typed: ``png``, and ``trace`` for ``.trace.json``."""
        return self.suffix.split(".")[1]

    @property
    def missing(self) -> str:
        """Why it cannot be written here, empty if it can."""
        if not self.needs or find_spec(self.needs) is not None:
            return ""
        what = f"{self.format} needs {self.needs}, which is not installed"
        return f"{what}. Install it: pip install {self.needs}"

    def check(self, path: Path) -> None:
        """Refuse a path that cannot be written, before any work is done.

        Raises:
            ExportError: The folder cannot be written, or a package is missing.
        """
        if self.missing:
            message = f"Cannot write {path}: {self.missing}"
            raise ExportError(message)
        check_target(path)

    def write_to(
        self, stream: BinaryIO, data: DataT, provenance: Provenance, options: OptionsT
    ) -> None:
        """Write to a binary stream."""
        write = object_at(self.write) if isinstance(self.write, str) else self.write
        write(data, provenance, options, stream)


class PictureWriter(Protocol):
    """The module of the window that draws pictures without a window."""

    def write_png(
        self, picture: DisplayList, stream: BinaryIO, *, dots_per_inch: float = 144
    ) -> None:
        """Write ``picture`` as PNG."""

    def write_pdf(self, picture: DisplayList, stream: BinaryIO) -> None:
        """Write ``picture`` as PDF."""


def picture_formats(
    draw: Callable[[DataT, Provenance, OptionsT], DisplayList] | str, what: str
) -> tuple[FileFormat[DataT, OptionsT], ...]:
    """Return the picture formats: PNG, SVG and PDF.

    Args:
        draw: What makes the picture, or ``module:name`` of that.
        what: Its contents in a word or two: "the graph".
    """

    def drawn(data: DataT, provenance: Provenance, options: OptionsT) -> DisplayList:
        drawing = object_at(draw) if isinstance(draw, str) else draw
        picture: DisplayList = drawing(data, provenance, options)
        return picture

    def write_png(data: DataT, provenance: Provenance, options: OptionsT, stream: BinaryIO) -> None:
        picture = drawn(data, provenance, options)
        _picture_writer().write_png(picture, stream, dots_per_inch=options.dots_per_inch)

    def write_svg(data: DataT, provenance: Provenance, options: OptionsT, stream: BinaryIO) -> None:
        stream.write(svg_text(drawn(data, provenance, options)).encode())

    def write_pdf(data: DataT, provenance: Provenance, options: OptionsT, stream: BinaryIO) -> None:
        _picture_writer().write_pdf(drawn(data, provenance, options), stream)

    return (
        FileFormat("PNG", ".png", f"picture of {what}", write_png, is_picture=True),
        FileFormat("SVG", ".svg", f"drawing of {what} for web pages", write_svg, is_picture=True),
        FileFormat("PDF", ".pdf", f"drawing of {what} for papers", write_pdf, is_picture=True),
    )


def format_for(
    path: Path, formats: Sequence[FileFormat[DataT, OptionsT]]
) -> FileFormat[DataT, OptionsT]:
    """Return the format whose suffix the name of ``path`` has, in any case; of several the longest.

    Raises:
        ExportError: No format has that suffix; the message names the known ones.
    """
    name = path.name.lower()
    fitting = [each for each in formats if path.suffix and name.endswith(each.suffix)]
    if fitting:
        return max(fitting, key=lambda each: len(each.suffix))
    known = ", ".join(each.suffix for each in formats[:-1])
    what = f"“{path.suffix}” is not a format" if path.suffix else "the name has no suffix"
    message = f"Cannot write {path}: {what}. Use {known} or {formats[-1].suffix}."
    raise ExportError(message)


def check_file(path: Path, formats: Sequence[FileFormat[DataT, OptionsT]]) -> None:
    """Refuse an export that cannot succeed, before a run starts for it.

    Raises:
        ExportError: The suffix is unknown or the folder cannot be written.
    """
    format_for(path, formats).check(path)


def write_file(
    data: DataT,
    provenance: Provenance,
    options: OptionsT,
    path: Path,
    formats: Sequence[FileFormat[DataT, OptionsT]],
) -> None:
    """Write ``data`` to ``path`` in the format of its suffix, completely or not at all.

    Raises:
        ExportError: The suffix is unknown or the file cannot be written.
    """
    chosen = format_for(path, formats)
    with replacing(path) as stream:
        chosen.write_to(stream, data, provenance, options)


def _picture_writer() -> PictureWriter:
    """Return the module that draws with Qt.

    Raises:
        EnvironmentProblemError: Qt is missing, or does not work here.
    """
    return cast("PictureWriter", load_ui("kit.picture"))
