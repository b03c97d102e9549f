"""The hosted session: failures, reloads, refreshes, and what callbacks may do."""

from collections import deque
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.clocks import FailurePolicy, ManualTimeSource
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.commands.scene import Reload, SetFailurePolicy, StepBack
from inspector.commands.transport import Hold, Run, StepFrames
from inspector.events import Timeline
from inspector.events.log import BYTES_PER_EVENT
from inspector.sessions.hosted import HostedSession
from inspector.sessions.scene import find_scene
from inspector.sessions.scene_run import SceneRun
from inspector.sessions.session import Session, SessionPhase
from inspector.testing import (
    fired,
    held_session,
    pass_seconds,
    scene_file,
    virtual_session,
)
from inspector.vocabulary import Phase, Reading

FAILING = """
    def fail():
        raise RuntimeError("no")
    def build(stage):
        bad = stage.root.child("bad")
        bad.set_interval(1, fail, name="fails")
        good = stage.root.child("good")
        good.set_interval(1, lambda: None, name="works")
"""


def test_that_a_session_is_one() -> None:
    session: Session = held_session(find_scene("4"))

    assert session.title == "The smallest scene worth looking at"
    assert session.recorder is not None
    assert (session.is_recorded, session.notes) == (False, ())
    session.close()


def test_that_continue_goes_on_after_a_failure(tmp_path: Path) -> None:
    session = virtual_session(scene_file(tmp_path, FAILING))

    pass_seconds(session, 3)

    assert fired(session) == {"fails": 3, "works": 3}
    assert [failure.label for failure in session.timeline.failures] == ["fails"] * 3
    assert "in fail" in session.timeline.failures[0].traceback
    session.close()


def test_that_pause_branch_pauses_the_branch_of_the_failure_only(tmp_path: Path) -> None:
    session = virtual_session(
        scene_file(tmp_path, FAILING), failure_policy=FailurePolicy.PAUSE_BRANCH
    )

    pass_seconds(session, 3)

    assert fired(session) == {"fails": 1, "works": 3}
    assert [clock.name for clock in session.timeline.clocks.values() if clock.paused] == ["bad"]
    session.close()


def test_that_stop_holds_the_scene_and_says_why(tmp_path: Path) -> None:
    session = virtual_session(scene_file(tmp_path, FAILING), failure_policy=FailurePolicy.STOP)

    run = pass_seconds(session, 3)

    assert not run.is_complete
    assert fired(session) == {"fails": 1, "works": 0}
    assert session.status.phase is SessionPhase.HELD
    assert session.status.message.startswith("Stopped at 0:01.000 because “fails” failed: Runtime")
    assert "in fail" in session.status.detail
    session.close()


def test_that_a_stopped_scene_can_go_on(tmp_path: Path) -> None:
    session = virtual_session(scene_file(tmp_path, FAILING), failure_policy=FailurePolicy.STOP)
    pass_seconds(session, 3)

    session.submit(SetFailurePolicy(FailurePolicy.CONTINUE))
    pass_seconds(session, 2)

    assert fired(session) == {"fails": 3, "works": 3}
    session.close()


def test_that_a_failing_frame_callback_counts_for_its_clock(tmp_path: Path) -> None:
    path = scene_file(
        tmp_path,
        """
        def build(stage):
            physics = stage.root.child("physics")
            stage.every_frame(lambda delta: 1 / 0, clock=physics, name="solve")
        """,
    )
    session = virtual_session(path, failure_policy=FailurePolicy.PAUSE_BRANCH)

    pass_seconds(session, 1)

    assert [failure.label for failure in session.timeline.failures] == ["solve"]
    assert session.timeline.clocks[2].paused
    assert not session.timeline.clocks[1].paused
    session.close()


def test_that_leaving_by_exit_in_a_callback_is_a_failure(tmp_path: Path) -> None:
    path = scene_file(
        tmp_path,
        """
        import sys
        def build(stage):
            stage.root.set_timeout(1, sys.exit, 3, name="quits")
        """,
    )
    session = virtual_session(path)

    pass_seconds(session, 2)

    assert [failure.label for failure in session.timeline.failures] == ["quits"]
    session.close()


def test_that_a_callback_may_pause_and_remove_its_own_clock(tmp_path: Path) -> None:
    path = scene_file(
        tmp_path,
        """
        def build(stage):
            one = stage.root.child("one")
            one.set_interval(1, one.pause, name="pauses")
            two = stage.root.child("two")
            two.set_interval(1, two.remove, name="removes")
        """,
    )
    session = virtual_session(path)

    pass_seconds(session, 5)

    assert fired(session) == {"pauses": 1, "removes": 1}
    assert [clock.name for clock in session.timeline.clocks.values()] == ["root", "one"]
    session.close()


def test_that_timers_that_set_each_other_without_delay_do_not_hang_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.sessions.scene_run.MOST_IN_WAKE", 1_000)
    path = scene_file(
        tmp_path,
        """
        def again(clock):
            clock.set_timeout(0, again, clock)
        def build(stage):
            stage.root.set_timeout(1, again, stage.root)
        """,
    )
    session = virtual_session(path)

    run = pass_seconds(session, 3)

    assert not run.is_complete
    assert "EndlessInstantError" in session.timeline.failures[0].traceback
    session.close()


