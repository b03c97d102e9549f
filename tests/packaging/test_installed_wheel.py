"""The wheel, installed where nothing else is, run from a folder with its own ``ui``."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass
from importlib.metadata import distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from inspector import __version__

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

_PROJECT = Path(__file__).resolve().parents[2]
_DECOY = 'raise SystemExit("the wrong ui was imported")\n'
# A user's own scene, which imports the user's own package ``ui``.
_SCENE = """\
from pathlib import Path

import ui


def build(stage):
    stage.root.set_timeout(0.01, Path("ran").write_text, ui.WHOSE)
"""


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment with our wheel and its dependencies only."""

    folder: Path

    def run(
        self, program: str, *arguments: str, cwd: Path, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.folder / "bin" / program, *arguments],
            cwd=cwd,
            env=self.environment(**variables),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def environment(self, **variables: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        own = {"HOME": str(self.folder), "QT_QPA_PLATFORM": "offscreen"}
        return kept | own | variables


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("dist")
    # As its frontends do, which read pyproject.toml first: so does each installation from sources.
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    built = subprocess.run(build, cwd=_PROJECT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = target.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = str(folder / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)
    site = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    link_dependencies(Path(site.stdout.strip()))
    share_compiled(Path(site.stdout.strip()))
    return Installed(folder)


def share_compiled(site: Path) -> None:
    """Have modules compiled as in the checkout, which holds for files that are as old."""
    packages = [_PROJECT / "inspector", _PROJECT / "ui"]
    for compiled in [path for each in packages for path in each.rglob("*.pyc")]:
        source = compiled.parents[1] / f"{compiled.name.partition('.')[0]}.py"
        installed = site / source.relative_to(_PROJECT)
        if installed.exists() and installed.read_bytes() == source.read_bytes():
            made = source.stat()
            os.utime(installed, ns=(made.st_atime_ns, made.st_mtime_ns))
            target = installed.parent / "__pycache__" / compiled.name
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(compiled, target)


def link_dependencies(site: Path) -> None:
    """Give an environment what its package requires, and nothing else, from that of the tests."""
    (ours,) = distributions(path=[str(site)])
    needed, linked = list(ours.requires or ()), set()
    while needed:
        requirement = Requirement(needed.pop())
        is_wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if not is_wanted or requirement.name in linked:
            continue
        linked.add(requirement.name)
        found = distribution(requirement.name)
        assert found.version in requirement.specifier
        needed += found.requires or ()
        tops = {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}
        for top in tops:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(found.locate_file(top))))


@pytest.fixture
def foreign_folder(tmp_path: Path) -> Path:
    """Return a folder whose package ``ui`` ends the program that imports more than its name."""
    (tmp_path / "ui").mkdir()
    (tmp_path / "ui" / "__init__.py").write_text('WHOSE = "theirs"\n')
    (tmp_path / "ui" / "application.py").write_text(_DECOY)
    (tmp_path / "ui" / "picture.py").write_text(_DECOY)
    (tmp_path / "scene.py").write_text(_SCENE)
    return tmp_path


def test_that_the_wheel_holds_two_packages_and_the_resources_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    resources = _PROJECT / "resources"

    tops = {name.split("/")[0] for name in names}
    assert tops == {"inspector", "ui", f"timeline_inspector-{__version__}.dist-info"}
    assert {
        f"inspector/_resources/{path.relative_to(resources).as_posix()}"
        for path in resources.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    } <= set(names)
    assert {"inspector/py.typed", "ui/py.typed", "inspector/probe/js/probe.js"} <= set(names)
    assert not [name for name in names if "__pycache__" in name or "/." in name]


@pytest.mark.parametrize("directory", ["/", "foreign"])
def test_that_the_command_runs_from_any_directory(
    installed: Installed, foreign_folder: Path, directory: str
) -> None:
    cwd = foreign_folder if directory == "foreign" else Path(directory)

    version = installed.run("timeline-inspector", "--version", cwd=cwd)
    module = installed.run("python", "-m", "inspector", "--version", cwd=cwd)
    scenes = installed.run("timeline-inspector", "scenes", cwd=cwd)

    assert version.stderr == module.stderr == scenes.stderr == ""
    assert __version__ in version.stdout
    assert module.stdout == version.stdout
    assert "small_game" in scenes.stdout


@pytest.mark.parametrize("path", ["", "."])
def test_that_a_picture_is_exported_beside_a_foreign_ui(
    installed: Installed, foreign_folder: Path, path: str
) -> None:
    done = installed.run(
        "timeline-inspector",
        *("run", "scene.py", "--frames", "30", "--export", "frames.png"),
        cwd=foreign_folder,
        PYTHONPATH=path,
    )

    assert done.returncode == 0, done.stderr
    assert (foreign_folder / "frames.png").read_bytes().startswith(b"\x89PNG")
    assert (foreign_folder / "ran").read_text() == "theirs"


@pytest.mark.parametrize("path", ["", "."])
def test_that_the_window_runs_a_scene_that_imports_a_foreign_ui(
    installed: Installed, foreign_folder: Path, path: str
) -> None:
    window = subprocess.Popen(
        [installed.folder / "bin" / "timeline-inspector", "scene.py"],
        cwd=foreign_folder,
        env=installed.environment(PYTHONPATH=path),
        stderr=subprocess.PIPE,
        text=True,
    )
    sign = foreign_folder / "ran"
    deadline = time.monotonic() + 60
    while not sign.exists() and window.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    window.terminate()
    _, said = window.communicate(timeout=60)

    # The offscreen platform says what it cannot do; nothing else may be said.
    assert not [line for line in said.splitlines() if "This plugin does not support" not in line]
    assert sign.read_text() == "theirs"
    assert window.returncode == 128 + signal.SIGTERM


def test_that_a_host_program_keeps_its_ui_and_gets_our_window(
    installed: Installed, foreign_folder: Path
) -> None:
    host = (
        "import sys, ui; from inspector.window_loader import load_ui;"
        "ours = load_ui('window.application');"
        "print(ui.WHOSE, 'site-packages' in ours.__file__, sys.modules['ui'] is ui)"
    )

    done = installed.run("python", "-c", host, cwd=foreign_folder)

    assert done.stdout.split() == ["theirs", "True", "True"], done.stderr
