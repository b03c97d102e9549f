"""A window with the statistics of the frames in view, as each tool defines them."""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtWidgets import QDialog, QLabel, QWidget
from typing_extensions import override

from inspector.analysis.statistics.frame_series import FrameSeries
from inspector.analysis.statistics.metrics import MetricValue, metric_values
from inspector.formats.ticks import grouped
from inspector.timebase import NS_PER_MS

from ..kit.guards import guarded
from ..kit.layouts import fill
from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.table.table_panel import TablePanel
from ..kit.table.table_view import TableView

if TYPE_CHECKING:
    from ..kit.theme import Theme
    from ..session.bridge import SessionBridge
    from .frame_statistics_label import StatisticsWanted

_PERIOD_MS: Final = 500
#: The statistics take at most this share of the processor, whatever the range.
_LARGEST_SHARE: Final = 0.05

_column = Column[MetricValue]


def _detail(row: MetricValue) -> str:
    return row.why_not or row.metric.formula


class MetricColumn(ColumnEnum):
    """The columns of the table."""

    # fmt: off
    TOOL = _column("Tool", lambda row: row.metric.tool or "Timeline Inspector",
                   "Whose definition it is", sample="Timeline Inspector", is_searched=True)
    NAME = _column("Statistic", lambda row: row.metric.name, "What the tool calls it",
                   sample="1% low integral (as MSI Afterburner)", is_searched=True)
    VALUE = _column("Value", lambda row: row.text, "Of the frames named above", _detail,
                    lambda row: row.value, sample="1,220.92 fps", is_number=True)
    FORMULA = _column("Formula", _detail, "f are frame times in ms, n is their number", _detail,
                      is_searched=True)
    # fmt: on


class MetricModel(ListTableModel[MetricValue]):
    """A row for each metric."""

    @override
    def key_of(self, row: MetricValue) -> str:
        return row.metric.id


class MetricPanel(TablePanel):
    """The metrics, with a filter above them."""

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget) -> None:
        self.model = MetricModel(MetricColumn, theme)
        view = TableView(self.model, "Statistics by tool", bridge.panel_choices)
        super().__init__(view, theme, parent, filter_hint="Filter statistics")
        self.what = QLabel()
        self.what.setTextFormat(Qt.TextFormat.PlainText)
        self.what.setContentsMargins(6, 4, 6, 0)
        self.lay_out(above=(self.what,))
        self.update_counts()

    @override
    def why_empty(self) -> str:
        return "No frames are in view."


@guarded
class StatisticsWindow(QDialog):
    """Shows the statistics that were asked for last, some time after they were.

    Attributes:
        panel: The table.
    """

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Statistics by tool")
        self.resize(820, 560)
        self._bridge = bridge
        self._wanted: StatisticsWanted | None = None
        self._shown: StatisticsWanted | None = None
        self.panel = MetricPanel(bridge, theme, self)
        fill(self, (self.panel, 1))
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.timeout.connect(self._compute)

    def request(self, wanted: StatisticsWanted | None) -> None:
        """Show the statistics of other frames: at once, or as soon as they may cost something.

        Nothing is computed while the window is closed.
        """
        self._wanted = wanted
        if self.isVisible() and not self._pause.isActive():
            self._compute()

    @Slot()
    def _compute(self) -> None:
        wanted = self._wanted
        if wanted == self._shown and self.panel.model.rows:
            return
        self._shown = wanted
        began_ns = perf_counter_ns()
        self.panel.what.setText(self._what(wanted))
        self.panel.model.show_rows([] if wanted is None else self._values(wanted))
        self.panel.update_counts()
        cost_ms = (perf_counter_ns() - began_ns) / NS_PER_MS
        self._pause.start(max(_PERIOD_MS, round(cost_ms / _LARGEST_SHARE)))

    def _values(self, wanted: StatisticsWanted) -> list[MetricValue]:
        frames = wanted.frames
        times_ns = wanted.series.times_ns(wanted.measure, frames.start, frames.stop)
        series = FrameSeries(times_ns / NS_PER_MS, self._bridge.budgets_ms[0])
        return metric_values(series, is_sampled=wanted.are_samples)

    def _what(self, wanted: StatisticsWanted | None) -> str:
        if wanted is None:
            return ""
        frames, budget_ms = wanted.frames, self._bridge.budgets_ms[0]
        what = "Selected" if wanted.is_chosen else "In view"
        return (
            f"{what}: {grouped(len(frames))} frames ({grouped(frames[0])}–{grouped(frames[-1])}), "
            f"{wanted.measure}; hitches and jank against {1000 / budget_ms:.4g} fps"
        )
