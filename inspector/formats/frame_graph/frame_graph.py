"""The frame-time graph: frame times and options in, a display list out."""

import math
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

import numpy as np

from inspector.analysis.intervention_list import Intervention
from inspector.analysis.landmarks import Landmark
from inspector.analysis.statistics.frame_statistics import percentile_frame_time_ns
from inspector.display_text import counted
from inspector.formats.drawing.display_list import (
    Anchor,
    Box,
    DisplayList,
    Group,
    Item,
    Point,
    Polyline,
    Rect,
    Stroke,
    Text,
)
from inspector.formats.drawing.font_metrics import plain, shortened, text_width, wrapped
from inspector.formats.drawing.ticks import Tick, Ticks, count_ticks, duration_ticks, instant_ticks
from inspector.formats.frame_graph.budget_lines import budget_group, budget_texts
from inspector.formats.frame_graph.frame_plot import (
    SMALL_SIZE,
    SPIKE_STRIP_PT,
    PlotData,
    Scale,
    crisp,
    crowded_frames,
    level_line,
    plot_data,
    plot_group,
    range_of,
    shares_columns,
    spike_group,
    spike_mark,
    top_of_range_ns,
)
from inspector.formats.frame_graph.intervention_marks import (
    MARK_STRIP_PT,
    MOST_LISTED,
    mark_group,
    note_group,
    sign_items,
)
from inspector.formats.frame_graph.landmark_marks import (
    LandmarkStrip,
    band_group,
    laid_out,
    landmark_group,
    landmark_legend,
    landmark_sign,
    merged_marks,
    most_rows,
    tallest,
)
from inspector.formats.frame_times import FrameTimes, NsColumn, Provenance
from inspector.formats.options import GRAPH_COLORS, ExportOptions, GraphColors, left_out_text
from inspector.timebase import NS_PER_MS, format_duration
from inspector.vocabulary import Measure

MEASURE_TEXTS: Final[dict[Measure, str]] = {
    "interval": "frame interval",
    "busy": "busy time per frame",
    "delta": "frame delta",
}

_PAD: Final = 16.0
_TITLE_SIZE: Final = 14.0
_TITLE_LINE: Final = 18.0
_TEXT_SIZE: Final = 9.0
_LINE: Final = 13.0
#: With less room the provenance is left out.
_LEAST_ORIGIN: Final = 60.0


class _Swatch(Enum):
    """The sign before a text of the legend; the value is its width in points."""

    LINE = 14.0
    AREA = 8.0
    SPIKE = 7.0
    INTERVENTION = 6.5
    LANDMARK = 6.0


@dataclass(frozen=True, slots=True)
class _LegendEntry:
    swatch: _Swatch
    color: str
    text: str
    sign: Intervention | None = None
    kind: str = ""


@dataclass(frozen=True, slots=True)
class _Economy:
    """What is saved beside the plot, so that enough of the height remains for it.

    Attributes:
        is_flat: Whether title and subtitle share a line, and the two texts at the foot.
        name_rows: Number of rows of names above the plot at most.
        has_spikes_inside: Whether the marks of spikes are within the plot.
        most_listed: Number of interventions that are listed.
    """

    is_flat: bool = False
    name_rows: int = 99
    has_spikes_inside: bool = False
    most_listed: int = MOST_LISTED


#: From the most generous to the most economical: the first that leaves the plot enough is taken.
_ECONOMIES: Final = (
    _Economy(),
    _Economy(is_flat=True),
    _Economy(is_flat=True, name_rows=2),
    _Economy(is_flat=True, name_rows=2, has_spikes_inside=True),
    _Economy(is_flat=True, name_rows=1, has_spikes_inside=True),
    _Economy(is_flat=True, name_rows=1, has_spikes_inside=True, most_listed=0),
)
#: Share of the height that the plot has at least, where the picture is not too small for that.
LEAST_PLOT_SHARE: Final = 0.55


