"""The diagram of a state machine: states, transitions, and the current state marked."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget
from typing_extensions import override

from inspector.analysis.lanes.states import ANY
from inspector.display_text import as_plain, one_line

from ..kit.guards import guarded
from ..kit.keys import keeps_key
from ..kit.theme import ColorRole, Theme, mixed
from ..plotting.machines import NO_SHAPE, Arrow, MachineShape, state_color, text_color_on

#: Rounds of swaps; a machine with twenty states needs three or four.
_ROUNDS: Final = 12
#: Points of the outline from which positions are chosen.
_OUTLINE: Final = 720
#: 2 is an ellipse; more is closer to a rectangle and has more room.
_FULLNESS: Final = 2.6

Point = tuple[float, float]


def order_of(shape: MachineShape) -> tuple[str, ...]:
    pairs = {
        (arrow.source, arrow.target)
        for arrow in shape.arrows
        if arrow.source in shape.states and arrow.target in shape.states
    }
    order = _walked(shape.states, pairs)
    best = _length(order, pairs)
    for _ in range(_ROUNDS):
        is_better = False
        for i in range(1, len(order)):
            for j in range(i + 1, len(order)):
                order[i], order[j] = order[j], order[i]
                length = _length(order, pairs)
                if length < best:
                    best, is_better = length, True
                else:
                    order[i], order[j] = order[j], order[i]
        if not is_better:
            break
    return tuple(order)


def _walked(states: Sequence[str], pairs: set[tuple[str, str]]) -> list[str]:
    """Return the states in the order of a walk along the lines: a ring stays a ring."""
    near: dict[str, list[str]] = {state: [] for state in states}
    for state in states:
        near[state] = [other for other in states if (state, other) in pairs]
    for state in states:
        near[state] += [other for other in states if (other, state) in pairs]
    found: dict[str, None] = {}
    waiting = list(reversed(states))
    while waiting:
        state = waiting.pop()
        if state not in found:
            found[state] = None
            waiting.extend(reversed(near[state]))
    return list(found)


def places_of(order: Sequence[str], size: Point, box: Point) -> dict[str, Point]:
    """Return the middles of states around an oval, ``size`` apart at most, ``box`` large each."""
    width = size[0]
    count = len(order)
    if count == 1:
        return {order[0]: (0.0, 0.0)}
    if count == 2:  # noqa: PLR2004 - side by side
        return {order[0]: (-width / 2, 0.0), order[1]: (width / 2, 0.0)}
    return dict(zip(order, _even_points(count, size, box), strict=True))


def _even_points(count: int, size: Point, box: Point) -> list[Point]:
    """Return equidistant points of an oval, counted in boxes."""
    outline = [_on_oval(2 * math.pi * step / _OUTLINE, size) for step in range(_OUTLINE + 1)]
    lengths = list(
        accumulate(
            (
                math.hypot((b[0] - a[0]) / box[0], (b[1] - a[1]) / box[1])
                for a, b in pairwise(outline)
            ),
            initial=0.0,
        )
    )
    return [
        outline[min(bisect_left(lengths, lengths[-1] * number / count), _OUTLINE)]
        for number in range(count)
    ]


def _on_oval(angle: float, size: Point) -> Point:
    """Return a point of an oval that starts at the left and runs through the top."""
    x, y = -math.cos(angle), -math.sin(angle)
    power = 2 / _FULLNESS
    return (
        math.copysign(abs(x) ** power, x) * size[0] / 2,
        math.copysign(abs(y) ** power, y) * size[1] / 2,
    )


def _length(order: Sequence[str], pairs: set[tuple[str, str]]) -> int:
    place = {state: number for number, state in enumerate(order)}
    count = len(order)
    total = 0
    for source, target in pairs:
        away = abs(place[source] - place[target])
        total += min(away, count - away) ** 2
    return total


_MARGIN: Final = 10
_NODE_PAD: Final = 9
_WIDEST_NODE: Final = 130
_BEND: Final = 0.16
_TWIN_BEND: Final = 0.24
_HEAD: Final = 8.0
_LOOP: Final = 26.0
_NEXT_TO: Final = 10.0
#: Additional room per state beyond the first few, in pixels.
_FEW: Final = 4
_MORE_WIDTH: Final = 14
_MORE_HEIGHT: Final = 17
#: Height of a line, in pixels, for which these sizes are meant; larger letters need more.
_USUAL_LINE: Final = 15.0
#: Names of impossible transitions are omitted when this share of them covers others.
_MOST_COVERED: Final = 0.25
#: Positions along a curve to try for its label.
_TRIED: Final = (0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73, 0.2, 0.8)
_FORWARDS: Final = frozenset({Qt.Key.Key_Right, Qt.Key.Key_Down})
_BACKWARDS: Final = frozenset({Qt.Key.Key_Left, Qt.Key.Key_Up})
_MAKES: Final = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})


class TransitionLabel(Struct, frozen=True):
    name: str  # The transition
    arrow: Arrow
    box: QRectF  # Its area


class Drawn(Struct, frozen=True, eq=False):
    arrow: Arrow  # The transitions
    path: QPainterPath  # Its line
    head: QPolygonF


@guarded
class MachineDiagram(QWidget):
    """Draws a machine; a click on a possible transition requests it.

    The arrow keys go through the possible transitions, Enter requests the marked one.
    """

    transition_chosen = Signal(str)  # A transition was clicked, possible or not
    transition_pointed = Signal(str)  # The transition under the pointer, empty for none

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.shape_shown = NO_SHAPE
        self._order: tuple[str, ...] = ()
        self._boxes: dict[str, QRectF] = {}
        self._drawn: list[Drawn] = []
        self._labels: list[TransitionLabel] = []
        self._pointed = ""
        self._current = 0
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("States and transitions")
        theme.changed.connect(self.update)

    # ---------------------------------------------------------------- what is drawn

    @property
    def current(self) -> str:
        possible = self.shape_shown.possible()
        return possible[self._current % len(possible)] if possible else ""

    def set_shape(self, shape: MachineShape) -> None:
        if shape == self.shape_shown:
            return
        if shape.states != self.shape_shown.states or shape.arrows != self.shape_shown.arrows:
            self._order = order_of(shape)
            self.updateGeometry()
        if shape.present != self.shape_shown.present:
            self._current = 0
        self.shape_shown = shape
        self._arrange()
        self._describe()
        self.update()

    def box_of(self, state: str) -> QRectF:
        return self._boxes[state]

    def labels(self) -> list[TransitionLabel]:
        return self._labels

    def curves(self) -> list[Drawn]:
        return self._drawn

    @override
    def sizeHint(self) -> QSize:
        return QSize(360, 220)

    @override
    def minimumSizeHint(self) -> QSize:
        more = max(len(self._order) - _FEW, 0)
        letters = self._letters()
        # The height grows twice: panels are seldom wider for larger letters, so that names which
        # were side by side need places below each other.
        height = (120 + _MORE_HEIGHT * more) * letters
        return (QSizeF(180 + _MORE_WIDTH * more, height) * letters).toSize()

    def _letters(self) -> float:
        """Return how large the letters are, as a multiple of the usual size; at least 1."""
        return max(self.fontMetrics().height() / _USUAL_LINE, 1.0)

    # ---------------------------------------------------------------- arranging

    def _arrange(self) -> None:
        self._boxes, self._drawn, self._labels = {}, [], []
        if not self._order:
            return
        metrics = self.fontMetrics()
        height = metrics.height() + 8.0
        # Measured in bold, which the text of the current state is in.
        bold = QFont(self.font())
        bold.setBold(True)
        advance = QFontMetricsF(bold).horizontalAdvance
        most = _WIDEST_NODE * self._letters()
        widths = {
            state: min(advance(one_line(f"● {state}")) + 2 * _NODE_PAD, most)
            for state in self._order
        }
        widest = max(widths.values())
        # Room for loops, badges and their names beside states.
        side, above = widest / 2 + _MARGIN, height / 2 + _MARGIN + metrics.height()
        room_x = max(self.width() - 2 * side - 2 * self._beside(), 40.0)
        room_y = max(self.height() - 2 * above - metrics.height(), 30.0)
        middle = QPointF(self.width() / 2, self.height() / 2)
        room = (widest + _NEXT_TO, height + _NEXT_TO)
        for state, (x, y) in places_of(self._order, (room_x, room_y), room).items():
            width = widths[state]
            self._boxes[state] = QRectF(
                middle.x() + x - width / 2, middle.y() + y - height / 2, width, height
            )
        pairs = {(arrow.source, arrow.target) for arrow in self.shape_shown.arrows}
        for arrow in self._arrows():
            if arrow.source in (arrow.target, ANY) or not arrow.target:
                continue
            has_twin = (arrow.target, arrow.source) in pairs
            self._add_curve(arrow, _TWIN_BEND if has_twin else _BEND)
        self._add_beside()

    def _arrows(self) -> list[Arrow]:
        """Return the arrows, possible ones first: they get the best places."""
        now = (ANY, self.shape_shown.present)
        return sorted(self.shape_shown.arrows, key=lambda arrow: arrow.source not in now)

    def _beside(self) -> float:
        metrics = self.fontMetrics()
        names = [
            name
            for arrow in self.shape_shown.arrows
            for name in arrow.names
            if arrow.source == arrow.target
        ]
        widest = max((metrics.horizontalAdvance(name) for name in names), default=0)
        return widest + _LOOP if names else 0.0

    def _add_curve(self, arrow: Arrow, bend: float) -> None:
        source, target = self._boxes.get(arrow.source), self._boxes.get(arrow.target)
        if source is None or target is None:
            return
        a, b = source.center(), target.center()
        away = b - a
        # Short arrows are bent more, so that there is room between the two directions.
        bulge = max(bend, 26.0 / max(math.hypot(away.x(), away.y()), 1.0))
        bulge = min(bulge, 0.6, self._most_bulge(a, b))
        control = (a + b) / 2 + QPointF(-away.y(), away.x()) * bulge
        start, end = _edge_point(source, control), _edge_point(target, control)
        path = QPainterPath(start)
        path.quadTo(control, end)
        self._drawn.append(Drawn(arrow, path, _head(control, end)))
        self._add_labels(arrow, [path.pointAtPercent(share) for share in _TRIED])

    def _most_bulge(self, a: QPointF, b: QPointF) -> float:
        """Return the largest bend at which a line between two points keeps its label in view."""
        along = b.x() - a.x()
        # Half a line for the label, half for the ends, which leave their boxes towards the bend.
        label = self.fontMetrics().height() + 1.0
        middle = (a.y() + b.y()) / 2
        room = self.height() - label - middle if along > 0 else middle - label
        # A quadratic curve reaches half as far as its control point.
        return 2 * max(room, 0.0) / max(abs(along), 1.0)

    def _add_beside(self) -> None:
        """Add loops, transitions from any state, and those with a computed target."""
        middle = QPointF(self.width() / 2, self.height() / 2)
        for arrow in self._arrows():
            if arrow.source == arrow.target and arrow.source in self._boxes:
                self._add_loop(arrow, self._boxes[arrow.source], middle)
            elif arrow.source == ANY and arrow.target in self._boxes:
                self._add_badge(arrow, self._boxes[arrow.target], middle)
            elif not arrow.target and arrow.source in self._boxes:
                self._add_badge(arrow, self._boxes[arrow.source], middle)
            elif arrow.source == ANY:
                self._add_labels(arrow, [QPointF(self.width() / 2, self.height() - 14.0)])

    def _add_loop(self, arrow: Arrow, box: QRectF, middle: QPointF) -> None:
        is_right = box.center().x() >= middle.x()
        x = box.right() if is_right else box.left()
        sign = 1.0 if is_right else -1.0
        start = QPointF(x, box.center().y() - 5)
        end = QPointF(x, box.center().y() + 5)
        out = QPointF(sign * _LOOP, 0)
        path = QPainterPath(start)
        path.cubicTo(start + out - QPointF(0, 9), end + out + QPointF(0, 9), end)
        self._drawn.append(Drawn(arrow, path, _head(end + out / 2 + QPointF(0, 4), end)))
        widest = max(self.fontMetrics().horizontalAdvance(name) for name in arrow.names)
        place = QPointF(x + sign * (_LOOP * 0.8 + widest / 2 + 4), box.center().y())
        self._add_labels(arrow, [place])

    def _add_badge(self, arrow: Arrow, box: QRectF, middle: QPointF) -> None:
        """Add transitions that have no state at one end, beside the state at the other."""
        metrics = self.fontMetrics()
        height = metrics.height() + 1.0
        whole = height * len(arrow.names)
        texts = [self.label_text(arrow, name) for name in arrow.names]
        half = max(metrics.horizontalAdvance(text) for text in texts) / 2 + 7
        x, y = box.center().x(), box.center().y()
        below, above = (
            QPointF(x, box.bottom() + whole / 2 + 3),
            QPointF(x, box.top() - whole / 2 - 3),
        )
        left, right = QPointF(box.left() - half, y), QPointF(box.right() + half, y)
        outwards = [below, above] if y >= middle.y() else [above, below]
        sideways = [right, left] if x >= middle.x() else [left, right]
        self._add_labels(arrow, [outwards[0], sideways[0], outwards[1], sideways[1]])

    def _add_labels(self, arrow: Arrow, places: list[QPointF]) -> None:
        """Place the names of an arrow where they cover the least."""
        metrics = self.fontMetrics()
        height = metrics.height() + 1.0
        texts = [self.label_text(arrow, name) for name in arrow.names]
        width = max(metrics.horizontalAdvance(text) for text in texts) + 8.0
        whole = height * len(texts)

        def boxed(place: QPointF) -> QRectF:
            top = place.y() - whole / 2
            left = min(max(place.x() - width / 2, 1.0), max(self.width() - width - 1, 1.0))
            top = min(max(top, 1.0), max(self.height() - whole - 1, 1.0))
            return QRectF(left, top, width, whole)

        taken = [*self._boxes.values(), *(label.box for label in self._labels)]

        def covered(box: QRectF) -> float:
            total = 0.0
            for other in taken:
                shared = box.intersected(other)
                total += shared.width() * shared.height()
            return total

        best = min((boxed(place) for place in places), key=covered)
        is_possible = arrow.source in (ANY, self.shape_shown.present)
        if not is_possible and covered(best) > _MOST_COVERED * best.width() * best.height():
            return
        self._labels += [
            TransitionLabel(
                name, arrow, QRectF(best.left(), best.top() + height * number, width, height)
            )
            for number, name in enumerate(arrow.names)
        ]

    def label_text(self, arrow: Arrow, name: str) -> str:
        name = one_line(name)
        if arrow.source == ANY:
            return f"✱ {name}" if arrow.target else f"✱ {name} → ?"
        return name if arrow.target else f"{name} → ?"

    # ---------------------------------------------------------------- painting

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        # By a context manager: a painter that outlives its event crashes Qt.
        with QPainter(self) as painter:
            self._paint(painter, event.rect())

    def _paint(self, painter: QPainter, exposed: QRect) -> None:
        theme = self._theme
        painter.fillRect(exposed, theme.color(ColorRole.BG))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for drawn in self._drawn:
            is_possible = drawn.arrow.source == self.shape_shown.present
            color = theme.color(ColorRole.BLUE if is_possible else ColorRole.HATCH)
            painter.setPen(QPen(color, 2.0 if is_possible else 1.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(drawn.path)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawPolygon(drawn.head)
        for number, state in enumerate(self.shape_shown.states):
            self._paint_state(painter, state, number)
        for label in self._labels:
            self._paint_label(painter, label)

    def _paint_state(self, painter: QPainter, state: str, number: int) -> None:
        theme, box = self._theme, self._boxes[state]
        color = state_color(number, theme)
        is_present = state == self.shape_shown.present
        fill = color if is_present else mixed(color, theme.color(ColorRole.BG), 0.5)
        painter.setBrush(fill)
        edge = theme.color(ColorRole.TEXT if is_present else ColorRole.MUTED)
        painter.setPen(QPen(edge, 2.5 if is_present else 1.0))
        painter.drawRoundedRect(box, 7, 7)
        font = QFont(self.font())
        font.setBold(is_present)
        painter.setFont(font)
        painter.setPen(text_color_on(fill))
        metrics = painter.fontMetrics()
        name = one_line(f"● {state}" if is_present else state)
        room = int(box.width()) - 8
        text = metrics.elidedText(name, Qt.TextElideMode.ElideRight, room)
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)
        painter.setFont(self.font())

    def _paint_label(self, painter: QPainter, label: TransitionLabel) -> None:
        theme = self._theme
        is_possible = self._is_possible(label)
        is_current = is_possible and self.hasFocus() and label.name == self.current
        background = QColor(theme.color(ColorRole.BG))
        background.setAlphaF(0.88)
        if is_possible:
            share = 0.45 if label.name == self._pointed or is_current else 0.2
            accent = theme.color(ColorRole.BLUE)
            background = mixed(accent, theme.color(ColorRole.BG), share)
        painter.setBrush(background)
        painter.setPen(
            QPen(theme.color(ColorRole.BLUE), 2.0 if is_current else 1.0)
            if is_possible
            else Qt.PenStyle.NoPen
        )
        painter.drawRoundedRect(label.box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.setPen(theme.color(ColorRole.TEXT if is_possible else ColorRole.MUTED))
        text = self.label_text(label.arrow, label.name)
        painter.drawText(label.box, int(Qt.AlignmentFlag.AlignCenter), text)

    def _is_possible(self, label: TransitionLabel) -> bool:
        return label.arrow.source in (ANY, self.shape_shown.present)

    # ---------------------------------------------------------------- input

    def label_at(self, place: QPointF) -> TransitionLabel | None:
        found = [label for label in self._labels if label.box.contains(place)]
        return min(found, key=lambda label: not self._is_possible(label), default=None)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._arrange()

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = QPointF(event.pos())
            label = self.label_at(place)
            states = (state for state, box in self._boxes.items() if box.contains(place))
            text = self._state_tip(next(states, "")) if label is None else self._tip(label)
            QToolTip.showText(event.globalPos(), as_plain(text), self)
            return True
        return keeps_key(event, _FORWARDS | _BACKWARDS | _MAKES) or super().event(event)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        label = self.label_at(event.position())
        self._point("" if label is None else label.name)
        is_button = label is not None and self._is_possible(label)
        self.setCursor(
            Qt.CursorShape.PointingHandCursor if is_button else Qt.CursorShape.ArrowCursor
        )

    @override
    def leaveEvent(self, event: QEvent) -> None:
        self._point("")

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        label = self.label_at(event.position())
        if label is not None and event.button() is Qt.MouseButton.LeftButton:
            self.transition_chosen.emit(label.name)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        possible = self.shape_shown.possible()
        if not possible or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
            return
        if event.key() in _MAKES:
            self.transition_chosen.emit(self.current)
            return
        if event.key() not in _FORWARDS | _BACKWARDS:
            super().keyPressEvent(event)
            return
        self._current = (self._current + (1 if event.key() in _FORWARDS else -1)) % len(possible)
        self.transition_pointed.emit(self.current)
        self._describe()
        self.update()

    def _point(self, name: str) -> None:
        if name != self._pointed:
            self._pointed = name
            self.update()
            self.transition_pointed.emit(name)

    def _tip(self, label: TransitionLabel) -> str:
        arrow = label.arrow
        source = "any state" if arrow.source == ANY else f"“{arrow.source}”"
        target = f"“{arrow.target}”" if arrow.target else "a state chosen when it is made"
        text = f"“{label.name}”: from {source} to {target}"
        if self._is_possible(label):
            return f"{text}\nClick to make this transition."
        return f"{text}\nIt does not leave “{self.shape_shown.present}”, the current state."

    def _state_tip(self, state: str) -> str:
        if not state:
            return ""
        ways = [
            f"{name} → {arrow.target or '?'}"
            for arrow in self.shape_shown.arrows
            if arrow.source in (ANY, state)
            for name in arrow.names
        ]
        return "\n".join((f"“{state}”", *(ways or ["no transition leaves it"])))

    def _describe(self) -> None:
        possible = ", ".join(self.shape_shown.possible()) or "nothing"
        marked = f"; Enter makes {self.current}" if self.current else ""
        self.setAccessibleDescription(
            f"In {self.shape_shown.present or 'no state'}; possible: {possible}{marked}"
        )


def _edge_point(box: QRectF, towards: QPointF) -> QPointF:
    """Return the point at which a line from the middle of a box leaves it."""
    middle = box.center()
    away = towards - middle
    if away.isNull():
        return QPointF(box.right(), middle.y())
    scale = min(
        (box.width() / 2 + 2) / abs(away.x()) if away.x() else math.inf,
        (box.height() / 2 + 2) / abs(away.y()) if away.y() else math.inf,
    )
    return middle + away * min(scale, 1.0)


def _head(origin: QPointF, tip: QPointF) -> QPolygonF:
    angle = math.atan2(tip.y() - origin.y(), tip.x() - origin.x())
    corners = (
        tip - QPointF(math.cos(angle + side), math.sin(angle + side)) * _HEAD
        for side in (-0.42, 0.42)
    )
    return QPolygonF([tip, *corners])
