"""Parts of the server: what clients hold, its workers, tools and its socket."""

from __future__ import annotations

import asyncio
import json
import socket
import stat
import tempfile
import threading
from contextlib import closing
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from inspector.commands.clocks import PauseClock, ResumeClock
from inspector.commands.command import Capability
from inspector.commands.scene import Undo
from inspector.commands.transport import Hold, Run
from inspector.errors import ArgumentError
from inspector.remote import request_handler, serving
from inspector.remote.mcp_server import Tools
from inspector.remote.methods import BAD_PARAMS, NOT_A_REQUEST
from inspector.remote.opened import ConnectedClient, OpenSession
from inspector.remote.request_handler import NOT_YET, Later, RequestHandler, Worker
from inspector.sessions.session import SessionPhase
from tests.remote.stand_ins import Asked, refusal

# ------------------------------------------------------------- what clients hold in a session


def _opened(session: object, number: int = 1) -> OpenSession:
    worker: Any = SimpleNamespace()
    return OpenSession(number, session, "scene", None, worker)  # type: ignore[arg-type]


def _client(name: str) -> ConnectedClient:
    return ConnectedClient(name, lambda _line: None)


def test_that_what_is_undone_or_run_on_is_held_no_longer() -> None:
    inverses = {1: ResumeClock(2), 2: ResumeClock(3), 3: PauseClock(2), 4: ResumeClock(2)}
    timeline = SimpleNamespace(
        at_ns=5, clocks={n: SimpleNamespace(name=f"c{n}") for n in (2, 3)}, commands=[]
    )
    session = SimpleNamespace(undoing=SimpleNamespace(of=inverses.get), timeline=timeline)
    opened, client = _opened(session), _client("one")

    def note(command: Any, number: int, *, was_running: bool = False) -> list[int]:  # noqa: ANN401
        opened.note(client, command, number, was_running=was_running)
        return [kept.number for kept in opened.kept.values()]

    assert note(PauseClock(2), 1) == [1]
    assert note(PauseClock(3), 2) == [1, 2]
    # It is what undoes the first.
    assert note(ResumeClock(2), 3) == [2]
    assert note(PauseClock(2), 4) == [2, 4]
    assert note(Undo(2), 5) == [4]
    assert note(Undo(77), 6) == [4]
    # A hold of what was held already is nobody's.
    assert note(Hold(), 7) == [4]
    assert note(Hold(), 8, was_running=True) == [4, 8]
    assert note(Hold(), 9) == [4, 9]
    assert note(Run(), 10) == [4]
    opened.note_hold(client)
    assert [(each.number, each.text) for each in opened.kept.values()][1:] == [(0, "hold")]
    assert set(opened.asked_by) == set(range(1, 11))
    session.undoing = None
    assert note(PauseClock(3), 11) == [4, 0]


def test_that_the_state_says_by_whom_clocks_are_paused() -> None:
    clocks = [
        SimpleNamespace(id=n, name=f"c{n}", paused=n != 9, pause_cause=cause)
        for n, cause in ((1, 0), (2, 1), (3, 2), (4, 3), (5, 4), (6, 5), (9, 0))
    ]
    commands = [
        SimpleNamespace(number=3, by="a key"),
        SimpleNamespace(number=4, by=""),
        SimpleNamespace(number=30, by="no"),
    ]
    timeline = SimpleNamespace(at_ns=5, clocks={c.id: c for c in clocks}, commands=commands)
    status = SimpleNamespace(breakpoint=7, phase=SimpleNamespace(value="held"), message="Held.")
    session = SimpleNamespace(timeline=timeline, status=status, title="game")
    opened, one, two = _opened(session, 6), _client("one"), _client("two")
    opened.asked_by.update({1: one, 2: two})
    state = opened.state(one)
    assert [each["by"] for each in state["held"]] == [
        *("the program", "you", "two", "a key", "command 4", "command 5", "breakpoint 7"),
    ]
    assert state["held"][0]["what"] == "pause “c1”"
    assert (state["held_count"], state["session"], state["at_ns"]) == (7, 6, 5)
    timeline.clocks.update(dict.fromkeys(range(20, 60), clocks[0]))
    state = opened.state(one)
    assert (len(state["held"]), state["held_count"]) == (20, 47)


