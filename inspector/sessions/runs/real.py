"""Runs of a hosted scene on the computer's clock, without a window."""

from __future__ import annotations

from fractions import Fraction
from time import perf_counter_ns
from typing import Final

from inspector.clocks.sources.system_source import SystemTimeSource
from inspector.commands.transport import Run
from inspector.sessions.hosted import HostedSession
from inspector.sessions.runs.virtual import OnProgress, RunOutcome
from inspector.sessions.scene import run_kept
from inspector.timebase import NS_PER_SECOND

_SLICE_NS: Final = 50_000_000


@run_kept()
def run_real(
    session: HostedSession,
    host: SystemTimeSource,
    *,
    frames: int | None = None,
    duration_ns: int | None = None,
    on_progress: OnProgress,
) -> RunOutcome:
    """Run on the computer's clock, in slices, reading the log in between.

    It ends after a number of frames, or an amount of session time. ``host`` is the session's time
    source, or the source that wakes this. ``on_progress`` is called after every slice with the
    share that is done, from 0 to 1.
    """
    begun_ns = perf_counter_ns()
    session.measure_intervals()
    session.submit(Run())
    is_complete = True
    while frames is None or session.frames_run < frames:
        if not session.is_running:
            is_complete = False
            break
        left_ns = _SLICE_NS if duration_ns is None else duration_ns - session.session_ns
        if left_ns <= 0:
            break
        if frames is not None:
            # Run up to the last frame and not beyond. If a frame is late, it must run by itself.
            until_ns = _until_frame(session, frames - session.frames_run)
            left_ns = 0 if host.is_due else min(left_ns, until_ns)
        host.run(host.now_ns() + min(left_ns, _SLICE_NS))
        if frames is not None and session.frames_run >= frames:
            # Hold at once: another frame may be due after the log has been read.
            break
        session.refresh()
        done = session.frames_run / frames if frames else session.session_ns / (duration_ns or 1)
        on_progress(min(done, 1.0))
    session.hold()
    session.refresh()
    on_progress(1.0)
    took_ns = perf_counter_ns() - begun_ns
    return RunOutcome(session.frames_run, session.session_ns, took_ns, is_complete)


def _until_frame(session: HostedSession, count: int) -> int:
    return max(1, round((count - Fraction(3, 4)) * NS_PER_SECOND / session.frame_rate))
