"""What screen readers are told of changes, and what they are not told again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from inspector.commands.transport import Hold, Run
from tests.ui.shell import Shell
from tests.ui.used_window import Lend
from ui.kit.table.table_view import TableView
from ui.session.bridge import Selection
from ui.timeline import lane_gestures
from ui.timeline.panel import TimelinePanel
from ui.transport import transport_bar
from ui.why.panel import WhyPanel
from ui.window.handlers import palette_dialog
from ui.window.handlers.palette_dialog import CommandPalette

SCENE = """
def build(stage):
    game = stage.root.child("game")
    game.set_interval(0.1, lambda: None, name="beat")
    game.set_interval(0.25, lambda: None, name="bar")
    game.set_timeout(0.5, lambda: None, name="once")
    game.set_timeout(60, lambda: None, name="boss arrives")
"""


@pytest.fixture
def shell(lend: Lend) -> Shell:
    shell = lend(SCENE)
    shell.pass_frames(20)
    return shell


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    said: list[str] = []

    def note(_widget: QWidget, text: str) -> None:
        said.append(text)

    for module in (lane_gestures, palette_dialog, transport_bar):
        monkeypatch.setattr(module, "announce", note)
    return said


@pytest.fixture
def had_keyboard() -> Iterator[list[QWidget | None]]:
    """What the keyboard has come to."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    had_keyboard: list[QWidget | None] = []

    def note(_former: QWidget | None, now: QWidget | None) -> None:
        had_keyboard.append(now)

    application.focusChanged.connect(note)
    yield had_keyboard
    application.focusChanged.disconnect(note)


def test_that_the_palette_says_what_enter_would_open(shell: Shell, said: list[str]) -> None:
    shell.trigger("palette")
    palette = shell.window.findChild(CommandPalette)
    assert palette is not None

    palette.line.setText("boss arrives")
    assert said.count(said[-1]) == 1
    palette.line.setText("boss arrives ")
    assert said.count(said[-1]) == 1
    assert said[-1] == "boss arrives, timer on game · due in 59.7 s"
    QTest.keyClick(palette.line, Qt.Key.Key_Down)
    assert said[-1] == "1:00.000  boss arrives, in 59.7 s · step there"


def test_that_it_is_said_that_time_is_held_and_runs_again(shell: Shell, said: list[str]) -> None:
    shell.bridge.submit(Hold())
    shell.advance(1 / 60)
    shell.bridge.submit(Run())
    shell.advance(1 / 60)

    assert said == ["Held at 0:00.350.", "“scene.py” is running."]


def test_that_a_row_that_changes_its_place_is_not_read_again(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[int] = []
    told: Callable[..., None] = TableView.__base__.currentChanged  # type: ignore[union-attr]

    def tell(view: TableView, *indexes: object) -> None:
        moved.append(view.currentIndex().row())
        told(view, *indexes)

    shell.window.panels.enter_panel("timer_queue")
    (view,) = shell.window.panels.panel("timer_queue").findChildren(TableView)
    monkeypatch.setattr(TableView.__base__, "currentChanged", tell)
    QTest.keyClick(view, Qt.Key.Key_Down)
    QTest.keyClick(view, Qt.Key.Key_Down)
    by_keys = len(moved)
    assert by_keys
    rows = set()
    for _ in range(30):
        shell.pass_frames(1)
        shell.window.panels.panel("timer_queue").refresh()  # type: ignore[attr-defined]
        rows.add(view.currentIndex().row())

    assert len(rows) > 1, "the row has changed its place"
    assert len(moved) == by_keys


def test_that_a_lane_stays_while_the_keyboard_is_on_it(shell: Shell) -> None:
    panel = shell.window.panels.panel("timeline")
    assert isinstance(panel, TimelinePanel)
    canvas = panel.canvas
    panel.refresh()
    canvas.chosen_key = next(row.key for row in canvas.rows.rows if row.label == "once")

    for _ in range(60):
        shell.pass_frames(30)
        panel.refresh()
        panel.grab()

    assert canvas.lane_window().low > 1_000_000_000, "it has fired, and that is out of view"
    assert "once" in [row.label for row in canvas.rows.rows]
    canvas.chosen_key = None
    canvas.arrange_rows()
    assert "once" not in [row.label for row in canvas.rows.rows]


def test_that_an_arrow_says_which_firing_it_goes_to(shell: Shell, said: list[str]) -> None:
    panel = shell.window.panels.panel("timeline")
    assert isinstance(panel, TimelinePanel)
    panel.refresh()
    canvas = panel.canvas
    canvas.chosen_key = next(row.key for row in canvas.rows.rows if row.label == "beat")

    QTest.keyClick(canvas, Qt.Key.Key_Left)

    assert said[-1].startswith("beat"), said
    assert "0:00.300" in said[-1]


def test_that_why_has_its_answer_read_when_the_keyboard_comes_to_it(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    panel = shell.window.findChild(WhyPanel)
    assert panel is not None
    shell.bridge.select(Selection.clock(shell.clock_id("game")))
    QApplication.processEvents()
    panel.refresh()

    assert panel._area.accessibleDescription().startswith("game. ")


def test_that_the_keyboard_goes_straight_from_the_tray_to_the_frames(
    shell: Shell, had_keyboard: list[QWidget | None]
) -> None:
    shell.activate()
    shell.window.panels.enter_panel("timer_queue")
    QApplication.processEvents()
    had_keyboard.clear()

    shell.window.panels.close_tray()

    assert had_keyboard == [shell.window.frame_times.plot]


def test_that_the_keyboard_goes_straight_from_a_notice_that_ends_to_the_frames(
    shell: Shell, had_keyboard: list[QWidget | None]
) -> None:
    shell.activate()
    notice = shell.window.notice
    notice.show_lasting("Not saved: a.tlrec")
    notice.close_button.setFocus()
    had_keyboard.clear()

    notice.dismiss()

    assert had_keyboard == [shell.window.frame_times.plot]
