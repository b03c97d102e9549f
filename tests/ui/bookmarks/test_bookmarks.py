"""The bookmarks panel: going there, renaming, removing, and putting back."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.commands.transport import StepFrames
from inspector.events.annotations import LONGEST_NAME, Annotation
from inspector.sessions.annotations import Annotations
from inspector.testing import held_session, scene_file
from inspector.timebase import NS_PER_MS
from ui.bookmarks.panel import AnnotationColumn, AnnotationModel, BookmarksPanel, made_text
from ui.kit.theme import Theme
from ui.session.bridge import SessionBridge

SCENE = """
    def build(stage):
        stage.root.set_interval(0.5, lambda: None, name="boss")
"""
NONE = Qt.KeyboardModifier.NoModifier


class Stand:
    """The panel over a held scene of which two seconds have passed."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self.qtbot = qtbot
        self.session = held_session(scene_file(folder, SCENE))
        self.session.submit(StepFrames(120))
        self.bridge = SessionBridge()
        self.bridge.set_session(self.session)
        self.annotations = self.bridge.annotations
        self.panel = BookmarksPanel(self.bridge, Theme("light"))
        qtbot.addWidget(self.panel)
        self.panel.resize(900, 300)
        with qtbot.waitExposed(self.panel):
            self.panel.show()

    def leave(self, *names: str) -> None:
        for place, name in enumerate(names, 1):
            self.annotations.add(Annotation("bookmark", place * 100 * NS_PER_MS, name=name))

    def cells(self, column: AnnotationColumn) -> list[str]:
        model = self.panel.model
        return [str(model.index(row, column).data()) for row in range(model.rowCount())]

    def names(self) -> list[str]:
        return self.cells(AnnotationColumn.NAME)

    def middle_of(self, row: int, column: AnnotationColumn) -> QPoint:
        view = self.panel.view
        return view.visualRect(self.panel.model.index(row, column)).center()

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
        QTest.keyClick(self.panel.view, key, modifiers)

    def type_into_cell(self, text: str) -> None:
        (editor,) = (e for e in self.panel.view.findChildren(QLineEdit) if e.isVisible())
        editor.setText(text)
        QTest.keyClick(editor, Qt.Key.Key_Return)
        # Qt takes the text over in the next turn.
        QApplication.processEvents()


@pytest.fixture
def stand(qtbot: QtBot, tmp_path: Path) -> Stand:
    return Stand(qtbot, tmp_path)


def test_that_an_empty_panel_says_how_to_leave_something(stand: Stand) -> None:
    assert stand.panel.notice.text().startswith("No bookmarks. Press B for a bookmark")
    assert stand.panel.notice.text().endswith("Recordings keep them.")

    stand.bridge.set_session(None)
    assert stand.panel.notice.text() == "No bookmarks: no scene is loaded."
    assert not stand.panel.bookmark_button.isEnabled()


def test_that_each_row_tells_all_of_one(stand: Stand) -> None:
    stand.annotations.add(
        Annotation("range", 100 * NS_PER_MS, 1_500 * NS_PER_MS, "fight", "one\ntwo")
    )
    row = [stand.cells(column)[0] for column in AnnotationColumn]

    assert row[:5] == ["range", "0:00.100", "0:01.500", "fight", "one ⏎ two"]
    assert row[5] == made_text(stand.annotations.items[0].created)
    at = stand.panel.model.index(0, AnnotationColumn.AT)
    assert at.data(Qt.ItemDataRole.ToolTipRole) == "1.40 s long"
    assert stand.panel.count_label.text() == "1 shown"
    assert stand.panel.notice.isHidden()


def test_that_a_double_click_and_enter_show_the_state_there(stand: Stand) -> None:
    stand.leave("a", "b")
    view = stand.panel.view
    place = stand.middle_of(1, AnnotationColumn.TEXT)
    stand.qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    stand.qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert stand.bridge.playhead_ns == 200 * NS_PER_MS

    stand.panel.mark(stand.annotations.items[0].id)
    stand.press(Qt.Key.Key_Return)
    assert stand.bridge.playhead_ns == 100 * NS_PER_MS


def test_that_names_and_texts_are_edited_in_their_cells(stand: Stand) -> None:
    stand.leave("a")
    stand.panel.mark(1)
    stand.press(Qt.Key.Key_F2)
    stand.type_into_cell(" the boss ")
    stand.panel.edit(0, AnnotationColumn.TEXT)
    stand.type_into_cell("late ⏎ twice")

    (found,) = stand.session.annotations
    assert (found.name, found.text) == ("the boss", "late\ntwice")
    assert stand.names() == ["the boss"]


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("  ", "✖ The bookmark is empty: give it a name."),
        (
            "x" * (LONGEST_NAME + 1),
            ("✖ The name has 201 characters; at most 200 are allowed. Shorten it."),
        ),
    ],
)
def test_that_a_name_that_cannot_be_taken_says_why(stand: Stand, typed: str, reason: str) -> None:
    stand.leave("a")
    stand.panel.edit(0, AnnotationColumn.NAME)
    stand.type_into_cell(typed)

    assert (stand.names(), stand.panel.message.text()) == (["a"], reason)


def test_that_what_cannot_be_seen_is_left_out_of_a_name(stand: Stand) -> None:
    stand.leave("a")
    index = stand.panel.model.index(0, AnnotationColumn.NAME)
    assert stand.panel.model.setData(index, "b\x1b[31m\u202e c\nd")
    assert stand.names() == ["b [31m c d"]


