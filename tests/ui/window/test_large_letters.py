"""The window where letters are half as large again: everything has its place in a small window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.sessions.scene import find_scene
from tests.ui.shell import Shell, open_shell
from ui.window.application import make_application

_SIZE = (1_280, 720)
#: With many timers, with long names, and with long texts.
_SCENES = ["thousand_timers", "schedulers", "components"]


@pytest.fixture(autouse=True)
def _large_letters(qapp: QApplication) -> None:
    make_application()
    large = qapp.font()
    large.setPointSizeF(1.5 * large.pointSizeF())
    qapp.setFont(large)


@pytest.fixture(params=_SCENES)
def shell(qtbot: QtBot, tmp_path: Path, request: pytest.FixtureRequest) -> Shell:
    shell = open_shell(qtbot, tmp_path, find_scene(request.param))
    shell.window.resize(*_SIZE)
    shell.pass_frames(120)
    QApplication.processEvents()
    return shell


def test_that_there_is_room_for_the_frame_times_and_the_window_keeps_its_size_whatever_is_open(
    qtbot: QtBot, shell: Shell
) -> None:
    plot, sizes = shell.window.frame_times.plot, {}
    qtbot.waitUntil(lambda: plot.height() >= 80)

    for panel_id in shell.window.panels.ids:
        shell.window.panels.open_panel(panel_id)
        for _ in range(5):
            shell.advance(1 / 60)
            QApplication.processEvents()
        sizes[panel_id] = shell.window.size().toTuple()

    assert set(sizes.values()) == {_SIZE}
