"""A capture as a trace: what is read back is what was captured."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector.errors import ExportError
from inspector.formats.captures.capture import Capture, CaptureReader, Slices, Track
from inspector.formats.captures.trace import TraceBuilder
from inspector.formats.export import TRACE_EXPORTERS, export_frames, exporter_for
from inspector.formats.frame_times import FrameTimes
from inspector.formats.options import ExportOptions
from inspector.formats.traces.session_trace import Events
from inspector.sessions.capture_history import CaptureHistory
from inspector.sessions.frame_files import FrameFile, open_frame_file, read_frame_file
from tests.formats.read_captures import whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from inspector.formats.frame_times import Provenance

    SampleFile = Callable[[str], Path]

Row = tuple[str, str, str, int, int]
SUFFIXES = [each.suffix for each in TRACE_EXPORTERS]


def name_of(text: str) -> str:
    """Return a name without a number that the format has for every thread."""
    return re.sub(r"^(process|thread)( \d+)? \(\d+\)$", r"\1\2", re.sub(r" \(\d{7}\)$", "", text))


def rows(slices: Slices) -> list[Row]:
    """Return slices by process, thread, name, start and duration."""
    tracks = [slices.tracks[number] for number in slices.track.tolist()]
    return sorted(
        (name_of(track.process), name_of(track.name), slices.names[name], start, took)
        for track, name, start, took in zip(
            tracks,
            slices.name.tolist(),
            slices.start_ns.tolist(),
            slices.took_ns.tolist(),
            strict=True,
        )
    )


def read_back(path: Path) -> Capture:
    reader = open_frame_file(path)
    assert isinstance(reader, CaptureReader)
    return whole(reader)


def written(file: FrameFile, path: Path, part: tuple[int, int | None] = (0, None)) -> Capture:
    events = Events(CaptureHistory(file.frames, file.slices), *part)
    export_frames(file.frames, file.provenance, ExportOptions(), path, events=events)
    return read_back(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "name",
    [
        *("chrome_trace/big_trace.json", "chrome_trace/x_event_trace.json"),
        *("chrome_trace/simple_trace.json", "chrome_trace/instant_events.json"),
        *("viztracer/multithread.json", "viztracer/function_args_return.json"),
    ],
)
def test_that_a_trace_that_is_exported_again_has_the_same_slices(
    sample_file: SampleFile, tmp_path: Path, name: str, suffix: str
) -> None:
    file = read_frame_file(sample_file(name), needs_frames=False)
    assert file.slices is not None

    again = written(file, tmp_path / f"again{suffix}")

    assert again.slices is not None
    assert rows(again.slices) == rows(file.slices)
    assert again.notes == ()
    if len(file.frames):
        assert again.stream().interval_ns.tolist() == file.frames.interval_ns.tolist()


@st.composite
def nested(draw: st.DrawFn) -> list[tuple[int, int, int, int]]:
    """Return slices by track, name, start and duration, nested within each track."""
    found: list[tuple[int, int, int, int]] = []

    def within(track: int, start: int, end: int, depth: int) -> None:
        at = start
        while depth and at < end and draw(st.booleans()):
            began = draw(st.integers(at, end))
            ended = draw(st.integers(began, end))
            found.append((track, draw(st.integers(0, 3)), began, ended - began))
            within(track, began, ended, depth - 1)
            at = ended + 1

    for track in range(3):
        within(track, 0, 10**6, 3)
    return [*found, (0, 0, 0, 10**6)]


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spans=nested())
def test_that_any_slices_are_the_same_when_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    provenance: Provenance,
    make_frames: Callable[[list[int]], FrameTimes],
    suffix: str,
    spans: list[tuple[int, int, int, int]],
) -> None:
    builder = TraceBuilder()
    for number in range(3):
        builder.name_process(number // 2, f"game {number // 2} ({1 + number // 2})")
        builder.track(number, number // 2, f"thread {number} ({7 + number})")
    for track, name, start_ns, took_ns in spans:
        builder.add(track, builder.text(f"slice {name}"), start_ns, took_ns)
    path = tmp_path_factory.mktemp("spans") / f"a{suffix}"
    slices = builder.capture(path, "test").slices
    assert slices is not None
    file = FrameFile(make_frames([]), provenance, (), has_work=False, slices=slices)

    again = written(file, path).slices

    assert again is not None
    assert rows(again) == rows(slices)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_that_a_table_of_frames_becomes_a_trace_of_frames(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "mango.csv"
    path.write_text("ms\n" + "".join(f"{10 + number % 7}\n" for number in range(99)))
    file = read_frame_file(path, "ms")

    again = written(file, tmp_path / f"a{suffix}")

    assert again.stream().column == "frame"
    assert again.stream().interval_ns.tolist() == file.frames.interval_ns.tolist()


def test_that_only_slices_within_the_range_are_written(
    tmp_path: Path, provenance: Provenance, make_frames: Callable[[list[int]], FrameTimes]
) -> None:
    slices = Slices(
        (Track("game (3)", "main (4)"),),
        ("a", "b", "c"),
        start_ns=np.array([0, 100, 900], np.int64),
        took_ns=np.array([50, 500, 10], np.int64),
        track=np.zeros(3, np.int32),
        name=np.arange(3, dtype=np.int32),
    )
    file = FrameFile(make_frames([]), provenance, (), has_work=False, slices=slices)

    again = written(file, tmp_path / "a.trace.json", (400, 800)).slices

    assert again is not None
    assert rows(again) == [("game (3)", "main (4)", "b", 0, 500)]


def test_that_samples_are_no_trace(
    tmp_path: Path, provenance: Provenance, make_frames: Callable[[list[int]], FrameTimes]
) -> None:
    frames = make_frames([10] * 5)
    sampled = FrameTimes(
        frames.index, frames.at_ns, frames.interval_ns, frames.details, samples="Every second."
    )
    path = tmp_path / "a.pftrace"

    with pytest.raises(ExportError, match="samples and not every frame"):
        export_frames(
            sampled,
            provenance,
            ExportOptions(),
            path,
            events=Events(CaptureHistory(sampled, None)),
            exporter=exporter_for(path),
        )
    assert not path.exists()
