"""The panel of tasks: a table in the order of the tree of which task waits for which."""

from __future__ import annotations

from operator import attrgetter
from typing import Final

from PySide6.QtCore import Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.analysis.task_rows import TaskRow, task_rows
from inspector.calls.call import short_site
from inspector.display_text import counted
from inspector.sessions.session import AttachesPrograms, Session
from inspector.timebase import NS_PER_MS

from .kit.guards import guarded
from .kit.source_menu import add_source_actions
from .kit.table.columns import Column, ColumnEnum
from .kit.table.models import ListTableModel
from .kit.table.table_panel import TablePanel
from .kit.table.table_view import TableView
from .kit.theme import ColorRole, Theme
from .kit.throttled_refresh import ThrottledRefresh
from .session.bridge import SessionBridge

#: How often programs report their tasks, and how often the table is refreshed.
_ASKED_NS: Final = 500 * NS_PER_MS
_TABLE_MS: Final = 500
_INDENT: Final = "    "


_column = Column[TaskRow]


def _color_of(task: TaskRow) -> ColorRole | None:
    return ColorRole.RED if task.waits_for.startswith("runs ") else None


def _place(site: str) -> str:
    return short_site(site).partition(" in ")[0]


class TaskColumn(ColumnEnum):
    # fmt: off
    TASK = _column(
        "Task", lambda task: _INDENT * task.depth + task.name,
        "What it does, below the task that waits for it", lambda task: task.defined or None,
        sample="        a long name of a task", least="    poll")
    WAITS_FOR = _column(
        "Waits for", lambda task: task.waits_for, "What it waits for",
        sample="queue: PriorityQueue.get", color=_color_of)
    WAITED = _column(
        "For", lambda task: task.waited_text,
        "For how long; ≥ where it was seen to wait already", sample="not known yet", is_number=True)
    LINE = _column(
        "At", lambda task: _place(task.line), "The line of the program where it waits",
        lambda task: task.line or None, sample="server.py:123", yields=1)
    CREATED = _column(
        "Created", lambda task: _place(task.created),
        "The line that created it; not known of tasks that are older than the table",
        lambda task: task.created or None, sample="server.py:123", yields=2)
    # fmt: on


@guarded
class TasksPanel(TablePanel):
    """Lists the tasks at the instant that is shown; programs report them while it is visible.

    The selected task limits lanes and timers to those that have its name.
    """

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        self.model = ListTableModel[TaskRow](TaskColumn, theme, attrgetter("task.id"))
        super().__init__(
            TableView(self.model, "Tasks", bridge.panel_choices),
            theme,
            parent,
            filter_hint="Filter tasks",
        )
        self._bridge = bridge
        self._asked: AttachesPrograms | None = None
        self._words = ""
        self._shown: tuple[object, ...] = ()
        self.lay_out()
        self._throttle = ThrottledRefresh(self, bridge.refresh_timer, self.refresh, _TABLE_MS)
        self._throttle.follow()
        bridge.playhead_changed.connect(self._throttle.request)
        bridge.session_changed.connect(self._on_session_changed)
        self.view.selectionModel().selectionChanged.connect(self._limit_others)
        self.update_counts()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._ask(self._bridge.session)
        self._throttle.request()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._ask(None)
        self._limit_rows("")

    def _ask(self, session: object) -> None:
        """Have the programs of this session, and no others, report their tasks."""
        former, wanted = self._asked, session if isinstance(session, AttachesPrograms) else None
        self._asked = wanted
        if former is not None and former is not wanted:
            former.watch_tasks(0)
        if wanted is not None:
            wanted.watch_tasks(_ASKED_NS)

    @Slot(object)
    def _on_session_changed(self, session: Session | None) -> None:
        self._shown = ()
        self.model.set_rows(())
        self._limit_rows("")
        self._ask(session if self.isVisible() else None)
        self.update_counts()
        self._throttle.request()

    @Slot()
    def refresh(self) -> None:
        session = self._bridge.session
        if session is None or not self.isVisible():
            return
        timeline = self._bridge.shown
        shown = (session, timeline.tasks.version)
        if shown != self._shown:
            self._shown = shown
            with self.view.arranging():
                self.model.set_rows(task_rows(session.history, timeline))
        self.update_counts()

    @override
    def count_text(self) -> str:
        rows, hidden = self.model.rowCount(), self.model.hidden_count
        return (f"{rows:,} of " if hidden else "") + counted(rows + hidden, "task")

    @override
    def why_empty(self) -> str:
        session = self._bridge.session
        if self.model.hidden_count:
            return f"The filter hides {counted(self.model.hidden_count, 'task')}."
        if session is None:
            return "No tasks: no program is attached."
        if self._bridge.playhead_ns is not None or session.is_recorded:
            return "The tasks of this instant are not known: nobody asked for them."
        if not isinstance(session, AttachesPrograms):
            return "No tasks: they are those of attached programs, of asyncio, uvloop and trio."
        return "No tasks of asyncio, uvloop or trio were told yet."

    @Slot()
    def _limit_others(self) -> None:
        if not self.view.is_arranging:
            rows = self.view.marked_rows()
            self._limit_rows(self.model.rows[rows[0]].name if len(rows) == 1 else "")

    def _limit_rows(self, words: str) -> None:
        if words != self._words:
            self._words = words
            self._bridge.limit_rows(words)

    @override
    def make_menu(self, row: int) -> QMenu:
        task = self.model.rows[row]
        menu = super().make_menu(row)
        for title, site in (
            ("Where it waits", task.line),
            ("Where it was created", task.created),
            ("Its function", task.defined),
        ):
            if site:
                add_source_actions(menu.addMenu(title), site.partition(" in ")[0])
        return menu
