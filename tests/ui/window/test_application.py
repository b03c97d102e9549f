"""Starting: what is painted first, what may be loaded by then, what the arguments mean."""

from __future__ import annotations

import builtins
import json
import logging
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Final, NoReturn

import pytest
from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler, qWarning
from pytestqt.qtbot import QtBot

from inspector.commands.transport import Run
from inspector.events.recording import open_recording
from inspector.exit_codes import ExitCode
from inspector.sessions.hosted import HostedSession
from inspector.testing import scene_file
from tests.forked.python import WINDOW, run_python
from tests.ui.used_window import Lend
from ui.window.process import FaultReporter, Interrupts
from ui.window.settings import SettingsFile

ROOT = Path(__file__).resolve().parents[3]

AT_FIRST_PAINT = """
import sys
from PySide6 import QtCore
from PySide6.QtCore import QTimer
from inspector.window_loader import load_ui
application = load_ui("window.application")
main_window = load_ui("window.main_window")
make = main_window.MainWindow.__init__

def watch(window, *arguments):
    make(window, *arguments)
    window.painted.connect(
        lambda: print("painted with", sorted((HEAVY | SLOW) & roots()))
    )
    # Made with all its enumerations when it is first used.
    window.painted.connect(lambda: print("Qt is made:", "Qt" in vars(QtCore)))
    window.completed.connect(
        lambda: print("complete with", sorted(HEAVY & roots()))
    )
    window.completed.connect(lambda: QTimer.singleShot(300, lambda: close(window)))

def close(window):
    print("too early:", sorted(ON_DEMAND & own_modules()))
    window.close()

def roots():
    return {name.partition(".")[0] for name in sys.modules}

def own_modules():
    return {name.removeprefix("timeline_inspector_ui.") for name in sys.modules}

ON_DEMAND = {
    "help.pages", "help.viewer", "scene.export", "export.picture_files",
    "window.dialogs.scene_error", "window.handlers.palette_dialog",
    "window.handlers.window_dialogs", "inspector.formats.file_formats",
    "inspector.formats.frame_times", "inspector.formats.options", "inspector.sessions.provenance",
    # OpenSSL and masked arrays, 4 and 2 MB
    "_hashlib", "numpy.ma",
}
HEAVY = {"numpy", "pyqtgraph", "asyncio", "msgspec", "decimal", "ssl"}
SLOW = {"dataclasses", "platform", "platformdirs"}
if sys.version_info >= (3, 14):
    # What PySide6 imports to print tracebacks imports it.
    SLOW.remove("dataclasses")
main_window.MainWindow.__init__ = watch
sys.exit(application.main())
"""

WHAT_PYSIDE_READS = """
import linecache, os, sys
import inspector.frames  # which finds modules by the names that they had before
from PySide6.QtCore import QTimer
from inspector.window_loader import load_ui
application = load_ui("window.application")
main_window = load_ui("window.main_window")
make = main_window.MainWindow.__init__

def watch(window, *arguments):
    make(window, *arguments)
    window.completed.connect(lambda: QTimer.singleShot(0, lambda: tell(window)))

def tell(window):
    import numpy, with_qt, without_qt
    from shibokensupport.feature import pyside_feature_dict
    own = sys.modules[type(window).__module__].__file__
    folders = [os.path.dirname(numpy.__file__), os.path.dirname(os.path.dirname(own))]
    print([path for path in linecache.cache if path.startswith(tuple(folders))])
    read = {os.path.basename(path) for path in linecache.cache}
    print(read >= {"with_qt.py", "without_qt.py"})
    print(pyside_feature_dict["with_qt"], pyside_feature_dict["without_qt"])
    print("OPENBLAS_THREAD_TIMEOUT" in os.environ, len(sys.meta_path) - finders)
    window.close()

finders = len(sys.meta_path)
main_window.MainWindow.__init__ = watch
sys.exit(application.main())
"""

AFTER_OTHER_SCENES = """
import gc, sys
gc.unfreeze()
from PySide6.QtCore import QTimer
from inspector.window_loader import load_ui
from inspector.resources import resource_path
application = load_ui("window.application")
main_window = load_ui("window.main_window")
make = main_window.MainWindow.__init__

def watch(window, *arguments):
    make(window, *arguments)
    window.completed.connect(lambda: QTimer.singleShot(0, lambda: open_scenes(window)))

def open_scenes(window):
    gc.disable()  # Not by chance.
    for scene in sorted(resource_path("scenes").glob("*.py"))[:3]:
        window.bridge.open_path(scene)
    print(any(type(each).__name__ == "ClockTree" for each in gc.get_objects()))
    QTimer.singleShot(300, lambda: tell(window))

def tell(window):
    gc.unfreeze()
    logs = [each for each in gc.get_objects() if type(each).__name__ == "EventLog"]
    print(len(logs), "log, that of the session:", logs == [window.bridge.session.log])
    usual, timer = gc.get_threshold(), window.bridge.refresh_timer
    timer.note_move()
    moving = gc.get_threshold()
    timer._end_moves()
    print(moving[:2] == usual[:2], moving[2] > 1_000 * usual[2], gc.get_threshold() == usual)
    window.close()

main_window.MainWindow.__init__ = watch
sys.exit(application.main())
"""


