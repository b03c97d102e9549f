"""What a thread that waits in a function of C awaits outside of its program."""

from __future__ import annotations

import os
import select
import selectors
import socket
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from inspector.probe import outside
from inspector.probe.outside import (
    awaited_by_call,
    awaited_by_loop,
    awaited_in_file,
    awaited_in_files,
    is_timed,
    system_call,
)

if TYPE_CHECKING:
    from types import FrameType


HAS_CHILDREN = outside._has_children


@pytest.fixture(autouse=True)
def _no_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let other tests' programs be no children that may hold the other ends."""
    monkeypatch.setattr(outside, "_has_children", lambda: False)
    monkeypatch.setattr(outside, "_inside", set())
    calls = {"_LOCKING": {"lock"}, "_OF_FILE": {"read"}, "_POLLING": {"poll"}, "_SLEEPING": {"nap"}}
    for name, numbers in calls.items():
        monkeypatch.setattr(outside, name, numbers)


@pytest.fixture
def connection() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends of a connection by TCP within this program."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        dialled = socket.create_connection(server.getsockname())
        accepted, _ = server.accept()
    with dialled, accepted:
        yield dialled, accepted


def frame(name: str, **seen: object) -> FrameType:
    code = SimpleNamespace(co_name=name, co_filename="server.py")
    return cast("FrameType", SimpleNamespace(f_code=code, f_lineno=7, f_locals=seen))


def outside_of(call: str, waiting: FrameType, file: int = -1, *, is_limited: bool = False) -> str:
    return awaited_by_call(waiting, call, file, is_limited=is_limited)


def test_that_a_lock_is_released_by_the_program_unless_its_time_is_limited() -> None:
    assert outside_of("lock", frame("acquire")) == ""
    assert outside_of("lock", frame("acquire"), is_limited=True) == "server.py:7 in acquire"


def test_that_a_call_of_which_nothing_is_known_is_named_with_its_place() -> None:
    assert outside_of("wait4", frame("wait")) == "server.py:7 in wait"
    assert outside_of("wait4", frame("select")) == "server.py:7 in select"
    assert outside_of("wait4", frame("select", self=object())) == "server.py:7 in select"


def test_that_who_accepts_connections_awaits_nobody() -> None:
    with socket.socket() as server:
        assert outside_of("wait4", frame("accept", self=server)) == ""
        assert outside_of("wait4", frame("recv", self=server)) == "server.py:7 in recv"
    assert outside_of("wait4", frame("accept", self=object())) == "server.py:7 in accept"


def test_that_what_reads_a_file_awaits_its_other_end(
    connection: tuple[socket.socket, socket.socket], tmp_path: Path
) -> None:
    number = os.open(tmp_path, os.O_RDONLY)
    try:
        assert outside_of("read", frame("read"), number) == f"file {number} ({tmp_path})"
    finally:
        os.close(number)
    assert outside_of("read", frame("read"), connection[0].fileno()) == ""


def test_that_a_selector_awaits_the_first_of_its_files_that_others_hold(
    connection: tuple[socket.socket, socket.socket], tmp_path: Path
) -> None:
    number = os.open(tmp_path, os.O_RDONLY)
    chooser = selectors.PollSelector()
    chooser.register(connection[0], selectors.EVENT_READ)
    try:
        assert outside_of("wait4", frame("select", self=chooser)) == ""
        chooser.register(number, selectors.EVENT_READ)
        awaited = f"file {number} ({tmp_path})"
        assert outside_of("wait4", frame("select", self=chooser)) == awaited
        assert awaited_in_files([connection[0].fileno(), number]) == awaited
        assert awaited_in_files([connection[0].fileno(), number], own_files=(number,)) == ""
    finally:
        chooser.close()
        os.close(number)


