"""The ruler above the frames: looking back, its label, and whose time it shows."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QContextMenuEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from inspector.formats.arrangement.frame_series import XAxis
from inspector.timebase import NS_PER_SECOND
from tests.ui.plotting.frames import USUAL_NS, add_frame, timeline_of, usual_timeline
from ui.frame_times.ruler import Ruler
from ui.kit.theme import ColorRole, Theme
from ui.plotting.shared_view import SharedView
from ui.plotting.sheet_painter import kept_texts

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
NO_KEY = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def ruler(qtbot: QtBot, theme: Theme) -> Ruler:
    view = SharedView(theme)
    ruler = Ruler(theme, view)
    qtbot.addWidget(ruler)
    ruler.resize(1_200, 24)
    view.leave_room(200)
    view.set_pixels(1_000)
    view.make_room_for_lanes(are_shown=True)
    ruler.show()
    qtbot.waitExposed(ruler)
    return ruler


def mouse(ruler: Ruler, kind: QEvent.Type, place: QPointF, held: Qt.MouseButton = LEFT) -> None:
    button = NONE if kind is QEvent.Type.MouseMove else LEFT
    event = QMouseEvent(kind, place, ruler.mapToGlobal(place), button, held, NO_KEY)
    QApplication.sendEvent(ruler, event)


def drag(ruler: Ruler, start: QPointF, end: QPointF) -> None:
    mouse(ruler, QEvent.Type.MouseButtonPress, start)
    for step in range(1, 11):
        mouse(ruler, QEvent.Type.MouseMove, start + (end - start) * step / 10)
    mouse(ruler, QEvent.Type.MouseButtonRelease, end, NONE)


def over(ruler: Ruler, frame: int) -> QPointF:
    series = ruler._view.series
    assert series is not None
    middle = (series.start_of(frame) + series.start_of(frame + 1)) / 2
    return QPointF(ruler._x_of(middle, ruler._strip()), 12)


@pytest.mark.parametrize("axis", list(XAxis))
def test_that_dragging_along_the_ruler_moves_the_playhead(ruler: Ruler, axis: XAxis) -> None:
    timeline, view = usual_timeline(300), ruler._view
    view.set_x_axis(axis)
    view.set_timeline(timeline)
    shown = view.range.low, view.range.high
    moves: list[int] = []
    ruler.playhead_moved.connect(moves.append)

    drag(ruler, over(ruler, 250), over(ruler, 100))

    assert view.series is not None
    frames = [view.series.frame_at_ns(at_ns) for at_ns in moves]
    assert (frames[0], frames[-1]) == (250, 100)
    assert frames == sorted(frames, key=lambda frame: -(frame or 0))
    assert (view.range.low, view.range.high) == shown
    assert not view.is_scrubbing


def test_that_it_says_where_a_press_would_look_back_to(ruler: Ruler) -> None:
    ruler._view.set_timeline(usual_timeline(300))
    said: list[int | None] = []
    moves: list[int] = []
    ruler.approached.connect(said.append)
    ruler.playhead_moved.connect(moves.append)
    place = over(ruler, 250)

    mouse(ruler, QEvent.Type.MouseMove, place, NONE)
    mouse(ruler, QEvent.Type.MouseMove, QPointF(10, 12), NONE)
    mouse(ruler, QEvent.Type.MouseMove, place, NONE)
    drag(ruler, place, place)
    QApplication.sendEvent(ruler, QEvent(QEvent.Type.Leave))

    assert said == [moves[0], None, moves[0], None]
    assert set(moves) == {moves[0]}


def test_that_a_drag_beyond_the_edges_stops_there(ruler: Ruler) -> None:
    timeline, view = usual_timeline(300), ruler._view
    view.set_timeline(timeline)
    moves: list[int] = []
    ruler.playhead_moved.connect(moves.append)

    drag(ruler, over(ruler, 250), QPointF(5_000, 5_000))
    drag(ruler, over(ruler, 250), QPointF(-5_000, -5_000))

    assert max(moves) == timeline.frames.at_ns[299]
    assert min(moves) == timeline.frames.at_ns[view.visible_frames()[0]]


def test_that_without_a_timeline_there_is_nothing_to_look_back_at(ruler: Ruler) -> None:
    ruler.grab()
    ruler._view.set_timeline(timeline_of([]))
    ruler._view.set_playhead_ns(5)
    ruler.grab()

    assert ruler._view.present is not None


def test_that_the_label_says_the_instant_and_how_long_ago_it_was(
    ruler: Ruler,
) -> None:
    timeline = usual_timeline(300)
    timeline.set_present(5_000_000_000)
    ruler._view.set_timeline(timeline)
    ruler._view.set_playhead_ns(1_160_000_000)

    _box, at, away = ruler._label(kept_texts(ruler.font()), ruler._strip())
    image = ruler.grab().toImage()

    assert (at, away) == ("0:01.160", "−3.84 s")
    blue = ruler._theme.color(ColorRole.BLUE)
    assert any(image.pixelColor(x, 5) == blue for x in range(image.width()))


def test_that_it_names_the_time_unless_something_else_stands_there(ruler: Ruler) -> None:
    ruler._view.set_ruler("capture time")
    assert ruler.name.text() == "Capture time"
    assert not ruler.name.isHidden()

    header = QLabel("choices")
    ruler._view.put_header(header)

    assert header.parent() is ruler
    assert ruler.name.isHidden()


def test_that_a_right_click_asks_for_the_menu_of_what_stands_beside_it(
    ruler: Ruler, qtbot: QtBot
) -> None:
    header = QLabel("Session time")
    ruler._view.put_header(header)
    place = ruler.mapToGlobal(QPoint(600, 12))
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, QPoint(600, 12), place)
    with qtbot.waitSignal(header.customContextMenuRequested):
        QApplication.sendEvent(ruler, event)


def test_that_keys_look_back_frame_by_frame(ruler: Ruler, qtbot: QtBot) -> None:
    timeline, view = usual_timeline(300), ruler._view
    view.set_timeline(timeline)
    ruler.playhead_moved.connect(view.set_playhead_ns)
    lives: list[None] = []
    view.live_requested.connect(lambda: lives.append(None))

    def pressed(key: Qt.Key) -> int | None:
        qtbot.keyClick(ruler, key)
        assert view.series is not None
        return None if view.playhead_ns is None else view.series.frame_at_ns(view.playhead_ns)

    assert pressed(Qt.Key.Key_Right) is None
    assert [pressed(Qt.Key.Key_Left) for _ in range(3)] == [298, 297, 296]
    assert [pressed(Qt.Key.Key_Right) for _ in range(3)] == [297, 298, 299]
    assert not lives
    assert ruler.accessibleDescription() == "Looking back at 0:05.001"
    pressed(Qt.Key.Key_Right)
    assert lives
    view.set_playhead_ns(None)
    assert ruler.accessibleDescription() == "At the present"
    view.set_playhead_ns(0)
    assert pressed(Qt.Key.Key_Left) == 0
    span = view.range.span
    pressed(Qt.Key.Key_Up)
    assert view.range.span == pytest.approx(span / 1.5)


@pytest.mark.parametrize(("first_s", "zoom"), [(10, 0.7), (0, 0.15), (3_598, 1.0)])
def test_that_a_ruler_that_follows_looks_as_if_painted_anew(
    ruler: Ruler, theme: Theme, first_s: int, zoom: float
) -> None:
    # The unit of the texts changes when the first second is over, and the first hour.
    timeline, view = timeline_of([first_s * NS_PER_SECOND or USUAL_NS]), ruler._view
    view.set_x_axis(XAxis.TIME)
    view.set_timeline(timeline)
    view.zoom(zoom)
    (left, width), moments = ruler._strip(), 150
    strip = QRect(left, 0, width, ruler.height())
    for moment in range(moments):
        add_frame(timeline.frames)
        add_frame(timeline.frames)
        timeline.set_present(timeline.frames.at_ns[-1])
        view.read_new_frames()

        image = ruler.grab(strip).toImage()

        if moment % 3:
            continue
        anew = Ruler(theme, view)
        anew.resize(ruler.size())
        assert image == anew.grab(strip).toImage()
        anew.deleteLater()
    # Else nothing is moved along.
    assert ruler.picture.painted < moments
