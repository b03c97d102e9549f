"""Looking back in the window: its panels show an instant, and keys move it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.commands.clocks import PauseClock
from inspector.timebase import NS_PER_MS
from tests.ui.looking_back import settle
from tests.ui.shell import Shell
from ui.clock_tree.panel import ClockColumn, ClockTreePanel
from ui.kit.prompts import Prompt
from ui.session.bridge import Selection
from ui.timer_queue.panel import TimerQueuePanel


def tree_panel(shell: Shell) -> ClockTreePanel:
    shell.window.panels.open_panel("clock_tree")
    panel = shell.window.panels.panel("clock_tree")
    assert isinstance(panel, ClockTreePanel)
    return panel


def test_that_the_clock_tree_shows_the_past_as_it_was_arranged(shell: Shell, qtbot: QtBot) -> None:
    panel, bridge = tree_panel(shell), shell.bridge
    game, enemies = shell.clock_id("game"), shell.clock_id("enemies")
    panel.activate(panel.model.index(panel.model.row_of(game) or 0, 0))
    bridge.select(Selection.clock(game))
    shell.bridge.submit(PauseClock(enemies))
    shell.advance(1 / 60)
    resets: list[None] = []
    panel.model.modelReset.connect(lambda: resets.append(None))

    bridge.set_playhead(500 * NS_PER_MS)

    model = panel.model
    qtbot.waitUntil(lambda: model.rows[0].timeline is bridge.shown)
    row = panel.view.currentIndex().row()
    assert row == model.row_of(game)
    assert model.index(row, ClockColumn.LOCAL_TIME).data() == "00:00.500"
    assert not bridge.shown.clocks[enemies].paused
    assert model.row_of(enemies) is None
    bridge.go_live()
    qtbot.waitUntil(lambda: model.rows[0].timeline is bridge.timeline)
    assert bridge.timeline.clocks[enemies].paused
    assert resets == []


def test_that_escape_closes_the_tray_then_looking_back_then_the_selection(shell: Shell) -> None:
    bridge, panels = shell.bridge, shell.window.panels
    bridge.select(Selection.clock(shell.clock_id("game")))
    bridge.set_playhead(500 * NS_PER_MS)
    panels.open_panel("timer_queue")
    settle()

    def escape() -> tuple[bool, bool, bool]:
        QTest.keyClick(shell.window, Qt.Key.Key_Escape)
        settle()
        selection = bridge.selection
        is_past = bridge.playhead_ns is not None
        return panels.tray.isHidden(), not is_past, selection == Selection.nothing()

    assert escape() == (True, False, False)
    assert escape() == (True, True, False)
    assert escape() == (True, True, True)


@pytest.mark.parametrize("action_id", ["follow", "look-live"])
def test_that_one_key_leads_back_to_the_present(shell: Shell, action_id: str) -> None:
    shell.bridge.set_playhead(5)
    settle()

    shell.trigger(action_id)

    assert shell.bridge.playhead_ns is None
    assert shell.bridge.is_following


def test_that_end_in_the_plot_leads_back_to_the_present(shell: Shell) -> None:
    shell.bridge.set_playhead(5)
    settle()

    QTest.keyClick(shell.window.frame_times.plot, Qt.Key.Key_End)

    assert shell.bridge.playhead_ns is None
    assert shell.bridge.is_following


def test_that_keys_move_by_frames_and_behind_the_newest_lies_the_present(shell: Shell) -> None:
    bridge = shell.bridge
    starts = list(bridge.timeline.frames.at_ns)
    places = []

    for action_id in ("look-frame-back", "look-frame-back", "look-frame-on", "look-frame-on"):
        shell.trigger(action_id)
        places.append(bridge.playhead_ns)

    newest_is_now = starts[-1] == bridge.timeline.at_ns
    earlier = starts[-3:-1] if newest_is_now else starts[-2:]
    assert places[:3] == [earlier[1], earlier[0], earlier[1]]
    assert places[3] == (starts[-1] if newest_is_now else None)


def test_that_keys_move_by_timers(shell: Shell) -> None:
    bridge = shell.bridge
    bridge.set_playhead(450 * NS_PER_MS)
    settle()

    shell.trigger("look-timer-on")
    assert bridge.playhead_ns == 500 * NS_PER_MS
    shell.trigger("look-timer-back")
    assert bridge.playhead_ns == 400 * NS_PER_MS


def test_that_there_is_nothing_before_the_beginning(shell: Shell) -> None:
    shell.bridge.set_playhead(0)
    settle()

    shell.trigger("look-frame-back")

    assert shell.window.notice.message == "✖ No frame began before this instant."


def test_that_a_place_can_be_asked_for(shell: Shell) -> None:
    shell.window.actions_by_id["look-at"].trigger()
    (dialog,) = shell.window.findChildren(Prompt)
    line = dialog.line

    line.setText("frame 999")
    dialog.accept_answer()
    assert dialog.problem.text() == "✖ There is no frame 999: frames 0 to 59 are available."
    line.setText("0.25")
    dialog.accept_answer()

    assert shell.bridge.playhead_ns == 250 * NS_PER_MS


def test_that_the_queue_shows_the_timers_of_the_past(shell: Shell) -> None:
    queue = shell.window.panels.panel("timer_queue")
    assert isinstance(queue, TimerQueuePanel)
    shell.window.panels.enter_panel("timer_queue")
    end = next(
        each
        for each in shell.bridge.timeline.timers.ids()
        if shell.bridge.timeline.timers.row(each).label == "end"
    )
    shell.bridge.select(Selection.timer(end))

    shell.bridge.set_playhead(500 * NS_PER_MS)
    settle()
    queue.refresh()

    assert queue.queue.timeline is shell.bridge.shown
    row = queue.model.row_of(end)
    assert row is not None
    assert "59.5 s" in queue.model.row_text(row)
    assert queue.table.marked_id == end
    shell.bridge.go_live()
    queue.refresh()
    assert queue.queue.timeline is shell.bridge.timeline
