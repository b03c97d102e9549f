"""The scrolled area of the lanes: rows in view, their places, widths of headers, pointing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QHelpEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QScrollBar,
    QStyle,
    QStyleOptionSlider,
    QToolTip,
    QWidget,
)
from typing_extensions import override

from inspector.analysis.lanes.lanes import Lane, LaneKey, LaneKind, LaneStore
from inspector.analysis.lanes.rows import LaneRow, RowChoices, quiet_lanes, rows_of
from inspector.analysis.lanes.states import state_numbers
from inspector.analysis.lanes.waits import LaneWait, lane_wait
from inspector.analysis.lateness.blocks import Block, DelayedCall
from inspector.commands.clocks import PauseClock
from inspector.commands.command import Command
from inspector.display_text import as_plain, counted
from inspector.events.timeline import Timeline
from inspector.formats.arrangement.frame_series import XAxis
from inspector.formats.arrangement.lane_layout import SLICE_LEVELS, slice_line
from inspector.formats.arrangement.lane_window import LaneWindow, drawable
from inspector.timebase import format_duration
from inspector.tokens import size_by_height, size_by_width

from ..kit.fonts import small_font, text_scale
from ..kit.guards import guarded
from ..kit.throttled_refresh import single_shot
from ..plotting.shared_view import SharedView
from ..selected.commands import rate_command
from ..session.bridge import Selection, SelectionKind
from .lane_headers import (
    HeaderPlaces,
    HeaderState,
    header_name,
    header_places,
    header_reading,
    header_state,
    name_font,
    name_left,
    pending_of,
)
from .lane_readout import NEAR, LaneReader, LaneReading
from .lane_rows import RowPlaces, is_about, subject_of

_LEAST_HEADER: Final = 160
_WIDEST_HEADER: Final = 400
#: Pixels between a text and the right edge.
_EDGE: Final = 8
_BAR_WIDTH: Final = 10
_BAR_PAD: Final = 2
#: While time passes, lanes that have come are shown after one refresh for each this many rows: all
#: are arranged anew, which takes as long as a picture for every few hundred.
_ROWS_PER_REFRESH: Final = 250
#: Milliseconds after which they are shown at the latest.
_CATCH_UP_MS: Final = 2_000
#: Share of the view by which it must have moved before lanes are folded away again.
_FAR: Final = 0.2


@guarded
class LaneSurface(QAbstractScrollArea):
    #: The instant under the pointer.
    instant_hovered = Signal(object)  # int | None
    #: What the row under the pointer is about.
    subject_pointed = Signal(object)  # Selection
    #: A subject was clicked.
    subject_chosen = Signal(object)  # Selection
    #: The playhead was moved: an instant of session time in nanoseconds.
    playhead_moved = Signal(object)  # int
    #: The right button was pressed: on a row or ``None``, at a position of the screen.
    menu_requested = Signal(object, object)  # LaneRow | None, QPoint
    #: The lane of the keyboard has changed.
    lane_chosen = Signal(object)  # LaneRow | None
    #: The lanes or their order have changed.
    rows_arranged = Signal()
    #: The headers have another width or height.
    header_resized = Signal()
    #: The button of a clock was pressed, or the chip with its rate, at a place in the viewport.
    pause_pressed = Signal(int)
    rate_pressed = Signal(int, object)  # clock, QRect
    #: The user wants to type a rate of a clock.
    other_rate_wanted = Signal(int)
    #: The user wants to open the line of source code that a row comes from.
    source_wanted = Signal(object)  # LaneRow

    def __init__(self, parent: QWidget | None = None, view: SharedView | None = None) -> None:
        """Show lanes along a view, by default one of their own."""
        super().__init__(parent)
        self.store = LaneStore()
        # What is in view, and what is marked; shared with other plots
        self.view = view or SharedView(self, XAxis.TIME)
        self.choices = RowChoices()
        self.timeline = Timeline([""])
        self.pinned = RowPlaces((), ())
        self.rows = RowPlaces((), ())
        self.chosen_key: LaneKey | None = None  # The lane of the keyboard
        self.caret_ns: int | None = None  # The firing or mark that was gone to
        # is_live: Whether what headers show can be changed
        # has_controls: Whether clocks can be paused and have rates at all
        self.is_live = self.has_controls = True
        # Returns why the session refuses a command; set where clocks allow different things
        self.why_not: Callable[[Command], str] | None = None
        self.past: Timeline | None = None  # The state at the playhead; None for the present
        self._drawn_past: Timeline | None = None
        self.text_turn = 0
        self._strings: Sequence[str] = ("",)
        self.reader = LaneReader(self.store, self.timeline, self._strings)
        self.reading: LaneReading | None = None  # What is read at the pointer, None for nothing
        self.pointer: QPointF | None = None  # Where the pointer is in the lanes, None elsewhere
        self._selection = self._pointed = Selection()
        self._state_numbers: dict[int, dict[int, int]] = {}
        # States of headers, kept until clocks change, each with what else it depends on.
        self._states: dict[LaneKey, tuple[object, HeaderState]] = {}
        self._states_at = (0, 0)
        self._rows_version = -1
        self.keeps_rows = False  # Whether lanes are left out for now that have come
        self._refreshes = 0  # How many there were since the rows were arranged
        # No refresh may follow that has left out lanes.
        self._catch_up = single_shot(self, self._fold_away, _CATCH_UP_MS)
        self._quiet: frozenset[Lane] = frozenset()
        self._quiet_at = (0.0, 0.0)
        self._header_width: int | None = None
        self._kept_room = 0, 1
        self._room_for: tuple[int, int] | None = None
        self._row_heights = _row_heights(0)
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Instead, a scroll bar that takes no room lies over the lanes.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll_bar = OverlayScrollBar(self)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("Timeline")
        if view is None:
            self.view.make_room_for_lanes(are_shown=True)
        for changed in (
            *(self.view.hover_moved, self.view.playhead_shown, self.view.range_chosen),
            *(self.view.margins_changed, self.view.ruler_changed),
        ):
            changed.connect(self._repaint)
        self.view.moved.connect(self._follow_view)

    # ---------------------------------------------------------------- what is drawn

    def set_session(
        self,
        timeline: Timeline,
        strings: Sequence[str],
        store: LaneStore,
        delayed_by: Callable[[Block], Sequence[DelayedCall]] = lambda _: (),
    ) -> None:
        """Show another session; choices about rows are kept."""
        self.store, self.timeline, self._strings = store, timeline, strings
        self.reader = LaneReader(store, timeline, strings, delayed_by)
        self._state_numbers.clear()
        self._states.clear()
        self.caret_ns = None
        self._rows_version = -1
        self.view.set_timeline(timeline)
        self.refresh()

    def refresh(self, *, has_texts: bool = True) -> None:
        """Show what is new; texts of what runs are updated only with ``has_texts``."""
        self.text_turn += has_texts
        self.view.read_new_frames()
        self._refreshes += 1
        window = self._fold_away(is_rare=has_texts)
        self._follow_pointer(has_texts=has_texts)
        changed = self.viewport().rect()
        is_other_past, self._drawn_past = self.past is not self._drawn_past, self.past
        if not has_texts:
            is_settled = window.high < min(self.store.read_ns, self.present_ns)
            if is_settled and not is_other_past:
                # Everything in view has passed, so nothing changes.
                return
            # Without the names: they change with the texts, or with a clock, which the picture
            # notices itself.
            changed.setLeft(window.left)
        self.viewport().update(changed)

    def _fold_away(self, *, is_rare: bool = True) -> LaneWindow:
        """Arrange the rows again if there are others, or lanes come into view or leave it."""
        window = self.lane_window()
        if self._rows_version != self.store.version and not self.keeps_rows:
            if is_rare or self._refreshes * _ROWS_PER_REFRESH >= len(self.rows.rows):
                self.arrange_rows()
            elif not self._catch_up.isActive():
                self._catch_up.start()
            return window
        low, high = self._quiet_at
        # Only now and then: rows that come and go all the time are hard to read.
        if abs(window.low - low) + abs(window.high - high) > _FAR * window.span:
            quiet, self._quiet = self._quiet, self._quiet_lanes()
            if self._quiet != quiet:
                self._place_rows()
        return window

    def _quiet_lanes(self) -> frozenset[Lane]:
        window = self.lane_window()
        self._quiet_at = window.low, window.high
        quiet = quiet_lanes(self.store, window.low, window.high)
        # The lane of the keyboard stays, or the next key would be about another one.
        return frozenset(each for each in quiet if each.key != self.chosen_key)

    def arrange_rows(self) -> None:
        self._rows_version, self._refreshes = self.store.version, 0
        self._catch_up.stop()
        self._quiet = self._quiet_lanes()
        self._place_rows()

    def _place_rows(self) -> None:
        pinned, rows = rows_of(self.store, self.choices, self._quiet)
        heights = self._heights()
        self.pinned = RowPlaces(pinned, [heights[row.kind] for row in pinned])
        self.rows = RowPlaces(rows, [heights[row.kind] for row in rows])
        self._fit_scroll_bar()
        self.updateGeometry()
        self.rows_arranged.emit()
        self.viewport().update()

    def choose_words(self, text: str) -> None:
        self.choices.words = tuple(text.lower().split())
        self.arrange_rows()

    def choose_kind(self, kind: LaneKind, *, is_shown: bool) -> None:
        self.choices.hidden.discard(kind)
        if not is_shown:
            self.choices.hidden.add(kind)
        self.arrange_rows()

    # ---------------------------------------------------------------- questions

    @property
    def has_rows(self) -> bool:
        return bool(self.rows.rows or self.pinned.rows)

    @property
    def present_ns(self) -> int:
        return self.timeline.at_ns

    @property
    def hover_ns(self) -> float | None:
        hover = self.view.hover
        return None if hover is None else self.view.ns_of(hover)

    @property
    def header_width(self) -> int:
        return self._room()[0]

    @property
    def text_scale(self) -> float:
        return text_scale(self)

    @property
    def lane_width(self) -> int:
        return self._room()[1]

    def _room(self) -> tuple[int, int]:
        """Return from which pixel on lanes are, and on how many."""
        # Kept, because it is called several times in each refresh.
        made_for = self.viewport().width(), self.window().width()
        if made_for != self._room_for:
            self._room_for, scale = made_for, self.text_scale
            usual = size_by_width("lane_headers", made_for[1] / scale)
            wanted = self._header_width or round(usual * scale)
            left = min(wanted, max(made_for[0] // 2, 1))
            self._kept_room = left, max(made_for[0] - left, 1)
        return self._kept_room

    def lane_window(self) -> LaneWindow:
        return self.view.lane_window(*self._room())

    def at_x(self, x: float) -> float:
        return self.lane_window().at(min(max(x, self.header_width), self.viewport().width()))

    def axis_at(self, x: float) -> float:
        share = (x - self.header_width) / self.lane_width
        return self.view.range.low + min(max(share, 0.0), 1.0) * self.view.range.span

    def x_of(self, place: float) -> float:
        shown, (left, width) = self.view.range, self._room()
        return drawable(left + (place - shown.low) / shown.span * width)

    def row_at(self, y: float) -> LaneRow | None:
        if y < self.pinned.height:
            place = self.pinned.at(y)
            return None if place is None else self.pinned.rows[place]
        place = self.rows.at(y - self.pinned.height + self.verticalScrollBar().value())
        return None if place is None else self.rows.rows[place]

    def place_of(self, row: LaneRow, at_ns: float) -> QPointF:
        top, bottom = self._edges_of(row)
        return QPointF(self.lane_window().x(at_ns), (top + bottom) / 2)

    def _edges_of(self, row: LaneRow) -> tuple[int, int]:
        if row.is_pinned:
            place, places, y = self.pinned.rows.index(row), self.pinned, 0
        else:
            place, places = self.rows.rows.index(row), self.rows
            y = self.pinned.height - self.verticalScrollBar().value()
        return y + places.top(place), y + places.bottom(place)

    def reading_at(self, place: QPointF) -> LaneReading | None:
        row = self.row_at(place.y())
        if row is None:
            return None
        near_ns, line = NEAR * self.lane_window().per_pixel, None
        if row.kind is LaneKind.SLICES:
            line = slice_line(place.y(), *self._edges_of(row))
        return self.reader.read(row, self.at_x(place.x()), near_ns, line)

    def row(self, key: LaneKey | None) -> LaneRow | None:
        rows = (*self.pinned.rows, *self.rows.rows)
        return next((row for row in rows if row.key == key), None)

    def text(self, number: int) -> str:
        return self._strings[number] if 0 <= number < len(self._strings) else ""

    def member_name(self, number: int) -> str:
        member = self.timeline.members.by_id.get(number)
        return "" if member is None else member.name

    def state_number(self, machine_id: int) -> Callable[[int], int]:
        """Return the numbering of the states of a machine, as in its diagram."""
        numbers = self._state_numbers.setdefault(machine_id, {})

        def number_of(state: int) -> int:
            if state not in numbers:
                known = state_numbers(self.timeline.members, machine_id)
                numbers.update((each, number) for number, each in enumerate(known))
            return numbers.setdefault(state, len(numbers))

        return number_of

    def is_selected(self, row: LaneRow) -> bool:
        return is_about(row, self._selection)

    def is_pointed(self, row: LaneRow) -> bool:
        """Return whether a row is about what is pointed at, in whichever panel."""
        return is_about(row, self._pointed)

    @property
    def marked_things(self) -> tuple[Selection, Selection]:
        return self._selection, self._pointed

    def set_pointed(self, thing: Selection) -> None:
        self._pointed = thing
        self.viewport().update()

    def selected_frame_span(self) -> tuple[int, int] | None:
        # Of the frames that the view has read: those of its timeline may be others by now.
        series, index = self.view.series, self._selection.id
        if self._selection.kind is not SelectionKind.FRAME or series is None:
            return None
        return self.view.ns_of_frame(index) if series.first <= index < series.end else None

    def kept_bottom(self) -> int:
        """Return the lower edge of the lanes whose records are never dropped."""
        kept = [place for place, row in enumerate(self.rows.rows) if not row.clock_id]
        bottom = self.rows.bottom(kept[-1]) if kept else 0
        return self.pinned.height + max(bottom - self.verticalScrollBar().value(), 0)

    def measured_text(self) -> str:
        if self.view.chosen_ns is None:
            return ""
        low, high = self.view.chosen_ns
        clocks, number = self.store.clocks, self.view.ruler_clock_id
        edges = [clocks.local_ns(number, int(each)) for each in (low, high)] if number else [None]
        known = [edge for edge in edges if edge is not None]
        local = known[1] - known[0] if len(known) == 2 else None  # noqa: PLR2004 - both edges
        row = self.row(self.chosen_key)
        count = "" if row is None else f"{self.reader.count(row, low, high):,} on {row.label}"
        text = format_duration(round(high - low))
        if local is not None:
            text += f"   {format_duration(local)} local"
        return f"{text}   {count}" if count else text

    def header_state(self, row: LaneRow) -> HeaderState:
        state = self._header_state(row)
        if not self.has_controls:
            return state._replace(rate="")
        is_asked = row.kind is LaneKind.CLOCK and self.past is None
        is_fixed = is_asked and bool(self._refusal(PauseClock(row.clock_id)))
        return state._replace(is_fixed=True) if is_fixed else state

    def _refusal(self, command: Command) -> str:
        return "" if self.why_not is None else self.why_not(command)

    def _header_state(self, row: LaneRow) -> HeaderState:
        lane, timeline = row.lane, self.timeline
        if self.past is not None:
            return header_state(row, self.past, is_past=True)
        if row.kind is LaneKind.CLOCK and row.is_folded:
            # Not kept: how many of its timers are pending changes with each call.
            return header_state(row, timeline, is_past=False)
        clocks = timeline.structure_version, timeline.mapping_version
        if clocks != self._states_at:
            self._states_at = clocks
            self._states.clear()
        known = None
        if row.kind is LaneKind.TIMER and lane is not None:
            known = lane.pending.version, len(lane.instants)
        kept = self._states.get(row.key)
        if kept is None or kept[0] != known:
            kept = self._states[row.key] = known, header_state(row, timeline, is_past=False)
        return kept[1]

    def small_font(self) -> QFont:
        return small_font(self)

    def wait_at(self, row: LaneRow, x: float) -> LaneWait | None:
        """Return what a lane waits for where it says so, at its right edge."""
        if row.kind is not LaneKind.TIMER or row.lane is None:
            return None
        timeline = self.timeline if self.past is None else self.past
        timeline.resolve_dues()
        window = self.lane_window()
        waits = lane_wait(row.lane, timeline, window.high, is_past=self.past is not None)
        text = waits.text(0)
        width = QFontMetrics(self.small_font()).horizontalAdvance(text) + 2 * _EDGE
        right = window.left + window.width
        return waits if text and right - width <= x < right else None

    def header_places(self, row: LaneRow) -> HeaderPlaces:
        """Return where the buttons of a row are; nowhere on rows without."""
        rate, unit, box = self.header_state(row).rate, self.text_scale, self.header_box(row)
        name = QFontMetrics(name_font(row, self.font())).horizontalAdvance(header_name(row))
        return header_places(box, unit, self.small_font(), rate, name_left(row, unit) + name)

    def header_box(self, row: LaneRow) -> QRect:
        middle, height = int(self.place_of(row, 0).y()), self._heights()[row.kind]
        return QRect(0, middle - height // 2, self.header_width, height)

    def reading_of(self, row: LaneRow) -> str:
        timeline = self.timeline if self.past is None else self.past
        timeline.resolve_dues()
        is_past = self.past is not None
        return header_reading(row, self.header_state(row), timeline, is_past=is_past)

    def set_header_width(self, width: int) -> None:
        self._header_width = min(max(width, _LEAST_HEADER), _WIDEST_HEADER)
        self._room_for = None
        self._apply_width()

    # ---------------------------------------------------------------- pointing

    def point_at(self, place: QPointF | None) -> None:
        reading = at_ns = self.pointer = None
        row = None if place is None else self.row_at(place.y())
        self.subject_pointed.emit(Selection() if row is None else subject_of(row))
        if place is not None and place.x() >= self.header_width:
            at_ns, self.pointer = self.at_x(place.x()), place
            reading = self.reading_at(place)
            self.view.point_at(self.axis_at(place.x()))
        else:
            self.view.point_at(None)
        self.set_reading(reading)
        self._hover_at(at_ns)

    def refresh_texts(self, *, are_painted: bool) -> None:
        """Write the texts of what runs again, and read what is under the pointer."""
        self.text_turn += 1
        self._follow_pointer(has_texts=True)
        if are_painted:
            self.viewport().update()

    def _follow_pointer(self, *, has_texts: bool) -> None:
        """Note that something else may be under the pointer; it is read with the next texts."""
        place = self.pointer
        if place is None or not self.view.is_following:
            return
        if has_texts:
            self.point_at(place)
        else:
            self.view.point_at(self.axis_at(place.x()))
            self._hover_at(self.at_x(place.x()))

    def _hover_at(self, at_ns: float | None) -> None:
        is_known = at_ns is not None and 0 <= at_ns <= self.present_ns
        self.instant_hovered.emit(int(at_ns) if at_ns is not None and is_known else None)

    @property
    def delayed(self) -> tuple[DelayedCall, ...]:
        """The calls that the blocked stretch under the pointer delayed."""
        return () if self.reading is None else self.reading.delayed

    def set_reading(self, reading: LaneReading | None) -> None:
        if reading is not None or self.reading is not None:
            self.reading = reading
            self.viewport().update()

    def set_cursor(self, shape: Qt.CursorShape | None) -> None:
        if shape is None:
            self.viewport().unsetCursor()
        else:
            self.viewport().setCursor(shape)

    # ---------------------------------------------------------------- events

    @override
    def event(self, event: QEvent) -> bool:
        # The viewport passes it on, as it has no tool tip. An override of viewportEvent() would
        # be called for each paint.
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            row = self.row_at(event.pos().y()) if event.pos().x() < self.header_width else None
            text = "" if row is None else self._header_tip(row, event.pos())
            QToolTip.showText(event.globalPos(), as_plain(text), self)
            return True
        return super().event(event)

    def _header_tip(self, row: LaneRow, place: QPoint) -> str:
        places = self.header_places(row)
        if self.is_live and places.pause.contains(place):
            verb = "Resume" if self.header_state(row).is_paused else "Pause"
            tip, reason = f"{verb} {row.label} (P)", self._refusal(PauseClock(row.clock_id))
        elif self.is_live and places.rate.contains(place):
            reason = self._refusal(rate_command(row.clock_id, Fraction(1)))
            tip = f"Rate of {row.label} (R)"
        else:
            kind = "" if row.is_of_several else f" ({row.kind.text})"
            tip, reason = f"{row.label}{kind}", ""
            timeline = self.timeline if self.past is None else self.past
            count = pending_of(row, timeline)
            tip = f"{tip}\n{counted(count, 'timer')} pending" if count else tip
        return f"{tip}\nUnavailable: {reason}." if reason else tip

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if _row_heights(self.window().height() / self.text_scale) != self._row_heights:
            self._fit_rows()
        self._fit_scroll_bar()
        self._apply_width()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._room_for = None
            self._fit_rows()

    def _fit_rows(self) -> None:
        """Give rows the heights that suit the window and the size of its text."""
        self._row_heights = _row_heights(self.window().height() / self.text_scale)
        self.arrange_rows()

    @override
    def sizeHint(self) -> QSize:
        return QSize(600, self.pinned.height + self.rows.height)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(120, 3 * self.fontMetrics().height())

    # ---------------------------------------------------------------- inside

    def _heights(self) -> dict[LaneKind, int]:
        """Return how high the rows of each kind are."""
        line = self.fontMetrics().height()
        clock, other = (max(round(each * self.text_scale), line) for each in self._row_heights)
        return dict.fromkeys(LaneKind, other) | {
            LaneKind.CLOCK: clock,
            LaneKind.SLICES: SLICE_LEVELS * (line + 2) + 4,
            LaneKind.COUNTER: 2 * line + 4,
        }

    def _apply_width(self) -> None:
        self.view.leave_room(self.header_width)
        self.view.set_pixels(round(self.lane_width * self.devicePixelRatioF()))
        self.header_resized.emit()
        self.viewport().update()

    @Slot()
    def _follow_view(self) -> None:
        # A following view moves because of new events, which the next refresh shows.
        if not self.view.is_following:
            self._fold_away()
            if self.pointer is not None:
                self.point_at(self.pointer)
            self.viewport().update()

    @Slot()
    def _repaint(self, _what: object = None) -> None:
        self.viewport().update()

    def _fit_scroll_bar(self) -> None:
        room = self.viewport().height() - self.pinned.height
        bar = self.verticalScrollBar()
        bar.setPageStep(max(room, 1))
        bar.setSingleStep(self.fontMetrics().height())
        bar.setRange(0, max(self.rows.height - room, 0))


def _row_heights(window_height: float) -> tuple[int, int]:
    """Return the heights of the lanes of clocks and of others, at 100 % text."""
    return size_by_height("clock_lane", window_height), size_by_height("timer_lane", window_height)


@guarded
class OverlayScrollBar(QScrollBar):
    """Does what the vertical scroll bar of an area does, at its right edge; hidden if all fits."""

    def __init__(self, area: QAbstractScrollArea) -> None:
        super().__init__(Qt.Orientation.Vertical, area)
        self._area = area
        self._bar = area.verticalScrollBar()
        self.setAccessibleName("Scroll")
        self._bar.rangeChanged.connect(self._follow)
        self._bar.valueChanged.connect(self.setValue)
        self.valueChanged.connect(self._bar.setValue)
        self.actionTriggered.connect(self._bar.actionTriggered)
        area.installEventFilter(self)
        self._follow()

    @Slot()
    def _follow(self) -> None:
        self.setPageStep(self._bar.pageStep())
        self.setSingleStep(self._bar.singleStep())
        self.setRange(self._bar.minimum(), self._bar.maximum())
        self.setValue(self._bar.value())
        self.setVisible(self._bar.maximum() > self._bar.minimum())
        area = self._area
        self.setGeometry(area.width() - _BAR_WIDTH, 0, _BAR_WIDTH, area.height())

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._follow()
        return False

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        control, part = QStyle.ComplexControl.CC_ScrollBar, QStyle.SubControl.SC_ScrollBarSlider
        box = QRectF(self.style().subControlRect(control, option, part, self))
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.palette().color(QPalette.ColorRole.PlaceholderText))
            painter.setOpacity(0.5)
            inner = box.adjusted(_BAR_PAD, _BAR_PAD, -_BAR_PAD, -_BAR_PAD)
            painter.drawRoundedRect(inner, inner.width() / 2, inner.width() / 2)
