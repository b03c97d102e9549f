import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

import numpy as np
import pytest

from inspector.formats.drawing.display_list import (
    Anchor,
    DisplayList,
    Group,
    Item,
    Point,
    Polygon,
    Polyline,
    Rect,
    Text,
)
from inspector.formats.drawing.font_metrics import text_width
from inspector.formats.frame_graph.frame_graph import frame_graph, provenance_text
from inspector.formats.frame_times import FrameTimes, KnownDetails, Provenance
from inspector.formats.options import GRAPH_COLORS, ExportOptions
from inspector.vocabulary import Phase

MakeFrames = Callable[[Sequence[int]], FrameTimes]
MS = 1_000_000
FRAME_60_NS = 16_666_667


def group(picture: DisplayList, name: str) -> Group:
    return next(item for item in picture.items if isinstance(item, Group) and item.name == name)


def areas(picture: DisplayList, name: str) -> list[Polygon]:
    return [item for item in group(picture, name).items if isinstance(item, Polygon)]


def lines(picture: DisplayList, name: str) -> list[Polyline]:
    return [item for item in group(picture, name).items if isinstance(item, Polyline)]


def texts(picture: DisplayList) -> list[str]:
    return [text.text for text in picture.texts()]


def places(items: Sequence[Item]) -> list[Point]:
    """Every corner of everything drawn, text included."""
    found: list[Point] = []
    for item in items:
        match item:
            case Group(items=inner):
                found += places(inner)
            case Polyline(points=points) | Polygon(points=points):
                found += points
            case Rect(box=box):
                found += [Point(box.x, box.y), Point(box.right, box.bottom)]
            case Text(at=at):
                width = text_width(item.text, item.size, is_bold=item.is_bold)
                start = {Anchor.START: 0.0, Anchor.MIDDLE: -width / 2, Anchor.END: -width}
                left = start[item.anchor]
                if item.is_upright:
                    found += [Point(at.x, at.y - left), Point(at.x, at.y - left - width)]
                else:
                    found += [
                        Point(at.x + left, at.y - item.size * 0.76),
                        Point(at.x + left + width, at.y + item.size * 0.24),
                    ]
    return found


def spiky(count: int, spikes: dict[int, int]) -> list[int]:
    intervals = [FRAME_60_NS + (number * 7_919) % 400_000 for number in range(count)]
    for number, interval_ns in spikes.items():
        intervals[number] = interval_ns
    return intervals


