"""The arrangement of frames and lanes as a picture: what the window shows of a session."""

from __future__ import annotations

from itertools import starmap
from math import ceil
from typing import TYPE_CHECKING, Final, TypeAlias

from inspector.analysis.lanes.clocks import GONE
from inspector.analysis.lanes.lanes import Lane, LaneKind, LaneStore
from inspector.analysis.lanes.rows import OCCASIONAL, LaneRow, RowChoices, rows_of
from inspector.analysis.lanes.states import state_numbers
from inspector.analysis.lanes.waits import lane_wait
from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.analysis.statistics.frame_statistics import over_budget, percentile_frame_time_ns
from inspector.display_text import counted
from inspector.events.frame_history import FrameHistory
from inspector.events.timeline import Timeline
from inspector.formats.arrangement.clock_layout import ClockLayout
from inspector.formats.arrangement.fills import (
    AnyFill,
    Fill,
    PhaseFill,
    Severity,
    SeverityFill,
    Tone,
    fill_color,
)
from inspector.formats.arrangement.flags import flags_of, lay_out_marks, placed_flags
from inspector.formats.arrangement.frame_bars import (
    CAPTURE_BUDGETS,
    USUAL_BUDGETS,
    BarScale,
    frame_bars,
    scale_ticks,
    stacked_bars,
    top_of_scale_ns,
)
from inspector.formats.arrangement.frame_labels import (
    Label,
    apart_from,
    below_values,
    budget_labels,
    names_width,
    spike_labels,
)
from inspector.formats.arrangement.frame_series import FrameSeries, Window, XAxis
from inspector.formats.arrangement.lane_layout import SLICE_LEVELS, LaneLayout
from inspector.formats.arrangement.lane_texts import LaneTexts, PlacedText, late_line
from inspector.formats.arrangement.lane_window import (
    LaneWindow,
    axis_ticks,
    lay_out_ruler,
    ruler_ticks,
)
from inspector.formats.arrangement.legend import LaneLegend, provenance_text
from inspector.formats.arrangement.sheet import Row, Sheet
from inspector.formats.drawing.display_list import (
    Anchor,
    Box,
    DisplayList,
    Group,
    Item,
    Point,
    Polyline,
    Rect,
    Rects,
    Stroke,
    Text,
    moved,
)
from inspector.formats.drawing.font_metrics import plain, shortened, text_width
from inspector.formats.frame_times import CAPTURED, FrameTimes, Provenance
from inspector.formats.options import ExportOptions, left_out_text
from inspector.timebase import (
    NS_PER_MS,
    NS_PER_SECOND,
    format_duration,
    format_instant,
    format_local_time,
)
from inspector.tokens import COLORS
from inspector.vocabulary import Measure, Phase, Share

if TYPE_CHECKING:
    from inspector.formats.traces.session_trace import Events

#: The frames, and the events among which they are; ``None`` of files that have frames alone.
Timed: TypeAlias = "tuple[FrameTimes, Events | None]"

MEASURE_TEXTS: Final[dict[Measure, str]] = {
    "interval": "frame interval",
    "busy": "busy time per frame",
    "delta": "frame delta",
}
#: Sizes in points, which are the pixels of the window at 100 % text.
_PAD: Final = 16.0
_TITLE: Final = 16.0
_TEXT: Final = 13.0
_SMALL: Final = 11.0
_LINE: Final = 16.0
_RULER: Final = 24
_MARKS: Final = 24
_CLOCK: Final = 28
_TIMER: Final = 20
_LEAST_FRAMES: Final = 104
_LEAST_HEADER: Final = 150.0
_VALUES_FROM: Final = 40
#: The height of a pause sign.
_SIGN: Final = 8
#: Names take at most this share of the width before they are cut.
_MOST_HEADER: Final = 0.4
_INDENT: Final = 14
_DASH: Final = (6.0, 6.0)
#: The largest number of lanes.
MOST_ROWS: Final = 120
_LONGEST: Final = 200
#: The largest number of pauses that the description names.
_MOST_STOPS: Final = 8
_BASELINE: Final = 0.36
_LEGEND: Final = (
    (SeverityFill(Severity.IN_BUDGET, Tone.STRONG), "in budget"),
    (SeverityFill(Severity.OVER, Tone.STRONG), "over"),
    (SeverityFill(Severity.OVER_TWICE, Tone.STRONG), "over twice"),
)


