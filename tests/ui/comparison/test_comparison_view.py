"""The comparison in the view: files and sessions side by side, with the verdict in words."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from pyqtgraph import PlotItem
from PySide6.QtCore import QCoreApplication, QEvent, QMimeData, QPoint, QPointF, QRect, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QInputDialog, QMenu, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from inspector.analysis.statistics.comparison import Change
from inspector.analysis.statistics.runs import ComparedRun
from inspector.analysis.statistics.time_series import StutterLimits
from inspector.formats.distribution_chart import ChartKind
from inspector.testing import scene_file, virtual_session
from tests.sessions.test_compared import capture, sampled
from ui.comparison.difference_table import DifferenceColumn
from ui.comparison.sides import Side, Source
from ui.comparison.verdict import sureness
from ui.comparison.view import ComparisonView
from ui.kit.theme import Theme
from ui.session.bridge import SessionBridge
from ui.session.frame_focus import LOW_FPS, STUTTER_FACTOR


@pytest.fixture
def view(
    qtbot: QtBot, bridge: SessionBridge, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ComparisonView]:
    # How wide an interval is shown does not matter here, and a tenth of the time does.
    monkeypatch.setattr("inspector.analysis.statistics.comparison._RESAMPLES", 40)
    view = ComparisonView(bridge, theme)
    qtbot.addWidget(view)
    view.resize(1_280, 800)
    view.show()
    yield view
    view.stop()


@pytest.mark.parametrize("size", [1.0, 1.5, 2.0])
def test_that_the_numbers_of_both_sides_have_room_in_larger_text(
    view: ComparisonView, files: list[Path], size: float
) -> None:
    font = view.font()
    font.setPointSizeF(size * font.pointSizeF())
    view.setFont(font)
    view.resize(1_280, 720)
    compare(view, *files[:2])
    table = view.table.view
    for _ in range(8):
        # What is in view, and how wide it is, is known in turns to come.
        QApplication.processEvents()

    columns = DifferenceColumn
    shown = set(table.choices.order)
    assert {columns.NAME, columns.BEFORE, columns.AFTER, columns.CHANGE, columns.VERDICT} <= shown
    assert table.horizontalScrollBar().maximum() == 0
    if size == 1:
        longest = table.width_for("1% low integral (as MSI Afterburner)")
        assert table.columnWidth(columns.NAME) >= longest
        assert columns.PICTURE in shown


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    return [
        capture(tmp_path / name, [time, time + 0.2, time - 0.2, time + 0.1] * 100)
        for name, time in (("before.csv", 10.0), ("after.csv", 11.0), ("third.csv", 9.0))
    ]


def sides_of(*paths: Path) -> list[Side]:
    return [Side([Source.of_file(each)]) for each in paths]


def compare(view: ComparisonView, *paths: Path) -> None:
    view.compare(sides_of(*paths))
    view.finish()


def names(view: ComparisonView) -> list[str]:
    return [each.text().strip() for each in view.row.buttons]


def cells(view: ComparisonView, column: DifferenceColumn) -> list[str]:
    return [column.spec.text(row) for row in view.table.model.rows]


def test_that_two_files_are_compared_in_words_and_numbers(
    view: ComparisonView, files: list[Path]
) -> None:
    compare(view, *files[:2])

    assert view.verdict.text() == "B is slower than A: 10.0 → 11.0 ms a frame, +10.0 %."
    assert names(view) == ["A  before.csv", "B  after.csv"]
    assert cells(view, DifferenceColumn.VERDICT)[0] == "✕ worse"
    assert "1% Low FPS, NVIDIA FrameView" in cells(view, DifferenceColumn.NAME)
    assert [len(plot.curves) for plot in view.plot.plots] == [2]
    chart = view.distribution.chart()
    assert chart is not None
    assert [each.name for each in chart.curves] == ["A before.csv", "B after.csv"]
    assert view.progress.isHidden()


def test_that_more_files_are_compared_with_the_first(
    view: ComparisonView, files: list[Path]
) -> None:
    compare(view, *files[:2])
    size = view.verdict.font().pixelSize()
    compare(view, *files[:2])
    assert view.verdict.font().pixelSize() == size
    view.add([Source.of_file(files[2])])
    view.finish()

    assert view.verdict.font().pixelSize() < size
    assert [line.split(":")[0] for line in view.verdict.text().splitlines()] == [
        "B is slower than A",
        "C is faster than A",
    ]
    assert set(cells(view, DifferenceColumn.RUN)) == {"after.csv", "third.csv"}
    # What holds of each is said once, and of no number of runs.
    assert view.remarks.text() == (
        "This is about these runs, not about versions of a program: a single run does not show "
        "how much runs of the same version differ."
    )


def act(view: ComparisonView, place: int, text: str) -> None:
    """Choose from the menu of a run."""
    (action,) = (each for each in view.row.buttons[place].menu().actions() if each.text() == text)
    action.trigger()
    view.finish()


def test_that_tab_goes_from_the_sides_along_their_row_then_down(
    view: ComparisonView, files: list[Path]
) -> None:
    compare(view, *files[:2])
    QApplication.processEvents()

    stop: QWidget | None = view.row.buttons[0]
    names: list[str] = []
    row: list[QRect] = []
    while "Differences" not in names:
        assert stop is not None
        if stop.focusPolicy() & Qt.FocusPolicy.TabFocus and stop.isVisible():
            names.append(stop.accessibleName() or cast("QToolButton", stop).text())
            row.append(QRect(stop.mapTo(view, QPoint()), stop.size()))
        stop = stop.nextInFocusChain()
    assert names == [
        *("A  before.csv ", "B  after.csv ", "Swap A and B", "Add file …", "Options", "Export"),
        *("Close the comparison", "Frame times of what is compared", "Histogram"),
        *("Cumulative", "L-shape", "Distribution of frame times", "Differences"),
    ]
    # In their row, no two of them touch.
    assert all(right.left() - left.right() > 2 for left, right in pairwise(row[:7]))


def test_that_before_and_after_are_swapped_at_a_click(
    view: ComparisonView, files: list[Path]
) -> None:
    compare(view, files[0])
    assert not view.swap_button.isEnabled()
    compare(view, *files[:2])

    view.swap_button.click()
    view.finish()

    assert names(view) == ["A  after.csv", "B  before.csv"]
    assert view.verdict.text().startswith("B is faster than A")


def test_that_files_keep_their_order_whichever_is_read_first(
    view: ComparisonView, files: list[Path]
) -> None:
    compare(view, files[0])
    view.add(map(Source.of_file, (files[2], files[1])))
    view.finish()

    assert names(view) == ["A  before.csv", "B  third.csv", "C  after.csv"]


def test_that_nothing_is_kept_of_what_was_compared_before(
    view: ComparisonView, files: list[Path]
) -> None:
    def kept() -> Counter[type]:
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        kinds = Counter(map(type, gc.get_objects()))
        return Counter({kind: kinds[kind] for kind in (ComparedRun, QMenu, PlotItem)})

    compare(view, *files[:2])
    before = kept()

    compare(view, *files[:2])

    assert kept() == before
    assert before[ComparedRun] == 2


def test_that_another_run_can_be_the_first_or_go(view: ComparisonView, files: list[Path]) -> None:
    compare(view, *files)

    act(view, 1, "Compare the others with this")
    assert names(view) == ["A  after.csv", "B  before.csv", "C  third.csv"]
    act(view, 2, "Remove")
    assert view.verdict.text().startswith("B is faster than A")
    assert "\n" not in view.verdict.text()


def test_that_a_file_that_cannot_be_read_is_named_and_the_others_stay(
    view: ComparisonView, files: list[Path], tmp_path: Path
) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{"resourceSpans": []}')

    compare(view, files[0], bad, files[1])

    assert "OpenTelemetry" in view.problem.text()
    assert names(view) == ["A  before.csv", "B  after.csv"]
    assert "slower" in view.verdict.text()


def test_that_a_table_without_a_known_column_asks_for_it(
    view: ComparisonView, files: list[Path], tmp_path: Path
) -> None:
    own = tmp_path / "own.csv"
    own.write_text("game,render\n" + "1,20\n3,20.1\n" * 50)

    compare(view, files[0], own)

    dialog = view.findChild(QInputDialog, "column_choice")
    assert dialog is not None
    dialog.setTextValue("render")
    dialog.accept()
    view.finish()
    assert view.verdict.text().startswith("B is slower than A")


def test_that_one_of_several_streams_can_be_chosen(
    view: ComparisonView, files: list[Path], tmp_path: Path
) -> None:
    rows = [f"a.exe,1,0x1,{10 + number % 3}" for number in range(200)]
    rows += [f"b.exe,2,0x2,{20 + number % 3}" for number in range(100)]
    many = tmp_path / "many.csv"
    header = "Application,ProcessID,SwapChainAddress,MsBetweenPresents"
    many.write_text("\n".join((header, *rows)))
    compare(view, files[0], many)
    assert names(view)[1].startswith("B  many.csv – a.exe (process 1")

    menus = view.row.buttons[1].menu().findChildren(QMenu)
    (streams,) = (each for each in menus if each.title() == "Stream")
    streams.actions()[1].trigger()
    view.finish()

    assert names(view)[1].startswith("B  many.csv – b.exe (process 2")
    assert "is slower than" in view.verdict.text()


def test_that_what_is_open_is_compared_with_a_file(
    view: ComparisonView, bridge: SessionBridge, files: list[Path], tmp_path: Path
) -> None:
    session = virtual_session(scene_file(tmp_path, "def build(stage):\n    pass\n"))
    for number in range(1, 200):
        session.pass_to(number * 10_000_000)
    bridge.set_session(session)
    bridge.refresh_now()

    view.compare([*map(Side, [Source.of_session(bridge.session)]), *sides_of(files[1])])
    view.finish()

    assert names(view)[0].endswith("(open)")
    assert "B is slower than A" in view.verdict.text()


def test_that_numbers_of_both_sides_are_seen_first(view: ComparisonView, tmp_path: Path) -> None:
    before = capture(tmp_path / "a.csv", [10.0, 10.2] * 49 + [40.0, 60.0])
    after = capture(tmp_path / "b.csv", [10.0, 10.2] * 49 + [10.0, 30.0])

    compare(view, before, after)

    shown = [
        (each.title.text(), each.before.text(), each.value.text(), each.aside.text())
        for each in view.tiles
    ]
    assert shown == [
        ("P50", "10.2 →", "10.0 ms", "−2 %"),
        ("P99", "40.0 →", "10.2 ms", "−74 %"),
        ("Longest", "60.0 →", "30.0 ms", "−50 %"),
        ("Over budget", "2 →", "1", "−50 %"),
    ]
    # In a narrow view they are in one line, in place of what the plot says.
    view.resize(700, 400)
    QApplication.processEvents()
    assert all(tile.isVisible() and tile.width() >= tile.sizeHint().width() for tile in view.tiles)
    assert not view.reading.isVisible()
    assert view.tiles[0].title.y() == view.tiles[0].value.y()
    place = view.plot.geometry()
    view.plot.frames_read.emit("frame 7: 10.2 ms")
    QApplication.processEvents()
    assert view.reading.isVisible()
    assert view.plot.geometry() == place
    assert not any(tile.isVisible() for tile in view.tiles)
    view.plot.frames_read.emit("")
    view.resize(400, 400)
    assert [tile.isVisible() for tile in view.tiles] == [True, True, False, False]
    view.resize(1_280, 800)
    assert all(tile.isVisible() for tile in view.tiles)
    assert view.tiles[0].title.y() < view.tiles[0].value.y()
    # Of three sides, the numbers of two would stand for all.
    view.add([Source.of_file(capture(tmp_path / "c.csv", [9.0, 9.2] * 50))])
    view.finish()
    assert all(tile.isHidden() for tile in view.tiles)


def test_that_sides_are_named_beside_what_they_look_like(
    view: ComparisonView, files: list[Path]
) -> None:
    compare(view, *files)

    samples = [each.icon().pixmap(12).toImage() for each in view.row.buttons]
    filled = [sample.pixelColor(3, 3).alpha() > 0 for sample in samples]
    assert filled == [True, False, False]
    assert all(sample.pixelColor(3, 6).alpha() > 0 for sample in samples)
    assert len({sample.pixelColor(3, 6).name() for sample in samples}) == 3


def test_that_runs_of_a_version_are_one_side(view: ComparisonView, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)

    def runs(name: str, mean_ms: float) -> list[Source]:
        return [
            Source.of_file(
                capture(tmp_path / f"{name}-{number}.csv", rng.normal(mean_ms, 0.2, 400).tolist())
            )
            for number in range(3)
        ]

    before, after = runs("before", 10.0), runs("after", 8.0)
    view.compare([Side(before), Side(after[:1])])
    view.finish()
    assert "This is about these runs, not about versions" in view.remarks.text()

    view.add(after[1:], 1)
    view.finish()

    assert names(view) == ["A  before-0.csv and 2 more", "B  after-0.csv and 2 more"]
    assert view.verdict.text().startswith("B is faster than A")
    assert "This is about the versions, by 3 and 3 runs" in view.remarks.text()
    assert [len(plot.curves) for plot in view.plot.plots] == [6]
    menus = view.row.buttons[1].menu().findChildren(QMenu)
    (menu,) = (each for each in menus if each.title() == "Remove a run")
    menu.actions()[0].trigger()
    view.finish()
    assert names(view)[1] == "B  after-1.csv and 1 more"


def test_that_outlying_runs_are_left_out_only_when_asked(
    view: ComparisonView, tmp_path: Path
) -> None:
    rng = np.random.default_rng(8)

    def runs(name: str, *means_ms: float) -> list[Source]:
        return [
            Source.of_file(
                capture(tmp_path / f"{name}-{number}.csv", rng.normal(mean, 0.2, 400).tolist())
            )
            for number, mean in enumerate(means_ms)
        ]

    view.compare([Side(runs("before", 10, 10, 10, 14)), Side(runs("after", 8, 8, 8, 8))])
    view.finish()
    assert "before-3.csv is an outlier" in view.remarks.text()

    view.outlier_action.trigger()
    view.finish()

    assert "Left out as outliers: before-3.csv." in view.remarks.text()


def test_that_a_run_is_refused_twice_on_a_side(view: ComparisonView, files: list[Path]) -> None:
    rng = np.random.default_rng(9)
    path = capture(files[0].parent / "uneven.csv", rng.normal(10, 1, 300).tolist())

    view.compare([Side([Source.of_file(path), Source.of_file(path)]), *sides_of(files[1])])
    view.finish()

    assert "Each run of a version counts once" in view.problem.text()
    assert view.verdict.text() == ""


def drag(view: ComparisonView, kind: type[QDropEvent], at: float, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    place = QPointF(at * view.width(), 300)
    where = place.toPoint() if kind is QDragEnterEvent else place
    event = kind(
        *(where, Qt.DropAction.CopyAction, data),
        *(Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier),
    )
    QApplication.sendEvent(view, event)


def test_that_files_dropped_on_a_side_are_runs_of_it(
    view: ComparisonView, files: list[Path]
) -> None:
    compare(view, *files[:2])
    drag(view, QDragEnterEvent, 0.5, files[2])
    assert view._zones.isVisible()

    drag(view, QDropEvent, 0.5, files[2])
    view.finish()

    assert names(view) == ["A  before.csv", "B  after.csv and 1 more"]
    assert view._zones.isHidden()
    drag(view, QDragEnterEvent, 0.9, files[2])
    drag(view, QDropEvent, 0.9, files[2])
    view.finish()
    assert names(view) == ["A  before.csv", "B  after.csv and 1 more", "C  third.csv"]


def test_that_escape_and_the_button_lead_back(
    view: ComparisonView, files: list[Path], qtbot: QtBot
) -> None:
    compare(view, *files[:2])
    with qtbot.waitSignal(view.left):
        qtbot.keyClick(view, Qt.Key.Key_Escape)
    with qtbot.waitSignal(view.left):
        view.close_button.click()


def test_that_intervals_are_drawn_around_zero(view: ComparisonView, files: list[Path]) -> None:
    compare(view, *files[:2])
    table = view.table

    title = table.model.headerData(DifferenceColumn.PICTURE, Qt.Orientation.Horizontal)
    assert title == "Within ±20 %"
    # The columns get their widths when they are shown.
    picture = table.view.viewport().grab().toImage()
    header = table.view.horizontalHeader()
    left, width = (
        header.sectionViewportPosition(DifferenceColumn.PICTURE),
        header.sectionSize(DifferenceColumn.PICTURE),
    )
    row = table.view.visualRect(table.model.index(0, DifferenceColumn.NAME))
    y = row.center().y()
    empty = picture.pixelColor(left + 4, y)
    drawn = [x for x in range(left + 2, left + width - 2) if picture.pixelColor(x, y) != empty]
    # The lines of −20 %, 0 and +20 %, and a dot at half of the way: 10 % longer frames.
    low, *others, high = drawn
    assert abs(low + high - 2 * left - width) <= 2
    assert abs(others[0] - (low + high) / 2) <= 1
    assert min(abs(x - (low + 3 * high) / 4) for x in others) <= 3


def test_that_comparing_can_be_cancelled(view: ComparisonView, files: list[Path]) -> None:
    view.compare(sides_of(*files))
    assert not view.cancel_button.isHidden()

    view.cancel_button.click()

    assert view.problem.text() == "The comparison was cancelled."
    assert view.cancel_button.isHidden()
    assert view.verdict.text() == ""


def test_that_plots_can_be_stacked_and_counted_by_frames(
    view: ComparisonView, files: list[Path]
) -> None:
    compare(view, *files)

    view.plot.stack_action.setChecked(True)
    view.plot.frame_action.setChecked(True)
    view.kind_buttons.button(2).click()

    assert len(view.plot.plots) == 3
    assert view.plot.plots[2].getViewBox().viewRange()[0] == pytest.approx([0, 400])
    chart = view.distribution.chart()
    assert chart is not None
    assert chart.kind is ChartKind.L_SHAPE


def test_that_a_report_has_everything_in_one_file(
    view: ComparisonView, files: list[Path], tmp_path: Path
) -> None:
    compare(view, *files[:2])

    view.save_report(tmp_path / "comparison.html")

    page = (tmp_path / "comparison.html").read_text()
    assert page.count("<svg") == 2 * 4  # in both themes
    assert "“after.csv” is slower than “before.csv”" in page
    assert "<td>CapFrameX 1% low integral (as MSI Afterburner)</td>" in page
    assert view.problem.text().startswith("Written: ")


@pytest.mark.parametrize("part", ["plot", "distribution"])
def test_that_plots_are_copied_as_image_and_table(
    view: ComparisonView, files: list[Path], part: str
) -> None:
    compare(view, *files[:2])
    shown = getattr(view, part)

    image, table = shown.copying
    image.trigger()
    assert QGuiApplication.clipboard().image().width() == 2 * shown.width()
    table.trigger()
    assert "before.csv" in QGuiApplication.clipboard().text().splitlines()[0]


def test_that_different_lengths_are_aligned_at_the_beginning(
    view: ComparisonView, tmp_path: Path
) -> None:
    times = np.full(100, 10.0).tolist()
    compare(
        view,
        capture(tmp_path / "a.csv", times),
        capture(tmp_path / "b.csv", times[:40]),
    )

    rows = view.plot.rows()

    assert len(rows) == 101
    assert rows[50][1:] == ("10.000000", "")


def test_that_columns_of_captures_are_compared_only_when_asked(
    view: ComparisonView, tmp_path: Path
) -> None:
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, busy in zip(paths, (8, 6), strict=True):
        lines = (f"{10 + frame % 7},{busy + frame % 3}" for frame in range(2_000))
        path.write_text("\n".join(["MsBetweenPresents,MsGPUBusy", *lines]))
    compare(view, *paths)
    assert "MsGPUBusy" not in cells(view, DifferenceColumn.SUBJECT)

    view.columns_action.trigger()
    view.finish()

    rows = {(row.subject, row.name): row for row in view.table.model.rows}
    assert rows["MsGPUBusy", "Mean"].change.share == pytest.approx(-2 / 9, abs=0.001)
    assert ("MsGPUBusy", "Mean, frames above P99") not in rows
    assert ("MsGPUBusy", "Mean, frames up to P50") in rows


def test_that_samples_are_compared_without_numbers_of_every_frame(
    view: ComparisonView, tmp_path: Path
) -> None:
    logs = [sampled(tmp_path / f"{mean}.csv", mean) for mean in (16.6, 15.0)]

    compare(view, *logs)

    assert view.verdict.text().startswith("B is faster than A")
    assert "Only what samples allow is compared." in view.remarks.text()
    assert [tile.value.text() for tile in view.tiles] == [""] * 4
    assert view.distribution.chart() is None
    end = view.plot.plots[0].getViewBox().viewRange()[0][1]
    assert end == pytest.approx(50, rel=0.01)


def test_that_stuttering_is_compared_by_the_limits_of_the_statistics(
    view: ComparisonView, bridge: SessionBridge, files: list[Path]
) -> None:
    bridge.panel_choices[STUTTER_FACTOR] = "1.5"
    bridge.panel_choices[LOW_FPS] = "95"
    compare(view, *files[:2])
    assert not any("tuttering" in each for each in cells(view, DifferenceColumn.NAME))

    view.options_button.menu().aboutToShow.emit()
    assert view.stutter_action.text() == "Stuttering over 1.5 times, low below 95 fps"
    view.stutter_action.trigger()
    view.finish()

    names = cells(view, DifferenceColumn.NAME)
    before = dict(zip(names, cells(view, DifferenceColumn.AFTER), strict=True))
    assert before["Stuttering time, CapFrameX"] == "0.00 %"
    assert before["Low FPS time, CapFrameX"] == "100 %"

    view.set_limits(StutterLimits(3.0))
    view.options_button.menu().aboutToShow.emit()
    assert view.stutter_action.text() == "Stuttering over 3 times, low below 25 fps"


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.0949, 0.0951, "95 % sure that it is +9.5 %."),
        (-0.012, 0.0951, "95 % sure that it lies between −1.2 and +9.5 %."),
        (9.9994, 13.475, "95 % sure that it lies between +999.9 and +1,348 %."),
        (9.9996, 13.475, "95 % sure that it lies between +1,000 and +1,348 %."),
    ],
)
def test_that_an_interval_as_narrow_as_its_digits_is_one_number(
    low: float, high: float, said: str
) -> None:
    change = Change(10, 11, 0.095, low, high, "", is_more_better=False)

    assert sureness(change, "") == said
