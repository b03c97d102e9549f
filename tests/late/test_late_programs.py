"""A few programs whose calls are late for a known reason; ``python -m tests.late`` runs all."""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from inspector.analysis.lateness.attribution import Cause
from tests.javascript import chromium, node
from tests.late.__main__ import is_starved, late_in
from tests.late.programs import programs

if TYPE_CHECKING:
    from pathlib import Path

_PROGRAMS = {program.name: program for program in programs()}


def test_that_every_cause_is_tried_in_two_libraries() -> None:
    libraries: defaultdict[str, set[str]] = defaultdict(set)
    for program in _PROGRAMS.values():
        _, _, way = program.name.partition("/")
        for cause in program.causes[:1]:
            libraries[cause].add(way.partition("-")[0])
    claimed = set(Cause) - {Cause.HELD, Cause.NOT_LATE, Cause.UNKNOWN}
    assert not {cause for cause in claimed if len(libraries[cause.value]) < 2}


@pytest.mark.skipif(sys.platform != "linux", reason="times of threads are Linux's")
@pytest.mark.parametrize(
    "name", ["sleeps/asyncio-callback", "stops/asyncio-task", "computes-in-c/twisted"]
)
def test_that_late_calls_are_blamed_on_what_was_wrong_and_on_nothing_else(
    name: str, tmp_path: Path
) -> None:
    program = _PROGRAMS[name]
    if name.endswith("/twisted"):
        pytest.importorskip("twisted")
    calls = late_in(program, tmp_path, sys.executable)
    assert calls
    for call in calls:
        main = call.lateness.main
        if main is None or is_starved(call, program):
            continue
        assert main.cause.value in program.causes
        culprits = [main.culprit.place.function] if main.culprit is not None else []
        assert culprits == list(program.culprits)


@pytest.mark.parametrize(
    "name", ["runs-process/node-async", "computes-in-c/page-timers", "computes/page-events"]
)
def test_that_late_calls_of_javascript_are_blamed_on_what_was_wrong(
    name: str, tmp_path: Path
) -> None:
    program = _PROGRAMS[name]
    chromium() if program.runtime == "page" else node()
    mains = [call.lateness.main for call in late_in(program, tmp_path)]
    named = {
        (main.cause.value, main.culprit.place.function)
        for main in mains
        if main is not None and main.culprit is not None
    }
    assert named == {(program.causes[0], program.culprits[0])}


def test_that_nobody_is_blamed_in_a_healthy_program(tmp_path: Path) -> None:
    calls = late_in(_PROGRAMS["works-a-little/asyncio-task"], tmp_path, sys.executable)
    assert not [call for call in calls if call.lateness.main and call.lateness.main.culprit]
