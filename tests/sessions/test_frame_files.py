"""Frame times are read back from our exports in full, and from captures by one column."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.clocks import ClockTree
from inspector.errors import CaptureError, ExportError, RecordingError, UnreadableFileError
from inspector.events import EventLog
from inspector.formats import file_formats
from inspector.formats.export import export_frames
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import ExportOptions
from inspector.sessions.frame_files import read_frame_file, recording_showing
from inspector.sessions.scene import find_scene
from inspector.testing import pass_seconds, virtual_session
from inspector.vocabulary import Phase, Share
from tests.events.recording.recorded_worlds import record


@pytest.fixture
def frames() -> FrameTimes:
    session = virtual_session(find_scene("1"))
    pass_seconds(session, 8)
    frames = FrameTimes.from_history(session.timeline.frames)
    session.close()
    return frames


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet", ".arrow"])
def test_that_what_was_exported_is_read_back_whole(
    tmp_path: Path, frames: FrameTimes, suffix: str
) -> None:
    if suffix in {".parquet", ".arrow"}:
        pytest.importorskip("pyarrow")
    path = tmp_path / f"run{suffix}"
    created = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
    provenance = Provenance("A small game", created, "0.1.0", "virtual time")
    export_frames(frames, provenance, ExportOptions(), path)

    read = read_frame_file(path)

    assert read.has_work
    for name in ("index", "at_ns", "interval_ns", "delta_ns", "busy_ns"):
        assert np.array_equal(getattr(read.frames, name), getattr(frames, name)), name
    for phase in Phase:
        assert np.array_equal(read.frames.phase(phase), frames.phase(phase)), phase
    if suffix != ".csv":
        assert read.provenance == provenance


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_that_shares_of_intervals_are_exported_where_they_were_measured(
    tmp_path: Path, frames: FrameTimes, suffix: str
) -> None:
    provenance = Provenance("A small game", datetime(2026, 5, 4, tzinfo=UTC), "0.1.0", "qt")
    path, bare = tmp_path / f"run{suffix}", tmp_path / f"bare{suffix}"
    shares = np.stack([frames.interval_ns // (2 + share) // 5 for share in Share])
    measured = FrameTimes.of_columns(
        *(frames.index, frames.at_ns, frames.interval_ns, frames.delta_ns, frames.busy_ns),
        phases=np.stack([frames.phase(each) for each in Phase]),
        shares=shares,
    )
    export_frames(measured, provenance, ExportOptions(), path)
    export_frames(frames, provenance, ExportOptions(), bare)

    read = read_frame_file(path)

    assert np.array_equal([read.frames.share(each) for each in Share], shares)
    assert np.array_equal(sum(read.frames.share_columns.values()), frames.interval_ns)
    assert b"_share_ns" not in bare.read_bytes()
    assert not read_frame_file(bare).frames.has_shares
    budget = FrameBudget.of_ms(1)
    assert frames.without_inspector(budget) == (frames, 0)


@pytest.mark.parametrize("rate", ["x", "1/0", None, [], "1e999999"])
def test_that_what_is_damaged_beside_the_frames_is_said(
    tmp_path: Path, frames: FrameTimes, rate: object
) -> None:
    path = tmp_path / "run.json"
    provenance = Provenance("A small game", datetime(2026, 5, 4, tzinfo=UTC), "0.1.0")
    export_frames(frames, provenance, ExportOptions(), path)
    values = json.loads(path.read_bytes())
    values["provenance"]["frame_rate"] = rate
    values |= {"interventions": [{"number": "x"}], "landmarks": [{}, "mark", {"kind": "mark"}]}
    path.write_text(json.dumps(values))

    read = read_frame_file(path)

    assert len(read.frames) == len(frames)
    assert read.provenance.frame_rate is None
    assert read.notes == (
        "4 entries among interventions, annotations and marks cannot be read and were skipped.",
    )


def test_that_a_capture_gives_intervals_and_no_work(tmp_path: Path) -> None:
    path = tmp_path / "capture.csv"
    path.write_text("MsBetweenPresents\n16.5\n17.25\n")

    read = read_frame_file(path)

    assert read.frames.interval_ns.tolist() == [16_500_000, 17_250_000]
    assert read.frames.at_ns.tolist() == [16_500_000, 33_750_000]
    assert not read.has_work


def test_that_a_csv_cut_in_its_last_line_is_read_up_to_there(
    tmp_path: Path, frames: FrameTimes
) -> None:
    path = tmp_path / "run.csv"
    export_frames(frames, Provenance("x", datetime.now(UTC), "0"), ExportOptions(), path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) - 150])

    read = read_frame_file(path)

    assert len(frames) - 3 <= len(read.frames) < len(frames)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "neither a capture nor a trace"),
        ('{"format": "trace"}', "neither a capture nor a trace"),
        ('{"format": "timeline-inspector frame times", ', "is not complete JSON"),
        ('{"format": "timeline-inspector frame times", "version": 2, "columns": {}}', "newer"),
        ('{"format": "timeline-inspector frame times", "version": 1, "columns": {}}', "damaged"),
    ],
)
def test_that_a_json_that_is_none_of_ours_is_refused_with_a_sentence(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "file.json"
    path.write_text(content)

    with pytest.raises(CaptureError, match=message):
        read_frame_file(path)


@pytest.mark.parametrize(
    "content",
    [bytes(8192), b"hello there\n", b'{"a": 1}', b"\x7fELF\x02\x01\x01\0", b"SQLite form"],
)
def test_that_a_file_named_as_a_recording_is_refused_as_one(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "run.tlrec"
    path.write_bytes(content)

    with pytest.raises(RecordingError, match=r"is not a recording of the inspector\.|is truncated"):
        read_frame_file(path)


def test_that_a_missing_file_and_a_folder_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match="There is no file"):
        read_frame_file(tmp_path / "none.csv")
    with pytest.raises(UnreadableFileError, match="is a folder"):
        read_frame_file(tmp_path)


def test_that_of_a_recording_with_one_loop_no_stream_can_be_chosen(tmp_path: Path) -> None:
    log = EventLog()
    ClockTree(log)

    with pytest.raises(CaptureError, match=r"a\.tlrec has a single stream\. Omit --stream\."):
        recording_showing(record(log, tmp_path / "a.tlrec"), "game")


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_that_a_damaged_arrow_table_is_refused_with_a_sentence(
    tmp_path: Path, frames: FrameTimes, suffix: str
) -> None:
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path / f"run{suffix}"
    provenance = Provenance("A small game", datetime(2026, 5, 4, tzinfo=UTC), "0.1.0")
    export_frames(frames, provenance, ExportOptions(), path)
    whole = path.read_bytes()

    for cut in (8, len(whole) // 2, len(whole) - 9):
        path.write_bytes(whole[:cut])
        with pytest.raises(CaptureError, match=r"is damaged"):
            read_frame_file(path)

    with arrow.OSFile(str(path), "wb") as file:
        table = arrow.table({"x": [1.5]})
        if suffix == ".parquet":
            pytest.importorskip("pyarrow.parquet").write_table(table, file)
        else:
            with arrow.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
    with pytest.raises(CaptureError, match="not frame times of the inspector"):
        read_frame_file(path)


def test_that_without_pyarrow_a_sentence_says_what_to_install(
    tmp_path: Path, frames: FrameTimes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    provenance = Provenance("A small game", datetime(2026, 5, 4, tzinfo=UTC), "0.1.0")
    monkeypatch.setattr(file_formats, "find_spec", lambda _name: None)

    with pytest.raises(ExportError, match=r"Parquet needs pyarrow, which is not installed\."):
        export_frames(frames, provenance, ExportOptions(), tmp_path / "a.parquet")
    (tmp_path / "a.arrow").write_bytes(b"ARROW1\0\0")
    with pytest.raises(CaptureError, match=r"needs pyarrow to be read\. Install it"):
        read_frame_file(tmp_path / "a.arrow")
