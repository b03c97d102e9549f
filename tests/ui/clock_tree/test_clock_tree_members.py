"""Schedulers, components and machines in the clock tree: positions and texts."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt
from pytestqt.modeltest import ModelTester

from inspector.clocks import Clock
from inspector.commands.members import PauseMember, ResumeMember, SetTimeScale
from inspector.engines.creator.director import CreatorDirector
from inspector.engines.creator.versions import COMPONENTS_2_2
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.frames.state_machine import Edge, StateMachine
from inspector.testing import held_session, scene_file
from tests.ui.world import Thing, World
from ui.clock_tree.model import ClockTreeModel
from ui.clock_tree.rows import ClockColumn, node_of
from ui.kit.texts.member_texts import member_run_state
from ui.kit.texts.run_states import RunStateKind
from ui.kit.theme import Theme


class Game(World):
    """A clock with a scheduler of three targets and a machine."""

    def __init__(self) -> None:
        super().__init__()
        self.game: Clock = self.root.child("game")
        self.scheduler = Scheduler(self.game, name="scheduler")
        self.ship, self.boss, self.star = Thing("ship"), Thing("boss"), Thing("star")
        self.scheduler.schedule(self.star.tick, 0.5, repeat=3, name="twinkle")
        self.scheduler.schedule_update(self.ship, 5)
        self.scheduler.schedule_update(self.boss, -1)
        self.machine: StateMachine[str, str] = StateMachine(
            "menu", {"start": Edge("menu", "playing")}, clock=self.game, name="flow"
        )
        self.fold()

    def frame(self, seconds: float) -> None:
        self.run_to_ms(self.tree.now_ns / 1e6 + seconds * 1e3)
        self.scheduler.run_frame()
        self.fold()

    def number(self, name: str) -> int:
        members = self.timeline.members.by_id.values()
        return next(member.id for member in members if member.name == name)


# Rows have pixmaps in them.
pytestmark = pytest.mark.usefixtures("qapp")


@pytest.fixture
def game() -> Game:
    return Game()


def _fetch_all(model: ClockTreeModel, parent: QModelIndex = QModelIndex()) -> None:
    if model.canFetchMore(parent):
        model.fetchMore(parent)
    for row in range(model.rowCount(parent)):
        _fetch_all(model, model.index(row, 0, parent))


def _outline(
    model: ClockTreeModel, parent: QModelIndex = QModelIndex(), depth: int = 0
) -> list[str]:
    lines: list[str] = []
    for row in range(model.rowCount(parent)):
        index = model.index(row, 0, parent)
        lines.append("  " * depth + index.data())
        lines += _outline(model, index, depth + 1)
    return lines


def _cell(game: Game, model: ClockTreeModel, name: str, column: ClockColumn) -> str:
    return str(model.index_of(node_of(game.number(name)), column).data())


def test_that_members_hang_under_their_clock_and_open_when_asked(
    game: Game, qtmodeltester: ModelTester
) -> None:
    model = ClockTreeModel(Theme("light"), game.timeline)
    assert _outline(model) == ["root", "  game", "    scheduler", "    flow"]

    _fetch_all(model)

    assert [line.strip() for line in _outline(model)][2:10] == [
        "scheduler",
        "boss",
        "Thing.update",
        "ship",
        "Thing.update",
        "star",
        "twinkle",
        "flow",
    ]
    qtmodeltester.check(model)


def test_that_targets_are_in_the_order_in_which_they_are_called(game: Game) -> None:
    model = ClockTreeModel(Theme("light"), game.timeline)
    _fetch_all(model)

    game.scheduler.schedule_update(game.boss, 9)
    game.fold()
    model.refresh()
    _fetch_all(model)

    names = [line.strip() for line in _outline(model)]
    assert names.index("ship") < names.index("boss") < names.index("star")


def test_that_a_closed_member_costs_no_rows(game: Game) -> None:
    model = ClockTreeModel(Theme("light"), game.timeline)
    index = model.index_of(node_of(game.number("scheduler")))
    model.fetchMore(index)
    assert model.rowCount(index) == 3

    model.close_member(model.node(index))

    assert model.rowCount(model.index_of(node_of(game.number("scheduler")))) == 0
    assert model.hasChildren(model.index_of(node_of(game.number("scheduler"))))


def test_that_cells_say_time_scale_priority_interval_and_what_is_next(game: Game) -> None:
    model = ClockTreeModel(Theme("light"), game.timeline)
    game.frame(0.75)
    _fetch_all(model)
    model.refresh()

    assert _cell(game, model, "scheduler", ClockColumn.LOCAL_TIME) == "00:00.750"
    assert _cell(game, model, "scheduler", ClockColumn.RATE) == "1"
    assert _cell(game, model, "scheduler", ClockColumn.PENDING) == "3"
    assert _cell(game, model, "twinkle", ClockColumn.STATE) == "every 500 ms, 3 calls left"
    assert _cell(game, model, "twinkle", ClockColumn.NEXT_DUE) == "250 ms"
    assert _cell(game, model, "flow", ClockColumn.STATE) == "in “menu”"
    update = game.timeline.members.by_id[game.number("boss")].children[0]
    state = model.index_of(node_of(update), ClockColumn.STATE).data()
    assert state == "every frame, priority -1"


def test_that_every_way_of_being_stopped_is_named(game: Game) -> None:
    model = ClockTreeModel(Theme("light"), game.timeline)
    _fetch_all(model)

    game.tree.members.cause = 3
    game.scheduler.pause_target(game.star)
    game.tree.members.cause = 0
    game.fold()
    model.refresh()
    assert _cell(game, model, "star", ClockColumn.STATE) == "paused by you since 00:00.000"
    assert _cell(game, model, "twinkle", ClockColumn.STATE) == (
        "stopped by target “star” (paused by you since 00:00.000)"
    )

    game.game.pause()
    game.fold()
    model.refresh()
    assert _cell(game, model, "ship", ClockColumn.STATE) == (
        "stopped by clock “game” (paused by the program since 00:00.000)"
    )
    game.game.resume()
    game.scheduler.time_scale = 0
    game.fold()
    model.refresh()
    assert _cell(game, model, "ship", ClockColumn.STATE) == "“scheduler” has time scale 0"
    name = model.row_cells(node_of(game.number("scheduler")))[ClockColumn.NAME]
    assert name.mark is RunStateKind.FROZEN


def test_that_edits_ask_for_commands(game: Game) -> None:
    model = ClockTreeModel(Theme("light"), game.timeline)
    _fetch_all(model)
    asked: list[object] = []
    model.command_requested.connect(asked.append)
    check = Qt.ItemDataRole.CheckStateRole
    star, scheduler = game.number("star"), game.number("scheduler")

    model.setData(model.index_of(node_of(star)), Qt.CheckState.Unchecked, check)
    game.scheduler.pause_target(game.star)
    game.fold()
    model.setData(model.index_of(node_of(star)), Qt.CheckState.Checked, check)
    model.setData(model.index_of(node_of(scheduler)), Qt.CheckState.Checked, check)
    rate = model.index_of(node_of(scheduler), ClockColumn.RATE)
    model.setData(rate, "1/4")
    model.setData(rate, "1")

    assert asked == [
        PauseMember(star),
        ResumeMember(star),
        SetTimeScale(scheduler, Fraction(1, 4)),
    ]


def test_that_the_filter_finds_members_that_are_not_open(game: Game) -> None:
    model = ClockTreeModel(Theme("light"), game.timeline)

    model.set_filter("twin")

    assert [line.strip() for line in _outline(model)] == [
        "root",
        "game",
        "scheduler",
        "star",
        "twinkle",
    ]
    assert (model.match_count, model.shown_count) == (1, 5)


def test_that_a_component_director_tells_whose_rules_it_follows(game: Game) -> None:
    CreatorDirector(clock=game.game, dialect=COMPONENTS_2_2, name="wood")
    game.fold()

    run_state = member_run_state(game.timeline, game.timeline.members.by_id[game.number("wood")])

    assert run_state.text == "running, Cocos Creator 2.2"
    assert run_state.brief == "running"


def test_that_members_that_go_leave_the_tree(game: Game) -> None:
    model = ClockTreeModel(Theme("light"), game.timeline)
    _fetch_all(model)

    game.scheduler.unschedule_target(game.star)
    game.fold()
    model.refresh()

    assert "star" not in [line.strip() for line in _outline(model)]


def test_that_a_scheduler_of_a_stage_is_one_row(tmp_path: Path) -> None:
    path = scene_file(
        tmp_path,
        """
        def build(stage):
            game = stage.root.child("game")
            stage.scheduler(game, name="ours")
            stage.component_director(game, name="wood")
            stage.ticker(name="ticks")
            stage.every_frame(print, name="prints")
        """,
    )
    session = held_session(path)
    model = ClockTreeModel(Theme("light"), session.timeline)

    assert _outline(model) == ["root", "  game", "    ours", "    wood", "  ticks", "  prints"]

    model.set_filter("ours")
    assert _outline(model) == ["root", "  game", "    ours"]
    session.close()
