"""Frame times are read back from our exports in full, and from captures by one column."""

import gc
import gzip
import json
import re
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from msgspec import Raw

from inspector.analysis.statistics.frame_budget import ASKED_FRAME, USUAL_FRAME, FrameBudget
from inspector.clocks import ClockTree
from inspector.errors import CaptureError, ExportError, RecordingError, UnreadableFileError
from inspector.events import EventLog
from inspector.events.recording import Recording
from inspector.formats import file_formats
from inspector.formats.captures import source
from inspector.formats.captures.source import CaptureSource
from inspector.formats.captures.tool_tables import FrameTableReader
from inspector.formats.export import export_frames
from inspector.formats.frame_times import FrameTimes, NsColumn, Provenance
from inspector.formats.options import ExportOptions
from inspector.formats.tables.frame_times_csv import PHASE_COLUMNS
from inspector.sessions import frame_files
from inspector.sessions.frame_files import (
    FrameFile,
    Importer,
    _are_samples,
    _read_expanded,
    captured,
    read_frame_file,
    recording_showing,
)
from inspector.sessions.scene import find_scene
from inspector.testing import pass_seconds, virtual_session
from inspector.timebase import MAX_NS
from inspector.vocabulary import FRAME_BEGAN, FRAME_ENDED, LOOP_FOUND, Phase, Share
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


@pytest.mark.parametrize(
    ("rate", "own_budget"),
    [
        ("x", {"ns": "x", "origin": USUAL_FRAME}),
        ("1/0", {"ns": 10**400, "origin": USUAL_FRAME}),
        (None, {"ns": 20_000_000, "origin": "its loop"}),
        ([], {"ns": 20_000_000, "origin": ASKED_FRAME, "rate": "0"}),
        ("1e999999", None),
    ],
)
def test_that_what_is_damaged_beside_the_frames_is_said(
    tmp_path: Path, frames: FrameTimes, rate: object, own_budget: object
) -> None:
    path = tmp_path / "run.json"
    provenance = Provenance("A small game", datetime(2026, 5, 4, tzinfo=UTC), "0.1.0")
    export_frames(frames, provenance, ExportOptions(), path)
    values = json.loads(path.read_bytes())
    values["provenance"] |= {"frame_rate": rate, "own_budget": own_budget}
    values |= {"interventions": [{"number": "x"}], "landmarks": [{}, "mark", {"kind": "mark"}]}
    path.write_text(json.dumps(values))

    read = read_frame_file(path)

    assert len(read.frames) == len(frames)
    assert read.provenance.frame_rate is None
    assert read.provenance.own_budget is None
    assert read.notes == (
        "4 entries among interventions, annotations and marks cannot be read and were skipped.",
    )
    mark = {"kind": "mark", "frame": 1, "at_ns": 1, "name": "boss"}
    mark |= {"text": "", "end_ns": None, "last_frame": None}
    values |= {"interventions": "x", "landmarks": [mark]}
    path.write_text(json.dumps(values))
    assert read_frame_file(path).notes[0].startswith("1 entry among")


def test_that_a_capture_gives_intervals_and_no_work(tmp_path: Path) -> None:
    path = tmp_path / "capture.csv"
    path.write_text("MsBetweenPresents\n16.5\n17.25\n")

    done: list[float] = []
    read = read_frame_file(path, on_progress=done.append)

    assert done[-1] == 1
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
    path.write_bytes(content.rstrip())
    assert len(read_frame_file(path).frames) == len(frames)
    path.write_bytes(content.rpartition(b",")[0][:-1])
    assert len(read_frame_file(path).frames) == len(frames) - 1
    with pytest.raises(CaptureError, match=r"run\.csv has a single stream\. Omit --stream\."):
        read_frame_file(path, stream="game")


