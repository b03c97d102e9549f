"""What a journal says in text: read back as it was, and refused where it makes no sense."""

from __future__ import annotations

import json

import pytest
from msgspec import structs

from inspector.clocks.failures import FailurePolicy
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.sessions.replay.journal import Beginning, Journal, JournalError
from inspector.vocabulary import COMMAND_FORM, RawEvent

BEGINNING = Beginning(
    generation=2,
    policy=FailurePolicy.STOP,
    digest="ab\x85c",
    breakpoints={3: Breakpoint(BreakKind.TIMER_FIRES, "boss")},
    next_breakpoint=4,
)


def test_that_a_beginning_comes_back_as_it_was() -> None:
    assert Beginning.from_json(BEGINNING.as_json()) == BEGINNING
    assert Beginning.from_json('{"policy": "continue", "breakpoints": {}}') == Beginning()


@pytest.mark.parametrize("name", [each.name for each in structs.fields(Beginning)])
def test_that_a_beginning_with_a_value_of_another_kind_is_refused(name: str) -> None:
    values = json.loads(BEGINNING.as_json()) | {name: [1]}

    with pytest.raises(JournalError, match="start of the scene cannot be read: "):
        Beginning.from_json(json.dumps(values))


@pytest.mark.parametrize(
    "form",
    [
        "[",
        "[]",
        '{"command": "Fly"}',
        '{"command": "StepBack", "breakpoints": [], "next_breakpoint": 1}',
        '{"command": "StepBack", "breakpoints": {"x": {}}, "next_breakpoint": 1}',
        '{"command": "StepBack", "breakpoints": {}, "next_breakpoint": "2"}',
    ],
)
def test_that_a_command_that_makes_no_sense_is_refused(form: str) -> None:
    strings = ["", BEGINNING.as_json(), form]
    events: list[RawEvent] = [(0, COMMAND_FORM, 0, 1, 0), (0, COMMAND_FORM, 7, 2, 0)]

    with pytest.raises(JournalError, match="A command cannot be read"):
        Journal.from_events(events, strings)
