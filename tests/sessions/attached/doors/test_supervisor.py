"""The supervisor among processes that are played: who ends when, and what is told of it."""

from __future__ import annotations

import errno
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.sessions.attached.doors import supervisor
from inspector.sessions.attached.doors.supervisor import Supervisor, _Process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it inherits orphans")

_OWN, _PROGRAM = 1, 10
_CODES = {"killed": signal.SIGKILL, "ended": signal.SIGTERM}


class _World:
    """Processes with what they do when they are asked to end, and a clock.

    It stands for the modules of the system, the inspector's socket and the waker.
    """

    WNOHANG, environ = os.WNOHANG, {"TIMELINE_PROBE_CONNECT": "unix:/s/socket"}

    def __init__(self) -> None:
        self.now_s = 100.0
        self.parents: dict[int, int] = {}
        self.zombies: dict[int, int] = {}
        #: After how long processes end that are asked to; the others do not care.
        self.obeys_s: dict[int, float] = {}
        self.immortal: set[int] = set()
        self.later: list[tuple[float, Callable[[], object]]] = []
        self.signals: list[tuple[float, int, str]] = []
        self.lines: list[tuple[float, str]] = []
        self.heard: list[bytes] = []
        self.waits: list[float | None] = []
        self.removed: list[str] = []

    def at(self, second: float, act: Callable[[], object]) -> None:
        self.later.append((100 + second, act))

    def add(self, pid: int, parent: int = _PROGRAM) -> None:
        self.parents[pid] = parent

    def end(self, pid: int, status: int = 0) -> None:
        if pid in self.parents and pid not in self.zombies:
            self.zombies[pid] = status
            for child in [each for each, parent in self.parents.items() if parent == pid]:
                self.parents[child] = _OWN
            if self.parents[pid] not in {_OWN, *self.parents}:
                self._bury(pid)

    def _bury(self, pid: int) -> None:
        del self.parents[pid], self.zombies[pid]

    # What the supervisor asks of the system.

    def posix_spawn(self, executable: str, argv: list[str], *_: object, **_more: object) -> int:
        if executable == "nowhere":
            raise FileNotFoundError(errno.ENOENT, "No such file")
        assert argv == ["it"]
        self.add(_PROGRAM, _OWN)
        return _PROGRAM

    @staticmethod
    def getpid() -> int:
        return _OWN

    getpgrp = getpid
    waitstatus_to_exitcode = staticmethod(os.waitstatus_to_exitcode)

    def waitpid(self, which: int, _options: int) -> tuple[int, int]:
        assert which == -1
        own = [pid for pid, parent in self.parents.items() if parent == _OWN]
        if not own:
            raise ChildProcessError
        for pid in own:
            if pid in self.zombies:
                status = self.zombies[pid]
                self._bury(pid)
                return pid, status
        return 0, 0

    def kill(self, pid: int, number: int) -> None:
        if pid not in self.parents:
            raise ProcessLookupError
        self.signals.append((round(self.now_s - 100, 2), pid, signal.Signals(number).name))
        if number == signal.SIGKILL and pid not in self.immortal:
            self.end(pid, number)
        elif pid in self.obeys_s:
            self.at(self.now_s - 100 + self.obeys_s[pid], lambda: self.end(pid, number))

    def processes(self) -> dict[int, _Process]:
        return {
            pid: _Process(parent, pid, "Z" if pid in self.zombies else "S")
            for pid, parent in self.parents.items()
        }

    def monotonic(self) -> float:
        return self.now_s

    def select(
        self, readable: list[Any], _w: object, _x: object, seconds: float | None
    ) -> tuple[list[Any]]:
        self.waits.append(seconds)
        assert len(self.waits) < 2_000
        ends_s = self.now_s + (1e9 if seconds is None else seconds)
        due = [each for each in self.later if each[0] <= ends_s]
        if due:
            first = min(due, key=lambda each: each[0])
            self.later.remove(first)
            self.now_s = max(self.now_s, first[0])
            first[1]()
        else:
            assert seconds is not None, "it waits without an end"
            self.now_s = ends_s
        return ([each for each in readable if each is self and self.heard],)

    # What it asks of the inspector's socket.

    def sendall(self, data: bytes) -> None:
        self.lines.append((round(self.now_s - 100, 2), data.decode().removesuffix("\n")))

    def recv(self, _most: int) -> bytes:
        said = self.heard.pop(0)
        if said == b"broken":
            raise ConnectionResetError
        return said


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> _World:
    played = _World()
    for name in ("os", "select"):
        monkeypatch.setattr(supervisor, name, played)
    monkeypatch.setattr(supervisor, "monotonic", played.monotonic)
    monkeypatch.setattr(supervisor, "_processes", played.processes)
    monkeypatch.setattr(supervisor, "_remove_unheard", played.removed.append)
    return played


