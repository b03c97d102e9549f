"""The command ``export``, and what ``run`` shares with it."""

from __future__ import annotations

import shutil
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, TextIO

from inspector.cli.commands.export import PYTEST, STANDARD_OUTPUT
from inspector.cli.graph_options import (
    checked_part,
    graph_options,
    part_in,
    refuse_existing,
    worth_plotting,
)
from inspector.cli.progress import Progress
from inspector.cli.recordings import export_as_pytest
from inspector.cli.terminal import write_notes
from inspector.display_text import counted
from inspector.errors import CaptureError, ExportError, InspectorError
from inspector.events.recording import as_far_as_it_goes
from inspector.exit_codes import ExitCode
from inspector.foreign.files import check_readable, is_recording
from inspector.foreign.paths import is_there
from inspector.formats.arrangement.figures import FIGURE_FORMATS, FigureData, Shown
from inspector.formats.captures.capture import split_column
from inspector.formats.export import (
    PAGE,
    TIMELINE_EXPORTERS,
    TRACE_EXPORTERS,
    AnyExporter,
    export_frames,
    exporter_for,
    exporters,
)
from inspector.formats.file_formats import check_file, write_file
from inspector.formats.frame_times import CAPTURED, SessionPart
from inspector.formats.scene_picture import SCENE_PICTURE_FORMATS, PictureOptions
from inspector.formats.scene_shapes import SceneMoment
from inspector.formats.traces.session_trace import Events
from inspector.pictures.appearance import clock_appearances
from inspector.sessions.capture_history import CaptureHistory
from inspector.sessions.frame_files import FrameFile, read_frame_file, recording_showing
from inspector.sessions.provenance import provenance_of
from inspector.sessions.recorded import RecordedPictures, RecordedSession
from inspector.sessions.session import Session, pictures_of
from inspector.timebase import format_instant
from inspector.vocabulary import Measure


def export(options: Namespace, out: TextIO, err: TextIO) -> int:
    if PYTEST in options.formats:
        return export_as_pytest(options, out, err)
    if options.picture is not None:
        return _export_picture(Path(options.files[0]), options, out)
    if not options.output and not options.formats:
        for file in options.files:
            check_readable(split_column(file)[0])
        options.parser.error(
            "the following arguments are required: -o/--output, --as, or --picture"
        )
    part_in(options)
    graph_options(options, "interval")
    if options.output and len(options.files) > 1:
        return _export_figure(options, out, err)
    if not _is_batch(options):
        (file,) = options.files
        check_readable(split_column(file)[0])
        if STANDARD_OUTPUT in options.output:
            return _export_to(out.buffer, file, options, err)
        written, failed = _export_file(file, options, err)
        out.writelines(f"wrote {each}\n" for each in written)
        write_notes(err, *failed)
        return ExitCode.FAILED if failed else ExitCode.OK
    return _export_each(options, out, err)


def _export_picture(path: Path, options: Namespace, out: TextIO) -> int:
    check_readable(path)
    check_file(options.picture, SCENE_PICTURE_FORMATS)
    refuse_existing(options.picture, options)
    if not is_recording(path):
        message = f"{path} is not a recording: only recordings have the pictures of their scenes."
        raise CaptureError(message)
    session = RecordedSession(path)
    moment, frame = scene_moment(session, str(path), options.frame)
    write_file(
        *(moment, provenance_of(session), PictureOptions()),
        *(options.picture, SCENE_PICTURE_FORMATS),
    )
    out.write(f"wrote {options.picture} (frame {frame:,} at {format_instant(moment.at_ns)})\n")
    return ExitCode.OK


def scene_moment(session: Session, name: str, wanted: int | None) -> tuple[SceneMoment, int]:
    """Return what a scene drew of a frame, by default of the last, and which frame that is."""
    frames, pictures = session.timeline.frames, pictures_of(session)
    frame = frames.end - 1 if wanted is None else wanted
    if not frames.first <= frame < frames.end:
        has = f"frames {frames.first:,} to {frames.end - 1:,}" if len(frames) else "no frames"
        raise CaptureError(f"{name} has no frame {frame:,}. It has {has}.")
    picture = None if pictures is None else pictures.at(frame)
    if picture is None:
        why = (pictures is not None and pictures.failure) or (
            "None was kept so early."
            if pictures is not None and pictures.is_described
            else "Its scene draws none, or it was recorded without."
        )
        raise CaptureError(f"{name} has no picture of frame {frame:,}. {why}")
    at_ns = frames.began_ns(frame)
    looks = clock_appearances(session.history.state_at(at_ns), picture.shapes)
    return SceneMoment(picture, looks, at_ns), frame


