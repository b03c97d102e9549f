"""Tables with columns as data: display, sorting, filters, copies, kept settings."""

from __future__ import annotations

import csv
import io
from operator import attrgetter
from typing import NamedTuple

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QStyle
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from ui.kit.table import roles
from ui.kit.table.columns import Column, ColumnEnum, apart_columns
from ui.kit.table.models import ListTableModel
from ui.kit.table.table_view import TableView
from ui.kit.theme import ColorRole, Theme


class Animal(NamedTuple):
    """A row."""

    name: str
    legs: int | None
    note: str = ""


_column = Column[Animal]


class AnimalColumn(ColumnEnum):
    """Columns of every sort."""

    NAME = _column("Animal", lambda row: row.name, sample="crocodile", is_searched=True)
    LEGS = _column(
        "Legs",
        lambda row: "" if row.legs is None else str(row.legs),
        "How many it stands on",
        lambda row: f"{row.legs} legs",
        lambda row: row.legs,
        "000",
        is_number=True,
        color=lambda row: ColorRole.RED if row.legs == 3 else None,
    )
    NOTE = _column("Note", lambda row: row.note, is_searched=True)


class YieldingColumn(ColumnEnum):
    """Two that are left out where there is no room, the narrow one first."""

    NAME = _column("Animal", lambda row: row.name, sample="crocodile")
    NOTE = _column("Note", lambda row: row.note, sample="n" * 40, yields=2)
    LEGS = _column("Legs", lambda row: str(row.legs), sample="000", yields=1, is_number=True)


class NumberedColumn(ColumnEnum):
    """Numbers before all else, and a text that may have any length."""

    LEGS = _column("Legs", lambda row: str(row.legs), sample="n" * 20, is_number=True)
    NAME = _column("Animal", lambda row: row.name, sample="crocodile", yields=1)
    NOTE = _column("Note", lambda row: row.note)


class LeadingColumn(ColumnEnum):
    """A first one that is left out where there is no room."""

    NOTE = _column("Note", lambda row: row.note, sample="n" * 40, yields=1)
    NAME = _column("Animal", lambda row: row.name, sample="crocodile")
    LEGS = _column("Legs", lambda row: str(row.legs), sample="000", is_number=True)


class StayingColumn(ColumnEnum):
    """Names beside numbers that are always shown."""

    NAME = _column("Animal", lambda row: row.name, sample="crocodile")
    LEGS = _column("Legs", lambda row: str(row.legs), sample="n" * 20, is_number=True)


class AnimalModel(ListTableModel[Animal]):
    """Animals, known by their names."""

    def __init__(self) -> None:
        super().__init__(AnimalColumn, Theme("light"), attrgetter("name"), is_sortable=True)


CAT, BIRD, FISH, STOOL = (
    Animal("cat", 4, "one\ntwo"),
    Animal("bird", 2),
    Animal("fish", None),
    Animal("stool", 3, "no cat"),
)


@pytest.fixture
def model(qapp: QApplication, qtmodeltester: ModelTester) -> AnimalModel:
    assert qapp is not None
    model = AnimalModel()
    model.set_rows([CAT, BIRD, FISH, STOOL])
    qtmodeltester.check(model)
    return model


@pytest.fixture
def view(qtbot: QtBot, model: AnimalModel) -> TableView:
    return shown(qtbot, model, {})


def shown(qtbot: QtBot, model: AnimalModel, choices: dict[str, str]) -> TableView:
    view = TableView(model, "Animals", choices, selects_many=True)
    qtbot.addWidget(view)
    view.resize(400, 200)
    with qtbot.waitExposed(view):
        view.show()
    return view


def names(model: AnimalModel) -> list[str]:
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


# ------------------------------------------------------------------ columns


