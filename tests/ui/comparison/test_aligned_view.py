"""The aligned plots of a comparison: zoomed, moved, read off and copied."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtCore import QCoreApplication, QPoint, QPointF, Qt
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QCursor,
    QGuiApplication,
    QTextFormat,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from inspector.analysis.statistics.runs import ComparedRun
from inspector.formats.options import curve_stroke
from inspector.timebase import NS_PER_MS, format_instant
from ui.comparison.aligned_view import AlignedView
from ui.kit.theme import ColorRole, Theme

MS = NS_PER_MS


def run(name: str, *times_ms: float) -> ComparedRun:
    return ComparedRun(name, (np.array(times_ms) * MS).astype(np.int64))


@pytest.fixture(autouse=True)
def _every_move(qapp: QCoreApplication) -> Iterator[None]:
    """Have every move of the pointer seen: from elsewhere, not one every ten milliseconds."""
    assert qapp is not None
    QCursor.setPos(9_999, 9_999)
    former = pg.getConfigOption("mouseRateLimit")
    pg.setConfigOption("mouseRateLimit", 0)
    yield
    pg.setConfigOption("mouseRateLimit", former)


@pytest.fixture
def view(qtbot: QtBot, theme: Theme) -> AlignedView:
    view = AlignedView(theme)
    qtbot.addWidget(view)
    view.resize(1_000, 300)
    view.show()
    qtbot.waitExposed(view)
    view.set_runs(
        [run("before", *[10.0] * 100), run("after", *[20.0] * 40)], [16.667], empty_text="Nothing"
    )
    QApplication.processEvents()
    return view


def arrange(view: AlignedView, *, is_stacked: bool, by_frame: bool) -> None:
    view.stack_action.setChecked(is_stacked)
    view.frame_action.setChecked(by_frame)


def shown(view: AlignedView, place: int = 0) -> tuple[float, float]:
    """Return what a plot has in view, of its horizontal axis."""
    low, high = view.plots[place].getViewBox().viewRange()[0]
    return low, high


def pixel(view: AlignedView, x: float, y: float = 5.0) -> QPoint:
    """Return where a place of the first plot is, in the viewport."""
    box = view.plots[0].getViewBox()
    place: QPointF = box.mapViewToScene(QPointF(x, y))
    return view.graphics.mapFromScene(place)  # type: ignore[no-any-return]


def turn_wheel(view: AlignedView, at: QPoint, notches: int) -> None:
    viewport = view.graphics.viewport()
    event = QWheelEvent(
        QPointF(at),
        QPointF(viewport.mapToGlobal(at)),
        QPoint(),
        QPoint(0, 120 * notches),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(viewport, event)


def test_that_all_frames_are_shown_first(view: AlignedView) -> None:
    assert shown(view) == (0, 1)
    assert view.accessibleName() == "Frame times of what is compared"
    assert view.accessibleDescription() == "before: 100 frames, after: 40 frames"


def test_that_usual_frames_are_in_the_middle_whatever_a_few_take(view: AlignedView) -> None:
    view.set_runs([run("fast", *[7.0] * 990, *[60.0] * 9), run("other", *[8.0] * 500)], [16.667])

    _low, high = view.plots[0].getViewBox().viewRange()[1]

    assert high == pytest.approx(16)


def test_that_the_wheel_zooms_time_alone_at_the_pointer(view: AlignedView) -> None:
    durations = view.plots[0].getViewBox().viewRange()[1]

    turn_wheel(view, pixel(view, 0.5), 3)

    low, high = shown(view)
    assert high - low < 0.9
    assert (low + high) / 2 == pytest.approx(0.5, abs=0.01)
    assert view.plots[0].getViewBox().viewRange()[1] == durations


def test_that_the_wheel_over_the_left_axis_scales_durations_alone(view: AlignedView) -> None:
    turn_wheel(view, QPoint(20, pixel(view, 0.5).y()), 3)

    assert shown(view) == (0, 1)
    low, high = view.plots[0].getViewBox().viewRange()[1]
    assert high - low < 22


def test_that_dragging_moves_and_ends_at_the_data(view: AlignedView, qtbot: QtBot) -> None:
    view.zoom(0.5)
    box = view.plots[0].getViewBox()
    viewport = view.graphics.viewport()
    start, end = pixel(view, 0.6), pixel(view, 0.5)

    qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=start)
    for share in (0.3, 0.6, 1.0):
        qtbot.mouseMove(
            viewport, QPoint(round(start.x() + (end.x() - start.x()) * share), start.y())
        )
    qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=end)
    assert shown(view) == pytest.approx((0.35, 0.85), abs=0.01)

    view.pan(10)
    assert shown(view) == pytest.approx((0.5, 1))
    assert box.viewRange()[1][0] == 0


def test_that_keys_zoom_move_and_fit(view: AlignedView, qtbot: QtBot) -> None:
    qtbot.keyClick(view, Qt.Key.Key_W)
    assert shown(view) == pytest.approx((1 / 6, 5 / 6))
    qtbot.keyClick(view, Qt.Key.Key_A)
    assert shown(view) == pytest.approx((1 / 15, 11 / 15))
    qtbot.keyClick(view, Qt.Key.Key_End)
    assert shown(view) == pytest.approx((1 / 3, 1))

    for key in (Qt.Key.Key_F, Qt.Key.Key_Home):
        qtbot.keyClick(view, key)
        assert shown(view) == (0, 1)
        view.zoom(0.5)


def test_that_stacked_plots_move_together_and_are_below_each_other(view: AlignedView) -> None:
    arrange(view, is_stacked=True, by_frame=True)
    QApplication.processEvents()
    first, second = (plot.getViewBox() for plot in view.plots)

    second.setXRange(20, 60, padding=0)

    assert shown(view, 0) == pytest.approx((20, 60), abs=0.1)
    assert shown(view, 1) == pytest.approx((20, 60), abs=0.1)
    assert first.viewRange()[1] == second.viewRange()[1]
    edges = [each.sceneBoundingRect() for each in (first, second)]
    assert edges[0].left() == edges[1].left()
    assert edges[0].width() == pytest.approx(edges[1].width())


def test_that_the_pointer_reads_every_run_by_time(view: AlignedView, qtbot: QtBot) -> None:
    with qtbot.waitSignal(view.frames_read) as read:
        qtbot.mouseMove(view.graphics.viewport(), pixel(view, 0.5055))
    assert read.args is not None
    head, *runs = read.args[0].split(" · ")
    assert head.startswith("0:00.50")
    assert runs == ["before 10.0 ms (frame 50)", "after 20.0 ms (frame 25)"]

    with qtbot.waitSignal(view.frames_read) as left:
        qtbot.mouseMove(view.graphics.viewport(), QPoint(10, 10))
    assert left.args == [""]


def test_that_the_pointer_reads_every_run_by_frame(view: AlignedView, qtbot: QtBot) -> None:
    arrange(view, is_stacked=False, by_frame=True)
    QApplication.processEvents()

    texts: list[str] = []
    view.frames_read.connect(texts.append)
    for frame in (30.5, 70.5):
        qtbot.mouseMove(view.graphics.viewport(), pixel(view, frame))

    assert texts == [
        "frame 30 · before 10.0 ms at 0:00.300 · after 20.0 ms at 0:00.600",
        "frame 70 · before 10.0 ms at 0:00.700",
    ]


def test_that_the_longest_frame_of_a_column_is_read(view: AlignedView, qtbot: QtBot) -> None:
    times = np.full(100_000, 10 * MS)
    times[50_003] = 90 * MS
    view.set_runs([ComparedRun("long", times)], [])
    arrange(view, is_stacked=False, by_frame=True)
    QApplication.processEvents()
    texts: list[str] = []
    view.frames_read.connect(texts.append)

    place = pixel(view, 50_003)
    for x in range(-2, 3):
        qtbot.mouseMove(view.graphics.viewport(), place + QPoint(x, 0))

    assert any("long 90.0 ms at 8:20.030" in text for text in texts)
    assert texts[0].startswith("longest of frames ")


@pytest.mark.parametrize("width", [300, 1_000, 1_700])
def test_that_no_long_frame_is_lost_by_zooming_out(view: AlignedView, width: int) -> None:
    runs = []
    for place in (0, 1, 12_345, 39_998, 39_999):
        times = np.full(40_000, 10 * MS)
        times[place] = 90 * MS
        runs += [ComparedRun(f"{place}", times), ComparedRun("longer", np.tile(times, 3))]

    view.resize(width, 300)
    view.set_runs(runs, [])
    QApplication.processEvents()

    for run, curve in zip(runs, view.plots[0].curves, strict=True):
        starts, durations = curve.getData()
        assert durations.max() == 90, run.name
        assert len(starts) < 10_000


def test_that_many_frames_are_drawn_from_a_few_thousand_points(view: AlignedView) -> None:
    times = np.random.default_rng(1).integers(5 * MS, 30 * MS, 100_000)
    view.set_runs([ComparedRun("a", times), ComparedRun("b", times[::-1])], [])

    for factor in (1.0, 0.5, 0.1, 0.01):
        view.fit()
        view.zoom(factor)
        view.pan(0.05)
        QApplication.processEvents()
        assert all(len(curve.getData()[0]) < 5_000 for curve in view.plots[0].curves)


def test_that_other_budgets_and_arrangements_keep_what_is_in_view(view: AlignedView) -> None:
    view.zoom(0.5)

    arrange(view, is_stacked=True, by_frame=False)
    assert shown(view) == pytest.approx((0.25, 0.75))
    view.set_runs(view._runs, [8.333])
    assert shown(view) == pytest.approx((0.25, 0.75))
    arrange(view, is_stacked=True, by_frame=True)
    assert shown(view) == (0, 100)


def test_that_another_theme_changes_colours_and_keeps_what_is_in_view(
    view: AlignedView, theme: Theme
) -> None:
    view.zoom(0.5)

    theme.set_choice("dark")

    assert shown(view) == pytest.approx((0.25, 0.75))
    assert view.graphics.backgroundBrush().color() == theme.color(ColorRole.BG)
    colors = [curve.opts["pen"].color() for curve in view.plots[0].curves]
    assert colors == [QColor(curve_stroke(number, "dark", 1.0).color) for number in (0, 1)]
    assert view.plots[0].getAxis("left").textPen().color() == theme.color(ColorRole.MUTED)


def test_that_keys_copy_image_and_table(view: AlignedView, qtbot: QtBot) -> None:
    view.setFocus()

    qtbot.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    image = QGuiApplication.clipboard().image()
    assert image.width() == 2 * view.width()
    column = {image.pixelColor(image.width() // 3, y).name() for y in range(image.height())}
    assert curve_stroke(0, "light", 1.0).color.lower() in column

    modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(view, Qt.Key.Key_C, modifiers)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0] == "frame\tbefore (ms)\tafter (ms)"
    assert lines[41:43] == ["40\t10.000000\t", "41\t10.000000\t"]


def test_that_the_menu_fits_and_copies(view: AlignedView) -> None:
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(5, 5), QPoint(5, 5))
    QApplication.sendEvent(view, event)

    (menu,) = view.findChildren(QMenu)
    texts = [action.text() for action in menu.actions() if action.text()]
    choices = ["Each in a plot of its own", "Frames along the axis"]
    assert texts == ["Fit", *choices, "Copy as image", "Copy as table"]
    menu.close()


def test_that_names_are_shown_as_they_are(view: AlignedView) -> None:
    view.set_runs([run("<b>a</b>\nb", 10, 11), run("x" * 200, 10, 11)], [])
    arrange(view, is_stacked=True, by_frame=False)

    first, second = (plot.titleLabel for plot in view.plots)
    assert first.item.toPlainText().startswith("━━ <b>a</b> b")
    assert second.item.toPlainText().endswith("x" * 49 + "…")
    assert first.isVisible()


@pytest.mark.parametrize("times", [[12.5], [1e-6], [1e6], [10, 10], [1e-6, 1e6]])
@pytest.mark.parametrize("by_frame", [False, True])
def test_that_few_and_absurd_frames_are_drawn(
    view: AlignedView, times: list[float], *, by_frame: bool
) -> None:
    arrange(view, is_stacked=False, by_frame=by_frame)
    view.set_runs([run("odd", *times)], [16.667, 16.6, 8.333])
    for move in (view.fit, view.go_live, lambda: view.zoom(0.001), lambda: view.pan(-3)):
        move()
        QApplication.processEvents()

    low, high = shown(view)
    assert 0 <= low < high


def test_that_an_empty_comparison_says_so(view: AlignedView, qtbot: QtBot) -> None:
    view.set_runs([], [], empty_text="Nothing to compare.")
    for key in (Qt.Key.Key_W, Qt.Key.Key_D, Qt.Key.Key_F, Qt.Key.Key_End):
        qtbot.keyClick(view, key)
    qtbot.mouseMove(view.graphics.viewport(), QPoint(300, 100))

    assert view.plots == []
    assert not view._notice.isHidden()
    assert view._notice.text() == "Nothing to compare."
    assert len(view.rows()) == 1


def test_that_labels_of_budgets_never_overlap(view: AlignedView) -> None:
    view.set_runs([run("a", 10, 20, 30)], [16.667, 16.5, 8.333])
    QApplication.processEvents()

    rates = view.plots[0].getAxis("right")._tickLevels[0]
    assert [text for _, text in rates] == ["60 fps", "120 fps"]
    lines = [item.value() for item in view.plots[0].items if hasattr(item, "value")]
    assert all(each in lines for each in (16.667, 16.5, 8.333))


def test_that_the_ruler_above_has_instants_as_everywhere(view: AlignedView) -> None:
    assert view.ruler.geometry().bottom() < view.graphics.geometry().top()
    view.set_runs([run("before", *[10.0] * 900), run("after", *[20.0] * 400)], [16.667])
    ticks = view.ruler.ticks
    assert [text for _, text in ticks][:2] == ["0:00", "0:02"]
    box = view.graphics.mapFromScene(view.plots[0].getViewBox().sceneBoundingRect())
    edges = box.boundingRect()
    assert all(edges.left() - 1 <= x <= edges.right() + 1 for x, _ in ticks)
    assert all(a < b for (a, _), (b, _) in pairwise(ticks))

    view.frame_action.toggle()

    assert [text for _, text in view.ruler.ticks][:2] == ["0", "200"]
    assert view.ruler.unit == "frame"


def test_that_the_highest_frame_time_has_the_unit(view: AlignedView) -> None:
    texts = [text for _, text in view.plots[0].getAxis("left")._tickLevels[0]]

    assert [text.endswith(" ms") for text in texts] == [False] * (len(texts) - 1) + [True]


def test_that_the_arrow_keys_read_frame_by_frame(view: AlignedView, qtbot: QtBot) -> None:
    texts: list[str] = []
    view.frames_read.connect(texts.append)

    qtbot.keyClick(view, Qt.Key.Key_Right)
    qtbot.keyClick(view, Qt.Key.Key_Right)
    qtbot.keyClick(view, Qt.Key.Key_Right)
    qtbot.keyClick(view, Qt.Key.Key_Left)

    # The runs last 1 s and 0.8 s: each frame of the longer one is several pixels.
    assert texts == [
        f"{format_instant(number * 10 * NS_PER_MS)} · before 10.0 ms (frame {number}) · "
        f"after 20.0 ms (frame {number // 2})"
        for number in (0, 1, 2, 1)
    ]
    assert view.accessibleName() == f"Frame times of what is compared: {texts[-1]}"
    assert all(pointer.isVisible() for pointer in view._pointers)

    qtbot.keyClick(view, Qt.Key.Key_Escape)
    assert texts[-1] == ""
    assert view.accessibleName() == "Frame times of what is compared"
    assert not any(pointer.isVisible() for pointer in view._pointers)


def test_that_keys_that_read_stay_within_the_frames_and_move_the_view(
    view: AlignedView, qtbot: QtBot
) -> None:
    arrange(view, is_stacked=False, by_frame=True)
    qtbot.keyClick(view, Qt.Key.Key_Left)
    assert "frame 99" in view.accessibleName()
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert "frame 99" in view.accessibleName()

    qtbot.keyClick(view, Qt.Key.Key_Escape)
    view.plots[0].setXRange(10, 20, padding=0)
    for _ in range(30):
        qtbot.keyClick(view, Qt.Key.Key_Right)

    assert "frame 39" in view.accessibleName()
    low, high = shown(view)
    assert low <= 39 <= high


def test_that_a_key_reads_the_longest_frame_of_the_pixels_it_moves_by(
    qtbot: QtBot, theme: Theme
) -> None:
    view = AlignedView(theme)
    qtbot.addWidget(view)
    view.resize(500, 300)
    view.show()
    qtbot.waitExposed(view)
    times = [10.0] * 100_000
    times[70] = 90.0
    view.set_runs([run("long", *times)], [16.667])
    arrange(view, is_stacked=False, by_frame=True)
    QApplication.processEvents()

    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert "longest of frames 0 to" in view.accessibleName()
    assert "90.0 ms" in view.accessibleName()
    for _ in range(3):
        qtbot.keyClick(view, Qt.Key.Key_Right)
    width = view.plots[0].getViewBox().viewPixelSize()[0]
    assert view._place == pytest.approx(3 * width, abs=4)


def test_that_titles_are_as_large_as_other_text(view: AlignedView) -> None:
    font = view.font()
    font.setPixelSize(23)

    view.setFont(font)
    arrange(view, is_stacked=True, by_frame=False)

    (title, *_) = (plot.titleLabel.item.document() for plot in view.plots)
    fragment = title.firstBlock().begin().fragment()
    assert fragment.charFormat().intProperty(QTextFormat.Property.FontPixelSize.value) == 23
