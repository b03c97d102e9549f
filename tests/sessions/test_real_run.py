"""Runs in real time that a busy machine holds up."""

from __future__ import annotations

from contextlib import closing

from inspector.clocks.sources.system_source import SystemTimeSource
from inspector.sessions.hosted import HostedSession
from inspector.sessions.runs.real import run_real
from inspector.sessions.scene import find_scene
from inspector.sessions.sources.time_sources import SYSTEM, make_source


def test_that_no_frame_runs_beyond_those_asked_for_however_late_the_host_is() -> None:
    now_ns = 0

    def pass_s(seconds: float | None) -> None:
        nonlocal now_ns
        now_ns += round((seconds or 0) * 1e9)

    host = SystemTimeSource(clock=lambda: now_ns, wait=pass_s)
    session = HostedSession(find_scene("minimal"), make_source(SYSTEM, host), autorun=False)
    with closing(session):
        # Three quarters of a frame pass between two looks at the log.
        outcome = run_real(session, host, frames=12, on_progress=lambda _: pass_s(0.0125))

    assert outcome.frames == 12
