"""Commands to schedulers, targets and machines: carried out, or refused in a sentence."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from inspector.commands.command import Command
from inspector.commands.members import (
    MakeTransition,
    PauseFromPriority,
    PauseMember,
    ResumeFromPriority,
    ResumeMember,
    SetTimeScale,
    UnscheduleMember,
)
from inspector.commands.scene import Undo
from inspector.commands.transport import StepFrames
from inspector.events.members import PAUSABLE, MemberState
from inspector.frames.scheduler.controls import Pausable
from inspector.sessions.hosted import HostedSession
from inspector.testing import held_session, scene_file
from inspector.vocabulary import RATE_DENOMINATOR, Field, MemberKind

SCENE = """
    from inspector.frames.state_machine import Edge, StateMachine

    class Thing:
        def __init__(self, name):
            self.name = name
            self.calls = 0
        def update(self, delta):
            self.calls += 1

    def guard(state):
        return False

    def build(stage):
        scheduler = stage.scheduler(name="game")
        hero, enemy = Thing("hero"), Thing("enemy")
        scheduler.schedule_update(hero, 0)
        scheduler.schedule_update(enemy, 10)
        stage.things = (hero, enemy)
        stage.machine = StateMachine(
            "idle",
            {
                "walk": Edge("idle", "walking"),
                "stop": Edge("walking", "idle"),
                "fly": Edge("idle", "flying", guard=guard),
            },
            clock=stage.root,
            name="legs",
        )