def environment(home: Path) -> dict[str, str]:
    """Return that of a program without a display."""
    folders = {"XDG_CONFIG_HOME": str(home), "PYTHONPATH": str(ROOT)}
    return {**os.environ, "QT_QPA_PLATFORM": "offscreen", **folders}


def run(code: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run Python code in a separate process, without a display."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env=environment(home),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_that_nothing_slow_is_loaded_before_it_is_needed(tmp_path: Path) -> None:
    done = run(AT_FIRST_PAINT, tmp_path)

    lines = done.stdout.splitlines()
    assert lines[0] == "painted with []", done.stderr
    assert lines[1] == "Qt is made: False"
    assert lines[2] == "complete with ['decimal', 'msgspec', 'numpy']"
    assert lines[3] == "too early: []"
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "timeline-inspector" / "settings.json").is_file()


def test_that_pyside_reads_the_modules_of_users_and_not_those_of_the_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT", raising=False)
    (tmp_path / "with_qt.py").write_text("from PySide6.QtCore import QObject\n")
    (tmp_path / "without_qt.py").write_text("import json\n")

    done = run(WHAT_PYSIDE_READS, tmp_path)

    window, users, features, left = done.stdout.splitlines()
    assert window == "[]", done.stderr
    assert users == "True"
    assert features == "0 -1"
    assert left == "False 0"


def test_that_garbage_is_sought_when_another_session_is_shown_but_not_in_what_stays(
    tmp_path: Path,
) -> None:
    done = run_python(WINDOW, ["-c", AFTER_OTHER_SCENES], environment(tmp_path), tmp_path)

    built, logs, thresholds = done.stdout.splitlines()
    assert built == "False", "what was built is gone through no more"
    assert logs == "1 log, that of the session: True", done.stderr
    assert thresholds == "True True True"
    assert done.returncode == 0, done.stderr


def test_that_a_fault_is_logged_and_said_in_the_window(
    lend: Lend, caplog: pytest.LogCaptureFixture
) -> None:
    shell = lend()
    reporter = FaultReporter(shell.window)
    error = ValueError("of the test")
    # So does Python, before it calls the hook.
    sys.last_value = error
    try:
        sys.excepthook(ValueError, error, None)
    finally:
        reporter.stop()

    assert "ValueError: of the test" in shell.window.notice.label.text()
    faults = [record.levelno for record in caplog.records if record.name == "ui.window.process"]
    assert faults == [logging.CRITICAL]
    assert not hasattr(sys, "last_value"), "what the failed call had at hand is kept"


_REPLACING: Final = """
import builtins, json
def build(stage):
    def replace():
        {replaced} = {value}
    stage.root.set_interval(0.001, stage.mark, "tick", name="tick")
    stage.root.set_timeout(0.002, replace, name="replace")
"""


@pytest.mark.parametrize(
    ("replaced", "value"),
    [
        ("builtins.len", "None"),
        ("builtins.isinstance", "None"),
        ("builtins.open", "None"),
        ("json.dumps", "None"),
    ],
)
def test_that_what_a_callback_replaces_is_put_back_and_said_and_the_scene_held(
    lend: Lend, tmp_path: Path, replaced: str, value: str
) -> None:
    code = _REPLACING.format(replaced=replaced, value=value)
    shell = lend()
    bridge = shell.bridge
    reporter = FaultReporter(shell.window)
    bridge.facts_due.connect(reporter.put_back_needed)
    try:
        bridge.open_scene(scene_file(tmp_path, code))
        try:
            shell.advance(0.01)
            bridge.refresh_now()
        except Exception as error:  # noqa: BLE001 - as Qt does with what a slot raises
            sys.excepthook(type(error), error, error.__traceback__)
        bridge.refresh_now()
    finally:
        bridge.facts_due.disconnect(reporter.put_back_needed)
        reporter.stop()

    said = f"The scene has replaced {replaced}, which the inspector needs: it was put back"
    assert said in shell.window.notice.label.text()
    session = bridge.session
    assert isinstance(session, HostedSession)
    shell.advance(0.1)
    assert not session.is_running
    bridge.submit(Run())
    ran = session.frames_run
    shell.advance(0.1)
    assert session.frames_run > ran


