"""The view of the clock tree: what is folded stays folded, however rows come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QModelIndex, QRect, Qt, Signal, Slot
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QAbstractItemView, QHeaderView
from typing_extensions import override

from inspector.vocabulary import MemberKind

from ..kit.guards import guarded
from ..kit.table.column_choices import ShorteningHeader
from ..kit.table.painted_views import PaintedTree
from ..kit.table.table_view import Arranging, without_choosing
from ..kit.texts.run_states import RunStateKind
from ..kit.theme import ColorRole
from .briefs import brief_text
from .glyphs import Glyph, glyph_icon
from .rows import SHORT_TITLES, ClockColumn, is_member, member_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QFocusEvent, QKeyEvent

    from ..kit.table.cell_painting import Cell
    from ..kit.table.columns import ColumnEnum
    from ..kit.theme import Theme
    from .model import ClockTreeModel

#: What each state looks like in front of a name.
_SIGNS: Final = {
    RunStateKind.RUNNING: (Glyph.PLAY, ColorRole.BAR),
    RunStateKind.HELD: (Glyph.HOLLOW_PLAY, ColorRole.MUTED),
    RunStateKind.STOPPED: (Glyph.HOLLOW_PAUSE, ColorRole.HATCH),
    RunStateKind.FROZEN: (Glyph.ZERO, ColorRole.HATCH),
    RunStateKind.PAUSED: (Glyph.PAUSE, ColorRole.HATCH),
}
#: More clocks than this are shown with their lower levels folded.
_EXPAND_ALL_UP_TO: Final = 2_000
#: Schedulers with more targets than this stay folded until they are opened.
_UNFOLD_TARGETS_UP_TO: Final = 12


@guarded
class ClockTreeView(Arranging, PaintedTree):
    """A tree whose rows can be worked without a mouse.

    Clocks are unfolded as they come, members only when the user unfolds them; what
    the user has folded stays so.

    Attributes:
        tree_header: The titles over the columns.

    Signals:
        rate_edit_requested: F2: edit the rate of the current row.
        pause_toggle_requested: Enter: pause or resume the current row.
    """

    rate_edit_requested = Signal()
    pause_toggle_requested = Signal()

    def __init__(self, model: ClockTreeModel) -> None:
        super().__init__()
        self._clocks = model
        self._folded: set[int] = set()
        self._unfolded: set[int] = set()
        self._is_filtered = False
        self.tree_header = ShorteningHeader(SHORT_TITLES, self)
        self.setHeader(self.tree_header)
        self.setAccessibleName("Clocks")
        self.setModel(model)
        self._set_up()
        model.modelReset.connect(self._restore_folds)
        model.rowsInserted.connect(self._unfold_inserted)
        self.expanded.connect(self._note_expanded)
        self.collapsed.connect(self._note_collapsed)

    def _set_up(self) -> None:
        self.setUniformRowHeights(True)
        self.setIndentation(12)
        self.setAllColumnsShowFocus(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.DoubleClicked)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.tree_header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.tree_header.setStretchLastSection(False)

    # ------------------------------------------------------------------ painting

    @override
    def depth_of(self, key: int) -> int:
        return self._clocks.depth(key)

    @override
    def row_index(self, key: int) -> QModelIndex:
        return self._clocks.index_of(key)

    @override
    def shorter(self, column: int, cell: Cell) -> Sequence[str]:
        if column in SHORT_TITLES and cell.text:
            return (brief_text(column, cell.text),)
        return cell.shorter

    def show_order(self, order: Sequence[ColumnEnum]) -> bool:
        """Keep texts off the numbers to their left; returns whether these are others now."""
        is_changed = any(self._clocks.show_order(order))
        if is_changed:
            self.tree_header.viewport().update()
            self.repaint_rows()
        return is_changed

    def sign_rect(self, node: int) -> QRect:
        name = self.cells_of(node)[ClockColumn.NAME]
        return self.cells.mark_rect(name, self.visualRect(self.row_index(node)))

    def set_signs(self, theme: Theme) -> None:
        on_selection = theme.palette().color(QPalette.ColorRole.HighlightedText)
        self.cells.set_signs(
            {
                kind: glyph_icon(glyph, theme.color(role), on_selection)
                for kind, (glyph, role) in _SIGNS.items()
            }
        )
        self.repaint_rows()

    # ------------------------------------------------------------------ filter

    def apply_filter(self, text: str) -> None:
        """Show only what a filter finds, unfolded; without one, the folds there were before."""
        self._is_filtered = bool(text)
        with self.arranging():
            self._clocks.set_filter(text)
            if text and self._clocks.shown_count <= _EXPAND_ALL_UP_TO:
                self.expandAll()
            elif not text:
                self._clocks.close_members()
                self._restore_folds()

    # ------------------------------------------------------------------ folds

    def forget_folds(self) -> None:
        self._folded.clear()
        self._unfolded.clear()

    def unfold_branch(self, node: int) -> None:
        """Unfold a row and everything below it."""
        self._folded.difference_update(self._clocks.shown_branch(node))
        self.expandRecursively(self._clocks.index_of(node))

    def fold_branch(self, node: int) -> None:
        self.collapse(self._clocks.index_of(node))

    @Slot()
    def unfold_all(self) -> None:
        self._folded.clear()
        self.expandAll()

    @Slot()
    def fold_all(self) -> None:
        top = self._clocks.shown_below(0)
        self._folded = {each for each in self._clocks.shown_branch(0) if each not in top}
        self.collapseAll()
        for node in top:
            self.expand(self._clocks.index_of(node))

    @Slot()
    def _restore_folds(self) -> None:
        model = self._clocks
        with self.arranging():
            if model.shown_count > _EXPAND_ALL_UP_TO:
                self.expandToDepth(1)
                for node in self._folded:
                    self.collapse(model.index_of(node))
                return
            for node in model.shown_branch(0):
                if self._is_open_at_first(node):
                    self.expand(model.index_of(node))

    def _is_open_at_first(self, node: int) -> bool:
        """Whether what is below a node is shown without being asked for."""
        if node in self._folded:
            return False
        if not is_member(node):
            return bool(self._clocks.shown_below(node))
        if node in self._unfolded:
            return True
        timeline = self._clocks.timeline
        member = None if timeline is None else timeline.members.by_id.get(member_of(node))
        return (
            member is not None
            and member.kind is MemberKind.SCHEDULER
            and 0 < len(member.children) <= _UNFOLD_TARGETS_UP_TO
        )

    @Slot(QModelIndex, int, int)
    def _unfold_inserted(self, parent: QModelIndex, first: int, last: int) -> None:
        model = self._clocks
        if model.shown_count > _EXPAND_ALL_UP_TO or self._is_filtered:
            return
        with self.arranging():
            above = model.node(parent)
            if above not in self._folded and not is_member(above):
                self.expand(parent)
            for row in range(first, last + 1):
                for node in model.shown_branch(model.node(model.index(row, 0, parent))):
                    if self._is_open_at_first(node):
                        self.expand(model.index_of(node))

    @Slot(QModelIndex)
    def _note_expanded(self, index: QModelIndex) -> None:
        if not self.is_arranging:
            node = self._clocks.node(index)
            self._folded.discard(node)
            if is_member(node):
                self._unfolded.add(node)

    @Slot(QModelIndex)
    def _note_collapsed(self, index: QModelIndex) -> None:
        if self.is_arranging:
            return
        node = self._clocks.node(index)
        self._folded.add(node)
        self._unfolded.discard(node)
        if is_member(node) and not self._is_filtered:
            with self.arranging():
                self._clocks.close_member(node)

    # ------------------------------------------------------------------ keyboard

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        with without_choosing(self):
            super().focusInEvent(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Turn F2 and Enter into requests; an open editor passes its own Enter on to here."""
        if self.state() == QAbstractItemView.State.EditingState:
            super().keyPressEvent(event)
        elif event.key() == Qt.Key.Key_F2:
            self.rate_edit_requested.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.pause_toggle_requested.emit()
        else:
            super().keyPressEvent(event)
