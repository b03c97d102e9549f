"""The row of marks in a picture: flags with their names, those of marks that repeat once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from inspector.formats.drawing.display_list import Box, Item, Point, Rect, Text
from inspector.formats.drawing.font_metrics import plain, shortened, text_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.formats.arrangement.sheet import Colors, Row
    from inspector.formats.frame_times import FrameTimes
    from inspector.formats.options import ExportOptions

_TEXT: Final = 11.0
_BASELINE: Final = 0.36
#: Width of a flag, and from its edge to its name.
_FLAG: Final = 6
_TEXT_FROM: Final = 9
#: Room in which the beginning of a name says something.
_LEAST_NAME: Final = 40


class Flag(NamedTuple):
    at_ns: int  # Its instant
    frame: int
    name: str
    end_ns: int | None = None  # The end of a range, else None


def flags_of(frames: FrameTimes, options: ExportOptions) -> list[Flag]:
    """Return the flags, the earliest first; marks that repeat say how often: "wave ×24"."""
    found: list[Flag] = []
    if options.landmarks:
        counts = Counter(each.name for each in frames.landmarks if each.kind == "mark")
        for each in frames.landmarks:
            count = counts[each.name] if each.kind == "mark" else 1
            name = f"{each.name} ×{count:,}" if count > 1 else each.name
            found.append(Flag(each.at_ns, each.frame, name, each.end_ns))
    if options.interventions:
        found += [
            Flag(each.at_ns, each.frame, f"{each.label} {each.text}")
            for each in frames.interventions
        ]
    return sorted(found, key=lambda each: (each.at_ns, each.frame))


@dataclass(frozen=True, slots=True)
class FlagRow:
    items: list[Item]
    unnamed: int  # How many names are cut or have no room


def flag_row(
    flags: Sequence[Flag], row: Row, right: float, x_of: Callable[[int, int], float], colors: Colors
) -> FlagRow:
    """Return flags with their names, as far as there is room.

    Args:
        right: The right edge.
        x_of: Returns the place of an instant and a frame.
    """
    items: list[Item] = []
    for flag in flags:
        if flag.end_ns is not None:
            begin, end = x_of(flag.at_ns, flag.frame), x_of(flag.end_ns, flag.frame)
            bar = Box(begin, row.bottom - 4, max(end - begin, 1.0), 3)
            items.append(Rect(bar, colors["edge"]))
    places = [x_of(flag.at_ns, flag.frame) for flag in flags]
    # Of the flags of a name, that which has most room.
    rooms: dict[str, tuple[float, float]] = {}
    for flag, x, end in zip(flags, places, [*places[1:], right], strict=True):
        name, room = plain(flag.name), end - x - _TEXT_FROM - 4
        if room > rooms.get(name, (-1.0, 0.0))[0]:
            rooms[name] = room, x
        rooms.setdefault(name, (room, x))
    for x in dict.fromkeys(places):
        items.append(Rect(Box(x, row.top + 4, 1, row.height - 4), colors["tick"]))
        items.append(Rect(Box(x, row.top + 4, _FLAG, 5), colors["tick"]))
    unnamed = 0
    y = round(row.top + row.height / 2 + _BASELINE * _TEXT, 2)
    for name, (room, x) in sorted(rooms.items(), key=lambda each: each[1][1]):
        is_whole = text_width(name, _TEXT) <= room
        unnamed += not is_whole
        if is_whole or room >= _LEAST_NAME:
            at = Point(round(x + _TEXT_FROM, 2), y)
            items.append(Text(at, shortened(name, room, _TEXT), _TEXT, colors["muted"]))
    return FlagRow(items, unnamed)