def arrangement_picture(
    data: Timed, provenance: Provenance, options: ExportOptions, *, has_lanes: bool = True
) -> tuple[DisplayList, int]:
    """Return the picture, and how many marks have no name in it for want of room.

    It is higher than the options say where its lanes need that.
    """
    arrangement = _Arrangement(*data, provenance, options, has_lanes=has_lanes)
    return arrangement.picture(), arrangement.unnamed


def frame_graph(frames: FrameTimes, provenance: Provenance, options: ExportOptions) -> DisplayList:
    return arrangement_picture((frames, None), provenance, options, has_lanes=False)[0]


def brief(text: str) -> str:
    """Return the beginning of a text on one line; texts of a damaged file may be endless."""
    return plain(text[:_LONGEST])


def series_of(frames: FrameTimes, measure: Measure, *, has_phases: bool) -> FrameSeries:
    """Return frames along the axis of the window: session time, or numbers where it stood still."""
    phases = [frames.phase(each) if has_phases else None for each in Phase]
    share = frames.share(Share.INSPECTOR) if frames.has_shares else None
    shares = [share if each is Share.INSPECTOR else None for each in Share]
    columns = [frames.at_ns, frames.interval_ns, frames.delta_ns, frames.busy_ns, None]
    first = int(frames.index[0]) if len(frames) else 0
    history = FrameHistory.holding(first, [*columns, *phases, *shares])
    stood_still = len(frames) > 1 and bool(frames.at_ns[0] == frames.at_ns[-1])
    return FrameSeries(history, XAxis.FRAME if stood_still else XAxis.TIME, measure)


