"""Node programs: launched with the probe inside, and entered late."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.commands.clocks import SetRate
from inspector.commands.transport import Hold, Run, StepToNextTimer
from inspector.errors import AttachError
from inspector.sessions.attached.doors import late_node
from inspector.sessions.attached.doors.cdp import CdpError
from inspector.sessions.attached.doors.late_node import AttachedNode, LateNode, listening_ports
from inspector.sessions.attached.doors.launch import Launch
from inspector.sessions.attached.doors.listening import Dial
from inspector.sessions.attached.doors.programs import door_of_process
from inspector.sessions.attached.link import ProbeServer
from inspector.sessions.session import SessionPhase
from inspector.vocabulary import CALLBACK_FAILED, CLOCK_PAUSED, TIMER_FIRED
from tests.javascript import PROBE, node, npm_package
from tests.sessions.attached.settling import attached, events, labels, pass_s, record, settle

TICKING = """\
const { appendFileSync } = require("node:fs");
const note = (text) => appendFileSync("ticks", `${text} ${performance.now()} ${Date.now()}\\n`);
setInterval(function tick() { note("tick"); }, 50);
"""


def script(folder: Path, text: str, name: str = "game.js") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def launched(folder: Path, text: str, name: str = "game.js", *, hold: bool = False) -> Launch:
    return Launch((node(), str(script(folder, text, name))), folder=folder, hold=hold)


def ticks(folder: Path) -> list[float]:
    """Return what the program's clock has shown at each tick, in milliseconds."""
    path = folder / "ticks"
    return (
        [float(line.split()[1]) for line in path.read_text().splitlines()] if path.exists() else []
    )


def test_that_a_program_is_seen_held_stepped_and_slowed(tmp_path: Path) -> None:
    with attached(launched(tmp_path, TICKING)) as session:
        settle(session, lambda: "tick" in labels(session) and events(session, TIMER_FIRED))
        timers = session.timeline.timers
        (number,) = timers.ids()
        assert timers.row(number).call_site == f"{tmp_path}/game.js:3"

        session.submit(Hold())
        settle(session, lambda: session.status.phase is SessionPhase.HELD)
        held = len(ticks(tmp_path))
        pass_s(session, 0.3)
        assert len(ticks(tmp_path)) == held

        session.submit(StepToNextTimer())
        settle(session, lambda: len(ticks(tmp_path)) == held + 1)
        settle(session, lambda: session.status.phase is SessionPhase.HELD)
        pass_s(session, 0.2)
        assert len(ticks(tmp_path)) == held + 1

        session.submit(SetRate(2, Fraction(1, 4)))
        session.submit(Run())
        settle(session, lambda: len(ticks(tmp_path)) >= held + 4)
        spent = ticks(tmp_path)
        # The program notices nothing: its own clock shows 50 ms from tick to tick.
        assert max(later - earlier for earlier, later in pairwise(spent)) < 95


def test_that_a_program_is_held_before_its_first_timer(tmp_path: Path) -> None:
    with attached(launched(tmp_path, TICKING, hold=True)) as session:
        settle(session, lambda: "tick" in labels(session))
        pass_s(session, 0.2)
        assert ticks(tmp_path) == []
        assert session.status.phase is SessionPhase.HELD
        session.submit(Run())
        settle(session, lambda: len(ticks(tmp_path)) > 1)


def test_that_holding_the_only_timer_does_not_end_the_program(tmp_path: Path) -> None:
    text = (
        'setTimeout(function last() { require("node:fs").writeFileSync("ticks", "x 1\\n"); }, 300);'
    )
    with attached(launched(tmp_path, text, hold=True)) as session:
        settle(session, lambda: "last" in labels(session))
        pass_s(session, 0.7)
        assert session.status.phase is SessionPhase.HELD
        session.submit(Run())
        settle(session, lambda: session.status.phase is SessionPhase.ENDED)
        assert len(ticks(tmp_path)) == 1


def test_that_a_held_program_goes_on_when_the_inspector_goes(tmp_path: Path) -> None:
    with attached(launched(tmp_path, TICKING)) as session:
        settle(session, lambda: "tick" in labels(session))
        session.submit(Hold())
        settle(session, lambda: session.status.phase is SessionPhase.HELD)
        held = len(ticks(tmp_path))
        session.detach()
        settle(session, lambda: len(ticks(tmp_path)) > held + 2)


