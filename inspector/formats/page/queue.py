"""Pending calls in the interactive page: what is due when, and what waits, at each change."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final

from inspector.analysis.explain.explain import FIRES_IN, NOT_REACHED, interval_text, why_blocked
from inspector.calls.call import SCHEDULED, Call, CallId, call_of
from inspector.events.frame_history import FrameHistory
from inspector.events.history import History
from inspector.events.members import FRAME_TIMERS, WITH_TIME
from inspector.events.schema import (
    ABOUT_CLOCKS,
    ABOUT_FIELDS,
    ABOUT_MEMBERS,
    ABOUT_TIMERS,
    CALLS,
    OF_FRAMES,
)
from inspector.events.timeline import Timeline
from inspector.vocabulary import RATE_DENOMINATOR, Field, RawEvent

#: Replaces a due instant.
GONE, STOPPED, EVERY_FRAME = -1, -2, -3
#: Replaced on the page by how long something has lasted.
AGO: Final = "{ago}"
_CALLED_IN: Final = FIRES_IN.replace("Fires", "Is called", 1)
_IN_EVERY_FRAME: Final = "It is called in every frame."
_AT_ONCE: Final = 50_000
_AROUND_CALLS: Final = CALLS - ABOUT_FIELDS
#: Fields of a call or a scheduler that affect no members below it.
_OWN_FIELDS: Final = frozenset(
    {Field.TIME, Field.DUE, Field.REMAINING, Field.CALLS_LEFT, Field.MISSED, Field.STATE}
)
_NOTHING: Final = (GONE, 0, -1, 0, -1)


class Queue:
    """Follows the events and collects each change of a pending call."""

    def __init__(
        self,
        history: History,
        frames: FrameHistory,
        start_ns: int,
        number_of: Callable[[str], int],
        lane_of: Callable[[CallId, int, str], int],
    ) -> None:
        self._history = history
        self._frames = frames
        self._start_ns = start_ns
        self._text = number_of
        self._lane_of = lane_of
        self._known: dict[int, tuple[int, ...]] = {}
        self._numbers: dict[int, int] = {}
        #: By scheduler: its rate, and the time of its clock at this rate minus its own time.
        self._paces: dict[int, tuple[int, int]] = {}
        self._changes: dict[tuple[object, ...], str] = {}
        names = ("call", "at", "lane", "name", "due", "left", "wait", "since", "word")
        # A row for each change: the number of the call, the session instant, its lane or -1, its
        # name, when it is due at the rates of that instant (or GONE, STOPPED or EVERY_FRAME), the
        # time left if it is stopped, what it waits for, since when, and the sentence that explains
        # it. Texts are given by number; those of timers that fire are -1.
        self.columns = {name: array("q") for name in names}

    def read(self, first: int, end: int) -> None:
        timeline = self._history.state_before(first)
        timeline.frames = self._frames
        timeline.leave_out(OF_FRAMES)
        self._add_changes(
            timeline, _all_calls(timeline), max(timeline.at_ns, self._start_ns), first
        )
        cursor = first
        for start in range(first, end, _AT_ONCE):
            block = self._history.events(start, min(start + _AT_ONCE, end))
            for at_ns, group in groupby(block, key=itemgetter(0)):
                together = list(group)
                before = list(self._affected(timeline, together))
                timeline.apply_all(together)
                timeline.set_present(at_ns)
                cursor += len(together)
                self._add_changes(
                    timeline, [*before, *self._affected(timeline, together)], at_ns, cursor
                )

    def _affected(self, timeline: Timeline, events: Sequence[RawEvent]) -> Iterator[int]:
        """Yield the keys of the calls that events may change, as far as the timeline knows them."""
        members, clocks = timeline.members, set()
        for _at_ns, kind, subject, a, _b in events:
            if kind in ABOUT_TIMERS:
                yield subject
            elif kind in ABOUT_CLOCKS:
                clocks.add(subject)
            elif kind in ABOUT_MEMBERS and kind not in _AROUND_CALLS:
                if kind not in ABOUT_FIELDS or a not in _OWN_FIELDS:
                    if subject in members.by_id:
                        yield from (-each.id for each in members.branch(subject))
                elif a == Field.TIME:
                    yield from self._by_time(timeline, subject)
                else:
                    yield -subject
        if clocks:
            yield from _on_clocks(timeline, clocks)

    def _by_time(self, timeline: Timeline, number: int) -> Iterator[int]:
        """Yield the timers of a scheduler, unless its time only kept pace with its clock."""
        scheduler = timeline.members.by_id.get(number)
        if scheduler is None or scheduler.kind not in WITH_TIME:
            return
        clock_id = scheduler.clock_id or timeline.root_id or 0
        if clock_id in timeline.clocks:
            rate_n = scheduler.rate_n
            local_ns = timeline.local_ns(clock_id, scheduler.timed_ns)
            time_ns = scheduler.fields.get(Field.TIME, 0)
            pace = rate_n, local_ns * rate_n - time_ns * RATE_DENOMINATOR
            if self._paces.get(number) == pace:
                return
            self._paces[number] = pace
        branch = timeline.members.branch(number)
        yield from (-each.id for each in branch if each.kind in FRAME_TIMERS)

    def _add_changes(
        self, timeline: Timeline, keys: Iterable[int], at_ns: int, cursor: int
    ) -> None:
        """Add the state of calls from an instant on, if it differs from the state before."""
        for key in dict.fromkeys(keys):
            state = self._state(timeline, key, cursor)
            known = self._known.get(key)
            if state == known or (state is None and known is None):
                continue
            if state is None:
                assert known is not None
                del self._known[key]
                state = (*known[:2], *_NOTHING)
            else:
                self._known[key] = state
            number = self._numbers.setdefault(key, len(self._numbers))
            for name, value in zip(self.columns, (number, at_ns, *state), strict=True):
                self.columns[name].append(value)

    def _state(self, timeline: Timeline, key: int, cursor: int) -> tuple[int, ...] | None:
        """Return the columns of a call from its lane on; ``None`` if it is not pending."""
        timers = timeline.timers
        if key > 0:
            if key not in timers:
                return None
            place = timers.index(key)
            due_ns = timeline.session_due_ns(key)
            if due_ns is not None and timeline.effective_rate(timers.clock[place]):
                row = timers.row(key)
                lane = self._lane_of(CallId(key), row.clock_id, row.label)
                return lane, self._name(lane, row.label), max(due_ns, 0), 0, -1, 0, -1
        elif -key not in timeline.members.by_id:
            return None
        call = call_of(timeline, CallId.of_key(key))
        if call is None or (call.id.is_member and call.kind not in SCHEDULED):
            return None
        lane = self._lane_of(call.id, call.clock_id, call.name)
        name = call.name
        if lane < 0 and call.id.is_member:
            # The same name as on lanes of members.
            above = timeline.members.path(call.id.number)[1:2]
            name = ": ".join([*(each.name for each in above if each.name), name])
        return lane, self._name(lane, name), *self._waiting(timeline, call, cursor)

    def _name(self, lane: int, name: str) -> int:
        return -1 if lane >= 0 else self._text(name)

    def _waiting(self, timeline: Timeline, call: Call, cursor: int) -> tuple[int, ...]:
        if call.blockers:
            since_ns = call.blockers[0].since_ns
            since_ns = timeline.at_ns if since_ns is None else since_ns
            word = self._text(self._why(timeline, call, cursor))
            wait = self._text(f"waits: {call.waits_for}")
            return STOPPED, max(call.left_ns or 0, 0), wait, since_ns, word
        if call.session_due_ns is not None:
            return max(call.session_due_ns, 0), 0, -1, 0, self._text(_CALLED_IN)
        if call.is_per_frame:
            every = self._text("every frame")
            return EVERY_FRAME, 0, every, 0, self._text(_IN_EVERY_FRAME)
        is_known = call.due_ns is not None
        wait = self._text("never at this rate" if is_known else "")
        word = self._text(NOT_REACHED if is_known else interval_text(timeline, call))
        return STOPPED, max(call.left_ns or 0, 0), wait, timeline.at_ns, word

    def _why(self, timeline: Timeline, call: Call, cursor: int) -> str:
        """Return why a call waits; calls that are stopped by the same things share a sentence."""
        key = (
            call.id.is_member,
            *(
                (each.kind, each.member_id, each.clock_id, each.since_ns, each.cause, each.is_own)
                for each in call.blockers
            ),
        )
        found = self._changes.get(key)
        if found is None:
            found = why_blocked(self._history, timeline, call, cursor, AGO)
            self._changes[key] = found
        return found


def _all_calls(timeline: Timeline) -> list[int]:
    return [*timeline.timers.ids(), *(-number for number in timeline.members.by_id)]


def _on_clocks(timeline: Timeline, clock_ids: Iterable[int]) -> Iterator[int]:
    branch = {
        each for clock in clock_ids if clock in timeline.clocks for each in timeline.branch(clock)
    }
    timers = timeline.timers
    yield from (each for each in timers.ids() if timers.clock[timers.index(each)] in branch)
    for member in timeline.members.by_id.values():
        if member.clock_id in branch:
            yield -member.id
