"""What a run of a scene records and measures around the code that it calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.clocks import FailurePolicy, ManualTimeSource
from inspector.clocks.failures import CallbackFailure, EndlessInstantError, UserInterruptError
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.commands.scene import Reload
from inspector.commands.transport import StepFrames
from inspector.errors import CommandError
from inspector.sessions import scene_run, scene_threads
from inspector.sessions.hosted import HostedSession
from inspector.sessions.replay.journal import CommandPlace
from inspector.sessions.scene_run import goes_to_end
from inspector.testing import scene_file
from inspector.vocabulary import (
    CALLBACK_FAILED,
    COMMAND,
    COMMAND_FORM,
    READING,
    SAMPLED,
    SCENE,
    THREAD_FAILED,
    RawEvent,
    Reading,
)

GAME = '''
    """A game.

    More of it.
    """
    def build(stage):
        stage.root.child("enemies").set_interval(0.1, print, name="tick")
'''


@pytest.fixture
def session(tmp_path: Path) -> Iterator[HostedSession]:
    path = scene_file(tmp_path, GAME, "game.py")
    with closing(HostedSession(path, VirtualTimeSource(), autorun=False)) as session:
        yield session


def events_of(session: HostedSession, *kinds: int) -> list[RawEvent]:
    return [event for event in session.log.read().events if event[1] in kinds]


def test_that_a_run_begins_with_its_file_and_what_it_began_with(session: HostedSession) -> None:
    log, path = session.log, str(session.scene_path)
    assert log.read().events[0] == (0, SCENE, 0, log.intern(path), 0)
    beginning = session._run.journal.beginning.as_json()
    assert events_of(session, COMMAND_FORM) == [(0, COMMAND_FORM, 0, log.intern(beginning), 0)]
    assert (session.refresh(), session.refresh()) == (log.end, 0)
    assert (session.title, session.source_label) == ("A game", path)

    session.submit(Reload())

    log = session.log
    assert log.read().events[0] == (0, SCENE, 1, log.intern(path), 0)
    told = Reload().sentence(session.timeline)
    assert events_of(session, COMMAND) == [(0, COMMAND, 1, log.intern(told), 0)]
    assert session._run.journal.beginning.reload_number == 1


@pytest.mark.parametrize(
    "text", ["def build(stage): 1 / 0", "def build(stage):\n    stage.root.child('x')\n    1 / 0"]
)
def test_that_of_a_scene_that_fails_only_that_is_recorded(
    session: HostedSession, text: str
) -> None:
    session.scene_path.write_text(text)

    session.submit(Reload())

    log = session.log
    failed, command = log.read().events[1:]
    assert failed[:3] == (0, CALLBACK_FAILED, 0)
    assert log.strings[failed[3]] == "game.py"
    assert log.strings[failed[4]].endswith("ZeroDivisionError: division by zero")
    assert (command[:3], command[4]) == ((0, COMMAND, 1), 0)
    assert session.problem is not None
    assert (session._run.loaded, session.title) == (None, "game.py")
    with pytest.raises(CommandError, match=r"No scene is running\. Fix the file and reload it\."):
        _ = session._run.scene
    # Nothing reaches a scene that is not there.
    run, end = session._run, log.end
    run.note(Reading.ASKED, 3)
    run.set_period(5)
    run.reset_period()
    run.sync()
    run.hold()
    run._run_frame(5, 0)
    run._end_wake()
    assert (log.end, len(run.journal), run.frames_run) == (end, 0, 0)


def test_that_a_reading_begins_a_wake_up_for_meter_and_sampler(session: HostedSession) -> None:
    run: Any = session._run
    begun: list[str] = []
    run.sampler = SimpleNamespace(begin_wake=lambda: begun.append("sampler"))
    run._timers = SimpleNamespace(begin=lambda: begun.append("timers"))

    for reading in (Reading.ASKED, Reading.WOKEN, Reading.ADVANCED, Reading.SYNCED):
        run.note(reading, 7)

    assert begun == ["timers", "sampler"] * 2
    assert events_of(session, READING)[-4:] == [
        (0, READING, reading, 7, 0)
        for reading in (Reading.ASKED, Reading.WOKEN, Reading.ADVANCED, Reading.SYNCED)
    ]
    assert [run.journal.code_and_value(len(run.journal) - left)[1] for left in (2, 1)] == [7, 7]
    run.sampler = None
    run.note(Reading.WOKEN, 8)
    assert begun[4:] == ["timers"]


def test_that_what_the_host_asks_for_is_done_and_noted(session: HostedSession) -> None:
    run = session._run
    run.transport.run()

    run.set_period(5)
    assert run.transport.frame_period_ns == 5
    run.reset_period()
    assert run.transport.frame_period_ns == 16_666_667
    assert isinstance(session.source, VirtualTimeSource)
    session.source.jump_ns(7)
    assert run.session_ns == 0
    run.sync()
    assert (run.session_ns, run.is_running) == (7, True)
    run.hold()
    run.hold(is_in_step=True)
    assert not run.is_running

    asked = [(reading, value) for _, _, reading, value, _ in events_of(session, READING)]
    assert [each for each in asked if each[0] not in {Reading.ASKED, Reading.WOKEN}] == [
        (Reading.PERIOD, 5),
        (Reading.RATE, 0),
        (Reading.SYNCED, 0),
        (Reading.HELD, 0),
        (Reading.HELD, 1),
    ]


def test_that_a_reading_during_a_step_waits_for_its_end(session: HostedSession) -> None:
    run = session._run
    session.submit(StepFrames(2))
    run.begin_step(StepFrames(3), 2, CommandPlace.AT_ONCE)
    run.step_on(0)
    assert (run.is_in_step, run.step_began_at, run.frames_run) == (True, 2, 3)

    run.note(Reading.SYNCED)

    assert (run.is_in_step, run.frames_run) == (False, 5)
    assert events_of(session, READING)[-1][4] == 5


def test_that_a_run_that_has_ended_calls_nothing_and_takes_no_failures(
    session: HostedSession,
) -> None:
    run: Any = session._run
    run.transport.run()
    run.failure_policy = FailurePolicy.STOP

    run.close()
    run.tree.on_failure(SimpleNamespace(error=ValueError(), label="boss", clock_id=2))
    run.close()

    assert (run.loaded, run.is_running, run.stopped_by) == (None, False, None)
    assert (run.transport.on_frame, run.transport.on_wake_done) == (None, None)
    assert run._threads not in [each() for each in scene_threads._followed]


def test_that_an_error_that_escapes_from_a_step_has_ended_it(session: HostedSession) -> None:
    run: Any = session._run

    def steps() -> Iterator[None]:
        assert run.is_in_callback
        yield
        raise KeyboardInterrupt

    run._step = steps()
    run.step_on(0)
    assert (run.is_in_step, run.is_in_callback) == (True, False)
    with pytest.raises(KeyboardInterrupt):
        run.step_on(None)
    assert (run.is_in_step, run.is_in_callback) == (False, False)


@pytest.mark.parametrize(
    ("is_running", "ahead_ns", "present_ns"),
    [(True, 7, 107), (True, 10**9, 250_000_100), (False, 7, 100)],
)
def test_that_the_present_is_ahead_of_a_run_in_real_time_while_it_runs(
    session: HostedSession, ahead_ns: int, present_ns: int, *, is_running: bool
) -> None:
    run: Any = session._run
    stand: Any = SimpleNamespace(
        source=SimpleNamespace(source="the computer's", ahead_ns=ahead_ns),
        journal=run.journal,
        session_ns=100,
        is_running=is_running,
        ahead_ns=ahead_ns if is_running else 0,
    )

    assert type(run).present_ns.fget(stand) == present_ns
    assert type(run).ahead_ns.fget(stand) == stand.ahead_ns
    stand.source = SimpleNamespace(source=VirtualTimeSource(), ahead_ns=ahead_ns)
    assert type(run).present_ns.fget(stand) == 100


@pytest.mark.parametrize(
    ("policy", "error", "is_paused", "is_stopped"),
    [
        (FailurePolicy.CONTINUE, ValueError(), False, False),
        (FailurePolicy.PAUSE_BRANCH, ValueError(), True, False),
        (FailurePolicy.STOP, ValueError(), False, True),
        (FailurePolicy.CONTINUE, EndlessInstantError(), False, True),
        (FailurePolicy.PAUSE_BRANCH, UserInterruptError(), False, True),
    ],
)
def test_that_a_failure_pauses_its_branch_or_stops_the_run(
    session: HostedSession,
    policy: FailurePolicy,
    error: BaseException,
    *,
    is_paused: bool,
    is_stopped: bool,
) -> None:
    run: Any = session._run
    run.failure_policy = policy
    enemies = run.clock(2)
    failure: Any = SimpleNamespace(error=error, label="boss", clock_id=2)

    run._apply_policy(failure)
    again: CallbackFailure = SimpleNamespace(error=error, label="x", clock_id=99)  # type: ignore[assignment]
    run._apply_policy(again)

    assert enemies.is_paused is is_paused
    assert (run.stopped_by is failure, run.tree.is_halted) == (is_stopped, is_stopped)


def test_that_errors_of_threads_and_samples_do_not_show_that_a_scene_worked(
    session: HostedSession,
) -> None:
    run: Any = session._run
    before = run._readings
    run._threads.failures.extend([("worker", "no"), ("other", "no")])

    run.sampler = SimpleNamespace(end_wake=lambda *_: [(0, SAMPLED, 1, 2, 3)])

    run.fold_events()
    run._end_wake()

    log = session.log
    assert events_of(session, THREAD_FAILED, SAMPLED) == [
        (0, THREAD_FAILED, 0, log.intern("worker"), log.intern("no")),
        (0, THREAD_FAILED, 0, log.intern("other"), log.intern("no")),
        (0, SAMPLED, 1, 2, 3),
    ]
    assert run._readings == before + 3
    assert not run._threads.failures


def test_that_a_scene_is_called_by_its_timers_and_its_frames(session: HostedSession) -> None:
    run = session._run
    found: list[bool] = []

    def note(*_: object) -> None:
        found.append(run.is_calling())

    run.tree.root.set_timeout_ns(1, note)
    run.director.on("update", note)
    session.submit(StepFrames(1))

    assert found == [True, True]
    assert not run.is_calling()


def test_that_an_action_leaves_its_effects_to_the_check_that_caused_it(
    session: HostedSession,
) -> None:
    run: Any = session._run
    checks: list[bool] = []

    def check(*, after_frame: bool) -> None:
        checks.append(after_frame)
        if len(checks) % 2:
            run.check_breakpoints(after_frame=False)
        raise CommandError

    run.driver = SimpleNamespace(check_breakpoints=check)
    for _ in range(2):
        with pytest.raises(CommandError):
            run.check_breakpoints(after_frame=True)

    assert checks == [True, True]


def test_that_time_of_timers_is_charged_to_the_next_frame_and_to_the_intervals(
    session: HostedSession,
) -> None:
    run: Any = session._run
    charged: list[tuple[int, int]] = []

    def charge(events: int, worked_ns: int) -> int:
        charged.append((events, worked_ns))
        return 30

    run._timers = SimpleNamespace(charge=charge, busy_ns=0)
    run.shares = SimpleNamespace(calls_ns=5)
    run.stage.worked_ns = 12

    run._charge_timers()
    run.shares, shares = None, run.shares
    run._charge_timers()

    worked = session.log.end - run._readings
    assert (charged, shares.calls_ns) == ([(worked, 12), (worked, 0)], 35)


class NotedTimers:
    """Notes from when on time is measured, by the number of events."""

    def __init__(self) -> None:
        self.done: list[object] = []
        self.busy_ns = 40

    def begin(self, events: int | None = None) -> None:
        self.done.append("now" if events is None else events)

    def charge(self, _events: int, _worked_ns: int) -> int:
        self.done.append("charge")
        return 0


def test_that_a_frame_has_the_time_of_timers_before_it_and_checks_cost_nobody(
    session: HostedSession,
) -> None:
    run: Any = session._run
    run._timers = timers = NotedTimers()
    run.shares = SimpleNamespace(calls_ns=5, measured=lambda *each: timers.done.append(each))
    run.sampler = SimpleNamespace(seen_so_far=lambda *_: [(0, SAMPLED, 1, 2, 3)])
    done = timers.done

    def check(*, after_frame: bool) -> None:
        run.log.append((0, SAMPLED, 9, 2, 3))
        done.append(("check", after_frame))

    def run_frame(*each: int) -> int:
        done.append(each)
        return 30

    run.driver = SimpleNamespace(
        before_frame=lambda: done.append("before frame"), check_breakpoints=check
    )
    run.director = SimpleNamespace(run_frame=run_frame, frame_index=8)
    run.breakpoints = SimpleNamespace(is_any_enabled=True)
    readings = run._readings

    run._run_frame(16, 2)

    events = run.log.end - readings
    assert done == [
        *("before frame", "charge", (8, 16), (16, 2, 40, None), ("check", True)),
        # What was sampled does not show that the scene has worked.
        events - 1,
    ]
    assert (timers.busy_ns, run.shares.calls_ns) == (0, 35)
    assert run.log.read().events[-2:] == [(0, SAMPLED, 1, 2, 3), (0, SAMPLED, 9, 2, 3)]
    run.breakpoints.is_any_enabled = False
    run.shares = None
    run._run_frame(16, 2)
    assert run.log.read().events[-2:] == [(0, SAMPLED, 9, 2, 3)] * 2


@pytest.mark.parametrize(("is_broken_off", "turns"), [(False, 3), (True, 1)])
def test_that_time_between_the_turns_of_a_step_is_nobodys(
    session: HostedSession, turns: int, *, is_broken_off: bool
) -> None:
    run: Any = session._run
    run._timers = timers = NotedTimers()
    pumped: list[str] = []
    run.recorder = SimpleNamespace(pump=lambda: pumped.append("pump"))
    run.driver = SimpleNamespace(
        check_breakpoints=lambda *, after_frame: timers.done.append(("check", after_frame))
    )

    def step() -> Iterator[None]:
        for turn in range(3):
            timers.done.append(f"turn {turn}")
            yield

    steps = run._carry_out(step)
    for _ in steps:
        run.is_broken_off = is_broken_off

    told: list[object] = [each for turn in range(turns) for each in (f"turn {turn}", "now")]
    assert timers.done == [run.log.end - run._readings, *told, "charge", ("check", False)]
    assert (pumped, run.is_broken_off) == (["pump"], False)


@pytest.mark.parametrize(
    ("slice_ns", "turns", "is_done"),
    [(None, 5, True), (0, 1, False), (10, 1, False), (19, 2, False), (90, 5, True)],
)
def test_that_long_work_goes_on_until_the_turn_that_exceeds_its_slice(
    monkeypatch: pytest.MonkeyPatch, slice_ns: int | None, turns: int, *, is_done: bool
) -> None:
    now_ns = 1_000
    monkeypatch.setattr(scene_run, "perf_counter_ns", lambda: now_ns)
    taken: list[int] = []

    def steps() -> Iterator[None]:
        nonlocal now_ns
        for turn in range(5):
            now_ns += 10
            taken.append(turn)
            yield

    work = steps()
    assert goes_to_end(work, slice_ns) is is_done
    assert len(taken) == turns
    assert goes_to_end(work, None)
    assert len(taken) == 5


def test_that_timers_are_found_on_the_clock_that_is_named(tmp_path: Path) -> None:
    path = scene_file(tmp_path, GAME, "game.py")
    with closing(HostedSession(path, ManualTimeSource(), autorun=False)) as session:
        run = session._run
        enemies = run.clock(2)
        assert enemies is not None
        (timer,) = enemies.pending()
        assert run.timer(2, timer.id, timer.due_ns) is timer
        assert (run.timer(1, timer.id, timer.due_ns), run.timer(9, timer.id, 0)) == (None, None)
        assert run.clock(9) is None
