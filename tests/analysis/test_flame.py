"""The functions that the samples of a long frame saw, as spans of the frame."""

from __future__ import annotations

from inspector.analysis.frame_spans import FrameSpan, extent_of
from inspector.analysis.lateness.flame import kept_text, sampled_spans
from inspector.events.history import LogHistory
from inspector.events.timeline import Timeline
from inspector.vocabulary import (
    COLLECTED,
    COLLECTING_LINE_SHIFT,
    DELTA_CUT,
    FRAME_BEGAN,
    FRAME_ENDED,
    SAW_AFTERWARDS,
    SAW_END,
    SAW_FROM_HERE,
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
    Program,
)


def frame_after(
    program: Program, busy_ms: int
) -> tuple[LogHistory, Timeline, int, tuple[int, int]]:
    program.log.append((DUE_NS + busy_ms * MS, FRAME_ENDED, LOOP, 0, busy_ms * MS))
    history = LogHistory(program.log)
    timeline = history.state_before(history.end)
    return history, timeline, 0, extent_of(history, timeline, 0)


def spans_after(program: Program, busy_ms: int) -> tuple[FrameSpan, ...]:
    return sampled_spans(*frame_after(program, busy_ms))


def began() -> Program:
    program = Program()
    program.log.append((DUE_NS, FRAME_BEGAN, LOOP, 0, 0))
    return program


def test_that_a_function_lies_in_its_caller_for_as_long_as_samples_have_seen_it() -> None:
    program = began()
    for until_ms in range(10, 101, 10):
        leaf = CRUNCH if until_ms <= 80 else LOAD
        program.sample(MAIN, LIBRARY, REBUILD, leaf, until_ms=until_ms, begins=until_ms == 10)

    found = spans_after(program, 104)

    assert [
        (span.label, span.depth, span.began_ns // MS, span.took_ns // MS) for span in found
    ] == [
        ("rebuild() (server.py:10)", 0, 0, 100),
        ("crunch() (server.py:4)", 1, 0, 80),
        ("load() (server.py:20)", 1, 80, 20),
    ]
    seen = [span.seen for span in found if span.seen is not None]
    assert [(each.samples, each.looks, each.blocks) for each in seen] == [
        (10, 10, False),
        (8, 10, True),
        (2, 10, False),
    ]
    assert seen[1].site == "/srv/server.py:4"


def test_that_a_stalled_frame_of_a_scene_has_all_that_was_seen_in_it() -> None:
    program = began()
    program.log.append((DUE_NS, FRAME_ENDED, LOOP, 0, 1_000 * MS))
    for number in range(50):
        leaf = CRUNCH if number < 10 else LOAD
        program.sample(MAIN, leaf, until_ms=0, covers_ms=20, begins=not number, flags=SAW_FROM_HERE)
    for event in ((FRAME_BEGAN, LOOP, 1, 250 * MS), (DELTA_CUT, LOOP, 750 * MS, 0)):
        program.log.append((DUE_NS + 250 * MS, *event))
    program.log.append((DUE_NS + 250 * MS, FRAME_ENDED, LOOP, 1_000 * MS, 100 * MS))
    for number in range(5):
        program.sample(
            MAIN, CRUNCH, until_ms=250, covers_ms=20, begins=not number, flags=SAW_FROM_HERE
        )
    history = LogHistory(program.log)
    timeline = history.state_before(history.end)

    found = [
        [
            (each.label, each.began_ns // MS, each.took_ns // MS)
            for each in sampled_spans(history, timeline, index, extent_of(history, timeline, index))
            if each.depth
        ]
        for index in (0, 1)
    ]

    assert found == [
        [("crunch() (server.py:4)", 0, 200), ("load() (server.py:20)", 200, 800)],
        [("crunch() (server.py:4)", 0, 100)],
    ]


def test_that_what_is_told_of_the_end_lengthens_what_was_seen_last() -> None:
    program = began()
    for until_ms in (10, 20):
        program.sample(MAIN, LIBRARY, CRUNCH, until_ms=until_ms, begins=until_ms == 10)
    program.sample(until_ms=26, covers_ms=6, flags=SAW_END)
    (found,) = spans_after(program, 26)
    assert found.seen is not None
    assert (found.took_ns // MS, found.seen.samples, found.seen.looks) == (26, 2, 2)


def test_that_a_frame_in_which_a_function_had_garbage_collected_says_so() -> None:
    program = began()
    program.sample(MAIN, CRUNCH, until_ms=98, covers_ms=60, flags=SAW_AFTERWARDS, begins=True)
    program.stand(COLLECTED, 0, 100, 4 << COLLECTING_LINE_SHIFT)

    text = kept_text(*frame_after(program, 104))

    assert text == "For 100 ms, garbage was collected by crunch() (server.py:4)."


def test_that_a_frame_without_samples_has_none() -> None:
    assert spans_after(began(), 104) == ()
