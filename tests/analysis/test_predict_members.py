"""What a pause or a time scale would do to timers of schedulers, and what it then does."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from inspector.analysis.predict.command_preview import preview
from inspector.analysis.predict.preview_table import preview_table
from inspector.cli.names import considered_command
from inspector.commands.clocks import PauseClock, SetRate
from inspector.commands.command import Command
from inspector.commands.members import PauseFromPriority, PauseMember, ResumeMember, SetTimeScale
from inspector.commands.transport import StepFrames
from inspector.sessions.hosted import HostedSession
from inspector.testing import held_session, scene_file
from inspector.vocabulary import MemberKind

SECOND = 1_000_000_000
FRAME = SECOND // 60 + 1

SCENE = """
    from inspector.frames.scheduler.scheduler import Scheduler
    class Unit:
        def __init__(self, name):
            self.name = name
        def update(self, delta):
            pass
        def __repr__(self):
            return self.name

    def build(stage):
        game = stage.root.child("game", "1/2")
        scheduler = stage.scheduler(game, name="combat")
        stage.units = {}
        for name, priority in (("hero", 5), ("enemy", -1)):
            unit = stage.units[name] = Unit(name)
            scheduler.schedule_update(unit, priority)
            scheduler.schedule(
                lambda delta, name=name: stage.mark(name), 2, target=unit, name=name + " shoots"
            )
