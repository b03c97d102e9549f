"""The window as a whole: what it shows, what it keeps, what it does with a broken scene."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import PySide6
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QPalette
from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea, QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from inspector.clocks import FailurePolicy
from inspector.sessions.breakpoints import BreakKind, Breakpoint
from inspector.sessions.commands import MAX_STEP_FRAMES, AddBreakpoint
from inspector.sessions.session import SessionPhase
from tests.ui.shell import SCENE, SMALL_GAME, open_shell
from ui.dialogs.scene_error import SceneErrorView
from ui.panel_docks import Placeholder
from ui.panels import PANELS
from ui.panels.breakpoints import BreakpointsPanel
from ui.panels.failure_note import FailureNote
from ui.session_bridge import Selection
from ui.settings import Settings, SettingsFile
from ui.widgets.filter_line import FilterLine


def test_that_every_panel_is_in_its_place(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)

    for panel in PANELS:
        if panel.area is None:
            assert type(shell.window.shown_in_middle).__name__ == panel.class_name
        else:
            assert type(shell.window.docks.panel(panel.id)).__name__ == panel.class_name


def test_that_docks_and_toolbars_have_names_to_save_layouts_by(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = open_shell(qtbot, tmp_path)

    assert all(dock.objectName() for dock in shell.window.docks)
    assert shell.window.transport.objectName() == "transport"


def test_that_the_title_names_the_scene(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)

    assert shell.window.windowTitle() == "played & tested – Timeline Inspector"


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


# ---------------------------------------------------------------------- scenes


BROKEN = "def build(stage):\n    clock = stage.root\n    clock.no_such_thing()\n"


def test_that_a_broken_scene_shows_its_line_and_the_window_lives_on(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = open_shell(qtbot, tmp_path, BROKEN)

    view = shell.window.shown_in_middle
    assert isinstance(view, SceneErrorView)
    assert "no_such_thing" in view.heading.text()
    assert view.place.text() == f"{tmp_path / 'scene.py'}, line 3"
    assert re.search(r"^> +3 │ +clock\.no_such_thing\(\)$", view.source.toPlainText(), re.MULTILINE)
    assert shell.window.isVisible()


def test_that_a_recording_that_cannot_be_read_is_not_offered_to_an_editor(
    qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "cut.tlrec").write_bytes(b"garbage")
    shell = open_shell(qtbot, tmp_path, tmp_path / "cut.tlrec")

    view = shell.window.shown_in_middle
    assert isinstance(view, SceneErrorView)
    assert "is no recording" in view.heading.text()
    assert view.edit_button.isHidden()
    assert view.reload_button.toolTip() == "Try to open the file again (F5)"
    status = shell.window.transport.status_label
    assert status.text() == "✖ Failed"
    assert "is no recording" in status.toolTip()


def test_that_reloading_a_mended_scene_brings_the_plot_back(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path, BROKEN)
    view = shell.window.shown_in_middle
    assert isinstance(view, SceneErrorView)
    (tmp_path / "scene.py").write_text(SCENE, encoding="utf-8")

    qtbot.mouseClick(view.reload_button, Qt.MouseButton.LeftButton)
    shell.bridge.refresh_now()

    assert shell.window.shown_in_middle is shell.window.frame_times
    assert shell.bridge.status.phase is SessionPhase.RUNNING


def test_that_only_what_makes_sense_is_enabled_for_a_broken_scene(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = open_shell(qtbot, tmp_path, BROKEN)

    actions = shell.window.actions_by_id
    assert actions["reload"].isEnabled()
    assert not actions["run-or-hold"].isEnabled()
    assert actions["run-or-hold"].reason.startswith("the scene could not be loaded")


def dragged_in(data: QMimeData) -> QDragEnterEvent:
    """Return the event of something that is dragged into the window."""
    # Qt 6.12 wants the place in fractions of a pixel; those before know whole ones only.
    place: Any = QPointF(9, 9) if PySide6.__version_info__ >= (6, 12) else QPoint(9, 9)
    actions, button = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    return QDragEnterEvent(place, actions, data, button, Qt.KeyboardModifier.NoModifier)


def test_that_a_dropped_python_file_is_opened(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path, None)
    path = tmp_path / "dropped.py"
    path.write_text(SCENE, encoding="utf-8")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    actions, button = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    modifiers = Qt.KeyboardModifier.NoModifier

    enter = dragged_in(data)
    shell.window.dragEnterEvent(enter)
    shell.window.dropEvent(QDropEvent(QPointF(9, 9), actions, data, button, modifiers))

    assert enter.isAccepted()
    assert shell.bridge.session is not None
    assert shell.bridge.session.source_label == str(path)


@pytest.mark.parametrize("name", ["last.tlrec", "LAST.TLREC", "scene.pyw"])
def test_that_a_file_is_taken_by_how_its_name_ends(qtbot: QtBot, tmp_path: Path, name: str) -> None:
    shell = open_shell(qtbot, tmp_path, None)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / name))])

    enter = dragged_in(data)
    enter.ignore()
    shell.window.dragEnterEvent(enter)

    assert enter.isAccepted()


def test_that_other_files_are_not_taken(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path, None)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "picture.png"))])

    enter = dragged_in(data)
    enter.ignore()
    shell.window.dragEnterEvent(enter)

    assert not enter.isAccepted()


def test_that_a_recent_scene_that_is_gone_is_said_and_forgotten(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = open_shell(qtbot, tmp_path)
    path = tmp_path / "scene.py"
    path.unlink()

    shell.window.open_path(path)

    assert "There is no file" in shell.window.notice.label.text()
    assert shell.window.settings.recent_scenes == ()


# ---------------------------------------------------------------------- time


def test_that_the_run_button_shows_the_session_and_not_the_click(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = open_shell(qtbot, tmp_path)
    action = shell.window.actions_by_id["run-or-hold"]
    assert action.isChecked()

    action.trigger()
    was_checked_after_click = action.isChecked()
    shell.advance(0.1)

    assert was_checked_after_click
    assert not action.isChecked()
    assert action.text() == "&Run"


def test_that_a_step_holds_a_running_scene_first(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    shell.advance(0.5)
    frames = shell.bridge.timeline.frames.end

    shell.trigger("step")
    shell.advance(1 / 60)

    assert shell.bridge.status.phase is SessionPhase.HELD
    assert shell.bridge.timeline.frames.end <= frames + 2


def test_that_the_long_step_runs_as_many_frames_as_its_field_says(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = open_shell(qtbot, tmp_path)
    shell.trigger("run-or-hold")
    shell.advance(0.1)
    frames = shell.bridge.timeline.frames.end

    shell.window.transport.step_box.setValue(7)
    shell.trigger("step-n")

    assert shell.bridge.timeline.frames.end == frames + 7


def test_that_a_refusal_is_said_in_the_status_bar(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path, "def build(stage):\n    pass\n")
    shell.trigger("run-or-hold")
    shell.advance(0.1)

    shell.trigger("next-timer")

    assert shell.window.statusBar().currentMessage() == (
        "✖ Cannot step to the next timer. No timer is pending, so there is none to step to."
    )


def test_that_keys_change_the_rate_of_the_root(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)

    def rate() -> Fraction:
        shell.advance(0.05)
        return shell.bridge.timeline.clocks[shell.clock_id("root")].rate

    shell.trigger("slower")
    assert rate() == Fraction(1, 2)
    shell.trigger("slower")
    assert rate() == Fraction(1, 4)
    shell.trigger("normal-rate")
    assert rate() == 1
    shell.trigger("faster")
    assert rate() == 2


def test_that_p_pauses_the_selected_branch_and_nothing_else(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    shell.bridge.select(Selection.clock(shell.clock_id("enemies")))

    shell.trigger("pause-branch")
    shell.advance(0.1)

    clocks = shell.bridge.timeline.clocks
    assert clocks[shell.clock_id("enemies")].paused
    assert not clocks[shell.clock_id("ui")].paused
    action = shell.window.actions_by_id["pause-branch"]
    assert action.isChecked()
    assert action.text() == "Resume “enemies”"


def test_that_a_selected_timer_can_be_cleared_until_it_is_gone(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = open_shell(qtbot, tmp_path)
    timers = shell.bridge.timeline.timers
    timer_id = next(i for i in timers.ids() if timers.row(i).label == "end")
    shell.bridge.select(Selection.timer(timer_id))

    shell.trigger("clear-timer")
    shell.advance(0.1)

    assert timer_id not in shell.bridge.timeline.timers
    assert not shell.window.actions_by_id["clear-timer"].isEnabled()


def test_that_the_failure_policy_is_kept_for_the_next_start(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)

    shell.trigger("failure-stop")
    shell.window.close()

    assert shell.bridge.failure_policy is FailurePolicy.STOP
    assert shell.settings_file.load().failure_policy == "stop"


FAILING = """
def build(stage):
    def load():
        raise KeyError("castle")
    stage.root.set_interval(0.1, load, name="load level")
