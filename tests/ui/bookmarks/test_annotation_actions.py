"""Bookmarks, notes and ranges in the window: left by keys, seen in plots, kept in files."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from inspector.analysis.lanes.lanes import LaneKind
from inspector.commands.recording import SaveLast, StartRecording, StopRecording
from inspector.commands.scene import Reload, RewindTo
from inspector.events.recording import annotations_of
from inspector.sessions.hosted import HostedSession
from inspector.timebase import NS_PER_MS, NS_PER_SECOND
from tests.ui.frame_times.pixels import pixel_of_frame
from tests.ui.shell import Shell
from tests.ui.used_window import Lend
from ui.bookmarks.panel import BookmarksPanel
from ui.kit.prompts import Prompt
from ui.session.bridge import Selection
from ui.timeline.panel import TimelinePanel


@pytest.fixture
def shell(lend: Lend, qtbot: QtBot) -> Shell:
    """Return a window on a held scene of which two seconds have passed."""
    shell = lend()
    shell.pass_frames(120)
    shell.trigger("run-or-hold")
    shell.advance(1 / 60)
    plot = shell.window.frame_times.plot
    frames = shell.bridge.timeline.frames
    qtbot.waitUntil(lambda: plot.series is not None and plot.series.end == frames.end)
    return shell


def left(shell: Shell) -> list[tuple[str, int, str]]:
    """Return kind, milliseconds and title of everything that was left."""
    items = shell.bridge.annotations.items
    return [(each.kind, each.at_ns // NS_PER_MS, each.title) for each in items]


def status(shell: Shell) -> str:
    return shell.window.notice.message


def prompt_of(shell: Shell) -> Prompt:
    (prompt,) = (each for each in shell.window.findChildren(Prompt) if each.isVisible())
    return prompt


def timeline(shell: Shell) -> TimelinePanel:
    shell.window.panels.enter_panel("timeline")
    panel = shell.window.panels.panel("timeline")
    assert isinstance(panel, TimelinePanel)
    QApplication.processEvents()
    panel.refresh()
    return panel


def test_that_a_key_leaves_a_bookmark_where_one_looks(shell: Shell, qtbot: QtBot) -> None:
    with qtbot.waitActive(shell.window):
        shell.window.activateWindow()
    shell.window.setFocus()
    QTest.keyClick(shell.window, Qt.Key.Key_B)
    shell.bridge.set_playhead(500 * NS_PER_MS)
    QTest.keyClick(shell.window, Qt.Key.Key_B)

    present_ms = shell.bridge.timeline.at_ns // NS_PER_MS
    assert left(shell) == [("bookmark", 500, "Bookmark 2"), ("bookmark", present_ms, "Bookmark 1")]
    assert status(shell) == "Bookmark at 0:00.500: Bookmark 2"


def test_that_the_key_is_a_letter_where_one_types(shell: Shell, qtbot: QtBot) -> None:
    with qtbot.waitActive(shell.window):
        shell.window.activateWindow()
    line = shell.window.findChild(QLineEdit)
    assert isinstance(line, QLineEdit)
    line.setFocus()
    line.clear()
    QTest.keyClick(line, Qt.Key.Key_B)
    assert (line.text(), left(shell)) == ("b", [])


def test_that_delete_in_the_panel_leaves_a_selected_timer_alone(shell: Shell, qtbot: QtBot) -> None:
    with qtbot.waitActive(shell.window):
        shell.window.activateWindow()
    shell.trigger("bookmark")
    shell.window.panels.enter_panel("timer_queue")
    timers = shell.bridge.timeline.timers
    shell.bridge.select(Selection.timer(next(iter(timers.ids()))))
    count = len(timers)
    shell.window.panels.enter_panel("bookmarks")
    panel = shell.window.panels.panel("bookmarks")
    assert isinstance(panel, BookmarksPanel)
    panel.mark(1)
    panel.view.setFocus()
    QTest.keyClick(panel.view, Qt.Key.Key_Delete)
    shell.bridge.refresh_now()

    assert (left(shell), len(shell.bridge.timeline.timers)) == ([], count)


def test_that_a_note_is_asked_for_at_the_instant_that_is_shown(shell: Shell) -> None:
    shell.bridge.set_playhead(700 * NS_PER_MS)
    shell.trigger("note")
    prompt = prompt_of(shell)
    assert prompt.line.accessibleName() == "Note at 0:00.700"
    prompt.accept_answer()
    assert prompt.problem.text() == "✖ The note is empty: give it a text."
    prompt.line.setText("The boss is late")
    prompt.accept_answer()

    assert left(shell) == [("note", 700, "The boss is late")]


def test_that_what_is_selected_is_named_and_else_what_is_in_view(shell: Shell) -> None:
    annotations = shell.bridge.annotations
    panel = timeline(shell)
    plot = shell.window.frame_times.plot
    start, stop = plot.view.visible_frames()
    frames = shell.bridge.timeline.frames
    assert (start, stop) == (0, len(frames))
    assert annotations.range_at_hand() == (0, shell.bridge.timeline.at_ns)
    plot.view.choose_frames((30, 60))
    assert annotations.range_at_hand() == (frames.at_ns[29], frames.at_ns[59])
    panel.canvas.view.choose_ns(900.0 * NS_PER_MS, 400.0 * NS_PER_MS)
    assert annotations.range_at_hand() == (400 * NS_PER_MS, 900 * NS_PER_MS)


def test_that_a_range_is_named(shell: Shell) -> None:
    timeline(shell).canvas.view.choose_ns(400.0 * NS_PER_MS, 900.0 * NS_PER_MS)
    shell.trigger("name-range")
    prompt = prompt_of(shell)
    assert prompt.line.accessibleName() == ("Name for 0:00.400 to 0:00.900 (500 ms)")
    prompt.line.setText("boss fight")
    prompt.accept_answer()

    (found,) = shell.bridge.annotations.items
    assert (found.at_ns, found.end_ns, found.name) == (
        400 * NS_PER_MS,
        900 * NS_PER_MS,
        "boss fight",
    )


def test_that_keys_go_from_one_to_the_next(shell: Shell) -> None:
    for at_ms in (300, 900):
        shell.bridge.set_playhead(at_ms * NS_PER_MS)
        shell.trigger("bookmark")
    shell.bridge.go_live()

    been = []
    for action in ("back", "back", "on"):
        shell.trigger(f"look-bookmark-{action}")
        been.append(shell.bridge.playhead_ns)
    assert been == [900 * NS_PER_MS, 300 * NS_PER_MS, 900 * NS_PER_MS]
    QApplication.processEvents()
    shell.trigger("look-bookmark-on")
    assert shell.bridge.playhead_ns == 900 * NS_PER_MS
    said = shell.window.notice.message
    assert "There is no bookmark, note or range after 0:00.900." in said


def test_that_the_lane_shows_them_and_says_what_they_are(shell: Shell) -> None:
    panel = timeline(shell)
    canvas = panel.canvas
    panel.choices.kinds[LaneKind.BOOKMARKS].setChecked(True)
    assert all(row.label != "Bookmarks" for row in canvas.rows.rows)
    shell.bridge.set_playhead(500 * NS_PER_MS)
    shell.trigger("bookmark")
    canvas.view.choose_ns(400.0 * NS_PER_MS, 1_900.0 * NS_PER_MS)
    shell.trigger("name-range")
    prompt_of(shell).line.setText("fight")
    prompt_of(shell).accept_answer()

    (row,) = (each for each in canvas.rows.rows if each.label == "Bookmarks")
    canvas.view.fit()
    lines = []
    for at_ms in (501, 1_500, 1_950):
        reading = canvas.reader.read(row, at_ms * NS_PER_MS, 5.0 * NS_PER_MS)
        lines.append("" if reading is None else reading.lines[0])
    assert lines == [
        "0:00.500  bookmark: Bookmark 1",
        "0:00.400 to 0:01.900  range: fight",
        "",
    ]
    assert canvas.reader.step(row, 400 * NS_PER_MS, 1) == 500 * NS_PER_MS
    before = canvas.grab().toImage()
    shell.bridge.annotations.remove([1, 2])
    assert canvas.grab().toImage() != before
    assert all(each.label != "Bookmarks" for each in canvas.rows.rows)


def test_that_a_double_click_and_enter_on_the_lane_go_there(shell: Shell, qtbot: QtBot) -> None:
    shell.bridge.set_playhead(500 * NS_PER_MS)
    shell.trigger("bookmark")
    shell.bridge.go_live()
    timeline(shell).choices.kinds[LaneKind.BOOKMARKS].setChecked(True)
    canvas = timeline(shell).canvas
    canvas.view.set_span_ns(0, 2_000.0 * NS_PER_MS)
    (row,) = (each for each in canvas.rows.rows if each.label == "Bookmarks")
    place = canvas.place_of(row, 502.0 * NS_PER_MS).toPoint()
    qtbot.mouseDClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert shell.bridge.playhead_ns == 500 * NS_PER_MS

    shell.bridge.go_live()
    canvas.gestures.choose_row(row)
    canvas.caret_ns = 0
    QTest.keyClick(canvas, Qt.Key.Key_Right)
    QTest.keyClick(canvas, Qt.Key.Key_Return)
    assert shell.bridge.playhead_ns == 500 * NS_PER_MS


def test_that_the_menus_of_the_plots_leave_and_ask(shell: Shell, qtbot: QtBot) -> None:
    def choose(menu: QMenu, start: str) -> None:
        (action,) = (each for each in menu.actions() if each.text().startswith(start))
        action.trigger()

    panel = timeline(shell)
    annotations = shell.bridge.annotations
    panel.view.set_hover_ns(600 * NS_PER_MS)
    panel.canvas.view.choose_ns(100.0 * NS_PER_MS, 300.0 * NS_PER_MS)
    menu = QMenu(panel)
    panel._add_annotating(menu)
    choose(menu, "Bookmark at 0:00.600")
    with qtbot.waitSignal(annotations.range_wanted) as wanted:
        choose(menu, "Name the selected range")
    assert wanted.args == [(100 * NS_PER_MS, 300 * NS_PER_MS)]

    frame_times = shell.window.frame_times
    frames = shell.bridge.timeline.frames
    frame_times.view.choose_frames((10, 20))
    frame_times.view.set_frame_span(50, 70)
    frame_times.plot.point_at(pixel_of_frame(frame_times.plot, 60))
    menu = QMenu(frame_times)
    frame_times._add_annotating(menu)
    choose(menu, "Bookmark frame 60")
    with qtbot.waitSignal(annotations.range_wanted) as wanted:
        choose(menu, "Name the frames selected")
    # What frames 10 to 19 measure begins with the instant of the frame before them.
    assert wanted.args == [(frames.at_ns[9], frames.at_ns[19])]
    assert left(shell) == [
        ("bookmark", 600, "Bookmark 1"),
        ("bookmark", frames.at_ns[60] // NS_PER_MS, "Bookmark 2"),
    ]


def test_that_a_range_is_brought_into_view_in_both_plots(shell: Shell) -> None:
    panel = timeline(shell)
    span_ns = (400 * NS_PER_MS, 600 * NS_PER_MS)
    shell.bridge.annotations.span_wanted.emit(span_ns)

    window = panel.canvas.lane_window()
    assert 380 * NS_PER_MS < window.low < span_ns[0] < span_ns[1] < window.high < 620 * NS_PER_MS
    frames = shell.bridge.timeline.frames
    start, stop = shell.window.frame_times.plot.view.visible_frames()
    assert abs(frames.at_ns[start] - span_ns[0]) < 40 * NS_PER_MS
    assert abs(frames.at_ns[stop] - span_ns[1]) < 40 * NS_PER_MS


def test_that_another_life_of_the_scene_shows_none_and_a_rewind_keeps_them(shell: Shell) -> None:
    shell.bridge.set_playhead(500 * NS_PER_MS)
    shell.trigger("bookmark")
    shell.bridge.submit(RewindTo(NS_PER_SECOND))
    shell.bridge.refresh_now()
    assert left(shell) == [("bookmark", 500, "Bookmark 1")]

    shell.bridge.submit(Reload())
    shell.bridge.refresh_now()
    assert left(shell) == []
    assert not shell.bridge.annotations.can_undo


def test_that_live_record_save_and_reopen_tell_the_same(shell: Shell, tmp_path: Path) -> None:
    path, last = tmp_path / "a.tlrec", tmp_path / "last.tlrec"
    shell.bridge.set_playhead(500 * NS_PER_MS)
    shell.trigger("bookmark")
    shell.bridge.submit(StartRecording(str(path)))
    shell.bridge.set_playhead(900 * NS_PER_MS)
    shell.trigger("bookmark")
    session = shell.bridge.session
    assert isinstance(session, HostedSession)
    before = list(session.annotations)
    shell.bridge.submit(SaveLast(str(last), round(1.2 * NS_PER_SECOND)))
    shell.bridge.submit(StopRecording())
    session.recorder.close()

    assert annotations_of(path) == before
    assert [each.name for each in annotations_of(last)] == ["Bookmark 2"]
    shell.window.open_path(path)
    assert list(shell.bridge.annotations.items) == before
    panel = shell.window.panels.panel("bookmarks")
    assert isinstance(panel, BookmarksPanel)
    assert panel.model.rowCount() == 2

    # The opened file takes more annotations; the rest of it stays unchanged.
    shell.bridge.set_playhead(1_100 * NS_PER_MS)
    shell.trigger("bookmark")
    assert [each.name for each in annotations_of(path)] == [
        "Bookmark 1",
        "Bookmark 2",
        "Bookmark 3",
    ]
    path.chmod(0o444)
    shell.bridge.set_playhead(1_200 * NS_PER_MS)
    shell.trigger("bookmark")
    assert len(left(shell)) == 3
    assert "it is read-only. Make it writable, or annotate a copy" in panel.message.text()


def test_that_an_empty_recording_says_that_its_file_takes_them(
    shell: Shell, tmp_path: Path
) -> None:
    path = tmp_path / "a.tlrec"
    shell.bridge.submit(StartRecording(str(path)))
    shell.bridge.submit(StopRecording())
    shell.window.open_path(path)
    panel = shell.window.panels.panel("bookmarks")
    assert isinstance(panel, BookmarksPanel)
    assert panel.notice.text().endswith("They are stored in this file.")
