"""From frames to rectangles: the bars of a frame-time plot, in whole pixels.

Nothing here paints. A column with several frames has a strong bar up to their mean, and a faint one
from there to the slowest, with a cap; so neither a spike nor the usual frame hides the other. Its
colour is that of the slowest.
Of an interval, the inspector's share is outlined and empty.
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple
from numpy.typing import NDArray

from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.analysis.statistics.frame_statistics import percentile_frame_time_ns
from inspector.formats.arrangement.fills import (
    AnyFill,
    Fill,
    PhaseFill,
    Severity,
    SeverityFill,
    Tone,
)
from inspector.formats.arrangement.frame_series import FrameBar, FrameColumns, FrameSeries
from inspector.formats.drawing.pixel_rects import PixelRects, edge_rects, pixel_rects
from inspector.formats.drawing.ticks import Tick, Ticks, duration_ticks
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import Measure, Phase, Share

Pixels = NDArray[np.int64]
#: A row of PixelRects.
_Rect: TypeAlias = tuple[int, int, int, int]
#: A bar at least this wide leaves a pixel of background between it and the next. The width is not
#: rounded for this: of frames 3 to 4 pixels wide, only those drawn with 4 pixels would have a gap
#: after them, which would look like a missing frame. Of 4 pixels all have one, though their times
#: are rounded to nanoseconds.
_GAP_FROM: Final = 3.99
#: In bars at least this wide the inspector's share is outlined; in others it has an upper edge.
_OUTLINED_FROM: Final = 3
#: Width of the strong edge of a tinted bar, and size of a tooth of the zigzag where bars are cut.
_EDGE: Final = 3
_TOOTH: Final = 4
#: Pixels below the upper edge of the plot at which longer bars are cut off.
_CUT_AT: Final = 3
_TOP_SHRINKS_BELOW: Final = 0.55
#: Frames lower than this fraction of the plot (1/50) get a scale of round times below the budget.
_LOWEST: Final = 50
#: How many budgets high a scale may be; also ten times, a hundred times these and so on.
SCALE_MULTIPLES: Final = (1, 2, 3, 5, 8, 12)
#: The least number of budgets of a scale in sessions, and in captures.
USUAL_BUDGETS: Final = 3
CAPTURE_BUDGETS: Final = 1
#: The step between ticks in budgets, by how many budgets high the scale is.
_STEPS: Final = dict(zip(SCALE_MULTIPLES, (0.25, 0.5, 1, 1, 2, 3), strict=True))
_BETWEEN_LABELS: Final = 34
#: The percentile taken as the usual frame time, and how many frames it needs.
_USUAL: Final = ((99, 300), (95, 60), (90, 30), (80, 15))


class Spikes(Struct, frozen=True, eq=False):
    """Columns whose slowest frame exceeds the picture."""

    places: NDArray[np.int64]  # Middle of each column, in pixels, ascending
    halves: NDArray[np.int64]  # From there to its right edge
    times_ns: NDArray[np.int64]  # The time of its slowest frame

    def is_same(self, other: "Spikes") -> bool:
        return all(map(np.array_equal, astuple(self), astuple(other)))

    @classmethod
    def among(cls, lefts: Pixels, rights: Pixels, times_ns: NDArray[np.int64]) -> "Spikes":
        middles = (lefts + rights) // 2
        return cls(middles, rights - middles, times_ns)


NO_SPIKES: Final = Spikes(*[np.zeros(0, dtype=np.int64)] * 3)


class BarScale(Struct, frozen=True):
    height: int  # Height of the plot in pixels; bars start at its lower edge
    top_ns: int  # The time at its upper edge
    budget_ns: int  # The budget for the colours
    wide: int = 40  # Bars wider than this that are over twice the budget are tinted
    # Whether bars of several frames are strong up to the slowest, not only up to the mean
    is_by_slowest: bool = False


class Bars(Struct, frozen=True, eq=False):
    layers: tuple[tuple[AnyFill, PixelRects], ...]  # Fills with their rectangles, back to front
    spikes: Spikes  # The columns cut off at the top


def severities_of(times_ns: NDArray[np.int64], budget_ns: int) -> NDArray[np.int64]:
    """Return the :class:`Severity` of frame times as numbers.

    Both limits have the tolerance of
    :class:`~inspector.analysis.statistics.frame_budget.FrameBudget`.
    """
    return np.searchsorted(np.array(_limits_ns(budget_ns)), times_ns, side="left")


@lru_cache(maxsize=8)
def _limits_ns(budget_ns: int) -> tuple[int, int]:
    """Return the longest times that are in budget, and not over twice the budget."""
    budget = FrameBudget(budget_ns)
    return budget.longest_ns, budget.longest_missing_one_ns


def top_of_scale_ns(
    sample_ns: NDArray[np.int64], budget_ns: int, former_ns: int, least: int = USUAL_BUDGETS
) -> int:
    """Return the frame time at the upper edge of the plot: a multiple of the budget.

    It has room for 1.2 times the 99th percentile of a sample of the visible frame times, so that a
    few spikes do not flatten everything else; if that is one of the three longest frames, a lower
    percentile is taken. If frames would be too low to be seen, the edge is a round time below the
    budgets. The former edge, 0 for none, is kept while it is large enough and not much too large,
    so that the scale is steady. Otherwise it is at least ``least`` budgets, one of
    :data:`SCALE_MULTIPLES`.
    """
    wanted = 1.2 * _usual_ns(sample_ns)
    if wanted and _LOWEST * wanted < least * budget_ns:
        power = 10.0 ** math.floor(math.log10(wanted))
        return round(next(step for step in (1, 2, 5, 10) if step * power >= wanted) * power)
    is_by_budget = former_ns >= least * budget_ns and not former_ns % budget_ns
    if is_by_budget and _TOP_SHRINKS_BELOW * former_ns <= wanted <= former_ns:
        return former_ns
    power = 1
    while True:
        for multiple in SCALE_MULTIPLES:
            if multiple * power >= least and multiple * power * budget_ns >= wanted:
                return multiple * power * budget_ns
        power *= 10


def scale_ticks(top_ns: int, budget_ns: int, height: float) -> Ticks:
    """Return the ticks of a scale ``height`` pixels high, at multiples of the budget.

    A scale that is not a multiple of the budget has them at round values.
    """
    found = duration_ticks(top_ns, max(2, int(height / _BETWEEN_LABELS)))
    multiple, power = Fraction(top_ns, budget_ns), 1
    while multiple > SCALE_MULTIPLES[-1]:
        multiple, power = multiple / 10, power * 10
    step = _STEPS.get(int(multiple)) if multiple.denominator == 1 else None
    if step is None or found.unit != "ms":
        return found
    instants = [each * step * power * budget_ns for each in range(round(int(multiple) / step) + 1)]
    ticks = [Tick(each, f"{each / NS_PER_MS:.3g}") for each in instants]
    return Ticks(tuple(ticks), found.unit)


def frame_bars(
    series: FrameSeries, measure: Measure, columns: FrameColumns, scale: BarScale
) -> Bars:
    height, top_ns, budget_ns = scale.height, scale.top_ns, scale.budget_ns
    found = series.stretches(measure, columns)
    means_ns = found.sums // np.maximum(found.counts, 1)
    max_tops = _tops(found.maxima, height, top_ns)
    mean_tops = _tops(means_ns, height, top_ns)
    lefts, rights = columns.lefts, _with_gaps(columns)
    severities = severities_of(found.maxima, budget_ns)
    is_single = found.counts == 1
    inspector_ns = _inspector_ns(series, columns, is_single) if measure == "interval" else None
    if inspector_ns is not None:
        rest_ns = found.maxima - inspector_ns
        is_by_inspector = FrameBudget(budget_ns).is_over_because_of(found.maxima, inspector_ns)
        severities = np.where(is_by_inspector, Severity.IN_BUDGET, severities)
    is_range = (mean_tops - max_tops > 1) & (not scale.is_by_slowest)
    mean_tops = np.where(is_range, mean_tops, max_tops)
    bottoms = np.full(len(columns), height, dtype=np.int64)
    layers: list[tuple[AnyFill, PixelRects]] = []
    has_range = bool(is_range.any())
    for severity in _found(severities):
        some = is_range & (severities == severity) if has_range else is_range
        if has_range and some.any():
            faint = pixel_rects(lefts[some], max_tops[some], rights[some], mean_tops[some])
            cap = pixel_rects(lefts[some], max_tops[some], rights[some], max_tops[some] + 1)
            layers.append((SeverityFill(severity, Tone.FAINT), faint))
            layers.append((SeverityFill(severity, Tone.CAP), cap))
        some = severities == severity
        strong = pixel_rects(lefts[some], mean_tops[some], rights[some], bottoms[some])
        layers += _severity_layers(severity, strong, scale)
    if inspector_ns is not None:
        lower = np.where(is_single, _tops(rest_ns, height, top_ns), max_tops)
        layers += _share_layers(pixel_rects(lefts, max_tops, rights, lower))
    return _with_spikes(layers, columns, found.maxima, scale)


def _severity_layers(
    severity: Severity, rects: PixelRects, scale: BarScale
) -> list[tuple[AnyFill, PixelRects]]:
    """Return bars of one severity; the wide ones over twice the budget as a tint with an edge."""
    if severity is Severity.OVER_TWICE:
        is_wide = rects[:, 2] - rects[:, 0] >= scale.wide
        if is_wide.any():
            wide = rects[is_wide]
            edges = wide.copy()
            edges[:, 2] = edges[:, 0] + _EDGE - 1
            return [
                (SeverityFill(severity, Tone.TINT), wide),
                (SeverityFill(severity, Tone.STRONG), np.concatenate((rects[~is_wide], edges))),
            ]
    return [(SeverityFill(severity, Tone.STRONG), rects)]


def _teeth(left: int, top: int, right: int) -> PixelRects:
    """Return the zigzag at which a bar is cut off, two pixels thick."""
    xs = np.arange(left, right + 1, dtype=np.int32)
    ys = top + _TOOTH - np.abs((xs - left) % (2 * _TOOTH) - _TOOTH)
    return np.column_stack((xs, ys, xs, ys + 1)).astype(np.int32)


def _cut(
    edges: Iterable[Sequence[int]], bars: list[tuple[AnyFill, PixelRects]]
) -> list[tuple[AnyFill, PixelRects]]:
    """Return the zigzags that cut off bars extending beyond the plot, given left and right edges.

    A tinted bar has the zigzag as its upper edge, other bars have it as a gap.
    """
    tint = SeverityFill(Severity.OVER_TWICE, Tone.TINT)
    tinted = {left for fill, rects in bars if fill == tint for left in rects[:, 0].tolist()}
    gaps: list[PixelRects] = []
    teeth: list[PixelRects] = []
    for left, right in edges:
        if left not in tinted:
            gaps.append(_teeth(left, _CUT_AT, right - 1))
        else:
            teeth.append(_teeth(left, 0, right - 1))
            above = teeth[-1].copy()
            above[:, 1], above[:, 3] = 0, above[:, 1] - 1
            gaps.append(above)
    layers: list[tuple[AnyFill, PixelRects]] = []
    if gaps:
        layers.append((Fill.CUT, np.concatenate(gaps)))
    if teeth:
        layers.append((SeverityFill(Severity.OVER_TWICE, Tone.STRONG), np.concatenate(teeth)))
    return layers


def _share_layers(rects: PixelRects) -> list[tuple[AnyFill, PixelRects]]:
    """Return the inspector's share of bars: empty, with an edge."""
    is_wide = rects[:, 2] - rects[:, 0] + 1 >= _OUTLINED_FROM
    tops = rects[~is_wide]
    tops[:, 3] = tops[:, 1]
    edges = np.concatenate((edge_rects(rects[is_wide]), tops))
    return [(Fill.INSPECTOR, rects), (Fill.INSPECTOR_EDGE, edges)]


