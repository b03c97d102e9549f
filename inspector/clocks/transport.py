"""The transport: runs, holds and steps session time, between time source and tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from inspector.clocks.sources.manual_source import ManualTimeSource
from inspector.clocks.sources.time_source import CallsFromThreads, TimeSource
from inspector.vocabulary import TRANSPORT, Mode

if TYPE_CHECKING:
    from inspector.clocks.tree import ClockTree

#: The longest delta of a frame, however long the program was stopped.
DEFAULT_MAX_DELTA_NS = 250_000_000


class Transport:
    """Turns the time of a source into session time.

    While *running*, session time follows the source; while *held*, it stands still and moves
    only by steps. Holding, stepping and the user's own pauses are independent, so running
    again resumes exactly what ran before. Frames are due on a fixed grid of session time.
    Belongs to the thread of its source, which is the only one that may call it.

    Attributes:
        tree: The tree that it drives.
        source: Where time comes from.
        max_delta_ns: How late a wake-up may be before the rest is cut.
        is_running: Whether session time follows the source.
        on_frame: Called for every due frame with the source's time since the previous frame
            and the time cut from it, both in nanoseconds.
        on_wake_done: Called after every wake-up and step.
    """

    __slots__ = (
        "__weakref__",
        "_asked_ns",
        "_cut_ns",
        "_frame_due_ns",
        "_frame_period_ns",
        "_is_busy",
        "_is_finishing",
        "_is_virtual",
        "_last_frame_ns",
        "_offset_ns",
        "_was_held",
        "is_running",
        "max_delta_ns",
        "on_frame",
        "on_wake_done",
        "source",
        "tree",
    )

    # Session time = source time + this, while running.
    _offset_ns: int

    def __init__(
        self, tree: ClockTree, source: TimeSource, *, max_delta_ns: int = DEFAULT_MAX_DELTA_NS
    ) -> None:
        self.tree = tree
        self.source = source
        self.max_delta_ns = max_delta_ns
        self.on_frame: Callable[[int, int], object] | None = None
        self.on_wake_done: Callable[[], None] | None = None
        self._frame_period_ns: int | None = None
        self._frame_due_ns = 0
        self._last_frame_ns = 0
        self.is_running = False
        self._asked_ns: int | None = None
        self._cut_ns = 0
        self._is_finishing = False
        self._is_busy = False
        # Virtual time stops with the tree; a real source runs on between wakes.
        self._is_virtual = isinstance(source, ManualTimeSource)
        if isinstance(source, ManualTimeSource):
            source.attach_virtual(self._advance, self._jump)
        else:
            source.attach(self._wake)
        tree.on_earlier_wake = self._rearm
        if isinstance(source, CallsFromThreads):
            wake = self._wake
            tree.on_posted = lambda: source.call_soon_threadsafe(wake)

    @property
    def frame_period_ns(self) -> int | None:
        """Session nanoseconds from frame to frame, ``None`` for no frames."""
        return self._frame_period_ns

    @frame_period_ns.setter
    def frame_period_ns(self, period_ns: int | None) -> None:
        self.tree.check_thread()
        if period_ns is not None and period_ns <= 0:
            raise ValueError(f"a frame period must be longer than 0 ns: {period_ns}")
        self._frame_period_ns = period_ns
        if period_ns is not None:
            self._frame_due_ns = self.tree.now_ns + period_ns
        self._rearm()

    @property
    def next_frame_ns(self) -> int | None:
        """The session instant of the next frame, ``None`` for no frames."""
        return None if self._frame_period_ns is None else self._frame_due_ns

    def present_ns(self) -> int:
        """Return session time as of now, also between two wake-ups of the source.

        Raises:
            RuntimeError: Another thread drives the tree.
        """
        self.tree.sync()
        return self.tree.now_ns

    # ------------------------------------------------------------ run, hold

    def run(self) -> None:
        """Let session time follow the source from now on."""
        self.tree.check_thread()
        if self.is_running:
            return
        self.is_running = True
        self._offset_ns = self.tree.now_ns - self.source.now_ns()
        self._record_mode()
        self._rearm()

    def run_from_now(self) -> None:
        """Let what has passed since the last wake-up not count: the host was not ready."""
        self.tree.check_thread()
        if not (self._is_busy or self._is_virtual):
            self._offset_ns = self.tree.now_ns - self.source.now_ns()
            self._rearm()

    def hold(self) -> None:
        """Stop session time after calling everything due by now.

        Inside a callback, and right after a wake-up, it stops at once: nothing else is called, a
        running frame is finished, and a step ends.
        """
        self.tree.check_thread()
        is_between = not (self.tree.is_draining or self._is_busy or self._is_finishing)
        if is_between and not self._is_virtual:
            self._wake()
        self.let_go()

    def let_go(self) -> None:
        """Hold at once, without calling what is due: the end of a session."""
        if self.tree.is_draining:
            self.tree.halt()
        self._was_held = True
        if not self.is_running:
            return
        self.is_running = False
        self.tree.follow(None)
        self.source.set_wake(None)
        self._record_mode()

    # ---------------------------------------------------------------- steps

    def step_ns(self, delta_ns: int) -> None:
        """Let ``delta_ns`` of session time pass at once, with the frames in it.

        Raises:
            ValueError: ``delta_ns`` is negative.
            RuntimeError: The transport is running, or a callback is.
        """
        self.step_to_ns(self.tree.now_ns + delta_ns)

    def step_to_ns(self, target_ns: int) -> None:
        """Go to a session instant, calling everything due on the way, including frames.

        Raises:
            ValueError: ``target_ns`` is in the past.
            RuntimeError: The transport is running, or a callback is.
        """
        self._check_can_step()
        if target_ns < self.tree.now_ns:
            message = f"session time does not run backwards: {target_ns - self.tree.now_ns} ns"
            raise ValueError(message)
        self._pass_to(target_ns)

    def step_frame(self, delta_ns: int | None = None, *, is_reading: bool = False) -> None:
        """Run one frame, ``delta_ns`` from now or by default when it is due on the grid.

        Args:
            delta_ns: Session nanoseconds that pass first.
            is_reading: The delta was measured, so ``max_delta_ns`` applies.

        Raises:
            RuntimeError: The transport is running, or a callback is.
        """
        self._check_can_step()
        now_ns = self.tree.now_ns
        if delta_ns is not None and is_reading and delta_ns > self.max_delta_ns:
            self._cut_ns += delta_ns - self.max_delta_ns
            delta_ns = self.max_delta_ns
        due_ns = max(now_ns, self._frame_due_ns) if delta_ns is None else now_ns + delta_ns
        if self.tree.run_to(due_ns):
            self._run_frame()
            if self._frame_period_ns is not None:
                self._frame_due_ns = self.tree.now_ns + self._frame_period_ns

    # ------------------------------------------------------------ internals

    def _check_can_step(self) -> None:
        self.tree.check_thread()
        if self.is_running or self._is_busy or self.tree.is_draining:
            raise RuntimeError("session time can be stepped only while it is held")

    def _record_mode(self) -> None:
        tree = self.tree
        if tree.record is not None:
            mode = Mode.RUNNING if self.is_running else Mode.HELD
            tree.record((tree.now_ns, TRANSPORT, int(mode), 0, 0))

    def _pass_to(self, target_ns: int) -> None:
        """Let virtual time pass, including due frames."""
        tree = self.tree
        period_ns = self._frame_period_ns
        most, count = tree.most_in_wake, -tree.last_order
        while period_ns is not None and self._frame_due_ns <= target_ns:
            count += 1
            if most is not None and count + tree.last_order > most:
                tree.stop_crowded()
                return
            if not tree.run_to(self._frame_due_ns):
                return
            due_ns = self._frame_due_ns
            went_on = self._run_frame()
            if self._frame_due_ns == due_ns:
                self._frame_due_ns = max(due_ns, tree.now_ns) + period_ns
            if not went_on:
                return
            period_ns = self._frame_period_ns
        tree.run_to(target_ns)

    def _run_frame(self) -> bool:
        """Run a frame now; returns whether the advance may continue."""
        at_ns = self.tree.now_ns
        interval_ns = at_ns - self._last_frame_ns + self._cut_ns
        cut_ns, self._cut_ns = self._cut_ns, 0
        self._last_frame_ns = at_ns
        # Holding in the frame sets it.
        self._was_held = False
        if self.on_frame is not None:
            self.on_frame(interval_ns, cut_ns)
        return not (self.tree.is_halted or self._was_held)

    def _advance(self, source_ns: int) -> None:
        """Follow an advance of a manual source to an instant."""
        if not self.is_running:
            return
        tree = self.tree
        target_ns = source_ns + self._offset_ns
        try:
            if self._frame_period_ns is not None and self._frame_due_ns <= target_ns:
                self._is_busy = True
                try:
                    self._pass_to(target_ns)
                finally:
                    self._is_busy = False
            else:
                tree.run_to(target_ns)
        finally:
            if tree.now_ns is not target_ns:
                # A callback may have jumped past the target, or held before it.
                self._offset_ns = tree.now_ns - self.source.now_ns()
        if self.on_wake_done is not None:
            self._finish_wake()

    def _jump(self, delta_ns: int) -> None:
        if self.is_running:
            self.tree.jump_to(self.tree.now_ns + delta_ns)

    def _follow_source(self) -> None:
        """Bring session time up to the source without calling anything."""
        self.tree.check_thread()
        if not self.is_running:
            # A callback held the transport, and set this again when it returned.
            self.tree.follow(None)
            return
        self.tree.jump_to(self._read_source())

    def _read_source(self) -> int:
        """Return the source's present in session time, after cutting a stall."""
        observed_ns = self.source.now_ns() + self._offset_ns
        asked_ns = self._asked_ns
        if asked_ns is None or observed_ns - asked_ns <= self.max_delta_ns:
            return observed_ns
        reached_ns = asked_ns + self.max_delta_ns
        cut_ns = observed_ns - reached_ns
        self._cut_ns += cut_ns
        self._offset_ns -= cut_ns
        # The wake-up is still to come; until then time continues from here.
        self._asked_ns = reached_ns
        return reached_ns

    def _wake(self) -> None:
        """Handle a wake-up: run what is due, then a due frame."""
        if not self.is_running or self._is_busy:
            return
        observed_ns = self._read_source()
        self._asked_ns = None
        try:
            self._run_due(observed_ns)
            self._finish_wake()
        finally:
            # Whatever a callback raised, the next wake-up must come.
            self._rearm()

    def _run_due(self, observed_ns: int) -> None:
        """Run what is due by the source's reading, then a due frame."""
        tree = self.tree
        present = tree.present
        tree.follow(None)
        self._is_busy = True
        try:
            arrived = tree.run_to(observed_ns, observed_ns=observed_ns)
            period_ns = self._frame_period_ns
            if period_ns is not None and arrived and self._frame_due_ns <= observed_ns:
                # Computed before the frame, so that a period set during the frame takes precedence.
                missed = (observed_ns - self._frame_due_ns) // period_ns
                self._frame_due_ns += (missed + 1) * period_ns
                self._run_frame()
        finally:
            self._is_busy = False
            # A callback may have held the transport.
            tree.follow(present if self.is_running else None)

    def _finish_wake(self) -> None:
        if self.on_wake_done is not None:
            self._is_finishing = True
            try:
                self.on_wake_done()
            finally:
                self._is_finishing = False

    def _rearm(self) -> None:
        """Ask the source for a wake-up at the earliest due instant."""
        if not self.is_running or self._is_busy:
            return
        if self._is_virtual:
            return
        self.tree.follow(self._follow_source)
        due_ns = self.tree.next_wake_ns()
        if self._frame_period_ns is not None:
            due_ns = self._frame_due_ns if due_ns is None else min(due_ns, self._frame_due_ns)
        # A timer that is overdue now is requested for now: that is not a stall yet.
        self._asked_ns = None if due_ns is None else max(due_ns, self.tree.now_ns)
        self.source.set_wake(None if due_ns is None else due_ns - self._offset_ns)
