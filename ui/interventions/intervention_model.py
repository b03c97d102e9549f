"""The table of interventions: commands and breakpoint hits, a row for each, only appended to."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple

from typing_extensions import override

from inspector.analysis.intervention_list import Intervention, InterventionList
from inspector.commands.command import Undoing
from inspector.events.timeline import Timeline
from inspector.timebase import format_instant

from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.theme import ColorRole, Theme
from ..session.selection import Selection

_MS_PER_SECOND: Final = 1_000


class InterventionRow(NamedTuple):
    """A command or a hit."""

    entry: Intervention  # What it says
    undoing: Undoing | None  # What can be undone, None where nothing can

    @property
    def can_undo(self) -> bool:
        entry, undoing = self
        return not entry.is_hit and undoing is not None and undoing.of(entry.number) is not None


@lru_cache(maxsize=4_096)
def host_time_text(host_ms: int, *, is_full: bool = False) -> str:
    """Return milliseconds since 1970 on the local wall clock, empty for 0 and absurd ones."""
    if not host_ms:
        return ""
    try:
        when = datetime.fromtimestamp(host_ms // _MS_PER_SECOND).astimezone()
    except (OverflowError, OSError, ValueError):
        return ""
    text = f"{when:%H:%M:%S}.{host_ms % _MS_PER_SECOND:03d}"
    return f"{when:%A, %Y-%m-%d} {text} {when:%Z}".rstrip() if is_full else text


def _local_text(row: InterventionRow) -> str:
    entry = row.entry
    if entry.local_ns is None:
        return ""
    return f"{format_instant(entry.local_ns)} {entry.clock_name}".rstrip()


def _outcome_tip(row: InterventionRow) -> str:
    return f"{row.entry.text}\n{row.entry.outcome}"


def _host_tip(row: InterventionRow) -> str:
    host_ms = row.entry.host_ms
    return host_time_text(host_ms, is_full=True) if host_ms else "Unknown"


_column = Column[InterventionRow]


class InterventionColumn(ColumnEnum):
    """The columns of the table."""

    # fmt: off
    NUMBER = _column(
        "No.", lambda row: row.entry.label,
        "Number of the command, or b and the number of the breakpoint", sample="9,999",
        is_number=True, is_searched=True)
    AT = _column(
        "Session (m:s)", lambda row: format_instant(row.entry.at_ns),
        "Session time, in minutes and seconds", lambda row: f"Frame {row.entry.frame:,}",
        sample="0:00:00.000", is_number=True)
    LOCAL = _column(
        "Local time", _local_text, "Local time of the affected clock, or of the root clock",
        lambda row: None if row.entry.host_ms else "Unknown", sample="0:00:00.000 240 Hz screen  ",
        least="0:00:00.000", is_searched=True, yields=2)
    HOST = _column(
        "Host time", lambda row: host_time_text(row.entry.host_ms),
        "Wall-clock time of this computer", _host_tip, sample="00:00:00.000", is_number=True,
        yields=1)
    WHAT = _column(
        "What", lambda row: row.entry.text, detail=_outcome_tip, least="Resume “enemies”",
        is_searched=True)
    BY = _column(
        "By", lambda row: row.entry.by, "Who requested it", sample="breakpoint 99",
        is_searched=True, yields=3)
    RESULT = _column(
        "Result", lambda row: row.entry.outcome, "Carried out, refused, or undone since",
        _outcome_tip, sample="refused: there is no such clock", least="refused: there",
        is_searched=True,
        color=lambda row: ColorRole.RED if row.entry.refusal else None)
    UNDO = _column(
        "Undo", lambda row: "Undo" if row.can_undo else "",
        detail=lambda row: f"Undo: {row.entry.text}" if row.can_undo else "It cannot be undone",
        sample="Undo", is_copied=False,
        color=lambda row: ColorRole.BLUE if row.can_undo else None)
    # fmt: on


class InterventionModel(ListTableModel[InterventionRow]):
    """Commands and breakpoint hits in the order in which they happened.

    Rows that were shown stay where they are: a refresh costs what is new.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(InterventionColumn, theme)
        self._list: InterventionList | None = None
        self._undoing: Undoing | None = None

    @override
    def key_of(self, row: InterventionRow) -> object:
        return row.entry.is_hit, row.entry.number, row.entry.at_ns

    @override
    def color_of(self, row: InterventionRow, column: ColumnEnum) -> ColorRole | None:
        undone = ColorRole.MUTED if row.entry.undone_by else None
        return super().color_of(row, column) or undone

    def set_session(self, timeline: Timeline | None, undoing: Undoing | None) -> None:
        """Show another session's interventions, and what of them can be undone."""
        self._list = None if timeline is None else InterventionList(timeline)
        self._undoing = undoing
        self.set_rows(())
        self.refresh()

    def refresh(self) -> int:
        if self._list is None:
            return 0
        entries, undoing = self._list.entries, self._undoing
        first = len(entries)
        changed = self._list.add_new()
        added = self.add_rows([InterventionRow(entry, undoing) for entry in entries[first:]])
        for place in changed:
            self.change_row(place, InterventionRow(entries[place], undoing))
        return added


def selection_of(entry: Intervention) -> Selection:
    """Return what an intervention is about: the clock it names, else the frame it came before."""
    if entry.clock_id and not entry.is_hit:
        return Selection.clock(entry.clock_id)
    return Selection.frame(entry.frame)
