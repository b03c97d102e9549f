"""The gallery: every built-in scene with its picture, opened by a double click or Enter."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.sessions.scene import built_in_scenes
from tests.ui.shell import open_shell
from tests.ui.used_window import Lend
from ui.window.dialogs.gallery import GalleryDialog
from ui.window.dialogs.scene_error import SceneErrorView


def test_that_every_scene_has_a_picture_a_title_and_a_summary(qtbot: QtBot) -> None:
    scenes = built_in_scenes()
    dialog = GalleryDialog(scenes)
    qtbot.addWidget(dialog)
    gallery = dialog.gallery

    assert gallery.list.count() == len(scenes)
    for row, scene in enumerate(scenes):
        item = gallery.list.item(row)
        assert item.text() == scene.title
        assert not item.icon().pixmap(gallery.list.iconSize()).isNull(), scene.picture_path.name
        gallery.list.setCurrentRow(row)
        assert gallery.summary.text() == scene.summary


def test_that_titles_in_a_row_have_one_height(qtbot: QtBot) -> None:
    dialog = GalleryDialog(built_in_scenes())
    qtbot.addWidget(dialog)

    items = (dialog.gallery.list.item(row) for row in range(dialog.gallery.list.count()))
    heights = {item.icon().actualSize(dialog.gallery.list.iconSize()).height() for item in items}

    assert max(heights) - min(heights) <= 1


def test_that_a_scene_of_the_gallery_is_opened(lend: Lend, qtbot: QtBot) -> None:
    shell = lend()
    shell.trigger("gallery")
    dialog = shell.window.findChild(GalleryDialog)
    assert isinstance(dialog, GalleryDialog)
    dialog.gallery.list.setCurrentRow(3)

    qtbot.keyClick(dialog.gallery.list, Qt.Key.Key_Return)
    QApplication.processEvents()

    assert shell.bridge.session is not None
    assert shell.bridge.session.title == "04_minimal.py" or "smallest" in shell.bridge.session.title


def test_that_the_scenes_are_offered_where_nothing_could_be_opened(
    lend: Lend, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "cut.tlrec").write_bytes(b"garbage")
    shell = lend(tmp_path / "cut.tlrec")
    view = shell.window.middle.currentWidget()
    assert isinstance(view, SceneErrorView)
    gallery = view.gallery
    assert gallery is not None
    assert gallery.isVisible()
    gallery.list.setCurrentRow(3)

    qtbot.keyClick(gallery.list, Qt.Key.Key_Return)
    QApplication.processEvents()

    assert shell.bridge.session is not None
    assert "smallest" in shell.bridge.session.title
    assert not gallery.isVisible()


def test_that_the_source_of_a_broken_scene_has_the_page_to_itself(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = open_shell(qtbot, tmp_path, "def build(stage:")

    view = shell.window.middle.currentWidget()
    assert isinstance(view, SceneErrorView)
    assert view.source.isVisible()
    assert view.gallery is None
