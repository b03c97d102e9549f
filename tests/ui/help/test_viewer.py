"""The window of help: contents, search, links, going back, and what F1 opens."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QTreeWidgetItem
from pytestqt.qtbot import QtBot

from inspector.resources import resource_path
from tests.ui.shell import Shell, open_shell
from tests.ui.used_window import Lend
from ui.help.viewer import HelpViewer
from ui.kit.theme import Theme


@pytest.fixture
def viewer(qtbot: QtBot) -> HelpViewer:
    viewer = HelpViewer(Theme("light"))
    qtbot.addWidget(viewer)
    viewer.open_page("getting-started")
    return viewer


def lines_of(viewer: HelpViewer) -> list[QTreeWidgetItem]:
    tops = [viewer.list.topLevelItem(row) for row in range(viewer.list.topLevelItemCount())]
    lines = []
    for top in tops:
        assert top is not None
        children = [top.child(row) for row in range(top.childCount())]
        lines += [child for child in children if child is not None] or [top]
    return lines


def test_that_the_title_is_that_of_the_page(viewer: HelpViewer) -> None:
    viewer.open_page("words")

    assert viewer.windowTitle() == "Help: Glossary"


def test_that_the_contents_list_every_page_and_mark_the_current_one(viewer: HelpViewer) -> None:
    viewer.open_page("recordings")

    assert len(lines_of(viewer)) == len(list(resource_path("help").glob("*.md")))
    line = viewer.list.currentItem()
    assert line is not None
    assert line.text(0) == "Recordings"


def test_that_a_line_of_the_contents_opens_its_page(viewer: HelpViewer) -> None:
    line = next(each for each in lines_of(viewer) if each.text(0) == "Protocol")

    viewer.list.setCurrentItem(line)

    assert viewer.page == "protocol"


def test_that_a_search_lists_sections_and_opens_them(viewer: HelpViewer) -> None:
    viewer.filter_line.setText("reduced precision")
    viewer.filter_line.apply_now()

    lines = lines_of(viewer)
    assert lines[0].text(0).startswith("Fixed-rate loops")
    viewer.list.setCurrentItem(lines[0])
    assert viewer.page == "loops"
    assert viewer.browser.extraSelections()


def test_that_marks_of_many_short_words_never_overlap(viewer: HelpViewer) -> None:
    viewer.open_page("window")
    viewer.filter_line.setText("e t te E time tim " * 20)
    viewer.filter_line.apply_now()

    marks = viewer.browser.extraSelections()
    spans = [(each.cursor.selectionStart(), each.cursor.selectionEnd()) for each in marks]
    assert "Time" in {each.cursor.selectedText() for each in marks}
    assert all(before[1] < after[0] for before, after in pairwise(spans))


@pytest.mark.parametrize("text", ["(", ".", "+", "1.5"])
def test_that_signs_are_searched_for_as_they_are(viewer: HelpViewer, text: str) -> None:
    viewer.open_page("window")
    viewer.filter_line.setText(text)
    viewer.filter_line.apply_now()

    found = {each.cursor.selectedText() for each in viewer.browser.extraSelections()}
    assert text in found
    assert all(not each.replace(text, "") for each in found)


def test_that_a_search_without_a_hit_says_so_and_an_empty_one_shows_the_contents(
    viewer: HelpViewer,
) -> None:
    viewer.search("zyzzyva")
    assert lines_of(viewer) == []
    assert not viewer._count.isHidden()
    assert viewer._count.text() == "No section contains “zyzzyva”."

    viewer.search("")
    assert viewer._count.isHidden()
    assert lines_of(viewer)


def test_that_links_lead_to_pages_and_sections_and_back(viewer: HelpViewer, qtbot: QtBot) -> None:
    with qtbot.waitExposed(viewer):
        viewer.show()
    viewer.follow_link(QUrl("window.md#findings"))

    assert (viewer.page, viewer.section) == ("window", "findings")
    assert viewer.browser.verticalScrollBar().value() > 0
    viewer.follow_link(QUrl("#clocks"))
    assert (viewer.page, viewer.section) == ("window", "clocks")
    viewer.go_back()
    viewer.go_back()
    assert viewer.page == "getting-started"
    viewer.go_back()
    viewer.go_forward()
    assert (viewer.page, viewer.section) == ("window", "findings")


def test_that_a_new_page_ends_the_way_forward(viewer: HelpViewer) -> None:
    viewer.open_page("lab")
    viewer.go_back()
    viewer.open_page("words")
    viewer.go_forward()

    assert viewer.page == "words"


def shown_help(shell: Shell) -> HelpViewer:
    viewer = shell.window.findChild(HelpViewer)
    assert viewer is not None
    return viewer


@pytest.mark.parametrize(
    ("panel", "section"), [("timer_queue", "timers"), ("clock_tree", "clocks")]
)
def test_that_f1_opens_what_is_said_of_the_panel_in_use(
    lend: Lend, panel: str, section: str
) -> None:
    shell = lend()
    shell.activate()
    shell.window.panels.enter_panel(panel)

    shell.trigger("help")

    viewer = shown_help(shell)
    assert (viewer.page, viewer.section) == ("window", section)
    assert viewer.browser.verticalScrollBar().value() > 0


def test_that_searching_keeps_the_page(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    shell.trigger("help-search")
    assert shown_help(shell).page == "getting-started"
    shell.trigger("help-lab")
    shell.trigger("help-search")

    assert shown_help(shell).page == "lab"
