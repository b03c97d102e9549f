"""Whatever a host sends, it is told of in a sentence or waited for, and nothing is left running."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector.errors import AttachError
from inspector.sessions.attached.doors.hosts import host as host_module
from inspector.sessions.attached.doors.hosts import line as line_module
from inspector.sessions.attached.doors.hosts.end_of_line import MARK
from inspector.sessions.attached.doors.hosts.host import Host, OnHost, programs_on
from inspector.sessions.attached.doors.hosts.records import (
    CLOSED,
    DATA,
    OPENED,
    OUTPUT,
    QUESTION,
    RESUME,
    SUPERVISOR,
    _record,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")

_DEEP = b"[" * 100_000
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["pid", "token", "programs", "title", "note", "error", "problem"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=6,
)
_PAYLOADS = st.one_of(
    st.binary(max_size=60), _JSON.map(lambda value: json.dumps(value).encode()), st.just(_DEEP)
)
_KINDS = st.sampled_from([OPENED, DATA, CLOSED, OUTPUT, SUPERVISOR, QUESTION, RESUME, 0])
_RECORDS = st.lists(st.tuples(_KINDS, st.integers(0, 3), _PAYLOADS), max_size=6)
_HELLO = MARK + json.dumps({"folder": "/nowhere", "host": "there"}).encode() + b"\n"
_HELLOS = st.one_of(
    st.just(_HELLO),
    st.binary(max_size=40),
    _PAYLOADS.map(lambda payload: MARK + payload + b"\n"),
)


def _saying(folder: Path, said: bytes, *, stays: bool) -> Host:
    """Return a host that says something, whatever it is told, and then nothing or goodbye."""
    path = folder / "said"
    path.write_bytes(said)
    then = "exec sleep 60" if stays else "exit"
    return Host.by_command(f"sh -c 'cat {path}; {then}' there")


def _children() -> set[str]:
    found: set[str] = set()
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError):  # A thread that has just ended
            found.update((task / "children").read_text().split())
    return found


@pytest.fixture
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, seconds in (
        (line_module, "BROKEN_S", 0.1),
        (line_module, "HEARTBEAT_S", 0.05),
        (line_module, "PATIENCE_S", 0.2),
        (line_module, "_ANSWER_S", 0.3),
        (line_module, "_FIRST_S", 0.2),
        (line_module, "_LAST_WORDS_S", 0.1),
        (line_module, "_AGAIN_AFTER_S", 0.05),
    ):
        monkeypatch.setattr(module, name, seconds)


def _records(found: list[tuple[int, int, bytes]]) -> bytes:
    numbered = enumerate(found, 1)
    return b"".join(_record(kind, to, number, said) for number, (kind, to, said) in numbered)


def _refusal(ask: Callable[[], object]) -> str:
    try:
        ask()
    except AttachError as error:
        return str(error)
    return ""


class _Acceptor:
    """Takes whatever connects."""

    token = ""

    def adopt(self, *_args: object, **_named: object) -> None:
        pass


@pytest.mark.usefixtures("_hasty")
@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    said=st.tuples(_HELLOS, _RECORDS).map(lambda pair: pair[0] + _records(pair[1])),
    cut=st.integers(0, 30),
    stays=st.booleans(),
)
def test_that_no_host_ends_the_inspector_or_leaves_something_running(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], said: bytes, *, cut: int, stays: bool
) -> None:
    said = said[: -cut or None]
    host, before = _saying(tmp_path, said, stays=stays), _children()
    acceptor: Any = _Acceptor()

    for ask in (lambda: programs_on(host), lambda: OnHost(host, pid=1).open(acceptor).end()):
        text = _refusal(ask)
        assert len(text.splitlines()) <= 1
        assert not text or text.endswith(".")

    until_s = time.monotonic() + 30
    while any(each.name.startswith(("line", "attach: there")) for each in threading.enumerate()):
        assert time.monotonic() < until_s, threading.enumerate()
        time.sleep(0.01)
    assert _children() <= before
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        (_DEEP, QUESTION),
        (b"{", QUESTION),
        (b"[]", QUESTION),
        (b'{"programs": 5}', QUESTION),
        (b'{"programs": [{"pid": -1}]}', QUESTION),
        (b'{"pid": "1"}', OPENED),
        (b"\xff", OPENED),
    ],
)
def test_that_what_is_not_understood_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, payload: bytes, kind: int
) -> None:
    monkeypatch.setattr(line_module, "_LAST_WORDS_S", 0.1)
    host = _saying(
        tmp_path, _HELLO + _record(RESUME, 0, 0) + _record(kind, 1, 1, payload), stays=True
    )

    with pytest.raises(AttachError, match=r"^there has sent what is not understood here\.$"):
        OnHost(host, pid=1).open(_Acceptor())  # type: ignore[arg-type] # takes anything


@pytest.mark.usefixtures("_hasty")
def test_that_a_host_that_opens_connections_without_end_is_not_given_as_many_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_module, "_MOST_PROBES", 3)
    opened = [_record(OPENED, number, number, b'{"pid": 1}') for number in range(1, 50)]
    adopted: list[object] = []
    acceptor: Any = _Acceptor()
    acceptor.adopt = lambda connection, **_named: adopted.append(connection)
    host = _saying(tmp_path, _HELLO + b"".join(opened), stays=True)

    with pytest.raises(AttachError):
        OnHost(host, pid=1).open(acceptor)

    assert len(adopted) <= 3


@pytest.mark.usefixtures("_hasty")
def test_that_a_line_on_which_nothing_comes_is_given_up(tmp_path: Path) -> None:
    counts = tmp_path / "counts"
    host = Host.by_command(f"sh -c 'echo >> {counts}; cat {tmp_path}/said' there")
    (tmp_path / "said").write_bytes(_HELLO)

    with pytest.raises(AttachError):
        programs_on(host)

    assert len(counts.read_text()) < 20
