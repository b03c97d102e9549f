"""Launching a command line with the probe inside."""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from inspector.errors import AttachError, ProgramStartError
from inspector.exit_codes import ExitCode
from inspector.sessions.attached.connections import ProbeConnection
from inspector.sessions.attached.doors.command_lines import program_title
from inspector.sessions.attached.doors.launch import BOOTSTRAP, Launch
from tests.javascript import node

_SHOW = "#!/bin/sh\nenv > seen\necho out\nexit 3\n"


@dataclass
class StandIn:
    """The session's end, where nothing dials."""

    address: str = "unix:/nowhere/socket"
    tcp_address: str = "tcp:127.0.0.1:1"
    token: str = "00ff" * 8

    def processes(self) -> set[int]:
        return set()

    def dial(self, address: str, token: str) -> None:
        message = f"dialled {address} with {token}, where the program dials"
        raise AssertionError(message)

    def adopt(self, connection: ProbeConnection, *, dials: bool, token: str = "") -> None:
        message = f"adopted {connection} ({dials=}, {token=}), where the program dials"
        raise AssertionError(message)


def _script(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_that_a_program_gets_what_loads_the_probe_and_its_exit_code_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/their/modules")
    _script(tmp_path, "show", _SHOW)
    launched = Launch(("./show",), folder=tmp_path, hold=True, grant="step").open(StandIn())
    assert launched.wait() == 3
    seen = dict(
        line.split("=", 1) for line in (tmp_path / "seen").read_text().splitlines() if "=" in line
    )
    assert seen["PYTHONPATH"] == f"{BOOTSTRAP}{os.pathsep}/their/modules"
    assert {name: seen[name] for name in seen if name.startswith("TIMELINE_PROBE")} == {
        "TIMELINE_PROBE_CONNECT": "unix:/nowhere/socket",
        "TIMELINE_PROBE_TOKEN": "00ff" * 8,
        "TIMELINE_PROBE_HOLD": "1",
        "TIMELINE_PROBE_GRANT": "step",
    }
    assert capfd.readouterr().out == "out\n"
    assert "ended with exit code 3 before a probe in it answered" in launched.problem()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("bun", "Bun does not load the probe: run the program by Node (node …) to see it."),
        ("deno", "a program that may do everything: deno run -A …"),
    ],
)
def test_that_a_runtime_in_which_nothing_is_seen_is_named_with_what_to_do(
    name: str, said: str, tmp_path: Path
) -> None:
    _script(tmp_path, name, "#!/bin/sh\nexit 3\n")
    launched = Launch((str(tmp_path / name),)).open(StandIn())
    launched.wait()
    assert launched.problem().endswith(said)


def test_that_a_program_is_found_in_the_folder_it_runs_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "games").mkdir()
    _script(tmp_path / "games", "show", _SHOW)
    assert Launch(("./show",), folder=Path("games")).open(StandIn()).wait() == 3
    assert Launch(("games/show",)).open(StandIn()).wait() == 3


def test_that_output_can_go_to_standard_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = _script(tmp_path, "show", _SHOW)
    Launch((str(program),), folder=tmp_path, output_to_errors=True).open(StandIn()).wait()
    assert capfd.readouterr() == ("", "out\n")


def test_that_the_token_is_in_no_argument_and_no_file_name(tmp_path: Path) -> None:
    program = _script(tmp_path, "wait", "#!/bin/sh\nsleep 100\n")
    launched = Launch((str(program),)).open(acceptor := StandIn())
    try:
        if sys.platform == "linux":
            assert acceptor.token not in Path(f"/proc/{launched.pid}/cmdline").read_text()
        assert acceptor.token not in acceptor.address
    finally:
        launched.end()


def test_that_a_program_that_is_ended_answers_as_in_shells(tmp_path: Path) -> None:
    program = _script(tmp_path, "wait", "#!/bin/sh\nsleep 100 & wait\n")
    launched = Launch((str(program),)).open(StandIn())
    assert launched.poll() is None
    assert launched.problem() == ""
    launched.end()
    assert launched.poll() == 128 + signal.SIGTERM


