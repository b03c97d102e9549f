"""Scenes that never return: the window lives on, says so, and lets them be ended."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from time import monotonic, sleep

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QMetaObject, Qt
from PySide6.QtGui import QCloseEvent, QKeyEvent
from pytestqt.qtbot import QtBot

from inspector.commands.clocks import PauseClock
from inspector.commands.timers import FireTimer
from inspector.commands.transport import Hold
from inspector.events.recording import open_recording
from inspector.sessions.attached.doors.launch import Launch
from inspector.sessions.hosted import HostedSession
from inspector.sessions.runs import running_code
from inspector.sessions.session import SessionPhase
from tests.forked.python import WINDOW, python_with
from tests.signalled import told_and_ended
from tests.ui.shell import Shell
from tests.ui.used_window import Lend
from ui.window import endless_code
from ui.window.endless_code import EndlessCode

Press = Callable[[EndlessCode], Callable[[], object]]

ROOT = Path(__file__).resolve().parents[3]
HAS_SIGNALS = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

#: Ends by itself after a while, so that no test hangs forever.
SPINNING = """
from time import monotonic

def spin():
    end = monotonic() + 20
    while monotonic() < end:
        pass

def build(stage):
    stage.root.set_timeout(1, spin, name="hang")
    stage.root.child("other")
"""
SLEEPING = SPINNING.replace("pass", "__import__('time').sleep(20)")
#: Has a function of a library called that waits.
WAITING = """
import select, threading, time

def build(stage):
    locked = threading.Lock()
    locked.acquire()
    stage.root.set_timeout(0.1, CALL, name="hang")
"""
#: Spins, too, but leaves the processor to others.
DOZING = SPINNING.replace("pass", "__import__('time').sleep(0.01)")

#: Opens a file in the window, in a separate process.
IN_A_PROCESS = """
import sys
from pathlib import Path
from threading import Thread
from time import sleep
from PySide6.QtCore import QMetaObject, Qt
from inspector.window_loader import load_ui
from inspector.sessions.runs import running_code
running_code._LOOK_S = 0.01
endless = load_ui("window.endless_code")
endless._ALIVE_AFTER_S, endless._TOLD_AFTER_S = 0.05, 0.1
make = endless.EndlessCode.__init__

def watch(self, window):
    make(self, window)
    def tell():
        while not self.bar.isVisible():
            sleep(0.05)
        print("told:", self.bar.label.text(), flush=True)
    Thread(target=tell, daemon=True).start()

