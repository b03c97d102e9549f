"""A flame row: the spans of one frame, each below what it lies in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QContextMenuEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget
from typing_extensions import override

from inspector.analysis.frame_spans import FrameSpan
from inspector.display_text import as_plain, counted, one_line
from inspector.formats.drawing.ticks import duration_ticks
from inspector.timebase import NS_PER_US, brief_duration, format_duration, late_text

from ..kit.fonts import text_scale
from ..kit.guards import guarded
from ..kit.keys import is_plain, keeps_key, own_keys
from ..kit.theme import ColorRole, Theme, mixed, phase_color
from ..plotting.axis_range import AxisRange
from ..plotting.gestures import MOVING_KEYS, Drag, handle_key, handle_wheel
from ..plotting.machines import text_color_on
from ..plotting.own_view import OwnView

_RULER: Final = 18
_GAP: Final = 1
_TEXT_FROM: Final = 26
#: A name cut to this few characters, the ellipsis included, says nothing and is left out.
_LEAST_LETTERS: Final = 3
_SHORTEST_NS: Final = 200.0
_ROOM: Final = 0.02
#: Share of the colour behind the hatching of a span that was not measured by itself.
_UNMEASURED: Final = 0.3
_TICK_EVERY: Final = 110
_OWN_KEYS: Final = MOVING_KEYS | own_keys("Left Right Up Down")


@guarded
class FlameRow(QWidget):
    """Draws spans from left to right by when they began, from top to bottom by depth.

    The wheel zooms at the pointer, dragging moves, a double click shows all of the frame; keys
    are those of :mod:`.gestures`. Left and Right go to the neighbour, Up and Down to what it lies
    in and what lies in it; each of them chooses it.
    """

    span_chosen = Signal(object)  # Span: a span was clicked, or reached by a key
    span_hovered = Signal(object)  # Span | None: the span under the pointer, None for none
    #: The menu of a span was asked for, at a position of the screen.
    menu_requested = Signal(object, object)  # Span, QPoint

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.spans: tuple[FrameSpan, ...] = ()
        self._words = ""
        self._rows = 1
        self.view = OwnView(
            self._extent, self.update, AxisRange(shortest=_SHORTEST_NS, margin=_ROOM)
        )
        self._current: int | None = None
        self._chosen = (0, 0)
        self._hovered: int | None = None
        self._drag = Drag()
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)
        self.setAccessibleName("Spans of the frame")
        theme.changed.connect(self.update)

    # ---------------------------------------------------------------- what is drawn

    @property
    def current(self) -> FrameSpan | None:
        return None if self._current is None else self.spans[self._current]

    def set_spans(self, spans: Sequence[FrameSpan]) -> None:
        """Draw other spans; what part of them is in view stays when one was zoomed into."""
        if tuple(spans) == self.spans:
            return
        self.spans = tuple(spans)
        rows = max((span.depth for span in spans), default=0) + 1
        if rows != self._rows:
            self._rows = rows
            self.updateGeometry()
        self._current = self._hovered = None
        self._find_chosen()
        self.view.settle()
        self.update()

    def set_words(self, text: str) -> None:
        """Say why there are no spans; painted only without any."""
        if text != self._words:
            self._words = text
            self.setAccessibleDescription(text)
            self.update()

    def choose(self, member_id: int, timer_id: int) -> None:
        """Mark the spans of a member or a timer; 0 and 0 for none."""
        self._chosen = member_id, timer_id
        if self.current is None or not self._is_chosen(self.current):
            self._find_chosen()
        self.update()

    def rect_of(self, place: int) -> QRectF:
        span = self.spans[place]
        left, right = self._x(span.began_ns), self._x(span.end_ns)
        top = self._ruler() + span.depth * self._row_height()
        return QRectF(left, top, max(right - left, 1.0), self._row_height() - _GAP)

    def span_at(self, place: QPointF) -> int | None:
        depth = int((place.y() - self._ruler()) // self._row_height())
        found = None
        for number, span in enumerate(self.spans):
            if span.depth != depth:
                continue
            left, right = self._x(span.began_ns), self._x(span.end_ns)
            # Narrow spans can also be pointed at from two pixels away.
            slack = 2.0 if right - left < 4 else 0.0  # noqa: PLR2004 - pixels
            if left - slack <= place.x() < right + slack:
                found = number
                if not slack:
                    break
        return found

    @override
    def sizeHint(self) -> QSize:
        return QSize(420, self._ruler() + self._rows * self._row_height() + 4)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(120, self._ruler() + self._rows * self._row_height() + 2)

    # ---------------------------------------------------------------- painting

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        # By a context manager: a painter that outlives its event crashes Qt.
        with QPainter(self) as painter:
            self._paint(painter, event.rect())

    def _paint(self, painter: QPainter, exposed: QRect) -> None:
        theme = self._theme
        painter.fillRect(exposed, theme.color(ColorRole.BG))
        if not self.spans:
            painter.setPen(theme.color(ColorRole.MUTED))
            centred = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(self.rect().adjusted(8, 0, -8, 0), int(centred), self._words)
            return
        self._paint_ruler(painter)
        covered = [-1.0] * self._rows
        for number, span in enumerate(self.spans):
            left, right = self._x(span.began_ns), self._x(span.end_ns)
            # Of spans that share a pixel only the first is drawn.
            if right < 0 or left > self.width() or right < covered[span.depth]:
                continue
            covered[span.depth] = left + 1
            self._paint_span(painter, number, span)
        for number, span in enumerate(self.spans):
            if self._is_chosen(span):
                self._paint_outline(painter, number, theme.color(ColorRole.TEXT))
        if self._current is not None and self.hasFocus():
            self._paint_outline(painter, self._current, theme.color(ColorRole.BLUE))

    def _paint_ruler(self, painter: QPainter) -> None:
        theme = self._theme
        shown = self.view.range
        span_ns = shown.span
        count = max(2, int(self.width() / (_TICK_EVERY * text_scale(self))))
        ticks = duration_ticks(span_ns, count)
        values = [tick.value_ns for tick in ticks.ticks]
        step = values[1] - values[0] if len(values) > 1 else span_ns
        painter.setPen(theme.color(ColorRole.LINE))
        first = int(shown.low // step)
        metrics = painter.fontMetrics()
        for number in range(first, int(shown.high // step) + 2):
            x = round(self._x(number * step))
            painter.setPen(theme.color(ColorRole.LINE))
            painter.drawLine(x, 0, x, self.height())
            text = "0" if number == 0 else brief_duration(round(number * step))
            painter.setPen(theme.color(ColorRole.MUTED))
            text = text.replace("-", "−")
            # A label that is cut off would read as another number, so it is left out.
            if x >= 0 and x + 3 + metrics.horizontalAdvance(text) <= self.width():
                painter.drawText(x + 3, metrics.ascent() + 1, text)
        zero = self._x(0)
        # Far out of view its coordinate may be too large for Qt.
        if 0 <= zero <= self.width():
            painter.setPen(QPen(theme.color(ColorRole.MUTED), 1, Qt.PenStyle.DashLine))
            painter.drawLine(round(zero), 0, round(zero), self.height())

    def _paint_span(self, painter: QPainter, number: int, span: FrameSpan) -> None:
        rect = self.rect_of(number)
        color = self._color_of(span)
        if number == self._hovered:
            color = color.lighter(118) if self._theme.is_dark else color.darker(108)
        if span.is_measured:
            painter.fillRect(rect, color)
        else:
            # Its width means nothing: of several timers that fired, only the total was measured.
            ground = self._theme.color(ColorRole.BG)
            painter.fillRect(rect, mixed(color, ground, _UNMEASURED))
            painter.fillRect(rect, QBrush(color, Qt.BrushStyle.BDiagPattern))
            color = mixed(color, ground, _UNMEASURED)
        if rect.width() >= 3:  # noqa: PLR2004 - a pixel of its own for the edge
            edge = mixed(color, self._theme.color(ColorRole.BG), 0.55)
            painter.fillRect(QRectF(rect.left(), rect.top(), 1, rect.height()), edge)
        if rect.width() < _TEXT_FROM:
            return
        box = rect.intersected(QRectF(self.rect())).adjusted(4, 0, -2, 0)
        if box.width() < _TEXT_FROM - 6:
            return
        painter.setPen(text_color_on(color))
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(box, int(flags), self.text_in(span, int(box.width())))

    def text_in(self, span: FrameSpan, room: int) -> str:
        """Return the text of a span in ``room`` pixels."""
        metrics = self.fontMetrics()
        text = one_line(span.label)
        if span.is_measured:
            longer = f"{text}  {format_duration(span.took_ns)}"
            text = longer if metrics.horizontalAdvance(longer) <= room else text
        elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
        return "" if elided != text and len(elided) <= _LEAST_LETTERS else elided

    def _paint_outline(self, painter: QPainter, number: int, color: QColor) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color, 2))
        painter.drawRect(self.rect_of(number).adjusted(0, 1, -1, -1))

    def _color_of(self, span: FrameSpan) -> QColor:
        if (seen := span.seen) is not None:
            own = ColorRole.BAR if seen.is_own else ColorRole.CLOCK
            return self._theme.color(ColorRole.RED if seen.blocks else own)
        color = phase_color(span.phase)
        if span.is_phase:
            return color
        share = 0.72 if span.depth % 2 else 0.5
        return mixed(color, self._theme.color(ColorRole.BG), share)

    # ---------------------------------------------------------------- input

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            number = self.span_at(QPointF(event.pos()))
            text = "" if number is None else span_text(self.spans[number])
            QToolTip.showText(event.globalPos(), as_plain(text), self)
            return True
        return keeps_key(event, _OWN_KEYS) or super().event(event)

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        handle_wheel(event, self.view, self._value_at(event.position().x()))

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._drag.press(event.position())

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._drag.pressed is None or not event.buttons():
            self._hover(self.span_at(event.position()))
        elif (moved := self._drag.move(event.position())) is not None:
            self.view.pan(-moved.x() / max(self.width(), 1))

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._drag.release():
            number = self.span_at(event.position())
            if number is not None:
                self._choose_number(number)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        number = self.span_at(event.position())
        if number is None:
            self.view.fit()
        else:
            self.view.set_span(self.spans[number].began_ns, self.spans[number].end_ns)

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        is_pointed = event.reason() is QContextMenuEvent.Reason.Mouse
        number = self.span_at(QPointF(event.pos())) if is_pointed else self._current
        if number is not None:
            self.menu_requested.emit(self.spans[number], event.globalPos())

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        self.view.settle()

    @override
    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.spans or not (handle_key(event, self.view) or self._handle_key(event)):
            super().keyPressEvent(event)

    def _handle_key(self, event: QKeyEvent) -> bool:
        if not is_plain(event):
            return False
        match event.key():
            case Qt.Key.Key_Left:
                self._go(self._neighbour(-1))
            case Qt.Key.Key_Right:
                self._go(self._neighbour(1))
            case Qt.Key.Key_Up:
                self._go(self._outer())
            case Qt.Key.Key_Down:
                self._go(self._inner())
            case _:
                return False
        return True

    # ---------------------------------------------------------------- inside

    def _neighbour(self, step: int) -> int | None:
        if self._current is None:
            return 0
        depth = self.spans[self._current].depth
        places = [number for number, span in enumerate(self.spans) if span.depth == depth]
        found = places.index(self._current) + step
        return places[found] if 0 <= found < len(places) else None

    def _outer(self) -> int | None:
        if self._current is None:
            return 0
        depth = self.spans[self._current].depth
        before = range(self._current - 1, -1, -1)
        return next((number for number in before if self.spans[number].depth < depth), None)

    def _inner(self) -> int | None:
        if self._current is None:
            return 0
        found = self._current + 1
        is_inside = found < len(self.spans)
        is_inside = is_inside and self.spans[found].depth > self.spans[self._current].depth
        return found if is_inside else None

    def _go(self, number: int | None) -> None:
        if number is None:
            return
        rect = self.rect_of(number)
        if rect.left() < 0 or rect.right() > self.width():
            self.view.pan((rect.center().x() - self.width() / 2) / max(self.width(), 1))
        self._choose_number(number)

    def _choose_number(self, number: int) -> None:
        self._current = number
        span = self.spans[number]
        self.setAccessibleDescription(span_text(span).replace("\n", ", "))
        self.update()
        self.span_chosen.emit(span)

    def _hover(self, number: int | None) -> None:
        if number != self._hovered:
            self._hovered = number
            self.update()
            self.span_hovered.emit(None if number is None else self.spans[number])

    def _find_chosen(self) -> None:
        """Let keys start from the span that was selected elsewhere."""
        found = (number for number, span in enumerate(self.spans) if self._is_chosen(span))
        self._current = next(found, self._current)

    def _is_chosen(self, span: FrameSpan) -> bool:
        member_id, timer_id = self._chosen
        is_member = bool(member_id) and span.member_id == member_id
        return is_member or (bool(timer_id) and span.timer_id == timer_id)

    def _extent(self) -> tuple[float, float, int]:
        low = min((span.began_ns for span in self.spans), default=0)
        high = max((span.end_ns for span in self.spans), default=1)
        return low, high, self.width()

    def _x(self, at_ns: float) -> float:
        return (at_ns - self.view.range.low) * self.width() / self.view.range.span

    def _value_at(self, x: float) -> float:
        return self.view.range.low + x * self.view.range.span / max(self.width(), 1)

    def _ruler(self) -> int:
        return max(_RULER, self.fontMetrics().height() + 3)

    def _row_height(self) -> int:
        return self.fontMetrics().height() + 5


def span_text(span: FrameSpan) -> str:
    lines = [f"{span.label} ({span.kind})"]
    if (seen := span.seen) is not None:
        lines[0] = span.label
        took = format_duration(span.took_ns)
        lines.append(f"seen in {seen.samples:,} of {counted(seen.looks, 'sample')}, for {took}")
        if seen.blocks:
            lines.append("had most of the frame")
        return "\n".join([*lines, seen.site])
    if span.timer_id:
        if span.is_measured:
            took = f"the only one before the frame: took at most {format_duration(span.took_ns)}"
        else:
            took = "with others before the frame: measured together, and drawn equally wide"
        lines += [f"fired {late_text(span.lateness_ns)}", took]
        return "\n".join(lines)
    exact = f" ({span.took_ns:,} ns)" if span.took_ns >= NS_PER_US else ""
    lines.append(f"took {format_duration(span.took_ns)}{exact}")
    if span.own_ns != span.took_ns:
        lines.append(f"of which {format_duration(span.own_ns)} its own")
    began = format_duration(abs(span.began_ns))
    lines.append(f"began {began} {'before' if span.began_ns < 0 else 'into'} the frame")
    if not span.is_phase:
        lines.append(f"called in {span.phase.text}")
    return "\n".join(lines)