def _share_edges(rects: Iterable[_Rect]) -> list[_Rect]:
    """Return the same edges as :func:`_share_layers`, faster for a few rectangles."""
    outlines, tops = list[_Rect](), list[_Rect]()
    for left, top, right, bottom in rects:
        if right - left + 1 < _OUTLINED_FROM:
            tops.append((left, top, right, top))
        else:
            outlines += (left, top, right, top), (left, bottom, right, bottom)
            outlines += (left, top, left, bottom), (right, top, right, bottom)
    return outlines + tops


def newest_frame_bars(
    series: FrameSeries, measure: Measure, frames: Sequence[FrameBar], scale: BarScale
) -> Bars:
    """Return the bars of the newest frames, see :meth:`.FrameSeries.newest_bars`."""
    height, top_ns = scale.height, scale.top_ns
    longest_ns, twice_ns = _limits_ns(scale.budget_ns)
    first = series.end - series.first - len(frames)
    times_ns = series.history.column(f"{measure}_ns")
    shares_ns = series.history.column(Share.INSPECTOR) if measure == "interval" else None
    strong: dict[Severity, list[_Rect]] = {}
    shares: list[_Rect] = []
    cut: list[tuple[int, int, int]] = []
    for number, (left, right, width) in enumerate(frames, first):
        time_ns = times_ns[number]
        share_ns = 0 if shares_ns is None else shares_ns[number]
        rest_ns = time_ns - share_ns
        severity = Severity.IN_BUDGET
        if time_ns > longest_ns and rest_ns > longest_ns:
            severity = Severity.OVER if time_ns <= twice_ns else Severity.OVER_TWICE
        top = height + (-height * min(max(time_ns, 0), top_ns)) // top_ns
        last = right - 1 - (width >= _GAP_FROM)
        if top < height:
            strong.setdefault(severity, []).append((left, top, last, height - 1))
        if share_ns:
            lower = height + (-height * min(max(rest_ns, 0), top_ns)) // top_ns
            if top < lower:
                shares.append((left, top, last, lower - 1))
        if time_ns > top_ns:
            cut.append((left, last + 1, time_ns))
    layers: list[tuple[AnyFill, PixelRects]] = []
    for severity in sorted(strong):
        layers += _severity_layers(severity, np.array(strong[severity], dtype=np.int32), scale)
    if shares:
        layers.append((Fill.INSPECTOR, np.array(shares, dtype=np.int32)))
        layers.append((Fill.INSPECTOR_EDGE, np.array(_share_edges(shares), dtype=np.int32)))
    if not cut:
        return Bars(tuple(layers), NO_SPIKES)
    layers += _cut((edges for *edges, _ in cut), layers)
    return Bars(tuple(layers), Spikes.among(*np.array(cut, np.int64).T))


