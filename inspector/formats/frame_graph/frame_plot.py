"""The plot area of the frame-time graph: scale, line, stacked phases, spikes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.statistics.frame_statistics import percentile_frame_time_ns
from inspector.formats.drawing.display_list import (
    Anchor,
    Box,
    Group,
    Item,
    Point,
    Polygon,
    Polyline,
    Stroke,
    Text,
)
from inspector.formats.drawing.font_metrics import text_width
from inspector.formats.frame_times import FrameTimes, NsColumn
from inspector.formats.options import GraphColors
from inspector.timebase import NS_PER_MS, format_duration
from inspector.vocabulary import Phase

SMALL_SIZE: Final = 8.0
#: Height of the strip above the plot that holds the marks of spikes.
SPIKE_STRIP_PT: Final = 20.0

_COLUMNS_PER_POINT: Final = 2
#: Instants whose columns are found at a time.
_AT_ONCE: Final = 1 << 16
_DOTTED_FRAMES: Final = 80
_CROWDED_FRAMES: Final = 10
#: With fewer frames the 99th percentile is the maximum itself.
_FRAMES_FOR_P99: Final = 100
_LABELLED_SPIKES: Final = 6
_SPIKE_SPACING_PT: Final = 5.0
#: Distance of the labels of spikes from the axis, which their halo would cover.
_HALO_PT: Final = 3.0


@dataclass(frozen=True, slots=True)
class Scale:
    """Positions of instants and durations in the plot.

    Attributes:
        box: The plot area.
        low: Instant (or frame number) at the left edge.
        high: Instant (or frame number) at the right edge.
        top_ns: Duration at the upper edge; the lower edge is zero.
    """

    box: Box
    low: float
    high: float
    top_ns: float

    def x(self, at: float) -> float:
        """Return the x of an instant, in points."""
        return self.box.x + (at - self.low) / (self.high - self.low) * self.box.width

    def y(self, duration_ns: float) -> float:
        """Return the y of a duration, in points."""
        return self.box.bottom - duration_ns / self.top_ns * self.box.height

    def points(
        self, at: NDArray[np.float64], durations_ns: NDArray[np.float64]
    ) -> tuple[Point, ...]:
        """Return places rounded to a hundredth of a point.

        What is beyond the range ends at its edge. So nothing has to be clipped,
        which many programs that show SVG cannot do.
        """
        shown_ns = np.minimum(durations_ns, self.top_ns)
        xs = np.round(self.box.x + (at - self.low) / (self.high - self.low) * self.box.width, 2)
        ys = np.round(self.box.bottom - shown_ns / self.top_ns * self.box.height, 2)
        return tuple(map(Point, xs.tolist(), ys.tolist()))


@dataclass(frozen=True, slots=True, eq=False)
class PlotData:
    """What is plotted.

    Attributes:
        at: Place of each frame on the horizontal axis: session time, or the frame
            number when session time stood still.
        is_by_number: Whether ``at`` holds frame numbers.
        measured_ns: The measured time of each frame.
        layers: Phases from the bottom up: name, colour, time of each frame. Empty
            when phases are not drawn.
        total_ns: Sum of the layers of each frame; empty without layers.
        highest_ns: The measured time or the sum of the layers, whichever is larger.
    """

    at: NsColumn
    is_by_number: bool
    measured_ns: NsColumn
    layers: tuple[tuple[str, str, NsColumn], ...]
    total_ns: NsColumn
    highest_ns: NsColumn

    @property
    def has_line(self) -> bool:
        """Whether the measured time is drawn: not where it is the edge of the layers."""
        return not self.layers or bool((self.measured_ns != self.total_ns).any())


def plot_data(frames: FrameTimes, measured_ns: NsColumn, colors: GraphColors | None) -> PlotData:
    """Return what is plotted of ``frames``.

    Args:
        colors: Colours of stacked phases; none to plot the line alone.
    """
    is_by_number = len(frames) > 1 and bool(frames.at_ns[0] == frames.at_ns[-1])
    layers = _layers(frames, colors) if colors is not None else ()
    total_ns = np.zeros(len(frames) if layers else 0, dtype=np.int64)
    for _name, _color, layer in layers:
        total_ns += layer
    return PlotData(
        at=frames.index if is_by_number else frames.at_ns,
        is_by_number=is_by_number,
        measured_ns=measured_ns,
        layers=layers,
        total_ns=total_ns,
        highest_ns=np.maximum(measured_ns, total_ns) if layers else measured_ns,
    )


def _layers(frames: FrameTimes, colors: GraphColors) -> tuple[tuple[str, str, NsColumn], ...]:
    taken = ((phase, frames.phase(phase)) for phase in Phase)
    layers = [
        (phase.text, colors.phases[phase], took_ns) for phase, took_ns in taken if took_ns.any()
    ]
    if not layers:
        return ()
    rest_ns = np.maximum(frames.busy_ns - sum(took_ns for _name, _color, took_ns in layers), 0)
    if rest_ns.any():
        layers.append(("other work", colors.other_work, rest_ns))
    return tuple(layers)


def top_of_range_ns(highest_ns: NsColumn, budgets_ms: tuple[float, ...]) -> float:
    """Return the duration at the upper edge of the plot.

    So that a few spikes do not flatten everything else, the range ends at 1.2 times the 99th
    percentile if the largest time is far from it (the 90th of fewer than a hundred frames, where
    the 99th is the maximum). It includes the next budget, unless that is far away.
    """
    top_ns = 0.0
    if len(highest_ns):
        largest_ns = int(highest_ns.max())
        usual_ns = percentile_frame_time_ns(
            highest_ns, 99 if len(highest_ns) >= _FRAMES_FOR_P99 else 90
        )
        is_spiky = 0 < 1.5 * usual_ns < largest_ns
        top_ns = 1.2 * usual_ns if is_spiky else 1.06 * largest_ns
    above_ns = [ms * NS_PER_MS for ms in budgets_ms if ms * NS_PER_MS > top_ns]
    nearest_ns = min(above_ns, default=math.inf)
    if nearest_ns <= 2.5 * top_ns or (top_ns == 0 and above_ns):
        return 1.08 * nearest_ns
    return top_ns if top_ns > 0 else float(NS_PER_MS)


def range_of(data: PlotData) -> tuple[float, float]:
    """Return the instants at the left and right edge of the plot."""
    if not len(data.at):
        return 0.0, 1e9
    low, high = float(data.at[0]), float(data.at[-1])
    if len(data.at) == 1:
        room = max(float(data.measured_ns[0]), NS_PER_MS)
    elif len(data.at) <= _DOTTED_FRAMES:
        room = (high - low) / (len(data.at) - 1) / 2
    elif 0 < low < (high - low) / 50:
        return 0.0, high
    else:
        room = 0.0
    return low - room, high + room


def crowded_frames(data: PlotData, width: float) -> int:
    """Return how many frames share a point of ``width``, or 0 when few enough to be seen.

    If many do, the line shows their extremes only, and a second line their medians.
    """
    shared = len(data.at) / max(width, 1.0)
    return round(shared) if shared >= _CROWDED_FRAMES and not data.layers else 0


def plot_group(data: PlotData, scale: Scale, colors: GraphColors) -> Group:
    items: list[Item] = []
    if data.layers:
        items += _stacked_areas(data, scale)
    if not data.has_line:
        return Group("frames", tuple(items))
    color = colors.outline if data.layers else colors.line
    is_crowded = crowded_frames(data, scale.box.width) > 0
    if len(data.at) > 1:
        kept = _line_positions(data, scale)
        places = scale.points(as_floats(data.at[kept]), as_floats(data.measured_ns[kept]))
        stroke = Stroke(colors.extremes if is_crowded else color, 0.7 if is_crowded else 0.9)
        items.append(Polyline(places, stroke))
    if is_crowded:
        items.append(Polyline(_median_points(data, scale), Stroke(colors.median, 0.9)))
    if len(data.at) <= _DOTTED_FRAMES:
        reach = 3.0 if len(data.at) == 1 else 2.0
        places = scale.points(as_floats(data.at), as_floats(data.measured_ns))
        items += [_diamond(place, reach, color) for place in places]
    return Group("frames", tuple(items))


def as_floats(column: NsColumn) -> NDArray[np.float64]:
    """Return whole nanoseconds as floats, for positions in a picture."""
    return column.astype(np.float64)


def _median_points(data: PlotData, scale: Scale) -> tuple[Point, ...]:
    """Return the median of the frames in each column of one point."""
    column_count = math.ceil(scale.box.width)
    columns = columns_of(data.at, int(scale.low), int(scale.high), column_count)
    starts = np.flatnonzero(np.diff(columns, prepend=-1))
    pieces = np.split(data.measured_ns, starts[1:])
    medians_ns = np.array(
        [percentile_frame_time_ns(piece, 50) for piece in pieces], dtype=np.float64
    )
    width = (scale.high - scale.low) / column_count
    centers = columns[starts].astype(np.float64) + 0.5
    return scale.points(scale.low + centers * width, medians_ns)


def _line_positions(data: PlotData, scale: Scale) -> NDArray[np.int64]:
    """Return the frames of the line: all, or two of each column."""
    column_count = math.ceil(scale.box.width * _COLUMNS_PER_POINT)
    if len(data.at) <= 2 * column_count:
        return np.arange(len(data.at))
    columns = columns_of(data.at, int(scale.low), int(scale.high), column_count)
    return kept_extremes(data.measured_ns, columns)


def _stacked_areas(data: PlotData, scale: Scale) -> list[Polygon]:
    """Return one area per layer, from the back (all layers) to the front (the lowest).

    Where several frames share a column, the one with the largest sum is shown with its own
    phases, so that areas never mix frames.
    """
    column_count = math.ceil(scale.box.width)
    if len(data.at) > column_count:
        columns = columns_of(data.at, int(scale.low), int(scale.high), column_count)
        kept = kept_maxima(data.total_ns, columns)
    else:
        kept = np.arange(len(data.at))
    centers = as_floats(data.at[kept])
    middles = (centers[:-1] + centers[1:]) / 2
    if len(centers) > 1:
        first, last = 2 * centers[0] - middles[0], 2 * centers[-1] - middles[-1]
    else:
        first, last = np.array([0.7, 0.3]) * scale.low + np.array([0.3, 0.7]) * scale.high
    lefts = np.clip(np.concatenate(([first], middles)), scale.low, scale.high)
    rights = np.clip(np.concatenate((middles, [last])), scale.low, scale.high)
    edges = np.column_stack((lefts, rights)).ravel()
    sums_ns = np.cumsum([layer[kept] for _name, _color, layer in data.layers], axis=0)
    areas = []
    for (_name, color, _layer), sum_ns in zip(data.layers, sums_ns, strict=True):
        roof = scale.points(edges, np.repeat(as_floats(sum_ns), 2))
        floor_y = round(scale.box.bottom, 2)
        base = (Point(roof[-1].x, floor_y), Point(roof[0].x, floor_y))
        areas.append(Polygon((*roof, *base), color))
    return areas[::-1]


def _diamond(place: Point, reach: float, color: str) -> Polygon:
    x, y = place
    corners = ((x, y - reach), (x + reach, y), (x, y + reach), (x - reach, y))
    return Polygon(tuple(Point(round(cx, 2), round(cy, 2)) for cx, cy in corners), color)


def spike_group(
    data: PlotData, scale: Scale, colors: GraphColors, *, is_inside: bool = False
) -> Group:
    """Return marks for frames beyond the range, the largest with their times.

    Args:
        is_inside: Whether the marks are at the upper edge of the plot, or else above it.
    """
    base_y = scale.box.y + (7 if is_inside else -1)
    label_y = base_y + (8 if is_inside else -9)
    beyond = np.flatnonzero(data.highest_ns > scale.top_ns)
    if not len(beyond):
        return Group("spikes", ())
    columns = columns_of(
        data.at[beyond],
        int(scale.low),
        int(scale.high),
        max(1, int(scale.box.width / _SPIKE_SPACING_PT)),
    )
    kept = beyond[kept_maxima(data.highest_ns[beyond], columns)]
    by_size = sorted(kept.tolist(), key=lambda frame: (-int(data.highest_ns[frame]), frame))
    marks: list[Item] = [
        spike_mark(scale.x(float(data.at[frame])), base_y, colors) for frame in kept
    ]
    taken: list[tuple[float, float]] = []
    for frame in by_size:
        label = format_duration(int(data.highest_ns[frame]))
        half = text_width(label, SMALL_SIZE) / 2
        x = scale.x(float(data.at[frame]))
        edge = half + (_HALO_PT if is_inside else 0)
        x = min(max(x, scale.box.x + edge), scale.box.right - edge)
        if len(taken) < _LABELLED_SPIKES and all(
            x + half + 6 < left or x - half - 6 > right for left, right in taken
        ):
            taken.append((x - half, x + half))
            at = Point(round(x, 2), round(label_y, 2))
            halo = colors.background
            marks.append(Text(at, label, SMALL_SIZE, colors.text, Anchor.MIDDLE, halo=halo))
    return Group("spikes", tuple(marks))


def spike_mark(x: float, base_y: float, colors: GraphColors) -> Polygon:
    corners = ((x - 2.6, base_y), (x, base_y - 6), (x + 2.6, base_y))
    return Polygon(tuple(Point(round(cx, 2), round(cy, 2)) for cx, cy in corners), colors.spike)


def level_line(scale: Scale, duration_ns: float, stroke: Stroke) -> Polyline:
    y = crisp(scale.y(duration_ns))
    return Polyline((Point(scale.box.x, y), Point(round(scale.box.right, 2), y)), stroke)


def crisp(place: float) -> float:
    """Return where a half-point line fills whole pixels at two pixels per point."""
    return math.floor(place * 2) / 2 + 0.25


def columns_of(at_ns: NsColumn, low_ns: int, high_ns: int, count: int) -> NDArray[np.int32]:
    """Return the column of each instant, of ``count`` equal ones from ``low_ns`` to ``high_ns``."""
    found = np.zeros(len(at_ns), dtype=np.int32)
    if high_ns <= low_ns:
        return found
    # In pieces, as the numbers on the way take five times the room of the instants.
    for start in range(0, len(at_ns), _AT_ONCE):
        piece = slice(start, start + _AT_ONCE)
        places = (at_ns[piece] - low_ns).astype(np.float64) * (count / (high_ns - low_ns))
        found[piece] = np.clip(places.astype(np.int64), 0, count - 1)
    return found


def kept_extremes(values: NsColumn, columns: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the indexes of the lowest and highest value of every column, ascending.

    Every kept value is one of the given ones: nothing is averaged.

    Args:
        values: Any values.
        columns: The column of each value, never descending.
    """
    return np.union1d(_kept(values, columns, np.minimum), kept_maxima(values, columns))


def kept_maxima(values: NsColumn, columns: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the index of the first highest value of every column, ascending."""
    return _kept(values, columns, np.maximum)


def _kept(values: NsColumn, columns: NDArray[np.int32], extreme: np.ufunc) -> NDArray[np.int64]:
    if not len(values):
        return np.zeros(0, dtype=np.int64)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(columns)) + 1))
    sizes = np.diff(np.append(starts, len(values)))
    hits = np.flatnonzero(values == np.repeat(extreme.reduceat(values, starts), sizes))
    _columns, first = np.unique(columns[hits], return_index=True)
    return hits[first]
