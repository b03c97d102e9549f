"""The picture of a scene for files: its shapes, and what its clocks do in words below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from inspector.formats.drawing.display_list import Box, DisplayList, Group, Point, Rect, Text
from inspector.formats.drawing.font_metrics import shortened
from inspector.formats.file_formats import picture_formats
from inspector.formats.frame_times import Provenance
from inspector.formats.scene_shapes import SceneMoment, picture_items
from inspector.pictures.appearance import notes_of
from inspector.timebase import format_instant

_NOTE: Final = 1 / 38


class PictureOptions(Struct, frozen=True):
    width: float = 640.0  # Width in points
    dots_per_inch: float = 144.0
    is_in_pixels = False


def scene_picture(
    moment: SceneMoment, provenance: Provenance, options: PictureOptions
) -> DisplayList:
    """Return the picture of a scene for a file; what its clocks do is said below."""
    picture, looks = moment.picture, moment.looks
    scale = options.width / picture.width
    width, height = options.width, picture.height * scale
    notes = notes_of(looks)
    groups = [Group("scene", tuple(picture_items(picture, looks, scale)), Box(0, 0, width, height))]
    if notes:
        groups.append(_note_group(notes, Box(0, height, width, 2 * width * _NOTE)))
        height += 2 * width * _NOTE
    return DisplayList(
        width,
        height,
        picture.background,
        tuple(groups),
        provenance.scene,
        f"{provenance.scene} at {format_instant(moment.at_ns)}."
        + (f" {', '.join(notes)}." if notes else ""),
        provenance.created,
        provenance.software,
    )


def _note_group(notes: Sequence[str], box: Box) -> Group:
    size = box.height / 2
    said = shortened("    ".join(notes), box.width - 2 * size, size, is_bold=True)
    at = Point(size, round(box.y + 0.68 * box.height, 2))
    items = (Rect(box, "#20242a"), Text(at, said, size, "#e9edf1", is_bold=True))
    return Group("clocks", items)


SCENE_PICTURE_FORMATS: Final = picture_formats(scene_picture, "the scene")
