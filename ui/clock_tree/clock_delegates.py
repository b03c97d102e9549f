"""What can be done in the cells of the clock tree: pause by the sign, edit the rate."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QMargins,
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QLineEdit, QStyledItemDelegate, QStyleOptionViewItem, QWidget
from typing_extensions import override

from ..kit.guards import guarded
from ..kit.table.cell_painting import SIGN_SIZE
from .view import ClockTreeView

#: Pixels around a sign that count as the sign, which is small for a pointer.
_NEAR = 2
_LEAST_SIZE = SIGN_SIZE.grownBy(QMargins(0, 1, 0, 1))


@guarded
class SignDelegate(QStyledItemDelegate):
    """A click on the sign in front of a name toggles its pause."""

    def __init__(self, view: ClockTreeView) -> None:
        super().__init__(view)
        self._view = view

    @override
    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Leave room for the sign, which may be higher than the text."""
        return super().sizeHint(option, index).expandedTo(_LEAST_SIZE)

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
        near = self._view.sign_rect(index.internalId()).adjusted(-_NEAR, -_NEAR, _NEAR, _NEAR)
        if not near.contains(event.position().toPoint()):
            return False
        if event.type() == QEvent.Type.MouseButtonRelease:
            is_checked = index.data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Checked
            wanted = Qt.CheckState.Unchecked if is_checked else Qt.CheckState.Checked
            model.setData(index, wanted, Qt.ItemDataRole.CheckStateRole)
        # A double click is two clicks, not a wish to expand the branch.
        return True


@guarded
class RateDelegate(QStyledItemDelegate):
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
