"""The findings panel: what looks wrong with the timers of the session so far."""

from __future__ import annotations

from enum import IntEnum
from functools import partial
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QModelIndex, QPoint, Qt, Slot
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QMenu,
    QTableWidgetItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.analysis.lint.rules import Finding, findings
from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.display_text import one_line
from inspector.timebase import format_duration, format_instant

from ..kit.empty_notice import EmptyNotice
from ..kit.guards import guarded
from ..kit.table.painted_views import PaintedItems
from ..kit.table.tables import RowMenus, set_up_table
from ..session.bridge import Selection

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


class _Column(IntEnum):
    """The columns of the table."""

    KIND = 0
    AT = 1
    TEXT = 2


_TITLES: Final = {_Column.KIND: "Kind", _Column.AT: "At (m:s)", _Column.TEXT: "Finding"}


@guarded
class FindingsPanel(QWidget):
    """Lists what looks wrong, each with its evidence.

    Looks by itself every few seconds while it can be seen and that is cheap, else when
    it is asked to.
    """

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
            theme: Not needed yet; all panels are given it.
            parent: Owner in the sense of Qt.
            clock: Seconds, to tell how long ago the last look was.
        """
        super().__init__(parent)
        self._bridge = bridge
        self._theme = theme
        self._clock = clock
        self._found: list[Finding] = []
        self._looked_s: float | None = None
        self._looked_at = -1
        self._took_s = 0.0
        self.table = self._make_table()
        self.notice = EmptyNotice(self.table)
        self.look_button = QToolButton()
        self.look_button.setText("Analyse again")
        self.look_button.setToolTip("Analyse everything that has happened so far")
        self.state_label = QLabel()
        self.state_label.setTextFormat(Qt.TextFormat.PlainText)
        self._lay_out()
        self.look_button.clicked.connect(self.look)
        self.table.cellDoubleClicked.connect(self.show_evidence)
        RowMenus(self.table).requested.connect(self._open_menu)
        bridge.refreshed.connect(self._take_news)
        bridge.session_changed.connect(self._take_session)
        self._take_session()

    def _make_table(self) -> PaintedItems:
        table = PaintedItems(0, len(_Column))
        table.setAccessibleName("Findings")
        table.setHorizontalHeaderLabels([_TITLES[column] for column in _Column])
        set_up_table(table)
        table.setWordWrap(True)
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header = table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(_Column.KIND, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(_Column.AT, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(_Column.TEXT, QHeaderView.ResizeMode.Stretch)
        return table

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(4, 4, 4, 0)
        top.addWidget(self.look_button)
        top.addWidget(self.state_label, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(top)
        layout.addWidget(self.table, 1)

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
        history = session.history
        is_cheap = self._took_s <= CHEAP_S and history.end - history.first <= CHEAP_EVENTS
        since_s = None if self._looked_s is None else self._clock() - self._looked_s
        if is_cheap and (since_s is None or since_s >= LOOK_EVERY_S):
            self.look()
        elif since_s is None:
            self._say()

    @Slot()
    def look(self) -> None:
        """Analyse everything that has happened so far."""
        session = self._bridge.session
        if session is None:
            return
        began_s = perf_counter()
        self._looked_at = session.history.end
        found = findings(session.history, budget=FrameBudget.of_rate(session.frame_rate))
        self._took_s = perf_counter() - began_s
        self._looked_s = self._clock()
        self._show(found)

    # ---------------------------------------------------------------- what is shown

    def _show(self, found: list[Finding]) -> None:
        if found != self._found or self.table.rowCount() != len(found):
            marked = self._marked()
            self._found = found
            self.table.setRowCount(len(found))
            for row, finding in enumerate(found):
                self._show_row(row, finding)
                if marked is not None and _subject(finding) == _subject(marked):
                    self.table.selectRow(row)
        self._say()

    def _show_row(self, row: int, finding: Finding) -> None:
        texts = {
            _Column.KIND: finding.kind.value,
            _Column.AT: format_instant(finding.at_ns),
            _Column.TEXT: finding.text,
        }
        for column, text in texts.items():
            item = QTableWidgetItem(one_line(text))
            item.setToolTip(finding.kind.summary)
            item.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
            self.table.setItem(row, column, item)

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
        count = "1 finding" if len(self._found) == 1 else f"{len(self._found):,} findings"
        is_cheap = self._took_s <= CHEAP_S and self._looked_at <= CHEAP_EVENTS
        by_itself = (
            f"Analysed automatically every {LOOK_EVERY_S:.0f} s."
            if is_cheap
            else f"Analysed in {format_duration(round(self._took_s * 1e9))} · Analyse again"
        )
        self.state_label.setText(f"{count} in {self._looked_at:,} events. {by_itself}")
        self.notice.show_text("" if self._found else "Nothing looks wrong so far.")

    def _marked(self) -> Finding | None:
        rows = self.table.selectionModel().selectedRows()
        row = rows[0].row() if rows else -1
        return self._found[row] if 0 <= row < len(self._found) else None

    # ---------------------------------------------------------------- evidence

    @Slot(int, int)
    def show_evidence(self, row: int, _column: int = 0) -> None:
        """Select what a finding is about: its frame if that is kept, else timer or clock."""
        for selection in self.evidence(row):
            self._bridge.select(selection)
            return

    def evidence(self, row: int) -> list[Selection]:
        """Return what a finding leads to, the most telling first."""
        finding, timeline = self._found[row], self._bridge.timeline
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

    @Slot(QModelIndex, QPoint)
    def _open_menu(self, index: QModelIndex, place: QPoint) -> None:
        if not index.isValid():
            return
        menu = self.make_menu(index.row())
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    def make_menu(self, row: int) -> QMenu:
        """Return what can be done with a finding."""
        menu = QMenu(self)
        for selection in self.evidence(row):
            text = f"Select the {selection.kind.value}"
            menu.addAction(text, partial(self._bridge.select, selection))
        menu.addSeparator()
        text = self._found[row].text
        menu.addAction("Copy", partial(QGuiApplication.clipboard().setText, text))
        return menu


def _subject(finding: Finding) -> tuple[object, ...]:
    return finding.kind, finding.subject, finding.clock_id, finding.member_id
