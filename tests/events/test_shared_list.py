"""Lists whose copies share what they have in common."""

from __future__ import annotations

import gc

from hypothesis import given
from hypothesis import strategies as st

from inspector.events import Timeline
from inspector.events.states import Mark, SharedList
from inspector.vocabulary import MARK

ACTIONS = st.lists(
    st.tuples(st.sampled_from(["append", "set", "copy"]), st.integers(0, 3), st.integers(0, 2))
)


@given(ACTIONS)
def test_that_copies_are_lists_of_their_own(actions: list[tuple[str, int, int]]) -> None:
    lists: list[SharedList[int]] = [SharedList()]
    models: list[list[int]] = [[]]
    for what, which, value in actions:
        mine, model = lists[which % len(lists)], models[which % len(lists)]
        if what == "append":
            mine.append(value)
            model.append(value)
        elif what == "copy":
            lists.append(mine.copy())
            models.append(model.copy())
        elif model:
            mine[value % len(model)] = 7
            model[value % len(model)] = 7

        for each, expected in zip(lists, models, strict=True):
            assert each == expected
            assert list(each) == expected
            assert len(each) == len(expected)
            assert each[-2:] == expected[-2:]
            assert each[:1] == expected[:1]
            assert each != len(expected)


def test_that_a_list_is_copied_once_to_be_changed_and_only_if_it_is_shared() -> None:
    original: SharedList[int] = SharedList()
    original.append(1)
    held = original._items
    original[0] = 2
    assert original._items is held

    twin, other = original.copy(), original.copy()
    original.append(5)
    other.append(6)
    for each in (twin, other):
        each[0] = 3
        own = each._items
        each[0] = 4
        assert own is each._items is not held
    assert (list(original), list(twin), list(other)) == ([2, 5], [4], [4, 6])


def test_that_states_of_the_past_hold_the_marks_of_a_scene_once() -> None:
    many = 5_000
    live = Timeline(["", "spawn"])
    states = []
    for number in range(many):
        live.apply_all([(number, MARK, 1, 1, 0)])
        if number % 50 == 0:
            states.append(live.copy())
    again = states[0].copy()
    again.apply_all([(number, MARK, 1, 1, 0) for number in range(1, many)])

    gc.collect()
    lists = [each for each in gc.get_objects() if type(each) is list and len(each) >= many]
    held = [each for each in lists if type(each[0]) is Mark]

    assert [len(state.marks) for state in states] == list(range(1, many, 50))
    assert len(held) == 1
    assert len(again.marks) == many
