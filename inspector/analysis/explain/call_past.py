"""The past of one call: its events, gathered from the history of its session."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

from msgspec import Struct
from typing_extensions import override

from inspector.analysis.clock_changes import ClockChange, ClockChangeReader
from inspector.calls.call import CallId
from inspector.events.handlers import handlers_of
from inspector.events.history import History
from inspector.events.schema import ABOUT_CLOCKS, ADDED, MAY_BE_ABOUT_TIMERS, Unit, kinds_with
from inspector.vocabulary import RATE_DENOMINATOR, RawEvent, TimerKind

#: The most firings to keep; older ones are only counted.
KEPT_FIRINGS: Final = 64
#: The stretches with most effect that are kept for each clock; up to twice as many for a while.
KEPT_STRETCHES: Final = 200
#: The most events of the call to keep, from which an earlier past can be derived.
KEPT_EVENTS: Final = 100_000
#: The most events to read, which takes about a quarter of a second.
LONGEST_PAST: Final = 2_000_000

_STRETCH: Final = 50_000
_OF_ALL: Final = ABOUT_CLOCKS | kinds_with(subject=Unit.MODE)


@dataclass(frozen=True, slots=True)
class Moment:
    """An event with its place in the log; see :mod:`inspector.vocabulary` for its values."""

    cursor: int
    at_ns: int
    a: int
    b: int


class PastCall(Struct, frozen=True):
    cursor: int
    at_ns: int  # Session instant it was called for; from attached programs, that of the call
    late_ns: int  # How much later the time source read; below 0 when it was called early
    next_ns: int  # Its next due instant, in local time; NEVER after the last call
    due_ns: int | None  # When it was due, in local time; None when that is no longer in the log

    @property
    def read_ns(self) -> int:
        """The reading of the time source during the call, in session time."""
        return self.at_ns + max(self.late_ns, 0)

    @property
    def is_out_of_turn(self) -> bool:
        """Whether a repeating timer was called outside its schedule, or a one-shot early."""
        return self.late_ns < 0 or self.next_ns == self.due_ns


class Stretch(Struct):
    """How long a pause or a rate of a clock lasted."""

    change: ClockChange  # Its beginning
    number: int  # How many stretches of this clock there were before it
    # Session instant of its end; None if it has not ended. A move ends at once.
    end_ns: int | None = None

    def effect_ns(self, since_ns: int, until_ns: int) -> int:
        """Return how much time the clock lost or gained by it between two session instants."""
        end_ns = until_ns if self.end_ns is None else min(self.end_ns, until_ns)
        length_ns = max(0, end_ns - max(self.change.at_ns, since_ns))
        return length_ns * abs(RATE_DENOMINATOR - self.change.speed_n) // RATE_DENOMINATOR


class CallPast(ClockChangeReader):
    """The known past of one call; can be extended as a session continues.

    Only timers of clocks have firings.
    """

    def __init__(self, call_id: CallId, longest: int = LONGEST_PAST) -> None:
        self.id = call_id  # The call
        self.longest = longest  # The most events to read
        self.first = -1  # Cursor at which the past begins
        self.cursor = 0  # Cursor up to which it was read
        self.added: Moment | None = None  # When it was scheduled
        self.origin: Moment | None = None  # Its call site (sid), and its TimerKind
        # When it was armed: its first due instant in local time, and its interval
        self.armed: Moment | None = None
        self.firings: deque[PastCall] = deque(maxlen=KEPT_FIRINGS)  # Its last calls
        self.fired = 0  # How often it was called within the past
        # When it was cleared: the call site (sid) and the command
        self.cleared: Moment | None = None
        self.missed: Moment | None = None  # When ticks were last skipped, and how many
        self.ticks_missed = 0  # How many ticks were skipped in all
        self.failed: Moment | None = None  # When its callback last raised
        self.failures = 0  # How often its callback raised
        self.rates: dict[int, ClockChange] = {}  # By clock: when its rate was last set
        # Pauses, rates and moves by clock; if there are very many, those with most effect
        self.stretches: dict[int, list[Stretch]] = {}
        self._open: dict[tuple[int, str], Stretch] = {}
        self.removals: dict[int, ClockChange] = {}  # By clock: when it was removed
        self.transport: Moment | None = None  # When the session was last held or run
        self._due_ns: int | None = None
        self._mine: list[tuple[int, RawEvent]] | None = []
        self._begun: tuple[int, int | None] | None = None
        self._moment: Moment | None = None
        self._steps = handlers_of(self)

    @property
    def last(self) -> PastCall | None:
        return self.firings[-1] if self.firings else None

    @property
    def last_cursor(self) -> int:
        """The last cursor at which events of the call prove that it existed."""
        moments = (self.added, self.last, self.armed)
        return max((moment.cursor for moment in moments if moment), default=0)

    @property
    def kind(self) -> TimerKind | None:
        """The kind of timer, ``None`` when that is no longer in the log."""
        return None if self.origin is None else TimerKind(self.origin.b)

    def begun_ns(self, history: History, clock_id: int) -> int | None:
        """Return the local time of a clock when the timer was set; ``None`` if unknown."""
        if self.added is None:
            return None
        if self._begun is None or self._begun[0] != clock_id:
            then = history.state_before(self.added.cursor)
            known = clock_id in then.clocks
            local_ns = then.local_ns(clock_id, self.added.at_ns) if known else None
            self._begun = clock_id, local_ns
        return self._begun[1]

    def begin(self, history: History, cursor: int) -> None:
        """Set the beginning of a past to be read up to a cursor, unless reading has begun."""
        if self.first < 0:
            self.first = self.cursor = max(history.first, cursor - self.longest)

    def read(self, history: History, cursor: int) -> None:
        """Read on up to a cursor, skipping events that are too far back."""
        self.begin(history, cursor)
        number = self.id.number
        own = {ADDED[Unit.MEMBER]} if self.id.is_member else MAY_BE_ABOUT_TIMERS
        wanted = own | _OF_ALL
        while self.cursor < cursor:
            start = max(self.cursor, history.first)
            end = min(start + _STRETCH, cursor)
            # Nearly all events are about other calls, so this filter has to be fast.
            mine = [
                (place, event)
                for place, event in zip(*history.numbered(start, end), strict=True)
                if (kind := event[1]) in wanted and (event[2] == number or kind not in own)
            ]
            for place, event in mine:
                self._fold_event(place, event)
            if self._mine is not None:
                self._mine += mine
                if len(self._mine) > KEPT_EVENTS:
                    self._mine = None
            self.cursor = max(end, start)

    def as_of(self, cursor: int) -> CallPast:
        """Return the past up to an earlier cursor, without reading it again if possible."""
        if cursor >= self.cursor:
            return self
        past = CallPast(self.id, self.longest)
        if self._mine is None:
            return past
        past.first, past.cursor = self.first, cursor
        for place, event in self._mine:
            if place >= cursor:
                break
            past._fold_event(place, event)
        if past.added == self.added:
            past._begun = self._begun
        return past

    def _fold_event(self, cursor: int, event: RawEvent) -> None:
        at_ns, kind, subject, a, b = event
        step = self._steps.get(kind)
        if step is not None:
            self.place, self._moment = cursor, Moment(cursor, at_ns, a, b)
            step(at_ns, subject, a, b)

    @override
    def changed(self, change: ClockChange) -> None:
        if change.kind == "removal":
            self.removals[change.clock_id] = change
            return
        if change.kind == "rate":
            self.rates[change.clock_id] = change
        ends = "pause" if change.kind == "resumption" else change.kind
        ended = self._open.pop((change.clock_id, ends), None)
        if ended is not None:
            ended.end_ns = change.at_ns
        is_return = ended is not None and change.speed_n == RATE_DENOMINATOR
        if change.kind != "resumption" and not is_return:
            self._begin(change)

    def _begin(self, change: ClockChange) -> None:
        stretches = self.stretches.setdefault(change.clock_id, [])
        stretch = Stretch(change, stretches[-1].number + 1 if stretches else 0)
        if change.kind == "move":
            stretch.end_ns = change.at_ns
        else:
            self._open[change.clock_id, change.kind] = stretch
        stretches.append(stretch)
        if len(stretches) > 2 * KEPT_STRETCHES:
            by_effect = sorted(stretches, key=lambda each: each.effect_ns(0, change.at_ns))
            kept = {each.number for each in by_effect[-KEPT_STRETCHES:]} | {stretch.number}
            stretches[:] = [each for each in stretches if each.number in kept]

    def _on_timer_added(self, *_event: int) -> None:
        self.added = self._moment

    _on_member_added = _on_timer_added

    def _on_timer_origin(self, *_event: int) -> None:
        self.origin = self._moment

    def _on_timer_armed(self, _at_ns: int, _timer_id: int, due_ns: int, _interval_ns: int) -> None:
        self._due_ns = due_ns
        self.armed = self.armed or self._moment

    def _on_timer_fired(self, at_ns: int, _timer_id: int, late_ns: int, next_ns: int) -> None:
        self.fired += 1
        self.firings.append(PastCall(self.place, at_ns, late_ns, next_ns, self._due_ns))
        self._due_ns = next_ns

    def _on_timer_cleared(self, *_event: int) -> None:
        self.cleared = self._moment

    def _on_ticks_missed(self, _at_ns: int, _timer_id: int, ticks: int, _kind: int) -> None:
        self.missed = self._moment
        self.ticks_missed += ticks

    def _on_callback_failed(self, *_event: int) -> None:
        self.failed = self._moment
        self.failures += 1

    def _on_transport(self, at_ns: int, mode: int, _a: int, _b: int) -> None:
        self.transport = Moment(self.place, at_ns, mode, 0)
