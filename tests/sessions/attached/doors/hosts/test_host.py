"""Programs on another host, reached by a command that runs what stands after it on this one."""

from __future__ import annotations

import ast
import getpass
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, TypeVar

import pytest

from inspector.errors import AttachError, ProgramStartError
from inspector.sessions.attached.doors.hosts import host as host_module
from inspector.sessions.attached.doors.hosts import line as line_module
from inspector.sessions.attached.doors.hosts.host import (
    Host,
    OnHost,
    Together,
    on_hosts,
    programs_on,
)
from inspector.sessions.attached.doors.hosts.line import HostLine
from inspector.sessions.attached.doors.hosts.records import END, SUPERVISOR, Records
from inspector.sessions.attached.doors.hosts.relay import _LEAVES_S, Relay
from inspector.sessions.attached.doors.launch import Launch
from inspector.sessions.attached.session import AttachedSession
from inspector.vocabulary import MARK

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")

_T = TypeVar("_T")

_DOORS = Path(host_module.__file__).parents[1]
#: Says its number and goes on as the command, so that a line can be cut.
_REACH = """env TMPDIR={2} sh -c 'echo $$ >> {0}/lines; exec "$@"' {1}"""
#: Marks a number every few milliseconds.
_COUNTING = """
import sys, time, timeline_probe
for number in range(int(sys.argv[1])):
    timeline_probe.mark(str(number))
    time.sleep(0.002)
"""
_ASYNCIO = """
import asyncio
async def tick():
    while True:
        await asyncio.sleep(0.02)
asyncio.run(tick())
"""


class Reached:
    """Another host, which is this one, with all the lines that lead there."""

    def __init__(self, folder: Path, name: str = "there") -> None:
        self._lines = folder / "lines"
        # The addresses of Unix sockets are short.
        self.temporary = Path(tempfile.mkdtemp())
        self.way = _REACH.format(folder, name, self.temporary)
        self.host = Host.by_command(self.way)

    @property
    def lines(self) -> list[int]:
        return [int(line) for line in self._lines.read_text().split()]

    def cut_off(self) -> None:
        """Let no other line lead there."""
        self._lines.chmod(0)

    def cut(self) -> None:
        """Cut the line that stands."""
        os.kill(self.lines[-1], signal.SIGKILL)


@pytest.fixture
def reached(tmp_path: Path) -> Iterator[Reached]:
    found = Reached(tmp_path)
    yield found
    shutil.rmtree(found.temporary, ignore_errors=True)


@pytest.fixture
def attached() -> Iterator[Callable[[OnHost | Together], AttachedSession]]:
    sessions = []

    def attach(door: OnHost | Together) -> AttachedSession:
        sessions.append(AttachedSession(door))
        return sessions[-1]

    yield attach
    for session in sessions:
        session.end_program()
        session.close()


def _until(session: AttachedSession, condition: Callable[[], object], seconds: float = 30) -> None:
    until_s = time.monotonic() + seconds
    while not condition():
        session.refresh()
        if session.opening_problem is not None:
            raise session.opening_problem
        assert time.monotonic() < until_s, session.status
        time.sleep(0.01)


def _script(folder: Path, text: str) -> str:
    path = folder / "program.py"
    path.write_text(text)
    return str(path)


def _launch(*argv: str) -> Launch:
    return Launch((sys.executable, *argv), is_bound=True)


@contextmanager
def _relay(*argv: str) -> Iterator[tuple[Relay, list[tuple[int, bytes]]]]:
    """Yield a relay without a line, and what it says: kinds and payloads."""
    said: list[tuple[int, bytes]] = []
    with tempfile.TemporaryDirectory() as folder:
        relay = Relay(folder, {"argv": argv, "patience_s": 60})
        relay._send_record = lambda kind, _channel, payload: said.append((kind, payload))  # type: ignore[assignment, method-assign]
        yield relay, said
        for each in (relay._dialled, relay._lines, relay._selector):
            each.close()


def _marks(session: AttachedSession) -> list[int]:
    log = session.log
    texts = [log.strings[event[3]] for event in log.read().events if event[1] == MARK]
    return [int(text) for text in texts if text.isdigit()]


