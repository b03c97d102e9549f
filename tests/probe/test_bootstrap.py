"""The folder on PYTHONPATH that puts the probe into a program, in other interpreters."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from ast import literal_eval
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from inspector.probe.wire import FrameReader, unpacked_json
from tests.interpreters import VERSIONS, interpreter

_BOOTSTRAP = Path(__file__).resolve().parents[2] / "inspector" / "probe" / "bootstrap"
_TOKEN = "0123456789abcdef" * 2

#: A probe that writes down, for each process, how it was started.
_STAND_IN = """
import os, sys
from .bootstrap.children import hand_on
def start(**arguments):
    hand_on(arguments["connect"], arguments["token"], arguments["grant"])
    place = os.path.join(os.environ["STARTED"], str(os.getpid()))
    with open(place, "w") as file:
        file.write(repr({"argv": getattr(sys, "orig_argv", None), **arguments}))
"""


class Programs:
    """Runs programs with a stand-in of the probe."""

    def __init__(self, folder: Path, bootstrap: Path) -> None:
        self.folder = folder
        self.started = folder / "started"
        self.started.mkdir()
        self.bootstrap = bootstrap
        self.environment = {
            **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            "PYTHONPATH": str(self.bootstrap),
            "TIMELINE_PROBE_CONNECT": "unix:/nowhere",
            "TIMELINE_PROBE_TOKEN": _TOKEN,
            "TIMELINE_PROBE_HOLD": "1",
            "TIMELINE_PROBE_GRANT": "step",
            "STARTED": str(self.started),
        }

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return str(path)

    def run(self, *command: str, **environment: str) -> str:
        done = subprocess.run(
            command,
            env=self.environment | environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    @property
    def probes(self) -> list[dict[str, Any]]:
        return [literal_eval(path.read_text()) for path in self.started.iterdir()]


def bootstrap_in(folder: Path, probe: str) -> Path:
    """Make a folder of a probe, and return the one on the path of programs."""
    place = folder / "a folder" / "probe"
    shutil.copytree(_BOOTSTRAP, place / "bootstrap", ignore=shutil.ignore_patterns("__pyc*"))
    (place / "__init__.py").write_text(probe)
    return place / "bootstrap"


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make one for all programs, so that it is compiled once."""
    return bootstrap_in(tmp_path_factory.mktemp("probe"), _STAND_IN)


@pytest.fixture
def programs(tmp_path: Path, bootstrap: Path) -> Programs:
    return Programs(tmp_path, bootstrap)


@pytest.fixture(params=VERSIONS)
def python(request: pytest.FixtureRequest) -> str:
    return interpreter(request.param)


def test_that_a_script_starts_with_the_probe_and_sees_a_path_without_it(
    programs: Programs, python: str
) -> None:
    game = programs.write(
        "game.py",
        "import os, sys\n"
        "print('timeline_probe' in sys.modules, 'sitecustomize' in sys.modules)\n"
        "print([each for each in sys.path if 'bootstrap' in each])\n"
        "print(sys.argv[1:], [name for name in sys.modules if name.startswith('children')])\n",
    )
    assert programs.run(python, game, "--level", "3").splitlines()[1:] == [
        "[]",
        "['--level', '3'] []",
    ]
    (probe,) = programs.probes
    del probe["argv"]
    assert probe == {
        "connect": "unix:/nowhere",
        "token": _TOKEN,
        "hold": True,
        "grant": "step",
        "only_children": False,
    }


def test_that_module_runs_code_and_executable_files_start_with_the_probe(
    programs: Programs, python: str
) -> None:
    programs.write("my_module.py", "print('a module')")
    game = programs.write("game.py", f"#!{python}\nprint('a file')")
    Path(game).chmod(0o755)
    assert programs.run(python, "-m", "my_module") == "a module\n"
    assert programs.run(python, "-c", "print('code')") == "code\n"
    assert programs.run(game) == "a file\n"
    assert programs.run("sh", "-c", f"exec {python} my_module.py") == "a module\n"
    assert len(programs.probes) == 4


def test_that_the_hidden_sitecustomize_runs_and_takes_its_name(
    programs: Programs, python: str
) -> None:
    programs.write("own/sitecustomize.py", "HIDDEN = 'mine'\nprint('hidden')")
    both = os.pathsep.join([str(programs.bootstrap), str(programs.folder / "own")])
    answer = programs.run(
        python, "-c", "import sitecustomize; print(sitecustomize.HIDDEN)", PYTHONPATH=both
    )
    assert answer == "hidden\nmine\n"
    assert len(programs.probes) == 1


def test_that_the_program_runs_without_a_probe_that_cannot_be_loaded(
    tmp_path: Path, python: str
) -> None:
    programs = Programs(tmp_path, bootstrap_in(tmp_path, "raise OSError('no disk')"))
    done = subprocess.run(
        [python, "-c", "print('runs')"],
        env=programs.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "runs\n")
    assert done.stderr == (
        "timeline probe: not loaded, the program runs without it: OSError('no disk')\n"
    )


def test_that_the_token_is_not_in_the_environment_that_programs_read(
    programs: Programs, python: str
) -> None:
    shown = programs.run(python, "-c", "import os; print(dict(os.environ), os.environb)")
    assert _TOKEN not in shown


