"""The overview: every frame of the session in one strip, with a brush for what is in view."""

from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from inspector.formats.arrangement.fills import Fill
from inspector.formats.arrangement.frame_bars import NO_SPIKES, BarScale, Spikes, frame_bars
from inspector.formats.arrangement.frame_series import FrameSeries, Window, XAxis
from inspector.tokens import SIZES
from inspector.vocabulary import Measure

from ..kit.fonts import text_scale
from ..kit.guards import guarded
from ..kit.keys import is_plain, keeps_key
from ..kit.theme import ColorRole, Theme
from ..plotting.bulk_paint import fill_rects
from ..plotting.column_picture import ColumnPicture
from ..plotting.gestures import MOVING_KEYS, ZOOMS, Movable, handle_key
from ..plotting.sheet_painter import color_of
from .duration_scale import DEFAULT_BUDGET_NS

_HEIGHT: Final = SIZES["overview"]
#: This height of the strip, in pixels, stands for this many budgets.
_SCALE_HEIGHT: Final = 20
_SCALE_BUDGETS: Final = 3
_PAD: Final = 1
_GRIP: Final = 5
_NARROWEST: Final = 4
#: The share of the view by which a key moves it.
_PANS: Final = {Qt.Key.Key_Left: -0.5, Qt.Key.Key_Right: 0.5}
_LEAST_FRAMES: Final = 1_200
_LEAST_SECONDS: Final = 20.0
#: Factor by which the strip is extended when it is full; everything is drawn again then.
_GROWTH: Final = 1.15


