"""Runs of a hosted scene on virtual time: no waiting, an exact number of frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import cycle, islice
from time import perf_counter_ns, thread_time_ns

from msgspec import Struct

from inspector.commands.transport import Run
from inspector.sessions.hosted import HostedSession
from inspector.sessions.scene import run_kept
from inspector.sessions.session import SessionPhase
from inspector.timebase import NS_PER_SECOND

#: Frames between refreshes, few enough that the log drops no events unread.
FRAMES_PER_FOLD = 64

_PROGRESS_EVERY_NS = 100_000_000

OnProgress = Callable[[float], None]


class RunOutcome(Struct, frozen=True):
    frames: int
    session_ns: int
    took_ns: int
    is_complete: bool  # Whether it reached its end; if not, the scene was stopped
    heaviest_frame: int = 0  # In virtual time: the frame that took most processor time
    heaviest_ns: int = 0  # The processor time of that frame and the timers before it
    began_ns: int = 0  # Session time at the beginning: when the first program was attached


@run_kept()
def run_virtual(
    session: HostedSession,
    *,
    frames: int | None = None,
    duration_ns: int | None = None,
    dt_ns: Fraction | int = Fraction(NS_PER_SECOND, 60),
    on_progress: OnProgress | None = None,
) -> RunOutcome:
    """Run frames a fixed time apart, timers exactly when they are due.

    Frame *k* is at ``k * dt_ns`` after the start, rounded once, so rounding errors do not add
    up when ``dt_ns`` is a fraction. If a callback works for longer than that, the next frame is
    late and the frames missed meanwhile are left out, as in real time.

    It ends after a number of frames, or an amount of session time. ``on_progress`` is called
    at intervals with the share that is done, from 0 to 1.

    Raises:
        ValueError: Neither or both of ``frames`` and ``duration_ns`` are given, or
            something is negative.
        TypeError: The session's time source is a real one.
    """
    step_ns = Fraction(dt_ns)
    if step_ns < 1:
        raise ValueError(f"frames must be at least 1 ns apart, not {float(step_ns):g}")
    if (frames is None) == (duration_ns is None):
        raise ValueError("give either frames or duration_ns")
    if (frames or 0) < 0 or (duration_ns or 0) < 0:
        message = f"a run cannot be negative: {frames if duration_ns is None else duration_ns}"
        raise ValueError(message)
    run = _Progress(session, on_progress)
    number = 0
    # In whole numbers, as fractions would take a tenth of the time of a run.
    step, parts = step_ns.as_integer_ratio()
    while frames is None or run.frames < frames:
        number = max(number, run.session_ns * parts // step) + 1
        target_ns, rest = divmod(number * step, parts)
        # Halves are rounded to even, as round() does.
        target_ns += 2 * rest + (target_ns & 1) > parts
        if duration_ns is not None and target_ns > duration_ns:
            if run.session_ns < duration_ns:
                session.pass_to(run.start_ns + duration_ns, with_frame=False)
            break
        session.pass_to(run.start_ns + target_ns)
        done = run.frames / frames if frames else run.session_ns / (duration_ns or 1)
        if not run.has_advanced(done):
            break
    return run.finished()


@run_kept()
def run_frame_times(
    session: HostedSession,
    times_ns: Sequence[int],
    *,
    frames: int | None = None,
    on_progress: OnProgress | None = None,
) -> RunOutcome:
    """Run frames with the frame times of a capture.

    As in a game loop, clocks are read once per frame: a timer that is due in the middle of a
    long frame is late, and a frame longer than ``max_delta`` is cut.

    It ends after a number of frames, or with the capture; a capture that is too short is repeated.
    ``on_progress`` is called at intervals with the share that is done, from 0 to 1.

    Raises:
        ValueError: There are no times, or one is negative.
        TypeError: The session's time source is not a virtual one.
    """
    if not times_ns or min(times_ns) < 0:
        raise ValueError("a run needs frame times of 0 or more")
    if frames is None:
        frames = len(times_ns)
    run = _Progress(session, on_progress)
    for time_ns in islice(cycle(times_ns), frames):
        session.block_ns(max(1, time_ns))
        if not run.has_advanced(run.frames / frames):
            break
    return run.finished()


def frames_within(times_ns: Sequence[int], duration_ns: int) -> int:
    """Return how many frames fill a duration, repeating the times if need be.

    Raises:
        ValueError: All times are 0.
    """
    total_ns = sum(times_ns)
    if total_ns == 0:
        raise ValueError("a capture in which no time passes cannot fill a duration")
    rounds, rest_ns = divmod(duration_ns, total_ns)
    frames = rounds * len(times_ns)
    for time_ns in _until(times_ns, rest_ns):
        frames += 1
        rest_ns -= time_ns
    return frames


def _until(times_ns: Sequence[int], rest_ns: int) -> Iterator[int]:
    for time_ns in times_ns:
        if rest_ns <= 0:
            return
        yield time_ns
        rest_ns -= time_ns


class _Progress:
    """Counts the frames of a run, and decides when to fold and to report."""

    def __init__(self, session: HostedSession, on_progress: OnProgress | None) -> None:
        self._session = session
        self._on_progress = on_progress
        if session.status.phase is SessionPhase.HELD:
            session.submit(Run())
        self.start_ns = session.session_ns
        self._first = self._seen = session.frames_run
        self._began_ns = self._reported_ns = perf_counter_ns()
        self._is_complete = session.status.phase is SessionPhase.RUNNING
        self._heaviest = (0, 0)
        self._since_ns = thread_time_ns()

    @property
    def frames(self) -> int:
        return self._session.frames_run - self._first

    @property
    def session_ns(self) -> int:
        return self._session.session_ns - self.start_ns

    def has_advanced(self, done: float) -> bool:
        """Count a frame; returns whether to continue."""
        session = self._session
        seen = session.frames_run
        if seen == self._seen or not session.is_running:
            self._is_complete = False
            return False
        self._seen = seen
        # Processor time, so that other programs do not make a frame heavy.
        self._heaviest = max(self._heaviest, (thread_time_ns() - self._since_ns, seen - 1))
        if self.frames % FRAMES_PER_FOLD == 0:
            session.refresh()
            now_ns = perf_counter_ns()
            if self._on_progress is not None and now_ns - self._reported_ns > _PROGRESS_EVERY_NS:
                self._reported_ns = now_ns
                self._on_progress(done)
        self._since_ns = thread_time_ns()
        return True

    def finished(self) -> RunOutcome:
        session = self._session
        session.end_virtual_run()
        session.refresh()
        return RunOutcome(
            frames=self.frames,
            session_ns=self.session_ns,
            took_ns=perf_counter_ns() - self._began_ns,
            is_complete=self._is_complete,
            heaviest_frame=self._heaviest[1],
            heaviest_ns=self._heaviest[0],
        )
