"""What every test can count on: no screen, no traces in the user's home, no windows left over."""

from __future__ import annotations

import builtins
import gc
import os
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Final

# Before anything imports Qt. For a real display: QT_QPA_PLATFORM=xcb.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.packed_reports import pack_reports, unpack_reports
from tests.patient_qtbot import OUTLIVES_TESTS, PatientQtBot

if TYPE_CHECKING:
    from PySide6.QtCore import QCoreApplication, QObject

# Never a deadline: the machine may be busy, and a slow example is not a wrong one.
settings.register_profile(
    "fast",
    deadline=None,
    max_examples=10,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# Where it is enough that something fails, and no simpler example is looked for.
settings.register_profile(
    "first", parent=settings.get_profile("fast"), phases=[Phase.explicit, Phase.generate]
)
settings.register_profile("ci", deadline=None, max_examples=300, print_blob=True)
# The same examples everywhere; HYPOTHESIS_PROFILE=ci looks for new ones.
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

_TIMED: Final = ("sleep", "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter")
_TIME: Final = {name: getattr(time, name) for name in (*_TIMED, "perf_counter_ns")}
_IMPORT: Final = builtins.__import__
_MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes a folder there that is only the user's
_ROOM_BYTES: Final = 4 << 30
_SAMPLES_BESIDE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "samples"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--golden``: only a conftest at the root of the tests may add options."""
    parser.addoption(
        "--golden",
        metavar="DIR",
        default=None,
        help="replay the recordings in DIR instead of tests/conformance/golden",
    )


def pytest_configure() -> None:
    """Have files of tests in memory where there is room: thousands of times, they are synced.

    And no script look for the Python that programs name, as those of pyenv do: they take ten times
    as long as its start.
    """
    if (folder := str(Path(sys.base_prefix) / "bin")) not in os.get_exec_path():
        os.environ["PATH"] = os.pathsep.join([folder, *os.get_exec_path()])
    if not {"TMPDIR", "PYTEST_DEBUG_TEMPROOT"} & os.environ.keys() and _has_room_in_memory():
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(_MEMORY)


def _has_room_in_memory() -> bool:
    if sys.platform != "linux" or not os.access(_MEMORY, os.W_OK):
        return False
    # In containers, it is often small, and no program can be started from there.
    found = os.statvfs(_MEMORY)
    return found.f_bavail * found.f_frsize > _ROOM_BYTES and not found.f_flag & os.ST_NOEXEC


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Have some tests run while others wait for programs and browsers.

    A third of a worker's time is such waiting: of three workers two wait at once now and then, of
    four hardly ever three. Each costs five seconds of processor time, in which it collects tests.
    """
    return 2 + (os.cpu_count() or 1)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:  # noqa: ANN401 - a class of xdist, which has no types
    """Read what a worker reports of a test at once."""
    unpack_reports(node)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among thousands of new tests, nor later: 3 of 8 seconds."""
    gc.disable()
    # PySide6 replaces it, to read the source of every module that is imported from then on.
    builtins.__import__ = _IMPORT
    try:
        return (yield)
    finally:
        gc.freeze()
        # Seldom for the same reason; tests of what is freed collect by themselves.
        gc.set_threshold(20_000)
        gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say per recorded system how many sequences come out as recorded, from all workers."""
    counts: Counter[tuple[str, str]] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == "conformance" and report.when == "call":
                    title, outcome = value
                    counts[title, ""] += 1
                    counts[title, outcome] += 1
    titles = sorted({title for title, _ in counts})
    if titles:
        terminalreporter.section("conformance")
    for title in titles:
        kept, total = counts[title, "different"], counts[title, ""]
        differs = f", {kept} kept different on purpose" if kept else ""
        matching = counts[title, "same"]
        terminalreporter.write_line(f"{title}: {matching} of {total} lines match{differs}")


# Hooks and no fixtures, which would take a tenth of the time of ten thousand tests.
def pytest_sessionstart(session: pytest.Session) -> None:
    """Keep settings, layouts and logs of the tests out of the user's own; report at once."""
    # In memory, too, if pytest's files are.
    room = os.environ.get("PYTEST_DEBUG_TEMPROOT")
    home = Path(mkdtemp(prefix="timeline-inspector-tests-", dir=room))
    patch = pytest.MonkeyPatch()
    for kind in ("CONFIG", "DATA", "STATE"):
        patch.setenv(f"XDG_{kind}_HOME", str(home / kind.lower()))
    session.config.add_cleanup(partial(shutil.rmtree, home, ignore_errors=True))
    session.config.add_cleanup(patch.undo)
    if hasattr(session.config, "workerinput"):
        pack_reports(session.config)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, object, object]:
    """Let Ctrl+C raise KeyboardInterrupt, as in a terminal.

    A shell has the jobs in its background ignore Ctrl+C, and so what they start: without this
    handler, tests fail there that raise the signal.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Function) -> Generator[None, object, object]:
    """Blame a test that leaves something behind, not the next that stumbles over it."""
    try:
        return (yield)
    finally:
        windows = _windows_left_over(item)
        hooks = [name for name, function in _TIME.items() if getattr(time, name) is not function]
        assert not windows, f"windows that outlive their test: {', '.join(windows)}"
        assert not hooks, f"the test has left others behind of time's {hooks}"
        handler = signal.getsignal(signal.SIGINT)
        assert handler is signal.default_int_handler, "the test has left another handler behind"


def _windows_left_over(item: pytest.Function) -> list[str]:
    """Delete what a test of the window has left, now and not when Python ends; return what stays.

    ``processEvents`` does not deliver deferred deletions outside a running event
    loop: closed widgets would live until the interpreter exits, and crash there.
    """
    if "qapp" not in item.fixturenames or "PySide6.QtWidgets" not in sys.modules:
        return []
    from PySide6.QtCore import QCoreApplication, QEvent  # noqa: PLC0415 - most tests need no Qt
    from PySide6.QtWidgets import QApplication  # noqa: PLC0415

    windows = QApplication.topLevelWidgets()
    left_over = [each for each in windows if not _outlives_tests(each)]
    for window in left_over:
        window.close()
        window.deleteLater()
    # What they hold would be frozen below, and stay until the end: a gigabyte of windows.
    (item.funcargs or {}).clear()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    if len(left_over) == len(windows):
        # What is still there stays, and need not be looked through after each test: 0.3 s.
        gc.freeze()
    return [
        f"{type(widget).__name__} {widget.objectName()}"
        for widget in QApplication.topLevelWidgets()
        if not _outlives_tests(widget)
    ]


def _outlives_tests(widget: QObject | None) -> bool:
    """Whether the next test uses a window again, or that to which a menu or dialog belongs."""
    while widget is not None and not widget.property(OUTLIVES_TESTS):
        widget = widget.parent()
    return widget is not None


@pytest.fixture
def sample_file() -> Callable[[str], Path]:
    """Return a function from a name such as ``presentmon/test_case_0.csv`` to its path.

    These files were written by other people's tools and are not part of the
    project. They are looked for in the folder that the environment variable
    TIMELINE_INSPECTOR_SAMPLES names, else in a folder ``shared/samples`` beside
    the checkout; without them, the tests that want them are skipped and say so.
    """
    asked = os.environ.get("TIMELINE_INSPECTOR_SAMPLES")
    folder = Path(asked) if asked else _SAMPLES_BESIDE_CHECKOUT

    def find(name: str) -> Path:
        path = folder / name
        if not path.exists():
            pytest.skip(
                f"the sample file {name} is not in {folder}; "
                "TIMELINE_INSPECTOR_SAMPLES can name another folder"
            )
        return path

    return find


@pytest.fixture
def qtbot(qapp: QCoreApplication, request: pytest.FixtureRequest) -> Iterator[PatientQtBot]:
    """Take the place of the plugin's own."""
    assert qapp is not None
    bot = PatientQtBot(request)
    yield bot
    bot.kept.clear()
