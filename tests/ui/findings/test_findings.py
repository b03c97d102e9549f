"""The findings panel: what looks wrong, looked at when it is seen, and where it leads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt
from pytestqt.qtbot import QtBot

from inspector.analysis.lint.findings import BLOCKED_LOOP, DRIFT, Finding
from inspector.sessions.captured import CapturedSession
from inspector.sessions.session import SessionPhase
from inspector.testing import pass_seconds, scene_file, virtual_session
from ui import findings
from ui.findings import ANALYSE_EVERY_S, CHEAP_S, FindingsPanel
from ui.kit.theme import Theme
from ui.session.bridge import Selection, SelectionKind, SessionBridge

SCENE = """
    def build(stage):
        stage.root.set_interval(0.004, lambda: None, name="fast")
"""


class Stand:
    """The panel over a hosted scene, with a clock that the test moves."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self.now_s = 100.0
        self.session = virtual_session(scene_file(folder, SCENE))
        self.bridge = SessionBridge()
        self.bridge.set_session(self.session)
        self.panel = FindingsPanel(self.bridge, Theme("light"), clock=lambda: self.now_s)
        qtbot.addWidget(self.panel)
        self.qtbot = qtbot
        self.panel.resize(600, 300)

    def show(self) -> None:
        with self.qtbot.waitExposed(self.panel):
            self.panel.show()

    def run(self, seconds: float) -> None:
        pass_seconds(self.session, seconds)
        self.bridge.refresh_now()

    def cells(self) -> list[list[str]]:
        model = self.panel.model
        columns = range(model.columnCount())
        return [
            [str(model.index(row, column).data()) for column in columns]
            for row in range(model.rowCount())
        ]


