import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from msgspec import structs

from inspector.formats.arrangement.legend import provenance_text
from inspector.formats.arrangement.picture import frame_graph
from inspector.formats.drawing.display_list import (
    Anchor,
    DisplayList,
    Group,
    Item,
    Point,
    Polyline,
    Rect,
    Rects,
    Text,
    boxes_of,
)
from inspector.formats.drawing.font_metrics import text_width
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import GRAPH_COLORS, ExportOptions
from inspector.tokens import COLORS, PHASE_COLORS
from inspector.vocabulary import Phase

MakeFrames = Callable[[Sequence[int]], FrameTimes]
MS = 1_000_000
FRAME_60_NS = 16_666_667


def group(picture: DisplayList, name: str) -> Group:
    return next(item for item in picture.items if isinstance(item, Group) and item.name == name)


def bars(picture: DisplayList) -> dict[str, list[list[float]]]:
    """Return the rectangles of frames by colour: left, top, right and bottom, inclusive."""
    found: dict[str, list[list[float]]] = {}
    for item in group(picture, "frames").items:
        if isinstance(item, Rects):
            found.setdefault(item.fill, []).extend(item.rects.tolist())
    return found


def budget_lines(picture: DisplayList) -> list[Polyline]:
    return [item for item in group(picture, "frames").items if isinstance(item, Polyline)]


def rate_names(picture: DisplayList) -> list[Text]:
    """Return the names of budgets, whose middle is where they are."""
    items = group(picture, "frames").items
    return [each for each in items if isinstance(each, Text) and each.text.endswith("fps")]


def plot_of(picture: DisplayList) -> tuple[float, float]:
    """Return where the axis begins and ends, beside the names of budgets."""
    begin, end = budget_lines(picture)[0].points
    names = max(text_width(each.text, each.size) for each in rate_names(picture))
    return begin.x, end.x - math.ceil(names + 10)


def texts(picture: DisplayList) -> list[str]:
    return [text.text for text in picture.texts()]


def places(items: Sequence[Item]) -> list[Point]:
    """Every corner of everything drawn, text included."""
    found: list[Point] = []
    for item in items:
        match item:
            case Group(items=inner):
                found += places(inner)
            case Polyline(points=points):
                found += points
            case Rects():
                for left, top, width, height in boxes_of(item):
                    found += [Point(left, top), Point(left + width, top + height)]
            case Rect(box=box):
                found += [Point(box.x, box.y), Point(box.right, box.bottom)]
            case Text(at=at):
                width = text_width(item.text, item.size, is_bold=item.is_bold)
                start = {Anchor.START: 0.0, Anchor.MIDDLE: -width / 2, Anchor.END: -width}
                left = start[item.anchor]
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
    "many": spiky(5_000, {4_999: 300 * MS}),
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


@pytest.fixture(
    scope="module", params=product(CASES, OPTIONS), ids=lambda names: " ".join(map(str, names))
)
def picture(
    request: pytest.FixtureRequest, make_frames: MakeFrames, provenance: Provenance
) -> DisplayList:
    case, options = request.param
    return frame_graph(make_frames(CASES[case]), provenance, OPTIONS[options])


def test_that_everything_is_within_the_picture(picture: DisplayList) -> None:
    for x, y in places(picture.items):
        assert math.isfinite(x)
        assert math.isfinite(y)
        assert -0.01 <= x <= picture.width + 0.01
        assert -0.01 <= y <= picture.height + 0.01


def test_that_lines_of_text_do_not_overlap(picture: DisplayList) -> None:
    boxes = []
    for text in picture.texts():
        corners = places([text])
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
        structs.replace(frames, at_ns=frames.at_ns + late_ns),
        provenance,
        ExportOptions(budgets_ms=()),
    )
    labels = [item for item in group(picture, "ruler").items if isinstance(item, Text)][1:]
    assert labels
    edges = [edge for label in labels for edge in (places([label])[0].x, places([label])[1].x)]
    assert edges == sorted(edges)
    assert edges[-1] <= picture.width


