"""What methods do with sessions: stand-ins that have what a method asks for, and nothing else."""

from __future__ import annotations

import asyncio
import socket
import stat
import subprocess
import tempfile
import threading
from collections.abc import Callable
from contextlib import closing
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from inspector.calls.call import SCHEDULED, CallId
from inspector.commands.clocks import PauseClock, ResumeClock
from inspector.commands.scene import Undo
from inspector.commands.transport import Hold, Run
from inspector.errors import ArgumentError, InspectorError
from inspector.events.schema import SCHEMA
from inspector.remote import changes, methods, questions, request_handler, serving
from inspector.remote.mcp_server import Tools
from inspector.remote.methods import BAD_PARAMS, METHODS, NOT_A_REQUEST, REFUSED, RemoteError
from inspector.remote.opened import ConnectedClient, OpenSession
from inspector.remote.request_handler import NOT_YET, Later, RequestHandler, Worker
from inspector.sessions.recorder import Recorder
from inspector.sessions.session import AttachesPrograms, SessionPhase, ShowsCapture, ShowsLoops


def _like(*protocols: type, **has: object) -> Any:  # noqa: ANN401 - a session
    """Return an object with all names of some protocols, and what is given."""
    names = {name for each in protocols for name in dir(each) if not name.startswith("_")}
    given = {name: staticmethod(each) if callable(each) else each for name, each in has.items()}
    return type("Session", (), {**dict.fromkeys(names, ""), **given})()


class _Asked:
    """A request to a session."""

    def __init__(self, session: object = None, kind: str = "scene", grant: str = "full") -> None:
        self.opened = SimpleNamespace(session=session, kind=kind, number=3, host=None, path="")
        self.checked: list[tuple[str, str]] = []
        self.woken = threading.Event()
        self.worker = SimpleNamespace(wake=self.woken.set, opened=None)
        self.client = object()
        self.shown = None
        self.handler = SimpleNamespace(grant=grant, sessions={}, program=("own",))

    def session(self, _number: int) -> SimpleNamespace:
        return self.opened

    def check(self, needed: str, what: str) -> None:
        self.checked.append((needed, what))


def _refusal(ask: Callable[[], object], code: int = REFUSED) -> str:
    with pytest.raises(RemoteError) as refused:
        ask()
    assert refused.value.code == code
    return str(refused.value)


def _noted(notes: list[Any], what: object, answer: object) -> object:
    notes.append(what)
    return answer


_STATUS = SimpleNamespace(message="It goes on.")


@pytest.mark.parametrize("name", ["detach", "end_program"])
def test_that_only_attached_programs_are_left_or_ended(name: str) -> None:
    done: list[str] = []
    method = getattr(changes, name)
    attached = _like(
        AttachesPrograms, status=_STATUS, can_end_program=True, **{name: lambda: done.append(name)}
    )

    assert method(_Asked(attached)) == {"message": "It goes on."}
    assert done == [name]
    assert "in this session" in _refusal(lambda: method(_Asked(_like(can_end_program=True))))


def test_that_a_program_that_was_not_launched_is_not_ended() -> None:
    asked = _Asked(_like(AttachesPrograms, status=_STATUS, can_end_program=False))
    assert "launched" in _refusal(lambda: changes.end_program(asked))


def test_that_a_stream_or_a_loop_that_is_there_is_shown() -> None:
    chosen: list[object] = []
    capture = _like(
        ShowsCapture, streams=(("a", 1), ("b", 2)), stream="b", choose_stream=chosen.append
    )
    assert changes.show_loop(_Asked(capture), stream="b") == {"shown": "b"}
    assert "no stream “c”" in _refusal(lambda: changes.show_loop(_Asked(capture), stream="c"))
    assert chosen == ["b"]
    loops = _like(ShowsLoops, frames_of=7, choose_loop=lambda clock: "" if clock == 7 else "No.")
    assert changes.show_loop(_Asked(loops), clock_id=7) == {"shown": 7}
    assert _refusal(lambda: changes.show_loop(_Asked(loops), clock_id=8)) == "No."
    assert "one loop" in _refusal(lambda: changes.show_loop(_Asked(_like())))

    assert questions.loops(_Asked(capture)) == {"streams": capture.streams, "shown": "b"}
    assert questions.loops(_Asked(loops)) == {"loops": "", "shown": 7}
    assert questions.loops(_Asked(_like())) == {"loops": [], "shown": 0}


