"""What is under the pointer in one panel is marked in the others; the selection stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex
from pytestqt.qtbot import QtBot

from inspector.formats.drawing.display_list import Circle, Polyline
from inspector.formats.scene_shapes import Halo, picture_items
from inspector.pictures.pictures import Picture
from inspector.pictures.shapes import box, circle, group, text
from inspector.sessions.hosted import HostedSession
from inspector.testing import held_session, scene_file
from ui.clock_tree.panel import ClockTreePanel
from ui.kit.theme import ColorRole, Theme
from ui.scene.canvas import NO_OWNER, Marked, ShapeOwner
from ui.scene.panel import ScenePanel
from ui.session.bridge import Selection, SessionBridge
from ui.timeline.panel import TimelinePanel
from ui.timer_queue.panel import TimerQueuePanel

SCENE = """
from inspector.pictures.shapes import circle

def build(stage):
    game = stage.root.child("game")
    enemies = game.child("enemies")
    tick = enemies.set_interval(0.05, lambda: None, name="tick")
    stage.picture(
        lambda: [
            circle(25, 50, 10, "#f00", timer=tick),
            circle(75, 50, 10, "#0f0", clock=game),
            circle(50, 90, 10, "#00f"),
        ],
        width=100,
        height=100,
    )
"""
GAME, ENEMIES = 2, 3


@pytest.fixture
def session(bridge: SessionBridge, tmp_path: Path) -> HostedSession:
    session = held_session(scene_file(tmp_path, SCENE))
    bridge.set_session(session)
    return session


@pytest.fixture
def scene(qtbot: QtBot, bridge: SessionBridge, session: HostedSession) -> ScenePanel:
    panel = ScenePanel(bridge, Theme("dark"))
    qtbot.addWidget(panel)
    panel.resize(400, 430)
    panel.show()
    qtbot.waitExposed(panel)
    assert session.title
    bridge.refresh_now()
    panel.refresh()
    return panel


def colors_of(panel: ScenePanel) -> list[str]:
    """Return the colours of circles, halos among them, back to front."""
    return [each.fill for each in panel.canvas._items if isinstance(each, Circle)]


def test_that_a_body_under_the_pointer_marks_clock_timer_and_lane(
    qtbot: QtBot, bridge: SessionBridge, scene: ScenePanel, session: HostedSession
) -> None:
    theme = Theme("dark")
    panels = (
        ClockTreePanel(bridge, theme),
        TimerQueuePanel(bridge, theme),
        TimelinePanel(bridge, theme),
    )
    for panel in panels:
        qtbot.addWidget(panel)
        panel.show()
        qtbot.waitExposed(panel)
        panel.refresh()
    clocks, queue, lanes = panels
    (timer,) = session.timeline.timers.ids()

    scene.canvas.point_at(ShapeOwner(ENEMIES, timer))

    assert bridge.pointed == Selection.timer(timer)
    assert bridge.selection == Selection()
    assert clocks.view._pointed == clocks.model.row_of(ENEMIES)
    assert queue.view._pointed == queue.model.row_of(timer)
    canvas = lanes.canvas
    assert [row.label for row in canvas.rows.rows if canvas.is_pointed(row)] == ["tick"]
    # Blue is the selection alone.
    lanes.resize(600, 400)
    blue = canvas.grab().toImage()
    colors = {blue.pixelColor(1, y).name() for y in range(blue.height())}
    assert Theme("dark").color(ColorRole.BLUE).name() not in colors
    assert Theme("dark").color(ColorRole.RAISED).name() in colors
    scene.canvas.point_at(NO_OWNER)
    assert {clocks.view._pointed, queue.view._pointed} == {None}


def test_that_a_clock_row_under_the_pointer_marks_the_bodies_of_its_branch(
    qtbot: QtBot, bridge: SessionBridge, scene: ScenePanel
) -> None:
    clocks = ClockTreePanel(bridge, Theme("dark"))
    qtbot.addWidget(clocks)

    clocks.view.entered.emit(clocks.model.index(clocks.model.row_of(GAME) or 0, 0))
    scene.refresh()

    assert bridge.pointed == Selection.clock(GAME)
    assert colors_of(scene) == ["#ffffff", "#ffffff", "#ff0000", "#00ff00", "#0000ff"]
    clocks.view.viewportEntered.emit()
    scene.refresh()
    assert colors_of(scene) == ["#ff0000", "#00ff00", "#0000ff"]


def test_that_a_timer_row_under_the_pointer_marks_its_body(
    qtbot: QtBot, bridge: SessionBridge, scene: ScenePanel, session: HostedSession
) -> None:
    queue = TimerQueuePanel(bridge, Theme("dark"))
    qtbot.addWidget(queue)
    queue.refresh()
    (timer,) = session.timeline.timers.ids()

    queue.view.entered.emit(queue.model.index(0, 0, QModelIndex()))
    scene.refresh()

    assert bridge.pointed == Selection.timer(timer)
    assert colors_of(scene) == ["#ffffff", "#ff0000", "#00ff00", "#0000ff"]


def test_that_a_lane_under_the_pointer_marks_its_bodies(
    qtbot: QtBot, bridge: SessionBridge, scene: ScenePanel, session: HostedSession
) -> None:
    lanes = TimelinePanel(bridge, Theme("dark"))
    qtbot.addWidget(lanes)
    lanes.resize(600, 400)
    lanes.show()
    qtbot.waitExposed(lanes)
    lanes.refresh()
    canvas = lanes.canvas
    (timer,) = session.timeline.timers.ids()
    rows = {row.label: row for row in canvas.rows.rows}

    canvas.point_at(canvas.place_of(rows["game"], 0))
    assert bridge.pointed == Selection.clock(GAME)
    canvas.point_at(canvas.place_of(rows["tick"], 0))
    scene.refresh()

    assert bridge.pointed == Selection.timer(timer)
    assert colors_of(scene) == ["#ffffff", "#ff0000", "#00ff00", "#0000ff"]
    canvas.point_at(None)
    assert bridge.pointed == Selection()


def test_that_the_root_clock_marks_no_body(bridge: SessionBridge, scene: ScenePanel) -> None:
    bridge.select(Selection.clock(1))
    scene.refresh()

    assert colors_of(scene) == ["#ff0000", "#00ff00", "#0000ff"]


def test_that_nothing_is_pointed_at_in_another_session(
    bridge: SessionBridge, scene: ScenePanel
) -> None:
    scene.canvas.point_at(ShapeOwner(GAME, 0))
    bridge.set_session(None)

    assert bridge.pointed == Selection()


def test_that_shapes_that_belong_together_have_one_outline_behind_them() -> None:
    class Clock:
        id = 7

    body = group(
        circle(0, 0, 5, "#111111"), box(0, 0, 9, 4, "#222222"), text(0, 0, "x", "#333333"),
        clock=Clock(),
    )  # fmt: skip
    picture = Picture(100.0, 100.0, "#000000", [circle(50, 50, 1, "#999999"), *body])
    marked = Marked(frozenset({7}))
    halo = Halo(lambda shape: "#ffffff" if marked.has(shape) else "", 2)

    other, around, stroke, *body_items = picture_items(picture, {}, 2.0, halo=halo)

    assert isinstance(other, Circle)
    assert isinstance(around, Circle)
    assert (around.radius, around.fill) == (2 * (5 + 2), "#ffffff")
    assert isinstance(stroke, Polyline)
    assert (stroke.stroke.width, stroke.stroke.color) == (2 * 2 * 2, "#ffffff")
    assert body_items == picture_items(picture, {}, 2.0)[1:]
