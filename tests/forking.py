"""Runs tests in processes that are forked once all tests are collected: ``--forks``.

Workers of pytest-xdist collect all tests again, each, and take as long for reports of a small
test as the test itself takes. So there are few of them, and processors are idle while these wait
for programs and browsers. Forked ones share what is collected, and there may be more.
"""

from __future__ import annotations

import atexit
import mmap
import os
import pickle
import select
import selectors
import signal
import struct
import threading
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Final, NoReturn

import pytest

#: At most so many tests are taken at a time: more of a file share what its fixtures prepare, but
#: the last to be taken are then no longer few.
_MOST_AT_A_TIME: Final = 40
#: An interrupted process cleans up in this time, or is killed.
_PATIENCE_S: Final = 20
_NUMBER: Final = struct.Struct("=i")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--forks",
        default="0",
        metavar="N",
        help="run tests in N processes that are forked after collecting (Linux); auto for two for "
        "each processor, 0 for none",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    option = session.config.option
    count = 2 * (os.cpu_count() or 1) if option.forks == "auto" else int(option.forks)
    if not count or option.collectonly or session.testsfailed:
        return None
    run = _ForkedRun(session)
    waiting: Sequence[int] = range(len(session.items))
    while waiting:
        # What a process that died had taken is run by others.
        waiting = run.run(waiting, min(count, len(waiting)))
    return True


@dataclass
class _Worker:
    """A process that runs tests.

    Attributes:
        number: Of all that there have been.
        pid: Its process.
        results: Where its reports can be read.
        ended: A file that can be read once it has ended.
        begun: The place of the test that it runs, -1 before the first.
        heard: What has been read so far of its next message.
    """

    number: int
    pid: int
    results: int
    ended: int
    begun: mmap.mmap
    heard: bytearray = field(default_factory=bytearray)


