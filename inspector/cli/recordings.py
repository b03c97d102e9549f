"""The commands ``replay`` and ``export --as pytest``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from inspector.cli.progress import EndlessCodeNote
from inspector.errors import ExportError, InspectorError
from inspector.events.log import readable
from inspector.events.recording import open_recording
from inspector.exit_codes import ExitCode
from inspector.foreign.paths import is_file, stored_path
from inspector.sessions.replay.replayed import pytest_text
from inspector.sessions.replay.rerun import rerun
from inspector.sessions.sources.time_sources import ATTACHED, ATTACHED_LOOP

if TYPE_CHECKING:
    from argparse import Namespace

    from inspector.events.recording import Recording

_PROGRAM: Final = "timeline-inspector"


class ReplayError(InspectorError):
    """A recording cannot be replayed; the message says why."""


def replay_recording(options: Namespace, out: TextIO, err: TextIO) -> int:
    """Run a recorded scene again and compare its behaviour.

    Returns:
        The exit code: 6 if it behaves differently and ``--verify`` is given.

    Raises:
        RecordingError: The recording cannot be opened.
        JournalError: It lacks data.
        ChangedSceneError: The scene's file has changed, and ``--anyway`` is not given.
        SceneError: The scene cannot be built any more.
    """
    recording = _opened(options.file, err)
    try:
        scene = _scene_of(recording, options.scene)
        _move(recording, scene)
        with EndlessCodeNote(err) as note:
            found = rerun(recording, scene, anyway=options.anyway, on_built=note.watch)
    finally:
        recording.close()
    err.writelines(f"{_PROGRAM}: {note}\n" for note in found.notes)
    counts = f"{found.events:,} events, {found.frames:,} frames"
    if found.is_same:
        out.write(f"{scene.name} behaved as recorded: {counts}.\ndigest {found.digest}\n")
        return ExitCode.OK
    out.write(f"{scene.name} behaved differently: {counts}.\n{found.difference}\n")
    return ExitCode.DIFFERENT if options.verify else ExitCode.OK


def export_as_pytest(options: Namespace, out: TextIO, err: TextIO) -> int:
    """Write a recording as a test.

    Returns:
        The exit code.

    Raises:
        RecordingError: The recording cannot be opened.
        JournalError: It lacks data.
        ExportError: The test cannot be written.
    """
    path = Path(options.files[0])
    paths = options.output or [path.with_name(f"test_{_identifier(path.stem)}.py")]
    for test in paths:
        if test.suffix != ".py":
            raise ExportError(f"{test} is not a valid name for a test. It must end in .py.")
    recording = _opened(path, err)
    try:
        scene = _scene_of(recording, options.scene)
        for test in paths:
            text = pytest_text(recording, recording.title, scene, test)
            try:
                with test.open("x", encoding="utf-8") as file:
                    file.write(text)
            except FileExistsError:
                raise ExportError(f"{test} exists. Choose another name with -o.") from None
            except OSError as error:
                reason = error.strerror or error
                raise ExportError(f"{test} cannot be written: {reason}.") from None
            out.write(f"wrote {test}\n")
    finally:
        recording.close()
    return ExitCode.OK


def _opened(path: str | Path, err: TextIO) -> Recording:
    recording = open_recording(Path(path))
    err.writelines(f"{_PROGRAM}: {note}\n" for note in recording.notes)
    return recording


def _scene_of(recording: Recording, chosen: Path | None) -> Path:
    """Return the scene's file: the given one, or else the recorded one."""
    if recording.meta.get("source") in {ATTACHED.name, ATTACHED_LOOP.name}:
        raise ReplayError(
            f"{recording.path} was recorded from attached programs. They cannot be run again: what "
            "they read besides the time was not recorded."
        )
    scene = chosen or stored_path(recording.scene_path)
    if chosen is None and not recording.scene_path:
        raise ReplayError(f"{recording.path} does not name its scene. Name the file: --scene FILE.")
    if not is_file(scene):
        raise ReplayError(f"The scene {scene} no longer exists. Name its file: --scene FILE.")
    return scene


def _move(recording: Recording, scene: Path) -> None:
    """Replace the old place of the scene in the recording's texts by the new one."""
    before, now = readable(recording.scene_path), readable(str(scene.absolute()))
    if before and before != now:
        recording.strings[:] = [text.replace(before, now) for text in recording.strings]


def _identifier(text: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in text) or "recording"
