import hashlib
import io
import os
import re
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QByteArray, QPointF, QRectF
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QFontInfo,
    QFontMetricsF,
    QGuiApplication,
    QImage,
    QPainter,
    QPainterPath,
)
from PySide6.QtSvg import QSvgRenderer

from inspector.errors import ExportError
from inspector.formats.arrangement.picture import frame_graph
from inspector.formats.drawing.display_list import (
    Anchor,
    Box,
    DisplayList,
    Group,
    Item,
    Point,
    Polygon,
    Polyline,
    Rect,
    Stroke,
    Text,
)
from inspector.formats.drawing.font_metrics import FONT_FAMILY, font, text_width
from inspector.formats.drawing.svg import svg_text
from inspector.formats.export import export_frames
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import ExportOptions
from inspector.tokens import ThemeName
from inspector.vocabulary import Phase
from tests.forked.python import WINDOW, python_with
from ui.export.picture_files import write_pdf, write_png
from ui.kit.fonts import load_fonts
from ui.kit.picture import (
    _design_font,
    paint_items,
    paint_screen_text,
)

CREATED = datetime(2026, 11, 21, 2, 10, 5, tzinfo=UTC)
pytestmark = pytest.mark.usefixtures("qapp")


def picture_of(*items: Item, width: float = 100, height: float = 50) -> DisplayList:
    return DisplayList(
        width, height, "#ffffff", items, "A title", "A description.", CREATED, "Software 1"
    )


def frames_of(count: int) -> FrameTimes:
    numbers = np.arange(count)
    interval_ns = 16_666_667 + numbers * 7_919 % 900_000 + (numbers % 97 == 5) * 90_000_000
    busy_ns = interval_ns // 2
    phases = np.zeros((len(Phase), count), dtype=np.int64)
    phases[Phase.UPDATE] = busy_ns // 2
    phases[Phase.DRAW] = busy_ns // 3
    at_ns = np.cumsum(interval_ns)
    return FrameTimes.of_columns(numbers, at_ns, interval_ns, interval_ns, busy_ns, phases)


def graph(theme: ThemeName = "light", *, stacked: bool = False, count: int = 400) -> DisplayList:
    provenance = Provenance("arcade.py", CREATED, "0.1.0", "virtual time", note="for a test")
    return frame_graph(frames_of(count), provenance, ExportOptions(theme=theme, stacked=stacked))


def png_of(picture: DisplayList, dots_per_inch: float = 144) -> bytes:
    stream = io.BytesIO()
    write_png(picture, stream, dots_per_inch=dots_per_inch)
    return stream.getvalue()


def pdf_of(picture: DisplayList) -> bytes:
    stream = io.BytesIO()
    write_pdf(picture, stream)
    return stream.getvalue()


def image_of(picture: DisplayList, dots_per_inch: float = 144) -> QImage:
    image = QImage()
    assert image.loadFromData(png_of(picture, dots_per_inch), "PNG")
    return image


