"""The plot of the refresh-rate lab: every firing of every run, against the expected ones."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFont,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QWidget
from typing_extensions import override

from inspector.engines.lab.graph import outcome_text
from inspector.engines.lab.refresh_lab import LabResult, instant_text
from inspector.engines.lab.timer import duration_text
from inspector.formats.arrangement.lane_window import drawable
from inspector.formats.drawing.ticks import instant_ticks
from inspector.timebase import NS_PER_SECOND

from ..kit.guards import guarded
from ..kit.keys import keeps_key
from ..kit.labels import EmptyNotice
from ..kit.theme import ColorRole, Theme, mixed
from ..plotting.axis_range import AxisRange
from ..plotting.gestures import MOVING_KEYS, Drag, take_key, take_wheel
from ..plotting.own_view import OwnView

_PAD: Final = 6
_MARK: Final = 14
#: Closer bars, in pixels, are drawn as one area.
_MERGED_BELOW: Final = 3.0
#: Closer expected instants, in pixels, are not drawn.
_EXPECTED_APART: Final = 6
#: Of the width; titles are whole in all but the narrowest plots.
_LARGEST_TITLE_SHARE: Final = 0.6
#: With shorter tracks there are no outcomes, which the table has too.
_LEAST_TRACK_SHARE: Final = 0.33
_SMALLEST_TRACK: Final = 60
_NOTHING_CHOSEN: Final = "Select a result to see when its timer fired."


@guarded
class LabPlot(QAbstractScrollArea):
    """A track per run, grouped by display and timer; paints only what is visible.

    A firing on time is a bar as high as the track; from the first divergence on, bars are half as
    high and in another colour. Faint lines are expected instants. The pointer or the arrow keys
    read a firing. The wheel zooms, and scrolls the runs over their titles; dragging moves, and keys
    are those of :mod:`.gestures`.

    Signals:
        firing_read: A sentence about the current firing, empty for none.
        result_chosen: A run was clicked or reached with the arrow keys.
    """

    firing_read = Signal(str)
    result_chosen = Signal(object)  # LabResult

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: list[LabResult | str] = []
        self._current: LabResult | None = None
        self._firing = -1
        self._end_ns = NS_PER_SECOND
        self._title_width = self._text_width = 0
        self.view = OwnView(
            self._extent, self.viewport().update, AxisRange(shortest=1_000.0, has_room=False)
        )
        self._drag = Drag()
        self.notice = EmptyNotice(self)
        self.notice.show_text(_NOTHING_CHOSEN)
        self.setAccessibleName("Firings of each run")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setMouseTracking(True)
        theme.changed.connect(self.viewport().update)

    # ---------------------------------------------------------------------- display

    @property
    def current_result(self) -> LabResult | None:
        return self._current

    def show_results(self, results: Sequence[LabResult]) -> None:
        self._rows = []
        for title, runs in groupby(results, lambda each: each.group_title):
            self._rows += [title, *runs]
        self.notice.show_text("" if self._rows else _NOTHING_CHOSEN)
        self._end_ns = max((each.display.end_ns for each in results), default=0) or NS_PER_SECOND
        metrics = self.fontMetrics()
        titles = {each.row_title for each in results}
        texts = {outcome_text(each) for each in results}
        self._title_width = max(map(metrics.horizontalAdvance, titles), default=0)
        self._text_width = max(map(metrics.horizontalAdvance, texts), default=0)
        if all(each is not self._current for each in results):
            self._read(None, -1)
        self.view.settle()
        self._fit_bar()
        self.viewport().update()

    def show_result(self, result: LabResult | None) -> None:
        if result is None or result is self._current:
            return
        if self._row_of(result) is not None:
            self._read(result, -1)
            self._scroll_to(result)

    def _scroll_to(self, result: LabResult) -> None:
        index = self._row_of(result)
        if index is None:
            return
        top = index * self._row_height
        bar = self.verticalScrollBar()
        room = self._tracks_height
        if top < bar.value() + self._row_height:
            bar.setValue(top - self._row_height)
        elif top + self._row_height > bar.value() + room:
            bar.setValue(top + self._row_height - room)

    def _row_of(self, result: LabResult) -> int | None:
        return next((index for index, row in enumerate(self._rows) if row is result), None)

    # ------------------------------------------------------------------ places

    @property
    def _row_height(self) -> int:
        return self.fontMetrics().height() + 4

    @property
    def _axis_height(self) -> int:
        return self.fontMetrics().height() + 8

    @property
    def _tracks_height(self) -> int:
        return max(0, self.viewport().height() - self._axis_height)

    def _track_span(self) -> tuple[int, int]:
        width = self.viewport().width()
        most = int(width * _LARGEST_TITLE_SHARE)
        left = _PAD + _MARK + min(self._title_width + 4, most) + _PAD
        right = width - _PAD - (self._text_width + 4) - _PAD
        if right - left < width * _LEAST_TRACK_SHARE:
            # Room for half of the last number of the axis.
            right = width - _PAD - _MARK
        return left, max(right, left + _SMALLEST_TRACK)

    def x_of(self, at_ns: float) -> float:
        left, right = self._track_span()
        shown = self.view.range
        return drawable(left + (at_ns - shown.low) / shown.span * (right - left))

    def _extent(self) -> tuple[float, float, int]:
        left, right = self._track_span()
        return 0.0, float(self._end_ns), right - left

    def _at_ns(self, x: float) -> float:
        left, right = self._track_span()
        return self.view.range.low + (x - left) / (right - left) * self.view.range.span

    def row_rect(self, result: LabResult) -> QRect:
        """Return the area of a run in the viewport; empty if it is not visible."""
        index = self._row_of(result)
        if index is None:
            return QRect()
        top = index * self._row_height - self.verticalScrollBar().value()
        return QRect(0, top, self.viewport().width(), self._row_height)

    def _fit_bar(self) -> None:
        whole = len(self._rows) * self._row_height
        bar = self.verticalScrollBar()
        bar.setRange(0, max(0, whole - self._tracks_height))
        bar.setPageStep(max(1, self._tracks_height))
        bar.setSingleStep(self._row_height)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        current = self._current
        lost = event.oldSize().height() - event.size().height()
        was_seen = (
            current is not None and -1 < self.row_rect(current).top() < self._tracks_height + lost
        )
        self._fit_bar()
        if current is not None and was_seen:
            self._scroll_to(current)
        self.view.settle()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit_bar()

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
        left, right = self._track_span()
        if left <= event.position().x() <= right:
            take_wheel(event, self.view, self._at_ns(event.position().x()))
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
            moved = self._drag.move(event.position())
            if moved is not None:
                left, right = self._track_span()
                self.view.pan(-moved.x() / (right - left))
            return
        result, firing = self._at(event.position())
        if result is None:
            self.firing_read.emit("")
        elif result is not self._current or firing != self._firing:
            self._read(result, firing)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._drag.press(event.position())
        result, firing = self._at(event.position())
        if result is not None:
            self._read(result, firing)
            self.result_chosen.emit(result)

    def _at(self, position: QPointF) -> tuple[LabResult | None, int]:
        if position.y() >= self._tracks_height:
            return None, -1
        index = int(position.y() + self.verticalScrollBar().value()) // self._row_height
        row = self._rows[index] if 0 <= index < len(self._rows) else ""
        if isinstance(row, str):
            return None, -1
        left, right = self._track_span()
        if not left - 4 <= position.x() <= right + 4:
            return row, -1
        return row, _nearest(row.fired_ns, self._at_ns(position.x()))

    def _read(self, result: LabResult | None, firing: int) -> None:
        self._current, self._firing = result, firing
        self.viewport().update()
        self.firing_read.emit("" if result is None else reading_text(result, firing))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Up | Qt.Key.Key_Down:
                self._go_on(-1 if event.key() == Qt.Key.Key_Up else 1)
            case Qt.Key.Key_Left | Qt.Key.Key_Right if self._current is not None:
                step = -1 if event.key() == Qt.Key.Key_Left else 1
                last = len(self._current.fired_ns) - 1
                self._read(self._current, min(max(self._firing + step, 0), last))
            case _ if take_key(event, self.view):
                pass
            case _:
                super().keyPressEvent(event)

    def _go_on(self, step: int) -> None:
        runs = [row for row in self._rows if not isinstance(row, str)]
        if not runs:
            return
        at = next((index for index, run in enumerate(runs) if run is self._current), -step)
        chosen = runs[min(max(at + step, 0), len(runs) - 1)]
        self.show_result(chosen)
        self.result_chosen.emit(chosen)

    # ------------------------------------------------------------------ painting

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        area = self.viewport().rect()
        painter.fillRect(area, self._theme.color(ColorRole.BG))
        painter.setClipRect(QRect(0, 0, area.width(), self._tracks_height))
        height = self._row_height
        first = self.verticalScrollBar().value() // height
        shown = self._rows[first : first + self._tracks_height // height + 2]
        for number, row in enumerate(shown, first):
            top = number * height - self.verticalScrollBar().value()
            if isinstance(row, str):
                self._paint_head(painter, row, top)
            else:
                self._paint_run(painter, row, top)
        painter.setClipping(False)
        if self._rows:
            self._paint_axis(painter)

    def _paint_head(self, painter: QPainter, title: str, top: int) -> None:
        font = QFont(self.font())
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(self._theme.color(ColorRole.TEXT))
        room = QRect(_PAD, top, self.viewport().width() - 2 * _PAD, self._row_height)
        painter.drawText(room, _LEFT_IN_ROW, title)
        painter.setFont(self.font())

    def _paint_run(self, painter: QPainter, run: LabResult, top: int) -> None:
        color = self._theme.color
        height, width = self._row_height, self.viewport().width()
        left, right = self._track_span()
        is_right = run.verdict.is_right
        if run is self._current:
            painter.fillRect(QRect(0, top, width, height), color(ColorRole.RAISED))
        painter.setPen(color(ColorRole.BAR if is_right else ColorRole.RED))
        painter.drawText(QRect(_PAD, top, _MARK, height), _LEFT_IN_ROW, "✓" if is_right else "✗")
        metrics = painter.fontMetrics()
        painter.setPen(color(ColorRole.TEXT))
        room = QRect(_PAD + _MARK, top, left - 2 * _PAD - _MARK, height)
        title = metrics.elidedText(run.row_title, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, _LEFT_IN_ROW, title)
        painter.setPen(color(ColorRole.MUTED if is_right else ColorRole.TEXT))
        room = QRect(right + _PAD, top, width - right - 2 * _PAD, height)
        if room.width() >= self._text_width:
            painter.drawText(room, _LEFT_IN_ROW, outcome_text(run))
        self._paint_firings(painter, run, top)

    def _paint_firings(self, painter: QPainter, run: LabResult, top: int) -> None:
        color, height = self._theme.color, self._row_height
        painter.setPen(Qt.PenStyle.NoPen)
        left, right = self._track_span()
        painter.save()
        painter.setClipRect(
            QRect(left - 2, top, right - left + 4, height), Qt.ClipOperation.IntersectClip
        )
        # Lines too close to be told apart are useless.
        if len(run.expected_ns) * _EXPECTED_APART <= right - left:
            painter.setBrush(mixed(color(ColorRole.HATCH), color(ColorRole.BG), 0.6))
            painter.drawRects(
                [QRectF(self.x_of(due_ns) - 0.5, top, 1, height) for due_ns in run.expected_ns]
            )
        limit = len(run.fired_ns) if run.divergence is None else run.divergence.index
        painter.setBrush(color(ColorRole.BAR))
        painter.drawRects(
            [
                QRectF(low - 1, top + 2, high - low + 2, height - 4)
                for low, high in self._spans(run.fired_ns[:limit])
            ]
        )
        painter.setBrush(color(ColorRole.RED))
        painter.drawRects(
            [
                QRectF(low - 1, top + height / 2, high - low + 2, height / 2 - 2)
                for low, high in self._spans(run.fired_ns[limit:])
            ]
        )
        if run is self._current and 0 <= self._firing < len(run.fired_ns):
            x = self.x_of(run.fired_ns[self._firing])
            painter.setPen(QPen(color(ColorRole.TEXT), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(x - 3.5, top + 0.5, 7, height - 1.5))
        painter.restore()

    def _spans(self, instants: Sequence[int]) -> list[tuple[float, float]]:
        """Return start and end of bars; bars that touch are merged."""
        shown = self.view.range
        first, behind = bisect_left(instants, shown.low), bisect_left(instants, shown.high)
        spans: list[tuple[float, float]] = []
        low = high = -_MERGED_BELOW
        for at_ns in instants[max(first - 1, 0) : behind + 1]:
            x = self.x_of(at_ns)
            if spans and x - high < _MERGED_BELOW:
                high = x
                spans[-1] = (low, high)
            else:
                low = high = x
                spans.append((low, high))
        return spans

    def _paint_axis(self, painter: QPainter) -> None:
        left, right = self._track_span()
        top = self._tracks_height
        painter.setPen(self._theme.color(ColorRole.MUTED))
        painter.drawLine(left, top, right, top)
        shown = self.view.range
        ticks = instant_ticks(max(shown.low, 0), shown.high, max(2, (right - left) // 70))
        metrics = painter.fontMetrics()
        for tick in ticks.ticks:
            x = round(self.x_of(tick.value_ns))
            if not left <= x <= right:
                continue
            painter.drawLine(x, top, x, top + 3)
            width = metrics.horizontalAdvance(tick.label)
            painter.drawText(x - width // 2, top + 4 + metrics.ascent(), tick.label)
        unit = QRect(_PAD, top + 4, left - 2 * _PAD, metrics.height())
        painter.drawText(unit, Qt.AlignmentFlag.AlignRight, f"time ({ticks.unit})")


_LEFT_IN_ROW: Final = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


def reading_text(result: LabResult, firing: int) -> str:
    """Return a sentence about a firing, or about the run.

    Args:
        result: The run.
        firing: The number of the firing, from 0; negative for none.
    """
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
