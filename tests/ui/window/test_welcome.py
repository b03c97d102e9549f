"""What the window offers while nothing is open."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from inspector.commands.clocks import PauseClock
from tests.sessions.test_captured import table
from tests.ui.shell import SCENE, Shell, open_shell
from tests.ui.used_window import Lend
from ui.window.dialogs.open_program import OpenProgramDialog
from ui.window.dialogs.replacing import ReplaceQuestion
from ui.window.settings import Settings, SettingsFile
from ui.window.welcome import Welcome


def welcome_of(shell: Shell) -> Welcome:
    QApplication.processEvents()
    view = shell.window.middle.currentWidget()
    assert isinstance(view, Welcome)
    return view


def test_that_without_a_scene_enter_opens_the_small_game(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path, None)
    shell.activate()
    view = welcome_of(shell)
    assert view.ways[0].hasFocus()
    assert shell.window.panels.tabs.isHidden()
    assert shell.window.panels.column.isHidden()

    qtbot.keyClick(view.ways[0], Qt.Key.Key_Return)

    assert shell.bridge.source_name.endswith("01_small_game.py")
    assert shell.window.middle.currentIndex() == 0
    assert not shell.window.panels.tabs.isHidden()
    assert shell.window.panels.column.isVisible()


def test_that_the_last_files_are_offered_with_what_they_are(qtbot: QtBot, tmp_path: Path) -> None:
    scene = tmp_path / "mine.py"
    scene.write_text(SCENE, "utf-8")
    recent = (str(scene), "/r/a.tlrec", "/c/game.csv", "/s/b.py", "/s/c.py")
    SettingsFile(tmp_path / "settings.json").save(Settings(recent_scenes=recent))

    view = welcome_of(open_shell(qtbot, tmp_path, None))

    said = [(each.text(), each.accessibleDescription()) for each in view.recent]
    assert said == [
        ("mine.py", f"scene, {tmp_path}"),
        ("a.tlrec", "recording, /r"),
        ("game.csv", "capture, /c"),
        ("b.py", "scene, /s"),
    ]
    with qtbot.waitSignal(view.file_chosen) as chosen:
        view.recent[0].click()
    assert chosen.args == [scene]


def test_that_the_program_that_was_opened_last_is_offered_with_them(
    qtbot: QtBot, tmp_path: Path
) -> None:
    programs = ({"command": "python3 aio.py"}, {"command": "node b.js"})
    recent = tuple(f"/s/{name}.py" for name in "abcde")
    SettingsFile(tmp_path / "settings.json").save(
        Settings(recent_scenes=recent, recent_programs=programs)
    )

    shell = open_shell(qtbot, tmp_path, None)
    view = welcome_of(shell)

    said = [(each.text(), each.accessibleDescription()) for each in view.recent]
    assert said[2:] == [("c.py", "scene, /s"), ("python3 aio.py", "attached program")]
    view.recent[3].click()
    (dialog,) = shell.window.findChildren(OpenProgramDialog)
    assert dialog.line.text() == "python3 aio.py"
    dialog.reject()


def test_that_a_capture_with_nothing_to_compare_it_with_leaves_the_welcome_as_it_is(
    lend: Lend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = lend(None)
    view = welcome_of(shell)
    answers = [[str(table(tmp_path))], []]
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_of: (answers.pop(0), ""))

    view.compare_link.click()

    assert not answers
    assert welcome_of(shell) is view


def test_that_what_was_open_last_is_whole_where_there_is_no_room_for_all(
    qtbot: QtBot, tmp_path: Path
) -> None:
    recent = tuple(f"/s/{name}.py" for name in "abcd")
    settings = Settings(recent_scenes=recent, text_size=200)
    SettingsFile(tmp_path / "settings.json").save(settings)

    view = welcome_of(open_shell(qtbot, tmp_path, None, is_dressed=True))
    view.window().resize(1_280, 720)
    QApplication.processEvents()

    assert all(each.height() >= each.sizeHint().height() for each in (*view.ways, *view.recent))


def test_that_closing_a_scene_leads_there_and_asks_first_if_something_is_lost(lend: Lend) -> None:
    shell = lend()
    shell.bridge.submit(PauseClock(shell.clock_id("enemies")))
    shell.advance(0.1)

    shell.window.actions_by_id["close-session"].trigger()
    (question,) = shell.window.findChildren(ReplaceQuestion)
    assert "1 intervention" in question.text()
    assert question.here_button.text() == "&Close"
    question.here_button.click()

    assert shell.bridge.session is None
    assert [each.text() for each in welcome_of(shell).recent] == ["scene.py"]
    assert not shell.window.actions_by_id["close-session"].isEnabled()


def test_that_a_window_that_closes_offers_nothing(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)

    shell.window.close()
    QApplication.processEvents()

    assert shell.window.middle.findChild(Welcome) is None