"""


PAUSES_BY_ITSELF = f"{SCENE}        stage.root.set_timeout(0.1, scheduler.pause_target, hero)"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[HostedSession]:
    session = held_session(scene_file(tmp_path, SCENE))
    yield session
    session.close()


def member(session: HostedSession, name: str, kind: MemberKind) -> MemberState:
    session.refresh()
    found = session.timeline.members.by_id.values()
    return next(each for each in found if each.name == name and each.kind is kind)


def submit(session: HostedSession, command: Command) -> str:
    session.submit(command)
    session.refresh()
    return session.timeline.commands[-1].refusal


def calls(session: HostedSession) -> tuple[int, int]:
    run = session._run
    hero, enemy = run.stage.things  # type: ignore[attr-defined]
    return hero.calls, enemy.calls


def test_that_a_target_is_paused_and_the_command_is_the_cause(session: HostedSession) -> None:
    enemy = member(session, "enemy", MemberKind.TARGET)

    assert submit(session, PauseMember(enemy.id)) == ""
    submit(session, StepFrames(3))

    record = next(each for each in session.timeline.commands if "pause" in each.text)
    enemy = member(session, "enemy", MemberKind.TARGET)
    assert (enemy.is_paused, enemy.pause_cause) == (True, record.number)
    assert (record.text, record.clock_id) == ("pause “enemy”", 1)
    assert calls(session) == (3, 0)

    submit(session, Undo(record.number))
    submit(session, StepFrames(2))

    assert not member(session, "enemy", MemberKind.TARGET).is_paused
    assert calls(session) == (5, 2)


def test_that_what_the_program_pauses_later_is_not_put_down_to_a_command(
    tmp_path: Path,
) -> None:
    session = held_session(scene_file(tmp_path, PAUSES_BY_ITSELF))
    hero = member(session, "hero", MemberKind.TARGET)
    assert submit(session, PauseMember(hero.id)) == ""
    assert submit(session, ResumeMember(hero.id)) == ""

    session.submit(StepFrames(10))
    session.refresh()

    hero = member(session, "hero", MemberKind.TARGET)
    assert hero.is_paused
    assert hero.pause_cause == 0
    session.close()


def test_that_resuming_and_unscheduling_are_carried_out(session: HostedSession) -> None:
    hero = member(session, "hero", MemberKind.TARGET)
    submit(session, PauseMember(hero.id))
    assert submit(session, ResumeMember(hero.id)) == ""
    assert submit(session, UnscheduleMember(hero.id)) == ""

    submit(session, StepFrames(2))

    assert calls(session) == (0, 2)
    assert "any more" in submit(session, PauseMember(hero.id))


def test_that_a_pause_from_a_priority_is_undone_exactly(session: HostedSession) -> None:
    scheduler = member(session, "game", MemberKind.SCHEDULER)
    enemy = member(session, "enemy", MemberKind.TARGET)
    assert "No command has paused “game”" in submit(session, ResumeFromPriority(scheduler.id))

    assert submit(session, PauseFromPriority(scheduler.id, 5)) == ""
    submit(session, PauseMember(enemy.id))
    submit(session, StepFrames(1))
    assert calls(session) == (1, 0)

    assert submit(session, ResumeFromPriority(scheduler.id)) == ""
    submit(session, StepFrames(1))
    assert calls(session) == (2, 0)
    submit(session, ResumeMember(enemy.id))
    submit(session, StepFrames(1))
    assert calls(session) == (3, 1)

    submit(session, PauseFromPriority(scheduler.id, 5))
    assert submit(session, Undo(session.timeline.commands[-1].number)) == ""
    submit(session, StepFrames(1))
    assert calls(session) == (4, 2)


def test_that_a_time_scale_is_set_checked_and_undone(session: HostedSession) -> None:
    scheduler = member(session, "game", MemberKind.SCHEDULER)

    assert submit(session, SetTimeScale(scheduler.id, Fraction(1, 2))) == ""
    number = session.timeline.commands[-1].number
    rate = member(session, "game", MemberKind.SCHEDULER).fields[Field.RATE]
    assert rate == RATE_DENOMINATOR // 2
    assert "cannot be negative" in submit(session, SetTimeScale(scheduler.id, Fraction(-1)))

    submit(session, Undo(number))
    assert member(session, "game", MemberKind.SCHEDULER).fields[Field.RATE] == RATE_DENOMINATOR


def test_that_a_machine_makes_what_it_can_and_the_rest_is_refused(session: HostedSession) -> None:
    legs = member(session, "legs", MemberKind.MACHINE)

    assert submit(session, MakeTransition(legs.id, "walk")) == ""
    assert session.timeline.members.field_text(legs.id, Field.STATE) == "walking"
    assert submit(session, MakeTransition(legs.id, "walk")) == (
        "“walk” does not lead away from “walking”; “stop” does."
    )
    assert submit(session, MakeTransition(legs.id, "swim")) == (
        "“legs” has no transition “swim”. It has “walk”, “stop”, “fly”."
    )


def test_that_a_guard_refuses_in_an_event_of_its_own(session: HostedSession) -> None:
    legs = member(session, "legs", MemberKind.MACHINE)

    assert submit(session, MakeTransition(legs.id, "fly")) == ""

    kinds = [kind for _, kind, *_ in session.log.read(0).events]
    assert 70 in kinds
    assert session.timeline.members.field_text(legs.id, Field.STATE) == "idle"


def test_that_what_a_member_cannot_do_is_said(session: HostedSession) -> None:
    legs = member(session, "legs", MemberKind.MACHINE)

    assert submit(session, PauseMember(legs.id)) == (
        "“legs” is a machine; it cannot be paused by itself."
    )
    update = member(session, "Thing.update", MemberKind.UPDATE)
    assert submit(session, SetTimeScale(update.id, Fraction(2))) == (
        "“Thing.update” is an update; it cannot be given a time scale."
    )
    assert submit(session, PauseMember(999)) == "There is no member 999 any more."


def test_that_every_command_to_a_member_has_a_sentence(session: HostedSession) -> None:
    number = member(session, "game", MemberKind.SCHEDULER).id
    commands: dict[Command, str] = {
        PauseMember(number): "pause “game”",
        ResumeMember(number): "resume “game”",
        PauseFromPriority(number, 3): "pause everything in “game” from priority 3 on",
        ResumeFromPriority(number): "resume what was paused by priority in “game”",
        UnscheduleMember(999): "unschedule member 999",
        SetTimeScale(number, Fraction(1, 2)): "set the time scale of “game” to 0.5",
        MakeTransition(number, "walk"): "make “walk” of “game”",
    }
    for command, text in commands.items():
        assert command.sentence(session.timeline) == text
        assert command.capability in session.capabilities


EVERY_KIND = """
    from inspector.engines.creator.components import Component
    from inspector.engines.cocos.dialects import COCOS2DX_3_4
    from inspector.frames.loop import start_loop
    from inspector.engines.open_flash import OpenFlashClock
    from inspector.frames.state_machine import Edge
    from inspector.engines.egret.timer import TickerTimer

    class Fox(Component):
        def start(self):
            self.schedule(self.look, 2)

        def look(self, delta):
            pass

        def update(self, delta):
            pass

    class Stone:
        def update(self, delta):
            pass

    def build(stage):
        stage.component_director().node("den").add_component(Fox())
        stage.stones = Stone(), Stone()
        for scheduler, stone in zip(
            (stage.scheduler(), stage.dialect_scheduler(COCOS2DX_3_4)), stage.stones
        ):
            scheduler.schedule_update(stone, 0)
            scheduler.schedule(stone.update, 1.0, target=stone)
        timer = stage.timer = TickerTimer(stage.ticker(), 700)
        timer.start()
        machine = stage.state_machine("a", {"b": Edge("a", "b")})
        machine.on_before = lambda old, new: None
        machine.go("b")
        player = OpenFlashClock(stage.root)
        player.set_timeout_ns(10**9, print)
        start_loop(player, 10, int)
"""


def test_that_exactly_what_counts_as_pausable_can_be_paused(tmp_path: Path) -> None:
    session = held_session(scene_file(tmp_path, EVERY_KIND))
    submit(session, StepFrames(2))
    members = session.timeline.members.by_id.values()
    run = session._run

    can_be_paused: dict[MemberKind, set[bool]] = {}
    for each in members:
        owner = run.tree.members.find(each.id)
        can_be_paused.setdefault(each.kind, set()).add(isinstance(owner, Pausable))

    # Slices are of captures, in which nothing can be changed.
    assert set(can_be_paused) == set(MemberKind) - {MemberKind.SLICE}
    assert {kind for kind, answers in can_be_paused.items() if True in answers} == PAUSABLE
    session.close()


def test_that_what_hung_under_a_removed_clock_cannot_be_commanded(tmp_path: Path) -> None:
    scene = """
        def build(stage):
            world = stage.root.child("world")
            stage.kept = stage.scheduler(name="game", clock=world)
            stage.root.set_timeout(0.01, world.remove)
    """
    session = held_session(scene_file(tmp_path, scene))
    game = member(session, "game", MemberKind.SCHEDULER)
    session.submit(StepFrames(1))

    assert submit(session, PauseMember(game.id)).endswith(" any more.")
    session.close()
