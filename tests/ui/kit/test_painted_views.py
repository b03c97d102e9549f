"""Views that paint rows themselves: what is painted, how often, and what it looks like."""

from __future__ import annotations

import logging
from collections import Counter
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt
from PySide6.QtGui import QColor, QPalette, QPixmap, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QApplication, QFrame, QTableView, QWidget
from typing_extensions import override

from inspector.events.schema import EventGroup
from inspector.frames.scheduler.scheduler import Scheduler
from tests.ui.kit.item_rows import ItemRows
from tests.ui.world import PlayedSession
from ui.clock_tree.panel import ClockTreePanel
from ui.events.event_list_model import EventListModel
from ui.kit import guards
from ui.kit.table import roles
from ui.kit.table.cell_painting import Cell, CellPainter, PaintedCell
from ui.kit.table.painted_views import PaintedTable
from ui.kit.table.table_view import set_up_table
from ui.kit.theme import Theme
from ui.session.bridge import Selection, SessionBridge
from ui.timer_queue.call_queue import CallQueue
from ui.timer_queue.columns import CallColumn
from ui.timer_queue.model import QueueModel
from ui.timer_queue.panel import TimerQueuePanel

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QAbstractItemModel
    from PySide6.QtGui import QPainter
    from pytestqt.qtbot import QtBot


class Boss:
    """A target of a scheduler."""

    name = "boss"

    def update(self, delta: float) -> None:
        """Be called in every frame."""


