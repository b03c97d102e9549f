"""The columns of a capture beside its frame times, below the frames on their axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal, Slot
from PySide6.QtGui import QAction, QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.analysis.statistics.column_summary import ColumnSummary, lasting_ns, summary_of
from inspector.display_text import as_plain, one_line
from inspector.errors import InspectorError
from inspector.events.frame_history import FrameHistory
from inspector.formats.drawing.ticks import rounded_step
from inspector.formats.frame_times import Beside, Quantity
from inspector.formats.options import curve_stroke
from inspector.sessions.session import ShowsCapture, beside_of
from inspector.timebase import NS_PER_MS

from ..kit.background import Background
from ..kit.fonts import in_type, text_scale
from ..kit.guards import guarded
from ..kit.labels import WrappedLabel
from ..kit.layouts import fill
from ..kit.theme import ColorRole, Theme
from ..kit.tile import is_low
from ..plotting.gestures import Drag, handle_wheel
from ..plotting.shared_view import SharedView
from ..session.bridge import SessionBridge

#: Settings key of the columns that are shown.
_CHOSEN: Final = "capture.columns"
_FRAME_TIME: Final = Quantity(-1, "Frame time", "ms")
_HEIGHT: Final = 96
_LOW_HEIGHT: Final = 56
_PAD: Final = 4
_LEAST_SHARE: Final = 0.6
_ROOM: Final = 0.08
_TICKS: Final = 3
_TWO: Final = 2


class ShownColumn(Struct, frozen=True, eq=False):
    quantity: Quantity  # What it measures
    values: NDArray[np.float64]  # A value for each frame, NaN where there is none
    summary: ColumnSummary | None  # The statistics of the column, None if it has no numbers
    damage: str = ""  # Which part of it is damaged, as a sentence; empty for none

    @property
    def range(self) -> tuple[float, float]:
        """What an axis of it reaches from and to: from 0 unless all values are far from it."""
        least, most = (
            (0.0, 1.0) if self.summary is None else (self.summary.least, self.summary.most)
        )
        low = 0.0 if 0 <= least <= _LEAST_SHARE * most else least
        room = _ROOM * (most - low) or abs(most) * _ROOM or 1.0
        return (low if low == 0 else low - room), most + room

    def text_at(self, place: int | None) -> str:
        """Return its name with its value at a frame, else with its mean."""
        name = one_line(self.quantity.name)
        if place is not None and 0 <= place < len(self.values):
            unit = f" {self.quantity.unit}" if self.quantity.unit else ""
            value = float(self.values[place])
            return f"{name}  {value:,.4g}{unit}" if np.isfinite(value) else f"{name}  no value"
        if self.summary is None:
            return f"{name}  no values"
        damaged = ", damaged values left out" if self.damage else ""
        return f"{name}  {self.summary.mean_text()}{damaged}"

    def lines(self) -> Iterator[str]:
        if self.summary is None:
            return
        first, *classes = self.summary.lines()
        yield first
        if self.damage:
            yield self.damage
        yield from classes


def read_columns(
    quantities: Sequence[Quantity],
    beside: Beside | None,
    interval_ns: NDArray[np.int64],
    lasts_ns: NDArray[np.int64],
    *,
    are_frames: bool,
) -> list[ShownColumn]:
    """Read columns of a capture, in any thread; each frame or sample lasts ``lasts_ns``."""
    wanted = [each.at for each in quantities if each.at >= 0]
    read = iter(beside.numbers(wanted) if beside and wanted else [])
    damage = beside.damage(wanted) if beside and wanted else {}
    found = []
    for each in quantities:
        values = next(read) if each.at >= 0 else interval_ns / NS_PER_MS
        summary = summary_of(each.name, each.unit, values, lasts_ns, are_frames=are_frames)
        found.append(ShownColumn(each, values, summary, damage.get(each.at, "")))
    return found


def reduced(
    edges: NDArray[np.float64], values: NDArray[np.float64], low: float, high: float, pixels: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the points of a line through values, each held between two edges.

    Where values share one of the pixels from ``low`` to ``high``, the line goes through their
    highest and their lowest: no spike is lost. It has gaps where there are no numbers.
    """
    places = (edges - low) / (high - low) * pixels
    if len(values) <= _TWO * pixels:
        return np.repeat(places, 2)[1:-1], np.repeat(values, 2)
    at = np.clip(places[:-1], 0, pixels - 1).astype(np.int64)
    firsts = np.flatnonzero(np.diff(at, prepend=-1))
    found = np.empty(2 * len(firsts))
    found[0::2] = np.fmax.reduceat(values, firsts)
    found[1::2] = np.fmin.reduceat(values, firsts)
    return np.repeat(at[firsts] + 0.5, 2), found


