"""The findings panel: what looks wrong with the timers of the session so far."""

from __future__ import annotations

from functools import partial
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QModelIndex, Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLabel, QMenu, QWidget
from typing_extensions import override

from inspector.analysis.lint.findings import Finding
from inspector.analysis.lint.rules import findings
from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.display_text import counted
from inspector.timebase import format_instant

from ..kit.clipboard import copy_text
from ..kit.guards import guarded
from ..kit.layouts import bar, fill, tool_button
from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.table.table_view import ENTER, TableView
from ..session.bridge import Selection, SelectionKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..kit.theme import Theme
    from ..session.bridge import SessionBridge

#: Seconds from one look by itself to the next.
LOOK_EVERY_S: Final = 5.0
#: A look that takes longer than this (seconds) is not taken by itself any more.
CHEAP_S: Final = 0.1
#: More events than these are not looked at by itself: that would take too long.
CHEAP_EVENTS: Final = 100_000


_column = partial(Column[Finding], detail=lambda row: row.kind.summary, is_wrapped=True)


class FindingColumn(ColumnEnum):
    """The columns of the table."""

    # fmt: off
    KIND = _column("Kind", lambda row: row.kind.name, sample="interval below a frame")
    AT = _column("At (m:s)", lambda row: format_instant(row.at_ns), sample="0:00:00.000")
    TEXT = _column("Finding", lambda row: row.text)
    # fmt: on


class FindingModel(ListTableModel[Finding]):
    """A row for each finding."""

    @override
    def key_of(self, row: Finding) -> tuple[object, ...]:
        return row.kind, row.subject, row.clock_id, row.member_id


@guarded
class FindingsPanel(QWidget):
    """Lists what looks wrong, each with its evidence.

    Looks by itself every few seconds while it can be seen and that is cheap, else when
    it is asked to.

    Signals:
        counted: Other findings are listed.
    """

    counted = Signal()

    def __init__(
        self,
        bridge: SessionBridge,
        theme: Theme,
        parent: QWidget | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Look at the session of the bridge as soon as the panel can be seen.

        Args:
            bridge: The session, and what is selected.
            theme: Where colours come from.
            parent: Owner in the sense of Qt.
            clock: Seconds, to tell how long ago the last look was.
        """
        super().__init__(parent)
        self._bridge = bridge
        self._clock = clock
        self._looked_s: float | None = None
        self._looked_at = -1
        self._took_s = 0.0
        self.model = FindingModel(FindingColumn, theme)
        self.view = TableView(self.model, "Findings", bridge.panel_choices)
        self.view.make_menu = self.make_menu
        self.notice = self.view.notice
        self.look_button = tool_button(
            "Analyse again", "Analyse everything that has happened so far"
        )
        self.state_label = QLabel()
        self.state_label.setTextFormat(Qt.TextFormat.PlainText)
        fill(self, bar(self.look_button, (self.state_label, 1)), (self.view, 1))
        self.look_button.clicked.connect(self.look)
        self.view.clicked.connect(self.show_evidence)
        for key in ENTER:
            self.view.on(key, lambda: self.show_evidence(self.view.currentIndex()))
        bridge.refreshed.connect(self._take_news)
        bridge.session_changed.connect(self._take_session)
        self._take_session()

    # ---------------------------------------------------------------- looking

    @Slot()
    def _take_session(self) -> None:
        self._looked_s, self._looked_at, self._took_s = None, -1, 0.0
        self._show([])
        self._look_if_due()

    @Slot(object)
    def _take_news(self, _events: int) -> None:
        self._look_if_due()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        """Catch up when the panel is shown."""
        super().showEvent(event)
        self._look_if_due()

    def _look_if_due(self) -> None:
        session = self._bridge.session
        if session is None or not self.isVisible() or session.history.end == self._looked_at:
            self._say()
            return
        since_s = None if self._looked_s is None else self._clock() - self._looked_s
        if self._is_cheap and (since_s is None or since_s >= LOOK_EVERY_S):
            self.look()
        elif since_s is None or not self._is_cheap:
            self._say()

    @property
    def _is_cheap(self) -> bool:
        """Whether a look at the session takes so little that it need not be asked for."""
        session = self._bridge.session
        if session is None:
            return False
        history = session.history
        return self._took_s <= CHEAP_S and history.end - history.first <= CHEAP_EVENTS

    def catch_up(self) -> None:
        """Look, seen or not, if there is something new and it takes little."""
        session = self._bridge.session
        if session is not None and session.history.end != self._looked_at and self._is_cheap:
            self.look()

    @Slot()
    def look(self) -> None:
        """Analyse everything that has happened so far."""
        session = self._bridge.session
        if session is None:
            return
        began_s = perf_counter()
        budget = FrameBudget.of_rate(session.frame_rate, by_busy=session.waits)
        self._looked_at = session.history.end
        found = findings(session.history, budget=budget)
        self._took_s = perf_counter() - began_s
        self._looked_s = self._clock()
        self._show(found)

    # ---------------------------------------------------------------- what is shown

    def _show(self, found: list[Finding]) -> None:
        self.model.show_rows(found)
        self._say()
        self.counted.emit()

    def _say(self) -> None:
        session = self._bridge.session
        self.look_button.setEnabled(session is not None)
        if session is None:
            self.state_label.setText("")
            self.notice.show_text("No findings: no scene is loaded.")
            return
        if self._looked_s is None:
            self.state_label.setText("")
            self.notice.show_text("Not analysed yet: press “Analyse again”.")
            return
        found = len(self.model.rows)
        count = counted(found, "finding")
        is_cheap = self._took_s <= CHEAP_S and self._looked_at <= CHEAP_EVENTS
        by_itself = (
            f"Analysed automatically every {LOOK_EVERY_S:.0f} s."
            if is_cheap
            else "Newer events are not analysed yet."
            if session.history.end > self._looked_at
            else "Nothing has happened since."
        )
        self.state_label.setText(f"{count} in {self._looked_at:,} events. {by_itself}")
        self.notice.show_text("" if found else "Nothing looks wrong so far.")

    # ---------------------------------------------------------------- evidence

    @Slot(QModelIndex)
    def show_evidence(self, index: QModelIndex) -> None:
        """Select what a finding is about: its frame if that is kept, else timer or clock."""
        for selection in self.evidence(index.row())[:1] if index.isValid() else ():
            self._select(selection)

    def _select(self, selection: Selection) -> None:
        if selection.kind is SelectionKind.FRAME:
            self._bridge.show_frame(selection.id)
        else:
            self._bridge.select(selection)

    def evidence(self, row: int) -> list[Selection]:
        """Return what a finding leads to, the most telling first."""
        finding, timeline = self.model.rows[row], self._bridge.timeline
        found = []
        frames = timeline.frames
        if finding.frame is not None and frames.first <= finding.frame < frames.end:
            found.append(Selection.frame(finding.frame))
        if finding.subject:
            found.append(Selection.timer(finding.subject))
        if finding.member_id in timeline.members.by_id:
            found.append(Selection.member(finding.member_id))
        if finding.clock_id in timeline.clocks:
            found.append(Selection.clock(finding.clock_id))
        return found

    def make_menu(self, row: int) -> QMenu:
        """Return what can be done with a finding."""
        menu = QMenu(self)
        for selection in self.evidence(row):
            text = f"Select the {selection.kind.value}"
            menu.addAction(text, partial(self._select, selection))
        menu.addSeparator()
        menu.addAction("Copy", partial(copy_text, self.model.rows[row].text))
        return menu
