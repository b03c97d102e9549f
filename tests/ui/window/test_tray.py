"""The tray above the foot: its tabs, what they say, and what is under *More*."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget
from pytestqt.qtbot import QtBot

from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.clocks import PauseClock
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.extensions import PanelArea
from inspector.sessions.scene import built_in_scenes
from inspector.testing import virtual_session
from inspector.timebase import NS_PER_SECOND
from tests.ui.shell import SMALL_GAME, Shell, open_shell
from tests.ui.used_window import Lend
from ui.actions.panels import PANELS
from ui.session.bridge import Selection
from ui.timer_queue.call_queue import CallGroup
from ui.timer_queue.panel import TimerQueuePanel
from ui.why.panel import StopNote, WhyPanel
from ui.window.focus import enter
from ui.window.panels.foot_tabs import FootTabs, TabButton
from ui.window.panels.window_panels import FIRST_TABS
from ui.window.settings import Settings, SettingsFile

#: Each timer that fires leaves another one behind.
_MORE_AND_MORE = """
def build(stage):
    stage.root.set_interval(0.1, lambda: stage.root.set_timeout(60, int, name="end"), name="more")
"""


@pytest.fixture
def shell(lend: Lend) -> Shell:
    shell = lend(size=(1_600, 1_000))
    settle()
    return shell


def settle() -> None:
    for _ in range(4):
        QApplication.processEvents()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def tabs(shell: Shell) -> FootTabs:
    return shell.window.panels.tabs


def tab(shell: Shell, panel_id: str) -> TabButton:
    button = tabs(shell).findChild(TabButton, f"tab_{panel_id}")
    assert button is not None
    return button


def offered(shell: Shell) -> list[str]:
    menu = tabs(shell).more_menu
    menu.aboutToShow.emit()
    return [action.text() for action in menu.actions()]


def test_that_the_tray_is_closed_at_first_and_the_rest_is_under_more(shell: Shell) -> None:
    rest = [
        each.title
        for each in PANELS
        if each.area in (PanelArea.BOTTOM, PanelArea.LEFT) and each.id not in FIRST_TABS
    ]

    assert shell.window.panels.tray.isHidden()
    assert tabs(shell).shown == FIRST_TABS
    assert sorted(offered(shell)) == sorted(rest)


def test_that_a_click_opens_a_tab_and_the_same_again_closes_it(qtbot: QtBot, shell: Shell) -> None:
    panels = shell.window.panels

    for panel_id in ("event_list", "findings"):
        qtbot.mouseClick(tab(shell, panel_id), Qt.MouseButton.LeftButton)
        settle()
        assert panels.is_in_front(panel_id)
        assert tab(shell, panel_id).isChecked()
    assert not tab(shell, "event_list").isChecked()

    qtbot.mouseClick(tab(shell, "findings"), Qt.MouseButton.LeftButton)

    assert panels.tray.isHidden()
    assert not tab(shell, "findings").isChecked()


def test_that_escape_closes_the_tray_and_gives_the_keyboard_to_the_frames(
    qtbot: QtBot, shell: Shell
) -> None:
    shell.activate()
    shell.window.panels.enter_panel("event_list")
    assert shell.window.panels.panel_in_use() == "event_list"

    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)

    assert shell.window.panels.tray.isHidden()
    focused = QApplication.focusWidget()
    assert focused is not None
    assert shell.window.frame_times.isAncestorOf(focused)


def test_that_a_cross_closes_the_tray_and_covers_no_panel(qtbot: QtBot, shell: Shell) -> None:
    panels = shell.window.panels
    shell.activate()
    panels.enter_panel("timer_queue")
    settle()
    button = panels.close_button
    place = QRect(button.mapTo(shell.window, QPoint()), button.size())
    panel = panels.panel("timer_queue")
    assert not place.intersects(QRect(panel.mapTo(shell.window, QPoint()), panel.size()))
    assert panels.panel_in_use() == "timer_queue"

    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)

    assert panels.tray.isHidden()
    focused = QApplication.focusWidget()
    assert focused is not None
    assert shell.window.frame_times.isAncestorOf(focused)


@pytest.mark.parametrize(("size", "height"), [((1_280, 720), 208), ((1_600, 1_000), 248)])
def test_that_an_open_tray_moves_no_tab_and_leaves_the_window_its_size(
    shell: Shell, size: tuple[int, int], height: int
) -> None:
    window = shell.window
    window.resize(*size)
    settle()
    place = tabs(shell).mapTo(window, tabs(shell).rect().topLeft())

    window.panels.open_panel("timer_queue")
    settle()

    assert tabs(shell).mapTo(window, tabs(shell).rect().topLeft()) == place
    assert window.panels.tray.height() == height
    assert window.size().toTuple() == size


def test_that_the_tray_has_room_in_large_text_from_the_start_as_after_a_change(
    qtbot: QtBot, tmp_path: Path
) -> None:
    heights = []
    for first in (200, 100):
        settings = Settings(text_size=first, geometry=_geometry(qtbot, 1_280, 720))
        SettingsFile(tmp_path / "settings.json").save(settings)
        shell = open_shell(qtbot, tmp_path, SMALL_GAME, is_dressed=True)
        panels = shell.window.panels
        panels.open_panel("timer_queue")
        settle()
        shell.trigger("text-size-200")
        settle()
        parts = panels.tray, panels.foot, shell.window.frame_times
        heights.append([part.height() for part in parts])

    assert heights[0][:2] == [240, 56]
    assert heights[1] == heights[0]


def _geometry(qtbot: QtBot, width: int, height: int) -> str:
    window = QMainWindow()
    qtbot.addWidget(window)
    window.resize(width, height)
    return bytes(window.saveGeometry().data()).hex()


def test_that_tabs_that_do_not_fit_are_under_more_from_the_right(shell: Shell) -> None:
    tabs(shell).resize(300, 28)

    shown = tabs(shell).shown
    assert 0 < len(shown) < len(FIRST_TABS)
    assert shown == FIRST_TABS[: len(shown)]
    assert "Bookmarks" in offered(shell)
    assert tabs(shell).more_button.geometry().right() <= tabs(shell).width()

    tabs(shell).resize(1_000, 28)
    assert tabs(shell).shown == FIRST_TABS


def test_that_a_panel_opened_from_more_has_a_tab_from_then_on(shell: Shell) -> None:
    offered(shell)
    menu = tabs(shell).more_menu

    next(each for each in menu.actions() if each.text() == "Refresh-rate lab").trigger()
    settle()

    assert shell.window.panels.is_in_front("lab")
    shell.window.panels.close_tray()
    assert "lab" in tabs(shell).shown
    assert "Refresh-rate lab" not in offered(shell)


def test_that_a_tab_can_be_made_a_window_and_comes_back_when_that_is_closed(shell: Shell) -> None:
    panels = shell.window.panels
    panels.open_panel("event_list")
    actions = {each.text(): each for each in tabs(shell).make_menu("event_list").actions()}

    actions["Make it a window"].trigger()
    settle()
    assert panels["event_list"].isWindow()
    assert panels["event_list"].isVisible()
    assert panels.tray.isHidden()

    panels["event_list"].close()
    settle()
    assert not panels["event_list"].isWindow()
    panels.open_panel("event_list")
    settle()
    assert panels.is_in_front("event_list")


def test_that_tabs_count_timers_and_hits(shell: Shell) -> None:
    shell.bridge.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "attack")))
    for _ in range(6):
        shell.advance(0.1)
    shell.contents.badges.refresh_counts()

    assert tabs(shell).text_of("breakpoints") == "Breakpoints 1 hit"
    assert tabs(shell).text_of("event_list") == "Events"


def test_that_a_tab_says_as_many_timers_as_the_list_above_it(shell: Shell) -> None:
    shell.window.panels.enter_panel("timer_queue")
    queue = shell.window.panels.panel("timer_queue")
    assert isinstance(queue, TimerQueuePanel)
    for _ in range(8):
        shell.advance(0.1)
        queue.refresh()

        assert tabs(shell).text_of("timer_queue") == f"Timers {queue.timer_count:,}"
        button = queue.group_buttons[CallGroup.CLOCK_TIMERS]
        assert button.text() == f"Timers {queue.timer_count:,}"


def test_that_a_tab_says_as_many_timers_as_why(lend: Lend, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = lend(_MORE_AND_MORE)
    now_ns = shell.bridge.refresh_timer.now_ns()
    monkeypatch.setattr(shell.bridge.refresh_timer, "_clock", lambda: now_ns)
    why = shell.window.findChild(WhyPanel)
    assert isinstance(why, WhyPanel)

    for _ in range(6):
        now_ns += NS_PER_SECOND // 4
        shell.advance(0.25)
        settle()
        said = tabs(shell).text_of("timer_queue").removeprefix("Timers ")
        assert why.answer.text().startswith(f"Running. {said} timers are pending")


def test_that_tabs_say_how_many_timers_wait_and_what_was_changed(shell: Shell) -> None:
    shell.bridge.submit(PauseClock(shell.clock_id("enemies")))
    shell.advance(0.1)
    shell.contents.badges.refresh_counts()

    assert re.fullmatch(r"Timers \d+, \d+ wait", tabs(shell).text_of("timer_queue"))
    assert tabs(shell).text_of("interventions") == "History 1"

    # What they say is that of the instant that is looked back at, also while time is held.
    shell.trigger("run-or-hold")
    shell.bridge.refresh_timer._timer.stop()
    counts = shell.contents.badges.throttle
    counts._last_chance.stop()
    counts.is_waiting, counts.period_end_ns = False, 0
    shell.bridge.set_playhead(1)
    settle()
    assert tabs(shell).text_of("interventions") == "History"
    assert "wait" not in tabs(shell).text_of("timer_queue")


def test_that_a_tab_keeps_its_width_while_its_number_changes(shell: Shell) -> None:
    widths = []

    for count in ("112", "98", "7"):
        tabs(shell).set_badge("timer_queue", count)
        settle()
        widths.append(tab(shell, "timer_queue").width())

    assert widths[0] == widths[1] == widths[2]


def test_that_a_number_that_another_session_has_too_is_not_cut(shell: Shell) -> None:
    tabs(shell).set_badge("timer_queue", "12,345")
    settle()
    width = tab(shell, "timer_queue").width()

    tabs(shell).forget_widths()
    tabs(shell).set_badge("timer_queue", "12,345")
    tab(shell, "timer_queue").updateGeometry()
    settle()

    assert tab(shell, "timer_queue").width() == width


def test_that_findings_of_a_scene_that_is_held_are_counted_unseen(lend: Lend) -> None:
    fast = "def build(stage):\n    stage.root.set_interval(0.004, lambda: None, name='fast')\n"
    shell = lend(fast)
    for _ in range(20):
        shell.advance(0.1)
    assert tabs(shell).text_of("findings") == "Findings"

    shell.trigger("run-or-hold")
    shell.contents.badges.refresh_findings()

    assert tabs(shell).text_of("findings") == "Findings 1"
    assert not shell.window.panels.is_in_front("findings")
    assert tab(shell, "findings").is_new

    shell.window.panels.open_panel("findings")
    settle()
    shell.contents.badges.refresh_counts()
    assert not tab(shell, "findings").is_new


def test_that_findings_wait_until_the_user_has_dragged(lend: Lend, qtbot: QtBot) -> None:
    fast = "def build(stage):\n    stage.root.set_interval(0.004, lambda: None, name='fast')\n"
    shell = lend(fast)
    turns = shell.bridge.refresh_timer
    for _ in range(20):
        shell.advance(0.1)
    shell.trigger("run-or-hold")
    shell.advance(1 / 60)

    turns.note_move()
    turns._rest.stop()
    shell.contents.badges._still.timeout.emit()
    settle()
    assert tabs(shell).text_of("findings") == "Findings"

    turns._end_moves()
    qtbot.waitUntil(lambda: tabs(shell).text_of("findings") == "Findings 1")


def test_that_a_panels_key_shows_and_enters_it_and_hides_it_only_when_it_is_in_use(
    shell: Shell,
) -> None:
    shell.activate()
    panels = shell.window.panels
    panels.enter_panel("timeline")

    shell.trigger("panel-event_list")
    settle()
    assert panels.is_in_front("event_list")
    assert panels.panel_in_use() == "event_list"

    panels.enter_panel("timeline")
    shell.trigger("panel-event_list")
    assert panels.panel_in_use() == "event_list"

    shell.trigger("panel-event_list")
    assert not panels.is_open("event_list")


def test_that_the_panel_in_use_can_be_made_a_window_or_closed_by_a_command(shell: Shell) -> None:
    shell.activate()
    panels = shell.window.panels
    panels.enter_panel("event_list")
    shell.trigger("float-panel")
    place = panels["event_list"]
    assert place.isWindow()
    assert shell.window.geometry().contains(place.frameGeometry())

    place.activateWindow()
    enter(place.widget())
    settle()
    QTest.keyClick(place, Qt.Key.Key_7, Qt.KeyboardModifier.ControlModifier)
    settle()
    assert (panels.panel_in_use(), shell.window.isActiveWindow()) == ("timeline", True)
    panels.enter_panel("event_list")
    settle()
    assert place.isActiveWindow()
    QTest.keyClick(place, Qt.Key.Key_F6)
    settle()
    assert shell.window.isActiveWindow()

    panels.float_panel("event_list")
    shell.activate()
    panels.enter_panel("event_list")
    shell.trigger("close-panel")
    assert panels.tray.isHidden()


def test_that_the_side_column_is_toggled_and_closed_in_a_narrow_window(shell: Shell) -> None:
    panels = shell.window.panels
    assert panels.column.width() == 304

    shell.trigger("side-column")
    assert panels.column.isHidden()
    shell.trigger("side-column")
    assert panels.column.isVisible()

    shell.window.resize(900, 700)
    settle()
    assert panels.column.isHidden()
    shell.window.resize(1_280, 700)
    settle()
    assert panels.column.isVisible()
    assert panels.column.width() == 264


def test_that_panels_a_scene_brings_are_open_until_another_brings_its_own(shell: Shell) -> None:
    panels = shell.window.panels

    panels.bring(("lab", "state_machines"))
    settle()
    assert panels.is_in_front("lab")
    assert "state_machines" in tabs(shell).shown

    panels.bring(("findings",))
    settle()
    assert panels.is_in_front("findings")

    panels.bring(())
    assert panels.tray.isHidden()

    panels.bring(("findings",))
    panels.open_panel("event_list")
    panels.bring(())
    settle()
    assert panels.is_in_front("event_list")


FRONT = """
def build(stage):
    stage.front("state machines", "Bookmarks", "Nonsense")
