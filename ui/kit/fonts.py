"""The fonts of the window: the bundled ones or the system's, in the sizes of the tokens."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QFont, QFontDatabase, QPainter
from PySide6.QtWidgets import QWidget

from inspector.errors import ExportError
from inspector.formats.drawing.font_metrics import FONT_FAMILY, font_path
from inspector.tokens import TYPE

_FONTS_LOADED: Final = "timeline_inspector_fonts_loaded"


def text_scale(of: QWidget | QPainter) -> float:
    """Return how large text is, as a multiple of the usual size; at least 1."""
    return max(of.fontInfo().pixelSize() / TYPE["text"].px, 1.0)


def small_size(px: float) -> int:
    """Return how large the letters are that explain those of a size, both in pixels."""
    return round(px * TYPE["small"].px / TYPE["text"].px)


def large_size(px: float) -> int:
    """Return how large the letters of a name are beside those of a size, both in pixels."""
    return round(px * TYPE["heading"].px / TYPE["text"].px)


def load_fonts() -> None:
    """Make the bundled fonts known to the running application, once."""
    application = QCoreApplication.instance()
    if application is None or application.property(_FONTS_LOADED):
        return
    for is_bold in (False, True):
        if QFontDatabase.addApplicationFont(font_path(is_bold=is_bold)) < 0:
            message = f"Qt cannot read the font {font_path(is_bold=is_bold)}. Install again."
            raise ExportError(message)
    application.setProperty(_FONTS_LOADED, True)


def named_font(name: str, scale: float = 1.0, *, is_of_system: bool = False) -> QFont:
    """Return a font whose digits are equally wide.

    Characters that it lacks are taken from the system's fonts.

    Args:
        name: Its size and weight, one of :data:`inspector.tokens.TYPE`.
        scale: The text scale, 1 to 2.
        is_of_system: Whether it is the system's font for windows, not the bundled one.
    """
    if is_of_system:
        result = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
        result.setFeature(QFont.Tag("tnum"), 1)
    else:
        load_fonts()
        result = QFont(FONT_FAMILY)
    style = TYPE[name]
    result.setPixelSize(round(style.px * scale))
    result.setWeight(QFont.Weight(style.weight))
    return result


def small_font(of: QWidget | QPainter) -> QFont:
    """Return the font of what explains, beside the text of a widget or painter."""
    small = QFont(of.font())
    small.setPixelSize(round(TYPE["small"].px * text_scale(of)))
    return small
