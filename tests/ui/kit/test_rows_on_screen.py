"""What stands on the screen while rows come, go, change and are scrolled."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QModelIndex, QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QWheelEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication
from pytestqt.qtbot import QtBot

from inspector.vocabulary import MARK
from tests.fuzz import rounds
from tests.ui.world import PlayedSession
from ui.events.panel import EventListPanel
from ui.kit.table.columns import Column, ColumnEnum
from ui.kit.table.models import ListTableModel
from ui.kit.table.table_view import TableView
from ui.kit.theme import Theme
from ui.session.bridge import SessionBridge

if TYPE_CHECKING:
    from collections.abc import Callable

_column = Column[str]


class WordColumn(ColumnEnum):
    """A column of a fixed width, and one that takes the rest."""

    WORD = _column("Word", lambda row: row, sample="word 0000")
    AGAIN = _column("Again", lambda row: f"again {row}")


class WordModel(ListTableModel[str]):
    """Words, each of which is used once."""

    def __init__(self) -> None:
        super().__init__(WordColumn, Theme("light"))
        self._used = 0

    def _fresh(self, count: int) -> list[str]:
        self._used += count
        return [f"word {number}" for number in range(self._used - count, self._used)]

    def add(self, count: int) -> None:
        first = len(self.rows)
        self.beginInsertRows(QModelIndex(), first, first + count - 1)
        self.rows += self._fresh(count)
        self.endInsertRows()

    def cut(self, count: int) -> None:
        """Take rows away at the top."""
        if count := min(count, len(self.rows)):
            self.beginRemoveRows(QModelIndex(), 0, count - 1)
            del self.rows[:count]
            self.endRemoveRows()

    def begin_again(self, count: int) -> None:
        self.beginResetModel()
        self.rows = self._fresh(count)
        self.endResetModel()

    def change(self, row: int) -> None:
        """Have a row say something else, or again what it said before."""
        if self.rows:
            row %= len(self.rows)
            word = self.rows[row]
            self.rows[row] = word.rstrip("!") if word.endswith("!") else f"{word}!"
            self.dataChanged.emit(self.index(row, 0), self.index(row, 1))


def settle() -> None:
    for _ in range(4):
        QApplication.processEvents()


def on_screen(view: QAbstractItemView) -> QImage:
    """Return what stands on the screen; a picture that is asked of a widget is a new one."""
    viewport, window = view.viewport(), view.window()
    place = viewport.mapTo(window, QPoint(0, 0))
    size = viewport.width(), viewport.height()
    shot = view.screen().grabWindow(window.winId(), place.x(), place.y(), *size)
    return shot.toImage()


def is_true(view: QAbstractItemView) -> bool:
    """Return whether the screen stays the same when everything is painted again."""
    settle()
    seen = on_screen(view)
    view.viewport().update()
    settle()
    return seen == on_screen(view)


def turn_wheel(view: QAbstractItemView, angle: int) -> None:
    at = QPointF(50, 50)
    no_buttons, no_keys = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    phase = Qt.ScrollPhase.NoScrollPhase
    place, angles = view.viewport().mapToGlobal(at), QPoint(0, angle)
    turn = QWheelEvent(at, place, QPoint(), angles, no_buttons, no_keys, phase, False)
    QApplication.sendEvent(view.viewport(), turn)


class Table:
    """Words in a table whose last row does not fit in whole."""

    def __init__(self, qtbot: QtBot) -> None:
        self.model = WordModel()
        self.view = TableView(self.model, "Words", {}, selects_many=True)
        qtbot.addWidget(self.view)
        self.view.resize(400, 223)
        self.view.show()
        self.model.add(40)
        settle()
        self._acts: dict[str, Callable[[int], object]] = {
            "add": self.model.add,
            "cut": self.model.cut,
            "begin again": self.model.begin_again,
            "change": self.model.change,
            "change once more": self.model.change,
            "wheel": lambda number: turn_wheel(self.view, 120 * (number - 15)),
            "scroll": self.view.verticalScrollBar().setValue,
            "end": lambda _: self.view.scrollToBottom(),
            "paint some": lambda number: self.view.viewport().repaint(0, 5 * number, 400, 30),
            "hide": lambda _: self.view.hide(),
            "show": lambda _: self.view.show(),
            "settle": lambda _: settle(),
        }
        self.names = list(self._acts)

    def do(self, act: str, number: int = 0) -> None:
        """Do something with the rows or to the view, without a paint after it."""
        self._acts[act](number)


@pytest.fixture
def table(qtbot: QtBot) -> Table:
    return Table(qtbot)


def test_that_rows_that_leave_at_the_top_leave_no_picture_of_themselves(table: Table) -> None:
    table.do("end")
    settle()

    table.do("cut", 6)

    assert is_true(table.view)


def test_that_other_rows_are_seen_when_the_table_is_scrolled_at_once(table: Table) -> None:
    table.do("end")
    settle()

    table.do("begin again", 60)
    table.do("end")

    assert is_true(table.view)


def test_that_a_row_that_changed_is_painted_although_it_is_scrolled_at_once(table: Table) -> None:
    table.do("change", 4)
    table.do("scroll", 2)

    assert is_true(table.view)


@pytest.mark.parametrize("seed", rounds(20))
def test_that_the_screen_is_true_after_anything(table: Table, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(25):
        acts = [
            (chance.choice(table.names), chance.randint(1, 30)) for _ in range(chance.randint(1, 3))
        ]
        for act in acts:
            table.do(*act)
        table.view.show()

        assert is_true(table.view), acts


def _note(session: PlayedSession, name: str, count: int) -> None:
    log = session.log
    for number in range(count):
        log.append((log.end, MARK, 0, log.intern(f"{name} {number}"), 0))


@pytest.mark.parametrize("waiting", [0, 1, 5, 15, 40])
@pytest.mark.parametrize("kept", [5, 12, 32])
def test_that_the_events_of_another_session_take_the_place_of_the_former(
    qtbot: QtBot, waiting: int, kept: int
) -> None:
    live, recording = PlayedSession(), PlayedSession()
    _note(live, "live", 17)
    _note(recording, "recorded", kept)
    bridge = SessionBridge()
    bridge.set_session(live)
    panel = EventListPanel(bridge, Theme("light"))
    qtbot.addWidget(panel)
    panel.resize(900, 257)
    panel.show()
    settle()
    turn_wheel(panel.table, 120)
    panel.follow_button.setChecked(False)
    _note(live, "late", waiting)
    settle()

    bridge.set_session(recording)

    assert is_true(panel.table)
    for angle in (120, 120, -120):
        turn_wheel(panel.table, angle)
        assert is_true(panel.table)
