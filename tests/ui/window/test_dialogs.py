"""The smaller dialogs: keys page, about, and the questions."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QLabel, QTreeWidgetItem
from pytestqt.qtbot import QtBot

from inspector.commands.transport import Hold
from inspector.resources import resource_path
from inspector.timebase import parse_duration_ns
from tests.ui.shell import Shell
from tests.ui.used_window import Lend
from ui.kit.prompts import Prompt
from ui.kit.theme import Theme
from ui.session.bridge import Selection
from ui.window.dialogs.about import AboutDialog
from ui.window.dialogs.keys_page import KeysPage
from ui.window.handlers.action_list import ACTIONS

MS = 1_000_000


def lines_of(page: KeysPage) -> list[QTreeWidgetItem]:
    tops = [page.tree.topLevelItem(row) for row in range(page.tree.topLevelItemCount())]
    return [
        child
        for top in tops
        if top is not None and not top.isHidden()
        for row in range(top.childCount())
        if (child := top.child(row)) is not None and not child.isHidden()
    ]


def test_that_the_keys_page_lists_every_action_with_its_keys(qtbot: QtBot) -> None:
    page = KeysPage(ACTIONS)
    qtbot.addWidget(page)

    shown = {(line.text(0), line.text(1)) for line in lines_of(page)}

    assert shown == {(each.plain_title, "  or  ".join(each.shortcut_texts)) for each in ACTIONS}


def test_that_the_keys_page_can_be_filtered(qtbot: QtBot) -> None:
    page = KeysPage(ACTIONS)
    qtbot.addWidget(page)

    page.filter_line.setText("frame rate")
    page.filter_line.apply_now()

    assert {line.text(0) for line in lines_of(page)} == {"Other frame rate …"}
    assert not page.notice.text()

    page.filter_line.setText("no such key")
    page.filter_line.apply_now()

    assert not lines_of(page)
    assert page.notice.text() == "No key or action contains “no such key”."


@pytest.mark.parametrize("width", [820, 560])
def test_that_the_keys_page_cuts_no_description_off(qtbot: QtBot, width: int) -> None:
    page = KeysPage(ACTIONS)
    qtbot.addWidget(page)
    page.resize(width, 620)
    with qtbot.waitExposed(page):
        page.show()

    metrics, flags = page.tree.fontMetrics(), Qt.TextFlag.TextWordWrap

    for line in lines_of(page):
        cell = page.tree.visualRect(page.tree.indexFromItem(line, 2))
        room = cell.adjusted(3, 0, -3, 0)
        needed = metrics.boundingRect(room, flags, line.text(2))
        assert needed.height() <= room.height(), line.text(0)
        assert needed.width() <= room.width(), line.text(0)


def test_that_keys_named_in_the_help_are_the_keys() -> None:
    keys = {key for each in ACTIONS for key in each.shortcuts} | {"Ctrl"}
    for path in resource_path("help").glob("*.md"):
        for found in re.findall(r"`((?:Ctrl\+|Shift\+)\S+|F\d+|Space)`", path.read_text("utf-8")):
            assert found in keys, f"{path.name}: {found}"


def test_that_the_scene_in_the_help_builds(lend: Lend) -> None:
    text = resource_path("help", "getting-started.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert code is not None

    shell = lend(code[1])
    shell.advance(6)

    assert [mark.text for mark in shell.bridge.timeline.marks] == ["five seconds of game time"]
    assert shell.bridge.timeline.failures == []


def test_that_about_puts_the_versions_on_the_clipboard(qtbot: QtBot) -> None:
    dialog = AboutDialog(Theme("light"), "/here/settings.json")
    qtbot.addWidget(dialog)

    dialog.copy_versions()

    text = QGuiApplication.clipboard().text()
    assert text.startswith("Timeline Inspector ")
    assert "PySide6 6." in text
    assert "pyqtgraph 0." in text


def test_that_an_empty_mark_is_a_mark(lend: Lend) -> None:
    shell = lend()
    shell.trigger("mark")

    only_prompt("Mark this instant").accept_answer()
    shell.advance(0.1)

    assert [mark.text for mark in shell.bridge.timeline.marks] == ["mark"]


def only_prompt(title: str) -> Prompt:
    prompts = (each for each in QApplication.topLevelWidgets() if isinstance(each, Prompt))
    return next(each for each in prompts if each.windowTitle() == title and each.isVisible())


def go_to(qtbot: QtBot, shell: Shell, text: str) -> Prompt:
    shell.trigger("step-by")
    prompt = only_prompt("Go to")
    prompt.line.setText(text)
    qtbot.keyClick(prompt.line, Qt.Key.Key_Return)
    shell.advance(0.1)
    return prompt


@pytest.mark.parametrize(
    ("text", "at_ns"),
    [("+250ms", 1_350 * MS), ("+1/4", 1_350 * MS), ("00:10", 10_000 * MS), ("1.5", 1_500 * MS)],
)
def test_that_going_takes_instants_and_after_a_sign_durations(
    lend: Lend, qtbot: QtBot, text: str, at_ns: int
) -> None:
    shell = lend()
    shell.advance(1.0)
    shell.bridge.submit(Hold())
    shell.advance(0.1)
    assert shell.bridge.timeline.at_ns == 1_100 * MS
    prompt = go_to(qtbot, shell, text)
    assert not prompt.isVisible()
    assert shell.bridge.timeline.at_ns == at_ns
    assert shell.bridge.playhead_ns is None


def test_that_going_to_what_has_passed_looks_back_and_steps_from_there(
    lend: Lend, qtbot: QtBot
) -> None:
    shell = lend()
    shell.advance(1.0)
    go_to(qtbot, shell, "0:00.5")
    assert shell.bridge.playhead_ns == 500 * MS
    go_to(qtbot, shell, "+0.1")
    assert shell.bridge.playhead_ns == 600 * MS


@pytest.mark.parametrize(
    ("text", "reason"), [("soon", "Not a duration"), ("+0", "A step only goes forward")]
)
def test_that_an_answer_that_cannot_be_taken_is_explained(
    lend: Lend, qtbot: QtBot, text: str, reason: str
) -> None:
    prompt = go_to(qtbot, lend(), text)
    assert prompt.isVisible()
    assert prompt.problem.text().startswith(f"✖ {reason}")


def test_that_a_mark_typed_in_the_window_is_left_in_the_events(lend: Lend, qtbot: QtBot) -> None:
    shell = lend()
    shell.trigger("mark")
    prompt = only_prompt("Mark this instant")

    qtbot.keyClicks(prompt.line, "boss appears")
    qtbot.keyClick(prompt.line, Qt.Key.Key_Return)
    shell.advance(0.1)

    assert [mark.text for mark in shell.bridge.timeline.marks] == ["boss appears"]


def test_that_the_rate_of_the_selected_clock_can_be_chosen(lend: Lend, qtbot: QtBot) -> None:
    shell = lend()
    clock_id = shell.clock_id("enemies")
    shell.bridge.select(Selection.clock(clock_id))
    shell.trigger("set-rate")
    prompt = only_prompt("Rate of enemies")

    prompt.line.selectAll()
    qtbot.keyClicks(prompt.line, "1/3")
    qtbot.keyClick(prompt.line, Qt.Key.Key_Return)
    shell.advance(0.1)

    assert shell.bridge.timeline.clocks[clock_id].rate == Fraction(1, 3)
    assert not prompt.isVisible()


def test_that_a_rate_that_cannot_be_read_keeps_the_prompt_open_and_says_why(
    lend: Lend, qtbot: QtBot
) -> None:
    shell = lend()
    shell.bridge.select(Selection.clock(shell.clock_id("enemies")))
    shell.trigger("set-rate")
    prompt = only_prompt("Rate of enemies")

    prompt.line.selectAll()
    qtbot.keyClicks(prompt.line, "fast")
    qtbot.keyClick(prompt.line, Qt.Key.Key_Return)

    assert prompt.isVisible()
    assert "fast" in prompt.problem.text()


def test_that_a_question_grows_with_what_is_wrong_with_the_answer(qtbot: QtBot) -> None:
    prompt = Prompt("Wait", "How long?", parse_duration_ns, Theme("dark"), None)
    qtbot.addWidget(prompt)
    with qtbot.waitExposed(prompt):
        prompt.show()
    prompt.line.setText("as long as it takes for everybody to be ready for the boss")

    prompt.accept_answer()
    QApplication.processEvents()

    labels = prompt.findChildren(QLabel)
    assert prompt.problem in labels
    for label in labels:
        assert label.height() >= label.heightForWidth(label.width()), label.text()


def test_that_buttons_of_dialogs_have_no_icons(lend: Lend) -> None:
    shell = lend()
    shell.advance(0.1)
    shell.bridge.select(Selection.clock(shell.clock_id("game")))
    shell.bridge.refresh_now()
    for action_id in ("mark", "step-by", "set-rate", "open-program", "gallery", "about", "export"):
        shell.trigger(action_id)
    QApplication.processEvents()

    boxes = shell.window.findChildren(QDialogButtonBox)

    assert len(boxes) >= 7
    assert not [
        button.text() for box in boxes for button in box.buttons() if not button.icon().isNull()
    ]
