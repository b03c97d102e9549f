"""Plots and tables on the clipboard: by menu and by keys."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from ui.kit.clipboard import add_copying, copy_rows


def test_that_keys_copy_the_plot_that_has_the_keyboard(qtbot: QtBot) -> None:
    window = QWidget()
    plot, other = QWidget(window), QWidget(window)
    qtbot.addWidget(window)
    for each in (plot, other):
        each.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        each.resize(40, 20)
    add_copying(plot, lambda: [("a", "b"), ("1", "2")])
    window.show()
    qtbot.waitExposed(window)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    clipboard = QGuiApplication.clipboard()
    clipboard.clear()

    other.setFocus()
    qtbot.keyClick(other, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard.image().isNull()

    plot.setFocus()
    qtbot.keyClick(plot, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert (clipboard.image().width(), clipboard.image().height()) == (80, 40)
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(plot, Qt.Key.Key_C, both)
    assert clipboard.text() == "a\tb\n1\t2"


def test_that_the_background_is_that_of_the_plot(qtbot: QtBot) -> None:
    plot = QWidget()
    qtbot.addWidget(plot)
    palette = plot.palette()
    palette.setColor(plot.backgroundRole(), QColor("#123456"))
    plot.setPalette(palette)
    plot.resize(10, 10)

    (image,) = add_copying(plot)
    image.trigger()

    assert QGuiApplication.clipboard().image().pixelColor(5, 5) == QColor("#123456")


def test_that_cells_with_line_breaks_stay_cells() -> None:
    copy_rows([("name", "text"), ("a", "one\ntwo")])

    assert QGuiApplication.clipboard().text() == 'name\ttext\na\t"one\ntwo"'