@pytest.mark.parametrize(("kind", "needed"), [("recording", "full"), ("scene", "read-only")])
def test_that_only_a_recording_is_written_into_by_an_annotation(kind: str, needed: str) -> None:
    kept = SimpleNamespace(
        add=lambda each: ("add", each.id, each.kind, each.at_ns, each.name),
        change=lambda each: ("change", each.id, each.kind, each.at_ns, each.name),
        remove=lambda number: number,
        undo=lambda: "It is undone.",
    )
    asked: Any = _Asked(SimpleNamespace(annotations=kept), kind)
    assert changes.annotate(asked, 5, name="a") == ("add", 0, "bookmark", 5, "a")
    assert changes.annotate(asked, 5, name="a", id=4) == ("change", 4, "bookmark", 5, "a")
    assert changes.remove_annotation(asked, 4) == 4
    assert changes.undo_annotation(asked) == {"text": "It is undone."}
    assert asked.checked == [(needed, "writing into a recording")] * 4


@pytest.mark.parametrize(
    ("method", "name"), [(changes.export, "a.csv"), (changes.export_picture, "a.svg")]
)
def test_that_a_file_that_exists_is_replaced_when_that_is_asked_for(
    tmp_path: Path, method: Callable[..., object], name: str
) -> None:
    file = tmp_path / name
    asked = _Asked()
    with pytest.raises(AttributeError):
        method(asked, str(file))
    file.touch()
    assert "exists" in _refusal(lambda: method(asked, str(file)))
    with pytest.raises(AttributeError):
        method(asked, str(file), overwrite=True)


def test_that_a_session_for_which_there_is_no_number_is_closed() -> None:
    closed: list[bool] = []
    asked: Any = _Asked()

    def next_number() -> int:
        raise RemoteError(REFUSED, "There are too many.")

    asked.handler.next_number = next_number
    session: Any = SimpleNamespace(close=lambda: closed.append(True))
    assert "too many" in _refusal(lambda: changes._add(asked, session, "scene", keep=False))
    assert closed == [True]


def test_that_a_door_is_open_when_a_program_has_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    refreshed: list[bool] = []
    clocks: list[object] = []
    session = SimpleNamespace(
        acceptor=SimpleNamespace(on_news=None),
        refresh=lambda: refreshed.append(True),
        opening_problem=None,
        status=SimpleNamespace(phase=SessionPhase.RUNNING, message="It has ended."),
        own_clocks=lambda: clocks,
        title="game.py",
        pid=5,
    )
    monkeypatch.setattr(changes, "AttachedSession", lambda _door: session)
    asked: Any = _Asked()
    asked.handler.next_number = lambda: 4
    removed: list[bool] = []
    asked.worker.remove = lambda: removed.append(True)
    door: Any = None

    def later(*, keep: bool = False, **needed: str) -> Later:
        return changes._joined(asked, door, 5.0, keep=keep, needed=needed)

    joins = later()
    assert asked.handler.sessions[4].owner is asked.client
    assert session.acceptor.on_news == asked.worker.wake
    assert (joins.timeout_s, joins.poll(), refreshed) == (5.0, NOT_YET, [True])
    told = {"session": 4, "title": "game.py", "environment": {"A": "b"}}
    assert later(keep=True, A="b").poll() == told
    assert asked.handler.sessions[4].owner is None
    clocks.append("root")
    assert joins.poll() == {"session": 4, "pid": 5, "title": "game.py"}
    session.status.phase = SessionPhase.ENDED
    with pytest.raises(InspectorError, match="It has ended"):
        joins.poll()
    session.status.phase = SessionPhase.RUNNING
    session.opening_problem = InspectorError("No way.")
    with pytest.raises(InspectorError, match="No way"):
        joins.poll()
    assert removed == [True, True]


