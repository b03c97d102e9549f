"""The past of a session: its events by cursor, and its state at any instant.

A past state is the nearest keyframe before it and a short fold, so reaching it costs the same
at any instant.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, Protocol

from inspector.events.log import EventLog
from inspector.events.timeline import Timeline
from inspector.vocabulary import Numbers, RawEvent

#: Events between keyframes: folding that many takes about 20 ms.
KEYFRAME_EVERY: Final = 20_000
#: From ``_MANY`` events on they are folded as columns, ``_MOST`` at a time: more is not faster.
_MANY: Final = 2_000
_MOST: Final = 100_000
#: With more keyframes every second one is dropped.
MAX_KEYFRAMES: Final = 64


class History(Protocol):
    """The past of a session, live or from a file. Cursors count events from its start."""

    @property
    def strings(self) -> Sequence[str]: ...

    @property
    def first(self) -> int:
        """Cursor of the oldest event kept."""

    @property
    def end(self) -> int:
        """Cursor after the newest event."""

    @property
    def first_ns(self) -> int:
        """The earliest session instant with a known state."""

    @property
    def last_ns(self) -> int:
        """Session instant of the newest event."""

    @property
    def has_all_events(self) -> bool:
        """Whether all events from the first to the newest are available."""

    @property
    def missing(self) -> int:
        """How many events between the first and the newest were found to be missing so far."""

    def events(self, start: int, end: int) -> Sequence[RawEvent]:
        """Return the events between two cursors, without those not kept."""

    def numbered(self, start: int, end: int) -> tuple[Sequence[int], Sequence[RawEvent]]:
        """Return the cursors of what :meth:`events` returns, and the same events."""

    def whole_until(self, start: int, end: int) -> int:
        """Return the cursor up to which no event is missing from ``start`` on, at most ``end``."""

    def cursor_at(self, at_ns: int) -> int:
        """Return the cursor after the last event at or before an instant."""

    @property
    def base(self) -> Timeline:
        """The state before the oldest event kept, to be read only."""

    def state_before(self, cursor: int) -> Timeline:
        """Return a copy of the state after all events before ``cursor``."""

    def known_before(self, cursor: int) -> tuple[int, Timeline]:
        """Return the cursor and a copy of the nearest earlier state that needs no folding."""

    def state_at(self, at_ns: int) -> Timeline:
        """Return a copy of the state at an instant, including all its events."""

    def go_on(self, state: Timeline, start: int, end: int) -> None:
        """Fold the events between two cursors, none of which is missing, into ``state``."""

    def unknown_around(self, at_ns: int) -> tuple[int, int] | None:
        """Return the span in which states are unknown because events are missing.

        Returns:
            Session instants: the end of what is known before ``at_ns``, and where states are known
            again or else the end; ``None`` if the state at ``at_ns`` is known.
        """


def without_gaps(
    cursors: Sequence[int], events: Sequence[RawEvent]
) -> Iterator[tuple[Sequence[int], Sequence[RawEvent]]]:
    """Yield the cursors and events of :meth:`History.numbered`, split wherever some are missing."""
    start = 0
    if not isinstance(cursors, range):
        for place, (before, after) in enumerate(pairwise(cursors), 1):
            if after != before + 1:
                yield cursors[start:place], events[start:place]
                start = place
    if cursors:
        yield cursors[start:], events[start:]


class WholeHistory:
    """A past without gaps from the oldest event kept on."""

    has_all_events: Final = True
    missing: Final = 0

    def numbered(self: History, start: int, end: int) -> tuple[range, Sequence[RawEvent]]:
        events = self.events(start, end)
        first = max(start, self.first)
        return range(first, first + len(events)), events

    def whole_until(self, start: int, end: int) -> int:
        return max(start, end)

    @property
    def base(self: History) -> Timeline:
        return self.state_before(self.first)

    def known_before(self: History, cursor: int) -> tuple[int, Timeline]:
        return cursor, self.state_before(cursor)

    def state_at(self: History, at_ns: int) -> Timeline:
        timeline = self.state_before(self.cursor_at(at_ns))
        timeline.set_present(at_ns)
        return timeline

    def go_on(self: History, state: Timeline, start: int, end: int) -> None:
        state.apply_all(self.events(start, end))

    def unknown_around(self, _at_ns: int) -> None:
        """Return ``None``: no state is unknown."""


class LogHistory(WholeHistory):
    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._cursors: list[int] = []
        self._keyframes: list[Timeline] = []
        self._every = KEYFRAME_EVERY

    @property
    def strings(self) -> Sequence[str]:
        return self._log.strings

    @property
    def first(self) -> int:
        return self._log.first

    @property
    def end(self) -> int:
        return self._log.end

    @property
    def base(self) -> Timeline:
        return self._log.base

    @property
    def first_ns(self) -> int:
        return self._log.base.at_ns if self._log.first else 0

    @property
    def last_ns(self) -> int:
        newest = self._log.read(self._log.end - 1).events
        return newest[-1][0] if newest else self.first_ns

    def events(self, start: int, end: int) -> list[RawEvent]:
        return self._log.slice(start, end)

    def blocks(self, start: int, end: int) -> Iterator[Numbers]:
        """Yield the same as :meth:`events`, packed, in blocks of limited size."""
        return self._log.blocks(start, end)

    def cursor_at(self, at_ns: int) -> int:
        return self._log.cursor_at(at_ns)

    def state_before(self, cursor: int) -> Timeline:
        """Return a copy of the state after all events before ``cursor``.

        For a cursor before the oldest event kept, it is the state before that event.
        """
        cursor = min(max(cursor, self.first), self.end)
        at, timeline = self.known_before(cursor)
        while cursor - at > (step := self._step(timeline)):
            self.go_on(timeline, at, at + step)
            at += step
        self.go_on(timeline, at, cursor)
        return timeline

    def known_before(self, cursor: int) -> tuple[int, Timeline]:
        self._forget_fallen()
        place = bisect_right(self._cursors, cursor) - 1
        if place >= 0:
            return self._cursors[place], self._keyframes[place].copy()
        return self.first, self._log.base.copy()

    def _step(self, state: Timeline) -> int:
        """Return the number of events between keyframes; it grows with the size of the state."""
        return max(self._every, 2 * len(state.timers))

    def go_on(self, state: Timeline, start: int, end: int) -> None:
        if end - start < _MANY:
            state.apply_blocks(self._log.blocks(start, end))
        else:
            # Imported here, as few events are folded without NumPy.
            from inspector.events.blocks.quick_fold import fold_numbers  # noqa: PLC0415

            for first in range(start, end, _MOST):
                fold_numbers(state, self._log.numbers(first, min(first + _MOST, end)))
        # Keyframes are made on the way, so that the next state nearby needs only a short fold.
        place = bisect_right(self._cursors, end) - 1
        if end - (self._cursors[place] if place >= 0 else self.first) >= self._step(state):
            self._keep(end, state.copy())

    def _forget_fallen(self) -> None:
        fallen = bisect_right(self._cursors, self.first - 1)
        del self._cursors[:fallen], self._keyframes[:fallen]

    def _keep(self, cursor: int, timeline: Timeline) -> None:
        place = bisect_right(self._cursors, cursor)
        self._cursors.insert(place, cursor)
        self._keyframes.insert(place, timeline)
        if len(self._cursors) > MAX_KEYFRAMES:
            del self._cursors[1::2], self._keyframes[1::2]
            self._every *= 2
