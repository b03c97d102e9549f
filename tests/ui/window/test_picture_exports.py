"""Pictures of the scene and of the timeline, exported from menus of the window and its panels."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QMenu

from tests.ui.shell import SMALL_GAME, Shell
from tests.ui.used_window import Lend
from ui.export.export_dialog import ExportDialog
from ui.kit.save_dialog import SaveDialog, file_stem
from ui.scene.panel import ScenePanel
from ui.timeline.panel import TimelinePanel


@pytest.fixture
def shell(lend: Lend) -> Shell:
    """Return a window on a game of which a second has passed."""
    shell = lend(SMALL_GAME)
    shell.pass_frames(60)
    shell.trigger("run-or-hold")
    shell.advance(1 / 60)
    return shell


def test_that_the_timeline_is_exported_from_the_menu(shell: Shell, tmp_path: Path) -> None:
    shell.trigger("export-timeline")
    dialog = shell.window.findChild(ExportDialog)
    assert isinstance(dialog, ExportDialog)

    assert dialog.format_name == "Timeline PNG"
    assert dialog._suggested_path().name == "a-small-game.timeline.png"
    assert dialog.preview.accessibleDescription().startswith("Timeline from")
    assert dialog.export_to(tmp_path / "a.timeline.svg")
    assert ">enemies</text>" in (tmp_path / "a.timeline.svg").read_text("utf-8")


def test_that_a_file_that_cannot_be_written_is_a_sentence(shell: Shell, tmp_path: Path) -> None:
    shell.trigger("export-timeline")
    dialog = shell.window.findChild(ExportDialog)
    assert isinstance(dialog, ExportDialog)

    assert not dialog.export_to(tmp_path / "nowhere" / "a.timeline.png")

    assert dialog.problem.endswith(".")
    dialog.reject()


def test_that_the_scene_is_exported_from_the_menu(shell: Shell, tmp_path: Path) -> None:
    shell.trigger("export-scene")
    shell.bridge.refresh_now()
    panel = shell.window.panels.panel("scene")
    assert isinstance(panel, ScenePanel)
    panel.refresh()
    QApplication.processEvents()
    dialog = panel.findChild(SaveDialog)
    assert isinstance(dialog, SaveDialog)

    dialog.file_given.emit(tmp_path / "a.svg")

    assert (tmp_path / "a.svg").read_text("utf-8").startswith("<?xml")
    assert panel.readout.text() == f"Wrote {tmp_path / 'a.svg'}."
    dialog.file_given.emit(tmp_path / "nowhere" / "a.svg")
    assert panel.readout.text().endswith(".")
    dialog.dialog.reject()


def test_that_the_lanes_menu_exports_the_timeline(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.window.panels.enter_panel("timeline")
    panel = shell.window.panels.panel("timeline")
    assert isinstance(panel, TimelinePanel)
    menus: list[QMenu] = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, _place: menus.append(menu))

    panel._open_menu(None, panel.rect().center())
    action = next(each for each in menus[0].actions() if each.text().startswith("Export"))
    action.trigger()

    dialog = shell.window.findChild(ExportDialog)
    assert isinstance(dialog, ExportDialog)
    assert dialog.format_name == "Timeline PNG"
    dialog.reject()


@pytest.mark.parametrize(
    ("name", "stem"), [("A small game", "a-small-game"), ("../x?", "x"), ("???", "scene")]
)
def test_that_names_of_scenes_become_names_of_files(name: str, stem: str) -> None:
    assert file_stem(name, "scene") == stem


def test_that_the_bar_offers_what_can_be_exported(shell: Shell) -> None:
    menu = shell.window.transport.exports

    titles = [each.text().replace("&", "") for each in menu.actions()]
    assert titles[:3] == [
        "Export …",
        "Export the timeline …",
        "Export the scene's picture …",
    ]
