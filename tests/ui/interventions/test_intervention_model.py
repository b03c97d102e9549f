"""The table of interventions: a row for each command and hit, appended to and filtered."""

from __future__ import annotations

from datetime import datetime

import pytest
from msgspec import structs
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.clocks.rate import D
from inspector.commands.clocks import ResumeClock
from inspector.commands.command import Command, Undoing
from inspector.events import Timeline
from inspector.events.states import BreakHit, ClockState, CommandRecord
from ui.interventions.panel import (
    InterventionColumn,
    InterventionModel,
    host_time_text,
    selection_of,
)
from ui.kit.table.roles import FOREGROUND, TOOL_TIP
from ui.kit.theme import ColorRole, Theme
from ui.session.selection import Selection

S = 1_000_000_000
#: 15:04:05.678 on the wall clock, wherever the tests run.
HOST_MS = int(datetime(2026, 11, 21, 15, 4, 5).timestamp()) * 1_000 + 678  # noqa: DTZ001


class FakeUndoing(Undoing):
    """Knows that some commands can be undone."""

    def __init__(self, *numbers: int) -> None:
        super().__init__()
        self.numbers = set(numbers)

    def of(self, number: int) -> Command | None:
        return ResumeClock(2) if number in self.numbers else None


@pytest.fixture
def timeline() -> Timeline:
    timeline = Timeline([""])
    timeline.root_id = 1
    timeline.clocks[1] = ClockState(1, "root", 0, D, D, 0, 0)
    timeline.clocks[2] = ClockState(2, "game", 1, D, D, 0, 0)
    timeline.commands += [
        CommandRecord(S, 1, "pause “game”", "", 2, S // 2, HOST_MS, "", 60),
        CommandRecord(2 * S, 2, "pause clock 9", "There is none.", 0, 2 * S, HOST_MS, "", 120),
    ]
    timeline.hits.append(BreakHit(3 * S, 1, "timer “boss” fires", 180))
    return timeline


@pytest.fixture
def model(timeline: Timeline, qtmodeltester: ModelTester) -> InterventionModel:
    model = InterventionModel(Theme("light"))
    qtmodeltester.check(model)
    model.set_session(timeline, FakeUndoing(1))
    return model


def cells(model: InterventionModel, row: int) -> list[str]:
    return [str(model.index(row, column).data()) for column in InterventionColumn]


def test_that_a_row_says_when_what_by_whom_and_what_came_of_it(model: InterventionModel) -> None:
    assert [cells(model, row) for row in range(model.rowCount())] == [
        ["1", "0:01.000", "00:00.500 game", "15:04:05.678", "pause game", "you", "done", "Undo"],
        [
            *("2", "0:02.000", "00:02.000 root", "15:04:05.678", "pause clock 9"),
            *("you", "refused: There is none.", ""),
        ],
        ["b1", "0:03.000", "", "", "timer boss fires", "breakpoint 1", "hit in frame 180", ""],
    ]


def test_that_the_full_date_is_in_the_tool_tip(model: InterventionModel) -> None:
    tip = model.index(0, InterventionColumn.HOST).data(TOOL_TIP)
    assert tip.startswith("Saturday, 2026-11-21 15:04:05.678")
    assert model.index(2, InterventionColumn.HOST).data(TOOL_TIP) == "Unknown"


def test_that_what_is_new_is_appended_and_nothing_else_is_told(
    model: InterventionModel, timeline: Timeline, qtbot: QtBot
) -> None:
    timeline.commands.append(CommandRecord(4 * S, 3, "mark “x”", "", 0, 4 * S, HOST_MS))

    with (
        qtbot.assertNotEmitted(model.modelReset),
        qtbot.assertNotEmitted(model.dataChanged),
        qtbot.waitSignal(model.rowsInserted) as inserted,
    ):
        assert model.refresh() == 1

    assert inserted.args is not None
    assert inserted.args[1:] == [3, 3]
    with qtbot.assertNotEmitted(model.rowsInserted):
        assert model.refresh() == 0


def test_that_a_row_that_is_undone_changes_in_its_place(
    model: InterventionModel, timeline: Timeline, qtbot: QtBot
) -> None:
    text = "undo command 1: pause game"
    form = '{"command": "Undo", "number": 1}'
    timeline.commands.append(CommandRecord(4 * S, 3, text, "", 2, 4 * S, HOST_MS, form=form))

    with qtbot.waitSignal(model.dataChanged) as changed:
        model.refresh()

    assert changed.args is not None
    assert (changed.args[0].row(), changed.args[1].row()) == (0, 0)
    assert model.index(0, InterventionColumn.RESULT).data() == "undone by 3"


def test_that_the_filter_looks_for_every_word_and_lets_new_rows_through(
    model: InterventionModel, timeline: Timeline, qtmodeltester: ModelTester
) -> None:
    model.set_filter("PAUSE game")
    assert (model.rowCount(), model.hidden_count) == (1, 2)

    timeline.commands += [
        CommandRecord(4 * S, 3, "mark “x”", ""),
        CommandRecord(4 * S, 4, "pause “game”", ""),
    ]
    assert model.refresh() == 1
    assert [model.rows[row].entry.number for row in range(model.rowCount())] == [1, 4]

    model.set_filter("breakpoint")
    assert [model.rows[0].entry.label] == ["b1"]
    model.set_filter("")
    assert model.rowCount() == 5
    qtmodeltester.check(model)


def test_that_without_a_session_there_is_nothing(model: InterventionModel) -> None:
    model.set_session(None, None)
    assert (model.rowCount(), model.refresh(), model.hidden_count) == (0, 0, 0)


def test_that_nothing_can_be_undone_in_a_recording(
    model: InterventionModel, timeline: Timeline
) -> None:
    model.set_session(timeline, None)
    assert not any(model.rows[row].can_undo for row in range(model.rowCount()))


def test_that_a_breakpoint_with_the_number_of_a_command_is_not_undone(
    model: InterventionModel,
) -> None:
    assert model.rows[2].entry.number == 1
    assert not model.rows[2].can_undo


def test_that_colours_tell_what_was_refused_and_what_can_be_undone(
    model: InterventionModel,
) -> None:
    theme = Theme("light")
    refused, link = theme.color(ColorRole.RED), theme.color(ColorRole.BLUE)

    assert model.index(1, InterventionColumn.RESULT).data(FOREGROUND) == refused
    assert model.index(0, InterventionColumn.UNDO).data(FOREGROUND) == link
    assert model.index(0, InterventionColumn.RESULT).data(FOREGROUND) is None


def test_that_a_row_leads_to_its_clock_or_else_its_frame(model: InterventionModel) -> None:
    assert selection_of(model.rows[0].entry) == Selection.clock(2)
    assert selection_of(model.rows[1].entry) == Selection.frame(120)
    assert selection_of(model.rows[2].entry) == Selection.frame(180)
    assert selection_of(structs.replace(model.rows[2].entry, clock_id=2)) == Selection.frame(180)


def test_that_a_row_is_copied_without_the_undo_button(model: InterventionModel) -> None:
    assert model.row_text(0) == ("1\t0:01.000\t00:00.500 game\t15:04:05.678\tpause game\tyou\tdone")


@pytest.mark.parametrize("host_ms", [0, 10**18])
def test_that_a_host_time_that_is_not_known_is_empty(host_ms: int) -> None:
    assert host_time_text(host_ms) == ""
