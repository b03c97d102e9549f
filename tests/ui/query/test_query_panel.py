"""The query panel: a SELECT on what is open and on files, answered beside the window's thread."""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Thread

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontInfo
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.formats.query import NO_DUCKDB
from inspector.sessions.captured import CapturedSession
from inspector.testing import scene_file, virtual_session
from tests.ui.shell import Shell
from ui.kit.fonts import use_window_font
from ui.kit.theme import ColorRole, Theme
from ui.query import panel as query_panel
from ui.query.panel import QueryPanel
from ui.session.bridge import SessionBridge

#: More rows than any machine counts in the time of a test.
ENDLESS = "select count(*) from range(10000000) x, range(10000000) y where sqrt(x.range) < y.range"


@pytest.fixture
def panel(qtbot: QtBot, bridge: SessionBridge, theme: Theme) -> QueryPanel:
    panel = QueryPanel(bridge, theme)
    qtbot.addWidget(panel)
    panel.resize(1_100, 320)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


@pytest.fixture
def duckdb() -> None:
    pytest.importorskip("duckdb", reason="needs the extra query")


def capture(path: Path, *rows: str) -> Path:
    path.write_text("Application,MsBetweenPresents,GPU Power(W)\n" + "\n".join(rows) + "\n")
    return path


def answer_to(panel: QueryPanel, sql: str) -> list[list[str]]:
    """Return the answer as it is shown, below its titles."""
    panel.statement.setPlainText(sql)
    panel.run_button.click()
    panel.finish()
    assert panel.answer is not None, panel.problem.text()
    model = panel.answer.model()
    columns = range(model.columnCount())
    titles = [str(model.headerData(at, Qt.Orientation.Horizontal)) for at in columns]
    rows = [[str(model.index(row, at).data()) for at in columns] for row in range(model.rowCount())]
    return [titles, *rows]


def names(panel: QueryPanel) -> list[str]:
    return [row.name for row in panel.names.rows if row.table == "frames"]


@pytest.mark.usefixtures("duckdb")
def test_that_what_is_open_and_files_are_one_table(
    panel: QueryPanel, bridge: SessionBridge, tmp_path: Path
) -> None:
    bridge.set_session(CapturedSession(capture(tmp_path / "a.csv", "a.exe,10,100", "a.exe,30,NA")))
    other = capture(tmp_path / "b.csv", "a.exe,8,50")

    panel.add_files([str(other)])
    panel.finish()

    assert panel.message.text() == "1 file added."
    assert answer_to(panel, 'select file, frame_time_ms, "GPU Power(W)" w from frames') == [
        ["file", "frame_time_ms", "w"],
        ["a.csv", "10", "100"],
        ["a.csv", "30", "-"],
        ["b.csv", "8", "50"],
    ]
    assert panel.message.text() == "3 rows"
    panel.remove_button.click()
    assert answer_to(panel, "select count(*) n from frames") == [["n"], ["2"]]


@pytest.mark.usefixtures("duckdb")
def test_that_a_running_scene_can_be_queried(
    panel: QueryPanel, bridge: SessionBridge, tmp_path: Path
) -> None:
    session = virtual_session(scene_file(tmp_path, "def build(stage):\n    pass\n"))
    for frame in range(1, 5):
        session.pass_to(frame * 10_000_000)
    bridge.set_session(session)
    bridge.refresh_now()

    _titles, *rows = answer_to(panel, "select frame_time_ms from frames where frame > 0")

    assert {row[0] for row in rows} == {"10"}
    assert answer_to(panel, "select value from metrics where id = 'max'")[1] == ["10"]


def test_that_columns_are_listed_with_their_meaning_and_written_by_enter(
    qtbot: QtBot, panel: QueryPanel, bridge: SessionBridge, tmp_path: Path
) -> None:
    assert names(panel) == ["file", "stream", "frame", "at_s", "frame_time_ms", "busy_ms"]

    bridge.set_session(CapturedSession(capture(tmp_path / "a.csv", "a.exe,10,100")))

    assert names(panel)[-1] == '"GPU Power(W)"'
    row = next(row for row in panel.names.rows if "Power" in row.name)
    assert (row.meaning, row.type) == ("of the capture, in W", "DOUBLE")
    panel.statement.setPlainText("")
    panel._names_view.setCurrentIndex(panel.names.index(panel.names.rows.index(row), 1))
    qtbot.keyClick(panel._names_view, Qt.Key.Key_Return)
    assert panel.statement.toPlainText() == '"GPU Power(W)"'


@pytest.mark.usefixtures("duckdb")
def test_that_rows_are_limited_and_sorted_by_their_values(panel: QueryPanel) -> None:
    panel.limit_box.setValue(3)

    answer_to(panel, "select x.range * 9 n from range(10) x order by 1 desc")

    assert panel.message.text() == "The first 3 rows: there are more."
    assert panel.answer is not None
    panel.answer.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    model = panel.answer.model()
    assert [model.index(row, 0).data() for row in range(3)] == ["63", "72", "81"]


