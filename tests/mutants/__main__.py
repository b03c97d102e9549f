"""How much the tests notice: small faults are put into the code, one at a time.

``python -m tests.mutants --count 300 --seed 1`` draws places at random, changes each in a copy of
the project, and runs the tests that execute the changed line, the nearest and quickest first and a
minute of them at most. One run of all tests finds out which these are and how long they take, also
where a program that a test starts executes the line (``--lines FILE`` keeps that for the next time,
while the code stays the same; tests that are new since then are tried too). For what an import
executes, those that import the module are run too; where none is known, and for what runs in other
Pythons, also those beside it. A fault that no test notices is printed; too many of them fail.

``--workers N`` shares the faults among N copies. Each has a process that has collected all tests,
and forks for each run: functions get the code of the changed file there. What an import executes is
tried by Python started again.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from types import CodeType, FunctionType
from typing import Final, NoReturn

import pytest

from tests.mutants.faults import PROJECT, Mutant, drawn
from tests.mutants.lines import Lines, measure_lines

#: What decides about time, numbers and what is said about them.
SUBJECTS: Final = (
    "inspector/analysis/explain",
    "inspector/analysis/statistics",
    "inspector/calls",
    "inspector/clocks",
    "inspector/commands",
    "inspector/events",
    "inspector/frames/scheduler",
    "inspector/probe",
    "inspector/sessions",
)
_COPIED: Final = ("inspector", "ui", "tests", "resources", "pyproject.toml", "README.md", ".ci")
#: Tests that take longer than so many times as long as otherwise, and seconds, have noticed it.
_TEST_LIMIT: Final = 10
_TEST_LIMIT_S: Final = 5
#: A run that takes so many times as long as all of its tests otherwise proves nothing.
_RUN_LIMIT: Final = 3
_MEMORY_LIMIT_BYTES: Final = 6 << 30
_OPTIONS: Final = [
    *("-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist", "--basetemp=../temporary"),
    *("-o", "faulthandler_timeout=120"),
]


class Copy:
    """A copy of the project, to be changed; its process is for nothing else.

    As a plugin of pytest's, it does its work where all tests are collected and would run.
    """

    def __init__(self, folder: Path, lines: Lines, work: Callable[[], None]) -> None:
        self.folder = folder.resolve()
        self._lines = lines
        self._work = work
        self._sound: set[str] = set()
        self._items: dict[str, pytest.Item] = {}
        self._functions: defaultdict[str, list[FunctionType]] = defaultdict(list)
        for name in _COPIED:
            source = PROJECT / name
            if source.is_dir():
                shutil.copytree(source, folder / name)
            else:
                shutil.copy(source, folder / name)
        #: Bytecode is compiled anew when the time of the source has changed, in whole seconds.
        self._mtime = int(time.time()) - 1_000_000

    def work(self) -> int:
        """Collect all tests and do the work; return an exit code."""
        os.chdir(self.folder)
        sys.path[:] = [str(self.folder), *(path for path in sys.path if path != str(PROJECT))]
        for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
            del sys.modules[name]
        os.environ |= {"PYTHONPATH": str(self.folder), "HYPOTHESIS_PROFILE": "first"}
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        sys.dont_write_bytecode = False
        return pytest.main(_OPTIONS, [self])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._items = {item.nodeid: item for item in session.items}
        gc.unfreeze()
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                self._functions[each.__code__.co_filename].append(each)
        gc.freeze()
        self._work()
        return True

    def failure_of(self, mutant: Mutant) -> str:
        """Return the test that notices a mutant, or an empty text."""
        tests, is_imported = self._lines.tests_of(mutant, self._items)
        found = self._sure_failure(tests, mutant, anew=False) if mutant.in_function else ""
        if not found and is_imported:
            found = self._sure_failure(tests, mutant, anew=True)
        return found

    def _sure_failure(self, tests: list[str], mutant: Mutant, *, anew: bool) -> str:
        """Return the first test that fails again, and not without the mutant."""
        while failure := self._first_failure(tests, mutant, anew=anew):
            # What ends the whole run has no name of a test.
            failing = [failure] if "::" in failure else tests
            # Among many, one fails now and then whatever the code is.
            if self._first_failure(failing, mutant, anew=anew) and (
                failure in self._sound or not self._first_failure(failing, None, anew=anew)
            ):
                self._sound.add(failure)
                return failure
            tests = tests[tests.index(failure) + 1 :] if "::" in failure else []
        return ""

    def _first_failure(self, tests: list[str], mutant: Mutant | None, *, anew: bool) -> str:
        """Run tests up to the first that fails; return its name, or an empty text."""
        if not tests:
            return ""
        chosen = Chosen({test: self._limit_s(test) for test in tests}, self.folder / "failed.txt")
        chosen.failed.write_text("", encoding="utf-8")
        text = (self.folder / mutant.path).read_text(encoding="utf-8") if mutant else ""
        try:
            if mutant:
                self._write(mutant.path, mutant.put_into(text))
            process = os.fork()
            if not process:
                self._run(chosen, mutant, anew=anew)
            code = _exit_code(process, _RUN_LIMIT * self._lines.most_s)
        finally:
            if mutant:
                self._write(mutant.path, text)
        if code in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED, None}:
            return ""
        return chosen.failed.read_text(encoding="utf-8") or f"exit code {code}"

    def _limit_s(self, test: str) -> float:
        return _TEST_LIMIT * self._lines.seconds(test) + _TEST_LIMIT_S

    def _write(self, path: Path, text: str) -> None:
        self._mtime += 2
        (self.folder / path).write_text(text, encoding="utf-8")
        os.utime(self.folder / path, (self._mtime, self._mtime))

    def _run(self, chosen: Chosen, mutant: Mutant | None, *, anew: bool) -> NoReturn:
        """Run tests in a process that is for nothing else, and end it."""
        code = 1
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.setsid()
            _limit_memory()
            if anew or (mutant and not self._change_functions(mutant)):
                Path("chosen.json").write_text(json.dumps(chosen.limits_s), encoding="utf-8")
                command = "from tests.mutants.__main__ import run_anew; run_anew()"
                os.execv(sys.executable, [sys.executable, "-c", command])  # noqa: S606 - no input
            items = [self._items[test] for test in chosen.limits_s]
            items[0].config.pluginmanager.register(chosen)
            chosen.pytest_collection_modifyitems(items)
            for item, following in zip_longest(items, items[1:]):
                item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
                if chosen.failed.read_text(encoding="utf-8"):
                    break
            else:
                code = 0
        except BaseException:  # noqa: BLE001 - says so in what is read of it
            traceback.print_exc()
        finally:
            os._exit(code)

    def _change_functions(self, mutant: Mutant) -> bool:
        """Give functions the code of the changed file; return whether all can have it."""
        path = self.folder / mutant.path
        text = path.read_text(encoding="utf-8")
        module = compile(text, str(path), "exec", dont_inherit=True)
        codes = {(code.co_qualname, code.co_firstlineno): code for code in _codes(module)}
        for function in self._functions[str(path)]:
            code = function.__code__
            try:
                function.__code__ = codes[code.co_qualname, code.co_firstlineno]
            except (KeyError, ValueError):
                # It has other variables of functions around it.
                return False
        return True


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """Runs some tests in their order, and writes down which of them fails.

    What cannot be imported is named by its file.

    Attributes:
        limits_s: The tests, and how long each may take.
        failed: A file for the name.
    """

    limits_s: dict[str, float]
    failed: Path

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        chosen = {item.nodeid: item for item in items if item.nodeid in self.limits_s}
        items[:] = [chosen[test] for test in self.limits_s if test in chosen]
        for item in items:
            item.add_marker(pytest.mark.timeout(self.limits_s[item.nodeid]), append=False)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.write_text(report.nodeid, encoding="utf-8")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed.write_text(report.nodeid, encoding="utf-8")


def run_anew() -> NoReturn:
    """Run tests where nothing is imported yet, and end the process."""
    limits_s = json.loads(Path("chosen.json").read_text(encoding="utf-8"))
    chosen = Chosen(limits_s, Path("failed.txt").resolve())
    files = dict.fromkeys(test.partition("::")[0] for test in chosen.limits_s)
    code = 1
    try:
        code = pytest.main(["-x", *_OPTIONS, *files], [chosen])
    finally:
        os._exit(code)


def _exit_code(process: int, limit_s: float) -> int | None:
    """Wait for a process, and end all that it leaves behind; None if it takes too long."""
    ends = time.monotonic() + limit_s
    try:
        while time.monotonic() < ends:
            # Programs whose parents are gone are children of this one; they end in between.
            ended, status = os.waitpid(-1, os.WNOHANG)
            if ended == process:
                return os.waitstatus_to_exitcode(status)
            if not ended:
                time.sleep(0.01)
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
        with suppress(ChildProcessError):
            while True:
                for child in _children():
                    with suppress(ProcessLookupError):
                        os.kill(child, signal.SIGKILL)
                os.waitpid(-1, 0)


def _children() -> list[int]:
    children = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = file.read_text(encoding="utf-8").rpartition(")")[2].split()[1]
            if int(parent) == os.getpid():
                children.append(int(file.parent.name))
    return children


def _adopt_orphans() -> None:
    """Become the parent of what started programs leave behind, where the system can do that."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - not on every system

        set_child_subreaper = 36
        ctypes.CDLL(None).prctl(set_child_subreaper, 1)


