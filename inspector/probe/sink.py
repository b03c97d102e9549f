"""The queue of events between the threads of the program and the link."""

from __future__ import annotations

from collections import Counter
from operator import itemgetter
from threading import Lock

from .wire import (
    BYTES_PER_EVENT,
    EVENTS,
    MAX_EVENTS,
    WINDOW_BYTES,
    frame,
    notification,
    packed_events,
    text_batches,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .clocks import Emit

    RawEvent = tuple[int, int, int, int, int]

#: Events that may wait for the link's thread; it takes them every few milliseconds.
MOST_WAITING = 100_000
WINDOW_EVENTS = WINDOW_BYTES // BYTES_PER_EVENT

_at_ns = itemgetter(0)
_kind = itemgetter(1)


class Sink:
    """The events of one link, on their way from any thread to the socket."""

    def __init__(self, texts: list[str]) -> None:
        self._waiting: list[RawEvent] = []
        self._texts = texts
        self._texts_sent = 1
        self._last_ns = 0
        self._lock = Lock()
        self.acknowledged = 0  # How many events the inspector has received
        self.sent = 0  # How many were sent
        self.lost: Counter[int] = Counter()  # Dropped events by kind that were not reported yet
        self.dropped = 0  # Number of dropped events so far
        # Number of events by kind so far, dropped ones included
        self.by_kind: Counter[int] = Counter()
        self.is_lossy = False  # Whether events are dropped now
        self.emit = self._emit_function()  # Takes an event, on any thread

    def _emit_function(self) -> Emit:
        # A closure: this is called for every event, and attributes would cost a fifth of it.
        waiting, lose = self._waiting, self._lose
        append = waiting.append

        def emit(event: RawEvent) -> None:
            if len(waiting) < MOST_WAITING:
                append(event)
            else:
                lose((event,))

        return emit

    def extend(self, events: tuple[RawEvent, ...]) -> None:
        """Take events that belong together; no other thread's come in between."""
        waiting = self._waiting
        if len(waiting) < MOST_WAITING:
            waiting.extend(events)
        else:
            self._lose(events)

    def _lose(self, events: tuple[RawEvent, ...] | list[RawEvent]) -> None:
        with self._lock:
            self.is_lossy = True
            self.lost.update(map(_kind, events))
            self.dropped += len(events)

    @property
    def unacknowledged(self) -> int:
        """Events that were sent and not yet acknowledged."""
        return self.sent - self.acknowledged

    @property
    def has_room(self) -> bool:
        """Whether a keyframe may continue: less than half of the window is in use."""
        return self.unacknowledged + len(self._waiting) < WINDOW_EVENTS // 2

    def acknowledge(self, events: int) -> None:
        """The inspector has received this many events."""
        self.acknowledged = min(max(events, self.acknowledged), self.sent)

    def taken(self, *, is_last: bool = False) -> tuple[list[dict[str, Any]], list[bytes]]:
        """Take what waits: messages with texts, and frames of events that go behind them.

        Instants never decrease from one event to the next. ``is_last`` sends all events, however
        few are acknowledged.
        """
        waiting = self._waiting
        count = len(waiting)
        if not count:
            return [], []
        # Others only append, so these are the ones that were there.
        events = waiting[:count]
        del waiting[:count]
        self.by_kind.update(map(_kind, events))
        room = count if is_last else max(WINDOW_EVENTS - self.unacknowledged, 0)
        if self.is_lossy:
            room = 0
        if count > room:
            self._lose(events[room:])
            del events[room:]
        if not events:
            return [], []
        events.sort(key=_at_ns)
        last_ns = self._last_ns
        for place, event in enumerate(events):
            if event[0] >= last_ns:
                break
            events[place] = (last_ns, *event[1:])
        self._last_ns = events[-1][0]
        self.sent += len(events)
        return self._new_texts(), [
            frame(EVENTS, packed_events(events[at : at + MAX_EVENTS]))
            for at in range(0, len(events), MAX_EVENTS)
        ]

    def _new_texts(self) -> list[dict[str, Any]]:
        first = self._texts_sent
        fresh = self._texts[first:]
        messages = []
        for batch in text_batches(fresh):
            messages.append(notification("Events.texts", {"first": first, "texts": batch}))
            first += len(batch)
        self._texts_sent = first
        return messages

    def loss_to_report(self, *, is_last: bool = False) -> dict[str, int] | None:
        """Return what was lost by kind, once events can be sent again; from then on they are."""
        # Half of the window has to be free, so that losses are not told one by one.
        has_room = is_last or self.unacknowledged <= WINDOW_EVENTS // 2
        if not self.is_lossy or not has_room:
            return None
        with self._lock:
            counts = {str(kind): count for kind, count in sorted(self.lost.items())}
            self.lost.clear()
            self.is_lossy = False
        return counts
