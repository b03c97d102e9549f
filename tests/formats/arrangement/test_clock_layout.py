"""The lane of a clock: what is laid out of its rates."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from inspector.analysis.lanes.clocks import ClockPast
from inspector.analysis.lanes.lanes import LaneStore
from inspector.formats.arrangement import clock_layout
from inspector.formats.arrangement.clock_layout import ClockLayout
from inspector.formats.arrangement.lane_window import LaneWindow
from inspector.formats.arrangement.sheet import Kind, Line, Row, Sheet, mixed
from inspector.tokens import COLORS
from inspector.vocabulary import RATE_DENOMINATOR, rate_chip

ROW, PAD = Row(10, 30), 4
#: The height of the bar, in pixels of the 22 within the row; a low one has its rate above it.
TEXT_ROWS = {1: Row(10 + 4, 22 - 11), 2: Row(10 + 4, 22)}


def laid_out(random: Random, steps: int, window: LaneWindow) -> tuple[ClockPast, Sheet]:
    """Return a clock with some changes between rates 0, 1 and 2, and what is laid out of it."""
    store, past, sheet = LaneStore(), ClockPast("clock"), Sheet(COLORS["light"])
    store.clocks.by_id[1] = past
    instants = random.sample(range(1_100_000_000, int(window.high) + 10**9), k=steps)
    for at_ns in sorted(instants):
        rate = RATE_DENOMINATOR * random.choice((0, 1, 2))
        past.step(at_ns, rate, 0, RATE_DENOMINATOR, 0, 0, 0)
    # The highest bar, which is as high as the row.
    past.step(int(window.high) + 2 * 10**9, 0, 0, 0, 0, 0, 0)
    ClockLayout(sheet).clock(store, 1, window, ROW)
    return past, sheet


@pytest.mark.parametrize("seed", range(4))
def test_that_each_rate_stands_where_there_is_room_for_it(seed: int) -> None:
    window = LaneWindow(1e9, 3e9, 40, 600, 2_900_000_000)
    past, sheet = laid_out(Random(seed), 60, window)
    ends = [*past.at_ns[1:], window.present_ns]
    head = ClockLayout(sheet)._time_width
    store = LaneStore()
    store.clocks.by_id[1] = past
    right = window.x(window.present_ns) - head(store.clocks, 1, window)
    expected = set()
    for at_ns, end_ns, rate in zip(past.at_ns, ends, past.value, strict=True):
        left = int(window.x(at_ns)) + PAD
        end = min(int(window.x(min(end_ns, window.present_ns))), right)
        text = rate_chip(rate)
        if rate and at_ns < window.present_ns and left + sheet.width_of(text) + PAD <= end:
            expected.add(Line(left, *TEXT_ROWS[rate // RATE_DENOMINATOR], text))
    assert len(expected) > 1
    texts = sheet._parts[clock_layout._Layer.RATE, Kind.TEXTS, sheet.colors["text"]]
    assert set(texts) == expected
    assert len(texts) == len(expected)


@pytest.mark.parametrize("seed", range(4))
def test_that_dense_changes_are_shown_as_the_share_in_which_a_clock_ran(seed: int) -> None:
    window = LaneWindow(1e9, 3e9, 40, 50, 2_900_000_000)
    past, sheet = laid_out(Random(seed), 80, window)
    instants, looks = window.instants(clock_layout._LOOKS).tolist(), clock_layout._LOOKS

    def runs(at_ns: int) -> bool:
        began = [rate for at, rate in zip(past.at_ns, past.value, strict=True) if at <= at_ns]
        return bool(began) and began[-1] > 0 and at_ns <= window.present_ns

    def color_of(of_column: list[int]) -> str:
        if of_column[0] > window.present_ns:
            return ""
        share = sum(map(runs, of_column)) / looks
        return mixed(sheet.colors["clock"], sheet.colors["hatch"], share)

    columns = [instants[at : at + looks] for at in range(0, len(instants) - 1, looks)]
    (shown,) = sheet._parts[clock_layout._Layer.BODY, Kind.COLUMNS, ""]
    assert [shown.colors[cell] for cell in shown.cells[0]] == list(map(color_of, columns))
    edges = [*(each[0] for each in columns), instants[-1]]
    crowded = [
        window.left + column
        for column, (low, high) in enumerate(pairwise(edges))
        if sum(low < at_ns <= high for at_ns in past.at_ns) > 1
    ]
    marks = sheet._parts[clock_layout._Layer.TOP, Kind.RECTS, sheet.colors["text"]]
    assert [(rect[0], rect[2]) for part in marks for rect in part] == [(x, x) for x in crowded]