def test_that_title_ruler_numbers_budgets_and_provenance_are_written(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    frames = make_frames([FRAME_60_NS] * 599 + [100 * MS])

    picture = frame_graph(frames, provenance, ExportOptions(title="A title"))

    written = texts(picture)
    assert written[0] == "A title"
    assert written[1].startswith("Frame interval, frames 0 to 599, 10.")
    assert {"Session time", "0:05", "50 ms", "33.3", "16.7", "30 fps", "60 fps"} <= set(written)
    for name, value in (("P50", "16.7 ms"), ("max", "100 ms"), ("over", "1 of 600")):
        assert written[written.index(name) + 1] == value
    assert written.count("100 ms") == 2
    assert {"in budget", "over twice"} <= set(written)
    assert (
        written[-1]
        == (
            "600 frames · arcade.py · 2026-11-21 02:10:05 UTC · Timeline Inspector 0.1.0 · "
            "virtual time · target 60 fps · for a test"
        )[: len(written[-1])]
    )


def test_that_frames_have_the_colours_and_the_scale_of_the_window(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    frames = make_frames([FRAME_60_NS] * 30 + [25 * MS] + [40 * MS] + [FRAME_60_NS] * 30)

    picture = frame_graph(frames, provenance, ExportOptions(theme="dark"))

    found, colors = bars(picture), COLORS["dark"]
    assert {name for name in ("bar", "orange", "red") if colors[name] in found} == {
        *("bar", "orange", "red")
    }
    first, usual = budget_lines(picture)[0].points[0].y, found[colors["bar"]][0]
    # Frames of exactly the budget reach up to its line, a third of the way to 50 ms.
    assert usual[1] == pytest.approx(first, abs=1)
    assert [line.stroke.dash == () for line in budget_lines(picture)] == [True, False, False]
    ((left, _top, right, _bottom),) = found[colors["red"]]
    begin, end = plot_of(picture)
    share = 40 * MS / int(frames.at_ns[-1] - frames.at_ns[0] + FRAME_60_NS)
    assert right - left + 1 == pytest.approx(share * (end - begin), abs=2)


def test_that_names_of_budgets_cover_no_frame(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    picture = frame_graph(make_frames([18 * MS] * 600), provenance, ExportOptions())

    names = rate_names(picture)
    assert {each.text for each in names} == {"60 fps", "30 fps", "120 fps"}
    last = max(right for rects in bars(picture).values() for _, _, right, _ in rects)
    assert all(each.at.x - text_width(each.text, each.size) / 2 > last for each in names)


def test_that_a_long_frame_is_cut_off_and_has_its_time(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    frames = make_frames(spiky(3_000, {100: 900 * MS, 2_000: 400 * MS}))

    picture = frame_graph(frames, provenance, ExportOptions())

    assert {"900 ms", "400 ms", "50 ms"} <= set(texts(picture))
    assert COLORS["light"]["bg"] in bars(picture)
    bare = frame_graph(make_frames(spiky(3_000, {})), provenance, ExportOptions())
    assert COLORS["light"]["bg"] not in bars(bare)


def test_that_very_many_frames_take_a_column_a_pixel_and_keep_the_newest_spike(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    intervals = np.full(100_000, FRAME_60_NS)
    intervals[-1] = 24 * MS
    intervals[12_345] = 22 * MS

    picture = frame_graph(make_frames(intervals.tolist()), provenance, ExportOptions())

    begin, end = plot_of(picture)
    assert all(len(rects) <= 3 * picture.width for rects in bars(picture).values())
    late = sorted({left for left, *_ in bars(picture)[COLORS["light"]["orange"]]})
    shares = [(left - begin) / (end - begin) for left in late]
    assert shares == pytest.approx([0.12345, 1.0], abs=0.003)


def test_that_stacked_phases_add_up(make_frames: MakeFrames, provenance: Provenance) -> None:
    frames = make_frames([20 * MS] * 5)

    picture = frame_graph(frames, provenance, ExportOptions(stacked=True, measure="busy"))

    found = bars(picture)
    draw, update = (found[PHASE_COLORS[name]][0] for name in ("draw", "update"))
    assert draw[3] == update[1] - 1
    assert {"update", "draw"} <= set(texts(picture))
    assert "timers" not in texts(picture)


def test_that_frames_of_a_held_session_are_placed_by_their_number(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    frames = structs.replace(make_frames([5 * MS] * 40), at_ns=np.full(40, 7 * MS))
    picture = frame_graph(frames, provenance, ExportOptions())
    assert "Frame" in texts(picture)
    assert len({left for left, *_ in bars(picture)[COLORS["light"]["bar"]]}) == 40


def test_that_the_scene_is_the_title_when_none_is_given(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    assert frame_graph(make_frames([1]), provenance, ExportOptions()).title == "arcade.py"


def test_that_work_outside_the_phases_is_shown_as_such(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    frames = make_frames([20 * MS] * 5)
    frames = FrameTimes.of_columns(
        *(frames.index, frames.at_ns, frames.interval_ns, frames.delta_ns),
        busy_ns=frames.busy_ns + 3 * MS,
        phases=np.stack([frames.phase(each) for each in Phase]),
    )
    picture = frame_graph(frames, provenance, ExportOptions(stacked=True, measure="busy"))
    assert "other work" in texts(picture)


def test_that_no_frames_are_said_to_be_none(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    written = texts(frame_graph(make_frames([]), provenance, ExportOptions()))
    assert "No frames in this range" in written
    assert written[-1].startswith("0 frames · ")


def test_that_a_footer_leaves_out_what_has_no_room_and_cuts_nothing() -> None:
    created = datetime(2026, 11, 21, 2, 10, 5, tzinfo=UTC)
    provenance = Provenance("game.py", created, "0.1.0", "virtual time", Fraction(60))
    whole = provenance_text(provenance, 700)

    found = [provenance_text(provenance, room) for room in (450, 310, 210)]

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
    assert "2026-11-21 02:10:05 · Timeline Inspector 0.1.0 · no" in footer
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
    for color in (colors.line, colors.axis):
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
