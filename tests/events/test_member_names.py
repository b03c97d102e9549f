"""The names of members, learnt from events."""

from __future__ import annotations

from random import Random

import pytest

from inspector.events.member_names import KnownMember, MemberNames
from inspector.events.members import MemberState
from inspector.vocabulary import (
    CALL_ENDED,
    MEMBER_ADDED,
    MEMBER_MOVED,
    MEMBER_ORIGIN,
    MEMBER_SET,
    Field,
    MemberKind,
    RawEvent,
)
from tests.fuzz import rounds

STRINGS = ["", "before", "after", "den"]


def names_of(*events: RawEvent) -> MemberNames:
    names = MemberNames(STRINGS)
    for event in events:
        names.note(event)
    return names


def added(number: int, parent: int = 0, name: int = 1) -> RawEvent:
    return (0, MEMBER_ADDED, number, parent, name)


def test_that_a_member_is_known_by_name_place_kind_and_clock() -> None:
    names = names_of(added(5, 3), (0, MEMBER_ORIGIN, 5, 2, MemberKind.NODE))

    assert names.get(5) == KnownMember("before", 3, MemberKind.NODE, 2)


def test_that_what_a_member_is_is_not_guessed() -> None:
    known = names_of(added(5)).get(5)

    assert known is not None
    assert known.kind is None
    assert known.kind_text == "member"


def test_that_a_member_that_is_renamed_goes_by_its_new_name() -> None:
    names = names_of(added(5), (0, MEMBER_SET, 5, Field.NAME, 2))

    assert names.name_of(5) == "after"


def test_that_a_member_that_is_moved_is_below_somebody_else() -> None:
    names = names_of(added(1), added(2), added(5, 1), (0, MEMBER_MOVED, 5, 2, 0))

    assert names.below(1) == []
    assert names.below(2) == [5]
    assert names.get(5) == KnownMember("before", 2)


def test_that_a_branch_is_forgotten_together() -> None:
    names = names_of(added(1), added(2, 1), added(3, 2), added(4))

    assert names.forget(1) == [1, 2, 3]
    assert [number for number in range(6) if names.get(number)] == [4]
    assert len(names) == 1


def test_that_a_moved_member_survives_its_former_parent() -> None:
    names = names_of(added(1), added(2), added(5, 1), (0, MEMBER_MOVED, 5, 2, 0))

    assert names.forget(1) == [1]
    assert names.name_of(5) == "before"


def test_that_who_is_there_is_taken_over_in_any_order() -> None:
    child = MemberState(5, "fox", 7, 0, 2, MemberKind.COMPONENT)
    names = MemberNames(STRINGS, [child, MemberState(7, "den", 0, 0, 2, MemberKind.NODE)])

    assert names.get(5) == KnownMember("fox", 7, MemberKind.COMPONENT, 2)
    assert names.branch(7) == [7, 5]


def test_that_only_what_says_something_new_is_answered_with_the_member() -> None:
    names = names_of(added(5))

    assert names.note((0, CALL_ENDED, 5, 1, 2)) is None
    assert names.note((0, MEMBER_SET, 5, Field.PAUSED, 1)) is None
    assert names.note((0, MEMBER_SET, 9, Field.NAME, 2)) is None
    assert names.note((0, MEMBER_SET, 5, Field.NAME, 2)) is names.get(5)


@pytest.mark.parametrize(("text", "name"), [(0, ""), (3, "den"), (4, "?"), (-1, "?")])
def test_that_a_name_that_a_file_lacks_is_a_question_mark(text: int, name: str) -> None:
    assert names_of(added(5, name=text)).name_of(5) == name


class Tree:
    """Members by number: name and parent, in the order in which they came to their parents."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[str, int]] = {}

    def is_below(self, number: int, above: int) -> bool:
        seen = set()
        while number and number != above and number not in seen:
            seen.add(number)
            number = self.known.get(number, ("", 0))[1]
        return number == above

    def put(self, number: int, name: str, parent: int) -> bool:
        if self.is_below(parent, number):
            return False
        self.known.pop(number, None)
        self.known[number] = name, parent
        return True

    def below(self, number: int) -> list[int]:
        return [each for each, (_, parent) in self.known.items() if number and parent == number]

    def branch(self, number: int) -> list[int]:
        found = [number]
        for each in found:
            found += self.below(each)
        return found


def test_that_names_hang_under_one_another_as_in_a_plain_tree() -> None:
    for seed in rounds(40):
        random, names, tree = Random(seed), MemberNames(STRINGS), Tree()
        for _ in range(40):
            number, parent, name = random.randint(1, 5), random.randint(0, 6), random.randint(1, 3)
            known = tree.known.get(number)
            match random.choice(("add", "learn", "move", "move", "rename", "forget")):
                case "add":
                    is_done = tree.put(number, STRINGS[name], parent)
                    assert (names.add(number, parent, name) is not None) == is_done
                case "learn":
                    # The state may be ahead of the events.
                    above = 0 if tree.is_below(parent, number) else parent
                    assert tree.put(number, STRINGS[name], above)
                    names.learn(MemberState(number, STRINGS[name], parent, 0))
                case "move":
                    is_done = known is not None and tree.put(number, known[0], parent)
                    assert (names.move(number, parent) is not None) == is_done
                case "rename":
                    if known is not None:
                        tree.known[number] = STRINGS[name], known[1]
                    assert (names.rename(number, name) is not None) == (known is not None)
                case _:
                    gone = tree.branch(number)
                    assert names.forget(number) == gone
                    for each in gone:
                        tree.known.pop(each, None)
            assert {
                each: (names.name_of(each), names._known[each].parent_id) for each in names
            } == tree.known
            assert len(names) == len(tree.known)
            assert [names.branch(each) for each in range(7)] == [
                tree.branch(each) for each in range(7)
            ]
            assert [names.below(each) for each in range(7)] == [
                tree.below(each) for each in range(7)
            ]
        for number in range(7):
            names.forget(number)
        assert not names._known
        assert not names._below
