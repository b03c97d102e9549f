"""What many tests of the window begin with."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from tests.ui.bridge_stand import Noted
from tests.ui.shell import SCENE, Shell, open_shell
from tests.ui.used_window import Lend, UsedWindow
from tests.ui.world import World
from ui.frame_times.frame_plot import FramePlot
from ui.kit import guards
from ui.kit.style import FlatStyle
from ui.kit.theme import Theme
from ui.session.bridge import SessionBridge


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


@pytest.fixture(scope="module")
def used_window(qapp: QCoreApplication) -> Iterator[UsedWindow]:
    """A window for the tests of a file."""
    assert qapp is not None
    window = UsedWindow()
    yield window
    window.discard()


@pytest.fixture
def lend(used_window: UsedWindow, tmp_path: Path) -> Iterator[Lend]:
    """Return a function that opens a scene in a window, as ``open_shell`` does."""
    lent: list[Shell] = []

    def lend(scene: str | Path | None = SCENE) -> Shell:
        lent.append(used_window.lend(tmp_path, scene))
        return lent[-1]

    yield lend
    for shell in lent:
        used_window.give_back(shell)


@pytest.fixture
def shell(qtbot: QtBot, tmp_path: Path) -> Shell:
    """A window on a scene of which a second has passed in frames."""
    shell = open_shell(qtbot, tmp_path)
    shell.pass_frames(60)
    QApplication.processEvents()
    return shell


@pytest.fixture(autouse=True)
def _usual_looks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Give the application back its font and its style, which a window changes for all.

    And the mouse its buttons: ``QTest.mouseDClick`` lets go of none.
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


def pytest_runtest_setup() -> None:
    """Blame no test for what could not be said before it."""
    guards.faults.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None, object, object]:
    """Fail a test in which the window could not say something, and went on."""
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