@pytest.mark.parametrize(
    ("codes", "code"), [((0, 0), 0), ((0, 3, 4), 3), ((3, None), None), ((None, 0), None)]
)
def test_that_several_programs_end_with_the_code_of_the_first_that_failed(
    codes: tuple[int | None, ...], code: int | None
) -> None:
    opened: list[Any] = [SimpleNamespace(title="", poll=lambda each=each: each) for each in codes]
    doors: list[Any] = [SimpleNamespace(open=lambda _, each=each: each) for each in opened]

    together = Together(tuple(doors)).open(acceptor=None)  # type: ignore[arg-type]

    assert together.poll() == code


def test_that_the_far_end_can_pass_on_what_was_written_before_the_line_ends(
    tmp_path: Path,
) -> None:
    heard = tmp_path / "heard"
    connection = line_module._Connection(("sh", "-c", f'all=$(cat); echo "$all" > {heard}'))

    connection.put(b"the end\n")
    connection.flush()
    connection.close(is_patient=True)

    assert heard.read_text() == "the end\n"


def test_that_a_program_on_another_host_is_seen_with_its_host_and_leaves_nothing_there(
    reached: Reached, tmp_path: Path, attached: Callable[[OnHost | Together], AttachedSession]
) -> None:
    door = OnHost(reached.host, _launch(_script(tmp_path, _COUNTING), "20"))

    session = attached(door)
    _until(session, lambda: not session.expects_news)

    (program,) = session.programs.values()
    assert program.host == reached.host.name
    assert program.name == f"program.py on {reached.host.name}"
    assert program.process_text == f"process {program.pid} on {reached.host.name}"
    assert program.error_ns > 0
    assert program.ended.endswith("it has ended with exit code 0.")
    assert _marks(session) == list(range(20))
    _until(session, lambda: not list(reached.temporary.iterdir()))


def test_that_a_line_that_is_cut_again_and_again_loses_nothing(
    reached: Reached, tmp_path: Path, attached: Callable[[OnHost | Together], AttachedSession]
) -> None:
    session = attached(OnHost(reached.host, _launch(_script(tmp_path, _COUNTING), "600")))
    _until(session, lambda: len(_marks(session)) > 10)

    for _ in range(4):
        lines = reached.lines
        reached.cut()
        _until(session, lambda lines=lines: len(reached.lines) > len(lines))  # type: ignore[misc]
    _until(session, lambda: not session.expects_news)

    (program,) = session.programs.values()
    assert _marks(session) == list(range(600))
    assert program.lost.total() == 0
    assert program.ended.endswith("it has ended with exit code 0.")


def test_that_a_program_that_is_held_stays_so_while_the_line_is_cut_and_is_let_go_in_the_end(
    reached: Reached, tmp_path: Path, attached: Callable[[OnHost | Together], AttachedSession]
) -> None:
    session = attached(
        OnHost(reached.host, Launch((sys.executable, _script(tmp_path, _ASYNCIO)), hold=True))
    )
    _until(session, lambda: session.programs and not session.is_running)

    reached.cut()
    _until(session, lambda: len(reached.lines) > 1)

    (program,) = session.programs.values()
    assert program.is_attached
    assert not session.is_running


