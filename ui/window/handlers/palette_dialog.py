"""The palette: everything of a session and all that can be done, found by typing a part of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Slot,
)
from PySide6.QtGui import QFont, QFontMetrics, QIcon, QKeyEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QLabel,
    QLineEdit,
    QListView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)
from typing_extensions import override

from ...kit.fonts import small_font, text_scale
from ...kit.guards import guarded
from ...kit.icons import icon_size
from ...kit.labels import announce
from ...kit.layouts import bar, fill
from ...kit.theme import ColorRole, Theme
from .palette_entries import EntryKind, PaletteEntry
from .palette_finds import Found
from .palette_matching import has_words, is_named, matching_entries

_WIDTH: Final = 640
_BELOW_TOP: Final = 64
#: In pixels at 100 % text.
_ROW: Final = 30
_HEADER: Final = 24
_LINE: Final = 44
_SIDE: Final = 12
_LEAST_ROOM: Final = 40
_MOST_ROWS: Final = 10
#: Icons of kinds of entries that have none of their own; others have that of a command.
_ICONS: Final = {EntryKind.PANEL: "panel", EntryKind.SCENE: "file"}
#: At most this many entries of each kind are listed beside commands.
_MOST_OBJECTS: Final = 3
_MOST_TIMES: Final = 3
_MOST_PANELS: Final = 2
_COMMANDS_ONLY: Final = ">"
_NOTHING: Final = Found([], [], [], [])
_EXAMPLES: Final = "Also: 0:38   frame 812   +2 s   > commands"
_MORE: Final = "Tab: what else it can do   "


class Section(Struct):
    """Entries of one kind, below their title."""

    title: str
    entries: list[PaletteEntry]


def sections_of(pattern: str, entries: Sequence[PaletteEntry], found: Found) -> list[Section]:
    """Return what a text finds, in the order of the list: at most ten entries.

    Behind ``>`` these are commands, all of them.

    Args:
        pattern: What was typed.
        entries: All actions and scenes.
        found: What the text finds in the session.
    """
    typed = pattern.removeprefix(_COMMANDS_ONLY).strip()
    matched = matching_entries(typed, entries)
    is_found = found.objects or found.commands or any(has_words(typed, each) for each in matched)
    if typed and is_found:
        matched = [each for each in matched if has_words(typed, each)]
    if pattern.startswith(_COMMANDS_ONLY):
        return [Section("Commands", matched)] if matched else []
    likely = {each: place for place, each in enumerate(found.first)}
    matched.sort(key=lambda each: likely.get(each.id, len(likely)))
    possible = [each for each in matched if not each.reason]
    panels = [each for each in possible if each.kind is EntryKind.PANEL]
    is_else = possible or found.times or found.commands
    panels += found.panels if found.objects or not is_else else []
    commands = [*found.commands, *(each for each in possible if each.kind is not EntryKind.PANEL)]
    refused = [each for each in (*found.times, *commands) if each.reason]
    refused += [each for each in matched if each.reason]
    objects = found.objects[:_MOST_OBJECTS]
    times = [each for each in found.times if not each.reason][:_MOST_TIMES]
    panels = panels[:_MOST_PANELS]
    commands = [each for each in commands if not each.reason]
    commands = commands[: _MOST_ROWS - len(objects) - len(times) - len(panels)]
    room = _MOST_ROWS - len(objects) - len(times) - len(commands) - len(panels)
    sections = (
        Section("Objects", objects),
        Section("Times", times),
        Section("Commands", commands),
        Section("Panels", panels),
        Section("Not possible now", refused[:room]),
    )
    return [section for section in sections if section.entries]


@guarded
class CommandPalette(QDialog):
    """Lists what is found; arrows move, Enter chooses, Tab shows what else it can do."""

    def __init__(self, theme: Theme, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setObjectName("command_palette")
        self.setWindowTitle("Find anything")
        self.setWindowFlags(Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
        self._theme = theme
        self._entries: tuple[PaletteEntry, ...] = ()
        self._find: Callable[[str], Found] = lambda _pattern: _NOTHING
        self._about: PaletteEntry | None = None
        self._said = ""  # What screen readers were told last
        self.line = QLineEdit()
        self.line.setPlaceholderText("Find anything")
        self.line.setAccessibleName("Find anything")
        self.line.setFrame(False)
        self.model = _EntryModel(self)
        self.view = QListView()
        self.view.setAccessibleName("What is found")
        self.view.setFrameShape(QListView.Shape.NoFrame)
        self.view.setModel(self.model)
        self.view.setItemDelegate(_EntryDelegate(theme, self.model, self.view))
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.hint, self.examples = QLabel(), QLabel(_EXAMPLES)
        for label in (self.hint, self.examples):
            label.setForegroundRole(QPalette.ColorRole.PlaceholderText)
            label.setTextFormat(Qt.TextFormat.PlainText)
        above = bar((self.line, 1), margins=(_SIDE, 0, _SIDE, 0))
        below = bar((self.hint, 1), self.examples, margins=(_SIDE, 4, _SIDE, 6))
        fill(self, above, (self.view, 1), below, margins=(1, 1, 1, 1), spacing=0)
        self.line.installEventFilter(self)
        self.line.textChanged.connect(self._filter)
        self.view.clicked.connect(self._choose)
        self.view.selectionModel().currentChanged.connect(self._refresh_hint)

    def open_with(
        self, entries: Sequence[PaletteEntry], find: Callable[[str], Found], text: str = ""
    ) -> None:
        """Open with all actions and scenes, and what finds the rest."""
        self._entries, self._find, self._said = tuple(entries), find, ""
        self._dress()
        self.line.setText(text)
        self._filter(text)
        self.open()
        self.line.setFocus()

    def _dress(self) -> None:
        scale, font, palette = text_scale(self), QFont(self.font()), self._theme.palette()
        palette.setColor(QPalette.ColorRole.Base, self._theme.color(ColorRole.PANEL))
        for widget in (self.line, self.view):
            widget.setPalette(palette)
        for label in (self.hint, self.examples):
            label.setFont(small_font(self))
        font.setPixelSize(round(16 * scale))
        self.line.setFont(font)
        self.line.setFixedHeight(round(_LINE * scale))

    @Slot(str)
    def _filter(self, pattern: str) -> None:
        self._about = None
        typed = pattern.removeprefix(_COMMANDS_ONLY).strip()
        found = _NOTHING if pattern.startswith(_COMMANDS_ONLY) else self._find(typed)
        self._set_sections(sections_of(pattern, self._entries, found), typed)

    def _set_sections(self, sections: list[Section], pattern: str) -> None:
        self.model.set_sections(sections, pattern)
        rows = range(self.model.rowCount())
        entries = [(row, each) for row in rows if (each := self.model.entry(row)) is not None]
        named = (row for row, each in entries if pattern and is_named(pattern, each))
        first = entries[0][0] if entries else 0
        self.view.setCurrentIndex(self.model.index(next(named, first)))
        self.view.scrollToTop()
        self._refresh_hint(self.view.currentIndex())
        self._place()

    @Slot(QModelIndex)
    def _choose(self, index: QModelIndex) -> None:
        entry = self.model.entry(index.row())
        if entry is None or entry.reason or not self.isVisible():
            return
        self.accept()
        entry.do()

    def _open_more(self, *, is_back: bool) -> bool:
        """Show what else the entry can do, or go back to what was found."""
        entry = self.model.entry(self.view.currentIndex().row())
        if is_back or self._about is not None:
            was_inside = self._about is not None
            self._filter(self.line.text())
            return was_inside
        if entry is not None and entry.more is not None:
            self._about = entry
            self._set_sections([Section(entry.title, entry.more())], "")
        return True

    @Slot(QModelIndex)
    def _refresh_hint(self, index: QModelIndex) -> None:
        entry = self.model.entry(index.row())
        if entry is None:
            self.hint.setText("Nothing is found.")
        elif entry.reason:
            self.hint.setText(f"Unavailable: {entry.reason}.")
        else:
            more = _MORE if entry.more is not None else ""
            back = "Shift+Tab: back" if self._about is not None else "Esc closes"
            self.hint.setText(f"↑ ↓ choose   Enter opens   {more}{back}")
        # The keyboard stays in the line, so screen readers are not told what is chosen in the list.
        said = self.hint.text()
        if entry is not None and not entry.reason:
            said = ", ".join(filter(None, (entry.title, entry.category)))
        if said != self._said:
            self._said = said
            announce(self.line, said)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color(ColorRole.PANEL))
        painter.setPen(self._theme.color(ColorRole.LINE))
        y = self.line.geometry().bottom() + 1
        painter.drawLine(1, y, self.width() - 2, y)
        painter.setPen(self._theme.color(ColorRole.EDGE))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the arrows move in the list while the line has the keyboard."""
        is_press = watched is self.line and event.type() == QEvent.Type.KeyPress
        if is_press and isinstance(event, QKeyEvent) and self._handle_key(event):
            return True
        return super().eventFilter(watched, event)

    def _handle_key(self, event: QKeyEvent) -> bool:
        match event.key():
            case Qt.Key.Key_Up | Qt.Key.Key_Down | Qt.Key.Key_PageUp | Qt.Key.Key_PageDown:
                QApplication.sendEvent(self.view, event)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._choose(self.view.currentIndex())
            case Qt.Key.Key_Tab | Qt.Key.Key_Backtab:
                self._open_more(is_back=event.key() == Qt.Key.Key_Backtab)
            case Qt.Key.Key_Escape if self._about is not None:
                self._open_more(is_back=True)
            case _:
                return False
        return True

    def _place(self) -> None:
        window, scale = self.parentWidget(), text_scale(self)
        rows = range(self.model.rowCount())
        heights = [_HEADER if self.model.entry(row) is None else _ROW for row in rows]
        shown = min(sum(heights), _MOST_ROWS * _ROW + 4 * _HEADER) + 8
        spare = _LINE + self.hint.sizeHint().height() + 14
        width, height = round(_WIDTH * scale), round((shown + spare) * scale)
        top = round(_BELOW_TOP * scale)
        if window is not None:
            width = min(width, window.width() - 40)
            height = min(height, window.height() - top - 16)
        self.resize(width, height)
        if window is not None:
            self.move(window.mapToGlobal(QPoint((window.width() - width) // 2, top)))


@guarded
class _EntryModel(QAbstractListModel):
    """What was found, each kind below its title."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.pattern = ""
        self._rows: list[str | PaletteEntry] = []

    def set_sections(self, sections: list[Section], pattern: str) -> None:
        self.beginResetModel()
        self.pattern = pattern
        self._rows = []
        for section in sections:
            self._rows += [section.title, *section.entries]
        self.endResetModel()

    def entry(self, row: int) -> PaletteEntry | None:
        """Return the entry of a row, ``None`` for a title and if there is none."""
        found = self._rows[row] if 0 <= row < len(self._rows) else None
        return found if isinstance(found, PaletteEntry) else None

    @override
    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        is_title = index.isValid() and self.entry(index.row()) is None
        return Qt.ItemFlag.NoItemFlags if is_title else super().flags(index)

    @override
    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._rows)

    @override
    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        entry = self.entry(index.row()) if index.isValid() else None
        match role:
            case Qt.ItemDataRole.DisplayRole if index.isValid():
                return self._rows[index.row()] if entry is None else entry.title
            case Qt.ItemDataRole.AccessibleDescriptionRole if entry is not None:
                return f"{entry.category} {entry.shortcut} {entry.reason}".strip()
            case Qt.ItemDataRole.ToolTipRole if entry is not None and entry.reason:
                return f"Unavailable: {entry.reason}."
        return None


@guarded
class _EntryDelegate(QStyledItemDelegate):
    """Title with what was typed bold, what it is behind it, keys or the reason at the right."""

    def __init__(self, theme: Theme, model: _EntryModel, view: QListView) -> None:
        super().__init__(view)
        self._theme = theme
        self._model = model
        self._view = view

    @override
    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        height = _HEADER if self._model.entry(index.row()) is None else _ROW
        return QSize(100, round(height * text_scale(self._view)))

    @override
    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        color, font = self._theme.color, QFont(self._view.font())
        small = small_font(self._view)
        rect = option.rect.adjusted(_SIDE, 0, -_SIDE, 0)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.save()
        entry = self._model.entry(index.row())
        if entry is None:
            painter.setFont(small)
            painter.setPen(color(ColorRole.MUTED))
            painter.drawText(rect, middle, str(index.data()))
            painter.restore()
            return
        if index == self._view.currentIndex():
            painter.fillRect(option.rect, color(ColorRole.BLUEBG))
            bar_rect = QRect(option.rect.left(), option.rect.top(), 3, option.rect.height())
            painter.fillRect(bar_rect, color(ColorRole.BLUE))
        side = icon_size()
        icon_rect = QRect(rect.left(), rect.center().y() + 1 - side // 2, side, side)
        icon = entry.icon or self._theme.icon(_ICONS.get(entry.kind, "command"))
        mode = QIcon.Mode.Disabled if entry.reason else QIcon.Mode.Normal
        icon.paint(painter, icon_rect, mode=mode)
        painter.setFont(small)
        painter.setPen(color(ColorRole.MUTED))
        right = QFontMetrics(small).elidedText(
            entry.reason or entry.shortcut, Qt.TextElideMode.ElideRight, rect.width() // 2
        )
        painter.drawText(rect, middle | Qt.AlignmentFlag.AlignRight, right)
        room = rect.adjusted(side + _SIDE, 0, -QFontMetrics(small).horizontalAdvance(right) - 12, 0)
        x = self._paint_title(painter, room, entry, font)
        if entry.category and room.right() - x > _LEAST_ROOM:
            about = QFontMetrics(small).elidedText(
                entry.category, Qt.TextElideMode.ElideRight, room.right() - x - 10
            )
            painter.setFont(small)
            painter.setPen(color(ColorRole.MUTED))
            painter.drawText(room.adjusted(x - room.left() + 10, 0, 0, 0), middle, about)
        painter.restore()

    def _paint_title(self, painter: QPainter, room: QRect, entry: PaletteEntry, font: QFont) -> int:
        """Paint a title with what was typed bold; returns where it ends."""
        strong = QFont(font)
        strong.setWeight(QFont.Weight.DemiBold)
        painter.setPen(self._theme.color(ColorRole.MUTED if entry.reason else ColorRole.TEXT))
        x = room.left()
        for text, is_typed in parts_of(entry.title, self._model.pattern):
            used = strong if is_typed else font
            metrics, left = QFontMetrics(used), room.right() - x
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, left)
            painter.setFont(used)
            painter.drawText(
                QRect(x, room.top(), left, room.height()), Qt.AlignmentFlag.AlignVCenter, shown
            )
            x += metrics.horizontalAdvance(shown)
            if shown != text:
                break
        return x


def parts_of(title: str, pattern: str) -> list[tuple[str, bool]]:
    """Return the parts of a title, each with whether it was typed: all of it, or its words."""
    lowered = title.lower()
    typed = pattern.lower().strip()
    wanted = [typed] if typed in lowered else typed.split()
    is_typed = [False] * len(title)
    for word in filter(None, wanted):
        start = lowered.find(word)
        if start >= 0 and len(lowered) == len(title):
            is_typed[start : start + len(word)] = [True] * len(word)
    parts: list[tuple[str, bool]] = []
    for letter, marked in zip(title, is_typed, strict=True):
        if parts and parts[-1][1] is marked:
            parts[-1] = parts[-1][0] + letter, marked
        else:
            parts.append((letter, marked))
    return parts
