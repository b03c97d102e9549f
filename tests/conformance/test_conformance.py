"""Every recorded sequence of the originals comes out the same here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conformance.conftest import recordings_folder
from tests.conformance.replay import first_difference, golden_files, system_name
from tests.conformance.systems import SYSTEMS

if TYPE_CHECKING:
    from tests.conformance.replay import GoldenLine, System


def test_that_recordings_of_a_known_system_were_found(request: pytest.FixtureRequest) -> None:
    folder = recordings_folder(request.config)
    known = {system.name for system in SYSTEMS}

    found = [path.name for path in golden_files(folder) if system_name(path) in known]

    assert found, f"no recording of {', '.join(sorted(known))} in {folder}"


def test_that_every_event_is_as_recorded(
    golden_case: tuple[System, GoldenLine], tally: dict[str, list[int]]
) -> None:
    system, line = golden_case
    counts = tally[system.title]
    counts[2] += 1

    difference = first_difference(line.expected(system.variant), system.replay(line))

    if line.id in system.kept_differences:
        counts[1] += 1
        assert difference, "listed as kept different, but it is the same: take it off the list"
        return
    assert difference is None, f"{line.id}: {line.data.get('desc', '')}\n{difference}"
    counts[0] += 1
