"""The time that calls took in one frame or several, as a Qt table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from msgspec import Struct, structs
from typing_extensions import override

from inspector.analysis.frame_spans import TIMER_KIND, FrameSpan
from inspector.analysis.frame_sums import SpanTotal
from inspector.timebase import format_duration
from inspector.vocabulary import MemberKind

from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.theme import Theme, phase_color
from ..session.bridge import Selection

_INDENT: Final = "    "
#: Members and timers that are listed.
MAX_ROWS: Final = 5_000


class SpanRow(Struct, frozen=True):
    """What one subject took."""

    total: SpanTotal  # What it took together
    # When it was first called, from the start of the frame; None when the row is about several
    # frames.
    began_ns: int | None = None
    depth: int = 0  # How deep it lies, 0 for a phase
    late_ns: int = 0  # How late it fired at most
    share: float | None = None  # Its share of the frame time, None where that is not known
    number: int = 0  # Its place among the rows, for what has no instant to be sorted by

    @property
    def is_timer(self) -> bool:
        """Whether it is a timer, which is not measured."""
        return self.total.kind == TIMER_KIND


def _signed(ns: int) -> str:
    return f"{'−' if ns < 0 else ''}{format_duration(abs(ns))}"


def _who_text(row: SpanRow) -> str:
    # One step more than its depth, to lie behind the square in front of a phase.
    return f"{_INDENT * (row.depth + 1) if row.depth else ''}{row.total.label}"


def _measured(duration: Callable[[SpanTotal], int]) -> Callable[[SpanRow], str]:
    return lambda row: "–" if row.is_timer else format_duration(duration(row.total))


def _late_text(row: SpanRow) -> str:
    is_known = row.is_timer and row.began_ns is not None
    return format_duration(row.late_ns) if is_known else ""


def _phase_text(row: SpanRow) -> str:
    is_in_phase = not row.total.is_phase and row.total.kind != MemberKind.SLICE.text
    return row.total.phase.text if is_in_phase else ""


def _tip(row: SpanRow) -> str | None:
    return "It fired before the frame; single timers are not measured." if row.is_timer else None


_column = Column[SpanRow]


class SpanColumn(ColumnEnum):
    """The columns of the table."""

    # fmt: off
    WHO = _column(
        "Who", _who_text, "The phase, callback or timer", _tip, lambda row: row.total.label,
        "        a rather long name", least="    move player",
        mark=lambda row: phase_color(row.total.phase) if row.depth == 0 else None)
    TOOK = _column(
        "Took", _measured(lambda total: total.took_ns), "Measured total of its calls", _tip,
        lambda row: row.total.took_ns, "000.0 ms", is_number=True)
    SHARE = _column(
        "Share", lambda row: "–" if row.share is None else f"{100 * row.share:.1f} %",
        "Share of the frame time", _tip, lambda row: row.total.took_ns, "00.0 %", is_number=True,
        yields=6)
    CALLS = _column(
        "Calls", lambda row: "" if row.total.is_phase else f"{row.total.calls:,}",
        "How often it was called", _tip, lambda row: row.total.calls, "0,000", is_number=True,
        yields=5)
    BEGAN = _column(
        "Began", lambda row: "" if row.began_ns is None or row.is_timer else _signed(row.began_ns),
        "When it was first called, from the start of the frame", _tip,
        lambda row: row.number if row.began_ns is None else row.began_ns, "−00.0 ms",
        is_number=True, yields=7)
    LONGEST = _column(
        "Longest", _measured(lambda total: total.longest_ns), "Its longest call", _tip,
        lambda row: row.total.longest_ns, "00.0 ms", is_number=True, yields=3)
    LATE = _column(
        "Late", _late_text, "How late the timer fired; the maximum if it fired several times",
        _tip, lambda row: row.late_ns, "00.0 ms", is_number=True, yields=4)
    KIND = _column(
        "Kind", lambda row: row.total.kind, "Kind of callback", _tip, sample="frame callback",
        yields=2)
    PHASE = _column(
        "Phase", _phase_text,
        "Phase of the frame that called it", _tip, lambda row: int(row.total.phase),
        least="late update", yields=1)
    # fmt: on


class FrameSpanModel(ListTableModel[SpanRow]):
    """A row for each phase, member and timer, in the order in which they began.

    Attributes:
        unlisted_count: How many have no row: those that took least.
    """

    is_sortable = True

    def __init__(self, theme: Theme) -> None:
        super().__init__(SpanColumn, theme)
        self.unlisted_count = 0

    @override
    def key_of(self, row: SpanRow) -> tuple[int, int, int, str]:
        total = row.total
        label = total.label if total.is_phase else ""
        return total.member_id, total.timer_id, total.phase, label

    def show_spans(self, spans: Sequence[FrameSpan], whole_ns: int) -> None:
        """Show the spans of one frame; shares are shares of ``whole_ns``, the frame time."""
        found: dict[tuple[int, int, int, str], SpanRow] = {}
        top = 0
        for span in spans:
            # Several threads of a trace are in the same phase, below each other.
            top = span.depth if span.is_phase else top
            key = (span.member_id, span.timer_id, span.phase, span.label if span.is_phase else "")
            former = found.get(key)
            took_ns = 0 if span.timer_id else span.took_ns
            if former is None:
                total = SpanTotal(
                    *(span.member_id, span.timer_id, span.label, span.kind, span.phase),
                    *(1, took_ns, took_ns),
                )
                found[key] = SpanRow(total, span.began_ns, span.depth - top, span.lateness_ns)
            else:
                total = replace(
                    former.total,
                    calls=former.total.calls + 1,
                    took_ns=former.total.took_ns + took_ns,
                    longest_ns=max(former.total.longest_ns, took_ns),
                )
                late_ns = max(former.late_ns, span.lateness_ns)
                found[key] = structs.replace(former, total=total, late_ns=late_ns)
        self._show(list(found.values()), whole_ns)

    def show_totals(self, totals: Sequence[SpanTotal], whole_ns: int, unlisted: int = 0) -> None:
        """Show several frames together; shares are of ``whole_ns``, the time of all."""
        self._show([SpanRow(total) for total in totals], whole_ns, unlisted)

    def row_about(self, member_id: int, timer_id: int) -> int | None:
        for number, row in enumerate(self.rows):
            total = row.total
            if (member_id and total.member_id == member_id) or (
                timer_id and total.timer_id == timer_id
            ):
                return number
        return None

    def _show(self, rows: list[SpanRow], whole_ns: int, unlisted: int = 0) -> None:
        self.unlisted_count = unlisted
        self.set_rows(
            structs.replace(
                row,
                share=_share(row, whole_ns),
                number=number,
            )
            for number, row in enumerate(rows)
        )


def _share(row: SpanRow, whole_ns: int) -> float | None:
    """Return which part of the time a row took; of calls at the same time it is not known."""
    took_ns = row.total.took_ns
    return took_ns / whole_ns if 0 <= took_ns <= whole_ns > 0 and not row.is_timer else None


def selection_of(subject: FrameSpan | SpanTotal) -> Selection:
    if subject.member_id:
        return Selection.member(subject.member_id)
    if subject.timer_id:
        return Selection.timer(subject.timer_id)
    return Selection.nothing()
