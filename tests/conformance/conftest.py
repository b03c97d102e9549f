"""Finds the recordings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conformance.replay import GoldenLine, System, golden_files, read_lines
from tests.conformance.systems import SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Iterator

_OWN_RECORDINGS = Path(__file__).parent / "golden"


def recordings_folder(config: pytest.Config) -> Path:
    """Return the folder of ``--golden``, by default ours."""
    asked = config.getoption("--golden", default=None)
    return Path(asked) if asked else _OWN_RECORDINGS


def _cases(folder: Path) -> Iterator[tuple[System, Path, list[GoldenLine]]]:
    for path in golden_files(folder):
        lines = list(read_lines(path))
        for system in SYSTEMS:
            recorded = [
                line
                for line in lines
                if system.name == line.system and system.expected(line) is not None
            ]
            if recorded:
                yield system, path, recorded


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test of every recording of a system: one of every line would take twice as long."""
    if "golden_lines" in metafunc.fixturenames:
        cases = list(_cases(recordings_folder(metafunc.config)))
        ids = [f"{system.title}:{path.name}" for system, path, _ in cases]
        metafunc.parametrize(
            ("system", "golden_lines"), [(system, lines) for system, _, lines in cases], ids=ids
        )
