"""The gallery: every built-in scene with its picture, opened by a double click or Enter."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.sessions.scene import built_in_scenes
from tests.ui.shell import open_shell
from ui.window.dialogs.gallery import GalleryDialog


def test_that_every_scene_has_a_picture_a_title_and_a_summary(qtbot: QtBot) -> None:
    scenes = built_in_scenes()
    dialog = GalleryDialog(scenes)
    qtbot.addWidget(dialog)

    assert dialog.list.count() == len(scenes)
    for row, scene in enumerate(scenes):
        item = dialog.list.item(row)
        assert item.text() == scene.title
        assert not item.icon().pixmap(dialog.list.iconSize()).isNull(), scene.picture_path.name
        dialog.list.setCurrentRow(row)
        assert dialog.summary.text() == scene.summary


def test_that_titles_in_a_row_have_one_height(qtbot: QtBot) -> None:
    dialog = GalleryDialog(built_in_scenes())
    qtbot.addWidget(dialog)

    items = (dialog.list.item(row) for row in range(dialog.list.count()))
    heights = {item.icon().actualSize(dialog.list.iconSize()).height() for item in items}

    assert max(heights) - min(heights) <= 1


def test_that_a_scene_of_the_gallery_is_opened(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    shell.trigger("gallery")
    dialog = shell.window.findChild(GalleryDialog)
    assert isinstance(dialog, GalleryDialog)
    dialog.list.setCurrentRow(3)

    qtbot.keyClick(dialog.list, Qt.Key.Key_Return)
    QApplication.processEvents()

    assert shell.bridge.session is not None
    assert shell.bridge.session.title == "04_minimal.py" or "smallest" in shell.bridge.session.title
