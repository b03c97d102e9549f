"""The timeline panel: what is on the lanes, how people move along them, what is shared."""

from __future__ import annotations

import gc
import weakref
from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import (
    QAccessible,
    QActionGroup,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QHelpEvent,
    QImage,
    QMouseEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QToolTip, QWidget
from pytestqt.qtbot import QtBot
from typing_extensions import override

from inspector.analysis.lanes.lanes import Lane, LaneKind, LaneStore
from inspector.analysis.lanes.rows import LaneRow
from inspector.analysis.lanes.waits import lane_wait
from inspector.clocks import Clock
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.scene import Reload
from inspector.commands.timers import ClearTimer
from inspector.events import Timeline
from inspector.formats.arrangement.lane_layout import hollow_places
from inspector.formats.arrangement.lane_texts import LaneTexts, PlacedText
from inspector.formats.arrangement.lane_window import LaneWindow
from inspector.formats.arrangement.sheet import Row
from inspector.vocabulary import MARK, MemberKind
from tests.ui.members_world import MS, MembersSession
from tests.ui.shell import open_shell
from ui.kit.theme import ColorRole, Theme
from ui.plotting.sheet_painter import theme_colors
from ui.session.bridge import Selection, SessionBridge
from ui.timeline import lane_surface
from ui.timeline.lane_canvas import LaneCanvas
from ui.timeline.lane_headers import HeaderState, name_end, name_font, name_left
from ui.timeline.lane_names import shortened_name
from ui.timeline.lane_readout import LaneReading
from ui.timeline.lane_rows import subject_of
from ui.timeline.panel import TimelinePanel


def _nothing() -> None: ...


class LanesSession(MembersSession):
    """A session with three clocks, two timers, a machine and a pause."""

    def __init__(self) -> None:
        super().__init__()
        self.game: Clock = self.root.child("game")
        self.enemies: Clock = self.game.child("enemies")
        self.spawn = self.game.set_interval(0.1, _nothing, name="spawn")
        self.boss = self.enemies.set_interval(0.25, _nothing, name="boss")
        self.machine(5, "hero", "idle", {"walk": ("idle", "walking")})

    def play(self, milliseconds: int) -> None:
        """Let frames of 20 ms pass."""
        end_ms = self.tree.now_ns // MS + milliseconds
        for at_ms in range(self.tree.now_ns // MS + 20, end_ms + 1, 20):
            self.run_to_ms(at_ms)
            self.frame_of()


def lane_of(session: LanesSession, label: str) -> Lane:
    store = LaneStore()
    store.read(session.history, session.timeline)
    return next(lane for lane in store.lanes.values() if lane.label == label)


@pytest.fixture
def session(bridge: SessionBridge) -> LanesSession:
    session = LanesSession()
    session.play(2_000)
    bridge.set_session(session)
    return session


@pytest.fixture
def panel(qtbot: QtBot, bridge: SessionBridge, session: LanesSession) -> TimelinePanel:
    assert session is not None
    panel = TimelinePanel(bridge, Theme("light"))
    qtbot.addWidget(panel)
    panel.resize(1_000, 400)
    panel.show()
    qtbot.waitExposed(panel)
    panel.refresh()
    return panel


def labels(canvas: LaneCanvas) -> list[str]:
    return [row.label for row in (*canvas.pinned.rows, *canvas.rows.rows)]


def row_of(canvas: LaneCanvas, label: str) -> LaneRow:
    return next(row for row in (*canvas.pinned.rows, *canvas.rows.rows) if row.label == label)


def click(qtbot: QtBot, canvas: LaneCanvas, place: QPointF) -> None:
    qtbot.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=place.toPoint())


def key(qtbot: QtBot, canvas: LaneCanvas, *keys: Qt.Key) -> None:
    for each in keys:
        qtbot.keyClick(canvas, each)


def drag(widget: QWidget, start: QPoint, end: QPoint, held: Qt.KeyboardModifier) -> None:
    """Press, move and release the left button."""
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    for kind, place, button, buttons in (
        (QEvent.Type.MouseButtonPress, start, left, left),
        (QEvent.Type.MouseMove, end, none, left),
        (QEvent.Type.MouseMove, end, none, left),
        (QEvent.Type.MouseButtonRelease, end, left, none),
    ):
        on_screen = QPointF(widget.mapToGlobal(place))
        QApplication.sendEvent(
            widget, QMouseEvent(kind, QPointF(place), on_screen, button, buttons, held)
        )


def test_that_lanes_come_in_the_order_of_the_clock_tree(panel: TimelinePanel) -> None:
    assert labels(panel.canvas) == ["root", "hero", "game", "spawn", "enemies", "boss"]
    assert [row.depth for row in panel.canvas.rows.rows] == [0, 1, 1, 2, 2, 3]


def test_that_lanes_that_come_among_thousands_are_shown_a_few_refreshes_later(
    panel: TimelinePanel,
    bridge: SessionBridge,
    session: LanesSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    canvas = panel.canvas
    monkeypatch.setattr(lane_surface, "_ROWS_PER_REFRESH", len(canvas.rows.rows) / 2)

    def shows(name: str, *, is_running: bool = True) -> bool:
        session.play(20)
        bridge.refresh_now()
        panel._read(session.history)
        canvas.refresh(has_texts=not is_running)
        return name in labels(canvas)

    canvas.arrange_rows()
    session.root.child("first")
    assert [shows("first") for _ in range(3)] == [False, True, True]
    session.root.child("second")
    assert not shows("second")
    # What stands still has time enough, and no refresh may follow.
    assert shows("second", is_running=False)
    session.root.child("third")
    assert not shows("third")
    canvas._catch_up.timeout.emit()
    assert "third" in labels(canvas)
    assert not canvas._catch_up.isActive()


def test_that_marks_have_a_lane_when_it_is_asked_for(
    panel: TimelinePanel, bridge: SessionBridge, session: LanesSession
) -> None:
    session.log.append((session.tree.now_ns, MARK, 0, session.log.intern("wave"), 0))
    bridge.refresh_now()
    panel.refresh()
    # They have a row of their own.
    assert "Marks" not in labels(panel.canvas)
    panel.choices.kinds[LaneKind.MARKS].setChecked(True)
    assert "Marks" in labels(panel.canvas)


def test_that_no_lane_says_so_and_leads_back(qtbot: QtBot, panel: TimelinePanel) -> None:
    line = panel.choices.filter_line
    panel.show_filter()
    line.setText("bos")
    line.apply_now()
    assert labels(panel.canvas) == ["root", "game", "enemies", "boss"]
    assert panel.no_lanes.isHidden()
    line.setText("bosx")
    line.apply_now()

    assert panel.no_lanes.label.text() == "No lane has “bosx” in its name."
    qtbot.mouseClick(panel.no_lanes.clear, Qt.MouseButton.LeftButton)

    assert panel.no_lanes.isHidden()
    assert "hero" in labels(panel.canvas)
    assert line.isHidden()


def test_that_what_lies_over_the_lanes_is_as_large_as_they_are(panel: TimelinePanel) -> None:
    panel.no_lanes.set_words("bosx")
    panel.notice.set_text("No scene is open.")
    panel.resize(900, 500)
    QApplication.processEvents()

    viewport = panel.canvas.viewport()
    assert panel.no_lanes.geometry() == viewport.rect()
    assert panel.notice.geometry() == viewport.rect()


def test_that_the_filter_keeps_matching_lanes_with_their_clocks(panel: TimelinePanel) -> None:
    panel.canvas.choose_words("BOSS")
    assert labels(panel.canvas) == ["root", "game", "enemies", "boss"]
    panel.canvas.choose_words("")
    assert len(labels(panel.canvas)) == 6


def test_that_kinds_of_lanes_can_be_hidden(panel: TimelinePanel) -> None:
    panel.canvas.choose_kind(LaneKind.TIMER, is_shown=False)
    assert labels(panel.canvas) == ["root", "hero", "game", "enemies"]


def test_that_a_clock_is_folded_by_a_key_and_unfolded_by_another_press(
    qtbot: QtBot, panel: TimelinePanel
) -> None:
    canvas = panel.canvas
    canvas.gestures.choose_row(row_of(canvas, "spawn"))
    key(qtbot, canvas, Qt.Key.Key_C)
    assert labels(canvas) == ["root", "hero", "game"]
    key(qtbot, canvas, Qt.Key.Key_C)
    assert len(labels(canvas)) == 6


def test_that_a_pinned_lane_stays_at_the_top_also_when_its_clock_is_folded(
    qtbot: QtBot, panel: TimelinePanel
) -> None:
    canvas = panel.canvas
    canvas.gestures.choose_row(row_of(canvas, "boss"))
    key(qtbot, canvas, Qt.Key.Key_T)
    canvas.gestures.fold_all(is_folded=True)
    assert labels(canvas) == ["boss", "root"]
    assert [row.label for row in canvas.pinned.rows] == ["boss"]


def test_that_the_sign_of_a_pinned_clock_leaves_its_rate_alone(
    qtbot: QtBot, panel: TimelinePanel
) -> None:
    canvas = panel.canvas
    canvas.gestures.choose_row(row_of(canvas, "game"))

    def chip() -> QImage:
        image = canvas.grab().toImage()
        return image.copy(canvas.header_places(row_of(canvas, "game")).rate)

    former = chip()
    key(qtbot, canvas, Qt.Key.Key_T)

    assert row_of(canvas, "game").is_pinned
    assert chip() == former


def test_that_keys_go_from_firing_to_firing_and_stop_following(
    qtbot: QtBot, panel: TimelinePanel, bridge: SessionBridge
) -> None:
    canvas = panel.canvas
    canvas.gestures.choose_row(row_of(canvas, "spawn"))
    canvas.caret_ns = 0
    key(qtbot, canvas, Qt.Key.Key_Right, Qt.Key.Key_Right)
    assert canvas.caret_ns == 200 * MS
    assert bridge.hover_ns == 200 * MS
    assert not bridge.is_following
    key(qtbot, canvas, Qt.Key.Key_Left)
    assert canvas.caret_ns == 100 * MS
    assert bridge.selection.at_ns == 100 * MS
    assert canvas.chosen_key == row_of(canvas, "spawn").key
    assert "spawn fired at 0:00.100, on time" in canvas.accessibleDescription()


def test_that_jumping_to_what_is_out_of_view_brings_it_into_view(
    qtbot: QtBot, panel: TimelinePanel
) -> None:
    canvas = panel.canvas
    canvas.view.set_span_ns(0, 300 * MS)
    canvas.gestures.choose_row(row_of(canvas, "boss"))
    canvas.caret_ns = 1_000 * MS
    key(qtbot, canvas, Qt.Key.Key_Right)
    assert canvas.caret_ns == 1_250 * MS
    assert canvas.lane_window().low < canvas.caret_ns < canvas.lane_window().high


def test_that_clicking_a_firing_selects_its_timer(
    qtbot: QtBot, panel: TimelinePanel, bridge: SessionBridge, session: LanesSession
) -> None:
    canvas = panel.canvas
    canvas.view.fit()
    click(qtbot, canvas, canvas.place_of(row_of(canvas, "boss"), 500 * MS))
    assert bridge.selection == Selection.firing(session.boss.id, 500 * MS)
    assert canvas.caret_ns == 500 * MS


def test_that_no_instant_stays_marked_by_a_click_into_the_empty_part_of_a_lane(
    qtbot: QtBot, panel: TimelinePanel, bridge: SessionBridge, session: LanesSession
) -> None:
    canvas = panel.canvas
    canvas.view.fit()
    boss = row_of(canvas, "boss")
    click(qtbot, canvas, canvas.place_of(boss, 700 * MS))
    assert bridge.selection == Selection.timer(session.boss.id)
    assert canvas.caret_ns is None
    click(qtbot, canvas, canvas.place_of(boss, 500 * MS))
    bridge.select(Selection())
    assert canvas.caret_ns is None


def test_that_clicking_names_and_other_lanes_selects_clocks_and_machines(
    qtbot: QtBot, panel: TimelinePanel, bridge: SessionBridge, session: LanesSession
) -> None:
    canvas = panel.canvas
    canvas.view.fit()
    for label, at_ns, expected in (
        ("game", 700 * MS, Selection.clock(session.game.id)),
        ("hero", 700 * MS, Selection.member(5)),
    ):
        click(qtbot, canvas, canvas.place_of(row_of(canvas, label), at_ns))
        assert bridge.selection == expected
    place = canvas.place_of(row_of(canvas, "enemies"), 0)
    click(qtbot, canvas, QPointF(80, place.y()))
    assert bridge.selection == Selection.clock(session.enemies.id)


def test_that_the_lane_of_the_selection_stays_in_view_when_others_come_above_it(
    panel: TimelinePanel, bridge: SessionBridge, session: LanesSession
) -> None:
    panel.resize(600, 150)
    canvas = panel.canvas
    bridge.select(Selection.clock(session.enemies.id))
    panel.refresh()

    for number in range(6):
        session.game.set_interval(0.3, _nothing, name=f"early {number}")
    session.play(2_000)
    bridge.refresh_now()
    panel.refresh()

    place = [row.label for row in canvas.rows.rows].index("enemies")
    bar = canvas.verticalScrollBar()
    assert bar.value() <= canvas.rows.top(place)
    assert canvas.rows.bottom(place) <= bar.value() + bar.pageStep()
    bar.triggerAction(bar.SliderAction.SliderToMinimum)
    canvas.rows_arranged.emit()
    assert bar.value() == 0


def test_that_a_pause_says_who_stands_still_since_when_and_because_of_whom(
    panel: TimelinePanel, bridge: SessionBridge, session: LanesSession
) -> None:
    session.game.pause()
    session.play(200)
    bridge.refresh_now()
    panel.refresh()
    canvas = panel.canvas
    canvas.view.fit()
    canvas.point_at(canvas.place_of(row_of(canvas, "enemies"), 2_100 * MS))
    assert canvas.reading is not None
    assert "stopped: game paused since 0:02.000 (by the program)" in canvas.reading.lines


def local_time_of_game(
    panel: TimelinePanel, session: LanesSession, at_ns: int, shown_x: int
) -> PlacedText:
    """Return the local time of the clock game in 600 pixels, as it stood at an instant."""
    panel.refresh()
    now_ns = session.timeline.at_ns
    window = LaneWindow(0.0, float(now_ns), 0, 600, now_ns)
    timeline = session.history.state_at(at_ns) if at_ns < now_ns else session.timeline
    game = next(number for number, each in timeline.clocks.items() if each.name == "game")
    widths = {"paused by the program": 80.0}
    colors, store = theme_colors(Theme("light")), panel.canvas.store
    texts = LaneTexts(
        *(colors, lambda text: widths.get(text, 50.0), 10, store, timeline, window, shown_x),
        is_past=at_ns < now_ns,
    )
    placed, _ = texts.local_time(game, "00:02.000", Row(0, 24))
    assert placed is not None
    return placed


def test_that_a_pause_without_room_for_words_stays_hatched_beside_its_local_time(
    panel: TimelinePanel, session: LanesSession
) -> None:
    session.game.pause()
    session.play(400)

    placed = local_time_of_game(panel, session, session.timeline.at_ns, 600)

    # It stands still from 500 on, and the time begins before 550.
    assert placed.patches
    assert all(each.edges[0] > 520 for each in placed.patches)


def test_that_words_of_a_pause_in_the_past_leave_hatching_to_a_local_time(
    panel: TimelinePanel, session: LanesSession
) -> None:
    session.game.pause()
    session.play(400)

    words, time = local_time_of_game(panel, session, 2_360 * MS, 590).patches

    hatch = theme_colors(Theme("light"))["hatch"]
    assert (words.hatch, words.edges[0]) == (hatch, 501)
    assert time.hatch == ""


def test_that_the_local_time_of_a_pause_of_few_pixels_lies_on_the_bar_before_it(
    panel: TimelinePanel, session: LanesSession
) -> None:
    session.game.pause()
    session.play(20)

    *_, time = local_time_of_game(panel, session, session.timeline.at_ns, 600).patches

    assert time.color == theme_colors(Theme("light"))["clock"]


def test_that_at_the_end_of_a_pause_its_local_time_lies_on_hatching(
    panel: TimelinePanel, session: LanesSession
) -> None:
    session.game.pause()
    session.play(400)
    session.game.resume()
    session.play(600)

    *_, time = local_time_of_game(panel, session, 2_400 * MS, 480).patches

    assert time.color == theme_colors(Theme("light"))["bg"]


@pytest.mark.parametrize("is_following", [True, False])
def test_that_what_is_read_is_below_the_pointer_when_the_view_has_moved(
    panel: TimelinePanel, bridge: SessionBridge, session: LanesSession, *, is_following: bool
) -> None:
    canvas = panel.canvas
    former = canvas.view.range.low
    place = canvas.place_of(row_of(canvas, "spawn"), 1_000 * MS)
    canvas.point_at(place)
    if is_following:
        session.play(9_000)
        bridge.refresh_now()
        panel.refresh()
    else:
        canvas.view.pan(0.1)

    assert canvas.view.range.low > former
    assert canvas.view.hover == pytest.approx(canvas.axis_at(place.x()))
    assert bridge.hover_ns == pytest.approx(canvas.at_x(place.x()), abs=1)


def test_that_what_is_under_the_pointer_is_read_as_often_as_texts_are_written(
    panel: TimelinePanel,
    bridge: SessionBridge,
    session: LanesSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    canvas = panel.canvas
    place = canvas.place_of(row_of(canvas, "spawn"), 1_000 * MS)
    canvas.point_at(place)
    read, times = canvas.reader.read, list[float]()

    def note(row: LaneRow, at_ns: float, near_ns: float, line: int | None) -> LaneReading | None:
        times.append(at_ns)
        return read(row, at_ns, near_ns, line)

    monkeypatch.setattr(canvas.reader, "read", note)
    session.play(9_000)
    bridge.refresh_now()

    canvas.refresh(has_texts=False)

    assert times == []
    assert canvas.view.hover == pytest.approx(canvas.axis_at(place.x()))
    assert bridge.hover_ns == pytest.approx(canvas.at_x(place.x()), abs=1)
    canvas.refresh_texts(are_painted=True)
    assert times == [canvas.at_x(place.x())]


def test_that_dragging_with_shift_measures_session_time_and_local_time(
    qtbot: QtBot, panel: TimelinePanel
) -> None:
    canvas = panel.canvas
    canvas.view.fit()
    canvas.gestures.choose_row(row_of(canvas, "spawn"))
    panel.choose_ruler(next(number for number, name in panel.choices.clocks if name == "enemies"))
    row = row_of(canvas, "hero")
    start, end = (canvas.place_of(row, at_ns).toPoint() for at_ns in (500 * MS, 1_000 * MS))
    viewport, shift = canvas.viewport(), Qt.KeyboardModifier.ShiftModifier
    drag(viewport, start, end, shift)
    assert canvas.view.chosen_ns == pytest.approx((500 * MS, 1_000 * MS), abs=3 * MS)
    canvas.view.choose_ns(500 * MS, 1_000 * MS)
    assert canvas.measured_text() == "500 ms   500 ms local   6 on spawn"
    key(qtbot, canvas, Qt.Key.Key_F)
    assert (canvas.lane_window().low, canvas.lane_window().high) == (500 * MS, 1_000 * MS)
    key(qtbot, canvas, Qt.Key.Key_Escape)
    assert canvas.view.chosen_ns is None


def test_that_nothing_is_drawn_of_a_measured_stretch_out_of_view(panel: TimelinePanel) -> None:
    canvas = panel.canvas
    canvas.view.set_span_ns(1_000 * MS, 1_500 * MS)
    bare = canvas.viewport().grab().toImage()

    canvas.view.choose_ns(200 * MS, 600 * MS)
    away = canvas.viewport().grab().toImage()
    canvas.view.choose_ns(200 * MS, 1_200 * MS)
    reaching_in = canvas.viewport().grab().toImage()

    assert away == bare
    assert reaching_in != bare


def test_that_the_wheel_keeps_the_instant_under_the_pointer_where_it_is(
    panel: TimelinePanel,
) -> None:
    canvas = panel.canvas
    canvas.view.set_span_ns(0, 2_000 * MS)
    x = canvas.lane_window().x(600 * MS)
    canvas.view.zoom(0.5, canvas.axis_at(x))
    assert canvas.lane_window().x(600 * MS) == pytest.approx(x, abs=0.01)
    assert canvas.lane_window().span == pytest.approx(1_000 * MS)


def test_that_following_is_shared_and_keeps_the_present_in_view(
    panel: TimelinePanel, bridge: SessionBridge, session: LanesSession
) -> None:
    canvas = panel.canvas
    canvas.view.pan(-0.2)
    assert not bridge.is_following
    assert not panel.follow_action.isChecked()
    bridge.set_following(True)
    session.play(8_000)
    bridge.refresh_now()
    panel.refresh()
    assert canvas.lane_window().low < canvas.present_ns < canvas.lane_window().high
    assert panel.follow_action.isChecked()


def test_that_the_present_is_followed_with_room_for_what_is_to_come(panel: TimelinePanel) -> None:
    canvas = panel.canvas
    assert canvas.view.is_following
    assert canvas.lane_window().high > canvas.present_ns + canvas.lane_window().span / 10


def test_that_hover_elsewhere_is_shown_here(panel: TimelinePanel, bridge: SessionBridge) -> None:
    bridge.set_hover(700 * MS)
    assert panel.canvas.hover_ns == 700 * MS


def test_that_the_ruler_shows_the_local_time_of_a_clock(
    panel: TimelinePanel, bridge: SessionBridge, session: LanesSession
) -> None:
    from inspector.formats.arrangement.lane_window import ruler_ticks  # noqa: PLC0415 - brings numpy

    session.game.rate = 0.5
    session.play(2_000)
    bridge.refresh_now()
    panel.refresh()
    canvas = panel.canvas
    canvas.view.set_span_ns(0, 4_000 * MS)
    window = canvas.lane_window()
    ticks, _ = ruler_ticks(window, canvas.store.clocks, session.game.id)
    by_text = {text: x for x, text in ticks}
    assert by_text["0:01.0"] == pytest.approx(window.x(1_000 * MS), abs=2)
    assert by_text["0:02.5"] == pytest.approx(window.x(3_000 * MS), abs=2)


def test_that_dragging_with_alt_moves_the_playhead_and_end_lets_go_of_it(
    qtbot: QtBot, panel: TimelinePanel, bridge: SessionBridge
) -> None:
    canvas = panel.canvas
    canvas.view.set_span_ns(0, 2_000 * MS)
    window = canvas.lane_window()
    start, end = (QPoint(int(window.x(at_ms * MS)), 8) for at_ms in (400, 1_200))
    drag(canvas.viewport(), start, end, Qt.KeyboardModifier.AltModifier)
    assert bridge.playhead_ns == pytest.approx(1_200 * MS, abs=3 * MS)
    assert (canvas.lane_window().low, canvas.lane_window().high) == (0, 2_000 * MS)
    key(qtbot, canvas, Qt.Key.Key_End)
    assert bridge.playhead_ns is None
    assert canvas.view.is_following


def test_that_a_playhead_out_of_view_is_brought_into_view(
    qtbot: QtBot, panel: TimelinePanel, bridge: SessionBridge
) -> None:
    canvas = panel.canvas
    canvas.view.set_span_ns(1_500 * MS, 2_000 * MS)
    bridge.set_playhead(300 * MS)
    qtbot.waitUntil(lambda: canvas.view.playhead_ns == 300 * MS)
    assert canvas.lane_window().low < 300 * MS < canvas.lane_window().high


def test_that_local_times_are_those_of_the_instant_that_is_shown(
    panel: TimelinePanel, bridge: SessionBridge, qtbot: QtBot
) -> None:
    canvas = panel.canvas

    def shown_at(at_ms: int) -> list[str]:
        bridge.set_playhead(at_ms * MS)
        qtbot.waitUntil(lambda: canvas.past is not None and canvas.past.at_ns == at_ms * MS)
        canvas.grab()
        return canvas.picture.words.texts

    assert "00:01.000" in shown_at(1_000)
    assert "00:01.400" in shown_at(1_400)


def test_that_without_a_scene_it_says_so(panel: TimelinePanel, bridge: SessionBridge) -> None:
    bridge.set_session(None)
    assert panel.notice.text() == "No scene is open."


def test_that_nothing_is_read_while_hidden(
    panel: TimelinePanel, bridge: SessionBridge, session: LanesSession
) -> None:
    panel.hide()
    cursor = panel.canvas.store.cursor
    session.play(100)
    bridge.refresh_now()
    panel.refresh()
    assert panel.canvas.store.cursor == cursor


def test_that_a_key_that_means_something_here_is_not_taken_by_the_window(
    qtbot: QtBot, panel: TimelinePanel
) -> None:
    canvas = panel.canvas
    canvas.view.set_span_ns(0, 100 * MS)
    key(qtbot, canvas, Qt.Key.Key_F)
    assert canvas.lane_window().high > canvas.present_ns


def test_that_a_firing_is_seen_at_any_zoom(panel: TimelinePanel, session: LanesSession) -> None:
    canvas = panel.canvas
    canvas.choose_words("boss")
    for high in (300, 3_000, 300_000):
        canvas.view.set_span_ns(0, high * MS)
        place = canvas.place_of(row_of(canvas, "boss"), 250 * MS)
        image = canvas.viewport().grab().toImage()
        y, x = int(place.y()), int(place.x())
        found = {image.pixelColor(near, y).name() for near in (x - 1, x, x + 1)}
        assert Theme("light").color(ColorRole.TICK).name() in found
    assert session is not None


def test_that_what_is_billions_of_pixels_away_is_not_in_the_way(
    panel: TimelinePanel, bridge: SessionBridge, session: LanesSession
) -> None:
    session.play(5_000)
    bridge.refresh_now()
    panel.refresh()
    canvas = panel.canvas
    canvas.view.set_span_ns(1, 3)
    bridge.set_playhead(canvas.present_ns - 1)
    canvas.caret_ns = canvas.present_ns
    canvas.viewport().grab()
    canvas.view.set_span_ns(canvas.present_ns - 3, canvas.present_ns - 1)
    bridge.set_playhead(1)
    canvas.caret_ns = 0
    canvas.viewport().grab()
    # A fault while painting fails every test of the window.
    assert canvas.present_ns / canvas.lane_window().per_pixel > 1 << 31


def turn_wheel(canvas: LaneCanvas, place: QPointF, notches: int) -> None:
    viewport = canvas.viewport()
    on_screen = QPointF(viewport.mapToGlobal(place.toPoint()))
    event = QWheelEvent(
        place,
        on_screen,
        QPoint(0, 0),
        QPoint(0, 120 * notches),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(viewport, event)


def test_that_the_wheel_zooms_over_lanes_and_scrolls_over_their_names(
    panel: TimelinePanel,
) -> None:
    canvas = panel.canvas
    panel.resize(1_000, 150)
    canvas.view.set_span_ns(0, 2_000 * MS)
    x = canvas.lane_window().x(600 * MS)
    turn_wheel(canvas, QPointF(x, 60), 2)
    assert canvas.lane_window().span == pytest.approx(2_000 * MS / 1.25**2)
    assert canvas.lane_window().x(600 * MS) == pytest.approx(x, abs=1)
    turn_wheel(canvas, QPointF(20, 60), -1)
    assert canvas.verticalScrollBar().value() > 0
    assert canvas.lane_window().span == pytest.approx(2_000 * MS / 1.25**2)


def test_that_names_can_be_given_more_room(panel: TimelinePanel) -> None:
    canvas = panel.canvas
    edge = QPoint(canvas.header_width, 90)
    drag(canvas.viewport(), edge, edge + QPoint(80, 0), Qt.KeyboardModifier.NoModifier)
    assert canvas.header_width == edge.x() + 80


@pytest.mark.parametrize(("window", "headers"), [(900, 200), (1_280, 224), (1_600, 248)])
def test_that_headers_are_as_wide_as_the_width_of_the_window_asks(
    panel: TimelinePanel, window: int, headers: int
) -> None:
    panel.resize(window, 300)
    assert panel.canvas.header_width == headers
    assert panel.canvas.view.left == headers


@pytest.mark.parametrize(("window", "lanes"), [(720, (28, 20)), (1_000, (32, 24))])
def test_that_lanes_are_as_high_as_the_height_of_the_window_asks(
    panel: TimelinePanel, window: int, lanes: tuple[int, int]
) -> None:
    panel.resize(1_000, window)
    canvas = panel.canvas
    rows = canvas.rows.rows
    heights = {
        row.label: canvas.rows.bottom(place) - canvas.rows.top(place)
        for place, row in enumerate(rows)
    }
    assert (heights["game"], heights["spawn"]) == lanes


def pause_button(canvas: LaneCanvas, label: str) -> QPointF:
    return QPointF(canvas.header_places(row_of(canvas, label)).pause.center())


def test_that_the_button_in_a_header_pauses_its_clock_and_resumes_it(
    qtbot: QtBot, panel: TimelinePanel, session: LanesSession, bridge: SessionBridge
) -> None:
    canvas = panel.canvas
    bridge.select(Selection.timer(session.boss.id))
    click(qtbot, canvas, pause_button(canvas, "enemies"))
    assert bridge.selection == Selection.timer(session.boss.id)
    session.enemies.pause()
    bridge.refresh_now()
    panel.refresh()
    assert canvas.header_state(row_of(canvas, "enemies")).is_paused
    click(qtbot, canvas, pause_button(canvas, "enemies"))

    enemies = session.enemies.id
    assert session.submitted == [PauseClock(enemies), ResumeClock(enemies)]


def test_that_a_pause_while_nothing_is_selected_is_explained_at_once(
    qtbot: QtBot, panel: TimelinePanel, session: LanesSession, bridge: SessionBridge
) -> None:
    click(qtbot, panel.canvas, pause_button(panel.canvas, "enemies"))

    assert bridge.selection == Selection.clock(session.enemies.id)


def test_that_a_right_click_selects_what_its_menu_is_about(
    qtbot: QtBot, panel: TimelinePanel, session: LanesSession, bridge: SessionBridge
) -> None:
    canvas = panel.canvas
    place = canvas.place_of(row_of(canvas, "boss"), 0).toPoint()

    qtbot.mouseClick(canvas.viewport(), Qt.MouseButton.RightButton, pos=place)

    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    menu.close()
    assert bridge.selection == Selection.timer(session.boss.id)


def test_that_no_lane_looks_selected_when_a_frame_or_nothing_is(
    panel: TimelinePanel, session: LanesSession, bridge: SessionBridge
) -> None:
    for other in (Selection.frame(0), Selection.nothing()):
        bridge.select(Selection.timer(session.boss.id))
        assert panel.canvas.chosen_key == row_of(panel.canvas, "boss").key
        bridge.select(other)
        assert panel.canvas.chosen_key is None


def test_that_a_button_pressed_while_looking_back_acts_on_the_present(
    qtbot: QtBot, panel: TimelinePanel, session: LanesSession, bridge: SessionBridge
) -> None:
    canvas = panel.canvas
    session.enemies.pause()
    session.play(400)
    bridge.refresh_now()
    bridge.set_playhead(1_000 * MS)
    qtbot.waitUntil(lambda: canvas.past is not None)
    assert not canvas.header_state(row_of(canvas, "enemies")).is_paused

    click(qtbot, canvas, pause_button(canvas, "enemies"))

    assert session.submitted[-1] == ResumeClock(session.enemies.id)
    assert bridge.playhead_ns is None


def test_that_a_timer_that_fired_since_is_not_over_at_an_instant_before(
    qtbot: QtBot, panel: TimelinePanel, bridge: SessionBridge, session: LanesSession
) -> None:
    session.game.set_timeout(0.1, _nothing, name="fanfare")
    session.play(400)
    bridge.refresh_now()
    panel.refresh()
    canvas = panel.canvas
    assert canvas.header_state(row_of(canvas, "fanfare")) == HeaderState(is_over=True, note="done")

    bridge.set_playhead(2_050 * MS)
    qtbot.waitUntil(lambda: canvas.past is not None)
    assert canvas.header_state(row_of(canvas, "fanfare")) == HeaderState(note="once")


def test_that_the_chip_in_a_header_opens_the_rates_of_its_clock(
    qtbot: QtBot, panel: TimelinePanel, session: LanesSession
) -> None:
    canvas = panel.canvas
    chip = canvas.header_places(row_of(canvas, "enemies")).rate.center()

    click(qtbot, canvas, QPointF(chip))

    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    texts = [action.text() for action in menu.actions() if action.text()]
    assert texts == ["¼", "½", "1", "2", "4"]
    menu.actions()[0].trigger()
    menu.close()
    assert session.submitted[-1] == SetRate(session.enemies.id, Fraction(1, 4))


def test_that_the_rates_of_a_chip_end_with_a_field_for_any(
    qtbot: QtBot, panel: TimelinePanel, session: LanesSession
) -> None:
    canvas = panel.canvas
    click(qtbot, canvas, QPointF(canvas.header_places(row_of(canvas, "enemies")).rate.center()))
    menu = QApplication.activePopupWidget()
    assert menu is not None
    (field,) = menu.findChildren(QLineEdit)
    assert field.text() == "1"

    qtbot.keyClicks(field, "/")
    previewed = [panel.previewer._command]
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert menu.isVisible()
    assert session.submitted == []

    field.selectAll()
    qtbot.keyClicks(field, "1/3")
    wanted = SetRate(session.enemies.id, Fraction(1, 3))
    previewed.append(panel.previewer._command)
    assert previewed == [None, wanted]
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert QApplication.activePopupWidget() is None
    assert session.submitted == [wanted]


def test_that_a_name_goes_on_up_to_the_sign_of_a_clock_that_goes_on(panel: TimelinePanel) -> None:
    places = panel.canvas.header_places(row_of(panel.canvas, "game"))
    sign = places.pause.center().x() - 4

    assert places.pause.left() < name_end(places, 1, is_paused=False) <= sign - 3
    assert name_end(places, 1, is_paused=True) < places.pause.left()


def test_that_a_header_says_what_a_press_at_the_pointer_does(panel: TimelinePanel) -> None:
    canvas = panel.canvas
    at = pause_button(canvas, "root").toPoint()

    asked = QHelpEvent(QEvent.Type.ToolTip, at, canvas.viewport().mapToGlobal(at))
    QApplication.sendEvent(canvas.viewport(), asked)

    assert QToolTip.text() == "Pause root (P)"
    QToolTip.hideText()


def test_that_clocks_in_many_others_keep_room_for_their_names(
    panel: TimelinePanel, session: LanesSession
) -> None:
    canvas, clock = panel.canvas, session.root
    canvas.set_header_width(200)
    for number in range(20):
        clock = clock.child(f"level {number}")
    panel._bridge.refresh_now()
    panel.refresh()

    row = row_of(canvas, "level 18")
    button = canvas.header_places(row).pause
    assert name_left(row, canvas.text_scale) + 20 < button.left()
    assert not canvas.gestures.is_on_sign(row, QPointF(button.left() - 2, button.y()))


def test_that_the_usual_rate_gives_way_before_the_name_of_its_clock_is_cut(
    panel: TimelinePanel, session: LanesSession
) -> None:
    canvas = panel.canvas
    canvas.set_header_width(200)
    game = row_of(canvas, "game")
    usual = canvas.header_places(game)
    metrics = QFontMetrics(name_font(game, canvas.font()))
    room = usual.pause.left() + 4 - name_left(game, canvas.text_scale)
    letters = next(n for n in range(99) if metrics.horizontalAdvance("w" * n) > room)

    wide = session.root.child("w" * letters)
    panel._bridge.refresh_now()
    panel.refresh()

    places = canvas.header_places(row_of(canvas, wide.name))
    assert usual.rate.width() - 12 <= places.rate.width() < usual.rate.width()
    assert places.rate.right() == usual.rate.right()
    assert places.pause.width() == usual.pause.width()
    assert places.rate.left() - places.pause.left() == usual.rate.left() - usual.pause.left()


def test_that_a_long_rate_has_room_in_its_chip(panel: TimelinePanel, session: LanesSession) -> None:
    canvas = panel.canvas
    usual = canvas.header_places(row_of(canvas, "game"))

    session.enemies.rate = 1_440
    session.play(40)
    panel.refresh()

    row = row_of(canvas, "enemies")
    pause, rate = canvas.header_places(row)
    assert canvas.header_state(row).rate == "×1,440"
    bold = QFont(canvas.small_font())
    bold.setBold(True)
    assert rate.width() - 4 >= QFontMetrics(bold).horizontalAdvance("×1,440")
    assert rate.right() == usual.rate.right()
    assert (pause.size(), rate.left() - pause.right()) == (
        usual.pause.size(),
        usual.rate.left() - usual.pause.right(),
    )


def test_that_escape_shows_all_lanes_again_and_gives_them_the_keyboard(
    qtbot: QtBot, panel: TimelinePanel
) -> None:
    line = panel.choices.filter_line
    panel.show_filter()
    line.set_filter("enemies")

    qtbot.keyClick(line, Qt.Key.Key_Escape)

    assert line.filter_text == ""
    assert panel.focusWidget() is panel.canvas.focusProxy()


def test_that_a_name_without_room_keeps_the_number_at_its_end(qapp: QApplication) -> None:
    metrics = QFontMetrics(qapp.font())
    width = metrics.horizontalAdvance("deer group 12") - 10

    for name in ("deer group 12", "attacks of all ×55"):
        shown = shortened_name(name, metrics, width)
        assert "…" in shown
        assert shown.endswith(name[-2:])
    assert shortened_name("player opens the menu", metrics, width).endswith("…")


def test_that_headers_say_rates_intervals_and_what_stands_still(
    panel: TimelinePanel, session: LanesSession, bridge: SessionBridge
) -> None:
    canvas = panel.canvas
    session.game.set_timeout(30, _nothing, name="boss arrives")
    session.enemies.rate = 0.25
    session.game.pause()
    session.play(100)
    bridge.refresh_now()
    panel.refresh()

    states = {row.label: canvas.header_state(row) for row in canvas.rows.rows}

    assert states["root"] == HeaderState("×1")
    assert states["game"] == HeaderState("×1", is_paused=True)
    assert states["enemies"] == HeaderState("×¼", is_stopped=True)
    assert states["spawn"] == HeaderState(is_stopped=True, note="100 ms")
    assert states["boss arrives"] == HeaderState(is_stopped=True, note="once")


def test_that_screen_readers_find_a_tree_of_lanes(
    panel: TimelinePanel, session: LanesSession, bridge: SessionBridge
) -> None:
    canvas = panel.canvas
    session.game.set_timeout(30, _nothing, name="boss arrives")
    session.enemies.pause()
    session.play(100)
    bridge.refresh_now()
    panel.refresh()
    canvas.tree.is_read = lambda: True
    canvas.arrange_rows()

    tree = QAccessible.queryAccessibleInterface(canvas.tree)
    children = [tree.child(number) for number in range(tree.childCount())]
    rows = [child for child in children if child.role() == QAccessible.Role.TreeItem]

    assert tree.role() == QAccessible.Role.Tree
    assert tree.text(QAccessible.Text.Name) == "Lanes"
    assert [row.text(QAccessible.Text.Name) for row in rows] == [
        "root, clock, local time 2.100 seconds, rate 1, 3 timers wait",
        "hero, state machine",
        "game, clock, local time 2.100 seconds, rate 1, 3 timers wait",
        "spawn, timer, 100 ms, due in 0.1 seconds",
        "boss arrives, timer, once, due in 29.9 seconds",
        "enemies, clock, paused by the program, local time 2.000 seconds, rate 1, 1 timer waits",
        "boss, timer, 250 ms, waits for enemies",
    ]
    assert [row.state().expanded for row in rows] == [1, 0, 1, 0, 0, 1, 0]
    canvas.gestures.choose_row(row_of(canvas, "game"))
    canvas.gestures.toggle_folded()
    assert not canvas.tree.isExpanded(canvas.tree.lanes.index_of(row_of(canvas, "game")))


class PaintCount(QObject):
    """Counts how often a widget is asked to paint."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.Paint
        return False


def test_that_the_tree_of_lanes_is_never_painted_over_them(
    qtbot: QtBot, panel: TimelinePanel
) -> None:
    canvas = panel.canvas
    lanes, tree = (PaintCount(each.viewport()) for each in (canvas, canvas.tree))
    canvas.viewport().update()
    qtbot.waitUntil(lambda: lanes.count > 0)
    assert tree.count == 0


def test_that_the_keys_of_lanes_work_where_the_focus_is(qtbot: QtBot, panel: TimelinePanel) -> None:
    canvas = panel.canvas
    canvas.setFocus()
    qtbot.keyClick(canvas.tree, Qt.Key.Key_Down)
    qtbot.keyClick(canvas.tree, Qt.Key.Key_Down)
    assert canvas.chosen_key == row_of(canvas, "hero").key


def wait_text(panel: TimelinePanel, label: str) -> str:
    canvas = panel.canvas
    row = row_of(canvas, label)
    window = canvas.lane_window()
    waits = canvas.wait_at(row, window.left + window.width - 12)
    return "" if waits is None else waits.text(0)


def test_that_the_right_edge_says_when_what_is_out_of_view_fires_and_who_stops_it(
    qtbot: QtBot, panel: TimelinePanel, session: LanesSession, bridge: SessionBridge
) -> None:
    canvas = panel.canvas
    late = session.game.set_timeout(30, _nothing, name="boss arrives")
    session.enemies.pause()
    session.play(100)
    bridge.refresh_now()
    panel.refresh()

    assert wait_text(panel, "spawn") == ""
    assert wait_text(panel, "boss arrives") == "→ 29.9 s"
    assert wait_text(panel, "boss") == "‖ enemies"

    right = canvas.viewport().width() - 12
    click(qtbot, canvas, QPointF(right, canvas.place_of(row_of(canvas, "boss"), 0).y()))
    assert bridge.selection == Selection.clock(session.enemies.id)
    click(qtbot, canvas, QPointF(right, canvas.place_of(row_of(canvas, "boss arrives"), 0).y()))
    assert bridge.selection == Selection.timer(late.id)
    assert canvas.lane_window().high > 32_000 * MS


def test_that_a_timer_that_should_have_fired_is_said_to_be_late(session: LanesSession) -> None:
    timeline = Timeline(session.log.strings)
    timeline.apply_all(session.log.read(0).events)
    timeline.set_present(timeline.at_ns + 1_310 * MS)
    timeline.resolve_dues()
    lane = lane_of(session, "spawn")

    waits = lane_wait(lane, timeline, timeline.at_ns, is_past=False)

    assert waits.text(0) == "late 1.21 s"
    assert waits.text(2_000 * MS) == ""


def test_that_a_lane_names_all_clocks_that_have_to_be_resumed(session: LanesSession) -> None:
    session.enemies.pause()
    session.game.pause()
    timeline = Timeline(session.log.strings)
    timeline.apply_all(session.log.read(0).events)
    timeline.resolve_dues()
    lane = lane_of(session, "boss")

    waits = lane_wait(lane, timeline, timeline.at_ns, is_past=False)

    assert waits.text(0) == "‖ enemies, game"
    assert waits.briefs == ("‖ enemies +1", "‖ 2 clocks")
    # A click leads to the nearest, as the first button of Why does.
    assert waits.paused_id == session.enemies.id


def test_that_what_a_timer_waits_for_lies_on_the_ground_of_its_lane(
    panel: TimelinePanel, session: LanesSession, bridge: SessionBridge
) -> None:
    session.game.pause()
    session.play(100)
    bridge.refresh_now()
    panel.refresh()
    canvas = panel.canvas
    canvas.set_pointed(subject_of(row_of(canvas, "boss")))
    canvas.grab()

    words = canvas.picture.words._words
    assert words is not None
    waits = [said for said in words.said if not said.is_before_line]
    colors = theme_colors(Theme("light"))
    grounds = {patch.color for said in waits for patch in said.patches}
    assert grounds == {colors["raised"], colors["bg"]}
    # It leaves nothing of the grid between one lane and the next.
    edges = [(said.row, patch.edges) for said in waits for patch in said.patches]
    assert edges
    assert all((top, bottom) == (row.top, row.bottom) for row, (_, top, _, bottom) in edges)


def test_that_a_local_time_stands_at_the_head_of_its_clock(
    panel: TimelinePanel, bridge: SessionBridge
) -> None:
    words = panel.canvas.picture.words
    panel.canvas.grab()
    assert [text for text in words.texts if ":" in text] == ["00:02.000"] * 3
    panel.canvas.view.set_span_ns(0, 500 * MS)
    panel.canvas.grab()
    # The head of each is to the right of what is in view.
    assert [text for text in words.texts if ":" in text] == ["→ 00:02.000"] * 3
    assert bridge.playhead_ns is None


def test_that_a_folded_clock_says_how_many_timers_of_its_branch_are_pending(
    qtbot: QtBot, panel: TimelinePanel
) -> None:
    canvas = panel.canvas
    place = QPoint(canvas.header_width // 3, round(canvas.place_of(row_of(canvas, "game"), 0).y()))
    help_event = QHelpEvent(QEvent.Type.ToolTip, place, place)
    QApplication.sendEvent(canvas.viewport(), help_event)
    assert QToolTip.text() == "game (clock)\n2 timers pending"
    canvas.gestures.choose_row(row_of(canvas, "game"))
    key(qtbot, canvas, Qt.Key.Key_C)
    assert canvas.header_state(row_of(canvas, "game")).note == "2"


def test_that_lanes_of_one_call_site_say_the_range_of_their_intervals(
    panel: TimelinePanel, session: LanesSession, bridge: SessionBridge
) -> None:
    for number, interval_s in enumerate((0.8, 2.4, 1.5)):
        session.enemies.set_interval(interval_s, _nothing, name=f"imp {number} attacks")
    session.play(100)
    bridge.refresh_now()
    panel.refresh()
    row = row_of(panel.canvas, "imp attacks ×3")
    assert panel.canvas.header_state(row).note == "0.8–2.4 s"


def test_that_a_double_click_on_a_header_brings_all_its_firings_into_view(
    qtbot: QtBot, panel: TimelinePanel
) -> None:
    canvas = panel.canvas
    canvas.view.set_span_ns(0, 100 * MS)
    y = canvas.place_of(row_of(canvas, "boss"), 0).y()
    place = QPointF(90, y).toPoint()
    qtbot.mouseDClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)
    window = canvas.lane_window()
    assert window.low < 250 * MS
    assert window.high > 2_000 * MS
    assert window.span < 2_000 * MS


def test_that_names_of_clocks_are_collected_only_when_clocks_come_or_go(
    panel: TimelinePanel,
    bridge: SessionBridge,
    session: LanesSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offered: list[list[str]] = []

    def note(_time: str, _chosen: int, clocks: tuple[tuple[int, str], ...]) -> None:
        offered.append([name for _, name in clocks])

    monkeypatch.setattr(panel.choices, "name_time", note)
    for name in ("", "pets"):
        if name:
            session.game.child(name)
        session.play(40)
        bridge.refresh_now()
        panel.refresh()

    assert offered == [["root", "game", "enemies", "pets"]]


def test_that_a_long_log_is_read_in_turns_in_between_and_says_how_much_is_left(
    qtbot: QtBot, panel: TimelinePanel, bridge: SessionBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LaneStore, "most_at_once", 100)
    panel.set_session(bridge.session)
    store = panel.canvas.store
    assert "events left" in panel.notice.text()
    assert store.cursor == 100

    # Such as for a move of the playhead, which is not to wait for it.
    panel.refresh()
    assert store.cursor == 100

    qtbot.waitUntil(lambda: "events left" not in panel.notice.text())
    assert bridge.session is not None
    assert store.cursor == bridge.session.log.end


def test_that_rows_are_not_arranged_for_each_piece_of_a_long_log(
    qtbot: QtBot, panel: TimelinePanel, bridge: SessionBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LaneStore, "most_at_once", 3)
    panel.set_session(bridge.session)
    store = panel.canvas.store
    shown = [row.label for row in panel.canvas.rows.rows]

    while "boss" not in {lane.label for lane in store.timer_lanes}:
        panel._read_on()
    panel.refresh()

    assert [row.label for row in panel.canvas.rows.rows] == shown
    qtbot.waitUntil(lambda: "boss" in labels(panel.canvas))
    assert "events left" not in panel.notice.text()


def test_that_kinds_that_were_hidden_stay_hidden_at_the_next_start(
    qtbot: QtBot, panel: TimelinePanel, bridge: SessionBridge
) -> None:
    panel.choices.kinds[LaneKind.TIMER].setChecked(False)
    second = TimelinePanel(bridge, Theme("light"))
    qtbot.addWidget(second)
    second.show()
    qtbot.waitExposed(second)
    second.refresh()
    assert "spawn" not in labels(second.canvas)
    assert "game" in labels(second.canvas)


def test_that_before_the_present_lanes_show_what_came_and_not_what_was_to_come(
    bridge: SessionBridge,
    session: LanesSession,
    panel: TimelinePanel,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    canvas = panel.canvas
    session.enemies.pause()
    session.play(1_000)
    bridge.refresh_now()
    panel.refresh()
    painted: list[list[int]] = []

    def note(instants: list[int], window: LaneWindow) -> list[int]:
        painted.append(instants)
        return hollow_places(instants, window)

    monkeypatch.setattr("ui.timeline.lane_forecasts.hollow_places", note)

    bridge.set_playhead(1_600 * MS)
    qtbot.waitUntil(lambda: canvas.past is not None)
    canvas.view.set_span_ns(1_500 * MS, 2_800 * MS)
    canvas.grab()

    assert all(each > session.tree.now_ns for instants in painted for each in instants)

    painted.clear()
    canvas.view.set_span_ns(1_500 * MS, 3_250 * MS)
    canvas.grab()
    in_view = [[each for each in instants if each < 3_250 * MS] for instants in painted]
    assert [each for each in in_view if each] == [[3_100 * MS, 3_200 * MS]]


def test_that_the_lane_of_what_is_selected_elsewhere_comes_into_view(
    panel: TimelinePanel, bridge: SessionBridge, session: LanesSession
) -> None:
    panel.resize(1_000, 150)
    canvas = panel.canvas
    assert canvas.verticalScrollBar().value() == 0

    bridge.select(Selection.timer(session.boss.id))

    assert canvas.chosen_key == row_of(canvas, "boss").key
    assert canvas.verticalScrollBar().value() > 0
    bridge.select(Selection.clock(session.root.id))
    assert canvas.chosen_key == row_of(canvas, "root").key


def test_that_the_lane_of_what_was_selected_before_is_in_view_when_lanes_are_there(
    qtbot: QtBot, bridge: SessionBridge, session: LanesSession
) -> None:
    bridge.select(Selection.timer(session.boss.id))
    panel = TimelinePanel(bridge, Theme("light"))
    qtbot.addWidget(panel)
    panel.resize(1_000, 150)
    panel.show()
    qtbot.waitExposed(panel)
    panel.refresh()

    assert panel.canvas.chosen_key == row_of(panel.canvas, "boss").key


def test_that_the_lanes_are_copied_as_an_image(panel: TimelinePanel) -> None:
    (image,) = panel._copying

    image.trigger()

    assert QGuiApplication.clipboard().image().width() == 2 * panel.canvas.width()


def test_that_timers_of_one_call_site_share_a_lane_until_it_is_unfolded(
    qtbot: QtBot, panel: TimelinePanel, bridge: SessionBridge, session: LanesSession
) -> None:
    for number in range(3):
        session.enemies.set_interval(0.05, _nothing, name=f"imp {number} attacks")
    session.play(400)
    bridge.refresh_now()
    panel.refresh()
    canvas = panel.canvas
    folded = [*("root", "hero", "game", "spawn"), *("enemies", "boss", "imp attacks ×3")]
    members = [f"imp {number} attacks" for number in range(3)]
    assert labels(canvas) == folded
    row = row_of(canvas, "imp attacks ×3")
    reading = canvas.reader.read(row, 2_150 * MS, 1.0)
    assert reading is not None
    assert reading.lines[0].startswith("imp 0 attacks fired at 0:02.150")

    place = canvas.place_of(row, 0)
    click(qtbot, canvas, QPointF(20, place.y()))
    assert labels(canvas) == [*folded, *members]
    key(qtbot, canvas, Qt.Key.Key_C)
    assert labels(canvas) == folded
    bridge.select(Selection.timer(session.boss.id + 2))
    assert canvas.chosen_key == row.key
    canvas.choose_words("imp 1")
    assert labels(canvas)[-1] == "imp 1 attacks"


def test_that_the_calls_of_members_share_a_lane_below_the_timers_until_it_is_opened(
    qtbot: QtBot, panel: TimelinePanel, bridge: SessionBridge, session: LanesSession
) -> None:
    session.member(6, "turret", MemberKind.TARGET)
    session.member(7, "shoot", MemberKind.FRAME_TIMER, 6)
    session.frame_of((7, 0, MS))
    bridge.refresh_now()
    panel.refresh()
    canvas = panel.canvas
    # One alone takes no more room than a line for several.
    assert "turret: shoot" in labels(canvas)
    session.run_to_ms(2_100)
    session.member(8, "aim", MemberKind.FRAME_TIMER, 6)
    session.frame_of((8, 0, MS))
    session.root.set_interval(1, _nothing, name="beat")
    bridge.refresh_now()
    panel.refresh()
    closed = [*("root", "beat", "hero", "2 calls in frames"), *("game", "spawn", "enemies", "boss")]
    assert labels(canvas) == closed

    row = row_of(canvas, "2 calls in frames")
    assert row.lane is not None
    assert list(row.lane.instants.at_ns) == [2_000 * MS, 2_100 * MS]
    reading = canvas.reader.read(row, 2_100 * MS, 1.0)
    assert reading is not None
    assert reading.lines[0] == "turret: aim called at 0:02.100"
    bridge.select(Selection.member(7))
    assert canvas.chosen_key == row.key
    assert canvas.is_selected(row)

    bridge.select(Selection.nothing())
    click(qtbot, canvas, QPointF(100, canvas.place_of(row, 0).y()))
    assert labels(canvas) == [*closed[:4], "turret: shoot", "turret: aim", *closed[4:]]
    assert bridge.selection == Selection.nothing()
    canvas.choose_words("aim")
    assert labels(canvas) == ["root", "turret: aim"]


def test_that_lanes_of_dead_timers_fold_away_when_nothing_of_them_is_in_view(
    qtbot: QtBot, panel: TimelinePanel, bridge: SessionBridge, session: LanesSession
) -> None:
    session.game.set_timeout(0.1, _nothing, name="fanfare")
    session.play(400)
    bridge.refresh_now()
    panel.refresh()
    canvas = panel.canvas
    # What lives comes first.
    assert labels(canvas)[2:5] == ["game", "spawn", "fanfare"]

    canvas.view.set_span_ns(0, 1_000 * MS)
    assert labels(canvas)[2:5] == ["game", "spawn", "1 empty in view"]
    canvas.gestures.choose_row(row_of(canvas, "1 empty in view"))
    key(qtbot, canvas, Qt.Key.Key_C)
    assert labels(canvas)[4:6] == ["1 empty in view", "fanfare"]
    canvas.view.set_span_ns(2_000 * MS, 2_200 * MS)
    assert labels(canvas)[2:5] == ["game", "spawn", "fanfare"]


def test_that_lanes_that_are_not_shown_take_no_room_from_the_frames(
    qtbot: QtBot, bridge: SessionBridge
) -> None:
    panel = TimelinePanel(bridge, Theme("light"))
    qtbot.addWidget(panel)
    assert not panel.view.has_lanes
    panel.show()
    qtbot.waitUntil(lambda: panel.view.has_lanes)
    panel.hide()
    assert not panel.view.has_lanes


def test_that_a_reload_is_read_into_lanes_of_its_own(qtbot: QtBot, tmp_path: Path) -> None:
    # Not the window that other tests use, too: in this file, all lanes that exist are counted.
    shell = open_shell(qtbot, tmp_path)
    panel = shell.window.panels.panel("timeline")
    assert isinstance(panel, TimelinePanel)
    shell.advance(0.5)
    timers = shell.bridge.timeline.timers
    shell.bridge.submit(ClearTimer(next(iter(timers.ids()))))
    shell.advance(0.1)
    panel.refresh()

    # The panel reads at its own pace, here before the bridge knows of the reload.
    shell.bridge.submit(Reload())
    shell.sources[-1].advance(0.1)
    shell.sources[-1].advance(3)
    panel.refresh()

    shell.bridge.refresh_now()
    panel.refresh()
    fired = {lane.label: len(lane.instants) for lane in panel.canvas.store.lanes.values()}
    assert (fired["blink"], fired["attack"]) == (30, 6)


def test_that_a_hidden_panel_keeps_nothing_of_a_former_session(
    panel: TimelinePanel, bridge: SessionBridge
) -> None:
    panel.grab()
    former = weakref.ref(panel.canvas.store)
    lanes = len(panel.canvas.store.lanes)
    panel.hide()

    bridge.set_session(LanesSession())

    gc.collect()
    assert former() is None
    kept = sum(type(each) is Lane for each in gc.get_objects())
    assert kept == len(panel.canvas.store.lanes) < lanes


def test_that_the_menu_of_the_ruler_is_that_of_its_name(panel: TimelinePanel) -> None:
    choices = panel.choices
    choices.customContextMenuRequested.emit(QPoint(5, 5))
    menu = choices.button.menu()
    assert menu is not None
    assert menu.isVisible()
    menu.close()


def test_that_the_ruler_offers_only_clocks_that_exist(panel: TimelinePanel) -> None:
    for name in ("pets", "traps"):
        panel.choices.name_time("session time", 0, ((7, name),))

    (group,) = panel.choices.findChildren(QActionGroup)
    assert [each.text() for each in group.actions()] == ["session time", "traps"]


def test_that_nothing_is_kept_of_a_context_menu(panel: TimelinePanel) -> None:
    def kept() -> int:
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        walk = panel.canvas.gestures
        references = [each for each in gc.get_objects() if type(each) is weakref.ref]
        return sum(each() is walk for each in references)

    def open_and_close() -> None:
        panel._open_menu(row_of(panel.canvas, "game"), QPoint())
        menu = QApplication.activePopupWidget()
        assert menu is not None
        menu.close()

    open_and_close()
    before = kept()

    for _ in range(5):
        open_and_close()

    assert kept() == before


def test_that_a_dragged_header_changes_its_place_and_never_the_tree(
    panel: TimelinePanel, session: LanesSession, bridge: SessionBridge
) -> None:
    session.game.set_interval(0.4, _nothing, name="wave")
    session.root.child("ui")
    session.play(600)
    bridge.refresh_now()
    panel.refresh()
    canvas = panel.canvas
    before = labels(canvas)
    assert before.index("spawn") < before.index("wave")
    parents = {each.id: each.parent_id for each in bridge.timeline.clocks.values()}

    for name, other in (("wave", "spawn"), ("ui", "game"), ("wave", "root")):
        start, end = (
            QPoint(90, int(canvas.place_of(row_of(canvas, each), 0).y())) for each in (name, other)
        )
        drag(canvas.viewport(), start, end, Qt.KeyboardModifier.NoModifier)

    assert labels(canvas) == ["root", "hero", "ui", "game", "wave", "spawn", "enemies", "boss"]
    assert {each.id: each.parent_id for each in bridge.timeline.clocks.values()} == parents


def test_that_a_branch_is_shown_alone_and_all_of_them_again(panel: TimelinePanel) -> None:
    canvas = panel.canvas
    for text, shown in (
        ("Show only this branch", ["game", "spawn", "enemies", "boss"]),
        ("Show all branches", ["root", "hero", "game", "spawn", "enemies", "boss"]),
    ):
        menu = QMenu(panel)
        panel._add_commands(menu, row_of(canvas, "game"))
        next(each for each in menu.actions() if each.text() == text).trigger()
        assert labels(canvas) == shown


def test_that_the_menu_of_a_timer_does_what_its_keys_do(
    panel: TimelinePanel, session: LanesSession
) -> None:
    menu = QMenu(panel)
    panel._add_commands(menu, row_of(panel.canvas, "spawn"))
    actions = {each.text(): each for each in menu.actions()}
    assert {"Step to it", "Stop when it fires", "Fire now", "Clear", "Show in Timers"} <= set(
        actions
    )
    assert actions["Clear"].shortcut().toString() == "Del"

    actions["Clear"].trigger()

    assert session.submitted == [ClearTimer(session.spawn.id)]


def test_that_going_from_lane_to_lane_selects_what_it_is_about(
    qtbot: QtBot, panel: TimelinePanel, bridge: SessionBridge, session: LanesSession
) -> None:
    panel.canvas.gestures.choose_row(row_of(panel.canvas, "game"))
    key(qtbot, panel.canvas, Qt.Key.Key_Down)
    assert bridge.selection == Selection.timer(session.spawn.id)
    key(qtbot, panel.canvas, Qt.Key.Key_Up)
    assert bridge.selection == Selection.clock(session.game.id)


def test_that_a_double_click_on_a_tick_zooms_to_its_frame(
    qtbot: QtBot, panel: TimelinePanel
) -> None:
    canvas = panel.canvas
    canvas.view.set_span_ns(0, 2_000 * MS)
    place = canvas.place_of(row_of(canvas, "boss"), 1_000 * MS).toPoint()

    qtbot.mouseDClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)

    window = canvas.lane_window()
    assert window.low < 1_000 * MS <= window.high
    assert window.span < 40 * MS


def test_that_a_double_click_on_a_rate_asks_for_another(
    qtbot: QtBot, panel: TimelinePanel, bridge: SessionBridge, session: LanesSession
) -> None:
    wanted: list[str] = []
    bridge.action_wanted.connect(wanted.append)
    place = panel.canvas.header_places(row_of(panel.canvas, "game")).rate.center()

    qtbot.mouseDClick(panel.canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)

    assert wanted == ["set-rate"]
    assert bridge.selection == Selection.clock(session.game.id)
