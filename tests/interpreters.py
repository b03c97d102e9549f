"""The Pythons of this machine, for tests of what runs inside other people's programs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

#: The oldest that the probe supports, some between, the newest.
VERSIONS = ("3.9", "3.12", "3.14")


def interpreter(version: str) -> str:
    """Return a Python of that version; without one, the test is skipped."""
    found = _find(version)
    if found is None:
        pytest.skip(f"there is no Python {version} here; “uv python install {version}” gets one")
    return found


@cache
def _find(version: str) -> str | None:
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    for candidate in _candidates(version):
        try:
            done = subprocess.run(  # noqa: PLW1510 - a shim fails
                [candidate, "-Sc", ask], capture_output=True, text=True, timeout=30
            )
        except OSError:
            continue
        if done.stdout.strip() == version:
            return candidate
    return None


def _candidates(version: str) -> Iterator[str]:
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        yield sys.executable
    # Before what PATH has: shims of pyenv are scripts of a shell, which take ten times as long.
    for root, pattern in (
        (Path.home() / ".pyenv" / "versions", f"{version}.*"),
        (Path.home() / ".local" / "share" / "uv" / "python", f"cpython-{version}.*"),
    ):
        yield from (str(path / "bin" / "python") for path in sorted(root.glob(pattern)))
    for folder in os.get_exec_path():
        found = shutil.which(f"python{version}", path=folder)
        if found:
            yield found
