"""What differs between runs as a table: metrics of their frames, then clocks and timers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from typing import Final

from msgspec import Struct
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.analysis.statistics.comparison import Change, Verdict
from inspector.analysis.statistics.runs import RunDifference

from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.table.table_panel import TablePanel
from ..kit.table.table_view import TableView
from ..kit.theme import ColorRole, Theme

_COLORS: Final = {Verdict.FASTER: ColorRole.BAR, Verdict.SLOWER: ColorRole.RED}
_SIGNS: Final = {Verdict.FASTER: "▲", Verdict.SLOWER: "▼"}


class DifferenceRow(Struct, frozen=True):
    """One number that may differ.

    Attributes:
        run: The run that is compared with the first.
        subject: What it is a number of: frames, a clock, or a timer on its clock.
        name: What it is called, with the tool whose definition it is.
        unit: Its unit.
        change: How it differs.
        formula: Its definition, if it has one.
    """

    run: str
    subject: str
    name: str
    unit: str
    change: Change
    formula: str = ""


def difference_rows(found: Iterable[RunDifference]) -> Iterator[DifferenceRow]:
    for each in found:
        for difference in each.found.differences:
            metric = difference.metric
            name = f"{metric.tool} {metric.name}".strip()
            formula = f"{metric.formula}\nSource: {metric.source}"
            yield DifferenceRow(each.after.name, "Frames", name, metric.unit, difference, formula)
        for call in each.calls:
            yield DifferenceRow(each.after.name, call.subject, call.what, call.unit, call.change)


def _number(value: float | None, unit: str) -> str:
    return "-" if value is None else f"{value:,.2f} {unit}"


def _verdict(row: DifferenceRow) -> str:
    verdict = row.change.verdict
    text = "no evidence" if verdict is Verdict.NO_EVIDENCE else verdict.value
    return f"{_SIGNS.get(verdict, '')} {text}".strip()


_column = Column[DifferenceRow]


def _detail(row: DifferenceRow) -> str:
    return row.formula or f"{row.name} of {row.subject}"


class DifferenceColumn(ColumnEnum):
    """The columns of the table."""

    # fmt: off
    RUN = _column("Compared", lambda row: row.run, "What is compared with the first",
                  sample="capture-after.csv", is_searched=True)
    SUBJECT = _column("Of", lambda row: row.subject, "Frames, a clock, or a timer on its clock",
                      sample="game: attack", is_searched=True)
    NAME = _column("Statistic", lambda row: row.name, "Under the name of its tool", _detail,
                   sample="NVIDIA FrameView 1% Low FPS", is_searched=True)
    BEFORE = _column("Before", lambda row: _number(row.change.before, row.unit), "In the first",
                     _detail, lambda row: row.change.before, "122.92 fps", is_number=True)
    AFTER = _column("After", lambda row: _number(row.change.after, row.unit),
                    "In what is compared", _detail, lambda row: row.change.after, "122.92 fps",
                    is_number=True)
    CHANGE = _column("Change", lambda row: row.change.share_text, "Relative to the first", _detail,
                     lambda row: row.change.share or 0.0, "-100.0%", is_number=True)
    VERDICT = _column("Verdict", _verdict, "Whether the whole interval lies on one side of 0",
                      _detail, sample="no evidence",
                      color=lambda row: _COLORS.get(row.change.verdict))
    INTERVAL = _column("95 % interval", lambda row: row.change.interval_text,
                       "Of the change, for all statistics together: from resampling blocks",
                       _detail, sample="+1347.5% to +3710.2%", is_number=True)
    # fmt: on


class DifferenceModel(ListTableModel[DifferenceRow]):
    """A row for each number."""

    is_sortable = True

    @override
    def key_of(self, row: DifferenceRow) -> tuple[str, str, str]:
        return row.run, row.subject, row.name


class DifferenceTable(TablePanel):
    """The differences, with a filter above them."""

    def __init__(self, choices: MutableMapping[str, str], theme: Theme, parent: QWidget) -> None:
        self.model = DifferenceModel(DifferenceColumn, theme)
        view = TableView(self.model, "Differences", choices)
        super().__init__(view, theme, parent, filter_hint="Filter differences")
        self.lay_out()
        self.update_counts()

    def show_differences(self, found: list[RunDifference]) -> None:
        self.model.show_rows(difference_rows(found))
        self.view.choices.use(DifferenceColumn.RUN, is_used=len(found) > 1)
        self.update_counts()

    @override
    def why_empty(self) -> str:
        return "Two captures, recordings or sessions are needed to compare."
