"""Runs in real time that a busy machine holds up."""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction
from typing import Any

from inspector.clocks.sources.system_source import SystemTimeSource
from inspector.commands.transport import Run
from inspector.sessions.hosted import HostedSession
from inspector.sessions.runs.real import run_real
from inspector.sessions.runs.virtual import RunOutcome
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


class Played:
    """A session and its host: each run of the host passes the time that it is given."""

    def __init__(self, frames_per_run: int = 1) -> None:
        self.asked: list[object] = []
        self.session_ns = self.frames_run = 0
        self.frames_per_run = frames_per_run
        self.is_running, self.is_due = True, False
        self.frame_rate = Fraction(60)
        self.runs_for_ns: list[int] = []

    def now_ns(self) -> int:
        return 7_000 + self.session_ns

    def run(self, until_ns: int) -> None:
        passed_ns = until_ns - self.now_ns()
        self.runs_for_ns.append(passed_ns)
        self.session_ns += passed_ns
        self.frames_run += self.frames_per_run

    def measure_intervals(self) -> None:
        self.asked.append("measure")

    def submit(self, command: object) -> None:
        self.asked.append(command)

    def hold(self) -> None:
        self.asked.append("hold")

    def refresh(self) -> None:
        self.asked.append("refresh")


def _run(played: Any, **ends: int) -> tuple[RunOutcome, list[float]]:  # noqa: ANN401 - a session
    done: list[float] = []
    return run_real(played, played, on_progress=done.append, **ends), done


def test_that_a_duration_is_run_in_slices() -> None:
    played = Played()
    outcome, done = _run(played, duration_ns=120_000_000)
    assert played.runs_for_ns == [50_000_000, 50_000_000, 20_000_000]
    assert done == [50 / 120, 100 / 120, 1.0, 1.0]
    assert (outcome.frames, outcome.session_ns, outcome.is_complete) == (3, 120_000_000, True)
    assert outcome.took_ns > 0
    assert (outcome.heaviest_frame, outcome.heaviest_ns, outcome.began_ns) == (0, 0, 0)
    odd = Played()
    _run(odd, duration_ns=50_000_001)
    assert odd.runs_for_ns == [50_000_000, 1]
    assert played.asked == ["measure", Run(), *["refresh"] * 3, "hold", "refresh"]


def test_that_frames_are_run_until_shortly_before_the_next() -> None:
    played = Played()
    outcome, done = _run(played, frames=3)
    frame_ns = 1_000_000_000 / 60
    assert played.runs_for_ns == [round(each * frame_ns) for each in (2.25, 1.25, 0.25)]
    # After the last one it is held before anything is read.
    assert played.asked == ["measure", Run(), "refresh", "refresh", "hold", "refresh"]
    assert (outcome.frames, done) == (3, [1 / 3, 2 / 3, 1.0])
    late = Played()
    late.is_due = True
    _run(late, frames=2)
    assert late.runs_for_ns == [0, 0]
    fast = Played()
    fast.frame_rate = Fraction(10**10)
    _run(fast, frames=1)
    assert fast.runs_for_ns == [1]


def test_that_a_slice_ends_a_run_of_slow_frames() -> None:
    slow = Played()
    slow.frame_rate = Fraction(2)
    _run(slow, frames=2)
    assert slow.runs_for_ns == [50_000_000, 50_000_000]


def test_that_a_scene_that_is_stopped_is_not_complete() -> None:
    stopped = Played()
    stopped.is_running = False
    outcome, done = _run(stopped, frames=3)
    assert (outcome.is_complete, outcome.frames, done) == (False, 0, [1.0])
    assert _run(Played(), frames=0)[0].is_complete
    assert _run(Played(), duration_ns=0)[0].is_complete
