"""Timers of clocks in the queue: cell texts, order, filter, branch, empty cases."""

from __future__ import annotations

import random
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.calls.call import short_site
from inspector.vocabulary import NEVER
from tests.ui.world import World
from ui.kit.theme import Theme
from ui.timer_queue.call_queue import CallQueue, QueueCounts
from ui.timer_queue.columns import FIELD_COLUMNS, MEMBER_COLUMNS, CallColumn
from ui.timer_queue.model import QueueModel

#: Columns that say nothing of timers of clocks.
_OF_MEMBERS = MEMBER_COLUMNS | {CallColumn.TARGET, CallColumn.SCHEDULER, *FIELD_COLUMNS.values()}

pytestmark = pytest.mark.usefixtures("qapp")


class Shown(World):
    """A world with a model over it."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = CallQueue(self.timeline, self.log.strings)
        self.model = QueueModel(self.queue, Theme("light"))

    def choose(self, branch_id: int | None = None, *words: str) -> None:
        self.queue.branch_id, self.queue.words = branch_id, words
        self.model.refresh()


@pytest.fixture
def shown() -> Shown:
    return Shown()


def _cells(model: QueueModel, row: int) -> list[str]:
    columns = (column for column in CallColumn if column not in _OF_MEMBERS)
    return [model.index(row, column).data() for column in columns]


def _names(model: QueueModel) -> list[str]:
    return [model.index(row, CallColumn.NAME).data() for row in range(model.rowCount())]


def test_that_a_row_says_everything_about_a_timer(shown: Shown, qtmodeltester: ModelTester) -> None:
    enemies = shown.root.child("enemies", rate="1/2")
    enemies.set_interval(2, print, name="spawn wave", missed="skip")
    shown.run_to_ms(5_500)

    shown.model.refresh()

    assert _cells(shown.model, 0)[:-1] == [
        "spawn wave",
        "enemies",
        "interval (skip)",
        "00:04.000",
        "2.50 s",
        "0:08.000",
        "2.00 s",
        "1",
        "0 ns",
    ]
    assert _cells(shown.model, 0)[-1].startswith("test_timer_calls.py:")
    qtmodeltester.check(shown.model, force_py=True)


def test_that_what_fires_next_comes_first(shown: Shown) -> None:
    slow = shown.root.child("slow", rate="1/10")
    slow.set_timeout(0.05, print, name="in 500 ms")
    shown.root.set_timeout(0.3, print, name="in 300 ms")
    shown.root.set_timeout(0.7, print, name="in 700 ms")
    shown.fold()

    shown.model.refresh()

    assert _names(shown.model) == ["in 300 ms", "in 500 ms", "in 700 ms"]


def test_that_ties_come_in_the_order_of_scheduling(shown: Shown) -> None:
    for number in range(200):
        shown.root.set_timeout(1, print, name=str(number))
    shown.fold()

    shown.model.refresh()

    assert _names(shown.model) == [str(number) for number in range(200)]


def test_that_a_pause_moves_no_row(shown: Shown) -> None:
    slow, other = shown.root.child("slow", rate="1/2"), shown.root.child("other")
    below = slow.child("below", rate=4)
    slow.set_timeout(0.3, print, name="in 600 ms")
    below.set_timeout(1, print, name="in 500 ms")
    other.set_timeout(0.55, print, name="in 550 ms")
    shown.root.set_timeout(0.2, print, name="in 200 ms")
    shown.root.set_timeout(9, print, name="in 9 s")
    shown.fold()
    shown.model.refresh()
    before = _names(shown.model)
    assert before == ["in 200 ms", "in 500 ms", "in 550 ms", "in 600 ms", "in 9 s"]

    slow.pause()
    other.pause()
    shown.fold()
    shown.model.refresh()

    assert _names(shown.model) == before
    assert [shown.model.index(row, CallColumn.REMAINING).data() for row in range(5)] == [
        "200 ms",
        "waits: slow",
        "waits: other",
        "waits: slow",
        "9.00 s",
    ]
    assert shown.model.index(1, CallColumn.DUE_SESSION).data() == "–"
    assert shown.model.counts == QueueCounts(total=5, in_branch=5, passing=5, waiting=3)


def test_that_what_waits_falls_behind_what_comes_near(shown: Shown) -> None:
    paused = shown.root.child("paused")
    paused.set_timeout(1, print, name="waits")
    shown.root.set_timeout(1.5, print, name="runs")
    paused.pause()
    shown.fold()
    shown.model.refresh()
    assert _names(shown.model) == ["waits", "runs"]

    shown.run_to_ms(1_000)
    shown.model.refresh()

    assert _names(shown.model) == ["runs", "waits"]


def test_that_what_waits_at_rate_0_comes_last(shown: Shown) -> None:
    shown.root.child("frozen", rate=0).set_timeout(1, print, name="never")
    shown.root.set_timeout(99, print, name="late")
    shown.fold()
    shown.model.refresh()

    assert _names(shown.model) == ["late", "never"]


def test_that_only_what_waits_is_shown_when_it_is_asked_for(shown: Shown) -> None:
    paused = shown.root.child("paused")
    paused.set_timeout(2, print, name="second")
    paused.set_timeout(1, print, name="first")
    shown.root.set_timeout(3, print, name="runs")
    paused.pause()
    shown.fold()

    shown.queue.only_waiting = True
    shown.model.refresh()

    assert _names(shown.model) == ["first", "second"]
    assert shown.model.counts == QueueCounts(total=3, in_branch=3, passing=2, waiting=2)


def test_that_time_alone_changes_only_what_remains(shown: Shown) -> None:
    shown.root.set_timeout(10, print)
    shown.fold()
    shown.model.refresh()
    before = shown.model.row_cells(0)
    shown.run_to_ms(4_000)

    shown.model.refresh()

    after = shown.model.row_cells(0)
    changed = [column for column in CallColumn if after[column] != before[column]]
    assert changed == [CallColumn.REMAINING]
    assert shown.model.index(0, CallColumn.REMAINING).data() == "6.00 s"


def test_that_rows_come_and_go_at_the_end(
    shown: Shown, qtbot: QtBot, qtmodeltester: ModelTester
) -> None:
    qtmodeltester.check(shown.model)
    timers = [shown.root.set_timeout(delay, print, name=str(delay)) for delay in (3, 1, 2)]
    shown.fold()
    with qtbot.waitSignal(shown.model.rowsInserted) as inserted:
        shown.model.refresh()
    shown.root.clear(timers[1])
    shown.fold()
    with qtbot.waitSignal(shown.model.rowsRemoved) as removed:
        shown.model.refresh()

    assert inserted.args[1:] == [0, 2]
    assert removed.args[1:] == [2, 2]
    assert _names(shown.model) == ["2", "3"]


def test_that_a_timer_that_is_gone_since_the_refresh_shows_nothing(shown: Shown) -> None:
    shown.root.set_timeout(1, print, name="gone soon")
    shown.fold()
    shown.model.refresh()

    shown.run_to_ms(1_500)

    assert _cells(shown.model, 0) == [None] * (len(CallColumn) - len(_OF_MEMBERS))


def test_that_all_cells_are_of_the_instant_of_the_refresh(shown: Shown) -> None:
    shown.root.set_interval(1, print, name="tick")
    shown.fold()
    shown.model.refresh()
    before = _cells(shown.model, 0)

    shown.run_to_ms(1_500)
    between = _cells(shown.model, 0)
    shown.model.refresh()
    after = _cells(shown.model, 0)

    assert between == before
    assert (before[4], after[4]) == ("1.00 s", "500 ms")


def test_that_a_branch_shows_its_own_timers_and_those_below(shown: Shown) -> None:
    game, interface = shown.root.child("game"), shown.root.child("interface")
    game.set_timeout(1, print, name="game")
    game.child("enemies").set_timeout(2, print, name="enemies")
    interface.set_timeout(3, print, name="interface")
    shown.fold()
    shown.model.refresh()

    shown.choose(game.id)

    assert _names(shown.model) == ["game", "enemies"]
    assert shown.model.counts == QueueCounts(total=3, in_branch=2, passing=2, waiting=0)


def test_that_a_branch_that_was_removed_shows_nothing(shown: Shown) -> None:
    game = shown.root.child("game")
    game.set_timeout(1, print)
    shown.root.set_timeout(1, print)
    shown.fold()
    shown.choose(game.id)
    game.remove()
    shown.fold()

    shown.model.refresh()

    assert shown.model.counts == QueueCounts(total=1, in_branch=0, passing=0, waiting=0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("spawn", ["spawn wave", "spawn boss"]),
        ("SPAWN boss", ["spawn boss"]),
        ("interface", ["blink"]),
        ("timeout", ["blink"]),
        ("skip", ["spawn boss"]),
        ("test_timer_calls", ["blink", "spawn wave", "spawn boss"]),
        ("nothing like that", []),
    ],
)
def test_that_the_filter_looks_at_name_clock_kind_and_call_site(
    shown: Shown, text: str, expected: list[str]
) -> None:
    shown.root.child("interface").set_timeout(1, print, name="blink")
    shown.root.set_interval(2, print, name="spawn wave")
    shown.root.set_interval(3, print, name="spawn boss", missed="skip")
    shown.fold()

    shown.choose(None, *text.casefold().split())

    assert _names(shown.model) == expected
    assert shown.model.counts.total == 3


def test_that_names_added_later_are_filtered_too(shown: Shown) -> None:
    shown.choose(None, "evening")
    shown.root.set_timeout(1, print, name="morning")
    shown.fold()
    shown.model.refresh()
    shown.root.set_timeout(1, print, name="evening")
    shown.fold()

    shown.model.refresh()

    assert _names(shown.model) == ["evening"]


def _value(shown: Shown, row: int, column: CallColumn) -> Any:  # noqa: ANN401
    """Return what a cell is about."""
    shown_row = shown.model.row_at(row)
    assert shown_row is not None
    call = shown_row.call
    return {
        CallColumn.NAME: call.name,
        CallColumn.CLOCK: shown.timeline.clocks[call.clock_id].name,
        CallColumn.KIND: call.kind.text,
        CallColumn.DUE_LOCAL: call.due_ns,
        CallColumn.INTERVAL: call.interval_ns,
        CallColumn.CALLS: call.calls,
        CallColumn.LATENESS: call.last_lateness_ns or 0,
        CallColumn.CALL_SITE: call.call_site,
        **dict.fromkeys(_OF_MEMBERS, ""),
        CallColumn.LEFT: -call.calls_left if call.calls_left else None,
    }.get(column, call.session_due_ns)


@pytest.mark.parametrize("column", CallColumn)
@pytest.mark.parametrize("order", Qt.SortOrder)
def test_that_any_column_can_decide_the_order(
    shown: Shown, column: CallColumn, order: Qt.SortOrder
) -> None:
    clocks = [shown.root.child(name) for name in "cab"]
    for number in (3, 1, 2):
        clock = clocks[number - 1]
        clock.set_interval(number / 10, print, name=f"timer {number}")
        clock.set_timeout(number, print, name=f"Timer {number} once")
    shown.run_to_ms(850)
    shown.model.refresh()

    shown.model.sort(column, order)

    raw = [_value(shown, row, column) for row in range(6)]
    folded = [value.casefold() if isinstance(value, str) else value for value in raw]
    assert folded == sorted(folded, reverse=order == Qt.SortOrder.DescendingOrder)


def test_that_leaving_a_sorted_column_brings_back_what_fires_next(shown: Shown) -> None:
    shown.root.set_timeout(1, print, name="b")
    shown.root.set_timeout(2, print, name="a")
    shown.fold()
    shown.model.sort(CallColumn.NAME)
    by_name = _names(shown.model)

    shown.model.sort(-1)

    assert (by_name, _names(shown.model)) == (["a", "b"], ["b", "a"])


@pytest.mark.parametrize("seed", range(3))
def test_that_the_order_is_that_of_the_session_due_times(shown: Shown, seed: int) -> None:
    rng = random.Random(seed)
    clocks = [shown.root]
    for _ in range(12):
        clocks.append(rng.choice(clocks).child("c", rate=rng.choice(["1/3", "2", "1", "0.01"])))
    for step in range(30):
        for _ in range(20):
            rng.choice(clocks).set_timeout(rng.choice([0.5, 1, 1, rng.random()]), print)
        clock = rng.choice(clocks[1:])
        if clock.is_paused:
            clock.resume()
        else:
            clock.pause()
        shown.run_to_ms(step * 40)
        shown.model.refresh()

        timers = shown.timeline.timers
        expected = sorted(
            (due, timers.row(each).order, each)
            for each in timers.ids()
            if (due := shown.timeline.session_due_ns(each) or NEVER) != NEVER
        )
        rows = [shown.model.id_at(row) or 0 for row in range(len(timers))]
        firing = {each for _, _, each in expected}
        assert [row for row in rows if row in firing] == [each for _, _, each in expected]
        assert shown.model.rowCount() == len(timers)
        if expected:
            assert shown.model.row_of(expected[-1][2]) == rows.index(expected[-1][2])


def test_that_a_call_site_is_shown_without_its_folders() -> None:
    assert short_site("/home/me/scene.py:12 in build") == "scene.py:12 in build"
    assert (
        short_site("C:\\me\\scene.py:3 in build.<locals>.go") == "scene.py:3 in build.<locals>.go"
    )
    assert short_site(r"/home/caf\udce9/caf\udce9.py:2 in build") == r"caf\udce9.py:2 in build"
    assert short_site("") == ""
