"""What a timeline knows of schedulers, components and state machines."""

import gc
import weakref

import pytest

from inspector.clocks.clock import Clock
from inspector.clocks.tree import ClockTree
from inspector.events.log import EventLog
from inspector.events.members import MemberState
from inspector.events.sentences import describe
from inspector.events.timeline import Timeline
from inspector.vocabulary import (
    NEVER,
    RATE_DENOMINATOR,
    EventKind,
    Field,
    MemberKind,
    RawEvent,
)


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


def test_what_can_be_found_does_not_hang_on_the_garbage_collector(tree: ClockTree) -> None:
    number = tree.members.add(Thing(), MemberKind.MACHINE, "machine", tree.root)

    gc.collect()

    assert isinstance(tree.members.find(number), Thing)
    tree.members.remove(number)
    assert tree.members.find(number) is None


def test_what_is_gone_is_held_no_longer_with_everything_below(tree: ClockTree) -> None:
    level = tree.root.child("level")
    members = tree.members

    def made(clock: Clock, parent: int = 0) -> tuple[int, weakref.ref[Thing]]:
        thing = Thing()
        return members.add(thing, MemberKind.TARGET, "thing", clock, parent), weakref.ref(thing)

    above, first = made(tree.root)
    below, second = made(tree.root, above)
    moved, third = made(tree.root, above)
    by_clock, fourth = made(level)
    members.move(moved, by_clock)

    members.remove(above)
    assert (first(), second()) == (None, None)
    assert third() is not None
    assert members.find(below) is None
    level.remove()
    assert (third(), fourth()) == (None, None)


def test_a_member_that_takes_the_place_of_another_is_not_taken_for_it(tree: ClockTree) -> None:
    members, thing = tree.members, Thing()
    number = members.add(Thing(), MemberKind.COMPONENT, "first", tree.root)
    members.introduce(thing, number)
    assert members.number_of(thing) == number

    members.remove(number)
    assert members.number_of(thing) == 0
    again = members.add(Thing(), MemberKind.COMPONENT, "again", tree.root)
    members.introduce(thing, again)

    assert members.number_of(thing) == again


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


def test_that_a_pause_is_as_old_as_its_beginning_whoever_pauses_again(
    tree: ClockTree, log: EventLog
) -> None:
    number = tree.members.add(Thing(), MemberKind.TARGET, "ship", tree.root)
    since = []
    for at_ns, paused in ((5, 1), (7, 3), (8, 0), (9, 4), (11, 1)):
        log.append((at_ns, EventKind.MEMBER_SET, number, Field.PAUSED, paused))
        since.append(folded(log).members.by_id[number].paused_since_ns)

    assert since == [5, 5, 5, 9, 9]


def test_that_what_is_told_of_members_that_are_gone_changes_nothing(
    tree: ClockTree, log: EventLog
) -> None:
    number = tree.members.add(Thing(), MemberKind.TARGET, "ship", tree.root)
    before = folded(log).members.by_id
    for event in (
        (1, EventKind.MEMBER_SET, 99, Field.PAUSED, 1),
        (1, EventKind.CALL_ENDED, 99, 0, 1),
        (1, EventKind.STATE_ENTERED, 99, 1, 1),
        (1, EventKind.MEMBER_MOVED, 99, number, 0),
        (1, EventKind.MEMBER_MOVED, number, 99, 0),
        (1, EventKind.MEMBER_REMOVED, 99, 0, 0),
    ):
        log.append(event)

    timeline = folded(log)

    assert timeline.members.by_id == before
    assert timeline.members.histories == {}
    with pytest.raises(ValueError, match=f"member {number} cannot be moved under member {number}"):
        timeline.apply_all([(2, EventKind.MEMBER_MOVED, number, number, 0)])


def test_that_the_times_of_states_and_of_a_scheduler_are_kept(
    tree: ClockTree, log: EventLog
) -> None:
    number = tree.members.add(Thing(), MemberKind.TICKER, "ticker", tree.root)
    text = log.intern("open")
    log.append((3, EventKind.MEMBER_SET, number, Field.STATE, text))
    log.append((4, EventKind.MEMBER_SET, number, Field.TIME, 77))
    log.append((5, EventKind.STATE_ENTERED, number, text, 1))

    members = folded(log).members

    assert members.by_id[number].timed_ns == 4
    history = members.histories[number]
    assert [list(each) for each in history.columns] == [[3, 5], [text, text], [0, 1]]
    assert [list(each) for each in history.until(1).columns] == [[3], [text], [0]]


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


