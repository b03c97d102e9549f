"""The fonts of the window: sizes of the tokens, digits of one width."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QFont, QFontInfo, QFontMetricsF, QRawFont, qGray
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget
from pytestqt.qtbot import QtBot

from inspector.tokens import TYPE
from ui.kit.fonts import FONT_FAMILIES, load_fonts, named_font
from ui.kit.text_link import TextLink
from ui.kit.theme import ColorRole, Theme

pytestmark = pytest.mark.usefixtures("qapp")


@pytest.mark.parametrize("name", TYPE)
def test_that_a_named_font_is_the_bundled_one_in_the_size_of_its_token(name: str) -> None:
    font = named_font(name)

    assert QFontInfo(font).family() == "Inter Tabular"
    assert (font.pixelSize(), font.weight()) == (TYPE[name].px, TYPE[name].weight)


@pytest.mark.parametrize("name", TYPE)
def test_that_digits_are_equally_wide(name: str) -> None:
    metrics = QFontMetricsF(named_font(name))

    assert len({metrics.horizontalAdvance(digit) for digit in "0123456789"}) == 1


def test_that_semibold_is_wider_than_regular() -> None:
    regular, bold = (QFontMetricsF(named_font(name)) for name in ("text", "strong"))

    assert bold.horizontalAdvance("enemies") > regular.horizontalAdvance("enemies")


def test_that_text_grows_with_its_scale() -> None:
    assert named_font("small", 1.5).pixelSize() == 16
    assert named_font("text", 2.0).pixelSize() == 26


def test_that_the_font_of_the_system_keeps_the_sizes_of_the_tokens() -> None:
    font = named_font("heading", is_of_system=True)

    assert font.family() != "Inter Tabular"
    assert (font.pixelSize(), font.weight()) == (16, QFont.Weight.DemiBold)


@pytest.mark.parametrize("px", [11, 16, 22, 26, 33, 44])
def test_that_a_link_stands_on_the_line_of_the_text_beside_it(qtbot: QtBot, px: int) -> None:
    theme, row = Theme("light"), QWidget()
    qtbot.addWidget(row)
    palette = row.palette()
    palette.setColor(palette.ColorRole.Window, theme.color(ColorRole.BG))
    palette.setColor(palette.ColorRole.WindowText, theme.color(ColorRole.TEXT))
    row.setPalette(palette)
    label, link = QLabel("H"), TextLink(theme)
    link.set_text("H", "")
    font = named_font("text")
    font.setPixelSize(px)
    layout = QHBoxLayout(row)
    for widget in (label, link):
        widget.setFont(font)
        layout.addWidget(widget)

    image = row.grab().toImage()

    heights = [widget.sizeHint().height() for widget in (label, link)]
    assert heights[0] == heights[1] or px == 11
    columns = [
        [image.pixel(x, y) for y in range(image.height())]
        for widget in (label, link)
        for x in [widget.x() + round(px * 0.15)]
    ]
    tops = [next(y for y, pixel in enumerate(each) if qGray(pixel) < 128) for each in columns]
    assert tops[0] == tops[1]


def test_that_the_bundled_fonts_have_every_sign_that_is_written() -> None:
    load_fonts()
    fonts = [QRawFont.fromFont(QFont(family)) for family in FONT_FAMILIES]
    project = Path(__file__).parents[3]
    written = {
        char
        for folder in ("inspector", "ui")
        for path in (project / folder).rglob("*.py")
        for char in set(path.read_text(encoding="utf-8"))
        if char.isprintable()
    }

    lacking = [each for each in written if not any(f.supportsCharacter(ord(each)) for f in fonts)]

    assert lacking == []