def _supervisor(world: _World, grace_s: float = 6.0, *, is_bound: bool = True) -> Supervisor:
    """Return a supervisor that handles no signals of this process."""
    found = Supervisor.__new__(Supervisor)
    inspector: Any = world
    found._inspector, found._waker = inspector, SimpleNamespace()  # type: ignore[assignment]
    found._grace_s, found._is_bound = grace_s, is_bound
    found._pid, found._has_exited, found._received = 0, False, b""
    found._is_connected, found._interrupted_s = True, -2.0
    return found


def _told(world: _World) -> list[tuple[float, str]]:
    assert world.lines[0] == (0.0, f"pid {_PROGRAM}")
    return world.lines[1:]


def _ask_to_end(world: _World, second: float, line: bytes = b"end\n") -> None:
    world.at(second, lambda: world.heard.append(line))


def test_that_a_program_that_cannot_be_started_is_told(world: _World) -> None:
    _supervisor(world).run("nowhere", ["it"])
    assert world.lines == [(0.0, f"error {errno.ENOENT}")]


@pytest.mark.parametrize(("status", "code"), [(0, 0), (3 << 8, 3), (signal.SIGTERM, -15)])
def test_that_the_end_of_a_program_is_told_and_what_it_leaves_waited_for(
    world: _World, status: int, code: int
) -> None:
    world.at(1, lambda: world.add(11))
    world.at(1, lambda: world.add(12, 11))
    world.at(2, lambda: world.end(_PROGRAM, status))
    world.at(3, lambda: world.end(12))
    world.at(5, lambda: world.end(11))
    _supervisor(world).run("/bin/it", ["it"])
    assert _told(world) == [(2.0, f"exit {code} 2")]
    assert (world.now_s, world.signals, world.parents) == (105.0, [], {})
    assert set(world.waits) == {None}


def test_that_another_system_is_asked_again_and_again_for_orphans(
    world: _World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "_IS_LINUX", False)
    world.at(1, lambda: world.add(11))
    world.at(2, lambda: world.end(_PROGRAM))
    world.at(4.5, lambda: world.end(11))
    _supervisor(world).run("/bin/it", ["it"])
    assert world.waits == [None, None, 1.0, 1.0, 1.0]


def test_that_a_program_is_asked_to_end_first_and_then_what_it_leaves(world: _World) -> None:
    world.obeys_s = {_PROGRAM: 0.1, 11: 0.1}
    world.at(1, lambda: world.add(11))
    _ask_to_end(world, 2)
    _supervisor(world).run("/bin/it", ["it"])
    assert [each[1:] for each in world.signals] == [(_PROGRAM, "SIGTERM"), (11, "SIGTERM")]
    assert world.signals[0][0] == 2.0
    assert 2.1 <= world.signals[1][0] < 2.2
    assert [line for _, line in _told(world)] == ["exit -15 1"]


