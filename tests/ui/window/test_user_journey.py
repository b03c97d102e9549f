"""What a new user does in the first minutes, with mouse and keys on the whole window."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from inspector.sessions.session import SessionPhase
from tests.ui.shell import SMALL_GAME, Shell, open_shell
from tests.ui.used_window import Lend
from ui.clock_tree.panel import ClockTreePanel
from ui.export.export_dialog import ExportDialog
from ui.kit.prompts import Prompt
from ui.window.handlers.palette_dialog import CommandPalette

Key = Qt.Key


def open_dialog(kind: type[QDialog]) -> QDialog:
    """Return the dialog of that kind that is open."""
    return next(
        each
        for each in QApplication.topLevelWidgets()
        if isinstance(each, kind) and each.isVisible()
    )


def click_clock(qtbot: QtBot, shell: Shell, name: str) -> None:
    """Click the row of a clock."""
    shell.window.panels.open_panel("clock_tree")
    QApplication.processEvents()
    panel = shell.window.panels.panel("clock_tree")
    assert isinstance(panel, ClockTreePanel)
    index = panel.model.index(panel.model.row_of(shell.clock_id(name)) or 0, 0)
    panel.view.scrollTo(index)
    rect = panel.view.visualRect(index)
    before = panel.view.cells.before(panel.view.cells_of(index.row())[0])
    place = QPoint(rect.left() + before + 20, rect.center().y())
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=place)


def press(
    shell: Shell,
    key: Qt.Key,
    modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
) -> None:
    QTest.keyClick(QApplication.focusWidget() or shell.window, key, modifiers)
    shell.bridge.refresh_now()


def export_by_palette(qtbot: QtBot, shell: Shell, path: Path) -> None:
    """Find the command by a part of its name, and write the file."""
    modifier = Qt.KeyboardModifier
    press(shell, Key.Key_P, modifier.ControlModifier | modifier.ShiftModifier)
    palette = open_dialog(CommandPalette)
    assert isinstance(palette, CommandPalette)
    qtbot.keyClicks(palette.line, "export")
    qtbot.keyClick(palette.line, Key.Key_Return)
    dialog = open_dialog(ExportDialog)
    assert isinstance(dialog, ExportDialog)
    assert dialog.export_to(path)
    assert path.stat().st_size > 500
    shell.activate()
    shell.window.setFocus()


def test_that_a_user_gets_through_the_first_minutes(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path, SMALL_GAME)
    shell.activate()
    shell.advance(1)

    # Pauses the enemies while the interface continues.
    click_clock(qtbot, shell, "enemies")
    press(shell, Key.Key_P)
    shell.advance(1 / 60)
    clocks = shell.bridge.timeline.clocks
    assert clocks[shell.clock_id("enemies")].paused
    enemies_ns = shell.bridge.timeline.local_ns(shell.clock_id("enemies"))
    ui_ns = shell.bridge.timeline.local_ns(shell.clock_id("ui"))
    shell.advance(1)
    assert shell.bridge.timeline.local_ns(shell.clock_id("enemies")) == enemies_ns
    assert shell.bridge.timeline.local_ns(shell.clock_id("ui")) == ui_ns + 1_000_000_000

    # Slows a branch down.
    click_clock(qtbot, shell, "audio")
    press(shell, Key.Key_R)
    prompt = open_dialog(Prompt)
    assert isinstance(prompt, Prompt)
    prompt.line.selectAll()
    qtbot.keyClicks(prompt.line, "0.25")
    qtbot.keyClick(prompt.line, Key.Key_Return)
    shell.advance(1 / 60)
    assert clocks[shell.clock_id("audio")].rate == Fraction(1, 4)

    # Holds, steps one frame and ten, goes to the next timer.
    shell.window.setFocus()
    press(shell, Key.Key_Space)
    shell.advance(1 / 60)
    assert shell.bridge.status.phase is SessionPhase.HELD
    frames = shell.bridge.timeline.frames.end
    press(shell, Key.Key_Period)
    assert shell.bridge.timeline.frames.end == frames + 1
    press(shell, Key.Key_Period, Qt.KeyboardModifier.ShiftModifier)
    assert shell.bridge.timeline.frames.end == frames + 11
    before_ns = shell.bridge.timeline.at_ns
    press(shell, Key.Key_N)
    assert shell.bridge.timeline.at_ns > before_ns

    # Exports in every way.
    for suffix in ("png", "svg", "pdf", "csv", "json"):
        export_by_palette(qtbot, shell, tmp_path / f"frames.{suffix}")
    assert shell.window.notice.label.text() == "Written: frames.json"

    # Moves panels, closes and reopens the window: they are where they were.
    shell.window.panels["details"].hide()
    shell.window.close()
    again = open_shell(qtbot, tmp_path, SMALL_GAME)
    assert again.window.panels["details"].isHidden()
    assert again.window.settings.recent_scenes == (str(SMALL_GAME),)
    assert again.window.settings.export_folder == str(tmp_path)


@pytest.mark.parametrize("action_id", ["follow", "fit", "reset-view", "theme-system"])
def test_that_actions_without_a_session_work_as_well(lend: Lend, action_id: str) -> None:
    shell = lend(None)

    shell.trigger(action_id)

    assert shell.window.isVisible()
