"""What has happened to one call, gathered from the past of its session."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from inspector.events.schema import ABOUT_CLOCKS, ABOUT_TIMERS
from inspector.vocabulary import (
    CALLBACK_FAILED,
    CLOCK_MOVED,
    CLOCK_PAUSED,
    CLOCK_RATE,
    CLOCK_REMOVED,
    MEMBER_ADDED,
    TICKS_MISSED,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
    TRANSPORT,
    TimerKind,
)

if TYPE_CHECKING:
    from inspector.calls.call import CallId
    from inspector.events.history import History
    from inspector.vocabulary import RawEvent

#: So many of its last firings are kept apart; the others are counted.
KEPT_FIRINGS: Final = 64
#: So many of the last changes of each clock are kept.
KEPT_CHANGES: Final = 8
#: So many events of its own are kept, to go back in the story.
KEPT_EVENTS: Final = 100_000
#: So far back a story goes, in events; that takes about a quarter of a second.
LONGEST_STORY: Final = 2_000_000

_STRETCH: Final = 50_000
_OF_TIMERS: Final = ABOUT_TIMERS | {CALLBACK_FAILED}
_OF_MEMBERS: Final = frozenset({MEMBER_ADDED})
_OF_ALL: Final = ABOUT_CLOCKS | {TRANSPORT}
_CLOCK_CHANGES: Final = frozenset({CLOCK_RATE, CLOCK_PAUSED, CLOCK_MOVED})
#: Of these the last one is kept, as what.
_KEPT: Final = {
    TIMER_ADDED: "added",
    MEMBER_ADDED: "added",
    TIMER_ORIGIN: "origin",
    TIMER_CLEARED: "cleared",
    TICKS_MISSED: "missed",
    CALLBACK_FAILED: "failed",
}


@dataclass(frozen=True, slots=True)
class Moment:
    """An event with its place in the log.

    Attributes:
        cursor: Its place.
        at_ns: Session instant.
        a: Its first value, see :mod:`inspector.vocabulary`.
        b: Its second value.
    """

    cursor: int
    at_ns: int
    a: int
    b: int


@dataclass(frozen=True, slots=True)
class Firing:
    """One call of a timer.

    Attributes:
        cursor: Where its event is.
        at_ns: Session instant that it was called for.
        late_ns: How much later the source's reading was; below 0 when it was called early.
        next_ns: When it was due again, in local time; ``NEVER`` when it was gone.
        due_ns: When it was due, in local time; ``None`` when that is no longer in the log.
    """

    cursor: int
    at_ns: int
    late_ns: int
    next_ns: int
    due_ns: int | None

    @property
    def read_ns(self) -> int:
        """What the time source said when it was called, in session time."""
        return self.at_ns + max(self.late_ns, 0)

    @property
    def is_out_of_turn(self) -> bool:
        """Whether a repeating timer was called besides its schedule, or one-shot early."""
        return self.late_ns < 0 or self.next_ns == self.due_ns


class CallStory:
    """Everything that is known of one call's past; can be read on as a session goes on.

    Only timers of clocks have firings.

    Attributes:
        id: The call.
        longest: So many events back the story goes at most.
        first: Where in the log the story begins.
        cursor: How far it was read.
        added: When it was scheduled.
        origin: Where it was set (sid), and its :class:`TimerKind`.
        armed: When it was first due, in local time, and its interval.
        firings: Its last calls.
        fired: How often it was called, as far as the story goes.
        cleared: When it was cleared: where (sid) and by which command.
        missed: When ticks were left out, the last time, and how many.
        ticks_missed: How many ticks were left out.
        failed: When its callback raised the last time.
        failures: How often its callback raised.
        rates: By clock: the last time when its rate was set.
        changes: By clock: when it was paused, given another rate or moved, the last times,
            each with the kind of event.
        removals: By clock: when it was removed.
        transport: When the session was held or let go on, the last time.
    """

    def __init__(self, call_id: CallId, longest: int = LONGEST_STORY) -> None:
        """Begin with nothing read; see the attributes."""
        self.id = call_id
        self.longest = longest
        self.first = -1
        self.cursor = 0
        self.added: Moment | None = None
        self.origin: Moment | None = None
        self.armed: Moment | None = None
        self.firings: deque[Firing] = deque(maxlen=KEPT_FIRINGS)
        self.fired = 0
        self.cleared: Moment | None = None
        self.missed: Moment | None = None
        self.ticks_missed = 0
        self.failed: Moment | None = None
        self.failures = 0
        self.rates: dict[int, Moment] = {}
        self.changes: dict[int, deque[tuple[int, Moment]]] = {}
        self.removals: dict[int, Moment] = {}
        self.transport: Moment | None = None
        self._due_ns: int | None = None
        self._mine: list[tuple[int, RawEvent]] | None = []
        self._begun: tuple[int, int | None] | None = None

    @property
    def last(self) -> Firing | None:
        """Its last call."""
        return self.firings[-1] if self.firings else None

    @property
    def is_known(self) -> bool:
        """Whether anything is known of it."""
        return any((self.added, self.fired, self.cleared, self.armed, self.missed))

    @property
    def last_cursor(self) -> int:
        """Where it was certainly there the last time, as far as its own events say."""
        moments = (self.added, self.last, self.armed)
        return max((moment.cursor for moment in moments if moment), default=0)

    @property
    def kind(self) -> TimerKind | None:
        """What kind of timer it is, ``None`` when that is no longer in the log."""
        return None if self.origin is None else TimerKind(self.origin.b)

    def begun_ns(self, history: History, clock_id: int) -> int | None:
        """Return what time it was on a clock when the timer was set; ``None`` if not known."""
        if self.added is None:
            return None
        if self._begun is None or self._begun[0] != clock_id:
            then = history.state_before(self.added.cursor)
            known = clock_id in then.clocks
            local_ns = then.local_ns(clock_id, self.added.at_ns) if known else None
            self._begun = clock_id, local_ns
        return self._begun[1]

    def read(self, history: History, cursor: int) -> None:
        """Read on up to a cursor. What lies too far back is left out."""
        if self.first < 0:
            self.first = self.cursor = max(history.first, cursor - self.longest)
        number, own = self.id.number, _OF_MEMBERS if self.id.is_member else _OF_TIMERS
        wanted = own | _OF_ALL
        while self.cursor < cursor:
            start = max(self.cursor, history.first)
            end = min(start + _STRETCH, cursor)
            # Nearly everything is about others: sorting that out has to be quick.
            mine = [
                (place, event)
                for place, event in enumerate(history.events(start, end), start)
                if (kind := event[1]) in wanted and (event[2] == number or kind not in own)
            ]
            for place, event in mine:
                self._take(place, event)
            if self._mine is not None:
                self._mine += mine
                if len(self._mine) > KEPT_EVENTS:
                    self._mine = None
            self.cursor = max(end, start)

    def as_of(self, cursor: int) -> CallStory:
        """Return the story up to a cursor within it, if possible without reading it again."""
        if cursor >= self.cursor:
            return self
        story = CallStory(self.id, self.longest)
        if self._mine is None:
            return story
        story.first, story.cursor = self.first, cursor
        for place, event in self._mine:
            if place >= cursor:
                break
            story._take(place, event)
        if story.added == self.added:
            story._begun = self._begun
        return story

    def _take(self, cursor: int, event: RawEvent) -> None:
        at_ns, kind, subject, a, b = event
        moment = Moment(cursor, at_ns, a, b)
        if kind in _KEPT:
            setattr(self, _KEPT[kind], moment)
        if kind in _CLOCK_CHANGES:
            if kind == CLOCK_RATE:
                self.rates[subject] = moment
            changes = self.changes.setdefault(subject, deque(maxlen=KEPT_CHANGES))
            changes.append((kind, moment))
        elif kind == TIMER_FIRED:
            self.fired += 1
            self.firings.append(Firing(cursor, at_ns, a, b, self._due_ns))
            self._due_ns = b
        elif kind == TIMER_ARMED:
            self._due_ns = a
            self.armed = self.armed or moment
        elif kind == TICKS_MISSED:
            self.ticks_missed += a
        elif kind == CALLBACK_FAILED:
            self.failures += 1
        elif kind == CLOCK_REMOVED:
            self.removals[subject] = moment
        elif kind == TRANSPORT:
            self.transport = Moment(cursor, at_ns, subject, 0)
