"""Recording from the window: the actions, the indicator, and the messages afterwards."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from inspector.events.recording import open_recording
from inspector.pictures.shapes import circle
from inspector.sessions.hosted import HostedSession
from inspector.sessions.recorder import Recorder
from inspector.sessions.session import SessionPhase
from inspector.timebase import NS_PER_MS
from tests.ui.shell import Shell
from tests.ui.used_window import Lend
from ui.kit.prompts import Prompt


@pytest.fixture
def shell(lend: Lend, tmp_path: Path) -> Shell:
    """Return a window on a held scene of which a second has passed."""
    shell = lend()
    shell.pass_frames(60)
    shell.trigger("run-or-hold")
    shell.advance(1 / 60)
    _recorder(shell).folder = tmp_path / "recordings"
    return shell


def _recorder(shell: Shell) -> Recorder:
    session = shell.bridge.session
    assert isinstance(session, HostedSession)
    return session.recorder


def _files(folder: Path) -> list[Path]:
    return sorted((folder / "recordings").glob("*.tlrec"))


def _notice(shell: Shell) -> str:
    notice = shell.window.notice
    return notice.label.text() if notice.isVisible() else ""


def _shows_recording(shell: Shell) -> bool:
    shell.window.transport.refresh_numbers()
    QApplication.processEvents()
    return shell.window.transport.record_button.text() != "Record"


def test_that_one_action_starts_and_ends_a_recording(shell: Shell, tmp_path: Path) -> None:
    action = shell.window.actions_by_id["record"]
    assert (action.text(), action.isChecked()) == ("Re&cord to a new file", False)

    shell.trigger("record")
    assert (action.text(), action.isChecked()) == ("Stop re&cording", True)
    shell.trigger("step")
    shell.trigger("record")

    (path,) = _files(tmp_path)
    assert (action.text(), action.isChecked()) == ("Re&cord to a new file", False)
    assert _notice(shell) == f"Written: {path.name}"
    with closing(open_recording(path)) as past:
        assert past.last_ns == shell.bridge.timeline.at_ns
    texts = [each.text for each in shell.bridge.timeline.commands]
    assert "record to a new file" in texts

    shell.trigger("run-or-hold")
    shell.bridge.refresh_now()
    assert shell.bridge.status.phase is SessionPhase.RUNNING
    assert _notice(shell) == f"Written: {path.name}"


def test_that_what_was_written_is_opened_from_the_notice(shell: Shell, tmp_path: Path) -> None:
    shell.trigger("record")
    shell.trigger("record")
    (path,) = _files(tmp_path)

    button = shell.window.notice.buttons[0]
    assert (button.text(), button.toolTip()) == ("Open it", str(path))
    # The tabs are not in its way for long.
    assert shell.window.notice.close_button.isHidden()
    button.click()

    assert shell.window.windowTitle().startswith("played & tested (recording)")
    assert shell.window.settings.recent_scenes[0] == str(path)
    record = shell.window.actions_by_id["record"]
    assert not record.isEnabled()
    assert record.reason == "it is a recording already"


def test_that_the_transport_bar_says_so_in_words_and_ends_it_at_a_click(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    button = shell.window.transport.record_button
    assert not _shows_recording(shell)
    now_ns = shell.bridge.refresh_timer.now_ns()

    # However long the machine takes.
    with monkeypatch.context() as patch:
        patch.setattr(shell.bridge.refresh_timer, "now_ns", lambda: now_ns)
        shell.trigger("record")
        assert _shows_recording(shell)
        patch.setattr(shell.bridge.refresh_timer, "now_ns", lambda: now_ns + 2_500_000_000)
        assert _shows_recording(shell)
    (path,) = _files(tmp_path)
    assert button.text() == "00:02.5"
    assert not button.icon().isNull()
    assert button.accessibleName() == f"Recording to {path.name}; press to stop"
    said = button.toolTip().split("\n")
    assert said[0].startswith(f"Recording to {path}, ")
    assert said[0].endswith(" MiB so far.")
    assert said[1:] == ["No events are lost.", "Click to stop."]

    button.click()
    shell.bridge.refresh_now()
    assert not _shows_recording(shell)
    assert _notice(shell) == f"Written: {path.name}"


def test_that_the_transport_bar_counts_what_was_lost(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.trigger("record")
    monkeypatch.setattr(Recorder, "lost", 1_234)

    assert _shows_recording(shell)

    button = shell.window.transport.record_button
    assert button.accessibleName().startswith("Recording, 1,234 lost, to ")
    assert "1,234 events came faster than they could be written." in button.toolTip()


def test_that_a_file_can_be_chosen_and_none_is_replaced(shell: Shell, tmp_path: Path) -> None:
    for name in ("game.tlrec", "there.tlrec"):
        shell.trigger("record-to")
        dialog = shell.window.findChild(QFileDialog, "record_dialog")
        assert dialog is not None
        (tmp_path / "there.tlrec").write_text("mine", encoding="utf-8")
        dialog.fileSelected.emit(str(tmp_path / name))
        shell.bridge.refresh_now()
        dialog.setObjectName("")
        dialog.reject()
        if name == "game.tlrec":
            assert _recorder(shell).path == tmp_path / name
            shell.trigger("record")

    assert not _recorder(shell).is_recording
    assert _notice(shell).startswith("Not recorded. ")
    assert "there.tlrec" in _notice(shell)
    assert shell.window.notice.buttons[0].text() == "Record to …"
    assert (tmp_path / "there.tlrec").read_text(encoding="utf-8") == "mine"


def test_that_the_same_problem_is_shown_each_time(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "recordings").write_text("no folder", encoding="utf-8")

    for _ in range(2):
        shell.trigger("record")
        assert "cannot be made" in _notice(shell)
        shell.window.notice.dismiss()
        shell.bridge.refresh_now()
        assert _notice(shell) == ""


def test_that_a_problem_of_the_disk_is_shown_while_the_scene_is_held(
    qtbot: QtBot, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.trigger("record")
    writer = _recorder(shell)._writer
    assert writer is not None

    monkeypatch.setattr(writer, "problem", "The disk is full: it ends here.")

    qtbot.waitUntil(lambda: _notice(shell) == "Not recorded. The disk is full: it ends here.")
    qtbot.waitUntil(lambda: not _shows_recording(shell))


def test_that_the_last_seconds_are_written_while_the_scene_is_held(
    qtbot: QtBot, shell: Shell, tmp_path: Path
) -> None:
    shell.trigger("save-last")

    qtbot.waitUntil(lambda: _notice(shell).startswith("Written: "))
    (path,) = _files(tmp_path)
    assert _notice(shell) == f"Written: {path.name}"
    last = shell.bridge.timeline.commands[-1]
    assert last.text == "save the last 30.0 s to a new file"


def test_that_a_held_scene_is_looked_at_until_its_recording_is_ended(
    qtbot: QtBot, shell: Shell
) -> None:
    shell.trigger("record")
    for _ in range(3):
        shell.bridge.refresh_now()
    assert shell.bridge.refresh_timer.next_ms is not None

    shell.trigger("record")

    qtbot.waitUntil(lambda: shell.bridge.refresh_timer.next_ms is None)


def test_that_so_much_of_the_past_is_written_as_is_typed(
    qtbot: QtBot, shell: Shell, tmp_path: Path
) -> None:
    shell.trigger("save-last-exact")
    prompt = shell.window.findChild(Prompt)
    assert prompt is not None
    prompt.line.setText("0")
    prompt.accept_answer()
    assert prompt.problem.text() == "✖ There is nothing to save: type a duration above 0"

    prompt.line.setText("500ms")
    prompt.accept_answer()
    shell.bridge.refresh_now()

    qtbot.waitUntil(lambda: _notice(shell).startswith("Written: "))
    (path,) = _files(tmp_path)
    with closing(open_recording(path)) as past:
        kept_ns = past.last_ns - past.first_ns
    assert kept_ns == pytest.approx(500 * NS_PER_MS, abs=NS_PER_MS)


def test_that_a_reload_goes_on_in_the_next_file(shell: Shell, tmp_path: Path) -> None:
    shell.trigger("record")
    shell.trigger("reload")
    shell.bridge.refresh_now()

    first, second = sorted(_files(tmp_path), key=lambda path: len(path.name))
    assert _notice(shell) == f"Written: {first.name}"
    assert _recorder(shell).path == second
    assert shell.window.actions_by_id["record"].isChecked()


def test_that_a_recording_can_be_ended_when_the_scene_fails_to_load(
    shell: Shell, tmp_path: Path
) -> None:
    shell.trigger("record")
    (tmp_path / "scene.py").write_text("def build(stage): raise OSError", encoding="utf-8")
    shell.trigger("reload")

    shell.trigger("record")

    assert not _recorder(shell).is_recording


def test_that_a_scene_that_failed_to_load_is_not_recorded(lend: Lend) -> None:
    shell = lend("def build(stage): raise OSError")

    for action_id in ("record", "record-to", "save-last", "save-last-exact"):
        reason = shell.window.actions_by_id[action_id].reason
        assert reason == "the scene could not be loaded: fix the file and reload it"
    assert not shell.window.transport.record_button.isEnabled()


def test_that_without_a_scene_nothing_is_recorded(lend: Lend) -> None:
    shell = lend(None)

    for action_id in ("record", "record-to", "save-last", "save-last-exact"):
        assert shell.window.actions_by_id[action_id].reason == "no scene is open"
    assert not _shows_recording(shell)


def test_that_pictures_can_be_left_out_and_that_is_remembered(shell: Shell) -> None:
    action = shell.window.actions_by_id["record-pictures"]
    assert action.isChecked()

    shell.trigger("record-pictures")

    assert not action.isChecked()
    assert not _recorder(shell).keeps_pictures
    assert shell.bridge.panel_choices["recording.pictures"] == "no"
    shell.trigger("record-pictures")
    assert (action.isChecked(), _recorder(shell).keeps_pictures) == (True, True)


def test_that_the_start_of_a_recording_says_what_pictures_take(lend: Lend, tmp_path: Path) -> None:
    shell = lend()
    session = shell.bridge.session
    assert isinstance(session, HostedSession)
    _recorder(shell).folder = tmp_path / "recordings"
    session._run.stage.picture(lambda: circle(1, 1, 1, "#ffffff"))
    session.pictures.is_watched = True
    shell.advance(1 / 60)

    shell.trigger("record")
    shell.advance(1 / 60)

    said = shell.window.notice.message
    assert said.startswith("Recording to ")
    assert "; pictures take about " in said
    shell.window.transport.refresh_numbers()
    assert "Pictures of the scene take" in shell.window.transport.record_button.toolTip()
