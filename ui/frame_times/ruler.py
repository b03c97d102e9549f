"""The ruler above the frames: the instants of the axis, and the handle of the playhead."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QFont,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QWheelEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget
from typing_extensions import override

from inspector.display_text import one_line
from inspector.formats.arrangement.lane_window import (
    BETWEEN_TEXTS,
    TEXT_FROM_TICK,
    TICK,
    lay_out_ruler,
    ruler_texts,
)
from inspector.formats.arrangement.sheet import Row
from inspector.timebase import format_duration, format_instant
from inspector.tokens import SIZES

from ..kit.fonts import small_font, text_scale
from ..kit.guards import guarded
from ..kit.keys import is_plain, keeps_key
from ..kit.theme import ColorRole, Theme
from ..plotting.gestures import MOVING_KEYS, ZOOMS, handle_key, handle_wheel
from ..plotting.kept_picture import KeptPicture
from ..plotting.shared_view import SharedView
from ..plotting.sheet_painter import KeptTexts, new_sheet, paint_sheet, small_texts

#: Half the width of the handle, and its height.
_GRIP: Final = 5
_GRIP_HEIGHT: Final = 7
_LABEL_PAD: Final = 8
_RADIUS: Final = 4
_PAD: Final = 12
#: Pixels; views that differ by more show the instants at other places.
_SAME_PLACE: Final = 1e-5
_MIDDLE: Final = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class _Shown(NamedTuple):
    """What the picture of the instants depends on, in pixels of a view that moves by whole ones."""

    look: object  # Everything but places
    origin: int  # The pixel of the left edge
    end: int  # The pixel behind the right edge
    ticks: list[tuple[int, str]]
    texts: list[tuple[int, str]]  # The texts that have room, and where they begin
    last: int  # Up to which origin the same have room

    def shift_from(self, former: _Shown) -> int | None:
        """Return by how many pixels the view has moved, ``None`` if more has changed than that."""
        shift = self.origin - former.origin
        is_alike = self.look == former.look and self.texts == former.texts
        if not is_alike or not 0 <= shift < self.end - self.origin:
            return None
        if self.ticks == former.ticks:
            return shift
        stayed = [tick for tick in self.ticks if tick[0] < former.end]
        return shift if stayed == [x for x in former.ticks if x[0] >= self.origin] else None


def _shown_of(  # noqa: PLR0913, PLR0917 - as they are looked up
    look: object,
    origin: int,
    end: int,
    room: int,
    ticks: list[tuple[int, str]],
    kept: KeptTexts,
    former: _Shown | None,
) -> _Shown:
    """Return what is shown, with the texts that have room: mostly the former ones."""
    if (
        former is not None
        and former.origin <= origin <= former.last
        and (look, ticks) == (former.look, former.ticks)
    ):
        return _Shown(look, origin, end, ticks, former.texts, former.last)
    texts = ruler_texts(ticks, (origin, origin + room), kept.width_of)
    last = min((begin for begin, _ in texts), default=origin)
    for x, text in ticks:
        begin = x + TEXT_FROM_TICK
        if begin >= origin and (begin, text) not in texts:
            last = min(last, begin + kept.width_of(text) - room)
    return _Shown(look, origin, end, ticks, texts, last)


@guarded
class Ruler(QWidget):
    """The ruler: dragging along it looks back. The view provides the widget beside it."""

    # The playhead was put somewhere: an instant of session time
    playhead_moved = Signal(object)  # int
    # The pointer is where a press would put the playhead, or None when it has left
    approached = Signal(object)  # int | None

    def __init__(self, theme: Theme, view: SharedView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._view = view
        self._present = self._placed_at = 0
        self.picture = KeptPicture()  # The instants; looking back, texts give way to the label
        self._shown: _Shown | None = None
        self._handle = QPixmap()
        self._handle_look: object = None
        self.name = QLabel(self)
        self.name.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("Ruler")
        self.setToolTip("Drag, or press Left, to look back, Esc to return to the present")
        layout = self._layout = QHBoxLayout(self)
        layout.setContentsMargins(_PAD, 0, 0, 0)
        layout.addWidget(self.name)
        layout.addStretch(1)
        for changed in (view.moved, view.playhead_shown, view.hover_moved):
            changed.connect(self._repaint)
        for changed in (view.ruler_changed, view.margins_changed, theme.changed):
            changed.connect(self._refresh_header)
        view.playhead_shown.connect(self._describe)
        self._describe()
        self._refresh_header()

    @Slot()
    def _describe(self) -> None:
        at_ns = self._view.playhead_ns
        said = "At the present" if at_ns is None else f"Looking back at {format_instant(at_ns)}"
        self.setAccessibleDescription(said)

    def follow_present(self) -> None:
        """Show the present where it has moved on in a view that stays."""
        if self._view.present_ns != self._present:
            self._repaint()

    @Slot()
    def _refresh_header(self) -> None:
        header = self._view.header
        name = one_line(self._view.ruler_name())
        self.name.setText(name[:1].upper() + name[1:])
        self.name.setVisible(header is None and self._view.has_headers)
        if header is not None and header.parent() is not self:
            header.setParent(self)
        self._place_header()
        self.update()

    def _place_header(self) -> None:
        header = self._view.header
        self._placed_at, _ = self._strip()
        if header is not None:
            header.setGeometry(0, 0, self._placed_at - 1, self.height())
            header.setVisible(self._view.has_headers)

    def _strip(self) -> tuple[int, int]:
        """Return from which pixel on the instants are, and on how many."""
        width = self.width()
        left = min(self._view.left_edge, max(width - 1, 0))
        return left, max(width - left, 1)

    @override
    def sizeHint(self) -> QSize:
        unit = text_scale(self)
        return QSize(400, round(SIZES["ruler"] * unit))

    minimumSizeHint = sizeHint  # noqa: N815 - Qt's name

    @override
    def resizeEvent(self, _event: object) -> None:
        self._place_header()

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and event.position().x() >= self._strip()[0]:
            self._view.point_at(None)
            self._view.is_scrubbing = True
            self._put_playhead(event.position())
        else:
            event.ignore()

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        header = self._view.header
        if header is not None and header.isVisible():
            # The header beside the ruler has the menu for both.
            place = header.mapFromGlobal(event.globalPos())
            header.customContextMenuRequested.emit(place)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        is_on_strip = event.position().x() >= self._strip()[0]
        self.setCursor(Qt.CursorShape.SplitHCursor if is_on_strip else Qt.CursorShape.ArrowCursor)
        if self._view.is_scrubbing:
            self._put_playhead(event.position())
        else:
            self.approached.emit(self._instant_at(event.position()) if is_on_strip else None)

    @override
    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.approached.emit(None)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._view.is_scrubbing = False

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        handle_wheel(event, self._view, self._place_at(event.position()))

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        # Filter events only then: an override of event() would be called for each paint.
        self.installEventFilter(self)

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.removeEventFilter(self)

    @override
    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        return keeps_key(event, MOVING_KEYS)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, steps = Qt.Key(event.key()), {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if is_plain(event) and key in steps:
            self.step_playhead(steps[key])
        elif is_plain(event) and key in ZOOMS:
            self._view.zoom(ZOOMS[key])
        elif not handle_key(event, self._view):
            event.ignore()

    def step_playhead(self, step: int) -> None:
        """Look at a frame before or after that of the playhead; after the newest, live."""
        view, series = self._view, self._view.series
        if series is None or series.first == series.end:
            return
        last, shown = series.end - 1, None
        if view.playhead_ns is not None:
            shown = series.frame_at_ns(view.playhead_ns)
            shown = series.first if shown is None else shown
        frame = (last if shown is None else shown) + step
        if frame <= last:
            self.playhead_moved.emit(series.history.frame(max(frame, series.first)).at_ns)
        elif shown is not None:
            view.go_live()

    def _place_at(self, place: QPointF) -> float:
        (left, width), shown = self._strip(), self._view.range
        share = (place.x() - left) / width
        return shown.low + min(max(share, 0.0), 1.0) * shown.span

    def _instant_at(self, place: QPointF) -> int:
        at_ns = self._view.frame_ns_of(self._place_at(place))
        return max(0, round(self._view.ns_of(self._place_at(place)))) if at_ns is None else at_ns

    def _put_playhead(self, place: QPointF) -> None:
        self.playhead_moved.emit(self._instant_at(place))

    @Slot()
    def _repaint(self) -> None:
        # This paint shows the present where it is now, so follow_present() has nothing to do.
        self._present = self._view.present_ns
        left, width = self._strip()
        if left != self._placed_at:
            self._place_header()
        self.update(left, 0, width, self.height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        view, strip = self._view, self._strip()
        left, width = strip
        self._present = view.present_ns
        with QPainter(self) as painter:
            if view.series is None:
                self._paint_ground(painter)
                return
            if event.rect().left() < left:
                self._paint_ground(painter)
                painter.setClipRect(left, 0, width, self.height())
            texts = small_texts(self)
            playhead, present = view.playhead, view.present
            if playhead is not None:
                label = self._label(texts, strip)
                self._paint_ticks(painter, strip, label)
                self._paint_label(painter, label, self._x_of(playhead, strip))
                return
            self._paint_kept(painter, strip, texts)
            if present is not None:
                self._paint_handle(painter, self._x_of(present, strip))

    def _x_of(self, place: float, strip: tuple[int, int]) -> float:
        (left, width), shown = strip, self._view.range
        x = left + (place - shown.low) / shown.span * width
        return min(max(x, -1e6), 1e6)

    def _label(self, texts: KeptTexts, strip: tuple[int, int]) -> tuple[QRectF, str, str]:
        """Return where the label of the playhead is, empty without one, and its two texts."""
        view = self._view
        if view.playhead_ns is None or view.playhead is None:
            return QRectF(), "", ""
        away_ns = view.present_ns - view.playhead_ns
        at, away = format_instant(view.playhead_ns), ""
        if view.present is not None:
            away = f"−{format_duration(away_ns)}" if away_ns > 0 else "now"
        width = texts.width_of(f"{at}  {away}" if away else at) + 2 * _LABEL_PAD + 4
        x = self._x_of(view.playhead, strip) - width / 2
        x = min(max(x, strip[0] + 1), sum(strip) - width - 1)
        return QRectF(x, 2, width, self.height() - 6), at, away

    def _paint_ground(self, painter: QPainter, left: int = 0) -> None:
        width, height = self.width() - left, self.height()
        painter.fillRect(left, 0, width, height, self._theme.color(ColorRole.PANEL))
        painter.fillRect(left, height - 1, width, 1, self._theme.color(ColorRole.LINE))

    def _paint_kept(self, painter: QPainter, strip: tuple[int, int], kept: KeptTexts) -> None:
        """Paint the instants at present; a picture of them is moved along with a view that follows.

        The unit stays where it is.
        """
        view, row, theme = self._view, Row(0, self.height() - 1), self._theme
        left, width = strip
        window, is_following = view.lane_window(left, width), view.is_following
        ticks, unit = view.ruler_ticks(window)
        unit = "" if ":" in unit else unit
        right = left + width - (kept.width_of(unit) + 6 if unit else 0)
        offset, ratio = window.low / window.per_pixel, self.devicePixelRatioF()
        origin = round(offset) if is_following else left
        moves_by_pixels = window.bends is None and ratio == int(ratio)
        can_stay = not is_following or (moves_by_pixels and abs(offset - origin) < _SAME_PLACE)
        look = left, width, right, round(window.span), theme.name, theme.is_high_contrast
        former, away = self._shown, origin - left
        shown = _shown_of(
            *(look, origin, origin + width, right - left),
            [(x + away, text) for x, text in ticks if left <= x < left + width],
            kept,
            former,
        )
        shift = shown.shift_from(former) if can_stay and former is not None else None
        self._shown = shown

        def draw(inner: QPainter) -> None:
            self._paint_ground(inner)
            sheet = new_sheet(inner, theme)
            lay_out_ruler(sheet, ticks, row, (left, right))
            paint_sheet(inner, sheet)

        def amend(inner: QPainter, _former: object) -> bool:
            if shift is None:
                return False
            # The new part has no text: every text had room in the view before.
            begin, bottom = left + width - shift, row.bottom
            self._paint_ground(inner, begin)
            for x, _ in ticks:
                if x >= begin:
                    inner.fillRect(x, bottom - TICK, 1, TICK, theme.color(ColorRole.EDGE))
            return True

        self.picture.paint(
            *(painter, self.size(), shown, draw),
            is_moving=not can_stay,
            amend=amend,
            moved=shift or 0,
        )
        if unit:
            painter.setFont(kept.font)
            painter.setPen(theme.color(ColorRole.MUTED))
            kept.draw(painter, int(right), row, unit)

    def _paint_ticks(
        self, painter: QPainter, strip: tuple[int, int], label: tuple[QRectF, str, str]
    ) -> None:
        view, row, right = self._view, Row(0, self.height() - 1), float(sum(strip))
        self._paint_ground(painter)
        sheet = new_sheet(painter, self._theme)
        muted, taken = sheet.colors["muted"], [(label[0].left(), label[0].right())]
        ticks, unit = view.ruler_ticks(view.lane_window(*strip))
        if unit and ":" not in unit:
            right -= sheet.width_of(unit) + 6
            sheet.text(1, muted, unit, int(right), row)
        if view.present is not None:
            now = self._x_of(view.present, strip)
            left = int(now) + TEXT_FROM_TICK
            if not label[0].left() <= now <= label[0].right():
                sheet.text(1, muted, "now", left, row)
                taken.append((now, left + sheet.width_of("now") + BETWEEN_TEXTS))
        lay_out_ruler(sheet, ticks, row, (strip[0], right), taken)
        paint_sheet(painter, sheet)

    def _paint_handle(self, painter: QPainter, x: float) -> None:
        unit, ratio, color = text_scale(self), self.devicePixelRatioF(), ColorRole.BLUE
        half, high = _GRIP * unit, _GRIP_HEIGHT * unit
        wide, top = math.ceil(half), math.floor(self.height() - high)
        height = self.height() - top
        look = unit, ratio, self._theme.color(color).rgba(), height
        if look != self._handle_look:
            # The handle is kept as a picture, because antialiased edges take as long to paint as
            # everything else.
            self._handle_look = look
            self._handle = QPixmap(math.ceil(2 * wide * ratio), math.ceil(height * ratio))
            self._handle.setDevicePixelRatio(ratio)
            self._handle.fill(Qt.GlobalColor.transparent)
            with QPainter(self._handle) as inner:
                inner.setRenderHint(QPainter.RenderHint.Antialiasing)
                inner.setPen(Qt.PenStyle.NoPen)
                inner.setBrush(self._theme.color(color))
                corners = (wide - half, height - high), (wide + half, height - high), (wide, height)
                inner.drawPolygon([QPointF(*corner) for corner in corners])
        painter.drawPixmap(round(x) - wide, top, self._handle)
        painter.fillRect(round(x) - 1, self.height() - 1, 2, 1, self._theme.color(color))

    def _paint_label(self, painter: QPainter, label: tuple[QRectF, str, str], x: float) -> None:
        box, at, away = label
        theme = self._theme
        self._paint_handle(painter, x)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color(ColorRole.BLUE))
        painter.drawRoundedRect(box, _RADIUS, _RADIUS)
        painter.restore()
        bold = QFont(small_font(self))
        bold.setWeight(QFont.Weight.DemiBold)
        painter.setFont(bold)
        painter.setPen(QPen(theme.color(ColorRole.BG)))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), f"{at}  {away}" if away else at)