"""


@pytest.fixture
def session(tmp_path: Path) -> HostedSession:
    session = held_session(scene_file(tmp_path, SCENE))
    session.submit(StepFrames(30))
    session.refresh()
    return session


def member(session: HostedSession, name: str, kind: MemberKind) -> int:
    session.refresh()
    members = session.timeline.members.by_id.values()
    return next(each.id for each in members if each.name == name and each.kind is kind)


def foreseen(session: HostedSession, command: Command) -> dict[str, tuple[int | None, int | None]]:
    """Return old and new due times by the name of the timer."""
    found = preview(session.timeline, command)
    assert found is not None
    names = session.timeline.members.by_id
    return {names[each.call.number].name: (each.old_ns, each.new_ns) for each in found}


def first_call(session: HostedSession, name: str) -> int | None:
    """Return when a timer is called next, after at most ten seconds."""
    seen = len(session.timeline.marks)
    for _ in range(600):
        session.submit(StepFrames(1))
        session.refresh()
        for mark in session.timeline.marks[seen:]:
            if mark.text == name:
                return mark.at_ns
    return None


def matches(called_ns: int | None, due_ns: int | None) -> bool:
    if called_ns is None or due_ns is None:
        return called_ns == due_ns
    return 0 <= called_ns - due_ns <= FRAME


def test_that_the_timers_of_a_paused_target_would_wait(session: HostedSession) -> None:
    hero = member(session, "hero", MemberKind.TARGET)

    dues = foreseen(session, PauseMember(hero))

    assert list(dues) == ["hero shoots"]
    old_ns, new_ns = dues["hero shoots"]
    assert new_ns is None
    assert matches(first_call(session, "hero"), old_ns)
    session.close()


def test_that_a_resumed_target_goes_on_with_what_was_left(session: HostedSession) -> None:
    hero = member(session, "hero", MemberKind.TARGET)
    session.submit(PauseMember(hero))
    session.submit(StepFrames(100))
    session.refresh()

    dues = foreseen(session, ResumeMember(hero))
    session.submit(ResumeMember(hero))

    old_ns, new_ns = dues["hero shoots"]
    assert old_ns is None
    assert new_ns is not None
    assert matches(first_call(session, "hero"), new_ns)
    session.close()


@pytest.mark.parametrize("rate", [Fraction(2), Fraction(1, 3), Fraction(0)])
def test_that_a_time_scale_moves_every_timer_of_the_scheduler(
    session: HostedSession, rate: Fraction
) -> None:
    combat = member(session, "combat", MemberKind.SCHEDULER)

    dues = foreseen(session, SetTimeScale(combat, rate))
    session.submit(SetTimeScale(combat, rate))

    assert set(dues) == {"hero shoots", "enemy shoots"}
    old_ns, new_ns = dues["hero shoots"]
    assert old_ns is not None
    assert (new_ns is None) == (rate == 0)
    if new_ns is not None and new_ns < 10 * SECOND:
        assert matches(first_call(session, "hero"), new_ns)
    session.close()


def test_that_a_timer_that_frames_are_late_for_is_due_at_its_own_instant(
    session: HostedSession,
) -> None:
    combat = member(session, "combat", MemberKind.SCHEDULER)
    hero = member(session, "hero", MemberKind.TARGET)
    due_ns = foreseen(session, PauseMember(hero))["hero shoots"][0]
    timeline = session.timeline
    assert due_ns is not None
    timeline.set_present(due_ns + SECOND)

    slowed = preview(timeline, SetTimeScale(combat, Fraction(1, 2)))
    stopped = preview(timeline, SetTimeScale(combat, Fraction(0)))

    assert slowed is not None
    assert stopped is not None
    assert [(each.old_ns, each.new_ns) for each in slowed] == [(due_ns, due_ns)] * 2
    # The frame that makes the call comes after the command.
    assert [(each.old_ns, each.new_ns) for each in stopped] == [(due_ns, None)] * 2


def test_that_the_timers_of_a_scheduler_wait_with_its_clock(session: HostedSession) -> None:
    game = next(each.id for each in session.timeline.clocks.values() if each.name == "game")

    paused = foreseen(session, PauseClock(game))
    faster = foreseen(session, SetRate(game, Fraction(1)))
    session.submit(SetRate(game, Fraction(1)))

    assert set(paused) == {"hero shoots", "enemy shoots"}
    assert [new_ns for _, new_ns in paused.values()] == [None, None]
    assert matches(first_call(session, "hero"), faster["hero shoots"][1])
    session.close()


def test_that_a_pause_from_a_priority_on_stops_some(session: HostedSession) -> None:
    combat = member(session, "combat", MemberKind.SCHEDULER)

    dues = foreseen(session, PauseFromPriority(combat, 0))
    session.submit(PauseFromPriority(combat, 0))

    assert dues["hero shoots"][1] is None
    old_ns, new_ns = dues["enemy shoots"]
    assert old_ns == new_ns
    assert matches(first_call(session, "enemy"), new_ns)
    assert all(mark.text != "hero" for mark in session.timeline.marks)
    session.close()


def test_that_the_table_names_the_timers_of_members(session: HostedSession) -> None:
    combat = member(session, "combat", MemberKind.SCHEDULER)
    found = preview(session.timeline, SetTimeScale(combat, Fraction(2)))
    assert found is not None

    table = preview_table(session.timeline, found)

    assert table.sentence.startswith("Setting the time scale of “combat” to 2: 2 timers would fire")
    assert {row.name for row in table.rows} == {"hero shoots", "enemy shoots"}
    assert all(row.difference.endswith("earlier") for row in table.rows)
    session.close()


def test_that_nothing_is_foreseen_of_what_is_refused(session: HostedSession) -> None:
    timeline = session.timeline
    combat = member(session, "combat", MemberKind.SCHEDULER)
    hero = member(session, "hero", MemberKind.TARGET)

    assert preview(timeline, PauseMember(999)) is None
    assert preview(timeline, PauseMember(combat)) is None
    assert preview(timeline, SetTimeScale(hero, Fraction(1))) is None
    assert preview(timeline, SetTimeScale(combat, Fraction(-1))) is None
    assert preview(timeline, PauseFromPriority(hero, 0)) is None
    assert preview(timeline, SetRate(2, Fraction(1))) is not None
    session.close()


OTHERS = """
    from inspector.engines.cocos.scheduler import DialectScheduler
    from inspector.engines.egret.timer import TickerTimer
    from inspector.engines.egret.ticker import Ticker

    class Target:
        pass

    def build(stage):
        scheduler = DialectScheduler(clock=stage.root, name="old")
        stage.target = Target()
        scheduler.schedule(lambda delta: stage.mark("tick"), 1.0, target=stage.target)
        ticker = Ticker(clock=stage.root)
        timer = stage.timer = TickerTimer(ticker, 700)
        timer.on_timer = lambda: stage.mark("tock")
        timer.start()

        def frame(delta):
            scheduler.run_frame()
            ticker.update()

        stage.every_frame(frame)
