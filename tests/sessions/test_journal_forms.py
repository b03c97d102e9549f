"""What a journal says in text: read back as it was, and refused where it makes no sense."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs

from inspector.clocks.failures import FailurePolicy
from inspector.events.conditions.breakpoint import BreakAction, BreakKind, Breakpoint
from inspector.sessions.breakpoints.breakpoints import BreakpointHit
from inspector.sessions.replay.journal import (
    Beginning,
    Journal,
    JournalError,
    Script,
    events_to_run_again,
    file_digest,
)
from inspector.vocabulary import (
    BREAKPOINT_HIT,
    COMMAND,
    COMMAND_CONTEXT,
    COMMAND_FORM,
    FRAME_BEGAN,
    RawEvent,
    Reading,
)

BEGINNING = Beginning(
    generation=2,
    policy=FailurePolicy.STOP,
    digest="ab\x85c",
    breakpoints={3: Breakpoint(BreakKind.TIMER_FIRES, "boss")},
    next_breakpoint=4,
)


def test_that_a_beginning_comes_back_as_it_was() -> None:
    assert Beginning.from_json(BEGINNING.as_json()) == BEGINNING
    # What an older recording does not say.
    assert Beginning.from_json('{"policy": "continue", "breakpoints": {}}') == Beginning(
        generation=0,
        command_number=0,
        reload_number=0,
        policy=FailurePolicy.CONTINUE,
        runs=True,
        max_delta_ns=250_000_000,
        is_manual=False,
        source_ns=0,
        digest="",
        breakpoints={},
        next_breakpoint=1,
    )


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


def test_that_what_a_log_says_of_commands_and_hits_is_in_its_journal() -> None:
    rewind = '{"command": "StepBack", "breakpoints": {}}'
    strings = ["", BEGINNING.as_json(), '{"command": "Run"}', rewind, "boss", "no"]
    events: list[RawEvent] = [
        (0, COMMAND_FORM, 0, 1, 0),
        (0, COMMAND_FORM, 7, 2, 0),
        (0, COMMAND, 8, 0, 5),
        (0, COMMAND_CONTEXT, 1, 90, 4),
        (0, FRAME_BEGAN, 1, 2, 0),
        (0, COMMAND_FORM, 8, 2, 0),
        (0, COMMAND_FORM, 9, 3, 0),
        (5, BREAKPOINT_HIT, 6, 4, 2),
    ]
    journal = Journal.from_events(events, strings)
    entries = [journal.entry(index) for index in range(len(journal))]
    applied = [each.applied for each in entries[:3] if each.applied is not None]
    assert [(each.by, each.host_ms, each.refusal) for each in applied] == [
        ("", 0, ""),
        ("boss", 90, ""),
        ("boss", 90, "no"),
    ]
    assert [each.next_breakpoint for each in applied] == [1, 1, 1]
    assert [each.frame for each in entries] == [0, 3, 3, 3]
    assert entries[3].hit == BreakpointHit(6, BreakAction.HOLD, 5, 0, 2, 0, "boss")


@pytest.mark.parametrize(("first", "is_whole", "text"), [(7, True, "first 7"), (0, False, "some")])
def test_that_events_that_are_not_all_there_cannot_be_run_again(
    first: int, text: str, *, is_whole: bool
) -> None:
    history: Any = SimpleNamespace(first=first, has_all_events=is_whole)
    with pytest.raises(JournalError, match=text):
        events_to_run_again(history)


def test_that_a_script_tells_readings_apart_from_what_comes_unasked() -> None:
    journal = Journal(BEGINNING)
    for code, value in ((Reading.ASKED, 5), (Reading.ADVANCED, 6), (Reading.WOKEN, 7)):
        journal.note(code, 0, value)
    script = Script(journal)
    assert [script.reading_ns() for _ in range(3)] == [5, 7, None]
    values = []
    while (entry := script.head()) is not None:
        assert script.head() is entry
        values.append(entry.value)
        script.advance()
    assert values == [6, 7]
    over = Script(journal)
    over.is_over = True
    assert (over.head(), over.reading_ns()) == (None, None)


def test_that_a_file_has_a_digest_unless_it_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x")
    assert file_digest(tmp_path / "x") == "442a44457137672b3218c1007dc8f76a"
    assert (file_digest(tmp_path), file_digest(tmp_path / "y")) == ("", "")
