"""Packages with entry points, written as an installation leaves them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

from tests.forked.python import COMMAND_LINE, run_python

_PROJECT = Path(__file__).resolve().parents[1]


def install(
    folder: Path,
    name: str,
    modules: Mapping[str, str],
    entry_points: Mapping[str, Mapping[str, str]],
) -> None:
    """Write a package and its metadata into a folder that is on the path.

    Args:
        folder: Such as ``site-packages``.
        name: Of the distribution; its version is 1.0.
        modules: Source by path, such as ``extras/panel.py``.
        entry_points: Targets by name, by group without ``timeline_inspector.``.
    """
    for path, source in modules.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(textwrap.dedent(source), encoding="utf-8")
    metadata = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = []
    for group, points in entry_points.items():
        lines.append(f"[timeline_inspector.{group}]")
        lines += [f"{point} = {target}" for point, target in points.items()]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def run_with(
    folder: Path, *arguments: str, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command line in a separate process, with the packages of a folder installed."""
    words = ("-m", "inspector", *arguments)
    return run_python(COMMAND_LINE, words, _environment(folder), cwd or folder)


def python_with(
    folder: Path, *arguments: str, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python with the packages of a folder installed."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd or folder,
        env=_environment(folder),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def _environment(folder: Path) -> dict[str, str]:
    path = os.pathsep.join([str(folder), str(_PROJECT)])
    return {**os.environ, "PYTHONPATH": path, "QT_QPA_PLATFORM": "offscreen"}
