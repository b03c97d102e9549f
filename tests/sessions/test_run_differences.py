"""Two runs compared event by event: what counts, and what is said of the first difference."""

from __future__ import annotations

import pytest

from inspector.events import EventLog
from inspector.sessions.replay import replay
from inspector.sessions.replay.replay import (
    LogEvents,
    ReplayDifference,
    Row,
    RunEvents,
    compared,
    difference_steps,
    digest_of,
    first_difference,
)
from inspector.vocabulary import (
    CALL_ENDED,
    CALLBACK_FAILED,
    FRAME_BEGAN,
    FRAME_ENDED,
    MARK,
    MEMBER_ADDED,
    MEMBER_SET,
    PHASE_ENDED,
    SAMPLED,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_FIRED,
    Field,
    Phase,
    RawEvent,
)

DEEP = 'Traceback:\n  File "a.py", line 3\nRecursionError: maximum recursion depth exceeded: 3'
FAILED = 'Traceback:\n  File "a.py", line 3\nValueError: bad: 3'
STRINGS = ["", "boss", "tick", DEEP, FAILED, "move", "walks"]


def began(frame: int, at_ns: int = 1) -> RawEvent:
    return (at_ns, FRAME_BEGAN, 1, frame, 16)


def ended(at_ns: int = 1) -> RawEvent:
    return (at_ns, FRAME_ENDED, 1, 16, 3)


def run(*events: RawEvent, lost: int = 0) -> RunEvents:
    return RunEvents(events, STRINGS, lost)


@pytest.mark.parametrize(
    ("event", "row"),
    [
        ((1, TIMER_ARMED, 2, 3, 4), (1, TIMER_ARMED, 2, 3, 4)),
        ((1, MARK, 2, 1, 4), (1, MARK, 2, "boss", 4)),
        ((1, TIMER_ADDED, 2, 3, 2), (1, TIMER_ADDED, 2, 3, "tick")),
        ((1, CALL_ENDED, 2, 3, 4), (1, CALL_ENDED, 2, 0, 0)),
        ((1, FRAME_ENDED, 2, 3, 4), (1, FRAME_ENDED, 2, 3, 0)),
        ((1, PHASE_ENDED, Phase.UPDATE, 3, 4), (1, PHASE_ENDED, Phase.UPDATE, 3, 0)),
        ((1, PHASE_ENDED, Phase.TIMERS, 3, 4), None),
        ((1, SAMPLED, 2, 3, 4), None),
        ((1, MEMBER_SET, 2, Field.OWNER, 1), (1, MEMBER_SET, 2, Field.OWNER, 1)),
        ((1, MEMBER_SET, 2, 9, 1), (1, MEMBER_SET, 2, 9, "boss")),
        ((1, CALLBACK_FAILED, 2, 1, 4), (1, CALLBACK_FAILED, 2, "boss", FAILED)),
        # How deep the stack may become depends on what has run the scene.
        ((1, CALLBACK_FAILED, 2, 1, 3), (1, CALLBACK_FAILED, 2, "boss", "RecursionError")),
    ],
)
def test_that_texts_are_compared_and_measured_values_are_not(
    event: RawEvent, row: Row | None
) -> None:
    assert compared(event, STRINGS) == row


def test_that_equal_runs_have_equal_digests() -> None:
    events = [began(0), (1, TIMER_FIRED, 2, 0, 0), (1, SAMPLED, 2, 3, 4), ended()]

    digest = digest_of(events, STRINGS)

    assert digest == digest_of([each for each in events if each[1] != SAMPLED], STRINGS)
    assert digest != digest_of(events[:-1], STRINGS)
    assert len(digest) == 32


@pytest.mark.parametrize(
    ("frame", "frames"), [(0, "0 frames"), (1, "1 frame"), (1_234, "1,234 frames")]
)
def test_that_a_difference_is_a_sentence(frame: int, frames: str) -> None:
    unnamed = ReplayDifference(1_500_000_000, frame, "this", "that", "")
    named = ReplayDifference(1_500_000_000, frame, "this", "that", "boss")

    assert str(unnamed) == f"At 0:01.500, after {frames}: expected “this”, found “that”."
    assert str(named) == (
        f"At 0:01.500, after {frames} in “boss”: expected “this”, found “that”. Does “boss” use "
        "the time of day, its own random numbers or state outside the scene? Use clocks for time "
        "and stage.random for random numbers."
    )


