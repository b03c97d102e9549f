"""What the words of command lines say, and what processes are, in tables."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from inspector.errors import AttachError
from inspector.sessions.attached.doors import processes
from inspector.sessions.attached.doors.command_lines import (
    _isolating_option,
    program_title,
    refuse_isolated,
)
from inspector.sessions.attached.doors.processes import Process, ProcessRuntime


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("", ""),
        ("/usr/bin/game -c", "game"),
        ("python3", "python3"),
        ("python3 -u", "python3"),
        ("python3 /f/game.py -c x", "game.py"),
        ("python3.14t -c code game.py", "python3.14t -c"),
        ("python -ccode", "python -c"),
        ("python -m game x", "game"),
        ("python -mgame x", "game"),
        ("pypy3 -uBm game", "game"),
        ("python -W ignore game.py", "game.py"),
        ("python -Wignore game.py", "game.py"),
        ("python -uX dev game.py", "game.py"),
        ("python -Ximporttime -Wc game.py", "game.py"),
        ("python -W", "python"),
        ("python --check-hash-based-pycs game.py", "game.py"),
        ("python - game.py", "python -"),
        ("python -u -- -x.py y", "-x.py"),
        ("node --inspect /f/server.js x", "server.js"),
        ("nodejs -e code", "-e"),
        ("node --print code", "--print"),
        ("node -i", "node"),
    ],
)
def test_that_a_command_line_is_called_as_its_program(words: str, title: str) -> None:
    assert program_title(words.split()) == title


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("python game.py -I", ""),
        ("python -I game.py", "-I"),
        ("python -uE game.py", "-E"),
        ("python -S", "-S"),
        ("python -WI game.py", ""),
        ("python -W ignore -I game.py", "-I"),
        ("python -Xdev -Q x game.py", ""),
        ("python -cI", ""),
        ("python -mIES", ""),
        ("python --I -u game.py", ""),
        ("python -u - -I", ""),
    ],
)
def test_that_options_that_keep_the_probe_out_are_found(words: str, option: str) -> None:
    assert _isolating_option(words.split()) == option


@pytest.mark.parametrize(
    ("line", "option"),
    [
        (b"#!/usr/bin/env -S python3 -I\n", "-I"),
        (b"#!python3 -I\n", "-I"),
        (b"#!/usr/bin/python3 -u\n", ""),
        (b"#!/bin/sh -I\n", ""),
        (b"/usr/bin/python3 -I\n", ""),
    ],
)
def test_that_the_first_line_of_a_program_may_keep_the_probe_out(
    tmp_path: Path, line: bytes, option: str
) -> None:
    program = tmp_path / "game"
    program.write_bytes(line + b"python3 -I")
    refuse_isolated(["game"], str(tmp_path / "nothing"))
    if not option:
        refuse_isolated(["game", "x"], str(program))
        return
    with pytest.raises(AttachError, match=f"with {option}, .* as: python3 {program} x$"):
        refuse_isolated(["game", "x"], str(program))
    with pytest.raises(AttachError, match=r"^With -I, Python does not"):
        refuse_isolated(["python3", "-I", "x.py"], "")
    refuse_isolated(["python3", "x.py"], str(program))


def test_that_processes_are_listed_where_there_is_no_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = "  5 1000 python3 game.py\n 17 0 init\n 18 0\n"
    asked: list[tuple[list[str], bool]] = []

    def run(command: list[str], *, capture_output: bool, text: bool, check: bool) -> object:
        asked.append((command, capture_output and text and not check))
        return SimpleNamespace(stdout=listed)

    monkeypatch.setattr(processes, "_HAS_PROC", False)
    monkeypatch.setattr(processes, "subprocess", SimpleNamespace(run=run))
    found = list(processes.processes())
    assert found == [
        Process(5, 1000, ("python3", "game.py"), "python3"),
        Process(17, 0, ("init",), "init"),
        Process(18, 0, (), ""),
    ]
    assert asked == [(["ps", "-axo", "pid=,uid=,args="], True)]
    assert (processes.process(17), processes.process(6)) == (found[1], None)
    assert [processes.is_alive(pid) for pid in (5, 6)] == [True, False]
    assert [processes.title_of(pid) for pid in (5, 6)] == ["game.py (5)", "process 6"]
    with pytest.raises(AttachError, match="no process 6"):
        processes.process_of(6)
    with pytest.raises(AttachError, match=r"game\.py \(5\) cannot be attached late: no\. Launch"):
        processes.attachable(5, lambda _found: "no", "Launch it.")
    assert processes.attachable(5, lambda _found: "", "") == found[0]


@pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")
def test_that_a_process_is_read_from_proc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(processes, "_PROC", tmp_path)
    for number, state in ((5, "S"), (6, "Z"), (7, "X"), (70, "T")):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "cmdline").write_bytes(b"python3\0game.py\0\0")
        (folder / "stat").write_text(f"{number} (a) b) {state} 4 5 6")
    (tmp_path / "5" / "exe").symlink_to("/usr/bin/python3.12 (deleted)")
    (tmp_path / "5" / "environ").write_bytes(b"A=b=c\0D=\0")
    (tmp_path / "6" / "maps").write_bytes(b"x /usr/lib/libpython3.11.so.1.0\n")
    (tmp_path / "self").mkdir()
    user_id = tmp_path.stat().st_uid
    found = list(processes.processes())
    assert [each.pid for each in found] == [5, 6, 7, 70]
    executable = "/usr/bin/python3.12 (deleted)"
    assert found[0] == Process(5, user_id, ("python3", "game.py"), executable)
    assert found[1].executable == ""
    assert found[0].environment() == {"A": "b=c", "D": "", "": ""}
    assert found[1].environment() == {}
    assert found[0].runtime() == ProcessRuntime("python", (3, 12))
    assert [pid for pid in (5, 6, 7, 8, 70) if processes.is_alive(pid)] == [5, 70]
    assert (processes.parent_of(5), processes.parent_of(8)) == (4, 0)
    game = Process(6, user_id, ("game",), "/usr/bin/game")
    assert game.runtime() == ProcessRuntime("python", (3, 11), is_embedded=True)
    assert Process(7, user_id, (), "").runtime() is None
    # No file is mapped that would tell the rest of the version.
    assert Process(7, user_id, ("python3",), "").runtime() == ProcessRuntime("python", None)
    assert Process(7, user_id, ("node",), "").runtime() == ProcessRuntime("node", None)
    assert [Process(7, 0, argv, "").title for argv in ((), ("game\n",))] == ["process 7", "game⏎"]
    assert [
        ProcessRuntime(language, version).text  # type: ignore[arg-type]
        for language, version in (("node", None), ("python", None), ("python", (3, 9)))
    ] == ["Node", "Python", "Python 3.9"]
