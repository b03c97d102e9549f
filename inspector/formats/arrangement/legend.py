"""The legend and the foot of a picture: what its colours and shapes mean, and where it is from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from inspector.analysis.lanes.lanes import LaneKind
from inspector.formats.arrangement.clock_layout import effective_hatch
from inspector.formats.arrangement.sheet import Colors, Kind, Sheet
from inspector.formats.drawing.display_list import Box, Hatched, Item, Point, Rect, Rects, Text
from inspector.formats.drawing.font_metrics import plain, shortened, text_width
from inspector.formats.drawing.pixel_rects import edge_rects
from inspector.formats.frame_times import Provenance
from inspector.timebase import format_duration
from inspector.tokens import STATE_COLORS

_TEXT: Final = 11.0
_LINE: Final = 16.0
_SWATCH: Final = 14
_HEIGHT: Final = 9
_GAP: Final = 16.0
_WORDS: Final = {
    "runs": "runs, as high as its rate",
    "paused": "paused",
    "stopped": "stopped by a clock above",
    "blocked": "blocked by a function",
    "fires": "fires",
    "late": "late by more than {late}",
    "state": "state of a machine",
}
#: The entries that lanes of clocks, and lanes of timers, can have.
_ON_CLOCKS: Final = ("runs", "paused", "stopped", "blocked")
_ON_TIMERS: Final = ("fires", "late")


class LaneLegend:
    """Collects what lanes show, and explains it in a legend."""

    def __init__(
        self, kinds: Iterable[LaneKind], late_ns: int, colors: Colors, *, has_blocks: bool
    ) -> None:
        self._kinds = set(kinds)
        self._words = {**_WORDS, "late": _WORDS["late"].format(late=format_duration(late_ns))}
        self._colors = colors
        self._has_blocks = has_blocks
        self._used: set[str] = set()

    def lines(self, room: float) -> int:
        possible = [
            *(_ON_CLOCKS if LaneKind.CLOCK in self._kinds else ()),
            *(_ON_TIMERS if self._kinds & {LaneKind.TIMER, LaneKind.CALL} else ()),
            *(("state",) if LaneKind.MACHINE in self._kinds else ()),
        ]
        if not self._has_blocks and "blocked" in possible:
            possible.remove("blocked")
        return len(self._broken(possible, room))

    def learn(self, kind: LaneKind, sheet: Sheet) -> None:
        if kind is LaneKind.MACHINE:
            self._used.add("state")
        elif kind is LaneKind.CLOCK:
            self._used.add("runs")
        for part, color, _entries in sheet.parts():
            if part is Kind.HATCHED:
                self._used.add("paused" if color == self._colors["hatch"] else "stopped")
            elif kind is LaneKind.CLOCK:
                self._used |= {"blocked"} if color == self._colors["red"] else set()
            elif kind in {LaneKind.TIMER, LaneKind.CALL} and part is not Kind.TEXTS:
                self._used.add("late" if color == self._colors["orange"] else "fires")

    def items(self, left: float, y: float, room: float) -> list[Item]:
        """Return the legend with its first baseline at ``y``."""
        items: list[Item] = []
        for line in self._broken([each for each in _WORDS if each in self._used], room):
            x = left
            for key in line:
                items += self._swatch(key, round(x), round(y) - 8)
                at = Point(round(x + _SWATCH + 5, 2), y)
                items.append(Text(at, self._words[key], _TEXT, self._colors["muted"]))
                x += self._width(key)
            y += _LINE
        return items

    def _width(self, key: str) -> float:
        return _SWATCH + 5 + text_width(self._words[key], _TEXT) + _GAP

    def _broken(self, keys: Sequence[str], room: float) -> list[list[str]]:
        lines: list[list[str]] = []
        x = room + 1.0
        for key in keys:
            width = self._width(key)
            if x + width - _GAP > room:
                lines.append([])
                x = 0.0
            lines[-1].append(key)
            x += width
        return lines

    def _swatch(self, key: str, x: int, y: int) -> list[Item]:
        colors = self._colors
        box = Box(x, y, _SWATCH, _HEIGHT)
        area = np.array([(x, y, x + _SWATCH - 1, y + _HEIGHT - 1)], dtype=np.int32)
        middle = x + _SWATCH // 2
        shapes: dict[str, list[Item]] = {
            "runs": [Rect(box, colors["clock"]), Rect(Box(x, y, _SWATCH, 1), colors["edge"])],
            "paused": [Hatched(area, colors["hatch"], 0), Rects(edge_rects(area), colors["edge"])],
            "stopped": [
                Hatched(area, effective_hatch(colors), 0),
                Rects(edge_rects(area), colors["line"]),
            ],
            "blocked": [Rect(box, colors["red"])],
            "fires": [Rect(Box(middle, y, 2, _HEIGHT), colors["tick"])],
            "late": [
                Rect(Box(x, y + 4, _SWATCH // 2, 2), colors["orange"]),
                Rect(Box(middle, y, 2, _HEIGHT), colors["orange"]),
            ],
            "state": [Rect(box, STATE_COLORS[0])],
        }
        return shapes[key]


def provenance_text(provenance: Provenance, room: float, first: str = "") -> str:
    """Return where frames come from, as the footer of a picture.

    Args:
        room: Width in points. Where it is too little, the frame rate, the program and the time
            source are left out, in this order; a note that is too long is cut.
        first: What else is to be said, before the rest.
    """
    scene = shortened(plain(provenance.scene), room / 2, _TEXT)
    created = provenance.created_text
    program = provenance.software
    target = provenance.target_text
    source = plain(provenance.source)
    said = [each for each in (first, scene, created, program, source, target) if each]
    for least in (target, program, source):
        if text_width(" · ".join(said), _TEXT) > room and least in said:
            said.remove(least)
    said += filter(None, (plain(provenance.note),))
    return shortened(" · ".join(said), max(room, 0), _TEXT)