def test_that_only_what_the_client_holds_is_let_go_the_newest_first() -> None:
    submitted: list[object] = []
    session = SimpleNamespace(submit=submitted.append, refresh=lambda: submitted.append("refresh"))
    opened, one, two = _opened(session), _client("one"), _client("two")
    for client, key in ((one, "a"), (two, "b"), (one, "c")):
        opened.note_hold(client)
        kept = opened.kept.pop("transport")
        kept.inverse = key  # type: ignore[assignment]
        opened.kept[key] = kept
    opened.let_go(one)
    assert submitted == ["c", "a", "refresh"]
    assert list(opened.kept) == ["b"]


# -------------------------------------------------------------------------- the handler


def test_that_a_scene_in_real_time_runs_for_a_turn() -> None:
    ran: list[int] = []
    host: Any = SimpleNamespace(now_ns=lambda: 5, run=ran.append)
    request_handler._run_host(host)
    request_handler._run_host(None)
    assert ran == [5 + request_handler._TURN_NS]


def test_that_another_session_is_asked_by_its_own_worker() -> None:
    calls: list[object] = []
    session = SimpleNamespace(refresh=lambda: calls.append("refresh"))
    opened = SimpleNamespace(
        session=session,
        worker=SimpleNamespace(call=lambda job: job()),
        state=lambda client: f"as {client.name} sees it",
    )
    handler: Any = SimpleNamespace(
        found=lambda _client, number: opened if number == 1 else None,
        none_text=lambda number: f"no session {number}",
        sessions={},
    )
    asked = request_handler.Asked(handler, _client("one"), None)  # type: ignore[arg-type]
    assert asked.in_session(1, calls.append) is None
    assert calls == ["refresh", opened]
    state: Any = RequestHandler.state(asked)
    assert state == "as one sees it"
    assert refusal(lambda: asked.in_session(2, lambda _: None)) == "no session 2"