@guarded
class OverviewStrip(QWidget):
    """All frames of a session, a column of pixels each or for many, the slowest.

    What was drawn stays in a pixmap; new frames are drawn into it at its end. Only
    when the strip is full, every fifteen per cent more, is it drawn again. So a
    refresh costs the same whatever the length of the session.
    """

    #: The part of the axis that the brush was moved to.
    range_brushed = Signal(float, float)
    #: The strip was double-clicked: show everything.
    fit_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.picture = ColumnPicture(self._draw_columns)
        self.moved: Movable | None = None  # What its keys move, None for nothing
        self._theme = theme
        self._series: FrameSeries | None = None
        self._measure: Measure = "interval"
        self._budget_ns = DEFAULT_BUDGET_NS
        self._visible = (0.0, 0.0)
        self._low, self._high = 0.0, 1.0
        self._x_axis = XAxis.FRAME
        self._is_placed = self._is_whole = False
        self._grip: str | None = None
        self._grip_offset = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        # It paints all of its area, so that Qt need not paint what is below.
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("Overview of the session")
        self.setToolTip("Drag to move the view, drag an edge to resize it")

    def set_series(self, series: FrameSeries | None, *, is_whole: bool = False) -> None:
        """Show other frames; ``is_whole`` if no more are to come."""
        self._series, self._is_whole = series, is_whole
        self._is_placed = False
        self.forget_picture()

    def set_measure(self, measure: Measure) -> None:
        self._measure = measure
        self.forget_picture()

    def set_budget_ns(self, budget_ns: int) -> None:
        self._budget_ns = budget_ns
        self.forget_picture()

    def set_visible(self, low: float, high: float) -> None:
        """Show which part of the axis is in view elsewhere, and take in new frames."""
        former = self._brush_edges()
        self._visible = (low, high)
        start, stop = self._bring_up_to_date()
        if self._brush_edges() != former:
            self.update()
        if stop > start:
            ratio = self.devicePixelRatioF()
            left = int(start / ratio)
            self.update(left, 0, int(stop / ratio) + 1 - left, self.height())

    def forget_picture(self) -> None:
        self._is_placed = False
        self.picture.forget()
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(400, round(_HEIGHT * text_scale(self)))

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        self.forget_picture()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._bring_up_to_date()
        pixmap, series = self.picture.pixmap, self._series
        if pixmap is None or series is None or series.first == series.end:
            painter.fillRect(self.rect(), self._theme.color(ColorRole.PANEL))
            return
        exposed = event.rect()
        ratio = self.devicePixelRatioF()
        source = QRectF(
            *(exposed.x() * ratio, exposed.y() * ratio),
            *(exposed.width() * ratio, exposed.height() * ratio),
        )
        pixmap.draw(painter, QRectF(exposed), source)
        self._draw_brush(painter)

    def _bring_up_to_date(self) -> tuple[int, int]:
        series = self._series
        if series is None or series.first == series.end or not self.width():
            return 0, 0
        self._make_room(series)
        ratio = self.devicePixelRatioF()
        width, height = round(self.width() * ratio), round(self.height() * ratio)
        look = (id(series), series.x_axis, self._budget_ns)
        window = Window(self._low, self._high, width, height)
        return self.picture.bring_up_to_date(series, self._measure, window, look)

    def _make_room(self, series: FrameSeries) -> None:
        """Widen what the strip stands for when the newest frame is beyond it."""
        first, last = series.bounds()
        if self._is_whole and last > first:
            self._low, self._high, self._x_axis = first, last, series.x_axis
            return
        is_far = first > self._low + (last - first) / 20
        if self._x_axis is series.x_axis and self._is_placed and last <= self._high and not is_far:
            return
        self._x_axis = series.x_axis
        least = _LEAST_FRAMES if series.x_axis is XAxis.FRAME else _LEAST_SECONDS
        self._low = first
        self._high = first + max(least, (last - first) * _GROWTH)
        self._is_placed = True

    def _draw_columns(
        self, painter: QPainter, series: FrameSeries, window: Window, pixels: range, _newest: object
    ) -> Spikes:
        background = self._theme.color(ColorRole.PANEL)
        painter.fillRect(pixels.start, 0, len(pixels), window.height, background)
        columns = series.columns(window, pixels.start, pixels.stop)
        if not len(columns):
            return NO_SPIKES
        height = window.height - 2 * _PAD
        unit = self.devicePixelRatioF() * self.height() / _HEIGHT
        top_ns = round(_SCALE_BUDGETS * self._budget_ns * height / (_SCALE_HEIGHT * unit))
        scale = BarScale(height, top_ns, self._budget_ns, wide=1 << 20, is_by_slowest=True)
        bars = frame_bars(series, self._measure, columns, scale)
        painter.translate(0, _PAD)
        for fill, rects in bars.layers:
            if fill is not Fill.CUT:
                fill_rects(painter, rects, color_of(fill, self._theme))
        return bars.spikes

    def _draw_brush(self, painter: QPainter) -> None:
        left, right = self._brush_edges()
        veil = QColor(self._theme.color(ColorRole.PANEL))
        veil.setAlphaF(0.35)
        height = self.height()
        painter.fillRect(QRectF(0, 0, left, height), veil)
        painter.fillRect(QRectF(right, 0, self.width() - right, height), veil)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.color(ColorRole.TEXT), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        box = QRectF(left + 0.5, 1.5, max(right - left - 1, 1), height - 3)
        painter.drawRoundedRect(box, 3, 3)
        painter.restore()

    def _brush_edges(self) -> tuple[int, int]:
        """Return the edges of the brush in pixels, far enough apart to be seen."""
        scale = self.width() / (self._high - self._low)
        left = (self._visible[0] - self._low) * scale
        right = (self._visible[1] - self._low) * scale
        left = min(max(round(left), 0), self.width() - _NARROWEST)
        return left, min(max(round(right), left + _NARROWEST), self.width())

    def _x_at(self, place: QPointF) -> float:
        share = min(max(place.x() / max(self.width(), 1), 0.0), 1.0)
        return self._low + share * (self._high - self._low)

    def _grip_at(self, place: QPointF) -> str:
        left, right = self._brush_edges()
        if abs(place.x() - left) <= _GRIP:
            return "low"
        if abs(place.x() - right) <= _GRIP:
            return "high"
        return "move" if left < place.x() < right else "jump"

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.LeftButton or self._series is None:
            event.ignore()
            return
        place = event.position()
        self._grip = self._grip_at(place)
        low, high = self._visible
        if self._grip == "jump":
            self._grip = "move"
            half = (high - low) / 2
            low, high = self._x_at(place) - half, self._x_at(place) + half
            self.range_brushed.emit(low, high)
        self._grip_offset = self._x_at(place) - low

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = event.position()
        low, high = self._visible
        match self._grip:
            case None:
                is_edge = self._grip_at(place) in ("low", "high")
                self.setCursor(
                    Qt.CursorShape.SizeHorCursor if is_edge else Qt.CursorShape.ArrowCursor
                )
                return
            case "move":
                begin = self._x_at(place) - self._grip_offset
                low, high = begin, begin + high - low
            case "low":
                low = min(self._x_at(place), high)
            case _:
                high = max(self._x_at(place), low)
        self.range_brushed.emit(low, high)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._grip = None

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.fit_requested.emit()

    @override
    def event(self, event: QEvent) -> bool:
        return keeps_key(event, MOVING_KEYS) or super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        moved, key = self.moved, Qt.Key(event.key())
        if moved is None or not is_plain(event):
            event.ignore()
        elif key in _PANS:
            moved.pan(_PANS[key])
        elif key in ZOOMS:
            moved.zoom(ZOOMS[key])
        elif not handle_key(event, moved):
            event.ignore()

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        low, high = self._visible
        share = -0.25 * event.angleDelta().y() / 120
        moved = share * (high - low)
        self.range_brushed.emit(low + moved, high + moved)
        event.accept()
