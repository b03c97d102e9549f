"""Every command line and every program in README and help works as it is written."""

from __future__ import annotations

import re
import shlex
import sqlite3
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from inspector.cli import main as cli
from inspector.events.conditions.conditions import parsed_condition
from inspector.exit_codes import ExitCode
from inspector.resources import resource_path

_README = Path(__file__).parents[2] / "README.md"
_PAGES = {
    path.stem: path.read_text(encoding="utf-8")
    for path in ((_README,) if _README.exists() else ()) + tuple(resource_path("help").glob("*.md"))
}
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^ *(?:\$ )?timeline-inspector (?!: )(.*?)(?:  +#.*)?$", re.MULTILINE)

_SCENE = """
def build(stage):
    game = stage.root.child("game")
    enemies = game.child("enemies")
    enemies.set_interval(0.35, lambda: None, name="enemy")
    game.set_interval(3, lambda: None, name="autosave")
    game.set_timeout(10, game.pause, name="game over")
    enemies.set_timeout(12, lambda: None, name="boss arrives")
"""
#: What pages take for granted, written before their first line.
_RECORD = "run game.py --seconds 20 --record"
_GIVEN = {
    "exporting": (f"{_RECORD} game.tlrec --quiet",),
    "explain": (
        "run game.py --seconds 41 --record crash.tlrec --quiet",
        "run game.py --seconds 5 --record game.tlrec --quiet",
    ),
    "late": (f"{_RECORD} crash.tlrec --quiet",),
    "statistics": (
        f"{_RECORD} run.tlrec --quiet",
        "run game.py --seconds 5 --record before.tlrec --quiet",
        "run game.py --seconds 5 --record after.tlrec --quiet",
        *(
            f"run game.py --seconds {seconds} --record {side}-{seconds}.tlrec --quiet"
            for side in ("before", "after")
            for seconds in (1, 2, 3)
        ),
    ),
}


def _commands(page: str) -> list[str]:
    """Return what is typed after the name of the program, in the order of a page."""
    kinds = {"", "console", "yaml"}
    blocks = [text for kind, text in _BLOCK.findall(_PAGES[page]) if kind in kinds]
    return [line for text in blocks for line in _COMMAND.findall(text)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a user, with the files that the pages name."""
    monkeypatch.chdir(tmp_path)
    # A minute of a scene that runs in virtual time shows no more.
    monkeypatch.setattr("inspector.cli.explain.DEFAULT_SECONDS", 20)
    scene = re.search(r"```python\n(.*?def build.*?)```", _PAGES.get("README", ""), re.DOTALL)
    (tmp_path / "my_scene.py").write_text(scene[1] if scene else _SCENE)
    (tmp_path / "game.py").write_text(_SCENE)
    (tmp_path / "game.html").write_text("<html></html>")
    (tmp_path / "server.py").write_text("")
    times = [16.5 + (number % 7) * 0.01 for number in range(600)]
    plain = "frametime\n" + "".join(f"{each:.3f}\n" for each in times)
    for name in ("capture", "before", "after", "after-1", "after-2", "MangoHud"):
        (tmp_path / f"{name}.csv").write_text(plain)
    for version in ("main", "branch"):
        (tmp_path / "runs" / version).mkdir(parents=True)
        for number in range(3):
            (tmp_path / "runs" / version / f"{number}.csv").write_text(plain)
    rows = "".join(f"game.exe,{each:.3f}\n" for each in [90, *times, *times, *times, *times] * 3)
    (tmp_path / "PresentMon.csv").write_text(f"Application,MsBetweenPresents\n{rows}")
    slices = ",".join(
        f'{{"ph":"X","pid":1,"tid":1,"name":"Update (game)","ts":{number * 16_600},"dur":9000}}'
        for number in range(600)
    )
    names = '{"ph":"M","pid":1,"tid":1,"name":"process_name","args":{"name":"game"}}'
    (tmp_path / "trace.json").write_text(f'{{"traceEvents":[{names},{slices}]}}')
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", [page for page in _PAGES if _commands(page)])
def test_that_every_command_of_a_page_can_be_typed_as_it_stands(
    page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = _commands(page)
    failed = {}
    for line in (*_GIVEN.get(page, ()), *commands):
        code = _type(line)
        complaint = capsys.readouterr().err
        # Findings are an answer too, and no complaint.
        if code != ExitCode.OK and (code != ExitCode.FAILED or complaint):
            failed[line] = complaint
    assert not failed


@pytest.mark.usefixtures("folder")
def test_that_every_statement_on_the_page_of_recordings_selects() -> None:
    assert cli.main(shlex.split(f"{_RECORD} game.tlrec --quiet")) == ExitCode.OK
    typed = re.findall(r"^sqlite3 .*$", _PAGES["recordings"], re.MULTILINE)
    assert typed

    for line in typed:
        _sqlite3, file, statement = shlex.split(line)
        with closing(sqlite3.connect(file)) as connection:
            connection.execute(statement).fetchall()


def test_that_every_condition_on_the_page_of_breakpoints_is_understood() -> None:
    conditions = [text for kind, text in _BLOCK.findall(_PAGES["breakpoints"]) if not kind]
    assert conditions

    for line in "".join(conditions).splitlines():
        parsed_condition(line)


def _type(line: str) -> int:
    """Run a command line, or only read it where it would open a window or take real time."""
    shorter = line.replace("--seconds 600", "--seconds 20")
    words = [word for each in shlex.split(shorter) for word in _as_shells_expand(each)]
    if words[0] == "attach" or {"--real-time", "--"} & {*words}:
        options = cli.build_parser(words[:1]).parse_args(words)
        assert isinstance(options, Namespace)
        options.the_command.check(options)
        return ExitCode.OK
    if cli.window_scene(words) is not None:
        return ExitCode.OK
    return cli.main(words)


def _as_shells_expand(word: str) -> list[str]:
    return (sorted(map(str, Path().glob(word))) if "*" in word else []) or [word]


def _programs() -> Iterator[tuple[str, str]]:
    for page, text in _PAGES.items():
        if page in {"extending", "recordings"}:  # which have tests of their own
            continue
        programs = [code for kind, code in _BLOCK.findall(text) if kind == "python"]
        for number, code in enumerate(programs, 1):
            yield f"{page}-{number}", code


@pytest.mark.parametrize(
    "code", [pytest.param(code, id=name) for name, code in _programs() if "def build(" in code]
)
def test_that_every_scene_of_the_pages_runs(code: str, folder: Path) -> None:
    (folder / "scene.py").write_text(code, encoding="utf-8")

    assert cli.main(["run", "scene.py", "--seconds", "6", "--quiet"]) == ExitCode.OK


#: Ends a program that has printed three lines, as one that draws or serves never ends.
_UNTIL_PRINTED = """
import os, sys
def print(*values, lines=[]):
    lines.append(values)
    if len(lines) == 3:
        sys.stdout.write("printed")
        sys.stdout.flush()
        os._exit(0)
"""


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(code, id=name)
        for name, code in _programs()
        if "def build(" not in code and "print(" in code
    ],
)
def test_that_every_program_of_the_pages_prints(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _UNTIL_PRINTED + code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PYTHONPATH": str(_README.parent), "QT_QPA_PLATFORM": "offscreen"},
    )

    assert (done.stdout, done.stderr) == ("printed", "")


def test_that_a_program_that_serves_runs_without_the_probe_too() -> None:
    serve, frames = (code for name, code in _programs() if name.startswith("attach-serving"))
    drawn: list[int] = []

    def draw() -> None:
        names["running"] = len(drawn) < 3

    boss = Namespace(is_dead=True)
    names = {"running": True, "update": drawn.append, "draw": draw, "dt": 1, "boss": boss}
    exec(serve + frames, names)  # noqa: S102 - the page's own example

    assert drawn == [1, 1, 1]
