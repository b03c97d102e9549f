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
from inspector.timebase import NS_PER_MS, NS_PER_SECOND, NS_PER_US, format_duration
from inspector.vocabulary import Measure, Phase

SMALL_SIZE: Final = 8.0
#: Height of the strip above the plot that holds the marks of spikes.
SPIKE_STRIP_PT: Final = 20.0

_COLUMNS_PER_POINT: Final = 2
#: Instants whose columns are found at a time.
_AT_ONCE: Final = 1 << 16
#: Bars so wide have a gap behind them.
_WIDE_PT: Final = 2.0
_GAP_PT: Final = 0.5
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
        edges: Where the bar of each frame begins, and where the last one ends.
        measured_ns: The measured time of each frame.
        layers: Phases from the bottom up: name, colour, time of each frame. Empty
            when phases are not drawn.
        total_ns: Sum of the layers of each frame; empty without layers.
        highest_ns: The measured time or the sum of the layers, whichever is larger.
    """

    at: NsColumn
    is_by_number: bool
    edges: NDArray[np.float64]
    measured_ns: NsColumn
    layers: tuple[tuple[str, str, NsColumn], ...]
    total_ns: NsColumn
    highest_ns: NsColumn

    @property
    def has_line(self) -> bool:
        """Whether the measured time is drawn: not where it is the edge of the layers."""
        return not self.layers or bool((self.measured_ns != self.total_ns).any())


def plot_data(
    frames: FrameTimes, measure: Measure, colors: GraphColors | None, *, has_lanes: bool = False
) -> PlotData:
    """Return what is plotted of ``frames``.

    Args:
        measure: Which of their times.
        colors: Colours of stacked phases; none to plot the measured time alone.
        has_lanes: The axis is that of lanes: session time, also where it stood still.
    """
    measured_ns = frames.measured(measure)
    stood_still = len(frames) > 1 and bool(frames.at_ns[0] == frames.at_ns[-1])
    is_by_number = stood_still and not has_lanes
    layers = _layers(frames, colors) if colors is not None else ()
    total_ns = np.zeros(len(frames) if layers else 0, dtype=np.int64)
    for _name, _color, layer in layers:
        total_ns += layer
    return PlotData(
        at=frames.index if is_by_number else frames.at_ns,
        is_by_number=is_by_number,
        edges=_edges(frames, measure, is_by_number=is_by_number),
        measured_ns=measured_ns,
        layers=layers,
        total_ns=total_ns,
        highest_ns=np.maximum(measured_ns, total_ns) if layers else measured_ns,
    )


def _edges(frames: FrameTimes, measure: Measure, *, is_by_number: bool) -> NDArray[np.float64]:
    """Return where frames begin, and the last one ends, as in the window.

    An interval lies before the frame's instant, and what its callbacks take behind it.
    """
    if not len(frames):
        return np.zeros(0)
    if is_by_number:
        return np.append(as_floats(frames.index) - 0.5, float(frames.index[-1]) + 0.5)
    at = as_floats(frames.at_ns)
    if measure == "busy":
        return np.append(at, at[-1] + max(float(frames.busy_ns[-1]), NS_PER_US))
    passed_ns = min(float(frames.interval_ns[0]), NS_PER_SECOND)
    return np.insert(at, 0, min(max(at[0] - passed_ns, 0.0), at[0] - NS_PER_US))


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
    return float(data.edges[0]), float(data.edges[-1])


def crowded_frames(data: PlotData, width: float) -> int:
    """Return how many frames share a point of ``width``, or 0 when few enough to be seen.

    If many do, a line shows their extremes only, and a second line their medians.
    """
    shared = len(data.at) / max(width, 1.0)
    return round(shared) if shared >= _CROWDED_FRAMES and not data.layers else 0


def plot_group(data: PlotData, scale: Scale, colors: GraphColors) -> Group:
    items: list[Item] = []
    if data.layers:
        items += _stacked_areas(data, scale)
    if not data.has_line:
        return Group("frames", tuple(items))
    if crowded_frames(data, scale.box.width):
        kept = _line_positions(data, scale)
        places = scale.points(as_floats(data.at[kept]), as_floats(data.measured_ns[kept]))
        items.append(Polyline(places, Stroke(colors.extremes, 0.7)))
        items.append(Polyline(_median_points(data, scale), Stroke(colors.median, 0.9)))
        return Group("frames", tuple(items))
    if not len(data.at):
        return Group("frames", tuple(items))
    highest = _kept_columns(data, data.measured_ns, scale)
    if data.layers:
        roof = _roof(data, highest, data.measured_ns, scale)
        items.append(Polyline(roof, Stroke(colors.outline, 0.9)))
    elif shares_columns(data, scale.box.width):
        lowest = _kept_columns(data, -data.measured_ns, scale)
        items.append(_bars(data, highest, scale, colors.extremes))
        items.append(_bars(data, lowest, scale, colors.line))
    else:
        items.append(_bars(data, highest, scale, colors.line))
    return Group("frames", tuple(items))


def shares_columns(data: PlotData, width: float) -> bool:
    """Return whether some frames share a column, so that only their extremes are drawn."""
    return len(data.at) > math.ceil(width)


def _kept_columns(data: PlotData, values: NsColumn, scale: Scale) -> NDArray[np.int64]:
    """Return all frames, or of each column the one with the highest value."""
    if not shares_columns(data, scale.box.width):
        return np.arange(len(data.at))
    count = math.ceil(scale.box.width)
    columns = columns_of(data.at, int(scale.low), int(scale.high), count)
    # A frame that is wider than a column shares none.
    is_wide = np.diff(data.edges) * count > scale.high - scale.low
    begins = np.diff(columns, prepend=-1) > 0
    begins |= is_wide
    begins[1:] |= is_wide[:-1]
    return kept_maxima(values, np.cumsum(begins, dtype=np.int32))


def _spans(data: PlotData, kept: NDArray[np.int64], scale: Scale) -> NDArray[np.float64]:
    """Return where the bars of frames begin and end, shape (kept, 2), without gaps between.

    A column begins where the one before it ends, whichever of its frames is kept.
    """
    ends = data.edges[kept + 1]
    begins = np.concatenate((data.edges[:1], ends[:-1]))
    return np.clip(np.column_stack((begins, ends)), scale.low, scale.high)


def _roof(
    data: PlotData, kept: NDArray[np.int64], values_ns: NsColumn, scale: Scale
) -> tuple[Point, ...]:
    spans = _spans(data, kept, scale)
    return scale.points(spans.ravel(), np.repeat(as_floats(values_ns[kept]), 2))


def _bars(data: PlotData, kept: NDArray[np.int64], scale: Scale, color: str) -> Polygon:
    """Return the bars of frames as one area, with gaps between them where they are wide."""
    spans = _spans(data, kept, scale)
    per_point = (scale.high - scale.low) / scale.box.width
    wide = spans[:, 1] - spans[:, 0] >= _WIDE_PT * per_point
    spans[wide, 1] -= _GAP_PT * per_point
    heights_ns = np.zeros((len(kept), 4))
    heights_ns[:, 1:3] = as_floats(data.measured_ns[kept])[:, None]
    return Polygon(scale.points(np.repeat(spans, 2, axis=1).ravel(), heights_ns.ravel()), color)


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
    kept = _kept_columns(data, data.total_ns, scale)
    edges = _spans(data, kept, scale).ravel()
    sums_ns = np.cumsum([layer[kept] for _name, _color, layer in data.layers], axis=0)
    areas = []
    for (_name, color, _layer), sum_ns in zip(data.layers, sums_ns, strict=True):
        roof = scale.points(edges, np.repeat(as_floats(sum_ns), 2))
        floor_y = round(scale.box.bottom, 2)
        base = (Point(roof[-1].x, floor_y), Point(roof[0].x, floor_y))
        areas.append(Polygon((*roof, *base), color))
    return areas[::-1]


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
