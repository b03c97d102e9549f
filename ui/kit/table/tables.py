"""What all tables of the window have in common: how they look, select and leave the focus."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar, cast

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPoint,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QTableView,
)
from typing_extensions import override

from ..guards import guarded

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from PySide6.QtWidgets import QLabel, QStyleOptionHeader, QToolButton, QWidget

#: A column of a model: an ``IntEnum``.
ColumnT = TypeVar("ColumnT", bound=int)

#: Pixels of a row above and below its text, together.
_ROW_PADDING = 6

#: Pixels of a cell beside its text.
_CELL_PADDING = 14

#: Pixels of a title beside its text and the margins of the style.
_TITLE_PADDING = 4


def set_up_table(view: QTableView, *, selects_many: bool = False) -> None:
    """Make whole rows selectable, all of one height, without a grid; Tab leaves the table.

    Args:
        view: The table; what its cells let a user edit is set by its owner.
        selects_many: Whether several rows can be selected at once.
    """
    modes = QAbstractItemView.SelectionMode
    view.setWordWrap(False)
    view.setShowGrid(False)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(modes.ExtendedSelection if selects_many else modes.SingleSelection)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setTabKeyNavigation(False)
    # Rows are placed by reckoning only while all have the same, fixed height.
    rows = view.verticalHeader()
    rows.setVisible(False)
    rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    rows.setMinimumSectionSize(8)
    rows.setDefaultSectionSize(view.fontMetrics().height() + _ROW_PADDING)
    view.horizontalHeader().setHighlightSections(False)


@guarded
class RowMenus(QObject):
    """Asks the owner of an item view for context menus, from the mouse and from the keyboard.

    Qt says of a menu from the keyboard where the current row is within the view, and of
    one from the mouse where the pointer is within what lies below the titles; one slot for
    both takes the row below the current one.

    Signals:
        requested: A menu is wanted: the cell it is about, invalid for none, and where on
            the screen.
    """

    requested = Signal(QModelIndex, QPoint)

    def __init__(self, view: QAbstractItemView) -> None:
        """Watch a view, which owns this."""
        super().__init__(view)
        self._view = view
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._ask_at)
        view.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the requests of the keyboard before they become places."""
        if (
            event.type() != QEvent.Type.ContextMenu
            or not isinstance(event, QContextMenuEvent)
            or event.reason() != QContextMenuEvent.Reason.Keyboard
        ):
            return False
        event.accept()
        view, index = self._view, self._view.currentIndex()
        place = QPoint(0, 0)
        if index.isValid():
            view.scrollTo(index)
            place = view.visualRect(index).bottomLeft()
            place.setX(max(place.x(), 0))
        self.requested.emit(index, view.viewport().mapToGlobal(place))
        return True

    @Slot(QPoint)
    def _ask_at(self, position: QPoint) -> None:
        view = self._view
        self.requested.emit(view.indexAt(position), view.viewport().mapToGlobal(position))


class Arranging:
    """Mixed into an item view whose rows and marks also change without the user.

    Attributes:
        is_arranging: Whether they do so now.
    """

    is_arranging = False

    @contextmanager
    def arranging(self) -> Iterator[None]:
        """Let rows and marks change: neither a choice of the user nor a reason to scroll."""
        view = cast("QAbstractItemView", self)  # a base of Qt for both would be one too many
        was_arranging, self.is_arranging = self.is_arranging, True
        view.setAutoScroll(False)
        try:
            yield
        finally:
            view.setAutoScroll(True)
            self.is_arranging = was_arranging


def sort_by_click(view: QTableView) -> None:
    """Sort by the header that is clicked; a third click brings back the model's own order."""
    header = view.horizontalHeader()
    header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
    header.setSortIndicatorClearable(True)
    view.setSortingEnabled(True)


def size_columns(view: QTableView, samples: Mapping[ColumnT, str]) -> None:
    """Make columns wide enough for their titles and for a text.

    Args:
        view: The table, with its model; after :func:`sort_by_click` if that is called.
        samples: By column, the widest text that is not to be cut off.
    """
    model, metrics = view.model(), view.fontMetrics()
    mark = " ▾ " if view.horizontalHeader().isSortIndicatorClearable() else ""
    for column, sample in samples.items():
        title = str(model.headerData(column, Qt.Orientation.Horizontal)) + mark
        widest = max(metrics.horizontalAdvance(sample), metrics.horizontalAdvance(title))
        view.setColumnWidth(column, widest + _CELL_PADDING)


@guarded
class ShorteningHeader(QHeaderView):
    """Titles over columns; where one has no room, a shorter one instead, or its beginning."""

    def __init__(self, short_titles: Mapping[ColumnT, str], parent: QWidget | None = None) -> None:
        """Make a header of columns that can be dragged to other places.

        Args:
            short_titles: By column, what is said where there is no room for the title.
            parent: Owner in the sense of Qt.
        """
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._short_titles = {int(column): title for column, title in short_titles.items()}
        self.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setSectionsMovable(True)

    def width_for(self, title: str) -> int:
        """Return how many pixels a section needs to show a title."""
        margin = self.style().pixelMetric(QStyle.PixelMetric.PM_HeaderMargin, None, self)
        return self.fontMetrics().horizontalAdvance(title) + 2 * margin + _TITLE_PADDING

    def shown_title(self, section: int) -> str:
        """Return the title of a column that is shown in the room it has."""
        title = str(self.model().headerData(section, self.orientation()))
        if self.width_for(title) <= self.sectionSize(section):
            return title
        return self._short_titles.get(section, title)

    @override
    def initStyleOptionForIndex(self, option: QStyleOptionHeader, logicalIndex: int) -> None:
        super().initStyleOptionForIndex(option, logicalIndex)
        if logicalIndex in self._short_titles:
            option.text = self.shown_title(logicalIndex)


def share_room(
    room: int,
    least: Mapping[int, int],
    wishes: Iterable[tuple[int, int]],
    elastic: Collection[int],
) -> dict[int, int]:
    """Share out the width of a table among its columns.

    Args:
        room: Pixels for all columns; with less than what they need at least, the rest is
            to be reached by scrolling.
        least: What each column has in any case.
        wishes: Columns and what each would like to have, the most important first; a
            column may come again. Those that are not in ``least`` get nothing.
        elastic: Columns for which a part of a wish is better than nothing.

    Returns:
        The widths by column.
    """
    widths = dict(least)
    rest = room - sum(widths.values())
    for column, wish in wishes:
        more = wish - widths.get(column, wish)
        if column in elastic:
            more = min(more, rest)
        if 0 < more <= rest:
            widths[column] += more
            rest -= more
    return widths


def say(widget: QLabel | QToolButton, text: str) -> None:
    """Set a text that changes often, with more room only when it needs more than ever.

    A text of another width would have the whole panel laid out and painted again.
    """
    if text == widget.text():
        return
    widget.setText(text)
    needed = widget.sizeHint()
    if needed.width() > widget.minimumWidth() or needed.height() != widget.minimumHeight():
        # Of a widget whose size is fixed, no layout asks anything when its text changes.
        widget.setFixedSize(needed)
