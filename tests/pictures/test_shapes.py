"""Shapes of a picture: what they hold, how groups change them, and what is refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.clocks import ClockTree
from inspector.pictures.shapes import (
    Shape,
    ShapeKind,
    Shapes,
    box,
    circle,
    flattened,
    group,
    line,
    polygon,
    polyline,
    regular,
    text,
)

finite = st.floats(-1e6, 1e6)


def test_that_a_shape_belongs_to_its_timer_and_the_timers_clock() -> None:
    clock = ClockTree().root.child("game")
    timer = clock.set_interval(1, print, name="attack")

    shape = circle(1, 2, 3, "#F80", timer=timer)

    assert shape == Shape(
        ShapeKind.CIRCLE, (1.0, 2.0, 3.0), "#ff8800", clock=clock.id, timer=timer.id
    )


def test_that_a_group_gives_its_owner_to_those_without_one() -> None:
    root = ClockTree().root
    game, ui = root.child("game"), root.child("ui")

    own, given_one = group(circle(0, 0, 1, "#fff", clock=ui), circle(0, 0, 1, "#fff"), clock=game)

    assert (own.clock, given_one.clock) == (ui.id, game.id)


@given(x=finite, y=finite, turn=st.floats(-10, 10), scale=st.floats(0.01, 100))
def test_that_a_group_turns_scales_and_moves_every_point_alike(
    x: float, y: float, turn: float, scale: float
) -> None:
    place = complex(3, 4) * scale * complex(math.cos(turn), math.sin(turn)) + complex(x, y)

    round_one, open_one, upright = group(
        circle(3, 4, 2, "#fff"),
        line(3, 4, 5, 6, "#fff", 2),
        box(3, 4, 5, 6, "#fff"),
        x=x,
        y=y,
        turn=turn,
        scale=scale,
    )

    for shape in (round_one, open_one, upright):
        assert shape.numbers[:2] == pytest.approx((place.real, place.imag), abs=1e-6)
    assert round_one.numbers[2] == pytest.approx(2 * scale)
    assert upright.numbers[2:] == pytest.approx((5 * scale, 6 * scale))
    assert open_one.width == pytest.approx(2 * scale)


def test_that_groups_are_flattened_at_any_depth_and_in_their_order() -> None:
    one, two, three = (circle(number, 0, 1, "#fff") for number in range(3))

    assert flattened([one, [[two], ()], group(three)]) == [one, two, three]


def test_that_a_regular_polygon_begins_at_the_top() -> None:
    (x, y), *others = regular(4, 2)

    assert (x, y) == pytest.approx((0, -2))
    assert len(others) == 3


def test_that_a_text_is_one_line_of_bounded_length() -> None:
    assert text(0, 0, " two\nlines ", "#fff").text == "two lines"
    assert len(text(0, 0, "x" * 10_000, "#fff").text) == 200


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: circle(0, 0, 1, "red"), "a colour is #rrggbb or #rgb, such as #ff8800, not “red”"),
        (lambda: circle(0, 0, 1), "a circle needs a colour such as #ff8800"),
        (lambda: circle(0, math.nan, 1, "#fff"), "a circle needs usable numbers"),
        (lambda: circle(0, math.inf, 1, "#fff"), "a circle needs usable numbers"),
        (lambda: box(0, "1x", 1, 1, "#fff"), "a box needs usable numbers"),  # type: ignore[arg-type]
        (lambda: line(0, 0, 10**400, 1, "#fff"), "a line needs usable numbers"),
        (lambda: polyline([(0, 0)], "#fff"), "a polyline needs 2 points (x, y) or more"),
        (lambda: polygon([(0, 0), (1, 1)], "#fff"), "a polygon needs 3 points (x, y) or more"),
        (lambda: text(0, 0, "x", "#fff", anchor="top"), "start, middle or end, not “top”"),
        (lambda: flattened([1]), "a picture consists of shapes such as circle"),  # type: ignore[list-item]
        (lambda: flattened(None), "a picture consists of shapes such as circle"),  # type: ignore[arg-type]
        (lambda: flattened(["circle"]), "not of “circle”"),
    ],
)
def test_that_what_is_no_shape_is_refused_in_a_sentence(make: object, said: str) -> None:
    assert callable(make)
    with pytest.raises((TypeError, ValueError)) as refusal:
        make()

    assert said in str(refusal.value)


def test_that_shapes_may_come_from_a_generator() -> None:
    shapes: Shapes = (circle(number, 0, 1, "#fff") for number in range(3))

    assert len(flattened(shapes)) == 3
