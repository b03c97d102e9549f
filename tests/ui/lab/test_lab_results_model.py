"""The results of the refresh-rate lab as a table."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt

from inspector.engines.lab.display import steady_display
from inspector.engines.lab.refresh_lab import run_lab
from inspector.engines.lab.subjects import subjects_named
from inspector.engines.lab.timer import LabTimer
from ui.kit.theme import Theme
from ui.lab.panel import LabColumn, LabResultsModel

SECOND = 1_000_000_000


def filled_model(*names: str, seconds: int = 10) -> LabResultsModel:
    model = LabResultsModel(Theme("light"))
    display = steady_display(240, seconds * SECOND)
    model.add_rows(list(run_lab([LabTimer(SECOND)], subjects_named(names), [display])))
    return model


def row_of(model: LabResultsModel, row: int) -> list[object]:
    return [model.index(row, column).data() for column in LabColumn]


def test_that_a_row_says_everything_about_a_run(qtmodeltester: Any) -> None:  # noqa: ANN401
    model = filled_model("clock", "egret")

    assert row_of(model, 0) == [
        *("✓ exact", "240 Hz", "every 1 s", "Our clock", "10 of 10", "1.00 s"),
        *("0", "", "0", "0", "0", ""),
    ]
    assert row_of(model, 1) == [
        *("✗ too early", "240 Hz", "every 1 s", "Egret, by calls", "40 instead of 10", "250 ms"),
        *("−30.0 s", "firing 1 at 0:00.250, 750 ms early", "−30.0 s", "−15.8 s", "−750 ms"),
        "Above 60 Hz it is too fast: four times at 240 Hz.",
    ]
    qtmodeltester.check(model, force_py=True)


def test_that_a_run_without_firings_has_dashes() -> None:
    (row,) = (row_of(filled_model("scheduler-drop", seconds=0), 0),)

    assert row[0] == "✓ nothing expected"
    assert [*row[5:7], *row[8:11]] == ["–"] * 5


def test_that_headers_are_explained_and_rows_end() -> None:
    model = filled_model("clock")

    for column in LabColumn:
        assert model.headerData(column, Qt.Orientation.Horizontal, int(Qt.ItemDataRole.ToolTipRole))
    assert model.headerData(0, Qt.Orientation.Vertical) is None
    assert model.index(0, 0).data(int(Qt.ItemDataRole.DecorationRole)) is None
    model.set_rows(())
    assert model.rowCount() == 0
    assert model.results == ()
