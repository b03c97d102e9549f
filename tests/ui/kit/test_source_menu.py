"""What menus offer of a line of source code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QMenu

from ui.kit.source_menu import add_source_actions

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from pytestqt.qtbot import QtBot


def test_that_a_line_is_copied_and_its_file_opened_where_there_is_one(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    path = tmp_path / "server.py"
    path.write_text("")
    menu, missing = QMenu(), QMenu()
    for each in (menu, missing):
        qtbot.addWidget(each)
    add_source_actions(menu, f"{path}:4")
    add_source_actions(missing, "/srv/elsewhere.py:9")

    copying, opening = menu.actions()
    copying.trigger()
    opening.trigger()

    assert QGuiApplication.clipboard().text() == f"{path}:4"
    assert (opening.text(), opened) == ("Open server.py", [str(path)])
    assert [each.isEnabled() for each in missing.actions()] == [True, False]
