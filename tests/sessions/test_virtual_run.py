"""Virtual runs: exact frames, exact counts, and the lateness a capture would have caused."""

from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.cli.call_tally import CallTally
from inspector.clocks import ManualTimeSource
from inspector.clocks.sources.system_source import SystemTimeSource
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.commands.transport import Run
from inspector.sessions.hosted import HostedSession
from inspector.sessions.runs import virtual
from inspector.sessions.runs.virtual import (
    RunOutcome,
    frames_within,
    run_frame_times,
    run_virtual,
)
from inspector.sessions.scene import find_scene
from inspector.sessions.session import SessionPhase
from inspector.testing import fired, scene_file, virtual_session
from inspector.timebase import NS_PER_MS, NS_PER_SECOND
from tests.fuzz import rounds

SIXTIETH = Fraction(NS_PER_SECOND, 60)


def minimal(source: VirtualTimeSource | ManualTimeSource | None = None) -> HostedSession:
    return HostedSession(find_scene("4"), source or VirtualTimeSource())


@pytest.mark.parametrize("source_type", [VirtualTimeSource, ManualTimeSource])
def test_that_frames_are_counted_exactly_and_do_not_drift(
    source_type: type[VirtualTimeSource] | type[ManualTimeSource],
) -> None:
    session = minimal(source_type())

    run = run_virtual(session, frames=3_600, dt_ns=SIXTIETH)

    assert run.frames == len(session.timeline.frames) == 3_600
    assert run.session_ns == 60 * NS_PER_SECOND
    assert session.timeline.frames.at_ns[59] == NS_PER_SECOND
    assert run.is_complete
    session.close()


@given(
    st.integers(min_value=0, max_value=3 * NS_PER_SECOND),
    st.fractions(min_value=NS_PER_MS, max_value=NS_PER_SECOND),
)
def test_that_a_duration_is_exact_and_frames_are_those_that_fit(
    duration_ns: int, step_ns: Fraction
) -> None:
    session = minimal()

    run = run_virtual(session, duration_ns=duration_ns, dt_ns=step_ns)

    assert run.session_ns == duration_ns
    assert abs(run.frames - duration_ns / step_ns) <= 1
    assert all(round(i * step_ns) <= duration_ns for i in range(1, run.frames + 1))
    session.close()


def test_that_a_second_run_goes_on_where_the_first_ended() -> None:
    session = minimal()

    run_virtual(session, frames=30)
    run = run_virtual(session, frames=30)

    assert run.session_ns == NS_PER_SECOND // 2
    assert session.session_ns == NS_PER_SECOND
    session.close()


def test_that_long_frames_are_not_cut_when_they_are_asked_for() -> None:
    session = minimal()

    run_virtual(session, frames=3, dt_ns=NS_PER_SECOND)

    assert list(session.timeline.frames.delta_ns) == [NS_PER_SECOND] * 3
    assert list(session.timeline.frames.cut_ns) == [0, 0, 0]
    session.close()


def test_that_work_longer_than_a_frame_keeps_the_number_of_frames(tmp_path: Path) -> None:
    path = scene_file(
        tmp_path,
        """
        def build(stage):
            stage.root.set_interval(0.5, stage.work, 0.13)
        """,
    )
    session = virtual_session(path)

    run = run_virtual(session, frames=600)

    assert run.frames == 600
    assert run.session_ns > 10 * NS_PER_SECOND
    intervals = set(session.timeline.frames.interval_ns)
    assert max(intervals) == 130 * NS_PER_MS
    assert min(intervals) > 0
    session.close()


def test_that_the_frame_times_of_a_capture_come_out_as_intervals() -> None:
    times_ns = [16_000_000, 33_000_000, 5_000_000, 120_000_000]
    session = minimal()

    run = run_frame_times(session, times_ns)

    assert list(session.timeline.frames.interval_ns) == times_ns
    assert run.session_ns == sum(times_ns)
    session.close()


