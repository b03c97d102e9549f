"""The widths of the clock tree's columns: all of them in view together while that can be."""

from __future__ import annotations

from collections.abc import Collection, MutableMapping, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtGui import QMouseEvent
from typing_extensions import override

from ..kit.guards import guarded
from ..kit.paced_refresh import single_shot
from ..kit.table.cell_painting import ZEROS, Cell
from ..kit.table.column_choices import ColumnChoices, share_room
from .rows import LIVE_COLUMNS, SHORT_TITLES, SPANNED, ClockColumn
from .view import ClockTreeView

#: There is room for the first state in any case, for the others as far as there is, in turn.
_LEAST_STATE: Final = "running"
_NARROW_STATE: Final = "in late update"
_USUAL_STATE: Final = "“particle system” paused"
_LONG_STATE: Final = "stopped by “enemies” (paused by you"
#: There is room for the first of these in the column of names in any case, for the second before
#: states, whatever the length of the names.
_LEAST_NAME: Final = "player moves"
_NARROW_NAME: Final = "a player that moves"
#: Pixels beside a state, and beside everything else more than what is left free there.
_STATE_MARGINS: Final = 20
_SPARE: Final = 2
#: So much is taken from names when no column is left to go.
_SLIGHT: Final = "e"
#: Titles are written out in this order, as far as there is room.
_TITLES_IN_TURN: Final = (
    ClockColumn.PENDING,
    ClockColumn.NEXT_DUE,
    ClockColumn.LOCAL_TIME,
    ClockColumn.RATE,
    ClockColumn.EFFECTIVE_RATE,
)
#: Columns are left out in this order where there is no room for all.
_LEFT_OUT_IN_TURN: Final = (
    ClockColumn.EFFECTIVE_RATE,
    ClockColumn.NEXT_DUE,
    ClockColumn.PENDING,
    ClockColumn.LOCAL_TIME,
    ClockColumn.STATE,
)
#: These rather than that states are cut.
_LESS_THAN_STATES: Final = _LEFT_OUT_IN_TURN[:3]
_ELASTIC: Final = frozenset({ClockColumn.NAME, ClockColumn.STATE})