def _export_figure(options: Namespace, out: TextIO, err: TextIO) -> int:
    for path in options.output:
        check_file(path, FIGURE_FORMATS)
        refuse_existing(path, options)
    shown = []
    for file in options.files:
        path, column = split_column(file)
        check_readable(path)
        read = read_frames(path, column, options.stream, err)
        _check_known(path, read, options)
        if options.without_inspector:
            check_knows_inspector(path, read)
        frames = checked_part(read.frames, part_in(options), options.range)
        shown.append(Shown(path.name, frames, read.provenance))
    about = shown[0].provenance
    graph = graph_options(options, "interval", about)
    for path in options.output:
        data = FigureData(tuple(shown), options.side_by_side)
        write_file(data, about, graph, path, FIGURE_FORMATS)
        out.write(f"wrote {path} ({counted(len(shown), 'file')})\n")
    return ExitCode.OK


def _export_to(stream: BinaryIO, file: str, options: Namespace, err: TextIO) -> int:
    (key,) = options.formats
    exporter = next(each for each in exporters() if each.key == key)
    with TemporaryDirectory() as folder:
        path = Path(folder, f"export{exporter.suffix}")
        _written, failed = _write_file(file, [(path, exporter)], options, err)
        if failed:
            raise failed[0]
        with path.open("rb") as whole:
            shutil.copyfileobj(whole, stream)
    return ExitCode.OK


def _is_batch(options: Namespace) -> bool:
    return options.out is not None or len(options.files) > 1


def _export_each(options: Namespace, out: TextIO, err: TextIO) -> int:
    """Export several files and print a line on each; one that fails does not stop the others."""
    if options.out is not None:
        _make_folder(options.out)
    taken: dict[Path, str] = {}
    failed = 0
    for file in options.files:
        try:
            written, unwritten = _export_file(file, options, err, taken)
        except InspectorError as error:
            written, unwritten = [], [error]
        failed += bool(unwritten)
        wrote = [f"wrote {', '.join(written)}"] if written else []
        refused = [f"not exported. {' '.join(map(str, unwritten))}"] if unwritten else []
        out.write(f"{file}: {'; '.join(wrote + refused)}\n")
    count = len(options.files)
    out.write(f"{count - failed:,} of {counted(count, 'file')} exported\n")
    return ExitCode.FAILED if failed else ExitCode.OK


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        why = "it is a file" if isinstance(error, FileExistsError) else reason
        message = f"The folder {folder} cannot be made: {why}. Choose another --out."
        raise ExportError(message) from None


def _targets(file: str, options: Namespace) -> list[tuple[Path, AnyExporter]]:
    """Return what to write, each with its exporter.

    An output whose suffix fits a format that --as names is written in that format. Formats that
    no output takes are written beside the file, or to the folder --out.
    """
    named = [each for each in exporters() if each.key in options.formats]
    targets: list[tuple[Path, AnyExporter]] = []
    for path in options.output:
        exporter = exporter_for(path, named)
        targets.append((path, exporter))
        named = [each for each in named if each.key != exporter.key]
    source, _column = split_column(file)
    folder = source.parent if options.out is None else options.out
    # If formats share a key, the key alone means the first of them.
    firsts = {each.key: each for each in reversed(named)}
    targets += [
        ((folder / source.name).with_suffix(firsts[key].suffix), firsts[key])
        for key in dict.fromkeys(options.formats)
        if key in firsts
    ]
    return targets


def write_each(
    paths: Iterable[Path], write: Callable[[Path], None], options: Namespace, err: TextIO
) -> bool:
    """Write outputs, even after one has failed; return whether all were written."""
    are_written = True
    for path in paths:
        try:
            refuse_existing(path, options)
            write(path)
        except InspectorError as error:
            write_notes(err, error)
            are_written = False
        else:
            write_notes(err, f"Written: {path}")
    return are_written


