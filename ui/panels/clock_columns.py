"""The widths of the clock tree's columns: names and states share what the numbers leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, Qt, Slot
from typing_extensions import override

from ..models.clock_tree_columns import ClockColumn
from .clock_delegates import SIGN_WIDTH, SPANNED_COLUMNS, is_spanned

if TYPE_CHECKING:
    from PySide6.QtWidgets import QTreeView

    from ..models.clock_tree_model import ClockTreeModel

#: The widest text that a column shows without cutting it off.
_SAMPLES: Final = {
    ClockColumn.LOCAL_TIME: "0:00:00.000",
    ClockColumn.RATE: "0.0000",
    ClockColumn.EFFECTIVE_RATE: "0.0000",
    ClockColumn.STATE: "stopped by “enemies” (paused by you",
    ClockColumn.PENDING: "000000",
    ClockColumn.NEXT_DUE: "000.0 ms",
}
#: What can be read of every state, however narrow the panel: who or what it is about.
_SHORTEST_STATE: Final = "“game” paused"
_NARROWEST_NAMES: Final = 100
_WIDEST_NAMES: Final = 240
#: Names measured to find the width of their column.
_NAMES_MEASURED: Final = 300
_MARGIN: Final = 12


class ClockColumns(QObject):
    """Keeps names, times, rates and states in view while there is room for all of them.

    Names take what they need. What the numbers leave over is for the state, so that it
    ends at the border of the panel; when that is too little, names give way first. What
    was cut off is in the tooltips. Columns that somebody has dragged stay as they are.
    """

    def __init__(self, view: QTreeView, model: ClockTreeModel) -> None:
        """Set the widths of a view, and whenever it is resized.

        Args:
            view: The tree; already shows the model.
            model: The clocks.
        """
        super().__init__(view)
        self._view = view
        self._model = model
        self._names_width = _NARROWEST_NAMES
        self._measured = (-1, -1, -1)
        self._by_hand: set[int] = set()
        self._is_arranging = False
        self._wanted: dict[int, int] = {}
        metrics = view.fontMetrics()
        for column, sample in _SAMPLES.items():
            title = str(model.headerData(column, Qt.Orientation.Horizontal))
            widest = max(metrics.horizontalAdvance(sample), metrics.horizontalAdvance(title))
            self._wanted[column] = widest + _MARGIN
        self._shortest_state = metrics.horizontalAdvance(_SHORTEST_STATE) + _MARGIN
        self._set_widths(self._wanted)
        view.header().sectionResized.connect(self._note_resized)
        view.expanded.connect(self.fit)
        view.viewport().installEventFilter(self)

    def start_anew(self) -> None:
        """Forget the names of another session."""
        self._names_width = _NARROWEST_NAMES
        self._measured = (-1, -1, -1)

    @Slot()
    def fit(self) -> None:
        """Take the names that are shown now into account; their column only ever grows."""
        model, metrics = self._model, self._view.fontMetrics()
        timeline = model.timeline
        if timeline is None:
            return
        versions = timeline.structure_version, timeline.members.structure_version
        measured = (*versions, model.shown_count)
        if measured == self._measured:
            return
        self._measured = measured
        indentation = self._view.indentation()
        numbers = sum(self._view.columnWidth(column) for column in SPANNED_COLUMNS)
        widest = self._names_width
        for node in model.shown_branch(0)[:_NAMES_MEASURED]:
            name = str(model.index_of(node).data())
            width = metrics.horizontalAdvance(name) + (model.depth(node) * indentation)
            if is_spanned(self._view, model.index_of(node)):
                width -= numbers
            widest = max(widest, width + SIGN_WIDTH)
        self._names_width = min(widest, _WIDEST_NAMES)
        self._arrange()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Share out the room anew when there is more or less of it."""
        if event.type() == QEvent.Type.Resize and watched is self._view.viewport():
            self._arrange()
        return False

    def _arrange(self) -> None:
        view, wanted = self._view, self._wanted
        taken = {
            column: view.columnWidth(column) if column in self._by_hand else width
            for column, width in wanted.items()
        }
        numbers = taken[ClockColumn.LOCAL_TIME] + taken[ClockColumn.RATE]
        rest = view.viewport().width() - numbers
        names, shortest = self._names_width, self._shortest_state
        if names + shortest > rest:
            names = max(_NARROWEST_NAMES, rest - shortest)
        if ClockColumn.NAME in self._by_hand:
            names = view.columnWidth(ClockColumn.NAME)
        state = max(shortest, min(rest - names, wanted[ClockColumn.STATE]))
        self._set_widths({ClockColumn.NAME: names, ClockColumn.STATE: state})

    def _set_widths(self, widths: dict[int, int]) -> None:
        was_arranging, self._is_arranging = self._is_arranging, True
        for column, width in widths.items():
            if column not in self._by_hand and self._view.columnWidth(column) != width:
                self._view.setColumnWidth(column, width)
        self._is_arranging = was_arranging

    @Slot(int, int, int)
    def _note_resized(self, column: int, _old: int, _new: int) -> None:
        if not self._is_arranging:
            self._by_hand.add(column)
            self._arrange()