def test_a_member_moves_with_everything_below_it(tree: ClockTree, log: EventLog) -> None:
    things = [Thing() for _ in range(4)]
    one = tree.members.add(things[0], MemberKind.NODE, "one", tree.root)
    other = tree.members.add(things[1], MemberKind.NODE, "other", tree.root)
    fox = tree.members.add(things[2], MemberKind.NODE, "fox", tree.root, one)
    walks = tree.members.add(things[3], MemberKind.COMPONENT, "walks", tree.root, fox)

    tree.members.move(fox, other)
    tree.members.move(one, other)

    members = folded(log).members
    assert [member.id for member in members.path(walks)] == [walks, fox, other]
    assert members.by_id[other].children == [fox, one]
    assert members.by_id[one].children == []
    assert members.of_clock == {tree.root.id: [other]}


def test_what_comes_under_a_member_that_is_gone_hangs_under_the_clock(
    tree: ClockTree, log: EventLog
) -> None:
    things = [Thing(), Thing()]
    gone = tree.members.add(things[0], MemberKind.NODE, "gone", tree.root)
    tree.members.remove(gone)

    late = tree.members.add(things[1], MemberKind.NODE, "late", tree.root, gone)

    members = folded(log).members
    assert members.of_clock == {tree.root.id: [late]}
    assert [member.id for member in members.path(late)] == [late]


def test_that_a_member_that_is_said_to_be_of_another_clock_is_of_that_one_only(
    tree: ClockTree, log: EventLog
) -> None:
    game, menu = tree.root.child("game"), tree.root.child("menu")
    number = tree.members.add(Thing(), MemberKind.SCHEDULER, "scheduler", game)
    log.append((0, EventKind.MEMBER_ORIGIN, number, menu.id, MemberKind.TICKER))

    members = folded(log).members

    assert {clock: ids for clock, ids in members.of_clock.items() if ids} == {menu.id: [number]}
    assert (members.by_id[number].clock_id, members.by_id[number].kind) == (
        menu.id,
        MemberKind.TICKER,
    )


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


def test_that_nothing_is_kept_of_members_that_are_gone(tree: ClockTree) -> None:
    things, members = [Thing(), Thing()], tree.members
    above = members.add(things[0], MemberKind.TARGET, "ship", tree.root)
    below = members.add(things[1], MemberKind.TARGET, "gun", tree.root, above)

    members.remove(below)
    members.remove(above)

    assert not members._places
    assert not any(members._of_clock.values())
    assert not any(members._below.values())


@pytest.mark.parametrize(
    "events",
    [
        [(1, EventKind.MEMBER_SET, 2, Field.NAME, 1)],
        [(1, EventKind.MEMBER_SET, 2, Field.PRIORITY, 1)],
        [(1, EventKind.MEMBER_MOVED, 2, 1, 0)],
        [(1, EventKind.MEMBER_REMOVED, 2, 0, 0)],
        [(1, EventKind.CLOCK_REMOVED, 2, 0, 0)],
        [(1, EventKind.MEMBER_ADDED, 3, 1, 1), (1, EventKind.MEMBER_ORIGIN, 3, 2, 1)],
    ],
)
def test_that_members_that_come_go_move_or_are_renamed_or_reordered_are_another_structure(
    tree: ClockTree, log: EventLog, events: list[RawEvent]
) -> None:
    game, things = tree.root.child("game"), [Thing(), Thing()]
    for thing in things:
        tree.members.add(thing, MemberKind.TARGET, "ship", game)
    timeline = folded(log)
    before = timeline.members.structure_version

    timeline.apply_all(events)

    assert timeline.members.structure_version != before


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        ((0, EventKind.MEMBER_ADDED, 2, 1, 1), "member 2 “a” added under member 1"),
        ((0, EventKind.MEMBER_ORIGIN, 2, 3, MemberKind.TARGET), "member 2 is a target on clock 3"),
        ((0, EventKind.MEMBER_SET, 2, Field.PAUSED, 5), "member 2: paused by command 4"),
        ((0, EventKind.MEMBER_SET, 2, Field.PAUSED, 2), "member 2: paused by command 1"),
        ((0, EventKind.MEMBER_SET, 2, Field.PAUSED, 1), "member 2: paused"),
        ((0, EventKind.MEMBER_SET, 2, Field.PAUSED, 0), "member 2: not paused"),
        ((0, EventKind.MEMBER_SET, 2, Field.RULES, 1), "member 2: follows the rules of “a”"),
        ((0, EventKind.MEMBER_SET, 2, Field.CALLS_LEFT, -1), "member 2: no call limit"),
        ((0, EventKind.MEMBER_SET, 2, Field.NAME, 1), "member 2: name “a”"),
        ((0, EventKind.MEMBER_SET, 2, Field.DUE, NEVER), "member 2: never due"),
        ((0, EventKind.MEMBER_SET, 2, Field.DUE, 1_500_000_000), "member 2: due 00:01.500"),
        ((0, EventKind.MEMBER_SET, 2, Field.TIME, 0), "member 2: time 00:00.000"),
        (
            (0, EventKind.MEMBER_SET, 2, Field.REMAINING, 5_000_000),
            "member 2: 5.00 ms remaining",
        ),
        ((0, EventKind.MEMBER_SET, 2, Field.INTERVAL, 0), "member 2: every frame"),
        ((0, EventKind.MEMBER_SET, 2, Field.LIFE, 4), "member 2: destroying"),
        ((0, EventKind.MEMBER_SET, 2, Field.PHASE, 4), "member 2: called in late update"),
        ((0, EventKind.MEMBER_SET, 2, Field.PRIORITY, -3), "member 2: priority -3"),
        ((0, EventKind.MEMBER_SET, 2, Field.RATE, 360_360_000), "member 2: time scale 0.5"),
        ((0, EventKind.MEMBER_SET, 2, Field.MISSED, 7), "member 2: missed 7"),
        ((0, EventKind.MEMBER_MOVED, 2, 5, 0), "member 2 moved under member 5"),
        ((0, EventKind.MEMBER_REMOVED, 2, 0, 0), "member 2 removed with everything below it"),
        ((0, EventKind.STATE_ENTERED, 2, 1, 1), "machine 2 entered “a” by “a”"),
    ],
)
def test_events_of_members_read_as_sentences(
    event: tuple[int, int, int, int, int], sentence: str
) -> None:
    assert describe(event, ["", "a"]) == sentence


