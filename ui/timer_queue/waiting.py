"""The section above the queue: the calls that wait, and what stops them."""

from __future__ import annotations

from collections.abc import MutableMapping
from math import ceil
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtWidgets import QHeaderView, QSizePolicy, QWidget
from typing_extensions import override

from inspector.calls.call import CallId, call_of
from inspector.display_text import as_plain, one_line
from inspector.events.timeline import Timeline

from ..kit.guards import guarded
from ..kit.layouts import ShorteningButton, bar, fill
from ..kit.paced_refresh import single_shot
from ..kit.table.fitted_columns import FittedColumns
from ..kit.theme import Theme
from .call_queue import CallQueue
from .columns import CallColumn
from .model import QueueModel
from .view import QueueView

#: More rows are reached by scrolling, so that what fires next stays in view.
_MOST_ROWS: Final = 6
#: In a panel lower than this many rows, the titles above the queue have to do.
_TITLED_FROM: Final = 10
#: Stopped clocks, targets … that are named before the rest is counted.
_MOST_NAMES: Final = 3
_TIP: Final = "Show or hide calls whose clock, target or scheduler is stopped"
#: Pixels beside a reason, more than its margins.
_SPARE: Final = 2
_FOLDED: Final = "timer_queue.waiting"


class _WaitingView(QueueView):
    """A table whose columns are given the widths of those below."""

    fits_columns = False


@guarded
class WaitingSection(QWidget):
    """Calls that wait, by what stops them; takes no room while there are none.

    Attributes:
        model: The calls.
        view: Their table; its columns are those of the table below.
        button: Says how many wait and for what; folds the table.
    """

    def __init__(
        self,
        queue: CallQueue,
        below: QueueView,
        theme: Theme,
        choices: MutableMapping[str, str],
    ) -> None:
        """Stand above a table.

        Args:
            queue: All calls.
            below: The table of the others.
            choices: Where it is kept that the section is folded.
        """
        super().__init__()
        self._below, self._choices = below, choices
        self._queue = queue
        # The widest reason in view since no call waited.
        self._reasons = 0
        self._turn = single_shot(self, self._make_room)
        self.model = QueueModel(queue, theme, waits=True)
        # Its columns follow those below, so nothing of them is to be kept.
        self.view = _WaitingView(self.model, "Waiting calls", {})
        # Titles that would say something else than those of the queue are no help.
        header = self.view.horizontalHeader()
        header.setSectionsClickable(False)
        header.setSortIndicatorShown(False)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        header.hide()
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.button = ShorteningButton()
        self.button.setCheckable(True)
        self.button.setAutoRaise(True)
        self.button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        # A long list of names is cut, and does not widen the panel.
        self.button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.button.setChecked(choices.get(_FOLDED) != "folded")
        self.button.toggled.connect(self._fold)
        fill(self, bar((self.button, 1), margins=(4, 0, 4, 0)), self.view, spacing=0)
        titles = below.horizontalHeader()
        for signal in (titles.sectionResized, titles.sectionMoved, titles.geometriesChanged):
            signal.connect(self._take_columns)
        below.choices.order_changed.connect(self._take_columns)
        below.horizontalScrollBar().valueChanged.connect(self.view.horizontalScrollBar().setValue)
        below.installEventFilter(self)
        self.hide()

    def refresh(self, *, are_any: bool) -> None:
        if are_any or self.model.rowCount():
            self.view.refresh()
            self.fit()

    def fit(self) -> None:
        """Take the room that the waiting calls need, none without any."""
        count = self.model.rowCount()
        was_hidden = self.isHidden()
        self.setVisible(bool(count))
        is_open = self.button.isChecked()
        if not (count and is_open):
            self._reasons = 0
        self._make_room()
        if not count:
            return
        if was_hidden:
            self._take_columns()
        self.button.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)
        text = self._text(count)
        self.button.setText(text.replace("&", "&&"))
        tip = as_plain(f"{text}\n{_TIP}")
        if tip != self.button.toolTip():
            self.button.setToolTip(tip)
        self.view.setVisible(is_open)
        row, frame = self.view.verticalHeader().defaultSectionSize(), 2 * self.view.frameWidth()
        # Where there is room, its columns have titles of their own.
        header, panel = self.view.horizontalHeader(), self.parentWidget()
        header.setVisible(panel is not None and panel.height() > _TITLED_FROM * row)
        frame += header.sizeHint().height() if header.isVisibleTo(self.view) else 0
        # In a low panel it gives way, so that something of the queue stays in view.
        self.view.setMinimumHeight(row + frame)
        self.view.setMaximumHeight(min(count, _MOST_ROWS) * row + frame)
        if is_open and not self._reasons:
            # Its rows are laid out by then.
            self._turn.start()

    def _make_room(self) -> None:
        """Have room for the reasons in view, which stand where calls below say when they are due.

        It grows while calls wait, so that no column moves to and fro.
        """
        choices, column, paint = self._below.choices, CallColumn.REMAINING, self.view.cells
        if self.isVisible() and self.button.isChecked():
            for _place, cells in self.view.rows_in_view():
                cell = cells[column]
                width = ceil(paint.widths(cell).width(cell.text)) - paint.room(cell, 0)
                self._reasons = max(self._reasons, width + _SPARE)
        if isinstance(choices, FittedColumns):
            choices.need(column, self._reasons)

    def _text(self, count: int) -> str:
        timeline = self._queue.timeline
        stoppers = sorted(self._queue.stoppers.values(), key=lambda each: -each[1])
        names = [
            f"{_why(timeline, example)} ({waiting:,})"
            if len(stoppers) > 1
            else _why(timeline, example)
            for example, waiting in stoppers[:_MOST_NAMES]
        ]
        more = len(stoppers) - _MOST_NAMES
        names += [f"{more:,} more"] * (more > 0)
        return f"Waiting {count:,}: {', '.join(names)}"

    @Slot(bool)
    def _fold(self, is_open: bool) -> None:  # noqa: FBT001 - a slot
        self._choices[_FOLDED] = "open" if is_open else "folded"
        self.fit()

    @Slot()
    def _take_columns(self) -> None:
        """Have the columns of the table below: their places, widths, and which are hidden."""
        if self.isHidden():
            # It takes them when it is shown; the table below arranges itself many times.
            return
        theirs, ours = self._below.horizontalHeader(), self.view.horizontalHeader()
        ours.setStretchLastSection(False)
        for visual in range(theirs.count()):
            column = theirs.logicalIndex(visual)
            ours.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            ours.moveSection(ours.visualIndex(column), visual)
            ours.setSectionHidden(column, theirs.isSectionHidden(column))
            ours.resizeSection(column, theirs.sectionSize(column))
        # Also called while the table below is taken apart, when its choices are gone.
        shown = (each for each in self.model.columns if not theirs.isSectionHidden(each))
        self.model.show_order(sorted(shown, key=theirs.visualIndex))
        self.view.repaint_rows()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the width of the table below, whose scroll bar may take some of it."""
        if event.type() == QEvent.Type.Resize:
            self._take_columns()
        return False


def _why(timeline: Timeline | None, call_id: CallId) -> str:
    call = None if timeline is None else call_of(timeline, call_id)
    if call is not None and call.blockers:
        return one_line(call.blockers[0].text)
    # A selection is shown at once, what has become of the clock with the next refresh.
    is_never = call is not None and call.session_due_ns is None
    return "due too far away" if is_never else "just resumed"
