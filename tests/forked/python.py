"""Python that has imported before it starts: copies of one process for all tests that run.

What a program imports takes most of its time where it does little, and most tests are about what
it does then. Not for those of imports, nor of what Python does with its environment when it starts.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from time import sleep
from typing import Final

from tests.forked import client

#: What the command line needs for most of what it does, but no list that packages add to.
COMMAND_LINE: Final = """
import inspector.cli.attach, inspector.cli.export, inspector.cli.recordings, inspector.cli.run
import inspector.launcher, inspector.sessions.replay.replay
"""
#: All that a window needs that opens a scene or a program.
WINDOW: Final = """
from inspector.window_loader import load_ui
load_ui("window.application"), load_ui("window.completion")
import inspector.cli.attach, inspector.sessions.hosted, inspector.sessions.scene
"""
#: What virtual time and recordings need, and pytest with its own plugins.
PYTEST: Final = """
import asyncio, concurrent.futures.thread, ctypes, importlib, msgspec, pdb, pytest, queue
import inspector.probe.adapters.asyncio, inspector.probe.adapters.python_time
import inspector.probe.adapters.qt, inspector.probe.sampler, inspector.probe.waits
import inspector.analysis.lateness.late_calls, inspector.formats.export
import inspector.sessions.attached.translation, inspector.sessions.frame_files
from _pytest.config import default_plugins

for each in default_plugins:
    importlib.import_module(f"_pytest.{each}")
"""
_FOLDER = Path(__file__).parent
_PROJECT = _FOLDER.parents[1]
#: Nothing takes so long unless it hangs; the machine may be busy.
_PATIENCE_S: Final = 100


@cache
def is_forked() -> bool:
    """Whether there are copies: else, each program is started."""
    # What a test executes is told by the process that it starts.
    if sys.platform != "linux" or "COVERAGE_PROCESS_START" in os.environ:
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        # An old kernel, or a container that allows no such call.
        return False
    return True


def python_with(imports: str) -> list[str]:
    """Return what takes the place of Python in a command line that goes on with -m or -c.

    Args:
        imports: Statements, executed once for all tests that name the same.
    """
    if not is_forked():
        return [sys.executable]
    return [sys.executable, "-I", "-S", client.__file__, _server(imports)]


def run_python(
    imports: str, words: Sequence[str], environment: Mapping[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run Python, as :func:`python_with` would, without a process that waits for it."""
    if not is_forked():
        return subprocess.run(
            [sys.executable, *words],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    nowhere = Path(os.devnull)
    with TemporaryFile() as output, TemporaryFile() as errors, nowhere.open("rb") as nothing:
        files = {0: nothing.fileno(), 1: output.fileno(), 2: errors.fileno()}
        copy = client.Copy(
            _server(imports), (words, environment, str(folder)), files, timeout_s=_PATIENCE_S
        )
        with closing(copy):
            copy.pid()
            code = os.waitstatus_to_exitcode(copy.status())
        said = []
        for each in (output, errors):
            each.seek(0)
            said.append(each.read().decode())
    return subprocess.CompletedProcess(words, code, *said)


@cache
def _server(imports: str) -> str:
    """Start a server unless there is one; return its name."""
    # All workers of a run share it.
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    name = f"timeline-inspector-tests-{run}-{sha256(imports.encode()).hexdigest()[:16]}"
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = None
    while True:
        try:
            line.connect(f"\0{name}")
        except ConnectionRefusedError:
            if process is None:
                process = subprocess.Popen(
                    [sys.executable, _FOLDER / "server.py", name, imports],
                    cwd=_PROJECT,
                    env=os.environ | {"PYTHONPATH": str(_PROJECT), "OPENBLAS_NUM_THREADS": "1"},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    start_new_session=True,
                )
                atexit.register(process.wait)
            elif process.poll():
                raise RuntimeError(f"The server of {imports!r} has ended.") from None
            sleep(0.01)
        else:
            atexit.register(line.close)
            return name