def test_that_time_that_has_passed_or_cannot_pass_ends_a_wait() -> None:
    status = SimpleNamespace(phase=SessionPhase.RUNNING, message="It runs.")
    timeline = SimpleNamespace(at_ns=1_000_000_000)
    session = SimpleNamespace(is_recorded=False, status=status, timeline=timeline)
    asked: Any = _Asked(session)
    waits = changes.wait(asked, 2.0, timeout_s=7.0)
    assert isinstance(waits, Later)
    assert (waits.poll(), waits.timeout_s) == (NOT_YET, 7.0)
    timeline.at_ns = 2_999_999_999
    assert waits.poll() is NOT_YET
    for phase in (SessionPhase.ENDED, SessionPhase.FAILED, SessionPhase.EMPTY):
        status.phase = phase
        assert waits.poll() == {"passed_ns": 1_999_999_999, "is_complete": False}
    status.phase = SessionPhase.HELD
    timeline.at_ns += 1
    assert waits.poll() == {"passed_ns": 2_000_000_000, "is_complete": True}
    session.is_recorded = True
    assert "has passed" in _refusal(lambda: changes.wait(asked, 2.0))


def test_that_tasks_are_watched_until_nobody_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    every: list[int] = []
    tasks = SimpleNamespace(told_ns={1: 5, 2: 7})
    attached = _like(
        AttachesPrograms,
        watch_tasks=every.append,
        history=None,
        timeline=SimpleNamespace(tasks=tasks),
    )
    monkeypatch.setattr(questions, "task_rows", lambda *_: [SimpleNamespace(values="task")])
    asked: Any = _Asked(attached)
    found: Any = questions.tasks(asked)
    assert (found["items"], found["total"], found["told_ns"]) == (["task"], 1, 7)
    tasks.told_ns = {}
    assert questions.tasks(asked, watch=False)["told_ns"] is None
    assert every == [500_000_000, 0]
    questions.tasks(_Asked(SimpleNamespace(history=None, timeline=attached.timeline)))


def test_that_a_recorder_keeps_pictures_where_there_is_one() -> None:
    recorder = Recorder.__new__(Recorder)
    asked: Any = _Asked(SimpleNamespace(recorder=recorder))
    assert changes.record_pictures(asked, keep=True) == {"keep": True}
    assert recorder.keeps_pictures
    assert "not recorded" in _refusal(lambda: changes.record_pictures(_Asked(), keep=True))


@pytest.mark.parametrize(
    ("options", "checked"),
    [
        ({"pid": 5}, []),
        ({"listen": "unix"}, []),
        ({"listen": "tcp"}, ["opening a port"]),
        ({"listen_websocket": 0}, ["opening a port"]),
        ({"browser": "chromium"}, ["starting a browser"]),
        ({"pid": 5, "ssh": ["web-1"]}, ["reaching another host"]),
    ],
)
def test_that_what_reaches_further_than_a_process_needs_the_full_grant(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], checked: list[str]
) -> None:
    ways: list[tuple[Any, float, bool]] = []
    monkeypatch.setattr(
        changes, "_by", lambda _asked, way, timeout_s, *, keep: ways.append((way, timeout_s, keep))
    )
    asked: Any = _Asked()
    changes.attach(asked, **options)
    assert asked.checked == [("full", each) for each in checked]
    ((way, timeout_s, keep),) = ways
    assert (timeout_s, keep, way.headless, way.hold) == (20.0, False, True, False)
    assert all(getattr(way, name) == _tuple(value) for name, value in options.items())


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def test_that_a_program_gets_no_larger_grant_than_the_client() -> None:
    grants = [
        (asked, granted, changes._least(asked, granted))
        for granted in ("read-only", "step", "full")
        for asked in ("read-only", "step", "full")
    ]
    assert [least for *_, least in grants] == [
        *("read-only", "read-only", "read-only"),
        *("read-only", "step", "step"),
        *("read-only", "step", "full"),
    ]


