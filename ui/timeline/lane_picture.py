"""Composes the picture of the timeline: ruler, names, lanes, and overlays."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QRegion

from inspector.analysis.lanes.clocks import ClockPast
from inspector.analysis.lanes.lane_columns import Instants
from inspector.analysis.lanes.lanes import LaneKind, LaneStore
from inspector.formats.arrangement.annotation_layout import lay_out_annotations
from inspector.formats.arrangement.clock_layout import ClockLayout, GrowingBar, GrownBar
from inspector.formats.arrangement.lane_layout import LaneLayout, pixels_of, records_in_view
from inspector.formats.arrangement.lane_window import LaneWindow, drawable
from inspector.formats.arrangement.sheet import Row, Sheet
from inspector.timebase import NS_PER_MS

from ..kit.theme import ColorRole, Theme
from ..plotting.kept_picture import KeptPicture
from ..plotting.readout import paint_playhead, paint_readout
from ..plotting.sheet_painter import new_sheet, paint_sheet
from ..session.bridge import SelectionKind
from .lane_delayed import paint_delayed
from .lane_forecasts import LaneForecasts
from .lane_headers import HeaderState
from .lane_names import LaneNames, PlacedRow, PlacedRows
from .lane_words import LaneWords

if TYPE_CHECKING:
    from .lane_rows import RowPlaces
    from .lane_surface import LaneSurface

#: Pixels; a prediction nearer to the right edge than this may be cut off there.
_WIDEST_PREDICTION: Final = 8
#: Kinds of lanes for which it is known on what their look depends.
_OF_RECORDS: Final = frozenset(
    {
        *(LaneKind.MARKS, LaneKind.COMMANDS, LaneKind.FAILURES, LaneKind.HITS),
        *(LaneKind.TIMER, LaneKind.CALL),
    }
)
#: Looked up once: in Python 3.11 a member of an enumeration takes as long as a small call.
_CLOCK, _TIMER = LaneKind.CLOCK, LaneKind.TIMER
_BG, _LINE = ColorRole.BG, ColorRole.LINE
#: Pixels, too few to be seen: with it, the present at the edge of a pixel is always in the same.
_NUDGE: Final = 1e-4
#: Pixels; views that differ by more show the lanes at other places.
_SAME_PLACE: Final = 1e-5


class _Shown(NamedTuple):
    rows: PlacedRows  # The visible rows
    grid: tuple[int, ...]  # The lines from the ruler, in pixels
    late_ns: int  # Lateness from which a firing stands out
    lanes: tuple[object, ...]  # The lanes, and what they depend on
    box: QRect  # Where they are, up to the right edge of the widget
    place: tuple[object, ...]  # Which part of which axis is in view, and in how many pixels
    news: tuple[object, ...]  # What decides on new records and predictions


class _Records(NamedTuple):
    """What the look of a row of records depends on, apart from its place."""

    instants: Instants
    start: int  # The first in view
    stop: int  # The index after the last one in view
    wide: int  # How many pixels each has, at 100 % text
    room: int  # Pixels between the last prediction and the right edge, where it may be cut off
    xs: tuple[int, ...]  # Predictions, in pixels of a view that moves by whole ones


#: Pixels to paint again, from the left edge of the lanes: the first, and the one after the last.
_Band: TypeAlias = tuple[int, int]


class _Marks(NamedTuple):
    """What is where on the axis, in pixels of a view that moves by whole ones."""

    shown: _Shown  # What it was read from
    origin: int  # The pixel of the left edge
    end: int  # The pixel behind the right edge
    present: int  # The pixel of the present
    per_pixel: float  # Nanoseconds of a pixel
    grid: frozenset[int]  # The lines from the ruler that can be seen
    # For each row what its look depends on; None where that is not known.
    rows: tuple[object, ...]

    def shift_from(self, former: _Marks | None) -> int | None:
        """Return by how many pixels the view has moved to the right, if the rows have moved along.

        ``None`` where too much has changed.
        """
        if former is None:
            return None
        here, there = self.shown, former.shown
        is_alike = (
            (here.late_ns, here.lanes) == (there.late_ns, there.lanes)
            and here.rows.has_lanes_of(there.rows)
            and here.box == there.box
            and math.isclose(self.per_pixel, former.per_pixel, rel_tol=1e-9)
        )
        shift = self.origin - former.origin
        if not is_alike or not 0 <= shift < here.box.width() or self.present < former.present:
            return None
        # Lines that were beyond the right edge are painted with the new part.
        is_same_grid = {x for x in self.grid if x < former.end} == {
            x for x in former.grid if x >= self.origin
        }
        return shift if is_same_grid else None


class _SteadyBars:
    """Bars of clocks that only grow, found again only when anything has happened to a clock."""

    def __init__(self) -> None:
        self._made_for: object = None
        self._window = LaneWindow(0.0, 0.0, 0, 0, 0)
        self._marks: dict[int, GrowingBar] = {}
        self._grown: dict[tuple[int, Row], GrownBar] = {}

    def begin(self, layout: ClockLayout, store: LaneStore, window: LaneWindow) -> None:
        """Forget the bars if a clock, or anything else they depend on, has changed."""
        clocks = store.clocks
        made_for = (
            *(store, clocks.version, clocks.rates_version, store.blocks.version),
            *(window.left, window.width, round(window.span)),
            layout.has_room(window, window.low),
        )
        if made_for != self._made_for or window.low < self._window.low:
            self._made_for = made_for
            self._marks.clear()
            self._grown.clear()
        self._window = window

    def mark(self, layout: ClockLayout, store: LaneStore, number: int) -> GrowingBar | None:
        found = self._marks.get(number)
        if found is None:
            found = layout.growing(store, number, self._window)
            if found is not None and found.is_steady:
                self._marks[number] = found
        return found

    def grown(
        self, layout: ClockLayout, past: ClockPast, mark: GrowingBar, placed: PlacedRow
    ) -> GrownBar:
        row = Row(placed.y, placed.height)
        place = placed.row.clock_id, row
        found = self._grown.get(place)
        if found is None:
            found = layout.grown(past, mark, self._window, row)
            # The rate of a bar that began before the view stays at the left edge.
            if mark.is_steady and past.at_ns[mark.steps[0]] < self._window.low:
                self._grown[place] = found
        return found


class _RowLayout:
    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.lanes, self.clocks = LaneLayout(sheet), ClockLayout(sheet)

    def paint(self, painter: QPainter) -> None:
        self.lanes.finish()
        self.clocks.finish()
        paint_sheet(painter, self.sheet)


class LanePicture:
    """Paints a canvas.

    In a view that follows by whole pixels, the lanes are scrolled, and only rows that look
    otherwise are painted again.
    """

    def __init__(self, theme: Theme) -> None:
        self.late_ns = round(1000 / 60 * NS_PER_MS)  # Lateness from which a firing stands out
        self._theme = theme
        self.lanes = KeptPicture()
        self._marks: _Marks | None = None
        self._bars = _SteadyBars()
        self._forecasts = LaneForecasts()
        self._placed: tuple[object, PlacedRows] | None = None
        self._placed_for: object = None
        self._states: tuple[object, tuple[HeaderState, ...]] | None = None
        self._named: object = None
        self.words = LaneWords(theme)
        self.names = LaneNames(theme)

    def apply_theme(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Paint everything next time, and keep nothing of what was painted until then."""
        self.lanes.forget()
        self._marks = self._placed = self._placed_for = self._states = self._named = None
        self._bars = _SteadyBars()
        self._forecasts.forget()
        self.words.forget()
        self.names.picture.forget()

    def paint(self, painter: QPainter, canvas: LaneSurface, exposed: QRect | None = None) -> None:
        """Paint what is exposed, by default everything."""
        window = canvas.lane_window()
        viewport = canvas.viewport().rect()
        turn = _turn(canvas)
        rows = self._place_rows(canvas, turn)
        left = window.left
        grid = tuple([x for x, _ in canvas.view.ruler_ticks(window)[0] if x >= left])
        width, height = viewport.width(), viewport.height()
        bottom = min(rows.bottom, height)
        box = QRect(left, 0, width - left, bottom)
        canvas.timeline.resolve_dues()
        self._forecasts.begin(canvas.timeline, window)
        lanes, place, news = _contents(canvas, window)
        shown = _Shown(rows, grid, self.late_ns, lanes, box, place, news)
        ratio = painter.device().devicePixelRatioF()
        has_whole_pixels = ratio == int(ratio)
        layout = _RowLayout(new_sheet(painter, self._theme))
        marks = self._marks_of(canvas, window, shown, layout) if has_whole_pixels else None
        shift = None if marks is None else marks.shift_from(self._marks)
        self.lanes.paint(
            *(painter, QSize(width, bottom), shown),
            lambda inner: self._all_lanes(inner, canvas, window, shown),
            is_moving=marks is None,
            moved=shift or 0,
            amend=lambda inner, _former: self._amend(inner, canvas, window, marks, shift, layout),
        )
        self._marks = marks
        has_names = exposed is None or exposed.left() < left
        if bottom < height:
            # Painting a few lines costs less than copying them.
            ground = (
                (0, bottom, width, height - bottom)
                if has_names
                else (left, bottom, width - left, height - bottom)
            )
            self._ground(painter, QRect(*ground), grid)
        # The names cover what reaches over the left edge of the lanes.
        names = QSize(left, height)
        if self._states is None or self._states[0] != (rows, turn):
            shown_rows = (*rows.scrolled, *rows.pinned)
            states = tuple(canvas.header_state(placed.row) for placed in shown_rows)
            self._states = (rows, turn), states
        named = rows, self._states[1]
        if has_names:
            self._named = named
            self.names.paint(painter, names, *named)
        elif named != self._named:
            canvas.viewport().update(QRect(QPoint(), names))
        painter.fillRect(left, 0, 1, height, self._theme.color(_LINE))
        self._over(painter, canvas, window, rows, (turn, height))

    def _place_rows(self, canvas: LaneSurface, turn: object) -> PlacedRows:
        """Return the visible rows, the same object as long as nothing about them changes."""
        viewport, rows, pinned = canvas.viewport().size(), canvas.rows, canvas.pinned
        first = canvas.verticalScrollBar().value()
        placed_for = (
            *(rows, pinned, viewport, first, turn),
            *(canvas.chosen_key, canvas.marked_things),
        )
        if self._placed is not None and self._placed_for == placed_for:
            return self._placed[1]
        self._placed_for = placed_for
        marked = canvas.marked_things
        are_marked = None
        if any(thing.kind is SelectionKind.TIMER for thing in marked):
            # A timer that is set again and again has another number each time, so look at rows.
            visible = rows.between(first, first + viewport.height())
            shown = [*pinned.rows, *(rows.rows[place] for place in visible)]
            are_marked = [(canvas.is_selected(row), canvas.is_pointed(row)) for row in shown]
        look = (
            (rows, pinned, viewport, first),
            (canvas.chosen_key, marked, are_marked),
        )
        if self._placed is None or self._placed[0] != look:
            self._placed = look, _placed_rows(canvas)
        return self._placed[1]

    def _all_lanes(
        self, painter: QPainter, canvas: LaneSurface, window: LaneWindow, shown: _Shown
    ) -> None:
        layout = _RowLayout(new_sheet(painter, self._theme))
        self._ground(painter, QRect(QPoint(), shown.box.bottomRight()), shown.grid)
        shown.rows.paint(
            *(painter, self._theme),
            lambda _, placed: self._records(layout, canvas, placed, window),
            layout.paint,
        )

    def _ground(self, painter: QPainter, box: QRect, grid: tuple[int, ...]) -> None:
        """Paint what is behind the rows: the lines from the ruler."""
        painter.fillRect(box, self._theme.color(_BG))
        left, top, right, high = box.left(), box.top(), box.right(), box.height()
        color = self._theme.color(_LINE)
        for x in grid:
            if left <= x <= right:
                painter.fillRect(x, top, 1, high, color)

    # ---------------------------------------------------------------- what moves on

    def _marks_of(
        self, canvas: LaneSurface, window: LaneWindow, shown: _Shown, layout: _RowLayout
    ) -> _Marks | None:
        """Return the marks of a view that follows by whole pixels, ``None`` of others."""
        if not canvas.view.is_following or window.bends is not None or shown.rows.pinned:
            return None
        offset = window.low / window.per_pixel
        origin = round(offset)
        if abs(offset - origin) > _SAME_PLACE:
            return None
        away, right = origin - window.left, shown.box.right()
        present = min(max(int(window.x(window.present_ns)), window.left), right + 1)
        bars, clocks = self._bars, layout.clocks
        bars.begin(clocks, canvas.store, window)
        return _Marks(
            *(shown, origin, right + 1 + away, present + away, window.per_pixel),
            frozenset(x + away for x in shown.grid if x <= right),
            tuple(
                bars.mark(clocks, canvas.store, placed.row.clock_id)
                if placed.row.key[0] is _CLOCK and not placed.is_marked
                else self._mark_of(window, placed, away)
                for placed in shown.rows.scrolled
            ),
        )

    def _mark_of(self, window: LaneWindow, placed: PlacedRow, away: int) -> object:
        """Return what the look of a row depends on, apart from its place."""
        row, lane = placed.row, placed.row.lane
        if placed.is_marked or row.kind not in _OF_RECORDS:
            return None
        if lane is None:
            # Nothing is painted of lanes that are empty in view.
            return ()
        found = records_in_view(lane.instants, window)
        if found is None:
            return None
        xs, end = self._forecasts.places(row, lane), window.left + window.width + away
        xs = xs[: bisect_left(xs, end)]
        # The last prediction may be cut off at the right edge.
        room = min(end - xs[-1], _WIDEST_PREDICTION) if xs else 0
        return _Records(lane.instants, *found, room, xs)

    def _amend(  # noqa: PLR0913, PLR0917 - what is new, and where
        self,
        painter: QPainter,
        canvas: LaneSurface,
        window: LaneWindow,
        marks: _Marks | None,
        shift: int | None,
        layout: _RowLayout,
    ) -> bool:
        """Paint what is new in lanes that were moved; returns whether the rest can stay."""
        former = self._marks
        if former is None or marks is None or shift is None:
            return False
        shown, rows = marks.shown, marks.shown.rows
        box, clocks = shown.box, canvas.store.clocks.by_id
        everything = [(box.left(), box.right() + 1)]
        places = [QRect(box.right() + 1 - shift, box.top(), shift, box.height())]
        changed: list[tuple[PlacedRow, list[_Band]]] = []
        growing: list[tuple[PlacedRow, GrowingBar]] = []
        for placed, mark, before in zip(rows.scrolled, marks.rows, former.rows, strict=True):
            if mark is None or mark != before:
                bands = _bands(mark, before, window, marks.origin - window.left)
                bands = everything if bands is None else bands
                changed.append((placed, bands))
                places += [
                    QRect(left, placed.y, right - left, placed.height) for left, right in bands
                ]
            elif isinstance(mark, GrowingBar):
                growing.append((placed, mark))
        for place in places:
            self._ground(painter, place, shown.grid)
        if changed:
            region = QRegion()
            for place in places:
                region |= place
            painter.setClipRegion(region & box)
            self._paint_changed(painter, canvas, window, rows, layout, changed)
        painter.setClipRect(box)
        for placed, _ in growing:
            rows.paint_ground(painter, self._theme, placed)
        grown = (
            self._bars.grown(layout.clocks, clocks[placed.row.clock_id], mark, placed)
            for placed, mark in growing
        )
        away = marks.origin - window.left
        layout.clocks.grow(grown, former.present - away, marks.present - away)
        layout.paint(painter)
        return True

    def _paint_changed(  # noqa: PLR0913, PLR0917 - as for _amend
        self,
        painter: QPainter,
        canvas: LaneSurface,
        window: LaneWindow,
        rows: PlacedRows,
        layout: _RowLayout,
        changed: Iterable[tuple[PlacedRow, list[_Band]]],
    ) -> None:
        for placed, bands in changed:
            rows.paint_ground(painter, self._theme, placed)
            for band in bands:
                self._records(layout, canvas, placed, window, band)
        layout.paint(painter)

    # ---------------------------------------------------------------- one row

    def _records(
        self,
        layout: _RowLayout,
        canvas: LaneSurface,
        placed: PlacedRow,
        window: LaneWindow,
        band: _Band | None = None,
    ) -> None:
        """Lay out a row, of records and predictions only what may reach into a band of pixels."""
        row, lane, place = placed.row, placed.row.lane, Row(placed.y, placed.height)
        kind, is_timer = row.kind, row.kind is _TIMER
        if kind is LaneKind.BOOKMARKS:
            lay_out_annotations(layout.sheet, canvas.store.annotations, window, place)
        elif kind is _CLOCK:
            layout.clocks.clock(canvas.store, row.clock_id, window, place)
        elif lane is not None and kind is LaneKind.MACHINE:
            layout.lanes.steps(
                *(lane.steps, window, place),
                number_of=canvas.state_number(row.subject_id),
                name_of=canvas.text,
            )
        elif lane is not None and lane.spans is not None:
            layout.lanes.slices(lane.spans, window, place, canvas.member_name)
        elif lane is not None and lane.levels is not None:
            layout.lanes.levels(lane.levels, window, place)
        elif lane is not None:
            layout.lanes.instants(
                *(lane.instants, window, place),
                kind="red" if kind is LaneKind.FAILURES else "tick",
                late_ns=self.late_ns if is_timer else 0,
                has_whiskers=is_timer or kind is LaneKind.CALL,
                ends_whiskers=is_timer and canvas.timeline.is_of_programs,
                band=band,
            )
            if is_timer:
                xs, away = self._forecasts.places(row, lane), self._forecasts.away
                end = window.left + window.width
                left, right = band or (window.left, end)
                first = bisect_left(xs, left - _WIDEST_PREDICTION + away)
                last = bisect_left(xs, min(right + 1, end) + away)
                layout.lanes.hollow([x - away for x in xs[first:last]], place)

    # ---------------------------------------------------------------- over the lanes

    def _over(
        self,
        painter: QPainter,
        canvas: LaneSurface,
        window: LaneWindow,
        rows: PlacedRows,
        when: tuple[tuple[object, ...], int],
    ) -> None:
        """Paint what lies over the lanes.

        Args:
            when: What decides on texts, and how high everything is.
        """
        theme, top, (turn, bottom) = self._theme, 0, when
        painter.save()
        painter.setClipRect(window.left, 0, max(window.width, 0), bottom)
        band = canvas.selected_frame_span()
        if band is not None:
            left, right = window.x(band[0]), window.x(band[1])
            color = QColor(theme.color(ColorRole.BLUE))
            color.setAlphaF(0.18)
            painter.fillRect(QRectF(left, top, max(right - left, 1.0), bottom - top), color)
        if canvas.store.gaps:
            self._gaps(painter, canvas, window, (top, bottom))
        if rows.scrolled or rows.pinned:
            low, span = canvas.view.range.low, canvas.view.range.span

            def x_of(place: float) -> float:
                return drawable(window.left + (place - low) / span * window.width) + _NUDGE

            area = QRectF(window.left, 0, max(window.width, 0), bottom)
            paint_playhead(painter, theme, area, canvas.view, x_of)
            playhead = canvas.view.playhead
            shown = int(window.x(window.present_ns) if playhead is None else x_of(playhead))
            self.words.paint(painter, canvas, window, rows, (turn, shown, self.late_ns))
        if canvas.delayed:
            paint_delayed(painter, theme, canvas, window, rows)
        if canvas.caret_ns is not None:
            x = int(window.x(canvas.caret_ns))
            painter.setPen(QPen(theme.color(ColorRole.TEXT), 1, Qt.PenStyle.DashLine))
            painter.drawLine(x, top, x, bottom)
        if canvas.view.hover is not None:
            x = int(canvas.x_of(canvas.view.hover))
            painter.setPen(QPen(theme.color(ColorRole.MUTED), 1))
            painter.drawLine(x, top, x, bottom)
        chosen = canvas.view.chosen_edges
        if chosen is not None:
            self._measure(painter, canvas, window, (top, bottom), chosen)
        if canvas.reading is not None and canvas.pointer is not None:
            painter.setFont(canvas.small_font())
            lines = [(line, "") for line in canvas.reading.lines]
            room = QRectF(window.left, 0, window.width, bottom)
            # The readout must not cover the calls that are marked meanwhile.
            y = bottom if canvas.delayed else canvas.pointer.y()
            paint_readout(painter, lines, QPointF(canvas.pointer.x(), y), room, theme)
        painter.restore()

    def _gaps(
        self, painter: QPainter, canvas: LaneSurface, window: LaneWindow, edges: tuple[int, int]
    ) -> None:
        """Cross out times whose events are no longer in the log, on lanes of clocks."""
        top, bottom = edges
        top += canvas.kept_bottom()
        color = QColor(self._theme.color(ColorRole.ORANGE))
        color.setAlphaF(0.3)
        for began_ns, end_ns in canvas.store.gaps:
            left = max(window.x(began_ns), float(window.left))
            right = min(window.x(end_ns), float(window.left + window.width))
            if right - left < 1:
                continue
            box = QRectF(left, top, right - left, bottom - top)
            painter.fillRect(box, QBrush(color, Qt.BrushStyle.FDiagPattern))
            text = "no longer in the log"
            if right - left > painter.fontMetrics().horizontalAdvance(text) + 16:
                self._note(painter, text, (left + right) / 2, top + 4, window)

    def _measure(
        self,
        painter: QPainter,
        canvas: LaneSurface,
        window: LaneWindow,
        edges: tuple[int, int],
        chosen: tuple[float, float],
    ) -> None:
        top, bottom = edges
        begin, end = window.left, window.left + window.width
        left, right = map(canvas.x_of, chosen)
        if right < begin or left > end:
            return
        left, right = max(left, begin - 1.0), min(right, end + 1.0)
        color = QColor(self._theme.color(ColorRole.BLUE))
        color.setAlphaF(0.14)
        painter.fillRect(QRectF(left, top, right - left, bottom - top), color)
        painter.setPen(QPen(self._theme.color(ColorRole.BLUE), 1))
        painter.drawLine(int(left), top, int(left), bottom)
        painter.drawLine(int(right), top, int(right), bottom)
        self._note(painter, canvas.measured_text(), (left + right) / 2, top + 4, window)

    def _note(
        self, painter: QPainter, text: str, middle: float, y: float, window: LaneWindow
    ) -> None:
        metrics = painter.fontMetrics()
        width, height = metrics.horizontalAdvance(text) + 12, metrics.height() + 4
        x = min(max(middle - width / 2, window.left + 2), window.left + window.width - width - 2)
        patch = QRectF(x, y, width, height)
        painter.fillRect(patch, self._theme.color(ColorRole.PANEL))
        painter.setPen(QPen(self._theme.color(ColorRole.MUTED), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(patch)
        painter.setPen(self._theme.color(ColorRole.TEXT))
        painter.drawText(patch, int(Qt.AlignmentFlag.AlignCenter), text)


def _bands(mark: object, before: object, window: LaneWindow, away: int) -> list[_Band] | None:
    """Return where a row differs from what was painted of it; ``None`` where that is not known.

    Args:
        away: From a pixel of the canvas to the same one of a view that moves by whole ones.
    """
    if not (
        isinstance(mark, _Records)
        and isinstance(before, _Records)
        and (mark.instants, mark.wide) == (before.instants, before.wide)
        and before.start <= mark.start <= before.stop <= mark.stop
    ):
        return None
    bands, left, right = list[_Band](), window.left, window.left + window.width
    if before.start < mark.start:
        edges = pixels_of(mark.instants, before.start, mark.start, window)
        bands.append((left, edges[1]))
    edges = right, left
    if before.stop < mark.stop:
        edges = pixels_of(mark.instants, before.stop, mark.stop, window)
    predicted = set(mark.xs) ^ set(before.xs)
    if mark.room != before.room:
        # The last prediction may have been cut off at the right edge, or is now.
        predicted.update(mark.xs[-1:], before.xs[-1:])
    if predicted:
        first, last = min(predicted) - away - 1, max(predicted) - away + _WIDEST_PREDICTION
        edges = min(edges[0], first), max(edges[1], last)
    if edges[0] < edges[1]:
        bands.append(edges)
    in_view = ((max(low, left), min(high, right)) for low, high in bands)
    return [(low, high) for low, high in in_view if low < high]


def _turn(canvas: LaneSurface) -> tuple[object, ...]:
    """Return what decides on texts, which change less often than pictures while time passes.

    The first three entries stand for the instant of which they tell.
    """
    timeline, past = canvas.timeline, canvas.past
    at_ns = canvas.text_turn if timeline.is_running and past is None else timeline.at_ns
    # The same state object is moved on when a later instant is looked at.
    past_ns = None if past is None else past.at_ns
    return at_ns, past, past_ns, timeline.structure_version, timeline.mapping_version


def _placed_rows(canvas: LaneSurface) -> PlacedRows:
    viewport = canvas.viewport().rect()
    pinned_box = QRect(0, 0, viewport.width(), canvas.pinned.height)
    first = canvas.verticalScrollBar().value()
    top = canvas.pinned.height
    visible = canvas.rows.between(first, first + viewport.height() - top)
    return PlacedRows(
        tuple(_placed(canvas, canvas.rows, place, top - first) for place in visible),
        pinned_box,
        tuple(
            _placed(canvas, canvas.pinned, place, pinned_box.top())
            for place in range(len(canvas.pinned.rows))
        ),
    )


def _placed(canvas: LaneSurface, rows: RowPlaces, place: int, top: int) -> PlacedRow:
    row = rows.rows[place]
    y = rows.top(place)
    is_selected = row.key == canvas.chosen_key or canvas.is_selected(row)
    is_marked = is_selected or canvas.is_pointed(row)
    height = rows.bottom(place) - y
    return PlacedRow(row, top + y, height, is_selected, is_marked)


def _contents(
    canvas: LaneSurface, window: LaneWindow
) -> tuple[tuple[object, ...], tuple[object, ...], tuple[object, ...]]:
    """Return the lanes, what is in view, and what its records depend on.

    New records beyond the right edge do not matter. The present of the view is that of its last
    refresh, which the timeline may have left behind.
    """
    store, timeline = canvas.store, canvas.timeline
    is_settled = window.high < min(store.read_ns, timeline.at_ns)
    return (
        (store, store.annotations),
        (window.low, window.high, window.left, window.width, canvas.view.x_axis),
        (
            None if is_settled else (store.cursor, timeline.at_ns, timeline.events_folded),
            (window.present_ns, timeline.at_ns, timeline.events_folded)
            if window.high > window.present_ns
            else None,
        ),
    )
