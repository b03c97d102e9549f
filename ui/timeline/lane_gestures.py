"""Keys, clicks and double clicks on lanes: choose, step, fold, pin, select, zoom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF

from inspector.analysis.lanes.lanes import LaneKind
from inspector.analysis.lanes.rows import LaneRow, siblings_of

from ..kit.labels import announce
from ..session.bridge import Selection, SelectionKind
from .lane_headers import name_left
from .lane_rows import subject_of

if TYPE_CHECKING:
    from .lane_surface import LaneSurface


class LaneGestures:
    """The keyboard and click operations on a canvas."""

    def __init__(self, canvas: LaneSurface) -> None:
        self._canvas = canvas
        self._sought: Selection | None = None
        self._is_kept = False

    def seek(self, selection: Selection) -> None:
        """Choose the lane of a selection made elsewhere, as soon as it exists.

        If the selection has no lane, none is chosen: otherwise two things would look selected.
        """
        self._sought = selection
        if selection.kind in {SelectionKind.NONE, SelectionKind.FRAME}:
            self._canvas.caret_ns = None
            self.choose_row(None)
        self.seek_on()

    def seek_on(self) -> None:
        """Search again, after a change of lanes, for the selection :meth:`seek` did not find."""
        row = None if self._sought is None else self._row_of(self._sought)
        if row is not None:
            self._sought = None
            if row.key != self._canvas.chosen_key:
                self.choose_row(row)
        elif self._is_kept and (chosen := self._canvas.row(self._canvas.chosen_key)) is not None:
            # New lanes above it would push it out of sight.
            self._scroll_to(chosen)

    def let_go(self) -> None:
        """Leave the chosen lane where it is from now on, because the user has scrolled."""
        self._is_kept = False

    def choose_row(self, row: LaneRow | None) -> None:
        canvas = self._canvas
        canvas.chosen_key = None if row is None else row.key
        canvas.lane_chosen.emit(row)
        self._is_kept = row is not None and not row.is_pinned
        if row is not None and self._is_kept:
            self._scroll_to(row)
        canvas.viewport().update()

    def choose_neighbour(self, step: int) -> None:
        canvas = self._canvas
        rows = [*canvas.pinned.rows, *canvas.rows.rows]
        if not rows:
            return
        keys = [row.key for row in rows]
        place = keys.index(canvas.chosen_key) + step if canvas.chosen_key in keys else 0
        row = rows[min(max(place, 0), len(rows) - 1)]
        self.choose_row(row)
        selection = subject_of(row)
        if selection.kind is not SelectionKind.NONE:
            canvas.subject_chosen.emit(selection)
        self._describe()

    def jump(self, direction: int) -> None:
        canvas = self._canvas
        row = canvas.row(canvas.chosen_key)
        if row is None:
            self.choose_neighbour(1)
            return
        window = canvas.lane_window()
        middle = int(min((window.low + window.high) / 2, canvas.present_ns))
        found = canvas.reader.step(
            row, middle if canvas.caret_ns is None else canvas.caret_ns, direction
        )
        if found is None:
            return
        canvas.caret_ns = found
        place, shown = canvas.view.x_of_ns(found), canvas.view.range
        if place is not None and not shown.low <= place <= shown.high:
            canvas.view.pan((place - (shown.low + shown.high) / 2) / shown.span)
        else:
            canvas.view.set_following(is_following=False)
        canvas.instant_hovered.emit(found)
        reading = canvas.reader.read(row, found, 1.0)
        if reading is not None and reading.selection.kind is SelectionKind.TIMER:
            canvas.subject_chosen.emit(reading.selection)
            self.choose_row(row)
        self._describe()
        # The row stays, so nothing else tells screen readers which firing it is.
        announce(canvas, ", ".join(() if reading is None else reading.lines))
        canvas.viewport().update()

    def toggle_folded(self) -> None:
        """Collapse or expand the group that is chosen, else the clock of the chosen lane."""
        canvas = self._canvas
        row = canvas.row(canvas.chosen_key)
        if row is not None and row.is_group:
            canvas.choices.unfolded ^= {row.key}
            canvas.arrange_rows()
            return
        if row is not None and row.clock_id:
            canvas.choices.folded ^= {row.clock_id}
            past = canvas.store.clocks.by_id[row.clock_id]
            canvas.chosen_key = (LaneKind.CLOCK, row.clock_id, past.name)
            canvas.arrange_rows()

    def fold_all(self, *, is_folded: bool) -> None:
        canvas = self._canvas
        canvas.choices.folded = set(canvas.store.clocks.by_id) if is_folded else set()
        if is_folded:
            canvas.choices.unfolded.clear()
        canvas.arrange_rows()

    def toggle_pinned(self) -> None:
        canvas = self._canvas
        key = canvas.chosen_key
        if key is None:
            return
        if key in canvas.choices.pinned:
            canvas.choices.pinned.remove(key)
        else:
            canvas.choices.pinned.append(key)
        canvas.arrange_rows()

    def open_chosen(self) -> None:
        """Go to the bookmark at the caret, else to the source of what the chosen lane is about."""
        canvas = self._canvas
        row = canvas.row(canvas.chosen_key)
        if row is None:
            return
        at_ns = canvas.caret_ns
        reading = None if at_ns is None else canvas.reader.read(row, at_ns, 1.0)
        if row.kind is LaneKind.BOOKMARKS and reading is not None:
            canvas.playhead_moved.emit(reading.at_ns)
            return
        if reading is not None and reading.selection.kind is not SelectionKind.NONE:
            canvas.subject_chosen.emit(reading.selection)
        canvas.source_wanted.emit(row)

    def move(self, row: LaneRow, y: float) -> bool:
        """Let a row change places with the one at a height, if they are next to each other.

        Only the view changes, never the tree.
        """
        canvas = self._canvas
        other = canvas.row_at(y)
        beside = siblings_of(canvas.rows.rows, row) if row in canvas.rows.rows else []
        if other is None or other is row or other not in beside:
            return False
        beside.remove(row)
        below = canvas.place_of(other, 0).y() > canvas.place_of(row, 0).y()
        beside.insert(beside.index(other) + below, row)
        keys = [each.key for each in beside]
        kept = [each for each in canvas.choices.order if each not in keys]
        canvas.choices.order = [*kept, *keys]
        canvas.arrange_rows()
        return True

    def zoom_to_record(self, place: QPointF) -> bool:
        """Show the frame of what happened at a position; returns whether something did."""
        canvas = self._canvas
        row, series = canvas.row_at(place.y()), canvas.view.series
        if row is None or row.lane is None or series is None:
            return False
        reading = canvas.reading_at(place)
        frame = None if reading is None else series.frame_at_ns(reading.at_ns)
        if frame is None:
            return False
        canvas.view.bring_into_view(canvas.view.ns_of_frame(frame))
        return True

    def go_to_bookmark(self, place: QPointF) -> bool:
        canvas = self._canvas
        row = canvas.row_at(place.y())
        if row is None or row.kind is not LaneKind.BOOKMARKS:
            return False
        reading = canvas.reading_at(place)
        if reading is not None:
            canvas.playhead_moved.emit(reading.at_ns)
        return reading is not None

    def click(self, place: QPointF) -> None:
        canvas = self._canvas
        row = canvas.row_at(place.y())
        if row is None:
            return
        if place.x() < canvas.header_width and self.press_button(row, place):
            return
        self.choose_row(row)
        if place.x() < canvas.header_width:
            if row.is_of_several or (row.has_parts and self.is_on_sign(row, place)):
                self.toggle_folded()
                return
            selection = subject_of(row)
        else:
            if self._follow_edge(row, place.x()):
                return
            reading = canvas.reading_at(place)
            canvas.caret_ns = None if reading is None else reading.at_ns
            selection = subject_of(row) if reading is None else reading.selection
        canvas.view.choose_frames(None)
        if selection.kind is not SelectionKind.NONE:
            canvas.subject_chosen.emit(selection)
            self.choose_row(row)
        canvas.viewport().update()

    def _follow_edge(self, row: LaneRow, x: float) -> bool:
        """Go to what a lane says at its right edge that it waits for."""
        canvas = self._canvas
        waits = canvas.wait_at(row, x)
        if waits is None:
            return False
        if waits.paused_id:
            canvas.subject_chosen.emit(Selection.clock(waits.paused_id))
        elif waits.due_in_ns:
            timeline = canvas.timeline if canvas.past is None else canvas.past
            canvas.subject_chosen.emit(subject_of(row))
            span_ns = timeline.at_ns, timeline.at_ns + waits.due_in_ns
            canvas.view.bring_into_view(span_ns)
        else:
            return False
        return True

    def is_on_sign(self, row: LaneRow, place: QPointF) -> bool:
        """Return whether a position in a header is where its row is collapsed."""
        return place.x() < name_left(row, self._canvas.text_scale)

    def press_button(self, row: LaneRow, place: QPointF) -> bool:
        """Press what is at a position of a header; returns whether there is a button."""
        canvas, places = self._canvas, self._canvas.header_places(row)
        if not canvas.is_live:
            return False
        if places.pause.contains(place.toPoint()):
            canvas.pause_pressed.emit(row.clock_id)
        elif places.rate.contains(place.toPoint()):
            canvas.rate_pressed.emit(row.clock_id, places.rate)
        else:
            return False
        return True

    def double_click(self, place: QPointF) -> None:
        """Ask for a rate on its chip, collapse on the sign, else bring what happened into view."""
        row = self._canvas.row_at(place.y())
        if row is None:
            return
        is_on_chip = self._canvas.header_places(row).rate.contains(place.toPoint())
        if is_on_chip and self._canvas.is_live:
            self._canvas.other_rate_wanted.emit(row.clock_id)
            return
        if self.press_button(row, place):
            return
        if row.has_parts and self.is_on_sign(row, place):
            self.toggle_folded()
        elif row.lane is not None and len(row.lane.instants) > 1:
            at_ns = row.lane.instants.at_ns
            self._canvas.view.bring_into_view((at_ns[0], at_ns[-1]))
        else:
            self._canvas.view.fit()

    def ask_for_menu(self, place: QPointF, on_screen: QPoint) -> None:
        canvas = self._canvas
        row = canvas.row_at(place.y())
        if row is not None:
            self.choose_row(row)
            selection = subject_of(row)
            if selection.kind is not SelectionKind.NONE:
                # The menu, and the keys that are named in it, are about the selection.
                canvas.subject_chosen.emit(selection)
        canvas.menu_requested.emit(row, on_screen)

    def _row_of(self, selection: Selection) -> LaneRow | None:
        canvas = self._canvas
        match selection.kind:
            case SelectionKind.CLOCK:
                past = canvas.store.clocks.by_id.get(selection.id)
                return (
                    None if past is None else canvas.row((LaneKind.CLOCK, selection.id, past.name))
                )
            case SelectionKind.TIMER:
                lane = canvas.store.lane(LaneKind.TIMER, selection.id)
            case SelectionKind.MEMBER:
                lane = canvas.store.lane(LaneKind.CALL, selection.id)
            case _:
                return None
        if lane is None:
            return None
        return canvas.row(lane.key) or canvas.row(lane.family.key if lane.family else None)

    def _describe(self) -> None:
        canvas = self._canvas
        row = canvas.row(canvas.chosen_key)
        if row is None:
            return
        reading = None if canvas.caret_ns is None else canvas.reader.read(row, canvas.caret_ns, 1.0)
        lines = () if reading is None else reading.lines
        canvas.setAccessibleDescription(", ".join((f"{row.label} ({row.kind.text})", *lines)))
        canvas.set_reading(reading)

    def _scroll_to(self, row: LaneRow) -> None:
        canvas = self._canvas
        keys = [each.key for each in canvas.rows.rows]
        if row.key not in keys:
            return
        place = keys.index(row.key)
        bar = canvas.verticalScrollBar()
        if canvas.rows.top(place) < bar.value():
            bar.setValue(canvas.rows.top(place))
        elif canvas.rows.bottom(place) > bar.value() + bar.pageStep():
            bar.setValue(canvas.rows.bottom(place) - bar.pageStep())