"""


def test_that_a_scene_names_the_panels_that_show_it_best(lend: Lend) -> None:
    shell = lend(FRONT)
    settle()

    assert shell.window.panels.is_in_front("state_machines")
    assert "bookmarks" in tabs(shell).kept
    said = shell.window.notice.message
    assert said == "✖ The scene names no panel of this window: “Nonsense”."


def test_that_a_reload_leaves_the_panels_as_they_are(lend: Lend) -> None:
    shell = lend(FRONT)
    shell.window.panels.enter_panel("event_list")
    settle()

    shell.trigger("reload")
    settle()

    assert shell.window.panels.is_in_front("event_list")


def test_that_what_built_in_scenes_name_are_panels() -> None:
    titles = {panel.title for panel in PANELS}
    for scene in built_in_scenes():
        assert set(virtual_session(scene.path).front_panels) <= titles


def test_that_a_narrow_window_says_why_in_one_line_and_opens_the_column_over_the_rest(
    shell: Shell,
) -> None:
    panels, line = shell.window.panels, shell.window.why_line
    shell.window.resize(900, 700)
    settle()
    assert not line.isVisible()

    shell.bridge.select(Selection.clock(shell.clock_id("enemies")))
    settle()
    assert line.isVisible()
    assert line.name.text() == "enemies"
    assert line.answer.text().startswith("Its time ")
    shell.activate()
    shell.window.transport.menu_button.setFocus()
    shell.trigger("previous-panel")
    shell.trigger("previous-panel")
    assert line.button.hasFocus()
    width = shell.window.middle.width()

    line.button.click()
    settle()
    assert panels.column.isVisible()
    assert shell.window.middle.width() == width
    right = panels.column.mapTo(shell.window, panels.column.rect().topRight()).x()
    assert right == shell.window.width() - 1
    assert not line.isVisible()

    QTest.keyClick(shell.window, Qt.Key.Key_Escape)
    settle()
    assert panels.column.isHidden()
    assert line.isVisible()
    assert shell.bridge.selection != Selection.nothing()

    shell.window.resize(1_280, 700)
    settle()
    assert panels.column.isVisible()
    assert not line.isVisible()
    assert shell.window.middle.width() < 1_280


def test_that_the_keyboard_leaves_the_column_for_the_frames_when_it_closes(shell: Shell) -> None:
    window = shell.window
    window.resize(900, 600)
    shell.activate()
    window.panels.enter_panel("details")
    QApplication.processEvents()
    focused = QApplication.focusWidget()
    assert focused is not None
    assert window.panels.column.isAncestorOf(focused)
    window.panels.show_column(is_shown=False)
    assert QApplication.focusWidget() is window.frame_times.plot


def test_that_a_narrow_window_leads_back_to_the_present(shell: Shell) -> None:
    line = shell.window.why_line
    shell.window.resize(900, 700)
    for _ in range(6):
        shell.advance(0.1)
    shell.bridge.set_playhead(100_000_000)
    settle()
    assert line.name.text() == "0:00.100"
    assert line.answer.text() == "500 ms ago"
    assert line.rewind.isVisible()

    line.back.click()
    settle()
    assert shell.bridge.playhead_ns is None
    assert not line.isVisible()

    shell.bridge.set_playhead(100_000_000)
    settle()
    line.rewind.click()
    shell.advance(1 / 60)
    shell.bridge.refresh_now()
    assert shell.bridge.timeline.at_ns <= 100_000_000


def test_that_the_line_of_why_begins_with_its_hairline(shell: Shell) -> None:
    shell.window.resize(900, 700)
    shell.bridge.select(Selection.clock(shell.clock_id("enemies")))
    settle()

    line = shell.window.why_line
    assert min(child.y() for child in line.findChildren(QWidget)) == 0
    middle = line.button.geometry().center().y()
    assert abs(middle - line.height() // 2) <= 1


def test_that_a_narrow_window_says_what_stopped_the_scene(shell: Shell) -> None:
    shell.window.resize(900, 700)
    shell.bridge.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "attack")))
    for _ in range(6):
        shell.advance(0.1)
    settle()

    assert shell.window.why_line.isVisible()
    assert shell.window.why_line.answer.text().startswith("Stopped in frame ")


def test_that_the_smallest_window_says_all_of_what_stopped_the_scene(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = open_shell(qtbot, tmp_path, SMALL_GAME, is_dressed=True)
    shell.window.resize(720, 420)
    shell.bridge.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "autosave")))
    for _ in range(80):
        shell.advance(0.1)
    shell.window.why_line.open_why()
    for _ in range(4):
        shell.bridge.refresh_now()
        settle()

    (note,) = shell.window.panels.column.findChildren(StopNote)
    label = note.label
    assert label.text().startswith("Stopped in frame ")
    assert label.height() >= label.heightForWidth(label.width())
    assert note.frame_button.height() >= note.frame_button.sizeHint().height()
    assert not shell.contents.first_run.isVisible()


@pytest.mark.parametrize("part", ["tray", "column"])
def test_that_a_part_opens_by_a_movement_that_any_input_ends(lend: Lend, part: str) -> None:
    shell = lend()
    panels = shell.window.panels
    panels.show_column(is_shown=False)
    panels.reveal.ms = 10_000

    if part == "tray":
        panels.open_panel("event_list")
    else:
        panels.show_column(is_shown=True)
    QApplication.processEvents()
    opened = panels.tray if part == "tray" else panels.column
    assert opened.isVisible()
    assert panels.reveal.isVisible()
    assert panels.reveal.geometry().intersects(
        QRect(opened.mapTo(panels.frame, QPoint()), opened.size())
    )

    QTest.keyClick(shell.window, Qt.Key.Key_Shift)
    assert not panels.reveal.isVisible()


def test_that_nothing_moves_where_the_system_asks_for_less_motion(lend: Lend) -> None:
    panels = lend().window.panels
    panels.reveal.ms = 0
    panels.open_panel("event_list")
    assert panels.tray.isVisible()
    assert not panels.reveal.isVisible()
