"""Rows of keys and values that are changed in place while their shape stays the same."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from msgspec import Struct
from PySide6.QtCore import QEvent, QMargins, QPoint, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QFontMetrics,
    QGuiApplication,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QLabel, QMenu, QPlainTextEdit, QSizePolicy, QWidget
from typing_extensions import override

from inspector.display_text import one_line

from ..kit.fonts import small_size, text_scale
from ..kit.guards import guarded
from ..kit.labels import color_text, plain_label
from ..kit.theme import ColorRole, Theme, phase_color
from .labels import LinkedLabel, Piece, ValueLabel, breakable
from .rows import DetailRow, RowKind

_MOST_CODE_LINES = 14
_MARGINS = QMargins(16, 8, 16, 8)
_BETWEEN_COLUMNS = 10
_BETWEEN_ROWS = 3
_ABOVE_BAR = 1
_BELOW_BAR = 2
_NARROWEST_VALUE = 40
#: Keys have at most this share of the width; longer ones are wrapped.
_MOST_FOR_KEYS = 0.38
_TO_BE_SURE = 8
_LAST_LATIN = "\u024f"
#: Pixels by which the steps of a chain are indented; there is a dot before each.
_STEP_INDENT = 16
_DOT = 5
#: Middle of the first line of small letters, as a multiple of their size.
_CAPTION_MIDDLE = 0.72


def _text_width(label: QLabel | QPlainTextEdit) -> int:
    if not isinstance(label, QLabel):
        return 0
    return label.fontMetrics().horizontalAdvance(label.text())


@guarded
class ShareBar(QWidget):
    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent)
        self._share = 0.0
        self._color = QColor(Qt.GlobalColor.gray)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_share(self, share: float, color: QColor) -> None:
        """Fill ``share`` (0 to 1) of the bar with ``color``."""
        if (share, color) != (self._share, self._color):
            self._share, self._color = share, color
            self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(60, 7)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        background = self.palette().color(QPalette.ColorRole.WindowText)
        background.setAlpha(28)
        painter.fillRect(self.rect(), background)
        painter.fillRect(QRectF(0, 0, self.width() * self._share, self.height()), self._color)


class ShownRow(Struct, eq=False):
    row: DetailRow
    value: QLabel | QPlainTextEdit  # The heading, value, sentence or code
    # What is to the left of the value, None where the value reaches across both columns.
    key: QLabel | None = None
    bar: ShareBar | None = None  # What is below it
    room: int = 0  # How wide the value may be beside its key
    whole_room: int = 0  # How wide it may be below it
    key_room: int = 0  # How wide the key may be beside it
    height: int = 0  # How high the row is
    is_line: bool = False  # Whether the height is that of a text in one line
    # Whether the value is below its key, because a number would have to be broken beside it.
    is_below: bool = False

    @property
    def widgets(self) -> list[QWidget]:
        return [each for each in (self.value, self.key, self.bar) if each is not None]

    @property
    def reached(self) -> QLabel | QPlainTextEdit:
        return self.key if isinstance(self.key, LinkedLabel) else self.value

    @property
    def is_item(self) -> bool:
        """Whether the value stands at the right edge, and what it is of has the rest."""
        kind = self.row.kind
        return kind is RowKind.ITEM or (kind is RowKind.HEADING and self.key is not None)

    @property
    def is_step(self) -> bool:
        """Whether it is a step of a chain, with a dot at its left."""
        return self.row.kind is RowKind.STEP

    @property
    def width(self) -> int:
        return self.whole_room if self.is_below else self.room

    @property
    def key_height(self) -> int:
        if self.key is None:
            return 0
        return self.key.heightForWidth(self.whole_room if self.is_below else self.key_room)

    def fits_in_line(self) -> bool:
        """Whether the text surely takes one line; a tenth of what measuring it takes."""
        value = self.value
        if isinstance(value, QPlainTextEdit) or value.textFormat() != Qt.TextFormat.PlainText:
            return False
        label, text, room = value, value.text(), self.room - _TO_BE_SURE
        if isinstance(self.key, LinkedLabel):
            label, text, room = self.key, self.key.said, self.key_room - _TO_BE_SURE
            # Letters of fallback fonts may be higher; small letters are no wider than large ones.
            if max(text, default="") > _LAST_LATIN or _text_width(value) > self.room:
                return False
        return "\n" not in text and label.fontMetrics().horizontalAdvance(text) <= room

    def measure(self) -> bool:
        """Find out how high the row has to be; return whether anything has another place."""
        former, was_line = (self.height, self.is_below), self.is_line
        self.is_line = self.fits_in_line()
        if not (self.is_line and was_line):
            self.height = self.needed_height()
        return (self.height, self.is_below) != former

    def needed_height(self) -> int:
        """Return how high the row has to be, and find out where its value is."""
        value = self.value
        if isinstance(value, QPlainTextEdit):
            return value.maximumHeight()
        if isinstance(value, ValueLabel) and value.textFormat() == Qt.TextFormat.PlainText:
            self.is_below = self.key is not None and value.has_number_wider_than(self.room)
            value.fit_into(self.width)
        height, key_height = value.heightForWidth(self.width), self.key_height
        height = height + key_height if self.is_below else max(height, key_height)
        if self.bar is not None:
            height += _ABOVE_BAR + self.bar.sizeHint().height() + _BELOW_BAR
        return height


@guarded
class RowGrid(QWidget):
    """Headings, keys with values, sentences, bars and code below each other.

    The rows are put in their places here and not by a layout, which would measure all of them
    whenever the text of one changes.
    """

    link_activated = Signal(str)  # The address of a link that was clicked
    copy_all_requested = Signal()  # The context menu asked for a copy of everything

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: list[ShownRow] = []
        self._link_color = QColor(Qt.GlobalColor.blue)
        self._key_color = QColor(Qt.GlobalColor.gray)
        self._dot_color = self._line_color = self._key_color
        self._is_recolored = False  # Whether the colours have changed since the rows were made

    def set_theme(self, theme: Theme) -> None:
        """Use its colours in what is added from now on."""
        self._link_color = theme.color(ColorRole.TEXT)
        self._key_color = theme.color(ColorRole.MUTED)
        self._dot_color = theme.color(ColorRole.EDGE)
        self._line_color = theme.color(ColorRole.LINE)
        self._is_recolored = True

    @staticmethod
    def _remove(rows: Sequence[ShownRow]) -> None:
        for row in rows:
            for widget in row.widgets:
                widget.hide()
                widget.deleteLater()

    def replace(self, rows: Sequence[DetailRow]) -> list[ShownRow]:
        """Show other rows, with the widgets of rows of the same shape: making them is slow."""
        former, self._rows = self._rows, []
        known: dict[object, list[ShownRow]] = {}
        for place, each in enumerate(former):
            # Labels keep the colours with which they were made, so none is used again then.
            key = None if self._is_recolored else shape_of(each.row, is_first=not place)
            known.setdefault(key, []).append(each)
        for row in rows:
            if of_shape := known.get(shape_of(row, is_first=not self._rows)):
                self._add_again(of_shape.pop(0), row)
            else:
                self.add(row)
        self._remove([row for rest in known.values() for row in rest])
        self._is_recolored = False
        self.finish()
        return list(self._rows)

    def _add_again(self, shown: ShownRow, row: DetailRow) -> None:
        self._rows.append(shown)
        for widget in shown.widgets:
            if isinstance(widget, ValueLabel) and widget.hasSelectedText():
                # Otherwise the label would keep the text that is marked for copying.
                widget.setSelection(0, 0)
            # Screen readers follow the order of the widgets, not their places.
            widget.raise_()
        former, shown.row = shown.row, row
        self._fill_row(shown, former)

    def finish(self) -> None:
        for row in self._rows:
            for widget in row.widgets:
                if widget.isHidden():
                    widget.show()
        self._place_rows()

    @property
    def _between(self) -> int:
        """The pixels between a key and its value."""
        return round(_BETWEEN_COLUMNS * text_scale(self))

    def _place_rows(self) -> None:
        room = self.rect().marginsRemoved(_MARGINS)
        keys = self._keys_width(room.width())
        items = [row.value for row in self._rows if row.is_item]
        values = max((_text_width(value) for value in items), default=0) + 1
        for row in self._rows:
            taken = 0 if row.key is None else keys + self._between
            taken += _STEP_INDENT if row.is_step else 0
            row.room, row.key_room = max(room.width() - taken, _NARROWEST_VALUE), keys
            row.whole_room = max(room.width(), _NARROWEST_VALUE)
            if row.is_item:
                row.room = min(values, row.whole_room // 2)
                row.key_room = row.whole_room - row.room - self._between
            row.is_line = False
            row.measure()
        self._stack_rows()

    def _keys_width(self, room: int) -> int:
        """Return how wide keys are: in one line each, unless values would have too little."""
        keys = [row.key for row in self._rows if row.key and not row.is_item]
        widest = max((key.fontMetrics().horizontalAdvance(key.text()) for key in keys), default=0)
        words = ((key.fontMetrics(), word) for key in keys for word in key.text().split())
        least = max((metrics.horizontalAdvance(word) for metrics, word in words), default=0)
        most = max(round(_MOST_FOR_KEYS * room), least)
        return max(min(widest + 1, most + 1, room - self._between - _NARROWEST_VALUE), 0)

    def _stack_rows(self) -> None:
        left, y = _MARGINS.left(), _MARGINS.top()
        right = self.width() - _MARGINS.right()
        for row in self._rows:
            height, x, above = row.height, right - row.width, 0
            if row.bar is not None:
                bar_height = row.bar.sizeHint().height()
                height -= _ABOVE_BAR + bar_height + _BELOW_BAR
                row.bar.setGeometry(x, y + height + _ABOVE_BAR, row.width, bar_height)
            if row.key is not None and row.is_below:
                above = row.key_height
                row.key.setGeometry(left, y, row.whole_room, above)
            elif row.key is not None:
                row.key.setGeometry(left, y, x - self._between - left, height)
            row.value.setGeometry(x, y + above, row.width, height - above)
            y += row.height + _BETWEEN_ROWS
        self.setMinimumHeight(y - _BETWEEN_ROWS + _MARGINS.bottom())

    def _fit_row(self, shown: ShownRow, former: DetailRow) -> None:
        """Make room for another text, if it needs more or less than the one before."""
        if not shown.room:
            return
        if shown.is_item and _text_width(shown.value) > shown.room:
            self._place_rows()
        elif shown.row.kind is RowKind.ITEM and shown.row.links == former.links:
            # The value still takes one line, and the text beside it would take long to measure.
            return
        elif shown.measure():
            self._stack_rows()

    def put_in_order(self, rows: Sequence[ShownRow]) -> None:
        """Put entries of a list, all that are below each other, in another order."""
        first = min(map(self._rows.index, rows))
        stacked = self._rows[first : first + len(rows)]
        self._rows[first : first + len(rows)] = rows
        # Screen readers follow the order of the widgets, not their places.
        for row, following in reversed(list(pairwise(rows))):
            place = stacked.index(following)
            if place and stacked[place - 1] is row:
                continue
            stacked.remove(row)
            stacked.insert(stacked.index(following), row)
            above: QWidget = following.key or following.value
            for widget in filter(None, (row.value, row.key)):
                widget.stackUnder(above)
                above = widget
        self._stack_rows()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        if event.oldSize().width() != event.size().width():
            self._place_rows()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._place_rows()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the dots of a chain, and the line that joins them."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        x, above = _MARGINS.left() + _DOT / 2, None
        for row in self._rows:
            if not row.is_step:
                above = None
                continue
            y = row.value.y() + small_size(row.value.fontInfo().pixelSize()) * _CAPTION_MIDDLE
            if above is not None:
                painter.setPen(self._line_color)
                painter.drawLine(QPointF(x, above + _DOT), QPointF(x, y - _DOT))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._dot_color)
            painter.drawEllipse(QPointF(x, y), _DOT / 2, _DOT / 2)
            above = y
        painter.end()

    def add(self, row: DetailRow) -> ShownRow:
        shown = ShownRow(row, *self._widgets_for(row))
        self._rows.append(shown)
        self._fill_row(shown)
        return shown

    def change(self, shown: ShownRow, row: DetailRow) -> None:
        """Change what a row says; its shape stays the same."""
        former, shown.row = shown.row, row
        self._fill_row(shown, former)
        self._fit_row(shown, former)

    def _widgets_for(  # noqa: PLR0911 - one for each kind of row
        self, row: DetailRow
    ) -> tuple[QLabel | QPlainTextEdit, QLabel | None, ShareBar | None]:
        """Return what shows a row: its value, its key and its bar, as yet without texts."""
        match row.kind:
            case RowKind.HEADING if row.exact:
                count = self._small_label()
                count.setContentsMargins(0, 8 if self._rows else 0, 0, 1)
                count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom)
                return count, self._heading_label(), None
            case RowKind.HEADING:
                return self._heading_label(), None, None
            case RowKind.NOTE:
                return self._small_label(), None, None
            case RowKind.STEP:
                return self._linked_label(), None, None
            case RowKind.CODE:
                return self._code_box(), None, None
            case RowKind.ITEM:
                value = self._value_label(row.key)
                value.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)
                return value, self._linked_label(), None
        label = self._linked_label(row.key) if row.links else self._value_label(row.key)
        if row.kind is RowKind.SENTENCE:
            return label, None, None
        return (
            label,
            self._key_label(row.key),
            ShareBar(self) if row.kind is RowKind.SHARE else None,
        )

    def _fill_row(self, shown: ShownRow, former: DetailRow | None = None) -> None:
        row, value, key = shown.row, shown.value, shown.key
        is_heading = row.kind is RowKind.HEADING
        if isinstance(value, QPlainTextEdit):
            _set_code(value, row.text)
        elif isinstance(value, LinkedLabel):
            value.set_pieces(self.pieces(row), self._link_color)
        elif isinstance(value, ValueLabel):
            value.set_text(row.exact if is_heading else row.text)
            value.setToolTip("" if is_heading else row.exact)
        title = key or value
        if is_heading and isinstance(title, QLabel):
            title.setText(breakable(row.text))
            title.setAccessibleName(one_line(row.text))
        if isinstance(key, LinkedLabel) and isinstance(value, ValueLabel):
            value.set_caption(row.key)
            if former is None or row.links != former.links:
                key.set_pieces(self.pieces(row), self._link_color)
        if shown.bar is not None:
            color = self._key_color if row.phase is None else phase_color(row.phase)
            shown.bar.set_share(row.share, color)

    def pieces(self, row: DetailRow) -> list[Piece]:
        """Return what a row says in pieces; of a step, its instant comes first."""
        small = self._key_color
        when = [Piece(row.key, small_in=small, ends_line=True)] if row.kind is RowKind.STEP else []
        links = (Piece(e.text, e.address, small if e.is_small else None) for e in row.links)
        return [*when, *links]

    def _heading_label(self) -> QLabel:
        label = plain_label("", self, wraps=True)
        font = QFont(label.font())
        font.setWeight(QFont.Weight.DemiBold)
        label.setFont(font)
        label.setContentsMargins(0, 8 if self._rows else 0, 0, 1)
        return label

    def _small_label(self) -> ValueLabel:
        label = self._value_label()
        font = QFont(label.font())
        font.setPixelSize(small_size(label.fontInfo().pixelSize()))
        label.setFont(font)
        color_text(label, self._key_color)
        return label

    def _linked_label(self, key: str = "") -> LinkedLabel:
        label = LinkedLabel(self, key)
        self._offer_copies(label)
        label.followed.connect(self.link_activated)
        return label

    def _code_box(self) -> QPlainTextEdit:
        """Return a box for lines in a fixed-width font, to be read and copied."""
        box = QPlainTextEdit(self)
        box.setReadOnly(True)
        box.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        box.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        box.setFrameShape(QFrame.Shape.StyledPanel)
        box.setTabChangesFocus(True)
        box.setAccessibleName("Traceback")
        return box

    def _key_label(self, key: str) -> QLabel:
        label = plain_label(key, self, wraps=True)
        label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        color_text(label, self._key_color)
        return label

    def _value_label(self, key: str = "") -> ValueLabel:
        label = ValueLabel("", self, key)
        self._offer_copies(label)
        return label

    def _offer_copies(self, label: ValueLabel) -> None:
        label.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        label.customContextMenuRequested.connect(self._open_menu)

    @Slot(QPoint)
    def _open_menu(self, position: QPoint) -> None:
        label = self.sender()
        if not isinstance(label, ValueLabel):
            return
        menu = QMenu(label)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Copy", partial(QGuiApplication.clipboard().setText, label.text_to_copy()))
        menu.addAction("Copy all", self.copy_all_requested.emit)
        menu.popup(label.mapToGlobal(position))


def shape_of(row: DetailRow, *, is_first: bool = False) -> tuple[RowKind, str, bool, bool]:
    """Return what the widgets of a row depend on; the rest is changed in them."""
    kind = row.kind
    # Not by a set, which would hash the members of the enumeration: that is slow.
    key = "" if kind is RowKind.STEP or kind is RowKind.ITEM else row.key
    # The first heading has no space above it.
    return kind, key, bool(row.links) or bool(row.exact), is_first and kind is RowKind.HEADING


def _set_code(box: QPlainTextEdit, text: str) -> None:
    """Change the lines of a box and fit it to them; beyond 14 it scrolls."""
    if text == box.toPlainText():
        return
    box.setPlainText(text)
    lines = min(text.count("\n") + 1, _MOST_CODE_LINES)
    line_height = QFontMetrics(box.font()).lineSpacing()
    scroll_bar = box.horizontalScrollBar().sizeHint().height()
    box.setFixedHeight(lines * line_height + scroll_bar + 14)
    # Scroll to the last line, which says what went wrong.
    box.verticalScrollBar().setValue(box.verticalScrollBar().maximum())
