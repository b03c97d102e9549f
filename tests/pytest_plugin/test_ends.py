"""How tests in virtual time end: at once when nothing can happen, and time is let go."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.probe.adapters.libraries import display
from tests.pytest_plugin.running import run_source

STUCK = {
    "asyncio": """
        import asyncio, pytest

        @pytest.mark.timeline(autojump=True)
        def test_it():
            asyncio.run(asyncio.wait_for(waiting(), None))

        async def waiting():
            await asyncio.Event().wait()
    """,
    "threads": """
        import threading, pytest

        @pytest.mark.timeline(autojump=True)
        def test_it():
            waiting()

        def waiting():
            threading.Event().wait()
    """,
    "joins": """
        import threading, pytest

        @pytest.mark.timeline(autojump=True)
        def test_it():
            event = threading.Event()
            thread = threading.Thread(target=waiting, args=(event,), daemon=True)
            thread.start()
            thread.join()

        def waiting(event):
            event.wait()
    """,
    "trio": """
        import trio, pytest

        @pytest.mark.trio
        @pytest.mark.timeline(autojump=True)
        async def test_it():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(waiting)

        async def waiting():
            await trio.sleep_forever()
    """,
    "twisted": """
        import pytest, pytest_twisted
        from twisted.internet import defer

        @pytest.mark.timeline(autojump=True)
        @pytest_twisted.inlineCallbacks
        def test_it():
            yield waiting()

        def waiting():
            return defer.Deferred()
    """,
    "qt": """
        import pytest
        from PySide6.QtCore import QEventLoop

        @pytest.mark.timeline(autojump=True)
        def test_it(qapp):
            waiting()

        def waiting():
            QEventLoop().exec()
    """,
    "uvloop": """
        import asyncio, pytest
        uvloop = pytest.importorskip("uvloop")

        @pytest.mark.timeline(autojump=True)
        def test_it():
            uvloop.run(waiting())

        async def waiting():
            await asyncio.Event().wait()
    """,
    "tkinter": """
        import pytest, tkinter

        @pytest.mark.timeline(autojump=True)
        def test_it():
            waiting(tkinter.Tk())

        def waiting(root):
            root.mainloop()
    """,
    "locks": """
        import threading, pytest

        @pytest.mark.timeline(autojump=True)
        def test_it():
            waiting(threading.Lock())

        def waiting(lock):
            lock.acquire()
            lock.acquire()
    """,
}


@pytest.mark.parametrize("library", STUCK)
def test_that_a_test_which_waits_for_nothing_fails_at_once(
    tmp_path: Path, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugins = (library,) if library in {"trio", "twisted", "qt"} else ()
    with ExitStack() as stack:
        if library == "tkinter":
            monkeypatch.setenv("DISPLAY", stack.enter_context(display()))
        outcome = run_source(tmp_path, STUCK[library], plugins=plugins)
    if outcome.counts.keys() == {"skipped"}:
        pytest.skip(f"{library} is not installed")

    assert outcome.counts.get("failed") == 1, outcome.output
    assert "Nothing will end what the test waits for" in outcome.output
    assert "Timeout" not in outcome.output
    if library != "twisted":
        # Nothing tells who waits for a Deferred.
        assert " in waiting" in outcome.output
    if library in {"asyncio", "threads", "joins"}:
        # The traceback ends in the test.
        output = outcome.output
        assert output.index("test_it.py:") < output.index("Nothing will end what the test waits")
        assert "inspector/probe/waits.py" not in output
        assert "threading.py" not in output


def test_that_the_whole_traceback_of_a_wait_is_shown_if_asked_for(tmp_path: Path) -> None:
    outcome = run_source(tmp_path, STUCK["threads"], "--full-trace")

    assert "inspector/probe/waits.py" in outcome.output


def test_that_a_test_fails_at_once_that_waits_while_time_is_held(tmp_path: Path) -> None:
    outcome = run_source(
        tmp_path,
        """
        import time, pytest

        @pytest.mark.timeline(hold=True)
        def test_it():
            time.sleep(5)
        """,
    )

    assert outcome.counts.get("failed") == 1
    assert "Time is held while the test waits" in outcome.output
    assert "time.sleep, due in 5 s, set at" in outcome.output
    assert "test_it.py:6 in test_it; the program's time is held" in outcome.output


def test_that_time_is_let_go_after_a_failure_and_an_interrupt(tmp_path: Path) -> None:
    outcome = run_source(
        tmp_path,
        """
        import threading, time, pytest

        done = threading.Event()

        @pytest.mark.timeline(hold=True)
        def test_failing():
            threading.Timer(0.01, done.set).start()
            assert False

        def test_what_waits_goes_on():
            assert done.wait(20)
            began = time.monotonic()
            time.sleep(0.05)
            assert 0.05 <= time.monotonic() - began < 20

        @pytest.mark.timeline(hold=True)
        def test_interrupted():
            with pytest.raises(KeyboardInterrupt):
                raise KeyboardInterrupt

        @pytest.mark.timeline(autojump=True)
        def test_again():
            time.sleep(1000)
        """,
    )

    assert outcome.counts == {"failed": 1, "passed": 3}, outcome.output


def test_that_fixtures_wait_in_virtual_time_too(tmp_path: Path) -> None:
    outcome = run_source(
        tmp_path,
        """
        import asyncio, time, pytest, pytest_asyncio

        @pytest_asyncio.fixture(loop_scope="module", scope="module")
        async def server():
            await asyncio.sleep(1000)
            yield "server"
            await asyncio.sleep(1000)

        @pytest.fixture
        def slow():
            time.sleep(1000)
            yield
            time.sleep(1000)

        @pytest.mark.asyncio(loop_scope="module")
        @pytest.mark.timeline(hold=True)
        async def test_held(server, slow, timeline):
            assert timeline.now == 0

        @pytest.mark.asyncio(loop_scope="module")
        @pytest.mark.timeline(autojump=True)
        async def test_jumping(server, timeline):
            await asyncio.sleep(10)
            assert timeline.now == 10
        """,
        plugins=("asyncio",),
    )

    assert outcome.counts == {"passed": 2}, outcome.output


def test_that_loops_go_on_after_a_test_that_waited_for_nothing(tmp_path: Path) -> None:
    outcome = run_source(
        tmp_path,
        """
        import pytest
        from PySide6.QtCore import QEventLoop, QTimer

        @pytest.mark.timeline(autojump=True)
        def test_waiting_for_nothing(qapp):
            QEventLoop().exec()

        @pytest.mark.timeline(autojump=True)
        def test_waiting_for_a_timer(qapp, timeline):
            loop = QEventLoop()
            QTimer.singleShot(5000, loop.quit)
            loop.exec()
            assert timeline.now == 5
        """,
        plugins=("qt",),
    )

    assert outcome.counts == {"failed": 1, "passed": 1}, outcome.output


def test_that_an_interrupt_lets_time_go(tmp_path: Path) -> None:
    outcome = run_source(
        tmp_path,
        """
        import signal, threading, time, pytest

        @pytest.fixture(scope="session", autouse=True)
        def looking():
            yield
            began = time.monotonic()
            time.sleep(0.05)
            print("slept really:", 0.05 <= time.monotonic() - began < 20)

        @pytest.mark.timeline(hold=True)
        def test_it():
            signal.raise_signal(signal.SIGINT)

        def test_after():
            pass
        """,
    )

    assert "KeyboardInterrupt" in outcome.output
    assert "slept really: True" in outcome.output
    assert "test_after" not in outcome.output


def test_that_fixtures_of_a_session_wait_once_and_loops_may_be_nested(tmp_path: Path) -> None:
    outcome = run_source(
        tmp_path,
        """
        import asyncio, threading, time, pytest

        @pytest.fixture(scope="session")
        def beats():
            found, done = [], threading.Event()

            def beating():
                while not done.wait(100):
                    found.append(None)

            thread = threading.Thread(target=beating)
            thread.start()
            time.sleep(250)
            assert len(found) == 2
            yield found
            done.set()
            thread.join()

        @pytest.mark.parametrize("number", range(2))
        def test_fixture(beats, number):
            before = len(beats)
            time.sleep(1000)
            assert len(beats) - before == 10

        async def outer():
            await asyncio.sleep(10)
            return await asyncio.to_thread(asyncio.run, asyncio.sleep(20, "inner"))

        def test_nested(timeline):
            assert asyncio.run(outer()) == "inner"
            assert timeline.now == pytest.approx(30)
        """,
        "--timeline-autojump",
        "-p",
        "no:randomly",
    )

    assert outcome.counts == {"passed": 3}, outcome.output


def test_that_workers_of_xdist_run_in_virtual_time(tmp_path: Path) -> None:
    outcome = run_source(
        tmp_path,
        """
        import asyncio, time, pytest

        @pytest.mark.parametrize("number", range(3))
        def test_it(number):
            asyncio.run(asyncio.sleep(500))
            time.sleep(500)
        """,
        "--timeline-autojump",
        "-n1",
        plugins=("xdist",),
    )

    assert outcome.counts == {"passed": 3}, outcome.output


def test_that_a_wrong_argument_of_the_mark_is_refused(tmp_path: Path) -> None:
    outcome = run_source(
        tmp_path,
        """
        import pytest

        @pytest.mark.timeline(speed=3)
        def test_it():
            pass
        """,
    )

    assert "no such argument of the mark timeline: speed" in outcome.output


TIMING_OUT = """
    import sys, threading, time, pytest

    @pytest.mark.timeline(autojump=True)
    def test_sleeping(timeline):
        time.sleep(1000)

    @pytest.mark.timeout(0.1)
    @pytest.mark.timeline(autojump=True)
    def test_computing(timeline):
        threading.Timer(5, print).start()
        # The report is written by another thread, which is given its turns soon.
        sys.setswitchinterval(1e-5)
        while True:
            pass
