import base64
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from xml.etree import ElementTree as ET
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.formats.arrangement.picture import frame_graph
from inspector.formats.drawing.display_list import (
    HATCH_GAP,
    Anchor,
    Box,
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
    lines_of,
)
from inspector.formats.drawing.font_metrics import text_width
from inspector.formats.drawing.svg import quoted, svg_text
from inspector.formats.drawing.truetype import TrueTypeFont
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import ExportOptions

MakeFrames = Callable[[Sequence[int]], FrameTimes]
SVG = "{http://www.w3.org/2000/svg}"


def picture_of(*items: Item, title: str = "A title") -> DisplayList:
    created = datetime(2026, 11, 21, tzinfo=UTC)
    return DisplayList(200, 100, "#ffffff", items, title, "A description.", created, "Software 1")


def root_of(*items: Item, title: str = "A title") -> ET.Element:
    return ET.fromstring(svg_text(picture_of(*items, title=title)))  # noqa: S314 - our own text


def test_that_the_document_has_its_size_in_points_and_a_description() -> None:
    root = root_of()
    assert (root.get("width"), root.get("height")) == ("200pt", "100pt")
    assert root.get("viewBox") == "0 0 200 100"
    assert root.findtext(f"{SVG}title") == "A title"
    description = root.findtext(f"{SVG}desc")
    assert description == "A description. Software 1, 2026-11-21T00:00:00+00:00"


def test_that_rectangles_on_whole_pixels_are_written_as_a_path_of_each_colour() -> None:
    rects = np.array([[1, 2, 4, 2], [7, 2, 7, 9]], np.int32)
    columns = Columns(10, 0, 8, np.array([[0, 0, 1], [1, 1, 2]]), ("#000001", "#000002", ""))

    root = root_of(Rects(rects, "#112233"), columns)

    paths = [(each.get("d"), each.get("fill")) for each in root.iter(f"{SVG}path")]
    assert paths == [
        ("M1,2h4v1h-4zM7,2h1v8h-1z", "#112233"),
        ("M10,0h2v4h-2z", "#000001"),
        ("M12,0h1v4h-1zM10,4h2v4h-2z", "#000002"),
    ]


def test_that_a_hatching_rises_to_the_right_within_its_rectangle() -> None:
    hatched = Hatched(np.array([[100, 10, 119, 19]], np.int32), "#112233", 3)

    lines = list(lines_of(hatched))

    assert len(lines) > 2
    for x0, y0, x1, y1 in lines:
        assert x0 + y0 == x1 + y1
        assert (x0 + y0) % HATCH_GAP == 3
        assert 100 <= x0 < x1 <= 120
        assert 10 <= y1 < y0 <= 20


def test_that_every_kind_of_item_is_written() -> None:
    root = root_of(
        Rect(Box(1, 2, 3.456, 4), "#112233"),
        Polyline((Point(0, 0), Point(1.5, 2)), Stroke("#445566", 0.75, (2, 1))),
        Polygon((Point(0, 0), Point(1, 0), Point(0, 1)), "#778899"),
        Text(Point(5, 6), "text", 8, "#000000", Anchor.END, is_bold=True),
    )
    _background, rect = root.findall(f"{SVG}rect")
    assert (rect.get("width"), rect.get("fill")) == ("3.46", "#112233")
    line, area = root.findall(f"{SVG}path")
    assert line.get("d") == "M0,0 1.5,2"
    assert line.get("stroke-width") == "0.75"
    assert line.get("stroke-dasharray") == "2 1"
    assert area.get("d") == "M0,0 1,0 0,1Z"
    text = root.find(f"{SVG}text")
    assert text is not None
    assert text.text == "text"
    assert text.get("text-anchor") == "end"
    assert text.get("font-weight") == "bold"


def test_that_a_group_has_its_name_and_its_clip() -> None:
    root = root_of(Group("inner", (Rect(Box(0, 0, 9, 9), "#000000"),), clip=Box(1, 1, 2, 2)))
    group = root.find(f"{SVG}g")
    assert group is not None
    assert group.get("aria-label") == "inner"
    assert group.get("clip-path") == "url(#clip1)"
    clip = root.find(f"{SVG}defs/{SVG}clipPath[@id='clip1']/{SVG}rect")
    assert clip is not None
    assert clip.get("x") == "1"


def test_that_text_has_the_width_of_the_bundled_font() -> None:
    text = root_of(Text(Point(5, 6), "16.7 ms", 8, "#000000")).find(f"{SVG}text")
    assert text is not None
    assert float(text.get("textLength", "")) == pytest.approx(text_width("16.7 ms", 8), abs=0.01)


def test_that_a_rim_lies_below_its_text_also_where_no_order_of_painting_is_known() -> None:
    root = root_of(Text(Point(1, 2), "name", 8, "#000000", halo="#ffffff"))

    rim, text = [each for each in root.iter() if each.tag.endswith("}text")]

    assert (rim.get("stroke"), text.get("stroke")) == ("#ffffff", None)
    assert (rim.get("aria-hidden"), text.get("aria-hidden")) == ("true", None)
    assert rim.text == text.text == "name"


def test_that_text_of_unknown_width_is_not_stretched() -> None:
    text = root_of(Text(Point(5, 6), "フレーム", 8, "#000000")).find(f"{SVG}text")
    assert text is not None
    assert text.get("textLength") is None


def test_that_the_characters_that_occur_are_embedded_as_fonts() -> None:
    document = svg_text(
        picture_of(
            Text(Point(0, 9), "regular", 8, "#000000"),
            Group("inner", (Text(Point(0, 9), "BOLD", 8, "#000000", is_bold=True),)),
        )
    )
    embedded = re.findall(r"font-weight:(\w+);src:url\(data:font/ttf;base64,([^)]*)\)", document)
    fonts = {weight: TrueTypeFont(base64.b64decode(data)) for weight, data in embedded}
    assert set(fonts) == {"normal", "bold"}
    assert all(fonts["normal"].has(ord(char)) for char in "regular")
    assert all(fonts["bold"].has(ord(char)) for char in "BOLD")
    assert not fonts["normal"].has(ord("B"))


def test_that_markup_and_forbidden_characters_in_names_do_no_harm() -> None:
    title = 'a <b> & "c" \x07 \ud800'
    root = root_of(Text(Point(0, 9), "</text>&", 8, "#000000"), title=title)
    assert root.findtext(f"{SVG}title") == 'a <b> & "c"  '
    assert root.findtext(f"{SVG}text") == "</text>&"


def test_that_the_same_frames_give_the_same_text(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    frames = make_frames([16_666_667] * 300)
    first = svg_text(frame_graph(frames, provenance, ExportOptions(stacked=True)))
    assert first == svg_text(frame_graph(frames, provenance, ExportOptions(stacked=True)))
    numbers = re.findall(r' (?:d|x|y|width|height)="([^"]*)"', first)
    assert not any("n" in number for number in numbers)  # neither nan nor inf


@given(st.text(st.sampled_from("a&<>\"'\n\r\té")))
def test_that_attributes_are_quoted_as_the_standard_library_does(text: str) -> None:
    assert quoted(text) == quoteattr(text)
