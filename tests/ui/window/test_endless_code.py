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
from inspector.sessions.session import SessionPhase
from tests.signalled import told_and_ended
from tests.ui.shell import Shell, open_shell
from ui.window import endless_code
from ui.window.endless_code import EndlessCode

Press = Callable[[EndlessCode], Callable[[], object]]

ROOT = Path(__file__).resolve().parents[3]

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
endless = load_ui("window.endless_code")
endless._ALIVE_AFTER_S, endless._TOLD_AFTER_S = 0.2, 0.4
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


@contextmanager
def watched(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Iterator[EndlessCode]:
    """Watch the window of a test, impatiently."""
    monkeypatch.setattr(endless_code, "_ALIVE_AFTER_S", 0.05)
    monkeypatch.setattr(endless_code, "_TOLD_AFTER_S", 0.1)
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


@pytest.mark.parametrize("scene", [SPINNING, SLEEPING], ids=["spinning", "sleeping"])
@pytest.mark.parametrize("press", [press_break_off, press_escape])
def test_that_a_callback_that_does_not_return_is_told_and_broken_off(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scene: str, press: Press
) -> None:
    shell = open_shell(qtbot, tmp_path, scene)
    session = shell.bridge.session
    assert isinstance(session, HostedSession)
    session.hold()
    shell.bridge.refresh_now()
    told: list[str] = []
    with watched(shell, monkeypatch) as endless:
        thread = when_told(endless, lambda: told.append(endless.bar.label.text()), press(endless))

        shell.bridge.submit(hanging_timer(shell))

        thread.join()
        qtbot.waitUntil(endless.bar.isHidden)
        assert endless.bar.attach_button.isHidden()
    shell.bridge.refresh_now()
    assert told[0].startswith("“hang” in scene.py has been running for ")
    assert shell.bridge.status.phase is SessionPhase.HELD
    assert "interrupted after" in session.timeline.failures[-1].traceback
    assert "endless_code" not in session.timeline.failures[-1].traceback
    assert shell.window.isVisible()


def test_that_nothing_else_happens_in_the_middle_of_a_callback(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = open_shell(qtbot, tmp_path, DOZING)
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

    with watched(shell, monkeypatch) as endless:
        press_space = press_key(endless, Qt.Key.Key_Space)
        thread = when_told(endless, look, press_break_off(endless))

        shell.bridge.submit(hanging_timer(shell))

        thread.join()
    assert seen == [(0, [])]
    shell.bridge.refresh_now()
    assert session.timeline.clocks[other].paused


def test_that_a_window_closed_meanwhile_breaks_it_off_and_closes_with_all_recorded(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = open_shell(qtbot, tmp_path, DOZING)
    session = shell.bridge.session
    assert isinstance(session, HostedSession)
    session.recorder.start(tmp_path / "run.tlrec")
    session.hold()
    shell.bridge.refresh_now()
    with watched(shell, monkeypatch) as endless:
        close = QCloseEvent()
        thread = when_told(endless, lambda: QCoreApplication.postEvent(shell.window, close))

        shell.bridge.submit(hanging_timer(shell))

        thread.join()
        qtbot.waitUntil(lambda: not shell.window.isVisible())
    recording = open_recording(tmp_path / "run.tlrec")
    assert recording.notes == ()
    assert any("interrupted after" in text for text in recording.strings)
    recording.close()


def test_that_a_scene_that_never_loads_can_be_attached_to_instead(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = open_shell(qtbot, tmp_path)
    game = tmp_path / "game loop.py"
    game.write_text("from time import sleep\nfor _ in range(2_000):\n    sleep(0.01)\n")
    doors: list[object] = []
    monkeypatch.setattr(shell.bridge, "open_door", doors.append)
    with watched(shell, monkeypatch) as endless:
        queued = Qt.ConnectionType.QueuedConnection
        button = endless.bar.attach_button
        thread = when_told(endless, lambda: QMetaObject.invokeMethod(button, "click", queued))
        shell.window.open_path(game)
        thread.join()
        qtbot.waitUntil(lambda: bool(doors))
    assert doors == [Launch((sys.executable, str(game)), tmp_path)]
    assert not endless.bar.isVisible()


def test_that_code_that_returns_in_time_is_left_alone(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = open_shell(qtbot, tmp_path, DOZING.replace("+ 20", "+ 0.5"))
    session = shell.bridge.session
    assert isinstance(session, HostedSession)
    shell.bridge.submit(Hold())
    session.hold()
    shell.bridge.refresh_now()
    with watched(shell, monkeypatch) as endless:
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
        [sys.executable, "-c", IN_A_PROCESS, str(scene)],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("number", "text", "said"),
    [
        (
            signal.SIGTERM,
            "while True:\n    pass\n",
            "my_game.py has been running its own code for ",
        ),
        (
            signal.SIGINT,
            "def build(stage):\n    while True:\n        pass\n",
            "build(stage) in my_game.py has",
        ),
    ],
    ids=["module", "build"],
)
def test_that_a_scene_that_never_loads_is_told_and_ended_by_a_signal(
    tmp_path: Path, text: str, said: str, number: signal.Signals
) -> None:
    process = begin(tmp_path, text)

    told = told_and_ended(process, number, on_stdout=True)

    assert told.startswith(f"told: {said}")


WAITING = """
import socket, threading, time

def build(stage):
    pair = stage.pair = socket.socketpair()
    locked = threading.Lock()
    locked.acquire()
    stage.root.set_timeout(0.1, CALL, name="hang")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("call", "label"),
    [
        ("time.sleep, 1000", "sleep"),
        ("locked.acquire", "lock.acquire"),
        ("pair[0].recv, 1", "socket.recv"),
    ],
    ids=["sleep", "lock", "recv"],
)
def test_that_a_callback_of_a_library_that_waits_is_told_and_ended_by_a_signal(
    tmp_path: Path, call: str, label: str
) -> None:
    process = begin(tmp_path, WAITING.replace("CALL", call))

    told = told_and_ended(process, on_stdout=True)

    assert told.startswith("told: “hang” has been running for ")
    assert told.endswith(f" s, in {label}, set at line 8 of my_game.py.\n")


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
from hashlib import pbkdf2_hmac

def build(stage):
    arguments = ("sha256", b"", b"", 2_000_000_000)
    stage.root.set_timeout(0.1, pbkdf2_hmac, *arguments, name="hang")
"""
    process = begin(tmp_path, computing)
    assert process.stderr is not None
    try:
        told = next(line for line in process.stderr if "hang" in line)
        process.send_signal(signal.SIGTERM)
        while has_handler(process.pid, signal.SIGTERM):
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
