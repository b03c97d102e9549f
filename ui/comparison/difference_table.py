"""Differences between sides as a table: their frames, then columns, clocks and timers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from operator import attrgetter
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.analysis.statistics.comparison import TOO_WIDE, Change, Verdict
from inspector.analysis.statistics.runs import RunDifference

from ..kit.guards import guarded
from ..kit.table import roles
from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.table.table_panel import TablePanel
from ..kit.table.table_view import TableView
from ..kit.theme import ColorRole, Theme
from .verdict import number_text, percent_text, shown_change

_WORDS: Final = {
    Verdict.FASTER: "better",
    Verdict.SLOWER: "worse",
    Verdict.NO_EVIDENCE: "no difference",
}
_SIGNS: Final = {Verdict.FASTER: "✓", Verdict.SLOWER: "✕"}
#: Changes, as shares, up to which intervals are drawn; the first that covers all is chosen.
_REACHES: Final = (0.05, 0.1, 0.2, 0.5, 1.0)
_DOT: Final = 3.0
#: Pixels beside the picture of an interval.
_MARGIN: Final = 10


class DifferenceRow(Struct, frozen=True):
    run: str  # The side that is compared with the first
    subject: str  # What it is a number of: frames, a column, a clock, or a timer on its clock
    name: str  # The name of the statistic, with the tool that defines it
    unit: str
    change: Change  # How it differs
    formula: str = ""  # Its definition, if it has one


def difference_rows(found: Iterable[RunDifference]) -> Iterator[DifferenceRow]:
    for each in found:
        for difference in each.found.differences:
            metric = difference.metric
            change, unit = shown_change(difference)
            formula = f"{metric.formula}\nSource: {metric.source}"
            # The tool comes last: where the end is cut off, the name of the statistic remains.
            name = ", ".join(filter(None, (metric.name, metric.tool)))
            yield DifferenceRow(each.after.name, "Frames", name, unit, change, formula)
        for part in each.parts:
            yield DifferenceRow(each.after.name, part.subject, part.what, part.unit, part.change)


def _interval(row: DifferenceRow) -> str:
    low, high = row.change.low, row.change.high
    if low is None or high is None:
        return row.change.why_not
    if row.change.is_too_wide:
        return TOO_WIDE
    return f"{percent_text(low).removesuffix(' %')} to {percent_text(high)}"


def _number(value: float | None, unit: str) -> str:
    return "-" if value is None else f"{number_text(value)} {unit}"


def _verdict(row: DifferenceRow) -> str:
    verdict = row.change.verdict
    return f"{_SIGNS.get(verdict, '')} {_WORDS.get(verdict, verdict.value)}".strip()


_column = Column[DifferenceRow]


def _detail(row: DifferenceRow) -> str:
    interval = f"95 % interval: {_interval(row)}"
    return "\n".join((row.formula or f"{row.name} of {row.subject}", interval))


class DifferenceColumn(ColumnEnum):
    # fmt: off
    RUN = _column("Compared", lambda row: row.run, "What is compared with the first",
                  sample="capture-after.csv", is_searched=True)
    SUBJECT = _column("Of", lambda row: row.subject, "Frames, a column, a clock or a timer",
                      sample="game: attack", is_searched=True)
    NAME = _column("Statistic", lambda row: row.name, "With the tool that defines it", _detail,
                   sample="1% Low FPS, NVIDIA FrameView", least="1% low int…",
                   is_searched=True)
    BEFORE = _column("A", lambda row: _number(row.change.before, row.unit), "Of the first side",
                     _detail, lambda row: row.change.before, "1,234 fps", least="00.0 fps",
                     is_number=True)
    AFTER = _column("B", lambda row: _number(row.change.after, row.unit),
                    "Of what is compared with it", _detail, lambda row: row.change.after,
                    "1,234 fps", least="00.0 fps", is_number=True)
    CHANGE = _column("Change", lambda row: percent_text(row.change.share) or "-",
                     "Relative to the first", _detail, lambda row: row.change.share or 0.0,
                     "−100.0 %", is_number=True)
    PICTURE = _column("Interval", lambda _row: "",
                      "Where the change lies, 95 % sure; between the outer lines, with 0 in the "
                      "middle", _detail, lambda row: row.change.share or 0.0, "−100 % 0 +100 %",
                      yields=2, is_copied=False)
    VERDICT = _column("Verdict", _verdict, "Better or worse where the whole interval lies on one "
                      "side of 0; no difference: none is certain", _detail, sample="no difference")
    INTERVAL = _column("95 % interval", _interval,
                       "Of the change, for all statistics together: from resampling blocks",
                       _detail, sample="+1,347 to +3,710 %", least="+13 %", yields=1,
                       is_number=True)
    # fmt: on


@guarded
class DifferenceModel(ListTableModel[DifferenceRow]):
    reach = 1.0  # The change at the ends of the picture of the intervals, as a share

    @override
    def set_rows(self, rows: Iterable[DifferenceRow]) -> None:
        rows = list(rows)
        ends = [
            abs(end) for row in rows for end in (row.change.low, row.change.high) if end is not None
        ]
        most = max(ends, default=0.0)
        self.reach = next((each for each in _REACHES if most <= each), _REACHES[-1])
        super().set_rows(rows)
        last = len(DifferenceColumn) - 1
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, last)

    @override
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = roles.DISPLAY
    ) -> object:
        is_picture = (
            orientation is Qt.Orientation.Horizontal and section == DifferenceColumn.PICTURE
        )
        if is_picture and role == roles.DISPLAY:
            return f"Within ±{100 * self.reach:g} %"
        return super().headerData(section, orientation, role)


@guarded
class DifferenceView(TableView):
    """Shows the intervals of the changes around 0, each with the change as a dot."""

    theme: Theme

    @override
    def paint_over(self, painter: QPainter) -> None:
        model, titles = self.model(), self.horizontalHeader()
        column = int(DifferenceColumn.PICTURE)
        if titles.isSectionHidden(column) or not isinstance(model, DifferenceModel):
            return
        left = titles.sectionViewportPosition(column) + _MARGIN
        half = (titles.sectionSize(column) - 2 * _MARGIN) / 2
        middle = left + half
        color = self.theme.color
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        bottom = 0
        for place in self.row_places(0, self.viewport().height()):
            bottom = place.top + place.height
            change = model.rows[place.key].change
            if change.share is None or change.low is None or change.high is None:
                continue
            low, at, high = (
                middle + half * min(max(each / model.reach, -1.0), 1.0)
                for each in (change.low, change.share, change.high)
            )
            y = place.top + place.height / 2
            painter.fillRect(
                QRectF(low, y - 0.75, max(high - low, 1.0), 1.5), color(ColorRole.TICK)
            )
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color(ColorRole.TICK))
            painter.drawEllipse(QPointF(at, y), _DOT, _DOT)
        painter.fillRect(QRectF(round(middle), 0, 1, bottom), color(ColorRole.EDGE))
        for end in (round(left), round(left + 2 * half) - 1):
            painter.fillRect(QRectF(end, 0, 1, bottom), color(ColorRole.LINE))
        painter.restore()


class DifferenceTable(TablePanel):
    """The differences; with a filter above them where there are many."""

    def __init__(self, choices: MutableMapping[str, str], theme: Theme, parent: QWidget) -> None:
        key = attrgetter("run", "subject", "name")
        self.model = DifferenceModel(DifferenceColumn, theme, key, is_sortable=True)
        view = DifferenceView(self.model, "Differences", choices)
        view.theme = theme
        super().__init__(view, theme, parent, filter_hint="Filter differences")
        self.lay_out()
        self.update_counts()

    def set_differences(self, found: list[RunDifference]) -> None:
        self.model.set_rows(difference_rows(found))
        has_parts = any(each.parts for each in found)
        self.view.choices.use(DifferenceColumn.RUN, is_used=len(found) > 1)
        self.view.choices.use(DifferenceColumn.SUBJECT, is_used=has_parts)
        for part in (self.filter_line, self.count_label):
            part.setVisible(has_parts or len(found) > 1)
        self.update_counts()

    @override
    def why_empty(self) -> str:
        return "Two captures, recordings or sessions are needed to compare."
