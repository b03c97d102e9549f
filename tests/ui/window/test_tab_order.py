"""The Tab key through the window: it gets everywhere, and out again, also while a scene runs."""

from __future__ import annotations

from typing import cast

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget
from pytestqt.qtbot import QtBot

from inspector.commands.clocks import PauseClock
from tests.ui.shell import SMALL_GAME, Shell
from tests.ui.used_window import Lend
from ui.session.bridge import Selection, SelectionKind
from ui.why.labels import LinkedLabel
from ui.why.panel import WhyPanel
from ui.window.focus import enter

Key = Qt.Key


@pytest.fixture
def shell(lend: Lend, qtbot: QtBot) -> Shell:
    shell = lend(SMALL_GAME)
    shell.activate()
    with qtbot.waitActive(shell.window):
        shell.window.setFocus()
    run(shell, 0.1)
    return shell


def details(shell: Shell) -> WhyPanel:
    panel = shell.window.findChild(WhyPanel)
    assert panel is not None
    return panel


def run(shell: Shell, seconds: float) -> None:
    """Let time pass, and have the details look and paint, which they do after a while."""
    shell.advance(seconds)
    details(shell).refresh()
    details(shell).grab()


def press(shell: Shell, key: Qt.Key) -> QWidget:
    """Press a key where the keyboard is while the scene runs; returns where it is then."""
    QTest.keyClick(QApplication.focusWidget() or shell.window, key)
    run(shell, 1 / 60)
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def next_timer(shell: Shell) -> LinkedLabel:
    """Return the link to the timer that fires next, which is another one again and again."""
    labels = (each for each in details(shell).findChildren(LinkedLabel) if each.isVisible())
    return next(each for each in labels if any("TIMER:" in where for where in each.addresses))


@pytest.mark.parametrize("key", [Key.Key_Tab, Key.Key_Backtab])
def test_that_tab_comes_back_to_where_it_began_while_a_scene_runs(
    shell: Shell, key: Qt.Key
) -> None:
    first = press(shell, key)
    seen = [first]
    for _ in range(120):
        seen.append(press(shell, key))
        if seen[-1] is first:
            break

    assert seen[-1] is first
    assert next_timer(shell) in seen


def test_that_a_link_that_changes_keeps_the_keyboard_visibly(shell: Shell) -> None:
    link = next_timer(shell)
    link.setFocus(Qt.FocusReason.TabFocusReason)
    run(shell, 0.5)

    assert link.hasFocus()
    assert link.selectedText() == timers_by_due(shell)[0]


def timers_by_due(shell: Shell) -> list[str]:
    timeline = shell.bridge.timeline
    timeline.resolve_dues()
    rows = [timeline.timers.row(number) for number in timeline.timers.ids()]
    rows.sort(key=lambda row: (timeline.session_due_ns(row.id) or 0, row.order))
    return [row.label for row in rows]


def test_that_enter_follows_a_link_that_changes(shell: Shell) -> None:
    link = next_timer(shell)
    link.setFocus(Qt.FocusReason.TabFocusReason)
    run(shell, 0.5)
    first = timers_by_due(shell)[0]

    QTest.keyClick(link, Key.Key_Return)

    assert shell.bridge.selection.kind is SelectionKind.TIMER
    assert shell.bridge.timeline.timers.row(shell.bridge.selection.id).label == first


def test_that_the_keyboard_stays_in_the_details_when_a_link_leads_to_others(shell: Shell) -> None:
    link = next_timer(shell)
    link.setFocus(Qt.FocusReason.TabFocusReason)

    QTest.keyClick(link, Key.Key_Return)
    details(shell).grab()

    widget = QApplication.focusWidget()
    assert widget is not None
    assert details(shell).isAncestorOf(widget)


def test_that_the_keyboard_stays_on_its_link_in_another_theme(shell: Shell) -> None:
    next_timer(shell).setFocus(Qt.FocusReason.TabFocusReason)

    shell.trigger("theme-dark")

    assert next_timer(shell).hasFocus()
    assert next_timer(shell).hasSelectedText()


def test_that_tab_goes_from_the_path_to_the_buttons_and_the_reasons(shell: Shell) -> None:
    enemies = shell.clock_id("enemies")
    shell.bridge.select(Selection.clock(enemies))
    shell.bridge.submit(PauseClock(enemies))
    run(shell, 0.5)
    panel = details(shell)
    panel.about.setFocus(Qt.FocusReason.TabFocusReason)

    seen = [panel.about.accessibleName()]
    while panel.isAncestorOf(widget := press(shell, Key.Key_Tab)):
        if widget.accessibleName() not in seen:
            seen.append(widget.accessibleName())

    before, after = seen[: seen.index("Why")], seen[seen.index("Why") + 1 :]
    assert before[0] == "About: Clock · root / game"
    assert before[-1] == "Resume enemies"
    assert "You paused enemies." in after[0]


def test_that_tab_goes_down_along_the_axis_then_down_the_column_then_along_the_foot(
    shell: Shell,
) -> None:
    enter(shell.window.frame_times.strip)
    first = QApplication.focusWidget()
    assert first is not None
    seen = [first]
    while len(seen) < 120 and (stop := press(shell, Key.Key_Tab)) is not first:
        seen.append(stop)

    found = [each.accessibleName() or cast("QAbstractButton", each).text() for each in seen]
    names = [
        *("Overview of the session", "Ruler", "Session time", "Frames", "60 fps budget", "Lanes"),
        *("Why", "About this scene ▸", "Close the hint", "Timers 10", "More", "Menu"),
    ]
    assert [name for name in found if name in names] == [*names, "Session time"]
