"""Calls of members in the queue: rows, order and texts."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.modeltest import ModelTester

from inspector.calls.call import CallId, call_of
from inspector.clocks import Clock
from inspector.engines.egret.ticker import Ticker
from inspector.events import Timeline
from inspector.frames.director import Director
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.vocabulary import Phase
from tests.ui.world import Thing, World
from ui.kit.texts.call_texts import due_in_text
from ui.kit.texts.member_texts import member_run_state
from ui.kit.texts.run_states import RunStateKind
from ui.kit.theme import ColorRole, Theme
from ui.timer_queue.call_queue import CallGroup, CallQueue, QueueCounts
from ui.timer_queue.columns import CallColumn
from ui.timer_queue.model import QueueModel

pytestmark = pytest.mark.usefixtures("qapp")


class Game(World):
    """A clock with a scheduler of three targets."""

    def __init__(self) -> None:
        super().__init__()
        self.game: Clock = self.root.child("game")
        self.scheduler = Scheduler(self.game, name="fights")
        self.ship, self.boss, self.star = Thing("ship"), Thing("boss"), Thing("star")
        self.scheduler.schedule(self.star.tick, 0.5, repeat=3, name="twinkle")
        self.scheduler.schedule(self.star.tick, 0.2, target=self.boss, name="shoot")
        self.scheduler.schedule_update(self.ship, 5)
        self.scheduler.schedule_update(self.boss, -1)
        self.fold()

    def model(self) -> QueueModel:
        """Return a model in the order in which a frame makes the calls."""
        queue = CallQueue(self.timeline, self.log.strings)
        model = QueueModel(queue, Theme("light"))
        model.sort(-1)
        return model

    def frame(self, seconds: float) -> None:
        self.run_to_ms(self.tree.now_ns / 1e6 + seconds * 1e3)
        self.scheduler.run_frame()
        self.fold()


@pytest.fixture
def game() -> Game:
    return Game()


def _cell(model: QueueModel, row: int, column: CallColumn, role: int = 0) -> object:
    found: object = model.index(row, column).data(role or Qt.ItemDataRole.DisplayRole)
    return found


def _who(model: QueueModel) -> list[str]:
    """Return the calls from the first row to the last, each with its target."""
    return [
        f"{_cell(model, row, CallColumn.TARGET)} {_cell(model, row, CallColumn.KIND)}"
        for row in range(model.rowCount())
    ]


def _choose(model: QueueModel, branch_id: int | None = None, *words: str) -> None:
    model.queue.branch_id, model.queue.words = branch_id, words
    model.refresh()


def _row(model: QueueModel, who: str) -> int:
    return _who(model).index(who)


def test_that_updates_come_in_call_order_and_timers_by_what_is_due(
    game: Game, qtmodeltester: ModelTester
) -> None:
    model = game.model()

    assert _who(model) == ["boss update", "ship update", "boss frame timer", "star frame timer"]
    qtmodeltester.check(model)


def test_that_the_order_follows_priorities_and_dues(game: Game) -> None:
    model = game.model()

    game.scheduler.schedule_update(game.boss, 9)
    game.frame(0.45)
    model.refresh()

    # Twinkles at 0.5, shoots again at 0.6.
    assert _who(model) == ["ship update", "boss update", "star frame timer", "boss frame timer"]


def test_that_what_is_due_next_comes_first_and_calls_of_every_frame_last(game: Game) -> None:
    game.root.set_timeout(0.3, print, name="timer")
    game.scheduler.schedule_update(game.star, 2)
    game.fold()
    model = game.model()

    model.sort(CallColumn.REMAINING)

    names = [_cell(model, row, CallColumn.NAME) for row in range(model.rowCount())]
    assert names == ["shoot", "timer", "twinkle", *["Thing.update"] * 3]
    assert _who(model)[3:] == ["boss update", "star update", "ship update"]


def test_that_a_pause_moves_no_call(game: Game) -> None:
    model = game.model()
    model.sort(CallColumn.REMAINING)
    late = game.game.child("late")
    late.set_timeout(9, print)
    game.fold()
    model.refresh()
    before = _who(model)

    game.scheduler.pause_target(game.boss)
    late.pause()
    game.fold()
    model.refresh()

    # What is called in every frame and is paused comes after what is not.
    assert _who(model)[:3] == before[:3]
    texts = [_cell(model, row, CallColumn.REMAINING) for row in range(model.rowCount())]
    assert texts.count("waits: boss") == 2
    assert "waits: late" in texts
    assert model.counts == QueueCounts(total=5, in_branch=5, passing=5, waiting=3)


def test_that_only_calls_that_wait_are_shown_by_what_is_left_of_their_time(game: Game) -> None:
    game.scheduler.schedule(game.star.tick, 0.1, target=game.ship, name="blink")
    game.game.set_timeout(0.3, print, name="timer")
    game.root.set_timeout(0.2, print, name="runs")
    game.game.pause()
    game.fold()
    model = game.model()
    model.sort(CallColumn.REMAINING)

    model.queue.only_waiting = True
    model.refresh()

    names = [_cell(model, row, CallColumn.NAME) for row in range(model.rowCount())]
    assert names == ["blink", "shoot", "timer", "twinkle", *["Thing.update"] * 2]


@pytest.mark.parametrize("column", [CallColumn.NAME, CallColumn.CLOCK, CallColumn.KIND])
def test_that_timers_and_members_have_one_alphabetical_order(
    game: Game, column: CallColumn
) -> None:
    for name in ("apple", "Shoot", "shooting", "zebra"):
        game.root.child(f"{name} clock").set_interval(1, print, name=name)
    for name in ("aa", "ab", "shoo", "ZZ"):
        game.scheduler.schedule(game.star.tick, 0.5, target=game.ship, name=name)
    game.fold()
    model = game.model()

    model.sort(column)

    texts = [str(_cell(model, row, column)).casefold() for row in range(model.rowCount())]
    assert texts == sorted(texts)
    assert len(texts) == 9


@pytest.mark.parametrize(
    ("groups", "names"),
    [
        ({CallGroup.CLOCK_TIMERS}, ["timer"]),
        ({CallGroup.FRAME_TIMERS}, ["shoot", "twinkle"]),
        ({CallGroup.EVERY_FRAME}, ["Thing.update", "Thing.update"]),
        (set(), []),
    ],
)
def test_that_groups_can_be_hidden(game: Game, groups: set[CallGroup], names: list[str]) -> None:
    game.root.set_timeout(0.3, print, name="timer")
    game.fold()
    model = game.model()

    model.queue.groups = frozenset(groups)
    model.refresh()

    assert [_cell(model, row, CallColumn.NAME) for row in range(model.rowCount())] == names
    assert (model.counts.total, model.counts.passing) == (5, len(names))


def test_that_calls_of_the_frame_stand_where_their_phase_is(game: Game) -> None:
    director = Director(game.root)
    director.on(Phase.DRAW, lambda _: None, name="paint")
    director.on(Phase.START, lambda _: None, name="prepare", clock=game.game)
    game.fold()

    model = game.model()

    names = [_cell(model, row, CallColumn.NAME) for row in range(model.rowCount())]
    kinds = [_cell(model, row, CallColumn.KIND) for row in range(model.rowCount())]
    assert (names[0], names[-1]) == ("prepare", "paint")
    assert (kinds[0], kinds[-1]) == ("in start", "in draw")


def test_that_timers_of_tickers_are_listed_with_their_ticker(game: Game) -> None:
    ticker = Ticker(clock=game.game, name="display")
    ticker.set_interval(lambda: None, 250)
    game.fold()

    model = game.model()

    row = _row(model, " ticker timer")
    assert _cell(model, row, CallColumn.SCHEDULER) == "display"
    assert _cell(model, row, CallColumn.CLOCK) == "game"
    assert _cell(model, row, CallColumn.INTERVAL) == "250 ms"


def test_that_a_timer_of_a_ticker_that_nothing_advances_is_overdue(game: Game) -> None:
    ticker = Ticker(clock=game.game, name="display")
    ticker.set_interval(lambda: None, 250)
    game.fold()
    model = game.model()
    row = _row(model, " ticker timer")
    assert _cell(model, row, CallColumn.REMAINING) == "250 ms"

    game.frame(2)
    model.refresh()

    row = _row(model, " ticker timer")
    assert _cell(model, row, CallColumn.REMAINING) == "late 1.75 s"
    assert _cell(model, row, CallColumn.STATE) == "waits"
    tip = model.index(row, CallColumn.REMAINING).data(Qt.ItemDataRole.ToolTipRole)
    assert tip == "late 1.75 s: display has not called it since"


def test_that_cells_say_when_how_often_and_how_long(game: Game) -> None:
    model = game.model()
    game.frame(0.75)
    model.refresh()

    row = _row(model, "star frame timer")
    shown = {
        column: _cell(model, row, column)
        for column in CallColumn
        if column not in {CallColumn.LATENESS, CallColumn.CALL_SITE}
    }
    assert shown.pop(CallColumn.TOOK) != ""
    assert shown == {
        CallColumn.NAME: "twinkle",
        CallColumn.TARGET: "star",
        CallColumn.SCHEDULER: "fights",
        CallColumn.CLOCK: "game",
        CallColumn.KIND: "frame timer",
        CallColumn.PRIORITY: "",
        CallColumn.DUE_LOCAL: "00:01.000",
        CallColumn.DUE_SESSION: "0:01.000",
        CallColumn.REMAINING: "250 ms",
        CallColumn.INTERVAL: "500 ms",
        CallColumn.CALLS: "1",
        CallColumn.LEFT: "3",
        CallColumn.STATE: "",
    }
    update = _row(model, "boss update")
    assert _cell(model, update, CallColumn.PRIORITY) == "-1"
    assert _cell(model, update, CallColumn.REMAINING) == "every frame"
    assert _cell(model, _row(model, "boss frame timer"), CallColumn.LEFT) == "∞"


def test_that_cells_hold_the_values_themselves(game: Game) -> None:
    model = game.model()
    game.frame(0.75)
    model.refresh()

    row = _row(model, "star frame timer")

    shown = model.row_at(row)
    assert shown is not None
    call = shown.call
    assert (call.due_ns, call.left_ns, call.calls) == (1_000_000_000, 250_000_000, 1)
    assert call.id.key == model.id_at(row)
    tip = Qt.ItemDataRole.ToolTipRole
    assert _cell(model, row, CallColumn.NAME, tip) == "fights / star / twinkle"
    assert _cell(model, row, CallColumn.CLOCK, tip) == "root / game"


def test_that_every_way_of_being_stopped_is_named(game: Game) -> None:
    model = game.model()
    model.queue.only_waiting = True
    muted = Theme("light").color(ColorRole.MUTED)

    def states() -> tuple[object, object]:
        game.fold()
        model.refresh()
        row = _row(model, "star frame timer")
        return _cell(model, row, CallColumn.REMAINING), _cell(model, row, CallColumn.STATE)

    game.tree.members.cause = 3
    game.scheduler.pause_target(game.star)
    game.tree.members.cause = 0
    assert states() == (
        "waits: star",
        "stopped by target star (paused by you since 0:00.000)",
    )
    row = _row(model, "star frame timer")
    assert _cell(model, row, CallColumn.DUE_LOCAL) == ""
    assert _cell(model, row, CallColumn.NAME, Qt.ItemDataRole.ForegroundRole) == muted
    game.scheduler.resume_target(game.star)
    game.scheduler.time_scale = 0
    assert states() == ("waits: fights has time scale 0", "fights has time scale 0")
    assert model.counts.waiting == 4
    game.scheduler.time_scale = 1
    game.game.pause()
    assert states() == (
        "waits: game",
        "stopped by game (paused by the program since 0:00.000)",
    )
    assert model.counts.waiting == 4
    game.game.resume()
    game.fold()
    model.refresh()
    assert _who(model) == []
    assert model.counts.waiting == 0


def test_that_the_filter_looks_into_name_target_scheduler_clock_and_kind(game: Game) -> None:
    model = game.model()
    found = {}

    for text in ("TWINK", "boss", "fights update", "game frame", "nothing", "boss timer"):
        _choose(model, None, *text.casefold().split())
        found[text] = _who(model)

    assert found == {
        "TWINK": ["star frame timer"],
        "boss": ["boss update", "boss frame timer"],
        "fights update": ["boss update", "ship update"],
        "game frame": ["boss frame timer", "star frame timer"],
        "nothing": [],
        "boss timer": ["boss frame timer"],
    }
    assert model.counts == QueueCounts(total=4, in_branch=4, passing=1, waiting=0)


def test_that_one_branch_can_be_shown(game: Game) -> None:
    other = game.root.child("menu")
    Scheduler(other, name="menus").schedule_update(Thing("cursor"))
    game.fold()
    model = game.model()

    _choose(model, other.id)
    in_menu, counts = _who(model), model.counts
    _choose(model, game.root.id)

    assert in_menu == ["cursor update"]
    assert (counts.in_branch, counts.total) == (1, 5)
    assert model.counts.passing == 5


@pytest.mark.parametrize(
    ("column", "ascending"),
    [
        (CallColumn.NAME, ["boss frame timer", "boss update"]),
        (CallColumn.TARGET, ["boss update", "boss frame timer"]),
        (CallColumn.KIND, ["star frame timer", "boss frame timer"]),
        (CallColumn.PRIORITY, ["boss update", "ship update"]),
        (CallColumn.DUE_LOCAL, ["star frame timer", "boss frame timer"]),
        (CallColumn.REMAINING, ["star frame timer", "boss frame timer"]),
        (CallColumn.SCHEDULER, ["boss update", "ship update"]),
        (CallColumn.INTERVAL, ["boss update", "ship update"]),
        (CallColumn.CALLS, ["star frame timer", "boss update"]),
        (CallColumn.LEFT, ["star frame timer", "boss frame timer"]),
        (CallColumn.STATE, ["boss update", "ship update"]),
    ],
)
def test_that_every_column_can_decide_the_order(
    game: Game, column: CallColumn, ascending: list[str]
) -> None:
    game.frame(0.45)
    model = game.model()

    model.sort(column)

    assert _who(model)[:2] == ascending
    descending = sorted(_who(model))
    model.sort(column, Qt.SortOrder.DescendingOrder)
    assert sorted(_who(model)) == descending


def test_that_no_column_brings_back_the_order_of_the_calls(game: Game) -> None:
    model = game.model()
    before = _who(model)
    model.sort(CallColumn.TARGET, Qt.SortOrder.DescendingOrder)
    sorted_by_target = _who(model)

    model.sort(-1)

    assert sorted_by_target != before
    assert _who(model) == before


def test_that_rows_come_and_go_with_their_calls(game: Game, qtmodeltester: ModelTester) -> None:
    model = game.model()
    qtmodeltester.check(model)

    game.scheduler.unschedule_target(game.boss)
    game.fold()
    assert model.queue.total() == 2
    model.refresh()

    assert _who(model) == ["ship update", "star frame timer"]
    game.game.remove()
    game.fold()
    model.refresh()
    assert _who(model) == []


def test_that_a_row_says_the_same_until_the_next_refresh(game: Game) -> None:
    model = game.model()
    before = model.row_cells(0)

    game.frame(0.1)
    still = model.row_cells(0)
    model.refresh()
    after = model.row_cells(0)

    assert still == before
    assert after[CallColumn.NAME] == before[CallColumn.NAME]
    assert after[CallColumn.CALLS] != before[CallColumn.CALLS]


def test_that_another_timeline_is_shown_from_its_beginning(game: Game) -> None:
    model, other = game.model(), Game()
    _choose(model, None, "boss")

    model.queue.set_source(None, ())
    model.reload_rows()
    assert (model.rowCount(), model.queue.total()) == (0, 0)
    model.queue.set_source(other.timeline, other.log.strings)
    model.reload_rows()

    assert _who(model) == ["boss update", "boss frame timer"]


def _due_in(timeline: Timeline, number: int) -> str:
    call = call_of(timeline, CallId(number, is_member=True))
    assert call is not None
    return due_in_text(call, timeline.at_ns)


def test_that_what_is_called_in_every_frame_runs_while_the_root_is_paused(game: Game) -> None:
    director = Director(game.root)
    director.on(Phase.DRAW, lambda _: None, name="paint")
    director.on(Phase.UPDATE, lambda _: None, name="move", clock=game.game)
    game.root.pause()
    game.fold()
    timeline = game.timeline
    found = {member.name: member for member in timeline.members.by_id.values()}
    paint, move = found["paint"], found["move"]

    assert member_run_state(timeline, paint).kind is not RunStateKind.STOPPED
    assert _due_in(timeline, paint.id) == "every frame"
    assert member_run_state(timeline, move).kind is RunStateKind.STOPPED
    assert _due_in(timeline, move.id) == "waits: root"
    # Everything else of this game hangs under clocks below the root.
    counts = game.model().counts
    assert counts.waiting == counts.total - 1
