"""The event list panel: what happened, in sentences, newest at the end."""

from __future__ import annotations

from functools import partial
from typing import Final

from PySide6.QtCore import QModelIndex, Slot
from PySide6.QtGui import QAction, QColor, QPainter
from PySide6.QtWidgets import QAbstractItemView, QMenu, QWidget
from typing_extensions import override

from inspector.display_text import counted
from inspector.events.schema import QUIET_GROUPS, EventGroup
from inspector.sessions.session import Session

from ..kit.clipboard import copy_text
from ..kit.layouts import menu_button, tool_button
from ..kit.table.table_panel import TablePanel
from ..kit.table.table_view import TableView
from ..kit.theme import ColorRole, Theme
from ..kit.throttled_refresh import ThrottledRefresh
from ..session.bridge import Selection, SelectionKind, SessionBridge
from .event_list_model import MAX_ROWS, EventListModel

#: Settings key of the groups of events that are shown.
_SHOWN_KINDS: Final = "event_kinds"


class EventTableView(TableView):
    """A table with a line where the playhead is."""

    playhead_row: int | None = None  # The first row behind the playhead, None at the present
    playhead_color = QColor()

    @override
    def paint_over(self, painter: QPainter) -> None:
        row, count = self.playhead_row, self.model().rowCount()
        if row is None or not count:
            return
        last = min(row, count - 1)
        y = self.rowViewportPosition(last) + (self.rowHeight(last) if row == count else 0)
        if 0 <= y <= self.viewport().height():
            painter.fillRect(0, max(y - 1, 0), self.viewport().width(), 2, self.playhead_color)


