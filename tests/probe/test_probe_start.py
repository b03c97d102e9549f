"""How the probe gets into a program, with a folder that stands in for it."""

# ruff: noqa: ANN401 - modules have no other type

from __future__ import annotations

import builtins
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from inspector import probe
from inspector.probe import marking, starting, wire
from inspector.probe.bootstrap import timeline_probe_start, too_old

_NAME = "timeline_probe"


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """The module that loads the probe, for a probe in a folder of the test."""
    monkeypatch.setattr(timeline_probe_start, "_PROBE", str(tmp_path))
    before = {name: each for name, each in sys.modules.items() if name.startswith(_NAME)}
    for name in before:
        del sys.modules[name]
    yield timeline_probe_start
    for name in [name for name in sys.modules if name.startswith(_NAME)]:
        del sys.modules[name]
    sys.modules.update(before)


def test_that_the_probe_is_loaded_once_under_its_own_name(start: Any, tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("from .part import x")
    (tmp_path / "part.py").write_text("x = 5")
    loaded = start.load()

    assert (loaded.__name__, loaded.x, loaded.__path__) == ("timeline_probe", 5, [str(tmp_path)])
    assert start.load() is loaded
    assert not any(type(each).__name__ == "_KeptFiles" for each in sys.meta_path)


def test_that_a_probe_that_cannot_be_loaded_is_not_there(start: Any, tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("1 // 0")
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            start.load()
    assert "timeline_probe" not in sys.modules


@pytest.mark.parametrize(
    ("command", "started"),
    [
        (["python", "game.py"], [{"token": "t", "only_children": False}]),
        (
            ["python", "-c", "from multiprocessing.forkserver import main"],
            [{"token": "t", "only_children": True}],
        ),
        (["python", "-c", "from multiprocessing.resource_tracker import main"], []),
    ],
)
def test_that_the_probe_starts_in_programs_and_not_in_their_helpers(
    start: Any,
    monkeypatch: pytest.MonkeyPatch,
    command: list[str],
    started: list[dict[str, object]],
) -> None:
    found: list[dict[str, object]] = []
    given: list[dict[str, object] | None] = [{"token": "t"}]
    loads: list[bool] = []
    probe = SimpleNamespace(start=lambda **arguments: found.append(arguments))

    def load() -> object:
        loads.append(True)
        return probe

    children = ModuleType("timeline_probe.bootstrap.children")
    children.pop_start_arguments = lambda: given[0]  # type: ignore[attr-defined]
    monkeypatch.setattr(builtins, "__import__", _importing(children))
    monkeypatch.setattr(start, "load", load)
    monkeypatch.setattr(start, "_command", lambda: command)
    start.from_environment()
    # It has no token.
    given[0] = None
    start.from_environment()

    assert found == started
    assert len(loads) == 2 * bool(started)


def _importing(children: ModuleType) -> Any:
    real = builtins.__import__

    def importing(name: str, *given: Any, **more: Any) -> ModuleType:
        return children if name == children.__name__ else real(name, *given, **more)

    return importing


def test_that_the_command_line_is_known_at_the_start(
    start: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(sys, "orig_argv", ["python", "x"])
    assert start._command() == ["python", "x"]
    monkeypatch.delattr(sys, "orig_argv")
    (tmp_path / "cmdline").write_bytes(b"python\0game.py\0")
    opened = (tmp_path / "cmdline").open
    monkeypatch.setattr(start, "open", lambda _path, mode: opened(mode), raising=False)
    assert start._command() == ["python", "game.py", ""]
    monkeypatch.setattr(start, "open", lambda *_: (tmp_path / "none").open(), raising=False)
    assert start._command() == []


def test_that_the_probe_has_what_programs_call_and_nothing_else() -> None:
    assert probe.serve is starting.serve
    assert probe.start is starting.start
    assert probe.Server is starting.Server
    with pytest.raises(AttributeError, match="'none'"):
        probe.none  # noqa: B018 - it is asked for


def test_that_frames_and_marks_are_reported_while_somebody_looks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[object] = []
    monkeypatch.setattr(marking, "_program", None)
    monkeypatch.setattr(marking, "_begin_frame", told.append)
    probe.frame(0.5)
    probe.mark("nobody")
    program: Any = SimpleNamespace(emit=None, mark=told.append)
    marking.use(program, told.append)
    probe.frame(0.5)
    probe.mark("nobody")
    program.emit = print
    probe.frame()
    probe.frame(0.5)
    probe.mark(7)  # type: ignore[arg-type]

    assert told == [None, 0.5, "7"]


class OldSocket:
    """A socket of a Python that is too old, to which an inspector listens."""

    def __init__(self, family: int) -> None:
        self.asked: list[object] = [family]
        self.sent = b""

    def settimeout(self, seconds: float) -> None:
        self.asked.append(seconds)

    def connect(self, place: object) -> None:
        self.asked.append(place)
        if place == "/none":
            raise FileNotFoundError

    def sendall(self, data: bytes) -> None:
        self.sent += data

    def recv(self, count: int) -> bytes:
        self.asked.append(count)
        return b""

    def close(self) -> None:
        self.asked.append("close")


@pytest.mark.parametrize(
    ("address", "family", "place"),
    [
        ("unix:/x:y", socket.AF_UNIX, "/x:y"),
        ("tcp:127.0.0.1:7", socket.AF_INET, ("127.0.0.1", 7)),
        ("unix:/none", socket.AF_UNIX, "/none"),
    ],
)
def test_that_a_python_that_is_too_old_says_what_it_is(
    monkeypatch: pytest.MonkeyPatch, address: str, family: int, place: object
) -> None:
    made: list[OldSocket] = []

    def opened(family: int) -> OldSocket:
        made.append(OldSocket(family))
        return made[-1]

    stand_in = SimpleNamespace(AF_UNIX=socket.AF_UNIX, AF_INET=socket.AF_INET, socket=opened)
    monkeypatch.setattr(too_old, "socket", stand_in)
    monkeypatch.setattr(sys, "version_info", (3, 8, 1))
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3.8")
    monkeypatch.setenv("TIMELINE_PROBE_CONNECT", address)
    monkeypatch.setenv("TIMELINE_PROBE_TOKEN", "t")
    if place == "/none":
        with pytest.raises(FileNotFoundError):
            too_old.report_unable()
        assert made[0].asked[-1] == "close"
        return
    too_old.report_unable()

    assert made[0].asked == [family, 2.0, place, 1, "close"]
    ((_, payload),) = wire.FrameReader().feed(made[0].sent)
    assert wire.unpacked_json(payload) == wire.request(
        0,
        "Link.hello",
        {
            "protocol": wire.PROTOCOL,
            "role": "probe",
            "token": "t",
            "pid": os.getpid(),
            "parent_pid": os.getppid(),
            "name": "python3.8",
            "unable": "it runs on Python 3.8, and the probe needs 3.9 or newer",
        },
    )
