"""The plain tables of a recording, filled from blocks of events."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from inspector.events.recording.columns import events_of, kind_table, of_kinds
from inspector.events.recording.writing.timer_rows import TimerRows
from inspector.events.schema import Fold, kinds_with
from inspector.vocabulary import RATE_DENOMINATOR, EventKind, Phase

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from inspector.events.recording.columns import Block
    from inspector.events.timeline import Timeline
    from inspector.vocabulary import RawEvent


_RARE: Final = (
    EventKind.CLOCK_ADDED,
    EventKind.CLOCK_ANCHORED,
    EventKind.CLOCK_RATE,
    EventKind.CLOCK_PAUSED,
    EventKind.CLOCK_RESUMED,
    EventKind.CLOCK_MOVED,
    EventKind.CLOCK_REMOVED,
    EventKind.CALLBACK_FAILED,
    EventKind.MARK,
    EventKind.COMMAND,
    EventKind.COMMAND_CONTEXT,
    EventKind.BREAKPOINT_HIT,
    EventKind.STATE_ENTERED,
)
_rare = kind_table(_RARE)
_of_timers = kind_table(kinds_with(fold=Fold.TIMER))
#: Table and placeholders are filled in.
INSERT: Final = "INSERT OR REPLACE INTO {} VALUES ({})"


class PlainTables:
    """Holds rows until they are written; a timer that came and went is written once."""

    def __init__(self, strings: Sequence[str]) -> None:
        self._strings = strings
        self._rows: list[tuple[str, Sequence[Any]]] = []
        self._counts: Counter[str] = Counter()
        self._timers = TimerRows(strings)
        self._parents: dict[int, int] = {}
        self._last_command = -1

    def begin(self, timeline: Timeline) -> None:
        """Take over a state: the first, or the first after a gap."""
        self._parents.clear()
        self._rows.append(("DELETE FROM pauses WHERE to_ns IS NULL", ()))
        self._rows.append(("UPDATE timers SET gone_by='not known' WHERE gone_by IS NULL", ()))
        for clock in timeline.clocks.values():
            self._add_clock(clock.id, clock.name, clock.parent_id, clock.created_ns)
            self._set_rate(clock.id, clock.rate_n)
            if clock.paused:
                self._pause(clock.id, clock.paused_since_ns, clock.pause_cause)
        self._add_lists(timeline)
        self._timers.begin([timeline.timers.row(each) for each in timeline.timers.ids()])

    def _add_lists(self, timeline: Timeline) -> None:
        """Add missing entries of lists; their cursors are unknown."""
        seen = dict(self._counts)
        for command in timeline.commands[seen.get("commands", 0) :]:
            row = [None, command.at_ns, command.number, command.text, command.refusal]
            self._add("commands", [*row, command.clock_id, command.host_ms, command.by])
        for failure in timeline.failures[seen.get("errors", 0) :]:
            row = [None, failure.at_ns, failure.timer_id, failure.label, failure.traceback]
            self._add("errors", row)
        for mark in timeline.marks[seen.get("marks", 0) :]:
            self._add("marks", [None, mark.at_ns, mark.clock_id, mark.text])
        for hit in timeline.hits[seen.get("hits", 0) :]:
            self._add("hits", [None, hit.at_ns, hit.number, hit.frame, hit.text])

    def take(self, block: Block, first_cursor: int) -> None:
        """Read a block of events."""
        timers = np.flatnonzero(of_kinds(block, _of_timers))
        if timers.size:
            self._timers.take(block[:, timers])
        rare = np.flatnonzero(of_kinds(block, _rare))
        cursors = (rare + first_cursor).tolist()
        for cursor, event in zip(cursors, events_of(block[:, rare]), strict=True):
            self._take_rare(cursor, event)

    def _add(self, table: str, values: Sequence[Any]) -> None:
        self._counts[table] += 1
        marks = ",".join("?" * len(values))
        self._rows.append((INSERT.format(table, marks), values))

    def _take_rare(self, cursor: int, event: RawEvent) -> None:
        strings = self._strings
        at_ns, kind, subject, a, b = event
        match kind:
            case EventKind.CALLBACK_FAILED:
                self._add("errors", [cursor, at_ns, subject, strings[a], strings[b]])
            case EventKind.MARK:
                self._add("marks", [cursor, at_ns, subject, strings[a]])
            case EventKind.COMMAND:
                # Its context follows, possibly in the next block.
                self._last_command = cursor
                row = [cursor, at_ns, subject, strings[a], strings[b], None, None, ""]
                self._add("commands", row)
            case EventKind.COMMAND_CONTEXT:
                where = [subject, a, strings[b], self._last_command]
                text = 'UPDATE commands SET clock=?, host_ms=?, "by"=? WHERE cursor=?'
                self._rows.append((text, where))
            case EventKind.BREAKPOINT_HIT:
                self._add("hits", [cursor, at_ns, subject, b, strings[a]])
            case EventKind.STATE_ENTERED:
                self._add("states", [cursor, at_ns, subject, strings[a], strings[b]])
            case _:
                self._take_clock(event)

    def _take_clock(self, event: RawEvent) -> None:
        at_ns, kind, clock, a, b = event
        match kind:
            case EventKind.CLOCK_ADDED:
                self._add_clock(clock, self._strings[b], a, at_ns)
            case EventKind.CLOCK_ANCHORED:
                self._set_rate(clock, b)
            case EventKind.CLOCK_RATE:
                self._set_rate(clock, a)
            case EventKind.CLOCK_PAUSED:
                self._pause(clock, at_ns, a)
            case EventKind.CLOCK_RESUMED:
                self._end_pause(clock, at_ns)
            case EventKind.CLOCK_MOVED:
                self._parents[clock] = a
                self._rows.append(("UPDATE clocks SET parent=? WHERE clock=?", [a, clock]))
            case EventKind.CLOCK_REMOVED:
                self._remove_branch(clock, at_ns)

    def _add_clock(self, clock: int, name: str, parent: int, at_ns: int) -> None:
        self._parents[clock] = parent
        self._add("clocks", [clock, name, parent, 1.0, at_ns, None])

    def _set_rate(self, clock: int, rate_n: int) -> None:
        text = "UPDATE clocks SET rate=? WHERE clock=?"
        self._rows.append((text, [rate_n / RATE_DENOMINATOR, clock]))

    def _pause(self, clock: int, at_ns: int, cause: int) -> None:
        self._add("pauses", [clock, at_ns, None, cause])

    def _end_pause(self, clock: int, at_ns: int) -> None:
        text = "UPDATE pauses SET to_ns=? WHERE clock=? AND to_ns IS NULL"
        self._rows.append((text, [at_ns, clock]))

    def _remove_branch(self, clock: int, at_ns: int) -> None:
        gone = {clock}
        # Clocks below come after those above, unless they were moved.
        while more := {c for c, above in self._parents.items() if above in gone} - gone:
            gone |= more
        for each in gone:
            self._parents.pop(each, None)
            self._end_pause(each, at_ns)
            text = "UPDATE clocks SET removed_ns=? WHERE clock=?"
            self._rows.append((text, [at_ns, each]))
        self._timers.remove_of(gone, at_ns)

    def flush(self, connection: sqlite3.Connection) -> None:
        """Write the rows so far."""
        for text, values in self._rows:
            connection.execute(text, values)
        self._rows.clear()
        self._timers.flush(connection)


# Rows of the columns, in the order of the table.
_FRAME, _CURSOR, _AT, _INTERVAL, _DELTA, _BUSY, _CUT, _FIRST_PHASE = range(8)
_ROWS: Final = _FIRST_PHASE + len(Phase)


class FrameCollector:
    """Finds the frames that end in consecutive blocks of events."""

    def __init__(self, timeline: Timeline) -> None:
        self.end = timeline.frames.end
        # The frame that has not ended.
        self._open = np.zeros(_ROWS, np.int64)
        self._open[[_AT, _DELTA]] = timeline._frame_at_ns, timeline._frame_delta_ns
        self._open[_CUT] = timeline._frame_cut_ns
        self._open[_FIRST_PHASE:] = timeline._frame_phases

    def take(self, block: Block, first_cursor: int) -> Block:
        """Return the frames that ended in a block, in the columns of ``frames``."""
        at_ns, kind, subject, a, b = block
        is_end = kind == EventKind.FRAME_ENDED
        ended = np.flatnonzero(is_end)
        count = len(ended)
        # The frame of each event, counted from the first.
        frame_of = np.cumsum(is_end)
        # The last one has not ended.
        frames = np.zeros((_ROWS, count + 1), np.int64)
        frames[_FRAME] = np.arange(self.end, self.end + count + 1)
        frames[_CURSOR, :count] = ended + (first_cursor + 1)
        frames[_INTERVAL, :count], frames[_BUSY, :count] = a[ended], b[ended]
        began = np.flatnonzero(kind == EventKind.FRAME_BEGAN)
        start = np.full(count + 1, -1)
        start[frame_of[began]] = began
        if start[0] < 0:
            frames[_CUT:, 0] = self._open[_CUT:]
        # Where none has begun, the previous one continues.
        since = np.maximum.accumulate(start)
        frames[_AT], frames[_DELTA] = at_ns[since], b[since]
        goes_on = since < 0
        frames[_AT, goes_on], frames[_DELTA, goes_on] = self._open[_AT], self._open[_DELTA]

        def inside(part: EventKind) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
            """Return the indexes of events inside frames, and their frames."""
            at = np.flatnonzero(kind == part)
            frame = frame_of[at]
            is_inside = at > start[frame]
            return at[is_inside], frame[is_inside]

        at, frame = inside(EventKind.DELTA_CUT)
        frames[_CUT, frame] = a[at]
        at, frame = inside(EventKind.PHASE_ENDED)
        np.add.at(frames.reshape(-1), (_FIRST_PHASE + subject[at]) * (count + 1) + frame, b[at])
        self.end += count
        self._open = frames[:, count].copy()
        return frames[:, :count]