def test_that_a_launch_is_by_the_server_unless_something_else_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ways: list[Any] = []
    monkeypatch.setattr(changes, "_by", lambda _asked, way, _s, *, keep: ways.append((way, keep)))
    held: list[object] = []
    for options, checked in (
        ({}, []),
        ({"argv": ["own"]}, []),
        ({"argv": ["own"], "folder": "/f"}, ["launching own"]),
        ({"argv": ["other", "x"]}, ["launching other"]),
        ({"ssh": ["web-1"]}, ["launching own"]),
        ({"exec": ["env"]}, ["launching own"]),
    ):
        asked: Any = _Asked()
        asked.shown = SimpleNamespace(note_hold=held.append)
        changes.launch(asked, **options)
        assert asked.checked == [("full", each) for each in checked]
    assert held == []
    changes.launch(asked, hold=True)
    assert held == [asked.client]
    way, keep = ways[2]
    launch = way.launch
    assert (launch.argv, str(launch.folder), keep) == (("own",), "/f", False)
    assert (launch.hold, launch.output_to_errors, launch.is_bound) == (False, True, True)
    asked.handler.program = ()
    assert "Name a program" in _refusal(lambda: changes.launch(asked), BAD_PARAMS)


def test_that_there_is_one_scene_and_one_that_fails_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closed: list[bool] = []
    problem = InspectorError("It does not build.")
    made = SimpleNamespace(problem=problem, close=lambda: closed.append(True))
    given: list[dict[str, object]] = []
    monkeypatch.setattr(changes, "find_scene", lambda path: path)
    monkeypatch.setattr(changes, "HostedSession", lambda *_, **more: _noted(given, more, made))
    asked: Any = _Asked()
    for is_real, hold in ((True, False), (True, True), (False, False)):
        with pytest.raises(InspectorError, match="does not build"):
            changes._scene(asked, "game.py", is_real=is_real, hold=hold, keep=False)
    assert closed == [True] * 3
    assert given == [{"autorun": True}, {"autorun": False}, {"autorun": False}]
    asked.handler.sessions[1] = SimpleNamespace(kind="capture")
    asked.handler.sessions[2] = SimpleNamespace(kind="scene")
    begin = lambda: changes._scene(asked, "g.py", is_real=True, hold=False, keep=False)  # noqa: E731
    assert "open already" in _refusal(begin)


def test_that_what_a_request_leaves_out_is_what_most_want() -> None:
    found: dict[str, set[object]] = {}
    for name, method in METHODS.items():
        if not name.startswith("command."):
            for each in msgspec.structs.fields(method.params):
                if isinstance(each.default, int | None) and each.default is not False:
                    found.setdefault(each.name, set()).add(each.default)
                elif each.default is False:
                    found.setdefault("false", set()).add(each.name)
    assert found == {
        "at_ns": {None},
        "budget_ms": {None},
        "clock_id": {0},
        "column": {None},
        "end_ns": {None},
        "false": {"hold", "keep", "overwrite"},
        "folder": {None},
        "frame": {None},
        "headless": {True},
        "id": {0},
        "limit": {100, 1_000},
        "listen_websocket": {None},
        "offset": {0},
        "over_ns": {20_000_000},
        "pid": {0},
        "session": {0},
        "watch": {True},
    }
    assert msgspec.structs.fields(METHODS["session.tasks"].params)[-1].default == 1_000


