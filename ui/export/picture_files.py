"""Writes display lists as PNG, or as PDF: vectors, with their fonts.

Needs QtGui only and no display: without a running application a short-lived one
on the offscreen platform is used.
"""

import re
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import BinaryIO, Final

from PySide6.QtCore import (
    QBuffer,
    QByteArray,
    QCoreApplication,
    QIODevice,
    QMarginsF,
    QRectF,
    QSizeF,
    QUuid,
)
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QImage,
    QPageLayout,
    QPageSize,
    QPainter,
    QPdfWriter,
)

from inspector.errors import ExportError
from inspector.formats.drawing.display_list import DisplayList

from ..kit.picture import paint

_POINTS_PER_INCH: Final = 72
_METERS_PER_INCH: Final = 0.0254
_PDF_DOTS_PER_INCH: Final = 1200
_PDF_DATE: Final = re.compile(rb"(?<=\(D:)\d{14}(?:[+-]\d\d'\d\d')?")
_XMP_DATE: Final = re.compile(rb"(?<=Date=\")\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[+-]\d\d:\d\d)?")
_DATES: Final = re.compile(
    rb"/(?:Creation|Mod)Date \(D:[^)]{,40}\)|xmp:\w{1,20}Date=\"[^\"]{,40}\""
)
#: More pixels than this are refused: Qt would fail or the machine would swap.
_LARGEST_PIXEL_COUNT: Final = 200_000_000


def write_png(picture: DisplayList, stream: BinaryIO, *, dots_per_inch: float = 144) -> None:
    scale = dots_per_inch / _POINTS_PER_INCH
    width, height = round(picture.width * scale), round(picture.height * scale)
    if width * height > _LARGEST_PIXEL_COUNT:
        raise ExportError(
            f"A PNG of {width:,} × {height:,} pixels is too large. "
            "Choose a smaller size or resolution, or write a PDF or SVG."
        )
    with _gui_application():
        image = QImage(width, height, QImage.Format.Format_RGB32)
        image.setDotsPerMeterX(round(dots_per_inch / _METERS_PER_INCH))
        image.setDotsPerMeterY(round(dots_per_inch / _METERS_PER_INCH))
        image.fill(QColor(picture.background))
        image.setText("Title", picture.title)
        image.setText("Description", picture.description)
        if picture.created is not None:
            image.setText("Creation Time", picture.created.isoformat(timespec="seconds"))
        image.setText("Software", picture.software)
        painter = QPainter(image)
        painter.scale(width / picture.width, height / picture.height)
        paint(picture, painter)
        painter.end()
        stream.write(_saved(image))


def write_pdf(picture: DisplayList, stream: BinaryIO, more: Sequence[DisplayList] = ()) -> None:
    """Write pictures as a PDF, a page of its size for each; the same bytes for the same ones."""
    with _gui_application():
        data = QByteArray()
        buffer = QBuffer(data)
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        writer = QPdfWriter(buffer)
        writer.setResolution(_PDF_DOTS_PER_INCH)
        writer.setPageLayout(_page(picture))
        writer.setTitle(picture.title)
        writer.setCreator(picture.software)
        writer.setDocumentId(
            QUuid(str(uuid.uuid5(uuid.NAMESPACE_OID, repr((picture, *more) if more else picture))))
        )
        painter = QPainter(writer)
        for number, page in enumerate((picture, *more)):
            if number:
                writer.setPageLayout(_page(page))
                writer.newPage()
            scale = _PDF_DOTS_PER_INCH / _POINTS_PER_INCH
            painter.save()
            painter.scale(scale, scale)
            painter.fillRect(QRectF(0, 0, page.width, page.height), QColor(page.background))
            paint(page, painter)
            painter.restore()
        painter.end()
        del painter, writer
        buffer.close()
        stream.write(_dated(bytes(data.data()), picture.created))


def _page(picture: DisplayList) -> QPageLayout:
    size = QSizeF(picture.width, picture.height)
    page_size = QPageSize(
        size, QPageSize.Unit.Point, picture.title, QPageSize.SizeMatchPolicy.ExactMatch
    )
    return QPageLayout(page_size, QPageLayout.Orientation.Portrait, QMarginsF(0, 0, 0, 0))


def _saved(image: QImage) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not image.save(buffer, "PNG"):  # type: ignore[call-overload]
        raise ExportError("Qt could not encode the image as PNG. Write an SVG instead.")
    return bytes(data.data())


def _dated(document: bytes, created: datetime | None) -> bytes:
    """Return the PDF with ``created`` or nothing in place of the present time, as long as it was.

    Qt stamps the time of writing, which would make every file different. Lengths
    are kept, so the table of offsets stays valid.
    """
    if created is None:
        return _DATES.sub(lambda match: b" " * len(match[0]), document)
    instant = created.astimezone(UTC)
    compact = instant.strftime("%Y%m%d%H%M%S").encode("ascii")
    extended = instant.strftime("%Y-%m-%dT%H:%M:%S").encode("ascii")
    document = _PDF_DATE.sub(lambda match: _fitted(match[0], compact), document)
    return _XMP_DATE.sub(lambda match: _fitted(match[0], extended), document)


def _fitted(former: bytes, stamp: bytes) -> bytes:
    """Return ``stamp`` followed by the zone of ``former`` set to UTC."""
    zone = former[len(stamp) :]
    return stamp + re.sub(rb"\d", b"0", zone).replace(b"-", b"+")


@contextmanager
def _gui_application() -> Iterator[None]:
    application = QCoreApplication.instance()
    if isinstance(application, QGuiApplication):
        yield
        return
    if application is not None:
        raise ExportError(
            "A Qt application without a graphical part is running in this process, "
            "so no PNG or PDF can be drawn. Write an SVG instead."
        )
    temporary = QGuiApplication(["timeline-inspector", "-platform", "offscreen"])
    try:
        yield
    finally:
        temporary.shutdown()
