"""The refresh-rate lab panel: the first example, asking for something else, reading, files."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.engines.lab.subjects import SUBJECTS
from tests.ui.lab.lab_stand import Stand, remember_cells
from tests.ui.used_window import Lend
from ui.kit.save_dialog import SaveDialog
from ui.kit.theme import ColorRole, Theme
from ui.lab.lab_plot import LabPlot
from ui.lab.panel import LabColumn, LabPanel

SECOND = 1_000_000_000


@pytest.fixture
def running(qtbot: QtBot) -> Stand:
    return Stand(qtbot)


@pytest.fixture
def stand(running: Stand, monkeypatch: pytest.MonkeyPatch) -> Stand:
    """The panel for tests of what comes out: nothing runs that an earlier test has run."""
    remember_cells(monkeypatch)
    return running


# ------------------------------------------------------------------ the first example


def test_that_the_panel_begins_with_the_egret_case_on_real_runs(stand: Stand) -> None:
    assert stand.panel.notice.text() == "Waiting for the first results."

    stand.show()

    panel = stand.panel
    assert panel.model.rowCount() == 3 * len(SUBJECTS)
    marked = panel.model.rows[panel.view.currentIndex().row()]
    assert (marked.subject.name, marked.display.name) == ("egret", "240 Hz")
    assert marked.fired_ns == tuple(range(SECOND // 4, 10 * SECOND + 1, SECOND // 4))
    assert panel.readout.text() == (
        "Egret, by calls, 240 Hz, timer “every 1 s”: 40 instead of 10, 30 s early, too early"
    )
    assert "Wrong in 17 of 69 runs" in panel.summary.text()
    assert panel.notice.isHidden()
    assert panel.plot.row_rect(marked).intersects(panel.plot.viewport().rect())


def test_that_showing_the_panel_again_keeps_the_results(stand: Stand) -> None:
    stand.show()
    count = stand.panel.model.rowCount()

    stand.panel.hide()
    with stand.qtbot.assertNotEmitted(stand.panel.model.modelReset):
        stand.panel.show()
        QApplication.processEvents()

    assert stand.panel.model.rowCount() == count
    assert not stand.panel.runner.is_running


@pytest.mark.parametrize("width", [968, 1089, 1211])
def test_that_names_and_the_reading_are_whole_in_windows_of_usual_width(
    stand: Stand, width: int
) -> None:
    stand.panel.resize(width, 190)
    stand.show()
    panel = stand.panel
    plot, metrics = panel.plot, panel.fontMetrics()

    titles = [metrics.horizontalAdvance(each.row_title) for each in panel.model.rows]
    assert plot.x_of(0) > max(titles) + 20
    assert plot.x_of(10 * SECOND) - plot.x_of(0) > plot.width() / 4
    assert panel.readout.width() > metrics.horizontalAdvance(panel.readout.text()) + 12


def test_that_a_low_window_has_rows_in_place_of_the_reading(stand: Stand) -> None:
    stand.show()
    panel = stand.panel
    assert panel.readout.isHidden()

    panel.resize(1280, 700)
    assert not panel.readout.isHidden()


def test_that_the_summary_has_room_before_the_limits(stand: Stand) -> None:
    stand.show()
    panel = stand.panel

    panel.resize(panel.summary.sizeHint().width() + 260, 260)
    QApplication.processEvents()

    assert panel.summary.shown_text() == panel.summary.text()
    assert panel.limits.shown_text() == ""


# ------------------------------------------------------------------ running


def test_that_a_turn_of_a_run_ends_after_some_milliseconds(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Every look at the clock finds that a millisecond has passed.
    clock = count(step=1_000_000)
    reads: list[int] = []

    def read_clock() -> int:
        reads[-1] += 1
        return next(clock)

    monkeypatch.setattr("ui.lab.lab_runner.perf_counter_ns", read_clock)
    reads.append(0)
    stand.show()
    stand.panel.run_now()
    # Several turns may come in one call of processEvents.
    stand.panel.runner._turn.timeout.connect(lambda: reads.append(0))
    while stand.panel.runner.is_running:
        QApplication.processEvents()

    assert 2 <= max(reads[1:]) <= 7
    assert len(reads) > 10


def test_that_a_run_can_be_stopped_and_keeps_what_it_has(running: Stand) -> None:
    panel = running.panel
    with running.qtbot.waitSignal(panel.runner.results_arrived):
        panel.show()
    assert panel.run_button.text() == "Stop"
    assert not panel.export_button.isEnabled()

    panel.run_button.click()

    count = panel.model.rowCount()
    assert 0 < count < 69
    assert panel.run_button.text() == "Run"
    assert panel.export_button.isEnabled()
    QApplication.processEvents()
    assert panel.model.rowCount() == count


def test_that_a_hidden_panel_does_not_run_on(
    running: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running.qtbot.waitSignal(running.panel.runner.results_arrived):
        running.panel.show()

    running.panel.hide()

    assert not running.panel.runner.is_running
    remember_cells(monkeypatch)
    running.show()
    assert running.panel.model.rowCount() == 69


def test_that_a_change_of_the_form_runs_anew(stand: Stand) -> None:
    stand.show()
    line = stand.form.timers_line
    stand.form.choose_subjects(["clock", "egret"])
    line.setFocus()
    line.selectAll()
    QTest.keyClicks(line, "blink=500ms; shot=100ms,repeat=4,delay=2")

    with stand.qtbot.waitSignal(stand.panel.runner.finished):
        QTest.keyClick(line, Qt.Key.Key_Return)

    assert set(stand.texts(LabColumn.TIMER)) == {"blink", "shot"}
    assert not stand.panel.view.isColumnHidden(LabColumn.TIMER)
    assert "5 of 5" in stand.texts(LabColumn.FIRED)


def test_that_ticking_a_display_runs_it_and_leaves_the_menu_open(stand: Stand) -> None:
    stand.show()
    menu = stand.form.displays_button.menu()
    action = stand.form.display_actions["variable"]
    menu.popup(stand.panel.mapToGlobal(QPoint(0, 0)))
    menu.setActiveAction(action)

    with stand.qtbot.waitSignal(stand.panel.runner.finished):
        stand.qtbot.mouseClick(
            menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center()
        )

    assert menu.isVisible()
    assert stand.form.displays_button.text() == "Displays: 4"
    assert "variable" in stand.texts(LabColumn.DISPLAY)
    QTest.keyClick(menu, Qt.Key.Key_Space)
    assert not action.isChecked()
    menu.close()


@pytest.mark.parametrize(
    ("timers", "displays", "subjects", "problem"),
    [
        (";", "60 Hz", "clock", "Enter a timer"),
        ("soon", "60 Hz", "clock", "Timer “soon”: not a duration"),
        ("1us", "60 Hz", "clock", "at most 10,000"),
        ("1s", "none", "clock", "Choose a display"),
        ("1s", "60 Hz", "none", "Choose what the timers run on"),
    ],
)
def test_that_what_makes_no_sense_is_said_instead_of_run(
    timers: str, displays: str, subjects: str, problem: str, stand: Stand
) -> None:
    stand.show()
    stand.choose_displays(displays.split(","))
    stand.form.choose_subjects(subjects.split(","))
    stand.form.timers_line.setText(timers)

    stand.panel.run_now()

    assert problem in stand.panel.problem.text()
    assert stand.panel.problem.isVisible()
    assert problem in stand.panel.notice.text()
    assert not stand.panel.runner.is_running
    stand.ask("1s", "60 Hz", "clock")
    assert stand.panel.problem.isHidden()


def test_that_a_very_long_timer_is_shortened_where_it_is_refused(stand: Stand) -> None:
    stand.show()
    stand.form.timers_line.setText("(" * 10_000)

    stand.panel.run_now()

    assert len(stand.panel.problem.text()) < 200


# ------------------------------------------------------------------ frame times


def test_that_the_frames_of_the_session_are_a_display(stand: Stand) -> None:
    stand.show()
    stand.choose_displays(["this session"])
    stand.panel.run_now()
    assert "no frames yet" in stand.panel.problem.text()

    stand.form.set_session_frames(lambda: (16_000_000,) * 250)
    stand.ask(subjects="scheduler")

    (result,) = stand.panel.model.results
    assert result.display.name == "this session"
    assert result.fired_ns == (1_008_000_000, 2_000_000_000, 3_008_000_000, 4_000_000_000)


def test_that_files_bring_timers_and_frame_times(stand: Stand, tmp_path: Path) -> None:
    timers = tmp_path / "timers.csv"
    timers.write_text("name,interval,repeat,delay\na;b,0.25,3,1.5\n", encoding="utf-8")
    capture = tmp_path / "capture.csv"
    capture.write_text("MsBetweenPresents\n" + "16\n" * 250, encoding="utf-8")
    stand.show()

    stand.panel.load_file("timers", timers)
    stand.panel.load_file("frame times", capture)
    stand.panel.load_file("frame times", capture)
    stand.ask(subjects="clock")

    assert stand.form.timers_line.text() == "a b=250ms,repeat=3,delay=1500ms"
    assert stand.texts(LabColumn.DISPLAY) == ["60 Hz", "144 Hz", "240 Hz", "capture.csv"]
    assert stand.panel.model.rows[3].fired_ns[0] == 1_500_000_000


def test_that_a_file_that_cannot_be_read_is_said(stand: Stand, tmp_path: Path) -> None:
    stand.show()

    stand.panel.load_file("timers", tmp_path / "nowhere.csv")

    assert "There is no file" in stand.panel.problem.text()


# ------------------------------------------------------------------ table and plot


def test_that_columns_are_sorted_by_value(stand: Stand) -> None:
    stand.show()
    stand.ask(displays="60 Hz,144 Hz,240 Hz", subjects="clock,egret,cocos2d-x-3.4")

    stand.panel.view.sortByColumn(LabColumn.DRIFT, Qt.SortOrder.AscendingOrder)
    by_drift = stand.texts(LabColumn.DRIFT)
    stand.panel.view.sortByColumn(LabColumn.DISPLAY, Qt.SortOrder.AscendingOrder)
    by_display = stand.texts(LabColumn.DISPLAY)

    assert by_drift == ["−30.0 s", "−14.0 s", "0", "0", "0", "0", "+37.5 ms", "+62.5 ms", "+150 ms"]
    assert by_display == ["60 Hz"] * 3 + ["144 Hz"] * 3 + ["240 Hz"] * 3


def test_that_right_and_wrong_differ_in_mark_word_and_colour(stand: Stand) -> None:
    stand.show()
    stand.ask(displays="240 Hz", subjects="clock,egret")
    model = stand.panel.model

    right, wrong = (model.index(row, LabColumn.RESULT) for row in (0, 1))

    assert (right.data(), wrong.data()) == ("✓ exact", "✗ too early")
    role = Qt.ItemDataRole.ForegroundRole
    assert right.data(role) != wrong.data(role)
    assert "4 times as fast" in wrong.data(Qt.ItemDataRole.ToolTipRole)


def test_that_the_pointer_reads_every_firing_exactly(stand: Stand) -> None:
    stand.show()
    stand.ask(displays="240 Hz", subjects="clock,egret")
    plot = stand.panel.plot
    egret = stand.panel.model.rows[1]
    y = plot.row_rect(egret).center().y()

    for number, at_ns in ((2, 750_000_000), (39, 10 * SECOND)):
        place = QPointF(plot.x_of(at_ns) + 1, y).toPoint()
        QTest.mouseMove(plot.viewport(), place)
        stand.wait_for_reading(f"firing {number + 1} at")

    assert stand.panel.readout.text().endswith("due at 0:40.000: 30 s early")


def test_that_the_keyboard_reads_runs_and_firings(stand: Stand) -> None:
    stand.show()
    stand.ask(displays="240 Hz", subjects="clock,egret")
    panel, plot = stand.panel, stand.panel.plot
    plot.setFocus()

    QTest.keyClick(plot, Qt.Key.Key_Down)
    assert plot.current is panel.model.rows[0]
    QTest.keyClick(plot, Qt.Key.Key_Down)
    assert panel.view.currentIndex().row() == 1
    QTest.keyClick(plot, Qt.Key.Key_Right)
    QTest.keyClick(plot, Qt.Key.Key_Right)
    QTest.keyClick(plot, Qt.Key.Key_Left)

    assert panel.readout.text() == (
        "Egret, by calls, 240 Hz, timer “every 1 s”: firing 1 at 0:00.250, "
        "due at 0:01.000: 750 ms early"
    )


def test_that_table_and_plot_mark_the_same_run(stand: Stand) -> None:
    stand.show()
    panel, plot = stand.panel, stand.panel.plot

    panel.view.setCurrentIndex(panel.model.index(0, 0))
    first = plot.current
    row = plot.row_rect(panel.model.rows[2])
    stand.qtbot.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=row.center())

    assert first is panel.model.rows[0]
    assert panel.view.currentIndex().row() == 2


def test_that_the_marked_run_stays_in_view_when_the_panel_becomes_lower(stand: Stand) -> None:
    stand.panel.resize(1280, 420)
    stand.show()
    view, plot = stand.panel.view, stand.panel.plot
    lowest = view.rowAt(view.viewport().height() - 20) - 1
    view.setCurrentIndex(stand.panel.model.index(lowest, 0))
    result = plot.current
    assert result is stand.panel.model.rows[lowest]

    for height in range(420, 240, -20):
        stand.panel.resize(1280, height)
        QApplication.processEvents()
        row = view.visualRect(view.currentIndex())
        assert view.viewport().rect().contains(row, proper=False), height
        track = plot.row_rect(result)
        assert 0 <= track.top() < track.bottom() < plot.viewport().height(), height


def test_that_rows_can_be_copied(stand: Stand) -> None:
    stand.show()
    stand.ask(displays="240 Hz", subjects="egret")
    stand.panel.view.selectRow(0)

    QTest.keySequence(stand.panel.view, QKeySequence(QKeySequence.StandardKey.Copy))

    assert QGuiApplication.clipboard().text().startswith("✗ too early\t240 Hz\tevery 1 s\tEgret")


def test_that_the_plot_follows_the_theme(stand: Stand) -> None:
    stand.show()

    stand.theme.set_choice("dark")

    image = stand.panel.plot.viewport().grab().toImage()
    assert image.pixelColor(2, 2).lightness() < 60


# ------------------------------------------------------------------ export


def test_that_results_are_exported_as_table_and_picture(stand: Stand, tmp_path: Path) -> None:
    stand.show()
    stand.ask(displays="240 Hz", subjects="clock,egret")

    for name in ("lab.json", "lab.csv", "lab.svg", "lab.png", "lab.pdf"):
        stand.panel.export_to(tmp_path / name)
        assert stand.panel.readout.text() == f"Wrote {tmp_path / name}."

    assert len(json.loads((tmp_path / "lab.json").read_text(encoding="utf-8"))["results"]) == 2
    stand.panel.export_to(tmp_path / "nowhere" / "lab.png")
    assert "does not exist" in stand.panel.problem.text()


def test_that_a_chosen_file_gets_the_results(stand: Stand, tmp_path: Path) -> None:
    stand.show()
    stand.panel.export_button.click()
    asking = stand.panel.findChild(SaveDialog)
    assert isinstance(asking, SaveDialog)
    files = asking.dialog
    files.selectNameFilter(next(each for each in files.nameFilters() if "*.csv" in each))
    files.selectFile(str(tmp_path / "mine"))

    files.fileSelected.emit(str(tmp_path / "mine"))

    assert stand.panel.readout.text() == f"Wrote {tmp_path / 'mine.csv'}."
    assert (tmp_path / "mine.csv").is_file()


# ------------------------------------------------------------------ in the window


def test_that_the_panel_is_reached_by_its_action(
    lend: Lend, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember_cells(monkeypatch)
    shell = lend()
    place = shell.window.panels["lab"]

    shell.trigger("panel-lab")
    place.setVisible(True)
    place.raise_()
    panel = shell.window.panels.panel("lab")
    assert isinstance(panel, LabPanel)
    qtbot.waitUntil(lambda: panel.model.rowCount() == 69)


def test_that_a_plot_without_runs_says_what_to_do_and_has_no_axis(qtbot: QtBot) -> None:
    theme = Theme("dark")
    plot = LabPlot(theme)
    qtbot.addWidget(plot)
    plot.resize(300, 100)
    assert plot.notice.text() == "Select a result to see when its timer fired."
    plot.notice.hide()

    image = plot.viewport().grab().toImage()

    pixels = {image.pixel(x, y) for x in range(image.width()) for y in range(image.height())}
    assert pixels == {theme.color(ColorRole.BG).rgb()}


def test_that_the_lowest_plot_shows_whole_runs_in_place_of_the_axis(stand: Stand) -> None:
    stand.show()
    stand.ask(displays="240 Hz", subjects="clock,egret")
    plot = stand.panel.plot
    plot.resize(200, 60)

    chosen = stand.panel.model.results[-1]
    plot.reveal_result(chosen)

    assert plot.current is chosen
    row = plot.row_rect(chosen)
    assert row.height() <= row.top() <= plot.viewport().height() - row.height()
    plot.resize(200, 200)
    axis = plot.viewport().grab().toImage()
    ground = stand.theme.color(ColorRole.BG).rgb()
    assert axis.pixel(1, axis.height() - 2) == ground


def test_that_the_plot_is_moved_with_the_keys_and_the_wheel_of_other_plots(stand: Stand) -> None:
    stand.show()
    stand.ask(displays="240 Hz", subjects="clock,egret")
    plot = stand.panel.plot
    whole = plot.view.range.span
    x = plot.x_of(9 * SECOND)

    plot.view.zoom(0.25, 9.0 * SECOND)
    assert plot.x_of(9 * SECOND) == pytest.approx(x, abs=0.1)
    QTest.keyClick(plot, Qt.Key.Key_W)
    QTest.keyClick(plot, Qt.Key.Key_A)
    assert plot.view.range.span == pytest.approx(whole / 6)
    assert plot.view.range.low > 0
    plot.viewport().grab()
    QTest.keyClick(plot, Qt.Key.Key_F)
    assert (plot.view.range.low, plot.view.range.span) == (0.0, whole)
