"""What tests of JavaScript programs need, or the reason why it is not here."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from inspector.errors import ProgramStartError
from inspector.sessions.attached.doors.browser import find_browser

PROBE = Path(__file__).resolve().parents[1] / "inspector" / "probe" / "js" / "probe.js"

_NODE = (18, 0)
#: Where packages are kept, and how long. Npm takes seconds of the processor for each, and a large
#: archive half a second to unpack.
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


def npm_package(name: str) -> Path:
    """Return the folder of an installed package from npm, or skip the test."""
    kept = _KEPT / name.replace("/", "-")
    if not _is_fresh(kept):
        with _made_beside(kept) as folder:
            quiet = ("--no-audit", "--no-fund", "--ignore-scripts")
            _npm("install", *quiet, "--prefix", str(folder), name)
    return kept / "node_modules" / name


def npm_file(name: str, path: str) -> Path:
    """Return a file of a package from npm, or skip the test."""
    kept = _KEPT / f"{name}-file"
    if not _is_fresh(kept):
        with _made_beside(kept) as folder:
            archive = _npm("pack", "--silent", "--pack-destination", str(folder), name).split()[-1]
            with tarfile.open(folder / archive) as packed:
                file = packed.extractfile(f"package/{path}")
                assert file is not None
                (folder / Path(path).name).write_bytes(file.read())
            (folder / archive).unlink()
    return kept / Path(path).name


def _is_fresh(kept: Path) -> bool:
    return kept.exists() and kept.stat().st_mtime > time.time() - _KEPT_S


@contextmanager
def _made_beside(kept: Path) -> Iterator[Path]:
    """Make a folder that replaces another, which other workers may be making too."""
    _KEPT.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=_KEPT, ignore_cleanup_errors=True) as made:
        folder = Path(made) / "it"
        folder.mkdir()
        yield folder
        with suppress(OSError):
            if kept.exists():
                kept.rename(Path(made) / "old")
            folder.rename(kept)


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