#: Ways to start another Python, the last in its own place.
_CHILDREN = {
    "inheriting": "subprocess.run(command, check=True)",
    "copy of the environment": "subprocess.run(command, env=dict(os.environ), check=True)",
    "changed environment": "subprocess.run(command, env={**os.environ, 'A': 'b'}, check=True)",
    "in bytes": "subprocess.run(command, env=dict(os.environb), check=True)",
    "by position": (
        "given = dict(os.environ)\n"
        "subprocess.Popen(command, -1, None, None, None, None, None, 1, 0, None, given).wait()"
    ),
    "shell": "os.system(shlex.join(command))",
    "spawned": "os.waitpid(os.posix_spawn(python, command, os.environ), 0)",
    "asyncio": (
        "import asyncio\n"
        "async def main():\n"
        "    child = await asyncio.create_subprocess_exec(*command, env=dict(os.environ))\n"
        "    await child.wait()\n"
        "asyncio.run(main())"
    ),
    "replaced": "os.execve(python, command, dict(os.environ))",
}


def test_that_children_start_with_the_probe(programs: Programs, python: str) -> None:
    show = "import sys; print(sys.argv[1], 'timeline_probe' in sys.modules)"
    starts = "\n".join(
        f"command = [python, '-c', {show!r}, {way!r}]\n{start}" for way, start in _CHILDREN.items()
    )
    parent = programs.write(
        "parent.py", f"import os, shlex, subprocess, sys\npython = sys.executable\n{starts}\n"
    )
    assert programs.run(python, parent).splitlines() == [f"{way} True" for way in _CHILDREN]
    # A process that replaces itself writes the same file twice.
    probes = programs.probes
    assert len(probes) == len(_CHILDREN)
    assert all(probe["token"] == _TOKEN for probe in probes)
    assert not any(probe["hold"] for probe in probes), "only the program itself begins held"


def test_that_a_child_with_an_environment_of_its_own_is_left_alone(
    programs: Programs, python: str
) -> None:
    parent = programs.write(
        "parent.py",
        "import os, subprocess, sys\n"
        f"show = [{shutil.which('env')!r}]\n"
        "for own in ({}, {'A': 'b'}, {b'A': b'b'}):\n"
        "    subprocess.run(show, env=own, check=True)\n"
        "os.execve(*show, show, {b'A': b'c'})\n",
    )
    assert programs.run(python, parent).split() == ["A=b", "A=b", "A=c"]
    assert len(programs.probes) == 1


def test_that_an_empty_part_of_the_path_stays_where_it_is(programs: Programs) -> None:
    paths = {":/x": ["", "/x"], "/x::/y": ["/x", "", "/y"], "": []}
    parent = programs.write(
        "parent.py",
        "import os, subprocess\n"
        f"for path in {list(paths)}:\n"
        "    given = {**os.environ, 'PYTHONPATH': path}\n"
        "    subprocess.run(['printenv', 'PYTHONPATH'], env=given)\n",
    )
    handed = [line.split(os.pathsep) for line in programs.run(sys.executable, parent).splitlines()]
    assert handed == [[str(programs.bootstrap), *parts] for parts in paths.values()]


_WITHIN = """
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
within = interpreters.create()
interpreters.run_string(within, "print('within', flush=True)")
interpreters.destroy(within)
"""


def test_that_an_interpreter_within_the_program_has_no_probe(
    programs: Programs, python: str
) -> None:
    within = programs.write("within.py", _WITHIN)
    assert programs.run(python, within) == "within\n"
    assert [probe["hold"] for probe in programs.probes] == [True]


def test_that_processes_of_multiprocessing_start_with_the_probe_and_its_helpers_without(
    programs: Programs, python: str
) -> None:
    parent = programs.write(
        "parent.py",
        "import multiprocessing\n"
        "def work(): print('worked')\n"
        "if __name__ == '__main__':\n"
        "    for method in ('spawn', 'forkserver'):\n"
        "        child = multiprocessing.get_context(method).Process(target=work)\n"
        "        child.start(); child.join()\n",
    )
    assert programs.run(python, parent) == "worked\n" * 2
    starts = sorted(probe["only_children"] for probe in programs.probes)
    # The program, the process that was spawned, and the one that forks the other.
    assert starts == [False, False, True]


@pytest.mark.parametrize("version", ["2.7", "3.8"])
def test_that_a_python_that_is_too_old_says_so_and_runs_as_ever(
    programs: Programs, tmp_path: Path, version: str
) -> None:
    old = interpreter(version)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        listener.listen()
        address = f"unix:{tmp_path / 'socket'}"
        said: list[bytes] = []

        def take() -> None:
            connected, _ = listener.accept()
            with connected:
                said.append(connected.recv(1 << 16))

        taking = Thread(target=take)
        taking.start()
        shown = programs.run(old, "-c", "print('old')", TIMELINE_PROBE_CONNECT=address)
        taking.join()
    assert shown == "old\n"
    assert programs.probes == []
    ((_, payload),) = FrameReader().feed(said[0])
    params = unpacked_json(payload)["params"]
    assert params["token"] == _TOKEN
    assert params["unable"] == f"it runs on Python {version}, and the probe needs 3.9 or newer"


def test_that_loading_imports_nothing_that_takes_long(programs: Programs, python: str) -> None:
    heavy = (
        *("asyncio", "dataclasses", "importlib.util", "inspect", "logging", "multiprocessing"),
        *("pathlib", "socket", "subprocess", "tempfile", "threading", "typing"),
    )
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import timeline_probe_start; timeline_probe_start.load()\n"
        "from timeline_probe.bootstrap import children\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    bootstrap = str(programs.bootstrap)
    # Without site, which reads the environment's own start-up files.
    assert programs.run(python, "-S", "-c", code, bootstrap, TIMELINE_PROBE_TOKEN="") == "[]\n"
