"""Shorter forms of what the clock tree says, for narrow columns."""

from __future__ import annotations

import pytest

from ui.clock_tree.briefs import brief_text
from ui.clock_tree.rows import ClockColumn
from ui.kit.texts.run_states import RunState, RunStateKind, briefs, shortest_state


@pytest.mark.parametrize(
    ("column", "text", "brief"),
    [
        (ClockColumn.RATE, "0.25", "0.25"),
        (ClockColumn.RATE, "1/3", "1/3"),
        (ClockColumn.RATE, "1000/1001", "≈0.999"),
        (ClockColumn.RATE, "400000/3001", "≈133"),
        (ClockColumn.EFFECTIVE_RATE, "≈0.333333", "≈0.333"),
        (ClockColumn.EFFECTIVE_RATE, "≈1.23457e+06", "≈1,234,570"),
        (ClockColumn.EFFECTIVE_RATE, "1,440", "1,440"),
        (ClockColumn.LOCAL_TIME, "00:04.250", "0:04.250"),
        (ClockColumn.LOCAL_TIME, "12:04.250", "12:04.250"),
        (ClockColumn.LOCAL_TIME, "-00:04.250", "-00:04.250"),
        (ClockColumn.LOCAL_TIME, "1:02:04.250", "1:02:04"),
        (ClockColumn.NEXT_DUE, "30.2 ms", "30.2 ms"),
        (ClockColumn.NEXT_DUE, "100.0 ms", "100 ms"),
        (ClockColumn.NEXT_DUE, "02:30.250", "02:30"),
        (ClockColumn.NEXT_DUE, "every frame", "frame"),
        (ClockColumn.NEXT_DUE, "waiting", "waiting"),
        (ClockColumn.PENDING, "123456", "123456"),
    ],
)
def test_that_numbers_are_shortened_only_where_that_helps(
    column: ClockColumn, text: str, brief: str
) -> None:
    assert brief_text(column, text) == brief


@pytest.mark.parametrize(
    ("run_state", "shortest"),
    [
        (RunState(RunStateKind.RUNNING, "running"), "running"),
        (RunState(RunStateKind.STOPPED, "stopped …", "“game” paused"), "“game”"),
        (RunState(RunStateKind.STOPPED, "stopped …", "“game” at rate 0"), "“game”"),
        (RunState(RunStateKind.PAUSED, "paused by you …", "paused by you"), "paused"),
        (RunState(RunStateKind.PAUSED, "paused by the program …", "paused"), "paused"),
        (RunState(RunStateKind.FROZEN, "rate 0 by you …", "rate 0 by you"), "rate 0"),
    ],
)
def test_that_the_least_a_state_says_is_who_or_what(run_state: RunState, shortest: str) -> None:
    assert shortest_state(run_state) == shortest


def test_that_the_phase_alone_says_when_a_callback_is_called() -> None:
    state = RunState(RunStateKind.RUNNING, "in late update")

    assert briefs(state) == ("in late update", "late update")
    for text in ("running", "in “level”"):
        assert briefs(RunState(RunStateKind.RUNNING, text)) == (text,)