@guarded
class ClockColumns(ColumnChoices):
    """Shares out the width of the panel, so that as much as possible can be read.

    Names and numbers take what those in view need; then states are said at more length and
    titles are written out, and names have the rest. Where there is no room for all, numbers
    and states are shortened first, then columns are left out, most of them before states are
    cut, and names are cut last, at their end. What is cut short is in the tooltips.

    While time passes a column may grow, never shrink: only what is in view is measured. All
    is measured again when the panel gets another width or is shown, and when the user asks
    for it. Columns that the user has dragged or hidden stay as they are, also at the next
    start.
    """

    def __init__(self, view: ClockTreeView, choices: MutableMapping[str, str]) -> None:
        """Set the widths of a view from now on.

        Args:
            view: The tree; already shows the model.
            choices: Where the choices of the user are kept.
        """
        header = view.tree_header
        super().__init__(view, header, tuple(ClockColumn), choices)
        self._tree = view
        self._is_held = False
        self._is_anew = True
        self._view_width = -1
        # What was in view, and the widths by column: in full, and in the shorter form.
        self._measured: set[tuple[int, int, str, bool, tuple[str, ...]]] = set()
        self._whole: dict[int, int] = {}
        self._brief: dict[int, int] = {}
        # The widest name that may reach over the columns behind it.
        self._spanned = 0
        self._forget_contents()
        self._turn = single_shot(self, self._fit_and_arrange)
        self._arrange()
        self.order_changed.connect(self._show_order)
        self._show_order()
        header.sectionHandleDoubleClicked.connect(self._fit_column)
        # While widgets go, events come that must not reach for a view that is half gone.
        self._titles, self._viewport = header.viewport(), view.viewport()
        self._titles.installEventFilter(self)
        self._viewport.installEventFilter(self)
        view.expanded.connect(self._fit_soon)
        view.verticalScrollBar().valueChanged.connect(self._fit_soon)

    # ------------------------------------------------------------------ measuring

    def start_anew(self) -> None:
        """Forget what another session has shown."""
        self._forget_contents()
        self._is_anew = True

    @Slot()
    def fit(self) -> None:
        """Take what is in view now into account; columns only ever grow."""
        # What the user is dragging would flee from the mouse.
        if self._is_held:
            return
        # To be laid out is a cost that a tree behind another panel need not have.
        if not self._tree.isVisible() or self._measure() or self._is_anew:
            self._is_anew = not self._tree.isVisible()
            self._arrange()

    @Slot()
    def _fit_and_arrange(self) -> None:
        """Fit, also when there is more or less room for what has not changed."""
        self.fit()
        if not self._is_held:
            self._arrange()

    @Slot()
    def _fit_soon(self) -> None:
        """Fit once in the next turn, also when thousands of rows are unfolded in this one."""
        self._turn.start()

    @Slot()
    @override
    def fit_columns(self) -> None:
        """Give every column what is in view now needs, also those that were dragged."""
        self._by_hand.clear()
        self._keep_choices()
        # Names that reach into other columns are measured by the widths of those.
        self._arrange()
        self._refit()

    @Slot(int)
    def _fit_column(self, column: int) -> None:
        # Qt has just given it the width of its contents, which counts as dragged.
        self._by_hand.pop(column, None)
        self._keep_choices()
        self._refit()

    def _refit(self) -> None:
        self.start_anew()
        self.fit()

    def _forget_contents(self) -> None:
        self._measured.clear()
        self._spanned = 0
        self._whole = dict.fromkeys(ClockColumn, 0)
        self._brief = dict.fromkeys(ClockColumn, 0)
        # Every number column has room for these from the beginning, so that it seldom grows.
        for column in SHORT_TITLES:
            self._take(column, Cell(column.spec.sample), 0)

    def _measure(self) -> bool:
        """Measure what is in view; return whether anything is wider than all before."""
        has_grown = False
        for place, cells in self._tree.rows_in_view():
            for column, cell in enumerate(cells):
                indent = place.indent if column == ClockColumn.NAME else 0
                # Of numbers as long as one before nothing is new; a 0 in front may be left out.
                text = cell.text.translate(ZEROS) if column in LIVE_COLUMNS else cell.text
                key = column, indent, text, cell.text.startswith("0"), cell.shorter
                if text and key not in self._measured:
                    self._measured.add(key)
                    has_grown |= self._take(column, cell, indent)
        return has_grown

    def _take(self, column: int, cell: Cell, indent: int) -> bool:
        """Note how much room a cell needs; return whether that is more than any before."""
        paint = self._tree.cells
        widths, beside = paint.widths(cell), indent + _SPARE - paint.room(cell, 0)
        if column == ClockColumn.STATE:
            # While it is left out, its cells have no gap yet.
            beside = _STATE_MARGINS
        whole = widths.steady_width(cell.text)
        brief = min([whole, *map(widths.steady_width, self._tree.shorter(column, cell))])
        if cell.spans:
            has_grown = whole + beside > self._spanned
            self._spanned = max(self._spanned, whole + beside)
            return has_grown
        if column == ClockColumn.STATE and cell.shorter:
            # All of it is said with what is left when everything else has room.
            whole = widths.steady_width(cell.shorter[0])
        has_grown = whole + beside > self._whole[column] or brief + beside > self._brief[column]
        self._whole[column] = max(self._whole[column], whole + beside)
        self._brief[column] = max(self._brief[column], brief + beside)
        return has_grown

    # ------------------------------------------------------------------ sharing out

    @Slot()
    def _arrange(self) -> None:
        room = self._tree.viewport().width()
        room -= sum(self._by_hand[each] for each in self._by_hand.keys() - self._hidden)
        least = self._leave_out(room)
        missing = sum(least.values()) - room
        if ClockColumn.NAME in least and 0 < missing <= self._text_width(_SLIGHT):
            least[ClockColumn.NAME] -= missing
        self._resize(share_room(room, least, self._wishes(), _ELASTIC))

    def _leave_out(self, room: int) -> dict[int, int]:
        """Hide columns until there is room for the others; returns what those have at least."""
        shortest = self._state_width(_NARROW_STATE)
        shortest = max(self._least_state, min(self._brief[ClockColumn.STATE], shortest))
        left_out, least = self._fitting(room, shortest, _LESS_THAN_STATES)
        if sum(least.values()) > room:
            left_out, least = self._fitting(room, self._least_state, _LEFT_OUT_IN_TURN)
        if left_out != self._left_out:
            self._left_out = left_out
            for column in _LEFT_OUT_IN_TURN:
                self._hide_or_show(column)
            self._tree.show_order(self.order)
        return least

    def _fitting(
        self, room: int, states: int, in_turn: Sequence[ClockColumn]
    ) -> tuple[set[int], dict[int, int]]:
        """Return which columns are left out in turn, and what the others have at least."""
        settled, left_out = self._hidden | self._by_hand.keys(), set[int]()
        least = self._least_widths(settled, states)
        for column in in_turn:
            if sum(least.values()) <= room:
                break
            if column in least:
                left_out.add(int(column))
                least = self._least_widths(settled | left_out, states)
        return left_out, least

    def _least_widths(self, without: Collection[int], states: int) -> dict[int, int]:
        """Return what each of the other columns has even if not all are in view then."""
        header = self._tree.tree_header
        least: dict[int, int] = {ClockColumn.STATE: states}
        for column, title in SHORT_TITLES.items():
            least[column] = max(self._brief[column], header.width_for(title))
        least = {column: width for column, width in least.items() if column not in without}
        if ClockColumn.NAME not in without:
            # Names are cut only where there is no room for them even without other columns.
            widths = self._by_hand | least
            room = self._tree.viewport().width() - widths.get(ClockColumn.RATE, 0)
            taken = sum(widths.get(ClockColumn.NAME + 1 + each, 0) for each in range(SPANNED))
            names = max(self._whole[ClockColumn.NAME], self._spanned - taken)
            least[ClockColumn.NAME] = max(self._text_width(_LEAST_NAME), min(names, room))
        return least

    def _wishes(self) -> list[tuple[int, int]]:
        """Return what columns would like to have beyond that, the most important first."""
        header = self._tree.tree_header
        gists, shortest = self._whole[ClockColumn.STATE], self._brief[ClockColumn.STATE]
        return [
            (ClockColumn.NAME, self._text_width(_NARROW_NAME)),
            (ClockColumn.STATE, min(shortest, self._state_width(_NARROW_STATE))),
            (ClockColumn.STATE, min(gists, self._state_width(_USUAL_STATE))),
            (ClockColumn.LOCAL_TIME, self._whole[ClockColumn.LOCAL_TIME]),
            *((column, self._whole[column]) for column in SHORT_TITLES),
            *((column, header.width_for(column.spec.title)) for column in _TITLES_IN_TURN),
            (ClockColumn.STATE, self._state_width(_LONG_STATE)),
            (ClockColumn.NAME, self._tree.viewport().width()),
        ]

    @property
    def _least_state(self) -> int:
        return self._state_width(_LEAST_STATE)

    def _state_width(self, text: str) -> int:
        return self._text_width(text) + _STATE_MARGINS

    def _text_width(self, text: str) -> int:
        return self._tree.cells.plain.steady_width(text)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if isinstance(event, QMouseEvent) and watched is self._titles:
            # Of the right button a menu may take the release.
            if event.button() == Qt.MouseButton.LeftButton:
                self._is_held = kind == QEvent.Type.MouseButtonPress
                self._turn.start()
        elif kind == QEvent.Type.Show and watched is self._viewport:
            self._refit()
        elif kind == QEvent.Type.Resize and watched is self._viewport:
            # A scroll bar that comes or goes is no reason to shrink.
            if self._tree.width() != self._view_width:
                self._view_width = self._tree.width()
                self.start_anew()
            self._fit_and_arrange()
        return False

    @Slot()
    def _show_order(self) -> None:
        if self._tree.show_order(self.order):
            self._refit()

    @override
    def usual_width(self, column: int) -> int:
        return self._whole[column]

    @override
    def show_column(self, column: int, is_shown: bool) -> None:
        super().show_column(column, is_shown)
        self._refit()