def test_that_programs_are_ended_when_the_inspector_is_gone(
    reached: Reached,
    tmp_path: Path,
    attached: Callable[[OnHost | Together], AttachedSession],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(host_module, "PATIENCE_S", 3)
    session = attached(OnHost(reached.host, _launch(_script(tmp_path, _ASYNCIO))))
    _until(session, lambda: session.programs)
    (program,) = session.programs.values()

    # Nothing leads there any more.
    reached.cut_off()
    monkeypatch.setenv("PATH", "")
    reached.cut()

    _until(session, lambda: not list(reached.temporary.iterdir()))
    _until(session, lambda: not Path(f"/proc/{program.pid}").exists())


def test_that_several_hosts_are_in_one_timeline(
    tmp_path: Path, attached: Callable[[OnHost | Together], AttachedSession]
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    hosts = [Reached(tmp_path / name, name).host for name in ("a", "b")]
    launch = _launch(_script(tmp_path, _ASYNCIO))

    session = attached(Together(tuple(OnHost(host, launch) for host in hosts)))
    _until(session, lambda: len(session.programs) == 2)

    _until(session, lambda: len(session.own_clocks()) == 2)
    names = {session.timeline.clocks[each].name for _, each in session.own_clocks()}
    assert names == {"program.py on a", "program.py on b"}


def test_that_programs_on_a_host_are_listed_with_why_they_cannot_be_attached(
    reached: Reached,
) -> None:
    found = {each["pid"]: each for each in programs_on(reached.host)}

    assert os.getpid() in found
    assert found[os.getpid()]["runtime"].startswith("Python")


def test_that_a_program_that_listens_on_another_host_is_attached_by_its_number(
    reached: Reached, attached: Callable[[OnHost | Together], AttachedSession]
) -> None:
    bootstrap = _DOORS.parents[2] / "probe" / "bootstrap"
    text = (
        f"import sys, time; sys.path.insert(0, {str(bootstrap)!r})\n"
        "import timeline_probe_start; timeline_probe_start.load().serve()\n"
        "print(flush=True); time.sleep(60)"
    )
    environment = {**os.environ, "TMPDIR": str(reached.temporary)}
    command = [sys.executable, "-c", text]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as program:
        try:
            assert program.stdout is not None
            program.stdout.readline()

            session = attached(OnHost(reached.host, pid=program.pid))
            _until(session, lambda: session.programs)

            (found,) = session.programs.values()
            assert found.pid == program.pid
            session.end_program()
            assert program.poll() is None
        finally:
            program.kill()


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("sh -c 'echo no such host >&2; exit 255' there", "there was not reached: no such host."),
        ("true there", "there was not reached: the command ended without a word."),
        ("nosuchcommand there", "nosuchcommand"),
        ("sh -c 'echo hello; exec \"$@\"' there false there", "without a word"),
    ],
)
def test_that_a_host_that_is_not_reached_is_named_with_the_reason(command: str, told: str) -> None:
    with pytest.raises(AttachError, match=told):
        programs_on(Host.by_command(command))


def test_that_what_login_scripts_print_is_passed_over() -> None:
    greeting = "sh -c 'echo Welcome; echo timeline-relay; exec \"$@\"' there"

    assert programs_on(Host.by_command(greeting))


def test_that_a_program_that_is_not_there_is_said_to_be_missing(
    reached: Reached, attached: Callable[[OnHost | Together], AttachedSession]
) -> None:
    session = attached(OnHost(reached.host, Launch(("nosuchprogram",))))

    with pytest.raises(ProgramStartError, match="could not be started on there: No such file"):
        _until(session, lambda: session.programs, 20)


