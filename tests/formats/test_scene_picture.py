"""The picture of a scene as a file: the shapes in their places, what stands still hatched."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from inspector.formats.drawing.display_list import Circle, Item, Polyline, Rect, Text
from inspector.formats.file_formats import write_file
from inspector.formats.frame_times import Provenance
from inspector.formats.scene_picture import (
    SCENE_PICTURE_FORMATS,
    PictureOptions,
    scene_picture,
)
from inspector.formats.scene_shapes import SceneMoment, picture_items
from inspector.pictures.appearance import ClockAppearance
from inspector.pictures.pictures import Picture
from inspector.pictures.shapes import Shape, box, circle, line, polygon, text

PROVENANCE = Provenance("a <scene>", datetime(2026, 1, 2, tzinfo=UTC), "0.1")
SHAPES: list[Shape] = [
    circle(10, 20, 5, "#ff0000"),
    box(0, 0, -4, 4, "#00ff00", line="#0000ff"),
    line(0, 0, 10, 10, "#ffffff"),
    polygon([(0, 0), (9, 0), (0, 9)], "#ffff00"),
    text(50, 25, "“&<", "#ffffff", anchor="middle"),
]
PICTURE = Picture(100, 50, "#101010", SHAPES)


def of_kind(items: list[Item], kind: type) -> list[Item]:
    return [item for item in items if isinstance(item, kind)]


def test_that_a_circle_is_a_circle_and_a_box_may_be_drawn_from_any_corner() -> None:
    items = picture_items(PICTURE, {}, scale=2)

    (round_one,) = of_kind(items, Circle)
    assert isinstance(round_one, Circle)
    assert (round_one.center, round_one.radius, round_one.fill) == ((20, 40), 10, "#ff0000")
    (square,) = of_kind(items, Rect)
    assert isinstance(square, Rect)
    assert (square.box.x, square.box.width) == (-8, 8)


def test_that_what_stands_still_is_faded_and_hatched() -> None:
    owned = [shape._replace(clock=3) for shape in SHAPES]
    items = picture_items(
        Picture(100, 50, "#101010", owned),
        {3: ClockAppearance(3, is_stopped=True, note="paused: enemies")},
    )

    (round_one,) = of_kind(items, Circle)
    assert isinstance(round_one, Circle)
    assert round_one.fill != "#ff0000"
    plain = of_kind(picture_items(PICTURE, {}), Polyline)
    assert len(of_kind(items, Polyline)) == len(plain) + 3
    texts = [item.text for item in of_kind(items, Text) if isinstance(item, Text)]
    assert texts == ["“&<"]


def test_that_the_file_says_what_it_shows() -> None:
    looks = {3: ClockAppearance(3, is_stopped=True, note="paused: enemies")}

    picture = scene_picture(
        SceneMoment(PICTURE, looks, 1_500_000_000), PROVENANCE, PictureOptions()
    )

    # Below the picture, so that nothing is covered.
    assert picture.width == 640
    assert picture.height > 320
    note = picture.texts()[-1]
    assert (note.text, note.at.y > 320) == ("paused: enemies", True)
    assert picture.title == "a <scene>"
    assert picture.description == "a <scene> at 0:01.500. paused: enemies."


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_that_every_format_is_written_and_the_same_each_time(tmp_path: Path, suffix: str) -> None:
    moment = SceneMoment(PICTURE, {}, 0)
    contents = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}{suffix}"
        write_file(moment, PROVENANCE, PictureOptions(), path, SCENE_PICTURE_FORMATS)
        contents.append(path.read_bytes())

    assert contents[0] == contents[1]
    if suffix == ".svg":
        tree = ET.fromstring(contents[0])  # noqa: S314 - our own
        assert [each.get("r") for each in tree.iter("{http://www.w3.org/2000/svg}circle")] == ["32"]
