"""The keys page: every action with its keys, made from the same data as the menus."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Slot
from PySide6.QtGui import QFont, QPalette
from PySide6.QtWidgets import (
    QDialog,
    QHeaderView,
    QLabel,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)
from typing_extensions import override

from inspector.display_text import one_line

from ...actions.descriptions import ActionDescription
from ...actions.menus import MenuId
from ...kit.filter_line import FilterLine
from ...kit.guards import guarded
from ...kit.labels import EmptyNotice
from ...kit.layouts import fill_dialog

#: Pixels that Fusion leaves free on both sides of the text in a cell, and above and below it.
_BESIDE_TEXT: Final = 6
_ABOVE_TEXT: Final = 4


class KeysPage(QDialog):
    """Lists actions by menu; can be filtered by any word in it."""

    def __init__(
        self, descriptions: Iterable[ActionDescription[Any]], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keys")
        self.setObjectName("keys_page")
        self.filter_line = FilterLine("Filter keys")
        self.tree = QTreeWidget()
        self.tree.setAccessibleName("Actions and their keys")
        self.tree.setColumnCount(3)
        self.tree.setHeaderLabels(["Action", "Keys", "What it does"])
        self.tree.setRootIsDecorated(False)
        self.tree.setWordWrap(True)
        self.tree.setItemsExpandable(False)
        self.tree.setAlternatingRowColors(True)
        self.tree.setIndentation(12)
        self.tree.setItemDelegate(_WrappedText(self.tree))
        self.notice = EmptyNotice(self.tree)
        self._fill(descriptions)
        header = self.tree.header()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        self.tree.resizeColumnToContents(0)
        self.tree.resizeColumnToContents(1)
        note = QLabel(
            "While you type in a field, keys without Ctrl are off, including Space. Enter applies "
            "a rate or a frame rate and returns the focus to where it was; Escape discards the "
            "change. In lists, Home, End and Space act on the list."
        )
        note.setWordWrap(True)
        note.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        fill_dialog(self, self.filter_line, (self.tree, 1), note)
        header.sectionResized.connect(self.tree.scheduleDelayedItemsLayout)
        self.filter_line.filter_changed.connect(self.show_matching)
        self.filter_line.left_downwards.connect(self.tree.setFocus)
        self.resize(820, 620)

    def _fill(self, descriptions: Iterable[ActionDescription[Any]]) -> None:
        tops: dict[MenuId, QTreeWidgetItem] = {}
        bold = QFont(self.font())
        bold.setBold(True)
        by_menu = sorted(descriptions, key=lambda each: list(MenuId).index(each.menu))
        for each in by_menu:
            top = tops.get(each.menu)
            if top is None:
                parent = each.menu.parent
                title = each.menu.plain_title
                if parent is not None:
                    title = f"{parent.plain_title} › {title}"
                top = tops[each.menu] = QTreeWidgetItem(self.tree, [title])
                top.setFont(0, bold)
                top.setFirstColumnSpanned(True)
                top.setFlags(Qt.ItemFlag.ItemIsEnabled)
                top.setExpanded(True)
            keys = "  or  ".join(each.shortcut_texts)
            item = QTreeWidgetItem(top, [each.plain_title, keys, each.tip])
            for column in range(self.tree.columnCount()):
                item.setTextAlignment(column, Qt.AlignmentFlag.AlignTop)

    @Slot(str)
    def show_matching(self, text: str) -> None:
        """Show the actions in whose line ``text`` occurs."""
        wanted = text.lower()
        any_shown = False
        for number in range(self.tree.topLevelItemCount()):
            top = self.tree.topLevelItem(number)
            assert top is not None
            shown = 0
            for row in range(top.childCount()):
                item = top.child(row)
                assert item is not None
                line = " ".join(item.text(column) for column in range(3)).lower()
                item.setHidden(wanted not in line)
                shown += wanted in line
            top.setHidden(not shown)
            any_shown |= shown > 0
        self.notice.set_text("" if any_shown else f"No key or action contains “{one_line(text)}”.")


@guarded
class _WrappedText(QStyledItemDelegate):
    """Makes rows as high as their text takes in the width of its column.

    A tree wraps text by itself, but only where a row is high enough for it.
    """

    def __init__(self, tree: QTreeWidget) -> None:
        super().__init__(tree)
        self._tree = tree

    @override
    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        usual = super().sizeHint(option, index)
        if index.column() != self._tree.columnCount() - 1:
            return QSize(usual.width(), usual.height() + _ABOVE_TEXT)
        width = self._tree.columnWidth(index.column()) - _BESIDE_TEXT
        flags = Qt.TextFlag.TextWordWrap
        text = str(index.data())
        taken = option.fontMetrics.boundingRect(QRect(0, 0, width, 0), flags, text)
        return QSize(usual.width(), taken.height() + _ABOVE_TEXT)