endless.EndlessCode.__init__ = watch
sys.exit(load_ui("window.application").main(Path(sys.argv[1])))
"""


@pytest.fixture(autouse=True)
def _impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endless_code, "_ALIVE_AFTER_S", 0.05)
    monkeypatch.setattr(endless_code, "_TOLD_AFTER_S", 0.1)
    monkeypatch.setattr(running_code, "_LOOK_S", 0.01)


@contextmanager
def watched(shell: Shell) -> Iterator[EndlessCode]:
    """Watch the window of a test."""
    endless = EndlessCode(shell.window)
    try:
        yield endless
    finally:
        endless.stop()


def when_told(endless: EndlessCode, *acts: Callable[[], object]) -> Thread:
    """Do something in another thread once the window says what is going on."""

    def wait() -> None:
        end = monotonic() + 15
        while not endless.bar.isVisible() and monotonic() < end:
            sleep(0.02)
        for act in acts:
            act()

    thread = Thread(target=wait, daemon=True)
    thread.start()
    return thread


def press_break_off(endless: EndlessCode) -> Callable[[], object]:
    """Return what presses the button of the bar; may be called in any thread."""
    queued = Qt.ConnectionType.QueuedConnection
    return lambda: QMetaObject.invokeMethod(endless.bar.button, "click", queued)


def press_escape(endless: EndlessCode) -> Callable[[], object]:
    return press_key(endless, Qt.Key.Key_Escape)


def press_key(endless: EndlessCode, key: Qt.Key) -> Callable[[], object]:
    """Return what presses a key in the window; may be called in any thread."""
    # Made in this thread, as Qt makes the keyboard with the first event.
    event = QKeyEvent(QEvent.Type.KeyPress, key, Qt.KeyboardModifier.NoModifier)
    return lambda: QCoreApplication.postEvent(endless.bar.window(), event)


def hanging_timer(shell: Shell) -> FireTimer:
    (timer_id,) = shell.bridge.timeline.timers.ids()
    return FireTimer(timer_id)


@pytest.mark.parametrize(
    ("scene", "press", "said"),
    [
        (SPINNING, press_break_off, "“hang” in scene.py has been running for 0 s, at line "),
        (SLEEPING, press_escape, "“hang” in scene.py has been running for 0 s, at line 7."),
        pytest.param(
            WAITING.replace("CALL", "locked.acquire"),
            press_break_off,
            "“hang” has been running for 0 s, in lock.acquire, set at line 7 of scene.py.",
            marks=HAS_SIGNALS,
        ),
        pytest.param(
            WAITING.replace("CALL", "select.poll().poll"),
            press_escape,
            "“hang” has been running for 0 s, in poll.poll, set at line 7 of scene.py.",
            marks=HAS_SIGNALS,
        ),
    ],
    ids=["spinning", "sleeping", "lock", "poll"],
)
def test_that_a_callback_that_does_not_return_is_told_and_broken_off(
    lend: Lend, qtbot: QtBot, scene: str, press: Press, said: str
) -> None:
    shell = lend(scene)
    session = shell.bridge.session
    assert isinstance(session, HostedSession)
    session.hold()
    shell.bridge.refresh_now()
    told: list[str] = []
    with watched(shell) as endless:
        thread = when_told(endless, lambda: told.append(endless.bar.label.text()), press(endless))

        shell.bridge.submit(hanging_timer(shell))

        thread.join()
        qtbot.waitUntil(endless.bar.isHidden)
        assert endless.bar.attach_button.isHidden()
    shell.bridge.refresh_now()
    assert re.sub(r"for \d+ s", "for 0 s", told[0]).startswith(said)
    assert shell.bridge.status.phase is SessionPhase.HELD
    assert "interrupted after" in session.timeline.failures[-1].traceback
    assert "endless_code" not in session.timeline.failures[-1].traceback
    assert shell.window.isVisible()


def test_that_nothing_else_happens_in_the_middle_of_a_callback(lend: Lend) -> None:
    shell = lend(DOZING)
    session = shell.bridge.session
    assert isinstance(session, HostedSession)
    session.hold()
    shell.bridge.refresh_now()
    other = shell.clock_id("other")
    happened: list[str] = []
    seen: list[tuple[int, list[str]]] = []
    shell.bridge.refreshed.connect(lambda _events: happened.append("refreshed"))

    def look() -> None:
        events = session.log.end
        shell.bridge.submit(PauseClock(other))
        shell.bridge.request_refresh()
        press_space()
        sleep(0.3)
        seen.append((session.log.end - events, list(happened)))

    with watched(shell) as endless:
        press_space = press_key(endless, Qt.Key.Key_Space)
        thread = when_told(endless, look, press_break_off(endless))

        shell.bridge.submit(hanging_timer(shell))

        thread.join()
    assert seen == [(0, [])]
    shell.bridge.refresh_now()
    assert session.timeline.clocks[other].paused


def test_that_a_window_closed_meanwhile_breaks_it_off_and_closes_with_all_recorded(
    lend: Lend, qtbot: QtBot, tmp_path: Path
) -> None:
    shell = lend(DOZING)
    session = shell.bridge.session
    assert isinstance(session, HostedSession)
    session.recorder.start(tmp_path / "run.tlrec")
    session.hold()
    shell.bridge.refresh_now()
    with watched(shell) as endless:
        close = QCloseEvent()
        thread = when_told(endless, lambda: QCoreApplication.postEvent(shell.window, close))

        shell.bridge.submit(hanging_timer(shell))

        thread.join()
        qtbot.waitUntil(lambda: not shell.window.isVisible())
    recording = open_recording(tmp_path / "run.tlrec")
    assert recording.notes == ()
    assert any("interrupted after" in text for text in recording.strings)
    recording.close()


@pytest.mark.parametrize(
    ("head", "what"),
    [
        ("if True:", "game loop.py has been running its own code"),
        ("def build(stage):", "build(stage) in game loop.py has been running"),
    ],
    ids=["module", "build"],
)
def test_that_a_scene_that_never_loads_is_told_and_can_be_attached_to_instead(
    lend: Lend, qtbot: QtBot, tmp_path: Path, head: str, what: str
) -> None:
    shell = lend()
    game = tmp_path / "game loop.py"
    code = "    for _ in range(2_000):\n        sleep(0.01)\n"
    game.write_text(f"from time import sleep\n{head}\n{code}")
    doors: list[object] = []
    told: list[str] = []
    with watched(shell) as endless, pytest.MonkeyPatch.context() as patch:
        patch.setattr(shell.bridge, "open_door", doors.append)
        queued = Qt.ConnectionType.QueuedConnection
        button = endless.bar.attach_button
        thread = when_told(
            endless,
            lambda: told.append(endless.bar.label.text()),
            lambda: QMetaObject.invokeMethod(button, "click", queued),
        )
        shell.window.open_path(game)
        thread.join()
        qtbot.waitUntil(lambda: bool(doors))
    assert doors == [Launch((sys.executable, str(game)), tmp_path)]
    assert not endless.bar.isVisible()
    assert told[0].startswith(f"{what} for ")


def test_that_code_that_returns_in_time_is_left_alone(lend: Lend, qtbot: QtBot) -> None:
    shell = lend(DOZING.replace("+ 20", "+ 0.5"))
    session = shell.bridge.session
    assert isinstance(session, HostedSession)
    shell.bridge.submit(Hold())
    session.hold()
    shell.bridge.refresh_now()
    with watched(shell) as endless:
        thread = when_told(endless)

        shell.bridge.submit(hanging_timer(shell))

        thread.join()
        qtbot.waitUntil(endless.bar.isHidden)
    assert not session.timeline.failures


def begin(tmp_path: Path, text: str) -> subprocess.Popen[str]:
    """Open a scene in a window of a separate process."""
    scene = tmp_path / "my_game.py"
    scene.write_text(text, encoding="utf-8")
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "XDG_CONFIG_HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT),
    }
    return subprocess.Popen(
        [*python_with(WINDOW), "-c", IN_A_PROCESS, str(scene)],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_that_a_scene_that_never_loads_is_told_and_ended_by_a_signal(tmp_path: Path) -> None:
    process = begin(tmp_path, "while True:\n    pass\n")

    told = told_and_ended(process, on_stdout=True)

    assert told.startswith("told: my_game.py has been running its own code for ")


@HAS_SIGNALS
def test_that_a_callback_of_a_library_that_waits_is_told_and_ended_by_a_signal(
    tmp_path: Path,
) -> None:
    process = begin(tmp_path, WAITING.replace("CALL", "time.sleep, 1000"))

    told = told_and_ended(process, signal.SIGINT, on_stdout=True)

    assert told.startswith("told: “hang” has been running for ")
    assert told.endswith(" s, in sleep, set at line 7 of my_game.py.\n")


def has_handler(pid: int, number: int) -> bool:
    """Return whether a process handles a signal itself: it has not yet had the first."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    caught = re.search(r"^SigCgt:\s*(\w+)", status, re.MULTILINE)
    assert caught is not None
    return bool(int(caught[1], 16) & 1 << number - 1)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it needs Python to run")
