"""The small wheel of the probe, alone in an environment."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from inspector import __version__
from inspector.probe.kinds import MARK
from tests.probe.receiver import TOKEN, dialled

PROJECT = Path(__file__).resolve().parents[2]
PROBE = PROJECT / "inspector" / "probe"
PROGRAM = """
import sys
import time
before = set(sys.modules)
import timeline_probe
new = {name.partition(".")[0] for name in set(sys.modules) - before}
server = timeline_probe.serve(sys.argv[1], token=sys.argv[2])
print(sorted(new - set(sys.stdlib_module_names)), timeline_probe.__file__, flush=True)
while True:
    timeline_probe.frame()
    timeline_probe.mark("here")
    time.sleep(0.01)
"""


def _ran(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("dist")
    build = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", target)
    _ran(*build, PROJECT / ".ci" / "probe-wheel")
    (path,) = target.glob("*.whl")
    return path


def test_that_it_holds_the_probe_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())

    ours = {
        f"timeline_probe/{path.relative_to(PROBE).as_posix()}"
        for path in PROBE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    ours.add("timeline_probe/LICENSE")
    own = f"timeline_probe-{__version__}.dist-info/"
    assert {name for name in names if not name.startswith(own)} == ours


def test_that_a_program_in_a_bare_environment_is_attached_to(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    _ran(sys.executable, "-m", "venv", "--without-pip", environment)
    python = environment / "bin" / "python"
    install = ("-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps")
    _ran(sys.executable, *install, wheel)
    address = f"unix:{tmp_path / 'socket'}"

    with subprocess.Popen(
        [python, "-I", "-c", PROGRAM, address, TOKEN], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        new, file = process.stdout.readline().split()
        receiver = dialled(address)
        receiver.wait_for(lambda: [event for event in receiver.events if event[1] == MARK])
        receiver.close()
        process.kill()

    assert new == "['timeline_probe']"
    assert Path(file).is_relative_to(environment)
