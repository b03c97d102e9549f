"""The command palette: what it finds, in which order, and what it does with keys."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from ui.kit.theme import Theme
from ui.window.handlers import palette_matching
from ui.window.handlers.palette_dialog import CommandPalette, parts_of, sections_of
from ui.window.handlers.palette_entries import EntryKind, PaletteEntry
from ui.window.handlers.palette_finds import Found
from ui.window.handlers.palette_matching import match_score, matching_entries

DONE: list[str] = []


def entry(  # noqa: PLR0913, PLR0917 - the fields that tests vary
    entry_id: str,
    title: str,
    category: str = "",
    reason: str = "",
    kind: EntryKind = EntryKind.COMMAND,
    name: str = "",
) -> PaletteEntry:
    do = partial(DONE.append, entry_id)
    return PaletteEntry(entry_id, title, category, reason=reason, kind=kind, name=name, do=do)


ENTRIES = (
    entry("step", "Step one frame", "Time"),
    entry("step-n", "Step n frames", "Time"),
    entry("stop", "Stop", "Time › When a callback fails"),
    entry("clear", "Clear timer", "Timer", reason="no pending timer is selected"),
    entry("follow", "Follow the newest frame", "View"),
)
NOTHING = Found([], [], [], [])


def found_boss(_pattern: str) -> Found:
    boss = entry("boss", "boss arrives", "timer", kind=EntryKind.OBJECT)
    boss = msgspec.structs.replace(boss, more=lambda: [entry("fire", "Fire boss arrives now")])
    return Found(
        [boss],
        [entry("then", "0:24.500  the boss arrives", "32.5 s ago", kind=EntryKind.TIME)],
        [entry("stop-boss", "Stop when boss arrives fires")],
        [entry("with", "Events with “boss”", kind=EntryKind.PANEL)],
    )


@pytest.fixture
def palette(qtbot: QtBot) -> Iterator[CommandPalette]:
    window = QWidget()
    window.resize(700, 500)
    qtbot.addWidget(window)
    window.show()
    DONE.clear()
    palette = CommandPalette(Theme("light"), window)
    palette.open_with(ENTRIES, lambda _pattern: NOTHING)
    yield palette
    window.close()


def shown(palette: CommandPalette) -> list[str]:
    """Return the titles of entries, without those of their kinds."""
    rows = range(palette.model.rowCount())
    return [found.title for row in rows if (found := palette.model.entry(row)) is not None]


@pytest.mark.parametrize(
    ("pattern", "first"),
    [
        ("stop", "stop"),
        ("sof", "step"),
        ("step n", "step-n"),
        ("newest", "follow"),
        ("fnf", "follow"),
        ("TIMER", "clear"),
        ("callback", "stop"),
    ],
)
def test_that_the_best_match_comes_first(pattern: str, first: str) -> None:
    assert matching_entries(pattern, ENTRIES)[0].id == first


def test_that_letters_must_come_in_order() -> None:
    assert match_score("pots", "Stop") is None
    assert matching_entries("zzz", ENTRIES) == []


def test_that_a_search_ends_with_the_first_letter_that_is_not_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sought = []

    def continued(best: dict[int, int], letter: str, *_texts: str) -> dict[int, int]:
        sought.append(letter)
        return {} if letter == "x" else best

    monkeypatch.setattr(palette_matching, "_continued", continued)

    assert match_score("stxop", "Stop") is None
    assert sought == ["t", "x"]


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

    qtbot.keyClick(palette.line, Qt.Key.Key_Return)

    assert DONE == ["follow"]
    assert not palette.isVisible()


def test_that_arrows_move_while_typing_goes_on(qtbot: QtBot, palette: CommandPalette) -> None:
    qtbot.keyClick(palette.line, Qt.Key.Key_Down)

    qtbot.keyClick(palette.line, Qt.Key.Key_Return)

    assert DONE == ["step-n"]


def test_that_what_cannot_be_done_says_why_and_stays_open(
    qtbot: QtBot, palette: CommandPalette
) -> None:
    qtbot.keyClicks(palette.line, "clear")

    qtbot.keyClick(palette.line, Qt.Key.Key_Return)

    assert DONE == []
    assert palette.isVisible()
    assert palette.hint.text() == "Unavailable: no pending timer is selected."


def test_that_a_click_chooses_once(qtbot: QtBot, palette: CommandPalette) -> None:
    rect = palette.view.visualRect(palette.model.index(2))

    qtbot.mouseClick(palette.view.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())

    assert DONE == ["step-n"]


def test_that_escape_chooses_nothing(qtbot: QtBot, palette: CommandPalette) -> None:
    qtbot.keyClick(palette.line, Qt.Key.Key_Escape)

    assert DONE == []
    assert not palette.isVisible()


@pytest.mark.parametrize("scale", [1, 2])
def test_that_it_begins_as_far_below_the_top_as_text_is_large(
    palette: CommandPalette, scale: int
) -> None:
    font = palette.font()
    font.setPixelSize(13 * scale)
    palette.setFont(font)
    palette.open_with(ENTRIES, found_boss)

    window = palette.parentWidget()
    assert window is not None
    assert window.mapFromGlobal(palette.pos()).y() == 64 * scale
    assert palette.geometry().height() <= window.height() - 64 * scale - 16


def test_that_no_match_is_said(qtbot: QtBot, palette: CommandPalette) -> None:
    qtbot.keyClicks(palette.line, "xyzzy")

    assert shown(palette) == []
    assert palette.hint.text().startswith("Nothing")
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


def test_that_a_category_is_found_by_words_not_by_letters_here_and_there() -> None:
    title, category = "Open Drift and late timers, side by side", "Built-in scenes"
    scene = PaletteEntry(id="scene", title=title, category=category)

    assert found_ids("boss", scene) == []
    assert found_ids("built drift", scene) == ["scene"]


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
    command = PaletteEntry("command", "Open file …")

    assert found_ids("open", scene, command) == ["command", "scene"]
    assert found_ids("boss", command, scene) == ["scene"]


def titles_of(pattern: str, found: Found = NOTHING) -> dict[str, list[str]]:
    sections = sections_of(pattern, ENTRIES, found)
    return {each.title: [found.title for found in each.entries] for each in sections}


def test_that_objects_times_commands_and_panels_come_in_this_order() -> None:
    found = titles_of("boss", found_boss("boss"))

    assert list(found) == ["Objects", "Times", "Commands", "Panels"]
    # Commands in which only its letters are found are left out.
    assert found["Commands"] == ["Stop when boss arrives fires"]


def test_that_there_are_at_most_ten_rows() -> None:
    many = [entry(f"{number}", f"boss {number}") for number in range(20)]

    found = sections_of("boss", many, Found(many, many, many, many))

    assert [len(each.entries) for each in found] == [3, 3, 2, 2]


def test_that_what_is_not_possible_comes_last_with_its_reason() -> None:
    assert list(titles_of("timer"))[-1] == "Not possible now"


def test_that_behind_a_sign_only_commands_are_found(palette: CommandPalette, qtbot: QtBot) -> None:
    palette.open_with(ENTRIES, found_boss, ">")
    assert shown(palette) == ["Step one frame", "Step n frames", "Stop", *shown(palette)[3:]]

    qtbot.keyClicks(palette.line, "stop")

    assert shown(palette) == ["Stop"]
    assert palette.model.pattern == "stop"
    # Neither are commands in which only its letters are found.
    (section,) = sections_of(">one", ENTRIES, NOTHING)
    assert [each.title for each in section.entries] == ["Step one frame"]


def test_that_tab_shows_what_else_it_can_do_and_goes_back(
    palette: CommandPalette, qtbot: QtBot
) -> None:
    palette.open_with(ENTRIES, found_boss)
    qtbot.keyClicks(palette.line, "boss")
    before = shown(palette)
    assert "Tab" in palette.hint.text()

    qtbot.keyClick(palette.line, Qt.Key.Key_Tab)
    assert shown(palette) == ["Fire boss arrives now"]
    qtbot.keyClick(palette.line, Qt.Key.Key_Escape)
    assert shown(palette) == before

    qtbot.keyClick(palette.line, Qt.Key.Key_Tab)
    qtbot.keyClick(palette.line, Qt.Key.Key_Return)
    assert DONE == ["fire"]


def test_that_what_is_called_as_typed_is_chosen_wherever_it_stands(
    palette: CommandPalette, qtbot: QtBot
) -> None:
    panel = entry("panel", "Show Frame", kind=EntryKind.PANEL, name="Frame")
    palette.open_with([*ENTRIES, panel], lambda _pattern: NOTHING)
    qtbot.keyClicks(palette.line, "frame")

    qtbot.keyClick(palette.line, Qt.Key.Key_Return)

    assert DONE == ["panel"]


@pytest.mark.parametrize(
    ("title", "pattern", "parts"),
    [
        ("the boss arrives", "boss", [("the ", False), ("boss", True), (" arrives", False)]),
        ("Pause enemies", "en pa", [("Pa", True), ("use ", False), ("en", True), ("emies", False)]),
        ("Stop", "xyz", [("Stop", False)]),
    ],
)
def test_that_what_was_typed_is_bold(
    title: str, pattern: str, parts: list[tuple[str, bool]]
) -> None:
    assert parts_of(title, pattern) == parts
