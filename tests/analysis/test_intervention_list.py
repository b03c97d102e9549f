"""Interventions, in order, and their results."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from inspector.analysis.intervention_list import (
    InterventionList,
    held_host_ms,
    interventions_of,
)
from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.clocks import PauseClock, SetRate
from inspector.commands.scene import AddMark, Reload, Undo
from inspector.commands.transport import Hold, Run, StepFrames
from inspector.events import Timeline
from inspector.events.conditions.breakpoint import BreakAction, BreakKind, Breakpoint
from inspector.events.states import CommandRecord
from inspector.formats.frame_times import FrameTimes
from inspector.sessions.hosted import HostedSession
from inspector.testing import held_session, pass_seconds, scene_file, virtual_session

SCENE = """
    def build(stage):
        game = stage.root.child("game", rate=0.5)
        game.set_interval(0.5, lambda: None, name="boss")
"""
GAME = 2
HOLD, RUN = '{"command": "Hold"}', '{"command": "Run"}'


@pytest.fixture
def session(tmp_path: Path) -> HostedSession:
    return held_session(scene_file(tmp_path, SCENE))


def listed(session: HostedSession) -> InterventionList:
    session.refresh()
    found = InterventionList(session.timeline)
    found.add_new()
    return found


def test_that_a_command_has_its_clock_its_times_and_what_came_of_it(
    session: HostedSession,
) -> None:
    session.submit(StepFrames(60))
    session.submit(PauseClock(GAME))
    session.submit(PauseClock(99))

    step, pause, refused = listed(session).entries

    assert (step.label, step.text, step.clock_name) == ("1", "step 60 frames", "root")
    assert (pause.clock_id, pause.clock_name, pause.by) == (GAME, "game", "you")
    assert (pause.local_ns, pause.frame) == (pause.at_ns // 2, 60)
    assert pause.outcome == "done"
    assert refused.outcome == "refused: There is no clock 99 any more."


def test_that_a_hit_comes_after_what_came_before_its_frame_and_before_what_it_did(
    tmp_path: Path,
) -> None:
    session = virtual_session(scene_file(tmp_path, SCENE))
    pause = Breakpoint(BreakKind.TIMER_FIRES, "boss", action=BreakAction.PAUSE_BRANCH)
    session.submit(AddBreakpoint(pause))
    pass_seconds(session, 2)

    _, hit, paused = listed(session).entries

    assert (hit.label, hit.is_hit, hit.by) == ("b1", True, "breakpoint 1")
    assert hit.outcome == f"hit in frame {hit.frame:,}"
    assert (paused.text, paused.by) == ("pause “game”", "breakpoint 1")
    assert paused.frame == hit.frame + 1


def test_that_an_undone_command_says_so_until_the_undoing_is_undone(
    session: HostedSession,
) -> None:
    session.submit(PauseClock(GAME))
    found = listed(session)

    session.submit(Undo(1))
    session.refresh()
    assert found.add_new() == {0}
    assert [each.outcome for each in found.entries] == ["undone by 2", "done"]

    session.submit(Undo(2))
    session.refresh()
    assert found.add_new() == {0, 1}
    assert [each.outcome for each in found.entries] == ["done", "undone by 3", "done"]

    session.submit(Undo(3))
    session.refresh()
    found.add_new()
    outcomes = ["undone by 2", "done", "undone by 4", "done"]
    assert [each.outcome for each in found.entries] == outcomes
    assert found.entries == listed(session).entries


def test_that_a_refused_undoing_undoes_nothing(session: HostedSession) -> None:
    session.submit(AddMark("x"))
    session.submit(Undo(1))

    first, second = listed(session).entries
    assert first.outcome == "done"
    assert second.outcome.startswith("refused: Command 1 cannot be undone")


def test_that_what_is_undone_is_known_whatever_the_words(
    session: HostedSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Undo, "sentence", lambda *_: "take it back")
    session.submit(PauseClock(GAME))
    session.submit(Undo(1))
    session.submit(AddMark("undo command 2"))

    assert [each.undoes for each in listed(session).entries] == [0, 1, 0]
    assert [each.outcome for each in listed(session).entries] == ["undone by 2", "done", "done"]


def test_that_a_reload_is_described_without_unknown_times(session: HostedSession) -> None:
    session.submit(Reload())

    (entry,) = listed(session).entries
    assert (entry.text, entry.host_ms, entry.local_ns) == ("reload the scene", 0, None)


def test_that_a_range_of_frames_has_what_came_before_or_in_them(session: HostedSession) -> None:
    for _ in range(4):
        session.submit(StepFrames(10))
    session.submit(AddMark("last"))
    session.refresh()
    frames = FrameTimes.from_timeline(session.timeline)

    def labels(start: int, stop: int) -> list[str]:
        return [each.label for each in frames.between(start, stop).interventions]

    assert labels(0, 40) == ["1", "2", "3", "4", "5"]
    assert labels(10, 30) == ["2", "3"]
    assert labels(11, 30) == ["3"]
    assert labels(30, 40) == ["4", "5"]


def test_that_letting_a_session_run_at_its_beginning_is_no_change(
    session: HostedSession,
) -> None:
    session.submit(PauseClock(GAME))
    session.submit(Run())
    session.refresh()

    assert [each.text for each in session.timeline.commands] == ["pause “game”", "run"]
    assert [each.text for each in interventions_of(session.timeline)] == ["pause “game”"]


def test_that_a_hold_on_command_is_as_long_as_the_host_says() -> None:
    timeline = Timeline([""])
    timeline.commands += [
        CommandRecord(5, 1, "hold", "", host_ms=1_000, form=HOLD),
        CommandRecord(5, 2, "set the rate of “game” to 2", "", host_ms=1_500),
        CommandRecord(5, 3, "run", "", host_ms=3_250, form=RUN),
        CommandRecord(9, 4, "hold", "", host_ms=4_000, form=HOLD),
    ]

    assert held_host_ms(timeline, 5) == 2_250
    assert held_host_ms(timeline, 9) == 0
    assert held_host_ms(timeline, 7) == 0


def test_that_a_timeline_knows_when_it_was_held_while_it_ran(tmp_path: Path) -> None:
    session = virtual_session(scene_file(tmp_path, SCENE))
    session.submit(SetRate(GAME, Fraction(1)))
    pass_seconds(session, 1)
    session.submit(Hold())
    pass_seconds(session, 1)
    session.refresh()
    (held,) = session.timeline.holds
    assert held.at_ns == session.timeline.at_ns

    session.submit(Hold())
    session.submit(Run())
    pass_seconds(session, 1)
    session.refresh()

    assert session.timeline.holds == [held]
    assert session.timeline.copy().holds == [held]
