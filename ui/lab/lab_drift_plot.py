"""Drift over time in the refresh-rate lab: actual minus expected, one curve per run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.engines.lab.drift import DriftChart, drift_chart, drift_groups
from inspector.engines.lab.refresh_lab import LabResult
from inspector.formats.drawing.display_list import Box, DisplayList

from ..kit.guards import guarded
from ..kit.picture import paint
from ..kit.theme import ColorRole, Theme
from .lab_plot import reading_text

#: Height of a line of the window's font, in points of the picture.
_LINE_PT: Final = 11.5
_PAD: Final = 4.0
#: Largest distance from a curve, in pixels, at which the pointer reads it.
_REACH: Final = 40.0


@guarded
class LabDriftPlot(QWidget):
    """The runs of the display and timer of the current run.

    The pointer, or the arrow keys, read one firing after the other.

    Signals:
        firing_read: A sentence about the current firing, empty for none.
        result_chosen: A run was clicked or reached with the arrow keys.
    """

    firing_read = Signal(str)
    result_chosen = Signal(object)  # LabResult

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._groups: list[tuple[str, list[LabResult]]] = []
        self._group = 0
        self._current: LabResult | None = None
        self._firing = -1
        self._chart: DriftChart | None = None
        self.setAccessibleName("Drift of each run over time")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        theme.changed.connect(self._draw_anew)

    # ---------------------------------------------------------------------- display

    @property
    def current_result(self) -> LabResult | None:
        return self._current

    @property
    def title(self) -> str:
        """The display and timer shown, empty for none."""
        return self._groups[self._group][0] if self._groups else ""

    def show_results(self, results: Sequence[LabResult]) -> None:
        """Show other results, starting with the first group."""
        self._groups = drift_groups(results)
        self._group = 0
        if all(each is not self._current for each in results):
            self._current, self._firing = None, -1
        elif self._current is not None:
            self._group = self._group_of(self._current)
        self._draw_anew()

    def show_result(self, result: LabResult | None) -> None:
        if result is None or result is self._current:
            return
        self._current, self._firing = result, -1
        self._group = self._group_of(result)
        self._draw_anew()

    def _group_of(self, result: LabResult) -> int:
        found = (
            number
            for number, (_title, runs) in enumerate(self._groups)
            if any(run is result for run in runs)
        )
        return next(found, 0)

    def _draw_anew(self) -> None:
        self._chart = None
        self.update()

    # ------------------------------------------------------------------ places

    @property
    def _scale(self) -> float:
        """Pixels per point of the picture."""
        return self.fontMetrics().height() / _LINE_PT

    def chart(self) -> DriftChart | None:
        """Return the visible area in points; ``None`` if there is nothing to show."""
        if self._chart is None and self._groups:
            head = self.fontMetrics().height() / self._scale
            box = Box(
                _PAD,
                _PAD + head,
                max(self.width() / self._scale - 2 * _PAD, 40.0),
                max(self.height() / self._scale - 2 * _PAD - head, 30.0),
            )
            runs = self._groups[self._group][1]
            self._chart = drift_chart(runs, box, self._theme.name, self._current)
        return self._chart

    def place_of(self, result: LabResult, firing: int) -> QPointF:
        """Return the position of a firing, in pixels."""
        chart = self.chart()
        assert chart is not None, "there are no results"
        x, y = chart.x(result.fired_ns[firing]), chart.y(result.drifts_ns[firing])
        return QPointF(x, y) * self._scale

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._draw_anew()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._draw_anew()

    @override
    def sizeHint(self) -> QSize:
        return QSize(480, 160)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(200, 60)

    # ------------------------------------------------------------------ reading

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        found = self._at(event.position())
        if found is None:
            self.firing_read.emit("")
        else:
            self._read(*found)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        found = self._at(event.position())
        if found is not None:
            self._read(*found)
            self.result_chosen.emit(found[0])

    def _at(self, position: QPointF) -> tuple[LabResult, int] | None:
        chart = self.chart()
        if chart is None:
            return None
        x, y = position.x() / self._scale, position.y() / self._scale
        found = chart.nearest(x, y, self._current)
        if found is None:
            return None
        offset = self.place_of(*found) - position
        return found if offset.manhattanLength() <= _REACH else None

    def _read(self, result: LabResult, firing: int) -> None:
        if result is not self._current:
            self._draw_anew()
        self._current, self._firing = result, firing
        self.update()
        self.firing_read.emit(reading_text(result, firing))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Change the run with Up and Down, the firing with Left and Right."""
        runs = self._groups[self._group][1] if self._groups else []
        match event.key():
            case Qt.Key.Key_Up | Qt.Key.Key_Down if runs:
                step = -1 if event.key() == Qt.Key.Key_Up else 1
                at = next((i for i, run in enumerate(runs) if run is self._current), -step)
                chosen = runs[min(max(at + step, 0), len(runs) - 1)]
                self.show_result(chosen)
                self.firing_read.emit(reading_text(chosen, -1))
                self.result_chosen.emit(chosen)
            case Qt.Key.Key_Left | Qt.Key.Key_Right if self._current is not None:
                step = -1 if event.key() == Qt.Key.Key_Left else 1
                last = len(self._current.drifts_ns) - 1
                if last >= 0:
                    self._read(self._current, min(max(self._firing + step, 0), last))
            case _:
                super().keyPressEvent(event)

    # ------------------------------------------------------------------ painting

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        color = self._theme.color
        painter = QPainter(self)
        painter.fillRect(self.rect(), color(ColorRole.BG))
        chart = self.chart()
        if chart is None:
            painter.end()
            return
        metrics = painter.fontMetrics()
        painter.setPen(color(ColorRole.TEXT))
        room = self.width() - 4 * _PAD
        title = metrics.elidedText(f"Drift, {self.title}", Qt.TextElideMode.ElideRight, int(room))
        painter.drawText(QPointF(2 * _PAD, _PAD + metrics.ascent()), title)
        painter.save()
        painter.scale(self._scale, self._scale)
        paint(self._picture(chart), painter)
        painter.restore()
        if self._current is not None and 0 <= self._firing < len(self._current.drifts_ns):
            place = self.place_of(self._current, self._firing)
            painter.setPen(QPen(color(ColorRole.TEXT), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(place.x() - 3.5, place.y() - 3.5, 7, 7))
        painter.end()

    def _picture(self, chart: DriftChart) -> DisplayList:
        width, height = self.width() / self._scale, self.height() / self._scale
        created = datetime.fromtimestamp(0, UTC)
        return DisplayList(width, height, "#ffffff", chart.items, self.title, "", created, "")
