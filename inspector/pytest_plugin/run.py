"""One test in virtual time: from the beginning of its fixtures to their end."""

from __future__ import annotations

import gc
import os
import signal
import sys
import warnings
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from time import monotonic_ns
from types import BuiltinFunctionType, FrameType, ModuleType
from typing import Any

import pytest

from inspector.probe.adapters.python_time import PythonTimeAdapter
from inspector.probe.adapters.qt import QtAdapter
from inspector.probe.clocks import NothingDueError
from inspector.probe.program import Program
from inspector.probe.sampler import Sampler
from inspector.probe.waits import JUMP, MOST_READINGS, PASS, STAND, Waits

from .log import Log
from .pending import is_own, own_frame, unfollowed_text
from .timeline import Timeline

#: Seconds since 1970 as a float are multiples of 238 ns. The time of day advances by this much more
#: with each jump, so that after a sleep it is never too early by rounding.
_DAY_NS = 239
_RUN = pytest.StashKey["VirtualRun"]()
#: The interval at which loops are sampled while time passes.
_SAMPLE_NS = 10_000_000
#: The most events of a test that are kept, for the report of a failure, and for a recording.
_MOST_REPORTED, _MOST_RECORDED = 100_000, 1_000_000
#: The longest delay, for a report, before the process of a test that took too long is ended.
_LAST_WORDS_S = 10
#: Packages that run tests, which keep the machine's time.
_SPARED = (
    "_pytest",
    "pytest",
    "pluggy",
    "xdist",
    "execnet",
    "pytest_timeout",
    "coverage",
    "inspector",
)
_NATIVE = (
    "sleep",
    "monotonic",
    "monotonic_ns",
    "perf_counter",
    "perf_counter_ns",
    "time",
    "time_ns",
)


class MachineTimeWarning(UserWarning):
    """Something in a test in virtual time keeps the machine's time."""


class VirtualTime:
    """The virtual time of this process; created when the first test uses it."""

    def __init__(self) -> None:
        import time  # noqa: PLC0415

        natives = {getattr(time, name): name for name in _NATIVE}
        skipped_ns = 0
        self._is_virtual = False

        def present_ns() -> int:
            return monotonic_ns() + skipped_ns

        def now_ns() -> int:
            # A jump takes about twenty readings; very many without one are a wait for time to pass.
            if self._is_virtual:
                waits = self.waits
                waits.readings += 1
                if waits.readings > MOST_READINGS:
                    waits.was_read_often()
            return monotonic_ns() + skipped_ns

        def skip(passed_ns: int) -> None:
            nonlocal skipped_ns
            skipped_ns += passed_ns
            self.python_time.day_ns += _DAY_NS

        self.program = Program("pytest", now_ns)
        self.waits = Waits(self.program, skip)
        self._sampler = Sampler(self.program, present_ns)
        self.log = Log(self.program, _MOST_REPORTED)
        self.program.watch_imports()
        python_time = self.program.adapters["python_time"]
        assert isinstance(python_time, PythonTimeAdapter)
        self.python_time = python_time
        python_time.follow_queues()
        python_time.follow_starts(self.waits.starts)
        _follow_everywhere(natives)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        self.waits.forked()
        self.program.forked()

    def attach(self, most_events: int) -> None:
        self.log = Log(self.program, most_events)
        self.program.attach(self.log.emit, self.log.extend)
        self._sampler.begin()
        self.waits.report_passed, self.waits.sample = self._sampler.report_waits, self._sampled
        self._is_virtual = True

    def _sampled(self) -> float:
        """Sample loops while time passes; return after how many seconds to do so again."""
        if self.program.emit is None:
            return -1.0
        self._sampler.sample()
        return self._sampler.wait_ns(_SAMPLE_NS) / 1e9

    def detach(self) -> None:
        self._is_virtual = False
        self.waits.report_passed = self.waits.sample = None
        self.waits.stop()
        self._sampler.end()
        self.program.detach()
        self.python_time.return_to_machine()


_virtual_time: VirtualTime | None = None


def _follow_everywhere(natives: dict[Any, str]) -> None:
    """Replace functions of ``time`` that modules have imported by name with virtual ones."""
    time: Any = sys.modules["time"]
    spared = set(sys.stdlib_module_names)
    for name, module in list(sys.modules.items()):
        top = name.partition(".")[0]
        if top in spared or top in _SPARED or not isinstance(module, ModuleType):
            continue
        for key, value in list(vars(module).items()):
            if isinstance(value, BuiltinFunctionType) and value in natives:
                setattr(module, key, getattr(time, natives[value]))


