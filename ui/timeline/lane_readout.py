"""Reads lanes: the text and the subject at a position, and the next record."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from msgspec import Struct

from inspector.analysis.lanes.clocks import Standstill
from inspector.analysis.lanes.lane_columns import Levels
from inspector.analysis.lanes.lanes import GONE_STATE, Lane, LaneKind, LaneStore
from inspector.analysis.lanes.spans import Spans, depths_of
from inspector.analysis.lateness.blocks import Block, DelayedCall
from inspector.analysis.lateness.words import block_evidence, block_text, delayed_text
from inspector.events.timeline import Timeline
from inspector.formats.arrangement.lane_layout import SLICE_LEVELS
from inspector.timebase import format_duration, format_instant, format_local_time, late_text
from inspector.vocabulary import rate_chip

from ..session.bridge import Selection

if TYPE_CHECKING:
    from inspector.analysis.lanes.rows import LaneRow

_MOST_PATH = 4
_MOST_LINES = 6
#: With more slices than this near the pointer, it is not determined on which lines they are.
_MOST_NESTED = 2_000

#: Largest distance from the pointer, in pixels.
NEAR = 5


class LaneReading(Struct, frozen=True):
    at_ns: int  # The instant
    lines: tuple[str, ...]
    selection: Selection = Selection()  # Its subject
    delayed: tuple[DelayedCall, ...] = ()  # The calls that waited while a loop was blocked there


class LaneReader:
    def __init__(
        self,
        store: LaneStore,
        timeline: Timeline,
        strings: Sequence[str],
        delayed_by: Callable[[Block], Sequence[DelayedCall]] = lambda _: (),
    ) -> None:
        """Read a store; ``delayed_by`` returns the calls that waited for a blocked loop."""
        self._store = store
        self._timeline = timeline
        self._strings = strings
        self._delayed_by = delayed_by
        self._delayed: tuple[Block | None, tuple[DelayedCall, ...]] = None, ()

    def read(  # noqa: PLR0911 - one answer per kind
        self, row: LaneRow, at_ns: float, within_ns: float, line: int | None = None
    ) -> LaneReading | None:
        """Return what a lane says of an instant; of slices on a line the one there, if any is."""
        if row.kind is LaneKind.BOOKMARKS:
            return self._annotation(at_ns, within_ns)
        if at_ns < 0 or at_ns > self._timeline.at_ns + within_ns:
            return None
        match row.kind:
            case LaneKind.CLOCK:
                return self._clock(row.clock_id, min(int(at_ns), self._timeline.at_ns))
            case LaneKind.MACHINE if row.lane is not None:
                return self._state(row.lane, min(int(at_ns), self._timeline.at_ns))
        if row.lane is None:
            return None
        if row.lane.levels is not None:
            return _level(row.lane.levels, at_ns)
        if row.lane.spans is not None:
            return self._slice(row.lane.spans, at_ns, within_ns, line)
        place = row.lane.instants.nearest(at_ns, within_ns)
        return None if place is None else self._instant(row.lane, place)

    def _annotation(self, at_ns: float, within_ns: float) -> LaneReading | None:
        """Return the nearest annotation, or else the shortest range around an instant."""
        near = (
            (abs(each.at_ns - at_ns), each.last_ns - each.at_ns, each.id, each)
            for each in self._store.annotations
            if abs(each.at_ns - at_ns) <= within_ns
        )
        around = (
            (within_ns, each.last_ns - each.at_ns, each.id, each)
            for each in self._store.annotations
            if each.at_ns <= at_ns <= each.last_ns
        )
        found = min((*near, *around), default=None)
        if found is None:
            return None
        annotation = found[-1]
        said = annotation.said if annotation.name else ()
        return LaneReading(annotation.at_ns, (annotation.line, *said[:_MOST_LINES]))

    def _clock(self, number: int, at_ns: int) -> LaneReading | None:
        past = self._store.clocks.by_id[number]
        place = past.place_at(at_ns)
        local = self._store.clocks.local_ns(number, at_ns)
        if place < 0 or local is None:
            return None
        lines = [
            f"{past.name} at {format_instant(at_ns)}",
            f"local time {format_local_time(local)}",
            f"rate {rate_chip(past.rate_n[place])}" + (", paused" if past.paused[place] else ""),
        ]
        for above in self._store.clocks.path_at(number, at_ns)[:_MOST_PATH]:
            lines += [
                self._standstill_text(stand, number)
                for stand in self._store.clocks.standstills(above, at_ns, at_ns + 1)
                if stand.began_ns <= at_ns and (at_ns < stand.end_ns or not stand.is_over)
            ]
        delayed: tuple[DelayedCall, ...] = ()
        for block in self._store.blocks.within(number, at_ns, at_ns + 1):
            if self._delayed[0] != block:
                # This reads events, so it is done once for a block, not for each move.
                self._delayed = block, tuple(self._delayed_by(block))
            delayed = self._delayed[1]
            lines += filter(None, (block_text(block), delayed_text(delayed), block_evidence(block)))
        return LaneReading(at_ns, tuple(lines), Selection.clock(number), delayed)

    def _standstill_text(self, stand: Standstill, of_clock: int) -> str:
        what = "rate 0" if stand.is_rate_zero else "paused"
        who = "by you" if stand.cause else "by the program"
        command = next(
            (each for each in reversed(self._timeline.commands) if each.number == stand.cause), None
        )
        if stand.cause and command is not None:
            who = f"{command.by or 'you'}: {command.text}"
        name = self._store.clocks.by_id[stand.clock_id].name
        whose = "itself" if stand.clock_id == of_clock else name
        lasted = f" for {format_duration(stand.end_ns - stand.began_ns)}" if stand.is_over else ""
        return f"stopped: {whose} {what} since {format_instant(stand.began_ns)}{lasted} ({who})"

    def _state(self, lane: Lane, at_ns: int) -> LaneReading | None:
        steps = lane.steps
        place = steps.place_at(at_ns)
        if place < 0 or steps.value[place] == GONE_STATE:
            return None
        began_ns, end_ns = steps.at_ns[place], steps.end_of(place, self._timeline.at_ns)
        lines = [
            f"{lane.label}: {self._strings[steps.value[place]]}",
            f"since {format_instant(began_ns)}, for {format_duration(end_ns - began_ns)}",
        ]
        if steps.cause[place]:
            former = self._strings[steps.value[place - 1]] if place else ""
            lines.append(f"entered by {self._strings[steps.cause[place]]} from {former}")
        return LaneReading(began_ns, tuple(lines), Selection.member(lane.subject_id))

    def _slice(
        self, spans: Spans, at_ns: float, within_ns: float, line: int | None
    ) -> LaneReading | None:
        """Return the shortest slice at an instant, or near it, on a line if there is one."""
        found, count = spans.overlapping(at_ns - within_ns, at_ns + within_ns)
        if not count:
            return None
        ends, durations = spans.of(found)
        choice = np.arange(count)
        if line is not None and count <= _MOST_NESTED:
            levels = np.minimum(depths_of(ends - durations, ends), SLICE_LEVELS - 1)
            choice = choice[levels == line] if line in levels else choice
        shortest = int(choice[np.argmin(durations[choice])])
        end_ns, took_ns = int(ends[shortest]), int(durations[shortest])
        number = int(spans.subjects(found[[shortest]])[0])
        member = self._timeline.members.by_id.get(number)
        name = "slice" if member is None else member.name
        began_ns = end_ns - took_ns
        lines = (name, f"{format_instant(began_ns, 6)}, took {format_duration(took_ns)}")
        return LaneReading(began_ns, lines, Selection.call(number, end_ns))

    def _instant(self, lane: Lane, place: int) -> LaneReading:
        instants = lane.instants
        at_ns, value, subject = (
            each[place] for each in (instants.at_ns, instants.value, instants.subject)
        )
        when = format_instant(at_ns)
        lane = next((each for each in lane.members if _has(each, at_ns, value, subject)), lane)
        match lane.kind:
            case LaneKind.TIMER:
                fired = f"{lane.label} fired at {when}, {late_text(value)}"
                lines = (fired, f"timer {subject}")
                return LaneReading(at_ns, lines, Selection.firing(subject, at_ns))
            case LaneKind.CALL:
                lines = (f"{lane.label} called at {when}", f"took {format_duration(value)}")
                return LaneReading(at_ns, lines, Selection.member(subject))
        return LaneReading(at_ns, (f"{when}  {self._record_text(lane.kind, subject)}",))

    def _record_text(self, kind: LaneKind, place: int) -> str:
        timeline = self._timeline
        match kind:
            case LaneKind.MARKS:
                return f"mark: {timeline.marks[place].text}"
            case LaneKind.COMMANDS:
                return timeline.commands[place].line
            case LaneKind.FAILURES:
                failure = timeline.failures[place]
                return f"{failure.label} failed: {failure.raised}"
            case _:
                hit = timeline.hits[place]
                return f"breakpoint {hit.number}: {hit.text}"

    def step(self, row: LaneRow, at_ns: int, direction: int) -> int | None:
        """Return the instant of the next or previous record of a lane; ``None`` at its end."""
        column = self._instants_of(row)
        if column is None:
            return None
        if direction > 0:
            place = bisect_right(column, at_ns)
            return column[place] if place < len(column) else None
        place = bisect_left(column, at_ns) - 1
        return column[place] if place >= 0 else None

    def count(self, row: LaneRow, low_ns: float, high_ns: float) -> int:
        column = self._instants_of(row)
        if column is None:
            return 0
        return bisect_right(column, high_ns) - bisect_left(column, low_ns)

    def _instants_of(self, row: LaneRow) -> Sequence[int] | None:
        if row.kind is LaneKind.CLOCK:
            return self._store.clocks.by_id[row.clock_id].at_ns
        if row.lane is None:
            return None
        if row.lane.levels is not None:
            return cast("Sequence[int]", row.lane.levels.at_ns)
        if row.lane.spans is not None:
            return row.lane.spans
        return row.lane.steps.at_ns if row.kind is LaneKind.MACHINE else row.lane.instants.at_ns


def _level(levels: Levels, at_ns: float) -> LaneReading | None:
    place = levels.place_at(at_ns)
    if place < 0:
        return None
    since_ns = int(levels.at_ns[place])
    said = f"{levels.label}: {levels.text_of(float(levels.value[place]))}"
    lines = (said, f"since {format_instant(since_ns, 6)}")
    return LaneReading(since_ns, lines, Selection.clock(levels.clock_id))


def _has(lane: Lane, at_ns: int, value: int, subject: int) -> bool:
    instants = lane.instants
    first, last = bisect_left(instants.at_ns, at_ns), bisect_right(instants.at_ns, at_ns)
    record = value, subject
    return any((instants.value[i], instants.subject[i]) == record for i in range(first, last))