def test_that_a_column_says_everything_about_its_cells(model: AnimalModel) -> None:
    legs, note = model.index(3, AnimalColumn.LEGS), model.index(0, AnimalColumn.NOTE)

    assert (legs.data(), legs.data(roles.TOOL_TIP)) == ("3", "3 legs")
    assert legs.data(roles.FOREGROUND) == Theme("light").color(ColorRole.RED)
    assert legs.data(roles.ALIGNMENT) == roles.RIGHT
    assert (note.data(), note.data(roles.EDIT)) == ("one⏎two", "one\ntwo")
    titles = [model.headerData(each, Qt.Orientation.Horizontal) for each in AnimalColumn]
    assert titles == ["Animal", "Legs", "Note"]
    for column in AnimalColumn:
        title = model.headerData(column, Qt.Orientation.Horizontal, roles.ALIGNMENT)
        assert title == model.index(3, column).data(roles.ALIGNMENT)


def test_that_text_to_the_right_of_numbers_is_kept_off_them() -> None:
    assert apart_columns(list(AnimalColumn)) == {AnimalColumn.NOTE}


def test_that_a_painted_row_says_what_its_cells_say(model: AnimalModel) -> None:
    for row in range(model.rowCount()):
        painted = [cell.text for cell in model.row_cells(row)]
        assert painted == [model.index(row, column).data() for column in AnimalColumn]
    assert [cell.text for cell in model.row_cells(99)] == ["", "", ""]


# ------------------------------------------------------------------ rows


def test_that_rows_that_stay_change_in_their_places(model: AnimalModel, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(model.modelReset), qtbot.waitSignal(model.dataChanged) as changed:
        model.set_rows([CAT, BIRD._replace(legs=1), FISH, STOOL])

    assert changed.args is not None
    assert (changed.args[0].row(), changed.args[1].row()) == (1, 1)
    with qtbot.assertNotEmitted(model.dataChanged):
        model.set_rows(model.rows)


def test_that_the_same_rows_again_are_compared_and_no_more(
    model: AnimalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Animal] = []
    monkeypatch.setattr(model, "key_of", asked.append)

    model.set_rows([CAT, BIRD, FISH, STOOL])

    assert not asked


@pytest.mark.parametrize("at", [0, 4])
def test_that_rows_that_come_at_either_end_are_inserted(
    model: AnimalModel, qtbot: QtBot, at: int
) -> None:
    more = [*model.rows]
    more.insert(at, Animal("ant", 6))

    with qtbot.assertNotEmitted(model.modelReset), qtbot.waitSignal(model.rowsInserted) as inserted:
        model.set_rows(more)

    assert inserted.args is not None
    assert inserted.args[1:] == [at, at]
    assert len(names(model)) == 5


def test_that_the_filter_looks_for_every_word_in_what_is_searched(model: AnimalModel) -> None:
    model.set_filter("CAT no")
    assert (names(model), model.hidden_count) == (["stool"], 3)
    assert model.add_rows([Animal("caterpillar", 16, "none"), Animal("dog", 4)]) == 1
    assert names(model) == ["stool", "caterpillar"]
    model.set_filter("4")
    assert names(model) == []
    model.set_filter("")
    assert len(names(model)) == 6


def test_that_rows_are_sorted_by_their_values_and_put_back(model: AnimalModel) -> None:
    model.sort(AnimalColumn.LEGS)
    assert names(model) == ["fish", "bird", "stool", "cat"]
    model.add_rows([Animal("snail", 1)])
    assert names(model) == ["fish", "snail", "bird", "stool", "cat"]
    model.sort(AnimalColumn.LEGS, Qt.SortOrder.DescendingOrder)
    assert names(model)[0] == "cat"
    model.sort(-1)
    assert names(model) == ["cat", "bird", "fish", "stool", "snail"]


# ------------------------------------------------------------------ what is marked


def test_that_what_is_marked_stays_marked_wherever_it_goes(
    model: AnimalModel, view: TableView
) -> None:
    view.mark_rows([1, 3])

    model.sort(AnimalColumn.LEGS)
    assert view.marked_rows() == [1, 2]
    model.set_filter("stool")
    assert view.marked_rows() == [0]
    model.set_rows([CAT, STOOL])
    assert view.marked_rows() == [0]
    model.set_rows([])
    assert view.marked_rows() == []


def test_that_the_keyboard_comes_without_marking_anything(view: TableView) -> None:
    view.setFocus(Qt.FocusReason.TabFocusReason)

    assert view.marked_rows() == []
    assert not view.currentIndex().isValid()


def test_that_why_a_table_is_empty_is_whole_where_there_is_room_for_one_row(
    view: TableView, model: AnimalModel
) -> None:
    model.set_rows([])
    view.notice.set_text("No animals. Open the gate.")
    whole = rows_of_text(view)

    view.resize(400, view.height() - view.viewport().height() + 40)

    assert rows_of_text(view) == whole


def rows_of_text(view: TableView) -> int:
    """Return how many rows of pixels the text over the table has."""
    image = view.notice.grab().toImage()
    rows, columns = range(image.height()), range(image.width())
    # A theme that another test has shown may be dark.
    around = image.pixelColor(0, 0).lightness()
    stands_out = 90
    return sum(
        any(abs(image.pixelColor(x, y).lightness() - around) > stands_out for x in columns)
        for y in rows
    )


# ------------------------------------------------------------------ copies, keys and menus


def test_that_marked_rows_are_copied_as_they_are(view: TableView) -> None:
    view.mark_rows([0, 1])

    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)

    assert QGuiApplication.clipboard().text() == "cat\t4\tone\ntwo\nbird\t2\t"