@pytest.mark.parametrize(("grace_s", "slow_s", "left"), [(6.0, 1.0, 5.0), (1.0, 0.5, 0.5)])
def test_that_what_does_not_end_in_time_is_told_and_killed(
    world: _World, grace_s: float, slow_s: float, left: float
) -> None:
    world.at(1, lambda: world.add(11))
    _ask_to_end(world, 2)
    _supervisor(world, grace_s).run("/bin/it", ["it"])
    (slow, slow_line), (killed, killed_line) = (
        each for each in _told(world) if not each[1].startswith("exit")
    )
    assert slow == pytest.approx(2 + slow_s, abs=0.03)
    assert slow_line == f"slow {left:.1f} 10 11"
    assert killed >= 2 + grace_s
    assert killed_line == "killed 10 11"
    terms, kills = (
        [(second, pid) for second, pid, name in world.signals if name == wanted]
        for wanted in ("SIGTERM", "SIGKILL")
    )
    assert [pid for _, pid in terms] == [10, 11]
    assert terms[0][0] == 2.0
    assert terms[1][0] == pytest.approx(2 + grace_s / 2, abs=0.03)
    assert kills[0][0] == pytest.approx(2 + grace_s, abs=0.03)
    assert [pid for _, pid in kills] == [10, 11]


def test_that_what_cannot_be_killed_is_not_waited_for_for_long(world: _World) -> None:
    world.immortal = {_PROGRAM}
    _ask_to_end(world, 2)
    _supervisor(world, 1.0).run("/bin/it", ["it"])
    second, line = _told(world)[-1]
    assert (round(second, 1), line) == (5.0, "killed 10")


@pytest.mark.parametrize(("before_s", "first_s"), [(1.9, 3.0), (2.0, 0.0)])
def test_that_a_program_that_has_just_had_ctrl_c_is_not_asked_again_at_once(
    world: _World, before_s: float, first_s: float
) -> None:
    found = _supervisor(world)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        noted = partial(found._note_shared, number, None)
        world.at(10 if number == signal.SIGINT else 12, noted)
    _ask_to_end(world, 10 + before_s)
    world.at(10 + before_s + 4, lambda: world.end(_PROGRAM))
    found.run("/bin/it", ["it"])
    ((second, *signalled),) = world.signals
    assert second == pytest.approx(10 + before_s + first_s, abs=0.03)
    assert signalled == [10, "SIGTERM"]


@pytest.mark.parametrize("said", [b"", b"broken"])
@pytest.mark.parametrize("is_bound", [True, False])
def test_that_a_bound_program_ends_with_the_inspector(
    world: _World, said: bytes, *, is_bound: bool
) -> None:
    world.obeys_s = {_PROGRAM: 0.1}
    _ask_to_end(world, 2, said)
    _supervisor(world, is_bound=is_bound).run("/bin/it", ["it"])
    assert world.removed == ["unix:/s/socket"]
    assert [each[1:] for each in world.signals] == [(10, "SIGTERM")] * is_bound
    assert (_PROGRAM in world.parents) is not is_bound


def test_that_nobody_waits_for_an_orderly_end_when_the_inspector_has_ended(world: _World) -> None:
    _ask_to_end(world, 2)
    _ask_to_end(world, 2.5, b"")
    _supervisor(world).run("/bin/it", ["it"])
    assert [name for *_, name in world.signals] == ["SIGTERM", "SIGKILL"]
    assert world.signals[1][0] < 2.6


def test_that_the_topmost_processes_with_a_probe_are_asked_first(world: _World) -> None:
    # The program has started 11, that 12, that 13; 20 with 21 is somebody else's.
    for pid, parent in ((11, 10), (12, 11), (13, 12), (20, 7), (21, 20)):
        world.at(1, partial(world.add, pid, parent))
    world.obeys_s = dict.fromkeys((10, 11, 12, 13, 20, 21), 0.05)
    _ask_to_end(world, 2, b"en")
    _ask_to_end(world, 2, b"d 11 13 21 99\nmore")
    found = _supervisor(world)
    found.run("/bin/it", ["it"])
    first = sorted(pid for second, pid, _ in world.signals if second == 2.0)
    assert first == [10, 11, 21]
    assert sorted(pid for *_, pid, _ in world.signals) == [10, 11, 12, 13, 21]
    assert found._received == b"more"


