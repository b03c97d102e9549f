"""Children of a program that was launched: by fork, multiprocessing and subprocess."""

from __future__ import annotations

import gc
import os
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from inspector.probe import starting
from tests.interpreters import VERSIONS, interpreter
from tests.probe.receiver import PATIENCE_S, PROJECT, TOKEN, Inlet, Receiver, dialled, inlet
from tests.probe.served import served

_BOOTSTRAP = PROJECT / "inspector" / "probe" / "bootstrap"


@pytest.fixture(params=VERSIONS)
def python(request: pytest.FixtureRequest) -> str:
    return interpreter(request.param)


@contextmanager
def launched(python: str, script: Path, opened: Inlet) -> Iterator[subprocess.Popen[str]]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(_BOOTSTRAP),
        "TIMELINE_PROBE_CONNECT": opened.address,
        "TIMELINE_PROBE_TOKEN": TOKEN,
    }
    process = subprocess.Popen(
        [python, "-W", "error", str(script)],
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _goodbye(receiver: Receiver) -> list[dict[str, Any]]:
    return receiver.said("Link.bye")


_FORKED = """
import asyncio, os, sys, threading
async def tick(count):
    for _ in range(count):
        await asyncio.sleep(0.01)
waiting = threading.Event()
threading.Thread(target=waiting.wait).start() if {with_thread} else None
child = os.fork()
if child == 0:
    asyncio.run(tick(30))
    os._exit(0)
asyncio.run(tick(30))
print(os.waitpid(child, 0)[1], flush=True)
waiting.set()
"""


def test_that_a_forked_child_dials_by_itself_and_its_parent_goes_on(
    python: str, tmp_path: Path
) -> None:
    script = tmp_path / "forks.py"
    script.write_text(_FORKED.format(with_thread=False))
    with (
        inlet() as opened,
        launched(python, script, opened) as process,
        closing(opened.accepted()) as parent,
        closing(opened.accepted()) as child,
    ):
        assert child.hello["parent_pid"] == parent.hello["pid"]
        assert child.hello["pid"] != parent.hello["pid"]
        child.wait_for(lambda: _goodbye(child))
        parent.wait_for(lambda: _goodbye(parent))
        assert child.firings().total() >= 29
        assert parent.firings().total() >= 29
        # Not even a warning: -W error would have made it one of the program's own.
        assert process.communicate(timeout=PATIENCE_S) == ("0\n", "")


_DAEMON = """
import os, select, sys, time
if os.fork():
    print(os.wait()[1], flush=True)
    sys.exit()
os.closerange(3, 256)
files = [open(sys.argv[0] + str(number), "w+") for number in range(20)]
while sys.stdin not in select.select([sys.stdin], [], [], 0)[0]:
    time.sleep(0.01)
print(sum(len(file.read()) for file in files), flush=True)
os._exit(0)
"""


def test_that_a_daemon_that_closes_what_it_does_not_know_dials_again(
    python: str, tmp_path: Path
) -> None:
    script = tmp_path / "daemon.py"
    script.write_text(_DAEMON)
    with (
        inlet() as opened,
        launched(python, script, opened) as process,
        closing(opened.accepted()),
        closing(opened.accepted()) as forked,
        closing(opened.accepted()) as daemon,
    ):
        assert daemon.hello["pid"] == forked.hello["pid"]
        daemon.wait_for(lambda: daemon.firings().total() >= 5)
        # Its files have the numbers of the sockets that it has closed, and stay open and empty.
        assert process.communicate("end\n", timeout=PATIENCE_S) == ("0\n0\n", "")


_LOCKED = """
import os, threading, timeline_probe
program = timeline_probe.starting._program
has_locked, may_go = threading.Event(), threading.Event()
def lock():
    with program.clocks.lock, program._text_lock:
        has_locked.set()
        may_go.wait()
thread = threading.Thread(target=lock)
thread.start()
has_locked.wait()
child = os.fork()
if child == 0:
    program.text("free")
    os._exit(3)
may_go.set()
thread.join()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def test_that_a_child_does_not_wait_for_what_another_thread_had_locked(
    python: str, tmp_path: Path
) -> None:
    script = tmp_path / "locks.py"
    script.write_text("import warnings; warnings.simplefilter('ignore')\n" + _LOCKED)
    with (
        inlet() as opened,
        launched(python, script, opened) as process,
        closing(opened.accepted()),
        closing(opened.accepted()),
    ):
        assert process.communicate(timeout=PATIENCE_S)[0] == "3\n"


_LOOPS = """
import asyncio, os, threading, time, warnings
warnings.simplefilter("ignore")
async def tick(count):
    for _ in range(count):
        await asyncio.sleep(0.01)
def run(count):
    asyncio.run(tick(count))
threading.Thread(target=run, args=(300,), daemon=True).start()
time.sleep(0.1)
child = os.fork()
run(100)
os._exit(0) if child == 0 else os.waitpid(child, 0)
"""


def test_that_a_loop_of_another_thread_is_not_there_in_a_child(python: str, tmp_path: Path) -> None:
    script = tmp_path / "loops.py"
    script.write_text(_LOOPS)
    with (
        inlet() as opened,
        launched(python, script, opened),
        closing(opened.accepted()) as parent,
        closing(opened.accepted()) as child,
    ):
        child.wait_until_complete()
        child.wait_for(lambda: child.firings().total() > 3)
        assert [name for name in child.clocks() if "asyncio" in name] == ["asyncio loop"]
        parent.wait_for(lambda: sum("asyncio" in name for name in parent.clocks()) == 2)


_TOGETHER = """
import threading, timeline_probe as probe
def own_threads():
    return sum(each.name == "timeline-probe" for each in threading.enumerate())
found = [own_threads()]
second, first = threading.Event(), threading.Event()
def fork_first():
    probe.starting._before_fork()
    second.wait()
    probe.starting._after_fork()
    found.append(own_threads())
    first.set()
def fork_second():
    probe.starting._before_fork()
    second.set()
    first.wait()
    probe.starting._after_fork()
threads = [threading.Thread(target=each) for each in (fork_first, fork_second)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(found, own_threads(), flush=True)
"""


def test_that_no_thread_of_the_probe_runs_while_any_thread_forks(
    python: str, tmp_path: Path
) -> None:
    script = tmp_path / "together.py"
    script.write_text(_TOGETHER)
    with (
        inlet() as opened,
        launched(python, script, opened) as process,
        closing(opened.accepted()),
    ):
        assert process.communicate(timeout=PATIENCE_S) == ("[1, 0] 1\n", "")


_NUMBERED = """
import os, threading
child = os.fork()
if child == 0:
    os._exit(threading.main_thread().native_id != threading.get_native_id())
print(os.waitpid(child, 0)[1], flush=True)
"""


def test_that_the_thread_of_a_forked_child_is_known_by_its_new_number(
    python: str, tmp_path: Path
) -> None:
    script = tmp_path / "numbered.py"
    script.write_text(_NUMBERED)
    with (
        inlet() as opened,
        launched(python, script, opened) as process,
        closing(opened.accepted()),
        closing(opened.accepted()),
    ):
        assert process.communicate(timeout=PATIENCE_S) == ("0\n", "")


_PREPARED = """
import os, subprocess, sys
for _ in range(3):
    subprocess.run(["true"], preexec_fn=os.setpgrp, check=True)
child = subprocess.run([sys.executable, "-c", "print(7)"], preexec_fn=os.setpgrp)
child = os.fork()
if child == 0:
    os._exit(0)
print(os.waitpid(child, 0)[1], flush=True)
"""


def test_that_what_only_prepares_another_program_does_not_dial(python: str, tmp_path: Path) -> None:
    script = tmp_path / "prepares.py"
    script.write_text(_PREPARED)
    with (
        inlet() as opened,
        launched(python, script, opened) as process,
        closing(opened.accepted()) as parent,
        closing(opened.accepted()) as child,
        closing(opened.accepted()) as forked,
    ):
        assert child.hello["name"] == "python -c"
        assert forked.hello["parent_pid"] == parent.hello["pid"]
        assert process.communicate(timeout=PATIENCE_S) == ("7\n0\n", "")


_TWICE = """
import os
for _ in range(6):
    child = os.fork()
    if child == 0:
        grandchild = os.fork()
        if grandchild == 0:
            os._exit(0)
        os.waitpid(grandchild, 0)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""


def test_that_forking_again_at_once_warns_of_no_threads(python: str, tmp_path: Path) -> None:
    script = tmp_path / "twice.py"
    script.write_text(_TWICE)
    with inlet() as opened:
        opened.close()
        # Nothing listens any more: every child tries, and goes on.
        with launched(python, script, opened) as process:
            _, errors = process.communicate(timeout=PATIENCE_S)
            assert process.returncode == 0
            assert "DeprecationWarning" not in errors


_WORKERS = """
import multiprocessing, sys, time
def work():
    for _ in range(30):
        time.sleep(0.01)
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1] if sys.argv[1:] else {method!r})
    child = context.Process(target=work)
    child.start()
    child.join()
    print(child.exitcode, flush=True)
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_that_a_process_of_multiprocessing_is_seen_whole(
    python: str, tmp_path: Path, method: str
) -> None:
    script = tmp_path / "workers.py"
    script.write_text(_WORKERS.format(method=method))
    with (
        inlet() as opened,
        launched(python, script, opened) as process,
        closing(opened.accepted()) as parent,
        closing(opened.accepted()) as child,
    ):
        child.wait_for(lambda: _goodbye(child))
        assert child.firings().total() >= 29
        parent.wait_for(lambda: _goodbye(parent))
        assert process.communicate(timeout=PATIENCE_S) == ("0\n", "")


def test_that_forks_are_followed_once_however_often_a_program_is_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    followed: list[object] = []
    monkeypatch.setattr(starting, "_is_forkable", False)
    monkeypatch.setattr(starting, "when_left", lambda _close: None)
    monkeypatch.setattr(os, "register_at_fork", lambda **hooks: followed.append(hooks))

    starting._handle_forks()
    starting._handle_forks()

    assert len(followed) == 1


def test_that_a_child_is_not_told_of_what_its_parent_collects() -> None:
    before = len(gc.callbacks)
    with served() as opened:
        receiver = dialled(opened.address)
        receiver.wait_until_complete()
        opened.link.stop()
        opened.link.abandon()
        assert len(gc.callbacks) == before
        receiver.close()
