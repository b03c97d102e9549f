"""The timeline as a picture: frame times above the lanes of clocks, timers and machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from inspector.analysis.lanes.lanes import LaneKind, LaneStore
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
from inspector.formats.drawing.font_metrics import plain, shortened, text_width
from inspector.formats.drawing.ticks import Ticks, duration_ticks, instant_ticks
from inspector.formats.frame_graph.budget_lines import budget_group, budget_texts
from inspector.formats.frame_graph.frame_graph import provenance_text
from inspector.formats.frame_graph.frame_plot import (
    SPIKE_STRIP_PT,
    PlotData,
    Scale,
    crisp,
    level_line,
    plot_data,
    plot_group,
    range_of,
    spike_group,
    top_of_range_ns,
)
from inspector.formats.frame_times import CAPTURED
from inspector.formats.options import GRAPH_COLORS, left_out_text
from inspector.formats.timeline.lane_rows import SMALL, LaneDrawing, Row, brief, rows_of
from inspector.timebase import NS_PER_MS, NS_PER_SECOND, format_duration, format_instant

if TYPE_CHECKING:
    from inspector.events.timeline import Timeline
    from inspector.formats.frame_times import FrameTimes, Provenance
    from inspector.formats.options import ExportOptions, GraphColors
    from inspector.formats.traces.session_trace import Events

#: The frames, and the events among which they are; ``None`` of files that have frames alone.
Timed: TypeAlias = "tuple[FrameTimes, Events | None]"

_PAD: Final = 16.0
_INDENT: Final = 9.0
_LINE: Final = 13.0
_TITLE: Final = 14.0
_TEXT: Final = 9.0
#: Height of the frames, at least.
_FRAMES_PT: Final = 84.0
#: Names take at most this share of the width before they are cut.
_NAMES: Final = 0.4
_SIXTIETH_NS: Final = NS_PER_SECOND / 60

_LEGEND: Final = {
    "running": "runs, as high as its rate",
    "paused": "paused",
    "stopped": "stopped by a clock above",
    "blocked": "a function blocked its loop",
    "tick": "fires",
    "late": "fires more than {late} late",
    "state": "state",
}
#: On which lanes there is what is not on those of clocks.
_KINDS: Final = {"tick": LaneKind.TIMER, "late": LaneKind.TIMER, "state": LaneKind.MACHINE}


def timeline_picture(data: Timed, provenance: Provenance, options: ExportOptions) -> DisplayList:
    """Return the picture, higher than the options say where its lanes need that."""
    return _Layout(*data, provenance, options).picture()


class _Layout:
    def __init__(
        self,
        frames: FrameTimes,
        events: Events | None,
        provenance: Provenance,
        options: ExportOptions,
    ) -> None:
        self.colors: GraphColors = GRAPH_COLORS[options.theme]
        self.frames, self.provenance, self.options = frames, provenance, options
        counted, self.left_out = options.counted(frames)
        self.counted_ns = counted.measured(options.measure)
        stacked = self.colors if options.stacked else None
        # Session time is the axis of the lanes, so it is that of the frames.
        self.data: PlotData = plot_data(frames, options.measure, stacked, has_lanes=True)
        self.low, self.high = range_of(self.data)
        self.store = LaneStore()
        self.timeline: Timeline | None = None
        self.rows: list[Row] = []
        # Marks have a lane of their own.
        self.landmarks = [
            each for each in frames.landmarks if each.kind != "mark" and options.landmarks
        ]
        if events is not None:
            self._read(events)
        if self.high <= self.low:
            self.high = self.low + NS_PER_MS

    def _read(self, events: Events) -> None:
        history = events.history
        end_ns = history.last_ns if events.end_ns is None else events.end_ns
        if len(self.frames):
            self.low = min(self.low, events.start_ns) if events.start_ns else self.low
            self.high = max(self.high, end_ns) if events.end_ns is None else self.high
        else:
            self.low, self.high = float(events.start_ns), float(end_ns)
        end = history.cursor_at(int(self.high))
        timeline = history.state_before(end)
        timeline.set_present(max(timeline.at_ns, min(int(self.high), history.last_ns)))
        start = max(history.first, history.cursor_at(int(self.low) - 1))
        if start > history.first:
            self.store.go_on_at(history, start)
        while self.store.cursor < end and self.store.read(history, timeline):
            pass
        options = self.options
        lists = {LaneKind.FAILURES}
        lists |= {LaneKind.COMMANDS, LaneKind.HITS} if options.interventions else set()
        lists |= {LaneKind.MARKS} if options.landmarks else set()
        rows = rows_of(self.store, self.low, self.high, lists)
        if self.landmarks:
            rows.insert(0, Row(LaneKind.BOOKMARKS, "Bookmarks"))
        # The clock of a capture stands for its frames.
        if any(row.clock_id == 0 or row.lane for row in rows) or self.provenance.source != CAPTURED:
            self.timeline, self.rows = timeline, rows

    # ---------------------------------------------------------------- places

    def picture(self) -> DisplayList:
        options, colors = self.options, self.colors
        top_ns = top_of_range_ns(self.data.highest_ns, options.budgets_ms)
        budgets = sorted({each for each in options.budgets_ms if each * NS_PER_MS <= top_ns})
        counted = self.counted_ns[:0] if self.frames.samples else self.counted_ns
        labels = [budget_texts(budget, counted) for budget in budgets]
        label_width = max(
            (text_width(each, SMALL) for label in labels for each in label), default=0.0
        )
        right = crisp(options.width_pt - _PAD - (label_width + 8 if budgets else 4))
        left = crisp(_PAD + self._names_width(right - _PAD) + 10)
        frames_top = _PAD + 50 + (SPIKE_STRIP_PT if (self.data.highest_ns > top_ns).any() else 6)
        lanes_height = sum(row.height for row in self.rows)
        below = 34 + (self._legend_lines() + 2) * _LINE + _PAD
        height = max(options.height_pt, frames_top + _FRAMES_PT + 8 + lanes_height + below)
        lanes_top = crisp(height - below - lanes_height)
        frames_box = Box(
            left, crisp(frames_top), right - left, crisp(lanes_top - 8) - crisp(frames_top)
        )
        scale = Scale(frames_box, self.low, self.high, top_ns)
        title = plain(options.title) or plain(self.provenance.scene) or "Timeline"
        bottom = crisp(lanes_top + lanes_height)
        groups: list[Item] = [
            self._header(title),
            self._grid(scale, bottom),
            plot_group(self.data, scale, colors),
            budget_group(budgets, labels, scale, colors),
            spike_group(self.data, scale, colors),
            self._value_axis(scale),
        ]
        late_ns = float(
            NS_PER_SECOND / (self.provenance.frame_rate or 0)
            if self.provenance.frame_rate
            else _SIXTIETH_NS
        )
        if self.timeline is not None:
            drawing = LaneDrawing(self.store, self.timeline, scale, colors, late_ns)
            groups += self._lanes(drawing, lanes_top)
            groups.append(self._legend(drawing, bottom + 34 + _LINE, late_ns))
        groups += [self._time_axis(scale, bottom), self._footer(height)]
        return DisplayList(
            options.width_pt,
            height,
            colors.background,
            tuple(groups),
            title,
            self._description(),
            self.provenance.created,
            f"Timeline Inspector {self.provenance.version}".strip(),
        )

    def _names_width(self, room: float) -> float:
        names = [
            text_width(brief(row.label), SMALL, is_bold=_is_bold(row)) + row.depth * _INDENT
            for row in self.rows
        ]
        return min(max(names, default=28.0), room * _NAMES)

    def _legend_lines(self) -> int:
        kinds = {row.kind for row in self.rows}
        texts = [each for key, each in _LEGEND.items() if _KINDS.get(key, LaneKind.CLOCK) in kinds]
        width = sum(text_width(each, SMALL) + 33 for each in texts)
        return -int(-width // (self.options.width_pt - 2 * _PAD))

    # ---------------------------------------------------------------- groups

    def _header(self, title: str) -> Group:
        room = self.options.width_pt - 2 * _PAD
        colors = self.colors
        subtitle = f"Timeline, {format_instant(int(self.low))} to {format_instant(int(self.high))}"
        if self.timeline is None:
            subtitle += ". Frames alone: the file has no clocks and timers"
        title, subtitle = (
            shortened(title, room, _TITLE, is_bold=True),
            shortened(subtitle, room, _TEXT),
        )
        heading = Text(Point(_PAD, _PAD + 10), title, _TITLE, colors.text, is_bold=True)
        below = Text(Point(_PAD, _PAD + 26), subtitle, _TEXT, colors.muted_text)
        return Group("title", (heading, below))

    def _ticks(self, scale: Scale) -> Ticks:
        count = max(2, int(scale.box.width / 48))
        while True:
            ticks = instant_ticks(scale.low, scale.high, count)
            places = [scale.x(each.value_ns) for each in ticks.ticks]
            widest = max((text_width(each.label, SMALL) for each in ticks.ticks), default=0.0)
            if count <= 1 or len(places) < 2 or widest + 8 <= places[1] - places[0]:  # noqa: PLR2004
                return ticks
            count //= 2

    def _grid(self, scale: Scale, bottom: float) -> Group:
        stroke = Stroke(self.colors.grid, 0.5)
        items: list[Item] = []
        for tick in self._ticks(scale).ticks:
            x = crisp(scale.x(tick.value_ns))
            items.append(Polyline((Point(x, scale.box.y), Point(x, bottom)), stroke))
        items += [
            level_line(scale, tick.value_ns, stroke)
            for tick in self._durations(scale).ticks
            if tick.value_ns > 0
        ]
        return Group("grid", tuple(items))

    @staticmethod
    def _durations(scale: Scale) -> Ticks:
        return duration_ticks(scale.top_ns, max(2, int(scale.box.height / 30)))

    def _value_axis(self, scale: Scale) -> Group:
        box, colors = scale.box, self.colors
        ticks = self._durations(scale)
        stroke = Stroke(colors.axis, 0.5)
        items: list[Item] = [
            Polyline((Point(box.x, box.y), Point(box.x, box.bottom)), stroke),
            Polyline((Point(box.x, box.bottom), Point(round(box.right, 2), box.bottom)), stroke),
        ]
        for tick in ticks.ticks:
            y = crisp(scale.y(tick.value_ns))
            at = Point(box.x - 5, round(y + 2.9, 2))
            items.append(Text(at, tick.label, SMALL, colors.muted_text, Anchor.END))
        name = "Frames" if len(self.frames) else "No frames"
        items.append(Text(Point(_PAD, round(box.y + 8, 2)), name, SMALL, colors.text, is_bold=True))
        items.append(Text(Point(_PAD, round(box.y + 18, 2)), ticks.unit, SMALL, colors.muted_text))
        return Group("frames axis", tuple(items))

    def _lanes(self, drawing: LaneDrawing, top: float) -> list[Item]:
        colors, found = self.colors, list[Item]()
        left, width = drawing.left, self.options.width_pt - 2 * _PAD
        for row in self.rows:
            items: list[Item] = []
            if row.kind is LaneKind.CLOCK:
                ends = (Point(_PAD, round(top, 2)), Point(round(_PAD + width, 2), round(top, 2)))
                items.append(Polyline(ends, Stroke(colors.grid, 0.5)))
            x = _PAD + row.depth * _INDENT
            is_bold = _is_bold(row)
            name = shortened(brief(row.label), left - 8 - x, SMALL, is_bold=is_bold)
            color = colors.text if row.kind is not None else colors.muted_text
            at = Point(round(x, 2), round(top + row.height / 2 + 2.9, 2))
            items.append(Text(at, name, SMALL, color, is_bold=is_bold))
            if row.kind is LaneKind.BOOKMARKS:
                items += drawing.landmarks(self.landmarks, top)
            items += drawing.row(row, top)
            found.append(Group(name, tuple(items)))
            top += row.height
        return found

    def _legend(self, drawing: LaneDrawing, y: float, late_ns: float) -> Group:
        colors, items, x = self.colors, list[Item](), _PAD
        for key, template in _LEGEND.items():
            if key not in drawing.used:
                continue
            text = template.format(late=format_duration(round(late_ns)))
            width = text_width(text, SMALL) + 19
            if x > _PAD and x + width > self.options.width_pt - _PAD:
                x, y = _PAD, y + _LINE
            box = Box(round(x, 2), y - 8, 14.0, 9.0)
            items += _swatch(key, box, drawing, colors)
            items.append(Text(Point(round(x + 19, 2), y), text, SMALL, colors.text))
            x += width + 14
        return Group("legend", tuple(items))

    def _time_axis(self, scale: Scale, bottom: float) -> Group:
        box, colors = scale.box, self.colors
        stroke = Stroke(colors.axis, 0.5)
        items: list[Item] = [
            Polyline((Point(box.x, bottom), Point(round(box.right, 2), bottom)), stroke)
        ]
        ticks = self._ticks(scale)
        for tick in ticks.ticks:
            x = crisp(scale.x(tick.value_ns))
            items.append(Polyline((Point(x, bottom), Point(x, bottom + 3)), stroke))
            at = Point(round(x, 2), round(bottom + 12, 2))
            items.append(Text(at, tick.label, SMALL, colors.muted_text, Anchor.MIDDLE))
        name = f"{self.provenance.time_name} ({ticks.unit})"
        at = Point(round(box.x + box.width / 2, 2), round(bottom + 26, 2))
        items.append(Text(at, name, _TEXT, colors.text, Anchor.MIDDLE))
        return Group("time axis", tuple(items))

    def _footer(self, height: float) -> Group:
        width, more = self.options.width_pt, (self.frames.samples, left_out_text(self.left_out))
        text = provenance_text(self.provenance, width - 2 * _PAD, *more)
        y = crisp(height - _PAD - 12)
        line = Polyline((Point(_PAD, y), Point(width - _PAD, y)), Stroke(self.colors.grid, 0.5))
        said = Text(Point(_PAD, height - _PAD + 2), text, SMALL, self.colors.muted_text)
        return Group("provenance", (line, said))

    def _description(self) -> str:
        clocks = sum(row.kind is LaneKind.CLOCK for row in self.rows)
        span = f"{format_instant(int(self.low))} to {format_instant(int(self.high))}"
        said = f"Timeline from {span}: {len(self.frames):,} frames"
        if self.timeline is None:
            return f"{said}, without clocks and timers."
        said += f", {clocks:,} clocks, {len(self.rows) - clocks:,} other lanes."
        stops = [
            f"{brief(row.label)} paused from {format_instant(each.began_ns)} to "
            f"{format_instant(min(each.end_ns, int(self.high)))}"
            for row in self.rows
            if row.kind is LaneKind.CLOCK
            for each in self.store.clocks.standstills(row.clock_id, self.low, self.high)
        ]
        more = f", and {len(stops) - _MOST_STOPS:,} more" if len(stops) > _MOST_STOPS else ""
        return f"{said} {'; '.join(stops[:_MOST_STOPS])}{more}." if stops else said


#: Pauses that the description names.
_MOST_STOPS: Final = 8


def _is_bold(row: Row) -> bool:
    return row.kind is LaneKind.CLOCK


def _swatch(  # noqa: PLR0911 - one for each entry
    key: str, box: Box, drawing: LaneDrawing, colors: GraphColors
) -> list[Item]:
    middle = box.x + box.width / 2
    match key:
        case "running":
            return [Rect(box, drawing.running_color())]
        case "paused":
            return drawing.hatched(box, is_own=True)
        case "stopped":
            return drawing.hatched(box, is_own=False)
        case "blocked":
            return [Rect(box, colors.failure)]
        case "tick":
            return [drawing.tick(middle, box, colors.text)]
        case "late":
            return [
                drawing.tick(middle, box, colors.text, is_late=True),
                drawing.late_sign(middle, box),
            ]
        case _:
            return [Rect(box, drawing.state_color(0))]