def test_that_ctrl_c_closes_the_window_although_something_has_to_be_put_back(
    lend: Lend, tmp_path: Path
) -> None:
    shell = lend()
    reporter = FaultReporter(shell.window)
    shell.bridge.open_scene(
        scene_file(tmp_path, _REPLACING.format(replaced="json.dumps", value="None"))
    )
    try:
        shell.advance(0.01)
        sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    finally:
        reporter.stop()

    assert json.dumps is not None
    assert not shell.window.isVisible()


def test_that_a_wrapper_of_print_stays(lend: Lend, monkeypatch: pytest.MonkeyPatch) -> None:
    reporter = FaultReporter(lend().window)
    monkeypatch.setattr(builtins, "print", logging.info)
    try:
        assert not reporter.put_back_needed()
    finally:
        reporter.stop()


@pytest.mark.no_qt_log
def test_that_what_qt_says_goes_to_the_log(lend: Lend, caplog: pytest.LogCaptureFixture) -> None:
    shell = lend()
    caplog.clear()
    before = qInstallMessageHandler(None)
    qInstallMessageHandler(before)
    reporter = FaultReporter(shell.window)
    try:
        qWarning("of the test")
    finally:
        reporter.stop()

    assert [record.getMessage() for record in caplog.records] == ["default: of the test"]


@pytest.mark.no_qt_log
def test_that_a_lost_display_ends_with_a_sentence_and_a_complete_recording(
    lend: Lend,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Ended(BaseException):
        pass

    def end(code: int) -> NoReturn:
        ended.append(code)
        raise Ended

    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", end)
    shell = lend()
    shell.bridge.open_scene(scene_file(tmp_path, "def build(stage): pass"))
    session = shell.bridge.session
    assert isinstance(session, HostedSession)
    session.recorder.start(tmp_path / "run.tlrec")
    reporter = FaultReporter(shell.window)
    text = "The X11 connection broke (error 1). Did the X11 server die?"
    try:
        with pytest.raises(Ended):
            reporter._log_qt_message(QtMsgType.QtWarningMsg, QMessageLogContext(), text)
    finally:
        reporter.stop()

    assert ended == [ExitCode.NO_DISPLAY]
    said = "timeline-inspector: The display was lost, so the window has ended.\n"
    assert capsys.readouterr().err == said
    with closing(open_recording(tmp_path / "run.tlrec")) as recording:
        assert recording.notes == ()


def test_that_an_interrupt_closes_the_window_and_keeps_the_settings(
    lend: Lend, qtbot: QtBot
) -> None:
    shell = lend()
    interrupts = Interrupts(shell.window)
    try:
        os.kill(os.getpid(), signal.SIGINT)
        qtbot.waitUntil(lambda: not shell.window.isVisible())
    finally:
        interrupts.stop()

    assert shell.settings_file.path.is_file()


UNTIL_IT_IS_CLOSED = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from inspector.window_loader import load_ui
application = load_ui("window.application")
main_window = load_ui("window.main_window")
make = main_window.MainWindow.__init__

def watch(window, *arguments):
    make(window, *arguments)
    window.completed.connect(lambda: QTimer.singleShot(300, window.close))

main_window.MainWindow.__init__ = watch
sys.exit(application.main(*map(Path, sys.argv[1:])))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no such name")
def test_that_a_scene_whose_name_is_no_utf_8_is_shown_and_kept_in_the_settings(
    tmp_path: Path,
) -> None:
    scene = tmp_path / os.fsdecode(b"caf\xe9.py")
    scene.write_text("def build(stage): ...\n")

    words = ["-c", UNTIL_IT_IS_CLOSED, str(scene)]
    done = run_python(WINDOW, words, environment(tmp_path), tmp_path)

    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    settings = SettingsFile(tmp_path / "timeline-inspector" / "settings.json").load()
    assert settings.recent_scenes == (str(scene),)


def test_that_the_program_ends_once_its_window_was_closed_on_a_real_display(
    display: str, tmp_path: Path
) -> None:
    folders = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    shown = {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}

    ended = subprocess.run(
        [sys.executable, "-c", UNTIL_IT_IS_CLOSED],
        cwd=ROOT,
        env={**os.environ, **dict.fromkeys(folders, str(tmp_path)), **shown},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )

    assert (ended.returncode, ended.stderr) == (0, "")