def test_that_a_worker_that_has_ended_does_its_mail_at_once() -> None:
    with closing(RequestHandler()) as handler:
        worker = Worker(handler, is_of_session=False)
        with pytest.raises(ZeroDivisionError):
            worker.call(lambda: 1 // 0)
        worker.close()
        worker.thread.join()
        threads: list[threading.Thread] = []
        worker.post(lambda: threads.append(threading.current_thread()))
    assert threads == [threading.current_thread()]


def test_that_what_waits_is_answered_in_time_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 100.0
    monkeypatch.setattr(request_handler, "time", SimpleNamespace(monotonic=lambda: now_s))
    monkeypatch.setattr(request_handler, "_MOST_WAITING", 1)
    with closing(RequestHandler()) as handler:
        worker = Worker(handler, is_of_session=False)
        worker.close()
        worker.thread.join()
        asked = request_handler.Asked(handler, _client("one"), worker)
        told: list[dict[str, Any]] = []
        later = Later(lambda: NOT_YET, 5.0, "It is late.")
        worker.wait_for(asked, 1, later, told.append)
        worker.wait_for(asked, 2, later, told.append)
        assert [each["error"]["message"] for each in told] == [
            "Too many requests wait for their answers."
        ]
        assert told[0]["id"] == 2
        (waiting,) = worker._waiting
        now_s = 105.0
        assert not worker._has_answered(waiting)
        now_s = 105.1
        assert worker._has_answered(waiting)
        assert told[1]["error"]["message"] == "It is late."
        worker._waiting.clear()


def test_that_so_many_sessions_may_be_open() -> None:
    with closing(RequestHandler()) as handler:
        most = request_handler._MOST_SESSIONS
        handler.sessions = dict.fromkeys(range(most - 1), None)  # type: ignore[assignment]
        assert handler.next_number() == 1
        handler.sessions[99] = None  # type: ignore[assignment]
        assert f"{most} sessions are open" in refusal(handler.next_number)
        handler.sessions = {}
        assert handler.next_number() == 2


def test_that_the_worker_of_a_client_that_has_gone_ends() -> None:
    with closing(RequestHandler()) as handler:
        client = _client("one")
        first = handler._general_of(client)
        assert handler._general_of(client) is first
        handler.leave(client)
        last = handler._general_of(client)
        last.thread.join(30)
        assert not last.thread.is_alive()


def test_that_a_command_that_is_none_is_refused_before_it_is_asked() -> None:
    command: Any = SimpleNamespace(
        capability="x", sentence=lambda _: "do it", problem=lambda: "It is nothing."
    )
    asked: Any = Asked(SimpleNamespace(timeline=None))
    text = refusal(lambda: request_handler.submit(asked, 0, 1.0, command), BAD_PARAMS)
    assert text == "It is nothing."
    assert asked.checked == [("full", "“do it”")]


@pytest.mark.parametrize("more", [0, 1])
def test_that_a_request_has_so_many_bytes(more: int) -> None:
    line = b'"' + b"x" * (request_handler.MOST_BYTES - 2 + more) + b'"'
    if more:
        text = refusal(lambda: request_handler._message_in(line), NOT_A_REQUEST)
        assert "1,048,576 bytes" in text
    else:
        assert len(str(request_handler._message_in(line))) == len(line) - 2


# ------------------------------------------------------------------- tools and the socket


def test_that_a_tool_asks_the_method_that_it_is_for() -> None:
    asked: list[tuple[str, dict[str, object]]] = []

    def ask(_client: object, name: str, params: dict[str, object]) -> dict[str, Any]:
        asked.append((name, params))
        if name == "session.close":
            state = {"message": "It runs."} if params["session"] else None
            return {"error": {"message": "No.", "data": {"state": state}}}
        return {"result": {"value": name}}

    handler: Any = SimpleNamespace(connect=lambda _send: "me", ask=ask)
    tools = Tools(handler, ZeroDivisionError)

    async def work() -> None:
        assert await tools.list_programs() == {"value": "programs.list"}
        await tools.open_session(pid=5, ssh="web-1")
        await tools.open_session(browser="chromium")
        await tools.open_session(dial="unix:/s", token="t", exec="env")  # noqa: S106 - none
        await tools.open_session(file="a.csv")
        await tools.open_session(["python"], folder="/f")
        await tools.open_session()
        await tools.sessions()
        await tools.wait(2.0, 4)
        await tools.find_culprits()
        await tools.explain("tick", session=4)
        await tools.findings(4)
        await tools.show("loops", session=4)
        await tools.show("timers", offset=50)
        await tools.control(" Step ")
        await tools.control("pause game")
        await tools.compare(1, "b.csv", 1.5)
        await tools.query("SELECT 1")
        with pytest.raises(ZeroDivisionError, match=r"^No\. State: It runs\.$"):
            await tools.close_session(4)
        with pytest.raises(ZeroDivisionError, match=r"^No\.$"):
            await tools.close_session()

    asyncio.run(work())
    assert asked == [
        ("programs.list", {}),
        ("session.attach", {"pid": 5, "ssh": ["web-1"]}),
        ("session.attach", {"browser": "chromium"}),
        ("session.attach", {"dial": "unix:/s", "token": "t", "exec": ["env"]}),
        ("session.open", {"path": "a.csv"}),
        ("session.launch", {"argv": ["python"], "folder": "/f"}),
        ("session.launch", {"argv": []}),
        ("session.list", {}),
        ("session.wait", {"seconds": 2.0, "session": 4}),
        ("session.late", {"over_ns": 20_000_000, "session": 0, "limit": 100}),
        ("session.explain", {"timer": "tick", "session": 4}),
        ("session.findings", {"session": 4}),
        ("session.loops", {"session": 4}),
        ("session.timers", {"session": 0, "offset": 50, "limit": 50}),
        ("command.step_frames", {"session": 0}),
        ("session.change", {"change": "pause game", "session": 0}),
        ("session.compare", {"before": 1, "after": "b.csv", "over_ns": 1_500_000}),
        ("session.sql", {"query": "SELECT 1", "session": 0}),
        ("session.close", {"session": 4}),
        ("session.close", {"session": 0}),
    ]


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="there are no Unix sockets")
def test_that_a_socket_is_removed_only_where_nothing_listens() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "socket"
        serving._remove_left_over(path)
        with closing(socket.socket(socket.AF_UNIX)) as listener:
            listener.bind(str(path))
            listener.listen()
            serving._remove_left_over(path)
            assert stat.S_ISSOCK(path.stat().st_mode)
            handler: Any = None
            with pytest.raises(ArgumentError, match="in use"):
                serving._serve_unix(handler, path, StringIO())
        serving._remove_left_over(path)
        assert not path.exists()
        path.touch()
        serving._remove_left_over(path)
        assert path.exists()


