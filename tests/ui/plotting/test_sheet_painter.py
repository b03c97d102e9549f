"""Lanes as they are painted: nothing that happened is lost, however much shares a pixel."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np
import pytest
from PySide6.QtGui import QColor, QImage, QPainter

from inspector.analysis.lanes.clocks import ClockPasts
from inspector.analysis.lanes.lane_columns import Instants, Steps
from inspector.analysis.lanes.lanes import LaneKind, LaneStore
from inspector.analysis.lanes.rows import RowChoices, rows_of
from inspector.analysis.lanes.spans import SpanColumns, Spans
from inspector.events.handlers import handlers_of
from inspector.events.history import LogHistory
from inspector.formats.arrangement.clock_layout import (
    ClockLayout,
    Head,
    behind_local_time,
    clock_head,
)
from inspector.formats.arrangement.lane_layout import (
    SLICE_LEVELS,
    LaneLayout,
    hollow_places,
    name_rooms,
)
from inspector.formats.arrangement.lane_window import LaneWindow
from inspector.formats.arrangement.sheet import Kind, Line, Row, Sheet
from inspector.formats.drawing.font_metrics import text_width
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    CLOCK_PAUSED,
    CLOCK_RATE,
    CLOCK_RESUMED,
    RATE_DENOMINATOR,
    SAW_END,
    RawEvent,
)
from tests.analysis.test_lateness import CRUNCH, DUE_NS, LIBRARY, LOOP, MAIN, REBUILD, Program
from ui.kit.theme import ColorRole, Theme
from ui.plotting.machines import state_color
from ui.plotting.sheet_painter import new_sheet, paint_sheet, theme_colors
from ui.timeline.lane_readout import LaneReader

MS = 1_000_000
WIDTH = 400
ROW = Row(0, 24)


def window(low_ms: float, high_ms: float, present_ms: float) -> LaneWindow:
    return LaneWindow(low_ms * MS, high_ms * MS, 0, WIDTH, round(present_ms * MS))


class Canvas:
    """An image with the background of a theme, to be painted on."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self.image = QImage(WIDTH, ROW.height, QImage.Format.Format_RGB32)
        self.image.fill(theme.color(ColorRole.BG))
        self.painter = QPainter(self.image)

    def paint(self, lay_out: Callable[[LaneLayout], None]) -> None:
        sheet = new_sheet(self.painter, self.theme)
        layout = LaneLayout(sheet)
        lay_out(layout)
        layout.finish()
        paint_sheet(self.painter, sheet)

    def instants(
        self, instants: Instants, shown: LaneWindow, late_ns: int = 0, *, at_ends: bool = False
    ) -> None:
        look: dict[str, Any] = {"kind": "bar", "late_ns": late_ns, "ends_whiskers": at_ends}
        self.paint(lambda to: to.instants(instants, shown, ROW, **look))

    def clock(self, clocks: ClockPasts, number: int, shown: LaneWindow) -> None:
        store = LaneStore()
        store.clocks = clocks
        self.clock_of(store, number, shown)

    def clock_of(self, store: LaneStore, number: int, shown: LaneWindow) -> None:
        sheet = new_sheet(self.painter, self.theme)
        ClockLayout(sheet).clock(store, number, shown, ROW)
        paint_sheet(self.painter, sheet)

    def steps(self, steps: Steps, shown: LaneWindow) -> None:
        def name_of(state: int) -> str:
            return f"state {state}"

        self.paint(lambda to: to.steps(steps, shown, ROW, number_of=int, name_of=name_of))

    def is_painted(self, x: int) -> bool:
        background = self.theme.color(ColorRole.BG).rgb()
        return any(self.image.pixel(x, y) != background for y in range(ROW.height))

    def colors(self, x: int) -> set[str]:
        return {self.image.pixelColor(x, y).name() for y in range(ROW.height)}


@pytest.fixture
def canvas(theme: Theme) -> Iterator[Canvas]:
    canvas = Canvas(theme)
    yield canvas
    # Before its image goes.
    canvas.painter.end()