def _export_file(
    file: str, options: Namespace, err: TextIO, taken: dict[Path, str] | None = None
) -> tuple[list[str], list[InspectorError]]:
    """Write one file in all formats; returns what was written, and why the rest was not."""
    source, _column = split_column(file)
    targets: list[tuple[Path, AnyExporter]] = []
    refused: list[InspectorError] = []
    for path, exporter in _targets(file, options):
        try:
            exporter.check(path)
            if is_there(path) and path.resolve() == source.resolve():
                raise ExportError(f"{path} is the file to export. Choose another name with -o.")
            former = file if taken is None else taken.setdefault(path.absolute(), file)
            if former != file:
                raise ExportError(f"{path} is what {former} has been exported to. Rename a file.")
            refuse_existing(path, options)
        except InspectorError as error:
            refused.append(error)
        else:
            targets.append((path, exporter))
    written, failed = _write_file(file, targets, options, err) if targets else ([], [])
    return written, refused + failed


def _write_file(
    file: str, targets: list[tuple[Path, AnyExporter]], options: Namespace, err: TextIO
) -> tuple[list[str], list[InspectorError]]:
    path, column = split_column(file)
    wanted = [exporter for _path, exporter in targets]
    needs_frames = not all(exporter in (*TRACE_EXPORTERS, PAGE) for exporter in wanted)
    read = read_frames(path, column, options.stream, err, needs_frames=needs_frames)
    _check_known(path, read, options)
    has_events = read.slices is not None or is_recording(path)
    if not len(read.frames) and (needs_frames or not has_events):
        raise CaptureError(f"{path} has no frames to draw. Choose another file.")
    part = part_in(options)
    frames = checked_part(read.frames, part, options.range)
    if options.without_inspector:
        check_knows_inspector(path, read)
    measure: Measure = worth_plotting(frames) if read.has_work else "interval"
    if read.provenance.waits:
        # The time between turns of a loop is mostly waiting.
        measure = "busy"
    graph = graph_options(options, measure, read.provenance)
    if options.without_inspector and graph.measure != "interval":
        message = "--without-inspector is about the time between frames. Add --measure interval."
        raise CaptureError(message)
    told: list[str] = []
    failed: list[InspectorError] = []
    with ExitStack() as stack:
        events = None
        if any(exporter in (*TRACE_EXPORTERS, *TIMELINE_EXPORTERS) for exporter in wanted):
            events = stack.enter_context(_events_in(path, part, read, options.stream))
        for target, exporter in targets:
            try:
                written = export_frames(
                    *(frames, read.provenance, graph, target),
                    events=events,
                    exporter=exporter,
                    replaces_pages=options.overwrite,
                )
            except InspectorError as error:
                failed.append(error)
                continue
            is_trace = exporter in TRACE_EXPORTERS
            told.append(f"{target}" if is_trace else f"{target} ({counted(len(frames), 'frame')})")
            told += map(str, written[1:])
    return told, failed


@contextmanager
def _events_in(
    path: Path, part: SessionPart, read: FrameFile, stream: str | None
) -> Iterator[Events]:
    within = part.instants(read.frames)
    if not is_recording(path):
        yield Events(CaptureHistory(read.frames, read.slices), *within)
        return
    with closing(recording_showing(path, stream)) as recording, as_far_as_it_goes(recording):
        yield Events(recording, *within, RecordedPictures(recording))


def read_frames(
    path: Path, column: str | None, stream: str | None, err: TextIO, *, needs_frames: bool = True
) -> FrameFile:
    """Read frame times with progress, and print the notes on them."""
    with closing(Progress(err)) as progress:
        read = read_frame_file(
            path, column, stream=stream, needs_frames=needs_frames, on_progress=progress.update
        )
    write_notes(err, *read.notes)
    return read


def _check_known(path: Path, read: FrameFile, options: Namespace) -> None:
    """Refuse to draw what a file does not contain."""
    is_captured = read.provenance.source == CAPTURED
    for is_asked, is_known, what, instead in (
        (options.stacked, not is_captured, "the phases of frames", "Omit --stacked"),
        (
            *(options.measure == "busy", read.has_work),
            *("the time spent in callbacks", "Use --measure interval"),
        ),
        (
            *(options.measure == "delta", not is_captured),
            *("the local time given to callbacks", "Use --measure interval"),
        ),
    ):
        if is_asked and not is_known:
            raise CaptureError(f"{path} does not contain {what}. {instead}.")


def check_knows_inspector(path: Path, read: FrameFile) -> None:
    """Refuse to leave out the inspector's share of frames if the file does not say it."""
    if not read.frames.has_shares:
        raise CaptureError(
            f"{path} does not say how much of a frame the inspector took: it is measured in real "
            "time only, and kept in recordings and what is exported of them. "
            "Omit --without-inspector."
        )
