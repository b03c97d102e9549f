"""The inspector's end of a line to another host, which reconnects when it breaks."""

from __future__ import annotations

import json
import os
import re
import select
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from io import BytesIO
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Final, Protocol, TextIO, TypeVar

import msgspec

from inspector.display_text import foreign_line
from inspector.errors import AttachError
from inspector.sessions.attached.doors.hosts.end_of_line import MARK
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

#: How long a line may be down before programs take the inspector for gone.
PATIENCE_S: Final = 30.0
_AGAIN_AFTER_S: Final = 0.25
_MOST_BETWEEN_S: Final = 2.0
_ANSWER_S: Final = 20.0
_FIRST_S: Final = 120.0
_LAST_WORDS_S: Final = 1.0
_MOST_INTRODUCTION: Final = 1 << 16
_MOST_ERRORS: Final = 4_000
#: Most bytes of a supervisor that are kept until :meth:`HostLine.carry_supervisor`.
_MOST_EARLY: Final = 1 << 20
_LOST: Final = 255
_LONGEST_NAME: Final = 80
_NUMBERED: Final = re.compile("[0-9a-f]{12}")
_PACKAGE: Final = Path(__file__).resolve().parents[4]
_END_OF_LINE: Final = Path(__file__).with_name("end_of_line.py")
#: The files of the inspector's package that are needed on the other host.
_SHIPPED: Final = (
    "__init__.py",
    "display_text.py",
    "errors.py",
    "exit_codes.py",
    "probe/**/*.py",
    "probe/js/*.js",
    "sessions/__init__.py",
    "sessions/attached/__init__.py",
    "sessions/attached/connections.py",
    "sessions/attached/doors/*.py",
    "sessions/attached/doors/hosts/*.py",
)
#: Reads a program from the pipe, and runs it.
LOADER: Final = "import sys;exec(sys.stdin.buffer.read(int(sys.stdin.buffer.readline())))"
#: The command ignores Ctrl+C, since the inspector still needs the line to end programs properly.
_UNINTERRUPTED: Final = ("sh", "-c", 'trap "" INT; exec "$@"', "sh")


_T = TypeVar("_T")
ProcessNumber = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]


class ProbeThere(msgspec.Struct):
    pid: ProcessNumber
    token: str = ""  # The token to send if this side speaks first


class Channels(Protocol):
    """Receives the connections of probes that a line carries, by the numbers of their channels."""

    def begin(self, line: HostLine, channel: int, about: ProbeThere) -> None: ...

    def receive(self, channel: int, data: bytes) -> None: ...

    def end(self, channel: int) -> None: ...

    def end_all(self, reason: str) -> None: ...


