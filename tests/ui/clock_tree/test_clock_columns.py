"""The columns of the clock tree share the room: all that a clock says in view together."""

from __future__ import annotations

from fractions import Fraction

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.frames.director import Director
from inspector.vocabulary import Phase
from tests.ui.clock_tree.clock_columns_stand import LARGE, SMALL, USUAL, Stand
from tests.ui.crowded_session import CrowdedSession
from tests.ui.world import PlayedSession
from ui.clock_tree.model import ClockTreeModel
from ui.clock_tree.panel import ClockTreePanel
from ui.clock_tree.rows import ClockColumn, node_of
from ui.kit.theme import Theme
from ui.session.bridge import Selection, SessionBridge

#: With room for all states that calls have usually, but not for all columns.
_NARROW = 350


@pytest.fixture
def stand(qtbot: QtBot) -> Stand:
    return Stand(qtbot)


# ---------------------------------------------------------------- sharing out


@pytest.mark.parametrize("width", [400, SMALL, USUAL, LARGE, 1100])
def test_that_all_columns_are_in_view_together(stand: Stand, width: int) -> None:
    stand.resize(width)

    assert stand.end() <= stand.view.viewport().width()
    assert stand.view.horizontalScrollBar().maximum() == 0
    assert min(stand.widths()) > 0


def test_that_a_narrow_panel_leaves_no_room_unused(stand: Stand) -> None:
    assert stand.end() == stand.view.viewport().width()


def test_that_a_narrow_panel_leaves_columns_out_rather_than_to_scrolling(stand: Stand) -> None:
    stand.resize(300)

    assert stand.view.horizontalScrollBar().maximum() == 0
    assert stand.view.isColumnHidden(ClockColumn.EFFECTIVE_RATE)
    assert not stand.view.isColumnHidden(ClockColumn.STATE)
    for column in (ClockColumn.NAME, ClockColumn.LOCAL_TIME, ClockColumn.RATE):
        assert stand.is_readable(stand.game.id, column)

    stand.resize(LARGE)
    assert not any(stand.view.isColumnHidden(column) for column in ClockColumn)


def test_that_a_column_that_was_left_out_is_shown_when_somebody_wants_it(stand: Stand) -> None:
    stand.resize(300)
    stand.panel.columns.show_column(ClockColumn.EFFECTIVE_RATE, True)

    assert not stand.view.isColumnHidden(ClockColumn.EFFECTIVE_RATE)
    assert stand.is_readable(stand.game.id, ClockColumn.EFFECTIVE_RATE)

    stand.panel.columns.fit_columns()
    assert stand.view.isColumnHidden(ClockColumn.EFFECTIVE_RATE)


@pytest.mark.parametrize("width", [200, 160])
def test_that_names_are_whole_after_all_else_but_rates_is_left_out(
    stand: Stand, width: int
) -> None:
    stand.resize(width)

    assert stand.is_readable(stand.game.id, ClockColumn.NAME)
    assert stand.is_readable(stand.game.id, ClockColumn.RATE)
    assert stand.view.isColumnHidden(ClockColumn.LOCAL_TIME)
    assert stand.view.horizontalScrollBar().maximum() == 0


@pytest.mark.parametrize("width", [SMALL, USUAL, LARGE])
def test_that_no_cell_of_a_usual_session_is_cut_off(stand: Stand, width: int) -> None:
    enemies = stand.game.child("enemies", rate=Fraction(1, 3))
    enemies.child("particles").set_interval(2, lambda: None)
    stand.game.pause(cause=1)
    stand.run_to_ms(4_169)

    stand.resize(width)

    cut_off = [
        (stand.panel.model.index_of(node).data(), column.name)
        for node in stand.nodes_in_view()
        for column in ClockColumn
        if not stand.is_readable(node, column)
    ]
    assert cut_off == []


