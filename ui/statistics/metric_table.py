"""The statistics of frames as each tool defines them, as a table."""

from __future__ import annotations

from collections.abc import MutableMapping
from operator import attrgetter

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QDoubleSpinBox, QMenu, QWidget, QWidgetAction
from typing_extensions import override

from inspector.analysis.statistics.metrics import MetricValue
from inspector.analysis.statistics.outliers import OUTLIER_RULE

from ..kit.guards import guarded
from ..kit.layouts import menu_button
from ..kit.range_note import RangeNote
from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.table.table_panel import TablePanel
from ..kit.table.table_view import TableView
from ..kit.theme import Theme
from ..session.frame_focus import LOW_FPS, STUTTER_FACTOR, WITHOUT_OUTLIERS, MetricOptions

_column = Column[MetricValue]


def _detail(row: MetricValue) -> str:
    return row.why_not or row.damage or row.metric.formula


def tool_tip_of(row: MetricValue) -> str:
    metric = row.metric
    lines = (
        row.why_not,
        row.damage,
        metric.formula,
        f"Source: {metric.source}",
        f"Id: {metric.id}",
    )
    return "\n".join(filter(None, lines))


class MetricColumn(ColumnEnum):
    # fmt: off
    TOOL = _column("Tool", lambda row: row.metric.tool or "Timeline Inspector",
                   "Whose definition it is", tool_tip_of, sample="Timeline Inspector",
                   is_searched=True, yields=2)
    NAME = _column("Statistic", lambda row: row.metric.name, "What the tool calls it", tool_tip_of,
                   sample="Stuttering time", is_searched=True)
    VALUE = _column("Value", lambda row: row.text, "Of the frames named above", tool_tip_of,
                    lambda row: row.value, sample="1,220 fps", is_number=True)
    FORMULA = _column("Formula", _detail, "f are frame times in ms, n is their number", tool_tip_of,
                      least="Σ (f − mean)", is_searched=True, yields=1)
    # fmt: on


@guarded
class MetricTable(TablePanel):
    options_changed = Signal()  # Other options are kept

    def __init__(self, choices: MutableMapping[str, str], theme: Theme, parent: QWidget) -> None:
        self._choices = choices
        self.model = ListTableModel[MetricValue](MetricColumn, theme, attrgetter("metric.id"))
        view = TableView(self.model, "Statistics by tool", choices)
        super().__init__(view, theme, parent, filter_hint="Filter statistics")
        kept = MetricOptions.kept_in(choices)
        # factor_box: how many times the usual frame time a stuttering frame takes at least
        # rate_box: the rate below which a frame counts as slow
        self.factor_box, self.rate_box = QDoubleSpinBox(), QDoubleSpinBox()
        for box, name, value, most in (
            (self.factor_box, "Stutter factor", kept.stutter.factor, 100),
            (self.rate_box, "Low frame rate", kept.stutter.low_rate, 10_000),
        ):
            box.setAccessibleName(name)
            box.setDecimals(1)
            box.setRange(1.1, most)
            box.setValue(value)
            box.setKeyboardTracking(False)
            box.valueChanged.connect(self._keep_options)
            RangeNote(box)
        self.factor_box.setPrefix("stutter × ")
        self.factor_box.setToolTip("A frame stutters that takes over so many times the usual")
        self.rate_box.setPrefix("low < ")
        self.rate_box.setSuffix(" fps")
        self.rate_box.setToolTip("The rate below which CapFrameX counts low FPS time")
        self.outlier_box = QCheckBox("Without outliers")  # Whether outliers are left out
        self.outlier_box.setToolTip(f"Leave out the longest frames, by {OUTLIER_RULE}")
        self.outlier_box.setChecked(kept.without_outliers)
        self.outlier_box.toggled.connect(self._keep_options)
        options = QMenu(self)
        for widget in (self.outlier_box, self.factor_box, self.rate_box):
            action = QWidgetAction(options)
            action.setDefaultWidget(widget)
            options.addAction(action)
        self.lay_out(menu_button("Options", "Outliers, and what stutters", options))
        self.update_counts()

    @Slot()
    def _keep_options(self) -> None:
        self._choices[STUTTER_FACTOR] = f"{self.factor_box.value():g}"
        self._choices[LOW_FPS] = f"{self.rate_box.value():g}"
        self._choices[WITHOUT_OUTLIERS] = "yes" if self.outlier_box.isChecked() else "no"
        self.options_changed.emit()

    @override
    def detail_of(self, row: int) -> str:
        found = self.model.rows[row]
        return f"{found.metric.name}: {_detail(found)}"

    @override
    def why_empty(self) -> str:
        return "There are no frames."