CASES: dict[str, list[int]] = {
    "empty": [],
    "one frame": [FRAME_60_NS],
    "one frame without duration": [0],
    "two frames": [FRAME_60_NS, 2 * FRAME_60_NS],
    "equal": [FRAME_60_NS] * 500,
    "zeros": [0] * 300,
    "some zeros": [0, FRAME_60_NS] * 200,
    "spiky": spiky(3_000, {7: 250 * MS, 1_500: 900 * MS, 2_999: 120 * MS}),
    "a nanosecond each": [1] * 1_000,
    "an hour each": [3_600_000 * MS] * 50,
    "many": spiky(40_000, {39_999: 300 * MS}),
}
OPTIONS = {
    "plain": ExportOptions(),
    "stacked": ExportOptions(stacked=True),
    "busy and stacked": ExportOptions(stacked=True, measure="busy", theme="dark"),
    "small": ExportOptions(stacked=True, width_pt=400, height_pt=300),
    "without budgets": ExportOptions(budgets_ms=()),
    "many budgets": ExportOptions(budgets_ms=tuple(4.0 + step for step in range(30))),
    "long title": ExportOptions(title="A very long title of a frame-time graph " * 9),
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("intervals", CASES.values(), ids=CASES)
def test_that_everything_is_within_the_picture(
    make_frames: MakeFrames,
    provenance: Provenance,
    intervals: list[int],
    options: ExportOptions,
) -> None:
    picture = frame_graph(make_frames(intervals), provenance, options)
    for x, y in places(picture.items):
        assert math.isfinite(x)
        assert math.isfinite(y)
        assert -0.01 <= x <= picture.width + 0.01
        assert -0.01 <= y <= picture.height + 0.01


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("intervals", CASES.values(), ids=CASES)
def test_that_lines_of_text_do_not_overlap(
    make_frames: MakeFrames,
    provenance: Provenance,
    intervals: list[int],
    options: ExportOptions,
) -> None:
    picture = frame_graph(make_frames(intervals), provenance, options)
    boxes = []
    for text in picture.texts():
        corners = places([text])
        if not text.is_upright:
            (left, top), (right, bottom) = corners
            boxes.append((left, top + 0.14 * text.size, right, bottom - 0.24 * text.size, text))
    for number, one in enumerate(boxes):
        for other in boxes[number + 1 :]:
            apart = (
                one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            )
            assert apart, (one[4].text, other[4].text)


@pytest.mark.parametrize("late_ns", [0, 119 * 10**9, 3_599 * 10**9, 400_000 * 10**9])
@pytest.mark.parametrize("interval_ns", [3, 40_000, FRAME_60_NS, 900 * MS])
def test_that_labels_of_the_time_axis_have_room_at_any_zoom(
    make_frames: MakeFrames, provenance: Provenance, late_ns: int, interval_ns: int
) -> None:
    frames = make_frames([interval_ns] * 200)
    picture = frame_graph(
        replace(frames, at_ns=frames.at_ns + late_ns), provenance, ExportOptions(budgets_ms=())
    )
    labels = [item for item in group(picture, "time axis").items if isinstance(item, Text)][:-1]
    assert labels
    edges = [edge for label in labels for edge in (places([label])[0].x, places([label])[1].x)]
    assert edges == sorted(edges)
    assert edges[-1] <= picture.width


def test_that_title_axes_legend_budgets_and_provenance_are_written(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    picture = frame_graph(
        make_frames([FRAME_60_NS] * 600), provenance, ExportOptions(title="A title")
    )
    written = texts(picture)
    assert written[0] == "A title"
    assert "Frame interval, frames 0 to 599, 9.98 s" in written
    assert "frame interval (ms)" in written
    assert "session time (s)" in written
    assert "frame interval" in written
    assert {"8.33 ms · 120 fps", "16.7 ms · 60 fps", "33.3 ms · 30 fps"} <= set(written)
    assert "600 frames · median 16.7 ms · P99 16.7 ms · max 16.7 ms" in written
    assert written[-1] == (
        "arcade.py · 2026-11-21 02:10:05 UTC · Timeline Inspector 0.1.0 · virtual time · target 60 "
        "fps · for a test"
    )


def test_that_the_scene_is_the_title_when_none_is_given(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    assert frame_graph(make_frames([1]), provenance, ExportOptions()).title == "arcade.py"


def test_that_frames_over_a_budget_are_counted(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    picture = frame_graph(
        make_frames([10 * MS] * 900 + [12 * MS] * 97 + [13 * MS] * 3),
        provenance,
        ExportOptions(budgets_ms=(8.0, 11.0, 20.0)),
    )
    written = texts(picture)
    assert written[written.index("8.00 ms · 125 fps") + 1] == "all over 9.20 ms"
    assert written[written.index("11.0 ms · 90.9 fps") + 1] == "3 over 12.7 ms (0.3 %)"
    assert written[written.index("20.0 ms · 50 fps") + 1] == "none over 23.0 ms"


@pytest.mark.parametrize(
    ("interval_ns", "shown"),
    [
        (10 * MS, ["8.33 ms · 120 fps", "16.7 ms · 60 fps"]),
        (3 * MS, []),
        (20 * MS, ["8.33 ms · 120 fps", "16.7 ms · 60 fps", "33.3 ms · 30 fps"]),
    ],
)
def test_that_the_range_reaches_to_the_next_budget_unless_far_away(
    make_frames: MakeFrames, provenance: Provenance, interval_ns: int, shown: list[str]
) -> None:
    picture = frame_graph(make_frames([interval_ns] * 9), provenance, ExportOptions())
    assert [text for text in texts(picture) if text.endswith("fps")] == shown


def test_that_a_budget_line_is_where_its_time_is(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    # Frames of exactly the budget: their line and the budget's are the same line.
    picture = frame_graph(
        make_frames([20 * MS] * 100), provenance, ExportOptions(budgets_ms=(20.0,))
    )
    (data,) = areas(picture, "frames")
    (budget,) = lines(picture, "budgets")
    assert budget.stroke.dash
    assert budget.points[0].y == pytest.approx(data.points[1].y, abs=0.5)


def tops_over(bars: Polygon, x: float) -> list[float]:
    """Return the upper edges of an area over a place on the axis."""
    pairs = zip(bars.points, bars.points[1:], strict=False)
    return [one.y for one, other in pairs if one.y == other.y and one.x <= x < other.x]


@pytest.mark.parametrize("count", [60, 900, 3_000])
def test_that_a_long_frame_is_a_bar_over_all_of_its_time(
    make_frames: MakeFrames, provenance: Provenance, count: int
) -> None:
    intervals = [FRAME_60_NS] * count
    intervals[count // 2] = 418 * MS
    frames = make_frames(intervals)

    picture = frame_graph(frames, provenance, ExportOptions())

    bars = areas(picture, "frames")
    assert not lines(picture, "frames")
    axis = lines(picture, "time axis")[0].points
    end_ns = int(frames.at_ns[count // 2])
    per_ns = (axis[1].x - axis[0].x) / int(frames.at_ns[-1])
    # Its last half point is the gap to the next bar.
    for share in (0.2, 0.5, 0.9):
        x = axis[0].x + (end_ns - share * 418 * MS) * per_ns
        top = lines(picture, "value axis")[0].points[0].y
        assert [min(tops_over(each, x)) for each in bars] == [top] * len(bars)


def test_that_a_few_spikes_do_not_flatten_the_rest(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    frames = make_frames(spiky(3_000, {100: 900 * MS, 2_000: 400 * MS}))
    picture = frame_graph(frames, provenance, ExportOptions())
    data = areas(picture, "frames")[-1]
    floor = max(place.y for place in data.points)
    heights = sorted(place.y for place in data.points if place.y < floor)
    plot = lines(picture, "value axis")[0].points
    plot_height = plot[1].y - plot[0].y
    usual = heights[len(heights) // 2]
    assert plot[1].y - usual > plot_height / 3


def test_that_spikes_are_marked_in_place_and_the_largest_have_their_time(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    frames = make_frames(spiky(4_000, {100: 900 * MS, 2_010: 400 * MS, 2_011: 300 * MS}))
    picture = frame_graph(frames, provenance, ExportOptions())
    marks = [item for item in group(picture, "spikes").items if isinstance(item, Polygon)]
    labels = [item.text for item in group(picture, "spikes").items if isinstance(item, Text)]
    assert len(marks) == 2  # the third is too close to the second to be told apart
    assert labels == ["900 ms", "400 ms"]
    assert "3 frames above this range, largest 900 ms" in texts(picture)
    plot = lines(picture, "time axis")[0].points
    share = (marks[0].points[1].x - plot[0].x) / (plot[1].x - plot[0].x)
    assert share == pytest.approx(frames.at_ns[100] / frames.at_ns[-1], abs=0.01)


def test_that_frames_without_spikes_have_no_marks(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    picture = frame_graph(make_frames(spiky(3_000, {})), provenance, ExportOptions())
    assert group(picture, "spikes").items == ()


def test_that_a_million_frames_take_two_points_a_column_and_keep_the_newest_spike(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    intervals = np.full(1_000_000, FRAME_60_NS)
    intervals[-1] = 24 * MS
    intervals[123_456] = 22 * MS
    picture = frame_graph(make_frames(intervals.tolist()), provenance, ExportOptions())
    extremes, _medians = lines(picture, "frames")
    plot = lines(picture, "time axis")[0].points
    columns = math.ceil(2 * (plot[1].x - plot[0].x))
    assert len(extremes.points) <= 2 * columns
    highest = sorted(extremes.points, key=lambda place: place.y)[:2]
    assert highest[0].x == pytest.approx(plot[1].x, abs=0.5)
    share = (highest[1].x - plot[0].x) / (plot[1].x - plot[0].x)
    assert share == pytest.approx(0.123456, abs=0.001)


def test_that_crowded_frames_show_their_median(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    intervals = [10 * MS, 10 * MS, 14 * MS] * 20_000
    picture = frame_graph(make_frames(intervals), provenance, ExportOptions())
    extremes, medians = lines(picture, "frames")
    lowest = max(place.y for place in extremes.points)
    assert {place.y for place in medians.points} == {lowest}
    assert any("median of about" in text for text in texts(picture))


def test_that_stacked_phases_add_up_to_the_busy_time(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    frames = make_frames([20 * MS] * 5)
    picture = frame_graph(frames, provenance, ExportOptions(stacked=True, measure="interval"))
    areas = [
        item
        for item in group(picture, "frames").items
        if isinstance(item, Polygon) and len(item.points) > 4
    ]
    colors = GRAPH_COLORS["light"].phases
    assert [area.fill for area in areas] == [colors[Phase.DRAW], colors[Phase.UPDATE]]
    floor = max(place.y for place in areas[0].points)
    data = next(item for item in group(picture, "frames").items if isinstance(item, Polyline))
    tops = [floor - min(place.y for place in area.points) for area in areas]
    assert tops[0] == pytest.approx((floor - data.points[0].y) / 2, abs=0.02)
    assert tops[1] == pytest.approx(tops[0] * 2 / 3, abs=0.02)
    assert {"update", "draw"} <= set(texts(picture))
    assert "timers" not in texts(picture)


def test_that_work_outside_the_phases_is_shown_as_such(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    frames = make_frames([20 * MS] * 5)
    assert isinstance(frames.details, KnownDetails)
    details = replace(frames.details, busy_ns=frames.busy_ns + 3 * MS)
    frames = replace(frames, details=details)
    picture = frame_graph(frames, provenance, ExportOptions(stacked=True, measure="busy"))
    assert "other work" in texts(picture)


def test_that_frames_of_a_held_session_are_placed_by_their_number(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    frames = replace(make_frames([5 * MS] * 40), at_ns=np.full(40, 7 * MS))
    picture = frame_graph(frames, provenance, ExportOptions())
    assert "frame" in texts(picture)
    (data,) = areas(picture, "frames")
    assert len({place.x for place in data.points[::4]}) == 40


def test_that_no_frames_are_said_to_be_none(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    written = texts(frame_graph(make_frames([]), provenance, ExportOptions()))
    assert "No frames in this range" in written
    assert "0 frames" in written


def test_that_a_footer_leaves_out_what_has_no_room_and_cuts_nothing() -> None:
    created = datetime(2026, 11, 21, 2, 10, 5, tzinfo=UTC)
    provenance = Provenance("game.py", created, "0.1.0", "virtual time", Fraction(60))
    whole = provenance_text(provenance, 700)

    found = [provenance_text(provenance, room) for room in (320, 220, 150)]

    assert whole.endswith("Timeline Inspector 0.1.0 · virtual time · target 60 fps")
    assert found == [
        "game.py · 2026-11-21 02:10:05 UTC · Timeline Inspector 0.1.0 · virtual time",
        "game.py · 2026-11-21 02:10:05 UTC · virtual time",
        "game.py · 2026-11-21 02:10:05 UTC",
    ]


def test_that_a_long_name_of_the_scene_leaves_room_for_time_and_version(
    make_frames: MakeFrames,
) -> None:
    created = datetime(2026, 11, 21, 2, 10, 5)  # noqa: DTZ001 - without a zone on purpose
    provenance = Provenance("folder/" * 60, created, "0.1.0", note="note " * 90)
    footer = texts(frame_graph(make_frames([1]), provenance, ExportOptions()))[-1]
    assert "2026-11-21 02:10:05 · Timeline Inspector 0.1.0 · note" in footer
    assert footer.endswith("…")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_that_text_has_enough_contrast(theme: str) -> None:
    colors = GRAPH_COLORS[theme]

    def luminance(color: str) -> float:
        channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))

    def contrast(color: str) -> float:
        pair = sorted((luminance(color), luminance(colors.background)), reverse=True)
        return (pair[0] + 0.05) / (pair[1] + 0.05)

    assert contrast(colors.text) >= 7
    assert contrast(colors.muted_text) >= 4.5
    for color in (colors.line, colors.extremes, colors.median, colors.spike, colors.axis):
        assert contrast(color) >= 3


@pytest.mark.parametrize(
    ("wrong", "shown"),
    [
        ({"measure": "fps"}, "fps"),
        ({"theme": "blue"}, "blue"),
        ({"budgets_ms": (0.0,)}, "0"),
        ({"budgets_ms": (math.nan,)}, "nan"),
        ({"width_pt": 10.0}, "between 400 and 14400, not 10"),
        ({"height_pt": 1e9}, "between 300 and 14400, not 1e+09"),
        ({"dots_per_inch": 0.0}, "between 36 and 1200, not 0"),
    ],
)
def test_that_options_without_a_picture_are_refused(wrong: dict[str, object], shown: str) -> None:
    with pytest.raises(ValueError, match=re.escape(shown)):
        ExportOptions(**wrong)  # type: ignore[arg-type]
