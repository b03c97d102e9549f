"""The scene panel: the picture of the frame shown, or why there is none; pointing and selecting."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.commands.clocks import PauseClock
from inspector.commands.transport import Hold, Run, StepFrames
from inspector.pictures.pictures import Picture
from inspector.pictures.shapes import text as text_shape
from inspector.sessions.hosted import HostedSession
from inspector.testing import held_session, scene_file
from ui.kit.theme import Theme
from ui.scene.canvas import NO_OWNER, NOTHING, SceneCanvas, ShapeOwner
from ui.scene.panel import ScenePanel
from ui.scene.program_card import brief_command
from ui.session.bridge import REFRESH_MS, Selection, SessionBridge

SCENE = """
from inspector.pictures.shapes import circle

def build(stage):
    game = stage.root.child("game")
    tick = game.set_interval(0.05, lambda: None, name="tick")
    frames = []
    stage.every_frame(frames.append)
    stage.picture(
        lambda: [
            circle(25, 50, 10, "#f00", timer=tick),
            circle(75, 50, 10, "#0f0", clock=game),
            circle(len(frames), 10, 5, "#00f"),
        ],
        width=100,
        height=100,
    )
"""


@pytest.fixture
def panel(qtbot: QtBot, bridge: SessionBridge) -> ScenePanel:
    panel = ScenePanel(bridge, Theme("dark"))
    qtbot.addWidget(panel)
    panel.resize(400, 430)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


@pytest.fixture
def session(panel: ScenePanel, bridge: SessionBridge, tmp_path: Path) -> HostedSession:
    session = held_session(scene_file(tmp_path, SCENE))
    bridge.set_session(session)
    refresh(panel, bridge)
    return session


def refresh(panel: ScenePanel, bridge: SessionBridge) -> None:
    bridge.refresh_now()
    bridge.refresh_now()
    panel.refresh()


def clock_id(session: HostedSession, name: str) -> int:
    return next(each.id for each in session.timeline.clocks.values() if each.name == name)


def place(panel: ScenePanel, x: float, y: float) -> QPoint:
    """Return where a point of the picture is in the widget."""
    return panel.canvas._to_widget().map(QPoint(round(x), round(y)))


def test_that_without_a_scene_it_says_so(panel: ScenePanel) -> None:
    assert panel.notice.text() == "No scene is open."
    assert panel.notice.isVisible()


def test_that_a_scene_without_a_picture_is_told_how_to_draw_one(
    panel: ScenePanel, bridge: SessionBridge, tmp_path: Path
) -> None:
    bridge.set_session(held_session(scene_file(tmp_path, "def build(stage):\n    pass\n")))
    refresh(panel, bridge)

    assert "stage.picture(draw)" in panel.notice.text()


def test_that_a_scene_that_could_not_be_loaded_is_not_told_how_to_draw(
    panel: ScenePanel, bridge: SessionBridge, tmp_path: Path
) -> None:
    bridge.set_session(held_session(scene_file(tmp_path, "def build(stage:\n")))
    refresh(panel, bridge)

    assert panel.notice.text() == "The scene could not be loaded."


def test_that_a_held_scene_is_drawn_before_its_first_frame(
    panel: ScenePanel, session: HostedSession
) -> None:
    assert not panel.notice.isVisible()
    assert session.pictures.newest_frame == -1
    assert len(panel.canvas.owners()) == 2


def test_that_frames_that_ran_unwatched_are_not_said_to_be_missing(
    panel: ScenePanel, bridge: SessionBridge, tmp_path: Path
) -> None:
    panel.hide()
    session = held_session(scene_file(tmp_path, SCENE))
    bridge.set_session(session)
    session.submit(StepFrames(5))
    bridge.refresh_now()

    panel.refresh()

    assert panel.notice.text() == "The next frame will be drawn."


def test_that_a_failing_picture_says_why(
    panel: ScenePanel, bridge: SessionBridge, tmp_path: Path
) -> None:
    text = "def build(stage):\n    stage.picture(lambda: 1 / 0)\n"
    bridge.set_session(held_session(scene_file(tmp_path, text)))
    refresh(panel, bridge)

    assert "ZeroDivisionError" in panel.notice.text()


def test_that_nothing_is_drawn_while_the_panel_is_hidden(
    panel: ScenePanel, bridge: SessionBridge, session: HostedSession
) -> None:
    panel.hide()
    drawn = session.pictures.drawn

    session.submit(StepFrames(5))
    bridge.refresh_now()

    assert session.pictures.drawn == drawn


@pytest.mark.usefixtures("session")
def test_that_what_is_said_of_the_picture_stands_beside_its_title_and_covers_nothing(
    panel: ScenePanel,
) -> None:
    QCoreApplication.processEvents()
    title, readout = panel.title.geometry(), panel.readout.geometry()
    top = panel.canvas.mapTo(panel, QPoint(0, 0)).y()

    assert panel.title.text() == "Scene"
    assert title.right() < readout.left()
    assert max(title.bottom(), readout.bottom()) < top


def test_that_a_click_selects_the_timer_or_else_the_clock(
    qtbot: QtBot, panel: ScenePanel, bridge: SessionBridge, session: HostedSession
) -> None:
    timer_id = next(session.timeline.timers.ids())

    qtbot.mouseClick(panel.canvas, Qt.MouseButton.LeftButton, pos=place(panel, 25, 50))
    assert bridge.selection == Selection.timer(timer_id)
    assert panel.readout.text() == "tick on game: ready, the session is held"

    qtbot.mouseClick(panel.canvas, Qt.MouseButton.LeftButton, pos=place(panel, 75, 50))
    assert bridge.selection == Selection.clock(clock_id(session, "game"))

    qtbot.mouseClick(panel.canvas, Qt.MouseButton.LeftButton, pos=place(panel, 50, 90))
    assert bridge.selection == Selection.clock(clock_id(session, "game"))
    assert panel.canvas.owner == NO_OWNER


def test_that_the_keyboard_goes_from_owner_to_owner(
    qtbot: QtBot, panel: ScenePanel, bridge: SessionBridge, session: HostedSession
) -> None:
    timer_id = next(session.timeline.timers.ids())

    qtbot.keyClick(panel.canvas, Qt.Key.Key_Right)
    assert panel.canvas.owner.timer == timer_id
    qtbot.keyClick(panel.canvas, Qt.Key.Key_Right)
    assert panel.canvas.owner == ShapeOwner(clock_id(session, "game"))
    qtbot.keyClick(panel.canvas, Qt.Key.Key_Left)
    qtbot.keyClick(panel.canvas, Qt.Key.Key_Return)

    assert bridge.selection == Selection.timer(timer_id)


@pytest.mark.usefixtures("session")
def test_that_nothing_is_pointed_at_once_the_keyboard_has_gone(
    qtbot: QtBot, panel: ScenePanel
) -> None:
    qtbot.keyClick(panel.canvas, Qt.Key.Key_Right)
    assert panel.readout.text().startswith("tick on game")

    QApplication.sendEvent(panel.canvas, QFocusEvent(QEvent.Type.FocusOut))

    assert panel.canvas.owner == NO_OWNER
    assert panel.readout.text() == ""


def test_that_a_paused_branch_is_named(
    panel: ScenePanel, bridge: SessionBridge, session: HostedSession
) -> None:
    session.submit(PauseClock(clock_id(session, "game")))
    refresh(panel, bridge)

    assert panel.readout.text() == "game paused"


def test_that_looking_back_shows_the_picture_of_that_frame(
    panel: ScenePanel, bridge: SessionBridge, session: HostedSession
) -> None:
    session.submit(StepFrames(8))
    refresh(panel, bridge)

    bridge.set_playhead(session.timeline.frames.at_ns[2])
    panel.refresh()

    moment = panel._moment
    assert moment is not None
    assert moment.picture.shapes[2].numbers[0] == 3


def test_that_a_frame_without_a_kept_picture_says_so(
    panel: ScenePanel, bridge: SessionBridge, session: HostedSession
) -> None:
    session.submit(StepFrames(8))
    refresh(panel, bridge)
    session.pictures.clear()

    bridge.set_playhead(session.timeline.frames.at_ns[2])
    panel.refresh()

    assert "Rewind to it" in panel.notice.text()


def test_that_a_timer_that_fires_gets_a_ring(
    panel: ScenePanel, bridge: SessionBridge, session: HostedSession
) -> None:
    timer_id = next(session.timeline.timers.ids())
    session.submit(StepFrames(8))
    refresh(panel, bridge)

    assert set(panel._ring_shares()) == {timer_id}
    panel.canvas.repaint()


def test_that_there_are_no_rings_where_the_system_asks_for_less_motion(
    panel: ScenePanel, bridge: SessionBridge, session: HostedSession
) -> None:
    panel.has_motion = False
    session.submit(StepFrames(8))
    refresh(panel, bridge)

    assert not panel._ring_shares()


def test_that_rings_fade_with_the_refreshes_while_there_are_any(
    panel: ScenePanel, bridge: SessionBridge, session: HostedSession
) -> None:
    session.submit(StepFrames(8))
    refresh(panel, bridge)
    assert panel._ring_shares()
    assert panel._fading.isActive()

    bridge.submit(Run())
    refresh(panel, bridge)

    assert panel._ring_shares()
    assert not panel._fading.isActive()


def test_that_each_refresh_of_a_running_session_shows_a_picture(panel: ScenePanel) -> None:
    assert panel._throttle.least_ms < REFRESH_MS


def test_that_the_menu_pauses_the_clock_of_the_shape(
    panel: ScenePanel, bridge: SessionBridge, session: HostedSession
) -> None:
    panel.canvas.point_at(ShapeOwner(clock_id(session, "game")))
    menu = panel.make_menu()
    titles = [action.text() for action in menu.actions()]

    assert "Select game" in titles
    next(action for action in menu.actions() if action.text() == "Pause game").trigger()
    refresh(panel, bridge)

    assert session.timeline.clocks[clock_id(session, "game")].paused


def test_that_the_picture_is_exported_as_it_is_shown(
    panel: ScenePanel, session: HostedSession, tmp_path: Path
) -> None:
    session.submit(Hold())

    panel.export_to(tmp_path / "scene.svg")

    assert panel.readout.text() == f"Wrote {tmp_path / 'scene.svg'}."
    assert "<circle" in (tmp_path / "scene.svg").read_text("utf-8")

    panel.export_to(tmp_path / "none" / "scene.svg")
    assert "Cannot write" in panel.readout.text() or "folder" in panel.readout.text()


def test_that_a_recording_shows_the_picture_of_the_frame_looked_at(
    panel: ScenePanel, session: HostedSession, bridge: SessionBridge, tmp_path: Path
) -> None:
    path = tmp_path / "a.tlrec"
    session.recorder.start(path)
    for _ in range(4):
        bridge.submit(StepFrames(1))
        refresh(panel, bridge)
    enemies = clock_id(session, "game")
    bridge.submit(PauseClock(enemies))
    refresh(panel, bridge)
    session.recorder.stop()
    frames_ns = list(session.timeline.frames.at_ns)

    bridge.open_path(path)
    refresh(panel, bridge)

    assert panel.canvas.picture is not None
    assert panel.canvas.picture.shapes[2].numbers[0] == 4
    # What stands still is taken from the recorded state.
    assert panel.readout.text() == "game paused"
    bridge.set_playhead(frames_ns[1])
    refresh(panel, bridge)
    assert panel.canvas.picture.shapes[2].numbers[0] == 2
    assert panel.readout.text() == ""


def test_that_a_recording_without_pictures_says_why(
    panel: ScenePanel, session: HostedSession, bridge: SessionBridge, tmp_path: Path
) -> None:
    session.recorder.keeps_pictures = False
    session.recorder.start(tmp_path / "a.tlrec")
    session.recorder.stop()

    bridge.open_path(tmp_path / "a.tlrec")
    refresh(panel, bridge)

    assert panel.notice.text().startswith("This recording has no pictures")


def test_that_a_picture_that_takes_long_to_paint_is_shown_less_often(
    panel: ScenePanel, session: HostedSession
) -> None:
    assert session.title
    panel.canvas.painting_ns = 0
    panel.refresh()
    quick = panel._throttle.least_ms
    panel.canvas.painting_ns = 4_000_000
    panel.refresh()
    slow = panel._throttle.least_ms
    panel.canvas.painting_ns = 400_000_000
    panel.refresh()

    assert quick == 20
    assert 66 < slow < 150
    assert panel._throttle.least_ms == 150


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("/opt/python/3.11/bin/python3 server.py --port 80", "python3 server.py --port 80"),
        ("server.py", "server.py"),
        ("", ""),
    ],
)
def test_that_a_command_is_said_without_the_folder_of_its_program(command: str, shown: str) -> None:
    assert brief_command(command) == shown


@pytest.mark.parametrize(
    ("size", "height", "shown"),
    [(16, 180, 16), (8, 180, 11), (6, 180, 0), (16, 90, 0), (30, 90, 0)],
    ids=["as large as it says", "raised", "a speck", "small", "in a small picture"],
)
def test_that_letters_are_readable_or_left_out(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, size: float, height: int, shown: float
) -> None:
    canvas = SceneCanvas(Theme("dark"))
    qtbot.addWidget(canvas)
    canvas.resize(320, height)
    painted: list[float] = []
    monkeypatch.setattr(
        "ui.scene.canvas.paint_screen_text", lambda text, _: painted.append(text.size)
    )
    picture = Picture(320, 180, "#000000", [text_shape(10, 50, "12 lost", "#fff", size=size)])

    canvas.set_picture(picture, {}, {}, NOTHING, NOTHING)
    canvas.grab()

    assert painted == ([shown] if shown else [])
