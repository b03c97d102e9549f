"""What is said of late calls stays the same in a file, without the program and its source."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from inspector.analysis.explain.explain import explain
from inspector.analysis.lanes.lanes import LaneStore
from inspector.analysis.lateness.late_calls import late_calls
from inspector.analysis.lateness.words import block_evidence, block_text, late_call_text
from inspector.analysis.lint.rules import findings
from inspector.calls.call import CallId
from inspector.cli.late_report import late_values
from inspector.events.history import LogHistory
from inspector.events.recording import open_recording
from inspector.events.recording.writing.writer import RecordingWriter
from inspector.vocabulary import NEVER, SAW_AFTERWARDS, SAW_WAIT, TIMER_FIRED
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
    from pathlib import Path

    from inspector.events.history import History


@pytest.fixture(params=[True, False], ids=["made", "still waits"])
def program(request: pytest.FixtureRequest) -> Program:
    """A program in a turn that computed, waited, and left the interpreter to others."""
    program = Program()
    stack = (MAIN, LIBRARY, REBUILD)
    for until_ms in range(10, 201, 10):
        program.sample(*stack, CRUNCH, until_ms=until_ms, begins=until_ms == 10)
    for until_ms in range(210, 301, 10):
        program.sample(*stack, LOAD, until_ms=until_ms, ran_ms=0, flags=SAW_WAIT)
    hog = "spinner: /srv/server.py:60 in spin"
    for until_ms in range(310, 401, 10):
        program.sample(*stack, until_ms=until_ms, ran_ms=0, other=hog, other_ms=10)
    program.sample(*stack, CRUNCH, until_ms=600, covers_ms=200, flags=SAW_AFTERWARDS)
    if request.param:
        program.log.append((DUE_NS + 600 * MS, TIMER_FIRED, TIMER, 600 * MS, NEVER))
    return program


def said_of(history: History) -> list[object]:
    """Return all that is said of late calls, also at instants within the turn."""
    calls = list(late_calls(history, 20 * MS))
    said: list[object] = [late_values(calls), *map(late_call_text, calls)]
    for at_ms in (0, 50, 150, 250, 350, 500, 600):
        found = explain(history, CallId(TIMER), DUE_NS + at_ms * MS)
        said += [found.headline, *(reason.text for reason in found.reasons)]
    said += [finding.text for finding in findings(history)]
    store = LaneStore()
    while store.read(history, history.state_before(history.end)):
        pass
    blocks = store.blocks.within(LOOP, 0, 1 << 62)
    return said + [text for each in blocks for text in (block_text(each), block_evidence(each))]


def test_that_a_recording_says_the_same_as_the_session_did(
    program: Program, tmp_path: Path
) -> None:
    path = tmp_path / "there.tlrec"
    writer = RecordingWriter(path, program.log)
    writer.start()
    writer.stop()
    elsewhere = path.rename(tmp_path / "elsewhere.tlrec")

    said = said_of(LogHistory(program.log))

    assert any("crunch() (server.py:4)" in str(each) for each in said)
    with closing(open_recording(elsewhere)) as recording:
        assert said_of(recording) == said
