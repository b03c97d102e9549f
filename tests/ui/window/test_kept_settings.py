"""What the window keeps: layout, presets, theme and breakpoints, also when settings are damaged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QPalette
from PySide6.QtWidgets import QApplication, QSplitter
from pytestqt.qtbot import QtBot
from typing_extensions import override

from inspector.clocks import FailurePolicy
from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.transport import MAX_STEP_FRAMES
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from tests.ui.shell import SMALL_GAME, open_shell
from ui.breakpoints.panel import BreakpointsPanel
from ui.events.event_list_model import EventColumn
from ui.events.panel import EventListPanel
from ui.kit.theme import Theme
from ui.session.bridge import SessionBridge
from ui.timeline.panel import TimelinePanel
from ui.window import main_window
from ui.window.application import make_application
from ui.window.contents import WindowContents
from ui.window.docks.panel_docks import MOST_TABS, Placeholder, tabs_in_order
from ui.window.main_window import MainWindow
from ui.window.settings import Settings, SettingsFile


def test_that_the_failure_policy_is_kept_for_the_next_start(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)

    shell.trigger("failure-stop")
    shell.window.close()

    assert shell.bridge.failure_policy is FailurePolicy.STOP
    assert shell.settings_file.load().failure_policy == "stop"


def test_that_the_layout_is_back_after_closing_and_opening(qtbot: QtBot, tmp_path: Path) -> None:
    first = open_shell(qtbot, tmp_path)
    first.window.resize(760, 600)
    first.window.docks["details"].hide()
    first.window.docks["event_list"].raise_()
    QApplication.processEvents()
    width = first.window.docks["clock_tree"].width()
    height = first.window.docks["event_list"].height()
    first.window.close()

    second = open_shell(qtbot, tmp_path)
    QApplication.processEvents()

    assert second.window.size() == first.window.size()
    assert second.window.docks["details"].isHidden()
    assert second.window.docks["clock_tree"].width() == width
    assert second.window.docks["event_list"].height() == height
    assert second.window.docks.is_in_front("event_list")
    assert not second.window.actions_by_id["panel-details"].isChecked()


class ShownWidgets(QObject):
    """The names of the widgets that were shown while it filtered events."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Show:
            self.names.add(watched.objectName())
        return False


def test_that_a_panel_saved_as_hidden_is_not_shown_even_for_a_moment(
    qtbot: QtBot, tmp_path: Path
) -> None:
    first = open_shell(qtbot, tmp_path)
    first.window.docks["details"].hide()
    hidden, shown = (first.window.docks[name].objectName() for name in ("details", "clock_tree"))
    first.window.close()
    application = QApplication.instance()
    assert application is not None
    widgets = ShownWidgets()
    application.installEventFilter(widgets)
    try:
        second = open_shell(qtbot, tmp_path)
        QApplication.processEvents()
    finally:
        application.removeEventFilter(widgets)

    assert second.window.docks["details"].isHidden()
    assert shown in widgets.names
    assert hidden not in widgets.names


def test_that_hidden_panels_are_made_when_they_are_shown(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    dock = shell.window.docks["breakpoints"]
    assert isinstance(dock.widget(), Placeholder)

    dock.show()
    dock.raise_()
    QApplication.processEvents()

    assert isinstance(dock.widget(), BreakpointsPanel)


def test_that_the_columns_of_a_table_are_back_after_closing_and_opening(
    qtbot: QtBot, tmp_path: Path
) -> None:
    first = open_shell(qtbot, tmp_path)
    events = first.window.docks.panel("event_list")
    assert isinstance(events, EventListPanel)
    events.view.setColumnWidth(EventColumn.AT, 234)
    first.window.close()

    second = open_shell(qtbot, tmp_path)
    kept = second.window.docks.panel("event_list")
    assert isinstance(kept, EventListPanel)
    assert kept.view.columnWidth(EventColumn.AT) == 234

    second.bridge.panel_choices["finding_columns"] = "kind=99"
    second.trigger("layout-reset")
    assert kept.view.columnWidth(EventColumn.AT) != 234
    assert not [name for name in second.bridge.panel_choices if name.endswith("_columns")]


def test_that_breakpoints_are_back_after_closing_and_opening(qtbot: QtBot, tmp_path: Path) -> None:
    first = open_shell(qtbot, tmp_path)
    first.bridge.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "attack")))
    first.advance(0.1)
    first.window.close()

    second = open_shell(qtbot, tmp_path)
    for _ in range(6):
        second.advance(0.1)

    assert second.bridge.status.message.startswith("Held at 00:00.500 in frame")


