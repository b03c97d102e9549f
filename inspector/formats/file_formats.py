"""The base of all exporters: formats by suffix, and pictures drawn with Qt."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO, Final, Generic, Protocol, TypeAlias, TypeVar, cast

from inspector.errors import ExportError
from inspector.extensions import object_at
from inspector.foreign.paths import is_there
from inspector.formats.atomic_file import check_target, replacing
from inspector.formats.drawing.display_list import DisplayList
from inspector.formats.drawing.svg import svg_text
from inspector.formats.frame_times import Provenance
from inspector.stop_signals import signals_held_back
from inspector.window_loader import load_ui

_POINTS_PER_INCH: Final = 72


class HasResolution(Protocol):
    """Options of a picture, of which every format needs the resolution."""

    @property
    def dots_per_inch(self) -> float:
        """Resolution of a PNG."""

    @property
    def is_in_pixels(self) -> bool:
        """Whether the size of an SVG is in pixels of that resolution, not in points."""


#: Functions that write the further pages of a picture, each to a file of its own.
Pages: TypeAlias = tuple[Callable[[BinaryIO], None], ...]
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
        write: A function that writes to a binary stream, or its ``module:name``, imported when
            it is called: the help of commands lists the formats without importing exporters. It
            may return functions that write further pages, each to a file of its own.
        is_picture: Whether the file shows the graph; otherwise it holds the data.
        needs: The optional package that writing needs, if any.
    """

    format: str
    suffix: str
    description: str
    write: Callable[[DataT, Provenance, OptionsT, BinaryIO], Pages | None] | str
    is_picture: bool = False
    needs: str = ""

    def __post_init__(self) -> None:
        """Refuse a suffix that no file has."""
        if not self.suffix.startswith(".") or self.suffix != self.suffix.strip().lower():
            raise ValueError(f"a suffix is a dot and lower-case letters: {self.suffix!r}")

    @property
    def key(self) -> str:
        """Its name as a single word: ``png``, and ``trace`` for ``.trace.json``."""
        return self.suffix.split(".")[1]

    @property
    def missing(self) -> str:
        """Why the format cannot be written here; empty if it can."""
        if not self.needs or find_spec(self.needs) is not None:
            return ""
        what = f"{self.format} needs {self.needs}, which is not installed"
        return f"{what}. Install it: pip install {self.needs}"

    def check(self, path: Path) -> None:
        """Refuse a path that cannot be written, before any work is done."""
        if self.missing:
            raise ExportError(f"Cannot write {path}: {self.missing}")
        check_target(path)

    def write_to(
        self, stream: BinaryIO, data: DataT, provenance: Provenance, options: OptionsT
    ) -> Pages:
        """Write to a binary stream; return the functions that write further pages."""
        write = object_at(self.write) if isinstance(self.write, str) else self.write
        pages = write(data, provenance, options, stream)
        return pages if isinstance(pages, tuple) else ()

    def write_files(
        self,
        path: Path,
        data: DataT,
        provenance: Provenance,
        options: OptionsT,
        *,
        replaces: bool = False,
    ) -> tuple[Path, ...]:
        """Write to a file, and further pages beside it, each completely or not at all.

        The second page is ``NAME-2``. Further pages replace files only if the file itself does.
        """
        replaces = replaces or is_there(path)
        with replacing(path) as stream:
            pages = self.write_to(stream, data, provenance, options)
        paths = [path]
        for number, write in enumerate(pages, 2):
            further = path.with_name(f"{path.stem}-{number}{path.suffix}")
            if is_there(further) and not replaces:
                raise ExportError(f"{further} exists, and {path} has a page more. Rename a file.")
            with replacing(further) as stream:
                write(stream)
            paths.append(further)
        return tuple(paths)


class PictureWriter(Protocol):
    """The module of the window that draws pictures without a window."""

    def write_png(
        self, picture: DisplayList, stream: BinaryIO, *, dots_per_inch: float = 144
    ) -> None:
        """Write ``picture`` as PNG."""

    def write_pdf(
        self, picture: DisplayList, stream: BinaryIO, more: Sequence[DisplayList] = ()
    ) -> None:
        """Write ``picture`` as PDF, and more pages."""


