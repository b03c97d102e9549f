"""What stays and what goes when another scene is opened in the window."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from inspector.commands.breakpoints import AddBreakpoint
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from tests.ui.shell import SCENE, Shell, open_shell
from ui.kit.filter_line import FilterLine

BREAK = Breakpoint(BreakKind.TIMER_FIRES, "attack")


@pytest.fixture
def other(tmp_path: Path) -> Path:
    path = tmp_path / "other.py"
    path.write_text(SCENE, encoding="utf-8")
    return path


def filters(shell: Shell) -> list[FilterLine]:
    """Return the filters of the panels that were made."""
    docks = shell.window.docks
    return [line for each in docks.ids for line in docks.place_of(each).findChildren(FilterLine)]


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
