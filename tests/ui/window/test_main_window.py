"""The window as a whole: positions and names of its parts, and how they are found."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QFontDatabase, QFontInfo, QFontMetrics
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QLabel,
    QLineEdit,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from inspector.formats.drawing.font_metrics import FONT_FAMILY
from tests.patient_qtbot import PatientQtBot
from tests.ui.shell import open_shell
from tests.ui.used_window import Lend
from ui.actions.panels import PANELS
from ui.frame_times.plotted_frames import NO_SCENE_TEXT
from ui.kit.filter_line import FilterLine
from ui.kit.guards import faults
from ui.kit.theme import ColorRole, Theme
from ui.window.main_window import MainWindow
from ui.window.settings import Settings, SettingsFile


def test_that_every_panel_is_in_its_place(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)

    for panel in PANELS:
        is_first = panel.area is None
        window = shell.window
        widget = window.frame_times if is_first else window.panels.panel(panel.id)
        assert type(widget).__name__ == panel.widget.partition(":")[2]


def test_that_a_window_that_is_deleted_while_it_is_shown_goes_in_good_order(
    qtbot: QtBot, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    shell = open_shell(qtbot, tmp_path)
    shell.window.panels.enter_panel("timer_queue")
    # Nothing is left to be closed after the test.
    request.node.qt_widgets.clear()

    with qtbot.capture_exceptions() as exceptions:
        shell.window.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    assert exceptions == []
    assert faults == set()


def test_that_what_is_seen_before_the_panels_has_the_colors_of_the_theme(
    qtbot: QtBot, tmp_path: Path
) -> None:
    theme, settings_file = Theme("dark"), SettingsFile(tmp_path / "settings.json")
    window = MainWindow(theme, settings_file, settings_file.load())
    qtbot.addWidget(window)

    window.show()
    QApplication.processEvents()
    page = window.centralWidget()
    assert page is not None
    said = page.findChild(QLabel)

    assert isinstance(said, QLabel)
    assert abs((said.geometry().center() - page.rect().center()).manhattanLength()) <= 2
    assert said.palette().color(said.foregroundRole()) == theme.color(ColorRole.MUTED)


def test_that_the_title_names_the_scene(lend: Lend) -> None:
    shell = lend()

    assert shell.window.windowTitle() == "played & tested – Timeline Inspector"


def test_that_without_a_scene_no_panel_asks_to_run_it(lend: Lend) -> None:
    shell = lend(None)

    shell.bridge.refresh_now()

    assert shell.window.frame_times.plot._overlay.empty_text == NO_SCENE_TEXT


def test_that_every_focusable_widget_has_an_accessible_name(lend: Lend) -> None:
    shell = lend()

    nameless = [
        f"{type(widget).__name__} in {type(widget.parentWidget()).__name__}"
        for widget in shell.window.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.isVisible()
        and not _is_inside_named(widget)
        and not widget.accessibleName()
        and not (isinstance(widget, QAbstractButton) and widget.text())
    ]

    assert not nameless


def _is_inside_named(widget: QWidget) -> bool:
    """The line of a spin box and the viewport of a view speak through their owner."""
    parent = widget.parentWidget()
    is_part = (
        widget.objectName().startswith("qt_")
        or isinstance(widget, QLineEdit)
        or (isinstance(parent, QAbstractScrollArea) and widget is parent.viewport())
    )
    return is_part and parent is not None and bool(parent.accessibleName())


def test_that_find_goes_to_the_filter_of_the_panel_in_use(lend: Lend) -> None:
    shell = lend()
    shell.activate()
    shell.window.panels.enter_panel("timer_queue")

    shell.trigger("find")

    focused = QApplication.focusWidget()
    assert isinstance(focused, QLineEdit)
    assert shell.window.panels["timer_queue"].isAncestorOf(focused)


def test_that_f6_goes_through_everything_that_can_be_seen(lend: Lend) -> None:
    shell = lend()
    shell.window.resize(1_280, 760)
    shell.activate()
    panels = shell.window.panels
    panels.enter_panel("clock_tree")
    QApplication.processEvents()

    def part_in_use() -> QWidget:
        focused = QApplication.focusWidget()
        assert focused is not None
        return next(each for each in parts if each is focused or each.isAncestorOf(focused))

    parts = [each for each in shell.window.parts if each.isVisible()]
    frames = shell.window.frame_times
    assert parts == [
        *(shell.window.transport, frames.strip, frames.ruler, frames, panels.in_middle),
        *(panels["scene"], panels["details"], panels.tabs, panels.tray),
    ]
    seen = []
    for _ in range(len(parts) + 1):
        seen.append(part_in_use())
        shell.trigger("next-panel")

    assert seen == [panels.tray, *parts]
    shell.trigger("previous-panel")
    assert part_in_use() is panels.tray


def test_that_every_line_to_filter_with_has_the_same_sign(lend: Lend) -> None:
    shell = lend()
    for panel in PANELS:
        if panel.area is not None:
            shell.window.panels.enter_panel(panel.id)
            QApplication.processEvents()
    shell.trigger("keys")

    lines = shell.window.findChildren(FilterLine)

    assert len(lines) >= 6
    for line in lines:
        assert not line.icon.isNull(), line.placeholderText()
        assert [each.accessibleName() for each in line.findChildren(QToolButton)] == ["Clear"]


def test_that_a_notice_with_a_long_name_leaves_the_size_of_the_window_alone(
    lend: Lend, tmp_path: Path
) -> None:
    window = lend().window
    before = window.size()

    window.open_path(tmp_path / ("a" * 250))
    QApplication.processEvents()

    assert window.notice.isVisible()
    assert window.notice.label.width() >= 0.3 * window.width()
    assert window.size() == before
    assert window.minimumSizeHint().width() <= before.width()


@pytest.mark.parametrize("percent", [100, 150, 200])
def test_that_text_has_the_size_that_was_chosen_and_digits_of_equal_width(
    qtbot: QtBot, tmp_path: Path, percent: int
) -> None:
    shell = open_shell(qtbot, tmp_path)

    shell.trigger(f"text-size-{percent}")

    font = QFontInfo(shell.window.font())
    metrics = QFontMetrics(shell.window.font())
    assert (font.family(), font.pixelSize()) == (FONT_FAMILY, round(13 * percent / 100))
    assert len({metrics.horizontalAdvance(digit * 9) for digit in "0123456789"}) == 1
    assert shell.window.settings.text_size == percent
    assert shell.window.actions_by_id[f"text-size-{percent}"].isChecked()


def test_that_the_font_of_the_system_can_be_chosen(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    shell.trigger("font-inter")
    QApplication.processEvents()
    assert QFontInfo(shell.window.font()).family() == FONT_FAMILY

    shell.trigger("font-system")
    QApplication.processEvents()

    system = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    assert QFontInfo(shell.window.font()).family() == QFontInfo(system).family()
    assert shell.window.settings.font == "system"


def test_that_nothing_of_a_closed_window_stays(qtbot: PatientQtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    parts = {"window": shell.window, "theme": shell.window.theme, "bridge": shell.bridge}
    stays = {name: weakref.ref(each) for name, each in parts.items()}

    shell.window.close()
    shell.window.deleteLater()
    qtbot.kept.clear()
    del shell, parts
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()

    assert [name for name, each in stays.items() if each() is not None] == []


@pytest.mark.usefixtures("qapp")
def test_that_the_theme_of_a_window_that_is_gone_follows_the_system_no_more(
    tmp_path: Path,
) -> None:
    theme = Theme("system")
    window = MainWindow(theme, SettingsFile(tmp_path / "settings.json"), Settings())
    theme.follow_system()

    shiboken6.delete(window)

    assert not shiboken6.isValid(theme)
