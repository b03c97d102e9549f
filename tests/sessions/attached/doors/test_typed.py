"""What people type into the window, as a door."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from inspector.errors import AttachError
from inspector.sessions.attached.doors.browser import Browser
from inspector.sessions.attached.doors.hosts.host import Host, OnHost
from inspector.sessions.attached.doors.launch import Launch
from inspector.sessions.attached.doors.typed import TypedProgram
from tests.javascript import node


@pytest.mark.parametrize(
    "url", ["http://localhost:8080/", "https://example.org/a?b c", "file:///x"]
)
def test_that_a_url_leads_to_a_browser(url: str) -> None:
    typed = TypedProgram(f" {url} ", hold=True, grant="step")
    assert typed.door() == Browser(url, hold=True, grant="step")


def test_that_the_file_of_a_page_leads_to_a_browser(tmp_path: Path) -> None:
    (tmp_path / "game.html").write_text("")
    assert TypedProgram("game.html", str(tmp_path)).door() == Browser(str(tmp_path / "game.html"))


def test_that_a_script_for_node_is_run_by_it(tmp_path: Path) -> None:
    node()
    (tmp_path / "game.js").write_text("")
    expected = Launch(("node", "game.js", "--fast"), tmp_path)
    assert TypedProgram("game.js --fast", str(tmp_path)).door() == expected


def test_that_the_chosen_interpreter_stands_for_python_and_for_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "game.py").write_text("")
    for command in ("python game.py", "python3 game.py", "game.py", "-m game"):
        words = command.split()
        arguments = words[1:] if words[0].startswith("python") else words
        launch = Launch((sys.executable, *arguments), tmp_path)
        assert TypedProgram(command, str(tmp_path), sys.executable).door() == launch

    with pytest.raises(AttachError, match="“env” starts by itself"):
        TypedProgram("env python game.py", str(tmp_path), sys.executable).door()


def test_that_a_number_is_a_process() -> None:
    assert str(os.getpid()) in TypedProgram(str(os.getpid())).door().title
    for typed in (str(2**22 + 1), "9" * 5_000):
        with pytest.raises(AttachError, match="no process"):
            TypedProgram(typed).door()


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("me@web-1", Host.by_ssh("me@web-1")),
        ("-p 2222 me@web-1", Host.by_ssh("-p 2222 me@web-1")),
        ("docker exec -i shop", Host.by_command("docker exec -i shop")),
    ],
)
def test_that_a_program_may_be_on_another_host(host: str, expected: Host) -> None:
    typed = TypedProgram("server.py --port 80", "shop", "python3.12", hold=True, host=f" {host} ")

    launch = Launch(("python3.12", "server.py", "--port", "80"), Path("shop"), hold=True)
    assert typed.door() == OnHost(expected, launch)
    assert TypedProgram("4711", host=host, grant="step").door() == OnHost(
        expected, pid=4711, grant="step"
    )


def test_that_a_program_on_another_host_needs_a_command_line() -> None:
    with pytest.raises(AttachError, match="Type the command line"):
        TypedProgram(" ", host="web-1").door()


def test_that_a_command_is_completed_by_what_the_words_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Launch, "program", lambda _launch: "found")
    found = {"python": "/b/python", "python3": "/b/python3"}
    monkeypatch.setattr(shutil, "which", found.get)
    for name in ("a.py", "b.pyw", "c.mjs", "run.py", "run.js", "a.htm"):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o755 if name.startswith("run") else 0o644)
    monkeypatch.setenv("HOME", "/home/me")
    for command, words in (
        ("a.py 1", "/b/python3 a.py 1"),
        ("b.pyw", "/b/python3 b.pyw"),
        ("-m game", "/b/python3 -m game"),
        ("c.mjs", "node c.mjs"),
        # These start by themselves, or are not there.
        ("run.py", "run.py"),
        ("run.js", "run.js"),
        ("none.py", "none.py"),
        ("none.html", "none.html"),
        ("'a b' ~/c", "a b ~/c"),
        ("~/game", "/home/me/game"),
        ("python a.py", "python a.py"),
        ("٣", "٣"),
        ("ftp://a", "ftp://a"),
    ):
        typed = TypedProgram(command, f" {tmp_path} ", hold=True, grant="step")
        door = typed.door()
        assert isinstance(door, Launch)
        assert " ".join(door.argv) == words
        assert (door.folder, door.hold, door.grant) == (tmp_path, True, "step")
    page = TypedProgram("a.htm", str(tmp_path), hold=True, grant="step").door()
    assert page == Browser(str(tmp_path / "a.htm"), hold=True, grant="step")
    for left, python in ((["python"], "/b/python"), ([], sys.executable)):
        found = {each: f"/b/{each}" for each in left}
        monkeypatch.setattr(shutil, "which", found.get)
        assert TypedProgram("-m game").door() == Launch((python, "-m", "game"))
    with pytest.raises(AttachError, match=r"There is no folder .*none\.$"):
        TypedProgram("a.py", str(tmp_path / "none")).door()
    for command, told in (("'a", "never closed"), (" ", "Type the command line")):
        with pytest.raises(AttachError, match=told):
            TypedProgram(command).door()


def test_that_a_script_on_another_host_is_run_by_a_python_there() -> None:
    for command, interpreter, words in (
        ("a.py 1", "", "python3 a.py 1"),
        ("b.pyw", "", "python3 b.pyw"),
        ("-m game", "", "python3 -m game"),
        ("-m game", "pypy3", "pypy3 -m game"),
        ("python a.py", "pypy3", "pypy3 a.py"),
        ("python a.py", "", "python a.py"),
        ("game a.py", "pypy3", "game a.py"),
    ):
        door = TypedProgram(command, "", interpreter, grant="step", host="pi").door()
        expected = Launch(tuple(words.split()), None, grant="step")
        assert door == OnHost(Host.by_ssh("pi"), expected)
