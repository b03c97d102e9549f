"""The display list as SVG text, without Qt.

Text stays text. The characters used are embedded as a font of a few kilobytes, so browsers show
the same picture without the installed font; programs that ignore embedded fonts use the widths in
``textLength``.
"""

import base64
import re
from collections.abc import Iterable
from typing import Final

from inspector.formats.drawing.display_list import (
    HALO_SHARE,
    Anchor,
    Box,
    Circle,
    Columns,
    DisplayList,
    Group,
    Hatched,
    Item,
    Point,
    Polygon,
    Polyline,
    Rect,
    Rects,
    Stroke,
    Text,
    boxes_by_color,
    boxes_of,
    lines_of,
)
from inspector.formats.drawing.font_metrics import font, has_every_character, text_width

_EMBEDDED_FAMILY: Final = "Timeline Inspector Sans"
_FALLBACK_FAMILIES: Final = "'Inter Tabular',Inter,'Segoe UI','Helvetica Neue',Arial,sans-serif"
_TEXT_STYLE: Final = "text{font-kerning:none;font-variant-ligatures:none;white-space:pre}"
#: Lists what is forbidden, because a class of what is allowed takes ten times as long to compile.
_FORBIDDEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_MARKUP: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_MARKUP_AND_BREAKS: Final = _MARKUP | str.maketrans({"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def svg_text(picture: DisplayList, per_point: float | None = None) -> str:
    """Return a picture as SVG, its size in points, or in pixels if ``per_point`` is given."""
    width, height = _number(picture.width), _number(picture.height)
    wide, high = f"{width}pt", f"{height}pt"
    if per_point is not None:
        wide, high = (str(round(each * per_point)) for each in (picture.width, picture.height))
    families = quoted(f"'{_EMBEDDED_FAMILY}',{_FALLBACK_FAMILIES}")
    size = f'width="{wide}" height="{high}" viewBox="0 0 {width} {height}"'
    software = [picture.software]
    if picture.created is not None:
        software.append(picture.created.isoformat(timespec="seconds"))
    description = f"{picture.description} {', '.join(software)}"
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family={families}>',
        f"<title>{_text(picture.title)}</title>",
        f"<desc>{_text(description)}</desc>",
        f"<style>{_font_faces(picture)}{_TEXT_STYLE}</style>",
        f'<rect width="{width}" height="{height}" fill="{picture.background}"/>',
    ]
    writer = _Writer(lines)
    writer.write(picture.items)
    lines.append("</svg>")
    return "\n".join(lines) + "\n"


class _Writer:
    """Appends elements, numbering clip paths as they come."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._clip_count = 0

    def write(self, items: Iterable[Item]) -> None:  # noqa: C901 - one for each shape
        for item in items:
            match item:
                case Group():
                    self._write_group(item)
                case Rect(box=box, fill=fill):
                    self._lines.append(f'<rect {_box(box)} fill="{fill}"/>')
                case Polygon(points=points, fill=fill):
                    self._lines.append(f'<path d="{_path(points)}Z" fill="{fill}"/>')
                case Circle(center=center, radius=radius, fill=fill):
                    place = f'cx="{_number(center.x)}" cy="{_number(center.y)}"'
                    size = f'r="{_number(radius)}"'
                    self._lines.append(f'<circle {place} {size} fill="{fill}"/>')
                case Polyline(points=points, stroke=stroke):
                    self._lines.append(f'<path d="{_path(points)}" {_stroke(stroke)}/>')
                case Text():
                    self._lines.append(_text_element(item))
                case Rects(fill=fill):
                    self._write_boxes(boxes_of(item), fill)
                case Columns():
                    for fill, boxes in boxes_by_color(item).items():
                        self._write_boxes(boxes, fill)
                case Hatched(color=color):
                    lines = "".join(
                        f"M{_number(a)},{_number(b)}L{_number(c)},{_number(d)}"
                        for a, b, c, d in lines_of(item)
                    )
                    if lines:
                        self._lines.append(f'<path d="{lines}" fill="none" stroke="{color}"/>')

    def _write_boxes(self, boxes: Iterable[tuple[float, float, float, float]], fill: str) -> None:
        path = "".join(
            f"M{_number(x)},{_number(y)}h{_number(wide)}v{_number(high)}h-{_number(wide)}z"
            for x, y, wide, high in boxes
        )
        if path:
            self._lines.append(f'<path d="{path}" fill="{fill}"/>')

    def _write_group(self, group: Group) -> None:
        if not group.items:
            return
        label = quoted(group.name)
        if group.clip is None:
            self._lines.append(f"<g aria-label={label}>")
        else:
            self._clip_count += 1
            name = f"clip{self._clip_count}"
            self._lines.append(
                f'<defs><clipPath id="{name}"><rect {_box(group.clip)}/></clipPath></defs>'
            )
            self._lines.append(f'<g aria-label={label} clip-path="url(#{name})">')
        self.write(group.items)
        self._lines.append("</g>")


def _font_faces(picture: DisplayList) -> str:
    """Return style rules that embed the characters used, regular and bold."""
    rules = ""
    for is_bold, weight in ((False, "normal"), (True, "bold")):
        used = {
            ord(char) for text in picture.texts() if text.is_bold == is_bold for char in text.text
        }
        if used:
            data = font(is_bold=is_bold).subset(used, _EMBEDDED_FAMILY)
            encoded = base64.b64encode(data).decode("ascii")
            rules += (
                f"@font-face{{font-family:'{_EMBEDDED_FAMILY}';font-weight:{weight};"
                f"src:url(data:font/ttf;base64,{encoded})format('truetype')}}"
            )
    return rules


def _text_element(text: Text) -> str:
    x, y = _number(text.at.x), _number(text.at.y)
    attributes = f'x="{x}" y="{y}" font-size="{_number(text.size)}" fill="{text.color}"'
    if text.anchor is not Anchor.START:
        attributes += f' text-anchor="{text.anchor.value}"'
    if text.is_bold:
        attributes += ' font-weight="bold"'
    if has_every_character(text.text, is_bold=text.is_bold):
        width = _number(text_width(text.text, text.size, is_bold=text.is_bold))
        attributes += f' textLength="{width}" lengthAdjust="spacingAndGlyphs"'
    element = f"<text {attributes}>{_text(text.text)}</text>"
    if not text.halo:
        return element
    # The rim is a separate text below: viewers without paint-order would paint it over the text.
    width = _number(text.size * HALO_SHARE)
    return (
        f'<text {attributes} stroke="{text.halo}" stroke-width="{width}" stroke-linejoin="round"'
        f' aria-hidden="true">{_text(text.text)}</text>{element}'
    )


def _stroke(stroke: Stroke) -> str:
    attributes = f'fill="none" stroke="{stroke.color}" stroke-width="{_number(stroke.width)}"'
    if stroke.dash:
        return attributes + f' stroke-dasharray="{" ".join(map(_number, stroke.dash))}"'
    return attributes + ' stroke-linejoin="round" stroke-linecap="round"'


def _box(box: Box) -> str:
    return (
        f'x="{_number(box.x)}" y="{_number(box.y)}"'
        f' width="{_number(box.width)}" height="{_number(box.height)}"'
    )


def _path(points: Iterable[Point]) -> str:
    return "M" + " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _number(value: float) -> str:
    """Return ``value`` to a hundredth of a point without trailing zeros."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _text(text: str) -> str:
    """Return ``text`` with markup escaped and without characters that XML forbids."""
    return _FORBIDDEN.sub("", text).translate(_MARKUP)


def quoted(text: str) -> str:
    """Return a value of an attribute in quotes, with markup and line breaks escaped.

    Equals ``quoteattr`` of ``xml.sax.saxutils``, whose import takes 15 ms, because it imports
    modules for reading from the web.
    """
    escaped = text.translate(_MARKUP_AND_BREAKS)
    if '"' not in escaped:
        return f'"{escaped}"'
    if "'" not in escaped:
        return f"'{escaped}'"
    return '"' + escaped.replace('"', "&quot;") + '"'
