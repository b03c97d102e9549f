"""The export dialog gets the open session as the command line gets its file."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QCheckBox, QComboBox

from inspector.sessions.frame_files import read_frame_file
from inspector.sessions.scene import find_scene
from inspector.testing import pass_seconds, virtual_session
from tests.sessions.test_captured import table
from tests.ui.shell import Shell
from tests.ui.used_window import Lend
from ui.window.handlers.export_setup import export_dialog


def proposed_folder(shell: Shell) -> Path:
    window = shell.window
    assert window.bridge.session is not None
    dialog = export_dialog(
        window.bridge.session, window.frame_times, window.settings, window.theme, window
    )
    return dialog._suggested_path().parent


def test_that_a_file_is_proposed_beside_what_is_open_then_where_the_last_one_is(
    lend: Lend, tmp_path: Path
) -> None:
    captures, last = tmp_path / "captures", tmp_path / "last"
    captures.mkdir()
    last.mkdir()
    shell = lend()
    assert proposed_folder(shell) == Path.cwd()

    shell.window.open_path(table(captures))

    assert proposed_folder(shell) == captures
    shell.window.settings = shell.window.settings._replace(export_folder=str(last))
    assert proposed_folder(shell) == last
    shell.window.settings = shell.window.settings._replace(export_folder=str(tmp_path / "gone"))
    assert proposed_folder(shell) == captures


def test_that_a_capture_is_exported_by_the_times_that_it_has(lend: Lend, tmp_path: Path) -> None:
    shell = lend(table(tmp_path))
    window = shell.window
    assert window.bridge.session is not None
    dialog = export_dialog(
        window.bridge.session, window.frame_times, window.settings, window.theme, window
    )

    dialog.refresh_preview()
    boxes = {box.accessibleName(): box for box in dialog.findChildren(QComboBox)}
    (stacked,) = (box for box in dialog.findChildren(QCheckBox) if "Stack" in box.text())

    measures = boxes["Measure"]
    assert [measures.itemData(each) for each in range(measures.count())] == ["interval"]
    assert not stacked.isEnabled()


def test_that_window_and_command_line_say_the_same_about_a_recording(
    lend: Lend, tmp_path: Path
) -> None:
    recording, exported = tmp_path / "a.tlrec", tmp_path / "frames.json"
    session = virtual_session(find_scene("1"))
    session.recorder.start(recording)
    pass_seconds(session, 1)
    session.close()
    window = lend(recording).window
    assert window.bridge.session is not None
    dialog = export_dialog(
        window.bridge.session, window.frame_times, window.settings, window.theme, window
    )

    assert dialog.export_to(exported)

    told = read_frame_file(exported).provenance
    assert told == read_frame_file(recording).provenance
    assert told.source == "virtual time"