class HostLine:
    """The line to a host."""

    def __init__(  # noqa: PLR0913 - what a line is
        self,
        name: str,
        commands: tuple[tuple[str, ...], tuple[str, ...]],
        settings: dict[str, Any],
        channels: Channels | None,
        on_note: Callable[[str], object],
        *,
        is_named_there: bool = False,
    ) -> None:
        """Begin without a connection.

        Args:
            commands: The commands that run a Python there: the first time, and to reconnect.
            on_note: Called in any thread with sentences about the line.
            is_named_there: Whether the host's own name says more than ``name``.
        """
        # A sentence that says why the line has ended, or why there is no probe; empty for none
        self.problem = ""
        self.name = name
        self._is_named_there = is_named_there
        self._first, self._again = commands
        self._channels = channels
        self._settings = settings
        self._on_note = on_note
        self._records = Records()
        self._lock = threading.Lock()
        self._folder = ""
        self._connection: _Connection | None = None
        self._supervisor: socket.socket | None = None
        self._early = b""
        self._output: TextIO | None = None
        self._answers: list[dict[str, Any]] = []
        self._changed = threading.Condition()
        self._is_over = self._is_gone = self._has_heard = False
        self._heard_s = monotonic()

    def open(self) -> None:
        connection = self._connected(self._first)
        threading.Thread(
            target=self._serve, args=(connection,), name=f"line: {self.name}", daemon=True
        ).start()

    def _connected(self, command: tuple[str, ...]) -> _Connection:
        source, bundle = _END_OF_LINE.read_bytes(), b""
        about: dict[str, Any] = {"folder": self._folder}
        if not self._folder:
            bundle = _bundle()
            about |= {"settings": self._settings, "bytes": len(bundle)}
        connection = _Connection(command)
        try:
            connection.put(
                b"%d\n" % len(source) + source + json.dumps(about).encode() + b"\n" + bundle
            )
            # At first, people may have to type a password, which takes a while.
            told = connection.introduction(PATIENCE_S if self._folder else _FIRST_S)
        except OSError:
            told = {}
        folder = told.get("folder")
        if folder and isinstance(folder, str):
            self._folder = folder
            name = foreign_line(str(told.get("host", "")))[:_LONGEST_NAME]
            # The name says nothing new if it is this host's, or a number that Docker made up.
            has_own = name not in {"", socket.gethostname()} and not _NUMBERED.fullmatch(name)
            if self._is_named_there and has_own:
                self.name = name
            return connection
        # An error now means that the relay has ended: it cannot be reached, or it is silent.
        self._is_gone = bool(self._folder and "error" in told)
        reason = told.get("error") or connection.errors() or "the command ended without a word"
        connection.close()
        message = f"{self.name} was not reached: {foreign_line(str(reason)).rstrip('.')}."
        raise AttachError(message)

    # ----------------------------------------------------------------- in its own thread

    def _serve(self, connection: _Connection) -> None:
        try:
            while True:
                self._carry(connection)
                if self._is_over:
                    return
                again = self._reconnected()
                if again is None:
                    return
                connection = again
        finally:
            self._finish()

    def _reconnected(self) -> _Connection | None:
        """Return a new connection, or ``None`` after the line has been down for too long."""
        # Time without a line counts from the last data: a connection without any was no line.
        down_s, between_s = self._heard_s, _AGAIN_AFTER_S
        reason = ""
        if not self._has_heard:
            with self._changed:
                self._changed.wait_for(lambda: self._is_over, between_s)
        while not (self._is_over or self._is_gone) and monotonic() - down_s < PATIENCE_S:
            try:
                connection = self._connected(self._again)
            except AttachError as error:
                if not reason:
                    reason = str(error)
                    self._on_note(
                        f"The line to {self.name} is down. Programs there go on; trying again."
                    )
                with self._changed:
                    self._changed.wait_for(lambda: self._is_over, between_s)
                between_s = min(2 * between_s, _MOST_BETWEEN_S)
            else:
                if reason:
                    self._on_note(
                        f"The line to {self.name} is back after {monotonic() - down_s:.1f} s."
                    )
                return connection
        self.problem = f"The line to {self.name} was lost. {reason}".rstrip()
        return None

    def _carry(self, connection: _Connection) -> None:
        """Exchange records with the other side until the line breaks."""
        try:
            self._carry_records(connection)
        finally:
            with self._lock:
                self._connection = None
            connection.close(is_patient=self._is_over)

    def _carry_records(self, connection: _Connection) -> None:
        connection.put(self._records.begin_line())
        heard_s = monotonic()
        self._has_heard = False
        while not self._is_over and monotonic() - heard_s < BROKEN_S:
            with self._lock:
                heartbeat = self._records.heartbeat()
            connection.beat(heartbeat)
            try:
                data = connection.receive(HEARTBEAT_S)
                if data is None:
                    continue
                if not data:
                    break
                self._heard_s = heard_s = monotonic()
                self._has_heard = True
                with self._lock:
                    found, again = self._records.feed(data)
                    connection.put(again)
                    self._connection = connection
                for kind, channel, payload in found:
                    self._handle_record(kind, channel, payload)
            except OSError:
                break
            except BrokenRecordError:
                self.problem = f"{self.name} has sent what is not understood here."
                self._is_over = True

    def _finish(self) -> None:
        self._is_over = True
        if self._channels is not None:
            self._channels.end_all(self.problem.removesuffix(".") or "the host was left")
        with self._changed:
            if self._supervisor is not None:
                with suppress(OSError):
                    self._supervisor.shutdown(socket.SHUT_RDWR)
                self._supervisor.close()
            self._changed.notify_all()

    def _handle_record(self, kind: int, channel: int, payload: bytes) -> None:
        if kind == OPENED and self._channels is not None:
            self._channels.begin(self, channel, _decoded(payload, ProbeThere))
        elif kind == DATA and self._channels is not None:
            self._channels.receive(channel, payload)
        elif kind == CLOSED and self._channels is not None:
            self._channels.end(channel)
        elif kind == OUTPUT:
            self._write(channel, payload)
        elif kind == SUPERVISOR:
            self._pass_on(payload)
        elif kind == QUESTION:
            self._add_answer(_decoded(payload, dict[str, Any]))
        elif kind == END:
            self.end()

    def _add_answer(self, answer: dict[str, Any]) -> None:
        with self._changed:
            if "problem" in answer:
                self.problem = foreign_line(str(answer["problem"]))
            elif not self._answers:
                self._answers.append(answer)
            self._changed.notify_all()

    def _write(self, channel: int, data: bytes) -> None:
        stream = self._output if channel == 1 and self._output is not None else sys.stderr
        with suppress(OSError, ValueError):
            stream.buffer.write(data)
            stream.flush()

    def _pass_on(self, more: bytes = b"") -> None:
        if len(self._early) + len(more) > _MOST_EARLY:
            raise BrokenRecordError
        with self._changed:
            self._early += more
            if self._supervisor is not None:
                with suppress(OSError):
                    self._supervisor.sendall(self._early)
                self._early = b""

    # ------------------------------------------------------------------- from any thread

    def send(self, kind: int, channel: int, payload: bytes = b"") -> None:
        with self._lock:
            record = self._records.packed(kind, channel, payload)
            if self._connection is not None:
                self._connection.put(record)

    def ask(self, question: dict[str, Any], kind: type[_T]) -> _T:
        """Return the answer to a question about programs there.

        Raises:
            AttachError: There is no answer; the message says why.
        """
        self.send(QUESTION, 0, json.dumps(question).encode())
        with self._changed:
            self._changed.wait_for(lambda: self._answers or self._is_over, _ANSWER_S)
            answer = self._answers.pop(0) if self._answers else {"error": self.problem}
        if "error" in answer:
            reason = foreign_line(str(answer["error"])) or f"{self.name} does not answer."
            raise AttachError(reason)
        try:
            return msgspec.convert(answer, kind)
        except msgspec.ValidationError:
            message = f"{self.name} has sent what is not understood here."
            raise AttachError(message) from None

    def carry_supervisor(self, connected: socket.socket, output: TextIO) -> None:
        """Connect the supervisor there with a socket, and the program's output with a file."""
        self._output = output
        with self._changed:
            self._supervisor = connected
        self._pass_on()

        def pass_back() -> None:
            with suppress(OSError):
                while data := connected.recv(READ):
                    self.send(SUPERVISOR, 0, data)

        threading.Thread(target=pass_back, name="attach: supervisor", daemon=True).start()

    def wait(self) -> int:
        """Wait until the line has ended; returns the exit code that stands for an unknown one."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_over)
        return _LOST

    def end(self) -> None:
        """Leave the host: the relay ends what was launched, and everything else goes on."""
        self.send(END, 0)
        with self._lock:
            connection = self._connection
        if connection is not None:
            connection.flush()
        with self._changed:
            self._is_over = True
            self._changed.notify_all()


class _Connection:
    """One process with pipes to the host; a thread of its own writes what is sent."""

    def __init__(self, command: tuple[str, ...]) -> None:
        try:
            self._process = subprocess.Popen(  # noqa: S603 - what the user has typed
                [*_UNINTERRUPTED, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            message = f"{command[0]} could not be started: {error.strerror}."
            raise AttachError(message) from None
        self._outgoing = bytearray()
        self._changed = threading.Condition()
        self._is_closed = False
        self._beat_s = 0.0
        self._errors = bytearray()
        self._pending = b""
        # Wakes the threads on closing: children of the command may keep its pipes open.
        self._closing, self._close = os.pipe()
        assert self._process.stdin is not None
        os.set_blocking(self._process.stdin.fileno(), False)
        self._reader = threading.Thread(target=self._read_errors, name="line", daemon=True)
        self._reader.start()
        self._writer = threading.Thread(target=self._write, name="line", daemon=True)
        self._writer.start()

    def introduction(self, patience_s: float) -> dict[str, Any]:
        """Return the first message of the far end: an ``error`` if none comes in time.

        It is empty if the pipe ends, or if something else comes.
        """
        said, until_s = b"\n", monotonic() + patience_s
        while True:
            _, mark, rest = said.partition(MARK)
            line, end, self._pending = rest.partition(b"\n")
            if mark and end:
                with suppress(BrokenRecordError):
                    return _decoded(line, dict[str, Any])
                return {}
            if len(said) > _MOST_INTRODUCTION:
                return {}
            data = self.receive(max(until_s - monotonic(), 0))
            if data is None:
                return {"error": f"it said nothing in {patience_s:g} s"}
            if not data:
                return {}
            said += data

    @property
    def _stdout(self) -> int:
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def receive(self, timeout_s: float) -> bytes | None:
        """Return the next bytes, no bytes at the end, or ``None`` if none come in time."""
        if self._pending:
            data, self._pending = self._pending, b""
            return data
        if not select.select([self._stdout], [], [], timeout_s)[0]:
            return None
        return os.read(self._stdout, READ)

    def put(self, data: bytes) -> None:
        with self._changed:
            self._outgoing += data
            self._changed.notify_all()

    def beat(self, record: bytes) -> None:
        """Send a heartbeat if the last one was long enough ago."""
        now_s = monotonic()
        if now_s - self._beat_s >= HEARTBEAT_S:
            self._beat_s = now_s
            self.put(record)

    def flush(self) -> None:
        """Wait until everything is written, for a moment at most."""
        with self._changed:
            self._changed.wait_for(lambda: not self._outgoing or self._is_closed, 1.0)

    def errors(self) -> str:
        """Return the last line that the command wrote to its standard error, once it has ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_WORDS_S)
        self._reader.join(_LAST_WORDS_S)
        lines = self._errors.decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else ""

    def close(self, *, is_patient: bool = False) -> None:
        """End the process; a patient end gives it a moment to pass on what was written."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        os.close(self._close)
        for thread in (self._reader, self._writer):
            thread.join()
        os.close(self._closing)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        if is_patient:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_LAST_WORDS_S)
        with suppress(OSError):
            self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as stream:
            descriptor = stream.fileno()
            while self._closing not in select.select([descriptor, self._closing], [], [])[0]:
                data = os.read(descriptor, READ)
                if not data:
                    return
                self._errors += data
                del self._errors[:-_MOST_ERRORS]

    def _write(self) -> None:
        assert self._process.stdin is not None
        descriptor = self._process.stdin.fileno()
        with suppress(OSError):
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._outgoing or self._is_closed)
                    if self._is_closed:
                        return
                    data = bytes(self._outgoing[:READ])
                if self._closing in select.select([self._closing], [descriptor], [])[0]:
                    return
                written = os.write(descriptor, data)
                with self._changed:
                    del self._outgoing[:written]
                    self._changed.notify_all()


def _decoded(payload: bytes, kind: type[_T]) -> _T:
    try:
        return msgspec.json.decode(payload, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise BrokenRecordError from None


@cache
def _bundle() -> bytes:
    """Return a ZIP archive of the files that are needed on the other host."""
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as files:
        for pattern in _SHIPPED:
            for path in sorted(_PACKAGE.glob(pattern)):
                files.write(path, Path("inspector") / path.relative_to(_PACKAGE))
    return archive.getvalue()
