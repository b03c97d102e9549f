"""The window with statistics by tool: of the frames in view or selected, with their formulas."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from inspector.testing import scene_file, virtual_session
from ui.frame_times.panel import FrameTimesPanel
from ui.frame_times.statistics_window import MetricColumn, StatisticsWindow
from ui.kit.theme import Theme
from ui.session.bridge import SessionBridge


@pytest.fixture
def panel(qtbot: QtBot, bridge: SessionBridge, theme: Theme) -> FrameTimesPanel:
    panel = FrameTimesPanel(bridge, theme)
    qtbot.addWidget(panel)
    panel.resize(900, 400)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


def show_frames(panel: FrameTimesPanel, bridge: SessionBridge, folder: Path, count: int) -> None:
    """Show frames of 10 ms, every tenth of 40 ms."""
    session = virtual_session(scene_file(folder, "def build(stage):\n    pass\n"))
    at_ns = 0
    for number in range(count):
        at_ns += 10_000_000 if number % 10 else 40_000_000
        session.pass_to(at_ns)
    bridge.set_session(session)
    bridge.refresh_now()
    panel.refresh()
    panel.plot.fit()


def value_of(window: StatisticsWindow, name: str) -> str:
    row = next(each for each in window.panel.model.rows if each.metric.id == name)
    return row.text


def test_that_without_frames_it_says_so(panel: FrameTimesPanel) -> None:
    window = panel.show_statistics()

    assert window.panel.model.rows == []
    assert window.panel.notice.text() == "No frames are in view."
    window.close()


def test_that_every_tool_has_its_own_rows(
    panel: FrameTimesPanel, bridge: SessionBridge, tmp_path: Path
) -> None:
    show_frames(panel, bridge, tmp_path, 100)

    window = panel.show_statistics()

    assert window.panel.what.text().startswith("In view: 100 frames (0–99), interval; ")
    tools = {MetricColumn.TOOL.spec.text(row) for row in window.panel.model.rows}
    assert {"Timeline Inspector", "PresentMon", "CapFrameX", "MangoHud"} <= tools
    assert value_of(window, "fps") == "76.92 fps"
    row = next(each for each in window.panel.model.rows if each.metric.id == "frameview.low-1")
    assert MetricColumn.FORMULA.spec.text(row) == "1000 / mean of the ⌊0.01 n⌋ + 1 longest f"
    window.close()


def test_that_a_selected_range_is_what_counts(
    panel: FrameTimesPanel, bridge: SessionBridge, tmp_path: Path
) -> None:
    show_frames(panel, bridge, tmp_path, 100)
    panel.plot.choose_frames((1, 10))

    window = panel.show_statistics()

    assert window.panel.what.text().startswith("Selected: 9 frames (1–9)")
    assert value_of(window, "max") == "10.00 ms"
    window.close()


def test_that_a_filter_finds_a_tool(
    panel: FrameTimesPanel, bridge: SessionBridge, tmp_path: Path
) -> None:
    show_frames(panel, bridge, tmp_path, 20)
    window = panel.show_statistics()

    window.panel.filter_rows("mangohud")

    model = window.panel.model
    assert {model.index(row, 0).data() for row in range(model.rowCount())} == {"MangoHud"}
    window.close()