@pytest.fixture
def stand(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stand:
    # However busy the machine is, an analysis takes no time, so that further ones are automatic.
    monkeypatch.setattr(findings, "perf_counter", lambda: 0.0)
    return Stand(qtbot, tmp_path)


def test_that_it_looks_when_it_is_shown_and_not_before(stand: Stand) -> None:
    stand.run(2)
    assert stand.cells() == []

    stand.show()

    ((kind, _, text),) = stand.cells()
    assert kind == "sub-frame interval"
    assert text.startswith("fast repeats every 4.00 ms")
    assert stand.panel.state_label.text().startswith("1 finding in ")


def test_that_it_looks_again_by_itself_after_some_seconds(stand: Stand) -> None:
    stand.show()
    stand.run(0.01)
    assert stand.cells() == []

    stand.run(2)
    assert stand.cells() == []
    stand.now_s += ANALYSE_EVERY_S
    stand.run(0.1)

    assert len(stand.cells()) == 1


def test_that_an_expensive_look_is_taken_only_when_asked_for(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand.show()
    monkeypatch.setattr(stand.panel, "_took_s", CHEAP_S * 2)
    stand.now_s += ANALYSE_EVERY_S

    stand.run(2)
    assert stand.cells() == []
    assert "Newer events are not analysed yet" in stand.panel.state_label.text()

    stand.panel.analyse_button.click()
    assert len(stand.cells()) == 1


def test_that_a_click_selects_the_frame_and_the_menu_the_timer(stand: Stand) -> None:
    stand.run(2)
    stand.show()

    stand.panel.view.clicked.emit(stand.panel.model.index(0, 0))
    chosen = stand.bridge.selection
    menu = stand.panel.make_menu(0)
    texts = [action.text() for action in menu.actions() if action.text()]
    menu.actions()[1].trigger()

    assert chosen.kind is SelectionKind.FRAME
    assert texts == ["Select the frame", "Select the timer", "Select the clock", "Copy"]
    assert stand.bridge.selection == Selection.timer(1)


def test_that_enter_without_a_marked_finding_selects_nothing(stand: Stand, qtbot: QtBot) -> None:
    stand.show()
    view = stand.panel.view
    qtbot.keyClick(view, Qt.Key.Key_Return)
    stand.run(2)
    stand.panel.analyse()
    view.setCurrentIndex(QModelIndex())
    before = stand.bridge.selection

    qtbot.keyClick(view, Qt.Key.Key_Return)

    assert stand.bridge.selection == before


def test_that_an_empty_panel_says_why(qtbot: QtBot) -> None:
    panel = FindingsPanel(SessionBridge(), Theme("dark"))
    qtbot.addWidget(panel)
    panel.show()

    assert panel.notice.text() == "No findings: no scene is loaded."
    assert not panel.analyse_button.isEnabled()


def test_that_another_session_is_looked_at_anew(stand: Stand, tmp_path: Path) -> None:
    stand.run(2)
    stand.show()
    assert len(stand.cells()) == 1
    other = scene_file(tmp_path, "def build(stage): stage.root.set_timeout(1, int)", "other.py")

    stand.bridge.set_session(virtual_session(other))

    assert stand.cells() == []
    assert stand.panel.notice.text() == "Nothing looks wrong so far."


def test_that_a_long_past_is_looked_at_only_when_asked_for(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.findings.CHEAP_EVENTS", 100)
    monkeypatch.setattr("ui.findings.MOST_EVENTS", 100)
    stand.run(2)

    stand.show()

    assert stand.cells() == []
    assert stand.panel.notice.text() == "Not analysed yet: press “Analyse again”."
    stand.panel.analyse_button.click()
    assert len(stand.cells()) == 1
    assert stand.panel.state_label.text().endswith(". Nothing has happened since.")


def test_that_a_held_scene_is_looked_at_without_being_asked_for_however_much_was(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.findings.CHEAP_EVENTS", 100)
    stand.run(2)

    stand.show()

    assert len(stand.cells()) == 1
    assert stand.panel.state_label.text().endswith(". Nothing has happened since.")


def test_that_a_long_past_is_looked_at_in_turns(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.findings.AT_ONCE_EVENTS", 100)
    stand.run(2)
    turns: list[Callable[[], object]] = []
    monkeypatch.setattr(
        stand.bridge.refresh_timer, "queue_turn", lambda _, act, **_how: turns.append(act)
    )
    panel = stand.panel
    panel.analyse()

    assert panel.is_analysing
    assert not panel.analyse_button.isEnabled()
    assert panel.state_label.text() == "Analysing … 0 %"
    stand.run(0.1)
    count = 0
    while turns:
        turns.pop()()
        count += 1
    assert count > 1
    assert len(stand.cells()) == 1
    assert panel.analyse_button.isEnabled()


def test_that_a_look_at_a_session_that_is_gone_ends(
    stand: Stand, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("ui.findings.AT_ONCE_EVENTS", 100)
    stand.run(2)
    turns: list[Callable[[], object]] = []
    monkeypatch.setattr(
        stand.bridge.refresh_timer, "queue_turn", lambda _, act, **_how: turns.append(act)
    )
    stand.panel.analyse()
    other = scene_file(tmp_path, "def build(stage): stage.root.set_timeout(1, int)", "other.py")
    stand.bridge.set_session(virtual_session(other))

    while turns:
        turns.pop()()

    assert not stand.panel.is_analysing
    assert stand.cells() == []


def test_that_a_finding_about_a_function_offers_its_source(stand: Stand) -> None:
    stand.show()
    found = Finding(BLOCKED_LOOP, "crunch() blocked this loop", 0, None, 0, site="/srv/server.py:4")
    stand.panel.model.set_rows([found])
    texts = [action.text() for action in stand.panel.make_menu(0).actions()]
    assert texts[-3:] == ["Copy", "Copy source line", "Open server.py"]


def test_that_what_blocks_a_loop_comes_before_what_follows_from_it(stand: Stand) -> None:
    drift = Finding(DRIFT, "“tick” is behind", 5, None, 0)
    blocked = Finding(BLOCKED_LOOP, "crunch() blocked this loop", 9, None, 0)
    stand.panel._set_findings([drift, blocked])
    assert [row.kind for row in stand.panel.model.rows] == [BLOCKED_LOOP, DRIFT]


def test_that_frames_of_a_capture_are_held_against_the_budget_that_is_chosen(
    qtbot: QtBot, tmp_path: Path
) -> None:
    times = "\n".join("20" if number % 3 else "8" for number in range(300))
    path = tmp_path / "run.csv"
    path.write_text(f"frame_time_ms\n{times}\n")
    session = CapturedSession(path)
    while session.status.phase is SessionPhase.READING:
        session.refresh()
    stand = Stand(qtbot, tmp_path)
    stand.bridge.set_budgets_ms([30])
    stand.bridge.set_session(session)
    stand.show()
    assert not any("over budget" in text for *_, text in stand.cells())

    stand.bridge.set_budgets_ms([10])

    texts = [text for *_, text in stand.cells()]
    assert any("were over budget (11.5 ms)" in text for text in texts), texts