def frame_graph(frames: FrameTimes, provenance: Provenance, options: ExportOptions) -> DisplayList:
    graph, _lists_all = laid_out_graph(frames, provenance, options)
    return graph


def laid_out_graph(
    frames: FrameTimes,
    provenance: Provenance,
    options: ExportOptions,
    *,
    most_listed: int = MOST_LISTED,
) -> tuple[DisplayList, bool]:
    """Return the frame-time graph, and whether it lists all interventions.

    Args:
        most_listed: Number of interventions that are listed at most; 0 if they are elsewhere.
    """
    graph = _Graph(frames, provenance, options, has_list=most_listed > 0)
    for economy in _ECONOMIES:
        layout = graph.laid_out(replace(economy, most_listed=min(economy.most_listed, most_listed)))
        if layout.scale.box.height >= LEAST_PLOT_SHARE * options.height_pt:
            break
    return graph.drawn(layout), layout.lists_all


@dataclass(frozen=True, slots=True)
class _Layout:
    """The places of everything in the picture."""

    header: "_Band"
    legend: "_Band"
    footer: "_Band"
    notes: Group
    lists_all: bool
    ticks: Ticks
    scale: Scale
    strip: LandmarkStrip
    has_spikes_inside: bool


class _Graph:
    """The contents of a graph, which are laid out with more or less room."""

    def __init__(
        self, frames: FrameTimes, provenance: Provenance, options: ExportOptions, *, has_list: bool
    ) -> None:
        self._frames = frames
        self._has_list = has_list
        self._provenance = provenance
        self._options = options
        self._colors = colors = GRAPH_COLORS[options.theme]
        self._data = plot_data(frames, options.measure, colors if options.stacked else None)
        self._top_ns = top_ns = top_of_range_ns(self._data.highest_ns, options.budgets_ms)
        self._budgets_ms = sorted(
            {budget for budget in options.budgets_ms if budget * NS_PER_MS <= top_ns}
        )
        counted, left_out = options.counted(frames)
        counted_ns = counted.measured(options.measure)
        self._budget_labels = [
            budget_texts(budget, counted_ns[:0] if frames.samples else counted_ns)
            for budget in self._budgets_ms
        ]
        self._title = plain(options.title) or plain(provenance.scene) or "Frame times"
        self._interventions = frames.interventions if options.interventions else ()
        self._landmarks = merged_marks(frames.landmarks) if options.landmarks else ()
        summary = _summary(counted_ns, frames.samples)
        self._summary = " · ".join(filter(None, (summary, left_out_text(left_out))))
        label_width = max(
            (text_width(text, SMALL_SIZE) for texts in self._budget_labels for text in texts),
            default=0.0,
        )
        room = label_width + 8 if self._budgets_ms else 4
        self._right = right = crisp(options.width_pt - _PAD - room)
        # The width of the plot depends on its ticks, they on its height, and that on the legend,
        # for which the widest ticks are assumed.
        entries = _legend_entries(self._data, top_ns, right - _PAD - 50, options.measure, colors)
        entries += _signs_explained(self._interventions, colors)
        entries += [
            _LegendEntry(_Swatch.LANDMARK, colors.landmark, text, kind=kind)
            for kind, text in landmark_legend(self._landmarks)
        ]
        self._entries = entries
        self._has_spikes = bool((self._data.highest_ns > top_ns).any())

    def laid_out(self, economy: _Economy) -> _Layout:
        options, colors, data = self._options, self._colors, self._data
        subtitle = _subtitle(self._frames, options.measure)
        header = _header(self._title, subtitle, options.width_pt, colors, is_flat=economy.is_flat)
        legend = _legend(self._entries, header.bottom, options.width_pt, colors)
        footer = _footer(self._summary, self._provenance, options, colors, is_flat=economy.is_flat)
        notes, notes_top, lists_all = note_group(
            self._interventions, footer.top, options, colors, economy.most_listed
        )
        marks = MARK_STRIP_PT if self._interventions else 0.0
        is_above = self._has_spikes and not economy.has_spikes_inside
        above = marks + (SPIKE_STRIP_PT if is_above else 6)
        bottom = crisp(notes_top - 38)
        rows = min(economy.name_rows, most_rows(options))
        # Likewise, the rows of bookmark names depend on the width.
        least = crisp(legend.bottom + 6 + tallest(self._landmarks, rows) + above)
        ticks = duration_ticks(self._top_ns, max(2, int((bottom - least) / 30)))
        tick_width = max(text_width(tick.label, SMALL_SIZE) for tick in ticks.ticks)
        left = crisp(_PAD + _LINE + tick_width + 8)
        width = self._right - left
        low, high = range_of(data)
        across = Scale(Box(left, least, width, bottom - least), low, high, self._top_ns)
        strip = laid_out(self._landmarks, data, across, rows)
        top = crisp(legend.bottom + 6 + strip.height + above)
        scale = Scale(Box(left, top, width, bottom - top), low, high, self._top_ns)
        if strip.unnamed or not lists_all:
            parts = [self._summary, strip.unnamed_text if strip.unnamed else ""]
            parts += [] if lists_all or not self._has_list else ["all interventions on page 2"]
            summary = " · ".join(filter(None, parts))
            footer = _footer(summary, self._provenance, options, colors, is_flat=economy.is_flat)
        return _Layout(
            *(header, legend, footer, notes, lists_all, ticks, scale, strip),
            has_spikes_inside=economy.has_spikes_inside,
        )

    def drawn(self, layout: _Layout) -> DisplayList:
        options, colors, data, scale = self._options, self._colors, self._data, layout.scale
        box, provenance = scale.box, self._provenance
        items: list[Item] = [layout.header.group, layout.legend.group]
        if self._landmarks:
            items.append(band_group(layout.strip, scale, colors))
        items += [
            _grid(layout.ticks, scale, colors),
            plot_group(data, scale, colors),
            budget_group(self._budgets_ms, self._budget_labels, scale, colors),
        ]
        foot_y = layout.legend.bottom + 6 + layout.strip.height
        if self._interventions:
            base_y = foot_y + MARK_STRIP_PT
            items.append(mark_group(self._interventions, data, scale, base_y, colors))
        if self._landmarks:
            items.append(landmark_group(layout.strip, scale, foot_y, colors))
        items += [
            spike_group(data, scale, colors, is_inside=layout.has_spikes_inside),
            _value_axis(layout.ticks, scale, options.measure, colors),
            _time_axis(data, scale, provenance.time_name, colors),
        ]
        if not len(self._frames):
            middle = Point(box.x + box.width / 2, box.y + box.height / 2)
            text = "No frames in this range"
            items.append(Text(middle, text, _TEXT_SIZE, colors.muted_text, Anchor.MIDDLE))
        if self._interventions:
            items.append(layout.notes)
        return DisplayList(
            width=options.width_pt,
            height=options.height_pt,
            background=colors.background,
            items=(*items, layout.footer.group),
            title=self._title,
            description=self._description(),
            created=provenance.created,
            software=f"Timeline Inspector {provenance.version}".strip(),
        )

    def _description(self) -> str:
        marks = self._frames.landmarks if self._options.landmarks else ()
        return _description(
            *(self._data, self._options.measure, self._top_ns),
            *(self._interventions, self._frames.samples),
        ) + _landmarks_described(marks)


