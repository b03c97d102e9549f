"""Every recorded sequence of the originals comes out the same here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conformance.conftest import recordings_folder
from tests.conformance.replay import first_difference, golden_files, read_lines
from tests.conformance.systems import SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.replay import GoldenLine, System


def test_that_recordings_were_found_and_every_line_can_be_replayed(
    request: pytest.FixtureRequest,
) -> None:
    folder = recordings_folder(request.config)
    known = {system.name for system in SYSTEMS}

    files = golden_files(folder)
    found = {path.name: [line.system for line in read_lines(path)] for path in files}

    assert found, f"no recording (*.jsonl or *.jsonl.gz) in {folder}"
    assert [name for name, systems in found.items() if not systems] == [], "without a line"
    assert {system for systems in found.values() for system in systems} <= known


def test_that_every_event_is_as_recorded(
    golden_case: tuple[System, GoldenLine], record_property: Callable[[str, object], None]
) -> None:
    system, line = golden_case
    expected = system.expected(line)
    assert expected is not None
    difference = first_difference(expected, system.replay(line))
    # Counted by the summary.
    record_property("conformance", (system.title, "different" if difference else "same"))

    if line.id in system.kept_differences:
        assert difference, "listed as kept different, but it is the same: take it off the list"
        return
    assert difference is None, f"{line.id}: {line.data.get('desc', '')}\n{difference}"
