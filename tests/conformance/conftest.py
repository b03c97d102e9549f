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