@dataclass(frozen=True, slots=True)
class _Band:
    """A group across the picture, with its top and bottom."""

    group: Group
    top: float
    bottom: float


def _header(
    title: str, subtitle: str, width: float, colors: GraphColors, *, is_flat: bool
) -> _Band:
    room = width - 2 * _PAD
    y = _PAD + 10
    items: list[Item] = []
    title_width = text_width(title, _TITLE_SIZE, is_bold=True)
    if is_flat and title_width + _PAD + text_width(subtitle, _TEXT_SIZE) <= room:
        at = Point(width - _PAD, y)
        items.append(Text(Point(_PAD, y), title, _TITLE_SIZE, colors.text, is_bold=True))
        items.append(Text(at, subtitle, _TEXT_SIZE, colors.muted_text, Anchor.END))
        return _Band(Group("title", tuple(items)), _PAD, y + 4)
    for line in wrapped(title, room, _TITLE_SIZE, lines=1 if is_flat else 2, is_bold=True):
        items.append(Text(Point(_PAD, y), line, _TITLE_SIZE, colors.text, is_bold=True))
        y += _TITLE_LINE
    y -= _TITLE_LINE - 16
    text = shortened(subtitle, room, _TEXT_SIZE)
    items.append(Text(Point(_PAD, y), text, _TEXT_SIZE, colors.muted_text))
    return _Band(Group("title", tuple(items)), _PAD, y + 4)


