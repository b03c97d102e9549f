"""What stays and what goes when another scene is opened in the window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.clocks import PauseClock
from inspector.commands.recording import StartRecording
from inspector.commands.transport import Hold
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from tests.ui.shell import SCENE, Shell, open_shell
from ui.kit.filter_line import FilterLine
from ui.window.dialogs.gallery import GalleryDialog
from ui.window.dialogs.replacing import ReplaceQuestion

BREAK = Breakpoint(BreakKind.TIMER_FIRES, "attack")


@pytest.fixture
def other(tmp_path: Path) -> Path:
    path = tmp_path / "other.py"
    path.write_text(SCENE, encoding="utf-8")
    return path


def filters(shell: Shell) -> list[FilterLine]:
    """Return the filters of the panels that were made, with those of three that have one."""
    panels = shell.window.panels
    for panel_id in ("clock_tree", "timer_queue", "event_list"):
        panels.panel(panel_id)
    return [line for each in panels.ids for line in panels[each].findChildren(FilterLine)]


def test_that_filters_are_cleared_for_another_scene(shell: Shell, other: Path) -> None:
    for line in filters(shell):
        line.setText("boss")
        line.apply_now()

    shell.window.open_path(other)

    assert len(filters(shell)) > 2
    assert {line.filter_text for line in filters(shell)} == {""}


def test_that_a_reload_keeps_the_filters(shell: Shell) -> None:
    (line, *_) = filters(shell)
    line.setText("boss")
    line.apply_now()

    shell.trigger("reload")
    shell.window.open_path(shell.window.opened_last)

    assert line.filter_text == "boss"


def test_that_another_scene_is_followed_again(shell: Shell, other: Path) -> None:
    shell.bridge.set_following(is_following=False)

    shell.window.open_path(other)

    assert shell.bridge.is_following
    assert shell.window.actions_by_id["follow"].isChecked()


def test_that_each_scene_has_its_own_breakpoints(
    shell: Shell, other: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    first = shell.window.opened_last
    shell.bridge.submit(AddBreakpoint(BREAK))
    shell.advance(0.1)

    def known(shell: Shell) -> int:
        session = shell.bridge.session
        assert session is not None
        assert session.breakpoints is not None
        return len(session.breakpoints.items())

    shell.window.open_path(other)
    assert known(shell) == 0
    shell.window.open_path(first)
    shell.advance(0.1)
    assert known(shell) == 1
    shell.window.open_path(other)
    shell.window.close()

    again = open_shell(qtbot, tmp_path, first)
    again.advance(0.1)
    assert known(again) == 1


def question(shell: Shell) -> ReplaceQuestion | None:
    return shell.window.findChild(ReplaceQuestion)


def choose_in_gallery(shell: Shell) -> None:
    shell.trigger("gallery")
    dialog = shell.window.findChild(GalleryDialog)
    assert dialog is not None
    dialog.gallery.list.setCurrentRow(3)
    dialog.gallery.list.itemActivated.emit(dialog.gallery.list.item(3))


def pause(shell: Shell) -> None:
    shell.bridge.submit(PauseClock(shell.clock_id("enemies")))
    shell.advance(0.1)


def test_that_a_scene_in_which_nothing_was_done_is_replaced_at_once(shell: Shell) -> None:
    shell.bridge.submit(Hold())
    former = shell.bridge.session

    choose_in_gallery(shell)

    assert question(shell) is None
    assert shell.bridge.session is not former


def test_that_a_scene_with_interventions_is_replaced_once_the_user_agrees(shell: Shell) -> None:
    pause(shell)
    shell.trigger("bookmark")
    former = shell.bridge.session

    choose_in_gallery(shell)

    asked = question(shell)
    assert asked is not None
    assert asked.text() == (
        "“played & tested” has 1 intervention and 1 annotation. What was not recorded is lost "
        "with it."
    )
    assert shell.bridge.session is former
    asked.here_button.click()
    assert shell.bridge.session is not former


def test_that_a_scene_that_is_recorded_is_replaced_once_the_user_agrees(
    shell: Shell, other: Path, tmp_path: Path
) -> None:
    former = shell.bridge.session
    assert former is not None
    assert former.recorder is not None
    shell.bridge.submit(StartRecording(str(tmp_path / "run.tlrec")))
    shell.advance(0.1)

    shell.contents.window_actions.open_here(other)

    asked = question(shell)
    assert asked is not None
    assert "The recording ends with it." in asked.text()
    asked.button(QMessageBox.StandardButton.Cancel).click()
    assert shell.bridge.session is former
    assert former.recorder.is_recording


def test_that_a_file_can_be_opened_beside_a_scene_instead(
    shell: Shell, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []
    monkeypatch.setattr("ui.window.handlers.window_actions.open_beside", opened.append)
    pause(shell)
    former = shell.bridge.session

    shell.contents.window_actions.open_here(other)

    asked = question(shell)
    assert asked is not None
    assert asked.beside_button is not None
    asked.beside_button.click()
    assert opened == [other]
    assert shell.bridge.session is former
