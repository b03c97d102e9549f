"""Figures of frame times for slides, articles and cards, of one capture or several.

The smallest text is 1/45 of the height, so that a figure is read from the back of a room.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct, structs

from inspector.analysis.statistics.column_summary import lasting_ns
from inspector.analysis.statistics.distribution import Distribution
from inspector.analysis.statistics.frame_statistics import percentile_frame_time_ns
from inspector.display_text import counted
from inspector.errors import ExportError
from inspector.formats.aligned_chart import AlignedRun, aligned_chart
from inspector.formats.arrangement.legend import provenance_text
from inspector.formats.arrangement.picture import frame_graph
from inspector.formats.distribution_chart import ChartKind, Curve, distribution_chart
from inspector.formats.drawing.display_list import (
    Box,
    DisplayList,
    Group,
    Item,
    Point,
    Text,
    moved,
    scaled,
)
from inspector.formats.drawing.font_metrics import plain, shortened
from inspector.formats.file_formats import picture_formats
from inspector.formats.frame_times import FrameTimes, NsColumn, Provenance
from inspector.formats.options import GRAPH_COLORS, SMALLEST_WIDTH_PT, ExportOptions, FigureName
from inspector.timebase import format_duration

_PAD: Final = 16.0
_GAP: Final = 16.0
_TITLE: Final = 16.0
_SMALL: Final = 11.0
#: Scales the text of charts to that of figures.
_CHART_SCALE: Final = _SMALL / 7.5
_HEAD: Final = 56.0
_FOOT: Final = 30.0
_KINDS: Final = {
    "percentiles": ChartKind.CUMULATIVE,
    "distribution": ChartKind.HISTOGRAM,
    "l-shape": ChartKind.L_SHAPE,
}
_SUBTITLES: Final[dict[FigureName, str]] = {
    "frames": "Frame times",
    "percentiles": "Cumulative distribution of frame times",
    "distribution": "Distribution of frame times",
    "l-shape": "Upper percentiles of frame times",
}


class Shown(NamedTuple):
    name: str
    frames: FrameTimes
    provenance: Provenance


class FigureData(Struct, frozen=True):
    """What a figure shows: captures over each other, or each in a column."""

    shown: tuple[Shown, ...]
    is_side_by_side: bool = False


def figure(data: FigureData, provenance: Provenance, options: ExportOptions) -> DisplayList:
    for each in data.shown:
        if not len(each.frames):
            raise ExportError(f"{each.name} has no frames to draw. Choose another file.")
        if each.frames.samples and options.figure != "frames":
            raise ExportError(f"{each.name}: {each.frames.samples} Only the graph of frames does.")
    if options.figure == "frames" and (data.is_side_by_side or len(data.shown) == 1):
        return _frames_beside(data.shown, options)
    return _Figure(data, provenance, options).picture()


def _frames_beside(shown: Sequence[Shown], options: ExportOptions) -> DisplayList:
    width = options.width_pt / len(shown)
    if width < SMALLEST_WIDTH_PT:
        most = int(options.width_pt / SMALLEST_WIDTH_PT)
        raise ExportError(
            f"There is room for the frames of {counted(most, 'capture')} side by side, not "
            f"{len(shown)}. Show them overlaid, as percentiles, or wider."
        )
    fitted = structs.replace(options, width_pt=width)
    one = shown[0]
    if len(shown) == 1:
        return frame_graph(one.frames, one.provenance, options)
    pictures = [
        frame_graph(each.frames, each.provenance, structs.replace(fitted, title=each.name))
        for each in shown
    ]
    items = [
        Group(each.title, tuple(moved(item, place * width, 0.0) for item in each.items))
        for place, each in enumerate(pictures)
    ]
    title = options.title or " and ".join(each.name for each in shown)
    return structs.replace(
        pictures[0],
        width=options.width_pt,
        items=tuple(items),
        title=plain(title),
        description=_said(shown, options),
    )


class _Figure:
    def __init__(self, data: FigureData, provenance: Provenance, options: ExportOptions) -> None:
        self.shown, self.options, self.provenance = data.shown, options, provenance
        self.is_side_by_side = data.is_side_by_side and len(data.shown) > 1
        self.colors = GRAPH_COLORS[options.theme]
        self.width, self.height = options.width_pt, options.height_pt

    def picture(self) -> DisplayList:
        options, colors = self.options, self.colors
        names = " and ".join(plain(each.name) for each in self.shown)
        title = plain(options.title) or names
        room = self.width - 2 * _PAD
        head = shortened(title, room, _TITLE, is_bold=True)
        below = shortened(self._subtitle(), room, _SMALL)
        about = self.provenance
        if len(self.shown) > 1:
            about = structs.replace(about, scene=names, note="")
        foot = provenance_text(about, room)
        items: list[Item] = [
            Text(Point(_PAD, _PAD + 12), head, _TITLE, colors.text, is_bold=True),
            Text(Point(_PAD, _PAD + 28), below, _SMALL, colors.muted_text),
            *(self._columns() if self.is_side_by_side else self._chart(self.shown, 0, 1)),
            Text(Point(_PAD, self.height - 14), foot, _SMALL, colors.muted_text),
        ]
        return DisplayList(
            *(self.width, self.height, colors.background, tuple(items), title),
            *(f"{self._subtitle()}. {_said(self.shown, options)}", self.provenance.created),
            f"Timeline Inspector {self.provenance.version}".strip(),
        )

    def _subtitle(self) -> str:
        count = " and ".join(counted(len(each.frames), _noun(each)) for each in self.shown)
        return f"{_SUBTITLES[self.options.figure]}, {count}"

    def _columns(self) -> list[Item]:
        return [
            item
            for place, each in enumerate(self.shown)
            for item in self._chart((each,), place, len(self.shown))
        ]

    def _chart(self, shown: Sequence[Shown], place: int, count: int) -> list[Item]:
        options = self.options
        width = (self.width - 2 * _PAD - (count - 1) * _GAP) / count
        top = _HEAD + (_GAP if count > 1 else 0)
        left = _PAD + place * (width + _GAP)
        box = Box(0, 0, width / _CHART_SCALE, (self.height - top - _FOOT) / _CHART_SCALE)
        kind = _KINDS.get(options.figure)
        if kind is None:
            runs = [self._aligned(each) for each in shown]
            drawn = aligned_chart(runs, box, options.theme, budgets_ms=options.budgets_ms)
        else:
            curves, others = self._curves(shown), self._curves(self.shown)
            drawn = distribution_chart(
                *(kind, curves, box, options.theme),
                budgets_ms=options.budgets_ms,
                beside=others if count > 1 else (),
            ).items
        items = [moved(scaled(each, _CHART_SCALE), left, top) for each in drawn]
        if count > 1:
            name = shortened(plain(shown[0].name), width, _SMALL, is_bold=True)
            at = Point(round(left, 2), _HEAD + 4)
            items.append(Text(at, name, _SMALL, self.colors.text, is_bold=True))
        return items

    def _aligned(self, shown: Shown) -> AlignedRun:
        frames, times_ns = self.options.counted(shown.frames)[0], self._times_ns(shown)
        ends_ns = np.cumsum(times_ns)
        if frames.samples:
            # A sample lasts until the next one.
            kept = frames.measured(self.options.measure) > 0
            ends_ns = np.cumsum(lasting_ns(frames.at_ns, times_ns, are_samples=True)[kept])
        return AlignedRun(shown.name, times_ns, ends_ns)

    def _times_ns(self, shown: Shown) -> NsColumn:
        return _times_ns(shown.frames, self.options)

    def _curves(self, shown: Sequence[Shown]) -> list[Curve]:
        return [Curve(each.name, Distribution(self._times_ns(each))) for each in shown]


def _times_ns(frames: FrameTimes, options: ExportOptions) -> NsColumn:
    times_ns = options.counted(frames)[0].measured(options.measure)
    return times_ns[times_ns > 0]


def _noun(shown: Shown) -> str:
    return "sample" if shown.frames.samples else "frame"


def _said(shown: Sequence[Shown], options: ExportOptions) -> str:
    found = []
    for each in shown:
        times_ns = _times_ns(each.frames, options)
        count = counted(len(times_ns), _noun(each))
        if each.frames.samples:
            mean = format_duration(round(times_ns.mean().item()))
            found.append(f"{plain(each.name)}: {count}, mean {mean}.")
            continue
        longest = format_duration(int(times_ns.max()))
        p50, p99 = (
            format_duration(percentile_frame_time_ns(times_ns, percent)) for percent in (50, 99)
        )
        found.append(f"{plain(each.name)}: {count}, P50 {p50}, P99 {p99}, longest {longest}.")
    return " ".join(found)


FIGURE_FORMATS: Final = picture_formats(figure, "a figure")