def test_that_timers_that_come_again_too_often_do_not_hang_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.sessions.scene_run.MOST_IN_WAKE", 1_000)
    path = scene_file(
        tmp_path,
        """
        def build(stage):
            stage.root.set_interval_ns(10_000, lambda: None, name="hums")
        """,
    )
    source = ManualTimeSource()
    session = HostedSession(path, source)

    source.advance(3)
    session.refresh()

    assert session.status.phase is SessionPhase.HELD
    assert (
        "more than 1,000 timers were set or repeated, one of them 'hums', within one wake-up"
        in (session.status.message)
    )
    called = fired(session)["hums"]
    assert 1_000 <= called < 1_000 + 2 * 1_678, "it ends with a bucket of the calendar"
    session.submit(Run())
    source.advance(3)
    session.refresh()

    assert called < fired(session)["hums"] < 8_000
    session.close()


def test_that_a_reload_begins_a_new_log_and_runs_again(tmp_path: Path) -> None:
    session = virtual_session(scene_file(tmp_path, FAILING))
    pass_seconds(session, 2)
    log = session.log

    session.submit(Reload())
    pass_seconds(session, 1)

    assert session.log is not log
    assert session.generation == 1
    # The reload took effect at the first frame; the requested second starts again.
    assert session.status.phase is SessionPhase.RUNNING
    session.close()


def test_that_a_held_scene_stays_held_over_a_reload(tmp_path: Path) -> None:
    session = held_session(scene_file(tmp_path, FAILING))
    session.submit(StepFrames(5))

    session.submit(Reload())

    assert session.refresh() == session.log.end
    assert session.status.phase is SessionPhase.HELD
    assert session.session_ns == 0
    assert len(session.timeline.frames) == 0
    session.close()


def test_that_events_that_fell_off_unread_are_in_the_timeline_all_the_same(tmp_path: Path) -> None:
    session = held_session(scene_file(tmp_path, FAILING))
    session.log.budget_bytes = BYTES_PER_EVENT * 50
    complete = Timeline(session.log.strings)
    cursor = 0
    for _ in range(30):
        session.submit(StepFrames(10))
        batch = session.log.read(cursor)
        assert batch.lost == 0
        complete.apply_all(batch.events)
        cursor = batch.cursor

    # One who did not look meanwhile:
    session._run._cursor = 0
    session.refresh()

    assert len(session.timeline.frames) == len(complete.frames) == 300
    assert list(session.timeline.frames.at_ns) == list(complete.frames.at_ns)
    assert set(session.timeline.timers.ids()) == set(complete.timers.ids())
    session.close()


def test_that_virtual_work_makes_what_was_due_late_and_busy(tmp_path: Path) -> None:
    path = scene_file(
        tmp_path,
        """
        def build(stage):
            stage.root.set_timeout(1, stage.work, 0.1, name="works")
            stage.root.set_timeout(1.05, lambda: None, name="waits")
        """,
    )
    session = virtual_session(path)
    pass_seconds(session, 2)

    frames = session.timeline.frames

    assert max(frames.interval_ns) == 100_000_000
    assert max(frames.busy_ns) >= 100_000_000
    assert max(frames.phases[Phase.TIMERS]) >= 100_000_000
    late = [b for _, kind, _, b, _ in session.log.read(0).events if kind == 19 and b]
    assert late == [50_000_000]
    session.close()


def test_that_every_frame_follows_the_clock_it_was_given(tmp_path: Path) -> None:
    path = scene_file(
        tmp_path,
        """
        def build(stage):
            slow = stage.root.child("slow", rate="1/2")
            total = [0.0]
            def add(delta):
                total[0] += delta
            stage.every_frame(add, clock=slow)
            slow.set_timeout(1, slow.pause)
            stage.root.set_timeout(5, lambda: stage.mark(f"{total[0]:.3f}"))
        """,
    )
    session = virtual_session(path)

    pass_seconds(session, 6)

    assert [mark.text for mark in session.timeline.marks] == ["1.000"]
    session.close()


@pytest.mark.parametrize("rate", [0, -1, float("nan"), float("inf"), 20_000])
def test_that_a_frame_rate_out_of_range_is_refused(rate: float) -> None:
    session = held_session(find_scene("4"))
    run = session._run

    with pytest.raises(ValueError, match="frame rate"):
        run.stage.frame_rate = rate
    session.close()


def test_that_a_manual_source_drives_a_session_too() -> None:
    source = ManualTimeSource()
    session = HostedSession(find_scene("4"), source)

    source.advance(Fraction(3))
    session.refresh()

    assert session.timeline.at_ns == 3_000_000_000
    # A nanosecond less than 60 a second, because a period is a whole number of them.
    assert len(session.timeline.frames) == 179
    session.close()


