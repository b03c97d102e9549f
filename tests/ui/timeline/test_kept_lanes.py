"""Lanes that are kept from paint to paint: they look as if they were painted again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from typing_extensions import override

from inspector.analysis.lanes.lanes import LaneKind, LaneStore
from inspector.analysis.predict.timers import next_fires
from inspector.events import EventLog, Timeline
from inspector.events.annotations import Annotation
from inspector.events.history import LogHistory
from inspector.formats.arrangement.clock_layout import ClockLayout, GrowingBar
from inspector.formats.arrangement.lane_window import LaneWindow
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    CLOCK_PAUSED,
    CLOCK_RESUMED,
    FRAME_BEGAN,
    FRAME_ENDED,
    MARK,
    MEMBER_ADDED,
    MEMBER_ORIGIN,
    NEVER,
    RATE_DENOMINATOR,
    STATE_ENTERED,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
    MemberKind,
    TimerKind,
)
from ui.kit.theme import Theme
from ui.session.bridge import Selection, SelectionKind
from ui.timeline.lane_canvas import LaneCanvas
from ui.timeline.lane_picture import LanePicture

MS = 1_000_000
#: Of Python functions, to paint some lanes that follow and in which nothing new happens.
_MOST_CALLS = 510


class RowByRow(LanePicture):
    """A picture whose rows are completed one by one, not each colour of all of them at once."""

    @override
    def _records(self, layout: Any, *what: Any) -> None:
        super()._records(layout, *what)
        layout.paint(self.painter)

    @override
    def _all_lanes(self, painter: QPainter, *what: Any) -> None:
        self.painter = painter
        super()._all_lanes(painter, *what)


class World:
    """Lanes on a canvas, painted as they are kept and as a whole."""

    def __init__(self) -> None:
        self.log = EventLog()
        self.timeline = Timeline(self.log.strings)
        self.store = LaneStore()
        self.history = LogHistory(self.log)
        self.theme = Theme("light")
        self.canvas = LaneCanvas(self.theme)
        self.canvas.resize(520, 300)
        self.canvas.show()
        self.whole = RowByRow(self.theme)
        self.ratio = 1
        self.now_ms = 0
        self.has_texts = True
        append, intern = self.log.append, self.log.intern
        for number in (1, 2):
            append((0, CLOCK_ADDED, number, number - 1, intern(f"clock {number}")))
            append((0, CLOCK_ANCHORED, number, 0, RATE_DENOMINATOR))
        for number in (1, 2, 3):
            append((0, TIMER_ADDED, number, 1 + number % 2, intern(f"timer {number}")))
            append((0, TIMER_ORIGIN, number, 0, TimerKind.INTERVAL_BURST))
            append((0, TIMER_ARMED, number, 30 * MS, 30 * MS))
        append((0, MEMBER_ADDED, 1, 0, intern("hero")))
        append((0, MEMBER_ORIGIN, 1, 2, MemberKind.MACHINE))
        self.canvas.set_session(self.timeline, self.log.strings, self.store)
        self.play(1_500)

    def play(self, milliseconds: int) -> None:
        """Let timers fire, a machine change, clocks pause, and frames pass."""
        append, intern = self.log.append, self.log.intern
        for _ in range(milliseconds // 5):
            self.now_ms += 5
            turn, at_ns = self.now_ms // 5, self.now_ms * MS
            if turn % 4 == 1:
                append((at_ns, FRAME_BEGAN, 1, turn // 4, 20 * MS))
            lateness_ns = turn * 7 % 23 * MS
            append((at_ns, TIMER_FIRED, 1 + turn % 3, lateness_ns, at_ns + 30 * MS))
            if turn % 9 == 0:
                append((at_ns, STATE_ENTERED, 1, intern(f"state {turn % 4}"), 0))
            if turn % 60 == 7:
                append((at_ns, CLOCK_PAUSED, 1 + turn // 60 % 2, 0, 0))
            if turn % 60 == 23:
                append((at_ns, CLOCK_RESUMED, 1 + turn // 60 % 2, 0, 0))
            if turn % 80 == 11:
                append((at_ns, MARK, intern("here"), 0, 0))
            if turn % 4 == 3:
                append((at_ns, FRAME_ENDED, 1, 20 * MS, 3 * MS + turn % 40 * MS))
        self.read()

    def pass_frames(self, count: int) -> None:
        """Let time pass in which nothing else happens."""
        for _ in range(count):
            self.now_ms += 20
            self.log.append((self.now_ms * MS, FRAME_BEGAN, 1, self.now_ms // 20, 20 * MS))
        self.read()

    def go_on(self, number: int) -> None:
        """Follow the present for some refreshes, and look at each of them."""
        self.canvas.view.set_following(True)
        for turn in range(5):
            self.play(5 * (1 + (number + turn) % 9))
            assert self.paint() == self.paint_whole(), turn

    def pass_and_look(self, frames: int) -> None:
        """Let frames pass, paint each of them, and look at some."""
        for number in range(frames):
            self.pass_frames(1)
            seen = self.paint()
            assert number % 4 < 3 or seen == self.paint_whole(), number

    def change_rates(self) -> None:
        """Let the inner clock run at some rates, the last one for a while."""
        for rate in (2, 0, 3):
            at_ns = self.now_ms * MS
            self.log.append((at_ns, CLOCK_ANCHORED, 2, at_ns, rate * RATE_DENOMINATOR // 2))
            self.play(150)

    def fold(self) -> None:
        self.timeline.apply_all(self.log.read(self.timeline.events_folded).events)
        while self.store.read(self.history, self.timeline):
            pass

    def read(self) -> None:
        """Show what is new."""
        self.fold()
        self.canvas.refresh(has_texts=self.has_texts)

    def read_late(self, count: int) -> None:
        """Show a present that the lanes have not been read up to."""
        self.store.most_at_once = 1
        try:
            append = self.log.append
            for _ in range(count):
                self.now_ms += 10
                append((self.now_ms * MS, TIMER_FIRED, 1, 0, self.now_ms * MS + 30 * MS))
            self.timeline.apply_all(self.log.read(self.timeline.events_folded).events)
            self.store.read(self.history, self.timeline)
        finally:
            del self.store.most_at_once
        self.canvas.refresh()

    def look_back(self, number: int) -> None:
        """Show what was shortly before the present."""
        present_ns = self.timeline.at_ns
        self.canvas.view.set_span_ns(present_ns - 600 * MS, present_ns - number * 3 * MS)

    def change_theme(self, number: int) -> None:
        self.theme.set_choice("dark" if number % 2 else "light")

    def resize(self, number: int) -> None:
        self.canvas.resize(300 + number * 3, 120 + number * 2)
        QApplication.sendPostedEvents()

    def select(self, number: int) -> None:
        kinds = (SelectionKind.CLOCK, SelectionKind.TIMER, SelectionKind.MEMBER)
        self.canvas.on_selection_changed(Selection(kinds[number % 3], 1 + number % 2))

    def scrub(self, number: int) -> None:
        """Move the playhead, or take it away."""
        at_ns = self.timeline.at_ns * (number % 50) // 50
        is_past = number % 4 > 0
        self.canvas.view.set_playhead_ns(at_ns if is_past else None)
        self.canvas.past = None
        if is_past:
            self.canvas.past = Timeline(self.log.strings)
            events = self.log.read(0).events
            self.canvas.past.apply_all([event for event in events if event[0] <= at_ns])
        self.canvas.refresh()

    def change_row(self, number: int) -> None:
        """Choose a lane; collapse or pin it."""
        self.canvas.gestures.choose_neighbour(number % 5 - 2)
        if number % 3 == 0:
            self.canvas.gestures.toggle_pinned()
        elif number % 3 == 1:
            self.canvas.gestures.toggle_folded()

    def annotate(self, number: int) -> None:
        at_ns = self.timeline.at_ns * (number % 7) // 7
        self.store.set_annotations([Annotation("bookmark", at_ns, None, f"note {number}")])
        self.canvas.refresh()

    def hover(self, number: int) -> None:
        self.canvas.view.set_hover_ns(self.timeline.at_ns * number // 100)

    def scroll(self, number: int) -> None:
        self.canvas.verticalScrollBar().setValue(number)

    def zoom(self, number: int) -> None:
        self.canvas.view.zoom(0.5 if number % 2 else 1.7)

    def pan(self, number: int) -> None:
        self.canvas.view.pan(number / 100 - 0.5)

    def set_ratio(self, number: int) -> None:
        self.ratio = 1 + number % 2

    def follow(self, number: int) -> None:
        self.canvas.view.set_following(number % 2 > 0)

    def fit(self, _number: int) -> None:
        self.canvas.view.fit()

    def set_budget(self, number: int) -> None:
        self.canvas.picture.late_ns = self.whole.late_ns = (5 + number % 20) * MS

    def choose_ruler(self, number: int) -> None:
        self.canvas.view.set_ruler("session time", number % 3, self.canvas.store.clocks)

    def hide_kind(self, number: int) -> None:
        self.canvas.choose_kind(LaneKind(number % len(LaneKind)), is_shown=number % 4 > 0)

    def paint(self, picture: LanePicture | None = None) -> QImage:
        """Return the picture, by default as it is kept."""
        size = self.canvas.viewport().size()
        image = QImage(size * self.ratio, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(self.ratio)
        image.fill(0)
        painter = QPainter(image)
        painter.setFont(self.canvas.font())
        (picture or self.canvas.picture).paint(painter, self.canvas)
        painter.end()
        return image

    def paint_whole(self) -> QImage:
        self.whole.apply_theme()
        return self.paint(self.whole)


OPERATIONS: tuple[Callable[[World, int], None], ...] = (
    *(World.play, World.read_late, World.change_theme, World.resize, World.select, World.scrub),
    *(World.change_row, World.annotate, World.hover, World.scroll, World.zoom, World.pan),
    *(World.set_ratio, World.follow, World.fit, World.set_budget, World.choose_ruler),
    *(World.hide_kind, World.play, World.look_back, World.read_late, World.look_back),
    *(World.go_on, World.go_on, World.go_on),
)


@pytest.fixture
def world(qtbot: QtBot) -> World:
    world = World()
    qtbot.addWidget(world.canvas)
    qtbot.waitExposed(world.canvas)
    return world


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 99)), max_size=25))
def test_that_kept_lanes_look_like_lanes_painted_whole(
    qapp: QApplication, steps: list[tuple[Callable[[World, int], None], int]]
) -> None:
    assert qapp is not None
    world = World()
    try:
        for operation, number in steps:
            operation(world, number)
            seen = [world.paint() for _ in range(3)]
            whole = world.paint_whole()
            assert all(each == whole for each in seen), operation.__name__
    finally:
        world.canvas.close()


def test_that_large_text_stays_large_where_lanes_are_moved_along(world: World) -> None:
    font = world.canvas.font()
    font.setPixelSize(26)
    world.canvas.setFont(font)
    world.canvas.resize(1_200, 500)
    world.canvas.view.set_following(True)
    world.log.append((world.now_ms * MS, CLOCK_PAUSED, 2, 0, 0))
    world.pass_and_look(40)


def test_that_lanes_are_painted_while_no_bookmark_is_in_view(world: World) -> None:
    world.annotate(0)
    world.canvas.view.set_span_ns(500 * MS, 900 * MS)
    assert world.paint() == world.paint_whole()


def test_that_names_look_like_names_painted_whole_on_a_fine_screen(world: World) -> None:
    world.set_ratio(1)
    world.paint()
    world.hide_kind(0)
    assert world.paint() == world.paint_whole()


def test_that_lanes_of_the_past_are_not_painted_again_while_the_present_moves(
    world: World,
) -> None:
    world.canvas.view.set_span_ns(200 * MS, 900 * MS)
    world.paint()
    world.paint()
    painted = world.canvas.picture.lanes.painted
    for _ in range(5):
        world.play(100)
        world.paint()
    assert world.canvas.picture.lanes.painted == painted


def test_that_lanes_that_are_read_later_are_painted_again(world: World) -> None:
    world.read_late(60)
    world.look_back(10)
    kept = [world.paint() for _ in range(2)]
    world.read()
    assert world.paint() == world.paint_whole()
    assert world.paint() != kept[-1]


def test_that_the_present_takes_no_room_from_rates_beyond_the_view(world: World) -> None:
    for step, number in (
        *((World.play, 13), (World.go_on, 61), (World.pan, 5), (World.look_back, 42)),
        *((World.resize, 35), (World.go_on, 92), (World.look_back, 24), (World.select, 97)),
    ):
        step(world, number)
        world.paint()
    world.paint()
    world.read_late(45)
    assert world.paint() == world.paint_whole()


@pytest.mark.parametrize(
    "move", [World.hover, lambda world, number: world.canvas.view.choose_ns(0.0, number * MS)]
)
def test_that_what_is_over_the_lanes_does_not_paint_them_again(
    world: World, move: Callable[[World, int], None]
) -> None:
    world.paint()
    world.paint()
    painted = world.canvas.picture.lanes.painted
    for number in range(1, 9):
        move(world, number)
        world.paint()
    assert world.canvas.picture.lanes.painted == painted


def test_that_following_lanes_are_scrolled_and_not_painted_again(world: World) -> None:
    world.go_on(0)
    painted = world.canvas.picture.lanes.painted
    for number in range(50):
        world.play(5 * (1 + number % 9))
        world.paint()
    # Fifty times; a new line of the ruler's grid has all painted.
    assert world.canvas.picture.lanes.painted < painted + 10


def test_that_bars_have_no_gap_after_a_paint_between_two_refreshes(world: World) -> None:
    world.canvas.view.set_following(True)
    world.pass_frames(1)
    world.paint()
    world.log.append(((world.now_ms + 60) * MS, FRAME_BEGAN, 1, 99, 20 * MS))
    world.fold()
    world.paint()

    world.read()
    assert world.paint() == world.paint_whole()


def test_that_a_frame_is_marked_once_the_view_has_read_it(world: World) -> None:
    world.log = EventLog()
    world.timeline, world.history = Timeline(world.log.strings), LogHistory(world.log)
    world.canvas.set_session(world.timeline, world.log.strings, world.store)
    for number in (1, 2):
        world.log.append((number * 20 * MS, FRAME_BEGAN, 1, number, 20 * MS))
        world.log.append((number * 20 * MS, FRAME_ENDED, 1, 20 * MS, 3 * MS))
    world.fold()
    assert world.timeline.frames.end == 2
    world.canvas.on_selection_changed(Selection(SelectionKind.FRAME, 1))
    assert world.canvas.selected_frame_span() is None
    world.paint()

    world.read()
    assert world.canvas.selected_frame_span() == (20 * MS, 40 * MS)


def test_that_texts_of_lanes_that_run_stay_until_it_is_their_turn(world: World) -> None:
    words = world.canvas.picture.words
    world.timeline.is_running, world.has_texts = True, False
    world.canvas.view.set_following(True)
    world.pass_frames(100)
    world.paint()
    texts = words.texts
    for _ in range(5):
        world.pass_frames(1)
        world.paint()
    assert words.texts == texts

    # A change of a clock shows at once, but not another instant than elsewhere.
    times = {**words._times}
    world.log.append((world.now_ms * MS, CLOCK_PAUSED, 1, 1, 0))
    world.pass_frames(1)
    world.paint()
    assert words._times == times

    world.canvas.refresh()
    assert world.paint() == world.paint_whole()
    assert words._times != times
    assert words.texts != texts


def test_that_what_gives_way_to_a_local_time_stays_where_it_is(world: World) -> None:
    world.timeline.is_running, world.has_texts = True, False
    world.canvas.view.set_following(True)
    world.pass_frames(100)
    world.log.append((world.now_ms * MS, CLOCK_PAUSED, 1, 1, 0))
    for _ in range(40):
        world.pass_frames(1)
        assert world.paint() == world.paint_whole()
        words = world.canvas.picture.words._words
        assert words is not None
        # Beyond the present there is nothing that could give way.
        behind = [each.edges for said in words.said if said.is_before_line for each in said.patches]
        assert all(right <= words.shown_x + 1 for _, _, right, _ in behind)


def test_that_predictions_and_lines_of_the_grid_move_along(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    predicted: list[int] = []

    def note(timeline: Timeline, timer_id: int, *limits: int) -> list[int]:
        predicted.append(timer_id)
        return next_fires(timeline, timer_id, *limits)

    monkeypatch.setattr("ui.timeline.lane_forecasts.next_fires", note)
    world.timeline.is_running, world.has_texts = True, False
    world.canvas.view.set_following(True)
    world.pass_frames(400)
    for timer in (1, 2, 3):
        world.log.append((world.now_ms * MS, TIMER_ARMED, timer, (world.now_ms + 900) * MS, 0))
    world.pass_frames(2)
    world.paint()
    predicted.clear()
    painted = world.canvas.picture.lanes.painted
    for _ in range(40):
        world.pass_frames(1)
        world.paint()

    assert world.canvas.picture.lanes.painted == painted
    # Each once for the whole, and once more when it is in view.
    assert len(predicted) <= 2 * 3, predicted
    world.canvas.refresh()
    assert world.paint() == world.paint_whole()


def test_that_a_past_in_view_is_painted_again_with_its_texts_only(world: World) -> None:
    paints: list[QEvent.Type] = []

    class Watch(QObject):
        @override
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            paints.extend([event.type()] if event.type() is QEvent.Type.Paint else [])
            return False

    watch = Watch()
    world.timeline.is_running, world.has_texts = True, False
    world.look_back(10)
    QApplication.processEvents()
    world.canvas.viewport().installEventFilter(watch)
    for _ in range(5):
        world.play(40)
        QApplication.processEvents()
    assert not paints
    # Times of clocks have their turn with all texts.
    world.canvas.refresh()
    assert world.paint() == world.paint_whole()
    QApplication.processEvents()
    paints.clear()

    world.canvas.past = Timeline(world.log.strings)
    for has_texts in (False, False, True):
        world.canvas.refresh(has_texts=has_texts)
        QApplication.processEvents()
    assert len(paints) == 2


def test_that_a_prediction_is_whole_once_it_has_come_into_view(world: World) -> None:
    append, now_ns = world.log.append, world.now_ms * MS
    for number in range(5):
        append((now_ns, TIMER_ADDED, 4 + number, 1, world.log.intern(f"guest {number}")))
        append((now_ns, TIMER_ORIGIN, 4 + number, 0, TimerKind.TIMEOUT))
        due_ns = now_ns + (5_000 + 19 * number) * MS
        append((now_ns, TIMER_ARMED, 4 + number, due_ns, 0))
    world.canvas.resize(1_000, 400)
    QApplication.sendPostedEvents()
    world.canvas.view.set_following(True)
    world.pass_frames(200)
    for _ in range(30):
        world.pass_frames(1)
        assert world.paint() == world.paint_whole()


def test_that_a_timer_that_lanes_know_first_is_predicted_when_the_timeline_does(
    world: World,
) -> None:
    world.canvas.view.set_following(True)
    world.pass_frames(2)
    at_ns, name = world.now_ms * MS, world.log.intern("timer 1")
    for event in (
        (at_ns, TIMER_FIRED, 1, 0, NEVER),
        (at_ns, TIMER_ADDED, 9, 2, name),
        (at_ns, TIMER_ORIGIN, 9, 0, TimerKind.TIMEOUT),
        (at_ns, TIMER_ARMED, 9, at_ns + 60 * MS, 0),
    ):
        world.log.append(event)
    world.store.read(world.history, world.timeline)
    world.canvas.refresh()
    world.paint()

    world.read()

    assert world.paint() == world.paint_whole()


def test_that_a_timer_due_with_the_one_before_it_is_predicted_anew(world: World) -> None:
    append, name = world.log.append, world.log.intern("guest")
    world.canvas.view.set_following(True)
    world.pass_frames(2)
    at_ns = world.now_ms * MS
    for number, kind, interval_ns in (
        (4, TimerKind.TIMEOUT, 0),
        (5, TimerKind.INTERVAL_BURST, 50 * MS),
    ):
        append((at_ns, TIMER_ADDED, number, 1, name))
        append((at_ns, TIMER_ORIGIN, number, 0, kind))
        append((at_ns, TIMER_ARMED, number, at_ns + 300 * MS, interval_ns))
        world.pass_frames(1)
        assert world.paint() == world.paint_whole()
        append((world.now_ms * MS, TIMER_CLEARED, number, 0, 0))


def test_that_a_clock_whose_beginning_is_in_view_is_looked_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def growing(
        self: ClockLayout, store: LaneStore, number: int, window: LaneWindow
    ) -> GrowingBar | None:
        asked.append(number)
        return found(self, store, number, window)

    found = ClockLayout.growing
    monkeypatch.setattr(ClockLayout, "growing", growing)
    world.canvas.resize(1_400, 300)
    QApplication.sendPostedEvents()
    world.pass_frames(10)
    at_ns = world.now_ms * MS
    world.log.append((at_ns, CLOCK_ADDED, 3, 1, world.log.intern("late")))
    world.log.append((at_ns, CLOCK_ANCHORED, 3, at_ns, RATE_DENOMINATOR))
    world.canvas.view.set_following(True)
    world.pass_frames(200)
    world.paint()
    asked.clear()
    for _ in range(20):
        world.pass_frames(1)
        world.paint()
    assert 3 not in asked
    world.pass_and_look(80)


def test_that_lanes_that_follow_are_painted_with_few_calls(world: World) -> None:
    world.timeline.is_running, world.has_texts = True, False
    world.canvas.view.set_following(True)
    for timer in (1, 2, 3):
        world.log.append((world.now_ms * MS, TIMER_ARMED, timer, 100_000 * MS, 30 * MS))
    world.pass_frames(400)
    counts = []
    for _ in range(20):
        world.pass_frames(1)
        counts.append(calls_of(world.paint))
    # All of them, as a new line of the ruler's grid has everything painted.
    assert sum(counts) <= 20 * _MOST_CALLS, counts
    assert calls_of(world.paint_whole) > _MOST_CALLS


def calls_of(work: Callable[[], object]) -> int:
    """Return how many functions of Python are called."""
    count = 0

    def note(_frame: object, event: str, _what: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_that_texts_of_held_lanes_say_what_is_shown_at_once(world: World) -> None:
    words = world.canvas.picture.words
    world.has_texts = False
    world.paint()
    texts = words.texts
    world.play(100)
    world.paint()
    assert words.texts != texts


def test_that_following_lanes_do_not_paint_their_names_again(world: World) -> None:
    world.paint()
    painted = world.canvas.picture.names.picture.painted
    for _ in range(5):
        world.play(100)
        world.paint()
    assert world.canvas.picture.names.picture.painted == painted
