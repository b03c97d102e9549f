"""The picture of a scene whose ground is kept: it looks as if all of it was painted again."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QImage, QPainter

from inspector.pictures.appearance import ClockAppearance
from inspector.pictures.pictures import Picture
from inspector.pictures.shapes import Shape, box, circle, line, polygon, text
from ui.kit import picture as picture_painting
from ui.kit.theme import Theme
from ui.scene import canvas as canvas_module
from ui.scene.canvas import NOTHING, Marked, SceneCanvas

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

#: Shapes by number, of a clock each, with edges between pixels.
_SHAPES: tuple[Callable[[int], Shape], ...] = (
    lambda at: line(at * 7.3, 0, at * 7.3, 80, "#18202a"),
    lambda at: circle(at * 5.1, 20.4, 6.5, "#f0e442", line="#ffffff"),
    lambda at: polygon([(at, 3), (at + 9.5, 20), (at - 7, 31.5)], "#56b4e9"),
    lambda at: box(at * 3.3, 40.2, 12, 7.7, "#2bb58c"),
    lambda at: text(at * 4, 60, "said", "#e9edf1"),
)

_OPERATIONS = st.one_of(
    st.tuples(st.just("move"), st.integers(0, 9), st.integers(0, 20)),
    st.tuples(st.just("add"), st.integers(0, 4), st.integers(0, 20)),
    st.tuples(st.just("remove"), st.integers(0, 9), st.just(0)),
    st.tuples(st.just("stop"), st.integers(0, 3), st.just(0)),
    st.tuples(st.just("mark"), st.integers(0, 3), st.just(0)),
    st.tuples(st.just("ring"), st.integers(0, 3), st.integers(1, 9)),
    st.tuples(st.just("resize"), st.integers(0, 60), st.just(0)),
    st.tuples(st.just("background"), st.integers(0, 1), st.just(0)),
    st.tuples(st.just("theme"), st.integers(0, 1), st.just(0)),
    st.tuples(st.just("wait"), st.integers(1, 8), st.just(0)),
)


class World:
    """A canvas that goes on, and one that paints everything."""

    def __init__(self, ratio: int) -> None:
        self.theme = Theme("light")
        self.ratio = ratio
        self.canvas = SceneCanvas(self.theme)
        self.canvas.resize(160, 100)
        self.shapes = [_SHAPES[kind](place) for kind in (0, 0, 1, 2, 3, 4) for place in (3, 8)]
        self.stopped = self.marked = 0
        self.rings: dict[int, float] = {}
        self.background = "#101418"

    def change(self, what: str, number: int, place: int) -> None:
        shapes = self.shapes
        match what:
            case "move" if shapes:
                shape = shapes[number % len(shapes)]
                numbers = (shape.numbers[0] + place, *shape.numbers[1:])
                shapes[number % len(shapes)] = shape._replace(numbers=numbers)
            case "add":
                shapes.append(_SHAPES[number](place)._replace(clock=1 + place % 3, timer=place % 4))
            case "remove" if shapes:
                del shapes[number % len(shapes)]
            case "stop":
                self.stopped = number
            case "mark":
                self.marked = number
            case "ring":
                self.rings = {number: place / 10}
            case "resize":
                self.canvas.resize(120 + number, 70 + number)
            case "background":
                self.background = ("#101418", "#ffffff")[number]
            case "theme":
                self.theme.set_choice(("light", "dark")[number])

    def show(self, canvas: SceneCanvas) -> None:
        looks = (
            {self.stopped: ClockAppearance(self.stopped, is_stopped=True, note="")}
            if self.stopped
            else {}
        )
        marked = Marked(frozenset({self.marked})) if self.marked else NOTHING
        picture = Picture(100.0, 80.0, self.background, list(self.shapes))
        canvas.set_picture(picture, looks, self.rings, marked, NOTHING)

    def painted(self, canvas: SceneCanvas) -> QImage:
        image = QImage(canvas.size() * self.ratio, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(self.ratio)
        painter = QPainter(image)
        canvas.paint_picture(painter)
        painter.end()
        return image

    def whole(self) -> QImage:
        fresh = SceneCanvas(self.theme)
        fresh.resize(self.canvas.size())
        self.show(fresh)
        return self.painted(fresh)

    def check(self) -> None:
        self.show(self.canvas)
        assert self.painted(self.canvas) == self.whole()


@pytest.mark.parametrize("ratio", [1, 2])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_OPERATIONS, min_size=1, max_size=14))
def test_that_a_kept_ground_looks_like_a_whole_paint(
    ratio: int, qtbot: QtBot, operations: list[tuple[str, int, int]]
) -> None:
    world = World(ratio)
    qtbot.addWidget(world.canvas)
    world.check()
    for what, number, place in operations:
        world.change(what, number, place)
        for _ in range(number if what == "wait" else 1):
            world.check()


def test_that_what_does_not_move_is_painted_once(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: list[int] = []
    paint_items = picture_painting.paint_items

    def counted(items: list[object], *rest: object) -> None:
        counts.append(len(items))
        paint_items(items, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(canvas_module, "paint_items", counted)
    world = World(1)
    qtbot.addWidget(world.canvas)
    step = partial(world.change, "move", len(world.shapes) - 1)
    for turn in range(8):
        step(turn)
        world.show(world.canvas)
        world.painted(world.canvas)

    counts.clear()
    step(3)
    world.show(world.canvas)
    world.painted(world.canvas)

    # The last shape has moved, and is painted alone.
    assert counts == [1]