def instants_at(*at_ms: float, value: int = 0) -> Instants:
    instants = Instants()
    for each in sorted(at_ms):
        instants.append(round(each * MS), value, 1)
    return instants


@pytest.mark.parametrize("count", [1, 20, 100, 300, 5_000, 40_000])
def test_that_every_column_in_which_something_happened_is_painted(
    canvas: Canvas, count: int
) -> None:
    chance = random.Random(count)
    instants = instants_at(*(chance.uniform(0, 1_000) for _ in range(count)))
    shown = window(0, 1_000, 1_000)
    canvas.instants(instants, shown)
    edges = {int(shown.x(at_ns)) for at_ns in instants.at_ns}
    assert all(canvas.is_painted(x) for x in edges if 0 <= x < WIDTH)


def test_that_a_column_in_which_nothing_happened_leaves_the_grid_to_be_seen(
    canvas: Canvas,
) -> None:
    grid = QColor("#123456")
    canvas.painter.fillRect(300, 0, 1, ROW.height, grid)
    instants = instants_at(*(number / 100 for number in range(40_000)))
    canvas.instants(instants, window(0, 1_000, 1_000))
    assert canvas.is_painted(100)
    assert not canvas.is_painted(301)
    assert canvas.colors(300) == {grid.name()}


@pytest.mark.parametrize("at_ends", [False, True])
def test_that_a_call_was_late_before_it_where_it_is_told_when_it_is_made(
    canvas: Canvas, at_ends: bool
) -> None:
    instants = Instants()
    instants.append(500 * MS, 200 * MS, 0)
    canvas.instants(instants, window(0, 1_000, 1_000), late_ns=20 * MS, at_ends=at_ends)
    late_color = canvas.theme.color(ColorRole.ORANGE).name()
    painted = [x for x in range(WIDTH) if late_color in canvas.colors(x)]
    begin, end = (0.3, 0.5) if at_ends else (0.5, 0.7)
    assert min(painted) == pytest.approx(begin * WIDTH, abs=2)
    assert max(painted) == pytest.approx(end * WIDTH, abs=2)