def test_that_a_library_that_computes_is_told_on_the_terminal_and_ended_by_the_second_signal(
    tmp_path: Path,
) -> None:
    computing = """
import os
from hashlib import pbkdf2_hmac
from pathlib import Path

def build(stage):
    Path("pid").write_text(str(os.getpid()))
    arguments = ("sha256", b"", b"", 2_000_000_000)
    stage.root.set_timeout(0.1, pbkdf2_hmac, *arguments, name="hang")
"""
    process = begin(tmp_path, computing)
    assert process.stderr is not None
    try:
        told = next(line for line in process.stderr if "hang" in line)
        process.send_signal(signal.SIGTERM)
        pid = int((tmp_path / "pid").read_text())
        while has_handler(pid, signal.SIGTERM):
            assert process.poll() is None

        process.send_signal(signal.SIGTERM)

        assert process.wait(timeout=60) == -signal.SIGTERM
    finally:
        process.kill()
        process.communicate()
    assert "“hang” has been running for " in told
    assert told.endswith("; the second Ctrl+C ends the process.\n")


def test_that_a_second_signal_ends_a_scene_that_will_not_be_broken_off(tmp_path: Path) -> None:
    # The next interrupt may come while it says so, and would end it.
    stubborn = """
import os
while True:
    try:
        while True:
            try:
                while True:
                    pass
            except BaseException:
                os.write(1, b"no\\n")
    except BaseException:
        pass
"""
    process = begin(tmp_path, stubborn)
    assert process.stdout is not None
    try:
        assert process.stdout.readline().startswith("told: ")
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "no\n"

        process.send_signal(signal.SIGTERM)

        assert process.wait(timeout=60) == -signal.SIGTERM
    finally:
        process.kill()
        process.communicate()
