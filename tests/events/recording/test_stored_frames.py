"""Tests of frames that are read from a recording as they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from inspector.events.recording import open_recording
from inspector.events.recording.reading.frames import StoredFrames
from inspector.formats.export import export_frames
from inspector.formats.frame_times import FrameTimes
from inspector.formats.options import ExportOptions
from inspector.sessions.frame_files import read_frame_file
from inspector.vocabulary import Phase, Share
from tests.events.recording.recorded_worlds import folded, record, scene_log

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.events.log import EventLog

_PORTION = 500


@pytest.fixture(scope="module")
def log() -> EventLog:
    return scene_log("1", 8)


@pytest.fixture
def path(tmp_path: Path, log: EventLog) -> Path:
    return record(log, tmp_path / "a.tlrec", portion=_PORTION)


def test_that_parts_of_frames_are_those_of_the_whole(path: Path, log: EventLog) -> None:
    whole = folded(log, log.end).frames
    recording = open_recording(path)
    frames = recording.state_before(recording.end).frames
    names = ("at_ns", "interval_ns", "delta_ns", "busy_ns", "cut_ns", *Phase, *Share)
    for start, stop in ((0, len(whole)), (0, 1), (7, 300), (299, 301), (400, 9_999), (5, 5)):
        for name in names:
            part = frames.part(name, start, stop)
            assert part.tolist() == whole.numpy(name, start, stop).tolist()
    recording.close()


def test_that_the_frames_before_a_cursor_are_found_by_their_ends(path: Path, log: EventLog) -> None:
    recording = open_recording(path)
    for cursor in range(log.first, log.end, 97):
        assert len(recording.state_before(cursor).frames) == len(folded(log, cursor).frames)
    recording.close()


@pytest.mark.parametrize("suffix", ["svg", "csv", "json", "html"])
def test_that_an_export_keeps_no_more_columns_than_the_instants(
    path: Path, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = read_frame_file(path)
    stored = read.frames.history._columns
    assert isinstance(stored, StoredFrames)
    monkeypatch.setattr("inspector.formats.frame_times._AT_ONCE", 64)
    sizes: list[int] = []
    original = StoredFrames.part

    def part(self: StoredFrames, number: int, low: int, high: int) -> object:
        sizes.append(high - low)
        return original(self, number, low, high)

    monkeypatch.setattr(StoredFrames, "part", part)
    export_frames(read.frames, read.provenance, ExportOptions(), tmp_path / f"a.{suffix}")

    assert stored.is_read == {0}
    if suffix == "csv":
        assert max(sizes) <= 64


def test_that_frames_of_a_closed_recording_can_still_be_read(path: Path) -> None:
    recording = open_recording(path)
    frames = recording.state_before(recording.end).frames
    recording.close()

    assert frames.part("busy_ns", 0, 5).tolist() == list(frames.busy_ns[:5])
    assert len(FrameTimes.from_history(frames).phase(Phase.DRAW)) == len(frames)


def test_that_frames_can_be_added_to_a_copy_of_those_in_a_file(path: Path) -> None:
    recording = open_recording(path)
    frames = recording.state_before(recording.end).frames
    twin, count = frames.copy(), len(frames)

    twin.append(10**12, 1, 2, 3, 4, [0] * len(Phase))

    assert (len(twin), len(frames)) == (count + 1, count)
    assert twin.frame(count).cut_ns == 4
    assert frames.is_stored
    assert frames.part("at_ns", count - 1, count).tolist() == [frames.at_ns[-1]]
    recording.close()
