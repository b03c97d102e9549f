"""The cells of clocks in the clock tree, all as of one instant."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from inspector.display_text import one_line
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import NEVER, RATE_DENOMINATOR, rate_text

from ..kit.table import roles
from ..kit.table.roles import Role
from ..kit.texts.clock_texts import fraction_text, next_dues, path_text, rate_algebra
from ..kit.texts.standing import Standing, StandingKind, standing_of
from .columns import HEADERS, ClockColumn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from inspector.events.states import ClockState
    from inspector.events.timeline import Timeline


class ClockCells:
    """Texts and raw values by column; what is laborious is kept until it may have changed."""

    def __init__(self) -> None:
        """Begin with nothing kept."""
        self._standings: dict[int, Standing] = {}
        self._next_due: NDArray[np.int64] | None = None
        self._at_ns = 0
        self._mapping_version = -1

    def forget(self) -> None:
        """Keep nothing of what was shown: another timeline follows."""
        self._standings.clear()
        self._next_due = None
        self._mapping_version = -1

    def forget_standings(self) -> None:
        """Look anew who runs and who does not."""
        self._standings.clear()

    def take_instant(self, timeline: Timeline) -> None:
        """Show the present of a timeline from now on, in all rows."""
        self._next_due = None
        self._at_ns = timeline.at_ns
        self._mapping_version = timeline.mapping_version

    def standing(self, clock_id: int, timeline: Timeline) -> Standing:
        """Return what a clock does now, and why."""
        standing = self._standings.get(clock_id)
        if standing is None:
            standing = self._standings[clock_id] = standing_of(timeline, clock_id)
        return standing

    def is_lively(self, clock_id: int, timeline: Timeline) -> bool:
        """Whether nothing but the transport stops a clock."""
        kind = self.standing(clock_id, timeline).kind
        return kind in (StandingKind.RUNNING, StandingKind.HELD)

    def data(  # noqa: PLR0911 - one question a role
        self, clock: ClockState, column: int, role: int, timeline: Timeline
    ) -> object:
        """Return what a cell says in a role; looks are the model's."""
        if role == roles.DISPLAY:
            return one_line(self.text(clock, column, timeline))
        if role == roles.EDIT:
            return self.text(clock, column, timeline)
        if role == roles.TOOL_TIP:
            return self._tool_tip(clock, column, timeline)
        if role == roles.CHECK_STATE and column == ClockColumn.NAME:
            return Qt.CheckState.Unchecked if clock.paused else Qt.CheckState.Checked
        if role == roles.ACCESSIBLE_TEXT:
            return f"{HEADERS[ClockColumn(column)][0]}: {self.text(clock, column, timeline)}"
        if role == Role.ID:
            return clock.id
        return self._raw(clock, column, timeline) if role == Role.RAW else None

    def text(self, clock: ClockState, column: int, timeline: Timeline) -> str:  # noqa: PLR0911
        """Return what a cell says, as it is."""
        match column:
            case ClockColumn.NAME:
                return clock.name
            case ClockColumn.LOCAL_TIME:
                return format_instant(self._local_ns(clock.id, timeline))
            case ClockColumn.RATE:
                return rate_text(clock.rate_n)
            case ClockColumn.EFFECTIVE_RATE:
                return fraction_text(timeline.effective_rate(clock.id))
            case ClockColumn.STATE:
                return self.standing(clock.id, timeline).text
            case ClockColumn.PENDING:
                return str(clock.pending) if clock.pending else ""
            case ClockColumn.NEXT_DUE:
                return self._next_due_text(clock, timeline)
            case _:
                return ""

    def _next_due_text(self, clock: ClockState, timeline: Timeline) -> str:
        if not clock.pending:
            return ""
        due_ns = self._next_due_ns(clock.id, timeline)
        if due_ns == NEVER:
            return "waiting"
        remaining_ns = due_ns - self._at_ns
        return format_duration(remaining_ns) if remaining_ns > 0 else "now"

    def _local_ns(self, clock_id: int, timeline: Timeline) -> int:
        """Return the local time at the last refresh, so that all rows show one instant."""
        if timeline.mapping_version != self._mapping_version:
            return timeline.local_ns(clock_id)
        return timeline.local_ns(clock_id, self._at_ns)

    def _next_due_ns(self, clock_id: int, timeline: Timeline) -> int:
        if self._next_due is None:
            self._next_due = next_dues(timeline)
        return int(self._next_due[clock_id]) if clock_id < self._next_due.size else NEVER

    def _tool_tip(self, clock: ClockState, column: int, timeline: Timeline) -> str | None:
        match column:
            case ClockColumn.NAME:
                return f"{path_text(timeline, clock.id)}\n{self.standing(clock.id, timeline).text}"
            case ClockColumn.LOCAL_TIME:
                return f"{self._local_ns(clock.id, timeline):,} ns"
            case ClockColumn.EFFECTIVE_RATE:
                return rate_algebra(timeline, clock.id)
            case ClockColumn.STATE:
                return self.standing(clock.id, timeline).text
            case _:
                return None

    def _raw(  # noqa: PLR0911 - one line a column
        self, clock: ClockState, column: int, timeline: Timeline
    ) -> object:
        match column:
            case ClockColumn.NAME:
                return clock.name
            case ClockColumn.LOCAL_TIME:
                return self._local_ns(clock.id, timeline)
            case ClockColumn.RATE:
                return Fraction(clock.rate_n, RATE_DENOMINATOR)
            case ClockColumn.EFFECTIVE_RATE:
                return timeline.effective_rate(clock.id)
            case ClockColumn.STATE:
                return self.standing(clock.id, timeline).kind
            case ClockColumn.PENDING:
                return clock.pending
            case ClockColumn.NEXT_DUE:
                return self._next_due_ns(clock.id, timeline)
            case _:
                return None
