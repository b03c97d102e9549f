"""A window in a process of its own, as tests of installed packages start it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from tests.ui.shell import SCENE, Shell, open_shell
from ui.window.process import FaultReporter


class _Keeper:
    """Keeps a widget as long as the process lasts."""

    def __init__(self) -> None:
        self.widgets: list[QWidget] = []

    def addWidget(self, widget: QWidget) -> None:  # noqa: N802 - as pytest-qt calls it
        self.widgets.append(widget)


_KEEPER = _Keeper()


def lone_shell(scene: str = SCENE) -> Shell:
    """Return a window in the present folder that reports faults."""
    shell = open_shell(cast("QtBot", _KEEPER), Path.cwd(), scene)
    FaultReporter(shell.window)
    return shell


def turn(times: int = 5) -> None:
    """Let the event loop turn."""
    for _ in range(times):
        QApplication.processEvents()


def finish(shell: Shell, said: dict[str, object]) -> None:
    """Close the window and print what was seen, with the notice."""
    notice = shell.window.notice
    said["notice"] = notice.label.text() if notice.isVisible() else ""
    shell.window.close()
    print(json.dumps(said))  # noqa: T201 - for the test that started the process
