"""Mouse, wheel and keys on the lanes: zooming, measuring, scrubbing, the width of the headers."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QPointF, Qt, Slot
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.analysis.lanes.rows import LaneRow

from ..kit.guards import guarded
from ..kit.keys import is_plain, keeps_key, own_keys
from ..kit.theme import Theme
from ..plotting.gestures import MOVING_KEYS, Drag, handle_key, handle_wheel, selects
from ..plotting.shared_view import SharedView
from ..session.bridge import Selection
from .lane_gestures import LaneGestures
from .lane_picture import LanePicture
from .lane_surface import LaneSurface
from .lane_tree import LaneTree

_GRIP: Final = 3

#: Keys with another meaning in the window.
OWN_KEYS: Final = MOVING_KEYS | own_keys(
    "C T Left Right Up Down PageUp PageDown BracketLeft BracketRight Return Enter"
)


@guarded
class LaneCanvas(LaneSurface):
    """Draws lanes and moves along them.

    The wheel zooms at the pointer and scrolls the rows over their names, dragging moves both ways,
    Shift or Ctrl and dragging selects and measures, Alt and dragging moves the playhead.
    Keys are those of :mod:`.gestures`; Up and Down choose a lane, Left and Right (or [ and ]) go
    to the previous and the next on it, C collapses its clock, T pins it, Enter opens its source.
    """

    def __init__(
        self, theme: Theme, parent: QWidget | None = None, view: SharedView | None = None
    ) -> None:
        super().__init__(parent, view)
        self.picture = LanePicture(theme)
        self.gestures = LaneGestures(self)
        self.tree = LaneTree(self, OWN_KEYS)  # Says the lanes to screen readers, and has the focus
        self.setFocusProxy(self.tree)
        self._drag = Drag()
        self._measure_from: float | None = None
        self._is_resizing = False
        self._moved_row: LaneRow | None = None
        self.rows_arranged.connect(self.gestures.seek_on)
        self.verticalScrollBar().actionTriggered.connect(self.gestures.let_go)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def on_selection_changed(self, selection: Selection) -> None:
        if selection != self._selection:
            self.gestures.seek(selection)
        self._selection = selection
        self.viewport().update()

    @Slot()
    def _apply_theme(self) -> None:
        self.picture.apply_theme()
        self.viewport().update()

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom or move; over the names, or with Alt, scroll the rows."""
        place, delta = event.position(), event.angleDelta()
        has_alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        if has_alt or (delta.y() and place.x() < self.header_width):
            event.accept()
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() - (delta.y() or delta.x()) // 2)
        else:
            handle_wheel(event, self.view, self.axis_at(place.x()))

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a click or a drag, or a selection; with Alt look back."""
        event.accept()
        place = event.position()
        self._drag.press(place)
        self._is_resizing = self._is_on_grip(place)
        self._moved_row = self.row_at(place.y()) if place.x() < self.header_width else None
        is_left = event.button() is Qt.MouseButton.LeftButton
        has_alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        if is_left and not self._is_resizing and has_alt:
            self.point_at(None)
            self.view.is_scrubbing = True
            self._put_playhead(place)
            return
        is_measure = is_left and selects(event) and place.x() >= self.header_width
        self._measure_from = self.at_x(place.x()) if is_measure else None

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        event.accept()
        place = event.position()
        if self.view.is_scrubbing:
            self._put_playhead(place)
            return
        if self._drag.pressed is None or not event.buttons():
            is_grip = self._is_on_grip(place)
            self.set_cursor(Qt.CursorShape.SplitHCursor if is_grip else None)
            self.point_at(place)
            return
        pressed, moved = self._drag.pressed, self._drag.move(place)
        if moved is None:
            return
        # Nothing is read off while dragging.
        self.point_at(None)
        if self._is_resizing:
            self.set_header_width(int(place.x()))
        elif self._moved_row is not None:
            self.set_cursor(Qt.CursorShape.ClosedHandCursor)
            if self.gestures.move(self._moved_row, place.y()):
                self._moved_row = self.row(self._moved_row.key)
        elif self._measure_from is not None:
            self.view.choose_ns(self._measure_from, self.at_x(place.x()))
        elif pressed.x() >= self.header_width:
            self.set_cursor(Qt.CursorShape.ClosedHandCursor)
            self.view.pan(-moved.x() / max(self.lane_width, 1))
            self.gestures.let_go()
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() - round(moved.y()))

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End a drag, or click: the left button selects, the right one opens a menu."""
        event.accept()
        was_click = self._drag.release()
        self._measure_from = None
        if self.view.is_scrubbing:
            self.view.is_scrubbing = event.button() is not Qt.MouseButton.LeftButton
            return
        self.set_cursor(None)
        if not was_click:
            return
        if event.button() is Qt.MouseButton.RightButton:
            self.gestures.ask_for_menu(event.position(), event.globalPosition().toPoint())
        elif event.button() is Qt.MouseButton.LeftButton:
            self.gestures.click(event.position())

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show all of a lane over its header, go to a bookmark; otherwise show everything."""
        event.accept()
        if event.position().x() < self.header_width:
            self.gestures.double_click(event.position())
        elif not (
            self.gestures.go_to_bookmark(event.position())
            or self.gestures.zoom_to_record(event.position())
        ):
            self.view.fit()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._handle_key(event):
            event.ignore()

    def _handle_key(self, event: QKeyEvent) -> bool:  # noqa: C901, PLR0912 - one line a key
        """Handle a key; returns whether it has a meaning here."""
        if handle_key(event, self.view):
            return True
        if not is_plain(event):
            return False
        match event.key():
            case Qt.Key.Key_C:
                self.gestures.toggle_folded()
            case Qt.Key.Key_T:
                self.gestures.toggle_pinned()
            case Qt.Key.Key_Left | Qt.Key.Key_BracketLeft:
                self.gestures.jump(-1)
            case Qt.Key.Key_Right | Qt.Key.Key_BracketRight:
                self.gestures.jump(1)
            case Qt.Key.Key_Up:
                self.gestures.choose_neighbour(-1)
            case Qt.Key.Key_Down:
                self.gestures.choose_neighbour(1)
            case Qt.Key.Key_PageUp:
                self.gestures.choose_neighbour(-8)
            case Qt.Key.Key_PageDown:
                self.gestures.choose_neighbour(8)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.gestures.open_chosen()
            case Qt.Key.Key_Escape if self.view.chosen_ns is not None:
                self.view.choose_frames(None)
            case _:
                return False
        return True

    @override
    def leaveEvent(self, event: QEvent) -> None:
        self.point_at(None)

    @override
    def event(self, event: QEvent) -> bool:
        return keeps_key(event, OWN_KEYS) or super().event(event)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        # By a context manager: a painter that outlives its event crashes Qt.
        with QPainter(self.viewport()) as painter:
            self.picture.paint(painter, self, event.rect())

    def _put_playhead(self, place: QPointF) -> None:
        self.playhead_moved.emit(max(0, int(self.at_x(place.x()))))

    def _is_on_grip(self, place: QPointF) -> bool:
        return abs(place.x() - self.header_width) <= _GRIP
