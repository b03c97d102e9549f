"""A slice of a trace in the details: its arguments, and what it leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pytestqt.qtbot import QtBot

from inspector.analysis.lanes.lanes import LaneKind
from tests.sessions.test_captured import MS, linked_trace, table
from tests.ui.used_window import Lend
from ui.frame_spans.panel import FrameSpansPanel
from ui.kit.theme import Theme
from ui.session.bridge import SessionBridge
from ui.session.selection import Selection
from ui.timeline.panel import TimelinePanel
from ui.why.panel import WhyPanel

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def panel(qtbot: QtBot, bridge: SessionBridge, theme: Theme, tmp_path: Path) -> WhyPanel:
    """What is said of a trace."""
    panel = WhyPanel(bridge, theme)
    qtbot.addWidget(panel)
    panel.resize(400, 600)
    panel.show()
    bridge.open_path(linked_trace(tmp_path))
    return panel


def member(bridge: SessionBridge, name: str) -> int:
    members = bridge.timeline.members.by_id.values()
    return next(each.id for each in members if each.name == name)


def test_that_a_slice_is_shown_with_its_arguments(panel: WhyPanel, bridge: SessionBridge) -> None:
    bridge.select(Selection.call(member(bridge, "frame"), 26 * MS))

    text = panel.text()
    assert panel.title == "frame"
    for line in (
        *("Took\t10.0 ms", "layer.id\t1", "layer.name\tsky", "visible\ttrue"),
        *("Leads to\tdraw, until 0:00.027900", "In all\t30 slices of this name"),
    ):
        assert line in text, text
    # What a callback that runs has, a slice has not.
    assert "State" not in text


def test_that_a_link_leads_to_the_slice_that_follows(
    panel: WhyPanel, bridge: SessionBridge
) -> None:
    bridge.select(Selection.call(member(bridge, "frame"), 26 * MS))
    row = next(row for row in panel.current_rows() if row.key == "Leads to")

    panel._follow_link(row.links[0].address)

    draw = Selection.call(member(bridge, "draw"), 27_900_000)
    assert bridge.selection == draw
    assert bridge.playhead_ns == 27_900_000
    assert "Follows from\tframe, until 0:00.026000" in panel.text()


def test_that_all_calls_of_a_name_are_shown_without_a_slice(
    panel: WhyPanel, bridge: SessionBridge
) -> None:
    bridge.select(Selection.member(member(bridge, "frame")))

    assert panel.title == "frame"
    assert "Called\t30 times" in panel.text()
    assert "layer" not in panel.text()


def test_that_a_click_on_a_lane_selects_the_slice_there_and_reads_counters(
    qtbot: QtBot, bridge: SessionBridge, theme: Theme, tmp_path: Path
) -> None:
    bridge.open_path(linked_trace(tmp_path))
    panel = TimelinePanel(bridge, theme)
    qtbot.addWidget(panel)
    panel.show()
    panel.refresh()
    canvas = panel.canvas
    rows = {row.kind: row for row in reversed(canvas.rows.rows) if row.lane is not None}

    slice_ = canvas.reader.read(rows[LaneKind.SLICES], 17 * MS, 0)
    counter = canvas.reader.read(rows[LaneKind.COUNTER], 33 * MS, 0)

    assert slice_ is not None
    assert counter is not None
    assert slice_.selection.at_ns is not None
    assert counter.lines == ("memory MB: 2", "since 0:00.032000")
    assert not canvas.viewport().grab().isNull()


def test_that_what_a_table_does_not_say_of_frames_is_left_out(lend: Lend, tmp_path: Path) -> None:
    shell = lend(table(tmp_path))
    shell.bridge.select(Selection.frame(5))
    panel = shell.window.panels.panel("details")
    assert isinstance(panel, WhyPanel)
    text = panel.text()

    assert "Frame time" in text
    assert "Delta" not in text
    assert "Busy" not in text
    frame = shell.window.panels.panel("frame_spans")
    assert isinstance(frame, FrameSpansPanel)
    assert "busy" not in frame.title.text()
    plot = shell.window.frame_times.plot
    plot.point_at(plot.area().center())
    readout = plot.readout()
    assert readout is not None
    assert not {"busy", "delta"} & {name for name, _ in readout.lines}


def test_that_a_trace_says_how_long_its_frames_were_busy(
    panel: WhyPanel, bridge: SessionBridge
) -> None:
    bridge.select(Selection.frame(1))

    text = panel.text()
    assert "Busy\t10.0 ms" in text
    assert "Delta" not in text
