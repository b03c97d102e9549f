"""What methods do with sessions, which stand-ins take the place of."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from inspector.errors import InspectorError
from inspector.remote import changes, methods, questions
from inspector.remote.methods import BAD_PARAMS, METHODS, REFUSED, RemoteError
from inspector.remote.request_handler import NOT_YET, Later
from inspector.sessions.recorder import Recorder
from inspector.sessions.session import AttachesPrograms, SessionPhase, ShowsCapture, ShowsLoops
from tests.remote.stand_ins import Asked, like, noted, refusal

_STATUS = SimpleNamespace(message="It goes on.")


@pytest.mark.parametrize("name", ["detach", "end_program"])
def test_that_only_attached_programs_are_left_or_ended(name: str) -> None:
    done: list[str] = []
    method = getattr(changes, name)
    attached = like(
        AttachesPrograms, status=_STATUS, can_end_program=True, **{name: lambda: done.append(name)}
    )

    assert method(Asked(attached)) == {"message": "It goes on."}
    assert done == [name]
    assert "in this session" in refusal(lambda: method(Asked(like(can_end_program=True))))


def test_that_a_program_that_was_not_launched_is_not_ended() -> None:
    asked = Asked(like(AttachesPrograms, status=_STATUS, can_end_program=False))
    assert "launched" in refusal(lambda: changes.end_program(asked))


def test_that_a_stream_or_a_loop_that_is_there_is_shown() -> None:
    chosen: list[object] = []
    capture = like(
        ShowsCapture, streams=(("a", 1), ("b", 2)), stream="b", choose_stream=chosen.append
    )
    assert changes.show_loop(Asked(capture), stream="b") == {"shown": "b"}
    assert "no stream “c”" in refusal(lambda: changes.show_loop(Asked(capture), stream="c"))
    assert chosen == ["b"]
    loops = like(ShowsLoops, frames_of=7, choose_loop=lambda clock: "" if clock == 7 else "No.")
    assert changes.show_loop(Asked(loops), clock_id=7) == {"shown": 7}
    assert refusal(lambda: changes.show_loop(Asked(loops), clock_id=8)) == "No."
    assert "one loop" in refusal(lambda: changes.show_loop(Asked(like())))

    assert questions.loops(Asked(capture)) == {"streams": capture.streams, "shown": "b"}
    assert questions.loops(Asked(loops)) == {"loops": "", "shown": 7}
    assert questions.loops(Asked(like())) == {"loops": [], "shown": 0}


@pytest.mark.parametrize(("kind", "needed"), [("recording", "full"), ("scene", "read-only")])
def test_that_only_a_recording_is_written_into_by_an_annotation(kind: str, needed: str) -> None:
    kept = SimpleNamespace(
        add=lambda each: ("add", each.id, each.kind, each.at_ns, each.name),
        change=lambda each: ("change", each.id, each.kind, each.at_ns, each.name),
        remove=lambda number: number,
        undo=lambda: "It is undone.",
    )
    asked: Any = Asked(SimpleNamespace(annotations=kept), kind)
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
    asked = Asked()
    with pytest.raises(AttributeError):
        method(asked, str(file))
    file.touch()
    assert "exists" in refusal(lambda: method(asked, str(file)))
    with pytest.raises(AttributeError):
        method(asked, str(file), overwrite=True)


def test_that_a_session_for_which_there_is_no_number_is_closed() -> None:
    closed: list[bool] = []
    asked: Any = Asked()

    def next_number() -> int:
        raise RemoteError(REFUSED, "There are too many.")

    asked.handler.next_number = next_number
    session: Any = SimpleNamespace(close=lambda: closed.append(True))
    assert "too many" in refusal(lambda: changes._add(asked, session, "scene", keep=False))
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
    asked: Any = Asked()
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
    asked: Any = Asked(session)
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
    assert "has passed" in refusal(lambda: changes.wait(asked, 2.0))


def test_that_a_recorder_keeps_pictures_where_there_is_one() -> None:
    recorder = Recorder.__new__(Recorder)
    asked: Any = Asked(SimpleNamespace(recorder=recorder))
    assert changes.record_pictures(asked, keep=True) == {"keep": True}
    assert recorder.keeps_pictures
    assert "not recorded" in refusal(lambda: changes.record_pictures(Asked(), keep=True))


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
    asked: Any = Asked()
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
        asked: Any = Asked()
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
    assert "Name a program" in refusal(lambda: changes.launch(asked), BAD_PARAMS)


def test_that_there_is_one_scene_and_one_that_fails_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closed: list[bool] = []
    problem = InspectorError("It does not build.")
    made = SimpleNamespace(problem=problem, close=lambda: closed.append(True))
    given: list[dict[str, object]] = []
    monkeypatch.setattr(changes, "find_scene", lambda path: path)
    monkeypatch.setattr(changes, "HostedSession", lambda *_, **more: noted(given, more, made))
    asked: Any = Asked()
    for is_real, hold in ((True, False), (True, True), (False, False)):
        with pytest.raises(InspectorError, match="does not build"):
            changes._scene(asked, "game.py", is_real=is_real, hold=hold, keep=False)
    assert closed == [True] * 3
    assert given == [{"autorun": True}, {"autorun": False}, {"autorun": False}]
    asked.handler.sessions[1] = SimpleNamespace(kind="capture")
    asked.handler.sessions[2] = SimpleNamespace(kind="scene")
    begin = lambda: changes._scene(asked, "g.py", is_real=True, hold=False, keep=False)  # noqa: E731
    assert "open already" in refusal(begin)


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
        Popen=lambda command, **_: noted(begun, command, process),
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
    asked: Any = Asked()
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
    asked: Any = Asked()
    if is_run:
        changes.run_command(asked, arguments)
        assert asked.woken.wait(30)
    else:
        refusal(lambda: changes.run_command(asked, arguments), BAD_PARAMS)
    assert bool(begun) is is_run
