"""Finds the recordings and reports, per system, how many lines match."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conformance.replay import GoldenLine, System, golden_files, read_lines
from tests.conformance.systems import SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Iterator

_OWN_RECORDINGS = Path(__file__).parent / "golden"
_tally: pytest.StashKey[dict[str, list[int]]] = pytest.StashKey()


def recordings_folder(config: pytest.Config) -> Path:
    """Return the folder of ``--golden``, by default ours."""
    asked = config.getoption("--golden", default=None)
    return Path(asked) if asked else _OWN_RECORDINGS


def _cases(folder: Path) -> Iterator[tuple[System, GoldenLine]]:
    for path in golden_files(folder):
        lines = list(read_lines(path))
        for system in SYSTEMS:
            for line in lines:
                if system.name == line.system and system.expected(line) is not None:
                    yield system, line


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test of every line of every recording."""
    if "golden_case" in metafunc.fixturenames:
        cases = list(_cases(recordings_folder(metafunc.config)))
        ids = [f"{system.title}:{line.id}" for system, line in cases]
        metafunc.parametrize("golden_case", cases, ids=ids)


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> dict[str, list[int]]:
    """Return the counts [matching, kept differences, all] by system."""
    return request.config.stash.setdefault(_tally, defaultdict(lambda: [0, 0, 0]))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say per system how many lines match."""
    counts = config.stash.get(_tally, {})
    if not counts:
        return
    terminalreporter.section("conformance")
    for title, (matching, kept, total) in sorted(counts.items()):
        differs = f", {kept} kept different on purpose" if kept else ""
        terminalreporter.write_line(f"{title}: {matching} of {total} lines match{differs}")