class VirtualRuns:
    """Hooks that pytest calls around each test, for tests in virtual time."""

    def __init__(self, uses_timeline: Callable[[pytest.Item], bool]) -> None:
        self._uses_timeline = uses_timeline

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, None, None]:
        if self._uses_timeline(item):
            item.stash[_RUN] = begun(item)
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        run = item.stash.get(_RUN, None)
        if run is None:
            return (yield)
        with run.call():
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, None, None]:
        run = item.stash.get(_RUN, None)
        try:
            return (yield)
        finally:
            if run is not None:
                run.end()
                del item.stash[_RUN]

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_timeout_set_timer(self, item: pytest.Item, settings: Any) -> object:
        """Measure a time limit in the machine's time, and report before the process is ended."""
        is_signalled = settings.method == "signal" and current_thread() is main_thread()
        if is_signalled or not self._uses_timeline(item):
            return None
        cancelled = allocate_lock()
        cancelled.acquire()

        def wait() -> None:
            if _virtual_time is not None:
                _virtual_time.waits.spare_me()
            if not cancelled.acquire(timeout=settings.timeout):
                _time_out(item, settings)

        def cancel() -> None:
            if cancelled.locked():
                cancelled.release()

        item.cancel_timeout = cancel  # type: ignore[attr-defined] # as pytest-timeout keeps it
        start_new_thread(wait, ())
        return True

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        run = item.stash.get(_RUN, None)
        if run is not None and call.excinfo is not None and not item.config.option.fulltrace:
            run.shorten(call.excinfo.value)
        report = yield
        if run is not None and report.failed and call.when != "teardown":
            report.sections.append(("timeline", run.failed()))
        return report


def run_of(item: pytest.Item) -> VirtualRun:
    run = item.stash.get(_RUN, None)
    if run is None:
        pytest.fail("Name the fixture timeline among the arguments of the test, or mark the test.")
    return run


def begun(item: pytest.Item) -> VirtualRun:
    global _virtual_time  # noqa: PLW0603 - one time in a process
    if "timeline_probe" in sys.modules:
        pytest.fail("The time of this process is controlled already: an inspector is attached.")
    if _virtual_time is None:
        _virtual_time = VirtualTime()
    return VirtualRun(_virtual_time, item)


def _time_out(item: pytest.Item, settings: Any) -> None:
    """Report on a test, then let pytest-timeout end the process."""
    timeout: Any = sys.modules["pytest_timeout"]
    if timeout.is_debugging() and not settings.disable_debugger_detection:
        return
    said: list[str] = []
    is_said = allocate_lock()
    is_said.acquire()

    def collect_last_words() -> None:
        try:
            said.extend(item.stash[_RUN].last_words())
        finally:
            is_said.release()

    if item.stash.get(_RUN, None) is not None:
        start_new_thread(collect_last_words, ())
        # The report may have to wait for a lock that the test holds, so it has a limit.
        is_said.acquire(timeout=_LAST_WORDS_S)
        capture = item.config.pluginmanager.getplugin("capturemanager")
        if capture is not None:
            capture.suspend_global_capture(item)
        terminal = item.config.get_terminal_writer()
        terminal.sep("-", "timeline")
        terminal.line("\n".join(said) or "What is pending could not be read.")
    timeout.timeout_timer(item, settings)


@contextmanager
def _before_time_out(keep: Callable[[], None]) -> Iterator[None]:
    """Call a function before pytest-timeout ends a test by a signal."""
    number = getattr(signal, "SIGALRM", None)
    handler = None if number is None else signal.getsignal(number)
    if number is None or not callable(handler) or current_thread() is not main_thread():
        yield
        return

    def looking(received: int, frame: FrameType | None) -> object:
        keep()
        return handler(received, frame)

    signal.signal(number, looking)
    try:
        yield
    finally:
        if signal.getsignal(number) is looking:
            signal.signal(number, handler)


