"""What the columns of *Clocks* say of clocks, schedulers, components and machines."""

from __future__ import annotations

from fractions import Fraction

import pytest
from PySide6.QtGui import QColor

from inspector.clocks import Clock
from inspector.engines.creator.director import CreatorDirector
from inspector.engines.creator.versions import COMPONENTS_2_2
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.frames.state_machine import Edge, StateMachine
from tests.ui.world import Thing, World
from ui.clock_tree.panel import ClockColumn, Known, TreeRow, node_of
from ui.kit.texts.clock_texts import rate_algebra
from ui.kit.texts.member_texts import member_run_state
from ui.kit.texts.run_states import RunStateKind, run_state_of


class Game(World):
    """A few clocks, and on one of them a scheduler of three targets and a machine."""

    def __init__(self) -> None:
        super().__init__()
        self.game: Clock = self.root.child("game")
        self.enemies = self.game.child("enemies", rate=Fraction(1, 2))
        self.scheduler = Scheduler(self.game, name="scheduler")
        self.ship, self.boss, self.star = Thing("ship"), Thing("boss"), Thing("star")
        self.scheduler.schedule(self.star.tick, 0.5, repeat=3, name="twinkle")
        self.scheduler.schedule_update(self.ship, 5)
        self.scheduler.schedule_update(self.boss, -1)
        self.machine: StateMachine[str, str] = StateMachine(
            "menu", {"start": Edge("menu", "playing")}, clock=self.game, name="flow"
        )
        self.fold()

    def row(self, node: int) -> TreeRow:
        return TreeRow(node, 0, None, Known(self.timeline, QColor()))

    def text(self, what: Clock | str, column: ClockColumn) -> str:
        node = self.node(what) if isinstance(what, str) else what.id
        return str(column.spec.text(self.row(node)))

    def node(self, name: str) -> int:
        members = self.timeline.members.by_id.values()
        return node_of(next(member.id for member in members if member.name == name))


@pytest.fixture
def game() -> Game:
    return Game()


def test_that_what_is_due_by_now_is_due_now(game: Game) -> None:
    game.game.set_timeout(1, print)
    game.run_to_ms(900)
    # As between two wake-ups: the present is further than what was run.
    game.timeline.set_present(1_000_000_000)

    assert game.text(game.game, ClockColumn.NEXT_DUE) == "now"


def test_that_a_row_says_time_rate_state_timers_and_next_due(game: Game) -> None:
    game.enemies.set_timeout(2, print)
    game.enemies.set_timeout(5, print)
    game.run_to_ms(1_500)

    assert [game.text(game.enemies, column) for column in ClockColumn] == [
        "enemies",
        "00:00.750",
        "0.5",
        "running",
        "0.5",
        "2",
        "2.50 s",
    ]


def test_that_numbers_are_whole_in_their_tooltips(game: Game) -> None:
    game.enemies.set_rate(Fraction(1000, 1001))
    game.enemies.set_timeout(2, lambda: None)
    game.enemies.set_timeout(3, lambda: None)
    game.run_to_ms(1_500)
    columns = [each for each in ClockColumn if each.spec.short_title]

    tips = [each.spec.detail(game.row(game.enemies.id)) for each in columns if each.spec.detail]

    assert tips == [
        "1,498,501,498 ns",
        "Rate (×): 1000/1001",
        "1 × 1 × 1000/1001 = 1000/1001",
        "Timers: 2",
        "Next due in: 502 ms",
    ]


def test_that_a_pause_says_who_did_it_and_since_when(game: Game) -> None:
    game.run_to_ms(12_300)
    game.game.pause(cause=7)
    game.run_to_ms(20_000)

    assert game.text(game.game, ClockColumn.STATE) == "paused by you since 0:12.300"
    assert game.text(game.enemies, ClockColumn.STATE) == (
        "stopped by game (paused by you since 0:12.300)"
    )
    assert run_state_of(game.timeline, game.enemies.id).kind is RunStateKind.STOPPED
    assert game.text(game.root, ClockColumn.STATE) == "running"


def test_that_an_own_pause_below_a_paused_ancestor_names_both(game: Game) -> None:
    game.enemies.pause()
    game.game.pause(cause=1)
    game.run_to_ms(10)

    text = game.text(game.enemies, ClockColumn.STATE)

    assert text == "paused by the program since 0:00.000, so is game"


def test_that_rate_zero_is_told_from_a_pause(game: Game) -> None:
    game.enemies.rate = 0
    game.run_to_ms(10)

    assert game.text(game.enemies, ClockColumn.STATE) == "rate 0 by the program since 0:00.000"
    assert run_state_of(game.timeline, game.enemies.id).kind is RunStateKind.FROZEN


def test_that_timers_of_a_stopped_clock_wait(game: Game) -> None:
    game.enemies.set_timeout(2, print)
    game.game.pause()
    game.run_to_ms(10)

    assert game.text(game.enemies, ClockColumn.NEXT_DUE) == "waiting"
    assert game.text(game.enemies, ClockColumn.EFFECTIVE_RATE) == "0"


def test_that_the_effective_rate_is_explained_as_a_product(game: Game) -> None:
    quarter = game.enemies.child("boss", rate="1/4")
    game.fold()

    assert rate_algebra(game.timeline, quarter.id) == "1 × 1 × 1/2 × 1/4 = 1/8"


def test_that_cells_say_time_scale_priority_interval_and_what_is_next(game: Game) -> None:
    game.run_to_ms(750)
    game.scheduler.run_frame()
    game.fold()

    assert game.text("scheduler", ClockColumn.LOCAL_TIME) == "00:00.750"
    assert game.text("scheduler", ClockColumn.RATE) == "1"
    assert game.text("scheduler", ClockColumn.PENDING) == "3"
    assert game.text("twinkle", ClockColumn.STATE) == "every 500 ms, 3 calls left"
    assert game.text("twinkle", ClockColumn.NEXT_DUE) == "250 ms"
    assert game.text("flow", ClockColumn.STATE) == "in “menu”"
    boss = game.row(game.node("boss")).member
    assert boss is not None
    update = game.row(node_of(boss.children[0]))
    assert ClockColumn.STATE.spec.text(update) == "every frame, priority -1"


def test_that_every_way_of_being_stopped_is_named(game: Game) -> None:
    game.tree.members.cause = 3
    game.scheduler.pause_target(game.star)
    game.tree.members.cause = 0
    game.fold()
    assert game.text("star", ClockColumn.STATE) == "paused by you since 0:00.000"
    assert game.text("twinkle", ClockColumn.STATE) == (
        "stopped by target star (paused by you since 0:00.000)"
    )

    game.game.pause()
    game.fold()
    assert game.text("ship", ClockColumn.STATE) == (
        "stopped by game (paused by the program since 0:00.000)"
    )
    game.game.resume()
    game.scheduler.time_scale = 0
    game.fold()
    assert game.text("ship", ClockColumn.STATE) == "scheduler has time scale 0"
    assert game.row(game.node("scheduler")).run_state.kind is RunStateKind.FROZEN


def test_that_a_component_director_tells_whose_rules_it_follows(game: Game) -> None:
    CreatorDirector(clock=game.game, dialect=COMPONENTS_2_2, name="wood")
    game.fold()
    director = game.row(game.node("wood")).member
    assert director is not None

    run_state = member_run_state(game.timeline, director)

    assert (run_state.text, run_state.brief) == ("running, Cocos Creator 2.2", "running")
