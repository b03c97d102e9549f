"""The plain tables of a recording, filled from blocks of events."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from inspector.events.blocks.packed_columns import Block, events_of, kind_table, of_kinds
from inspector.events.handlers import handlers_of
from inspector.events.recording.writing.timer_rows import TimerRows
from inspector.events.schema import Fold, kinds_with
from inspector.events.timeline import Timeline
from inspector.vocabulary import RATE_DENOMINATOR, LoopKind

_of_timers = kind_table(kinds_with(fold=Fold.TIMER))
#: A template for a table and its placeholders.
INSERT: Final = "INSERT OR REPLACE INTO {} VALUES ({})"


class PlainTables:
    """Collects rows until they are written; a timer that came and went is written once."""

    def __init__(self, strings: Sequence[str]) -> None:
        self._strings = strings
        self._rows: list[tuple[str, Sequence[Any]]] = []
        self._counts: Counter[str] = Counter()
        self._timers = TimerRows(strings)
        self._parents: dict[int, int]
        self._frames_of: int
        self._cursor = self._last_command = -1
        self._steps = handlers_of(self)
        self._rare = kind_table(self._steps)

    def begin(self, timeline: Timeline) -> None:
        """Start from a state: that at the beginning, or after a gap."""
        self._parents = {}
        self._rows.append(("DELETE FROM pauses WHERE to_ns IS NULL", ()))
        self._rows.append(("UPDATE timers SET gone_by='not known' WHERE gone_by IS NULL", ()))
        for clock in timeline.clocks.values():
            self._add_clock(clock.id, clock.name, clock.parent_id, clock.created_ns)
            self._set_rate(clock.id, clock.rate_n)
            if clock.paused:
                self._on_clock_paused(clock.paused_since_ns, clock.id, clock.pause_cause, 0)
        self._add_lists(timeline)
        self._frames_of = timeline.frames_of
        for clock_id, loop in timeline.loops.items():
            is_shown = int(clock_id == timeline.frames_of)
            self._add("loops", [clock_id, loop.name, loop.kind.text, is_shown])
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

    def add(self, block: Block, first_cursor: int) -> None:
        timers = np.flatnonzero(of_kinds(block, _of_timers))
        if timers.size:
            self._timers.add(block[:, timers])
        rare = np.flatnonzero(of_kinds(block, self._rare))
        cursors = (rare + first_cursor).tolist()
        for self._cursor, (at_ns, kind, subject, a, b) in zip(
            cursors, events_of(block[:, rare]), strict=True
        ):
            self._steps[kind](at_ns, subject, a, b)

    def _add(self, table: str, values: Sequence[Any]) -> None:
        self._counts[table] += 1
        marks = ",".join("?" * len(values))
        self._rows.append((INSERT.format(table, marks), values))

    def _on_callback_failed(self, at_ns: int, timer_id: int, label: int, traceback: int) -> None:
        texts = self._strings[label], self._strings[traceback]
        self._add("errors", [self._cursor, at_ns, timer_id, *texts])

    _on_thread_failed = _on_callback_failed

    def _on_mark(self, at_ns: int, clock: int, text: int, _b: int) -> None:
        self._add("marks", [self._cursor, at_ns, clock, self._strings[text]])

    def _on_command(self, at_ns: int, number: int, text: int, refusal: int) -> None:
        # The context of a command follows it, possibly in the next block.
        self._last_command = self._cursor
        texts = self._strings[text], self._strings[refusal]
        self._add("commands", [self._cursor, at_ns, number, *texts, None, None, ""])

    def _on_command_context(self, _at_ns: int, clock: int, host_ms: int, asker: int) -> None:
        where = [clock, host_ms, self._strings[asker], self._last_command]
        text = 'UPDATE commands SET clock=?, host_ms=?, "by"=? WHERE cursor=?'
        self._rows.append((text, where))

    def _on_breakpoint_hit(self, at_ns: int, number: int, text: int, frame: int) -> None:
        self._add("hits", [self._cursor, at_ns, number, frame, self._strings[text]])

    def _on_state_entered(self, at_ns: int, machine: int, state: int, transition: int) -> None:
        texts = self._strings[state], self._strings[transition]
        self._add("states", [self._cursor, at_ns, machine, *texts])

    def _on_clock_added(self, at_ns: int, clock: int, parent: int, name: int) -> None:
        self._add_clock(clock, self._strings[name], parent, at_ns)

    def _on_clock_anchored(self, _at_ns: int, clock: int, _epoch_ns: int, rate_n: int) -> None:
        self._set_rate(clock, rate_n)

    def _on_clock_rate(self, _at_ns: int, clock: int, rate_n: int, _cause: int) -> None:
        self._set_rate(clock, rate_n)

    def _on_clock_paused(self, at_ns: int, clock: int, cause: int, _b: int) -> None:
        self._add("pauses", [clock, at_ns, None, cause])

    def _on_clock_resumed(self, at_ns: int, clock: int, _cause: int, _b: int) -> None:
        self._end_pause(clock, at_ns)

    def _on_clock_moved(self, _at_ns: int, clock: int, parent: int, _b: int) -> None:
        self._parents[clock] = parent
        self._rows.append(("UPDATE clocks SET parent=? WHERE clock=?", [parent, clock]))

    def _on_loop_found(self, _at_ns: int, clock: int, name: int, kind: int) -> None:
        self._frames_of = self._frames_of or clock
        is_shown = int(clock == self._frames_of)
        self._add("loops", [clock, self._strings[name], LoopKind(kind).text, is_shown])

    def _add_clock(self, clock: int, name: str, parent: int, at_ns: int) -> None:
        self._parents[clock] = parent
        self._add("clocks", [clock, name, parent, 1.0, at_ns, None])

    def _set_rate(self, clock: int, rate_n: int) -> None:
        text = "UPDATE clocks SET rate=? WHERE clock=?"
        self._rows.append((text, [rate_n / RATE_DENOMINATOR, clock]))

    def _end_pause(self, clock: int, at_ns: int) -> None:
        text = "UPDATE pauses SET to_ns=? WHERE clock=? AND to_ns IS NULL"
        self._rows.append((text, [at_ns, clock]))

    def _on_clock_removed(self, at_ns: int, clock: int, _a: int, _b: int) -> None:
        gone = {clock}
        # A clock comes after its parent unless it was moved, so repeat until all are found.
        while more := {c for c, above in self._parents.items() if above in gone} - gone:
            gone |= more
        for each in gone:
            self._parents.pop(each, None)
            self._end_pause(each, at_ns)
            text = "UPDATE clocks SET removed_ns=? WHERE clock=?"
            self._rows.append((text, [at_ns, each]))
        self._timers.remove_of(gone, at_ns)

    def flush(self, connection: sqlite3.Connection) -> None:
        for text, values in self._rows:
            connection.execute(text, values)
        self._rows.clear()
        self._timers.flush(connection)
