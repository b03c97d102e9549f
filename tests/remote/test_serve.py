"""Sessions by remote: answers, refusals, grants, and what a client leaves behind."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib import import_module
from pathlib import Path
from queue import Queue
from typing import Any
from unittest.mock import Mock

import pytest

from inspector.cli import main as cli
from inspector.client import Client, RequestError
from inspector.commands.command import COMMANDS
from inspector.exit_codes import ExitCode
from inspector.remote import questions
from inspector.remote.methods import METHODS, NOT_GRANTED, command_method_name, schema
from inspector.remote.request_handler import MOST_BYTES, RequestHandler, lines_of
from inspector.sessions.attached.doors.launch import BOOTSTRAP
from tests.forked.python import COMMAND_LINE, python_with
from tests.fuzz import rounds

#: Declares a tree with timers, and passes virtual time.
_SCENE = """
def build(stage):
    game = stage.root.child("game")
    game.set_interval(0.5, lambda: None, name="tick")
    game.set_timeout(100, lambda: None, name="end")
"""
#: The most requests in a batch.
_BATCH = 100
_SLEEPER = "import time\nwhile True:\n    time.sleep(0.02)\n"

Ask = Callable[..., Any]
#: Declares the methods.
import_module("inspector.remote.serving")


@pytest.fixture
def handler() -> Iterator[RequestHandler]:
    with closing(RequestHandler()) as found:
        yield found


def _asker(handler: RequestHandler) -> Ask:
    """Return what asks as a client of its own; the answer is the whole response."""
    client = handler.connect(lambda _line: None)

    def ask(name: str, **params: object) -> Any:  # noqa: ANN401 - any response
        return handler.ask(client, name, params)

    ask.client = client  # type: ignore[attr-defined]
    return ask


@pytest.fixture
def scene(tmp_path: Path) -> str:
    path = tmp_path / "game.py"
    path.write_text(_SCENE)
    return str(path)


def _opened(handler: RequestHandler, scene: str) -> Ask:
    ask = _asker(handler)
    assert "result" in ask("session.open", path=scene, source="virtual")
    return ask


def test_that_a_scene_runs_and_its_timers_are_explained(
    handler: RequestHandler, scene: str
) -> None:
    ask = _opened(handler, scene)
    assert ask("session.wait", seconds=5)["result"]["value"]["is_complete"]
    answer = ask("session.timers")["result"]
    assert [each["name"] for each in answer["value"]["items"]] == ["tick", "end"]
    assert answer["value"]["items"][0]["calls"] == 10
    assert answer["state"]["at_ns"] == 5_000_000_000
    explained = ask("session.explain", timer="end")["result"]["value"]
    assert "due" in " ".join(explained["lines"])


def test_that_the_state_says_who_holds_what(handler: RequestHandler, scene: str) -> None:
    ask, other = _opened(handler, scene), _asker(handler)
    clock = next(
        each["clock_id"]
        for each in ask("session.clocks")["result"]["value"]["items"]
        if each["name"] == "game"
    )
    held = ask("command.pause_clock", clock_id=clock)["result"]["state"]["held"]
    assert held == [{"what": "pause “game”", "by": "you"}]
    seen = other("session.state", session=1)["result"]["state"]["held"]
    assert seen == [{"what": "pause “game”", "by": ask.client.name}]  # type: ignore[attr-defined]


def test_that_a_client_that_goes_lets_go_what_it_held(handler: RequestHandler, scene: str) -> None:
    owner, guest = _opened(handler, scene), _asker(handler)
    guest("session.change", session=1, change="pause game")
    guest("session.change", session=1, change="rate game 1/2")
    guest("session.change", session=1, change="rate game 1/4")
    handler.leave(guest.client)  # type: ignore[attr-defined]
    answer = owner("session.clocks")["result"]
    game = next(each for each in answer["value"]["items"] if each["name"] == "game")
    assert (game["rate"], game["stopped_by"], answer["state"]["held"]) == ("1", (), [])


def test_that_what_another_client_has_changed_since_stays(
    handler: RequestHandler, scene: str
) -> None:
    owner, guest = _opened(handler, scene), _asker(handler)
    guest("session.change", session=1, change="rate game 1/2")
    owner("session.change", change="rate game 3")
    handler.leave(guest.client)  # type: ignore[attr-defined]
    clocks = owner("session.clocks")["result"]["value"]["items"]
    assert next(each["rate"] for each in clocks if each["name"] == "game") == "3"


def test_that_the_sessions_of_a_client_close_with_it_unless_kept(
    handler: RequestHandler, scene: str
) -> None:
    owner, other = _opened(handler, scene), _asker(handler)
    handler.leave(owner.client)  # type: ignore[attr-defined]
    assert other("session.list")["result"]["value"] == []
    other("session.open", path=scene, source="virtual", keep=True)
    handler.leave(other.client)  # type: ignore[attr-defined]
    assert len(_asker(handler)("session.list")["result"]["value"]) == 1


def test_that_a_refusal_says_why(handler: RequestHandler, scene: str) -> None:
    ask = _opened(handler, scene)
    error = ask("command.clear_timer", timer_id=4_711)["error"]
    assert "Timer 4711 is gone" in error["message"]
    assert error["data"]["state"]["session"] == 1
    assert "There is no timer" in ask("session.explain", timer="boss")["error"]["message"]


def test_that_a_figure_of_a_session_is_exported_in_the_size_of_a_use(
    handler: RequestHandler, scene: str, tmp_path: Path
) -> None:
    ask = _opened(handler, scene)
    ask("session.wait", seconds=1.0)
    path = tmp_path / "card.svg"

    told = ask("session.export", path=str(path), figure="distribution", preset="card")

    assert told["result"]["value"]["written"] == [str(path)]
    text = path.read_text()
    assert 'viewBox="0 0 942.86 495"' in text
    assert "Distribution of frame times" in text


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("session.launch", {"argv": ["true"]}),
        ("session.open", {"path": "1"}),
        ("session.export", {"path": "a.csv"}),
        ("command_line.run", {"arguments": ["doctor"]}),
        ("command.hold", {}),
        ("session.change", {"change": "pause game"}),
    ],
)
def test_that_read_only_runs_and_holds_nothing(name: str, params: dict[str, object]) -> None:
    with closing(RequestHandler("read-only")) as handler:
        error = _asker(handler)(name, **params)["error"]
    assert error["code"] == NOT_GRANTED


def test_that_only_looking_needs_no_grant() -> None:
    changing = {name for name, each in METHODS.items() if each.grant != "read-only"}
    assert {command_method_name(each) for each in COMMANDS.values()} - changing == {
        "command.add_mark"
    }


def test_that_the_named_program_may_be_launched_under_any_grant(tmp_path: Path) -> None:
    (tmp_path / "sleeper.py").write_text(_SLEEPER)
    program = (sys.executable, str(tmp_path / "sleeper.py"))
    with closing(RequestHandler("read-only", program)) as handler:
        ask = _asker(handler)
        assert ask("session.launch")["result"]["state"]["phase"] == "running"
        # It has no timer before it sleeps for the first time.
        while not ask("session.timers")["result"]["value"]["total"]:
            assert ask("session.wait", seconds=0.05)["result"]["value"]["is_complete"]


def test_that_an_attached_program_is_held_and_let_go(
    handler: RequestHandler, tmp_path: Path
) -> None:
    (tmp_path / "sleeper.py").write_text(_SLEEPER)
    owner, guest = _asker(handler), _asker(handler)
    owner("session.launch", argv=[sys.executable, str(tmp_path / "sleeper.py")])
    state = guest("command.hold", session=1)["result"]["state"]
    assert state["phase"] == "held"
    assert {"what": "hold", "by": "you"} in state["held"]
    for _ in range(5):
        assert guest("command.run", session=1)["result"]["state"]["phase"] == "running"
        assert guest("command.hold", session=1)["result"]["state"]["phase"] == "held"
    handler.leave(guest.client)  # type: ignore[attr-defined]
    until = time.monotonic() + 20
    while owner("session.state")["result"]["state"]["phase"] != "running":
        assert time.monotonic() < until


def test_that_a_program_that_begins_held_says_by_whom(
    handler: RequestHandler, tmp_path: Path
) -> None:
    (tmp_path / "sleeper.py").write_text(_SLEEPER)
    command = [sys.executable, str(tmp_path / "sleeper.py")]
    ask = _asker(handler)
    state = ask("session.launch", argv=command, hold=True)["result"]["state"]
    assert {"what": "hold", "by": "you"} in state["held"]
    assert "result" in ask("command.run")
    assert ask("session.state")["result"]["state"]["held"] == []


def test_that_a_session_that_fails_is_closed_and_others_go_on(
    handler: RequestHandler, scene: str
) -> None:
    ask = _opened(handler, scene)
    other = _asker(handler)("session.open", path=scene.replace("game", "none"))
    assert "error" in other
    failing = handler.sessions[1].session
    failing.refresh = Mock(side_effect=RuntimeError)  # type: ignore[method-assign]
    until = time.monotonic() + 20
    while ask("session.list")["result"]["value"]:
        assert time.monotonic() < until
    assert "result" in ask("session.open", path=scene, source="virtual")


def test_that_a_client_that_takes_no_answers_has_gone(handler: RequestHandler, scene: str) -> None:
    deaf = handler.connect(Mock(side_effect=BrokenPipeError))
    handler.ask(deaf, "session.open", {"path": scene, "source": "virtual"})
    handler.handle(deaf, b"{}")
    assert _asker(handler)("session.list")["result"]["value"] == []


def test_that_a_recording_is_asked_in_sql_and_only_read(
    handler: RequestHandler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "game.tlrec"
    assert cli.main(["run", "1", "--seconds", "2", "--record", str(path), "--quiet"]) == 0
    ask = _asker(handler)
    ask("session.open", path=str(path))
    rows = ask("session.sql", query="SELECT count(*) FROM frames")["result"]["value"]["rows"]
    assert rows == [[120]]
    monkeypatch.setattr(questions, "_QUERY_S", 0.05)
    for query in (
        "DELETE FROM marks",
        "PRAGMA journal_mode = WAL",
        f"ATTACH '{tmp_path}/other.db' AS other",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
    ):
        assert "The query was refused" in ask("session.sql", query=query)["error"]["message"]
    assert "has passed" in ask("session.wait", seconds=1)["error"]["message"]
    assert "error" in ask("command.hold")


def test_that_pages_follow_one_another(handler: RequestHandler, scene: str) -> None:
    ask = _opened(handler, scene)
    ask("session.wait", seconds=5)
    whole = ask("session.events", limit=1_000)["result"]["value"]
    found: list[object] = []
    offset: int | None = 0
    while offset is not None:
        page = ask("session.events", offset=offset, limit=7)["result"]["value"]
        found += page["items"]
        offset = page["next"]
    assert found[:1_000] == whole["items"]
    assert len(found) == whole["total"]


def test_that_the_schema_has_every_command_with_its_values() -> None:
    methods = {each["name"]: each for each in schema()["methods"]}
    assert methods.keys() >= {command_method_name(each) for each in COMMANDS.values()}
    params = {each["name"]: each for each in methods["command.set_rate"]["params"]}
    assert params["clock_id"]["required"]
    assert not params["session"]["required"]
    assert all(each["summary"] for each in methods.values())


def test_that_every_method_answers_without_a_session(handler: RequestHandler) -> None:
    for name in METHODS:
        answer = _asker(handler)(name)
        assert ("result" in answer) is name.startswith(("server.", "programs.", "session.list"))
        assert answer.get("error", {}).get("code") != -32603


# ----------------------------------------------------------------- malformed requests

_VALUES: tuple[object, ...] = (
    None, True, 0, -1, 2**63, 2**200, 1.5, 1e308, "", "x", "\ud800", "\0", [], {}, [[]],
    {"a": 1}, "2.0", "session.late", "x" * 300,
)  # fmt: skip


def _malformed(dice: random.Random) -> bytes:
    """Return a line that no client means."""
    good = {"jsonrpc": "2.0", "id": 1, "method": dice.choice(sorted(METHODS)), "params": {}}
    match dice.randrange(6):
        case 0:
            line = json.dumps(good).encode()
            return line[: dice.randrange(1, len(line))]
        case 1:
            return bytes(dice.choice(b"{}[]\"',:01eE+-. \xff\xc3tnu\\") for _ in range(20))
        case 2:
            return json.dumps(
                {**good, dice.choice(["jsonrpc", "method"]): dice.choice(_VALUES[:10])}
            ).encode()
        case 3:
            bad = {dice.choice(["session", "nonsense", "limit"]): dice.choice(_VALUES[4:])}
            return json.dumps({**good, "params": {**bad, "no such parameter": 1}}).encode()
        case 4:
            return dice.choice([b"[" * 5_000, b'{"a":' * 5_000, b"9" * 5_000, b"NaN", b"[]"])
        case _:
            return json.dumps({**good, "params": dice.choice([[], [1], "x", 3])}).encode()


def test_that_each_of_many_malformed_requests_is_answered_by_an_error(
    handler: RequestHandler,
) -> None:
    lines: list[bytes] = []
    client = handler.connect(lines.append)
    count = 0
    for seed in rounds(1_000):
        for _ in range(4):
            handler.handle(client, _malformed(random.Random(f"{seed} {count}")))
            count += 1
    assert "result" in _asker(handler)("server.about")
    assert len(lines) == count
    assert all("error" in json.loads(line) for line in lines)
    codes = {json.loads(line)["error"]["code"] for line in lines}
    assert codes == {-32700, -32600, -32601, -32602}


def test_that_a_line_without_end_is_refused_unread_and_the_next_is_answered() -> None:
    data = [b"x" * (MOST_BYTES + 1), b"y" * 100_000, b"y\n{}\n", b""]
    lines = list(lines_of(lambda _count: data.pop(0)))
    assert [len(each) > MOST_BYTES for each in lines] == [True, False]
    assert lines[1] == b"{}"


# ----------------------------------------------------------------- as other programs use it


def test_that_a_batch_is_answered_by_one_line(handler: RequestHandler) -> None:
    lines: Queue[bytes] = Queue()
    client = handler.connect(lines.put)
    good = {"jsonrpc": "2.0", "method": "session.list"}
    handler.handle(client, json.dumps([{**good, "id": 1}, good, 3, {**good, "id": 2}]).encode())
    handler.handle(client, json.dumps({**good, "id": 3}).encode())
    answers, next_answer = (json.loads(lines.get(timeout=30)) for _ in range(2))
    assert [each["id"] for each in answers] == [1, None, 2]
    assert next_answer["id"] == 3


@pytest.mark.parametrize(("requests", "answers"), [(0, None), (1, 1), (_BATCH, _BATCH)])
def test_that_a_batch_has_a_request_and_not_too_many(
    handler: RequestHandler, requests: int, answers: int | None
) -> None:
    lines: Queue[bytes] = Queue()
    client = handler.connect(lines.put)
    batch = [{"jsonrpc": "2.0", "method": "session.list", "id": id_} for id_ in range(requests)]
    handler.handle(client, json.dumps(batch).encode())
    answer = json.loads(lines.get(timeout=30))
    if answers is None:
        assert answer["error"]["message"] == f"A batch has 1 to {_BATCH} requests, not {requests}."
    else:
        assert [each["id"] for each in answer] == [*range(answers)]
    batch += [batch[0]] * (_BATCH + 1 - requests) if batch else [{}] * (_BATCH + 1)
    handler.handle(client, json.dumps(batch).encode())
    assert "requests, not" in json.loads(lines.get(timeout=30))["error"]["message"]


def test_that_the_client_starts_a_server_that_ends_with_it(scene: str) -> None:
    with Client.start() as client:
        game = client.open(scene, source="virtual")
        assert game.wait(2)
        assert [each.name for each in game.clocks()] == ["root", "game"]
        assert {each.name for each in game.timers()} == {"tick", "end"}
        game.hold()
        assert game.state.phase == "held"
        with pytest.raises(RequestError, match="There is no clock"):
            game.change("pause nothing")
    assert client._process is not None
    assert client._process.returncode == ExitCode.OK


@pytest.mark.skipif(sys.platform == "win32", reason="there are no Unix sockets")
def test_that_clients_share_a_server_at_a_socket(tmp_path: Path, scene: str) -> None:
    path = tmp_path / "socket"
    command = [*python_with(COMMAND_LINE), "-m", "inspector", "serve", "--unix", str(path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        assert "Listening" in server.stderr.readline()
        assert path.stat().st_mode & 0o077 == 0
        with closing(Client.connect(str(path))) as one, closing(Client.connect(str(path))) as two:
            number = one.open(scene, source="virtual").number
            two.request("session.change", session=number, change="pause game")
            one.request("session.state", session=number)
            assert one.state is not None
            assert [each.what for each in one.state.held] == ["pause “game”"]
        server.terminate()
        assert server.stderr.read() == "timeline-inspector: Terminated.\n"
    assert server.returncode == ExitCode.TERMINATED
    assert not path.exists()


def test_that_the_example_of_the_help_finds_the_culprit(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "resources/help/remote.md").read_text(encoding="utf-8")
    for block in page.split("```python\n")[1:]:
        code = block.partition("```")[0]
        name = code.partition("\n")[0].removeprefix("# ")
        (tmp_path / name).write_text(code)
        assert name != "check.py" or len(code.strip().splitlines()) <= 16
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "check.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
        env={"PYTHONPATH": root, "PATH": "/usr/bin:/bin"},
    )
    assert (done.returncode, "report in" in done.stderr) == (1, True), done.stderr


def test_that_the_tasks_of_a_program_are_listed_below_those_that_wait_for_them(
    tmp_path: Path,
) -> None:
    path = tmp_path / "server.py"
    path.write_text(
        "import asyncio\n"
        "async def child(): await asyncio.sleep(3600)\n"
        "async def main(): await asyncio.create_task(child())\n"
        "asyncio.run(main())\n"
    )
    command = [*python_with(COMMAND_LINE), "-m", "inspector", "serve", "--stdio"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    with Client(process.stdout, process.stdin, process) as client:
        server = client.launch(sys.executable, str(path))
        for _ in range(100):
            server.wait(0.1)
            if found := server.tasks():
                break
        answer = server.request("session.tasks", watch=False)
    told = [(each.depth, each.name, each.waits_for) for each in found]
    assert told == [(0, "main", "1 task"), (1, "child", "timer: sleep")]
    assert (answer["total"], answer["told_ns"] > 0) == (2, True)


def test_that_a_program_on_a_host_is_launched_and_attached_to_by_remote(
    handler: RequestHandler, tmp_path: Path
) -> None:
    ask = _asker(handler)
    script = tmp_path / "sleeper.py"
    script.write_text(_SLEEPER)
    answer = ask("session.launch", argv=[sys.executable, str(script)], exec=["env"], timeout_s=60.0)
    assert answer["result"]["value"]["title"] == "sleeper.py on env"
    refused = ask("session.attach", exec=["env"], pid=2**31 - 1, timeout_s=60.0)
    assert "2147483647" in refused["error"]["message"]


def test_that_a_program_that_is_started_elsewhere_dials_what_it_is_told(
    handler: RequestHandler, tmp_path: Path
) -> None:
    ask = _asker(handler)
    told = ask("session.attach", listen="unix")["result"]["value"]
    script = tmp_path / "sleeper.py"
    script.write_text(_SLEEPER)
    path = {"PYTHONPATH": str(BOOTSTRAP)}
    environment = os.environ | told["environment"] | path
    with subprocess.Popen([sys.executable, str(script)], env=environment) as process:
        try:
            until_s = time.monotonic() + 60
            while not (programs := ask("session.state")["result"]["value"]["programs"]):
                assert time.monotonic() < until_s
            assert [each["name"] for each in programs.values()] == ["sleeper.py"]
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({}, "Give one of"),
        ({"pid": 1, "dial": "unix:/nowhere"}, "Give one of"),
        ({"ssh": ["web-1"]}, "Give one of"),
        ({"ssh": ["web-1"], "dial": "unix:/nowhere"}, "A host needs “pid”"),
        ({"ssh": ["-p"], "pid": 1}, "names no host"),
        ({"exec": ["'"], "pid": 1}, "no closing quotation"),
        ({"pid": -1}, "Expected `int` >= 0"),
        ({"listen_websocket": 70_000}, "Expected `int` <= 65535"),
    ],
)
def test_that_ways_which_lead_nowhere_are_refused(
    handler: RequestHandler, params: dict[str, object], why: str
) -> None:
    assert why in _asker(handler)("session.attach", **params)["error"]["message"]


def test_that_only_what_is_granted_reaches_hosts_and_opens_ports() -> None:
    with closing(RequestHandler("read-only")) as handler:
        ask = _asker(handler)
        for params in ({"ssh": ["web-1"], "pid": 1}, {"listen": "tcp"}, {"listen_websocket": 0}):
            assert ask("session.attach", **params)["error"]["code"] == NOT_GRANTED
        assert ask("session.launch", argv=["ls"], exec=["env"])["error"]["code"] == NOT_GRANTED


def test_that_a_session_that_is_slow_holds_up_no_other(
    handler: RequestHandler, scene: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = _opened(handler, scene)
    other = tmp_path / "frames.csv"
    other.write_text("frame_time_ms\n16\n17\n")
    second = ask("session.open", path=str(other))["result"]["value"]["session"]
    begun, done = threading.Event(), threading.Event()

    def slow(*_args: object) -> list[object]:
        begun.set()
        assert done.wait(60)
        return []

    monkeypatch.setattr("inspector.remote.questions.worst_late_calls", slow)
    answers: list[Any] = []
    asking = threading.Thread(target=lambda: answers.append(ask("session.late", session=1)))
    asking.start()
    try:
        assert begun.wait(60)
        assert ask("session.frames", session=second)["result"]["value"]["total"] == 2
        listed = ask("session.list")["result"]["value"]
        assert [each["phase"] for each in listed] == ["busy", "held"]
        third = ask("session.open", path=str(other))["result"]["value"]["session"]
        assert ask("session.close", session=third)["result"]["value"] == {"closed": third}
    finally:
        done.set()
        asking.join()
    assert answers[0]["result"]["value"]["total"] == 0


def test_that_what_takes_a_client_long_holds_up_no_other(
    handler: RequestHandler, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, other, threads = _asker(handler), _asker(handler), threading.active_count()
    begun, go_on = threading.Event(), threading.Event()

    def running_programs() -> list[object]:
        begun.set()
        assert go_on.wait(60)
        return []

    monkeypatch.setattr("inspector.remote.questions.running_programs", running_programs)
    asking = threading.Thread(target=slow, args=("programs.list",))
    asking.start()
    assert begun.wait(60)
    try:
        assert other("server.commands")["result"]["value"]
    finally:
        go_on.set()
        asking.join()
    for each in (slow, other):
        handler.leave(each.client)  # type: ignore[attr-defined]
    for thread in threading.enumerate():
        if thread.name == "remote: worker":
            thread.join(60)
    assert threading.active_count() <= threads


def test_that_requests_follow_a_session_that_is_being_opened(
    handler: RequestHandler, scene: str
) -> None:
    lines: list[bytes] = []
    client = handler.connect(lines.append)
    opening = {"path": scene, "source": "virtual"}
    requests = [("session.open", opening), ("session.wait", {"seconds": 2}), ("session.timers", {})]
    for number, (name, params) in enumerate(requests):
        request = {"jsonrpc": "2.0", "id": number, "method": name, "params": params}
        handler.handle(client, json.dumps(request).encode())
    handler.ask(client, "session.state", {})

    answers = [json.loads(line) for line in lines]
    assert [each["id"] for each in answers] == [0, 1, 2]
    assert answers[2]["result"]["state"]["at_ns"] == 2 * 10**9


def test_that_what_waits_for_a_session_is_answered_when_that_is_closed(
    handler: RequestHandler, tmp_path: Path
) -> None:
    ask = _asker(handler)
    script = tmp_path / "sleeper.py"
    script.write_text(_SLEEPER)
    ask("session.launch", argv=[sys.executable, str(script)], timeout_s=60.0)
    lines: list[bytes] = []
    client = handler.connect(lines.append)
    for name, params in (("session.wait", {"seconds": 5_000}), ("session.close", {})):
        given = {**params, "session": 1}
        request = {"jsonrpc": "2.0", "id": name, "method": name, "params": given}
        handler.handle(client, json.dumps(request).encode())
    until_s = time.monotonic() + 60
    while len(lines) < 2:
        assert time.monotonic() < until_s
        ask("session.list")

    answers = {each["id"]: each for each in map(json.loads, lines)}
    assert answers["session.wait"]["result"]["value"]["is_complete"] is False


def test_that_the_picture_of_a_scene_is_written_live_and_from_its_recording(
    handler: RequestHandler, tmp_path: Path
) -> None:
    ask = _asker(handler)
    ask("session.open", path="small_game", source="virtual")
    recording, live, kept = (str(tmp_path / name) for name in ("a.tlrec", "live.svg", "kept.svg"))
    ask("session.record_pictures", keep=True)
    ask("command.start_recording", path=recording)
    ask("session.wait", seconds=1)
    ask("command.stop_recording")
    written = ask("session.export_picture", path=live)["result"]["value"]
    assert written["written"] == [live]
    assert "exists" in ask("session.export_picture", path=live)["error"]["message"]
    why = ask("session.export_picture", path=kept, frame=9_999)["error"]["message"]
    assert "has no frame 9,999" in why
    ask("session.open", path=recording)
    assert ask("session.export_picture", path=kept)["result"]["value"]["frame"] == written["frame"]
    # They say when the run began, to the second.
    texts = [Path(path).read_text() for path in (live, kept)]
    without = [re.sub(r", \d{4}-\d\d-\d\dT[\d:+-]+(?=</desc>)", "", text) for text in texts]
    assert without[0] == without[1] not in texts
    assert "not recorded" in ask("session.record_pictures", keep=False)["error"]["message"]
