"""Scenes in the window: opened, dropped, broken, mended, and failing while they run."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import PySide6
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from inspector.sessions.session import SessionPhase
from tests.ui.shell import SCENE, SMALL_GAME, Shell
from tests.ui.used_window import Lend
from ui.kit.theme import ColorRole
from ui.scene.panel import ScenePanel
from ui.window.dialogs.scene_error import SceneErrorDialog, SceneErrorView
from ui.window.handlers.palette_dialog import CommandPalette
from ui.window.status_line import FailureNote

BROKEN = "def build(stage):\n    clock = stage.root\n    clock.no_such_thing()\n"


def test_that_a_broken_scene_shows_its_line_and_the_window_lives_on(
    lend: Lend, tmp_path: Path
) -> None:
    shell = lend(BROKEN)

    view = shell.window.middle.currentWidget()
    assert isinstance(view, SceneErrorView)
    assert "no_such_thing" in view.heading.text()
    assert view.icon.geometry().center().y() == view.heading.geometry().center().y()
    assert view.place.text() == f"{tmp_path / 'scene.py'}, line 3"
    assert re.search(r"^> +3 │ +clock\.no_such_thing\(\)$", view.source.toPlainText(), re.MULTILINE)
    assert shell.window.isVisible()


def test_that_a_recording_that_cannot_be_read_is_not_offered_to_an_editor(
    lend: Lend, tmp_path: Path
) -> None:
    (tmp_path / "cut.tlrec").write_bytes(b"garbage")
    shell = lend(tmp_path / "cut.tlrec")

    view = shell.window.middle.currentWidget()
    assert isinstance(view, SceneErrorView)
    assert "is not a recording" in view.heading.text()
    assert view.edit_button.isHidden()
    assert view.reload_button.toolTip() == "Try to open the file again (F5)"


def test_that_reloading_a_mended_scene_brings_the_plot_back(
    lend: Lend, qtbot: QtBot, tmp_path: Path
) -> None:
    shell = lend(BROKEN)
    view = shell.window.middle.currentWidget()
    assert isinstance(view, SceneErrorView)
    (tmp_path / "scene.py").write_text(SCENE, encoding="utf-8")

    qtbot.mouseClick(view.reload_button, Qt.MouseButton.LeftButton)
    shell.bridge.refresh_now()

    assert shell.window.middle.currentIndex() == 0
    assert shell.bridge.status.phase is SessionPhase.RUNNING


def test_that_only_what_makes_sense_is_enabled_for_a_broken_scene(lend: Lend) -> None:
    shell = lend(BROKEN)

    actions = shell.window.actions_by_id
    assert actions["reload"].isEnabled()
    assert not actions["run-or-hold"].isEnabled()
    assert actions["run-or-hold"].reason.startswith("the scene could not be loaded")


@pytest.mark.parametrize("scene", [SCENE, BROKEN], ids=["without", "broken"])
def test_that_a_picture_that_does_not_exist_takes_no_room(lend: Lend, scene: str) -> None:
    shell = lend(scene)
    panel = shell.window.panels.panel("scene")
    if scene == SCENE:
        shell.advance(0.1)
    shell.bridge.refresh_now()
    assert not panel.isVisible()
    # Who asks for it is told why there is none.
    shell.trigger("panel-scene")
    shell.bridge.refresh_now()
    assert panel.isVisible()


def dragged_in(data: QMimeData) -> QDragEnterEvent:
    """Return the event of something that is dragged into the window."""
    # Qt 6.12 wants the place in fractions of a pixel; those before know whole ones only.
    place: Any = QPointF(9, 9) if PySide6.__version_info__ >= (6, 12) else QPoint(9, 9)
    actions, button = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    return QDragEnterEvent(place, actions, data, button, Qt.KeyboardModifier.NoModifier)


def test_that_a_dropped_python_file_is_opened(lend: Lend, tmp_path: Path) -> None:
    shell = lend(None)
    path = tmp_path / "dropped.py"
    path.write_text(SCENE, encoding="utf-8")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    actions, button = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    modifiers = Qt.KeyboardModifier.NoModifier

    enter = dragged_in(data)
    QApplication.sendEvent(shell.window, enter)
    QApplication.sendEvent(
        shell.window, QDropEvent(QPointF(9, 9), actions, data, button, modifiers)
    )

    assert enter.isAccepted()
    assert shell.bridge.session is not None
    assert shell.bridge.session.source_label == str(path)


@pytest.mark.parametrize("name", ["last.tlrec", "LAST.TLREC", "scene.pyw"])
def test_that_a_file_is_taken_by_how_its_name_ends(lend: Lend, tmp_path: Path, name: str) -> None:
    shell = lend(None)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / name))])

    enter = dragged_in(data)
    enter.ignore()
    QApplication.sendEvent(shell.window, enter)

    assert enter.isAccepted()


def test_that_links_are_not_taken(lend: Lend) -> None:
    shell = lend(None)
    data = QMimeData()
    data.setUrls([QUrl("https://example.org/scene.py")])

    enter = dragged_in(data)
    enter.ignore()
    QApplication.sendEvent(shell.window, enter)

    assert not enter.isAccepted()


def test_that_a_recent_scene_that_is_gone_is_said_and_forgotten(lend: Lend, tmp_path: Path) -> None:
    shell = lend()
    path = tmp_path / "scene.py"
    path.unlink()

    shell.window.open_path(path)

    assert "no longer exists" in shell.window.notice.label.text()
    assert shell.window.settings.recent_scenes == ()


FAILING = """
def build(stage):
    def load():
        raise KeyError("castle")
    stage.root.set_interval(0.1, load, name="load level")