class EventListPanel(TablePanel):
    """The tail of the event log; follows the newest while it is at the end."""

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        self.model = EventListModel(theme)
        self.table = table = EventTableView(
            self.model, "Events", bridge.panel_choices, selects_many=True, is_entered_at_end=True
        )
        super().__init__(table, theme, parent, filter_hint="Filter events")
        self._bridge = bridge
        self._is_reading_on = False
        self._kinds_menu = QMenu(self)
        self._group_actions: dict[EventGroup, QAction] = {}
        self._fill_kinds_menu()
        self.kinds_button = menu_button("Kinds", "Kinds of events to show", self._kinds_menu)
        self.subject_button = tool_button(
            "Only selected",
            "Show only events of the selected clock, timer, scheduler, component, machine or frame",
            is_checkable=True,
        )
        self.follow_button = tool_button(
            "Follow",
            "Keep the newest event in view; scrolling up or selecting a row stops following",
            is_checkable=True,
        )
        self.follow_button.setChecked(True)
        self.lay_out(self.kinds_button, self.subject_button, self.follow_button)
        self._throttle = ThrottledRefresh(self, bridge.refresh_timer, self.refresh)
        self._connect()
        self.set_session(bridge.session)
        if _SHOWN_KINDS in bridge.panel_choices:
            self._apply_groups()

    def _fill_kinds_menu(self) -> None:
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

    def _connect(self) -> None:
        bridge, view = self._bridge, self.view
        self._throttle.follow()
        bridge.session_changed.connect(self.set_session)
        bridge.selection_changed.connect(self.on_selection_changed)
        bridge.playhead_changed.connect(self._on_playhead_moved)
        self.subject_button.toggled.connect(self._apply_subject)
        self.follow_button.toggled.connect(self._apply_following)
        view.verticalScrollBar().actionTriggered.connect(self._notice_scrolling)
        view.selectionModel().currentRowChanged.connect(self._notice_reading)

    @Slot(object)
    def set_session(self, session: Session | None) -> None:
        self.follow_button.setChecked(True)
        if session is None:
            self.model.set_log(None, None)
        else:
            self.model.set_log(session.log, session.timeline)
        self._scroll_to_newest()
        self.update_counts()

    @Slot()
    def refresh(self) -> None:
        """Read on, unless older events are being looked at."""
        if self.follow_button.isChecked():
            # The marked row may be dropped at the top: the current row then changes, but not
            # because the user reads another one.
            self._is_reading_on = True
            self.model.refresh()
            self._is_reading_on = False
            self._scroll_to_newest()
        self.update_counts()

    @Slot(object)
    def on_selection_changed(self, _selection: Selection) -> None:
        if self.subject_button.isChecked():
            self._apply_subject()

    @Slot(object)
    def _on_playhead_moved(self, at_ns: int | None) -> None:
        """Scroll to the playhead; at the present, to the newest events."""
        had_one = self.table.playhead_row is not None
        self.follow_button.setChecked(at_ns is None and (had_one or self.follow_button.isChecked()))
        self._place_playhead()
        row = self.table.playhead_row
        if row is not None and self.model.rowCount():
            near = self.model.index(min(row, self.model.rowCount() - 1), 0)
            self.view.scrollTo(near, QAbstractItemView.ScrollHint.PositionAtCenter)

    def _place_playhead(self) -> None:
        at_ns = self._bridge.playhead_ns
        row = None if at_ns is None else self.model.row_behind(at_ns)
        if row != self.table.playhead_row:
            self.table.playhead_row = row
            self.view.viewport().update()

    @Slot(int)
    def _notice_scrolling(self, _action: int) -> None:
        bar = self.view.verticalScrollBar()
        self.follow_button.setChecked(bar.sliderPosition() >= bar.maximum())

    @Slot(QModelIndex, QModelIndex)
    def _notice_reading(self, current: QModelIndex, _previous: QModelIndex) -> None:
        # The user is reading this row, so stop following the newest.
        if self._is_reading_on or self.view.is_arranging or not current.isValid():
            return
        if current.row() < self.model.rowCount() - 1:
            self.follow_button.setChecked(False)

    def _scroll_to_newest(self) -> None:
        if self.follow_button.isChecked():
            self.view.scrollToBottom()

    @Slot()
    def _apply_following(self) -> None:
        self.refresh()
        self._scroll_to_newest()

    @override
    def update_counts(self) -> None:
        self._place_playhead()
        super().update_counts()

    @override
    def count_text(self) -> str:
        rows, model = self.model.rowCount(), self.model
        parts = [super().count_text()]
        if rows >= MAX_ROWS:
            hidden = [f"{model.hidden_count:,} hidden"] if model.hidden_count else []
            parts = [f"newest {rows:,}", *hidden]
        if model.lost_count:
            parts.append(f"{model.lost_count:,} lost")
        if not self.follow_button.isChecked() and model.waiting_count:
            parts.append(f"{model.waiting_count:,} newer")
        return ", ".join(parts)

    @override
    def why_empty(self) -> str:
        if self._bridge.session is None:
            return "No events: no scene is loaded."
        if not self.model.hidden_count:
            if self.model.lost_count:
                lost = counted(self.model.lost_count, "event is", "events are")
                return f"{lost} lost: nothing can be shown."
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
        are = counted(self.model.hidden_count, "event is", "events are")
        return f"{are} hidden by {' and '.join(reasons)}."

    @override
    def filter_rows(self, text: str) -> None:
        super().filter_rows(text)
        self._scroll_to_newest()

    @Slot()
    def _apply_groups(self) -> None:
        shown = [group for group, action in self._group_actions.items() if action.isChecked()]
        self.model.set_groups(frozenset(shown))
        kept = ",".join(group.name.lower() for group in shown)
        self._bridge.panel_choices[_SHOWN_KINDS] = kept
        self._scroll_to_newest()
        self.update_counts()

    @Slot()
    def _apply_subject(self) -> None:
        is_limited = self.subject_button.isChecked()
        self.model.set_subject(self._bridge.selection if is_limited else None)
        self._scroll_to_newest()
        self.update_counts()

    @override
    def activate(self, index: QModelIndex) -> None:
        """Select what the event in a row happened to; of what has passed, show its instant too."""
        self._go_to(self.model.rows[index.row()].event[0], self.model.selection_at(index.row()))

    def _go_to(self, at_ns: int, selection: Selection | None) -> None:
        # Takes values, not a row: rows may have changed since the menu was opened, and change
        # with the selection.
        bridge = self._bridge
        if selection is not None and selection.kind is not SelectionKind.NONE:
            bridge.select(selection)
        session = bridge.session
        if bridge.playhead_ns is not None or (session is not None and session.is_recorded):
            bridge.set_playhead(at_ns)

    @override
    def make_menu(self, row: int) -> QMenu:
        menu, shown, selection = QMenu(self), self.model.rows[row], self.model.selection_at(row)
        show = menu.addAction("Select the subject", partial(self._go_to, shown.event[0], selection))
        show.setEnabled(selection is not None)
        look_at = partial(self._bridge.set_playhead, shown.event[0])
        menu.addAction("Look at this instant", look_at)
        menu.addSeparator()
        menu.addAction("Copy", self.view.copy_marked)
        menu.addAction("Copy in full", partial(copy_text, shown.long_text))
        return menu

    @Slot()
    def _apply_theme(self) -> None:
        self.table.playhead_color = self._theme.color(ColorRole.TICK)
        super()._apply_theme()
