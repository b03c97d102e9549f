"""The fonts of the window: the bundled ones or the system's, in the sizes of the tokens."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal, get_args

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QFont, QFontDatabase, QFontInfo, QGuiApplication, QPainter, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from inspector.errors import ExportError
from inspector.formats.drawing.font_metrics import FONT_FAMILY, SYMBOL_FAMILY, font_path
from inspector.resources import resource_path
from inspector.tokens import TYPE

FONT_FAMILIES: Final = [FONT_FAMILY, SYMBOL_FAMILY]

FontChoice = Literal["inter", "system"]
#: In percent; 0 stands for the system's size.
TextSize = Literal[0, 100, 125, 150, 175, 200]
TEXT_SIZES: Final[tuple[TextSize, ...]] = get_args(TextSize)
_LARGEST: Final = TEXT_SIZES[-1] / 100

_FONTS_LOADED: Final = "timeline_inspector_fonts_loaded"
#: Property in which a widget keeps the name of its type among the tokens.
_TYPE: Final = "timeline_inspector_type"


def text_scale(of: QWidget | QPainter) -> float:
    """Return how large text is, as a multiple of the usual size; at least 1."""
    return scale_of(of.font())


def small_size(px: float) -> int:
    """Return the size of explanations beside text of a size, both in pixels."""
    return round(px * TYPE["small"].px / TYPE["text"].px)


def large_size(px: float) -> int:
    """Return the size of headings beside text of a size, both in pixels."""
    return round(px * TYPE["heading"].px / TYPE["text"].px)


def load_fonts() -> None:
    """Make the bundled fonts known to the running application, once."""
    application = QCoreApplication.instance()
    if application is None or application.property(_FONTS_LOADED):
        return
    symbols = str(resource_path("fonts", "Symbols.ttf"))
    for path in (font_path(is_bold=False), font_path(is_bold=True), symbols):
        if QFontDatabase.addApplicationFont(path) < 0:
            message = f"Qt cannot read the font {path}. Install again."
            raise ExportError(message)
    application.setProperty(_FONTS_LOADED, True)


def named_font(name: str, scale: float = 1.0, *, is_of_system: bool = False) -> QFont:
    """Return a font of a size and weight of the tokens, whose digits are equally wide.

    Characters that it lacks are taken from the bundled signs and the system's fonts. The text scale
    is 1 to 2; it is the bundled font or the system's for windows.
    """
    if is_of_system:
        result = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
        result.setFeature(QFont.Tag("tnum"), 1)
    else:
        load_fonts()
        result = QFont(FONT_FAMILIES)
    style = TYPE[name]
    result.setPixelSize(round(style.px * scale))
    result.setWeight(QFont.Weight(style.weight))
    return result


def use_window_font(choice: FontChoice, percent: TextSize) -> None:
    """Use a font in the whole window, at 100 to 200 percent, or 0 for the system's size."""
    application = QGuiApplication.instance()
    assert isinstance(application, QGuiApplication), "fonts are of an application"
    system = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    px = QFontInfo(system).pixelSize() if not percent else TYPE["text"].px * percent / 100
    scale = min(max(px / TYPE["text"].px, 1.0), _LARGEST)
    application.setFont(named_font("text", scale, is_of_system=choice == "system"))
    # Deliver the change now: windows would adopt the font in the next turn only, and widgets made
    # until then would miss it.
    QCoreApplication.sendPostedEvents(None, QEvent.Type.ApplicationFontChange.value)
    for widget in QApplication.allWidgets():
        if name := widget.property(_TYPE):
            _give_type(widget, name)


def in_type(widget: QWidget, name: str, *, is_muted: bool = False) -> None:
    """Give a widget a type of the tokens, at any text size; muted if it only explains."""
    widget.setProperty(_TYPE, name)
    _give_type(widget, name)
    if is_muted:
        widget.setForegroundRole(QPalette.ColorRole.PlaceholderText)


def _give_type(widget: QWidget, name: str) -> None:
    font, style = widget.font(), TYPE[name]
    scale = max(QFontInfo(QGuiApplication.font()).pixelSize() / TYPE["text"].px, 1.0)
    font.setPixelSize(round(style.px * scale))
    font.setWeight(QFont.Weight(style.weight))
    widget.setFont(font)


def small_font(of: QWidget | QPainter) -> QFont:
    """Return the font of explanations; shared, so it must not be changed."""
    return small_font_of(of.font())


# Cached, as it is called dozens of times in each refresh.
@lru_cache(maxsize=32)
def scale_of(font: QFont) -> float:
    return max(QFontInfo(font).pixelSize() / TYPE["text"].px, 1.0)


@lru_cache(maxsize=32)
def small_font_of(font: QFont) -> QFont:
    small = QFont(font)
    small.setPixelSize(round(TYPE["small"].px * scale_of(font)))
    return small