"""


def test_that_failures_are_counted_in_the_status_bar(lend: Lend) -> None:
    shell = lend(FAILING)
    note = shell.window.panels.foot.findChildren(FailureNote)[0]
    was_hidden = note.isHidden()

    shell.advance(0.25)

    assert was_hidden
    assert note.text() == "2 failures"
    assert "KeyError: 'castle'" in note.toolTip()
    shell.bridge.reload()
    shell.advance(0.05)
    assert note.isHidden()


def test_that_a_scene_that_cannot_be_built_is_not_counted_as_a_callback(lend: Lend) -> None:
    shell = lend("def build(stage):\n    raise KeyError('castle')\n")
    note = shell.window.panels.foot.findChildren(FailureNote)[0]

    shell.advance(0.05)

    assert note.text() == note.accessibleName() == "The scene could not be loaded"
    assert "scene.py” could not be loaded: KeyError: 'castle'" in note.toolTip()


def test_that_a_scene_that_cannot_be_opened_is_told_beside_the_one_that_goes_on(
    lend: Lend, qtbot: QtBot, tmp_path: Path
) -> None:
    shell = lend()
    shell.advance(0.2)
    window, session = shell.window, shell.bridge.session
    bad = tmp_path / "bad.py"
    bad.write_text(BROKEN, encoding="utf-8")

    window.open_path(bad)

    assert shell.bridge.session is session
    assert window.middle.currentIndex() == 0
    assert window.windowTitle() == "played & tested – Timeline Inspector"
    assert window.notice.label.text().startswith("bad.py failed in build(stage) (line 3): ")
    assert window.notice.label.text().endswith("“played & tested” keeps running.")
    qtbot.mouseClick(window.notice.buttons[0], Qt.MouseButton.LeftButton)
    dialog = window.findChild(SceneErrorDialog)
    assert isinstance(dialog, SceneErrorDialog)
    assert dialog.view.place.text() == f"{bad}, line 3"
    assert all(button.icon().isNull() for button in dialog.findChildren(QPushButton))
    bad.write_text(SCENE.replace("played", "mended"), encoding="utf-8")
    qtbot.mouseClick(dialog.view.reload_button, Qt.MouseButton.LeftButton)
    assert window.windowTitle() == "mended & tested – Timeline Inspector"
    assert dialog.isHidden()


def drop(shell: Shell, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    actions, button = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    modifiers = Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(shell.window, dragged_in(data))
    event = QDropEvent(QPointF(9, 9), actions, data, button, modifiers)
    QApplication.sendEvent(shell.window, event)


def choose(shell: Shell, path: Path) -> None:
    """Choose a scene of the past in the command palette."""
    shell.window.settings = shell.window.settings.with_recent_scene(path)
    shell.trigger("palette")
    palette = shell.window.findChild(CommandPalette)
    assert isinstance(palette, CommandPalette)
    palette.line.setText(path.name)
    QTest.keyClick(palette.line, Qt.Key.Key_Return)


@pytest.mark.parametrize("way", [lambda shell, path: shell.window.open_path(path), drop, choose])
@pytest.mark.parametrize(
    ("name", "content"),
    [("bad.py", BROKEN), ("bad.tlrec", "garbage"), ("bad.csv", "hello"), ("bad.json", "[]")],
)
def test_that_however_a_bad_file_is_opened_the_scene_runs_on_and_a_notice_says_so(
    lend: Lend, tmp_path: Path, way: Callable[[Shell, Path], None], name: str, content: str
) -> None:
    shell = lend()
    shell.advance(0.2)
    session = shell.bridge.session
    bad = tmp_path / name
    bad.write_text(content, encoding="utf-8")

    way(shell, bad)
    shell.advance(0.2)

    assert shell.bridge.session is session
    assert shell.bridge.status.phase is SessionPhase.RUNNING
    assert shell.window.notice.isVisible()
    assert name in shell.window.notice.label.text()
    assert shell.window.notice.label.text().endswith("“played & tested” keeps running.")


def test_that_a_double_click_enlarges_the_picture_of_a_scene_until_it_is_put_back(
    lend: Lend, qtbot: QtBot
) -> None:
    shell = lend(SMALL_GAME)
    shell.advance(1 / 60)
    panel = shell.window.findChild(ScenePanel)
    assert panel is not None
    qtbot.waitUntil(panel.canvas.isVisible)
    before, middle = panel.canvas.size(), shell.window.middle

    qtbot.mouseDClick(panel.canvas, Qt.MouseButton.LeftButton)

    assert middle.currentWidget() is panel.canvas
    assert panel.canvas.width() > before.width()
    # A focus is seen after a key only.
    shell.window.activateWindow()
    panel.canvas.setFocus()
    blue = shell.window.theme.color(ColorRole.BLUE)
    corner = panel.canvas.grab().toImage().pixelColor(0, 0)
    assert panel.canvas.hasFocus()
    assert corner != blue
    qtbot.keyClick(shell.window, Qt.Key.Key_Escape)
    assert middle.currentIndex() == 0
    qtbot.waitUntil(lambda: panel.canvas.size() == before)
    assert panel.isAncestorOf(panel.canvas)
