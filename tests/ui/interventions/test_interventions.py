"""The interventions panel: what was changed, and undoing it from there."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.clocks import PauseClock, SetRate
from inspector.commands.scene import AddMark
from inspector.commands.transport import StepFrames
from inspector.events.conditions.breakpoint import BreakAction, BreakKind, Breakpoint
from inspector.testing import held_session, pass_seconds, scene_file, virtual_session
from ui.interventions.panel import InterventionColumn, InterventionsPanel
from ui.kit.theme import Theme
from ui.session.bridge import Selection, SessionBridge

SCENE = """
    def build(stage):
        game = stage.root.child("game")
        game.set_interval(0.5, lambda: None, name="boss")
"""
GAME = 2


class Stand:
    """The panel over a scene that a test drives."""

    def __init__(self, qtbot: QtBot, folder: Path, *, is_held: bool = True) -> None:
        make = held_session if is_held else virtual_session
        self.session = make(scene_file(folder, SCENE))
        self.bridge = SessionBridge()
        self.bridge.set_session(self.session)
        self.panel = InterventionsPanel(self.bridge, Theme("light"))
        qtbot.addWidget(self.panel)
        self.qtbot = qtbot
        self.panel.resize(900, 300)
        with qtbot.waitExposed(self.panel):
            self.panel.show()

    def refresh(self) -> None:
        self.bridge.refresh_now()
        self.panel.refresh()

    def results(self) -> list[str]:
        model = self.panel.model
        return [
            str(model.index(row, InterventionColumn.RESULT).data())
            for row in range(model.rowCount())
        ]

    def click(self, row: int, column: InterventionColumn) -> None:
        view = self.panel.view
        rect = view.visualRect(self.panel.model.index(row, column))
        self.qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
        self.refresh()


@pytest.fixture
def stand(qtbot: QtBot, tmp_path: Path) -> Stand:
    return Stand(qtbot, tmp_path)


def test_that_an_empty_panel_says_what_will_be_listed(qtbot: QtBot, tmp_path: Path) -> None:
    stand = Stand(qtbot, tmp_path)
    assert stand.panel.notice.text().startswith("No interventions. Every change you make")

    stand.bridge.set_session(None)
    assert stand.panel.notice.text() == "No interventions: no scene is loaded."


def test_that_a_click_on_undo_puts_back_what_was(stand: Stand) -> None:
    stand.session.submit(SetRate(GAME, Fraction(3)))
    stand.refresh()

    stand.click(0, InterventionColumn.UNDO)

    assert stand.bridge.timeline.clocks[GAME].rate == 1
    assert stand.results() == ["undone by 2", "done"]
    stand.click(1, InterventionColumn.UNDO)
    assert stand.bridge.timeline.clocks[GAME].rate == 3


def test_that_a_click_elsewhere_undoes_nothing(stand: Stand) -> None:
    stand.session.submit(PauseClock(GAME))
    stand.session.submit(AddMark("x"))
    stand.refresh()

    stand.click(0, InterventionColumn.WHAT)
    stand.click(1, InterventionColumn.UNDO)

    assert stand.results() == ["done", "done"]


def test_that_a_refusal_is_whole_where_the_other_columns_leave_room(stand: Stand) -> None:
    stand.panel.resize(1_400, 300)
    stand.session.submit(PauseClock(999))
    stand.refresh()
    QApplication.processEvents()
    view = stand.panel.view
    (said,) = stand.results()
    assert said == "refused: There is no clock 999 any more."

    width = view.columnWidth(InterventionColumn.RESULT)

    assert width >= view.fontMetrics().horizontalAdvance(said)
    assert stand.panel.detail.isHidden()
    stand.panel.resize(700, 300)
    view.setCurrentIndex(stand.panel.model.index(0, 0))
    assert stand.panel.detail.text() == said
    assert stand.panel.detail.isVisible()


def test_that_the_button_undoes_the_marked_row_and_nothing_else(stand: Stand) -> None:
    stand.session.submit(PauseClock(GAME))
    stand.session.submit(AddMark("x"))
    stand.refresh()
    button = stand.panel.undo_button
    assert not button.isEnabled()

    stand.panel.view.selectRow(1)
    assert not button.isEnabled()
    stand.panel.view.selectRow(0)
    assert button.isEnabled()
    stand.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    stand.refresh()

    assert not stand.bridge.timeline.clocks[GAME].paused
    assert not button.isEnabled()


def test_that_asking_twice_while_the_scene_runs_undoes_once(qtbot: QtBot, tmp_path: Path) -> None:
    stand = Stand(qtbot, tmp_path, is_held=False)
    stand.session.submit(PauseClock(GAME))
    pass_seconds(stand.session, 0.1)
    stand.refresh()

    stand.panel.undo(0)
    stand.panel.undo(0)
    pass_seconds(stand.session, 0.1)
    stand.refresh()

    assert stand.results() == ["undone by 2", "done"]


def test_that_the_menu_offers_what_is_possible(stand: Stand) -> None:
    stand.session.submit(StepFrames(2))
    stand.session.submit(PauseClock(GAME))
    stand.refresh()

    def offered(row: int) -> dict[str, bool]:
        menu = stand.panel.make_menu(row)
        return {each.text(): each.isEnabled() for each in menu.actions() if each.text()}

    state = "Show the state at this instant"
    assert offered(0) == {"Undo": False, "Select the frame": True, state: True, "Copy": True}
    assert offered(1) == {
        "Undo": True,
        "Select the clock": True,
        "Select the frame": True,
        state: True,
        "Copy": True,
    }


def test_that_a_double_click_selects_the_clock_or_the_frame(qtbot: QtBot, tmp_path: Path) -> None:
    stand = Stand(qtbot, tmp_path, is_held=False)
    mark = Breakpoint(BreakKind.TIMER_FIRES, "boss", action=BreakAction.MARK, is_once=True)
    stand.session.submit(AddBreakpoint(mark))
    pass_seconds(stand.session, 1)
    stand.session.submit(PauseClock(GAME))
    pass_seconds(stand.session, 0.1)
    stand.refresh()
    model = stand.panel.model
    labels = [model.rows[row].entry.label for row in range(model.rowCount())]
    assert labels == ["1", "b1", "2"]

    stand.panel.view.doubleClicked.emit(model.index(2, InterventionColumn.WHAT))
    assert stand.bridge.selection == Selection.clock(GAME)
    stand.panel.view.doubleClicked.emit(model.index(1, InterventionColumn.WHAT))
    assert stand.bridge.selection == Selection.frame(model.rows[1].entry.frame)


def test_that_what_came_after_the_last_frame_leads_to_that(stand: Stand) -> None:
    stand.session.submit(StepFrames(3))
    stand.session.submit(AddMark("x"))
    stand.refresh()

    stand.panel.activate(stand.panel.model.index(1, InterventionColumn.WHAT))

    assert stand.bridge.selection == Selection.frame(2)


def test_that_a_name_of_two_words_is_read_beside_its_local_time(stand: Stand) -> None:
    stand.panel.resize(1_400, 300)
    QApplication.processEvents()

    view = stand.panel.view
    wanted = view.fontMetrics().horizontalAdvance("2:00:24.000 240 Hz screen")
    assert view.columnWidth(InterventionColumn.LOCAL) >= wanted


def test_that_the_filter_says_how_many_it_hides(stand: Stand) -> None:
    stand.session.submit(PauseClock(GAME))
    stand.session.submit(AddMark("x"))
    stand.refresh()

    stand.panel.filter_line.setText("mark")
    stand.panel.filter_line.apply_now()
    assert stand.panel.count_label.text() == "1 of 2 shown"

    stand.panel.filter_line.setText("zebra")
    stand.panel.filter_line.apply_now()
    assert stand.panel.notice.text() == "2 interventions are hidden by the filter."


def test_that_marked_rows_are_copied(stand: Stand) -> None:
    stand.session.submit(PauseClock(GAME))
    stand.session.submit(AddMark("x"))
    stand.refresh()

    stand.panel.view.selectAll()
    stand.panel.view.setFocus()
    stand.qtbot.keyClick(stand.panel.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)

    lines = QGuiApplication.clipboard().text().split("\n")
    assert [line.split("\t")[4] for line in lines] == ["pause game", "mark x"]


def test_that_it_stays_with_the_newest_unless_somebody_reads_on_above(stand: Stand) -> None:
    for number in range(50):
        stand.session.submit(AddMark(str(number)))
    stand.refresh()
    bar = stand.panel.view.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0

    bar.setValue(0)
    stand.session.submit(AddMark("more"))
    stand.refresh()

    assert bar.value() == 0


def test_that_it_is_entered_at_the_newest_row(stand: Stand) -> None:
    for number in range(50):
        stand.session.submit(AddMark(str(number)))
    stand.refresh()

    stand.panel.view.setFocus(Qt.FocusReason.TabFocusReason)

    bar = stand.panel.view.verticalScrollBar()
    assert stand.panel.view.currentIndex().row() == 49
    assert bar.value() == bar.maximum()


def test_that_a_reloaded_scene_begins_a_new_list(stand: Stand) -> None:
    stand.session.submit(PauseClock(GAME))
    stand.refresh()
    stand.bridge.reload()
    stand.refresh()

    model = stand.panel.model
    assert [model.rows[row].entry.text for row in range(model.rowCount())] == ["reload the scene"]
    assert not model.rows[0].can_undo
