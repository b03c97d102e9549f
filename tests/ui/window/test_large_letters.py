"""The window where letters are half as large again: everything has its place in a small window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.sessions.scene import find_scene
from tests.ui.shell import open_shell
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


def test_that_there_is_room_for_the_frame_times_and_the_window_keeps_its_size_whatever_is_open(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = open_shell(qtbot, tmp_path, None)
    shell.window.resize(*_SIZE)
    plot, panels = shell.window.frame_times.plot, shell.window.panels

    for scene in _SCENES:
        panels.close_tray()
        shell.open(tmp_path, find_scene(scene))
        shell.pass_frames(120)
        qtbot.waitUntil(lambda: plot.height() >= 80)

        for panel_id in panels.ids:
            panels.open_panel(panel_id)
            for _ in range(3):
                shell.advance(1 / 60)
                QApplication.processEvents()
            assert shell.window.size().toTuple() == _SIZE, (scene, panel_id)
