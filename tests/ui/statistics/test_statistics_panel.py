"""The statistics panel: distribution and metrics of a range, linked with the frame plot."""

from __future__ import annotations

from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.analysis.statistics.distribution import Distribution
from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.events.annotations import Annotation
from inspector.formats.distribution_chart import TEXT_PT
from inspector.testing import scene_file, virtual_session
from inspector.vocabulary import Share
from ui.frame_times.panel import FrameTimesPanel
from ui.kit.fonts import small_size
from ui.kit.theme import Theme
from ui.session.bridge import Selection, SessionBridge
from ui.statistics.metric_table import MetricColumn
from ui.statistics.panel import StatisticsPanel
from ui.statistics.scoped_times import ScopedTimes, Wanted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from inspector.events.frame_history import FrameHistory

MS = 1_000_000


class World:
    """A frame plot and the statistics beside it, over frames of 10 ms, every tenth of 40 ms."""

    def __init__(self, qtbot: QtBot, bridge: SessionBridge, theme: Theme, folder: Path) -> None:
        self.bridge = bridge
        self.frame_times = FrameTimesPanel(bridge, theme)
        self.panel = StatisticsPanel(bridge, theme)
        for each in (self.frame_times, self.panel):
            qtbot.addWidget(each)
            each.resize(1100, 320)
            each.show()
            qtbot.waitExposed(each)
        self.session = virtual_session(scene_file(folder, "def build(stage):\n    pass\n"))
        self._at_ns = 0
        self._count = 0

    def pass_frames(self, count: int) -> None:
        for _ in range(count):
            self._at_ns += 10 * MS if self._count % 10 else 40 * MS
            self._count += 1
            self.session.pass_to(self._at_ns)
        self.bridge.set_session(self.session)
        self.look()

    def look(self) -> None:
        self.bridge.refresh_now()
        self.frame_times.refresh()
        self.panel.frames.refresh()
        self.panel.frames.finish()

    def value_of(self, name: str) -> str:
        row = next(each for each in self.panel.table.model.rows if each.metric.id == name)
        return row.text

    def choose_times(self, qtbot: QtBot, time_ns: int) -> None:
        """Click the bin that a frame time is in."""
        chart = self.panel.frames.view.chart()
        assert chart is not None
        number = next(n for n in range(chart.count) if time_ns < chart.band_ns(n, n)[1])
        place = self.panel.frames.view.place_of(number)
        qtbot.mouseClick(self.panel.frames.view, Qt.MouseButton.LeftButton, pos=place.toPoint())


@pytest.fixture
def world(qtbot: QtBot, bridge: SessionBridge, theme: Theme, tmp_path: Path) -> World:
    return World(qtbot, bridge, theme, tmp_path)


def test_that_letters_in_a_diagram_are_as_large_as_small_ones_elsewhere(
    world: World,
) -> None:
    view = world.panel.frames.view

    assert view.scale * TEXT_PT == pytest.approx(small_size(view.fontInfo().pixelSize()))


def test_that_without_frames_it_says_so(world: World) -> None:
    assert world.panel.table.model.rows == []
    assert world.panel.table.notice.text() == "There are no frames."
    assert world.panel.frames.view.chart() is None


def test_that_every_tool_has_its_own_rows(world: World) -> None:
    world.pass_frames(100)

    assert world.panel.frames.what.text().startswith("All: 100 frames (0–99), interval; ")
    rows = world.panel.table.model.rows
    tools = {MetricColumn.TOOL.spec.text(row) for row in rows}
    assert {"Timeline Inspector", "PresentMon", "CapFrameX", "MangoHud"} <= tools
    assert world.value_of("fps") == "76.9 fps"
    row = next(each for each in rows if each.metric.id == "frameview.low-1")
    assert MetricColumn.FORMULA.spec.text(row) == "1000 / mean of the ⌊0.01 n⌋ + 1 longest f"
    detail = MetricColumn.VALUE.spec.detail
    assert detail is not None
    assert "Source: recomputed from FrameView's logs" in (detail(row) or "")


def test_that_no_numbers_of_the_session_before_stand_beside_another(
    world: World, tmp_path: Path
) -> None:
    world.pass_frames(100)
    assert world.value_of("fps")
    world.bridge.set_session(
        other := virtual_session(scene_file(tmp_path, "def build(stage):\n    pass\n"))
    )
    assert world.panel.table.model.rows == []

    # Those of the other come at once, however long the last ones took.
    world.session = other
    for frame in range(1, 21):
        other.pass_to(frame * 20 * MS)
    world.bridge.refresh_now()
    world.panel.frames.refresh()
    assert world.panel.frames._metrics._background.is_running
    world.panel.frames.finish()
    assert world.value_of("fps") == "50.0 fps"


