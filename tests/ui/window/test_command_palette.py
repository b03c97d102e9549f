"""The command palette: what it finds, in which order, and what it does with keys."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from ui.window.handlers.command_palette import (
    CommandPalette,
    EntryKind,
    PaletteEntry,
    match_score,
    matching_entries,
)

ENTRIES = (
    PaletteEntry("step", "Step one frame", "Time", ". or F10"),
    PaletteEntry("step-n", "Step n frames", "Time"),
    PaletteEntry("stop", "Stop", "Time › When a callback fails"),
    PaletteEntry("clear", "Clear timer", "Timer", "Del", reason="no pending timer is selected"),
    PaletteEntry("follow", "Follow the newest frame", "View"),
)


@pytest.fixture
def palette(qtbot: QtBot) -> Iterator[CommandPalette]:
    window = QWidget()
    window.resize(700, 500)
    qtbot.addWidget(window)
    window.show()
    palette = CommandPalette(window)
    palette.open_with(ENTRIES)
    yield palette
    window.close()


def shown(palette: CommandPalette) -> list[str]:
    return [palette.model.index(row).data() for row in range(palette.model.rowCount())]


@pytest.mark.parametrize(
    ("pattern", "first"),
    [
        ("stop", "stop"),
        ("sof", "step"),
        ("step n", "step-n"),
        ("newest", "follow"),
        ("fnf", "follow"),
        ("TIMER", "step-n"),
        ("callback", "stop"),
    ],
)
def test_that_the_best_match_comes_first(pattern: str, first: str) -> None:
    assert matching_entries(pattern, ENTRIES)[0].id == first


def test_that_letters_must_come_in_order() -> None:
    assert match_score("pots", "Stop") is None
    assert matching_entries("zzz", ENTRIES) == []


def test_that_without_a_pattern_everything_is_in_its_own_order() -> None:
    ids = [entry.id for entry in matching_entries("", ENTRIES)]

    assert ids == ["step", "step-n", "stop", "follow", "clear"]


def test_that_a_run_of_letters_counts_more_than_scattered_ones() -> None:
    run, scattered = match_score("rate", "Set rate"), match_score("rate", "Orchard later")

    assert run is not None
    assert scattered is not None
    assert run > scattered


def test_that_enter_chooses_the_first_match_and_closes(
    qtbot: QtBot, palette: CommandPalette
) -> None:
    qtbot.keyClicks(palette.line, "newest")

    with qtbot.waitSignal(palette.chosen) as chosen:
        qtbot.keyClick(palette.line, Qt.Key.Key_Return)

    assert chosen.args == ["follow"]
    assert not palette.isVisible()


def test_that_arrows_move_while_typing_goes_on(qtbot: QtBot, palette: CommandPalette) -> None:
    qtbot.keyClick(palette.line, Qt.Key.Key_Down)

    with qtbot.waitSignal(palette.chosen) as chosen:
        qtbot.keyClick(palette.line, Qt.Key.Key_Return)

    assert chosen.args == ["step-n"]


def test_that_what_cannot_be_done_says_why_and_stays_open(
    qtbot: QtBot, palette: CommandPalette
) -> None:
    qtbot.keyClicks(palette.line, "clear")

    with qtbot.assertNotEmitted(palette.chosen):
        qtbot.keyClick(palette.line, Qt.Key.Key_Return)

    assert palette.isVisible()
    assert palette.hint.text() == "Unavailable: no pending timer is selected."


def test_that_a_click_chooses_once(qtbot: QtBot, palette: CommandPalette) -> None:
    chosen: list[str] = []
    palette.chosen.connect(chosen.append)
    rect = palette.view.visualRect(palette.model.index(1))

    qtbot.mouseClick(palette.view.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())

    assert chosen == ["step-n"]


def test_that_escape_chooses_nothing(qtbot: QtBot, palette: CommandPalette) -> None:
    with qtbot.assertNotEmitted(palette.chosen):
        qtbot.keyClick(palette.line, Qt.Key.Key_Escape)

    assert not palette.isVisible()


def test_that_no_match_is_said(qtbot: QtBot, palette: CommandPalette) -> None:
    qtbot.keyClicks(palette.line, "xyzzy")

    assert shown(palette) == []
    assert palette.hint.text().startswith("No command")
    qtbot.keyClick(palette.line, Qt.Key.Key_Return)
    assert palette.isVisible()


def test_that_the_list_behaves_as_a_model(palette: CommandPalette, qtmodeltester: object) -> None:
    qtmodeltester.check(palette.model)  # type: ignore[attr-defined]


def test_that_a_word_as_it_was_typed_comes_before_letters_found_here_and_there() -> None:
    entries = [
        PaletteEntry(id="follow", title="Follow the newest frame", category="View"),
        PaletteEntry(id="dark", title="Dark", category="View › Theme"),
        PaletteEntry(id="theme", title="Theme of the system", category="View"),
    ]

    found = matching_entries("theme", entries)

    assert [entry.id for entry in found] == ["theme", "dark", "follow"]


def found_ids(pattern: str, *entries: PaletteEntry) -> list[str]:
    return [entry.id for entry in matching_entries(pattern, entries)]


def test_that_what_begins_with_the_pattern_comes_before_what_has_it_later() -> None:
    later = PaletteEntry("later", "On: pause it")
    title = "Pause or resume everything that there is in the whole window, and all that is below it"
    first = PaletteEntry("first", title)

    assert found_ids("pause", later, first) == ["first", "later"]


def test_that_what_concerns_the_selection_comes_before_what_matches_as_well() -> None:
    other = PaletteEntry("other", "Set rate")
    selected = PaletteEntry("selected", "Set rate of it", concerns_selection=True)

    assert found_ids("set", other, selected) == ["selected", "other"]


def test_that_what_cannot_be_done_is_listed_last() -> None:
    idle = PaletteEntry("idle", "Resume all of it", reason="nothing is selected")
    scattered = PaletteEntry("scattered", "Record a session under a name")

    assert found_ids("resume", idle, scattered) == ["scattered", "idle"]


def test_that_panels_and_commands_come_before_settings_and_scenes() -> None:
    scene = PaletteEntry("scene", "Open Frames", kind=EntryKind.SCENE, name="Frames")
    rate = PaletteEntry("rate", "Frame rate: 30", kind=EntryKind.SETTING)
    panel = PaletteEntry("panel", "Show Frame", kind=EntryKind.PANEL, name="Frame")
    command = PaletteEntry("command", "Frame by frame")

    assert found_ids("frame", scene, rate, panel, command) == ["panel", "command", "rate", "scene"]


def test_that_opening_a_scene_comes_after_what_it_is_asked_for_by_a_verb() -> None:
    scene = PaletteEntry("scene", "Open Boss", kind=EntryKind.SCENE, name="Boss")
    command = PaletteEntry("command", "Open scene …")

    assert found_ids("open", scene, command) == ["command", "scene"]
    assert found_ids("boss", command, scene) == ["scene"]
