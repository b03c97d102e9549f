"""The command ``attach`` without a window, on programs of their own."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from inspector.cli import attach
from inspector.cli import main as cli
from inspector.events.recording import open_recording
from inspector.exit_codes import ExitCode
from inspector.sessions.attached.doors.door import Door
from inspector.sessions.attached.doors.launch import Launched
from inspector.sessions.attached.link import ProbeServer
from inspector.vocabulary import CLOCK_RATE, TIMER_FIRED
from tests.cli.answers import Run
from tests.forked.python import COMMAND_LINE, python_with
from tests.interpreters import VERSIONS, interpreter
from tests.javascript import chromium, node

#: Ticks every 20 ms of its loop's time.
_TICKER = """
import asyncio, sys
async def tick(count):
    for _ in range(count):
        await asyncio.sleep(0.02)
asyncio.run(tick(int(sys.argv[1])))
sys.exit(int(sys.argv[2]))
"""
_PROBE = Path(__file__).parents[2] / "inspector" / "probe"
_PYTHON = shlex.quote(sys.executable)
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")


@pytest.fixture
def ticker(tmp_path: Path) -> Path:
    path = tmp_path / "ticker.py"
    path.write_text(_TICKER)
    return path


def _values(run: Run, line: str) -> dict[str, Any]:
    code, out, err = run(line)
    assert code == ExitCode.OK, err
    values: dict[str, Any] = json.loads(out)
    return values


def _clock(values: dict[str, Any], name: str) -> dict[str, Any]:
    return next(clock for clock in values["clocks"] if clock["name"] == name)


@pytest.mark.parametrize("version", VERSIONS)
def test_that_a_program_of_any_python_is_launched_and_counted(
    run: Run, ticker: Path, version: str
) -> None:
    python = shlex.quote(interpreter(version))
    values = _values(run, f"attach --seconds 1 --json {python} {ticker} 1000 0")
    (timer,) = values["timers"]
    assert timer["label"] == "sleep in tick"
    assert timer["longest_delay_ns"] == pytest.approx(20_000_000, abs=1_000_000)
    (program,) = values["programs"]
    assert program["name"] == "ticker.py"
    assert "asyncio" in program["adapters"]
    assert version in program["runtime"]
    assert program["lost"] == 0
    # Its own time passes as real time does, since before it was seen, and its timers follow.
    local_ns = _clock(values, "ticker.py")["local_ns"]
    assert values["took_ns"] <= local_ns <= _clock(values, "session")["local_ns"]
    assert 0 < timer["fired"] <= local_ns // 20_000_000


def test_that_a_report_says_between_which_instants_of_the_session_it_watched(
    run: Run, ticker: Path
) -> None:
    code, out, err = run(f"attach --seconds 0.3 {_PYTHON} {ticker} 1000 0")
    assert code == ExitCode.OK, err
    said = re.search(r"^took .*, from 0:(\S+) to 0:(\S+) of the session$", out, re.MULTILINE)
    assert said is not None, out
    began, ended = map(float, said.groups())
    assert 0 < began < ended
    # The local times below are those of the end.
    assert re.search(rf"^session +00:{said[2]} ", out, re.MULTILINE), out


def test_that_a_rate_slows_a_program_from_its_beginning(
    run: Run, ticker: Path, tmp_path: Path
) -> None:
    line = f"--rate 1/4 --record a.tlrec --json {_PYTHON} {ticker} 1000 0"
    values = _values(run, f"attach --seconds 1 {line}")
    clock = _clock(values, "ticker.py")
    assert clock["rate"] == "0.25"
    assert values["timers"][0]["fired"] <= clock["local_ns"] // 20_000_000
    with closing(open_recording(tmp_path / "a.tlrec")) as recording:
        events = recording.events(recording.first, recording.end)
        kinds = [kind for _, kind, _, _, _ in events]
        # It runs at full speed until the inspector has seen it.
        slowed = events[kinds.index(CLOCK_RATE) :]
        fired_ns = [at_ns for at_ns, kind, _, _, _ in slowed if kind == TIMER_FIRED]
        assert all(after - at >= 80_000_000 for at, after in pairwise(fired_ns))


def test_that_a_program_is_held_before_its_first_frame(
    run: Run, ticker: Path, tmp_path: Path
) -> None:
    line = f"--hold --record a.tlrec --json {_PYTHON} {ticker} 1000 0"
    values = _values(run, f"attach --seconds 1 {line}")
    assert _clock(values, "ticker.py")["state"].startswith("paused")
    assert values["timers"][0]["fired"] == 0
    assert values["commands_refused"] == []
    with closing(open_recording(tmp_path / "a.tlrec")) as recording:
        state = recording.state_before(recording.end)
        (timer,) = map(state.timers.row, state.timers.ids())
        # Of its wait, no time has passed.
        assert timer.due_ns - state.local_ns(timer.clock_id) == 20_000_000


def test_that_a_held_program_goes_on_where_it_was(run: Run, ticker: Path) -> None:
    values = _values(
        run, f"attach --seconds 3 --hold-at 0 --hold-for 1 --json {_PYTHON} {ticker} 1000 0"
    )
    clock = _clock(values, "ticker.py")
    assert clock["state"] == "running"
    assert clock["local_ns"] <= _clock(values, "session")["local_ns"] - 1_000_000_000
    # What was due while it was held does not come at once.
    assert 0 < values["timers"][0]["fired"] <= clock["local_ns"] // 20_000_000


def test_that_children_are_held_with_their_program_and_go_on_with_it(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "family.py").write_text(
        "import os, subprocess, sys, time\n"
        "if len(sys.argv) == 1:\n"
        "    child = subprocess.Popen([sys.executable, __file__, str(os.getpid())])\n"
        "# A child ends with its program.\n"
        "while len(sys.argv) == 1 or os.getppid() == int(sys.argv[1]):\n"
        "    time.sleep(0.04)\n"
    )
    values = _values(run, f"attach --seconds 4 --hold-at 1 --json {_PYTHON} family.py")
    family = {"family.py", "family.py, child 1"}
    states = [each["state"] for each in values["clocks"] if each["name"] in family]
    assert {each["name"] for each in values["programs"]} == family
    assert len(states) == 2
    assert all(each.startswith("paused") for each in states)
    values = _values(run, f"attach --seconds 4 --hold-at 0 --hold-for 2 --json {_PYTHON} family.py")
    states = [each["state"] for each in values["clocks"] if each["name"] in family]
    assert states == ["running", "running"]


def test_that_the_frames_of_the_loop_that_is_named_are_exported(run: Run, tmp_path: Path) -> None:
    (tmp_path / "two.py").write_text(
        "import asyncio, threading\n"
        "async def work(seconds):\n"
        "    while True:\n"
        "        await asyncio.sleep(seconds)\n"
        "run = lambda: asyncio.run(work(0.02))\n"
        "threading.Thread(target=run, name='physics', daemon=True).start()\n"
        "asyncio.run(work(0.02))\n"
    )
    line = f"--export a.json --stream physics {_PYTHON} two.py"
    code, out, err = run(f"attach --seconds 1 --record a.tlrec {line}")
    assert (code, err) == (ExitCode.OK, "")
    assert re.search(r"^\d+ frames of “two.py › asyncio loop.* \(physics\)” in ", out, re.MULTILINE)
    exported = json.loads((tmp_path / "a.json").read_text())["columns"]["at_ns"]
    with closing(open_recording(tmp_path / "a.tlrec")) as recording:
        loops = recording.state_before(recording.end).loops
        (physics,) = (number for number, loop in loops.items() if "(physics)" in loop.name)
        assert len(loops) == 2
        recording.choose_frames(physics)
        frames = recording.state_before(recording.end).frames
        assert len(exported) > 5
        assert list(frames.at_ns[: len(exported)]) == exported
    code, _, err = run(f"attach --seconds 0.5 --stream drawing {_PYTHON} two.py")
    assert code != ExitCode.OK
    assert "has no stream “drawing”" in err


def test_that_the_report_names_clocks_timers_and_the_cost_of_the_probe(
    run: Run, ticker: Path
) -> None:
    code, out, err = run(f"attach --seconds 1.2 -- {_PYTHON} {ticker} 1000 0")
    assert (code, err) == (ExitCode.OK, "")
    assert f"{sys.executable} {ticker} 1000 0" in out
    assert "attached, in real time" in out
    assert "asyncio loop" in out
    assert "sleep in tick" in out
    assert "probe, ms" in out
    assert "Not followed: lock.acquire(timeout=…), which uses the system clock." in out


def test_that_the_exit_code_of_the_program_is_passed_on(run: Run, ticker: Path) -> None:
    code, out, err = run(f"attach --seconds 60 {_PYTHON} {ticker} 3 5")
    assert code == 5
    assert "The program ended before the time was over." in out
    assert "ended with exit code 5" in err
    code, _, err = run(f"attach --seconds 60 {_PYTHON} -c 'import os; os.abort()'")
    assert code == 128 + signal.SIGABRT, err


def test_that_a_program_that_ends_at_once_is_reported(run: Run) -> None:
    code, out, err = run(f"attach --seconds 60 {_PYTHON} -c 'print(1)'")
    assert code == ExitCode.OK, err
    assert "ended with exit code 0" in err
    # It may have ended before it was seen to begin.
    assert "took -" not in out


def test_that_a_python_that_is_too_old_is_said_at_once(run: Run) -> None:
    code, out, err = run(
        f"attach --seconds 60 {interpreter('3.8')} -c 'import time; time.sleep(9)'"
    )
    assert (code, out) == (ExitCode.NOT_ATTACHED, "")
    assert "it runs on Python 3.8, and the probe needs 3.9 or newer" in err


def test_that_a_program_without_frames_is_reported_without_them(run: Run) -> None:
    code, out, err = run(f"attach --seconds 0.5 {_PYTHON} -c 'import time; time.sleep(100)'")
    assert (code, err) == (ExitCode.OK, "")
    assert "attached, in real time" in out
    assert "frame" not in out


def test_that_the_report_comes_after_what_the_program_prints_at_its_end(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    script = tmp_path / "ends.py"
    script.write_text(
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('restored', flush=True), sys.exit()))\n"
        "while True:\n    time.sleep(0.01)\n"
    )
    # Also of a program that is held: its end needs time to pass.
    options = ["--seconds", "1", "--hold-at", "0.5"]
    assert cli.main(["attach", *options, "--", sys.executable, str(script)]) == 0
    out = capfd.readouterr().out
    assert 0 <= out.index("restored") < out.index("attached, in real time")


def test_that_options_of_the_program_stay_its_own(run: Run, tmp_path: Path) -> None:
    script = tmp_path / "show.py"
    script.write_text("import json, sys; json.dump(sys.argv[1:], open('argv', 'w'))")
    rest = ["--json", "--level", "-3", "--", "-h", "--seconds", "5"]
    for separator in ("", "--"):
        code, _, err = run(f"attach --seconds 60 {separator} {_PYTHON} {script} {shlex.join(rest)}")
        assert code == ExitCode.OK, err
        assert json.loads((tmp_path / "argv").read_text()) == rest
        (tmp_path / "argv").unlink()


def test_that_a_watched_program_is_recorded_and_exported(
    run: Run, ticker: Path, tmp_path: Path
) -> None:
    code, out, err = run(
        f"attach --seconds 1 --record a.tlrec --export a.csv {_PYTHON} {ticker} 1000 0"
    )
    assert (code, err) == (ExitCode.OK, "")
    assert "wrote a.csv" in out
    assert "recorded a.tlrec" in out
    with closing(open_recording(tmp_path / "a.tlrec")) as recording:
        assert recording.title == "ticker.py"
    code, _, err = run("explain a.tlrec 'sleep in tick'")
    assert code == ExitCode.OK, err


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        ("attach --seconds 1 no-such-program", ExitCode.NOT_FOUND, "no program “no-such-program”"),
        ("attach --seconds 1 ./data", ExitCode.NOT_EXECUTABLE, "may not be executed"),
        ("attach --seconds 1 -- sh -c 'exit 3'", ExitCode.NOT_ATTACHED, "ended with exit code 3"),
        ("attach --seconds 1 4194305", ExitCode.NOT_ATTACHED, "There is no process 4194305"),
        ("attach --seconds 1 -- python3 -I x.py", ExitCode.NOT_ATTACHED, "With -I, Python does"),
        ("attach --seconds 1 --dial unix:/x", ExitCode.NOT_ATTACHED, "The token"),
        ("attach --rate 2 x", ExitCode.USAGE, "--rate needs --seconds"),
        ("attach --hold-for 2 --seconds 4 x", ExitCode.USAGE, "--hold-for needs --hold-at"),
        ("attach --browser 9222 x", ExitCode.USAGE, "either a program"),
        ("attach --listen-websocket 70000", ExitCode.USAGE, "not a port"),
        ("attach --hold 12", ExitCode.USAGE, "--hold is for a program that is launched"),
        ("attach --seconds 1", ExitCode.USAGE, "Give a program to watch"),
        ("attach --seconds 1 --listen tcp x", ExitCode.USAGE, "either a program"),
        ("attach 12 x", ExitCode.USAGE, "Unrecognized arguments: x"),
        ("attach --", ExitCode.USAGE, "Write a program after --"),
    ],
)
def test_that_what_is_not_possible_is_said_with_what_is(
    run: Run, tmp_path: Path, line: str, code: ExitCode, sentence: str
) -> None:
    (tmp_path / "data").write_text("")
    answer, out, err = run(line)
    assert (answer, out) == (code, ""), err
    assert sentence.lower() in err.lower()


@on_linux
@pytest.mark.parametrize("code", [ExitCode.OK, ExitCode.INTERRUPTED])
def test_that_ctrl_c_in_or_after_the_window_ends_what_a_launched_program_has_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: ExitCode
) -> None:
    opened: list[Launched] = []

    def window(door: Door) -> int:
        with closing(ProbeServer()) as acceptor:
            launched = door.open(acceptor)
        assert isinstance(launched, Launched)
        opened.append(launched)
        return code

    def interrupted(_launched: Launched) -> int:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(attach, "open_window", window)
    monkeypatch.setattr(Launched, "wait", interrupted)
    assert cli.main(["attach", "sh", "-c", "sleep 1000 & trap '' INT; sleep 1000"]) == 130
    assert opened[0].poll() == 128 + signal.SIGTERM
    assert not opened[0].may_bring_more()


def test_that_a_program_that_listens_elsewhere_is_reached_with_its_token_only(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, running: Callable[..., Any]
) -> None:
    address = f"unix:{tmp_path / 'here'}"
    running(
        "import asyncio, timeline_probe\n"
        f"timeline_probe.serve({address!r}, token='11' * 16)\n"
        "print('up', flush=True)\n"
        "asyncio.run(asyncio.sleep(1000))\n"
    )
    monkeypatch.setenv("TIMELINE_PROBE_TOKEN", "22" * 16)
    code, _, err = run(f"attach --seconds 0.5 --dial {address}")
    assert code == ExitCode.NOT_ATTACHED
    assert "token" in err
    monkeypatch.setenv("TIMELINE_PROBE_TOKEN", "11" * 16)
    values = _values(run, f"attach --seconds 0.5 --json --dial {address}")
    assert _clock(values, "asyncio loop")["state"] == "running"


@on_linux
def test_that_a_program_that_listens_is_listed_and_attached_by_its_process(
    run: Run, running: Callable[..., Any]
) -> None:
    process = running(
        "import asyncio, timeline_probe\n"
        "timeline_probe.serve()\n"
        "print('up', flush=True)\n"
        "asyncio.run(asyncio.sleep(1000))\n"
    )
    listed = {each["pid"]: each for each in json.loads(run("attach --json")[1])}
    assert listed[process.pid]["is_listening"]
    values = _values(run, f"attach {process.pid} --seconds 0.5 --json")
    assert _clock(values, "asyncio loop")["pending"] == 1
    assert process.poll() is None, "a program that was not launched is left alone"


@on_linux
def test_that_an_idle_python_that_runs_already_is_entered(
    run: Run, tmp_path: Path, running: Callable[..., Any]
) -> None:
    del tmp_path
    idle = (
        "import asyncio\n"
        "async def serve():\n"
        "    print('up', flush=True)\n"
        "    await asyncio.sleep(1000)\n"
        "asyncio.run(serve())\n"
    )
    process = running(idle, python=interpreter("3.14"), probe=False)
    values = _values(run, f"attach {process.pid} --seconds 1 --json")
    assert _clock(values, "asyncio loop")["pending"] == 1
    # A second time, after the first inspector has gone.
    values = _values(run, f"attach {process.pid} --seconds 1 --json --hold-at 0")
    assert _clock(values, "asyncio loop")["pending"] == 1
    assert process.poll() is None


@on_linux
def test_that_a_node_program_is_entered_and_its_debugger_told_of_once(
    run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "ticks.js"
    path.write_text("setInterval(function tick() {}, 50); console.log('up');")
    with subprocess.Popen([node(), path], text=True, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        code, out, err = run(f"attach {process.pid} --seconds 1")
        process.kill()
    assert (code, "tick" in out) == (ExitCode.OK, True)
    assert err.count("The debugger of ticks.js") == 1


def test_that_a_page_is_reported_without_a_number_of_a_process(run: Run, tmp_path: Path) -> None:
    chromium()
    page = tmp_path / "page.html"
    page.write_text("<script>setInterval(function tick() {}, 50)</script>")
    code, out, err = run(f"attach --browser {page} --headless --seconds 1")
    assert code == ExitCode.OK, err
    assert re.search(r"^page.html +page +javascript", out, re.MULTILINE)
    assert out.startswith("page.html\n\n")


@on_linux
@pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python can be attached late")
def test_that_an_older_python_is_listed_and_refused_with_other_ways(
    run: Run, running: Callable[..., Any]
) -> None:
    process = running("print('up', flush=True)\nimport time; time.sleep(1000)", probe=False)
    code, out, err = run("attach")
    (line,) = [each for each in out.splitlines() if each.strip().startswith(f"{process.pid} ")]
    assert "no: it runs on Python 3.1" in line
    assert line.endswith("only 3.14 and newer can be attached late")
    code, _, err = run(f"attach --seconds 1 {process.pid}")
    assert code == ExitCode.NOT_ATTACHED
    assert "only 3.14 and newer can be attached late" in err
    assert "timeline-inspector attach -- PROGRAM" in err


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a program, and wait until it says that it is up."""
    processes: list[subprocess.Popen[str]] = []

    def start(
        code: str, *, python: str = sys.executable, probe: bool = True
    ) -> subprocess.Popen[str]:
        if probe:
            (tmp_path / "timeline_probe").symlink_to(_PROBE)
        process = subprocess.Popen(
            [python, "-c", code], cwd=tmp_path, text=True, stdout=subprocess.PIPE
        )
        processes.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_that_a_signal_ends_inspector_and_program_and_what_was_seen_is_written(
    ticker: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    pid_file = tmp_path / "pid"
    seen = f"if _ == 20: import os; open({str(pid_file)!r}, 'w').write(str(os.getpid()))"
    ticker.write_text(_TICKER.replace("(0.02)\n", f"(0.02)\n        {seen}\n"))
    options = ["--seconds", "600", "--json", "--record", "a.tlrec", "--export", "a.csv"]
    launched = ["sh", "-c", f"{_PYTHON} {ticker} 100000 0; true"]
    # Under nohup, what is started here would ignore a SIGHUP.
    before = signal.signal(number, signal.SIG_DFL)
    watching = subprocess.Popen(
        [*python_with(COMMAND_LINE), "-m", "inspector", "attach", *options, *launched],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
    )
    signal.signal(number, before)
    try:
        until = time.monotonic() + 60
        while not (pid_file.exists() and pid_file.read_text()) and time.monotonic() < until:
            time.sleep(0.02)
        pid = int(pid_file.read_text())
        watching.send_signal(number)
        out, _ = watching.communicate(timeout=60)
        assert watching.returncode == code
        report = json.loads(out)
        assert not report["is_complete"]
        assert report["programs"][0]["state"] == "attached"
        assert report["timers"][0]["fired"] >= 10
        assert (tmp_path / "a.csv").exists()
        with closing(open_recording(tmp_path / "a.tlrec")) as recording:
            assert recording.notes == ()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    finally:
        watching.kill()
        watching.wait()


@on_linux
def test_that_a_program_on_another_host_is_watched_and_ended(run: Run, ticker: Path) -> None:
    values = _values(run, f"attach --exec env --seconds 1 --json {_PYTHON} {ticker} 100000 0")

    (program,) = values["programs"]
    assert program["name"] == "ticker.py on env"
    (timer,) = values["timers"]
    assert timer["label"] == "sleep in tick"
    with pytest.raises(ProcessLookupError):
        os.kill(program["pid"], 0)


@on_linux
@pytest.mark.parametrize("line", ["attach --exec env --json", "attach --exec env --list --json"])
def test_that_programs_on_another_host_are_listed(run: Run, line: str) -> None:
    code, out, _ = run(line)

    assert code == ExitCode.OK
    assert os.getpid() in [each["pid"] for each in json.loads(out)]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("attach --ssh a --ssh b", "one host, or a program to be launched on each"),
        ("attach --ssh a --ssh b 4711", "one host, or a program to be launched on each"),
        ("attach --ssh a --listen unix", "ive either a program, or another way in"),
        ("attach --list 4711", "--list lists all programs"),
        ("attach --list --listen unix", "--list lists all programs"),
        ("attach --ssh=-v -- python3 x.py", "“-v” names no host"),
        ("attach --exec '' -- python3 x.py", "--exec is empty"),
        ("attach --exec nosuchcommand -- python3 x.py", "nosuchcommand was not reached"),
    ],
)
def test_that_a_wrong_host_is_said(run: Run, line: str, told: str) -> None:
    code, _, err = run(line.replace("attach", "attach --seconds 1"))

    assert code != ExitCode.OK
    assert told in err
