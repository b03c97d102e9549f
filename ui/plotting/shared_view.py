"""The axis that frame times and lanes share: what is in view, and what is marked on it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np
from PySide6.QtCore import (
    QEasingCurve,
    QObject,
    QPointF,
    QSignalBlocker,
    QVariantAnimation,
    Signal,
    Slot,
)
from PySide6.QtWidgets import QWidget

from inspector.analysis.lanes.clocks import ClockPasts
from inspector.events.timeline import Timeline
from inspector.formats.arrangement.frame_series import FrameSeries, XAxis
from inspector.formats.arrangement.lane_window import (
    Bends,
    LaneWindow,
    axis_ticks,
    ruler_ticks,
    ticks_within,
)
from inspector.sessions.session import ShowsCapture
from inspector.timebase import NS_PER_SECOND
from inspector.vocabulary import Measure

from ..session.bridge import SessionBridge
from .axis_range import AxisRange, ViewMode

#: Initial range of a following view.
FOLLOWED: Final = {XAxis.FRAME: 300.0, XAxis.TIME: 5.0}
_SHORTEST: Final = {XAxis.FRAME: 0.1, XAxis.TIME: 1e-6}
#: A following view with lanes moves by at least this much, as two pictures are scrolled each time.
_STEP: Final = {XAxis.FRAME: 2.0, XAxis.TIME: 2 / 60}
#: Position of the present in a following view with lanes; predictions have the rest.
PRESENT_AT: Final = 0.85
#: A playhead that leaves the view by less than this share of it takes the view along.
_NEAR_EDGE: Final = 0.1
#: Margin on either side of a range that is brought into view, as a share of it.
_ROOM: Final = 0.05
#: The mean interval of this many frames predicts where instants after the newest will be.
_RECENT: Final = 60
_FAR: Final = 1e6


class SharedView(QObject):
    """One horizontal axis, by frame or by session time, for every plot that is connected.

    Positions on the axis are frames or seconds, as of the :class:`.FrameSeries`.
    """

    #: Another timeline is shown; whether it goes on where the former one was.
    timeline_changed = Signal(bool)
    #: Another part is in view, or another axis.
    moved = Signal()
    #: The view began or ceased to follow the newest.
    following_changed = Signal(bool)
    #: A range was selected or given up.
    range_chosen = Signal(object)  # tuple[int, int] | None: its frames
    #: The pointer has moved along the axis, or has left it.
    hover_moved = Signal()
    #: The room beside the plots has changed, or lanes are shown or hidden.
    margins_changed = Signal()
    #: The playhead is shown at another instant, or no longer.
    playhead_shown = Signal()
    #: The ruler shows another time, or something else is beside it.
    ruler_changed = Signal()
    #: The user wants to follow the newest and see the present.
    live_requested = Signal()

    def __init__(self, parent: QObject | None = None, x_axis: XAxis = XAxis.FRAME) -> None:
        super().__init__(parent)
        self.series: FrameSeries | None = None  # The frames, None without a timeline
        self.timeline: Timeline | None = None
        self.hover: float | None = None  # Position of the pointer on the axis, in any of the plots
        # The instant whose state is shown, None for the present
        self.playhead_ns: int | None = None
        self.is_scrubbing = False  # Whether the playhead is being dragged
        # left: Room at the left of every plot, for the names of lanes; 0 without lanes
        # plots_left: Where frames begin, from the left edge of their plot; 0 before there is one
        self.left = self.plots_left = 0
        self.time_name = "session time"
        self.ruler_clock_id = 0  # The clock whose local time the ruler shows; 0 for session time
        self.clocks: ClockPasts | None = None
        # The widget beside the ruler, None for the name of its time alone
        self.header: QWidget | None = None
        self.slide_ms = 0  # How long a jump to another part of the axis takes
        # Returns whether a timeline is shown whole at first, instead of its newest frames
        self.opens_whole: Callable[[], bool] = bool
        # Returns whether session time passes while everything is held, as it does for an attached
        # program; the view and the line at the present then stay where they are
        self.passes_while_held: Callable[[], bool] = bool
        # What the axis counts; while there is no frame always time, if lanes are shown
        self.x_axis = self._wanted_axis = x_axis
        self.present_ns = 0  # The present as of the last refresh
        # Where the present is on the axis; None for a capture, all of which has passed
        self.present: float | None = None
        self._is_whole = False
        self._names_share = 0.0
        self._measure: Measure = "interval"
        self._pixels = 1
        self._is_sliding = False
        self._animation = QVariantAnimation(self)
        self._animation.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._animation.valueChanged.connect(self._slide_on)
        self._is_pointed_at = False
        self._news: object = None
        self._ticks: tuple[object, tuple[list[tuple[int, str]], str]] | None = None
        # The selected range, and its frames
        self.chosen_ns: tuple[float, float] | None = None
        self.chosen_frames: tuple[int, int] | None = None
        self.range = AxisRange()  # The visible range
        self._follow_usual()

    @classmethod
    def of(cls, bridge: SessionBridge) -> SharedView:
        """Return the view that all panels of a window share; by time, unless chosen otherwise."""
        found = bridge.findChild(cls)
        if found is None:
            found = cls(bridge, XAxis.TIME)
            found.opens_whole = partial(_shows_capture, bridge)
            found.passes_while_held = partial(_expects_news, bridge)
            found.following_changed.connect(bridge.set_following)
            found.live_requested.connect(bridge.go_live)
            found.moved.connect(partial(_note_move, found, bridge))
            bridge.following_changed.connect(found.set_following)
            bridge.hover_changed.connect(found.set_hover_ns)
            bridge.playhead_changed.connect(found.set_playhead_ns)
            bridge.annotations.span_wanted.connect(found.bring_into_view)
            bridge.annotations.ask_for_ranges(found.chosen_span, 0)
            bridge.annotations.ask_for_ranges(found.visible_ns, 1)
        return found

    # ---------------------------------------------------------------- data

    def set_timeline(self, timeline: Timeline | None) -> None:
        """Show another timeline, from its newest frame, or whole if it is that of a capture.

        One with the same frames and more, or fewer after a rewind, is shown at the same place.
        """
        if timeline is not None and timeline is self.timeline:
            return
        former, was_following = self.series, self.is_following
        had_headers, self._is_whole = self.has_headers, self.opens_whole()
        self.timeline = timeline
        self.series = None
        self.settle()
        if timeline is not None:
            self.series = FrameSeries(timeline.frames, self.x_axis, self._measure)
        is_same = former is not None and self.series is not None and self.series.shares(former)
        if is_same and self.series is not None and self.chosen_frames is not None:
            start, stop = (min(edge, self.series.end) for edge in self.chosen_frames)
            self.choose_frames((start, stop) if stop > start else None)
        if not is_same:
            self.playhead_ns = None
            self.point_at(None)
            self.choose_frames(None)
            self._follow_usual()
        if self.is_following and self._is_whole:
            self.range.fit()
        self.settle()
        self.timeline_changed.emit(is_same)
        if self.has_headers != had_headers:
            self.margins_changed.emit()
        self.moved.emit()
        if self.is_following != was_following:
            self.following_changed.emit(self.is_following)

    def set_measure(self, measure: Measure) -> None:
        """Place frames by the time that is looked at, see :class:`.FrameSeries`."""
        self._measure = measure
        if self.series is not None and self.series.measure != measure:
            self.series.measure = measure
            if self.chosen_frames is not None:
                # Keep the same frames chosen, wherever they lie now.
                self.choose_frames(self.chosen_frames)
            self._move(lambda: None)

    def read_new_frames(self) -> None:
        series, timeline = self.series, self.timeline
        if series is None or timeline is None:
            return
        # Called by the frames, and by the lanes below them.
        series.read_new_frames()
        news = series, timeline.events_folded, timeline.at_ns, series.end
        if news != self._news:
            self._news = news
            if self.settle():
                self.moved.emit()

    def make_room_for_lanes(self, *, are_shown: bool) -> None:
        """Leave room after the present for predictions, if lanes are shown."""
        newest_at = PRESENT_AT if are_shown else 1.0
        if newest_at != self.range.newest_at:
            self.range.newest_at = newest_at
            self.margins_changed.emit()
            self._move(lambda: None)

    def leave_room(self, left: int) -> None:
        """Leave room at the left of the plots, so that all of them are equally wide."""
        if left != self.left:
            self.left = left
            self.margins_changed.emit()

    @property
    def left_edge(self) -> int:
        return self.plots_left or self.left

    def set_ruler(
        self, time_name: str, clock_id: int = 0, clocks: ClockPasts | None = None
    ) -> None:
        former = self.time_name, self.ruler_clock_id, self.clocks
        self.time_name, self.ruler_clock_id, self.clocks = time_name, clock_id, clocks
        if (time_name, clock_id, clocks) != former:
            self.ruler_changed.emit()

    def put_header(self, header: QWidget) -> None:
        self.header = header
        self.ruler_changed.emit()

    def ruler_name(self) -> str:
        past = None if self.clocks is None else self.clocks.by_id.get(self.ruler_clock_id)
        return self.time_name if past is None else f"local time of {past.name}"

    def ruler_ticks(self, window: LaneWindow) -> tuple[list[tuple[int, str]], str]:
        """Return the ticks of the ruler in pixels, with their texts, and the unit of the texts."""
        if self.ruler_clock_id:
            # Not kept: more may become known of the clock's past.
            return self._ruler_ticks(window)
        asked = window, self.x_axis, self.range.low
        if self._ticks is None or self._ticks[0] != asked:
            # Kept, because the ruler and the lanes below it both need them.
            self._ticks = asked, self._ruler_ticks(window)
        return self._ticks[1]

    def _ruler_ticks(self, window: LaneWindow) -> tuple[list[tuple[int, str]], str]:
        count = ticks_within(window.width)
        if self.x_axis is XAxis.TIME or (self.ruler_clock_id and self.clocks is not None):
            return ruler_ticks(window, self.clocks, self.ruler_clock_id)
        shown = self.range
        ticks, unit = axis_ticks(self.x_axis, shown.low, shown.high, count)
        scale = window.width / shown.span
        places = [(int(window.left + (place - shown.low) * scale), text) for place, text in ticks]
        return places, unit

    @property
    def has_lanes(self) -> bool:
        return self.range.newest_at < 1.0

    @property
    def has_headers(self) -> bool:
        """Whether headers stand beside the plots: not beside the frames of a capture alone."""
        return self.has_lanes or not self._is_whole

    def leave_room_for_names(self, share: float) -> None:
        """Leave a share of the width free on the right of all frames, for names of budgets."""
        if share != self._names_share:
            self._names_share = share
            self._move(lambda: None)

    def set_pixels(self, pixels: int) -> None:
        if pixels != self._pixels:
            self._pixels = pixels
            self._move(lambda: None)

    def settle(self) -> bool:
        """Bring the range in line with the data; returns whether it is another one."""
        series, wanted, has_lanes = self.series, self._wanted_axis, self.has_lanes
        is_empty = has_lanes and series is not None and series.first == series.end
        self.x_axis = XAxis.TIME if is_empty else wanted
        self.present_ns = 0 if self.timeline is None else self.timeline.at_ns
        self.present = None
        if series is None:
            return False
        if series.x_axis is not self.x_axis:
            self._change_axis()
        held_ns = self._find_hold(series)
        if held_ns is not None:
            self.present_ns = held_ns
        if not self._is_whole:
            is_by_time = self.x_axis is XAxis.TIME
            self.present = self.present_ns / NS_PER_SECOND if is_by_time else series.end - 0.5
        self.range.has_room, self.range.free = self.has_headers, self._names_share
        step = _STEP[self.x_axis] if has_lanes else 0.0
        bounds = self._bounds(series, is_empty=is_empty)
        held = None if held_ns is None else held_ns / NS_PER_SECOND
        return self.range.settle(*bounds, self._pixels, step, held)

    def _find_hold(self, series: FrameSeries) -> int | None:
        """Return the instant of the hold, or of frames stepped since, if time passes meanwhile."""
        timeline = self.timeline
        is_by_time = self.has_lanes and self.x_axis is XAxis.TIME
        if timeline is None or timeline.is_running or not is_by_time:
            return None
        held_ns = _stopped_ns(timeline) if self.passes_while_held() else None
        if held_ns is None or series.first == series.end:
            return held_ns
        return max(round(series.bounds()[1] * NS_PER_SECOND), held_ns)

    def _bounds(self, series: FrameSeries, *, is_empty: bool = False) -> tuple[float, float]:
        first, last = series.bounds()
        if self.has_lanes and series.x_axis is XAxis.TIME:
            first, last = min(first, 0.0), max(last, self.present_ns / NS_PER_SECOND)
            if is_empty:
                # A trace may be over in microseconds.
                last = self.present_ns / NS_PER_SECOND or 1e-3
        return first, last

    # ---------------------------------------------------------------- the axis

    def set_x_axis(self, x_axis: XAxis) -> None:
        """Count frames or session time, with the same frames in view."""
        if x_axis is not self._wanted_axis:
            self._wanted_axis = x_axis
            self.settle()
            if self.series is None:
                self._follow_usual()
            self.moved.emit()

    def _change_axis(self) -> None:
        series = self.series
        assert series is not None, "there is another axis only for frames"
        start, stop = self.visible_frames()
        mode = self.range.mode
        series.x_axis = self.x_axis
        self._follow_usual()
        if stop > start:
            low, high = series.start_of(start), series.start_of(stop)
            if mode is ViewMode.FOLLOW:
                span = max((high - low) / self.range.newest_at, self.range.span / 20)
                self.range.high = self.range.low + span
            else:
                self.range.first, self.range.last = self._bounds(series)
                self.range.set_span(low, high)
                self.range.mode = mode
        self.hover = None

    def _follow_usual(self) -> None:
        low = -0.5 if self.x_axis is XAxis.FRAME else 0.0
        self.range = AxisRange(
            *(low, low + FOLLOWED[self.x_axis], ViewMode.FOLLOW, _SHORTEST[self.x_axis]),
            newest_at=self.range.newest_at,
        )

    def x_of_ns(self, at_ns: float) -> float | None:
        """Return the position of an instant; of frames, the middle of the one it is in."""
        return None if self.series is None else self.series.x_of_ns(int(at_ns))

    def ns_of(self, x: float) -> float:
        if self.x_axis is XAxis.TIME:
            return x * NS_PER_SECOND
        return self._bends(x, x).instant(x)

    def frame_ns_of(self, x: float) -> int | None:
        """Return the instant of the frame at a position; without any frame ``None``."""
        series = self.series
        if series is None or series.first == series.end:
            return None
        if self.x_axis is XAxis.TIME:
            return max(0, round(x * NS_PER_SECOND))
        return series.history.frame(min(max(round(x), series.first), series.end - 1)).at_ns

    def lane_window(self, left: int, width: int) -> LaneWindow:
        """Return what is in view as instants, for lanes ``width`` pixels wide."""
        low, high = self.range.low, self.range.high
        if self.x_axis is XAxis.TIME:
            edges = low * NS_PER_SECOND, high * NS_PER_SECOND
            return LaneWindow(*edges, left, width, self.present_ns)
        bends = self._bends(low, high)
        pixels = (bends.places - low) * (width / self.range.span)
        return LaneWindow(
            *(bends.instant(low), bends.instant(high), left, width, self.present_ns),
            Bends(bends.instants, pixels),
        )

    def _bends(self, low: float, high: float) -> Bends:
        """Return which instants are at which positions, from one to another and far beyond."""
        series = self.series
        assert series is not None, "without a timeline the axis has no instants"
        history, end = series.history, series.end
        start, stop = series.frames_within(low, high)
        start, stop = max(start - 1, series.first), min(stop + 2, end)
        start = min(start, max(stop - 2, series.first))
        # Copied: arrays of frames can grow only while nothing refers to them.
        at_ns = history.numpy("at_ns", start, stop).astype(np.float64)
        places = np.arange(start, stop) - 0.5 + series.counts_back
        recent = history.numpy("at_ns", end - _RECENT, end)
        usual_ns = NS_PER_SECOND * FOLLOWED[XAxis.TIME] / FOLLOWED[XAxis.FRAME]
        if len(recent) > 1:
            usual_ns = max((recent[-1] - recent[0]) / (len(recent) - 1), 1e3)
        if start == stop:
            # Lanes that are not shown yet may call this before there is a frame.
            at_ns, places = np.zeros(1), np.array([-0.5])
        ends = ((at_ns[0] - _FAR * usual_ns), at_ns, at_ns[-1] + np.array([1.0, _FAR]) * usual_ns)
        beyond = (places[0] - _FAR, places, places[-1] + np.array([1.0, _FAR]))
        return Bends(np.hstack(ends), np.hstack(beyond))

    # ---------------------------------------------------------------- moving about

    @property
    def is_following(self) -> bool:
        return self.range.mode is ViewMode.FOLLOW

    def fit(self) -> None:
        """Show everything, including what is still to come."""
        self._move(self.range.fit)

    def fit_chosen(self) -> None:
        edges = self.chosen_edges
        if edges is None or (self.range.low, self.range.high) == edges:
            self.fit()
        else:
            self.set_span(*edges)

    def set_span(self, low: float, high: float) -> None:
        """Show a part of the axis; stops following."""
        if self.series is not None:
            self._move(lambda: self.range.set_span(low, high))

    def set_frame_span(self, start: int, stop: int) -> None:
        """Show the frames ``start`` to ``stop - 1``; stops following."""
        if self.series is not None and stop > start:
            self.set_span(self.series.start_of(start), self.series.start_of(stop))

    def set_span_ns(self, low_ns: float, high_ns: float) -> None:
        self.set_span(self._edge_of(low_ns), self._edge_of(high_ns))

    @Slot(object)
    def bring_into_view(self, span_ns: tuple[int, int]) -> None:
        low, high = map(self._edge_of, span_ns)
        margin = (high - low) * _ROOM
        low, high = low - margin, high + margin
        self._slide(min(low, self.range.first_to_reach(high)), high)

    @Slot(bool)
    def set_following(self, is_following: bool) -> None:  # noqa: FBT001 - follows a toggle
        if is_following == self.is_following:
            return
        if is_following:
            self._move(lambda: self.range.follow(FOLLOWED[self.x_axis]))
        else:
            self._move(lambda: setattr(self.range, "mode", ViewMode.FREE))

    def go_live(self) -> None:
        self.set_following(True)
        self.live_requested.emit()

    def zoom(self, factor: float, about: float | None = None) -> None:
        """Show ``factor`` times as much, keeping a place of the axis (the middle) where it is."""
        if self.series is not None:
            self._move(lambda: self.range.zoom(factor, about))

    def pan(self, share: float) -> None:
        """Move by a share of what is in view; stops following."""
        if self.series is not None:
            self._move(lambda: self.range.pan(share * self.range.span))

    def slide_to(self, place: float) -> None:
        """Bring a position into the middle of the view; stops following."""
        half = self.range.span / 2
        self._slide(place - half, place + half)

    def _slide(self, low: float, high: float) -> None:
        """Show a part of the axis, gradually where things may move."""
        if self.series is None:
            return
        if not self.slide_ms:
            self.set_span(low, high)
            return
        self._animation.stop()
        self._animation.setDuration(self.slide_ms)
        # Each of these calls would otherwise move the view to where it is already.
        with QSignalBlocker(self._animation):
            self._animation.setStartValue(QPointF(self.range.low, self.range.high))
            self._animation.setEndValue(QPointF(low, high))
            self._animation.start()

    @Slot(object)
    def _slide_on(self, edges: QPointF) -> None:
        self._is_sliding = True
        self.set_span(edges.x(), edges.y())
        self._is_sliding = False

    def _move(self, change: Callable[[], None]) -> None:
        if not self._is_sliding:
            self._animation.stop()
        was_following = self.is_following
        change()
        self.settle()
        self.moved.emit()
        if self.is_following != was_following:
            self.following_changed.emit(self.is_following)

    # ---------------------------------------------------------------- what is marked

    def point_at(self, x: float | None) -> None:
        """Show where the pointer is on the axis, in one of the plots; ``None`` for nowhere."""
        self._is_pointed_at = x is not None
        self._hover_at(x)

    @Slot(object)
    def set_hover_ns(self, at_ns: int | None) -> None:
        if at_ns is None or not self._is_pointed_at:
            self._hover_at(None if at_ns is None else self.x_of_ns(at_ns))

    def _hover_at(self, x: float | None) -> None:
        if x != self.hover:
            self.hover = x
            self.hover_moved.emit()

    @property
    def playhead(self) -> float | None:
        return None if self.playhead_ns is None else self.x_of_ns(self.playhead_ns)

    @property
    def shown(self) -> float | None:
        """Where the instant that is shown is on the axis: the playhead, or else the present."""
        return self.present if self.playhead_ns is None else self.playhead

    @Slot(object)
    def set_playhead_ns(self, at_ns: int | None) -> None:
        """Show the playhead at an instant, and have it in view; ``None`` for nowhere."""
        if at_ns == self.playhead_ns:
            return
        self.playhead_ns = at_ns
        self.playhead_shown.emit()
        x, shown = self.playhead, self.range
        if x is None or self.is_scrubbing or shown.low <= x <= shown.high:
            return
        # From far outside, it moves into the middle; from near the edge, only as far as needed.
        edge = shown.low if x < shown.low else shown.high
        if abs(x - edge) < _NEAR_EDGE * shown.span:
            self.pan((x - edge) / shown.span)
        else:
            self.slide_to(x)

    # ---------------------------------------------------------------- frames and ranges

    def visible_frames(self) -> tuple[int, int]:
        if self.series is None:
            return 0, 0
        # A frame that only touches the edge is not in view.
        tiny = 1e-9 * max(1.0, abs(self.range.high))
        return self.series.frames_within(self.range.low + tiny, self.range.high - tiny)

    def visible_ns(self) -> tuple[int, int] | None:
        """Return the session time of the frames in view, ``None`` without any."""
        start, stop = self.visible_frames()
        return None if self.series is None or start >= stop else self._ns_of_frames(start, stop)

    def ns_of_frame(self, frame: int) -> tuple[int, int]:
        return self._ns_of_frames(frame, frame + 1)

    def chosen_span(self) -> tuple[int, int] | None:
        """Return the selected range as far as the session has come, ``None`` without one."""
        if self.chosen_ns is None:
            return None
        low, high = (min(round(each), self.present_ns) for each in self.chosen_ns)
        return (low, high) if low < high else None

    @property
    def chosen_edges(self) -> tuple[float, float] | None:
        if self.chosen_ns is None or self.series is None:
            return None
        if self.chosen_frames is not None:
            start, stop = self.chosen_frames
            edges_ns: tuple[float, float] = self._ns_of_frames(start, stop)
            if edges_ns == self.chosen_ns:
                return self.series.start_of(start), self.series.start_of(stop)
        return self._edge_of(self.chosen_ns[0]), self._edge_of(self.chosen_ns[1])

    def choose_frames(self, frames: tuple[int, int] | None) -> None:
        self._choose(frames, None if frames is None else self._ns_of_frames(*frames))

    def choose_ns(self, one_ns: float, other_ns: float) -> None:
        low, high = (max(each, 0.0) for each in sorted((one_ns, other_ns)))
        frames = None
        if self.series is not None:
            start, stop = map(self.series.first_from_ns, (low, high))
            frames = (start, stop) if start < stop else None
        self._choose(frames, (low, high))

    def choose_between(self, one: float, other: float) -> None:
        """Select the frames between two positions of the axis, including partial ones."""
        if self.series is not None:
            start, stop = self.series.frames_within(*sorted((one, other)))
            self.choose_frames((start, stop) if stop > start else None)

    def _choose(self, frames: tuple[int, int] | None, span_ns: tuple[float, float] | None) -> None:
        if (frames, span_ns) != (self.chosen_frames, self.chosen_ns):
            self.chosen_frames, self.chosen_ns = frames, span_ns
            self.range_chosen.emit(frames)

    def _ns_of_frames(self, start: int, stop: int) -> tuple[int, int]:
        series = self.series
        assert series is not None, "asked for frames"
        is_open = stop >= series.end and not series.counts_back
        newest_ns = series.history.at_ns[-1]
        end_ns = max(self.present_ns, newest_ns) if is_open else series.start_ns(stop)
        return series.start_ns(start), end_ns

    def _edge_of(self, at_ns: float) -> float:
        """Return where on the axis an instant is, between the edges of its frame too."""
        if self.x_axis is XAxis.TIME:
            return at_ns / NS_PER_SECOND
        middle = self.x_of_ns(at_ns) or 0.0
        return self._bends(middle - 1, middle + 1).place(at_ns)


def _stopped_ns(timeline: Timeline) -> int | None:
    """Return when the last of the clocks stopped that stop others, ``None`` if none has."""
    stopped_ns, waiting = [], [timeline.root_id or 0]
    while waiting:
        clock = timeline.clocks.get(waiting.pop())
        if clock is None:
            continue
        if clock.n == 0:
            stopped_ns.append(clock.paused_since_ns)
        else:
            waiting += clock.children
    return max(stopped_ns, default=None)


def _expects_news(bridge: SessionBridge) -> bool:
    return bridge.session is not None and bridge.session.expects_news


def _note_move(view: SharedView, bridge: SessionBridge) -> None:
    # The user moves the view unless it follows the session or is taken along by a playing
    # playhead.
    if not (view.is_following or bridge.playhead.is_playing):
        bridge.refresh_timer.note_move()


def _shows_capture(bridge: SessionBridge) -> bool:
    """Return whether a capture is open: all of it has passed, so there is nothing to follow."""
    return isinstance(bridge.session, ShowsCapture)