def picture_formats(
    draw: Callable[[DataT, Provenance, OptionsT], DisplayList | tuple[DisplayList, ...]] | str,
    what: str,
) -> tuple[FileFormat[DataT, OptionsT], ...]:
    """Return the picture formats: PNG, SVG and PDF.

    Args:
        draw: A function that returns the picture or its pages, or its ``module:name``.
        what: The contents of the picture in a word or two: "the graph".
    """

    def drawn(
        data: DataT, provenance: Provenance, options: OptionsT
    ) -> tuple[DisplayList, tuple[DisplayList, ...]]:
        drawing = object_at(draw) if isinstance(draw, str) else draw
        pages = drawing(data, provenance, options)
        return (pages, ()) if isinstance(pages, DisplayList) else (pages[0], pages[1:])

    def write_png(
        data: DataT, provenance: Provenance, options: OptionsT, stream: BinaryIO
    ) -> Pages:
        def write(page: DisplayList, stream: BinaryIO) -> None:
            writer = _picture_writer()
            with signals_held_back():
                writer.write_png(page, stream, dots_per_inch=options.dots_per_inch)

        first, more = drawn(data, provenance, options)
        write(first, stream)
        return tuple(partial(write, page) for page in more)

    def write_svg(
        data: DataT, provenance: Provenance, options: OptionsT, stream: BinaryIO
    ) -> Pages:
        per_point = options.dots_per_inch / _POINTS_PER_INCH if options.is_in_pixels else None

        def write(page: DisplayList, stream: BinaryIO) -> None:
            stream.write(svg_text(page, per_point).encode())

        first, more = drawn(data, provenance, options)
        write(first, stream)
        return tuple(partial(write, page) for page in more)

    def write_pdf(data: DataT, provenance: Provenance, options: OptionsT, stream: BinaryIO) -> None:
        first, more = drawn(data, provenance, options)
        write_document(first, stream, more)

    return (
        FileFormat("PNG", ".png", f"picture of {what}", write_png, is_picture=True),
        FileFormat("SVG", ".svg", f"drawing of {what} for web pages", write_svg, is_picture=True),
        FileFormat("PDF", ".pdf", f"drawing of {what} for papers", write_pdf, is_picture=True),
    )


def format_for(
    path: Path, formats: Sequence[FileFormat[DataT, OptionsT]]
) -> FileFormat[DataT, OptionsT]:
    """Return the format of the longest suffix that the name of ``path`` has, in any case."""
    name = path.name.lower()
    fitting = [each for each in formats if path.suffix and name.endswith(each.suffix)]
    if fitting:
        return max(fitting, key=lambda each: len(each.suffix))
    known = ", ".join(each.suffix for each in formats[:-1])
    what = f"“{path.suffix}” is not a format" if path.suffix else "the name has no suffix"
    raise ExportError(f"Cannot write {path}: {what}. Use {known} or {formats[-1].suffix}.")


def check_file(path: Path, formats: Sequence[FileFormat[DataT, OptionsT]]) -> None:
    """Refuse an export that cannot succeed, before a run starts for it."""
    format_for(path, formats).check(path)


def write_file(
    data: DataT,
    provenance: Provenance,
    options: OptionsT,
    path: Path,
    formats: Sequence[FileFormat[DataT, OptionsT]],
) -> None:
    """Write ``data`` to ``path`` in the format of its suffix, completely or not at all."""
    format_for(path, formats).write_files(path, data, provenance, options)


def write_document(first: DisplayList, stream: BinaryIO, more: Sequence[DisplayList]) -> None:
    """Write pages as one PDF."""
    writer = _picture_writer()
    with signals_held_back():
        writer.write_pdf(first, stream, more)


def _picture_writer() -> PictureWriter:
    return cast("PictureWriter", load_ui("export.picture_files"))
