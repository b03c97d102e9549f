"""What the palette finds in a session: objects, times, and what can be done with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.events.conditions.breakpoint import BreakKind
from tests.sessions.test_captured import table, trace
from tests.ui.shell import Shell
from tests.ui.used_window import Lend
from ui.findings import FindingsPanel
from ui.kit.filter_line import FilterLine
from ui.session.bridge import Selection, SelectionKind
from ui.why.timer_lists import next_rows
from ui.window.handlers.palette_dialog import CommandPalette
from ui.window.handlers.palette_finds import PaletteFinder

SCENE = """
def build(stage):
    enemies = stage.root.child("game").child("enemies")
    enemies.set_timeout(0.5, lambda: stage.mark("the boss hides"), name="boss hides")
    enemies.set_timeout(30, lambda: None, name="boss arrives")
    stage.root.set_interval(0.25, lambda: None, name="beat")
"""

FAILING = """
def build(stage):
    def load():
        raise KeyError("castle")
    stage.root.set_timeout(0.25, load, name="load level")
"""


@pytest.fixture
def shell(lend: Lend) -> Shell:
    shell = lend(SCENE)
    shell.pass_frames(60)
    return shell


def test_that_with_a_capture_it_begins_with_what_is_done_with_captures(
    lend: Lend, tmp_path: Path
) -> None:
    shell = lend(None)
    shell.window.open_path(table(tmp_path))
    QApplication.processEvents()

    palette = type_into_palette(shell, "")

    rows = map(palette.model.entry, range(palette.model.rowCount()))
    assert [each.title for each in rows if each is not None][:3] == [
        "0:00.052  longest frame",
        "Compare with …",
        "Export …",
    ]
    QTest.keyClick(palette.line, Qt.Key.Key_Return)
    assert shell.bridge.selection.kind is SelectionKind.FRAME


def test_that_captures_that_were_open_lately_are_offered_to_be_compared(
    lend: Lend, tmp_path: Path
) -> None:
    before, after = table(tmp_path), tmp_path / "after.csv"
    after.write_bytes(before.read_bytes())
    shell = lend(None)
    recent = (str(after), str(before), str(tmp_path / "gone.csv"), str(tmp_path / "scene.py"))
    shell.window.settings = shell.window.settings._replace(recent_scenes=recent)
    compared: list[tuple[list[Path], bool]] = []
    finder = PaletteFinder(shell.window, lambda *asked: compared.append(asked))

    (of_two,) = finder.find("").commands
    of_two.do()
    assert of_two.title == "Compare capture.csv with after.csv"
    assert finder.find("compare gone").commands == []

    shell.window.open_path(before)
    QApplication.processEvents()
    (with_open,) = finder.find("after").commands
    with_open.do()
    assert with_open.title == "Compare with after.csv"
    assert compared == [([before, after], False), ([after], True)]


def type_into_palette(shell: Shell, text: str) -> CommandPalette:
    shell.trigger("palette")
    palette = shell.window.findChild(CommandPalette)
    assert isinstance(palette, CommandPalette)
    palette.line.setText(text)
    return palette


def choose(shell: Shell, text: str) -> None:
    """Type a text and press Enter, and let a frame pass."""
    palette = type_into_palette(shell, text)
    QTest.keyClick(palette.line, Qt.Key.Key_Return)
    QApplication.processEvents()
    shell.advance(1 / 60)


def titles(shell: Shell, pattern: str) -> list[list[tuple[str, str]]]:
    found = PaletteFinder(shell.window, lambda _paths, _has_session: None).find(pattern)
    lists = (found.objects, found.times, found.commands, found.panels)
    return [[(each.title, each.category) for each in entries] for entries in lists]


def test_that_threads_of_a_trace_are_not_said_to_be_held(shell: Shell, tmp_path: Path) -> None:
    shell.window.open_path(trace(tmp_path))

    assert ("thread 1", "clock") in titles(shell, "thread 1")[0]


def test_that_timers_say_when_they_are_due_or_when_they_fired(shell: Shell) -> None:
    objects, times, commands, panels = titles(shell, "boss")

    assert objects == [
        ("boss arrives", "timer on enemies · due in 29.0 s"),
        ("boss hides", "timer on enemies · fired at 0:00.500"),
    ]
    assert times == [
        ("0:00.500  the boss hides", "500 ms ago"),
        ("0:30.000  boss arrives", "in 29.0 s · step there"),
    ]
    assert [title for title, _about in commands] == [
        "Stop when boss arrives fires",
        "Fire boss arrives now",
        "Clear boss arrives",
    ]
    assert panels == [("Events with “boss”", ""), ("Timers with “boss”", "1 of 2")]


def test_that_a_finding_is_found_at_its_time(lend: Lend, qtbot: QtBot) -> None:
    shell = lend(FAILING)
    shell.pass_frames(30)
    assert titles(shell, "castle")[1] == []
    panel = shell.window.panels.panel("findings")
    assert isinstance(panel, FindingsPanel)

    panel.analyse()
    qtbot.waitUntil(lambda: not panel.is_analysing)

    ((title, about),) = titles(shell, "castle")[1]
    assert title.startswith("0:00.250  fails: load level failed ")
    assert about == "250 ms ago"


@pytest.mark.parametrize("pattern", ['"boss hides"', "“boss hides”", "'the boss"])
def test_that_a_name_is_found_in_quotation_marks(shell: Shell, pattern: str) -> None:
    assert titles(shell, pattern) == titles(shell, pattern.strip("\"'“”"))
    assert any(titles(shell, pattern))


def test_that_with_nothing_typed_the_selection_and_what_is_due_next_are_listed(
    shell: Shell,
) -> None:
    shell.bridge.select(Selection.clock(shell.clock_id("enemies")))
    palette = type_into_palette(shell, "")

    rows = [palette.model.index(row).data() for row in range(palette.model.rowCount())]
    assert rows[:4] == ["Objects", "enemies", "beat", "boss arrives"]
    assert "Pause enemies" in rows
    titles_of_sections = {"Objects", "Times", "Commands", "Panels"}
    assert titles_of_sections <= set(rows)
    assert len(set(rows) - titles_of_sections) == 10


@pytest.mark.parametrize("typed", ["", "why boss arrives"])
def test_that_why_a_timer_has_not_fired_takes_one_key(shell: Shell, typed: str) -> None:
    if not typed:
        ((title, about), *_others), *_lists = titles(shell, typed)
        assert title == "Why has boss arrives not fired?"
        assert about == "timer on enemies · due in 29.0 s"

    choose(shell, typed)

    selection = shell.bridge.selection
    assert shell.bridge.timeline.timers.row(selection.id).label == "boss arrives"
    assert titles(shell, "")[0][0][0] == "boss arrives"


def test_that_no_reason_is_offered_where_all_timers_have_fired(lend: Lend) -> None:
    scene = "def build(stage):\n    stage.root.set_interval(0.1, lambda: None, name='beat')\n"
    shell = lend(scene)
    shell.pass_frames(30)

    assert titles(shell, "")[0][0][0] == "beat"


def test_that_an_object_is_selected(shell: Shell) -> None:
    choose(shell, "boss arrives")

    selection = shell.bridge.selection
    assert selection.kind is SelectionKind.TIMER
    assert shell.bridge.timeline.timers.row(selection.id).label == "boss arrives"


def test_that_clocks_of_one_name_and_their_timers_are_told_apart(
    lend: Lend,
) -> None:
    scene = """
