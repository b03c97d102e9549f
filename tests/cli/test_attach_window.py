"""What becomes of a program, launched or attached, when the window on it ends in any way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from inspector.exit_codes import ExitCode
from tests.forked.python import WINDOW, python_with

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")

#: Says its number, and ends after twenty seconds.
_PROGRAM = """
import asyncio, os
async def tick():
    os.write(1, b"up %d\\n" % os.getpid())
    for _ in range(1000):
        await asyncio.sleep(0.02)
asyncio.run(tick())
"""
#: Runs the command line, and once the program is seen does something with the window.
_WINDOW = """
import faulthandler, sys
# What hangs says where, before the test gives up.
faulthandler.dump_traceback_later(90, exit=True)
from PySide6.QtCore import QTimer
from inspector.window_loader import load_ui
main_window = load_ui("window.main_window")
make = main_window.MainWindow.__init__

def watch(window, *arguments):
    make(window, *arguments)
    def look():
        programs = getattr(window.bridge.session, "programs", {})
        if any(each.is_attached for each in programs.values()):
            timer.stop()
            {then}
    timer = QTimer(window)
    timer.timeout.connect(look)
    window.completed.connect(lambda: timer.start(20))

main_window.MainWindow.__init__ = watch
from inspector.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
#: Lines are written at once: the program and the window share a pipe, and a print without a
#: buffer writes a word at a time.
_CLOSE, _SAY = "window.close()", r'import os; os.write(1, b"seen\n")'


class _Inspector:
    """The command ``attach`` with a window, in a process of its own."""

    def __init__(self, folder: Path, then: str, *arguments: str, is_forked: bool) -> None:
        python = python_with(WINDOW) if is_forked else [sys.executable]
        folders = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
        self.process = subprocess.Popen(
            [*python, "-c", _WINDOW.replace("{then}", then), "attach", *arguments],
            cwd=ROOT,
            env={
                **os.environ,
                **dict.fromkeys(folders, str(folder)),
                "QT_QPA_PLATFORM": "offscreen",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

        self._lines: list[str] = []

    def line(self, first: str) -> str:
        """Return the line that begins with a word, whatever comes before it."""
        assert self.process.stdout is not None
        while not any(line.startswith(first) for line in self._lines):
            line = self.process.stdout.readline()
            assert line, self.process.communicate()
            self._lines.append(line)
        return next(line for line in self._lines if line.startswith(first))


class _Started:
    """The processes of a test, ended after it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.pids: list[int] = []
        self._processes: list[subprocess.Popen[str]] = []

    def inspector(self, then: str, *arguments: str, is_forked: bool = True) -> _Inspector:
        found = _Inspector(self._folder, then, *arguments, is_forked=is_forked)
        self._processes.append(found.process)
        return found

    def launching(self, then: str, *, is_forked: bool = True) -> tuple[_Inspector, int]:
        """Return an inspector that launches a program, and the number of that."""
        path = self._folder / "ticking.py"
        path.write_text(_PROGRAM, "utf-8")
        inspector = self.inspector(then, sys.executable, str(path), is_forked=is_forked)
        self.pids.append(int(inspector.line("up").split()[1]))
        return inspector, self.pids[-1]

    def serving(self) -> subprocess.Popen[str]:
        """Return a program that can be attached to."""
        (self._folder / "timeline_probe").symlink_to(ROOT / "inspector" / "probe")
        text = f"import timeline_probe\ntimeline_probe.serve()\n{_PROGRAM}"
        found = subprocess.Popen(
            [sys.executable, "-c", text],
            cwd=self._folder,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._processes.append(found)
        assert found.stdout is not None
        assert found.stdout.readline().startswith("up")
        return found

    def end(self) -> None:
        for each in self._processes:
            each.kill()
        for pid in self.pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for each in self._processes:
            each.communicate(timeout=60)


@pytest.fixture
def started(tmp_path: Path) -> Iterator[_Started]:
    processes = _Started(tmp_path)
    yield processes
    processes.end()


def _lives(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_that_a_launched_program_goes_on_when_its_window_is_closed_until_ctrl_c(
    started: _Started,
) -> None:
    inspector, pid = started.launching(_CLOSE)
    assert inspector.process.stderr is not None

    assert any("goes on; Ctrl+C ends it." in line for line in inspector.process.stderr)
    assert _lives(pid)

    inspector.process.send_signal(signal.SIGINT)
    assert inspector.process.wait(60) == ExitCode.INTERRUPTED
    assert not _lives(pid)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_that_a_signal_ends_the_window_and_what_it_has_launched(
    started: _Started, number: signal.Signals
) -> None:
    inspector, pid = started.launching(_SAY)
    inspector.line("seen")

    inspector.process.send_signal(number)

    assert inspector.process.wait(60) == 128 + number
    assert not _lives(pid)


def test_that_a_launched_program_outlives_a_window_that_is_killed(started: _Started) -> None:
    inspector, pid = started.launching(_SAY, is_forked=False)
    inspector.line("seen")

    inspector.process.kill()
    inspector.process.wait(60)

    assert _lives(pid), "work may be in it that was not saved"


@pytest.mark.parametrize("number", [0, signal.SIGTERM])
def test_that_an_attached_program_goes_on_however_its_window_ends(
    started: _Started, number: int
) -> None:
    program = started.serving()
    inspector = started.inspector(_SAY if number else _CLOSE, str(program.pid))
    if number:
        inspector.line("seen")
        inspector.process.send_signal(number)

    assert inspector.process.wait(60) == (128 + number if number else ExitCode.OK)
    assert program.poll() is None
