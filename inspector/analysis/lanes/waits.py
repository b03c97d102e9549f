"""The waits of the timers of a lane."""

from __future__ import annotations

from itertools import chain
from typing import Final, NamedTuple

from inspector.analysis.lanes.lanes import Lane
from inspector.analysis.predict.timers import waiting
from inspector.display_text import one_line
from inspector.events.timeline import Timeline
from inspector.timebase import NS_PER_SECOND, format_duration
from inspector.vocabulary import NEVER

#: The most timers of a lane that are considered.
MOST_TIMERS: Final = 64
#: Precedes the name of the clock that has to be resumed.
PAUSE_SIGN: Final = "‖ "


class LaneWait(NamedTuple):
    # How long until the first timer fires, if that is to the right of the view, else 0.
    due_in_ns: int = 0
    late_ns: int = 0  # How long ago it should have fired, 0 if it is not late
    # Names of the clocks that have to be resumed before one can fire, the nearest first.
    paused: tuple[str, ...] = ()
    paused_id: int = 0  # The number of the first; 0 for none

    @property
    def briefs(self) -> tuple[str, ...]:
        """Shorter texts for several paused clocks, the longer one first; empty for one clock."""
        count = len(self.paused)
        if count <= 1:
            return ()
        first = f"{PAUSE_SIGN}{one_line(self.paused[0])} +{count - 1}"
        return first, f"{PAUSE_SIGN}{count} clocks"

    def text(self, least_late_ns: float) -> str:
        """Return the wait in a few words, without a lateness up to ``least_late_ns``."""
        if self.paused:
            return f"{PAUSE_SIGN}{one_line(', '.join(self.paused))}"
        if self.late_ns > least_late_ns:
            return f"late {format_duration(self.late_ns)}"
        return f"→ {calm_duration(self.due_in_ns)}" if self.due_in_ns else ""


def lane_wait(lane: Lane, timeline: Timeline, high_ns: float, *, is_past: bool) -> LaneWait:
    """Return what timers wait for at an instant; ``timeline`` has its dues resolved."""
    table = timeline.timers
    places = timer_rows(lane, timeline, MOST_TIMERS, is_past=is_past)
    if not places:
        return LaneWait()
    due_ns = min(table.session_due[each] for each in places)
    if due_ns == NEVER:
        reasons = timeline.pause_reasons(table.clock[places[0]])
        if not reasons:
            return LaneWait()
        names = tuple(each.clock_name for each in reasons)
        return LaneWait(paused=names, paused_id=reasons[0].clock_id)
    if due_ns < timeline.at_ns:
        return LaneWait(late_ns=timeline.at_ns - due_ns)
    return LaneWait(due_in_ns=due_ns - timeline.at_ns if due_ns > high_ns else 0)


def timer_rows(lane: Lane, timeline: Timeline, most: int, *, is_past: bool) -> list[int]:
    """Return the rows of timers of a lane that are pending, at present or in the past."""
    if not is_past:
        return timeline.timers.pending_rows(lane.pending.first(most))
    lanes = lane.members or [lane]
    found = (waiting(timeline, each.clock_id, each.sid, most) for each in lanes)
    return timeline.timers.pending_rows(chain.from_iterable(found))


def calm_duration(duration_ns: int) -> str:
    """Return a duration that is counted down, in tenths of a second so that it changes calmly."""
    tenths = round(duration_ns / (NS_PER_SECOND / 10))
    if 0 < tenths < 1_000:  # noqa: PLR2004 - three digits
        return f"{tenths / 10:.1f} s"
    return format_duration(tenths * (NS_PER_SECOND // 10) or duration_ns)
