"""What the thread of a link does with those who dial and are dialled, played by the test."""

# ruff: noqa: ANN401 - stand-ins are no connections

from __future__ import annotations

import os
import select
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe import link as module
from inspector.probe import wire
from inspector.probe.connection import LinkClosed
from inspector.probe.kinds import VOCABULARY_VERSION
from inspector.probe.link import Link
from inspector.probe.program import PROBE_THREAD
from inspector.probe.wire import WireError
from tests.probe.receiver import TOKEN
from tests.probe.turned import MS, Line, Turned, request


class Linked:
    """A link without a thread, whose sockets the test plays."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, address: str = "") -> None:
        self.turned = Turned(monkeypatch)
        self.program = self.turned.program
        self.program.detach()
        self.monkeypatch = monkeypatch
        self.lines: list[Any] = []
        self.ready: list[Any] = []
        self.waited: list[tuple[list[Any], list[Any], int]] = []
        self.is_same_user = True
        monkeypatch.setattr(module, "is_same_user", lambda _sock: self.is_same_user)
        monkeypatch.setattr(module, "Connection", lambda sock: sock)
        monkeypatch.setattr(module, "dialled", self._dialled)
        self.refused: Exception | None = None
        listener: Any = None if address else socket.socket()
        self.accepted: list[Any] = []
        self.link: Any = Link(self.program, TOKEN, "full", address=address, listener=listener)
        if listener is not None:
            listener_of: Any = self.link._listener
            listener_of.sock = SimpleNamespace(
                accept=self._accept, detach=listener.detach, close=listener.close, fileno=int
            )
        self.link._waiting = SimpleNamespace(wait=self._wait)  # type: ignore[assignment]

    def _dialled(self, _address: str) -> Any:
        if self.refused is not None:
            raise self.refused
        self.lines.append(Line())
        return self.lines[-1]

    def _accept(self) -> tuple[Any, str]:
        if not self.accepted:
            raise BlockingIOError
        return self.accepted.pop(0), ""

    def _wait(self, readers: list[Any], writers: list[Any], timeout_ns: int) -> list[Any]:
        self.waited.append((readers, writers, timeout_ns))
        if len(self.waited) > 50:
            pytest.fail("it waits for good")
        self.turned.played.now_ns += 500 * MS
        return self.ready

    def stranger(self, *messages: dict[str, Any] | Exception) -> Any:
        """Let somebody come who says something; an exception is the end of it."""
        line: Any = Line()
        line.waiting = [each if isinstance(each, Exception) else [each] for each in messages]
        self.accepted.append(line)
        self.link._meet_strangers()
        return line

    def close(self) -> None:
        self.link.close("")


HELLO = {"token": TOKEN, "protocol": wire.PROTOCOL, "role": "inspector"}


@pytest.fixture
def listening(monkeypatch: pytest.MonkeyPatch) -> Iterator[Linked]:
    linked = Linked(monkeypatch)
    yield linked
    linked.close()


@pytest.fixture
def dialling(monkeypatch: pytest.MonkeyPatch) -> Iterator[Linked]:
    linked = Linked(monkeypatch, "tcp:127.0.0.1:1")
    yield linked
    linked.close()


def test_that_who_says_hello_is_answered_with_what_the_program_is(
    listening: Linked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "orig_argv", ["python", "é" * 5_000, *"x" * 80])
    line = listening.stranger(request("Link.hello", 3, **HELLO))

    answer = line.sent[0]
    result = answer["result"]
    assert answer["id"] == 3
    assert {key: result[key] for key in ("protocol", "role", "vocabulary", "name", "grant")} == {
        "protocol": wire.PROTOCOL,
        "role": "probe",
        "vocabulary": VOCABULARY_VERSION,
        "name": "played",
        "grant": "full",
    }
    assert (result["pid"], result["parent_pid"]) == (os.getpid(), os.getppid())
    assert result["runtime"]["version"] == sys.version.split()[0]
    assert result["runtime"]["implementation"] == "cpython"
    assert len(result["argv"]) == 64
    assert len(result["argv"][1].encode()) <= 4_096
    assert result["clock_ns"] == listening.turned.played.now_ns
    assert listening.link._attachment is not None
    assert listening.link._strangers == []
    assert not listening.link.is_over


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (request("Link.hello", None, **HELLO), wire.MALFORMED),
        (request("Link.bye", **HELLO), wire.MALFORMED),
        (request("Link.hello", **{**HELLO, "token": TOKEN[1:]}), wire.WRONG_TOKEN),
        (request("Link.hello", **{**HELLO, "token": 5}), wire.WRONG_TOKEN),
        (request("Link.hello", **{**HELLO, "protocol": 2}), wire.WRONG_VERSION),
        (request("Link.hello", **{**HELLO, "role": "probe"}), wire.BAD_PARAMS),
        (WireError(wire.TOO_LARGE, "too large"), wire.TOO_LARGE),
        (LinkClosed("gone"), None),
    ],
)
def test_that_who_does_not_say_hello_is_sent_away(
    listening: Linked, message: Any, code: int | None
) -> None:
    line = listening.stranger(message)

    assert [each["error"]["code"] for each in line.sent] == ([] if code is None else [code])
    assert line.is_closed
    assert listening.link._strangers == []
    assert listening.link._attachment is None


def test_that_a_second_inspector_is_sent_away(listening: Linked) -> None:
    listening.stranger(request("Link.hello", **HELLO))
    first = listening.link._attachment
    second = listening.stranger(request("Link.hello", 4, **HELLO))

    assert (second.sent[0]["id"], second.sent[0]["error"]["code"]) == (4, wire.NOT_POSSIBLE)
    assert listening.link._attachment is first


def test_that_a_few_may_be_silent_for_a_while(listening: Linked) -> None:
    link, played = listening.link, listening.turned.played
    lines = [listening.stranger() for _ in range(9)]
    assert [line.is_closed for line in lines] == [False] * 8 + [True]
    played.now_ns += wire.HELLO_NS - 1
    link._meet_strangers()
    assert len(link._strangers) == 8
    played.now_ns += 1
    link._meet_strangers()
    assert link._strangers == []
    assert all(line.is_closed for line in lines)
    # There is room again, but not for others.
    assert not listening.stranger().is_closed
    listening.is_same_user = False
    assert listening.stranger().is_closed


def test_that_it_waits_for_the_sockets_that_may_say_something(listening: Linked) -> None:
    link = listening.link

    def waited() -> tuple[list[Any], list[Any], int]:
        link._wait()
        return listening.waited[-1]

    assert waited() == ([link._woken, link._listener], [], -1)
    stranger = listening.stranger()
    assert waited() == ([link._woken, link._listener, stranger], [], wire.PING_NS)
    link._strangers.clear()
    line = listening.stranger(request("Link.hello", **HELLO))
    assert link._attachment is not None
    assert waited() == ([link._woken, link._listener, line], [], link._attachment.wait_ns)
    line.wants_to_send, line.wants_to_receive = True, False
    assert waited()[:2] == ([link._woken, link._listener], [line])
    listening.ready = [line]
    assert link._wait()
    listening.ready = [link._woken]
    assert not link._wait()
    # Somebody comes.
    listening.ready = [link._listener]
    listening.accepted.append(Line())
    assert not link._wait()
    assert len(link._strangers) == 1


@pytest.mark.parametrize(
    ("error", "last"),
    [
        (LinkClosed("gone"), wire.notification("Link.bye", {"reason": "gone"})),
        (WireError(5, "wrong"), wire.refusal(0, WireError(5, "wrong"))),
    ],
)
def test_that_the_end_of_an_inspector_is_said_and_the_program_goes_on(
    listening: Linked, error: Exception, last: dict[str, Any]
) -> None:
    line = listening.stranger(request("Link.hello", **HELLO))
    line.waiting.append(error)
    link = listening.link
    assert link._attachment is not None
    link._attend(link._attachment, has_news=True)

    assert link.problem == ("gone" if isinstance(error, LinkClosed) else "wrong")
    assert line.sent[-1] == last
    assert (line.is_closed, link._attachment, link._connection) == (True, None, None)
    assert listening.program.emit is None


def test_that_an_inspector_that_is_dialled_is_attached_by_its_answer(dialling: Linked) -> None:
    link = dialling.link
    assert not link.is_over
    dialling.monkeypatch.setattr(
        module,
        "Attachment",
        lambda *given: SimpleNamespace(end=lambda *_, **__: None, behind=given[3]),
    )

    def wait(*_: object) -> list[Any]:
        dialling.lines[0].waiting.append(
            [request("Link.pong", None), wire.answer(0, HELLO), request("Link.ping", None)]
        )
        return []

    link._waiting.wait = wait
    link._dial()

    (line,) = dialling.lines
    hello = line.sent[0]
    assert (hello["id"], hello["method"], hello["params"]["token"]) == (0, "Link.hello", TOKEN)
    attachment: Any = link._attachment
    assert [each["method"] for each in attachment.behind] == ["Link.ping"]
    assert (link._dialled, link.problem, link.is_over) == (None, "", False)
    assert link._settled.is_set()


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"id": 0, "error": {"code": 8, "message": "wrong token"}}, "wrong token"),
        (wire.answer(0, {**HELLO, "protocol": 9}), "This probe speaks protocol 1."),
        (WireError(1, "not a frame"), "not a frame"),
        (LinkClosed("gone"), "gone"),
        (None, "the inspector does not answer"),
    ],
)
def test_that_an_inspector_that_is_dialled_in_vain_is_hung_up_on(
    dialling: Linked, said: Any, problem: str
) -> None:
    def wait(readers: list[Any], writers: list[Any], timeout_ns: int) -> list[Any]:
        if said is not None:
            dialling.lines[0].waiting.append(said if isinstance(said, Exception) else [said])
        return dialling._wait(readers, writers, timeout_ns)

    link = dialling.link
    link._waiting.wait = wait
    link._run()

    (line,) = dialling.lines
    assert (link.problem, line.is_closed, link.is_over) == (problem, True, True)
    assert dialling.waited[0] == ([line, link._woken], [], wire.PING_NS)
    # An inspector on a busy machine has ten seconds.
    assert len(dialling.waited) == (21 if said is None else 1)


def test_that_what_waits_to_be_sent_to_who_is_dialled_is_waited_for(dialling: Linked) -> None:
    link = dialling.link

    def wait(_readers: list[Any], writers: list[Any], _timeout_ns: int) -> list[Any]:
        assert writers == dialling.lines
        link._is_stopping = True
        return []

    dialling.monkeypatch.setattr(Line, "__init__", _wanting(Line.__init__))
    link._waiting.wait = wait
    link._dial()
    assert dialling.lines[0].flushes == 1
    # The next start waits on for the answer.
    assert link._dialled is not None
    link._dial()
    assert len(dialling.lines) == 1


def _wanting(init: Callable[[Line], None]) -> Callable[[Line], None]:
    def wanting(line: Line) -> None:
        init(line)
        line.wants_to_send = True

    return wanting


def test_that_a_link_that_is_stopped_while_it_dials_has_not_settled(dialling: Linked) -> None:
    link = dialling.link

    def wait(*_: object) -> list[Any]:
        link._is_stopping = True
        return []

    link._waiting.wait = wait
    link._run()
    assert not link.is_over
    assert not link._settled.is_set()
    link.close("it is over")
    assert dialling.lines[0].is_closed
    assert link.is_over


def test_that_nobody_is_dialled_where_nothing_listens(dialling: Linked) -> None:
    dialling.refused = ValueError("not an address")
    dialling.link._run()

    assert (dialling.link.problem, dialling.link.is_over) == ("not an address", True)
    assert dialling.waited == []


def test_that_whatever_goes_wrong_ends_the_link_and_not_the_program(listening: Linked) -> None:
    line = listening.stranger(request("Link.hello", **HELLO))
    line.waiting.append(LookupError("castle"))
    listening.ready = [line]
    listening.link._run()

    assert listening.link.problem == "LookupError: castle"
    assert line.sent[-1]["params"] == {"reason": "LookupError: castle"}
    assert line.is_closed
    assert listening.program.emit is None
    assert listening.link._settled.is_set()


def test_that_who_is_dialled_is_hung_up_on_whatever_goes_wrong(
    dialling: Linked, monkeypatch: pytest.MonkeyPatch
) -> None:
    detached: list[bool] = []
    monkeypatch.setattr(dialling.program, "detach", lambda: detached.append(True))

    def wait(*_: object) -> list[Any]:
        raise LookupError("castle")

    dialling.link._waiting.wait = wait
    dialling.link._run()

    assert dialling.lines[0].is_closed
    assert (dialling.link.problem, detached) == ("LookupError: castle", [True])


def test_that_a_thread_that_is_stopped_looks_once_more(listening: Linked) -> None:
    link = listening.link
    link._is_stopping = True
    link._run()
    listening.stranger(request("Link.hello", **HELLO))
    link._run()

    assert listening.turned.sampled_last == 1
    assert link._attachment is not None


def test_that_a_program_that_closes_all_it_does_not_know_is_dialled_from_again(
    dialling: Linked,
) -> None:
    link = dialling.link
    link._settled.set()
    lost = link._woken
    lost._file = None
    assert lost.is_lost
    dialling.refused = LinkClosed("gone")
    link._begin_again()

    assert link.problem == "gone"
    assert not link._woken.is_lost
    assert not link._settled.is_set()
    assert lost.sock.fileno() == -1


def test_that_a_program_that_listens_ends_when_it_closes_what_it_does_not_know(
    listening: Linked,
) -> None:
    line = listening.stranger(request("Link.hello", **HELLO))
    waits = [listening.stranger()]
    listening.link._woken._file = None
    listening.link._run()

    assert "closed the sockets" in line.sent[-1]["params"]["reason"]
    assert listening.link.is_over
    assert [each.is_closed for each in (line, *waits)] == [True, True]
    assert listening.lines == []


def test_that_a_child_lets_go_of_what_is_its_parents(listening: Linked) -> None:
    line = listening.stranger(request("Link.hello", **HELLO))
    line.sent.clear()
    other = listening.stranger()
    link = listening.link
    link.abandon()

    assert [each.is_closed for each in (line, other)] == [True, True]
    assert line.sent == []
    assert not listening.turned.is_sampling
    assert link._strangers == []
    assert link._listener is None
    # It has no thread to end.
    link._thread = Thread()
    link.abandon()
    link.stop()
    assert link._thread is None


def test_that_an_inspector_is_told_why_the_program_leaves(listening: Linked) -> None:
    line = listening.stranger(request("Link.hello", **HELLO))
    listening.link.close("over")

    assert line.sent[-1] == wire.notification("Link.bye", {"reason": "over"})
    assert line.patience_ns == wire.SILENCE_NS
    assert listening.link.is_over


# ------------------------------------------------------------------------------- its surroundings


def test_that_the_command_line_is_that_of_the_system_where_python_does_not_keep_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(sys, "orig_argv")
    if sys.platform == "linux":
        assert module.command_line()[0].endswith(("python", "python3", Path(sys.executable).name))
        assert "" not in module.command_line()[-1:]

    def refused(*_: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr("builtins.open", refused)
    monkeypatch.setattr(sys, "argv", ["game.py"])
    assert module.command_line() == ["game.py"]


def test_that_a_thread_is_gone_once_the_system_does_not_know_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_ns, yields, gone_after = [0], [0], [0]

    def yielded() -> None:
        yields[0] += 1
        now_ns[0] += 10 * MS

    monkeypatch.setattr(module, "monotonic_ns", lambda: now_ns[0])
    monkeypatch.setattr(os, "sched_yield", yielded)
    monkeypatch.setattr(os.path, "exists", lambda _place: yields[0] < gone_after[0])
    thread: Any = SimpleNamespace(native_id=1)
    for gone_after[0], expected in ((2, 2), (9, 5)):
        yields[0] = now_ns[0] = 0
        module._wait_until_gone(thread)
        assert yields[0] == expected


# ------------------------------------------------------------------------------ starts and stops


class Thread:
    """A thread that never runs."""

    native_id = 7

    def __init__(self, **given: object) -> None:
        self.given = given
        self.asked: list[str] = []

    def start(self) -> None:
        self.asked.append("start")

    def join(self) -> None:
        self.asked.append("join")


def test_that_the_thread_of_a_link_is_no_reason_for_its_program_to_live(
    listening: Linked, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: list[Any] = []
    monkeypatch.setattr(module, "_ProbeThread", Thread)
    monkeypatch.setattr(module, "_wait_until_gone", gone.append)
    link = listening.link
    link._is_stopping = True
    link._waker.sock.send(b"xyz")
    link.start()
    thread = link._thread

    assert thread.given == {"target": link._run, "name": PROBE_THREAD, "daemon": True}
    assert not link._is_stopping
    # What has woken it before does not wake it again.
    with pytest.raises(BlockingIOError):
        link._woken.sock.recv(1)
    link.stop()
    assert thread.asked == ["start", "join"]
    assert (link._is_stopping, link._thread, gone) == (True, None, [thread])
    assert link._woken.sock.recv(9) == b"x"
    link.stop()
    assert len(gone) == 1
    # The number of the socket may be that of another file by now.
    link.start()
    link._waker._file = None
    link.stop()
    with pytest.raises(BlockingIOError):
        link._woken.sock.recv(1)


def test_that_an_answer_is_waited_for_as_long_as_a_hello_may_take(listening: Linked) -> None:
    waited_s: list[float] = []
    listening.link._settled = SimpleNamespace(wait=waited_s.append, set=int)
    listening.link.wait_until_settled()

    assert waited_s == [5.0]


class Poll:
    """The system's way to wait for several sockets."""

    def __init__(self) -> None:
        self.masks: dict[Any, int] = {}
        self.timeouts_ms: list[int] = []

    def register(self, each: Any, mask: int) -> None:
        self.masks[each] = mask

    def poll(self, timeout_ms: int) -> list[tuple[int, int]]:
        self.timeouts_ms.append(timeout_ms)
        return [(each.fileno(), mask) for each, mask in self.masks.items()]


class Numbered:
    def __init__(self, number: int) -> None:
        self.fileno = lambda: number


def test_that_sockets_are_registered_once_for_what_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    polls: list[Poll] = []

    def poll() -> Poll:
        polls.append(Poll())
        return polls[-1]

    monkeypatch.setattr(select, "poll", poll, raising=False)
    waiting, reads, both, writes = module._Waiting(), *map(Numbered, (3, 4, 5))
    for timeout_ns in (1_500_000, -1, 0, 2_000_000):
        ready = waiting.wait([reads, both], [both, writes], timeout_ns)
        assert set(ready) == {reads, both, writes}
    (used,) = polls
    assert used.masks == {
        reads: select.POLLIN,
        both: select.POLLIN | select.POLLOUT,
        writes: select.POLLOUT,
    }
    assert used.timeouts_ms == [2, -1, 0, 2]
    waiting.wait([reads], [writes], 0)
    assert polls[1].masks == {reads: select.POLLIN, writes: select.POLLOUT}
