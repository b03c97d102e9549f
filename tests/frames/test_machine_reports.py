"""What a state machine says of itself while its clock's tree is recorded."""

from __future__ import annotations

from enum import Enum

import pytest

from inspector.events.sentences import describe
from inspector.frames.scheduler.controls import MachineControl
from inspector.frames.state_machine import ANY, SOUND, Edge, StateMachine
from inspector.vocabulary import EventKind, Field, MemberKind
from tests.frames.recorded import Recorded


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


def door(recorded: Recorded | None) -> StateMachine[str, str]:
    return StateMachine(
        "closed",
        {
            "open": Edge("closed", "open"),
            "close": Edge("open", "closed"),
            "lock": Edge(["closed", "open"], "locked", guard=lambda state: state == "closed"),
            "reset": Edge(ANY, lambda _: "closed"),
        },
        clock=None if recorded is None else recorded.clock,
        name="door",
    )


def test_that_a_machine_shows_its_state_and_one_edge_per_source(recorded: Recorded) -> None:
    machine = door(recorded)
    members = recorded.members

    edges = [member for member in members.by_id.values() if member.kind is MemberKind.EDGE]

    assert recorded.text("door", Field.STATE) == "closed"
    assert recorded.tree.members.find(machine.number) is machine
    assert isinstance(machine, MachineControl)

    def text(number: int, field: Field) -> str:
        return members.field_text(number, field)

    assert [
        (edge.name, text(edge.id, Field.SOURCE), text(edge.id, Field.TARGET)) for edge in edges
    ] == [
        ("open", "closed", "open"),
        ("close", "open", "closed"),
        ("lock", "closed", "locked"),
        ("lock", "open", "locked"),
        ("reset", "*", ""),
    ]


def test_that_states_are_reported_as_they_are_entered(recorded: Recorded) -> None:
    machine = door(recorded)
    seen: list[str] = []
    machine.on_leave["closed"] = lambda *_: seen.append(recorded.text("door", Field.STATE))
    machine.on_enter["open"] = lambda *_: seen.append(recorded.text("door", Field.STATE))

    machine.go("open")
    recorded.tree.run_to(9)
    machine.go("reset")

    history = recorded.members.histories[machine.number]
    strings = recorded.log.strings
    assert seen == ["closed", "open"]
    assert [strings[state] for state in history.state] == ["closed", "open", "closed"]
    assert [strings[transition] for transition in history.transition] == ["", "open", "reset"]
    assert list(history.at_ns) == [0, 0, 9]


def test_that_a_refused_transition_says_why(recorded: Recorded) -> None:
    machine = door(recorded)
    machine.on_before = lambda *_: machine.go("reset")

    machine.go("close")
    machine.go("open")
    machine.go("lock")

    refused = recorded.of_kind(EventKind.TRANSITION_REFUSED)
    assert [describe(event, recorded.log.strings).partition(":")[0] for event in refused] == [
        "machine 1 refused “close”",
        "machine 1 refused “reset”",
        "machine 1 refused “lock”",
    ]
    assert [recorded.log.strings[event[4]].partition(".")[0] for event in refused] == [
        "You can not 'close' now",
        "This is transiting now",
        "A guard does not let you 'lock' now",
    ]


def test_that_a_queued_transition_is_reported_when_it_is_made(recorded: Recorded) -> None:
    machine = StateMachine(
        1, {"next": Edge(ANY, lambda state: state + 1)}, rules=SOUND, clock=recorded.clock
    )
    machine.on_enter[2] = lambda *_: machine.go("next")

    machine.go("next")

    assert machine.state == 3
    assert recorded.text("machine", Field.STATE) == "3"
    assert len(recorded.of_kind(EventKind.STATE_ENTERED)) == 2


def test_that_states_of_any_kind_get_a_text(recorded: Recorded) -> None:
    class Light(Enum):
        RED = 1

    class Rude:
        def __str__(self) -> str:
            message = "no"
            raise ValueError(message)

    StateMachine(Light.RED, {}, clock=recorded.clock, name="light")
    StateMachine(Rude(), {}, clock=recorded.clock, name="rude")

    assert recorded.text("light", Field.STATE) == "RED"
    assert recorded.text("rude", Field.STATE) == "Rude"


def test_that_without_a_clock_nothing_is_reported() -> None:
    machine = door(None)

    assert machine.go("open")
    assert not machine.go("open")
    assert machine.number == 0


def test_that_hooks_are_calls_under_their_machine(recorded: Recorded) -> None:
    machine = door(recorded)
    machine.on_before = machine.on_after = lambda _old, _new: None
    machine.on_enter["open"] = lambda _old, _new: None
    machine.on_leave["closed"] = lambda _old, _new: None
    machine.on_error = lambda _code, _text: None

    machine.go("open")
    machine.go("open")
    machine.go("lock")
    machine.go("close")
    machine.go("open")

    hooks = [each for each in recorded.members.by_id.values() if each.kind is MemberKind.HOOK]
    assert {each.parent_id for each in hooks} == {machine.number}
    assert {each.name: each.calls for each in hooks} == {
        "on_before": 3,
        "on_leave closed": 2,
        "on_enter open": 2,
        "on_after": 3,
        "on_error": 2,
        "guard of lock": 1,
    }


def test_that_a_hook_that_raises_is_a_call_all_the_same(recorded: Recorded) -> None:
    machine = door(recorded)

    def fail(_old: str, _new: str) -> None:
        raise ZeroDivisionError

    machine.on_before = fail
    with pytest.raises(ZeroDivisionError):
        machine.go("open")

    assert recorded.called("on_before").calls == 1


def test_that_a_reset_is_in_the_history(recorded: Recorded) -> None:
    machine = door(recorded)
    machine.go("open")

    machine.reset()

    history = recorded.members.histories[machine.number]
    strings = recorded.log.strings
    assert [strings[each] for each in history.state] == ["closed", "open", "closed"]
    assert strings[history.transition[-1]] == "(reset)"
    assert recorded.text("door", Field.STATE) == "closed"
