"""A line to a host in this process: its command is a pair of pipes, its time is set."""

from __future__ import annotations

import json
import os
import re
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from io import BufferedWriter, BytesIO, TextIOWrapper
from types import SimpleNamespace
from typing import Any, TypeVar

import msgspec
import pytest

from inspector.errors import AttachError
from inspector.sessions.attached.doors.hosts import line as line_module
from inspector.sessions.attached.doors.hosts.end_of_line import MARK
from inspector.sessions.attached.doors.hosts.line import HostLine, ProbeThere, _Connection
from inspector.sessions.attached.doors.hosts.records import (
    BROKEN_S,
    CLOSED,
    DATA,
    END,
    HEARTBEAT_S,
    OPENED,
    OUTPUT,
    QUESTION,
    RESUME,
    SUPERVISOR,
    BrokenRecordError,
    _record,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes are waited for by select")

_T = TypeVar("_T")
_COMMANDS = (("first",), ("again",))


class _Clock:
    """Time that passes while something is waited for."""

    now_s = 500.0

    def __init__(self) -> None:
        self.waits: list[float | None] = []
        self.notices = 0

    def monotonic(self) -> float:
        return self.now_s

    def changed(self) -> threading.Condition:
        clock = self

        class Waits(threading.Condition):
            def wait_for(self, predicate: Callable[[], _T], timeout: float | None = None) -> _T:
                found = predicate()
                if not found:
                    clock.waits.append(timeout)
                    clock.now_s += timeout or 0
                return found

            def notify_all(self) -> None:
                clock.notices += 1

        return Waits()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> _Clock:
    made = _Clock()
    monkeypatch.setattr(line_module, "monotonic", made.monotonic)
    return made


class _Channels:
    def __init__(self) -> None:
        self.told: list[tuple[object, ...]] = []

    def begin(self, _line: HostLine, channel: int, about: ProbeThere) -> None:
        self.told.append(("begin", channel, about.pid, about.token))

    def receive(self, channel: int, data: bytes) -> None:
        self.told.append(("receive", channel, data))

    def end(self, channel: int) -> None:
        self.told.append(("end", channel))

    def end_all(self, reason: str) -> None:
        self.told.append(("all", reason))


def _line(
    clock: _Clock, channels: _Channels | None = None, notes: list[str] | None = None, **more: bool
) -> HostLine:
    on_note: Callable[[str], object] = len if notes is None else notes.append
    made = HostLine("there", _COMMANDS, {"argv": ["x"]}, channels, on_note, **more)
    made._changed = clock.changed()
    return made


class _Played:
    """A connection: what is put on it, and what comes, each after a while."""

    def __init__(
        self,
        clock: _Clock | None = None,
        comes: list[tuple[float, bytes | None]] | None = None,
        **told: object,
    ) -> None:
        self.clock = clock
        self.comes = comes or []
        self.told = told
        self.sent: list[bytes] = []
        self.closed: list[bool] = []
        self.patience_s = 0.0
        self.flushes = self.beats = 0
        self.last_words = ""

    def put(self, data: bytes) -> None:
        self.sent.append(data)

    def beat(self, _record: bytes) -> None:
        self.beats += 1

    def flush(self) -> None:
        self.flushes += 1

    def introduction(self, patience_s: float) -> dict[str, object]:
        self.patience_s = patience_s
        if self.told.get("is_broken"):
            raise BrokenPipeError
        return self.told

    def errors(self) -> str:
        return self.last_words

    def receive(self, timeout_s: float) -> bytes | None:
        assert timeout_s == HEARTBEAT_S
        if not self.comes:
            raise ConnectionResetError
        after_s, data = self.comes.pop(0)
        assert self.clock is not None
        self.clock.now_s += after_s
        return data

    def close(self, *, is_patient: bool = False) -> None:
        self.closed.append(is_patient)


def _answer_with(
    monkeypatch: pytest.MonkeyPatch, *played: _Played
) -> list[tuple[tuple[str, ...], _Played]]:
    left, begun = list(played), []

    def connect(command: tuple[str, ...]) -> _Played:
        begun.append((command, left.pop(0)))
        return begun[-1][1]

    monkeypatch.setattr(line_module, "_Connection", connect)
    return begun


# ------------------------------------------------------------------------- reaching it


def test_that_the_first_command_gets_all_and_later_ones_the_folder(
    clock: _Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, again = _Played(folder="/f", host="box"), _Played(folder="/f")
    begun = _answer_with(monkeypatch, first, again)
    monkeypatch.setattr(line_module, "_bundle", lambda: b"BUNDLE")
    line = _line(clock)
    connections: list[Any] = [line._connected(command) for command in _COMMANDS]
    assert connections == [first, again]
    assert [command for command, _ in begun] == [("first",), ("again",)]
    source = line_module._END_OF_LINE.read_bytes()
    begin = b"%d\n" % len(source) + source
    about = {"folder": "", "settings": {"argv": ["x"]}, "bytes": 6}
    assert first.sent == [begin + json.dumps(about).encode() + b"\nBUNDLE"]
    assert again.sent == [begin + b'{"folder": "/f"}\n']
    assert (first.patience_s, again.patience_s) == (120.0, 30.0)
    assert (line.name, first.closed) == ("there", [])


@pytest.mark.parametrize(
    ("host", "is_named_there", "name"),
    [
        ("box", False, "there"),
        ("box", True, "box"),
        ("b\x1bo" + "x" * 99, True, None),
        ("", True, "there"),
        (socket.gethostname(), True, "there"),
        ("0123456789ab", True, "there"),
    ],
)
def test_that_a_host_is_named_as_it_calls_itself_where_that_says_more(
    clock: _Clock,
    monkeypatch: pytest.MonkeyPatch,
    host: str,
    name: str | None,
    *,
    is_named_there: bool,
) -> None:
    _answer_with(monkeypatch, _Played(folder="/f", host=host))
    line = _line(clock, is_named_there=is_named_there)
    line._connected(("first",))
    if name is None:
        assert len(line.name) == 80
        assert line.name.isprintable()
    else:
        assert line.name == name


@pytest.mark.parametrize(
    ("told", "last_words", "reason", "says_gone"),
    [
        ({"error": "It is full."}, "words", "It is full", True),
        ({}, "No route.", "No route", False),
        ({}, "", "the command ended without a word", False),
        ({"folder": 5}, "", "the command ended without a word", False),
        ({"is_broken": True, "folder": "/f"}, "", "the command ended without a word", False),
    ],
)
def test_that_the_reason_why_a_host_is_not_reached_is_told(  # noqa: PLR0913 - a table
    clock: _Clock,
    monkeypatch: pytest.MonkeyPatch,
    told: dict[str, Any],
    last_words: str,
    reason: str,
    *,
    says_gone: bool,
) -> None:
    for folder in ("", "/f"):
        played = _Played(**told)
        played.last_words = last_words
        _answer_with(monkeypatch, played)
        line = _line(clock)
        line._folder = folder
        with pytest.raises(AttachError, match=f"^there was not reached: {re.escape(reason)}\\.$"):
            line._connected(("again",))
        assert played.closed == [False]
        # Only a relay that is not there any more says so: all else may be better the next time.
        assert line._is_gone is (says_gone and bool(folder))


def test_that_a_line_is_built_again_less_and_less_often_until_the_patience_ends(
    clock: _Clock,
) -> None:
    notes: list[str] = []
    line = _line(clock, notes=notes)
    tries: list[float] = []

    def connected(command: tuple[str, ...]) -> Any:  # noqa: ANN401 - a connection
        assert command == ("again",)
        tries.append(clock.now_s - 500)
        message = "It is not reached."
        raise AttachError(message)

    line._connected = connected  # type: ignore[method-assign]
    assert line._reconnected() is None
    assert clock.waits[:6] == [0.25, 0.25, 0.5, 1.0, 2.0, 2.0]
    assert 28 <= tries[-1] < 30 <= clock.now_s - 500
    assert notes == ["The line to there is down. Programs there go on; trying again."]
    assert line.problem == "The line to there was lost. It is not reached."


def test_that_a_line_that_is_back_is_told_if_it_was_missed(clock: _Clock) -> None:
    notes: list[str] = []
    line = _line(clock, notes=notes)
    connection: Any = object()
    line._has_heard = True
    line._connected = lambda _command: connection  # type: ignore[assignment, method-assign]
    assert line._reconnected() is connection
    assert (notes, clock.waits, line.problem) == ([], [], "")
    failures = [AttachError("No."), AttachError("Not yet.")]

    def connected(_command: tuple[str, ...]) -> Any:  # noqa: ANN401 - a connection
        if failures:
            raise failures.pop(0)
        return connection

    line._connected = connected  # type: ignore[assignment, method-assign]
    line._heard_s = clock.now_s - 2
    assert line._reconnected() is connection
    assert notes[1:] == ["The line to there is back after 2.8 s."]


@pytest.mark.parametrize("end", ["_is_over", "_is_gone"])
def test_that_a_line_that_is_over_is_not_built_again(clock: _Clock, end: str) -> None:
    line = _line(clock)
    setattr(line, end, True)
    line._connected = lambda _command: pytest.fail("it is tried")  # type: ignore[assignment, method-assign]
    assert line._reconnected() is None
    assert line.problem == "The line to there was lost."


# --------------------------------------------------------------------------- carrying


def test_that_records_are_carried_until_nothing_comes_for_long(clock: _Clock) -> None:
    channels = _Channels()
    line = _line(clock, channels)
    data = _record(RESUME, 0, 0) + _record(DATA, 4, 1, b"one")
    played: Any = _Played(clock, [(1, data), *[(HEARTBEAT_S, None)] * 20])
    line.send(CLOSED, 9)
    line._carry(played)
    assert channels.told == [("receive", 4, b"one")]
    assert played.sent[0] == _record(RESUME, 0, 0)
    # What was sent before there was a line comes when the other side says that it is missing.
    assert played.sent[1] == _record(CLOSED, 9, 1)
    assert clock.now_s == 501 + BROKEN_S
    assert played.beats == 1 + BROKEN_S / HEARTBEAT_S
    assert (line._has_heard, line._heard_s, line._connection) == (True, 501.0, None)
    assert played.closed == [False]


@pytest.mark.parametrize("comes", [[(1.0, b"")], []])
def test_that_a_line_that_ends_or_breaks_is_over(
    clock: _Clock, comes: list[tuple[float, bytes | None]]
) -> None:
    line = _line(clock)
    played: Any = _Played(clock, comes)
    line._has_heard = True
    line._carry_records(played)
    assert (line._has_heard, line._is_over) == (False, False)
    assert (line.wait(), clock.waits, clock.notices) == (255, [None], 0)
    line._is_gone = True
    ended: Any = _Played(clock)
    line._serve(ended)
    assert (line.wait(), clock.waits, clock.notices) == (255, [None, 0.25], 1)


def test_that_what_is_sent_while_there_is_a_line_is_put_on_it(clock: _Clock) -> None:
    channels = _Channels()
    line = _line(clock, channels)
    played: Any = _Played(clock, [(0, _record(RESUME, 0, 0) + _record(CLOSED, 4, 1)), (0, None)])
    channels.end = lambda channel: line.send(DATA, channel, b"late")  # type: ignore[method-assign]
    line._carry_records(played)
    assert played.sent[-1] == _record(DATA, 4, 1, b"late")


def test_that_the_end_of_the_far_side_ends_a_line_patiently(clock: _Clock) -> None:
    channels = _Channels()
    line = _line(clock, channels)
    played: Any = _Played(clock, [(0, _record(RESUME, 0, 0) + _record(END, 0, 1)), (0, None)])
    line._serve(played)
    assert played.closed == [True]
    assert played.sent[-1] == _record(END, 0, 1)
    assert played.flushes == 1
    assert clock.notices == 2
    assert channels.told == [("all", "the host was left")]
    assert line.wait() == 255


def test_that_a_record_that_is_none_is_the_problem(clock: _Clock) -> None:
    channels = _Channels()
    line = _line(clock, channels)
    ours, theirs = socket.socketpair()
    with theirs:
        line.carry_supervisor(ours, sys.stderr)
        played: Any = _Played(clock, [(0, b"\0" * 30), (0, None)])
        line._serve(played)
        assert theirs.recv(10) == b""
    assert channels.told == [("all", "there has sent what is not understood here")]
    assert ours.fileno() == -1


def test_that_a_line_that_is_back_is_served_on(clock: _Clock) -> None:
    line = _line(clock)
    first: Any = _Played(clock, [(0, _record(RESUME, 0, 0)), (0, b"")])
    second: Any = _Played(clock, [(0, _record(RESUME, 0, 0) + _record(END, 0, 1)), (0, None)])
    left = [second]
    line._connected = lambda _command: left.pop(0)  # type: ignore[assignment, method-assign]
    line._serve(first)
    assert (first.closed, second.closed, left) == ([False], [True], [])


def test_that_a_line_is_served_in_a_thread_of_its_own(
    clock: _Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = _line(clock)
    served: list[object] = []
    played = _Played(folder="/f")
    _answer_with(monkeypatch, played)

    def serve(connection: object) -> None:
        thread = threading.current_thread()
        served.extend((connection, thread.name, thread.daemon))

    line._serve = serve  # type: ignore[method-assign]
    line.open()
    for thread in threading.enumerate():
        if thread.name == "line: there":
            thread.join()
    assert served == [played, "line: there", True]


# ------------------------------------------------------------------------------ records


def test_that_each_record_goes_where_it_belongs(clock: _Clock) -> None:
    channels = _Channels()
    line = _line(clock, channels)
    raw_out, raw_errors = BytesIO(), BytesIO()
    out = TextIOWrapper(BufferedWriter(raw_out))
    errors = TextIOWrapper(BufferedWriter(raw_errors))
    line._output = out
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", errors)
        for kind, channel, payload in (
            (OPENED, 1, b'{"pid": 5, "token": "t"}'),
            (OPENED, 2, b'{"pid": 6}'),
            (DATA, 1, b"data"),
            (CLOSED, 1, b""),
            (OUTPUT, 1, b"out"),
            (OUTPUT, 2, b"err"),
            (0, 1, b"nothing"),
        ):
            line._handle_record(kind, channel, payload)
        line._output = None
        line._handle_record(OUTPUT, 1, b"or")
    assert channels.told == [
        ("begin", 1, 5, "t"),
        ("begin", 2, 6, ""),
        ("receive", 1, b"data"),
        ("end", 1),
    ]
    assert (raw_out.getvalue(), raw_errors.getvalue()) == (b"out", b"error")
    # A program that is asked about has no channels.
    asking = _line(clock)
    for kind in (OPENED, DATA, CLOSED):
        asking._handle_record(kind, 1, b"x")
    out.close()
    line._output = out
    line._handle_record(OUTPUT, 1, b"it is closed")


def test_that_early_words_of_a_supervisor_are_kept_up_to_a_limit(clock: _Clock) -> None:
    flooded = _line(clock)
    flooded._handle_record(SUPERVISOR, 0, b"x" * (1 << 20))
    with pytest.raises(BrokenRecordError):
        flooded._handle_record(SUPERVISOR, 0, b"x")
    line = _line(clock)
    line._handle_record(SUPERVISOR, 0, b"abcd")
    ours, theirs = socket.socketpair()
    with theirs:
        line.carry_supervisor(ours, sys.stdout)
        assert line._output is sys.stdout
        assert theirs.recv(10) == b"abcd"
        line._handle_record(SUPERVISOR, 0, b"ef")
        assert theirs.recv(10) == b"ef"
        sent = threading.Event()
        said: list[tuple[object, ...]] = []

        def send(*what: object) -> None:
            said.append(what)
            sent.set()

        line.send = send  # type: ignore[assignment, method-assign]
        theirs.sendall(b"end\n")
        assert sent.wait(30)
        assert said == [(SUPERVISOR, 0, b"end\n")]
    for thread in threading.enumerate():
        if thread.name == "attach: supervisor":
            assert thread.daemon
            thread.join()
    ours.close()


class _Answer(msgspec.Struct):
    pid: int


def test_that_the_first_answer_is_that_to_the_question(clock: _Clock) -> None:
    line = _line(clock)
    line._handle_record(QUESTION, 0, b'{"problem": "It \\u001bsleeps."}')
    assert line.problem == "It �sleeps."
    assert clock.notices == 1
    line._handle_record(QUESTION, 0, b'{"pid": 5}')
    line._handle_record(QUESTION, 0, b'{"pid": 6}')
    assert line.ask({"pid": 5}, _Answer).pid == 5
    line._handle_record(QUESTION, 0, b'{"pid": "x"}')
    with pytest.raises(AttachError, match="not understood"):
        line.ask({}, _Answer)
    line._handle_record(QUESTION, 0, b'{"error": "No."}')
    with pytest.raises(AttachError, match=r"^No\.$"):
        line.ask({}, _Answer)
    with pytest.raises(AttachError, match=r"^It �sleeps\.$"):
        line.ask({}, _Answer)
    assert clock.waits == [20.0]
    line.problem = ""
    with pytest.raises(AttachError, match=r"^there does not answer\.$"):
        line.ask({}, _Answer)
    (record, *_) = line._records._sent
    assert record[1] == _record(QUESTION, 0, 1, b'{"pid": 5}')


# --------------------------------------------------------------------------- its command


class _Process:
    """A command: what it is sent and says goes through pipes."""

    def __init__(self, command: list[str], **options: object) -> None:
        self.command = command
        self.options = options
        self.asked: list[object] = []
        pipes = [os.pipe() for _ in range(3)]
        (their_in, our_in), (our_out, their_out), (our_err, their_err) = pipes
        self.stdin = os.fdopen(our_in, "wb", buffering=0)
        self.stdout = os.fdopen(our_out, "rb", buffering=0)
        self.stderr = os.fdopen(our_err, "rb", buffering=0)
        self.read, self.say, self.complain = their_in, their_out, their_err
        self.left = {their_in, their_out, their_err}

    def wait(self, timeout: float | None = None) -> None:
        self.asked.append(timeout)
        if timeout is not None and self.left:
            raise subprocess.TimeoutExpired("it", timeout)

    def kill(self) -> None:
        self.asked.append("kill")
        self.end()

    def end(self, *descriptors: int) -> None:
        for each in descriptors or list(self.left):
            self.left.discard(each)
            os.close(each)


@pytest.fixture
def process(
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[], tuple[_Connection, _Process]]]:
    begun: list[_Process] = []
    left: list[_Connection] = []

    def start(command: list[str], **options: object) -> _Process:
        begun.append(_Process(command, **options))
        return begun[-1]

    monkeypatch.setattr(
        line_module,
        "subprocess",
        SimpleNamespace(Popen=start, PIPE=-1, TimeoutExpired=subprocess.TimeoutExpired),
    )

    def connect() -> tuple[_Connection, _Process]:
        left.append(_Connection(("reach", "it")))
        return left[-1], begun[-1]

    yield connect
    for connection, played in zip(left, begun, strict=True):
        if not connection._is_closed:
            connection.close()
        if played.left:
            played.end()


_Reach = Callable[[], tuple[_Connection, _Process]]


def test_that_a_command_is_written_to_and_read_from(process: _Reach) -> None:
    connection, played = process()
    assert played.command == [*line_module._UNINTERRUPTED, "reach", "it"]
    assert connection.receive(0) is None
    connection.put(b"x" * 100_000)
    connection.put(b"y")
    found = b""
    while len(found) < 100_001:
        found += os.read(played.read, 1 << 16)
    connection.flush()
    assert found == b"x" * 100_000 + b"y"
    assert not connection._outgoing
    os.write(played.say, b"said")
    assert connection.receive(10) == b"said"
    played.end(played.say)
    assert connection.receive(10) == b""


def test_that_a_command_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*_: object, **_more: object) -> None:
        raise FileNotFoundError(2, "No such file")

    monkeypatch.setattr(line_module, "subprocess", SimpleNamespace(Popen=start, PIPE=-1))
    with pytest.raises(AttachError, match=r"^reach could not be started: No such file\.$"):
        _Connection(("reach", "it"))


@pytest.mark.parametrize(
    ("said", "told", "rest"),
    [
        (MARK[1:] + b'{"a": 1}\nmore', {"a": 1}, b"more"),
        (b"Welcome" + MARK + b'{"a": 1}\n', {"a": 1}, None),
        (b"timeline-relay?" + MARK + b"{\nmore", {}, None),
        (b"x" * 999, {"error": "it said nothing in 0 s"}, None),
        (b"x" * 1_000, {}, None),
        (MARK + b'{"a"', {"error": "it said nothing in 0 s"}, None),
    ],
)
def test_that_the_far_end_introduces_itself_after_what_else_is_printed(
    process: _Reach,
    monkeypatch: pytest.MonkeyPatch,
    said: bytes,
    told: dict[str, object],
    rest: bytes | None,
) -> None:
    monkeypatch.setattr(line_module, "_MOST_INTRODUCTION", 1_000)
    connection, played = process()
    os.write(played.say, said)
    assert connection.introduction(0) == told
    if told:
        assert connection.receive(0) == rest


def test_that_a_command_that_ends_has_no_introduction(process: _Reach) -> None:
    connection, played = process()
    os.write(played.say, MARK + b"{")
    played.end(played.say)
    assert connection.introduction(10) == {}


def test_that_the_far_end_has_its_time_to_speak(process: _Reach, clock: _Clock) -> None:
    connection, _ = process()
    waits: list[float] = []

    def receive(timeout_s: float) -> bytes | None:
        waits.append(timeout_s)
        clock.now_s += 3
        return b"word" if len(waits) < 4 else None

    connection.receive = receive  # type: ignore[method-assign]
    assert connection.introduction(7.0) == {"error": "it said nothing in 7 s"}
    assert waits == [7.0, 4.0, 1.0, 0]


def test_that_signs_of_life_have_their_interval(process: _Reach, clock: _Clock) -> None:
    connection, played = process()
    put: list[bytes] = []
    connection.put = put.append  # type: ignore[assignment, method-assign]
    for name, wait_s in (("a", 0.0), ("b", 0.0), ("c", HEARTBEAT_S), ("d", HEARTBEAT_S - 0.1)):
        clock.now_s += wait_s
        connection.beat(name.encode())
    assert put == [b"a", b"c"]
    assert played.left


def test_that_the_last_words_of_a_command_are_its_reason(process: _Reach) -> None:
    connection, played = process()
    os.write(played.complain, b"x" * 5_000 + b"\nfirst\n\n  last \xff \n")
    played.end()
    assert connection.errors() == "last �"
    assert len(connection._errors) == 4_000
    assert played.asked == [line_module._LAST_WORDS_S]
    silent, other = process()
    other.end()
    assert silent.errors() == ""


@pytest.mark.parametrize(("is_patient", "waits"), [(False, []), (True, [1.0])])
def test_that_a_command_is_ended_at_once_or_patiently(
    process: _Reach, waits: list[float], *, is_patient: bool
) -> None:
    connection, played = process()
    # The writer waits for a pipe that is full, the reader for errors: neither holds up the end.
    connection.put(b"x" * 1_000_000)
    while select.select([], [played.stdin], [], 0)[1]:
        pass
    assert not os.get_blocking(played.stdin.fileno())
    connection.close(**({"is_patient": True} if is_patient else {}))
    assert played.asked == [*waits, "kill", None]
    assert played.stdin.closed
    assert played.stdout.closed
    assert played.stderr.closed
    assert not connection._reader.is_alive()
    assert not connection._writer.is_alive()
    assert connection._reader.daemon
    assert connection._writer.daemon