def test_that_a_capture_begins_again_when_more_frames_are_wanted() -> None:
    session = minimal()

    run = run_frame_times(session, [10_000_000, 20_000_000], frames=5)

    assert list(session.timeline.frames.interval_ns) == [
        10_000_000,
        20_000_000,
        10_000_000,
        20_000_000,
        10_000_000,
    ]
    assert run.frames == 5
    session.close()


def test_that_work_in_a_capture_belongs_to_the_time_before_the_next_frame(
    tmp_path: Path,
) -> None:
    path = scene_file(
        tmp_path,
        """
        def build(stage):
            stage.root.set_interval(0.05, stage.work, 0.025)
            stage.root.set_interval(0.05, lambda: stage.root.set_timeout(0, stage.mark, "now"))
        """,
    )
    session = virtual_session(path)

    run = run_frame_times(session, [10 * NS_PER_MS, 40 * NS_PER_MS], frames=40)

    frames = session.timeline.frames
    assert run.frames == len(frames) == 40
    # A frame comes at its time, or when the work of one or two ticks is done.
    assert {round(ns / NS_PER_MS) for ns in frames.interval_ns} == {10, 25, 40, 50}
    session.close()


def test_that_a_capture_can_be_run_for_a_duration() -> None:
    session = minimal()

    times_ns = [10 * NS_PER_MS, 20 * NS_PER_MS]

    run = run_frame_times(session, times_ns, frames=frames_within(times_ns, 70 * NS_PER_MS))

    assert run.session_ns == 70 * NS_PER_MS
    assert run.frames == 5
    session.close()


def test_that_a_frame_above_max_delta_is_cut_and_its_interval_kept() -> None:
    session = minimal()

    run_frame_times(session, [16_000_000, 900_000_000, 16_000_000])

    frames = session.timeline.frames
    assert list(frames.interval_ns) == [16_000_000, 900_000_000, 16_000_000]
    assert frames.delta_ns[1] == pytest.approx(250_000_000, abs=1)
    assert frames.cut_ns[1] == pytest.approx(650_000_000, abs=1)
    session.close()


def test_that_a_timer_in_the_middle_of_a_long_frame_is_late_as_there() -> None:
    session = minimal()
    tally = CallTally(session.log)

    run_frame_times(session, [90 * NS_PER_MS] * 20)
    tally.update()

    blink = next(count for count in tally.timers(session.timeline) if count.label == "blink")
    assert (blink.fired, blink.expected, blink.max_lateness_ns) == (1, 1, 80 * NS_PER_MS)
    session.close()


@pytest.mark.parametrize("times_ns", [[], [-1], [10, -5]])
def test_that_frame_times_must_be_times(times_ns: list[int]) -> None:
    session = minimal()

    with pytest.raises(ValueError, match="frame times of 0 or more"):
        run_frame_times(session, times_ns)
    session.close()


def test_that_a_real_source_cannot_be_told_to_pass() -> None:
    session = HostedSession(find_scene("4"), SystemTimeSource(), autorun=False)

    with pytest.raises(TypeError, match="only virtual time"):
        run_virtual(session, frames=1)
    session.close()


@pytest.mark.parametrize(
    ("frames", "duration_ns", "dt_ns"), [(None, None, 10), (1, 1, 10), (-1, None, 10), (1, None, 0)]
)
def test_that_a_run_that_makes_no_sense_is_refused(
    frames: int | None, duration_ns: int | None, dt_ns: int
) -> None:
    session = minimal()

    with pytest.raises(ValueError, match=r"give either|negative|at least 1 ns"):
        run_virtual(session, frames=frames, duration_ns=duration_ns, dt_ns=dt_ns)
    session.close()