def begin_endless(qtbot: QtBot, panel: QueryPanel) -> Thread:
    """Return the thread in which it is worked out."""
    panel.statement.setPlainText(ENDLESS)
    qtbot.keyClick(panel.statement, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    running, thread = panel._query, panel._background._thread
    assert running is not None
    assert thread is not None
    qtbot.waitUntil(lambda: running._database is not None)
    return thread


@pytest.mark.usefixtures("duckdb")
def test_that_a_window_that_closes_stops_what_is_being_worked_out(
    qtbot: QtBot, panel: QueryPanel, bridge: SessionBridge
) -> None:
    thread = begin_endless(qtbot, panel)

    bridge.window_closing.emit()

    thread.join(timeout=60)
    assert not thread.is_alive()


@pytest.mark.usefixtures("duckdb")
def test_that_cancel_stops_what_is_being_worked_out(qtbot: QtBot, panel: QueryPanel) -> None:
    thread = begin_endless(qtbot, panel)

    panel.cancel_button.click()

    assert panel.message.text() == "The query was cancelled."
    assert not panel.cancel_button.isVisible()
    thread.join(timeout=60)
    assert not thread.is_alive()
    assert answer_to(panel, "select 1 n") == [["n"], ["1"]]


@pytest.mark.usefixtures("duckdb")
def test_that_what_is_wrong_is_said_and_the_panel_goes_on(
    panel: QueryPanel, tmp_path: Path
) -> None:
    panel.statement.setPlainText("select nope from frames")
    panel.run()
    panel.finish()
    assert "nope" in panel.problem.text()
    panel.add_files([str(tmp_path / "missing.csv")])
    panel.finish()
    assert "missing.csv" in panel.problem.text()

    assert answer_to(panel, "select count(*) n from frames") == [["n"], ["0"]]
    assert panel.problem.text() == ""
    answer_to(panel, "select frame from frames")
    assert panel.answer is not None
    assert panel.answer.notice.text() == "Nothing is open, and no file was added."


def test_that_without_the_library_the_panel_says_what_to_install(
    qtbot: QtBot, bridge: SessionBridge, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_panel, "is_duckdb_missing", lambda: True)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    panel = QueryPanel(bridge, theme)
    qtbot.addWidget(panel)

    assert panel.problem.text() == NO_DUCKDB

    panel.run()
    panel.finish()
    assert panel.problem.text() == NO_DUCKDB


def test_that_the_statement_is_there_again_at_the_next_start(
    qtbot: QtBot, panel: QueryPanel, bridge: SessionBridge, theme: Theme
) -> None:
    panel.statement.setPlainText("select 1")
    panel.limit_box.setValue(7)
    panel.run()
    panel.finish()

    again = QueryPanel(bridge, theme)
    qtbot.addWidget(again)

    assert again.statement.toPlainText() == "select 1"
    assert again.limit_box.value() == 7


def test_that_the_panel_is_entered_at_its_statement(shell: Shell) -> None:
    shell.activate()

    shell.trigger("panel-query")

    panel = shell.window.panels.panel("query")
    assert isinstance(panel, QueryPanel)
    assert panel.statement.hasFocus()


def test_that_the_statement_is_as_large_as_other_text(
    qtbot: QtBot, bridge: SessionBridge, theme: Theme
) -> None:
    font = QApplication.font()
    font.setPixelSize(20)
    QApplication.setFont(font)
    panel = QueryPanel(bridge, theme)
    qtbot.addWidget(panel)

    assert panel.statement.font().pixelSize() == 20


@pytest.mark.usefixtures("duckdb")
def test_that_rows_of_the_query_before_a_mistake_are_faded_and_said_to_be_its(
    panel: QueryPanel, theme: Theme
) -> None:
    faded = theme.color(ColorRole.MUTED)
    answer_to(panel, "select 7\nas n")
    former = panel.answer
    assert former is not None
    panel.statement.setPlainText("select nope from frames")
    panel.run()
    panel.finish()

    assert panel.message.text() == "The rows below answer: select 7⏎as n"
    assert panel.answer is former
    assert former.palette().text().color() == faded
    answer_to(panel, "select 8 n")
    assert panel.answer.palette().text().color() != faded
    assert panel.message.text() == "1 row"


@pytest.mark.usefixtures("duckdb")
def test_that_a_mistake_is_said_without_carets_that_point_nowhere(panel: QueryPanel) -> None:
    panel.statement.setPlainText("selec frame from frames")
    panel.run_button.click()
    panel.finish()

    assert panel.problem.text().splitlines()[1:] == ["LINE 1: selec frame from frames"]
    assert 'near "selec"' in panel.problem.text()


def test_that_the_statement_is_as_large_as_other_texts(
    panel: QueryPanel, qapp: QApplication
) -> None:
    use_window_font("inter", 200)
    assert panel.statement.fontInfo().pixelSize() == QFontInfo(qapp.font()).pixelSize() == 26

    use_window_font("inter", 100)
    assert panel.statement.fontInfo().pixelSize() == 13
