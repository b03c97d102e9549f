"""The breakpoints panel: adding, changing, hits, files, and what it says about mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from inspector.commands.breakpoints import AddBreakpoint, ChangeBreakpoint, RemoveBreakpoint
from inspector.events import EventLog
from inspector.events.conditions.breakpoint import BreakAction, BreakKind, Breakpoint
from inspector.events.states import BreakHit
from inspector.sessions.breakpoints.breakpoints import Breakpoints
from inspector.vocabulary import BREAKPOINT_HIT
from tests.ui.world import PlayedSession
from ui.breakpoints.panel import BreakpointRow, BreakpointsPanel
from ui.kit.theme import Theme
from ui.session.bridge import Selection, SessionBridge


class Stand:
    """The panel over a session that notes requests."""

    def __init__(self, qtbot: QtBot) -> None:
        self.session = PlayedSession()
        self.bridge = SessionBridge()
        self.bridge.set_session(self.session)
        self.panel = BreakpointsPanel(self.bridge, Theme("light"))
        qtbot.addWidget(self.panel)
        self.panel.resize(900, 300)
        with qtbot.waitExposed(self.panel):
            self.panel.show()

    @property
    def breakpoints(self) -> Breakpoints:
        assert self.session.breakpoints is not None
        return self.session.breakpoints

    def add(self, breakpoint_: Breakpoint) -> int:
        number = self.breakpoints.add(breakpoint_)
        self.panel.refresh()
        return number

    def rows(self) -> list[list[str]]:
        model = self.panel.model
        return [
            [model.index(row, column).data() for column in range(4)]
            for row in range(model.rowCount())
        ]


@pytest.fixture
def stand(qtbot: QtBot) -> Stand:
    return Stand(qtbot)


def test_that_an_empty_panel_says_what_breakpoints_do(stand: Stand) -> None:
    assert "Choose above what is to stop the scene" in stand.panel.notice.text()
    stand.bridge.set_session(None)
    assert stand.panel.notice.text() == "No breakpoints: no scene is loaded."


def test_that_the_fields_make_a_breakpoint(stand: Stand, qtbot: QtBot) -> None:
    form = stand.panel.form
    form.kind.setCurrentIndex(form.kind.findData(BreakKind.LATENESS_ABOVE))
    form.subject.setText("boss")
    form.limit.setText("2.5 ms")
    form.action.setCurrentIndex(form.action.findData(BreakAction.PAUSE_BRANCH))
    form.from_hit.setValue(3)
    form.once.setChecked(True)

    qtbot.mouseClick(form.button, Qt.MouseButton.LeftButton)

    assert stand.session.submitted == [
        AddBreakpoint(
            Breakpoint(
                BreakKind.LATENESS_ABOVE,
                "boss",
                2_500_000,
                action=BreakAction.PAUSE_BRANCH,
                from_hit=3,
                is_once=True,
            )
        )
    ]


def test_that_a_mistake_is_explained_and_what_was_typed_stays(stand: Stand, qtbot: QtBot) -> None:
    form = stand.panel.form
    form.kind.setCurrentIndex(form.kind.findData(BreakKind.CONDITION))
    form.condition.setText("lateness > 5")

    qtbot.keyClick(form.condition, Qt.Key.Key_Return)

    assert form.problem.isVisible()
    assert (
        form.problem.text() == "✖ At character 12: a duration needs a unit, such as 5ms or 0.25s."
    )
    assert form.condition.text() == "lateness > 5"
    assert stand.session.submitted == []


def test_that_a_mistake_is_forgotten_with_the_field_it_is_in(stand: Stand) -> None:
    form = stand.panel.form
    form.kind.setCurrentIndex(form.kind.findData(BreakKind.CONDITION))
    form.condition.setText("abc")
    form.button.click()
    assert form.problem.isVisible()

    form.kind.setCurrentIndex(form.kind.findData(BreakKind.FRAME_ABOVE))

    assert not form.problem.isVisible()


def test_that_an_unknown_name_is_accepted_with_a_warning(stand: Stand) -> None:
    stand.session.root.set_timeout(1, print, name="boss")
    stand.bridge.refresh_now()
    form = stand.panel.form
    form.subject.setText("bos")

    form.give()

    assert stand.session.submitted == [AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "bos"))]
    assert form.problem.isVisible()
    assert form.problem.text() == (
        "● No timer has had the name “bos” so far; the breakpoint waits for it. Did you mean "
        "“boss”?"
    )
    form.subject.setText("boss")
    form.give()

    assert not form.problem.isVisible()


def test_that_names_are_those_of_the_timeline_while_the_scene_is_loaded_anew(stand: Stand) -> None:
    stand.session.root.set_timeout(1, print, name="boss")
    stand.bridge.refresh_now()
    # The next refresh takes the timeline of the new log.
    stand.session.log = EventLog()
    form = stand.panel.form
    form.subject.setText("bos")

    form.give()

    assert form.problem.text().endswith("Did you mean “boss”?")


def test_that_the_field_for_a_name_offers_those_of_the_present(stand: Stand) -> None:
    form = stand.panel.form
    stand.session.root.set_timeout(1, print, name="boss")
    stand.bridge.refresh_now()
    offered = []
    for kind in (BreakKind.TIMER_FIRES, BreakKind.CLOCK_PAUSED):
        form.kind.setCurrentIndex(form.kind.findData(kind))
        form.kind.setFocus()
        form.subject.setFocus()
        model = form.subject.completer().model()
        offered.append([model.index(row, 0).data() for row in range(model.rowCount())])

    assert offered == [["boss"], ["root"]]


def test_that_a_click_elsewhere_closes_the_list_of_names(stand: Stand, qtbot: QtBot) -> None:
    form = stand.panel.form
    stand.session.root.set_timeout(1, print, name="boss")
    stand.bridge.refresh_now()
    form.subject.setFocus()
    completer = form.subject.completer()
    qtbot.keyClicks(form.subject, "b")
    popup = completer.popup()
    assert popup is not None
    assert popup.isVisible()

    stand.session.root.set_timeout(1, print, name="bat")
    stand.bridge.refresh_now()
    qtbot.mouseClick(popup, Qt.MouseButton.LeftButton, pos=QPoint(-20, -20))

    assert not popup.isVisible()
    assert form.subject.completer() is completer
    assert form.subject.text() == "b"


def test_that_a_name_is_taken_from_the_list_with_the_keyboard(stand: Stand, qtbot: QtBot) -> None:
    form = stand.panel.form
    stand.session.root.set_timeout(1, print, name="boss")
    stand.bridge.refresh_now()
    form.subject.setFocus()
    qtbot.keyClicks(form.subject, "b")
    popup = form.subject.completer().popup()

    # Closing the list gives the field the focus before the name is taken from it.
    stand.session.root.set_timeout(1, print, name="a bat")
    stand.bridge.refresh_now()
    qtbot.keyClick(popup, Qt.Key.Key_Down)
    qtbot.keyClick(popup, Qt.Key.Key_Return)

    assert form.subject.text() == "boss"


def test_that_only_the_fields_that_matter_are_shown(stand: Stand) -> None:
    form = stand.panel.form
    shown = {}
    for kind in BreakKind:
        form.kind.setCurrentIndex(form.kind.findData(kind))
        fields = (form.subject, form.limit, form.condition)
        shown[kind] = [field.isVisible() for field in fields]

    assert shown[BreakKind.TIMER_FIRES] == [True, False, False]
    assert shown[BreakKind.LATENESS_ABOVE] == [True, True, False]
    assert shown[BreakKind.FRAME_ABOVE] == [False, True, False]
    assert shown[BreakKind.CONDITION] == [False, False, True]


def test_that_rows_say_what_when_and_how_often(stand: Stand) -> None:
    number = stand.add(Breakpoint(BreakKind.FRAME_ABOVE, limit_ns=20_000_000, is_once=True))
    log = stand.session.log
    log.append((1_500_000_000, BREAKPOINT_HIT, number, log.intern("why"), 88))
    stand.bridge.refresh_now()

    assert stand.rows() == [
        ["a frame time exceeds 20.0 ms", "hold the scene, once", "0", "frame 88 at 0:01.500"]
    ]
    stand.panel.view.doubleClicked.emit(stand.panel.model.index(0, 0))
    assert stand.bridge.selection == Selection.frame(88)


def test_that_marking_a_row_fills_the_fields_and_changes_it(stand: Stand) -> None:
    number = stand.add(Breakpoint(BreakKind.TIMER_FIRES, "boss"))
    stand.panel.view.selectRow(0)
    form = stand.panel.form

    assert (form.subject.text(), form.button.text()) == ("boss", "&Change")
    form.subject.setText("tick")
    form.give()

    assert stand.session.submitted == [
        ChangeBreakpoint(number, Breakpoint(BreakKind.TIMER_FIRES, "tick"))
    ]


def test_that_a_box_turns_a_breakpoint_off(stand: Stand) -> None:
    number = stand.add(Breakpoint(BreakKind.CALLBACK_RAISED))
    model = stand.panel.model

    model.setData(model.index(0, 0), Qt.CheckState.Unchecked, Qt.ItemDataRole.CheckStateRole)

    off = Breakpoint(BreakKind.CALLBACK_RAISED, is_enabled=False)
    assert stand.session.submitted == [ChangeBreakpoint(number, off)]


def test_that_delete_removes_the_marked_one(stand: Stand, qtbot: QtBot) -> None:
    number = stand.add(Breakpoint(BreakKind.CALLBACK_RAISED))
    stand.panel.view.selectRow(0)
    stand.panel.view.setFocus()

    qtbot.keyClick(stand.panel.view, Qt.Key.Key_Delete)

    assert stand.session.submitted == [RemoveBreakpoint(number)]


def test_that_a_file_brings_everything_back(stand: Stand, tmp_path: Path) -> None:
    first = Breakpoint(BreakKind.TIMER_FIRES, "boss")
    second = Breakpoint(BreakKind.CONDITION, condition="busy > 8ms", action=BreakAction.MARK)
    stand.add(first)
    stand.add(second)
    path = tmp_path / "mine.json"

    stand.panel.export_file(path)
    stand.panel.import_file(str(path))

    assert stand.panel.problem.text() == ""
    assert stand.session.submitted == [AddBreakpoint(first), AddBreakpoint(second)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nonsense", "not JSON"),
        ("[]", "holds no breakpoints"),
        ('{"format": "timeline-inspector breakpoints", "version": 9}', "version 9"),
    ],
)
def test_that_a_file_that_is_none_is_refused_in_words(
    stand: Stand, tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, encoding="utf-8")

    stand.panel.import_file(str(path))

    assert words in stand.panel.problem.text()
    assert stand.session.submitted == []


def test_that_one_bad_breakpoint_in_a_file_is_named_and_none_is_taken(
    stand: Stand, tmp_path: Path
) -> None:
    path = tmp_path / "other.json"
    good = Breakpoint(BreakKind.CALLBACK_RAISED).as_values()
    whole = {
        "format": "timeline-inspector breakpoints",
        "version": 1,
        "breakpoints": [good, {"kind": "never"}],
    }
    path.write_text(json.dumps(whole), encoding="utf-8")

    stand.panel.import_file(str(path))

    assert "Breakpoint 2 of the file" in stand.panel.problem.text()
    assert stand.session.submitted == []


def test_that_a_file_that_cannot_be_written_is_explained(stand: Stand, tmp_path: Path) -> None:
    stand.add(Breakpoint(BreakKind.CALLBACK_RAISED))
    stand.panel.export_file(tmp_path / "missing" / "mine.json")
    assert "does not exist" in stand.panel.problem.text()


def test_that_the_last_hit_of_a_long_turn_says_what_was_seen_during_it() -> None:
    breakpoint_ = Breakpoint(BreakKind.TURN_ABOVE, limit_ns=100_000_000)
    text = f"{breakpoint_.text}: it took 300 ms: task “rebuild” was in crunch() (server.py:4)"
    row = BreakpointRow(1, breakpoint_, 1, BreakHit(2_000_000_000, 1, text, 88))
    assert row.last_text == (
        "frame 88 at 0:02.000: it took 300 ms: task “rebuild” was in crunch() (server.py:4)"
    )
