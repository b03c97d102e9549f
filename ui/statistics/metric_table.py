"""The statistics of frames as each tool defines them, as a table."""

from __future__ import annotations

from collections.abc import MutableMapping

from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.analysis.statistics.metrics import MetricValue

from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.table.table_panel import TablePanel
from ..kit.table.table_view import TableView
from ..kit.theme import Theme

_column = Column[MetricValue]


def _detail(row: MetricValue) -> str:
    return row.why_not or row.metric.formula


def tool_tip_of(row: MetricValue) -> str:
    metric = row.metric
    lines = (row.why_not, metric.formula, f"Source: {metric.source}", f"Id: {metric.id}")
    return "\n".join(filter(None, lines))


class MetricColumn(ColumnEnum):
    """The columns of the table."""

    # fmt: off
    TOOL = _column("Tool", lambda row: row.metric.tool or "Timeline Inspector",
                   "Whose definition it is", tool_tip_of, sample="Timeline Inspector",
                   least="FrameView", is_searched=True)
    NAME = _column("Statistic", lambda row: row.metric.name, "What the tool calls it", tool_tip_of,
                   sample="Stuttering time (as seen live)",
                   least="Stuttering time", is_searched=True)
    VALUE = _column("Value", lambda row: row.text, "Of the frames named above", tool_tip_of,
                    lambda row: row.value, sample="1,220.92 fps", is_number=True)
    FORMULA = _column("Formula", _detail, "f are frame times in ms, n is their number", tool_tip_of,
                      least="Σ (f − mean)", is_searched=True, yields=1)
    # fmt: on


class MetricModel(ListTableModel[MetricValue]):
    """A row for each metric."""

    @override
    def key_of(self, row: MetricValue) -> str:
        return row.metric.id


class MetricTable(TablePanel):
    """The metrics, with a filter above them."""

    def __init__(self, choices: MutableMapping[str, str], theme: Theme, parent: QWidget) -> None:
        self.model = MetricModel(MetricColumn, theme)
        view = TableView(self.model, "Statistics by tool", choices)
        super().__init__(view, theme, parent, filter_hint="Filter statistics")
        self.lay_out()
        self.update_counts()

    @override
    def why_empty(self) -> str:
        return "There are no frames."
