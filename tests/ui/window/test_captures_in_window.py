"""Captures in the window: opened, dropped, one of their streams or columns chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QFileDialog,
    QInputDialog,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QStyleOptionComboBox,
    QWidget,
)

from inspector.analysis.lanes.lanes import LaneKind
from inspector.analysis.statistics.frame_statistics import frame_statistics
from inspector.formats.captures import source as source_module
from inspector.formats.export import export_frames
from inspector.formats.frame_times import FrameTimes
from inspector.formats.options import ExportOptions
from inspector.sessions.captured import CapturedSession
from inspector.sessions.compared import FilesToCompare
from inspector.sessions.provenance import provenance_of
from inspector.sessions.scene import find_scene
from inspector.sessions.session import SessionPhase
from inspector.testing import pass_seconds, virtual_session
from inspector.vocabulary import Measure
from tests.sessions.test_captured import Clock, read_to_the_end, table, trace
from tests.sessions.test_compared import capture
from tests.ui.looking_back import settle
from tests.ui.shell import Shell, open_shell
from tests.ui.used_window import Lend
from ui.export.export_dialog import ExportDialog
from ui.frame_times.capture_header import CaptureHeader
from ui.frame_times.frame_plot import FramePlot
from ui.frame_times.frame_statistics import SAMPLES_TEXT, FoundStatistics, StatisticsWanted
from ui.frame_times.loop_choice import LoopChoice
from ui.kit.save_dialog import SaveDialog
from ui.kit.texts.member_texts import member_run_state
from ui.plotting.shared_view import SharedView
from ui.session import opening
from ui.session.bridge import Selection
from ui.statistics.frame_distribution import FrameDistribution
from ui.statistics.zone_sums import ZoneSumsWindow
from ui.timeline.panel import TimelinePanel
from ui.why.rows import ClockCounts
from ui.why.session_rows import overview_rows
from ui.window.handlers import window_actions

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from ui.frame_times.panel import FrameTimesPanel

MS = 1_000_000
MEASURES = get_args(Measure)


@pytest.fixture
def shell(lend: Lend) -> Shell:
    return lend(None)


def header_of(shell: Shell) -> CaptureHeader:
    bar = shell.window.findChild(CaptureHeader)
    assert bar is not None
    return bar


def test_that_choices_that_have_no_room_are_in_one_menu(
    shell: Shell, tmp_path: Path, qtbot: QtBot
) -> None:
    shell.window.resize(720, 420)
    shell.window.open_path(table(tmp_path))
    bar = header_of(shell)
    qtbot.waitUntil(lambda: bool(bar.p99.value.text()))
    QApplication.processEvents()
    assert not bar.column_box.isVisible()
    assert bar.options_button.isVisible()
    assert bar.options_button.width() >= bar.options_button.sizeHint().width()

    bar._offer_options()

    menu = bar.options_button.menu()
    offered = [each.text() for each in menu.actions()]
    boxes = ["Stream of the capture", "Column of frame times"]
    assert offered == [*boxes, "60 fps budget", "Columns", "Compare …"]
    streams = menu.findChildren(QMenu)[0].actions()
    assert [each.isChecked() for each in streams] == [True, False]
    streams[1].trigger()
    assert len(shell.bridge.timeline.frames) == 150


def test_that_a_capture_is_shown_with_its_streams_and_columns(shell: Shell, tmp_path: Path) -> None:
    assert header_of(shell).isHidden()

    shell.window.open_path(table(tmp_path))

    bar = header_of(shell)
    assert bar.isVisible()
    assert [bar.stream_box.itemText(each) for each in range(2)] == [
        "large.exe  ·  450",
        "small.exe  ·  150",
    ]
    assert bar.column_box.currentText() == "MsBetweenPresents"
    assert bar.label.text() == "PresentMon 1  ·  450 frames in 7.88 s"
    # The name takes no room from the choices that it does not need.
    name = bar.name.fontMetrics().horizontalAdvance(bar.name.text())
    assert name <= bar.name.minimumWidth() <= name + 8
    assert shell.window.windowTitle().startswith("capture.csv – large.exe (capture) – ")
    assert shell.window.frame_times.plot.series is not None
    assert shell.window.frame_times.plot.series.end == 450


def test_that_boxes_are_as_wide_as_their_texts_and_tell_a_long_one(
    shell: Shell, tmp_path: Path
) -> None:
    name = f"{'Game' * 15}.exe"
    rows = "".join(
        f"{application},{number},0x{number},DXGI,{number / 60},16.7\n"
        for number, application in enumerate((name, "b.exe"), 1)
    )
    head = "Application,ProcessID,SwapChainAddress,Runtime,TimeInSeconds,msBetweenPresents\n"
    path = tmp_path / "run.csv"
    path.write_text(head + rows * 2, encoding="utf-8")

    shell.window.open_path(path)

    bar = header_of(shell)
    assert name in bar.stream_box.toolTip()
    column = bar.column_box
    assert column.sizeHint().width() < bar.stream_box.sizeHint().width() < 400
    column.resize(column.minimumSizeHint())
    option = QStyleOptionComboBox()
    column.initStyleOption(option)
    assert column.shown_text(option) == column.currentText() == "msBetweenPresents"


def test_that_the_numbers_of_a_capture_are_seen_without_a_click(
    shell: Shell, tmp_path: Path
) -> None:
    times_ms = [10.0] * 97 + [20.0, 12.0, 40.0]
    shell.bridge.set_budgets_ms((1000 / 60,))

    shell.window.open_path(capture(tmp_path / "run.csv", times_ms))

    header = header_of(shell)
    assert header.p50.value.text() == "10.0 ms"
    assert header.p50.aside.text() == "100 fps"
    assert header.p99.value.text() == "20.0 ms"
    assert header.longest.link.text() == "40.0 ms"
    assert header.longest.aside.text() == "at 0:01.042"
    assert (header.over.link.text(), header.over.aside.text()) == ("2", "of 100")


def test_that_the_foot_says_that_a_capture_is_read_only(shell: Shell, tmp_path: Path) -> None:
    shell.window.open_path(capture(tmp_path / "run.csv", [10.0] * 100))

    assert shell.window.notice.log_note.text().startswith("Capture, read only  ·  ")


def test_that_numbers_of_a_capture_lead_to_their_frames(shell: Shell, tmp_path: Path) -> None:
    shell.window.open_path(capture(tmp_path / "run.csv", [10.0] * 50 + [40.0, 10.0, 90.0, 10.0]))
    header = header_of(shell)

    header.longest.link.click()
    assert shell.bridge.selection == Selection.frame(52)

    header.over.link.click()
    assert shell.bridge.selection == Selection.frame(50)


def test_that_a_capture_without_a_frame_over_budget_has_no_link_there(
    shell: Shell, tmp_path: Path
) -> None:
    shell.window.open_path(capture(tmp_path / "run.csv", [10.0] * 50))

    over = header_of(shell).over
    assert (over.value.text(), over.aside.text()) == ("0", "of 50")
    assert over.link.isHidden()


def test_that_frames_of_a_capture_have_the_width_of_the_window(
    shell: Shell, tmp_path: Path
) -> None:
    panels, frame_times = shell.window.panels, shell.window.frame_times

    shell.window.open_path(table(tmp_path))
    settle()

    assert panels.column.isHidden()
    assert frame_times.plot.area().width() > 0.88 * shell.window.width()
    shell.window.open_path(trace(tmp_path))
    settle()
    assert panels.column.isVisible()
    assert header_of(shell).isHidden()


def test_that_frames_get_the_keyboard_that_lanes_had_before_a_capture(
    shell: Shell, tmp_path: Path
) -> None:
    lanes, plot = shell.window.panels.panel("timeline"), shell.window.frame_times.plot
    assert isinstance(lanes, TimelinePanel)
    lanes.canvas.setFocus()
    settle()
    assert lanes.isAncestorOf(shell.window.focusWidget())

    shell.window.open_path(table(tmp_path))
    settle()

    # A button would keep Space, which plays.
    assert shell.window.focusWidget() is plot


def test_that_the_side_column_of_a_capture_is_opened_for_that_alone(
    shell: Shell, tmp_path: Path
) -> None:
    panels = shell.window.panels
    shell.window.open_path(table(tmp_path))

    shell.trigger("side-column")
    assert panels.column.isVisible()
    shell.trigger("side-column")
    assert panels.column.isHidden()

    assert "column=1" in panels.save()


def test_that_a_capture_has_its_summary_where_the_tray_opens(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path, None)
    shell.window.open_path(table(tmp_path))
    summary = shell.contents.window_states.summary
    assert summary is not None
    summary.frames.finish()
    said = {row[0].text(): row[2].text() for row in summary.tools.rows if row[0].text()}
    assert said["Average"] == "57.1 fps"
    before = shell.window.middle.height()

    summary.tools.all_link.click()

    settle()
    assert shell.window.panels.is_open("statistics")
    assert summary.isHidden()
    assert abs(shell.window.middle.height() - before) < 8
    shell.window.panels.close_tray()
    assert summary.isVisible()
    shell.window.open_path(trace(tmp_path))
    settle()
    assert summary.isHidden()


def test_that_panels_of_clocks_have_no_tab_beside_a_capture(shell: Shell, tmp_path: Path) -> None:
    tabs, shown = shell.window.panels.tabs, shell.window.panels.tabs.shown
    assert "timer_queue" in shown
    shell.window.open_path(table(tmp_path))

    assert set(shown) - set(tabs.shown) == {"timer_queue", "breakpoints", "interventions"}
    assert "timer_queue" in tabs.under_more
    shell.window.panels.open_panel("timer_queue")
    assert "timer_queue" in tabs.shown


def test_that_choosing_a_stream_shows_its_frames(shell: Shell, tmp_path: Path) -> None:
    shell.window.open_path(table(tmp_path))

    header_of(shell).stream_box.activated.emit(1)

    assert len(shell.bridge.timeline.frames) == 150
    assert header_of(shell).stream_box.currentIndex() == 1


def own_export(folder: Path) -> Path:
    """Write the frames of a scene as CSV."""
    path = folder / "own.csv"
    session = virtual_session(find_scene("1"))
    pass_seconds(session, 1)
    frames = FrameTimes.from_history(session.timeline.frames)
    export_frames(frames, provenance_of(session), ExportOptions(), path)
    session.close()
    return path


def enabled_measures(panel: FrameTimesPanel) -> list[str]:
    actions = [action for action in panel.findChildren(QAction) if action.data() in MEASURES]
    return [action.data() for action in actions if action.isEnabled()]


def test_that_only_times_that_are_known_can_be_plotted(shell: Shell, tmp_path: Path) -> None:
    shell.window.open_path(own_export(tmp_path))
    panel = shell.window.frame_times
    panel.choose_measure("busy")
    panel.stack_action.setChecked(True)

    shell.window.open_path(table(tmp_path))

    assert enabled_measures(panel) == ["interval"]
    assert panel.measure == "interval"
    assert not panel.stack_action.isEnabled()
    assert not panel.is_stacked
    assert "does not contain" in panel.stack_action.toolTip()
    shell.window.open_path(trace(tmp_path))
    assert enabled_measures(panel) == ["interval", "busy"]
    shell.window.open_path(own_export(tmp_path))
    assert enabled_measures(panel) == ["interval", "busy", "delta"]
    assert panel.stack_action.isEnabled()


def test_that_choosing_a_column_reads_that(shell: Shell, tmp_path: Path) -> None:
    shell.window.open_path(table(tmp_path))

    header_of(shell).column_box.activated.emit(1)

    assert shell.bridge.timeline.frames.interval_ns[0] == 33 * MS
    assert header_of(shell).column_box.currentText() == "MsBetweenDisplayChange"


def test_that_the_bar_goes_with_the_capture(shell: Shell, tmp_path: Path) -> None:
    shell.window.open_path(table(tmp_path))
    shell.bridge.set_session(None)
    assert header_of(shell).isHidden()


def test_that_a_slice_is_chosen_where_none_is_taken_for_a_frame(
    shell: Shell, tmp_path: Path
) -> None:
    shell.window.open_path(trace(tmp_path, frames=3))
    choice = shell.window.findChild(LoopChoice)
    assert choice is not None
    assert choice.text() == "Choose frames …"
    assert "none is taken for a frame" in shell.window.notice.label.text()

    choice.list_loops()
    choice.menu().actions()[0].trigger()

    assert len(shell.bridge.timeline.frames) == 3
    assert choice.text().startswith("of ")
    # Its text begins at its edge, below the title of the frames.
    picture = choice.grab().toImage()
    left = [picture.pixel(x, y) for x in range(3) for y in range(picture.height())]
    assert len({*left}) > 1


def test_that_a_capture_without_lanes_shows_the_frames_alone(shell: Shell, tmp_path: Path) -> None:
    place, view = shell.window.panels.in_middle, shell.window.frame_times.view
    assert not place.isHidden()
    shell.window.open_path(table(tmp_path))
    settle()
    assert place.isHidden()
    assert not view.has_lanes
    shell.window.open_path(trace(tmp_path))
    settle()
    assert not place.isHidden()
    assert place.is_wanted


def test_that_a_trace_has_its_slices_on_the_timeline(shell: Shell, tmp_path: Path) -> None:
    shell.window.open_path(trace(tmp_path))
    shell.window.panels.enter_panel("timeline")
    settle()
    panel = shell.window.panels.panel("timeline")
    assert isinstance(panel, TimelinePanel)
    panel.refresh()
    canvas = panel.canvas
    canvas.resize(600, 400)
    canvas.view.set_span_ns(32e6, 48e6)
    canvas.refresh()
    rows = [row for row in canvas.rows.rows if row.kind is LaneKind.SLICES]

    canvas.grab()

    assert len(rows) == 2
    assert not canvas.store.clocks.has_rates
    reading = canvas.reader.read(rows[0], 33e6, 1e3)
    assert reading is not None
    assert reading.lines == ("timers", "0:00.032600, took 1.00 ms")
    # The pointer reads the slice that it is on, not one on a line below.
    place, top = canvas.place_of(rows[0], 33e6), canvas.rows.top(canvas.rows.rows.index(rows[0]))
    reading = canvas.reading_at(QPointF(place.x(), top + 4))
    assert reading is not None
    assert reading.lines[0] == "frame"
    assert canvas.view.ruler_name() == "capture time"
    timeline = shell.bridge.timeline
    assert {member_run_state(timeline, each).text for each in timeline.members.by_id.values()} == {
        "30 slices"
    }


def test_that_a_table_without_a_known_column_asks_for_it(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("game,render\n1,2\n3,4\n")

    shell.window.open_path(path)

    dialog = shell.window.findChild(QInputDialog, "column_choice")
    assert dialog is not None
    assert dialog.comboBoxItems() == ["game", "render"]
    dialog.setTextValue("render")
    dialog.accept()
    assert shell.bridge.timeline.frames.interval_ns.tolist() == [2 * MS, 4 * MS]


def drop(shell: Shell, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    actions, button = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    modifiers = Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(5, 5), actions, data, button, modifiers)
    QApplication.sendEvent(shell.window, enter)
    event = QDropEvent(QPointF(5, 5), actions, data, button, modifiers)
    QApplication.sendEvent(shell.window, event)


def test_that_a_frame_is_drawn_for_as_long_as_it_took(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "spike.csv"
    path.write_text(
        "Application,MsBetweenPresents\n" + "".join(f"a.exe,{x}\n" for x in (10, 90, 5))
    )

    shell.window.open_path(path)

    series = shell.window.frame_times.plot.series
    assert series is not None
    assert [series.start_of(frame) for frame in range(4)] == pytest.approx([0, 0.01, 0.1, 0.105])
    session = shell.bridge.session
    assert session is not None
    assert "105 ms, 3 frames" in session.status.message


def test_that_of_several_dropped_files_the_others_open_beside(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside: list[Path] = []
    monkeypatch.setattr(window_actions, "open_beside", beside.append)
    scene = tmp_path / "scene.py"
    scene.write_text("def build(stage): pass")

    drop(shell, table(tmp_path), scene, tmp_path / "missing.csv")

    assert shell.bridge.status.message.startswith("Capture (PresentMon 1): ")
    assert beside == [scene]


@pytest.mark.parametrize(("name", "what"), [("runs", "a folder"), ("missing.csv", "not a file")])
def test_that_what_is_no_file_is_refused_with_what_can_be_dropped(
    shell: Shell, tmp_path: Path, name: str, what: str
) -> None:
    (tmp_path / "runs").mkdir()
    session = shell.bridge.session

    drop(shell, tmp_path / name)

    assert (
        shell.window.notice.label.text()
        == f"✖ “{name}” is {what}. Drop scenes, recordings or captures."
    )
    assert shell.bridge.session is session


def test_that_what_failed_is_not_said_any_more_once_something_else_is_open(
    shell: Shell, tmp_path: Path
) -> None:
    notice = shell.window.notice
    junk = tmp_path / "junk.csv"
    junk.write_bytes(bytes(range(256)))
    shell.window.open_path(trace(tmp_path))
    shell.window.open_path(junk)
    assert "junk.csv" in notice.message
    notice._end()
    assert notice.again_button.isVisible()

    shell.window.open_path(table(tmp_path))

    assert not notice.again_button.isVisible()


def test_that_captures_dropped_or_opened_together_are_compared_with_each_other(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [table(tmp_path), capture(tmp_path / "other.csv", [10.0, 10.1] * 200)]

    drop(shell, *paths)

    view = shell.contents.window_states.comparison
    assert view is not None
    assert view.isVisible()
    assert [each.path for side in view.sides for each in side.sources] == paths

    view.finish()
    shell.contents.window_states.leave_comparison()
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: (list(map(str, paths)), ""))
    shell.trigger("open")
    assert view.isVisible()
    assert [each.path for side in view.sides for each in side.sources] == paths


def choose_for_dropped(shell: Shell, text: str) -> None:
    menu = shell.window.findChild(QMenu, "dropped_files")
    assert menu is not None
    (action,) = (each for each in menu.actions() if each.text() == text)
    action.trigger()
    menu.close()


def test_that_a_second_file_can_be_compared_with_what_is_open(shell: Shell, tmp_path: Path) -> None:
    shell.window.open_path(table(tmp_path))
    other = capture(tmp_path / "other.csv", [10.0, 10.1] * 200)

    drop(shell, other)

    assert shell.bridge.status.path == str(table(tmp_path))
    choose_for_dropped(shell, "Compare with what is open")
    view = shell.contents.window_states.comparison
    assert view is not None
    view.finish()
    assert view.isVisible()
    assert view.verdict.text().startswith("B is ")
    assert len(view.sides) == 2

    drop(shell, other)
    choose_for_dropped(shell, "Compare with what is open")
    view.finish()
    assert len(view.sides) == 3


def test_that_a_comparison_takes_the_place_of_the_frames_until_it_is_left(
    shell: Shell, tmp_path: Path
) -> None:
    shell.window.open_path(table(tmp_path))
    states, middle = shell.contents.window_states, shell.window.middle
    states.compare([capture(tmp_path / "other.csv", [10.0, 10.1] * 200)], has_session=True)
    view = states.comparison
    assert view is not None
    view.finish()
    assert middle.currentWidget() is view
    assert states.summary is not None
    assert states.summary.isHidden()
    assert shell.window.panels.column.isHidden()
    note = shell.window.notice.log_note
    assert note.text() == "Comparison"
    assert not note.isEnabled()

    view.left.emit()

    assert middle.currentIndex() == 0
    assert note.text().startswith("Capture, read only  ·  ")
    assert states.summary.isVisible()
    assert view.sides == []
    states.compare([capture(tmp_path / "third.csv", [10.0, 10.1] * 200)], has_session=True)
    shell.window.open_path(trace(tmp_path))
    assert middle.currentIndex() == 0


def test_that_export_in_a_comparison_writes_its_page(shell: Shell, tmp_path: Path) -> None:
    action = shell.window.actions_by_id["export"]
    assert shell.bridge.session is None or action.isEnabled()
    states = shell.contents.window_states
    files = [capture(tmp_path / f"{each}.csv", [each, each + 0.1] * 200) for each in (10.0, 12.0)]
    states.compare(files, has_session=False)
    assert states.comparison is not None
    states.comparison.finish()

    assert action.isEnabled()
    action.trigger()
    figure = states.comparison.export_button.menu().actions()[1]
    figure.trigger()

    (drawing,) = shell.window.findChildren(ExportDialog)
    assert drawing.export_to(tmp_path / "figure.svg")
    assert "10.0.csv" in (tmp_path / "figure.svg").read_text()
    (dialog,) = states.comparison.findChildren(SaveDialog)
    dialog.file_given.emit(tmp_path / "comparison.html")
    assert 'id="plots"' in (tmp_path / "comparison.html").read_text()
    states.leave_comparison()
    assert not states.is_comparison


def test_that_the_window_can_open_on_a_comparison(lend: Lend, qtbot: QtBot, tmp_path: Path) -> None:
    shell = lend(None)
    states, middle = shell.contents.window_states, shell.window.middle
    paths = [
        capture(tmp_path / f"{number}.csv", [base, base + 0.1, base + 0.3] * 300)
        for number, base in enumerate((10.0, 10.1, 9.0))
    ]
    one, other, third = ((path, None) for path in paths)

    states.compare_files(FilesToCompare(((one, other), (third,)), with_columns=True))

    view = states.comparison
    assert view is not None
    view.finish()
    assert [side.title for side in view.sides] == ["0.csv and 1 more", "2.csv"]
    assert view.columns_action.isChecked()
    QApplication.processEvents()
    assert middle.currentWidget() is view
    view.left.emit()
    qtbot.waitUntil(lambda: states.is_welcome)


def test_that_a_second_file_can_be_opened_instead(shell: Shell, tmp_path: Path) -> None:
    shell.window.open_path(table(tmp_path))
    other = capture(tmp_path / "other.csv", [10.0, 10.1] * 200)

    drop(shell, other)
    choose_for_dropped(shell, "Open instead")

    assert shell.bridge.status.path == str(other)


def test_that_a_file_that_is_no_capture_leaves_the_session_alone(
    shell: Shell, tmp_path: Path
) -> None:
    shell.window.open_path(table(tmp_path))
    bad = tmp_path / "bad.json"
    bad.write_text('{"resourceSpans": []}')

    shell.window.open_path(bad)

    assert "OpenTelemetry" in shell.window.notice.label.text()
    assert "stays open" in shell.window.notice.label.text()
    assert len(shell.bridge.timeline.frames) == 450


def test_that_a_long_capture_is_read_on_with_its_progress(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspector.sessions import captured  # noqa: PLC0415

    monkeypatch.setattr(source_module, "PIECE_BYTES", 2_000)
    monkeypatch.setattr(
        opening,
        "captured_session",
        lambda path, column: captured.CapturedSession(path, column, clock=Clock()),
    )
    monkeypatch.setattr("ui.session.bridge.captured_session", opening.captured_session)

    shell.window.open_path(table(tmp_path))

    assert shell.bridge.status.phase is SessionPhase.READING
    assert shell.window.notice.message.startswith("Reading capture.csv: ")
    shell.window.notice.cancel_button.click()
    session = shell.bridge.session
    assert isinstance(session, captured.CapturedSession)
    read_to_the_end(session)
    shell.bridge.refresh_now()
    assert "cancelled" in shell.bridge.status.message
    assert 0 < len(shell.bridge.timeline.frames) < 450


def test_that_samples_have_no_statistics_that_need_every_frame(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = open_shell(qtbot, tmp_path, None)
    path = tmp_path / "log.csv"
    rows = "".join(f"60,{16 + each % 3},{each * 500_000_000}\n" for each in range(1, 60))
    path.write_text(f"os,cpu\nLinux,fast\nfps,frametime,elapsed\n{rows}")
    shell.window.open_path(path)
    series = shell.window.frame_times.plot.series
    assert series is not None
    found = frame_statistics(series.times_ns("interval", 0, 59))

    shown = StatisticsWanted(series, range(59), "interval", (), False, are_samples=True)

    text = FoundStatistics(shown, found).text
    assert text.endswith(SAMPLES_TEXT)
    assert text.startswith("In view: 59 samples")
    assert "P99" not in text
    assert "fps" not in text
    session = shell.bridge.session
    assert session is not None
    details = overview_rows(session, (), ClockCounts(), session.timeline, session.timeline)
    assert ("Samples", "59") in {(row.key, row.text) for row in details}
    assert "fps" not in shell.window.transport.fps_button.text()
    assert "samples, not every frame" in header_of(shell).label.text()
    distribution = shell.window.findChild(FrameDistribution)
    assert distribution is not None
    assert distribution.view.chart() is None
    assert distribution.view.empty_text == "Samples do not say how long all frames took."
    assert distribution.what.text() == "All: 59 samples"


def test_that_a_capture_is_seen_whole_at_first(shell: Shell, tmp_path: Path) -> None:
    shell.window.open_path(table(tmp_path))

    view = SharedView.of(shell.bridge)
    assert view.visible_frames() == (0, 450)
    assert not view.is_following
    strip = shell.window.frame_times.strip
    assert strip._brush_edges() == pytest.approx((0, strip.width()), abs=2)
    view.zoom(0.1)
    session = shell.bridge.session
    assert isinstance(session, CapturedSession)
    session.choose_stream("small.exe")
    shell.bridge.refresh_now()
    assert view.visible_frames() == (0, 150)


def test_that_sums_of_tracy_are_shown_beside_what_is_open(shell: Shell, tmp_path: Path) -> None:
    shell.window.open_path(table(tmp_path))
    path = tmp_path / "zones.csv"
    path.write_text(
        "name,src_file,src_line,total_ns,total_perc,counts,mean_ns,min_ns,max_ns,std_ns\n"
        "draw,a.cpp,3,9000000,90.0,3,3000000,1000000,5000000,1632993.2\n"
        "load<a, b>,b.cpp,7,1000000,10.0,1,1000000,1000000,1000000,0\n"
        "damaged\n"
    )

    shell.window.open_path(path)

    window = shell.window.findChild(ZoneSumsWindow)
    assert window is not None
    assert window.isVisible()
    assert shell.bridge.session is not None
    assert shell.bridge.session.title == "capture.csv – large.exe"
    model = window.table.view.model()
    texts = [
        [model.index(row, column).data() for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]
    assert texts == [
        ["draw", "3", "9.00 ms", "90.00 %", "3.00 ms", "1.00 ms", "5.00 ms", "1.63 ms", "a.cpp:3"],
        ["load<a, b>", "1", *("1.00 ms", "10.00 %"), *["1.00 ms"] * 3, "0 ns", "b.cpp:7"],
    ]
    window.close()


def test_that_files_can_be_dropped_anywhere_on_the_window(shell: Shell) -> None:
    for panel_id in shell.window.panels.ids:
        shell.window.panels.open_panel(panel_id)

    takers = [each for each in shell.window.findChildren(QWidget) if each.acceptDrops()]

    # Texts can be dropped on fields.
    fields = (QLineEdit, QAbstractSpinBox, QPlainTextEdit)
    others = [each for each in takers if not isinstance(each, fields)]
    assert [each.parent() for each in others if not isinstance(each.parent(), fields)] == []


def test_that_a_trace_of_microseconds_is_seen_whole(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "short.json"
    path.write_text('[{"ph": "X", "pid": 1, "tid": 1, "name": "work", "ts": 5, "dur": 40}]')

    shell.window.open_path(path)

    view = SharedView.of(shell.bridge)
    assert view.range.low == 0
    assert 40e-6 < view.range.high < 43e-6
    plot = shell.window.findChild(FramePlot)
    assert plot is not None
    assert plot._overlay.empty_text == "This capture holds no frames."