def test_that_a_system_without_unix_sockets_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "socket", SimpleNamespace())
    handler: Any = None
    with pytest.raises(ArgumentError, match="--stdio"):
        serving._serve_unix(handler, Path("socket"), StringIO())


class _Command(msgspec.Struct):
    """A command that is played."""

    capability: Any = "x"
    form: dict[str, object] = msgspec.field(default_factory=lambda: {"command": "Do", "a": 1})

    def sentence(self, _timeline: object) -> str:
        return "do it"

    def problem(self) -> str:
        return ""

    def as_values(self) -> dict[str, object]:
        return self.form


def _record(number: int, refusal: str = "", **form: object) -> SimpleNamespace:
    values = {"command": "Do", "a": 1, "b": 2, **form}
    return SimpleNamespace(
        number=number, refusal=refusal, form=json.dumps(values), text="it is done", at_ns=9
    )


def _submitting(kind: str = "scene", **has: object) -> tuple[Any, Any]:
    session = SimpleNamespace(
        timeline=SimpleNamespace(commands=[_record(4)]),
        capabilities={"x"},
        why_not=lambda _capability: "",
        status=SimpleNamespace(phase=SessionPhase.RUNNING),
        is_recorded=False,
        asked=[],
        **has,
    )
    session.submit = session.asked.append
    session.refresh = lambda: session.asked.append("refresh")
    asked: Any = Asked(session, kind)
    asked.noted = []
    asked.opened.note = lambda *given, was_running: asked.noted.append((*given, was_running))
    return asked, session


@pytest.mark.parametrize(
    ("why", "told"),
    [("", f"a capture cannot {Capability.FIRE.value}"), ("It is closed", "It is closed")],
)
def test_that_what_a_session_cannot_is_refused_with_the_reason(why: str, told: str) -> None:
    asked, session = _submitting("capture")
    session.why_not = lambda _capability: why
    command: Any = _Command(Capability.FIRE)
    session.capabilities = ()
    text = refusal(lambda: request_handler.submit(asked, 0, 1.0, command))
    assert text == f"Could not do it: {told}."


@pytest.mark.parametrize("was_running", [True, False])
def test_that_the_answer_to_a_command_is_its_own_record(*, was_running: bool) -> None:
    asked, session = _submitting()
    if not was_running:
        session.status.phase = SessionPhase.HELD
    command: Any = _Command()
    later = request_handler.submit(asked, 0, 7.0, command)
    assert (later.timeout_s, session.asked) == (7.0, [command])
    assert later.poll() is NOT_YET
    commands = session.timeline.commands
    commands += [_record(5, a=2), SimpleNamespace(number=6, form="", refusal="")]
    assert later.poll() is NOT_YET
    assert session.asked == [command, "refresh", "refresh"]
    commands += [_record(7), _record(8)]
    for _ in range(2):
        assert later.poll() == {"number": 7, "text": "it is done", "at_ns": 9}
    assert asked.noted == [(asked.client, command, 7, was_running)]
    commands[3] = _record(7, refusal="no.")
    later = request_handler.submit(asked, 0, 7.0, command)
    commands += [_record(9, refusal="It is over.")]
    assert refusal(later.poll) == "Could not it is done: It is over."


def test_that_the_first_command_of_a_session_is_found_too() -> None:
    asked, session = _submitting()
    session.timeline.commands.clear()
    later = request_handler.submit(asked, 0, 7.0, _Command())  # type: ignore[arg-type]
    session.timeline.commands.append(_record(1))
    assert later.poll()["number"] == 1  # type: ignore[index]