def test_that_breakpoints_that_cannot_be_read_are_said_and_the_rest_is_kept(
    qtbot: QtBot, tmp_path: Path
) -> None:
    unread = {"/a.py": '{"format": "other"}', "/b.py": "nonsense"}
    settings = Settings(step_frames=7, scene_breakpoints=unread)
    SettingsFile(tmp_path / "settings.json").save(settings)

    shell = open_shell(qtbot, tmp_path)

    said = shell.window.notice.label.text()
    assert "breakpoints of /a.py could not be restored" in said
    assert said.endswith("Nor could those of 1 other scene.")
    assert shell.window.settings.step_frames == 7

    shell.window.close()
    assert SettingsFile(tmp_path / "settings.json").load().scene_breakpoints == unread


@pytest.mark.parametrize(("kept", "taken"), [(7, 7), (50_000, 50_000), (10**30, MAX_STEP_FRAMES)])
def test_that_the_long_step_is_what_the_settings_keep_and_the_box_shows(
    qtbot: QtBot, tmp_path: Path, kept: int, taken: int
) -> None:
    SettingsFile(tmp_path / "settings.json").save(Settings(step_frames=kept))

    window = open_shell(qtbot, tmp_path).window

    assert window.transport.step_frames == taken
    assert window.transport_actions.step_frames == taken
    assert window.settings.step_frames == taken


