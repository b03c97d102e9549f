"""How the clock tree draws and edits the cells that are more than text."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPalette
from PySide6.QtWidgets import (
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)
from typing_extensions import override

from inspector.display_text import one_line
from inspector.vocabulary import Field

from ..models.clock_tree_columns import ClockColumn
from ..models.clock_tree_model import ClockTreeModel
from ..models.roles import Role
from ..models.standing import Standing, StandingKind
from ..theme import ColorRole
from ..widgets.glyphs import Glyph, glyph_icon

if TYPE_CHECKING:
    from PySide6.QtCore import QAbstractItemModel

    from ..theme import Theme

_GLYPHS = {
    StandingKind.RUNNING: (Glyph.PLAY, ColorRole.GOOD),
    StandingKind.HELD: (Glyph.HOLLOW_PLAY, ColorRole.MUTED_TEXT),
    StandingKind.STOPPED: (Glyph.HOLLOW_PAUSE, ColorRole.PAUSED),
    StandingKind.FROZEN: (Glyph.ZERO, ColorRole.PAUSED),
    StandingKind.PAUSED: (Glyph.PAUSE, ColorRole.LATE),
}
_GLYPH_SIZE = QSize(16, 16)
#: Room in front of a name for the sign, the fold mark and the margins.
SIGN_WIDTH = 38
#: What the style leaves free around a decoration and around the text behind it.
_STATE_MARGINS = 12


#: Names of members that have neither time nor rate reach over these columns.
SPANNED_COLUMNS = (ClockColumn.LOCAL_TIME, ClockColumn.RATE)


def is_spanned(view: QWidget | None, index: QModelIndex | QPersistentModelIndex) -> bool:
    """Return whether the name in a row of the tree may reach over time and rate.

    That is so for members that have neither, as long as the columns lie side by side.
    """
    model = index.model()
    if not isinstance(model, ClockTreeModel) or not isinstance(view, QTreeView):
        return False
    member = model.member(index)
    if member is None or Field.TIME in member.fields or Field.RATE in member.fields:
        return False
    header = view.header()
    return all(header.visualIndex(column) == column for column in SPANNED_COLUMNS)


def _reaches_over(view: QTreeView, index: QModelIndex | QPersistentModelIndex) -> bool:
    """Return whether a name is too long for its own cell."""
    model = index.model()
    assert isinstance(model, ClockTreeModel)
    member = model.member(index)
    if member is None:
        return False
    indented = SIGN_WIDTH + model.depth(model.node(index)) * view.indentation()
    width = view.fontMetrics().horizontalAdvance(one_line(member.name))
    return indented + width > view.columnWidth(ClockColumn.NAME)


class ClockNameDelegate(QStyledItemDelegate):
    """A clock's name behind a sign for what it does; a click on the sign toggles its pause."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Draw the signs in the colours of a theme."""
        on_selection = theme.palette().color(QPalette.ColorRole.HighlightedText)
        self._icons = {
            kind: glyph_icon(glyph, theme.color(role), on_selection)
            for kind, (glyph, role) in _GLYPHS.items()
        }

    @override
    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        standing = index.data(Role.STANDING)
        feature = QStyleOptionViewItem.ViewItemFeature
        option.features &= ~feature.HasCheckIndicator
        # Names that are alike differ in how they begin or in how they end.
        option.textElideMode = Qt.TextElideMode.ElideMiddle
        if isinstance(standing, Standing):
            option.features |= feature.HasDecoration
            option.decorationSize = _GLYPH_SIZE
            option.icon = self._icons[standing.kind]

    @override
    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        view = option.widget
        if is_spanned(view, index):
            assert isinstance(view, QTreeView)
            if _reaches_over(view, index):
                self.paint_part(painter, option, index, view)
                return
        super().paint(painter, option, index)

    def paint_part(
        self,
        painter: QPainter,
        cell: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
        view: QTreeView,
    ) -> None:
        """Paint as much of a name that reaches over other cells as is in one of them.

        Each cell paints its own part: any of them may be painted without the others.
        """
        option = QStyleOptionViewItem(cell)
        option.rect = view.visualRect(index)
        width = sum(view.columnWidth(column) for column in SPANNED_COLUMNS)
        option.rect.setRight(option.rect.right() + width)
        painter.save()
        painter.setClipRect(cell.rect, Qt.ClipOperation.IntersectClip)
        super().paint(painter, option, index)
        painter.restore()

    @override
    def editorEvent(
        self,
        event: QEvent,
        model: QAbstractItemModel,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> bool:
        """Toggle the pause when the sign is clicked; leave everything else to the view."""
        if not isinstance(event, QMouseEvent) or event.button() != Qt.MouseButton.LeftButton:
            return False
        if not self._is_on_glyph(event, option, index):
            return False
        if event.type() == QEvent.Type.MouseButtonRelease:
            is_checked = index.data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Checked
            wanted = Qt.CheckState.Unchecked if is_checked else Qt.CheckState.Checked
            model.setData(index, wanted, Qt.ItemDataRole.CheckStateRole)
        # A double click is two clicks, not a wish to expand the branch.
        return True

    def _is_on_glyph(
        self,
        event: QMouseEvent,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> bool:
        drawn = QStyleOptionViewItem(option)
        self.initStyleOption(drawn, index)
        rect = drawn.widget.style().subElementRect(
            QStyle.SubElement.SE_ItemViewItemDecoration, drawn, drawn.widget
        )
        # A little more than the sign itself, which is small for a pointer.
        rect.adjust(-2, -2, 2, 2)
        return rect.contains(event.position().toPoint())


class NumberDelegate(QStyledItemDelegate):
    """A number, or a part of the name beside it where that reaches over the cell."""

    @override
    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        view = option.widget
        if not is_spanned(view, index):
            super().paint(painter, option, index)
            return
        assert isinstance(view, QTreeView)
        if _reaches_over(view, index):
            names = view.itemDelegateForColumn(ClockColumn.NAME)
            if isinstance(names, ClockNameDelegate):
                name = index.sibling(index.row(), ClockColumn.NAME)
                names.paint_part(painter, option, name, view)
        elif option.state & QStyle.StateFlag.State_Selected:
            super().paint(painter, option, index)


class RateDelegate(NumberDelegate):
    """Edits a rate as people write rates; the model judges what was typed.

    Signals:
        rate_typed: Something else is in the editor: the editor, and the cell.
    """

    rate_typed = Signal(QLineEdit, QPersistentModelIndex)

    @override
    def createEditor(
        self,
        parent: QWidget,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> QWidget:
        editor = QLineEdit(parent)
        editor.setFrame(False)
        editor.setAlignment(Qt.AlignmentFlag.AlignRight)
        editor.setAccessibleName("Rate")
        editor.setToolTip("1, 0.25, 1/3, 25% or 2x")
        cell = QPersistentModelIndex(index)
        editor.textEdited.connect(partial(self._tell, editor, cell))
        return editor

    def _tell(self, editor: QLineEdit, cell: QPersistentModelIndex, _text: str) -> None:
        self.rate_typed.emit(editor, cell)

    @override
    def setEditorData(self, editor: QWidget, index: QModelIndex | QPersistentModelIndex) -> None:
        assert isinstance(editor, QLineEdit)
        # Live data must not overwrite what is being typed.
        if not editor.isModified():
            editor.setText(str(index.data(Qt.ItemDataRole.EditRole)))
            editor.selectAll()

    @override
    def setModelData(
        self,
        editor: QWidget,
        model: QAbstractItemModel,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        assert isinstance(editor, QLineEdit)
        if editor.isModified():
            model.setData(index, editor.text())


class StateDelegate(QStyledItemDelegate):
    """What a row does: all of it, or the gist of it where there is no room."""

    @override
    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        taken = option.decorationSize.width() + _STATE_MARGINS
        if option.fontMetrics.horizontalAdvance(option.text) <= option.rect.width() - taken:
            return
        standing = index.data(Role.STANDING)
        if isinstance(standing, Standing) and standing.brief:
            option.text = standing.brief
