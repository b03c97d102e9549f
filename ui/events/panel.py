"""The event list panel: what happened, in sentences, newest at the end."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QModelIndex, QPoint, Qt, Slot
from PySide6.QtGui import (
    QAction,
    QColor,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QLabel,
    QMenu,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.events.schema import QUIET_GROUPS, EventGroup

from ..kit.empty_notice import EmptyNotice
from ..kit.filter_line import FilterLine
from ..kit.guards import guarded
from ..kit.paced_refresh import PacedRefresh
from ..kit.table.painted_views import PaintedTable
from ..kit.table.roles import Role
from ..kit.table.tables import RowMenus, say, set_up_table, size_columns
from ..kit.theme import ColorRole
from ..session.bridge import Selection, SelectionKind
from .event_list_model import MAX_ROWS, EventColumn, EventListModel

if TYPE_CHECKING:
    from inspector.sessions.session import Session

    from ..kit.theme import Theme
    from ..session.bridge import SessionBridge

#: Under this name the groups of events that are shown are found again at the next start.
_SHOWN_KINDS: Final = "event_kinds"
_SAMPLES: Final = {EventColumn.AT: "0:00:00.000", EventColumn.GROUP: "◉ breakpoint"}


@guarded
class EventTableView(PaintedTable):
    """A table that is entered at its newest row, with a line where the playhead is.

    Attributes:
        playhead_row: The first row behind the playhead, ``None`` at the present.
        playhead_color: Of the line.
    """

    def __init__(self) -> None:
        super().__init__()
        self.playhead_row: int | None = None
        self.playhead_color = QColor()

    @override
    def paint_over(self, painter: QPainter) -> None:
        """Draw a line above the first row that is behind the playhead."""
        row, count = self.playhead_row, self.model().rowCount()
        if row is None or not count:
            return
        last = min(row, count - 1)
        y = self.rowViewportPosition(last) + (self.rowHeight(last) if row == count else 0)
        if 0 <= y <= self.viewport().height():
            painter.fillRect(0, max(y - 1, 0), self.viewport().width(), 2, self.playhead_color)

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        """Mark the newest row if none is marked: Qt would mark the first, and scroll there."""
        model = self.model()
        if not self.currentIndex().isValid() and model.rowCount():
            self.setCurrentIndex(model.index(model.rowCount() - 1, 0))
        super().focusInEvent(event)


@guarded
class EventListPanel(QWidget):
    """The tail of the event log; follows the newest while it is at the end."""

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._theme = theme
        self._is_reading_on = False
        self.model = EventListModel()
        self.filter_line = FilterLine("Filter events")
        self._kinds_menu = QMenu(self)
        self._group_actions: dict[EventGroup, QAction] = {}
        self._kinds_button = self._make_kinds_button()
        self.subject_button = QToolButton()
        self.subject_button.setText("Only selected")
        self.subject_button.setToolTip(
            "Show only events of the selected clock, timer, scheduler, component, machine or frame"
        )
        self.subject_button.setCheckable(True)
        self.follow_button = QToolButton()
        self.follow_button.setText("Follow")
        self.follow_button.setToolTip(
            "Keep the newest event in view; scrolling up or selecting a row stops following"
        )
        self.follow_button.setCheckable(True)
        self.follow_button.setChecked(True)
        self.count_label = QLabel()
        self.view = self._make_view()
        self.notice = EmptyNotice(self.view)
        self._lay_out()
        self._pace = PacedRefresh(self, bridge.pace)
        self._connect()
        self._apply_theme()
        self.show_session(bridge.session)
        if _SHOWN_KINDS in bridge.panel_choices:
            self._apply_groups()

    # ------------------------------------------------------------------ building

    def _make_kinds_button(self) -> QToolButton:
        kept = self._bridge.panel_choices.get(_SHOWN_KINDS)
        names = None if kept is None else set(kept.split(","))
        shown = {each for each in EventGroup if names is not None and each.name.lower() in names}
        if names is None:
            shown = set(QUIET_GROUPS)
        for group in EventGroup:
            action = self._kinds_menu.addAction(group.title)
            action.setToolTip(group.explanation)
            action.setCheckable(True)
            action.setChecked(group in shown)
            action.toggled.connect(self._apply_groups)
            self._group_actions[group] = action
        self._kinds_menu.setToolTipsVisible(True)
        button = QToolButton()
        button.setText("Kinds")
        button.setToolTip("Kinds of events to show")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setMenu(self._kinds_menu)
        return button

    def _make_view(self) -> EventTableView:
        view = EventTableView()
        view.setAccessibleName("Events")
        view.setModel(self.model)
        set_up_table(view, selects_many=True)
        header = view.horizontalHeader()
        size_columns(view, _SAMPLES)
        header.setStretchLastSection(True)
        return view

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(4, 4, 4, 0)
        top.addWidget(self.filter_line, 1)
        top.addWidget(self._kinds_button)
        top.addWidget(self.subject_button)
        top.addWidget(self.follow_button)
        top.addWidget(self.count_label)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(top)
        layout.addWidget(self.view, 1)

    def _connect(self) -> None:
        bridge, view = self._bridge, self.view
        bridge.refreshed.connect(self._pace.request)
        bridge.session_changed.connect(self.show_session)
        bridge.selection_changed.connect(self.show_selection)
        bridge.playhead_changed.connect(self._show_playhead)
        self._theme.changed.connect(self._apply_theme)
        self._pace.due.connect(self.refresh)
        self.filter_line.filter_changed.connect(self._apply_filter)
        self.filter_line.left_downwards.connect(view.setFocus)
        self.subject_button.toggled.connect(self._apply_subject)
        self.follow_button.toggled.connect(self._apply_following)
        view.verticalScrollBar().actionTriggered.connect(self._notice_scrolling)
        view.selectionModel().currentRowChanged.connect(self._notice_reading)
        view.doubleClicked.connect(self.select_subject)
        RowMenus(view).requested.connect(self._open_menu)

    # ------------------------------------------------------------------ following

    @Slot(object)
    def show_session(self, session: Session | None) -> None:
        """Show the events of another session, following them."""
        self.follow_button.setChecked(True)
        if session is None:
            self.model.set_log(None, None)
        else:
            self.model.set_log(session.log, session.timeline)
        self._show_newest()
        self._update_counts()

    @Slot()
    def refresh(self) -> None:
        """Read on, unless older events are being looked at."""
        if self.follow_button.isChecked():
            # Rows that leave at the top may take the marked one with them.
            self._is_reading_on = True
            self.model.refresh()
            self._is_reading_on = False
            self._show_newest()
        self._update_counts()

    @Slot(object)
    def show_selection(self, _selection: Selection) -> None:
        """Show another subject's events, if only the selected one's are wanted."""
        if self.subject_button.isChecked():
            self._apply_subject()

    @Slot(object)
    def _show_playhead(self, at_ns: int | None) -> None:
        """Have the playhead in view; the newest events again when that is the present."""
        had_one = self.view.playhead_row is not None
        self.follow_button.setChecked(at_ns is None and (had_one or self.follow_button.isChecked()))
        self._place_playhead()
        row = self.view.playhead_row
        if row is not None and self.model.rowCount():
            near = self.model.index(min(row, self.model.rowCount() - 1), 0)
            self.view.scrollTo(near, QAbstractItemView.ScrollHint.PositionAtCenter)

    def _place_playhead(self) -> None:
        at_ns = self._bridge.playhead_ns
        row = None if at_ns is None else self.model.row_behind(at_ns)
        if row != self.view.playhead_row:
            self.view.playhead_row = row
            self.view.viewport().update()

    @Slot(int)
    def _notice_scrolling(self, _action: int) -> None:
        bar = self.view.verticalScrollBar()
        self.follow_button.setChecked(bar.sliderPosition() >= bar.maximum())

    @Slot(QModelIndex, QModelIndex)
    def _notice_reading(self, current: QModelIndex, _previous: QModelIndex) -> None:
        # Somebody reads this row: it must not run away.
        if self._is_reading_on or not current.isValid():
            return
        if current.row() < self.model.rowCount() - 1:
            self.follow_button.setChecked(False)

    def _show_newest(self) -> None:
        if self.follow_button.isChecked():
            self.view.scrollToBottom()

    @Slot()
    def _apply_following(self) -> None:
        self.refresh()
        self._show_newest()

    def _update_counts(self) -> None:
        self._place_playhead()
        rows, model = self.model.rowCount(), self.model
        parts = [f"{rows:,} shown" if rows < MAX_ROWS else f"newest {rows:,}"]
        if model.hidden_count:
            parts.append(f"{model.hidden_count:,} hidden")
        if model.lost_count:
            parts.append(f"{model.lost_count:,} lost")
        if not self.follow_button.isChecked() and model.waiting_count:
            parts.append(f"{model.waiting_count:,} newer")
        text = ", ".join(parts)
        say(self.count_label, text)
        self.notice.show_text("" if rows else self._why_empty())

    def _why_empty(self) -> str:
        if self._bridge.session is None:
            return "No events: no scene is loaded."
        if not self.model.hidden_count:
            if self.model.lost_count:
                return f"None of {self.model.lost_count:,} events can be shown: they are lost."
            return "Nothing has happened yet."
        hidden = [
            group.title.lower()
            for group, action in self._group_actions.items()
            if not action.isChecked()
        ]
        reasons = []
        if self.filter_line.filter_text:
            reasons.append("the filter")
        if self.subject_button.isChecked():
            reasons.append("“Only selected”")
        if hidden:
            reasons.append(f"the selected kinds (without {', '.join(hidden)})")
        return f"{self.model.hidden_count:,} events are hidden by {' and '.join(reasons)}."

    # ------------------------------------------------------------------ what is shown

    @Slot(str)
    def _apply_filter(self, text: str) -> None:
        self.model.set_filter(text)
        self._show_newest()
        self._update_counts()

    @Slot()
    def _apply_groups(self) -> None:
        shown = [group for group, action in self._group_actions.items() if action.isChecked()]
        self.model.set_groups(frozenset(shown))
        kept = ",".join(group.name.lower() for group in shown)
        self._bridge.panel_choices[_SHOWN_KINDS] = kept
        self._show_newest()
        self._update_counts()

    @Slot()
    def _apply_subject(self) -> None:
        is_limited = self.subject_button.isChecked()
        self.model.set_subject(self._bridge.selection if is_limited else None)
        self._show_newest()
        self._update_counts()

    def show_groups(self, groups: frozenset[EventGroup]) -> None:
        """Show these kinds of events and no others."""
        for group, action in self._group_actions.items():
            action.setChecked(group in groups)

    # ------------------------------------------------------------------ acting

    @Slot(QModelIndex)
    def select_subject(self, index: QModelIndex) -> None:
        """Select what the event in a row happened to."""
        selection = index.data(Role.SELECTION)
        if isinstance(selection, Selection) and selection.kind is not SelectionKind.NONE:
            self._bridge.select(selection)

    @Slot(QModelIndex, QPoint)
    def _open_menu(self, index: QModelIndex, place: QPoint) -> None:
        if not index.isValid():
            return
        menu = self.make_menu(index)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    def make_menu(self, index: QModelIndex) -> QMenu:
        """Return what can be done with an event."""
        menu = QMenu(self)
        show = menu.addAction("Select the subject", partial(self.select_subject, index))
        show.setEnabled(isinstance(index.data(Role.SELECTION), Selection))
        at_ns = self.model.event_at(index.row())[0]
        menu.addAction("Look at this instant", partial(self._bridge.set_playhead, at_ns))
        menu.addSeparator()
        menu.addAction("Copy", self.copy_marked)
        in_full = self.model.long_text_at(index.row())
        menu.addAction("Copy in full", partial(QGuiApplication.clipboard().setText, in_full))
        return menu

    @Slot()
    def copy_marked(self) -> None:
        """Put the marked rows on the clipboard."""
        rows = sorted({index.row() for index in self.view.selectionModel().selectedRows()})
        lines = [
            "\t".join(
                str(self.model.index(row, column).data(Qt.ItemDataRole.EditRole))
                for column in EventColumn
            )
            for row in rows
        ]
        QGuiApplication.clipboard().setText("\n".join(lines))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy the marked rows, select the subject of the current one."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_marked()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.select_subject(self.view.currentIndex())
        else:
            super().keyPressEvent(event)

    # ------------------------------------------------------------------ looks

    @Slot()
    def _apply_theme(self) -> None:
        self.model.set_failure_color(self._theme.color(ColorRole.BAD))
        self.view.playhead_color = self._theme.color(ColorRole.INTERVENTION)
        self.filter_line.set_icon(self._theme.icon("find"))
        self.view.repaint_rows()