@pytest.mark.parametrize("factor", [1, 1.5, 2])
def test_that_states_of_calls_have_room_whatever_the_size_of_letters(
    qtbot: QtBot, factor: float
) -> None:
    usual, large = QApplication.font(), QApplication.font()
    large.setPointSizeF(factor * usual.pointSizeF())
    QApplication.setFont(large)
    try:
        stand = Stand(qtbot)
        late = Director(stand.session.root).on(
            Phase.LATE_UPDATE, lambda _delta: None, clock=stand.game, name="late"
        )
        stand.resize(round(factor * _NARROW))
        stand.refresh()
        shown = stand.drawn(node_of(late.number), ClockColumn.STATE)
        assert shown in {"in late update", "late update"}
        assert not stand.view.isColumnHidden(ClockColumn.LOCAL_TIME)
    finally:
        QApplication.setFont(usual)


def test_that_names_and_states_have_what_they_need_before_titles_are_written_out(
    stand: Stand,
) -> None:
    clock = stand.game.child("a longer name")

    stand.resize(USUAL)
    stand.refresh()

    assert stand.is_readable(clock.id, ClockColumn.NAME)
    assert stand.is_readable(clock.id, ClockColumn.STATE)
    assert stand.header.shown_title(ClockColumn.EFFECTIVE_RATE) == "Eff."


def test_that_states_are_kept_off_the_rates_in_columns_that_come_back(stand: Stand) -> None:
    def mark() -> object:
        return stand.view.cells_of(stand.game.id)[ClockColumn.STATE].mark

    before = mark()
    stand.resize(160)
    stand.game.set_rate(2)
    stand.refresh()
    assert stand.view.isColumnHidden(ClockColumn.STATE)

    stand.resize(USUAL)
    stand.refresh()

    assert before is not None
    assert mark() is before


def test_that_states_have_room_in_a_column_that_comes_back(stand: Stand) -> None:
    stand.resize(160)
    assert stand.view.isColumnHidden(ClockColumn.STATE)
    Director(stand.session.root).on(
        Phase.LATE_UPDATE, lambda _delta: None, clock=stand.game, name="late"
    )
    stand.refresh()

    stand.resize(_NARROW)
    stand.refresh()

    late = node_of(stand.number("late"))
    assert stand.drawn(late, ClockColumn.STATE) in {"in late update", "late update"}


def test_that_a_wide_panel_says_all_of_it(stand: Stand) -> None:
    stand.game.set_rate(Fraction(1000, 1001))
    stand.run_to_ms(4_169)

    stand.resize(1100)

    model = stand.panel.model
    for column in set(ClockColumn) - {ClockColumn.STATE}:
        text = model.index_of(stand.game.id, column).data()
        assert stand.drawn(stand.game.id, column) == text
        assert stand.header.shown_title(column) == model.headerData(
            column, Qt.Orientation.Horizontal
        )


# ---------------------------------------------------------------- shorter forms


def test_that_narrow_columns_have_short_titles_and_say_the_whole_in_the_tooltip(
    stand: Stand,
) -> None:
    stand.resize(380)

    titles = [stand.header.shown_title(column) for column in ClockColumn]
    tip = stand.panel.model.headerData(
        ClockColumn.EFFECTIVE_RATE, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole
    )

    assert titles == ["Clock", "Local", "Rate", "State", "Eff.", "Tim.", "Next"]
    assert str(tip).startswith("Effective (×)\nLocal seconds per session second")