@pytest.mark.parametrize(
    ("argv", "code", "sentence"),
    [
        (("no-such-program",), ExitCode.NOT_FOUND, "no program “no-such-program” on the path"),
        (("./none.py",), ExitCode.NOT_FOUND, "./none.py does not exist"),
        (("game.py",), ExitCode.NOT_FOUND, "write ./game.py"),
        (("./game.py",), ExitCode.NOT_EXECUTABLE, "Name the interpreter as well: python3"),
        (("./folder",), ExitCode.NOT_EXECUTABLE, "not a file that can be run"),
        (("./data",), ExitCode.NOT_EXECUTABLE, "Run: chmod +x ./data"),
        (("./broken",), ExitCode.NOT_EXECUTABLE, "could not be started"),
    ],
)
def test_that_a_program_that_cannot_be_started_is_told_with_a_way_out(
    tmp_path: Path, argv: tuple[str, ...], code: ExitCode, sentence: str
) -> None:
    (tmp_path / "game.py").write_text("print()")
    (tmp_path / "data").write_text("data")
    (tmp_path / "folder").mkdir()
    _script(tmp_path, "broken", "#!/no/such/interpreter\n")
    with pytest.raises(ProgramStartError) as caught:
        Launch(argv, folder=tmp_path).open(StandIn())
    assert sentence in str(caught.value)
    assert caught.value.exit_code is code


@pytest.mark.parametrize(
    ("options", "told"),
    [("-I", "-I"), ("-sE", "-E"), ("-BS", "-S"), ("-W ignore -I", "-I"), ("-X dev -Es", "-E")],
)
def test_that_a_python_that_ignores_its_environment_is_refused(
    tmp_path: Path, options: str, told: str
) -> None:
    with pytest.raises(AttachError, match=f"With {told}, Python does not load the probe"):
        Launch((sys.executable, *options.split(), "-c", "pass")).open(StandIn())
    script = _script(tmp_path, "tool", f"#!{sys.executable} {options}\n")
    with pytest.raises(AttachError, match=f"starts Python with {told}.*tool --level 3$"):
        Launch((str(script), "--level", "3")).open(StandIn())


@pytest.mark.parametrize(
    "rest",
    ["game.py -I", "-m game -S", "-mgame -E", "-c pass -I", "-Wignore game.py -E", "-X I game.py"],
)
def test_that_options_of_the_program_are_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rest: str
) -> None:
    _script(tmp_path, "python3", '#!/bin/sh\nprintf "%s " "$@" > seen\n')
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert Launch(("python3", *rest.split()), folder=tmp_path).open(StandIn()).wait() == 0
    assert (tmp_path / "seen").read_text().split() == rest.split()


@pytest.mark.parametrize(
    ("command", "title"),
    [
        ("python -m aiosmtpd -n", "aiosmtpd"),
        ("/usr/bin/python3.14 -X dev ./games/snake.py --level 3", "snake.py"),
        ("python3 -mhttp.server 80", "http.server"),
        ("/usr/bin/python3 -c pass", "python3 -c"),
        ("./snake.py", "snake.py"),
        ("node --inspect ./app.js --level 3", "app.js"),
        ("node -e pass", "-e"),
        ("node", "node"),
        ("python3", "python3"),
    ],
)
def test_that_the_title_is_what_people_call_the_program(command: str, title: str) -> None:
    assert program_title(command.split()) == title


def test_that_a_door_can_be_kept_as_plain_values() -> None:
    door = Launch(("python3", "game.py"))
    assert json.loads(json.dumps(door.argv)) == ["python3", "game.py"]
    assert hash(door) == hash(Launch(("python3", "game.py")))
    # Who is told of its end is no part of it.
    assert door == Launch(("python3", "game.py"), on_note=print)
    assert "on_note" not in repr(door)
    assert (door.hold, door.output_to_errors, door.is_bound) == (False, False, False)


def _node_options_of(folder: Path, *command: str) -> str:
    launched = Launch(command, folder=folder).open(StandIn())
    launched.wait()
    return (folder / "options").read_text().strip()


