"""The section above the queue: the timers that wait for a stopped clock, and what stops it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtWidgets import QHeaderView, QSizePolicy, QToolButton, QWidget
from typing_extensions import override

from inspector.calls.blockers import clock_blockers
from inspector.display_text import one_line

from ..kit.guards import guarded
from ..kit.layouts import bar, fill
from .model import QueueModel
from .timer_order import TimerOrder
from .view import QueueView

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from inspector.events.timeline import Timeline

    from ..kit.theme import Theme

#: More rows are reached by scrolling, so that what fires next stays in view.
_MOST_ROWS: Final = 6
#: Stopped clocks that are named before the rest is counted.
_MOST_NAMES: Final = 3
_FOLDED: Final = "timer_queue.waiting"


@guarded
class WaitingSection(QWidget):
    """Timers that wait for a stopped clock, by that clock; takes no room while there are none.

    Attributes:
        model: The timers.
        view: Their table; its columns are those of the table below.
        button: Says how many wait and for what; folds the table.
    """

    def __init__(self, below: QueueView, theme: Theme, choices: MutableMapping[str, str]) -> None:
        """Stand above a table.

        Args:
            below: The table of the other timers.
            theme: What the cells are painted with.
            choices: Where it is kept that the section is folded.
        """
        super().__init__()
        self._below, self._choices = below, choices
        self._order = TimerOrder(waits=True)
        self.model = QueueModel(self._order, theme)
        # Its columns follow those below, so nothing of them is to be kept.
        self.view = QueueView(self.model, "Waiting timers", {})
        self.view.horizontalHeader().hide()
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.button = QToolButton()
        self.button.setCheckable(True)
        self.button.setAutoRaise(True)
        self.button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        # A long list of names is cut, and does not widen the panel.
        self.button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.button.setToolTip("Show or hide the timers whose clock is stopped")
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
        """Show what is new, if any timer waits or did so."""
        if are_any or self.model.rowCount():
            self.view.refresh()
            self.fit()

    def fit(self) -> None:
        """Take the room that the waiting timers need, none without any."""
        count = self.model.rowCount()
        self.setVisible(bool(count))
        if not count:
            return
        is_open = self.button.isChecked()
        self.button.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)
        self.button.setText(self._text(count))
        self.view.setVisible(is_open)
        row, frame = self.view.verticalHeader().defaultSectionSize(), 2 * self.view.frameWidth()
        # In a low panel it gives way, so that something of the queue stays in view.
        self.view.setMinimumHeight(row + frame)
        self.view.setMaximumHeight(min(count, _MOST_ROWS) * row + frame)

    def _text(self, count: int) -> str:
        timeline = self.model.timeline
        stoppers = sorted(self._order.stoppers.items(), key=lambda each: -each[1])
        names = [
            f"{_why(timeline, clock_id)} ({waiting:,})"
            if len(stoppers) > 1
            else _why(timeline, clock_id)
            for clock_id, waiting in stoppers[:_MOST_NAMES]
        ]
        more = len(stoppers) - _MOST_NAMES
        names += [f"{more:,} more"] * (more > 0)
        return f"Waiting {count:,}: {', '.join(names)}".replace("&", "&&")

    @Slot(bool)
    def _fold(self, is_open: bool) -> None:  # noqa: FBT001 - a slot
        self._choices[_FOLDED] = "open" if is_open else "folded"
        self.fit()

    @Slot()
    def _take_columns(self) -> None:
        """Have the columns of the table below: their places, widths, and which are hidden."""
        theirs, ours = self._below.horizontalHeader(), self.view.horizontalHeader()
        ours.setStretchLastSection(False)
        for visual in range(theirs.count()):
            column = theirs.logicalIndex(visual)
            ours.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            ours.moveSection(ours.visualIndex(column), visual)
            ours.setSectionHidden(column, theirs.isSectionHidden(column))
            ours.resizeSection(column, theirs.sectionSize(column))
        self.view.repaint_rows()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the width of the table below, whose scroll bar may take some of it."""
        if event.type() == QEvent.Type.Resize:
            self._take_columns()
        return False


def _why(timeline: Timeline | None, clock_id: int) -> str:
    """Say in a few words why a clock stands still."""
    if timeline is None or clock_id not in timeline.clocks:
        return "due too far away"
    # A selection is shown at once, what has become of the clock with the next refresh.
    reasons = (each.text for each in clock_blockers(timeline, clock_id))
    return one_line(next(reasons, "just resumed"))
