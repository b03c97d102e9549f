"""The tabs of stacked docks: how many there are, what they say, and what is under *More*."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication, QTabBar, QToolButton
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from inspector.commands.breakpoints import AddBreakpoint
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.extensions import PanelArea
from inspector.sessions.scene import built_in_scenes
from inspector.testing import virtual_session
from tests.ui.shell import Shell, open_shell
from ui.actions.panels import PANELS
from ui.timer_queue.call_queue import CallGroup
from ui.timer_queue.panel import TimerQueuePanel
from ui.window.docks.panel_docks import MOST_TABS


@pytest.fixture
def shell(qtbot: QtBot, tmp_path: Path) -> Shell:
    shell = open_shell(qtbot, tmp_path)
    settle()
    return shell


def settle() -> None:
    for _ in range(4):
        QApplication.processEvents()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def bar(shell: Shell) -> QTabBar:
    return next(each for each in shell.window.docks.tabs.bars() if each.isVisible())


def texts(shell: Shell) -> list[str]:
    shown = bar(shell)
    return [shown.tabText(index).rstrip("\u2007") for index in range(shown.count())]


def offered(shell: Shell) -> list[str]:
    menu = shell.window.docks.tabs.more_menu
    menu.aboutToShow.emit()
    return [action.text() for action in menu.actions()]


def test_that_the_first_few_panels_have_tabs_and_the_rest_is_under_more(shell: Shell) -> None:
    below = [each.title for each in PANELS if each.area is PanelArea.BOTTOM]

    assert [text.split()[0] for text in texts(shell)] == [
        title.split()[0] for title in below[:MOST_TABS]
    ]
    assert offered(shell) == below[MOST_TABS:]
    assert shell.window.docks.tabs.more_button.isVisible()


def test_that_nothing_is_kept_of_tab_bars_that_are_gone(shell: Shell) -> None:
    kinds = (QTabBar, QToolButton)

    def kept() -> int:
        gc.collect()
        widgets = [each for each in gc.get_objects() if type(each) in kinds]
        return sum(not isValid(each) for each in widgets)

    for number in range(10):
        shell.window.docks.arrange(("live", "analyse")[number % 2])
        settle()
    before = kept()
    for number in range(10):
        shell.window.docks.arrange(("live", "analyse")[number % 2])
        settle()

    assert kept() == before


def test_that_more_stands_behind_the_last_tab(shell: Shell) -> None:
    shown, more = bar(shell), shell.window.docks.tabs.more_button

    assert more.x() >= shown.x() + shown.tabRect(shown.count() - 1).right()
    assert more.geometry().right() <= shown.geometry().right()


def test_that_more_hides_no_tab_when_there_are_too_many(qtbot: QtBot, shell: Shell) -> None:
    tabs = shell.window.docks.tabs
    for panel_id in ("interventions", "bookmarks", "statistics", "lab"):
        shell.trigger(f"panel-{panel_id}")
    shell.window.resize(1_000, 700)
    settle()

    def is_beside() -> bool:
        last = bar(shell).x() + bar(shell).tabRect(bar(shell).count() - 1).right()
        end = shell.window.docks["lab"].geometry().right()
        return last < tabs.more_button.x() and tabs.more_button.geometry().right() <= end

    qtbot.waitUntil(is_beside)
    narrow = bar(shell).tabRect(0).width()
    shell.window.resize(2_400, 700)
    settle()

    qtbot.waitUntil(is_beside)
    qtbot.waitUntil(lambda: bar(shell).tabRect(0).width() > narrow)


def test_that_a_panel_opened_from_more_has_a_tab_from_then_on(shell: Shell) -> None:
    menu = shell.window.docks.tabs.more_menu
    offered(shell)

    next(each for each in menu.actions() if each.text() == "Bookmarks").trigger()
    settle()

    assert "Bookmarks" in texts(shell)
    assert shell.window.docks.is_in_front("bookmarks")
    assert "Bookmarks" not in offered(shell)


def test_that_what_a_tab_says_is_not_said_again_below_it(shell: Shell) -> None:
    docks = shell.window.docks

    assert docks["timer_queue"].widget().y() == 0
    assert docks["details"].widget().y() > 0


def test_that_a_panel_whose_tab_goes_has_a_title_to_be_moved_by(shell: Shell) -> None:
    docks = shell.window.docks
    for panel_id in docks.ids:
        if panel_id not in ("clock_tree", "scene", "details", "event_list"):
            docks.place_of(panel_id).hide()
    settle()

    assert docks["event_list"].widget().y() > 0
    assert docks.tabs.more_button.isHidden()


def test_that_a_tab_can_be_closed_and_floated_by_its_menu(shell: Shell) -> None:
    docks = shell.window.docks
    closing, floating = (
        {each.text(): each for each in docks.tabs.make_menu(docks[panel_id]).actions()}
        for panel_id in ("findings", "event_list")
    )

    closing["Close"].trigger()
    floating["Float"].trigger()
    settle()

    assert docks["findings"].isHidden()
    assert docks["event_list"].isFloating()
    assert docks["event_list"].titleBarWidget() is None
    assert "Events" not in texts(shell)


def test_that_tabs_count_timers_and_hits(shell: Shell) -> None:
    shell.bridge.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "attack")))
    for _ in range(6):
        shell.advance(0.1)
    shell.contents.badges.show_counts()

    assert shell.window.docks["breakpoints"].windowTitle() == "Breakpoints 1 hit"
    assert "Events" in texts(shell)


def test_that_a_tab_says_as_many_timers_as_the_list_below_it(shell: Shell) -> None:
    shell.window.docks.show_panel("timer_queue")
    queue = shell.window.docks.panel("timer_queue")
    assert isinstance(queue, TimerQueuePanel)
    for _ in range(8):
        shell.advance(0.1)
        queue.refresh()

        assert f"Timers {queue.timer_count:,}".rstrip() in [each.strip() for each in texts(shell)]
        button = queue.group_buttons[CallGroup.CLOCK_TIMERS]
        assert button.text() == f"Clock timers ({queue.timer_count:,})"


def test_that_a_tab_keeps_its_width_while_its_number_changes(shell: Shell) -> None:
    tabs = shell.window.docks.tabs
    widths = []

    for count in ("112", "98", "7"):
        tabs.show_badge("timer_queue", count)
        settle()
        widths.append(bar(shell).tabRect(0).width())

    assert widths[0] == widths[1] == widths[2]


def test_that_findings_of_a_scene_that_is_held_are_counted_unseen(
    qtbot: QtBot, tmp_path: Path
) -> None:
    fast = "def build(stage):\n    stage.root.set_interval(0.004, lambda: None, name='fast')\n"
    shell = open_shell(qtbot, tmp_path, fast)
    for _ in range(20):
        shell.advance(0.1)
    assert not [text for text in texts(shell) if text.startswith("Findings ")]

    shell.trigger("run-or-hold")
    shell.contents.badges.look_for_findings()

    assert "Findings 1" in texts(shell)
    assert not shell.window.docks.is_in_front("findings")


def test_that_a_panels_key_shows_and_enters_it_and_hides_it_only_when_it_is_in_use(
    shell: Shell,
) -> None:
    shell.activate()
    docks = shell.window.docks
    docks.show_panel("clock_tree")

    shell.trigger("panel-event_list")
    assert docks.is_in_front("event_list")
    assert docks.panel_in_use() == "event_list"

    docks.show_panel("clock_tree")
    shell.trigger("panel-event_list")
    assert docks.panel_in_use() == "event_list"

    shell.trigger("panel-event_list")
    assert docks["event_list"].isHidden()


def test_that_the_panel_in_use_can_be_floated_by_a_command(shell: Shell) -> None:
    shell.activate()
    dock = shell.window.docks["event_list"]
    shell.window.docks.show_panel("event_list")

    shell.trigger("float-panel")

    assert dock.isFloating()


def test_that_the_panel_in_use_can_be_closed_by_a_command(shell: Shell) -> None:
    shell.activate()
    shell.window.docks.show_panel("event_list")

    shell.trigger("close-panel")

    assert shell.window.docks["event_list"].isHidden()
    assert not shell.window.docks["clock_tree"].isHidden()


def test_that_panels_a_scene_brings_are_in_front_until_another_brings_its_own(
    shell: Shell,
) -> None:
    docks = shell.window.docks

    docks.bring(("lab", "state_machines"))
    settle()
    assert docks.is_in_front("lab")
    assert "State machines" in texts(shell)

    docks.bring(("findings",))
    settle()
    assert docks.is_in_front("findings")
    assert docks["lab"].isHidden()
    assert not docks["state_machines"].isHidden()


@pytest.mark.parametrize("panel_id", ["lab", "state_machines"])
def test_that_a_scene_that_brings_no_panel_has_the_usual_one_in_front(
    shell: Shell, panel_id: str
) -> None:
    docks = shell.window.docks
    docks.bring((panel_id,))
    settle()

    docks.bring(())
    settle()
    assert docks.is_in_front("timer_queue")

    docks.bring((panel_id,))
    docks.show_panel("event_list")
    docks.bring(())
    settle()
    assert docks.is_in_front("event_list")


FRONT = """
def build(stage):
    stage.front("state machines", "Bookmarks", "Nonsense")
"""


def test_that_a_scene_names_the_panels_that_show_it_best(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path, FRONT)
    settle()

    assert shell.window.docks.is_in_front("state_machines")
    assert "Bookmarks" in texts(shell)
    said = shell.window.statusBar().currentMessage()
    assert said == "✖ The scene names no panel of this window: “Nonsense”."


def test_that_a_reload_leaves_the_panels_as_they_are(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path, FRONT)
    shell.window.docks.show_panel("event_list")
    settle()

    shell.trigger("reload")
    settle()

    assert shell.window.docks.is_in_front("event_list")


def test_that_what_built_in_scenes_name_are_panels() -> None:
    titles = {panel.title for panel in PANELS}
    for scene in built_in_scenes():
        assert set(virtual_session(scene.path).front_panels) <= titles
