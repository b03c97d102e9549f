"""Context menus from the keyboard: each is about the current row, in every list of the window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QHeaderView, QMenu, QTableWidget
from pytestqt.qtbot import QtBot

from inspector.commands.timers import FireTimer
from inspector.commands.transport import Run
from tests.ui.shell import SMALL_GAME, Shell
from tests.ui.used_window import Lend
from ui.actions.panels import PANELS, make_panel
from ui.clock_tree.panel import ClockTreePanel
from ui.kit.table.table_view import RowMenus
from ui.kit.theme import Theme
from ui.timer_queue.panel import TimerQueuePanel

#: The panels that are lists of rows with a menu each.
LISTS = [
    panel
    for panel in PANELS
    if panel.id
    in {
        "clock_tree",
        "timer_queue",
        "event_list",
        "breakpoints",
        "findings",
        "interventions",
        "bookmarks",
        "lab",
    }
]


@pytest.fixture
def shell(lend: Lend) -> Shell:
    shell = lend(SMALL_GAME)
    shell.advance(0.1)
    shell.trigger("run-or-hold")
    return shell


def ask_for_menu(view: QAbstractItemView) -> None:
    """Ask a view for its menu as Qt does when the Menu key or Shift+F10 is pressed."""
    place = view.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle).center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, place, view.mapToGlobal(place))
    QApplication.sendEvent(view, event)


def ask_with_mouse(view: QAbstractItemView, place: QPoint) -> None:
    """Ask a view for its menu as Qt does when the right button is pressed."""
    viewport = view.viewport()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, viewport.mapToGlobal(place))
    QApplication.sendEvent(viewport, event)


def open_menu() -> QMenu | None:
    menu = QApplication.activePopupWidget()
    return menu if isinstance(menu, QMenu) else None


def menu_texts() -> list[str]:
    """Return what the open menu says, and close it."""
    menu = open_menu()
    texts = [] if menu is None else [action.text() for action in menu.actions()]
    if menu is not None:
        menu.close()
    return texts


def table_of(qtbot: QtBot, rows: int = 3) -> tuple[QTableWidget, list[tuple[QModelIndex, QPoint]]]:
    """Return a table that is shown, and the list of the menus that it asks for."""
    table = QTableWidget(rows, 2)
    qtbot.addWidget(table)
    table.setHorizontalHeaderLabels(["Name", "Value"])
    table.resize(300, 200)
    asked: list[tuple[QModelIndex, QPoint]] = []
    RowMenus(table).requested.connect(lambda index, place: asked.append((index, place)))
    with qtbot.waitExposed(table):
        table.show()
    return table, asked


@pytest.mark.parametrize("row", [0, 1, 2])
def test_that_a_menu_from_the_keyboard_is_about_the_current_row(qtbot: QtBot, row: int) -> None:
    table, asked = table_of(qtbot)
    table.setCurrentCell(row, 1)

    ask_for_menu(table)

    ((index, place),) = asked
    corner = table.visualRect(table.model().index(row, 1)).bottomLeft()
    assert (index.row(), index.column()) == (row, 1)
    assert place == table.viewport().mapToGlobal(corner)


def test_that_the_row_of_a_menu_from_the_keyboard_comes_into_view(qtbot: QtBot) -> None:
    table, asked = table_of(qtbot, rows=200)
    table.setCurrentCell(150, 0)
    table.scrollToTop()

    ask_for_menu(table)

    ((index, place),) = asked
    assert index.row() == 150
    assert table.viewport().rect().contains(table.viewport().mapFromGlobal(place))


def test_that_without_a_current_row_a_menu_from_the_keyboard_is_about_none(qtbot: QtBot) -> None:
    table, asked = table_of(qtbot)
    table.setCurrentCell(-1, -1)

    ask_for_menu(table)

    ((index, place),) = asked
    assert not index.isValid()
    assert place == table.viewport().mapToGlobal(QPoint(0, 0))


def test_that_a_menu_from_the_mouse_is_about_the_row_below_it(qtbot: QtBot) -> None:
    table, asked = table_of(qtbot)
    table.setCurrentCell(0, 0)
    place = table.visualRect(table.model().index(2, 1)).center()

    ask_with_mouse(table, place)

    ((index, where),) = asked
    assert (index.row(), index.column()) == (2, 1)
    assert where == table.viewport().mapToGlobal(place)


def test_that_the_menu_of_a_clock_is_that_of_the_marked_one(shell: Shell) -> None:
    shell.window.panels.open_panel("clock_tree")
    panel = shell.window.findChild(ClockTreePanel)
    assert panel is not None
    names = ["game", "enemies"]
    found = []
    for name in names:
        panel.view.setCurrentIndex(
            panel.model.index(panel.model.row_of(shell.clock_id(name)) or 0, 0)
        )
        ask_for_menu(panel.view)
        found.append(menu_texts()[0])

    assert found == [f"Pause {name}" for name in names]


def test_that_the_last_row_has_a_menu_too(shell: Shell) -> None:
    shell.window.panels.open_panel("timer_queue")
    panel = shell.window.findChild(TimerQueuePanel)
    assert panel is not None
    last = panel.model.rowCount() - 1
    panel.view.setCurrentIndex(panel.model.index(last, 0))

    ask_for_menu(panel.view)

    assert "Copy row" in menu_texts()


def test_that_the_timer_that_is_fired_from_the_keyboard_is_the_marked_one(shell: Shell) -> None:
    shell.window.panels.open_panel("timer_queue")
    panel = shell.window.findChild(TimerQueuePanel)
    assert panel is not None
    names = [panel.model.index(row, 0).data() for row in range(panel.model.rowCount())]
    row = names.index("beat")
    panel.view.setCurrentIndex(panel.model.index(row, 0))

    ask_for_menu(panel.view)

    menu = open_menu()
    assert menu is not None
    (fire,) = (each for each in menu.actions() if each.text() == "Fire now")
    assert fire.data() == FireTimer(panel.model.id_at(row) or 0)
    menu.close()


def test_that_a_running_scene_is_held_before_it_steps_to_a_timer(shell: Shell) -> None:
    shell.window.panels.open_panel("timer_queue")
    panel = shell.window.findChild(TimerQueuePanel)
    assert panel is not None
    shell.bridge.submit(Run())
    shell.advance(0.1)
    row = [panel.model.index(row, 0).data() for row in range(panel.model.rowCount())].index("beat")
    panel.view.setCurrentIndex(panel.model.index(row, 0))
    ask_for_menu(panel.view)
    menu = open_menu()
    assert menu is not None

    next(each for each in menu.actions() if each.text() == "Step to it").trigger()
    shell.pass_frames(60)

    assert not shell.bridge.timeline.is_running
    assert not [each.refusal for each in shell.bridge.timeline.commands if each.refusal]
    menu.close()


def test_that_every_list_with_menus_asks_in_this_way(qtbot: QtBot, shell: Shell) -> None:
    for description in LISTS:
        panel = make_panel(description, shell.bridge, Theme("light"))
        qtbot.addWidget(panel)

        views = [
            view
            for view in panel.findChildren(QAbstractItemView)
            if view.contextMenuPolicy() == Qt.ContextMenuPolicy.CustomContextMenu
            and not isinstance(view, QHeaderView)
        ]

        assert views, description.id
        assert all(view.findChildren(RowMenus) for view in views), description.id
