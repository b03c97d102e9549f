"""When the window is refreshed: as often as is worthwhile, and never while it is hidden.

The scene comes first: refreshing is divided into small pieces. A turn of the event loop does as
many of them as take little time together, and none just before the scene is due. What a turn has
changed is painted at its end, and each such paint costs as much as a small panel. When frames
slip, refreshes are further apart.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from time import thread_time_ns
from typing import Final, Protocol

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from shiboken6 import isValid

from inspector.sessions.session import SessionPhase
from inspector.timebase import NS_PER_MS

#: Least milliseconds between refreshes: at sixty frames a second every other frame is waited for
#: and shown, which is enough for moving pictures.
REFRESH_MS: Final = 30
#: Most milliseconds between refreshes, however much the window gives way to the scene. Also used
#: for a running session in which nothing happens, as only digits change, and for one that stands
#: still but is being written to a file.
QUIET_REFRESH_MS: Final = 250
#: A session is quiet after this many refreshes. Refreshes that find events end that only if this
#: many have found some within this time: the picture need not flow between rare events.
_QUIET_AFTER: Final = 4
_FREQUENT_NS: Final = 500 * NS_PER_MS
#: Milliseconds after a program's report of events by which all earlier events have come, too.
_SETTLED_MS: Final = 55
#: A piece of work and its painting take less than this; it waits if the scene is due earlier, ...
_PIECE_NS: Final = 6 * NS_PER_MS
#: ... but only this many times: a scene that is due all the time would never be shown.
_MOST_WAITS: Final = 2
#: A refresh comes this much earlier if a frame does, as one frame may be late and the next not.
_EARLY_NS: Final = 5 * NS_PER_MS
#: The user has stopped moving the playhead or the view this long after the last move.
_REST_MS: Final = 150
#: No other piece is begun in a turn that has taken this long.
_TURN_NS: Final = 4 * NS_PER_MS


class Slowing:
    """How much less often the window is refreshed, for the sake of the scene.

    Refreshes move apart when frames are late and the window itself is partly to blame.
    """

    #: How long frames are watched before each decision.
    WATCHED_NS: Final = 500 * NS_PER_MS
    #: A frame is late when it takes this many times as long as it should.
    LATE: Final = 1.5
    #: The share of frames that may be late, and the share of the time that the window may take.
    LATE_SHARE: Final = 0.05
    OWN_SHARE: Final = 0.25
    STEP: Final = 1.5
    MOST: Final = QUIET_REFRESH_MS / REFRESH_MS
    #: After this many watches in a row without late frames, refreshes come closer again. The number
    #: doubles each time that this makes frames late at once.
    CALM_WATCHES: Final = 4
    MOST_CALM_WATCHES: Final = 64

    def __init__(self) -> None:
        self.factor = 1.0  # How many times the usual period passes between refreshes, at least 1
        self._calm = 0
        self._patience = self.CALM_WATCHES
        self._on_trial = 0
        self._begin()

    def _begin(self) -> None:
        self._frames = self._late = self._passed_ns = self._own_ns = 0

    def note(
        self, intervals_ns: Iterable[int], period_ns: float, *, passed_ns: int, own_ns: int
    ) -> None:
        """Count the late frames of a running scene, and decide once enough time was watched.

        The new frames took ``intervals_ns``, where each should take ``period_ns``; of the
        ``passed_ns`` since the last call, the window itself took ``own_ns``.
        """
        for interval_ns in intervals_ns:
            self._frames += 1
            self._late += interval_ns > self.LATE * period_ns
        self._passed_ns += passed_ns
        self._own_ns += own_ns
        if self._passed_ns >= self.WATCHED_NS:
            self._decide()
            self._begin()

    def _decide(self) -> None:
        is_on_trial, self._on_trial = self._on_trial > 0, self._on_trial - 1
        if self._late > self.LATE_SHARE * self._frames:
            self._calm = 0
            if self._own_ns > self.OWN_SHARE * self._passed_ns:
                self.factor = min(self.factor * self.STEP, self.MOST)
                if is_on_trial:
                    self._on_trial = 0
                    self._patience = min(2 * self._patience, self.MOST_CALM_WATCHES)
            return
        self._calm += 1
        if self._calm >= self._patience and self.factor > 1:
            self._calm = 0
            self._on_trial = self.CALM_WATCHES
            self.factor = max(self.factor / self.STEP, 1.0)


class Follower(Protocol):
    """Something that is asked to refresh whenever the session was refreshed."""

    period_end_ns: int  # Until then, a request would only wait
    is_waiting: bool  # Whether it has been asked since its last refresh

    def request(self) -> None:
        """Ask for a refresh."""


class RefreshTimer(QObject):
    """Says when to refresh, and whose turn it is.

    Refreshes follow one another while the session runs or is written to a file, and after a
    request until one finds nothing new. Each begins with :attr:`due`, upon which new events are
    taken in; the widgets that show them then ask for a turn each. The next refresh begins when
    all have had their turns, so all show the same instant. A refresh that takes long is followed
    by an equally long pause, so that half of the time is left to others.
    """

    due = Signal()  # It is time to take in what is new
    # Whether the user is moving the playhead or the view, and so waits for every picture
    moving_changed = Signal(bool)

    _requested = Signal(int)

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        clock: Callable[[], int],
        processor_clock: Callable[[], int] = thread_time_ns,
    ) -> None:
        """Begin without refreshes.

        The clocks return nanoseconds: of passing time, and of processor time of this thread.
        """
        super().__init__(parent)
        # What the session was doing at the last refresh, None without any session
        self.phase: SessionPhase | None = None
        # Whether at that refresh a file was being written or other processes could report, of
        # which the log has no events
        self.is_writing = False
        self.slowing = Slowing()  # By how much the window gives way to the scene
        # Returns how soon the scene is due, None if it is not
        self.until_wake_ns: Callable[[], int | None] = _never
        self._clock = clock
        self._processor_clock = processor_clock
        self.is_visible = True
        self._quiet_turns = 0
        self._news_ns: deque[int] = deque(maxlen=_QUIET_AFTER)  # When refreshes last found events
        self._began_ns = clock() - REFRESH_MS * NS_PER_MS
        self._turn_ns: int | None = None  # When the refresh began that is taking in what is new
        self._spent_ns = 0
        self._noted: tuple[int, int] | None = None
        self._frame_ns = 0
        self._waits = 0
        self._armed_from_ns = 0  # The earliest instant for the refresh that the timer was armed for
        self._is_due = False
        self._followers: list[Follower] = []
        # The owners, what refreshes, and whether it can wait
        self._pieces: deque[tuple[QObject, Callable[[], object], bool]] = deque()
        self.is_moving = False
        self._later: list[tuple[QObject, Callable[[], object], bool]] = []
        self._rest = self._make_timer(self._end_moves)
        self._rest.setInterval(_REST_MS)
        self._timer = self._make_timer(self._become_due)
        self._next_turn = self._make_timer(self._do_piece)
        self._requested.connect(self._come_soon)

    def _make_timer(self, slot: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setTimerType(Qt.TimerType.PreciseTimer)
        timer.timeout.connect(slot)
        return timer

    @property
    def next_ms(self) -> int | None:
        """For how many milliseconds the timer was armed, ``None`` while it is not."""
        if self._is_due:
            return 0
        return self._timer.interval() if self._timer.isActive() else None

    @property
    def is_lively(self) -> bool:
        """Whether the session runs and refreshes keep finding something new."""
        is_running = self.phase is SessionPhase.RUNNING
        return is_running and self.is_visible and self._quiet_turns < _QUIET_AFTER

    def now_ns(self) -> int:
        """Return the reading of the clock; all that one refresh asks read when it began."""
        return self._clock() if self._turn_ns is None else self._turn_ns

    def period_ms(self, least_ms: int) -> int:
        factor = self.slowing.factor
        if factor == 1:
            return least_ms
        return max(least_ms, min(round(least_ms * factor), QUIET_REFRESH_MS))

    def forget_session(self) -> None:
        """Forget the session that was refreshed; the next one is assumed to be lively."""
        self.phase = None
        self.is_writing = False
        self.slowing = Slowing()
        self.until_wake_ns = _never
        self._noted = None
        self._quiet_turns = 0
        self._is_due = False
        self._timer.stop()

    def request(self) -> None:
        """Ask for a refresh soon; from any thread."""
        self._requested.emit(0)

    def expect_news(self) -> None:
        """Ask for a refresh once what a program reports can be shown; from any thread."""
        self._requested.emit(_SETTLED_MS)

    def set_visible(self, *, is_visible: bool) -> None:
        """Say whether the window can be seen; hidden or minimised, nothing refreshes."""
        if is_visible == self.is_visible:
            return
        self.is_visible = is_visible
        if is_visible:
            self.request()
        elif not self._goes_on:
            self._is_due = False
            self._timer.stop()

    def begin_turn(self) -> None:
        self._is_due = False
        self._spent_ns = 0
        self._began_ns = self._turn_ns = self._clock()

    def end_turn(self, *, has_news: bool) -> None:
        """Arm for the next refresh, if one is needed; ``has_news`` if this one has found events."""
        self._turn_ns = None
        self._spent_ns += self._clock() - self._began_ns
        self._quiet_turns += 1
        if has_news:
            known_ns = self._news_ns
            known_ns.append(self._began_ns)
            is_frequent = known_ns[-1] - known_ns[0] <= _FREQUENT_NS
            is_frequent = is_frequent and len(known_ns) == _QUIET_AFTER
            if is_frequent or self.phase is not SessionPhase.RUNNING:
                self._quiet_turns = 0
        self._arm()

    def note_frames(self, intervals_ns: Iterable[int], period_ns: float, *, busy_ns: int) -> None:
        """Say what new frames took while the scene runs, and how much of it the scene computed."""
        now_ns, computed_ns = self._clock(), self._processor_clock()
        if self._noted is not None:
            former_ns, former_computed_ns = self._noted
            self.slowing.note(
                intervals_ns,
                period_ns,
                passed_ns=now_ns - former_ns,
                own_ns=max(computed_ns - former_computed_ns - busy_ns, 0),
            )
        self._noted = now_ns, computed_ns
        self._frame_ns = round(period_ns)

    def note_standstill(self) -> None:
        """Say that the scene does not run: the time until it does says nothing about frames."""
        self._noted = None
        self._frame_ns = 0

    def _arm(self) -> None:
        if self._goes_on:
            self._timer.start(1)
            return
        is_over = self._quiet_turns and self.phase is not SessionPhase.RUNNING
        if self.phase is None or not self.is_visible or (is_over and not self.is_writing):
            self._timer.stop()
            # No refresh follows that the followers could wait for.
            for each in [each for each in self._followers if each.is_waiting]:
                self._ask(each)
            return
        is_quiet = is_over or self._quiet_turns >= _QUIET_AFTER
        wait_ms = self.period_ms(QUIET_REFRESH_MS if is_quiet else REFRESH_MS)
        passed_ms = (self._clock() - self._began_ns) // NS_PER_MS
        # Half of the time is left to others, including what has passed between turns.
        pause_ms = 2 * self._spent_ns // NS_PER_MS - passed_ms
        arm_ms = max(1, wait_ms - passed_ms, min(pause_ms, QUIET_REFRESH_MS))
        self._armed_from_ns = self._clock() + arm_ms * NS_PER_MS
        self._timer.start(arm_ms + self._until_frame_ms(arm_ms))

    def come_with_frame(self) -> None:
        """Refresh now if it is about time: after a frame, the thread need not wake up again."""
        if self._waits:
            # What was put off for the sake of this frame.
            self._do_piece()
        elif self._timer.isActive():
            early_ns, left_ns = self._armed_from_ns - self._clock(), self.until_wake_ns()
            has_room = left_ns is None or left_ns >= _PIECE_NS
            if early_ns <= (_EARLY_NS if has_room else 0):
                self._timer.stop()
                self._become_due()

    def _until_frame_ms(self, in_ms: int) -> int:
        """Return how long a refresh in ``in_ms`` waits for a frame that it can come with."""
        left_ns, frame_ns = self.until_wake_ns(), self._frame_ns
        if left_ns is None or not frame_ns:
            return 0
        if left_ns <= frame_ns <= REFRESH_MS * NS_PER_MS:
            # For no longer than half of one: then the refresh after this one has less to wait.
            return self._wait_ms(0) + -(-frame_ns // (2 * NS_PER_MS))
        left_ns -= in_ms * NS_PER_MS
        return self._wait_ms(left_ns if left_ns >= 0 else left_ns % frame_ns)

    @staticmethod
    def _wait_ms(left_ns: int | None) -> int:
        """Return how long to wait for a scene that is due too soon for a piece of work, else 0."""
        if left_ns is None or left_ns >= _PIECE_NS:
            return 0
        # A millisecond more: timers may come that much too early, and the piece would wait again.
        return max(0, -(-left_ns // NS_PER_MS) + 1)

    @property
    def _goes_on(self) -> bool:
        """Whether each refresh takes a session further in a long command, seen or not."""
        return self.phase is not None and self.phase.goes_on

    @Slot(int)
    def _come_soon(self, wait_ms: int) -> None:
        if self.phase is None or not self.is_visible or self._is_due:
            return
        if not wait_ms:
            self._quiet_turns = 0
            wait_ms = max(0, REFRESH_MS - (self._clock() - self._began_ns) // NS_PER_MS)
        if not self._timer.isActive() or self._timer.remainingTime() > wait_ms:
            self._armed_from_ns = self._clock() + wait_ms * NS_PER_MS
            self._timer.start(wait_ms)

    def follow(self, follower: Follower) -> None:
        self._followers.append(follower)

    def ask_followers(self) -> None:
        """Ask those for a refresh whose period is over; the others wait for a refresh to come."""
        now_ns, goes_on = self.now_ns(), self.phase is SessionPhase.RUNNING
        for each in tuple(self._followers):
            if goes_on and now_ns < each.period_end_ns:
                each.is_waiting = True
            else:
                self._ask(each)

    def _ask(self, follower: Follower) -> None:
        if isValid(follower):
            follower.request()
        else:
            self._followers.remove(follower)

    def queue_turn(
        self, owner: QObject, refresh: Callable[[], object], *, can_wait: bool = False
    ) -> None:
        """Call ``refresh`` in a later turn, unless its owner is gone by then.

        If it can wait, its turn comes when the user is not moving anything.
        """
        if can_wait and self.is_moving:
            self._later.append((owner, refresh, True))
            return
        self._pieces.append((owner, refresh, can_wait))
        if not self._next_turn.isActive():
            self._next_turn.start(0)

    def note_move(self) -> None:
        """Say that the user has moved the playhead or the view."""
        self._rest.start()
        if not self.is_moving:
            self.is_moving = True
            # What was queued and can wait would make the first picture late.
            self._later += [each for each in self._pieces if each[2]]
            self._pieces = deque(each for each in self._pieces if not each[2])
            self.moving_changed.emit(True)

    @Slot()
    def _end_moves(self) -> None:
        self.is_moving = False
        self.moving_changed.emit(False)
        later, self._later = self._later, []
        for owner, refresh, can_wait in later:
            self.queue_turn(owner, refresh, can_wait=can_wait)

    @Slot()
    def _become_due(self) -> None:
        self._is_due = True
        if not self._next_turn.isActive():
            self._do_piece()

    @Slot()
    def _do_piece(self) -> None:
        """Do the next piece, unless the scene would have to wait, and more if it took little."""
        left_ns = self.until_wake_ns()
        if left_ns is not None and left_ns < _PIECE_NS and self._waits < _MOST_WAITS:
            self._waits += 1
            self._next_turn.start(self._wait_ms(left_ns))
            return
        self._waits = 0
        began_ns = self._clock()
        try:
            while self._pieces or self._is_due:
                if self._pieces:
                    self._refresh_one(*self._pieces.popleft()[:2])
                else:
                    self._is_due = False
                    self.due.emit()
                taken_ns = self._clock() - began_ns
                # Painting what was refreshed will take about as long again.
                if taken_ns >= _TURN_NS or (
                    left_ns is not None and left_ns - 2 * taken_ns < _PIECE_NS
                ):
                    break
        finally:
            if not (self._pieces or self._is_due):
                self._next_turn.stop()
            elif not self._next_turn.isActive():
                self._next_turn.start(0)

    def _refresh_one(self, owner: QObject, refresh: Callable[[], object]) -> None:
        began_ns = self._clock()
        if isValid(owner):
            refresh()
        self._spent_ns += self._clock() - began_ns
        if not self._pieces and (self._is_due or self._timer.isActive()):
            # Measure the pause anew, now that the time of all turns is known.
            self._is_due = False
            self._arm()


def _never() -> int | None:
    return None
