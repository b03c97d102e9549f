"""The statistics panel: the distribution of frame times, and what each tool makes of them."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.analysis.statistics.metrics import MetricValue

from ..kit.guards import guarded
from ..kit.layouts import fill, splitter
from ..kit.theme import Theme
from ..kit.tile import is_low
from ..session.bridge import SessionBridge
from .frame_distribution import FrameDistribution
from .metric_table import MetricTable


@guarded
class StatisticsPanel(QWidget):
    """Shows how the frames of a range are distributed, and all statistics of them."""

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table = MetricTable(bridge.panel_choices, theme, self)
        self.frames = FrameDistribution(bridge, theme)  # The distribution, which chooses the frames
        self.frames.metrics_found.connect(self._set_metrics)
        # The summary of a capture has the same options.
        self.table.options_changed.connect(bridge.frame_focus.changed)
        parts = (self.frames, 0), (self.table, 0)
        fill(self, (splitter(Qt.Orientation.Horizontal, *parts, sizes=(620, 560)), 1))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.frames.show_foot(is_shown=not is_low(self))

    @Slot(object)
    def _set_metrics(self, values: list[MetricValue]) -> None:
        self.table.model.set_rows(values)
        self.table.update_counts()
