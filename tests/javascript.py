"""What tests of JavaScript programs need, or the reason why it is not here."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from inspector.errors import ProgramStartError
from inspector.sessions.attached.doors.browser import find_browser

PROBE = Path(__file__).resolve().parents[1] / "inspector" / "probe" / "js" / "probe.js"

_NODE = (18, 0)


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
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    command = [
        npm,
        "install",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--prefix",
        str(folder),
    ]
    done = subprocess.run(
        [*command, name], capture_output=True, text=True, check=False, timeout=100
    )
    if done.returncode != 0:
        pytest.skip(f"npm could not install {name}: {done.stderr.strip()[-300:]}")
    return folder / "node_modules" / name


def chromium() -> str:
    """Return the path of Chromium, or skip the test."""
    try:
        return find_browser()
    except ProgramStartError:
        pytest.skip("neither Chromium nor Chrome is installed")