"""


def test_that_failures_are_counted_in_the_status_bar(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path, FAILING)
    note = shell.window.statusBar().findChildren(FailureNote)[0]
    was_hidden = note.isHidden()

    shell.advance(0.25)

    assert was_hidden
    assert note.text() == "2 callbacks failed"
    assert "KeyError: 'castle'" in note.toolTip()
    shell.bridge.reload()
    shell.advance(0.05)
    assert note.isHidden()


def test_that_a_scene_that_cannot_be_built_is_not_counted_as_a_callback(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = open_shell(qtbot, tmp_path, "def build(stage):\n    raise KeyError('castle')\n")
    note = shell.window.statusBar().findChildren(FailureNote)[0]

    shell.advance(0.05)

    assert note.text() == note.accessibleName() == "the scene could not be built"
    assert "scene.py” could not be built: KeyError: 'castle'" in note.toolTip()


def test_that_a_stop_after_a_failure_is_said_across_the_window(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = open_shell(qtbot, tmp_path, FAILING)
    shell.trigger("failure-stop")

    shell.advance(0.25)

    assert shell.bridge.status.phase is SessionPhase.HELD
    assert "“load level” failed: KeyError" in shell.window.notice.label.text()
    qtbot.mouseClick(shell.window.notice.action_button, Qt.MouseButton.LeftButton)
    assert shell.window.docks.is_in_front("event_list")

    shell.trigger("failure-continue")
    shell.trigger("run-or-hold")
    shell.advance(0.01)
    assert not shell.window.notice.isVisible()


def test_that_delete_in_the_list_of_breakpoints_leaves_the_selected_timer(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = open_shell(qtbot, tmp_path)
    shell.bridge.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "attack")))
    shell.advance(0.1)
    shell.trigger("panel-breakpoints")
    panel = shell.window.docks.panel("breakpoints")
    assert isinstance(panel, BreakpointsPanel)
    panel.refresh()
    panel.table.selectRow(0)
    panel.table.setFocus()
    shell.window.activateWindow()
    shell.bridge.select(Selection.timer(1))
    qtbot.waitUntil(panel.table.hasFocus)

    qtbot.keyClick(panel.table, Qt.Key.Key_Delete)
    shell.advance(0.1)

    assert 1 in shell.bridge.timeline.timers
    assert shell.bridge.session is not None
    assert shell.bridge.session.breakpoints is not None
    assert not list(shell.bridge.session.breakpoints.items())


# ---------------------------------------------------------------------- layout


def test_that_the_layout_is_back_after_closing_and_opening(qtbot: QtBot, tmp_path: Path) -> None:
    first = open_shell(qtbot, tmp_path)
    first.window.resize(760, 600)
    first.trigger("panel-details")
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


def test_that_panels_nobody_has_seen_are_made_when_they_are(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    dock = shell.window.docks["breakpoints"]
    assert isinstance(dock.widget(), Placeholder)

    dock.raise_()
    QApplication.processEvents()

    assert isinstance(dock.widget(), BreakpointsPanel)


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
    settings = Settings(step_frames=7, breakpoints='{"format": "other"}')
    SettingsFile(tmp_path / "settings.json").save(settings)

    shell = open_shell(qtbot, tmp_path)

    assert "breakpoints could not be restored" in shell.window.notice.label.text()
    assert shell.window.settings.step_frames == 7


@pytest.mark.parametrize(("kept", "taken"), [(7, 7), (50_000, 50_000), (10**30, MAX_STEP_FRAMES)])
def test_that_the_long_step_is_what_the_settings_keep_and_the_box_shows(
    qtbot: QtBot, tmp_path: Path, kept: int, taken: int
) -> None:
    SettingsFile(tmp_path / "settings.json").save(Settings(step_frames=kept))

    window = open_shell(qtbot, tmp_path).window

    assert window.transport.step_frames == taken
    assert window.session_actions.step_frames == taken
    assert window.settings.step_frames == taken


def test_that_resetting_the_layout_shows_everything_again(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    for dock in shell.window.docks:
        dock.hide()

    shell.trigger("layout-reset")
    QApplication.processEvents()

    assert not any(dock.isHidden() for dock in shell.window.docks)
    assert shell.window.docks.is_in_front("timer_queue")


@pytest.mark.parametrize(
    ("action_id", "hidden", "front"),
    [
        ("layout-live", "", "timer_queue"),
        ("layout-analyse", "clock_tree", "event_list"),
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

    assert [each for each in shell.window.docks.ids if shell.window.docks[each].isHidden()] == (
        [hidden] if hidden else []
    )


def test_that_panels_get_their_share_of_a_first_window(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    shell.window.resize(1280, 720)
    shell.trigger("layout-reset")
    QApplication.processEvents()

    window, docks = shell.window, shell.window.docks
    assert 0.25 <= docks["clock_tree"].width() / window.width() <= 0.36
    assert 0.18 <= docks["details"].width() / window.width() <= 0.3
    assert 0.28 <= docks["timer_queue"].height() / window.height() <= 0.36


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


# ---------------------------------------------------------------------- finding things


def test_that_find_goes_to_the_filter_of_the_panel_in_use(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    shell.window.activateWindow()
    shell.window.docks.show_panel("timer_queue")

    shell.trigger("find")

    focused = QApplication.focusWidget()
    assert isinstance(focused, QLineEdit)
    assert shell.window.docks["timer_queue"].isAncestorOf(focused)


def test_that_f6_goes_through_everything_that_can_be_seen(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    shell.window.activateWindow()
    docks = shell.window.docks
    docks.show_panel("clock_tree")

    seen = []
    for _ in range(4):
        seen.append(docks.panel_in_use())
        shell.trigger("next-panel")

    assert seen == ["clock_tree", "details", "timer_queue", ""]
    assert docks.panel_in_use() == "clock_tree"


def test_that_every_line_to_filter_with_has_the_same_sign(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    for panel in PANELS:
        if panel.area is not None:
            shell.window.docks.show_panel(panel.id)
            QApplication.processEvents()
    shell.trigger("keys")

    lines = shell.window.findChildren(FilterLine)

    assert len(lines) >= 6
    for line in lines:
        signs = [action for action in line.actions() if not action.icon().isNull()]
        assert signs, line.placeholderText()
