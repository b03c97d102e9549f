"""Finds the recordings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.replay import golden_files

_OWN_RECORDINGS = Path(__file__).parent / "golden"


def recordings_folder(config: pytest.Config) -> Path:
    """Return the folder of ``--golden``, by default ours."""
    asked = config.getoption("--golden", default=None)
    return Path(asked) if asked else _OWN_RECORDINGS


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test of every recording, which reads it: each process collects them all."""
    if "golden_file" in metafunc.fixturenames:
        files = golden_files(recordings_folder(metafunc.config))
        metafunc.parametrize("golden_file", files, ids=[path.name for path in files])
