"""The line for newcomers at the foot of the side column."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon, QPixmap

from inspector.commands.clocks import PauseClock
from tests.ui.looking_back import settle
from tests.ui.shell import Shell
from tests.ui.used_window import Lend
from ui.kit.theme import Theme
from ui.window.first_run import STEPS
from ui.window.settings import Settings, SettingsFile


def said(shell: Shell) -> str:
    line = shell.contents.first_run
    return line.step if line.isVisible() else ""


def test_that_a_step_is_said_until_it_was_made_then_none_ever(lend: Lend) -> None:
    shell = lend()
    assert said(shell) == STEPS[0]
    # A line keeps it apart from text above that is cut by a low window.
    picture = shell.contents.first_run.grab().toImage()
    assert picture.pixel(0, 0) == picture.pixel(picture.width() - 1, 0) != picture.pixel(0, 1)

    shell.bridge.submit(PauseClock(shell.clock_id("enemies")))
    shell.advance(0.1)
    assert said(shell) == STEPS[1]

    shell.bridge.set_playhead(5)
    settle()
    assert said(shell) == ""
    shell.window.close()
    assert said(lend()) == ""


def test_that_it_is_closed_for_good(lend: Lend) -> None:
    shell = lend()

    shell.contents.first_run.close_button.click()

    assert said(shell) == ""
    shell.bridge.submit(PauseClock(shell.clock_id("enemies")))
    shell.advance(0.1)
    assert said(shell) == ""


def test_that_who_dismissed_the_former_card_sees_no_line(lend: Lend, tmp_path: Path) -> None:
    kept = Settings(panel_choices={"scene_card": "dismissed"})
    SettingsFile(tmp_path / "settings.json").save(kept)

    assert said(lend()) == ""


def test_that_a_scene_that_failed_has_nothing_to_try(lend: Lend) -> None:
    shell = lend("def build(stage):\n    {}['level']\n")

    assert said(shell) == ""


def test_that_the_sign_of_a_pause_is_painted(lend: Lend, monkeypatch: pytest.MonkeyPatch) -> None:
    line = lend().contents.first_run
    painted = line.label.grab().toImage()
    nothing = QPixmap(16, 16)
    nothing.fill(Qt.GlobalColor.transparent)

    monkeypatch.setattr(Theme, "icon", lambda *_: QIcon(nothing))
    line.refresh()

    assert line.label.grab().toImage() != painted