def _subtitle(frames: FrameTimes, measure: Measure) -> str:
    name = MEASURE_TEXTS[measure].capitalize()
    if not len(frames):
        return name
    first, last = int(frames.index[0]), int(frames.index[-1])
    if first == last:
        return f"{name}, frame {first:,}"
    span_ns = int(frames.at_ns[-1] - frames.at_ns[0])
    return f"{name}, frames {first:,} to {last:,}, {format_duration(span_ns)}"


def _legend_entries(
    data: PlotData, top_ns: float, width: float, measure: Measure, colors: GraphColors
) -> list[_LegendEntry]:
    color = colors.outline if data.layers else colors.line
    entries: list[_LegendEntry] = []
    if crowd := crowded_frames(data, width):
        text = f"{MEASURE_TEXTS[measure]}, lowest and highest"
        entries.append(_LegendEntry(_Swatch.LINE, colors.extremes, text))
        text = f"median of about {crowd:,} frames"
        entries.append(_LegendEntry(_Swatch.LINE, colors.median, text))
    elif data.has_line:
        swatch = _Swatch.LINE if data.layers else _Swatch.AREA
        entries.append(_LegendEntry(swatch, color, MEASURE_TEXTS[measure]))
        if shares_columns(data, width) and not data.layers:
            entries.append(_LegendEntry(swatch, colors.extremes, "longest of a column"))
    entries += [_LegendEntry(_Swatch.AREA, color, name) for name, color, _layer in data.layers]
    beyond = data.highest_ns[data.highest_ns > top_ns]
    if len(beyond):
        frames = counted(len(beyond), "frame")
        largest = format_duration(int(beyond.max()))
        text = f"{frames} above this range" + (f", largest {largest}" if len(beyond) > 1 else "")
        entries.append(_LegendEntry(_Swatch.SPIKE, colors.spike, text))
    return entries


def _signs_explained(
    interventions: tuple[Intervention, ...], colors: GraphColors
) -> list[_LegendEntry]:
    found: list[_LegendEntry] = []
    for is_hit, text in ((False, "intervention"), (True, "breakpoint hit")):
        sign = next((each for each in interventions if each.is_hit == is_hit), None)
        if sign is not None:
            sign = replace(sign, refusal="")
            found.append(_LegendEntry(_Swatch.INTERVENTION, colors.intervention, text, sign))
    return found


