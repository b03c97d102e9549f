"""The playhead: the instant whose state the window shows, while the session goes on."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
from typing import Final

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from inspector.events.history import History
from inspector.events.timeline import Timeline
from inspector.sessions.session import Session

#: Events from one kept state to the next, where the playhead moves, ...
_RUNG: Final = 1_000
#: ... but at least this many for each clock, timer and member that has to be copied.
_RUNG_PER_PART: Final = 0.5
#: Events from the lowest to the highest of such states, as far as one climbs.
_LADDER: Final = 20_000
#: Most clocks, timers and members that are kept in all such states together, at about 200
#: bytes each, and what a state without any counts as.
_MOST_PARTS: Final = 160_000
_PARTS_OF_NONE: Final = 40
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

    The history itself keeps states far apart. Where the playhead moves, more of them
    are kept, like the rungs of a ladder, the fewer the larger they are.
    """

    def __init__(self, history: History) -> None:
        self.history = history
        self._rungs: dict[int, Timeline] = {}
        self._shown: Timeline | None = None
        self._cursor = 0
        self._at_ns = 0

    def state_at(self, at_ns: int) -> Timeline:
        """Return the state at an instant; the same object while it only moves on a little."""
        history = self.history
        shown = self._shown
        if shown is not None and at_ns == self._at_ns:
            return shown
        cursor = history.cursor_at(at_ns)
        can_go_on = (
            shown is not None
            and self._at_ns < at_ns
            and history.first <= self._cursor
            and cursor - self._cursor <= 2 * _RUNG
        )
        if shown is None or not can_go_on:
            self._cursor, rung = self._rung_before(cursor)
            shown = rung.copy()
        shown.apply_all(history.events(self._cursor, cursor))
        shown.set_present(at_ns)
        self._shown, self._cursor, self._at_ns = shown, cursor, at_ns
        return shown

    def _rung_before(self, cursor: int) -> tuple[int, Timeline]:
        """Return a state shortly before a cursor, to be copied, and its own cursor."""
        history, rungs = self.history, self._rungs
        first = history.first
        for fallen in [each for each in rungs if each < first]:
            del rungs[fallen]
        lowest = max(cursor - cursor % _LADDER, first)
        at = max((each for each in rungs if lowest <= each <= cursor), default=-1)
        if at < 0:
            at, state = lowest, history.state_before(lowest)
            self._keep(at, state)
        else:
            state = rungs[at]
        step = max(_RUNG, round(_parts(state) * _RUNG_PER_PART))
        while cursor - at > step:
            state = state.copy()
            state.apply_all(history.events(at, at + step))
            at += step
            self._keep(at, state)
        return at, state

    def _keep(self, cursor: int, state: Timeline) -> None:
        if sum(map(_parts, self._rungs.values())) > _MOST_PARTS:
            self._rungs.clear()
        # Worked out once here, and not in every copy.
        state.resolve_dues()
        self._rungs[cursor] = state


def _parts(state: Timeline) -> int:
    return _PARTS_OF_NONE + len(state.clocks) + len(state.timers) + len(state.members)