def test_that_delete_removes_and_undo_puts_back(stand: Stand) -> None:
    stand.leave("a", "b", "c")
    stand.panel.mark(2)
    assert stand.panel.remove_button.isEnabled()
    stand.press(Qt.Key.Key_Delete)
    assert stand.names() == ["a", "c"]
    assert stand.panel.message.text() == "“b” was removed."
    stand.press(Qt.Key.Key_Delete)
    assert stand.names() == ["a"]

    stand.press(Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    stand.panel.undo_button.click()
    assert stand.names() == ["a", "b", "c"]

    stand.panel.view.selectAll()
    stand.panel.remove_button.click()
    assert (stand.names(), stand.panel.message.text()) == ([], "3 annotations were removed.")
    stand.panel.undo_button.click()
    assert stand.names() == ["a", "b", "c"]


@pytest.mark.parametrize(("scale", "width"), [(1, 720), (2, 1_280)])
def test_that_the_filter_has_room_for_what_it_says(stand: Stand, scale: int, width: int) -> None:
    panel = stand.panel
    font = panel.font()
    font.setPixelSize(13 * scale)
    panel.setFont(font)
    panel.resize(width - 40, 300)
    QApplication.processEvents()

    line = panel.filter_line
    needed = line.fontMetrics().horizontalAdvance(line.placeholderText())
    assert line.width() - line.textMargins().left() > needed


def test_that_a_count_has_up_to_a_quarter_of_the_width(stand: Stand) -> None:
    label = stand.panel.count_label
    both = "5,000,000 of 5,000,000,000"
    label.set_text(f"{both} shown")
    whole = label.sizeHint().width()

    for width, shown in ((whole, label.text()), (whole - 1, both)):
        stand.panel.resize(4 * width, 300)
        QApplication.processEvents()
        assert label.shown_text() == shown


def test_that_a_filter_hides_the_others(stand: Stand) -> None:
    stand.leave("boss", "door")
    stand.annotations.add(Annotation("note", 5, text="The BOSS is late"))
    stand.panel.filter_line.setText("boss")
    stand.panel.filter_line.apply_now()
    assert stand.names() == ["", "boss"]
    assert stand.panel.count_label.text() == "2 of 3 shown"

    stand.panel.filter_line.setText("none of them")
    stand.panel.filter_line.apply_now()
    assert stand.panel.notice.text() == "3 bookmarks are hidden by the filter."


def test_that_marked_rows_stay_marked_when_others_come(stand: Stand) -> None:
    stand.leave("a", "b")
    stand.panel.mark(2)
    stand.session.annotations.add(Annotation("bookmark", 1, name="first"))
    stand.annotations.use(stand.session)
    assert stand.names() == ["first", "a", "b"]
    assert stand.panel.marked_numbers() == [2]


def test_that_the_menu_of_a_range_leads_to_both_its_ends(stand: Stand, qtbot: QtBot) -> None:
    stand.annotations.add(Annotation("range", 100 * NS_PER_MS, 500 * NS_PER_MS, "fight"))
    actions = {each.text(): each for each in stand.panel.make_menu(0).actions()}
    actions["Show the state at its end"].trigger()
    assert stand.bridge.playhead_ns == 500 * NS_PER_MS
    with qtbot.waitSignal(stand.annotations.span_wanted) as brought:
        actions["Scroll to it"].trigger()
    assert brought.args == [(100 * NS_PER_MS, 500 * NS_PER_MS)]
    assert actions["Undo the last change"].isEnabled()


def test_that_marked_rows_are_copied(stand: Stand) -> None:
    stand.leave("a", "b")
    stand.panel.view.selectAll()
    stand.press(Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert [line.split("\t")[:4] for line in lines] == [
        ["bookmark", "0:00.100", "", "a"],
        ["bookmark", "0:00.200", "", "b"],
    ]


def test_that_buttons_leave_and_ask(stand: Stand, qtbot: QtBot) -> None:
    stand.bridge.set_playhead(700 * NS_PER_MS)
    stand.panel.bookmark_button.click()
    assert [(each.at_ns, each.name) for each in stand.annotations.items] == [
        (700 * NS_PER_MS, "Bookmark 1")
    ]
    assert stand.panel.marked_numbers() == [1]
    stand.panel.bookmark_button.click()
    assert stand.panel.message.text() == (
        "✖ There is already a bookmark at 0:00.700: “Bookmark 1”."
    )
    with qtbot.waitSignal(stand.annotations.note_wanted) as note:
        stand.panel.note_button.click()
    assert note.args == [700 * NS_PER_MS]
    stand.panel.range_button.click()
    assert stand.panel.message.text().startswith("✖ No range is selected")


def test_that_the_model_keeps_the_rules_of_qt(qtmodeltester: ModelTester) -> None:
    found = Annotations()
    model = AnnotationModel(lambda changed: bool(found.change(changed)), Theme("light"))
    for name in "xyz":
        found.add(Annotation("bookmark", 5, name=name))
    model.set_rows(tuple(found))
    qtmodeltester.check(model)
    model.set_filter("y")
    assert (model.rowCount(), model.hidden_count) == (1, 2)


def test_that_an_unclear_date_is_shown_as_it_is() -> None:
    assert made_text("a while ago") == "a while ago"
    assert made_text("") == ""


def test_that_a_single_bookmark_is_hidden_in_the_singular(stand: Stand) -> None:
    stand.leave("boss")
    stand.panel.filter_line.setText("none of them")
    stand.panel.filter_line.apply_now()

    assert stand.panel.notice.text() == "1 bookmark is hidden by the filter."