def build(stage):
    for side in ("left", "right"):
        hand = stage.root.child(side).child("hand")
        hand.set_timeout(5, lambda: None, name="grip")
"""
    shell = lend(scene)

    assert [about for _, about in titles(shell, "hand")[0]] == [
        "left › hand · running",
        "right › hand · running",
    ]
    assert [about for _, about in titles(shell, "grip")[0]] == [
        "timer on left › hand · due in 5.00 s",
        "timer on right › hand · due in 5.00 s",
    ]
    where = [row.links[1].text.split() for row in next_rows(shell.bridge.timeline, 9)]
    assert where == [["left", "›", "hand"], ["right", "›", "hand"]]


def test_that_a_verb_and_a_name_are_a_command(shell: Shell) -> None:
    choose(shell, "pause enemies")
    assert shell.bridge.timeline.clocks[shell.clock_id("enemies")].paused

    assert ("enemies", "clock · paused by you") in titles(shell, "enemies")[0]
    choose(shell, "resume enemies")
    assert not shell.bridge.timeline.clocks[shell.clock_id("enemies")].paused


def test_that_a_scene_is_stopped_when_what_was_found_fires(shell: Shell) -> None:
    choose(shell, "stop boss arrives")

    session = shell.bridge.session
    assert session is not None
    assert session.breakpoints is not None
    ((_, placed, _),) = session.breakpoints.items()
    assert (placed.kind, placed.subject) == (BreakKind.TIMER_FIRES, "boss arrives")


@pytest.mark.parametrize(
    ("typed", "at_ns"),
    [("0:00.4", 400_000_000), ("-500 ms", 500_000_000), ("-1 timer", 1_000_000_000)],
)
def test_that_an_instant_of_the_past_is_looked_at(shell: Shell, typed: str, at_ns: int) -> None:
    choose(shell, typed)

    assert shell.bridge.playhead_ns == pytest.approx(at_ns, abs=100)


@pytest.mark.parametrize(
    ("typed", "at_ns"),
    [("+2 s", 3_000_000_000), ("0:04", 4_000_000_000), ("+3 timers", 1_750_000_000)],
)
def test_that_time_is_stepped_to_an_instant_to_come(shell: Shell, typed: str, at_ns: int) -> None:
    ((_title, about),) = titles(shell, typed)[1]
    choose(shell, typed)
    for _ in range(5):
        shell.advance(1)

    assert about.endswith("step there")
    assert not shell.bridge.timeline.is_running
    assert shell.bridge.timeline.at_ns == pytest.approx(at_ns, abs=100)


def test_that_a_text_that_means_no_instant_finds_none(shell: Shell) -> None:
    assert titles(shell, "4th wall")[1] == []
    assert titles(shell, "frame 99999999")[1] == []


def test_that_a_panel_opens_with_the_word_as_its_filter(shell: Shell) -> None:
    palette = type_into_palette(shell, "boss")
    rows = range(palette.model.rowCount())
    found = [palette.model.entry(row) for row in rows]
    (entry,) = (each for each in found if each is not None and each.id == "with:timer_queue")

    palette.reject()
    entry.do()

    assert shell.window.panels.is_open("timer_queue")
    (line,) = shell.window.panels.panel("timer_queue").findChildren(FilterLine)
    assert line.filter_text == "boss"


def test_that_without_a_session_there_is_nothing_to_find(lend: Lend) -> None:
    shell = lend(None)

    assert titles(shell, "boss") == [[], [], [], []]