def test_that_a_program_that_has_ended_is_not_asked_again(world: _World) -> None:
    world.at(1, lambda: world.add(11))
    world.at(2, lambda: world.end(_PROGRAM))
    _ask_to_end(world, 3, b"end 11\n")
    world.obeys_s = {11: 0.05}
    _supervisor(world).run("/bin/it", ["it"])
    assert world.signals == [(3.0, 11, "SIGTERM")]


# ----------------------------------------------------------------- with the real system


def _family(own: int, group: int, processes: dict[int, _Process]) -> set[int]:
    played: Any = SimpleNamespace(getpid=lambda: own, getpgrp=lambda: group)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(supervisor, "os", played)
        patch.setattr(supervisor, "_processes", lambda: processes)
        return Supervisor._family(Supervisor.__new__(Supervisor))


@pytest.mark.parametrize(
    ("is_linux", "group", "family"),
    [(True, 1, {2, 3}), (False, 1, {2, 3, 4, 6}), (False, 9, {2, 3})],
)
def test_that_orphans_are_known_by_their_group_on_other_systems(
    monkeypatch: pytest.MonkeyPatch, group: int, family: Iterable[int], *, is_linux: bool
) -> None:
    monkeypatch.setattr(supervisor, "_IS_LINUX", is_linux)
    processes = {
        1: _Process(0, group, "S"),
        2: _Process(1, group, "S"),
        3: _Process(2, 3, "S"),
        4: _Process(0, 1, "S"),
        5: _Process(0, 1, "Z"),
        6: _Process(4, 6, "S"),
        7: _Process(0, 7, "S"),
    }
    assert _family(1, group, processes) == family


def test_that_processes_are_read_as_the_system_tells_them() -> None:
    own = supervisor._processes()[os.getpid()]
    assert (own.parent, own.group) == (os.getppid(), os.getpgrp())
    assert own.state in {"R", "S"}
    assert supervisor._alive([os.getpid(), 2**30]) == {os.getpid()}
    assert supervisor._alive([]) == set()


def test_that_a_process_that_waits_to_be_reaped_is_not_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    processes = {n: _Process(1, 1, state) for n, state in enumerate("RZXS")}
    monkeypatch.setattr(supervisor, "_processes", lambda: processes)
    assert supervisor._alive([0, 1, 2, 3, 4]) == {0, 3}


