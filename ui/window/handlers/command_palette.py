"""The command palette: everything that can be done, found by typing a part of its name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, Final

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
    Signal,
    Slot,
)
from PySide6.QtGui import QIcon, QKeyEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QLabel,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.display_text import counted
from inspector.sessions.scene import built_in_scenes

from ...actions.actions import ActionSet
from ...actions.descriptions import ActionDescription
from ...actions.menus import MenuId
from ...kit.guards import guarded
from ..settings import Settings

_ROW_PADDING: Final = 6
_WIDTH: Final = 640
_BELOW_TOP: Final = 64
_MOST_ROWS: Final = 10
_ENTRY_ROLE: Final = Qt.ItemDataRole.UserRole

_WORD_START_BONUS: Final = 12
_ADJACENT_BONUS: Final = 8
_PREFIX_BONUS: Final = 10
_CATEGORY_PENALTY: Final = 60
_SELECTION_BONUS: Final = 40
#: Would only open what is open already.
_LEFT_OUT = frozenset({"palette"})


class EntryKind(IntEnum):
    """What an entry is; of those that match as well, the first kind comes first."""

    COMMAND = 0
    PANEL = 1
    SETTING = 2
    SCENE = 3


class PaletteEntry(Struct, frozen=True):
    """One line of the palette.

    Attributes:
        id: What is reported when it is chosen.
        title: Its name.
        category: Where else it is found: the menu.
        shortcut: Its keys, or empty.
        reason: Why it cannot be chosen now, or empty.
        icon: Its icon, or none.
        concerns_selection: Whether it is done to what is selected.
        kind: What it is.
        name: What it shows or opens, which its title has after a verb, or empty.
    """

    id: str
    title: str
    category: str = ""
    shortcut: str = ""
    reason: str = ""
    icon: QIcon | None = None
    concerns_selection: bool = False
    kind: EntryKind = EntryKind.COMMAND
    name: str = ""


def match_score(pattern: str, text: str) -> int | None:
    """Return how well ``pattern`` is found in ``text``, ``None`` if it is not.

    The letters must come in this order, with anything in between; blanks in the
    pattern do not count. Starts of words and unbroken runs count more. Of all ways
    to find the letters the best one counts.
    """
    letters = pattern.lower().replace(" ", "")
    if not letters:
        return 0
    lowered = text.lower()
    # The best score with the letters so far, by the place of the last of them.
    best = {
        place: _place_bonus(text, place) - place // 4
        for place, found in enumerate(lowered)
        if found == letters[0]
    }
    for letter in letters[1:]:
        best = _continued(best, letter, lowered, text)
    return max(best.values()) * 4 - len(text) if best else None


def _continued(best: dict[int, int], letter: str, lowered: str, text: str) -> dict[int, int]:
    """Return the best scores with one letter more."""
    following: dict[int, int] = {}
    best_before: int | None = None
    for place, found in enumerate(lowered):
        if found == letter and best_before is not None:
            bonus = _place_bonus(text, place)
            score = best_before + bonus
            if place - 1 in best:
                score = max(score, best[place - 1] + max(bonus, _ADJACENT_BONUS))
            following[place] = score
        if place in best:
            value = best[place]
            best_before = value if best_before is None else max(best_before, value)
    return following


def _place_bonus(text: str, place: int) -> int:
    if place == 0:
        return _WORD_START_BONUS + _PREFIX_BONUS
    return _WORD_START_BONUS if not text[place - 1].isalnum() else 1


def _words_found(pattern: str, entry: PaletteEntry) -> int:
    """Return how well the pattern is found as it was typed.

    4 if it is the whole title or name, 3 at the beginning of one of them, 2 at a word of the
    title, 1 at a word of the category, 0 nowhere.
    """
    typed = pattern.strip().lower()
    if typed in (entry.title.lower(), entry.name.lower()):
        return 4
    is_begin = any(text.lower().startswith(typed) for text in (entry.title, entry.name))
    if is_begin:
        return 3
    wanted = f" {typed}"
    for found, text in ((2, entry.title), (1, entry.category)):
        if wanted in f" {text.lower()}":
            return found
    return 0


def matching_entries(pattern: str, entries: Iterable[PaletteEntry]) -> list[PaletteEntry]:
    """Return the entries that ``pattern`` finds, the best first.

    Without a pattern all are returned as they are, except that what cannot be chosen now comes
    last. With one, the order is by whether it can be chosen, then by where it is found as it was
    typed, then by :class:`EntryKind`, then by score; in this, what is done to the selection counts
    a little more.
    """
    if not pattern.strip():
        return sorted(entries, key=lambda entry: bool(entry.reason))
    scored: list[tuple[tuple[bool, int, int, int], PaletteEntry]] = []
    for entry in entries:
        score = match_score(pattern, entry.title)
        if score is None:
            whole = match_score(pattern, f"{entry.category} {entry.title}")
            score = None if whole is None else whole - _CATEGORY_PENALTY
        if score is not None:
            if entry.concerns_selection:
                score += _SELECTION_BONUS
            words = _words_found(pattern, entry)
            rank = (not entry.reason, words, -entry.kind if words else 0, score)
            scored.append((rank, entry))
    scored.sort(key=lambda item: item[0], reverse=True)
    return [entry for _rank, entry in scored]


@guarded
class CommandPalette(QDialog):
    """Lists entries; typing filters, arrows move, Enter chooses, Escape closes.

    Signals:
        chosen: The id of the entry that was chosen; the palette is closed by then.

    Attributes:
        line: Where the pattern is typed.
        view: The list.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("command_palette")
        self.setWindowTitle("Commands")
        self.setWindowFlags(Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
        self.line = QLineEdit()
        self.line.setPlaceholderText("Type part of a command name")
        self.line.setAccessibleName("Command to find")
        self.line.setClearButtonEnabled(True)
        self.model = _EntryModel(self)
        self.view = QListView()
        self.view.setAccessibleName("Commands")
        self.view.setModel(self.model)
        self.view.setItemDelegate(_EntryDelegate(self.view))
        self.view.setUniformItemSizes(True)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.hint = QLabel()
        self.hint.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.hint.setTextFormat(Qt.TextFormat.PlainText)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.setSpacing(6)
        layout.addWidget(self.line)
        layout.addWidget(self.view, 1)
        layout.addWidget(self.hint)
        self.line.installEventFilter(self)
        self.line.textChanged.connect(self._filter)
        self.view.clicked.connect(self._choose)
        self.view.activated.connect(self._choose)
        self.view.selectionModel().currentChanged.connect(self._show_hint)

    def open_with(self, entries: Sequence[PaletteEntry]) -> None:
        self.model.all_entries = tuple(entries)
        self.line.clear()
        self._filter("")
        self._place()
        self.open()
        self.line.setFocus()

    @Slot(str)
    def _filter(self, pattern: str) -> None:
        self.model.show_matching(pattern)
        self.view.setCurrentIndex(self.model.index(0))
        self._show_hint(self.view.currentIndex())

    @Slot(QModelIndex)
    def _choose(self, index: QModelIndex) -> None:
        entry = index.data(_ENTRY_ROLE)
        # A click can come as an activation too.
        if entry is None or entry.reason or not self.isVisible():
            return
        self.accept()
        self.chosen.emit(entry.id)

    @Slot(QModelIndex)
    def _show_hint(self, index: QModelIndex) -> None:
        entry = index.data(_ENTRY_ROLE)
        if entry is None:
            self.hint.setText("No command matches.")
        elif entry.reason:
            self.hint.setText(f"Unavailable: {entry.reason}.")
        else:
            count = self.model.rowCount()
            commands = counted(count, "command")
            self.hint.setText(f"{commands} · Enter runs it, Escape closes")

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a border: there is no title bar to set it off from the window below."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
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
            case _:
                return False
        return True

    def _place(self) -> None:
        window = self.parentWidget()
        rows = min(_MOST_ROWS, max(1, self.model.rowCount()))
        row_height = self.view.sizeHintForRow(0) if self.model.rowCount() else 28
        frame = 2 * self.view.frameWidth()
        spare = self.line.sizeHint().height() + self.hint.sizeHint().height() + 28
        height = rows * row_height + frame + spare
        width = _WIDTH
        if window is not None:
            width = min(_WIDTH, window.width() - 40)
            height = min(height, window.height() - _BELOW_TOP - 16)
        self.resize(width, height)
        if window is not None:
            corner = window.mapToGlobal(QPoint((window.width() - width) // 2, _BELOW_TOP))
            self.move(corner)


@guarded
class _EntryModel(QAbstractListModel):
    """The entries that match."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.all_entries: tuple[PaletteEntry, ...] = ()
        self._shown: list[PaletteEntry] = []

    def show_matching(self, pattern: str) -> None:
        self.beginResetModel()
        self._shown = matching_entries(pattern, self.all_entries)
        self.endResetModel()

    @override
    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._shown)

    @override
    def data(
        self,
        index: QModelIndex | QPersistentModelIndex,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        value: object = None
        if index.isValid():
            entry = self._shown[index.row()]
            match role:
                case Qt.ItemDataRole.DisplayRole:
                    value = entry.title
                case Qt.ItemDataRole.AccessibleDescriptionRole:
                    value = f"{entry.category} {entry.shortcut} {entry.reason}".strip()
                case Qt.ItemDataRole.ToolTipRole:
                    value = f"Unavailable: {entry.reason}." if entry.reason else None
                case _ if role == _ENTRY_ROLE:
                    value = entry
        return value


@guarded
class _EntryDelegate(QStyledItemDelegate):
    """Title on the left, menu behind it, keys or the reason on the right."""

    @override
    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return QSize(100, option.fontMetrics.height() + 2 * _ROW_PADDING)

    @override
    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        drawn = QStyleOptionViewItem(option)
        self.initStyleOption(drawn, index)
        entry: PaletteEntry = index.data(_ENTRY_ROLE)
        widget = drawn.widget
        style = widget.style()
        drawn.text = ""
        drawn.icon = QIcon()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, drawn, painter, widget)
        is_selected = bool(drawn.state & QStyle.StateFlag.State_Selected)
        palette = drawn.palette
        text_role = QPalette.ColorRole.HighlightedText if is_selected else QPalette.ColorRole.Text
        muted_role = text_role if is_selected else QPalette.ColorRole.PlaceholderText
        rect = drawn.rect.adjusted(8, 0, -8, 0)
        painter.save()
        icon_rect = QRect(rect.left(), rect.center().y() - 9, 18, 18)
        if entry.icon is not None:
            mode = QIcon.Mode.Selected if is_selected else QIcon.Mode.Normal
            entry.icon.paint(painter, icon_rect, mode=QIcon.Mode.Disabled if entry.reason else mode)
        left = icon_rect.right() + 8
        metrics = drawn.fontMetrics
        right_text = entry.reason or entry.shortcut
        # A pixel more: a text as wide as its room is cut off where its width is a fraction.
        right_width = min(metrics.horizontalAdvance(right_text) + 1, rect.width() // 2)
        painter.setPen(palette.color(muted_role))
        middle = Qt.AlignmentFlag.AlignVCenter
        elide = Qt.TextElideMode.ElideRight
        painter.drawText(
            QRect(rect.right() - right_width, rect.top(), right_width, rect.height()),
            middle | Qt.AlignmentFlag.AlignRight,
            metrics.elidedText(right_text, elide, right_width),
        )
        room = QRect(left, rect.top(), rect.right() - right_width - 12 - left, rect.height())
        painter.setPen(palette.color(muted_role if entry.reason else text_role))
        title = metrics.elidedText(entry.title, elide, room.width())
        painter.drawText(room, middle, title)
        used = metrics.horizontalAdvance(title) + 10
        if entry.category and used + 40 < room.width():
            painter.setPen(palette.color(muted_role))
            rest = room.adjusted(used, 0, 0, 0)
            painter.drawText(rest, middle, metrics.elidedText(entry.category, elide, rest.width()))
        painter.restore()


def palette_entries(
    actions: ActionSet, settings: Settings
) -> tuple[list[PaletteEntry], dict[str, Path]]:
    """Return the entries, and the files of those that open a scene."""
    entries = [
        PaletteEntry(
            id=action.description.id,
            title=_title(action.description),
            category=_category(action.description),
            shortcut=" or ".join(action.description.shortcut_texts),
            reason=action.reason,
            icon=action.icon() if action.description.icon else None,
            concerns_selection=action.description.concerns_selection,
            kind=_kind(action.description),
            name=action.description.plain_title if action.description.menu is MenuId.PANELS else "",
        )
        for action in actions.by_id.values()
        if action.description.id not in _LEFT_OUT
    ]
    paths: dict[str, Path] = {}
    for scene in built_in_scenes():
        entry_id = f"scene:{scene.path}"
        paths[entry_id] = scene.path
        entries.append(_opening(entry_id, scene.title, "Built-in scenes"))
    for text in settings.recent_scenes:
        entry_id = f"scene:{text}"
        if entry_id not in paths:
            paths[entry_id] = Path(text)
            entries.append(_opening(entry_id, Path(text).name, "Recent scenes"))
    return entries, paths


def _opening(entry_id: str, name: str, category: str) -> PaletteEntry:
    return PaletteEntry(entry_id, f"Open {name}", category, kind=EntryKind.SCENE, name=name)


def _title(description: ActionDescription[Any]) -> str:
    is_panel = description.choice is not None and description.menu is MenuId.PANELS
    return f"Show {description.plain_title}" if is_panel else description.full_title


def _kind(description: ActionDescription[Any]) -> EntryKind:
    if description.choice is None:
        return EntryKind.COMMAND
    return EntryKind.PANEL if description.menu is MenuId.PANELS else EntryKind.SETTING


def _category(description: ActionDescription[Any]) -> str:
    """Return where an action stands, as far as its title does not say so."""
    menu, parent = description.menu, description.menu.parent
    if description.choice is not None:
        return "" if parent is None else parent.plain_title
    return menu.plain_title if parent is None else f"{parent.plain_title} › {menu.plain_title}"
