"""The strip below the frames of a capture: distribution, and statistics by tool."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget
from typing_extensions import override

from inspector.analysis.statistics.metrics import MetricValue

from ..kit.fonts import text_scale
from ..kit.guards import guarded
from ..kit.labels import ElidedLabel, plain_label
from ..kit.layouts import REST, fill, fill_across
from ..kit.text_link import TextLink
from ..kit.theme import Theme
from ..kit.tile import caption, height_below, is_low, yielding_caption
from ..session.bridge import SessionBridge
from .frame_distribution import FrameDistribution
from .metric_table import tool_tip_of

#: The statistics that people ask for first, under the names of the tools that define them.
_FIRST: Final = (
    "fps",
    "frameview.low-1",
    "capframex.low-1",
    "capframex.integral-1",
    "presentmon.5th",
    "min",
    "capframex.stuttering",
)
#: Blanks, but not within brackets, of which a cut there would leave half.
_BETWEEN_WORDS: Final = r" (?![^(]*\))"
_SIDE: Final = 16
_SPACING: Final = 4
_TOOLS_WIDTH: Final = 480
_LEAST_TOOLS: Final = 280
#: A narrower summary has no room for both of its parts.
_LEAST_WITH_TOOLS: Final = 640


@guarded
class ToolsSay(QWidget):
    """The first statistics in a list, with a link to the others."""

    all_wanted = Signal()  # The user wants to see all statistics

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._count = 0
        self.rows: list[tuple[ElidedLabel, ElidedLabel, QLabel]] = []
        self.all_link = TextLink(theme)
        self.all_link.setToolTip("Show all statistics with their formulas")
        self.all_link.clicked.connect(self.all_wanted)
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(_SPACING)
        for number in range(len(_FIRST)):
            row = ElidedLabel(_BETWEEN_WORDS), ElidedLabel(" "), plain_label()
            row[1].setForegroundRole(QPalette.ColorRole.PlaceholderText)
            row[2].setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            for column, label in enumerate(row):
                grid.addWidget(label, number, column)
            self.rows.append(row)
        grid.setColumnStretch(0, 4)
        grid.setColumnStretch(1, 3)
        parts = (caption("What tools say"), grid, self.all_link, REST)
        fill(self, *parts, margins=(_SIDE, 8, _SIDE, 8), spacing=_SPACING)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Show as many as there is room for; the link leads to the others."""
        line = self.fontMetrics().height()
        room = (self.height() - 2 * (line + _SPACING + 8)) // (line + _SPACING)
        for number, row in enumerate(self.rows):
            for label in row:
                label.setVisible(number < min(room, self._count))

    @Slot(object)
    def set_metrics(self, values: list[MetricValue]) -> None:
        by_id = {each.metric.id: each for each in values}
        shown = [by_id[each] for each in _FIRST if each in by_id and not by_id[each].why_not]
        self._count = len(shown)
        for number, row in enumerate(self.rows):
            if number < len(shown):
                value = shown[number]
                tool = "all tools" if value.metric.id == "fps" else value.metric.tool
                row[0].set_text(value.metric.name, tool_tip_of(value))
                row[1].set_text(tool, tool_tip_of(value))
                row[2].setText(value.text)
        self._fit()
        self.all_link.set_text(f"All {len(values)} statistics" if values else "", "")


@guarded
class CaptureSummary(QWidget):
    """The distribution of the frames beside what tools say; as high as the tray."""

    def __init__(self, bridge: SessionBridge, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName("Summary of the capture")
        self.tools = ToolsSay(theme)
        title = yielding_caption("How long frames took")
        self.frames = FrameDistribution(bridge, theme, title)
        self.frames.metrics_found.connect(self.tools.set_metrics)
        fill_across(self, (self.frames, 1), self.tools, margins=(_SIDE, 4, 0, 4), spacing=0)

    def fit(self) -> None:
        scale, width = text_scale(self), self.window().width()
        self.setFixedHeight(height_below(self))
        self.frames.show_foot(is_shown=not is_low(self))
        self.tools.setVisible(width >= _LEAST_WITH_TOOLS * scale)
        self.tools.setFixedWidth(
            round(min(max(width * 0.3, _LEAST_TOOLS * scale), _TOOLS_WIDTH * scale))
        )
