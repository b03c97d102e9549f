"""The comparison in the window: files and sessions side by side, with the verdict in words."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pyqtgraph import PlotItem
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QInputDialog, QMenu, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from inspector.analysis.statistics.runs import ComparedRun
from inspector.formats.distribution_chart import ChartKind
from inspector.testing import scene_file, virtual_session
from tests.sessions.test_compared import capture
from ui.comparison.difference_table import DifferenceColumn
from ui.comparison.window import ComparisonWindow, Source
from ui.kit.theme import Theme
from ui.session.bridge import SessionBridge


@pytest.fixture
def window(qtbot: QtBot, bridge: SessionBridge, theme: Theme) -> Iterator[ComparisonWindow]:
    parent = QWidget()
    qtbot.addWidget(parent)
    window = ComparisonWindow(bridge, theme, parent)
    window.show()
    yield window
    window.close()


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    return [
        capture(tmp_path / name, [time, time + 0.2, time - 0.2, time + 0.1] * 100)
        for name, time in (("before.csv", 10.0), ("after.csv", 11.0), ("third.csv", 9.0))
    ]


def compare(window: ComparisonWindow, *paths: Path) -> None:
    window.compare(map(Source.of_file, paths))
    window.finish()


def buttons(window: ComparisonWindow) -> list[QToolButton]:
    items = map(window._names.itemAt, range(window._names.count()))
    widgets = [item.widget() for item in items if item is not None]
    return [each for each in widgets if isinstance(each, QToolButton)]


def names(window: ComparisonWindow) -> list[str]:
    return [each.text().strip() for each in buttons(window)]


def cells(window: ComparisonWindow, column: DifferenceColumn) -> list[str]:
    return [column.spec.text(row) for row in window.table.model.rows]


def test_that_two_files_are_compared_in_words_and_numbers(
    window: ComparisonWindow, files: list[Path]
) -> None:
    compare(window, *files[:2])

    assert window.verdict.text().startswith("“after.csv” is slower than “before.csv”: 99.75 → ")
    assert names(window) == ["A, before: before.csv", "B, after: after.csv"]
    assert cells(window, DifferenceColumn.VERDICT)[0] == "▼ slower"
    assert "NVIDIA FrameView 1% Low FPS" in cells(window, DifferenceColumn.NAME)
    assert [len(plot.curves) for plot in window.plot.plots] == [2]
    chart = window.distribution.chart()
    assert chart is not None
    assert [each.name for each in chart.curves] == ["before.csv", "after.csv"]
    assert window.progress.isHidden()


def test_that_more_files_are_compared_with_the_first(
    window: ComparisonWindow, files: list[Path]
) -> None:
    compare(window, *files[:2])
    window.add([Source.of_file(files[2])])
    window.finish()

    assert [line.split(":")[0] for line in window.verdict.text().splitlines()] == [
        "“after.csv” is slower than “before.csv”",
        "“third.csv” is faster than “before.csv”",
    ]
    assert set(cells(window, DifferenceColumn.RUN)) == {"after.csv", "third.csv"}


def act(window: ComparisonWindow, place: int, text: str) -> None:
    """Choose from the menu of a run."""
    (action,) = (each for each in buttons(window)[place].menu().actions() if each.text() == text)
    action.trigger()
    window.finish()


def test_that_before_and_after_are_swapped_at_a_click(
    window: ComparisonWindow, files: list[Path]
) -> None:
    compare(window, files[0])
    assert not window.swap_button.isEnabled()
    compare(window, *files[:2])

    window.swap_button.click()
    window.finish()

    assert names(window) == ["A, before: after.csv", "B, after: before.csv"]
    assert window.verdict.text().startswith("“before.csv” is faster than “after.csv”")


def test_that_files_keep_their_order_whichever_is_read_first(
    window: ComparisonWindow, files: list[Path]
) -> None:
    compare(window, files[0])
    window.add(map(Source.of_file, (files[2], files[1])))
    window.finish()

    assert names(window) == ["A, before: before.csv", "B: third.csv", "C: after.csv"]


def test_that_nothing_is_kept_of_what_was_compared_before(
    window: ComparisonWindow, files: list[Path]
) -> None:
    def kept() -> Counter[type]:
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        kinds = Counter(map(type, gc.get_objects()))
        return Counter({kind: kinds[kind] for kind in (ComparedRun, QMenu, PlotItem)})

    compare(window, *files[:2])
    before = kept()

    for _ in range(3):
        compare(window, *files[:2])

    assert kept() == before
    assert before[ComparedRun] == 2


def test_that_another_run_can_be_the_first_or_go(
    window: ComparisonWindow, files: list[Path]
) -> None:
    compare(window, *files)

    act(window, 1, "Compare the others with this")
    assert names(window) == ["A, before: after.csv", "B: before.csv", "C: third.csv"]
    act(window, 2, "Remove")
    assert window.verdict.text().startswith("“before.csv” is faster than “after.csv”")
    assert "\n" not in window.verdict.text()


def test_that_a_file_that_cannot_be_read_is_named_and_the_others_stay(
    window: ComparisonWindow, files: list[Path], tmp_path: Path
) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{"resourceSpans": []}')

    compare(window, files[0], bad, files[1])

    assert "OpenTelemetry" in window.problem.text()
    assert names(window) == ["A, before: before.csv", "B, after: after.csv"]
    assert "slower" in window.verdict.text()


def test_that_a_table_without_a_known_column_asks_for_it(
    window: ComparisonWindow, files: list[Path], tmp_path: Path
) -> None:
    own = tmp_path / "own.csv"
    own.write_text("game,render\n" + "1,20\n3,20.1\n" * 50)

    compare(window, files[0], own)

    dialog = window.findChild(QInputDialog, "column_choice")
    assert dialog is not None
    dialog.setTextValue("render")
    dialog.accept()
    window.finish()
    assert window.verdict.text().startswith("“own.csv” is slower than “before.csv”")


def test_that_one_of_several_streams_can_be_chosen(
    window: ComparisonWindow, files: list[Path], tmp_path: Path
) -> None:
    rows = [f"a.exe,1,0x1,{10 + number % 3}" for number in range(200)]
    rows += [f"b.exe,2,0x2,{20 + number % 3}" for number in range(100)]
    many = tmp_path / "many.csv"
    header = "Application,ProcessID,SwapChainAddress,MsBetweenPresents"
    many.write_text("\n".join((header, *rows)))
    compare(window, files[0], many)
    assert names(window)[1].startswith("B, after: many.csv – a.exe (process 1")

    menus = buttons(window)[1].menu().findChildren(QMenu)
    (streams,) = (each for each in menus if each.title() == "Stream")
    streams.actions()[1].trigger()
    window.finish()

    assert names(window)[1].startswith("B, after: many.csv – b.exe (process 2")
    assert "is slower than" in window.verdict.text()


def test_that_what_is_open_is_compared_with_a_file(
    window: ComparisonWindow, bridge: SessionBridge, files: list[Path], tmp_path: Path
) -> None:
    session = virtual_session(scene_file(tmp_path, "def build(stage):\n    pass\n"))
    for number in range(1, 200):
        session.pass_to(number * 10_000_000)
    bridge.set_session(session)
    bridge.refresh_now()

    window.compare([*Source.of_session(bridge.session), Source.of_file(files[1])])
    window.finish()

    assert names(window)[0].endswith("(open)")
    assert "“after.csv” is slower than" in window.verdict.text()


def test_that_comparing_can_be_cancelled(window: ComparisonWindow, files: list[Path]) -> None:
    window.compare(map(Source.of_file, files))
    assert not window.cancel_button.isHidden()

    window.cancel_button.click()

    assert window.problem.text() == "The comparison was cancelled."
    assert window.cancel_button.isHidden()
    assert window.verdict.text() == ""


def test_that_plots_can_be_stacked_and_counted_by_frames(
    window: ComparisonWindow, files: list[Path]
) -> None:
    compare(window, *files)

    window.stack_buttons.button(1).click()
    window.axis_buttons.button(1).click()
    window.kind_buttons.button(2).click()

    assert len(window.plot.plots) == 3
    assert window.plot.plots[2].getViewBox().viewRange()[0] == pytest.approx([0, 400])
    chart = window.distribution.chart()
    assert chart is not None
    assert chart.kind is ChartKind.L_SHAPE


def test_that_a_report_has_everything_in_one_file(
    window: ComparisonWindow, files: list[Path], tmp_path: Path
) -> None:
    compare(window, *files[:2])

    window.save_report(tmp_path / "comparison.html")

    page = (tmp_path / "comparison.html").read_text()
    assert page.count("<svg") == 4
    assert "“after.csv” is slower than “before.csv”" in page
    assert "<td>CapFrameX 1% low integral (as MSI Afterburner)</td>" in page
    assert window.problem.text().startswith("Written: ")


@pytest.mark.parametrize("part", ["plot", "distribution"])
def test_that_plots_are_copied_as_image_and_table(
    window: ComparisonWindow, files: list[Path], part: str
) -> None:
    compare(window, *files[:2])
    view = getattr(window, part)

    image, table = view.copying
    image.trigger()
    assert QGuiApplication.clipboard().image().width() == 2 * view.width()
    table.trigger()
    assert "before.csv" in QGuiApplication.clipboard().text().splitlines()[0]


def test_that_different_lengths_are_aligned_at_the_beginning(
    window: ComparisonWindow, tmp_path: Path
) -> None:
    times = np.full(100, 10.0).tolist()
    compare(
        window,
        capture(tmp_path / "a.csv", times),
        capture(tmp_path / "b.csv", times[:40]),
    )

    rows = window.plot.rows()

    assert len(rows) == 101
    assert rows[50][1:] == ("10.000000", "")