class VirtualRun:
    def __init__(self, virtual: VirtualTime, item: pytest.Item) -> None:
        self._virtual = virtual
        mark = item.get_closest_marker("timeline")
        asked = {} if mark is None else dict(mark.kwargs)
        self._hold = bool(asked.pop("hold", False))
        self._rate = asked.pop("rate", None)
        autojump = asked.pop("autojump", item.config.option.timeline_autojump)
        outside = asked.pop("outside", item.config.option.timeline_outside or PASS)
        unknown = [*asked, *(() if mark is None else map(repr, mark.args))]
        if unknown:
            raise pytest.UsageError(f"no such argument of the mark timeline: {', '.join(unknown)}")
        if outside not in {PASS, STAND, JUMP}:
            raise pytest.UsageError(f"timeline: outside is pass, stand or jump, not {outside!r}")
        self._autojump = bool(autojump)
        virtual.waits.outside = outside
        virtual.waits.start()
        self._item = item
        self._keeps: str = item.config.option.timeline
        self._has_failed = False
        virtual.attach(_MOST_REPORTED if self._keeps == "off" else _MOST_RECORDED)
        virtual.program.pause(virtual.program.own_clock)
        # Waits in fixtures are skipped: time jumps.
        virtual.waits.is_jumping = True
        self.timeline = Timeline(virtual.program, virtual.waits, virtual.log)
        virtual.waits.stuck = self.timeline.stuck_text
        virtual.waits.deliver = self._deliver
        virtual.waits.interrupt, virtual.waits.note = self._interrupt, self._note
        self._unfollowed: dict[tuple[str, int], str] = {}
        self._undelivered: BaseException | None = None
        self._interrupting: BaseException | None = None
        self._at_time_out = ""

    @contextmanager
    def call(self) -> Iterator[None]:
        """Run the test itself, with time as it asks for."""
        waits = self._virtual.waits
        waits.is_jumping = self._autojump
        qt = self._virtual.program.adapters.get("qt")
        if qt is not None:
            # An application made by fixtures may wait before it sets a timer; follow its loops.
            self._virtual.program.guarded(qt, qt.attached)
        self.timeline.begin()
        if self._rate is not None:
            self.timeline.rate(self._rate)
        elif not self._autojump and not self._hold:
            self.timeline.resume()
        try:
            with _before_time_out(self._keep_pending), self._interruptible():
                yield
            self._warn()
        except BaseException as error:
            self._recover()
            if self._undelivered is not None and error is not self._undelivered:
                raise self._undelivered from error
            raise
        finally:
            self.timeline.hold()
            waits.is_jumping = True
        if self._undelivered is not None:
            self._recover()
            raise self._undelivered

    def _recover(self) -> None:
        """Let loops run again that were ended because nothing could end their wait."""
        qt = self._virtual.program.adapters.get("qt")
        if self._undelivered is not None and isinstance(qt, QtAdapter):
            self._virtual.waits.stuck = None
            self._virtual.program.guarded(qt, qt.run_again)

    def _keep_pending(self) -> None:
        """Keep what is pending now, before the test and its loops are ended."""
        self._at_time_out = self.timeline.pending_text()

    def _deliver(self, error: BaseException, end_loop: Callable[[], object]) -> None:
        """Raise an error in the test although its loop would catch it.

        It is raised in the greenlet of the test, or once the loop has been ended.
        """
        twisted: Any = sys.modules.get("pytest_twisted")
        greenlet: Any = sys.modules.get("greenlet")
        if twisted is not None and greenlet.getcurrent() is twisted._instances.gr_twisted:
            greenlet.getcurrent().parent.throw(error)
        else:
            self._undelivered = error
            end_loop()

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Let another thread raise an error in this one, even while this one waits in C."""
        number = getattr(signal, "SIGURG", None)
        if number is None or current_thread() is not main_thread():
            yield
            return

        def interrupting(_number: int, _frame: FrameType | None) -> None:
            error, self._interrupting = self._interrupting, None
            if error is not None:
                raise error

        before = signal.signal(number, interrupting)
        try:
            yield
        finally:
            signal.signal(number, before)

    def _interrupt(self, error: BaseException) -> None:
        number = getattr(signal, "SIGURG", None)
        if number is not None:
            self._interrupting = error
            signal.pthread_kill(main_thread().ident or 0, number)

    def _warn(self) -> None:
        """Warn of what kept the machine's time, and of where threads waited by it."""
        if self._virtual.python_time.message:
            warnings.warn(self._virtual.python_time.message, MachineTimeWarning, stacklevel=1)
        for (file, line), text in list(self._unfollowed.items()):
            warnings.warn_explicit(text, MachineTimeWarning, file, line)

    def _note(self, frame: FrameType) -> None:
        program = self._virtual.program
        own = own_frame(program, frame) or frame
        self._unfollowed[own.f_code.co_filename, own.f_lineno] = unfollowed_text(frame)

    def shorten(self, error: BaseException) -> None:
        """End a traceback at the last frame of the test where nothing can end its wait."""
        if not isinstance(error, NothingDueError):
            return
        own, entry = None, error.__traceback__
        while entry is not None:
            if is_own(self._virtual.program, entry.tb_frame):
                own = entry
            entry = entry.tb_next
        if own is not None:
            own.tb_next = None

    def failed(self) -> str:
        """Note that the test has failed; return what is pending, and what was late."""
        self._has_failed = True
        pending = self._at_time_out or self.timeline.pending_text()
        return "\n".join([pending, *self.timeline.late_lines()])

    def end(self) -> None:
        self._virtual.detach()
        # The objects that follow loops form reference cycles, for which the next test may look.
        gc.collect(1)
        said = self._leave()
        if said:
            self._item.add_report_section("teardown", "timeline", "\n".join(said))

    def last_words(self) -> Iterator[str]:
        """Yield the report on a test that is about to be ended with its process."""
        self._has_failed = True
        yield self.timeline.pending_text()
        yield from self.timeline.late_lines()
        yield from self._leave()

    def _leave(self) -> list[str]:
        """Write the recording of the test if it is to be kept; return lines that name the files."""
        log = self._virtual.log
        is_kept = self._keeps == "on" or (self._keeps != "off" and self._has_failed)
        if not log.events or not is_kept:
            return []
        from .recording import leave  # noqa: PLC0415 - takes a moment

        option, test = self._item.config.option, self._item.nodeid
        folder = self._item.config.rootpath / option.timeline_folder
        texts, is_real = self._virtual.program.texts, not (self._autojump or self._hold)
        return leave(folder, test, log, texts, is_real=is_real)