def test_that_the_header_paints_the_title_that_there_is_room_for(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrow = stand.header.grab().toImage()
    assert stand.header.grab().toImage() == narrow

    monkeypatch.setattr(stand.header, "shown_title", lambda _section: "Other")

    assert stand.header.grab().toImage() != narrow


def test_that_a_number_without_room_is_shorter_and_whole_in_the_tooltip(stand: Stand) -> None:
    stand.game.set_rate(Fraction(1000, 1001))
    stand.game.child("a clock with quite a long name")
    stand.run_to_ms(4_169)
    stand.resize(SMALL + 8)

    texts = [
        stand.drawn(stand.game.id, column) for column in (ClockColumn.LOCAL_TIME, ClockColumn.RATE)
    ]
    index = stand.panel.model.index_of(stand.game.id, ClockColumn.RATE)

    assert texts == ["0:04.164", "≈0.999"]
    assert index.data(Qt.ItemDataRole.ToolTipRole) == "Rate (×): 1000/1001"
    assert index.data() == "1000/1001"


@pytest.mark.parametrize("width", range(220, SMALL, 9))
def test_that_no_name_is_cut_while_a_column_could_go(stand: Stand, width: int) -> None:
    clock = stand.game.child("street lamps")
    stand.run_to_ms(4_169)

    stand.resize(width)

    assert stand.is_readable(clock.id, ClockColumn.NAME)


def test_that_the_least_a_state_says_is_what_stops_a_clock(stand: Stand) -> None:
    enemies = stand.game.child("enemies")
    stand.game.pause(cause=1)
    stand.refresh()

    stand.header.resizeSection(ClockColumn.STATE, 84)

    assert stand.drawn(enemies.id, ClockColumn.STATE) == "“game”"
    assert stand.drawn(stand.game.id, ClockColumn.STATE) == "paused"


# ---------------------------------------------------------------- while time passes


def test_that_columns_stand_still_while_time_passes(stand: Stand) -> None:
    stand.game.set_interval(Fraction(7, 10), lambda: None)
    stand.session.root.set_interval(Fraction(31, 100), lambda: None)
    stand.run_to_ms(1)
    before = stand.widths()

    for at_ms in range(16, 12_000, 449):
        stand.run_to_ms(at_ms)
        assert stand.widths() == before


@pytest.mark.parametrize("width", range(300, 380, 10))
def test_that_a_time_of_ten_minutes_has_room_in_a_narrow_column(stand: Stand, width: int) -> None:
    stand.resize(width)

    for minutes in (1, 10, 60, 600):
        stand.run_to_ms(60_000 * minutes)
        assert not stand.view.isColumnHidden(ClockColumn.LOCAL_TIME)
        assert stand.is_readable(stand.game.id, ClockColumn.LOCAL_TIME), minutes


def test_that_a_column_grows_when_a_number_in_it_does_and_does_not_shrink(stand: Stand) -> None:
    before = stand.width(ClockColumn.RATE)
    stand.game.set_rate(Fraction(123_456))
    stand.refresh()
    grown = stand.width(ClockColumn.RATE)
    assert stand.is_readable(stand.game.id, ClockColumn.RATE)

    stand.game.set_rate(Fraction(1))
    stand.refresh()

    assert before < grown == stand.width(ClockColumn.RATE)
    assert stand.end() == stand.view.viewport().width()


def test_that_another_width_of_the_panel_lets_columns_shrink(stand: Stand) -> None:
    before = stand.width(ClockColumn.RATE)
    stand.game.set_rate(Fraction(123_456))
    stand.refresh()
    stand.game.set_rate(Fraction(1))
    stand.refresh()

    stand.resize(SMALL - 1)

    assert stand.width(ClockColumn.RATE) == before


def test_that_another_height_of_the_panel_changes_no_column(stand: Stand) -> None:
    stand.game.set_rate(Fraction(123_456))
    stand.refresh()
    stand.game.set_rate(Fraction(1))
    stand.refresh()
    before = stand.widths()

    stand.panel.resize(SMALL, 380)
    QApplication.processEvents()

    assert stand.widths() == before


def test_that_another_session_is_fitted_anew(stand: Stand) -> None:
    before = stand.width(ClockColumn.RATE)
    stand.game.set_rate(Fraction(123_456))
    stand.refresh()

    stand.bridge.set_session(PlayedSession())
    QApplication.processEvents()

    assert stand.width(ClockColumn.RATE) == before


def test_that_names_that_are_scrolled_into_view_get_room(stand: Stand) -> None:
    for number in range(40):
        stand.game.child(f"clock {number}")
    last = stand.game.child("a clock with a longer name")
    stand.refresh()
    stand.resize(LARGE)
    before = stand.width(ClockColumn.NAME)

    stand.view.scrollTo(stand.panel.model.index_of(last.id))
    QApplication.processEvents()

    assert stand.width(ClockColumn.NAME) > before
    assert stand.is_readable(last.id, ClockColumn.NAME)


@pytest.mark.parametrize("what", ["fit", "fit_columns"])
def test_that_fitting_asks_for_what_is_in_view_whatever_the_number_of_clocks(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    asked: list[int] = []
    answer = ClockTreeModel.row_cells

    def counting(model: ClockTreeModel, key: int) -> object:
        asked[-1] += 1
        return answer(model, key)

    monkeypatch.setattr(ClockTreeModel, "row_cells", counting)
    kept = []
    for clocks in (60, 10_000):
        bridge = SessionBridge()
        bridge.set_session(CrowdedSession(10, 10, clocks))
        asked.append(0)
        panel = ClockTreePanel(bridge, Theme("light"))
        kept += [panel, bridge]
        qtbot.addWidget(panel)
        panel.resize(SMALL, 300)
        panel.show()
        QApplication.processEvents()
        asked[-1] = 0
        panel.view.repaint_rows()

        getattr(panel.columns, what)()

    assert 0 < asked[1] <= asked[0]


def test_that_a_hidden_tree_measures_nothing(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    stand.panel.hide()
    monkeypatch.setattr(stand.view, "row_places", pytest.fail)

    stand.game.child("a longer name")
    stand.bridge.refresh_now()
    stand.panel.refresh()
    stand.panel.columns.fit()


# ---------------------------------------------------------------- names


def test_that_a_name_without_any_room_keeps_its_beginning(stand: Stand) -> None:
    name = "a clock with quite a long name as well, and with an end"
    clock = stand.game.child(name)
    stand.resize(300)
    stand.refresh()

    drawn = stand.drawn(clock.id, ClockColumn.NAME)

    assert drawn.endswith("…")
    assert len(drawn) > 20
    assert name.startswith(drawn[:-1].rstrip())
    tip = stand.panel.model.index_of(clock.id).data(Qt.ItemDataRole.ToolTipRole)
    assert f"root / game / {name}" in tip


@pytest.mark.parametrize("width", [250, SMALL, LARGE])
def test_that_names_are_cut_last_of_all_columns(stand: Stand, width: int) -> None:
    name = "rather long a name"
    clock = stand.game.child(name)

    stand.resize(width)
    stand.refresh()

    assert stand.drawn(clock.id, ClockColumn.NAME) == name


def test_that_names_have_the_room_that_no_column_needs(stand: Stand) -> None:
    stand.resize(1100)
    before = stand.width(ClockColumn.NAME)

    stand.resize(1200)

    assert stand.width(ClockColumn.NAME) == before + 100
    assert stand.end() == stand.view.viewport().width()


def test_that_names_of_members_reach_over_cells_that_are_empty(stand: Stand) -> None:
    model, view = stand.panel.model, stand.view
    model.reveal(stand.number("Boss.update"))
    target = node_of(stand.number(stand.boss.name))

    assert stand.columns_painted(target)[:2] == [ClockColumn.NAME, ClockColumn.STATE]
    assert stand.columns_painted(node_of(stand.number("fights"))) == list(ClockColumn)
    assert stand.columns_painted(stand.game.id) == list(ClockColumn)
    view.header().moveSection(ClockColumn.LOCAL_TIME, ClockColumn.STATE)
    assert stand.columns_painted(target) == list(ClockColumn)


def test_that_a_spanned_name_is_painted_over_the_empty_cells(qtbot: QtBot) -> None:
    stand = Stand(qtbot, boss="a boss with quite a long name indeed")
    model, view = stand.panel.model, stand.view
    stand.bridge.select(Selection.member(stand.number("Boss.update")))
    target = model.index_of(node_of(stand.number(stand.boss.name)))
    QApplication.processEvents()

    def colors(column: ClockColumn) -> int:
        beside = view.visualRect(target.siblingAtColumn(column))
        image = view.viewport().grab(beside).toImage()
        rows, columns = range(2, image.height() - 2), range(2, image.width() - 2)
        return len({image.pixel(x, y) for x in columns for y in rows})

    spanned = colors(ClockColumn.LOCAL_TIME)
    view.header().moveSection(ClockColumn.LOCAL_TIME, ClockColumn.STATE)
    QApplication.processEvents()

    assert spanned > 3
    assert colors(ClockColumn.LOCAL_TIME) == 1
