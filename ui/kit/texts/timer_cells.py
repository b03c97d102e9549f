"""What the columns of the timer queue say about one timer, as of one refresh."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from inspector.timebase import format_duration, format_instant

from .clock_texts import path_text

if TYPE_CHECKING:
    from inspector.events.timeline import Timeline
    from inspector.events.timer_table import TimerRow


class TimerColumn(IntEnum):
    """The columns of the timer queue."""

    NAME = 0
    CLOCK = 1
    KIND = 2
    DUE_LOCAL = 3
    DUE_SESSION = 4
    REMAINING = 5
    INTERVAL = 6
    FIRED = 7
    LATENESS = 8
    CALL_SITE = 9


#: Title and explanation of each column.
TIMER_HEADERS: Final = {
    TimerColumn.NAME: ("Timer", "Name or callback of the timer"),
    TimerColumn.CLOCK: ("Clock", "The clock whose local time it waits for"),
    TimerColumn.KIND: ("Kind", "Once or repeating, with the policy for missed ticks"),
    TimerColumn.DUE_LOCAL: ("Due, local (m:s)", "Local time of its clock at which it fires"),
    TimerColumn.DUE_SESSION: (
        "Due, session (m:s)",
        "Session time of that instant, at present rates and pauses",
    ),
    TimerColumn.REMAINING: ("Fires in", "Session time until then, or what it waits for"),
    TimerColumn.INTERVAL: ("Every", "Local time between two ticks of a repeating timer"),
    TimerColumn.FIRED: ("Fired (×)", "How often it has fired"),
    TimerColumn.LATENESS: ("Last late by", "Lateness of its last firing"),
    TimerColumn.CALL_SITE: ("Set at", "Source line that scheduled it"),
}

#: Columns that stay as they are while a timer waits and repeats; they hold text.
CONSTANT_COLUMNS: Final = frozenset(
    {TimerColumn.NAME, TimerColumn.CLOCK, TimerColumn.KIND, TimerColumn.CALL_SITE}
)


@dataclass(frozen=True, slots=True)
class TimerCells:
    """One row of the timer queue.

    The timeline moves on between two refreshes of the table; all cells of all rows
    must still be of one instant, or their order looks wrong.

    Attributes:
        timer: The timer.
        clock_name: The name of its clock.
        clock_path: The names from the root down to its clock.
        session_due_ns: When it fires at present rates, ``None`` for never.
        remaining_ns: How long until then.
        remaining_text: The same for people, or what it waits for.
    """

    timer: TimerRow
    clock_name: str
    clock_path: str
    session_due_ns: int | None
    remaining_ns: int | None
    remaining_text: str

    def text(self, column: int) -> str:  # noqa: C901, PLR0911 - one line a column
        """Return what a cell shows."""
        timer = self.timer
        match column:
            case TimerColumn.NAME:
                return timer.label
            case TimerColumn.CLOCK:
                return self.clock_name
            case TimerColumn.KIND:
                return timer.kind.text
            case TimerColumn.DUE_LOCAL:
                return format_instant(timer.due_ns)
            case TimerColumn.DUE_SESSION:
                due_ns = self.session_due_ns
                return "–" if due_ns is None else format_instant(due_ns)
            case TimerColumn.REMAINING:
                return self.remaining_text
            case TimerColumn.INTERVAL:
                return format_duration(timer.interval_ns) if timer.interval_ns else ""
            case TimerColumn.FIRED:
                return f"{timer.fired:,}" if timer.fired else ""
            case TimerColumn.LATENESS:
                return format_duration(timer.last_lateness_ns) if timer.fired else ""
            case TimerColumn.CALL_SITE:
                return short_site(timer.call_site)
            case _:
                return ""

    def raw(self, column: int) -> object:  # noqa: C901, PLR0911 - one line a column
        """Return the value itself."""
        timer = self.timer
        match column:
            case TimerColumn.NAME:
                return timer.label
            case TimerColumn.CLOCK:
                return timer.clock_id
            case TimerColumn.KIND:
                return timer.kind
            case TimerColumn.DUE_LOCAL:
                return timer.due_ns
            case TimerColumn.DUE_SESSION:
                return self.session_due_ns
            case TimerColumn.REMAINING:
                return self.remaining_ns
            case TimerColumn.INTERVAL:
                return timer.interval_ns
            case TimerColumn.FIRED:
                return timer.fired
            case TimerColumn.LATENESS:
                return timer.last_lateness_ns
            case TimerColumn.CALL_SITE:
                return timer.call_site
            case _:
                return None

    def tool_tip(self, column: int) -> str:
        """Return what a cell says at length."""
        timer = self.timer
        match column:
            case TimerColumn.CLOCK:
                return self.clock_path
            case TimerColumn.DUE_LOCAL:
                return f"{timer.due_ns:,} ns"
            case TimerColumn.DUE_SESSION:
                due_ns = self.session_due_ns
                return "never at present rates" if due_ns is None else f"{due_ns:,} ns"
            case TimerColumn.LATENESS if timer.fired:
                return f"{timer.last_lateness_ns:,} ns"
            case TimerColumn.CALL_SITE:
                return timer.call_site or "unknown"
            case _:
                return self.text(column)


def timer_cells(timeline: Timeline, timer_id: int) -> TimerCells | None:
    """Return what there is to show of a timer now, ``None`` when it is not pending."""
    if timer_id not in timeline.timers:
        return None
    timer = timeline.timers.row(timer_id)
    due_ns = timeline.session_due_ns(timer_id)
    return TimerCells(
        timer=timer,
        clock_name=timeline.clocks[timer.clock_id].name,
        clock_path=path_text(timeline, timer.clock_id),
        session_due_ns=due_ns,
        remaining_ns=None if due_ns is None else due_ns - timeline.at_ns,
        remaining_text=remaining_text(timeline, timer),
    )


def remaining_text(timeline: Timeline, timer: TimerRow) -> str:
    """Return how long until a timer fires, or what it waits for."""
    due_ns = timeline.session_due_ns(timer.id)
    if due_ns is not None:
        remaining_ns = due_ns - timeline.at_ns
        return format_duration(remaining_ns) if remaining_ns > 0 else "now"
    reasons = timeline.pause_reasons(timer.clock_id)
    if not reasons:
        return "never at this rate"
    reason = reasons[0]
    stopped = "has rate 0" if reason.is_rate_zero else "is paused"
    return f"waiting: “{reason.clock_name}” {stopped}"


def short_site(call_site: str) -> str:
    """Return a call site without the folders: ``scene.py:12 in build``."""
    path, separator, rest = call_site.partition(" in ")
    return path.replace("\\", "/").rpartition("/")[2] + separator + rest
