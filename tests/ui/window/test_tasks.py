"""What people come for, from a fresh start: how long it takes, at the pace of a calm hand.

A click or a key takes 1.5 s, and four words are read in a second.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QLineEdit,
    QMenu,
    QTreeView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from inspector.analysis.lanes.rows import LaneRow
from inspector.commands.clocks import PauseClock
from inspector.events.history import LogHistory
from inspector.formats.arrangement.sheet import Sheet
from tests.analysis.test_lateness import CRUNCH, LIBRARY, MAIN, REBUILD, Program
from tests.sessions.test_captured import table
from tests.ui.looking_back import settle
from tests.ui.shell import SMALL_GAME, Shell, open_shell
from tests.ui.used_window import Lend
from tests.ui.world import PlayedSession
from ui.actions.menus import MenuId
from ui.comparison.view import ComparisonView
from ui.export.export_dialog import ExportDialog
from ui.session.bridge import SelectionKind
from ui.timeline.panel import TimelinePanel
from ui.why.panel import WhyPanel
from ui.window.handlers.palette_dialog import CommandPalette
from ui.window.welcome import Welcome

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
        if self._shell.sources:
            self._shell.advance(1 / 60)
        QApplication.processEvents()

    def press(self, widget: QWidget, key: Qt.Key) -> None:
        assert widget.isVisible(), "only what is seen has the keyboard"
        QTest.keyClick(widget, key)
        self.seconds += _ACT_S
        QApplication.processEvents()

    def drop(self, *paths: Path) -> None:
        """Drag files from somewhere else into the window."""
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        how = Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton
        modifiers, window = Qt.KeyboardModifier.NoModifier, self._shell.window
        QApplication.sendEvent(window, QDragEnterEvent(QPoint(9, 9), *how, modifiers))
        QApplication.sendEvent(window, QDropEvent(QPointF(9, 9), *how, modifiers))
        self.seconds += _ACT_S

    def read(self, text: str) -> str:
        self.seconds += len(text.split()) / _WORDS_A_SECOND
        return text


@pytest.fixture
def shell(lend: Lend) -> Shell:
    shell = lend(SMALL_GAME, size=(1_600, 1_000))
    shell.pass_frames(60 * 2)
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
    assert hand.seconds <= 6, said


@pytest.mark.parametrize("is_paused", [False, True])
def test_that_two_keys_say_in_6_s_why_a_timer_has_not_fired(
    shell: Shell, hand: Hand, is_paused: bool
) -> None:
    if is_paused:
        shell.bridge.submit(PauseClock(shell.clock_id("enemies")))
        shell.advance(1 / 60)
    shell.trigger("palette")
    hand.seconds += _ACT_S
    palette = shell.window.findChild(CommandPalette)
    assert palette is not None

    hand.press(palette.line, Qt.Key.Key_Return)

    assert why(shell).title_label.text() == "boss arrives"
    said = hand.read(why(shell).answer.text())
    assert said.startswith("Its time stands still: " if is_paused else "Fires in ")
    assert hand.seconds <= 6, said


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
    assert hand.seconds <= 6, said


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
    assert hand.seconds <= 6, said


def test_that_the_frame_graph_is_exported_in_5_s(shell: Shell, hand: Hand, tmp_path: Path) -> None:
    hand.click(shell.window.transport.export_button)
    dialog = shell.window.findChild(ExportDialog)
    assert dialog is not None
    hand.press(dialog, Qt.Key.Key_Return)
    asking = dialog.findChild(QFileDialog)
    assert isinstance(asking, QFileDialog)
    asking.setDirectory(str(tmp_path))
    name_line = asking.findChild(QLineEdit, "fileNameEdit")
    assert isinstance(name_line, QLineEdit)
    assert name_line.text()
    hand.press(name_line, Qt.Key.Key_Return)

    (written,) = tmp_path.glob("*.png")
    assert QImage(str(written)).height() > 0
    assert hand.seconds <= 5


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    return table(tmp_path)


def test_that_the_p99_of_a_capture_is_seen_without_a_click(
    qtbot: QtBot, tmp_path: Path, capture: Path
) -> None:
    shell = open_shell(qtbot, tmp_path, None)
    shell.window.open_path(capture)
    tile = shell.window.frame_times.capture_header.p99

    qtbot.waitUntil(tile.value.isVisible)

    assert (tile.title.text(), tile.value.text()) == ("P99", "18.5 ms")


@pytest.fixture
def other(capture: Path) -> Path:
    """A capture that does not differ enough to be told from the first."""
    path = capture.with_name("other.csv")
    text = capture.read_text(encoding="utf-8").replace("e,18.5", "e,18.4", 30)
    path.write_text(text, encoding="utf-8")
    return path


def verdict(qtbot: QtBot, shell: Shell) -> str:
    view = shell.window.findChild(ComparisonView)
    assert view is not None
    qtbot.waitUntil(lambda: view.verdict.text() != "")
    return view.verdict.text()


def test_that_captures_dropped_together_are_compared_and_understood_in_8_s(
    lend: Lend, qtbot: QtBot, capture: Path
) -> None:
    slower = capture.with_name("slower.csv")
    slower.write_text(capture.read_text(encoding="utf-8").replace("e,18.5", "e,23.5"), "utf-8")
    shell = lend(None)
    hand = Hand(shell)

    hand.drop(capture, slower)
    said = hand.read(verdict(qtbot, shell))

    assert said == "B is slower than A: 17.5 → 19.2 ms a frame, +9.5 %."
    assert hand.seconds <= 8


def by_drop(shell: Shell, hand: Hand, other: Path) -> None:
    hand.drop(other)
    menu = shell.window.findChild(QMenu, "dropped_files")
    assert isinstance(menu, QMenu)
    compare = menu.actions()[0]
    hand.read(compare.text())
    hand.click(menu, menu.actionGeometry(compare).center())


def by_button_and_dialog(shell: Shell, hand: Hand, _other: Path) -> None:
    hand.click(shell.window.frame_times.capture_header.compare_button)


def by_keys(shell: Shell, hand: Hand, other: Path) -> None:
    shell.window.settings = shell.window.settings.with_recent_scene(other)
    palette = opened_palette(shell, hand)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Return):
        hand.press(palette.line, key)


def by_palette_and_dialog(shell: Shell, hand: Hand, _other: Path) -> None:
    view = opened_palette(shell, hand).view
    rows = [view.model().index(row, 0) for row in range(view.model().rowCount())]
    compare = next(each for each in rows if each.data() == "Compare with …")
    hand.click(view.viewport(), view.visualRect(compare).center())


def by_menu_and_dialog(shell: Shell, hand: Hand, _other: Path) -> None:
    hand.click(shell.window.transport.menu_button)
    # The pointer that passes over a menu opens it.
    menu = shell.window.menu_bar.menus[MenuId.SCENE]
    menu.popup(QPoint(0, 0))
    hand.click(menu, menu.actionGeometry(shell.window.actions_by_id["compare"]).center())


def opened_palette(shell: Shell, hand: Hand) -> CommandPalette:
    shell.trigger("palette")
    hand.seconds += _ACT_S
    palette = shell.window.findChild(CommandPalette)
    assert palette is not None
    return palette


@pytest.fixture
def open_capture(lend: Lend, capture: Path) -> Shell:
    shell = lend(None)
    shell.window.open_path(capture)
    settle()
    return shell


@pytest.mark.parametrize(
    "way", [by_drop, by_button_and_dialog, by_keys, by_palette_and_dialog, by_menu_and_dialog]
)
def test_that_an_open_capture_is_compared_and_understood_in_8_s(
    qtbot: QtBot,
    open_capture: Shell,
    other: Path,
    monkeypatch: pytest.MonkeyPatch,
    way: Callable[[Shell, Hand, Path], None],
) -> None:
    hand = Hand(open_capture)

    def choose_file(*_of: object) -> tuple[list[str], str]:
        hand.seconds += _ACT_S  # A double-click on it
        return [str(other)], ""

    monkeypatch.setattr(QFileDialog, "getOpenFileNames", choose_file)
    way(open_capture, hand, other)
    said = hand.read(verdict(qtbot, open_capture))

    assert said == "No evidence that B differs: 17.5 → 17.5 ms a frame, 0.0 %."
    assert hand.seconds <= 8, said


def test_that_two_captures_are_chosen_at_the_welcome_and_understood_in_8_s(
    lend: Lend, qtbot: QtBot, capture: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = lend(None)
    hand = Hand(shell)
    titles, files = [], [capture, other]

    def choose_file(_window: QWidget, title: str, *_of: object) -> tuple[list[str], str]:
        hand.seconds += _ACT_S  # A double-click on it
        titles.append(title)
        return [str(files[len(titles) - 1])], ""

    monkeypatch.setattr(QFileDialog, "getOpenFileNames", choose_file)
    QApplication.processEvents()
    welcome = shell.window.middle.currentWidget()
    assert isinstance(welcome, Welcome)
    hand.click(welcome.compare_link)
    said = hand.read(verdict(qtbot, shell))

    assert titles == ["Compare", f"Compare {capture.name} with"]
    assert said == "No evidence that B differs: 17.5 → 17.5 ms a frame, 0.0 %."
    assert hand.seconds <= 8, said


def test_that_a_double_click_with_ctrl_leaves_3_s_to_read_how_two_captures_differ(
    qtbot: QtBot, tmp_path: Path, capture: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shell = open_shell(qtbot, tmp_path, None)
    hand, compared = Hand(shell), []
    shell.contents.window_actions.comparison_wanted.disconnect()
    shell.contents.window_actions.comparison_wanted.connect(lambda *those: compared.append(those))

    def choose() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QFileDialog)
        assert "two captures are compared" in dialog.windowTitle()
        view = dialog.findChild(QTreeView, "treeView")
        assert isinstance(view, QTreeView)
        model, root = view.model(), view.rootIndex()
        rows = [model.index(row, 0, root) for row in range(model.rowCount(root))]
        places = {row.data(): view.visualRect(row).center() for row in rows}
        if not {capture.name, other.name} <= places.keys():
            later.start()
            return
        hand.click(view.viewport(), places[capture.name])
        how = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, places[other.name]
        QTest.mouseClick(view.viewport(), *how)
        QTest.mouseDClick(view.viewport(), *how)
        hand.seconds += _ACT_S

    later = QTimer(shell.window, singleShot=True)
    later.timeout.connect(choose)
    later.start()
    shell.trigger("open")
    hand.seconds += _ACT_S

    assert compared == [([capture, other], False)]
    assert hand.seconds <= 8 - 3


def test_that_it_is_read_in_6_s_who_blocks_an_attached_server(
    shell: Shell, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, session = Program(), PlayedSession()
    for until_ms in range(10, 1_381, 10):
        program.sample(MAIN, LIBRARY, REBUILD, CRUNCH, until_ms=until_ms)
    session.log, session.history = program.log, LogHistory(program.log)
    session.timeline = session.history.state_before(session.history.end)
    monkeypatch.setattr(session, "fold", lambda: 0)
    written: list[str] = []
    write = Sheet.text

    def note(sheet: Sheet, layer: int, color: str, text: str, *where: object) -> None:
        written.append(text)
        write(sheet, layer, color, text, *cast("Any", where))

    monkeypatch.setattr(Sheet, "text", note)
    shell.bridge.set_session(session)
    shell.bridge.refresh_now()
    lanes(shell)

    said = hand.read(next(text for text in written if "crunch" in text))

    assert said.split("   ")[0] == "blocked by crunch()"
    assert hand.seconds <= 6, said
