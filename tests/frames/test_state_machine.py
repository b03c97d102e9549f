"""What a state machine offers beyond the original, and that it is off by default."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from inspector.frames.state_machine import (
    ANY,
    SOUND,
    Edge,
    EndlessTransitionsError,
    MachineRules,
    StateMachine,
    TransitionError,
)

Name = Literal["open", "close", "lock"]


def _door(rules: MachineRules | None = None) -> StateMachine[str, Name]:
    transitions: dict[Name, Edge[str] | list[Edge[str]]] = {
        "open": Edge("closed", "open"),
        "close": Edge("open", "closed"),
        "lock": [Edge("closed", "locked"), Edge(ANY, lambda state: state)],
    }
    if rules is None:
        return StateMachine("closed", transitions)
    return StateMachine("closed", transitions, rules=rules)


def test_that_a_guard_can_refuse_and_says_so() -> None:
    errors: list[tuple[TransitionError, str]] = []
    machine: StateMachine[str, str] = StateMachine(
        "a", {"x": Edge("a", "b", guard=lambda _state: False)}
    )
    machine.on_error = lambda code, text: errors.append((code, text))

    assert not machine.go("x")

    assert machine.state == "a"
    assert machine.can("x")
    assert errors[0][0] is TransitionError.REFUSED


def test_that_hooks_of_states_are_called_in_order() -> None:
    machine = _door()
    told: list[str] = []
    machine.on_before = lambda _old, _new: told.append("before")
    machine.on_leave["closed"] = lambda _old, _new: told.append("leave closed")
    machine.on_enter["open"] = lambda _old, _new: told.append(f"enter {machine.state}")
    machine.on_after = lambda _old, _new: told.append("after")

    assert machine.go("open")
    assert machine.go("close")

    assert told == ["before", "leave closed", "enter open", "after", "before", "after"]


def test_that_a_transition_inside_a_callback_waits_if_asked_to() -> None:
    machine = _door(SOUND)
    states: list[str] = []

    def after(_old: str, new: str) -> None:
        states.append(new)
        if new == "open":
            machine.go("close")
            assert machine.state == "open"

    machine.on_after = after
    machine.go("open")

    assert states == ["open", "closed"]


def test_that_a_transition_inside_a_callback_is_an_error_in_the_original() -> None:
    machine = _door()
    errors: list[TransitionError] = []
    machine.on_error = lambda code, _text: errors.append(code)
    machine.on_after = lambda _old, _new: machine.go("close")

    machine.go("open")

    assert machine.state == "open"
    assert errors == [TransitionError.IS_TRANSITING]


@pytest.mark.parametrize(("rules", "state"), [(None, "closed"), (SOUND, "open")])
def test_that_only_a_sound_machine_goes_on_after_an_exception(
    rules: MachineRules | None, state: str
) -> None:
    machine = _door(rules)

    def fail(_old: str, _new: str) -> None:
        raise ZeroDivisionError

    machine.on_before = fail
    with pytest.raises(ZeroDivisionError):
        machine.go("open")
    machine.on_before = None
    machine.go("open")

    assert machine.state == state


def test_that_transitions_that_always_ask_for_the_next_one_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("inspector.frames.state_machine.MOST_IN_A_ROW", 100)
    machine = StateMachine("off", {"turn": Edge(["off", "on"], "on")}, rules=SOUND)
    entered = []

    def again(_old: str, new: str) -> None:
        entered.append(new)
        machine.go("turn")

    machine.on_enter["on"] = again
    with pytest.raises(EndlessTransitionsError, match=r"more than 100 transitions.*'turn'"):
        machine.go("turn")

    assert len(entered) == 101
    machine.on_enter.clear()
    assert machine.go("turn")


def test_that_an_unknown_name_is_named_with_those_there_are() -> None:
    with pytest.raises(KeyError, match="open, close, lock"):
        _door().go("explode")  # type: ignore[arg-type]


def test_that_it_shows_what_can_be_done() -> None:
    machine = _door()

    assert repr(machine) == "<StateMachine in 'closed', can open, lock>"
    assert machine.edges("open") == (Edge("closed", "open"),)


def test_that_transitions_are_functions_of_their_names_too() -> None:
    machine = _door()

    assert machine.transitions.open()
    assert machine.state == "open"
    assert not machine.transitions["open"]()
    assert dir(machine.transitions) == ["close", "lock", "open"]
    with pytest.raises(AttributeError, match="no transition 'shut'; there are open, close, lock"):
        machine.transitions.shut()
    with pytest.raises(KeyError, match="no transition 'shut'"):
        machine.transitions["shut"]


def test_that_a_reset_machine_is_where_it_began_and_no_hook_is_called() -> None:
    machine = _door()
    machine.go("open")
    told: list[str] = []
    machine.on_before = machine.on_after = lambda _old, _new: told.append("hook")

    assert machine.reset()

    assert machine.state == "closed"
    assert told == []
    assert machine.go("open")


def test_that_a_reset_unlocks_a_machine_after_an_exception() -> None:
    machine = _door()

    def fail(_old: str, _new: str) -> None:
        raise ZeroDivisionError

    machine.on_after = fail
    with pytest.raises(ZeroDivisionError):
        machine.go("open")
    machine.on_after = None
    assert not machine.go("close")

    assert machine.reset()

    assert machine.go("open")


def test_that_a_machine_is_not_reset_within_a_hook() -> None:
    machine = _door()
    answers: list[bool] = []
    errors: list[TransitionError] = []
    machine.on_error = lambda code, _text: errors.append(code)
    machine.on_before = lambda _old, _new: answers.append(machine.reset())

    assert machine.go("open")

    assert answers == [False]
    assert errors == [TransitionError.IS_TRANSITING]
    assert machine.state == "open"


@pytest.mark.parametrize(
    ("edges", "sentence"),
    [
        (
            ("closed", "open"),
            r"transition 'open' has \(.*\) for an edge: write Edge\('closed', 'open'\)",
        ),
        ([("closed", "open")], r"write Edge\('closed', 'open'\)"),
        ((("closed", "open"), ("open", "open")), r"write Edge\('closed', 'open'\)"),
        ("closed", r"transition 'open' has 'closed' for an edge: write Edge\(source, target\)"),
        (5, "transition 'open' has 5 for an edge"),
        ([None], "transition 'open' has None for an edge"),
    ],
)
def test_that_what_is_no_edge_is_refused_with_what_to_write(edges: Any, sentence: str) -> None:  # noqa: ANN401
    with pytest.raises(TypeError, match=sentence):
        StateMachine("closed", {"open": edges})
