"""The table of the refresh-rate lab."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QSortFilterProxyModel

from ..kit.table.painted_views import PaintedTable
from ..kit.table.tables import set_up_table, size_columns, sort_by_click
from .lab_results_model import LabColumn

_SAMPLES: Final = {
    LabColumn.RESULT: "✓ within a frame",
    LabColumn.DISPLAY: "000.00 Hz",
    LabColumn.TIMER: "every 000 ms",
    LabColumn.SUBJECT: "Egret, repair 2 as published",
    LabColumn.FIRED: "0,000 of 0,000",
    LabColumn.PERIOD: "00.0 ms",
    LabColumn.DRIFT: "−00.0 ms",
    LabColumn.EARLIEST: "Least late",
    LabColumn.MEDIAN: "−00.0 ms",
    LabColumn.LATEST: "Most late",
    LabColumn.DIVERGENCE: "firing 00 at 00:00.000000000, 000.0 ms early",
    LabColumn.FAULT: "Above 60 Hz it is too fast: four times at 240 Hz.",
}

#: The timer of a scene is named after its clock as well.
_SCENE_TIMER: Final = "spark fades (particles)"


def results_view(results: QSortFilterProxyModel) -> PaintedTable:
    """Return a table of results that is sorted by a click on a header."""
    view = PaintedTable()
    view.setAccessibleName("Results of the refresh-rate lab")
    view.setModel(results)
    set_up_table(view, selects_many=True)
    sort_by_click(view)
    size_columns(view, _SAMPLES)
    header = view.horizontalHeader()
    # Beside the drift that it explains; the columns of lateness are for a wide window.
    header.moveSection(LabColumn.DIVERGENCE, LabColumn.EARLIEST)
    return view


def fit_columns(view: PaintedTable, *, is_scene: bool, has_timers: bool) -> None:
    """Show the columns that tell runs apart.

    Args:
        view: The table.
        is_scene: Whether the timers are those of a scene; all live on the same.
        has_timers: Whether there is more than one timer.
    """
    view.setColumnHidden(LabColumn.TIMER, not (is_scene or has_timers))
    view.setColumnHidden(LabColumn.SUBJECT, is_scene)
    view.setColumnHidden(LabColumn.FAULT, is_scene)
    sample = _SCENE_TIMER if is_scene else _SAMPLES[LabColumn.TIMER]
    view.setColumnWidth(LabColumn.TIMER, view.fontMetrics().horizontalAdvance(sample) + 14)