class _ForkedRun:
    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._config = session.config
        self._done: set[int] = set()
        self._forked = 0
        # It is looked for below by processes; this one makes it.
        self._folder = self._config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]

    def run(self, waiting: Sequence[int], count: int) -> list[int]:
        """Run the tests at these places; return those that are left over by what died."""
        portions = list(_portions([self._session.items[each] for each in waiting], count))
        # Whoever reads a number has the portion: nobody needs to hand it out.
        numbers, handed = os.pipe()
        os.write(handed, b"".join(map(_NUMBER.pack, range(len(portions)))))
        os.close(handed)
        workers = [
            self._fork(numbers, [waiting[begin:end] for begin, end in portions])
            for _ in range(count)
        ]
        os.close(numbers)
        try:
            self._hear(workers)
        finally:
            for worker in workers:
                if worker.ended >= 0:
                    _end(worker)
        return [each for each in waiting if each not in self._done]

    def _fork(self, numbers: int, portions: list[Sequence[int]]) -> _Worker:
        self._forked += 1
        results, said = os.pipe()
        begun = mmap.mmap(-1, _NUMBER.size)
        begun[:] = _NUMBER.pack(-1)
        pid = os.fork()
        if not pid:
            os.close(results)
            self._work(numbers, portions, said, begun)
        os.close(said)
        os.set_blocking(results, False)
        # Only Linux has this.
        ended = os.pidfd_open(pid)  # type: ignore[attr-defined,unused-ignore]
        return _Worker(self._forked, pid, results, ended, begun)

    def _hear(self, workers: list[_Worker]) -> None:
        with selectors.DefaultSelector() as selector:
            for worker in workers:
                selector.register(worker.results, selectors.EVENT_READ, worker)
                selector.register(worker.ended, selectors.EVENT_READ, worker)
            while selector.get_map():
                for key, _ in selector.select():
                    worker = key.data
                    if worker.ended < 0:
                        continue
                    is_open = self._read(worker)
                    if key.fd == worker.ended:
                        selector.unregister(worker.ended)
                        self._take_leave(worker)
                        is_open = False
                    if not is_open and worker.results in selector.get_map():
                        selector.unregister(worker.results)
                        os.close(worker.results)

    def _read(self, worker: _Worker) -> bool:
        """Take in what a process has reported; return whether more may come."""
        try:
            while read := os.read(worker.results, 1 << 20):
                worker.heard += read
                self._report_what_is_whole(worker)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def _report_what_is_whole(self, worker: _Worker) -> None:
        heard = worker.heard
        while len(heard) >= _NUMBER.size:
            (size,) = _NUMBER.unpack_from(heard)
            end = _NUMBER.size + size
            if len(heard) < end:
                return
            place, reports = pickle.loads(heard[_NUMBER.size : end])  # noqa: S301 - our own
            del heard[:end]
            self._done.add(place)
            hook = self._config.hook
            for each in reports:
                self._log(
                    worker, hook.pytest_report_from_serializable(config=self._config, data=each)
                )

    def _log(self, worker: _Worker, report: Any) -> None:  # noqa: ANN401 - of some plugin
        # As pytest-xdist has it: what is printed beside the test with -v, and above a failure.
        name = f"fork{worker.number}"
        gateway = SimpleNamespace(id=name)
        report.node = SimpleNamespace(gateway=gateway, _workerinfocache=f"[{name}]")
        self._config.hook.pytest_runtest_logreport(report=report)
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)

    def _take_leave(self, worker: _Worker) -> None:
        os.close(worker.ended)
        worker.ended = -1
        _, status = os.waitpid(worker.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        (place,) = _NUMBER.unpack(worker.begun)
        if not code:
            return
        if place < 0 or place in self._done:
            raise RuntimeError(f"a process ended between tests, with exit code {code}")
        self._done.add(place)
        item = self._session.items[place]
        text = f"the process that ran {item.nodeid} ended with exit code {code}"
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", text, "call")
        self._log(worker, report)

    def _work(
        self, numbers: int, portions: list[Sequence[int]], said: int, begun: mmap.mmap
    ) -> NoReturn:
        """Run what nobody else does, in a process of its own, and end it."""
        code = 1
        manager = self._config.pluginmanager
        capture: Any = manager.getplugin("capturemanager")
        try:
            atexit._clear()
            # Before Python 3.13, nobody else does.
            threading.current_thread()._set_native_id()  # type: ignore[attr-defined]
            manager.unregister(name="terminalreporter")
            # The files that it writes to would be shared.
            capture.stop_global_capturing()
            capture.start_global_capturing()
            factory = self._config._tmp_path_factory  # type: ignore[attr-defined]
            factory._given_basetemp = self._folder / f"fork{self._forked}"
            factory._basetemp = None
            sender = _Sender(self._config, said)
            manager.register(sender)
            self._run_portions(_taken(numbers, portions), sender, begun)
            code = 0
        except KeyboardInterrupt:
            pass
        except BaseException:  # noqa: BLE001 - the others go on
            capture.stop_global_capturing()
            traceback.print_exc()
        finally:
            try:
                self._session._setupstate.teardown_exact(None)
                atexit._run_exitfuncs()
            finally:
                os._exit(code)

    def _run_portions(self, taken: Iterator[int], sender: _Sender, begun: mmap.mmap) -> None:
        """Run one test after the other, knowing the next, whose fixtures are kept."""
        items = self._session.items
        place = next(taken, None)
        while place is not None:
            begun[:] = _NUMBER.pack(place)
            following = next(taken, None)
            item = items[place]
            item.config.hook.pytest_runtest_protocol(
                item=item, nextitem=None if following is None else items[following]
            )
            sender.send(place)
            place = following


class _Sender:
    """Sends reports to the process that prints them."""

    def __init__(self, config: pytest.Config, said: int) -> None:
        self._config = config
        self._file = os.fdopen(said, "wb")
        self._reports: list[object] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # There are two more for each test, which say nothing.
        if report.when == "call" or not report.passed or self._config.option.durations is not None:
            hook = self._config.hook
            data = hook.pytest_report_to_serializable(config=self._config, report=report)
            self._reports.append(data)

    def send(self, place: int) -> None:
        message = pickle.dumps((place, self._reports))
        self._file.write(_NUMBER.pack(len(message)) + message)
        self._file.flush()
        self._reports.clear()


def _end(worker: _Worker) -> None:
    os.kill(worker.pid, signal.SIGINT)
    if not select.select([worker.ended], [], [], _PATIENCE_S)[0]:
        os.kill(worker.pid, signal.SIGKILL)
    os.waitpid(worker.pid, 0)


def _taken(numbers: int, portions: list[Sequence[int]]) -> Iterator[int]:
    while number := os.read(numbers, _NUMBER.size):
        yield from portions[_NUMBER.unpack(number)[0]]


def _portions(items: list[pytest.Item], count: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of tests that are run together: the fewer are left, the smaller."""
    begin = 0
    while begin < len(items):
        end = begin + max(1, min(_MOST_AT_A_TIME, (len(items) - begin) // (3 * count)))
        # Rather with the end of a file, whose fixtures are then not made again.
        ends = [
            place
            for place in range((begin + end + 1) // 2, end + 1)
            if place == len(items) or items[place].path != items[place - 1].path
        ]
        end = ends[-1] if ends else end
        yield begin, end
        begin = end
