"""The picture of the refresh-rate lab: every firing of every run, against the expected ones.

One track per run, grouped by timer and display. Faint lines across a group are the expected
instants. A firing on time is a bar as high as the track; from the first divergence on, bars are
half as high and in another colour. Below, a chart per group shows the lateness of each firing.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from enum import Enum
from typing import Final

from msgspec import Struct

from inspector.engines.lab.drift import drift_chart, drift_groups, drift_height, tick_marks
from inspector.engines.lab.refresh_lab import LabResult, end_of, known_faults, summary_text
from inspector.engines.lab.timer import duration_text
from inspector.errors import ExportError
from inspector.formats.drawing.display_list import (
    Anchor,
    Box,
    DisplayList,
    Group,
    Item,
    Point,
    Polygon,
    Polyline,
    Rect,
    Stroke,
    Text,
)
from inspector.formats.drawing.font_metrics import plain, shortened, text_width
from inspector.formats.drawing.ticks import instant_ticks
from inspector.formats.frame_times import Provenance
from inspector.formats.options import GRAPH_COLORS, LARGEST_SIDE_PT, GraphColors
from inspector.tokens import ThemeName

_PAD: Final = 12.0
_TITLE_SIZE: Final = 13.0
_TEXT_SIZE: Final = 8.5
_SMALL_SIZE: Final = 7.5
#: The height of the track of a run, in points.
TRACK: Final = 14.0
_GROUP_HEAD: Final = 18.0
#: The height of the time axis below the tracks.
AXIS: Final = 30.0
_FAULT_LINE: Final = 11.0
_BAR_WIDTH: Final = 1.4
#: Closer bars, in points, are drawn as one area.
_MERGED_BELOW: Final = 2.4
#: Closer expected instants, in points, are not drawn.
_EXPECTED_APART: Final = 4.0
_LARGEST_TITLE_SHARE: Final = 0.3
#: If tracks would get a smaller share of the width, outcomes are left out; tables have them too.
_LEAST_TRACK_SHARE: Final = 0.33
#: Points for the shortest axis, before it for signs and gaps, and behind it.
_LEAST_TRACK: Final = 40.0
_BEFORE_TRACK: Final = _PAD + 20
_BEHIND_TRACK: Final = _PAD + 8


class _Legend(Enum):
    RIGHT = "firing within a frame"
    WRONG = "from the first divergence on"
    EXPECTED = "expected"


class LabGraphOptions(Struct, frozen=True):
    title: str = ""  # Title of the picture; empty for the default
    theme: ThemeName = "light"  # Colours on white or on near-black
    width_pt: float = 720.0  # Width of the picture in points; the height follows from the runs
    dots_per_inch: float = 144.0  # Resolution of a PNG
    is_in_pixels = False


class Tracks(Struct, frozen=True):
    """Titles, firings and outcomes of runs along an axis of time, in points from the left."""

    left: float  # Where the axis begins
    right: float  # Where it ends
    title_width: float  # Room for the title of a run
    text_width: float  # Room for its outcome; 0 to leave it out
    low_ns: float  # The instant at the left
    high_ns: float  # The instant at the right
    theme: ThemeName

    @classmethod
    def of(
        cls,
        results: Sequence[LabResult],
        width: float,
        theme: ThemeName,
        shown: tuple[float, float] | None = None,
        most_title: float = _LARGEST_TITLE_SHARE,
    ) -> "Tracks":
        """Divide a width among titles, firings and outcomes; ``shown`` limits the instants."""
        titles = [text_width(each.row_title, _TEXT_SIZE) for each in results]
        texts = [text_width(outcome_text(each), _SMALL_SIZE) for each in results]
        most = max(width - _BEFORE_TRACK - _LEAST_TRACK - _BEHIND_TRACK, 0.0)
        title_width = min(max(titles, default=0.0), width * most_title, most)
        outcome_width = min(max(texts, default=0.0), width * _LARGEST_TITLE_SHARE)
        left = round(_BEFORE_TRACK + title_width, 2)
        right = round(width - _BEHIND_TRACK - outcome_width, 2)
        if right - left < width * _LEAST_TRACK_SHARE:
            right, outcome_width = round(width - _BEHIND_TRACK, 2), 0.0
        low_ns, high_ns = shown or (0.0, float(end_of(results)))
        right = max(left + _LEAST_TRACK, right)
        return cls(left, right, title_width, outcome_width, low_ns, high_ns, theme)

    def x(self, at_ns: float) -> float:
        share = (at_ns - self.low_ns) / (self.high_ns - self.low_ns)
        return self.left + share * (self.right - self.left)

    def at_ns(self, x: float) -> float:
        share = (x - self.left) / (self.right - self.left)
        return self.low_ns + share * (self.high_ns - self.low_ns)

    def run(self, run: LabResult, top: float) -> list[Item]:
        """Return the track of a run, :data:`TRACK` high; lower bars are after the divergence."""
        colors = GRAPH_COLORS[self.theme]
        is_right = run.verdict.is_right
        base, middle = round(top + TRACK - 4, 2), top + TRACK / 2
        limit = len(run.fired_ns) if run.divergence is None else run.divergence.index
        bars = [
            *self._bars(run.fired_ns[:limit], top + 2, TRACK - 4, colors.line),
            *self._bars(run.fired_ns[limit:], middle, TRACK / 2 - 2, colors.failure),
        ]
        title = shortened(plain(run.row_title), self.title_width, _TEXT_SIZE)
        rule = round(top + TRACK - 0.5, 2)
        items: list[Item] = [
            Polyline((Point(self.left, rule), Point(self.right, rule)), Stroke(colors.grid, 0.5)),
            *_mark(
                _PAD + 4, middle, colors.line if is_right else colors.failure, is_right=is_right
            ),
            Text(Point(_PAD + 12, base), title, _TEXT_SIZE, colors.text),
            *self._expected_lines(run, top),
            *bars,
        ]
        if self.text_width:
            text = shortened(outcome_text(run), self.text_width, _SMALL_SIZE)
            color = colors.muted_text if is_right else colors.text
            items.append(Text(Point(round(self.right + 8, 2), base), text, _SMALL_SIZE, color))
        return items

    def head(self, title: str, y: float) -> Text:
        shown = shortened(plain(title), self.right - _PAD, _TEXT_SIZE, is_bold=True)
        at = Point(_PAD, round(y, 2))
        return Text(at, shown, _TEXT_SIZE, GRAPH_COLORS[self.theme].text, is_bold=True)

    def axis(self, y: float) -> Group:
        colors = GRAPH_COLORS[self.theme]
        stroke, y = Stroke(colors.axis, 0.5), round(y + 3, 2)
        items: list[Item] = [Polyline((Point(self.left, y), Point(self.right, y)), stroke)]
        count = max(2, int((self.right - self.left) / 60))
        ticks = instant_ticks(max(self.low_ns, 0), self.high_ns, count)
        items += tick_marks(ticks.ticks, self.x, y, colors)
        at = Point(round((self.left + self.right) / 2, 2), y + 22)
        name = f"time ({ticks.unit})"
        items.append(Text(at, name, _SMALL_SIZE, colors.muted_text, Anchor.MIDDLE))
        return Group("time axis", tuple(items))

    def _expected_lines(self, run: LabResult, top: float) -> list[Item]:
        shown = self._in_view(run.expected_ns)
        # Lines too close to be told apart are useless.
        if len(shown) * _EXPECTED_APART > self.right - self.left:
            return []
        colors = GRAPH_COLORS[self.theme]
        return [_expected_line(self.x(due_ns), top, top + TRACK, colors) for due_ns in shown]

    def _bars(self, instants: Sequence[int], top: float, height: float, color: str) -> list[Rect]:
        """Return firings in view; bars that touch are merged."""
        spans: list[tuple[float, float]] = []
        for at_ns in self._in_view(instants):
            x = self.x(at_ns)
            if spans and x - spans[-1][1] < _MERGED_BELOW:
                spans[-1] = (spans[-1][0], x)
            else:
                spans.append((x, x))
        half = _BAR_WIDTH / 2
        return [
            Rect(Box(round(low - half, 2), top, round(high - low + _BAR_WIDTH, 2), height), color)
            for low, high in spans
        ]

    def _in_view(self, instants: Sequence[int]) -> Sequence[int]:
        first = bisect_left(instants, self.low_ns)
        return instants[first : bisect_right(instants, self.high_ns, first)]


def lab_graph(
    results: Sequence[LabResult], provenance: Provenance, options: LabGraphOptions
) -> DisplayList:
    return _Drawing(results, provenance, options).picture()


class _Drawing:
    def __init__(
        self, results: Sequence[LabResult], provenance: Provenance, options: LabGraphOptions
    ) -> None:
        self._results = results
        self._provenance = provenance
        self._options = options
        self._colors = GRAPH_COLORS[options.theme]
        self._items: list[Item] = []
        self._tracks = Tracks.of(results, options.width_pt, options.theme)

    def picture(self) -> DisplayList:
        y = self._add_header()
        for head, runs in drift_groups(self._results):
            y = self._add_group(plain(head), runs, y)
            self._check_height(y)
        self._items.append(self._tracks.axis(y))
        height = self._add_footer(self._add_faults(self._add_drifts(y + AXIS)))
        title = plain(self._options.title) or "Refresh-rate lab"
        summary = summary_text(self._results) if self._results else "No runs."
        return DisplayList(
            width=self._options.width_pt,
            height=round(height, 2),
            background=self._colors.background,
            items=tuple(self._items),
            title=title,
            description=f"Firings of timers against expected firings. {summary}",
            created=self._provenance.created,
            software=f"Timeline Inspector {self._provenance.version}".strip(),
        )

    def _add_header(self) -> float:
        colors, room = self._colors, self._options.width_pt - 2 * _PAD
        title = plain(self._options.title) or plain(self._provenance.scene) or "Refresh-rate lab"
        y = _PAD + 10
        shown = shortened(title, room, _TITLE_SIZE, is_bold=True)
        self._items.append(Text(Point(_PAD, y), shown, _TITLE_SIZE, colors.text, is_bold=True))
        y += 14
        summary = shortened(summary_text(self._results), room, _TEXT_SIZE)
        self._items.append(Text(Point(_PAD, y), summary, _TEXT_SIZE, colors.muted_text))
        y += 14
        self._add_legend(y)
        return y + 10

    def _add_legend(self, y: float) -> None:
        colors = self._colors
        x = _PAD
        items: list[Item] = []
        for text in _Legend:
            match text:
                case _Legend.RIGHT:
                    items.append(_bar(x + 3, y - 8, 10, colors.line))
                case _Legend.WRONG:
                    items.append(_bar(x + 3, y - 3, 5, colors.failure))
                case _Legend.EXPECTED:
                    items.append(_expected_line(x + 3, y - 9, y + 3, colors))
            items.append(Text(Point(x + 9, y), text.value, _SMALL_SIZE, colors.text))
            x = round(x + 9 + text_width(text.value, _SMALL_SIZE) + 16, 2)
        self._items.append(Group("legend", tuple(items)))

    def _add_group(self, head: str, runs: list[LabResult], y: float) -> float:
        top = y + _GROUP_HEAD
        items: list[Item] = [self._tracks.head(head, y + 13)]
        for number, run in enumerate(runs):
            items += self._tracks.run(run, top + number * TRACK)
        self._items.append(Group(head, tuple(items)))
        return top + len(runs) * TRACK

    def _add_drifts(self, y: float) -> float:
        for head, runs in drift_groups(self._results):
            height = drift_height(len(runs))
            self._check_height(y + height)
            title = f"Drift, {plain(head)}"
            box = Box(_PAD, y + _GROUP_HEAD + 2, self._options.width_pt - 2 * _PAD, height)
            chart = drift_chart(runs, box, self._options.theme)
            self._items.append(Group(title, (self._tracks.head(title, y + 13), *chart.items)))
            y = round(y + _GROUP_HEAD + height + 10, 2)
        return y

    def _check_height(self, y: float) -> None:
        if y > LARGEST_SIDE_PT - 100:
            raise ExportError(
                f"{len(self._results):,} runs are too many for a picture. "
                "Choose fewer timers, displays or subjects, or write a CSV."
            )

    def _add_faults(self, y: float) -> float:
        faults = known_faults(self._results)
        room = self._options.width_pt - 2 * _PAD
        for line in ["Known faults", *faults] if faults else []:
            y += _FAULT_LINE
            shown = shortened(plain(line), room, _SMALL_SIZE)
            color = self._colors.muted_text if line in faults else self._colors.text
            self._items.append(Text(Point(_PAD, y), shown, _SMALL_SIZE, color))
        return y + _FAULT_LINE if faults else y

    def _add_footer(self, y: float) -> float:
        parts = (
            plain(self._provenance.scene),
            self._provenance.created_text,
            f"Timeline Inspector {self._provenance.version}".strip(),
            plain(self._provenance.note),
        )
        text = " · ".join(part for part in parts if part)
        shown = shortened(text, self._options.width_pt - 2 * _PAD, _SMALL_SIZE)
        self._items.append(Text(Point(_PAD, y + 8), shown, _SMALL_SIZE, self._colors.muted_text))
        return y + 16


def outcome_text(result: LabResult) -> str:
    """Return count, expected count and drift of a run, in a few words."""
    text = result.fired_text
    drift_ns = result.drift_ns
    if drift_ns:
        word = "late" if drift_ns > 0 else "early"
        text += f", {duration_text(abs(drift_ns))} {word}"
    return text


def _bar(x: float, top: float, height: float, color: str) -> Rect:
    return Rect(Box(round(x - _BAR_WIDTH / 2, 2), round(top, 2), _BAR_WIDTH, height), color)


def _expected_line(x: float, top: float, bottom: float, colors: GraphColors) -> Polyline:
    x = round(x, 2)
    ends = (Point(x, round(top, 2)), Point(x, round(bottom, 2)))
    return Polyline(ends, Stroke(colors.expected, 0.75))


def _mark(x: float, y: float, color: str, *, is_right: bool) -> list[Item]:
    """Return a disc for right, a cross for wrong."""
    if is_right:
        corners = ((x, y - 3), (x + 3, y), (x, y + 3), (x - 3, y))
        return [Polygon(tuple(Point(round(cx, 2), round(cy, 2)) for cx, cy in corners), color)]
    stroke = Stroke(color, 1.6)
    return [
        Polyline((Point(x - 2.8, y - 2.8), Point(x + 2.8, y + 2.8)), stroke),
        Polyline((Point(x - 2.8, y + 2.8), Point(x + 2.8, y - 2.8)), stroke),
    ]