def _limit_memory() -> None:
    """Let a loop without an end not take the machine's memory."""
    import resource  # noqa: PLC0415 - not on every system

    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_LIMIT_BYTES, _MEMORY_LIMIT_BYTES))


def tried(
    mutants: list[Mutant], lines: Callable[[], Lines], folder: Path, workers: int
) -> Iterator[tuple[int, str, float]]:
    """Try mutants in some processes; yield which is tried, what notices it, and the seconds.

    What is left to try waits in a pipe, from which all of them read.
    """
    waiting, to_wait = os.pipe()
    results, to_results = os.pipe()
    os.write(to_wait, b"".join(number.to_bytes(4, "big") for number in range(len(mutants))))
    os.close(to_wait)
    processes = []
    try:
        for worker in range(workers):
            process = os.fork()
            if not process:
                os.close(results)
                _work(mutants, waiting, to_results, folder / f"worker-{worker}", lines)
            processes.append(process)
        os.close(to_results)
        with os.fdopen(results, encoding="utf-8") as file:
            for line in file:
                number, noticed, seconds = json.loads(line)
                yield number, noticed, seconds
    finally:
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
            os.waitpid(process, 0)


def _work(
    mutants: list[Mutant], waiting: int, to_results: int, folder: Path, lines: Callable[[], Lines]
) -> NoReturn:
    """Try the mutants that nobody else does, and end the process."""
    # What is running is ended before.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))

    def work() -> None:
        while number := os.read(waiting, 4):
            begun_s = time.monotonic()
            place = int.from_bytes(number, "big")
            noticed = copy.failure_of(mutants[place])
            result = json.dumps([place, noticed, time.monotonic() - begun_s])
            os.write(to_results, f"{result}\n".encode())

    code = 1
    try:
        _adopt_orphans()
        copy = Copy(folder / "project", lines(), work)
        said = os.dup(2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(os.open(folder / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 1)
        os.dup2(1, 2)
        code = copy.work()
        if code:
            os.write(said, (folder / "output.txt").read_bytes())
    except Exception:  # noqa: BLE001 - the others go on
        traceback.print_exc()
    finally:
        os._exit(code)


def _numbers(text: str) -> list[int]:
    parts = [part.partition("-") for part in text.split(",")]
    return [n for low, _, high in parts for n in range(int(low), int(high or low) + 1)]


def main() -> int:
    """Try mutants, and print those that no test notices."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("subjects", nargs="*", default=SUBJECTS, help="files or folders")
    parser.add_argument("--count", type=int, default=300, help="how many are drawn")
    parser.add_argument("--seed", type=int, default=1, help="draws others")
    parser.add_argument("--numbers", type=_numbers, help="which to try of these: 7,20-40")
    parser.add_argument("--workers", type=int, default=1, help="how many are tried at a time")
    parser.add_argument("--seconds", type=float, default=60, help="of tests for each, at most")
    parser.add_argument("--at-least", type=float, default=92, metavar="PERCENT")
    parser.add_argument("--lines", type=Path, help="which test executes which line: kept here")
    # What is running is ended before.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    options = parser.parse_args()
    if options.workers < 1:
        parser.error("--workers wants 1 or more")
    mutants = drawn(list(options.subjects), options.count, options.seed)
    numbers = options.numbers or range(1, len(mutants) + 1)
    mutants = [mutants[number - 1] for number in numbers]
    unnoticed = []
    count = 0
    share = 100.0
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as folder:
        file = options.lines or Path(folder) / "lines"
        if not file.exists():
            measure_lines(file)
        # A process that forks would empty the file.
        lines = partial(Lines, file, options.seconds)
        for place, noticed, seconds in tried(mutants, lines, Path(folder), options.workers):
            count += 1
            if not noticed:
                unnoticed.append(mutants[place])
            share = 100 - 100 * len(unnoticed) / count
            print(f"{numbers[place]} {mutants[place]}")
            print(f"    {noticed or 'NOT NOTICED'}")
            print(f"    ({seconds:.0f} s; {share:.1f} % of {count} so far)", flush=True)
    print(f"{share:.1f} % of {count} noticed; not these:")
    print("\n".join(map(str, unnoticed)))
    return 0 if share >= options.at_least and count == len(mutants) else 1


if __name__ == "__main__":
    sys.exit(main())
