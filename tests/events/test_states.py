"""What the states of a timeline tell apart."""

from __future__ import annotations

import pytest

from inspector.events.states import (
    ClockState,
    CommandRecord,
    Failure,
    Mark,
    StoppedClock,
    detached_text,
    names_apart,
)
from inspector.events.timeline import Timeline


def _clocks(*clocks: tuple[int, str, int]) -> dict[int, ClockState]:
    return {number: ClockState(number, name, above, 1, 1, 0, 0) for number, name, above in clocks}


def test_that_clocks_of_one_name_are_told_apart_by_those_above_and_others_keep_their_own() -> None:
    named = names_apart(
        _clocks(
            (1, "session", 0),
            (2, "child 1", 1),
            (3, "child 2", 1),
            (4, "loop", 2),
            (5, "loop", 3),
            (6, "time", 3),
        )
    )

    assert named == {
        1: "session",
        2: "child 1",
        3: "child 2",
        4: "child 1 › loop",
        5: "child 2 › loop",
        6: "time",
    }


def test_that_names_go_up_only_as_far_as_they_must_and_end_where_nothing_helps() -> None:
    named = names_apart(
        _clocks((1, "a", 0), (2, "b", 0), (3, "x", 1), (4, "x", 2), (5, "t", 3), (6, "t", 4))
    )
    twins = names_apart(_clocks((1, "root", 0), (2, "t", 1), (3, "t", 1)))

    assert (named[5], named[6]) == ("a › x › t", "b › x › t")
    assert (twins[2], twins[3]) == ("t", "t")


def test_that_a_failure_says_what_was_raised_without_the_notes_behind_it() -> None:
    traceback = (
        'Traceback (most recent call last):\n  File "game.py", line 3, in update\n    move()\n'
        "ValueError: no such place\nsaid twice\nA note: look at the map\n"
    )

    failure = Failure(0, 3, "update", traceback, 0)

    assert failure.raised == "ValueError: no such place"


def test_that_a_command_says_where_it_came_from_and_why_it_was_refused() -> None:
    assert CommandRecord(0, 1, "pause “game”", "").line == "pause “game”"
    refused = CommandRecord(0, 2, "step 5 frames", "there are none", by="breakpoint 2")
    assert refused.line == "breakpoint 2: step 5 frames (refused: there are none)"


@pytest.mark.parametrize(
    ("is_rate_zero", "is_detached", "what"),
    [
        (False, False, "paused"),
        (True, False, "rate 0"),
        (False, True, "no longer attached"),
    ],
)
def test_that_a_clock_that_stands_still_says_why(
    is_rate_zero: bool, is_detached: bool, what: str
) -> None:
    assert StoppedClock(2, "game", 0, True, is_rate_zero, 0, is_detached).what == what


@pytest.mark.parametrize(
    ("clock_id", "paused", "cause", "found"),
    [
        (2, True, 0, 2),
        (3, True, 0, None),
        (4, True, 0, None),
        # A pause that a person asked for is one, whatever else happens then.
        (2, True, 7, None),
        (2, False, 0, None),
    ],
)
def test_that_a_clock_is_detached_if_a_mark_of_the_instant_of_its_pause_says_so(
    clock_id: int, paused: bool, cause: int, found: int | None
) -> None:
    timeline = Timeline([""])
    gone = detached_text("server", "it has ended")
    for at_ns, text, of in (
        (4, gone, 4),
        (5, "there", 2),
        (5, gone, 2),
        (5, "here", 0),
        (6, gone, 3),
    ):
        timeline.marks.append(Mark(at_ns, text, of))
    clock = ClockState(clock_id, "server", 1, 1, 1, 0, 0)
    clock.paused, clock.pause_cause, clock.paused_since_ns = paused, cause, 5

    mark = timeline.detachment(clock)

    assert mark == (None if found is None else timeline.marks[found])