def test_that_node_is_not_told_to_load_what_it_cannot_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NODE_OPTIONS", "--no-warnings")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    for name in ("node", "chroot"):
        _script(tmp_path, name, '#!/bin/sh\necho "$NODE_OPTIONS" > options\n')
    assert "probe.js" in _node_options_of(tmp_path, "node", "x.js")
    for command in (["node", "--experimental-permission", "x.js"], ["chroot", "/x", "node"]):
        assert _node_options_of(tmp_path, *command) == "--no-warnings"
        starter = f"import subprocess; subprocess.run({command!r})"
        assert _node_options_of(tmp_path, sys.executable, "-c", starter) == "--no-warnings"
    starter = "import subprocess; subprocess.run('true; node x.js', shell=True)"
    assert "probe.js" in _node_options_of(tmp_path, sys.executable, "-c", starter)


def test_that_node_in_a_shell_script_is_not_told_to_load_what_it_cannot_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NODE_OPTIONS", "--no-warnings")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    _script(tmp_path, "node", '#!/bin/sh\necho "$NODE_OPTIONS" > options\n')
    _script(tmp_path, "start", "#!/usr/bin/env bash\ntrue\nexec node --permission x.js\n")
    (tmp_path / "plain").write_text("node --experimental-permission x.js\n")
    _script(tmp_path, "free", "#!/bin/sh\nnode x.js\n")
    _script(tmp_path, "x", f"#!{sys.executable}\n'--permission'\nimport os; os.system('node')\n")

    for command in (["./start"], ["sh", "plain"], ["bash", "-e", "./start"]):
        assert _node_options_of(tmp_path, *command) == "--no-warnings"
        starter = f"import subprocess; subprocess.run({command!r}, cwd={str(tmp_path)!r})"
        python = (sys.executable, "-c", f"import os; os.chdir('/'); {starter}")
        assert _node_options_of(tmp_path, *python) == "--no-warnings"
    for command in (["./free"], ["./x"]):
        assert "probe.js" in _node_options_of(tmp_path, *command)


#: How Node starts another one, and keeps what that has printed.
_WAYS_OF_NODE = {
    "exec": "exec(line, (_, out) => keep(out))",
    "exec a script": "exec('sh run.sh', (_, out) => keep(out))",
    "execFile": "execFile(file, args, (_, out) => keep(out))",
    "execFileSync": "keep(execFileSync(file, args))",
    "execSync": "keep(execSync(line))",
    "execSync with options": "keep(execSync(line, { cwd: here }))",
    "spawnSync": "keep(spawnSync(file, args).stdout)",
    "spawnSync in a shell": "keep(spawnSync(line, { shell: true }).stdout)",
    "spawnSync with an environment": "keep(spawnSync(file, args, { env: process.env }).stdout)",
    "spawnSync of a script": "keep(spawnSync('./run.sh', { cwd: here }).stdout)",
}


@pytest.mark.parametrize("imports", ["require", "import"])
def test_that_children_of_node_start_that_may_not_read_the_probe(
    tmp_path: Path, imports: str
) -> None:
    (tmp_path / "x.js").write_text("require('fs'); console.log('ran')")
    args = ["--no-warnings", "--experimental-permission", f"--allow-fs-read={tmp_path}/*", "x.js"]
    _script(tmp_path, "run.sh", f"#!/bin/sh\n{node()} {' '.join(args)}\n")
    names = "exec, execFile, execFileSync, execSync, spawnSync"
    begin = f"const {{ {names} }} = require('child_process'), fs = require('fs');"
    ways = _WAYS_OF_NODE
    if imports == "import":
        # How a function is called makes no difference to how it was imported.
        ways = {name: ways[name] for name in names.split(", ")}
        begin = f"import {{ {names} }} from 'child_process'; import fs from 'fs';"
    starter = tmp_path / ("start.mjs" if imports == "import" else "start.js")
    starter.write_text(
        f"{begin}\n"
        f"const file = {node()!r}, args = {args!r}, line = [file, ...args].join(' ');\n"
        f"const here = {str(tmp_path)!r};\n"
        + "".join(
            f"{{ const keep = (out) => fs.writeFileSync({f'out of {way}'!r}, out);\n{code}; }}\n"
            for way, code in ways.items()
        )
    )
    Launch((node(), str(starter)), folder=tmp_path).open(StandIn()).wait()
    told = {way: (tmp_path / f"out of {way}").read_text() for way in ways}
    assert told == dict.fromkeys(ways, "ran\n")