def test_that_the_first_line_of_a_csv_that_has_no_whole_numbers_is_named(
    tmp_path: Path, frames: FrameTimes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.csv"
    export_frames(frames, Provenance("x", datetime.now(UTC), "0"), ExportOptions(), path)
    lines = path.read_bytes().splitlines(keepends=True)
    largest = lines[2].replace(b",", b",%d" % 2**70, 1)
    # Lines without anything and signs are no damage.
    plus = lines[1].replace(b",", b",+", 1)
    for piece_bytes, before in product((64, 1 << 20), ((), (b"\n",), (plus,))):
        monkeypatch.setattr(source, "PIECE_BYTES", piece_bytes)
        for damaged in (lines[2].replace(b",", b",x", 1) + b"x\n", b"1,2\nx\n", largest):
            path.write_bytes(b"".join([*lines[:2], *before, damaged, *lines[2:]]))
            with pytest.raises(CaptureError, match=rf"in line {3 + len(before)}\."):
                read_frame_file(path)
    path.write_bytes(lines[0] + re.sub(rb"^(\d+),\d+", rb"\1,%d" % MAX_NS, lines[1]))
    with pytest.raises(CaptureError, match="at_ns before 0 or beyond 146 years"):
        read_frame_file(path)


@pytest.mark.parametrize(
    ("at_ns", "busy_ns", "delta_ns", "are_samples"),
    [
        ((0, 5, 10), 0, 4, False),
        ((0, 6, 12), 0, 4, True),
        ((0, 6, 12), 1, 4, False),
        ((0, 6, 12), 0, 3, False),
        ((0, 6), 0, 4, True),
        ((0,), 0, 4, False),
    ],
)
def test_that_frames_that_lie_further_apart_than_they_last_are_samples(
    at_ns: tuple[int, ...], busy_ns: int, delta_ns: int, *, are_samples: bool
) -> None:
    at = np.array(at_ns)
    columns = (np.full_like(at, each) for each in (4, delta_ns, busy_ns))
    frames = FrameTimes.of_columns(np.arange(len(at)), at, *columns)
    assert _are_samples(frames) is are_samples


def test_that_the_numbers_of_a_column_are_read_piece_by_piece(
    tmp_path: Path, frames: FrameTimes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.json"
    export_frames(frames, Provenance("x", datetime.now(UTC), "0"), ExportOptions(), path)
    for size in (40, 41, 42, 43):
        monkeypatch.setattr(frame_files, "_PIECE", size)
        assert np.array_equal(read_frame_file(path).frames.at_ns, frames.at_ns)


def test_that_of_bare_frame_times_only_their_column_is_known() -> None:
    found = captured(Path("x.txt"), [1, 2], "ms", stream="game")
    assert (found.has_work, found.column, found.provenance.note) == (False, "ms", "column ms, game")
    assert captured(Path("x.txt"), [1, 2]).provenance.note == ""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "neither a capture nor a trace"),
        ('{"format": "trace"}', "neither a capture nor a trace"),
        ('{"format": "timeline-inspector frame times", ', "is not complete JSON"),
        ('{"format": "timeline-inspector frame times", "version": 2, "columns": {}}', "newer"),
        ('{"format": "timeline-inspector frame times", "version": 1, "columns": {}}', "damaged"),
        ('{"format": "timeline-inspector frame times", "version": 1, "columns": 1}', "not frame"),
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


def test_that_of_a_recording_with_one_loop_no_stream_can_be_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = EventLog()
    ClockTree(log)

    closed: list[Recording] = []
    close = Recording.close

    def noted(recording: Recording) -> None:
        closed.append(recording)
        close(recording)

    monkeypatch.setattr(Recording, "close", noted)

    with pytest.raises(CaptureError, match=r"a\.tlrec has a single stream\. Omit --stream\."):
        recording_showing(record(log, tmp_path / "a.tlrec"), "game")
    assert len(closed) == 1


def test_that_the_frames_of_each_loop_of_a_recording_can_be_chosen(tmp_path: Path) -> None:
    log = EventLog()
    tree = ClockTree(log)
    game, sound = (tree.root.child(name).id for name in ("game", "sound"))
    for clock_id, name in ((game, "game"), (sound, "sound")):
        log.append((0, LOOP_FOUND, clock_id, log.intern(name), 0))
    log.append((1, FRAME_BEGAN, game, 0, 1))
    log.append((9, FRAME_ENDED, game, 5, 2))
    path = record(log, tmp_path / "a.tlrec")
    read = read_frame_file(path)
    assert (read.provenance.note, read.missing, read.has_work) == ("game", "", True)
    assert "sound" in read.notes[0]
    assert read_frame_file(path, stream="sound").provenance.note == "sound"


def test_that_what_is_expanded_for_an_importer_is_removed_when_it_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frames: FrameTimes
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    packed = tmp_path / "times.csv.gz"
    packed.write_bytes(gzip.compress(b"frametime\n16.5\n"))
    whole = FrameFile(frames, Provenance("x", None, "0"), (), has_work=False)

    def read_by(read: Callable[[Path], object]) -> object:
        return _read_expanded(Importer("times", bool, read), CaptureSource(packed))

    assert read_by(lambda path: whole if path.name == "times.csv" else None) is whole
    assert list(tmp_path.iterdir()) == [packed]
    with pytest.raises(TypeError):
        read_by(lambda path: path)
    assert list(tmp_path.iterdir()) == [packed]
    reader = read_by(lambda path: FrameTableReader(path, None))
    assert isinstance(reader, FrameTableReader)
    while reader.read_on():
        pass
    assert len(reader.capture().stream()) == 1
    del reader
    gc.collect()
    assert list(tmp_path.iterdir()) == [packed]


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


def own_columns(**changed: list[int]) -> dict[str, NsColumn]:
    """Return the columns of two frames of an export."""
    names = ("frame", "at_ns", "interval_ns", "delta_ns", "busy_ns", *PHASE_COLUMNS)
    columns = {name: [1, 2] for name in names} | changed
    return {name: np.array(column, dtype=np.int64) for name, column in columns.items()}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"busy_ns": [-1, 2]}, "busy_ns before 0 or beyond 146 years"),
        ({"delta_ns": [1, MAX_NS]}, "delta_ns before 0 or beyond 146 years"),
        ({"at_ns": [1, 2, 3]}, "columns of different lengths"),
        ({"frame": [1, 3]}, "frames that do not follow each other"),
        ({"frame": [2, 1]}, "frames that do not follow each other"),
        ({"at_ns": [2, 1]}, "frames that go back in time"),
    ],
)
def test_that_columns_that_no_export_has_are_damage(
    changed: dict[str, list[int]], said: str
) -> None:
    with pytest.raises(CaptureError, match=f"a.csv is damaged: it has {said}"):
        frame_files._frames(Path("a.csv"), own_columns(**changed))


