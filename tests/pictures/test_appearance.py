"""What stands still is grey and hatched; what runs at another rate is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.pictures.appearance import clock_appearances, faded, hatching, notes_of, shape_at
from inspector.pictures.shapes import Shape, box, circle, line, polygon, text
from inspector.testing import scene_file, virtual_session

TREE = """
def build(stage):
    game = stage.root.child("game", rate="1/2")
    game.child("enemies").pause()
    stage.root.child("ui")
"""

numbers = st.floats(-100, 100)


def test_that_stopped_clocks_and_other_rates_are_noted(tmp_path: Path) -> None:
    session = virtual_session(scene_file(tmp_path, TREE))
    session.refresh()
    timeline = session.timeline
    by_name = {clock.name: clock.id for clock in timeline.clocks.values()}
    shapes = [
        Shape(0, (0, 0, 1), "#ffffff", clock=by_name[name]) for name in ("game", "enemies", "ui")
    ]

    looks = clock_appearances(timeline, shapes)

    assert notes_of(looks) == ["enemies paused", "game ×½"]
    assert looks[by_name["enemies"]].is_stopped
    assert not looks[by_name["game"]].is_stopped
    assert not looks[by_name["ui"]].note


def test_that_many_clocks_are_counted(tmp_path: Path) -> None:
    text_of_scene = """
def build(stage):
    for number in range(5):
        stage.root.child(f"slow {number}", rate="1/2")
        stage.root.child(f"off {number}").pause()
"""
    session = virtual_session(scene_file(tmp_path, text_of_scene))
    session.refresh()
    shapes = [Shape(0, (0, 0, 1), "#ffffff", clock=each) for each in session.timeline.clocks]

    assert notes_of(clock_appearances(session.timeline, shapes)) == [
        "5 clocks paused",
        "5 clocks at other rates",
    ]


def test_that_a_removed_clock_changes_nothing(tmp_path: Path) -> None:
    session = virtual_session(scene_file(tmp_path, TREE))
    session.refresh()

    assert clock_appearances(session.timeline, [Shape(0, (0, 0, 1), "#ffffff", clock=99)]) == {}


@pytest.mark.parametrize("color", ["#ff0000", "#000000", "#ffffff", "#123456"])
def test_that_what_stands_still_has_next_to_no_colour(color: str) -> None:
    red, green, blue = (int(faded(color)[place : place + 2], 16) for place in (1, 3, 5))

    assert max(red, green, blue) - min(red, green, blue) <= 32


@given(x=numbers, y=numbers, radius=st.floats(0.5, 60), gap=st.floats(0.5, 10))
def test_that_hatching_stays_inside_a_circle(x: float, y: float, radius: float, gap: float) -> None:
    for px, py in hatching(circle(x, y, radius, "#fff"), gap, 200):
        assert (px - x) ** 2 + (py - y) ** 2 <= radius**2 + 1e-6


@given(st.lists(st.tuples(numbers, numbers), min_size=3, max_size=7), st.floats(0.5, 10))
def test_that_hatching_stays_inside_the_bounds_of_a_polygon(
    corners: list[tuple[float, float]], gap: float
) -> None:
    xs, ys = zip(*corners, strict=True)

    for px, py in hatching(polygon(corners, "#fff"), gap, 200):
        assert min(xs) - 1e-6 <= px <= max(xs) + 1e-6
        assert min(ys) - 1e-6 <= py <= max(ys) + 1e-6


def test_that_lines_and_texts_are_not_hatched() -> None:
    assert hatching(line(0, 0, 9, 9, "#fff"), 1, 20) == []
    assert hatching(text(0, 0, "x", "#fff"), 1, 20) == []


@pytest.mark.parametrize(
    ("shape", "inside", "outside"),
    [
        (circle(10, 10, 5, "#fff"), (13, 13), (15, 15)),
        (box(10, 10, 5, 5, "#fff"), (14, 11), (17, 11)),
        (polygon([(0, 0), (10, 0), (0, 10)], "#fff"), (2, 2), (9, 9)),
        (line(0, 0, 10, 10, "#fff", 1), (5.5, 5), (9, 5)),
        (text(0, 10, "wide text", "#fff", size=10), (20, 5), (20, 15)),
    ],
    ids=["circle", "box", "polygon", "line", "text"],
)
def test_that_the_shape_under_the_pointer_is_found(
    shape: Shape, inside: tuple[float, float], outside: tuple[float, float]
) -> None:
    owned = shape._replace(clock=1)

    assert shape_at([owned], *inside, 0.5) is owned
    assert shape_at([owned], *outside, 0.5) is None
    assert shape_at([shape], *inside, 0.5) is None


def test_that_the_front_most_shape_is_found() -> None:
    back, front = (circle(0, 0, 5, "#fff")._replace(clock=number) for number in (1, 2))

    assert shape_at([back, front], 0, 0, 1) is front
