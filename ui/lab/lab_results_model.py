"""The results of the refresh-rate lab as a table, one row per run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex
from typing_extensions import override

from inspector.analysis.lab.refresh_lab import LabResult
from inspector.timebase import NS_PER_SECOND, format_duration

from ..kit.guards import guarded
from ..kit.table import roles
from ..kit.table.header_row import HeaderRow, alignments
from ..kit.table.roles import Role
from ..kit.table.titled_table import ListTableModel
from ..kit.theme import ColorRole, Theme


class LabColumn(IntEnum):
    """The columns."""

    RESULT = 0
    DISPLAY = 1
    TIMER = 2
    SUBJECT = 3
    FIRED = 4
    PERIOD = 5
    DRIFT = 6
    EARLIEST = 7
    MEDIAN = 8
    LATEST = 9
    DIVERGENCE = 10
    FAULT = 11


_HEADERS: Final = {
    LabColumn.RESULT: ("Result", "Whether every firing was within a frame of its expected instant"),
    LabColumn.DISPLAY: ("Display", "The display whose refreshes are the frames"),
    LabColumn.TIMER: ("Timer", "What was requested"),
    LabColumn.SUBJECT: ("Runs on", "What the timer runs on"),
    LabColumn.FIRED: ("Fired", "How often it fired, out of the expected number"),
    LabColumn.PERIOD: ("Period", "Mean time between firings"),
    LabColumn.DRIFT: ("Drift", "Lateness of the last firing"),
    LabColumn.EARLIEST: ("Least late", "Smallest lateness of a firing"),
    LabColumn.MEDIAN: ("Median", "Half of the firings were at most this late"),
    LabColumn.LATEST: ("Most late", "Largest lateness of a firing"),
    LabColumn.DIVERGENCE: (
        "First divergence",
        "The first firing that is more than a frame off",
    ),
    LabColumn.FAULT: ("Known fault", "What it does wrong, on this or other displays"),
}
_NUMBERS: Final = frozenset(
    {
        LabColumn.FIRED,
        LabColumn.PERIOD,
        LabColumn.DRIFT,
        LabColumn.EARLIEST,
        LabColumn.MEDIAN,
        LabColumn.LATEST,
    }
)
_ALIGNED: Final = alignments(LabColumn, _NUMBERS)
_HEADER: Final = HeaderRow(_HEADERS, _ALIGNED, apart=[LabColumn.DIVERGENCE])
#: Above every drift, in seconds.
_WRONG_FROM: Final = 1e12


@guarded
class LabResultsModel(ListTableModel[LabResult]):
    """Rows in the order in which results arrived; a proxy sorts them by their raw values."""

    def __init__(self, theme: Theme) -> None:
        """Begin without rows."""
        super().__init__(_HEADER)
        self._theme = theme

    @property
    def results(self) -> tuple[LabResult, ...]:
        """Every result, in the order in which they arrived."""
        return tuple(self._rows)

    def clear(self) -> None:
        """Forget everything."""
        self.beginResetModel()
        self._rows = []
        self.endResetModel()

    def add(self, results: Sequence[LabResult]) -> None:
        """Append results."""
        if not results:
            return
        first = len(self._rows)
        self.beginInsertRows(QModelIndex(), first, first + len(results) - 1)
        self._rows += results
        self.endInsertRows()

    def result_at(self, row: int) -> LabResult:
        """Return the result in a row."""
        return self._rows[row]

    @override
    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = roles.DISPLAY) -> object:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        result, column = self._rows[index.row()], LabColumn(index.column())
        answer: object = None
        match role:
            case roles.DISPLAY:
                answer = _TEXTS[column](result)
            case Role.RAW:
                answer = _RAW.get(column, _TEXTS[column])(result)
            case roles.ALIGNMENT:
                answer = _ALIGNED[column]
            case roles.DECORATION if column == LabColumn.DIVERGENCE:
                answer = roles.gap()
            case roles.FOREGROUND if column == LabColumn.RESULT:
                is_right = result.verdict.is_right
                answer = self._theme.color(ColorRole.GOOD if is_right else ColorRole.BAD)
            case roles.TOOL_TIP:
                answer = _tool_tip(result)
        return answer

    def row_text(self, row: int) -> str:
        """Return a row as text with tabulators."""
        return "\t".join(_TEXTS[column](self._rows[row]) for column in LabColumn)


def lateness_text(ns: int | None) -> str:
    """Return a lateness with its sign; a dash where there is none."""
    if ns is None:
        return "–"
    sign = "" if ns == 0 else "+" if ns > 0 else "−"
    return f"{sign}{format_duration(abs(ns))}" if ns else "0"


def _period_text(result: LabResult) -> str:
    period_ns = result.mean_period_ns
    return "–" if period_ns is None else format_duration(round(period_ns))


def _latenesses(result: LabResult) -> tuple[int | None, int | None, int | None, int | None]:
    """Return the lateness of the last firing, the least, the median and the most."""
    lateness = result.lateness
    if lateness is None:
        return None, None, None, None
    return lateness.last_ns, lateness.min_ns, lateness.median_ns, lateness.max_ns


def _order_of(ns: int | None) -> float:
    return -math.inf if ns is None else float(ns)


def _wrongness(result: LabResult) -> float:
    """Return what puts the wrong ones together, by how far they drift."""
    drift_s = abs(result.drift_ns or 0) / NS_PER_SECOND
    return drift_s if result.verdict.is_right else _WRONG_FROM + drift_s


_TEXTS: Final[Mapping[LabColumn, Callable[[LabResult], str]]] = {
    LabColumn.RESULT: lambda result: (
        f"{'✓' if result.verdict.is_right else '✗'} {result.verdict.value}"
    ),
    LabColumn.DISPLAY: lambda result: result.display.name,
    LabColumn.TIMER: lambda result: result.timer.title,
    LabColumn.SUBJECT: lambda result: result.subject.title,
    LabColumn.FIRED: lambda result: f"{result.count:,} of {result.expected_count:,}",
    LabColumn.PERIOD: _period_text,
    LabColumn.DRIFT: lambda result: lateness_text(_latenesses(result)[0]),
    LabColumn.EARLIEST: lambda result: lateness_text(_latenesses(result)[1]),
    LabColumn.MEDIAN: lambda result: lateness_text(_latenesses(result)[2]),
    LabColumn.LATEST: lambda result: lateness_text(_latenesses(result)[3]),
    LabColumn.DIVERGENCE: lambda result: (
        "" if result.divergence is None else result.divergence.text
    ),
    LabColumn.FAULT: lambda result: result.subject.fault_sentence,
}
#: What columns are sorted by whose texts would be in another order.
_RAW: Final[Mapping[LabColumn, Callable[[LabResult], float]]] = {
    LabColumn.RESULT: _wrongness,
    LabColumn.DISPLAY: lambda result: result.display.mean_rate,
    LabColumn.FIRED: lambda result: float(result.count),
    LabColumn.PERIOD: lambda result: result.mean_period_ns or 0.0,
    LabColumn.DRIFT: lambda result: _order_of(_latenesses(result)[0]),
    LabColumn.EARLIEST: lambda result: _order_of(_latenesses(result)[1]),
    LabColumn.MEDIAN: lambda result: _order_of(_latenesses(result)[2]),
    LabColumn.LATEST: lambda result: _order_of(_latenesses(result)[3]),
    LabColumn.DIVERGENCE: lambda result: (
        math.inf if result.divergence is None else float(result.divergence.at_ns)
    ),
}


def _tool_tip(result: LabResult) -> str:
    lines = [f"{result.subject.title}, {result.group_title}", result.subject.description]
    if result.divergence is not None:
        lines.append(f"First divergence: {result.divergence.text}.")
    if result.speed is not None and not result.verdict.is_right:
        lines.append(f"Fires {result.speed:.4g} times as fast as requested.")
    return "\n".join(lines)
