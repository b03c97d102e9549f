"""The command ``annotate``: lists, adds, changes and removes annotations of a recording."""

from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Final, TextIO

from inspector.analysis.instants import InstantError, InstantFinder
from inspector.errors import ArgumentError
from inspector.events.annotations import Annotation, AnnotationError, checked
from inspector.events.recording import annotate, annotations_of, open_recording
from inspector.events.recording.annotations import annotate_all
from inspector.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_PROGRAM: Final = "timeline-inspector"


def annotate_recording(options: Namespace, out: TextIO, err: TextIO) -> int:
    """List, add, change or remove annotations.

    Returns:
        The exit code.

    Raises:
        RecordingError: The recording cannot be opened or written.
        InspectorError: The arguments are invalid for this recording.
    """
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
        text = json.dumps([asdict(each) for each in found], ensure_ascii=False, indent=2)
        out.write(f"{text}\n")
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
    message = f"There is no annotation {number} in the recording; there are: {there}."
    raise AnnotationError(message)


def _keep(path: Path, annotation: Annotation, out: TextIO) -> None:
    number = annotate(path, checked(annotation))
    out.write(f"{_text(replace(checked(annotation), id=number))}\n")


def _annotation(options: Namespace, former: Annotation | None, err: TextIO) -> Annotation:
    """Return the annotation given by the arguments, based on the former one."""
    if options.at is None and former is None:
        message = "Give an instant: --at 02:10.5, --at “frame 812”."
        raise AnnotationError(message)
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
    """Return the start, and the end of a range.

    Raises:
        InstantError: There is no such instant in the recording.
    """
    at_ns, end_ns = (0, None) if former is None else (former.at_ns, former.end_ns)
    if options.at is None and options.until is None:
        return at_ns, end_ns
    recording = open_recording(options.file)
    try:
        err.writelines(f"{_PROGRAM}: {note}\n" for note in recording.notes)
        frames = recording.state_before(recording.end).frames
        finder = InstantFinder(recording, frames, recording.last_ns)
        if options.at is not None:
            at_ns = finder.find(options.at, finder.last_ns)
        if options.until is not None:
            end_ns = finder.find(options.until, at_ns)
    finally:
        recording.close()
    return at_ns, end_ns
