"""The export dialog gets the open session as the command line gets its file."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from inspector.sessions.frame_files import read_frame_file
from inspector.sessions.scene import find_scene
from inspector.testing import pass_seconds, virtual_session
from tests.ui.shell import open_shell
from ui.window.handlers.export_setup import export_dialog


def test_that_window_and_command_line_say_the_same_about_a_recording(
    qtbot: QtBot, tmp_path: Path
) -> None:
    recording, exported = tmp_path / "a.tlrec", tmp_path / "frames.json"
    session = virtual_session(find_scene("1"))
    session.recorder.start(recording)
    pass_seconds(session, 1)
    session.close()
    window = open_shell(qtbot, tmp_path, recording).window
    assert window.bridge.session is not None
    dialog = export_dialog(
        window.bridge.session, window.frame_times, window.settings, window.theme, window
    )

    assert dialog.export_to(exported)

    told = read_frame_file(exported).provenance
    assert told == read_frame_file(recording).provenance
    assert told.source == "virtual time"