@pytest.mark.parametrize(
    ("name", "value", "least", "most"),
    [
        ("session.clocks", "session", 0, 2**31 - 1),
        ("session.clocks", "at_ns", 0, 2**62 - 1),
        ("session.late", "over_ns", 1, 2**62 - 1),
        ("session.clocks", "offset", 0, 2**62 - 1),
        ("session.clocks", "limit", 1, 1_000),
        ("session.attach", "pid", 0, 2**31 - 1),
        ("session.attach", "listen_websocket", 0, 2**16 - 1),
        ("session.attach", "timeout_s", 1e-9, 86_400),
    ],
)
def test_that_numbers_have_their_limits(name: str, value: str, least: float, most: float) -> None:
    params = METHODS[name].params
    for given in (least, most):
        msgspec.convert({value: given}, params)
    for given in (least - 1, most + 1):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({value: given}, params)


def test_that_texts_have_a_limit_and_errors_their_codes() -> None:
    params = METHODS["session.change"].params
    msgspec.convert({"change": "x" * 10_000}, params)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"change": "x" * 10_001}, params)
    names = ("FAULT", "REFUSED", "NOT_GRANTED", "TOOK_TOO_LONG")
    codes = [getattr(methods, name) for name in names]
    assert codes == [-32603, -32000, -32001, -32002]


def test_that_a_command_needs_the_grant_of_what_it_does() -> None:
    needed = {name: each.grant for name, each in METHODS.items() if name.startswith("command.")}
    assert {name for name, grant in needed.items() if grant == "step"} == {
        *("command.hold", "command.run", "command.pause_clock", "command.resume_clock"),
        *("command.step_frames", "command.step_by", "command.step_to", "command.undo"),
        *(
            "command.step_to_next_timer",
            "command.remove_breakpoint",
            "command.add_breakpoint",
            "command.change_breakpoint",
        ),
    }


# --------------------------------------------------------------------- the command line


class _Process:
    returncode = 3

    def __init__(self, *, is_slow: bool = False) -> None:
        self.asked: list[object] = []
        self._is_slow = is_slow

    def communicate(self, timeout: float | None = None) -> tuple[bytes, bytes]:
        self.asked.append(timeout)
        if self._is_slow and timeout is not None:
            raise subprocess.TimeoutExpired("it", timeout)
        return b"out\xff" + b"x" * 9, b"err"

    def terminate(self) -> None:
        self.asked.append("terminate")


def _play_command(monkeypatch: pytest.MonkeyPatch, process: _Process) -> list[list[str]]:
    begun: list[list[str]] = []
    played = SimpleNamespace(
        Popen=lambda command, **_: _noted(begun, command, process),
        TimeoutExpired=subprocess.TimeoutExpired,
        DEVNULL=-3,
        PIPE=-1,
    )
    monkeypatch.setattr(changes, "subprocess", played)
    monkeypatch.setattr(changes, "_MOST_OUTPUT", 6)
    return begun


@pytest.mark.parametrize("is_slow", [False, True])
def test_that_a_command_is_run_and_its_words_are_the_answer(
    monkeypatch: pytest.MonkeyPatch, *, is_slow: bool
) -> None:
    process = _Process(is_slow=is_slow)
    begun = _play_command(monkeypatch, process)
    asked: Any = _Asked()
    go_on = threading.Event()
    communicate = process.communicate

    def wait(timeout: float | None = None) -> tuple[bytes, bytes]:
        assert go_on.wait(30)
        return communicate(timeout)

    process.communicate = wait  # type: ignore[method-assign]
    later = changes.run_command(asked, ["doctor"], 5.0)
    assert isinstance(later, Later)
    assert later.poll() is NOT_YET
    (reader,) = [each for each in threading.enumerate() if each.name == "remote: command line"]
    assert reader.daemon
    go_on.set()
    assert asked.woken.wait(30)

    assert later.poll() == {"exit_code": 3, "out": "out�xx", "err": "err"}
    assert later.timeout_s == 20.0
    assert process.asked == ([5.0, "terminate", None] if is_slow else [5.0])
    assert begun[0][-3:] == ["-m", "inspector", "doctor"]


