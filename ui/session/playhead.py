"""The playhead: the instant whose state the window shows, while the session goes on."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from time import perf_counter_ns
from typing import Final

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from inspector.events.history import History
from inspector.events.timeline import Timeline
from inspector.sessions.session import Session

#: The states that are kept are this many events apart, or farther if moves are longer ...
_STEP: Final = 1_000
#: ... but at most this many. A longer move is a jump, after which the next may be short.
_FARTHEST: Final = 20_000
#: This many states before the playhead are computed ahead of time, ...
_AHEAD: Final = 12
#: ... and this many are kept, fewer if together they have more parts (clocks, timers, members).
_MOST_KEPT: Final = 16
_MOST_PARTS: Final = 160_000
#: Events folded in one piece of the work done ahead of time: a millisecond or two.
_PIECE: Final = 1_500
#: Milliseconds between moves while the playhead moves by itself.
_PLAY_MS: Final = 16


class Playhead(QObject):
    """Where in the past a session is shown, and its state there.

    Moves are cheap: the state is folded when it is asked for, and a move is reported
    once a turn of the event loop.
    """

    # The playhead is at another instant: session nanoseconds, or None for the present
    changed = Signal(object)  # int | None
    playing_changed = Signal(bool)  # It began or ceased to move by itself

    def __init__(
        self,
        parent: QObject | None = None,
        clock: Callable[[], int] = perf_counter_ns,
        queue_turn: Callable[[QObject, Callable[[], object]], None] | None = None,
    ) -> None:
        """Stand at the present.

        The clock returns nanoseconds that pass. ``queue_turn`` has something done in a turn of the
        event loop that is free for it; ``None`` works nothing out ahead.
        """
        super().__init__(parent)
        self._clock = clock
        self._queue_turn = queue_turn
        self._session: Session | None = None
        # Kept here, because after a rewind that was not reported yet the session has another one.
        self.history: History | None = None
        self._states: _NearStates | None = None
        self.at_ns: int | None = None  # The instant that is shown, None for the present
        self._announced: int | None = None
        self._expected_ns: int | None = None  # Where states are worked out ahead
        self._has_turn = False
        self._played_from = (0, 0)
        self._turn = QTimer(self)
        self._turn.setSingleShot(True)
        self._turn.setInterval(0)
        self._turn.timeout.connect(self._emit_changed)
        self._play = QTimer(self)
        self._play.setInterval(_PLAY_MS)
        self._play.setTimerType(Qt.TimerType.PreciseTimer)
        self._play.timeout.connect(self._play_on)

    @property
    def range_ns(self) -> tuple[int, int]:
        session, history = self._session, self.history
        if session is None or history is None:
            return 0, 0
        last_ns = history.last_ns
        if session.history is history:
            last_ns = max(last_ns, session.timeline.at_ns)
        return history.first_ns, max(last_ns, history.first_ns)

    def use(self, session: Session | None) -> None:
        """Belong to another session, or to another log of it, at its present."""
        self._session = session
        self.history = None if session is None else session.history
        self.move_to(None)

    def move_to(self, at_ns: int | None) -> None:
        """Show an instant, the nearest one that is known, or the present for ``None``."""
        if at_ns is not None and self._session is not None:
            first_ns, last_ns = self.range_ns
            at_ns = min(max(at_ns, first_ns), last_ns)
        else:
            at_ns = None
        self.at_ns = at_ns
        if at_ns is not None and self.is_playing:
            self._played_from = (at_ns, self._clock())
        if at_ns is None:
            self.stop()
            self._forget_states()
            self._emit_changed()
        elif at_ns != self._announced:
            self._turn.start()

    def shown(self, live: Timeline) -> Timeline:
        """Return the state at the playhead; ``live`` at the present."""
        if self.at_ns is None or self.history is None:
            return live
        return self._near_states(self.history).state_at(self.at_ns)

    def expect_at(self, at_ns: int | None) -> None:
        """Compute ahead of time what a move to an instant, and back from there, will need.

        ``None``: while the present is shown, no such move is expected.
        """
        if at_ns is not None:
            self._expected_ns = at_ns
            self._work_ahead()
        elif self.at_ns is None:
            self._forget_states()

    def _near_states(self, history: History) -> _NearStates:
        if self._states is None:
            self._states = _NearStates(history)
        return self._states

    def _forget_states(self) -> None:
        self._states = self._expected_ns = None

    def _work_ahead(self) -> None:
        if self._queue_turn is not None and not self._has_turn:
            self._has_turn = True
            self._queue_turn(self, self._do_piece)

    def _do_piece(self) -> None:
        self._has_turn = False
        session, history = self._session, self.history
        if session is None or history is None or self._expected_ns is None:
            return
        if self._near_states(history).work_ahead(self._expected_ns, _parts(session.timeline)):
            self._work_ahead()

    @property
    def is_playing(self) -> bool:
        return self._play.isActive()

    def play(self) -> None:
        """Move on by itself, a second in a second; from the beginning if it is at the end."""
        first_ns, last_ns = self.range_ns
        if self.is_playing or first_ns == last_ns:
            return
        at_ns = self.at_ns
        if at_ns is None or at_ns >= last_ns:
            at_ns = first_ns
            self.move_to(at_ns)
        self._played_from = (at_ns, self._clock())
        self._play.start()
        self.playing_changed.emit(True)

    def stop(self) -> None:
        if self.is_playing:
            self._play.stop()
            self.playing_changed.emit(False)

    @Slot()
    def _play_on(self) -> None:
        # Counted from where it was put last, so that it can be moved by hand meanwhile.
        from_ns, began_ns = self._played_from
        self.move_to(from_ns + self._clock() - began_ns)
        if self.at_ns == self.range_ns[1]:
            self.stop()

    @Slot()
    def _emit_changed(self) -> None:
        self._turn.stop()
        if self.at_ns != self._announced:
            self._announced = self.at_ns
            self.changed.emit(self.at_ns)
            # Queued after everything that shows this move.
            self.expect_at(self.at_ns)


class _NearStates:
    """States of a history, each reached from one that is near.

    The history itself keeps states far apart. Some before the playhead are kept here, at multiples
    of a number of events, so that a move back folds few.
    """

    def __init__(self, history: History) -> None:
        self.history = history
        self._kept: dict[int, Timeline] = {}
        self._shown: Timeline | None = None
        self._cursor = 0
        self._at_ns = 0
        self._step = _STEP
        # A state on its way to the next one to keep, its cursor, and the cursor to reach.
        self._ahead: tuple[Timeline, int, int] | None = None
        self._unknown: set[int] = set()  # Cursors before which events are missing

    def state_at(self, at_ns: int) -> Timeline:
        """Return the state at an instant; the same object while it only moves on a little."""
        history, shown, start = self.history, self._shown, self._cursor
        if shown is not None and at_ns == self._at_ns:
            return shown
        cursor = history.cursor_at(at_ns)
        move = _FARTHEST + 1 if shown is None else abs(cursor - start)
        self._step = _step_for(move) if shown is None or not _is_large(shown) else _FARTHEST
        is_near = self._at_ns < at_ns and move <= _FARTHEST
        if shown is None or not (is_near and self._leads_to(cursor, start)):
            start, state = self._state_before(cursor)
            shown = state.copy()
        elif start < (place := self._place(cursor)) and not _is_large(shown):
            history.go_on(shown, start, place)
            start = place
            if place not in self._kept:
                shown.resolve_dues()
                self._keep(place, shown.copy())
        if start < cursor:
            history.go_on(shown, start, cursor)
        shown.set_present(at_ns)
        self._shown, self._cursor, self._at_ns = shown, cursor, at_ns
        return shown

    def work_ahead(self, at_ns: int, parts: int) -> bool:
        """Do a piece of what moves back from an instant will need; return whether more is left.

        Args:
            parts: How many parts a state has about.
        """
        ahead = min(_AHEAD, _MOST_PARTS // max(parts, 1) - 1)
        cursor = self.history.cursor_at(at_ns)
        places = {self._place(cursor - number * self._step) for number in range(ahead)}
        if self._ahead is None or self._ahead[2] not in places:
            missing = places - self._kept.keys() - self._unknown
            # Reaching the first missing state takes long, so several are computed in a row, and
            # only when one of the nearer half is missing.
            if not missing & set(sorted(places)[len(places) // 2 :]):
                return False
            place = min(missing)
            start, state = self._known_before(place)
            self._ahead = state, start, place
        state, start, place = self._ahead
        end = min(start + _PIECE, place)
        if state.events_folded != start or not self._leads_to(end, start):
            self._unknown.add(place)
            self._ahead = None
            return True
        self.history.go_on(state, start, end)
        self._ahead = state, end, place
        if end < place:
            return True
        self._ahead = None
        before = self._kept.keys() & places
        self._keep(place, state, places)
        # Stop if another wanted state was given up for this one: states are larger than assumed.
        return before <= self._kept.keys()

    def _place(self, cursor: int) -> int:
        """Return the last place at or before a cursor at which a state is kept."""
        return max(cursor - cursor % self._step, self.history.first)

    def _known_before(self, cursor: int) -> tuple[int, Timeline]:
        nearest = max((at for at in self._kept if cursor - _FARTHEST <= at <= cursor), default=-1)
        if nearest < self.history.first:
            return self.history.known_before(cursor)
        return nearest, self._kept[nearest].copy()

    def _leads_to(self, cursor: int, start: int) -> bool:
        """Return whether all events from one cursor up to another are known."""
        history = self.history
        return history.first <= start and history.whole_until(start, cursor) >= cursor

    def _state_before(self, cursor: int) -> tuple[int, Timeline]:
        """Return a state shortly before a cursor, to be copied, and its own cursor."""
        history, kept = self.history, self._kept
        for fallen in [each for each in kept if each < history.first]:
            del kept[fallen]
        at = max((each for each in kept if cursor - _FARTHEST <= each <= cursor), default=-1)
        place = self._place(cursor)
        if at < 0 or not self._leads_to(cursor, at):
            at, state = place, history.state_before(place)
            if state.events_folded != at or not self._leads_to(cursor, at):
                # Events are missing, so this is the last state that is known.
                return cursor, history.state_before(cursor)
            self._keep(at, state)
        elif at < place:
            state = kept[at].copy()
            history.go_on(state, at, place)
            at = place
            self._keep(at, state)
        return at, kept[at]

    def _keep(self, at: int, state: Timeline, wanted: AbstractSet[int] = frozenset()) -> None:
        """Keep a state, and give up those that are farthest away, wanted ones last."""
        kept = self._kept
        # Computed once here instead of in every copy.
        state.resolve_dues()
        kept[at] = state
        parts = sum(map(_parts, kept.values()))
        while len(kept) > 1 and (len(kept) > _MOST_KEPT or parts > _MOST_PARTS):
            others = kept.keys() - {at}
            farthest = max(others - wanted or others, key=lambda each: abs(each - at))
            parts -= _parts(kept.pop(farthest))


def _step_for(move: int) -> int:
    step = _STEP
    while step < move <= _FARTHEST:
        step *= 2
    return step


def _is_large(state: Timeline) -> bool:
    """Return whether at most one such state can be kept, so that none is for the way back."""
    return 2 * _parts(state) > _MOST_PARTS


def _parts(state: Timeline) -> int:
    return len(state.clocks) + len(state.timers) + len(state.members)