def lasting_bar(left: int, right: int, time_ns: int, scale: BarScale) -> Bars:
    """Return the bar of a frame that is over twice its budget and has not ended."""
    height, top_ns = scale.height, scale.top_ns
    top = height + (-height * min(time_ns, top_ns)) // top_ns
    rects = np.array([(left, top, right - 1, height - 1)], dtype=np.int32)
    layers = _severity_layers(Severity.OVER_TWICE, rects, scale)
    if time_ns > top_ns:
        layers += _cut([(left, right)], layers)
    return Bars(tuple(layers), NO_SPIKES)


def _inspector_ns(
    series: FrameSeries, columns: FrameColumns, is_single: NDArray[np.bool_]
) -> NDArray[np.int64] | None:
    """Return the inspector's share of the slowest frame of each column, ``None`` for none."""
    frames = columns.edges[:-1] if is_single.all() else series.slowest("interval", columns)
    found = series.values_of(Share.INSPECTOR, frames)
    return found if found.any() else None


def _found(severities: NDArray[np.int64]) -> list[Severity]:
    """Return the severities present, in order: often a single one for a few new frames."""
    numbers = set(severities.tolist())
    return [severity for severity in Severity if severity in numbers]


def stacked_bars(
    series: FrameSeries, measure: Measure, columns: FrameColumns, scale: BarScale
) -> Bars:
    """Return bars of the phases of frames; columns with several frames show the slowest.

    Above the phases is work outside phases, then, for an interval or a delta, the waiting time of
    the loop.
    """
    height, top_ns = scale.height, scale.top_ns
    frames = series.slowest(measure, columns)
    measured_ns = series.values_of(f"{measure}_ns", frames)
    busy_ns = series.values_of("busy_ns", frames)
    lefts, rights = columns.lefts, _with_gaps(columns)
    lower_ns = np.zeros(len(columns), dtype=np.int64)
    bottoms = np.full(len(columns), height, dtype=np.int64)
    layers: list[tuple[AnyFill, PixelRects]] = []

    def put(fill: AnyFill, upper_ns: NDArray[np.int64]) -> None:
        nonlocal lower_ns, bottoms
        tops = np.minimum(_tops(upper_ns, height, top_ns), bottoms)
        layers.append((fill, pixel_rects(lefts, tops, rights, bottoms)))
        lower_ns, bottoms = upper_ns, tops

    for phase in Phase:
        put(PhaseFill(phase), lower_ns + series.values_of(phase, frames))
    put(PhaseFill(None), np.maximum(lower_ns, busy_ns))
    phases_ns = lower_ns
    if measure == "interval":
        share_ns = series.values_of(Share.INSPECTOR, frames)
        put(Fill.INSPECTOR, np.maximum(lower_ns, np.minimum(lower_ns + share_ns, measured_ns)))
    if measure != "busy":
        put(Fill.WAITING, np.maximum(lower_ns, measured_ns))
        tops = _tops(measured_ns, height, top_ns)
        layers.append((Fill.OUTLINE, pixel_rects(lefts, tops, rights, tops + 1)))
    return _with_spikes(layers, columns, np.maximum(phases_ns, measured_ns), scale)


