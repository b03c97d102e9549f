"""Names with line ends and tabulators: shown in one line, whole, and copied as they are."""

from __future__ import annotations

from fractions import Fraction

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QToolButton
from pytestqt.qtbot import QtBot

from inspector.events.schema import EventGroup
from tests.ui.events.kinds import choose_kinds
from tests.ui.shell import Shell
from tests.ui.used_window import Lend
from ui.clock_tree.panel import ClockColumn, ClockTreePanel
from ui.events.panel import EventListPanel
from ui.kit.labels import ElidedLabel
from ui.kit.prompts import rate_prompt
from ui.kit.theme import Theme
from ui.selected.preview import PreviewCard
from ui.session.bridge import Selection
from ui.timer_queue.columns import CallColumn
from ui.timer_queue.panel import TimerQueuePanel
from ui.why.panel import WhyPanel

CLOCK = "name\nwith newline 😀"
TIMER = "a\tb\nxxx"
SCENE = f"""
def build(stage):
    clock = stage.root.child({CLOCK!r})
    clock.child("below").set_interval(1.0, print, name={TIMER!r})
    clock.set_timeout(0.05, print, name={TIMER!r})
"""
SHOWN_CLOCK = "name⏎with newline 😀"
SHOWN_TIMER = "a⇥b⏎xxx"


@pytest.fixture
def shell(lend: Lend) -> Shell:
    shell = lend(SCENE)
    shell.advance(0.1)
    return shell


def tree(shell: Shell) -> ClockTreePanel:
    shell.window.panels.open_panel("clock_tree")
    panel = shell.window.findChild(ClockTreePanel)
    assert panel is not None
    return panel


def row_of(panel: ClockTreePanel, clock_id: int) -> int:
    row = panel.model.row_of(clock_id)
    assert row is not None
    return row


def queue(shell: Shell) -> TimerQueuePanel:
    shell.window.panels.open_panel("timer_queue")
    panel = shell.window.findChild(TimerQueuePanel)
    assert panel is not None
    panel.refresh()
    return panel


def copied(shell: Shell, menu_text: str) -> str:
    """Return what an entry of the menu of the clock puts on the clipboard."""
    panel = tree(shell)
    menu = panel.make_menu(row_of(panel, shell.clock_id(CLOCK)))
    next(action for action in menu.actions() if action.text() == menu_text).trigger()
    return QGuiApplication.clipboard().text()


def test_that_the_clock_tree_shows_a_name_in_one_line(shell: Shell) -> None:
    panel = tree(shell)
    index = panel.model.index(row_of(panel, shell.clock_id(CLOCK)), ClockColumn.NAME)

    assert index.data() == SHOWN_CLOCK
    assert str(index.data(Qt.ItemDataRole.ToolTipRole)).startswith(f"root / {CLOCK}\n")


def test_that_the_timer_queue_shows_names_in_one_line(shell: Shell) -> None:
    model = queue(shell).model
    name = model.index(0, CallColumn.NAME)

    assert name.data() == SHOWN_TIMER
    assert name.data(Qt.ItemDataRole.ToolTipRole) == TIMER


def test_that_what_a_timer_waits_for_is_said_in_one_line(shell: Shell) -> None:
    panel = tree(shell)
    menu = panel.make_menu(row_of(panel, shell.clock_id(CLOCK)))
    menu.actions()[0].trigger()
    shell.advance(0.1)

    remaining = queue(shell).model.index(0, CallColumn.REMAINING).data()

    assert remaining == f"waits: {SHOWN_CLOCK}"


def test_that_menus_and_buttons_stay_one_line_high(shell: Shell) -> None:
    clock_id = shell.clock_id(CLOCK)
    shell.bridge.select(Selection.clock(clock_id))

    clocks = tree(shell)
    menu = clocks.make_menu(row_of(clocks, clock_id))
    assert menu.actions()[0].text() == f"Pause {SHOWN_CLOCK}"
    assert queue(shell).branch_button.text() == f"Only {SHOWN_CLOCK}"
    assert shell.window.actions_by_id["pause-branch"].text() == f"Pause {SHOWN_CLOCK}"
    assert not [b.text() for b in shell.window.findChildren(QToolButton) if "\n" in b.text()]