@pytest.mark.parametrize(
    ("arguments", "is_run"),
    [
        ([], False),
        (["attach", "1"], False),
        (["attach", "--seconds", "1"], True),
        (["stats", "a.csv"], True),
        (["stats", "--seconds", "1"], True),
        (["serve"], False),
        (["mcp"], False),
        (["--help"], False),
    ],
)
def test_that_only_commands_that_end_are_run(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], *, is_run: bool
) -> None:
    begun = _play_command(monkeypatch, _Process())
    asked: Any = _Asked()
    if is_run:
        changes.run_command(asked, arguments)
        assert asked.woken.wait(30)
    else:
        _refusal(lambda: changes.run_command(asked, arguments), BAD_PARAMS)
    assert bool(begun) is is_run


# --------------------------------------------------------------------------- questions


def test_that_the_past_is_what_has_been_and_is_still_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    timeline: Any = SimpleNamespace(at_ns=10)
    history = SimpleNamespace(state_at=lambda at_ns: f"at {at_ns}")
    opened: Any = SimpleNamespace(session=SimpleNamespace(timeline=timeline, history=history))
    monkeypatch.setattr(questions, "missing_text", lambda _, at: "" if at else "It is forgotten.")
    assert questions._past(opened, None) is timeline
    found: list[Any] = [questions._past(opened, at) for at in (1, 10)]
    assert found == ["at 1", "at 10"]
    assert _refusal(lambda: questions._past(opened, 0)) == "It is forgotten."
    assert "only 10 ns" in _refusal(lambda: questions._past(opened, 11))


def test_that_members_wait_among_the_timers_of_a_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = sorted(SCHEDULED, key=str)
    members = [SimpleNamespace(id=number, kind=kinds[0]) for number in (1, 2, 3, 4)]
    members.append(SimpleNamespace(id=5, kind="no call"))
    clocks = {1: "root", 2: "game", 3: "menu"}
    timeline = SimpleNamespace(
        resolve_dues=lambda: None,
        clocks=clocks,
        branch=lambda clock: [clock],
        timers=SimpleNamespace(id=[1, 2], session_due=[50, 20], clock=[2, 3]),
        members=SimpleNamespace(by_id={each.id: each for each in members}),
    )
    due = {1: (2, 30), 2: (2, None), 3: (3, 10), 4: None}

    def call_of(_timeline: object, call: CallId) -> object:
        found = due[call.number] if call.is_member else (0, 0)
        if found is None:
            return None
        return SimpleNamespace(id=call, clock_id=found[0], session_due_ns=found[1])

    monkeypatch.setattr(questions, "call_of", call_of)
    monkeypatch.setattr(
        questions, "_call_value", lambda _, call: (call.id.number, call.id.is_member)
    )
    asked: Any = _Asked(SimpleNamespace(timeline=timeline))
    page: Any = questions.timers(asked, clock_id=2)
    assert page == {"items": [(1, True), (1, False), (2, True)], "total": 3, "next": None}
    # All clocks, where there is none of that number.
    page = questions.timers(asked, clock_id=9, offset=1, limit=2)
    assert page == {"items": [(2, False), (1, True)], "total": 5, "next": 3}
    assert questions.timers(asked, clock_id=9, offset=3, limit=2)["next"] is None


def test_that_members_have_the_last_states_of_machines() -> None:
    kind = SimpleNamespace(text="machine")
    about = {"name": "m", "kind": kind, "parent_id": 0, "clock_id": 1, "is_paused": False}
    members = {n: SimpleNamespace(id=n, calls=n, **about) for n in (1, 2, 3)}
    columns = (list(range(25)), [1] * 25, [2] * 25)
    timeline = SimpleNamespace(
        strings=["", "idle", "start"],
        members=SimpleNamespace(by_id=members, histories={2: SimpleNamespace(columns=columns)}),
    )
    asked: Any = _Asked(SimpleNamespace(timeline=timeline))
    page: Any = questions.members(asked, offset=1, limit=2)
    two, three = page["items"]
    assert [(each["member_id"], each["calls"]) for each in (two, three)] == [(2, 2), (3, 3)]
    assert [each["at_ns"] for each in two["states"]] == list(range(5, 25))
    assert two["states"][0] == {"at_ns": 5, "state": "idle", "transition": "start"}
    assert (three["states"], page["total"], page["next"]) == ([], 3, None)
    assert questions.members(asked, limit=2)["next"] == 2