def test_that_our_own_exports_are_read_compressed_without_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = frame_files._frames(Path("a.csv"), own_columns())
    path = tmp_path / "run.csv"
    export_frames(frames, Provenance("x", None, "0"), ExportOptions(), path)
    packed = tmp_path / "run.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    monkeypatch.setattr(frame_files, "_read_expanded", None)

    assert np.array_equal(read_frame_file(packed).frames.at_ns, frames.at_ns)


def test_that_a_trace_without_frames_is_read_only_where_none_are_needed(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text('[{"ph": "X", "pid": 1, "tid": 1, "name": "work", "ts": 5, "dur": 3}]')

    assert len(read_frame_file(path, needs_frames=False).frames) == 0
    with pytest.raises(CaptureError, match="no stream “work”"):
        read_frame_file(path, stream="work", needs_frames=False)
    with pytest.raises(CaptureError, match="none is taken for a frame"):
        read_frame_file(path)


def test_that_an_arrow_table_needs_the_columns_of_an_export(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    head: dict[str, object] = {"version": 1, "provenance": {"scene": "Game"}}
    columns = own_columns()
    monkeypatch.setattr(frame_files, "read_arrow", lambda _path: (head, columns))
    read = frame_files._read_arrow(Path("a.arrow"))
    assert (read.frames.at_ns.tolist(), read.provenance.scene, read.has_work) == (
        [1, 2],
        "Game",
        True,
    )

    del columns["delta_ns"]
    with pytest.raises(CaptureError, match="damaged: it has no column delta_ns of whole numbers"):
        frame_files._read_arrow(Path("a.arrow"))
    head["version"] = 2
    with pytest.raises(CaptureError, match="was written by a newer inspector \\(version 2 of"):
        frame_files._read_arrow(Path("a.arrow"))


def test_that_columns_of_an_export_are_the_frames() -> None:
    columns = own_columns(at_ns=[2, 2], busy_ns=[0, MAX_NS - 1], start_ns=[5, 6])

    frames = frame_files._frames(Path("a.csv"), columns)

    assert (frames.at_ns.tolist(), frames.busy_ns.tolist()) == ([2, 2], [0, MAX_NS - 1])
    assert frames.phase(Phase.START).tolist() == [5, 6]
    assert not frames.has_shares
    shares = {share.column: np.array([10, 20 + share]) for share in Share}
    measured = frame_files._frames(Path("a.csv"), columns | shares)
    assert measured.has_shares
    assert measured.share(Share.IDLE).tolist() == [10, 20 + Share.IDLE]
    idle = columns | {name: frame_files._zeros(2) for name in PHASE_COLUMNS}
    assert frame_files._frames(Path("a.csv"), idle).phase(Phase.START).tolist() == [0, 0]
    nothing = {name: frame_files._zeros(0) for name in columns}
    assert len(frame_files._frames(Path("a.csv"), nothing)) == 0


@pytest.mark.parametrize(
    ("values", "provenance"),
    [
        (None, Provenance("a.json", None, "", "", None, "")),
        ([], Provenance("a.json", None, "", "", None, "")),
        (
            {"scene": "", "created": "yesterday", "frame_rate": "30"},
            Provenance("a.json", None, "", "", Fraction(30), ""),
        ),
        (
            {
                "scene": "Game",
                "created": "2026-05-04T03:02:01+00:00",
                "note": "game",
                "inspector_version": "0.1",
                "source": "qt",
            },
            Provenance(
                "Game", datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC), "0.1", "qt", None, "game"
            ),
        ),
    ],
)
def test_that_where_frames_come_from_is_told_as_far_as_it_is_known(
    values: object, provenance: Provenance
) -> None:
    assert frame_files._provenance(Path("x/a.json"), values) == provenance


@pytest.mark.parametrize(
    ("note", "column", "stream"),
    [
        ("column ms, game", "ms", "game"),
        ("column ms", "ms", ""),
        ("game", "", "game"),
        ("", "interval_ns", ""),
    ],
)
def test_that_a_query_has_the_stream_of_a_file(note: str, column: str, stream: str) -> None:
    read = frame_files.captured(Path("a.csv"), [1, 2], column, stream=stream)
    assert read.provenance.note == ("column interval_ns" if column == "interval_ns" else note)

    queried = read.queried("a")

    assert (queried.name, queried.stream, queried.frames) == ("a", stream, read.frames)


def test_that_columns_of_zeros_take_no_memory() -> None:
    zeros, numbers = frame_files._zeros(3), np.array([1, 0, 2])

    assert frame_files._joined([zeros, zeros]).strides == (0,)
    assert frame_files._joined([zeros, zeros]).tolist() == [0] * 6
    assert frame_files._joined([zeros, numbers]).tolist() == [0, 0, 0, 1, 0, 2]
    assert frame_files._column(Path(), "a", Raw(b"[0,0,0]")).strides == (0,)
    assert frame_files._column(Path(), "a", Raw(b"[]")).tolist() == []
    for text, said in ((b"3", "no column a"), (b"[1, 2.5]", "not only whole numbers in a")):
        with pytest.raises(CaptureError, match=said):
            frame_files._column(Path(), "a", Raw(text))
    with pytest.raises(CaptureError, match="no column a"):
        frame_files._column(Path(), "a", None)
    with pytest.raises(CaptureError, match="not only whole numbers in a"):
        frame_files._column(Path(), "a", Raw(b"[9223372036854775808]"))