def test_that_without_a_budget_nothing_is_held_against_one(world: World) -> None:
    world.pass_frames(100)
    world.bridge.set_budgets_ms(())
    world.bridge.frame_focus.without_inspector = True
    world.look()

    assert world.panel.frames.what.text() == "All: 100 frames (0–99), interval"
    assert world.value_of("fps") == "76.9 fps"
    assert all(
        row.value is None for row in world.panel.table.model.rows if row.metric.needs_refresh
    )
    world.bridge.set_budgets_ms((18.27,))
    world.look()
    assert world.panel.frames.what.text().endswith("hitches and jank against 54.7 fps")


def test_that_the_formula_of_the_marked_row_is_whole_below_the_table(world: World) -> None:
    world.pass_frames(100)
    table = world.panel.table
    assert table.detail.isHidden()

    row = next(n for n, row in enumerate(table.model.rows) if row.metric.id == "frameview.low-1")
    table.view.setCurrentIndex(table.model.index(row, MetricColumn.NAME))

    assert table.detail.text() == "1% Low FPS: 1000 / mean of the ⌊0.01 n⌋ + 1 longest f"
    assert not table.detail.isHidden()


def test_that_a_range_chosen_in_the_plot_restricts_the_distribution(world: World) -> None:
    world.pass_frames(100)
    world.frame_times.plot.view.choose_frames((1, 10))
    world.look()

    assert world.panel.frames.what.text().startswith("Selected: 9 frames (1–9)")
    assert world.value_of("max") == "10.0 ms"
    chart = world.panel.frames.view.chart()
    assert chart is not None
    assert len(chart.curves[0].times) == 9


def test_that_a_named_range_can_be_chosen(world: World) -> None:
    world.pass_frames(100)
    at_ns = world.bridge.timeline.frames.frame(10).at_ns
    world.bridge.annotations.add(Annotation("range", at_ns, at_ns + 50 * MS, "start"))

    box = world.panel.frames.scope_box
    assert [box.itemText(n) for n in range(box.count())][-1] == "Range “start”"
    box.setCurrentIndex(box.count() - 1)
    world.look()

    assert world.panel.frames.what.text().startswith("“start”: 5 frames (11–15)")


def test_that_chosen_bins_mark_their_frames_in_the_plot(qtbot: QtBot, world: World) -> None:
    world.pass_frames(100)

    world.choose_times(qtbot, 40 * MS)

    marked = world.bridge.frame_focus.marked
    assert marked is not None
    assert marked.tolist() == list(range(0, 100, 10))
    overlay = world.frame_times.plot._overlay
    assert overlay.marked is marked
    assert world.panel.frames.readout.text().endswith("10 frames are marked in the plot")


def test_that_new_frames_of_chosen_times_are_marked_as_they_come(
    qtbot: QtBot, world: World
) -> None:
    world.pass_frames(100)
    world.choose_times(qtbot, 40 * MS)

    world.pass_frames(20)

    marked = world.bridge.frame_focus.marked
    assert marked is not None
    assert marked.tolist() == list(range(0, 120, 10))


def test_that_the_marked_frames_are_gone_through_one_by_one(qtbot: QtBot, world: World) -> None:
    world.pass_frames(100)
    world.choose_times(qtbot, 40 * MS)
    world.bridge.select(Selection.frame(35))

    world.panel.frames.next_button.click()
    assert world.bridge.selection == Selection.frame(40)
    world.panel.frames.former_button.click()
    world.panel.frames.former_button.click()
    assert world.bridge.selection == Selection.frame(20)


def test_that_escape_and_hiding_give_the_choice_up(qtbot: QtBot, world: World) -> None:
    world.pass_frames(100)
    for give_up in (
        lambda: qtbot.keyClick(world.panel.frames.view, Qt.Key.Key_Escape),
        world.panel.hide,
    ):
        world.panel.show()
        world.choose_times(qtbot, 40 * MS)
        assert world.bridge.frame_focus.marked is not None

        give_up()

        assert world.bridge.frame_focus.marked is None