def test_that_updates_are_called_by_priority_and_then_in_their_turn(
    tree: ClockTree, log: EventLog
) -> None:
    things = [Thing() for _ in range(7)]
    scheduler = tree.members.add(things[0], MemberKind.SCHEDULER, "scheduler", tree.root)
    targets = [
        tree.members.add(each, MemberKind.TARGET, "", tree.root, scheduler) for each in things[1:3]
    ]
    numbers = [
        tree.members.add(thing, MemberKind.UPDATE, "update", tree.root, targets[place % 2])
        for place, thing in enumerate(things[3:])
    ]
    # One keeps the priority 0 that was never said.
    for number, priority in ((numbers[3], 0), (numbers[0], 0), (numbers[1], -1)):
        tree.members.set(number, Field.PRIORITY, priority)

    members = folded(log).members

    assert [each.id for each in members.updates_of(scheduler)] == [
        *(numbers[1], numbers[2], numbers[3], numbers[0])
    ]
    assert [each.id for each in members.branch(targets[0])] == [targets[0], numbers[0], numbers[2]]


@pytest.mark.parametrize(
    ("fields", "rate_n", "is_paused", "cause", "waits"),
    [
        ({}, RATE_DENOMINATOR, False, 0, True),
        ({Field.RATE: 5, Field.PAUSED: 0, Field.INTERVAL: 0}, 5, False, 0, False),
        ({Field.PAUSED: 1, Field.INTERVAL: 7}, RATE_DENOMINATOR, True, 0, True),
        ({Field.PAUSED: 4}, RATE_DENOMINATOR, True, 3, True),
    ],
)
def test_that_a_member_is_what_its_fields_say(
    fields: dict[int, int], rate_n: int, is_paused: bool, cause: int, waits: bool
) -> None:
    member = MemberState(3, "paint", 0, 0, kind=MemberKind.FRAME_CALLBACK, fields=fields)

    assert (member.rate_n, member.is_paused, member.pause_cause) == (rate_n, is_paused, cause)
    assert member.waits_for_clock is waits
    member.kind = MemberKind.UPDATE
    assert member.waits_for_clock


def test_that_what_is_not_known_has_no_text(tree: ClockTree, log: EventLog) -> None:
    number = tree.members.add(Thing(), MemberKind.MACHINE, "machine", tree.root)

    members = folded(log).members

    assert members.field_text(number, Field.STATE) == members.field_text(99, Field.STATE) == ""
    assert members.under_clock(99) == []


def test_that_what_runs_a_scheduler_is_no_second_member_under_its_clock(
    tree: ClockTree, log: EventLog
) -> None:
    game = tree.root.child("game")
    things = [Thing() for _ in range(4)]
    kinds = (
        (MemberKind.SCHEDULER, "ours"),
        (MemberKind.FRAME_CALLBACK, "ours"),
        (MemberKind.FRAME_CALLBACK, "draw"),
        (MemberKind.MACHINE, "draw"),
    )
    numbers = [
        tree.members.add(thing, kind, name, game)
        for thing, (kind, name) in zip(things, kinds, strict=True)
    ]

    members = folded(log).members

    assert members.under_clock(game.id) == [numbers[0], numbers[2], numbers[3]]
    assert members.run_by(numbers[1]) is members.by_id[numbers[0]]
    assert members.run_by(numbers[2]) is None
