"""The refresh-rate lab panel, shown, with what a test needs to drive it."""

from __future__ import annotations

import subprocess
from collections.abc import Generator
from types import SimpleNamespace
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from inspector.engines.lab.display import Display
from inspector.engines.lab.refresh_lab import LabResult, begin_cell
from inspector.engines.lab.subjects import Subject
from inspector.engines.lab.timer import LabTimer
from tests.forked.python import COMMAND_LINE, python_with
from tests.ui.world import PlayedSession
from ui.kit.theme import Theme
from ui.lab.lab_form import LabForm
from ui.lab.panel import LabColumn, LabPanel
from ui.session.bridge import SessionBridge

#: What came out of each cell; it depends on nothing else.
_RESULTS: dict[tuple[LabTimer, Subject, Display], LabResult] = {}


def remember_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the panel run no cell that it has run in an earlier test, which may take 0.3 s."""
    monkeypatch.setattr("ui.lab.lab_runner.begin_cell", _begin_cell_once)


def _begin_cell_once(
    timer: LabTimer, subject: Subject, display: Display
) -> Generator[None, None, LabResult]:
    cell = timer, subject, display
    # Looked up once: it takes as long as the refreshes of its display are many.
    result = _RESULTS.get(cell)
    if result is None:
        result = _RESULTS[cell] = yield from begin_cell(*cell)
    return result


def start_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the processes of scenes import nothing; tests/engines/lab starts whole ones."""

    def start(command: list[str], **pipes: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401 - of Popen
        return subprocess.Popen([*python_with(COMMAND_LINE), *command[2:]], **pipes)

    quick = SimpleNamespace(Popen=start, PIPE=subprocess.PIPE)
    monkeypatch.setattr("inspector.engines.lab.scene_process.subprocess", quick)


class Stand:
    """The panel, shown, with what a test needs to drive it."""

    def __init__(self, qtbot: QtBot) -> None:
        self.qtbot = qtbot
        self.session = PlayedSession()
        self.bridge = SessionBridge()
        self.bridge.set_session(self.session)
        self.theme = Theme("light")
        self.panel = LabPanel(self.bridge, self.theme)
        qtbot.addWidget(self.panel)
        self.panel.resize(1280, 260)
        self.form: LabForm = self.panel.form

    def show(self) -> None:
        with self.qtbot.waitSignal(self.panel.runner.finished):
            self.panel.show()

    def ask(self, timers: str = "", displays: str = "", subjects: str = "") -> None:
        """Change what is asked, and run it."""
        form = self.form
        if displays:
            self.choose_displays(displays.split(","))
        if subjects:
            form.choose_subjects(subjects.split(","))
        if timers:
            form.timers_line.setText(timers)
        with self.qtbot.waitSignal(self.panel.runner.finished):
            self.panel.run_now()

    def choose_displays(self, names: list[str]) -> None:
        for name, action in self.form.display_actions.items():
            action.setChecked(name in names)

    def wait_for_reading(self, text: str) -> None:
        self.qtbot.waitUntil(lambda: text in self.panel.readout.text())

    def cell(self, row: int, column: LabColumn) -> str:
        return str(self.panel.model.index(row, column).data())

    def texts(self, column: LabColumn) -> list[str]:
        return [self.cell(row, column) for row in range(self.panel.model.rowCount())]
