"""The picture of a scene: what belongs to clocks and timers can be pointed at and selected."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from time import thread_time_ns
from typing import Final, NamedTuple

from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTransform,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget
from typing_extensions import override

from inspector.display_text import as_plain
from inspector.formats.drawing.display_list import Item, Text
from inspector.formats.scene_shapes import Halo, outline_of, picture_items
from inspector.pictures.appearance import ClockAppearance, shape_at
from inspector.pictures.pictures import Picture
from inspector.pictures.shapes import Shape, ShapeKind

from ..kit.fonts import load_fonts
from ..kit.guards import guarded
from ..kit.keys import keeps_key
from ..kit.picture import paint_items, paint_screen_text
from ..kit.theme import ColorRole, Theme
from ..plotting.kept_picture import KeptPicture

#: Pixels beside a shape that still count as on it.
_REACH: Final = 4.0
#: How far a ring spreads beyond the shape whose timer has fired, in pixels.
_RING: Final = 14.0
#: Least height of letters in pixels.
LEAST_LETTERS: Final = 11
#: Letters that would be lower than this are left out rather than enlarged.
_LEAST_RAISED: Final = 7
#: Height of a picture in pixels from which it has room for texts.
LEAST_WITH_TEXTS: Final = 100
#: A full turn in sixteenths of a degree, as painters count.
_TURN: Final = 360 * 16
#: Height of a ring in pixels from which Qt would divide even its quarters among threads.
_LARGE_RING: Final = 32
#: Width of the line around what is marked, in pixels.
_HALO: Final = 1.4
#: After this many paints, items that have not changed are kept as a picture.
_STILL_FOR: Final = 4
#: Backgrounds below this lightness are dark.
_MIDDLE: Final = 128
_FORWARDS: Final = frozenset({Qt.Key.Key_Right, Qt.Key.Key_Down})
_BACKWARDS: Final = frozenset({Qt.Key.Key_Left, Qt.Key.Key_Up})
#: Reasons for which the keyboard leaves only while something else is open.
_BRIEFLY: Final = frozenset(
    {Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason}
)


class ShapeOwner(NamedTuple):
    clock: int = 0  # Number of its clock, 0 for none
    timer: int = 0  # Number of its timer, 0 for none


NO_OWNER: Final = ShapeOwner()


class Marked(NamedTuple):
    clocks: frozenset[int] = frozenset()  # Clocks, with all below them
    timer: int = 0  # A timer, 0 for none

    def has(self, shape: Shape) -> bool:
        return shape.timer == self.timer if self.timer else shape.clock in self.clocks


NOTHING: Final = Marked()


@guarded
class SceneCanvas(QWidget):
    """Paints the picture as large as fits.

    The arrow keys go from timer to timer, Enter selects; so does a click.
    """

    pointed = Signal(object)  # Owner: the owner of the shape under the pointer has changed
    chosen = Signal(object)  # Owner: an owner was clicked
    menu_wanted = Signal(object)  # QPoint: the context menu was asked for; where on the screen
    double_clicked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        # Describes an owner, for the tooltip
        self.text_of: Callable[[ShapeOwner], str] = lambda _owner: ""
        self.painting_ns = 0  # Processor time that painting took last
        self._theme = theme
        self.picture: Picture | None = None  # What is shown
        self._looks: Mapping[int, ClockAppearance] = {}
        self._items: list[Item] = []
        self._items_before: list[Item] = []
        self._alike: deque[int] = deque([0], maxlen=_STILL_FOR)
        self._ground = KeptPicture()
        self.owner = NO_OWNER
        self._selected = self._pointed = NOTHING
        self._rings: Mapping[int, float] = {}
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Picture of the scene")
        # It paints all of its area, so that Qt need not paint what is below.
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        theme.changed.connect(self.update)
        load_fonts()

    def set_picture(
        self,
        picture: Picture | None,
        looks: Mapping[int, ClockAppearance],
        rings: Mapping[int, float],
        selected: Marked,
        pointed: Marked,
    ) -> None:
        """Show another picture; ``rings`` has how far those of timers have gone, 0 to 1."""
        self.picture, self._looks = picture, looks
        self._rings, self._selected, self._pointed = rings, selected, pointed
        self._list_items()
        self.update()

    def _list_items(self) -> None:
        picture, scale = self.picture, self.scale
        if picture is None:
            self._items = []
            return
        is_any = self._selected != NOTHING or self._pointed != NOTHING
        halo = Halo(self._halo_color(picture), _HALO / scale) if is_any else None
        self._items = picture_items(picture, self._looks, 1.0, halo)

    def _halo_color(self, picture: Picture) -> Callable[[Shape], str]:
        selected, pointed = self._selected, self._pointed
        accent = QColor(self._theme.color(ColorRole.BLUE))
        # The background is the scene's, not the theme's.
        is_dark = QColor(picture.background).lightness() < _MIDDLE
        bright = "#ffffff" if is_dark else "#000000"
        accent.setHsl(accent.hslHue(), accent.hslSaturation(), 165 if is_dark else 90)
        blue = accent.name()

        def color_of(shape: Shape) -> str:
            if not (shape.clock or shape.timer):
                return ""
            return bright if pointed.has(shape) else blue if selected.has(shape) else ""

        return color_of

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._list_items()

    @override
    def sizeHint(self) -> QSize:
        return QSize(280, 170)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(80, 50)

    def _to_widget(self) -> QTransform:
        picture = self.picture
        found = QTransform()
        if picture is not None:
            scale = self.scale
            left = (self.width() - picture.width * scale) / 2
            top = (self.height() - picture.height * scale) / 2
            found.translate(left, top)
            found.scale(scale, scale)
        return found

    @property
    def scale(self) -> float:
        """Pixels per unit of the picture."""
        picture = self.picture
        if picture is None:
            return 1.0
        return max(min(self.width() / picture.width, self.height() / picture.height), 1e-6)

    @override
    def paintEvent(self, _event: QPaintEvent) -> None:
        began_ns = thread_time_ns()
        painter = QPainter(self)
        self.paint_picture(painter)
        painter.end()
        self.painting_ns = thread_time_ns() - began_ns

    def paint_picture(self, painter: QPainter) -> None:
        """Paint everything."""
        picture, items, count = self.picture, self._items, self._count_still()
        shown = (
            *(self._theme.name, items[:count]),
            None if picture is None else (picture.width, picture.height, picture.background),
        )
        self._ground.paint(
            painter, self.size(), shown, lambda inner: self._paint_ground(inner, count)
        )
        if picture is not None:
            self._begin_picture(painter, picture)
            paint_items(items[count:], painter, self._paint_text)
            self._paint_rings(painter, picture)

    def _paint_text(self, text: Text, painter: QPainter) -> None:
        """Paint a text with letters that can be read, or leave it out."""
        pixels = text.size * self.scale
        if pixels >= _LEAST_RAISED and self.height() >= LEAST_WITH_TEXTS:
            if pixels < LEAST_LETTERS:
                text = replace(text, size=LEAST_LETTERS / self.scale)
            paint_screen_text(text, painter)

    def _count_still(self) -> int:
        """Return how many items, from the backmost, have not changed in a while."""
        items, former = self._items, self._items_before
        alike = 0
        # Shapes that have not changed have the same item objects.
        for mine, other in zip(items, former, strict=False):
            if mine is not other:
                break
            alike += 1
        self._items_before = items
        self._alike.append(alike)
        return min(self._alike)

    def _begin_picture(self, painter: QPainter, picture: Picture) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setTransform(self._to_widget())
        painter.setClipRect(QRectF(0, 0, picture.width, picture.height))

    def _paint_ground(self, painter: QPainter, count: int) -> None:
        painter.fillRect(self.rect(), self._theme.color(ColorRole.PANEL))
        picture = self.picture
        if picture is not None:
            self._begin_picture(painter, picture)
            painter.fillRect(QRectF(0, 0, picture.width, picture.height), picture.background)
            paint_items(self._items[:count], painter, self._paint_text)

    def _paint_rings(self, painter: QPainter, picture: Picture) -> None:
        if not self._rings:
            return
        unit = 1 / self.scale
        for shape in picture.shapes:
            done = self._rings.get(shape.timer)
            if done is None or shape.kind == ShapeKind.TEXT:
                continue
            color = QColor(self._theme.color(ColorRole.BLUE))
            color.setAlphaF(1 - done)
            painter.setPen(QPen(color, 2 * unit, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
            box = _bounds(shape)
            away = _RING * done * unit
            box = box.adjusted(-away, -away, away, away)
            # Painted as arcs: Qt would divide a whole ring among threads, which takes longer than
            # painting it.
            arcs = 4 if box.height() * self.scale < _LARGE_RING else 8
            for number in range(arcs):
                painter.drawArc(box, number * _TURN // arcs, _TURN // arcs)

    def owner_at(self, place: QPointF) -> ShapeOwner:
        picture = self.picture
        if picture is None:
            return NO_OWNER
        there, is_possible = self._to_widget().inverted()
        if not is_possible:
            return NO_OWNER
        at = there.map(place)
        shape = shape_at(picture.shapes, at.x(), at.y(), _REACH / self.scale)
        return NO_OWNER if shape is None else ShapeOwner(shape.clock, shape.timer)

    def owners(self) -> list[ShapeOwner]:
        shapes = () if self.picture is None else self.picture.shapes
        found = dict.fromkeys(
            ShapeOwner(shape.clock, shape.timer) for shape in shapes if shape.clock
        )
        return list(found)

    def point_at(self, owner: ShapeOwner) -> None:
        if owner != self.owner:
            self.owner = owner
            self.pointed.emit(owner)
            self.update()

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.point_at(self.owner_at(event.position()))

    @override
    def leaveEvent(self, event: QEvent) -> None:
        self.point_at(NO_OWNER)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self.point_at(self.owner_at(event.position()))
            if self.owner != NO_OWNER:
                self.chosen.emit(self.owner)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self.double_clicked.emit()

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() is QContextMenuEvent.Reason.Mouse:
            self.point_at(self.owner_at(QPointF(event.pos())))
        self.menu_wanted.emit(event.globalPos())

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        owners, key = self.owners(), event.key()
        step = (key in _FORWARDS) - (key in _BACKWARDS)
        if owners and step:
            at = owners.index(self.owner) if self.owner in owners else min(-step, 0)
            self.point_at(owners[(at + step) % len(owners)])
        elif key in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.owner != NO_OWNER:
            self.chosen.emit(self.owner)
        else:
            super().keyPressEvent(event)

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        # After a menu or another window the keyboard returns, so keep what is pointed at.
        if event.reason() not in _BRIEFLY:
            self.point_at(NO_OWNER)

    @override
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            text = self.text_of(self.owner_at(QPointF(event.pos())))
            QToolTip.showText(event.globalPos(), as_plain(text), self)
            return True
        if isinstance(event, QKeyEvent) and keeps_key(event, _FORWARDS | _BACKWARDS):
            return True
        return super().event(event)


def _bounds(shape: Shape) -> QRectF:
    if shape.kind == ShapeKind.TEXT:
        x, y, size = shape.numbers
        width = 0.6 * size * len(shape.text)
        return QRectF(x - (0, width / 2, width)[shape.anchor], y - size, width, size * 1.2)
    xs, ys = zip(*outline_of(shape.kind, shape.numbers), strict=True)
    return QRectF(QPointF(min(xs), min(ys)), QPointF(max(xs), max(ys)))