class _Arrangement:
    def __init__(
        self,
        frames: FrameTimes,
        events: Events | None,
        provenance: Provenance,
        options: ExportOptions,
        *,
        has_lanes: bool,
    ) -> None:
        self.frames, self.provenance, self.options = frames, provenance, options
        self.colors = COLORS[options.theme]
        self.has_lanes = has_lanes
        counted, self.left_out = options.counted(frames)
        self.counted_ns = counted.measured(options.measure)
        self.series = series_of(frames, options.measure, has_phases=options.stacked)
        if has_lanes and self.series.x_axis is XAxis.FRAME:
            # Lanes need an axis of session time, even if it stood still.
            self.series.x_axis = XAxis.TIME
        self.low, self.high = self.series.bounds()
        self.store = LaneStore(has_rates=provenance.source != CAPTURED)
        self.timeline: Timeline | None = None
        self.rows: list[LaneRow] = []
        self.left_away = 0
        if events is not None:
            self._read(events)
        if self.high <= self.low:
            self.high = self.low + 1e-3
        budgets = (round(each * NS_PER_MS) for each in options.budgets_ms)
        self.budgets_ns = tuple(dict.fromkeys(budgets))
        self.flags = flags_of(frames, options)
        self.unnamed = 0
        self.late_ns = provenance.budget.budget_ns
        edges_ns = int(self.low * NS_PER_SECOND), int(self.high * NS_PER_SECOND)
        has_blocks = any(
            next(iter(self.store.blocks.within(row.clock_id, *edges_ns)), None)
            for row in self.rows
            if row.kind is LaneKind.CLOCK
        )
        kinds = {row.kind for row in self.rows}
        self.lane_legend = LaneLegend(kinds, self.late_ns, self.colors, has_blocks=has_blocks)

    def _read(self, events: Events) -> None:
        history = events.history
        end_ns = history.last_ns if events.end_ns is None else events.end_ns
        low_ns, high_ns = self.low * NS_PER_SECOND, self.high * NS_PER_SECOND
        if len(self.frames):
            low_ns = min(low_ns, events.start_ns) if events.start_ns else low_ns
            high_ns = max(high_ns, end_ns) if events.end_ns is None else high_ns
        else:
            low_ns, high_ns = float(events.start_ns), float(end_ns)
        self.low, self.high = low_ns / NS_PER_SECOND, high_ns / NS_PER_SECOND
        end = history.cursor_at(int(high_ns))
        timeline = history.state_before(end)
        timeline.set_present(max(timeline.at_ns, min(int(high_ns), history.last_ns)))
        start = max(history.first, history.cursor_at(int(low_ns) - 1))
        if start > history.first:
            self.store.go_on_at(history, start)
        while self.store.cursor < end and self.store.read(history, timeline):
            pass
        choices = RowChoices(hidden=set(OCCASIONAL))
        rows = [
            row for row in rows_of(self.store, choices)[1] if self._is_there(row, low_ns, high_ns)
        ]
        # A capture's clock shows nothing beyond its frames, so alone it is not drawn.
        if any(row.lane is not None for row in rows) or self.provenance.source != CAPTURED:
            self.timeline, self.rows = timeline, rows[:MOST_ROWS]
            self.left_away = len(rows) - len(self.rows)

    def _is_there(self, row: LaneRow, low_ns: float, high_ns: float) -> bool:
        lane = row.lane
        if row.kind is LaneKind.CLOCK:
            past = self.store.clocks.by_id[row.clock_id]
            is_over = past.value[-1] == GONE and past.at_ns[-1] <= low_ns
            return past.at_ns[0] <= high_ns and not is_over
        return lane is not None and _has_some(lane, low_ns, high_ns)

    # ---------------------------------------------------------------- places

    def picture(self) -> DisplayList:
        options, colors = self.options, self.colors
        title = plain(options.title) or plain(self.provenance.scene)
        title = title or ("Timeline" if self.has_lanes else "Frame times")
        top_ns = self._top_ns()
        left = round(self._header_width(top_ns))
        width = int(options.width_pt - _PAD) - left
        top = round(_PAD + 2 * _LINE + 8)
        marks = _MARKS if self.flags else 0
        heights = [_height_of(row) for row in self.rows]
        legend = _LINE * self.lane_legend.lines(options.width_pt - 2 * _PAD)
        below = marks + sum(heights) + round(2 * _LINE + legend + _PAD + 8)
        height = max(options.height_pt, top + _RULER + _LEAST_FRAMES + below)
        frames = Row(top + _RULER, round(height) - below - top - _RULER)
        # The names of budgets are to the right of the frames, and what timers wait for to the right
        # of the lanes.
        plotted = width - ceil(names_width(self.budgets_ns, self._width_of))
        window = self._window(left, plotted)
        ticks = self._ticks(window)
        items: list[Item] = [
            Group("title", tuple(self._title(title))),
            Group("ruler", tuple(self._ruler(Row(top, _RULER), window, ticks))),
            Group("frames", tuple(self._frames(frames, left, width, plotted))),
            Group("frames header", tuple(self._frames_header(frames, left))),
        ]
        y = frames.bottom
        if self.flags:
            items.append(Group("marks", tuple(self._marks(Row(y, marks), left, plotted))))
            y += marks
        if self.timeline is not None:
            items += self._lanes(self.timeline, y, heights, window, ticks)
            y += sum(heights)
        line = (Point(_PAD, y), Point(left + width, y))
        items.append(Polyline(line, Stroke(colors["line"], 1.0)))
        items.append(Group("legend", tuple(self._legend(y + _LINE + 4))))
        if self.rows:
            said = self.lane_legend.items(_PAD, y + 2 * _LINE + 4, options.width_pt - 2 * _PAD)
            items.append(Group("legend of lanes", tuple(said)))
        items.append(Group("provenance", tuple(self._footer(height))))
        return DisplayList(
            *(options.width_pt, height, colors["bg"], tuple(items), title),
            *(self._description(), self.provenance.created),
            f"Timeline Inspector {self.provenance.version}".strip(),
        )

    def _header_width(self, top_ns: int) -> float:
        names = [
            text_width(brief(row.label), _TEXT, is_bold=row.kind is LaneKind.CLOCK)
            + row.indentation * _INDENT
            for row in self.rows
        ]
        widest = min(max(names, default=0.0), self.options.width_pt * _MOST_HEADER)
        values = max((self._width_of(value) for _, value in self._numbers()), default=0.0)
        ticks = scale_ticks(top_ns, self._budget_ns, _LEAST_FRAMES)
        labels = max(self._width_of(f"{tick.label} {ticks.unit}") for tick in ticks.ticks)
        numbers = _VALUES_FROM + values + 12 + labels + 7
        return _PAD + max(widest + 12, numbers, _LEAST_HEADER)

    def _window(self, left: int, width: int) -> LaneWindow:
        edges = self.low * NS_PER_SECOND, self.high * NS_PER_SECOND
        present_ns = int(edges[1]) if self.timeline is None else self.timeline.at_ns
        return LaneWindow(*edges, left, width, present_ns)

    def _ticks(self, window: LaneWindow) -> list[tuple[int, str]]:
        if self.series.x_axis is XAxis.TIME:
            return ruler_ticks(window, None, 0)[0]
        found, _unit = axis_ticks(XAxis.FRAME, self.low, self.high, max(2, window.width // 110))
        scale = window.width / (self.high - self.low)
        return [(int(window.left + (place - self.low) * scale), text) for place, text in found]

    # ---------------------------------------------------------------- parts

    def _title(self, title: str) -> list[Item]:
        room, colors = self.options.width_pt - 2 * _PAD, self.colors
        shown = shortened(title, room, _TITLE, is_bold=True)
        subtitle = shortened(self._subtitle(), room, _SMALL)
        return [
            Text(Point(_PAD, _PAD + 12), shown, _TITLE, colors["text"], is_bold=True),
            Text(Point(_PAD, _PAD + 12 + _LINE), subtitle, _SMALL, colors["muted"]),
        ]

    def _subtitle(self) -> str:
        name = MEASURE_TEXTS[self.options.measure].capitalize()
        if self.has_lanes:
            low_ns, high_ns = int(self.low * NS_PER_SECOND), int(self.high * NS_PER_SECOND)
            text = f"Timeline, {format_instant(low_ns)} to {format_instant(high_ns)}"
            return text if self.rows else f"{text}. Frames alone: the file has no clocks and timers"
        if not len(self.frames):
            return name
        first, last = int(self.frames.index[0]), int(self.frames.index[-1])
        if first == last:
            return f"{name}, frame {first:,}"
        span_ns = int(self.frames.at_ns[-1] - self.frames.at_ns[0])
        return f"{name}, frames {first:,} to {last:,}, {format_duration(span_ns)}"

    def _ruler(self, row: Row, window: LaneWindow, ticks: list[tuple[int, str]]) -> list[Item]:
        time = self.provenance.time_name if self.series.x_axis is XAxis.TIME else "frame"
        sheet = Sheet(self.colors, _SMALL)
        lay_out_ruler(sheet, ticks, row, (window.left, window.left + window.width))
        ground = Box(0, row.top, self.options.width_pt, row.height)
        name = self._small(_PAD, row, time[:1].upper() + time[1:])
        return [Rect(ground, self.colors["panel"]), name, *sheet.items()]

    def _frames(self, row: Row, left: int, width: int, plotted: int) -> list[Item]:
        series, measure, colors = self.series, self.options.measure, self.colors
        top_ns = self._top_ns()
        items: list[Item] = []
        if len(self.frames):
            window = Window(self.low, self.high, plotted, row.height)
            columns = series.columns(window)
            budget_ns = self.budgets_ns[0] if self.budgets_ns else top_ns
            make = stacked_bars if self.options.stacked else frame_bars
            bars = make(series, measure, columns, BarScale(row.height, top_ns, budget_ns))
            items += [
                moved(Rects(rects, fill_color(fill, colors)), left, row.top)
                for fill, rects in bars.layers
            ]
            for number, each_ns in enumerate(self.budgets_ns):
                y = row.top + round(row.height * (1 - each_ns / top_ns)) - 0.5
                if y >= row.top:
                    ends = (Point(left, y), Point(left + width, y))
                    color = colors["muted" if number else "text"]
                    items.append(Polyline(ends, Stroke(color, 1.0, _DASH if number else ())))
            place = top_ns, float(left + width), float(row.height), _SMALL + 3
            names = list(budget_labels(self.budgets_ns, *place, self._width_of))
            reached_ns = below_values(top_ns, row.height, _SMALL + 3)

            def is_free(begin: float, end: float) -> bool:
                return not series.reaches(reached_ns, window, begin - left, end - left)

            labels = spike_labels(bars.spikes, left, plotted, 1.0, self._width_of, is_free)
            for label in (*apart_from(labels, names, _SMALL + 3), *names):
                items.append(self._label(label, row))
        else:
            middle = Point(left + width / 2, row.top + row.height / 2)
            text = "No frames in this range"
            items.append(Text(middle, text, _TEXT, colors["muted"], Anchor.MIDDLE))
        return items

    def _label(self, label: Label, row: Row) -> Text:
        middle = row.top + label.top + (_SMALL + 3) / 2
        color = self.colors["text" if label.is_strong else "muted"]
        at = Point(round(label.left + label.width / 2, 2), round(middle + _BASELINE * _SMALL, 2))
        return Text(at, label.text, _SMALL, color, Anchor.MIDDLE, halo=self.colors["bg"])

    @property
    def _budget_ns(self) -> int:
        return self.budgets_ns[0] if self.budgets_ns else round(NS_PER_SECOND / 60)

    def _top_ns(self) -> int:
        sample = self.series.sample_ns(self.options.measure, self.series.first, self.series.end)
        is_capture = self.provenance.source == CAPTURED
        least = CAPTURE_BUDGETS if is_capture else USUAL_BUDGETS
        return top_of_scale_ns(sample, self._budget_ns, 0, least)

    def _frames_header(self, row: Row, left: int) -> list[Item]:
        """Return what stands beside the frames: their numbers, and the durations of the axis."""
        colors, top_ns = self.colors, self._top_ns()
        items: list[Item] = [
            Rect(Box(0, row.top, left - 1, row.height), colors["panel"]),
            Rect(Box(left - 1, row.top, 1, row.height), colors["line"]),
        ]
        ticks = scale_ticks(top_ns, self._budget_ns, row.height)
        for tick in ticks.ticks[1:]:
            y = row.top + row.height * (1 - tick.value_ns / top_ns) + _BASELINE * _SMALL
            y = min(max(y, row.top + _SMALL + 2), row.bottom - 2)
            text = f"{tick.label} {ticks.unit}" if tick is ticks.ticks[-1] else tick.label
            at = Point(left - 7, round(y, 2))
            items.append(Text(at, text, _SMALL, colors["muted"], Anchor.END))
        y = row.top + _LINE + 2
        name = "Samples" if self.frames.samples else "Frames"
        items.append(Text(Point(_PAD, y), name, _TEXT, colors["text"], is_bold=True))
        for label, value in self._numbers():
            y += _LINE
            if y > row.bottom - 4:
                break
            items.append(Text(Point(_PAD, y), label, _SMALL, colors["muted"]))
            items.append(Text(Point(_PAD + _VALUES_FROM, y), value, _SMALL, colors["text"]))
        return items

    def _numbers(self) -> list[tuple[str, str]]:
        times_ns = self.counted_ns
        if not len(times_ns) or self.frames.samples:
            return []
        found = [
            ("P50", format_duration(percentile_frame_time_ns(times_ns, 50))),
            ("P99", format_duration(percentile_frame_time_ns(times_ns, 99))),
            ("max", format_duration(int(times_ns.max()))),
        ]
        if self.budgets_ns:
            over = over_budget(times_ns, FrameBudget(self.budgets_ns[0])).count
            found.append(("over", f"{over:,} of {len(times_ns):,}"))
        return found

    def _marks(self, row: Row, left: int, width: int) -> list[Item]:
        colors, scale = self.colors, width / (self.high - self.low)
        is_time = self.series.x_axis is XAxis.TIME

        def x_of(at_ns: int, frame: int) -> int:
            place = at_ns / NS_PER_SECOND if is_time else frame
            return left + int(min(max((place - self.low) * scale, 0.0), width - 1.0))

        sheet, right = Sheet(colors, _SMALL), left + width
        ranges = [
            (x_of(each.at_ns, each.frame), x_of(each.end_ns, each.frame))
            for each in self.flags
            if each.end_ns is not None
        ]
        marks = placed_flags(self.flags, right, x_of)
        names = {plain(each.name) for each in self.flags}
        self.unnamed = len(names) - lay_out_marks(sheet, marks, row, right, ranges=ranges)
        return [
            Rect(Box(0, row.top, left - 1, row.height), colors["panel"]),
            self._small(_PAD, row, "Marks"),
            Rect(Box(0, row.top, self.options.width_pt, 1), colors["line"]),
            *sheet.items(),
        ]

    def _lanes(
        self,
        timeline: Timeline,
        top: int,
        heights: list[int],
        window: LaneWindow,
        ticks: list[tuple[int, str]],
    ) -> list[Item]:
        colors, bottom = self.colors, top + sum(heights)
        ground: list[Item] = [
            Rect(Box(0, top, window.left - 1, bottom - top), colors["panel"]),
            Rect(Box(window.left - 1, top, 1, bottom - top), colors["line"]),
            *(Rect(Box(x, top, 1, bottom - top), colors["line"]) for x, _ in ticks),
        ]
        found: list[Item] = [Group("lanes", tuple(ground))]
        texts = None
        if timeline.at_ns <= window.high + window.per_pixel:
            timeline.resolve_dues()
            shown_x = min(int(window.x(timeline.at_ns)), window.left + window.width)
            texts = LaneTexts(
                *(colors, self._width_of, _SIGN, self.store, timeline, window, shown_x),
                is_past=False,
            )
        for row, height in zip(self.rows, heights, strict=True):
            sheet, place = Sheet(colors, _SMALL), Row(top, height)
            is_clock = row.kind is LaneKind.CLOCK
            if is_clock:
                ClockLayout(sheet).clock(self.store, row.clock_id, window, place)
                sheet.rect(0, colors["line"], (0, top, int(self.options.width_pt), top + 1))
            else:
                self._lane(LaneLayout(sheet), timeline, row, window, place)
            said = None if texts is None else self._text_over(sheet, texts, row, place)
            self.lane_legend.learn(row.kind, sheet)
            if said is not None:
                said.write(sheet, 13)
            x = _PAD + row.indentation * _INDENT
            name = shortened(brief(row.label), window.left - 8 - x, _TEXT, is_bold=is_clock)
            at = Point(x, round(top + height / 2 + _BASELINE * _TEXT, 2))
            title = Text(at, name, _TEXT, colors["text"], is_bold=is_clock)
            found.append(Group(name, (title, *sheet.items())))
            top += height
        return found

    def _lane(
        self, lanes: LaneLayout, timeline: Timeline, row: LaneRow, window: LaneWindow, place: Row
    ) -> None:
        lane = row.lane
        assert lane is not None, "others are no rows here"
        if row.kind is LaneKind.MACHINE:
            known = {
                state: number
                for number, state in enumerate(state_numbers(timeline.members, row.subject_id))
            }
            lanes.steps(
                *(lane.steps, window, place),
                number_of=lambda state: known.setdefault(state, len(known)),
                name_of=self._text,
            )
        elif lane.spans is not None:
            names = timeline.members.by_id
            lanes.slices(
                *(lane.spans, window, place),
                lambda number: names[number].name if number in names else "",
            )
        elif lane.levels is not None:
            lanes.levels(lane.levels, window, place)
        else:
            is_timer = row.kind is LaneKind.TIMER
            late = self.late_ns if is_timer else 0
            ends = is_timer and timeline.is_of_programs
            lanes.instants(
                *(lane.instants, window, place), kind="tick", late_ns=late, ends_whiskers=ends
            )
            lanes.finish()

    def _text(self, number: int) -> str:
        strings = self.store.clocks.strings
        return brief(strings[number]) if 0 <= number < len(strings) else "?"

    def _text_over(
        self, sheet: Sheet, texts: LaneTexts, row: LaneRow, place: Row
    ) -> PlacedText | None:
        """Return a clock's local time, or what timers wait for; draw a line if one is late."""
        timeline, window = texts.timeline, texts.window
        if row.kind is LaneKind.CLOCK and row.clock_id in timeline.clocks:
            time = format_local_time(timeline.local_ns(row.clock_id))
            return texts.local_time(row.clock_id, time, place)[0]
        if row.kind is not LaneKind.TIMER or row.lane is None:
            return None
        waits = lane_wait(row.lane, timeline, window.high, is_past=False)
        if waits.late_ns > self.late_ns:
            due_ns = timeline.at_ns - waits.late_ns
            for edges in late_line(due_ns, place, window, texts.shown_x):
                sheet.rect(12, self.colors["orange"], edges)
        said = texts.wait(waits, self.late_ns, place, int(self.options.width_pt - _PAD) - 8)[0]
        if said is not None and said.patches:
            left, _, right, _ = said.patches[0].edges
            start, stop = row.lane.instants.within(window.at(left), window.at(right))
            # The text covers no firing, because a picture cannot be moved to see it.
            return None if start < stop else said
        return said

    def _legend(self, y: float) -> list[Item]:
        entries: list[tuple[AnyFill, str]] = list(_LEGEND)
        if self.options.stacked:
            used = [each for each in Phase if self.frames.phase(each).any()]
            entries = [(PhaseFill(each), each.text) for each in used]
            entries.append((PhaseFill(None), "other work"))
        if self.options.measure == "interval" and self.frames.has_shares:
            entries.append((Fill.INSPECTOR, "the inspector’s own share"))
        items: list[Item] = []
        x = _PAD
        for fill, text in entries:
            if x + 14 + self._width_of(text) > self.options.width_pt - _PAD:
                break
            items.append(Rect(Box(round(x, 2), y - 8, 9, 9), fill_color(fill, self.colors)))
            items.append(Text(Point(round(x + 14, 2), y), text, _SMALL, self.colors["muted"]))
            x += 14 + self._width_of(text) + 16
        said = self._counts()
        while said and x + self._width_of(" · ".join(said)) > self.options.width_pt - _PAD:
            said.pop()
        if said:
            right = Point(self.options.width_pt - _PAD, y)
            counts = " · ".join(said)
            items.append(Text(right, counts, _SMALL, self.colors["muted"], Anchor.END))
        return items

    def _counts(self) -> list[str]:
        times_ns, found = self.counted_ns, list[str]()
        if not len(times_ns):
            return found
        for budget_ns in self.budgets_ns:
            budget = FrameBudget(budget_ns)
            count, beyond = over_budget(times_ns, budget).count, format_duration(budget.longest_ns)
            if count in {0, len(times_ns)}:
                found.append(f"{'all' if count else 'none'} over {beyond}")
            else:
                found.append(f"{count:,} over {beyond} ({_percent(count, len(times_ns))})")
        return found

    def _footer(self, height: float) -> list[Item]:
        said = [self._summary(), self.frames.samples, left_out_text(self.left_out)]
        said += [counted(self.left_away, "more lane")] if self.left_away else []
        said += [f"{counted(self.unnamed, 'name')} cut or omitted"] if self.unnamed else []
        first = " · ".join(filter(None, map(plain, said)))
        text = provenance_text(self.provenance, self.options.width_pt - 2 * _PAD, first)
        return [Text(Point(_PAD, height - _PAD + 2), text, _SMALL, self.colors["muted"])]

    def _summary(self) -> str:
        return counted(len(self.counted_ns), "sample" if self.frames.samples else "frame")

    def _description(self) -> str:
        times_ns = self.counted_ns
        said = f"{MEASURE_TEXTS[self.options.measure].capitalize()}: {self._summary()}"
        if self.has_lanes:
            low_ns, high_ns = int(self.low * NS_PER_SECOND), int(self.high * NS_PER_SECOND)
            said = f"Timeline from {format_instant(low_ns)} to {format_instant(high_ns)}: "
            said += counted(len(self.frames), "frame")
        numbers = ", ".join(starmap("{} {}".format, self._numbers()))
        said += f", {numbers}" if numbers and len(times_ns) else ""
        if self.has_lanes and self.timeline is None:
            return f"{said}, without clocks and timers."
        if self.timeline is not None:
            clocks = sum(row.kind is LaneKind.CLOCK for row in self.rows)
            others = counted(len(self.rows) - clocks, "other lane")
            said += f", {counted(clocks, 'clock')}, {others}"
        parts = [f"{said}."]
        counts = ", ".join(self._counts())
        parts += [f"{counts.capitalize()}."] if counts else []
        if self.flags:
            parts.append(f"Marks below the frames: {len(self.flags):,}.")
        return " ".join([*parts, *self._stops()])

    def _stops(self) -> list[str]:
        low_ns, high_ns = self.low * NS_PER_SECOND, self.high * NS_PER_SECOND
        stops = [
            f"{brief(row.label)} paused from {format_instant(each.began_ns)} to "
            f"{format_instant(min(each.end_ns, int(high_ns)))}"
            for row in self.rows
            if row.kind is LaneKind.CLOCK
            for each in self.store.clocks.standstills(row.clock_id, low_ns, high_ns)
        ]
        more = f", and {len(stops) - _MOST_STOPS:,} more" if len(stops) > _MOST_STOPS else ""
        return [f"{'; '.join(stops[:_MOST_STOPS])}{more}."] if stops else []

    def _small(self, x: float, row: Row, text: str) -> Text:
        y = row.top + row.height / 2 + _BASELINE * _SMALL
        return Text(Point(round(x, 2), round(y, 2)), text, _SMALL, self.colors["muted"])

    @staticmethod
    def _width_of(text: str) -> float:
        return text_width(text, _SMALL)


def _percent(part: int, whole: int) -> str:
    tenths = round(1000 * part / whole)
    if not 0 < tenths < 1000:  # noqa: PLR2004 - some, but not all
        return "> 99.9 %" if tenths else "< 0.1 %"
    return f"{tenths / 10:.1f} %"


def _height_of(row: LaneRow) -> int:
    match row.kind:
        case LaneKind.CLOCK:
            return _CLOCK
        case LaneKind.SLICES:
            return SLICE_LEVELS * round(_LINE + 2) + 4
        case LaneKind.COUNTER:
            return 2 * round(_LINE) + 4
    return _TIMER


def _has_some(lane: Lane, low_ns: float, high_ns: float) -> bool:
    if lane.kind is LaneKind.MACHINE:
        return len(lane.steps) > 0 and lane.steps.at_ns[0] <= high_ns
    if lane.levels is not None:
        return len(lane.levels.at_ns) > 0 and lane.levels.at_ns[0] <= high_ns
    records = lane.instants if lane.spans is None else lane.spans
    start, stop = records.within(low_ns, high_ns + 1)
    return stop > start