def test_that_a_frame_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def spans_of(*_: object) -> list[object]:
        raise IndexError

    monkeypatch.setattr(questions, "spans_of", spans_of)
    asked: Any = _Asked(SimpleNamespace(history=None, timeline=None))
    assert "no frame 1,234" in _refusal(lambda: questions.frame(asked, 1_234))


def test_that_events_of_a_kind_are_listed_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "describe", lambda event, _strings: f"event at {event[0]}")
    rows = list(SCHEMA.values())[:2]
    kinds = [int(row.kind) for row in rows]
    events = [(at, kinds[at % 2]) for at in range(30_000)]

    def numbered(first: int, end: int) -> tuple[range, list[tuple[int, int]]]:
        assert end - first <= 10_000
        return range(first, end), events[first:end]

    history = SimpleNamespace(first=5, end=30_000, numbered=numbered, strings=[])
    asked: Any = _Asked(SimpleNamespace(history=history))
    page: Any = questions.events(asked, limit=2)
    assert [each["event"] for each in page["items"]] == [5, 6]
    assert (page["next"], page["total"]) == (7, 30_000)
    page = questions.events(asked, offset=10_000, limit=3, kinds=[rows[1].name])
    assert [each["at_ns"] for each in page["items"]] == [10_001, 10_003, 10_005]
    assert page["items"][0]["text"] == "event at 10001"
    assert page["next"] == 10_007
    page = questions.events(asked, offset=29_998, limit=3)
    assert (len(page["items"]), page["next"]) == (2, None)
    page = questions.events(asked, offset=5, limit=10_000, kinds=[rows[0].name])
    assert (len(page["items"]), page["next"]) == (10_000, 20_005)
    assert "no kind of event “x”" in _refusal(lambda: questions.events(asked, kinds=["x"]))


class _Hit(msgspec.Struct):
    number: int


def test_that_the_last_hits_of_breakpoints_are_listed_where_there_are_any() -> None:
    each = SimpleNamespace(text="late", as_values=lambda: {"over": 1})
    session = SimpleNamespace(
        breakpoints={4: (each, 2)}, timeline=SimpleNamespace(hits=[_Hit(n) for n in range(120)])
    )
    session.breakpoints = SimpleNamespace(items=lambda: [(4, each, 2)])
    asked: Any = _Asked(session)
    found: Any = questions.breakpoints(asked)
    (told,) = found["breakpoints"]
    assert told == {"number": 4, "hits": 2, "text": "late", "values": {"over": 1}}
    assert [each["number"] for each in found["hits"]] == list(range(20, 120))
    session.breakpoints = None
    assert "no breakpoints" in _refusal(lambda: questions.breakpoints(asked))


def test_that_a_change_without_effect_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "considered_command", lambda _, text: text)
    monkeypatch.setattr(questions, "preview", lambda _timeline, _command: None)
    asked: Any = _Asked(SimpleNamespace(timeline=None))
    assert "nothing that is due" in _refusal(lambda: questions.preview_change(asked, "pause x"))


def test_that_findings_are_about_the_budget_that_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    budgets: list[Any] = []
    monkeypatch.setattr(questions, "loop_budget", lambda *_, waits: ("usual", waits))
    monkeypatch.setattr(
        questions,
        "findings",
        lambda _history, *, budget, state: _noted(budgets, (budget, state), []),
    )
    history = SimpleNamespace(end=9, state_before=lambda end: f"before {end}")
    asked: Any = _Asked(SimpleNamespace(history=history, frame_rate=60, waits=True))
    assert questions.list_findings(asked) == []
    questions.list_findings(asked, budget_ms=2.0)
    assert budgets[0] == (("usual", True), "before 9")
    assert (budgets[1][0].budget_ns, budgets[1][0].by_busy) == (2_000_000, True)

    def of_ms(_budget_ms: float) -> None:
        message = "no budget"
        raise ValueError(message)

    monkeypatch.setattr(questions, "FrameBudget", SimpleNamespace(of_ms=of_ms))
    assert _refusal(lambda: questions.list_findings(asked, budget_ms=0.0)) == "no budget."


