"""What tests of JavaScript programs need, or the reason why it is not here."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import time
from functools import cache
from pathlib import Path

import pytest

from inspector.errors import ProgramStartError
from inspector.sessions.attached.doors.browser import find_browser

PROBE = Path(__file__).resolve().parents[1] / "inspector" / "probe" / "js" / "probe.js"

_NODE = (18, 0)
#: Where packages are kept, and how long. Npm takes seconds of the processor for each.
_KEPT = Path(__file__).resolve().parents[1] / ".pytest_cache" / "npm"
_KEPT_S = 7 * 24 * 3600


@cache
def _node() -> tuple[str, str]:
    path = shutil.which("node")
    if path is None:
        return "", "Node is not installed"
    text = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    if int(text.strip().lstrip("v").split(".")[0]) < _NODE[0]:
        return "", f"Node {text.strip()} is older than {_NODE[0]}"
    return path, ""


def node() -> str:
    """Return the path of Node, or skip the test."""
    path, reason = _node()
    if reason:
        pytest.skip(reason)
    return path


def npm_package(name: str, folder: Path) -> Path:
    """Install a package from npm; return its folder, or skip the test."""
    _npm("install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), name)
    return folder / "node_modules" / name


def npm_file(name: str, path: str) -> bytes:
    """Return a file of a package from npm, which is kept for a week, or skip the test."""
    folder = _KEPT / name
    fresh_s = time.time() - _KEPT_S
    archives = [each for each in folder.glob("*.tgz") if each.stat().st_mtime > fresh_s]
    if not archives:
        folder.mkdir(parents=True, exist_ok=True)
        archive = _npm("pack", "--silent", "--pack-destination", str(folder), name).split()[-1]
        (folder / archive).touch()
        archives = [folder / archive]
    with tarfile.open(archives[0]) as packed:
        file = packed.extractfile(f"package/{path}")
        assert file is not None
        return file.read()


def _npm(*arguments: str) -> str:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    done = subprocess.run(
        [npm, *arguments], capture_output=True, text=True, check=False, timeout=100
    )
    if done.returncode != 0:
        pytest.skip(f"npm {arguments[0]} {arguments[-1]} failed: {done.stderr.strip()[-300:]}")
    return done.stdout


def chromium() -> str:
    """Return the path of Chromium, or skip the test."""
    try:
        return find_browser()
    except ProgramStartError:
        pytest.skip("neither Chromium nor Chrome is installed")
