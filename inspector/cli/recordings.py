"""The commands about recordings: ``replay``, ``annotate`` and ``export --as pytest``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TextIO

from msgspec import structs

from inspector.analysis.instants import InstantError, InstantFinder
from inspector.cli.graph_options import refuse_existing
from inspector.cli.progress import EndlessCodeNote
from inspector.cli.terminal import write_json, write_notes
from inspector.display_text import counted
from inspector.errors import ArgumentError, ExportError, InspectorError
from inspector.events.annotations import Annotation, AnnotationError, checked
from inspector.events.log import readable
from inspector.events.recording import Recording, annotate, annotations_of, open_recording
from inspector.events.recording.annotations import annotate_all
from inspector.exit_codes import ExitCode
from inspector.foreign.paths import is_file, stored_path
from inspector.formats.atomic_file import replacing
from inspector.sessions.replay.replayed import pytest_text
from inspector.sessions.replay.rerun import rerun
from inspector.sessions.sources.time_sources import ATTACHED, ATTACHED_LOOP


class ReplayError(InspectorError):
    """A recording cannot be replayed; the message says why."""

    exit_code = ExitCode.CANNOT_TELL


def replay_recording(options: Namespace, out: TextIO, err: TextIO) -> int:
    """Run a recorded scene again; returns 6 if it differs and ``--verify`` is given."""
    with closing(_opened(options.file, err)) as recording:
        scene = _scene_of(recording, options.scene)
        _move(recording, scene)
        with EndlessCodeNote(err) as note:
            found = rerun(recording, scene, anyway=options.anyway, on_built=note.watch)
    write_notes(err, *found.notes)
    counts = f"{counted(found.events, 'event')}, {counted(found.frames, 'frame')}"
    if found.is_same:
        out.write(f"{scene.name} behaved as recorded: {counts}.\ndigest {found.digest}\n")
        if options.verify and recording.is_partial:
            write_notes(
                err, "Whether all of it behaves as recorded cannot be told: events are missing."
            )
            return ExitCode.CANNOT_TELL
        return ExitCode.OK
    out.write(f"{scene.name} behaved differently: {counts}.\n{found.difference}\n")
    return ExitCode.DIFFERENT if options.verify else ExitCode.OK


def export_as_pytest(options: Namespace, out: TextIO, err: TextIO) -> int:
    path = Path(options.files[0])
    paths = options.output or [path.with_name(f"test_{_identifier(path.stem)}.py")]
    for test in paths:
        if test.suffix != ".py":
            raise ExportError(f"{test} is not a valid name for a test. It must end in .py.")
    with closing(_opened(path, err)) as recording:
        scene = _scene_of(recording, options.scene)
        for test in paths:
            refuse_existing(test, options)
            text = pytest_text(recording, recording.title, scene, test)
            with replacing(test) as file:
                file.write(text.encode())
            out.write(f"wrote {test}\n")
    return ExitCode.OK


def _opened(path: str | Path, err: TextIO) -> Recording:
    recording = open_recording(Path(path))
    write_notes(err, *recording.notes)
    return recording


def _scene_of(recording: Recording, chosen: Path | None) -> Path:
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
    """Replace the recorded path of the scene in the recording's strings by the new one."""
    before, now = readable(recording.scene_path), readable(str(scene.absolute()))
    if before and before != now:
        recording.strings[:] = [text.replace(before, now) for text in recording.strings]


def _identifier(text: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in text) or "recording"


def annotate_recording(options: Namespace, out: TextIO, err: TextIO) -> int:
    """List, add, change or remove annotations."""
    path: Path = options.file
    try:
        if options.remove:
            _remove(path, options.remove, out)
        elif options.change is not None:
            former = _known(annotations_of(path), options.change)
            _keep(path, _annotation(options, former, err), out)
        elif _says_something(options):
            _keep(path, _annotation(options, None, err), out)
        else:
            _list(annotations_of(path), out, as_json=options.json)
    except (AnnotationError, InstantError) as error:
        raise ArgumentError(str(error)) from None
    return ExitCode.OK


def _says_something(options: Namespace) -> bool:
    words = (options.at, options.until, options.name, options.text)
    return any(each is not None for each in words) or options.note or options.bookmark


def _list(found: Sequence[Annotation], out: TextIO, *, as_json: bool) -> None:
    if as_json:
        write_json(out, [structs.asdict(each) for each in found])
        return
    if not found:
        out.write("no bookmarks, notes or named ranges\n")
    out.writelines(f"{_text(each)}\n" for each in found)


def _text(annotation: Annotation) -> str:
    # Without a name the first line of the text is the title.
    said = annotation.said if annotation.name else annotation.said[1:]
    lines = [f"{annotation.id:>4}  {annotation.line}", *(f"      {line}" for line in said)]
    return "\n".join(lines)


def _remove(path: Path, numbers: Sequence[int], out: TextIO) -> None:
    found = annotations_of(path)
    wanted = [_known(found, number) for number in dict.fromkeys(numbers)]
    annotate_all(path, [each.id for each in wanted])
    out.writelines(f"removed {each.id}  {each.line}\n" for each in wanted)


def _known(found: Sequence[Annotation], number: int) -> Annotation:
    for each in found:
        if each.id == number:
            return each
    there = ", ".join(str(each.id) for each in found[:10]) or "none"
    raise AnnotationError(f"There is no annotation {number} in the recording; there are: {there}.")


def _keep(path: Path, annotation: Annotation, out: TextIO) -> None:
    number = annotate(path, checked(annotation))
    out.write(f"{_text(structs.replace(checked(annotation), id=number))}\n")


def _annotation(options: Namespace, former: Annotation | None, err: TextIO) -> Annotation:
    if options.at is None and former is None:
        raise AnnotationError("Give an instant: --at 02:10.5, --at “frame 812”.")
    at_ns, end_ns = _span(options, former, err)
    kind = _kind(options, former, has_end=end_ns is not None)
    before = former or Annotation("bookmark", at_ns)
    name = before.name if options.name is None else options.name
    text = before.text if options.text is None else options.text
    ends = end_ns if kind == "range" else None
    return Annotation(kind, at_ns, ends, name, text, before.id, before.created)


def _kind(options: Namespace, former: Annotation | None, *, has_end: bool) -> str:
    if options.note:
        return "note"
    if options.bookmark:
        return "bookmark"
    if has_end:
        return "range"
    if former is not None:
        return former.kind
    return "note" if options.name is None else "bookmark"


def _span(options: Namespace, former: Annotation | None, err: TextIO) -> tuple[int, int | None]:
    at_ns, end_ns = (0, None) if former is None else (former.at_ns, former.end_ns)
    if options.at is None and options.until is None:
        return at_ns, end_ns
    with closing(open_recording(options.file)) as recording:
        write_notes(err, *recording.notes)
        frames = recording.state_before(recording.end).frames
        finder = InstantFinder(recording, frames, recording.last_ns)
        if options.at is not None:
            at_ns = finder.find(options.at, finder.last_ns)
        if options.until is not None:
            end_ns = finder.find(options.until, at_ns)
    return at_ns, end_ns
