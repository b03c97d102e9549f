"""The findings panel: what looks wrong with the timers of the session so far."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from operator import attrgetter
from time import monotonic, perf_counter
from typing import Final

from msgspec import structs
from PySide6.QtCore import QModelIndex, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.analysis.lint.findings import BLOCKED_LOOP, Finding
from inspector.analysis.lint.rules import finding_steps
from inspector.analysis.statistics.frame_budget import FrameBudget, loop_budget
from inspector.display_text import counted, without_quotes
from inspector.events.history import History
from inspector.timebase import format_instant

from .kit.clipboard import copy_text
from .kit.guards import guarded
from .kit.labels import plain_label
from .kit.layouts import bar, fill, tool_button
from .kit.source_menu import add_source_actions
from .kit.table.columns import Column, ColumnEnum
from .kit.table.models import ListTableModel
from .kit.table.table_view import ENTER, TableView
from .kit.theme import Theme
from .session.bridge import Selection, SelectionKind, SessionBridge

#: Seconds between automatic analyses.
ANALYSE_EVERY_S: Final = 5.0
#: Seconds; after an analysis that took longer, further ones are made only on request.
CHEAP_S: Final = 0.1
#: With more events than this, only the first analysis is automatic: others would take too long.
CHEAP_EVENTS: Final = 100_000
#: With more events than this, as in a long recording, not even the first analysis is automatic.
MOST_EVENTS: Final = 2_000_000
#: This many events are analysed in one go; more of them in turns of a few milliseconds.
AT_ONCE_EVENTS: Final = 4_000


_column = partial(Column[Finding], detail=lambda row: row.kind.summary, is_wrapped=True)


def len_of(history: History) -> int:
    return history.end - history.first


class FindingColumn(ColumnEnum):
    # fmt: off
    KIND = _column("Kind", lambda row: row.kind.name, sample="interval below a frame")
    AT = _column("At (m:s)", lambda row: format_instant(row.at_ns), sample="0:00:00.000")
    TEXT = _column("Finding", lambda row: without_quotes(row.text))
    # fmt: on


@guarded
class FindingsPanel(QWidget):
    """Lists what looks wrong, each with its evidence.

    The session is analysed when the panel is first shown, and again every few seconds
    while that is cheap; otherwise on request only. It is divided among turns of the event loop,
    so that no frame of the scene waits for it.
    """

    counted = Signal()  # Other findings are listed

    def __init__(
        self,
        bridge: SessionBridge,
        theme: Theme,
        parent: QWidget | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Begin without findings; the first analysis begins when the panel is visible.

        ``clock`` returns seconds.
        """
        super().__init__(parent)
        self._bridge = bridge
        self._clock = clock
        self._analysed_s: float | None = None
        self._analysed_end = -1
        self._took_s = 0.0
        self._steps: Generator[float, None, list[Finding]] | None = None
        self._analysed_history: History | None = None
        self._done = 0.0
        self._analysing_end = 0
        key_of = attrgetter("kind", "subject", "clock_id", "member_id")
        self.model = ListTableModel[Finding](FindingColumn, theme, key_of)
        self.view = TableView(self.model, "Findings", bridge.panel_choices)
        self.view.make_menu = self.make_menu
        self.notice = self.view.notice
        self.analyse_button = tool_button(
            "Analyse again", "Analyse everything that has happened so far"
        )
        self.state_label = plain_label()
        fill(self, bar(self.analyse_button, (self.state_label, 1)), (self.view, 1))
        self.analyse_button.clicked.connect(self.analyse)
        self.view.clicked.connect(self.select_evidence)
        for key in ENTER:
            self.view.on(key, lambda: self.select_evidence(self.view.currentIndex()))
        bridge.refreshed.connect(self._on_refreshed)
        bridge.session_changed.connect(self._on_session_changed)
        bridge.budgets_changed.connect(self._on_budgets_changed)
        self._on_session_changed()

    @Slot()
    def _on_session_changed(self) -> None:
        self._analysed_s, self._analysed_end, self._took_s = None, -1, 0.0
        self._steps = None
        self._set_findings([])
        self._analyse_if_due()

    @Slot(object)
    def _on_budgets_changed(self, _budgets_ms: object) -> None:
        if self._bridge.budgets.own is None:
            self._on_session_changed()

    @Slot(object)
    def _on_refreshed(self, _events: int) -> None:
        self._analyse_if_due()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._analyse_if_due()

    def _analyse_if_due(self) -> None:
        session = self._bridge.session
        is_known = session is not None and session.history.end == self._analysed_end
        if session is None or not self.isVisible() or is_known or self.is_analysing:
            self._refresh_state()
            return
        since_s = None if self._analysed_s is None else self._clock() - self._analysed_s
        is_first = since_s is None and len_of(session.history) <= MOST_EVENTS
        if is_first or (self._is_cheap and since_s is not None and since_s >= ANALYSE_EVERY_S):
            self.analyse()
        elif since_s is None or not self._is_cheap:
            self._refresh_state()

    @property
    def _is_cheap(self) -> bool:
        """Whether an analysis is quick enough to be made without a request."""
        session = self._bridge.session
        if session is None:
            return False
        return self._took_s <= CHEAP_S and len_of(session.history) <= CHEAP_EVENTS

    @property
    def is_analysing(self) -> bool:
        return self._steps is not None

    def catch_up(self) -> None:
        """Look at what is new, even while the panel is hidden, if that is quick."""
        session = self._bridge.session
        is_new = session is not None and session.history.end != self._analysed_end
        if is_new and self._is_cheap and not self.is_analysing:
            self.analyse()

    @Slot()
    def analyse(self) -> None:
        session = self._bridge.session
        if session is None or self.is_analysing:
            return
        budget = loop_budget(session.timeline, session.frame_rate, waits=session.waits)
        if self._bridge.budgets.own is None and self._bridge.budgets_ms:
            # The header counts frames over the chosen budget; the findings must agree.
            chosen = FrameBudget.of_ms(self._bridge.budgets_ms[0])
            budget = structs.replace(chosen, by_busy=session.waits)
        self._analysed_history = history = session.history
        # The window's timeline already has the state at its last event; folding the log up to
        # there again would take long.
        timeline = session.timeline
        end, state = history.end, None
        if history.first <= timeline.events_folded <= end:
            end, state = timeline.events_folded, timeline.copy()
        self._steps = finding_steps(history, end=end, budget=budget, state=state)
        self._analysing_end, self._took_s, self._done = end, 0.0, 0.0
        if end - history.first <= AT_ONCE_EVENTS:
            while self._steps is not None:
                self._take_step()
        else:
            self._bridge.refresh_timer.queue_turn(self, self._analyse_in_turn, can_wait=True)
            self._refresh_state()

    def _analyse_in_turn(self) -> None:
        self._take_step()
        if self.is_analysing:
            self._bridge.refresh_timer.queue_turn(self, self._analyse_in_turn, can_wait=True)

    def _take_step(self) -> None:
        """Take the next step of the analysis, unless another session or past is shown by now."""
        session, steps = self._bridge.session, self._steps
        if session is None or steps is None or session.history is not self._analysed_history:
            self._steps = self._analysed_history = None
            return
        began_s = perf_counter()
        try:
            self._done = next(steps)
        except StopIteration as done:
            self._steps = self._analysed_history = None
            self._analysed_end, self._analysed_s = self._analysing_end, self._clock()
            self._took_s += perf_counter() - began_s
            self._set_findings(done.value)
        else:
            self._took_s += perf_counter() - began_s

    def _set_findings(self, found: list[Finding]) -> None:
        # What blocks a loop comes first: it explains many of the other findings.
        self.model.set_rows(sorted(found, key=lambda each: each.kind is not BLOCKED_LOOP))
        self._refresh_state()
        self.counted.emit()

    def _refresh_state(self) -> None:
        session = self._bridge.session
        self.analyse_button.setEnabled(session is not None and not self.is_analysing)
        if session is None:
            self.state_label.setText("")
            self.notice.set_text("No findings: no scene is loaded.")
            return
        if self.is_analysing:
            self.state_label.setText(f"Analysing … {100 * self._done:.0f} %")
            if self._analysed_s is None:
                self.notice.set_text("")
            return
        if self._analysed_s is None:
            self.state_label.setText("")
            self.notice.set_text("Not analysed yet: press “Analyse again”.")
            return
        found = len(self.model.rows)
        count = counted(found, "finding")
        is_cheap = self._took_s <= CHEAP_S and self._analysed_end <= CHEAP_EVENTS
        by_itself = (
            f"Analysed automatically every {ANALYSE_EVERY_S:.0f} s."
            if is_cheap
            else "Newer events are not analysed yet."
            if session.history.end > self._analysed_end
            else "Nothing has happened since."
        )
        self.state_label.setText(f"{count} in {self._analysed_end:,} events. {by_itself}")
        self.notice.set_text("" if found else "Nothing looks wrong so far.")

    @Slot(QModelIndex)
    def select_evidence(self, index: QModelIndex) -> None:
        """Select what a finding is about: its frame if that is kept, else timer or clock."""
        for selection in self.evidence(index.row())[:1] if index.isValid() else ():
            self._select(selection)

    def _select(self, selection: Selection) -> None:
        if selection.kind is SelectionKind.FRAME:
            self._bridge.reveal_frame(selection.id)
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
        menu = QMenu(self)
        for selection in self.evidence(row):
            text = f"Select the {selection.kind.value}"
            menu.addAction(text, partial(self._select, selection))
        menu.addSeparator()
        menu.addAction("Copy", partial(copy_text, without_quotes(self.model.rows[row].text)))
        if site := self.model.rows[row].site:
            add_source_actions(menu, site)
        return menu
