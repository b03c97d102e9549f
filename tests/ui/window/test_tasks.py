"""What people come for, from a fresh start: how long it takes, at the pace of a calm hand.

A click or a key takes 1.5 s, and four words are read in a second.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, cast

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from inspector.analysis.lanes.rows import LaneRow
from tests.ui.shell import SMALL_GAME, Shell, open_shell
from ui.session.bridge import SelectionKind
from ui.timeline.panel import TimelinePanel
from ui.why.panel import WhyPanel

_ACT_S: Final = 1.5
_WORDS_A_SECOND: Final = 4


class Hand:
    """Clicks and reads, and counts the seconds that this takes people.

    Attributes:
        seconds: How long it has taken so far.
    """

    def __init__(self, shell: Shell) -> None:
        self.seconds = 0.0
        self._shell = shell

    def click(self, widget: QWidget, place: QPoint | None = None) -> None:
        assert widget.isVisible(), "only what is seen is clicked"
        place = widget.rect().center() if place is None else place
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=place)
        self.seconds += _ACT_S
        self._shell.advance(1 / 60)
        QApplication.processEvents()

    def read(self, text: str) -> str:
        self.seconds += len(text.split()) / _WORDS_A_SECOND
        return text


@pytest.fixture
def shell(qtbot: QtBot, tmp_path: Path) -> Shell:
    shell = open_shell(qtbot, tmp_path, SMALL_GAME)
    shell.window.resize(1_600, 1_000)
    for _ in range(60 * 8):
        shell.advance(1 / 60)
    QApplication.processEvents()
    return shell


@pytest.fixture
def hand(shell: Shell) -> Hand:
    return Hand(shell)


def lanes(shell: Shell) -> TimelinePanel:
    panel = cast("TimelinePanel", shell.window.panels.panel("timeline"))
    panel.refresh()
    panel.grab()
    return panel


def row_of(shell: Shell, label: str) -> LaneRow:
    return next(row for row in lanes(shell).canvas.rows.rows if row.label == label)


def click_lane(shell: Shell, hand: Hand, label: str) -> None:
    canvas = lanes(shell).canvas
    header = canvas.header_box(row_of(shell, label))
    hand.click(canvas.viewport(), QPoint(header.left() + 60, header.center().y()))


def why(shell: Shell) -> WhyPanel:
    panel = shell.window.findChild(WhyPanel)
    assert panel is not None
    panel.refresh()
    return panel


def test_that_it_is_seen_in_6_s_why_a_timer_has_not_fired(shell: Shell, hand: Hand) -> None:
    click_lane(shell, hand, "boss arrives")

    said = hand.read(f"{why(shell).title_label.text()} {why(shell).answer.text()}")

    assert said.startswith("boss arrives Fires in ")
    assert hand.seconds <= 6


def test_that_a_branch_is_paused_in_2_s(shell: Shell, hand: Hand) -> None:
    canvas = lanes(shell).canvas
    button = canvas.header_places(row_of(shell, "enemies")).pause.center()

    hand.click(canvas.viewport(), button)

    assert shell.bridge.timeline.clocks[shell.clock_id("enemies")].paused
    assert hand.seconds <= 2


def test_that_what_a_pause_stops_is_seen_in_6_s(shell: Shell, hand: Hand) -> None:
    canvas = lanes(shell).canvas
    hand.click(canvas.viewport(), canvas.header_places(row_of(shell, "enemies")).pause.center())
    click_lane(shell, hand, "boss arrives")

    said = hand.read(why(shell).answer.text())

    assert said.startswith("Its time stands still: you paused enemies ")
    assert [each.text() for each in why(shell).remedies.buttons if each.isVisible()] == [
        "Resume enemies"
    ]
    assert hand.seconds <= 6


@pytest.mark.parametrize("selected", ["", "boss arrives", "ui"])
def test_that_everything_is_slowed_in_2_s_whatever_is_selected(shell: Shell, selected: str) -> None:
    if selected:
        click_lane(shell, Hand(shell), selected)
    hand, rates = Hand(shell), shell.window.transport.rates.buttons

    hand.click(next(button for rate, button in rates.items() if rate == min(rates)))

    clocks = shell.bridge.timeline.clocks
    slow = [clock.name for clock in clocks.values() if clock.rate != 1]
    assert slow == ["root"]
    assert clocks[shell.clock_id("root")].rate == min(rates)
    assert hand.seconds <= 2


def test_that_the_longest_frame_is_found_in_6_s(qtbot: QtBot, shell: Shell, hand: Hand) -> None:
    link = shell.window.frame_times.overview_header.longest
    qtbot.waitUntil(link.isVisible)

    hand.click(link)
    said = hand.read(f"{why(shell).title_label.text()} {why(shell).answer.text()}")

    frames = shell.bridge.timeline.frames
    longest = max(range(frames.first, frames.end), key=lambda each: frames.frame(each).interval_ns)
    assert shell.bridge.selection.kind is SelectionKind.FRAME
    assert shell.bridge.selection.id == longest
    assert said.startswith(f"Frame {longest:,} Took ")
    assert hand.seconds <= 6
