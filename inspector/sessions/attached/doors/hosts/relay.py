"""The relay beside programs on another host, which stays while lines to the inspector come and go.

It starts a program, accepts the connections of probes on a socket in its folder, which only this
user can read, and passes their data and the inspector's on. When the line breaks, it keeps what is
not acknowledged, keeps the probes from detaching, and waits for the next line. After ``patience_s``
without one it takes the inspector for gone: it detaches from programs, ends what it launched, and
removes its folder. Any Python from 3.9 on runs it; attaching to running programs needs 3.11.
"""

from __future__ import annotations

import errno
import json
import os
import selectors
import shutil
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import Any, Final, cast

from inspector.sessions.attached.doors.hosts.records import (
    BROKEN_S,
    CLOSED,
    DATA,
    END,
    HEARTBEAT_S,
    OPENED,
    OUTPUT,
    QUESTION,
    READ,
    SUPERVISOR,
    BrokenRecordError,
    Records,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from inspector.sessions.attached.doors.door import Opened, ProbeAcceptor

#: Most bytes kept for an inspector that does not read; then programs wait, and probes drop events.
MOST_KEPT: Final = 8 << 20
_MOST_FOR_A_PROBE: Final = 4 << 20
_CREDENTIALS: Final = struct.Struct("3i")
_PING_JSON: Final = b'{"method":"Link.ping","params":{"n":0}}'
#: A frame of the protocol that keeps a probe from detaching while there is no line.
PING: Final = struct.pack("<IB", len(_PING_JSON) + 1, ord("J")) + _PING_JSON
#: When nothing has come on the line for this time, probes are kept from detaching.
_SILENT_S: Final = 1.0
_TURN_S: Final = 0.1
#: How long to wait, after the program has ended, for processes that keep its output open.
_LEAVES_S: Final = 2.0


class _Probe:
    def __init__(self, connected: socket.socket, number: int) -> None:
        self.socket = connected
        self.number = number
        self.outgoing = bytearray()


class Relay:
    """Stays on the host while lines come and go."""

    def __init__(self, folder: str, settings: dict[str, Any]) -> None:
        self._folder = Path(folder)
        self._settings = settings
        self._records = Records()
        self._selector = selectors.DefaultSelector()
        self._line: socket.socket | None = None
        self._outgoing = bytearray()
        self._heard_s = self._said_s = self._pinged_s = monotonic()
        self._probes: dict[int, _Probe] = {}
        self._last_channel = 0
        self._sources: dict[socket.socket | int, Callable[[int], None]] = {}
        self._is_full = False
        self._supervisor: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._outputs = 0
        self._has_ended = False
        self._opened: Opened | None = None
        self._problem = ""
        self._had_probe = False
        self._left_s = 0.0
        self._is_over = False
        self._dialled = _listening(self._folder / "socket")
        # Created last, as the far end takes this socket as the sign that the relay works.
        self._lines = _listening(self._folder / "line")

    def run(self) -> None:
        """Serve until the inspector or the program has ended, then leave nothing behind."""
        try:
            self._selector.register(self._lines, selectors.EVENT_READ, self._accept_line)
            self._selector.register(self._dialled, selectors.EVENT_READ, self._accept_probe)
            if self._settings["argv"]:
                self._launch()
            while not self._is_over:
                for key, events in self._selector.select(_TURN_S):
                    key.data(events)
                self._check_time()
        finally:
            self._end_program()
            if self._opened is not None:
                # It may have to remove files of its own.
                self._opened.end()
            shutil.rmtree(self._folder, ignore_errors=True)

    # -------------------------------------------------------------------- the line

    def _accept_line(self, _events: int) -> None:
        line, _ = self._lines.accept()
        if not _is_same_user(line):
            line.close()
            return
        self._drop_line()
        line.setblocking(False)
        self._line, self._outgoing = line, bytearray(self._records.begin_line())
        self._heard_s = monotonic()
        self._selector.register(line, selectors.EVENT_READ, self._serve_line)
        self._flush()

    def _drop_line(self) -> None:
        if self._line is not None:
            self._selector.unregister(self._line)
            self._line.close()
            self._line = None

    def _serve_line(self, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            self._flush()
        line = self._line
        if line is None or not events & selectors.EVENT_READ:
            return
        try:
            data = line.recv(READ)
            if not data:
                self._drop_line()
                return
            found, again = self._records.feed(data)
        except BlockingIOError:
            return
        except (OSError, BrokenRecordError):
            self._drop_line()
            return
        self._heard_s = monotonic()
        self._outgoing += again
        for kind, channel, payload in found:
            self._handle_record(kind, channel, payload)
        self._flush()
        self._set_full()

    def _send_record(self, kind: int, channel: int, payload: bytes) -> None:
        record = self._records.packed(kind, channel, payload)
        if self._line is not None:
            self._outgoing += record
            self._flush()
        self._set_full()

    def _flush(self) -> None:
        line = self._line
        if line is None:
            return
        try:
            while self._outgoing:
                del self._outgoing[: line.send(self._outgoing)]
        except BlockingIOError:
            pass
        except OSError:
            self._drop_line()
            return
        both = selectors.EVENT_READ | selectors.EVENT_WRITE
        events = both if self._outgoing else selectors.EVENT_READ
        self._selector.modify(line, events, self._serve_line)

    def _handle_record(self, kind: int, channel: int, payload: bytes) -> None:
        probe = self._probes.get(channel)
        if kind == DATA and probe is not None:
            self._send(probe, payload)
        elif kind == CLOSED and probe is not None:
            self._close(probe, is_told=False)
        elif kind == SUPERVISOR and self._supervisor is not None:
            self._supervisor.sendall(payload)
        elif kind == QUESTION:
            self._answer(json.loads(payload))
        elif kind == END:
            self._is_over = True

    # ------------------------------------------------------------------ the probes

    def _accept_probe(self, _events: int) -> None:
        connected, _ = self._dialled.accept()
        if _is_same_user(connected):
            self.begin(connected)
        else:
            connected.close()

    def begin(self, connected: socket.socket, token: str = "") -> None:
        """Pass on what a probe sends from now on; with a token, the inspector speaks first."""
        connected.setblocking(False)
        self._last_channel += 1
        probe = _Probe(connected, self._last_channel)
        self._probes[probe.number] = probe
        self._had_probe = True
        about = {"pid": _peer(connected)[0], "token": token}
        self._send_record(OPENED, probe.number, json.dumps(about).encode())
        self._read_from(connected, lambda _events: self._receive(probe))

    def _receive(self, probe: _Probe) -> None:
        try:
            data = probe.socket.recv(READ)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._send_record(DATA, probe.number, data)
        else:
            self._close(probe, is_told=True)

    def _send(self, probe: _Probe, data: bytes) -> None:
        probe.outgoing += data
        try:
            while probe.outgoing:
                del probe.outgoing[: probe.socket.send(probe.outgoing)]
        except BlockingIOError:
            pass
        except OSError:
            # What the probe sent before it closed has still to be read.
            probe.outgoing.clear()
        if len(probe.outgoing) > _MOST_FOR_A_PROBE:
            self._close(probe, is_told=True)

    def _close(self, probe: _Probe, *, is_told: bool) -> None:
        if self._probes.pop(probe.number, None) is None:
            return
        self._forget(probe.socket)
        probe.socket.close()
        if is_told:
            self._send_record(CLOSED, probe.number, b"")

    # ----------------------------------------------------------------- the program

    def _launch(self) -> None:
        settings, argv = self._settings, self._settings["argv"]
        folder = Path.cwd() / Path(settings["folder"]).expanduser()
        found = shutil.which(str(folder / argv[0]) if os.sep in argv[0] else argv[0])
        if found is None or not folder.is_dir():
            # The supervisor reports a program that cannot be started in the same way.
            self._send_record(SUPERVISOR, 0, b"error %d\n" % errno.ENOENT)
            return
        ours, theirs = socket.socketpair()
        self._supervisor = ours
        supervisor = str(Path(__file__).parents[1] / "supervisor.py")
        options = [str(theirs.fileno()), str(settings["grace_s"]), "1", found]
        self._process = subprocess.Popen(  # noqa: S603 - what the user has typed
            [sys.executable, "-I", "-S", supervisor, *options, *argv],
            env={**os.environ, **_variables(self._folder, settings)},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        self._read_from(ours, self._hear_supervisor)
        for number, pipe in ((1, self._process.stdout), (2, self._process.stderr)):
            assert pipe is not None
            self._outputs += 1
            self._read_output(number, pipe.fileno())

    def _read_output(self, number: int, descriptor: int) -> None:
        def read(_events: int) -> None:
            data = os.read(descriptor, READ)
            if data:
                self._send_record(OUTPUT, number, data)
            else:
                self._forget(descriptor)
                self._outputs -= 1

        self._read_from(descriptor, read)

    def _hear_supervisor(self, _events: int) -> None:
        supervisor = self._supervisor
        assert supervisor is not None
        try:
            data = supervisor.recv(READ)
        except OSError:
            data = b""
        if data:
            self._send_record(SUPERVISOR, 0, data)
            return
        self._forget(supervisor)
        supervisor.close()
        self._supervisor = None

    def _end_program(self) -> None:
        """Have the supervisor end all that it has started, and wait until it has."""
        for probe in list(self._probes.values()):
            probe.socket.close()
        process = self._process
        if process is None:
            return
        if self._supervisor is not None:
            with suppress(OSError):
                self._supervisor.sendall(b"end\n")
        for pipe in (process.stdout, process.stderr):
            # Read on, so that a program that still writes is not blocked or killed by the pipe.
            threading.Thread(target=pipe.read if pipe else bool, daemon=True).start()
        process.wait()

    # ------------------------------------------------------ programs that run already

    def _answer(self, question: dict[str, Any]) -> None:
        try:
            answer = self._found(question)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            answer = {"error": str(error) or type(error).__name__}
        self._send_record(QUESTION, 0, json.dumps(answer).encode())

    def _found(self, question: dict[str, Any]) -> dict[str, Any]:
        if sys.version_info < (3, 11):  # noqa: UP036 - any Python from 3.9 on runs this
            version = ".".join(map(str, sys.version_info[:2]))
            message = (
                f"Programs that run already are found with Python 3.11 or newer as python3 there, "
                f"and it has {version}. Launch the program instead."
            )
            return {"error": message}
        from inspector.sessions.attached.doors.programs import (  # noqa: PLC0415
            described,
            door_of_process,
            running_programs,
        )

        if "pid" not in question:
            found = [each for each in running_programs() if each.process.pid not in self._own()]
            return {"programs": [described(each) for each in found]}
        acceptor = cast(
            "ProbeAcceptor", _RelayedAcceptor(self, self._folder, self._settings["token"])
        )
        self._opened = opened = door_of_process(question["pid"], question["grant"]).open(acceptor)
        return {"title": opened.title, "pid": opened.pid, "note": opened.note}

    def _own(self) -> set[int]:
        return {os.getpid(), os.getppid(), self._process.pid if self._process else 0}

    # ------------------------------------------------------------------------ time

    def _check_time(self) -> None:
        now_s = monotonic()
        if self._line is not None and now_s - self._heard_s > BROKEN_S:
            self._drop_line()
        if self._line is not None and now_s - self._said_s >= HEARTBEAT_S:
            self._said_s = now_s
            self._outgoing += self._records.heartbeat()
            self._flush()
        if now_s - self._heard_s > _SILENT_S and now_s - self._pinged_s >= HEARTBEAT_S:
            self._pinged_s = now_s
            for probe in list(self._probes.values()):
                self._send(probe, PING)
        for probe in self._probes.values():
            if probe.outgoing:
                self._send(probe, b"")
        if now_s - self._heard_s > self._settings["patience_s"]:
            self._is_over = True
        if self._opened is not None and not self._had_probe:
            # Asking this repeatedly also wakes a program that waits, so that it can dial.
            problem = self._opened.problem()
            if problem != self._problem:
                self._problem = problem
                self._send_record(QUESTION, 0, json.dumps({"problem": problem}).encode())
        self._end_with_program(now_s)

    def _end_with_program(self, now_s: float) -> None:
        """Send an END record once the program and all that it has started have ended."""
        process = self._process
        is_launched, is_left = bool(self._settings["argv"]), self._had_probe and not self._probes
        if self._has_ended or not (is_launched or (self._opened is not None and is_left)):
            return
        if self._supervisor is not None or (process is not None and process.poll() is None):
            return
        self._left_s = self._left_s or now_s
        # A process outside the program's family may keep its output open.
        if (self._outputs or self._probes) and now_s - self._left_s < _LEAVES_S:
            return
        self._has_ended = True
        self._send_record(END, 0, b"")

    # ------------------------------------------------------------------- backpressure

    def _read_from(self, source: socket.socket | int, read: Callable[[int], None]) -> None:
        self._sources[source] = read
        if not self._is_full:
            self._selector.register(source, selectors.EVENT_READ, read)

    def _forget(self, source: socket.socket | int) -> None:
        if self._sources.pop(source, None) is not None and not self._is_full:
            self._selector.unregister(source)

    def _set_full(self) -> None:
        """Stop reading while too much waits for the inspector."""
        is_full = self._records.kept > MOST_KEPT
        if is_full is self._is_full:
            return
        self._is_full = is_full
        for source, read in self._sources.items():
            if is_full:
                self._selector.unregister(source)
            else:
                self._selector.register(source, selectors.EVENT_READ, read)


class _RelayedAcceptor:
    """The relay as doors to running programs see it."""

    def __init__(self, relay: Relay, folder: Path, token: str) -> None:
        self._relay = relay
        self.address = f"unix:{folder / 'socket'}"
        self.token = token

    def dial(self, address: str, token: str) -> None:
        connected = socket.socket(socket.AF_UNIX)
        connected.connect(address[len("unix:") :])
        self._relay.begin(connected, token)


def _listening(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    path.chmod(0o600)
    listener.listen()
    return listener


def _peer(connected: socket.socket) -> tuple[int, int]:
    """Return process and user at the other end; 0 and this user if the system does not say."""
    if not hasattr(socket, "SO_PEERCRED"):
        return 0, os.getuid()
    data = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, user, _group = _CREDENTIALS.unpack(data)
    return pid, user


def _is_same_user(connected: socket.socket) -> bool:
    return _peer(connected)[1] in (os.getuid(), 0)


def _variables(folder: Path, settings: dict[str, Any]) -> dict[str, str]:
    """Return the environment variables that make a program load the probe and dial the relay."""
    sys.path.insert(0, str(folder / "inspector" / "probe" / "bootstrap"))
    import_module("timeline_probe_start").load()
    children = import_module("timeline_probe.bootstrap.children")
    options = children.node_options(os.environ.get("NODE_OPTIONS", ""), settings["argv"])
    return {
        "PYTHONPATH": children.path_with_probe(os.environ.get("PYTHONPATH", "")),
        "NODE_OPTIONS": options,
        "TIMELINE_PROBE_CONNECT": f"unix:{folder / 'socket'}",
        "TIMELINE_PROBE_TOKEN": settings["token"],
        "TIMELINE_PROBE_GRANT": settings["grant"],
        "TIMELINE_PROBE_HOLD": "1" if settings["hold"] else "",
    }


def main() -> None:
    """Run the relay in the folder that is the first argument."""
    Relay(sys.argv[1], json.loads(sys.stdin.buffer.read())).run()