def test_that_details_show_names_in_one_line_and_copy_them_as_they_are(shell: Shell) -> None:
    panel = shell.window.findChild(WhyPanel)
    assert panel is not None
    shell.bridge.select(Selection.clock(shell.clock_id(CLOCK)))

    shown = [label.text() for label in panel.findChildren(QLabel)]

    assert panel.title_label.text() == SHOWN_CLOCK
    assert not [text for text in shown if CLOCK in text]
    assert CLOCK in panel.text()


def test_that_events_show_names_in_one_line(qtbot: QtBot, shell: Shell) -> None:
    panel = EventListPanel(shell.bridge, Theme("light"))
    qtbot.addWidget(panel)
    choose_kinds(panel, frozenset(EventGroup))
    model = panel.model
    model.refresh()
    rows = [model.index(row, 2) for row in range(model.rowCount())]

    assert any(SHOWN_TIMER in str(row.data()) for row in rows)
    assert not [row.data() for row in rows if "\n" in str(row.data()) or "\t" in str(row.data())]
    assert any(TIMER in str(row.data(Qt.ItemDataRole.ToolTipRole)) for row in rows)


@pytest.mark.parametrize("menu_text", ["Copy row", "Copy path"])
def test_that_names_are_copied_as_they_are(shell: Shell, menu_text: str) -> None:
    assert CLOCK in copied(shell, menu_text)


def test_that_a_row_of_the_queue_is_copied_as_it_is(shell: Shell) -> None:
    assert queue(shell).model.row_text(0).startswith(TIMER)


def test_that_the_title_of_a_prompt_is_one_line(qtbot: QtBot) -> None:
    prompt = rate_prompt(f"Rate of {CLOCK}", Fraction(1), print, Theme("light"), None)
    qtbot.addWidget(prompt)

    assert prompt.windowTitle() == f"Rate of {SHOWN_CLOCK}"


def test_that_the_rows_of_a_preview_are_one_line_high(qtbot: QtBot, shell: Shell) -> None:
    card = PreviewCard(shell.window)
    qtbot.addWidget(card)

    card.set_table("What would come of it.", [("Timer", "Now"), (TIMER, "1 s")], "")

    assert f"{SHOWN_TIMER}\t1 s" in card.text()


def test_that_a_line_is_cut_at_its_first_kind_of_joints_if_it_can(qtbot: QtBot) -> None:
    line = ElidedLabel(", ", " ")
    qtbot.addWidget(line)
    line.set_text("30 shown, 5,994 hidden")

    line.resize(line.fontMetrics().horizontalAdvance("30 shown, 5,994 h"), 20)
    assert line.shown_text() == "30 shown"
    line.resize(line.fontMetrics().horizontalAdvance("30 sho"), 20)
    assert line.shown_text() == "30"


@pytest.mark.parametrize(
    ("joints", "room_for", "shown"),
    [
        ("[;,] ", "It waits, then fires; soon.", "It waits, then fires; soon."),
        ("[;,] ", "It waits, then fires; soo", "It waits, then fires."),
        ("[;,] ", "It waits, the", "It waits."),
        ("^", "It waits", ""),
    ],
)
def test_that_a_line_is_cut_between_its_parts(
    qtbot: QtBot, joints: str, room_for: str, shown: str
) -> None:
    line = ElidedLabel(joints)
    qtbot.addWidget(line)
    line.set_text("It waits, then fires; soon." if joints != "^" else "It waits for long")

    line.resize(line.fontMetrics().horizontalAdvance(room_for) + 1, 20)

    assert line.shown_text() == shown


def test_that_a_readout_is_one_line_and_its_tool_tip_as_it_is(qtbot: QtBot) -> None:
    readout = ElidedLabel()
    qtbot.addWidget(readout)

    readout.set_text(f"in {CLOCK}")

    assert readout.text() == f"in {SHOWN_CLOCK}"
    assert readout.toolTip() == f"in {CLOCK}"
