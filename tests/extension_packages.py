"""Packages with entry points, written as an installation leaves them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Mapping
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path

from inspector import launcher

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
    """Run a command line in a separate process, with the packages of a folder installed.

    It is a copy of one that has imported the command line, where there are such.
    """
    if "forkserver" not in get_all_start_methods():
        return python_with(folder, "-m", "inspector", *arguments, cwd=cwd)
    context = get_context("forkserver")
    context.set_forkserver_preload(["inspector.cli.export", "inspector.cli.run"])
    with tempfile.TemporaryDirectory() as outputs:
        environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
        values = (str(folder), arguments, cwd or folder, environment, outputs)
        process = context.Process(target=_run, args=values)
        process.start()
        process.join(100)
        said = [(Path(outputs) / name).read_text("utf-8") for name in ("1", "2")]
    assert process.exitcode is not None
    return subprocess.CompletedProcess(arguments, process.exitcode, *said)


def _run(
    folder: str, arguments: tuple[str, ...], cwd: Path, environment: dict[str, str], outputs: str
) -> None:
    """Run a command line in this process, and end it."""
    for number in (1, 2):
        with (Path(outputs) / str(number)).open("wb") as file:
            os.dup2(file.fileno(), number)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    sys.path.insert(0, folder)
    sys.argv[:] = ["timeline-inspector", *arguments]
    sys.exit(launcher.main())


def python_with(
    folder: Path, *arguments: str, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python with the packages of a folder installed."""
    path = os.pathsep.join([str(folder), str(_PROJECT)])
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd or folder,
        env={**os.environ, "PYTHONPATH": path, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
