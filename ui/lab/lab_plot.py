"""The plots of the refresh-rate lab: every firing of every run, and their drift."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea
from typing_extensions import override

from inspector.engines.lab.drift import DriftChart, drift_chart, drift_groups
from inspector.engines.lab.graph import AXIS, TRACK, Tracks, outcome_text
from inspector.engines.lab.refresh_lab import LabResult, end_of, instant_text
from inspector.engines.lab.timer import duration_text
from inspector.formats.drawing.display_list import Box, DisplayList, Group, Item
from inspector.tokens import TYPE

from ..kit.fonts import text_scale
from ..kit.guards import guarded
from ..kit.keys import keeps_key
from ..kit.labels import EmptyNotice
from ..kit.picture import paint
from ..kit.theme import ColorRole, Theme
from ..plotting.axis_range import AxisRange
from ..plotting.gestures import MOVING_KEYS, Drag, handle_key, handle_wheel
from ..plotting.own_view import OwnView

#: Pixels per point of the picture at 100 % text, for which its small texts have the token's size.
_SCALE: Final = TYPE["small"].px / 7.5
#: The axis is left out where there is no room for so many rows above it.
_LEAST_ROWS: Final = 2
#: Points around a chart of drift, and the height of its title.
_PAD: Final = 4.0
_TITLE: Final = 14.0
#: Share of the width that titles may take; only in the narrowest plots they are cut.
_LARGEST_TITLE_SHARE: Final = 0.6
#: Largest distance from a curve, in points, at which the pointer reads it.
_REACH: Final = 28.0
_NOTHING_CHOSEN: Final = "Select a result to see when its timer fired."


@guarded
class LabPlot(QAbstractScrollArea):
    """A track per run, grouped by display and timer, or the drift of the runs of one group.

    It looks as in a file. The pointer or the arrow keys read a firing. Along tracks the wheel
    zooms, and over their titles it scrolls; dragging moves, and keys are those of
    :mod:`.gestures`.
    """

    firing_read = Signal(str)  # A sentence about the current firing, empty for none
    result_chosen = Signal(object)  # LabResult: a run was clicked or reached with the arrow keys

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._results: tuple[LabResult, ...] = ()
        self._rows: list[LabResult | str] = []
        self._is_drift = False
        self.current: LabResult | None = None
        self._firing = -1
        self._chart: DriftChart | None = None
        self.view = OwnView(
            self._extent, self.viewport().update, AxisRange(shortest=1_000.0, has_room=False)
        )
        self._drag = Drag()
        self.notice = EmptyNotice(self)
        self.notice.set_text(_NOTHING_CHOSEN)
        self.setAccessibleName("Firings of each run")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setMouseTracking(True)
        theme.changed.connect(self._draw_again)

    # ---------------------------------------------------------------------- display

    @property
    def group_title(self) -> str:
        """The display and timer whose drift is shown, empty for none."""
        shown = self.current or next(iter(self._results), None)
        return "" if shown is None else shown.group_title

    def set_drift_shown(self, is_drift: bool) -> None:  # noqa: FBT001 - follows a button
        self._is_drift = is_drift
        self.setAccessibleName("Drift of each run over time" if is_drift else "Firings of each run")
        self._draw_again()

    def set_results(self, results: Sequence[LabResult]) -> None:
        self._results, self._rows = tuple(results), []
        for title, runs in groupby(results, lambda each: each.group_title):
            self._rows += [title, *runs]
        self.notice.set_text("" if self._rows else _NOTHING_CHOSEN)
        if all(each is not self.current for each in results):
            self._read(None, -1)
        self.view.settle()
        self._draw_again()

    def reveal_result(self, result: LabResult | None) -> None:
        if result is None or result is self.current or self._row_of(result) is None:
            return
        self._read(result, -1)
        self._scroll_to(result)

    def _scroll_to(self, result: LabResult) -> None:
        index, bar = self._row_of(result), self.verticalScrollBar()
        if index is not None:
            top, height = index * self._row_height, self._row_height
            # With the row before it, if there is room for both.
            above = height if self._room >= 2 * height else 0
            bar.setValue(min(max(bar.value(), top + height - self._room), top - above))

    def _row_of(self, result: LabResult) -> int | None:
        return next((index for index, row in enumerate(self._rows) if row is result), None)

    def _draw_again(self) -> None:
        self._chart = None
        self._fit_bar()
        self.viewport().update()

    # ------------------------------------------------------------------ places

    @property
    def _scale(self) -> float:
        """Pixels for a point of the picture."""
        return _SCALE * text_scale(self)

    @property
    def _row_height(self) -> int:
        return round(TRACK * self._scale)

    @property
    def _room(self) -> int:
        """Pixels of height for tracks, above the axis where there is room for it."""
        height = self.viewport().height()
        above_axis = height - round(AXIS * self._scale)
        return above_axis if above_axis >= _LEAST_ROWS * self._row_height else height

    def _tracks(self) -> Tracks:
        shown, width = self.view.range, self.viewport().width() / self._scale
        span = shown.low, shown.high
        return Tracks.of(self._results, width, self._theme.name, span, _LARGEST_TITLE_SHARE)

    def x_of(self, at_ns: float) -> float:
        return self._tracks().x(at_ns) * self._scale

    def _extent(self) -> tuple[float, float, int]:
        width = self.viewport().width()
        return 0.0, float(end_of(self._results)), max(width, 1)

    def row_rect(self, result: LabResult) -> QRect:
        """Return the area of a run in the viewport; empty if it is not visible."""
        index = self._row_of(result)
        if index is None:
            return QRect()
        top = index * self._row_height - self.verticalScrollBar().value()
        return QRect(0, top, self.viewport().width(), self._row_height)

    def chart(self) -> DriftChart | None:
        """Return the drift of the runs of a group in points; ``None`` if there are none."""
        if self._chart is None and self._results:
            width, height = self.viewport().width(), self.viewport().height()
            box = Box(
                _PAD,
                _PAD + _TITLE,
                max(width / self._scale - 2 * _PAD, 40.0),
                max(height / self._scale - 2 * _PAD - _TITLE, 30.0),
            )
            runs = dict(drift_groups(self._results))[self.group_title]
            self._chart = drift_chart(runs, box, self._theme.name, self.current)
        return self._chart

    def place_of(self, result: LabResult, firing: int) -> QPointF:
        """Return the position of a firing among drifts, in pixels."""
        chart = self.chart()
        assert chart is not None, "there are no results"
        x, y = chart.x(result.fired_ns[firing]), chart.y(result.drifts_ns[firing])
        return QPointF(x, y) * self._scale

    def _fit_bar(self) -> None:
        whole = 0 if self._is_drift else len(self._rows) * self._row_height
        bar = self.verticalScrollBar()
        bar.setRange(0, max(0, whole - self._room))
        bar.setPageStep(max(1, self._room))
        bar.setSingleStep(self._row_height)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        current = self.current
        lost = event.oldSize().height() - event.size().height()
        was_seen = current is not None and -1 < self.row_rect(current).top() < self._room + lost
        self._draw_again()
        if current is not None and was_seen:
            self._scroll_to(current)
        self.view.settle()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._draw_again()

    @override
    def scrollContentsBy(self, dx: int, dy: int) -> None:
        self.viewport().update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(480, 160)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(200, 60)

    # ------------------------------------------------------------------ reading

    @override
    def event(self, event: QEvent) -> bool:
        return keeps_key(event, MOVING_KEYS) or super().event(event)

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        tracks, x = self._tracks(), event.position().x() / self._scale
        if tracks.left <= x <= tracks.right and not self._is_drift:
            handle_wheel(event, self.view, tracks.at_ns(x))
        else:
            super().wheelEvent(event)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.view.fit()

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._drag.release()

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() and self._drag.pressed is not None:
            moved, tracks = self._drag.move(event.position()), self._tracks()
            if moved is not None and not self._is_drift:
                self.view.pan(-moved.x() / self._scale / (tracks.right - tracks.left))
            return
        result, firing = self._at(event.position())
        if result is None:
            self.firing_read.emit("")
        elif result is not self.current or firing != self._firing:
            self._read(result, firing)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._drag.press(event.position())
        result, firing = self._at(event.position())
        if result is not None:
            self._read(result, firing)
            self.result_chosen.emit(result)

    def _at(self, position: QPointF) -> tuple[LabResult | None, int]:
        place = position / self._scale
        if self._is_drift:
            chart = self.chart()
            found = None if chart is None else chart.nearest(place.x(), place.y(), self.current)
            if found is None:
                return None, -1
            offset = self.place_of(*found) / self._scale - place
            return found if offset.manhattanLength() <= _REACH else (None, -1)
        index = int(position.y() + self.verticalScrollBar().value()) // self._row_height
        is_row = 0 <= index < len(self._rows) and position.y() < self._room
        row = self._rows[index] if is_row else ""
        if isinstance(row, str):
            return None, -1
        tracks = self._tracks()
        if not tracks.left - 3 <= place.x() <= tracks.right + 3:
            return row, -1
        return row, _nearest(row.fired_ns, tracks.at_ns(place.x()))

    def _read(self, result: LabResult | None, firing: int) -> None:
        if result is not self.current:
            self._chart = None
        self.current, self._firing = result, firing
        self.viewport().update()
        self.firing_read.emit("" if result is None else reading_text(result, firing))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Up | Qt.Key.Key_Down if self._results:
                self._go_on(-1 if event.key() == Qt.Key.Key_Up else 1)
            case Qt.Key.Key_Left | Qt.Key.Key_Right if self.current is not None:
                step = -1 if event.key() == Qt.Key.Key_Left else 1
                last = len(self.current.fired_ns) - 1
                self._read(self.current, min(max(self._firing + step, 0), last))
            case _ if handle_key(event, self.view):
                pass
            case _:
                super().keyPressEvent(event)

    def _go_on(self, step: int) -> None:
        runs = self._results
        at = next((index for index, run in enumerate(runs) if run is self.current), -step)
        chosen = runs[min(max(at + step, 0), len(runs) - 1)]
        self.reveal_result(chosen)
        self.result_chosen.emit(chosen)

    # ------------------------------------------------------------------ painting

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        # A painter that outlives its event takes Qt down with it.
        with QPainter(self.viewport()) as painter:
            painter.fillRect(self.viewport().rect(), self._theme.color(ColorRole.BG))
            if self._rows and self._is_drift:
                self._paint_drift(painter)
            elif self._rows:
                self._paint_tracks(painter)

    def _paint_tracks(self, painter: QPainter) -> None:
        tracks, height, bar = self._tracks(), self._row_height, self.verticalScrollBar()
        if self.current is not None:
            above_axis = QRect(0, 0, self.viewport().width(), self._room)
            ground = self.row_rect(self.current).intersected(above_axis)
            painter.fillRect(ground, self._theme.color(ColorRole.RAISED))
        first = bar.value() // height
        items: list[Item] = []
        for number, row in enumerate(self._rows[first : first + self._room // height + 2], first):
            top = (number * height - bar.value()) / self._scale
            if isinstance(row, str):
                items.append(tracks.head(row, top + TRACK - 4))
            else:
                items += tracks.run(row, top)
        width, room = self.viewport().width() / self._scale, self._room / self._scale
        clipped = Group("tracks", tuple(items), Box(0, 0, width, room))
        has_axis = self._room < self.viewport().height()
        self._paint(painter, (clipped, tracks.axis(room - 2)) if has_axis else (clipped,))
        if self.current is not None and 0 <= self._firing < len(self.current.fired_ns):
            rect = self.row_rect(self.current)
            x = tracks.x(self.current.fired_ns[self._firing]) * self._scale
            if rect.top() < self._room:
                self._mark(painter, QRectF(x - 3.5, rect.top() + 0.5, 7, rect.height() - 1.5))

    def _paint_drift(self, painter: QPainter) -> None:
        chart, tracks = self.chart(), self._tracks()
        assert chart is not None, "there are results"
        title = tracks.head(f"Drift, {self.group_title}", _PAD + _TITLE - 4)
        self._paint(painter, (title, *chart.items))
        if self.current is not None and 0 <= self._firing < len(self.current.drifts_ns):
            place = self.place_of(self.current, self._firing)
            self._mark(painter, QRectF(place.x() - 3.5, place.y() - 3.5, 7, 7))

    def _mark(self, painter: QPainter, rect: QRectF) -> None:
        painter.setPen(QPen(self._theme.color(ColorRole.TEXT), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(rect)

    def _paint(self, painter: QPainter, items: tuple[Item, ...]) -> None:
        width, height = self.viewport().width(), self.viewport().height()
        created = datetime.fromtimestamp(0, UTC)
        painter.save()
        painter.scale(self._scale, self._scale)
        paint(DisplayList(width, height, "", items, "", "", created, ""), painter)
        painter.restore()


def reading_text(result: LabResult, firing: int) -> str:
    """Return a sentence about a firing, by its number from 0, or about the run if negative."""
    where = f"{result.row_title}, {result.group_title}"
    if not 0 <= firing < len(result.fired_ns):
        return f"{where}: {outcome_text(result)}, {result.verdict.value}"
    at_ns = result.fired_ns[firing]
    text = f"{where}: firing {firing + 1:,} at {instant_text(at_ns)}"
    due_ns = result.timer.due_ns(firing)
    if due_ns is None:
        return f"{text}, which was not expected"
    if at_ns == due_ns:
        return f"{text}, exactly when it was due"
    word = "late" if at_ns > due_ns else "early"
    return f"{text}, due at {instant_text(due_ns)}: {duration_text(abs(at_ns - due_ns))} {word}"


def _nearest(instants: Sequence[int], at_ns: float) -> int:
    if not instants:
        return -1
    after = bisect_left(instants, at_ns)
    if after == 0:
        return 0
    if after == len(instants):
        return after - 1
    is_nearer = instants[after] - at_ns < at_ns - instants[after - 1]
    return after if is_nearer else after - 1