def test_that_resetting_the_layout_shows_what_was_shown_at_first(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = open_shell(qtbot, tmp_path)
    docks = shell.window.docks
    shown_first = [each for each in docks.ids if not docks.place_of(each).isHidden()]
    for dock in docks:
        dock.hide()

    shell.trigger("layout-reset")
    QApplication.processEvents()

    assert [each for each in docks.ids if not docks.place_of(each).isHidden()] == shown_first
    assert shell.window.docks.is_in_front("timer_queue")


@pytest.mark.parametrize(
    ("action_id", "hidden", "front"),
    [
        ("layout-live", "", "timer_queue"),
        ("layout-analyse", "clock_tree scene", "event_list"),
        ("layout-look-back", "", "event_list"),
        ("layout-look-back", "", "timeline"),
    ],
)
def test_that_presets_show_what_they_are_for(
    qtbot: QtBot, tmp_path: Path, action_id: str, hidden: str, front: str
) -> None:
    shell = open_shell(qtbot, tmp_path)

    shell.trigger(action_id)
    QApplication.processEvents()

    assert shell.window.docks.is_in_front(front)

    docks = shell.window.docks
    beside = [each for each in docks.ids if each not in tabs_in_order()]
    assert [each for each in beside if docks.place_of(each).isHidden()] == hidden.split()
    assert sum(not docks.place_of(each).isHidden() for each in tabs_in_order()) == MOST_TABS


def test_that_panels_get_their_share_of_a_first_window(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    shell.window.resize(1280, 720)
    shell.trigger("layout-reset")
    QApplication.processEvents()

    window, docks = shell.window, shell.window.docks
    assert 0.23 <= docks["clock_tree"].width() / window.width() <= 0.25
    assert 0.23 <= docks["details"].width() / window.width() <= 0.25
    assert 0.22 <= docks["timer_queue"].height() / window.height() <= 0.3
    assert docks["details"].height() >= 1.4 * docks["scene"].height()


def test_that_a_corrupt_settings_file_is_said_in_the_window(qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text("{not json", encoding="utf-8")

    shell = open_shell(qtbot, tmp_path, None)

    assert shell.window.notice.isVisible()
    assert "settings.unreadable.json" in shell.window.notice.label.text()


def test_that_the_theme_is_changed_at_once_and_kept(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path, SMALL_GAME)

    shell.trigger("theme-dark")
    QApplication.processEvents()

    window_color = shell.window.palette().color(QPalette.ColorRole.Window)
    assert window_color.lightness() < 64
    assert shell.window.settings.theme == "dark"
    assert shell.window.actions_by_id["theme-dark"].isChecked()
    assert not shell.window.actions_by_id["theme-light"].isChecked()
    shell.trigger("theme-light")


@pytest.mark.parametrize("size", [(800, 500), (1280, 760), (1600, 1000)])
@pytest.mark.parametrize("are_side_by_side", [False, True])
def test_that_no_preset_changes_the_size_of_the_window(
    qtbot: QtBot, tmp_path: Path, size: tuple[int, int], *, are_side_by_side: bool
) -> None:
    shell = open_shell(qtbot, tmp_path)
    window = shell.window
    window.resize(*size)
    if are_side_by_side:
        bottom = Qt.DockWidgetArea.BottomDockWidgetArea
        window.addDockWidget(bottom, window.docks["findings"])
    # The panel is made in one turn, and the window grows for it in the next.
    QApplication.processEvents()
    QApplication.processEvents()
    before = window.size()

    sizes = []
    for action_id in ("layout-analyse", "layout-look-back", "layout-live") * 3:
        shell.trigger(action_id)
        QApplication.processEvents()
        sizes.append(window.size())

    assert sizes == [before] * 9


def test_that_docks_at_the_sides_keep_their_share_of_the_width(
    qtbot: QtBot, tmp_path: Path
) -> None:
    window = open_shell(qtbot, tmp_path).window
    left, right = window.docks["clock_tree"], window.docks["details"]

    def widths(window_width: int) -> tuple[int, int]:
        window.resize(window_width, 760)
        for _ in range(4):
            QApplication.processEvents()
        return left.width(), right.width()

    usual = (round(0.24 * 1280), round(0.24 * 1280))
    assert widths(1280) == usual
    # Where the middle needs more than the rest, the sides give way, and get it back.
    assert max(widths(900)) < 0.24 * 900
    assert widths(1280) == usual

    send_mouse(window, QEvent.Type.MouseButtonPress)
    window.resizeDocks([left], [400], Qt.Orientation.Horizontal)
    QApplication.processEvents()
    send_mouse(window, QEvent.Type.MouseButtonRelease)

    assert widths(1600) == (500, round(0.24 * 1600))
    assert max(widths(900)) < 0.24 * 900
    assert widths(1600) == (500, round(0.24 * 1600))


def send_mouse(window: MainWindow, kind: QEvent.Type) -> None:
    """Press or release the mouse where the window itself gets it, as between docks."""
    place = QPointF(400, 300)
    button, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    no_keys = Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(window, QMouseEvent(kind, place, place, button, none, no_keys))


def test_that_docks_of_a_kept_layout_keep_their_share_of_the_width(
    qtbot: QtBot, tmp_path: Path
) -> None:
    first = open_shell(qtbot, tmp_path).window
    kept = first.docks["clock_tree"].width()
    first.close()
    window = open_shell(qtbot, tmp_path).window
    share = kept / window.width()

    for width in (600, 1280):
        window.resize(width, 760)
        for _ in range(4):
            QApplication.processEvents()

    assert window.docks["clock_tree"].width() == round(share * 1280)


def test_that_a_click_in_a_narrow_window_does_not_keep_docks_narrow(
    qtbot: QtBot, tmp_path: Path
) -> None:
    window = open_shell(qtbot, tmp_path).window
    left = window.docks["clock_tree"]

    def settle(window_width: int) -> None:
        window.resize(window_width, 760)
        for _ in range(4):
            QApplication.processEvents()

    settle(1280)
    usual = left.width()
    settle(900)
    assert left.width() < 0.24 * 900
    send_mouse(window, QEvent.Type.MouseButtonPress)
    send_mouse(window, QEvent.Type.MouseButtonRelease)
    settle(1280)

    assert left.width() == usual


def test_that_a_window_closed_before_it_is_laid_out_saves_nothing(
    qtbot: QtBot, tmp_path: Path
) -> None:
    first = open_shell(qtbot, tmp_path)
    first.window.close()
    saved = first.settings_file.path.read_bytes()
    make_application()
    settings_file = SettingsFile(first.settings_file.path)
    second = MainWindow(Theme("system"), settings_file, settings_file.load())
    qtbot.addWidget(second)
    second.show()
    WindowContents(second, SessionBridge())

    second.close()

    assert settings_file.path.read_bytes() == saved


def test_that_a_window_closed_before_its_panels_are_there_saves_nothing(
    qtbot: QtBot, tmp_path: Path
) -> None:
    make_application()
    settings_file = SettingsFile(tmp_path / "settings.json")
    window = MainWindow(Theme("system"), settings_file, settings_file.load())
    qtbot.addWidget(window)
    window.show()

    window.close()

    assert not settings_file.path.exists()


@pytest.mark.parametrize("spare", [-1, 0, 39, 40])
def test_that_a_first_window_is_maximized_where_its_title_bar_would_leave_the_screen(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spare: int
) -> None:
    make_application()
    room = QApplication.primaryScreen().availableSize()
    monkeypatch.setattr(main_window, "_FIRST_SIZE", (600, room.height() - spare))
    window = MainWindow(Theme("system"), SettingsFile(tmp_path / "settings.json"), Settings())
    qtbot.addWidget(window)

    window.show_first()

    assert window.isMaximized() == (spare < 40)


def test_that_a_window_with_a_kept_size_is_not_maximized(qtbot: QtBot, tmp_path: Path) -> None:
    first = open_shell(qtbot, tmp_path)
    first.window.close()
    settings = SettingsFile(first.settings_file.path).load()
    window = MainWindow(Theme("system"), first.settings_file, settings)
    qtbot.addWidget(window)

    window.show_first()

    assert not window.isMaximized()


@pytest.mark.parametrize(
    ("panel_id", "size"),
    [("clock_tree", "5000x300"), ("timer_queue", "300x5000"), ("timer_queue", f"300x{'9' * 9000}")],
)
def test_that_a_layout_that_leaves_nothing_for_the_middle_is_replaced(
    qtbot: QtBot, tmp_path: Path, panel_id: str, size: str
) -> None:
    first = open_shell(qtbot, tmp_path)
    first.window.resize(1280, 760)
    QApplication.processEvents()
    first.window.close()
    settings = first.settings_file.load()
    state, *sizes = settings.layout.split(" ")
    others = [each for each in sizes if not each.startswith(f"{panel_id}=")]
    layout = " ".join([state, *others, f"{panel_id}={size}"])
    first.settings_file.save(replace(settings, layout=layout))

    second = open_shell(qtbot, tmp_path)
    QApplication.processEvents()

    middle = second.window.middle
    assert middle.height() >= 0.4 * second.window.height()
    assert middle.width() >= 0.35 * second.window.width()


def test_that_frames_and_lanes_have_their_share_of_the_middle_and_keep_it(
    qtbot: QtBot, tmp_path: Path
) -> None:
    first = open_shell(qtbot, tmp_path)
    first.window.resize(1280, 760)
    first.contents.card.hide()
    first.trigger("layout-reset")
    QApplication.processEvents()
    panel = first.window.docks.panel("timeline")
    assert isinstance(panel, TimelinePanel)
    assert first.window.frame_times.plot.area().height() >= 120
    row_height = panel.canvas.fontMetrics().height() + 7
    assert panel.canvas.viewport().height() - panel.canvas.ruler_height >= 5 * row_height

    splitter = first.window.docks.in_middle.parentWidget()
    assert isinstance(splitter, QSplitter)
    splitter.moveSplitter(splitter.height() * 6 // 10, 1)
    first.window.close()
    second = open_shell(qtbot, tmp_path)
    QApplication.processEvents()

    place = second.window.docks.in_middle
    middle = place.parentWidget()
    assert isinstance(middle, QSplitter)
    assert place.permille == pytest.approx(400, abs=8)
    assert place.height() == pytest.approx(0.4 * middle.height(), abs=8)


def test_that_lanes_that_were_hidden_stay_hidden(qtbot: QtBot, tmp_path: Path) -> None:
    first = open_shell(qtbot, tmp_path)
    # Only a panel that has the keyboard is hidden by its key.
    first.activate()
    first.window.docks.show_panel("timeline")
    first.trigger("panel-timeline")
    assert first.window.docks.in_middle.isHidden()
    first.window.close()

    second = open_shell(qtbot, tmp_path)
    QApplication.processEvents()

    assert second.window.docks.in_middle.isHidden()
    assert not second.window.frame_times.view.has_lanes
    second.trigger("panel-timeline")
    QApplication.processEvents()
    assert second.window.docks.is_in_front("timeline")
    assert second.window.frame_times.view.has_lanes


def test_that_frames_stand_exactly_above_the_lanes(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    shell.window.resize(1280, 760)
    QApplication.processEvents()
    panel = shell.window.docks.panel("timeline")
    assert isinstance(panel, TimelinePanel)
    plot, canvas = shell.window.frame_times.plot, panel.canvas
    area = plot.area()

    left = plot.mapTo(shell.window, area.topLeft().toPoint()).x()
    lanes = canvas.mapTo(shell.window, QPoint(canvas.header_width, 0)).x()

    assert left == lanes
    assert round(area.width()) == canvas.lane_width
    assert not plot._canvas._bottom.isVisible()