"""


@pytest.mark.parametrize("function_only", ["true", "false"])
def test_that_a_time_out_which_ends_the_process_reports_before(
    tmp_path: Path, function_only: str
) -> None:
    options = ("--timeout-method=thread", "-o", f"timeout_func_only={function_only}")
    outcome = run_source(tmp_path, TIMING_OUT, *options, "--timeline=retain-on-failure")

    assert "test_sleeping PASSED" in outcome.output
    assert "Stack of MainThread" in outcome.output
    assert "print, due in 5 s; the program's time is held" in outcome.output
    recorded = outcome.output.partition("\nrecorded ")[2].splitlines()[0]
    assert Path(recorded).exists()


def test_that_a_time_out_reports_what_was_pending_then(tmp_path: Path) -> None:
    try:
        Path("/dev/ptmx").open("rb").close()
    except OSError:
        pytest.skip("this system has no pseudo terminals")
    outcome = run_source(
        tmp_path,
        """
        import asyncio, socket, pytest

        @pytest.mark.timeout(1)
        @pytest.mark.timeline(autojump=True, outside="stand")
        def test_it():
            asyncio.run(waiting())

        async def waiting():
            ours, theirs = socket.socketpair()
            asyncio.get_running_loop().call_later(77, print)
            with open("/dev/ptmx", "rb", buffering=0) as file:
                asyncio.get_running_loop().add_reader(file, print)
                await asyncio.Event().wait()
        """,
    )

    assert outcome.counts == {"failed": 1}, outcome.output
    assert "Timeout (>1.0s)" in outcome.output
    assert "print, due in 77 s, set at" in outcome.output
    assert " in waiting" in outcome.output
