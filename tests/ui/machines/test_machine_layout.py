"""Where states are drawn: apart from one another, always alike, in an order with short lines."""

from __future__ import annotations

import math
import random

import pytest

from inspector.analysis.lanes.states import ANY
from ui.machines.machine_diagram import order_of, places_of
from ui.plotting.machines import Arrow, MachineShape

BOX = (90.0, 30.0)


def ring(count: int) -> MachineShape:
    """Return states that each lead to the next, in a mixed order."""
    names = [f"state {number}" for number in range(count)]
    arrows = [
        Arrow(names[number], names[(number + 1) % count], (f"go {number}",))
        for number in range(count)
    ]
    random.Random(3).shuffle(names)
    return MachineShape(tuple(names), tuple(arrows), names[0])


@pytest.mark.parametrize("count", range(2, 21))
def test_that_no_two_states_overlap(count: int) -> None:
    places = list(places_of(order_of(ring(count)), (560.0, 420.0), BOX).values())
    for number, a in enumerate(places):
        for b in places[number + 1 :]:
            assert abs(a[0] - b[0]) >= BOX[0] * 0.9 or abs(a[1] - b[1]) >= BOX[1] * 0.9


def test_that_the_same_machine_always_looks_the_same() -> None:
    assert order_of(ring(12)) == order_of(ring(12))


def test_that_states_of_a_ring_come_next_to_those_they_lead_to() -> None:
    order = order_of(ring(8))
    numbers = [int(name.split()[1]) for name in order]
    steps = {(b - a) % 8 for a, b in zip(numbers, [*numbers[1:], numbers[0]], strict=True)}
    assert steps in ({1}, {7})


def test_that_states_stay_within_their_space() -> None:
    for x, y in places_of(order_of(ring(17)), (400.0, 200.0), BOX).values():
        assert abs(x) <= 200.001
        assert abs(y) <= 100.001
        assert not math.isnan(x)


def test_that_a_transition_from_any_state_does_not_count_as_a_line() -> None:
    shape = MachineShape(("a", "b"), (Arrow(ANY, "a", ("reset",)),), "b")
    assert order_of(shape) == ("a", "b")
    assert shape.possible() == ("reset",)


def test_that_a_single_state_is_in_the_middle() -> None:
    assert places_of(("only",), (100.0, 100.0), BOX) == {"only": (0.0, 0.0)}
