"""The package on the help page “Extending”, installed and at work."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from inspector.extensions import GROUPS
from inspector.resources import resource_path
from tests.extension_packages import python_with, run_with

PAGE = resource_path("help", "extending.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))
PROJECT = tomllib.loads(FILES["pyproject.toml"])["project"]
_FRAMES = "frame_time\n16.5\n25.25\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the package of the page is installed, from a wheel built of it."""
    return _installed(_written(tmp_path_factory), tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def program_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the page's package for attached programs is installed."""
    project = _written(tmp_path_factory) / "sched_timeline"
    return _installed(project, tmp_path_factory.mktemp("program-site"))


def _written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("frame-extras")
    for name, source in FILES.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(source, encoding="utf-8")
    return project


def _installed(project: Path, folder: Path) -> Path:
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = (project / "dist").iterdir()
    with zipfile.ZipFile(wheel) as file:
        file.extractall(folder)
    return folder


def test_that_the_page_has_an_example_of_every_group() -> None:
    assert set(PROJECT["entry-points"]) == {f"timeline_inspector.{group}" for group in GROUPS}


def test_that_every_example_is_listed_and_works(site: Path) -> None:
    done = run_with(site, "extensions", "--json")

    assert done.returncode == 0, done.stdout
    listed = json.loads(done.stdout)
    assert list(listed) == list(GROUPS)
    for group, extensions in listed.items():
        points = PROJECT["entry-points"][f"timeline_inspector.{group}"]
        assert {each["name"]: each["target"] for each in extensions} == points
        assert {each["package"] for each in extensions} == {"frame-extras 1.0"}


def test_that_the_importer_recognises_a_file_by_its_content(site: Path, tmp_path: Path) -> None:
    (tmp_path / "times.txt").write_text("stopwatch, microseconds\n16500\n25250\n")

    exported = run_with(site, "export", "times.txt", "-o", "t.csv", cwd=tmp_path)
    ran = run_with(site, "run", "1", "--frame-times", "times.txt", cwd=tmp_path)

    assert exported.returncode == 0, exported.stderr
    rows = (tmp_path / "t.csv").read_text().splitlines()[1:]
    assert [row.split(",")[2] for row in rows] == ["16500000", "25250000"]
    assert "frame times of times.txt" in ran.stdout


def test_that_the_importer_sees_compressed_files_too(site: Path, tmp_path: Path) -> None:
    with gzip.open(tmp_path / "times.txt.gz", "wb") as file:
        file.write(b"stopwatch, microseconds\n16500\n25250\n")

    done = run_with(site, "export", "times.txt.gz", "-o", "t.csv", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    rows = (tmp_path / "t.csv").read_text().splitlines()[1:]
    assert [row.split(",")[2] for row in rows] == ["16500000", "25250000"]


def test_that_the_dialect_is_a_subject_of_the_lab(site: Path, tmp_path: Path) -> None:
    assert "my-engine-2" in run_with(site, "lab", "--list").stdout

    line = ("lab", "--subject", "my-engine-2", "--display", "60", "--seconds", "1")
    done = run_with(site, *line, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "My engine 2" in done.stdout


_SCENE = """
def build(stage):
    stage.root.set_interval(90, lambda: None, name="autosave")
"""


def test_that_the_lint_rule_is_listed_and_run(site: Path, tmp_path: Path) -> None:
    (tmp_path / "scene.py").write_text(_SCENE)

    found = run_with(site, "lint", "scene.py", cwd=tmp_path)

    assert "long interval: An interval of more than a minute" in found.stdout, found.stderr
    assert "“autosave” repeats every 90 s." in found.stdout
    assert "long interval" in run_with(site, "lint", "--help").stdout


def test_that_the_time_source_drives_a_run(site: Path, tmp_path: Path) -> None:
    line = ("run", "1", "--frames", "4", "--source", "coarse", "--export", "r.csv")
    done = run_with(site, *line, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "in real time, coarse" in done.stdout
    rows = (tmp_path / "r.csv").read_text().splitlines()[1:]
    assert {int(row.split(",")[2]) % 10_000_000 for row in rows} == {0}
    assert "virtual, system, coarse" in run_with(site, "lint", "--help").stdout


def test_that_the_exporter_writes(site: Path, tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text(_FRAMES)

    done = run_with(site, "export", "c.csv", "--as", "dat", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    written = (tmp_path / "c.dat").read_text()
    assert written == "# c.csv\n0.016500000 16.500000\n0.041750000 25.250000\n"


def test_that_the_command_runs(site: Path, tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text(_FRAMES)

    assert run_with(site, "longest", "c.csv", cwd=tmp_path).stdout == "25.250 ms\n"
    assert "longest FILE" in run_with(site, "--help").stdout


_SCHEDULED = """
import sched, time

def chime():
    pass

scheduler = sched.scheduler()
for second in range(100):
    scheduler.enter(0.02 * second, 1, chime)
scheduler.cancel(scheduler.enter(50, 1, chime))
scheduler.run()
"""


def test_that_the_adapter_shows_what_its_library_schedules(
    program_site: Path, tmp_path: Path
) -> None:
    (tmp_path / "chimes.py").write_text(_SCHEDULED)

    line = ("attach", "--seconds", "1", "--json", sys.executable, "chimes.py")
    done = python_with(program_site, "-m", "inspector", *line, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert "sched" in [clock["name"] for clock in said["clocks"]]
    (program,) = said["programs"]
    assert "sched" in program["adapters"]
    chimes = [timer for timer in said["timers"] if timer["label"] == "chime"]
    assert sum(timer["fired"] for timer in chimes) > 0


_WINDOW = (
    f"SCENE = {_SCENE!r}"
    """
from pathlib import Path
from PySide6.QtWidgets import QComboBox
from tests.ui.lone_window import finish, lone_shell, turn

shell = lone_shell(SCENE)
window = shell.window
shell.trigger("time-source-coarse")
window.open_path(Path("scene.py"))
said = {"source": type(shell.bridge.session.source).__name__}
shell.trigger("panel-frame_count")
shell.advance(1)
said["panel"] = window.panels.panel("frame_count").text()
said["frames"] = shell.bridge.timeline.frames.end
shell.trigger("export")
turn()
formats = window.findChild(object, "export_dialog").findChildren(QComboBox)
said["formats"] = [box.itemText(row) for box in formats for row in range(box.count())]
shell.trigger("panel-findings")
findings = window.panels.panel("findings")
findings.analyse()
turn()
said["findings"] = [each.kind.name for each in findings.model.rows]
finish(shell, said)
"""
)


def test_that_the_examples_are_at_work_in_the_window(site: Path, tmp_path: Path) -> None:
    done = python_with(site, "-c", _WINDOW, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["panel"] == f"{said['frames']:,} frames have run."
    assert said["frames"] > 0
    assert said["source"] == "CoarseTimeSource"
    assert "long interval" in said["findings"]
    assert "gnuplot: two columns for gnuplot" in said["formats"]
    assert said["notice"] == ""