def test_that_no_secret_is_in_a_command_line_or_a_log(
    reached: Reached,
    tmp_path: Path,
    attached: Callable[[OnHost | Together], AttachedSession],
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(0)
    told: list[str] = []
    door = OnHost(reached.host, _launch(_script(tmp_path, _ASYNCIO)), on_note=told.append)
    session = attached(door)
    _until(session, lambda: session.programs)
    count = len(reached.lines)
    reached.cut()
    _until(session, lambda: len(reached.lines) > count)

    said = [caplog.text, *capfd.readouterr(), *told, *session.notes, repr(door)]
    assert not any(session.acceptor.token in text for text in said)
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes()
        except OSError:
            continue
        assert session.acceptor.token.encode() not in words


def test_that_nothing_listens_on_a_port_of_the_host(
    reached: Reached, tmp_path: Path, attached: Callable[[OnHost | Together], AttachedSession]
) -> None:
    session = attached(OnHost(reached.host, _launch(_script(tmp_path, _ASYNCIO))))
    _until(session, lambda: session.programs)

    sockets = set()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (place / "cmdline").read_bytes()
            if str(reached.temporary).encode() in words or str(tmp_path).encode() in words:
                sockets |= {str(each.readlink()) for each in (place / "fd").iterdir()}
    assert any(each.startswith("socket:") for each in sockets)
    for table in ("tcp", "tcp6"):
        rows = [line.split() for line in Path("/proc/net", table).read_text().splitlines()[1:]]
        listening = {f"socket:[{row[9]}]" for row in rows if row[3] == "0A"}
        assert not listening & sockets


def test_that_each_line_of_the_supervisor_is_passed_on_once() -> None:
    line = HostLine("there", ((), ()), {}, None, len)
    theirs, ours = socket.socketpair()
    with theirs, ours:
        line._handle_record(SUPERVISOR, 0, b"before ")
        line.carry_supervisor(ours, sys.stderr)
        line._handle_record(SUPERVISOR, 0, b"first ")
        line._handle_record(SUPERVISOR, 0, b"second")
        ours.shutdown(socket.SHUT_RDWR)

        assert theirs.recv(1_000) == b"before first second"


def test_that_a_relay_tells_why_a_program_has_no_probe_each_time_that_changes() -> None:
    problems = iter(["", "It sleeps.", "It sleeps.", "It has ended.", ""])
    opened: Any = SimpleNamespace(problem=lambda: next(problems))
    with _relay() as (relay, said):
        relay._opened = opened
        for _ in range(5):
            relay._check_time()

    told = [json.loads(payload)["problem"] for _, payload in said]
    assert told == ["It sleeps.", "It has ended.", ""]


def test_that_what_a_program_leaves_may_keep_its_outputs_open_for_a_while() -> None:
    with _relay("python3") as (relay, said):
        relay._outputs = 1
        ended = []
        for now_s in (100, 100 + _LEAVES_S - 0.1, 100 + _LEAVES_S):
            relay._end_with_program(now_s)
            ended.append([kind for kind, _ in said])

    assert ended == [[], [], [END]]


def test_that_outputs_are_read_while_a_program_is_ended() -> None:
    is_read = threading.Event()
    process: Any = SimpleNamespace(
        stdout=SimpleNamespace(read=is_read.set),
        stderr=None,
        wait=lambda: is_read.wait(10) or pytest.fail("nobody reads what it writes"),
    )
    with _relay() as (relay, _):
        relay._process = process
        relay._end_program()


class _PlayedLine:
    """A line to a host on which some data come, and then nothing more."""

    def __init__(self, *heard: bytes) -> None:
        self.heard = [*heard, b""]

    def receive(self, _timeout_s: float) -> bytes:
        return self.heard.pop(0)

    def put(self, _data: bytes) -> None:
        """Send nothing."""

    beat = put

    def close(self, *, is_patient: bool = False) -> None:
        """Nothing is open."""


class _Waits(threading.Condition):
    """Waits that are over at once."""

    count = 0

    def wait_for(self, predicate: Callable[[], _T], timeout: float | None = None) -> _T:
        self.count += timeout is not None
        return predicate()


@pytest.mark.parametrize(("heard", "waits"), [([], 1), ([Records().heartbeat()], 0)])
def test_that_a_line_on_which_something_came_is_built_again_at_once(
    heard: list[bytes], waits: int
) -> None:
    line, played = HostLine("there", ((), ()), {}, None, len), _PlayedLine(*heard)
    line._changed = pauses = _Waits()
    before = []

    def connected(_command: object) -> NoReturn:
        before.append(pauses.count)
        line._is_gone = True
        message = "It is not reached."
        raise AttachError(message)

    line._connected = connected  # type: ignore[assignment, method-assign]
    line._serve(played)  # type: ignore[arg-type]

    assert before == [waits]


def test_that_nothing_more_is_heard_of_a_host_that_is_not_understood() -> None:
    line, played = HostLine("there", ((), ()), {}, None, len), _PlayedLine(bytes(20))
    line._is_gone = True
    line._serve(played)  # type: ignore[arg-type]

    assert line.problem == "there has sent what is not understood here."
    assert played.heard == [b""]


@pytest.mark.parametrize(
    "names", [("shop-7f9c", "shop-7f9c"), ("3f2a9c1d0b7e", "there"), ("", "there")]
)
def test_that_a_container_has_the_name_that_it_calls_itself(
    reached: Reached,
    tmp_path: Path,
    attached: Callable[[OnHost | Together], AttachedSession],
    monkeypatch: pytest.MonkeyPatch,
    names: tuple[str, str],
) -> None:
    named, shown = names
    end = tmp_path / "end_of_line.py"
    source = line_module._END_OF_LINE.read_text()
    end.write_text(source.replace("socket.gethostname()", repr(named)))
    monkeypatch.setattr(line_module, "_END_OF_LINE", end)

    session = attached(OnHost(reached.host, _launch(_script(tmp_path, _ASYNCIO))))
    _until(session, lambda: session.programs)

    (program,) = session.programs.values()
    assert (program.name, program.host) == (f"program.py on {shown}", shown)


def test_that_ssh_is_asked_for_no_password_when_a_line_has_broken() -> None:
    host = Host.by_ssh("-p 2222 -i 'my key' me@web-1")

    assert host.name == "me@web-1"
    assert host.command[:2] == ("ssh", "-T")
    assert host.command[-6:-1] == ("-p", "2222", "-i", "my key", "me@web-1")
    assert "BatchMode=yes" in host.again
    assert "BatchMode=yes" not in host.command


@pytest.mark.parametrize("text", ["", "  ", "-p 22 -v", "'unbalanced"])
def test_that_a_host_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(AttachError, match=r"--ssh|names no host"):
        Host.by_ssh(text)


@pytest.mark.parametrize("name", ["records.py", "relay.py", "end_of_line.py", "../supervisor.py"])
def test_that_what_runs_there_needs_no_newer_python_than_the_probe(name: str) -> None:
    text = (_DOORS / "hosts" / name).read_text(encoding="utf-8")

    ast.parse(text, feature_version=(3, 9))
    assert "match " not in text


@pytest.fixture
def by_ssh(tmp_path: Path) -> Iterator[Host]:
    """This machine, reached by a server of the test's own, with a key of its own."""
    server, keygen = (
        shutil.which("sshd", path="/usr/sbin:/usr/local/sbin"),
        shutil.which("ssh-keygen"),
    )
    if server is None or keygen is None:
        pytest.skip("no OpenSSH server is installed")
    for name in ("host", "user"):
        command = [keygen, "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(command, check=True)
    (tmp_path / "user.pub").rename(tmp_path / "authorized")
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "Port": port,
        "ListenAddress": "127.0.0.1",
        "HostKey": tmp_path / "host",
        "AuthorizedKeysFile": tmp_path / "authorized",
        "PidFile": "none",
        "StrictModes": "no",
        "UsePAM": "no",
    }
    (tmp_path / "sshd").write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
    Path("/run/sshd").mkdir(exist_ok=True)
    command = [server, "-D", "-e", "-f", str(tmp_path / "sshd")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while "listening" not in process.stderr.readline():
            assert process.poll() is None
        trusting = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
        name = getpass.getuser()
        yield Host.by_ssh(f"-p {port} -i {tmp_path / 'user'} {trusting} {name}@127.0.0.1")
        process.terminate()


def test_that_a_program_is_watched_by_ssh_and_nothing_is_left_there(
    by_ssh: Host, tmp_path: Path, attached: Callable[[OnHost | Together], AttachedSession]
) -> None:
    session = attached(OnHost(by_ssh, _launch(_script(tmp_path, _COUNTING), "50")))
    _until(session, lambda: not session.expects_news)

    (program,) = session.programs.values()
    assert program.name == f"program.py on {by_ssh.name}"
    assert _marks(session) == list(range(50))


#: Has the same effect as ``sys.remote_exec``, which Python 3.14 has, in a program that looks.
_TELL = "import os, sys; os.symlink(sys.argv[2], {!r})"


def _bundle_like_3_14(inbox: Path) -> bytes:
    """Return what is shipped to a host, for programs of this Python as if it were 3.14."""
    shipped, archive = zipfile.ZipFile(BytesIO(line_module._bundle())), BytesIO()
    with zipfile.ZipFile(archive, "w") as changed:
        for name in shipped.namelist():
            text = shipped.read(name)
            if name.endswith("late_python.py"):
                called = f"_CALL: Final = {_TELL.format(str(inbox))!r}"
                text = re.sub(rb"_CALL: Final = .*", called.encode(), text)
                text = text.replace(b"_FIRST: Final = (3, 14)", b"_FIRST: Final = (3, 9)")
            changed.writestr(name, text)
    return archive.getvalue()


#: Runs the file that it is told to, and later imports what the probe follows.
_ENTERED = """
import pathlib, sys, time
inbox, left, told = map(pathlib.Path, sys.argv[1:])
while not left.exists():
    if inbox.exists():
        script = inbox.read_text()
        inbox.unlink()
        exec(script)
    time.sleep(0.01)
probe = sys.modules["timeline_probe"]
while pathlib.Path(probe.__file__).exists():
    time.sleep(0.01)
import asyncio
asyncio.run(asyncio.sleep(0.01))
found = sys.modules["timeline_probe.adapters.asyncio"]
told.write_text(found.__name__)
"""


#: Marks numbers until a file is there, and leaves how many it has marked.
_COUNTING_UNTIL = """
import pathlib, sys, time, timeline_probe
stop, number = pathlib.Path(sys.argv[1]), 0
while not stop.exists():
    timeline_probe.mark(str(number))
    number += 1
    time.sleep(0.002)
stop.write_text(str(number))
"""


def test_that_a_line_by_ssh_that_is_cut_several_times_loses_nothing(
    by_ssh: Host, tmp_path: Path, attached: Callable[[OnHost | Together], AttachedSession]
) -> None:
    stop = tmp_path / "stop"
    session = attached(OnHost(by_ssh, _launch(_script(tmp_path, _COUNTING_UNTIL), str(stop))))
    _until(session, lambda: len(_marks(session)) > 10)
    for _ in range(4):
        # It is made again while this looks for it.
        _until(session, lambda: len(_processes_with(by_ssh.command[-2])) == 1)
        (line,) = _processes_with(by_ssh.command[-2])
        os.kill(line, signal.SIGKILL)
        seen = len(_marks(session))
        _until(session, lambda seen=seen: len(_marks(session)) > seen + 20)  # type: ignore[misc]
    stop.touch()
    _until(session, lambda: not session.expects_news)

    assert _marks(session) == list(range(int(stop.read_text())))


def _processes_with(word: str) -> list[int]:
    """Return the lines by ssh: what this process has started with a word in its command line."""
    found = []
    for thread in Path("/proc/self/task").iterdir():
        with suppress(OSError):
            for child in (thread / "children").read_text().split():
                words = Path("/proc", child, "cmdline").read_bytes().split(b"\0")
                if words[0] == b"ssh" and word.encode() in words:
                    found.append(int(child))
    return found


def test_that_programs_are_listed_by_ssh(by_ssh: Host) -> None:
    listed = programs_on(by_ssh)
    assert os.getpid() in {each["pid"] for each in listed}


@pytest.mark.parametrize("way", ["reached", "by_ssh"])
def test_that_a_program_that_was_entered_late_does_without_the_files_of_the_probe(
    way: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    attached: Callable[[OnHost | Together], AttachedSession],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: Reached | Host = request.getfixturevalue(way)
    host = found.host if isinstance(found, Reached) else found
    inbox, left, told = (tmp_path / name for name in ("inbox", "left", "told"))
    bundle = _bundle_like_3_14(inbox)
    monkeypatch.setattr(line_module, "_bundle", lambda: bundle)
    script = _script(tmp_path, _ENTERED)
    with subprocess.Popen([sys.executable, script, *map(str, (inbox, left, told))]) as program:
        try:
            session = attached(OnHost(host, pid=program.pid))
            _until(session, lambda: session.programs)
            session.close()
            left.touch()
            assert program.wait(60) == 0
        finally:
            program.kill()

    assert told.read_text() == "timeline_probe.adapters.asyncio"


def test_that_options_name_a_door_for_each_host() -> None:
    launch = Launch(("true",))
    assert on_hosts([], [], launch, print) is None
    one = on_hosts(["me@there"], [], launch, print)
    assert isinstance(one, OnHost)
    both = on_hosts(["me@there"], ["docker exec -i box"], launch, print)

    assert isinstance(both, Together)
