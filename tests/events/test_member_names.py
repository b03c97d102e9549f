"""The names of members, learnt from events."""

from __future__ import annotations

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
