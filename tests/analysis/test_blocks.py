"""The stretches in which functions blocked a loop."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.lanes.lanes import LaneStore
from inspector.analysis.lateness.attribution import Cause
from inspector.analysis.lateness.blocks import delayed_calls
from inspector.analysis.lateness.words import block_evidence, block_text, delayed_text
from inspector.events.history import LogHistory
from inspector.formats.arrangement.clock_layout import ClockLayout, _Layer
from inspector.formats.arrangement.lane_window import LaneWindow
from inspector.formats.arrangement.sheet import Kind, Row, Sheet
from inspector.tokens import COLORS
from inspector.vocabulary import (
    DELTA_CUT,
    NEVER,
    SAW_BETWEEN_TURNS,
    SAW_END,
    SAW_FROM_HERE,
    SAW_WAIT,
    TIMER_FIRED,
)
from tests.analysis.test_lateness import (
    CRUNCH,
    DUE_NS,
    LIBRARY,
    LOAD,
    LOOP,
    MAIN,
    MS,
    REBUILD,
    TIMER,
    Program,
)

if TYPE_CHECKING:
    from inspector.analysis.lateness.blocks import Block

STACK = (MAIN, LIBRARY, REBUILD)


def read(program: Program, store: LaneStore | None = None) -> LaneStore:
    store = store or LaneStore()
    history = LogHistory(program.log)
    while store.read(history, history.state_before(history.end)):
        pass
    return store


def blocks_of(program: Program) -> list[Block]:
    return read(program).blocks.within(LOOP, 0, 1 << 62)


def when(block: Block) -> tuple[int, int]:
    return (block.begin_ns - DUE_NS) // MS, (block.end_ns - DUE_NS) // MS


def compute(program: Program, first_ms: int, last_ms: int) -> None:
    for until_ms in range(first_ms + 10, last_ms + 1, 10):
        program.sample(*STACK, CRUNCH, until_ms=until_ms, begins=until_ms == first_ms + 10)


def test_that_a_function_that_has_a_turn_to_itself_blocks_it_from_end_to_end() -> None:
    program = Program()
    compute(program, 0, 200)
    program.sample(until_ms=204, covers_ms=4, flags=SAW_END)
    (block,) = blocks_of(program)
    assert when(block) == (0, 204)
    assert (block.cause, block.culprit.place.function) == (Cause.TASK_STEP, "crunch")
    assert (block.samples, block.looks, block.lasts) == (20, 20, False)
    assert block_text(block) == "blocked by crunch() 204 ms (server.py:4)"


def test_that_it_grows_while_the_turn_lasts() -> None:
    program = Program()
    compute(program, 0, 100)
    store = read(program)
    (block,) = store.blocks.within(LOOP, 0, 1 << 62)
    assert (when(block), block.lasts) == ((0, 100), True)
    assert block_text(block) == "blocked by crunch() 100 ms so far (server.py:4)"
    for until_ms in range(110, 301, 10):
        program.sample(*STACK, CRUNCH, until_ms=until_ms)
    (block,) = read(program, store).blocks.within(LOOP, 0, 1 << 62)
    assert (when(block), block.lasts) == ((0, 300), True)


def test_that_a_turn_of_which_nothing_more_is_told_is_over() -> None:
    program = Program()
    compute(program, 0, 100)
    program.log.append((DUE_NS + 3_000 * MS, TIMER_FIRED, TIMER, 0, NEVER))
    (block,) = blocks_of(program)
    assert (when(block), block.lasts) == ((0, 100), False)


def test_that_two_functions_of_a_turn_have_a_stretch_each() -> None:
    program = Program()
    compute(program, 0, 200)
    for until_ms in range(210, 401, 10):
        program.sample(*STACK, LOAD, until_ms=until_ms, ran_ms=0, flags=SAW_WAIT)
    first, second = blocks_of(program)
    assert (when(first), first.cause, first.lasts) == ((0, 200), Cause.TASK_STEP, False)
    assert (when(second), second.cause, second.lasts) == ((200, 400), Cause.BLOCKING_CALL, True)
    assert second.culprit.place.function == "load"


def test_that_another_thread_with_the_interpreter_is_named() -> None:
    program = Program()
    hog = "spinner: /srv/server.py:60 in spin"
    for until_ms in range(10, 201, 10):
        program.sample(
            *STACK,
            CRUNCH,
            until_ms=until_ms,
            ran_ms=0,
            other=hog,
            other_ms=10,
            begins=until_ms < 20,
        )
    (block,) = blocks_of(program)
    assert (block.cause, block.culprit.thread) == (Cause.GIL, "spinner")
    assert block_text(block) == (
        "blocked by spin() 200 ms so far (server.py:60) in the thread “spinner”"
    )


def test_that_a_stretch_without_looks_is_told_by_the_times_of_threads() -> None:
    program = Program()
    hog = "spinner: /srv/server.py:60 in spin"
    flags = SAW_BETWEEN_TURNS
    program.sample(
        until_ms=200, covers_ms=200, ran_ms=0, other=hog, other_ms=150, flags=flags, begins=True
    )
    (block,) = blocks_of(program)
    assert block_evidence(block) == "told by the processor time of its thread"


def test_that_nobody_is_named_where_the_thread_had_no_processor() -> None:
    program = Program()
    for until_ms in range(10, 201, 10):
        program.sample(*STACK, CRUNCH, until_ms=until_ms, ran_ms=1, ready_ms=9)
    assert blocks_of(program) == []


def test_that_a_function_is_named_for_its_part_where_the_processor_was_shared() -> None:
    program = Program()
    for until_ms in range(10, 201, 10):
        program.sample(
            *STACK, CRUNCH, until_ms=until_ms, ran_ms=4.5, ready_ms=5.5, begins=until_ms == 10
        )
    (block,) = blocks_of(program)
    assert (block.culprit.place.function, block.ns // MS) == ("crunch", 90)
    assert block_evidence(block).startswith("seen by 20 of 20 samples, no processor for 110 ms: ")


def test_that_a_stretch_knows_the_calls_that_it_delayed() -> None:
    program = Program()
    compute(program, -50, 200)
    program.fire(204)
    history = LogHistory(program.log)
    (block,) = blocks_of(program)
    (delayed,) = delayed_calls(history, block)
    assert (delayed.call.name, delayed.ns) == ("tick", 200 * MS)


def test_that_a_stretch_that_lasts_knows_the_calls_that_wait_so_far() -> None:
    program = Program()
    compute(program, -50, 200)
    history = LogHistory(program.log)
    (block,) = blocks_of(program)
    (delayed,) = delayed_calls(history, block)
    assert (delayed.call.is_made, delayed.ns) == (False, 200 * MS)
    assert delayed_text([delayed]) == "delayed 1 call: tick by 200 ms"


@pytest.mark.parametrize("most", [1, 4_096])
def test_that_a_stretch_of_a_scene_ends_where_session_time_left_the_rest_out(most: int) -> None:
    program, store = Program(), LaneStore()
    store.most_at_once = most
    for number in range(50):
        program.sample(
            *(*STACK, CRUNCH), until_ms=0, covers_ms=20, begins=not number, flags=SAW_FROM_HERE
        )
    (block,) = read(program, store).blocks.within(LOOP, 0, 1 << 62)
    assert (when(block), block.took_ns) == ((0, 1_000), 1_000 * MS)
    # Until that is known, it is not drawn beyond the present.
    sheet, shown = Sheet(COLORS["light"]), LaneWindow(0, 2 * DUE_NS, 0, 1_000, DUE_NS + 250 * MS)
    ClockLayout(sheet).clock(store, LOOP, shown, Row(0, 30))
    (red,) = sheet._parts[_Layer.BLOCKED, Kind.RECTS, sheet.colors["red"]]
    assert red[:, [0, 2]].tolist() == [[int(shown.x(DUE_NS)), int(shown.x(shown.present_ns)) - 1]]

    for after_ms in (250, 3_000):
        program.log.append((DUE_NS + after_ms * MS, DELTA_CUT, 0, 750 * MS, 0))
        (block,) = read(program, store).blocks.within(LOOP, 0, 1 << 62)
        assert (when(block), block.took_ns) == ((0, 250), 1_000 * MS)
        assert [block] == blocks_of(program)
    assert block_text(block) == "blocked by crunch() 1.00 s (server.py:4)"


@pytest.mark.parametrize("is_told", [True, False])
@pytest.mark.parametrize("most", [1, 4_096])
def test_that_a_stall_and_what_follows_it_are_told_as_session_time_saw_them(
    most: int, *, is_told: bool
) -> None:
    program, store = Program(), LaneStore()
    store.most_at_once = most
    for number in range(50):
        leaf = CRUNCH if number < 10 else LOAD
        program.sample(
            *(*STACK, leaf), until_ms=0, covers_ms=20, begins=not number, flags=SAW_FROM_HERE
        )
    read(program, store)
    if is_told:
        program.log.append((DUE_NS + 250 * MS, DELTA_CUT, 0, 750 * MS, 0))
    for number in range(10):
        program.sample(
            *(*STACK, CRUNCH), until_ms=250, covers_ms=20, begins=not number, flags=SAW_FROM_HERE
        )

    found = read(program, store).blocks.within(LOOP, 0, 1 << 62)

    assert found == blocks_of(program)
    assert [when(each) for each in found] == [(0, 50), (50, 250), (250, 450)]
    assert [each.took_ns // MS for each in found] == [200, 800, 200]
    assert [each.culprit.place.function for each in found] == ["crunch", "load", "crunch"]
    late = program.fire(250)
    assert (late.cause, late.unknown_ns) == (Cause.TASK_STEP, 0)
    assert late.main is not None
    assert (late.main.ns, late.main.stack[-1]) == (200 * MS, LOAD)


def test_that_what_is_over_costs_no_samples() -> None:
    program = Program()
    for turn in range(50):
        compute(program, turn * 1_000, turn * 1_000 + 100)
    store = read(program)
    assert len(store.blocks.within(LOOP, 0, 1 << 62)) == 50
    assert len(store.blocks.samples.by_clock[LOOP]) < 40
    begin_ns = DUE_NS + 7_000 * MS
    (found,) = store.blocks.within(LOOP, begin_ns, begin_ns + 50 * MS)
    assert when(found) == (7_000, 7_100)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 25)), max_size=4), st.integers(1, 60))
def test_that_reading_in_parts_gives_what_reading_at_once_gives(
    turns: list[tuple[int, int]], most: int
) -> None:
    program = Program()
    at_ms = 0
    for what, count in turns:
        for place in range(count):
            at_ms += 10
            leaf = (CRUNCH, LOAD, MAIN, REBUILD)[what]
            program.sample(*STACK, leaf, until_ms=at_ms, begins=not place)
        program.sample(until_ms=at_ms + 3, covers_ms=3, flags=SAW_END)
        at_ms += 300
    parts = LaneStore()
    parts.most_at_once = most
    found = read(program, parts).blocks.within(LOOP, 0, 1 << 62)
    assert found == blocks_of(program)
    assert all(before.end_ns <= after.begin_ns for before, after in pairwise(found))
