"""Programs in other processes with the real probe inside: control, and how they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from threading import Thread

import pytest

from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.clocks import SetRate
from inspector.commands.timers import ClearTimer
from inspector.commands.transport import Hold, Run, StepToNextTimer
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.sessions.attached.doors.launch import Launch, Launched
from inspector.sessions.attached.session import AttachedSession
from inspector.sessions.session import SessionPhase
from inspector.vocabulary import TIMER_FIRED
from tests.sessions.attached.settling import attached, settle

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes of POSIX")

_PATIENCE_S = 30.0

#: Beats every 50 ms, and notes each beat in a file.
BEATING = """
import asyncio, sys

def beat(loop, file):
    file.write(".")
    file.flush()
    loop.call_later(0.05, beat, loop, file)

async def main():
    loop = asyncio.get_running_loop()
    loop.call_later(3_600, print)
    with open(sys.argv[1], "a") as file:
        beat(loop, file)
        await asyncio.sleep(60)

asyncio.run(main())
"""

#: Holds a program and then waits to be killed.
HOLDING = """
import sys, time
from inspector.commands.transport import Hold
from inspector.sessions.attached.doors.launch import Launch
from inspector.sessions.attached.doors.launch import Launched
from inspector.sessions.attached.session import AttachedSession

session = AttachedSession(Launch((sys.executable, sys.argv[1], sys.argv[2])))
while not session.is_running:
    session.refresh()
    time.sleep(0.01)
session.submit(Hold())
while session.is_running:
    session.refresh()
    time.sleep(0.01)
print(session.pid, flush=True)
while True:
    session.refresh()
    time.sleep(0.05)
"""


class Beating:
    """A program that beats, and a session that is attached to it."""

    def __init__(self, folder: Path, source: str = BEATING) -> None:
        self.beats_file = folder / "beats"
        self.beats_file.touch()
        script = folder / "beating.py"
        script.write_text(source)
        self.session = AttachedSession(
            Launch((sys.executable, str(script), str(self.beats_file)), folder)
        )
        self.until(lambda: self.session.is_running and self.fired)

    @property
    def fired(self) -> int:
        return sum(each[1] == TIMER_FIRED for each in self.session.log.read().events)

    @property
    def beats(self) -> int:
        return self.beats_file.stat().st_size

    @property
    def clock(self) -> int:
        return self.session.own_clocks()[0][1]

    def until(self, is_true: Callable[[], object]) -> None:
        end_s = time.monotonic() + _PATIENCE_S
        while not is_true():
            assert time.monotonic() < end_s, self.session.status
            self.session.refresh()
            time.sleep(0.005)

    def look_for(self, seconds: float) -> None:
        """Look on for a time that is the subject of the test."""
        end_s = time.monotonic() + seconds
        self.until(lambda: time.monotonic() >= end_s)

    def close(self) -> None:
        opened = self.session._opened
        self.session.close()
        if isinstance(opened, Launched):
            with suppress(OSError):
                os.kill(opened.pid, signal.SIGKILL)
            opened.wait(_PATIENCE_S)


@pytest.fixture
def beating(tmp_path: Path) -> Iterator[Beating]:
    found = Beating(tmp_path)
    yield found
    found.close()


def test_that_a_held_program_stands_still_and_goes_on_without_a_burst(beating: Beating) -> None:
    session = beating.session
    session.submit(Hold())
    beating.until(lambda: not session.is_running)
    beating.look_for(0.1)
    local_ns, beats = session.timeline.local_ns(beating.clock), beating.beats
    beating.look_for(0.5)
    assert session.timeline.local_ns(beating.clock) == local_ns
    assert beating.beats == beats

    session.submit(Run())
    beating.until(lambda: session.is_running)
    beating.look_for(0.5)
    passed_ns = session.timeline.local_ns(beating.clock) - local_ns
    assert beating.beats - beats <= passed_ns / 50_000_000 + 2


def test_that_a_rate_and_steps_are_followed(beating: Beating) -> None:
    session = beating.session
    session.submit(SetRate(beating.clock, Fraction(1, 10)))
    beating.until(lambda: session.timeline.clocks[beating.clock].rate == Fraction(1, 10))
    beats = beating.beats
    beating.look_for(1.0)
    assert beating.beats - beats <= 5

    session.submit(Hold())
    beating.until(lambda: not session.is_running)
    beats = beating.beats
    session.submit(StepToNextTimer())
    beating.until(lambda: beating.beats == beats + 1)
    beating.until(lambda: session.status.phase is SessionPhase.HELD)


def test_that_a_timer_is_cleared_and_a_breakpoint_holds(beating: Beating) -> None:
    session = beating.session
    table = session.timeline.timers
    (late,) = (each for each in table.ids() if table.row(each).label == "print")
    session.submit(ClearTimer(late))
    beating.until(lambda: late not in table)
    session.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "beat")))
    beating.until(lambda: not session.is_running)
    assert "because" in session.status.message


def test_that_a_killed_program_is_told_with_its_signal(beating: Beating) -> None:
    pid = beating.session.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    beating.until(lambda: beating.session.status.phase is SessionPhase.ENDED)
    assert "it was ended by SIGKILL" in beating.session.status.message
    assert beating.session.timeline.timers


def test_that_a_stopped_program_is_told_and_comes_back(beating: Beating) -> None:
    pid = beating.session.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    beating.until(lambda: "does not answer" in beating.session.status.message)
    os.kill(pid, signal.SIGCONT)
    beating.until(lambda: "does not answer" not in beating.session.status.message)
    fired = beating.fired
    beating.until(lambda: beating.fired > fired or beating.session.status.phase.value == "ended")
    assert beating.session.status.phase is SessionPhase.RUNNING


def test_that_a_removed_socket_is_told_and_the_program_stays_attached(beating: Beating) -> None:
    session = beating.session
    Path(session.acceptor.address.removeprefix("unix:")).unlink()
    beating.until(lambda: "The socket was removed" in session.status.message)
    fired = beating.fired
    beating.until(lambda: beating.fired > fired)


def test_that_a_program_goes_on_when_the_inspector_is_killed_while_it_is_held(
    tmp_path: Path,
) -> None:
    script, beats = tmp_path / "beating.py", tmp_path / "beats"
    script.write_text(BEATING)
    beats.touch()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(script), str(beats)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    pid = int(holder.stdout.readline())
    try:
        size = beats.stat().st_size
        holder.kill()
        holder.wait()
        end_s = time.monotonic() + _PATIENCE_S
        while beats.stat().st_size < size + 10:
            assert time.monotonic() < end_s, "it stands still"
            time.sleep(0.02)
    finally:
        os.kill(pid, signal.SIGKILL)
        holder.stdout.close()


def test_that_ending_a_held_program_behind_a_shell_ends_the_session(tmp_path: Path) -> None:
    (tmp_path / "game.py").write_text("import time\nwhile True:\n    time.sleep(0.01)\n")
    told: list[str] = []
    shell = ("sh", "-c", f"trap '' TERM; {sys.executable} game.py | cat")
    session = AttachedSession(Launch(shell, tmp_path, grace_s=0.2, on_note=told.append))
    try:
        settle(session, session.own_clocks)
        session.submit(Hold())
        settle(session, lambda: not session.is_running)
        Thread(target=session.end_program).start()
        settle(session, lambda: session.status.phase is SessionPhase.ENDED)
    finally:
        session.end_program()
        session.close()
    assert told[-1].startswith("Killed (SIGKILL)")


FORKING = BEATING.replace(
    "asyncio.run(main())",
    """