@guarded
class CaptureColumns(QWidget):
    """Shows columns below the frames: a plot for each unit, or one for all."""

    offered = Signal(bool)  # Whether the capture that is open has columns to choose from
    laid_out = Signal()  # There are other plots, or none

    def __init__(self, bridge: SessionBridge, theme: Theme, area: Callable[[], QRectF]) -> None:
        """Show nothing at first; ``area`` returns where the frames are, whose edges plots share."""
        super().__init__()
        self._bridge, self._theme, self._area = bridge, theme, area
        self._view = SharedView.of(bridge)
        self._names = [each for each in bridge.panel_choices.get(_CHOSEN, "").split("\n") if each]
        self._columns: list[ShownColumn] = []
        self._background = Background(self, expected=InspectorError)
        self._background.done.connect(self._on_found)
        self._background.failed.connect(self._on_problem)
        self.menu = QMenu("Columns", self)
        self.menu.aboutToShow.connect(self._list)
        # Whether columns of two units share a plot
        self.overlay_action = QAction("Two units in one plot", self, checkable=True)
        self.overlay_action.setToolTip("The second unit has its axis at the right")
        self.overlay_action.toggled.connect(self._lay_out)
        self.problem = WrappedLabel()
        self.plots: list[ColumnPlot] = []
        self._parts = fill(self, self.problem, spacing=1)
        bridge.session_changed.connect(self.on_session_changed)
        theme.changed.connect(self._repaint)
        for changed in (self._view.moved, self._view.hover_moved, self._view.margins_changed):
            changed.connect(self._repaint)
        self.on_session_changed()

    @property
    def _offered(self) -> tuple[Quantity, ...]:
        beside = beside_of(self._bridge.session)
        return (_FRAME_TIME, *beside.quantities) if beside and beside.quantities else ()

    @Slot()
    def on_session_changed(self) -> None:
        """Show of another capture the columns of the same names."""
        self._background.cancel()
        self._columns = []
        self.problem.set_text("")
        self._lay_out()
        self.offered.emit(self.has_choice)
        self._read()

    @property
    def has_choice(self) -> bool:
        return bool(self._offered)

    @property
    def chosen(self) -> list[Quantity]:
        return [each for each in self._offered if each.name in self._names]

    def choose(self, name: str, *, is_shown: bool) -> None:
        self._names = [each for each in self._names if each != name]
        if is_shown:
            self._names.append(name)
        choices = self._bridge.panel_choices
        choices[_CHOSEN] = "\n".join(self._names)
        self._read()

    def _read(self) -> None:
        session: object = self._bridge.session
        chosen = self.chosen
        if not chosen or not isinstance(session, ShowsCapture):
            self._background.cancel()
            self._on_found([])
            return
        frames: FrameHistory = self._bridge.timeline.frames
        at_ns, interval_ns = (
            frames.numpy(each, frames.first, frames.end).copy() for each in ("at_ns", "interval_ns")
        )
        beside, are_samples = session.beside, bool(session.samples)
        lasts_ns = lasting_ns(at_ns, interval_ns, are_samples=are_samples)

        def work(_report: object) -> list[ShownColumn]:
            return read_columns(chosen, beside, interval_ns, lasts_ns, are_frames=not are_samples)

        self._background.start(work)

    @Slot(object)
    def _on_found(self, columns: list[ShownColumn]) -> None:
        self._columns = columns
        self.problem.set_text("")
        self._lay_out()

    @Slot(object)
    def _on_problem(self, problem: InspectorError) -> None:
        self.problem.set_text(str(problem))
        self.laid_out.emit()

    @property
    def has_content(self) -> bool:
        return bool(self.plots) or bool(self.problem.text())

    def finish(self) -> None:
        self._background.wait()

    @Slot()
    def _lay_out(self) -> None:
        for plot in self.plots:
            self._parts.removeWidget(plot)
            plot.deleteLater()
        units = list(dict.fromkeys(each.quantity.unit for each in self._columns))
        self.overlay_action.setEnabled(len(units) == _TWO)
        is_one = self.overlay_action.isChecked() and len(units) == _TWO
        groups = [units] if is_one else [[each] for each in units]
        self.plots = []
        for group in groups:
            columns = [each for each in self._columns if each.quantity.unit in group]
            plot = ColumnPlot(columns, group, self._view, self._theme, self._area)
            self._parts.addWidget(plot)
            self.plots.append(plot)
        self.fit()
        self.laid_out.emit()

    def fit(self) -> None:
        for plot in self.plots:
            height = _LOW_HEIGHT if is_low(self) else _HEIGHT
            plot.setFixedHeight(round(height * text_scale(self)))

    @Slot()
    def _repaint(self) -> None:
        for plot in self.plots:
            plot.update()

    @Slot()
    def _list(self) -> None:
        menu = self.menu
        menu.clear()
        for each in self._offered:
            unit = f"  ({each.unit})" if each.unit else ""
            action = menu.addAction(f"{one_line(each.name)}{unit}".replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(each.name in self._names)
            action.setData(each.name)
            action.toggled.connect(self._toggle)
        menu.addSeparator()
        menu.addAction(self.overlay_action)

    @Slot(bool)
    def _toggle(self, is_shown: bool) -> None:  # noqa: FBT001 - a slot
        action = self.sender()
        assert isinstance(action, QAction), "only connected to actions"
        self.choose(str(action.data()), is_shown=is_shown)


@guarded
class ColumnPlot(QWidget):
    """Draws columns of one unit, or of two with an axis at either side."""

    def __init__(
        self,
        columns: Sequence[ShownColumn],
        units: Sequence[str],
        view: SharedView,
        theme: Theme,
        area: Callable[[], QRectF],
    ) -> None:
        super().__init__()
        self.columns, self._units = tuple(columns), tuple(units)
        self._view, self._theme, self._frames_area = view, theme, area
        self._drag = Drag()
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        in_type(self, "small")
        self.setAccessibleName("Columns of the capture")
        self.setAccessibleDescription(", ".join(each.text_at(None) for each in self.columns))
        lines = (line for each in self.columns for line in each.lines())
        self.setToolTip(as_plain("\n".join(lines)))

    def area(self) -> QRectF:
        """Return where the lines are: below the frames, and below the texts."""
        frames, head = self._frames_area(), self.fontMetrics().height() + _PAD
        return QRectF(frames.left(), head, frames.width(), self.height() - head - _PAD)

    def texts(self) -> list[str]:
        """Return the text of each column: its value at the hovered frame, else its mean."""
        series, hover = self._view.series, self._view.hover
        frame = None if series is None or hover is None else series.frame_at(hover)
        place = None if frame is None or series is None else frame - series.first
        return [each.text_at(place) for each in self.columns]

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        color, area = self._theme.color, self.area()
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), color(ColorRole.BG))
            self._paint_head(painter, area)
            for place, unit in enumerate(self._units):
                columns = [each for each in self.columns if each.quantity.unit == unit]
                low, high = self._axis(columns)
                self._paint_axis(painter, area, (low, high), is_left=place == 0)
                painter.save()
                painter.setClipRect(area)
                for each in columns:
                    self._paint_line(painter, area, each, low, high)
                painter.restore()
            hover, shown = self._view.hover, self._view.range
            if hover is not None and shown.low <= hover <= shown.high:
                x = area.left() + (hover - shown.low) / shown.span * area.width()
                painter.fillRect(
                    QRectF(round(x), area.top(), 1, area.height()), color(ColorRole.MUTED)
                )

    def _axis(self, columns: Sequence[ShownColumn]) -> tuple[float, float]:
        ranges = [each.range for each in columns]
        return min(low for low, _ in ranges), max(high for _, high in ranges)

    def _paint_head(self, painter: QPainter, area: QRectF) -> None:
        metrics, x = painter.fontMetrics(), area.left()
        baseline = metrics.ascent() + 2
        for each, text in zip(self.columns, self.texts(), strict=True):
            painter.setPen(self._pen(each))
            painter.drawLine(QPointF(x, baseline - 3), QPointF(x + 14, baseline - 3))
            painter.setPen(self._theme.color(ColorRole.TEXT))
            painter.drawText(QPointF(x + 18, baseline), text)
            x += 18 + metrics.horizontalAdvance(text) + 16

    def _paint_axis(
        self, painter: QPainter, area: QRectF, ends: tuple[float, float], *, is_left: bool
    ) -> None:
        low, high = ends
        step = rounded_step((high - low) / _TICKS)
        metrics = painter.fontMetrics()
        for number in range(int(np.ceil(low / step)), int(high / step) + 1):
            y = area.bottom() - (number * step - low) / (high - low) * area.height()
            if is_left:
                painter.fillRect(
                    QRectF(area.left(), round(y), area.width(), 1),
                    self._theme.color(ColorRole.LINE),
                )
            text = f"{number * step:,.6g}"
            width = metrics.horizontalAdvance(text)
            x = area.left() - width - 6 if is_left else area.right() - width - 4
            painter.setPen(self._theme.color(ColorRole.MUTED))
            painter.drawText(QPointF(x, y + metrics.ascent() / 2 - 1), text)

    def _paint_line(
        self, painter: QPainter, area: QRectF, column: ShownColumn, low: float, high: float
    ) -> None:
        series, shown = self._view.series, self._view.range
        if series is None:
            return
        start, stop = series.frames_within(shown.low, shown.high)
        stop = min(stop, series.first + len(column.values))
        if start >= stop:
            return
        values = column.values[start - series.first : stop - series.first]
        edges = series.edges(start, stop)
        xs, ys = reduced(edges, values, shown.low, shown.high, max(round(area.width()), 1))
        heights = area.bottom() - (ys - low) / (high - low) * area.height()
        painter.setPen(self._pen(column))
        for first, last in _stretches(np.isfinite(heights)):
            points = zip(xs[first:last].tolist(), heights[first:last].tolist(), strict=True)
            painter.drawPolyline([QPointF(area.left() + x, y) for x, y in points])

    def _pen(self, column: ShownColumn) -> QPen:
        stroke = curve_stroke(self.columns.index(column), self._theme.name, 1.0)
        pen = QPen(QColor(stroke.color), 1.2)
        if stroke.dash:
            pen.setDashPattern(list(stroke.dash))
        return pen

    def _x_at(self, place: QPointF) -> float:
        area, shown = self.area(), self._view.range
        share = (place.x() - area.left()) / max(area.width(), 1.0)
        return shown.low + min(max(share, 0.0), 1.0) * shown.span

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        handle_wheel(event, self._view, self._x_at(event.position()))

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._drag.press(event.position())

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        moved = self._drag.move(event.position()) if event.buttons() else None
        if moved is not None:
            self._view.pan(-moved.x() / max(self.area().width(), 1.0))
        elif not event.buttons():
            self._view.point_at(self._x_at(event.position()))

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._drag.release()

    @override
    def leaveEvent(self, event: QEvent) -> None:
        self._view.point_at(None)
        super().leaveEvent(event)


def _stretches(there: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Go through the stretches of places that are there."""
    edges = np.flatnonzero(np.diff(there, prepend=False, append=False))
    yield from zip(edges[0::2].tolist(), edges[1::2].tolist(), strict=True)
