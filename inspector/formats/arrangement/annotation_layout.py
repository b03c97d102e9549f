"""Lays out annotations on a lane of their own: flags, and ranges as bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from inspector.display_text import one_line
from inspector.formats.arrangement.sheet import Row, Sheet, mixed

if TYPE_CHECKING:
    from inspector.events.annotations import Annotation
    from inspector.formats.arrangement.lane_window import LaneWindow

_PAD: Final = 2
#: Width of a flag, and the least room in which a name is written, in pixels.
_FLAG: Final = 6
_TEXT_FROM: Final = 24
_BAND_SHARE: Final = 0.22
#: If more annotations than this are in view, only one is drawn at each pixel.
_MOST_NAMED: Final = 400


def lay_out_annotations(
    sheet: Sheet, annotations: Sequence[Annotation], window: LaneWindow, row: Row
) -> None:
    """Lay out those of some annotations, the earliest first, that are in view."""
    shown = [
        each for each in annotations if each.at_ns <= window.high and each.last_ns >= window.low
    ]
    if not shown:
        return
    if len(shown) > _MOST_NAMED:
        shown = list({int(window.x(each.at_ns)): each for each in shown}.values())
    inner, color, right = row.inner(_PAD), sheet.colors["tick"], window.left + window.width
    ends = [int(window.x(each.at_ns)) for each in shown[1:]] + [right]
    for each, until in zip(shown, ends, strict=True):
        begin = window.x(each.at_ns)
        if each.end_ns is not None:
            left = int(max(begin, window.left))
            end = int(min(window.x(each.last_ns), right))
            band = (left, inner.top, max(end, left + 1), inner.bottom)
            sheet.rect(0, mixed(color, sheet.colors["bg"], _BAND_SHARE), band)
            sheet.rect(1, color, (left, inner.bottom - 2, band[2], inner.bottom))
            sheet.rect(1, color, (band[2] - 1, inner.top, band[2], inner.bottom))
        x = int(max(begin, window.left))
        if begin >= window.left:
            sheet.rect(2, color, (x, inner.top, x + 2, inner.bottom))
            half = inner.top + inner.height // 2
            if each.kind == "bookmark":
                sheet.rect(2, color, (x + 2, inner.top, x + _FLAG, half))
            elif each.kind == "note":
                sheet.rect(2, color, (x + 2, inner.top, x + _FLAG, inner.top + 1))
                sheet.rect(2, color, (x + 2, half - 1, x + _FLAG, half))
                sheet.rect(2, color, (x + _FLAG - 1, inner.top, x + _FLAG, half))
        room = until - x - _FLAG - 8
        if room >= _TEXT_FROM:
            name = one_line(each.title)
            sheet.text(3, sheet.colors["text"], name, x + _FLAG + 3, row, room)
