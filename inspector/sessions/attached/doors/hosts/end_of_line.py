"""The far end of a line: copies between a pipe and the relay, which it starts if there is none.

Any Python from 3.9 on reads this file from the pipe and runs it. Then it reads a line of JSON: the
folder of the relay; or, to start one, its settings and the length of a ZIP archive that follows,
which has the probe and what the relay needs.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import zipfile
from contextlib import suppress
from io import BufferedReader, BytesIO
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final, cast

TYPE_CHECKING = False

#: Starts the first message of the far end; login scripts may print something before it.
MARK: Final = b"\ntimeline-relay "
_OLDEST: Final = (3, 9)
_READ: Final = 1 << 16
_PREFIX: Final = "timeline-inspector-"
#: Every system allows 104 bytes for the path of a Unix socket, including the socket's name.
_MOST_OF_FOLDER: Final = 90
_STARTS_S: Final = 10.0
_RELAY: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from inspector.sessions.attached.doors.hosts import relay; relay.main()"
)


def serve_line() -> None:
    """Copy between standard streams and the relay, which is started if there is none."""
    about = json.loads(sys.stdin.buffer.readline())
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < _OLDEST:
        _introduce({"error": f"python3 is {version} there, and 3.9 or newer is needed"})
        return
    folder = about["folder"]
    try:
        folder = folder or _started(about["settings"], about["bytes"])
        relay = _connected(folder, 0 if about["folder"] else _STARTS_S)
    except (OSError, zipfile.BadZipFile) as error:
        _introduce({"error": _problem(folder) or str(error)})
        return
    _introduce({"folder": folder, "python": version, "host": socket.gethostname()})
    threading.Thread(target=_copy_in, args=(relay,), daemon=True).start()
    while True:
        data = relay.recv(_READ)
        if not data:
            return
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def _introduce(about: dict[str, Any]) -> None:
    sys.stdout.buffer.write(MARK + json.dumps(about).encode() + b"\n")
    sys.stdout.buffer.flush()


def _started(settings: dict[str, Any], length: int) -> str:
    """Unpack what was sent into a folder of its own, and start the relay in it."""
    folder = tempfile.mkdtemp(prefix=_PREFIX)
    if len(folder) > _MOST_OF_FOLDER:
        Path(folder).rmdir()
        folder = tempfile.mkdtemp(prefix=_PREFIX, dir="/tmp")
    with zipfile.ZipFile(BytesIO(sys.stdin.buffer.read(length))) as files:
        files.extractall(folder)
    with (Path(folder) / "problem").open("wb") as errors:
        relay = subprocess.Popen(  # noqa: S603 - this Python
            [sys.executable, "-I", "-S", "-c", _RELAY, folder],
            stdin=subprocess.PIPE,
            stdout=errors,
            stderr=errors,
            start_new_session=True,
        )
    assert relay.stdin is not None
    with suppress(BrokenPipeError), relay.stdin:
        relay.stdin.write(json.dumps(settings).encode())
    return folder


def _problem(folder: str) -> str:
    """Return why a relay has not started, empty if unknown; remove its folder."""
    problem = ""
    with suppress(OSError):
        problem = (Path(folder) / "problem").read_text(errors="replace").strip()
        shutil.rmtree(folder, ignore_errors=True)
    return problem.rpartition("\n")[2]


def _connected(folder: str, patience_s: float) -> socket.socket:
    until_s = monotonic() + patience_s
    while True:
        relay = socket.socket(socket.AF_UNIX)
        try:
            relay.connect(str(Path(folder) / "line"))
        except OSError:
            relay.close()
            if monotonic() >= until_s:
                raise
            sleep(0.01)
        else:
            return relay


def _copy_in(relay: socket.socket) -> None:
    """Copy what the inspector sends; when the line ends, end the other direction, too."""
    with suppress(OSError):
        while True:
            # Through the buffer, not the descriptor: it may hold bytes that were read ahead.
            data = cast("BufferedReader", sys.stdin.buffer).read1(_READ)
            if not data:
                break
            relay.sendall(data)
    with suppress(OSError):
        relay.shutdown(socket.SHUT_RDWR)


if __name__ == "__main__":
    serve_line()
