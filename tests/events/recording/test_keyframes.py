"""States in keyframes are refused where their parts do not fit together."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from inspector.events.blocks.packed_columns import Block
from inspector.events.recording import keyframes
from inspector.events.recording.keyframes import Grown, Growth, _Member, timeline_from
from inspector.events.recording.layout import TIMER_COLUMNS
from inspector.events.recording.reading.soundness import Soundness
from inspector.events.tasks import TaskState
from inspector.events.timeline import Timeline
from inspector.events.timer_table import UNKNOWN
from inspector.timebase import MAX_NS
from inspector.vocabulary import (
    CLOCK_ADDED,
    COMMAND,
    LOOP_ASKED,
    LOOP_FOUND,
    MARK,
    MEMBER_ADDED,
    MEMBER_ORIGIN,
    MEMBER_SET,
    STATE_ENTERED,
    TASK_ADDED,
    TASKS_TOLD,
    TIMER_ADDED,
    TIMER_ARMED,
    Field,
    LoopKind,
    MemberKind,
    RawEvent,
    Share,
)
from tests.events.recording.recorded_worlds import described

TEXTS = ["", "one", "two", "three"]
EVENTS: list[RawEvent] = [
    (0, CLOCK_ADDED, 1, 0, 1),
    (0, CLOCK_ADDED, 2, 1, 2),
    (1, LOOP_FOUND, 1, 1, LoopKind.WAITS_FOR_EVENTS),
    (1, LOOP_FOUND, 2, 2, LoopKind.DRAWS_FRAMES),
    (1, LOOP_ASKED, 2, 77, 0),
    (2, MEMBER_ADDED, 1, 0, 1),
    (2, MEMBER_ORIGIN, 1, 1, MemberKind.MACHINE),
    (2, MEMBER_ADDED, 2, 1, 2),
    (3, MEMBER_SET, 1, Field.TIME, 9),
    (3, STATE_ENTERED, 1, 1, 2),
    (4, TASK_ADDED, 3, 1, 1),
    (4, TASKS_TOLD, 1, 1, 1),
    (5, MARK, 0, 1, 0),
    (6, COMMAND, 8, 1, 0),
    (7, TIMER_ADDED, 4, 1, 1),
    (7, TIMER_ARMED, 4, 50, 5),
    (7, TIMER_ADDED, 5, 2, 2),
]


class Kept:
    """A keyframe, to be changed and read back."""

    def __init__(self) -> None:
        self.timeline = Timeline(TEXTS)
        self.timeline.apply_all(EVENTS)
        self.state: dict[str, Any] = json.loads(keyframes.state_text(self.timeline, 0, {}))
        self.news: dict[str, Any] = json.loads(keyframes.news_text(self.timeline, Grown()))
        self.timers: Block = keyframes.timer_block(self.timeline)
        self.growth = Growth(Soundness(len(TEXTS), lambda: 0), lambda number: f"form {number}")

    def read(self) -> Timeline:
        self.growth.add(5, json.dumps(self.news))
        return timeline_from(TEXTS, 5, json.dumps(self.state), self.timers, self.growth)[0]

    def column(self, name: str) -> Any:  # noqa: ANN401 - a view
        return self.timers[TIMER_COLUMNS.index(name)]


def test_that_a_state_is_read_back_from_its_text() -> None:
    kept = Kept()

    found = kept.read()

    assert described(found) == described(kept.timeline)
    assert {number: loop.asked_ns for number, loop in found.loops.items()} == {1: 0, 2: 77}
    assert found.newest_ns == found.at_ns == 7
    # When timers are due in the session is computed when it is needed.
    assert set(Kept().read().timers.session_due) == {UNKNOWN}


@pytest.mark.parametrize("what", ["clock", "member"])
@pytest.mark.parametrize(
    ("children", "parents"),
    [
        ({1: []}, {}),  # A child that is not told by what is above it
        ({1: [2, 2]}, {}),
        ({1: [2, 9]}, {}),
        ({2: [1]}, {}),
        ({}, {2: 9}),
        ({}, {1: 2}),
        ({1: [2], 2: [1]}, {1: 2}),  # Each above the other
    ],
)
def test_that_trees_whose_parts_do_not_agree_are_refused(
    what: str, children: dict[int, list[int]], parents: dict[int, int]
) -> None:
    kept = Kept()
    above, below = {"clock": (2, 7), "member": (2, 6)}[what]
    for each in kept.state[f"{what}s"]:
        assert (each[above], each[below]) == ((0, [2]) if each[0] == 1 else (1, []))
        each[below] = children.get(each[0], each[below])
        each[above] = parents.get(each[0], each[above])

    with pytest.raises(ValueError, match=rf"the tree of {what}s|is not a child of {what}"):
        kept.read()


def test_that_a_tree_that_says_all_twice_is_refused_in_a_short_time() -> None:
    twice = {n: SimpleNamespace(parent_id=n - 1, children=[n + 1] * 2) for n in range(1, 60)}
    twice[60] = SimpleNamespace(parent_id=59, children=[])

    with pytest.raises(ValueError, match="the tree of clocks is inconsistent"):
        keyframes._check_tree("clock", cast("Any", twice))


@pytest.mark.parametrize(
    ("name", "place", "value", "said"),
    [
        ("members", _Member.__struct_fields__.index("kind"), 99, "99 is not a valid MemberKind"),
        ("members", _Member.__struct_fields__.index("fields"), [[Field.RATE, -1]], "cannot be -1"),
        ("tasks", TaskState.__struct_fields__.index("wait"), 99, "99 is not a valid TaskWait"),
    ],
)
def test_that_members_and_tasks_of_values_that_there_are_not_are_refused(
    name: str, place: int, value: object, said: str
) -> None:
    kept = Kept()
    kept.state[name][0][place] = value

    with pytest.raises(ValueError, match=said):
        kept.read()


@pytest.mark.parametrize("numbers", [-1, 1, -len(Share) - 1, -len(Share) + 1])
def test_that_an_open_frame_has_all_of_its_numbers_or_no_shares(numbers: int) -> None:
    kept = Kept()
    frame = kept.state["frame"]
    whole = len(frame)
    kept.state["frame"] = [9] * (whole - len(Share))
    assert kept.read().open_frame == [9] * (whole - len(Share)) + [0] * len(Share)

    kept = Kept()
    kept.state["frame"] = [9] * (whole + numbers)

    said = f"a frame that has not ended is {whole} numbers, not {whole + numbers}"
    with pytest.raises(ValueError, match=said):
        kept.read()


def test_that_a_root_that_is_no_clock_is_refused() -> None:
    kept = Kept()
    kept.state["root_id"] = 3

    with pytest.raises(ValueError, match="no root clock 3"):
        kept.read()
    kept = Kept()
    kept.state["root_id"] = None
    assert kept.read().root_id is None


@pytest.mark.parametrize("shorter", [1, 2, 3])
def test_that_a_history_of_a_machine_with_a_short_column_is_refused(shorter: int) -> None:
    kept = Kept()
    assert kept.news["histories"] == [[1, [3], [1], [2]]]
    kept.news["histories"][0][shorter] = []

    with pytest.raises(ValueError, match="the history of machine 1 is incomplete"):
        kept.read()


def test_that_texts_that_are_not_there_are_replaced_in_states_and_timers() -> None:
    kept = Kept()
    kept.news["histories"] = [[1, [3], [4], [-1]]]
    kept.column("label")[:] = 4, -1
    kept.column("site")[:] = 99, 3
    kept.growth.sound.unknown_text = lambda: 1

    found = kept.read()

    history = found.members.histories[1]
    assert [list(column) for column in history.columns] == [[3], [1], [1]]
    assert [found.timers.row(each).label for each in (4, 5)] == ["one", "one"]
    assert [found.timers.row(each).call_site for each in (4, 5)] == ["one", "three"]


@pytest.mark.parametrize(("name", "values"), [("id", (4, 4)), ("clock", (1, 3))])
def test_that_a_timer_that_is_there_twice_or_on_no_clock_is_refused(
    name: str, values: tuple[int, int]
) -> None:
    kept = Kept()
    kept.column(name)[:] = values

    with pytest.raises(ValueError, match="a timer is duplicated or on an unknown clock"):
        kept.read()


def test_that_commands_of_older_versions_have_their_forms_from_their_events() -> None:
    kept = Kept()
    assert kept.news["commands"][0][-1] == ""
    del kept.news["commands"][0][-1]

    assert [command.form for command in kept.read().commands] == ["form 8"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("at_ns", -1), ("at_ns", MAX_NS + 1), ("frames", -1), ("last_order", MAX_NS + 1)],
)
def test_that_numbers_beyond_reach_are_refused(name: str, value: int) -> None:
    kept = Kept()
    kept.state[name] = MAX_NS if value > 0 else 0
    kept.read()
    kept = Kept()
    kept.state[name] = value

    with pytest.raises(ValueError, match="Expected `int`"):
        kept.read()


def test_that_members_on_a_clock_are_those_that_are_there() -> None:
    kept = Kept()
    kept.state["of_clock"] = [[1, [1, 7, 2]]]

    assert kept.read().members.of_clock == {1: [1, 2]}


def test_that_only_what_was_added_since_is_news() -> None:
    kept, grown = Kept(), Grown()
    keyframes.news_text(kept.timeline, grown)
    kept.timeline.apply_all([(8, MARK, 0, 2, 0), (8, STATE_ENTERED, 1, 2, 1)])

    news = json.loads(keyframes.news_text(kept.timeline, grown))
    nothing = json.loads(keyframes.news_text(kept.timeline, grown))

    assert news["marks"] == [[8, "two", 0]]
    assert (news["commands"], news["histories"]) == ([], [[1, [8], [2], [1]]])
    assert (nothing["marks"], nothing["histories"]) == ([], [[1, [], [], []]])


def test_that_a_state_without_timers_has_none() -> None:
    kept = Kept()
    kept.timers = np.empty((len(TIMER_COLUMNS), 0), np.int64)

    found = kept.read()

    assert (len(found.timers), {clock.pending for clock in found.clocks.values()}) == (0, {0})
