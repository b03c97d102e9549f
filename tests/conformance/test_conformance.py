"""Every recorded sequence of the originals comes out the same here."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Final

import pytest

from tests.conformance.conftest import recordings_folder
from tests.conformance.replay import (
    Event,
    GoldenLine,
    System,
    first_difference,
    golden_files,
    read_lines,
)
from tests.conformance.systems import SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_SHOWN_FAILURES: Final = 20


def test_that_recordings_were_found_and_every_line_can_be_replayed(
    request: pytest.FixtureRequest,
) -> None:
    folder = recordings_folder(request.config)
    known = {system.name for system in SYSTEMS}

    files = golden_files(folder)
    found = {path.name: {line.system for line in read_lines(path)} for path in files}

    assert found, f"no recording (*.jsonl or *.jsonl.gz) in {folder}"
    assert [name for name, systems in found.items() if not systems] == [], "without a line"
    assert {system for systems in found.values() for system in systems} <= known


def recorded(path: Path) -> Iterator[tuple[System, GoldenLine, list[Event]]]:
    """Go through the lines of a recording, once for each system that can replay one."""
    for line in read_lines(path):
        for system in SYSTEMS:
            if system.name == line.system and (expected := system.expected(line)) is not None:
                yield system, line, expected


def test_that_every_event_is_as_recorded(
    golden_file: Path, record_property: Callable[[str, object], None]
) -> None:
    failures, replayed = [], 0
    for system, line, expected in recorded(golden_file):
        replayed += 1
        try:
            difference = first_difference(expected, system.replay(line))
        except Exception:  # noqa: BLE001 - a line that cannot be replayed hides no other
            difference = traceback.format_exc()
        # Counted by the summary.
        record_property("conformance", (system.title, "different" if difference else "same"))

        is_kept = line.id in system.kept_differences
        where = f"{system.title}, {line.id}"
        if is_kept and not difference:
            failures.append(f"{where}: listed as kept different, but the same: take it off")
        elif difference and not is_kept:
            failures.append(f"{where}: {line.data.get('desc', '')}\n{difference}")
    count = f"{len(failures)} of {replayed} lines"
    assert not failures, "\n\n".join([count, *failures[:_SHOWN_FAILURES]])
