"""Who took how long in a frame, or in several, as a Qt table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex
from typing_extensions import override

from inspector.analysis.frame_spans import TIMER_KIND, Span
from inspector.analysis.frame_sums import SpanTotal
from inspector.display_text import one_line
from inspector.timebase import format_duration

from ..kit.guards import guarded
from ..kit.table import roles
from ..kit.table.header_row import HeaderRow, alignments
from ..kit.table.roles import Role
from ..kit.table.titled_table import ListTableModel
from ..session.bridge import Selection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..kit.theme import Theme


class SpanColumn(IntEnum):
    """The columns of the table."""

    WHO = 0
    TOOK = 1
    SHARE = 2
    CALLS = 3
    BEGAN = 4
    LONGEST = 5
    LATE = 6
    KIND = 7
    PHASE = 8


_HEADERS: Final = {
    SpanColumn.WHO: ("Who", "The phase, callback or timer"),
    SpanColumn.KIND: ("Kind", "Kind of callback"),
    SpanColumn.PHASE: ("Phase", "Phase of the frame that called it"),
    SpanColumn.BEGAN: ("Began", "When it was first called, from the start of the frame"),
    SpanColumn.TOOK: ("Took", "Measured total of its calls"),
    SpanColumn.SHARE: ("Share", "Share of the frame time"),
    SpanColumn.CALLS: ("Calls", "How often it was called"),
    SpanColumn.LONGEST: ("Longest", "Its longest call"),
    SpanColumn.LATE: ("Late", "How late the timer fired; the maximum if it fired several times"),
}
_NUMBERS: Final = frozenset(SpanColumn) - {SpanColumn.WHO, SpanColumn.KIND, SpanColumn.PHASE}
_ALIGNED: Final = alignments(SpanColumn, _NUMBERS)
_HEADER: Final = HeaderRow(_HEADERS, _ALIGNED)
_INDENT: Final = "    "
#: Members and timers that are listed: sorting asks for two cells a comparison.
MAX_ROWS: Final = 5_000


@dataclass(frozen=True, slots=True)
class SpanRow:
    """What one subject took.

    Attributes:
        total: What it took together.
        began_ns: When it was first called, from the start of the frame; ``None`` when
            the row is about several frames.
        depth: How deep it lies, 0 for a phase.
        late_ns: How late it fired at most.
    """

    total: SpanTotal
    began_ns: int | None = None
    depth: int = 0
    late_ns: int = 0


@guarded
class FrameSpanModel(ListTableModel[SpanRow]):
    """A row for each phase, member and timer, in the order in which they began.

    Attributes:
        unlisted_count: How many have no row: those that took least.
    """

    def __init__(self, theme: Theme) -> None:
        """Begin without rows."""
        super().__init__(_HEADER)
        self._theme = theme
        self._whole_ns = 0
        self.unlisted_count = 0

    @property
    def rows(self) -> Sequence[SpanRow]:
        """The rows."""
        return self._rows

    def show_spans(self, spans: Sequence[Span], whole_ns: int) -> None:
        """Show the spans of one frame.

        Args:
            spans: The spans.
            whole_ns: What shares are shares of, the frame time.
        """
        found: dict[tuple[int, int, int], SpanRow] = {}
        for span in spans:
            key = (span.member_id, span.timer_id, span.phase)
            former = found.get(key)
            took_ns = span.took_ns if span.is_measured else 0
            if former is None:
                total = SpanTotal(
                    *(span.member_id, span.timer_id, span.label, span.kind, span.phase),
                    *(1, took_ns, took_ns),
                )
                found[key] = SpanRow(total, span.began_ns, span.depth, span.lateness_ns)
            else:
                total = replace(
                    former.total,
                    calls=former.total.calls + 1,
                    took_ns=former.total.took_ns + took_ns,
                    longest_ns=max(former.total.longest_ns, took_ns),
                )
                late_ns = max(former.late_ns, span.lateness_ns)
                found[key] = replace(former, total=total, late_ns=late_ns)
        self._show(list(found.values()), whole_ns)

    def show_totals(self, totals: Sequence[SpanTotal], whole_ns: int, unlisted: int = 0) -> None:
        """Show what was taken in several frames together.

        Args:
            totals: Who took what.
            whole_ns: What shares are shares of, the time of all frames.
            unlisted: How many were left out.
        """
        self._show([SpanRow(total) for total in totals], whole_ns, unlisted)

    def row_of(self, member_id: int, timer_id: int) -> int | None:
        """Return the row of a member or timer, ``None`` when it was not called."""
        for number, row in enumerate(self._rows):
            total = row.total
            if (member_id and total.member_id == member_id) or (
                timer_id and total.timer_id == timer_id
            ):
                return number
        return None

    def _show(self, rows: list[SpanRow], whole_ns: int, unlisted: int = 0) -> None:
        self.unlisted_count = unlisted
        keys = [(row.total.member_id, row.total.timer_id, row.total.phase) for row in rows]
        former = [(row.total.member_id, row.total.timer_id, row.total.phase) for row in self._rows]
        self._whole_ns = whole_ns
        if keys == former and rows:
            # The same rows with other numbers: what is selected stays selected.
            self._rows = rows
            last = self.index(len(rows) - 1, len(SpanColumn) - 1)
            self.dataChanged.emit(self.index(0, 0), last)
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    @override
    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = roles.DISPLAY) -> object:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row, column = self._rows[index.row()], SpanColumn(index.column())
        answer: object = None
        match role:
            case roles.DISPLAY:
                answer = one_line(self._text(row, column))
            case Role.RAW:
                answer = self._raw(row, column, index.row())
            case roles.ALIGNMENT:
                answer = _ALIGNED[column]
            case roles.DECORATION if column == SpanColumn.WHO and row.depth == 0:
                answer = self._theme.color_of_phase(row.total.phase)
            case roles.TOOL_TIP if row.total.kind == TIMER_KIND:
                answer = "It fired before the frame; single timers are not measured."
            case Role.SELECTION:
                answer = selection_of(row.total)
        return answer

    def _text(self, row: SpanRow, column: SpanColumn) -> str:  # noqa: PLR0911 - one a column
        total = row.total
        is_timer = total.kind == TIMER_KIND
        match column:
            case SpanColumn.WHO:
                # One step more than its depth, to lie behind the square in front of a phase.
                return f"{_INDENT * (row.depth + 1) if row.depth else ''}{total.label}"
            case SpanColumn.KIND:
                return total.kind
            case SpanColumn.PHASE:
                return "" if total.is_phase else total.phase.text
            case SpanColumn.BEGAN:
                return "" if row.began_ns is None or is_timer else _signed(row.began_ns)
            case SpanColumn.TOOK:
                return "–" if is_timer else format_duration(total.took_ns)
            case SpanColumn.SHARE:
                is_known = self._whole_ns and not is_timer
                return f"{total.took_ns / self._whole_ns:.1%}" if is_known else "–"
            case SpanColumn.CALLS:
                return "" if total.is_phase else f"{total.calls:,}"
            case SpanColumn.LONGEST:
                return "–" if is_timer else format_duration(total.longest_ns)
            case SpanColumn.LATE:
                return format_duration(row.late_ns) if is_timer and row.began_ns is not None else ""

    def _raw(  # noqa: PLR0911 - one a column
        self, row: SpanRow, column: SpanColumn, number: int
    ) -> object:
        total = row.total
        match column:
            case SpanColumn.BEGAN:
                return number if row.began_ns is None else row.began_ns
            case SpanColumn.TOOK | SpanColumn.SHARE:
                return total.took_ns
            case SpanColumn.CALLS:
                return total.calls
            case SpanColumn.LONGEST:
                return total.longest_ns
            case SpanColumn.LATE:
                return row.late_ns
            case SpanColumn.PHASE:
                return int(total.phase)
            case SpanColumn.WHO:
                return total.label
            case SpanColumn.KIND:
                return total.kind


def selection_of(subject: Span | SpanTotal) -> Selection:
    """Return the selection that shows who a span is about; nothing for a phase."""
    if subject.member_id:
        return Selection.member(subject.member_id)
    if subject.timer_id:
        return Selection.timer(subject.timer_id)
    return Selection.nothing()


def _signed(ns: int) -> str:
    return f"{'−' if ns < 0 else ''}{format_duration(abs(ns))}"
