"""The place of a panel, and the two panels on the time axis, one above the other."""

from __future__ import annotations

from typing import Final, Protocol, cast

from PySide6.QtCore import QEasingCurve, QEvent, QObject, QRect, Qt, QVariantAnimation, Signal, Slot
from PySide6.QtGui import (
    QCloseEvent,
    QHideEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPixmap,
    QRegion,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QApplication, QLabel, QSplitter, QWidget
from typing_extensions import override

from ...kit.guards import guarded
from ...kit.layouts import fill

#: Input of the user, which ends the animation.
_INPUT: Final = frozenset({QEvent.Type.MouseButtonPress, QEvent.Type.KeyPress, QEvent.Type.Wheel})
#: Events of a splitter after which its handle may have another size.
_LAYS_OUT: Final = frozenset({QEvent.Type.Show, QEvent.Type.Resize, QEvent.Type.LayoutRequest})


@guarded
class Reveal(QWidget):
    """A picture of what was visible before a part opened; it gives way to it from one edge on.

    Attributes:
        ms: How long that takes; 0 for parts that are there at once.
    """

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self.ms = 0
        self._over = over
        self._place = self._kept = QRect()
        self._former: QPixmap | None = None
        self._edge = Qt.Edge.TopEdge
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._animation = QVariantAnimation(self, startValue=1.0, endValue=0.0)
        self._animation.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._animation.valueChanged.connect(self._move)
        self._animation.finished.connect(self.end)
        self.hide()

    def keep(self, place: QRect) -> None:
        """Keep a picture of the place where a part is about to open."""
        self.end()
        if self.ms and self._over.isVisible() and not place.isEmpty():
            self._former, self._kept = self._over.grab(place), place
            # Show it before the part is painted for the first time.
            self.setGeometry(place)
            self.show()
            self.raise_()

    def begin(self, place: QRect, edge: Qt.Edge) -> None:
        """Give way to the part that has opened, up to its edge on this side."""
        if self._former is None:
            return
        self._place, self._edge = self._kept & place, edge
        self._move(1.0)
        self.raise_()
        self._animation.setDuration(self.ms)
        self._animation.start()
        QApplication.instance().installEventFilter(self)  # type: ignore[union-attr]  # there is one

    @Slot()
    def end(self) -> None:
        if self._former is not None:
            self._former = None
            self._animation.stop()
            self.hide()
            QApplication.instance().removeEventFilter(self)  # type: ignore[union-attr]  # as above

    @Slot(object)
    def _move(self, left: float) -> None:
        place = QRect(self._place)
        if self._edge is Qt.Edge.TopEdge:
            place.setHeight(round(place.height() * left))
        else:
            place.setWidth(round(place.width() * left))
        self.setGeometry(place)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._former is not None:
            with QPainter(self) as painter:
                painter.drawPixmap(self._kept.topLeft() - self.pos(), self._former)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _INPUT:
            self.end()
        return False


class Placeholder(QLabel):
    """Stands in place of a panel that was not shown yet, or that failed."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.is_failure = bool(reason)  # The panel failed; a line says why
        if reason:
            # Only then: other placeholders are never seen, and Qt lays out such a text several
            # times.
            self.setTextFormat(Qt.TextFormat.PlainText)
            self.setAlignment(Qt.AlignmentFlag.AlignCenter)
            self.setForegroundRole(QPalette.ColorRole.PlaceholderText)
            self.setWordWrap(True)


@guarded
class PanelPlace(QWidget):
    """Where a panel is; as a window of its own it comes back when it is closed."""

    visibility_changed = Signal(bool)  # It was shown or hidden
    window_closed = Signal()  # The window that it was is closed

    def __init__(self, title: str) -> None:
        super().__init__()
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self._panel: QWidget = Placeholder()
        self.is_wanted = True  # Whether it is shown whenever the session has something for it
        self._filled = fill(self, self._panel)

    def widget(self) -> QWidget:
        return self._panel

    def set_widget(self, panel: QWidget) -> None:
        self._filled.replaceWidget(self._panel, panel)
        self._panel.hide()
        self._panel = panel
        panel.show()

    def need(self, *, is_needed: bool) -> None:
        """Show it only if there is something to show in it, and it is wanted."""
        super().setVisible(self.is_wanted and is_needed)

    @override
    def setVisible(self, visible: bool) -> None:
        self.is_wanted = visible
        super().setVisible(visible)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.visibility_changed.emit(True)

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.visibility_changed.emit(False)

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        self.window_closed.emit()


class SharesHeight(Protocol):
    """A widget above the lanes that determines how high it is."""

    def height_beside(self, lanes: int, room: int) -> int:
        """Return its height above lanes of a height, in ``room`` for both."""


@guarded
class Arrangement(QSplitter):
    """Frame times above lanes along one axis, with a line to drag between.

    Until that is dragged, frame times have what the lanes leave.
    """

    def __init__(self, above: QWidget, below: PanelPlace) -> None:
        super().__init__(Qt.Orientation.Vertical)
        # The share of the height that the user gave the lanes, in thousandths; 0 if they have
        # what they need
        self.permille = 0
        self._above, self._below = above, below
        self.setChildrenCollapsible(False)
        # The handle takes no room: the dividing line is painted above the lanes, below the
        # playhead.
        self.setHandleWidth(0)
        self.addWidget(above)
        self.addWidget(below)
        self.splitterMoved.connect(self._note_share)

    def set_share(self, permille: int) -> None:
        self.permille = min(max(permille, 0), 999)
        self._share_out()

    def _share_out(self) -> None:
        if self.permille:
            # Only the proportion matters: there may be no height until the window is laid out.
            self.setSizes([1000 - self.permille, self.permille])
            return
        lanes, room = self._below.sizeHint().height(), self.height() - self.handleWidth()
        above = cast("SharesHeight", self._above).height_beside(lanes, room)
        if self.sizes() != [above, room - above]:
            self.setSizes([above, max(room - above, 1)])

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_out()

    @override
    def event(self, event: QEvent) -> bool:
        """Share the height out again when the lanes need another one."""
        is_handled = super().event(event)
        if event.type() in _LAYS_OUT:
            # Leaves the handle unpainted: Qt unmasks it when it is resized, takes an empty mask for
            # none, and finds it with the mouse outside of its mask, too.
            self.handle(1).setMask(QRegion(0, 0, 1, 1))
        if event.type() == QEvent.Type.LayoutRequest and not self.permille:
            self._share_out()
        return is_handled

    @Slot()
    def _note_share(self) -> None:
        above, below = self.sizes()
        self.permille = round(1000 * below / max(above + below, 1))
