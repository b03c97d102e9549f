"""What many tests of the window begin with."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from tests.ui.bridge_stand import Noted
from tests.ui.shell import SCENE, Shell
from tests.ui.used_window import Lend, UsedWindow
from tests.ui.world import World
from ui.frame_times.frame_plot import FramePlot
from ui.kit import guards
from ui.kit.style import FlatStyle
from ui.kit.theme import Theme
from ui.session.bridge import SessionBridge

_USED_WINDOW: Final = UsedWindow()


@pytest.fixture(scope="session", autouse=True)
def _application(qapp: QCoreApplication) -> None:
    """Have pictures and fonts in each file by itself, too."""
    assert qapp is not None


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def theme(qapp: QCoreApplication) -> Theme:
    assert qapp is not None
    return Theme("light")


@pytest.fixture
def plot(qtbot: QtBot, theme: Theme) -> FramePlot:
    """An empty plot of which about 1 100 pixels are for frames."""
    plot = FramePlot(theme)
    qtbot.addWidget(plot)
    plot.resize(1_200, 360)
    plot.show()
    qtbot.waitExposed(plot)
    return plot


@pytest.fixture
def bridge(qapp: QCoreApplication) -> Iterator[SessionBridge]:
    """The bridge alone, without a session."""
    assert qapp is not None
    bridge = SessionBridge()
    yield bridge
    bridge.close()


@pytest.fixture
def noted(bridge: SessionBridge) -> Noted:
    """What the bridge says."""
    noted = Noted()
    noted.listen(bridge)
    return noted


@pytest.fixture
def lend(qapp: QCoreApplication, tmp_path: Path) -> Iterator[Lend]:
    """Return a function that opens a scene in a window, as ``open_shell`` does."""
    assert qapp is not None
    lent: list[Shell] = []

    def lend(scene: str | Path | None = SCENE, size: tuple[int, int] | None = None) -> Shell:
        lent.append(_USED_WINDOW.lend(tmp_path, scene, size))
        return lent[-1]

    yield lend
    for shell in lent:
        _USED_WINDOW.give_back(shell)


@pytest.fixture
def shell(lend: Lend) -> Shell:
    """A window on a scene of which a second has passed in frames."""
    shell = lend()
    shell.pass_frames(60)
    QApplication.processEvents()
    return shell


@pytest.fixture(autouse=True)
def _usual_looks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Give the application back its font and its style, which a window changes for all.

    And the mouse and the keyboard: ``QTest.mouseDClick`` lets go of no button, ``QTest.keyClick``
    of no key that was down meanwhile.
    """
    if "qapp" not in request.fixturenames:
        yield
        return
    qapp = request.getfixturevalue("qapp")
    font = qapp.font()
    yield
    if isinstance(qapp.style(), FlatStyle):
        qapp.setStyle("Fusion")
    if qapp.font() != font:
        qapp.setFont(font)
    if (pressed := QGuiApplication.mouseButtons()) is not Qt.MouseButton.NoButton:
        with closing(QWidget()) as anywhere:
            anywhere.show()
            QTest.mouseRelease(anywhere, Qt.MouseButton(pressed.value))
    if QGuiApplication.keyboardModifiers() is not Qt.KeyboardModifier.NoModifier:
        with closing(QWidget()) as anywhere:
            QTest.keyRelease(anywhere, Qt.Key.Key_Control)


def pytest_runtest_setup() -> None:
    """Blame no test for what could not be said before it."""
    guards.faults.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Function, nextitem: pytest.Function | None
) -> Generator[None, object, object]:
    """Fail a test in which the window could not say something, and went on."""
    # Kept, too, while other tests of the file have their own, but not for hundreds without any.
    _USED_WINDOW.keep(
        is_kept=nextitem is not None
        and ("lend" in nextitem.fixturenames or nextitem.path == item.path)
    )
    try:
        return (yield)
    finally:
        assert not guards.faults


@pytest.fixture
def display() -> Iterator[str]:
    """Return a virtual display; without one the test is skipped."""
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb is not installed")
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1600x1000x24"]
    with subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL) as server:
        os.close(writing)
        with os.fdopen(reading) as numbers:
            yield f":{numbers.readline().strip()}"
        server.terminate()
