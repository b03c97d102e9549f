"""What a timeline knows of schedulers, components and state machines."""

import gc

import pytest

from inspector.clocks.tree import ClockTree
from inspector.trace.log import EventLog
from inspector.trace.timeline import Timeline
from inspector.vocabulary import EventKind, Field, MemberKind, describe


class Thing:
    """A member's owner."""


@pytest.fixture
def log() -> EventLog:
    return EventLog()


@pytest.fixture
def tree(log: EventLog) -> ClockTree:
    return ClockTree(log)


def folded(log: EventLog) -> Timeline:
    timeline = Timeline(log.strings)
    timeline.apply_all(log.read().events)
    return timeline


def test_members_hang_under_their_clock_and_under_one_another(
    tree: ClockTree, log: EventLog
) -> None:
    game = tree.root.child("game")
    scheduler, target = Thing(), Thing()
    above = tree.members.add(scheduler, MemberKind.SCHEDULER, "scheduler", game)
    below = tree.members.add(target, MemberKind.TARGET, "ship", game, above)

    members = folded(log).members

    assert members.of_clock == {game.id: [above]}
    assert members.by_id[above].children == [below]
    assert members.by_id[below].name == "ship"
    assert members.by_id[below].kind is MemberKind.TARGET
    assert [member.id for member in members.path(below)] == [below, above]
    assert members.scheduler_of(below) is members.by_id[above]


def test_without_a_recorder_every_number_is_0_and_nothing_is_kept() -> None:
    tree = ClockTree()
    members = tree.members

    number = members.add(Thing(), MemberKind.MACHINE, "machine", tree.root)
    members.set(number, Field.TIME, 1)
    members.set_text(number, Field.STATE, "idle")
    members.state_entered(number, "busy", "work")
    members.call_ended(number, 0)
    members.remove(number)

    assert number == 0
    assert members.find(number) is None


def test_a_member_that_the_program_has_given_up_is_not_found(tree: ClockTree) -> None:
    thing = Thing()
    number = tree.members.add(thing, MemberKind.MACHINE, "machine", tree.root)
    assert tree.members.find(number) is thing

    del thing
    gc.collect()

    assert tree.members.find(number) is None


def test_a_pause_knows_its_command_and_since_when(tree: ClockTree, log: EventLog) -> None:
    thing, call = Thing(), Thing()
    number = tree.members.add(thing, MemberKind.TARGET, "ship", tree.root)
    below = tree.members.add(call, MemberKind.UPDATE, "update", tree.root, number)
    tree.run_to(5)
    tree.members.cause = 7
    tree.members.set_paused(number, paused=True)

    members = folded(log).members

    assert members.pausing(below) is members.by_id[number]
    assert members.by_id[number].pause_cause == 7
    assert members.by_id[number].paused_since_ns == 5
    tree.members.set_paused(number, paused=False)
    assert folded(log).members.pausing(below) is None


def test_what_goes_takes_everything_below_along(tree: ClockTree, log: EventLog) -> None:
    things = [Thing() for _ in range(3)]
    above = tree.members.add(things[0], MemberKind.SCHEDULER, "scheduler", tree.root)
    below = tree.members.add(things[1], MemberKind.TARGET, "ship", tree.root, above)
    other = tree.members.add(things[2], MemberKind.MACHINE, "machine", tree.root)

    tree.members.remove(above)

    members = folded(log).members
    assert list(members.by_id) == [other]
    assert members.of_clock == {tree.root.id: [other]}
    assert below not in members.by_id


def test_members_go_with_the_branch_of_their_clock(tree: ClockTree, log: EventLog) -> None:
    things = [Thing(), Thing()]
    game = tree.root.child("game")
    enemies = game.child("enemies")
    number = tree.members.add(things[0], MemberKind.SCHEDULER, "scheduler", enemies)
    game.remove()

    tree.members.set(number, Field.TIME, 1)

    assert len(folded(log).members) == 0
    assert tree.members.add(things[1], MemberKind.MACHINE, "late", enemies) == 0


def test_a_machine_has_a_history_of_its_states(tree: ClockTree, log: EventLog) -> None:
    thing = Thing()
    number = tree.members.add(thing, MemberKind.MACHINE, "door", tree.root)
    tree.members.set_text(number, Field.STATE, "closed")
    tree.run_to(9)
    tree.members.state_entered(number, "open", "push")

    timeline = folded(log)
    history = timeline.members.histories[number]

    assert list(history.at_ns) == [0, 9]
    assert [log.strings[state] for state in history.state] == ["closed", "open"]
    assert timeline.members.field_text(number, Field.STATE) == "open"


def test_calls_are_counted(tree: ClockTree, log: EventLog) -> None:
    thing = Thing()
    number = tree.members.add(thing, MemberKind.UPDATE, "update", tree.root)
    log.append((0, EventKind.CALL_ENDED, number, 10, 250))
    log.append((0, EventKind.CALL_ENDED, number, 10, 150))

    member = folded(log).members.by_id[number]

    assert (member.calls, member.took_ns) == (2, 150)


def test_a_copy_lives_by_itself(tree: ClockTree, log: EventLog) -> None:
    thing = Thing()
    number = tree.members.add(thing, MemberKind.TARGET, "ship", tree.root)
    timeline = folded(log)
    twin = timeline.copy()

    twin.apply_all([(1, EventKind.MEMBER_SET, number, Field.PAUSED, 1)])

    assert twin.members.by_id[number].is_paused
    assert not timeline.members.by_id[number].is_paused


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        ((0, EventKind.MEMBER_ADDED, 2, 1, 1), "member 2 “a” added under member 1"),
        ((0, EventKind.MEMBER_ORIGIN, 2, 3, MemberKind.TARGET), "member 2 is a target on clock 3"),
        ((0, EventKind.MEMBER_SET, 2, Field.PAUSED, 5), "member 2: paused by command 4"),
        ((0, EventKind.MEMBER_SET, 2, Field.PAUSED, 0), "member 2: not paused"),
        ((0, EventKind.MEMBER_SET, 2, Field.RULES, 1), "member 2: rules “a”"),
        ((0, EventKind.MEMBER_SET, 2, Field.CALLS_LEFT, -1), "member 2: calls without end"),
        ((0, EventKind.MEMBER_REMOVED, 2, 0, 0), "member 2 removed with everything below it"),
        ((0, EventKind.STATE_ENTERED, 2, 1, 1), "machine 2 entered “a” by “a”"),
    ],
)
def test_events_of_members_read_as_sentences(
    event: tuple[int, int, int, int, int], sentence: str
) -> None:
    assert describe(event, ["", "a"]) == sentence
