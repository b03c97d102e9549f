"""The lines beside the pointer."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QImage, QPainter

from ui.kit.fonts import named_font
from ui.kit.theme import Theme
from ui.plotting.readout import paint_readout

LINES = (
    ("Frame 345", "0:07.747"),
    ("of 16.7 ms · 60 fps", "154 %, by the inspector"),
    ("interval", "25.6 ms"),
)


class NotingPainter(QPainter):
    def __init__(self, image: QImage) -> None:
        super().__init__(image)
        self.texts: list[str] = []

    def drawText(self, *where: Any) -> None:  # type: ignore[override]  # noqa: ANN401, N802
        self.texts.append(where[-1])


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("percent", [100, 125, 150, 175, 200])
def test_that_no_label_is_cut_where_there_is_room_for_it(percent: int) -> None:
    image = QImage(1_600, 300, QImage.Format.Format_RGB32)
    painter = NotingPainter(image)
    painter.setFont(named_font("small", percent / 100))

    paint_readout(painter, LINES, QPointF(100, 100), QRectF(0, 0, 1_600, 300), Theme("dark"))

    painter.end()
    assert painter.texts == [text for line in LINES for text in line]
