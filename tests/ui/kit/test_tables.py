"""What tables have in common: how columns share the room, and titles without enough of it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QLabel,
    QToolButton,
    QTreeView,
    QWidget,
)
from pytestqt.qtbot import QtBot
from typing_extensions import override

from ui.kit.labels import set_growing_text
from ui.kit.table.column_choices import ShorteningHeader, share_room, shared_alike


def test_that_every_column_has_its_least_width_even_without_room() -> None:
    assert share_room(10, {0: 20, 1: 30}, [(0, 40)], {0}) == {0: 20, 1: 30}


def test_that_wishes_are_granted_in_their_order() -> None:
    shared = share_room(100, {0: 20, 1: 30}, [(1, 50), (0, 60)], {0, 1})

    assert shared == {0: 50, 1: 50}


def test_that_a_part_of_a_wish_is_granted_only_where_it_helps() -> None:
    shared = share_room(100, {0: 20, 1: 30, 2: 20}, [(1, 90), (2, 40), (0, 99)], {0})

    assert shared == {0: 30, 1: 30, 2: 40}


def test_that_a_wish_for_less_takes_nothing_away() -> None:
    assert share_room(100, {0: 60}, [(0, 20)], {0}) == {0: 60}


def test_that_a_column_without_a_least_width_gets_nothing() -> None:
    assert share_room(100, {0: 60}, [(1, 20), (0, 70)], ()) == {0: 70}


def test_that_what_one_name_does_not_need_is_left_to_the_others() -> None:
    assert shared_alike(300, {0: 310, 1: 90}) == {0: 210, 1: 90}
    assert shared_alike(300, {0: 310, 1: 190}) == {0: 150, 1: 150}


def test_that_a_title_without_room_is_shortened_and_comes_back_with_it(qtbot: QtBot) -> None:
    view, model = QTreeView(), QStandardItemModel(0, 2)
    qtbot.addWidget(view)
    model.setHorizontalHeaderLabels(["Effective rate", "Another long title"])
    header = ShorteningHeader({0: "Eff."}, view)
    view.setHeader(header)
    view.setModel(model)

    header.resizeSection(0, header.width_for("Effective rate") - 1)
    header.resizeSection(1, 30)
    narrow = [header.shown_title(section) for section in (0, 1)]
    header.resizeSection(0, header.width_for("Effective rate"))

    assert narrow == ["Eff.", "Another long title"]
    assert header.shown_title(0) == "Effective rate"
    assert header.textElideMode() == Qt.TextElideMode.ElideRight


class Layouts(QObject):
    """Counts how often a widget is asked to lay out what is in it."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.LayoutRequest
        return False


@pytest.mark.parametrize("kind", [QLabel, QToolButton])
def test_that_a_text_that_needs_no_more_room_lays_nothing_out(
    qtbot: QtBot, kind: type[QLabel | QToolButton]
) -> None:
    panel = QWidget()
    qtbot.addWidget(panel)
    layout, widget = QHBoxLayout(panel), kind()
    layout.addWidget(widget)
    set_growing_text(widget, "20 pending")
    panel.show()
    QApplication.processEvents()
    layouts = Layouts(panel)

    for text in ("19 pending", "9 pending", "21 pending"):
        set_growing_text(widget, text)
        QApplication.processEvents()
    assert (widget.text(), layouts.count) == ("21 pending", 0)
    set_growing_text(widget, "21 pending, of which 20 wait")
    QApplication.processEvents()

    assert layouts.count > 0
    assert widget.width() >= widget.fontMetrics().horizontalAdvance(widget.text())