def _usual_ns(sample_ns: NDArray[np.int64]) -> int:
    if not len(sample_ns):
        return 0
    # At least three frames must exceed it, so that a single spike does not set the scale.
    percent = next((percent for percent, least in _USUAL if len(sample_ns) >= least), 50)
    return percentile_frame_time_ns(sample_ns, percent)


def _with_spikes(
    layers: list[tuple[AnyFill, PixelRects]],
    columns: FrameColumns,
    highest_ns: NDArray[np.int64],
    scale: BarScale,
) -> Bars:
    beyond = np.flatnonzero(highest_ns > scale.top_ns)
    rights = _with_gaps(columns)[beyond]
    lefts = columns.lefts[beyond]
    cut = zip(lefts.tolist(), rights.tolist(), strict=True)
    layers += _cut(cut, layers)
    kept = tuple((fill, rects) for fill, rects in layers if len(rects))
    return Bars(kept, Spikes.among(lefts, rights, highest_ns[beyond]))


def _tops(times_ns: NDArray[np.int64], height: int, top_ns: int) -> Pixels:
    """Return the upper edge of bars; any positive time has at least a pixel."""
    # Not np.clip, which takes four times as long for a few columns.
    return height + (-height * np.minimum(np.maximum(times_ns, 0), top_ns)) // top_ns


def _with_gaps(columns: FrameColumns) -> Pixels:
    return columns.rights - (columns.widths >= _GAP_FROM)


def budget_ns_of(budget_ms: float) -> int:
    return round(budget_ms * NS_PER_MS)