def test_that_a_key_is_taken_alone_and_not_with_others(view: TableView) -> None:
    pressed: list[str] = []
    view.on(Qt.Key.Key_Delete, lambda: pressed.append("delete"))
    view.on(QKeySequence.StandardKey.Undo, lambda: pressed.append("undo"))

    QTest.keyClick(view, Qt.Key.Key_Delete)
    QTest.keyClick(view, Qt.Key.Key_Delete, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(view, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)

    assert pressed == ["delete", "undo"]


def test_that_every_table_offers_copies(view: TableView) -> None:
    copy, copy_table = view.make_menu(0).actions()
    assert (copy.text(), copy_table.text()) == ("Copy", "Copy table")

    copy_table.trigger()

    text = QGuiApplication.clipboard().text()
    titles, *rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t")
    assert titles[0] == view.model().headerData(0, Qt.Orientation.Horizontal)
    assert len(rows) == view.model().rowCount()


# ------------------------------------------------------------------ moved columns


@pytest.mark.parametrize("size", [13, 26])
def test_that_a_title_beside_numbers_stands_over_its_texts(
    model: AnimalModel, view: TableView, size: int
) -> None:
    font = view.font()
    font.setPixelSize(size)
    view.setFont(font)
    cell = model.cells(CAT, [AnimalColumn.NOTE])[0]
    metric, header = view.style().pixelMetric, view.horizontalHeader()
    of_icon = metric(QStyle.PixelMetric.PM_SmallIconSize, None, header)

    before_title = of_icon + metric(QStyle.PixelMetric.PM_HeaderMargin, None, header)
    assert abs(view.cells.before(cell) - before_title) <= 2


def test_that_text_keeps_off_the_number_that_is_beside_it_now(
    model: AnimalModel, view: TableView
) -> None:
    header = view.horizontalHeader()
    width = view.columnWidth(AnimalColumn.NAME)
    assert model.cells(CAT, [AnimalColumn.NAME])[0].mark is None
    assert model.cells(CAT, [AnimalColumn.NOTE])[0].mark is roles.gap()

    # Legs, animal, note.
    header.moveSection(header.visualIndex(AnimalColumn.LEGS), 0)

    assert model.cells(CAT, [AnimalColumn.NAME])[0].mark is roles.gap()
    assert model.cells(CAT, [AnimalColumn.NOTE])[0].mark is None
    assert view.columnWidth(AnimalColumn.NAME) > width

    view.choices.show_column(AnimalColumn.NAME, False)
    assert model.cells(CAT, [AnimalColumn.NOTE])[0].mark is roles.gap()

    view.choices.reset()
    assert view.columnWidth(AnimalColumn.NAME) == width
    assert model.cells(CAT, [AnimalColumn.NAME])[0].mark is None


def test_that_a_last_column_without_a_sample_has_what_others_leave_wherever_it_is(
    model: AnimalModel, qtbot: QtBot
) -> None:
    choices: dict[str, str] = {}
    view = shown(qtbot, model, choices)
    view.resize(600, 200)
    header = view.horizontalHeader()

    header.moveSection(header.visualIndex(AnimalColumn.NOTE), 0)

    assert header.length() == view.viewport().width()
    assert view.columnWidth(AnimalColumn.NOTE) > 300

    again = shown(qtbot, AnimalModel(), choices)
    again.resize(600, 200)
    assert again.columnWidth(AnimalColumn.NOTE) == view.columnWidth(AnimalColumn.NOTE)


# ------------------------------------------------------------------ remembered columns


def test_that_columns_are_as_they_were_at_the_next_start(
    model: AnimalModel, view: TableView, qtbot: QtBot
) -> None:
    choices: dict[str, str] = {}
    first = shown(qtbot, model, choices)
    header = first.horizontalHeader()
    header.resizeSection(AnimalColumn.NAME, 99)
    first.choices.show_column(AnimalColumn.LEGS, False)
    header.moveSection(0, 1)
    header.setSortIndicator(AnimalColumn.LEGS, Qt.SortOrder.DescendingOrder)

    again = shown(qtbot, AnimalModel(), choices)

    assert choices == {"animal_columns": "name=99 legs=hidden @order=legs,name,note @sorted=-legs"}
    assert again.columnWidth(AnimalColumn.NAME) == 99
    assert again.isColumnHidden(AnimalColumn.LEGS)
    assert again.horizontalHeader().visualIndex(AnimalColumn.NAME) == 1
    assert again.horizontalHeader().sortIndicatorSection() == AnimalColumn.LEGS
    again.choices.reset()
    assert choices == {}
    assert again.columnWidth(AnimalColumn.NAME) == view.columnWidth(AnimalColumn.NAME)
    assert not again.isColumnHidden(AnimalColumn.LEGS)
    assert again.horizontalHeader().visualIndex(AnimalColumn.NAME) == 0


def test_that_the_last_column_takes_what_is_left_however_little(view: TableView) -> None:
    others = view.columnWidth(AnimalColumn.NAME) + view.columnWidth(AnimalColumn.LEGS)

    view.resize(others + 90 + 2 * view.frameWidth(), 200)
    QApplication.processEvents()

    assert view.columnWidth(AnimalColumn.NOTE) == 90
    assert view.horizontalScrollBar().maximum() == 0


def test_that_a_table_that_is_resized_remembers_nothing(qtbot: QtBot, model: AnimalModel) -> None:
    choices: dict[str, str] = {}
    view = shown(qtbot, model, choices)

    view.resize(700, 300)
    QApplication.processEvents()

    assert choices == {}


@pytest.mark.parametrize(
    "kept",
    ["nonsense", "name=x", "name=hidden", "name=0 =5", "@order=x,,", "@sorted=tail", "name=9" * 99],
)
def test_that_what_cannot_be_remembered_is_passed_over(
    qtbot: QtBot, model: AnimalModel, view: TableView, kept: str
) -> None:
    odd = shown(qtbot, model, {"animal_columns": kept})

    assert not odd.isColumnHidden(AnimalColumn.NAME)
    assert odd.columnWidth(AnimalColumn.NAME) == view.columnWidth(AnimalColumn.NAME)


def test_that_the_menu_of_the_titles_hides_columns_but_the_first(view: TableView) -> None:
    menu = view.choices.make_menu(view)
    actions = {action.text(): action for action in menu.actions() if action.text()}

    assert list(actions) == ["Legs", "Note", "Fit columns"]
    actions["Legs"].trigger()

    assert view.isColumnHidden(AnimalColumn.LEGS)
    header = view.horizontalHeader()
    header.customContextMenuRequested.emit(QPoint(5, 5))
    popup = QApplication.activePopupWidget()
    assert popup is not None
    popup.close()


def test_that_a_narrow_column_has_the_room_that_a_wide_one_leaves(
    qapp: QApplication, qtbot: QtBot
) -> None:
    assert qapp is not None
    model = ListTableModel[Animal](YieldingColumn, Theme("light"), attrgetter("name"))
    model.set_rows([CAT, BIRD])
    view = TableView(model, "Animals", {})
    qtbot.addWidget(view)
    view.resize(view.width_for("crocodile") + view.width_for("n" * 40), 200)
    view.show()

    shown = [column for column in YieldingColumn if not view.isColumnHidden(column)]

    assert shown == [YieldingColumn.NAME, YieldingColumn.LEGS]


def test_that_numbers_in_the_first_column_get_no_more_room_than_they_need(
    qapp: QApplication, qtbot: QtBot
) -> None:
    assert qapp is not None
    model = ListTableModel[Animal](NumberedColumn, Theme("light"), attrgetter("name"))
    model.set_rows([CAT, BIRD])
    view = TableView(model, "Animals", {})
    qtbot.addWidget(view)
    view.resize(4 * view.width_for("n" * 20), 200)
    with qtbot.waitExposed(view):
        view.show()

    assert view.columnWidth(NumberedColumn.LEGS) == view.width_for("n" * 20)


def test_that_columns_fill_a_table_whose_first_one_is_left_out(
    qapp: QApplication, qtbot: QtBot
) -> None:
    assert qapp is not None
    model = ListTableModel[Animal](LeadingColumn, Theme("light"), attrgetter("name"))
    model.set_rows([CAT, BIRD])
    view = TableView(model, "Animals", {})
    qtbot.addWidget(view)
    view.resize(view.width_for("n" * 40), 200)
    with qtbot.waitExposed(view):
        view.show()
    view.choices.arrange()

    assert view.isColumnHidden(LeadingColumn.NOTE)
    assert view.horizontalHeader().length() == view.viewport().width()


def test_that_a_name_is_cut_before_a_column_that_stays_is_out_of_sight(
    qapp: QApplication, qtbot: QtBot
) -> None:
    assert qapp is not None
    model = ListTableModel[Animal](StayingColumn, Theme("light"), attrgetter("name"))
    model.set_rows([Animal("c" * 40, 4, "striped")])
    view = TableView(model, "Animals", {})
    qtbot.addWidget(view)
    view.resize(view.width_for("crocodile") + view.width_for("n" * 20), 200)
    with qtbot.waitExposed(view):
        view.show()
    QApplication.processEvents()

    assert view.choices.wanted_width(()) > view.width()
    assert view.horizontalScrollBar().maximum() == 0
    assert view.columnWidth(StayingColumn.LEGS) >= view.width_for("n" * 20)


def test_that_rows_grow_with_larger_text(model: AnimalModel, qtbot: QtBot) -> None:
    model.set_rows((STOOL,))
    view = TableView(model, "Animals", {})
    qtbot.addWidget(view)
    view.show()
    font = view.font()
    font.setPixelSize(40)

    view.setFont(font)

    assert view.rowHeight(0) > 40


def test_that_rows_have_the_colours_of_another_theme_at_once(
    model: AnimalModel, qtbot: QtBot
) -> None:
    model.set_rows((STOOL,))
    view = TableView(model, "Animals", {})
    qtbot.addWidget(view)
    legs = AnimalColumn.LEGS
    assert view.cells_of(0)[legs].color == model.theme.color(ColorRole.RED)

    model.theme.set_choice("dark")

    assert view.cells_of(0)[legs].color == model.theme.color(ColorRole.RED)
    assert model.theme.color(ColorRole.RED) != Theme("light").color(ColorRole.RED)