import multiprocessing

if __name__ == "__main__":
    child = multiprocessing.get_context("fork").Process(target=lambda: asyncio.run(main()))
    child.start()
    asyncio.run(main())
""",
)


def test_that_a_child_process_is_a_program_of_its_own(tmp_path: Path) -> None:
    beating = Beating(tmp_path, FORKING)
    session = beating.session
    try:
        beating.until(lambda: len(session.own_clocks()) == 2)
        session.submit(Hold())
        beating.until(lambda: not session.is_running)
        parent, child = (program for program, _ in session.own_clocks())
        assert child.parent_pid == parent.pid
        os.kill(child.pid, signal.SIGKILL)
        beating.until(lambda: len(session.own_clocks()) == 1)
    finally:
        beating.close()


def test_that_a_program_in_a_container_has_the_number_that_it_has_here(tmp_path: Path) -> None:
    container = ["unshare", "--pid", "--fork", "--kill-child"]
    try:
        subprocess.run([*container, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this user cannot make a container")
    script = tmp_path / "numbered.py"
    script.write_text("import os, time\nif os.getpid() == 1:\n    os.fork()\ntime.sleep(100)\n")
    door = Launch((*container, sys.executable, str(script)), grace_s=0.5)
    with attached(door) as session:
        clocks = session.timeline.clocks
        # Either may be the first to dial, and is moved when the other has.
        settle(session, lambda: len(session.own_clocks()) == 2 and len(clocks[1].children) == 1)
        first, child = sorted(session.programs.values(), key=lambda each: each.pid)
        assert first.pid > 1
        assert child.parent_pid == first.pid
        assert Path(f"/proc/{child.pid}/cmdline").read_bytes().count(b"numbered.py")
        assert [clocks[each].name for each in clocks[1].children] == ["numbered.py with children"]
