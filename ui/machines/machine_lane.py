"""A state machine along session time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QPointF, QRect, QSize, Qt, Signal
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
from inspector.analysis.lanes.columns import Steps

from ..kit.guards import guarded
from ..kit.keys import keeps_key, own_keys
from ..kit.theme import ColorRole
from ..plotting.frame_view import ViewMode
from ..plotting.lane_painter import LanePainter
from ..plotting.lane_view import FOLLOWED_NS, LaneView, LaneWindow, paint_ruler, ruler_ticks

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.events.members import StateHistory

    from ..kit.theme import Theme

_NOTCH: Final = 120
_STEP: Final = 1.25
_KEY_ZOOM: Final = 1.5
_KEY_PAN: Final = 0.15
_DRAG_FROM: Final = 4
_OWN_KEYS: Final = own_keys("W S A D F Home End L")
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
        self.view = LaneView()
        self._theme = theme
        self._painter = LanePainter(theme)
        self._present_ns = 0
        self._hover_ns: float | None = None
        self._playhead_ns: int | None = None
        self._number_of: Callable[[int], int] = int
        self._name_of: Callable[[int], str] = str
        self._pressed: QPointF | None = None
        self._dragged: QPointF | None = None
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
        """Read new states, and let time pass."""
        if history is not None:
            for place in range(len(self.steps), len(history)):
                self.steps.append(
                    history.at_ns[place], history.state[place], history.transition[place]
                )
        self._present_ns = present_ns
        self.view.settle(present_ns, self.width())
        self.update()

    def set_following(self, is_following: bool) -> None:  # noqa: FBT001 - follows a toggle
        """Follow the present, or stop."""
        if is_following != (self.view.mode is ViewMode.FOLLOW):
            if is_following:
                self._move(lambda: self.view.follow(min(self.view.span, 12 * FOLLOWED_NS)))
            else:
                self._move(lambda: setattr(self.view, "mode", ViewMode.FREE))

    def show_hover_ns(self, at_ns: int | None) -> None:
        """Show the instant hovered in another panel."""
        if at_ns != self._hover_ns:
            self._hover_ns = at_ns
            self.update()

    def show_playhead_ns(self, at_ns: int | None) -> None:
        """Show the playhead, ``None`` for the present."""
        self._playhead_ns = at_ns
        view = self.view
        if at_ns is not None and not view.low <= at_ns <= view.high:
            middle = (view.low + view.high) / 2
            self._move(lambda: view.pan(at_ns - middle, self._present_ns))
        self.update()

    def lane_window(self) -> LaneWindow:
        """Return the visible range and its pixels."""
        return LaneWindow(self.view.low, self.view.high, 0, self.width(), self._present_ns)

    @override
    def sizeHint(self) -> QSize:
        line = self.fontMetrics().height()
        return QSize(300, 2 * line + 20)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(100, self.sizeHint().height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        try:
            self._paint(painter, event.rect())
        finally:
            # A painter that outlives its event takes Qt down with it.
            painter.end()

    def _paint(self, painter: QPainter, exposed: QRect) -> None:
        theme, window = self._theme, self.lane_window()
        painter.fillRect(exposed, theme.color(ColorRole.BACKGROUND))
        top = self.fontMetrics().height() + 6
        row = QRect(0, top, self.width(), self.height() - top)
        self._painter.steps(
            painter, self.steps, window, row, number_of=self._number_of, name_of=self._name_of
        )
        self._painter.finish(painter)
        ticks = ruler_ticks(window, _NO_CLOCKS, 0)
        paint_ruler(painter, window, ticks, QRect(0, 0, self.width(), top), theme)
        painter.setPen(QPen(theme.color(ColorRole.ACCENT), 1))
        present = int(window.x(self._present_ns))
        painter.drawLine(present, top, present, self.height())
        if self._playhead_ns is not None:
            x = int(window.x(self._playhead_ns))
            painter.fillRect(x - 1, top, 2, row.height(), theme.color(ColorRole.INTERVENTION))
        if self._hover_ns is not None:
            x = int(window.x(self._hover_ns))
            painter.setPen(QPen(theme.color(ColorRole.MUTED_TEXT), 1))
            painter.drawLine(x, top, x, self.height())

    # ---------------------------------------------------------------- input

    @override
    def event(self, event: QEvent) -> bool:
        return keeps_key(event, _OWN_KEYS) or super().event(event)

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.accept()
        about = self.lane_window().at(event.position().x())
        factor = _STEP ** (-event.angleDelta().y() / _NOTCH)
        self._move(lambda: self.view.zoom(factor, about, self._present_ns))

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed, self._dragged = event.position(), None

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = event.position()
        if self._pressed is None or not event.buttons():
            at_ns = int(self.lane_window().at(place.x()))
            self.instant_hovered.emit(at_ns if 0 <= at_ns <= self._present_ns else None)
            return
        if self._dragged is None:
            if abs(place.x() - self._pressed.x()) < _DRAG_FROM:
                return
            self._dragged = self._pressed
        share = (self._dragged.x() - place.x()) / max(self.width(), 1)
        self._move(lambda: self.view.pan(share * self.view.span, self._present_ns))
        self._dragged = place

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._pressed = self._dragged = None

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._move(lambda: setattr(self.view, "mode", ViewMode.FIT))

    @override
    def leaveEvent(self, event: QEvent) -> None:
        self.instant_hovered.emit(None)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        middle = (self.view.low + self.view.high) / 2
        view, present_ns = self.view, self._present_ns
        match event.key():
            case Qt.Key.Key_W:
                self._move(lambda: view.zoom(1 / _KEY_ZOOM, middle, present_ns))
            case Qt.Key.Key_S:
                self._move(lambda: view.zoom(_KEY_ZOOM, middle, present_ns))
            case Qt.Key.Key_A:
                self._move(lambda: view.pan(-_KEY_PAN * view.span, present_ns))
            case Qt.Key.Key_D:
                self._move(lambda: view.pan(_KEY_PAN * view.span, present_ns))
            case Qt.Key.Key_F | Qt.Key.Key_Home:
                self._move(lambda: setattr(view, "mode", ViewMode.FIT))
            case Qt.Key.Key_End | Qt.Key.Key_L:
                self.set_following(True)
            case _:
                super().keyPressEvent(event)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        self.view.settle(self._present_ns, self.width())

    def _move(self, change: Callable[[], None]) -> None:
        was_following = self.view.mode is ViewMode.FOLLOW
        change()
        self.view.settle(self._present_ns, self.width())
        self.update()
        is_following = self.view.mode is ViewMode.FOLLOW
        if is_following != was_following:
            self.following_changed.emit(is_following)