def _legend(entries: list[_LegendEntry], top: float, width: float, colors: GraphColors) -> _Band:
    items: list[Item] = []
    x, y = _PAD, top + _LINE
    for entry in entries:
        text_x = entry.swatch.value + 5
        text = shortened(entry.text, width - 2 * _PAD - text_x, SMALL_SIZE)
        entry_width = text_x + text_width(text, SMALL_SIZE)
        if x > _PAD and x + entry_width > width - _PAD:
            x, y = _PAD, y + _LINE
        match entry.swatch:
            case _Swatch.LINE:
                ends = (Point(round(x, 2), y - 3), Point(round(x + 14, 2), y - 3))
                items.append(Polyline(ends, Stroke(entry.color, 1.5)))
            case _Swatch.AREA:
                items.append(Rect(Box(round(x, 2), y - 7, 8, 8), entry.color))
            case _Swatch.SPIKE:
                items.append(spike_mark(x + 3, y, colors))
            case _Swatch.INTERVENTION if entry.sign is not None:
                items += sign_items(entry.sign, x + 3, y, colors)
            case _Swatch.LANDMARK:
                items += landmark_sign(entry.kind, x + 1.5, y, colors)
            case _:
                pass
        items.append(Text(Point(round(x + text_x, 2), y), text, SMALL_SIZE, colors.text))
        x += entry_width + 16
    return _Band(Group("legend", tuple(items)), top, y + 4)


def _grid(ticks: Ticks, scale: Scale, colors: GraphColors) -> Group:
    return Group(
        "grid",
        tuple(
            level_line(scale, tick.value_ns, Stroke(colors.grid, 0.5))
            for tick in ticks.ticks
            if tick.value_ns > 0
        ),
    )


def _value_axis(ticks: Ticks, scale: Scale, measure: Measure, colors: GraphColors) -> Group:
    box = scale.box
    stroke = Stroke(colors.axis, 0.5)
    items: list[Item] = [Polyline((Point(box.x, box.y), Point(box.x, box.bottom)), stroke)]
    for tick in ticks.ticks:
        y = crisp(scale.y(tick.value_ns))
        items.append(Polyline((Point(box.x - 3, y), Point(box.x, y)), stroke))
        at = Point(box.x - 6, round(y + 2.9, 2))
        items.append(Text(at, tick.label, SMALL_SIZE, colors.muted_text, Anchor.END))
    name = f"{MEASURE_TEXTS[measure]} ({ticks.unit})"
    at = Point(_PAD + 7, round(box.y + box.height / 2, 2))
    items.append(Text(at, name, _TEXT_SIZE, colors.text, Anchor.MIDDLE, is_upright=True))
    return Group("value axis", tuple(items))


def _time_ticks(data: PlotData, scale: Scale, time: str) -> tuple[tuple[Tick, ...], str]:
    """Return as many ticks as there is room for labels, and the name of the axis."""
    if not len(data.at):
        return (), time
    count = max(2, int(scale.box.width / 72))
    while True:
        if data.is_by_number:
            ticks = count_ticks(math.ceil(scale.low), math.floor(scale.high), count)
            name = "frame"
        else:
            axis = instant_ticks(scale.low, scale.high, count)
            ticks, name = axis.ticks, f"{time} ({axis.unit})"
        widest = max((text_width(tick.label, SMALL_SIZE) for tick in ticks), default=0.0)
        if (
            count <= 1
            or len(ticks) <= 1
            or (widest + 8 <= scale.x(ticks[1].value_ns) - scale.x(ticks[0].value_ns))
        ):
            return ticks, name
        count //= 2


def _time_axis(data: PlotData, scale: Scale, time: str, colors: GraphColors) -> Group:
    box = scale.box
    stroke = Stroke(colors.axis, 0.5)
    ticks, name = _time_ticks(data, scale, time)
    items: list[Item] = [Polyline((Point(box.x, box.bottom), Point(box.right, box.bottom)), stroke)]
    for tick in ticks:
        x = crisp(scale.x(tick.value_ns))
        items.append(Polyline((Point(x, box.bottom), Point(x, box.bottom + 3)), stroke))
        half = text_width(tick.label, SMALL_SIZE) / 2
        at = Point(round(min(x, box.right + _PAD - half), 2), round(box.bottom + 12, 2))
        items.append(Text(at, tick.label, SMALL_SIZE, colors.muted_text, Anchor.MIDDLE))
    at = Point(round(box.x + box.width / 2, 2), round(box.bottom + 26, 2))
    items.append(Text(at, name, _TEXT_SIZE, colors.text, Anchor.MIDDLE))
    return Group("time axis", tuple(items))