class Painting(QObject):
    """Counts what is painted in a view.

    Attributes:
        paints: How often the view was painted.
        texts: What each of the cells said that were painted.
        reads: Number of reads of cells, and of rows.
    """

    def __init__(self, view: PaintedTable, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self._view = view
        view.viewport().installEventFilter(self)
        self.paints = 0
        self.texts: list[str] = []
        self.reads: Counter[str] = Counter()
        paint = CellPainter.paint

        def noting(painter: CellPainter, on: QPainter, piece: PaintedCell) -> None:
            if painter is view.cells:
                self.texts.append(piece.text)
            paint(painter, on, piece)

        monkeypatch.setattr(CellPainter, "paint", noting)
        if hasattr(view.model(), "row_cells"):
            for name in ("data", "row_cells"):
                self._count(type(view.model()), name, monkeypatch)

    def _count(self, owner: type, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        answer = getattr(owner, name)

        def counting(*arguments: object) -> object:
            self.reads[name] += 1
            return answer(*arguments)

        monkeypatch.setattr(owner, name, counting)
        # A view asks the method that its model had when it was given to it.
        self._view.setModel(self._view.model())

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.paints += event.type() == QEvent.Type.Paint
        return False

    def settle(self) -> None:
        """Let everything be painted, and count from here."""
        for _ in range(3):
            QApplication.processEvents()
        self.paints = 0
        self.texts.clear()
        self.reads.clear()


class Stand:
    """Tree and timers over a small session."""

    def __init__(self, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.session = PlayedSession()
        self.game = self.session.root.child("game")
        self.ui = self.session.root.child("ui")
        self.game.set_timeout(100, print, name="end")
        self.ui.set_interval(50, print, name="blink")
        self.bridge = SessionBridge()
        self.bridge.set_session(self.session)
        # Else the panels refresh as well when enough real time has passed.
        monkeypatch.setattr(self.bridge.refresh_timer, "queue_turn", lambda *_, **_how: None)
        self.theme = Theme("light")
        self.tree = ClockTreePanel(self.bridge, self.theme)
        self.queue = TimerQueuePanel(self.bridge, self.theme)
        for panel in (self.tree, self.queue):
            qtbot.addWidget(panel)
            panel.resize(1_000, 300)
            panel.show()

    def painting_of(self, view: PaintedTable) -> Painting:
        painting = Painting(view, self._monkeypatch)
        self.refresh()
        painting.settle()
        return painting

    def refresh(self) -> None:
        self.bridge.refresh_now()
        self.tree.refresh()
        self.queue.refresh()
        QApplication.processEvents()


@pytest.fixture
def stand(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Stand:
    return Stand(qtbot, monkeypatch)


# ---------------------------------------------------------------- only what has changed


def test_that_nothing_is_painted_when_nothing_has_changed(stand: Stand) -> None:
    tree, timers = stand.painting_of(stand.tree.view), stand.painting_of(stand.queue.view)

    for _ in range(3):
        stand.refresh()

    assert (tree.paints, timers.paints) == (0, 0)
    assert tree.texts == []


def test_that_of_clocks_only_cells_are_painted_that_say_something_else(stand: Stand) -> None:
    stand.ui.pause()
    tree = stand.painting_of(stand.tree.view)

    stand.session.run_to_ms(1_000)
    stand.refresh()

    # The session and the game go on, with the timer of the game; the rest stands still.
    assert sorted(tree.texts) == ["00:01.000", "00:01.000", "99.0 s"]
    assert tree.paints == 1
    assert tree.reads["data"] == 0


def test_that_of_timers_only_cells_are_painted_that_say_something_else(stand: Stand) -> None:
    stand.ui.pause()
    timers = stand.painting_of(stand.queue.view)

    stand.session.run_to_ms(1_000)
    stand.refresh()

    assert timers.texts == ["99.0 s"]
    assert timers.paints == 1
    assert timers.reads["data"] == 0


def test_that_timers_out_of_view_come_and_go_without_a_paint(stand: Stand) -> None:
    for number in range(60):
        stand.game.set_timeout(1_000 + number, print, name=f"{number}")
    timers = stand.painting_of(stand.queue.view)

    last = stand.game.set_timeout(5_000, print, name="far out of view")
    stand.refresh()
    stand.game.clear(last)
    stand.refresh()

    assert timers.paints == 0


def test_that_rows_that_come_and_go_in_view_are_painted_once(stand: Stand) -> None:
    timers = stand.painting_of(stand.queue.view)

    stand.game.set_timeout(5_000, print, name="new")
    stand.refresh()
    QApplication.processEvents()

    assert timers.paints == 1
    assert "new" in timers.texts
    assert "blink" not in timers.texts


def test_that_rows_are_read_once_although_others_come(stand: Stand) -> None:
    timers = stand.painting_of(stand.queue.view)

    stand.game.set_timeout(5_000, print, name="new")
    stand.refresh()
    QApplication.processEvents()

    assert timers.reads["row_cells"] == 3


def test_that_a_row_in_another_place_is_painted_there(stand: Stand) -> None:
    timers = stand.painting_of(stand.queue.view)

    stand.ui.set_rate(0.1)
    stand.refresh()

    assert [text for text in timers.texts if text in ("end", "blink")] == ["end", "blink"]


def test_that_another_order_is_painted_without_a_refresh(stand: Stand) -> None:
    timers = stand.painting_of(stand.queue.view)

    titles = stand.queue.view.horizontalHeader()
    titles.setSortIndicator(CallColumn.NAME, Qt.SortOrder.DescendingOrder)
    for _ in range(2):
        QApplication.processEvents()

    assert [text for text in timers.texts if text in ("end", "blink")] == ["end", "blink"]


def test_that_of_clocks_only_a_row_is_painted_that_has_come(stand: Stand) -> None:
    tree = stand.painting_of(stand.tree.view)

    stand.session.root.child("third")
    stand.refresh()

    names = ("root", "game", "ui", "third")
    assert [text for text in tree.texts if text in names] == ["third"]


def test_that_what_is_hidden_is_not_read(stand: Stand) -> None:
    tree, timers = stand.painting_of(stand.tree.view), stand.painting_of(stand.queue.view)
    stand.tree.hide()
    stand.queue.hide()
    tree.settle()

    stand.session.run_to_ms(1_000)
    stand.refresh()

    assert tree.reads + timers.reads == Counter()


def test_that_scrolling_reads_only_rows_that_come_into_view(stand: Stand) -> None:
    for number in range(60):
        stand.game.set_timeout(1_000 + number, print, name=f"{number}")
    timers = stand.painting_of(stand.queue.view)

    stand.queue.view.verticalScrollBar().setValue(2)
    QApplication.processEvents()

    assert 2 <= timers.reads["row_cells"] <= 4
    timers.settle()
    stand.refresh()
    assert timers.paints == 0


# ---------------------------------------------------------------- any table


class Plain(PaintedTable):
    """A table over items."""

    def __init__(self, model: QAbstractItemModel) -> None:
        super().__init__()
        self.setModel(model)
        set_up_table(self)
        self.horizontalHeader().setStretchLastSection(True)


def some_items() -> QStandardItemModel:
    model = ItemRows(0, 3)
    for row in range(6):
        items = [QStandardItem(f"row {row}, cell {column}") for column in range(3)]
        items[0].setIcon(Theme("light").icon("find"))
        items[1].setTextAlignment(roles.RIGHT)
        items[1].setForeground(QColor("#0072b2"))
        font = items[2].font()
        font.setBold(row % 2 == 1)
        items[2].setFont(font)
        items[2].setText("a text that is much too long for the little room that this cell has")
        model.appendRow(items)
    return model


@pytest.fixture
def plain(qtbot: QtBot) -> Plain:
    view = Plain(some_items())
    qtbot.addWidget(view)
    view.resize(420, 200)
    view.show()
    QApplication.processEvents()
    return view


def test_that_a_whole_range_said_to_have_changed_is_painted_where_it_has(
    plain: Plain, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    model = plain.model()
    assert isinstance(model, QStandardItemModel)
    painting = Painting(plain, monkeypatch)
    painting.settle()

    model.dataChanged.emit(model.index(0, 0), model.index(5, 2))
    for _ in range(3):
        QApplication.processEvents()
    assert painting.paints == 0
    model.item(1, 1).setText("other")
    qtbot.waitUntil(lambda: bool(painting.paints))

    assert (painting.paints, painting.texts) == (1, ["other"])


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("selected", [None, 1])
def test_that_a_table_looks_as_qt_would_paint_it(
    qtbot: QtBot, theme: str, selected: int | None
) -> None:
    palette = Theme("dark" if theme == "dark" else "light").palette()
    images = []
    for view in (Plain(model := some_items()), QTableView()):
        qtbot.addWidget(view)
        view.setFrameShape(QFrame.Shape.NoFrame)
        view.setPalette(palette)
        if view.model() is None:
            view.setModel(model)
            set_up_table(view)
            view.horizontalHeader().setStretchLastSection(True)
        view.resize(420, 200)
        view.show()
        if selected is not None:
            view.selectRow(selected)
        QApplication.processEvents()
        images.append(view.viewport().grab().toImage())
        view.hide()

    assert images[0] == images[1]


def test_that_a_selected_row_that_has_moved_is_painted_where_it_was_and_is(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ItemRows(0, 1)
    for _ in range(4):
        model.appendRow(QStandardItem("the same"))
    view = Plain(model)
    qtbot.addWidget(view)
    view.resize(420, 200)
    view.show()
    view.selectRow(1)
    painting = Painting(view, monkeypatch)
    view.selectRow(1)
    painting.settle()

    model.insertRow(0, QStandardItem("the same"))
    for _ in range(3):
        QApplication.processEvents()

    assert [index.row() for index in view.selectionModel().selectedRows()] == [2]
    assert painting.texts == ["the same"] * 3


def test_that_other_colors_are_painted_at_once(plain: Plain) -> None:
    before = plain.viewport().grab().toImage()
    palette = plain.palette()
    palette.setColor(QPalette.ColorRole.Text, QColor("#ff0000"))

    plain.setPalette(palette)
    QApplication.processEvents()

    assert plain.viewport().grab().toImage() != before


@pytest.mark.parametrize(
    ("make", "width"), [(partial(QColor, "red"), 16), (partial(QPixmap, 14, 14), 14)]
)
def test_that_what_stands_before_a_text_grows_with_it(
    qtbot: QtBot, make: Callable[[], object], width: int
) -> None:
    view, mark = QWidget(), make()
    qtbot.addWidget(view)
    found: list[int] = []
    for scale in (1, 2):
        font = view.font()
        font.setPixelSize(13 * scale)
        view.setFont(font)
        cells = CellPainter(view)
        found.append(cells.before(Cell("boss", mark=mark)) - 2 * cells.margin)

    assert found == [width, 2 * width]


def test_that_long_texts_go_on_in_the_next_line_where_a_table_wraps_them(qtbot: QtBot) -> None:
    images = []
    item = QStandardItem("what was seen, in many words that need more than one line")
    item.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
    model = ItemRows(1, 1)
    model.setItem(0, 0, item)
    for table in (PaintedTable(), QTableView()):
        qtbot.addWidget(table)
        table.setModel(model)
        set_up_table(table)
        table.setWordWrap(True)
        table.setColumnWidth(0, 200)
        table.setRowHeight(0, 60)
        table.show()
        QApplication.processEvents()
        images.append(table.viewport().grab(table.visualRect(item.index())).toImage())
        table.hide()

    assert images[0] == images[1]


# ---------------------------------------------------------------- what cannot be read


def test_that_rows_that_cannot_be_read_say_so_and_are_logged_once(
    stand: Stand, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(_model: QueueModel, _key: int) -> list[Cell]:
        message = "damaged"
        raise ValueError(message)

    monkeypatch.setattr(QueueModel, "row_cells", failing)
    stand.queue.view.setModel(stand.queue.model)

    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            stand.queue.view.repaint_rows()
            stand.refresh()

    assert stand.queue.view.shown_text(0, CallColumn.NAME) == "?"
    assert [record.getMessage() for record in caplog.records] == [
        "a fault in QueueView.cells_of; shown as “?”"
    ]
    monkeypatch.undo()
    guards.faults.clear()


def test_that_a_failure_to_find_rows_is_logged_and_no_more(
    stand: Stand, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(*_arguments: object) -> None:
        message = "no such node"
        raise KeyError(message)

    monkeypatch.setattr(stand.tree.view, "row_places", failing)

    with caplog.at_level(logging.ERROR):
        stand.tree.view.repaint_changes()
        stand.tree.view.doItemsLayout()
        stand.tree.view.viewport().grab()

    assert {record.getMessage() for record in caplog.records} == {
        "a fault in _ClockTable.rows_in_view; shown as “?”",
        "a fault in PaintedTable.paintEvent; shown as “?”",
    }
    monkeypatch.undo()
    guards.faults.clear()


def test_that_a_failure_while_painting_is_logged_and_no_more(
    plain: Plain, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(*_arguments: object, **_named: object) -> None:
        message = "no such pixmap"
        raise RuntimeError(message)

    monkeypatch.setattr(CellPainter, "paint", failing)

    with caplog.at_level(logging.ERROR):
        plain.viewport().grab()
        plain.viewport().grab()

    assert len(caplog.records) == 1
    monkeypatch.undo()
    guards.faults.clear()


# ---------------------------------------------------------------- one row, said twice


def _said_by_role(index: QModelIndex) -> tuple[str, object, bool]:
    font = index.data(Qt.ItemDataRole.FontRole)
    text = index.data(Qt.ItemDataRole.DisplayRole)
    return (
        text or "",
        index.data(Qt.ItemDataRole.ForegroundRole),
        font is not None and font.bold(),
    )


def _is_same(cells: list[Cell], first: QModelIndex) -> bool:
    return [(cell.text, cell.color, cell.is_bold) for cell in cells] == [
        _said_by_role(first.siblingAtColumn(first.column() + place)) for place in range(len(cells))
    ]


def _fail() -> None:
    message = "on purpose"
    raise RuntimeError(message)


def _crowd() -> PlayedSession:
    session = PlayedSession()
    game = session.root.child("game")
    enemies = game.child("enemies", rate=2)
    enemies.set_timeout(3, print, name="line\nbreak")
    session.root.child("frozen", rate=0).set_interval(1, print)
    scheduler = Scheduler(game, name="fights")
    scheduler.schedule_update(Boss(), 1)
    game.set_timeout(Fraction(1, 5), _fail, name="failing")
    session.run_to_ms(400)
    game.pause(cause=1)
    session.run_to_ms(900)
    return session


def test_that_a_row_of_clocks_says_what_its_cells_say(qtbot: QtBot) -> None:
    session, bridge = _crowd(), SessionBridge()
    bridge.set_session(session)
    panel = ClockTreePanel(bridge, Theme("light"))
    qtbot.addWidget(panel)
    model = panel.model
    panel.filter_rows("e")

    assert model.rowCount() > 4
    for row in range(model.rowCount()):
        shown = [column for column, cell in enumerate(model.row_cells(row)) if cell.text]
        for column in shown:
            cell, index = model.row_cells(row)[column], model.index(row, column)
            assert _is_same([cell], index)


def test_that_a_row_of_timers_calls_or_events_says_what_its_cells_say() -> None:
    session = _crowd()
    queue = CallQueue(session.timeline, session.log.strings)
    calls = QueueModel(queue, Theme("light"))
    events = EventListModel(Theme("light"))
    events.set_groups(frozenset(EventGroup))
    events.set_log(session.log, session.timeline)

    assert calls.rowCount() == queue.total()
    for model in (calls, events):
        assert model.rowCount()
        for row in range(model.rowCount()):
            assert _is_same(list(model.row_cells(row)), model.index(row, 0))


def test_that_a_selected_row_of_clocks_is_filled_from_edge_to_edge(stand: Stand) -> None:
    stand.bridge.select(Selection.clock(stand.game.id))
    QApplication.processEvents()
    view = stand.tree.view

    image = view.viewport().grab().toImage()
    rect = view.visualRect(stand.tree.model.index(stand.tree.model.row_of(stand.game.id) or 0, 0))

    highlight = view.palette().color(QPalette.ColorRole.Highlight)
    for x in (1, rect.right() - 1, view.horizontalHeader().length() - 2):
        assert image.pixelColor(x, rect.top() + 1) == highlight