def test_that_keys_move_from_bin_to_bin_and_choose_several(qtbot: QtBot, world: World) -> None:
    world.pass_frames(100)
    world.choose_times(qtbot, 10 * MS)
    view = world.panel.frames.view
    (low_ns, high_ns) = view._band_ns or (0, 0)

    qtbot.keyClick(view, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert view._band_ns == (low_ns, 2 * high_ns - low_ns)
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert view._band_ns == (2 * high_ns - low_ns, 3 * high_ns - 2 * low_ns)


def test_that_pointing_reads_a_bin(world: World) -> None:
    world.pass_frames(100)
    chart = world.panel.frames.view.chart()
    assert chart is not None
    number = next(n for n in range(chart.count) if chart.band_ns(n, n)[1] > 10 * MS)

    place, view, none = (
        world.panel.frames.view.place_of(number),
        world.panel.frames.view,
        Qt.MouseButton.NoButton,
    )
    move = QMouseEvent(
        *(QEvent.Type.MouseMove, place, view.mapToGlobal(place)),
        *(none, none, Qt.KeyboardModifier.NoModifier),
    )
    QApplication.sendEvent(view, move)

    assert "90 frames (90.000%)" in world.panel.frames.readout.text()


def test_that_only_new_frames_are_read_while_a_session_runs(
    monkeypatch: pytest.MonkeyPatch, world: World
) -> None:
    world.pass_frames(200)
    history = world.bridge.timeline.frames
    read: list[int] = []
    numpy = type(history).numpy

    def noting(self: object, column: str, start: int, stop: int) -> object:
        read.append(stop - start)
        return numpy(self, column, start, stop)  # type: ignore[arg-type]

    times = ScopedTimes()
    times.set_wanted(Wanted(history, "interval", range(150)))
    monkeypatch.setattr(type(history), "numpy", noting)
    times.set_wanted(Wanted(history, "interval", range(160)))
    times.set_wanted(Wanted(history, "interval", range(160)))

    assert read == [10]
    assert len(times.distribution) == 160
    everything = numpy(history, "interval_ns", 0, 160)
    assert np.array_equal(np.sort(everything), times.distribution.of_ranks(range(160)))


def test_that_frames_that_only_the_inspector_made_late_can_be_left_out(world: World) -> None:
    world.pass_frames(20)
    history = world.bridge.timeline.frames
    budget = FrameBudget.of_ms(1000 / 60)
    shares = np.zeros(20, dtype=np.int64)
    shares[10] = 35 * MS
    numpy = type(history).numpy

    class Sharing:
        """The history, with the share that the inspector had of one frame."""

        def numpy(self, column: str | Share, start: int, stop: int) -> NDArray[np.int64]:
            if column is Share.INSPECTOR:
                return shares[start:stop]
            return numpy(history, column, start, stop)

    times = ScopedTimes()
    times.choose((30 * MS, 50 * MS))
    wanted = Wanted(cast("FrameHistory", Sharing()), "interval", range(20), budget)
    times.set_wanted(wanted)

    assert times.left_out == 1
    assert times.marked is not None
    assert times.marked.tolist() == [0]
    world.frame_times._budget_menu.left_out_action.trigger()
    world.look()
    assert world.panel.frames._times.wanted is not None
    assert world.panel.frames._times.wanted.budget == budget


def test_that_the_chart_is_copied_as_image_and_as_table(world: World) -> None:
    world.pass_frames(100)
    clipboard = QGuiApplication.clipboard()
    view = world.panel.frames.view
    view.setFocus()
    image, table = view.copying

    image.trigger()
    assert clipboard.image().width() == 2 * view.width()
    table.trigger()
    assert clipboard.text().splitlines()[0] == "from (ms)\tto (ms)\tframes"
    world.frame_times._copying[1].trigger()
    assert clipboard.text().splitlines()[0] == "frame\tat (s)\tinterval (ms)"


def test_that_many_frames_are_sorted_beside_the_thread_of_the_window(
    monkeypatch: pytest.MonkeyPatch, world: World
) -> None:
    monkeypatch.setattr("ui.statistics.frame_distribution._MOST_AT_ONCE", 50)
    threads: list[bool] = []

    class Noting(Distribution):
        def extend(self, values: ArrayLike) -> None:
            threads.append(current_thread() is main_thread() and len(np.asarray(values)) > 50)
            super().extend(values)

    monkeypatch.setattr("ui.statistics.frame_distribution.Distribution", Noting)

    world.pass_frames(100)
    world.pass_frames(10)

    assert not any(threads)
    assert world.panel.frames.what.text().startswith("All: 110 frames (0–109)")
    chart = world.panel.frames.view.chart()
    assert chart is not None
    assert len(chart.curves[0].times) == 110
    assert isinstance(chart.curves[0].times, Noting)


def test_that_stutter_limits_are_set_and_kept(
    qtbot: QtBot, world: World, bridge: SessionBridge, theme: Theme
) -> None:
    world.pass_frames(200)
    assert world.value_of("capframex.stutters") == "10.0 %"
    assert world.value_of("capframex.low-fps") == "0.00 %"

    world.panel.table.factor_box.setValue(4.5)
    world.panel.table.rate_box.setValue(50)
    world.look()

    assert world.value_of("capframex.stutters") == "0.00 %"
    assert world.value_of("capframex.low-fps") != "0.00 %"
    again = StatisticsPanel(bridge, theme)
    qtbot.addWidget(again)
    assert (again.table.factor_box.value(), again.table.rate_box.value()) == (4.5, 50)


def test_that_outliers_are_left_out_only_when_asked_and_named(world: World) -> None:
    world.pass_frames(200)
    assert world.value_of("max") == "40.0 ms"
    assert "outlier" not in world.panel.frames.what.text()

    world.panel.table.outlier_box.setChecked(True)
    world.look()

    assert world.value_of("max") == "10.0 ms"
    assert "outliers are left out, from 40 ms on" in world.panel.frames.what.text()
    assert "Frames " in world.panel.frames.what.toolTip()
    world.panel.table.outlier_box.setChecked(False)
    world.look()
    assert world.value_of("max") == "40.0 ms"
    assert "outlier" not in world.panel.frames.what.text()
