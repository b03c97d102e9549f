"""The panel of tasks: what it shows and asks for, and what the selected task limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QItemSelectionModel

from inspector.vocabulary import (
    TASK_ADDED,
    TASK_AT,
    TASK_AWAITED,
    TASK_ORIGIN,
    TASK_WAITS,
    TASKS_TOLD,
    TaskWait,
)
from tests.ui.members_world import MS, MembersSession
from ui.kit.theme import Theme
from ui.session.bridge import SessionBridge
from ui.tasks import TaskColumn, TasksPanel

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


class ProgramSession(MembersSession):
    """A session with a program of three tasks.

    Attributes:
        asked: The paces at which its tasks were asked for.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []
        self.programs: dict[int, object] = {}
        self.can_end_program = False
        self.about_end = ""

    def tell(self) -> None:
        log, text, loop = self.log, self.log.intern, self.root.id
        for event in (
            (TASK_ADDED, 1, loop, text("main")),
            (TASK_WAITS, 1, int(TaskWait.TASK), 0),
            (TASK_ADDED, 2, loop, text("poll")),
            (TASK_ORIGIN, 2, text("/srv/server.py:41 in main"), text("/srv/server.py:8 in poll")),
            (TASK_AT, 2, text("/srv/server.py:9 in poll"), text("Queue.get")),
            (TASK_WAITS, 2, int(TaskWait.QUEUE), 3 * MS),
            (TASK_AWAITED, 2, 1, 1),
            (TASK_ADDED, 3, loop, text("heartbeat")),
            (TASK_WAITS, 3, int(TaskWait.TIMER), 0),
            (TASKS_TOLD, loop, 3, 9),
        ):
            log.append((self.tree.now_ns, *event))

    def watch_tasks(self, every_ns: int) -> None:
        self.asked.append(every_ns)

    def program_of_clock(self, _clock_id: int) -> None: ...
    def detach(self) -> None: ...
    def end_program(self) -> None: ...
    def frames_text(self, _clock_id: int) -> str:
        return ""


@pytest.fixture
def session(bridge: SessionBridge) -> ProgramSession:
    session = ProgramSession()
    session.run_to_ms(10)
    bridge.set_session(session)
    return session


@pytest.fixture
def panel(qtbot: QtBot, bridge: SessionBridge, session: ProgramSession) -> TasksPanel:
    assert session is not None
    panel = TasksPanel(bridge, Theme("light"))
    qtbot.addWidget(panel)
    panel.resize(900, 300)
    with qtbot.waitExposed(panel):
        panel.show()
    return panel


def told(panel: TasksPanel, session: ProgramSession, bridge: SessionBridge) -> None:
    session.tell()
    session.run_to_ms(15)
    bridge.refresh_now()
    panel.refresh()


def cells(panel: TasksPanel, *columns: TaskColumn) -> list[tuple[str, ...]]:
    model = panel.model
    return [
        tuple(str(model.index(row, column).data()) for column in columns)
        for row in range(model.rowCount())
    ]


def test_that_each_task_is_below_the_one_that_waits_for_it(
    panel: TasksPanel, session: ProgramSession, bridge: SessionBridge
) -> None:
    assert panel.notice.text() == "No tasks of asyncio, uvloop or trio were told yet."
    told(panel, session, bridge)
    shown = cells(panel, TaskColumn.TASK, TaskColumn.WAITS_FOR, TaskColumn.WAITED, TaskColumn.LINE)
    assert shown == [
        ("heartbeat", "timer", "not known yet", ""),
        ("main", "1 task", "not known yet", ""),
        ("    poll", "queue: Queue.get", "3.00 ms", "server.py:9"),
    ]
    assert panel.count_label.text() == "3 tasks"
    panel.filter_rows("poll")
    panel.update_counts()
    assert panel.count_label.text() == f"{panel.model.rowCount()} of 3 tasks"


def test_that_programs_are_asked_only_while_the_panel_is_seen(
    panel: TasksPanel, session: ProgramSession, bridge: SessionBridge
) -> None:
    panel.hide()
    panel.show()
    bridge.set_session(ProgramSession())
    assert [bool(every_ns) for every_ns in session.asked] == [True, False, True, False]


def test_that_the_selected_task_limits_lanes_and_timers_until_it_no_longer_is(
    panel: TasksPanel, session: ProgramSession, bridge: SessionBridge
) -> None:
    limits: list[str] = []
    bridge.rows_limited.connect(limits.append)
    told(panel, session, bridge)

    panel.view.selectRow(2)
    told(panel, session, bridge)
    assert limits == ["poll"]
    panel.view.selectionModel().select(
        panel.model.index(2, 0),
        QItemSelectionModel.SelectionFlag.Clear,
    )
    assert limits == ["poll", ""]
    panel.view.selectRow(0)
    panel.hide()
    assert limits == ["poll", "", "heartbeat", ""]


def test_that_the_menu_leads_to_the_lines_that_are_known(
    panel: TasksPanel, session: ProgramSession, bridge: SessionBridge
) -> None:
    told(panel, session, bridge)
    menus = [each.text() for each in panel.make_menu(2).actions() if each.menu() is not None]
    assert menus == ["Where it waits", "Where it was created", "Its function"]
    assert [each for each in panel.make_menu(0).actions() if each.menu() is not None] == []
