"""A state machine along session time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
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

from inspector.analysis.lanes.clocks import ClockPasts
from inspector.analysis.lanes.lane_columns import Steps
from inspector.events.members import StateHistory
from inspector.formats.arrangement.lane_layout import LaneLayout
from inspector.formats.arrangement.lane_window import LaneWindow, ruler_ticks
from inspector.formats.arrangement.sheet import Row

from ..kit.guards import guarded
from ..kit.keys import keeps_key
from ..kit.theme import ColorRole, Theme
from ..plotting.axis_range import AxisRange, ViewMode
from ..plotting.gestures import MOVING_KEYS, Drag, take_key, take_wheel
from ..plotting.own_view import FOLLOWED_NS, OwnView
from ..plotting.sheet_painter import new_sheet, paint_sheet

_NO_CLOCKS: Final = ClockPasts()


@guarded
class MachineLane(QWidget):
    """Draws the states of a machine; the wheel zooms, dragging moves, F shows everything.

    Signals:
        instant_hovered: The instant under the pointer.
        following_changed: The view starts or stops following the present.
    """

    instant_hovered = Signal(object)  # int | None
    following_changed = Signal(bool)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.steps = Steps()
        self.view = OwnView(
            lambda: (0.0, float(self._present_ns), self.width()),
            self._take_view,
            AxisRange(0.0, FOLLOWED_NS, ViewMode.FOLLOW, 1_000.0, newest_at=0.85),
        )
        self._was_following = True
        self._theme = theme
        self._present_ns = 0
        self._hover_ns: float | None = None
        self._playhead_ns: int | None = None
        self._number_of: Callable[[int], int] = int
        self._name_of: Callable[[int], str] = str
        self._drag = Drag()
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("States over time")
        theme.changed.connect(self.update)

    # ---------------------------------------------------------------- what is drawn

    def show_machine(self, number_of: Callable[[int], int], name_of: Callable[[int], str]) -> None:
        """Show another machine, from its start.

        Args:
            number_of: Returns the colour number of a state (sid).
            name_of: Returns the name of a state.
        """
        self.steps = Steps()
        self._number_of, self._name_of = number_of, name_of
        self.update()

    def refresh(self, history: StateHistory | None, present_ns: int) -> None:
        if history is not None:
            for place in range(len(self.steps), len(history)):
                self.steps.append(
                    history.at_ns[place], history.state[place], history.transition[place]
                )
        self._present_ns = present_ns
        self.view.settle()
        self.update()

    def set_following(self, is_following: bool) -> None:  # noqa: FBT001 - follows a toggle
        if is_following != self.view.is_following:
            self.view.set_following(is_following=is_following)

    def show_hover_ns(self, at_ns: int | None) -> None:
        if at_ns != self._hover_ns:
            self._hover_ns = at_ns
            self.update()

    def show_playhead_ns(self, at_ns: int | None) -> None:
        self._playhead_ns = at_ns
        if at_ns is not None:
            self.view.show_instant(at_ns)
        self.update()

    def lane_window(self) -> LaneWindow:
        shown = self.view.range
        return LaneWindow(shown.low, shown.high, 0, self.width(), self._present_ns)

    @override
    def sizeHint(self) -> QSize:
        line = self.fontMetrics().height()
        return QSize(300, 2 * line + 20)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(100, self.sizeHint().height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        # A painter that outlives its event takes Qt down with it.
        with QPainter(self) as painter:
            self._paint(painter, event.rect())

    def _paint(self, painter: QPainter, exposed: QRect) -> None:
        theme, window = self._theme, self.lane_window()
        painter.fillRect(exposed, theme.color(ColorRole.BG))
        top = self.fontMetrics().height() + 6
        row = Row(top, self.height() - top)
        sheet = new_sheet(painter, theme)
        LaneLayout(sheet).steps(
            self.steps, window, row, number_of=self._number_of, name_of=self._name_of
        )
        paint_sheet(painter, sheet)
        ticks = ruler_ticks(window, _NO_CLOCKS, 0)
        _paint_ruler(painter, window, ticks, QRect(0, 0, self.width(), top), theme)
        painter.setPen(QPen(theme.color(ColorRole.BLUE), 1))
        present = int(window.x(self._present_ns))
        painter.drawLine(present, top, present, self.height())
        if self._playhead_ns is not None:
            x = int(window.x(self._playhead_ns))
            painter.fillRect(x - 1, top, 2, row.height, theme.color(ColorRole.TICK))
        if self._hover_ns is not None:
            x = int(window.x(self._hover_ns))
            painter.setPen(QPen(theme.color(ColorRole.MUTED), 1))
            painter.drawLine(x, top, x, self.height())

    # ---------------------------------------------------------------- input

    @override
    def event(self, event: QEvent) -> bool:
        return keeps_key(event, MOVING_KEYS) or super().event(event)

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        take_wheel(event, self.view, self.lane_window().at(event.position().x()))

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._drag.press(event.position())

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = event.position()
        if self._drag.pressed is None or not event.buttons():
            at_ns = int(self.lane_window().at(place.x()))
            self.instant_hovered.emit(at_ns if 0 <= at_ns <= self._present_ns else None)
        elif (moved := self._drag.move(place)) is not None:
            self.view.pan(-moved.x() / max(self.width(), 1))

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._drag.release()

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.view.fit()

    @override
    def leaveEvent(self, event: QEvent) -> None:
        self.instant_hovered.emit(None)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not take_key(event, self.view):
            super().keyPressEvent(event)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        self.view.settle()

    def _take_view(self) -> None:
        self.update()
        is_following = self.view.is_following
        if is_following != self._was_following:
            self._was_following = is_following
            self.following_changed.emit(is_following)


def _paint_ruler(
    painter: QPainter,
    window: LaneWindow,
    ticks: tuple[list[tuple[int, str]], str],
    row: QRect,
    theme: Theme,
) -> None:
    painter.fillRect(row, theme.color(ColorRole.PANEL))
    metrics = painter.fontMetrics()
    places, unit = ticks
    unit_left = row.right() - metrics.horizontalAdvance(unit) - 6
    baseline = row.top() + (row.height() + metrics.ascent() - metrics.descent()) // 2
    last, bottom = window.left - 100, row.bottom()
    # A pen is taken up once for all that it draws.
    painter.setPen(theme.color(ColorRole.MUTED))
    for x, _ in places:
        painter.drawLine(x, bottom - 4, x, bottom)
    painter.drawText(unit_left, baseline, unit)
    painter.setPen(theme.color(ColorRole.TEXT))
    for x, text in places:
        if x + 3 < max(last, window.left):
            continue
        width = metrics.horizontalAdvance(text)
        if x + 3 + width < unit_left:
            painter.drawText(x + 3, baseline, text)
            last = x + width + 12