def test_that_one_late_firing_among_a_hundred_thousand_stands_out(canvas: Canvas) -> None:
    instants = Instants()
    for number in range(100_000):
        late = 50 * MS if number == 50_000 else 0
        instants.append(number * 10_000, late, 1)
    canvas.instants(instants, window(0, 1_000, 1_000), late_ns=20 * MS)
    late_color = canvas.theme.color(ColorRole.ORANGE).name()
    assert [x for x in range(WIDTH) if late_color in canvas.colors(x)] == [WIDTH // 2]


def test_that_a_whisker_is_as_long_as_the_firing_was_late(canvas: Canvas) -> None:
    instants = instants_at(100, value=50 * MS)
    canvas.instants(instants, window(0, 400, 400), late_ns=20 * MS)
    painted = [x for x in range(WIDTH) if canvas.is_painted(x)]
    assert painted[0] in (99, 100)
    assert painted[-1] in (149, 150)


def test_that_a_slice_is_named_only_up_to_the_next_one_on_its_line() -> None:
    lefts, rights = np.array([0, 40, 5, 300]), np.array([200, 90, 60, 380])
    lines = np.array([3, 3, 2, 3])

    rooms = name_rooms(lefts * MS, rights * MS, (lefts, rights), lines)

    assert rooms.tolist() == [40, 90, 60, 380]


def test_that_a_slice_is_named_after_a_short_one_at_the_same_pixel() -> None:
    starts, ends = np.array([400, 402]), np.array([401, 900])
    edges = np.array([40, 40]), np.array([41, 90])

    rooms = name_rooms(starts, ends, edges, np.array([0, 0]))

    assert rooms.tolist() == [40, 90]


def test_that_a_slice_within_others_of_the_last_line_covers_them(canvas: Canvas) -> None:
    count = SLICE_LEVELS + 2
    starts = np.arange(count) * 10 * MS
    took = np.full(count, 1_000 * MS) - 2 * starts
    # In the order of their ends; the innermost has the number that is painted first.
    order = np.argsort(starts + took)
    numbers = np.arange(count)
    columns = SpanColumns(starts[order], took[order], np.zeros(count, np.int64), numbers)
    spans, shown = Spans(1, columns, 0), window(0, 1_000, 1_000)
    canvas.paint(lambda to: to.slices(spans, shown, ROW, lambda _: ""))
    innermost = state_color(0, canvas.theme)
    assert canvas.image.pixelColor(WIDTH // 2, ROW.height - 4) == innermost


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_that_ticks_are_as_wide_as_the_text_is_large(scale: float) -> None:
    sheet = Sheet(theme_colors(Theme("dark")), scale=scale)
    lanes, shown = LaneLayout(sheet), window(0, 1_000, 1_000)
    instants = Instants()
    instants.append(500 * MS, 0, 1)

    lanes.instants(instants, shown, ROW, kind="tick", late_ns=0)
    lanes.finish()

    ((_, _, rects),) = sheet.parts()
    left, _, right, _ = cast("list[np.ndarray]", rects)[0][0]
    assert right + 1 - left == 2 * scale


def test_that_what_is_to_come_is_hollow(canvas: Canvas) -> None:
    canvas.paint(lambda to: to.hollow(hollow_places([200 * MS], window(0, 400, 100)), ROW))
    background = canvas.theme.color(ColorRole.BG)
    assert canvas.image.pixelColor(200, ROW.height // 2) == background
    assert canvas.is_painted(199)
    assert canvas.is_painted(202)


def test_that_a_state_lasts_until_the_next_and_not_beyond_the_present(canvas: Canvas) -> None:
    steps = Steps()
    steps.append(0, 0, 0)
    steps.append(100 * MS, 1, 0)
    canvas.steps(steps, window(0, 400, 200))
    middle = ROW.bottom - 5
    first, second = (state_color(number, canvas.theme) for number in (0, 1))
    assert canvas.image.pixelColor(97, middle) == first
    assert canvas.image.pixelColor(190, middle) == second
    assert not canvas.is_painted(210)


def test_that_states_that_change_many_times_a_pixel_share_it_and_are_marked(
    canvas: Canvas,
) -> None:
    steps = Steps()
    for number in range(20_000):
        steps.append(number * 50_000, number % 2, 0)
    canvas.steps(steps, window(0, 1_000, 1_000))
    wanted = {state_color(number, canvas.theme).name() for number in (0, 1)}
    wanted.add(canvas.theme.color(ColorRole.TEXT).name())
    seen = set().union(*(canvas.colors(x) for x in range(WIDTH)))
    assert wanted <= seen
    assert all(canvas.is_painted(x) for x in range(WIDTH))


def root_clock(at_ns: int) -> list[RawEvent]:
    return [(at_ns, CLOCK_ADDED, 1, 0, 0), (at_ns, CLOCK_ANCHORED, 1, 0, RATE_DENOMINATOR)]


def pasts(*events: RawEvent) -> ClockPasts:
    clocks = ClockPasts()
    fold = handlers_of(clocks)
    for at_ns, kind, *numbers in events:
        fold[kind](at_ns, *numbers)
    return clocks


def lines_of(clocks: ClockPasts, shown: LaneWindow, text_size: float) -> list[Line]:
    """Return the texts in the lane of a clock."""
    store = LaneStore()
    store.clocks = clocks
    sheet = Sheet(theme_colors(Theme("dark")), text_size)
    ClockLayout(sheet).clock(store, 1, shown, ROW)
    texts = [entries for kind, _, entries in sheet.parts() if kind is Kind.TEXTS]
    return [cast("Line", each) for entries in texts for each in entries]


def test_that_clocks_without_rates_say_none() -> None:
    clocks, shown = pasts(*root_clock(0)), window(0, 1_000, 1_000)
    assert [line.text for line in lines_of(clocks, shown, 11)] == ["×1"]

    clocks.has_rates = False

    assert lines_of(clocks, shown, 11) == []


@pytest.mark.parametrize("text_size", [11.0, 16.5, 22.0])
@pytest.mark.parametrize("paused_ms", [100, 250, 400, 550, 700, 900])
def test_that_words_about_a_clock_leave_its_local_time_room_at_any_size_of_text(
    text_size: float, paused_ms: int
) -> None:
    clocks = pasts(*root_clock(0), ((1_000 - paused_ms) * MS, CLOCK_PAUSED, 1, 7, 0))

    lines = lines_of(clocks, window(0, 1_000, 1_000), text_size)

    begin = WIDTH - text_width("00:00.100", text_size)
    ends = [line.left + text_width(line.text, text_size) for line in lines]
    assert all(end < begin for end in ends)


@pytest.mark.parametrize(("share", "is_above"), [(4, True), (2, True), (1, False)])
def test_that_no_text_lies_on_the_upper_edge_of_a_bar(share: int, *, is_above: bool) -> None:
    rate = RATE_DENOMINATOR // share
    clocks = pasts((0, CLOCK_ADDED, 1, 0, 0), (0, CLOCK_ANCHORED, 1, 0, rate))
    shown = window(0, 1_000, 1_000)

    head = clock_head(clocks.by_id[1], 500 * MS, shown, ROW)
    lines = lines_of(clocks, shown, 11.0)

    assert head is not None
    inner = ROW.inner(4)
    edge = inner.bottom - inner.height // share
    assert (head.row.bottom == edge) if is_above else (head.row.top == edge)
    assert [Row(each.top, each.height) for each in lines] == [head.row]


def test_that_a_pause_of_a_nanosecond_is_painted(canvas: Canvas) -> None:
    clocks = pasts(
        *root_clock(0),
        (500 * MS, CLOCK_PAUSED, 1, 0, 0),
        (500 * MS + 1, CLOCK_RESUMED, 1, 0, 0),
    )
    canvas.clock(clocks, 1, window(0, 1_000, 1_000))
    assert canvas.colors(200) != canvas.colors(190)


def test_that_a_pause_stays_that_of_who_paused_when_the_program_sets_a_rate() -> None:
    clocks = pasts(
        *root_clock(0),
        (200 * MS, CLOCK_PAUSED, 1, 7, 0),
        (600 * MS, CLOCK_RATE, 1, RATE_DENOMINATOR // 4, 0),
    )
    said = [line.text for line in lines_of(clocks, window(0, 1_000, 1_000), 11)]
    assert [text for text in said if text.startswith("paused")] == ["paused by you"]


def test_that_a_clock_that_stands_still_because_of_another_is_not_shown_as_running(
    canvas: Canvas,
) -> None:
    clocks = pasts(
        *root_clock(0),
        (0, CLOCK_ADDED, 2, 1, 0),
        (0, CLOCK_ANCHORED, 2, 0, RATE_DENOMINATOR),
        (500 * MS, CLOCK_PAUSED, 1, 0, 0),
    )
    canvas.clock(clocks, 2, window(0, 1_000, 1_000))
    running: QColor = canvas.image.pixelColor(50, ROW.bottom - 5)
    assert all(running.name() not in canvas.colors(x) for x in range(205, WIDTH))


def test_that_a_clock_is_painted_also_when_it_changes_many_times_a_pixel(canvas: Canvas) -> None:
    pauses = (
        (at_ns, kind, 1, 0, 0)
        for number in range(5_000)
        for at_ns, kind in (
            (number * 200_000, CLOCK_PAUSED),
            (number * 200_000 + 100_000, CLOCK_RESUMED),
        )
    )
    clocks = pasts(*root_clock(0), *pauses)
    canvas.clock(clocks, 1, window(0, 1_000, 1_000))
    assert all(canvas.is_painted(x) for x in range(WIDTH))
    assert canvas.theme.color(ColorRole.TEXT).name() in canvas.colors(100)


def test_that_a_clock_that_came_later_than_what_is_in_view_is_not_painted(canvas: Canvas) -> None:
    clocks = pasts(*root_clock(800 * MS))
    canvas.clock(clocks, 1, window(0, 500, 1_000))
    assert not any(canvas.is_painted(x) for x in range(WIDTH))


@pytest.mark.parametrize(("is_over", "text"), [(False, "200 ms so far"), (True, "204 ms")])
def test_that_what_blocks_a_loop_says_so_far_up_to_the_present(
    canvas: Canvas, is_over: bool, text: str
) -> None:
    program = Program()
    for until_ms in range(110, 301, 10):
        program.sample(MAIN, LIBRARY, REBUILD, CRUNCH, until_ms=until_ms, begins=until_ms == 110)
    if is_over:
        program.sample(until_ms=304, covers_ms=4, flags=SAW_END)
    store = LaneStore()
    history = LogHistory(program.log)
    while store.read(history, history.state_before(history.end)):
        pass
    present_ms = DUE_NS / MS + 304 + 200 * is_over
    shown = window(DUE_NS / MS + 90, DUE_NS / MS + 330, present_ms)
    sheet = new_sheet(canvas.painter, canvas.theme)
    ClockLayout(sheet).clock(store, LOOP, shown, ROW)
    lines = [each for kind, _, entries in sheet.parts() if kind is Kind.TEXTS for each in entries]
    assert f"blocked by crunch()   {text}" in [getattr(each, "text", "") for each in lines]


def test_that_what_blocked_a_loop_is_red_on_its_clock_for_as_long_as_it_did(
    canvas: Canvas,
) -> None:
    program = Program()
    for until_ms in range(110, 301, 10):
        program.sample(MAIN, LIBRARY, REBUILD, CRUNCH, until_ms=until_ms, begins=until_ms == 110)
    program.sample(until_ms=304, covers_ms=4, flags=SAW_END)
    store = LaneStore()
    history = LogHistory(program.log)
    timeline = history.state_before(history.end)
    while store.read(history, timeline):
        pass
    (block,) = store.blocks.within(LOOP, 0, 1 << 62)
    low_ms, begin_ms = DUE_NS / MS - 100, (block.begin_ns - DUE_NS) / MS
    shown = window(low_ms, low_ms + 800, DUE_NS / MS + 600)
    canvas.clock_of(store, LOOP, shown)
    red = canvas.theme.color(ColorRole.RED).name()
    left, right = int(shown.x(block.begin_ns)), int(shown.x(block.end_ns))
    assert right - left == round((304 - begin_ms) * WIDTH / 800)
    assert all(red in canvas.colors(x) for x in range(left, right))
    assert not any(red in canvas.colors(x) for x in (*range(left), *range(right, WIDTH)))
    # Named, in the colour behind time.
    assert any(
        canvas.theme.color(ColorRole.BG).name() in canvas.colors(x) for x in range(left, right)
    )
    (row,) = [
        row
        for row in rows_of(store, RowChoices())[1]
        if row.clock_id == LOOP and row.kind is LaneKind.CLOCK
    ]
    reading = LaneReader(store, timeline, history.strings).read(row, block.begin_ns + MS, 0)
    assert reading is not None
    assert reading.lines[-2] == "blocked by crunch() 204 ms (server.py:4)"
    assert reading.lines[-1].startswith("seen by 20 of 20 samples: ")
    assert reading.lines[-1].endswith("crunch() (server.py:4)")


def test_that_the_edge_of_another_rate_does_not_cross_a_local_time() -> None:
    head = Head(Row(10, 12), "×¼", 180, is_filled=False)

    patches = behind_local_time(head, 60, 15, 200, is_crossed=False)

    # It begins before the stretch that it belongs to.
    assert any(left <= 140 and right >= 200 for (left, _, right, _), _ in patches)
    assert {color for _, color in patches} == {"bg"}


@pytest.mark.parametrize(("is_filled", "ground"), [(True, "clock"), (False, "bg")])
def test_that_what_a_block_left_behind_a_local_time_has_the_colour_of_its_bar(
    is_filled: bool, ground: str
) -> None:
    head = Head(Row(10, 12), "×1", 0, is_filled=is_filled)

    assert [color for _, color in behind_local_time(head, 60, 15, 200, is_crossed=True)] == [ground]