def test_that_closing_twice_and_using_it_afterwards_does_no_harm() -> None:
    source = VirtualTimeSource()
    session = HostedSession(find_scene("1"), source)
    session.close()
    session.close()

    source.pass_ns(10**9)
    session.submit(Run())
    session.submit(Hold())
    session.refresh()

    assert session.status.phase is SessionPhase.EMPTY


def test_that_virtual_work_of_a_frame_callback_is_charged_to_its_own_frame(tmp_path: Path) -> None:
    path = scene_file(
        tmp_path,
        """
        def build(stage):
            frames = []
            def work(delta):
                frames.append(delta)
                if len(frames) == 3:
                    stage.work(0.1)
            stage.every_frame(work)
        """,
    )
    session = virtual_session(path)
    pass_seconds(session, 1)

    frames = session.timeline.frames

    assert [index for index, busy in enumerate(frames.busy_ns) if busy >= 100_000_000] == [2]
    assert frames.phases[Phase.UPDATE][2] >= 100_000_000
    assert max(frames.phases[Phase.TIMERS]) < 100_000_000
    session.close()


@pytest.mark.parametrize("count", [3, 400])
def test_that_a_timer_is_found_by_its_number_wherever_it_waits(tmp_path: Path, count: int) -> None:
    path = scene_file(
        tmp_path,
        f"""
        def build(stage):
            for i in range({count}):
                stage.root.set_timeout(0.005 * i + 0.5, lambda: None)
            stage.root.set_interval(0.1, lambda: None)
        """,
    )
    session = held_session(path)
    run = session._run
    run.transport.step_ns(700_000_000)
    root = run.tree.root

    for timer in root.pending():
        for hint_ns in (timer.due_ns, 0, 10**15):
            assert root.find_timer(timer.id, hint_ns) is timer
    assert root.find_timer(1, 500_000_000) is None
    assert root.find_timer(10**9, 0) is None
    session.close()


def _with_run(**run: object) -> Any:  # noqa: ANN401 - a session that is only its run
    session: Any = HostedSession.__new__(HostedSession)
    session._run = SimpleNamespace(**run)
    session.rewinding = None
    session._is_applying = session._is_closed = session._wants_step_to_end = False
    session._commands = deque()
    return session


def test_that_steps_back_that_wait_together_are_one() -> None:
    session = _with_run()
    session._commands.extend([StepBack(2), StepBack(3), Hold(), StepBack(1)])
    taken = [session._next_command() for _ in range(3)]
    assert taken == [StepBack(5), Hold(), StepBack(1)]


def test_that_a_host_holds_a_scene_that_is_built_but_not_from_a_callback() -> None:
    done: list[str] = []
    run = {
        "loaded": object(),
        "is_in_callback": False,
        "is_in_step": False,
        "hold": lambda: done.append("held"),
        "end_step": lambda: done.append("step ended"),
    }
    _with_run(loaded=None).hold()
    _with_run(**run).hold()
    _with_run(**{**run, "is_in_step": True}).hold()
    applying = _with_run(**run)
    applying._is_applying = True
    for session in (applying, _with_run(**{**run, "is_in_callback": True})):
        with pytest.raises(RuntimeError, match="submit Hold"):
            session.hold()
    assert done == ["held", "step ended"]


@pytest.mark.parametrize(
    ("loaded", "frames_run", "begins"), [(None, 0, False), (1, 0, True), (1, 1, False)]
)
def test_that_session_time_begins_once_the_host_is_ready(
    loaded: object, frames_run: int, *, begins: bool
) -> None:
    begun: list[None] = []
    noted: list[Reading] = []
    run: Any = SimpleNamespace(
        loaded=loaded,
        frames_run=frames_run,
        source=SimpleNamespace(is_manual=False),
        note=noted.append,
        transport=SimpleNamespace(run_from_now=lambda: begun.append(None)),
    )
    _with_run(begin=lambda: SceneRun.begin(run)).begin()
    assert bool(begun) is begins
    assert noted == [Reading.BEGUN] * len(begun)


def test_that_a_step_tells_how_many_frames_it_has_run() -> None:
    session = _with_run(is_in_step=True, frames_run=7, step_began_at=5)
    assert session._stopped_status("5 s").message == "Stepping: 2 frames have run, it is 5 s."


def test_that_a_picture_of_a_running_scene_is_drawn_with_its_frames_only(tmp_path: Path) -> None:
    session = held_session(scene_file(tmp_path, FAILING))
    session.submit(Run())
    session.refresh()
    with pytest.raises(RuntimeError, match="only a held scene"):
        session.draw_picture()
    session.close()


def test_that_the_modules_of_a_scene_are_put_back_once() -> None:
    put_back: list[object] = []
    aside = {"game": 1}
    loaded = SimpleNamespace(set_aside=lambda: aside, put_back=put_back.append)
    session = _with_run(loaded=loaded)
    session.set_aside()
    session.put_back()
    session.put_back()
    assert put_back == [aside, {}]
    session._run.loaded = None
    session.set_aside()
    session.put_back()
    assert len(put_back) == 2
