"""Values of the details: broken where they must be, copied as they are, with links for keys."""

from __future__ import annotations

import re
from typing import cast

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import (
    QAccessible,
    QEnterEvent,
    QGuiApplication,
    QKeySequence,
    QTextDocument,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from ui.kit.theme import Theme
from ui.session.selection import Selection
from ui.why.grid import RowGrid, ShownRow
from ui.why.labels import LinesOfText, LinkedLabel, ValueLabel
from ui.why.rows import DetailRow, LinkedText, RowKind, heading, item, linked, sentence, step

LONG = "RuntimeError: " + "x" * 300


def lines_at(label: QLabel, width: int) -> int:
    """Return how many lines a label needs in a panel of a width in pixels."""
    return label.heightForWidth(width) // label.fontMetrics().lineSpacing()


def added(grid: RowGrid, row: DetailRow) -> ValueLabel:
    """Return the label of a row that is added."""
    return cast("ValueLabel", grid.add(row).value)


def linked_sentence(*links: LinkedText) -> DetailRow:
    return DetailRow("", "", RowKind.SENTENCE, links=links)


@pytest.fixture
def grid(qtbot: QtBot) -> RowGrid:
    grid = RowGrid()
    qtbot.addWidget(grid)
    grid.resize(300, 400)
    grid.show()
    grid.activateWindow()
    return grid


def test_that_a_long_word_is_broken_instead_of_cut_off(grid: RowGrid) -> None:
    labels = [
        added(grid, sentence(LONG)),
        added(grid, DetailRow("Error", LONG)),
        added(grid, heading(LONG)),
        added(grid, linked_sentence(LinkedText("here", Selection.frame(1)), LinkedText(LONG))),
    ]

    widest = labels[0].fontMetrics().horizontalAdvance("x" * 300)
    assert [lines_at(label, 200) >= widest // 200 for label in labels] == [True] * 4


def test_that_a_long_word_that_comes_later_is_broken_too(grid: RowGrid) -> None:
    label = added(grid, DetailRow("Error", "none"))

    label.set_text(LONG)

    assert lines_at(label, 200) > 5


def test_that_lines_of_text_have_the_room_that_they_take(qtbot: QtBot) -> None:
    panel, label, below = QWidget(), ValueLabel("short"), QLabel("below")
    qtbot.addWidget(panel)
    column = QVBoxLayout(panel)
    place = LinesOfText(label, 10)
    column.addWidget(place)
    column.addWidget(below)
    column.addStretch()
    panel.resize(300, 400)
    panel.show()
    QApplication.processEvents()
    line, y = label.height(), below.y()

    label.set_text("some words " * 20)
    place.fit()
    QApplication.processEvents()

    wide = label.height()
    assert wide == label.heightForWidth(label.width()) > 2 * line
    assert below.y() == y + wide - line
    panel.resize(150, 400)
    QApplication.processEvents()
    assert label.height() == label.heightForWidth(label.width()) > wide
    label.set_text("short")
    place.fit()
    QApplication.processEvents()
    assert (label.height(), below.y()) == (line, y)


def test_that_a_link_leads_elsewhere_without_another_layout_of_its_words(
    grid: RowGrid, qtbot: QtBot
) -> None:
    row = grid.add(linked_sentence(LinkedText("spark fades", Selection.timer(1))))
    label = row.value
    assert isinstance(label, LinkedLabel)
    text = label.text()

    grid.change(row, linked_sentence(LinkedText("spark fades", Selection.timer(2))))

    assert label.text() == text
    label.focus_link(0)
    label.setFocus()
    with qtbot.waitSignal(grid.link_activated) as followed:
        QTest.keyClick(label, Qt.Key.Key_Return)
    assert followed.args == ["TIMER:2"]


@pytest.mark.parametrize("text", ["all in short words", "(1,234,567,890\N{NO-BREAK SPACE}ns)"])
def test_that_short_words_stay_whole(grid: RowGrid, text: str) -> None:
    assert added(grid, DetailRow("Text", text)).text() == text


def test_that_a_path_is_broken_where_names_and_their_parts_end(grid: RowGrid) -> None:
    label = added(grid, DetailRow("Source", "/home/some-body/scenes/boss_fight.py:12"))

    parts = label.text().split("\N{ZERO WIDTH SPACE}")

    assert parts == ["/", "home/", "some-", "body/", "scenes/", "boss_", "fight.", "py:", "12"]


def test_that_what_is_copied_is_what_was_said(grid: RowGrid) -> None:
    label = added(grid, DetailRow("Error", LONG))
    label.setSelection(0, len(label.text()))

    QTest.keySequence(label, QKeySequence(QKeySequence.StandardKey.Copy))

    assert QGuiApplication.clipboard().text() == LONG
    assert label.text_to_copy() == LONG


@pytest.mark.parametrize(
    "amount", ["1.83 s", "16.7 ms", "45.2 µs", "70 %", "57.1 fps", "144 Hz", "audio ×0.8"]
)
def test_that_no_line_ends_between_a_number_and_its_unit(grid: RowGrid, amount: str) -> None:
    label = added(grid, sentence(f"You paused it {amount} ago, and so it waits."))

    assert amount.replace(" ", "\N{NO-BREAK SPACE}") in label.text()
    label.setSelection(0, len(label.text()))
    assert label.text_to_copy() == f"You paused it {amount} ago, and so it waits."


def test_that_all_of_a_text_with_links_can_be_copied(grid: RowGrid) -> None:
    label = added(
        grid, linked("Clock", [LinkedText("root", Selection.clock(1)), LinkedText(" / " + LONG)])
    )

    assert label.text_to_copy() == "root / " + LONG


def test_that_tab_goes_through_all_links_and_on(qtbot: QtBot) -> None:
    window, grid = QWidget(), RowGrid()
    qtbot.addWidget(window)
    before, after = QPushButton("Before"), QPushButton("After")
    layout = QVBoxLayout(window)
    for widget in (before, grid, after):
        layout.addWidget(widget)
    first, second = Selection.clock(1), Selection.clock(2)
    links = LinkedText("😀 first", first), LinkedText("  and  "), LinkedText("y" * 40, second)
    row = grid.add(linked("Clocks", links))
    label = row.value
    assert isinstance(label, LinkedLabel)
    QWidget.setTabOrder(before, label)
    QWidget.setTabOrder(label, after)
    window.show()
    window.activateWindow()
    with qtbot.waitActive(window):
        before.setFocus()
    seen = []

    for turn in range(3):
        QTest.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Tab)
        grid.change(row, linked("Clocks", (*links, LinkedText(f" {turn}"))))
        seen.append(label.selectedText().replace("\N{ZERO WIDTH SPACE}", ""))

    assert seen == ["😀 first", "y" * 40, ""]
    assert after.hasFocus()
    QTest.keyClick(after, Qt.Key.Key_Backtab)
    assert label.text_to_copy() == "y" * 40


class LayoutRuns:
    """Counts how often rows are measured and put in their places."""

    def __init__(self, grid: RowGrid, monkeypatch: pytest.MonkeyPatch) -> None:
        self.measured = self.stacked = 0
        heights, stack = ShownRow.needed_height, grid._stack_rows

        def needed_height(row: ShownRow) -> int:
            self.measured += 1
            return heights(row)

        def stack_rows() -> None:
            self.stacked += 1
            stack()

        monkeypatch.setattr(ShownRow, "needed_height", needed_height)
        monkeypatch.setattr(grid, "_stack_rows", stack_rows)


def test_that_another_text_of_the_same_height_moves_nothing(
    grid: RowGrid, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [grid.add(DetailRow(f"Key {number}", "0")) for number in range(10)]
    grid.finish()
    runs = LayoutRuns(grid, monkeypatch)

    grid.change(rows[3], DetailRow("Key 3", "0:12.345"))

    assert (runs.measured, runs.stacked) == (0, 0)
    assert isinstance(rows[3].value, ValueLabel)
    assert rows[3].value.text() == "0:12.345"


def test_that_a_text_that_needs_more_lines_moves_what_is_below(
    grid: RowGrid, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [grid.add(DetailRow(f"Key {number}", "0")) for number in range(3)]
    grid.finish()
    before = [row.value.geometry() for row in rows]
    runs = LayoutRuns(grid, monkeypatch)

    grid.change(rows[1], DetailRow("Key 1", "many words " * 20))

    after = [row.value.geometry() for row in rows]
    assert runs.measured == 1
    assert after[0] == before[0]
    assert after[1].height() > 3 * before[1].height()
    assert after[2].top() - before[2].top() == after[1].height() - before[1].height()
    grid.change(rows[1], DetailRow("Key 1", "0"))
    assert [row.value.geometry() for row in rows] == before


def test_that_entries_of_a_list_change_without_being_measured_while_they_take_a_line(
    grid: RowGrid, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [grid.add(item(LinkedText(f"timer {each}"), "root", "1 s")) for each in range(3)]
    grid.finish()
    before = [row.value.geometry() for row in rows]
    runs = LayoutRuns(grid, monkeypatch)

    grid.change(rows[1], item(LinkedText("another ×12"), "root", "2 s"))

    assert (runs.measured, runs.stacked) == (0, 0)
    # Letters of another font may be higher.
    grid.change(rows[1], item(LinkedText("\u4e16\u754c"), "root", "2 s"))
    assert runs.measured == 1
    grid.change(rows[1], item(LinkedText("many words " * 20), "root", "2 s"))
    assert rows[2].value.y() > before[2].y()
    grid.change(rows[1], item(LinkedText("timer 1"), "root", "1 s"))
    assert [row.value.geometry() for row in rows] == before


def test_that_other_rows_look_as_if_new_with_the_widgets_that_are_there(
    grid: RowGrid, theme: Theme
) -> None:
    first = [
        heading("One"),
        DetailRow("Key", "0"),
        step("then", [LinkedText("root", Selection.clock(1))]),
        *(
            item(LinkedText(f"timer {each}", Selection.timer(each)), "root", "1 s")
            for each in range(3)
        ),
        DetailRow("Key", "many words " * 20),
    ]
    other = [
        sentence("Nothing is selected."),
        heading("Two"),
        item(LinkedText("timer 7", Selection.timer(7)), "game", "10 s"),
        item(LinkedText("timer 2", Selection.timer(2)), "root", "1 s"),
        heading("One"),
        step("now", [LinkedText("game", Selection.clock(2)), LinkedText(" was paused")]),
        DetailRow("Key", "1"),
        item(LinkedText("timer 8", Selection.timer(8)), "game", "1 s"),
        item(LinkedText("timer 9", Selection.timer(9)), "game", "1 s"),
    ]
    grid.set_theme(theme)
    before = grid.replace(first)
    marked = before[1].value
    assert isinstance(marked, ValueLabel)
    marked.setSelection(0, 1)

    for rows in (other, first, other):
        shown = grid.replace(rows)

        new = RowGrid()
        new.set_theme(theme)
        new.resize(grid.size())
        for each in rows:
            new.add(each)
        new.finish()
        assert grid.grab().toImage() == new.grab().toImage()
        assert grid.minimumHeight() == new.minimumHeight()
        told = [[read_out(each) for each in _widgets(of)] for of in (grid, new)]
        assert told[0] == told[1]
        new.deleteLater()
    reused = [each for each in shown if any(each is known for known in before)]
    assert [each.row.kind for each in reused].count(RowKind.ITEM) == 3
    assert marked in [each.value for each in reused]


def _widgets(grid: RowGrid) -> list[QLabel]:
    """Return what a grid shows, in the order of a screen reader."""
    return [each for each in grid.findChildren(QLabel) if not each.isHidden()]


def test_that_a_narrower_panel_breaks_lines(grid: RowGrid) -> None:
    label = added(grid, DetailRow("Key", "some words that fit"))
    grid.finish()
    height = label.height()

    grid.resize(120, 400)

    assert label.height() > height
    assert grid.minimumHeight() >= label.geometry().bottom()


def read_out(widget: QWidget) -> str:
    """Return what a screen reader says of a widget."""
    interface = QAccessible.queryAccessibleInterface(widget)
    assert interface is not None
    return interface.text(QAccessible.Text.Name)


def test_that_screen_readers_read_values_with_their_captions(grid: RowGrid) -> None:
    texts = {
        heading("averyveryverylongname"): "averyveryverylongname",
        linked("Path", [LinkedText("root", Selection.clock(1)), LinkedText(" / game")]): (
            "Path: root / game"
        ),
        DetailRow("update", "3.1 ms", RowKind.SHARE, share=0.5): "update: 3.1 ms",
        sentence("“a/very/long/path” is paused."): "“a/very/long/path” is paused.",
    }
    value = grid.add(DetailRow("Source", "/home/somebody/projects/scene.py"))

    for row, text in texts.items():
        assert read_out(grid.add(row).value) == text
    assert read_out(value.value) == "Source: /home/somebody/projects/scene.py"
    grid.change(value, DetailRow("Source", "/elsewhere/another_scene_file.py"))
    assert read_out(value.value) == "Source: /elsewhere/another_scene_file.py"


@pytest.mark.parametrize("text", ["24 pending, 0 waiting", LONG, "two\nlines", "a & b <i>c</i>"])
def test_that_a_value_looks_the_same_while_it_can_be_marked(grid: RowGrid, text: str) -> None:
    label = added(grid, DetailRow("Value", text))
    grid.finish()
    before, height = label.grab().toImage(), label.heightForWidth(200)

    QApplication.sendEvent(label, QEnterEvent(QPointF(), QPointF(), QPointF()))

    assert label.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse
    assert label.grab().toImage() == before
    assert label.heightForWidth(200) == height


def test_that_a_value_lays_out_no_document_while_nobody_is_there(
    grid: RowGrid,
) -> None:
    row = grid.add(DetailRow("Value", "some words"))
    label = row.value
    assert isinstance(label, ValueLabel)
    grid.finish()
    grid.show()
    grid.change(row, DetailRow("Value", "other words"))
    assert not label.findChildren(QTextDocument)

    QTest.mousePress(label, Qt.MouseButton.LeftButton, pos=QPoint(1, 5))
    QTest.mouseMove(label, QPoint(label.width() - 1, 5))
    QTest.mouseRelease(label, Qt.MouseButton.LeftButton, pos=QPoint(label.width() - 1, 5))
    assert label.selectedText() == "other words"
    QApplication.sendEvent(label, QEvent(QEvent.Type.Leave))
    assert label.selectedText() == "other words"

    label.clearFocus()
    label.setSelection(0, 0)
    QApplication.sendEvent(label, QEvent(QEvent.Type.Leave))
    assert not label.findChildren(QTextDocument)


def test_that_a_number_is_broken_behind_its_commas_only_where_it_has_no_room(
    qtbot: QtBot,
) -> None:
    label = ValueLabel("0:06.000  (6,000,000,120\N{NO-BREAK SPACE}ns)")
    qtbot.addWidget(label)
    advance = label.fontMetrics().horizontalAdvance

    label.fit_into(400)
    whole = label.text()
    label.fit_into(70)

    assert whole == "0:06.000  (6,000,000,120\N{NO-BREAK SPACE}ns)"
    assert all(advance(part) <= 70 for part in re.split("[ \u200b]", label.text()))
    assert label.text_to_copy() == whole


def test_that_a_number_without_room_beside_its_key_is_below_it(grid: RowGrid) -> None:
    text = "0:06.000  (6,000,000,120\N{NO-BREAK SPACE}ns)"
    row = grid.add(DetailRow("Local time of the clock", text))
    label = row.value
    assert isinstance(label, ValueLabel)
    after = added(grid, DetailRow("Rate", "1"))
    grid.finish()
    (key,) = (each for each in grid.findChildren(QLabel) if each.text().startswith("Local"))
    advance = label.fontMetrics().horizontalAdvance

    grid.resize(advance("(6,000,000,120\N{NO-BREAK SPACE}ns)") + 40, 400)

    assert label.text() == text
    assert label.y() >= key.geometry().bottom()
    assert after.y() > label.geometry().bottom()

    grid.change(row, DetailRow(key.text(), "0:06.000"))
    assert label.y() == key.y()

    grid.change(row, DetailRow(key.text(), text))
    grid.resize(advance(text) + advance(key.text()) + 100, 400)
    assert (label.y(), label.text()) == (key.y(), text)


def test_that_underscores_around_a_name_stay_with_it(grid: RowGrid) -> None:
    label = added(grid, DetailRow("Set at", "Game.__init__.<locals>"))

    parts = label.text().split("\N{ZERO WIDTH SPACE}")
    assert parts == ["Game.", "__init__.", "<locals>"]
