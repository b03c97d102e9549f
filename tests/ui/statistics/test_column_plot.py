"""The columns of a capture below its frames: chosen, drawn without loss, read off."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.analysis.statistics.metrics import MetricValue
from inspector.formats.arrangement.frame_series import XAxis
from inspector.formats.options import curve_stroke
from ui.kit.theme import Theme
from ui.plotting.shared_view import SharedView
from ui.session.bridge import SessionBridge
from ui.statistics.column_plot import CaptureColumns, reduced
from ui.statistics.frame_distribution import FrameDistribution
from ui.statistics.metric_table import tool_tip_of

AREA = QRectF(60, 0, 400, 100)


def write(path: Path, count: int = 50) -> Path:
    head = "Application,MsBetweenPresents,MsGPUBusy,GPU Power(W),GPU Util(%)\n"
    rows = (
        f"a.exe,10,{8 + number % 3},{200 if number < 25 else 100},{'NA' if number == 7 else 90}\n"
        for number in range(count)
    )
    path.write_text(head + "".join(rows))
    return path


@pytest.fixture
def columns(qtbot: QtBot, bridge: SessionBridge, theme: Theme, tmp_path: Path) -> CaptureColumns:
    bridge.open_capture(write(tmp_path / "run.csv"))
    view = SharedView.of(bridge)
    view.set_timeline(bridge.timeline)
    shown = CaptureColumns(bridge, theme, lambda: AREA)
    qtbot.addWidget(shown)
    shown.resize(480, 320)
    shown.show()
    qtbot.waitExposed(shown)
    return shown


def choose(columns: CaptureColumns, *names: str) -> None:
    for name in names:
        columns.choose(name, is_shown=True)
    columns.finish()


def listed(columns: CaptureColumns) -> list[str]:
    columns.menu.aboutToShow.emit()
    return [each.text() for each in columns.menu.actions() if each.data()]


def test_that_columns_are_offered_with_their_units(columns: CaptureColumns) -> None:
    assert listed(columns) == [
        "Frame time  (ms)",
        "MsGPUBusy  (ms)",
        "GPU Power(W)  (W)",
        "GPU Util(%)  (%)",
    ]
    assert columns.plots == []


def test_that_columns_of_a_unit_share_a_plot(columns: CaptureColumns) -> None:
    choose(columns, "GPU Power(W)", "MsGPUBusy", "Frame time")

    names = [[each.quantity.name for each in plot.columns] for plot in columns.plots]
    assert names == [["Frame time", "MsGPUBusy"], ["GPU Power(W)"]]


def test_that_two_units_share_a_plot_when_asked(columns: CaptureColumns) -> None:
    choose(columns, "Frame time", "GPU Power(W)")
    assert len(columns.plots) == 2

    columns.overlay_action.trigger()

    (plot,) = columns.plots
    assert [each.quantity.unit for each in plot.columns] == ["ms", "W"]
    QApplication.processEvents()
    assert plot.grab().toImage().width() == 480
    choose(columns, "GPU Util(%)")
    assert len(columns.plots) == 3


def test_that_means_say_that_they_are_weighted_by_time(columns: CaptureColumns) -> None:
    choose(columns, "MsGPUBusy", "GPU Power(W)")

    assert columns.plots[0].texts() == ["MsGPUBusy  mean 8.98 ms"]
    # 50 frames in 0.5 s, of 75 J.
    assert columns.plots[1].texts() == ["GPU Power(W)  mean 150 W, by time, 0.667 frames per joule"]


def test_that_a_frame_is_read_off_in_all_plots(
    columns: CaptureColumns, bridge: SessionBridge
) -> None:
    choose(columns, "GPU Util(%)", "GPU Power(W)")
    view = SharedView.of(bridge)

    view.point_at(0.305)

    assert columns.plots[0].texts() == ["GPU Power(W)  100 W"]
    assert columns.plots[1].texts() == ["GPU Util(%)  90 %"]
    view.point_at(0.075)
    assert columns.plots[1].texts() == ["GPU Util(%)  no value"]


def test_that_a_change_is_drawn_where_its_frame_is(
    columns: CaptureColumns, bridge: SessionBridge, theme: Theme
) -> None:
    choose(columns, "GPU Power(W)")
    (plot,) = columns.plots
    QApplication.processEvents()
    SharedView.of(bridge).fit()

    image = plot.grab().toImage()

    area = plot.area()
    color = QColor(curve_stroke(0, theme.name, 1.0).color)

    def highest(x: int) -> int:
        rows = range(int(area.top()), int(area.bottom()))
        return next(y for y in rows if image.pixelColor(x, y) == color)

    assert highest(60 + 100) < area.center().y() < highest(60 + 300)


def test_that_the_choice_is_kept_for_other_captures(
    columns: CaptureColumns, bridge: SessionBridge, tmp_path: Path
) -> None:
    choose(columns, "GPU Power(W)")
    plain = tmp_path / "plain.csv"
    plain.write_text("Application,MsBetweenPresents\n" + "a.exe,10\n" * 20)

    bridge.open_capture(plain)
    assert columns.plots == []
    assert not columns.has_choice
    bridge.open_capture(write(tmp_path / "other.csv"))
    columns.finish()

    assert [each.quantity.name for each in columns.plots[0].columns] == ["GPU Power(W)"]
    columns.choose("GPU Power(W)", is_shown=False)
    assert columns.plots == []


def test_that_a_file_that_has_changed_is_said_to_have(
    columns: CaptureColumns, tmp_path: Path
) -> None:
    write(tmp_path / "run.csv", count=20)

    choose(columns, "GPU Power(W)")

    assert "has changed since it was opened" in columns.problem.text()
    assert columns.has_content


def test_that_no_spike_is_lost_where_values_share_a_pixel() -> None:
    values = np.full(10_000, 5.0)
    values[4_321], values[8_765], values[2_000:2_200] = 99.0, 1.0, np.nan

    xs, ys = reduced(np.arange(10_001) / 10_000, values, 0.0, 1.0, 100)

    assert np.nanmax(ys) == 99.0
    assert xs[int(np.nanargmax(ys))] == pytest.approx(43.5)
    assert np.nanmin(ys) == 1.0
    # A gap as wide as where there are no numbers, and nowhere else.
    assert np.unique(np.floor(xs[np.isnan(ys)])).tolist() == [20, 21]


def test_that_few_values_are_drawn_as_steps() -> None:
    xs, ys = reduced(np.array([0.0, 0.25, 1.0]), np.array([1.0, 2.0]), 0.0, 1.0, 100)

    assert xs.tolist() == [0, 25, 25, 100]
    assert ys.tolist() == [1, 1, 2, 2]


@pytest.mark.parametrize("axis", list(XAxis))
def test_that_edges_of_frames_are_where_they_start(
    columns: CaptureColumns, bridge: SessionBridge, axis: XAxis
) -> None:
    assert columns.has_choice
    series = SharedView.of(bridge).series
    assert series is not None
    series.x_axis = axis

    edges = series.edges(3, 9)

    assert edges == pytest.approx([series.start_of(frame) for frame in range(3, 10)])


def test_that_the_tool_tip_has_percentiles_by_class_of_frame_time(
    qtbot: QtBot, bridge: SessionBridge, theme: Theme, tmp_path: Path
) -> None:
    rows = (f"{100 if number % 50 == 49 else 10},{number % 50}" for number in range(500))
    path = tmp_path / "run.csv"
    path.write_text("\n".join(["MsBetweenPresents,MsGPUBusy", *rows]))
    bridge.open_capture(path)
    shown = CaptureColumns(bridge, theme, lambda: AREA)
    qtbot.addWidget(shown)

    choose(shown, "MsGPUBusy")

    whole, *classes = shown.plots[0].toolTip().splitlines()
    assert whole == "MsGPUBusy: mean 24.5 ms, P5 2, median 24.5, P95 47"
    assert classes == [
        "    frames up to P50: mean 24 ms, P5 2, median 24, P95 46",
        "    frames P95 to P99: mean 49 ms, P5 49, median 49, P95 49",
    ]


def test_that_damaged_values_are_told_beside_the_column_and_what_is_made_of_it(
    qtbot: QtBot, bridge: SessionBridge, theme: Theme, tmp_path: Path
) -> None:
    path = write(tmp_path / "run.csv")
    lines = path.read_text().splitlines()
    lines[6] = lines[6].replace(",10,10,", ",10,oops,")
    path.write_text("\n".join(lines))
    bridge.open_capture(path)
    shown = CaptureColumns(bridge, theme, lambda: AREA)
    qtbot.addWidget(shown)
    frames = FrameDistribution(bridge, theme)
    qtbot.addWidget(frames)
    found: list[MetricValue] = []
    frames.metrics_found.connect(found.extend)

    choose(shown, "MsGPUBusy")
    frames.finish()

    damage = "MsGPUBusy: 1 value is damaged and was left out; the first is in line 7: “oops”."
    assert damage in shown.plots[0].toolTip()
    assert shown.plots[0].texts()[0].endswith(", damaged values left out")
    (average,) = (each for each in found if each.metric.id == "capframex.gpu-average")
    assert average.value is not None
    assert damage in tool_tip_of(average)
    (p99,) = (each for each in found if each.metric.id == "p99")
    assert p99.damage == ""
