"""The breakpoints of a session, and which events hit them.

In a scene, they are checked once after each frame, event by event, so that a hit belongs to the
frame that has caused it: by its own callbacks, or by the timers that were due before it.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Final

from msgspec import Struct, structs

from inspector.analysis.lateness.attribution import attribute, own_places
from inspector.analysis.lateness.samples import Samples
from inspector.analysis.lateness.words import spent_text
from inspector.events.conditions.breakpoint import (
    BreakAction,
    BreakKind,
    Breakpoint,
    BreakpointError,
)
from inspector.events.conditions.conditions import Condition
from inspector.events.conditions.event_fields import EventReader
from inspector.events.log import EventLog
from inspector.events.sentences import describe
from inspector.events.timeline import Timeline
from inspector.timebase import format_duration
from inspector.vocabulary import BREAKPOINT_HIT, CLOCK_ADDED, MARK, RawEvent

MAX_BREAKPOINTS: Final = 200
#: Most samples kept of a loop; at the slowest rate, half of them cover three minutes.
_MOST_KEPT: Final = 20_000


class BreakpointHit(Struct, frozen=True):
    number: int
    action: BreakAction
    at_ns: int
    cursor: int  # Where the event is in the log
    frame: int  # The frame it belongs to
    clock_id: int  # The clock it is about, 0 for none
    text: str  # The condition and the event, in words


class Breakpoints:
    """The breakpoints of a session with their hit counts, and the check of new events.

    Without an enabled breakpoint, :meth:`check` costs one test; otherwise it goes once through the
    events since the last call.
    """

    def __init__(self) -> None:
        self._by_number: dict[int, Breakpoint] = {}
        self._hits: dict[int, int] = {}
        self._since: dict[int, int] = {}
        self._texts: dict[int, str] = {}  # What the last hit of each says
        self._last_number = 0
        self._conditions: list[tuple[int, Condition]] = []
        self._log: EventLog | None = None
        self._reader: EventReader | None = None
        self._stacks: _Stacks | None = None
        self._cursor = 0
        self.is_any_enabled = False  # Whether any breakpoint is enabled
        # How long a turn or frame may take before a breakpoint holds the program, 0 for no limit
        self.longest_turn_ns = 0
        self.version = 0

    @classmethod
    def holding(cls, breakpoints: Mapping[int, Breakpoint], next_number: int) -> Breakpoints:
        made = cls()
        made._by_number = dict(breakpoints)
        made._hits = dict.fromkeys(breakpoints, 0)
        made._last_number = next_number - 1
        made._changed()
        return made

    def __len__(self) -> int:
        return len(self._by_number)

    @property
    def next_number(self) -> int:
        return self._last_number + 1

    def items(self) -> list[tuple[int, Breakpoint, int]]:
        return [(number, found, self._hits[number]) for number, found in self._by_number.items()]

    def get(self, number: int) -> Breakpoint | None:
        return self._by_number.get(number)

    def hits(self, number: int) -> int:
        """Return how often a breakpoint was hit; 0 if it was removed."""
        return self._hits.get(number, 0)

    def add(self, breakpoint_: Breakpoint) -> int:
        """Add a breakpoint, which checks events from the next one on; returns its number."""
        self.check_room()
        self._last_number += 1
        self._by_number[self._last_number] = breakpoint_
        self._hits[self._last_number] = 0
        self._start_watching(self._last_number)
        return self._last_number

    def check_room(self) -> None:
        """Raise a :class:`BreakpointError` if no more breakpoints are allowed."""
        if len(self) >= MAX_BREAKPOINTS:
            raise BreakpointError(f"There are {len(self):,} breakpoints; remove some first.")

    def replace(self, number: int, breakpoint_: Breakpoint) -> bool:
        """Change a breakpoint but keep its hits; it checks events from the next one on."""
        if number not in self._by_number:
            return False
        self._by_number[number] = breakpoint_
        self._start_watching(number)
        return True

    def remove(self, number: int) -> bool:
        if self._by_number.pop(number, None) is None:
            return False
        del self._hits[number]
        self._since.pop(number, None)
        self._texts.pop(number, None)
        self._changed()
        return True

    def _start_watching(self, number: int) -> None:
        """Have a breakpoint ignore all events up to now."""
        self._since[number] = 0 if self._log is None else self._log.end
        self._changed()

    def _changed(self) -> None:
        self.version += 1
        self._conditions = [
            (number, found.parsed())
            for number, found in self._by_number.items()
            if found.is_enabled
        ]
        self.is_any_enabled = bool(self._conditions)
        self._limit_turns()
        if not self.is_any_enabled:
            self._reader = self._stacks = None

    def _limit_turns(self) -> None:
        limits = [
            max(found.limit_ns, 1)
            for number, found in self._by_number.items()
            if found.is_enabled
            and found.kind is BreakKind.TURN_ABOVE
            and found.action is BreakAction.HOLD
            and self._hits[number] + 1 >= found.from_hit
        ]
        self.longest_turn_ns = min(limits, default=0)

    def watch(self, log: EventLog, timeline: Timeline) -> None:
        self._log = log
        self._since.clear()
        self._cursor = log.end
        self._reader = EventReader(log.strings, timeline)
        self._stacks = _Stacks(log.strings, timeline)

    @property
    def is_watching(self) -> bool:
        return self._reader is not None

    def check(self, besides: Container[int] = ()) -> list[BreakpointHit]:
        """Check the events since the last call; returns the hits with an action.

        The breakpoints numbered in ``besides`` are left out.
        """
        if not self._conditions or self._log is None or self._reader is None:
            return []
        batch = self._log.read(self._cursor)
        if self._stacks is not None:
            self._stacks.fold(batch.events)
        cursor = batch.cursor - len(batch.events)
        found: list[BreakpointHit] = []
        reader = self._reader
        conditions = [each for each in self._conditions if each[0] not in besides]
        for event in batch.events:
            reader.fold(event)
            for number, condition in conditions:
                if condition.holds(reader):
                    self._hit(number, event, cursor, found)
            cursor += 1
        self._cursor = batch.cursor
        if any(not self._by_number[hit.number].is_enabled for hit in found):
            self._changed()
        return found

    def _hit(self, number: int, event: RawEvent, cursor: int, found: list[BreakpointHit]) -> None:
        reader, breakpoint_ = self._reader, self._by_number[number]
        assert reader is not None
        if not breakpoint_.is_enabled or cursor < self._since.get(number, 0):
            return
        if self._is_effect(event, number, reader.strings):
            return
        self._hits[number] += 1
        self.version += 1
        if self._hits[number] < breakpoint_.from_hit:
            self._limit_turns()
            return
        if breakpoint_.is_once:
            self._by_number[number] = structs.replace(breakpoint_, is_enabled=False)
        happened = describe(event, reader.strings, reader.naming)
        if breakpoint_.kind is BreakKind.TURN_ABOVE and reader.turn_ns is not None:
            assert self._stacks is not None
            happened = self._stacks.text_of_turn(event, reader.turn_ns)
        text = f"{breakpoint_.text}: {happened}" if breakpoint_.kind.needs_reason else happened
        self._texts[number] = text
        found.append(
            BreakpointHit(
                number, breakpoint_.action, event[0], cursor, reader.frame, reader.clock_id, text
            )
        )

    def _is_effect(self, event: RawEvent, number: int, strings: Sequence[str]) -> bool:
        """Return whether an event says that the breakpoint was hit, or is the mark that it left."""
        _, kind, subject, a, _ = event
        if kind == MARK:
            return strings[a] == self._texts.get(number)
        return kind == BREAKPOINT_HIT and subject == number


class _Stacks:
    """The samples of the latest turns of all loops, kept while breakpoints are enabled."""

    def __init__(self, strings: Sequence[str], timeline: Timeline) -> None:
        self._samples = Samples(strings)
        self._parents = {clock.id: clock.parent_id for clock in timeline.clocks.values()}

    def fold(self, events: Sequence[RawEvent]) -> None:
        self._samples.fold(events)
        for _, kind, subject, a, _ in events:
            if kind == CLOCK_ADDED:
                self._parents[subject] = a
        samples = self._samples
        for found in samples.by_clock.values():
            if len(found) > _MOST_KEPT:
                del found[: _MOST_KEPT // 2]
        for spans in samples.collections.values():
            del spans[:-_MOST_KEPT]

    def text_of_turn(self, event: RawEvent, took_ns: int) -> str:
        """Return how long an ended turn took and in which code, with its most frequent stack."""
        at_ns, _, subject, _, _ = event
        samples = self._samples
        clocks = [subject] if subject in samples.by_clock else list(samples.by_clock)
        own = [each for clock in clocks for each in samples.by_clock[clock]]
        # In a scene, session time stands still during a turn, and samples count from its instant.
        is_from_here = any(each.is_told_later for each in own)
        begin_ns = at_ns if is_from_here else at_ns - took_ns
        told = samples.collections.keys() | samples.stops.keys()
        program = next((each for each in self._path(clocks) if each in told), 0)
        seen = attribute(samples, clocks, program, begin_ns, begin_ns + took_ns)
        text = f"it took {format_duration(took_ns)}"
        if spent := spent_text(seen):
            text += f": {spent}"
        if seen.shares and (places := own_places(seen.shares[0].stack)):
            text += "; stack: " + " → ".join(place.short for place in places)
        return text

    def _path(self, clocks: Sequence[int]) -> list[int]:
        found = list(clocks)
        for clock in found:
            above = self._parents.get(clock, 0)
            if above and above not in found:
                found.append(above)
        return found
