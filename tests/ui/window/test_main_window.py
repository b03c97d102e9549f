"""The window as a whole: positions and names of its parts, and how they are found."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea, QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from tests.ui.shell import open_shell
from ui.actions.panels import PANELS
from ui.frame_times.plotted_frames import NO_SCENE_TEXT
from ui.kit.filter_line import FilterLine


def test_that_every_panel_is_in_its_place(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)

    for panel in PANELS:
        is_first = panel.area is None
        window = shell.window
        widget = window.frame_times if is_first else window.panels.panel(panel.id)
        assert type(widget).__name__ == panel.widget.partition(":")[2]


def test_that_the_title_names_the_scene(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)

    assert shell.window.windowTitle() == "played & tested – Timeline Inspector"


def test_that_without_a_scene_no_panel_asks_to_run_it(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path, None)

    shell.bridge.refresh_now()

    assert shell.window.frame_times.plot._overlay.empty_text == NO_SCENE_TEXT


def test_that_every_focusable_widget_has_an_accessible_name(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)

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


def test_that_find_goes_to_the_filter_of_the_panel_in_use(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    shell.activate()
    shell.window.panels.show_panel("timer_queue")

    shell.trigger("find")

    focused = QApplication.focusWidget()
    assert isinstance(focused, QLineEdit)
    assert shell.window.panels["timer_queue"].isAncestorOf(focused)


def test_that_f6_goes_through_everything_that_can_be_seen(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    shell.window.resize(1_280, 760)
    shell.activate()
    panels = shell.window.panels
    panels.show_panel("clock_tree")
    QApplication.processEvents()

    seen = []
    for _ in range(6):
        seen.append(panels.panel_in_use())
        shell.trigger("next-panel")

    assert seen == ["clock_tree", "scene", "details", "timeline", "", "clock_tree"]
    shell.trigger("previous-panel")
    assert panels.panel_in_use() == "clock_tree"


def test_that_every_line_to_filter_with_has_the_same_sign(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    for panel in PANELS:
        if panel.area is not None:
            shell.window.panels.show_panel(panel.id)
            QApplication.processEvents()
    shell.trigger("keys")

    lines = shell.window.findChildren(FilterLine)

    assert len(lines) >= 6
    for line in lines:
        signs = [action for action in line.actions() if not action.icon().isNull()]
        assert signs, line.placeholderText()


def test_that_a_notice_with_a_long_name_leaves_the_size_of_the_window_alone(
    qtbot: QtBot, tmp_path: Path
) -> None:
    window = open_shell(qtbot, tmp_path).window
    before = window.size()

    window.open_path(tmp_path / ("a" * 250))
    QApplication.processEvents()

    assert window.notice.isVisible()
    assert window.notice.label.width() >= 0.3 * window.width()
    assert window.size() == before
    assert window.minimumSizeHint().width() <= before.width()