ADDED: list[RawEvent] = [
    (0, TIMER_ADDED, 7, 1, 2),
    (0, TIMER_ADDED, 8, 1, 1),
    (0, MEMBER_ADDED, 3, 0, 6),
]
HERE: RawEvent = (5, MARK, 0, 1, 0)
THERE: RawEvent = (5, MARK, 0, 2, 0)
FIRED: RawEvent = (4, TIMER_FIRED, 7, 0, 0)
MOVED: RawEvent = (5, CALL_ENDED, 3, 0, 0)


@pytest.mark.parametrize(
    ("before", "after", "label"),
    [
        ([], [], "build"),
        ([FIRED], [], "tick"),
        ([FIRED, began(1)], [MOVED, ended()], "walks"),
        ([began(1)], [ended(), MOVED], ""),
        ([began(1)], [], ""),
        ([FIRED, began(1), ended()], [MOVED], ""),
        ([began(1), ended(), FIRED], [MOVED], "tick"),
        # Its name is lost, or was never told.
        ([(4, TIMER_FIRED, 9, 0, 0)], [], ""),
    ],
)
def test_that_a_difference_names_the_callback_in_which_it_happened(
    before: list[RawEvent], after: list[RawEvent], label: str
) -> None:
    ours, theirs = ([*ADDED, *before, each, *after] for each in (HERE, THERE))

    found = first_difference(run(*ours), run(*theirs))

    assert found is not None
    assert (found.at_ns, found.frame, found.label) == (5, 2 * (began(1) in before), label)
    assert "boss" in found.expected
    assert "tick" in found.found


def test_that_what_is_there_only_once_is_a_difference_unless_a_run_may_go_on() -> None:
    short, long = run(*ADDED, began(2), ended()), run(*ADDED, began(2), ended(), HERE)

    found = first_difference(short, long)
    assert found is not None
    assert (found.at_ns, found.frame, found.expected) == (5, 3, "nothing")
    other = first_difference(long, short)
    assert other is not None
    assert (other.expected, other.found) == (found.found, "nothing")
    assert first_difference(short, long, may_go_on=long) is None
    assert first_difference(long, short, may_go_on=long) is None
    assert first_difference(short, long, may_go_on=short) == found
    assert first_difference(long, short, may_go_on=short) == other
    assert first_difference(short, short) is None


def test_that_a_timer_is_told_by_its_name() -> None:
    found = first_difference(
        run(*ADDED, (5, TIMER_ARMED, 7, 3, 0)), run(*ADDED, (5, TIMER_ARMED, 9, 3, 0))
    )
    assert found is not None
    assert found.expected.endswith("(“tick”)")
    assert "(“" not in found.found
    added = first_difference(run(ADDED[0]), run(ADDED[1]))
    assert added is not None
    assert "(“" not in added.expected


def test_that_of_runs_with_lost_beginnings_both_begin_with_a_frame_that_both_have() -> None:
    whole = run(HERE, began(3), THERE, began(4), ended())

    assert first_difference(whole, run(began(4), ended(), lost=9)) is None
    assert first_difference(run(began(4), ended(), lost=9), whole) is None
    assert first_difference(run(HERE, began(0), lost=1), run(began(0), lost=2)) is None
    other = first_difference(run(began(4), HERE, lost=9), run(HERE, began(3), began(4), THERE))
    assert other is not None
    # What was called before is lost.
    assert (other.frame, other.label) == (5, "")
    nothing = first_difference(run(HERE, lost=1), run(HERE))
    assert nothing is None
    assert replay._label_at(run(HERE, lost=1), 0) == ""


def test_that_runs_are_compared_some_thousand_events_at_a_time() -> None:
    events = [HERE] * 4_000

    assert len(list(difference_steps(run(*events), run(*events), may_go_on=None))) == 2
    assert len(list(difference_steps(run(*events[1:]), run(*events[1:]), may_go_on=None))) == 2
    assert len(list(difference_steps(run(*events[2:]), run(*events[2:]), may_go_on=None))) == 1


def test_that_events_of_a_log_are_read_in_parts_up_to_an_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replay, "_ROWS_IN_A_STEP", 4)
    log = EventLog()
    for at_ns in range(11):
        log.append((at_ns, MARK, 0, 0, 0))
    events = LogEvents(log)
    log.append((11, MARK, 0, 0, 0))

    assert [each[0] for each in events] == [*range(11)]
    assert (len(events), events[3][0], [each[0] for each in events[9:]]) == (11, 3, [9, 10])
    assert [each[0] for each in LogEvents(log, 8)] == [*range(8)]
    assert len(LogEvents(log, 0)) == 0
