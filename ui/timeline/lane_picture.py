"""Composes the picture of the timeline: ruler, names, lanes, and overlays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QPainter, QPen

from inspector.analysis.lanes.lanes import LaneKind
from inspector.analysis.predict.timers import next_fires, waiting
from inspector.display_text import one_line
from inspector.timebase import NS_PER_MS, NS_PER_SECOND, format_duration, format_instant

from ..kit.theme import ColorRole
from ..plotting.bulk_paint import fill_rects, mixed
from ..plotting.fills import color_of
from ..plotting.frame_bars import BarScale, stacked_bars, top_of_scale_ns
from ..plotting.frame_series import Window
from ..plotting.lane_painter import LanePainter
from ..plotting.lane_view import paint_ruler, ruler_ticks
from .lane_annotation_painter import AnnotationPainter
from .lane_clock_painter import ClockPainter

if TYPE_CHECKING:
    from inspector.analysis.lanes.lanes import Lane

    from ..kit.theme import Theme
    from ..plotting.lane_view import LaneWindow
    from .lane_rows import LaneRow
    from .lane_surface import LaneSurface

_INDENT: Final = 12
_FOLD_WIDTH: Final = 14
#: Half the width of the playhead's grip.
_GRIP: Final = 5
_MOST_PENDING: Final = 6
_MOST_PREDICTED: Final = 40
#: Predicted firings closer than this many pixels are only begun.
_APART: Final = 3
_MOST_CROWDED: Final = 6
_MOST_LABELS: Final = 2_000
_ROLES: Final = {
    LaneKind.MARKS: ColorRole.ACCENT,
    LaneKind.COMMANDS: ColorRole.INTERVENTION,
    LaneKind.FAILURES: ColorRole.BAD,
    LaneKind.HITS: ColorRole.LATE,
    LaneKind.TIMER: ColorRole.GOOD,
    LaneKind.CALL: ColorRole.OK,
}
_SIGNS: Final = {
    LaneKind.FRAMES: "▭",
    LaneKind.BOOKMARKS: "★",
    LaneKind.MARKS: "⚑",
    LaneKind.COMMANDS: "»",
    LaneKind.FAILURES: "✖",
    LaneKind.HITS: "●",
    LaneKind.CLOCK: "◷",
    LaneKind.MACHINE: "◆",
    LaneKind.TIMER: "!",
    LaneKind.CALL: "!",
}


class LanePicture:
    """Paints a canvas.

    Attributes:
        late_ns: Lateness from which a firing stands out.
    """

    def __init__(self, theme: Theme) -> None:
        self.late_ns = round(1000 / 60 * NS_PER_MS)
        self._theme = theme
        self._lanes = LanePainter(theme)
        self._clocks = ClockPainter(theme)
        self._annotations = AnnotationPainter(theme)
        self._frames_top_ns = 0
        self._labels: dict[tuple[str, int, bool, float], str] = {}

    def apply_theme(self) -> None:
        """Update colours and fonts."""
        self._labels.clear()
        self._lanes.apply_theme()

    def paint(self, painter: QPainter, canvas: LaneSurface) -> None:
        """Paint everything."""
        window = canvas.lane_window()
        viewport = canvas.viewport().rect()
        painter.fillRect(viewport, self._theme.color(ColorRole.BACKGROUND))
        ticks = ruler_ticks(window, canvas.store.clocks, canvas.ruler_clock_id)
        top = canvas.ruler_height
        if window.width > 0:
            painter.setPen(self._theme.color(ColorRole.GRID))
            for x, _ in ticks[0]:
                if x >= window.left:
                    painter.drawLine(x, top, x, viewport.bottom())
        pinned_bottom = top + canvas.pinned.height
        painter.setClipRect(QRect(0, pinned_bottom, viewport.width(), viewport.height()))
        scrolled = canvas.verticalScrollBar().value()
        first, last = scrolled, scrolled + viewport.height() - pinned_bottom
        for place in canvas.rows.between(first, last):
            y = pinned_bottom + canvas.rows.top(place) - scrolled
            height = canvas.rows.bottom(place) - canvas.rows.top(place)
            self._row(painter, canvas, canvas.rows.rows[place], window, (y, height))
        painter.setClipping(False)
        self._pinned(painter, canvas, window)
        self._over(painter, canvas, window)
        paint_ruler(painter, window, ticks, QRect(0, 0, viewport.width(), top), self._theme)
        if canvas.playhead_ns is not None:
            self._playhead_grip(painter, int(window.x(canvas.playhead_ns)), top)
        self._corner(painter, canvas)
        self._readings(painter, canvas, window)
        painter.setPen(self._theme.color(ColorRole.GRID))
        painter.drawLine(canvas.header_width, 0, canvas.header_width, viewport.bottom())

    def _pinned(self, painter: QPainter, canvas: LaneSurface, window: LaneWindow) -> None:
        if not canvas.pinned.rows:
            return
        width = canvas.viewport().width()
        top, height = canvas.ruler_height, canvas.pinned.height
        painter.fillRect(0, top, width, height, self._theme.color(ColorRole.BACKGROUND))
        for place, row in enumerate(canvas.pinned.rows):
            y = top + canvas.pinned.top(place)
            self._row(painter, canvas, row, window, (y, canvas.pinned.bottom(place) + top - y))
        painter.setPen(self._theme.color(ColorRole.MUTED_TEXT))
        painter.drawLine(0, top + height - 1, width, top + height - 1)

    # ---------------------------------------------------------------- one row

    def _row(
        self,
        painter: QPainter,
        canvas: LaneSurface,
        row: LaneRow,
        window: LaneWindow,
        place: tuple[int, int],
    ) -> None:
        y, height = place
        theme = self._theme
        width = canvas.viewport().width()
        is_chosen = row.key == canvas.chosen_key
        is_selected = canvas.is_selected(row)
        if is_chosen or is_selected:
            tint = mixed(theme.color(ColorRole.SELECTION), theme.color(ColorRole.BACKGROUND), 0.16)
            painter.fillRect(0, y, width, height, tint)
        if row.kind is LaneKind.CLOCK:
            painter.setPen(theme.color(ColorRole.GRID))
            painter.drawLine(0, y, width, y)
        box = QRect(window.left, y, window.width, height)
        if window.width > 0:
            clip = painter.hasClipping()
            painter.save()
            painter.setClipRect(
                box,
                Qt.ClipOperation.IntersectClip if clip else Qt.ClipOperation.ReplaceClip,
            )
            self._records(painter, canvas, row, window, box)
            painter.restore()
        self._name(painter, row, QRect(0, y, canvas.header_width, height))

    def _records(
        self,
        painter: QPainter,
        canvas: LaneSurface,
        row: LaneRow,
        window: LaneWindow,
        box: QRect,
    ) -> None:
        lane = row.lane
        if row.kind is LaneKind.FRAMES:
            self._frames(painter, canvas, window, box)
        elif row.kind is LaneKind.BOOKMARKS:
            self._annotations.paint(painter, canvas.store.annotations, window, box)
        elif row.kind is LaneKind.CLOCK:
            self._clocks.paint(painter, canvas.store.clocks, row.clock_id, window, box)
        elif lane is not None and row.kind is LaneKind.MACHINE:
            self._lanes.steps(
                *(painter, lane.steps, window, box),
                number_of=canvas.state_number(row.subject_id),
                name_of=canvas.text,
            )
        elif lane is not None:
            is_timer = row.kind is LaneKind.TIMER
            self._lanes.instants(
                *(painter, lane.instants, window, box),
                role=_ROLES[row.kind],
                late_ns=self.late_ns if is_timer else 0,
                has_whiskers=is_timer or row.kind is LaneKind.CALL,
            )
            if is_timer:
                self._predicted(painter, canvas, lane, window, box)

    def _predicted(
        self,
        painter: QPainter,
        canvas: LaneSurface,
        lane: Lane,
        window: LaneWindow,
        box: QRect,
    ) -> None:
        """Paint predictions from the present, or from the playhead."""
        timeline = canvas.timeline if canvas.past is None else canvas.past
        if window.high <= timeline.at_ns:
            return
        timer_ids = list(lane.pending)[:_MOST_PENDING]
        if canvas.past is not None:
            timer_ids = waiting(timeline, lane.clock_id, lane.sid, _MOST_PENDING)
        instants: list[int] = []
        for timer_id in timer_ids:
            if timer_id in timeline.timers:
                row = timeline.timers.index(timer_id)
                is_dense = timeline.timers.interval[row] < _APART * window.per_pixel
                most = _MOST_CROWDED if is_dense else _MOST_PREDICTED
                instants += next_fires(timeline, timer_id, int(window.high), most)
        self._lanes.hollow(painter, sorted(instants), window, box)

    def _frames(
        self, painter: QPainter, canvas: LaneSurface, window: LaneWindow, box: QRect
    ) -> None:
        series = canvas.series
        if series is None or series.first == series.end:
            return
        shown = Window(
            *(window.low / NS_PER_SECOND, window.high / NS_PER_SECOND),
            *(window.width, box.height() - 3),
        )
        columns = series.columns(shown)
        if not len(columns):
            return
        start, stop = int(columns.edges[0]), int(columns.edges[-1])
        sample_ns = series.sample_ns("busy", start, stop)
        self._frames_top_ns = top_of_scale_ns(sample_ns, self.late_ns, self._frames_top_ns)
        scale = BarScale(shown.height, self._frames_top_ns, self.late_ns)
        bars = stacked_bars(series, "busy", columns, scale)
        painter.save()
        painter.translate(box.left(), box.top() + 2)
        for fill, rects in bars.layers:
            fill_rects(painter, rects, color_of(fill, self._theme))
        y = shown.height - shown.height * self.late_ns // self._frames_top_ns
        if y >= 0:
            painter.setPen(QPen(self._theme.color(ColorRole.MUTED_TEXT), 1, Qt.PenStyle.DotLine))
            painter.drawLine(0, int(y), window.width, int(y))
        spike = self._theme.color(ColorRole.BAD)
        for x in bars.spikes.places.tolist():
            painter.fillRect(x - 1, 0, 2, 3, spike)
        painter.restore()

    def _name(self, painter: QPainter, row: LaneRow, box: QRect) -> None:
        theme = self._theme
        x = 4 + row.depth * _INDENT
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        muted = theme.color(ColorRole.MUTED_TEXT)
        if row.kind is LaneKind.CLOCK and row.has_parts:
            painter.setPen(muted)
            sign = "▸" if row.is_folded else "▾"
            painter.drawText(QRect(x, box.top(), _FOLD_WIDTH, box.height()), flags, sign)
        x += _FOLD_WIDTH
        painter.setPen(muted)
        painter.drawText(QRect(x, box.top(), 14, box.height()), flags, _SIGNS[row.kind])
        x += 15
        right = box.right() - 4
        if row.is_pinned:
            painter.setPen(theme.color(ColorRole.ACCENT))
            painter.drawText(QRect(right - 10, box.top(), 12, box.height()), flags, "▴")
            right -= 14
        font = painter.font()
        if row.kind is LaneKind.FRAMES and self._frames_top_ns:
            painter.setPen(muted)
            top = f"0 to {format_duration(self._frames_top_ns)}"
            width = painter.fontMetrics().horizontalAdvance(top)
            painter.drawText(QRect(right - width, box.top(), width, box.height()), flags, top)
            right -= width + 6
        if row.kind is LaneKind.CLOCK:
            bold = QFont(font)
            bold.setBold(True)
            painter.setFont(bold)
        is_over = row.kind is LaneKind.TIMER and row.lane is not None and not row.lane.pending
        painter.setPen(muted if row.is_gone or is_over else theme.color(ColorRole.TEXT))
        text = self._elided(painter, f"{row.label} (gone)" if row.is_gone else row.label, right - x)
        painter.drawText(QRect(x, box.top(), right - x, box.height()), flags, text)
        painter.setFont(font)

    def _elided(self, painter: QPainter, label: str, width: int) -> str:
        """Return as much of a label as fits; cached from paint to paint."""
        font = painter.font()
        key = label, width, font.bold(), font.pointSizeF()
        text = self._labels.get(key)
        if text is None:
            if len(self._labels) >= _MOST_LABELS:
                self._labels.clear()
            text = painter.fontMetrics().elidedText(
                one_line(label), Qt.TextElideMode.ElideRight, width
            )
            self._labels[key] = text
        return text

    # ---------------------------------------------------------------- over the lanes

    def _over(self, painter: QPainter, canvas: LaneSurface, window: LaneWindow) -> None:
        theme = self._theme
        bottom = canvas.viewport().height()
        top = canvas.ruler_height
        painter.save()
        painter.setClipRect(QRect(window.left, 0, max(window.width, 0), bottom))
        band = canvas.selected_frame_span()
        if band is not None:
            left, right = window.x(band[0]), window.x(band[1])
            color = QColor(theme.color(ColorRole.SELECTION))
            color.setAlphaF(0.18)
            painter.fillRect(QRectF(left, top, max(right - left, 1.0), bottom - top), color)
        self._gaps(painter, canvas, window, (top, bottom))
        present = window.x(window.present_ns)
        painter.setPen(QPen(theme.color(ColorRole.ACCENT), 1))
        painter.drawLine(int(present), top, int(present), bottom)
        if canvas.playhead_ns is not None:
            x = int(window.x(canvas.playhead_ns))
            painter.fillRect(x - 1, top, 2, bottom - top, theme.color(ColorRole.INTERVENTION))
        if canvas.caret_ns is not None:
            x = int(window.x(canvas.caret_ns))
            painter.setPen(QPen(theme.color(ColorRole.TEXT), 1, Qt.PenStyle.DashLine))
            painter.drawLine(x, top, x, bottom)
        if canvas.hover_ns is not None:
            x = int(window.x(canvas.hover_ns))
            painter.setPen(QPen(theme.color(ColorRole.MUTED_TEXT), 1))
            painter.drawLine(x, top, x, bottom)
        if canvas.measured is not None:
            self._measure(painter, canvas, window, (top, bottom))
        painter.restore()

    def _gaps(
        self, painter: QPainter, canvas: LaneSurface, window: LaneWindow, edges: tuple[int, int]
    ) -> None:
        """Cross out times whose events are no longer in the log, on lanes of clocks."""
        top, bottom = edges
        top += canvas.kept_bottom()
        color = QColor(self._theme.color(ColorRole.LATE))
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
        self, painter: QPainter, canvas: LaneSurface, window: LaneWindow, edges: tuple[int, int]
    ) -> None:
        assert canvas.measured is not None, "asked before"
        top, bottom = edges
        begin, end = window.left, window.left + window.width
        left, right = (window.x(at_ns) for at_ns in canvas.measured)
        if right < begin or left > end:
            return
        left, right = max(left, begin - 1.0), min(right, end + 1.0)
        color = QColor(self._theme.color(ColorRole.ACCENT))
        color.setAlphaF(0.14)
        painter.fillRect(QRectF(left, top, right - left, bottom - top), color)
        painter.setPen(QPen(self._theme.color(ColorRole.ACCENT), 1))
        painter.drawLine(int(left), top, int(left), bottom)
        painter.drawLine(int(right), top, int(right), bottom)
        self._note(painter, canvas.measured_text(), (left + right) / 2, top + 4, window)

    def _note(
        self, painter: QPainter, text: str, middle: float, y: float, window: LaneWindow
    ) -> None:
        """Write on a separate patch, within the lanes."""
        metrics = painter.fontMetrics()
        width, height = metrics.horizontalAdvance(text) + 12, metrics.height() + 4
        x = min(max(middle - width / 2, window.left + 2), window.left + window.width - width - 2)
        patch = QRectF(x, y, width, height)
        painter.fillRect(patch, self._theme.color(ColorRole.PANEL))
        painter.setPen(QPen(self._theme.color(ColorRole.MUTED_TEXT), 1))
        painter.drawRect(patch)
        painter.setPen(self._theme.color(ColorRole.TEXT))
        painter.drawText(patch, int(Qt.AlignmentFlag.AlignCenter), text)

    def _playhead_grip(self, painter: QPainter, x: int, bottom: int) -> None:
        """Draw the grip of the playhead on the ruler."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color(ColorRole.INTERVENTION))
        painter.drawPolygon(
            [QPoint(x - _GRIP, bottom - 9), QPoint(x + _GRIP, bottom - 9), QPoint(x, bottom)]
        )

    def _corner(self, painter: QPainter, canvas: LaneSurface) -> None:
        box = QRect(6, 0, canvas.header_width - 10, canvas.ruler_height)
        painter.fillRect(
            QRect(0, 0, canvas.header_width, canvas.ruler_height),
            self._theme.color(ColorRole.PANEL),
        )
        painter.setPen(self._theme.color(ColorRole.MUTED_TEXT))
        name = one_line(canvas.ruler_name())
        text = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, box.width())
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(box, flags, text)

    def _readings(self, painter: QPainter, canvas: LaneSurface, window: LaneWindow) -> None:
        """Write the instant under the pointer on the ruler."""
        at_ns = canvas.hover_ns
        if at_ns is None or not window.low <= at_ns <= window.high:
            return
        text = format_instant(int(at_ns), _decimals(window.per_pixel))
        if canvas.ruler_clock_id:
            local = canvas.store.clocks.local_ns(canvas.ruler_clock_id, int(at_ns))
            text = "–" if local is None else format_instant(local, _decimals(window.per_pixel))
        self._note(painter, text, window.x(at_ns), 1, window)


def _decimals(per_pixel_ns: float) -> int:
    """Return the decimals of a second that distinguish neighbouring pixels."""
    for decimals, unit_ns in ((3, 1e6), (6, 1e3)):
        if per_pixel_ns >= unit_ns / 10:
            return decimals
    return 9