def test_that_a_connection_within_the_program_stays_one(
    connection: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    number = connection[0].fileno()
    there = f"socket {number} to {connection[0].getpeername()}"
    here = outside._names_here()
    assert connection[1].getsockname() in here
    monkeypatch.setattr(outside, "_names_here", set)
    assert [awaited_in_file(number) for _ in "ab"] == [there, there]
    monkeypatch.setattr(outside, "_names_here", lambda: here)
    assert awaited_in_file(number) == ""
    # Looking again costs as much as there are files.
    monkeypatch.setattr(outside, "_names_here", set)
    assert awaited_in_file(number) == ""


def test_that_a_pair_of_sockets_is_the_programs_until_it_has_children(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, other = socket.socketpair()
    with one, other:
        assert awaited_in_file(one.fileno()) == ""
        monkeypatch.setattr(outside, "_has_children", lambda: True)
        assert awaited_in_file(one.fileno()).startswith(f"socket {one.fileno()} to ")


def test_that_what_listens_or_is_closed_or_is_not_connected_is_told_apart() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as alone:
        assert awaited_in_file(server.fileno()) == ""
        assert awaited_in_file(alone.fileno()) == f"socket {alone.fileno()}"
        closed = server.fileno()
    assert awaited_in_file(closed) == ""


def test_that_a_loop_in_c_that_polls_awaits_the_files_of_its_poll(
    connection: tuple[socket.socket, socket.socket],
) -> None:
    with select.epoll() as poll, socket.socket() as alone:
        poll.register(connection[0].fileno(), select.EPOLLIN)
        assert awaited_by_loop(frame("exec"), "poll", poll.fileno()) == ""
        poll.register(alone.fileno(), select.EPOLLIN)
        awaited = f"socket {alone.fileno()}"
        assert awaited_by_loop(frame("exec"), "poll", poll.fileno()) == awaited
    assert awaited_by_loop(frame("exec"), "poll", -1) == ""
    assert awaited_by_loop(frame("exec"), "lock", -1) == ""
    assert awaited_by_loop(frame("exec"), "wait4", -1) == "server.py:7 in exec"


@pytest.mark.parametrize(
    ("call", "is_limited", "expected"),
    [
        ("nap", False, True),
        ("poll", False, True),
        ("lock", True, True),
        ("lock", False, False),
        ("read", True, False),
    ],
)
def test_that_naps_polls_and_locks_with_a_limit_end_by_the_machines_time(
    call: str, *, is_limited: bool, expected: bool
) -> None:
    assert is_timed(call, is_limited=is_limited) is expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("running", ("running", -1, True)),
        ("lock 0x7f10 0x80 0x0 0x0 0x0 0x0", ("lock", 0x7F10, False)),
        ("lock 0x7f10 0x80 0x0 0x7ffe 0x0 0x0", ("lock", 0x7F10, True)),
        ("poll 0x1f 0x80 0x0 0x0 0x0 0x0", ("poll", 31, True)),
        ("", ("", -1, False)),
        ("lock", ("", -1, False)),
    ],
)
def test_that_the_system_says_in_which_call_a_thread_is(
    words: str, expected: tuple[str, int, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outside, "open", lambda _path: StringIO(words), raising=False)

    assert system_call(1) == expected


def test_that_a_thread_that_is_gone_is_in_no_call_that_is_known() -> None:
    assert system_call(None) == ("", -1, False)


def test_that_a_counter_of_events_is_the_programs_own() -> None:
    number = os.eventfd(0)
    try:
        assert awaited_in_file(number) == ""
    finally:
        os.close(number)


def test_that_only_a_pipe_with_both_ends_in_a_program_without_children_is_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader, writer = os.pipe()
    found = {}
    for has_children in (True, False):
        monkeypatch.setattr(outside, "_has_children", lambda has=has_children: has)
        found[has_children] = outside.awaited_in_file(reader)
    os.close(writer)
    half = outside.awaited_in_file(reader)
    os.close(reader)

    assert found == {True: half, False: ""}
    assert half.startswith(f"file {reader} (pipe:")


# ------------------------------------------------------------------------------- what is not known


def test_that_what_the_system_does_not_tell_may_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [str(number) for number in range(len(sys._current_frames()))]
    monkeypatch.setattr(os, "listdir", lambda _path: tasks)
    assert not outside.has_other_threads()
    tasks.append("9")
    assert outside.has_other_threads()

    def refused(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(os, "listdir", refused)
    assert outside.has_other_threads()


def test_that_a_program_may_have_children_where_the_system_does_not_tell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outside, "_has_children", HAS_CHILDREN)

    def none(*_: object) -> None:
        raise ChildProcessError

    found = []
    for waits in (none, lambda *_: None):
        monkeypatch.setattr(os, "waitid", waits, raising=False)
        found.append(outside._has_children())
    monkeypatch.delattr(os, "waitid")
    found.append(outside._has_children())

    assert found == [False, True, True]
