"""Files that people name: pipes, devices, folders and oversized files end in a sentence."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from inspector.cli import main as cli
from inspector.errors import InspectorError, UnreadableFileError
from inspector.exit_codes import ExitCode
from inspector.foreign.files import open_binary, path_text, read_whole
from inspector.sessions.breakpoints.file import read_breakpoints
from inspector.sessions.replay.journal import file_digest
from inspector.sessions.scene import SceneProblem, load_scene

if TYPE_CHECKING:
    from collections.abc import Callable


def _pipe(folder: Path) -> Path:
    path = folder / "pipe.csv"
    os.mkfifo(path)
    return path


def _socket(folder: Path) -> Path:
    path = Path("socket.csv")
    with socket.socket(socket.AF_UNIX) as listener, pytest.MonkeyPatch.context() as patch:
        # Beside a short name: a socket's may have a hundred characters.
        patch.chdir(folder)
        listener.bind(str(path))
    return folder / path


def _unreadable(folder: Path) -> Path:
    path = folder / "secret.csv"
    path.symlink_to(path.name)
    return path


STRANGE = [
    pytest.param(lambda folder: folder / "none.csv", "There is no file", id="missing"),
    pytest.param(lambda folder: folder, "is a folder", id="folder"),
    pytest.param(_pipe, "is a pipe", id="pipe"),
    pytest.param(_socket, "cannot be read|is a socket", id="socket"),
    pytest.param(_unreadable, "cannot be read: Too many levels", id="loop"),
    pytest.param(lambda _: Path("/dev/zero"), "is a device", id="zeros"),
    pytest.param(lambda _: Path("/dev/stdin"), "is a (device|pipe|folder)|read", id="stdin"),
    pytest.param(lambda folder: folder / "a\0b.csv", "There is no file", id="no name"),
    pytest.param(lambda folder: folder / ("x" * 5_000), "File name too long", id="long"),
]


@pytest.mark.parametrize(("make", "problem"), STRANGE)
def test_that_what_is_no_file_is_refused_at_once(
    tmp_path: Path, make: Callable[[Path], Path], problem: str
) -> None:
    path = make(tmp_path)

    for read in (
        open_binary,
        lambda path: read_whole(path, 10, "it"),
        read_breakpoints,
    ):
        with pytest.raises(InspectorError, match=problem) as caught:
            read(path)
        assert len(str(caught.value)) < 400


@pytest.mark.parametrize(("make", "problem"), STRANGE)
@pytest.mark.parametrize(
    "line", ["export FILE -o a.csv", "lab --timers FILE", "lab --frame-times FILE", "run 4"]
)
def test_that_no_command_waits_for_what_is_no_file(  # noqa: PLR0913, PLR0917 - all of it
    tmp_path: Path,
    make: Callable[[Path], Path],
    problem: str,
    line: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = str(make(tmp_path))
    monkeypatch.chdir(tmp_path)
    arguments = [path if word == "FILE" else word for word in line.split()]
    arguments += ["--frame-times", path] if line == "run 4" else []

    code = cli.main(arguments)

    assert code == ExitCode.UNREADABLE
    assert problem.split("|", maxsplit=1)[0][:8] in capsys.readouterr().err or "|" in problem


def test_that_a_file_is_read_to_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_bytes(b"12345")

    assert read_whole(path, 5, "a table") == b"12345"
    with pytest.raises(UnreadableFileError, match=r"table is too large for a table\."):
        read_whole(path, 4, "a table")


def test_that_of_a_long_path_its_end_is_shown() -> None:
    assert path_text(Path("a" * 500, "game.csv")).endswith("a/game.csv")
    assert len(path_text(Path("a" * 500))) < 210


NO_FILES = pytest.mark.parametrize(
    ("make", "problem"),
    [
        pytest.param(_pipe, "is a pipe", id="pipe"),
        pytest.param(lambda folder: folder, "is a folder", id="folder"),
        pytest.param(lambda _: Path("/dev/zero"), "is a device", id="zeros"),
    ],
)


@NO_FILES
@pytest.mark.parametrize(
    "line",
    ["replay FILE", "explain FILE tick", "lint FILE", "annotate FILE", "export FILE -o a.svg"],
)
def test_that_no_command_waits_for_a_recording_that_is_no_file(
    tmp_path: Path,
    make: Callable[[Path], Path],
    problem: str,
    line: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "run.tlrec"
    (tmp_path / "below").mkdir()
    path.symlink_to(make(tmp_path / "below"))

    code = cli.main([str(path) if word == "FILE" else word for word in line.split()])

    assert code == ExitCode.UNREADABLE
    assert problem in capsys.readouterr().err


@NO_FILES
def test_that_a_scene_that_is_no_file_is_refused_at_once(
    tmp_path: Path, make: Callable[[Path], Path], problem: str
) -> None:
    path = tmp_path / "scene.py"
    (tmp_path / "below").mkdir()
    path.symlink_to(make(tmp_path / "below"))

    with pytest.raises(SceneProblem, match=problem):
        load_scene(path)
    assert not file_digest(path)
