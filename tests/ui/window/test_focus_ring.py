"""Who has got the keyboard by a key is ringed, unless it shows so by itself."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QFrame,
    QLineEdit,
    QPushButton,
    QSlider,
    QSplitter,
    QTableWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from inspector.tokens import ThemeName
from ui.kit.theme import ColorRole, Theme
from ui.window.focus import FocusRing, KeyGuard


class Stand:
    """A line to type in above two tables."""

    def __init__(self, qtbot: QtBot) -> None:
        self.theme = Theme("dark")
        self.page = QWidget()
        qtbot.addWidget(self.page)
        self.line = QLineEdit()
        self.upper, self.lower = QTableWidget(0, 1), QTableWidget(0, 1)
        layout = QVBoxLayout(self.page)
        for each in (self.line, self.upper, self.lower):
            layout.addWidget(each)
        self.ring = FocusRing(self.theme, self.page)
        self.guard = KeyGuard([], self.page)
        self.guard.watch(self.page)
        self.guard.pressed.connect(self.ring.note_key)
        self.page.resize(300, 300)
        with qtbot.waitActive(self.page):
            self.page.show()
            self.page.activateWindow()
        self.line.setFocus()

    def go_by_key(self, widget: QWidget) -> None:
        """Give a widget the keyboard as a shortcut does."""
        self.ring.note_key()
        widget.setFocus()

    def color_at_edge(self, widget: QWidget) -> str:
        return widget.grab().toImage().pixelColor(0, widget.height() // 2).name()


@pytest.fixture
def stand(qtbot: QtBot) -> Stand:
    return Stand(qtbot)


def test_that_a_table_reached_by_a_key_is_ringed(stand: Stand, qtbot: QtBot) -> None:
    qtbot.keyClick(stand.line, Qt.Key.Key_Tab)

    assert stand.ring.target is stand.upper
    accent = stand.theme.color(ColorRole.BLUE).name()
    assert stand.color_at_edge(stand.upper) == accent
    assert stand.color_at_edge(stand.lower) != accent


def test_that_the_ring_goes_with_the_keyboard(stand: Stand) -> None:
    stand.go_by_key(stand.upper)
    stand.go_by_key(stand.lower)

    accent = stand.theme.color(ColorRole.BLUE).name()
    assert stand.ring.target is stand.lower
    assert stand.color_at_edge(stand.upper) != accent
    assert stand.color_at_edge(stand.lower) == accent


@pytest.mark.parametrize("kind", [QPushButton, QToolButton, QCheckBox, QComboBox, QSlider])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_that_a_control_reached_by_a_key_is_ringed(
    stand: Stand, qtbot: QtBot, kind: type[QWidget], theme: ThemeName
) -> None:
    stand.theme.set_choice(theme)
    control = kind()
    control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    layout = stand.page.layout()
    assert layout is not None
    layout.addWidget(control)
    control.show()
    stand.go_by_key(stand.lower)

    qtbot.keyClick(stand.lower, Qt.Key.Key_Tab)

    assert stand.ring.target is control
    assert stand.color_at_edge(control) == stand.theme.color(ColorRole.BLUE).name()


def test_that_a_line_to_type_in_is_not_ringed(stand: Stand) -> None:
    stand.go_by_key(stand.upper)
    stand.go_by_key(stand.line)

    assert stand.ring.target is None


def test_that_what_is_clicked_or_gets_the_keyboard_by_itself_is_not_ringed(stand: Stand) -> None:
    stand.go_by_key(stand.lower)
    QApplication.processEvents()

    stand.upper.setFocus()

    assert stand.ring.target is None


def test_that_a_click_anywhere_in_the_window_takes_the_ring_away(stand: Stand) -> None:
    stand.go_by_key(stand.upper)
    window = stand.page.windowHandle()

    QTest.mouseClick(window, Qt.MouseButton.LeftButton, pos=QPoint(2, 2))

    assert stand.upper.hasFocus()
    assert stand.ring.target is None
    assert stand.color_at_edge(stand.upper) != stand.theme.color(ColorRole.BLUE).name()


def test_that_the_ring_follows_the_size_and_the_theme(stand: Stand) -> None:
    stand.go_by_key(stand.upper)

    stand.page.resize(500, 400)
    QApplication.processEvents()
    stand.theme.set_choice("light")

    image = stand.upper.grab().toImage()
    accent = stand.theme.color(ColorRole.BLUE)
    assert image.pixelColor(image.width() - 1, image.height() - 1) == accent


def test_that_scroll_bars_do_not_cover_the_ring(stand: Stand) -> None:
    stand.upper.setFrameShape(QFrame.Shape.NoFrame)
    stand.go_by_key(stand.upper)
    stand.upper.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
    stand.upper.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
    for rows in (60, 61):
        # They are laid out again with every row.
        stand.upper.setRowCount(rows)
        QApplication.processEvents()
        image, inner = stand.upper.grab().toImage(), stand.upper.viewport().geometry()
        accent = stand.theme.color(ColorRole.BLUE)
        assert inner.right() < image.width() - 1
        assert inner.bottom() < image.height() - 1
        assert image.pixelColor(inner.right(), inner.center().y()) == accent
        assert image.pixelColor(inner.center().x(), inner.bottom()) == accent


def test_that_a_ring_takes_no_room_in_a_splitter(stand: Stand) -> None:
    splitter = QSplitter(stand.page)
    part = QTableWidget(0, 1)
    splitter.addWidget(part)
    part.setUpdatesEnabled(False)
    splitter.show()
    stand.go_by_key(part)
    assert part.hasFocus()
    assert stand.ring.target is stand.page
    assert splitter.count() == 1


def test_that_what_is_ringed_may_go(stand: Stand) -> None:
    stand.go_by_key(stand.upper)

    stand.upper.setParent(None)
    stand.upper.deleteLater()
    QApplication.processEvents()
    stand.go_by_key(stand.lower)

    assert stand.ring.target is stand.lower
