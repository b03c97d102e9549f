"""When the window is refreshed: as often as is worth while, and not at all when nobody looks."""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from inspector.sessions.session import SessionPhase
from inspector.timebase import NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Callable

#: Milliseconds from one refresh to the next: a little less than 60 a second.
REFRESH_MS: Final = 17
#: The same while a session runs in which nothing happens: only digits move.
QUIET_REFRESH_MS: Final = 100
#: The same while a session stands still of which something is on its way to a file.
WRITING_REFRESH_MS: Final = 200
#: A refresh that took long is followed by as long a pause, but not by a longer one than this.
_LONGEST_PAUSE_MS: Final = 250
#: So many refreshes in a row without an event are quiet.
_QUIET_AFTER: Final = 30


class RefreshPace(QObject):
    """Says when to refresh, by one timer.

    Refreshes follow one another while the session runs or is written to a file, and after a
    request until one finds nothing new. One that takes long is followed by as long a pause.

    Attributes:
        phase: What the session was doing at the last refresh, ``None`` without any session.
        is_writing: Whether a file was being written then: another thread does that, and what
            becomes of it is no event.

    Signals:
        due: Refresh now.
    """

    due = Signal()

    _requested = Signal()

    def __init__(
        self, parent: QObject | None = None, *, clock: Callable[[], int] = perf_counter_ns
    ) -> None:
        """Stand still.

        Args:
            parent: Owner in the sense of Qt.
            clock: Nanoseconds, to tell what refreshing costs.
        """
        super().__init__(parent)
        self.phase: SessionPhase | None = None
        self.is_writing = False
        self._clock = clock
        self._is_visible = True
        self._quiet_turns = 0
        self._began_ns = clock() - REFRESH_MS * NS_PER_MS
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self.due)
        self._requested.connect(self._come_soon)

    @property
    def next_ms(self) -> int | None:
        """For how many milliseconds the timer was armed, ``None`` while it is not."""
        return self._timer.interval() if self._timer.isActive() else None

    def start_anew(self) -> None:
        """Forget the session that was refreshed: another one is taken as lively."""
        self.phase = None
        self.is_writing = False
        self._quiet_turns = 0
        self._timer.stop()

    def request(self) -> None:
        """Ask for a refresh as soon as the pace allows; from any thread."""
        self._requested.emit()

    @property
    def is_visible(self) -> bool:
        """Whether there is anybody to refresh for."""
        return self._is_visible

    def set_visible(self, *, is_visible: bool) -> None:
        """Say whether the window can be seen; hidden or minimised, nothing refreshes."""
        if is_visible == self._is_visible:
            return
        self._is_visible = is_visible
        if is_visible:
            self.request()
        elif not self._goes_on:
            self._timer.stop()

    def begin_turn(self) -> None:
        """Note that a refresh begins."""
        self._began_ns = self._clock()

    def end_turn(self, *, has_news: bool) -> None:
        """Arm for the next refresh, if one is needed.

        Args:
            has_news: Whether the refresh that ends has found events.
        """
        self._quiet_turns = 0 if has_news else self._quiet_turns + 1
        if self._goes_on:
            self._timer.start(1)
            return
        is_over = self._quiet_turns and self.phase is not SessionPhase.RUNNING
        if self.phase is None or not self._is_visible or (is_over and not self.is_writing):
            self._timer.stop()
            return
        wait_ms = REFRESH_MS
        if is_over:
            wait_ms = WRITING_REFRESH_MS
        elif self._quiet_turns >= _QUIET_AFTER:
            wait_ms = QUIET_REFRESH_MS
        spent_ms = (self._clock() - self._began_ns) // NS_PER_MS
        self._timer.start(max(1, wait_ms - spent_ms, min(spent_ms, _LONGEST_PAUSE_MS)))

    @property
    def _goes_on(self) -> bool:
        """Whether each refresh takes a session further in a long command, seen or not."""
        return self.phase is not None and self.phase.goes_on

    @Slot()
    def _come_soon(self) -> None:
        if self.phase is None or not self._is_visible:
            return
        self._quiet_turns = 0
        since_ms = (self._clock() - self._began_ns) // NS_PER_MS
        wait_ms = max(0, REFRESH_MS - since_ms)
        if not self._timer.isActive() or self._timer.remainingTime() > wait_ms:
            self._timer.start(wait_ms)