def _footer(
    summary: str,
    provenance: Provenance,
    options: ExportOptions,
    colors: GraphColors,
    *,
    is_flat: bool,
) -> _Band:
    room = options.width_pt - 2 * _PAD
    lower = options.height_pt - _PAD + 2
    if is_flat:
        shown = shortened(summary, room, SMALL_SIZE)
        left = room - text_width(shown, SMALL_SIZE) - _PAD
        origin = provenance_text(provenance, left)
        line_y = crisp(lower - 12)
        ends = (Point(_PAD, line_y), Point(options.width_pt - _PAD, line_y))
        line = Polyline(ends, Stroke(colors.grid, 0.5))
        what = Text(Point(_PAD, lower), shown, SMALL_SIZE, colors.text)
        place = Point(options.width_pt - _PAD, lower)
        whence = Text(place, origin, SMALL_SIZE, colors.muted_text, Anchor.END)
        there = (whence,) if left > _LEAST_ORIGIN else ()
        return _Band(Group("provenance", (line, what, *there)), line_y, lower)
    upper = lower - _LINE
    line_y = crisp(upper - 12)
    ends = (Point(_PAD, line_y), Point(options.width_pt - _PAD, line_y))
    items: tuple[Item, ...] = (
        Polyline(ends, Stroke(colors.grid, 0.5)),
        Text(Point(_PAD, upper), shortened(summary, room, SMALL_SIZE), SMALL_SIZE, colors.text),
        Text(Point(_PAD, lower), provenance_text(provenance, room), SMALL_SIZE, colors.muted_text),
    )
    return _Band(Group("provenance", items), line_y, lower)


def _summary(measured_ns: NsColumn, samples: str = "") -> str:
    if not len(measured_ns):
        return "0 frames"
    if samples:
        return f"{counted(len(measured_ns), 'sample')} · {plain(samples)}"
    count = counted(len(measured_ns), "frame")
    return " · ".join(
        (
            count,
            f"median {format_duration(percentile_frame_time_ns(measured_ns, 50))}",
            f"P99 {format_duration(percentile_frame_time_ns(measured_ns, 99))}",
            f"max {format_duration(int(measured_ns.max()))}",
        )
    )


def provenance_text(provenance: Provenance, room: float, *more: str) -> str:
    """Return where frames come from, as the footer of a picture.

    Args:
        room: Width in points. Where it is too little, the frame rate, the program and the time
            source are left out, in this order; a note that is too long is cut.
        more: What else is to be said.
    """
    rate = provenance.frame_rate
    scene = shortened(plain(provenance.scene), room / 2, SMALL_SIZE)
    created = provenance.created_text
    program = f"Timeline Inspector {provenance.version}".strip()
    target = f"target {float(rate):g} fps" if rate is not None else ""
    source = plain(provenance.source)
    said = [each for each in (scene, created, program, source, target) if each]
    for least in (target, program, source):
        if text_width(" · ".join(said), SMALL_SIZE) > room and least in said:
            said.remove(least)
    said += filter(None, (plain(provenance.note), *map(plain, more)))
    return shortened(" · ".join(said), max(room, 0), SMALL_SIZE)


def _description(
    data: PlotData,
    measure: Measure,
    top_ns: float,
    interventions: tuple[Intervention, ...],
    samples: str,
) -> str:
    text = f"{MEASURE_TEXTS[measure].capitalize()}: {_summary(data.measured_ns, samples)}."
    beyond = int(np.count_nonzero(data.highest_ns > top_ns))
    if beyond:
        text += f" Above {format_duration(round(top_ns))} and marked: {beyond:,}."
    if interventions:
        text += f" Interventions, marked with numbers: {len(interventions):,}."
    return text


def _landmarks_described(landmarks: tuple[Landmark, ...]) -> str:
    if not landmarks:
        return ""
    return f" Bookmarks, notes, ranges and marks above the plot: {len(landmarks):,}."