"""


def test_that_dialects_and_tickers_have_previews_too(tmp_path: Path) -> None:
    session = held_session(scene_file(tmp_path, OTHERS))
    session.submit(StepFrames(20))
    session.refresh()
    old = member(session, "old", MemberKind.SCHEDULER)
    kinds = {each.kind: each.id for each in session.timeline.members.by_id.values()}

    scaled = foreseen(session, SetTimeScale(old, Fraction(1, 2)))
    every = foreseen(session, PauseFromPriority(old, 10))
    ticks = foreseen(session, PauseMember(kinds[MemberKind.TICKER]))

    assert len(scaled) == len(every) == len(ticks) == 1
    (old_ns, new_ns), (_, never), (tock_ns, stopped) = (
        *scaled.values(),
        *every.values(),
        *ticks.values(),
    )
    assert never is stopped is None
    assert old_ns is not None
    assert new_ns is not None
    assert new_ns - session.timeline.at_ns == pytest.approx(
        2 * (old_ns - session.timeline.at_ns), abs=FRAME
    )
    assert matches(first_call(session, "tock"), tock_ns)
    session.submit(SetTimeScale(old, Fraction(1, 2)))
    session.close()


WOOD = """
    from inspector.engines.creator.components import Component

    class Fox(Component):
        def start(self):
            self.schedule(self.look, 2)

        def look(self, delta):
            stage_.mark("look")

    def build(stage):
        global stage_
        stage_ = stage
        director = stage.component_director()
        den = director.node("den")
        director.node("hole", den).add_component(Fox())
        stage.fox = den.children[0].components[0]
        scheduler = stage.scheduler(name="senses")
        scheduler.schedule(stage.fox.look, 3, target=stage.fox, name="sniff")
"""
FLAGGED = [("Fox", MemberKind.COMPONENT), ("den", MemberKind.NODE), ("hole", MemberKind.NODE)]


@pytest.fixture
def wood(tmp_path: Path) -> HostedSession:
    session = held_session(scene_file(tmp_path, WOOD))
    session.submit(StepFrames(30))
    session.refresh()
    return session


@pytest.mark.parametrize(("name", "kind"), FLAGGED)
def test_that_the_timers_of_a_paused_component_or_node_would_wait(
    wood: HostedSession, name: str, kind: MemberKind
) -> None:
    paused = member(wood, name, kind)

    dues = foreseen(wood, PauseMember(paused))

    assert list(dues) == ["Fox.look"]
    old_ns, new_ns = dues["Fox.look"]
    assert new_ns is None
    assert matches(first_call(wood, "look"), old_ns)
    wood.close()


@pytest.mark.parametrize(("name", "kind"), FLAGGED)
def test_that_a_resumed_component_or_node_goes_on_with_what_was_left(
    wood: HostedSession, name: str, kind: MemberKind
) -> None:
    paused = member(wood, name, kind)
    wood.submit(PauseMember(paused))
    wood.submit(StepFrames(30))
    wood.refresh()

    dues = foreseen(wood, ResumeMember(paused))
    wood.submit(ResumeMember(paused))

    old_ns, new_ns = dues["Fox.look"]
    assert old_ns is None
    assert new_ns is not None
    assert matches(first_call(wood, "look"), new_ns)
    wood.close()


def test_that_a_component_on_a_paused_node_would_wait_on(wood: HostedSession) -> None:
    fox, den = member(wood, "Fox", MemberKind.COMPONENT), member(wood, "den", MemberKind.NODE)
    for number in (fox, den):
        wood.submit(PauseMember(number))
    wood.submit(StepFrames(1))
    wood.refresh()

    assert foreseen(wood, ResumeMember(fox)) == {"Fox.look": (None, None)}
    assert foreseen(wood, ResumeMember(den)) == {"Fox.look": (None, None)}
    wood.close()


def test_that_a_resumed_target_of_a_dialect_goes_on_with_all_it_has(tmp_path: Path) -> None:
    session = held_session(scene_file(tmp_path, OTHERS))
    session.submit(StepFrames(20))
    target = member(session, "Target 1", MemberKind.TARGET)
    session.submit(PauseMember(target))
    session.submit(StepFrames(20))
    session.refresh()

    ((old_ns, new_ns),) = foreseen(session, ResumeMember(target)).values()
    session.submit(ResumeMember(target))

    assert old_ns is None
    assert new_ns is not None
    assert matches(first_call(session, "tick"), new_ns)
    session.close()


def test_that_components_and_nodes_are_previewed_by_their_names(wood: HostedSession) -> None:
    hole, fox = member(wood, "hole", MemberKind.NODE), member(wood, "Fox", MemberKind.COMPONENT)

    assert considered_command(wood.timeline, "pause hole") == PauseMember(hole)
    assert considered_command(wood.timeline, "resume Fox") == ResumeMember(fox)
    wood.close()
