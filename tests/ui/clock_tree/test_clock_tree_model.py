"""The clock tree model: cell texts, structure, filter, edits that become commands."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from PySide6.QtCore import QModelIndex, Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.clocks import Clock
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from tests.ui.world import World
from ui.clock_tree.model import ClockTreeModel
from ui.clock_tree.rows import SHORT_TITLES, ClockColumn
from ui.kit.texts.clock_texts import rate_algebra
from ui.kit.texts.run_states import RunStateKind, run_state_of
from ui.kit.theme import Theme


def _row(model: ClockTreeModel, clock_id: int) -> list[str]:
    return [model.index_of(clock_id, column).data() for column in ClockColumn]


def _outline(
    model: ClockTreeModel, parent: QModelIndex = QModelIndex(), depth: int = 0
) -> list[str]:
    lines: list[str] = []
    for row in range(model.rowCount(parent)):
        index = model.index(row, 0, parent)
        lines.append("  " * depth + index.data())
        lines += _outline(model, index, depth + 1)
    return lines


class Game(World):
    """A world with a few clocks."""

    def __init__(self) -> None:
        super().__init__()
        self.game = self.root.child("game")
        self.enemies = self.game.child("enemies", rate=Fraction(1, 2))
        self.interface = self.root.child("interface")


@pytest.fixture
def game() -> Game:
    return Game()


def test_that_what_is_due_by_now_is_due_now(game: Game) -> None:
    game.game.set_timeout(1, print)
    game.run_to_ms(900)
    # As between two wake-ups: the present is further than what was run.
    game.timeline.set_present(1_000_000_000)
    model = ClockTreeModel(Theme("light"), game.timeline)

    assert model.index_of(game.game.id, ClockColumn.NEXT_DUE).data() == "now"


def test_that_a_row_says_time_rate_state_timers_and_next_due(
    game: Game, qtmodeltester: ModelTester
) -> None:
    game.enemies.set_timeout(2, print)
    game.enemies.set_timeout(5, print)
    game.run_to_ms(1_500)

    model = ClockTreeModel(Theme("light"), game.timeline)

    assert _row(model, game.enemies.id) == [
        "enemies",
        "00:00.750",
        "0.5",
        "running",
        "0.5",
        "2",
        "2.50 s",
    ]
    qtmodeltester.check(model, force_py=True)


def test_that_headers_carry_units(world: World) -> None:
    model = ClockTreeModel(Theme("light"), world.timeline)

    headers = [
        model.headerData(column, Qt.Orientation.Horizontal, Qt.ItemDataRole.DisplayRole)
        for column in ClockColumn
    ]

    assert headers == [
        "Clock",
        "Local (m:s)",
        "Rate (×)",
        "State",
        "Effective (×)",
        "Timers",
        "Next due in",
    ]


def test_that_numbers_are_whole_in_their_tooltips(game: Game) -> None:
    game.enemies.set_rate(Fraction(1000, 1001))
    game.enemies.set_timeout(2, lambda: None)
    game.enemies.set_timeout(3, lambda: None)
    game.run_to_ms(1_500)
    model = ClockTreeModel(Theme("light"), game.timeline)
    tip = Qt.ItemDataRole.ToolTipRole

    tips = [model.index_of(game.enemies.id, column).data(tip) for column in SHORT_TITLES]

    assert tips == [
        "1,498,501,498 ns",
        "Rate (×): 1000/1001",
        "1 × 1 × 1000/1001 = 1000/1001",
        "Timers: 2",
        "Next due in: 502 ms",
    ]
    assert model.index_of(game.interface.id, ClockColumn.PENDING).data(tip) is None


def test_that_a_pause_says_who_did_it_and_since_when(game: Game) -> None:
    model = ClockTreeModel(Theme("light"), game.timeline)
    game.run_to_ms(12_300)
    game.game.pause(cause=7)
    game.run_to_ms(20_000)
    model.refresh()

    assert model.index_of(game.game.id, ClockColumn.STATE).data() == (
        "paused by you since 00:12.300"
    )
    assert model.index_of(game.enemies.id, ClockColumn.STATE).data() == (
        "stopped by “game” (paused by you since 00:12.300)"
    )
    assert run_state_of(game.timeline, game.enemies.id).kind is RunStateKind.STOPPED
    assert model.index_of(game.interface.id, ClockColumn.STATE).data() == "running"


def test_that_an_own_pause_below_a_paused_ancestor_names_both(game: Game) -> None:
    model = ClockTreeModel(Theme("light"), game.timeline)
    game.enemies.pause()
    game.game.pause(cause=1)
    game.run_to_ms(10)
    model.refresh()

    text = model.index_of(game.enemies.id, ClockColumn.STATE).data()

    assert text == "paused by the program since 00:00.000, so is “game”"


def test_that_rate_zero_is_told_from_a_pause(game: Game) -> None:
    model = ClockTreeModel(Theme("light"), game.timeline)
    game.enemies.rate = 0
    game.run_to_ms(10)
    model.refresh()

    text = model.index_of(game.enemies.id, ClockColumn.STATE).data()

    assert text == "rate 0 by the program since 00:00.000"
    assert run_state_of(game.timeline, game.enemies.id).kind is RunStateKind.FROZEN


def test_that_timers_of_a_stopped_clock_wait(game: Game) -> None:
    game.enemies.set_timeout(2, print)
    game.game.pause()
    game.run_to_ms(10)

    model = ClockTreeModel(Theme("light"), game.timeline)

    assert model.index_of(game.enemies.id, ClockColumn.NEXT_DUE).data() == "waiting"
    assert model.index_of(game.enemies.id, ClockColumn.EFFECTIVE_RATE).data() == "0"


def test_that_the_effective_rate_is_explained_as_a_product(game: Game) -> None:
    quarter = game.enemies.child("boss", rate="1/4")
    game.fold()

    assert rate_algebra(game.timeline, quarter.id) == "1 × 1 × 1/2 × 1/4 = 1/8"


@pytest.mark.parametrize(
    ("typed", "rate"),
    [
        ("1/3", Fraction(1, 3)),
        ("0.25", Fraction(1, 4)),
        ("25%", Fraction(1, 4)),
        ("2x", Fraction(2)),
        (" 2 × ", Fraction(2)),
    ],
)
def test_that_a_typed_rate_becomes_a_command_and_changes_nothing_yet(
    game: Game, qtbot: QtBot, typed: str, rate: Fraction
) -> None:
    game.fold()
    model = ClockTreeModel(Theme("light"), game.timeline)
    index = model.index_of(game.enemies.id, ClockColumn.RATE)

    with qtbot.waitSignal(model.command_requested) as asked:
        model.setData(index, typed)

    assert asked.args == [SetRate(game.enemies.id, rate)]
    assert index.data() == "0.5"


@pytest.mark.parametrize("typed", ["fast", "-1", "", "1/0", "nan", "1e99"])
def test_that_a_bad_rate_is_refused_with_a_reason(game: Game, qtbot: QtBot, typed: str) -> None:
    game.fold()
    model = ClockTreeModel(Theme("light"), game.timeline)

    with (
        qtbot.assertNotEmitted(model.command_requested),
        qtbot.waitSignal(model.edit_refused) as refused,
    ):
        model.setData(model.index_of(game.enemies.id, ClockColumn.RATE), typed)

    assert ("−1×" if typed == "-1" else f"“{typed}”") in refused.args[0]


def test_that_the_check_state_asks_to_pause_and_then_to_resume(game: Game, qtbot: QtBot) -> None:
    game.fold()
    model = ClockTreeModel(Theme("light"), game.timeline)
    index = model.index_of(game.enemies.id, ClockColumn.NAME)

    with qtbot.waitSignal(model.command_requested) as first:
        model.setData(index, Qt.CheckState.Unchecked, Qt.ItemDataRole.CheckStateRole)
    game.enemies.pause(cause=1)
    game.fold()
    model.refresh()
    with qtbot.waitSignal(model.command_requested) as second:
        model.setData(index, Qt.CheckState.Checked, Qt.ItemDataRole.CheckStateRole)

    assert first.args == [PauseClock(game.enemies.id)]
    assert second.args == [ResumeClock(game.enemies.id)]


def test_that_the_filter_keeps_the_ancestors_of_matches(
    game: Game, qtmodeltester: ModelTester
) -> None:
    game.game.child("player")
    game.fold()
    model = ClockTreeModel(Theme("light"), game.timeline)

    model.set_filter("ENEM")

    assert _outline(model) == ["root", "  game", "    enemies"]
    assert (model.match_count, model.shown_count) == (1, 3)
    qtmodeltester.check(model, force_py=True)


def test_that_clearing_the_filter_brings_everything_back(game: Game) -> None:
    game.fold()
    model = ClockTreeModel(Theme("light"), game.timeline)
    everything = _outline(model)

    model.set_filter("interface")
    model.set_filter("")

    assert _outline(model) == everything == ["root", "  game", "    enemies", "  interface"]


def test_that_new_clocks_come_without_a_reset(game: Game, qtbot: QtBot) -> None:
    game.fold()
    model = ClockTreeModel(Theme("light"), game.timeline)
    game.game.child("player").child("sword")
    game.fold()

    with qtbot.assertNotEmitted(model.modelReset), qtbot.waitSignal(model.rowsInserted):
        model.refresh()

    assert _outline(model) == [
        "root",
        "  game",
        "    enemies",
        "    player",
        "      sword",
        "  interface",
    ]


def test_that_a_moved_branch_is_shown_at_its_new_place_without_a_reset(
    game: Game, qtbot: QtBot, qtmodeltester: ModelTester
) -> None:
    game.enemies.child("boss")
    game.fold()
    model = ClockTreeModel(Theme("light"), game.timeline)
    qtmodeltester.check(model)

    game.enemies.move_to(game.interface)
    game.fold()
    with qtbot.assertNotEmitted(model.modelReset):
        model.refresh()

    assert _outline(model) == ["root", "  game", "  interface", "    enemies", "      boss"]


def test_that_many_changes_at_once_are_one_reset(world: World, qtbot: QtBot) -> None:
    branches = [world.root.child(f"branch {number}") for number in range(100)]
    world.fold()
    model = ClockTreeModel(Theme("light"), world.timeline)
    for branch in branches:
        branch.child("twig")
    world.fold()

    with qtbot.waitSignal(model.modelReset):
        model.refresh()

    assert model.shown_count == 201


@pytest.mark.parametrize("seed", range(5))
def test_that_any_sequence_of_changes_ends_in_the_true_tree(
    world: World, qtmodeltester: ModelTester, seed: int
) -> None:
    rng = random.Random(seed)
    model = ClockTreeModel(Theme("light"), world.timeline)
    qtmodeltester.check(model)
    for _ in range(60):
        for _ in range(rng.randint(1, 6)):
            clocks = list(world.root.walk())
            clock = rng.choice(clocks)
            match rng.randint(0, 3):
                case 0 | 1:
                    clock.child(rng.choice("abc"))
                case 2 if clock is not world.root:
                    clock.remove()
                case 3 if clock is not world.root:
                    goal = rng.choice(clocks)
                    if goal not in list(clock.walk()):
                        clock.move_to(goal)
        if rng.random() < 0.2:
            model.set_filter(rng.choice(["", "a", "b"]))
        world.fold()
        model.refresh()

        model.set_filter("")
        expected = _true_outline(world.root)
        assert _outline(model) == expected


def _true_outline(clock: Clock, depth: int = 0) -> list[str]:
    lines = ["  " * depth + clock.name]
    for child in clock.children:
        lines += _true_outline(child, depth + 1)
    return lines


def test_that_nothing_is_shown_without_a_timeline(qtmodeltester: ModelTester) -> None:
    model = ClockTreeModel(Theme("light"))

    assert model.rowCount() == 0
    assert not model.refresh()
    assert [cell.text for cell in model.row_cells(1)] == [""] * len(ClockColumn)
    qtmodeltester.check(model, force_py=True)
