"""The pictures of a session: drawn while watched, kept within a budget, never part of the log."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.commands.scene import Reload, StepBack
from inspector.commands.transport import StepFrames
from inspector.pictures.pictures import MOST_SHAPES, Drawing, Pictures, drawn
from inspector.pictures.shapes import Shape, circle
from inspector.sessions.hosted import HostedSession
from inspector.sessions.scene import built_in_scenes
from inspector.testing import held_session, pass_seconds, scene_file, virtual_session
from tests.light_scenes import light_scene

SCENE = """
from inspector.pictures.shapes import circle

def build(stage):
    frames = []
    stage.every_frame(frames.append)
    stage.picture(lambda: circle(len(frames), 0, 1, "#fff"))
"""


class NoLog:
    end = 0


def shape_at(session: HostedSession, frame: int) -> Shape:
    picture = session.pictures.at(frame)
    assert picture is not None
    (shape,) = picture.shapes
    return Shape(*shape)


@pytest.fixture
def session(tmp_path: Path) -> HostedSession:
    return held_session(scene_file(tmp_path, SCENE))


def step(session: HostedSession, frames: int) -> None:
    session.submit(StepFrames(frames))
    session.refresh()


def test_that_nothing_is_drawn_while_nobody_watches(session: HostedSession) -> None:
    step(session, 3)

    assert session.pictures.drawn == 0


def test_that_each_frame_has_its_picture(session: HostedSession) -> None:
    session.pictures.is_watched = True

    step(session, 5)

    assert [shape_at(session, frame).numbers[0] for frame in range(5)] == [1, 2, 3, 4, 5]
    assert session.pictures.newest_frame == 4


def test_that_a_held_scene_is_drawn_once_somebody_watches(session: HostedSession) -> None:
    step(session, 5)
    session.pictures.is_watched = True
    session.refresh()

    assert shape_at(session, 4).numbers[0] == 5
    count = session.pictures.drawn
    session.refresh()
    assert session.pictures.drawn == count


def test_that_going_back_forgets_what_runs_again(session: HostedSession) -> None:
    session.pictures.is_watched = True
    step(session, 5)

    session.submit(StepBack(2))
    session.refresh()

    assert session.pictures.newest_frame == 2
    step(session, 1)
    assert shape_at(session, 3).numbers[0] == 4


def test_that_a_reload_forgets_all_pictures(session: HostedSession) -> None:
    session.pictures.is_watched = True
    step(session, 5)

    session.submit(Reload())

    assert session.pictures.newest_frame in {None, -1}


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        ("1 / 0", "The picture could not be drawn: ZeroDivisionError: division by zero (line 2"),
        ("None", "a picture consists of shapes"),
        ("[3]", "a picture consists of shapes"),
        ("stage.mark('drawn')", "A picture may only read"),
        ("stage.root.set_timeout(1, print) and ()", "A picture may only read"),
    ],
)
def test_that_a_picture_that_fails_is_told_and_the_scene_goes_on(
    tmp_path: Path, draw: str, said: str
) -> None:
    text = f"def build(stage):\n    stage.picture(lambda: {draw})\n"
    session = virtual_session(scene_file(tmp_path, text))
    session.pictures.is_watched = True

    run = pass_seconds(session, 0.1)

    assert run.is_complete
    assert said in session.pictures.failure
    assert session.timeline.failures == []


def test_that_the_log_is_the_same_with_and_without_a_picture(tmp_path: Path) -> None:
    for scene in built_in_scenes():
        logs = []
        for is_watched in (False, True):
            session = virtual_session(light_scene(scene.path, tmp_path))
            session.pictures.is_watched = is_watched
            pass_seconds(session, 0.5)
            assert session.pictures.failure == ""
            assert bool(session.pictures.drawn) is is_watched
            logs.append([event[:3] for event in session.log.read(0).events])
            session.close()
        assert logs[0] == logs[1], scene.path.name


def test_that_old_pictures_are_forgotten_within_the_budget() -> None:
    drawing = Drawing.of(lambda: [circle(n, 0, 1, "#fff") for n in range(50)], 10, 10, "#000")
    pictures = Pictures(budget_bytes=20_000)

    for frame in range(100):
        pictures.draw(drawing, frame, NoLog())  # type: ignore[arg-type]

    assert pictures.kept_bytes <= 20_000
    assert pictures.at(99) is not None
    assert pictures.at(0) is None


def test_that_too_many_shapes_are_refused() -> None:
    many = Drawing.of(lambda: [circle(0, 0, 1, "#fff")] * (MOST_SHAPES + 1), 10, 10, "#000")

    with pytest.raises(ValueError, match="at most 10,000 shapes, not 10,001"):
        drawn(many)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("3", "not callable: 3"),
        ("list, width=0", "a side of a picture is above 0"),
        ("list, height=float('nan')", "a side of a picture is above 0"),
        ("list, background='black'", "a colour is #rrggbb"),
        ("list, background=''", "a picture needs a background colour"),
    ],
)
def test_that_a_picture_that_cannot_be_is_refused_where_it_is_described(
    tmp_path: Path, arguments: str, said: str
) -> None:
    session = virtual_session(
        scene_file(tmp_path, f"def build(stage):\n    stage.picture({arguments})\n")
    )

    assert said in str(session.problem)
