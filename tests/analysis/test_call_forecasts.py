"""Forecasts for what schedulers, tickers and loops call: the next call, and what came of it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from inspector.analysis.predict.forecast import Forecast, scored_calls
from inspector.analysis.predict.scores import Outcome, score
from inspector.analysis.predict.timers import next_calls
from inspector.calls.call import CallId
from inspector.commands.clocks import PauseClock
from inspector.commands.members import PauseMember, SetTimeScale, UnscheduleMember
from inspector.sessions.hosted import HostedSession
from inspector.sessions.scene import SceneFile, built_in_scenes
from inspector.testing import pass_seconds, virtual_session
from inspector.vocabulary import MemberKind
from tests.light_scenes import light_scene

SECOND = 1_000_000_000

SCENE = """
from inspector import TickerTimer, start_loop


def build(stage):
    clock = stage.root.child("game")
    scheduler = stage.scheduler(clock, name="fights")
    scheduler.schedule(print_nothing, 0.25)
    ticker = stage.ticker(clock)
    ticker.set_interval(print_nothing, 400)
    start_loop(clock, 4, print_nothing, name="physics")
    scheduler.schedule_update(Orc())


class Orc:
    def update(self, delta):
        pass


def print_nothing(*_):
    pass
"""


@pytest.fixture
def session(tmp_path: Path) -> HostedSession:
    path = tmp_path / "scene.py"
    path.write_text(SCENE, encoding="utf-8")
    session = virtual_session(path)
    pass_seconds(session, 1)
    session.refresh()
    return session


def call_of_kind(session: HostedSession, kind: MemberKind) -> CallId:
    members = session.timeline.members.by_id.values()
    return CallId(next(each.id for each in members if each.kind is kind), is_member=True)


@pytest.mark.parametrize(
    ("kind", "at_ms", "text"),
    [
        (
            MemberKind.FRAME_TIMER,
            1_250,
            "It was called at 0:01.250 as predicted, in the first update from 0:01.250 on.",
        ),
        (
            MemberKind.TICKER_TIMER,
            1_200,
            "It was called at 0:01.200 as predicted, in the first update from 0:01.200 on.",
        ),
        (MemberKind.LOOP, 1_250, "It was called at 0:01.250 as predicted."),
    ],
)
def test_that_the_next_call_comes_as_predicted(
    session: HostedSession, kind: MemberKind, at_ms: int, text: str
) -> None:
    call = call_of_kind(session, kind)
    (foreseen,) = next_calls(session.timeline, call, 3)
    assert round(foreseen.at_ns / 1_000_000) == at_ms
    (pending,) = score([foreseen], session.history)
    assert (pending.outcome, pending.text) == (Outcome.OPEN, "It is not due yet.")

    pass_seconds(session, 0.5)

    (scored,) = score([foreseen], session.history)
    assert (scored.outcome, scored.text) == (Outcome.TRUE, text)


def test_that_what_is_called_in_every_frame_is_not_predicted(session: HostedSession) -> None:
    call = call_of_kind(session, MemberKind.UPDATE)

    assert next_calls(session.timeline, call, 3) == []
    assert next_calls(session.timeline, CallId(9_999, is_member=True), 3) == []


def test_that_a_paused_clock_is_the_reason(session: HostedSession) -> None:
    call = call_of_kind(session, MemberKind.FRAME_TIMER)
    foreseen = next_calls(session.timeline, call, 1)
    clock_id = session.timeline.members.by_id[call.number].clock_id

    session.submit(PauseClock(clock_id))
    pass_seconds(session, 0.5)

    (scored,) = score(foreseen, session.history)
    assert scored.outcome is Outcome.OPEN
    assert scored.text.startswith("It is not due yet, but “game” was paused at 0:01.0")


def test_that_a_time_scale_is_the_reason(session: HostedSession) -> None:
    call = call_of_kind(session, MemberKind.FRAME_TIMER)
    foreseen = next_calls(session.timeline, call, 1)
    scheduler = session.timeline.members.scheduler_of(call.number)
    assert scheduler is not None

    session.submit(SetTimeScale(scheduler.id, Fraction(4)))
    pass_seconds(session, 0.5)

    (scored,) = score(foreseen, session.history)
    assert scored.outcome is Outcome.FALSE
    assert "instead of 0:01.250, because “fights” was set to time scale 4 at" in scored.text


@pytest.mark.parametrize(
    ("command", "reason"), [(PauseMember, "was paused"), (UnscheduleMember, "was unscheduled")]
)
def test_that_a_stopped_call_says_what_stopped_it(
    session: HostedSession, command: type[PauseMember | UnscheduleMember], reason: str
) -> None:
    call = call_of_kind(session, MemberKind.FRAME_TIMER)
    foreseen = next_calls(session.timeline, call, 1)

    session.submit(command(call.number))
    pass_seconds(session, 0.5)

    (scored,) = score(foreseen, session.history)
    assert scored.outcome is Outcome.FALSE
    assert scored.text.startswith("It was not called at 0:01.250 as predicted, because ")
    assert f"{reason} at 0:01.0" in scored.text


def test_that_a_forecast_counts_calls_of_a_ticker(session: HostedSession) -> None:
    forecast = Forecast(call_of_kind(session, MemberKind.TICKER_TIMER))

    for _ in range(150):
        forecast.update(session.history, session.timeline)
        pass_seconds(session, 0.02)
        session.refresh()

    assert forecast.made >= 6
    assert forecast.came_true == forecast.made


@pytest.mark.parametrize("scene", built_in_scenes(), ids=lambda scene: scene.path.stem)
def test_that_every_prediction_in_a_scene_comes_true_or_says_why_not(
    scene: SceneFile, tmp_path: Path
) -> None:
    session = virtual_session(light_scene(scene.path, tmp_path))
    pass_seconds(session, 4)
    session.refresh()
    found: Counter[Outcome] = Counter()
    for at_ns in (SECOND // 3, SECOND, 2 * SECOND + 17, 3 * SECOND + 123_456_789):
        state = session.history.state_at(at_ns)
        for number in list(state.members.by_id):
            for each in scored_calls(session.history, state, CallId(number, is_member=True)):
                found[each.outcome] += 1
                assert each.outcome is not Outcome.FALSE or ", because " in each.text, each
    session.close()
    if scene.path.stem.startswith(("07", "09")):
        assert found[Outcome.TRUE] > found[Outcome.FALSE]
