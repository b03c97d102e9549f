"""The bundled fonts: family, files, and widths of text, so that every writer agrees."""

import unicodedata
from functools import lru_cache
from typing import Final

from inspector.formats.drawing.truetype import TrueTypeFont
from inspector.resources import resource_path

FONT_FAMILY: Final = "Inter Tabular"
#: For signs that the text font lacks.
SYMBOL_FAMILY: Final = "Timeline Inspector Symbols"
ELLIPSIS: Final = "…"
#: Control characters, surrogates and unassigned code points.
_UNSEEN: Final = frozenset({"Cc", "Cs", "Cn"})


def font_path(*, is_bold: bool) -> str:
    name = "Inter-SemiBold.ttf" if is_bold else "Inter-Regular.ttf"
    return str(resource_path("fonts", name))


@lru_cache(maxsize=2)
def font(*, is_bold: bool) -> TrueTypeFont:
    """Return the bundled font, read once."""
    return TrueTypeFont.load(font_path(is_bold=is_bold))


def text_width(text: str, size: float, *, is_bold: bool = False) -> float:
    """Return the width of ``text`` in points, without kerning and ligatures."""
    return _advance(text, is_bold=is_bold) * size / font(is_bold=is_bold).units_per_em


@lru_cache(maxsize=4_096)
def _advance(text: str, *, is_bold: bool) -> int:
    """Return a width in font units: the same names and numbers are measured again and again."""
    face = font(is_bold=is_bold)
    return sum(face.advance(ord(char)) for char in text)


def has_every_character(text: str, *, is_bold: bool) -> bool:
    face = font(is_bold=is_bold)
    return all(face.has(ord(char)) for char in text)


def plain(text: str) -> str:
    """Return ``text`` on one line, without invisible characters."""
    visible = (char for char in " ".join(text.split()) if unicodedata.category(char) not in _UNSEEN)
    return "".join(visible)


def shortened(text: str, width: float, size: float, *, is_bold: bool = False) -> str:
    """Return ``text``, cut and ended with an ellipsis when wider than ``width`` points."""
    if text_width(text, size, is_bold=is_bold) <= width:
        return text
    room = width - text_width(ELLIPSIS, size, is_bold=is_bold)
    kept = 0
    for end in range(1, len(text)):
        if text_width(text[:end], size, is_bold=is_bold) > room:
            break
        kept = end
    return text[:kept].rstrip() + ELLIPSIS


def wrapped(
    text: str, width: float, size: float, *, lines: int, is_bold: bool = False
) -> list[str]:
    """Return ``text`` broken between words into at most ``lines`` lines.

    The last allowed line ends in an ellipsis if there is more, as does a single word wider
    than ``width`` points.
    """
    words = text.split()
    result: list[str] = []
    while words and len(result) < lines:
        count = len(words)
        if len(result) < lines - 1:
            while count > 1 and text_width(" ".join(words[:count]), size, is_bold=is_bold) > width:
                count -= 1
        result.append(shortened(" ".join(words[:count]), width, size, is_bold=is_bold))
        words = words[count:]
    return result