@pytest.mark.parametrize(("is_recorded", "refresh_ms"), [(True, None), (False, 20.0)])
def test_that_statistics_know_how_often_a_live_session_is_drawn(
    monkeypatch: pytest.MonkeyPatch, refresh_ms: float | None, *, is_recorded: bool
) -> None:
    given: list[object] = []
    values = [
        SimpleNamespace(metric=SimpleNamespace(id=name), value=value, text=name)
        for name, value in (("p99", 5), ("none", None))
    ]
    monkeypatch.setattr(questions, "FrameTimes", SimpleNamespace(from_history=lambda each: each))
    monkeypatch.setattr(questions, "series_of", lambda _, *, refresh_ms: given.append(refresh_ms))
    monkeypatch.setattr(questions, "metric_values", lambda _series: values)
    session = SimpleNamespace(
        is_recorded=is_recorded, frame_rate=50, timeline=SimpleNamespace(frames=None)
    )
    asked: Any = _Asked(session)
    assert questions.statistics(asked) == {"p99": {"value": 5, "text": "p99"}}
    assert given == [refresh_ms]


def test_that_files_and_sessions_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    history = SimpleNamespace(title="game")
    opened = SimpleNamespace(session=SimpleNamespace(title="game", history=history), number=2)
    asked: Any = _Asked()
    asked.in_session = lambda number, read: read(opened) if number == 2 else None
    monkeypatch.setattr(questions, "run_of_file", lambda path: path.name)
    monkeypatch.setattr(
        questions, "run_of_session", lambda _, title: lambda report: (title, report)
    )
    monkeypatch.setattr(questions, "_late", lambda _, over_ns, limit: (over_ns, limit))
    compared: list[list[Any]] = []

    def differences(runs: list[Any]) -> list[str]:
        compared.append(runs)
        return ["slower"]

    monkeypatch.setattr(questions, "differences", differences)
    monkeypatch.setattr(questions, "comparison_values", lambda found: {"is": found})
    found: Any = questions.compare(asked, "a.csv", 2, over_ns=7)
    assert found == {
        "frames_and_calls": {"is": "slower"},
        "late": {"before": None, "after": (7, 100)},
    }
    before, (title, _) = compared[0]
    assert (before, title) == ("a.csv", "game (2)")

    def too_short(_runs: object) -> list[str]:
        message = "too short"
        raise ValueError(message)

    monkeypatch.setattr(questions, "differences", too_short)
    found = questions.compare(asked, "a.csv", "b.csv")
    assert found["frames_and_calls"] == {"why_not": "too short"}


def test_that_only_a_recording_is_asked_in_sql() -> None:
    asked: Any = _Asked(kind="capture")
    assert "Only a recording" in _refusal(lambda: questions.sql(asked, "SELECT 1"))


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
    assert _refusal(lambda: asked.in_session(2, lambda _: None)) == "no session 2"


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
        assert f"{most} sessions are open" in _refusal(handler.next_number)
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
    asked: Any = _Asked(SimpleNamespace(timeline=None))
    text = _refusal(lambda: request_handler.submit(asked, 0, 1.0, command), BAD_PARAMS)
    assert text == "It is nothing."
    assert asked.checked == [("full", "“do it”")]


@pytest.mark.parametrize("more", [0, 1])
def test_that_a_request_has_so_many_bytes(more: int) -> None:
    line = b'"' + b"x" * (request_handler.MOST_BYTES - 2 + more) + b'"'
    if more:
        text = _refusal(lambda: request_handler._message_in(line), NOT_A_REQUEST)
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