@pytest.mark.parametrize("limit", [{"frames": 640}, {"duration_ns": round(640 * SIXTIETH)}])
def test_that_progress_is_reported_as_a_rising_share(
    monkeypatch: pytest.MonkeyPatch, limit: dict[str, Any]
) -> None:
    monkeypatch.setattr("inspector.sessions.runs.virtual._PROGRESS_EVERY_NS", -1)
    session = minimal()
    shares: list[float] = []

    run_virtual(session, dt_ns=SIXTIETH, on_progress=shares.append, **limit)

    assert shares == [pytest.approx(i / 10) for i in range(1, 11)]
    session.close()


@pytest.mark.slow
def test_that_minutes_of_scene_time_end_with_every_count_exact() -> None:
    """The scene with blocking callbacks: nothing is lost, whatever is late."""
    minutes = len(rounds(2))
    session = HostedSession(find_scene("drift_and_late"), VirtualTimeSource())
    tally = CallTally(session.log)

    run = run_virtual(
        session,
        duration_ns=minutes * 60 * NS_PER_SECOND,
        dt_ns=SIXTIETH,
        on_progress=lambda _: tally.update(),
    )
    tally.update()

    counts = {count.label: count for count in tally.timers(session.timeline)}
    assert run.session_ns == minutes * 60 * NS_PER_SECOND
    assert tally.lost == 0
    assert counts["burst"].fired == counts["re-armed"].fired == minutes * 480
    assert counts["skip"].fired + counts["skip"].left_out == minutes * 480
    assert counts["blocks for 130 ms"].fired == minutes * 30
    assert counts["delay"].fired < minutes * 458
    assert all(count.is_exact for label, count in counts.items() if label != "delay")
    session.close()


def test_that_two_minutes_on_any_rate_end_with_every_count_exact(tmp_path: Path) -> None:
    path = scene_file(
        tmp_path,
        """
        def build(stage):
            for rate in ("1", "1/3", "2/7", "3/2", "0.1234"):
                clock = stage.root.child(rate, rate)
                clock.set_interval(0.1, lambda: None, name=rate)
        """,
    )
    session = virtual_session(path)

    run_virtual(session, duration_ns=120 * NS_PER_SECOND, dt_ns=Fraction(NS_PER_SECOND, 7))

    assert fired(session) == {
        rate: int(1_200 * Fraction(rate)) for rate in ("1", "1/3", "2/7", "3/2", "0.1234")
    }
    session.close()


class Played:
    """A session in which time only passes; its frames cost what a clock of its own says."""

    def __init__(self, costs_ns: list[int], phase: SessionPhase = SessionPhase.RUNNING) -> None:
        self.session_ns, self.frames_run, self.used_ns = 1_000, 5, 0
        self.is_running = True
        self.status = SimpleNamespace(phase=phase)
        self.costs_ns = iter(costs_ns)
        self.asked: list[object] = []
        self.stops_at = 0

    def submit(self, command: object) -> None:
        self.asked.append(command)
        self.status.phase = SessionPhase.RUNNING

    def pass_to(self, at_ns: int, *, with_frame: bool = True) -> None:
        self.session_ns = at_ns
        if with_frame and self.frames_run != self.stops_at:
            self.frames_run += 1
            self.used_ns += next(self.costs_ns)

    def block_ns(self, duration_ns: int) -> None:
        self.pass_to(self.session_ns + duration_ns)

    def refresh(self) -> None:
        self.asked.append("refresh")

    def end_virtual_run(self) -> None:
        self.asked.append("end")


def _played(
    monkeypatch: pytest.MonkeyPatch, costs_ns: list[int], phase: SessionPhase = SessionPhase.RUNNING
) -> Any:  # noqa: ANN401 - a session
    session = Played(costs_ns, phase)
    monkeypatch.setattr(virtual, "thread_time_ns", lambda: session.used_ns)
    monkeypatch.setattr(virtual, "perf_counter_ns", lambda: 7 + 1_000 * session.used_ns)
    return session