@pytest.mark.parametrize("ignored", [None, signal.SIGHUP])
def test_that_signals_are_noted_and_orphans_inherited_from_the_beginning(
    monkeypatch: pytest.MonkeyPatch, ignored: int | None
) -> None:
    handled: dict[int, object] = {}
    woken: list[tuple[int, bool]] = []
    asked: list[tuple[int, ...]] = []
    played = SimpleNamespace(
        SIGCHLD=signal.SIGCHLD,
        SIG_IGN=signal.SIG_IGN,
        getsignal=lambda number: signal.SIG_IGN if number == ignored else signal.SIG_DFL,
        signal=handled.__setitem__,
        set_wakeup_fd=lambda fd, *, warn_on_full_buffer: woken.append((fd, warn_on_full_buffer)),
    )
    monkeypatch.setattr(supervisor, "signal", played)
    library = SimpleNamespace(prctl=lambda *given: asked.append(given))
    monkeypatch.setattr(supervisor, "ctypes", SimpleNamespace(CDLL=lambda _name: library))
    inspector, theirs = socket.socketpair()
    with inspector, theirs:
        found = Supervisor(inspector, 1.0, is_bound=True)
        with closing(found._waker), closing(found._writer):
            assert woken == [(found._writer.fileno(), False)]
            assert not found._waker.getblocking()
            assert not found._writer.getblocking()
            assert asked == [(36, 1, 0, 0, 0)]
            assert set(handled) == {signal.SIGCHLD, *supervisor._SHARED} - {ignored}
            assert (found._grace_s, found._is_bound, found._pid) == (1.0, True, 0)
            assert not found._has_exited
            # It was not interrupted just now, however young the system is.
            assert found._interrupted_s == -2.0

            found._writer.send(b"x" * 5_000)
            theirs.sendall(b"end 5 6\nrest")
            found._wait(1.0)
            with pytest.raises(BlockingIOError):
                found._waker.recv(1)
            assert found._asked() == [5, 6]
            assert found._asked() is None
            connected = [found._is_connected]
            theirs.close()
            found._wait(1.0)
            connected.append(found._is_connected)
            assert connected == [True, False]
            # The end of the connection is not noticed again and again.
            found._writer.send(b"x")
            found._wait(1.0)
            assert found._received == b"rest"


@pytest.mark.parametrize("after", [0, 3])
def test_that_the_socket_of_an_inspector_that_was_killed_is_removed(
    monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    place = tempfile.mkdtemp()
    path = Path(place) / "socket"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == after:
            listener.close()

    monkeypatch.setattr(supervisor, "sleep", sleep)
    monkeypatch.setattr(supervisor, "monotonic", lambda: 50 + sum(slept))
    if not after:
        listener.close()
    supervisor._remove_unheard(f"unix:{path}")
    assert not Path(place).exists()
    assert slept == [supervisor._LOOKED_EVERY_S] * (after + 1)


@pytest.mark.parametrize("kind", ["heard", "file", "nothing"])
def test_that_nothing_else_is_removed(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    now_s = 50.0

    def sleep(seconds: float) -> None:
        nonlocal now_s
        now_s += seconds

    monkeypatch.setattr(supervisor, "sleep", sleep)
    monkeypatch.setattr(supervisor, "monotonic", lambda: now_s)
    with tempfile.TemporaryDirectory() as place, closing(socket.socket(socket.AF_UNIX)) as listener:
        path = Path(place) / "socket"
        if kind == "heard":
            listener.bind(str(path))
            listener.listen(1_000)
        elif kind == "file":
            path.touch()
        supervisor._remove_unheard(f"unix:{path}")
        assert Path(place).exists()
        assert path.exists() is (kind != "nothing")
    assert now_s == pytest.approx(52.0 if kind == "heard" else 50.0, abs=0.03)


def test_that_the_command_line_says_how_a_program_is_supervised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[Any] = []

    class Played:
        def __init__(self, inspector: socket.socket, grace_s: float, *, is_bound: bool) -> None:
            begun.append((inspector, grace_s, is_bound))

        def run(self, executable: str, argv: list[str]) -> None:
            begun.append((executable, argv))

    monkeypatch.setattr(supervisor, "Supervisor", Played)
    ours, theirs = socket.socketpair()
    with theirs:
        for bound in ("1", "0"):
            descriptor = os.dup(ours.fileno())
            os.set_inheritable(descriptor, True)
            words = ["supervisor.py", str(descriptor), "2.5", bound, "/bin/it", "it", "-x"]
            monkeypatch.setattr(supervisor, "sys", SimpleNamespace(argv=words))
            supervisor.main()
        ours.close()
        (one, grace_s, is_bound), ran, (two, _, is_other_bound), _ = begun
        assert (grace_s, is_bound, is_other_bound) == (2.5, True, False)
        assert ran == ("/bin/it", ["it", "-x"])
        assert not os.get_inheritable(one.fileno())
        for each in (one, two):
            with suppress(OSError):
                each.close()
