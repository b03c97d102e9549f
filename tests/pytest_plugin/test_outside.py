"""Time while something outside of the program is awaited, and what keeps the machine's time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pytest_plugin.running import run_source

#: Each awaits an answer from another process, and has a time limit of a thousand seconds.
AWAITING = """
    import asyncio, os, socket, subprocess, sys, threading, time, pytest

    WAIT = "import sys, time; time.sleep(0.3); print('answer', flush=True)"
    SERVE = "; ".join([
        "import socket, time",
        "server = socket.create_server(('127.0.0.1', 0))",
        "print(server.getsockname()[1], flush=True)",
        "connection, _ = server.accept()",
        "time.sleep(0.3)",
        "connection.sendall(b'answer')",
    ])

    def a_process():
        run = subprocess.run([sys.executable, "-c", WAIT], capture_output=True, timeout=1000)
        return run.stdout.strip()

    def a_pipe():
        with subprocess.Popen([sys.executable, "-c", WAIT], stdout=subprocess.PIPE) as process:
            return process.stdout.readline().strip()

    def a_socket():
        with subprocess.Popen([sys.executable, "-c", SERVE], stdout=subprocess.PIPE) as process:
            port = int(process.stdout.readline())

            async def ask():
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                try:
                    return await asyncio.wait_for(reader.read(100), 1000)
                finally:
                    writer.close()

            return asyncio.run(ask())

    AWAITED = [a_process, a_pipe, a_socket]