def test_that_a_run_tells_its_heaviest_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    session = _played(monkeypatch, [3, 9, 4], SessionPhase.HELD)
    run = run_virtual(session, frames=3, dt_ns=10)
    assert session.asked == [Run(), "end", "refresh"]
    assert run == RunOutcome(3, 30, 16_000, True, 6, 9)
    assert session.session_ns == 1_030


def test_that_a_run_that_is_stopped_is_not_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    session = _played(monkeypatch, [1] * 9)
    session.stops_at = 7
    run = run_virtual(session, frames=9, dt_ns=10)
    assert (run.frames, run.is_complete) == (2, False)
    session = _played(monkeypatch, [1] * 9)
    session.is_running = False
    assert not run_frame_times(session, [10, 10]).is_complete
    assert session.frames_run == 6
    failed = _played(monkeypatch, [1] * 9, SessionPhase.FAILED)
    assert not run_virtual(failed, frames=0).is_complete


def test_that_progress_is_told_in_intervals_of_real_time(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[float] = []
    monkeypatch.setattr(virtual, "FRAMES_PER_FOLD", 2)
    # A report is due after 100 ms, which are so many of the frames' nanoseconds here.
    session = _played(monkeypatch, [50_000, 50_000, 50_000, 50_001, 100, 100, 100_000, 0])
    run_virtual(session, frames=8, dt_ns=10, on_progress=told.append)
    assert told == [0.5, 1.0]
    assert session.asked == ["refresh"] * 4 + ["end", "refresh"]


@pytest.mark.parametrize(
    ("duration_ns", "dt_ns", "frames", "ends_ns"),
    [
        (0, 10, [], 0),
        (9, 10, [], 9),
        (10, 10, [10], 10),
        (25, 10, [10, 20], 25),
        (5, Fraction(3, 2), [2, 3, 4], 5),
        (8, Fraction(5, 2), [2, 5, 8], 8),
    ],
)
def test_that_frames_are_at_rounded_multiples_within_a_duration(
    monkeypatch: pytest.MonkeyPatch,
    duration_ns: int,
    dt_ns: Fraction | int,
    frames: list[int],
    ends_ns: int,
) -> None:
    session = _played(monkeypatch, [0] * 9)
    passed: list[tuple[int, bool]] = []
    pass_to = session.pass_to

    def noted(at_ns: int, *, with_frame: bool = True) -> None:
        passed.append((at_ns - 1_000, with_frame))
        pass_to(at_ns, with_frame=with_frame)

    session.pass_to = noted
    run = run_virtual(session, duration_ns=duration_ns, dt_ns=dt_ns)
    assert [at_ns for at_ns, with_frame in passed if with_frame] == frames
    assert (run.session_ns, run.frames, run.is_complete) == (ends_ns, len(frames), True)
    assert (run.heaviest_ns, bool(run.heaviest_frame)) == (0, bool(frames))


def test_that_times_of_nothing_are_frames_of_a_nanosecond(monkeypatch: pytest.MonkeyPatch) -> None:
    session = _played(monkeypatch, [0] * 9)
    run = run_frame_times(session, [0, 4], frames=3)
    assert (run.frames, run.session_ns) == (3, 1 + 4 + 1)
    assert run_frame_times(session, [5]).frames == 1
    told: list[float] = []
    monkeypatch.setattr(virtual, "FRAMES_PER_FOLD", 1)
    monkeypatch.setattr(virtual, "_PROGRESS_EVERY_NS", -1)
    run_frame_times(session, [1, 2], frames=4, on_progress=told.append)
    assert told == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize(
    ("times_ns", "duration_ns", "frames"),
    [([5, 10], 0, 0), ([5, 10], 5, 1), ([5, 10], 6, 2), ([5, 10], 15, 2), ([0, 5], 11, 6)],
)
def test_that_as_many_frames_as_are_needed_fill_a_duration(
    times_ns: list[int], duration_ns: int, frames: int
) -> None:
    assert frames_within(times_ns, duration_ns) == frames
    with pytest.raises(ValueError, match="no time passes"):
        frames_within([0, 0], 5)
