"""Runs to compare: the frames and the calls of files and sessions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from inspector.analysis.statistics.column_summary import lasting_ns
from inspector.analysis.statistics.compared_calls import CallFold, calls_of
from inspector.analysis.statistics.compared_columns import RunColumn
from inspector.analysis.statistics.runs import ComparedRun
from inspector.analysis.statistics.time_series import StutterLimits
from inspector.errors import CaptureError
from inspector.events.recording import as_far_as_it_goes
from inspector.foreign.paths import is_file, is_folder, is_recording_name, is_there
from inspector.formats.captures.capture import CaptureReader, split_column
from inspector.formats.frame_times import Beside, FrameTimes, NsColumn
from inspector.sessions.frame_files import (
    PARTIAL_RECORDING,
    file_of,
    open_frame_file,
    recording_showing,
)
from inspector.sessions.session import Session, beside_of, loops_of, samples_of
from inspector.timebase import NS_PER_MS

if TYPE_CHECKING:
    Progress = Callable[[float], None]


class FilesToCompare(Struct, frozen=True):
    # The runs of each side: files, each with its column of frame times if that was named.
    sides: tuple[tuple[tuple[Path, str | None], ...], ...]
    stream: str | None = None  # Name of one of several streams, or a part of it
    without_outliers: bool = False
    with_columns: bool = False
    # What counts as a stutter and as slow; None leaves both times out.
    stutter: StutterLimits | None = None


def files_named(text: str) -> list[tuple[Path, str | None]]:
    """Return the files, with columns, that a text names: a file, a folder, or ``runs/*.csv``."""
    path, column = split_column(text)
    if is_folder(path):
        files = [each for each in path.iterdir() if not each.name.startswith(".")]
    elif not is_there(path) and any(each in str(path) for each in "*?["):
        anchor = Path(path.anchor)
        files = list(anchor.glob(str(path.relative_to(anchor))))
    else:
        return [(path, column)]
    found = sorted(filter(is_file, files))
    if not found:
        raise CaptureError(f"There is no file in {text}. Name the captures or recordings of a run.")
    return [(each, column) for each in found]


def run_of_file(
    path: Path,
    column: str | None = None,
    stream: str | None = None,
    on_progress: Progress = lambda _done: None,
) -> ComparedRun:
    """Read a capture, exported frame times or a recording.

    Args:
        stream: Name of one of several streams in the file, or a part of it.
        on_progress: Called with the share that has been read; an error it raises ends the reading.
    """
    if is_recording_name(path):
        with closing(recording_showing(path, stream)) as recording, as_far_as_it_goes(recording):
            calls = calls_of(recording, on_progress)
            state = recording.state_before(recording.end)
            history, loops = state.frames, {each.clock_id: each.name for each in loops_of(state)}
            times_ns = history.numpy("interval_ns", history.first, history.end)
            notes, read_stream = recording.notes, loops.get(state.frames_of, "")
            missing = PARTIAL_RECORDING if recording.is_partial else ""
        name = f"{path.name} – {read_stream}" if len(loops) > 1 else path.name
        streams = tuple(loops.values())
        usable_ns = times_ns[times_ns > 0]
        return ComparedRun(name, usable_ns, calls, notes, streams, read_stream, missing)
    read = open_frame_file(path, column)
    streams, read_stream = (), ""
    if isinstance(read, CaptureReader):
        while read.read_on():
            on_progress(read.done)
        capture = read.capture()
        chosen = capture.stream(stream)
        streams, read_stream = tuple(each.name for each in capture.streams), chosen.name
        read = file_of(capture, chosen)
    times_ns, lasts_ns = read.frames.interval_ns, _lasts_ns(read.frames)
    name = f"{path.name} – {read_stream}" if len(streams) > 1 else path.name
    return ComparedRun(
        *(name, times_ns[times_ns > 0]),
        notes=read.notes,
        streams=streams,
        stream=read_stream,
        missing=read.missing,
        columns=partial(columns_of, times_ns, read.frames.beside, lasts_ns),
        samples=read.samples,
        sampled_ns=None if lasts_ns is None else lasts_ns[times_ns > 0],
    )


def told_apart(
    runs: Sequence[ComparedRun], files: Sequence[tuple[Path | None, str | None]]
) -> list[ComparedRun]:
    """Return runs with folders or columns added to the names of files that share a name."""
    paths = {path for path, _ in files if path is not None}
    found = []
    for run, (path, column) in zip(runs, files, strict=True):
        if path is not None and run.name.startswith(path.name):
            name = _tail(path, paths - {path})
            if column and len({other for at, other in files if at == path}) > 1:
                name = f"{name}:{column}"
            if name != path.name:
                run = replace(run, name=name + run.name.removeprefix(path.name))  # noqa: PLW2901
        found.append(run)
    return found


def _tail(path: Path, others: set[Path]) -> str:
    """Return the shortest end of a path that no other path has."""
    tails = (path.parts[-depth:] for depth in range(1, len(path.parts) + 1))
    shortest = (
        each for each in tails if not any(other.parts[-len(each) :] == each for other in others)
    )
    return str(Path(*next(shortest, path.parts)))


def _lasts_ns(frames: FrameTimes) -> NsColumn | None:
    """Return how long each sample stands for; ``None`` for frames, which stand for themselves."""
    return (
        lasting_ns(frames.at_ns, frames.interval_ns, are_samples=True) if frames.samples else None
    )


def columns_of(
    times_ns: NsColumn, beside: Beside | None, sampled_ns: NsColumn | None = None
) -> list[RunColumn]:
    """Read the other columns where frame times are above 0; samples stand for ``sampled_ns``."""
    if beside is None:
        return []
    are_frames = sampled_ns is None
    usable = times_ns > 0
    lasts_ms = (times_ns if sampled_ns is None else sampled_ns)[usable] / NS_PER_MS
    places = [each.at for each in beside.quantities]
    read, damage = beside.numbers(places), beside.damage(places)
    return [
        RunColumn.of(
            *(each.name, each.unit, values[usable], lasts_ms, damage.get(each.at, "")),
            are_frames=are_frames,
        )
        for each, values in zip(beside.quantities, read, strict=True)
    ]


def run_of_session(session: Session, name: str) -> Callable[[Progress], ComparedRun]:
    """Return a function for any thread that makes a run of a session's present frames and calls."""
    frames, history = session.timeline.frames, session.history
    times_ns = frames.numpy("interval_ns", frames.first, frames.end)
    events, strings = [], list(history.strings)
    base = history.state_before(history.first)
    length_ns = history.last_ns - history.first_ns
    if not session.is_recorded:
        events = list(history.events(history.first, history.end))

    samples = samples_of(session)
    beside = beside_of(session)
    at_ns = frames.numpy("at_ns", frames.first, frames.end)
    lasts_ns = lasting_ns(at_ns, times_ns, are_samples=True) if samples else None

    def make(on_progress: Progress) -> ComparedRun:
        on_progress(0.0)
        fold = CallFold(base, strings)
        fold.fold(events)
        return ComparedRun(
            *(name, times_ns[times_ns > 0], fold.calls(length_ns)),
            columns=partial(columns_of, times_ns, beside, lasts_ns),
            samples=samples,
            sampled_ns=None if lasts_ns is None else lasts_ns[times_ns > 0],
        )

    return make