@pytest.mark.parametrize(
    ("command", "before", "after"),
    [
        (Hold(), SessionPhase.RUNNING, SessionPhase.HELD),
        (Run(), SessionPhase.HELD, SessionPhase.RUNNING),
    ],
)
def test_that_a_program_has_a_second_to_follow(
    monkeypatch: pytest.MonkeyPatch, command: Hold | Run, before: SessionPhase, after: SessionPhase
) -> None:
    now_s = 50.0
    monkeypatch.setattr(request_handler, "time", SimpleNamespace(monotonic=lambda: now_s))

    def submitted() -> tuple[Any, Any]:
        asked, session = _submitting()
        session.capabilities = {command.capability}
        session.status.phase = before
        later = request_handler.submit(asked, 0, 7.0, command)
        values: Any = command.as_values()
        session.timeline.commands.append(_record(5, **values))
        return later, session

    later, session = submitted()
    assert later.poll() is NOT_YET
    now_s += 0.9
    assert later.poll() is NOT_YET
    assert session.asked == [command, "refresh", "refresh"]
    now_s += 0.1
    assert later.poll()["number"] == 5
    later, session = submitted()
    session.status.phase = after
    assert later.poll()["number"] == 5
    later, session = submitted()
    session.is_recorded = True
    assert later.poll()["number"] == 5
    later, session = submitted()
    session.status.phase = SessionPhase.STEPPING
    assert later.poll() is NOT_YET


def test_that_clients_are_numbered() -> None:
    with closing(RequestHandler()) as handler:
        assert [handler.connect(len).name for _ in range(2)] == ["client 1", "client 2"]


@pytest.mark.parametrize(
    ("own", "number", "found"),
    [("me", 0, 3), ("other", 0, 4), ("me", 2, 2), ("me", 9, None), ("nobody", 0, 4)],
)
def test_that_the_newest_session_is_that_of_the_client(
    own: str, number: int, found: int | None
) -> None:
    me, other, nobody = _client("me"), _client("other"), _client("nobody")
    owners = [me, other, me, other]
    with closing(RequestHandler()) as handler:
        sessions: Any = {n: SimpleNamespace(number=n, owner=o) for n, o in enumerate(owners, 1)}
        handler.sessions = sessions
        client = {"me": me, "other": other, "nobody": nobody}[own]
        session = handler.found(client, number)
        assert (None if session is None else session.number) == found
        assert handler.none_text(9) == "There is no session 9; open are: 1, 2, 3, 4."
        handler.sessions = {}
        assert handler.none_text(0) == "There is no session; open are: none."


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ([], "A request is an object"),
        ({}, "“jsonrpc” must be"),
        ({"jsonrpc": "2.0", "id": True, "method": "x"}, "“id” must be"),
        ({"jsonrpc": "2.0", "id": [], "method": "x"}, "“id” must be"),
        ({"jsonrpc": "2.0", "method": 5}, "“method” must be"),
        ({"jsonrpc": "2.0", "method": "x", "params": []}, "“params” must be"),
        ({"jsonrpc": "2.0", "method": "x"}, ""),
        ({"jsonrpc": "2.0", "method": "x", "id": None, "params": {}}, ""),
    ],
)
def test_that_what_is_no_request_is_told_why(message: object, told: str) -> None:
    assert request_handler._problem(message).startswith(told)
    assert bool(request_handler._problem(message)) is bool(told)


@pytest.mark.parametrize(
    ("parts", "lines"),
    [
        ([b"a\nb", b"c\n\n \nd"], [b"a", b"bc", b"d"]),
        ([b"12345", b"678\n9\n"], [b"12345678", b"9"]),
        ([b"12345", b"6789", b"x\ny\n"], [b"123456789", b"y"]),
        ([b"1234567890", b"12345678901"], [b"1234567890"]),
        ([b"123456789\n", b"z"], [b"123456789", b"z"]),
    ],
)
def test_that_lines_are_cut_where_they_end_or_are_too_long(
    monkeypatch: pytest.MonkeyPatch, parts: list[bytes], lines: list[bytes]
) -> None:
    monkeypatch.setattr(request_handler, "MOST_BYTES", 8)
    left = iter([*parts, b""])
    assert list(request_handler.lines_of(lambda _count: next(left))) == lines