def test_that_modules_and_promises_are_seen(tmp_path: Path) -> None:
    text = """\
import { setTimeout as sleep, setInterval as every } from "node:timers/promises";
import { setInterval as interval } from "node:timers";
import { promisify } from "node:util";
interval(function fromModule() {}, 60000);
promisify(setTimeout)(60000);
setImmediate(async function later() {
  for await (const _ of every(60000)) break;
});
await sleep(60000);
"""
    with attached(launched(tmp_path, text, "game.mjs")) as session:
        settle(session, lambda: len(list(session.timeline.timers.ids())) == 4)
        assert {"fromModule", "sleep"} <= labels(session)
        rows = map(session.timeline.timers.row, session.timeline.timers.ids())
        assert all("game.mjs:" in row.call_site for row in rows)


def test_that_children_and_worker_threads_are_programs_too(tmp_path: Path) -> None:
    script(tmp_path, "setInterval(function inChild() {}, 50);", "child.js")
    script(tmp_path, "setInterval(function inWorker() {}, 50);", "worker.js")
    text = """\
const { fork } = require("node:child_process");
const { Worker } = require("node:worker_threads");
const child = fork("child.js");
new Worker("./worker.js");
setInterval(function inParent() {}, 50);
process.on("SIGTERM", () => { child.kill(); process.exit(); });
"""
    with attached(launched(tmp_path, text)) as session:
        settle(session, lambda: {"inChild", "inWorker", "inParent"} <= labels(session))
        names = {program.name for program in session.programs.values()}
        assert names == {"game.js", "child.js", "game.js, worker 1"}


def test_that_a_package_manager_is_passed_through(tmp_path: Path) -> None:
    script(tmp_path, "setInterval(function inner() {}, 50);", "inner.js")
    text = """\
const child = require("node:child_process").spawn(process.argv[0], ["inner.js"]);
setInterval(() => {}, 50);
process.on("SIGTERM", () => { child.kill(); process.exit(); });
"""
    with attached(launched(tmp_path, text, "npm-cli.js")) as session:
        settle(session, lambda: "inner" in labels(session))
        assert [program.name for program in session.programs.values()] == ["inner.js"]


def test_that_what_a_callback_raises_is_told(tmp_path: Path) -> None:
    text = 'setTimeout(function bad() { throw new Error("no such level"); }, 50);'
    with attached(launched(tmp_path, text, hold=True)) as session:
        settle(session, lambda: "bad" in labels(session))
        session.submit(Run())
        settle(session, lambda: session.status.phase is SessionPhase.ENDED)
        (failed,) = events(session, CALLBACK_FAILED)
        assert session.log.strings[failed[3]] == "bad"
        assert "no such level" in session.log.strings[failed[4]]


def test_that_a_loop_of_immediates_stands_still_while_held(tmp_path: Path) -> None:
    text = """\
const { appendFileSync } = require("node:fs");
let turns = 0;
(function turn() {
  if (++turns % 20 === 0) appendFileSync("ticks", `turn ${turns}\\n`);
  setImmediate(turn);
})();
"""
    with attached(launched(tmp_path, text)) as session:
        settle(session, lambda: ticks(tmp_path) and events(session, TIMER_FIRED))
        session.submit(Hold())
        settle(session, lambda: session.status.phase is SessionPhase.HELD)
        held = len(ticks(tmp_path))
        pass_s(session, 0.3)
        assert len(ticks(tmp_path)) <= held + 1
        session.submit(Run())
        settle(session, lambda: len(ticks(tmp_path)) > held + 3)


# ------------------------------------------------------------------------- late