def pixels(image: QImage) -> NDArray[np.uint8]:
    """Red, green and blue of each pixel, shape (height, width, 3)."""
    converted = image.convertToFormat(QImage.Format.Format_RGBA8888)
    flat = np.frombuffer(converted.constBits(), dtype=np.uint8)
    rows = flat.reshape(converted.height(), converted.bytesPerLine() // 4, 4)
    return rows[:, : converted.width(), :3].copy()


def test_that_a_png_has_its_size_resolution_and_description() -> None:
    image = image_of(picture_of(), 300)
    assert (image.width(), image.height()) == (417, 208)
    assert image.dotsPerMeterX() == round(300 / 0.0254)
    assert image.text("Title") == "A title"
    assert image.text("Software") == "Software 1"
    assert image.text("Creation Time") == "2026-11-21T02:10:05+00:00"


def test_that_shapes_are_where_they_should_be() -> None:
    shown = pixels(
        image_of(
            picture_of(
                Rect(Box(10, 10, 20, 10), "#0072b2"),
                Polygon((Point(40, 10), Point(60, 10), Point(60, 20), Point(40, 20)), "#d55e00"),
                Polyline((Point(70, 15), Point(90, 15)), Stroke("#009e73", 4)),
            )
        )
    )
    assert shown[30, 40].tolist() == [0x00, 0x72, 0xB2]
    assert shown[30, 100].tolist() == [0xD5, 0x5E, 0x00]
    assert shown[30, 160].tolist() == [0x00, 0x9E, 0x73]
    assert shown[10, 40].tolist() == [255, 255, 255]


def test_that_lines_grow_with_the_resolution() -> None:
    line = picture_of(Polyline((Point(0, 25), Point(100, 25)), Stroke("#000000", 4)))
    for dots_per_inch in (72, 144, 288):
        column = pixels(image_of(line, dots_per_inch))[:, 50 * dots_per_inch // 72, 0]
        assert int((column < 128).sum()) == 4 * dots_per_inch // 72


def test_that_a_clip_holds_for_its_group_only() -> None:
    wide = Rect(Box(0, 0, 100, 20), "#000000")
    shown = pixels(
        image_of(
            picture_of(
                Group("clipped", (wide,), clip=Box(0, 0, 50, 50)),
                Rect(Box(60, 30, 40, 20), "#000000"),
            )
        )
    )
    assert shown[20, 80].tolist() == [0, 0, 0]
    assert shown[20, 150].tolist() == [255, 255, 255]
    assert shown[80, 150].tolist() == [0, 0, 0]


@pytest.mark.parametrize("anchor", list(Anchor))
def test_that_text_starts_ends_or_is_centred_at_its_place(anchor: Anchor) -> None:
    text = Text(Point(100, 25), "HHHHHHHH", 12, "#000000", anchor)
    dark = pixels(image_of(picture_of(text, width=200)))[:, :, 0] < 128
    columns = np.flatnonzero(dark.any(axis=0)) / 2
    width = text_width("HHHHHHHH", 12)
    start = {Anchor.START: 100.0, Anchor.MIDDLE: 100 - width / 2, Anchor.END: 100 - width}[anchor]
    # An H has a bearing of a tenth of its size on either side.
    assert columns[0] == pytest.approx(start + 1.2, abs=0.9)
    assert columns[-1] == pytest.approx(start + width - 1.2, abs=0.9)


@pytest.mark.parametrize("is_bold", [False, True])
def test_that_qt_measures_text_as_the_layout_does(*, is_bold: bool) -> None:
    load_fonts()
    size = font(is_bold=is_bold).units_per_em
    for words in ("16.7 ms · 60 fps", "AVAToffi µs …", "3\u202f600 frames"):
        text = Text(Point(0, 0), words, size, "#000000", is_bold=is_bold)
        measured = QFontMetricsF(_design_font(text)).horizontalAdvance(words)
        assert measured == pytest.approx(text_width(words, size, is_bold=is_bold), abs=0.5)


@pytest.mark.parametrize("is_bold", [False, True])
def test_that_the_font_in_an_svg_draws_the_same_letters(*, is_bold: bool) -> None:
    load_fonts()
    words = "Frame 16.7 µs Åé…"
    subset = font(is_bold=is_bold).subset(map(ord, words), f"Subset {is_bold}")
    assert QFontDatabase.addApplicationFontFromData(QByteArray(subset)) >= 0
    bundled = _design_font(Text(Point(0, 0), words, 8, "#000000", is_bold=is_bold))
    embedded = QFont(bundled)
    embedded.setFamily(f"Subset {is_bold}")
    embedded.setBold(False)  # the subset of the bold font is bold by itself
    shown = []
    for face in (bundled, embedded):
        path = QPainterPath()
        path.addText(QPointF(0, 0), face, words)
        elements = [path.elementAt(number) for number in range(path.elementCount())]
        shown.append(np.array([(element.x, element.y) for element in elements]))
    assert QFontInfo(embedded).family() == f"Subset {is_bold}"
    # In units of the design.
    assert np.abs(shown[0] - shown[1]).max() <= 2


def test_that_the_same_picture_is_the_same_png_and_pdf() -> None:
    assert png_of(graph()) == png_of(graph())
    assert pdf_of(graph()) == pdf_of(graph())
    assert pdf_of(graph()) != pdf_of(graph("dark"))


def test_that_a_pdf_has_its_page_its_date_and_its_fonts() -> None:
    document = pdf_of(graph())
    box = re.search(rb"/MediaBox \[([^\]]*)\]", document)
    assert box is not None
    assert [float(number) for number in box[1].split()] == [0, 0, 720, 405]
    assert document.count(b"/FontFile2") == 2
    assert b"/Subtype /Image" not in document
    assert set(re.findall(rb"\(D:(\d{14})", document)) == {b"20261121021005"}
    assert set(re.findall(rb"\d{4}-\d\d-\d\dT[\d:]{8}", document)) == {b"2026-11-21T02:10:05"}
    # The table of offsets is still where the end of the file says it is.
    end = re.search(rb"startxref\s+(\d+)\s+%%EOF\s*$", document)
    assert end is not None
    assert document[int(end[1]) :].startswith(b"xref")


@pytest.mark.parametrize(("theme", "stacked"), [("light", False), ("dark", True)])
def test_that_the_svg_shows_the_same_picture(theme: ThemeName, *, stacked: bool) -> None:
    picture = graph(theme, stacked=stacked)
    load_fonts()
    # QtSvg knows neither embedded fonts nor lists of families.
    family = f'font-family="{FONT_FAMILY}"'
    text = re.sub(r'font-family="[^"]*"', family, svg_text(picture), count=1)
    renderer = QSvgRenderer(QByteArray(text.encode()))
    assert renderer.isValid()
    image = QImage(1440, 810, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    renderer.render(painter, QRectF(0, 0, 1440, 810))
    painter.end()
    drawn, written = pixels(image_of(picture)).astype(float), pixels(image).astype(float)
    # Averaged over squares, so that the edges of letters do not count: QtSvg sets them
    # with kerning, which cannot be disabled.
    difference = np.abs(drawn - written).reshape(27, 30, 48, 30, 3).mean(axis=(1, 3, 4))
    assert difference.mean() < 1
    assert difference.max() < 40


def test_that_a_png_beyond_reason_is_refused() -> None:
    with pytest.raises(ExportError, match="14,400 × 14,400 pixels is too large"):
        write_png(picture_of(width=864, height=864), io.BytesIO(), dots_per_inch=1200)


@pytest.mark.parametrize("suffix", [".png", ".pdf"])
def test_that_pictures_are_exported_by_suffix(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"run{suffix}"
    provenance = Provenance("arcade.py", CREATED, "0.1.0")
    export_frames(frames_of(50), provenance, ExportOptions(), path)
    assert path.read_bytes()[:4] in (b"\x89PNG", b"%PDF")
    assert list(tmp_path.iterdir()) == [path]


WITHOUT_APPLICATION = """
import hashlib, io, sys
from datetime import UTC, datetime
from inspector.formats.drawing.display_list import DisplayList, Point, Text
from ui.export.picture_files import write_pdf, write_png
from PySide6.QtGui import QGuiApplication

text = Text(Point(10, 20), "16.7 ms", 9, "#000000")
created = datetime(2026, 11, 21, tzinfo=UTC)
picture = DisplayList(100, 50, "#ffffff", (text,), "T", "D", created, "S")
for _round in range(3):
    for write in (write_png, write_pdf):
        stream = io.BytesIO()
        write(picture, stream)
        print(hashlib.sha256(stream.getvalue()).hexdigest())
assert QGuiApplication.instance() is None
application = QGuiApplication(["later", "-platform", "offscreen"])
stream = io.BytesIO()
write_png(picture, stream)
print(hashlib.sha256(stream.getvalue()).hexdigest())
"""


def test_that_pictures_need_no_display_and_no_application() -> None:
    assert QGuiApplication.instance() is not None
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    }
    result = subprocess.run(
        [*python_with(WINDOW), "-c", WITHOUT_APPLICATION],
        cwd=Path(__file__).parents[3],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    png, pdf, *others = result.stdout.split()
    assert others == [png, pdf, png, pdf, png]
    text = Text(Point(10, 20), "16.7 ms", 9, "#000000")
    created = datetime(2026, 11, 21, tzinfo=UTC)
    here = png_of(DisplayList(100, 50, "#ffffff", (text,), "T", "D", created, "S"))
    assert hashlib.sha256(here).hexdigest() == png


def test_that_a_picture_of_unknown_date_has_none() -> None:
    picture = DisplayList(100, 50, "#ffffff", (), "T", "D", None, "S")

    assert b"Date" not in pdf_of(picture)
    assert "Creation Time" not in image_of(picture).textKeys()
    assert "<desc>D S</desc>" in svg_text(picture)


WITHOUT_GRAPHICS = """
import io
from datetime import UTC, datetime
from PySide6.QtCore import QCoreApplication
from inspector.errors import ExportError
from inspector.formats.drawing.display_list import DisplayList
from inspector.tokens import ThemeName
from ui.export.picture_files import write_png

application = QCoreApplication([])
picture = DisplayList(100, 50, "#ffffff", (), "T", "D", datetime(2026, 11, 21, tzinfo=UTC), "S")
try:
    write_png(picture, io.BytesIO())
except ExportError as error:
    print(error)
"""


def test_that_an_application_without_graphics_is_refused_in_a_sentence() -> None:
    result = subprocess.run(
        [*python_with(WINDOW), "-c", WITHOUT_GRAPHICS],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "without a graphical part" in result.stdout, result.stderr


def test_that_texts_on_the_screen_are_where_they_are_in_files() -> None:
    def painted(paint_text: Callable[[Text, QPainter], None] | None) -> QImage:
        image = QImage(300, 60, QImage.Format.Format_RGB32)
        image.fill(QColor("#000000"))
        painter = QPainter(image)
        painter.scale(2, 2)
        items = [
            Text(Point(5, 12), "Anchors", 8, "#ffffff"),
            Text(Point(75, 12), "of a text", 8, "#ffffff", Anchor.MIDDLE),
            Text(Point(145, 25), "to the right", 7.5, "#ffffff", Anchor.END, is_bold=True),
        ]
        paint_items(items, painter, paint_text)
        painter.end()
        return image

    load_fonts()
    there, here = painted(None), painted(paint_screen_text)

    def edges(image: QImage) -> list[int]:
        lit = [x for x in range(300) if any(image.pixelColor(x, y).red() > 90 for y in range(60))]
        return [lit[0], lit[-1]]

    assert edges(here) == pytest.approx(edges(there), abs=3)
