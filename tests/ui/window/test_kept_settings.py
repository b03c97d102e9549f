"""What the window keeps: layout, theme and breakpoints, also when settings are damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QSplitter
from pytestqt.qtbot import QtBot
from typing_extensions import override

from inspector.clocks import FailurePolicy
from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.transport import MAX_STEP_FRAMES
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from tests.ui.shell import SMALL_GAME, open_shell
from tests.ui.used_window import Lend
from ui.breakpoints.panel import BreakpointsPanel
from ui.events.event_list_model import EventColumn
from ui.events.panel import EventListPanel
from ui.kit.theme import Theme
from ui.session.bridge import SessionBridge
from ui.timeline.panel import TimelinePanel
from ui.window import main_window
from ui.window.application import make_application
from ui.window.contents import WindowContents
from ui.window.main_window import MainWindow
from ui.window.panels.places import Arrangement, Placeholder
from ui.window.settings import Settings, SettingsFile


def test_that_the_failure_policy_is_kept_for_the_next_start(lend: Lend) -> None:
    shell = lend()

    shell.trigger("failure-stop")
    shell.window.close()

    assert shell.bridge.failure_policy is FailurePolicy.STOP
    assert shell.settings_file.load().failure_policy == "stop"


def test_that_the_layout_is_back_after_closing_and_opening(lend: Lend) -> None:
    first = lend()
    first.window.resize(900, 600)
    first.window.panels["details"].hide()
    first.window.panels.open_panel("lab")
    QApplication.processEvents()
    first.window.close()

    second = lend()
    QApplication.processEvents()

    panels = second.window.panels
    assert second.window.height() == first.window.height()
    assert panels["details"].isHidden()
    assert panels.is_in_front("lab")
    assert panels.tray.height() == first.window.panels.tray.height()
    assert panels.tabs.kept == first.window.panels.tabs.kept
    assert not second.window.actions_by_id["panel-details"].isChecked()


def test_that_a_closed_side_column_stays_closed(lend: Lend) -> None:
    first = lend()
    first.trigger("side-column")
    first.window.close()

    assert lend().window.panels.column.isHidden()


def test_that_the_layout_of_an_older_version_is_ignored(lend: Lend, tmp_path: Path) -> None:
    older = Settings(layout="000000ff00 clock_tree=300x400 timeline=500", layout_version=5)
    SettingsFile(tmp_path / "settings.json").save(older)

    shell = lend()

    assert not shell.settings_file.problem
    assert shell.window.panels.tray.isHidden()
    assert shell.window.panels.in_middle.isVisible()


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


def test_that_a_panel_saved_as_hidden_is_not_shown_even_for_a_moment(lend: Lend) -> None:
    first = lend()
    first.window.panels["details"].hide()
    hidden, shown = (first.window.panels[name].objectName() for name in ("details", "timeline"))
    first.window.close()
    application = QApplication.instance()
    assert application is not None
    widgets = ShownWidgets()
    application.installEventFilter(widgets)
    try:
        second = lend()
        QApplication.processEvents()
    finally:
        application.removeEventFilter(widgets)

    assert second.window.panels["details"].isHidden()
    assert shown in widgets.names
    assert hidden not in widgets.names


def test_that_hidden_panels_are_made_when_they_are_shown(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    place = shell.window.panels["breakpoints"]
    assert isinstance(place.widget(), Placeholder)

    shell.window.panels.open_panel("breakpoints")
    QApplication.processEvents()

    assert isinstance(place.widget(), BreakpointsPanel)


def test_that_the_columns_of_a_table_are_back_after_closing_and_opening(lend: Lend) -> None:
    first = lend()
    events = first.window.panels.panel("event_list")
    assert isinstance(events, EventListPanel)
    events.view.setColumnWidth(EventColumn.AT, 234)
    first.window.close()

    second = lend()
    kept = second.window.panels.panel("event_list")
    assert isinstance(kept, EventListPanel)
    assert kept.view.columnWidth(EventColumn.AT) == 234

    second.bridge.panel_choices["finding_columns"] = "kind=99"
    second.trigger("reset-view")
    assert kept.view.columnWidth(EventColumn.AT) != 234
    assert not [name for name in second.bridge.panel_choices if name.endswith("_columns")]


def test_that_breakpoints_are_back_after_closing_and_opening(lend: Lend) -> None:
    first = lend()
    first.bridge.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "attack")))
    first.advance(0.1)
    first.window.close()

    second = lend()
    for _ in range(6):
        second.advance(0.1)

    assert second.bridge.status.message.startswith("Held at 0:00.500 in frame")


def test_that_breakpoints_that_cannot_be_read_are_said_and_the_rest_is_kept(
    lend: Lend, tmp_path: Path
) -> None:
    unread = {"/a.py": '{"format": "other"}', "/b.py": "nonsense"}
    settings = Settings(step_frames=7, scene_breakpoints=unread)
    SettingsFile(tmp_path / "settings.json").save(settings)

    shell = lend()

    said = shell.window.notice.label.text()
    assert "breakpoints of /a.py could not be restored" in said
    assert said.endswith("Nor could those of 1 other scene.")
    assert shell.window.settings.step_frames == 7

    shell.window.close()
    assert SettingsFile(tmp_path / "settings.json").load().scene_breakpoints == unread


@pytest.mark.parametrize(("kept", "taken"), [(50_000, 50_000), (10**30, MAX_STEP_FRAMES)])
def test_that_the_long_step_is_what_the_settings_keep_as_far_as_it_can_be(
    lend: Lend, tmp_path: Path, kept: int, taken: int
) -> None:
    SettingsFile(tmp_path / "settings.json").save(Settings(step_frames=kept))

    window = lend().window

    assert window.transport_actions.step_frames == taken
    assert window.settings.step_frames == taken


def test_that_a_reset_shows_what_was_shown_at_first(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    panels = shell.window.panels
    shown_first = [each for each in panels.ids if panels.is_open(each)]
    for panel_id in panels.ids:
        panels.hide_panel(panel_id)
    panels.open_panel("event_list")

    shell.trigger("reset-view")
    QApplication.processEvents()

    assert [each for each in panels.ids if panels.is_open(each)] == shown_first
    assert shown_first == ["scene", "details", "timeline"]


def test_that_a_corrupt_settings_file_is_said_in_the_window(lend: Lend, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text("{not json", encoding="utf-8")

    shell = lend(None)

    assert shell.window.notice.isVisible()
    assert "settings.unreadable.json" in shell.window.notice.label.text()


def test_that_the_theme_is_changed_at_once_and_kept(lend: Lend) -> None:
    shell = lend(SMALL_GAME)

    shell.trigger("theme-dark")
    QApplication.processEvents()

    window_color = shell.window.palette().color(QPalette.ColorRole.Window)
    assert window_color.lightness() < 64
    assert shell.window.settings.theme == "dark"
    assert shell.window.actions_by_id["theme-dark"].isChecked()
    assert not shell.window.actions_by_id["theme-light"].isChecked()
    shell.trigger("theme-light")


def test_that_a_window_closed_before_it_is_laid_out_saves_nothing(lend: Lend, qtbot: QtBot) -> None:
    first = lend()
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


def test_that_a_window_with_a_kept_size_is_not_maximized(lend: Lend, qtbot: QtBot) -> None:
    first = lend()
    first.window.close()
    settings = SettingsFile(first.settings_file.path).load()
    window = MainWindow(Theme("system"), first.settings_file, settings)
    qtbot.addWidget(window)

    window.show_first()

    assert not window.isMaximized()


def test_that_a_layout_that_leaves_nothing_for_the_middle_is_not_kept(lend: Lend) -> None:
    window = lend().window

    for height in ("5000", "9" * 9000, "-1", "much"):
        sizes = f"tray={height} lanes={height}"
        window.panels.restore(f"open=timer_queue {sizes} tabs=,,nothing column= hidden=nothing")
        QApplication.processEvents()

        assert window.panels.is_in_front("timer_queue"), height
        assert window.middle.height() >= 0.2 * window.height(), height
        assert window.frame_times.height() > 60, height


def test_that_frames_and_lanes_have_their_share_of_the_middle_and_keep_it(lend: Lend) -> None:
    first = lend()
    first.window.resize(1280, 760)
    first.trigger("reset-view")
    QApplication.processEvents()
    panel = first.window.panels.panel("timeline")
    assert isinstance(panel, TimelinePanel)
    assert first.window.frame_times.plot.area().height() >= 120
    row_height = panel.canvas.fontMetrics().height() + 7
    assert panel.canvas.viewport().height() >= 5 * row_height

    splitter = first.window.panels.in_middle.parentWidget()
    assert isinstance(splitter, QSplitter)
    splitter.moveSplitter(splitter.height() * 6 // 10, 1)
    first.window.close()
    second = lend()
    QApplication.processEvents()

    place = second.window.panels.in_middle
    middle = place.parentWidget()
    assert isinstance(middle, Arrangement)
    assert middle.permille == pytest.approx(400, abs=8)
    assert place.height() == pytest.approx(0.4 * middle.height(), abs=8)


def test_that_lanes_that_were_hidden_stay_hidden(lend: Lend) -> None:
    first = lend()
    # Only a panel that has the keyboard is hidden by its key.
    first.activate()
    first.window.panels.enter_panel("timeline")
    first.trigger("panel-timeline")
    assert first.window.panels.in_middle.isHidden()
    first.window.close()

    second = lend()
    QApplication.processEvents()

    assert second.window.panels.in_middle.isHidden()
    assert not second.window.frame_times.view.has_lanes
    second.trigger("panel-timeline")
    QApplication.processEvents()
    assert second.window.panels.is_in_front("timeline")
    assert second.window.frame_times.view.has_lanes


def test_that_frames_stand_exactly_above_the_lanes(lend: Lend) -> None:
    shell = lend()
    shell.window.resize(1280, 760)
    QApplication.processEvents()
    panel = shell.window.panels.panel("timeline")
    assert isinstance(panel, TimelinePanel)
    plot, canvas = shell.window.frame_times.plot, panel.canvas
    area = plot.area()

    left = plot.mapTo(shell.window, area.topLeft().toPoint()).x()
    lanes = canvas.mapTo(shell.window, QPoint(canvas.header_width, 0)).x()

    assert left == lanes
    assert round(area.width()) == canvas.lane_width
