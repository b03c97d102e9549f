"""The playhead: the instant whose state the window shows, while the session goes on."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
from typing import Final

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from inspector.events.history import History
from inspector.events.timeline import Timeline
from inspector.sessions.session import Session

#: A state is kept so many moves before the playhead where it goes back, ...
_MOVES: Final = 25
#: ... but at least and at most so many events before.
_NEAREST: Final = 1_000
_FARTHEST: Final = 20_000
#: States that are kept, fewer where they have many clocks, timers and members.
_MOST_KEPT: Final = 8
_MOST_PARTS: Final = 160_000
#: Milliseconds from one move to the next while the playhead moves by itself.
_PLAY_MS: Final = 16


class Playhead(QObject):
    """Where in the past a session is shown, and its state there.

    Moves are cheap: the state is folded when it is asked for, and a move is reported
    once a turn of the event loop.
    """

    # It is at another instant; session nanoseconds, or None for the present
    changed = Signal(object)  # int | None
    playing_changed = Signal(bool)  # It began or ceased to move by itself

    def __init__(
        self, parent: QObject | None = None, clock: Callable[[], int] = perf_counter_ns
    ) -> None:
        super().__init__(parent)
        self._clock = clock
        self._session: Session | None = None
        # That of the session may be another one already, after a rewind that was not reported.
        self.history: History | None = None
        self._states: _NearStates | None = None
        self.at_ns: int | None = None  # The instant that is shown, None for the present
        self._announced: int | None = None
        self._played_from = (0, 0)
        self._turn = QTimer(self)
        self._turn.setSingleShot(True)
        self._turn.setInterval(0)
        self._turn.timeout.connect(self._tell)
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
        self._states = None
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
            self._states = None
            self._tell()
        elif at_ns != self._announced:
            self._turn.start()

    def shown(self, live: Timeline) -> Timeline:
        """Return the state at the playhead; ``live`` at the present."""
        if self.at_ns is None or self.history is None:
            return live
        if self._states is None:
            self._states = _NearStates(self.history)
        return self._states.state_at(self.at_ns)

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
        # From where it was put last, so that it can be moved by hand meanwhile.
        from_ns, began_ns = self._played_from
        self.move_to(from_ns + self._clock() - began_ns)
        if self.at_ns == self.range_ns[1]:
            self.stop()

    @Slot()
    def _tell(self) -> None:
        self._turn.stop()
        if self.at_ns != self._announced:
            self._announced = self.at_ns
            self.changed.emit(self.at_ns)


class _NearStates:
    """States of a history, each reached from one that is near.

    The history itself keeps states far apart. Where the playhead goes back, one is kept a few moves
    before it, so that most moves fold few events.
    """

    def __init__(self, history: History) -> None:
        self.history = history
        self._kept: dict[int, Timeline] = {}
        self._shown: Timeline | None = None
        self._cursor = 0
        self._at_ns = 0

    def state_at(self, at_ns: int) -> Timeline:
        """Return the state at an instant; the same object while it only moves on a little."""
        history, shown, start = self.history, self._shown, self._cursor
        if shown is not None and at_ns == self._at_ns:
            return shown
        cursor = history.cursor_at(at_ns)
        move = abs(cursor - start)
        is_near = shown is not None and self._at_ns < at_ns and move <= _FARTHEST
        if shown is None or not (is_near and self._leads_to(cursor, start)):
            start, state = self._state_before(cursor, move)
            shown = state.copy()
        if start < cursor:
            history.go_on(shown, start, cursor)
        shown.set_present(at_ns)
        self._shown, self._cursor, self._at_ns = shown, cursor, at_ns
        return shown

    def _leads_to(self, cursor: int, start: int) -> bool:
        """Return whether all events from one cursor up to another are known."""
        history = self.history
        return history.first <= start and history.whole_until(start, cursor) >= cursor

    def _state_before(self, cursor: int, move: int) -> tuple[int, Timeline]:
        """Return a state shortly before a cursor, to be copied, and its own cursor."""
        history, kept = self.history, self._kept
        for fallen in [each for each in kept if each < history.first]:
            del kept[fallen]
        # After a jump, the next move is not known to be as far.
        back = _NEAREST if move > _FARTHEST else min(max(_MOVES * move, _NEAREST), _FARTHEST)
        at = max((each for each in kept if cursor - _FARTHEST <= each <= cursor), default=-1)
        if at < cursor - 2 * back or not self._leads_to(cursor, at):
            at = max(cursor - back, history.first)
            state = history.state_before(at)
            if state.events_folded != at or not self._leads_to(cursor, at):
                # Events are missing, and it is the last state that is known.
                return cursor, history.state_before(cursor)
            # Worked out once here, and not in every copy.
            state.resolve_dues()
            kept[at] = state
            parts = sum(map(_parts, kept.values()))
            while len(kept) > 1 and (len(kept) > _MOST_KEPT or parts > _MOST_PARTS):
                parts -= _parts(kept.pop(next(iter(kept))))
        return at, kept[at]


def _parts(state: Timeline) -> int:
    return len(state.clocks) + len(state.timers) + len(state.members)