"""


def test_that_time_passes_as_on_the_machine_while_others_are_awaited(tmp_path: Path) -> None:
    outcome = run_source(
        tmp_path,
        AWAITING
        + """
    @pytest.mark.parametrize("awaited", AWAITED)
    @pytest.mark.timeline(autojump=True, outside="pass")
    def test_passing(awaited, timeline):
        assert awaited() == b"answer"
        # Of 0.3 s, some had passed if this process waited for its turn.
        assert 0.05 < timeline.now < 60

    @pytest.mark.parametrize("awaited", AWAITED)
    @pytest.mark.timeline(autojump=True, outside="stand")
    def test_standing(awaited, timeline):
        assert awaited() == b"answer"
        assert timeline.now < 0.2
        """,
    )

    assert outcome.counts == {"passed": 6}, outcome.output


def test_that_time_jumps_over_what_is_awaited_if_asked_to(tmp_path: Path) -> None:
    outcome = run_source(
        tmp_path,
        AWAITING
        + """
    @pytest.mark.timeline(autojump=True, outside="jump")
    def test_socket(timeline):
        with pytest.raises(TimeoutError):
            a_socket()
        assert timeline.now >= 1000

    @pytest.mark.timeline(autojump=True, outside="jump")
    def test_threads(timeline):
        beats, done = [], threading.Event()

        def beat():
            while not done.wait(100):
                beats.append(None)
                if len(beats) == 50:
                    return

        thread = threading.Thread(target=beat)
        thread.start()
        assert a_process() == b"answer"
        thread.join()
        assert timeline.now >= 5000

    @pytest.mark.timeline(autojump=True, outside="jump")
    def test_file(tmp_path, timeline):
        path = tmp_path / "file"
        path.write_text("answer")
        time.sleep(100)
        assert path.read_text() == "answer"
        assert timeline.now == 100
        """,
    )

    assert outcome.counts == {"passed": 3}, outcome.output


def test_that_waiting_by_the_machines_time_is_said_where_it_is_done(tmp_path: Path) -> None:
    outcome = run_source(
        tmp_path,
        """
        import threading, pytest

        @pytest.mark.timeline(autojump=True)
        def test_it(timeline):
            lock = threading.Lock()
            lock.acquire()
            assert not lock.acquire(timeout=0.5)
            assert timeline.now > 0.2
        """,
    )

    assert outcome.counts == {"passed": 1, "warning": 1}, outcome.output
    assert "test_it.py:8: MachineTimeWarning: This waits by the machine's clock" in outcome.output


def test_that_threads_which_ran_before_wait_by_the_machines_time(tmp_path: Path) -> None:
    outcome = run_source(
        tmp_path,
        """
        import asyncio, contextlib, subprocess, threading, time, pytest

        counts = {"sleep": 0, "wait": 0, "join": 0, "start": 0, "loop": 0}
        goes_on = threading.Event()

        def forever(name, wait):
            while True:
                wait()
                counts[name] += 1

        def start():
            thread = threading.Thread(target=time.sleep, args=(0.01,))
            thread.start()
            thread.join()

        async def in_loop():
            with contextlib.suppress(RuntimeError):  # No more threads are started at the end.
                while True:
                    await asyncio.to_thread(time.sleep, 0.01)
                    counts["loop"] += 1

        never = threading.Thread(target=goes_on.wait, daemon=True)
        never.start()
        for name, wait in {
            "sleep": lambda: time.sleep(0.01),
            "wait": lambda: threading.Event().wait(0.01),
            "join": lambda: never.join(0.01),
            "start": start,
        }.items():
            threading.Thread(target=forever, args=(name, wait), daemon=True).start()
        threading.Thread(target=asyncio.run, args=(in_loop(),), daemon=True).start()
        while not all(counts.values()):
            time.sleep(0.01)

        @pytest.mark.timeline(hold=True)
        def test_it(timeline):
            before = dict(counts)
            while not all(counts[name] > before[name] + 2 for name in counts):
                subprocess.run(["sleep", "0.01"])
            timeline.advance(1)
            before = dict(counts)
            while not all(counts[name] > before[name] + 2 for name in counts):
                subprocess.run(["sleep", "0.01"])
            assert timeline.now == 1
        """,
    )

    assert outcome.counts == {"passed": 1}, outcome.output


def test_that_a_thread_which_is_being_started_before_waits_by_the_machines_time(
    tmp_path: Path,
) -> None:
    outcome = run_source(
        tmp_path,
        """
        import _thread, subprocess, threading, time, pytest

        goes_on = _thread.allocate_lock()
        goes_on.acquire()

        class Beginning(threading.Thread):
            def _set_native_id(self):
                goes_on.acquire()
                super()._set_native_id()

        beginning = Beginning(target=lambda: time.sleep(0.01), daemon=True)
        threading.Thread(target=beginning.start).start()
        while beginning not in threading._limbo:
            pass

        @pytest.mark.timeline(hold=True)
        def test_it():
            goes_on.release()
            while beginning.ident is None or beginning.is_alive():
                subprocess.run(["sleep", "0.01"])
        """,
    )

    assert outcome.counts == {"passed": 1}, outcome.output


def test_that_a_thread_with_the_number_of_one_that_ran_before_waits_in_virtual_time(
    tmp_path: Path,
) -> None:
    outcome = run_source(
        tmp_path,
        """
        import threading, time, pytest

        goes_on = threading.Event()
        before = threading.Thread(target=goes_on.wait)
        before.start()

        @pytest.mark.timeline(autojump=True)
        def test_it(timeline):
            goes_on.set()
            while before.is_alive():
                pass
            numbers = set()
            while before.ident not in numbers:
                if len(numbers) > 100:
                    pytest.skip("this system gives no number again")
                thread = threading.Thread(target=time.sleep, args=(1000,))
                thread.start()
                thread.join()
                numbers.add(thread.ident)
            assert timeline.now >= 1000
        """,
    )

    assert outcome.counts == {"passed": 1}, outcome.output


def test_that_a_python_whose_datetime_cannot_follow_says_so(tmp_path: Path) -> None:
    outcome = run_source(
        tmp_path,
        """
        import sys, pytest
        from datetime import datetime, timedelta

        sys.modules["ctypes"] = None

        @pytest.mark.timeline(hold=True)
        def test_it(timeline):
            before = datetime.now()
            timeline.advance(60)
            assert datetime.now() - before < timedelta(seconds=50)
        """,
    )

    assert outcome.counts == {"passed": 1, "warning": 1}, outcome.output
    assert "MachineTimeWarning: in this Python, datetime.now() keeps" in outcome.output


@pytest.mark.parametrize("library", ["gevent", "wx"])
def test_that_a_library_without_an_adapter_is_named(tmp_path: Path, library: str) -> None:
    (tmp_path / f"{library}.py").write_text(
        "import threading\n"
        "def sleep(seconds):\n"
        "    lock = threading.Lock()\n"
        "    lock.acquire()\n"
        "    lock.acquire(timeout=seconds)\n"
    )
    outcome = run_source(
        tmp_path,
        f"""
        import pytest, {library}

        @pytest.mark.timeline(autojump=True)
        def test_it():
            {library}.sleep(0.5)
        """,
    )

    assert outcome.counts == {"passed": 1, "warning": 1}, outcome.output
    assert "its timers are not seen, and keep the machine's time." in outcome.output