@pytest.fixture
def running(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A Node program that has begun before the inspector."""
    path = script(tmp_path, TICKING + 'console.log("ready");')
    with subprocess.Popen(
        [node(), str(path)], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="ports of a process are read from /proc")
def test_that_a_running_program_is_entered_with_the_timers_it_has(
    running: subprocess.Popen[str], tmp_path: Path
) -> None:
    with attached(LateNode(running.pid)) as session:
        settle(session, lambda: "tick" in labels(session))
        assert listening_ports(running.pid) == set()
        (number,) = session.timeline.timers.ids()
        assert session.timeline.timers.row(number).call_site == f"{tmp_path}/game.js:3"

        session.submit(Hold())
        settle(session, lambda: session.status.phase is SessionPhase.HELD)
        held = len(ticks(tmp_path))
        pass_s(session, 0.3)
        assert len(ticks(tmp_path)) == held
        assert events(session, CLOCK_PAUSED)
        session.detach()
    assert running.poll() is None

    # Another inspector finds the probe there, and the same timer.
    with attached(LateNode(running.pid)) as session:
        settle(session, lambda: "tick" in labels(session))
        settle(session, lambda: len(ticks(tmp_path)) > held + 2)
        with pytest.raises(AttachError, match="attached already"):
            LateNode(running.pid).open(session.acceptor)


@pytest.mark.skipif(sys.platform != "linux", reason="what a process catches is read from /proc")
def test_that_a_program_that_a_signal_would_end_is_left_alone(tmp_path: Path) -> None:
    command = [node(), "--disable-sigusr1", "-e", "setInterval(() => {}, 50)"]
    if subprocess.run([*command[:2], "-e", ""], capture_output=True, check=False).returncode:
        command = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(command, cwd=tmp_path) as process:
        with pytest.raises(AttachError, match=r"no debugger|not a Node program"):
            LateNode(process.pid).open(None)  # type: ignore[arg-type] # not asked for
        assert process.poll() is None
        process.kill()


def test_that_there_is_no_such_process() -> None:
    with pytest.raises(AttachError, match="no process"):
        LateNode(2**22 + 1).open(None)  # type: ignore[arg-type] # not asked for


def test_that_a_program_may_listen_and_is_found_by_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    text = f'require({str(PROBE)!r}).serve({{ grant: "step" }});\n{TICKING}console.log("ready");'
    with subprocess.Popen(
        [node(), str(script(tmp_path, text))], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            place = tmp_path / "timeline-inspector" / str(process.pid)
            for path, mode in ((place, 0o700), (place / "token", 0o600), (place / "socket", 0o600)):
                assert path.stat().st_mode & 0o777 == mode
            door = door_of_process(process.pid)
            assert isinstance(door, Dial)
            for _ in range(2):
                # One inspector after another, and one at a time.
                with attached(door) as session:
                    settle(session, lambda: "tick" in labels(session))
                    with pytest.raises(AttachError, match="attached already"):
                        door.open(session.acceptor)
                    session.submit(Hold())
                    settle(session, lambda: session.status.phase is SessionPhase.HELD)
                    session.submit(SetRate(2, Fraction(1, 4)))
                    settle(session, lambda: session.timeline.commands[-1].refusal)
            wrong = Dial(door.address, "00" * 16)
            with pytest.raises(AttachError, match="wrong token"):
                wrong.open(ProbeServer())
            assert process.poll() is None
        finally:
            process.terminate()
            process.wait(10)


# ------------------------------------------------------------------ third parties


@pytest.mark.slow
def test_that_a_game_from_npm_is_seen_held_stepped_slowed_and_recorded(tmp_path: Path) -> None:
    game = npm_package("@hypersocial/cli-games") / "dist" / "cli.js"
    # The game wants a terminal.
    play = f"import pty; pty.spawn([{node()!r}, {str(game)!r}, 'snake'])"
    door = Launch((sys.executable, "-c", play), folder=tmp_path, output_to_errors=True)
    with attached(door) as session:

        def fired() -> int:
            return sum(event[2] in timers for event in events(session, TIMER_FIRED))

        def clock() -> int:
            found = [each for program, each in session.own_clocks() if program.name == "cli.js"]
            return found[0] if found else 0

        settle(session, clock)
        timers = set()
        for _ in range(100):
            pass_s(session, 0.02)
            rows = session.timeline.timers
            timers |= {each for each in rows.ids() if rows.row(each).clock_id == clock()}
        settle(session, lambda: fired() > 5)

        session.submit(Hold())
        settle(session, lambda: session.status.phase is SessionPhase.HELD)
        pass_s(session, 0.2)
        held = fired()
        pass_s(session, 0.5)
        assert fired() == held
        session.submit(StepToNextTimer())
        settle(session, lambda: fired() > held)
        settle(session, lambda: session.status.phase is SessionPhase.HELD)
        assert fired() <= held + 2

        session.submit(SetRate(clock(), Fraction(1, 4)))
        session.submit(Run())
        settle(session, lambda: session.timeline.clocks[clock()].rate == Fraction(1, 4))
        # What is known of a program is of the instant of its last event.
        began_ns, before_ns = session.timeline.at_ns, session.timeline.local_ns(clock())
        pass_s(session, 1)
        passed_ns = session.timeline.local_ns(clock()) - before_ns
        assert passed_ns == pytest.approx((session.timeline.at_ns - began_ns) / 4, rel=0.01)
        assert passed_ns > 0
        record(session, tmp_path / "snake.tlrec")


def test_that_a_program_that_was_entered_is_said_to_be_silent_or_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state, now_s = "S", 7.0
    monkeypatch.setattr(late_node, "monotonic", lambda: now_s)
    target: Any = SimpleNamespace(title="game.js", pid=5, state=lambda: state)
    entered = AttachedNode(target, 9229, is_closed=True)
    assert (entered.title, entered.pid) == ("game.js (5)", 5)
    assert (entered.may_bring_more(), entered.poll(), entered.problem()) == (False, None, "")
    assert entered.note.endswith("was open on 127.0.0.1:9229 for a moment, and is closed again.")
    assert "every user" in AttachedNode(target, 9229, is_closed=False).note
    now_s += late_node._SILENT_S
    assert entered.problem() == ""
    now_s += 1
    assert entered.problem().endswith("but its event loop does not turn.")
    state = ""
    assert entered.problem() == "game.js (5) has ended."


@pytest.mark.parametrize(
    ("options", "port"),
    [
        ("", 9229),
        ("--inspect", 9229),
        ("--inspect=0.0.0.0:9000", 9000),
        ("--inspect-port=9001 game.js", 9001),
        ("--debug-port=9002", 9002),
        ("--inspect=localhost", 9229),
        ("--port=9003", 9229),
    ],
)
def test_that_the_port_of_a_debugger_is_the_usual_one_unless_an_option_says_which(
    options: str, port: int
) -> None:
    target: Any = SimpleNamespace(argv=("node", *options.split()))
    assert late_node._usual_port(target) == port


def test_that_a_callback_has_the_place_of_the_function_it_was_bound_to() -> None:
    def at(script: str, line: int) -> dict[str, object]:
        value = {"scriptId": script, "lineNumber": line}
        return {"name": "[[FunctionLocation]]", "value": {"value": value}}

    bound = {"name": "[[TargetFunction]]", "value": {"objectId": "b"}}
    callbacks = [("0", "a"), ("1", "b"), ("length", "b"), ("2", ""), ("3", "c"), ("4", "d")]
    found: dict[str, object] = {
        "a": {"internalProperties": [bound, at("6", 1)]},
        "b": {"internalProperties": [at("5", 2)]},
        "c": {"internalProperties": [at("6", 2)]},
        "d": {},
        "all": {"result": [{"name": name, "value": {"objectId": of}} for name, of in callbacks]},
    }
    door: Any = late_node._AtDebugger.__new__(late_node._AtDebugger)
    door._scripts = {}
    door._note("Debugger.scriptParsed", {"scriptId": "5", "url": "file:///game.js"}, "")
    asked: list[Any] = []

    def call(*given: object) -> object:
        asked.append(given)
        return {"result": {"objectId": "all"}}

    door._cdp = SimpleNamespace(call=call)
    door._properties = found.get
    assert door._places("timers") == ["/game.js:3", "/game.js:3", "", "", ""]
    ((_, about),) = asked
    assert about["objectId"] == "timers"
    assert "this.slice(0, 256)" in about["functionDeclaration"]


@pytest.mark.skipif(sys.platform != "linux", reason="signals are read from /proc")
@pytest.mark.parametrize(
    ("barrier", "language", "options", "caught", "why"),
    [
        ("it is yours", "node", "", "200", "it is yours"),
        ("", "python", "", "200", "it is not a Node program"),
        ("", "", "", "200", "it is not a Node program"),
        ("", "node", "--disable-sigusr1", "200", "its debugger is turned off (--disable-sigusr1)"),
        ("", "node", "", "5ff", "it has no debugger that a signal opens"),
        ("", "node", "", "200", ""),
    ],
)
def test_that_it_is_said_why_a_node_program_cannot_be_entered(  # noqa: PLR0913, PLR0917
    barrier: str,
    language: str,
    options: str,
    caught: str,
    why: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(late_node, "_status", lambda _pid: {"SigCgt": caught})
    for argv, environment in (
        (["node", *options.split()], {}),
        (["node"], {"NODE_OPTIONS": options}),
    ):
        target: Any = SimpleNamespace(
            pid=5, barrier=barrier, argv=argv, environment=lambda found=environment: found
        )
        target.runtime = lambda: SimpleNamespace(language=language) if language else None
        assert late_node.why_not_node(target) == why


@pytest.mark.parametrize("is_ours", [False, True])
def test_that_a_debugger_that_was_open_before_stays_open(*, is_ours: bool) -> None:
    done: list[str] = []
    door: Any = late_node._AtDebugger.__new__(late_node._AtDebugger)
    door._is_ours = is_ours
    door._wait_for_loop = lambda: done.append("waited")
    door._evaluate = lambda text: done.append(text[-200:])
    door._hand_over_timers = lambda: done.append("timers")
    door._cdp = SimpleNamespace(close=lambda: done.append("end"))
    door.enter("unix:/x", {"grant": "full"})
    probe = PROBE.read_text(encoding="utf-8")[-200:]
    entered = f'{late_node._PROBE}.enter(require, "unix:/x", {{"grant": "full"}}), 0'
    closed = [late_node._CLOSE[-200:]] * is_ours
    assert done == ["waited", probe, entered[-200:], "timers", *closed, "end"]


def test_that_a_program_that_cannot_load_the_probe_says_why() -> None:
    answer: dict[str, object] = {"result": {"objectId": "7"}}
    door: Any = late_node._AtDebugger.__new__(late_node._AtDebugger)
    door._cdp = SimpleNamespace(call=lambda *_: answer)
    assert door._evaluate("0") == {"objectId": "7"}
    answer = {"result": 0}
    assert door._evaluate("0") == {}
    for details, told in (
        ({"text": "Uncaught", "exception": {"description": "Error: no"}}, "Error: no"),
        ({"text": "Uncaught"}, "Uncaught"),
    ):
        answer = {"exceptionDetails": details}
        with pytest.raises(CdpError, match=f"could not load the probe: {told}"):
            door._evaluate("0")


def test_that_the_ports_of_a_process_are_those_on_which_it_listens(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(late_node, "Path", lambda path: Path(f"{tmp_path}{path}"))
    assert late_node.listening_ports(5) == set()
    assert late_node._status(5) == {}
    files, tables = tmp_path / "proc/5/fd", tmp_path / "proc/5/net"
    files.mkdir(parents=True)
    tables.mkdir()
    for number, target in enumerate(("socket:[71]", "pipe:[72]", "socket:[73]", "socket:[74]")):
        (files / str(number)).symlink_to(target)
    (files / "file").touch()
    head = "sl local_address rem_address st tx rx tr tm when retrnsmt uid timeout inode\n"
    row = " 0: 0100007F:{:04X} 00000000:0000 {} 0:0 00:0 0 0 0 {} 1\n"
    rows = [(9_229, "0A", 71), (80, "0A", 72), (81, "01", 73), (82, "0A", 99)]
    (tables / "tcp").write_text(head + "".join(row.format(*each) for each in rows))
    assert late_node.listening_ports(5) == {9_229}
    (tables / "tcp6").write_text(head + row.format(3_000, "0A", 74))
    assert late_node.listening_ports(5) == {9_229, 3_000}
    (tmp_path / "proc/5/status").write_text("Name:\tnode: x\nSigCgt:\t0200\n")
    assert late_node._status(5) == {"Name": "node: x", "SigCgt": "0200"}


def test_that_a_debugger_is_looked_for_at_the_usual_port_first_and_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s = 50.0

    def targets(port: int, path: str) -> object:
        asked.append(port)
        assert path == "/json/list"
        if port not in lists:
            message = "nothing there"
            raise CdpError(message)
        return lists[port]

    def sleep(seconds: float) -> None:
        nonlocal now_s
        now_s += 100 * seconds

    asked: list[int] = []
    lists: dict[int, object] = {9_000: {}, 9_100: [], 9_300: ["first", "second"]}
    monkeypatch.setattr(late_node, "sleep", sleep)
    monkeypatch.setattr(late_node, "monotonic", lambda: now_s)
    monkeypatch.setattr(late_node, "listening_ports", lambda _pid: {9_300, 9_229, 9_100, 9_000})
    monkeypatch.setattr(late_node, "reported_targets", targets)
    monkeypatch.setattr(late_node, "socket_path", lambda listing, port: f"/{listing} of {port}")
    target: Any = SimpleNamespace(pid=5, argv=("node", "--inspect=9100"), title="game.js")
    assert late_node._debugger(target) == (9_300, "/first of 9300")
    assert asked[0] == 9_100
    del lists[9_300]
    with pytest.raises(AttachError, match=r"of game\.js \(5\) does not open.*has the port 9100"):
        late_node._debugger(target)
    assert now_s == pytest.approx(50 + late_node._DEBUGGER_S)


@pytest.mark.parametrize("was_open", [False, True])
def test_that_a_program_is_asked_by_a_signal_and_entered_at_its_debugger(
    monkeypatch: pytest.MonkeyPatch, *, was_open: bool
) -> None:
    now_s = 50.0

    def sleep(seconds: float) -> None:
        nonlocal now_s
        now_s += 100 * seconds
        if not was_open:
            ports.clear()

    did: list[object] = []
    ports = {9_229} if was_open else {80}
    target: Any = SimpleNamespace(pid=5, title="game.js")

    class AtDebugger:
        def __init__(self, port: int, path: str, *, is_ours: bool) -> None:
            did.append((port, path, is_ours))
            ports.add(port)

        def enter(self, address: str, options: object) -> None:
            did.append((address, options))

    monkeypatch.setattr(late_node, "attachable", lambda pid, *_: target if pid == 5 else None)
    monkeypatch.setattr(late_node, "listening_ports", lambda _pid: set(ports))
    monkeypatch.setattr(late_node, "monotonic", lambda: now_s)
    monkeypatch.setattr(late_node, "sleep", sleep)
    monkeypatch.setattr(late_node, "_debugger", lambda _target: (9_229, "/path"))
    monkeypatch.setattr(late_node, "_AtDebugger", AtDebugger)
    monkeypatch.setattr(os, "kill", lambda *given: did.append(given))
    acceptor: Any = SimpleNamespace(address="unix:/x", token="00")  # noqa: S106 - none
    opened = late_node.LateNode(5, "step").open(acceptor)
    assert did == [
        (5, signal.SIGUSR1),
        (9_229, "/path", not was_open),
        ("unix:/x", {"token": "00", "grant": "step"}),
    ]
    assert ("is open on" in opened.note) is was_open
    assert now_s == pytest.approx(51.0 if was_open else 50.5)


def test_that_a_program_is_stopped_between_turns_and_its_timers_handed_over() -> None:
    asked: list[tuple[str, object]] = []
    answers: dict[str, object] = {
        "Runtime.evaluate": {"result": {"objectId": "prototype"}},
        "Runtime.queryObjects": {"objects": {"objectId": "timers"}},
    }

    def call(method: str, params: object = None) -> object:
        asked.append((method, params))
        return answers.get(method, {})

    door: Any = late_node._AtDebugger.__new__(late_node._AtDebugger)
    door._cdp = SimpleNamespace(call=call)
    door._is_paused = threading.Event()
    door._scripts = {}
    door._note("Debugger.dreams", {}, "")
    waited: list[float] = []

    def wait(seconds: float) -> bool:
        waited.append(seconds)
        return bool(door._is_paused.is_set())

    door._is_paused.wait = wait
    with pytest.raises(CdpError, match="its event loop does not turn"):
        door._wait_for_loop()
    door._note("Debugger.paused", {}, "")
    door._wait_for_loop()
    assert waited == [late_node._DEBUGGER_S] * 2
    assert asked[0] == ("Debugger.enable", None)
    assert asked[1] == (
        "Runtime.evaluate",
        {"expression": late_node._STOP, "includeCommandLineAPI": True},
    )
    asked.clear()
    door._places = lambda timers: [f"place of {timers}"]
    door._hand_over_timers()
    assert asked[1] == ("Runtime.queryObjects", {"prototypeObjectId": "prototype"})
    assert asked[2][1] == {
        "functionDeclaration": f"function (places) {{ {late_node._PROBE}.adopt(this, places); }}",
        "objectId": "timers",
        "arguments": [{"value": ["place of timers"]}],
    }
    asked.clear()
    door._properties("7")
    assert asked == [("Runtime.getProperties", {"objectId": "7", "ownProperties": True})]
